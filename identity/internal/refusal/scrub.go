// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// tokenLike matches JSON Web Tokens and Google's access tokens: clouds quote what they do not like.
var tokenLike = regexp.MustCompile(`eyJ[A-Za-z0-9_.=-]*|ya29\.[A-Za-z0-9_.-]*`)

// maxMessage is as much of a message as is shown.
const maxMessage = 300

// Scrub takes secrets out of a message and makes it one short line without a full stop: something may follow.
func Scrub(message string, secrets ...identity.Secret) string {
	for _, s := range secrets {
		if v := strings.TrimSpace(s.Reveal()); v != "" {
			message = strings.ReplaceAll(message, v, s.String())
		}
	}
	message = tokenLike.ReplaceAllString(message, "[redacted]")
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "") + " ..."
	}
	return strings.TrimSuffix(message, ".")
}
