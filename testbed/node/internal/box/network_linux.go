// SPDX-License-Identifier: Apache-2.0

package box

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// network gives the namespace its addresses. Nothing leads out of it: whoever made it listens inside.
func (s Setup) network() error {
	commands := []string{"link set lo up", "address add " + s.Address + "/32 dev lo"}
	for _, n := range s.Local {
		commands = append(commands, "route add local "+n+" dev lo")
	}
	for _, c := range commands {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", c, err, bytes.TrimSpace(out))
		}
	}
	return nil
}
