// SPDX-License-Identifier: Apache-2.0

// Package podspec puts plans into pods: the runner pod, pods that others made, and the hook template for job pods. All of
// it is pure: nothing is read or asked of a cluster, arguments are never modified, and the pod's own values always win.
package podspec

// Names that others match.
const (
	// RunnerContainer is the container in which GitHub's runner program runs.
	RunnerContainer = "runner"
	// JobContainer is the container of job and step pods in which the job runs.
	JobContainer = "job"
	// HookJobContainer is what a hook template calls the JobContainer.
	HookJobContainer = "$job"
	// WorkVolume is the volume of the runner's work directory.
	WorkVolume = "work"
	// IdentityVolume is the volume with a plan's tokens and files.
	IdentityVolume = "runner-identity"
	// IdentityDir is where IdentityVolume is mounted: what identity.Dir becomes in pods.
	IdentityDir = "/var/run/secrets/runner-identity.dev"
	// InitContainerPrefix begins the names of a plan's init containers.
	InitContainerPrefix = "runner-identity-"
	// DindContainer is the container of containerMode dind in which the docker daemon runs.
	DindContainer = "dind"
	// AgentContainer is the container in which this project's agent runs.
	AgentContainer = InitContainerPrefix + "agent"
	// AgentDir is the directory that the agent shares with the runner, and both may write to.
	AgentDir = "/runner-identity"
	// DockerConfigDir is the docker client's directory, in which the agent keeps it logged in.
	DockerConfigDir = AgentDir + "/docker"
	// JobDir is where the runner, the containers of its jobs and container actions all find what the agent carries to jobs. The home
	// directory of such containers is /github/home, so that one path in a file is right for all of them.
	JobDir = "/github/home/.runner-identity"
	// JobStartedHook is the script by which the agent's files get into a job.
	JobStartedHook = JobDir + "/job-started.sh"
	// EnvAgentConfig is the variable with the agent's configuration.
	EnvAgentConfig = "RUNNER_IDENTITY_AGENT"
	// SecretKeyJITConfig is the key of a runner's Secret that holds its JIT config.
	SecretKeyJITConfig = "jitconfig"
)

// Object is a pod, or a pod template, as raw JSON: fields that are newer than our library survive. Its values are those that
// encoding/json or apimachinery's unstructured make.
type Object = map[string]any
