// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

const (
	configFile    = "config.json"
	configStaging = ".config.json.runner-identity"
	// configMode lets the runner's user, whose number is not known here, read and write the file; the docker client keeps the mode
	// of a file that it replaces. The directory is one of the pod, which no other container but the runner's has.
	configMode = 0o666
	// attempts are how often a change is begun anew because somebody else changed the file meanwhile.
	attempts = 5
)

// errBusy means that somebody kept on writing.
var errBusy = errors.New("docker config changes all the time")

// dockerConfig is the docker client's config.json, in which the job may log in and out as it likes. The daemon never reads it: the
// client sends the login.
type dockerConfig struct {
	root *os.Root // the docker client's directory

	mu     sync.Mutex // guards what follows, and our writes
	ours   fingerprints
	wanted map[string]string // host -> auth, what should stand there
	late   map[string]bool   // hosts whose change could not be written yet
}

// openDockerConfig makes the docker client's directory in the shared one.
func openDockerConfig(shared *os.Root) (*dockerConfig, error) {
	dir := path.Base(podspec.DockerConfigDir)
	if err := shared.MkdirAll(dir, openMode); err != nil {
		return nil, err
	}
	if err := shared.Chmod(dir, openMode); err != nil {
		return nil, err
	}
	root, err := shared.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	ours, err := loadFingerprints(shared)
	return &dockerConfig{root: root, ours: ours, wanted: map[string]string{}, late: map[string]bool{}}, err
}

// set writes a login, unless the job has one of its own for that host, which it then says is kept.
func (d *dockerConfig) set(host string, c identity.Credential) (kept bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	auth := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password.Reveal()))
	d.wanted[host] = auth
	if err := d.ours.add(host, auth); err != nil {
		d.late[host] = true
		return false, err
	}
	return d.write(host)
}

// remove takes our login out.
func (d *dockerConfig) remove(host string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.wanted, host)
	_, err := d.write(host)
	return err
}

// removeAll takes all our logins out, those of an earlier run of the agent too.
func (d *dockerConfig) removeAll() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.wanted)
	var errs []error
	for _, host := range d.ours.hosts() {
		_, err := d.write(host)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, d.root.Close())...)
}

// heal writes what could not be written, and renews our logins that a client has put back: one that logs in elsewhere writes the
// whole file as it had read it. A login that is gone stays so until the next renewal: the job may have logged out.
func (d *dockerConfig) heal() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	have, err := d.auths()
	if err != nil {
		return err
	}
	var errs []error
	for _, host := range d.ours.hosts() {
		auth, found := authOf(have[host])
		if d.late[host] || found && auth != d.wanted[host] && d.ours.has(host, auth) {
			_, err := d.write(host)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// write makes the file say of a host what is wanted, unless what it says is not ours.
func (d *dockerConfig) write(host string) (kept bool, err error) {
	err = d.change(func(auths map[string]json.RawMessage) bool {
		have, found := auths[host]
		auth, _ := authOf(have)
		if kept = found && !d.ours.has(host, auth); kept {
			return false
		}
		wanted, ok := d.wanted[host]
		if !ok {
			delete(auths, host)
			return found
		}
		auths[host] = json.RawMessage(fmt.Sprintf(`{"auth":%q}`, wanted))
		return auth != wanted
	})
	d.late[host] = err != nil
	return kept, err
}

// change edits the logins and nothing else in the file. It begins anew if somebody has changed the file by the time that it is done.
func (d *dockerConfig) change(edit func(auths map[string]json.RawMessage) (changed bool)) error {
	for range attempts {
		before, err := d.read()
		if err != nil {
			return err
		}
		after, err := edited(before, edit)
		if err != nil || after == nil {
			return err
		}
		if err := stage(d.root, configStaging, after, configMode); err != nil {
			return err
		}
		if now, err := d.read(); err == nil && bytes.Equal(now, before) {
			d.likeBefore()
			return d.root.Rename(configStaging, configFile)
		}
	}
	return errBusy
}

// edited is a config with its logins edited, nil if that changes nothing.
func edited(config []byte, edit func(map[string]json.RawMessage) bool) ([]byte, error) {
	all, auths, err := decode(config)
	if err != nil || !edit(auths) {
		return nil, err
	}
	if all["auths"], err = json.Marshal(auths); err != nil {
		return nil, err
	}
	return json.MarshalIndent(all, "", "\t")
}

// decode reads a config. What is wrong with it is not repeated: there are passwords in it.
func decode(config []byte) (all, auths map[string]json.RawMessage, err error) {
	all, auths = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if len(bytes.TrimSpace(config)) == 0 {
		return all, auths, nil
	}
	if json.Unmarshal(config, &all) != nil || all == nil {
		return nil, nil, errors.New("docker config is not a JSON object; it is left as it is")
	}
	if raw, ok := all["auths"]; ok && json.Unmarshal(raw, &auths) != nil {
		return nil, nil, errors.New("docker config: auths is not a JSON object; it is left as it is")
	}
	if auths == nil {
		auths = map[string]json.RawMessage{}
	}
	return all, auths, nil
}

func (d *dockerConfig) auths() (map[string]json.RawMessage, error) {
	b, err := d.read()
	if err != nil {
		return nil, err
	}
	_, auths, err := decode(b)
	return auths, err
}

// read is the file's content, nothing if there is no file.
func (d *dockerConfig) read() ([]byte, error) {
	b, err := d.root.ReadFile(configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// authOf is a login as it stands in the file.
func authOf(entry json.RawMessage) (auth string, ok bool) {
	var e struct {
		Auth string `json:"auth"`
	}
	ok = len(entry) > 0 && json.Unmarshal(entry, &e) == nil
	return e.Auth, ok
}
