// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// defaultRunnerImage is the image of runners that name none.
const defaultRunnerImage = "ghcr.io/actions/actions-runner:latest"

// defaultImage is this program's own image: what its Deployment says, else the name that config/manager has.
func defaultImage() string {
	return cmp.Or(os.Getenv("RUNNER_IDENTITY_IMAGE"), "runner-identity:latest")
}

// leaseName is the lease by which one of several controllers leads.
const leaseName = "controller." + v1alpha1.Group

// controllerFlags are the flags of the controller command.
type controllerFlags struct {
	kubeconfig     string
	metrics        string
	probes         string
	leaderElect    bool
	leaseNamespace string
	namespaces     []string
	credentials    string
	image          string
	own            string
	workers        int
	logFormat      string
	verbose        bool
}

func (f *controllerFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the pod's own ServiceAccount")
	flags.StringVar(&f.metrics, "metrics-bind-address", ":8080", "address of /metrics; 0 for none")
	flags.StringVar(&f.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 for none")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "let one of several controllers lead")
	flags.StringVar(&f.leaseNamespace, "leader-election-namespace", "", "namespace of the lease (default: the pod's own)")
	flags.StringSliceVar(&f.namespaces, "namespaces", nil, "namespaces to watch (default: all)")
	flags.StringVar(&f.credentials, "github-credentials-secret", "", "NAMESPACE/NAME of the Secret with the GitHub credentials of deployments that name none")
	flags.StringVar(&f.image, "runner-image", defaultRunnerImage, "image of runners that name none")
	flags.StringVar(&f.own, "image", defaultImage(), "this program's own image, for init containers of runner pods (default: RUNNER_IDENTITY_IMAGE)")
	flags.IntVar(&f.workers, "workers", 8, "how many identities, and how many deployments, are worked on at once")
	flags.StringVar(&f.logFormat, "log-format", "json", "json or text")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log details too")
}

func controllerCommand(providers identity.Set) *cobra.Command {
	var f controllerFlags
	c := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.setLogger(); err != nil {
				return err
			}
			return f.run(c.Context(), providers)
		},
	}
	f.register(c)
	return c
}

func (f *controllerFlags) run(ctx context.Context, providers identity.Set) error {
	credentials, err := parseSecretName(f.credentials)
	if err != nil {
		return err
	}
	config, namespace, err := f.cluster()
	if err != nil {
		return err
	}
	mgr, err := f.manager(config)
	if err != nil {
		return err
	}
	w := wiring{flags: f, providers: providers, credentials: credentials, namespace: namespace, issuer: discoverIssuer(ctx, config)}
	ctrl.Log.Info("starting", "providers", providers.Names(), "issuer", w.issuer)
	if err := w.addControllers(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// cluster finds the cluster, and the namespace that this program is at home in.
func (f *controllerFlags) cluster() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	found := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	config, err := found.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("find the cluster (--kubeconfig, KUBECONFIG or the pod's account): %w", err)
	}
	// The API server's own priority and fairness is the limit. The client's default of 20 a second made a scale-up of
	// hundreds of runners take minutes (actions-runner-controller#3276).
	config.QPS = -1
	config.UserAgent = "runner-identity"
	namespace, _, err := found.Namespace()
	return config, namespace, err
}

func (f *controllerFlags) manager(config *rest.Config) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	caches, err := f.cacheOptions()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches,
		Metrics:                       metricsserver.Options{BindAddress: f.metrics},
		HealthProbeBindAddress:        f.probes,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       f.leaseNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

// cacheOptions limit the cache to the namespaces that were asked for.
func (f *controllerFlags) cacheOptions() (cache.Options, error) {
	objects, err := watched()
	if err != nil {
		return cache.Options{}, err
	}
	o := cache.Options{ByObject: objects}
	for _, ns := range f.namespaces {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[ns] = cache.Config{}
	}
	return o, nil
}

func parseSecretName(s string) (types.NamespacedName, error) {
	if s == "" {
		return types.NamespacedName{}, nil
	}
	namespace, name, ok := strings.Cut(s, "/")
	if !ok || namespace == "" || name == "" {
		return types.NamespacedName{}, fmt.Errorf("--github-credentials-secret %q: use NAMESPACE/NAME", s)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
