//go:build unix && !linux

package lambda

import "syscall"

// sysProcAttr gives a child its own process group, so that a terminal's Ctrl-C
// does not reach it. A child whose parent is killed ends when it next speaks to
// the Runtime API, which at rest it does all the time.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
