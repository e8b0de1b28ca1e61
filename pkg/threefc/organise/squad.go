package organise

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/season"
)

// seat is the prefix of the names of the fields with the team of a player.
const seat = "seat-"

// seats adds a choice of a team for each player: first those who have a team or are likely to play, by their
// notes, then all others. of has the teams of players by their ids, none is the choice of no team.
func (f *form) seats(everybody []player.Player, of, notes map[string]string, none string, teams []item.Team) {
	all := []option{{"", none}}
	for _, t := range teams {
		all = append(all, option{t.TeamID, t.Name})
	}

	likely, others := part{Legend: "Who plays for which team"}, part{Legend: "Other players of the league"}

	for _, p := range everybody {
		label, note := p.Nickname, notes[p.PlayerID]
		if note != "" {
			label += " (" + note + ")"
		}

		one := field{Name: seat + p.PlayerID, Label: label, Value: of[p.PlayerID], Options: all}

		switch {
		case one.Value != "" || note != "" && note != "out":
			likely.Fields = append(likely.Fields, one)
		case p.MergedInto == "":
			others.Fields = append(others.Fields, one)
		}
	}

	if others.Closed = len(likely.Fields) > 0; others.Closed {
		f.Parts = append(f.Parts, likely)
	} else {
		others.Legend = likely.Legend
	}

	if len(others.Fields) > 0 {
		f.Parts = append(f.Parts, others)
	}

	if len(everybody) == 0 {
		f.Lines = append(f.Lines, "The league has no players yet: add some on its page, or let them join by a code.")
	}
}

// squads returns the teams of the season, the players of their squads, and the team of each of these players: the
// first for a player of more. rev stands for all squads.
func (s *Pages) squads(ctx context.Context, v *visit) (teams []item.Team, players map[string][]string, of map[string]string, rev int,
	err error) {
	out, err := s.seasons.ListTeams(ctx, &season.ListTeams{User: v.user(), SeasonID: v.id})
	if err != nil {
		return nil, nil, nil, 0, err
	}

	players, of = map[string][]string{}, map[string]string{}

	for _, squad := range out.Body.Squads {
		players[squad.TeamID] = squad.PlayerIDs

		for _, id := range squad.PlayerIDs {
			if of[id] == "" {
				of[id] = squad.TeamID
			}
		}
	}

	text, err := json.Marshal(out.Body.Squads)

	return out.Body.Teams, players, of, int(crc32.ChecksumIEEE(text) % 1e9), err
}

func (s *Pages) squadsForm(ctx context.Context, v *visit, f *form) error {
	teams, _, of, now, err := s.squads(ctx, v)
	if err != nil {
		return err
	}

	everybody, err := s.everybody(ctx, v)
	if err != nil {
		return err
	}

	f.Title, f.Button, f.Rev = "Squads of "+v.season.V().Name, "Save the squads", rev(now)
	f.Lines = []string{"Who usually plays for which team. The line-up of a game can begin with it."}
	f.seats(everybody, of, nil, "no squad", teams)

	return nil
}

var errNoTeam = problem.New(problem.Unprocessable, "unknown_team", "the season has no such team any more")

// putSquads stores the squads that the form changes, one after the other: a second run does what a crash has left.
// It is refused if a squad has changed since the form was shown, unless the squads are those of the form.
func (s *Pages) putSquads(ctx context.Context, v *visit, in sent) (next, error) {
	teams, players, of, now, err := s.squads(ctx, v)
	if err != nil {
		return next{}, err
	}

	var moved []string

	for name, team := range in.Sent {
		id, ok := strings.CutPrefix(name, seat)
		if !ok || team == of[id] {
			continue
		}

		if team != "" && !slices.ContainsFunc(teams, func(t item.Team) bool { return t.TeamID == team }) {
			return next{}, at(name, errNoTeam)
		}

		moved = append(moved, id)
	}

	if len(moved) == 0 {
		return next{}, nil
	}

	if err := in.IfMatch.Check(now); err != nil {
		return next{}, err
	}

	slices.Sort(moved)

	changed := map[string]bool{}

	for _, id := range moved {
		from, to := of[id], in.Sent[seat+id]
		changed[from], changed[to] = true, true
		players[from] = slices.DeleteFunc(slices.Clone(players[from]), func(x string) bool { return x == id })

		if !slices.Contains(players[to], id) {
			players[to] = append(slices.Clone(players[to]), id)
		}
	}

	for _, t := range teams {
		if !changed[t.TeamID] {
			continue
		}

		req := &season.PutSquad{User: v.user(), Key: in.Key, SeasonID: v.id, TeamID: t.TeamID}
		if err := fill(&req.Body, map[string]any{"playerIds": append([]string{}, players[t.TeamID]...)}); err != nil {
			return next{}, err
		}

		if _, err := s.seasons.PutSquad(ctx, req); err != nil {
			return next{}, err
		}
	}

	return next{}, nil
}
