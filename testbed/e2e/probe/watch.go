// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

// watchEvery is how often a file is read: the moment of its replacement must not go by unseen.
const watchEvery = 2 * time.Millisecond

// watched is a token file.
type watched struct {
	path    string
	content string
	expires time.Time
	reads   int
	trouble string // the last one told
}

func watch(paths []string, told <-chan os.Signal) error {
	files := make([]watched, len(paths))
	for i := range files {
		files[i].path = paths[i]
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		for i := range files {
			if news, is := files[i].look(time.Now()); is {
				if err := print(news); err != nil {
					return err
				}
			}
		}
		select {
		case <-told:
			return nil
		case <-tick.C:
		}
	}
}

// look reads a file and reports whether there is news: another token, or a trouble that is not the last one again.
func (w *watched) look(now time.Time) (news report.Watch, is bool) {
	w.reads++
	changed, err := w.read(now)
	news = report.Watch{Path: w.path, Reads: w.reads}
	if info, statErr := os.Stat(w.path); statErr == nil {
		news.Mode, news.Owner = modeAndOwner(info)
	}
	if err != nil {
		news.Trouble = err.Error()
		changed = changed || news.Trouble != w.trouble
		w.trouble = news.Trouble
	}
	return news, changed
}

// read reports whether the file has another token than before, and an error if what is there is of no use to a cloud's client.
func (w *watched) read(now time.Time) (changed bool, err error) {
	b, err := os.ReadFile(w.path)
	if err != nil {
		return false, err
	}
	if content := string(b); content != w.content || w.expires.IsZero() {
		if w.expires, err = expiry(content); err != nil {
			return false, err
		}
		w.content, changed = content, true
	}
	if !now.Before(w.expires) {
		return changed, fmt.Errorf("%s: expired at %s", w.path, w.expires.UTC())
	}
	return changed, nil
}

// expiry is when a token ends. Whether it is signed is for those to say who have the keys.
func expiry(token string) (time.Time, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, fmt.Errorf("the file has %d bytes that are no token", len(token))
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, errors.New("the token's claims are not base64")
	}
	var c struct {
		Expires int64 `json:"exp"`
	}
	if err := json.Unmarshal(claims, &c); err != nil {
		return time.Time{}, errors.New("the token's claims are not JSON")
	}
	return time.Unix(c.Expires, 0), nil
}
