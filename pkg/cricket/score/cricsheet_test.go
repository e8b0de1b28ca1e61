package score_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// sheet is the part of a Cricsheet file that a feed is made from.
type sheet struct {
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
		Teams []string
		Toss  struct{ Winner, Decision string }
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

type delivery struct {
	Batter, Bowler string
	NonStriker     string `json:"non_striker"`
	Runs           struct {
		Batter, Extras, Total int
		NonBoundary           bool `json:"non_boundary"`
	}
	Extras  struct{ Wides, NoBalls, Byes, LegByes, Penalty int }
	Wickets []struct {
		PlayerOut string `json:"player_out"`
		Kind      string
		Fielders  []struct{ Name string }
	}
}

// replay is a sheet turned into what the provider would have sent.
type replay struct {
	sheet
	fixture sportmonks.Fixture // at the end; Runs is cut to size by at
	totals  []total            // after each of fixture.Balls
	ids     map[string]int
}

// total is the truth after a ball.
type total struct {
	innings, runs, wickets, legal int
	overs                         sportmonks.Overs
	team                          int
	batters                       map[string][2]int // runs, balls
	striker, other                string
	bowler                        string
	bowlerRuns                    int
}

func load(t testing.TB, path string) *replay {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{ids: map[string]int{}}
	if err := json.Unmarshal(b, &r.sheet); err != nil {
		t.Fatal(err)
	}
	r.convert()
	return r
}

func (r *replay) id(name string) int {
	if name == "" {
		return 0
	}
	if r.ids[name] == 0 {
		r.ids[name] = 1000 + len(r.ids)
	}
	return r.ids[name]
}

func (r *replay) team(name string) int { return 1 + slices.Index(r.Info.Teams, name) }

func (r *replay) convert() {
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
	id := 0
	for n, inn := range r.Innings {
		sum := total{innings: n + 1, team: r.team(inn.Team), batters: map[string][2]int{}}
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
				r.totals = append(r.totals, sum)
			}
		}
	}
}

// at is the feed after n balls, in play.
func (r *replay) at(n int) sportmonks.Fixture {
	f := r.fixture
	f.Balls = f.Balls[:n]
	if n == 0 {
		f.Status = "NS"
		return f
	}
	last := r.totals[n-1]
	f.Status = []string{"1st Innings", "2nd Innings", "3rd Innings", "4th Innings"}[min(last.innings, 4)-1]
	f.SuperOver = f.SuperOver && last.innings > 2
	for i, t := range r.totals[:n] {
		if i == n-1 || r.totals[i+1].innings != t.innings {
			f.Runs = append(f.Runs, sportmonks.Runs{TeamID: t.team, Innings: t.innings, Score: t.runs, Wickets: t.wickets, Overs: t.overs})
		}
	}
	return f
}

// end is the finished feed, with the outcome in the provider's words.
func (r *replay) end(note bool) sportmonks.Fixture {
	f := r.at(len(r.totals))
	f.Status = "Finished"
	o := r.Info.Outcome
	winner := o.Winner + o.Eliminator + o.BowlOut
	f.WinnerID = r.team(winner)
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

func sheets(t testing.TB) []string {
	files, _ := filepath.Glob("../../../../shared/data/cricsheet/*.json")
	if len(files) == 0 {
		t.Skip("the Cricsheet files are not here")
	}
	return files
}

// TestSheets plays real matches ball by ball: the score at each ball is the sum so
// far, batters and bowler are right, and the result is the match's.
func TestSheets(t *testing.T) {
	t.Parallel()
	for _, path := range sheets(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := load(t, path)
			state, problems := score.Read(r.at(0), score.State{})
			none(t, problems)
			if state.Phase != sportmonks.Upcoming || state.For("").Headline == "" {
				t.Fatalf("before the start: %+v", state)
			}
			for n := 1; n <= len(r.totals); n++ {
				state, problems = score.Read(r.at(n), state)
				none(t, problems)
				r.check(t, state, n)
			}
			r.checkBalls(t)
			for _, note := range []bool{true, false} {
				f := r.end(note)
				got, problems := score.Read(f, state)
				if note {
					none(t, problems)
				}
				if !note && got.Phase != sportmonks.Closed {
					if r.Info.Outcome.Result == "" && (got.Phase == sportmonks.Result || !got.Pending) {
						t.Fatalf("without a note it is a result: %+v", got.Result)
					}
					got, _ = score.Final(f, got)
				}
				r.checkResult(t, got)
			}
		})
	}
}

func none(t *testing.T, problems []score.Problem) {
	t.Helper()
	for _, p := range problems {
		t.Fatalf("problem: %+v", p)
	}
}

func (r *replay) check(t *testing.T, s score.State, n int) {
	t.Helper()
	want := r.totals[n-1]
	cur := s.Innings[len(s.Innings)-1]
	overs := strconv.Itoa(want.overs.Overs)
	if want.overs.Balls > 0 {
		overs += "." + strconv.Itoa(want.overs.Balls)
	}
	if s.Current != want.innings || cur.Number != want.innings || cur.Runs != want.runs || cur.Wickets != want.wickets ||
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
	// Who faces next, where the balls tell and nobody was run out.
	if n < len(r.totals) && r.totals[n].innings == want.innings {
		next := r.totals[n]
		for _, b := range s.Batters {
			if b.OnStrike && b.Name == next.other {
				r.turned(t, n)
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

// turned tolerates a strike that the scorers turned round against the arithmetic
// of runs: a caught batter who had crossed (before 2022), and short runs.
func (r *replay) turned(t *testing.T, n int) {
	t.Helper()
	b := r.fixture.Balls[n-1]
	if b.OutID == 0 {
		t.Errorf("ball %d (%d, %v, %+v): strike is wrong", n, b.Innings, b.At, b.Score)
	}
}

func sumBat(lines map[string][2]int) (n int) {
	for _, l := range lines {
		n += l[0]
	}
	return n
}

func (r *replay) checkBalls(t *testing.T) {
	t.Helper()
	balls := score.Balls(r.at(len(r.totals)))
	if len(balls) != len(r.totals) {
		t.Fatalf("%d balls, want %d", len(balls), len(r.totals))
	}
	sum := map[int]int{}
	for i, b := range balls {
		if sum[b.Innings] += b.Runs; sum[b.Innings] != r.totals[i].runs {
			t.Fatalf("ball %d: %d runs, want %d", i, sum[b.Innings], r.totals[i].runs)
		}
	}
}

func (r *replay) checkResult(t *testing.T, s score.State) {
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
		t.Fatalf("result %+v, want %+v", res, o)
	}
	if (kind == score.NoResult) != (s.Phase == sportmonks.Closed) || kind != score.NoResult && s.Phase != sportmonks.Result {
		t.Fatalf("phase %s", s.Phase)
	}
	for i, inn := range r.Innings {
		got := s.Innings[i]
		if got.Declared != inn.Declared || got.SuperOver != inn.SuperOver {
			t.Fatalf("innings %+v, want declared %t", got, inn.Declared)
		}
		if all := got.Wickets == 10 || len(inn.Absent) > 0 || inn.SuperOver && got.Wickets == 2; got.AllOut != all {
			t.Fatalf("innings %+v, want all out %t", got, all)
		}
	}
	t.Log(s.For("").Headline, "|", s.For("1").Headline, "|", s.For("2").Headline, "|", res.Text, "|",
		s.For("").Local.Score, "v", s.For("").Visitor.Score, s.For("").SuperOver)
}
