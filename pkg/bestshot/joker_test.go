package bestshot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

// jokered returns a world with a tournament whose jokers count double. Match n of three begins n hours
// after noon. ann and bob have guessed each 1:0.
func jokered(t *testing.T) (*bestshottest.World, *bestshottest.Tournament) {
	w := bestshottest.New(t)
	w.Register("ann", "bob")
	c := w.Found("cup")
	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]any{"rule": map[string]any{
		"outcome": 3, "homeScore": 0, "awayScore": 0, "goalDifference": 0, "exactScore": 0, "jokerFactor": 2,
	}})

	for n := range 3 {
		w.Ingest(c.Feed("1", bestshottest.Fixture(n+1, bestshottest.Noon.Add(time.Duration(n+1)*hour), provider.Open)))

		for _, u := range []string{"ann", "bob"} {
			w.Guess(u, w.MatchID(n+1), 1, 0)
		}
	}

	return w, c
}

// putJoker gives the joker of round 1 to match n, and returns the code of the problem, or "".
func putJoker(w *bestshottest.World, c *bestshottest.Tournament, user string, n int) string {
	out := w.Ask(user, "PUT", "/api/v2/tournaments/"+c.ID+"/rounds/1/joker", map[string]string{"matchId": w.MatchID(n)})

	if out.StatusCode == 200 {
		return ""
	}

	var problem struct{ Type string }
	testkit.Must(w.T, json.Unmarshal([]byte(out.Body), &problem))

	return problem.Type[strings.LastIndex(problem.Type, ":")+1:]
}

// TestJokerCountsOnce: of the matches that had the joker of a round, the first that had it when play began
// counts double, and no other. It is locked with its match.
func TestJokerCountsOnce(t *testing.T) {
	t.Parallel()

	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }

	type put struct {
		at, match int
		code      string
	}

	for name, c := range map[string]struct {
		puts  []put
		began map[int]int // when matches turn out to have begun, if not at the kick-off
		want  string      // which guesses of ann have the joker, with their points
	}{
		"never set":               {nil, nil, "false 3, false 3, false 3"},
		"set and set again":       {[]put{{10, 1, ""}, {20, 1, ""}}, nil, "true 6, false 3, false 3"},
		"moved":                   {[]put{{10, 1, ""}, {20, 2, ""}}, nil, "false 3, true 6, false 3"},
		"locked with its match":   {[]put{{10, 1, ""}, {70, 2, "joker_window_closed"}}, nil, "true 6, false 3, false 3"},
		"of a match that is on":   {[]put{{70, 1, "joker_window_closed"}, {80, 2, ""}}, nil, "false 3, true 6, false 3"},
		"set after play began":    {[]put{{30, 1, ""}}, map[int]int{1: 20}, "false 3, false 3, false 3"},
		"moved after play began":  {[]put{{10, 1, ""}, {30, 2, ""}}, map[int]int{1: 20}, "true 6, false 3, false 3"},
		"moved on after a while":  {[]put{{10, 1, ""}, {30, 2, ""}, {40, 3, ""}}, map[int]int{1: 20}, "true 6, false 3, false 3"},
		"moved to one that is on": {[]put{{10, 3, ""}, {30, 1, ""}}, map[int]int{1: 20}, "false 3, false 3, false 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, cup := jokered(t)

			for _, p := range c.puts {
				w.MoveClock(at(p.at))

				if got := putJoker(w, cup, "ann", p.match); got != p.code {
					t.Errorf("%+v: %q", p, got)
				}
			}

			w.MoveClock(at(300))

			for n := 1; n <= 3; n++ {
				f := bestshottest.Fixture(n, at(60*n), provider.Ended, 2, 0)
				if minute, ok := c.began[n]; ok {
					f.StartedAt = at(minute)
				}

				w.Ingest(cup.Feed("1", f))
				w.Settle()
			}

			checkSums(t, w)

			out := w.Do("ann", "GET", "/tournaments/"+cup.ID+"/guess?round=1", nil)
			got, sum := "", 0

			for i, g := range testkit.Decode[struct{ Data []guess.Guess }](w.World, out).Data {
				if i > 0 {
					got += ", "
				}

				got += fmt.Sprint(g.Joker, " ", g.Total)
				sum += g.Total
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}

			points, _, err := pg.Value[int](t.Context(), w.DB, `
SELECT s.points
FROM tournament_scoreboard s
JOIN member m ON m.id = s.member_id
WHERE m.nick_name = 'ann'`)
			testkit.Must(t, err)

			if points != sum {
				t.Errorf("the leaderboard has %d, and the guesses %d", points, sum)
			}
		})
	}
}

// TestJokerOfAnEarlierKickOff: play of match 1 turns out to have begun before the joker was moved to match 2,
// after both are settled. The joker counts for match 1 from then on, and for match 2 no more.
func TestJokerOfAnEarlierKickOff(t *testing.T) {
	t.Parallel()
	w, cup := jokered(t)

	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }
	ended := func(n, began int) {
		f := bestshottest.Fixture(n, at(60*n), provider.Ended, 2, 0)
		f.StartedAt = at(began)
		w.Ingest(cup.Feed("1", f))
		w.Settle()
	}
	shown := func() (got string) {
		out := w.Do("ann", "GET", "/tournaments/"+cup.ID+"/guess?round=1", nil)
		for _, g := range testkit.Decode[struct{ Data []guess.Guess }](w.World, out).Data {
			got += fmt.Sprint(g.Joker, " ", g.Total, ";")
		}

		return got
	}

	w.MoveClock(at(10))
	putJoker(w, cup, "ann", 1)
	w.MoveClock(at(30))
	putJoker(w, cup, "ann", 2)
	w.MoveClock(at(300))
	ended(1, 60)
	ended(2, 120)

	if got, want := shown(), "false 3;true 6;false 0;"; got != want {
		t.Fatalf("settled: %s, want %s", got, want)
	}

	w.MoveClock(at(310))
	ended(1, 20)
	w.MoveClock(at(330))
	testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))
	w.Settle()
	checkSums(t, w)

	if got, want := shown(), "true 6;false 3;false 0;"; got != want {
		t.Errorf("corrected: %s, want %s", got, want)
	}

	total, _, err := pg.Value[int](t.Context(), w.DB, `
SELECT points FROM tournament_scoreboard s JOIN member m ON m.id = s.member_id WHERE m.nick_name = 'ann'`)
	testkit.Must(t, err)

	if total != 9 {
		t.Errorf("the leaderboard has %d points, want 9", total)
	}
}

// TestJokerOfAMovedMatch: a match that the provider moves to another round takes no joker with it. The joker of
// the round can be set again, also when that match has begun.
func TestJokerOfAMovedMatch(t *testing.T) {
	t.Parallel()
	w, cup := jokered(t)

	putJoker(w, cup, "ann", 1)
	w.Ingest(cup.Feed("2", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))
	w.MoveClock(bestshottest.Noon.Add(90 * time.Minute))

	if got := putJoker(w, cup, "ann", 2); got != "" {
		t.Errorf("the joker cannot be set again: %s", got)
	}

	w.MoveClock(bestshottest.Noon.Add(5 * hour))

	for n, round := range map[int]string{1: "2", 2: "1"} {
		w.Ingest(cup.Feed(round, bestshottest.Fixture(n, bestshottest.Noon.Add(time.Duration(n)*hour), provider.Ended, 2, 0)))
		w.Settle()
	}

	checkSums(t, w)

	points, _, err := pg.Value[int](t.Context(), w.DB, `
SELECT points FROM tournament_scoreboard s JOIN member m ON m.id = s.member_id WHERE m.nick_name = 'ann'`)
	testkit.Must(t, err)

	if points != 9 {
		t.Errorf("ann has %d points, want 3 without the joker and 6 with it", points)
	}
}

// TestOneJokerInARace: of requests at once one is left.
func TestOneJokerInARace(t *testing.T) {
	t.Parallel()
	w, c := jokered(t)

	ids := []string{w.MatchID(1), w.MatchID(2), w.MatchID(3)}

	var wait sync.WaitGroup

	for _, id := range ids {
		wait.Go(func() {
			w.Ask("ann", "PUT", "/api/v2/tournaments/"+c.ID+"/rounds/1/joker", map[string]string{"matchId": id})
		})
	}

	wait.Wait()

	n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM joker`)
	testkit.Must(t, err)

	if n != 1 {
		t.Errorf("%d jokers, want 1", n)
	}
}

// TestJokerIsRefused: without jokers, and for what is not in the tournament.
func TestJokerIsRefused(t *testing.T) {
	t.Parallel()
	w, c := jokered(t)

	other := w.Found("other")
	w.Ingest(other.Feed("1", bestshottest.Fixture(9, bestshottest.Noon.Add(hour), provider.Open)))

	for name, got := range map[string][2]string{
		"another tournament": {putJoker(w, c, "ann", 9), "match_not_found"},
		"no jokers":          {putJoker(w, other, "ann", 9), "jokers_off"},
		"a stranger":         {putJoker(w, c, "nobody", 1), "member_not_found"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", name, got[0], got[1])
		}
	}
}
