// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

type applyConfiguration = runtime.ApplyConfiguration

var errKilled = errors.New("killed")

// mortal is a client that lets a number of calls through. With lostAnswer, the call after that is made too, but nobody hears
// of it. Then it is dead.
func mortal(k client.WithWatch, calls int, lostAnswer bool) client.WithWatch {
	do := func(call func() error) error {
		calls--
		if calls >= 0 {
			return call()
		}
		if calls == -1 && lostAnswer {
			_ = call()
		}
		return errKilled
	}
	return interceptor.NewClient(k, interceptor.Funcs{
		Get: func(ctx ctx, k client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return do(func() error { return k.Get(ctx, key, o, opts...) })
		},
		List: func(ctx ctx, k client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			return do(func() error { return k.List(ctx, l, opts...) })
		},
		Delete: func(ctx ctx, k client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return do(func() error { return k.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx ctx, k client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return do(func() error { return k.Patch(ctx, o, p, opts...) })
		},
		Apply: func(ctx ctx, k client.WithWatch, o applyConfiguration, opts ...client.ApplyOption) error {
			return do(func() error { return k.Apply(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx ctx, k client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return do(func() error { return k.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// survive runs a life that is killed after so many calls, and then another one. It reports whether the first one lived on.
func (w *world) survive(t *testing.T, name string, calls int, lostAnswer bool) bool {
	t.Helper()
	c := w.controller(t)
	k := mortal(w.WithWatch, calls, lostAnswer)
	c.Client, c.Reader = k, k
	_, err := w.try(t, c, name)
	if err != nil {
		require.ErrorIs(t, err, errKilled)
	}
	w.reconcile(t, w.controller(t), name)
	return err == nil
}

func TestKilledAnywhereItConverges(t *testing.T) {
	w := newWorld(t)
	for _, lostAnswer := range []bool{false, true} {
		for calls := range 100 {
			name := fmt.Sprintf("ci-%d-%t", calls, lostAnswer)
			// One account is adopted and one made, so that all there is to do is done.
			w.newAccount(t, name+"-mine", map[string]string{"team": "build"}, "theirs")
			w.newIdentity(t, name, annotate, runAs(name+"-mine"), func(s *v1alpha1.RunnerIdentitySpec) {
				s.Identity.Targets = []v1alpha1.IdentityTarget{v1alpha1.TargetRunner, v1alpha1.TargetJob}
			})
			lived := w.survive(t, name, calls, lostAnswer)
			ri := w.identity(t, name)
			require.Contains(t, condition(ri, v1alpha1.ConditionReady), "True", "killed at making it after %d calls", calls)
			require.Equal(t, role, w.account(t, name+"-mine").Annotations[roleKey])
			require.Equal(t, []string{"theirs", name + "-registry"}, pullSecrets(w.account(t, name+"-mine")))
			require.Equal(t, role, w.account(t, name+"-job").Annotations[roleKey])
			require.Equal(t, []string{name + "-registry"}, pullSecrets(w.account(t, name+"-job")))
			w.requireLoggedIn(t, name+"-registry")

			require.NoError(t, w.Delete(t.Context(), ri))
			leftAlive := w.survive(t, name, calls, lostAnswer)
			require.Empty(t, w.identity(t, name).Name, "killed at ending it after %d calls", calls)
			mine := w.account(t, name+"-mine")
			require.Equal(t, map[string]string{"team": "build"}, mine.Annotations)
			require.Equal(t, []string{"theirs"}, pullSecrets(mine))
			if lived && leftAlive {
				assert.Greater(t, calls, 10, "the test reached every call")
				break
			}
			require.Less(t, calls, 99, "the test never reached the end")
		}
	}
}

func TestKilledWhileAdoptingAndThenDeletedItLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	for calls := range 100 {
		name := fmt.Sprintf("ci-%d", calls)
		w.newAccount(t, name+"-mine", map[string]string{"team": "build"}, "theirs")
		ri := w.newIdentity(t, name, annotate, runAs(name+"-mine"))
		c := w.controller(t)
		k := mortal(w.WithWatch, calls, true)
		c.Client, c.Reader = k, k
		_, err := w.try(t, c, name)
		require.NoError(t, w.Delete(t.Context(), ri))
		w.reconcile(t, w.controller(t), name)

		require.Empty(t, w.identity(t, name).Name, "killed after %d calls", calls)
		mine := w.account(t, name+"-mine")
		require.Equal(t, map[string]string{"team": "build"}, mine.Annotations, "killed after %d calls", calls)
		require.Equal(t, []string{"theirs"}, pullSecrets(mine))
		if err == nil {
			return
		}
	}
	require.Fail(t, "the test never reached the end")
}
