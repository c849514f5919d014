// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"sync"
)

// Faults are those that are still to come.
type Faults struct {
	// Services are those that a fault can name, Kinds what can go wrong, Codes what kind ErrorCode can answer.
	Services []string
	Kinds    []Kind
	Codes    []string

	mu   sync.Mutex
	list []Fault
}

// Inject adds a fault. Of several that hit a call the oldest is taken. The error names the field that is wrong.
func (f *Faults) Inject(fault Fault) error {
	if err := f.check(fault); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fault)
	return nil
}

// List is all of them, oldest first.
func (f *Faults) List() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Fault{}, f.list...)
}

// Clear makes everything go well again.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// Take is the first fault that hits a call, which has one hit less from now on. The zero Fault is none.
func (f *Faults) Take(service, action string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(x Fault) bool { return x.hits(service, action) })
	if i < 0 {
		return Fault{}
	}
	found := f.list[i]
	switch found.Count {
	case 0:
	case 1:
		f.list = slices.Delete(f.list, i, i+1)
	default:
		f.list[i].Count--
	}
	return found
}
