// SPDX-License-Identifier: Apache-2.0

// Package runnerdeployment keeps the runners of a RunnerDeployment: as many as it asks for, each registered at GitHub for one
// job, and never one ended that runs a job.
//
// A runner is a Secret, which is its durable record, and a pod of the same name. The record is written first and goes last, so
// that the controller may die between any two steps and the next one knows what to undo:
//
//	record (finalizer) → registration at GitHub → id and JIT config in the record → pod → pod's uid in the record
//	record marked by its deletion → removal at GitHub → pod deleted → finalizer taken off the record
//
// Whether a runner may be ended is GitHub's answer alone: it refuses to remove a runner that runs a job, and a runner that it
// has removed can take none. The mark comes before the question. A runner that turns out to be busy keeps its mark, which takes
// nothing from it: it is good for one job only and ends with it.
//
// A record says by itself where it is registered (scope and Secret of the credentials), so that a change of organisation never
// asks the new one about runners of the old one.
//
// Live pods are never compared with the pods we would make today. A record carries the hash of what its pod was made from, and
// nothing else is looked at but the pod's phase: what other admission webhooks change in pods causes no work.
//
// Pods are owned by their record, and records by nobody: an owner reference to the RunnerDeployment would let
// `kubectl delete --cascade=foreground`, and Argo CD which uses that, kill the pods of busy runners.
//
// # Deletion
//
// A RunnerDeployment is held by a finalizer until its idle runners are removed and its busy ones have ended. If its GitHub
// credentials are gone by then, the client made from them earlier is used (a namespace that is deleted takes its Secrets first).
// If there is none, because the controller was restarted since, the condition RunnersRegistered and an event name the Secret,
// and the deletion waits: it goes on when the Secret is back, or when the RunnerDeployment carries the annotation
// runner-identity.dev/force-delete: "true". Forced deletion asks GitHub nothing: runners that run jobs are ended with the rest, and
// registrations stay behind until GitHub drops them.
package runnerdeployment
