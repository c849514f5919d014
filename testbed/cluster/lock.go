// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// tryLock locks a file, made if there is none, until it is closed or the process ends, however it ends.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// waitLock is tryLock that waits, and calls waiting every ten seconds.
func waitLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for n := 0; ; n++ {
		f, err := tryLock(path)
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
