package score

import (
	"cmp"
	"slices"

	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
)

// rank sorts by better, which is negative if a is before b, and returns the dense ranks,
// from 1: equals have the same rank, and the next have the next rank.
func rank[T any](all []T, better func(a, b T) int) (ranks []int) {
	slices.SortFunc(all, better)

	ranks = make([]int, len(all))
	for i := range all {
		switch {
		case i == 0:
			ranks[i] = 1
		case better(all[i-1], all[i]) == 0:
			ranks[i] = ranks[i-1]
		default:
			ranks[i] = ranks[i-1] + 1
		}
	}

	return ranks
}

// RankStandings ranks the standings of a year for those who have a name: more points, then
// more correct picks, then fewer events played are better. Movement is the change of rank
// by the latest event that any of them has points of.
func RankStandings(all []item.Standing, names map[string]string) []ranking.Row {
	all = slices.DeleteFunc(slices.Clone(all), func(s item.Standing) bool { _, ok := names[s.UserID()]; return !ok })

	last := ""
	for _, s := range all {
		last = max(last, s.LastEvent)
	}

	better := func(a, b item.Standing) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Correct, a.Correct), cmp.Compare(a.Played, b.Played))
	}

	var before []item.Standing

	for _, s := range all {
		if s.LastEvent == last {
			s.Points, s.Correct, s.Played = s.Points-s.LastPoints, s.Correct-s.LastCorrect, s.Played-1
		}

		if s.Played > 0 {
			before = append(before, s)
		}
	}

	was := map[string]int{}

	ranks := rank(before, better)
	for i, s := range before {
		was[s.UserID()] = ranks[i]
	}

	ranks = rank(all, better)

	rows := make([]ranking.Row, len(all))
	for i, s := range all {
		rows[i] = ranking.Row{
			UserID:  s.UserID(),
			Name:    names[s.UserID()],
			Rank:    ranks[i],
			Points:  s.Points,
			Correct: s.Correct,
			Played:  s.Played,
		}
		if rank, ok := was[s.UserID()]; ok {
			up := rank - ranks[i]
			rows[i].Movement = &up
		}
	}

	slices.SortFunc(rows, ranking.Row.Compare)

	return rows
}

// RankEntries ranks the predictions of an event for those who have a name: more points, then more
// correct picks are better. Points are those that ScoreEvent wrote; after a change of results they
// are the old ones until the event is scored again. Predictions without points are ranked only if
// the lock reveals the picks.
func RankEntries(e item.Event, card []item.Match, all []item.Prediction, names map[string]string) []ranking.Row {
	all = slices.DeleteFunc(slices.Clone(all), func(p item.Prediction) bool {
		_, ok := names[p.UserID()]
		return !ok || p.ScoredAt == "" && !e.RevealAtLock
	})
	better := func(a, b item.Prediction) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Correct, a.Correct))
	}
	ranks := rank(all, better)

	rows := make([]ranking.Row, len(all))
	for i, p := range all {
		rows[i] = ranking.Row{
			UserID:  p.UserID(),
			Name:    names[p.UserID()],
			Rank:    ranks[i],
			Points:  p.Points,
			Correct: p.Correct,
		}
		fillPicks(&rows[i], e.Rules, card, p)
	}

	slices.SortFunc(rows, ranking.Row.Compare)

	return rows
}

// fillPicks sets what a row shows of a prediction, in the order of the card.
func fillPicks(row *ranking.Row, r item.Rules, card []item.Match, p item.Prediction) {
	of := playOf(r, card, p)
	row.Picks = make([]int, len(card))

	if of.weights != nil {
		row.Weights = make([]int, len(card))
	}

	for n, m := range card {
		row.Picks[n] = -1

		team, ok := of.picks[m.ID]
		if !ok {
			continue
		}

		row.Picks[n] = team
		if of.weights != nil {
			row.Weights[n] = of.weights[m.ID]
		}

		if of.joker == m.ID {
			row.Joker = n + 1
		}
	}
}

// CardIDs returns the ids of the matches of a card, in order.
func CardIDs(card []item.Match) []string {
	ids := make([]string, len(card))
	for i, m := range card {
		ids[i] = m.ID
	}

	return ids
}

// NewEntry returns the entry of a row whose picks are in the order of ids. Until the event is
// scored it has no rank, and the points of the results so far.
func NewEntry(e item.Event, card []item.Match, ids []string, r ranking.Row) Entry {
	picks := map[string]int{}

	for i, team := range r.Picks {
		if team >= 0 && i < len(ids) {
			picks[ids[i]] = team
		}
	}

	of := play{picks: picks}
	if e.Confidence {
		of.weights = map[string]int{}
	}

	for i, w := range r.Weights {
		if i < len(ids) && w > 0 && e.Confidence {
			of.weights[ids[i]] = w
		}
	}

	if e.Joker && r.Joker > 0 && r.Joker <= len(ids) {
		of.joker = ids[r.Joker-1]
	}

	if e.State != item.Scored {
		e.Bonus = 0
		return Entry{UserID: r.UserID, Name: r.Name, Sheet: sheetOf(e, card, of)}
	}

	out := Entry{Rank: r.Rank, UserID: r.UserID, Name: r.Name, Sheet: sheetOf(e, card, of)}
	out.Points, out.Correct = r.Points, r.Correct

	return out
}
