package bestshot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/pg"
)

// execution returns the latest execution of a tournament: its status and detail.
func execution(w *bestshottest.World, c *bestshottest.Tournament) string {
	w.T.Helper()

	all := testkit.Decode[struct{ Data []ingest.ExecutionRow }](w.World,
		w.Do(root, "GET", "/admin/tournaments/"+c.ID+"/executions", nil)).Data

	return fmt.Sprintf("%s: %s", all[0].Status, all[0].Detail)
}

// TestExecutionOfRounds: an execution is done when each of its rounds is stored. It has failed with the number
// of rounds that have, and the reason of the first. Answers that come twice count once.
func TestExecutionOfRounds(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		errors [3]string // of the answers about the rounds 1 to 3
		order  []int     // in which they arrive
		want   []string  // after each
	}{
		"all are stored": {
			order: []int{3, 1, 3, 2},
			want:  []string{"running: ", "running: ", "running: ", "done: "},
		},
		"two fail": {
			errors: [3]string{"", "HTTP 500", "HTTP 503"},
			order:  []int{3, 3, 1, 2, 1},
			want: []string{"running: 3: HTTP 503", "running: 3: HTTP 503", "running: 3: HTTP 503",
				"failed: 2 of 3 rounds failed, the first: 3: HTTP 503", "failed: 2 of 3 rounds failed, the first: 3: HTTP 503"},
		},
		"the last is stored": {
			errors: [3]string{"HTTP 500", "HTTP 500", ""},
			order:  []int{1, 2, 3},
			want:   []string{"running: 1: HTTP 500", "running: 1: HTTP 500", "failed: 2 of 3 rounds failed, the first: 1: HTTP 500"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := bestshottest.New(t)
			cup := w.Found("cup")

			for n := 1; n <= 3; n++ {
				w.Ingest(cup.Feed(fmt.Sprint(n), bestshottest.Fixture(n, bestshottest.Noon.Add(hour), provider.Open)))
			}

			w.Do(root, "POST", "/admin/tournaments/"+cup.ID+"/matches", nil)

			polls := testkit.Messages[ingest.Poll](w.World, ingest.PollQueue)

			var got []string

			for _, n := range c.order {
				f := ingest.Feed{Poll: polls[n-1], FetchedAt: w.Clock.Now(), Error: c.errors[n-1]}
				if f.Error == "" {
					f.Fixtures = []provider.Fixture{bestshottest.Fixture(n, bestshottest.Noon.Add(hour), provider.Open)}
				}

				w.Ingest(f)

				got = append(got, execution(w, cup))
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLostExecution: an execution whose answers are missing after ten minutes has failed, and says so, before
// another begins and after it.
func TestLostExecution(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")

	for n := 1; n <= 2; n++ {
		w.Ingest(c.Feed(fmt.Sprint(n), bestshottest.Fixture(n, bestshottest.Noon.Add(hour), provider.Open)))
	}

	for part, want := range map[string]string{
		"standings": "failed: no answer within 10 minutes",
		"matches":   "failed: no answer within 10 minutes for 1 of 2 rounds",
	} {
		path := "/admin/tournaments/" + c.ID + "/" + part

		w.Clear(ingest.PollQueue)
		w.Do(root, "POST", path, nil)

		if part == "matches" {
			p := testkit.Messages[ingest.Poll](w.World, ingest.PollQueue)[0]
			w.Ingest(ingest.Feed{Poll: p, FetchedAt: w.Clock.Now(), Error: "HTTP 500"})
		}

		w.MoveClock(w.Clock.Now().Add(10*time.Minute + time.Second))

		if got := execution(w, c); got != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}

		w.Do(root, "POST", path, nil)

		got, _, err := pg.Value[string](t.Context(), w.DB,
			`SELECT status || ': ' || detail FROM execution WHERE operation = $1 AND ended_at IS NOT NULL`, part)
		testkit.Must(t, err)

		if got != want {
			t.Errorf("%s, ended: %q, want %q", part, got, want)
		}

		w.MoveClock(w.Clock.Now().Add(time.Second))
	}
}

// TestExecutionOfBefore: an execution without waiting rounds, of code that did not know them, ends with the only
// answer that names it.
func TestExecutionOfBefore(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")

	id, _, err := pg.Value[string](t.Context(), w.DB,
		`INSERT INTO execution (tournament_id, operation) VALUES ($1, 'matches') RETURNING id::text`, c.ID)
	testkit.Must(t, err)

	f := c.Feed("38", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open))
	f.Execution = id
	w.Ingest(f)

	if got := execution(w, c); got != "done: " {
		t.Errorf("the execution is %q", got)
	}
}

// letters returns the ids of the messages that could not be settled, by their status.
func letters(w *bestshottest.World) map[string][]string {
	w.T.Helper()

	ids := map[string][]string{}

	for _, status := range []string{"open", "closed"} {
		for _, l := range testkit.Decode[struct{ Data []settlement.DeadLetter }](w.World,
			w.Do(root, "GET", "/admin/settlements/dlq?status="+status, nil)).Data {
			ids[status] = append(ids[status], l.ID)
		}
	}

	return ids
}

// TestLettersClose: a message is closed when its match is settled, by another message or by code that closes
// none, or by an administrator. One whose match is not settled stays open. A row of before has no reason, and
// gets one.
func TestLettersClose(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		body string // of the message; "" for that of the match
		then func(t *testing.T, w *bestshottest.World)
		want map[string][]string
	}{
		"nothing happens": {
			then: func(*testing.T, *bestshottest.World) {},
			want: map[string][]string{"open": {"1"}},
		},
		"its match is settled": {
			then: func(_ *testing.T, w *bestshottest.World) { w.Settle() },
			want: map[string][]string{"closed": {"1"}},
		},
		"a message of no match": {
			body: `{"matchId": "none"}`,
			then: func(_ *testing.T, w *bestshottest.World) { w.Settle() },
			want: map[string][]string{"open": {"1"}},
		},
		"settled by code of before": {
			then: func(t *testing.T, w *bestshottest.World) {
				_, err := pg.Do(t.Context(), w.DB, `UPDATE match SET scoreboard_applied_at = now()`)
				testkit.Must(t, err)
				testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))
			},
			want: map[string][]string{"closed": {"1"}},
		},
		"closed twice": {
			body: "no job",
			then: func(_ *testing.T, w *bestshottest.World) {
				w.Do(root, "POST", "/admin/settlements/dlq/1/close", nil)
				w.Do(root, "POST", "/admin/settlements/dlq/1/close", nil)
			},
			want: map[string][]string{"closed": {"1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := ended(t, false)

			body := c.body
			if body == "" {
				body = w.Queues.Messages(settlement.Queue.Name)[0].Body
			}

			_, err := pg.Do(t.Context(), w.DB, `INSERT INTO settlement_dlq (id, payload, reason) VALUES ('1', $1, '')`, body)
			testkit.Must(t, err)

			all := testkit.Decode[struct{ Data []settlement.DeadLetter }](w.World, w.Do(root, "GET", "/admin/settlements/dlq", nil)).Data
			if len(all) != 1 || all[0].Reason == "" {
				t.Errorf("the messages are %+v", all)
			}

			c.then(t, w)

			if diff := cmp.Diff(c.want, letters(w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoSuchLetter: a message that is not kept cannot be closed.
func TestNoSuchLetter(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2/admin/settlements/dlq/3/close", nil), 404,
		"message_not_found"); err != nil {
		t.Error(err)
	}
}

// TestMigrationOfOperationsRunsAgain: it runs outside a transaction, and a run that ends early is repeated.
func TestMigrationOfOperationsRunsAgain(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")

	n, err := pg.Do(t.Context(), w.DB, `DELETE FROM goose_db_version WHERE version_id = 13`)
	testkit.Must(t, err)

	if n != 1 {
		t.Fatalf("%d rows of the migration, want 1", n)
	}

	var login *pgx.ConnConfig

	testkit.Must(t, w.DB.Tx(t.Context(), func(tx pgx.Tx) error {
		login = tx.Conn().Config()
		return nil
	}))

	db := stdlib.OpenDB(*login)
	defer db.Close()

	all, err := goose.NewProvider(goose.DialectPostgres, db, tables.DB.Migrations)
	testkit.Must(t, err)

	_, err = all.ApplyVersion(t.Context(), 13, true) // whatever migrations follow it
	testkit.Must(t, err)
	w.Do(root, "DELETE", "/admin/tournaments/"+c.ID, nil)

	if out := w.Ask(root, "GET", "/api/v2/tournaments/"+c.ID, nil); out.StatusCode != 404 {
		t.Errorf("a deleted tournament is answered %d", out.StatusCode)
	}
}
