// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// readEnvFile reads what a hook or step wrote to $GITHUB_ENV. A file that it removed has nothing in it.
func readEnvFile(file string) (environment, error) {
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	env, err := parseEnvFile(string(content))
	if err != nil {
		return nil, fmt.Errorf("$GITHUB_ENV: %w", err)
	}
	return env, nil
}

// parseEnvFile takes lines NAME=value and, for values of several lines, NAME<<WORD, the value, and WORD, as GitHub's runner does:
// what comes first, = or <<, decides. Values are not shown in errors, they may be secret.
func parseEnvFile(content string) (environment, error) {
	env := environment{}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	for number := 0; number < len(lines); number++ {
		line := lines[number]
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case equals > 0 && (heredoc < 0 || equals < heredoc):
			env[line[:equals]] = line[equals+1:]
		case heredoc > 0 && len(line) > heredoc+2 && (equals < 0 || heredoc < equals):
			value, ok := until(lines[number+1:], line[heredoc+2:])
			if !ok {
				return nil, fmt.Errorf("line %d: %s has no end: a line %q must follow", number+1, line[:heredoc], line[heredoc+2:])
			}
			env[line[:heredoc]] = strings.Join(value, "\n")
			number += len(value) + 1
		default:
			return nil, fmt.Errorf("line %d: is neither NAME=value nor NAME<<WORD", number+1)
		}
	}
	return env, nil
}

// until are the lines before the one that is end.
func until(lines []string, end string) ([]string, bool) {
	for i, line := range lines {
		if line == end {
			return lines[:i], true
		}
	}
	return nil, false
}
