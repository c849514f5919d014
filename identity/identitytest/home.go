// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/runner-identity/runner-identity/identity"
)

// checkHome is about the files of a HomeFiler.
func checkHome(f *report, p identity.Provider, c Case) {
	filer, ok := identity.As[identity.HomeFiler](p)
	if !ok {
		return
	}
	files, err := filer.HomeFiles(clone(c.Request))
	if err != nil {
		f.add(RuleHome, err.Error())
		return
	}
	again, _ := filer.HomeFiles(clone(c.Request))
	f.check(text(files) == text(again), RuleHome, "the same request gives other files the second time")
	seen := map[string]bool{}
	for _, file := range files {
		f.check(filepath.IsLocal(file.Path) && path.Clean(file.Path) == file.Path && file.Path != ".", RuleHome,
			fmt.Sprintf("path %q is not a clean one below a home directory, such as .cloud/config", file.Path))
		f.check(!seen[file.Path], RuleHome, fmt.Sprintf("path %q is there twice", file.Path))
		seen[file.Path] = true
	}
	checkSecrets(f, text(files), c.Secrets)
}
