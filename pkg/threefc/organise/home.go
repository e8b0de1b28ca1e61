package organise

import (
	"context"
	"errors"
	"slices"
	"time"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/web"
)

func homeActions() []action {
	return []action{
		{name: "create-league", done: "The league is created.", form: (*Pages).createLeagueForm, do: (*Pages).createLeague},
		{name: "restore-league", done: "The league is restored.", form: (*Pages).restoreLeagueForm, do: (*Pages).restoreLeague},
		{name: "sign-out", form: (*Pages).signOutForm, do: (*Pages).signOut},
	}
}

// nextSessions bounds the leagues of which the page of who is signed in reads the next session.
const nextSessions = 20

// shownLeague is a league in a list.
type shownLeague struct{ URL, Name, Role, Next string }

// roles are the roles in words.
var roles = map[item.Role]string{item.Viewer: "viewer", item.Scorekeeper: "scorekeeper", item.Admin: "administrator"}

// showHome adds the visitor's leagues to the data of the page.
func (s *Pages) showHome(ctx context.Context, v *visit, data map[string]any) (err error) {
	mine, err := s.leagues.ListLeagues(ctx, &league.ListLeagues{User: v.user()})
	if err != nil {
		return err
	}

	var all []shownLeague

	for i, l := range mine.Body.Leagues {
		one := shownLeague{URL: s.Links.To("manage", l.LeagueID), Name: l.Name, Role: roles[l.Role]}

		if i < nextSessions {
			if one.Next, err = s.next(ctx, v, l.LeagueID); err != nil {
				return err
			}
		}

		all = append(all, one)
	}

	ended, err := s.leagues.Endings(ctx, v.userID)
	if err != nil {
		return err
	}

	var deleted []shownLeague
	for _, l := range ended {
		deleted = append(deleted, shownLeague{URL: s.link(v, "restore-league", l.League.ID), Name: l.League.Name})
	}

	data["Deleted"] = deleted
	data["Leagues"], data["Email"], data["Preferences"] = all, v.email, s.Links.To("preferences", "me")

	return s.add(ctx, v, data, "create-league", "sign-out")
}

// add adds the forms of actions to the data of a page, those that the visitor may do.
func (s *Pages) add(ctx context.Context, v *visit, data map[string]any, names ...string) error {
	forms := map[string]*form{}

	for _, name := range names {
		f, err := s.inline(ctx, v, name, "")
		if err != nil {
			return err
		}

		forms[name] = f
	}

	data["Forms"] = forms

	return nil
}

// next returns the day of the next session of a league's newest season, "" for none.
func (s *Pages) next(ctx context.Context, v *visit, leagueID string) (day string, err error) {
	all, err := s.seasons.ListSeasons(ctx, &season.ListSeasons{User: v.user(), LeagueID: leagueID})
	if err != nil || len(all.Body.Seasons) == 0 {
		return "", err
	}

	newest := all.Body.Seasons[0]

	sessions, err := s.seasons.ListSessions(ctx, &season.ListSessions{User: v.user(), SeasonID: newest.SeasonID})
	if err != nil {
		return "", err
	}

	of := &visit{season: item.Row[item.Season]{Data: item.JSON[item.Season]{Value: item.Season{TimeZone: newest.TimeZone}}}}
	today := s.Now().In(of.zone()).Format(time.DateOnly)

	for _, x := range sessions.Body.Sessions { // in order of their days
		if x.Date >= today {
			return web.DayOf(x.Date), nil
		}
	}

	return "", nil
}

func (s *Pages) createLeagueForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Create a league", "Create the league"
	one := nameField("Name of the league", "")
	one.Hint = "Everybody sees it. You become its administrator."
	f.fields(one)

	return nil
}

func (s *Pages) createLeague(ctx context.Context, v *visit, in sent) (next, error) {
	req := &league.CreateLeague{User: v.user(), Key: in.Key}
	if err := fill(&req.Body, map[string]any{"name": in.Sent["name"]}); err != nil {
		return next{}, err
	}

	out, err := s.leagues.CreateLeague(ctx, req)
	if err != nil {
		return next{}, err
	}

	return next{to: withDone(s.Links.To("manage", out.Body.LeagueID), "create-league")}, nil
}

// ending returns a league that the visitor may restore. Errors: web.ErrNotFound.
func (s *Pages) ending(ctx context.Context, v *visit, id string) (item.EndingLeague, error) {
	all, err := s.leagues.Endings(ctx, v.userID)
	if err != nil {
		return item.EndingLeague{}, err
	}

	i := slices.IndexFunc(all, func(l item.EndingLeague) bool { return l.League.ID == id })
	if i < 0 {
		return item.EndingLeague{}, web.ErrNotFound
	}

	return all[i], nil
}

// restoreLeagueForm asks whether to restore a league. The form has its revision, so that one that is sent again
// does not restore it once it is deleted anew.
func (s *Pages) restoreLeagueForm(ctx context.Context, v *visit, f *form) error {
	l, err := s.ending(ctx, v, f.ID)
	if err != nil {
		return err
	}

	f.Title, f.Button, f.Rev = "Restore the league "+l.League.Name+"?", "Restore the league", rev(l.Rev)
	f.Lines = []string{"It is as it was, with its seasons and members. Later than a day after it was deleted nobody can restore it."}

	return nil
}

func (s *Pages) restoreLeague(ctx context.Context, v *visit, in sent) (next, error) {
	l, err := s.ending(ctx, v, in.id)
	if err == nil {
		err = in.IfMatch.Check(l.Rev)
	}

	if err != nil && !errors.Is(err, web.ErrNotFound) { // it may be there already
		return next{}, err
	}

	_, err = s.leagues.RestoreLeague(ctx, &league.RestoreLeague{User: v.user(), LeagueID: in.id})
	if kind := problem.Of(err); kind == problem.Denied || kind == problem.NotFound {
		err = web.ErrNotFound
	}

	return next{to: withDone(s.Links.To("manage", in.id), "restore-league")}, err
}

func (s *Pages) signOutForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Sign out", "Sign out of this browser"
	return nil
}
