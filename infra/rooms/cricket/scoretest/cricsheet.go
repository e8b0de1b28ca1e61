package scoretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// sheetFile is the part of a Cricsheet file that a feed is made from.
type sheetFile struct {
	Info struct {
		BallsPerOver int    `json:"balls_per_over"`
		Overs        int    `json:"overs"`
		MatchType    string `json:"match_type"`
		Event        struct{ Name string }
		Outcome      struct {
			Winner     string
			Result     string
			Eliminator string
			BowlOut    string `json:"bowl_out"`
			Method     string
			By         struct{ Runs, Wickets, Innings int }
		}
		Teams   []string
		Players map[string][]string
		Best    []string `json:"player_of_match"`
		Toss    struct{ Winner, Decision string }
	}
	Innings []struct {
		Team      string
		Declared  bool
		SuperOver bool     `json:"super_over"`
		Absent    []string `json:"absent_hurt"`
		Target    struct {
			Overs json.Number
			Runs  int
		}
		Overs []struct {
			Over       int
			Deliveries []delivery
		}
	}
}

// Sheet is a Cricsheet file, converted to the fixture that the provider would send.
type Sheet struct {
	sheetFile
	fixture sportmonks.Fixture // at the end, without Runs
	Totals  []total            // after each of fixture.Balls
	ids     map[string]int
}

// total is the expected state after a ball.
type total struct {
	Innings, runs, wickets, legal int
	overs                         sportmonks.Overs
	team                          int
	batters                       map[string][2]int // runs, balls
	striker, other                string
	bowler                        string
	bowlerRuns                    int
}

// LoadSheet reads a Cricsheet file.
func LoadSheet(t testing.TB, path string) *Sheet {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	r := &Sheet{ids: map[string]int{}}
	if err := json.Unmarshal(b, &r.sheetFile); err != nil {
		t.Fatal(err)
	}

	r.convert()

	return r
}

func (r *Sheet) id(name string) int {
	if name == "" {
		return 0
	}

	if r.ids[name] == 0 {
		r.ids[name] = 1000 + len(r.ids)
	}

	return r.ids[name]
}

func (r *Sheet) team(name string) int { return 1 + slices.Index(r.Info.Teams, name) }

func (r *Sheet) convert() {
	i := &r.Info
	f := &r.fixture

	*f = sportmonks.Fixture{
		ID: 77, LocalID: 1, VisitorID: 2, Type: i.MatchType, Overs: i.Overs,
		Localteam:   sportmonks.Team{ID: 1, Name: i.Teams[0], Code: "LOC"},
		Visitorteam: sportmonks.Team{ID: 2, Name: i.Teams[1], Code: "VIS"},
		TossWonID:   r.team(i.Toss.Winner), Elected: map[string]string{"bat": "batting", "field": "bowling"}[i.Toss.Decision],
	}
	if strings.Contains(i.Event.Name, "Hundred") {
		f.Type = "The Hundred"
	}

	for _, team := range i.Teams {
		for n, name := range i.Players[team] {
			f.Lineup = append(f.Lineup, sportmonks.Member{ID: r.id(name), Name: name, TeamID: r.team(team), Substitute: n >= 11})
		}
	}

	id := 0

	for n, inn := range r.Innings {
		sum := total{Innings: n + 1, team: r.team(inn.Team), batters: map[string][2]int{}}
		bowlers := map[string]int{}

		f.SuperOver = f.SuperOver || inn.SuperOver
		if n == 1 && inn.Target.Runs > 0 {
			f.RPCTarget = inn.Target.Runs
			o, b, _ := strings.Cut(inn.Target.Overs.String(), ".")
			f.RPCOvers.Overs, _ = strconv.Atoi(o)
			f.RPCOvers.Balls, _ = strconv.Atoi(b)
		}

		for _, o := range inn.Overs {
			legal := 0

			for _, d := range o.Deliveries {
				id += 3
				b := sportmonks.Ball{
					ID: id, TeamID: sum.team, Innings: n + 1, At: sportmonks.Overs{Overs: o.Over, Balls: legal + 1},
					OneID: r.id(d.Batter), TwoID: r.id(d.NonStriker), BatterID: r.id(d.Batter), BowlerID: r.id(d.Bowler),
					Batter: sportmonks.Player{ID: r.id(d.Batter), Name: d.Batter}, Bowler: sportmonks.Player{ID: r.id(d.Bowler), Name: d.Bowler},
				}
				x := d.Extras
				s := &b.Score
				s.Runs = d.Runs.Batter + x.Wides + x.NoBalls

				s.Bye, s.LegBye = x.Byes, x.LegByes
				if x.NoBalls > 0 {
					s.NoBall, s.NoBallRuns = 1, 1
					s.Runs, s.Bye = d.Runs.Batter+1, s.Bye+x.NoBalls-1
				}

				s.Four = d.Runs.Batter == 4 && !d.Runs.NonBoundary
				s.Six = d.Runs.Batter == 6 && !d.Runs.NonBoundary

				s.Name = fmt.Sprintf("%d Runs", d.Runs.Batter)
				if x.Wides > 0 {
					s.Name = fmt.Sprintf("%d Wides", x.Wides)
				} else if x.NoBalls > 0 {
					s.Name = fmt.Sprintf("1 No Ball + %d Runs", d.Runs.Batter)
				}

				for _, w := range d.Wickets {
					s.Name += " + " + map[string]string{"caught": "Catch Out", "caught and bowled": "Catch Out", "bowled": "Clean Bowled",
						"lbw": "LBW OUT", "run out": "Run Out", "stumped": "Stump Out", "hit wicket": "Hit Wicket", "retired hurt": "Retired Hurt"}[w.Kind]

					b.OutID = r.id(w.PlayerOut)
					if w.Kind == "retired hurt" {
						continue
					}

					s.Wicket, s.Out = true, true
					sum.wickets++
				}

				if x.Wides == 0 && x.NoBalls == 0 {
					legal++
					sum.legal++
				}

				sum.runs += d.Runs.Total

				sum.overs = sportmonks.Overs{Overs: o.Over, Balls: legal}
				if legal >= i.BallsPerOver {
					sum.overs = sportmonks.Overs{Overs: o.Over + 1}
				}

				line := sum.batters[d.Batter]

				line[0] += d.Runs.Batter
				if x.Wides == 0 {
					line[1]++
				}

				sum.batters = maps.Clone(sum.batters)
				sum.batters[d.Batter] = line
				sum.striker, sum.other, sum.bowler = d.Batter, d.NonStriker, d.Bowler

				bowlers[d.Bowler] += d.Runs.Batter + x.Wides + x.NoBalls
				if x.NoBalls > 1 { // the rest went to byes
					bowlers[d.Bowler] -= x.NoBalls - 1
				}

				sum.bowlerRuns = bowlers[d.Bowler]

				f.Balls = append(f.Balls, b)
				r.Totals = append(r.Totals, sum)
			}
		}
	}
}

// FeedAt returns the fixture after n balls, in play.
func (r *Sheet) FeedAt(n int) sportmonks.Fixture {
	f := r.fixture

	f.Balls = f.Balls[:n]
	if n == 0 {
		f.Status = "NS"
		return f
	}

	last := r.Totals[n-1]
	f.Status = []string{"1st Innings", "2nd Innings", "3rd Innings", "4th Innings"}[min(last.Innings, 4)-1]

	f.SuperOver = f.SuperOver && last.Innings > 2
	for i, t := range r.Totals[:n] {
		if i == n-1 || r.Totals[i+1].Innings != t.Innings {
			f.Runs = append(f.Runs, sportmonks.Runs{TeamID: t.team, Innings: t.Innings, Score: t.runs, Wickets: t.wickets, Overs: t.overs})
		}
	}

	return f
}

// FinalFeed returns the finished fixture. With note, its note has the provider's text of
// the result.
func (r *Sheet) FinalFeed(note bool) sportmonks.Fixture {
	f := r.FeedAt(len(r.Totals))
	f.Status = "Finished"
	o := r.Info.Outcome
	winner := o.Winner + o.Eliminator + o.BowlOut
	f.WinnerID = r.team(winner)

	if len(r.Info.Best) > 0 {
		f.ManOfMatchID = r.id(r.Info.Best[0])
	}

	switch {
	case o.Result == "draw":
		f.DrawNoResult = "draw"
	case o.Result == "no result":
		f.Status, f.DrawNoResult = "Aban.", "no result"
	}

	if !note {
		return f
	}

	method := ""
	if o.Method != "" {
		method = " (" + o.Method + " method)"
	}

	switch {
	case o.Eliminator != "":
		f.Note = "Match tied (" + winner + " won the Super Over)"
	case o.BowlOut != "":
		f.Note = "Match tied (" + winner + " won the bowl-out)"
	case o.Result == "tie":
		f.Note = "Match tied"
	case o.Result == "draw":
		f.Note = "Match drawn"
	case o.Result != "":
		f.Note = "No result"
	case o.By.Innings > 0:
		f.Note = fmt.Sprintf("%s won by an innings and %d runs%s", winner, o.By.Runs, method)
	case o.By.Runs > 0:
		f.Note = fmt.Sprintf("%s won by %d runs%s", winner, o.By.Runs, method)
	default:
		f.Note = fmt.Sprintf("%s won by %d wickets%s", winner, o.By.Wickets, method)
	}

	return f
}

// CheckState compares the state after n balls with the sheet.
func (r *Sheet) CheckState(t *testing.T, s score.State, n int) {
	t.Helper()

	want := r.Totals[n-1]
	cur := s.Innings[len(s.Innings)-1]

	overs := strconv.Itoa(want.overs.Overs)
	if want.overs.Balls > 0 {
		overs += "." + strconv.Itoa(want.overs.Balls)
	}

	if s.Current != want.Innings || cur.Number != want.Innings || cur.Runs != want.runs || cur.Wickets != want.wickets ||
		cur.Balls != want.legal || cur.Overs != overs || cur.TeamID != strconv.Itoa(want.team) {
		t.Fatalf("ball %d: got %+v, want %+v", n, cur, want)
	}

	if cur.Extras.Total()+sumBat(want.batters) != want.runs {
		t.Fatalf("ball %d: extras %+v and batters %v are not %d", n, cur.Extras, want.batters, want.runs)
	}

	for _, b := range s.Batters {
		if line := want.batters[b.Name]; line != [2]int{b.Runs, b.Balls} {
			t.Fatalf("ball %d: batter %+v, want %v", n, b, line)
		}
	}

	if s.Bowler.Name != want.bowler || s.Bowler.Runs != want.bowlerRuns {
		t.Fatalf("ball %d: bowler %+v, want %s for %d", n, s.Bowler, want.bowler, want.bowlerRuns)
	}
	// The striker of the next ball, unless a batter was out.
	if n < len(r.Totals) && r.Totals[n].Innings == want.Innings {
		next := r.Totals[n]
		for _, b := range s.Batters {
			if b.OnStrike && b.Name == next.other {
				r.checkStrike(t, n)
			}
		}
	}

	if s.Phase != sportmonks.Live || !s.Result.IsZero() {
		t.Fatalf("ball %d: phase %s result %+v", n, s.Phase, s.Result)
	}

	if s.Need.TeamID == cur.TeamID && s.Need.Runs != cur.Target-cur.Runs {
		t.Fatalf("ball %d: need %+v of %+v", n, s.Need, cur)
	}
}

// checkStrike fails unless a batter was out. The scorers may then swap the strike although
// the runs do not: before 2022 the batters could cross before a catch.
func (r *Sheet) checkStrike(t *testing.T, n int) {
	t.Helper()

	b := r.fixture.Balls[n-1]
	if b.OutID == 0 {
		t.Errorf("ball %d (%d, %v, %+v): the wrong batter is on strike", n, b.Innings, b.At, b.Score)
	}
}

// CheckBalls compares the timeline of balls with the sheet.
func (r *Sheet) CheckBalls(t *testing.T) {
	t.Helper()

	balls := scorer.Balls(r.FeedAt(len(r.Totals)))
	if len(balls) != len(r.Totals) {
		t.Fatalf("the timeline has %d balls, want %d", len(balls), len(r.Totals))
	}

	sum := map[int]int{}
	for i, b := range balls {
		if sum[b.Innings] += b.Runs; sum[b.Innings] != r.Totals[i].runs {
			t.Fatalf("ball %d: %d runs, want %d", i, sum[b.Innings], r.Totals[i].runs)
		}
	}
}

// CheckResult compares the result and the innings of the final state with the sheet.
func (r *Sheet) CheckResult(t *testing.T, s score.State) {
	t.Helper()

	o, res := r.Info.Outcome, s.Result

	winner := ""
	if w := o.Winner + o.Eliminator + o.BowlOut; w != "" {
		winner = strconv.Itoa(r.team(w))
	}

	kind := map[string]score.Outcome{"": score.Won, "tie": score.Tied, "no result": score.NoResult, "draw": score.Drawn}[o.Result]

	method := map[string]string{"": "", "D/L": "DLS", "VJD": "VJD"}[o.Method]
	if res.Kind != kind || res.WinnerID != winner || res.Runs != o.By.Runs || res.Wickets != o.By.Wickets ||
		res.Innings != (o.By.Innings > 0) || res.Method != method || !res.Confirmed {
		t.Fatalf("the result is %+v, want %+v", res, o)
	}

	if (kind == score.NoResult) != (s.Phase == sportmonks.Closed) || kind != score.NoResult && s.Phase != sportmonks.Result {
		t.Fatalf("the phase is %s with the result %v", s.Phase, kind)
	}

	for i, inn := range r.Innings {
		got := s.Innings[i]
		if got.Declared != inn.Declared || got.SuperOver != inn.SuperOver {
			t.Fatalf("the innings is %+v, want declared %t", got, inn.Declared)
		}

		if all := got.Wickets == 10 || len(inn.Absent) > 0 || inn.SuperOver && got.Wickets == 2; got.AllOut != all {
			t.Fatalf("the innings is %+v, want all out %t", got, all)
		}
	}

	t.Log(s.For("").Headline, "|", s.For("1").Headline, "|", s.For("2").Headline, "|", res.Text, "|",
		s.For("").Local.Score, "v", s.For("").Visitor.Score, s.For("").SuperOver)
}

// CheckEvents compares the events of a finished match with its sheet.
func (r *Sheet) CheckEvents(t *testing.T, events []event.Event) {
	t.Helper()

	var want [3][]string // of wickets; of batters' runs; of bowlers

	ball := 0

	for n, inn := range r.Innings {
		out, runs := 0, map[string]int{}
		taken, streak := map[string]int{}, map[string]int{}

		for _, o := range inn.Overs {
			for _, d := range o.Deliveries {
				was := runs[d.Batter]

				runs[d.Batter] += d.Runs.Batter
				for _, m := range []int{50, 100, 150, 200} {
					if was < m && runs[d.Batter] >= m {
						want[1] = append(want[1], fmt.Sprintf("S%d:%d:%d", n+1, r.ids[d.Batter], m))
					}
				}

				for _, w := range d.Wickets {
					if w.Kind == "retired hurt" {
						continue
					}

					out++
					sum := r.Totals[ball]

					overs := strconv.Itoa(sum.overs.Overs)
					if sum.overs.Balls > 0 {
						overs += "." + strconv.Itoa(sum.overs.Balls)
					}

					want[0] = append(want[0], fmt.Sprintf("S%d:out:%d S%d:ball:%d | Wicket! %s %d/%d (%s) | %s ",
						n+1, r.ids[w.PlayerOut], n+1, r.fixture.Balls[ball].ID, inn.Team, sum.runs, out, overs, w.PlayerOut))
				}

				if !slices.ContainsFunc(d.Wickets, func(w wicket) bool {
					return slices.Contains([]string{"caught", "caught and bowled", "bowled", "lbw", "stumped", "hit wicket"}, w.Kind)
				}) {
					streak[d.Bowler] = 0
				} else {
					taken[d.Bowler]++
					streak[d.Bowler]++

					if taken[d.Bowler] == 5 {
						want[2] = append(want[2], fmt.Sprintf("S%d:fiveWickets:%d", n+1, r.ids[d.Bowler]))
					}

					if streak[d.Bowler] == 3 {
						want[2] = append(want[2], fmt.Sprintf("S%d:hatTrick:%d", n+1, r.ids[d.Bowler]))
					}
				}

				ball++
			}
		}
	}

	got := EventLines(events, event.Wicket)
	if !slices.EqualFunc(got, want[0], strings.HasPrefix) {
		t.Errorf("wickets\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want[0], "\n     "))
	}

	var batters, bowlers, others []string

	for _, e := range events {
		switch e.Kind {
		case event.Wicket:
		case event.Fifty, event.Hundred:
			batters = append(batters, e.Key)
		case event.FiveWickets, event.HatTrick:
			bowlers = append(bowlers, e.Key)
		default:
			others = append(others, e.Key)
		}
	}

	if !slices.Equal(batters, want[1]) {
		t.Errorf("fifties and hundreds\ngot  %v\nwant %v", batters, want[1])
	}

	if !slices.Equal(bowlers, want[2]) {
		t.Errorf("five wickets and hat-tricks\ngot  %v\nwant %v", bowlers, want[2])
	}

	// The other events, in order.
	w, o := []string{}, r.Info.Outcome
	if r.fixture.Elected != "" {
		w = append(w, fmt.Sprintf("toss:%d:%s", r.fixture.TossWonID, r.Info.Toss.Decision))
	}

	if len(r.Info.Players) == 2 {
		w = append(w, "lineup")
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
			w = append(w, fmt.Sprintf("target:%d:%d", chase, r.targetOf(chase)))
		}
	}

	for i := range (len(r.Totals) + 50) / 100 {
		w = append(w, fmt.Sprintf("rain:%d:stop", i+1))
		if (i+1)*100-50 < len(r.Totals) {
			w = append(w, fmt.Sprintf("rain:%d:resume", i+1))
		}
	}

	kind := map[string]string{"": "won", "tie": "tied", "no result": "noResult", "draw": "drawn"}[o.Result]

	winner := ""
	if name := o.Winner + o.Eliminator + o.BowlOut; name != "" {
		winner = strconv.Itoa(r.team(name))
	}

	w = append(w, "result:"+kind+":"+winner)
	if len(r.Info.Best) > 0 {
		w = append(w, "award")
	}

	if !slices.Equal(others, w) {
		t.Errorf("others\ngot  %v\nwant %v", others, w)
	}

	t.Logf("%d wickets, %d fifties and hundreds, %v", len(got), len(batters), others)
}

// targetOf returns the target of an innings.
func (r *Sheet) targetOf(number int) int {
	if n := r.fixture.RPCTarget; n > 0 {
		return n
	}

	ahead := 0

	for n, inn := range r.Innings[:number-1] {
		last := slices.IndexFunc(r.Totals, func(s total) bool { return s.Innings == n+2 }) - 1
		if inn.Team == r.Innings[number-1].Team {
			ahead -= r.Totals[last].runs
		} else {
			ahead += r.Totals[last].runs
		}
	}

	return ahead + 1
}
