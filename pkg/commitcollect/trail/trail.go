// Package trail is the audit trail: what users, administrators and Strava did, for 90 days.
package trail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Event is the type of an entry.
type Event string

// The events.
const (
	SignUp            Event = "AUTH_SIGNUP"
	LogIn             Event = "AUTH_LOGIN"
	LogOut            Event = "AUTH_LOGOUT"
	AccountDelete     Event = "ACCOUNT_DELETE"
	StravaAuthorize   Event = "STRAVA_AUTHORIZE"
	StravaDeauthorize Event = "STRAVA_DEAUTHORIZE"
	StravaRefresh     Event = "STRAVA_REFRESH"
	ActivityCreate    Event = "STRAVA_ACTIVITY_CREATE"
	ActivityUpdate    Event = "STRAVA_ACTIVITY_UPDATE"
	ActivityDelete    Event = "STRAVA_ACTIVITY_DELETE"
	MilestonePartMint Event = "MILESTONE_PART_MINTED"
	WorkoutsDelete    Event = "WORKOUTS_DELETE"
)

// Events are all types, as administrators query them.
var Events = []Event{SignUp, LogIn, LogOut, AccountDelete, StravaAuthorize, StravaDeauthorize, StravaRefresh, ActivityCreate,
	ActivityUpdate, ActivityDelete, MilestonePartMint, WorkoutsDelete}

// Result is how the action of an entry ended.
type Result string

// The results.
const (
	Attempt Result = "attempt"
	Success Result = "success"
	Partial Result = "partial"
	Failed  Result = "failed"
)

// Keep is how long an entry is kept.
const Keep = 90 * 24 * time.Hour

// System is the actor of events without a user.
const System = "SYSTEM"

// Entry is an action.
type Entry struct {
	Event         Event
	Result        Result
	UserID        string // "" for System
	CorrelationID string // joins entries of one event of Strava; "" for the request's id
	Data          map[string]string
	// ID and At, where given, are the key of the entry and its time, in place of those of
	// the request: a second run replaces the entry.
	ID string
	At time.Time
}

// Row is an entry as the table has it.
type Row struct {
	PK            string            `dynamodbav:"PK"`
	SK            string            `dynamodbav:"SK"`
	GSI1PK        string            `dynamodbav:"GSI1PK"`
	GSI1SK        string            `dynamodbav:"GSI1SK"`
	GSI2PK        string            `dynamodbav:"GSI2PK"`
	GSI2SK        string            `dynamodbav:"GSI2SK"`
	EntityType    string            `dynamodbav:"entityType"`
	EventType     Event             `dynamodbav:"eventType"`
	EventVersion  int               `dynamodbav:"eventVersion"`
	Result        Result            `dynamodbav:"result"`
	OccurredAtUTC string            `dynamodbav:"occurredAtUtc"`
	RequestID     string            `dynamodbav:"requestId"`
	CorrelationID string            `dynamodbav:"correlationId"`
	ActorType     string            `dynamodbav:"actorType"`
	ActorUserID   string            `dynamodbav:"actorUserId"`
	HTTP          *call             `dynamodbav:"http,omitempty"`
	Client        *client           `dynamodbav:"client,omitempty"`
	Data          map[string]string `dynamodbav:"data,omitempty"`
	ExpiresAt     int64             `dynamodbav:"ExpiresAt"` // epoch s
}

type call struct {
	Method string `dynamodbav:"method"`
	Path   string `dynamodbav:"path"`
}

type client struct {
	IPHash    string `dynamodbav:"ipHash"`    // SHA-256, in hex
	UserAgent string `dynamodbav:"userAgent"` // at most maxUserAgent bytes
}

const maxUserAgent = 512

// Writer writes entries.
type Writer struct {
	db  dynamo.DB
	now func() time.Time
	n   *atomic.Int64 // entries of this process, which make keys of one request differ
}

// Open returns a writer.
func Open(db dynamo.DB, now func() time.Time) Writer { return Writer{db, now, new(atomic.Int64)} }

// patience is how long the entries of a call of Write may take, if the caller has so much time.
const patience = time.Second

// Write writes entries. It never fails its caller, and takes at most patience, or half of the time
// that the caller has left: an entry that cannot be written by then is logged. It writes no entry of
// a deleted user, also for a job that runs late. A second run of the caller writes the entry again,
// unless it has an ID.
func (w Writer) Write(ctx context.Context, entries ...Entry) {
	limit := patience
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()

	for _, e := range entries {
		of := ctx
		if e.UserID != "" {
			of = account.Require(ctx, e.UserID)
		}

		err := dynamo.Put(of, w.db, tables.WriteAudit, w.row(ctx, e))
		if err != nil && !errors.Is(err, account.ErrDeleted) {
			slog.ErrorContext(ctx, "an entry of the audit trail is lost", "event", e.Event, "result", e.Result, "user", e.UserID, "err", err)
		}
	}
}

func (w Writer) row(ctx context.Context, e Entry) Row {
	now, requestID := cmp.Or(e.At, w.now()).UTC(), "none"
	if of, ok := lambdacontext.FromContext(ctx); ok {
		requestID = of.AwsRequestID
	}

	r := Row{
		EntityType:    "Audit",
		EventType:     e.Event,
		EventVersion:  1,
		Result:        e.Result,
		OccurredAtUTC: now.Format(time.RFC3339),
		RequestID:     requestID,
		CorrelationID: e.CorrelationID,
		ActorType:     "user",
		ActorUserID:   e.UserID,
		Data:          e.Data,
		ExpiresAt:     now.Add(Keep).Unix(),
	}
	if e.UserID == "" {
		r.ActorType, r.ActorUserID = "system", System
	}

	if r.CorrelationID == "" {
		r.CorrelationID = requestID
	}

	if in, ok := core.GetAPIGatewayV2ContextFromContext(ctx); ok && in.HTTP.Method != "" {
		ip := sha256.Sum256([]byte(in.HTTP.SourceIP))
		r.HTTP = &call{in.HTTP.Method, in.HTTP.Path}
		r.Client = &client{IPHash: hex.EncodeToString(ip[:]), UserAgent: in.HTTP.UserAgent[:min(len(in.HTTP.UserAgent), maxUserAgent)]}
	}

	r.PK = item.User(r.ActorUserID)
	r.SK = fmt.Sprintf("AUDIT#%d#%s", now.Unix(), cmp.Or(e.ID, fmt.Sprintf("%s-%d", requestID, w.n.Add(1))))
	r.GSI1PK, r.GSI1SK = "CORR#"+r.CorrelationID, r.SK
	r.GSI2PK, r.GSI2SK = "EVENT#"+string(e.Event)+"#"+now.Format("200601"), r.SK

	return r
}

// OfUser returns a page of a user's entries, the latest first, after the one with the sort
// key cursor. last is true at the end.
func OfUser(ctx context.Context, db dynamo.DB, userID, cursor string, limit int) (page []Row, last bool, err error) {
	r := dynamo.Range{Key: dynamo.KeyIs(tables.ReadTrail, item.User(userID)), Backward: true, Limit: int32(limit)}
	if cursor != "" {
		r.After = dynamo.Key(tables.ReadTrail, item.User(userID), cursor)
	}

	page, next, err := dynamo.Query[Row](ctx, db, tables.ReadTrail, r)

	return page, next == nil, err
}

// OfIndex returns a page of the entries of a partition of an index, the latest first, after
// the one with the sort key cursor. last is true at the end.
func OfIndex(ctx context.Context, db dynamo.DB, a spec.Access, partition, cursor string, limit int) (page []Row, last bool, err error) {
	key := dynamo.KeyIs(a, partition)
	if cursor != "" {
		key = dynamo.KeyLess(a, partition, cursor)
	}

	page, next, err := dynamo.Query[Row](ctx, db, a, dynamo.Range{Key: key, Backward: true, Limit: int32(limit)})

	return page, next == nil, err
}
