package activity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/audience"
	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
)

// TestNoPartIsInFrontOfAnotherMatch: a match with a million tokens sends its parts, level by level.
// After each of them the change of another match is the first of its queue.
func TestNoPartIsInFrontOfAnotherMatch(t *testing.T) {
	t.Parallel()

	const million = 1_000_000

	w, _, _ := worldWithActivities(t)
	discardMessages(w)
	w.AddFixture("8")

	open := func(fn app.Function) *activity.Pusher {
		env := w.Env(fn)
		env.AWS.HTTPClient = audience.Audience{Next: env.AWS.HTTPClient, MatchID: "7", N: million, Expires: 1} // nothing is pushed

		return w.Pusher(env)
	}
	big, parts := open(activity.PushActivitiesFunction()), open(activity.PushPartsFunction())
	inFront := func(matchID string) int {
		for n, m := range testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue) {
			if m.MatchID == matchID {
				return n
			}
		}

		t.Fatalf("the queue has no change of match %s", matchID)

		return 0
	}

	testkit.Must(t, big.PushActivities(w.NewContext(), activity.MatchChanged{MatchID: "7"}))

	w.SQS("SendMessage", map[string]any{"QueueUrl": w.Queues.URL(tables.ActivityQueue.Name), "MessageBody": `{"matchId":"8"}`}, nil)

	for range activity.MaxParts { // those that are divided again
		if n := inFront("8"); n != 0 {
			t.Fatalf("%d messages are in front of another match's change, want 0", n)
		}

		got := w.Receive(tables.PartQueue)

		var m activity.MatchChanged
		testkit.Must(t, json.Unmarshal([]byte(got.Body), &m))
		testkit.Must(t, parts.PushParts(w.NewContext(), m))
		w.SQS("DeleteMessage", map[string]any{"QueueUrl": w.Queues.URL(tables.PartQueue.Name), "ReceiptHandle": got.ReceiptHandle}, nil)
	}

	waiting := len(w.Queues.Messages(tables.PartQueue.Name))
	if waiting < 500 || waiting > 650 {
		t.Errorf("%d parts wait, want 500 to 650", waiting)
	}

	t.Logf("%d parts of a match with %d tokens wait, %d of them in front of another match's change", waiting, million, inFront("8"))
}

// TestChangeIsNoPart: push-parts rejects what push-activities must handle, because it may not read
// the channels.
func TestChangeIsNoPart(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	p := w.Pusher(w.Env(activity.PushPartsFunction()))

	for _, m := range []activity.MatchChanged{
		{MatchID: "7"}, {MatchID: "7", Slot: 3, Changed: []string{match.Neutral}}, {MatchID: "7", Ended: 1},
		{MatchID: "7", Ended: 1, Channels: activity.CloseChannels},
	} {
		if err := p.PushParts(w.NewContext(), m); problem.Of(err) != problem.Invalid {
			t.Errorf("%+v: error %v, want Invalid", m, err)
		}
	}
}

// TestMessagesOfAnEarlierDeploymentAreHandled: parts and retries that were in the queue of
// push-activities, before there was a queue of parts, are pushed from there.
func TestMessagesOfAnEarlierDeploymentAreHandled(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		body   string
		pushed []string
	}{
		"a change":           {`{"matchId":"7","slot":%d,"changed":["11","12","neutral"]}`, []string{"local", "visitor", "neutral"}},
		"a part":             {`{"matchId":"7","slot":%d,"changed":["11","12","neutral"],"from":"0","until":"g"}`, []string{"local", "visitor", "neutral"}},
		"a retry of a token": {`{"matchId":"7","tokens":["` + crickettest.Token("local") + `"],"try":1}`, []string{"local"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, want := worldWithActivities(t)
			discardMessages(w)

			body := c.body
			if strings.Contains(body, "%d") {
				body = fmt.Sprintf(body, match.SlotOf(crickettest.At(1)))
			}

			w.SQS("SendMessage", map[string]any{"QueueUrl": w.Queues.URL(tables.ActivityQueue.Name), "MessageBody": body}, nil)

			p := w.Pusher(w.Env(activity.PushActivitiesFunction()))
			if n := testkit.Drain(w.World, tables.ActivityQueue, time.Second, p.PushActivities); n != 1 {
				t.Errorf("%d messages were handled, want 1", n)
			}

			pushed := map[string]string{"local": "", "visitor": "", "neutral": ""}
			for _, name := range c.pushed {
				pushed[name] = want[name]
			}

			w.ExpectPhones("after the old message", pushed, false)
		})
	}
}

// earlierMatchChanged is the form of the message before there was a queue of parts.
type earlierMatchChanged struct {
	MatchID  string   `json:"matchId"`
	Slot     int64    `json:"slot"`
	Changed  []string `json:"changed"`
	Tokens   []string `json:"tokens"`
	Ended    int64    `json:"ended"`
	Try      int      `json:"try"`
	From     string   `json:"from"`
	Until    string   `json:"until"`
	Channels string   `json:"channels"`
}

// TestEarlierCodeReadsTheMessages: after a rollback, and while a deployment replaces the functions,
// the code of before reads what this code has sent.
func TestEarlierCodeReadsTheMessages(t *testing.T) {
	t.Parallel()

	m := activity.MatchChanged{
		MatchID: "7", Slot: 3, Changed: []string{"11"}, Tokens: []string{"ab"}, Ended: 5, Try: 2,
		IDRange: activity.IDRange{From: "0", Until: "g"}, Channels: activity.CloseChannels,
	}
	text, err := json.Marshal(m)
	testkit.Must(t, err)

	var got earlierMatchChanged

	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	testkit.Must(t, in.Decode(&got))

	want := earlierMatchChanged{
		MatchID: "7", Slot: 3, Changed: []string{"11"}, Tokens: []string{"ab"}, Ended: 5, Try: 2, From: "0", Until: "g", Channels: "close",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the code of before reads (-want +got):\n%s", diff)
	}
}
