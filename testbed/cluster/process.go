// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// tailSize is how much of a program's log an error shows.
const tailSize = 3000

// A process is one running program, in its own process group, that logs to a file and dies with us.
type process struct {
	name string
	log  string
	pid  int
	done chan struct{} // closed when it has ended
}

// startProcess runs a program in dir with its output in dir/<name>.log.
func startProcess(dir, name string, argv []string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, log, log, dieWithParent()
	p := &process{name: name, log: log.Name(), done: make(chan struct{})}
	started := make(chan error)
	go p.run(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// run starts and waits on one thread: Linux sends the parent-death signal when the thread that forked ends, so a thread that
// the Go runtime is free to end would take a healthy program with it.
func (p *process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	_ = cmd.Wait() // how it ended is in its log
	close(p.done)
}

// kill ends the program and all that it started. Its data is thrown away, so there is nothing to end gently.
func (p *process) kill() {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		<-p.done
	}
}

// ended returns nil while the program runs, then an error with the end of its log.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended; the end of %s:\n%s", p.name, p.log, p.tail())
	default:
		return nil
	}
}

func (p *process) tail() []byte {
	b, _ := os.ReadFile(p.log)
	return bytes.TrimSpace(b[max(0, len(b)-tailSize):])
}
