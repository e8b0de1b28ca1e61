package card_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// The teams of the tests. Players of the home side have the ids 101 and up, those of the visitors
// 201 and up; the first of each is its captain, the second its keeper.
const home, away = 1, 2

// scores are the provider's scores of the balls of the tests, by their names.
var scores = map[string]sportmonks.Score{
	"No Run": {ID: 82}, "1 Run": {ID: 69, Runs: 1}, "2 Runs": {ID: 70, Runs: 2}, "FOUR": {ID: 47, Runs: 4, Four: true},
	"SIX": {ID: 48, Runs: 6, Six: true}, "1 Wide": {ID: 17, Runs: 1}, "1 No Ball": {ID: 7, Runs: 1, NoBall: 1, NoBallRuns: 1},
	"1 Bye": {ID: 1, Bye: 1}, "1 Leg Bye": {ID: 4, LegBye: 1}, "Retired Hurt": {ID: 85},
	"Clean Bowled": {ID: 79, Wicket: true, Out: true}, "Catch Out": {ID: 54, Wicket: true, Out: true},
	"Catch Out (Sub)": {ID: 55, Wicket: true, Out: true}, "Stump Out": {ID: 56, Wicket: true, Out: true},
	"Run Out": {ID: 63, Wicket: true, Out: true}, "Run Out + 1 Run": {ID: 65, Runs: 1, Wicket: true, Out: true},
	"Not Out": {ID: sportmonks.NotOut}, "Timed Out": {ID: 901, Wicket: true, Out: true}, "Mankad": {ID: 902, Wicket: true, Out: true},
}

func scoreOf(name string) sportmonks.Score {
	s, ok := scores[name]
	if !ok {
		panic("no score " + name)
	}

	s.Name = name

	return s
}

// feed is a fixture under construction.
type feed struct{ sportmonks.Fixture }

func newFeed(kind string, overs int) *feed {
	f := &feed{sportmonks.Fixture{
		ID: 7, LocalID: home, VisitorID: away, Type: kind, Overs: overs, Status: "1st Innings",
		Localteam: sportmonks.Team{ID: home, Name: "Harbour", Code: "HAR"}, Visitorteam: sportmonks.Team{ID: away, Name: "Valley", Code: "VAL"},
	}}

	for team := range 2 {
		for i := range 11 {
			id := 100*(team+1) + i + 1
			f.Lineup = append(f.Lineup, sportmonks.Member{ID: id, Name: named(id), TeamID: team + 1, Captain: i == 0, Keeper: i == 1})
		}
	}

	return f
}

// named returns the name of a player: "H1", "V11".
func named(id int) string {
	side := "H"
	if id > 200 {
		side = "V"
	}

	return side + strconv.Itoa(id%100)
}

func who(ids ...int) (all []card.Player) {
	for _, id := range ids {
		all = append(all, card.Player{ID: strconv.Itoa(id), Name: named(id)})
	}

	return all
}

// ball adds a ball of an innings: "0.1", the striker, the other batter, the bowler and the score.
func (f *feed) ball(innings int, at string, striker, other, bowler int, name string) *sportmonks.Ball {
	over, n, _ := strings.Cut(at, ".")
	b := sportmonks.Ball{
		ID: len(f.Balls) + 1, TeamID: striker / 100, Innings: innings, OneID: min(striker, other), TwoID: max(striker, other),
		BatterID: striker, BowlerID: bowler, Score: scoreOf(name),
	}
	b.At.Overs, _ = strconv.Atoi(over)
	b.At.Balls, _ = strconv.Atoi(n)
	b.Batter, b.Bowler = sportmonks.Player{ID: striker, Name: named(striker)}, sportmonks.Player{ID: bowler, Name: named(bowler)}
	f.Balls = append(f.Balls, b)

	return &f.Balls[len(f.Balls)-1]
}

// bat adds the row of a batter: runs, balls, fours, sixes, and how he got out.
func (f *feed) bat(innings, id int, figures [4]int, how string) *sportmonks.Batting {
	s := scoreOf(how)
	f.Batting = append(f.Batting, sportmonks.Batting{
		TeamID: id / 100, Innings: innings, Sort: len(f.Batting) + 1, PlayerID: id,
		Score: figures[0], Balls: figures[1], Fours: figures[2], Sixes: figures[3], ResultID: s.ID, Result: s, Out: s.ID != sportmonks.NotOut,
	})

	return &f.Batting[len(f.Batting)-1]
}

// fell sets where and at which total the batter of a row was out.
func fell(row *sportmonks.Batting, overs, balls, runs int) *sportmonks.Batting {
	row.FallAt, row.FallScore = sportmonks.Overs{Overs: overs, Balls: balls}, runs
	return row
}

// bowl adds the row of a bowler: overs and balls, maidens, runs, wickets, wides and no-balls.
func (f *feed) bowl(innings, id int, figures [7]int) {
	f.Bowling = append(f.Bowling, sportmonks.Bowling{
		TeamID: id / 100, Innings: innings, Sort: len(f.Bowling) + 1, PlayerID: id,
		Overs:   sportmonks.Overs{Overs: figures[0], Balls: figures[1]},
		Maidens: figures[2], Runs: figures[3], Wickets: figures[4], Wides: figures[5], NoBalls: figures[6],
	})
}

// total adds the rows of an innings' total and of its extras.
func (f *feed) total(innings, team, runs, wickets, overs, balls int, e score.Extras) {
	o := sportmonks.Overs{Overs: overs, Balls: balls}
	f.Runs = append(f.Runs, sportmonks.Runs{TeamID: team, Innings: innings, Score: runs, Wickets: wickets, Overs: o})
	f.Scoreboards = append(f.Scoreboards,
		sportmonks.Scoreboard{TeamID: team, Innings: innings, Type: "total", Total: runs, Wickets: wickets, Overs: o},
		sportmonks.Scoreboard{
			TeamID: team, Innings: innings, Type: "extra", Wide: e.Wides, NoBall: e.NoBalls, Bye: e.Byes, LegBye: e.LegByes, Penalty: e.Penalty,
			Total: e.Total(),
		})
}

// card returns the card of the feed.
func (f *feed) card(t *testing.T) card.Card {
	t.Helper()

	s, _ := scorer.Read(f.Fixture, score.State{})

	c, ok := card.Of(&f.Fixture, &s)
	if !ok {
		t.Fatal("there is no card")
	}

	return c
}

// over is a feed of one over and a ball with a wicket of most kinds.
func over() *feed {
	f := newFeed("T20", 20)
	f.ball(1, "0.1", 101, 102, 211, "FOUR")
	f.ball(1, "0.2", 101, 102, 211, "1 Wide")
	f.ball(1, "0.2", 101, 102, 211, "Catch Out").CatchID = 202
	f.ball(1, "0.3", 103, 102, 211, "1 No Ball")
	f.ball(1, "0.3", 103, 102, 211, "Catch Out").CatchID = 211
	run := f.ball(1, "0.4", 104, 102, 211, "Run Out + 1 Run")
	run.OutID, run.RunOutID, run.CatchID = 102, 205, 202
	f.ball(1, "0.5", 105, 104, 211, "1 Leg Bye")
	f.ball(1, "0.6", 104, 105, 211, "SIX")
	f.ball(1, "1.1", 105, 104, 210, "Clean Bowled")

	first := fell(f.bat(1, 101, [4]int{4, 2, 1, 0}, "Catch Out"), 0, 2, 5)
	first.CatchID, first.BowlerID = 202, 211
	second := fell(f.bat(1, 102, [4]int{0, 0, 0, 0}, "Run Out"), 0, 4, 7)
	second.RunOutID, second.CatchID = 205, 202
	third := fell(f.bat(1, 103, [4]int{0, 2, 0, 0}, "Catch Out"), 0, 3, 6)
	third.CatchID, third.BowlerID = 211, 211
	f.bat(1, 104, [4]int{7, 2, 0, 1}, "Not Out")
	fell(f.bat(1, 105, [4]int{0, 2, 0, 0}, "Clean Bowled"), 1, 1, 14).BowlerID = 210
	f.bowl(1, 211, [7]int{1, 0, 0, 13, 2, 1, 1})
	f.bowl(1, 210, [7]int{0, 1, 0, 0, 1, 0, 0})
	f.total(1, home, 14, 4, 1, 1, score.Extras{Wides: 1, NoBalls: 1, LegByes: 1})

	return f
}

// TestCardOfAnInnings: every cell. The partnerships are counted from the balls.
func TestCardOfAnInnings(t *testing.T) {
	t.Parallel()

	batter := func(id int, figures [4]int, rate string, d card.Dismissal) card.Batter {
		return card.Batter{
			ID: strconv.Itoa(id), Name: named(id), Runs: figures[0], Balls: figures[1], Fours: figures[2], Sixes: figures[3], StrikeRate: rate,
			Dismissal: d,
		}
	}
	partner := func(id, runs, balls int) card.Partner {
		return card.Partner{ID: strconv.Itoa(id), Name: named(id), Runs: runs, Balls: balls}
	}

	c := over().card(t)
	want := card.Innings{
		Number: 1, TeamID: "1", Runs: 14, Wickets: 4, Overs: "1.1", RunRate: "12.00",
		Batting: []card.Batter{
			batter(101, [4]int{4, 2, 1, 0}, "200.00", card.Dismissal{How: card.Caught, Bowler: &who(211)[0], Fielders: who(202)}),
			batter(102, [4]int{0, 0, 0, 0}, "", card.Dismissal{How: card.RunOut, Fielders: who(205, 202)}),
			batter(103, [4]int{0, 2, 0, 0}, "0.00", card.Dismissal{How: card.CaughtAndBowled, Bowler: &who(211)[0]}),
			batter(104, [4]int{7, 2, 0, 1}, "350.00", card.Dismissal{How: card.NotOut}),
			batter(105, [4]int{0, 2, 0, 0}, "0.00", card.Dismissal{How: card.Bowled, Bowler: &who(210)[0]}),
		},
		DidNotBat: who(106, 107, 108, 109, 110, 111),
		Extras:    card.Extras{Wides: 1, NoBalls: 1, LegByes: 1, Total: 3},
		Falls: []card.Fall{
			{Wicket: 1, Batter: who(101)[0], Runs: 5, Overs: "0.2"}, {Wicket: 2, Batter: who(103)[0], Runs: 6, Overs: "0.3"},
			{Wicket: 3, Batter: who(102)[0], Runs: 7, Overs: "0.4"}, {Wicket: 4, Batter: who(105)[0], Runs: 14, Overs: "1.1"},
		},
		Partnerships: []card.Partnership{
			{Wicket: 1, Runs: 5, Balls: 2, Broken: true, Batters: []card.Partner{partner(101, 4, 2), partner(102, 0, 0)}},
			{Wicket: 2, Runs: 1, Balls: 2, Broken: true, Batters: []card.Partner{partner(102, 0, 0), partner(103, 0, 2)}},
			{Wicket: 3, Runs: 1, Balls: 1, Broken: true, Batters: []card.Partner{partner(102, 0, 0), partner(104, 1, 1)}},
			{Wicket: 4, Runs: 7, Balls: 3, Broken: true, Batters: []card.Partner{partner(104, 6, 1), partner(105, 0, 2)}},
		},
		Bowling: []card.Bowler{
			{ID: "211", Name: "V11", Overs: "1", Runs: 13, Wickets: 2, Wides: 1, NoBalls: 1, Economy: "13.00"},
			{ID: "210", Name: "V10", Overs: "0.1", Wickets: 1, Economy: "0.00"},
		},
	}

	if diff := cmp.Diff([]card.Innings{want}, c.Innings); diff != "" {
		t.Errorf("innings (-want +got):\n%s", diff)
	}

	// Without a row the cells are those of the balls.
	bare := over()
	bare.Batting, bare.Bowling, bare.Scoreboards = nil, nil, nil

	got := bare.card(t).Innings[0]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("innings without rows (-want +got):\n%s", diff)
	}
}

// TestRowsAndBallsDiffer: the card names the parts, and shows the rows.
func TestRowsAndBallsDiffer(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(f *feed)
		want   []card.Part
	}{
		"nothing":              {func(*feed) {}, nil},
		"runs of a batter":     {func(f *feed) { f.Batting[0].Score++ }, []card.Part{card.Total, card.Batting}},
		"balls of a batter":    {func(f *feed) { f.Batting[0].Balls++ }, []card.Part{card.Batting}},
		"fours of a batter":    {func(f *feed) { f.Batting[0].Fours++ }, []card.Part{card.Batting}},
		"sixes of a batter":    {func(f *feed) { f.Batting[0].Sixes++ }, []card.Part{card.Batting}},
		"how a batter got out": {func(f *feed) { f.Batting[0].Result = scoreOf("Stump Out") }, []card.Part{card.Batting}},
		"who caught":           {func(f *feed) { f.Batting[0].CatchID = 203 }, []card.Part{card.Batting}},
		"who bowled":           {func(f *feed) { f.Batting[4].BowlerID = 203 }, []card.Part{card.Batting}},
		"a batter is missing": {func(f *feed) { f.Batting = f.Batting[1:] },
			[]card.Part{card.Total, card.Batting, card.FallOfWickets, card.Together}},
		"a batter who has come in": {func(f *feed) { f.bat(1, 106, [4]int{}, "Not Out") }, nil},
		"a batter who did not":     {func(f *feed) { f.bat(1, 106, [4]int{0, 1, 0, 0}, "Not Out") }, []card.Part{card.Batting}},
		"the total":                {func(f *feed) { f.Runs[0].Score++ }, []card.Part{card.Total}},
		"the wickets":              {func(f *feed) { f.Runs[0].Wickets++ }, []card.Part{card.Total}},
		"the overs":                {func(f *feed) { f.Runs[0].Overs.Balls++ }, []card.Part{card.Total}},
		"the scoreboard":           {func(f *feed) { f.Scoreboards[0].Total++ }, []card.Part{card.Total}},
		"the extras":               {func(f *feed) { f.Scoreboards[1].Wide, f.Scoreboards[1].Bye = 0, 1 }, []card.Part{card.ExtraRuns}},
		"the total of a wicket":    {func(f *feed) { f.Batting[0].FallScore-- }, []card.Part{card.FallOfWickets}},
		"the ball of a wicket":     {func(f *feed) { f.Batting[4].FallAt.Balls++ }, []card.Part{card.FallOfWickets}},
		"no place of a wicket":     {func(f *feed) { fell(&f.Batting[0], 0, 0, 0) }, []card.Part{card.FallOfWickets}},
		"the order of wickets": {func(f *feed) { fell(&f.Batting[0], 0, 5, 7) },
			[]card.Part{card.FallOfWickets, card.Together}},
		"maidens":                 {func(f *feed) { f.Bowling[0].Maidens++ }, []card.Part{card.Bowling}},
		"runs of a bowler":        {func(f *feed) { f.Bowling[0].Runs++ }, []card.Part{card.Bowling}},
		"wickets of a bowler":     {func(f *feed) { f.Bowling[0].Wickets++ }, []card.Part{card.Bowling}},
		"overs of a bowler":       {func(f *feed) { f.Bowling[0].Overs.Balls++ }, []card.Part{card.Bowling}},
		"wides of a bowler":       {func(f *feed) { f.Bowling[0].Wides += 2 }, []card.Part{card.Bowling}},
		"no-balls of a bowler":    {func(f *feed) { f.Bowling[0].NoBalls++ }, []card.Part{card.Bowling}},
		"a bowler is missing":     {func(f *feed) { f.Bowling = f.Bowling[1:] }, []card.Part{card.Bowling}},
		"a bowler without a ball": {func(f *feed) { f.bowl(1, 209, [7]int{}) }, []card.Part{card.Bowling}},
		"a ball is missing": {func(f *feed) { f.Balls = slices.Delete(f.Balls, 7, 8) },
			[]card.Part{card.Total, card.Batting, card.FallOfWickets, card.Bowling}},
		"no ball":                             {func(f *feed) { f.Balls = nil }, nil},
		"no ball, and the rows do not add up": {func(f *feed) { f.Balls = nil; f.Batting[3].Score++ }, []card.Part{card.Total}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := over()
			c.change(f)

			n := f.card(t).Innings[0]
			if diff := cmp.Diff(c.want, n.Disagreements); diff != "" {
				t.Errorf("disagreements (-want +got):\n%s", diff)
			}

			if n.Unchecked != (len(f.Balls) == 0) {
				t.Errorf("unchecked is %t with %d balls", n.Unchecked, len(f.Balls))
			}

			if n.Batting[0].Runs != f.Batting[0].Score {
				t.Errorf("the first batter has %d runs, the row %d", n.Batting[0].Runs, f.Batting[0].Score)
			}
		})
	}
}

// TestNamesOfDismissals: the code of each name of the provider, with its players. An unknown name
// is other, with the name.
func TestNamesOfDismissals(t *testing.T) {
	t.Parallel()

	bowler, fielder := &who(211)[0], who(202)

	for name, want := range map[string]card.Dismissal{
		"Not Out":                  {How: card.NotOut},
		"Clean Bowled":             {How: card.Bowled, Bowler: bowler},
		"Bowled":                   {How: card.Bowled, Bowler: bowler},
		"Catch Out":                {How: card.Caught, Bowler: bowler, Fielders: fielder},
		"Catch Out (Sub)":          {How: card.Caught, Bowler: bowler, Fielders: fielder, Substitute: true},
		"Caught & Bowled":          {How: card.CaughtAndBowled, Bowler: bowler},
		"LBW OUT":                  {How: card.LBW, Bowler: bowler},
		"Stump Out":                {How: card.Stumped, Bowler: bowler, Fielders: fielder},
		"1 Wide + Stump Out (Sub)": {How: card.Stumped, Bowler: bowler, Fielders: fielder, Substitute: true},
		"Hit Wicket":               {How: card.HitWicket, Bowler: bowler},
		"Run Out":                  {How: card.RunOut, Fielders: fielder},
		"1NB + 1 Run+ Run Out":     {How: card.RunOut, Fielders: fielder},
		"Run Out (Sub)":            {How: card.RunOut, Fielders: fielder, Substitute: true},
		"Obstructing the Field":    {How: card.ObstructingTheField},
		"Handled The Ball":         {How: card.HandledTheBall},
		"Hit the Ball Twice":       {How: card.HitTheBallTwice},
		"Timed Out":                {How: card.TimedOut},
		"Retired Out":              {How: card.RetiredOut},
		"Retired Hurt":             {How: card.RetiredHurt},
		"1 Bye + Retired Hurt":     {How: card.RetiredHurt},
		"Retired Not Out":          {How: card.RetiredNotOut},
		"Absent Hurt":              {How: card.AbsentHurt},
		"Absent (not out)":         {How: card.AbsentHurt},
		"Mankad":                   {How: card.Other, Text: "Mankad"},
		"":                         {How: card.Other},
	} {
		f := newFeed("T20", 20)
		f.total(1, home, 0, 0, 0, 0, score.Extras{})
		f.Batting = append(f.Batting, sportmonks.Batting{
			TeamID: home, Innings: 1, PlayerID: 101, ResultID: 999, Out: true, BowlerID: 211, CatchID: 202, RunOutID: 202,
			Result: sportmonks.Score{ID: 999, Name: name, Wicket: true, Out: true},
		})

		if diff := cmp.Diff(want, f.card(t).Innings[0].Batting[0].Dismissal); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}

	// The name of the ball's score, if the row has the id alone.
	f := over()
	for i := range f.Batting {
		f.Batting[i].Result = sportmonks.Score{}
	}

	if diff := cmp.Diff(card.CaughtAndBowled, f.card(t).Innings[0].Batting[2].How); diff != "" {
		t.Errorf("a row with an id (-want +got):\n%s", diff)
	}
}

// TestRetiredHurt: the batter is not out, and the partnership ends without a wicket. One who
// returns bats on.
func TestRetiredHurt(t *testing.T) {
	t.Parallel()

	for _, returns := range []bool{false, true} {
		f := newFeed("T20", 20)
		f.ball(1, "0.1", 101, 102, 211, "FOUR")
		f.ball(1, "0.2", 101, 102, 211, "Retired Hurt")
		f.ball(1, "0.3", 103, 102, 211, "1 Run")
		fell(f.bat(1, 102, [4]int{0, 1, 0, 0}, "Clean Bowled"), 0, 4, 5).BowlerID = 211
		f.ball(1, "0.4", 102, 103, 211, "Clean Bowled")

		how, figures, partner := "Retired Hurt", [4]int{4, 2, 1, 0}, 104
		if returns {
			how, figures, partner = "Not Out", [4]int{6, 3, 1, 0}, 101
			f.ball(1, "0.5", 101, 103, 211, "2 Runs")
		} else {
			f.ball(1, "0.5", 104, 103, 211, "2 Runs")
			f.bat(1, 104, [4]int{2, 1, 0, 0}, "Not Out")
		}

		f.bat(1, 101, figures, how)
		f.bat(1, 103, [4]int{1, 1, 0, 0}, "Not Out")
		f.bowl(1, 211, [7]int{0, 5, 0, 7, 1, 0, 0})
		f.total(1, home, 7, 1, 0, 5, score.Extras{})

		n := f.card(t).Innings[0]

		var got []string
		for _, p := range n.Partnerships {
			got = append(got, fmt.Sprintf("%d: %d %t %s %s", p.Wicket, p.Runs, p.Broken, p.Batters[0].Name, p.Batters[1].Name))
		}

		want := []string{"1: 4 false H1 H2", "1: 1 true H2 H3", "2: 2 false " + named(min(partner, 103)) + " " + named(max(partner, 103))}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("returns %t: partnerships (-want +got):\n%s", returns, diff)
		}

		if len(n.Falls) != 1 || len(n.Disagreements) != 0 {
			t.Errorf("returns %t: %d wickets, disagreements %v; want 1 and none", returns, len(n.Falls), n.Disagreements)
		}
	}
}

// TestPenaltyRuns belong to no ball, no batter and no partnership.
func TestPenaltyRuns(t *testing.T) {
	t.Parallel()

	f := newFeed("T20", 20)
	f.ball(1, "0.1", 101, 102, 211, "1 Run")
	f.ball(1, "0.2", 102, 101, 211, "Clean Bowled")
	f.bat(1, 101, [4]int{1, 1, 0, 0}, "Not Out")
	fell(f.bat(1, 102, [4]int{0, 1, 0, 0}, "Clean Bowled"), 0, 2, 6).BowlerID = 211
	f.bowl(1, 211, [7]int{0, 2, 0, 1, 1, 0, 0})
	f.total(1, home, 6, 1, 0, 2, score.Extras{Penalty: 5})

	n := f.card(t).Innings[0]
	if n.Disagreements != nil || n.Partnerships[0].Runs != 1 || n.Falls[0].Runs != 6 || n.Extras.Total != 5 || n.Extras.Penalty != 5 {
		t.Errorf("the card is %+v", n)
	}
}

// TestSuperOver: who does not bat in it is not listed. Its second innings has a target.
func TestSuperOver(t *testing.T) {
	t.Parallel()

	f := over()
	f.total(2, away, 14, 0, 20, 0, score.Extras{})
	f.SuperOver = true
	f.ball(3, "0.1", 201, 202, 111, "SIX")
	f.bat(3, 201, [4]int{6, 1, 0, 1}, "Not Out")
	f.bat(3, 202, [4]int{}, "Not Out")
	f.bowl(3, 111, [7]int{0, 1, 0, 6, 0, 0, 0})
	f.total(3, away, 6, 0, 0, 1, score.Extras{})
	f.ball(4, "0.1", 101, 102, 211, "1 Run")
	f.bat(4, 101, [4]int{1, 1, 0, 0}, "Not Out")
	f.bat(4, 102, [4]int{}, "Not Out")
	f.bowl(4, 211, [7]int{0, 1, 0, 1, 0, 0, 0})
	f.total(4, home, 1, 0, 0, 1, score.Extras{})

	all := f.card(t).Innings
	for i, want := range []struct {
		super       bool
		didNot      int
		target      int
		checked     bool
		differences int
	}{{false, 6, 0, true, 0}, {false, 11, 15, false, 0}, {true, 0, 0, true, 0}, {true, 0, 7, true, 0}} {
		n := all[i]

		target := 0
		if n.Target != nil {
			target = n.Target.Runs
		}

		if n.SuperOver != want.super || len(n.DidNotBat) != want.didNot || target != want.target || n.Unchecked == want.checked ||
			len(n.Disagreements) != want.differences {
			t.Errorf("innings %d is %+v, want %+v", i+1, n, want)
		}
	}
}

// TestRainRule: the chase has the revised target, and the match what the method counts.
func TestRainRule(t *testing.T) {
	t.Parallel()

	f := over()
	f.Status, f.RPCTarget, f.RPCOvers = "2nd Innings", 10, sportmonks.Overs{Overs: 2, Balls: 3}
	f.LocalDL, f.VisitorDL = sportmonks.DL{Score: 14, Overs: sportmonks.Overs{Overs: 1, Balls: 1}, Wickets: 4}, sportmonks.DL{Score: 9}
	f.total(2, away, 0, 0, 0, 0, score.Extras{})

	c := f.card(t)
	if diff := cmp.Diff(&score.Target{Runs: 10, Overs: "2.3", Revised: true}, c.Innings[1].Target); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}

	want := []card.RainRule{{TeamID: "1", Runs: 14, Overs: "1.1", Wickets: 4}, {TeamID: "2", Runs: 9}}
	if diff := cmp.Diff(want, c.Match.RainRule); diff != "" {
		t.Errorf("rain rule (-want +got):\n%s", diff)
	}
}

// TestConcussionSubstitute: he bats for another, who is not out, and is in no lineup: the ball has
// his name. One whom the team has named is a substitute of the side.
func TestConcussionSubstitute(t *testing.T) {
	t.Parallel()

	f := newFeed("Test/5day", 0)
	f.Lineup = append(f.Lineup, sportmonks.Member{ID: 112, Name: "H12", TeamID: home, Substitute: true})
	f.ball(1, "0.1", 101, 102, 211, "1 Run")
	f.ball(1, "0.2", 102, 113, 211, "1 Run")
	f.ball(1, "0.3", 113, 102, 211, "FOUR")
	f.bat(1, 101, [4]int{1, 1, 0, 0}, "Retired Hurt")
	f.bat(1, 102, [4]int{1, 1, 0, 0}, "Not Out")
	f.bat(1, 113, [4]int{4, 1, 1, 0}, "Not Out")
	f.bowl(1, 211, [7]int{0, 3, 0, 6, 0, 0, 0})
	f.total(1, home, 6, 0, 0, 3, score.Extras{})

	c := f.card(t)

	n := c.Innings[0]
	if n.Batting[2].Name != "H13" || n.Disagreements != nil || len(n.Partnerships) != 2 || n.Partnerships[1].Wicket != 1 ||
		len(n.DidNotBat) != 9 {
		t.Errorf("the card is %+v", n)
	}

	last := c.Match.Teams[0].Players[11]
	if diff := cmp.Diff(card.Member{ID: "112", Name: "H12", Substitute: true}, last); diff != "" {
		t.Errorf("substitute (-want +got):\n%s", diff)
	}
}

// TestOversOfFive: ten balls of a bowler are two overs, also if the provider counts in sixes.
func TestOversOfFive(t *testing.T) {
	t.Parallel()

	for name, overs := range map[string]sportmonks.Overs{"in fives": {Overs: 2}, "in sixes": {Overs: 1, Balls: 4}} {
		f := newFeed("100-Ball", 20)
		for i := range 10 {
			f.ball(1, strconv.Itoa(i/5)+"."+strconv.Itoa(i%5+1), 101, 102, 211, "2 Runs")
		}

		f.bat(1, 101, [4]int{20, 10, 0, 0}, "Not Out")
		f.bat(1, 102, [4]int{}, "Not Out")
		f.bowl(1, 211, [7]int{overs.Overs, overs.Balls, 0, 20, 0, 0, 0})
		f.total(1, home, 20, 0, 2, 0, score.Extras{})

		n := f.card(t).Innings[0]
		if n.Disagreements != nil || n.Bowling[0].Overs != "2" || n.Bowling[0].Economy != "12.00" || n.Overs != "2" {
			t.Errorf("%s: the card is %+v", name, n)
		}
	}
}

// TestMaidens: an over of one bowler off which nothing is charged to him; byes are not.
func TestMaidens(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		last    string
		other   int // bowler of the last ball
		maidens int
		overs   [2]int
	}{
		"no run":                    {"No Run", 211, 1, [2]int{1, 0}},
		"a bye":                     {"1 Bye", 211, 1, [2]int{1, 0}},
		"a run":                     {"1 Run", 211, 0, [2]int{1, 0}},
		"two bowlers":               {"No Run", 210, 0, [2]int{0, 5}},
		"five balls":                {"", 0, 0, [2]int{0, 5}},
		"six, and the over goes on": {"No Run", 211, 0, [2]int{1, 0}},
		"only five, by miscounting": {"", 0, 0, [2]int{1, 0}},
	} {
		f := newFeed("T20", 20)
		for i := range 5 {
			f.ball(1, "0."+strconv.Itoa(i+1), 101, 102, 211, "No Run")
		}

		runs := 0
		if c.last != "" {
			b := f.ball(1, "0.6", 101, 102, c.other, c.last)
			runs = b.Score.Runs
		}

		f.bowl(1, 211, [7]int{c.overs[0], c.overs[1], c.maidens, runs, 0, 0, 0})
		if c.other == 210 {
			f.bowl(1, 210, [7]int{0, 1, 0, 0, 0, 0, 0})
		}

		f.total(1, home, 0, 0, 0, 5, score.Extras{})

		if n := f.card(t).Innings[0]; slices.Contains(n.Disagreements, card.Bowling) {
			t.Errorf("%s: the bowling is refused: %+v", name, n.Bowling)
		}
	}
}

// TestTwoWicketsOnOneBall: the second ends a partnership of no ball. The feed has the first alone,
// so the balls differ from the rows.
func TestTwoWicketsOnOneBall(t *testing.T) {
	t.Parallel()

	f := newFeed("T20", 20)
	f.ball(1, "0.1", 101, 102, 211, "Clean Bowled")
	f.ball(1, "0.2", 104, 102, 211, "1 Run")
	fell(f.bat(1, 101, [4]int{0, 1, 0, 0}, "Clean Bowled"), 0, 1, 0).BowlerID = 211
	f.bat(1, 102, [4]int{}, "Not Out")
	fell(f.bat(1, 103, [4]int{}, "Timed Out"), 0, 1, 0)
	f.bat(1, 104, [4]int{1, 1, 0, 0}, "Not Out")
	f.total(1, home, 1, 2, 0, 2, score.Extras{})

	n := f.card(t).Innings[0]
	want := []card.Partnership{
		{Wicket: 1, Balls: 1, Broken: true, Batters: []card.Partner{{ID: "101", Name: "H1", Balls: 1}, {ID: "102", Name: "H2"}}},
		{Wicket: 2, Broken: true, Batters: []card.Partner{{ID: "103", Name: "H3"}, {ID: "102", Name: "H2"}}},
		{Wicket: 3, Runs: 1, Balls: 1, Batters: []card.Partner{{ID: "102", Name: "H2"}, {ID: "104", Name: "H4", Runs: 1, Balls: 1}}},
	}

	if diff := cmp.Diff(want, n.Partnerships); diff != "" {
		t.Errorf("partnerships (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]card.Part{card.Total, card.Batting, card.FallOfWickets}, n.Disagreements); diff != "" {
		t.Errorf("disagreements (-want +got):\n%s", diff)
	}
}

// TestSides: the eleven with captain and keeper, known before the first ball; venue and officials. A
// lineup without teams is assigned by who bats and bowls for whom.
func TestSides(t *testing.T) {
	t.Parallel()

	f := newFeed("T20", 20)
	f.Status = "NS"
	f.Venue = sportmonks.Venue{ID: 1, Name: "The Quay", City: "Port"}
	f.FirstUmpire, f.TVUmpire = sportmonks.Official{ID: 5, Name: "A Raised"}, sportmonks.Official{ID: 6, Name: "B Finger"}
	f.ManOfMatchID = 203

	c := f.card(t)
	if len(c.Match.Teams[0].Players) != 11 || len(c.Match.Teams[1].Players) != 11 || len(c.Innings) != 0 {
		t.Errorf("before the first ball: %+v", c)
	}

	want := []card.Member{{ID: "201", Name: "V1", Captain: true}, {ID: "202", Name: "V2", Keeper: true}, {ID: "203", Name: "V3"}}
	if diff := cmp.Diff(want, c.Match.Teams[1].Players[:3]); diff != "" {
		t.Errorf("players (-want +got):\n%s", diff)
	}

	c.Match.Teams = nil

	rest := card.Match{
		PlayerOfMatch: &who(203)[0], Venue: card.Venue{Name: "The Quay", City: "Port"},
		Officials: []card.Official{{Role: card.Umpire, ID: "5", Name: "A Raised"}, {Role: card.TVUmpire, ID: "6", Name: "B Finger"}},
	}
	if diff := cmp.Diff(rest, c.Match); diff != "" {
		t.Errorf("match (-want +got):\n%s", diff)
	}

	loose := over()
	for i := range loose.Lineup {
		loose.Lineup[i].TeamID = 0
	}

	if c := loose.card(t); len(c.Match.Teams[0].Players) != 5 || len(c.Match.Teams[1].Players) != 2 {
		t.Errorf("a lineup without teams: %+v", c.Match.Teams)
	}
}

// TestNothingToShow: a page without lineup and rows makes no card. One without an innings keeps
// those of before out of it.
func TestNothingToShow(t *testing.T) {
	t.Parallel()

	s, _ := scorer.Read(over().Fixture, score.State{})

	if c, ok := card.Of(&sportmonks.Fixture{ID: 7}, &s); ok {
		t.Errorf("there is a card: %+v", c)
	}

	if c, ok := card.Of(&sportmonks.Fixture{ID: 7, Lineup: over().Lineup}, &s); !ok || len(c.Innings) != 0 {
		t.Errorf("the card of a lineup is %+v, %t", c, ok)
	}
}

// TestBrokenAnswerIsBounded: no number of rows makes a part larger than an item of DynamoDB.
func TestBrokenAnswerIsBounded(t *testing.T) {
	t.Parallel()

	f := over()
	for i := range 5000 {
		name := strings.Repeat("<", 600)
		f.Lineup = append(f.Lineup, sportmonks.Member{ID: 1000 + i, Name: name, TeamID: home})
		fell(f.bat(1, 1000+i, [4]int{}, "Clean Bowled"), 0, 1, 1).BowlerID = 1001 + i
		f.bowl(1, 1000+i, [7]int{})
		f.ball(1, "0.1", 1000+i, 2000+i, 3000+i, "Clean Bowled")
	}

	c := f.card(t)
	for _, part := range []any{c.Match, c.Innings[0]} {
		text, err := json.Marshal(part)
		if err != nil || len(text) > 300_000 {
			t.Errorf("a part has %d bytes, %v", len(text), err)
		}
	}
}

// TestRecordedFeed: SportMonks' own answer in the second innings of a T20I. Its list of balls is
// not complete, and the rows are shown.
func TestRecordedFeed(t *testing.T) {
	t.Parallel()

	entries, err := sportmonks.Split(samples.Read(t, "sportmonks/livescores-71344-71010.assembled.json"))
	if err != nil {
		t.Fatal(err)
	}

	f, err := sportmonks.Decode(entries[0].Raw)
	if err != nil {
		t.Fatal(err)
	}

	s, _ := scorer.Read(f, score.State{})
	c, _ := card.Of(&f, &s)

	n := c.Innings[0]

	first := n.Batting[0]
	if first.Name != "Lahiru Udara" || first.Runs != 91 || first.How != card.Caught || first.Fielders[0].Name != "Hasan Nawaz" ||
		first.Bowler.Name != "Naseem Shah" || n.Batting[7].How != card.CaughtAndBowled || n.Batting[6].How != card.Bowled {
		t.Errorf("the batting is %+v", n.Batting)
	}

	if len(n.Falls) != 8 || n.Falls[7].Overs != "19.1" || n.Falls[6].Overs != "18.6" || n.Bowling[0].Economy != "9.00" {
		t.Errorf("the card is %+v", n)
	}

	if !slices.ContainsFunc(c.Match.Teams[1].Players, func(p card.Member) bool { return p.Name == "Kusal Mendis" && p.Captain && p.Keeper }) {
		t.Errorf("the visitors are %+v", c.Match.Teams[1])
	}
}
