package event

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Event is an event as the API returns it.
type Event struct {
	ID       string    `json:"id" example:"2026-03-08-clash-of-tides" doc:"The id of the event: its date and slug."`
	Name     string    `json:"name" doc:"The name of the event."`
	Date     string    `json:"date" format:"date" doc:"The local date of the event."`
	StartsAt time.Time `json:"startsAt" doc:"When the event starts."`
	LockAt   time.Time `json:"lockAt" doc:"Predictions are accepted until this time, by the server's clock."`
	State    string    `json:"state" enum:"upcoming,broadcast,scored" doc:"upcoming: accepts predictions. broadcast: locked. scored: the points are final unless a result is corrected."`
	Bonus    int       `json:"bonus" doc:"Additional points for a prediction with every match correct. 0: no bonus."`
	Updating bool      `json:"updating" doc:"Results have changed, and the event is being scored again."`

	RevealAtLock bool `json:"revealAtLock" doc:"Members see the picks of all members from the lock on. Otherwise they see them once the event is scored."`

	Confidence bool `json:"confidence,omitempty" doc:"A right pick brings its weight instead of the points of the match: each pick has another, from 1 to the number of matches."`
	Joker      bool `json:"joker,omitempty" doc:"One pick of a member may count double."`
	Survivor   bool `json:"survivor,omitempty" doc:"A member may pick one winner of the event for the survivor game of the year."`
}

func newEvent(e item.Event, now time.Time) Event {
	out := Event{
		ID:           e.ID,
		Name:         e.Name,
		Date:         strings.ReplaceAll(e.Date, "/", "-"),
		StartsAt:     item.ParseTime(e.StartsAt),
		LockAt:       item.ParseTime(e.LockAt),
		State:        e.State,
		Bonus:        e.Bonus,
		RevealAtLock: e.RevealAtLock,
		Confidence:   e.Confidence,
		Joker:        e.Joker,
		Survivor:     e.Survivor,
	}
	if out.State == item.Upcoming && !e.IsOpen(now) {
		out.State = item.Broadcast // LockEvents has not written it yet
	}

	out.Updating = e.State == item.Scored && e.ScoredRev != e.ResultsRev

	return out
}

// Events is the service of events, for members and administrators.
type Events struct {
	db    dynamo.DB
	queue queue.Sender
	files *http.Client
	now   func() time.Time
}

// ListEvents is the request for a page of events.
type ListEvents struct {
	auth.User
	Limit  int32  `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor string `query:"cursor" maxLength:"100" doc:"The value of next in the previous page."`
	Year   string `query:"year" pattern:"^[0-9]{4}$" doc:"Only events of this year."`
}

// ListedEvent is an event of a list.
type ListedEvent struct {
	Event
	Picks *PickCount `json:"picks,omitempty" doc:"How far the caller's prediction is. Absent once the event is locked."`
}

// PickCount is how far a prediction of an open event is.
type PickCount struct {
	Valid    int  `json:"valid" doc:"The number of matches with a valid pick."`
	Matches  int  `json:"matches" doc:"The number of matches on the card."`
	Complete bool `json:"complete" doc:"Every match has a valid pick."`
}

// EventList is a page of events. Next is the cursor of the page that follows,
// absent at the end.
type EventList struct {
	httpapi.Cached
	Vary string `header:"Vary"`
	Body struct {
		Events []ListedEvent `json:"events" doc:"The events of the page."`
		Next   string        `json:"next,omitempty"`
	}
}

// cacheList is how long the caller's client may keep a page of events. A client that has saved a
// prediction asks with no-cache for its count.
var cacheList = httpapi.Cached{CacheControl: "private, max-age=60"}

var eventIDs = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*$`)

// ListEventsFunction answers with events.
func ListEventsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/list-events",
		Does:   "Lists events, latest first, with the count of the caller's picks of open ones.",
		IfDown: "The list of events does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events"},
		Uses:   []spec.Access{tables.CheckMember, tables.ListEvents, tables.GetPicks, tables.ReadCard},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenEvents, (*Events).ListEvents, httpapi.ErrBadCursor, item.ErrNotMember)
}

// ListEvents returns a page of events, latest date first; within the page they are
// ordered by start. Open events have the count of the caller's picks. A cursor that is not
// the id of an event, or of another year, is bad_cursor. A caller who is not a member gets
// not_a_member.
func (s *Events) ListEvents(ctx context.Context, in *ListEvents) (*EventList, error) {
	if err := item.CheckMember(ctx, s.db, in.UserID); err != nil {
		return nil, err
	}

	q := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListEvents, item.EventTag, item.EventRef(in.Year)), Limit: in.Limit, Backward: true}
	if in.Cursor != "" {
		if !eventIDs.MatchString(in.Cursor) || !strings.HasPrefix(in.Cursor, in.Year) {
			return nil, httpapi.ErrBadCursor
		}

		q.After = item.EventKey(in.Cursor)
	}

	rows, last, err := dynamo.Query[item.Event](ctx, s.db, tables.ListEvents, q)
	if err != nil {
		return nil, err
	}

	now := s.now()

	picks, err := s.countPicks(ctx, slices.DeleteFunc(slices.Clone(rows), func(e item.Event) bool { return !e.IsOpen(now) }), in.UserID)
	if err != nil {
		return nil, err
	}

	out := &EventList{Cached: cacheList, Vary: "Authorization"}
	out.Body.Events = []ListedEvent{}

	for _, e := range rows {
		if e.State != item.Deleting {
			out.Body.Events = append(out.Body.Events, ListedEvent{newEvent(e, now), picks[e.ID]})
		}
	}

	slices.SortStableFunc(out.Body.Events, func(a, b ListedEvent) int { return b.StartsAt.Compare(a.StartsAt) })

	if last != nil {
		out.Body.Next = rows[len(rows)-1].ID
	}

	return out, nil
}

// countPicks returns the count of a member's picks of open events, by event. It reads the
// member's predictions, and the card of an event on which picks became void since.
func (s *Events) countPicks(ctx context.Context, open []item.Event, userID string) (map[string]*PickCount, error) {
	counts, events := map[string]*PickCount{}, map[string]item.Event{}

	var keys []dynamo.Item

	for _, e := range open {
		counts[e.ID], events[e.ID] = &PickCount{Matches: e.Matches}, e
		keys = append(keys, item.PredictionKey(userID, e.ID))
	}

	mine, err := dynamo.GetAll[item.Prediction](ctx, s.db, tables.GetPicks, keys)
	if err != nil {
		return nil, err
	}

	for _, p := range mine {
		c := counts[p.EventID]

		c.Valid = len(p.Predictions)
		if p.CardRev < events[p.EventID].VoidRev {
			card, _, err := item.ReadCard(ctx, s.db, p.EventID)
			if err != nil {
				return nil, err
			}

			c.Valid, c.Matches = len(p.Picks(card)), len(card)
		}

		c.Complete = c.Valid == c.Matches && c.Matches > 0
	}

	return counts, nil
}

// CreateEvent is the request for a new event.
type CreateEvent struct {
	auth.Admin
	Body struct {
		Name     string    `json:"name" format:"display-name" maxLength:"64" doc:"The name of the event."`
		Date     string    `json:"date" format:"date" doc:"The local date of the event. Date and slug form the id, which never changes."`
		Slug     string    `json:"slug" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" maxLength:"48" example:"clash-of-tides" doc:"The part of the id after the date."`
		StartsAt time.Time `json:"startsAt" doc:"The start of the event, including the preshow."`
		LockAt   time.Time `json:"lockAt,omitempty" doc:"Predictions are accepted until this time. Default: one hour before startsAt."`
		Bonus    int       `json:"bonus,omitempty" minimum:"0" maximum:"900" doc:"Additional points for a prediction with every match correct."`

		RevealAtLock bool `json:"revealAtLock,omitempty" doc:"Members see the picks of all members from the lock on."`

		Confidence bool `json:"confidence,omitempty" doc:"A right pick brings its weight instead of the points of the match."`
		Joker      bool `json:"joker,omitempty" doc:"One pick of a member may count double."`
		Survivor   bool `json:"survivor,omitempty" doc:"Members may pick one winner of the event for the survivor game of the year."`
	}
}

// EventPage is the answer with an event.
type EventPage struct {
	Status int
	Body   Event
}

// lockAhead is the time from lockAt to startsAt if lockAt is not given.
const lockAhead = time.Hour

// CreateEventFunction creates an event.
func CreateEventFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/create-event",
		Does:   "Creates an event.",
		IfDown: "Administrators cannot create events.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events", Answers: []int{201}},
		Uses:   []spec.Access{tables.CreateEvent},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).CreateEvent, errDeleting, errExists)
}

// CreateEvent creates an event. If the id is taken it returns event_exists, except
// that an identical request gets the same answer again. The id of a deleted event is
// taken, as event_deleting, until all of its predictions are deleted.
func (s *Events) CreateEvent(ctx context.Context, in *CreateEvent) (*EventPage, error) {
	b := in.Body
	if b.LockAt.IsZero() {
		b.LockAt = b.StartsAt.Add(-lockAhead)
	}

	day, _ := time.Parse(time.DateOnly, b.Date) // its format was validated
	if err := inOrder(day, b.StartsAt, b.LockAt); err != nil {
		return nil, err
	}

	if first := item.FirstRecent(s.now()); b.Date < first { // LockEvents would never end its deletion
		return nil, problem.In("body.date", "date must be %s or later: older events are not handled", first)
	}

	id := b.Date + "-" + b.Slug
	e := item.Event{
		Row:          item.Row{PK: item.EventTag, SK: item.EventRef(id), GSIPK: item.EventRef(id), GSISK: item.EventTag, Type: item.EventType},
		ID:           id,
		Name:         b.Name,
		Date:         day.Format(dateLayout),
		StartsAt:     item.FormatTime(b.StartsAt),
		LockAt:       item.FormatTime(b.LockAt),
		State:        item.Upcoming,
		Bonus:        b.Bonus,
		RevealAtLock: b.RevealAtLock,
		Rules:        item.Rules{Confidence: b.Confidence, Joker: b.Joker, Survivor: b.Survivor},
		CardRev:      int(s.now().UnixMilli()),
	}

	err := dynamo.Put(ctx, s.db, tables.CreateEvent, e, dynamo.Absent[item.Event]("PK"))
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		var there item.Event
		if err := attributevalue.UnmarshalMap(refused.Item, &there); err != nil {
			return nil, err
		}

		there.CardRev, there.Matches, there.VoidRev = e.CardRev, e.Matches, e.VoidRev
		if there.State == item.Deleting {
			return nil, errDeleting.With(map[string]any{"deletedAt": item.ParseTime(there.DeletedAt)})
		}

		if there != e {
			return nil, errExists
		}
	} else if err != nil {
		return nil, err
	}

	return &EventPage{http.StatusCreated, newEvent(e, s.now())}, nil
}

// dateLayout is the format of dates in items.
const dateLayout = "2006/01/02"

// inOrder returns a validation error if the event locks after its start, if a time is not within
// the years 2000 to 2999, or if the date is not that of the start in any time zone.
func inOrder(day, starts, locks time.Time) error {
	switch {
	case starts.UTC().Year() < 2000 || starts.UTC().Year() > 2999:
		return problem.In("body.startsAt", "startsAt must be in the years 2000 to 2999")
	case locks.UTC().Year() < 2000 || locks.After(starts):
		return problem.In("body.lockAt", "lockAt must be in the year 2000 or later, and not after startsAt")
	case starts.Sub(day).Abs() > 48*time.Hour:
		return problem.In("body.date", "date must be the local date of startsAt")
	}

	return nil
}

// UpdateEvent is the request to change the fields that are given.
type UpdateEvent struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Body    struct {
		Name     *string    `json:"name,omitempty" format:"display-name" maxLength:"64" doc:"The new name of the event."`
		Date     *string    `json:"date,omitempty" format:"date" doc:"The local date of the event. The id does not change."`
		StartsAt *time.Time `json:"startsAt,omitempty" doc:"The start. Without date and lockAt in the request, these move by the same time, the date by whole days."`
		LockAt   *time.Time `json:"lockAt,omitempty" doc:"A new lockAt in the future opens a locked event that never had a result, unless the request has a state."`
		State    *string    `json:"state,omitempty" enum:"upcoming,broadcast" doc:"upcoming: open. broadcast: locked. To score the event, use POST /admin/events/{eventId}/score."`
		Bonus    *int       `json:"bonus,omitempty" minimum:"0" maximum:"900" doc:"Additional points for a prediction with every match correct."`

		RevealAtLock *bool `json:"revealAtLock,omitempty" doc:"Members see the picks of all members from the lock on. It can change until the lock."`

		Confidence *bool `json:"confidence,omitempty" doc:"A right pick brings its weight instead of the points of the match. It can change until the lock, as joker and survivor."`
		Joker      *bool `json:"joker,omitempty" doc:"One pick of a member may count double."`
		Survivor   *bool `json:"survivor,omitempty" doc:"Members may pick one winner of the event for the survivor game of the year."`
	}
}

// UpdateEventFunction changes an event.
func UpdateEventFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/update-event",
		Does:   "Changes the name, times, bonus or state of an event.",
		IfDown: "Administrators cannot change events. Events lock at their present lockAt.",
		On:     spec.Route{Method: "PATCH", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeEvent, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).UpdateEvent,
		errCardOverflow, errLocked, errNoTransition, errNoTransition, errNoTransition, item.ErrChanged,
		item.ErrNoEvent)
}

// UpdateEvent changes an event. An event can be reopened until its first result is
// entered, if lockAt is in the future; otherwise the answer is bad_transition. A locked
// event whose lockAt moves into the future opens, unless the request has a state. After a
// change of the bonus, a scored event is scored again. Whether the lock reveals the picks can
// change until the lock; then the answer is event_locked. So can the rules.
func (s *Events) UpdateEvent(ctx context.Context, in *UpdateEvent) (*EventPage, error) {
	was, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	e, b, now := was.Event, in.Body, s.now()
	starts, locks := item.ParseTime(e.StartsAt), item.ParseTime(e.LockAt)

	day, err := time.Parse(dateLayout, e.Date)
	if err != nil {
		return nil, err
	}

	if b.StartsAt != nil {
		by := b.StartsAt.Sub(starts)
		day, starts, locks = day.Add(by.Round(24*time.Hour)), *b.StartsAt, locks.Add(by)
	}

	if b.Date != nil {
		day, _ = time.Parse(time.DateOnly, *b.Date)
	}

	if b.LockAt != nil {
		locks = *b.LockAt
	}

	if err := inOrder(day, starts, locks); err != nil {
		return nil, err
	}

	e.Date, e.StartsAt, e.LockAt = day.Format(dateLayout), item.FormatTime(starts), item.FormatTime(locks)
	if b.Name != nil {
		e.Name = *b.Name
	}

	if e.State == item.Broadcast && e.ResultsRev == 0 && e.LockAt != was.LockAt && now.Before(locks) {
		e.State = item.Upcoming
	}

	if b.State != nil {
		switch {
		case e.State == item.Scored:
			return nil, noTransition("the event is scored: its state cannot change")
		case *b.State == item.Upcoming && e.ResultsRev > 0:
			return nil, noTransition("the event has results: it cannot be opened again")
		case *b.State == item.Upcoming && !now.Before(locks):
			return nil, noTransition("lockAt has passed: to open the event, send a lockAt in the future")
		}

		e.State = *b.State
	}

	if b.RevealAtLock != nil && *b.RevealAtLock != e.RevealAtLock {
		if !was.IsOpen(now) {
			return nil, errLocked
		}

		e.RevealAtLock = *b.RevealAtLock
	}

	for _, rule := range []struct{ is, asked *bool }{{&e.Confidence, b.Confidence}, {&e.Joker, b.Joker}, {&e.Survivor, b.Survivor}} {
		if rule.asked != nil {
			*rule.is = *rule.asked
		}
	}

	if e.Rules != was.Rules {
		if !was.IsOpen(now) {
			return nil, errLocked
		}

		if e.Worth(was.Card)+e.Bonus > item.MaxEventPoints {
			return nil, overflow("body")
		}

		e.CardRev++ // predictions are saved by the rules
	}

	if b.Bonus != nil && *b.Bonus != e.Bonus {
		if e.Worth(was.Card)+*b.Bonus > item.MaxEventPoints {
			return nil, overflow("body.bonus")
		}

		e.Bonus = *b.Bonus

		e.CardRev++
		if e.ResultsRev > 0 {
			e.ResultsRev++
			e.ResultsAt = item.FormatTime(now)
		}
	}

	if e != was.Event {
		err := s.save(ctx, e, was.Event, in.UserID)
		if err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrChanged)
		}
	}

	if err := s.rescore(ctx, e); err != nil {
		return nil, err
	}

	return &EventPage{http.StatusOK, newEvent(e, now)}, nil
}

// save writes the changed event, and a correction if the change affects points.
func (s *Events) save(ctx context.Context, e, was item.Event, by string) error {
	if e.ResultsRev == was.ResultsRev {
		return dynamo.Update(ctx, s.db, tables.ChangeEvent, e.Key(), setEvent(e), unchanged(was))
	}

	points := func(e item.Event) string { return fmt.Sprintf("%d points", e.Bonus) }

	return dynamo.Transact(ctx, s.db, tables.SetResult,
		dynamo.UpdateWrite(e.Key(), setEvent(e), unchanged(was)),
		putCorrection(e, item.Match{Name: "Perfect card"}, by, points(was), points(e), ""))
}

var (
	errDeleting = problem.New(problem.Conflict, "event_deleting",
		"the event with this id is being deleted: the id is free again %d minutes later", indexLag/time.Minute)
	errExists       = problem.New(problem.Conflict, "event_exists", "an event with this id exists already")
	errScored       = problem.New(problem.Conflict, "event_scored", "the event is scored, or its scoring was requested")
	errNoTransition = noTransition("the state of the event cannot change")
)

// noTransition is the problem of a change of state that is not possible.
func noTransition(why string) *problem.Error {
	return problem.New(problem.Conflict, "bad_transition", "%s", why)
}

// setEvent returns the changes of the attributes that administrators set.
func setEvent(e item.Event) dynamo.Changes {
	return dynamo.Set(e, "name", "date", "startsAt", "lockAt", "state", "bonus", "cardRev", "resultsRev", "resultsAt", "revealAtLock",
		"confidence", "joker", "survivor")
}

// unchanged is the condition that the attributes of an event that its writers read or set are as
// they were read.
func unchanged(e item.Event) expression.ConditionBuilder {
	return dynamo.Unchanged(e, "state", "cardRev", "resultsRev", "lockAt", "startsAt", "date", "name", "revealAtLock", "confidence", "joker",
		"survivor")
}

// rescore queues the scoring of an event whose points are of older results. A second
// message changes nothing.
func (s *Events) rescore(ctx context.Context, e item.Event) error {
	if e.ScoringAt == "" || e.ScoredRev == e.ResultsRev {
		return nil
	}

	return s.queue.SendFIFO(ctx, score.Queue, e.ID, score.Request{EventID: e.ID})
}

// DeleteEvent is the request to delete an event.
type DeleteEvent struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
}

// DeleteEventFunction deletes an event.
func DeleteEventFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-event",
		Does:   "Deletes an event whose scoring was not requested, with its card and predictions.",
		IfDown: "Administrators cannot delete events.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}"},
		Uses:   []spec.Access{tables.ChangeEvent, tables.EntriesOf, tables.RemoveEvent, tables.LeaguesWithTables},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenEvents, (*Events).DeleteEvent, errScored, item.ErrNoEvent)
}

// DeleteEvent deletes an event with its card and all of its predictions. An event
// whose scoring was requested is event_scored. The event is marked first, so that it
// accepts no predictions and no request finds it. LockEvents deletes what is left, and the
// mark; a second run does the same as the first.
func (s *Events) DeleteEvent(ctx context.Context, in *DeleteEvent) (*httpapi.Removed, error) {
	mark := item.Event{State: item.Deleting, DeletedAt: item.FormatTime(s.now())}

	err := dynamo.Update(ctx, s.db, tables.ChangeEvent, item.EventKey(in.EventID), dynamo.Set(mark, "state").SetIfAbsent(mark, "deletedAt"),
		dynamo.Exists[item.Event]("PK").And(dynamo.Absent[item.Event]("scoringAt")))
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		if refused.Item == nil {
			return nil, item.ErrNoEvent
		}

		return nil, errScored
	}

	if err != nil {
		return nil, err
	}

	if err := s.sweep(ctx, in.EventID); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// sweep deletes the card, the log, the rankings and the predictions of a marked event. The
// index of the predictions may lag, and a scorer that began before the mark may write the
// ranking, so a single sweep may leave some.
func (s *Events) sweep(ctx context.Context, eventID string) error {
	entrants, err := item.ReadEntrants(ctx, s.db, eventID)
	if err != nil {
		return err
	}

	var keys []dynamo.Item
	for _, user := range entrants {
		keys = append(keys, item.PredictionKey(user, eventID))
	}

	partitions := []string{item.EventRef(eventID), ranking.Ref(eventID)}

	for leagues, err := range item.LeaguesWithTables(ctx, s.db, "") {
		if err != nil {
			return err
		}

		for _, id := range leagues {
			partitions = append(partitions, ranking.Ref(item.TableScope(id, eventID)))
		}
	}

	more, err := item.KeysOf(ctx, s.db, tables.RemoveEvent, partitions)
	if err != nil {
		return err
	}

	return dynamo.DeleteAll(ctx, s.db, tables.RemoveEvent, append(keys, more...))
}

// finishDeletion sweeps a marked event again. Once the index must contain all of its predictions,
// it deletes the mark.
func (s *Events) finishDeletion(ctx context.Context, e item.Event, now time.Time) error {
	err := s.sweep(ctx, e.ID)
	if err != nil || now.Sub(item.ParseTime(e.DeletedAt)) < indexLag {
		return err
	}

	_, err = dynamo.Delete(ctx, s.db, tables.RemoveEvent, e.Key(), dynamo.Unchanged(e, "state", "deletedAt"))

	return dynamo.IgnoreRefused(err) // refused: another run has deleted it
}

// ListEntries is the request for the members with a prediction of an event.
type ListEntries struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor  string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// EntryList is a page of member ids.
type EntryList struct {
	Body struct {
		_ struct{} `schema:"EntrantListBody"`

		Count   int      `json:"count" doc:"The number of members on all pages, when the first of them was read."`
		AtLeast bool     `json:"atLeast,omitempty" doc:"There are more members than count, which is 1,000 then. Absent for an event whose ranking is written."`
		UserIDs []string `json:"userIds" doc:"The ids of the members of this page who have saved a prediction, by points, the fewest first, then by id."`
		Next    string   `json:"next,omitempty"`
	}
}

// mostCounted is how many members are counted in the index: as many as the largest page has.
const mostCounted = 1_000

// ListEntriesFunction lists the members with a prediction of an event.
func ListEntriesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/list-entries",
		Does:   "Lists the members with a prediction of an event, without their picks.",
		IfDown: "Administrators cannot list the members with a prediction.",
		On:     spec.Route{Method: "GET", Auth: spec.Admin, Path: "/admin/events/{eventId}/entries"},
		Uses:   []spec.Access{tables.FindEvent, tables.EntriesOf, tables.GetRanking},
		Memory: 512, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).ListEntries, httpapi.ErrBadCursor, item.ErrNoEvent)
}

// ListEntries returns the ids of the members with a prediction, without their picks. A page costs the same among any
// number of members: the count is that of the ranking, once it is written. Before that the first page counts in the
// index, up to mostCounted members, which costs what a page of 1,000 does. The others read what they show. A scoring
// between two pages changes the order, so that a member may be on both, or on none.
func (s *Events) ListEntries(ctx context.Context, in *ListEntries) (*EntryList, error) {
	on, err := item.ReadEvent(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	out := &EntryList{}
	b := &out.Body
	q := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.EntriesOf, item.EventRef(on.ID), item.ScorePrefix), Limit: int32(in.Limit + 1)}
	counts := false

	switch {
	case in.Cursor != "":
		from := entryCursors.FindStringSubmatch(in.Cursor)
		if from == nil {
			return nil, httpapi.ErrBadCursor
		}

		b.Count, _ = strconv.Atoi(from[1]) // of at most nine digits
		b.AtLeast = from[2] != ""
		q.After = dynamo.StartKey(tables.EntriesOf, item.EventRef(on.ID), item.ScorePrefix+from[3]+"#"+from[4],
			item.UserRef(from[4]), item.EventRef(on.ID))
	case on.State == item.Scored || on.RevealAtLock && on.RevealedAt != "" && !on.IsOpen(s.now()):
		if b.Count, err = ranking.Count(ctx, s.db, on.ID); err != nil {
			return nil, err
		}
	default:
		counts, q.Limit = true, max(q.Limit, mostCounted+1)
	}

	var places []string // in the index: points and id

	for most := q.Limit; q.Limit > 0; q.Limit = most - int32(len(places)) {
		page, last, err := dynamo.QueryFlat[struct {
			GSISK string `dynamodbav:"GSI_SK"`
		}](ctx, s.db, tables.EntriesOf, q)
		if err != nil {
			return nil, err
		}

		for _, e := range page {
			places = append(places, strings.TrimPrefix(e.GSISK, item.ScorePrefix))
		}

		if last == nil {
			break
		}

		q.After = last
	}

	if counts {
		b.Count, b.AtLeast = min(len(places), mostCounted), len(places) > mostCounted
	}

	b.UserIDs = []string{}

	if len(places) > in.Limit {
		places = places[:in.Limit]

		more := ""
		if b.AtLeast {
			more = "~"
		}

		b.Next = fmt.Sprint(b.Count, more, "_", strings.Replace(places[in.Limit-1], "#", "_", 1))
	}

	for _, p := range places {
		_, id, _ := strings.Cut(p, "#")
		b.UserIDs = append(b.UserIDs, id)
	}

	return out, nil
}

// entryCursors are the count of all pages, a tilde if there are more members, and the place of the last member of a
// page in the index.
var entryCursors = regexp.MustCompile(`^([0-9]{1,9})(~?)_([0-9]{3})_([^#]+)$`)

// OpenEvents opens the service of events.
func OpenEvents(_ context.Context, env app.Env) (*Events, error) {
	return &Events{db: item.OpenTable(env), queue: queue.Open(env.AWS, env.Queues), files: newFetcher(env.HTTP), now: env.Now}, nil
}

// Prefixes of keys, and keys that are one word.
const logPrefix = "LOG#"
