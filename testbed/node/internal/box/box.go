// SPDX-License-Identifier: Apache-2.0

// Package box is the first process of a node, in namespaces of its own: it makes their network and mounts and then runs what
// it is told to. When it ends, the kernel ends all that is in them, and the mounts and the network are gone with it.
package box

// A Setup is what a node's namespaces look like.
type Setup struct {
	// Dir is the node's directory, which is Dir in the box.
	Dir string
	// Address is the node's, on its loopback device: a pod reaches it by its gateway.
	Address string
	// Local are networks all of whose addresses are the node's.
	Local []string
	// ResolvConf is the file in Dir to take the place of /etc/resolv.conf.
	ResolvConf string
	// LogDir is the directory in Dir to take the place of /var/log, where a kubelet leaves links.
	LogDir string
}

// A Program is to be run.
type Program struct {
	// Name is the program's in errors and of its log, Dir/Name.log.
	Name string
	// Argv is its command line.
	Argv []string
	// Env is added to the box's own environment.
	Env []string
}

// Dir is where the node's directory is in the box. It is short, because a kubelet makes sockets in it, whose paths are not to
// have more than 107 bytes.
const Dir = "/run/node"

// Up is what a box says once it is set up.
const Up = "up"
