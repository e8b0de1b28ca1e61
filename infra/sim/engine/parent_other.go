//go:build !linux

package engine

import (
	"os/exec"
	"syscall"
)

// DieWithParent keeps the terminal's Ctrl-C from the child: its parent stops it.
func DieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
