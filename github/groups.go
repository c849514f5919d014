// SPDX-License-Identifier: Apache-2.0

package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	gh "github.com/google/go-github/v88/github"
)

// groups knows the ids of runner groups by name, as they were when last listed.
type groups struct {
	mu  sync.Mutex
	ids map[string]int64
}

func (g *groups) id(name string) (int64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok := g.ids[strings.ToLower(name)]
	return id, ok
}

func (g *groups) set(ids map[string]int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids = ids
}

func (c *Client) groupID(ctx context.Context, name string) (int64, error) {
	if strings.EqualFold(name, DefaultGroup) {
		return defaultGroupID, nil
	}
	if c.scope.Repository != "" {
		return 0, &Denied{Mend: fmt.Sprintf("runners of a repository have no groups: remove group %q, or register with the organisation", name)}
	}
	if id, ok := c.groups.id(name); ok {
		return id, nil
	}
	ids, err := c.listGroups(ctx)
	if err != nil {
		return 0, fmt.Errorf("list runner groups: %w", err)
	}
	c.groups.set(ids)
	id, ok := ids[strings.ToLower(name)]
	if !ok {
		return 0, &Denied{Mend: fmt.Sprintf("there is no runner group %q: make it, or name one of %s", name, some(slices.Sorted(maps.Keys(ids))))}
	}
	return id, nil
}

func (c *Client) listGroups(ctx context.Context) (map[string]int64, error) {
	ids := map[string]int64{}
	for page := 1; page > 0; {
		var answer gh.RunnerGroups
		resp, err := c.do(ctx, call{
			method: http.MethodGet, operation: opGroups, path: "/actions/runner-groups",
			query: url.Values{"per_page": {"100"}, "page": {strconv.Itoa(page)}}, into: &answer,
		})
		if err != nil {
			return nil, err
		}
		for _, g := range answer.RunnerGroups {
			ids[strings.ToLower(g.GetName())] = g.GetID()
		}
		page = resp.NextPage
	}
	return ids, nil
}

// some bounds a list that is shown to people.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
