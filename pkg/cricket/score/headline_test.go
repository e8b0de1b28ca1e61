package score_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// home and away are the teams of the states in these tests.
var home, away = score.Team{ID: "1", Name: "Home", Code: "HOM"}, score.Team{ID: "2", Name: "Away", Code: "AWY"}

// live returns a state in play whose last innings is the current one.
func live(format score.Format, innings ...score.Innings) score.State {
	for i := range innings {
		innings[i].Number = i + 1
		if innings[i].TeamID == "" {
			innings[i].TeamID = []string{"1", "2"}[i%2]
		}
	}

	return score.State{
		Format:  format,
		Phase:   sportmonks.Live,
		Status:  "In play",
		Round:   "Final",
		Local:   home,
		Visitor: away,
		Innings: innings,
		Current: len(innings),
	}
}

// but returns a state after a change.
func but(s score.State, change func(*score.State)) score.State {
	change(&s)
	return s
}

// TestHeadlines: the headline for anyone, for the followers of the local and of the visiting
// team, and the line below.
func TestHeadlines(t *testing.T) {
	t.Parallel()

	toss := score.Toss{WinnerID: "2", Text: "Away won the toss"}
	tossed := func(phase sportmonks.Phase, status string) score.State {
		return but(live(score.T20), func(s *score.State) { s.Phase, s.Status, s.Toss = phase, status, toss })
	}
	chase := func(runs, balls int, target score.Target) score.State {
		return but(live(score.T20, score.Innings{Runs: 150, Over: true}, score.Innings{Runs: 101, Target: target.Runs}), func(s *score.State) {
			s.Need, s.Target = score.Need{TeamID: "2", Runs: runs, Balls: balls}, target
		})
	}
	second := func(runs, target int, over bool) score.State {
		return live(score.T20, score.Innings{Runs: 150, Over: true}, score.Innings{Runs: runs, Target: target, Over: over})
	}
	lead := func(format score.Format, number, lead int) score.State {
		return but(live(format, make([]score.Innings, number)...), func(s *score.State) { s.Lead = lead })
	}
	ended := func(res score.Result) score.State {
		return but(second(100, 151, true), func(s *score.State) { s.Phase, s.Result, s.Pending = sportmonks.Result, res, true })
	}

	won := func(id string, res score.Result) score.State {
		res.Kind, res.WinnerID = score.Won, id
		return ended(res)
	}
	for name, c := range map[string]struct {
		state score.State
		want  string
	}{
		"no innings": {live(score.T20), "In play | In play | In play | "},
		"upcoming": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Phase = sportmonks.Upcoming }),
			"In play | In play | In play | Final"},
		"toss, status not started": {tossed(sportmonks.Upcoming, "Not started"),
			"Away won the toss | Away won the toss | Away won the toss | Final"},
		"toss, status live": {tossed(sportmonks.Live, "1st innings"),
			"Away won the toss | Away won the toss | Away won the toss | "},
		"toss, start delayed": {tossed(sportmonks.Upcoming, "Delayed"), "Delayed | Delayed | Delayed | Final"},
		"no toss": {but(tossed(sportmonks.Upcoming, "Not started"), func(s *score.State) { s.Toss.WinnerID = "" }),
			"Not started | Not started | Not started | Final"},
		"first innings": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Toss = toss }),
			"HOM batting | Batting | Bowling | Away won the toss"},
		"second innings without a target": {but(second(20, 0, false), func(s *score.State) { s.Toss = toss }),
			"AWY batting | Bowling | Batting | "},
		"batting side unknown": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Innings[0].TeamID = "" }),
			"A side batting | A side batting | A side batting | "},
		"teams without ids": {but(live(score.T20, score.Innings{}),
			func(s *score.State) { s.Local.ID, s.Visitor.ID, s.Innings[0].TeamID = "", "", "" }),
			"A side batting | A side batting | A side batting | "},
		"first innings, declared": {live(score.FirstClass, score.Innings{Runs: 391, Wickets: 9, Declared: true, Over: true}),
			"HOM declared at 391/9 | HOM declared at 391/9 | HOM declared at 391/9 | "},
		"first innings, all out": {live(score.T20, score.Innings{Runs: 99, Wickets: 10, AllOut: true, Over: true}),
			"HOM all out for 99 | HOM all out for 99 | HOM all out for 99 | "},
		"first innings, over": {live(score.T20, score.Innings{Runs: 150, Wickets: 4, Over: true}),
			"HOM made 150/4 | HOM made 150/4 | HOM made 150/4 | "},
		"super over, all out": {live(score.T20, score.Innings{Runs: 3, Wickets: 2, AllOut: true, SuperOver: true, Over: true}),
			"HOM made 3/2 | HOM made 3/2 | HOM made 3/2 | "},
		"chase": {chase(50, 30, score.Target{Runs: 151, Overs: "20"}),
			"AWY need 50 from 30 | Defending 50 off 30 | Need 50 from 30 | Target 151"},
		"chase of one run off one ball": {chase(1, 1, score.Target{Runs: 1}),
			"AWY need 1 from 1 | Defending 1 off 1 | Need 1 from 1 | Target 1"},
		"chase without a limit": {chase(50, 0, score.Target{Runs: 151}),
			"AWY need 50 to win | Defending 50 | Need 50 to win | Target 151"},
		"chase whose target is not known": {but(chase(50, 30, score.Target{}), func(s *score.State) { s.Toss = toss }),
			"AWY need 50 from 30 | Defending 50 off 30 | Need 50 from 30 | "},
		"revised chase": {chase(50, 30, score.Target{Runs: 131, Overs: "17.3", Revised: true}),
			"AWY need 50 from 30 (DLS) | Defending 50 off 30 (DLS) | Need 50 from 30 (DLS) | Target 131 in 17.3 overs"},
		"revised chase without a limit": {chase(50, 0, score.Target{Runs: 131, Revised: true}),
			"AWY need 50 to win (DLS) | Defending 50 (DLS) | Need 50 to win (DLS) | Target 131"},
		"target, need not known": {but(second(100, 151, false), func(s *score.State) { s.Target = score.Target{Runs: 151} }),
			"AWY batting | Bowling | Batting | "},
		"target reached":                  {second(151, 151, false), "Target reached | Target reached | Target reached | "},
		"target of one run reached":       {second(1, 1, false), "Target reached | Target reached | Target reached | "},
		"target passed":                   {second(155, 151, true), "Target reached | Target reached | Target reached | "},
		"scores level, innings over":      {second(150, 151, true), "Scores level | Scores level | Scores level | "},
		"scores level, innings in play":   {second(150, 151, false), "AWY batting | Bowling | Batting | "},
		"one run less, innings over":      {second(149, 151, true), "Awaiting result | Awaiting result | Awaiting result | "},
		"no runs for a target of one":     {second(0, 1, true), "Scores level | Scores level | Scores level | "},
		"no target, a run less than none": {second(-1, 0, true), "AWY made -1/0 | AWY made -1/0 | AWY made -1/0 | "},
		"result not confirmed": {but(chase(50, 30, score.Target{Runs: 151}), func(s *score.State) { s.Pending = true }),
			"Awaiting result | Awaiting result | Awaiting result | "},
		"several days, first innings":   {lead(score.Test, 1, 27), "HOM batting | Batting | Bowling | "},
		"several days, lead":            {lead(score.Test, 2, 27), "AWY lead by 27 | Trail by 27 | Lead by 27 | "},
		"several days, lead of a run":   {lead(score.FirstClass, 3, 1), "HOM lead by 1 | Lead by 1 | Trail by 1 | "},
		"several days, behind by a run": {lead(score.FirstClass, 2, -1), "AWY trail by 1 | Lead by 1 | Trail by 1 | "},
		"several days, level":           {lead(score.Test, 2, 0), "Scores level | Scores level | Scores level | "},
		"a lead in limited overs":       {lead(score.ODI, 2, 27), "AWY batting | Bowling | Batting | "},
		"won by runs":                   {won("1", score.Result{Runs: 50}), "HOM won by 50 runs | Won by 50 runs | Lost by 50 runs | "},
		"won by an innings": {won("2", score.Result{Innings: true, Runs: 1}),
			"AWY won by an innings and 1 run | Lost by an innings and 1 run | Won by an innings and 1 run | "},
		"won by wickets": {won("2", score.Result{Wickets: 3, BallsLeft: 7}),
			"AWY won by 3 wickets | Lost by 3 wickets | Won by 3 wickets | "},
		"won by a rain rule": {won("2", score.Result{Runs: 9, Method: "DLS"}),
			"AWY won by 9 runs (DLS) | Lost by 9 runs (DLS) | Won by 9 runs (DLS) | "},
		"awarded": {won("2", score.Result{Method: "awarded"}),
			"AWY won (awarded) | Lost (awarded) | Won (awarded) | "},
		"won without a margin": {won("2", score.Result{}), "AWY won | Lost | Won | "},
		"won by a team that does not play": {won("", score.Result{Runs: 2}),
			"A side won by 2 runs | A side won by 2 runs | A side won by 2 runs | "},
		"tied": {ended(score.Result{Kind: score.Tied}), "Match tied | Match tied | Match tied | "},
		"tied, super over": {ended(score.Result{Kind: score.Tied, WinnerID: "1", Decider: score.SuperOver}),
			"HOM won the Super Over | Won the Super Over | Lost the Super Over | "},
		"tied, bowl-out": {ended(score.Result{Kind: score.Tied, WinnerID: "2", Decider: score.BowlOut}),
			"AWY won the bowl-out | Lost the bowl-out | Won the bowl-out | "},
		"tied, decider unknown": {ended(score.Result{Kind: score.Tied, WinnerID: "1"}), "HOM won | Won | Lost | "},
		"drawn":                 {ended(score.Result{Kind: score.Drawn}), "Match drawn | Match drawn | Match drawn | "},
		"drawn, the provider names a winner": {ended(score.Result{Kind: score.Drawn, WinnerID: "1"}),
			"Match drawn | Match drawn | Match drawn | "},
		"abandoned": {ended(score.Result{Kind: score.Abandoned}),
			"Match abandoned | Match abandoned | Match abandoned | "},
		"result while the match is in play": {but(second(20, 0, false), func(s *score.State) { s.Result = score.Result{Kind: score.Drawn} }),
			"AWY batting | Bowling | Batting | "},
		"over without a result": {but(second(20, 0, true), func(s *score.State) { s.Phase, s.Toss = sportmonks.Result, toss }),
			"AWY made 20/0 | AWY made 20/0 | AWY made 20/0 | "},
		"over in the first innings, no result": {but(live(score.T20, score.Innings{Over: true}),
			func(s *score.State) { s.Phase, s.Toss = sportmonks.Result, toss }), "HOM made 0/0 | HOM made 0/0 | HOM made 0/0 | "},
		"not confirmed in the first innings": {but(live(score.T20, score.Innings{Over: true}),
			func(s *score.State) { s.Pending, s.Toss = true, toss }), "Awaiting result | Awaiting result | Awaiting result | "},
		"teams without codes": {but(chase(5, 6, score.Target{}), func(s *score.State) { s.Visitor.Code = "" }),
			"Away need 5 from 6 | Defending 5 off 6 | Need 5 from 6 | "},
		"code and name longer than a line's": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Local.Code = "HOMETOWNS" }),
			"HOMET… batting | Batting | Bowling | "},
		"code as long as a line's": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Local.Code = "HOMETOWN" }),
			"HOMETOWN batting | Batting | Bowling | "},
		"name as long as a line's": {but(live(score.T20, score.Innings{}),
			func(s *score.State) { s.Local = score.Team{ID: "1", Name: strings.Repeat("x", 24)} }),
			strings.Repeat("x", 24) + " batting | Batting | Bowling | "},
		"name longer than a line's": {but(live(score.T20, score.Innings{}),
			func(s *score.State) { s.Local = score.Team{ID: "1", Name: strings.Repeat("x", 25)} }),
			strings.Repeat("x", 21) + "… batting | Batting | Bowling | "},
		"score of 16 bytes": {live(score.T20, score.Innings{Runs: 12345678901234, Over: true}),
			"HOM made 12345678901234/0 | HOM made 12345678901234/0 | HOM made 12345678901234/0 | "},
		"score of 17 bytes": {live(score.T20, score.Innings{Runs: 123456789012345, Over: true}),
			"HOM made 1234567890123… | HOM made 1234567890123… | HOM made 1234567890123… | "},
		"overs of a revised target, 8 bytes": {chase(5, 6, score.Target{Runs: 6, Overs: "12345678", Revised: true}),
			"AWY need 5 from 6 (DLS) | Defending 5 off 6 (DLS) | Need 5 from 6 (DLS) | Target 6 in 12345678 overs"},
		"overs of a revised target, 9 bytes": {chase(5, 6, score.Target{Runs: 6, Overs: "123456789", Revised: true}),
			"AWY need 5 from 6 (DLS) | Defending 5 off 6 (DLS) | Need 5 from 6 (DLS) | Target 6 in 12345… overs"},
		"a code only the other perspective has": {but(live(score.T20, score.Innings{}), func(s *score.State) { s.Local.ID = "9" }),
			"A side batting | Bowling | Bowling | "},
	} {
		s := c.state
		local, visitor := s.Local.ID, s.Visitor.ID

		got := strings.Join([]string{s.For("").Headline, s.For(local).Headline, s.For(visitor).Headline, s.For("").Detail}, " | ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: neutral | local | visitor | detail (-want +got):\n%s", name, diff)
		}

		if diff := cmp.Diff(s.For(""), s.For("3")); diff != "" {
			t.Errorf("%s: a team that does not play sees another display than the neutral one (-want +got):\n%s", name, diff)
		}
	}
}

// TestSideShowsItsScores: the scores of the innings of a team, the overs of the last that is
// no super over, and whether it bats.
func TestSideShowsItsScores(t *testing.T) {
	t.Parallel()

	test := live(score.Test,
		score.Innings{Runs: 391, Wickets: 9, Declared: true, Over: true, Overs: "128"},
		score.Innings{Runs: 145, Wickets: 10, AllOut: true, Over: true, Overs: "50.2"},
		score.Innings{TeamID: "2", Runs: 82, Wickets: 1, Overs: "20.1"})
	tie := live(score.T20,
		score.Innings{Runs: 150, Wickets: 4, Overs: "20", Over: true},
		score.Innings{Runs: 150, Wickets: 10, AllOut: true, Overs: "20", Over: true},
		score.Innings{TeamID: "2", Runs: 10, Wickets: 2, AllOut: true, SuperOver: true, Overs: "0.5", Over: true},
		score.Innings{TeamID: "1", Runs: 6, SuperOver: true, Overs: "0.3"})

	long := func(digits int) score.State {
		return live(score.T20, score.Innings{Runs: 1, Wickets: 4, Overs: "1"}, score.Innings{Overs: "1"},
			score.Innings{TeamID: "1", Runs: int(pow10(digits - 3)), SuperOver: true})
	}
	for name, c := range map[string]struct {
		state score.State
		want  [2]score.Side
	}{
		"before an innings": {live(score.T20), [2]score.Side{{Name: "Home", Code: "HOM"}, {Name: "Away", Code: "AWY"}}},
		"first innings": {live(score.T20, score.Innings{Runs: 82, Wickets: 1, Overs: "9.4"}),
			[2]score.Side{{Name: "Home", Code: "HOM", Score: "82/1", Overs: "9.4", Batting: true}, {Name: "Away", Code: "AWY"}}},
		"first innings over": {live(score.T20, score.Innings{Runs: 82, Wickets: 1, Overs: "20", Over: true}),
			[2]score.Side{{Name: "Home", Code: "HOM", Score: "82/1", Overs: "20"}, {Name: "Away", Code: "AWY"}}},
		"third innings": {test, [2]score.Side{
			{Name: "Home", Code: "HOM", Score: "391/9d", Overs: "128"},
			{Name: "Away", Code: "AWY", Score: "145 & 82/1", Overs: "20.1", Batting: true},
		}},
		"follow-on": {but(test, func(s *score.State) { s.FollowOn = true }),
			[2]score.Side{
				{Name: "Home", Code: "HOM", Score: "391/9d", Overs: "128"},
				{Name: "Away", Code: "AWY", Score: "145 & 82/1 f/o", Overs: "20.1", Batting: true},
			}},
		"match over": {but(test, func(s *score.State) { s.Phase = sportmonks.Result }),
			[2]score.Side{
				{Name: "Home", Code: "HOM", Score: "391/9d", Overs: "128"},
				{Name: "Away", Code: "AWY", Score: "145 & 82/1", Overs: "20.1"},
			}},
		"super over": {tie, [2]score.Side{
			{Name: "Home", Code: "HOM", Score: "150/4", Overs: "20", SuperOver: "6/0", Batting: true},
			{Name: "Away", Code: "AWY", Score: "150", Overs: "20", SuperOver: "10/2"},
		}},
		"teams without ids": {but(live(score.T20, score.Innings{Runs: 82}),
			func(s *score.State) { s.Local.ID, s.Visitor.ID, s.Innings[0].TeamID = "", "", "" }),
			[2]score.Side{{Name: "Home", Code: "HOM"}, {Name: "Away", Code: "AWY"}}},
		"super over of 8 bytes": {long(8), [2]score.Side{
			{Name: "Home", Code: "HOM", Score: "1/4", Overs: "1", SuperOver: "100000/0", Batting: true},
			{Name: "Away", Code: "AWY", Score: "0/0", Overs: "1"},
		}},
		"super over of 9 bytes": {long(9), [2]score.Side{
			{Name: "Home", Code: "HOM", Score: "1/4", Overs: "1", SuperOver: "10000…", Batting: true},
			{Name: "Away", Code: "AWY", Score: "0/0", Overs: "1"},
		}},
		// The JSON of & has 6 bytes.
		"scores of 32 bytes": {live(score.Test, score.Innings{Runs: int(pow10(12))}, score.Innings{Runs: 7}, score.Innings{Runs: int(pow10(6))}),
			[2]score.Side{
				{Name: "Home", Code: "HOM", Score: "1000000000000/0 & 1000000/0", Batting: true},
				{Name: "Away", Code: "AWY", Score: "7/0"},
			}},
		"scores of 33 bytes": {live(score.Test, score.Innings{Runs: int(pow10(12))}, score.Innings{Runs: 7}, score.Innings{Runs: int(pow10(7))}),
			[2]score.Side{
				{Name: "Home", Code: "HOM", Score: "1000000000000/0 & 100000…", Batting: true},
				{Name: "Away", Code: "AWY", Score: "7/0"},
			}},
	} {
		d := c.state.For("")
		if diff := cmp.Diff(c.want, [2]score.Side{d.Local, d.Visitor}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}

	return p
}

// spokenElsewhere leaves the line out that TestSpokenLine checks.
var spokenElsewhere = cmpopts.IgnoreFields(score.Display{}, "Spoken")

// TestDisplayShowsTheCrease: what of the state is displayed in play, between innings and
// after the match.
func TestDisplayShowsTheCrease(t *testing.T) {
	t.Parallel()

	s := live(score.T20, score.Innings{Runs: 150, Over: true}, score.Innings{Runs: 101, Target: 151})
	s.Target, s.Need = score.Target{Runs: 151, Overs: "20", Revised: true}, score.Need{TeamID: "2", Runs: 50, Balls: 30}
	s.RunRate, s.NeedRate = "6.73", "10.00"
	s.Batters = []score.Batter{
		{ID: "7", Name: "Kusal", Runs: 41, Balls: 30, Fours: 5, Sixes: 1, OnStrike: true},
		{ID: "8", Name: "Charith", Runs: 3, Balls: 4},
		{ID: "9", Name: "A third"},
	}
	s.Bowler = score.Bowler{ID: "5", Name: "Naseem", Overs: "3.4", Maidens: 1, Runs: 24, Wickets: 2}
	s.Partnership, s.LastWicket = score.Partnership{Runs: 45, Balls: 31}, score.Wicket{Name: "Pathum", Runs: 12, Balls: 9}
	s.LastSix = []string{"1", "2", "3", "4", "5", "6", "7"}
	sides := func(d *score.Display, batting bool) {
		d.Local = score.Side{Name: "Home", Code: "HOM", Score: "150/0"}
		d.Visitor = score.Side{Name: "Away", Code: "AWY", Score: "101/0", Batting: batting}
	}
	full := score.Display{
		Phase:       sportmonks.Live,
		Format:      score.T20,
		Status:      "In play",
		Headline:    "AWY need 50 from 30 (DLS)",
		Detail:      "Target 151 in 20 overs",
		Batters:     []score.Crease{{Name: "Kusal", Runs: 41, Balls: 30, Fours: 5, Sixes: 1, Strike: true}, {Name: "Charith", Runs: 3, Balls: 4}},
		Bowler:      score.Spell{Name: "Naseem", Figures: "2-24 (3.4)"},
		LastSix:     []string{"2", "3", "4", "5", "6", "7"},
		RunRate:     "6.73",
		NeedRate:    "10.00",
		Target:      151,
		Revised:     true,
		NeedRuns:    50,
		NeedBalls:   30,
		Partnership: "45 (31)",
		LastWicket:  "Pathum 12 (9)",
	}
	sides(&full, true)

	without := func(change func(*score.Display)) score.Display {
		d := full
		change(&d)

		return d
	}
	for name, c := range map[string]struct {
		change func(*score.State)
		want   score.Display
	}{
		"in play": {func(*score.State) {}, full},
		"no batter, bowler or wicket": {func(s *score.State) { s.Batters, s.Bowler, s.LastWicket = nil, score.Bowler{}, score.Wicket{} },
			without(func(d *score.Display) { d.Batters, d.Bowler, d.Partnership, d.LastWicket = nil, score.Spell{}, "", "" })},
		"one batter": {func(s *score.State) { s.Batters = s.Batters[:1] }, without(func(d *score.Display) { d.Batters = d.Batters[:1] })},
		"innings over": {func(s *score.State) {
			s.Innings = []score.Innings{s.Innings[0], {Number: 2, TeamID: "2", Runs: 101, Target: 151, Over: true}}
		}, without(func(d *score.Display) {
			d.Batters, d.Bowler, d.Partnership, d.LastWicket = nil, score.Spell{}, "", ""
			sides(d, false)
		})},
		"six deliveries": {func(s *score.State) { s.LastSix = s.LastSix[:6] },
			without(func(d *score.Display) { d.LastSix = []string{"1", "2", "3", "4", "5", "6"} })},
		"match over": {func(s *score.State) {
			s.Phase, s.Result = sportmonks.Result, score.Result{Kind: score.Won, WinnerID: "1", Runs: 50, Text: "Home won by 50 runs"}
		}, without(func(d *score.Display) {
			*d = score.Display{
				Phase:    sportmonks.Result,
				Format:   score.T20,
				Status:   "In play",
				Headline: "HOM won by 50 runs",
				LastSix:  d.LastSix,
				Outcome:  score.Won,
				Result:   "Home won by 50 runs",

				ResultCode: score.Won,
				WinnerID:   "1",
				Margin:     50,
				Unit:       "runs",
			}
			sides(d, false)
		})},
		"no innings": {func(s *score.State) { s.Current, s.LastSix = 0, nil }, without(func(d *score.Display) {
			*d = score.Display{Phase: sportmonks.Live, Format: score.T20, Status: "In play", Headline: "In play", Detail: "Target 151 in 20 overs"}
			sides(d, false)
		})},
		"numbers of more than five digits": {func(s *score.State) {
			s.Target.Runs, s.Need.Runs, s.Need.Balls = 100000, 100001, 100002
			s.Batters = []score.Batter{{Name: "Kusal", Runs: -100000, Balls: 100000, Fours: 100000, Sixes: 100000}}
			s.Bowler = score.Bowler{Name: "Naseem", Overs: "3", Runs: 100000, Wickets: -100000}
			s.Partnership = score.Partnership{Runs: 99999, Balls: -99999}
		}, without(func(d *score.Display) {
			d.Headline, d.Detail = "AWY need 99999 from 99999 (DLS)", "Target 99999 in 20 overs"
			d.Target, d.NeedRuns, d.NeedBalls = 99999, 99999, 99999
			d.Batters = []score.Crease{{Name: "Kusal", Runs: -99999, Balls: 99999, Fours: 99999, Sixes: 99999}}
			d.Bowler.Figures, d.Partnership = "-99999-99999 (3)", "99999 (-99999)"
		})},
	} {
		if diff := cmp.Diff(c.want, but(s, c.change).For(""), spokenElsewhere); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	for n, want := range map[int]int{-100000: -99999, -99999: -99999, -99998: -99998, 0: 0, 99998: 99998, 99999: 99999, 100000: 99999} {
		s.Target.Runs = n
		if got := s.For("").Target; got != want {
			t.Errorf("a target of %d is displayed as %d, want %d", n, got, want)
		}
	}
}

// TestOutcomeIsOfTheFollowersTeam: the followers of the loser see lost; everybody else sees the
// kind of the result.
func TestOutcomeIsOfTheFollowersTeam(t *testing.T) {
	t.Parallel()

	outcomes := func(res score.Result) []score.Outcome {
		s := but(live(score.T20, score.Innings{Over: true}), func(s *score.State) { s.Phase, s.Result = sportmonks.Result, res })
		return []score.Outcome{s.For("").Outcome, s.For("1").Outcome, s.For("2").Outcome}
	}
	for name, c := range map[string]struct {
		res  score.Result
		want []score.Outcome
	}{
		"won":   {score.Result{Kind: score.Won, WinnerID: "2"}, []score.Outcome{score.Won, score.Lost, score.Won}},
		"tied":  {score.Result{Kind: score.Tied, WinnerID: "2"}, []score.Outcome{score.Tied, score.Tied, score.Tied}},
		"drawn": {score.Result{Kind: score.Drawn}, []score.Outcome{score.Drawn, score.Drawn, score.Drawn}},
		"none":  {score.Result{}, []score.Outcome{"", "", ""}},
	} {
		if diff := cmp.Diff(c.want, outcomes(c.res)); diff != "" {
			t.Errorf("%s: the outcomes for anyone, local and visitor differ (-want +got):\n%s", name, diff)
		}
	}
}

// TestKeyEvents: a display must not wait if the last ball took a wicket, or nothing is played.
func TestKeyEvents(t *testing.T) {
	t.Parallel()

	with := func(change func(*score.State)) score.State {
		return but(live(score.T20, score.Innings{}), func(s *score.State) {
			s.LastSix = []string{"W", "1"}
			change(s)
		})
	}
	for name, c := range map[string]struct {
		state score.State
		want  bool
	}{
		"a run":                    {with(func(*score.State) {}), false},
		"the only ball is a run":   {with(func(s *score.State) { s.LastSix = []string{"1"} }), false},
		"a wicket":                 {with(func(s *score.State) { s.LastSix = []string{"1", "W"} }), true},
		"a wicket on a wide":       {with(func(s *score.State) { s.LastSix = []string{"1", "wdW"} }), true},
		"no ball of the innings":   {with(func(s *score.State) { s.LastSix = nil }), true},
		"the end of the innings":   {with(func(s *score.State) { s.Innings[0].Over = true }), true},
		"before the first innings": {with(func(s *score.State) { s.Current = 0 }), true},
		"an interval":              {with(func(s *score.State) { s.Phase = sportmonks.Break }), true},
		"the result":               {with(func(s *score.State) { s.Phase = sportmonks.Result }), true},
	} {
		if got := c.state.KeyEvent(); got != c.want {
			t.Errorf("%s: key event %t, want %t", name, got, c.want)
		}
	}
}

// TestSuperOverScores: the last pair of super overs, in batting order.
func TestSuperOverScores(t *testing.T) {
	t.Parallel()

	innings := func(format score.Format, n int) score.State {
		all := make([]score.Innings, n)
		for i := range all {
			all[i] = score.Innings{Runs: 10 + i, SuperOver: i > 1}
		}

		return live(format, all...)
	}
	for name, c := range map[string]struct {
		state score.State
		want  string
	}{
		"second innings":           {innings(score.T20, 2), ""},
		"first of a pair":          {innings(score.T20, 3), "SO 12/0"},
		"a pair":                   {innings(score.T20, 4), "SO 12/0 v 13/0"},
		"first of the second pair": {innings(score.T20, 5), "SO 14/0"},
		"second pair":              {innings(score.T20, 6), "SO 14/0 v 15/0"},
		"third innings of a Test":  {innings(score.Test, 3), ""},
		"the first of the pair absent": {but(innings(score.T20, 4), func(s *score.State) { s.Innings = append(s.Innings[:2:2], s.Innings[3]) }),
			"SO 13/0"},
		"scores of 32 bytes": {but(innings(score.T20, 4),
			func(s *score.State) { s.Innings[2].Runs, s.Innings[3].Runs = int(pow10(11)), int(pow10(9)) }), "SO 100000000000/0 v 1000000000/0"},
		"scores of 33 bytes": {but(innings(score.T20, 4),
			func(s *score.State) { s.Innings[2].Runs, s.Innings[3].Runs = int(pow10(11)), int(pow10(11)) }), "SO 100000000000/0 v 100000000…"},
	} {
		if diff := cmp.Diff(c.want, c.state.For("").SuperOver); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
