package replay

import (
	"encoding/json"
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
		Teams        []string `json:"teams"`
		Outcome      struct {
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
		Team    string `json:"team"`
		Penalty struct {
			Pre, Post int
		} `json:"penalty_runs"`
		Overs []struct {
			Over       int `json:"over"`
			Deliveries []struct {
				Extras  struct{ Wides, NoBalls int }
				Runs    struct{ Total int }
				Wickets []struct{ Kind string }
			} `json:"deliveries"`
		} `json:"overs"`
	} `json:"innings"`
}

// total is an innings' score.
type total struct {
	Team          string
	Runs, Wickets int
	Overs         string
	Penalty       int // after the last ball, of Runs
}

// String is "182/8 (20)".
func (t total) String() string { return fmt.Sprintf("%d/%d (%s)", t.Runs, t.Wickets, t.Overs) }

// oracle knows, from the file alone, what the score is after every ball.
type oracle struct {
	file
	after [][]total // by balls bowled: the innings that have begun
	final []total
}

func newOracle(data []byte) (*oracle, error) {
	o := &oracle{after: [][]total{nil}}
	if err := json.Unmarshal(data, &o.file); err != nil {
		return nil, err
	}
	perOver := o.Info.BallsPerOver
	if perOver == 0 {
		perOver = 6
	}
	for _, in := range o.Innings {
		o.final = append(o.final, total{Team: in.Team, Runs: in.Penalty.Pre, Overs: "0"})
		now := &o.final[len(o.final)-1]
		for _, over := range in.Overs {
			legal := 0
			for _, d := range over.Deliveries {
				now.Runs += d.Runs.Total
				for _, w := range d.Wickets {
					if kind := strings.ToLower(w.Kind); kind != "retired hurt" && kind != "retired not out" {
						now.Wickets++
					}
				}
				if d.Extras.Wides == 0 && d.Extras.NoBalls == 0 {
					legal++
				}
				now.Overs = overs(over.Over, legal, perOver)
				o.after = append(o.after, slices.Clone(o.final))
			}
		}
		now.Runs += in.Penalty.Post
		now.Penalty = in.Penalty.Post
	}
	return o, nil
}

func overs(over, legal, perOver int) string {
	switch {
	case legal == perOver:
		return strconv.Itoa(over + 1)
	case legal == 0:
		return strconv.Itoa(over)
	}
	return fmt.Sprintf("%d.%d", over, legal)
}

// outcome is how a match ended, in the words of score.Result.
type outcome struct {
	Kind, Winner  string
	Runs, Wickets int
	Innings       bool
	Decider       string
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
