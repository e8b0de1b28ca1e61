package score_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// told is the events of a kind, or of all: "key [alias] title: body".
func told(events []score.Event, kind score.EventKind) (lines []string) {
	for _, e := range events {
		if kind == "" || e.Kind == kind {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{e.Key, e.Alias}, " "))+" | "+e.Title+" | "+e.Body)
		}
	}
	return lines
}

// row adds a batting row.
func (s *scene) row(b sportmonks.Batting) *scene { s.Batting = append(s.Batting, b); return s }

// ball changes the ball at an index of the list.
func (s *scene) ball(i int, change func(*sportmonks.Ball)) *scene { change(&s.Balls[i]); return s }

// TestEvents reads like the rules: what is told of a situation.
func TestEvents(t *testing.T) {
	t.Parallel()
	toss := func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 2, "bowling" }
	fall := func(player, runs, balls, score int, at sportmonks.Overs) sportmonks.Batting {
		return sportmonks.Batting{Innings: 1, PlayerID: player, Score: runs, Balls: balls, Out: true, FallScore: score, FallAt: at}
	}
	tied := func() *scene { return match("T20I").total(1, 141, 9, "20").total(2, 141, 7, "20") }
	test := func() *scene { return match("Test").total(1, 300, 10, "90").total(2, 200, 10, "70") }
	for _, c := range []struct {
		name string
		kind score.EventKind // "" is all
		s    *scene
		want []string
	}{
		{"nothing yet", "", match("T20I").status("NS"), nil},
		{"delayed", "", match("T20I").status("Delayed"), nil},

		{"toss", "", match("T20I").status("NS").set(toss), []string{"toss:2:field | Toss: Away chose to field | Home v Away"}},
		{"toss won, nothing chosen yet", "", match("T20I").status("NS").set(func(f *sportmonks.Fixture) { f.TossWonID = 2 }), nil},
		{"chosen by nobody", "", match("T20I").status("NS").set(func(f *sportmonks.Fixture) { f.Elected = "batting" }), nil},

		{"live before a ball", "", match("T20I"), []string{"start | Play has begun | Home v Away"}},
		{"still begun in an interval", score.StartEvent, match("Test").bat(1, "1").status("Lunch"), []string{"start | Play has begun | Home v Away"}},
		{"still begun at the end", score.StartEvent, match("T20I").total(1, 170, 6, "20").total(2, 92, 9, "20").finish(1, "Home won by 78 runs"), []string{"start | Play has begun | Home v Away"}},
		{"never begun", score.StartEvent, match("T20I").status("Aban."), nil},

		{"wickets", score.WicketEvent, match("T20I").bat(1, "1 4 W . wd 6 1W"), []string{
			"S1:out:101 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Batter 1 b Bowler 0 5 (3)",
			"S1:out:103 S1:ball:1006 | Wicket! Home 13/2 (1) | Batter 3 b Bowler 0 7 (3)"}},
		{"the same wicket of the other batter", score.WicketEvent, match("T20I").bat(1, "1 4 W").ball(2, func(b *sportmonks.Ball) { b.OutID, b.RunOutID, b.Score.Name = 102, 900, "Run Out" }),
			[]string{"S1:out:102 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Player 102 run out (Bowler 0) 0 (0)"}},
		{"of a batter nobody knows", score.WicketEvent, match("T20I").bat(1, "1 4 W").ball(2, func(b *sportmonks.Ball) { b.OutID, b.BatterID = 0, 0 }),
			[]string{"S1:ball:1002 | Wicket! Home 5/1 (0.3) | b Bowler 0"}},
		{"out once an innings", score.WicketEvent, match("T20I").bat(1, "W W").ball(1, func(b *sportmonks.Ball) { b.OutID = 101 }),
			[]string{"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},
		{"retired hurt", score.WicketEvent, match("T20I").bat(1, "1 4").ball(1, func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "4 Runs + Retired Hurt" }), nil},
		{"retired hurt, with a row that looks out", score.WicketEvent,
			match("T20I").bat(1, "1 4").ball(1, func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "4 Runs + Retired Hurt" }).
				row(fall(101, 5, 2, 5, sportmonks.Overs{Balls: 2})).row(fall(102, 0, 1, 5, sportmonks.Overs{Balls: 3})).set(func(f *sportmonks.Fixture) { f.Runs[0].Wickets = 1 }),
			[]string{"S1:out:102 | Wicket! Home 5/1 (0.2) | Player 102 0 (1)"}},
		{"hurt, back, and out", score.WicketEvent, match("T20I").bat(1, "1 4 W").ball(0, func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "1 Run + Retired Hurt" }),
			[]string{"S1:out:101 S1:ball:1002 | Wicket! Home 5/1 (0.3) | Batter 1 b Bowler 0 5 (3)"}},
		{"without balls, from the rows", score.WicketEvent,
			match("T20I").total(1, 60, 2, "8").row(fall(12, 9, 7, 51, sportmonks.Overs{Overs: 6, Balls: 4})).row(fall(11, 23, 18, 45, sportmonks.Overs{Overs: 6, Balls: 2})).row(sportmonks.Batting{Innings: 1, PlayerID: 13, Score: 20}),
			[]string{"S1:out:11 | Wicket! Home 45/1 (6.2) | Player 11 23 (18)", "S1:out:12 | Wicket! Home 51/2 (6.4) | Player 12 9 (7)"}},
		{"balls of the end only, the rest from the rows", score.WicketEvent,
			match("T20I").bat(1, "1 4 W").set(func(f *sportmonks.Fixture) {
				f.Runs[0] = sportmonks.Runs{TeamID: 1, Innings: 1, Score: 50, Wickets: 2, Overs: sportmonks.Overs{Overs: 7, Balls: 3}}
			}).
				ball(0, func(b *sportmonks.Ball) { b.At.Overs = 7 }).ball(1, func(b *sportmonks.Ball) { b.At.Overs = 7 }).ball(2, func(b *sportmonks.Ball) { b.At.Overs = 7 }).
				row(fall(101, 31, 20, 50, sportmonks.Overs{Overs: 7, Balls: 3})).row(fall(99, 14, 12, 30, sportmonks.Overs{Overs: 4, Balls: 1})),
			[]string{"S1:out:99 | Wicket! Home 30/1 (4.1) | Player 99 14 (12)", "S1:out:101 S1:ball:1002 | Wicket! Home 50/2 (7.3) | Batter 1 b Bowler 0 31 (20)"}},
		{"a ball and a row of one wicket", score.WicketEvent,
			match("T20I").bat(1, "1 W").set(func(f *sportmonks.Fixture) {
				f.Runs[0] = sportmonks.Runs{TeamID: 1, Innings: 1, Score: 50, Wickets: 2, Overs: sportmonks.Overs{Balls: 4}}
			}).
				row(fall(101, 1, 2, 1, sportmonks.Overs{Balls: 2})).row(fall(103, 0, 1, 1, sportmonks.Overs{Balls: 3})),
			[]string{"S1:out:101 S1:ball:1001 | Wicket! Home 1/1 (0.2) | Batter 1 b Bowler 0 1 (2)", "S1:out:103 | Wicket! Home 1/2 (0.3) | Player 103 0 (1)"}},
		{"hurt, back, and out to a ball that is not listed", score.WicketEvent,
			match("T20I").bat(1, "1 4").ball(0, func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 101, "1 Run + Retired Hurt" }).
				row(fall(101, 5, 3, 5, sportmonks.Overs{Balls: 3})).set(func(f *sportmonks.Fixture) { f.Runs[0].Wickets = 1 }),
			[]string{"S1:out:101 | Wicket! Home 5/1 (0.3) | Batter 1 5 (3)"}},
		{"after penalty runs, which have no place, the score now", score.WicketEvent, match("T20I").bat(1, "1 W 1").set(func(f *sportmonks.Fixture) { f.Runs[0].Score += 5 }),
			[]string{"S1:out:101 S1:ball:1001 | Wicket! Home 7/1 (0.3) | Batter 1 b Bowler 0 1 (2)"}},
		{"a row ahead of the total", score.WicketEvent, match("T20I").total(1, 60, 0, "8").row(fall(11, 23, 18, 45, sportmonks.Overs{Overs: 6, Balls: 2})), nil},
		{"where a fall is not known, the score now", score.WicketEvent, match("T20I").total(1, 60, 2, "8").row(fall(11, 23, 18, 0, sportmonks.Overs{})),
			[]string{"S1:out:11 | Wicket! Home 60/2 (8) | Player 11 23 (18)"}},
		{"in both super overs", score.WicketEvent, tied().bat(2, "6 W").bat(1, "W"), []string{
			"S3:out:301 S3:ball:3001 | Wicket! Away 6/1 (0.2) | Batter 1 b Bowler 0 6 (2)",
			"S4:out:401 S4:ball:4000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},
		{"in both innings", score.WicketEvent, match("Test").bat(1, "W").bat(2, "1").bat(1, "W").ball(2, func(b *sportmonks.Ball) { b.BatterID, b.OutID = 101, 101 }), []string{
			"S1:out:101 S1:ball:1000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)",
			"S3:out:101 S3:ball:3000 | Wicket! Home 0/1 (0.1) | Batter 1 b Bowler 0 0 (1)"}},

		{"49", score.FiftyEvent, match("T20I").bat(1, strings.Repeat("6 ", 8)+"1"), nil},
		{"fifty, told as it was reached", score.FiftyEvent, match("T20I").bat(1, strings.Repeat("6 ", 9)+". 1"), []string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)"}},
		{"wides and byes are not the batter's", score.FiftyEvent, match("T20I").bat(1, strings.Repeat("6 ", 8)+"5wd 4b 3lb"), nil},
		{"a run out on the fiftieth run", "", match("T20I").bat(1, strings.Repeat("6 ", 8)+"2W"), []string{
			"start | Play has begun | Home v Away",
			"S1:101:50 | Fifty for Batter 1 | 50 (9) · Home 50/0 (1.3)",
			"S1:out:101 S1:ball:1008 | Wicket! Home 50/1 (1.3) | Batter 1 b Bowler 1 50 (9)"}},
		{"hundred", "", match("T20I").bat(1, strings.Repeat("6 ", 17)), []string{
			"start | Play has begun | Home v Away",
			"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)",
			"S1:101:100 | Hundred for Batter 1 | 102 (17) · Home 102/0 (2.5)"}},
		{"where the balls do not add up, the row", score.FiftyEvent,
			match("T20I").bat(1, strings.Repeat("6 ", 9)).set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 80 }).
				row(sportmonks.Batting{Innings: 1, PlayerID: 101, Score: 49, Balls: 9}).row(sportmonks.Batting{Innings: 1, PlayerID: 102, Score: 61, Balls: 30}),
			[]string{"S1:102:50 | Fifty for Player 102 | 61 (30) · Home 80/0 (1.3)"}},
		{"where they do, not the row", score.FiftyEvent, match("T20I").bat(1, strings.Repeat("6 ", 9)).row(sportmonks.Batting{Innings: 1, PlayerID: 101, Score: 48}),
			[]string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 54/0 (1.3)"}},
		{"neither adds up nor has a row", score.FiftyEvent, match("T20I").bat(1, strings.Repeat("6 ", 9)).set(func(f *sportmonks.Fixture) { f.Runs[0].Score = 80 }),
			[]string{"S1:101:50 | Fifty for Batter 1 | 54 (9) · Home 80/0 (1.3)"}},

		{"an innings in play", score.InningsEvent, match("T20I").total(1, 182, 8, "19.5"), nil},
		{"innings", score.InningsEvent, match("T20I").total(1, 182, 8, "20"), []string{"S1:end | End of innings: Home 182/8 (20) | Home v Away"}},
		{"cut short", score.InningsEvent, match("T20I").total(1, 182, 8, "18").status("Innings Break"), []string{"S1:end | End of innings: Home 182/8 (18) | Home v Away"}},
		{"all out", score.InningsEvent, match("T20I").total(1, 141, 10, "18.2"), []string{"S1:end | All out: Home 141 (18.2) | Home v Away"}},
		{"declared", score.InningsEvent, match("Test").total(1, 391, 9, "128").total(2, 3, 0, "1"), []string{"S1:end | Declared: Home 391/9d (128) | Home v Away"}},
		{"behind on the first", score.InningsEvent, test(), []string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs"}},
		{"the third", score.InningsEvent, test().total(1, 101, 10, "30"), []string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs", "S3:end | All out: Home 101 (30) | Home lead by 201 runs"}},
		{"an innings defeat is the result's", score.InningsEvent, test().total(2, 99, 10, "30"), []string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs"}},
		{"a follow-on that is level is not", score.InningsEvent, test().total(2, 100, 10, "30"),
			[]string{"S1:end | All out: Home 300 (90) | Home v Away", "S2:end | All out: Away 200 (70) | Away trail by 100 runs", "S3:end | All out: Away 100 (30) | Scores level"}},
		{"a chase is the result's", score.InningsEvent, match("T20I").total(1, 100, 8, "20").total(2, 101, 2, "15"), []string{"S1:end | End of innings: Home 100/8 (20) | Home v Away"}},
		{"so is a chase that failed", score.InningsEvent, match("T20I").total(1, 100, 8, "20").total(2, 90, 10, "15"), []string{"S1:end | End of innings: Home 100/8 (20) | Home v Away"}},
		{"what ended with the match", score.InningsEvent, match("T20I").total(1, 132, 7, "19").finish(0, "No result"), nil},
		{"and nobody says how", score.InningsEvent, match("T20I").total(1, 132, 7, "19").finish(0, ""), nil},
		{"what ended before the match did", score.InningsEvent, match("T20I").total(1, 132, 7, "20").finish(0, "No result"), []string{"S1:end | End of innings: Home 132/7 (20) | Home v Away"}},
		{"super overs", score.InningsEvent, tied().total(2, 10, 1, "1").total(1, 6, 2, "0.5"), []string{
			"S1:end | End of innings: Home 141/9 (20) | Home v Away", "S2:end | End of innings: Away 141/7 (20) | Home v Away", "S3:end | Super Over: Away 10/1 (1) | Home v Away"}},

		{"no target while they bat", score.TargetEvent, match("T20I").total(1, 182, 8, "19.5"), nil},
		{"target", score.TargetEvent, match("T20I").total(1, 182, 8, "20").status("Innings Break"), []string{"target:2:183 | Target: 183 | Away need 183 runs from 120 balls"}},
		{"during the chase", score.TargetEvent, match("T20I").total(1, 182, 8, "20").total(2, 10, 0, "1.2"), []string{"target:2:183 | Target: 183 | Away need 173 runs from 112 balls"}},
		{"revised", score.TargetEvent, match("T20I").set(func(f *sportmonks.Fixture) { f.RPCTarget, f.RPCOvers = 150, sportmonks.Overs{Overs: 16} }).total(1, 182, 8, "20").total(2, 10, 0, "1.2"),
			[]string{"target:2:150 | Revised target: 150 (DLS) | Away need 140 runs from 88 balls"}},
		{"cut short, not yet set", score.TargetEvent, match("ODI").total(1, 168, 7, "35").status("Innings Break"), nil},
		{"after the end", score.TargetEvent, match("T20I").total(1, 137, 8, "20").total(2, 138, 5, "19").finish(2, "Away won by 5 wickets"), []string{"target:2:138 | Target: 138 | Away need 138 runs to win"}},
		{"the fourth innings", score.TargetEvent, test().total(1, 100, 10, "30").total(2, 1, 0, "1"), []string{"target:4:201 | Target: 201 | Away need 200 runs to win"}},
		{"of the match, not of the super over", score.TargetEvent, tied().total(2, 10, 1, "1").total(1, 6, 0, "0.5"), []string{"target:2:142 | Target: 142 | Away need 142 runs to win"}},

		{"super over", score.SuperOverEvent, tied().total(2, 0, 0, "0"), []string{"superOver:3 | Super Over | Home 141/9 (20), Away 141/7 (20)"}},
		{"once a pair", score.SuperOverEvent, tied().total(2, 10, 1, "1").total(1, 10, 1, "1").total(1, 2, 0, "0.2"),
			[]string{"superOver:3 | Super Over | Home 141/9 (20), Away 141/7 (20)", "superOver:5 | Another Super Over | Home 141/9 (20), Away 141/7 (20)"}},
		{"a third innings of several days is none", score.SuperOverEvent, test().total(1, 0, 0, "0"), nil},

		{"won", score.ResultEvent, match("T20I").total(2, 170, 6, "20").total(1, 92, 10, "19.2").finish(2, "Away won by 78 runs"), []string{"result:won:2 | Away won by 78 runs | Away 170/6 (20), Home 92 (19.2)"}},
		{"won over several days", score.ResultEvent, test().total(1, 101, 10, "30").total(2, 202, 4, "50").finish(2, "Away won by 6 wickets"), []string{"result:won:2 | Away won by 6 wickets | Home 300 & 101, Away 200 & 202/4"}},
		{"won in a super over", score.ResultEvent, tied().total(2, 10, 1, "1").total(1, 6, 2, "0.5").finish(2, "Match tied (Away won the Super Over)"),
			[]string{"result:tied:2 | Match tied (Away won the Super Over) | Home 141/9 (20), Away 141/7 (20) · SO 10/1 v 6/2"}},
		{"tied", score.ResultEvent, tied().finish(0, "Match tied"), []string{"result:tied: | Match tied | Home 141/9 (20), Away 141/7 (20)"}},
		{"abandoned", "", match("T20I").status("Aban."), []string{"result:abandoned: | Match abandoned without a ball bowled | Home v Away"}},
		{"a note too long for a title", score.ResultEvent,
			match("T20I").set(func(f *sportmonks.Fixture) { f.Visitorteam.Name = "Royal Challengers Bangalore" }).total(1, 137, 8, "20").total(2, 138, 5, "19.5").finish(2, "Royal Challengers Bangalore won by 5 wickets (with 1 ball remaining)"),
			[]string{"result:won:2 | Royal Challengers Bangalore won by 5 wickets | Home 137/8 (20), Royal Challengers Bangalore 138/5 (19.5)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, _ := score.Read(c.s.Fixture, score.State{})
			events := score.Events(c.s.Fixture, st)
			clash(t, events)
			if got := told(events, c.kind); !slices.Equal(got, c.want) {
				t.Fatalf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

// clash fails when two events of a kind share a name, or an event is not as wide
// as it may be.
func clash(t interface {
	Helper()
	Fatalf(string, ...any)
}, events []score.Event) {
	t.Helper()
	type name struct {
		kind score.EventKind
		key  string
	}
	seen := map[name]bool{}
	for _, e := range events {
		for i, key := range []string{e.Key, e.Alias} {
			if i == 1 && key == "" {
				continue
			}
			if key == "" || seen[name{e.Kind, key}] {
				t.Fatalf("the name %q is empty or another's too:\n%+v", key, events)
			}
			seen[name{e.Kind, key}] = true
		}
		for _, text := range []struct {
			is   string
			size int
		}{{e.Match, 64}, {e.Title, 64}, {e.Body, 160}} {
			if text.is == "" || !utf8.ValidString(text.is) || utf8.RuneCountInString(text.is) > text.size {
				t.Fatalf("%q is empty, invalid or longer than %d", text.is, text.size)
			}
		}
		switch e.Kind {
		case score.TossEvent, score.StartEvent, score.RainEvent, score.ResultEvent:
			if e.Plain == "" || e.Kind != score.TossEvent && strings.ContainsAny(e.Plain, "0123456789/") {
				t.Fatalf("plain %q of %+v", e.Plain, e)
			}
		default:
			if e.Plain != "" {
				t.Fatalf("plain %q of what tells by coming", e.Plain)
			}
		}
	}
}

// TestStoppages follows matches through their statuses: a stoppage is told once,
// and play goes on once for each.
func TestStoppages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		statuses string
		want     string
		bare     bool // no ball is bowled
	}{
		{"none", "NS, 1st Innings, Innings Break, 2nd Innings", "", false},
		{"rain", "NS, 1st Innings, Int., Int., 1st Innings, 1st Innings", "rain:1:stop rain:1:resume", false},
		{"twice", "1st Innings, Int., 1st Innings, Int., 1st Innings", "rain:1:stop rain:1:resume rain:2:stop rain:2:resume", false},
		{"not yet resumed", "1st Innings, Int., 1st Innings, Int.", "rain:1:stop rain:1:resume rain:2:stop", false},
		{"through lunch", "1st Innings, Int., Lunch, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"over night", "1st Innings, Int., Stump Day 1, 1st Innings", "rain:1:stop rain:1:resume", false},
		{"in the break", "1st Innings, Innings Break, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"an unknown status between", "1st Innings, Int., Review, Int., 1st Innings", "rain:1:stop rain:1:resume", false},
		{"abandoned", "1st Innings, Int., Aban.", "rain:1:stop", false},
		{"before play", "NS, Int., Delayed, Int., NS", "", true},
		{"before a ball", "NS, 1st Innings, Int., 1st Innings, Int., Aban.", "rain:1:stop rain:1:resume rain:2:stop", true},
		{"seen from the middle", "Int., 1st Innings", "rain:1:stop rain:1:resume", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var st score.State
			var last []string
			begun := false
			for i, status := range strings.Split(c.statuses, ", ") {
				s := match("Test")
				if status != "NS" && !c.bare {
					s.bat(1, strings.Repeat("1 ", i+1))
				}
				s.status(status)
				st, _ = score.Read(s.Fixture, st)
				again, _ := score.Read(s.Fixture, st)
				if again.Stops != st.Stops || again.Resumes != st.Resumes {
					t.Fatalf("%s: read again, %d %d are %d %d", status, st.Stops, st.Resumes, again.Stops, again.Resumes)
				}
				begun = begun || st.Phase == sportmonks.Live || !c.bare && status != "NS"
				events := score.Events(s.Fixture, st)
				if got := len(told(events, score.StartEvent)) == 1; got != begun {
					t.Errorf("%s: begun %t, want %t", status, got, begun)
				}
				var keys []string
				for _, e := range events {
					if e.Kind == score.RainEvent {
						keys = append(keys, e.Key)
						if strings.Contains(strings.ToLower(e.Title+e.Body+e.Plain), "rain") {
							t.Errorf("nobody said rain: %+v", e)
						}
					}
				}
				if len(keys) < len(last) || !slices.Equal(keys[:len(last)], last) {
					t.Fatalf("%s: %v after %v", status, keys, last)
				}
				last = keys
				calm := st
				calm.Stops, calm.Resumes = 0, 0
				if calm.For("").Hash() != st.For("").Hash() {
					t.Error("the counts are displayed")
				}
			}
			if got := strings.Join(last, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestInterruptedBeforePlay: an innings that appears while play has yet to begin
// does not stop it.
func TestInterruptedBeforePlay(t *testing.T) {
	t.Parallel()
	st := match("T20I").status("Int.").read(t)
	if st, _ = score.Read(match("T20I").total(1, 0, 0, "0").status("Int.").Fixture, st); st.Stops != 0 {
		t.Errorf("%d stops", st.Stops)
	}
}

// TestHeldTellsNothing: of a snapshot that was refused, nothing is told; once it
// is read, all is.
func TestHeldTellsNothing(t *testing.T) {
	t.Parallel()
	whole := match("T20I").bat(1, "1 4 W . 2 6 W .")
	st := whole.read(t)
	short := whole.Fixture
	short.Balls = short.Balls[:3]
	held, _ := score.Read(short, st)
	if got := score.Events(short, held); held.Held != 1 || got != nil {
		t.Errorf("held %d: %v", held.Held, got)
	}
	back, _ := score.Read(whole.Fixture, held)
	if got, want := score.Events(whole.Fixture, back), score.Events(whole.Fixture, st); len(want) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestCorrectedWicket: what a correction leaves is one of its names.
func TestCorrectedWicket(t *testing.T) {
	t.Parallel()
	wicket := func(change func(*sportmonks.Ball)) score.Event {
		s := match("T20I").bat(1, "1 4 W").ball(2, change)
		st, _ := score.Read(s.Fixture, score.State{}) // a wicket of nobody does not add up
		events := score.Events(s.Fixture, st)
		return events[len(events)-1]
	}
	first := wicket(func(*sportmonks.Ball) {})
	other := wicket(func(b *sportmonks.Ball) { b.OutID, b.Score.Name = 102, "Run Out" })
	if other.Key == first.Key || other.Alias != first.Alias {
		t.Errorf("of the other batter: %+v after %+v", other, first)
	}
	posted := wicket(func(b *sportmonks.Ball) { b.ID = 1007 }) // deleted, and posted anew
	if posted.Key != first.Key || posted.Alias == first.Alias {
		t.Errorf("of another ball: %+v after %+v", posted, first)
	}
	nobody := wicket(func(b *sportmonks.Ball) { b.OutID, b.BatterID = 0, 0 })
	if nobody.Key != first.Alias || nobody.Alias != "" {
		t.Errorf("of nobody: %+v after %+v", nobody, first)
	}
}

// TestDeclaredAtTheEnd: a declaration is not forgotten when the match ends.
func TestDeclaredAtTheEnd(t *testing.T) {
	t.Parallel()
	s := match("Test").total(1, 391, 6, "128").status("Innings Break")
	st := s.read(t)
	s.finish(0, "Match drawn").set(func(f *sportmonks.Fixture) { f.DrawNoResult = "draw" })
	for range 2 {
		st, _ = score.Read(s.Fixture, st)
		if got := told(score.Events(s.Fixture, st), score.InningsEvent); !slices.Equal(got, []string{"S1:end | Declared: Home 391/6d (128) | Home v Away"}) || st.For("").Local.Score != "391/6d" {
			t.Fatalf("%v %+v", got, st.Innings)
		}
	}
}

// TestEventsOfAnything: whatever the provider sends, no two events of a kind share
// a name, texts are bounded, the same input tells the same, and reading a snapshot
// again counts no stoppage twice.
func TestEventsOfAnything(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"India", "\xff\xfe", "<&>\"\\", strings.Repeat("é😀 ", 90), "a\x00b"}))
	rapid.Check(t, func(t *rapid.T) {
		var st score.State
		for range rapid.IntRange(1, 4).Draw(t, "polls") {
			f := fixture(t)
			f.Localteam.Name, f.Visitorteam.Name = name.Draw(t, "home"), name.Draw(t, "away")
			for i := range 8 {
				f.Lineup = append(f.Lineup, sportmonks.Player{ID: i, Name: name.Draw(t, "player")})
			}
			if rapid.Bool().Draw(t, "final") {
				st, _ = score.Final(f, st)
			} else {
				st, _ = score.Read(f, st)
			}
			events := score.Events(f, st)
			if st.Held != 0 {
				if events != nil {
					t.Fatalf("held, and tells %+v", events)
				}
				continue
			}
			clash(t, events)
			if st.Resumes > st.Stops || st.Stops > st.Resumes+1 {
				t.Fatalf("%d stops, %d resumes", st.Stops, st.Resumes)
			}
			again, _ := score.Read(f, st)
			if again.Stops != st.Stops || again.Resumes != st.Resumes {
				t.Fatalf("read again, %d %d are %d %d", st.Stops, st.Resumes, again.Stops, again.Resumes)
			}
			g := f
			g.Balls = slices.Clone(f.Balls)
			if !reflect.DeepEqual(score.Events(g, st), events) {
				t.Fatal("the same tells something else")
			}
		}
	})
}

// TestEventsOfSheets plays real matches ball by ball: nothing that was told goes
// again, and at the end it is what the sheet says.
func TestEventsOfSheets(t *testing.T) {
	t.Parallel()
	for _, path := range sheets(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := load(t, path)
			var st score.State
			var events []score.Event
			said := map[string]bool{}
			frame := func(f sportmonks.Fixture) {
				t.Helper()
				var problems []score.Problem
				st, problems = score.Read(f, st)
				none(t, problems)
				events = score.Events(f, st)
				clash(t, events)
				is := map[string]bool{}
				for _, e := range events {
					is[e.Key], is[e.Alias] = true, true
				}
				for key := range said {
					if !is[key] {
						t.Fatalf("%q is told no more after %d balls, %s", key, len(f.Balls), f.Status)
					}
				}
				for _, e := range events {
					if e.Kind != score.TargetEvent && e.Kind != score.ResultEvent {
						said[e.Key] = true
					}
				}
			}
			frame(r.at(0))
			for n := 1; n <= len(r.totals); n++ {
				f := r.at(n)
				if n%100 == 50 {
					f.Status = "Int."
				}
				frame(f)
				if n < len(r.totals) && r.totals[n].innings != r.totals[n-1].innings {
					f.Status = "Innings Break"
					frame(f)
				}
			}
			frame(r.end(true))
			r.checkEvents(t, events)
		})
	}
}

// checkEvents compares what is told of a finished match with its sheet.
func (r *replay) checkEvents(t *testing.T, events []score.Event) {
	t.Helper()
	var want [2][]string // of wickets; of batters' runs
	ball := 0
	for n, inn := range r.Innings {
		out, runs := 0, map[string]int{}
		for _, o := range inn.Overs {
			for _, d := range o.Deliveries {
				was := runs[d.Batter]
				runs[d.Batter] += d.Runs.Batter
				for _, m := range []int{50, 100} {
					if was < m && runs[d.Batter] >= m {
						want[1] = append(want[1], fmt.Sprintf("S%d:%d:%d", n+1, r.ids[d.Batter], m))
					}
				}
				for _, w := range d.Wickets {
					if w.Kind == "retired hurt" {
						continue
					}
					out++
					sum := r.totals[ball]
					overs := strconv.Itoa(sum.overs.Overs)
					if sum.overs.Balls > 0 {
						overs += "." + strconv.Itoa(sum.overs.Balls)
					}
					want[0] = append(want[0], fmt.Sprintf("S%d:out:%d S%d:ball:%d | Wicket! %s %d/%d (%s) | %s ",
						n+1, r.ids[w.PlayerOut], n+1, r.fixture.Balls[ball].ID, inn.Team, sum.runs, out, overs, w.PlayerOut))
				}
				ball++
			}
		}
	}
	got := told(events, score.WicketEvent)
	if !slices.EqualFunc(got, want[0], strings.HasPrefix) {
		t.Errorf("wickets\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want[0], "\n     "))
	}
	var batters, others []string
	for _, e := range events {
		switch e.Kind {
		case score.WicketEvent:
		case score.FiftyEvent, score.HundredEvent:
			batters = append(batters, e.Key)
		default:
			others = append(others, e.Key)
		}
	}
	if !slices.Equal(batters, want[1]) {
		t.Errorf("fifties and hundreds\ngot  %v\nwant %v", batters, want[1])
	}
	// What else there is, in order.
	w, o := []string{}, r.Info.Outcome
	if r.fixture.Elected != "" {
		w = append(w, fmt.Sprintf("toss:%d:%s", r.fixture.TossWonID, r.Info.Toss.Decision))
	}
	w = append(w, "start")
	chase := 2
	if r.Info.Overs == 0 {
		chase = 4
	}
	for n, inn := range r.Innings {
		if inn.SuperOver && n%2 == 0 {
			w = append(w, fmt.Sprintf("superOver:%d", n+1))
		}
		if n < len(r.Innings)-1 {
			w = append(w, fmt.Sprintf("S%d:end", n+1))
		}
		if n+2 == chase && len(r.Innings) >= chase {
			w = append(w, fmt.Sprintf("target:%d:%d", chase, r.chases(chase)))
		}
	}
	for i := range (len(r.totals) + 50) / 100 {
		w = append(w, fmt.Sprintf("rain:%d:stop", i+1))
		if (i+1)*100-50 < len(r.totals) {
			w = append(w, fmt.Sprintf("rain:%d:resume", i+1))
		}
	}
	kind := map[string]string{"": "won", "tie": "tied", "no result": "noResult", "draw": "drawn"}[o.Result]
	winner := ""
	if name := o.Winner + o.Eliminator + o.BowlOut; name != "" {
		winner = strconv.Itoa(r.team(name))
	}
	w = append(w, "result:"+kind+":"+winner)
	if !slices.Equal(others, w) {
		t.Errorf("others\ngot  %v\nwant %v", others, w)
	}
	t.Logf("%d wickets, %d fifties and hundreds, %v", len(got), len(batters), others)
}

// chases is what an innings had to make.
func (r *replay) chases(number int) int {
	if n := r.fixture.RPCTarget; n > 0 {
		return n
	}
	ahead := 0
	for n, inn := range r.Innings[:number-1] {
		last := slices.IndexFunc(r.totals, func(s total) bool { return s.innings == n+2 }) - 1
		if inn.Team == r.Innings[number-1].Team {
			ahead -= r.totals[last].runs
		} else {
			ahead += r.totals[last].runs
		}
	}
	return ahead + 1
}
