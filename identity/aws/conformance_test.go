// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/identitytest"
)

func TestTheProviderKeepsThePromisesOfAllProviders(t *testing.T) {
	settings := func(json string) identity.Request {
		r := request(t)
		r.Settings = identity.Settings(json)
		return r
	}
	identitytest.Run(t, aws.New(),
		identitytest.Case{Name: "inject for the runner", Request: request(t)},
		identitytest.Case{Name: "inject for the job", Request: request(t, as(identity.Job))},
		identitytest.Case{Name: "inject for both", Request: request(t, as(identity.Both))},
		identitytest.Case{Name: "annotate for both", Request: request(t, as(identity.Both), with(annotate))},
		identitytest.Case{Name: "annotate another audience", Request: request(t, with(annotate), with(func(s *v1alpha1.AWSDefaults) { s.Audience = "x.example.com" }))},
		identitytest.Case{Name: "a chain for both", Request: request(t, as(identity.Both), with(chain))},
		identitytest.Case{Name: "Pod Identity for both", Request: request(t, as(identity.Both), with(podIdentity))},
		identitytest.Case{Name: "Pod Identity without a region", Request: request(t, with(podIdentity), with(func(s *v1alpha1.AWSDefaults) { s.Region = "" }))},
		identitytest.Case{Name: "several registries, one of them public", Request: request(t, registries(otherHost, "public.ecr.aws", ownHost))},
		identitytest.Case{Name: "images from here and there", Request: request(t, images("docker.io", otherHost, "public.ecr.aws"))},
		identitytest.Case{Name: "an unknown issuer", Request: request(t, func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Issuer = "" })},

		identitytest.Case{Name: "no role", Request: settings(`{"region":"eu-west-1"}`), WantProblem: "aws.roleARN"},
		identitytest.Case{Name: "no region", Request: settings(`{"roleARN":"` + roleARN + `"}`), WantProblem: "aws.region"},
		identitytest.Case{Name: "a broken role", Request: settings(`{"region":"eu-west-1","roleARN":"ci"}`), WantProblem: "aws.roleARN"},
		identitytest.Case{Name: "a role of China in Europe", Request: request(t, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN = "arn:aws-cn:iam::111122223333:role/ci" })), WantProblem: "aws.region"},
		identitytest.Case{Name: "a broken second role", Request: request(t, with(func(s *v1alpha1.AWSDefaults) { s.Chain = []string{deployARN, "x"} })), WantProblem: "aws.chain[1]"},
		identitytest.Case{Name: "a foreign registry", Request: request(t, registries("ghcr.io")), WantProblem: "registries"},
		identitytest.Case{Name: "registries with Pod Identity", Request: request(t, with(podIdentity), registries(ownHost)), WantProblem: "registries"},
		identitytest.Case{Name: "a short token", Request: request(t, with(func(s *v1alpha1.AWSDefaults) { s.TokenLifetime = &metav1.Duration{Duration: time.Minute} })), WantProblem: "aws.tokenLifetime"},
		identitytest.Case{Name: "settings that are a list", Request: settings(`[]`), WantProblem: "aws"},
	)
}
