// SPDX-License-Identifier: Apache-2.0

package vault_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/docs/examples/vault"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/identitytest"
)

func request(settings string) identity.Request {
	return identity.Request{
		Namespace: "ci", Name: "website", Targets: identity.Both,
		Accounts: identity.Accounts{Runner: "website-runner", Job: "website-job"},
		Settings: identity.Settings(settings),
	}
}

func TestTheProviderKeepsThePromisesOfAllProviders(t *testing.T) {
	identitytest.Run(t, vault.Provider{},
		identitytest.Case{Name: "a role", Request: request(`{"address":"https://vault.example.com","role":"ci"}`)},
		identitytest.Case{Name: "no role", Request: request(`{"address":"https://vault.example.com"}`), WantProblem: "parameters.role"},
		identitytest.Case{Name: "plain http", Request: request(`{"address":"http://vault.example.com","role":"ci"}`), WantProblem: "parameters.address"},
	)
}

func TestThePageShowsThisProvider(t *testing.T) {
	page, err := os.ReadFile("../../writing-a-provider.md")
	require.NoError(t, err)
	source, err := os.ReadFile("vault.go")
	require.NoError(t, err)
	assert.Contains(t, string(page), "```go\n"+string(source)+"```\n", "copy docs/examples/vault/vault.go into the page")
}
