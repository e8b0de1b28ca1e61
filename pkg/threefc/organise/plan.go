package organise

import (
	"context"
	"strings"
	"time"
	"unicode"

	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/plan"
	"matchday/pkg/threefc/web"
)

// makePlan is the id of the form of a plan that makes it. Any other shows the plan, and makes nothing.
const makePlan = "make"

// weekdays are the choices of the day of the sessions.
var weekdays = []option{
	{"", "That of the first session"},
	{"monday", "Monday"},
	{"tuesday", "Tuesday"},
	{"wednesday", "Wednesday"},
	{"thursday", "Thursday"},
	{"friday", "Friday"},
	{"saturday", "Saturday"},
	{"sunday", "Sunday"},
}

func (s *Pages) planForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Plan the season "+v.season.V().Name, "Show the plan"
	if f.ID == makePlan {
		f.Button = "Make the sessions and games"
	}

	f.Lines = []string{"A session a week with its games, and the teams in rotation. Nothing is made before you have seen the plan."}
	f.fields(
		field{Name: "startsOn", Label: "Day of the first session", Type: "date", Required: true, Value: v.season.V().Starts},
		field{Name: "weekday", Label: "Weekday", Options: weekdays},
		field{Name: "weeks", Label: "Weeks", Type: "number", Required: true, Value: "10"},
		field{
			Name: "time", Label: "Start of the first game", Type: "time", Required: true, Value: "18:00",
			Hint: "Time of " + v.season.V().TimeZone + ".",
		},
		field{Name: "gamesPerSession", Label: "Games of a session", Type: "number", Required: true, Value: "1"},
		field{Name: "breakMinutes", Label: "Minutes between two games", Type: "number", Value: "15"},
		field{Name: "thirdLength", Label: "Length of a third", Value: "20", Options: lengths},
		field{
			Name: "exceptDates", Label: "Days without a session, if any", Max: 600,
			Hint: "Such as 2026-12-24, several with spaces between them.",
		},
		field{Name: "location", Label: "Place, if you like", Max: 40})

	return nil
}

// plan shows a plan as a form that makes it, or makes it. Both forms have one key: what was seen is made once.
func (s *Pages) plan(ctx context.Context, v *visit, in sent) (next, error) {
	req := &plan.PlanSeason{User: v.user(), Key: in.Key, SeasonID: v.id}

	values := in.values("location", "weekday")
	in.numbers(values, "weeks", "gamesPerSession", "thirdLength")

	if in.Sent["breakMinutes"] != "" {
		in.numbers(values, "breakMinutes")
	}

	if days := strings.FieldsFunc(in.Sent["exceptDates"], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }); len(days) > 0 {
		values["exceptDates"] = days
	}

	values["startsOn"], values["time"], values["dryRun"] = in.Sent["startsOn"], in.Sent["time"], in.id != makePlan

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	out, err := s.plans.PlanSeason(ctx, req)
	if err != nil || !req.Body.DryRun {
		return next{}, err
	}

	a, err := v.action("plan")
	if err != nil {
		return next{}, err
	}

	f, err := s.form(ctx, v, a, makePlan)
	if err != nil {
		return next{}, err
	}

	teams, err := s.teams(ctx, v)
	if err != nil {
		return next{}, err
	}

	f.keep(in.Sent)
	f.Key, f.Lines = in.IdempotencyKey, []string{"This is the plan. It is made by the button below."}

	for _, one := range out.Body.Sessions {
		f.Lines = append(f.Lines, web.DayOf(one.Date)+": "+describe(one.Games, teams, v.zone()))
	}

	return next{form: f}, nil
}

// describe returns planned games in words.
func describe(games []plan.Game, teams []item.Team, zone *time.Location) string {
	byID := map[string]string{}
	for _, t := range teams {
		byID[t.TeamID] = t.Name
	}

	var all []string

	for _, g := range games {
		var play []string
		for _, id := range g.TeamIDs {
			play = append(play, byID[id])
		}

		all = append(all, g.StartTs.In(zone).Format("15:04 ")+strings.Join(play, ", "))
	}

	return strings.Join(all, "; ")
}
