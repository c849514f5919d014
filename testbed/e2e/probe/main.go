// SPDX-License-Identifier: Apache-2.0

// Command probe says what a container's user can do with the files of an identity. A report is a line of JSON, and never has what
// is in a file.
//
//	probe look [-as=UID] [-wait] PATH...   once; -as: also as a user who is in none of the pod's groups; -wait: then until it is told to end
//	probe watch FILE...                    again and again, until it is told to end
//	probe cat FILE
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	// The first process of a container that has not asked for the signal yet would not get it.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	if len(args) < 2 {
		return errors.New("arguments: must be look, watch or cat, and paths")
	}
	switch args[0] {
	case "look":
		return look(args[1:], told)
	case "watch":
		return watch(args[1:], told)
	case "cat":
		b, err := os.ReadFile(args[1])
		fmt.Print(string(b))
		return err
	}
	return fmt.Errorf("command %q: must be look, watch or cat", args[0])
}

func look(args []string, told <-chan os.Signal) error {
	flags := flag.NewFlagSet("look", flag.ContinueOnError)
	as := flags.Uint("as", 0, "look as this user too")
	wait := flags.Bool("wait", false, "stay until told to end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	looked := report.Look{UID: os.Getuid()}
	for _, path := range flags.Args() {
		looked.Seen = append(looked.Seen, see(path))
	}
	if err := print(looked); err != nil {
		return err
	}
	if *as > 0 {
		if err := lookAs(uint32(*as), flags.Args()); err != nil {
			return err
		}
	}
	if *wait {
		<-told
	}
	return nil
}

// lookAs looks as what sudo or a nested container may be: a user who does not have the groups that the kubelet gave the container.
func lookAs(uid uint32, paths []string) error {
	cmd := exec.Command("/proc/self/exe", append([]string{"look"}, paths...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("look as user %d: %w", uid, err)
	}
	return nil
}

func print(line any) error { return json.NewEncoder(os.Stdout).Encode(line) }
