package bestshot_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
)

// manualRequest is a request for a manual tournament with rounds.
func manualRequest(slug string, rounds ...string) map[string]any {
	in := tournamentRequest(slug)
	in["provider"] = provider.Manual

	var all []map[string]any
	for _, r := range rounds {
		all = append(all, map[string]any{"slug": r, "label": "Round " + r})
	}

	in["rounds"] = all

	return in
}

// byHand creates a manual tournament with the rounds group and final.
func byHand(w *bestshottest.World, slug string) *bestshottest.Tournament {
	w.T.Helper()

	return w.Known(testkit.Decode[struct{ ID string }](w.World,
		w.Do(root, "POST", "/admin/tournaments", manualRequest(slug, "group", "final"))).ID)
}

// enter enters a match, and returns its id.
func enter(w *bestshottest.World, c *bestshottest.Tournament, round, home, away string, kickOff time.Time) string {
	w.T.Helper()

	return testkit.Decode[struct{ ID string }](w.World, w.Do(root, "POST", "/admin/tournaments/"+c.ID+"/rounds/"+round+"/matches",
		map[string]any{"home": home, "away": away, "kickOff": kickOff})).ID
}

// decide has an administrator decide about a match, twice: the second run changes nothing.
func decide(w *bestshottest.World, match string, body map[string]any) {
	w.T.Helper()

	var state [2]string

	for i := range state {
		w.Do(root, "POST", "/admin/settlements/"+match+"/correct", body)
		w.Settle()

		var err error
		state[i], _, err = pg.Value[string](w.T.Context(), w.DB, `
SELECT (to_jsonb(m) - 'updated_at' - 'scoreboard_applied_at')::text || (SELECT count(*) FROM scoreboard_ledger)
FROM match m
WHERE id = $1`, match)
		testkit.Must(w.T, err)
	}

	if diff := cmp.Diff(state[0], state[1]); diff != "" {
		w.T.Errorf("%v changes something again (-first +second):\n%s", body, diff)
	}

	checkSums(w.T, w)
}

// refuses fails unless a decision about a match is refused with a code.
func refuses(w *bestshottest.World, match string, body map[string]any, code string) {
	w.T.Helper()

	out := w.Ask(root, "POST", "/api/v2/admin/settlements/"+match+"/correct", body)
	if err := testkit.CheckProblemCode(out, http.StatusConflict, code); err != nil {
		w.T.Errorf("%v: %v", body, err)
	}
}

// board fails unless the leaderboard is as expected.
func board(w *bestshottest.World, c *bestshottest.Tournament, after string, want ...string) {
	w.T.Helper()

	if diff := cmp.Diff(want, c.Board("ann")); diff != "" {
		w.T.Errorf("after %s (-want +got):\n%s", after, diff)
	}
}

// TestTournamentByHand: an operator runs a whole tournament without a provider.
func TestTournamentByHand(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	c := byHand(w, "cup")
	kickOff := bestshottest.Noon.Add(hour)

	first := enter(w, c, "group", "Rovers", "United", kickOff)
	second := enter(w, c, "group", "City", "Town", kickOff.Add(hour))

	if again := enter(w, c, "group", "Rovers", "United", kickOff); again != first {
		t.Errorf("the match is %s and then %s", first, again)
	}

	status := func(id string) (s string) {
		out := w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/group", nil)
		for _, m := range testkit.Decode[struct{ Data []view.Match }](w.World, out).Data {
			if m.ID == id {
				s = fmt.Sprint(m.Home.Name, " ", m.Away.Name, " ", m.Status, " ", m.Date.Format(time.TimeOnly), " ", ints(m.Home.Score))
			}
		}

		return s
	}
	shows := func(id, want string) {
		t.Helper()

		if got := status(id); got != want {
			t.Errorf("members see %q, want %q", got, want)
		}
	}
	takes := func(user, id string, home, away, want int) {
		t.Helper()

		if out := w.Guess(user, id, home, away); out.StatusCode != want {
			t.Errorf("the guess of %s: %d %s, want %d", user, out.StatusCode, out.Body, want)
		}
	}

	shows(first, "Rovers United open 13:00:00 -")
	takes("ann", first, 2, 0, 200)
	takes("bob", first, 0, 0, 200)
	takes("ann", second, 1, 1, 200)

	refuses(w, first, map[string]any{"home": 1, "away": 0}, "match_not_begun")

	w.MoveClock(kickOff)
	takes("bob", first, 1, 0, 409)

	w.MoveClock(kickOff.Add(90 * time.Minute))
	decide(w, first, map[string]any{"home": 1, "away": 0})
	board(w, c, "the result", "1 ann 3", "2 bob 0")
	shows(first, "Rovers United ended 13:00:00 1")

	decide(w, first, map[string]any{"home": 0, "away": 0})
	board(w, c, "a correction", "1 bob 3", "2 ann 0")

	refuses(w, first, map[string]any{"reopen": true}, "match_over") // no provider decides about the result

	decide(w, first, map[string]any{"void": true})
	board(w, c, "the match is void", "1 ann 0", "1 bob 0")
	shows(first, "Rovers United not-defined 13:00:00 -")

	decide(w, first, map[string]any{"reopen": true})
	shows(first, "Rovers United open 13:00:00 -")
	takes("bob", first, 3, 0, 409) // its kick-off has passed

	decide(w, first, map[string]any{"home": 3, "away": 1})
	board(w, c, "it was undone, and has a result", "1 ann 3", "2 bob 0")

	// The second match is postponed: it takes guesses again once it has another kick-off.
	decide(w, second, map[string]any{"postponed": true})
	shows(second, "City Town not-defined 14:00:00 -")
	takes("bob", second, 2, 2, 409)
	decide(w, second, map[string]any{"kickOff": kickOff.Add(5 * hour)})
	shows(second, "City Town open 18:00:00 -")
	takes("bob", second, 2, 2, 200)
	w.MoveClock(kickOff.Add(4 * hour))
	takes("bob", second, 3, 3, 200)
	w.MoveClock(kickOff.Add(7 * hour))
	decide(w, second, map[string]any{"home": 0, "away": 0})
	board(w, c, "both matches", "1 ann 6", "2 bob 3")

	// Play had begun at 12:59: a guess that was stored later does not count.
	decide(w, second, map[string]any{"kickOff": kickOff.Add(-time.Minute)})
	board(w, c, "play began before bob's guess", "1 ann 6", "2 bob 0")

	var got []string
	for _, s := range testkit.Decode[struct{ Data []settlement.Settlement }](w.World, w.Do(root, "GET", "/admin/settlements", nil)).Data {
		got = append([]string{fmt.Sprint(*s.Reason, " ", s.CorrectedBy != nil && *s.CorrectedBy == root)}, got...)
	}

	want := []string{"result true", "correction true", "void true", "correction true", "result true", "kick-off true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the settlements, and whether root has entered them (-want +got):\n%s", diff)
	}

	if n := len(testkit.Messages[ingest.Poll](w.World, ingest.PollQueue)); n != 0 {
		t.Errorf("%d polls, want none", n)
	}
}

// TestPlanOfAManualTournament: nobody is asked about it, also for images, but what is unsettled is posted.
func TestPlanOfAManualTournament(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := byHand(w, "cup")
	m := enter(w, c, "group", "Rovers", "United", bestshottest.Noon.Add(hour))
	planner := testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner)

	for range 2 {
		testkit.Must(t, planner.PlanPolls(w.NewContext()))
		w.MoveClock(w.Clock.Now().Add(2 * hour))
	}

	w.Do(root, "POST", "/admin/settlements/"+m+"/correct", map[string]any{"home": 1, "away": 0})
	w.Clear(settlement.Queue) // the message is lost
	w.MoveClock(w.Clock.Now().Add(16 * time.Minute))
	testkit.Must(t, planner.PlanPolls(w.NewContext()))

	polls := len(testkit.Messages[ingest.Poll](w.World, ingest.PollQueue))
	images := len(testkit.Messages[ingest.Poll](w.World, ingest.AssetQueue))

	if settled := w.Settle(); polls != 0 || images != 0 || settled != 1 {
		t.Errorf("%d polls, %d images, %d matches to settle; want 0, 0, 1", polls, images, settled)
	}
}

// TestRoundsByHand: the same request with other rounds adds them, and gives them their order and labels.
func TestRoundsByHand(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)

	rounds := func(in map[string]any) (lines []string) {
		id := testkit.Decode[struct{ ID string }](w.World, w.Do(root, "POST", "/admin/tournaments", in)).ID
		for _, r := range testkit.Decode[struct{ Data []tournament.Round }](w.World, w.Do("ann", "GET", "/tournaments/"+id+"/rounds", nil)).Data {
			lines = append(lines, r.Slug+" "+r.Label+" "+r.Type)
		}

		return lines
	}

	for range 2 {
		if diff := cmp.Diff([]string{"a Round a season", "b Round b season"}, rounds(manualRequest("cup", "a", "b"))); diff != "" {
			t.Errorf("two rounds (-want +got):\n%s", diff)
		}
	}

	more := manualRequest("cup", "b", "a", "c")
	more["rounds"].([]map[string]any)[2]["type"] = "knockout"

	if diff := cmp.Diff([]string{"b Round b season", "a Round a season", "c Round c knockout"}, rounds(more)); diff != "" {
		t.Errorf("three rounds (-want +got):\n%s", diff)
	}

	var many []string
	for n := range 98 {
		many = append(many, fmt.Sprint("r", n))
	}

	provided, none := manualRequest("other", "a"), manualRequest("other")
	delete(provided, "provider")
	delete(none, "rounds")

	for name, in := range map[string]map[string]any{
		"no rounds": none, "a round twice": manualRequest("other", "a", "a"), "101 in all": manualRequest("cup", many...),
		"rounds of a provider": provided,
	} {
		out := w.Ask(root, "POST", "/api/v2/admin/tournaments", in)
		if out.StatusCode != http.StatusBadRequest || !strings.Contains(out.Body, "body.rounds") {
			t.Errorf("%s: %d %s", name, out.StatusCode, out.Body)
		}
	}

	if diff := cmp.Diff([]string{"b Round b season", "a Round a season", "c Round c knockout"}, rounds(more)); diff != "" {
		t.Errorf("after the refusals (-want +got):\n%s", diff)
	}
}

// TestRefusedByHand: what an administrator may not do says why, and changes nothing.
func TestRefusedByHand(t *testing.T) {
	t.Parallel()
	w, provided := ended(t, false)
	c := byHand(w, "pub")
	kickOff := w.Clock.Now().Add(hour)
	m := enter(w, c, "group", "Rovers", "United", kickOff)
	matches := "/admin/tournaments/" + c.ID + "/rounds/group/matches"
	correct := func(id string) string { return "/admin/settlements/" + id + "/correct" }
	match := func(home, away string, at any) map[string]any {
		return map[string]any{"home": home, "away": away, "kickOff": at}
	}

	count := func() int {
		n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM match`)
		testkit.Must(t, err)

		return n
	}
	before := count()

	for name, r := range map[string]struct {
		target string
		body   any
		status int
		text   string
	}{
		"another kick-off":        {matches, match("Rovers", "United", kickOff.Add(hour)), 409, "match_exists"},
		"one team":                {matches, match("Rovers", "Rovers", kickOff), 400, "body.away"},
		"no name":                 {matches, match(" ", "United", kickOff), 422, "body.home"},
		"the year 1":              {matches, match("A", "B", "0001-01-01T00:00:00Z"), 400, "body.kickOff"},
		"the year 9999":           {matches, match("A", "B", "9999-12-31T23:59:59Z"), 400, "body.kickOff"},
		"no round":                {"/admin/tournaments/" + c.ID + "/rounds/semi/matches", match("A", "B", kickOff), 404, "round_not_found"},
		"no tournament":           {"/admin/tournaments/" + m + "/rounds/group/matches", match("A", "B", kickOff), 404, "tournament_not_found"},
		"a provider's":            {"/admin/tournaments/" + provided.ID + "/rounds/1/matches", match("A", "B", kickOff), 409, "has_provider"},
		"to ask for rounds":       {"/admin/tournaments/" + c.ID + "/rounds", nil, 404, "entered_by_hand"},
		"a provider's, postponed": {correct(w.MatchID(1)), map[string]any{"postponed": true}, 409, "has_provider"},
		"after its end":           {correct(w.MatchID(1)), map[string]any{"kickOff": kickOff}, 400, "body.kickOff"},
		"two decisions":           {correct(m), map[string]any{"kickOff": kickOff, "postponed": true}, 400, "body.void"},
		"none":                    {correct(m), map[string]any{}, 400, "body.void"},
		"a kick-off of 1999":      {correct(m), map[string]any{"kickOff": "1999-12-31T00:00:00Z"}, 400, "body.kickOff"},
	} {
		if out := w.Ask(root, "POST", "/api/v2"+r.target, r.body); out.StatusCode != r.status || !strings.Contains(out.Body, r.text) {
			t.Errorf("%s: %d %s, want %d and %s", name, out.StatusCode, out.Body, r.status, r.text)
		}
	}

	if err := testkit.CheckProblemCode(w.Ask(root, "PATCH", "/api/v2/admin/matches/"+m+"/sync", nil), 404, "entered_by_hand"); err != nil {
		t.Errorf("to ask for a match: %v", err)
	}

	if out := w.Ask("ann", "POST", "/api/v2"+matches, match("A", "B", kickOff)); out.StatusCode != 403 {
		t.Errorf("a member enters a match: %d %s", out.StatusCode, out.Body)
	}

	if after := count(); after != before {
		t.Errorf("%d matches, want %d", after, before)
	}

	w.MoveClock(kickOff)
	w.Do(root, "POST", correct(m), map[string]any{"void": true}) // not settled yet

	refuses(w, m, map[string]any{"reopen": true}, "settlement_pending")
	refuses(w, m, map[string]any{"postponed": true}, "match_over")
}

// TestManualTournamentIsFull: it takes 1,000 matches.
func TestManualTournamentIsFull(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := byHand(w, "cup")
	enter(w, c, "group", "Rovers", "United", bestshottest.Noon)
	_, err := pg.Do(t.Context(), w.DB, `
INSERT INTO match (tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team)
SELECT tournament_id, round_slug, provider, n::text, date, status, provider_status, home_team, away_team
FROM match
CROSS JOIN generate_series(1, 999) n`)
	testkit.Must(t, err)

	if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2/admin/tournaments/"+c.ID+"/rounds/group/matches",
		map[string]any{"home": "A", "away": "B", "kickOff": bestshottest.Noon}), 409, "too_many_matches"); err != nil {
		t.Error(err)
	}
}

// TestKickOffByHand: the provider does not change a kick-off that was set, until that is undone. Guesses
// count that were stored before.
func TestKickOffByHand(t *testing.T) {
	t.Parallel()

	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }
	const provided = 120 // minutes after noon

	type world struct {
		*bestshottest.World
		cup *bestshottest.Tournament
		m   string
	}
	set := func(w *world, minutes int) { decide(w.World, w.m, map[string]any{"kickOff": at(minutes)}) }
	undo := func(w *world) { decide(w.World, w.m, map[string]any{"reopen": true}) }
	says := func(w *world, status provider.Status, change func(*provider.Fixture)) {
		f := bestshottest.Fixture(1, at(provided), status)
		if status == provider.Ended {
			f = bestshottest.Fixture(1, at(provided), status, 5, 0)
		}

		if change != nil {
			change(&f)
		}

		w.Ingest(w.cup.Feed("1", f))
		w.Settle()
	}
	ends := func(w *world) { says(w, provider.Ended, nil) }
	plays := func(w *world) { says(w, provider.Open, func(f *provider.Fixture) { f.InPlay = true }) }

	type step struct {
		at int
		do func(*world)
	}

	for name, c := range map[string]struct {
		guesses []int // when ann guesses, in minutes: the home team gets one goal more each time
		refused []int
		steps   []step
		kickOff int
		want    string // the goals that count, and whether the guess is late
	}{
		"later, and the provider repeats its own": {
			guesses: []int{10, 130},
			refused: []int{151},
			steps:   []step{{20, func(w *world) { set(w, 150) }}, {100, func(w *world) { says(w, provider.Open, nil) }}, {300, ends}},
			kickOff: 150, want: "2 false",
		},
		"earlier": {
			guesses: []int{10},
			refused: []int{61},
			steps:   []step{{20, func(w *world) { set(w, 60) }}, {100, func(w *world) { says(w, provider.Open, nil) }}, {300, ends}},
			kickOff: 60, want: "1 false",
		},
		"set when it has passed": {
			guesses: []int{10, 70},
			refused: []int{101},
			steps:   []step{{100, func(w *world) { set(w, 60) }}, {130, plays}, {300, ends}},
			kickOff: 60, want: "1 true",
		},
		"set after the end": {
			guesses: []int{10, 70},
			steps:   []step{{300, ends}, {310, func(w *world) { set(w, 60) }}, {320, ends}},
			kickOff: 60, want: "1 true",
		},
		"later, and the provider knows the start": {
			guesses: []int{10, 110},
			steps: []step{{300, func(w *world) {
				says(w, provider.Ended, func(f *provider.Fixture) { f.StartedAt = at(100) })
			}}, {310, func(w *world) { set(w, 115) }}, {320, func(w *world) {
				says(w, provider.Ended, func(f *provider.Fixture) { f.StartedAt = at(100) })
			}}},
			kickOff: 115, want: "2 false",
		},
		"later, but play is seen before": { // no guess is made with knowledge of the play
			guesses: []int{10},
			refused: []int{131},
			steps:   []step{{20, func(w *world) { set(w, 180) }}, {130, plays}, {300, ends}},
			kickOff: 180, want: "1 false",
		},
		"later, after play was seen": { // the match stays closed until the provider takes that back
			guesses: []int{10, 140},
			refused: []int{131, 133},
			steps: []step{{130, plays}, {132, func(w *world) { set(w, 180) }}, {135, func(w *world) { says(w, provider.Open, nil) }},
				{190, plays}, {300, ends}},
			kickOff: 180, want: "2 false",
		},
		"wrong, and then right": {
			guesses: []int{10, 140},
			steps: []step{{20, func(w *world) { set(w, -60) }}, {22, func(w *world) { set(w, 180) }},
				{25, func(w *world) { says(w, provider.Open, nil) }}, {300, ends}},
			kickOff: 180, want: "2 false",
		},
		"undone before the match": {
			guesses: []int{10, 70},
			refused: []int{121},
			steps:   []step{{20, func(w *world) { set(w, 60) }}, {50, undo}, {300, ends}},
			kickOff: provided, want: "2 false",
		},
		"undone after the end": {
			guesses: []int{10, 70},
			steps:   []step{{300, ends}, {310, func(w *world) { set(w, 60) }}, {320, undo}, {330, ends}},
			kickOff: provided, want: "2 false",
		},
		"undone after the end, set before": { // the provider's kick-off is the first sign of play
			guesses: []int{10, 50},
			refused: []int{70},
			steps: []step{{20, func(w *world) { set(w, 60) }}, {55, func(w *world) { set(w, 30) }}, {300, ends}, {320, undo},
				{330, ends}},
			kickOff: provided, want: "2 false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{World: bestshottest.New(t)}
			w.Register("ann")
			w.cup = w.Found("cup")
			w.Ingest(w.cup.Feed("1", bestshottest.Fixture(1, at(provided), provider.Open)))
			w.m = w.MatchID(1)

			steps := c.steps

			for n, minute := range c.guesses {
				steps = append(steps, step{minute, func(w *world) {
					if out := w.Guess("ann", w.m, n+1, 0); out.StatusCode != 200 {
						t.Errorf("the guess at %d: %d %s", minute, out.StatusCode, out.Body)
					}
				}})
			}

			for _, minute := range c.refused {
				steps = append(steps, step{minute, func(w *world) {
					if err := testkit.CheckProblemCode(w.Guess("ann", w.m, 9, 9), 409, "guess_window_closed"); err != nil {
						t.Errorf("at %d: %v", minute, err)
					}
				}})
			}

			slices.SortStableFunc(steps, func(a, b step) int { return a.at - b.at })

			for _, s := range steps {
				w.MoveClock(at(s.at))
				s.do(w)
			}

			out := w.Do("ann", "GET", "/tournaments/"+w.cup.ID+"/guess?round=1", nil)

			g := testkit.Decode[struct{ Data []guess.Guess }](w.World.World, out).Data[0]
			if got := fmt.Sprint(ints(g.Home.Value), " ", g.Late); got != c.want {
				t.Errorf("the guess counts as %s, want %s", got, c.want)
			}

			m := testkit.Decode[struct{ Data []ingest.MatchSource }](w.World.World,
				w.Do(root, "GET", "/admin/tournaments/"+w.cup.ID+"/matches", nil)).Data[0]

			set := c.kickOff != provided
			if !m.KickOff.Equal(at(c.kickOff)) || m.KickOffCorrected != set || m.CorrectedBy == nil || *m.CorrectedBy != root || m.Pending {
				t.Errorf("the match is %+v, want the kick-off %s", m, at(c.kickOff))
			}

			checkSums(t, w.World)
		})
	}
}

// TestKickOffByHandKeepsTheProjection: an answer with the provider's kick-off does not raise the version of
// the round's matches.
func TestKickOffByHandKeepsTheProjection(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	f := bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)
	w.Ingest(c.Feed("1", f))
	decide(w, w.MatchID(1), map[string]any{"kickOff": bestshottest.Noon.Add(2 * hour)})

	version := func() int64 {
		v, _, err := pg.Value[int64](t.Context(), w.DB, `SELECT version FROM tournament_round WHERE tournament_id = $1`, c.ID)
		testkit.Must(t, err)

		return v
	}
	before := version()

	w.Ingest(c.Feed("1", f))

	if after := version(); after != before {
		t.Errorf("the version is %d, want %d", after, before)
	}
}

// TestKickOffOfBefore: a row whose kick-off was marked before the provider's was kept is reopened.
func TestKickOffOfBefore(t *testing.T) {
	t.Parallel()
	w, c := ended(t, false)
	w.Settle()

	_, err := pg.Do(t.Context(), w.DB, `UPDATE match SET kick_off_corrected = true`)
	testkit.Must(t, err)

	decide(w, w.MatchID(1), map[string]any{"reopen": true})
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Ended, 1, 0)))
	w.Settle()
	board(w, c, "it is reopened", settledOnce...)
}

// TestByHandWithoutTheCache: what is stored while the cache is away is shown after the request is repeated.
func TestByHandWithoutTheCache(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := byHand(w, "cup")
	path, list := "/admin/tournaments/"+c.ID+"/rounds/group/matches", "/tournaments/"+c.ID+"/matches/group"
	in := map[string]any{"home": "A", "away": "B", "kickOff": bestshottest.Noon.Add(hour)}

	w.Do("ann", "GET", list, nil) // the cache has the round without matches
	w.Cache.SetError("ERR gone")

	if out := w.Ask(root, "POST", "/api/v2"+path, in); out.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without the cache: %d %s", out.StatusCode, out.Body)
	}

	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))

	id := testkit.Decode[struct{ ID string }](w.World, w.Do(root, "POST", path, in)).ID
	if got := w.Do("ann", "GET", list, nil).Body; !strings.Contains(got, id) {
		t.Errorf("after the repeat members see %s", got)
	}

	w.Cache.SetError("ERR gone")

	later := map[string]any{"kickOff": bestshottest.Noon.Add(2 * hour)}
	if out := w.Ask(root, "POST", "/api/v2/admin/settlements/"+id+"/correct", later); out.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a kick-off without the cache: %d %s", out.StatusCode, out.Body)
	}

	w.Cache.SetError("")
	w.MoveClock(w.Clock.Now().Add(time.Minute))
	w.Do(root, "POST", "/admin/settlements/"+id+"/correct", later)

	if got := w.Do("ann", "GET", list, nil).Body; !strings.Contains(got, "14:00:00") {
		t.Errorf("after the repeat members see %s", got)
	}
}

// TestExportOfAnOperator: matches that a user has entered are in the export, and after the deletion of the
// account nothing names the user.
func TestExportOfAnOperator(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	m := enter(w, byHand(w, "cup"), "group", "Rovers", "United", bestshottest.Noon)

	if got := exported(t, w, root)["corrections"].([]any); len(got) != 1 || got[0].(map[string]any)["match"] != m {
		t.Errorf("the export has %v, want the match %s", got, m)
	}

	s := testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open)
	testkit.Must(t, s.ForgetUser(w.NewContext(), account.Request{Job: "J", UserID: root}))

	if got := traces(w, "no member", root); len(got) != 1 || got[0] != "forgotten" {
		t.Errorf("the user is in %v", got)
	}
}

// TestByHandCrashes: after a crash anywhere the repeated request has stored a match, or its kick-off, once,
// and members see it.
func TestByHandCrashes(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(hour)

	for name, c := range map[string]struct {
		fn  app.Function
		run func(w *bestshottest.World, env app.Env, tournament, match string) error
	}{
		"a match": {ingest.CreateMatchFunction(), func(w *bestshottest.World, env app.Env, tournament, _ string) error {
			in := &ingest.CreateMatch{Admin: auth.Admin{User: auth.User{UserID: root}}, TournamentID: tournament, Round: "group"}
			in.Body.Home, in.Body.Away, in.Body.KickOff = "C", "D", kickOff
			_, err := testkit.OpenWith(w.World, env, ingest.Open).CreateMatch(w.NewContext(), in)

			return err
		}},
		"a kick-off": {settlement.CorrectMatchFunction(), func(w *bestshottest.World, env app.Env, _, match string) error {
			later := kickOff.Add(hour)
			in := &settlement.CorrectMatch{Admin: auth.Admin{User: auth.User{UserID: root}}, MatchID: match}
			in.Body.KickOff = &later
			_, err := testkit.OpenWith(w.World, env, settlement.OpenAdmin).CorrectMatch(w.NewContext(), in)

			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
				w := bestshottest.New(t)
				w.Register("ann")
				cup := byHand(w, "cup")
				match := enter(w, cup, "group", "A", "B", kickOff)
				list := "/tournaments/" + cup.ID + "/matches/group"
				w.Do("ann", "GET", list, nil) // fills the cache

				err := c.run(w, w.CrashingEnv(c.fn, p), cup.ID, match)
				if p.Ended(err, dynamotest.CacheCall) { // the client survives the loss of what it asks a new connection
					awaitRollback(w, "tournament")
					testkit.Must(t, c.run(w, w.Env(c.fn), cup.ID, match))
				}

				var seen []string
				for _, m := range testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", list, nil)).Data {
					seen = append(seen, m.Home.Name+" "+m.Away.Name+" "+m.Date.Format(time.TimeOnly))
				}

				slices.Sort(seen)

				return seen
			})
		})
	}
}
