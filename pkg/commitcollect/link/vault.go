package link

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
)

// States of a connection.
const (
	Connected = "CONNECTED"
	Broken    = "BROKEN" // Strava refuses its tokens: the user must connect again, or it ends
)

// Connection is a user's link to an athlete of Strava.
type Connection struct {
	PK           string `dynamodbav:"PK"`
	SK           string `dynamodbav:"SK"`
	EntityType   string `dynamodbav:"entityType"`
	UserID       string `dynamodbav:"userId"`
	AthleteID    int64  `dynamodbav:"athleteId"`
	AccessToken  string `dynamodbav:"accessToken"`  // sealed
	RefreshToken string `dynamodbav:"refreshToken"` // sealed
	ExpiresAt    int64  `dynamodbav:"expiresAtUtc"` // of the access token, epoch s
	Scope        string `dynamodbav:"scope"`
	Status       string `dynamodbav:"status"`
	Source       string `dynamodbav:"source"`
	ConnectedAt  int64  `dynamodbav:"connectedAtUtc"`           // epoch s
	Consent      int    `dynamodbav:"consentVersion,omitempty"` // that the user has agreed to when connecting, 0 for none
	SyncedAt     int64  `dynamodbav:"lastSyncAtUtc,omitempty"`  // of the last request of a sync, epoch s
	Unsent       bool   `dynamodbav:"syncUnsent,omitempty"`     // until that request has sent its message
	FetchedAt    int64  `dynamodbav:"fetchedAtUtc,omitempty"`   // when the last complete backfill began, epoch s
	WholeAt      int64  `dynamodbav:"wholeAtUtc,omitempty"`     // the same of the last whole one
	SilentFrom   int64  `dynamodbav:"silentFromUtc,omitempty"`  // KnownAt before the last backfill that came later than Silence, epoch s
	SilentTo     int64  `dynamodbav:"silentToUtc,omitempty"`    // when that backfill was complete, epoch s
	RefreshLock  int64  `dynamodbav:"refreshLock,omitempty"`    // until when one worker may refresh the tokens, epoch ms
	GSI1PK       string `dynamodbav:"GSI1PK"`
	GSI1SK       string `dynamodbav:"GSI1SK"`
}

// Silence is how long after a complete backfill the next one is late: later than two runs of the sync of all users
// can have it.
const Silence = 48 * time.Hour

// KnownAt returns when the last complete backfill began, or when the athlete was connected if there was none, epoch s.
func (c Connection) KnownAt() int64 { return cmp.Or(c.FetchedAt, c.ConnectedAt) }

// isRenewing reports whether a worker renews the tokens. It has the only ones that will be valid.
func (c Connection) isRenewing(now time.Time) bool { return c.RefreshLock > now.UnixMilli() }

// notRenewed is the condition that the tokens are those of c, and no worker renews them.
func (c Connection) notRenewed(now time.Time) expression.ConditionBuilder {
	return dynamo.Equal[Connection]("refreshToken", c.RefreshToken).
		And(dynamo.Absent[Connection]("refreshLock").Or(dynamo.AtMost[Connection]("refreshLock", now.UnixMilli())))
}

// Errors of a connection.
var (
	ErrNotConnected = problem.New(problem.Conflict, "not_connected", "connect Strava first")
	ErrBroken       = problem.New(problem.Conflict, "reconnect_required", "Strava has ended the connection: connect again")
	errRefreshing   = problem.New(problem.Unavailable, "strava_busy", "the connection to Strava is being renewed: try again")
)

const (
	refreshAhead = 5 * time.Minute  // before the end of an access token
	refreshLock  = 30 * time.Second // for which one worker may refresh
	refreshPolls = 10               // of a worker that waits for another
)

// Vault provides access tokens, and renews them.
type Vault struct {
	Strava *strava.Client // for calls with the tokens

	db    dynamo.DB
	keys  Keyset
	queue queue.Sender
	trail trail.Writer
	clock app.Clock
}

// Read returns the connection of a user. It returns ErrNotConnected if there is none.
func Read(ctx context.Context, db dynamo.DB, userID string) (Connection, error) {
	c, ok, err := dynamo.Get[Connection](ctx, db, tables.GetConnection, item.User(userID), item.Connection)
	if err == nil && !ok {
		err = ErrNotConnected
	}

	return c, err
}

// Token returns an access token of a user that is valid for some minutes. refused is a token that
// Strava has refused, "" for none; Token returns another one. It reads the connection until it has
// such a token: one worker at a time renews it, and the others wait for that worker. Errors:
// ErrNotConnected, ErrBroken, strava_busy, and those of Strava.
func (v Vault) Token(ctx context.Context, userID, refused string) (access string, err error) {
	for range refreshPolls {
		c, err := Read(ctx, v.db, userID)
		if err != nil {
			return "", err
		}

		if c.Status == Broken {
			return "", ErrBroken
		}

		access, err := v.keys.Open(userID, c.AccessToken)
		if err != nil {
			return "", err
		}

		if now := v.clock.Now(); access != refused && now.Add(refreshAhead).Unix() < c.ExpiresAt {
			return access, nil
		}

		locked, err := v.lock(ctx, c)
		if err != nil {
			return "", err
		}

		if locked {
			return v.refresh(ctx, c)
		}

		if err := v.clock.Sleep(ctx, v.clock.Now().Add(time.Second)); err != nil {
			return "", err
		}
	}

	return "", errRefreshing
}

// lock lets one worker renew the tokens of a connection. It returns false while another
// does, or if they were renewed since c was read.
func (v Vault) lock(ctx context.Context, c Connection) (bool, error) {
	now := v.clock.Now().UnixMilli()
	free := dynamo.Absent[Connection]("refreshLock").Or(dynamo.Less[Connection]("refreshLock", now))
	next := Connection{RefreshLock: now + refreshLock.Milliseconds()}

	return dynamo.Applied(dynamo.Update(ctx, v.db, tables.LockRefresh, dynamo.Key(tables.LockRefresh, c.PK, c.SK),
		dynamo.Set(next, "refreshLock"), dynamo.Equal[Connection]("refreshToken", c.RefreshToken).And(free)))
}

// refresh renews the tokens. If Strava refuses the refresh token, the connection is
// broken, unless the user has connected again meanwhile.
//
// Strava replaces the refresh token in its answer. If this worker dies between the answer
// and the write, the new one is lost: the user has to connect again.
func (v Vault) refresh(ctx context.Context, c Connection) (string, error) {
	old, err := v.keys.Open(c.UserID, c.RefreshToken)
	if err != nil {
		return "", err
	}

	key, same := dynamo.Key(tables.LockRefresh, c.PK, c.SK), dynamo.Equal[Connection]("refreshToken", c.RefreshToken)

	t, err := v.Strava.Refresh(ctx, old)
	if strava.Is(err, strava.Unauthorized) {
		broken := dynamo.UpdateWrite(key, dynamo.Set(Connection{Status: Broken}, "status").Remove("refreshLock"), same)

		failed := dynamo.Transact(ctx, v.db, tables.LockRefresh, broken, markBroken(c.UserID, v.clock.Now().Unix()))
		if failed != nil { // refused if the user has connected again
			return "", dynamo.RefusedAs(failed, errRefreshing.Because(err))
		}

		v.trail.Write(ctx, trail.Entry{Event: trail.StravaRefresh, Result: trail.Failed, UserID: c.UserID})

		return "", ErrBroken.Because(err)
	}

	if err != nil {
		unlocked := dynamo.Update(ctx, v.db, tables.LockRefresh, key, dynamo.Set(c, "status").Remove("refreshLock"), same)
		return "", errors.Join(err, dynamo.IgnoreRefused(unlocked))
	}

	c.AccessToken, c.RefreshToken, c.ExpiresAt = v.keys.Seal(c.UserID, t.Access), v.keys.Seal(c.UserID, t.Refresh), t.ExpiresAt
	err = dynamo.Update(ctx, v.db, tables.LockRefresh, key,
		dynamo.Set(c, "accessToken", "refreshToken", "expiresAtUtc").Remove("refreshLock"), same)

	return t.Access, dynamo.RefusedAs(err, errRefreshing)
}
