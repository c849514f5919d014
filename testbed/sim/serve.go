// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// stopTimeout is how long calls that are being answered may take once it is over.
const stopTimeout = 5 * time.Second

// Serve answers what comes to a listener until the context is done.
func Serve(ctx context.Context, handler http.Handler, listener net.Listener) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: stopTimeout}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		stopped <- server.Shutdown(last)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
