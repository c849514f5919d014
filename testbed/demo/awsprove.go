// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
)

// awsVolume is the volume with the token: its name is that of the EKS webhook.
const awsVolume = "aws-iam-token"

// prove is what the AWS SDK in the pod does.
func (a *awsCloud) prove(ctx context.Context, p *workload) error {
	token, audience, err := p.token(ctx, awsVolume)
	if err != nil {
		return err
	}
	session, err := a.assume(ctx, p, token)
	if err != nil {
		return err
	}
	if err := a.login(ctx, p, session); err != nil {
		return err
	}
	return a.stranger(ctx, p, audience)
}

func (a *awsCloud) sts(region string) *sts.Client {
	return sts.New(sts.Options{Region: region, BaseEndpoint: &a.url, Credentials: aws.AnonymousCredentials{}})
}

// assume trades the token at STS for a session.
func (a *awsCloud) assume(ctx context.Context, p *workload, token string) (*ststypes.Credentials, error) {
	out, err := a.sts(p.env("AWS_REGION")).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn:          aws.String(p.env("AWS_ROLE_ARN")),
		RoleSessionName:  aws.String(p.env("AWS_ROLE_SESSION_NAME")),
		WebIdentityToken: &token,
	})
	if err != nil {
		return nil, err
	}
	ok("STS", "it verified the token's signature, issuer, audience and subject %s", aws.ToString(out.SubjectFromWebIdentityToken))
	ok("", "and answered: you are %s until %s", aws.ToString(out.AssumedRoleUser.Arn), out.Credentials.Expiration.UTC().Format(time.RFC3339))
	return out.Credentials, nil
}

// login asks ECR for a login with the session, and a registry whether it takes it.
func (a *awsCloud) login(ctx context.Context, p *workload, s *ststypes.Credentials) error {
	client := ecr.New(ecr.Options{
		Region: p.env("AWS_REGION"), BaseEndpoint: &a.url,
		Credentials: credentials.NewStaticCredentialsProvider(aws.ToString(s.AccessKeyId), aws.ToString(s.SecretAccessKey), aws.ToString(s.SessionToken)),
	})
	out, err := client.GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return err
	}
	data := out.AuthorizationData[0]
	host := strings.TrimPrefix(aws.ToString(data.ProxyEndpoint), "https://")
	ok("ECR", "a login to %s until %s", host, data.ExpiresAt.UTC().Format(time.RFC3339))
	basic, err := base64.StdEncoding.DecodeString(aws.ToString(data.AuthorizationToken))
	if err != nil {
		return err
	}
	user, password, _ := strings.Cut(string(basic), ":")
	status, err := a.ping(ctx, host, user, password)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("GET /v2/ of %s: HTTP %d: %w", host, status, err)
	}
	ok("registry", "GET https://%s/v2/ with that login: HTTP %d", host, status)
	return nil
}

// ping asks a registry whether it takes a login, as docker login does.
func (a *awsCloud) ping(ctx context.Context, host, user, password string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/v2/", nil)
	if err != nil {
		return 0, err
	}
	req.Host = host
	req.SetBasicAuth(user, password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// stranger tries the same with another account of the namespace, which must be refused.
func (a *awsCloud) stranger(ctx context.Context, p *workload, audience string) error {
	token, err := p.stranger(ctx, audience)
	if err != nil {
		return err
	}
	_, err = a.sts(p.env("AWS_REGION")).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(p.env("AWS_ROLE_ARN")), RoleSessionName: aws.String("stranger"), WebIdentityToken: &token,
	})
	if err == nil {
		return errors.New("the role was given to the account default")
	}
	refusal, refused := errors.AsType[smithy.APIError](err)
	if !refused {
		return fmt.Errorf("the account default: no answer of STS: %w", err)
	}
	ok("a stranger", "the same with the account default: %s: %s", refusal.ErrorCode(), refusal.ErrorMessage())
	return nil
}
