// SPDX-License-Identifier: Apache-2.0

// Command kube is every program of the test cluster in one binary, chosen by the name it is called with or by its first
// argument. One binary links once; five would take five times as long on a small machine.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs are the names this binary answers to.
var programs = map[string]func(args []string) int{
	"etcd":                    func(args []string) int { etcdmain.Main(args); return 0 },
	"kube-apiserver":          run(apiserver.NewAPIServerCommand),
	"kube-controller-manager": run(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          run(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 run(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kubectl":                 run(kubectl.NewDefaultKubectlCommand),
}

// run makes a program of a cobra command.
func run(command func() *cobra.Command) func([]string) int {
	return func(args []string) int {
		c := command()
		c.SetArgs(args[1:])
		return cli.Run(c)
	}
}

func main() {
	args := os.Args
	if _, ok := programs[name(args)]; !ok && len(args) > 1 {
		args = args[1:]
	}
	program, ok := programs[name(args)]
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: kube PROGRAM [ARGS]\nprograms: %s\n", strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	os.Args = args // kubectl and etcd look at it themselves
	os.Exit(program(args))
}

func name(args []string) string { return filepath.Base(args[0]) }
