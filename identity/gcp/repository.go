// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"cloud.google.com/go/artifactregistry/apiv1"
	"cloud.google.com/go/artifactregistry/apiv1/artifactregistrypb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/runner-identity/runner-identity/identity"
)

const stepRepository = "repository"

// What a reader of images needs, and what lets us see the repository itself.
const (
	permissionDownload = "artifactregistry.repositories.downloadArtifacts"
	permissionGet      = "artifactregistry.repositories.get"
)

// checkRepository says whether images can be pulled from a repository. The permission is what a pull needs; the repository
// itself is looked at only if the principal may see it, which a reader of images need not.
func (p *Provider) checkRepository(ctx context.Context, e exchange, r repository) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	t, err := p.access(ctx, e)
	if err != nil {
		return "", err
	}
	client, err := p.registryClient(ctx, e, t)
	if err != nil {
		return "", identity.Errorf(identity.Unreachable, "%s: %w", r.path, err)
	}
	defer client.Close() //nolint:errcheck // nothing is pending
	granted, err := client.TestIamPermissions(ctx, &iampb.TestIamPermissionsRequest{
		Resource: r.name(), Permissions: []string{permissionDownload, permissionGet},
	})
	if err != nil {
		return "", p.repositoryRefused(e, r, t, err)
	}
	if slices.Contains(granted.GetPermissions(), permissionGet) {
		if err := p.checkFormat(ctx, client, e, r, t); err != nil {
			return "", err
		}
	} else if !slices.Contains(granted.GetPermissions(), permissionDownload) {
		return "", identity.Errorf(identity.Denied, "%s: permission %s is missing, or the repository does not exist; %s", r.path, permissionDownload, e.grant(r))
	}
	if !slices.Contains(granted.GetPermissions(), permissionDownload) {
		return "", identity.Errorf(identity.Denied, "%s: permission %s is missing; %s", r.path, permissionDownload, e.grant(r))
	}
	return fmt.Sprintf("%s may be read", r.path), nil
}

// checkFormat looks at the repository: one for Maven or Python packages has no images.
func (p *Provider) checkFormat(ctx context.Context, client *artifactregistry.Client, e exchange, r repository, t accessToken) error {
	found, err := client.GetRepository(ctx, &artifactregistrypb.GetRepositoryRequest{Name: r.name()})
	if err != nil {
		return p.repositoryRefused(e, r, t, err)
	}
	if found.GetFormat() != artifactregistrypb.Repository_DOCKER {
		return identity.Errorf(identity.Invalid, "%s: its format is %s, and images are in repositories of format DOCKER only", r.path, found.GetFormat())
	}
	return nil
}

// registryClient is a client with this access token and nothing else: given an HTTP client, it looks for no other credentials.
func (p *Provider) registryClient(ctx context.Context, e exchange, t accessToken) (*artifactregistry.Client, error) {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: t.value.Reveal()})
	return artifactregistry.NewRESTClient(ctx,
		option.WithEndpoint(e.endpoint(e.Endpoints.ArtifactRegistry, "artifactregistry")),
		option.WithHTTPClient(&http.Client{
			Transport:     &oauth2.Transport{Base: p.client.Transport, Source: source},
			Timeout:       p.client.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	)
}

// repositoryRefused is the error for an answer of Artifact Registry.
func (p *Provider) repositoryRefused(e exchange, r repository, t accessToken, err error) error {
	a := answer{step: stepRepository, err: err}
	if api, ok := errors.AsType[*googleapi.Error](err); ok {
		a = answer{step: stepRepository, status: api.Code, body: []byte(api.Body)}
	}
	f := failureOf(a, err, e.token, t.value)
	if f.Status == http.StatusUnauthorized {
		// The access token may be the reason: the next check makes a new one.
		p.tokens.Drop(e.key())
	}
	return f.Explain(r.path, repositoryRules(e.grant(r)), e.names(stepRepository))
}

// grant is the command that lets the principal read a repository.
func (e exchange) grant(r repository) string {
	return "grant it: " + grantReader(r, e.grantee(e.request.Namespace, e.request.Exchange()))
}
