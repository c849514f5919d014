// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// heading begins a part of the demo.
func heading(title string) {
	fmt.Printf("\n── %s %s\n", title, strings.Repeat("─", max(0, 100-utf8.RuneCountInString(title))))
}

// step is one line of progress or of proof.
func step(format string, a ...any) { fmt.Printf("   "+format+"\n", a...) }

// ok is a step that held.
func ok(what, format string, a ...any) {
	fmt.Printf(" ✓ %-22s %s\n", what, fmt.Sprintf(format, a...))
}

// block prints several lines, indented.
func block(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		fmt.Print("   " + line)
	}
}
