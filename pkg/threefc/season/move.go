package season

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

var (
	errBegun = problem.New(problem.Conflict, "session_begun", "the session has games that have begun: it cannot be moved")
	errDay   = problem.New(problem.Unprocessable, "bad_start", "a session must be in the years 2000 to 2100").In("body.sessionDate")
)

// Mover is the service that moves sessions with their games.
type Mover struct {
	Service
	games *game.Service
}

// OpenMover opens the service.
func OpenMover(ctx context.Context, env app.Env) (*Mover, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	games, err := game.Open(ctx, env)

	return &Mover{*s, games}, err
}

// MoveSession is the request to move a session to another day.
type MoveSession struct {
	auth.User
	idem.Key
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		Date string `json:"sessionDate" format:"date" doc:"The new day." example:"2026-06-13"`
	}
}

// MoveSessionFunction moves a session with its games to another day.
func MoveSessionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/move-session",
		Does:   "Moves a session with its games to another day, and mails who is in.",
		IfDown: "A session cannot be moved.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/sessions/{sessionId}", Auth: spec.Session},
		Uses: league.Writes(tables.GetSession, tables.GetSeason, tables.ListSessions, tables.ListGames, tables.ReadGame, tables.SaveGame,
			tables.MoveSession),
		Sends: []spec.Queue{game.RemindQueue}, Limits: []spec.Limit{MaxOfDay},
		Memory: 256, Timeout: 20 * time.Second,
	}, OpenMover, (*Mover).MoveSession, errBegun, errDay, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// MoveSession moves a session to another day. Its games of the old day start on the new one, at the same time on the
// clock where the season is played. The games move first, one by one, and the session last, so that the same
// request, or one with another day, goes on where a crash has ended the first. Who is in gets one mail, item.NoticeAfter later: see
// game.Service.announce, which does the same for a game. A second run changes nothing. A PIN of the session expires
// as it was to. Errors: session_begun, bad_start, too_many_sessions_of_day, stale.
func (s *Mover) MoveSession(ctx context.Context, in *MoveSession) (*SessionPage, error) {
	return idem.Once(ctx, s.Answers, MoveSessionFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[SessionPage]) (*SessionPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*SessionPage, error) {
				row, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Scorekeeper)
				if err != nil {
					return nil, err
				}

				if row.V().Date == in.Body.Date {
					return &SessionPage{http.StatusOK, shownSession(*row.V())}, nil
				}

				zone, err := s.shift(ctx, *row.V(), in)
				if err != nil {
					return nil, err
				}

				now, was := s.Now(), row.V().Date
				row.V().Date, row.V().Moved = in.Body.Date, row.V().Moved.Next(was, now)
				notice := game.Remind{Move: game.Move{SessionID: in.SessionID, Count: row.V().Moved.Count}}

				// Before the session is written, so that no notice gets lost: one without its move is dropped.
				if err := s.queue.Send(ctx, game.RemindQueue, notice, item.NoticeAfter); err != nil {
					return nil, err
				}

				row, saved := row.Save(now)
				out := &SessionPage{http.StatusOK, shownSession(*row.V())}

				return out, commit(ctx, tables.MoveSession, out, saved, row.Mirror(item.SeasonKey(row.V().SeasonID), row.PK),
					dynamo.DeleteWrite(item.Key(item.DayKey(was), row.PK)),
					dynamo.PutWrite(item.New(item.DayKey(in.Body.Date), row.PK, "Day", item.Day{ID: in.SessionID, TimeZone: zone.String()}, now)))
			})
		})
}

// shift moves the games of a session to its new day, if the season has a place for it there. It returns where the
// season is played.
func (s *Mover) shift(ctx context.Context, x item.Session, in *MoveSession) (zone *time.Location, err error) {
	parent, err := item.SeasonRow.Read(ctx, s.DB, x.SeasonID)
	if err != nil {
		return nil, err
	}

	sessions, err := item.List[item.Session](ctx, s.DB, tables.ListSessions, parent.PK, item.Sessions)
	if err != nil {
		return nil, err
	}

	sameDay := slices.DeleteFunc(item.Values(sessions), func(o item.Session) bool { return o.Date != in.Body.Date })
	if len(sameDay) >= MaxOfDay.Max {
		return nil, problem.Beyond(MaxOfDay).In("body.sessionDate")
	}

	rows, err := item.List[item.Listing](ctx, s.DB, tables.ListGames, item.SessionKey(x.ID), item.Games)
	if err != nil {
		return nil, err
	}

	games := item.Values(rows)
	if slices.ContainsFunc(games, func(g item.Listing) bool { return g.Status != item.Scheduled }) {
		return nil, errBegun
	}

	zone, err = httpapi.TimeZone(parent.V().TimeZone)
	if err != nil {
		return nil, err
	}

	day, err := time.Parse(time.DateOnly, in.Body.Date)
	if err != nil || game.CheckStart(day.AddDate(0, 0, -1)) != nil || game.CheckStart(day.AddDate(0, 0, 1)) != nil {
		return nil, errDay
	}

	for _, g := range games {
		at := item.Parse(g.StartTs).In(zone)
		if date := at.Format(time.DateOnly); date != x.Date && g.LeftDay != x.Date || date == in.Body.Date {
			continue // it was moved by itself, or by a run before
		}

		to := time.Date(day.Year(), day.Month(), day.Day(), at.Hour(), at.Minute(), at.Second(), 0, zone)
		if err := s.games.Shift(ctx, g.GameID, in.UserID, g.StartTs, item.Format(to), x.Date); err != nil {
			return nil, err
		}
	}

	return zone, nil
}
