// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const v1 = "/computeMetadata/v1/"

// metadata starts a server for a pod whose account has these annotations.
func (w *world) metadata(annotations map[string]string) func(path string) reply {
	w.t.Helper()
	at, err := w.server.StartMetadata(gcp.Pod{
		Namespace: "ci", Account: "job", Provider: gke, ProjectID: "acme-ci",
		Annotations: func(context.Context) (map[string]string, error) { return annotations, nil },
		Token: func(_ context.Context, audience string) (string, error) {
			return w.subject(audience, func(s *sim.Subject) { s.Lifetime = time.Hour }), nil
		},
	})
	require.NoError(w.t, err)
	return func(path string) reply {
		request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+at+path, nil)
		if err == nil {
			request.Header.Set("Metadata-Flavor", "Google")
		}
		return w.do(request, err)
	}
}

var annotated = map[string]string{"iam.gke.io/gcp-service-account": account}

// gke-metadata-server #501: Go and Python ask the root whether this is Google at all.
func TestTheRootAnswersWithTheFlavorAndTheRestDemandsIt(t *testing.T) {
	w := newWorld(t)
	get := w.metadata(nil)
	root := get("/")
	assert.Equal(t, http.StatusOK, root.status)
	assert.Equal(t, "Google", root.header.Get("Metadata-Flavor"))
	at, err := w.server.StartMetadata(gcp.Pod{Provider: gke})
	require.NoError(t, err)
	bare, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+v1+"project/project-id", nil)
	got := w.do(bare, err)
	assert.Equal(t, http.StatusForbidden, got.status)
	assert.Contains(t, got.raw, "Metadata-Flavor")
}

// kaniko #937 hangs where an account has no scopes; #1730 asks by the name with a dot at its end.
func TestAnAccountHasEverythingThatClientsAskFor(t *testing.T) {
	w := newWorld(t)
	get := w.metadata(annotated)
	for path, want := range map[string]string{
		"instance/service-accounts/default/scopes":          "https://www.googleapis.com/auth/cloud-platform",
		"instance/service-accounts/default/email":           account,
		"instance/service-accounts/" + account + "/aliases": "default",
		"instance/service-accounts/":                        "default/\n" + account + "/",
		"project/project-id":                                "acme-ci",
		"project/numeric-project-id":                        "123456789012",
		"instance/attributes/cluster-name":                  "ci",
		"universe/universe-domain":                          "googleapis.com",
		"instance/service-accounts/default/?recursive=true": `"email":"` + account + `"`,
	} {
		got := get(v1 + path)
		assert.Equal(t, http.StatusOK, got.status, path)
		assert.Contains(t, got.raw, want, path)
	}
	assert.Equal(t, http.StatusNotFound, get(v1+"instance/attributes/ssh-keys").status)
	assert.Equal(t, http.StatusNotFound, get(v1+"instance/service-accounts/other@acme-ci.iam.gserviceaccount.com/token").status)
}

func TestTheAnnotationSaysWhoAPodIs(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		annotations       map[string]string
		wantEmail, wantIs string
	}{
		"annotated":                            {annotated, account, account},
		"direct":                               {nil, "acme-ci.svc.id.goog", gkeMember},
		"direct, with the principal as e-mail": {map[string]string{"iam.gke.io/return-principal-id-as-email": "true"}, gkeMember, gkeMember},
	} {
		t.Run(name, func(t *testing.T) {
			get := w.metadata(c.annotations)
			assert.Equal(t, c.wantEmail, get(v1+"instance/service-accounts/default/email").raw)
			got := get(v1 + "instance/service-accounts/default/token")
			require.Equal(t, http.StatusOK, got.status, got.raw)
			who, err := w.server.Verify("oauth2accesstoken", got.text("access_token"), gcp.Scope{Host: host})
			require.NoError(t, err)
			assert.Equal(t, c.wantIs, who)
		})
	}
}

// cloudnative-pg #5370.
func TestAMissingBindingReadsAsPodsSeeIt(t *testing.T) {
	w := newWorld(t, func(c *gcp.Config) { clear(c.ServiceAccounts) })
	got := w.metadata(annotated)(v1 + "instance/service-accounts/default/token")
	assert.Equal(t, http.StatusForbidden, got.status)
	assert.True(t, strings.HasPrefix(got.raw, "Unable to generate access token; IAM returned 403 Forbidden: "), got.raw)
	assert.Contains(t, got.raw, "This error could be caused by a missing IAM policy binding on the target IAM service account.")
}

func TestIDTokensNeedAnAccount(t *testing.T) {
	w := newWorld(t)
	got := w.metadata(annotated)(v1 + "instance/service-accounts/default/identity?audience=x")
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, 2, strings.Count(got.raw, "."))
	got = w.metadata(nil)(v1 + "instance/service-accounts/default/identity?audience=x")
	assert.Equal(t, http.StatusNotFound, got.status)
	assert.Contains(t, got.raw, "Your Kubernetes service account (ci/job) is not annotated with a target Google service account")
	assert.Equal(t, http.StatusBadRequest, w.metadata(annotated)(v1+"instance/service-accounts/default/identity").status)
}

func TestAPodOfAnUnknownClusterIsAMistake(t *testing.T) {
	_, err := newWorld(t).server.StartMetadata(gcp.Pod{Namespace: "ci", Account: "job", Provider: provider})
	assert.ErrorContains(t, err, "is not a cluster of the config")
}
