package replay

import (
	"cmp"
	"slices"
)

// score is what a team has scored and conceded.
type score struct{ Scored, Conceded int }

// scores returns the score of each team.
func (m *match) scores() map[string]score {
	all := map[string]score{}
	for _, t := range teams {
		all[t] = score{}
	}

	for _, g := range m.goals {
		against := all[g.conceding]
		against.Conceded++

		all[g.conceding] = against
		if !g.own {
			by := all[g.scoring]
			by.Scored++
			all[g.scoring] = by
		}
	}

	return all
}

// best returns the teams that nobody beats: one has won, several have drawn. Of a walkover these are the teams
// that came.
func (m *match) best() (all []string) {
	s := m.scores()

	if len(m.absent) > 0 {
		return slices.DeleteFunc(slices.Clone(teams), func(t string) bool { return slices.Contains(m.absent, t) })
	}

	for _, t := range teams {
		beaten := slices.ContainsFunc(teams, func(o string) bool {
			return s[o].Conceded < s[t].Conceded || s[o].Conceded == s[t].Conceded && s[o].Scored > s[t].Scored
		})
		if !beaten {
			all = append(all, t)
		}
	}

	return all
}

// place is a line of the standings.
type place struct {
	TeamID                                              string
	Rank, Played, Wins, Draws, Losses, Scored, Conceded int
}

// standings returns the table of the finished games.
func (w *world) standings() (all []place) {
	for _, t := range teams {
		p := place{TeamID: t}

		for _, m := range w.games {
			if !m.finished {
				continue
			}

			s, best := m.scores()[t], m.best()
			p.Played++
			p.Scored += s.Scored
			p.Conceded += s.Conceded

			switch {
			case !slices.Contains(best, t):
				p.Losses++
			case len(best) == 1:
				p.Wins++
			default:
				p.Draws++
			}
		}

		if p.Played > 0 {
			all = append(all, p)
		}
	}

	better := func(a, b place) int {
		return cmp.Or(b.Wins-a.Wins, b.Draws-a.Draws, a.Conceded-b.Conceded, b.Scored-a.Scored)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(better(a, b), cmp.Compare(a.TeamID, b.TeamID)) })

	for i := range all {
		all[i].Rank = 1 + slices.IndexFunc(all, func(o place) bool { return better(o, all[i]) == 0 })
	}

	return all
}

// total is a line of the players' table.
type total struct {
	Nickname                        string
	Games, Goals, Assists, OwnGoals int
}

// totals returns what each player has done in the finished games.
func (w *world) totals() (all []total) {
	for _, p := range slices.SortedFunc(slices.Values(w.players), func(a, b *player) int { return cmp.Compare(a.id, b.id) }) {
		t := total{Nickname: p.nickname}

		for _, m := range w.games {
			if !m.finished {
				continue
			}

			is := func(other *player) bool { return other != nil && other.now() == p }

			for other := range m.roster {
				if is(other) {
					t.Games++
					break
				}
			}

			for _, g := range m.goals {
				switch {
				case is(g.scorer) && g.own:
					t.OwnGoals++
				case is(g.scorer):
					t.Goals++
				case slices.ContainsFunc(g.assists, is):
					t.Assists++
				}
			}
		}

		if t.Games > 0 {
			all = append(all, t)
		}
	}

	slices.SortStableFunc(all, func(a, b total) int {
		return cmp.Or(b.Goals-a.Goals, b.Assists-a.Assists, a.Games-b.Games)
	})

	return all
}
