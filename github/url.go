// SPDX-License-Identifier: Apache-2.0

package github

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

const publicAPI = "https://api.github.com/"

// apiURL is the base URL of the REST API of a GitHub server, given the URL that people open in a browser or the API's own.
func apiURL(server string) (string, error) {
	if server == "" {
		return publicAPI, nil
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s is not the URL of a server, such as https://github.example.com", KeyEnterpriseURL)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", fmt.Errorf("%s %q: the scheme must be https, as credentials go over it (http only to this machine)", KeyEnterpriseURL, server)
	}
	path := strings.Trim(u.Path, "/")
	if path != "" && path != "api/v3" {
		return "", fmt.Errorf("%s %q: %q is too much: give the server alone, such as %s://%s; the organisation or repository belongs in the RunnerDeployment",
			KeyEnterpriseURL, server, u.Path, u.Scheme, u.Host)
	}
	return apiBase(u), nil
}

// apiBase knows the three kinds of server: github.com and the tenants of ghe.com have a host for the API, an Enterprise
// Server has a path.
func apiBase(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch {
	case host == "github.com" || host == "www.github.com" || host == "api.github.com":
		return publicAPI
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + strings.TrimPrefix(host, "api.") + "/"
	}
	return u.Scheme + "://" + u.Host + "/api/v3/"
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
