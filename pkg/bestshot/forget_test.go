package bestshot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/pg"
)

// known returns a world in which ann has a row in every table with data of members, and bob is in her
// league.
func known(t testing.TB) (*bestshottest.World, *bestshottest.Tournament) {
	t.Helper()
	w, c := ended(t, false)
	w.WithAPNs(notice.APNSKey, notice.APNSBundle)
	w.Settle()
	l := testkit.Decode[league.League](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Admin"}))
	w.Do("bob", "POST", "/leagues/invitation", map[string]string{"code": l.Code})
	w.Do("ann", "POST", "/devices", map[string]string{"deviceToken": phone("a")})
	w.Ask("ann", "POST", "/api/v2/leagues/invitation", map[string]string{"code": "00000000"})
	leaveFinished(w, "ann", c.ID)

	_, err := pg.Do(t.Context(), w.DB, `
INSERT INTO reminder (member_id, match_id, kind)
SELECT member_id, match_id, '0'
FROM guess`)
	testkit.Must(t, err)

	_, err = pg.Do(t.Context(), w.DB, `
INSERT INTO joker (tournament_id, round_slug, member_id, match_id, set_at)
SELECT m.tournament_id, m.round_slug, g.member_id, m.id, now()
FROM guess g
JOIN match m ON m.id = g.match_id`)
	testkit.Must(t, err)

	plantAnswers(w)

	_, err = pg.Do(t.Context(), w.DB, `UPDATE question SET decided_by = 'ann'`)
	testkit.Must(t, err)

	return w, c
}

// exported returns the document that the room exports about a user.
func exported(t testing.TB, w *bestshottest.World, user string) (document map[string]any) {
	t.Helper()

	s := testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open)
	testkit.Must(t, s.ExportUser(w.NewContext(), account.Request{Job: "J", UserID: user}))
	server := httptest.NewServer(w.Files)
	t.Cleanup(server.Close)

	cfg := w.AWS.Copy()
	cfg.BaseEndpoint = &server.URL
	text, err := object.Open(cfg, account.Exports.Name).Get(t.Context(), account.PartKey("bestshot", "J"))
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(text, &document))

	return document
}

// traces returns the tables with a row that contains the id of a member, or of a user.
func traces(w *bestshottest.World, memberID, userID string) (all []string) {
	w.T.Helper()
	names, err := pg.Values[string](w.T.Context(), w.DB, `
SELECT table_name::text
FROM information_schema.tables
WHERE table_schema = 'public'
    AND table_type = 'BASE TABLE'
    AND table_name NOT LIKE 'goose%'
ORDER BY 1`)
	testkit.Must(w.T, err)

	for _, name := range names {
		n, _, err := pg.Value[int](w.T.Context(), w.DB, `
SELECT count(*)::int
FROM `+name+` r
WHERE to_jsonb(r)::text LIKE '%' || $1 || '%'
    OR to_jsonb(r)::text LIKE '%"' || $2 || '"%'`, memberID, userID)
		testkit.Must(w.T, err)

		if n > 0 {
			all = append(all, name)
		}
	}

	for _, r := range testkit.Rows[map[string]any](w.World, tables.Devices) {
		if strings.Contains(fmt.Sprint(r), userID) {
			all = append(all, tables.Devices.Name)
			break
		}
	}

	return all
}

func memberID(w *bestshottest.World, user string) string {
	w.T.Helper()
	id, _, err := pg.Value[string](w.T.Context(), w.DB, `SELECT id::text FROM member WHERE public_id = $1`, user)
	testkit.Must(w.T, err)

	return id
}

// TestExportHasAllThatIsKept: each table with a row of the user is a part of the document.
func TestExportHasAllThatIsKept(t *testing.T) {
	t.Parallel()
	w, _ := known(t)
	parts := map[string]string{
		"member": "member", "guess": "guesses", "joker": "jokers", "scoreboard_ledger": "ledger", "tournament_scoreboard": "points", "round_score": "roundPoints",
		"league_role": "leagues", "reminder": "reminders", "wrong_code": "refusedCodes", "bestshot-devices": "phones",
		"league_left": "formerLeagues", "question_answer": "answers", "question_ledger": "questionPoints", "question": "corrections",
	}

	document := exported(t, w, "ann")
	for _, table := range traces(w, memberID(w, "ann"), "ann") {
		part, ok := document[parts[table]].([]any)
		if !ok || len(part) == 0 {
			t.Errorf("the table %s keeps something of the user, and the export has no %q", table, parts[table])
		}

		delete(parts, table)
	}

	if len(parts) > 0 {
		t.Errorf("the test plants nothing in %v", parts)
	}

	if got := exported(t, w, "nobody"); len(got["member"].([]any)) != 0 {
		t.Errorf("of nobody: %v", got)
	}
}

// TestForgottenUser: no data of the user is left, others keep theirs, the league has another
// administrator, and the user can write nothing.
func TestForgottenUser(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	ann := memberID(w, "ann")

	s := testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open)
	for range 2 {
		testkit.Must(t, s.ForgetUser(w.NewContext(), account.Request{Job: "J", UserID: "ann"}))
	}

	if diff := cmp.Diff([]string{"forgotten"}, traces(w, ann, "ann")); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"1 bob 0"}, c.Board("bob")); diff != "" {
		t.Errorf("the leaderboard (-want +got):\n%s", diff)
	}

	leagues := testkit.Decode[struct{ Data []league.League }](w.World, w.Do("bob", "GET", "/leagues", nil)).Data
	if len(leagues) != 1 || leagues[0].Role != "admin" || leagues[0].Members != 1 {
		t.Errorf("the leagues of bob are %+v", leagues)
	}

	if err := testkit.CheckProblemCode(w.Ask("ann", "POST", "/api/v2/member", map[string]string{"nickName": "ann"}), 401,
		"account_deleted"); err != nil {
		t.Error(err)
	}

	if n := len(testkit.Messages[account.Done](w.World, account.DoneQueue)); n != 2 {
		t.Errorf("%d confirmations, want 2", n)
	}
}

// TestForgottenUserIsInNoLeaderboard: if the first run crashes before it invalidates the leaderboards,
// the second invalidates all, also those of tournaments that are over.
func TestForgottenUserIsInNoLeaderboard(t *testing.T) {
	t.Parallel()
	w, c := known(t)
	c.Board("bob")

	_, err := pg.Do(t.Context(), w.DB, `UPDATE tournament SET status = 'completed'`)
	testkit.Must(t, err)

	s := testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open)
	w.Cache.SetError("ERR gone")

	if err := s.ForgetUser(w.NewContext(), account.Request{Job: "J", UserID: "ann"}); err == nil {
		t.Error("without the cache it is done")
	}

	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, s.ForgetUser(w.NewContext(), account.Request{Job: "J", UserID: "ann"}))

	if diff := cmp.Diff([]string{"1 bob 0"}, c.Board("bob")); diff != "" {
		t.Errorf("the leaderboard (-want +got):\n%s", diff)
	}
}

// TestDeletedUserWritesNothing: from the deletion of the account on, before the room has deleted the
// data.
func TestDeletedUserWritesNothing(t *testing.T) {
	t.Parallel()
	w, _ := known(t)
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann"})

	m := w.MatchID(1)
	for _, r := range []struct {
		method, target string
		body           any
	}{
		{"POST", "/member", map[string]string{"nickName": "x"}}, {"PATCH", "/member", map[string]string{"nickName": "x"}},
		{"POST", "/guess", map[string]any{"matchId": m, "home": map[string]int{"score": 1}, "away": map[string]int{"score": 1}}},
		{"POST", "/leagues", map[string]string{"name": "x"}}, {"POST", "/leagues/invitation", map[string]string{"code": "x"}},
		{"PATCH", "/leagues/" + m + "/tournaments", map[string][]string{"tournaments": {}}},
		{"POST", "/devices", map[string]string{"deviceToken": phone("c")}},
	} {
		if err := testkit.CheckProblemCode(w.Ask("ann", r.method, "/api/v2"+r.target, r.body), 401, "account_deleted"); err != nil {
			t.Errorf("%s %s: %v", r.method, r.target, err)
		}
	}
}

// TestForgetUserCrashes: a deletion that crashes before or after any I/O call, and runs again, leaves
// nothing.
func TestForgetUserCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
		w, c := known(t)
		ann := memberID(w, "ann")

		c.Board("bob") // fills the cache

		request := account.Request{Job: "J", UserID: "ann"}

		err := testkit.OpenWith(w.World, w.CrashingEnv(userdata.ForgetUserFunction(), p), userdata.Open).ForgetUser(w.NewContext(),
			request)
		if p.Ended(err, dynamotest.CacheCall) {
			testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), request))
		}

		return []any{traces(w, ann, "ann"), c.Board("bob"), len(testkit.Messages[account.Done](w.World, account.DoneQueue)) > 0}
	})
}

// TestMessageTenTimes: ten runs for one message at the same time apply the points once.
func TestMessageTenTimes(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	done := make(chan error)

	for range 10 {
		s := testkit.Open(w.World, settlement.SettleMatchesFunction(), settlement.Open)
		go func() { done <- s.SettleMatch(context.WithoutCancel(t.Context()), m) }()
	}

	for range 10 {
		testkit.Must(t, <-done)
	}

	if diff := cmp.Diff([]string{"ann 1 3", "bob 1 0"}, ledger(w)); diff != "" {
		t.Errorf("the ledger (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(settledOnce, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
