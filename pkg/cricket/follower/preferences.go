package follower

import (
	"context"
	"slices"
	"time"

	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Preferences select the alerts of a user, and the times when they are sent.
type Preferences struct {
	Alerts        []event.Kind `json:"alerts" dynamodbav:"alerts" nullable:"false" maxItems:"10" uniqueItems:"true" enum:"toss,start,wicket,fifty,hundred,innings,target,rain,superOver,result" doc:"The kinds of alerts that the user wants."`
	More          []event.Kind `json:"moreAlerts,omitzero" dynamodbav:"moreAlerts" nullable:"false" maxItems:"6" uniqueItems:"true" enum:"lineup,fiveWickets,hatTrick,stumps,closeFinish,award" doc:"Further kinds of alerts that the user wants. Absent in a request: each follows one of alerts, lineup the toss, fiveWickets and hatTrick the wicket, stumps the innings, closeFinish and award the result."`
	KeyEventsOnly bool         `json:"keyEventsOnly" dynamodbav:"keyEventsOnly" doc:"Restricts the kinds to start, innings, stumps, target, closeFinish, superOver and result."`
	QuietHours    *QuietHours  `json:"quietHours,omitempty" dynamodbav:"quietHours,omitempty" doc:"The times of day when no alert is sent. Absent: alerts are sent at any time."`
	SpoilerFree   bool         `json:"spoilerFree" dynamodbav:"spoilerFree" doc:"Restricts the kinds to toss, lineup, start, rain and result, and removes the score from their text."`
	ManualStart   bool         `json:"manualStart,omitempty" dynamodbav:"manualStart,omitempty" doc:"Whether Live Activities start only in the app. Otherwise that of a followed match starts when play begins, whatever alerts the user wants, but not in quiet hours and not if spoilerFree is set."`
}

// QuietHours are the times of day from From, included, to To, excluded, in the time
// zone; they pass midnight if To is before From. When clocks change they may occur
// twice in a night, or be shorter.
type QuietHours struct {
	From     string `json:"from" dynamodbav:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"22:00" doc:"The local time at which the quiet hours begin, as hh:mm."`
	To       string `json:"to" dynamodbav:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"07:00" doc:"The local time at which the quiet hours end, as hh:mm."`
	TimeZone string `json:"timeZone" dynamodbav:"timeZone" maxLength:"64" doc:"A name of the IANA time zone database." example:"Asia/Kolkata"`
}

// keyEvents are the kinds of KeyEventsOnly. spoilerless are the kinds of SpoilerFree: an
// alert of such a kind does not reveal the state of the match by its arrival alone.
var (
	keyEvents = []event.Kind{
		event.Start, event.Innings, event.Stumps, event.Target, event.CloseFinish, event.SuperOver, event.Result,
	}
	spoilerless = []event.Kind{event.Toss, event.Lineup, event.Start, event.Rain, event.Result}
)

// moreKinds are the kinds of Preferences.More, each with the kind of Preferences.Alerts that it follows
// in preferences that were stored without More: by an app that does not know these kinds.
var moreKinds = []struct{ kind, follows event.Kind }{
	{event.Lineup, event.Toss}, {event.FiveWickets, event.Wicket}, {event.HatTrick, event.Wicket}, {event.Stumps, event.Innings},
	{event.CloseFinish, event.Result}, {event.Award, event.Result},
}

// DefaultPreferences returns the preferences of a user who has stored none: all alerts,
// at any time.
func DefaultPreferences() Preferences {
	return Preferences{Alerts: []event.Kind{
		event.Toss, event.Start, event.Wicket, event.Fifty, event.Hundred, event.Innings, event.Target, event.Rain, event.SuperOver, event.Result,
	}}.complete()
}

// complete returns p with the kinds of More that p has by default, if it has none of its own.
func (p Preferences) complete() Preferences {
	if p.More != nil {
		return p
	}

	p.More = []event.Kind{}

	for _, m := range moreKinds {
		if slices.Contains(p.Alerts, m.follows) {
			p.More = append(p.More, m.kind)
		}
	}

	return p
}

// Kinds returns all kinds of alerts.
func Kinds() []event.Kind {
	p := DefaultPreferences()
	return slices.Concat(p.Alerts, p.More)
}

// Allows reports whether an alert of kind k may be sent to the user at that time. If
// SpoilerFree is set, the text of the alert must not contain the score.
func (p Preferences) Allows(k event.Kind, at time.Time) bool {
	return (slices.Contains(p.Alerts, k) || slices.Contains(p.complete().More, k)) &&
		(!p.KeyEventsOnly || slices.Contains(keyEvents, k)) &&
		(!p.SpoilerFree || slices.Contains(spoilerless, k)) &&
		(p.QuietHours == nil || !p.QuietHours.include(at))
}

// StartsActivities reports whether a Live Activity of a followed match may start by itself at that
// time.
func (p Preferences) StartsActivities(at time.Time) bool {
	return !p.ManualStart && !p.SpoilerFree && (p.QuietHours == nil || !p.QuietHours.include(at))
}

// include reports whether at is within the quiet hours. A time zone that the IANA
// database no longer has counts as UTC.
func (q *QuietHours) include(at time.Time) bool {
	where, err := httpapi.TimeZone(q.TimeZone)
	if err != nil {
		where = time.UTC
	}

	now := at.In(where).Format("15:04")
	if q.From <= q.To {
		return q.From <= now && now < q.To
	}

	return q.From <= now || now < q.To
}

// PreferencesRow is a row of cricket-preferences.
type PreferencesRow struct {
	UserID string `dynamodbav:"userId"`
	Preferences
	UpdatedAt int64 `dynamodbav:"updatedAt"` // epoch ms
}

// readPreferences reads the preferences of a user, or returns the default ones.
func readPreferences(ctx context.Context, db dynamo.DB, userID string) (Preferences, error) {
	row, ok, err := dynamo.Get[PreferencesRow](ctx, db, tables.GetPreferences, userID)
	if err != nil || !ok {
		return DefaultPreferences(), err
	}

	return row.complete(), nil
}

// Settings serves the preferences of users.
type Settings struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenSettings opens the service of a user's preferences.
func OpenSettings(_ context.Context, env app.Env) (*Settings, error) {
	return &Settings{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// GetPreferences is the request for the caller's preferences.
type GetPreferences struct{ auth.User }

// PreferencesPage is the response with a user's preferences.
type PreferencesPage struct {
	Body Preferences
}

// GetPreferencesFunction answers with the alerts that the caller wants.
func GetPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-preferences",
		Does:   "Returns the caller's preferences for alerts.",
		IfDown: "The settings do not open. Alerts are sent by the stored preferences.",
		On:     spec.Route{Method: "GET", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.GetPreferences},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenSettings, (*Settings).GetPreferences)
}

// GetPreferences returns the caller's preferences, or DefaultPreferences if none are
// stored.
func (s *Settings) GetPreferences(ctx context.Context, in *GetPreferences) (*PreferencesPage, error) {
	p, err := readPreferences(ctx, s.db, in.UserID)
	return &PreferencesPage{p}, err
}

// PutPreferences is the request to replace the caller's preferences.
type PutPreferences struct {
	auth.User
	Body Preferences
}

// PutPreferencesFunction stores which alerts the caller wants.
func PutPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/put-preferences",
		Does:   "Replaces the caller's preferences for alerts.",
		IfDown: "Users cannot change their preferences for alerts.",
		On:     spec.Route{Method: "PUT", Path: "/user/preferences", Auth: spec.User},
		Uses:   []spec.Access{tables.PutPreferences, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenSettings, (*Settings).PutPreferences)
}

// PutPreferences replaces the caller's preferences. It returns Invalid for empty quiet
// hours and for an unknown time zone.
func (s *Settings) PutPreferences(ctx context.Context, in *PutPreferences) (*PreferencesPage, error) {
	if q := in.Body.QuietHours; q != nil {
		if q.From == q.To {
			return nil, problem.In("body.quietHours.to", "the quiet hours are empty: to must differ from from")
		}

		if _, err := httpapi.TimeZone(q.TimeZone); err != nil {
			return nil, problem.In("body.quietHours.timeZone", "%s", err)
		}
	}

	row := PreferencesRow{UserID: in.UserID, Preferences: in.Body, UpdatedAt: s.now().UnixMilli()}

	return &PreferencesPage{in.Body.complete()}, dynamo.Put(ctx, s.db, tables.PutPreferences, row)
}
