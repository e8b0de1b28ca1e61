package season

import (
	"slices"
	"time"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
)

var errPoints = problem.New(problem.Unprocessable, "bad_points",
	"a win must not have fewer points than a draw, and a draw not fewer than a loss").In("body.rules.points")

// RuleFields are the rules of a season that a user sends.
type RuleFields struct {
	_ struct{} `schema:"SeasonRuleFields"`

	Points *item.Points `json:"points,omitempty" doc:"The points of a game: by default 3, 1 and 0."`
	Order  []string     `json:"order,omitempty" minItems:"1" maxItems:"8" uniqueItems:"true" enum:"points,wins,draws,conceded,scored,goalDifference,headToHead,name" doc:"What decides the order of the teams, one after the other: by default wins, draws, conceded, scored." example:"[\"points\",\"goalDifference\",\"scored\"]"`
}

// Rules are the rules of the tables of a season.
type Rules struct {
	_ struct{} `schema:"SeasonRules"`

	Points  item.Points  `json:"points" doc:"The points of a game. They count if the order has them."`
	Order   []string     `json:"order" doc:"What decides the order of the teams, one after the other."`
	Changes []RuleChange `json:"changes,omitempty" doc:"The latest 20 changes, the newest first."`
}

// RuleChange is a change of the rules of a season.
type RuleChange struct {
	_ struct{} `schema:"SeasonRuleChange"`

	At     time.Time   `json:"at" doc:"When it was made."`
	By     string      `json:"byUserId" doc:"Who has made it."`
	Points item.Points `json:"points" doc:"The points from then on."`
	Order  []string    `json:"order" doc:"The order from then on."`
}

func shownRules(s item.Season) Rules {
	rules := s.TableRules()

	points, order := rules.Values()
	out := Rules{Points: points, Order: slices.Clone(order)}

	for _, c := range rules.Changes {
		out.Changes = append(out.Changes, RuleChange{At: item.Parse(c.At), By: c.By, Points: c.Points, Order: c.Order})
	}

	return out
}

// apply sets the rules of a season, or returns an error if they are not valid. f may be nil. s.Rules is another
// pointer if they have changed.
func (f *RuleFields) apply(s *item.Season, by string, now time.Time) error {
	if f == nil {
		return nil
	}

	if p := f.Points; p != nil && (p.Win < p.Draw || p.Draw < p.Loss) {
		return errPoints
	}

	if rules, changed := s.TableRules().Changed(f.Points, f.Order, by, now); changed {
		s.Rules = &rules
	}

	return nil
}

// or returns the fields, with the rules of a season for those that are left out.
func (f *RuleFields) or(s item.Season) *RuleFields {
	points, order := s.TableRules().Values()
	all := RuleFields{Points: &points, Order: order}

	if f != nil && f.Points != nil {
		all.Points = f.Points
	}

	if f != nil && len(f.Order) > 0 {
		all.Order = f.Order
	}

	return &all
}
