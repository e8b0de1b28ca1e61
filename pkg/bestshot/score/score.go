// Package score computes what a guess earns, and the ranks of a leaderboard. It has no I/O.
package score

// Result is the score of a match, or a guess of it. Extra time counts, and penalties do not.
type Result struct{ Home, Away int }

// outcome is 1 for a home win, -1 for an away win, 0 for a draw.
func (r Result) outcome() int {
	switch {
	case r.Home > r.Away:
		return 1
	case r.Home < r.Away:
		return -1
	}

	return 0
}

// Label returns the outcome: HOME_WIN, AWAY_WIN or DRAW.
func (r Result) Label() string { return [...]string{"AWAY_WIN", "DRAW", "HOME_WIN"}[r.outcome()+1] }

// Rule has the points for each part of a guess. A guess earns the sum of the parts that are right.
type Rule struct {
	_ struct{} `schema:"PointsRule"`

	Outcome        int `db:"outcome" json:"outcome" minimum:"0" maximum:"100" doc:"For who wins, or a draw."`
	HomeScore      int `db:"home_score" json:"homeScore" minimum:"0" maximum:"100" doc:"For the goals of the home team."`
	AwayScore      int `db:"away_score" json:"awayScore" minimum:"0" maximum:"100" doc:"For the goals of the away team."`
	GoalDifference int `db:"goal_difference" json:"goalDifference" minimum:"0" maximum:"100" doc:"For the difference of a win, or the exact score of a draw."`
	ExactScore     int `db:"exact_score" json:"exactScore" minimum:"0" maximum:"100" doc:"For both scores."`

	Name      string `db:"-" json:"name,omitempty" doc:"The name of the rule, such as kicktipp; absent if its parts have none."`
	TieBreaks bool   `db:"tie_breaks" json:"tieBreaks,omitempty" doc:"Whether of members with equal points the one with more exact scores is first, then the one with more right outcomes."`

	JokerFactor int `db:"joker_factor" json:"jokerFactor,omitempty" minimum:"0" maximum:"5" doc:"What the points of the match with a member's joker count times, from 2; 0 for a tournament without jokers. A member has one joker a round." example:"2"`
}

// Standard is the rule of a tournament that is created without one: 3 points for the outcome.
var Standard = Rule{Outcome: 3}

// Points are the points that a guess has earned, by part.
type Points struct{ Outcome, Home, Away, Difference, Exact int }

// Total is the sum of the parts.
func (p Points) Total() int { return p.Outcome + p.Home + p.Away + p.Difference + p.Exact }

// Of returns what a guess earns for a result, times the multiplier of the round. The SQL function
// guess_points computes the same total.
func (r Rule) Of(guess, result Result, multiplier int) Points {
	var p Points

	if guess.outcome() == result.outcome() {
		p.Outcome = multiplier * r.Outcome
	}

	if guess.Home == result.Home {
		p.Home = multiplier * r.HomeScore
	}

	if guess.Away == result.Away {
		p.Away = multiplier * r.AwayScore
	}

	sameDifference := guess.Home-guess.Away == result.Home-result.Away
	if sameDifference && (result.outcome() != 0 || guess == result) { // every draw has the difference 0
		p.Difference = multiplier * r.GoalDifference
	}

	if guess == result {
		p.Exact = multiplier * r.ExactScore
	}

	return p
}

// Total is what a member has in a leaderboard: points, and what breaks ties between equal points.
type Total struct{ Points, Tie int }

// Factor returns what the points of a guess are multiplied by: the multiplier of the round, and the factor
// of the joker if the match has the member's.
func (r Rule) Factor(multiplier int, joker bool) int {
	if joker && r.JokerFactor > 0 {
		return multiplier * r.JokerFactor
	}

	return multiplier
}

// Ranks returns the dense ranks of totals in descending order, such as 1, 1, 2. first is the rank of
// totals[0].
func Ranks(first int, totals []Total) []int {
	ranks := make([]int, len(totals))
	for i := range totals {
		ranks[i] = first
		if i > 0 {
			ranks[i] = ranks[i-1]
			if totals[i] != totals[i-1] {
				ranks[i]++
			}
		}
	}

	return ranks
}
