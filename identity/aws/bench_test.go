// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"testing"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

func BenchmarkPlan(b *testing.B) {
	p, r := aws.New(), request(b, as(identity.Both), images("docker.io", otherHost, "public.ecr.aws"))
	for b.Loop() {
		if _, err := p.Plan(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluateTrust(b *testing.B) {
	document, c := []byte(allow(exact())), claims()
	for b.Loop() {
		if !aws.EvaluateTrust(document, roleARN, c).Allowed {
			b.Fatal("not allowed")
		}
	}
}
