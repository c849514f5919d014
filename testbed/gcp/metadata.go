// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	annotationAccount     = "iam.gke.io/gcp-service-account"
	annotationPrincipalID = "iam.gke.io/return-principal-id-as-email"

	flavor       = "Metadata-Flavor"
	flavorGoogle = "Google"
)

// A Pod is who asks a metadata server. GKE's finds that out by the caller's address.
type Pod struct {
	// Namespace and Account are those of the pod's ServiceAccount.
	Namespace, Account string
	// Provider is the name of the GKE cluster, one of the config's providers.
	Provider string
	// ProjectID is the cluster's project.
	ProjectID string
	// Annotations reads those of the ServiceAccount.
	Annotations func(context.Context) (map[string]string, error)
	// Token asks the API server for a token of the ServiceAccount.
	Token func(ctx context.Context, audience string) (string, error)
}

// metadataHandler is one pod's view of the metadata server.
type metadataHandler struct {
	server *Server
	pod    Pod
}

// StartMetadata starts a metadata server for one pod and returns its host and port, for GCE_METADATA_HOST. The error names a
// cluster that the config does not have.
func (s *Server) StartMetadata(pod Pod) (string, error) {
	h, err := s.MetadataServer(pod)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(s.listen(h).URL, "http://"), nil
}

// MetadataServer is the handler that StartMetadata starts.
func (s *Server) MetadataServer(pod Pod) (http.Handler, error) {
	m := metadataHandler{server: s, pod: pod}
	p, err := m.provider()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	get := func(path, action string, do operation) { mux.HandleFunc("GET "+path, s.serve(Metadata, action, do)) }
	fixed := func(value string) operation { return func(*call) (any, error) { return text(value), nil } }
	const v1, account = "/computeMetadata/v1", "/computeMetadata/v1/instance/service-accounts/{account}/"
	// Client libraries ask here whether they are on Google's machines at all.
	get("/{$}", "Root", fixed("computeMetadata/\n"))
	get(v1+"/project/project-id", "Project", fixed(pod.ProjectID))
	get(v1+"/project/numeric-project-id", "Project", fixed(p.ProjectNumber))
	get(v1+"/universe/universe-domain", "Universe", fixed("googleapis.com"))
	get(v1+"/instance/id", "Instance", fixed("1234567890123456789"))
	get(v1+"/instance/zone", "Instance", fixed("projects/"+p.ProjectNumber+"/zones/europe-west1-b"))
	get(v1+"/instance/attributes/cluster-name", "Attribute", fixed(last(pod.Provider)))
	get(v1+"/instance/service-accounts/{$}", "Accounts", m.accounts)
	get(account+"{$}", "Account", m.account)
	get(account+"email", "Email", m.email)
	get(account+"aliases", "Aliases", fixed("default\n"))
	get(account+"scopes", "Scopes", fixed("https://www.googleapis.com/auth/cloud-platform\nhttps://www.googleapis.com/auth/userinfo.email\n"))
	get(account+"token", "Token", m.token)
	get(account+"identity", "Identity", m.identity)
	return flavored(mux), nil
}

// flavored demands the header without which a request could be one that a browser was tricked into.
func flavored(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(flavor, flavorGoogle)
		if r.URL.Path != "/" && r.Header.Get(flavor) != flavorGoogle {
			http.Error(w, "Missing required header 'Metadata-Flavor': 'Google'", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (m metadataHandler) provider() (*provider, error) {
	for _, p := range m.server.providers {
		if p.Name == m.pod.Provider && p.Pool != "" {
			return p, nil
		}
	}
	return nil, fmt.Errorf("pod %s/%s: provider %q is not a cluster of the config", m.pod.Namespace, m.pod.Account, m.pod.Provider)
}

// emailOf is the e-mail that the pod's account has, or what stands for one.
func (m metadataHandler) emailOf(ctx context.Context) (email string, impersonates bool, err error) {
	annotations, err := m.pod.Annotations(ctx)
	if err != nil {
		return "", false, err
	}
	p, err := m.provider()
	if err != nil {
		return "", false, err
	}
	if account := annotations[annotationAccount]; account != "" {
		return account, true, nil
	}
	if annotations[annotationPrincipalID] == "true" {
		return p.principal(proof{namespace: m.pod.Namespace, account: m.pod.Account}), false, nil
	}
	return p.Pool, false, nil
}

func (m metadataHandler) email(c *call) (any, error) {
	email, _, err := m.emailOf(c.http.Context())
	return text(email), err
}

func (m metadataHandler) accounts(c *call) (any, error) {
	email, _, err := m.emailOf(c.http.Context())
	return text("default/\n" + email + "/\n"), err
}

func (m metadataHandler) account(c *call) (any, error) {
	email, _, err := m.emailOf(c.http.Context())
	return map[string]any{"aliases": []string{"default"}, "email": email, "scopes": []string{"https://www.googleapis.com/auth/cloud-platform"}}, err
}

// token is the answer of GKE's server.
func (m metadataHandler) token(c *call) (any, error) {
	made, err := m.access(c)
	if err != nil {
		return nil, err
	}
	return tokenReply{AccessToken: m.server.issue(made), TokenType: "Bearer", ExpiresIn: int(made.expires.Sub(c.now) / time.Second)}, nil
}

// access is what GKE's server does: a token of the ServiceAccount from the API server, traded at STS and, if the account is
// annotated, once more at IAM.
func (m metadataHandler) access(c *call) (token, error) {
	s := m.server
	email, impersonates, err := m.emailOf(c.http.Context())
	if err != nil {
		return token{}, err
	}
	if asked := c.http.PathValue("account"); asked != "default" && asked != email {
		return token{}, refuse(http.StatusNotFound, "NOT_FOUND", "Invalid service account: %s", asked)
	}
	p, err := m.provider()
	if err != nil {
		return token{}, err
	}
	raw, err := m.pod.Token(c.http.Context(), p.Pool)
	if err != nil {
		return token{}, err
	}
	made, err := s.exchange(c, "identitynamespace:"+p.Pool+":"+p.Name, raw)
	if err == nil && impersonates {
		made, err = s.impersonate(c, made, email, "")
	}
	if err != nil {
		e := asAPI(err)
		return token{}, refuse(cmp.Or(e.status, http.StatusForbidden), e.code,
			"Unable to generate access token; IAM returned %d %s: %s\nThis error could be caused by a missing IAM policy binding on the target IAM service account.\n"+
				"For more information, refer to the Workload Identity documentation:\n\thttps://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity#authenticating_to\n\n",
			e.status, http.StatusText(e.status), e.message)
	}
	return made, nil
}
