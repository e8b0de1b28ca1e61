package pickem

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
)

// These tests are of what comes late, or at the wrong time: an index that is
// behind, a transaction that is tried again, a change between two reads.

// behind has the index show nothing to a function.
func behind(env app.Env) app.Env {
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if r.Body = io.NopCloser(bytes.NewReader(body)); strings.Contains(string(body), `"IndexName"`) {
				return answered(r, http.StatusOK, `{"Items":[],"Count":0,"ScannedCount":0}`), nil
			}
		}
		return next.Do(r)
	})
	return env
}

func answered(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// TestPredictionBehindTheIndex: a prediction that the index did not show when its
// event was scored is scored by the job that comes by every minute.
func TestPredictionBehindTheIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(1)
	w.pick("ann", show, 0)
	w.lock(show)
	w.results(show, 0)
	w.admin(RequestScoreFunction, adminEvent(show)+"/score", "")
	testkit.Drain(w.World, scoreQueue, 0, func(context.Context, ScoreEvent) error { return nil })
	testkit.Must(t, testkit.OpenWith(w.World, behind(w.Env(ScoreEventFunction)), OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{show}))
	if all := w.standings("2026"); len(all) != 0 {
		t.Fatalf("the index showed %+v", all)
	}
	w.To(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, testkit.Open(w.World, LockEventsFunction, OpenEvents).LockEvents(w.Ctx()))
	w.work()
	if all := w.standings("2026"); len(all) != 1 || all[0].Points != 10 {
		t.Errorf("the standings are %+v", all)
	}
	before := testkit.Rows[map[string]any](w.World, table)
	w.To(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, testkit.Open(w.World, LockEventsFunction, OpenEvents).LockEvents(w.Ctx()))
	if n := len(testkit.Messages[ScoreEvent](w.World, scoreQueue)); n != 0 || len(testkit.Rows[map[string]any](w.World, table)) != len(before) {
		t.Errorf("it is asked for %d times more", n)
	}
}

// TestPickIsTriedAgain: a pick that others' picks are in the way of is late when
// the event has locked meanwhile.
func TestPickIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(1)
	w.To(instant(testkit.Row[event](w.World, table, eventKey, ofEvent(show)).LockAt).Add(-time.Millisecond))
	env, n := w.Env(PutPredictionsFunction), 0
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			if n++; n <= 2 {
				w.To(w.Clock.Now().Add(time.Second))
				return answered(r, http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
					`"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"},{"Code":"None"}]}`), nil
			}
		}
		return next.Do(r)
	})
	in := &PutPredictions{EventID: show}
	in.UserID, in.Body.Predictions = "ann", map[string]int{matchID(1): 0}
	_, err := testkit.OpenWith(w.World, env, OpenEvents).PutPredictions(w.Ctx(), in)
	if codeOf(err) != "event_locked" || n != 3 {
		t.Errorf("after %d tries it gave %v", n, err)
	}
}

// TestRenamedTwiceAtOnce: the last name is the member's everywhere.
func TestRenamedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w, _ := busy(t)
	env := before(w.Env(UpdateMeFunction), "Query", 1, func() { w.ask(UpdateMeFunction, "/app/me", "ann", `{"name":"Second"}`) })
	in := &UpdateMe{}
	in.UserID, in.Body.Name = "ann", "First"
	_, err := testkit.OpenWith(w.World, env, OpenMembers).UpdateMe(w.Ctx(), in)
	testkit.Must(t, err)
	p := testkit.Row[person](w.World, table, ofUser("ann"), userKey)
	s := testkit.Row[standing](w.World, table, ofUser("ann"), ofYear("2026"))
	if p.Name != "Second" || s.Name != "Second" {
		t.Errorf("the member is %q, and the standings say %q", p.Name, s.Name)
	}
	calls := w.Count(func() { w.ask(UpdateMeFunction, "/app/me", "ann", `{"name":"Second"}`) })
	if again := testkit.Row[person](w.World, table, ofUser("ann"), userKey); again.Rev != p.Rev || calls["UpdateItem"] != 1 {
		t.Errorf("the same name again is a change, of %v", calls)
	}
}

// TestOneStopsNone: a member whose standings change all the time keeps nobody else
// from being scored.
func TestOneStopsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob", "mallory")
	w.clash(1)
	for _, u := range []string{"ann", "bob", "mallory"} {
		w.pick(u, show, 0)
	}
	w.lock(show)
	w.results(show, 0)
	w.admin(RequestScoreFunction, adminEvent(show)+"/score", "")
	ctx, stop := context.WithCancel(w.Ctx()) // as the function's own ends
	defer stop()
	env, n := w.Env(ScoreEventFunction), 0
	var others atomic.Int32
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = client(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			return next.Do(r)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(string(body), "USER#mallory") {
			defer others.Add(1)
			return next.Do(r)
		}
		n++ // of one goroutine, the member's
		w.ask(UpdateMeFunction, "/app/me", "mallory", fmt.Sprintf(`{"name":"mallory %d"}`, n))
		if others.Load() == 2 {
			stop()
		}
		return next.Do(r)
	})
	if err := testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(ctx, ScoreEvent{show}); err == nil {
		t.Error("mallory is scored")
	}
	var names []string
	for _, s := range w.standings("2026") {
		names = append(names, s.UserID)
	}
	if want := []string{"ann", "bob"}; !slices.Equal(names, want) {
		t.Errorf("scored are %q, want %q", names, want)
	}
	w.work()
	if all := w.standings("2026"); len(all) != 3 {
		t.Errorf("afterwards the standings are %+v", all)
	}
}

// TestCardBetweenTwoReads scores an event whose bonus and points change while it is
// read, and which would be worth more than fits.
func TestCardBetweenTwoReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(1)
	w.admin(UpdateEventFunction, adminEvent(show), `{"bonus":900}`)
	w.pick("ann", show, 0)
	w.lock(show)
	w.results(show, 0)
	w.admin(RequestScoreFunction, adminEvent(show)+"/score", "")
	env := before(w.Env(ScoreEventFunction), "Query", 1, func() {
		w.admin(UpdateEventFunction, adminEvent(show), `{"bonus":0}`)
		w.admin(UpdateMatchFunction, adminMatch(show, 1), without(matchOf(1, 999), "id"))
	})
	if err := testkit.OpenWith(w.World, env, OpenScorer).ScoreEvent(w.Ctx(), ScoreEvent{show}); err == nil {
		t.Error("what does not fit is a score")
	}
	w.work()
	if all := w.standings("2026"); len(all) != 1 || all[0].Points != 999 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestAnnouncedAnew: a prediction that is left of an event that was called off is
// none of another of the same id.
func TestAnnouncedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(2)
	w.pick("ann", show, 0, 0)
	_, err := testkit.OpenWith(w.World, behind(w.Env(DeleteEventFunction)), OpenEvents).DeleteEvent(w.Ctx(), &DeleteEvent{EventID: show})
	testkit.Must(t, err)
	w.To(w.Clock.Now().Add(time.Minute))
	w.clash(1)
	w.lock(show)
	w.results(show, 0)
	w.score(show)
	if all := w.standings("2026"); len(all) != 1 || all[0].Points != 0 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestWhoIsNotMeant is about requests that name somebody by what is not an id, or
// at the wrong time.
func TestWhoIsNotMeant(t *testing.T) {
	t.Parallel()
	w, p := busy(t)
	if err := testkit.Refuses(w.ask(DeleteUserFunction, "/admin/users/ann@example.com", testkit.Administrator, ""), 404, "user_not_found"); err != nil {
		t.Errorf("by her address: %v", err)
	}
	if !slices.Contains(p.subjects(), "ann") {
		t.Error("her account is gone")
	}
	var e events.CognitoEventUserPoolsPostConfirmation
	e.TriggerSource = "PostConfirmation_ConfirmForgotPassword"
	e.Request.UserAttributes = map[string]string{"sub": "fan", "name": "A fan of cricket"}
	_, err := testkit.Open(w.World, OnUserConfirmedFunction, OpenMembers).OnUserConfirmed(w.Ctx(), e)
	testkit.Must(t, err)
	if out := w.ask(GetUserFunction, "/app/users/fan", "bob", ""); out.StatusCode != 404 {
		t.Errorf("a password that was forgotten makes a member: %s", out.Body)
	}
	l := w.founded("ann", "New")
	w.entered(l, "bob")
	w.leaves(l, "bob", "ann")
	if err := testkit.Refuses(w.enters("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("who was taken out comes back: %v", err)
	}
}

// TestMatchIsOffTwice tells who picked a match each time that it is taken off.
func TestMatchIsOffTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(2)
	ids := map[string]bool{}
	for range 2 {
		w.pick("ann", show, 0, 0)
		w.admin(DeleteMatchFunction, adminMatch(show, 2), "")
		w.admin(AddMatchFunction, adminEvent(show)+"/matches", matchOf(2, 20))
	}
	for _, n := range testkit.Messages[Notice](w.World, noticeQueue) {
		ids[n.ID] = true
	}
	if len(ids) != 2 {
		t.Errorf("the notices are %v", ids)
	}
}

// TestBonusIsLogged: what changes points can be read by those whose they are.
func TestBonusIsLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann")
	w.clash(1)
	w.pick("ann", show, 0)
	w.lock(show)
	w.results(show, 0)
	w.score(show)
	w.admin(UpdateEventFunction, adminEvent(show), `{"bonus":500}`)
	w.work()
	log := testkit.Decode[struct{ Corrections []Correction }](w.World, w.ask(ListCorrectionsFunction, appEvent(show)+"/corrections", "ann", "")).Corrections
	if len(log) != 2 || log[0].From != "0 points" || log[0].To != "500 points" || w.standings("2026")[0].Points != 510 {
		t.Errorf("the log is %+v", log)
	}
}
