// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// shown is how many namespaces, and how many findings, a message names before it only counts.
const shown = 5

// A finding is something that is wrong, or awaited, in namespaces of a mapping.
type finding struct {
	mapping, reason, message string
	namespaces               []string
}

// A report is what one reconciliation has to say.
type report struct {
	provider *v1alpha1.IdentityProvider
	// selected are the namespaces with an account that a mapping asks for, ready those of them that have their identity.
	selected, ready []string
	mappings        map[string]v1alpha1.NamespaceDefaultStatus
	findings        []finding
	// loginsOnly are the mappings that give registry logins and nothing else.
	loginsOnly []string
}

// refused are the mappings of a provider that select nothing, because their selector is no choice.
func refused(p *v1alpha1.IdentityProvider) []finding {
	var found []finding
	for _, m := range p.Spec.NamespaceDefaults {
		if _, err := optIn(m.Selector); err != nil {
			found = append(found, finding{mapping: m.Name, reason: v1alpha1.ReasonInvalidSpec, message: err.Error()})
		}
	}
	return found
}

// add adds what came of a place.
func (r *report) add(p place, s settled) {
	if r.mappings == nil {
		r.mappings = map[string]v1alpha1.NamespaceDefaultStatus{}
	}
	m := r.mappings[p.mapping.Name]
	m.Namespaces++
	r.selected = append(r.selected, p.namespace)
	if s.ready {
		m.Ready++
		r.ready = append(r.ready, p.namespace)
	}
	r.mappings[p.mapping.Name] = m
	if s.loginsOnly && !slices.Contains(r.loginsOnly, p.mapping.Name) {
		r.loginsOnly = append(r.loginsOnly, p.mapping.Name)
	}
	if s.reason != "" {
		r.find(finding{mapping: p.mapping.Name, reason: s.reason, message: s.message, namespaces: []string{p.namespace}})
	}
}

// find adds a finding. The same one of other namespaces is told once.
func (r *report) find(f finding) {
	same := func(have finding) bool {
		return have.mapping == f.mapping && have.reason == f.reason && have.message == f.message
	}
	if i := slices.IndexFunc(r.findings, same); i >= 0 {
		r.findings[i].namespaces = append(r.findings[i].namespaces, f.namespaces...)
		return
	}
	r.findings = append(r.findings, f)
}

func (f finding) String() string {
	switch n := len(f.namespaces); n {
	case 0:
		return fmt.Sprintf("mapping %q: %s", f.mapping, f.message)
	case 1:
		return fmt.Sprintf("mapping %q, namespace %q: %s", f.mapping, f.namespaces[0], f.message)
	default:
		return fmt.Sprintf("mapping %q, %d namespaces (%s): %s", f.mapping, n, few(f.namespaces), f.message)
	}
}

// rank orders findings: what people disagree on comes before what one has to mend, and that before what time mends.
func (f finding) rank() int {
	switch f.reason {
	case v1alpha1.ReasonMappingConflict:
		return 0
	case v1alpha1.ReasonProgressing:
		return 2
	}
	return 1
}

// condition is what NamespaceDefaultsReady says.
func (r *report) condition() (status metav1.ConditionStatus, reason, message string) {
	if len(r.provider.Spec.NamespaceDefaults) == 0 {
		return metav1.ConditionTrue, v1alpha1.ReasonNotNeeded, "there are no namespaceDefaults"
	}
	if len(r.findings) == 0 {
		return metav1.ConditionTrue, v1alpha1.ReasonReady, r.allWell()
	}
	sorted := slices.SortedStableFunc(slices.Values(r.findings), func(a, b finding) int { return cmp.Compare(a.rank(), b.rank()) })
	texts := make([]string, 0, len(sorted))
	for _, f := range sorted {
		texts = append(texts, f.String())
	}
	status = metav1.ConditionFalse
	if sorted[0].reason == v1alpha1.ReasonProgressing {
		status = metav1.ConditionUnknown
	}
	return status, sorted[0].reason, fmt.Sprintf("%d of %d ready; ", len(r.ready), len(r.selected)) + some(texts, "; ")
}

func (r *report) allWell() string {
	if len(r.ready) == 0 {
		return "no namespace is selected"
	}
	text := fmt.Sprintf("%d ready: %s", len(r.ready), few(slices.Compact(slices.Clone(r.ready))))
	if len(r.loginsOnly) > 0 {
		text += fmt.Sprintf("; registry logins alone are given by %s: with these settings the cloud binds pods and not accounts, and no pod is changed for a mapping", few(r.loginsOnly))
	}
	return text
}

// few names the first of some namespaces, and counts the others.
func few(names []string) string { return some(names, ", ") }

func some(texts []string, separator string) string {
	if more := len(texts) - shown; more > 0 {
		return strings.Join(texts[:shown], separator) + fmt.Sprintf("%sand %d more", separator, more)
	}
	return strings.Join(texts, separator)
}
