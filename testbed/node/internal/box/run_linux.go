// SPDX-License-Identifier: Apache-2.0

package box

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// Run sets the namespaces up, says so, and runs the programs that it reads, until there are no more to come or one ends.
func Run(s Setup, programs io.Reader, say io.Writer) error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	if err := s.mount(); err != nil {
		return err
	}
	if err := s.network(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(say, Up); err != nil {
		return err
	}
	return keeper{dir: Dir, running: map[int]string{}}.keep(decode(programs), ended)
}

// decode returns the programs that are read. It is closed with the reader, which is how a parent says that it has ended.
func decode(r io.Reader) <-chan Program {
	out := make(chan Program)
	go func() {
		defer close(out)
		for d := json.NewDecoder(r); ; {
			var p Program
			if d.Decode(&p) != nil {
				return
			}
			out <- p
		}
	}()
	return out
}

// A keeper starts programs and, being the first process, waits for whoever ends.
type keeper struct {
	dir     string
	running map[int]string
}

func (k keeper) keep(programs <-chan Program, ended <-chan os.Signal) error {
	for {
		select {
		case p, more := <-programs:
			if !more {
				return nil
			}
			if err := k.start(p); err != nil {
				return err
			}
		case <-ended:
			if err := k.bury(); err != nil {
				return err
			}
		}
	}
}

// start does not use exec.Cmd's Wait: bury would take its process away.
func (k keeper) start(p Program) error {
	log, err := os.Create(filepath.Join(k.dir, p.Name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = k.dir, log, log
	cmd.Env = append(os.Environ(), p.Env...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	k.running[cmd.Process.Pid] = p.Name
	return nil
}

// bury waits for all that have ended, the orphans of others too. The end of a program is an error.
func (k keeper) bury() error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return nil //nolint:nilerr // There is nobody to wait for.
		}
		if name, ok := k.running[pid]; ok {
			return k.obituary(name, status)
		}
	}
}

// tailSize is how much of a program's log is shown when it ends.
const tailSize = 2000

func (k keeper) obituary(name string, status syscall.WaitStatus) error {
	log, _ := os.ReadFile(filepath.Join(k.dir, name+".log"))
	return fmt.Errorf("%s ended (exit code %d, signal %d): %s", name, status.ExitStatus(), status.Signal(), log[max(0, len(log)-tailSize):])
}
