package score_test

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// TestFormatsOfTheProvider: the format of each type of match, its overs and whether it lasts
// several days.
func TestFormatsOfTheProvider(t *testing.T) {
	t.Parallel()

	type format struct {
		Format   score.Format
		Overs    int
		MultiDay bool
	}

	t20, odi, firstClass := format{score.T20, 20, false}, format{score.ODI, 50, false}, format{score.FirstClass, 0, true}
	for name, want := range map[string]format{
		"T20": t20, "T20I": t20, "Women T20I": t20, "Twenty20": t20,
		"ODI": odi, "List A": odi, "One Day": odi, "one-day": odi, "ODM": odi, "Women's ODI": odi,
		"Test": {score.Test, 0, true}, "Test/5day": {score.Test, 0, true},
		"4day": firstClass, "MDM": firstClass, "First Class": firstClass, "first-class": firstClass,
		"T10":         {score.T10, 10, false},
		"The Hundred": {score.Hundred, 20, false}, "100-ball": {score.Hundred, 20, false},
		"Sixes": {score.Other, 0, false}, "": {score.Other, 0, false},
	} {
		f := score.FormatOf(name)
		if diff := cmp.Diff(want, format{f, score.Standard(f), f.MultiDay()}); diff != "" {
			t.Errorf("type %q (-want +got):\n%s", name, diff)
		}
	}
}

// TestInningsTexts: the score of an innings, the balls of its limit that are used up, and its
// key.
func TestInningsTexts(t *testing.T) {
	t.Parallel()

	type texts struct {
		Score  string
		Bowled int
		Tag    string
	}
	for _, c := range []struct {
		innings score.Innings
		per     int
		want    texts
	}{
		{score.Innings{Number: 1, Runs: 182, Wickets: 8, Overs: "19.4"}, 6, texts{"182/8", 118, "S1:"}},
		{score.Innings{Number: 2, Runs: 182, Wickets: 10, AllOut: true, Overs: "20"}, 6, texts{"182", 120, "S2:"}},
		{score.Innings{Number: 3, Runs: 391, Wickets: 9, Declared: true, Overs: "128"}, 6, texts{"391/9d", 768, "S3:"}},
		{score.Innings{Number: 4, Runs: 391, Wickets: 10, Declared: true, AllOut: true, Overs: "0"}, 6, texts{"391/10d", 0, "S4:"}},
		{score.Innings{Number: 5, Runs: 3, Wickets: 2, AllOut: true, SuperOver: true, Overs: "0.3"}, 5, texts{"3/2", 3, "S5:"}},
		{score.Innings{Number: 6, Overs: "19.4"}, 5, texts{"0/0", 99, "S6:"}},
	} {
		if diff := cmp.Diff(c.want, texts{c.innings.Score(), c.innings.Bowled(c.per), c.innings.Tag()}); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.innings, diff)
		}
	}
}

// TestExtrasAddUp: the total has each kind of extra.
func TestExtrasAddUp(t *testing.T) {
	t.Parallel()

	if got := (score.Extras{Wides: 1, NoBalls: 20, Byes: 300, LegByes: 4000, Penalty: 50000}).Total(); got != 54321 {
		t.Errorf("the total is %d, want 54321", got)
	}
}

// TestWicketText: the batter, how they got out, runs and balls; what is unknown is left out.
func TestWicketText(t *testing.T) {
	t.Parallel()

	for want, w := range map[string]score.Wicket{
		"Kusal Mendis c Fakhar Zaman b Naseem Shah 1 (2)": {Name: "Kusal Mendis", How: "c Fakhar Zaman b Naseem Shah", Runs: 1, Balls: 2},
		"Kusal Mendis 10 (20)":                            {Name: "Kusal Mendis", Runs: 10, Balls: 20},
		"b Naseem Shah 0 (0)":                             {How: "b Naseem Shah"},
		"0 (1)":                                           {Balls: 1},
	} {
		if diff := cmp.Diff(want, w.Text()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", w, diff)
		}
	}
}

// TestSuperOverMayFollowATie: only a tie in limited overs that has no winner yet.
func TestSuperOverMayFollowATie(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		format score.Format
		res    score.Result
		want   bool
	}{
		{score.T20, score.Result{Kind: score.Tied}, true},
		{score.Other, score.Result{Kind: score.Tied}, true},
		{score.T20, score.Result{Kind: score.Tied, WinnerID: "1"}, false},
		{score.Test, score.Result{Kind: score.Tied}, false},
		{score.FirstClass, score.Result{Kind: score.Tied}, false},
		{score.T20, score.Result{Kind: score.NoResult}, false},
		{score.T20, score.Result{}, false},
	} {
		s := score.State{Format: c.format, Result: c.res}
		if got := s.MayGoOn(); got != c.want {
			t.Errorf("%s, %+v: may go on %t, want %t", c.format, c.res, got, c.want)
		}

		if none := c.res.Kind == ""; c.res.IsZero() != none {
			t.Errorf("%+v: is zero %t, want %t", c.res, c.res.IsZero(), none)
		}
	}
}

// TestTeamsOfAState: the name and the opponent of each team, and of ids that do not play.
func TestTeamsOfAState(t *testing.T) {
	t.Parallel()

	s := live(score.Test, score.Innings{Runs: 300}, score.Innings{Runs: 120}, score.Innings{Runs: 7})
	noIDs := score.State{Local: score.Team{Name: "Home"}, Visitor: score.Team{Name: "Away"}}

	type team struct{ Name, Opponent string }
	for id, want := range map[string]team{"1": {"Home", "2"}, "2": {"Away", "1"}, "3": {"A side", ""}, "": {"A side", ""}} {
		if diff := cmp.Diff(want, team{s.TeamName(id), s.Opponent(id)}); diff != "" {
			t.Errorf("team %q (-want +got):\n%s", id, diff)
		}
	}

	if got := noIDs.TeamName(""); got != "A side" {
		t.Errorf("the team without an id is called %q, want A side", got)
	}

	got := [][]int{}
	for last := range 4 {
		got = append(got, []int{s.LeadOf("1", last), s.LeadOf("2", last)})
	}

	if diff := cmp.Diff([][]int{{0, 0}, {300, -300}, {180, -180}, {187, -187}}, got); diff != "" {
		t.Errorf("the leads after each innings differ (-want +got):\n%s", diff)
	}

	if n := s.InningsOf(3); n == nil || n.Runs != 7 {
		t.Errorf("the third innings is %+v, want the one of 7 runs", n)
	}

	if n := s.InningsOf(4); n != nil {
		t.Errorf("the fourth innings is %+v, want none", n)
	}
}

// TestOpeningIsSixtyBalls: the opening lasts for 60 balls of the first innings.
func TestOpeningIsSixtyBalls(t *testing.T) {
	t.Parallel()

	first := func(balls int) score.State { return live(score.ODI, score.Innings{Balls: balls}) }
	for name, c := range map[string]struct {
		state score.State
		want  bool
	}{
		"no innings":     {live(score.ODI), true},
		"first ball":     {first(0), true},
		"59 balls":       {first(59), true},
		"60 balls":       {first(60), false},
		"second innings": {live(score.ODI, score.Innings{Balls: 10}, score.Innings{Balls: 1}), false},
	} {
		if got := c.state.InOpening(); got != c.want {
			t.Errorf("%s: in the opening %t, want %t", name, got, c.want)
		}
	}
}

// TestHashIsThatOfTheDisplay: 128 bits, the same for the same display only.
func TestHashIsThatOfTheDisplay(t *testing.T) {
	t.Parallel()

	a, b := live(score.T20, score.Innings{}).For(""), live(score.T20, score.Innings{Runs: 1}).For("")
	if raw, err := hex.DecodeString(a.Hash()); err != nil || len(raw) != 16 {
		t.Errorf("the hash is %q (%v), want 32 hex digits", a.Hash(), err)
	}

	if a.Hash() == b.Hash() || a.Hash() != live(score.T20, score.Innings{}).For("").Hash() {
		t.Errorf("the hashes of 0/0, 1/0 and 0/0 are %s, %s, %s", a.Hash(), b.Hash(), live(score.T20, score.Innings{}).For("").Hash())
	}
}

// TestFitCutsTexts: what is dropped, what counts as more than its bytes, and where a text is
// cut.
func TestFitCutsTexts(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		text string
		size int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc…"}, {"ab cdefg", 6, "ab…"}, {"a\tb\x7f�\xffc", 3, "abc"},
		{"abcd", 3, ""}, {"abcd", 2, ""}, {"", 0, ""},
		{"<", 6, "<"}, {">", 6, ">"}, {"&", 6, "&"}, {"\u2028", 6, "\u2028"}, {"\u2029", 6, "\u2029"},
		{"<", 5, ""}, {">", 5, ""}, {"&", 5, ""}, {"\u2028", 5, ""}, {"\u2029", 5, ""},
		{`""`, 4, `""`}, {`""`, 3, ""}, {`\\`, 4, `\\`}, {`\\`, 3, ""}, {"éé", 4, "éé"}, {"éé", 3, ""}, {"a🏏", 5, "a🏏"}, {"a🏏", 4, "a…"},
	} {
		if diff := cmp.Diff(c.want, score.Fit(c.text, c.size)); diff != "" {
			t.Errorf("Fit(%q, %d) (-want +got):\n%s", c.text, c.size, diff)
		}
	}
}

// TestNumbersAsTexts: overs, rates, counts, leads and ids.
func TestNumbersAsTexts(t *testing.T) {
	t.Parallel()

	got, want := map[string]string{}, map[string]string{}
	add := func(name, is, should string) { got[name], want[name] = is, should }
	o := func(overs, balls int) sportmonks.Overs { return sportmonks.Overs{Overs: overs, Balls: balls} }
	add("19.4", score.OversText(o(19, 4), 6), "19.4")
	add("0.1", score.OversText(o(0, 1), 6), "0.1")
	add("20.0", score.OversText(o(20, 0), 6), "20")
	add("3.5 of 6", score.OversText(o(3, 5), 6), "3.5")
	add("3.6 of 6", score.OversText(o(3, 6), 6), "4")
	add("3.7 of 6", score.OversText(o(3, 7), 6), "4")
	add("3.5 of 5", score.OversText(o(3, 5), 5), "4")
	add("rate of 0 off 1", score.Rate(0, 1), "0.00")
	add("rate of 1 off 1", score.Rate(1, 1), "6.00")
	add("rate of 1 off 60", score.Rate(1, 60), "0.10")
	add("rate of 1 off 67", score.Rate(1, 67), "0.09")
	add("rate of 3 off 16", score.Rate(3, 16), "1.13") // 1.125
	add("rate of 101 off 90", score.Rate(101, 90), "6.73")
	add("rate of 150 off 120", score.Rate(150, 120), "7.50")
	add("rate of 400 off 300", score.Rate(400, 300), "8.00")
	add("rate of 66 off 40", score.Rate(66, 40), "9.90")
	add("rate of 599 off 300", score.Rate(599, 300), "11.98")
	add("rate of the most runs", score.Rate(1e9, 1e9), "6.00")
	add("rate of too many runs", score.Rate(1e9+1, 1e9), "")
	add("rate of too many balls", score.Rate(1e9, 1e9+1), "")
	add("rate of no balls", score.Rate(1, 0), "")
	add("rate of -1 balls", score.Rate(1, -1), "")
	add("rate of -1 runs", score.Rate(-1, 1), "")
	add("0 runs", score.Count(0, "run"), "0 runs")
	add("1 run", score.Count(1, "run"), "1 run")
	add("2 runs", score.Count(2, "run"), "2 runs")
	add("lead", score.LeadText("India", 27), "India lead by 27 runs")
	add("lead of 1", score.LeadText("India", 1), "India lead by 1 run")
	add("behind", score.LeadText("India", -27), "India trail by 27 runs")
	add("behind by 1", score.LeadText("India", -1), "India trail by 1 run")
	add("level", score.LeadText("India", 0), "Scores level")
	add("id", score.IDText(12), "12")
	add("no id", score.IDText(0), "")

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

// TestNameTeamsWritesTheTexts: the sentences of the toss, the chase and the lead.
func TestNameTeamsWritesTheTexts(t *testing.T) {
	t.Parallel()

	type texts struct{ Toss, Need, Lead string }

	chase := func(runs, balls int) func(*score.State) {
		return func(s *score.State) { s.Need = score.Need{TeamID: "2", Runs: runs, Balls: balls} }
	}

	three := []score.Innings{{}, {}, {}}
	for name, c := range map[string]struct {
		state score.State
		want  texts
	}{
		"none": {live(score.T20, score.Innings{}), texts{}},
		"toss": {but(live(score.T20), func(s *score.State) { s.Toss.WinnerID = "1" }), texts{Toss: "Home won the toss"}},
		"toss, elected": {but(live(score.T20), func(s *score.State) { s.Toss = score.Toss{WinnerID: "2", Elected: "field"} }),
			texts{Toss: "Away won the toss and chose to field"}},
		"chase":                 {but(live(score.T20), chase(50, 30)), texts{Need: "Away need 50 runs from 30 balls"}},
		"chase of 1 off 1":      {but(live(score.T20), chase(1, 1)), texts{Need: "Away need 1 run from 1 ball"}},
		"chase without a limit": {but(live(score.Test), chase(2, 0)), texts{Need: "Away need 2 runs to win"}},
		"lead, second innings": {but(live(score.Test, three[:2]...), func(s *score.State) { s.Lead = -3 }),
			texts{Lead: "Away trail by 3 runs"}},
		"lead, third innings": {but(live(score.FirstClass, three...), func(s *score.State) { s.Lead = 3 }),
			texts{Lead: "Home lead by 3 runs"}},
		"several days, first innings": {but(live(score.Test, three[:1]...), func(s *score.State) { s.Lead = 3 }), texts{}},
		"several days, no innings":    {live(score.Test), texts{}},
		"limited overs":               {but(live(score.ODI, three[:2]...), func(s *score.State) { s.Lead = 3 }), texts{}},
	} {
		s := c.state
		s.NameTeams()

		if diff := cmp.Diff(c.want, texts{s.Toss.Text, s.NeedText, s.LeadText}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
