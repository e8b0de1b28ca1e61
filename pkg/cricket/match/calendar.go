package match

import (
	"context"
	"slices"
	"sync"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Calendar knows the matches of the active leagues from calendarBack ago to calendarAhead, as they were up to
// calendarTTL ago. One read of a process is for all requests of that time. The function uses tables.DaySummaries and
// tables.AllLeagues.
type Calendar struct {
	db      dynamo.DB // eventually consistent
	now     func() time.Time
	leagues *catalog.Leagues

	mu      sync.Mutex
	expires time.Time
	all     []SummaryRow
}

const (
	calendarTTL   = time.Minute
	calendarBack  = MaxLasts
	calendarAhead = 7 * 24 * time.Hour
	// perCalendar bounds a query of the calendar: more than all leagues of the world play in two weeks.
	perCalendar = 500
)

// NewCalendar returns the calendar of db.
func NewCalendar(db dynamo.DB, now func() time.Time) *Calendar {
	return &Calendar{db: db.Eventual(), now: now, leagues: catalog.NewLeagues(db, now)}
}

// Matches returns the matches of the calendar in the order of their start. The callers share them and must not
// change them.
func (c *Calendar) Matches(ctx context.Context) ([]SummaryRow, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	now := c.now()
	if now.Before(c.expires) {
		return c.all, nil
	}

	all, err := Between(ctx, c.db, now.Add(-calendarBack), now.Add(calendarAhead))
	if err != nil {
		return nil, err
	}

	inactive, err := c.leagues.Inactive(ctx)
	if err != nil {
		return nil, err
	}

	c.all = slices.DeleteFunc(all, func(r SummaryRow) bool { return inactive[r.LeagueID] })
	c.expires = now.Add(calendarTTL)

	return c.all, nil
}

// Between reads the matches that start between two times, in the order of their start: up to perCalendar of one
// day, and as many of several. It uses tables.DaySummaries.
func Between(ctx context.Context, db dynamo.DB, from, to time.Time) ([]SummaryRow, error) {
	var all []SummaryRow

	for _, s := range []span{severalDays, oneDay} {
		key := dynamo.KeyBetween(tables.DaySummaries, string(s), from.UTC().Format(tables.TimeLayout), to.UTC().Format(tables.TimeLayout))

		rows, _, err := dynamo.Query[SummaryRow](ctx, db, tables.DaySummaries, dynamo.Range{Key: key, Limit: perCalendar})
		if err != nil {
			return nil, err
		}

		all = append(all, rows...)
	}

	slices.SortFunc(all, inOrder)

	return all, nil
}

// Fixture returns the match, its teams, its league and its start.
func (r SummaryRow) Fixture() Fixture {
	return Fixture{
		MatchID: r.MatchID, LeagueID: r.LeagueID, Type: r.Type, StartTime: r.StartTime,
		LocalTeamID: r.LocalTeamID, VisitorTeamID: r.VisitorTeamID,
	}
}
