// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseEnvFile(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    environment
		wantErr string
	}{
		"nothing":                                 {"", environment{}, ""},
		"empty lines between":                     {"\nA=1\n\nB=2\n\n", environment{"A": "1", "B": "2"}, ""},
		"no line end at the end":                  {"A=1", environment{"A": "1"}, ""},
		"an empty value":                          {"A=\n", environment{"A": ""}, ""},
		"= and << in a value":                     {"A=b=c<<d\n", environment{"A": "b=c<<d"}, ""},
		"the last one wins":                       {"A=1\nA=2\n", environment{"A": "2"}, ""},
		"a value of several lines":                {"A<<END\n1\n\nB=2\nEND\nC=3\n", environment{"A": "1\n\nB=2", "C": "3"}, ""},
		"a value of no lines":                     {"A<<END\nEND\n", environment{"A": ""}, ""},
		"a word with = in it":                     {"A<<ghadelimiter=1\nx\nghadelimiter=1\n", environment{"A": "x"}, ""},
		"a word that is only part of a line":      {"A<<END\nEND1\n END\nEND\n", environment{"A": "END1\n END"}, ""},
		"a line that is neither":                  {"A=1\nnonsense\n", nil, "line 2: is neither NAME=value nor NAME<<WORD"},
		"a line without a name":                   {"=1\n", nil, "line 1: is neither NAME=value nor NAME<<WORD"},
		"a value of several lines without a name": {"<<END\n1\nEND\n", nil, "line 1: is neither NAME=value nor NAME<<WORD"},
		"a value without a word":                  {"A<<\n1\n\n", nil, "line 1: is neither NAME=value nor NAME<<WORD"},
		"a value without an end":                  {"A<<END\nsecret\n", nil, `line 1: A has no end: a line "END" must follow`},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := parseEnvFile(test.content)
			assert.Equal(t, test.want, env)
			if test.wantErr == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.wantErr)
			}
		})
	}
}

func FuzzParseEnvFile(f *testing.F) {
	f.Add("A", "1\n2", "B=1\n")
	f.Add("PATH", "", "")
	f.Fuzz(func(t *testing.T, name, value, before string) {
		_, err := parseEnvFile(before)
		if err != nil || name == "" || strings.ContainsAny(name, "=\n") || strings.Contains(name+"<", "<<") {
			return
		}
		const end = "ghadelimiter_of_the_test"
		if strings.Contains(value, end) {
			return
		}
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		env, err := parseEnvFile(before + name + "<<" + end + "\n" + value + "\n" + end + "\n")
		require.NoError(t, err)
		assert.Equal(t, value, env[name], "what is written comes back")
	})
}
