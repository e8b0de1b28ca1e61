package workout

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

const (
	// rest is how long a worker makes no call after one that Strava did not answer, so that the later
	// messages of a batch do not wait for it one by one until the function's timeout.
	rest = time.Minute
	// slow is how long an event may take before the worker rests: ten such events fit into the
	// function's timeout.
	slow = 2 * time.Second
)

// resting is until when a worker makes no call.
type resting struct{ until atomic.Int64 } // epoch ns

func (r *resting) begin(now time.Time) { r.until.Store(now.Add(rest).UnixNano()) }

func (r *resting) at(now time.Time) bool { return now.UnixNano() < r.until.Load() }

// meter keeps what the latest answer of Strava says of the limits.
type meter struct {
	next http.RoundTripper

	mu    sync.Mutex
	usage strava.Usage
	known bool
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := m.next.RoundTrip(r)
	if err == nil {
		if u, ok := strava.UsageOf(answer.Header); ok {
			m.mu.Lock()
			m.usage, m.known = u, true
			m.mu.Unlock()
		}
	}

	return answer, err
}

// take returns what was learned since it was called last.
func (m *meter) take() (strava.Usage, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	known := m.known
	m.known = false

	return m.usage, known
}

// call makes a call to Strava for a user, within a part of the limits. If Strava refuses the token,
// it is made once more with another. If strava.Cause of the error is not nil, the message is to wait.
func (s *Ingester) call(ctx context.Context, userID string, of Part, do func(access string) error) error {
	now := s.clock.Now()

	row, err := readBudget(ctx, s.db)

	switch {
	case err != nil:
		return err
	case s.resting.at(now):
		return &strava.Error{Kind: strava.Unavailable, Msg: "there was no answer a moment ago"}
	case row.isInactive(now):
		return &strava.Error{Kind: strava.Inactive, Msg: "the application was inactive a moment ago"}
	}

	shares := of.Of(row.allowed(s.allowed))

	made, err := s.try(ctx, userID, shares, do)
	if cause := strava.Cause(err); cause != nil && cause.Kind == strava.Unavailable {
		slog.WarnContext(ctx, "Strava is unavailable", "user", userID, "err", err)

		if cause.Status == 0 {
			s.resting.begin(s.clock.Now())
		}
	}

	if failed := s.learn(ctx, row, shares, made, err); failed != nil {
		return failed // of a message that must not wait as if nothing had failed
	}

	if err != nil && problem.Of(err) == problem.Unavailable { // another worker renews the token, or counts a call
		return &strava.Error{Kind: strava.Unavailable, Status: http.StatusOK, Msg: "wait for another worker", Err: err}
	}

	return err
}

// try makes the call, and returns how many calls were counted.
func (s *Ingester) try(ctx context.Context, userID string, shares []spec.Share, do func(access string) error) (made int, err error) {
	access, err := s.link.Token(ctx, userID, "")
	for ; err == nil; made++ {
		if err := limited(s.ofAll(shares).Take(ctx)); err != nil {
			return made, err
		}

		err = do(access)
		if !strava.Is(err, strava.Unauthorized) || made > 0 {
			return made + 1, err
		}

		access, err = s.link.Token(ctx, userID, access)
	}

	return made, err
}

// learn stores what the answers to calls say of the application: limits that differ from those in
// use, a use by other programs, and whether it is inactive. was is the row before the calls.
func (s *Ingester) learn(ctx context.Context, was reads, shares []spec.Share, made int, result error) error {
	now := s.clock.Now()
	is := was

	usage, known := s.meter.take()
	if known {
		is.LimitQuarter, is.LimitDay = differs(usage.Quarter.Max, s.allowed.Quarter), differs(usage.Day.Max, s.allowed.Day)
	}

	switch {
	case strava.Is(result, strava.Inactive):
		is.InactiveAt = now.Unix()

		slog.ErrorContext(ctx, "Strava says that the application is inactive: its owner must subscribe, and reactivate it")
		telemetry.Emit(ctx, now, []telemetry.Sample{telemetry.Count(link.StravaInactive, 1)})
	case made > 0 && (result == nil || strava.Is(result, strava.NotFound)):
		is.InactiveAt = 0
	}

	if is != was {
		changes := dynamo.Set(is, "limitQuarter", "limitDay", "inactiveAtUtc")
		if err := dynamo.Update(ctx, s.db, tables.TakeBudget, dynamo.Key(tables.TakeBudget, item.Budget, item.Meta), changes); err != nil {
			return err
		}
	}

	quarter, day := was.now(now)
	if !known || usage.Quarter.Used <= quarter+made && usage.Day.Used <= day+made {
		return nil
	}

	return s.ofAll(shares).AtLeast(ctx, usage.Quarter.Used, usage.Day.Used)
}

// differs returns a limit that Strava names, 0 if it is that of the setting.
func differs(named, set int) int {
	if named == set {
		return 0
	}

	return named
}

// suspect has the next sync fetch the whole history of a user, because an event was given up at a time, epoch s. A fetch of
// the whole history that began then or later makes it unnecessary.
func (s *Ingester) suspect(ctx context.Context, userID string, at int64) error {
	key := dynamo.Key(tables.MarkFetch, item.Connected(item.Shard(userID)), item.User(userID))

	return dynamo.IgnoreRefused(dynamo.Update(ctx, s.db, tables.MarkFetch, key,
		dynamo.Set(link.Listed{SuspectAt: at}, "suspectAtUtc"), dynamo.Exists[link.Listed]("PK")))
}
