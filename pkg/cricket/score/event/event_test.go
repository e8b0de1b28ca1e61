package event_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

func nameBatter(name string) func(*sportmonks.Fixture) {
	return func(f *sportmonks.Fixture) {
		for i := range f.Balls {
			f.Balls[i].Batter.Name = name
		}
	}
}

func nameBowler(name string) func(*sportmonks.Fixture) {
	return func(f *sportmonks.Fixture) {
		for i := range f.Balls {
			f.Balls[i].Bowler.Name = name
		}
	}
}

// TestEventsOfEachSituation lists situations of a match and their events.
func TestEventsOfEachSituation(t *testing.T) {
	t.Parallel()

	toss := func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "bowling" }
	fall := func(player, runs, balls, score int, at sportmonks.Overs) sportmonks.Batting {
		return sportmonks.Batting{Innings: 1, PlayerID: player, Score: runs, Balls: balls, Out: true, FallScore: score, FallAt: at}
	}
	tied := func() *scoretest.Scene {
		return scoretest.NewScene("T20I").AddTotal(1, 141, 9, "20").AddTotal(2, 141, 7, "20")
	}

	test := func() *scoretest.Scene {
		return scoretest.NewScene("Test").AddTotal(1, 300, 10, "90").AddTotal(2, 200, 10, "70")
	}
	for _, c := range []struct {
		name string
		kind event.Kind // "" is all
		s    *scoretest.Scene
		want []string
	}{
		{"not started", "", scoretest.NewScene("T20I").SetStatus("NS"), nil},
		{"delayed", "", scoretest.NewScene("T20I").SetStatus("Delayed"), nil},

		{"toss", "", scoretest.NewScene("T20I").SetStatus("NS").Set(toss), []string{"toss:2:field | Toss: Away chose to field | Home v Away"}},
		{"toss without a choice", "", scoretest.NewScene("T20I").SetStatus("NS").Set(func(f *sportmonks.Fixture) { f.TossWonID = 2 }), nil},
		{"choice without a winner of the toss", "",
			scoretest.NewScene("T20I").SetStatus("NS").Set(func(f *sportmonks.Fixture) { f.Elected = "batting" }), nil},

		{"live before a ball", "", scoretest.NewScene("T20I"), []string{"start | Play has begun | Home v Away"}},
		{"begun, in an interval", event.Start, scoretest.NewScene("Test").AddInnings(1, "1").SetStatus("Lunch"),
			[]string{"start | Play has begun | Home v Away"}},
		{"begun, finished", event.Start, scoretest.NewScene("T20I").AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1,
			"Home won by 78 runs"), []string{"start | Play has begun | Home v Away"}},
		{"abandoned before the start", event.Start, scoretest.NewScene("T20I").SetStatus("Aban."), nil},

		{"wickets", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "1 4 W . wd 6 1W"), []string{
			"S1:out:101 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Batter 1 b Bowler 0 5 (3)",
			"S1:out:103 S1:ball:1006 | Wicket! Home 13/2 (1) | Batter 3 b Bowler 0 7 (3)"}},
		{"wicket corrected to the other batter", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 4 W").ChangeBall(2,
				func(b *sportmonks.Ball) { b.OutID, b.RunOutID, b.Score.Name = 102, 900, "Run Out" }),
			[]string{"S1:out:102 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Player 102 run out (Bowler 0) 0 (0)"}},
		{"wicket without a batter", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 4 W").ChangeBall(2, func(b *sportmonks.Ball) { b.OutID, b.BatterID = 0, 0 }),
			[]string{"S1:ball:1002 | Wicket! Home 5/1 (0.3) | b Bowler 0"}},
		{"batter out twice in an innings", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "W W").ChangeBall(1, func(b *sportmonks.Ball) { b.OutID = 101 }),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},
		{"retired hurt", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "1 4").ChangeBall(1,
			func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "4 Runs + Retired Hurt" }), nil},
		{"retired hurt, with a row that looks out", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 4").ChangeBall(1,
				func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "4 Runs + Retired Hurt" }).
				AddBatting(fall(101, 5, 2, 5, sportmonks.Overs{Balls: 2})).AddBatting(fall(102, 0, 1, 5,
				sportmonks.Overs{Balls: 3})).Set(func(f *sportmonks.Fixture) {
				f.Runs[0].Wickets = 1
			}),
			[]string{"S1:out:102 | Wicket! Home 5/1 (0.2) | Player 102 0 (1)"}},
		{"hurt, back, and out", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "1 4 W").ChangeBall(0,
			func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "1 Run + Retired Hurt" }),
			[]string{"S1:out:101 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Batter 1 b Bowler 0 5 (3)"}},
		{"without balls, from the rows", event.Wicket,
			scoretest.NewScene("T20I").AddTotal(1, 60, 2, "8").AddBatting(fall(12, 9, 7, 51,
				sportmonks.Overs{Overs: 6, Balls: 4})).AddBatting(fall(11, 23, 18, 45, sportmonks.Overs{
				Overs: 6,
				Balls: 2,
			})).AddBatting(sportmonks.Batting{
				Innings:  1,
				PlayerID: 13,
				Score:    20,
			}),
			[]string{"S1:out:11 | Wicket! Home 45/1 (6.2) | Player 11 23 (18)", "S1:out:12 | Wicket! Home 51/2 (6.4) | Player 12 9 (7)"}},
		{"balls of the end only, the rest from the rows", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 4 W").Set(func(f *sportmonks.Fixture) {
				f.Runs[0] = sportmonks.Runs{TeamID: 1, Innings: 1, Score: 50, Wickets: 2, Overs: sportmonks.Overs{Overs: 7, Balls: 3}}
			}).
				ChangeBall(0, func(b *sportmonks.Ball) { b.At.Overs = 7 }).ChangeBall(1, func(b *sportmonks.Ball) { b.At.Overs = 7 }).ChangeBall(2,
				func(b *sportmonks.Ball) { b.At.Overs = 7 }).
				AddBatting(fall(101, 31, 20, 50, sportmonks.Overs{Overs: 7, Balls: 3})).AddBatting(fall(99, 14, 12, 30,
				sportmonks.Overs{Overs: 4, Balls: 1})),
			[]string{"S1:out:99 | Wicket! Home 30/1 (4.1) | Player 99 14 (12)",
				"S1:out:101 S1:ball:1002 | Wicket! Home 50/2 (7.3) | Batter 1 b Bowler 0 31 (20)"}},
		{"a ball and a row of one wicket", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 W").Set(func(f *sportmonks.Fixture) {
				f.Runs[0] = sportmonks.Runs{TeamID: 1, Innings: 1, Score: 50, Wickets: 2, Overs: sportmonks.Overs{Balls: 4}}
			}).
				AddBatting(fall(101, 1, 2, 1, sportmonks.Overs{Balls: 2})).AddBatting(fall(103, 0, 1, 1, sportmonks.Overs{Balls: 3})),
			[]string{"S1:out:101 S1:ball:1001 | Wicket! Home 1/1 (0.2) | Batter 1 b Bowler 0 1 (2)",
				"S1:out:103 | Wicket! Home 1/2 (0.3) | Player 103 0 (1)"}},
		{"hurt, back, and out to a ball that is not listed", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 4").ChangeBall(0,
				func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "1 Run + Retired Hurt" }).
				AddBatting(fall(101, 5, 3, 5, sportmonks.Overs{Balls: 3})).Set(func(f *sportmonks.Fixture) { f.Runs[0].Wickets = 1 }),
			[]string{"S1:out:101 | Wicket! Home 5/1 (0.3) | Batter 1 5 (3)"}},
		{"after penalty runs, which have no place, the score now", event.Wicket,
			scoretest.NewScene("T20I").AddInnings(1, "1 W 1").Set(func(f *sportmonks.Fixture) { f.Runs[0].Score += 5 }),
			[]string{"S1:out:101 S1:ball:1001 | Wicket! Home 7/1 (0.3) | Batter 1 b Bowler 0 1 (2)"}},
		{"a row ahead of the total", event.Wicket,
			scoretest.NewScene("T20I").AddTotal(1, 60, 0, "8").AddBatting(fall(11, 23, 18, 45, sportmonks.Overs{Overs: 6, Balls: 2})), nil},
		{"where a fall is not known, the score now", event.Wicket,
			scoretest.NewScene("T20I").AddTotal(1, 60, 2, "8").AddBatting(fall(11, 23, 18, 0, sportmonks.Overs{})),
			[]string{"S1:out:11 | Wicket! Home 60/2 (8) | Player 11 23 (18)"}},
		{"in both super overs", event.Wicket, tied().AddInnings(2, "6 W").AddInnings(1, "W"), []string{
			"S3:out:301 S3:ball:3001 | Wicket! Away 6/1 (0.2) | Batter 1 b Bowler 0 6 (2)",
			"S4:out:401 S4:ball:4000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},
		{"in both innings", event.Wicket, scoretest.NewScene("Test").AddInnings(1, "W").AddInnings(2, "1").AddInnings(1, "W").ChangeBall(2,
			func(b *sportmonks.Ball) { b.BatterID, b.OutID = 101, 101 }), []string{
			"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)",
			"S3:out:101 S3:ball:3000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},

		{"49", event.Fifty, scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 8)+"1"), nil},
		{"fifty with the score of its ball", event.Fifty, scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 9)+". 1"),
			[]string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)"}},
		{"wides and byes do not count for the batter", event.Fifty,
			scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 8)+"5wd 4b 3lb"), nil},
		{"run out on the fiftieth run", "", scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 8)+"2W"), []string{
			"start | Play has begun | Home v Away",
			"S1:101:50 | Fifty for Batter 1 | 50 (9) · Home 50/0 (1.3)",
			"S1:out:101 S1:ball:1008 | Wicket! Home 50/1 (1.3) | Batter 1 b Bowler 1 50 (9)"}},
		{"hundred", "", scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 17)), []string{
			"start | Play has begun | Home v Away",
			"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)",
			"S1:101:100 | Hundred for Batter 1 | 102 (17) · Home 102/0 (2.5)"}},
		{"150 and 200", event.Hundred, scoretest.NewScene("ODI").AddInnings(1, strings.Repeat("6 ", 34)), []string{
			"S1:101:100 | Hundred for Batter 1 | 102 (17) · Home 102/0 (2.5)",
			"S1:101:150 | 150 for Batter 1 | 150 (25) · Home 150/0 (4.1)",
			"S1:101:200 | Double hundred for Batter 1 | 204 (34) · Home 204/0 (5.4)"}},
		{"fifty by the batting row if the balls do not add up", event.Fifty,
			scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 9)).Set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 80 }).
				AddBatting(sportmonks.Batting{Innings: 1, PlayerID: 101, Score: 49, Balls: 9}).AddBatting(sportmonks.Batting{
				Innings:  1,
				PlayerID: 102,
				Score:    61,
				Balls:    30,
			}),
			[]string{"S1:102:50 | Fifty for Player 102 | 61 (30) · Home 80/0 (1.3)"}},
		{"fifty by the balls if they add up", event.Fifty,
			scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 9)).AddBatting(sportmonks.Batting{Innings: 1, PlayerID: 101, Score: 48}),
			[]string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)"}},
		{"fifty by the balls without a batting row", event.Fifty,
			scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 9)).Set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 80 }),
			[]string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 80/0 (1.3)"}},

		{"fifty, then a ball without runs", event.Fifty, scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 8)+"2 . ."),
			[]string{"S1:101:50 | Fifty for Batter 1 | 50 (9) · Home 50/0 (1.3)"}},
		{"fifty of a batter without an id", event.Fifty,
			scoretest.NewScene("T20I").AddInnings(1, strings.Repeat("6 ", 9)).Set(func(f *sportmonks.Fixture) {
				for i := range f.Balls {
					f.Balls[i].BatterID = 0
				}
			}), nil},
		{"a fall that is not known comes last", event.Wicket,
			scoretest.NewScene("T20I").AddTotal(1, 60, 2, "8").AddBatting(fall(11, 9, 7, 0, sportmonks.Overs{})).AddBatting(fall(12, 23, 18, 45,
				sportmonks.Overs{Overs: 6, Balls: 2})),
			[]string{"S1:out:12 | Wicket! Home 45/2 (6.2) | Player 12 23 (18)", "S1:out:11 | Wicket! Home 60/2 (8) | Player 11 9 (7)"}},
		{"a row without a player", event.Wicket,
			scoretest.NewScene("T20I").AddTotal(1, 60, 1, "8").AddBatting(fall(0, 9, 7, 40, sportmonks.Overs{Overs: 6})), nil},
		{"name of 40 bytes", event.Fifty, scoretest.NewScene("T20I").AddInnings(1,
			strings.Repeat("6 ", 9)).Set(nameBatter(strings.Repeat("x", 40))),
			[]string{"S1:101:50 | Fifty for " + strings.Repeat("x", 40) + " | 54 (9) · Home 54/0 (1.3)"}},
		{"name of 41 bytes", event.Fifty, scoretest.NewScene("T20I").AddInnings(1,
			strings.Repeat("6 ", 9)).Set(nameBatter(strings.Repeat("x", 41))),
			[]string{"S1:101:50 | Fifty for " + strings.Repeat("x", 37) + "… | 54 (9) · Home 54/0 (1.3)"}},
		{"batter of 40 bytes out", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "W").Set(nameBatter(strings.Repeat("x", 40))),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | " + strings.Repeat("x", 40) + " b Bowler 0 0 (1)"}},
		{"batter of 41 bytes out", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "W").Set(nameBatter(strings.Repeat("x", 41))),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | " + strings.Repeat("x", 37) + "… b Bowler 0 0 (1)"}},
		{"bowler of 40 bytes", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "W").Set(nameBowler(strings.Repeat("x", 40))),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b " + strings.Repeat("x", 40) + " 0 (1)"}},
		{"bowler of 41 bytes", event.Wicket, scoretest.NewScene("T20I").AddInnings(1, "W").Set(nameBowler(strings.Repeat("x", 41))),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b " + strings.Repeat("x", 37) + "… 0 (1)"}},

		{"innings in play", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "19.5"), nil},
		{"innings complete", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20"),
			[]string{"S1:end | End of innings: Home 182/8 (20) | Home v Away"}},
		{"innings cut short", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "18").SetStatus("Innings Break"),
			[]string{"S1:end | End of innings: Home 182/8 (18) | Home v Away"}},
		{"all out", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 141, 10, "18.2"),
			[]string{"S1:end | All out: Home 141 (18.2) | Home v Away"}},
		{"declared", event.Innings, scoretest.NewScene("Test").AddTotal(1, 391, 9, "128").AddTotal(2, 3, 0, "1"),
			[]string{"S1:end | Declared: Home 391/9d (128) | Home v Away"}},
		{"trail on the first innings", event.Innings, test(),
			[]string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs"}},
		{"end of the third innings", event.Innings, test().AddTotal(1, 101, 10, "30"),
			[]string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs",
				"S3:end | All out: Home 101 (30) | Home lead by 201 runs"}},
		{"innings defeat has no event of its innings", event.Innings, test().AddTotal(2, 99, 10, "30"),
			[]string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs"}},
		{"follow-on with level scores has one", event.Innings, test().AddTotal(2, 100, 10, "30"),
			[]string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs",
				"S3:end | All out: Away 100 (30) | Scores level"}},
		{"successful chase has no event of its innings", event.Innings,
			scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 101, 2, "15"),
			[]string{"S1:end | End of innings: Home 100/8 (20) | Home v Away"}},
		{"failed chase has no event of its innings", event.Innings,
			scoretest.NewScene("T20I").AddTotal(1, 100, 8, "20").AddTotal(2, 90, 10, "15"),
			[]string{"S1:end | End of innings: Home 100/8 (20) | Home v Away"}},
		{"innings ended by the match", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 132, 7, "19").Finish(0, "No result"), nil},
		{"innings ended by a match without a note", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 132, 7, "19").Finish(0, ""), nil},
		{"innings complete before the match ended", event.Innings, scoretest.NewScene("T20I").AddTotal(1, 132, 7, "20").Finish(0, "No result"),
			[]string{"S1:end | End of innings: Home 132/7 (20) | Home v Away"}},
		{"super overs", event.Innings, tied().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 2, "0.5"), []string{
			"S1:end | End of innings: Home 141/9 (20) | Home v Away", "S2:end | End of innings: Away 141/7 (20) | Home v Away",
			"S3:end | Super Over: Away 10/1 (1) | Home v Away"}},

		{"no target during the innings", event.Target, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "19.5"), nil},
		{"target", event.Target, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").SetStatus("Innings Break"),
			[]string{"target:2:183 | Target: 183 | Away need 183 runs from 120 balls"}},
		{"during the chase", event.Target, scoretest.NewScene("T20I").AddTotal(1, 182, 8, "20").AddTotal(2, 10, 0, "1.2"),
			[]string{"target:2:183 | Target: 183 | Away need 173 runs from 112 balls"}},
		{"revised target", event.Target, scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) {
			f.RPCTarget, f.RPCOvers = 150, sportmonks.Overs{Overs: 16}
		}).AddTotal(1, 182, 8, "20").AddTotal(2, 10, 0, "1.2"),
			[]string{"target:2:150 | Revised target: 150 (DLS) | Away need 140 runs from 88 balls"}},
		{"innings cut short, target not set", event.Target, scoretest.NewScene("ODI").AddTotal(1, 168, 7, "35").SetStatus("Innings Break"), nil},
		{"target after the end", event.Target, scoretest.NewScene("T20I").AddTotal(1, 137, 8, "20").AddTotal(2, 138, 5, "19").Finish(2,
			"Away won by 5 wickets"), []string{"target:2:138 | Target: 138 | Away need 138 runs to win"}},
		{"target of the fourth innings", event.Target, test().AddTotal(1, 100, 10, "30").AddTotal(2, 1, 0, "1"),
			[]string{"target:4:201 | Target: 201 | Away need 200 runs to win"}},
		{"target of the match during a super over", event.Target, tied().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 0, "0.5"),
			[]string{"target:2:142 | Target: 142 | Away need 142 runs to win"}},

		{"super over", event.SuperOver, tied().AddTotal(2, 0, 0, "0"), []string{"superOver:3 | Super Over | Home 141/9 (20), Away 141/7 (20)"}},
		{"second super over", event.SuperOver, tied().AddTotal(2, 10, 1, "1").AddTotal(1, 10, 1, "1").AddTotal(1, 2, 0, "0.2"),
			[]string{"superOver:3 | Super Over | Home 141/9 (20), Away 141/7 (20)",
				"superOver:5 | Another Super Over | Home 141/9 (20), Away 141/7 (20)"}},
		{"super over without its first innings", event.SuperOver,
			tied().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 2, "0.5").Set(func(f *sportmonks.Fixture) { f.Runs = slices.Delete(f.Runs, 2, 3) }),
			[]string{"superOver:3 | Super Over | Home 141/9 (20), Away 141/7 (20)"}},
		{"third innings of a Test is no super over", event.SuperOver, test().AddTotal(1, 0, 0, "0"), nil},

		{"won", event.Result, scoretest.NewScene("T20I").AddTotal(2, 170, 6, "20").AddTotal(1, 92, 10, "19.2").Finish(2, "Away won by 78 runs"),
			[]string{"result:won:2 | Away won by 78 runs | Away 170/6 (20), Home 92 (19.2)"}},
		{"won over several days", event.Result, test().AddTotal(1, 101, 10, "30").AddTotal(2, 202, 4, "50").Finish(2, "Away won by 6 wickets"),
			[]string{"result:won:2 | Away won by 6 wickets | Home 300 & 101, Away 200 & 202/4"}},
		{"won in a super over", event.Result, tied().AddTotal(2, 10, 1, "1").AddTotal(1, 6, 2, "0.5").Finish(2,
			"Match tied (Away won the Super Over)"),
			[]string{"result:tied:2 | Match tied (Away won the Super Over) | Home 141/9 (20), Away 141/7 (20) · SO 10/1 v 6/2"}},
		{"tied", event.Result, tied().Finish(0, "Match tied"), []string{"result:tied: | Match tied | Home 141/9 (20), Away 141/7 (20)"}},
		{"abandoned", "", scoretest.NewScene("T20I").SetStatus("Aban."),
			[]string{"result:abandoned: | Match abandoned without a ball bowled | Home v Away"}},
		{"note longer than a title", event.Result,
			scoretest.NewScene("T20I").Set(func(f *sportmonks.Fixture) { f.Visitorteam.Name = "Royal Challengers Bangalore" }).AddTotal(1, 137, 8,
				"20").AddTotal(2, 138, 5, "19.5").Finish(2, "Royal Challengers Bangalore won by 5 wickets (with 1 ball remaining)"),
			[]string{"result:won:2 | Royal Challengers Bangalore won by 5 wickets | Home 137/8 (20), Royal Challengers Bangalore 138/5 (19.5)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			st, _ := scorer.Read(c.s.Fixture, score.State{})
			events := event.List(c.s.Fixture, st)
			scoretest.CheckTexts(t, events)

			if diff := cmp.Diff(c.want, scoretest.EventLines(events, c.kind)); diff != "" {
				t.Fatalf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEachStoppageIsListedOnce follows matches through their statuses.
func TestEachStoppageIsListedOnce(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name     string
		statuses string
		want     string
		bare     bool // no ball is bowled
	}{
		{"no stoppage", "NS, 1st Innings, Innings Break, 2nd Innings", "", false},
		{"rain", "NS, 1st Innings, Int., Int., 1st Innings, 1st Innings", "rain:1:stop rain:1:resume", false},
		{"two stoppages", "1st Innings, Int., 1st Innings, Int., 1st Innings", "rain:1:stop rain:1:resume rain:2:stop rain:2:resume", false},
		{"not yet resumed", "1st Innings, Int., 1st Innings, Int.", "rain:1:stop rain:1:resume rain:2:stop", false},
		{"through lunch", "1st Innings, Int., Lunch, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"over stumps", "1st Innings, Int., Stump Day 1, 1st Innings", "rain:1:stop rain:1:resume", false},
		{"in the innings break", "1st Innings, Innings Break, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"with an unknown status", "1st Innings, Int., Review, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"abandoned", "1st Innings, Int., Aban.", "rain:1:stop", false},
		{"before play", "NS, Int., Delayed, Int., NS", "", true},
		{"before the first ball", "NS, 1st Innings, Int., 1st Innings, Int., Aban.", "rain:1:stop rain:1:resume rain:2:stop", true},
		{"first polled during a stoppage", "Int., 1st Innings", "rain:1:stop rain:1:resume", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			var (
				st   score.State
				last []string
			)

			begun := false

			for i, status := range strings.Split(c.statuses, ", ") {
				s := scoretest.NewScene("Test")
				if status != "NS" && !c.bare {
					s.AddInnings(1, strings.Repeat("1 ", i+1))
				}

				s.SetStatus(status)
				st, _ = scorer.Read(s.Fixture, st)

				again, _ := scorer.Read(s.Fixture, st)
				if again.Stops != st.Stops || again.Resumes != st.Resumes {
					t.Fatalf("%s: %d stops and %d resumes became %d and %d on a second read", status, st.Stops, st.Resumes, again.Stops, again.Resumes)
				}

				begun = begun || st.Phase == sportmonks.Live || !c.bare && status != "NS"
				events := event.List(s.Fixture, st)
				scoretest.CheckTexts(t, events)

				if got := len(scoretest.EventLines(events, event.Start)) > 0; got != begun {
					t.Errorf("%s: start listed %t, want %t", status, got, begun)
				}

				var keys []string

				for _, e := range events {
					if e.Kind == event.Rain {
						keys = append(keys, e.Key)
						if strings.Contains(strings.ToLower(e.Title+e.Body+e.Plain), "rain") {
							t.Errorf("the text names rain, which the status does not: %+v", e)
						}
					}
				}

				if len(keys) < len(last) || !slices.Equal(keys[:len(last)], last) {
					t.Fatalf("%s: keys %v after %v, want all previous keys", status, keys, last)
				}

				last = keys
				calm := st

				calm.Stops, calm.Resumes = 0, 0
				if calm.For("").Hash() != st.For("").Hash() {
					t.Error("the counts of stoppages change the hash of the display")
				}
			}

			if got := strings.Join(last, " "); got != c.want {
				t.Errorf("keys %q, want %q", got, c.want)
			}
		})
	}
}

// TestInterruptionBeforePlayIsNoStoppage also has an innings appear before play begins.
func TestInterruptionBeforePlayIsNoStoppage(t *testing.T) {
	t.Parallel()

	st := scoretest.NewScene("T20I").SetStatus("Int.").Read(t)
	if st, _ = scorer.Read(scoretest.NewScene("T20I").AddTotal(1, 0, 0, "0").SetStatus("Int.").Fixture, st); st.Stops != 0 {
		t.Errorf("%d stops, want 0", st.Stops)
	}
}

// TestEachDayOfPlayHasAStart: it is listed while play is on.
func TestEachDayOfPlayHasAStart(t *testing.T) {
	t.Parallel()

	var st score.State

	for _, c := range []struct {
		status string
		want   []string
	}{
		{"1st Innings", []string{"start | Play has begun | Home v Away"}},
		{"Stump Day 1", []string{"start | Play has begun | Home v Away"}},
		{"Int.", []string{"start | Play has begun | Home v Away"}},
		{"1st Innings", []string{"start | Play has begun | Home v Away", "start:2 | Play has begun on day 2 | Home 7/0"}},
		{"Lunch", []string{"start | Play has begun | Home v Away"}},
		{"1st Innings", []string{"start | Play has begun | Home v Away", "start:2 | Play has begun on day 2 | Home 7/0"}},
		{"Stump Day 4", []string{"start | Play has begun | Home v Away"}},
		{"1st Innings", []string{"start | Play has begun | Home v Away", "start:5 | Play has begun on day 5 | Home 7/0"}},
	} {
		f := scoretest.NewScene("Test").AddInnings(1, "1 6").SetStatus(c.status).Fixture
		st, _ = scorer.Read(f, st)

		var got []string

		for _, e := range event.List(f, st) {
			if e.Kind == event.Start {
				got = append(got, e.Key+" | "+e.Title+" | "+e.Body)
				if !event.IsStart(e.Key) {
					t.Errorf("%s: %s is no start, want one", c.status, e.Key)
				}
			}
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: the starts differ (-want +got):\n%s", c.status, diff)
		}
	}
}

// TestRefusedSnapshotHasNoEvents also checks that all events are listed once it is read.
func TestRefusedSnapshotHasNoEvents(t *testing.T) {
	t.Parallel()

	whole := scoretest.NewScene("T20I").AddInnings(1, "1 4 W . 2 6 W .")
	st := whole.Read(t)
	short := whole.Fixture
	short.Balls = short.Balls[:3]

	held, _ := scorer.Read(short, st)
	if got := event.List(short, held); held.Held != 1 || got != nil {
		t.Errorf("held %d with the events %v, want 1 and none", held.Held, got)
	}

	back, _ := scorer.Read(whole.Fixture, held)

	want := event.List(whole.Fixture, st)
	if diff := cmp.Diff(want, event.List(whole.Fixture, back)); len(want) != 3 || diff != "" {
		t.Errorf("%d events, want 3 (-want +got):\n%s", len(want), diff)
	}
}

func TestCorrectedWicketKeepsKeyOrAlias(t *testing.T) {
	t.Parallel()

	wicket := func(change func(*sportmonks.Ball)) event.Event {
		s := scoretest.NewScene("T20I").AddInnings(1, "1 4 W").ChangeBall(2, change)
		st, _ := scorer.Read(s.Fixture, score.State{}) // a wicket of nobody does not add up
		events := event.List(s.Fixture, st)

		return events[len(events)-1]
	}
	first := wicket(func(*sportmonks.Ball) {})

	other := wicket(func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 102, "Run Out" })
	if other.Key == first.Key || other.Alias != first.Alias {
		t.Errorf("after a correction of the batter: %+v, want another key and the alias of %+v", other, first)
	}

	posted := wicket(func(b *sportmonks.Ball) { b.ID = 1007 }) // deleted and posted again
	if posted.Key != first.Key || posted.Alias == first.Alias {
		t.Errorf("after a correction of the ball: %+v, want the key and another alias than %+v", posted, first)
	}

	nobody := wicket(func(b *sportmonks.Ball) { b.OutID, b.BatterID = 0, 0 })
	if nobody.Key != first.Alias || nobody.Alias != "" {
		t.Errorf("without a batter: %+v, want the alias of %+v as key", nobody, first)
	}
}

func TestDeclarationStaysWhenTheMatchEnds(t *testing.T) {
	t.Parallel()

	s := scoretest.NewScene("Test").AddTotal(1, 391, 6, "128").SetStatus("Innings Break")
	st := s.Read(t)
	s.Finish(0, "Match drawn").Set(func(f *sportmonks.Fixture) { f.DrawNoResult = "draw" })

	for range 2 {
		st, _ = scorer.Read(s.Fixture, st)
		if got := scoretest.EventLines(event.List(s.Fixture, st),
			event.Innings); !slices.Equal(got, []string{"S1:end | Declared: Home 391/6d (128) | Home v Away"}) ||
			st.For("").Local.Score != "391/6d" {
			t.Fatalf("events %v of the innings %+v, want a declaration at 391/6", got, st.Innings)
		}
	}
}

// TestEventsOfAnySnapshot checks that no two events of a kind share a key, that texts are
// bounded, that equal input gives equal events, and that a snapshot that is read again
// counts no stoppage twice.
func TestEventsOfAnySnapshot(t *testing.T) {
	t.Parallel()

	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"India", "\xff\xfe", "<&>\"\\", strings.Repeat("é😀 ", 90), "a\x00b"}))

	rapid.Check(t, func(t *rapid.T) {
		var st score.State

		for range rapid.IntRange(1, 4).Draw(t, "polls") {
			f := scoretest.DrawFixture(t)

			f.Localteam.Name, f.Visitorteam.Name = name.Draw(t, "home"), name.Draw(t, "away")
			for i := range 8 {
				f.Lineup = append(f.Lineup, sportmonks.Member{ID: i, Name: name.Draw(t, "player")})
			}

			if rapid.Bool().Draw(t, "final") {
				st, _ = scorer.Final(f, st)
			} else {
				st, _ = scorer.Read(f, st)
			}

			events := event.List(f, st)
			if st.Held != 0 {
				if events != nil {
					t.Fatalf("events of a refused snapshot: %+v, want none", events)
				}

				continue
			}

			scoretest.CheckTexts(t, events)

			if st.Resumes > st.Stops || st.Stops > st.Resumes+1 {
				t.Fatalf("%d stops and %d resumes, want as many or one stop more", st.Stops, st.Resumes)
			}

			again, _ := scorer.Read(f, st)
			if again.Stops != st.Stops || again.Resumes != st.Resumes {
				t.Fatalf("%d stops and %d resumes became %d and %d on a second read", st.Stops, st.Resumes, again.Stops, again.Resumes)
			}

			g := f

			g.Balls = slices.Clone(f.Balls)
			if diff := cmp.Diff(events, event.List(g, st)); diff != "" {
				t.Fatalf("equal input gives other events (-first +second):\n%s", diff)
			}
		}
	})
}

// TestEventsOfRecordedMatches plays matches of Cricsheet ball by ball. No event that was
// listed disappears, and the events at the end are those of the sheet.
func TestEventsOfRecordedMatches(t *testing.T) {
	t.Parallel()

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)

			var (
				st     score.State
				events []event.Event
			)

			listed := map[string]bool{}
			frame := func(f sportmonks.Fixture) {
				t.Helper()

				var problems []scorer.Problem

				st, problems = scorer.Read(f, st)
				scoretest.NoProblems(t, problems)

				events = event.List(f, st)
				scoretest.CheckTexts(t, events)

				is := map[string]bool{}
				for _, e := range events {
					is[e.Key], is[e.Alias] = true, true
				}

				for key := range listed {
					if !is[key] {
						t.Fatalf("event %q is no longer listed after %d balls, %s", key, len(f.Balls), f.Status)
					}
				}

				for _, e := range events {
					if e.Kind != event.Target && e.Kind != event.Result && e.Kind != event.CloseFinish {
						listed[e.Key] = true
					}
				}
			}
			frame(r.FeedAt(0))

			for n := 1; n <= len(r.Totals); n++ {
				f := r.FeedAt(n)
				if n%100 == 50 {
					f.Status = "Int."
				}

				frame(f)

				if n < len(r.Totals) && r.Totals[n].Innings != r.Totals[n-1].Innings {
					f.Status = "Innings Break"
					frame(f)
				}
			}

			frame(r.FinalFeed(true))
			r.CheckEvents(t, events)
		})
	}
}
