// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// +kubebuilder:rbac:groups=runner-identity.dev,resources=runnerdeployments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runnerdeployments/status,verbs=patch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runnerdeployments/finalizers,verbs=update
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runneridentities,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Options are what a Controller works with. All but the last four must be set.
type Options struct {
	// Client writes, and reads from the cache that CacheOptions describes.
	Client client.Client
	// Reader reads from the API server itself.
	Reader client.Reader
	// Connect makes GitHub clients.
	Connect Connect
	// Events takes the events.
	Events events.EventRecorder
	// DefaultImage is the image of runners that name none.
	DefaultImage string
	// Credentials is the Secret for deployments that name none. Empty: those get a condition.
	Credentials types.NamespacedName
	// Metrics counts. Default: metrics that nobody reads.
	Metrics *Metrics
	// Workers is how many deployments are worked on at a time. Default: 10.
	Workers int
	// Clock tells the time. Default: the machine's.
	Clock clock.PassiveClock
}

// Controller keeps the runners of RunnerDeployments. Make one with New.
type Controller struct {
	Options
	hubs *hubs

	mu sync.Mutex
	// memories is what is known of each deployment beside what can be read.
	memories map[types.NamespacedName]*memory
}

var _ reconcile.Reconciler = &Controller{}

// New makes a Controller.
func New(o Options) *Controller {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Metrics = cmp.Or(o.Metrics, newMetrics())
	return &Controller{
		Options:  o,
		hubs:     &hubs{reader: o.Reader, connect: o.Connect, clock: o.Clock},
		memories: map[types.NamespacedName]*memory{},
	}
}

// Reconcile brings the runners of one RunnerDeployment closer to what it asks for.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	remembered := c.memory(request.NamespacedName)
	remembered.mu.Lock()
	defer remembered.mu.Unlock()
	s, err := c.newScope(ctx, request.NamespacedName, remembered)
	if err != nil || s == nil {
		return reconcile.Result{}, err
	}
	for _, phase := range s.phases(c) {
		if err = phase(ctx, s); err != nil {
			break
		}
	}
	// The status says what was reached before the error.
	if wrote := c.writeStatus(ctx, s, err); err == nil {
		err = wrote
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: s.requeue()}, nil
}

// phases is what a pass does, in order.
func (s *scope) phases(c *Controller) []func(context.Context, *scope) error {
	if s.deleting() {
		return []func(context.Context, *scope) error{c.observe, c.finish, c.retire, c.release}
	}
	// Twice, because the first runner of a new template lets the others of the old one go.
	replace := []func(context.Context, *scope) error{c.retire, c.grow, c.retire, c.grow}
	return slices.Concat(
		[]func(context.Context, *scope) error{c.hold, c.identify, c.render, c.observe, c.finish},
		replace,
		[]func(context.Context, *scope) error{c.dropIdentity},
	)
}

// requeue is when to come back although nothing changes; zero: not.
func (s *scope) requeue() time.Duration {
	if s.wake.IsZero() {
		return 0
	}
	// Never at once: a time that is just reached on our clock may not be on another.
	return max(s.wake.Sub(s.now), time.Second)
}
