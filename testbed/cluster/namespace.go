// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// defaultAccount is the account without which a namespace takes no pods.
const defaultAccount = "default"

// NewNamespace makes a namespace with a name of its own, ready for pods.
func (c *Cluster) NewNamespace(ctx context.Context) (string, error) {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return "", err
	}
	ns, err := k.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	if !c.Controllers {
		return ns.Name, c.makeDefaultAccount(ctx, ns.Name)
	}
	return ns.Name, c.wait(ctx, "namespace "+ns.Name, func(ctx context.Context) error { return c.defaultAccountReady(ctx, ns.Name) })
}

// DeleteNamespace deletes a namespace and does not wait for its content to go.
func (c *Cluster) DeleteNamespace(ctx context.Context, name string) error {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	return k.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
}

func (c *Cluster) defaultAccountReady(ctx context.Context, namespace string) error {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	_, err = k.CoreV1().ServiceAccounts(namespace).Get(ctx, defaultAccount, metav1.GetOptions{})
	return err
}

func (c *Cluster) makeDefaultAccount(ctx context.Context, namespace string) error {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: defaultAccount}}
	_, err = k.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
