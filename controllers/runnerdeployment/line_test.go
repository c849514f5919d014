// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
)

var errCut = errors.New("the process was killed")

// A line carries all that the controller sends, to the API server and to GitHub. It counts the writes, and can be cut at
// one of them, as if the process was killed there: before it is sent, or with its answer lost.
type line struct {
	mu     sync.Mutex
	writes []string
	cutAt  int
	lose   bool
	dead   bool
}

func (l *line) through(next http.RoundTripper) http.RoundTripper { return &end{line: l, next: next} }

type end struct {
	line *line
	next http.RoundTripper
}

// RoundTrip sends a request, unless the line is cut.
func (e *end) RoundTrip(r *http.Request) (*http.Response, error) {
	send, keep := e.line.pass(r)
	if !send {
		return nil, errCut
	}
	answer, err := e.next.RoundTrip(r)
	if keep || err != nil {
		return answer, err
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return nil, errCut
}

func (l *line) pass(r *http.Request) (send, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false, false
	}
	if r.Method == http.MethodGet {
		return true, true
	}
	l.writes = append(l.writes, r.Method+" "+r.URL.Path)
	if len(l.writes) != l.cutAt {
		return true, true
	}
	l.dead = true
	return l.lose, false
}

// sent are the writes so far.
func (l *line) sent() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

// mend makes the line whole again, with no writes counted.
func (l *line) mend(cutAt int, lose bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes, l.cutAt, l.lose, l.dead = nil, cutAt, lose, false
}

func (l *line) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}
