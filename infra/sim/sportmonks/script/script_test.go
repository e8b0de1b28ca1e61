package script_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/samples"
	"matchday/infra/sim/sportmonks/internal/wire"
	"matchday/infra/sim/sportmonks/script"
)

func convert(t testing.TB, data []byte, id int64) *script.Match {
	t.Helper()

	m, err := script.Read(data, id)
	if err != nil {
		t.Fatal(err)
	}

	return m
}

func TestFinalNotesOfRealMatches(t *testing.T) {
	t.Parallel()

	want := map[string]string{
		"1063060": "Dhaka Dynamites won by 78 runs",
		"1144530": "Match tied (England won the Super Over)",
		"1144991": "No result",
		"1173056": "India won by 3 runs",
		"1239544": "India won by 151 runs",
		"1252666": "Oval Invincibles won by 9 runs",
		"1263472": "Match tied (Australia won the Super Over)",
		"1298179": "England won by 5 wickets (with 6 balls remaining)",
		"1322356": "New Zealand won by 1 run",
		"1334412": "New Zealand won by 5 runs (D/L method)",
		"1370353": "Chennai Super Kings won by 5 wickets (With 0 ball remaining) (D/L method)",
		"287862":  "Match tied (India won the bowl-out)",
	}
	types := map[string]string{"1252666": "100-Ball", "1239544": "Test/5day", "1298179": "T20I", "1063060": "T20", "1334412": "ODI"}

	for name, data := range samples.Matches(t) {
		m := convert(t, data, 7)

		last := m.Frames[len(m.Frames)-1]
		if last.Note != want[name] || last.Status != "Finished" {
			t.Errorf("%s: the last status is %q, the note %q; want the note %q", name, last.Status, last.Note, want[name])
		}

		named := script.Team{}

		for _, team := range []script.Team{m.Local, m.Visitor} {
			if team.ID == last.Winner {
				named = team
			}
		}

		if strings.Contains(last.Note, " won") && !strings.Contains(last.Note, named.Name+" won") {
			t.Errorf("%s: the winner's id is that of %q, the note is %q", name, named.Name, last.Note)
		}

		if w := types[name]; w != "" && m.Type != w {
			t.Errorf("%s has type %q, want %q", name, m.Type, w)
		}
	}
}

// raw is a Cricsheet file, decoded without this package's types.
type raw struct {
	Innings []struct {
		Team  string
		Overs []struct {
			Over       int
			Deliveries []struct {
				Batter, Bowler string
				Runs           struct{ Batter, Extras, Total int }
				Extras         map[string]int
				Wickets        []struct{ Kind string }
			}
		}
		PenaltyRuns struct{ Pre, Post int } `json:"penalty_runs"`
	}
}

func TestRunningTotalsMatchTheFile(t *testing.T) {
	t.Parallel()

	for name, data := range samples.Matches(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkTotals(t, convert(t, data, 7), data)
		})
	}
}

// checkTotals compares the feed after every delivery with the sums of the file's
// deliveries.
func checkTotals(t *testing.T, m *script.Match, data []byte) {
	t.Helper()

	var file raw
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}

	at := map[int]int{} // frame of each delivery

	for i := range m.Frames {
		f := m.Frames[i]
		if i > 0 && f.Deliveries < m.Frames[i-1].Deliveries {
			t.Fatalf("frame %d has fewer deliveries than the frame before it", i)
		}

		if i == 0 || f.Deliveries > m.Frames[i-1].Deliveries {
			at[f.Deliveries] = i
		}
	}

	n := 0
	stride := 1 + len(m.Deliveries)/400 // of a Test, compare every sixth delivery only

	for i, inn := range file.Innings {
		runs, wickets := inn.PenaltyRuns.Pre, 0
		bat, bowled := map[string][2]int{}, map[string][2]int{}

		for k, ov := range inn.Overs {
			legal := 0

			for j, d := range ov.Deliveries {
				n++
				runs += d.Runs.Total

				illegal := d.Extras["wides"]+d.Extras["noballs"] > 0
				if !illegal {
					legal++
				}

				b := bat[d.Batter]
				if d.Extras["wides"] == 0 {
					b[1]++
				}

				b[0] += d.Runs.Batter
				bat[d.Batter] = b
				bo := bowled[d.Bowler]

				bo[0] += d.Runs.Batter + d.Extras["wides"] + d.Extras["noballs"]
				for _, w := range d.Wickets {
					switch w.Kind {
					case "retired hurt", "retired not out":
						continue
					case "bowled", "caught", "caught and bowled", "lbw", "stumped", "hit wicket":
						bo[1]++
					}

					wickets++
				}

				bowled[d.Bowler] = bo

				frame := at[n]
				if f := m.Deliveries[m.Frames[frame].Deliveries-1]; f.Innings != i || f.Over != ov.Over || f.Ball != j {
					t.Fatalf("frame %d has delivery %d as %+v; in the file it is in innings %d, over %d, place %d", frame, n, f, i, ov.Over, j)
				}

				overs := fmt.Sprintf("%d.%d", ov.Over, legal)
				if j == len(ov.Deliveries)-1 && (legal >= m.BallsPerOver || k < len(inn.Overs)-1) {
					overs = fmt.Sprintf("%d.0", ov.Over+1)
				}

				if n%stride != 0 {
					continue
				}

				cards := m.Cards(m.Frames[frame], nil, nil)

				c := cards[i]
				if got := fmt.Sprintf("%d.%d", c.Overs/10, c.Overs%10); c.Runs != runs || c.Wickets != wickets || got != overs {
					t.Fatalf("after delivery %d the feed has %d/%d in %s, the file %d/%d in %s", n, c.Runs, c.Wickets, got, runs, wickets, overs)
				}

				for _, r := range c.Batters {
					if want := bat[m.People[r.Player].Name]; want != [2]int{r.Runs, r.Balls} {
						t.Fatalf("after delivery %d %s has %d (%d), in the file %v", n, m.People[r.Player].Name, r.Runs, r.Balls, want)
					}
				}

				for _, r := range c.Bowlers {
					if want := bowled[m.People[r.Player].Name]; want != [2]int{r.Runs, r.Wickets} {
						t.Fatalf("after delivery %d %s has %d for %d, in the file %v", n, m.People[r.Player].Name, r.Wickets, r.Runs, want)
					}
				}
			}
		}

		final := m.Cards(m.Frames[len(m.Frames)-1], nil, nil)[i]
		if final.Runs != runs+inn.PenaltyRuns.Post {
			t.Errorf("innings %d ends with %d runs, in the file with %d", i+1, final.Runs, runs+inn.PenaltyRuns.Post)
		}
	}

	if n != len(m.Deliveries) {
		t.Errorf("the script has %d deliveries, the file %d", len(m.Deliveries), n)
	}
}

func TestFramesOfRealMatches(t *testing.T) {
	t.Parallel()
	all := samples.Matches(t)

	statuses := func(name string) []string {
		var out []string

		m := convert(t, all[name], 7)
		for i := range m.Frames {
			if s := m.Frames[i].Status; len(out) == 0 || out[len(out)-1] != s {
				out = append(out, s)
			}
		}

		return out
	}
	for name, want := range map[string]string{
		"1298179": "NS, 1st Innings, Innings Break, 2nd Innings, Finished",
		"1370353": "NS, 1st Innings, Innings Break, Int., 2nd Innings, Finished",
		"1263472": "NS, 1st Innings, Innings Break, 2nd Innings, Innings Break, 3rd Innings, Innings Break, 4th Innings, Finished",
		"1144991": "NS, 1st Innings, Int., Finished",
	} {
		if got := strings.Join(statuses(name), ", "); got != want {
			t.Errorf("%s: got the statuses %s, want %s", name, got, want)
		}
	}

	lords := statuses("1239544")
	for _, s := range []string{"Lunch", "Tea Break", "Stump Day 1", "Stump Day 4", "4th Innings"} {
		if !slices.Contains(lords, s) {
			t.Errorf("Lord's 2021 has no %q", s)
		}
	}

	if m := convert(t, all["1322356"], 7); !m.Frames[len(m.Frames)-1].FollowOn {
		t.Error("Wellington 2023 has no follow-on")
	}

	m := convert(t, all["1370353"], 7)

	last := m.Frames[len(m.Frames)-1]
	if last.RPCOvers != 15 || last.RPCTarget != 171 || m.Frames[len(m.Frames)-2].Note != "Target 171 runs" {
		t.Errorf("the chase of the final of 2023: target %d in %v overs, note %q", last.RPCTarget, last.RPCOvers, m.Frames[len(m.Frames)-2].Note)
	}

	m = convert(t, all["1063060"], 7)

	var w wire.Writer
	w.Batting(m, m.Cards(m.Frames[len(m.Frames)-1], nil, nil), noonX(), wire.Includes{"batting.result": true})

	if !strings.Contains(string(bytes.Join(w.Body(), nil)), `"name":"Absent Hurt"`) {
		t.Error("the batter who was absent hurt is not on the scorecard")
	}
}

// small returns a Cricsheet file with these innings and facts.
func small(info, innings string) []byte {
	if !strings.Contains(info, `"match_type"`) {
		info += `, "match_type": "T20", "overs": 20`
	}

	return fmt.Appendf(nil, `{"meta": {"data_version": "1.1.0"}, "info": {"teams": ["Ayr", "Bute"], "dates": ["2024-05-01"],
		"players": {"Ayr": ["A1", "A2", "A3", "Same"], "Bute": ["B1", "B2", "B3", "Same"]},
		"toss": {"winner": "Ayr", "decision": "bat"}, %s}, "innings": [%s]}`, info, innings)
}

func over(n int, deliveries ...string) string {
	return fmt.Sprintf(`{"over": %d, "deliveries": [%s]}`, n, strings.Join(deliveries, ","))
}

// ball returns a delivery from Bute's B1 to Ayr's A1, with A2 as non-striker.
func ball(bat int, extras, wickets string) string {
	var x map[string]int
	if err := json.Unmarshal([]byte("{"+extras+"}"), &x); err != nil {
		panic(err)
	}

	sum := 0
	for v := range maps.Values(x) {
		sum += v
	}

	return fmt.Sprintf(`{"batter": "A1", "bowler": "B1", "non_striker": "A2", "runs": {"batter": %d, "extras": %d, "total": %d}, "extras": {%s}, "wickets": [%s]}`,
		bat, sum, bat+sum, extras, wickets)
}

func wicket(player, kind string) string {
	return fmt.Sprintf(`{"player_out": %q, "kind": %q, "fielders": [{"name": "B2"}]}`, player, kind)
}

func TestBalls(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		ball                     string
		name                     string
		runs, bye, legBye, nb    int
		wickets                  int
		legal                    bool
		four, six, batsmanOutSet bool
	}{
		{ball(0, ``, ``), "No Run", 0, 0, 0, 0, 0, true, false, false, false},
		{ball(4, ``, ``), "FOUR", 4, 0, 0, 0, 0, true, true, false, false},
		{strings.Replace(ball(4, ``, ``), `"total"`, `"non_boundary": true, "total"`, 1), "4 Runs", 4, 0, 0, 0, 0, true, false, false, false},
		{strings.Replace(ball(6, ``, ``), `"total"`, `"non_boundary": true, "total"`, 1), "6 Runs", 6, 0, 0, 0, 0, true, false, false, false},
		{ball(6, ``, ``), "SIX", 6, 0, 0, 0, 0, true, false, true, false},
		{ball(5, ``, ``), "5 Runs", 5, 0, 0, 0, 0, true, false, false, false},
		{ball(0, `"wides": 5`, ``), "5 Wides", 5, 0, 0, 0, 0, false, false, false, false},
		{ball(0, `"wides": 1`, wicket("A1", "stumped")), "1 Wide + Stump Out", 1, 0, 0, 0, 1, false, false, false, true},
		{ball(0, `"wides": 1`, wicket("A2", "run out")), "1 Wide + Run Out", 1, 0, 0, 0, 1, false, false, false, true},
		{ball(0, `"noballs": 1`, ``), "1 No Ball", 1, 0, 0, 1, 0, false, false, false, false},
		{ball(4, `"noballs": 1`, ``), "1 No Ball + FOUR", 5, 0, 0, 1, 0, false, true, false, false},
		{ball(0, `"noballs": 1, "byes": 4`, ``), "1 No Ball + 4 Byes", 1, 4, 0, 1, 0, false, false, false, false},
		{ball(0, `"noballs": 1, "legbyes": 1`, wicket("A1", "run out")), "1 No Ball + 1 Leg Bye + Run Out", 1, 0, 1, 1,
			1, false, false, false, true},
		{ball(0, `"noballs": 5`, ``), "1 No Ball + 4 Byes", 1, 4, 0, 1, 0, false, false, false, false},
		{ball(0, `"byes": 1`, wicket("A1", "run out")), "1 Bye + Run Out", 0, 1, 0, 0, 1, true, false, false, true},
		{ball(1, ``, wicket("A2", "run out")), "Run Out + 1 Run", 1, 0, 0, 0, 1, true, false, false, true},
		{ball(0, `"byes": 1`, wicket("A1", "retired hurt")), "1 Bye + Retired Hurt", 0, 1, 0, 0, 0, true, false, false, false},
		{ball(0, ``, wicket("A1", "retired not out")), "Retired Not Out", 0, 0, 0, 0, 0, true, false, false, false},
		{ball(0, ``, wicket("A1", "retired out")), "Retired Out", 0, 0, 0, 0, 1, true, false, false, true},
		{ball(0, ``, wicket("A1", "caught")+","+wicket("A3", "timed out")), "Catch Out + Timed Out", 0, 0, 0, 0, 2, true, false, false, true},
		{ball(0, ``, wicket("A2", "retired hurt")+","+wicket("A1", "bowled")), "Retired Hurt + Clean Bowled", 0, 0, 0,
			0, 1, true, false, false, true},
		{ball(0, ``, wicket("A1", "obstructing the field")), "Obstructing the Field", 0, 0, 0, 0, 1, true, false, false, true},
		{ball(1, `"penalty": 5`, ``), "1 Run", 1, 0, 0, 0, 0, true, false, false, false},
	} {
		m := convert(t, small(`"outcome": {"result": "no result"}`, `{"team": "Ayr", "overs": [`+over(0, c.ball)+`]}`), 7)
		d := &m.Deliveries[0]

		s := d.Score
		if s.Name != c.name || s.Runs != c.runs || s.Bye != c.bye || s.LegBye != c.legBye || s.NoBall != c.nb || d.Legal != c.legal ||
			s.Four != c.four || s.Six != c.six {
			t.Errorf("%s: got %+v, want %+v", c.ball, s, c)
		}

		if set := !strings.Contains(string(wire.AppendBall(nil, m, d, noonX(), false)), `"batsmanout_id":null`); set != c.batsmanOutSet {
			t.Errorf("%s: batsmanout_id is set: %v", c.name, set)
		}

		var file raw
		if err := json.Unmarshal([]byte(`{"innings": [{"overs": [`+over(0, c.ball)+`]}]}`), &file); err != nil {
			t.Fatal(err)
		}

		got := m.Cards(m.Frames[len(m.Frames)-1], nil, nil)[0]
		if got.Wickets != c.wickets || got.Runs != file.Innings[0].Overs[0].Deliveries[0].Runs.Total {
			t.Errorf("%s: the card has %d/%d", c.name, got.Runs, got.Wickets)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()

	one := `{"team": "Ayr", "overs": [` + over(0, ball(1, ``, ``)) + `]}`

	chase := one + `, {"team": "Bute", "target": {"overs": 1.3, "runs": 2}, "overs": [` + over(0, ball(1, ``, ``), ball(1, ``, ``)) + `]}`
	for _, c := range []struct {
		outcome, innings   string
		status, note, draw string
		winner             string
	}{
		{`{"winner": "Ayr", "by": {"runs": 1}}`, one, "Finished", "Ayr won by 1 run", "", "Ayr"},
		{`{"winner": "Bute", "by": {"wickets": 1}}`, chase, "Finished", "Bute won by 1 wicket (with 7 balls remaining)", "", "Bute"},
		{`{"winner": "Bute", "by": {"wickets": 9}, "method": "VJD"}`, chase, "Finished",
			"Bute won by 9 wickets (with 7 balls remaining) (VJD method)", "", "Bute"},
		{`{"winner": "Ayr", "by": {"innings": 1, "runs": 53}}`, one, "Finished", "Ayr won by an innings and 53 runs", "", "Ayr"},
		{`{"winner": "Ayr", "method": "Awarded"}`, one, "Finished", "Ayr won (awarded)", "", "Ayr"},
		{`{"winner": "Ayr", "method": "Awarded"}`, ``, "Finished", "Ayr won (awarded)", "", "Ayr"},
		{`{"winner": "Ayr"}`, one, "Finished", "Ayr won", "", "Ayr"},
		{`{"winner": "Ayr", "method": "1st innings score"}`, one, "Finished", "Ayr won on first innings lead", "", "Ayr"},
		{`{"winner": "Ayr", "method": "Lost fewer wickets"}`, one, "Finished", "Ayr won (Lost fewer wickets)", "", "Ayr"},
		{`{"winner": "Ayr", "method": "Thrown dice"}`, one, "Finished", "Ayr won (Thrown dice)", "", "Ayr"},
		{`{"winner": "Ayr", "by": {"runs": 4}, "method": "Thrown dice"}`, one, "Finished", "Ayr won by 4 runs (Thrown dice)", "", "Ayr"},
		{`{"result": "tie"}`, one, "Finished", "Match tied", "", ""},
		{`{"result": "tie", "method": "D/L"}`, one, "Finished", "Match tied (D/L method)", "", ""},
		{`{"result": "tie", "method": "D/L", "eliminator": "Bute"}`, one, "Finished",
			"Match tied (D/L method) (Bute won the Super Over)", "", "Bute"},
		{`{"result": "draw", "method": "1st innings score"}`, one, "Finished", "Match drawn (1st innings score)", "draw", ""},
		{`{"result": "no result", "method": "D/L"}`, one, "Finished", "No result (D/L method)", "no result", ""},
		{`{"result": "tie", "eliminator": "Bute"}`, one, "Finished", "Match tied (Bute won the Super Over)", "", "Bute"},
		{`{"result": "tie", "bowl_out": "Bute"}`, one, "Finished", "Match tied (Bute won the bowl-out)", "", "Bute"},
		{`{"result": "draw"}`, one, "Finished", "Match drawn", "draw", ""},
		{`{"result": "no result"}`, one, "Finished", "No result", "no result", ""},
		{`{"result": "no result"}`, ``, "Aban.", "Match abandoned without a ball bowled", "no result", ""},
	} {
		m := convert(t, small(`"outcome": `+c.outcome, c.innings), 7)
		got := m.Outcome

		winner := ""
		if side := m.SideOf(got.WinnerID); side >= 0 {
			winner = m.Team(side).Name
		}

		if got.Status != c.status || got.Note != c.note || got.Draw != c.draw || winner != c.winner {
			t.Errorf("%s: got %+v", c.outcome, got)
		}

		last := m.Frames[len(m.Frames)-1]
		if last.Status != got.Status || last.Note != got.Note || last.Winner != got.WinnerID || last.Draw != got.Draw {
			t.Errorf("%s: the last frame is %+v", c.outcome, *last.Header)
		}
	}
}

// TestNoDates: the format requires dates, but the script does not need them.
func TestNoDates(t *testing.T) {
	t.Parallel()

	data := bytes.Replace(small(`"outcome": {"result": "tie"}`, ``), []byte(`"dates"`), []byte(`"days"`), 1)
	if m := convert(t, data, 7); len(m.Frames) == 0 {
		t.Error("the script has no frames")
	}
}

func TestInningsOfEveryKind(t *testing.T) {
	t.Parallel()

	overs := `"overs": [` + over(0, ball(1, ``, ``)) + `]`
	score := func(m *script.Match, frame int) (out []string) {
		for i, c := range m.Cards(m.Frames[frame], nil, nil) {
			out = append(out, fmt.Sprintf("%s %d/%d", m.Team(m.Innings[i].Side).Code, c.Runs, c.Wickets))
		}

		return out
	}

	t.Run("penalties before and after", func(t *testing.T) {
		t.Parallel()
		m := convert(t, small(`"outcome": {"result": "tie"}`,
			`{"team": "Ayr", "penalty_runs": {"pre": 5, "post": 10}, `+overs+`}, {"team": "Bute"}`), 7)

		var got []string
		for i := range m.Frames {
			got = append(got, strings.Join(score(m, i), " "))
		}

		want := []string{"", "", "AYR 5/0", "AYR 6/0", "AYR 16/0", "AYR 16/0 BUT 0/0", "AYR 16/0 BUT 0/0"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}

		if m.Frames[5].Note != "Target 17 runs" {
			t.Errorf("the chase has the note %q", m.Frames[5].Note)
		}
	})
	t.Run("declared, forfeited, followed on", func(t *testing.T) {
		t.Parallel()
		m := convert(t, small(`"match_type": "Test", "outcome": {"result": "draw"}`,
			`{"team": "Ayr", "declared": true, `+overs+
				`}, {"team": "Bute", "forfeited": true}, {"team": "Bute", "forfeited": true, "overs": []}, {"team": "Ayr", `+overs+`}`), 7)

		var notes []string
		for i := range m.Frames {
			if n := m.Frames[i].Note; n != "" && !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}

		if want := []string{"Ayr declared at 1/0", "Bute forfeited the innings", "Match drawn"}; !slices.Equal(notes, want) {
			t.Errorf("got %q, want %q", notes, want)
		}

		if got := score(m, len(m.Frames)-1); len(got) != 4 || !m.Frames[len(m.Frames)-1].FollowOn {
			t.Errorf("got %q", got)
		}
	})
	t.Run("super overs", func(t *testing.T) {
		t.Parallel()

		so := func(team string) string { return `{"team": "` + team + `", "super_over": true, ` + overs + `}` }
		m := convert(t, small(`"outcome": {"result": "tie", "eliminator": "Ayr"}`,
			`{"team": "Ayr", `+overs+`}, {"team": "Bute", `+overs+`},`+so("Bute")+","+so("Ayr")+","+so("Ayr")+","+so("Bute")), 7)

		var got []string

		for i := range m.Frames {
			if f := m.Frames[i]; i > 0 && f.Deliveries > m.Frames[i-1].Deliveries {
				got = append(got, fmt.Sprint(f.Status, " ", wire.Scoreboard(m.Deliveries[f.Deliveries-1].Innings), " ", f.SuperOver, " ", f.Note))
			}
		}

		want := []string{
			"1st Innings S1 false ", "2nd Innings S2 false Target 2 runs",
			"3rd Innings S3 true Super Over", "4th Innings S4 true Target 2 runs",
			"3rd Innings S5 true Super Over", "4th Innings S6 true Target 2 runs",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("overs of any length", func(t *testing.T) {
		t.Parallel()

		for _, n := range []int{4, 5, 6, 8} {
			var balls []string
			for range n {
				balls = append(balls, ball(0, ``, ``))
			}

			balls = append(balls, ball(0, `"wides": 1`, ``)) // an extra ball: the umpire miscounted
			m := convert(t, small(fmt.Sprintf(`"balls_per_over": %d, "outcome": {"result": "tie"}`, n),
				`{"team": "Ayr", "miscounted_overs": {"1": {"balls": 2}}, "overs": [`+over(0, balls...)+","+over(1, balls[:2]...)+`]}`), 7)

			c := m.Cards(m.Frames[len(m.Frames)-1], nil, nil)[0]
			if c.Overs != 20 || c.Bowlers[0].Label(n) != 20 || c.Bowlers[0].Maidens != 0 {
				t.Errorf("%d balls per over: %d tenths of an over, bowler %d", n, c.Overs, c.Bowlers[0].Label(n))
			}

			if got := m.Deliveries[n-1].Label; got != n {
				t.Errorf("%d balls per over: the last ball has the label %d", n, got)
			}
		}
	})
	t.Run("a name that both teams list", func(t *testing.T) {
		t.Parallel()

		b := strings.NewReplacer(`"A1"`, `"Same"`, `"B1"`, `"Same"`).Replace(ball(1, ``, wicket("Same", "caught and bowled")))
		m := convert(t, small(`"registry": {"people": {"Same": "beef"}}, "outcome": {"result": "tie"}`,
			`{"team": "Ayr", "overs": [`+over(0, b)+`]}`), 7)

		d := m.Deliveries[0]
		if m.People[d.Striker].ID == m.People[d.Bowler].ID || d.Dismissals[0].Catcher != d.Bowler {
			t.Error("the batter and the bowler are one person")
		}
	})
	t.Run("teams of one name", func(t *testing.T) {
		t.Parallel()

		data := strings.ReplaceAll(string(small(`"outcome": {"winner": "Ayr", "by": {"wickets": 10}}`,
			`{"team": "Ayr", `+overs+`}, {"team": "Ayr", `+overs+`}`)), `"Bute"`, `"Ayr"`)

		m := convert(t, []byte(data), 7)
		if m.Local.ID == m.Visitor.ID || m.Outcome.WinnerID != m.Visitor.ID || m.Innings[1].Side != 1 {
			t.Errorf("the winner is %d, want one of %d and %d", m.Outcome.WinnerID, m.Local.ID, m.Visitor.ID)
		}
	})
	t.Run("without a toss", func(t *testing.T) {
		t.Parallel()

		data := strings.Replace(string(small(`"outcome": {"result": "no result"}`, ``)), `"toss": {"winner": "Ayr", "decision": "bat"},`, ``, 1)

		m := convert(t, []byte(data), 7)
		if got := len(m.Frames); got != 3 || m.Frames[1].Status != "Delayed" || m.Frames[2].TossWon != 0 {
			t.Errorf("got %d frames", got)
		}
	})
}

func TestNotCricsheet(t *testing.T) {
	t.Parallel()

	good := string(small(`"outcome": {"result": "tie"}`, `{"team": "Ayr", "overs": [`+over(0, ball(1, ``, ``))+`]}`))
	for name, data := range map[string]string{
		"empty": "", "truncated": good[:len(good)/2], "a list": "[1, 2]", "a number": "7", "null": "null", "HTML": "<html>",
		"other JSON":     `{"data": []}`,
		"teams":          strings.Replace(good, `["Ayr", "Bute"]`, `["Ayr"]`, 1),
		"team type":      strings.Replace(good, `["Ayr", "Bute"]`, `"Ayr"`, 1),
		"date":           strings.Replace(good, "2024-05-01", "yesterday", 1),
		"version":        strings.Replace(good, "1.1.0", "2.0.0", 1),
		"team unknown":   strings.Replace(good, `"team": "Ayr"`, `"team": "Coll"`, 1),
		"runs":           strings.Replace(good, `"total": 1`, `"total": 2`, 1),
		"negative":       strings.Replace(strings.Replace(good, `"total": 1`, `"total": -1`, 1), `"batter": 1`, `"batter": -1`, 1),
		"no batter":      strings.Replace(good, `"batter": "A1"`, `"batter": ""`, 1),
		"winner unknown": strings.Replace(good, `"result": "tie"`, `"winner": "Coll"`, 1),
	} {
		_, err := script.Read([]byte(data), 7)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}

		if msg := err.Error(); strings.ContainsAny(msg, "\n") || len(msg) > 200 {
			t.Errorf("%s: the error %q is not a sentence", name, msg)
		}
	}
}

func FuzzCricsheet(f *testing.F) {
	f.Add(small(`"outcome": {"result": "tie"}`, `{"team": "Ayr", "overs": [`+over(0, ball(1, `"noballs": 1`, wicket("A1", "bowled")))+`]}`))
	f.Add(small(`"match_type": "Test", "outcome": {"winner": "Ayr"}`,
		`{"team": "Bute", "forfeited": true}, {"team": "Bute", "super_over": true}`))
	f.Add([]byte(`{"info": {"teams": ["", ""]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := script.Read(data, 7)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not a sentence", err)
			}

			return
		}

		var w wire.Writer

		for _, frame := range []int{0, len(m.Frames) / 2, len(m.Frames) - 1} {
			fr := m.Frames[frame]
			w = wire.Writer{}
			w.Lit("{")

			cards := m.Cards(fr, nil, nil)
			stamps := make([]time.Time, len(cards))
			w.Batting(m, cards, noonX(), wire.Includes{})
			w.Bowling(m, cards, noonX(), wire.Includes{})
			w.Runs(m, cards, stamps, wire.Includes{})
			w.Lineup(m, true)
			w.End()

			if !json.Valid(bytes.Join(w.Body(), nil)) {
				t.Fatalf("frame %d is not JSON: %s", frame, w.Body())
			}
		}

		for i := range m.Deliveries {
			b := wire.AppendBall(nil, m, &m.Deliveries[i], noonX(), true)
			if !json.Valid(b[1:]) {
				t.Fatalf("delivery %d is not JSON: %s", i, b)
			}
		}
	})
}

func noonX() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }
