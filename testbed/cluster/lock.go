// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/runner-identity/runner-identity/testbed/process"
)

// waitLock is process.TryLock that waits, and calls waiting every ten seconds.
func waitLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for n := 0; ; n++ {
		f, err := process.TryLock(path)
		if err == nil || !isBusy(err) {
			return f, err
		}
		if n%20 == 0 {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func isBusy(err error) bool {
	return errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
}
