// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node/internal/box"
	"github.com/runner-identity/runner-identity/testbed/process"
)

const boxProgram = "github.com/runner-identity/runner-identity/testbed/node/internal/boxinit"

// namespaces are what a node does not share with the machine.
const namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// A boxed is the node's first process and what we know of its namespaces.
type boxed struct {
	process  *process.Process
	programs *os.File // takes what the box is to run
	net      *netns
}

// startBox makes the namespaces.
func (n *Node) startBox(ctx context.Context, _ machine) error {
	program := n.path("files", "boxinit")
	if err := image.Compile(ctx, boxProgram, program); err != nil {
		return err
	}
	setup, err := json.Marshal(box.Setup{
		Dir: n.Dir, Address: nodeAddress, Local: localNetworks, ResolvConf: "files/resolv.conf", LogDir: logDir,
	})
	if err != nil {
		return err
	}
	n.box, err = runBox(n.Dir, program, string(setup))
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: root here may not make namespaces; in a container, it has to be a privileged one: %w", ErrNoNode, err)
	}
	return err
}

func runBox(dir, program, setup string) (*boxed, error) {
	stdin, programs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	said, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer said.Close()
	p, err := process.Start(process.Spec{
		Name: "box", Dir: dir, Argv: []string{program, setup}, Stdin: stdin, Stdout: stdout,
		Isolate: func(a *syscall.SysProcAttr) { a.Cloneflags = namespaces },
	})
	stdout.Close()
	if err != nil {
		return nil, errors.Join(err, programs.Close())
	}
	b := &boxed{process: p, programs: programs}
	if line, _ := bufio.NewReader(said).ReadString('\n'); strings.TrimSpace(line) != box.Up {
		<-p.Done // It says why in its log.
		return b, p.Ended()
	}
	b.net, err = enter(p.PID)
	return b, err
}

// run starts a program in the box. If the program ends, the box does.
func (b *boxed) run(p box.Program) error { return json.NewEncoder(b.programs).Encode(p) }

// file is the path at which we see a file that is in the box only.
func (b *boxed) file(path string) string { return fmt.Sprintf("/proc/%d/root%s", b.process.PID, path) }

// stop returns when all processes in the box have ended.
func (b *boxed) stop() {
	b.process.Kill()
	b.programs.Close()
	if b.net != nil {
		b.net.leave()
	}
}

// ended returns nil while the box runs, then why it ended.
func (b *boxed) ended() error { return b.process.Ended() }
