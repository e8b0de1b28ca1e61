package organise

import (
	"cmp"
	"context"
	"encoding/base64"
	"html/template"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/score"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/web"
)

func sessionActions() []action {
	return []action{
		{"create-game", item.Scorekeeper, "The game is created.", (*Pages).createGameForm, (*Pages).createGame},
		{"move-session", item.Scorekeeper, "The session is on another day.", (*Pages).moveSessionForm, (*Pages).moveSession},
		{"make-pin", item.Admin, "The session has a PIN.", (*Pages).makePINForm, (*Pages).makePIN},
		{"revoke-pin", item.Admin, "The PIN has ended.", (*Pages).revokePINForm, (*Pages).revokePIN},
		{"delete-session", item.Admin, "The session is deleted.", (*Pages).deleteSessionForm, (*Pages).deleteSession},
	}
}

// Things of the page of a session.
type (
	shownAnswers struct {
		Title string
		Names []string
	}
	shownGame struct{ URL, Text, State string }
	shownCode struct {
		Code, URL, Until, Revoke string
		QR                       template.URL
	}
)

// answers are the titles of the answers of players.
var answers = []struct{ status, title string }{{"in", "In"}, {"maybe", "Maybe"}, {"out", "Out"}}

// showSession adds a session to the data of its page, and returns no colors.
func (s *Pages) showSession(ctx context.Context, v *visit, data map[string]any) (colors []string, err error) {
	said, err := s.notices.ListAvailability(ctx, &notice.ListAvailability{User: v.user(), SessionID: v.id})
	if err != nil {
		return nil, err
	}

	var all []shownAnswers

	for _, a := range answers {
		one := shownAnswers{Title: a.title}

		for _, p := range said.Body.Players {
			if p.Status == a.status {
				one.Names = append(one.Names, p.Nickname)
			}
		}

		all = append(all, one)
	}

	listed, err := s.games.ListGames(ctx, &game.ListGames{User: v.user(), SessionID: v.id})
	if err != nil {
		return nil, err
	}

	var games []shownGame

	for _, g := range listed.Body.Games {
		text := "Game at " + g.StartTs.In(v.zone()).Format("15:04")
		if len(g.Teams) > 0 {
			text += ": " + strings.Join(names(g.Teams), ", ")
		}

		state := cmp.Or(states[g.State], states[g.Status], g.Status)
		if len(g.Absent) > 0 {
			state += ", without " + absent(g.Teams, g.Absent)
		}

		games = append(games, shownGame{v.at(s.Links, ofGame, g.GameID), text, state})
	}

	data["Answers"], data["Games"], data["Score"] = all, games, s.Links.To("score", v.id)
	data["Mine"] = s.Links.To("sessions", v.id, "me")

	if v.role == item.Admin {
		pin, err := s.pins.ReadPIN(ctx, &score.PutPIN{User: v.user(), SessionID: v.id})
		if err != nil {
			return nil, err
		}

		if pin != nil {
			data["PIN"], err = shown(pin.Body.PIN, pin.Body.URL, pin.Body.ExpiresAt, v.zone(), s.link(v, "revoke-pin", ""))
			if err != nil {
				return nil, err
			}
		}
	}

	var choices []crumb

	for _, c := range []crumb{{"move-session", "Move the session to another day"}, {"delete-session", "Delete the session"}} {
		if to := s.link(v, c.URL, ""); to != "" {
			choices = append(choices, crumb{to, c.Text})
		}
	}

	data["Choices"] = choices

	return nil, s.add(ctx, v, data, "create-game", "make-pin")
}

// shown returns a code with its link as a page shows it.
func shown(code, url string, until time.Time, zone *time.Location, revoke string) (*shownCode, error) {
	picture, err := player.QR(url)
	if err != nil {
		return nil, err
	}

	return &shownCode{
		Code: code, URL: url, Until: until.In(zone).Format("15:04 on " + web.Day), Revoke: revoke,
		QR: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)),
	}, nil
}

// names returns the names of teams.
func names(teams []item.Team) (all []string) {
	for _, t := range teams {
		all = append(all, t.Name)
	}

	return all
}

// lengths are those that a third may have.
var lengths = []option{{"20", "20 minutes"}, {"25", "25 minutes"}, {"30", "30 minutes"}}

// gameFields adds the fields of a game to a form, with the teams of its season if it can have others.
func (s *Pages) gameFields(ctx context.Context, v *visit, f *form, start time.Time, length int, location string, chosen []item.Team) error {
	f.fields(field{Name: "date", Label: "Day", Type: "date", Required: true, Value: start.Format(time.DateOnly)},
		field{
			Name: "time", Label: "Start", Type: "time", Required: true, Value: start.Format("15:04"),
			Hint: "Time of " + v.season.V().TimeZone + ".",
		},
		field{Name: "thirdLength", Label: "Length of a third", Value: strconv.Itoa(length), Options: lengths},
		field{Name: "location", Label: "Place, if you like", Value: location, Max: 40})

	teams, err := s.teams(ctx, v)
	if err != nil {
		return err
	}

	if len(chosen) == 0 {
		chosen = teams
	}

	all := []option{{"", "choose"}}
	for _, t := range teams {
		all = append(all, option{t.TeamID, t.Name})
	}

	three := part{Legend: "Teams"}

	for i, label := range []string{"First team", "Second team", "Third team"} {
		one := field{Name: teamNames[i], Label: label, Options: all}
		if i < len(chosen) {
			one.Value = chosen[i].TeamID
		}

		three.Fields = append(three.Fields, one)
	}

	f.Parts = append(f.Parts, three)

	return nil
}

// teamNames are the names of the fields with teams.
var teamNames = []string{"team1", "team2", "team3"}

var (
	errTime = problem.New(problem.Unprocessable, "time_needed", "a day and a time are needed, such as 18:30").In("body.gameStartTs")
	errDay  = problem.New(problem.Unprocessable, "day_needed", "a day is needed, such as 2026-06-06").In("body.date")
)

// start returns the start of a game that a form has, in a time zone.
func (in sent) start(zone *time.Location) (time.Time, error) {
	if _, err := time.Parse(time.DateOnly, in.Sent["date"]); err != nil {
		return time.Time{}, errDay
	}

	at, err := time.ParseInLocation("2006-01-02 15:04", in.Sent["date"]+" "+in.Sent["time"], zone)
	if err != nil {
		return time.Time{}, errTime
	}

	return at, nil
}

// game returns the members of a request for a game.
func (in sent) game(zone *time.Location) (map[string]any, error) {
	at, err := in.start(zone)
	if err != nil {
		return nil, err
	}

	values := map[string]any{
		"gameStartTs": at.UTC().Format(time.RFC3339), "location": in.Sent["location"],
	}
	in.numbers(values, "thirdLength")

	if teams := in.list(teamNames); len(teams) > 0 {
		values["teamIds"] = teams
	}

	return values, nil
}

// firstStart is when the first game of a day is proposed to start, and gameTime how long after it the next one.
const (
	firstStart = 18 * time.Hour
	gameTime   = 75 * time.Minute
)

func (s *Pages) createGameForm(ctx context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Create a game", "Create the game"

	day, err := time.ParseInLocation(time.DateOnly, v.session.V().Date, v.zone())
	if err != nil {
		return err
	}

	listed, err := s.games.ListGames(ctx, &game.ListGames{User: v.user(), SessionID: v.id})
	if err != nil {
		return err
	}

	start, location, length := day.Add(firstStart), "", 20
	if n := len(listed.Body.Games); n > 0 {
		last := listed.Body.Games[n-1]
		start, location, length = last.StartTs.In(v.zone()).Add(gameTime), last.Location, last.ThirdLength
	}

	return s.gameFields(ctx, v, f, start, length, location, nil)
}

func (s *Pages) createGame(ctx context.Context, v *visit, in sent) (next, error) {
	req := &game.CreateGame{User: v.user(), Key: in.Key, SessionID: v.id}

	values, err := in.game(v.zone())
	if err != nil {
		return next{}, err
	}

	if values["location"] == "" {
		delete(values, "location")
	}

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	out, err := s.games.CreateGame(ctx, req)
	if err != nil {
		return next{}, err
	}

	return next{to: withDone(v.at(s.Links, ofGame, out.Body.GameID), "create-game")}, nil
}

func (s *Pages) moveSessionForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Move the session on "+web.DayOf(v.session.V().Date), "Move the session"
	f.Lines = []string{"Its games move with it, at the same time of day. Players who are in get a mail."}
	f.fields(field{Name: "sessionDate", Label: "New day", Type: "date", Required: true, Value: v.session.V().Date})

	return nil
}

func (s *Pages) moveSession(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.MoveSession{User: v.user(), Key: in.Key, SessionID: v.id}
	if err := fill(&req.Body, map[string]any{"sessionDate": in.Sent["sessionDate"]}); err != nil {
		return next{}, err
	}

	_, err := s.seasons.MoveSession(ctx, req)

	return next{}, err
}

func (s *Pages) makePINForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Scoring without an account", "Make a PIN"
	return nil
}

func (s *Pages) makePIN(ctx context.Context, v *visit, _ sent) (next, error) {
	_, err := s.pins.PutPIN(ctx, &score.PutPIN{User: v.user(), SessionID: v.id})
	return next{}, err
}

// revokePINForm asks whether to end a PIN. The form has the PIN, so that one that is sent again ends no other.
func (s *Pages) revokePINForm(ctx context.Context, v *visit, f *form) error {
	f.Title, f.Button = "End the PIN of this session?", "End the PIN"
	f.Lines = []string{"All phones that have entered it stop scoring. What they have recorded stays."}

	pin, err := s.pins.ReadPIN(ctx, &score.PutPIN{User: v.user(), SessionID: v.id})
	if err != nil || pin == nil {
		return err
	}

	f.ID = pin.Body.PIN

	return nil
}

func (s *Pages) revokePIN(ctx context.Context, v *visit, in sent) (next, error) {
	pin, err := s.pins.ReadPIN(ctx, &score.PutPIN{User: v.user(), SessionID: v.id})
	if err != nil || pin == nil || pin.Body.PIN != in.id {
		return next{}, err
	}

	_, err = s.pins.RevokePIN(ctx, &score.RevokePIN{User: v.user(), SessionID: v.id})

	return next{}, err
}

func (s *Pages) deleteSessionForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Delete the session on "+web.DayOf(v.session.V().Date)+"?", "Delete the session"
	f.Lines = []string{"It is deleted with the answers of players. Delete its games first."}

	return nil
}

func (s *Pages) deleteSession(ctx context.Context, v *visit, _ sent) (next, error) {
	_, err := s.seasons.DeleteSession(ctx, &season.DeleteSession{User: v.user(), SessionID: v.id})
	return next{to: withDone(v.at(s.Links, ofSeason, v.season.V().ID), "delete-session")}, err
}
