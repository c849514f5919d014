// SPDX-License-Identifier: Apache-2.0

package process

import "syscall"

// dieWithParent puts a program in its own process group and has the kernel kill it when we die, even by SIGKILL.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
