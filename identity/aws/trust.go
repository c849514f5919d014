// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/token"
)

var _ identity.Truster = (*Provider)(nil)

const (
	// issuerPlaceholder stands in the policies for an issuer that is not known.
	issuerPlaceholder = "ISSUER_HOST_AND_PATH"
	howToFindIssuer   = "replace " + issuerPlaceholder + " by the issuer without https://, which `kubectl get --raw /.well-known/openid-configuration` prints"
)

// Trust says what has to exist in AWS: OIDC provider, trust policies and permission policies, in the order to make them.
func (*Provider) Trust(r identity.Request) (identity.Trust, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return identity.Trust{}, err
	}
	if !s.webIdentity() {
		return identity.Trust{Documents: s.podIdentityTrust(r)}, nil
	}
	docs := []identity.Document{s.oidcProvider(r), s.webIdentityTrust(r)}
	docs = append(docs, s.chainTrust()...)
	return identity.Trust{Documents: append(docs, s.registryPermissions()...)}, nil
}

// oidcProvider is the command that makes the issuer known to the account.
func (s settings) oidcProvider(r identity.Request) identity.Document {
	title := fmt.Sprintf("IAM OIDC provider in account %s, once for each cluster", s.roles[0].account)
	return identity.Document{
		Title: withIssuerHint(title, r),
		Body: fmt.Sprintf("aws iam create-open-id-connect-provider --url https://%s --client-id-list %s\n",
			issuerOf(r), s.Audience),
	}
}

// webIdentityTrust is the trust policy of the first role: exactly the accounts that have the identity.
func (s settings) webIdentityTrust(r identity.Request) identity.Document {
	issuer := issuerOf(r)
	policy := document(policyStatement{
		Effect:    "Allow",
		Principal: map[string]string{"Federated": s.roles[0].providerARN(issuer)},
		Action:    one(webIdentityAction),
		Condition: map[string]map[string]oneOrMore{"StringEquals": {
			issuer + ":aud": one(s.Audience),
			issuer + ":sub": subjects(r),
		}},
	})
	return identity.Document{Title: withIssuerHint("Trust policy of "+s.roles[0].arn, r), Body: policy}
}

// chainTrust is, for each further role, the permission to assume it and its trust policy.
func (s settings) chainTrust() []identity.Document {
	var docs []identity.Document
	for i := 1; i < len(s.roles); i++ {
		from, to := s.roles[i-1].arn, s.roles[i].arn
		docs = append(docs,
			identity.Document{Title: fmt.Sprintf("Permission policy of %s: it may assume the next role", from), Body: document(policyStatement{
				Effect: "Allow", Action: one("sts:AssumeRole"), Resource: one(to),
			})},
			identity.Document{Title: "Trust policy of " + to, Body: document(policyStatement{
				Effect: "Allow", Principal: map[string]string{"AWS": from}, Action: one("sts:AssumeRole"),
			})},
		)
	}
	return docs
}

// podIdentityTrust is the trust policy of a role for EKS Pod Identity, and the commands that bind the accounts to it.
func (s settings) podIdentityTrust(r identity.Request) []identity.Document {
	arn := cmp.Or(s.RoleARN, "ROLE_ARN")
	var commands strings.Builder
	for _, account := range r.Bound() {
		fmt.Fprintf(&commands, "aws eks create-pod-identity-association --cluster-name CLUSTER_NAME --namespace %s --service-account %s --role-arn %s\n",
			r.Namespace, account, arn)
	}
	return []identity.Document{
		{Title: "Trust policy of the role for EKS Pod Identity", Body: document(policyStatement{
			Effect: "Allow", Principal: map[string]string{"Service": podIdentityService}, Action: oneOrMore{"sts:AssumeRole", "sts:TagSession"},
			Condition: map[string]map[string]oneOrMore{"StringEquals": {
				"aws:RequestTag/kubernetes-namespace":       one(r.Namespace),
				"aws:RequestTag/kubernetes-service-account": oneOrMore(r.Bound()),
			}},
		})},
		{Title: "PodIdentityAssociations; replace CLUSTER_NAME by the name of the EKS cluster, and ROLE_ARN if it is there by the role's", Body: commands.String()},
	}
}

// subjects are the sub claims of the accounts that have the identity.
func subjects(r identity.Request) oneOrMore {
	var subs oneOrMore
	for _, account := range r.Bound() {
		subs = append(subs, token.Subject(r.Namespace, account))
	}
	return subs
}

// issuerOf is the issuer as IAM writes it, or the placeholder.
func issuerOf(r identity.Request) string { return cmp.Or(issuerKey(r.Issuer), issuerPlaceholder) }

func withIssuerHint(title string, r identity.Request) string {
	if r.Issuer == "" {
		return title + " (" + howToFindIssuer + ")"
	}
	return title
}
