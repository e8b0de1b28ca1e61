package public

import (
	"context"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// ShowCalendar is the request for the calendar of a season.
type ShowCalendar struct{ SeasonPath }

// Calendar is the answer with a calendar (RFC 5545).
type Calendar struct {
	httpapi.Cached
	Robots string `header:"X-Robots-Tag" doc:"noindex, if search engines shall leave the calendar out."`
	Body   []byte `contentType:"text/calendar; charset=utf-8"`
}

// How many games a calendar has, so that what it reads does not grow with the season.
const (
	calendarPast    = 100
	calendarNext    = 200
	calendarDeleted = 100
)

// ShowCalendarFunction returns the games of a season to calendar apps.
func ShowCalendarFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-calendar",
		Does:   "Returns the games of a season to calendar apps.",
		IfDown: "Calendars do not follow the games.",
		On:     spec.Route{Method: "GET", Path: "/l/{league}/{season}/calendar.ics", Auth: spec.Public, OthersCall: true},
		Uses:   []spec.Access{tables.FindSlug, tables.GetLeague, tables.GetSeason, tables.ReadCalendar},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ShowCalendar, ErrNotFound)
}

// ShowCalendar returns the games of a season for calendar apps: the latest and the next. A game
// keeps its UID, and its SEQUENCE grows with each change, so that subscribers see it move. A game
// that was deleted stays for game.Remembered, cancelled, unless later ones were too many. Between
// changes the answer is the same, unless there are more games than it has.
func (s *Service) ShowCalendar(ctx context.Context, in *ShowCalendar) (*Calendar, error) {
	l, x, err := s.season(ctx, in.League, in.Season)
	if err != nil {
		return nil, err
	}

	text, err := s.calendar(ctx, l, x)
	out := &Calendar{Cached: httpapi.Cached{CacheControl: "public, max-age=300"}, Body: text}

	if !l.Listed() {
		out.Robots = web.NoIndex
	}

	return out, err
}

// calendar returns the calendar of a season.
func (s *Service) calendar(ctx context.Context, l item.League, x item.Season) ([]byte, error) {
	pk, now := item.SeasonKey(x.ID), item.Games+item.Format(s.now())

	var rows []item.Row[item.Listing]

	for _, r := range []dynamo.Range{
		{Key: dynamo.KeyBetween(tables.ReadCalendar, pk, item.Games, now), Backward: true, Limit: calendarPast},
		{Key: dynamo.KeyBetween(tables.ReadCalendar, pk, now, item.Games+"~"), Limit: calendarNext},
		{Key: dynamo.KeyBeginsWith(tables.ReadCalendar, pk, item.Cancelled), Backward: true, Limit: calendarDeleted},
	} {
		some, _, err := dynamo.Query[item.Row[item.Listing]](ctx, s.db, tables.ReadCalendar, r)
		if err != nil {
			return nil, err
		}

		if r.Backward {
			slices.Reverse(some)
		}

		rows = append(rows, some...)
	}

	c := ics.NewCalendar()
	c.SetProductId("-//Matchday//3FC//EN")
	c.SetMethod(ics.MethodPublish)
	c.SetName(l.Name + ", " + x.Name)
	c.SetUrl(s.url(l, x.Slug))
	c.SetRefreshInterval("PT1H")
	c.SetXPublishedTTL("PT1H")
	c.SetXWRTimezone(x.TimeZone)

	for _, r := range rows {
		s.add(c, l, x, r)
	}

	return []byte(c.Serialize(ics.WithNewLineWindows)), nil
}

// add adds a game to a calendar.
func (s *Service) add(c *ics.Calendar, l item.League, x item.Season, r item.Row[item.Listing]) {
	g := r.V()
	e := c.AddEvent(strings.ToLower(g.GameID) + "@threefc")
	e.SetSequence(r.Rev)
	e.SetCreatedTime(item.Parse(r.CreatedAt))
	e.SetModifiedAt(item.Parse(r.UpdatedAt))
	e.SetDtStampTime(item.Parse(r.UpdatedAt)) // not the time of the answer: it would be another each time
	start := item.Parse(g.StartTs)
	e.SetStartAt(start)
	e.SetEndAt(start.Add(length(*g)))
	e.SetSummary(title(g.Teams))

	if g.Location != "" {
		e.SetLocation(g.Location)
	}

	if g.Status == item.CancelledGame {
		e.SetStatus(ics.ObjectStatusCancelled)
		return
	}

	e.SetStatus(ics.ObjectStatusConfirmed)
	if g.State == item.Postponed {
		e.SetStatus(ics.ObjectStatusTentative)
	}

	e.SetURL(s.url(l, x.Slug, g.Slug))

	about := l.Name + ", " + x.Name
	if g.State == item.Postponed || g.Status != item.Scheduled {
		about += "\n" + listedState(*g, s.now())
	}

	e.SetDescription(about)
}
