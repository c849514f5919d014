// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"io"
	"strings"
	"sync"
)

const outputLimit = 1 << 20

// output keeps the end of what a step writes, and copies all of it to the log.
type output struct {
	also io.Writer

	mu   sync.Mutex // a process that a step left behind may still write
	kept []byte
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = append(o.kept, b...)
	if over := len(o.kept) - outputLimit; over > 0 {
		o.kept = append(o.kept[:0], o.kept[over:]...)
	}
	_, _ = o.also.Write(b) // a log that is gone must not fail the step
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(string(o.kept), "\uFFFD")
}
