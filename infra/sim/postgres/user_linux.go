package postgres

import (
	"os"
	"os/exec"
	"syscall"
)

const (
	// nobody is the user and the group as which root runs the server.
	nobody = 65534
	// dacOverride is the capability to reach files of others: CAP_DAC_OVERRIDE of
	// capabilities(7). With it nobody reaches the programs and the data below /root.
	dacOverride = 1
)

// unprivileged has root run a command as nobody. The capability is effective from the next
// program on: a shell, which then finds the command.
func unprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `exec "$0" "$@"`}, cmd.Args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: []uintptr{dacOverride}}
	}
}

// give makes a folder nobody's, if root runs the server.
func give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}

	return os.Chown(dir, nobody, nobody)
}

// memory returns a folder whose files are in memory, "" if it has less than 4 GiB. There a
// new database takes a tenth of the time.
func memory() string {
	const dir, least = "/dev/shm", 4 << 30

	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Bavail*uint64(s.Bsize) < least {
		return ""
	}

	return dir
}
