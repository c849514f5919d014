// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	wait = 30 * time.Second
	tick = 10 * time.Millisecond
)

func getOptions() metav1.GetOptions { return metav1.GetOptions{} }

// capture collects the lines that the program writes to standard output.
func capture(t *testing.T) func() []string {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	before := os.Stdout
	os.Stdout = write
	var mu sync.Mutex
	var lines []string
	go func() {
		for s := bufio.NewScanner(read); s.Scan(); {
			mu.Lock()
			lines = append(lines, s.Text())
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		os.Stdout = before
		require.NoError(t, write.Close())
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(lines)
	}
}
