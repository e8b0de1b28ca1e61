package dynamodb

import "syscall"

// dieWithParent has the kernel end the child when this process dies, and keeps
// the terminal's Ctrl-C from it: its parent stops it.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
