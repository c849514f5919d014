// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// stsRules is what STS's refusals of a ServiceAccount token mean.
func stsRules() []rule {
	return append(commonRules(), []rule{
		{code: "invalid_target", reason: identity.Denied,
			mend: "{provider} or its pool does not exist, or is disabled or deleted: check gcp.workloadIdentityProvider"},
		{code: "invalid_request", contains: `value for "audience"`, reason: identity.Invalid,
			mend: "gcp.workloadIdentityProvider has to be the provider's full name with the project's number, such as " + exampleProvider},
		{code: "invalid_request", contains: "token request", reason: identity.Invalid, mend: "check gcp.audience"},
		{code: "invalid_grant", contains: "audience in ID Token", reason: identity.Denied,
			mend: "add {audience} to the --allowed-audiences of {provider}, or set gcp.audience to one that it has"},
		{code: "invalid_grant", contains: "stale to sign-in", reason: identity.Unreachable,
			mend: "a new token is asked for; if it happens again the clocks of the control plane and of Google differ"},
		{code: "invalid_grant", contains: "connecting to the given credential's issuer", reason: identity.Denied,
			mend: "Google cannot read the keys of {issuer}; upload them: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{code: "invalid_grant", contains: "issuer in ID Token", reason: identity.Denied,
			mend: "set the provider's issuer to the cluster's: {update} --issuer-uri {issuer}"},
		{code: "invalid_grant", contains: "key", reason: identity.Denied,
			mend: "the provider has other keys than the cluster; upload them again: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{code: "invalid_grant", contains: "signature", reason: identity.Denied,
			mend: "the provider has other keys than the cluster; upload them again: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{code: "unauthorized_client", reason: identity.Denied,
			mend: "the attribute condition of {provider} has to let in {subject}"},
		{status: http.StatusNotFound, reason: identity.Denied,
			mend: "check project, location and name in gcp.workloadIdentityProvider: Google does not know {provider}"},
	}...)
}

// impersonationRules is what refusals of a Google service account mean. Google does not say which part is missing.
func impersonationRules() []rule {
	return append(commonRules(), []rule{
		{code: "PERMISSION_DENIED", contains: "iam.serviceAccounts.getAccessToken", reason: identity.Denied,
			mend: "either {account} does not exist or it does not let the ServiceAccount in: gcloud iam service-accounts add-iam-policy-binding {account} --role roles/iam.workloadIdentityUser --member '{member}', which takes a few minutes"},
		{code: "NOT_FOUND", reason: identity.Denied, mend: "{account} does not exist: check gcp.serviceAccount"},
		{code: "INVALID_ARGUMENT", contains: "lifetime", reason: identity.Denied,
			mend: "list {account} in constraints/iam.allowServiceAccountCredentialLifetimeExtension, or set gcp.accessTokenLifetime to 1h at most"},
		{code: "INVALID_ARGUMENT", reason: identity.Invalid, mend: "check gcp.serviceAccount and gcp.accessTokenLifetime"},
		{code: "UNAUTHENTICATED", reason: identity.Unreachable, mend: "the token before it ended; it is made again"},
	}...)
}

// repositoryRules is what Artifact Registry's refusals mean. grant is the command that mends the usual one.
func repositoryRules(grant string) []rule {
	return append(commonRules(), []rule{
		{code: "UNAUTHENTICATED", contains: "Expected OAuth 2 access token", reason: identity.Denied,
			mend: "this API takes no federated tokens here; set gcp.serviceAccount to a Google service account that may read it"},
		{status: http.StatusUnauthorized, reason: identity.Unreachable, mend: "the access token ended; it is made again"},
		{status: http.StatusNotFound, reason: identity.Denied, mend: "the repository does not exist: check gcp.repositories"},
		{status: http.StatusForbidden, reason: identity.Denied, mend: grant},
	}...)
}

// refused is the error for a token that was not traded.
func (e exchange) refused(last answer, f failure) error {
	step := cmp.Or(last.step, stepSTS)
	rules := stsRules()
	if step == stepImpersonation {
		rules = impersonationRules()
	}
	return &stepError{step: step, err: f.classify(e.service(step), rules, e.names(step))}
}

// names are what the mending sentences need.
func (e exchange) names(step string) *strings.Replacer {
	api := map[string]string{stepSTS: "sts.", stepImpersonation: "iamcredentials.", stepRepository: "artifactregistry."}[step]
	namespace, name := e.request.Namespace, e.request.Exchange()
	return strings.NewReplacer(
		"{provider}", e.provider.name,
		"{update}", e.updateProvider(),
		"{audience}", quoted(e.Audience),
		"{issuer}", quoted(cmp.Or(issuerOf(e.token), e.request.Issuer, issuerPlaceholder)),
		"{subject}", e.provider.subject(namespace, name),
		"{account}", e.account.email,
		"{member}", e.member(namespace, name),
		"{api}", api+defaultUniverse,
		"{project}", cmp.Or(e.account.project, e.ProjectID, e.provider.project),
		"{quota}", cmp.Or(e.QuotaProject, e.ProjectID),
	)
}
