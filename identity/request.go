// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/json"
)

// A Request is all that a provider knows when it plans. It is JSON-clean, so that it can cross a process boundary.
type Request struct {
	// Namespace and Name are those of the RunnerIdentity.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Accounts are the ServiceAccounts that the pods run as.
	Accounts Accounts `json:"accounts"`
	// Targets says who gets the identity.
	Targets Target `json:"targets"`
	// Issuer is the URL of the cluster's ServiceAccount token issuer. Empty if it is not known; a plan must not need it.
	Issuer string `json:"issuer,omitempty"`
	// Registries are the registry hosts that the user asked for. Empty means: those of ImageHosts that the provider
	// serves, and the principal's own registry.
	Registries []string `json:"registries,omitempty"`
	// ImageHosts are the registry hosts of the pods' images, sorted.
	ImageHosts []string `json:"imageHosts,omitempty"`
	// Settings are the provider's own: the admin's defaults with the user's values over them.
	Settings Settings `json:"settings,omitempty"`
}

// Accounts are the names of the two ServiceAccounts of an identity.
type Accounts struct {
	Runner string `json:"runner"`
	Job    string `json:"job"`
}

// Exchange is the account whose token is traded for logins and probes: the job's if jobs have the identity, else the runner's.
func (r Request) Exchange() string {
	if r.Targets.Has(Job) {
		return r.Accounts.Job
	}
	return r.Accounts.Runner
}

// Bound lists the accounts that have the identity, without repeats.
func (r Request) Bound() []string {
	var bound []string
	if r.Targets.Has(Runner) {
		bound = append(bound, r.Accounts.Runner)
	}
	if r.Targets.Has(Job) && (!r.Targets.Has(Runner) || r.Accounts.Job != r.Accounts.Runner) {
		bound = append(bound, r.Accounts.Job)
	}
	return bound
}

// Settings are a provider's settings as a JSON object.
type Settings json.RawMessage

// Decode reads the settings into a struct. A field that the struct does not have is an Invalid error that names it.
// Empty settings leave the struct as it is.
func (s Settings) Decode(into any) error {
	if len(s) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return Errorf(Invalid, "settings: %w", err)
	}
	return nil
}

// MarshalJSON keeps the settings as they are.
func (s Settings) MarshalJSON() ([]byte, error) { return json.RawMessage(s).MarshalJSON() }

// UnmarshalJSON keeps the settings as they are.
func (s *Settings) UnmarshalJSON(b []byte) error { *s = bytes.Clone(b); return nil }

// Target is a set of those who can have an identity.
type Target uint8

// Runner is the runner pod, Job the job and step pods that the runner's container hook makes.
const (
	Runner Target = 1 << iota
	Job
	Both = Runner | Job
)

// Has reports whether t contains all of other.
func (t Target) Has(other Target) bool { return t&other == other }

// String is "Runner", "Job", "Runner,Job" or "None".
func (t Target) String() string {
	switch t {
	case Runner:
		return "Runner"
	case Job:
		return "Job"
	case Both:
		return "Runner,Job"
	}
	return "None"
}
