package match_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

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

// maxItem is the largest item that DynamoDB takes, in bytes.
const maxItem = 400 << 10

// TestBallsOfTestMatch stores the longest match there is.
func TestBallsOfTestMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(3, cricsheet.Test, match.SlotLength)
	w.To(crickettest.At(len(m.Frames)))
	w.TickAt(w.Ticker(), len(m.Frames)+1)
	provider, err := catalog.OpenProvider(w.Ctx(), w.Env(schedule.SyncFixturesFunction))
	testkit.Must(t, err)
	page, err := provider.Fixture(w.Ctx(), crickettest.ID(m.ID))
	testkit.Must(t, err)
	want := scorer.Balls(page)
	if len(want) != len(m.Deliveries) || len(want) < 1500 {
		t.Fatalf("the match has %d balls, of which %d are said", len(m.Deliveries), len(want))
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
			t.Errorf("an item of %s has %d bytes", table, largest)
		}
	}

	s := testkit.Open(w.World, match.ListBallsFunction, match.OpenMatches)
	list := func(in match.ListBalls) (all []score.Ball, pages int) {
		for in.ID = crickettest.ID(m.ID); ; {
			page, err := s.ListBalls(w.Ctx(), &in)
			testkit.Must(t, err)
			all, pages = append(all, page.Body.Balls...), pages+1
			if n := len(page.Body.Balls); page.Body.Next != "" && in.After == 0 && (n < match.BallsPerPage || n > 2*match.BallsPerPage) {
				t.Errorf("page %d has %d balls", pages, n)
			}
			if in.Cursor = page.Body.Next; in.Cursor == "" {
				return all, pages
			}
		}
	}
	if got, pages := list(match.ListBalls{}); !reflect.DeepEqual(got, want) || pages < 10 {
		t.Errorf("%d pages list %d balls, want the %d that were said, in order", pages, len(got), len(want))
	}
	second := slices.DeleteFunc(slices.Clone(want), func(b score.Ball) bool { return b.Innings != 2 })
	if got, _ := list(match.ListBalls{Innings: 2}); !reflect.DeepEqual(got, second) {
		t.Errorf("the second innings lists %d balls, want %d", len(got), len(second))
	}
	newest := want[len(want)-100].ID
	if got, _ := list(match.ListBalls{After: newest}); !reflect.DeepEqual(got, want[len(want)-99:]) {
		t.Errorf("after the hundredth last, %d balls are listed", len(got))
	}
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestChunks has any sequence of snapshots leave what the last one lists, and
// the pointer move forward only.
func TestChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h match.BallIndex
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
			chunks, err := h.Record("7", balls, int64(slot), crickettest.KickOff)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chunks {
				stored[c.MatchID] = c
			}
			if h.LastProcessedBall != newest {
				t.Fatalf("the last processed ball is %d, want %d", h.LastProcessedBall, newest)
			}
			var got []score.Ball
			for _, meta := range h.Chunks {
				var some []score.Ball
				if err := json.Unmarshal([]byte(stored["7#"+meta.Key].Balls), &some); err != nil {
					t.Fatal(err)
				}
				if ids := some[0].Innings; ids != meta.Innings() {
					t.Fatalf("chunk %s is of innings %d", meta.Key, ids)
				}
				got = append(got, some...)
			}
			if !slices.Equal(got, balls) {
				t.Fatalf("stored are\n%v\nsaid were\n%v", got, balls)
			}
			if again, _ := h.Record("7", balls, int64(slot), crickettest.KickOff); len(again) > 0 {
				t.Fatalf("the same balls write %d chunks", len(again))
			}
		}
	})
}

// after is the label of the legal ball that follows.
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

// TestUnlabelledBalls has a label that is none cost no ball.
func TestUnlabelledBalls(t *testing.T) {
	t.Parallel()
	var h match.BallIndex
	balls := []score.Ball{{ID: 1, Innings: 1, At: "0.1"}, {ID: 2, Innings: 1, At: "x"}, {ID: 3, Innings: 1, At: "7.2"}}
	chunks, err := h.Record("7", balls, 1, crickettest.KickOff)
	testkit.Must(t, err)
	n := 0
	for _, c := range chunks {
		var some []score.Ball
		testkit.Must(t, json.Unmarshal([]byte(c.Balls), &some))
		n += len(some)
	}
	if n != 3 || h.LastProcessedBall != 3 {
		t.Errorf("%d balls are stored, up to %d", n, h.LastProcessedBall)
	}
}
