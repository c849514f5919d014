// SPDX-License-Identifier: Apache-2.0

package github

import (
	"net/http"
	"strconv"
	"time"
)

const (
	resourceCore         = "core"
	resourceRegistration = "actions_runner_registration"
)

// budget is what an account may still call within a window.
type budget struct {
	limit, used int
	reset       time.Time
}

func resourceOf(route string) string {
	if route == RouteRegister {
		return resourceRegistration
	}
	return resourceCore
}

// budgets are those of an account, by resource.
type budgets map[string]*budget

// of is the budget for a resource, a new one if the window is over.
func (all budgets) of(resource string, limit int, now time.Time) *budget {
	if resource == resourceRegistration {
		limit *= 2
	}
	if b := all[resource]; b != nil && now.Before(b.reset) {
		return b
	}
	all[resource] = &budget{limit: limit, reset: now.Add(time.Hour).Truncate(time.Second)}
	return all[resource]
}

func (b *budget) left() int { return max(b.limit-b.used, 0) }

func (b *budget) headers(resource string) http.Header {
	return http.Header{
		"X-Ratelimit-Limit":     {strconv.Itoa(b.limit)},
		"X-Ratelimit-Remaining": {strconv.Itoa(b.left())},
		"X-Ratelimit-Used":      {strconv.Itoa(b.used)},
		"X-Ratelimit-Reset":     {strconv.FormatInt(b.reset.Unix(), 10)},
		"X-Ratelimit-Resource":  {resource},
	}
}
