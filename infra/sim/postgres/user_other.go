//go:build !linux

package postgres

import "os/exec"

func unprivileged(*exec.Cmd) {}

func give(string) error { return nil }

func memory() string { return "" }
