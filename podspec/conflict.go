// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strings"
)

// maxShown bounds how much of a pod's value a conflict repeats: messages end up in events and conditions.
const maxShown = 200

// Conflict is one piece of a plan that a pod could not take, because the pod has a value of its own there.
type Conflict struct {
	// Container is the container's name, empty for what belongs to the pod.
	Container string
	// Field is the field of the container or of the pod, such as "env".
	Field string
	// Key says which entry of the field, such as a variable's name. Empty if the field has one value.
	Key string
	// Want is what the plan says, Have what the pod says.
	Want, Have string
}

// String names the container and the key, and says what both sides say.
func (c Conflict) String() string {
	where := c.Field
	if c.Container != "" {
		where = fmt.Sprintf("container %q: %s", c.Container, c.Field)
	}
	if c.Key != "" {
		where += fmt.Sprintf(" %q", c.Key)
	}
	return fmt.Sprintf("%s: is %s, wanted %s", where, c.Have, c.Want)
}

// ConflictError is the error of those for whom a conflict is one: a pod that we make ourselves must carry its whole plan.
type ConflictError struct {
	Conflicts []Conflict
}

// Error lists the conflicts in the order in which they were found.
func (e *ConflictError) Error() string {
	lines := make([]string, 0, len(e.Conflicts))
	for _, c := range e.Conflicts {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "; ")
}

// conflictError is nil if there are no conflicts.
func conflictError(conflicts []Conflict) error {
	if len(conflicts) == 0 {
		return nil
	}
	return &ConflictError{Conflicts: conflicts}
}

// shown is a value as conflicts write it.
func shown(value string) string { return bounded(fmt.Sprintf("%q", value)) }

func bounded(text string) string {
	if len(text) > maxShown {
		return fmt.Sprintf("a value of %d characters", len(text))
	}
	return text
}
