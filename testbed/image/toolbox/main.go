// SPDX-License-Identifier: Apache-2.0

// Command toolbox is what test pods run: it waits, shows files and asks URLs, all in one static program.
//
//	toolbox wait             until it is told to end
//	toolbox cat FILE...
//	toolbox ls FILE...       mode, owner, group and name, links followed
//	toolbox get URL          with the authorities in SSL_CERT_FILE, if that is set
//	toolbox id
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "toolbox:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		args = []string{"wait"}
	}
	switch args[0] {
	case "wait":
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
		<-told
		return nil
	case "cat":
		return each(args[1:], cat)
	case "ls":
		return each(args[1:], list)
	case "get":
		return each(args[1:], get)
	case "id":
		groups, err := os.Getgroups()
		fmt.Println(os.Getuid(), os.Getgid(), groups)
		return err
	}
	return fmt.Errorf("command %q: must be wait, cat, ls, get or id", args[0])
}

func each(args []string, do func(string) error) error {
	for _, a := range args {
		if err := do(a); err != nil {
			return err
		}
	}
	return nil
}

func cat(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(os.Stdout, f)
	return err
}

func list(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	s := info.Sys().(*syscall.Stat_t)
	fmt.Println(info.Mode(), s.Uid, s.Gid, file)
	return nil
}

func get(url string) error {
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
