// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/internal/refusal"
	"github.com/runner-identity/runner-identity/identity/token"
)

// stsRules is what STS's refusals of a web identity mean. STS itself does not say which part of a trust policy did not fit.
func stsRules() []refusal.Rule {
	return append(commonRules(), []refusal.Rule{
		{Code: "AccessDenied", Reason: identity.Denied,
			Mend: "either {role} does not exist or its trust policy does not let this token in: it has to allow " + webIdentityAction + " to {provider} where {issuer}:aud is {audience} and {issuer}:sub is {subject}"},
		{Code: "InvalidIdentityToken", Contains: "No OpenIDConnect provider", Reason: identity.Denied,
			Mend: "create the IAM OIDC provider {provider} in account {account}"},
		{Code: "InvalidIdentityToken", Contains: "audience", Reason: identity.Denied,
			Mend: "add {audience} to the client ids of the IAM OIDC provider {provider}"},
		{Code: "InvalidIdentityToken", Contains: "verification key", Reason: identity.Unreachable,
			Mend: "AWS has to be able to read {url}/.well-known/openid-configuration and the keys it points to, over the internet, within 5 seconds"},
		{Code: "InvalidIdentityToken", Contains: "Missing a required claim", Reason: identity.Denied,
			Mend: "the token needs iss, sub, aud, exp and iat: check the API server's --service-account-issuer and the audience"},
		{Code: "InvalidIdentityToken", Reason: identity.Denied,
			Mend: "check that the IAM OIDC provider {provider} is for the cluster's present issuer and keys"},
		{Code: "ExpiredTokenException", Reason: identity.Unreachable,
			Mend: "a new token is asked for; if it happens again the clocks of the control plane and of AWS differ"},
		{Code: "IDPCommunicationError", Reason: identity.Unreachable,
			Mend: "AWS could not fetch the keys of {url} within 5 seconds; make them reachable over the internet"},
		{Code: "IDPRejectedClaim", Reason: identity.Denied,
			Mend: "the issuer revoked the token or a claim in it; check {url}"},
		{Code: "PackedPolicyTooLarge", Reason: identity.Invalid, Mend: "make the session policy smaller"},
		{Code: "MalformedPolicyDocument", Reason: identity.Invalid, Mend: "mend the session policy"},
		{Code: "RegionDisabledException", Reason: identity.Denied,
			Mend: "switch {region} on in the settings of account {account}, or use another aws.region"},
		{Code: "ValidationError", Reason: identity.Invalid, Mend: "check aws.roleARN and aws.sessionName"},
	}...)
}

// hopRules is what STS's refusals of a further role in the chain mean.
func hopRules() []refusal.Rule {
	return append(commonRules(), []refusal.Rule{
		{Code: "AccessDenied", Reason: identity.Denied,
			Mend: "{from} needs a permission policy that allows sts:AssumeRole on {role}, and the trust policy of {role} has to name {from}"},
		{Code: "ExpiredTokenException", Reason: identity.Unreachable, Mend: "the session before it ended; it is made again"},
		{Code: "ExpiredToken", Reason: identity.Unreachable, Mend: "the session before it ended; it is made again"},
		{Code: "RegionDisabledException", Reason: identity.Denied,
			Mend: "switch {region} on in the settings of account {account}, or use another aws.region"},
		{Code: "ValidationError", Reason: identity.Invalid, Mend: "check aws.chain and aws.sessionName"},
	}...)
}

// refused is the error for a token that STS did not take.
func (e exchange) refused(f refusal.Failure) error {
	r := e.roles[0]
	// Claims that cannot be read leave the issuer that the cluster is known to have.
	issuer := e.request.Issuer
	if c, err := token.Decode(e.token); err == nil {
		issuer = c.Issuer
	}
	url := issuer
	if issuer == "" {
		issuer, url = issuerPlaceholder, "https://"+issuerPlaceholder
	}
	names := strings.NewReplacer(
		"{role}", r.arn, "{account}", r.account, "{provider}", r.providerARN(issuer), "{region}", e.Region, "{audience}", e.Audience,
		"{issuer}", issuerKey(issuer), "{url}", url, "{subject}", token.Subject(e.request.Namespace, e.request.Exchange()),
	)
	return f.Explain(fmt.Sprintf("sts in %s for %s", e.Region, r.arn), stsRules(), names)
}

// hopRefused is the error for role i of the chain.
func (e exchange) hopRefused(f refusal.Failure, i int) error {
	r := e.roles[i]
	names := strings.NewReplacer("{role}", r.arn, "{account}", r.account, "{from}", e.roles[i-1].arn, "{region}", e.Region)
	return f.Explain(fmt.Sprintf("sts in %s for chain[%d] %s", e.Region, i-1, r.arn), hopRules(), names)
}
