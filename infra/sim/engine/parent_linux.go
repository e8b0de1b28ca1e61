package engine

import (
	"os/exec"
	"syscall"
)

// DieWithParent has the kernel end the child when this process dies, and keeps
// the terminal's Ctrl-C from it: its parent stops it.
func DieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}

	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
}
