package workout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/budget"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Limits is the setting of Strava's limits of the application, for a stage whose application has
// others than a new one. See ParseLimits.
const Limits = "COMMITCOLLECT_STRAVA_LIMITS"

// LimitsPattern is what Limits matches.
const LimitsPattern = `^[1-9][0-9]{0,6}(,[1-9][0-9]{0,6}){3}$`

// Strava's limits of reads of an application, until it grants more:
// https://developers.strava.com/docs/rate-limits/
var (
	readsOfQuarter = spec.Budget{Name: "reads of Strava", Max: 100, Per: 15 * time.Minute, Aligned: true, Setting: Limits}
	readsOfDay     = spec.Budget{Name: "reads of Strava", Max: 1000, Per: 24 * time.Hour, Aligned: true, Setting: Limits}
)

// Allowed are the reads that Strava allows to all functions in a quarter of an hour and in a day.
type Allowed struct{ Quarter, Day int }

// ParseLimits returns what the setting allows, as Strava's page of the application lists it: overall
// in a quarter of an hour and in a day, and reads in a quarter of an hour and in a day, with commas.
// Every call of the room is a read, which counts in both. An empty text gives the limits of a new
// application.
func ParseLimits(text string) (Allowed, error) {
	if text == "" {
		return Allowed{readsOfQuarter.Max, readsOfDay.Max}, nil
	}

	var n [4]int

	parts := strings.Split(text, ",")
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil || v < 1 || len(parts) != len(n) {
			return Allowed{}, fmt.Errorf("%s is %q, want four numbers of at least 1 with commas", Limits, text)
		}

		n[i] = v
	}

	return Allowed{min(n[0], n[2]), min(n[1], n[3])}, nil
}

// Part is a part of Strava's limits: of a quarter of an hour, and of a day. It counts what all
// functions have used, so the parts of those who wait longer are smaller.
type Part struct{ quarter, day spec.Share }

// Parts of Strava's limits, in the order of who is served first. A webhook's user waits for a part of
// the model. A user who has just connected waits for the history. Nobody waits for the sync of all
// users, which also leaves half of the day to the webhooks of the day: see the table in deploy.md. Who looks at what
// counted for a milestone, or has it counted again, has its sum without a call: History comes last, so that some users
// who scroll through years stop nobody else.
var (
	EventReads  = part(100, 100)
	ImportReads = part(85, 85)
	SyncReads   = part(70, 60)
	ViewReads   = part(60, 50)
)

// part returns a part in percent.
func part(quarter, day int) Part {
	return Part{
		spec.Share{Budget: readsOfQuarter, UpTo: readsOfQuarter.Max * quarter / 100},
		spec.Share{Budget: readsOfDay, UpTo: readsOfDay.Max * day / 100},
	}
}

// Shares returns the shares of the limits of a new application.
func (p Part) Shares() []spec.Share { return []spec.Share{p.quarter, p.day} }

// Of returns the shares of what Strava allows.
func (p Part) Of(a Allowed) []spec.Share {
	return []spec.Share{p.quarter.Of(a.Quarter), p.day.Of(a.Day)}
}

// What the backfills, or the events, of one user may use, so that nobody uses up the reads of
// others: by connecting again and again, or by a program that edits activities.
var (
	backfillsOfQuarter = spec.Budget{Name: "reads of Strava for a user's backfills", Max: 30, Per: 15 * time.Minute, Aligned: true}
	backfillsOfDay     = spec.Budget{Name: "reads of Strava for a user's backfills", Max: 100, Per: 24 * time.Hour, Aligned: true}
	eventsOfQuarter    = spec.Budget{Name: "reads of Strava for a user's events", Max: 20, Per: 15 * time.Minute, Aligned: true}
	eventsOfDay        = spec.Budget{Name: "reads of Strava for a user's events", Max: 100, Per: 24 * time.Hour, Aligned: true}
)

// allowance is the shares of a user, which are counted in a row under the user.
type allowance struct {
	sk     string
	shares []spec.Share
}

var (
	// The backfills of a quarter of an hour list 5,800 activities.
	userBackfills = allowance{item.Calls, []spec.Share{{Budget: backfillsOfQuarter, UpTo: 30}, {Budget: backfillsOfDay, UpTo: 100}}}
	userEvents    = allowance{item.EventCalls, []spec.Share{{Budget: eventsOfQuarter, UpTo: 20}, {Budget: eventsOfDay, UpTo: 100}}}
)

// reads is a row with the reads of Strava in the present quarter of an hour and day: those of
// all functions, or those of a user's allowance.
type reads struct {
	Quarter int64 `dynamodbav:"quarter,omitempty"` // begin, epoch s
	Day     int64 `dynamodbav:"day"`               // begin, epoch s
	Used    int   `dynamodbav:"used"`              // in the quarter
	UsedDay int   `dynamodbav:"usedDay"`
	// The others are in the row of all functions. Rows of before lack them.
	LimitQuarter int   `dynamodbav:"limitQuarter,omitempty"`  // that Strava's answers name; 0 if it is that of the setting
	LimitDay     int   `dynamodbav:"limitDay,omitempty"`      // as LimitQuarter
	InactiveAt   int64 `dynamodbav:"inactiveAtUtc,omitempty"` // when a call was last refused because the application is inactive, epoch s
	LateSince    int64 `dynamodbav:"lateSinceUtc,omitempty"`  // since when some users wait too long for a fetch, epoch s; 0 if none does
}

// readBudget returns the row of all functions.
func readBudget(ctx context.Context, db dynamo.DB) (r reads, err error) {
	r, _, err = dynamo.Get[reads](ctx, db, tables.ReadBudget, item.Budget, item.Meta)
	return r, err
}

// allowed returns what Strava allows, of which set is the setting.
func (r reads) allowed(set Allowed) Allowed {
	return Allowed{cmp.Or(r.LimitQuarter, set.Quarter), cmp.Or(r.LimitDay, set.Day)}
}

// now returns the reads that are counted in the quarter of an hour and in the day of a time.
func (r reads) now(t time.Time) (quarter, day int) {
	if r.Quarter == t.UTC().Truncate(readsOfQuarter.Per).Unix() {
		quarter = r.Used
	}

	if r.Day == t.UTC().Truncate(readsOfDay.Per).Unix() {
		day = r.UsedDay
	}

	return quarter, day
}

// probes is how long nobody calls Strava after it has said that the application is inactive. Then one
// call finds out whether it still is.
const probes = 15 * time.Minute

func (r reads) isInactive(now time.Time) bool {
	return r.InactiveAt != 0 && now.Before(time.Unix(r.InactiveAt, 0).Add(probes))
}

// counter returns the counter in a row, for shares of a quarter and of a day.
func (s *Ingester) counter(a spec.Access, key dynamo.Item, shares []spec.Share) budget.Counter[reads] {
	return budget.Counter[reads]{
		DB: s.db, Access: a, Key: key, Now: s.clock.Now,
		Periods: []budget.Period{
			{Share: shares[0], Begins: "quarter", Used: "used"},
			{Share: shares[1], Begins: "day", Used: "usedDay"},
		},
	}
}

// ofAll returns the counter of all functions.
func (s *Ingester) ofAll(shares []spec.Share) budget.Counter[reads] {
	return s.counter(tables.TakeBudget, dynamo.Key(tables.TakeBudget, item.Budget, item.Meta), shares)
}

// takeOfUser counts a read of an allowance of a user, as take. Every page of a backfill
// counts, whatever started the backfill. A deleted user gets account.ErrDeleted.
func (s *Ingester) takeOfUser(ctx context.Context, userID string, of allowance) error {
	return limited(s.ofUser(userID, of).Take(account.Require(ctx, userID)))
}

// giveBack takes back a read that takeOfUser has counted in this quarter, and that was not
// made.
func (s *Ingester) giveBack(ctx context.Context, userID string, of allowance) error {
	return s.ofUser(userID, of).GiveBack(ctx)
}

func (s *Ingester) ofUser(userID string, of allowance) budget.Counter[reads] {
	return s.counter(tables.TakeCalls, dynamo.Key(tables.TakeCalls, item.User(userID), of.sk), of.shares)
}

// limited returns the error of a used-up budget as Strava's error for too many requests.
func limited(err error) error {
	if e, ok := errors.AsType[*budget.Exhausted](err); ok {
		return &strava.Error{Kind: strava.Limited, RetryAfter: e.RetryAfter, Msg: e.Error()}
	}

	return err
}
