// SPDX-License-Identifier: Apache-2.0

package agent

import "syscall"

// likeBefore gives the staged config the owner and the mode of the one that it replaces: a job may have made it its own. Where that
// is not possible the file is readable all the same.
func (d *dockerConfig) likeBefore() {
	info, err := d.root.Stat(configFile)
	if err != nil {
		return
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || d.root.Chown(configStaging, int(owner.Uid), int(owner.Gid)) != nil {
		return
	}
	_ = d.root.Chmod(configStaging, info.Mode().Perm())
}
