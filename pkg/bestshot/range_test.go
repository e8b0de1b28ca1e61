package bestshot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/question"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
)

// checkSums checks what must hold after each transaction: the scoreboard is the sum of the ledgers, and
// the histograms are the counts of the scoreboard.
func checkSums(t testing.TB, w *bestshottest.World) {
	t.Helper()

	wrong, err := pg.Values[string](w.T.Context(), w.DB, `
WITH ledger AS (
    SELECT tournament_id, member_id, sum(points_earned)::int AS points, sum(tie_earned)::int AS tie
    FROM (
        SELECT tournament_id, member_id, points_earned, tie_earned
        FROM scoreboard_ledger
        UNION ALL
        SELECT tournament_id, member_id, points_earned, 0
        FROM question_ledger
    ) l
    GROUP BY 1, 2
),
counts AS (
    SELECT s.tournament_id, score(s.points, s.tie) AS score, count(*)::int AS members
    FROM tournament_scoreboard s
    GROUP BY 1, 2
),
counts_before AS (
    SELECT
        s.tournament_id,
        score_before(s.points, s.tie, s.round_slug, s.round_points, s.round_tie, t.current_round) AS score,
        count(*)::int AS members
    FROM tournament_scoreboard s
    JOIN tournament t ON t.id = s.tournament_id
    GROUP BY 1, 2
)
SELECT 'points ' || concat_ws(' ', l.points, l.tie, s.points, s.tie)
FROM ledger l
FULL JOIN tournament_scoreboard s USING (tournament_id, member_id)
WHERE (l.points, l.tie) IS DISTINCT FROM (s.points, s.tie)
UNION ALL
SELECT 'now ' || concat_ws(' ', score, h.members, c.members)
FROM scoreboard_points h
FULL JOIN counts c USING (tournament_id, score)
WHERE h.members IS DISTINCT FROM c.members
UNION ALL
SELECT 'before ' || concat_ws(' ', score, h.members, c.members)
FROM scoreboard_before h
FULL JOIN counts_before c USING (tournament_id, score)
WHERE h.members IS DISTINCT FROM c.members
UNION ALL
SELECT 'round ' || concat_ws(' ', s.round_points, r.points)
FROM tournament_scoreboard s
JOIN tournament t ON t.id = s.tournament_id
LEFT JOIN round_score r ON r.tournament_id = t.id AND r.round_slug = t.current_round AND r.member_id = s.member_id
WHERE coalesce(r.points, 0) <> CASE WHEN s.round_slug = t.current_round THEN s.round_points ELSE 0 END`)
	if err != nil {
		t.Fatal(err)
	}

	if len(wrong) > 0 {
		t.Fatalf("sums differ: %q", wrong)
	}
}

// fewAtATime opens a worker that settles ranges of two guesses, at most one range a message.
func fewAtATime(ctx context.Context, env app.Env) (*settlement.Worker, error) {
	return settlement.OpenWith(ctx, env, 2, 1)
}

// TestSettlementInRanges: a message settles a part, says how far it is, and sends itself again. Cached
// pages show the points of before until the last range.
func TestSettlementInRanges(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	users := []string{"ann", "bob", "cyd", "dee", "eve"}
	w.Register(users...)

	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	for i, u := range users {
		w.Guess(u, w.MatchID(1), i%2, 0)
	}

	c.Board("ann") // fills the cache
	w.MoveClock(kickOff.Add(2 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0)))

	s := testkit.Open(w.World, settlement.SettleMatchesFunction(), fewAtATime)
	m := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)[0]
	w.Clear(settlement.Queue)

	page := func() view.LeaderboardPage {
		return testkit.Decode[view.LeaderboardPage](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/leaderboard", nil))
	}

	for _, want := range []struct {
		members, messages int
		updating          string
	}{{2, 1, "0.4"}, {4, 1, "0.8"}, {5, 0, "-"}} {
		if p := page(); cached(w, c) != "" && len(p.Data) != 0 {
			t.Errorf("before the range of the members up to %d the cached page has %d", want.members, len(p.Data))
		}

		testkit.Must(t, s.SettleMatch(w.NewContext(), m))
		checkSums(t, w)

		if got := len(w.Queues.Messages(settlement.Queue.Name)); got != want.messages {
			t.Fatalf("%d members are settled: %d messages, want %d", want.members, got, want.messages)
		}

		w.Clear(settlement.Queue)
		w.Cache.FlushAll()

		p, updating := page(), "-"
		if p.Meta.Updating != nil {
			updating = fmt.Sprint(*p.Meta.Updating)
		}

		if len(p.Data) != want.members || updating != want.updating {
			t.Errorf("%d members, updating %s; want %+v", len(p.Data), updating, want)
		}

		if stored := cached(w, c) != ""; stored != (updating == "-") {
			t.Errorf("updating %s: the cache has %q", updating, cached(w, c))
		}
	}

	if diff := cmp.Diff([]string{"1 bob 3", "1 dee 3", "2 ann 0", "2 cyd 0", "2 eve 0"}, c.Board("ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRepairGoesOn: a repair whose time is over answers so, and the same request goes on.
func TestRepairGoesOn(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	_, err := pg.Do(t.Context(), w.DB, `UPDATE tournament_scoreboard SET points = 77`)
	testkit.Must(t, err)

	admin := testkit.Open(w.World, settlement.HydrateScoreboardFunction(), settlement.OpenAdmin)
	short, cancel := context.WithTimeout(w.NewContext(), 10*time.Second) // less than is kept in reserve
	defer cancel()

	for _, want := range []struct {
		ctx      context.Context
		partly   bool
		repaired int64
	}{{short, true, 0}, {w.NewContext(), false, 2}, {w.NewContext(), false, 0}} {
		out, err := admin.HydrateScoreboard(want.ctx, &settlement.HydrateOne{TournamentID: c.ID})
		testkit.Must(t, err)

		if out.Body.Partly != want.partly || out.Body.Tournaments[0].Repaired != want.repaired {
			t.Errorf("%+v, want %+v", out.Body, want)
		}
	}

	checkSums(t, w)
}

// TestSumsHold: whatever is settled, corrected, void, ruled, renamed, forgotten and repaired, in whatever
// order and however far, sums and histograms hold. In the end each member has the points of the rule.
func TestSumsHold(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	worker := testkit.Open(w.World, settlement.SettleMatchesFunction(), fewAtATime)
	admin := testkit.Open(w.World, settlement.HydrateScoreboardFunction(), settlement.OpenAdmin)
	ingester := testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open)
	users := []string{"ann", "bob", "cyd", "dee", "eve"}
	checks := 0

	rapid.Check(t, func(r *rapid.T) {
		checks++
		w.Register(users...)

		c := w.Found(fmt.Sprint("cup-", checks))
		kickOff := w.Clock.Now().Add(hour)
		goals := rapid.IntRange(0, 2)
		first := 10 * checks
		store := func(i int, f provider.Fixture) {
			testkit.Must(t, ingester.IngestFeed(w.NewContext(), c.Feed(fmt.Sprint(i/2+1), f)))
			w.MoveClock(w.Clock.Now().Add(time.Second))
		}

		for i := range 4 { // two rounds of two matches
			store(i, bestshottest.Fixture(first+i, kickOff, provider.Open))

			for _, u := range users {
				if rapid.Bool().Draw(r, "guesses") {
					w.Guess(u, w.MatchID(first+i), goals.Draw(r, "home"), goals.Draw(r, "away"))
				}
			}
		}

		w.Do(root, "PUT", "/admin/tournaments/"+c.ID+"/questions", map[string]any{"questions": asked})

		for _, u := range users {
			if rapid.Bool().Draw(r, "answers") {
				answer(w, c, u, "scorer", rapid.SampledFrom(asked[1].Choices).Draw(r, "answer"))
			}
		}

		w.MoveClock(kickOff.Add(2 * hour))

		asker := testkit.Open(w.World, question.SettleQuestionFunction(), func(ctx context.Context, env app.Env) (*question.Worker, error) {
			return question.OpenWorkerWith(ctx, env, 2, 1)
		})
		apply := func() {
			testkit.Must(t, asker.SettleQuestion(w.NewContext(), question.Decided{TournamentID: c.ID, Slug: "scorer"}))
			w.Clear(question.Queue)
		}

		settle := func(i int) {
			testkit.Must(t, worker.SettleMatch(w.NewContext(), settlement.MatchFinished{
				EventType: settlement.EventType, MatchID: w.MatchID(first + i), TournamentID: c.ID, FinishedAt: w.Clock.Now(),
				Provider: "p", ProviderStatus: "s", InternalStatus: settlement.Ended, DetectedAt: w.Clock.Now(),
			}))
			w.Clear(settlement.Queue)
		}

		for range rapid.IntRange(5, 15).Draw(r, "steps") {
			i := rapid.IntRange(0, 3).Draw(r, "match")

			switch rapid.IntRange(0, 11).Draw(r, "step") {
			case 0, 1, 2, 3, 4:
				settle(i)
			case 5, 6:
				store(i, bestshottest.Fixture(first+i, kickOff, provider.Ended, goals.Draw(r, "home"), goals.Draw(r, "away")))
			case 7:
				body := map[string]any{"void": true}
				if rapid.Bool().Draw(r, "result") {
					body = map[string]any{"home": goals.Draw(r, "home"), "away": goals.Draw(r, "away")}
				}

				w.Do(root, "POST", "/admin/settlements/"+w.MatchID(first+i)+"/correct", body)
			case 8:
				w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]any{"rule": score.Rule{
					Outcome: rapid.IntRange(1, 4).Draw(r, "outcome"), ExactScore: rapid.IntRange(0, 2).Draw(r, "exact"),
					TieBreaks: rapid.Bool().Draw(r, "tie breaks"),
				}})
			case 9:
				if rapid.Bool().Draw(r, "repaired") {
					_, err := admin.HydrateScoreboard(w.NewContext(), &settlement.HydrateOne{TournamentID: c.ID})
					testkit.Must(t, err)
				} else {
					_, err := pg.Do(t.Context(), w.DB, `DELETE FROM member WHERE public_id = $1`, rapid.SampledFrom(users).Draw(r, "forgotten"))
					testkit.Must(t, err)
				}
			case 10:
				decideQuestion(w, c, "scorer", map[string]any{"answers": []string{rapid.SampledFrom(asked[1].Choices).Draw(r, "right")}})
			case 11:
				apply()
			}

			w.Clear(settlement.Queue)
			w.Clear(question.Queue)
			checkSums(t, w)
		}

		decideQuestion(w, c, "scorer", map[string]any{"undo": true}) // only the points of matches are left

		for range 3 {
			apply()
		}

		for i := range 4 {
			for range 8 { // three ranges of a settlement that goes on, three of the next
				settle(i)
			}
		}

		wrong, err := pg.Values[string](t.Context(), w.DB, `
SELECT concat_ws(' ', p.nick_name, s.points, s.tie, sum(guess_points(g.home_score, g.away_score, m.home_score, m.away_score, r, 1)))
FROM tournament_scoreboard s
JOIN member p ON p.id = s.member_id
JOIN tournament t ON t.id = s.tournament_id
JOIN rule r ON r.tournament_id = t.id AND r.version = t.rule_version
LEFT JOIN (guess g JOIN match m ON m.id = g.match_id AND m.status = 'ended') ON g.member_id = s.member_id AND m.tournament_id = t.id
WHERE t.id = $1
GROUP BY p.nick_name, s.points, s.tie
HAVING s.points <> coalesce(sum(guess_points(g.home_score, g.away_score, m.home_score, m.away_score, r, 1)), 0)
    OR s.tie <> coalesce(sum(guess_tie(g.home_score, g.away_score, m.home_score, m.away_score, r)), 0)`, c.ID)
		testkit.Must(t, err)

		if len(wrong) > 0 {
			r.Fatalf("the points differ from the rule: %q", wrong)
		}
	})
}
