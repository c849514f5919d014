// SPDX-License-Identifier: Apache-2.0

// Package process runs the programs of the test bed, and keeps the directories that they work in. Neither outlives the
// process that made them, however it ends.
package process

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

// A Spec is what to run.
type Spec struct {
	// Name is the program's in errors and of its log, Dir/Name.log.
	Name string
	// Dir is its working directory.
	Dir string
	// Argv is the command line.
	Argv []string
	// Stdin, if there is one.
	Stdin *os.File
	// Stdout, if it does not go to the log as stderr does.
	Stdout *os.File
	// Isolate, if set, changes what the program shares with us.
	Isolate func(*syscall.SysProcAttr)
}

// A Process is one running program, in its own process group, that logs to a file and dies with us.
type Process struct {
	// PID is its number.
	PID int
	// Done is closed when it has ended.
	Done chan struct{}

	name string
	log  string
}

// Start runs a program.
func Start(s Spec) (*Process, error) {
	log, err := os.Create(filepath.Join(s.Dir, s.Name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{name: s.Name, log: log.Name(), Done: make(chan struct{})}
	started := make(chan error)
	go p.run(s.command(log), started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	return p, nil
}

func (s Spec) command(log *os.File) *exec.Cmd {
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.Dir, log, log, dieWithParent()
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Isolate != nil {
		s.Isolate(cmd.SysProcAttr)
	}
	return cmd
}

// run starts and waits on one thread: Linux sends the parent-death signal when the thread that forked ends, so a thread that
// the Go runtime is free to end would take a healthy program with it.
func (p *Process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.PID = cmd.Process.Pid
	started <- nil
	_ = cmd.Wait() // how it ended is in its log
	close(p.Done)
}

// Kill ends the program and all that it started. Its data is thrown away, so there is nothing to end gently.
func (p *Process) Kill() {
	select {
	case <-p.Done:
	default:
		_ = syscall.Kill(-p.PID, syscall.SIGKILL)
		<-p.Done
	}
}

// Ended returns nil while the program runs, then an error with the end of its log.
func (p *Process) Ended() error {
	select {
	case <-p.Done:
		return fmt.Errorf("%s ended; the end of %s:\n%s", p.name, p.log, p.Tail())
	default:
		return nil
	}
}

// Tail is the end of its log.
func (p *Process) Tail() []byte {
	b, _ := os.ReadFile(p.log)
	return bytes.TrimSpace(b[max(0, len(b)-tailSize):])
}
