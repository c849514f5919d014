// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/manifest"
	"github.com/runner-identity/runner-identity/pace"
)

// accounts makes or adopts the ServiceAccounts, and lets go of those that are no longer wanted.
func (c *Controller) accounts(ctx context.Context, s *scope) error {
	wanted := manifest.ServiceAccounts(s.identity, s.resolved)
	if c.awaitsDefault(s, wanted) {
		return errStop
	}
	adopts := slices.ContainsFunc(wanted, func(sa *corev1.ServiceAccount) bool { return s.adopts(sa.Name) })
	if adopts {
		if err := c.keepFinalizer(ctx, s, true); err != nil {
			return err
		}
	}
	var names, conflicts []string
	for _, sa := range wanted {
		names = append(names, sa.Name)
		found, err := c.account(ctx, s, sa)
		if err != nil {
			return fmt.Errorf("apply ServiceAccount %q: %w", sa.Name, err)
		}
		conflicts = append(conflicts, found...)
	}
	if err := c.releaseAccounts(ctx, s.identity, c.Client, names); err != nil {
		return err
	}
	if err := c.keepFinalizer(ctx, s, adopts); err != nil {
		return err
	}
	s.identity.Status.ServiceAccounts = accountNames(s, names)
	if len(conflicts) > 0 {
		// The account has nothing of ours yet, so no watch tells that the value of the other is gone.
		s.wakeAt(c.Clock.Now().Add(pace.Early(conflictEvery)))
	}
	reportAccounts(s, names, conflicts)
	return nil
}

// defaultAccount is the account that Kubernetes makes in each namespace, and again when somebody deletes it.
const defaultAccount = "default"

// awaitsDefault waits for the default account. Made here it would be ours, and go with the identity, while pods run as it.
func (c *Controller) awaitsDefault(s *scope, wanted []*corev1.ServiceAccount) bool {
	isDefault := func(sa *corev1.ServiceAccount) bool { return sa.Name == defaultAccount }
	if s.current[defaultAccount] != nil || !slices.ContainsFunc(wanted, isDefault) {
		return false
	}
	s.wakeAt(c.Clock.Now().Add(recheck))
	s.condition(v1alpha1.ConditionServiceAccountReady, metav1.ConditionUnknown, v1alpha1.ReasonProgressing,
		`ServiceAccount "default" is not there; Kubernetes makes it`)
	return true
}

// adopts reports whether an account is somebody else's.
func (s *scope) adopts(name string) bool {
	have, ok := s.current[name]
	return ok && !metav1.IsControlledBy(have, s.identity)
}

func accountNames(s *scope, names []string) v1alpha1.ServiceAccountNames {
	n := v1alpha1.ServiceAccountNames{Runner: s.resolved.Request.Accounts.Runner}
	if slices.Contains(names, s.resolved.Request.Accounts.Job) {
		n.Job = s.resolved.Request.Accounts.Job
	}
	return n
}

func reportAccounts(s *scope, names, conflicts []string) {
	if len(conflicts) > 0 {
		slices.Sort(conflicts)
		s.condition(v1alpha1.ConditionServiceAccountReady, metav1.ConditionFalse, v1alpha1.ReasonAccountConflict, strings.Join(conflicts, "; "))
		return
	}
	s.condition(v1alpha1.ConditionServiceAccountReady, metav1.ConditionTrue, v1alpha1.ReasonAccountApplied,
		"applied to "+strings.Join(names, ", "))
}

// account makes or adopts one account. It returns what conflicts with values of others.
func (c *Controller) account(ctx context.Context, s *scope, want *corev1.ServiceAccount) ([]string, error) {
	want.Labels[v1alpha1.LabelBound] = "true"
	manager := ownManager
	config := bareAccount(want)
	if s.adopts(want.Name) {
		manager = adopter(s.identity.Name)
		delete(want.Labels, v1alpha1.LabelRunnerIdentity)
		// Without the UID, an account that was deleted meanwhile would be made again, and be nobody's.
		config.SetUID(s.current[want.Name].UID)
	} else {
		config.SetOwnerReferences(owner(s.identity))
	}
	config.SetLabels(want.Labels)
	config.SetAnnotations(want.Annotations)
	have, err := c.applyAccount(ctx, config, manager)
	if conflicts := conflictsOf(err, want, s.current[want.Name]); len(conflicts) > 0 {
		return conflicts, nil
	}
	if err != nil {
		return nil, err
	}
	if s.current[want.Name] == nil && !madeByUs(have) {
		return nil, c.disown(ctx, have)
	}
	return nil, c.setPullSecret(ctx, s.identity, have, len(want.ImagePullSecrets) > 0)
}

// disown gives back an account that somebody else made between our look and our apply: accounts of others are never owned.
// The error brings the reconciler back, and then it adopts.
func (c *Controller) disown(ctx context.Context, have *corev1.ServiceAccount) error {
	if _, err := c.applyAccount(ctx, bareAccount(have), ownManager); err != nil {
		return err
	}
	return fmt.Errorf("ServiceAccount %q was made by somebody else at the same time", have.Name)
}

// madeByUs reports whether nobody else has set a field.
func madeByUs(sa *corev1.ServiceAccount) bool {
	return !slices.ContainsFunc(sa.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager != string(ownManager) })
}

func accountKey(namespace, name string) client.ObjectKey {
	return types.NamespacedName{Namespace: namespace, Name: name}
}
