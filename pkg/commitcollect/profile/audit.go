package profile

import (
	"context"
	"time"

	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Entry is an entry of the trail in an answer.
type Entry struct {
	_ struct{} `schema:"AuditEntry"`

	ID            string            `json:"id" doc:"The id of the entry."`
	Event         trail.Event       `json:"event" doc:"What happened." example:"STRAVA_AUTHORIZE"`
	Result        trail.Result      `json:"result" enum:"attempt,success,partial,failed" doc:"How it ended."`
	OccurredAt    time.Time         `json:"occurredAt" doc:"When it happened."`
	CorrelationID string            `json:"correlationId" doc:"Joins the entries of one cause."`
	UserID        string            `json:"userId" doc:"Who did it, or SYSTEM."`
	Data          map[string]string `json:"data,omitempty" doc:"More about it."`
}

// EntryList is the answer with entries.
type EntryList struct {
	Body struct {
		_ struct{} `schema:"AuditEntryListBody"`

		Entries []Entry `json:"entries" doc:"The entries, the latest first."`
		Next    string  `json:"next,omitempty"`
	}
}

func entries(page []trail.Row, last bool) *EntryList {
	out := &EntryList{}
	out.Body.Entries = []Entry{}

	for _, r := range page {
		at, _ := time.Parse(time.RFC3339, r.OccurredAtUTC)
		out.Body.Entries = append(out.Body.Entries, Entry{
			ID: r.SK, Event: r.EventType, Result: r.Result, OccurredAt: at,
			CorrelationID: r.CorrelationID, UserID: r.ActorUserID, Data: r.Data,
		})
	}

	if !last {
		out.Body.Next = page[len(page)-1].SK
	}

	return out
}

// ListAudit is the request for the caller's trail.
type ListAudit struct {
	auth.User
	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// ListAuditFunction returns what happened to the caller's account.
func ListAuditFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-audit",
		Does:   "Returns what happened to the caller's account.",
		IfDown: "Users cannot see what happened to their account.",
		On:     spec.Route{Method: "GET", Path: "/audit", Auth: spec.Session},
		Uses:   signin.Caller(tables.ReadTrail),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAudit)
}

// ListAudit returns what happened to the caller's account within 90 days.
func (s *Service) ListAudit(ctx context.Context, in *ListAudit) (*EntryList, error) {
	page, last, err := trail.OfUser(ctx, s.db, in.UserID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	return entries(page, last), nil
}

// Auditor is the service of the trail for administrators.
type Auditor struct{ db dynamo.DB }

// OpenAuditor opens the service.
func OpenAuditor(_ context.Context, env app.Env) (*Auditor, error) {
	return &Auditor{dynamo.Open(env.AWS, env.Prefix)}, nil
}

// ListCorrelation is the request for the entries of one cause.
type ListCorrelation struct {
	auth.Admin
	ID     string `path:"correlationId" maxLength:"200" doc:"The id that joins them." example:"strava:120475:1234567:12345678901:1780754400"`
	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// ListCorrelationFunction returns the entries of the audit trail that one cause joins.
func ListCorrelationFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-correlation",
		Does:   "Returns the entries of the audit trail that one cause joins.",
		IfDown: "Administrators cannot trace an event.",
		On:     spec.Route{Method: "GET", Path: "/admin/audit/correlations/{correlationId}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.Correlation},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenAuditor, (*Auditor).ListCorrelation)
}

// ListCorrelation returns the entries that one cause joins.
func (s *Auditor) ListCorrelation(ctx context.Context, in *ListCorrelation) (*EntryList, error) {
	page, last, err := trail.OfIndex(ctx, s.db, tables.Correlation, "CORR#"+in.ID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	return entries(page, last), nil
}

// ListAuditEvents is the request for the entries of a type in a month.
type ListAuditEvents struct {
	auth.Admin
	Type   trail.Event `path:"type" maxLength:"64" enum:"AUTH_SIGNUP,AUTH_LOGIN,AUTH_LOGOUT,ACCOUNT_DELETE,STRAVA_AUTHORIZE,STRAVA_DEAUTHORIZE,STRAVA_REFRESH,STRAVA_ACTIVITY_CREATE,STRAVA_ACTIVITY_UPDATE,STRAVA_ACTIVITY_DELETE,MILESTONE_PART_MINTED,WORKOUTS_DELETE" doc:"What happened." example:"STRAVA_AUTHORIZE"`
	Month  string      `path:"month" pattern:"^20[0-9]{2}(0[1-9]|1[0-2])$" doc:"The year and the month." example:"202606"`
	Cursor string      `query:"cursor" maxLength:"200" doc:"The next of the page before."`
	Limit  int         `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

// ListAuditEventsFunction returns the entries of the audit trail of a type and a month.
func ListAuditEventsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/list-audit-events",
		Does:   "Returns the entries of the audit trail of a type and a month.",
		IfDown: "Administrators cannot list events.",
		On:     spec.Route{Method: "GET", Path: "/admin/audit/events/{type}/{month}", Auth: spec.Admin},
		Uses:   []spec.Access{tables.EventsOf},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenAuditor, (*Auditor).ListAuditEvents)
}

// ListAuditEvents returns the entries of a type in a month.
func (s *Auditor) ListAuditEvents(ctx context.Context, in *ListAuditEvents) (*EntryList, error) {
	page, last, err := trail.OfIndex(ctx, s.db, tables.EventsOf, "EVENT#"+string(in.Type)+"#"+in.Month, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}

	return entries(page, last), nil
}
