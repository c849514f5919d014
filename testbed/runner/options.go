// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	inputPrefix = "ACTIONS_RUNNER_INPUT_"
	envJIT      = inputPrefix + "JITCONFIG"
	envHook     = "ACTIONS_RUNNER_HOOK_JOB_STARTED"
	envGrace    = "RUNNER_GRACEFUL_STOP_TIMEOUT"
	envHome     = "RUNNER_HOME"
	envKeep     = "RUNNER_KEEP_REGISTRATION"
)

// defaultGrace is that of the legacy runner images.
const defaultGrace = 15 * time.Second

// Options are what a runner is told by its environment.
type Options struct {
	// JITConfig is the JIT configuration of a GitHub simulator.
	JITConfig string
	// Hook is the job-started hook, empty for none.
	Hook string
	// Grace is how long a job may go on after the runner was told to end.
	Grace time.Duration
	// Home is where the work folder is, if that is not an absolute path.
	Home string
	// Keep lets the registration of a runner that ends idle stand, as GitHub's program does.
	Keep bool
	// Environ is what hook and steps get of the runner's environment.
	Environ []string
	// Log is what a person reads.
	Log io.Writer
}

// FromEnviron reads Options from an environment. home is Home's default. What GitHub's program takes as input is kept from jobs.
func FromEnviron(environ []string, home string, log io.Writer) (Options, error) {
	env := parseEnviron(environ)
	o := Options{JITConfig: env[envJIT], Hook: env[envHook], Home: cmp.Or(env[envHome], home), Grace: defaultGrace, Log: log}
	if o.JITConfig == "" {
		return o, fmt.Errorf("%s: is empty: must be the JIT configuration of a runner", envJIT)
	}
	if value := env[envGrace]; value != "" {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds < 0 {
			return o, fmt.Errorf("%s: is %q: must be a number of seconds", envGrace, value)
		}
		o.Grace = time.Duration(seconds) * time.Second
	}
	if value := env[envKeep]; value != "" {
		keep, err := strconv.ParseBool(value)
		if err != nil {
			return o, fmt.Errorf("%s: is %q: must be true or false", envKeep, value)
		}
		o.Keep = keep
	}
	o.Environ = slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return strings.HasPrefix(e, inputPrefix) })
	return o, nil
}
