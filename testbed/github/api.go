// SPDX-License-Identifier: Apache-2.0

package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// registration is the body of a request for a JIT configuration.
type registration struct {
	Name       string   `json:"name"`
	GroupID    int64    `json:"runner_group_id"`
	Labels     []string `json:"labels"`
	WorkFolder string   `json:"work_folder"`
}

// problem is what is wrong with it, empty if nothing is.
func (g registration) problem(groups []Group) string {
	switch {
	case g.Name == "" || len(g.Name) > 64:
		return "name must be between 1 and 64 characters"
	case len(g.Labels) == 0 || len(g.Labels) > 100:
		return "labels must have between 1 and 100 items"
	case !slices.ContainsFunc(groups, func(group Group) bool { return group.ID == g.GroupID }):
		return "runner_group_id is not a runner group"
	}
	return ""
}

func register(s *Simulator, r request) answer {
	g := registration{WorkFolder: "_work"}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&g); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	if problem := g.problem(s.groupsOf(r.scope)); problem != "" {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+problem)
	}
	taken := s.named(func(other *Runner) bool { return other.Scope == r.scope && strings.EqualFold(other.Name, g.Name) })
	if taken != nil {
		return refuse(http.StatusConflict, fmt.Sprintf("Already exists - A runner with the name %s already exists.", g.Name))
	}
	s.lastID++
	labels := labelsOf(g.Labels)
	runner := &Runner{
		ID: s.lastID, Name: g.Name, OS: osOf(labels), Status: Offline, Ephemeral: true,
		Labels: labels, GroupID: g.GroupID, Scope: r.scope,
	}
	runner.config = jitConfig(runner, g.WorkFolder, s.urlFor(r.Request))
	s.runners[runner.ID] = runner
	return answer{status: http.StatusCreated, body: map[string]any{"runner": runner, "encoded_jit_config": runner.config}}
}

func find(s *Simulator, r request) answer {
	name := r.URL.Query().Get("name")
	runners := []*Runner{}
	for _, runner := range s.runners {
		if runner.Scope == r.scope && (name == "" || strings.EqualFold(runner.Name, name)) {
			runners = append(runners, runner)
		}
	}
	slices.SortFunc(runners, byID)
	page, link := paged(runners, r.URL)
	return answer{status: http.StatusOK, body: map[string]any{"total_count": len(runners), "runners": page}}.with(link)
}

func status(s *Simulator, r request) answer {
	runner := s.runnerOf(r)
	if runner == nil {
		return notFound()
	}
	return answer{status: http.StatusOK, body: runner}
}

func remove(s *Simulator, r request) answer {
	runner := s.runnerOf(r)
	switch {
	case runner == nil:
		return notFound()
	case runner.Busy:
		return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("Bad request - Runner %q is still running a job", runner.Name))
	}
	s.drop(runner.ID)
	return answer{status: http.StatusNoContent}
}

func listGroups(s *Simulator, r request) answer {
	page, link := paged(s.groups, r.URL)
	return answer{status: http.StatusOK, body: map[string]any{"total_count": len(s.groups), "runner_groups": page}}.with(link)
}

// groupsOf are a scope's groups: a repository has the default one alone.
func (s *Simulator) groupsOf(scope string) []Group {
	if strings.HasPrefix(scope, "repos/") {
		return s.groups[:1]
	}
	return s.groups
}

func (s *Simulator) runnerOf(r request) *Runner {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || s.runners[id] == nil || s.runners[id].Scope != r.scope {
		return nil
	}
	return s.runners[id]
}

// paged is the page that was asked for, with a Link header to the next as GitHub's.
func paged[T any](all []T, u *url.URL) ([]T, http.Header) {
	number := func(key string, otherwise int) int {
		if n, err := strconv.Atoi(u.Query().Get(key)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	page, size := number("page", 1), min(number("per_page", 30), 100)
	start, end := min((page-1)*size, len(all)), min(page*size, len(all))
	header := http.Header{}
	if end < len(all) {
		next := *u
		query := next.Query()
		query.Set("page", strconv.Itoa(page+1))
		next.RawQuery = query.Encode()
		header.Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next.String()))
	}
	return all[start:end], header
}

// urlFor is where a runner reaches the simulator.
func (s *Simulator) urlFor(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return cmp.Or(strings.TrimSuffix(s.options.URL, "/"), scheme+"://"+r.Host)
}
