// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// podTokenSeconds is how long the tokens live that GKE's metadata server asks the API server for.
const podTokenSeconds = 3600

// ClusterPod is a pod that runs as a ServiceAccount of a real cluster. Its annotations and tokens come from the API server.
func ClusterPod(k kubernetes.Interface, namespace, account string) Pod {
	accounts := k.CoreV1().ServiceAccounts(namespace)
	return Pod{
		Namespace: namespace, Account: account,
		Annotations: func(ctx context.Context) (map[string]string, error) {
			sa, err := accounts.Get(ctx, account, metav1.GetOptions{})
			if err != nil {
				return nil, fmt.Errorf("annotations of %s/%s: %w", namespace, account, err)
			}
			return sa.Annotations, nil
		},
		Token: func(ctx context.Context, audience string) (string, error) {
			asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
				Audiences: []string{audience}, ExpirationSeconds: new(int64(podTokenSeconds)),
			}}
			got, err := accounts.CreateToken(ctx, account, asked, metav1.CreateOptions{})
			if err != nil {
				return "", fmt.Errorf("token of %s/%s: %w", namespace, account, err)
			}
			return got.Status.Token, nil
		},
	}
}
