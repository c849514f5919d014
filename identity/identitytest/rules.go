// SPDX-License-Identifier: Apache-2.0

package identitytest

// A Rule is a promise that providers make.
type Rule string

// The rules.
const (
	RuleCases         Rule = "cases have names, at least one is good and one is bad"
	RuleName          Rule = "the name is a lower-case DNS label and always the same"
	RulePlans         Rule = "a good request gets a plan and no problems"
	RuleDeterministic Rule = "the same request gives the same plan, also concurrently"
	RulePure          Rule = "requests are not modified, and plans share no memory"
	RuleJSON          Rule = "a plan survives JSON"
	RuleSecrets       Rule = "nothing in a plan or a trust document is secret"
	RuleTargets       Rule = "each part of a plan is for a target that the request names"
	RuleMetadata      Rule = "labels, annotations and node selectors are valid in Kubernetes"
	RuleEnv           Rule = "environment variables have valid names and values, and are not the runner's own"
	RuleTokens        Rule = "tokens have an audience, a lifetime of at least 10 minutes and a clean path"
	RuleFiles         Rule = "files have a clean path below the identity directory"
	RuleDirs          Rule = "writable directories have a clean absolute path and a volume"
	RuleWaits         Rule = "waits have a name and an HTTP address without credentials"
	RuleUnique        Rule = "no variable, file, mount or volume is there twice for one target"
	RuleRegistries    Rule = "registries are bare hosts, once each, that the provider can log in to"
	RuleTrust         Rule = "trust documents have a title and a body and are always the same"
	RuleHome          Rule = "files for home directories have a clean relative path, once each, and are always the same"
	RuleRefusal       Rule = "bad settings are refused with a problem that names the field"
	RuleUnknown       Rule = "settings that the provider does not know are refused by name"
)

// Rules lists all rules.
func Rules() []Rule {
	return []Rule{
		RuleCases, RuleName, RulePlans, RuleDeterministic, RulePure, RuleJSON, RuleSecrets, RuleTargets, RuleMetadata, RuleEnv,
		RuleTokens, RuleFiles, RuleDirs, RuleWaits, RuleUnique, RuleRegistries, RuleTrust, RuleHome, RuleRefusal, RuleUnknown,
	}
}
