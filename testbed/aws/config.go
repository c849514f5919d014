// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// LoginLifetime is how long ECR's logins live.
const LoginLifetime = 12 * time.Hour

const defaultSession = time.Hour

// A Config is the cloud as an administrator would have set it up.
type Config struct {
	// Clock is the simulator's; the machine's if it is nil.
	Clock clock.Clock
	// Issuers are the IAM OIDC providers.
	Issuers []Issuer
	// Roles are the IAM roles by ARN.
	Roles map[string]Role
	// LoginLifetime is how long registry logins live; LoginLifetime (12 h) if it is zero.
	LoginLifetime time.Duration
	// SessionLifetime shortens the sessions that STS issues, below what AWS allows a client to ask for. Zero does not.
	SessionLifetime time.Duration
	// Logger gets a line per call, never with a secret; nil logs nothing.
	Logger *slog.Logger
}

// An Issuer is an OIDC provider registered in IAM.
type Issuer struct {
	// URL is the issuer as tokens name it.
	URL string `json:"url"`
	// JWKS is where the issuer's keys are, asked for with Client. AWS finds them by the issuer's discovery document; a
	// cluster on a laptop has an issuer URL that resolves nowhere, so it is given apart.
	JWKS string `json:"jwks"`
	// ClientIDs are the audiences that the provider takes.
	ClientIDs []string `json:"clientIDs"`
	// Accounts are the AWS accounts that the provider is registered in; all if empty.
	Accounts []string `json:"accounts,omitempty"`
	// Client fetches the keys; http.DefaultClient if it is nil.
	Client *http.Client `json:"-"`
}

// A Role is an IAM role.
type Role struct {
	// TrustPolicy is its trust policy document.
	TrustPolicy json.RawMessage `json:"trustPolicy"`
	// Permissions are the actions that it may do on everything; * stands for any characters.
	Permissions []string `json:"permissions"`
	// MaxSession is the longest session; one hour if it is zero.
	MaxSession time.Duration `json:"-"`
	// Registries are other accounts whose registries let this role in.
	Registries []string `json:"registries,omitempty"`
}

func (r Role) maxSession() time.Duration {
	if r.MaxSession == 0 {
		return defaultSession
	}
	return r.MaxSession
}

func (i Issuer) in(account string) bool {
	return len(i.Accounts) == 0 || slices.Contains(i.Accounts, account)
}

func (c Config) validate() error {
	for _, i := range c.Issuers {
		if i.URL == "" || i.JWKS == "" || len(i.ClientIDs) == 0 {
			return fmt.Errorf("issuer %q: url, jwks and clientIDs must all be set", i.URL)
		}
	}
	for arn, role := range c.Roles {
		if _, ok := parseRoleARN(arn); !ok {
			return fmt.Errorf("role %q: not a role ARN such as arn:aws:iam::111122223333:role/ci", arn)
		}
		if !json.Valid(role.TrustPolicy) {
			return fmt.Errorf("role %q: trustPolicy is not JSON", arn)
		}
	}
	return nil
}
