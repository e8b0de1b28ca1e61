package organise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
)

// states are the states of a game in words.
var states = map[string]string{
	item.Scheduled: "scheduled", item.Live: "live", item.Finished: "finished",
	item.Postponed: "postponed", item.Abandoned: "abandoned", item.Walkover: "walkover",
}

// absent returns the names of teams of a game by their ids.
func absent(teams []item.Team, ids []string) string {
	return strings.Join(names(slices.DeleteFunc(slices.Clone(teams), func(t item.Team) bool { return !slices.Contains(ids, t.TeamID) })), ", ")
}

// state says what state the game is in, and which teams are missing.
func (s *Pages) state(v *visit) string {
	text := v.state()
	if g := v.game.V(); len(g.Absent) > 0 {
		text += " Missing: " + absent(g.Teams, g.Absent) + "."
	}

	return text
}

// ends are the words before the result of a game, by its state.
var ends = map[string]string{
	"": "It is finished: ", item.Abandoned: "It was abandoned, and its result stands: ", item.Walkover: "It is a walkover: ",
}

func (v *visit) state() string {
	g := v.game.V()

	switch running := g.Running(); {
	case v.game.Status == item.Void:
		return "It was abandoned, without a result."
	case states[v.game.Status] == "":
		return "It is " + v.game.Status + "."
	case g.State == item.Postponed:
		return "It is postponed: there is no new time yet."
	case v.game.Status == item.Scheduled:
		return "It has not begun."
	case v.game.Status == item.Finished && g.Result != nil && g.Result.Winner != "":
		return ends[g.State] + v.teamName(g.Result.Winner) + " has won."
	case v.game.Status == item.Finished:
		return ends[g.State] + "a draw."
	case g.Reopened:
		return "It is open again: scorekeepers may correct it until it is finished."
	case running > 0:
		return fmt.Sprintf("Third %d is being played.", running)
	}

	return "It is live, between two thirds or before the final whistle."
}

// stands is the choice of an abandoned game whose result stands.
const stands = "stands"

// absentNames are the names of the fields with teams that are missing.
var absentNames = []string{"absent1", "absent2"}

// absentField is a choice of a team that is missing.
func (v *visit) absentField(i int, label, none string) field {
	g := v.game.V()
	one := field{Name: absentNames[i], Label: label, Options: []option{{"", none}}}

	for _, t := range g.Teams {
		one.Options = append(one.Options, option{t.TeamID, t.Name})
	}

	if i < len(g.Absent) {
		one.Value = g.Absent[i]
	}

	return one
}

func (s *Pages) setStateForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "The game is not played as planned", "Save what has happened", rev(v.game.Rev)

	what := field{Name: "state", Label: "What has happened", Required: true, Options: []option{{"", "choose"}}}
	f.Lines = []string{"An abandoned game or a walkover is finished. Only an administrator can open it again."}

	if v.game.Status != item.Scheduled {
		what.Options = append(what.Options, option{item.Abandoned, "Abandoned: it has no result"},
			option{stands, "Abandoned: the result of its goals stands"})
		f.fields(what)

		return nil
	}

	what.Options = append(what.Options, option{item.Postponed, "Postponed: there is no new time yet"},
		option{item.Abandoned, "Abandoned: it is not played, and has no result"}, option{item.Walkover, "Walkover: teams did not come"})
	f.fields(what)
	f.Parts = append(f.Parts, part{Legend: "Of a walkover: who did not come", Fields: []field{
		v.absentField(0, "Team", "choose"), v.absentField(1, "Another team", "no other"),
	}})

	return nil
}

func (s *Pages) setState(ctx context.Context, v *visit, in sent) (next, error) {
	values := map[string]any{"state": in.Sent["state"]}

	switch in.Sent["state"] {
	case stands:
		values["state"], values["resultStands"] = item.Abandoned, true
	case item.Walkover:
		values["absentTeamIds"] = in.list(absentNames)
	}

	req := &game.PutState{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, GameID: v.id}
	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err := s.games.PutState(ctx, req)

	return next{}, err
}

func (s *Pages) missingTeamForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "A team is missing", "Save who is missing", rev(v.game.Rev)
	f.Lines = []string{"The other two play without it, and it has lost. Its players leave the line-up."}
	f.fields(v.absentField(0, "The team that is missing", "none: all are there"))

	return nil
}

func (s *Pages) missingTeam(ctx context.Context, v *visit, in sent) (next, error) {
	req := &game.UpdateGame{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, GameID: v.id}
	if err := fill(&req.Body, map[string]any{"absentTeamIds": in.list(absentNames[:1])}); err != nil {
		return next{}, err
	}

	_, err := s.games.UpdateGame(ctx, req)

	return next{}, err
}

func (s *Pages) fillLineUpForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Begin the line-up", "Put them into their teams"
	f.Lines = []string{"Who is in a team already stays there."}
	f.fields(field{Name: "from", Label: "Who plays", Options: []option{
		{"squad", "The squads of the season"}, {"last", "Who has played for each team last time"},
	}})

	return nil
}

func (s *Pages) fillLineUp(ctx context.Context, v *visit, in sent) (next, error) {
	if in.Sent["from"] == "list" { // that is another form
		return next{}, errAction
	}

	req := &game.PutLineUp{User: v.user(), Key: in.Key, GameID: v.id}
	if err := fill(&req.Body, map[string]any{"from": in.Sent["from"]}); err != nil {
		return next{}, err
	}

	_, err := s.games.PutLineUp(ctx, req)

	return next{}, err
}
