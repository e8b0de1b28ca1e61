package live_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/push/fcm"
)

// The processes of these tests crash before and after every call of AWS and of the
// provider. Pushes need no crash of their own: a crash before a push is one after the
// call that precedes it, and a crash after a push is one before the next call.

// crashTick ticks slot n in the process p, which may crash. It then ticks in a new
// process: the next slot and, when the lease of p has expired, as many as an event
// needs to be sent. It returns the outcome.
func crashTick(w *crickettest.World, p *dynamotest.Process, n int) crickettest.Outcome {
	w.T.Helper()
	return crashTickThen(w, p, n, w.Ticker())
}

// crashTickThen is crashTick with another process for the ticks after that of p.
func crashTickThen(w *crickettest.World, p *dynamotest.Process, n int, other *live.Ticker) crickettest.Outcome {
	w.T.Helper()
	tk := testkit.OpenWith(w.World, w.CrashingEnv(live.TickFunction(), p), live.OpenTicker)

	_, err := tk.Tick(w.NewContext(), crickettest.TickOf(n))
	if w.Logs.SumMetric(tables.MatchesFailed)+w.Logs.SumMetric(tables.ProviderFaults) > 0 {
		err = errors.Join(err, errors.New("an error was counted"))
	}

	p.Ended(err)

	w.TickAt(other, n+1)

	for i := range live.ConfirmPolls + 1 {
		w.TickAt(other, n+2+int(live.Lease/match.SlotLength)+i)
	}

	return w.Outcome()
}

func TestCrashInFirstTickIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := crickettest.New(t)
		f := w.AddFixture("7")
		w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 1}, crickettest.Ball{ID: 2}))

		return crashTick(w, p, 0)
	})
}

func TestCrashAtBallIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := crickettest.New(t)
		f := w.AddFixture("7")
		balls := []crickettest.Ball{{ID: 1, Runs: 1}, {ID: 2, Runs: 4}, {ID: 3, Out: true}}
		w.SetPayload(crickettest.Payload(f, "1st Innings", balls[:2]...))
		w.TickAt(w.Ticker(), 0)
		w.SetPayload(crickettest.Payload(f, "1st Innings", balls...))

		return crashTick(w, p, 1)
	})
}

// TestCrashAtTheEndOfAnOverIsRepaired: the end of an over reaches Android phones whatever their number.
func TestCrashAtTheEndOfAnOverIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) (important bool) {
		w := crickettest.New(t)
		w.Settings[fcm.SettingProject] = "matchday-test"
		f := w.AddFixture("7")

		var balls []crickettest.Ball
		for n := range 7 { // and the ball after it
			balls = append(balls, crickettest.Ball{ID: n + 1})
		}

		w.SetPayload(crickettest.Payload(f, "1st Innings", balls[:5]...))
		w.TickAt(w.Ticker(), 0)
		testkit.Drain(w.World, tables.TopicQueue, 0, func(context.Context, topic.Change) error { return nil })
		w.SetPayload(crickettest.Payload(f, "1st Innings", balls...))
		crashTick(w, p, 1)

		for _, m := range testkit.Messages[topic.Change](w.World, tables.TopicQueue) {
			important = important || m.Important
		}

		return important
	})
}

// TestCrashWhileAWithheldPayloadIsAccepted: the payload is unchanged, and was not ingested in full.
func TestCrashWhileAWithheldPayloadIsAccepted(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := crickettest.New(t)
		f := w.AddFixture("7")
		before := w.Ticker()
		w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
		w.TickAt(before, 0)
		w.SetPayload(crickettest.Payload(f, "1st Innings"))

		const refused = 8 // the next poll is accepted
		for n := range refused {
			w.TickAt(before, n+1)
		}

		if !isHeld(w, "7") {
			t.Fatalf("the payload was accepted after %d polls", refused)
		}

		return crashTick(w, p, refused+1)
	})
}

func TestCrashWhileArchivingIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w := crickettest.New(t)
		w.SetPayload(crickettest.Payload(w.AddFixture("7"), "1st Innings"), crickettest.Payload(w.AddFixture("8"), "1st Innings"))
		before := w.Ticker()
		w.TickAt(before, 0)
		w.SetPayload()
		w.TickAt(before, 1)

		return crashTick(w, p, 10)
	})
}

// TestCrashWhileAMatchIsArchivedThatReturns: the match is back with the next poll, unchanged. A process that polled it
// before, and a new one, list it as live again.
func TestCrashWhileAMatchIsArchivedThatReturns(t *testing.T) {
	t.Parallel()

	for name, isNew := range map[string]bool{"to a process that polled it": false, "to a new process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
				w := crickettest.New(t)
				entry := crickettest.Payload(w.AddFixture("7"), "1st Innings")
				w.SetPayload(entry)

				other := w.Ticker()
				w.TickAt(other, 0)
				w.SetPayload()
				w.TickAt(w.Ticker(), 1)

				if isNew {
					other = w.Ticker()
				}

				w.Override = func(string) (int, string) {
					if w.Clock.Now().Before(crickettest.At(11)) {
						return http.StatusOK, crickettest.Feed()
					}

					return http.StatusOK, crickettest.Feed(entry)
				}

				return crashTickThen(w, p, 10, other)
			})
		})
	}
}

func TestCrashWhileFinishingIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w, restarted, m := matchLeft(t, func() (int, string) { return 200, pageOf("Finished", tied) })
		testkit.Drain(w.World, tables.FinishQueue, 0, func(context.Context, live.MatchLeft) error { return nil })

		s := testkit.OpenWith(w.World, w.CrashingEnv(live.FinishMatchFunction(), p), live.OpenFinisher)
		// the page is requested again later, also if the request cannot be counted
		if p.Ended(s.FinishMatch(w.NewContext(), m), "/api/*/fixtures/*", "UpdateItem *-cricket-locks") {
			w.MoveClock(w.Clock.Now().Add(live.FinishMatchFunction().VisibilityTimeout())) // when the message is delivered again
			testkit.Must(t, restarted.FinishMatch(w.NewContext(), m))
		}

		testkit.Drain(w.World, tables.FinishQueue, 10*time.Minute, restarted.FinishMatch)

		return w.Outcome()
	})
}

func TestCrashAfterTheEndIsRepaired(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) crickettest.Outcome {
		w, restarted, _ := matchLeft(t, func() (int, string) { return 200, pageOf("Finished", tied) })
		testkit.Drain(w.World, tables.FinishQueue, 10*time.Minute, restarted.FinishMatch)
		m := testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)[0]
		w.MoveClock(w.Clock.Now().Add(live.KeepFollows))

		s := testkit.OpenWith(w.World, w.CrashingEnv(live.FinishMatchFunction(), p), live.OpenFinisher)
		// a page that cannot be requested differs in nothing
		if p.Ended(s.FinishMatch(w.NewContext(), m), "/api/*/fixtures/*", "UpdateItem *-cricket-locks") {
			testkit.Must(t, restarted.FinishMatch(w.NewContext(), m))
		}

		return w.Outcome()
	})
}
