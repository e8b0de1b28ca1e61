package ingest

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/bestshot/score"
	"matchday/pkg/kit/problem"
)

// ruleName is the name of a rule in a request.
type ruleName string

// Schema describes the values of a ruleName.
func (ruleName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, n := range score.Names() {
		s.Enum = append(s.Enum, n)
	}

	return s
}

// ChosenRule is a rule in a request: either its name, or all its parts.
type ChosenRule struct {
	_ struct{} `schema:"ChosenRule"`

	Name           *ruleName `json:"name,omitempty" doc:"The name of a rule. Then no part may be given. outcome: 3 points for who wins, or a draw. kicktipp: 4 points for the exact score, 3 for the difference of a win, 2 for the outcome."`
	Outcome        *int      `json:"outcome,omitempty" minimum:"0" maximum:"100" doc:"For who wins, or a draw. Without a name all five parts are required."`
	HomeScore      *int      `json:"homeScore,omitempty" minimum:"0" maximum:"100" doc:"For the goals of the home team."`
	AwayScore      *int      `json:"awayScore,omitempty" minimum:"0" maximum:"100" doc:"For the goals of the away team."`
	GoalDifference *int      `json:"goalDifference,omitempty" minimum:"0" maximum:"100" doc:"For the difference of a win, or the exact score of a draw."`
	ExactScore     *int      `json:"exactScore,omitempty" minimum:"0" maximum:"100" doc:"For both scores."`
	TieBreaks      bool      `json:"tieBreaks,omitempty" doc:"Whether of members with equal points the one with more exact scores is first, then the one with more right outcomes."`
	JokerFactor    int       `json:"jokerFactor,omitempty" minimum:"0" maximum:"5" doc:"What the points of the match with a member's joker count times, from 2; 0 for a tournament without jokers. A member has one joker a round." example:"2"`
}

// rule returns the rule that was chosen. The problem names the field that is missing, or too much.
func (c ChosenRule) rule() (r score.Rule, err error) {
	if c.Name != nil {
		r, _ = score.Named(string(*c.Name)) // the schema has checked it
	}

	r.TieBreaks, r.JokerFactor = c.TieBreaks, c.JokerFactor

	if r.JokerFactor == 1 {
		return r, problem.In("body.rule.jokerFactor", "expected 2 to 5, or 0 for no jokers")
	}

	for _, p := range []struct {
		field string
		given *int
		part  *int
	}{
		{"outcome", c.Outcome, &r.Outcome},
		{"homeScore", c.HomeScore, &r.HomeScore},
		{"awayScore", c.AwayScore, &r.AwayScore},
		{"goalDifference", c.GoalDifference, &r.GoalDifference},
		{"exactScore", c.ExactScore, &r.ExactScore},
	} {
		switch {
		case c.Name != nil && p.given != nil:
			return r, problem.In("body.rule."+p.field, "expected no part beside the name")
		case c.Name == nil && p.given == nil:
			return r, problem.In("body.rule."+p.field, "expected all five parts, or a name: %s", strings.Join(score.Names(), ", "))
		case p.given != nil:
			*p.part = *p.given
		}
	}

	return r, nil
}
