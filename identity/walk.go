// SPDX-License-Identifier: Apache-2.0

package identity

// A Step is how a Prober looks at one link.
type Step struct {
	// Name is the link's.
	Name string
	// Look says in one sentence what was seen. Its error breaks the link, and says what mends it.
	Look func() (string, error)
}

// Walk takes steps in their order and stops at the first one that fails, whose error it returns too: what Probe has to do.
func Walk(steps ...Step) ([]Link, error) {
	var links []Link
	for _, s := range steps {
		detail, err := s.Look()
		if err != nil {
			return append(links, Link{Name: s.Name, Detail: err.Error()}), err
		}
		links = append(links, Link{Name: s.Name, OK: true, Detail: detail})
	}
	return links, nil
}
