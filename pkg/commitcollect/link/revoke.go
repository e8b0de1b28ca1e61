package link

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// AthletesRefused counts the users whom Strava did not let connect, because the application has as many
// athletes as it may have.
var AthletesRefused = spec.Metric{Name: "AthletesRefused", Unit: spec.Count, OfRoom: true}

// StravaInactive counts the calls that Strava refused because the application is inactive.
var StravaInactive = spec.Metric{Name: "StravaInactive", Unit: spec.Count, OfRoom: true}

const (
	// RevokeDelay is how long after a failed revocation the next is tried.
	RevokeDelay = 15 * time.Minute
	// RevokeFor is how long a revocation is tried. Then its message fails, and an operator sees it.
	RevokeFor = 7 * 24 * time.Hour
)

// Disconnect ends the link of a user, and the access at Strava. If Strava does not revoke the access, the
// link ends all the same, and PurgeQueue gets a message that has it tried again. A second run finds nothing.
// Errors: strava_busy while another worker renews the tokens.
func (v Vault) Disconnect(ctx context.Context, userID string) error {
	first := Connection{}

	for range refreshPolls {
		c, err := Read(ctx, v.db, userID)
		if errors.Is(err, ErrNotConnected) || err == nil && first.PK != "" && c.ConnectedAt != first.ConnectedAt {
			return nil // ended, or connected again
		}

		if err != nil {
			return err
		}

		first = c

		if now := v.clock.Now(); c.isRenewing(now) {
			if err := v.clock.Sleep(ctx, now.Add(time.Second)); err != nil {
				return err
			}

			continue
		}

		if ended, err := v.disconnect(ctx, c); err != nil || ended {
			return err
		}
	}

	return errRefreshing
}

// disconnect ends a connection. It returns false if its tokens are or were renewed since c was read.
func (v Vault) disconnect(ctx context.Context, c Connection) (ended bool, err error) {
	result, now := trail.Success, v.clock.Now()

	if err := v.Revoke(ctx, c.UserID, c.RefreshToken); err != nil {
		result = trail.Partial

		slog.WarnContext(ctx, "the access at Strava was not revoked", "user", c.UserID, "err", err)

		if !errors.Is(err, errSealed) {
			again := Purge{UserID: c.UserID, Token: c.RefreshToken, AthleteID: c.AthleteID, Since: now.Unix(), Again: true}
			if err := v.queue.Send(ctx, PurgeQueue, again, RevokeDelay); err != nil {
				return false, err
			}
		}
	}

	if ended, err := dynamo.Applied(unlink(ctx, v.db, c, c.notRenewed(now))); err != nil || !ended {
		return false, err
	}

	v.trail.Write(ctx, trail.Entry{
		Event:  trail.StravaDeauthorize,
		Result: result,
		UserID: c.UserID,
		Data:   Ended(c),
	})

	return true, nil
}

// Ended returns what the trail says of the end of a connection: the athlete, and the receipt of the deletion of the
// workouts, which follows.
func Ended(c Connection) map[string]string {
	return map[string]string{
		"athleteId": strconv.FormatInt(c.AthleteID, 10), "receipt": trail.Receipt(c.UserID, trail.WorkoutsDelete),
	}
}

// Revoke ends the access at Strava of a sealed refresh token of a user. One that has ended is no error.
func (v Vault) Revoke(ctx context.Context, userID, sealed string) error {
	token, err := v.keys.Open(userID, sealed)
	if err != nil {
		return err
	}

	return v.Strava.Revoke(ctx, token)
}

// Unlink deletes the rows of a connection, unless the user has connected again since c was
// read.
func Unlink(ctx context.Context, db dynamo.DB, c Connection) error {
	same := dynamo.Equal[Connection]("athleteId", c.AthleteID)
	return dynamo.IgnoreRefused(unlink(ctx, db, c, same))
}

// unlink deletes the rows of a connection, if it is the same and a condition holds. Otherwise it returns a
// dynamo.Refused.
func unlink(ctx context.Context, db dynamo.DB, c Connection, same expression.ConditionBuilder) error {
	a := tables.UnlinkAthlete
	mine := dynamo.Absent[owner]("PK").Or(dynamo.Equal[owner]("userId", c.UserID))

	return dynamo.Transact(ctx, db, a,
		dynamo.DeleteWrite(dynamo.Key(a, c.PK, c.SK),
			dynamo.Equal[Connection]("connectedAtUtc", c.ConnectedAt).And(dynamo.Equal[Connection]("athleteId", c.AthleteID), same)),
		dynamo.DeleteWrite(dynamo.Key(a, c.GSI1PK, item.Owner), mine),
		dynamo.DeleteWrite(dynamo.Key(a, item.Connected(item.Shard(c.UserID)), c.PK)),
	)
}
