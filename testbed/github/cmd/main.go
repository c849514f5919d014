// SPDX-License-Identifier: Apache-2.0

// Command cmd runs the GitHub simulator: see the README of the package.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listen := flag.String("listen", "127.0.0.1:8090", "address to listen on")
	token := flag.String("token", "ghp_simulated", "token that may do everything")
	scopes := flag.String("scopes", "", "what exists, such as orgs/acme,repos/acme/website (default: everything)")
	groups := flag.String("groups", "", "runner groups beside Default, with commas between")
	budget := flag.Int("budget", 5000, "calls an hour")
	url := flag.String("url", "", "where runner programs reach this (default: where they were registered)")
	flag.Parse()
	simulator := github.New(github.Options{
		Tokens: []github.Token{{Value: *token, Scopes: []string{"*"}}},
		Scopes: split(*scopes), Groups: split(*groups), Budget: *budget, URL: *url, Log: os.Stdout,
	})
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: simulator, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Printf("GitHub simulator at http://%s; github_enterprise_url takes this URL; help at /_sim/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
