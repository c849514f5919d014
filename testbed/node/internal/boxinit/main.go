// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command boxinit is the first process in a node's namespaces. Its argument is a box.Setup as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/runner-identity/runner-identity/testbed/node/internal/box"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "box:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 || os.Getpid() != 1 {
		return fmt.Errorf("usage: as the first process of a PID namespace: boxinit SETUP")
	}
	var s box.Setup
	if err := json.Unmarshal([]byte(os.Args[1]), &s); err != nil {
		return err
	}
	return box.Run(s, os.Stdin, os.Stdout)
}
