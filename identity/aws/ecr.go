// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/internal/refusal"
)

// publicRegion is the only region in which ECR Public gives logins.
const publicRegion = "us-east-1"

// askPrivate asks ECR in the region of the host. A host of the FIPS or the dual-stack kind goes with that kind of endpoint.
func (p *Provider) askPrivate(ctx context.Context, s settings, reg registry, keys sdk.CredentialsProvider) (authorization, error) {
	o := ecr.Options{
		Region: reg.region, BaseEndpoint: endpoint(cmp.Or(s.Endpoints.ECR, reg.fipsEndpoint())), Credentials: keys,
		HTTPClient: p.awsClient(), Retryer: retryer(),
	}
	// The SDK refuses both kinds together with an endpoint of one's own.
	if o.BaseEndpoint == nil && reg.fips {
		o.EndpointOptions.UseFIPSEndpoint = sdk.FIPSEndpointStateEnabled
	}
	if o.BaseEndpoint == nil && reg.dual {
		o.EndpointOptions.UseDualStackEndpoint = sdk.DualStackEndpointStateEnabled
	}
	out, err := ecr.New(o).GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return authorization{}, err
	}
	if len(out.AuthorizationData) == 0 {
		return authorization{}, nil
	}
	return authorization{out.AuthorizationData[0].AuthorizationToken, out.AuthorizationData[0].ExpiresAt}, nil
}

// fipsEndpoint is the FIPS endpoint as AWS's list of endpoints has it. The SDK's rules say api.ecr-fips for these hosts, a
// name that the list does not have. Empty: take the SDK's.
func (r registry) fipsEndpoint() string {
	if p, ok := partitionOf(r.region); ok && r.fips && !r.dual && (p.name == "aws" || p.name == "aws-us-gov") {
		return fmt.Sprintf("https://ecr-fips.%s.%s", r.region, p.suffix)
	}
	return ""
}

// askPublic asks ECR Public.
func (p *Provider) askPublic(ctx context.Context, s settings, _ registry, keys sdk.CredentialsProvider) (authorization, error) {
	client := ecrpublic.New(ecrpublic.Options{
		Region: publicRegion, BaseEndpoint: endpoint(s.Endpoints.ECRPublic), Credentials: keys,
		HTTPClient: p.awsClient(), Retryer: retryer(),
	})
	out, err := client.GetAuthorizationToken(ctx, &ecrpublic.GetAuthorizationTokenInput{})
	if err != nil {
		return authorization{}, err
	}
	if out.AuthorizationData == nil {
		return authorization{}, nil
	}
	return authorization{out.AuthorizationData.AuthorizationToken, out.AuthorizationData.ExpiresAt}, nil
}

// staleCodes are the refusals for which the session may be the reason.
func staleCodes() []string {
	return []string{"AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException", "InvalidSignatureException"}
}

// ecrRules is what ECR's refusals mean.
func ecrRules() []refusal.Rule {
	const again = "a new session is made"
	return append(commonRules(), []refusal.Rule{
		{Code: "AccessDeniedException", Reason: identity.Denied, Mend: "{role} needs {actions} on *"},
		{Code: "ExpiredTokenException", Reason: identity.Unreachable, Mend: again},
		{Code: "UnrecognizedClientException", Reason: identity.Unreachable, Mend: again},
		{Code: "InvalidSignatureException", Reason: identity.Unreachable, Mend: again + "; if it happens again this machine's clock is wrong"},
		{Code: "InvalidParameterException", Reason: identity.Invalid, Mend: "check the registry host"},
		{Code: "UnsupportedCommandException", Reason: identity.Invalid, Mend: "ECR Public gives logins in " + publicRegion + " only; check aws.endpoints.ecrPublic"},
	}...)
}

// loginRefused is the error for a login that ECR did not give.
func (e exchange) loginRefused(f refusal.Failure, reg registry) error {
	principal, _ := e.principal()
	actions := permitPrivateLogin
	if reg.public {
		actions = permitPublicLogin + " and " + permitBearer
	}
	names := strings.NewReplacer("{role}", principal.arn, "{actions}", actions)
	return f.Explain(fmt.Sprintf("ecr for %s", reg.host), ecrRules(), names)
}
