package bestshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// fillBoard puts n members into the leaderboard of a tournament: member 1 is the first, and so many each
// have the same points.
func fillBoard(w *bestshottest.World, c *bestshottest.Tournament, n, each int) {
	w.T.Helper()

	// The second statement, and its checks, are planned for the members that are there: a plan that was made for
	// none reads all members for each row.
	do := func(statement string, args ...any) {
		w.T.Helper()

		_, err := pg.Do(w.T.Context(), w.DB, statement, args...)
		testkit.Must(w.T, err)
	}

	do(`
INSERT INTO member (public_id, nick_name)
SELECT 'u' || n, 'nick' || lpad(n::text, 6, '0')
FROM generate_series(1, $1) n`, n)
	do(`ANALYZE member`)

	for from := 1; from <= n; from += filled {
		do(`
INSERT INTO tournament_scoreboard (tournament_id, member_id, nick_name, points)
SELECT $1, m.id, m.nick_name, $2::int - (n - 1) / $3
FROM generate_series($4::int, least($4 + $5 - 1, $2)) n
JOIN member m ON m.public_id = 'u' || n`, c.ID, n, each, from, filled)
	}

	do(`ANALYZE tournament_scoreboard`)
}

// filled is how many members a statement adds, so that none reaches the time limit of statements.
const filled = 5_000

// fill adds rows without checking that others exist to which they refer: that takes most of the time.
func fill(w *bestshottest.World, sql string, args ...any) {
	w.T.Helper()
	testkit.Must(w.T, w.DB.Tx(w.T.Context(), func(tx pgx.Tx) error {
		_, err := pg.Do(w.T.Context(), tx, `SET LOCAL session_replication_role = replica`)
		if err == nil {
			_, err = pg.Do(w.T.Context(), tx, sql, args...)
		}

		return err
	}))
}

// TestPageAroundTheCaller: 25 members above and 25 below, fewer at the ends. The caller's place is in
// meta, and the score has the same rank.
func TestPageAroundTheCaller(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	w.Register("zed")
	fillBoard(w, c, 200, 10)

	for _, want := range []struct{ caller, first, last, members int }{
		{1, 1, 51, 51}, {25, 1, 51, 51}, {26, 1, 51, 51}, {27, 2, 52, 51}, {100, 75, 125, 51}, {190, 165, 200, 36}, {200, 175, 200, 26},
	} {
		user := fmt.Sprint("u", want.caller)
		p := testkit.Decode[view.LeaderboardPage](w.World, w.Do(user, "GET", "/tournaments/"+c.ID+"/leaderboard?around=me", nil))
		name := func(n int) string { return fmt.Sprintf("nick%06d", n) }

		if len(p.Data) != want.members || p.Data[0].NickName != name(want.first) || p.Data[len(p.Data)-1].NickName != name(want.last) {
			t.Errorf("around %d: %d members from %s to %s, want %+v", want.caller, len(p.Data), p.Data[0].NickName,
				p.Data[len(p.Data)-1].NickName, want)
		}

		rank := (want.caller-1)/10 + 1
		if p.Meta.Me == nil || p.Meta.Me.NickName != name(want.caller) || p.Meta.Me.Rank != rank {
			t.Errorf("around %d the caller is %+v, want rank %d", want.caller, p.Meta.Me, rank)
		}

		score := testkit.Decode[struct {
			Rank    *int
			Members int
		}](w.World, w.Do(user, "GET", "/tournaments/"+c.ID+"/score", nil))
		if score.Rank == nil || *score.Rank != rank || score.Members != 200 {
			t.Errorf("the score of %d is %s of %d, want rank %d of 200", want.caller, ints(score.Rank), score.Members, rank)
		}

		if p.Meta.Next != "" { // the page goes on where the cursor says
			next := testkit.Decode[view.LeaderboardPage](w.World, w.Do(user, "GET", "/tournaments/"+c.ID+"/leaderboard?cursor="+p.Meta.Next, nil))
			if next.Data[0].NickName != name(want.last+1) {
				t.Errorf("after the page around %d comes %s, want %s", want.caller, next.Data[0].NickName, name(want.last+1))
			}
		}
	}

	p := testkit.Decode[view.LeaderboardPage](w.World, w.Do("zed", "GET", "/tournaments/"+c.ID+"/leaderboard?around=me", nil))
	if len(p.Data) != 0 || p.Meta.Me != nil {
		t.Errorf("around a member who is not in it: %+v", p)
	}

	if err := testkit.CheckProblemCode(w.Ask("nobody", "GET", "/api/v2/tournaments/"+c.ID+"/leaderboard?around=me", nil), 404,
		"member_not_found"); err != nil {
		t.Error(err)
	}
}

// TestTieBreaks: of members with equal points the one with more exact scores is first, then the one with
// more right outcomes, if the rule of the tournament says so.
func TestTieBreaks(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false) // 1:0, guessed 2:0 by ann and 0:0 by bob
	w.Settle()
	w.Register("cyd")

	set := func(tieBreaks bool) {
		w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]any{"rule": map[string]any{
			"outcome": 0, "homeScore": 0, "awayScore": 1, "goalDifference": 0, "exactScore": 0, "tieBreaks": tieBreaks,
		}})
		w.Settle()
		checkSums(t, w)
	}

	set(false)

	if diff := cmp.Diff([]string{"1 ann 1", "1 bob 1"}, c.Board("ann")); diff != "" {
		t.Errorf("without tie-breakers (-want +got):\n%s", diff)
	}

	set(true)

	if diff := cmp.Diff([]string{"1 ann 1", "2 bob 1"}, c.Board("ann")); diff != "" {
		t.Errorf("with tie-breakers (-want +got):\n%s", diff)
	}

	set(false)

	if diff := cmp.Diff([]string{"1 ann 1", "1 bob 1"}, c.Board("ann")); diff != "" {
		t.Errorf("without tie-breakers again (-want +got):\n%s", diff)
	}
}

// TestTableOfALeagueNamesWhatItHas: the tournament must be one that the league follows, and the round one
// of the tournament's. Nothing is kept in the cache of others.
func TestTableOfALeagueNamesWhatItHas(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	l := "/leagues/" + testkit.Decode[struct{ ID string }](w.World, w.Do("ann", "POST", "/leagues", map[string]string{"name": "Office"})).ID
	other := w.Found("other")
	w.Do("ann", "PATCH", l+"/tournaments", map[string]any{"tournaments": []string{c.ID}})

	for query, want := range map[string]string{
		"tournament=" + c.ID:              "",
		"tournament=" + c.ID + "&round=1": "",
		"tournament=" + c.ID + "&round=9": "query.round",
		"tournament=" + other.ID:          "query.tournament",
		"round=1":                         "query.tournament",
	} {
		out := w.Ask("ann", "GET", "/api/v2"+l+"/score?"+query, nil)
		if want == "" && out.StatusCode != 200 || want != "" && !strings.Contains(out.Body, `"`+want+`"`) {
			t.Errorf("%s: %d %s, want %q", query, out.StatusCode, out.Body, want)
		}
	}

	for _, key := range w.Cache.Keys() {
		if strings.Contains(key, other.ID) || strings.HasSuffix(key, ":9") {
			t.Errorf("the cache has %s", key)
		}
	}
}

// TestPlans: no statement that members wait for reads all members or all guesses, however many there are.
// None sorts them either.
func TestPlans(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("200,000 members")
	}

	w := bestshottest.New(t)
	c := w.Found("cup")
	fillBoard(w, c, 200_000, 1000)

	_, err := pg.Do(t.Context(), w.DB, `
INSERT INTO tournament_round (tournament_id, slug, "order", label, type, provider_path)
VALUES ($1, '1', 1, '1', 'season', 'x')`, c.ID)
	testkit.Must(t, err)

	_, err = pg.Do(t.Context(), w.DB, `
WITH t AS (
    INSERT INTO team (provider, external_id, name) VALUES ('p', '1', 'A'), ('p', '2', 'B') RETURNING id
)
INSERT INTO match (tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team)
SELECT $1, '1', 'p', n::text, now() + interval '1 day', 'open', 's', min(t.id::text)::uuid, max(t.id::text)::uuid
FROM t
CROSS JOIN generate_series(1, 2) n
GROUP BY n`, c.ID)
	testkit.Must(t, err)

	_, err = pg.Do(t.Context(), w.DB, `
INSERT INTO question (tournament_id, slug, "order", text, points, kind, choices)
VALUES ($1, 'champion', 1, 'Who?', 10, 'choice', '{A}')`, c.ID)
	testkit.Must(t, err)

	for from := 0; from < 200_000; from += filled {
		fill(w, `
WITH a AS (
    INSERT INTO question_answer (tournament_id, slug, member_id, answer, stored_at)
    SELECT $1, 'champion', id, 'A', now() FROM member ORDER BY id OFFSET $2 LIMIT $3
    RETURNING tournament_id, slug, member_id
)
INSERT INTO question_ledger (tournament_id, slug, member_id, version, points_earned)
SELECT tournament_id, slug, member_id, 1, 0 FROM a`, c.ID, from, filled)
		fill(w, `
INSERT INTO guess (match_id, member_id, home_score, away_score)
SELECT m.id, p.id, 1, 0
FROM match m
CROSS JOIN (SELECT id FROM member ORDER BY id OFFSET $2 LIMIT $3) p
WHERE m.tournament_id = $1`, c.ID, from, filled)
	}

	league, _, err := pg.Value[string](t.Context(), w.DB, `
WITH l AS (
    INSERT INTO league (name, code) VALUES ('L', 'LLLLLLLL') RETURNING id
),
r AS (
    INSERT INTO league_role (league_id, member_id, role)
    SELECT l.id, p.id, 'member'
    FROM l
    CROSS JOIN (SELECT id FROM member ORDER BY id LIMIT 10000) p
),
f AS (
    INSERT INTO league_tournament (league_id, tournament_id) SELECT l.id, $1 FROM l
),
m AS (
    UPDATE match
    SET date = now() - interval '1 hour',
        live_home = 1,
        live_away = 0,
        live_at = now()
    WHERE tournament_id = $1
        AND external_id = '1'
)
SELECT id::text FROM l`, c.ID)
	testkit.Must(t, err)

	_, err = pg.Do(t.Context(), w.DB, `ANALYZE`)
	testkit.Must(t, err)

	match, _, err := pg.Value[string](t.Context(), w.DB, `SELECT id::text FROM match LIMIT 1`)
	testkit.Must(t, err)

	member, _, err := pg.Value[string](t.Context(), w.DB, `SELECT id::text FROM member WHERE public_id = 'u100000'`)
	testkit.Must(t, err)

	all := statements(t)

	for name, args := range map[string][]any{
		"view.ListLeaderboard":     {c.ID, int64(-150_000), "nick", member, 101},
		"view.GetPlace":            {c.ID, member},
		"view.FindAbove":           {c.ID, int64(-150_000), "nick", member, 26},
		"view.GetLeaderboardState": {c.ID},
		"guess.PutGuess":           {[]string{match}, "u7", []int{1}, []int{2}},
		"guess.ListGuessesOf":      {[]string{match}, []string{member}, "u7"},
		"guess.ListGuesses":        {c.ID, "1", member},
		"guess.ListGuessers":       {match, member, 101},
		"guess.PutJoker":           {c.ID, "1", match, "u7"},
		"guess.GetBacklog":         {c.ID, member},
		"guess.ListLivePoints":     {c.ID, member},
		"guess.GetRankOfScore":     {c.ID, int64(300_000_000)},
		"view.ListLiveLeagueTable": {league, c.ID, ""},
		"settlement.SettleRange":   {match, c.ID, 1, 1, 0, 1, 1, false, "1", true, nil, member, 5000},
		"settlement.RepairPoints":  {c.ID, member, member},
		"settlement.CountMembers":  {c.ID},
		"notice.FindRangeEnd":      {member, 5000},
		"notice.ClaimRange":        {c.ID, []string{match}, 86400.0, "24h", member, member},
		"notice.FindPointsEnd":     {[]string{match, match}, member, 5000},
		"notice.ListPoints":        {c.ID, []string{match, match}, member, member},
		"member.LockMember":        {"u7", 86400.0},
		"member.RenameMember":      {member, "x", 0},

		"question.ListQuestions": {c.ID, member},
		"question.PutAnswer":     {c.ID, "champion", "A", "u7"},
		"question.SettleRange":   {c.ID, "champion", 1, 10, []string{"A"}, nil, member, 5000},

		"tournament.GetNextDeadline": {member},
		"guess.ListLeagueGuessers":   {match, match, member, 101},
		"view.ListLeagueFinal":       {match, c.ID},
		"league.ListHistory":         {match, "", 100},
	} {
		var plan []string

		testkit.Must(t, w.DB.Tx(t.Context(), func(tx pgx.Tx) (err error) {
			switch name {
			case "settlement.SettleRange", "question.SettleRange":
				_, err = pg.Do(t.Context(), tx, all["settlement.PrepareRange"], "1s")
			case "notice.ClaimRange", "notice.ListPoints":
				_, err = pg.Do(t.Context(), tx, all["notice.PrepareRange"])
			case "settlement.RepairPoints":
				_, err = pg.Do(t.Context(), tx, all["settlement.PrepareRepair"])
			}

			testkit.Must(t, err)

			plan, err = pg.Values[string](t.Context(), tx, "EXPLAIN "+all[name], args...)

			return err
		}))

		text := strings.Join(plan, "\n")
		for _, table := range []string{"member", "guess", "tournament_scoreboard", "question_answer", "question_ledger"} {
			if strings.Contains(text, "Seq Scan on "+table+" ") {
				t.Errorf("%s reads all of %s:\n%s", name, table, text)
			}
		}

		if name == "view.FindAbove" && strings.Contains(text, "Sort") {
			t.Errorf("%s sorts members:\n%s", name, text)
		}
	}
}

// statements returns the statements of the room, by package and name.
func statements(t *testing.T) map[string]string {
	t.Helper()

	all := map[string]string{}

	for _, name := range []string{"guess", "ingest", "league", "member", "notice", "question", "settlement", "tournament", "view"} {
		text, err := os.ReadFile(filepath.Join(name, name+".sql"))
		testkit.Must(t, err)

		parsed, err := pg.ParseStatements(string(text))
		testkit.Must(t, err)

		for _, s := range parsed {
			all[name+"."+s.Name] = s.SQL
		}
	}

	return all
}
