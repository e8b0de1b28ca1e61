package event

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

const logType = "log"

// MatchFields are the fields of a match that administrators set.
type MatchFields struct {
	Name          string      `json:"name" format:"display-name" maxLength:"64" example:"Tornado Tag Team" doc:"The name of the match."`
	Championships []string    `json:"championships,omitempty" maxItems:"8" format:"display-name" maxLength:"64" doc:"The titles at stake."`
	Points        int         `json:"points" minimum:"1" maximum:"999" doc:"The points of a correct pick."`
	Preshow       bool        `json:"preshow,omitempty" doc:"Whether the match is on the pre-show."`
	Teams         []item.Team `json:"teams" minItems:"2" maxItems:"40" nullable:"false" doc:"The teams, of which one is picked."`
}

// Match is a match of a card as the API returns it.
type Match struct {
	ID string `json:"id" doc:"The id of the match."`
	MatchFields
	Result *item.Result `json:"result,omitempty" doc:"The index of the winning team, from 0, or void. Absent: no result is entered."`
}

func fieldsOf(m item.Match) MatchFields {
	return MatchFields{m.Name, m.Championships, m.Points, m.Preshow, m.Teams}
}

func newMatch(m item.Match) Match {
	return Match{ID: m.ID, MatchFields: fieldsOf(m), Result: (*item.Result)(m.Result)}
}

// setFields sets the fields of a match and the ids of its new teams. A team with an id
// that is not one of the match is unknown_team.
func setFields(m *item.Match, f MatchFields) error {
	teams, wrong := m.Identify(f.Teams)
	if wrong >= 0 {
		return errUnknownTeam.In(fmt.Sprintf("body.teams[%d].id", wrong))
	}

	m.Name, m.Championships, m.Points, m.Preshow, m.Teams = f.Name, f.Championships, f.Points, f.Preshow, teams

	return nil
}

func withoutTeamIDs(f MatchFields) MatchFields {
	f.Teams = slices.Clone(f.Teams)
	for i := range f.Teams {
		f.Teams[i].ID = ""
	}

	return f
}

func teamIDs(m item.Match) []string {
	ids := make([]string, len(m.Teams))
	for i, t := range m.Teams {
		ids[i] = t.ID
	}

	return ids
}

func overflow(field string) error {
	return errCardOverflow.In(field)
}

var (
	errCardOverflow = problem.New(problem.Unprocessable, "card_overflow",
		"the points of a card and its bonus must add up to at most %d", item.MaxEventPoints)
	errCardFull   = problem.New(problem.Unprocessable, "card_full", "a card has at most %d matches", item.MaxMatches)
	errNotTheCard = problem.New(problem.Unprocessable, "not_the_card",
		"matchIds must contain each match of the card exactly once").In("body.matchIds")
	errMatchExists = problem.New(problem.Conflict, "match_exists", "a match with this id and other fields exists already")
	errLocked      = problem.New(problem.Conflict, "event_locked", "the event is locked")
	errUpcoming    = problem.New(problem.Conflict, "event_upcoming", "the event is not locked yet")
	errCardChanged = problem.New(problem.Conflict, "card_changed", "the card has changed: read it again")
	errUnknownTeam = problem.New(problem.Unprocessable, "unknown_team",
		"the id is not that of a team of the match, or is used twice: leave it out for a new team")
	errNoMatch = problem.New(problem.NotFound, "match_not_found", "the match is not on the card")
)

// MatchPage is the answer with a match.
type MatchPage struct {
	Status int
	Body   Match
}

// AddMatch is the request for a new match.
type AddMatch struct {
	auth.Admin
	idem.Key
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Body    struct {
		ID string `json:"id,omitempty" format:"uuid" minLength:"36" maxLength:"36" doc:"An id that the app generates, so that it can repeat the request. Without it the server generates one, always the same for an Idempotency-Key."`
		MatchFields
	}
}

// AddMatchFunction adds a match to a card.
func AddMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/add-match",
		Does:   "Adds a match to the end of a card, and notifies the members who have picked.",
		IfDown: "Administrators cannot add matches.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches", Answers: []int{201}},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenEvents, (*Events).AddMatch,
		errCardFull, errCardOverflow, errLocked, errMatchExists, errUnknownTeam, idem.ErrConflict, item.ErrChanged,
		item.ErrNoEvent)
}

// AddMatch adds a match to the end of the card, and gives ids to its teams. It notifies
// the members who have picked. If the event is locked the answer is event_locked. A
// repeated request with the same id, or Idempotency-Key, notifies them under the same notice id, which reaches
// nobody twice; the same id with other fields is match_exists. If the card changes
// concurrently, AddMatch begins again.
func (s *Events) AddMatch(ctx context.Context, in *AddMatch) (*MatchPage, error) {
	id := strings.ToLower(cmp.Or(in.Body.ID, in.ID(in.UserID, in.EventID), code.NewUUID()))

	var on item.EventWithCard

	m, err := dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (m item.Match, err error) {
		if on, err = item.ReadEventWithCard(ctx, s.db, in.EventID); err != nil {
			return m, err
		}

		m, ok := on.Match(id)
		if !ok {
			return s.addMatch(ctx, on, id, in.Body.MatchFields)
		}

		if !reflect.DeepEqual(withoutTeamIDs(fieldsOf(m)), in.Body.MatchFields) {
			err = errMatchExists
			if in.Body.ID == "" {
				err = idem.ErrConflict
			}
		}

		return m, err
	})
	if err != nil {
		return nil, err
	}

	err = s.notify(ctx, on.Event, m, "%q was added: pick it before it locks.", func(item.Prediction) bool { return true })
	if err != nil {
		return nil, err
	}

	return &MatchPage{http.StatusCreated, newMatch(m)}, nil
}

// addMatch writes a match that is not on the card. If it was removed from the card before,
// its team ids are not used again.
func (s *Events) addMatch(ctx context.Context, on item.EventWithCard, id string, f MatchFields) (item.Match, error) {
	if len(on.Card) == item.MaxMatches {
		return item.Match{}, errCardFull
	}

	if on.Worth(append(slices.Clone(on.Card), item.Match{Points: f.Points}))+on.Bonus > item.MaxEventPoints {
		return item.Match{}, overflow("body.points")
	}

	place, err := item.PlaceSK(len(on.Card) + 1)
	if err != nil {
		return item.Match{}, err
	}

	removed, _ := on.RemovedMatch(id)

	m := item.Match{
		Row: item.Row{PK: item.EventRef(on.ID), SK: item.MatchSK(id), GSIPK: item.EventRef(on.ID), GSISK: place, Type: item.MatchType},
		ID:  id, Since: on.CardRev + 1, LastTeam: removed.LastTeam,
	}
	if err := setFields(&m, f); err != nil {
		return m, err
	}

	e := on.Event
	e.Matches++

	return m, s.change(ctx, on.Event, e, dynamo.PutWrite(m,
		dynamo.Absent[item.Match]("PK").Or(dynamo.Equal[item.Match]("type", item.RemovedType))))
}

// change writes changes of the card, and of the event's attributes of it, if the event is
// open. It increments CardRev, which distinguishes later predictions from earlier ones.
func (s *Events) change(ctx context.Context, was, e item.Event, writes ...dynamo.Write) error {
	now := s.now()
	e.CardRev = was.CardRev + 1
	count := dynamo.UpdateWrite(e.Key(), dynamo.Set(e, "cardRev", "matches", "voidRev"),
		item.IsOpenAt(now).And(dynamo.Unchanged(was, "cardRev")))

	return refused(dynamo.Transact(ctx, s.db, tables.ChangeCard, append(writes, count)...), was, now)
}

// refused returns event_locked or, with the refusal as its cause, changed for a refused
// condition on an open event.
func refused(err error, e item.Event, now time.Time) error {
	switch {
	case !dynamo.IsRefused(err):
		return err
	case !e.IsOpen(now):
		return errLocked
	}

	return item.ErrChanged.Because(err)
}

// UpdateMatch is the request to replace the fields of a match.
type UpdateMatch struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The id of the match."`
	Body    MatchFields
}

// UpdateMatchFunction changes a match.
func UpdateMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:    "pickem/update-match",
		Does:    "Replaces the fields of a match. A change of who competes makes picks on it void, and notifies the members who made them.",
		IfDown:  "Administrators cannot change matches.",
		On:      spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:    []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf},
		Sends:   []spec.Queue{score.Queue, notice.Queue},
		Memory:  256,
		Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenEvents, (*Events).UpdateMatch,
		errCardOverflow, errLocked, errNoMatch, errUnknownTeam, item.ErrChanged, item.ErrNoEvent)
}

// UpdateMatch changes a match. Names can always be corrected: a team keeps its id, and so
// its picks. A team without an id is another team, unless one of the match has the same
// members. Who competes, and the order of the teams, can change until the event locks;
// then the answer is event_locked. A change of who competes makes picks on the match void
// and notifies the members who made them; a repeated request notifies them under the same
// notice id, which reaches nobody twice. After a change of the points, a scored event is
// scored again.
func (s *Events) UpdateMatch(ctx context.Context, in *UpdateMatch) (*MatchPage, error) {
	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	was, ok := on.Match(in.MatchID)
	if !ok {
		return nil, errNoMatch
	}

	changed := slices.Clone(on.Card)
	for i := range changed {
		if changed[i].ID == was.ID {
			changed[i].Points = in.Body.Points
		}
	}

	if on.Worth(changed)+on.Bonus > item.MaxEventPoints {
		return nil, overflow("body.points")
	}

	m, e := was, on.Event
	if err := setFields(&m, in.Body); err != nil {
		return nil, err
	}

	competed, compete := teamIDs(was), teamIDs(m)
	switch {
	case !slices.Equal(competed, compete):
		e.CardRev++
		if !slices.Equal(slices.Sorted(slices.Values(competed)), slices.Sorted(slices.Values(compete))) {
			m.Since, e.VoidRev = e.CardRev, e.CardRev
		}

		err = s.change(ctx, on.Event, e, updateMatch(m))
	case reflect.DeepEqual(was, m):
	default:
		writes := []dynamo.Write{updateMatch(m)}

		e.CardRev++
		if m.Points != was.Points && on.ResultsRev > 0 {
			e.ResultsRev, e.ResultsAt = on.ResultsRev+1, item.FormatTime(s.now())
			writes = append(writes, putCorrection(e, m, in.UserID, fmt.Sprintf("%d points", was.Points), fmt.Sprintf("%d points", m.Points), ""))
		}

		writes = append(writes, dynamo.UpdateWrite(e.Key(), setEvent(e), unchanged(on.Event)))
		err = dynamo.RefusedAs(dynamo.Transact(ctx, s.db, tables.ChangeCard, writes...), item.ErrChanged)
	}

	if err != nil {
		return nil, err
	}

	if err := s.notify(ctx, e, m, "The teams of %q have changed: pick again before it locks.", picked(m)); err != nil {
		return nil, err
	}

	if err := s.rescore(ctx, e); err != nil {
		return nil, err
	}

	return &MatchPage{http.StatusOK, newMatch(m)}, nil
}

// updateMatch returns the write of the fields of an existing match, without its place
// and its result.
func updateMatch(m item.Match) dynamo.Write {
	set := dynamo.Set(m, "name", "championships", "points", "preshow", "teams", "since", "lastTeam")
	return dynamo.UpdateWrite(m.Key(), set, dynamo.Exists[item.Match]("PK"))
}

// DeleteMatch is the request to remove a match from a card.
type DeleteMatch struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The id of the match."`
}

// DeleteMatchFunction removes a match from a card.
func DeleteMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-match",
		Does:   "Deletes a match from a card, and notifies the members who picked it.",
		IfDown: "Administrators cannot delete matches.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf}, Sends: []spec.Queue{notice.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenEvents, (*Events).DeleteMatch, errLocked, errNoMatch, item.ErrChanged, item.ErrNoEvent)
}

// DeleteMatch removes a match from the card of an open event and closes the gap. It
// notifies the members who picked the match. Its item stays as removed, so that a repeated
// request notifies them under the same notice id, which reaches nobody twice.
func (s *Events) DeleteMatch(ctx context.Context, in *DeleteMatch) (*httpapi.Removed, error) {
	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	m, ok := on.Match(in.MatchID)
	if ok {
		rest := slices.DeleteFunc(slices.Clone(on.Card), func(o item.Match) bool { return o.ID == m.ID })

		placed, err := place(rest)
		if err != nil {
			return nil, err
		}

		m.Type, m.GSIPK, m.GSISK, m.Since = item.RemovedType, "", "", on.CardRev+1
		remove := dynamo.UpdateWrite(m.Key(), dynamo.Set(m, "type", "GSI_PK", "GSI_SK", "since"), dynamo.Exists[item.Match]("PK"))
		e := on.Event

		e.Matches, e.VoidRev = e.Matches-1, m.Since
		if err := s.change(ctx, on.Event, e, append(placed, remove)...); err != nil {
			return nil, err
		}
	} else if m, ok = on.RemovedMatch(in.MatchID); !ok {
		return nil, errNoMatch
	}

	if err := s.notify(ctx, on.Event, m, "%q was taken off the card. Your other picks count.", picked(m)); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// place returns the writes of the places that have changed.
func place(card []item.Match) (writes []dynamo.Write, err error) {
	for i, m := range card {
		at, err := item.PlaceSK(i + 1)
		if err != nil {
			return nil, err
		}

		if at != m.GSISK {
			writes = append(writes, dynamo.UpdateWrite(m.Key(), dynamo.Set(item.Match{Row: item.Row{GSISK: at}}, "GSI_SK"),
				dynamo.Exists[item.Match]("PK")))
		}
	}

	return writes, nil
}

// notify sends members a notice of the latest change of who competes in a match: that it was added,
// changed or removed. It sends it to the members who predicted the event before the change, and for
// whom concerned holds, until the event locks. text is a format of the match's name.
func (s *Events) notify(ctx context.Context, e item.Event, m item.Match, text string, concerned func(item.Prediction) bool) error {
	if !e.IsOpen(s.now()) {
		return nil
	}

	n := notice.Notice{
		ID:      fmt.Sprintf("%s#%s#%d", e.ID, m.ID, m.Since),
		Title:   e.Name,
		EventID: e.ID,
		Until:   item.ParseTime(e.LockAt),
		Body:    fmt.Sprintf(text, m.Name),
	}

	for page, err := range item.Predictions(ctx, s.db, e.ID) {
		if err != nil {
			return err
		}

		var users []string

		for _, p := range page {
			if p.CardRev < m.Since && concerned(p) {
				users = append(users, p.UserID())
			}
		}

		if err := notice.Send(ctx, s.queue, n, users); err != nil {
			return err
		}
	}

	return nil
}

// picked returns a function that reports whether a prediction has a pick of a match.
func picked(m item.Match) func(item.Prediction) bool {
	return func(p item.Prediction) bool { _, ok := p.Predictions[m.ID]; return ok }
}

// OrderCard is the request to order a card.
type OrderCard struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Body    struct {
		MatchIDs []string `json:"matchIds" minItems:"1" maxItems:"99" nullable:"false" doc:"The ids of all matches of the card, in the new order."`
	}
}

// CardPage is the answer with a card.
type CardPage struct {
	Body struct {
		Card []Match `json:"card" doc:"The matches of the event, in order."`
	}
}

// OrderCardFunction sets the order of a card.
func OrderCardFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/order-card",
		Does:   "Sets the order of the matches of a card.",
		IfDown: "Administrators cannot change the order of a card.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/card"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).OrderCard, errCardChanged, errNotTheCard, item.ErrNoEvent)
}

// OrderCard orders a card. The ids must be those of the card, each once; otherwise
// the answer is not_the_card. If the card changes concurrently it is card_changed.
func (s *Events) OrderCard(ctx context.Context, in *OrderCard) (*CardPage, error) {
	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	ordered := make([]item.Match, 0, len(on.Card))
	for _, id := range in.Body.MatchIDs {
		m, ok := on.Match(id)
		if !ok || slices.ContainsFunc(ordered, func(o item.Match) bool { return o.ID == m.ID }) {
			return nil, errNotTheCard
		}

		ordered = append(ordered, m)
	}

	if len(ordered) != len(on.Card) {
		return nil, errNotTheCard
	}

	writes, err := place(ordered)
	if err != nil {
		return nil, err
	}

	if len(writes) > 0 {
		count := dynamo.Set(item.Event{CardRev: on.CardRev + 1}, "cardRev")
		writes = append(writes, dynamo.UpdateWrite(on.Key(), count, dynamo.Unchanged(on.Event, "cardRev")))

		err = dynamo.Transact(ctx, s.db, tables.ChangeCard, writes...)
		if dynamo.IsRefused(err) {
			return nil, errCardChanged
		}
	}

	out := &CardPage{}
	for _, m := range ordered {
		out.Body.Card = append(out.Body.Card, newMatch(m))
	}

	return out, err
}

// PutResult is the request to set the result of a match.
type PutResult struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The id of the match."`
	Body    struct {
		Result NewResult `json:"result" doc:"The index of the winning team, from 0, void, or null to clear the result."`
		Reason string    `json:"reason,omitempty" format:"display-name" minLength:"0" maxLength:"200" doc:"The reason, which members can read in the log of changed results."`
	}
}

// NewResult is a result that an administrator enters, or NoResult, which is null in JSON.
type NewResult item.Result

// NoResult clears a result.
const NoResult NewResult = item.Void - 1

// UnmarshalJSON reads an item.Result, or null.
func (r *NewResult) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*r = NoResult
		return nil
	}

	return (*item.Result)(r).UnmarshalJSON(text)
}

// MarshalJSON writes what UnmarshalJSON reads.
func (r NewResult) MarshalJSON() ([]byte, error) {
	if r == NoResult {
		return []byte("null"), nil
	}

	return item.Result(r).MarshalJSON()
}

// Schema describes a NewResult.
func (NewResult) Schema(r huma.Registry) *huma.Schema {
	s := item.Result(0).Schema(r)
	s.Description += " null clears the result."
	s.OneOf[1].Nullable, s.OneOf[1].Enum = true, append(s.OneOf[1].Enum, nil)

	return s
}

// PutResultFunction sets the result of a match.
func PutResultFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/put-result",
		Does:   "Sets the winner of a match, that it is void, or that it has no result. A scored event is scored again.",
		IfDown: "Administrators cannot enter results, so events are not scored.",
		On:     spec.Route{Method: "PUT", Auth: spec.Admin, Path: "/admin/events/{eventId}/matches/{matchId}/result"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.SetResult}, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenEvents, (*Events).PutResult, errInvalidTeam, errNoMatch, errUpcoming, item.ErrChanged, item.ErrNoEvent)
}

// PutResult sets or clears the result of a match of a locked event and logs a correction.
// A result can change at any time: a scored event is scored again. Without a result an
// event is not scored: it goes back to broadcast, and its points are withdrawn until its
// scoring is requested again. A repeated request logs nothing, and queues the scoring again
// if the points are of older results.
func (s *Events) PutResult(ctx context.Context, in *PutResult) (*MatchPage, error) {
	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	m, ok := on.Match(in.MatchID)
	if !ok {
		return nil, errNoMatch
	}

	if on.IsOpen(s.now()) {
		return nil, errUpcoming
	}

	if int(in.Body.Result) >= len(m.Teams) {
		return nil, invalidTeam("body.result", fmt.Sprintf("the match has no team %d: valid are 0 to %d", in.Body.Result, len(m.Teams)-1))
	}

	e, was := on.Event, m.Result
	if m.Result = nil; in.Body.Result != NoResult {
		m.Result = new(int(in.Body.Result))
	}

	if !reflect.DeepEqual(m.Result, was) {
		if e.State == item.Upcoming || m.Result == nil {
			e.State = item.Broadcast // LockEvents has not written it yet, or it was scored
		}

		e.ResultsRev, e.ResultsAt = on.ResultsRev+1, item.FormatTime(s.now())

		set := setEvent(e)
		if m.Result == nil && e.ScoringAt != "" {
			e.Withdrawn = true
			set = set.Set(e, "withdrawn")
		}

		err := dynamo.Transact(ctx, s.db, tables.SetResult,
			dynamo.UpdateWrite(m.Key(), dynamo.Set(m, "result"), dynamo.Exists[item.Match]("PK")),
			dynamo.UpdateWrite(e.Key(), set, unchanged(on.Event)),
			putCorrection(e, m, in.UserID, resultText(m, was), resultText(m, m.Result), in.Body.Reason))
		if err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrChanged)
		}
	}

	if err := s.rescore(ctx, e); err != nil {
		return nil, err
	}

	return &MatchPage{http.StatusOK, newMatch(m)}, nil
}

var errInvalidTeam = problem.New(problem.Unprocessable, "invalid_team", "the match has no such team")

// invalidTeam reports a team that is not in the match.
func invalidTeam(field, text string) error {
	e := errInvalidTeam.In(field)
	e.Text = text

	return e
}

// resultText returns a result in words, "" for none.
func resultText(m item.Match, result *int) string {
	switch {
	case result == nil:
		return ""
	case *result == item.Void:
		return "void"
	}

	t := m.Teams[*result]

	return cmp.Or(t.Name, strings.Join(t.Members, ", "))
}

// Correction is an entry of the log of an event's results.
type Correction struct {
	At      time.Time `json:"at" dynamodbav:"at" doc:"When the result was changed."`
	MatchID string    `json:"matchId" dynamodbav:"matchId" doc:"The id of the match."`
	Match   string    `json:"match" dynamodbav:"match" doc:"The name of the match."`
	From    string    `json:"from,omitempty" dynamodbav:"from,omitempty" doc:"The previous value. Absent for the first result."`
	To      string    `json:"to,omitempty" dynamodbav:"to,omitempty" doc:"The new result. Absent if it was cleared."`
	By      string    `json:"by" dynamodbav:"by" doc:"The id of the administrator."`
	Reason  string    `json:"reason,omitempty" dynamodbav:"reason,omitempty" doc:"The reason that the administrator gave."`
}

// correction is the item of a Correction.
type correction struct {
	item.Row
	Correction
}

// putCorrection returns the write of a log entry.
func putCorrection(e item.Event, m item.Match, by, from, to, reason string) dynamo.Write {
	return dynamo.PutWrite(correction{
		Row: item.Row{PK: item.EventRef(e.ID), SK: fmt.Sprintf("%s%s#%06d", logPrefix, e.ResultsAt, e.ResultsRev), Type: logType},
		Correction: Correction{
			At:      item.ParseTime(e.ResultsAt),
			MatchID: m.ID,
			Match:   m.Name,
			From:    from,
			To:      to,
			By:      by,
			Reason:  reason,
		},
	})
}

// ListCorrections is the request for a page of the log of an event's results.
type ListCorrections struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Limit   int32  `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor  string `query:"cursor" maxLength:"60" doc:"The value of next in the previous page."`
}

// CorrectionList is a page of the log, the latest first.
type CorrectionList struct {
	Body struct {
		Corrections []Correction `json:"corrections" doc:"The changes of this page, the newest first."`
		Next        string       `json:"next,omitempty"`
	}
}

var logIDs = regexp.MustCompile(`^[0-9TZ:-]{20}#[0-9]{6}$`)

// ListCorrectionsFunction answers with the log of an event's results.
func ListCorrectionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/list-corrections",
		Does:   "Lists the changes to the results of an event, latest first.",
		IfDown: "The log of changed results does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/events/{eventId}/corrections"},
		Uses:   []spec.Access{tables.CheckMember, tables.FindEvent, tables.ListCorrections},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenEvents, (*Events).ListCorrections, httpapi.ErrBadCursor, item.ErrNoEvent, item.ErrNotMember)
}

// ListCorrections returns a page of the log of an event's results, latest first. A caller
// who is not a member gets not_a_member.
func (s *Events) ListCorrections(ctx context.Context, in *ListCorrections) (*CorrectionList, error) {
	if err := item.CheckMember(ctx, s.db, in.UserID); err != nil {
		return nil, err
	}

	if _, err := item.ReadEvent(ctx, s.db, in.EventID); err != nil {
		return nil, err
	}

	q := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.ListCorrections, item.EventRef(in.EventID), logPrefix), Limit: in.Limit, Backward: true}
	if in.Cursor != "" {
		if !logIDs.MatchString(in.Cursor) {
			return nil, httpapi.ErrBadCursor
		}

		q.After = item.Key(item.EventRef(in.EventID), logPrefix+in.Cursor)
	}

	rows, last, err := dynamo.Query[correction](ctx, s.db, tables.ListCorrections, q)
	if err != nil {
		return nil, err
	}

	out := &CorrectionList{}

	out.Body.Corrections = make([]Correction, len(rows))
	for i, r := range rows {
		out.Body.Corrections[i] = r.Correction
	}

	if last != nil {
		out.Body.Next = strings.TrimPrefix(rows[len(rows)-1].SK, logPrefix)
	}

	return out, nil
}
