package pickem_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
)

// These tests cover delays and concurrency: a stale index, a retried transaction, a
// change between two reads.

// withEmptyIndex returns an environment in which queries of the index find nothing.
func withEmptyIndex(env app.Env) app.Env {
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}

			if r.Body = io.NopCloser(bytes.NewReader(body)); strings.Contains(string(body), `"IndexName"`) {
				return newResponse(r, http.StatusOK, `{"Items":[],"Count":0,"ScannedCount":0}`), nil
			}
		}

		return next.Do(r)
	})

	return env
}

// newResponse returns an answer of DynamoDB.
func newResponse(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}
}

// lateIndex answers each query of the index as it was answered first.
type lateIndex struct {
	mu      sync.Mutex
	answers map[string]string // by the query's body, with its members in order
}

// in returns an environment with the index.
func (l *lateIndex) in(env app.Env) app.Env {
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") || !strings.Contains(string(body), `"IndexName"`) {
			return next.Do(r)
		}

		var query any
		if err := json.Unmarshal(body, &query); err != nil {
			return nil, err
		}

		key, err := json.Marshal(query)
		if err != nil {
			return nil, err
		}

		l.mu.Lock()
		defer l.mu.Unlock()

		if _, ok := l.answers[string(key)]; !ok {
			out, err := next.Do(r)
			if err != nil {
				return nil, err
			}
			defer out.Body.Close()

			answer, err := io.ReadAll(out.Body)
			if err != nil {
				return nil, err
			}

			l.answers[string(key)] = string(answer)
		}

		return newResponse(r, http.StatusOK, l.answers[string(key)]), nil
	})

	return env
}

// TestLateIndexBringsNobodyBack: a scoring whose index still has a removed member, and an old
// name, writes neither into the rankings.
func TestLateIndexBringsNobodyBack(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := w.RequestScores("clash-of-tides")[0]
	index := lateIndex{answers: map[string]string{}}
	run := func() {
		t.Helper()
		testkit.Must(t, testkit.OpenWith(w.World, index.in(w.Env(score.ScoreEventFunction())), score.OpenScorer).ScoreEvent(w.NewContext(),
			score.Request{EventID: id}))
	}
	run()
	w.MustAdmin(userdata.DeleteUserFunction(), "/admin/users/ann", "")

	if out := w.Ask(member.UpdateMeFunction(), "/app/me", "bob", `{"name":"Bobby"}`); out.StatusCode != http.StatusOK {
		t.Fatalf("bob's new name: %d %s", out.StatusCode, out.Body)
	}

	run()

	standings, results := tablesOf(w)
	for _, shown := range []string{standings, results} {
		if strings.Contains(shown, "ann") || !strings.Contains(shown, `"userId":"bob","name":"Bobby"`) {
			t.Errorf("after a scoring with the late index: %s, want bob as Bobby and no ann", shown)
		}
	}
}

// TestRemovalFindsPhonesBehindTheIndex: a phone that the index does not show yet is deleted with
// its member, unless it has become another member's.
func TestRemovalFindsPhonesBehindTheIndex(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")

	for _, phone := range []string{"red", "blue", "green"} {
		w.RegisterPhone(phone, "ann")
	}

	w.RegisterPhone("blue", "bob")
	_, err := testkit.OpenWith(w.World, withEmptyIndex(w.Env(userdata.DeleteUserFunction())), userdata.Open).DeleteUser(w.NewContext(),
		&userdata.DeleteUser{ID: "ann"})
	testkit.Must(t, err)

	if got, want := w.RegisteredPhones("red", "blue", "green"), []string{"blue of bob"}; !slices.Equal(got, want) {
		t.Errorf("phones (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// TestPredictionBehindTheIndex: LockEvents queues the scoring once more, for a prediction
// that was missing in the index when its event was scored. It reads no predictions.
func TestPredictionBehindTheIndex(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/score", "")
	testkit.Drain(w.World, score.Queue, 0, func(context.Context, score.Request) error { return nil })
	testkit.Must(t, testkit.OpenWith(w.World, withEmptyIndex(w.Env(score.ScoreEventFunction())), score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: pickemtest.Show}))

	if all := w.Standings("2026"); len(all) != 0 {
		t.Fatalf("the standings are %+v, want none while the index is empty", all)
	}

	var queued []int // scorings, by minute

	for range 20 {
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		calls := w.CountCalls(func() {
			testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
		})
		n := len(testkit.Messages[score.Request](w.World, score.Queue))

		if calls["Query"] != 2 {
			t.Errorf("LockEvents made the calls %v, want a Query of the events and one of changed leagues", calls)
		}

		queued = append(queued, n)

		w.ScoreQueued()
	}

	if want := []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}; !slices.Equal(queued, want) {
		t.Errorf("queued scorings by minute (-want +got):\n%s", cmp.Diff(want, queued))
	}

	if all := w.Standings("2026"); len(all) != 1 || all[0].Points != 10 {
		t.Errorf("the standings are %+v, want one with 10 points", all)
	}
}

// TestWithdrawalBehindTheIndex: a prediction that is missing in the index when the points are
// withdrawn loses its points later.
func TestWithdrawalBehindTheIndex(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := w.RequestScoresOf([]string{"ann"}, "clash-of-tides")[0]
	w.ScoreQueued()
	w.MustAdmin(event.PutResultFunction(), pickemtest.AdminMatch(id, 1)+"/result", `{"result":null}`)
	testkit.Drain(w.World, score.Queue, 0, func(context.Context, score.Request) error { return nil })
	testkit.Must(t, testkit.OpenWith(w.World, withEmptyIndex(w.Env(score.ScoreEventFunction())), score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: id}))

	points := func() int {
		return testkit.Row[item.Prediction](w.World, tables.Pickem, item.UserRef("ann"), item.EventRef(id)).Points
	}
	if points() == 0 {
		t.Fatal("the points are withdrawn while the index is empty")
	}

	runs := 0

	for range 40 {
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))
		runs += len(testkit.Messages[score.Request](w.World, score.Queue))
		w.ScoreQueued()
	}

	if points() != 0 || runs != 1 || len(w.Standings("2026")) != 0 {
		t.Errorf("after %d runs more ann has %d points, and the standings are %+v; want one run, and no points", runs,
			points(), w.Standings("2026"))
	}
}

// TestRetriedPickIsRefusedAfterLock: a pick whose transaction conflicts with others is
// refused if the event locks before a retry.
func TestRetriedPickIsRefusedAfterLock(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.MoveClock(item.ParseTime(testkit.Row[item.Event](w.World, tables.Pickem, item.EventTag,
		item.EventRef(pickemtest.Show)).LockAt).Add(-time.Millisecond))
	env, n := w.Env(event.PutPredictionsFunction()), 0
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = pickemtest.Client(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			if n++; n <= 2 {
				w.MoveClock(w.Clock.Now().Add(time.Second))

				return newResponse(r, http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",`+
					`"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"},{"Code":"None"}]}`), nil
			}
		}

		return next.Do(r)
	})
	in := &event.PutPredictions{EventID: pickemtest.Show}
	in.UserID, in.Body.Predictions = "ann", pickemtest.PicksOf(0)

	_, err := testkit.OpenWith(w.World, env, event.OpenEvents).PutPredictions(w.NewContext(), in)
	if pickemtest.CodeOf(err) != "event_locked" || n != 3 {
		t.Errorf("the error after %d tries is %v, want event_locked after 3", n, err)
	}
}

// TestConcurrentRenamesAgree: after two concurrent renames all items show the last name.
func TestConcurrentRenamesAgree(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewBusy(t)
	env := pickemtest.InterruptBefore(w.Env(member.UpdateMeFunction()), "Query", 1,
		func() { w.Ask(member.UpdateMeFunction(), "/app/me", "ann", `{"name":"Second"}`) })
	in := &member.UpdateMe{}
	in.UserID, in.Body.Name = "ann", "First"
	_, err := testkit.OpenWith(w.World, env, member.OpenMembers).UpdateMe(w.NewContext(), in)
	testkit.Must(t, err)

	p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag)

	table := w.Standings("2026")
	if i := slices.IndexFunc(table, func(s league.Standing) bool { return s.UserID == "ann" }); p.Name != "Second" ||
		table[i].Name != "Second" {
		t.Errorf("the name is %q and the standings are %+v, want Second in both", p.Name, table)
	}

	was := w.Rows()
	w.Ask(member.UpdateMeFunction(), "/app/me", "ann", `{"name":"Second"}`)

	again := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("ann"), item.UserTag)
	if diff := cmp.Diff(was, w.Rows()); diff != "" || again.Rev != p.Rev {
		t.Errorf("the same name again changed rev from %d to %d, and the rows (-was +is):\n%s", p.Rev, again.Rev, diff)
	}
}

// TestRenamesStopNoScoring: a member who takes a new name before each write of a ranking, and
// sends the last one again when no more are accepted, does not keep an event from being scored.
func TestRenamesStopNoScoring(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	id := w.RequestScores("clash-of-tides")[0]

	var mu sync.Mutex // items are written at the same time

	name, n := "ann", 0
	env := w.InterruptEach(score.ScoreEventFunction(), "PutItem", func() {
		mu.Lock()
		defer mu.Unlock()

		n++

		next := fmt.Sprint("Ann ", n)
		if out := w.Ask(member.UpdateMeFunction(), "/app/me", "ann", map[string]string{"name": next}); out.StatusCode == http.StatusOK {
			name = next
			return
		}

		w.Ask(member.UpdateMeFunction(), "/app/me", "ann", map[string]string{"name": name})
	})
	testkit.Must(t, testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(), score.Request{EventID: id}))

	standings, results := tablesOf(w)
	for _, shown := range []string{standings, results} {
		if !strings.Contains(shown, fmt.Sprintf(`"userId":"ann","name":%q`, name)) {
			t.Errorf("after %d requests: %s, want ann with the name %s", n, shown, name)
		}
	}
}

// TestConflictOfOneMemberStopsNoOther: a member whose item changes before every try does
// not keep the others from being scored.
func TestConflictOfOneMemberStopsNoOther(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob", "mallory")
	w.CreateShow(1)

	for _, u := range []string{"ann", "bob", "mallory"} {
		w.Pick(u, pickemtest.Show, 0)
	}

	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/score", "")

	ctx, stop := context.WithCancel(w.NewContext()) // as the function's own ends
	defer stop()

	env, n := w.Env(score.ScoreEventFunction()), 0

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
		p := testkit.Row[item.Member](w.World, tables.Pickem, item.UserRef("mallory"), item.UserTag)
		p.Rev++
		testkit.PutRows(w.World, tables.Pickem, p)

		if others.Load() == 2 {
			stop()
		}

		return next.Do(r)
	})
	if err := testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(ctx, score.Request{EventID: pickemtest.Show}); err == nil {
		t.Error("ScoreEvent returned no error, although mallory was not scored")
	}

	var names []string

	for _, s := range testkit.Rows[item.Standing](w.World, tables.Pickem) {
		if s.Type == item.StandingType {
			names = append(names, s.UserID())
		}
	}

	slices.Sort(names)

	if want := []string{"ann", "bob"}; !slices.Equal(names, want) {
		t.Errorf("scored members (-want +got):\n%s", cmp.Diff(want, names))
	}

	w.ScoreQueued()

	if all := w.Standings("2026"); len(all) != 3 {
		t.Errorf("the standings after the next delivery are %+v, want 3", all)
	}
}

// TestCardBetweenTwoReads: a scoring that reads the old bonus and the new points, whose
// sum does not fit into a key, fails and is repeated.
func TestCardBetweenTwoReads(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":900}`)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.MustAdmin(event.RequestScoreFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/score", "")

	env := pickemtest.InterruptBefore(w.Env(score.ScoreEventFunction()), "Query", 1, func() {
		w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":0}`)
		w.MustAdmin(event.UpdateMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 1),
			pickemtest.WithoutKey(pickemtest.MatchOf(1, 999), "id"))
	})
	if err := testkit.OpenWith(w.World, env, score.OpenScorer).ScoreEvent(w.NewContext(),
		score.Request{EventID: pickemtest.Show}); err == nil {
		t.Error("ScoreEvent accepted more points than a key can hold")
	}

	w.ScoreQueued()

	if all := w.Standings("2026"); len(all) != 1 || all[0].Points != 999 {
		t.Errorf("the standings are %+v", all)
	}
}

// TestDeletedEventIsSweptUntilTheIndexIsComplete: a prediction that was missing in the
// index when its event was deleted is deleted later. The id is free again when the index
// has had time to show all predictions.
func TestDeletedEventIsSweptUntilTheIndexIsComplete(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(2)
	w.Pick("ann", pickemtest.Show, 0, 0)
	_, err := testkit.OpenWith(w.World, withEmptyIndex(w.Env(event.DeleteEventFunction())), event.OpenEvents).DeleteEvent(w.NewContext(),
		&event.DeleteEvent{EventID: pickemtest.Show})
	testkit.Must(t, err)

	left := func() (keys []string) {
		for _, r := range testkit.Rows[item.Row](w.World, tables.Pickem) {
			if strings.Contains(r.SK, pickemtest.Show) || strings.Contains(r.PK, pickemtest.Show) {
				keys = append(keys, r.PK+" "+r.SK)
			}
		}

		return keys
	}
	create := func() int {
		return w.Ask(event.CreateEventFunction(), "/admin/events", testkit.Administrator, map[string]any{
			"name": "Again", "date": "2026-03-08", "slug": "clash-of-tides", "startsAt": pickemtest.Noon.AddDate(0, 0, 7),
		}).StatusCode
	}

	mark := []string{"EVENT EVENT#" + pickemtest.Show}
	for _, step := range []struct {
		after  time.Duration
		left   []string
		create int
	}{
		{time.Minute, mark, http.StatusConflict},
		{13 * time.Minute, mark, http.StatusConflict},
		{time.Minute, nil, http.StatusCreated},
	} {
		w.MoveClock(w.Clock.Now().Add(step.after))
		testkit.Must(t, testkit.Open(w.World, event.LockEventsFunction(), event.OpenEvents).LockEvents(w.NewContext()))

		if got := left(); !slices.Equal(got, step.left) {
			t.Errorf("%v later: keys of the deleted event (-want +got):\n%s", step.after, cmp.Diff(step.left, got))
		}

		if got := create(); got != step.create {
			t.Errorf("%v later: a new event with the id is %d, want %d", step.after, got, step.create)
		}
	}
}

// TestMistakenRequestsChangeNobody: a deletion by e-mail address and an old code have no
// effect.
func TestMistakenRequestsChangeNobody(t *testing.T) {
	t.Parallel()

	w := pickemtest.NewBusy(t)
	if err := testkit.CheckProblemCode(w.Ask(userdata.DeleteUserFunction(), "/admin/users/ann@example.com", testkit.Administrator, ""), 404,
		"user_not_found"); err != nil {
		t.Errorf("deletion by e-mail address: %v", err)
	}

	l := w.CreateLeague("ann", "New")
	w.JoinLeague(l, "bob")
	w.LeaveLeague(l, "bob", "ann")

	if err := testkit.CheckProblemCode(w.RequestJoin("bob", l.Code), 404, "code_not_found"); err != nil {
		t.Errorf("a removed member joins by the old code: %v", err)
	}
}

// TestEveryRemovalNotifies: each removal of a match, and each time it is added again, has
// a notice id of its own.
func TestEveryRemovalNotifies(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(2)

	ids := map[string]bool{}

	for range 2 {
		w.Pick("ann", pickemtest.Show, 0, 0)
		w.MustAdmin(event.DeleteMatchFunction(), pickemtest.AdminMatch(pickemtest.Show, 2), "")
		w.MustAdmin(event.AddMatchFunction(), pickemtest.AdminEvent(pickemtest.Show)+"/matches", pickemtest.MatchOf(2, 20))
	}

	for _, n := range testkit.Messages[notice.Notice](w.World, notice.Queue) {
		ids[n.ID] = true
	}

	if len(ids) != 4 {
		t.Errorf("the notice ids are %v, want 4", ids)
	}
}

// TestBonusIsLogged: members can read a change of the bonus in the log of corrections.
func TestBonusIsLogged(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(1)
	w.Pick("ann", pickemtest.Show, 0)
	w.LockEvent(pickemtest.Show)
	w.EnterResults(pickemtest.Show, 0)
	w.Score(pickemtest.Show)
	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"bonus":500}`)
	w.ScoreQueued()

	log := testkit.Decode[struct{ Corrections []event.Correction }](w.World,
		w.Ask(event.ListCorrectionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/corrections", "ann", "")).Corrections
	if len(log) != 2 || log[0].From != "0 points" || log[0].To != "500 points" || w.Standings("2026")[0].Points != 510 {
		t.Errorf("the log is %+v, want the latest from 0 to 500 points", log)
	}
}
