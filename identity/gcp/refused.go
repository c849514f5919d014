// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/internal/refusal"
)

// stsRules is what STS's refusals of a ServiceAccount token mean.
func stsRules() []refusal.Rule {
	return append(commonRules(), []refusal.Rule{
		{Code: "invalid_target", Reason: identity.Denied,
			Mend: "{provider} or its pool does not exist, or is disabled or deleted: check gcp.workloadIdentityProvider"},
		{Code: "invalid_request", Contains: `value for "audience"`, Reason: identity.Invalid,
			Mend: "gcp.workloadIdentityProvider has to be the provider's full name with the project's number, such as " + exampleProvider},
		{Code: "invalid_request", Contains: "token request", Reason: identity.Invalid, Mend: "check gcp.audience"},
		{Code: "invalid_grant", Contains: "audience in ID Token", Reason: identity.Denied,
			Mend: "add {audience} to the --allowed-audiences of {provider}, or set gcp.audience to one that it has"},
		{Code: "invalid_grant", Contains: "stale to sign-in", Reason: identity.Unreachable,
			Mend: "a new token is asked for; if it happens again the clocks of the control plane and of Google differ"},
		{Code: "invalid_grant", Contains: "connecting to the given credential's issuer", Reason: identity.Denied,
			Mend: "Google cannot read the keys of {issuer}; upload them: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{Code: "invalid_grant", Contains: "issuer in ID Token", Reason: identity.Denied,
			Mend: "set the provider's issuer to the cluster's: {update} --issuer-uri {issuer}"},
		{Code: "invalid_grant", Contains: "key", Reason: identity.Denied,
			Mend: "the provider has other keys than the cluster; upload them again: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{Code: "invalid_grant", Contains: "signature", Reason: identity.Denied,
			Mend: "the provider has other keys than the cluster; upload them again: kubectl get --raw /openid/v1/jwks >jwks.json, and {update} --jwk-json-path jwks.json"},
		{Code: "unauthorized_client", Reason: identity.Denied,
			Mend: "the attribute condition of {provider} has to let in {subject}"},
		{Status: http.StatusNotFound, Reason: identity.Denied,
			Mend: "check project, location and name in gcp.workloadIdentityProvider: Google does not know {provider}"},
	}...)
}

// impersonationRules is what refusals of a Google service account mean. Google does not say which part is missing.
func impersonationRules() []refusal.Rule {
	return append(commonRules(), []refusal.Rule{
		{Code: "PERMISSION_DENIED", Contains: "iam.serviceAccounts.getAccessToken", Reason: identity.Denied,
			Mend: "either {account} does not exist or it does not let the ServiceAccount in: gcloud iam service-accounts add-iam-policy-binding {account} --role roles/iam.workloadIdentityUser --member '{member}', which takes a few minutes"},
		{Code: "NOT_FOUND", Reason: identity.Denied, Mend: "{account} does not exist: check gcp.serviceAccount"},
		{Code: "INVALID_ARGUMENT", Contains: "lifetime", Reason: identity.Denied,
			Mend: "list {account} in constraints/iam.allowServiceAccountCredentialLifetimeExtension, or set gcp.accessTokenLifetime to 1h at most"},
		{Code: "INVALID_ARGUMENT", Reason: identity.Invalid, Mend: "check gcp.serviceAccount and gcp.accessTokenLifetime"},
		{Code: "UNAUTHENTICATED", Reason: identity.Unreachable, Mend: "the token before it ended; it is made again"},
	}...)
}

// repositoryRules is what Artifact Registry's refusals mean. grant is the command that mends the usual one.
func repositoryRules(grant string) []refusal.Rule {
	return append(commonRules(), []refusal.Rule{
		{Code: "UNAUTHENTICATED", Contains: "Expected OAuth 2 access token", Reason: identity.Denied,
			Mend: "this API takes no federated tokens here; set gcp.serviceAccount to a Google service account that may read it"},
		{Status: http.StatusUnauthorized, Reason: identity.Unreachable, Mend: "the access token ended; it is made again"},
		{Status: http.StatusNotFound, Reason: identity.Denied, Mend: "the repository does not exist: check gcp.repositories"},
		{Status: http.StatusForbidden, Reason: identity.Denied, Mend: grant},
	}...)
}

// refused is the error for a token that was not traded.
func (e exchange) refused(last answer, f refusal.Failure) error {
	step := cmp.Or(last.step, stepSTS)
	rules := stsRules()
	if step == stepImpersonation {
		rules = impersonationRules()
	}
	return &stepError{step: step, err: f.Explain(e.service(step), rules, e.names(step))}
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
