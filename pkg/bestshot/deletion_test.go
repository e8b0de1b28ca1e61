package bestshot_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

// played returns a room with two cancelled tournaments, of which members have points and a league. Match n of
// the first, cup, has the provider's id 9000+n, and is of round n.
func played(t testing.TB) (w *bestshottest.World, cup, other *bestshottest.Tournament) {
	t.Helper()
	w = bestshottest.New(t)
	w.Register("ann", "bob", "cid")

	cup, other = w.Found("cup"), w.Found("other")
	kickOff := bestshottest.Noon.Add(hour)

	for n, c := range []*bestshottest.Tournament{other, cup, cup} {
		w.Ingest(c.Feed(fmt.Sprint(n), bestshottest.Fixture(n, kickOff, provider.Open)))

		for i, user := range []string{"ann", "bob", "cid"} {
			if out := w.Guess(user, w.MatchID(n), i, 0); out.StatusCode >= 300 {
				t.Fatal(out.Body)
			}
		}
	}

	w.MoveClock(kickOff.Add(2 * hour))

	for n, c := range []*bestshottest.Tournament{other, cup, cup} {
		w.Ingest(c.Feed(fmt.Sprint(n), bestshottest.Fixture(n, kickOff, provider.Ended, 1, 0)))
	}

	w.Settle()

	l := testkit.Decode[struct{ ID string }](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"}))
	w.Do("ann", "PATCH", "/leagues/"+l.ID+"/tournaments", map[string]any{"tournaments": []string{cup.ID, other.ID}})

	_, err := pg.Do(t.Context(), w.DB, `INSERT INTO reminder (member_id, match_id, kind) SELECT p.id, m.id, '2h' FROM member p, match m`)
	testkit.Must(t, err)

	plantAnswers(w)

	w.Do(root, "POST", "/admin/tournaments/"+cup.ID+"/matches", nil)

	table := cup.Feed("")
	table.Kind = ingest.Standings
	table.Standings = []provider.Standing{{Team: provider.Team{ID: "3", Name: "Home 1"}, Position: 1}}
	w.Ingest(table)

	for _, c := range []*bestshottest.Tournament{cup, other} {
		w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "cancelled"})
		readAll(w, c) // fills the cache
	}

	w.Clear(ingest.PollQueue)

	return w, cup, other
}

// readAll reads what members and administrators see of a tournament, and returns the statuses by route.
func readAll(w *bestshottest.World, c *bestshottest.Tournament) map[string]int {
	w.T.Helper()

	all := map[string]int{}

	for route, user := range map[string]string{
		"":                              "ann",
		"/rounds":                       "ann",
		"/matches/1":                    "ann",
		"/standings":                    "ann",
		"/teams":                        "ann",
		"/leaderboard":                  "ann",
		"/leaderboard?around=me":        "ann",
		"/score":                        "ann",
		"/score/live":                   "ann",
		"/guess?round=1":                "ann",
		"/questions":                    "ann",
		"/admin/tournaments/executions": root,
	} {
		target := "/api/v2/tournaments/" + c.ID + route
		if user == root {
			target = "/api/v2/admin/tournaments/" + c.ID + "/executions"
		}

		all[route] = w.Ask(user, "GET", target, nil).StatusCode
	}

	return all
}

// leftOf returns what the database and the cache have of a tournament, whose matches have the ids of a list.
func leftOf(w *bestshottest.World, c *bestshottest.Tournament, matches []string) (left []string) {
	w.T.Helper()

	names, err := pg.Values[string](w.T.Context(), w.DB, `
SELECT table_name::text
FROM information_schema.tables
WHERE table_schema = 'public'
    AND table_type = 'BASE TABLE'
    AND table_name <> 'settlement_dlq'
ORDER BY table_name`)
	testkit.Must(w.T, err)

	for _, name := range names {
		n, _, err := pg.Value[int](w.T.Context(), w.DB,
			`SELECT count(*)::int FROM `+pgx.Identifier{name}.Sanitize()+` x WHERE to_jsonb(x)::text LIKE ANY($1)`,
			patterns(append(matches, c.ID)))
		testkit.Must(w.T, err)

		if n > 0 {
			left = append(left, fmt.Sprintf("%s: %d", name, n))
		}
	}

	for _, key := range w.Cache.Keys() {
		if strings.HasPrefix(key, "tournament:{"+c.ID) && !strings.HasSuffix(key, ":version") {
			left = append(left, key)
		}
	}

	return left
}

func patterns(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = "%" + id + "%"
	}

	return out
}

// fewRows opens a Deleter whose ranges have two rows, and whose messages seven ranges.
func fewRows(ctx context.Context, env app.Env) (*ingest.Deleter, error) {
	return ingest.OpenDeleterWith(ctx, env, 2, 7)
}

// finishDeletions deletes what is in the queue, and returns the number of messages.
func finishDeletions(w *bestshottest.World) int {
	w.T.Helper()
	s := testkit.Open(w.World, ingest.FinishDeletionFunction(), fewRows)

	return testkit.Drain(w.World, ingest.DeletionQueue, time.Hour,
		func(ctx context.Context, d ingest.Deletion) error { return s.FinishDeletion(ctx, d) })
}

// TestDeletedTournamentIsGone: it is hidden with the answer, in every list and from every job. Then its rows are
// deleted in ranges, and nothing is left, in the database or in the cache. Another tournament is as before. A
// tournament of the same season can be made at once.
func TestDeletedTournamentIsGone(t *testing.T) {
	t.Parallel()
	w, cup, other := played(t)
	matches := []string{w.MatchID(1), w.MatchID(2)}
	before, board := readAll(w, other), other.Board("ann")

	for route, status := range readAll(w, cup) {
		if status != 200 {
			t.Errorf("before: %q answers %d", route, status)
		}
	}

	w.Do(root, "DELETE", "/admin/tournaments/"+cup.ID, nil)

	hidden := readAll(w, cup)
	for route, status := range hidden {
		if status != 404 {
			t.Errorf("hidden: %q answers %d", route, status)
		}
	}

	for path, user := range map[string]string{"/tournaments": "ann", "/leagues": "ann", "/dashboard": "ann", "/admin/settlements": root} {
		if out := w.Do(user, "GET", path, nil); strings.Contains(out.Body, cup.ID) {
			t.Errorf("hidden: %s answers %s", path, out.Body)
		}
	}

	if out := w.Guess("ann", matches[0], 1, 0); out.StatusCode != 404 {
		t.Errorf("hidden: a guess is answered %d %s", out.StatusCode, out.Body)
	}

	// The same season again, with the same matches.
	again := w.Found("cup")
	w.Ingest(again.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(24*hour), provider.Open)))

	// An answer, and a message, of before.
	w.Ingest(cup.Feed("1", bestshottest.Fixture(2, bestshottest.Noon.Add(24*hour), provider.Open)))

	if n := finishDeletions(w); n < 3 {
		t.Errorf("%d messages, want some: a message deletes a few rows", n)
	}

	if left := leftOf(w, cup, matches); left != nil {
		t.Errorf("left of the tournament: %q", left)
	}

	if diff := cmp.Diff(hidden, readAll(w, cup)); diff != "" {
		t.Errorf("deleted (-hidden +got):\n%s", diff)
	}

	if diff := cmp.Diff(before, readAll(w, other)); diff != "" {
		t.Errorf("another tournament (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(board, other.Board("ann")); diff != "" {
		t.Errorf("the leaderboard of another tournament (-want +got):\n%s", diff)
	}

	if out := w.Do("ann", "GET", "/tournaments/"+again.ID+"/matches/1", nil); !strings.Contains(out.Body, "Home 1") {
		t.Errorf("the same season again: %s", out.Body)
	}

	w.Do(root, "DELETE", "/admin/tournaments/"+cup.ID, nil)

	if n := len(w.Queues.Messages(ingest.DeletionQueue.Name)); n != 0 {
		t.Errorf("a tournament that is gone: %d messages", n)
	}

	checkSums(t, w)
}

// TestTournamentWithGuessesStays: a tournament with guesses that is not cancelled is neither hidden nor deleted,
// whatever message comes.
func TestTournamentWithGuessesStays(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	if err := testkit.CheckProblemCode(w.Ask(root, "DELETE", "/api/v2/admin/tournaments/"+c.ID, nil), 409,
		"tournament_active"); err != nil {
		t.Error(err)
	}

	s := testkit.Open(w.World, ingest.FinishDeletionFunction(), fewRows)
	testkit.Must(t, s.FinishDeletion(w.NewContext(), ingest.Deletion{TournamentID: c.ID}))

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if err := s.FinishDeletion(w.NewContext(), ingest.Deletion{TournamentID: "1"}); problem.Of(err) != problem.Invalid {
		t.Errorf("a message of no tournament: %v", err)
	}
}

// TestLettersOfADeletedTournament are closed: their matches will not be settled.
func TestLettersOfADeletedTournament(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)

	_, err := pg.Do(t.Context(), w.DB, `INSERT INTO settlement_dlq (id, payload, reason) VALUES ('1', $1, 'x'), ('2', 'no job', 'x')`,
		w.Queues.Messages(settlement.Queue.Name)[0].Body)
	testkit.Must(t, err)

	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "cancelled"})
	w.Do(root, "DELETE", "/admin/tournaments/"+c.ID, nil)

	if diff := cmp.Diff(map[string][]string{"open": {"2"}, "closed": {"1"}}, letters(w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeletionWithoutTheCache: the answer says that copies may be shown, and no row is deleted before they are
// removed. The plan asks again for a deletion whose message was lost.
func TestDeletionWithoutTheCache(t *testing.T) {
	t.Parallel()
	w, cup, _ := played(t)
	matches := []string{w.MatchID(1), w.MatchID(2)}
	planner := testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner)

	w.Cache.SetError("ERR gone")

	if err := testkit.CheckProblemCode(w.Ask(root, "DELETE", "/api/v2/admin/tournaments/"+cup.ID, nil), 503,
		"cache_unavailable"); err != nil {
		t.Error(err)
	}

	s := testkit.Open(w.World, ingest.FinishDeletionFunction(), fewRows)
	if err := s.FinishDeletion(w.NewContext(), ingest.Deletion{TournamentID: cup.ID}); problem.Of(err) != problem.Unavailable {
		t.Errorf("without the cache: %v", err)
	}

	w.Cache.SetError("")
	w.Clear(ingest.DeletionQueue) // the message is lost

	for _, c := range []struct {
		after    time.Duration
		messages int
	}{{10 * time.Minute, 0}, {6 * time.Minute, 1}} {
		w.MoveClock(w.Clock.Now().Add(c.after))
		testkit.Must(t, planner.PlanPolls(w.NewContext()))

		if n := len(w.Queues.Messages(ingest.DeletionQueue.Name)); n != c.messages {
			t.Errorf("after %s: %d messages, want %d", c.after, n, c.messages)
		}
	}

	finishDeletions(w)

	if left := leftOf(w, cup, matches); left != nil {
		t.Errorf("left of the tournament: %q", left)
	}
}

// TestDeletionCrashes: a request, or a message, that crashes before or after any I/O call, and runs again,
// leaves nothing of the tournament.
func TestDeletionCrashes(t *testing.T) {
	t.Parallel()

	for name, run := range map[string]func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error{
		"request": func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error {
			s := testkit.OpenWith(w.World, env(ingest.DeleteTournamentFunction()), ingest.OpenAdmin)
			_, err := s.DeleteTournament(w.NewContext(), &ingest.DeleteTournament{TournamentID: c.ID})

			return err
		},
		"message": func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error {
			w.Do(root, "DELETE", "/admin/tournaments/"+c.ID, nil)
			w.Clear(ingest.DeletionQueue)

			s := testkit.OpenWith(w.World, env(ingest.FinishDeletionFunction()), ingest.OpenDeleter)

			return s.FinishDeletion(w.NewContext(), ingest.Deletion{TournamentID: c.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
				w := bestshottest.New(t)
				w.Register("ann")

				c := w.Found("cup")
				w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))

				match := w.MatchID(1)
				w.Guess("ann", match, 1, 0)
				w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "cancelled"})
				w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil) // fills the cache

				err := run(w, c, func(fn app.Function) app.Env { return w.CrashingEnv(fn, p) })
				if p.Ended(err, dynamotest.CacheCall) { // the client survives the loss of what it asks a new connection
					awaitRollback(w, "tournament")
					testkit.Must(t, run(w, c, w.Env))
				}

				finishDeletions(w)

				return leftOf(w, c, []string{match})
			})
		})
	}
}

// TestRowsOfMembersGoInRanges: each table with rows of a member and a match, or a tournament, is one of which
// finish-deletion deletes ranges: the last statement would delete them at once.
func TestRowsOfMembersGoInRanges(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	got, err := pg.Values[string](t.Context(), w.DB, `
SELECT table_name::text
FROM information_schema.columns
WHERE table_schema = 'public'
GROUP BY table_name
HAVING bool_or(column_name = 'member_id')
    AND bool_or(column_name IN ('match_id', 'tournament_id'))
ORDER BY table_name`)
	testkit.Must(t, err)

	want := map[string]bool{
		"guess": true, "reminder": true, "round_score": true, "scoreboard_ledger": true, "tournament_scoreboard": true,
		"joker":           true,
		"question":        true, // at most 10 of a tournament
		"question_answer": true, "question_ledger": true,
		"settling": true, "repair": true, "reminder_pass": true, "points_pass": true, // few rows of a match, or one of a tournament
	}

	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), got); diff != "" {
		t.Errorf("see ingest.Deleter (-want +got):\n%s", diff)
	}
}

// TestDeletionReadsByIndexes: neither a range nor a reference to what is deleted reads a whole table.
func TestDeletionReadsByIndexes(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	all := statements(t)

	const id = "58de2f1b-1374-4c92-bd53-23a81943de4b"

	for name, part := range map[string]string{
		"DeleteGuesses": id, "DeleteLedger": id, "DeleteReminders": id, "DeleteRoundScores": "1", "DeleteScoreboard": "", "DeleteFollows": "",
		"DeleteAnswers": "", "DeleteQuestionLedger": "",
	} {
		testkit.Must(t, w.DB.Tx(t.Context(), func(tx pgx.Tx) error {
			if _, err := pg.Do(t.Context(), tx, all["ingest.PrepareDeletion"]); err != nil {
				return err
			}

			plan, err := pg.Values[string](t.Context(), tx, "EXPLAIN "+all["ingest."+name], id, part, 5000)
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
				t.Errorf("%s reads a whole table:\n%s", name, text)
			}

			return err
		}))
	}

	without, err := pg.Values[string](t.Context(), w.DB, `
SELECT c.conrelid::regclass || ': ' || c.conname
FROM pg_constraint c
WHERE c.contype = 'f'
    AND c.confrelid IN ('tournament'::regclass, 'tournament_round'::regclass, 'match'::regclass)
    AND NOT EXISTS (
        SELECT
        FROM pg_index i
        WHERE i.indrelid = c.conrelid
            AND i.indpred IS NULL
            AND i.indkey[0] = ANY(c.conkey)
    )`)
	testkit.Must(t, err)

	if len(without) > 0 {
		t.Errorf("references without an index: %q", without)
	}
}
