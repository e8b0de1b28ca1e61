package fleet

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/lambda"
	"matchday/infra/sim/sqs"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// TestStores: the databases of the rooms are migrated, and a function gets the URLs of its
// logins. With a data folder another fleet finds what was stored.
func TestStores(t *testing.T) {
	t.Parallel()

	db := spec.SQLDatabase{
		Name:       "lab",
		Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte("-- +goose Up\nCREATE TABLE ball (n int);")}},
	}
	cache := spec.Cache{Name: "lab"}
	fn := spec.Function{Name: "lab/count", SQL: []spec.SQLLogin{db.As(spec.SQLAdmin)}, Caches: []spec.CacheLogin{cache.As("app", "~*")}}
	room := spec.Room{Name: "lab", Functions: []spec.Function{fn, {Name: "lab/read", SQL: []spec.SQLLogin{db.As("reader")}}}}

	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // PostgreSQL runs as another user
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, dir string
		rows      int
	}{{"in memory", "", 1}, {"in a folder", dir, 1}, {"in the same folder", dir, 2}} {
		f := &Fleet{
			Config: Config{
				Clock: clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), clock.Free),
				Dir:   c.dir,
				Rooms: []Room{{Room: app.Room{Spec: room}}},
			},
		}
		t.Cleanup(f.Clock.Stop)
		t.Cleanup(f.Close)

		if err := f.stores(t.Context()); err != nil {
			t.Fatal(err)
		}

		env, err := f.logins(fn)
		if err != nil {
			t.Fatal(err)
		}

		if want := []string{"MATCHDAY_SQL_LAB=" + f.SQLURL(db, spec.SQLAdmin),
			"MATCHDAY_CACHE_LAB=redis://" + f.caches["lab"]}; !slices.Equal(env, want) {
			t.Errorf("%s: the environment is %q, want %q", c.name, env, want)
		}

		conn, err := pgx.Connect(t.Context(), f.SQLURL(db, spec.SQLAdmin))
		if err != nil {
			t.Fatal(err)
		}

		var rows int
		if err := conn.QueryRow(t.Context(), "WITH new AS (INSERT INTO ball VALUES (1) RETURNING n) SELECT (SELECT count(*) FROM ball) + "+
			"(SELECT count(*) FROM new)").Scan(&rows); err != nil || rows != c.rows {
			t.Errorf("%s: it has %d rows, %v, want %d", c.name, rows, err, c.rows)
		}

		conn.Close(t.Context())

		if err := f.Caches["lab"].Set("a", "1"); err != nil {
			t.Error(err)
		}

		f.Close()
	}
}

// TestLetters: dead letters wake the function that takes them, hidden for as long as it may
// need, and leave the queue.
func TestLetters(t *testing.T) {
	t.Parallel()
	program := buildLab(t)
	counted := spec.Queue{Name: "lab-counted", MaxReceiveCount: 1, Batch: 2, Concurrency: 2}
	room := spec.Room{Name: "lab", Functions: []spec.Function{ // in any order
		{Name: "lab/keep", On: spec.DeadLetters{Of: counted}, Memory: 128, Timeout: 10 * time.Second},
		{Name: "lab/count", On: counted, Memory: 128, Timeout: 10 * time.Second},
	}}
	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), clock.Free)
	h := &logs{lines: map[string][]string{}}
	f := &Fleet{Config: Config{Clock: c, Program: program, Rooms: []Room{{Room: app.Room{Spec: room}}}}, mux: http.NewServeMux()}
	t.Cleanup(c.Stop)
	t.Cleanup(f.Close)

	var err error
	if f.Functions, err = lambda.New(c, lambda.Config{Init: time.Minute, Log: h.log}); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(f.Functions.Close)
	f.Queues = sqs.New(c, "http://localhost/sqs")
	t.Cleanup(f.Queues.Close)

	if err := f.listen(); err != nil {
		t.Fatal(err)
	}

	if err := f.room(app.Room{Spec: room}, os.Environ()); err != nil {
		t.Fatal(err)
	}

	done := c.Work()

	if _, err := f.Queues.Send("local-lab-counted-dead", sqs.Message{Body: "x"}); err != nil {
		t.Fatal(err)
	}

	if err := c.Sleep(t.Context(), c.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}

	done()

	if left := f.Queues.Messages("local-lab-counted-dead"); len(left) != 0 {
		t.Errorf("the dead-letter queue has %v", left)
	}

	got := h.of(f, "lab/keep")
	for i := range got {
		if strings.Contains(got[i], `"body":"x"`) {
			got[i] = "x"
		}
	}

	if diff := cmp.Diff([]string{"x"}, got); diff != "" {
		t.Errorf("the function gets other letters (-want +got):\n%s", diff)
	}
}
