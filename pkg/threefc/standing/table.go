// Package standing computes the tables of seasons: the standings of the teams, and the totals of
// the players.
//
// They are computed as a whole from the finished games whenever one of these changes, or the rules of the
// season; nothing is added up incrementally. Only changed rows are written.
//
// # The order of the teams
//
// A season chooses the points of a game, and the order. What comes first in the order decides; of teams that
// are equal by it the next decides, and so on. Teams that are equal by all share a place.
//
//	points          more points: by default 3 for a win, 1 for a draw, 0 for a loss. The table has points if the order has
//	wins            more games won
//	draws           more games drawn
//	conceded        fewer goals against the team
//	scored          more goals, without own goals
//	goalDifference  more goals scored less conceded
//	headToHead      among the equal teams: in more games with another of them better than it, less those in which worse
//	name            by the alphabet
//
// By default the order is wins, draws, conceded, scored. Three teams are in each game of a season that has three,
// so head to head compares how two of them ended in a game, whoever else has won: first the result, then fewer
// conceded, then more scored.
//
// # Which games count
//
//	the game                    teams                                         players
//	finished                    result and goals                              games, goals, assists, own goals
//	a team is missing           result of the two others; it has lost         those of the two others
//	walkover, one team there    it has won, the others have lost; no goals    nothing
//	walkover, two teams there   a draw between them, the third has lost       nothing
//	abandoned, result stands    as finished, with the goals so far            as finished
//	abandoned, without result   nothing                                       nothing
//	postponed, scheduled, live  nothing                                       nothing
//
// A loss of a team that was missing counts like any other loss. It has no goals, so that it has conceded none:
// wins and points come before goals in every order but one that a season chooses.
package standing

import (
	"cmp"
	"math"
	"slices"

	"matchday/pkg/threefc/item"
)

// TeamStanding is the place of a team in the standings of a season.
type TeamStanding struct {
	TeamID   string `json:"teamId" doc:"The id of the team."`
	Name     string `json:"name" doc:"The name of the team, in its latest game."`
	Color    string `json:"color" doc:"The color of the shirts, #rrggbb."`
	Rank     int    `json:"rank" doc:"The place, from 1. Teams with equal numbers share it."`
	Played   int    `json:"played" doc:"The finished games."`
	Wins     int    `json:"wins" doc:"Games won."`
	Draws    int    `json:"draws" doc:"Games drawn: of three teams two or three draw."`
	Losses   int    `json:"losses" doc:"Games lost."`
	Scored   int    `json:"scored" doc:"Goals, without own goals."`
	Conceded int    `json:"conceded" doc:"Goals against the team."`
	Points   *int   `json:"points,omitempty" doc:"The points, if the order of the season has them."`
	OwnGoals int    `json:"ownGoals,omitempty" doc:"The own goals among those conceded."`

	// PerGame is not in the table: it is computed where the standings are shown.
	PerGame float64 `json:"goalsPerGame,omitempty" doc:"Goals for each game played, with two decimals."`
}

// Teams returns the standings of games by the rules of their season: see the package. Games that are not
// finished do not count.
func Teams(games []item.Listing, rules item.Rules) []TeamStanding {
	var all []TeamStanding

	points, by := rules.Values()
	games = slices.DeleteFunc(finished(games), func(g item.Listing) bool { return g.Result == nil })
	for _, g := range games {
		for i, t := range g.Teams {
			at := slices.IndexFunc(all, func(s TeamStanding) bool { return s.TeamID == t.TeamID })
			if at < 0 {
				at = len(all)
				all = append(all, TeamStanding{TeamID: t.TeamID})
			}

			s := &all[at]
			s.Name, s.Color = t.Name, t.Color
			s.Played++
			s.Scored += g.Scores[i].Scored

			s.Conceded += g.Scores[i].Conceded
			s.OwnGoals += ownGoals(g, i)

			switch {
			case g.Result.Winner == t.TeamID:
				s.Wins++
			case slices.Contains(g.Result.Drawn, t.TeamID):
				s.Draws++
			default:
				s.Losses++
			}
		}
	}

	if slices.Contains(by, item.ByPoints) {
		for i, s := range all {
			all[i].Points = new(s.Wins*points.Win + s.Draws*points.Draw + s.Losses*points.Loss)
		}
	}

	return ranked(all, games, by)
}

// ownGoals returns the own goals of a team of a game. Earlier releases have not counted them with the score: in their
// games each has a scorer.
func ownGoals(g item.Listing, team int) (n int) {
	for _, t := range g.Players {
		if t.TeamID == g.Teams[team].TeamID {
			n += t.OwnGoals
		}
	}

	return max(n, g.Scores[team].Own)
}

// finished returns the finished games, in order of their start.
func finished(games []item.Listing) []item.Listing {
	all := slices.DeleteFunc(slices.Clone(games), func(g item.Listing) bool { return g.Status != item.Finished })
	slices.SortFunc(all, func(a, b item.Listing) int {
		return cmp.Or(cmp.Compare(a.StartTs, b.StartTs), cmp.Compare(a.GameID, b.GameID))
	})

	return all
}

// PlayerTotals are the totals of a player in a season.
type PlayerTotals struct {
	PlayerID string `json:"playerId,omitempty" doc:"The id of the player, which the public does not see: it lets a user claim the player."`
	Nickname string `json:"nickname" doc:"The name of the player."`
	Avatar   string `json:"avatar,omitempty" doc:"An emoji."`

	Display item.Display `json:"display,omitempty" enum:"name,initials,hidden" doc:"How everybody sees the name, if not as it is. The public does not see which."`

	Games    int `json:"games" doc:"Finished games with the player on the roster."`
	Goals    int `json:"goals" doc:"Goals, without own goals."`
	Assists  int `json:"assists" doc:"Assists."`
	OwnGoals int `json:"ownGoals" doc:"Own goals. They count for nobody."`

	// PerGame is not in the table: it is computed where the players are shown.
	PerGame float64 `json:"goalsPerGame,omitempty" doc:"Goals for each game, with two decimals."`
}

// Public returns the totals as everybody sees them.
func (p PlayerTotals) Public() PlayerTotals {
	p.Nickname, p.Avatar = p.Display.PublicName(p.Nickname, p.Avatar)
	p.PlayerID, p.Display = "", ""

	return p
}

// PerGame returns goals for each of some games, with two decimals, 0 without games.
func PerGame(goals, games int) float64 {
	if games == 0 {
		return 0
	}

	return math.Round(100*float64(goals)/float64(games)) / 100
}

// Players returns the totals of the players of games: most goals first, then most assists, then
// fewest games. A player who is merged into another counts as the other. Games that are not
// finished do not count.
func Players(games []item.Listing, players map[string]item.Player) []PlayerTotals {
	all := map[string]*PlayerTotals{}

	for _, g := range finished(games) {
		played := map[string]bool{}

		for id, t := range g.Players {
			if id == "" { // a release before goals without a scorer counts these for a player without an id
				continue
			}

			p := item.Resolve(id, players)

			s := all[p.ID]
			if s == nil {
				s = &PlayerTotals{PlayerID: p.ID, Nickname: p.Nickname, Avatar: p.Avatar, Display: p.Display}
				all[p.ID] = s
			}

			s.Goals += t.Goals
			s.Assists += t.Assists

			s.OwnGoals += t.OwnGoals
			if t.Games > 0 && !played[p.ID] {
				played[p.ID] = true
				s.Games++
			}
		}
	}

	list := make([]PlayerTotals, 0, len(all))
	for _, p := range all {
		list = append(list, *p)
	}

	slices.SortFunc(list, func(a, b PlayerTotals) int {
		return cmp.Or(cmp.Compare(b.Goals, a.Goals), cmp.Compare(b.Assists, a.Assists), cmp.Compare(a.Games, b.Games),
			cmp.Compare(a.PlayerID, b.PlayerID))
	})

	return list
}
