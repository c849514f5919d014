// SPDX-License-Identifier: Apache-2.0

package aws

// publicRegion is the one region that has ECR Public's token API.
const publicRegion = "us-east-1"

type ecrPublicReply struct {
	// AuthorizationData is an object here, where ECR has a list.
	AuthorizationData authorizationData `json:"authorizationData"`
}

// ecrPublicToken issues a login to ECR Public.
func (s *Server) ecrPublicToken(c *call) (any, error) {
	caller, region, err := s.authenticate(c)
	if err != nil {
		return nil, err
	}
	if region != publicRegion {
		return nil, c.badSignature("Credential should be scoped to a valid region, not '%s'. ", region)
	}
	for _, action := range []string{"ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken"} {
		if err := s.permit(c, caller, action); err != nil {
			return nil, err
		}
	}
	return ecrPublicReply{AuthorizationData: s.issue(c, login{caller: caller, region: region, public: true})}, nil
}
