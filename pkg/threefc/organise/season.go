package organise

import (
	"context"
	"slices"
	"strings"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/web"
)

func seasonActions() []action {
	return []action{
		{"edit-season", item.Admin, "The season is changed.", (*Pages).editSeasonForm, (*Pages).editSeason},
		{"copy-season", item.Admin, "The next season is created, with the same teams.", (*Pages).copySeasonForm, (*Pages).copySeason},
		{"plan", item.Admin, "The sessions and games are made.", (*Pages).planForm, (*Pages).plan},
		{"squads", item.Scorekeeper, "The squads are saved.", (*Pages).squadsForm, (*Pages).putSquads},
		{"rules", item.Admin, "The rules are saved.", (*Pages).rulesForm, (*Pages).rules},
		{"delete-season", item.Admin, "The season is deleted.", (*Pages).deleteSeasonForm, (*Pages).deleteSeason},
		{"usual-teams", item.Admin, "The teams are added.", (*Pages).usualTeamsForm, (*Pages).usualTeams},
		{"add-team", item.Admin, "The team is added.", (*Pages).addTeamForm, (*Pages).addTeam},
		{"edit-team", item.Admin, "The team is changed.", (*Pages).editTeamForm, (*Pages).editTeam},
		{"remove-team", item.Admin, "The team is removed.", (*Pages).removeTeamForm, (*Pages).removeTeam},
		{"create-session", item.Scorekeeper, "The session is created.", (*Pages).createSessionForm, (*Pages).createSession},
	}
}

// Things in lists, each with the address of its form or page, "" if the visitor may not change it.
type (
	shownTeam    struct{ URL, Name, Class string }
	shownSession struct {
		URL, Day string
		Games    int
	}
)

// showSeason adds a season to the data of its page, and returns the colors of its teams.
func (s *Pages) showSeason(ctx context.Context, v *visit, data map[string]any) (colors []string, err error) {
	teams, err := s.teams(ctx, v)
	if err != nil {
		return nil, err
	}

	var all []shownTeam

	for _, t := range teams {
		all = append(all, shownTeam{s.link(v, "edit-team", t.TeamID), t.Name, web.Class(t.Color)})
		colors = append(colors, t.Color)
	}

	listed, err := s.seasons.ListSessions(ctx, &season.ListSessions{User: v.user(), SeasonID: v.id})
	if err != nil {
		return nil, err
	}

	var sessions []shownSession
	for _, x := range listed.Body.Sessions {
		sessions = append(sessions, shownSession{v.at(s.Links, ofSession, x.SessionID), web.DayOf(x.Date), x.Games})
	}

	data["Teams"], data["Sessions"], data["Zone"] = all, sessions, v.season.V().TimeZone
	data["Public"] = s.Links.League(*v.of.V(), v.season.V().Slug)

	var choices []crumb

	for _, c := range []crumb{
		{"plan", "Plan many sessions with their games"}, {"squads", "Squads: who usually plays for which team"},
		{"rules", "Rules of the table"}, {"edit-season", "Change the names, the days or the time zone"},
		{"copy-season", "Create the next season with the same teams"},
		{"delete-season", "Delete the season"},
	} {
		if to := s.link(v, c.URL, ""); to != "" {
			choices = append(choices, crumb{to, c.Text})
		}
	}

	data["Choices"] = choices

	if err := s.add(ctx, v, data, "create-session", "add-team", "usual-teams"); err != nil {
		return nil, err
	}

	if len(teams) > 0 {
		delete(data["Forms"].(map[string]*form), "usual-teams")
	}

	return colors, nil
}

// teams returns the teams of the season.
func (s *Pages) teams(ctx context.Context, v *visit) ([]item.Team, error) {
	out, err := s.seasons.ListTeams(ctx, &season.ListTeams{User: v.user(), SeasonID: v.season.V().ID})
	if err != nil {
		return nil, err
	}

	return out.Body.Teams, nil
}

// team returns a team of the season. Errors: web.ErrNotFound.
func (s *Pages) team(ctx context.Context, v *visit, id string) (item.Team, error) {
	all, err := s.teams(ctx, v)
	if err != nil {
		return item.Team{}, err
	}

	i := slices.IndexFunc(all, func(t item.Team) bool { return t.TeamID == id })
	if i < 0 {
		return item.Team{}, web.ErrNotFound
	}

	return all[i], nil
}

func (s *Pages) editSeasonForm(_ context.Context, v *visit, f *form) error {
	x := v.season.V()
	f.Title, f.Button, f.Rev = "Change the season "+x.Name, "Save the season", rev(v.season.Rev)
	seasonFields(f, x.Name, x.Starts, x.Ends, x.TimeZone)
	f.fields(field{
		Name: "slug", Label: "Name in addresses", Value: x.Slug, Required: true, Max: 40,
		Hint: "Small letters, digits and hyphens.",
	})

	return nil
}

func (s *Pages) editSeason(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.UpdateSeason{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, SeasonID: v.id}

	values := in.values(seasonNames...)
	values["name"], values["slug"] = in.Sent["name"], in.Sent["slug"]

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err := s.seasons.UpdateSeason(ctx, req)

	return next{}, err
}

// sameSquads is the choice to copy the squads.
const sameSquads = "same"

func (s *Pages) copySeasonForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Create the season after "+v.season.V().Name, "Create the season"
	f.Lines = []string{"It has the same teams, and no sessions yet."}
	seasonFields(f, "", "", "", v.season.V().TimeZone)
	f.fields(field{Name: "squads", Label: "Squads", Value: sameSquads, Options: []option{
		{sameSquads, "The same players for each team"}, {"", "None yet"},
	}})

	return nil
}

func (s *Pages) copySeason(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.CopySeason{User: v.user(), Key: in.Key, SeasonID: v.id}

	values := in.values(seasonNames...)
	values["name"] = in.Sent["name"]
	values["squads"] = in.Sent["squads"] == sameSquads

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	out, err := s.seasons.CopySeason(ctx, req)
	if err != nil {
		return next{}, err
	}

	return next{to: withDone(v.at(s.Links, ofSeason, out.Body.SeasonID), "copy-season")}, nil
}

func (s *Pages) deleteSeasonForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "Delete the season "+v.season.V().Name+"?", "Delete the season", rev(v.season.Rev)
	f.Lines = []string{"It is deleted with its teams. Delete its sessions first."}

	return nil
}

func (s *Pages) deleteSeason(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.seasons.DeleteSeason(ctx, &season.DeleteSeason{User: v.user(), IfMatch: in.IfMatch, SeasonID: v.id})
	return next{to: withDone(v.at(s.Links, ofLeague, ""), "delete-season")}, err
}

// usual are the teams that need no name and no color.
var usual = []string{"blue", "red", "yellow"}

func (s *Pages) usualTeamsForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "The usual teams", "Add Blue, Red and Yellow"
	return nil
}

func (s *Pages) usualTeams(ctx context.Context, v *visit, in sent) (next, error) {
	for _, id := range usual {
		if _, err := s.seasons.PutTeam(ctx, &season.PutTeam{User: v.user(), Key: in.Key, SeasonID: v.id, TeamID: id}); err != nil {
			return next{}, err
		}
	}

	return next{}, nil
}

// teamFields adds the fields of a team to a form.
func teamFields(f *form, name, color string) {
	f.fields(nameField("Name of the team", name), field{Name: "color", Label: "Color of the shirts", Type: "color", Value: color})
}

func (s *Pages) addTeamForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Add a team", "Add the team"
	teamFields(f, "", "#00843d")

	return nil
}

// maxTeamID is the longest id of a team.
const maxTeamID = 24

// teamID returns the id that a new team gets by its name.
func teamID(name string) string {
	slug := league.Slug(name)
	return strings.Trim(slug[:min(len(slug), maxTeamID)], "-")
}

var errTeamThere = problem.New(problem.Conflict, "team_exists", "the season has a team with this name: choose another name").In("body.name")

func (s *Pages) addTeam(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.PutTeam{User: v.user(), Key: in.Key, SeasonID: v.id, TeamID: teamID(in.Sent["name"])}
	if err := fill(&req.Body, map[string]any{"name": in.Sent["name"], "color": in.Sent["color"]}); err != nil {
		return next{}, err
	}

	was, err := s.team(ctx, v, req.TeamID)

	switch {
	case err == nil && (was.Name != req.Body.Name || was.Color != req.Body.Color):
		return next{}, errTeamThere
	case err != nil && problem.Of(err) != problem.NotFound:
		return next{}, err
	}

	_, err = s.seasons.PutTeam(ctx, req)

	return next{}, err
}

func (s *Pages) editTeamForm(ctx context.Context, v *visit, f *form) error {
	t, err := s.team(ctx, v, f.ID)
	f.Title, f.Button = "Team "+t.Name, "Save the team"
	f.Lines = []string{"Games that exist keep the team as it was."}
	teamFields(f, t.Name, t.Color)
	f.More = []crumb{{s.link(v, "remove-team", f.ID), "Remove the team " + t.Name}}

	return err
}

func (s *Pages) editTeam(ctx context.Context, v *visit, in sent) (next, error) {
	if _, err := s.team(ctx, v, in.id); err != nil {
		return next{}, err
	}

	req := &season.PutTeam{User: v.user(), Key: in.Key, SeasonID: v.id, TeamID: in.id}
	if err := fill(&req.Body, map[string]any{"name": in.Sent["name"], "color": in.Sent["color"]}); err != nil {
		return next{}, err
	}

	_, err := s.seasons.PutTeam(ctx, req)

	return next{}, err
}

func (s *Pages) removeTeamForm(ctx context.Context, v *visit, f *form) error {
	t, err := s.team(ctx, v, f.ID)
	f.Title, f.Button = "Remove the team "+t.Name+" from the season?", "Remove the team"
	f.Lines = []string{"Games that exist keep it."}

	return err
}

func (s *Pages) removeTeam(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.seasons.DeleteTeam(ctx, &season.DeleteTeam{User: v.user(), SeasonID: v.id, TeamID: in.id})
	return next{}, err
}

func (s *Pages) createSessionForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Create a session", "Create the session"
	f.fields(field{
		Name: "sessionDate", Label: "Day", Type: "date", Required: true,
		Hint: "Where it is played: " + v.season.V().TimeZone + ". Its games have the time and the place.",
	})

	return nil
}

func (s *Pages) createSession(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.CreateSession{User: v.user(), Key: in.Key, SeasonID: v.id}
	if err := fill(&req.Body, map[string]any{"sessionDate": in.Sent["sessionDate"]}); err != nil {
		return next{}, err
	}

	out, err := s.seasons.CreateSession(ctx, req)
	if err != nil {
		return next{}, err
	}

	return next{to: withDone(v.at(s.Links, ofSession, out.Body.SessionID), "create-session")}, nil
}
