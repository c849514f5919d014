// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
)

const (
	fingerprintFile = "logins.json"
	// remembered are how many of our logins to a host are known as ours: a client can put back one that was renewed already.
	remembered = 8
)

// fingerprints tell our logins from those that the job made itself, also after a restart of the agent.
type fingerprints struct {
	root   *os.Root
	byHost map[string][]string // host -> hashes of logins, the newest last
}

func loadFingerprints(root *os.Root) (fingerprints, error) {
	f := fingerprints{root: root, byHost: map[string][]string{}}
	b, err := root.ReadFile(fingerprintFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if json.Unmarshal(b, &f.byHost) != nil || f.byHost == nil {
		f.byHost = map[string][]string{} // the job can write here; then our logins count as its own
	}
	return f, nil
}

// add is called before a login is written, so that none of ours is ever unknown.
func (f fingerprints) add(host, auth string) error {
	f.byHost[host] = append(f.byHost[host], fingerprint(auth))
	f.byHost[host] = f.byHost[host][max(0, len(f.byHost[host])-remembered):]
	b, err := json.Marshal(f.byHost)
	if err != nil {
		return err
	}
	return put(f.root, fingerprintFile, b, 0o600)
}

func (f fingerprints) has(host, auth string) bool {
	return slices.Contains(f.byHost[host], fingerprint(auth))
}

func (f fingerprints) hosts() []string { return slices.Sorted(maps.Keys(f.byHost)) }

func fingerprint(auth string) string {
	sum := sha256.Sum256([]byte(auth))
	return hex.EncodeToString(sum[:])
}
