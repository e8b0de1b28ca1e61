//go:build unix && !linux

package lambda

import "syscall"

// sysProcAttr gives a child its own process group, so that a terminal's Ctrl-C does not
// reach it. A child whose parent is killed ends at its next request to the Runtime API.
// An idle child always has such a request under way.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
