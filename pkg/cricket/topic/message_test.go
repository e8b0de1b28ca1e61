package topic_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/push/fcm"
)

// rowOf returns the stored row of a display.
func rowOf(t interface{ Fatal(...any) }, d score.Display) match.DisplayRow {
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}

	return match.DisplayRow{Display: match.RawJSON(text), At: 1780315200, Playing: true}
}

// TestMessagesFit: in the states of recorded matches, and for each perspective, a message to a topic is within Google's
// limit, and has the whole display.
func TestMessagesFit(t *testing.T) {
	t.Parallel()

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)

			var (
				st   score.State
				most int
			)

			for n := 1; n <= len(r.Totals); n++ {
				st, _ = scorer.Read(r.FeedAt(n), st)

				for _, view := range []string{st.Local.ID, st.Visitor.ID, match.Neutral} {
					row := rowOf(t, st.For(view))

					m, err := topic.MessageOf("9223372036854775807", view, row, 0, time.Now())
					if err != nil {
						t.Fatal(err)
					}

					if most = max(most, m.Bytes()); m.Bytes() > fcm.MaxTopic || m.Bytes() < len(row.Display) {
						t.Fatalf("ball %d: %d bytes, the display has %d", n, m.Bytes(), len(row.Display))
					}
				}
			}

			t.Logf("at most %d bytes", most)
		})
	}
}

// TestLargestDisplaysFit: whatever the provider sends, a message is within Google's limit.
func TestLargestDisplaysFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st, _ := scorer.Read(scoretest.DrawFixture(t), score.State{})
		text := rapid.SampledFrom([]string{"a", "é", "<", "🏏", `"`, "\u2028"}).Draw(t, "letter")
		long := strings.Repeat(text, 200)

		st.Local.Name, st.Visitor.Name, st.Local.Code, st.Visitor.Code, st.Status, st.Toss.Text, st.Round, st.Result.Text =
			long, long, long, long, long, long, long, long
		st.LastSix = []string{long, long, long, long, long, long}
		st.Batters, st.Bowler.Name, st.LastWicket.Name = []score.Batter{{Name: long}, {Name: long}}, long, long

		for _, view := range []string{st.Local.ID, match.Neutral} {
			m, err := topic.MessageOf("9223372036854775807", "9223372036854775807", rowOf(t, st.For(view)), 1780319999, time.Now())
			if err != nil {
				t.Fatal(err)
			}

			if m.Bytes() > fcm.MaxTopic {
				t.Fatalf("the message has %d bytes", m.Bytes())
			}
		}
	})
}

// TestCompact: what is left out of a display that is too large, the first first; and the rest stays.
func TestCompact(t *testing.T) {
	t.Parallel()

	full := score.Display{
		Phase: "live", Status: "1st innings", Headline: "HAR batting", Detail: "detail", Local: score.Side{Name: "Harbour", Score: "10/1"},
		Visitor: score.Side{Name: "Valley"}, Batters: []score.Crease{{Name: "A"}}, Bowler: score.Spell{Name: "B"}, LastSix: []string{"1"},
		RunRate: "5.00", NeedRate: "6.00", Partnership: "1 (2)", LastWicket: "C 1 (2)", SuperOver: "SO", Result: "r", Spoken: "spoken",
	}
	whole := string(rowOf(t, full).Display)

	for name, c := range map[string]struct {
		size int
		want func(*score.Display)
	}{
		"all":    {len(whole), func(*score.Display) {}},
		"a byte": {len(whole) - 1, func(d *score.Display) { d.Spoken = "" }},
		"everything": {1, func(d *score.Display) {
			*d = score.Display{Phase: "live", Status: "1st innings", Headline: "HAR batting", Local: d.Local, Visitor: d.Visitor}
		}},
	} {
		want := full
		c.want(&want)

		text, err := topic.Compact(whole, full, c.size)

		var got score.Display
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(string(rowOf(t, want).Display), string(rowOf(t, got).Display)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestChip: the innings of the batting side, if it fits the chip of the status bar.
func TestChip(t *testing.T) {
	t.Parallel()

	side := func(text string, batting bool) score.Side { return score.Side{Score: text, Batting: batting} }
	for want, d := range map[string]score.Display{
		"214/3":  {Local: side("182", false), Visitor: side("214/3", true)},
		"9/0":    {Local: side("364 & 9/0", true)},
		"120/4":  {Local: side("99 & 120/4 f/o", true)},
		"1104/9": {Visitor: side("1104/9", true)},
		"":       {Local: side("182/8", false), Visitor: side("12345/10", true)},
	} {
		if got := topic.Chip(d); got != want {
			t.Errorf("the chip of %+v is %q, want %q", d, got, want)
		}
	}
}
