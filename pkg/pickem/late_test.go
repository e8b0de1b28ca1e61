package pickem_test

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

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// These tests are of what comes late, or at the wrong time: an index that is
// behind, a transaction that is tried again, a change between two reads.

// behind has the index show nothing to a function.
func behind(env app.Env) app.Env {
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
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
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.Show)+"/score", "")
	testkit.Drain(w.World, score.Queue, 0, func(context.Context, score.Request) error { return nil })
	testkit.Must(t, testkit.OpenWith(w.World, behind(w.Env(score.ScoreEventFunction)), score.OpenScorer).ScoreEvent(w.Ctx(), score.Request{EventID: pickemtest.Show}))
	if all := w.Standings("2026"); len(all) != 0 {
		t.Fatalf("the index showed %+v", all)
	}
	w.To(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction, event.OpenEvents).LockEvents(w.Ctx()))
	w.ScoreQueued()
	if all := w.Standings("2026"); len(all) != 1 || all[0].Points != 10 {
		t.Errorf("the standings are %+v", all)
	}
	before := testkit.Rows[map[string]any](w.World, tables.Pickem)
	w.To(w.Clock.Now().Add(time.Minute))
	testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction, event.OpenEvents).LockEvents(w.Ctx()))
	if n := len(testkit.Messages[score.Request](w.World, score.Queue)); n != 0 || len(testkit.Rows[map[string]any](w.World, tables.Pickem)) != len(before) {
		t.Errorf("it is asked for %d times more", n)
	}
}

// TestPickIsTriedAgain: a pick that others' picks are in the way of is late when
// the event has locked meanwhile.
func TestPickIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(1)
	w.To(item.ParseTime(testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag, item.EventRef(pickemtest.Show)).LockAt).Add(-time.Millisecond))
	env, n := w.Env(event.PutPredictionsFunction), 0
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			if n++; n <= 2 {
				w.To(w.Clock.Now().Add(time.Second))
				return answered(r, http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
					`"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"},{"Code":"None"}]}`), nil
			}
		}
		return next.Do(r)
	})
	in := &event.PutPredictions{EventID: pickemtest.Show}
	in.UserID, in.Body.Predictions = "ann", map[string]int{pickemtest.MatchID(1): 0}
	_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutPredictions(w.Ctx(), in)
	if pickemtest.CodeOf(err) != "event_locked" || n != 3 {
		t.Errorf("after %d tries it gave %v", n, err)
	}
}

// TestRenamedTwiceAtOnce: the last name is the member's everywhere.
func TestRenamedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w, _ := pickemtest.NewBusy(t)
	env := pickemtest.InterruptBefore(w.Env(member.UpdateMeFunction), "Query", 1, func() { w.Ask(member.UpdateMeFunction, "/app/me", "ann", `{"name":"Second"}`) })
	in := &member.UpdateMe{}
	in.UserID, in.Body.Name = "ann", "First"
	_, err := testkit.OpenWith(w.World, env, member.OpenMembers).UpdateMe(w.Ctx(), in)
	testkit.Must(t, err)
	p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag)
	s := testkit.Row[item.Standing](w.World, tables.Pickem, item.UserRef("ann"), item.StandingsRef("2026"))
	if p.Name != "Second" || s.Name != "Second" {
		t.Errorf("the member is %q, and the standings say %q", p.Name, s.Name)
	}
	calls := w.Count(func() { w.Ask(member.UpdateMeFunction, "/app/me", "ann", `{"name":"Second"}`) })
	if again := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag); again.Rev != p.Rev || calls["UpdateItem"] != 1 {
		t.Errorf("the same name again is a change, of %v", calls)
	}
}

// TestOneStopsNone: a member whose standings change all the time keeps nobody else
// from being scored.
func TestOneStopsNone(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "mallory")
	w.AnnounceClash(1)
	for _, u := range []string{"ann", "bob", "mallory"} {
		w.Pick(u, pickemtest.Show, 0)
	}
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.Show)+"/score", "")
	ctx, stop := context.WithCancel(w.Ctx()) // as the function's own ends
	defer stop()
	env, n := w.Env(score.ScoreEventFunction), 0
	var others atomic.Int32
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
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
		w.Ask(member.UpdateMeFunction, "/app/me", "mallory", fmt.Sprintf(`{"name":"mallory %d"}`, n))
		if others.Load() == 2 {
			stop()
		}
		return next.Do(r)
	})
	if err := testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(ctx, score.Request{EventID: pickemtest.Show}); err == nil {
		t.Error("mallory is scored")
	}
	var names []string
	for _, s := range w.Standings("2026") {
		names = append(names, s.UserID)
	}
	if want := []string{"ann", "bob"}; !slices.Equal(names, want) {
		t.Errorf("scored are %q, want %q", names, want)
	}
	w.ScoreQueued()
	if all := w.Standings("2026"); len(all) != 3 {
		t.Errorf("afterwards the standings are %+v", all)
	}
}

// TestCardBetweenTwoReads scores an event whose bonus and points change while it is
// read, and which would be worth more than fits.
func TestCardBetweenTwoReads(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(1)
	w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"bonus":900}`)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction, pickemtest.AdminEvent(pickemtest.Show)+"/score", "")
	env := pickemtest.InterruptBefore(w.Env(score.ScoreEventFunction), "Query", 1, func() {
		w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"bonus":0}`)
		w.MustAdmin(event.UpdateMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 1), pickemtest.Without(pickemtest.MatchOf(1, 999), "id"))
	})
	if err := testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.Ctx(), score.Request{EventID: pickemtest.Show}); err == nil {
		t.Error("what does not fit is a score")
	}
	w.ScoreQueued()
	if all := w.Standings("2026"); len(all) != 1 || all[0].Points != 999 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestAnnouncedAnew: a prediction that is left of an event that was called off is
// none of another of the same id.
func TestAnnouncedAnew(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(2)
	w.Pick("ann", pickemtest.Show, 0, 0)
	_, err := testkit.OpenWith(w.World, behind(w.Env(event.DeleteEventFunction)), event.OpenEvents).DeleteEvent(w.Ctx(), &event.DeleteEvent{EventID: pickemtest.Show})
	testkit.Must(t, err)
	w.To(w.Clock.Now().Add(time.Minute))
	w.AnnounceClash(1)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.Score(pickemtest.Show)
	if all := w.Standings("2026"); len(all) != 1 || all[0].Points != 0 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestWhoIsNotMeant is about requests that name somebody by what is not an id, or
// at the wrong time.
func TestWhoIsNotMeant(t *testing.T) {
	t.Parallel()
	w, p := pickemtest.NewBusy(t)
	if err := testkit.Refuses(w.Ask(member.DeleteUserFunction, "/admin/users/ann@example.com", testkit.Administrator, ""), 404, "user_not_found"); err != nil {
		t.Errorf("by her address: %v", err)
	}
	if !slices.Contains(p.Subjects(), "ann") {
		t.Error("her account is gone")
	}
	var e events.CognitoEventUserPoolsPostConfirmation
	e.TriggerSource = "PostConfirmation_ConfirmForgotPassword"
	e.Request.UserAttributes = map[string]string{"sub": "fan", "name": "A fan of cricket"}
	_, err := testkit.Open(w.World, member.OnUserConfirmedFunction, member.OpenMembers).OnUserConfirmed(w.Ctx(), e)
	testkit.Must(t, err)
	if out := w.Ask(member.GetUserFunction, "/app/users/fan", "bob", ""); out.StatusCode != 404 {
		t.Errorf("a password that was forgotten makes a member: %s", out.Body)
	}
	l := w.CreateLeague("ann", "New")
	w.JoinLeague(l, "bob")
	w.LeaveLeague(l, "bob", "ann")
	if err := testkit.Refuses(w.RequestJoin("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("who was taken out comes back: %v", err)
	}
}

// TestMatchIsOffTwice tells who picked a match each time that it is taken off.
func TestMatchIsOffTwice(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(2)
	ids := map[string]bool{}
	for range 2 {
		w.Pick("ann", pickemtest.Show, 0, 0)
		w.MustAdmin(event.DeleteMatchFunction, pickemtest.AdminMatch(pickemtest.Show, 2), "")
		w.MustAdmin(event.AddMatchFunction, pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(2, 20))
	}
	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		ids[n.ID] = true
	}
	if len(ids) != 2 {
		t.Errorf("the notices are %v", ids)
	}
}

// TestBonusIsLogged: what changes points can be read by those whose they are.
func TestBonusIsLogged(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.AnnounceClash(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.Score(pickemtest.Show)
	w.MustAdmin(event.UpdateEventFunction, pickemtest.AdminEvent(pickemtest.Show), `{"bonus":500}`)
	w.ScoreQueued()
	log := testkit.Decode[struct{ Corrections []event.Correction }](w.World, w.Ask(event.ListCorrectionsFunction, pickemtest.AppEvent(pickemtest.Show)+"/corrections", "ann", "")).Corrections
	if len(log) != 2 || log[0].From != "0 points" || log[0].To != "500 points" || w.Standings("2026")[0].Points != 510 {
		t.Errorf("the log is %+v", log)
	}
}
