// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/identity"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
)

// written is all that can be read of a run but the one Secret whose data is a secret.
func (w *world) written(t *testing.T, name string) string {
	t.Helper()
	secret := w.secret(t, name+"-registry")
	secret.Data = nil
	var all strings.Builder
	for _, o := range []any{w.identity(t, name), w.account(t, name+"-runner"), secret, w.events.take("")} {
		b, err := json.Marshal(o)
		require.NoError(t, err)
		all.Write(b)
	}
	return all.String()
}

func TestNoTokenAndNoPasswordIsWrittenAnywhere(t *testing.T) {
	w := newWorld(t)
	var log strings.Builder
	logger := funcr.New(func(prefix, args string) { log.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 10})
	c := w.controller(t)
	w.newIdentity(t, "ci")
	var all strings.Builder
	var passwords []string
	step := func() {
		_, err := reconcile.AsReconciler(c.Client, c).Reconcile(ctrl.LoggerInto(t.Context(), logger), reconcile.Request{NamespacedName: w.key("ci")})
		require.NoError(t, err)
		_, password := login(t, w.secret(t, "ci-registry"), host)
		passwords = append(passwords, password)
		all.WriteString(w.written(t, "ci"))
	}
	step()
	for _, fault := range []simaws.Fault{{Kind: simaws.Broken}, {Kind: simaws.AccessDenied}, {Kind: simaws.ErrorCode, Code: "InvalidIdentityToken"}} {
		w.clock.Step(2 * time.Hour)
		require.NoError(t, w.cloud.Inject(fault))
		step()
		w.cloud.ClearFaults()
	}
	w.clock.Step(6 * time.Hour)
	step()

	text := all.String() + log.String()
	require.Contains(t, text, "CloudUnreachable", "the run had failures to write about")
	require.NotEmpty(t, w.tokens.issued)
	for _, token := range w.tokens.issued {
		assert.NotContains(t, text, token)
		assert.NotContains(t, text, token[strings.LastIndex(token, ".")+1:], "nor its signature")
	}
	for _, p := range passwords {
		assert.NotContains(t, text, p)
		assert.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte("AWS:"+p)))
	}
}

// leaky is a plug-in that is not ours, and careless.
type leaky struct{ identity.Provider }

func (leaky) Name() string { return "leaky" }

func (leaky) Plan(identity.Request) (identity.Plan, error) {
	return identity.Plan{Principal: "somebody", Exchange: identity.Exchange{Audience: "leaky"},
		Registries: []identity.Registry{{Host: "registry.example.com", For: identity.Runner}}}, nil
}

func (leaky) Serves(string) bool { return true }

func (leaky) Login(_ ctx, _ string, token identity.Secret, _ identity.Request) (identity.Credential, error) {
	return identity.Credential{}, fmt.Errorf("cannot log in with %s", token.Reveal())
}

func (leaky) Probe(_ ctx, token identity.Secret, _ identity.Request) ([]identity.Link, error) {
	panic(errors.New("token " + token.Reveal()))
}

func TestAPluginThatRepeatsTheTokenOrPanicsDoesNoHarm(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	var err error
	c.Providers, err = identity.NewSet(leaky{})
	require.NoError(t, err)
	w.newIdentity(t, "ci", func(s *v1alpha1.RunnerIdentitySpec) { s.IdentityProvider, s.Identity.AWS = "leaky", nil })
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionRegistryLoginReady), "False CloudUnreachable: registry.example.com: cannot log in with [redacted]")
	assert.Contains(t, condition(ri, v1alpha1.ConditionPrincipalVerified), "False CloudUnreachable: provider leaky panicked with a *errors.errorString")
	b, err := json.Marshal(ri)
	require.NoError(t, err)
	for _, token := range w.tokens.issued {
		assert.NotContains(t, string(b), token)
	}
}

var _ runneridentity.Tokens = (*tokens)(nil)
