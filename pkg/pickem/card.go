package pickem

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

const (
	matchType = "match"
	logType   = "log"
)

// match is the item of a match.
type match struct {
	row
	ID            string   `dynamodbav:"id"`
	Name          string   `dynamodbav:"name"`
	Championships []string `dynamodbav:"championships,omitempty"`
	Points        int      `dynamodbav:"points"`
	Preshow       bool     `dynamodbav:"preshow"`
	Teams         []Team   `dynamodbav:"teams"`
	Result        *int     `dynamodbav:"result,omitempty"` // the winner's place in Teams, from 0, or void; nil for none yet
	Since         int      `dynamodbav:"since"`            // the event's cardRev that its teams are of: picks of an older one are void
}

// void is the result of a match that counts for nobody.
const void = -1

// Team is one side of a match.
type Team struct {
	Name     string   `json:"name,omitempty" dynamodbav:"name,omitempty" maxLength:"64"`
	Champion bool     `json:"champion,omitempty" dynamodbav:"champion,omitempty" doc:"It defends a championship."`
	Members  []string `json:"members" dynamodbav:"members" minItems:"1" maxItems:"30" minLength:"1" maxLength:"64" pattern:"^\\S(.*\\S)?$" nullable:"false"`
}

// MatchFields are what administrators say of a match.
type MatchFields struct {
	Name          string   `json:"name" minLength:"1" maxLength:"64" pattern:"^\\S(.*\\S)?$" example:"Tornado Tag Team"`
	Championships []string `json:"championships,omitempty" maxItems:"8" minLength:"1" maxLength:"64" doc:"What it is for."`
	Points        int      `json:"points" minimum:"1" maximum:"999" doc:"For a right pick."`
	Preshow       bool     `json:"preshow,omitempty"`
	Teams         []Team   `json:"teams" minItems:"2" maxItems:"40" nullable:"false"`
}

// Match is a match of a card, in its place.
type Match struct {
	ID string `json:"id"`
	MatchFields
	Result *Result `json:"result,omitempty"`
}

func (m match) fields() MatchFields {
	return MatchFields{m.Name, m.Championships, m.Points, m.Preshow, m.Teams}
}

func (m match) shown() Match {
	return Match{ID: m.ID, MatchFields: m.fields(), Result: (*Result)(m.Result)}
}

func (m *match) set(f MatchFields) {
	m.Name, m.Championships, m.Points, m.Preshow, m.Teams = f.Name, f.Championships, f.Points, f.Preshow, f.Teams
}

// Result is the winner's place among the teams, from 0, or "void" for a match
// that counts for nobody.
type Result int

// MarshalJSON writes a place as a number, and void as a word.
func (r Result) MarshalJSON() ([]byte, error) {
	if r == void {
		return []byte(`"void"`), nil
	}
	return json.Marshal(int(r))
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (r *Result) UnmarshalJSON(text []byte) error {
	if string(text) == `"void"` {
		*r = void
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return errors.New(`a result is the winner's place among the teams, from 0, or "void"`)
	}
	*r = Result(n)
	return nil
}

// Schema describes a Result.
func (Result) Schema(huma.Registry) *huma.Schema {
	least := 0.0
	return &huma.Schema{
		Description: `The winner's place among the teams, from 0, or "void" for a match that counts for nobody.`,
		OneOf:       []*huma.Schema{{Type: huma.TypeInteger, Minimum: &least}, {Type: huma.TypeString, Enum: []any{"void"}}},
	}
}

// worth is the sum of the points of a card.
func worth(card []match) (sum int) {
	for _, m := range card {
		sum += m.Points
	}
	return sum
}

func overflow(field string) error {
	return errCardOverflow.In(field)
}

var (
	errCardOverflow = problem.New(problem.Unprocessable, "card_overflow", "a card is worth %d points at most, with its bonus", maxScore)
	errCardFull     = problem.New(problem.Unprocessable, "card_full", "a card has %d matches at most", maxCard)
	errNotTheCard   = problem.New(problem.Unprocessable, "not_the_card", "name every match of the card, and each once").In("body.matchIds")
	errMatchExists  = problem.New(problem.Conflict, "match_exists", "there is another match with this id")
	errLocked       = problem.New(problem.Conflict, "event_locked", "the event is locked")
	errUpcoming     = problem.New(problem.Conflict, "event_upcoming", "the event is not locked yet")
	errCardChanged  = problem.New(problem.Conflict, "card_changed", "the card has changed: look again")
	errNoMatch      = problem.New(problem.NotFound, "match_not_found", "no such match on the card")
)

// MatchPage is the answer with a match.
type MatchPage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         Match
}

// AddMatch adds a match.
type AddMatch struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	Body    struct {
		ID string `json:"id,omitempty" format:"uuid" minLength:"36" maxLength:"36" doc:"Of the app's making, so that it can send the match again; ours if there is none."`
		MatchFields
	}
}

// AddMatch adds a match to the end of a card that is not locked. The same match
// under the same id is there once.
func (s *Events) AddMatch(ctx context.Context, in *AddMatch) (*MatchPage, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(cmp.Or(in.Body.ID, newUUID()))
	if there, ok := on.match(id); ok {
		if !reflect.DeepEqual(there.fields(), in.Body.MatchFields) {
			return nil, errMatchExists
		}
		return &MatchPage{http.StatusCreated, httpapi.NoStore, there.shown()}, nil
	}
	if len(on.card) == maxCard {
		return nil, errCardFull
	}
	if worth(on.card)+in.Body.Points+on.Bonus > maxScore {
		return nil, overflow("body.points")
	}
	place, err := placeSK(len(on.card) + 1)
	if err != nil {
		return nil, err
	}
	m := match{row: row{PK: ofEvent(on.ID), SK: matchSK(id), GSIPK: ofEvent(on.ID), GSISK: place, Type: matchType}, ID: id, Since: on.CardRev + 1}
	m.set(in.Body.MatchFields)
	if err := s.change(ctx, on, dynamo.PutWrite(m, absent("PK"))); err != nil {
		return nil, err
	}
	return &MatchPage{http.StatusCreated, httpapi.NoStore, m.shown()}, nil
}

// newUUID is a random one, version 4 (RFC 9562).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// match is the match of an id.
func (s stage) match(id string) (match, bool) {
	i := slices.IndexFunc(s.card, func(m match) bool { return m.ID == strings.ToLower(id) })
	if i < 0 {
		return match{}, false
	}
	return s.card[i], true
}

// change makes writes to the card of an event that takes predictions, and counts
// the change, by which predictions know what card they are of.
func (s *Events) change(ctx context.Context, on stage, writes ...dynamo.Write) error {
	now := s.now()
	count := dynamo.UpdateWrite(on.key(), expression.Set(expression.Name("cardRev"), expression.Value(on.CardRev+1)), open(now).And(equals("cardRev", on.CardRev)))
	return refused(dynamo.Transact(ctx, s.db, changeCard, append(writes, count)...), on.event, now)
}

// refused turns a refused write of an open event into what its caller should know.
func refused(err error, e event, now time.Time) error {
	switch {
	case !dynamo.IsRefused(err):
		return err
	case !e.isOpen(now):
		return errLocked
	}
	return errChanged
}

// UpdateMatch replaces what a match is.
type UpdateMatch struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The match."`
	Body    MatchFields
}

// UpdateMatch changes a match. Who is in it can be changed until the event locks:
// picks on it are void then, and who made them is told, again if this is asked for
// again. What it is called and worth can always be changed, and points follow.
func (s *Events) UpdateMatch(ctx context.Context, in *UpdateMatch) (*MatchPage, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	was, ok := on.match(in.MatchID)
	if !ok {
		return nil, errNoMatch
	}
	if worth(on.card)-was.Points+in.Body.Points+on.Bonus > maxScore {
		return nil, overflow("body.points")
	}
	m, e := was, on.event
	m.set(in.Body)
	switch {
	case !sameSides(was.Teams, m.Teams):
		m.Since, e.CardRev = on.CardRev+1, on.CardRev+1
		err = s.change(ctx, on, m.written())
	case reflect.DeepEqual(was, m):
	default:
		writes := []dynamo.Write{m.written()}
		e.CardRev++
		if m.Points != was.Points && on.ResultsRev > 0 {
			e.ResultsRev, e.ResultsAt = on.ResultsRev+1, stamp(s.now())
			writes = append(writes, logged(e, m, in.UserID, fmt.Sprintf("%d points", was.Points), fmt.Sprintf("%d points", m.Points), ""))
		}
		writes = append(writes, dynamo.UpdateWrite(e.key(), e.changed(), on.same()))
		err = dynamo.RefusedAs(dynamo.Transact(ctx, s.db, changeCard, writes...), errChanged)
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.tell(ctx, e, m.ID, m.Since, m.Since); err != nil {
		return nil, err
	}
	if err := s.rescore(ctx, e); err != nil {
		return nil, err
	}
	return &MatchPage{http.StatusOK, httpapi.NoStore, m.shown()}, nil
}

// written writes what administrators say of a match that is there, and not its
// place.
func (m match) written() dynamo.Write {
	set := expression.Set(expression.Name("name"), expression.Value(m.Name)).
		Set(expression.Name("championships"), expression.Value(m.Championships)).
		Set(expression.Name("points"), expression.Value(m.Points)).
		Set(expression.Name("preshow"), expression.Value(m.Preshow)).
		Set(expression.Name("teams"), expression.Value(m.Teams)).
		Set(expression.Name("since"), expression.Value(m.Since))
	return dynamo.UpdateWrite(m.key(), set, exists("PK"))
}

// sameSides reports whether picks of one of the teams are picks of the same of the
// others.
func sameSides(a, b []Team) bool {
	return slices.EqualFunc(a, b, func(x, y Team) bool { return slices.Equal(x.Members, y.Members) })
}

// DeleteMatch takes a match off a card.
type DeleteMatch struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The match."`
}

// DeleteMatch takes a match off a card that is not locked; those behind it move
// up. Who had picked it is told, also by a second run, if the first came no
// further than to remove it.
func (s *Events) DeleteMatch(ctx context.Context, in *DeleteMatch) (*httpapi.Removed, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	gone, ok := on.match(in.MatchID)
	if ok {
		writes := []dynamo.Write{dynamo.DeleteWrite(gone.key(), exists("PK"))}
		rest := slices.DeleteFunc(slices.Clone(on.card), func(m match) bool { return m.ID == gone.ID })
		placed, err := place(rest)
		if err != nil {
			return nil, err
		}
		if err := s.change(ctx, on, append(writes, placed...)...); err != nil {
			return nil, err
		}
		on.CardRev++
	}
	told, err := s.tell(ctx, on.event, strings.ToLower(in.MatchID), math.MaxInt, on.CardRev)
	if err != nil {
		return nil, err
	}
	if !ok && told == 0 {
		return nil, errNoMatch
	}
	return httpapi.NewRemoved(), nil
}

// place writes the places of matches on a card where they have changed.
func place(card []match) (writes []dynamo.Write, err error) {
	for i, m := range card {
		at, err := placeSK(i + 1)
		if err != nil {
			return nil, err
		}
		if at != m.GSISK {
			writes = append(writes, dynamo.UpdateWrite(m.key(), expression.Set(expression.Name("GSI_SK"), expression.Value(at)), exists("PK")))
		}
	}
	return writes, nil
}

// tell has the members told whose pick of a match is void, because it is of a card
// before since, and returns how many they are. rev is of the card without it.
func (s *Events) tell(ctx context.Context, e event, matchID string, since, rev int) (int, error) {
	entries, err := readEntries(ctx, s.db, e.ID)
	if err != nil {
		return 0, err
	}
	var users []string
	for _, p := range entries {
		if _, picked := p.Predictions[matchID]; picked && p.CardRev < since {
			users = append(users, p.userID())
		}
	}
	n := Notice{
		ID: fmt.Sprintf("%s#%s#%d", e.ID, matchID, rev), Title: e.Name, EventID: e.ID, Until: instant(e.LockAt),
		Body: "A match that you picked has changed: pick again before it locks.",
	}
	return len(users), sendNotices(ctx, s.queue, n, users)
}

// OrderCard puts a card into an order.
type OrderCard struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	Body    struct {
		MatchIDs []string `json:"matchIds" minItems:"1" maxItems:"99" nullable:"false" doc:"All matches of the card, in their order."`
	}
}

// CardPage is the answer with a card.
type CardPage struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Card []Match `json:"card"`
	}
}

// OrderCard gives every match of a card its place, or none: what is not the card,
// each match once, is not_the_card, and a card that is changed meanwhile
// card_changed.
func (s *Events) OrderCard(ctx context.Context, in *OrderCard) (*CardPage, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	ordered := make([]match, 0, len(on.card))
	for _, id := range in.Body.MatchIDs {
		m, ok := on.match(id)
		if !ok || slices.ContainsFunc(ordered, func(o match) bool { return o.ID == m.ID }) {
			return nil, errNotTheCard
		}
		ordered = append(ordered, m)
	}
	if len(ordered) != len(on.card) {
		return nil, errNotTheCard
	}
	writes, err := place(ordered)
	if err != nil {
		return nil, err
	}
	if len(writes) > 0 {
		count := expression.Set(expression.Name("cardRev"), expression.Value(on.CardRev+1))
		writes = append(writes, dynamo.UpdateWrite(on.key(), count, equals("cardRev", on.CardRev)))
		err = dynamo.Transact(ctx, s.db, changeCard, writes...)
		if dynamo.IsRefused(err) {
			return nil, errCardChanged
		}
	}
	out := &CardPage{CacheControl: httpapi.NoStore}
	for _, m := range ordered {
		out.Body.Card = append(out.Body.Card, m.shown())
	}
	return out, err
}

// PutResult says how a match ended.
type PutResult struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	MatchID string `path:"matchId" maxLength:"36" doc:"The match."`
	Body    struct {
		Result Result `json:"result"`
		Reason string `json:"reason,omitempty" maxLength:"200" doc:"Why, for the log that members can read."`
	}
}

// PutResult sets the result of a match of an event that is locked, and logs it.
// It can be changed at any time: the points of a scored event follow, also when
// the same result is put again because an answer was lost.
func (s *Events) PutResult(ctx context.Context, in *PutResult) (*MatchPage, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	m, ok := on.match(in.MatchID)
	if !ok {
		return nil, errNoMatch
	}
	if on.isOpen(s.now()) {
		return nil, errUpcoming
	}
	if int(in.Body.Result) >= len(m.Teams) {
		return nil, invalidTeam("body.result", m, int(in.Body.Result))
	}
	e, was := on.event, m.Result
	if result := int(in.Body.Result); was == nil || *was != result {
		m.Result = &result
		if e.State == upcoming {
			e.State = broadcast // the job that writes it is late
		}
		e.ResultsRev, e.ResultsAt = on.ResultsRev+1, stamp(s.now())
		err := dynamo.Transact(ctx, s.db, setResult,
			dynamo.UpdateWrite(m.key(), expression.Set(expression.Name("result"), expression.Value(result)), exists("PK")),
			dynamo.UpdateWrite(e.key(), e.changed(), on.same()),
			logged(e, m, in.UserID, said(m, was), said(m, m.Result), in.Body.Reason))
		if err != nil {
			return nil, dynamo.RefusedAs(err, errChanged)
		}
	}
	if err := s.rescore(ctx, e); err != nil {
		return nil, err
	}
	return &MatchPage{http.StatusOK, httpapi.NoStore, m.shown()}, nil
}

func invalidTeam(field string, m match, n int) error {
	return &problem.Error{Kind: problem.Unprocessable, Code: "invalid_team", Field: field,
		Text: fmt.Sprintf("the match has the teams 0 to %d, and no %d", len(m.Teams)-1, n)}
}

// said is a result in words.
func said(m match, result *int) string {
	switch {
	case result == nil:
		return ""
	case *result == void:
		return "void"
	}
	t := m.Teams[*result]
	return cmp.Or(t.Name, strings.Join(t.Members, ", "))
}

// Correction is a result as it was entered.
type Correction struct {
	At      time.Time `json:"at" dynamodbav:"at"`
	MatchID string    `json:"matchId" dynamodbav:"matchId"`
	Match   string    `json:"match" dynamodbav:"match"`
	From    string    `json:"from,omitempty" dynamodbav:"from,omitempty" doc:"What was there before, absent for a first result."`
	To      string    `json:"to" dynamodbav:"to"`
	By      string    `json:"by" dynamodbav:"by" doc:"The id of the administrator."`
	Reason  string    `json:"reason,omitempty" dynamodbav:"reason,omitempty"`
}

// correction is the item of one.
type correction struct {
	row
	Correction
}

// logged writes down what has changed of a match.
func logged(e event, m match, by, from, to, reason string) dynamo.Write {
	return dynamo.PutWrite(correction{
		row:        row{PK: ofEvent(e.ID), SK: fmt.Sprintf("%s%s#%06d", logPrefix, e.ResultsAt, e.ResultsRev), Type: logType},
		Correction: Correction{At: instant(e.ResultsAt), MatchID: m.ID, Match: m.Name, From: from, To: to, By: by, Reason: reason},
	})
}

// ListCorrections asks how the results of an event came about.
type ListCorrections struct {
	auth.User
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
	Limit   int32  `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor  string `query:"cursor" maxLength:"60" doc:"Next of the page before."`
}

// CorrectionList is a page of the log, the latest first.
type CorrectionList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Corrections []Correction `json:"corrections"`
		Next        string       `json:"next,omitempty"`
	}
}

var logIDs = regexp.MustCompile(`^[0-9TZ:-]{20}#[0-9]{6}$`)

// ListCorrections returns the log of an event.
func (s *Events) ListCorrections(ctx context.Context, in *ListCorrections) (*CorrectionList, error) {
	if _, err := readEvent(ctx, s.db, in.EventID); err != nil {
		return nil, err
	}
	q := dynamo.Range{Key: below(listCorrections, ofEvent(in.EventID), logPrefix), Limit: in.Limit, Backward: true}
	if in.Cursor != "" {
		if !logIDs.MatchString(in.Cursor) {
			return nil, httpapi.ErrBadCursor
		}
		q.After = itemKey(ofEvent(in.EventID), logPrefix+in.Cursor)
	}
	rows, last, err := dynamo.Query[correction](ctx, s.db, listCorrections, q)
	if err != nil {
		return nil, err
	}
	out := &CorrectionList{CacheControl: httpapi.NoStore}
	out.Body.Corrections = make([]Correction, len(rows))
	for i, r := range rows {
		out.Body.Corrections[i] = r.Correction
	}
	if last != nil {
		out.Body.Next = strings.TrimPrefix(rows[len(rows)-1].SK, logPrefix)
	}
	return out, nil
}
