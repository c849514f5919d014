// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// prove does with a runner pod's identity what the SDK in the pod would do.
func prove(ctx context.Context, w *world) error {
	heading("Proof: what the AWS SDK in the pod does, with the pod's own token")
	pods := &corev1.PodList{}
	if err := w.client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelRunnerDeployment: w.deployment.Name}); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("the runner pods are gone")
	}
	pod := &pods.Items[0]
	token, err := w.podToken(ctx, pod)
	if err != nil {
		return err
	}
	session, err := w.assume(ctx, pod, token)
	if err != nil {
		return err
	}
	if err := w.login(ctx, pod, session); err != nil {
		return err
	}
	return w.stranger(ctx, pod)
}

// podToken asks the API server for the token that the kubelet would project into the pod: same account, audience and life, and
// bound to the pod.
func (w *world) podToken(ctx context.Context, pod *corev1.Pod) (string, error) {
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "aws-iam-token" })
	if i < 0 {
		return "", fmt.Errorf("pod %s has no volume aws-iam-token", pod.Name)
	}
	projected := pod.Spec.Volumes[i].Projected.Sources[0].ServiceAccountToken
	token, expires, err := w.token(ctx, pod.Spec.ServiceAccountName, authenticationv1.TokenRequestSpec{
		Audiences:         []string{projected.Audience},
		ExpirationSeconds: projected.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	})
	if err != nil {
		return "", err
	}
	ok("TokenRequest", "a token for %s, bound to pod %s, audience %s, good until %s", pod.Spec.ServiceAccountName, pod.Name, projected.Audience, expires)
	return token, nil
}

func (w *world) token(ctx context.Context, account string, spec authenticationv1.TokenRequestSpec) (token, expires string, err error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	request := &authenticationv1.TokenRequest{Spec: spec}
	if err := w.client.SubResource("token").Create(ctx, sa, request); err != nil {
		return "", "", err
	}
	return request.Status.Token, request.Status.ExpirationTimestamp.UTC().Format(time.RFC3339), nil
}

func (w *world) sts(region string) *sts.Client {
	return sts.New(sts.Options{Region: region, BaseEndpoint: &w.awsURL, Credentials: aws.AnonymousCredentials{}})
}

// assume trades the token at STS for a session.
func (w *world) assume(ctx context.Context, pod *corev1.Pod, token string) (*ststypes.Credentials, error) {
	out, err := w.sts(env(pod, "AWS_REGION")).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn:          aws.String(env(pod, "AWS_ROLE_ARN")),
		RoleSessionName:  aws.String(env(pod, "AWS_ROLE_SESSION_NAME")),
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
func (w *world) login(ctx context.Context, pod *corev1.Pod, s *ststypes.Credentials) error {
	client := ecr.New(ecr.Options{
		Region: env(pod, "AWS_REGION"), BaseEndpoint: &w.awsURL,
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
	status, err := w.ping(ctx, host, user, password)
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("GET /v2/ of %s: HTTP %d: %w", host, status, err)
	}
	ok("registry", "GET https://%s/v2/ with that login: HTTP %d", host, status)
	return nil
}

// ping asks a registry whether it takes a login, as docker login does.
func (w *world) ping(ctx context.Context, host, user, password string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.awsURL+"/v2/", nil)
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
func (w *world) stranger(ctx context.Context, pod *corev1.Pod) error {
	token, _, err := w.token(ctx, "default", authenticationv1.TokenRequestSpec{Audiences: []string{"sts.amazonaws.com"}})
	if err != nil {
		return err
	}
	_, err = w.sts(env(pod, "AWS_REGION")).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String(env(pod, "AWS_ROLE_ARN")), RoleSessionName: aws.String("stranger"), WebIdentityToken: &token,
	})
	refusal, refused := errors.AsType[smithy.APIError](err)
	if !refused {
		return fmt.Errorf("the role was given to the account default: %w", err)
	}
	ok("a stranger", "the same with the account default: %s: %s", refusal.ErrorCode(), refusal.ErrorMessage())
	return nil
}

func env(pod *corev1.Pod, name string) string {
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == name {
				return e.Value
			}
		}
	}
	return ""
}
