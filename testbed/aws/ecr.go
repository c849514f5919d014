// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

const tokenAction = "GetAuthorizationToken"

type ecrReply struct {
	AuthorizationData []authorizationData `json:"authorizationData"`
}

type authorizationData struct {
	AuthorizationToken string `json:"authorizationToken"`
	// ExpiresAt is seconds since 1970, with a fraction.
	ExpiresAt     float64 `json:"expiresAt"`
	ProxyEndpoint string  `json:"proxyEndpoint,omitempty"`
}

// ecrToken issues a login to the private registries of a region.
func (s *Server) ecrToken(c *call) (any, error) {
	caller, region, err := s.authenticate(c)
	if err != nil {
		return nil, err
	}
	if err := s.permit(c, caller, "ecr:GetAuthorizationToken"); err != nil {
		return nil, err
	}
	ids, err := c.registryIDs()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		ids = []string{caller.role.account}
	}
	var reply ecrReply
	for _, id := range ids {
		data := s.issue(c, login{caller: caller, region: region})
		data.ProxyEndpoint = "https://" + registryHost(id, region)
		reply.AuthorizationData = append(reply.AuthorizationData, data)
	}
	return reply, nil
}

// registryIDs reads the deprecated field that asks for other accounts' registries by name.
func (c *call) registryIDs() ([]string, error) {
	var request struct {
		RegistryIDs []string `json:"registryIds"`
	}
	if err := json.Unmarshal(c.body, &request); err != nil {
		return nil, refuse(http.StatusBadRequest, "SerializationException", "request body is not JSON")
	}
	if request.RegistryIDs != nil && (len(request.RegistryIDs) < 1 || len(request.RegistryIDs) > 10) {
		return nil, invalidParameter("'registryIds' failed to satisfy constraint: 'Member must have length between 1 and 10'")
	}
	for _, id := range request.RegistryIDs {
		if !regexp.MustCompile(`^\d{12}$`).MatchString(id) {
			return nil, invalidParameter("'registryIds' failed to satisfy constraint: 'Member must satisfy regular expression pattern: [0-9]{12}'")
		}
	}
	return request.RegistryIDs, nil
}

func invalidParameter(what string) error {
	return refuse(http.StatusBadRequest, "InvalidParameterException", "Invalid parameter at %s", what)
}

// permit checks that the caller's role has a permission now: taking it away works at once.
func (s *Server) permit(c *call, caller session, action string) error {
	if allows(s.config.Roles[caller.roleARN].Permissions, action) {
		return nil
	}
	return c.denied("User: %s is not authorized to perform: %s on resource: * because no identity-based policy allows the %s action",
		caller.arn(), action, action)
}

func registryHost(account, region string) string {
	p, _ := partitionOf(region)
	return fmt.Sprintf("%s.dkr.ecr.%s.%s", account, region, p.suffix)
}

// epoch is a time as the JSON protocol writes it.
func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
