// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import "syscall"

// dieWithParent puts a program in its own process group. Only Linux can also tie its life to ours.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
