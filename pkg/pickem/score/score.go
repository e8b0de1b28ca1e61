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
	Weight  int          `json:"weight,omitempty" doc:"The weight of the pick, if the event has confidence points."`
	Joker   bool         `json:"joker,omitempty" doc:"The pick counts double."`
}

// Of returns the points of a prediction: those of each match whose winner it names,
// none for void matches, and the event's bonus if every match that is not void was
// picked right. By confidence points a pick brings its weight instead. The pick with the joker
// brings twice as much.
func Of(e item.Event, card []item.Match, p item.Prediction) Sheet {
	return sheetOf(e, card, playOf(e.Rules, card, p))
}

// play is what counts of a prediction: its valid picks, their weights, and the match with the joker.
type play struct {
	picks   map[string]int // places of teams, by match id
	weights map[string]int // nil unless the event has confidence points
	joker   string
}

// playOf returns what counts of a prediction by the rules of its event.
func playOf(r item.Rules, card []item.Match, p item.Prediction) play {
	out := play{picks: p.Picks(card)}
	if r.Confidence {
		out.weights = weightsOf(card, out.picks, p.Weights)
	}

	if r.Joker {
		out.joker = p.Joker
	}

	return out
}

// weightsOf returns the weights of picks by match id, each from 1 to the number of matches, and each
// once. A pick keeps the weight that the member gave it. The others, and those whose weight is too
// large for the card as it is now, get the smallest that are free, in the order of the card.
func weightsOf(card []item.Match, picks, given map[string]int) map[string]int {
	weights, used := make(map[string]int, len(picks)), map[int]bool{}

	for _, m := range card {
		if w := given[m.ID]; w >= 1 && w <= len(card) && !used[w] {
			if _, picked := picks[m.ID]; picked {
				weights[m.ID], used[w] = w, true
			}
		}
	}

	free := 1

	for _, m := range card {
		if _, picked := picks[m.ID]; !picked || weights[m.ID] > 0 {
			continue
		}

		for used[free] {
			free++
		}

		weights[m.ID], used[free] = free, true
	}

	return weights
}

// survived returns what became of the survivor pick of a prediction: "" if it has none that counts,
// or if its match is void.
func survived(e item.Event, card []item.Match, p item.Prediction) string {
	if !e.Survivor || p.Survivor == "" {
		return ""
	}

	team, picked := p.Picks(card)[p.Survivor]
	for _, m := range card {
		if !picked || m.ID != p.Survivor || m.Result == nil || *m.Result == item.Void {
			continue
		}

		if *m.Result == team {
			return item.SurvivorRight
		}

		return item.SurvivorWrong
	}

	return ""
}

func sheetOf(e item.Event, card []item.Match, of play) Sheet {
	out := Sheet{Picks: make([]Pick, len(card))}
	counted := 0

	for i, m := range card {
		pick := Pick{MatchID: m.ID, Result: (*item.Result)(m.Result)}

		team, picked := of.picks[m.ID]
		if picked {
			pick.Pick, pick.Weight, pick.Joker = &team, of.weights[m.ID], of.joker == m.ID
		}

		if m.Result != nil && *m.Result != item.Void {
			counted++

			if picked && team == *m.Result {
				pick.Correct, pick.Points = true, m.Points
				if of.weights != nil {
					pick.Points = pick.Weight
				}

				if pick.Joker {
					pick.Points *= 2
				}

				out.Correct++
				out.Points += pick.Points
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

		if p.Survived == item.SurvivorWrong && (t.SurvivorOut == "" || p.EventID < t.SurvivorOut) {
			t.SurvivorOut = p.EventID
		}
	}

	for _, p := range predictions {
		if p.ScoredAt != "" && strings.HasPrefix(p.EventID, year) && p.Survived == item.SurvivorRight &&
			(t.SurvivorOut == "" || p.EventID < t.SurvivorOut) {
			t.SurvivorRight++
		}
	}

	return t
}
