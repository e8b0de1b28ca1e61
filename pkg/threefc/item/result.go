package item

import (
	"cmp"
	"slices"
)

// Count is goals for and against a team.
type Count struct {
	_ struct{} `schema:"GoalCount"`

	Scored   int `json:"scored" doc:"The goals of the team, without own goals."`
	Conceded int `json:"conceded" doc:"The goals against the team, with own goals."`
}

// Score is what a team has scored and conceded in a game.
type Score struct {
	_ struct{} `schema:"TeamScore"`

	TeamID string `json:"teamId" doc:"The id of the team."`
	Count
	Thirds [Thirds]Count `json:"thirds" doc:"The same by third."`
	Own    int           `json:"ownGoals,omitempty" doc:"The own goals among those conceded."`
}

// Result is the outcome of a finished game.
type Result struct {
	_ struct{} `schema:"GameResult"`

	Winner string   `json:"winnerTeamId,omitempty" doc:"The team that has won. Absent for a draw."`
	Drawn  []string `json:"drawnTeamIds,omitempty" doc:"The teams between which it is a draw: two or three. The third of three has lost."`
}

// Scores returns the score of each team, in the order of teams. A goal counts for the team
// that scores and against the one that concedes; an own goal counts for nobody.
func Scores(teams []Team, goals []Goal) []Score {
	scores := make([]Score, len(teams))
	for i, t := range teams {
		s := &scores[i]

		s.TeamID = t.TeamID
		for _, g := range goals {
			third := &s.Thirds[g.Third-1]
			if g.Scoring == t.TeamID {
				s.Scored++
				third.Scored++
			}

			if g.Conceding == t.TeamID {
				s.Conceded++
				third.Conceded++
			}

			if g.OwnGoal && g.Conceding == t.TeamID {
				s.Own++
			}
		}
	}

	return scores
}

// Tallies returns what each player of a game has done, by the players' ids.
func Tallies(seats []Seat, goals []Goal) map[string]Tally {
	all := map[string]Tally{}
	for _, s := range seats {
		all[s.PlayerID] = Tally{TeamID: s.TeamID, Games: 1}
	}

	for _, g := range goals {
		if g.Scorer != "" {
			t := all[g.Scorer]
			if g.OwnGoal {
				t.OwnGoals++
			} else {
				t.Goals++
			}

			all[g.Scorer] = t
		}

		for _, id := range g.Assists {
			t := all[id]
			t.Assists++
			all[id] = t
		}
	}

	return all
}

// ResultOf returns the result of a game: the team that has conceded fewest wins; of several
// the one that has scored most; of several again it is a draw between these.
func ResultOf(scores []Score) Result {
	best := slices.MinFunc(scores, order)

	var first []string

	for _, s := range scores {
		if order(s, best) == 0 {
			first = append(first, s.TeamID)
		}
	}

	if len(first) == 1 {
		return Result{Winner: first[0]}
	}

	return Result{Drawn: first}
}

// order compares two teams of a game: the better is less.
func order(a, b Score) int {
	return cmp.Or(cmp.Compare(a.Conceded, b.Conceded), cmp.Compare(b.Scored, a.Scored))
}
