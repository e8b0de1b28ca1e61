// Package cricsheet describes a cricket match ball by ball, in the terms of the
// Cricsheet JSON format (cricsheet.org/format/json/). Parse reads a file;
// Generate makes up a match. Simulators of data providers play what either
// returns.
package cricsheet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Match is a match in the Cricsheet JSON format, versions 1.0 and 1.1
// (cricsheet.org/format/json/).
type Match struct {
	Meta struct {
		DataVersion string `json:"data_version"`
	} `json:"meta"`
	Info    Info      `json:"info"`
	Innings []Innings `json:"innings"`
}

type Info struct {
	BallsPerOver int      `json:"balls_per_over"`
	City         string   `json:"city"`
	Dates        []string `json:"dates"`
	Event        struct {
		Name        string `json:"name"`
		MatchNumber Text   `json:"match_number"`
		Stage       Text   `json:"stage"`
		Group       Text   `json:"group"`
	} `json:"event"`
	Gender    string `json:"gender"`
	MatchType string `json:"match_type"`
	Officials struct {
		Umpires   []string `json:"umpires"`
		TVUmpires []string `json:"tv_umpires"`
		Referees  []string `json:"match_referees"`
	} `json:"officials"`
	Outcome       Outcome             `json:"outcome"`
	Overs         int                 `json:"overs"`
	PlayerOfMatch []string            `json:"player_of_match"`
	Players       map[string][]string `json:"players"`
	Registry      struct {
		People map[string]string `json:"people"`
	} `json:"registry"`
	Season   Text     `json:"season"`
	TeamType string   `json:"team_type"`
	Teams    []string `json:"teams"`
	Toss     struct {
		Winner   string `json:"winner"`
		Decision string `json:"decision"`
	} `json:"toss"`
	Venue string `json:"venue"`
}

type Outcome struct {
	Winner string `json:"winner"`
	By     struct {
		Runs    int `json:"runs"`
		Wickets int `json:"wickets"`
		Innings int `json:"innings"`
	} `json:"by"`
	Method     string `json:"method"`
	Result     string `json:"result"`
	Eliminator string `json:"eliminator"`
	BowlOut    string `json:"bowl_out"`
}

type Innings struct {
	Team       string `json:"team"`
	Overs      []Over `json:"overs"`
	Powerplays []struct {
		From float64 `json:"from"`
		To   float64 `json:"to"`
	} `json:"powerplays"`
	Target *struct {
		Overs float64 `json:"overs"`
		Runs  int     `json:"runs"`
	} `json:"target"`
	SuperOver   bool     `json:"super_over"`
	Declared    bool     `json:"declared"`
	Forfeited   bool     `json:"forfeited"`
	AbsentHurt  []string `json:"absent_hurt"`
	PenaltyRuns struct {
		Pre  int `json:"pre"`
		Post int `json:"post"`
	} `json:"penalty_runs"`
	Miscounted map[string]any `json:"miscounted_overs"`
}

type Over struct {
	Over       int        `json:"over"`
	Deliveries []Delivery `json:"deliveries"`
}

type Delivery struct {
	Batter     string `json:"batter"`
	Bowler     string `json:"bowler"`
	NonStriker string `json:"non_striker"`
	Runs       struct {
		Batter      int  `json:"batter"`
		Extras      int  `json:"extras"`
		Total       int  `json:"total"`
		NonBoundary bool `json:"non_boundary"`
	} `json:"runs"`
	Extras  Extras   `json:"extras"`
	Wickets []Wicket `json:"wickets"`
}

type Extras struct {
	Wides   int `json:"wides"`
	Noballs int `json:"noballs"`
	Byes    int `json:"byes"`
	Legbyes int `json:"legbyes"`
	Penalty int `json:"penalty"`
}

func (x Extras) sum() int { return x.Wides + x.Noballs + x.Byes + x.Legbyes + x.Penalty }

type Wicket struct {
	PlayerOut string    `json:"player_out"`
	Kind      string    `json:"kind"`
	Fielders  []Fielder `json:"fielders"`
}

type Fielder struct {
	Name       string `json:"name"`
	Substitute bool   `json:"substitute"`
}

// Text is a string that some files hold as a number: a season, a group.
type Text string

func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		if _, err := strconv.ParseFloat(string(b), 64); err == nil {
			*t = Text(b)
			return nil
		}
	}

	var s string

	err := json.Unmarshal(b, &s)
	*t = Text(s)

	return err
}

// Bounds that no real match reaches. A file that exceeds them is invalid.
const (
	maxDeliveries = 20_000
	maxInnings    = 40
	maxRuns       = 1_000 // of a ball, and of penalties
)

// Parse reads a match in the Cricsheet JSON format, versions 1.0 and 1.1, and checks
// it. The error describes in one sentence what is wrong with the file.
func Parse(data []byte) (*Match, error) {
	var f Match
	if err := json.Unmarshal(data, &f); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, fmt.Errorf("not a Cricsheet file: %s holds a JSON %s", cmp.Or(e.Field, "it"), e.Value)
		}

		if len(bytes.TrimSpace(data)) == 0 {
			return nil, errors.New("the file is empty")
		}

		return nil, fmt.Errorf("not a JSON file: %w", err)
	}

	if err := f.check(); err != nil {
		return nil, err
	}

	return &f, nil
}

func (f *Match) check() error {
	in := &f.Info
	switch {
	case len(in.Teams) == 0 || in.MatchType == "":
		return errors.New("not a Cricsheet file: it lacks info.teams or info.match_type")
	case len(in.Teams) != 2 || in.Teams[0] == "" || in.Teams[1] == "":
		return fmt.Errorf("info.teams must name two teams, not %d", len(in.Teams))
	case f.Meta.DataVersion != "" && !strings.HasPrefix(f.Meta.DataVersion, "1."):
		return fmt.Errorf("data version %q is not 1.0 or 1.1", f.Meta.DataVersion)
	case in.BallsPerOver < 0 || in.BallsPerOver > 9:
		return fmt.Errorf("%d balls an over cannot be", in.BallsPerOver)
	case in.Overs < 0 || in.Overs > maxRuns:
		return fmt.Errorf("%d overs a side cannot be", in.Overs)
	case len(f.Innings) > maxInnings:
		return fmt.Errorf("%d innings are more than a match can have", len(f.Innings))
	}

	o := in.Outcome
	if b := o.By; min(b.Runs, b.Wickets, b.Innings) < 0 {
		return errors.New("info.outcome.by is negative")
	}

	for _, name := range []string{o.Winner, o.Eliminator, o.BowlOut} {
		if name != "" && !slices.Contains(in.Teams, name) {
			return fmt.Errorf("the winner %q is not one of the teams", name)
		}
	}

	for _, day := range in.Dates {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("info.dates holds %q, which is not a date", day)
		}
	}

	deliveries := 0

	for i, inn := range f.Innings {
		if !slices.Contains(in.Teams, inn.Team) {
			return fmt.Errorf("innings %d is of %q, which is not one of the teams", i+1, inn.Team)
		}

		if p := inn.PenaltyRuns; min(p.Pre, p.Post) < 0 || max(p.Pre, p.Post) > maxRuns {
			return fmt.Errorf("innings %d has impossible penalty runs", i+1)
		}

		if t := inn.Target; t != nil && (t.Runs < 0 || !(t.Overs >= 0 && t.Overs <= maxRuns)) {
			return fmt.Errorf("innings %d has an impossible target", i+1)
		}

		for _, ov := range inn.Overs {
			if ov.Over < 0 || ov.Over > maxDeliveries {
				return fmt.Errorf("innings %d has an over %d", i+1, ov.Over)
			}

			deliveries += len(ov.Deliveries)
			for j := range ov.Deliveries {
				if fault := ov.Deliveries[j].problem(); fault != "" {
					return fmt.Errorf("innings %d, over %d, delivery %d %s", i+1, ov.Over, j+1, fault)
				}
			}
		}
	}

	if deliveries > maxDeliveries {
		return fmt.Errorf("%d deliveries are more than a match can have", deliveries)
	}

	return nil
}

func (d *Delivery) problem() string {
	x := d.Extras
	switch {
	case d.Batter == "" || d.Bowler == "" || d.NonStriker == "":
		return "lacks a batter, a bowler or a non-striker"
	case min(d.Runs.Batter, x.Wides, x.Noballs, x.Byes, x.Legbyes, x.Penalty) < 0:
		return "has negative runs"
	case max(d.Runs.Batter, x.Wides, x.Noballs, x.Byes, x.Legbyes, x.Penalty) > maxRuns:
		return "has more runs than a ball can bring"
	case d.Runs.Total != d.Runs.Batter+x.sum():
		return fmt.Sprintf("has a total of %d runs, but its parts sum to %d", d.Runs.Total, d.Runs.Batter+x.sum())
	}

	for _, w := range d.Wickets {
		if w.PlayerOut == "" || w.Kind == "" {
			return "has a wicket without a player or a kind"
		}
	}

	return ""
}

// Limited reports whether overs, not days, limit the match.
func (f *Match) Limited() bool {
	return f.Info.MatchType != "Test" && f.Info.MatchType != "MDM"
}
