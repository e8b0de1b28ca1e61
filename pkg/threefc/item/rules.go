package item

import (
	"slices"
	"time"
)

// What the order of a table may consider, each the better first. The zero value of Rules has the order of DefaultOrder.
const (
	ByPoints     = "points"
	ByWins       = "wins"
	ByDraws      = "draws"
	ByConceded   = "conceded" // fewer
	ByScored     = "scored"
	ByDifference = "goalDifference"
	ByHeadToHead = "headToHead"
	ByName       = "name"
)

// DefaultOrder is the order of the tables of seasons that have chosen none.
var DefaultOrder = []string{ByWins, ByDraws, ByConceded, ByScored}

// DefaultPoints are the points of seasons that have chosen none.
var DefaultPoints = Points{Win: 3, Draw: 1}

// MaxRuleChanges is how many changes of its rules a season keeps: the latest.
const MaxRuleChanges = 20

// Points are what a team gets for a game.
type Points struct {
	_ struct{} `schema:"SeasonPoints"`

	Win  int `json:"win" minimum:"0" maximum:"10" doc:"For a game won." example:"3"`
	Draw int `json:"draw" minimum:"0" maximum:"10" doc:"For a draw between two or three teams." example:"1"`
	Loss int `json:"loss" minimum:"0" maximum:"10" doc:"For a game lost, also by a team that was missing." example:"0"`
}

// Rules are those of the tables of a season. The zero value is valid: it has the defaults.
type Rules struct {
	Points  *Points      `json:"points,omitempty"`
	Order   []string     `json:"order,omitempty"`
	Changes []RuleChange `json:"changes,omitempty"` // the latest first
}

// RuleChange is a change of the rules of a season.
type RuleChange struct {
	At     string   `json:"at"`
	By     string   `json:"byUserId"`
	Points Points   `json:"points"` // from then on
	Order  []string `json:"order"`
}

// Values returns the points and the order, with the defaults for what was not chosen.
func (r Rules) Values() (Points, []string) {
	points, order := DefaultPoints, DefaultOrder
	if r.Points != nil {
		points = *r.Points
	}

	if len(r.Order) > 0 {
		order = r.Order
	}

	return points, order
}

// Changed returns the rules with the points and the order that are not nil, and an entry of who has made
// the change. It returns the rules as they are if these are what they have.
func (r Rules) Changed(points *Points, order []string, by string, now time.Time) (_ Rules, changed bool) {
	p, o := r.Values()
	if points != nil {
		p = *points
	}

	if len(order) > 0 {
		o = order
	}

	if wasPoints, wasOrder := r.Values(); p == wasPoints && slices.Equal(o, wasOrder) {
		return r, false
	}

	changes := append([]RuleChange{{At: Format(now), By: by, Points: p, Order: o}}, r.Changes...)

	return Rules{Points: &p, Order: o, Changes: changes[:min(len(changes), MaxRuleChanges)]}, true
}

// TableRules returns the rules of the tables of a season.
func (s Season) TableRules() Rules {
	if s.Rules == nil {
		return Rules{}
	}

	return *s.Rules
}
