package pickem

import (
	"cmp"
	"slices"
	"strings"
)

// Sheet says what a prediction brought, match by match.
type Sheet struct {
	Points  int    `json:"points" doc:"The sum of the matches' and the bonus."`
	Correct int    `json:"correct" doc:"How many matches were picked right."`
	Bonus   int    `json:"bonus,omitempty" doc:"For having every match right."`
	Picks   []Pick `json:"picks" doc:"In the order of the card."`
}

// Pick is what one match brought.
type Pick struct {
	MatchID string  `json:"matchId"`
	Pick    *int    `json:"pick,omitempty" doc:"The place of the team that was picked; absent for none that counts."`
	Result  *Result `json:"result,omitempty"`
	Correct bool    `json:"correct"`
	Points  int     `json:"points"`
}

// score works out what a prediction brings: the points of each match whose winner
// it names, nothing for those that are void, and the event's bonus if every match
// of the card that is not void was picked right.
func score(e event, card []match, p prediction) Sheet {
	picks := p.picks(card)
	out := Sheet{Picks: make([]Pick, len(card))}
	counted := 0
	for i, m := range card {
		pick := Pick{MatchID: m.ID, Result: (*Result)(m.Result)}
		team, picked := picks[m.ID]
		if picked {
			pick.Pick = &team
		}
		if m.Result != nil && *m.Result != void {
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

// tally is what a member's predictions of a year add up to.
type tally struct {
	Points     int    `dynamodbav:"points"`
	Correct    int    `dynamodbav:"mcorrect"`
	Played     int    `dynamodbav:"eplayed"`
	LastEvent  string `dynamodbav:"lastEvent"`  // of those that were played
	LastPoints int    `dynamodbav:"lastPoints"` // what it brought
}

// sum adds up the scored predictions of a year.
func sum(year string, predictions []prediction) (t tally) {
	for _, p := range predictions {
		if p.ScoredAt == "" || !strings.HasPrefix(p.EventID, year) {
			continue
		}
		t.Points += p.Points
		t.Correct += p.Correct
		t.Played++
		if p.EventID >= t.LastEvent {
			t.LastEvent, t.LastPoints = p.EventID, p.Points
		}
	}
	return t
}

// rank gives everything its dense rank, from 1: those with as many points have the
// same, and the next the one after it. It sorts by points, the highest first, then
// by name, whatever its case, and id.
func rank[T any](all []T, points func(T) int, name, id func(T) string) (ranks []int) {
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(points(b), points(a)), cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b))), cmp.Compare(id(a), id(b)))
	})
	ranks = make([]int, len(all))
	for i := range all {
		switch {
		case i == 0:
			ranks[i] = 1
		case points(all[i]) == points(all[i-1]):
			ranks[i] = ranks[i-1]
		default:
			ranks[i] = ranks[i-1] + 1
		}
	}
	return ranks
}

// rankEntries are the scores of an event, the highest first. Points and order are
// those that were worked out; while results are being changed they may be of the
// results before.
func rankEntries(e event, card []match, predictions []prediction) []Entry {
	ranks := rank(predictions, func(p prediction) int { return p.Points }, func(p prediction) string { return p.Name }, prediction.userID)
	entries := make([]Entry, len(predictions))
	for i, p := range predictions {
		entries[i] = Entry{Rank: ranks[i], UserID: p.userID(), Name: p.Name, Sheet: score(e, card, p)}
		entries[i].Points, entries[i].Correct = p.Points, p.Correct
	}
	return entries
}

// rankStandings are the standings of a year, the highest first, each with how many
// ranks it has gone up since the last event that anybody played.
func rankStandings(rows []standing) []Standing {
	last := ""
	for _, r := range rows {
		last = max(last, r.LastEvent)
	}
	before := func(r standing) int {
		if r.LastEvent == last {
			return r.Points - r.LastPoints
		}
		return r.Points
	}
	name := func(r standing) string { return r.Name }
	var old []standing
	for _, r := range rows {
		if r.Played > 1 || r.LastEvent != last {
			old = append(old, r)
		}
	}
	was := map[string]int{}
	ranks := rank(old, before, name, standing.userID)
	for i, r := range old {
		was[r.userID()] = ranks[i]
	}
	ranks = rank(rows, func(r standing) int { return r.Points }, name, standing.userID)
	out := make([]Standing, len(rows))
	for i, r := range rows {
		out[i] = Standing{Rank: ranks[i], UserID: r.userID(), Name: r.Name, Points: r.Points, Correct: r.Correct, Played: r.Played}
		if rank, ok := was[r.userID()]; ok {
			up := rank - ranks[i]
			out[i].Movement = &up
		}
	}
	return out
}
