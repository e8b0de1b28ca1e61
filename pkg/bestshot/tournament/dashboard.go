package tournament

import (
	"context"
	"time"
	_ "time/tzdata" // the runtime has no database of time zones

	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

// GetDashboard is the request for the matches of a day.
type GetDashboard struct {
	auth.User
	Day      string `query:"day" format:"date" doc:"The day, in the time zone; today if absent." example:"2026-06-11"`
	TimeZone string `query:"timeZone" maxLength:"64" doc:"The time zone of the day, a name of the IANA database; UTC if absent." example:"Europe/Madrid"`
}

// DayMatch is a match of a day.
type DayMatch struct {
	TournamentID string       `json:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Round        string       `json:"roundSlug" doc:"The slug of the round."`
	Guessed      bool         `json:"guessed" doc:"Whether the caller has guessed it."`
	Guess        *guess.Guess `json:"guess,omitempty" doc:"The guess of the caller, with what it has earned; absent if there is none."`
	view.Match
}

type dayRow struct {
	TournamentID string `db:"tournament_id"`
	Round        string `db:"round_slug"`
	Guessed      bool   `db:"guessed"`
	view.MatchRow
}

// Dashboard is the answer with the matches of a day.
type Dashboard struct {
	Body struct {
		Data []DayMatch `json:"data" doc:"Of upcoming and active tournaments, in the order of their kick-offs, at most 200."`

		NextDeadline *time.Time `json:"nextDeadline,omitempty" doc:"The kick-off of the next match that the caller has not guessed, on any day, in the tournaments that the caller plays: those with a guess of the caller, and those that a league of the caller follows. Absent if there is none."`
	}
}

// maxDay bounds the matches of a day. A league has at most ten a day.
const maxDay = 200

// GetDashboardFunction returns the matches of a day.
func GetDashboardFunction() app.Function {
	return app.API(
		reader("get-dashboard", "Returns the matches of a day.", "Members do not see today's matches.",
			"/dashboard", 12),
		Open, (*Tournaments).GetDashboard)
}

// GetDashboard returns the matches of a day in the upcoming and active tournaments, with the guesses of the
// caller, and the caller's next deadline. Its cost does not depend on the number of members: it reads
// matches of a day, and guesses of the caller by indexes.
func (s *Tournaments) GetDashboard(ctx context.Context, in *GetDashboard) (*Dashboard, error) {
	begins, ends, err := dayOf(in, s.now())
	if err != nil {
		return nil, err
	}

	all, err := pg.All[dayRow](ctx, s.DB, sql.ListMatchesOfDay, in.UserID, begins, maxDay, ends)
	if err != nil {
		return nil, err
	}

	out := &Dashboard{}

	out.Body.Data = make([]DayMatch, len(all))
	for i, r := range all {
		out.Body.Data[i] = DayMatch{TournamentID: r.TournamentID, Round: r.Round, Guessed: r.Guessed, Match: r.Match()}
	}

	id, ok, err := member.Find(ctx, s.DB, in.UserID)
	if err != nil || !ok {
		return out, err
	}

	if err := addGuesses(ctx, s.DB, in.UserID, id, out.Body.Data); err != nil {
		return nil, err
	}

	next, ok, err := pg.Value[time.Time](ctx, s.DB, sql.GetNextDeadline, id)
	if ok {
		next = next.UTC()
		out.Body.NextDeadline = &next
	}

	return out, err
}

// addGuesses adds the guesses of a user, whose member has an id, to matches.
func addGuesses(ctx context.Context, s pg.Session, userID, memberID string, matches []DayMatch) error {
	var ids []string

	for _, m := range matches {
		if m.Guessed {
			ids = append(ids, m.ID)
		}
	}

	if len(ids) == 0 {
		return nil
	}

	guesses, err := guess.List(ctx, s, userID, ids, []string{memberID})
	if err != nil {
		return err
	}

	byMatch := map[string]*guess.Guess{}
	for i := range guesses {
		byMatch[guesses[i].MatchID] = &guesses[i].Guess
	}

	for i := range matches {
		matches[i].Guess = byMatch[matches[i].ID]
	}

	return nil
}

// dayOf returns when the day of a request begins and ends: from midnight to midnight of the time zone, which
// is 23 to 25 hours. Where clocks skip midnight, the day begins with the first hour that there is.
func dayOf(in *GetDashboard, now time.Time) (begins, ends time.Time, err error) {
	zone := time.UTC

	if in.TimeZone != "" {
		if zone, err = httpapi.TimeZone(in.TimeZone); err != nil {
			return begins, ends, problem.In("query.timeZone", "%v", err)
		}
	}

	day := now.In(zone)

	if in.Day != "" {
		if day, err = time.Parse(time.DateOnly, in.Day); err != nil {
			return begins, ends, err // the schema has checked it
		}
	}

	year, month, n := day.Date()

	return midnight(year, month, n, zone), midnight(year, month, n+1, zone), nil
}

// midnight returns the beginning of a day.
func midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if at.Hour() == 23 { // in the offset of before
		at = at.Add(time.Hour)
	}

	return at
}
