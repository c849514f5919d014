// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

// slow is the variable that asks for tests of many minutes.
const slow = "RUNNER_IDENTITY_SLOW"

const (
	// rotationTimeout is more than a token's life: whether it is renewed in time is asked of the tokens, not of a clock.
	rotationTimeout = 13 * time.Minute
	// reviewEvery is how often the API server is asked about what a pod reads. The pod itself looks every few milliseconds.
	reviewEvery = 5 * time.Second
)

// A rotating pod is one whose token is being renewed.
type rotating struct {
	cloud
	pod    string
	tokens []token // that it has had, in order
}

// The kubelet renews a token at 80 % of its life and looks about once a minute; Kubernetes knows no life below 10 minutes. So this
// takes 8 to 10 minutes, of which it waits nearly all.
func TestATokenIsValidAllTheTimeWhileItIsRenewedUnderARunningPod(t *testing.T) {
	if os.Getenv(slow) != "1" {
		t.Skipf("takes ten minutes: set %s=1", slow)
	}
	t.Parallel()
	b := newBed(t, "0", "1001")
	pods := []*rotating{
		// The two that the kubelet gives another owner than root, which must not happen after the file is in place.
		b.rotate(t, newAWS(t, awsRole), v1alpha1.RunnerSpec{SecurityContext: &corev1.PodSecurityContext{FSGroup: new(int64(2000))}}, "1001"),
		b.rotate(t, newGCP(t), v1alpha1.RunnerSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(1001))}}, "0"),
	}

	err := wait.PollUntilContextTimeout(t.Context(), reviewEvery, rotationTimeout, true, func(ctx context.Context) (bool, error) {
		renewed := true
		for _, p := range pods {
			if err := b.review(ctx, p); err != nil {
				return false, fmt.Errorf("%s: %w", p.pod, err)
			}
			renewed = renewed && len(p.tokens) > 1
		}
		return renewed, nil
	})

	require.NoError(t, err)
	for _, p := range pods {
		t.Run(p.name, func(t *testing.T) { p.check(t, b) })
	}
}

// rotate starts a pod that watches its token.
func (b bed) rotate(t *testing.T, c cloud, spec v1alpha1.RunnerSpec, imageUser string) *rotating {
	t.Helper()
	name := "rotating-" + c.name
	spec.Containers = []corev1.Container{probing("runner", imageUser, "watch", c.token)}
	b.create(t, c.runnerPod(t, b, name, spec))
	b.await(t, name, corev1.PodRunning)
	return &rotating{cloud: c, pod: name}
}

// review reads the token as a job does, and asks the API server and the published keys about it.
func (b bed) review(ctx context.Context, p *rotating) error {
	raw, err := b.Kubectl(ctx, "-n", b.namespace, "exec", p.pod, "-c", "runner", "--", "/probe", "cat", p.token)
	if err != nil {
		return err
	}
	got, err := b.verify(ctx, raw, p.audience)
	if err != nil {
		return err
	}
	if n := len(p.tokens); n == 0 || p.tokens[n-1] != got {
		p.tokens = append(p.tokens, got)
	}
	return nil
}

func (p *rotating) check(t *testing.T, b bed) {
	t.Helper()
	old, renewed := p.tokens[0], p.tokens[1]
	assert.Equal(t, int64(600), old.Expires-old.Issued, "the lifetime that was asked for")
	assert.Less(t, renewed.Issued, old.Expires, "renewed before the old one ends")
	assert.Equal(t, old.Subject, renewed.Subject)

	news := printed[report.Watch](t, b, p.pod, "runner")
	for _, n := range news {
		assert.Empty(t, n.Trouble, "after %d reads", n.Reads)
	}
	require.Len(t, news, 2, "one line for each token that the pod saw")
	assert.Equal(t, 1, news[0].Reads, "the token is there when the container starts")
	assert.Greater(t, news[1].Reads, 10_000, "the pod looked all the time in between")
	assert.Equal(t, news[0].Mode, news[1].Mode)
	assert.Equal(t, news[0].Owner, news[1].Owner)
	t.Logf("issued anew %d s before the end; %d reads until the pod saw it", old.Expires-renewed.Issued, news[1].Reads)
}
