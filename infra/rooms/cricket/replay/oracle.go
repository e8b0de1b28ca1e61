package replay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// file is what the oracle reads of a Cricsheet file: https://cricsheet.org/format/json/.
// It shares no code with what converts the file or keeps the score.
type file struct {
	Info struct {
		BallsPerOver int      `json:"balls_per_over"`
		MatchType    string   `json:"match_type"`
		Teams        []string `json:"teams"`
		Venue, City  string
		Players      map[string][]string `json:"players"`
		Best         []string            `json:"player_of_match"`
		Officials    struct {
			Umpires  []string `json:"umpires"`
			TV       []string `json:"tv_umpires"`
			Referees []string `json:"match_referees"`
		} `json:"officials"`
		Toss    struct{ Winner, Decision string }
		Outcome struct {
			Winner     string `json:"winner"`
			Result     string `json:"result"`
			Eliminator string `json:"eliminator"`
			BowlOut    string `json:"bowl_out"`
			Method     string `json:"method"`
			By         struct {
				Runs    int `json:"runs"`
				Wickets int `json:"wickets"`
				Innings int `json:"innings"`
			} `json:"by"`
		} `json:"outcome"`
	} `json:"info"`
	Innings []struct {
		Team      string `json:"team"`
		SuperOver bool   `json:"super_over"`
		Penalty   struct {
			Pre, Post int
		} `json:"penalty_runs"`
		Target     struct{ Runs int }         `json:"target"`
		Absent     []string                   `json:"absent_hurt"`
		Miscounted map[string]json.RawMessage `json:"miscounted_overs"`
		Overs      []struct {
			Over       int        `json:"over"`
			Deliveries []delivery `json:"deliveries"`
		} `json:"overs"`
	} `json:"innings"`
}

// delivery is a delivery of a file.
type delivery struct {
	Batter, Bowler string
	NonStriker     string `json:"non_striker"`
	Extras         struct{ Wides, NoBalls, Byes, LegByes, Penalty int }
	Runs           struct {
		Batter, Total int
		NonBoundary   bool `json:"non_boundary"`
	}
	Wickets []wicket
}

// wicket is how a batter got out in a file, or retired.
type wicket struct {
	Kind     string
	Out      string `json:"player_out"`
	Fielders []struct {
		Name       string
		Substitute bool
	}
}

// total is an innings' score.
type total struct {
	Team          string
	Runs, Wickets int
	Overs         string // "" if the feed does not determine them
	Late          int    // penalty runs after the last ball, of Runs
}

// String is "182/8 (20)".
func (t total) String() string { return fmt.Sprintf("%d/%d (%s)", t.Runs, t.Wickets, t.Overs) }

// oracle computes the score after every ball from the file alone.
type oracle struct {
	file
	perOver int
	after   [][]total // by balls bowled: the innings that have begun
	final   []total
	stops   int   // of play, and resumptions; set from the script
	days    []int // deliveries bowled before each later day of play; set from the script
}

func newOracle(data []byte) (*oracle, error) {
	o := &oracle{after: [][]total{nil}}
	if err := json.Unmarshal(data, &o.file); err != nil {
		return nil, err
	}

	if x := o.Info.Outcome; x.Winner == "" && x.Result == "" && x.Eliminator == "" && x.BowlOut == "" {
		return nil, errors.New("info.outcome has no winner, result, eliminator or bowl_out")
	}

	o.perOver = cmp.Or(o.Info.BallsPerOver, 6)
	complete := 0 // overs of the match

	for _, in := range o.Innings {
		o.final = append(o.final, total{Team: in.Team, Runs: in.Penalty.Pre, Overs: "0"})
		now := &o.final[len(o.final)-1]

		for i, over := range in.Overs {
			_, miscounted := in.Miscounted[strconv.Itoa(over.Over)]
			legal := 0

			for j, d := range over.Deliveries {
				now.Runs += d.Runs.Total
				for _, w := range d.Wickets {
					if isOut(w.Kind) {
						now.Wickets++
					}
				}

				if d.Extras.Wides == 0 && d.Extras.NoBalls == 0 {
					legal++
				}
				// A miscounted over is complete, too.
				ended := legal >= o.perOver || j == len(over.Deliveries)-1 && (miscounted || i < len(in.Overs)-1)
				now.Overs = overs(over.Over, legal, ended)

				o.after = append(o.after, slices.Clone(o.final))
				if complete < 2 && legal >= 6 && !ended {
					o.after[len(o.after)-1][len(o.final)-1].Overs = "" // the feed does not yet show that overs are longer
				}
			}

			complete++
		}

		now.Runs += in.Penalty.Post
		now.Late = in.Penalty.Post
	}

	return o, nil
}

// isOut reports whether a kind of dismissal is a wicket.
func isOut(kind string) bool {
	kind = strings.ToLower(kind)
	return kind != "retired hurt" && kind != "retired not out"
}

func overs(over, legal int, complete bool) string {
	switch {
	case complete:
		return strconv.Itoa(over + 1)
	case legal == 0:
		return strconv.Itoa(over)
	}

	return fmt.Sprintf("%d.%d", over, legal)
}

// contradiction is what is wrong with an outcome that the file's own deliveries
// do not bear out. Rain rules and awards have arithmetic of their own.
func (o *oracle) contradiction() error {
	x, teams := o.Info.Outcome, o.Info.Teams
	if x.Method != "" || x.Result == "no result" || x.Result == "draw" || len(o.Innings) == 0 || len(teams) != 2 || teams[0] == teams[1] {
		return nil
	}

	runs := map[string]int{}

	var last total // innings

	target, absent := 0, 0

	for i, in := range o.Innings {
		if !in.SuperOver {
			last, target, absent = o.final[i], in.Target.Runs, len(in.Absent)
			runs[last.Team] += last.Runs
		}
	}

	lead := runs[x.Winner]*2 - runs[teams[0]] - runs[teams[1]] // of the winner

	ahead := 0 // of its target, the side that chased
	if target > 0 {
		ahead = last.Runs - (target - 1)
	}

	if last.Team != x.Winner {
		ahead = -ahead
	}

	left := 10 - last.Wickets

	var agree bool

	switch by := x.By; {
	case x.Winner == "":
		agree = runs[teams[0]] == runs[teams[1]] || target > 0 && ahead == 0
	case by.Wickets > 0:
		agree = last.Team == x.Winner && max(lead, ahead) > 0 && (by.Wickets == left || by.Wickets == left-absent)
	case by.Runs > 0:
		agree = by.Runs == lead || by.Runs == ahead
	default:
		agree = max(lead, ahead) > 0
	}

	if !agree {
		return fmt.Errorf("info.outcome contradicts the deliveries, by which %s made %d, %s %d, with %d down at the end",
			teams[0], runs[teams[0]], teams[1], runs[teams[1]], last.Wickets)
	}

	return nil
}

// outcome is the outcome of a match, in the terms of score.Result.
type outcome struct {
	Kind, Winner  string
	Runs, Wickets int
	Innings       bool
	Decider       string
}

// String is "won by Harbour, 4 runs", "tied, then superOver by Meadow", "noResult".
func (x outcome) String() string {
	s := x.Kind
	if x.Decider != "" {
		s += ", then " + x.Decider
	}

	if x.Winner != "" {
		s += " by " + x.Winner
	}

	if x.Innings {
		s += ", an innings"
	}

	if x.Runs > 0 {
		s += fmt.Sprintf(", %d runs", x.Runs)
	}

	if x.Wickets > 0 {
		s += fmt.Sprintf(", %d wickets", x.Wickets)
	}

	return cmp.Or(s, "unknown")
}

// marginMissing reports whether the match was won and the file has no margin.
func (o *oracle) marginMissing() bool {
	switch x := o.Info.Outcome; x.Method {
	case "", "D/L", "DLS", "VJD":
		return x.By.Runs == 0 && x.By.Wickets == 0
	}

	return false
}

func (o *oracle) outcome() outcome {
	x := o.Info.Outcome

	out := outcome{Winner: x.Winner, Runs: x.By.Runs, Wickets: x.By.Wickets, Innings: x.By.Innings > 0}
	switch {
	case x.Eliminator != "":
		out.Kind, out.Winner, out.Decider = "tied", x.Eliminator, "superOver"
	case x.BowlOut != "":
		out.Kind, out.Winner, out.Decider = "tied", x.BowlOut, "bowlOut"
	case x.Winner != "":
		out.Kind = "won"
	case x.Result == "tie":
		out.Kind = "tied"
	case x.Result == "draw":
		out.Kind = "drawn"
	default:
		out.Kind = "noResult"
		if len(o.after) == 1 {
			out.Kind = "abandoned"
		}
	}

	return out
}
