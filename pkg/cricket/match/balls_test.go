package match_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	provider, err := catalog.OpenProvider(w.NewContext(), w.Env(schedule.SyncFixturesFunction()))
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

	s := testkit.Open(w.World, match.ListBallsFunction(), match.OpenMatches)

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

	index := testkit.Row[match.BallIndex](w.World, tables.Processing, crickettest.ID(m.ID))

	slots := []int64{}
	for _, c := range index.Chunks {
		slots = append(slots, c.Slot)
	}

	last := slices.Max(slots)
	if got, _ := list(match.ListBalls{After: last}); len(got) > 0 {
		t.Errorf("%d balls after the revision of the last change, want none", len(got))
	}
}

// TestClientFollowsChanges: a client that replaces the overs of each answer, and asks for
// those after its revision, has what a new client gets, page by page. It gets nothing that
// it has.
func TestClientFollowsChanges(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	s := testkit.Open(w.World, match.ListBallsFunction(), match.OpenMatches)

	type overs struct{ innings, group int }

	read := func(have map[overs][]score.Ball, after int64) (revision int64, groups int) {
		for in := (match.ListBalls{ID: "7", After: after}); ; {
			page, err := s.ListBalls(w.NewContext(), &in)
			testkit.Must(t, err)

			for _, g := range page.Body.Overs {
				delete(have, overs{g.Innings, g.From / 5})

				groups++
			}

			for _, b := range page.Body.Balls {
				over, _, _ := strings.Cut(b.At, ".")
				n, err := strconv.Atoi(over)
				testkit.Must(t, err)

				at := overs{b.Innings, n / 5}
				have[at] = append(have[at], b)
			}

			if in.Cursor = page.Body.Next; in.Cursor == "" {
				return page.Body.Revision, groups
			}
		}
	}

	var balls []score.Ball
	for n := range 90 {
		balls = append(balls, score.Ball{ID: n + 1, Innings: 1, At: fmt.Sprintf("%d.%d", n/6, n%6+1)})
	}

	var index match.BallIndex

	follower := map[overs][]score.Ball{}

	var revision int64

	for n, step := range []struct {
		change string
		balls  func() []score.Ball
		groups int // groups of overs
	}{
		{"no ball", func() []score.Ball { return nil }, 0},
		{"the first ball", func() []score.Ball { return balls[:1] }, 1},
		{"all of them", func() []score.Ball { return balls }, 3},
		{"nothing", func() []score.Ball { return balls }, 0},
		{"a correction of an old ball", func() []score.Ball { balls = slices.Clone(balls); balls[3].Runs = 4; return balls }, 1},
		{"a deleted ball", func() []score.Ball { balls = slices.Delete(slices.Clone(balls), 40, 41); return balls }, 1},
		{"deleted overs", func() []score.Ball { return balls[:59] }, 1},
		{"still deleted", func() []score.Ball { return balls[:59] }, 0},
		{"bowled again", func() []score.Ball { return balls[:60] }, 1},
		{"all deleted", func() []score.Ball { return nil }, 3},
		{"the second innings first", func() []score.Ball { return []score.Ball{{ID: 200, Innings: 2, At: "0.1"}} }, 1},
	} {
		now := step.balls()
		chunks, err := index.Record(f, now, false, int64(n+1), crickettest.KickOff)
		testkit.Must(t, err)

		for _, c := range chunks {
			testkit.PutRows(w.World, tables.Processing, c)
		}

		testkit.PutRows(w.World, tables.Processing, index)

		groups := 0
		revision, groups = read(follower, revision)
		fresh := map[overs][]score.Ball{}
		read(fresh, 0)

		if diff := cmp.Diff(fresh, follower); diff != "" || groups != step.groups {
			t.Errorf("%s: %d groups of overs, want %d; (-new client +follower):\n%s", step.change, groups, step.groups, diff)
		}

		n := 0
		for _, group := range fresh {
			n += len(group)
		}

		if n != len(now) {
			t.Errorf("%s: the match has %d balls, want %d", step.change, n, len(now))
		}
	}
}

// TestChangeBetweenPages: all pages have the revision of the first, so that the client's next
// request gets what has changed since.
func TestChangeBetweenPages(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	s := testkit.Open(w.World, match.ListBallsFunction(), match.OpenMatches)

	var index match.BallIndex

	record := func(balls []score.Ball, slot int64) {
		t.Helper()

		chunks, err := index.Record(f, balls, false, slot, crickettest.KickOff)
		testkit.Must(t, err)
		testkit.PutRows(w.World, tables.Processing, chunks...)
		testkit.PutRows(w.World, tables.Processing, index)
	}

	balls := make([]score.Ball, 600)
	for n := range balls {
		balls[n] = score.Ball{ID: n + 1, Innings: 1, At: fmt.Sprintf("%d.%d", n/6, n%6+1)}
	}

	record(balls, 1)

	first, err := s.ListBalls(w.NewContext(), &match.ListBalls{ID: "7"})
	testkit.Must(t, err)

	balls[3].Runs = 4
	record(balls, 2)

	second, err := s.ListBalls(w.NewContext(), &match.ListBalls{ID: "7", Cursor: first.Body.Next})
	testkit.Must(t, err)

	if first.Body.Revision != 1 || second.Body.Revision != 1 {
		t.Errorf("the pages have the revisions %d and %d, want 1 and 1", first.Body.Revision, second.Body.Revision)
	}

	changes, err := s.ListBalls(w.NewContext(), &match.ListBalls{ID: "7", After: second.Body.Revision})
	testkit.Must(t, err)

	if len(changes.Body.Balls) != 30 || changes.Body.Balls[3].Runs != 4 {
		t.Errorf("the next request gets %d balls, want the 30 of the five overs with the change", len(changes.Body.Balls))
	}
}

// TestBallsOfAResultAreKept: once a match has a result, all of its balls are stored once more, for good. Their revisions
// stay, so that an app reads none of them again. Later changes are stored alone.
func TestBallsOfAResultAreKept(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")

	var index match.BallIndex

	balls := []score.Ball{{ID: 1, Innings: 1, At: "0.1"}, {ID: 2, Innings: 1, At: "7.1"}, {ID: 3, Innings: 2, At: "0.1"}}
	end := crickettest.KickOff.Add(3 * time.Hour)

	for _, step := range []struct {
		name string
		runs int // of the last ball
		over bool
		want int // chunks that are stored
	}{
		{"during play", 0, false, 3},
		{"nothing new", 0, false, 0},
		{"the result", 0, true, 3},
		{"the result again", 0, true, 0},
		{"a correction after the result", 4, true, 1},
		{"the result is withdrawn", 4, false, 0},
		{"play goes on", 6, false, 1},
		{"the next result", 6, true, 1},
	} {
		balls[2].Runs = step.runs
		before := index

		slot := match.SlotOf(end)
		end = end.Add(time.Minute)

		chunks, err := index.Record(f, slices.Clone(balls), step.over, slot, end)
		testkit.Must(t, err)

		if len(chunks) != step.want {
			t.Errorf("%s: %d chunks are stored, want %d", step.name, len(chunks), step.want)
		}

		for _, c := range chunks {
			testkit.PutRows(w.World, tables.Processing, c)
		}

		for i, c := range before.Chunks {
			if next := index.Chunks[i]; next.Sum == c.Sum && next.Slot != c.Slot {
				t.Errorf("%s: the revision of %s is %d, want %d", step.name, c.Key, next.Slot, c.Slot)
			}
		}
	}

	testkit.PutRows(w.World, tables.Processing, index)
	w.MoveClock(end.AddDate(10, 0, 0))

	out := testkit.Decode[struct{ Balls []score.Ball }](w.World,
		testkit.Call(w.Routes(), match.ListBallsFunction(), "/matches/7/balls", "", ""))
	if len(out.Balls) != 3 || out.Balls[2].Runs != 6 {
		t.Errorf("after ten years: %+v, want the three balls", out.Balls)
	}

	for _, row := range testkit.Rows[match.BallChunk](w.World, tables.Processing) {
		if row.TTL < w.Clock.Now().Unix() {
			t.Errorf("the chunk %s has expired", row.MatchID)
		}
	}
}

// TestBallsExpireTogether: all balls of a match without a result are kept for seven days after its latest
// possible end, whenever they were bowled. Afterwards the answer is balls_expired.
func TestBallsExpireTogether(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	f.Type = "Test/5day"
	testkit.PutRows(w.World, tables.Fixtures, f)

	end := crickettest.KickOff.AddDate(0, 0, 6+7)
	routes := w.Routes()
	list := func() int {
		return testkit.Call(routes, match.ListBallsFunction(), "/matches/7/balls", "", "").StatusCode
	}

	var index match.BallIndex

	balls := []score.Ball{{ID: 1, Innings: 1, At: "0.1"}}
	for day := range 5 {
		balls = append(balls, score.Ball{ID: day + 2, Innings: 1, At: fmt.Sprint(day*20, ".1")})
		chunks, err := index.Record(f, balls, false, int64(day), crickettest.KickOff.AddDate(0, 0, day))
		testkit.Must(t, err)

		for _, c := range chunks {
			testkit.PutRows(w.World, tables.Processing, c)

			if c.TTL != end.Unix() {
				t.Errorf("the balls of day %d expire at %v, want %v", day+1, time.Unix(c.TTL, 0).UTC(), end)
			}
		}
	}

	if got := list(); got != 200 {
		t.Errorf("before the first ball is stored the answer is %d, want 200", got)
	}

	testkit.PutRows(w.World, tables.Processing, index)
	w.MoveClock(end.Add(-time.Second))
	out := testkit.Decode[struct{ Overs []match.OverGroup }](w.World,
		testkit.Call(routes, match.ListBallsFunction(), "/matches/7/balls", "", ""))

	overs := []match.OverGroup{
		{Innings: 1, From: 20, To: 25},
		{Innings: 1, From: 40, To: 45},
		{Innings: 1, From: 60, To: 65},
		{Innings: 1, From: 80, To: 85},
	}
	if diff := cmp.Diff(overs, out.Overs); diff != "" {
		t.Errorf("groups of overs (-want +got):\n%s", diff)
	}

	if got := list(); got != 200 {
		t.Errorf("a second before the balls expire the answer is %d, want 200", got)
	}

	w.MoveClock(end)

	if out := testkit.Call(routes, match.ListBallsFunction(), "/matches/7/balls", "", ""); out.StatusCode != 404 ||
		!strings.Contains(out.Body, ":balls_expired") {
		t.Errorf("the answer is %d %s, want 404 and balls_expired", out.StatusCode, out.Body)
	}

	testkit.Must(t, w.DeleteRow(tables.Processing, "7"))

	if got := list(); got != 404 {
		t.Errorf("once the rows are deleted the answer is %d, want 404", got)
	}
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}

	return n
}

// TestRecordStoresTheLastSnapshot: after any sequence of snapshots the chunks hold the
// balls of the last one.
func TestRecordStoresTheLastSnapshot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			index match.BallIndex
			balls []score.Ball
		)

		stored := map[string]match.BallChunk{}
		lastID := 0

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

			chunks, err := index.Record(match.Fixture{MatchID: "7", StartTime: crickettest.KickOff.Format(tables.TimeLayout)}, balls, false,
				int64(slot), crickettest.KickOff)
			if err != nil {
				t.Fatal(err)
			}

			for _, c := range chunks {
				stored[c.MatchID] = c
			}

			var got []score.Ball

			for _, meta := range index.Chunks {
				var some []score.Ball
				if err := json.Unmarshal([]byte(stored["7#"+meta.Key].Balls), &some); err != nil {
					t.Fatal(err)
				}

				if len(some) > 0 && some[0].Innings != meta.Innings() {
					t.Fatalf("chunk %s has balls of innings %d", meta.Key, some[0].Innings)
				}

				got = append(got, some...)
			}

			if !slices.Equal(got, balls) {
				t.Fatalf("stored balls (-want +got):\n%s", cmp.Diff(balls, got))
			}

			f := match.Fixture{MatchID: "7", StartTime: crickettest.KickOff.Format(tables.TimeLayout)}
			if again, _ := index.Record(f, balls, false, int64(slot), crickettest.KickOff); len(again) > 0 {
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
	chunks, err := index.Record(match.Fixture{MatchID: "7", StartTime: crickettest.KickOff.Format(tables.TimeLayout)},
		balls, false, 1, crickettest.KickOff)
	testkit.Must(t, err)

	n := 0

	for _, c := range chunks {
		var some []score.Ball
		testkit.Must(t, json.Unmarshal([]byte(c.Balls), &some))
		n += len(some)
	}

	if n != 3 {
		t.Errorf("%d balls are stored, want 3", n)
	}
}
