// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"os"
	"path/filepath"
)

// readyFile is there once the runner may start. It outlives a restart of the agent, after which the runner runs already.
const readyFile = "ready"

func markReady(shared *os.Root) error { return shared.WriteFile(readyFile, nil, 0o644) }

// Ready is nil once the agent in a directory has said that the runner may start.
func Ready(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, readyFile)); err != nil {
		return fmt.Errorf("the agent is not ready: %w", err)
	}
	return nil
}
