// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// stsRules is what STS's refusals of a web identity mean. STS itself does not say which part of a trust policy did not fit.
func stsRules() []rule {
	return append(commonRules(), []rule{
		{code: "AccessDenied", reason: identity.Denied,
			mend: "either {role} does not exist or its trust policy does not let this token in: it has to allow " + webIdentityAction + " to {provider} where {issuer}:aud is {audience} and {issuer}:sub is {subject}"},
		{code: "InvalidIdentityToken", contains: "No OpenIDConnect provider", reason: identity.Denied,
			mend: "create the IAM OIDC provider {provider} in account {account}"},
		{code: "InvalidIdentityToken", contains: "audience", reason: identity.Denied,
			mend: "add {audience} to the client ids of the IAM OIDC provider {provider}"},
		{code: "InvalidIdentityToken", contains: "verification key", reason: identity.Unreachable,
			mend: "AWS has to be able to read {url}/.well-known/openid-configuration and the keys it points to, over the internet, within 5 seconds"},
		{code: "InvalidIdentityToken", contains: "Missing a required claim", reason: identity.Denied,
			mend: "the token needs iss, sub, aud, exp and iat: check the API server's --service-account-issuer and the audience"},
		{code: "InvalidIdentityToken", reason: identity.Denied,
			mend: "check that the IAM OIDC provider {provider} is for the cluster's present issuer and keys"},
		{code: "ExpiredTokenException", reason: identity.Unreachable,
			mend: "a new token is asked for; if it happens again the clocks of the control plane and of AWS differ"},
		{code: "IDPCommunicationError", reason: identity.Unreachable,
			mend: "AWS could not fetch the keys of {url} within 5 seconds; make them reachable over the internet"},
		{code: "IDPRejectedClaim", reason: identity.Denied,
			mend: "the issuer revoked the token or a claim in it; check {url}"},
		{code: "PackedPolicyTooLarge", reason: identity.Invalid, mend: "make the session policy smaller"},
		{code: "MalformedPolicyDocument", reason: identity.Invalid, mend: "mend the session policy"},
		{code: "RegionDisabledException", reason: identity.Denied,
			mend: "switch {region} on in the settings of account {account}, or use another aws.region"},
		{code: "ValidationError", reason: identity.Invalid, mend: "check aws.roleARN and aws.sessionName"},
	}...)
}

// hopRules is what STS's refusals of a further role in the chain mean.
func hopRules() []rule {
	return append(commonRules(), []rule{
		{code: "AccessDenied", reason: identity.Denied,
			mend: "{from} needs a permission policy that allows sts:AssumeRole on {role}, and the trust policy of {role} has to name {from}"},
		{code: "ExpiredTokenException", reason: identity.Unreachable, mend: "the session before it ended; it is made again"},
		{code: "ExpiredToken", reason: identity.Unreachable, mend: "the session before it ended; it is made again"},
		{code: "RegionDisabledException", reason: identity.Denied,
			mend: "switch {region} on in the settings of account {account}, or use another aws.region"},
		{code: "ValidationError", reason: identity.Invalid, mend: "check aws.chain and aws.sessionName"},
	}...)
}

// refused is the error for a token that STS did not take.
func (e exchange) refused(f failure) error {
	r := e.roles[0]
	// Claims that cannot be read leave the issuer that the cluster is known to have.
	issuer := e.request.Issuer
	if c, err := DecodeClaims(e.token); err == nil {
		issuer = c.Issuer
	}
	url := issuer
	if issuer == "" {
		issuer, url = issuerPlaceholder, "https://"+issuerPlaceholder
	}
	names := strings.NewReplacer(
		"{role}", r.arn, "{account}", r.account, "{provider}", r.providerARN(issuer), "{region}", e.Region, "{audience}", e.Audience,
		"{issuer}", issuerKey(issuer), "{url}", url, "{subject}", subject(e.request.Namespace, e.request.Exchange()),
	)
	return f.classify(fmt.Sprintf("sts in %s for %s", e.Region, r.arn), stsRules(), names)
}

// hopRefused is the error for role i of the chain.
func (e exchange) hopRefused(f failure, i int) error {
	r := e.roles[i]
	names := strings.NewReplacer("{role}", r.arn, "{account}", r.account, "{from}", e.roles[i-1].arn, "{region}", e.Region)
	return f.classify(fmt.Sprintf("sts in %s for chain[%d] %s", e.Region, i-1, r.arn), hopRules(), names)
}
