package score

import (
	"strings"

	"matchday/pkg/pickem/item"
)

// Entry is a member's points of an event.
type Entry struct {
	_ struct{} `schema:"EventStanding"`

	Rank   int    `json:"rank,omitempty" doc:"From 1, by points, then by correct picks. Members with equal figures have the same rank; the next lower figures have the next rank. Absent until the event is scored."`
	UserID string `json:"userId" doc:"The id of the member."`
	Name   string `json:"name" doc:"The display name of the member."`
	Sheet
}

// Sheet is the points of a prediction, match by match.
type Sheet struct {
	_ struct{} `schema:"ScoredPicks"`

	Points  int    `json:"points" doc:"The points of all matches and the bonus."`
	Correct int    `json:"correct" doc:"The number of matches with a correct pick."`
	Bonus   int    `json:"bonus,omitempty" doc:"The bonus. Absent unless every match that is not void was picked correctly."`
	Picks   []Pick `json:"picks" doc:"In the order of the card."`
}

// Pick is a member's pick of one match, with its points.
type Pick struct {
	MatchID string       `json:"matchId" doc:"The id of the match."`
	Pick    *int         `json:"pick,omitempty" doc:"The index of the picked team, from 0. Absent without a valid pick."`
	Result  *item.Result `json:"result,omitempty" doc:"The result of the match, as in the card."`
	Correct bool         `json:"correct" doc:"Whether the pick is right."`
	Points  int          `json:"points" doc:"The points that the pick brings."`
}

// Of returns the points of a prediction: those of each match whose winner it names,
// none for void matches, and the event's bonus if every match that is not void was
// picked right.
func Of(e item.Event, card []item.Match, p item.Prediction) Sheet {
	return sheetOf(e, card, p.Picks(card))
}

func sheetOf(e item.Event, card []item.Match, picks map[string]int) Sheet {
	out := Sheet{Picks: make([]Pick, len(card))}
	counted := 0

	for i, m := range card {
		pick := Pick{MatchID: m.ID, Result: (*item.Result)(m.Result)}

		team, picked := picks[m.ID]
		if picked {
			pick.Pick = &team
		}

		if m.Result != nil && *m.Result != item.Void {
			counted++

			if picked && team == *m.Result {
				pick.Correct, pick.Points = true, m.Points
				out.Correct++
				out.Points += m.Points
			}
		}

		out.Picks[i] = pick
	}

	if counted > 0 && out.Correct == counted {
		out.Bonus = e.Bonus
		out.Points += e.Bonus
	}

	return out
}

// sum returns the sum of the scored predictions of a year.
func sum(year string, predictions []item.Prediction) (t item.Tally) {
	for _, p := range predictions {
		if p.ScoredAt == "" || !strings.HasPrefix(p.EventID, year) {
			continue
		}

		t.Points += p.Points
		t.Correct += p.Correct

		t.Played++
		if p.EventID >= t.LastEvent {
			t.LastEvent, t.LastPoints, t.LastCorrect = p.EventID, p.Points, p.Correct
		}
	}

	return t
}
