package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/postgres"
)

func start(t *testing.T, dir string) *postgres.Engine {
	t.Helper()

	e, err := postgres.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(e.Stop)

	return e
}

func connect(t *testing.T, e *postgres.Engine) *pgx.Conn {
	t.Helper()

	c, err := pgx.Connect(t.Context(), e.URL("", "postgres"))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { c.Close(context.Background()) })

	return c
}

// TestDataOutlivesTheServer: what was committed is there after the server was killed, and
// for another server of the folder.
func TestDataOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/data"

	e := start(t, dir)
	if _, err := connect(t, e).Exec(t.Context(), "CREATE TABLE goal (n int); INSERT INTO goal VALUES (7)"); err != nil {
		t.Fatal(err)
	}

	count := func(e *postgres.Engine) (n int) {
		t.Helper()

		if err := connect(t, e).QueryRow(t.Context(), "SELECT n FROM goal").Scan(&n); err != nil {
			t.Fatal(err)
		}

		return n
	}
	e.Kill()
	<-e.Exited

	if c, err := pgx.Connect(t.Context(), e.URL("", "postgres")); err == nil {
		c.Close(t.Context())
		t.Fatal("a killed server answers")
	}

	if err := e.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}

	if n := count(e); n != 7 {
		t.Errorf("after a kill: %d", n)
	}

	e.Stop()
	e.Stop() // again does nothing

	if n := count(start(t, dir)); n != 7 {
		t.Errorf("in the next server: %d", n)
	}
}

// TestFoldersOfKilledProcessesAreDeleted, and no others.
func TestFoldersOfKilledProcessesAreDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}

	names := []string{fmt.Sprint("matchday-postgres-", child.Process.Pid, "-1"), fmt.Sprint("matchday-postgres-", os.Getpid(), "-1"),
		"matchday-postgres-x-1", "other"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name, "base"), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	postgres.Sweep(dir)

	var left []string

	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}

	slices.Sort(names)

	if diff := cmp.Diff(slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, fmt.Sprint(child.Process.Pid)) }),
		left); diff != "" || err != nil {
		t.Errorf("%v; the folders (-want +got):\n%s", err, diff)
	}
}
