//go:build !linux

package dynamodb

import "syscall"

// dieWithParent keeps the terminal's Ctrl-C from the child: its parent stops it.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
