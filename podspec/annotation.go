// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

const maxAnnotationName = 63 // of the part behind the slash, in characters

// plainPath is a path that is an annotation name once its slashes are underscores, and that no other path becomes.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9./-]*[A-Za-z0-9])?$`)

var notInName = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// fileAnnotation is the annotation that carries the file at a path below IdentityDir. No two paths have the same one.
func fileAnnotation(below string) string {
	name := strings.ReplaceAll(below, "/", "_")
	if !plainPath.MatchString(below) || len(name) > maxAnnotationName {
		name = notInName.ReplaceAllString(name, "-")
		name = name[:min(len(name), maxAnnotationName-hashLength-1)]
		name = strings.Trim(name+"-"+shortHash(below), "-.")
	}
	return v1alpha1.AnnotationFilePrefix + name
}
