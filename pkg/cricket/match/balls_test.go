package match_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/tables"
)

// maxItem is the maximum size of an item of DynamoDB, in bytes.
const maxItem = 400 << 10

// TestBallsOfTestMatch: the items of the longest format stay far below the limit, and
// every page and filter lists the balls in order.
func TestBallsOfTestMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(3, cricsheet.Test, match.SlotLength)
	w.MoveClock(crickettest.At(len(m.Frames)))
	w.TickAt(w.Ticker(), len(m.Frames)+1)
	provider, err := catalog.OpenProvider(w.NewContext(), w.Env(schedule.SyncFixturesFunction))
	testkit.Must(t, err)
	page, err := provider.Fixture(w.NewContext(), crickettest.ID(m.ID))
	testkit.Must(t, err)
	want := scorer.Balls(page)
	if len(want) != len(m.Deliveries) || len(want) < 1500 {
		t.Fatalf("the match has %d balls, and the provider lists %d, want all of at least 1500", len(m.Deliveries), len(want))
	}
	for table, sizes := range map[string][]int{"balls": nil, "score": nil} {
		switch table {
		case "balls":
			for _, c := range testkit.Rows[match.BallChunk](w.World, tables.Processing) {
				if strings.Contains(c.MatchID, "#") {
					sizes = append(sizes, len(c.Balls))
				}
			}
			if mean := sum(sizes) / len(sizes); mean > 5<<10 || len(sizes) < 60 {
				t.Errorf("%d chunks have %d bytes on average, want about 4 kB", len(sizes), mean)
			}
			text, err := json.Marshal(testkit.Row[match.BallIndex](w.World, tables.Processing, crickettest.ID(m.ID)))
			testkit.Must(t, err)
			sizes = append(sizes, len(text))
		case "score":
			sizes = append(sizes, len(testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, crickettest.ID(m.ID)).StateJSON))
		}
		if largest := slices.Max(sizes); largest > maxItem/10 {
			t.Errorf("largest item of %s: %d bytes, want at most %d", table, largest, maxItem/10)
		}
	}

	s := testkit.Open(w.World, match.ListBallsFunction, match.OpenMatches)
	list := func(in match.ListBalls) (all []score.Ball, pages int) {
		for in.ID = crickettest.ID(m.ID); ; {
			page, err := s.ListBalls(w.NewContext(), &in)
			testkit.Must(t, err)
			all, pages = append(all, page.Body.Balls...), pages+1
			if n := len(page.Body.Balls); page.Body.Next != "" && in.After == 0 && (n < match.BallsPerPage || n > 2*match.BallsPerPage) {
				t.Errorf("page %d: %d balls, want %d to %d", pages, n, match.BallsPerPage, 2*match.BallsPerPage)
			}
			if in.Cursor = page.Body.Next; in.Cursor == "" {
				return all, pages
			}
		}
	}
	if got, pages := list(match.ListBalls{}); !slices.Equal(got, want) || pages < 10 {
		t.Errorf("%d pages, want at least 10; balls (-want +got):\n%s", pages, cmp.Diff(want, got))
	}
	second := slices.DeleteFunc(slices.Clone(want), func(b score.Ball) bool { return b.Innings != 2 })
	if got, _ := list(match.ListBalls{Innings: 2}); !slices.Equal(got, second) {
		t.Errorf("second innings (-want +got):\n%s", cmp.Diff(second, got))
	}
	newest := want[len(want)-100].ID
	if got, _ := list(match.ListBalls{After: newest}); !slices.Equal(got, want[len(want)-99:]) {
		t.Errorf("after the hundredth ball from the end (-want +got):\n%s", cmp.Diff(want[len(want)-99:], got))
	}
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestRecordStoresTheLastSnapshot: after any sequence of snapshots the chunks hold the
// balls of the last one, and LastProcessedBall has never decreased.
func TestRecordStoresTheLastSnapshot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var index match.BallIndex
		var balls []score.Ball
		stored := map[string]match.BallChunk{}
		newest, lastID := 0, 0
		for slot := range rapid.IntRange(1, 12).Draw(t, "snapshots") {
			for range rapid.IntRange(0, 40).Draw(t, "changes") {
				i := rapid.IntRange(0, len(balls)).Draw(t, "where")
				change := rapid.SampledFrom([]string{"bowl", "bowl", "bowl", "insert", "correct", "delete"}).Draw(t, "change")
				switch {
				case change == "bowl" || len(balls) == 0:
					lastID++
					b := score.Ball{ID: lastID, Innings: 1, At: "0.1"}
					if len(balls) > 0 {
						b = balls[len(balls)-1]
						b.ID, b.At = lastID, after(b.At)
						if rapid.IntRange(0, 30).Draw(t, "innings") == 0 {
							b.Innings, b.At = b.Innings+1, "0.1"
						}
					}
					balls = append(balls, b)
				case i == len(balls):
				case change == "insert": // a wide that was forgotten
					lastID++
					b := balls[i]
					b.ID = lastID
					balls = slices.Insert(balls, i, b)
				case change == "correct":
					balls[i].Runs++
				case change == "delete":
					balls = slices.Delete(balls, i, i+1)
				}
			}
			for _, b := range balls {
				newest = max(newest, b.ID)
			}
			chunks, err := index.Record("7", balls, int64(slot), crickettest.KickOff)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chunks {
				stored[c.MatchID] = c
			}
			if index.LastProcessedBall != newest {
				t.Fatalf("last processed ball %d, want %d", index.LastProcessedBall, newest)
			}
			var got []score.Ball
			for _, meta := range index.Chunks {
				var some []score.Ball
				if err := json.Unmarshal([]byte(stored["7#"+meta.Key].Balls), &some); err != nil {
					t.Fatal(err)
				}
				if innings := some[0].Innings; innings != meta.Innings() {
					t.Fatalf("chunk %s has balls of innings %d", meta.Key, innings)
				}
				got = append(got, some...)
			}
			if !slices.Equal(got, balls) {
				t.Fatalf("stored balls (-want +got):\n%s", cmp.Diff(balls, got))
			}
			if again, _ := index.Record("7", balls, int64(slot), crickettest.KickOff); len(again) > 0 {
				t.Fatalf("%d chunks changed for the same balls, want none", len(again))
			}
		}
	})
}

// after returns the label of the next legal ball.
func after(label string) string {
	over, ball, _ := strings.Cut(label, ".")
	if ball != "6" {
		return over + "." + string(ball[0]+1)
	}
	n := json.Number(over)
	o, _ := n.Int64()
	text, _ := json.Marshal(o + 1)
	return string(text) + ".1"
}

// TestBallWithInvalidLabelIsStored: a label that is not a number loses no ball.
func TestBallWithInvalidLabelIsStored(t *testing.T) {
	t.Parallel()
	var index match.BallIndex
	balls := []score.Ball{{ID: 1, Innings: 1, At: "0.1"}, {ID: 2, Innings: 1, At: "x"}, {ID: 3, Innings: 1, At: "7.2"}}
	chunks, err := index.Record("7", balls, 1, crickettest.KickOff)
	testkit.Must(t, err)
	n := 0
	for _, c := range chunks {
		var some []score.Ball
		testkit.Must(t, json.Unmarshal([]byte(c.Balls), &some))
		n += len(some)
	}
	if n != 3 || index.LastProcessedBall != 3 {
		t.Errorf("%d balls are stored and the last is %d, want 3 and 3", n, index.LastProcessedBall)
	}
}
