// Package plan makes the sessions and games of many weeks in one request.
package plan

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// MaxPlanned bounds a plan: it is made within one request.
var MaxPlanned = spec.Limit{Name: "games per plan", Max: 300, Code: "too_many_games_of_plan"}

var (
	errTeams = problem.New(problem.Conflict, "three_teams_needed", "a plan needs a season with at least three teams")
	errDay   = problem.New(problem.Unprocessable, "bad_plan",
		"the games must start on the day of their session, in the years 2000 to 2100, and on at least one day").In("body")
)

// Service is the service of plans.
type Service struct{ signin.Base }

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env)}, nil
}

// Fields are what a plan is made of.
type Fields struct {
	_ struct{} `schema:"PlanFields"`

	StartsOn    string   `json:"startsOn" format:"date" doc:"The first session is on this day, or on the first weekday after it." example:"2026-03-01"`
	Weekday     string   `json:"weekday,omitempty" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday" doc:"The day of the sessions: by default that of startsOn." example:"thursday"`
	Weeks       int      `json:"weeks" minimum:"1" maximum:"52" doc:"How many weeks: a session in each." example:"10"`
	Except      []string `json:"exceptDates,omitempty" maxItems:"52" uniqueItems:"true" format:"date" doc:"Days without a session." example:"[\"2026-04-02\"]"`
	Time        string   `json:"time" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"hours and minutes" doc:"When the first game of a session starts, in the time zone of the season." example:"19:30"`
	Games       int      `json:"gamesPerSession" minimum:"1" maximum:"12" doc:"The games of a session, one after the other." example:"2"`
	ThirdLength int      `json:"thirdLength" enum:"20,25,30" doc:"The minutes of a third." example:"20"`
	Break       *int     `json:"breakMinutes,omitempty" minimum:"0" maximum:"120" doc:"The minutes between two games, and for the breaks in a game: by default 15." example:"15"`
	Location    string   `json:"location,omitempty" format:"display-name" doc:"Where the games are played." example:"Powerleague, pitch 2"`
}

// Session is a session of a plan with its games.
type Session struct {
	_ struct{} `schema:"PlannedSession"`

	SessionID string `json:"sessionId,omitempty" doc:"The id of the session, unless it is a dry run."`
	Date      string `json:"sessionDate" doc:"The day." example:"2026-03-05"`
	Games     []Game `json:"games" doc:"In order of their start."`
}

// Game is a game of a plan.
type Game struct {
	_ struct{} `schema:"PlannedGame"`

	GameID  string    `json:"gameId,omitempty" doc:"The id of the game, unless it is a dry run."`
	StartTs time.Time `json:"gameStartTs" doc:"When it is to start."`
	TeamIDs []string  `json:"teamIds" doc:"The three teams."`
}

// plan is a plan as the table has it.
type plan struct {
	Hash     string    `json:"hash"` // of the request
	Fields   Fields    `json:"fields"`
	Sessions []Session `json:"sessions"`
	Done     bool      `json:"done,omitempty"`
}

// PlanSeason is the request for the sessions and games of a season.
type PlanSeason struct {
	auth.User
	idem.Key
	SeasonID string `path:"seasonId" maxLength:"26" doc:"The id of the season."`
	Body     struct {
		Fields
		DryRun bool `json:"dryRun,omitempty" doc:"Return the plan, and make nothing."`
	}
}

// Page is the answer with a plan.
type Page struct {
	Status int
	Body   struct {
		Sessions []Session `json:"sessions" doc:"The sessions that were made, in order of their days."`
	}
}

func page(status int, sessions []Session) *Page {
	out := &Page{Status: status}
	out.Body.Sessions = sessions

	return out
}

// PlanSeasonFunction makes sessions and games of many weeks, with the teams in rotation.
func PlanSeasonFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/plan-season",
		Does:   "Makes the sessions and games of many weeks, with the teams of the season in rotation.",
		IfDown: "Sessions and games must be made one by one.",
		On: spec.Route{
			Method: "POST", Path: "/v1/seasons/{seasonId}/plan", Auth: spec.Session, Answers: []int{http.StatusOK, http.StatusCreated},
		},
		Uses: league.Writes(tables.GetSeason, tables.ListTeams, tables.ListSessions, tables.GetSession, tables.PlanSeason,
			tables.CreateSession, tables.CreateGame),
		Limits: []spec.Limit{MaxPlanned, season.MaxSessions, season.MaxOfDay},
		Memory: 256, Timeout: 25 * time.Second,
	}, Open, (*Service).PlanSeason, errDay, errTeams, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// PlanSeason makes a session a week, with games of the teams in rotation: see Rotate. The plan is stored before
// anything is made. Each session is made with its games at once, under ids that the plan has, so that the same
// request again goes on where a crash has ended the first, and changes nothing once all is made, for a day. It is
// the same by its key, without one by its body. Errors: three_teams_needed, bad_plan, too_many_games_of_plan,
// too_many_sessions, too_many_sessions_of_day.
func (s *Service) PlanSeason(ctx context.Context, in *PlanSeason) (*Page, error) {
	x, _, err := item.SeasonRow.ReadAs(ctx, s.DB, in.SeasonID, in.UserID, item.Admin)
	if err != nil {
		return nil, err
	}

	sessions, err := s.sessions(ctx, *x.V(), in.Body.Fields)
	if err != nil {
		return nil, err
	}

	if in.Body.DryRun {
		return page(http.StatusOK, sessions), s.fits(ctx, x, sessions)
	}

	row, err := s.stored(ctx, x, in, sessions)
	if err != nil {
		return nil, err
	}

	for _, one := range row.V().Sessions {
		if row.V().Done {
			break
		}

		if err := s.make(ctx, in.SeasonID, one, *row.V()); err != nil {
			return nil, err
		}
	}

	if !row.V().Done {
		row.V().Done = true

		_, done := row.Save(s.Now())
		if err := dynamo.Transact(ctx, s.DB, tables.PlanSeason, done); err != nil && item.RefusedWrite(err) < 0 { // by a run at once
			return nil, err
		}
	}

	return page(http.StatusCreated, row.V().Sessions), nil
}

// sessions returns the sessions of a plan, without ids.
func (s *Service) sessions(ctx context.Context, x item.Season, f Fields) ([]Session, error) {
	rows, err := item.List[item.Team](ctx, s.DB, tables.ListTeams, item.SeasonKey(x.ID), item.Teams)
	if err != nil {
		return nil, err
	}

	teams := byName(item.Values(rows))
	if len(teams) < item.Thirds {
		return nil, errTeams
	}

	if f.Weeks*f.Games > MaxPlanned.Max {
		return nil, problem.Beyond(MaxPlanned).In("body.gamesPerSession")
	}

	all, err := f.days(x.TimeZone)
	if err != nil {
		return nil, err
	}

	rotation := Rotate(len(teams), f.Weeks*f.Games)

	for i := range all {
		for j := range all[i].Games {
			for _, t := range rotation[i*f.Games+j] {
				all[i].Games[j].TeamIDs = append(all[i].Games[j].TeamIDs, teams[t].TeamID)
			}
		}
	}

	return all, nil
}

// between is how long after a game the next starts by default.
const between = 15

// days returns the sessions with the starts of their games, without teams. A start is the time on the clock
// where the season is played, also when the clocks change.
func (f Fields) days(zone string) (all []Session, err error) {
	in, err := httpapi.TimeZone(zone)
	if err != nil {
		return nil, err
	}

	first, err := time.ParseInLocation(time.DateOnly+" 15:04", f.StartsOn+" "+f.Time, in)
	if err != nil {
		return nil, errDay
	}

	for f.Weekday != "" && !strings.EqualFold(first.Weekday().String(), f.Weekday) {
		first = first.AddDate(0, 0, 1)
	}

	pause := between
	if f.Break != nil {
		pause = *f.Break
	}

	for week := range f.Weeks {
		start := first.AddDate(0, 0, 7*week)
		x := Session{Date: start.Format(time.DateOnly)}

		if slices.Contains(f.Except, x.Date) {
			continue
		}

		for n := range f.Games {
			at := start.Add(time.Duration(n*(item.Thirds*f.ThirdLength+pause)) * time.Minute)
			if at.Format(time.DateOnly) != x.Date || game.CheckStart(at) != nil {
				return nil, errDay
			}

			x.Games = append(x.Games, Game{StartTs: at.UTC()})
		}

		all = append(all, x)
	}

	if len(all) == 0 {
		return nil, errDay
	}

	return all, nil
}

// fits returns an error if the season has no place for sessions.
func (s *Service) fits(ctx context.Context, x item.Row[item.Season], sessions []Session) error {
	if x.V().Sessions+len(sessions) > season.MaxSessions.Max {
		return problem.Beyond(season.MaxSessions)
	}

	rows, err := item.List[item.Session](ctx, s.DB, tables.ListSessions, x.PK, item.Sessions)
	if err != nil {
		return err
	}

	days := map[string]int{}
	for _, one := range item.Values(rows) {
		days[one.Date]++
	}

	for _, one := range sessions {
		if days[one.Date] >= season.MaxOfDay.Max {
			return problem.Beyond(season.MaxOfDay)
		}
	}

	return nil
}

// keep is how long a plan is remembered, as an answer of a request with a key.
const keep = idem.Lifetime

const plans = "PLAN#"

// stored returns the plan of the same request, or stores a new one with ids.
func (s *Service) stored(ctx context.Context, x item.Row[item.Season], in *PlanSeason, sessions []Session) (item.Row[plan], error) {
	as := *in
	if as.IdempotencyKey == "" {
		text, err := json.Marshal(in.Body)
		if err != nil {
			return item.Row[plan]{}, err
		}

		sum := sha256.Sum256(text)
		as.IdempotencyKey = "body " + base64.RawURLEncoding.EncodeToString(sum[:]) // no key of a header has a space
	}

	id, hash, _ := idem.Identify(PlanSeasonFunction().Name, &as)

	return dynamo.RetryValue(ctx, item.Attempts, func() (item.Row[plan], error) {
		now := s.Now()

		row, ok, err := dynamo.Get[item.Row[plan]](ctx, s.DB, tables.PlanSeason, x.PK, plans+id)
		if err != nil {
			return row, err
		}

		if ok && row.TTL > now.Unix() {
			if row.V().Hash != hash {
				err = idem.ErrConflict
			}

			return row, err
		}

		if err := s.fits(ctx, x, sessions); err != nil {
			return row, err
		}

		was, expired := row, ok
		row = item.New(x.PK, plans+id, "Plan", plan{Hash: hash, Fields: in.Body.Fields, Sessions: withIDs(sessions, now)}, now)
		row.TTL = now.Add(keep).Unix()

		write := row.Create()
		if expired { // DynamoDB deletes it later
			row.Rev = was.Rev
			row, write = row.Save(now)
		}

		return row, dynamo.Transact(ctx, s.DB, tables.PlanSeason, write)
	})
}

// withIDs returns sessions with new ids.
func withIDs(sessions []Session, now time.Time) []Session {
	all := slices.Clone(sessions)
	for i := range all {
		all[i].SessionID = code.NewID(now)
		all[i].Games = slices.Clone(all[i].Games)

		for j := range all[i].Games {
			all[i].Games[j].GameID = code.NewID(now)
		}
	}

	return all
}

// make makes a session of a plan with its games, unless there is one with its id. Teams of the season that were
// deleted meanwhile do not play: such a game has no teams until they are chosen.
func (s *Service) make(ctx context.Context, seasonID string, one Session, p plan) error {
	_, err := item.SessionRow.Read(ctx, s.DB, one.SessionID)
	if err == nil || !errors.Is(err, item.ErrScope) {
		return err
	}

	_, err = dynamo.RetryValue(ctx, item.Attempts, func() (none struct{}, err error) {
		parent, err := item.SeasonRow.Read(ctx, s.DB, seasonID)
		if err != nil {
			return none, err
		}

		rows, err := item.List[item.Team](ctx, s.DB, tables.ListTeams, parent.PK, item.Teams)
		if err != nil {
			return none, err
		}

		if parent.V().Sessions++; parent.V().Sessions > season.MaxSessions.Max {
			return none, problem.Beyond(season.MaxSessions)
		}

		now := s.Now()
		x := item.Session{
			ID: one.SessionID, LeagueID: parent.V().LeagueID, SeasonID: seasonID, Date: one.Date, Games: len(one.Games), Created: len(one.Games),
		}
		writes := season.NewSession(parent, x, now)

		for i, g := range one.Games {
			_, created := game.New(x, i+1, item.Game{
				ID: g.GameID, StartTs: item.Format(g.StartTs), ThirdLength: p.Fields.ThirdLength, Location: p.Fields.Location,
				Teams: named(item.Values(rows), g.TeamIDs),
			}, now)
			writes = append(writes, created...)
		}

		err = dynamo.Transact(ctx, s.DB, tables.CreateSession, writes...)
		if item.RefusedWrite(err) == 0 { // another run has made it
			err = nil
		}

		return none, err
	})

	return err
}

// named returns the teams with ids, none if one is missing.
func named(teams []item.Team, ids []string) []item.Team {
	all := []item.Team{}

	for _, id := range ids {
		i := slices.IndexFunc(teams, func(t item.Team) bool { return t.TeamID == id })
		if i < 0 {
			return []item.Team{}
		}

		all = append(all, teams[i])
	}

	return all
}
