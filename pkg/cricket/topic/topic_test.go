package topic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/fcm"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/problem"
	sender "matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// views are the perspectives of match 7 by name of the phone that subscribes to each.
var views = map[string]string{"local": "11", "visitor": "12", "neutral": match.Neutral}

// ball returns a delivery.
func ball(id, runs int) crickettest.Ball { return crickettest.Ball{ID: id, Runs: runs} }

// newWorld returns a world with match 7, which is polled by show, and a phone for each perspective.
func newWorld(t *testing.T) (*crickettest.World, *fcm.Server, match.Fixture) {
	t.Helper()

	w := crickettest.New(t).WithPhones()
	g := w.WithFCM()
	f := w.AddFixture("7")

	for name, view := range views {
		g.Install(crickettest.AndroidToken(name))
		g.Subscribe(crickettest.AndroidToken(name), follower.Topic(w.Env(topic.PushTopicsFunction()).Stage, "7", view))
	}

	return w, g, f
}

// show has the provider send a payload that is polled in slot n.
func show(w *crickettest.World, n int, status string, f match.Fixture, balls ...crickettest.Ball) {
	w.T.Helper()
	w.SetPayload(crickettest.Payload(f, status, balls...))
	w.MoveClock(crickettest.At(n))
	w.TickAt(w.Ticker(), n)
}

// pusher opens push-topics.
func pusher(w *crickettest.World) *topic.Pusher {
	w.T.Helper()
	return testkit.Open(w.World, topic.PushTopicsFunction(), topic.OpenPusher)
}

// drain handles the messages of push-topics that are visible within a time, but those of starts.
func drain(w *crickettest.World, p *topic.Pusher, within time.Duration) (handled int) {
	w.T.Helper()

	testkit.Drain(w.World, tables.TopicQueue, within, func(ctx context.Context, m topic.Change) error {
		if m.Start {
			return nil
		}

		handled++

		return p.PushTopics(ctx, m)
	})

	return handled
}

// screen is what an app shows of a match.
type screen struct {
	Event, Headline, Chip, Priority string
	Messages                        int
}

// screenOf returns the screen of a phone, whose app orders states by their rev.
func screenOf(t *testing.T, g *fcm.Server, name string) (s screen) {
	t.Helper()

	p, _ := g.Phone(crickettest.AndroidToken(name))
	shown := int64(0)

	for _, m := range p.Received {
		rev, err := strconv.ParseInt(m.Data["rev"], 10, 64)
		testkit.Must(t, err)

		s.Messages++

		if rev < shown {
			continue
		}

		var d score.Display
		testkit.Must(t, json.Unmarshal([]byte(m.Data["display"]), &d))

		shown, s.Event, s.Headline, s.Chip, s.Priority = rev, m.Data["event"], d.Headline, m.Data["chip"], m.Priority
	}

	return s
}

// TestTopicsGetTheirDisplay: each perspective its own, in one message for a change, with the time at which it is stale.
func TestTopicsGetTheirDisplay(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p := pusher(w)

	show(w, 1, "1st Innings", f, ball(1, 1), ball(2, 6))
	drain(w, p, time.Second)

	for name, view := range views {
		phone, _ := g.Phone(crickettest.AndroidToken(name))
		if len(phone.Received) != 1 {
			t.Fatalf("%s got %d messages", name, len(phone.Received))
		}

		at := crickettest.At(1).Unix()
		want := map[string]string{
			"matchId": "7", "perspective": view, "event": "update", "rev": fmt.Sprint(at), "at": fmt.Sprint(at),
			"stale": fmt.Sprint(at + int64(activity.StaleAfter.Seconds())), "chip": "7/0",
			"display": string(testkit.Row[match.DisplayRow](w.World, tables.Displays, match.DisplayKey("7", view)).Display),
		}
		if diff := cmp.Diff(want, phone.Received[0].Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	show(w, 2, "Int.", f, ball(1, 1), ball(2, 6))
	drain(w, p, time.Second)

	phone, _ := g.Phone(crickettest.AndroidToken("local"))
	if last := phone.Received[len(phone.Received)-1]; last.Data["stale"] != "" || last.Data["chip"] != "7/0" && last.Data["chip"] != "" {
		t.Errorf("an interrupted match has %v", last.Data)
	}
}

// TestStartIsAnnounced: the first ball tells the app to show the match.
func TestStartIsAnnounced(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	show(w, 1, "1st Innings", f, ball(1, 1))
	testkit.Drain(w.World, tables.TopicQueue, time.Second, pusher(w).PushTopics)

	for name := range views {
		phone, _ := g.Phone(crickettest.AndroidToken(name))

		var got []string
		for _, m := range phone.Received {
			got = append(got, m.Data["event"]+" "+m.Data["chip"])
		}

		slices.Sort(got)

		if want := []string{"start 1/0", "update 1/0"}; !slices.Equal(got, want) {
			t.Errorf("%s got %q, want %q", name, got, want)
		}
	}
}

// TestPriorityAndLife: which states wake a phone, and how long Google keeps them.
func TestPriorityAndLife(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status        string
		balls         []crickettest.Ball
		change        func(*topic.Change)
		priority, ttl string
	}{
		"a ball":       {"1st Innings", []crickettest.Ball{ball(1, 1), ball(2, 2)}, nil, "NORMAL", "60s"},
		"a wicket":     {"1st Innings", []crickettest.Ball{ball(1, 1), {ID: 2, Out: true}}, nil, "HIGH", "60s"},
		"no play":      {"Int.", []crickettest.Ball{ball(1, 1)}, nil, "HIGH", "3600s"},
		"a start":      {"1st Innings", []crickettest.Ball{ball(1, 1), ball(2, 2)}, func(m *topic.Change) { m.Start = true }, "HIGH", "3600s"},
		"again a ball": {"1st Innings", []crickettest.Ball{ball(1, 1), {ID: 2, Out: true}}, func(m *topic.Change) { m.Slot, m.Again = 0, true }, "NORMAL", "60s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, g, f := newWorld(t)
			show(w, 1, c.status, f, c.balls...)

			m := testkit.Messages[topic.Change](w.World, tables.TopicQueue)[0]
			if c.change != nil {
				c.change(&m)
			}

			var sent []fcm.Sent
			g.Observe = func(s fcm.Sent) { sent = append(sent, s) } // one at a time: one perspective
			m.Changed = []string{match.Neutral}
			testkit.Must(t, pusher(w).PushTopics(w.NewContext(), m))

			if len(sent) != 1 || sent[0].Priority != c.priority || sent[0].TTL != c.ttl || !sent[0].Topic {
				t.Errorf("sent %+v, want the priority %s and the ttl %s", sent, c.priority, c.ttl)
			}
		})
	}
}

// TestNewestStateWins: a change whose display has changed again is skipped, and a late message does not take a phone back.
func TestNewestStateWins(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p := pusher(w)

	show(w, 1, "1st Innings", f, ball(1, 1))
	drain(w, p, time.Second) // the first state is important
	show(w, 2, "1st Innings", f, ball(1, 1), ball(2, 1))
	show(w, 3, "1st Innings", f, ball(1, 1), ball(2, 1), ball(3, 2))

	if n := drain(w, p, time.Second); n != 2 {
		t.Fatalf("%d messages were handled, want 2", n)
	}

	if got := screenOf(t, g, "neutral"); got.Messages != 2 || got.Chip != "4/0" {
		t.Errorf("the phone shows %+v", got)
	}
}

// TestWicketIsNotLostBetweenProcesses: each process has counted the audience at another time. One for which it is small
// does not leave a wicket to the message of the next ball, which one for which it is large does not send.
func TestWicketIsNotLostBetweenProcesses(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p, thinning := pusher(w), pusher(w)
	*thinning.EveryBall() = -1
	out := crickettest.Ball{ID: 2, Out: true}

	show(w, 1, "1st Innings", f, ball(1, 1))
	drain(w, p, time.Second)
	show(w, 2, "1st Innings", f, ball(1, 1), out)
	show(w, 3, "1st Innings", f, ball(1, 1), out, ball(3, 2))

	testkit.Drain(w.World, tables.TopicQueue, time.Second, func(ctx context.Context, m topic.Change) error {
		if m.Important {
			return p.PushTopics(ctx, m)
		}

		return thinning.PushTopics(ctx, m)
	})

	if got := screenOf(t, g, "neutral"); got.Messages != 2 || got.Chip != "3/1" {
		t.Errorf("the phone shows %+v", got)
	}
}

// TestOversLastUntilTheNext: Google keeps an over of an audience that gets no balls for an idle phone longer than a ball.
func TestOversLastUntilTheNext(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p := pusher(w)
	*p.EveryBall() = -1

	over := []crickettest.Ball{ball(1, 1), ball(2, 1), ball(3, 1), ball(4, 1), ball(5, 1), ball(6, 1)}
	show(w, 1, "1st Innings", f, over[:5]...)
	drain(w, p, time.Second)
	show(w, 2, "1st Innings", f, over...)

	var sent []fcm.Sent
	g.Observe = func(s fcm.Sent) { sent = append(sent, s) } // one at a time: one perspective

	testkit.Drain(w.World, tables.TopicQueue, time.Second, func(ctx context.Context, m topic.Change) error {
		m.Changed = []string{match.Neutral}
		return p.PushTopics(ctx, m)
	})

	if len(sent) != 1 || sent[0].Priority != "NORMAL" || sent[0].TTL != "360s" {
		t.Errorf("sent %+v, want the priority NORMAL and the ttl 360s", sent)
	}
}

// TestEndIsRepeated at the times of the end of a channel, and dropped when the match is open again.
func TestEndIsRepeated(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p := pusher(w)
	show(w, 1, "1st Innings", f, ball(1, 1))
	drain(w, p, time.Second)
	w.DecideEnd("7", 50)

	g.Answer("", fcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: len(views)})
	testkit.Must(t, p.PushTopics(w.NewContext(), topic.Change{MatchID: "7", Ended: crickettest.At(50).Unix()}))

	if got := screenOf(t, g, "local"); got.Event != "update" {
		t.Errorf("after a 503 the phone shows %+v", got)
	}

	drain(w, p, 15*time.Second)

	if got := screenOf(t, g, "local"); got.Event != "end" || got.Messages != 2 || got.Priority != "HIGH" {
		t.Errorf("after the retry the phone shows %+v", got)
	}

	drain(w, p, time.Hour)

	for name := range views { // the ball, the end, and four times again
		if got := screenOf(t, g, name); got.Event != "end" || got.Messages != 6 {
			t.Errorf("%s shows %+v", name, got)
		}
	}

	open := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
	open.EndingAt = 0
	testkit.PutRows(w.World, tables.Fixtures, open)
	testkit.Must(t, p.PushTopics(w.NewContext(), topic.Change{MatchID: "7", Ended: crickettest.At(50).Unix()}))

	if got := screenOf(t, g, "local"); got.Messages != 6 || len(testkit.Messages[topic.Change](w.World, tables.TopicQueue)) != 0 {
		t.Errorf("after the end was withdrawn the phone shows %+v", got)
	}
}

// TestGooglesAnswers: an update that fails is dropped and counted; a start is retried, and not before Google allows it.
func TestGooglesAnswers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answer fcm.Answer
		start  bool
		failed int // topics
		wait   time.Duration
		last   int // messages on a phone in the end
	}{
		"busy at a ball":        {fcm.Answer{Status: 503, Code: "UNAVAILABLE", Times: 1}, false, 1, 0, 0},
		"a lost answer":         {fcm.Answer{Drop: true, Applied: true, Times: 1}, false, 0, 0, 2},
		"busy at a start":       {fcm.Answer{Status: 500, Code: "INTERNAL", Times: 1}, true, 1, 10 * time.Second, 1},
		"beyond the quota":      {fcm.Answer{Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: 40 * time.Second, Times: 1}, true, 1, 40 * time.Second, 1},
		"a credential of Apple": {fcm.Answer{Status: 401, Code: "THIRD_PARTY_AUTH_ERROR", Times: 1}, true, 1, 10 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, g, f := newWorld(t)
			show(w, 1, "1st Innings", f, ball(1, 1))

			m := testkit.Messages[topic.Change](w.World, tables.TopicQueue)[0]
			m.Changed, m.Start = []string{match.Neutral}, c.start
			testkit.Drain(w.World, tables.TopicQueue, 0, func(context.Context, topic.Change) error { return nil })
			g.Answer("", c.answer)

			p := pusher(w)
			testkit.Must(t, p.PushTopics(w.NewContext(), m))

			if got := countOf(w, tables.TopicsFailed); got != c.failed || countOf(w, tables.GoogleFailures) != c.failed {
				t.Errorf("%d topics failed, want %d", got, c.failed)
			}

			if n := testkit.Drain(w.World, tables.TopicQueue, c.wait-time.Second, p.PushTopics); n != 0 {
				t.Errorf("it was retried within %v", c.wait)
			}

			testkit.Drain(w.World, tables.TopicQueue, c.wait+time.Second, p.PushTopics)

			if got := screenOf(t, g, "neutral"); got.Messages != c.last {
				t.Errorf("the phone got %d messages, want %d", got.Messages, c.last)
			}
		})
	}
}

// TestNoKey: without a key of Google a start counts as a failure of Google, and is sent when the secret has it.
func TestNoKey(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	key := w.Settings[sender.Key]
	delete(w.Settings, sender.Key)
	show(w, 1, "1st Innings", f, ball(1, 1))

	m := testkit.Messages[topic.Change](w.World, tables.TopicQueue)[0]
	m.Changed, m.Start = []string{match.Neutral}, true
	testkit.Drain(w.World, tables.TopicQueue, 0, func(context.Context, topic.Change) error { return nil })

	p := pusher(w)
	testkit.Must(t, p.PushTopics(w.NewContext(), m))

	if n := countOf(w, tables.GoogleFailures); n != 1 {
		t.Errorf("%d failures of Google, want 1", n)
	}

	w.Settings[sender.Key] = key
	testkit.Drain(w.World, tables.TopicQueue, time.Minute, p.PushTopics)

	if got := screenOf(t, g, "neutral"); got.Messages != 1 || got.Event != "start" {
		t.Errorf("the phone shows %+v", got)
	}
}

// countOf returns the sum of a metric that was emitted.
func countOf(w *crickettest.World, m spec.Metric) (sum int) {
	for _, line := range w.Logs.Lines() {
		if n, ok := line.Attrs[m.Name].(float64); ok {
			sum += int(n)
		}
	}

	return sum
}

// TestThinning: above the number of phones, only overs, key events, starts and ends are sent, and the newest state wins.
func TestThinning(t *testing.T) {
	t.Parallel()

	over := []crickettest.Ball{ball(1, 1), ball(2, 1), ball(3, 1), ball(4, 1), ball(5, 1), ball(6, 1)}
	next := append(slices.Clone(over), ball(7, 4))
	wicket := append(slices.Clone(next), crickettest.Ball{ID: 8, Out: true})

	for phones, want := range map[int][]string{
		20_000: {"1/0", "5/0", "6/0", "10/0", "10/1"},
		20_016: {"1/0", "6/0", "10/1"}, // the first poll, the over and the wicket
	} {
		t.Run(fmt.Sprint(phones), func(t *testing.T) {
			t.Parallel()
			w, g, f := newWorld(t)
			p := pusher(w)

			testkit.PutRows(w.World, tables.Locks, map[string]any{"lockKey": "phones:7", "phones": phones - 16},
				map[string]any{"lockKey": "phones:8", "phones": 1_000_000}) // of a match that is not in play

			other := w.AddFixture("9")
			other.Live = match.Live
			testkit.PutRows(w.World, tables.Fixtures, other)
			testkit.PutRows(w.World, tables.Locks, map[string]any{"lockKey": "phones:9", "phones": 16})

			for n, balls := range [][]crickettest.Ball{over[:1], over[:5], over, next, wicket} {
				show(w, n+1, "1st Innings", f, balls...)
				drain(w, p, time.Second)
			}

			phone, _ := g.Phone(crickettest.AndroidToken("neutral"))

			var got []string
			for _, m := range phone.Received {
				got = append(got, m.Data["chip"])
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOverIsNotLostToTheNextBall: above the number, the end of an over whose display has changed again is sent with the
// newest state, because the ball after it is not sent.
func TestOverIsNotLostToTheNextBall(t *testing.T) {
	t.Parallel()
	w, g, f := newWorld(t)
	p := pusher(w)
	*p.EveryBall() = -1

	over := []crickettest.Ball{ball(1, 1), ball(2, 1), ball(3, 1), ball(4, 1), ball(5, 1), ball(6, 1)}
	show(w, 1, "1st Innings", f, over[:5]...)
	drain(w, p, time.Second)
	show(w, 2, "1st Innings", f, over...)
	show(w, 3, "1st Innings", f, append(slices.Clone(over), ball(7, 4))...)
	drain(w, p, time.Second)

	if got := screenOf(t, g, "neutral"); got.Chip != "10/0" || got.Messages != 2 {
		t.Errorf("the phone shows %+v", got)
	}

	// A poll that has the last ball of an over and the one after it ends the over, too.
	two := append(slices.Clone(over), ball(7, 4), ball(8, 1), ball(9, 1), ball(10, 1), ball(11, 1))
	show(w, 4, "1st Innings", f, two...)
	show(w, 5, "1st Innings", f, append(two, ball(12, 1), ball(13, 2))...)
	drain(w, p, time.Second)

	if got := screenOf(t, g, "neutral"); got.Chip != "17/0" || got.Messages != 3 {
		t.Errorf("the phone shows %+v", got)
	}
}

// TestReadsDoNotGrowWithTheAudience: a change costs the same read units for any number of phones.
func TestReadsDoNotGrowWithTheAudience(t *testing.T) {
	t.Parallel()

	got := map[int]float64{}

	for _, phones := range []int{0, 20_000, 1_000_000} {
		w, _, f := newWorld(t)
		testkit.PutRows(w.World, tables.Locks, map[string]any{"lockKey": "phones:7", "phones": phones})
		show(w, 1, "1st Innings", f, ball(1, 1), crickettest.Ball{ID: 2, Out: true})

		p := pusher(w)
		got[phones] = w.CountUnits(func() { drain(w, p, time.Second) }).Reads
	}

	want := got[0]
	if slices.ContainsFunc(slices.Collect(maps.Values(got)), func(n float64) bool { return n != want || n > 8 }) {
		t.Errorf("read units by audience: %v", got)
	}
}

// TestStageWithoutAndroidPhones sends nothing to push-topics.
func TestStageWithoutAndroidPhones(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	show(w, 1, "1st Innings", f, ball(1, 1))

	if n := len(testkit.Messages[topic.Change](w.World, tables.TopicQueue)); n != 0 {
		t.Errorf("%d messages were sent", n)
	}

	if n := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)); n != 1 {
		t.Errorf("%d changes were sent to iPhones", n)
	}

	testkit.Must(t, pusher(w).PushTopics(w.NewContext(), topic.Change{MatchID: "7"}))
}

// TestUnknownMatches are Invalid.
func TestUnknownMatches(t *testing.T) {
	t.Parallel()
	w, _, _ := newWorld(t)

	for _, id := range []string{"", "8", "7/", "seven", "12345678901234567890"} {
		if err := pusher(w).PushTopics(w.NewContext(), topic.Change{MatchID: id}); problem.Of(err) != problem.Invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestWrongNumberOfPhones: the service does not open with a setting that is no number.
func TestWrongNumberOfPhones(t *testing.T) {
	t.Parallel()
	w, _, _ := newWorld(t)
	w.Settings[tables.EveryBall] = "many"

	if _, err := topic.OpenPusher(w.NewContext(), w.Env(topic.PushTopicsFunction())); err == nil {
		t.Error("it opened")
	}
}

// TestTopicsAreSentAfterACrash: whatever call is the last one, each phone shows the state, or the end.
func TestTopicsAreSentAfterACrash(t *testing.T) {
	t.Parallel()

	for name, ended := range map[string]bool{"an update": false, "an end": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) map[string]screen {
				w, g, f := newWorld(t)
				show(w, 1, "1st Innings", f, ball(1, 1), ball(2, 2))

				m := testkit.Messages[topic.Change](w.World, tables.TopicQueue)[0]
				if ended {
					w.DecideEnd("7", 50)

					m = topic.Change{MatchID: "7", Ended: crickettest.At(50).Unix()}
				}

				if p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(topic.PushTopicsFunction(), p), topic.OpenPusher).PushTopics(w.NewContext(), m)) {
					testkit.Must(t, pusher(w).PushTopics(w.NewContext(), m))
				}

				drain(w, pusher(w), time.Hour)

				all := map[string]screen{}
				for name := range views {
					s := screenOf(t, g, name)
					s.Messages = min(s.Messages, 1) // a crash repeats some
					all[name] = s
				}

				return all
			})
		})
	}
}
