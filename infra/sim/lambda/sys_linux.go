package lambda

import "syscall"

// sysProcAttr gives a child its own process group, so that a terminal's Ctrl-C
// does not reach it, and has the kernel kill it with its parent.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
