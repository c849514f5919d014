// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// sayEvery is how often a build says that it is alive.
const sayEvery = 10 * time.Second

// A buildLog takes what go build -v prints, one package a line, and tells a person now and then.
type buildLog struct {
	mu       sync.Mutex
	text     bytes.Buffer
	stopped  chan struct{}
	stopOnce sync.Once
}

func watch(p progress) *buildLog {
	l := &buildLog{stopped: make(chan struct{})}
	go l.report(p)
	return l
}

// Write keeps the output.
func (l *buildLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *buildLog) report(p progress) {
	began := time.Now()
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stopped:
			return
		case <-tick.C:
			lines := l.lines()
			p.say("  %s: %d packages, now %s", time.Since(began).Round(time.Second), len(lines)-1, lines[len(lines)-1])
		}
	}
}

func (l *buildLog) stop() { l.stopOnce.Do(func() { close(l.stopped) }) }

// lines begins with an empty one, so that there is always a last.
func (l *buildLog) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{""}, strings.FieldsFunc(l.text.String(), func(r rune) bool { return r == '\n' })...)
}

// tail is the end of the output, where the error stands.
func (l *buildLog) tail() string {
	lines := l.lines()
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
