// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// restartDelay is how long a killed controller stays down.
const restartDelay = time.Second

// controller is the controller's process. It is started again when it ends, as a Deployment would.
type controller struct {
	log string

	mu      sync.Mutex
	process *exec.Cmd
	cancel  context.CancelFunc
	done    chan struct{}
}

// startController builds the program and runs it with the rights of config/rbac and nothing more.
func startController(ctx context.Context, w *world) (*controller, error) {
	binary := filepath.Join(w.dir, "runner-identity")
	step("building the controller")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	kubeconfig := filepath.Join(w.dir, "controller.kubeconfig")
	if err := w.controllerKubeconfig(ctx, kubeconfig); err != nil {
		return nil, err
	}
	c := &controller{log: filepath.Join(w.dir, "controller.log"), done: make(chan struct{})}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	go c.supervise(run, binary, "controller", "--kubeconfig="+kubeconfig,
		"--github-credentials-secret="+system+"/github", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	return c, nil
}

// supervise runs the program until ctx ends.
func (c *controller) supervise(ctx context.Context, name string, args ...string) {
	defer close(c.done)
	for ctx.Err() == nil {
		if err := c.runOnce(ctx, name, args...); err != nil && ctx.Err() == nil {
			step("the controller ended (%v); starting it again", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(restartDelay):
		}
	}
}

func (c *controller) runOnce(ctx context.Context, name string, args ...string) error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	c.mu.Lock()
	c.process = cmd
	err = cmd.Start()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return cmd.Wait()
}

func (c *controller) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil || c.process.Process == nil {
		return 0
	}
	return c.process.Process.Pid
}

func (c *controller) stop() {
	c.cancel()
	<-c.done
}

// controllerKubeconfig writes a kubeconfig with a token of the controller's own account.
func (w *world) controllerKubeconfig(ctx context.Context, path string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "runner-identity-controller"}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(24 * 60 * 60))}}
	if err := w.kube.SubResource("token").Create(ctx, account, request); err != nil {
		return fmt.Errorf("token of the controller: %w", err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["demo"] = &clientcmdapi.Cluster{Server: w.cluster.Config.Host, CertificateAuthorityData: w.cluster.Config.CAData}
	config.AuthInfos["controller"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["demo"] = &clientcmdapi.Context{Cluster: "demo", AuthInfo: "controller", Namespace: system}
	config.CurrentContext = "demo"
	return clientcmd.WriteToFile(*config, path)
}

// tail is the end of the controller's log.
func (c *controller) tail() string {
	b, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}
