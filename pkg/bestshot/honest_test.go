package bestshot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

// TestNoGuessCountsFromTheFirstSignOfPlay: whatever the stored kick-off says, a guess counts as it was
// before play began. It begins at the provider's time of the first half, or with the first sign of play,
// or at the provider's kick-off if that is earlier.
func TestNoGuessCountsFromTheFirstSignOfPlay(t *testing.T) {
	t.Parallel()

	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }
	const stored = 120 // minutes after noon: the stored kick-off

	for name, c := range map[string]struct {
		guesses []int // when ann guesses, in minutes: the home team gets one goal more each time
		polls   []func(f *provider.Fixture) int
		refused []int  // when a guess is refused
		want    string // the goals that count, and whether the guess is late
		board   []string
	}{
		"in play before the kick-off": {
			guesses: []int{10, 30},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay = true; return 50 },
			},
			refused: []int{51, 119},
			want:    "2 false",
			board:   []string{"1 ann 3"},
		},
		"the minute tells when it began": {
			guesses: []int{10, 30},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay, f.Minute = true, 25; return 50 },
			},
			want:  "1 true",
			board: []string{"1 ann 3"},
		},
		"the provider tells when it began": {
			guesses: []int{10, 30, 40},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay, f.StartedAt = true, at(35); return 50 },
			},
			want:  "2 true",
			board: []string{"1 ann 3"},
		},
		"no guess before it began": {
			guesses: []int{30},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay, f.StartedAt = true, at(20); return 50 },
			},
			want:  "1 true",
			board: nil,
		},
		"brought forward, and seen when it is over": {
			guesses: []int{10, 30},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.KickOff, f.Status = at(20), provider.Ended; return 130 },
			},
			want:  "1 true",
			board: []string{"1 ann 3"},
		},
		"begun late": {
			guesses: []int{10},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay, f.StartedAt = true, at(140); return 145 },
			},
			refused: []int{121, 150},
			want:    "1 false",
			board:   []string{"1 ann 3"},
		},
		"begun twice": { // a false start is taken back: the match takes guesses until it begins
			guesses: []int{10, 70},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.InPlay = true; return 50 },
				func(f *provider.Fixture) int { return 60 },
				func(f *provider.Fixture) int { f.InPlay = true; return 125 },
			},
			refused: []int{55},
			want:    "2 false",
			board:   []string{"1 ann 3"},
		},
		"the kick-off was wrong for a while": { // and the settlement with it
			guesses: []int{10, 30},
			polls: []func(*provider.Fixture) int{
				func(f *provider.Fixture) int { f.KickOff, f.Status = at(20), provider.Ended; return 230 },
				func(f *provider.Fixture) int { f.KickOff, f.Status = at(stored), provider.Ended; return 240 },
			},
			want:  "2 false",
			board: []string{"1 ann 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			w.Register("ann")
			cup := w.Found("cup")
			w.Ingest(cup.Feed("1", bestshottest.Fixture(1, at(stored), provider.Open)))

			m := w.MatchID(1)
			type step struct {
				at int
				do func()
			}

			var steps []step

			for n, minute := range c.guesses {
				steps = append(steps, step{minute, func() {
					if out := w.Guess("ann", m, n+1, 0); out.StatusCode != 200 {
						t.Errorf("the guess at %d: %d %s", minute, out.StatusCode, out.Body)
					}
				}})
			}

			for _, minute := range c.refused {
				steps = append(steps, step{minute, func() {
					if err := testkit.CheckProblemCode(w.Guess("ann", m, 9, 9), 409, "guess_window_closed"); err != nil {
						t.Errorf("at %d: %v", minute, err)
					}
				}})
			}

			ended := bestshottest.Fixture(1, at(stored), provider.Ended, 5, 0)

			for _, change := range c.polls {
				f := bestshottest.Fixture(1, at(stored), provider.Open)
				minute := change(&f)

				if f.Status == provider.Ended {
					f.Home.Score, f.Away.Score = ended.Home.Score, ended.Away.Score
					ended = f
				}

				if !f.StartedAt.IsZero() {
					ended.StartedAt = f.StartedAt
				}

				steps = append(steps, step{minute, func() { w.Ingest(cup.Feed("1", f)); w.Settle() }})
			}

			steps = append(steps, step{300, func() { w.Ingest(cup.Feed("1", ended)); w.Settle() }})

			for len(steps) > 0 { // by time
				next := 0
				for i, s := range steps {
					if s.at < steps[next].at {
						next = i
					}
				}

				w.MoveClock(at(steps[next].at))
				steps[next].do()
				steps = append(steps[:next], steps[next+1:]...)
			}

			g := testkit.Decode[struct{ Data []guess.Guess }](w.World, w.Do("ann", "GET", "/tournaments/"+cup.ID+"/guess?round=1", nil)).Data[0]
			if got := fmt.Sprint(ints(g.Home.Value), " ", g.Late); got != c.want {
				t.Errorf("the guess counts as %s, want %s", got, c.want)
			}

			if diff := cmp.Diff(c.board, cup.Board("ann")); diff != "" {
				t.Errorf("the leaderboard (-want +got):\n%s", diff)
			}

			checkSums(t, w)
		})
	}
}

// TestBeginningIsKept: a provider may say in the first half only when it began. Play has begun then, also by the
// answers after it, until the provider takes the play back. A match that is over without a score does not.
func TestBeginningIsKept(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	cup := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)
	at := func(minutes int) time.Time { return kickOff.Add(time.Duration(minutes) * time.Minute) }
	w.Ingest(cup.Feed("1", bestshottest.Fixture(1, kickOff, provider.Open)))

	for _, step := range []struct {
		minute int
		change func(*provider.Fixture)
		began  int // in minutes after the kick-off, -1 if play has not begun
	}{
		{10, func(f *provider.Fixture) { f.InPlay, f.StartedAt = true, at(7) }, 7},
		{12, func(*provider.Fixture) {}, -1},
		{25, func(f *provider.Fixture) { f.InPlay = true }, 0},
		{30, func(f *provider.Fixture) { f.InPlay, f.StartedAt = true, at(15) }, 15},
		{80, func(f *provider.Fixture) { f.InPlay, f.Minute = true, 50 }, 15},
		{115, func(f *provider.Fixture) { f.Status, f.Over = provider.NotDefined, true }, 15}, // without a score
		{120, func(f *provider.Fixture) { *f = bestshottest.Fixture(1, kickOff, provider.Ended, 1, 0) }, 15},
		{130, func(f *provider.Fixture) { *f = bestshottest.Fixture(1, at(-20), provider.Ended, 1, 0) }, 15},
	} {
		f := bestshottest.Fixture(1, kickOff, provider.Open)
		step.change(&f)
		w.MoveClock(at(step.minute))
		w.Ingest(cup.Feed("1", f))
		w.Settle()

		began, _, err := pg.Value[*time.Time](t.Context(), w.DB, `SELECT began_at FROM match`)
		testkit.Must(t, err)

		if got := began != nil; got != (step.began >= 0) || got && !began.Equal(at(step.began)) {
			t.Errorf("after %d minutes play began at %v, want %d minutes after the kick-off", step.minute, began, step.began)
		}
	}

	n, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM settlement`)
	testkit.Must(t, err)

	if n != 1 {
		t.Errorf("it is settled %d times", n)
	}
}

// TestEarlierGuessesAreKept: the last 20, and a guess that is sent again is no change.
func TestEarlierGuessesAreKept(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	w.Register("ann")
	cup := w.Found("cup")
	w.Ingest(cup.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))

	for n := range 25 {
		for range 2 {
			w.Guess("ann", w.MatchID(1), n, 0)
		}

		w.MoveClock(w.Clock.Now().Add(time.Second))
	}

	got, _, err := pg.Value[string](t.Context(), w.DB, `
SELECT concat_ws(' ', cardinality(earlier), earlier[1].home_score, earlier[cardinality(earlier)].home_score, home_score)
FROM guess`)
	testkit.Must(t, err)

	if got != "20 4 23 24" {
		t.Errorf("number, first, last and latest are %s, want 20 4 23 24", got)
	}
}
