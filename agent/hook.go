// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"path"
	"strings"
)

// hook is the runner's job-started hook. It runs as the runner's user, once the runner has emptied its temporary directory and
// before a container of the job starts.
type hook struct {
	job Job
	// from is podspec.JobDir, sub its name in a home directory, temp the runner's temporary directory.
	from, sub, temp string
	// then is the hook that runs afterwards, empty if there is none.
	then string
}

// hookStart begins each hook. The runner runs it with bash -e and takes its failure for the job's, so that nothing in it may fail.
const hookStart = `#!/bin/sh
# Written by runner-identity: gives the containers of this job the runner's identity.
# What goes wrong here is said in the job's log and does not fail the job.
set +e
umask 022
say() { echo "runner-identity: $* The job goes on; its containers may have no identity." >&2; }
put() {
  mkdir -p "$home/${2%/*}" && cp "$from/$1" "$home/$2" && chmod 644 "$home/$2" || say "$2 cannot be written."
}
# Tools write beside their configuration, as whatever user the container has.
open() { mkdir -p "$home/$1" && chmod 777 "$home/$1"; }
`

// script is the hook's text.
func (h hook) script() string {
	var b strings.Builder
	b.WriteString(hookStart)
	fmt.Fprintf(&b, "from=%s\ntemp=%s\nhome=\"${RUNNER_TEMP:-$temp}/_github_home\"\n", quoted(h.from), quoted(h.temp))
	for _, t := range h.job.Tokens {
		h.put(&b, t.Path, path.Join(h.sub, t.Path))
	}
	for _, f := range h.job.Files {
		h.put(&b, f.Path, path.Join(h.sub, f.Path))
	}
	for _, f := range h.job.Home {
		fmt.Fprintf(&b, "open %s\n", quoted(path.Dir(f.Path)))
		h.put(&b, path.Join(homeDir, f.Path), f.Path)
	}
	fmt.Fprintf(&b, "[ -z \"$GITHUB_ENV\" ] || cat \"$from/%s\" >>\"$GITHUB_ENV\" || say \"variables cannot be set.\"\n", envFile)
	b.WriteString(h.next())
	return b.String()
}

func (h hook) put(b *strings.Builder, from, to string) {
	fmt.Fprintf(b, "put %s %s\n", quoted(from), quoted(to))
}

// next runs the operator's hook as the runner would have. Whether the job fails is its business.
func (h hook) next() string {
	file := quoted(h.then)
	switch path.Ext(h.then) {
	case "":
		if h.then == "" {
			return "exit 0\n"
		}
	case ".ps1":
		return "exec pwsh -command \". " + strings.ReplaceAll(file, `"`, `\"`) + "\"\n"
	case ".sh":
		return "if command -v bash >/dev/null; then exec bash --noprofile --norc -e -o pipefail " + file + "; fi\nexec sh -e " + file + "\n"
	}
	return "exec " + file + "\n"
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
