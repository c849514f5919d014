// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// waitInterval is the pause between two questions.
	waitInterval = 500 * time.Millisecond
	// waitAnswer bounds one question. A metadata server that starts lets callers hang.
	waitAnswer = 3 * time.Second
	// maxRefusal is how much of an answer is shown that is not 200.
	maxRefusal = 512
)

// waitFlags are the flags of the wait command.
type waitFlags struct {
	url     string
	headers []string
	timeout time.Duration
}

// waitCommand is what init containers of runner pods run.
func waitCommand() *cobra.Command {
	var f waitFlags
	c := &cobra.Command{
		Use:   "wait --url URL",
		Short: "Wait until an address answers 200: in init containers, for a metadata server that needs seconds to know a new pod",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.wait(c.Context(), c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&f.url, "url", "", "address to ask with GET")
	c.Flags().StringArrayVar(&f.headers, "header", nil, `header to send, such as "Metadata-Flavor: Google"`)
	c.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "when to give up")
	if err := c.MarkFlagRequired("url"); err != nil {
		panic(err) // the flag is four lines up
	}
	return c
}

// wait asks until the answer is 200. What came last is in the error.
func (f waitFlags) wait(ctx context.Context, out io.Writer) error {
	began := time.Now()
	var last error
	err := wait.PollUntilContextTimeout(ctx, waitInterval, f.timeout, true, func(ctx context.Context) (bool, error) {
		last = f.ask(ctx)
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("%s did not answer within %s: %w", f.url, f.timeout, last)
	}
	if err == nil {
		fmt.Fprintf(out, "%s answers, after %s\n", f.url, time.Since(began).Round(time.Millisecond))
	}
	return err
}

// ask asks once. A good answer may hold a token: it is not looked at.
func (f waitFlags) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waitAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return err
	}
	for _, h := range f.headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	// No proxy is asked: the address is one of the node, and what a proxy reaches there is another node's.
	resp, err := (&http.Transport{}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return err
	}
	return fmt.Errorf("HTTP %d: %s", resp.StatusCode, strings.TrimSpace(string(said)))
}
