// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"testing"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.MainWithNodes(m) }
