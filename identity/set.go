// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Set is the providers that a build has. It is made once, explicitly, in main: there is no registry to register with.
type Set struct {
	byName map[string]Provider
}

// NewSet makes a Set. Two providers of one name are an error.
func NewSet(providers ...Provider) (Set, error) {
	s := Set{byName: map[string]Provider{}}
	for _, p := range providers {
		if _, ok := s.byName[p.Name()]; ok {
			return Set{}, fmt.Errorf("two providers are called %q", p.Name())
		}
		s.byName[p.Name()] = p
	}
	return s, nil
}

// Provider returns the provider of that name. The error, an Invalid one, lists the names that this build has.
func (s Set) Provider(name string) (Provider, error) {
	p, ok := s.byName[name]
	if !ok {
		return nil, Errorf(Invalid, "identity provider %q is not in this build, which has: %s", name, strings.Join(s.Names(), ", "))
	}
	return p, nil
}

// Names are the providers' names, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.byName)) }

// As returns a provider's capability T, looking through wrappers that have an Unwrap() Provider method.
func As[T any](p Provider) (T, bool) {
	for p != nil {
		if t, ok := p.(T); ok {
			return t, true
		}
		w, ok := p.(interface{ Unwrap() Provider })
		if !ok {
			break
		}
		p = w.Unwrap()
	}
	var none T
	return none, false
}
