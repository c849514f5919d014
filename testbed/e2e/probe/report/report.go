// SPDX-License-Identifier: Apache-2.0

// Package report is what the probe prints and tests read.
package report

// A Look is what one user sees.
type Look struct {
	UID  int    `json:"uid"`
	Seen []Seen `json:"seen"`
}

// Seen is a file that was read, or a directory that was written to.
type Seen struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"`  // octal
	Owner string `json:"owner"` // user:group
	// Can is whether a file can be read, or a directory be written to.
	Can bool `json:"can"`
	// Trouble is why not.
	Trouble string `json:"trouble,omitempty"`
}

// A Watch is news of a token file: another token, or trouble.
type Watch struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"`
	Owner string `json:"owner"`
	// Reads is how often the file was read so far.
	Reads   int    `json:"reads"`
	Trouble string `json:"trouble,omitempty"`
}
