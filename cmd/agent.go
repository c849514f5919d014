// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/agent"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// agentFlags are the flags of the agent command. In pods, the directories are always the same.
type agentFlags struct {
	dir, jobDir, workDir, then string
}

// agentCommand is what runs beside a runner.
func agentCommand(providers identity.Set) *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent beside a runner: registry logins for its docker client, the identity for its jobs' containers",
		Long: `Run the agent beside a runner with a docker daemon. The controller puts it there; its configuration is in the variable
` + podspec.EnvAgentConfig + `. It logs in with the pod's own token, renews before expiry, and takes its logins back when it is told to stop.
The runner's start waits for it, ` + agent.StartBound.String() + ` at most.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log := slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil))
			return f.agent(os.Getenv(podspec.EnvAgentConfig), providers, log).Run(c.Context())
		},
	}
	c.PersistentFlags().StringVar(&f.dir, "dir", podspec.AgentDir, "directory shared with the runner")
	c.Flags().StringVar(&f.jobDir, "job-dir", podspec.JobDir, "directory in which runner and jobs look for what is carried")
	c.Flags().StringVar(&f.workDir, "work-dir", "", "the runner's work directory; empty: nothing is carried into jobs")
	c.Flags().StringVar(&f.then, "then", "", "the operator's own job-started hook, which is run after ours")
	c.AddCommand(f.readyCommand())
	return c
}

// readyCommand is what the kubelet runs to know whether the runner may start.
func (f *agentFlags) readyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ready",
		Short: "Say whether the runner may start",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return agent.Ready(f.dir) },
	}
}

// agent is the agent for a configuration. One that cannot be read is nothing to do: a mistake of the controller's must not keep
// runners from starting.
func (f *agentFlags) agent(config string, providers identity.Set, log *slog.Logger) *agent.Agent {
	parsed, err := agent.Parse(config)
	if err != nil {
		log.Error("nothing is done", "variable", podspec.EnvAgentConfig, "error", err.Error())
	}
	return &agent.Agent{
		Config: parsed, Providers: providers, Dir: f.dir, JobDir: f.jobDir, WorkDir: f.workDir, Then: f.then,
		Clock: clock.RealClock{}, Log: log,
	}
}
