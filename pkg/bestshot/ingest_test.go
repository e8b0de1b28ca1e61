package bestshot_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
	"matchday/pkg/spec"
)

// TestMatchFollowsTheProvider stores answers, each a second after the one before, and checks the match
// after the last, and the number of messages that were posted.
func TestMatchFollowsTheProvider(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(-2 * hour)
	day := 24 * hour
	at := func(f provider.Fixture, finished time.Time) provider.Fixture { f.FinishedAt = finished; return f }
	id := func(f provider.Fixture, id string) provider.Fixture { f.ID = id; return f }
	open, postponed := bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(1, kickOff, provider.NotDefined)
	won, lost := bestshottest.Fixture(1, kickOff, provider.Ended, 2, 1), bestshottest.Fixture(1, kickOff, provider.Ended, 1, 2)
	moved := bestshottest.Fixture(1, kickOff.Add(day), provider.Open)
	strange := bestshottest.Fixture(1, kickOff, provider.Unknown)
	late := won // after extra time

	late.ProviderStatus = "finished/110"
	for name, c := range map[string]struct {
		answers []provider.Fixture
		want    string // status, day and score
		posted  int
	}{
		"a match begins":                      {[]provider.Fixture{open}, "open 6 -:-", 0},
		"it ends":                             {[]provider.Fixture{open, won}, "ended 6 2:1", 1},
		"it had ended when it was first seen": {[]provider.Fixture{won}, "ended 6 2:1", 1},
		"it is answered twice":                {[]provider.Fixture{open, won, won}, "ended 6 2:1", 1},
		"the result is corrected":             {[]provider.Fixture{open, won, lost}, "ended 6 1:2", 2},
		"only the home score is corrected": {
			[]provider.Fixture{open, won, bestshottest.Fixture(1, kickOff, provider.Ended, 3, 1)},
			"ended 6 3:1",
			2,
		},
		"only the away score is corrected": {
			[]provider.Fixture{open, won, bestshottest.Fixture(1, kickOff, provider.Ended, 2, 2)},
			"ended 6 2:2",
			2,
		},
		"it ended otherwise, with that score": {[]provider.Fixture{open, won, late}, "ended 6 2:1", 1},
		"corrected and back":                  {[]provider.Fixture{open, won, lost, won}, "ended 6 2:1", 3},
		"it is open again":                    {[]provider.Fixture{open, won, open}, "ended 6 2:1", 1},
		"ended, open, and ended again":        {[]provider.Fixture{open, won, open, won}, "ended 6 2:1", 1},
		"ended, then postponed":               {[]provider.Fixture{open, won, postponed}, "ended 6 2:1", 1},
		"it is postponed":                     {[]provider.Fixture{open, postponed}, "not-defined 6 -:-", 0},
		"it is moved":                         {[]provider.Fixture{open, moved}, "open 7 -:-", 0},
		"postponed, then moved":               {[]provider.Fixture{open, postponed, moved}, "open 7 -:-", 0},
		"postponed, then under another id":    {[]provider.Fixture{open, postponed, id(moved, "77")}, "open 7 -:-", 0},
		"a status that nobody knows":          {[]provider.Fixture{open, strange}, "open 6 -:-", 0},
		"unknown at first sight":              {[]provider.Fixture{strange}, "not-defined 6 -:-", 0},
		"the finish changes, and is written once": {
			[]provider.Fixture{open, at(won, kickOff.Add(hour)), at(won, kickOff.Add(90*time.Minute))},
			"ended 6 2:1",
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Register("ann")

			cup := w.Found("cup")
			for _, x := range c.answers {
				w.Ingest(cup.Feed("1", x))
			}

			all := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/tournaments/"+cup.ID+"/matches/1", nil)).Data
			if len(all) != 1 {
				t.Fatalf("%d matches, want 1", len(all))
			}

			m := all[0]
			if got := fmt.Sprintf("%s %s %s:%s", m.Status, m.Date.Format("2"), ints(m.Home.Score), ints(m.Away.Score)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}

			posted := testkit.Messages[settlement.MatchFinished](w.World, settlement.Queue)
			if len(posted) != c.posted {
				t.Errorf("%d messages, want %d", len(posted), c.posted)
			}

			for _, p := range posted {
				if !p.FinishedAt.Equal(posted[0].FinishedAt) {
					t.Errorf("the finish is %v and then %v", posted[0].FinishedAt, p.FinishedAt)
				}
			}
		})
	}
}

// TestOlderAnswerIsLate: an answer that is older than the stored one changes nothing, because a queue
// may deliver two answers in the wrong order.
func TestOlderAnswerIsLate(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(-2 * hour)
	older := c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open, 0, 0))

	w.MoveClock(bestshottest.Noon.Add(time.Minute))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open, 1, 0)))
	w.Ingest(older)

	m := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil)).Data[0]
	if ints(m.Home.Score) != "1" {
		t.Errorf("the score is %s:%s", ints(m.Home.Score), ints(m.Away.Score))
	}
}

// TestOlderAnswerAddsNothing: an older answer does not add a match again that has another id since.
func TestOlderAnswerAddsNothing(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(2 * hour)
	moved := bestshottest.Fixture(1, kickOff.Add(24*hour), provider.Open)
	moved.ID = "777"

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined), bestshottest.Fixture(2, kickOff, provider.Open)))
	older := c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined), bestshottest.Fixture(2, kickOff, provider.Open))

	w.MoveClock(bestshottest.Noon.Add(5 * time.Minute))
	w.Ingest(c.Feed("1", moved, bestshottest.Fixture(2, kickOff, provider.Open)))
	w.Ingest(older)

	all := testkit.Decode[struct{ Data []view.Match }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil)).Data
	if len(all) != 2 || all[0].Status != "open" || all[1].Status != "open" {
		t.Errorf("the matches are %+v", all)
	}
}

// TestTeamIsRenamed: each round and table that shows the team has its new name at once.
func TestTeamIsRenamed(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	c, other := w.Found("cup"), w.Found("other")
	kickOff := bestshottest.Noon.Add(2 * hour)
	match := func(n int, name string) provider.Fixture {
		f := bestshottest.Fixture(n, kickOff, provider.Open)
		f.Home.Team = provider.Team{ID: "1", Name: name}

		return f
	}
	table := c.Feed("")
	table.Kind, table.Standings = ingest.Standings, []provider.Standing{{Team: provider.Team{ID: "1", Name: "Old"}, Position: 1}}
	w.Ingest(table)
	w.Ingest(c.Feed("1", match(1, "Old")))
	w.Ingest(c.Feed("2", match(2, "Old")))
	w.Ingest(other.Feed("1", match(3, "Old")))

	shown := func(want string) {
		t.Helper()

		for _, target := range []string{c.ID + "/matches/1", c.ID + "/matches/2", other.ID + "/matches/1", c.ID + "/standings"} {
			if out := w.Do("ann", "GET", "/tournaments/"+target, nil); !strings.Contains(out.Body, `"`+want+`"`) {
				t.Errorf("%s: %s, want %s", target, out.Body, want)
			}
		}
	}
	shown("Old")
	w.MoveClock(bestshottest.Noon.Add(5 * time.Minute))
	w.Ingest(c.Feed("1", match(1, "New")))
	shown("New")
	w.MoveClock(bestshottest.Noon.Add(10 * time.Minute))

	table = c.Feed("")
	table.Kind, table.Standings = ingest.Standings, []provider.Standing{{Team: provider.Team{ID: "1", Name: "Newest"}, Position: 1}}
	w.Ingest(table)
	shown("Newest")
}

// TestAnswerAboutADeletedTournament: it changes nothing, and is not an error.
func TestAnswerAboutADeletedTournament(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	w.Do(root, "DELETE", "/admin/tournaments/"+c.ID, nil)

	team := provider.Team{ID: "3", Name: "Home 1"}
	for kind, f := range map[ingest.Kind]ingest.Feed{
		ingest.Rounds:    {Rounds: []provider.Round{{Slug: "1", Label: "Round 1", Type: "season", Path: "/events/round/1"}}},
		ingest.Matches:   c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Ended, 1, 0)),
		ingest.Standings: {Standings: []provider.Standing{{Team: team, Position: 1}}},
	} {
		f.Poll.Kind, f.TournamentID, f.FetchedAt = kind, c.ID, w.Clock.Now()
		w.Ingest(f)

		for _, q := range []spec.Queue{ingest.PollQueue, settlement.Queue} {
			if n := len(w.Queues.Messages(q.Name)); n != 0 {
				t.Errorf("%s: %d messages in %s", kind, n, q.Name)
			}
		}
	}
}

// TestUnchangedRound: an answer that changes no match costs as many calls of the database for ten
// matches as for one, and the projection of the round stays. A change of one match invalidates it.
func TestUnchangedRound(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(-2 * hour)

	calls := func(matches int) int64 {
		w, writes := counting(t)
		w.Register("ann")
		c := w.Found("cup")

		var round []provider.Fixture
		for n := range matches {
			if round = append(round, bestshottest.Fixture(n+1, kickOff, provider.Ended, n, 1)); n%2 == 0 {
				round[n] = bestshottest.Fixture(n+1, kickOff.Add(24*hour), provider.Open)
			}
		}

		read := func() string {
			return w.Do("ann", "GET", "/tournaments/"+c.ID+"/matches/1", nil).Body
		}

		w.Ingest(c.Feed("1", round...))

		before := read()
		key := view.MatchesKey(c.ID, "1")

		w.MoveClock(w.Clock.Now().Add(5 * time.Minute))

		feed := c.Feed("1", round...)

		writes.Store(0)
		w.Ingest(feed)

		n := writes.Load()

		if !w.Cache.Exists(key) {
			t.Error("an answer without news invalidates the projection")
		}

		w.MoveClock(w.Clock.Now().Add(5 * time.Minute))

		round[0] = bestshottest.Fixture(1, kickOff, provider.Ended, 7, 0)
		w.Ingest(c.Feed("1", round...))

		if after := read(); after == before || !strings.Contains(after, `"score":7`) {
			t.Errorf("after the news: %s", after)
		}

		return n
	}
	if one, ten := calls(1), calls(10); one == 0 || ten > one {
		t.Errorf("ten matches without news cost %d calls of the database, one costs %d", ten, one)
	}
}

// TestMatchChangesTeamsOrRound: a match that is to be played gets the teams and the round of the latest
// answer, and keeps its guesses. If the sides are swapped, so are those of the guesses. A match that
// has ended keeps its teams and its result.
func TestMatchChangesTeamsOrRound(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(hour)
	open, other := bestshottest.Fixture(1, kickOff, provider.Open), bestshottest.Fixture(2, kickOff, provider.Open)
	swap := func(f provider.Fixture) provider.Fixture { f.Home, f.Away = f.Away, f.Home; return f }
	replaced := open
	replaced.Away.Team = other.Away.Team

	won := bestshottest.Fixture(1, kickOff, provider.Ended, 2, 1)
	for name, c := range map[string]struct {
		first, then provider.Fixture
		round       string
		want        string // the round, the teams, the score and the guess
	}{
		"nothing":                     {open, open, "1", "1: Home 1 -:- Away 1, guessed 2:0"},
		"a semi-final has ended":      {open, replaced, "1", "1: Home 1 -:- Away 2, guessed 2:0"},
		"the sides are swapped":       {open, swap(open), "1", "1: Away 1 -:- Home 1, guessed 0:2"},
		"it is played another time":   {open, open, "2", "2: Home 1 -:- Away 1, guessed 2:0"},
		"it ends in another round":    {open, won, "2", "2: Home 1 2:1 Away 1, guessed 2:0"},
		"swapped after the end":       {won, swap(won), "1", "1: Home 1 2:1 Away 1, guessed 2:0"},
		"another round after it":      {won, won, "2", "1: Home 1 2:1 Away 1, guessed 2:0"},
		"swapped, and its end is new": {open, swap(won), "1", "1: Away 1 1:2 Home 1, guessed 0:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Register("ann")
			cup := w.Found("cup")
			w.Ingest(cup.Feed("1", open, bestshottest.Fixture(3, kickOff, provider.Open)))
			w.Guess("ann", w.MatchID(1), 2, 0)
			w.MoveClock(kickOff.Add(-time.Minute))
			w.Ingest(cup.Feed("1", c.first))

			list := func(round string) []view.Match {
				out := w.Ask("ann", "GET", "/api/v2/tournaments/"+cup.ID+"/matches/"+round, nil)
				if out.StatusCode == 404 {
					return nil
				}

				return testkit.Decode[struct{ Data []view.Match }](w.World, out).Data
			}
			list("1") // which is in the cache from now on
			w.Ingest(cup.Feed(c.round, c.then))

			var got []string

			for _, round := range []string{"1", "2"} {
				for _, m := range list(round) {
					if m.ID != w.MatchID(1) {
						continue
					}

					guessed, _, err := pg.Value[string](t.Context(), w.DB,
						`SELECT home_score || ':' || away_score FROM guess WHERE match_id = $1`, m.ID)
					testkit.Must(t, err)

					got = append(got, fmt.Sprintf("%s: %s %s:%s %s, guessed %s", round, m.Home.Name, ints(m.Home.Score),
						ints(m.Away.Score), m.Away.Name, guessed))
				}
			}

			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEmptyTable: if the provider no longer has the standings, the stored ones stay.
func TestEmptyTable(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	table := c.Feed("1")
	table.Kind = ingest.Standings
	table.Standings = []provider.Standing{{Team: provider.Team{ID: "3", Name: "Home 1"}, Position: 1, Points: 3}}
	w.Ingest(table)

	empty := c.Feed("1")
	empty.Kind = ingest.Standings
	w.Ingest(empty)

	if all := testkit.Decode[struct{ Data []view.Standing }](w.World,
		w.Do("ann", "GET", "/tournaments/"+c.ID+"/standings", nil)).Data; len(all) != 1 || all[0].Points != 3 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestBadPartOfAnAnswer: a wrong match is reported, and the others are stored.
func TestBadPartOfAnAnswer(t *testing.T) {
	t.Parallel()

	const good = `{"id":9001,"startTimestamp":1780747200,"status":{"code":0,"type":"notstarted"},` +
		`"homeTeam":{"id":3,"name":"Home"},"awayTeam":{"id":4,"name":"Away"}}`

	w := bestshottest.New(t)
	w.Settings[provider.SofascoreURL] = "https://provider.test/api/v1"
	w.Provider = transport(func(*http.Request) (*http.Response, error) {
		return respond(200, `{"events":[{"id":9002,"startTimestamp":1780747200,"homeTeam":{"id":5},"awayTeam":{"id":5}},`+good+`]}`), nil
	})
	c := w.Found("cup")
	p := c.Feed("1").Poll
	testkit.Must(t, testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller).PollProvider(w.NewContext(), p))

	feeds := testkit.Messages[ingest.Feed](w.World, ingest.FeedQueue)
	if len(feeds) != 1 || feeds[0].Error == "" || len(feeds[0].Fixtures) != 1 {
		t.Fatalf("handed on: %+v", feeds)
	}

	w.Ingest(feeds[0])
	w.MatchID(1)
}

// TestJobsAreIdleWithoutTournaments: they call the database once an hour, so that it may pause, and at once if a
// tournament was made, or opened again.
func TestJobsAreIdleWithoutTournaments(t *testing.T) {
	t.Parallel()

	for name, open := range map[string]func(*testkit.World) func(context.Context) error{
		"polls": func(w *testkit.World) func(context.Context) error {
			return testkit.Open(w, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls
		},
		"reminders": func(w *testkit.World) func(context.Context) error {
			return testkit.Open(w, notice.RemindFunction(), notice.OpenReminders).Remind
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, writes := counting(t)
			job, begin := open(w.World), w.Clock.Now()

			calls := func(after time.Duration) bool {
				t.Helper()
				w.MoveClock(begin.Add(after))
				writes.Store(0)
				testkit.Must(t, job(w.NewContext()))

				return writes.Load() > 0
			}
			if !calls(0) || calls(5*time.Minute) || calls(time.Hour-time.Millisecond) || !calls(time.Hour) || calls(time.Hour+5*time.Minute) {
				t.Error("it does not call the database once an hour")
			}

			path := "/admin/tournaments/" + w.Found("cup").ID

			if !calls(time.Hour+10*time.Minute) || !calls(time.Hour+15*time.Minute) {
				t.Error("with a new tournament it does not call the database each time")
			}

			w.Do(root, "PATCH", path, map[string]string{"status": "completed"})

			if !calls(time.Hour+20*time.Minute) || calls(time.Hour+25*time.Minute) {
				t.Error("after the tournament it does not rest")
			}

			w.Do(root, "PATCH", path, map[string]string{"status": "active"})

			if !calls(time.Hour + 30*time.Minute) {
				t.Error("it rests though a tournament is active again")
			}

			w.Do(root, "PATCH", path, map[string]string{"status": "completed"})

			if !calls(time.Hour+35*time.Minute) || calls(time.Hour+40*time.Minute) {
				t.Error("after the tournament it does not rest again")
			}

			w.Cache.SetError("ERR gone")

			if !calls(time.Hour + 45*time.Minute) {
				t.Error("it rests though it cannot know of a new tournament")
			}
		})
	}
}

// TestLivePolls: a round in play is asked for at once, and in the interval of the setting until the next plan.
func TestLivePolls(t *testing.T) {
	t.Parallel()

	for setting, want := range map[string]string{
		"":    "[0s 1m0s 2m0s 3m0s 4m0s]",
		"60":  "[0s 1m0s 2m0s 3m0s 4m0s]",
		"100": "[0s 1m40s 3m20s]",
		"150": "[0s 2m30s]",
		"300": "[0s]",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Settings[ingest.LiveSeconds] = setting
			c := w.Found("cup")
			w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))
			w.MoveClock(bestshottest.Noon.Add(hour))
			testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

			var got []time.Duration

			begin := w.Clock.Now()
			testkit.Drain(w.World, ingest.PollQueue, 10*time.Minute, func(_ context.Context, p ingest.Poll) error {
				if p.Kind == ingest.Matches {
					got = append(got, w.Clock.Now().Sub(begin))
				}

				return nil
			})

			if fmt.Sprint(got) != want {
				t.Errorf("polls after %v, want %s", got, want)
			}
		})
	}
}

// TestPlan: what a plan asks for, by the time before and after the kick-off.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(30 * hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	plan := func() (kinds string) {
		t.Helper()
		testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

		for _, p := range testkit.Messages[ingest.Poll](w.World, ingest.PollQueue) {
			if kinds += string(p.Kind)[:1]; strings.HasSuffix(kinds, "mmmmm") {
				kinds = strings.TrimSuffix(kinds, "mmmmm") + "M" // now, and each minute until the next plan
			}
		}

		testkit.Drain(w.World, ingest.PollQueue, 4*time.Minute, func(context.Context, ingest.Poll) error { return nil })

		return kinds
	}
	feed := func(kind ingest.Kind) {
		t.Helper()

		f := c.Feed("1")
		f.Kind = kind
		w.Ingest(f)
	}

	for _, s := range []struct {
		at   time.Time
		do   func()
		want string
	}{
		{bestshottest.Noon.Add(time.Minute), func() {}, "rs"}, // rounds and standings are not known
		{bestshottest.Noon.Add(2 * time.Minute), func() { feed(ingest.Rounds); feed(ingest.Standings) }, ""},
		{kickOff.Add(-24*hour + time.Minute), func() {}, "m"}, // begins within a day: once an hour
		{kickOff.Add(-23 * hour), func() { w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open))) }, ""},
		{kickOff.Add(-22*hour + time.Minute), func() {}, "m"},
		{kickOff.Add(-time.Minute), func() { feed(ingest.Rounds); w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open))) }, ""},
		{kickOff, func() {}, "M"}, // has begun: always
		{kickOff.Add(hour), func() { w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined))) }, "M"}, // interrupted
		// the next round may be known
		{kickOff.Add(2 * hour), func() { w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.Ended, 1, 1))) }, "rsm"},
		{kickOff.Add(2*hour + 10*time.Minute), func() { feed(ingest.Rounds); feed(ingest.Standings) }, "sm"}, // the result may be corrected
		{kickOff.Add(2*hour + 41*time.Minute), func() {}, "rsm"},
		{kickOff.Add(5*hour + time.Minute), func() { feed(ingest.Standings) }, "sm"},
		{kickOff.Add(8*hour + 10*time.Minute), func() { feed(ingest.Standings) }, ""},
	} {
		w.MoveClock(s.at)
		s.do()

		if got := plan(); got != s.want {
			t.Errorf("at the kick-off %+v: asks for %q, want %q", s.at.Sub(kickOff), got, s.want)
		}
	}
}

// TestExecutionEnds: an execution ends as done, or as failed with a reason. If its answer is lost,
// another can begin after ten minutes.
func TestExecutionEnds(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Settings[provider.SofascoreURL] = "http://127.0.0.1:1"
	c := w.Found("cup")
	path := "/admin/tournaments/" + c.ID
	w.Do(root, "POST", path+"/standings", nil)

	if err := testkit.CheckProblemCode(w.Ask(root, "POST", "/api/v2"+path+"/standings", nil), 409, "sync_running"); err != nil {
		t.Error(err)
	}

	s := testkit.Open(w.World, ingest.PollProviderFunction(), ingest.OpenPoller)
	testkit.Drain(w.World, ingest.PollQueue, time.Minute, func(ctx context.Context, p ingest.Poll) error { return s.PollProvider(ctx, p) })
	i := testkit.Open(w.World, ingest.IngestFeedFunction(), ingest.Open)
	testkit.Drain(w.World, ingest.FeedQueue, time.Minute, func(ctx context.Context, f ingest.Feed) error { return i.IngestFeed(ctx, f) })

	all := testkit.Decode[struct{ Data []ingest.ExecutionRow }](w.World, w.Do(root, "GET", path+"/executions", nil)).Data
	if len(all) != 1 || all[0].Status != "failed" || all[0].Detail == "" || all[0].Operation != "standings" {
		t.Errorf("the executions are %+v", all)
	}

	w.Do(root, "POST", path+"/standings", nil)
	w.MoveClock(w.Clock.Now().Add(11 * time.Minute)) // its answer is lost
	w.Do(root, "POST", path+"/standings", nil)
}

// TestSync: an administrator asks for the rounds, the standings, the matches of all rounds, or the
// round of one match. An execution for the matches of all rounds ends with the last answer. It fails
// if no round is known.
func TestSync(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	path := "/admin/tournaments/" + c.ID
	sync := func(method, target string) (polls []ingest.Poll, execution string) {
		t.Helper()

		out := w.Do(root, method, target, nil)
		if out.StatusCode != 202 {
			t.Errorf("%s answers %d", target, out.StatusCode)
		}

		if out.Body != "" {
			execution = testkit.Decode[struct{ ExecutionID string }](w.World, out).ExecutionID
		}

		polls = testkit.Messages[ingest.Poll](w.World, ingest.PollQueue)
		w.Clear(ingest.PollQueue)

		return polls, execution
	}
	poll := ingest.Poll{Provider: provider.Default, TournamentID: c.ID, Tournament: "17", Season: bestshottest.Season("cup")}
	of := func(kind ingest.Kind, round provider.Round, execution string) ingest.Poll {
		p := poll
		p.Kind, p.Round, p.Execution = kind, round, execution

		return p
	}

	check := func(want, got []ingest.Poll) {
		t.Helper()

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, part := range []ingest.Kind{ingest.Rounds, ingest.Standings} {
		got, execution := sync("POST", path+"/"+string(part))
		check([]ingest.Poll{of(part, provider.Round{}, execution)}, got)
	}

	got, _ := sync("POST", path+"/matches") // of no round
	check(nil, got)
	w.Ingest(c.Feed("2", bestshottest.Fixture(2, bestshottest.Noon, provider.Open)))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Open)))
	one, two := c.Feed("1").Round, c.Feed("2").Round
	got, execution := sync("POST", path+"/matches")
	check([]ingest.Poll{of(ingest.Matches, one, execution), of(ingest.Matches, two, execution)}, got)
	got, _ = sync("PATCH", "/admin/matches/"+w.MatchID(2)+"/sync")
	check([]ingest.Poll{of(ingest.Matches, two, "")}, got)

	statuses := func() (all []string) {
		for _, e := range testkit.Decode[struct{ Data []ingest.ExecutionRow }](w.World, w.Do(root, "GET", path+"/executions", nil)).Data {
			all = append(all, e.Operation+" "+e.Status)
		}

		slices.Sort(all)

		return all
	}

	waiting := []string{"matches failed", "matches running", "rounds running", "standings running"}
	if diff := cmp.Diff(waiting, statuses()); diff != "" {
		t.Errorf("before the answers (-want +got):\n%s", diff)
	}

	f := c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon, provider.Open))
	f.Execution = execution
	w.Ingest(f) // the first of two rounds

	if diff := cmp.Diff(waiting, statuses()); diff != "" {
		t.Errorf("after the first round (-want +got):\n%s", diff)
	}

	f = c.Feed("2", bestshottest.Fixture(2, bestshottest.Noon, provider.Open))
	f.Execution = execution
	w.Ingest(f)

	if diff := cmp.Diff([]string{"matches done", "matches failed", "rounds running", "standings running"}, statuses()); diff != "" {
		t.Errorf("after the second round (-want +got):\n%s", diff)
	}

	const nothing = "58de2f1b-1374-4c92-bd53-23a81943de4b"
	for target, code := range map[string]string{
		"POST /api/v2/admin/tournaments/" + nothing + "/matches": "tournament_not_found",
		"PATCH /api/v2/admin/matches/" + nothing + "/sync":       "match_not_found",
	} {
		method, target, _ := strings.Cut(target, " ")
		if err := testkit.CheckProblemCode(w.Ask(root, method, target, nil), 404, code); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}
