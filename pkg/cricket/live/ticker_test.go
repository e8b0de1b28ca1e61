package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	sim "matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

func TestLateTickIsSkipped(t *testing.T) {
	t.Parallel()

	for after, want := range map[time.Duration]string{0: "", match.SlotLength: "", match.SlotLength + time.Millisecond: "late"} {
		w := crickettest.New(t)
		tk := w.Ticker()
		w.MoveClock(crickettest.At(0).Add(after))

		var done live.TickDone

		calls := w.CountCalls(func() { done = w.TickAt(tk, 0) })
		if done.Skipped != want || want != "" && len(calls) > 0 {
			t.Errorf("%v after it is due a tick is skipped as %q and makes the calls %v, want %q", after, done.Skipped, calls, want)
		}
	}
}

func TestEarlyTickWaitsUntilItIsDue(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.TickAt(w.Ticker(), 3)

	if now := w.Clock.Now(); !now.Equal(crickettest.At(3)) {
		t.Errorf("the tick ran at %v, want %v", now, crickettest.At(3))
	}
}

func TestSlotIsClaimedOnce(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Play(1, cricsheet.T20, match.SlotLength)

	polls := 0
	w.Override = func(path string) (int, string) { polls++; return 0, "" }
	first, second := w.Ticker(), w.Ticker()
	w.MoveClock(crickettest.At(0))

	var (
		skipped [2]string
		wg      sync.WaitGroup
	)
	for i, tk := range []*live.Ticker{first, second} {
		wg.Go(func() {
			done, err := tk.Tick(w.NewContext(), crickettest.TickOf(0))
			if err != nil {
				t.Error(err)
			}

			skipped[i] = done.Skipped
		})
	}

	wg.Wait()
	slices.Sort(skipped[:])

	if skipped != [2]string{"", "claimed"} || polls != 1 {
		t.Errorf("two ticks of a slot are skipped as %q and poll %d times, want one to be claimed", skipped, polls)
	}

	w.MoveClock(crickettest.At(1))

	if done := w.TickAt(second, 1); done.Skipped != "" {
		t.Errorf("the next slot is skipped as %q", done.Skipped)
	}

	if done := w.TickAt(first, 0); done.Skipped != "claimed" {
		t.Errorf("the slot before a claimed one is skipped as %q, want claimed", done.Skipped)
	}
}

func TestUnchangedMatchCostsOneWrite(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	one := w.Play(1, cricsheet.T20, match.SlotLength)
	two := w.Play(2, cricsheet.ODI, match.SlotLength)
	tk := w.Ticker()
	w.TickAt(tk, 10)

	for _, m := range []*script.Match{one, two} {
		testkit.Must(t, w.Feed.Pause(m.ID, true))
	}

	for n := 11; n < 14; n++ { // the third poll confirms the elevens
		w.TickAt(tk, n)
	}

	first := tk.FirstEntry()

	for n := 14; n < 17; n++ {
		var done live.TickDone

		got := w.CountCalls(func() { done = w.TickAt(tk, n) })
		// The claim, and one write for each match; the scan of live-index.
		if want := map[string]int{"UpdateItem": 3, "Scan": 1}; !maps.Equal(got, want) || done.Matches != 2 || done.Changed != 0 {
			t.Errorf("an unchanged tick makes the calls %v, want %v: %+v", got, want, done)
		}

		if f := testkit.Row[match.Fixture](w.World, tables.Fixtures,
			crickettest.ID(one.ID)); f.LiveUpdatedAt != crickettest.At(n).UnixMilli() || f.LastSlot != match.SlotOf(crickettest.At(n)) ||
			f.Polls != n-10 {
			t.Errorf("slot %d leaves the match at %d, %d after %d polls, want %d polls", n, f.LiveUpdatedAt, f.LastSlot, f.Polls, n-10)
		}

		if tk.FirstEntry() != first {
			t.Error("the same body was split again")
		}
	}

	// A new process reads what is stored and writes no score.
	restarted := w.Ticker()
	got := w.CountCalls(func() { w.TickAt(restarted, 17) })
	// The claim, and for each match a refused lease, the lease, the score with balls and
	// what was sent, and the mark; the scans of live-index and of the leagues.
	want := map[string]int{"UpdateItem": 1 + 2*3, "BatchGetItem": 2, "Scan": 2}
	if !maps.Equal(got, want) {
		t.Errorf("the first tick of a new process makes the calls %v, want %v", got, want)
	}

	if got := w.CountCalls(func() { w.TickAt(restarted, 18) }); got["BatchGetItem"]+got["PutItem"] > 0 {
		t.Errorf("its second tick makes the calls %v, want no BatchGetItem and no PutItem", got)
	}
}

func TestTickStoresWhatChanged(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))

	if done := w.TickAt(tk, 0); done.Matches != 1 || done.Changed != 1 {
		t.Errorf("the first tick returns %+v", done)
	}

	o := w.Outcome()
	if f := o.Fixtures["7"]; f.Live != match.Live || f.LiveUpdatedAt == 0 || f.Status != "1st Innings" {
		t.Errorf("the match is %+v", f)
	}

	if len(o.Shown) != 3 || len(o.Hashes) != 3 || o.Unqueued != nil || !strings.Contains(o.Shown["DISPLAY#7#neutral"], `"score":"4/0"`) {
		t.Errorf("shown %v, hashes %v, untold %v", o.Shown, o.Hashes, o.Unqueued)
	}

	for _, d := range testkit.Rows[match.DisplayRow](w.World, tables.Displays) {
		if want := crickettest.At(0).Add(match.KeepShown).Unix(); d.TTL != want || d.At != crickettest.At(0).Unix() || !d.Playing {
			t.Errorf("the display %s expires at %d, want %d: %+v", d.CacheKey, d.TTL, want, d)
		}
	}

	if want := `"id":1,"innings":1,"at":"0.1"`; !strings.Contains(o.Balls["7"], want) {
		t.Errorf("the balls are %s, want %s among them", o.Balls["7"], want)
	}

	got := testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)

	want := []activity.MatchChanged{{MatchID: "7", Slot: match.SlotOf(crickettest.At(0)), Changed: []string{"11", "12", match.Neutral}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	if n := len(testkit.Rows[map[string]any](w.World, tables.Locks)); n != 1 {
		t.Errorf("%d locks are left, want the claim alone", n)
	}

	// The row keeps the provider's last documented status, which the planner can read.
	w.SetPayload(crickettest.Payload(f, "Delayed"))
	w.TickAt(tk, 1)
	w.SetPayload(crickettest.Payload(f, "Review", crickettest.Ball{ID: 1, Runs: 4}))
	w.TickAt(tk, 2)

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.Status != "Delayed" || f.Phase() != sportmonks.Upcoming {
		t.Errorf("after an unknown status the row has %q", f.Status)
	}
}

// TestOnlyChangedPerspectivesArePushed loses the hash of one perspective, and has the
// provider change what no display contains.
func TestOnlyChangedPerspectivesArePushed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	payload := crickettest.Payload(w.AddFixture("7"), "1st Innings", crickettest.Ball{ID: 1, Runs: 4})
	w.SetPayload(payload)
	w.TickAt(w.Ticker(), 0)

	for n, lost := range []string{"", "11"} {
		if lost != "" {
			sent := testkit.Row[live.Sent](w.World, tables.StateHashes, "7")
			delete(sent.Hashes, lost)
			testkit.PutRows(w.World, tables.StateHashes, sent)
		}

		before := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue))
		w.SetPayload(strings.Replace(payload, "{", fmt.Sprintf(`{"man_of_match_id":%d,`, n+1), 1))
		w.TickAt(w.Ticker(), n+1)

		var want []activity.MatchChanged
		if lost != "" {
			want = []activity.MatchChanged{{MatchID: "7", Slot: match.SlotOf(crickettest.At(n + 1)), Changed: []string{lost}}}
		}

		if diff := cmp.Diff(want, testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)[before:],
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("without the hash %q (-want +got):\n%s", lost, diff)
		}
	}
}

func TestUnknownAndFinishedMatchesAreIgnored(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]*match.Fixture{
		"a match that nobody scheduled": nil,
		"a match that is finished": {
			MatchID:       "7",
			LeagueCode:    "T20",
			StartTime:     "x",
			LocalTeamID:   "11",
			VisitorTeamID: "12",
			LeagueID:      "3",
			SeasonID:      "5",
			Status:        "Finished",
			ArchivedAt:    5,
			EndingAt:      5,
			FinishedAt:    5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			f := w.AddFixture("7")
			testkit.Must(t, w.DeleteRow(tables.Fixtures, "7"))

			if row != nil {
				testkit.PutRows(w.World, tables.Fixtures, *row)
			}

			before := w.Outcome()
			w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1}))

			done := w.TickAt(w.Ticker(), 0)
			if diff := cmp.Diff(before, w.Outcome()); done.Matches != 1 || done.Changed != 0 || diff != "" {
				t.Errorf("the tick returns %+v and changes (-before +after):\n%s", done, diff)
			}

			if c := w.Logs.TakeWarnings(); c != nil {
				t.Errorf("the log has %q, want nothing", c)
			}
		})
	}
}

func TestBrokenEntryDoesNotAffectOtherMatches(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	good, bad, unnamed := w.AddFixture("7"), w.AddFixture("8"), w.AddFixture("9")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(good, "1st Innings"), crickettest.Payload(bad, "1st Innings", crickettest.Ball{ID: 1}),
		crickettest.Payload(unnamed, "1st Innings"))
	w.TickAt(tk, 0)

	before := w.Outcome()
	for n := 1; n < 8; n++ { // longer than archiveAfter
		w.SetPayload(`{"id":8,"status":"1st Innings","runs":[1 2]}`, `{"status":"1st Innings"}`, `7`,
			crickettest.Payload(good, "1st Innings", make([]crickettest.Ball, n)...))

		if done := w.TickAt(tk, n); done.Changed != 1 {
			t.Errorf("slot %d: %+v", n, done)
		}
	}

	after := w.Outcome()
	for id, missing := range map[string]int64{"8": 0, "9": 1} { // which match has no id is unknown
		want := before.Fixtures[id]
		want.MissingSince = missing

		if after.States[id] != before.States[id] || after.Fixtures[id] != want {
			t.Errorf("the broken match %s has changed: %+v, want %+v", id, after.Fixtures[id], want)
		}
	}

	if after.States["7"] == before.States["7"] {
		t.Error("the good match was not ingested")
	}

	if after.Messages != nil {
		t.Errorf("a match that cannot be read is over: %q", after.Messages)
	}

	if !slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool {
		return l.Text == "match failed" && l.Attrs["match"] == "8" && l.Attrs["slot"] != nil && l.Attrs["err"] != nil
	}) {
		t.Error("the log does not name the match that failed, its slot and the reason")
	}

	if !slices.ContainsFunc(w.Logs.Lines(), func(l testkit.Line) bool {
		return l.Text == "match failed" && l.Attrs["match"] == "" && strings.Contains(fmt.Sprint(l.Attrs["err"]), "sportmonks: ")
	}) {
		t.Error("the log does not say what is wrong with an entry without an id")
	}

	if c := w.Logs.TakeWarnings(); !slices.Contains(c, "match failed") {
		t.Errorf("the log has %q, want \"match failed\"", c)
	}

	if n := w.Logs.SumMetric(tables.MatchesFailed); n != 7*3 {
		t.Errorf("%v failures are counted, want 21", n)
	}
}

// TestStateStandsWhileTheProviderFails also checks that the next good answer repairs
// everything.
func TestStateStandsWhileTheProviderFails(t *testing.T) {
	t.Parallel()

	const first, faulty = 20, 3

	play := func(t *testing.T, kind sim.Kind, stands bool) (*crickettest.World, crickettest.Outcome) {
		w := crickettest.New(t)
		m := w.Play(3, cricsheet.T20, match.SlotLength)
		tk := w.Ticker()
		w.TickAt(tk, first)

		before := w.Outcome()
		if kind != "" {
			testkit.Must(t, w.Feed.Inject(sim.Fault{Kind: kind, Count: faulty, Resource: "livescores"}))
		}

		for n := range faulty {
			w.TickAt(tk, first+1+n)

			if diff := cmp.Diff(before, w.Outcome()); stands && diff != "" {
				t.Errorf("%d failures change (-before +after):\n%s", n+1, diff)
			}
		}

		w.TickAt(tk, first+faulty+1)

		if o := w.Outcome(); o.Fixtures[crickettest.ID(m.ID)].Live != match.Live || o.Messages != nil {
			t.Errorf("the match has left: %+v", o)
		}

		o := w.Outcome()
		o.Alerts, o.Ledger = nil, nil // these depend on the number of polls

		return w, o
	}

	_, want := play(t, "", false)
	for kind, fault := range map[sim.Kind]string{
		sim.TooManyRequests: "limited", sim.ServerError: "unavailable", sim.Timeout: "unavailable",
		sim.Truncated: "malformed", sim.HTML: "malformed",
		sim.WrongTypes: "", sim.UnknownStatus: "", sim.ShortBalls: "", sim.DuplicateBalls: "",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()

			w, got := play(t, kind, fault != "")
			if w.Feed.Counts()[kind] != faulty {
				t.Fatalf("the fault happened %d times", w.Feed.Counts()[kind])
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after the faults (-want +got):\n%s", diff)
			}

			lines := w.Logs.Lines()

			problems := map[sim.Kind]string{ // each is logged once, though three payloads have them
				sim.UnknownStatus: `[{unknownStatus unknown status "Review"}]`,
				sim.ShortBalls: "[{disagreement innings 1: the balls do not add up to the total} {partialBalls balls are missing that were " +
					"listed before}]",
				sim.WrongTypes: "[{partialBalls balls are missing that were listed before}]",
			}[kind]
			if logged := w.Logs.Find(slog.LevelWarn, "the provider's payload has problems"); len(logged) != min(len(problems), 1) ||
				len(logged) == 1 && (logged[0]["problems"] != problems || got.Fixtures[fmt.Sprint(logged[0]["match"])].MatchID == "") {
				t.Errorf("the log has the problems %v, want %q of the match", logged, problems)
			}

			complaints := w.Logs.TakeWarnings()

			if fault == "" {
				return
			}

			if n := w.Logs.SumMetric(tables.ProviderFaults); n != faulty {
				t.Errorf("%v faults are counted, want %d", n, faulty)
			}

			if n := w.Logs.SumMetric(tables.SlotsClaimed); n != faulty+2 {
				t.Errorf("%v slots are counted, want %d: one before the faults, one after, and one for each fault", n, faulty+2)
			}

			if len(complaints) != 1 {
				t.Errorf("the log has %q, want one line", complaints)
			}

			if !slices.ContainsFunc(lines, func(l testkit.Line) bool {
				return l.Text == "the provider failed; the stored state stands" && l.Attrs["kind"] == fault && l.Attrs["err"] != nil
			}) {
				t.Errorf("the log does not name the failure %s: %v", fault, lines)
			}
		})
	}
}

// TestTickWithoutAnAnswer: a tick whose request fails claims its slot, and nothing else is read
// or counted.
func TestTickWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.Play(3, cricsheet.T20, match.SlotLength)
	tk := w.Ticker()
	w.TickAt(tk, 20)
	testkit.Must(t, w.Feed.Inject(sim.Fault{Kind: sim.ServerError, Count: 1, Resource: "livescores"}))

	before := len(w.Logs.EmittedMetrics())
	if calls := w.CountCalls(func() { w.TickAt(tk, 21) }); !maps.Equal(calls, map[string]int{"UpdateItem": 1}) {
		t.Errorf("it makes the calls %v, want that which claims the slot", calls)
	}

	if got := w.Logs.EmittedMetrics()[before:]; !slices.EqualFunc(got, []spec.Metric{tables.SlotsClaimed, tables.ProviderFaults},
		func(a, b spec.Metric) bool { return a.Name == b.Name }) {
		t.Errorf("it counts %v, want the slot and the fault", got)
	}

	w.Logs.TakeWarnings()
}

// TestContradictoryFinishIsNoResult has the provider finish a match before winner, note
// and scores agree.
func TestContradictoryFinishIsNoResult(t *testing.T) {
	t.Parallel()

	for _, kind := range []sim.Kind{sim.EarlyFinish, sim.WrongWinner} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			m := w.Play(4, cricsheet.T20, match.SlotLength)
			last := len(m.Frames) - 2 // the slot of the last frame
			testkit.Must(t, w.Feed.Inject(sim.Fault{Kind: kind, Match: m.ID, For: 4 * match.SlotLength}))
			tk := w.Ticker()
			results := 0

			for n := last - 2; n <= last+6; n++ {
				w.TickAt(tk, n)
				c := testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, crickettest.ID(m.ID))
				testkit.Must(t, c.Decode())

				if c.State.Phase.Over() {
					results++

					if want := crickettest.ID(m.Outcome.WinnerID); c.State.Result.WinnerID != want {
						t.Errorf("slot %d: the winner is %s, want %s", n, c.State.Result.WinnerID, want)
					}
				}
			}

			if w.Feed.Counts()[kind] != 1 || results == 0 || results > 4 {
				t.Errorf("the match was over in %d slots; the fault happened %d times", results, w.Feed.Counts()[kind])
			}

			if o := w.Outcome(); o.Messages != nil {
				t.Errorf("a match ended: %q", o.Messages)
			}
		})
	}
}

// TestMissingMatchIsArchivedUntilItIsBack compares a match that was archived and came
// back with one that was never missing.
func TestMissingMatchIsArchivedUntilItIsBack(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	m := w.Play(5, cricsheet.T20, match.SlotLength)
	other := w.Play(6, cricsheet.T20, match.SlotLength)
	tk := w.Ticker()
	finisher := testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	w.TickAt(tk, 20)
	testkit.Must(t, w.Feed.Inject(sim.Fault{Kind: sim.Vanish, Match: m.ID, For: 40 * match.SlotLength}))

	archived := 0

	for n := 21; n < 70; n++ {
		w.TickAt(tk, n)

		f := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(m.ID))
		if f.ArchivedAt != 0 && archived == 0 {
			archived = n

			if f.Live != "" || f.LiveUpdatedAt != 0 {
				t.Errorf("the archived match is live: %+v", f)
			}
		}

		if n == 60 && (f.Live != match.Live || f.ArchivedAt != 0) {
			t.Errorf("it came back and is %+v", f)
		}

		testkit.Drain(w.World, tables.FinishQueue, 0, finisher.FinishMatch)
	}

	if archived != 24 {
		t.Errorf("it was archived in slot %d, want the fourth without it, 24", archived)
	}

	for _, change := range testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue) {
		if change.Ended != 0 {
			t.Error("its activities are ended")
		}
	}

	w.TickAt(tk, 70)

	control := crickettest.New(t)
	control.Play(5, cricsheet.T20, match.SlotLength)
	control.Play(6, cricsheet.T20, match.SlotLength)
	ctk := testkit.Open(control.World, live.TickFunction(), live.OpenTicker)
	control.TickAt(ctk, 20)
	control.TickAt(ctk, 70)
	got, want := w.Outcome(), control.Outcome()

	got.Messages = nil // the first message is still to be handled
	for _, o := range []*crickettest.Outcome{&got, &want} {
		o.Alerts, o.Ledger = nil, nil // these depend on the number of polls
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after its return (-want +got):\n%s", diff)
	}

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, crickettest.ID(other.ID)); f.ArchivedAt != 0 {
		t.Error("the other match was archived, too")
	}

	if testkit.Drain(w.World, tables.FinishQueue, time.Hour,
		finisher.FinishMatch); len(testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)) > 0 {
		t.Error("its page is still requested")
	}
}

// TestReturnMakesAnArchivedMatchLive has a match come back before finish-match has
// handled its message.
func TestReturnMakesAnArchivedMatchLive(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")

	tk := w.Ticker()
	for n, there := range []bool{true, false, false, false, false, true, true} {
		w.SetPayload()

		if there {
			w.SetPayload(crickettest.Payload(f, "1st Innings"))
		}

		w.TickAt(tk, n)

		f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
		if archived := n == 4; (f.ArchivedAt != 0) != archived || (f.Live == "") != archived || (f.LiveUpdatedAt == 0) != archived {
			t.Errorf("in slot %d the row is %+v, want archived %v", n, f, archived)
		}
	}

	if n := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)); n != 1 {
		t.Errorf("%d messages were sent of a match that never changed, want 1", n)
	}
}

// TestEachAbsenceIsTimedAnew has a match vanish, come back for one poll, and vanish again.
func TestEachAbsenceIsTimedAnew(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")

	tk := w.Ticker()
	for n, there := range []bool{true, false, false, true, false, false, false, false} {
		w.SetPayload()

		if there {
			w.SetPayload(crickettest.Payload(f, "1st Innings"))
		}

		w.TickAt(tk, n)

		if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); (f.ArchivedAt != 0) != (n == 7) {
			t.Errorf("in slot %d the row is %+v, want it archived in slot 7", n, f)
		}
	}
}

// TestUnnamedEntryMayBeTheMissingMatch: while the feed has an entry without an id, a match is
// missing for 15 minutes before it is archived.
func TestUnnamedEntryMayBeTheMissingMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings"))
	w.TickAt(tk, 0)
	w.SetPayload(`{"id":null}`)

	const minute = int(time.Minute / match.SlotLength)
	for _, n := range []int{1, 2, 15 * minute, 15*minute + 1} {
		w.TickAt(tk, n)

		if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); (f.ArchivedAt != 0) != (n == 15*minute+1) {
			t.Errorf("in slot %d the row is %+v, want it archived 15 minutes after slot 1", n, f)
		}
	}
}

// TestArchivedMatchesAreCountedDespiteAnError: of two matches that left the feed, one is
// archived, and the message of the other cannot be sent.
func TestArchivedMatchesAreCountedDespiteAnError(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.SetPayload(crickettest.Payload(w.AddFixture("7"), "1st Innings"), crickettest.Payload(w.AddFixture("8"), "1st Innings"))
	before := w.Ticker()
	w.TickAt(before, 0)
	w.SetPayload()
	w.TickAt(before, 1)
	env := w.Env(live.TickFunction())
	next, sent := env.AWS.HTTPClient, 0

	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessage") {
			if sent++; sent > 1 {
				return nil, context.Canceled
			}
		}

		return next.Do(r)
	})
	if _, err := testkit.OpenWith(w.World, env, live.OpenTicker).Tick(w.NewContext(), crickettest.TickOf(10)); err == nil {
		t.Error("no error although a message was not sent")
	}

	if n := w.Logs.SumMetric(tables.MatchesArchived); n != 1 {
		t.Errorf("%v archived matches were counted, want 1", n)
	}
}

// TestPollDuringArchivingKeepsTheMatchLive has another process poll the match after the
// ticker has read its row, and before the ticker archives it.
func TestPollDuringArchivingKeepsTheMatchLive(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	other := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings"))
	w.TickAt(other, 0)
	w.SetPayload()
	w.TickAt(other, 1)
	env := w.Env(live.TickFunction())
	next := env.AWS.HTTPClient
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".SendMessage") { // it has read the row
			w.SetPayload(crickettest.Payload(f, "1st Innings"))
			w.TickAt(other, 5)
		}

		return next.Do(r)
	})
	w.TickAt(testkit.OpenWith(w.World, env, live.OpenTicker), 4)

	if f := testkit.Row[match.Fixture](w.World, tables.Fixtures, "7"); f.ArchivedAt != 0 || f.Live != match.Live ||
		f.LiveUpdatedAt != crickettest.At(5).UnixMilli() {
		t.Errorf("the row is %+v, want it live since slot 5", f)
	}
}

// TestCorrectionsReplaceBallsAndScore compares a match with faults with one without.
func TestCorrectionsReplaceBallsAndScore(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, faults ...sim.Fault) (*crickettest.World, string, crickettest.Outcome) {
		w := crickettest.New(t)
		m := w.Play(8, cricsheet.T20, match.SlotLength)
		tk := w.Ticker()
		w.TickAt(tk, 10)

		for _, f := range faults {
			f.Match = m.ID
			testkit.Must(t, w.Feed.Inject(f))
		}

		for n := 11; n < 40; n++ {
			w.TickAt(tk, n)
		}

		return w, crickettest.ID(m.ID), w.Outcome()
	}

	_, _, want := play(t)
	for name, f := range map[string]sim.Fault{
		"wrong balls":   {Kind: sim.WrongBall, Count: 5, For: 3 * match.SlotLength},
		"deleted balls": {Kind: sim.DeletedBall, Count: 5, For: 3 * match.SlotLength},
		"late balls":    {Kind: sim.Late, Count: 3, For: 3 * match.SlotLength},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, match, got := play(t, f)
			if w.Feed.Counts()[f.Kind] == 0 {
				t.Fatal("the fault did not happen")
			}

			if got.Balls[match] != want.Balls[match] || !maps.Equal(got.Shown, want.Shown) || !maps.Equal(got.Hashes, want.Hashes) ||
				got.Unqueued != nil {
				t.Errorf("after the fault (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// TestNewProcessContinuesFromStoredState compares one process with a new one in each
// slot.
func TestNewProcessContinuesFromStoredState(t *testing.T) {
	t.Parallel()

	play := func(next func(*crickettest.World, *live.Ticker) *live.Ticker) crickettest.Outcome {
		w := crickettest.New(t)
		w.Play(9, cricsheet.T20, match.SlotLength)

		tk := w.Ticker()
		for n := range 15 {
			w.TickAt(tk, n)
			tk = next(w, tk)
		}

		return w.Outcome()
	}
	want := play(func(_ *crickettest.World, tk *live.Ticker) *live.Ticker { return tk })

	got := play(func(w *crickettest.World, _ *live.Ticker) *live.Ticker { return w.Ticker() })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fifteen processes (-want +got):\n%s", diff)
	}
}

// TestStaleCacheIsNotUsed has two processes poll alternately, each with its own cache.
func TestStaleCacheIsNotUsed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	one, two := w.Ticker(), w.Ticker()
	a := crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1})

	b := crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1}, crickettest.Ball{ID: 9})
	for n, step := range []struct {
		by      *live.Ticker
		payload string
		balls   []int // ids
	}{
		{one, a, []int{1}}, {two, b, []int{1, 9}}, {one, a, []int{1}}, // in the stale cache, a is stored
	} {
		w.SetPayload(step.payload)
		w.TickAt(step.by, n)

		var stored []score.Ball
		testkit.Must(t, json.Unmarshal([]byte(w.Outcome().Balls["7"]), &stored))

		var ids []int
		for _, b := range stored {
			ids = append(ids, b.ID)
		}

		if diff := cmp.Diff(step.balls, ids); diff != "" {
			t.Errorf("balls after step %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestPartlyStoredPayloadIsRepaired has a payload come back after another was stored in
// part.
func TestPartlyStoredPayloadIsRepaired(t *testing.T) {
	t.Parallel()

	for name, balls := range map[string][2][]crickettest.Ball{
		"a correction":     {{{ID: 1}, {ID: 2}}, {{ID: 1}, {ID: 2, Runs: 4}}},
		"the first ball":   {{}, {{ID: 1, Runs: 4}}},
		"a ball too many":  {{{ID: 1}, {ID: 2}}, {{ID: 1}, {ID: 2}, {ID: 3, Runs: 1}}},
		"a ball taken out": {{{ID: 1}, {ID: 2, Runs: 2}}, {{ID: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storePartly(t, balls[0], balls[1])
		})
	}
}

// storePartly has the provider return first, second and first again. All calls but the
// first n fail while second is ingested, for each n.
func storePartly(t *testing.T, first, second []crickettest.Ball) {
	w := crickettest.New(t)
	f := w.AddFixture("7")
	a, b := crickettest.Payload(f, "1st Innings", first...), crickettest.Payload(f, "1st Innings", second...)
	w.SetPayload(a)
	w.TickAt(w.Ticker(), 0)
	want := w.Outcome()

	for n := range 40 {
		slot := 20 * (n + 1)

		w.SetPayload(b)
		env := w.Env(live.TickFunction())
		env.AWS.HTTPClient = failing(env.AWS.HTTPClient, n)
		broken := testkit.OpenWith(w.World, env, live.OpenTicker)
		w.Logs.TakeWarnings() // drop those of the round before

		done, err := broken.Tick(w.NewContext(), crickettest.TickOf(slot))
		if done.Skipped != "" {
			t.Fatalf("slot %d is skipped as %s", slot, done.Skipped)
		}

		complete := err == nil && len(w.Logs.TakeWarnings()) == 0
		w.SetPayload(a)
		w.TickAt(w.Ticker(), slot+1+int(live.Lease/match.SlotLength)) // when the lease that it could not release has expired

		for n := slot + 6; n < slot+16 && isHeld(w, "7"); n++ { // the score first withholds a payload that lacks balls
			w.TickAt(w.Ticker(), n)
		}

		if diff := cmp.Diff(want, w.Outcome()); diff != "" {
			t.Fatalf("after all but %d calls failed (-want +got):\n%s", n, diff)
		}

		if complete {
			return
		}
	}

	t.Error("a tick makes 40 calls or more")
}

// isHeld reports whether the score withholds the last payload.
func isHeld(w *crickettest.World, matchID string) bool {
	c := testkit.Row[match.ScoreRow](w.World, tables.FixtureCache, matchID)
	testkit.Must(w.T, c.Decode())

	return c.State.Held != 0
}

// TestWithheldPayloadIsIngestedAgain polls an unchanged payload that the score
// withholds until it has come often enough.
func TestWithheldPayloadIsIngestedAgain(t *testing.T) {
	t.Parallel()

	for name, again := range map[string]func(*crickettest.World, *live.Ticker) *live.Ticker{
		"one process":   func(_ *crickettest.World, tk *live.Ticker) *live.Ticker { return tk },
		"new processes": func(w *crickettest.World, _ *live.Ticker) *live.Ticker { return w.Ticker() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crickettest.New(t)
			f := w.AddFixture("7")
			tk := w.Ticker()
			w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
			w.TickAt(tk, 0)
			w.SetPayload(crickettest.Payload(f, "1st Innings"))

			n := 1
			for w.TickAt(tk, n); isHeld(w, "7") && n < 20; n++ {
				tk = again(w, tk)
				w.TickAt(tk, n+1)
			}

			if o := w.Outcome(); n < 5 || !strings.Contains(o.Shown["DISPLAY#7#neutral"], `"score":"0/0"`) || o.Balls["7"] != "null" ||
				o.Unqueued != nil {
				t.Errorf("after %d polls the outcome is %+v, want 0/0 and no balls", n, o)
			}
		})
	}
}

// TestWithheldPayloadOfAMatchThatEnds: once the end has begun, its row stays as it is.
func TestWithheldPayloadOfAMatchThatEnds(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1, Runs: 4}))
	w.TickAt(tk, 0)
	w.SetPayload(crickettest.Payload(f, "1st Innings"))
	w.TickAt(tk, 1)
	env := w.Env(live.TickFunction())

	var want match.Fixture

	env.AWS.HTTPClient = stalling(env.AWS.HTTPClient, "BatchGetItem", func() {
		want = testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")
		want.EndingAt = w.Clock.Now().UnixMilli()
		testkit.PutRows(w.World, tables.Fixtures, want)
	})
	w.TickAt(testkit.OpenWith(w.World, env, live.OpenTicker), 2)

	if want.BodySum == "" || want.LeaseHolder == "" {
		t.Fatalf("the row was %+v, want one with a checksum, under a lease", want)
	}

	want.LeaseHolder, want.LeaseUntil = "", 0
	if diff := cmp.Diff(want, testkit.Row[match.Fixture](w.World, tables.Fixtures, "7")); diff != "" {
		t.Errorf("the row of the match (-want +got):\n%s", diff)
	}
}

// stalling returns a client that calls stall before the first call of an operation.
func stalling(next aws.HTTPClient, operation string, stall func()) aws.HTTPClient {
	var once sync.Once

	return smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
			once.Do(stall)
		}

		return next.Do(r)
	})
}

// failing returns a client whose calls fail after the first n.
func failing(next aws.HTTPClient, n int) aws.HTTPClient {
	var mu sync.Mutex

	return smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		n--
		ok := n >= 0
		mu.Unlock()

		if !ok {
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}

		return next.Do(r)
	})
}

// TestOlderSlotNeverOverwritesNewer has a worker stall until its lease expires, while
// another ingests a newer slot.
func TestOlderSlotNeverOverwritesNewer(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	w.MoveClock(crickettest.At(0))

	old, fresh := crickettest.Payload(f, "1st Innings", crickettest.Ball{ID: 1}), crickettest.Payload(f, "1st Innings",
		crickettest.Ball{ID: 1}, crickettest.Ball{ID: 2, Runs: 6})
	ingest := func(slot int, payload string, stall func()) error {
		env := w.Env(live.TickFunction())
		env.AWS.HTTPClient = stalling(env.AWS.HTTPClient, "PutItem", stall)

		return testkit.OpenWith(w.World, env, live.OpenTicker).Ingest(w.NewContext(), "7", payload, match.SlotOf(crickettest.At(slot)),
			crickettest.At(slot), func() (sportmonks.Fixture, error) {
				return sportmonks.Decode([]byte(payload))
			})
	}

	var want crickettest.Outcome

	err := ingest(5, old, func() {
		w.MoveClock(w.Clock.Now().Add(live.Lease + time.Second)) // its lease expires
		testkit.Must(t, ingest(6, fresh, func() {}))

		want = w.Outcome()
	})
	if !dynamo.IsRefused(err) {
		t.Errorf("the stalled worker got %v, want a refusal", err)
	}

	if want.Unqueued != nil || !strings.Contains(want.Shown["DISPLAY#7#neutral"], `"6/0"`) {
		t.Errorf("the newer state is %+v", want)
	}

	if err := ingest(5, old, func() {}); !errors.Is(err, live.ErrNothingToDo) {
		t.Errorf("an older slot got %v, want %v", err, live.ErrNothingToDo)
	}

	if diff := cmp.Diff(want, w.Outcome()); diff != "" {
		t.Errorf("after the older slot (-want +got):\n%s", diff)
	}

	if n := len(testkit.Messages[activity.MatchChanged](w.World, tables.ActivityQueue)); n != 1 {
		t.Errorf("%d messages were sent, want 1", n)
	}
}

func TestMatchLeasedByAnotherWorkerIsSkipped(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	tk := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "1st Innings"))
	f.LeaseHolder, f.LeaseUntil = "another", crickettest.At(2).UnixMilli()
	testkit.PutRows(w.World, tables.Fixtures, f)

	for n := range 4 {
		done := w.TickAt(tk, n)
		if want := n / 3; done.Changed != want {
			t.Errorf("slot %d: %d changed, want %d", n, done.Changed, want)
		}
	}

	if c := w.Logs.TakeWarnings(); c != nil {
		t.Errorf("the log has %q, want nothing", c)
	}
}

func TestExpiredReplayIsDeleted(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	tk := w.Ticker()
	row := func(id string, expires time.Time) match.Fixture {
		return match.Fixture{
			MatchID: id, LeagueCode: "T20", StartTime: "x", Live: match.Live, LiveUpdatedAt: crickettest.KickOff.Add(-time.Hour).UnixMilli(),
			IsReplay: true, ReplayExpires: expires.Unix(), LocalTeamID: "11", VisitorTeamID: "12",
		}
	}
	testkit.PutRows(w.World, tables.Fixtures, row("7", crickettest.KickOff), row("8", crickettest.KickOff.Add(time.Minute)))
	w.SetPayload()

	for range 2 {
		w.MoveClock(crickettest.At(0))
		tk.Tick(w.NewContext(), crickettest.TickOf(0))
	}

	before := w.Logs.SumMetric(tables.MatchesLive)
	w.TickAt(tk, 1)

	if n := w.Logs.SumMetric(tables.MatchesLive) - before; n != 1 {
		t.Errorf("%v matches are live beside an expired replay, want 1", n)
	}

	left := testkit.Rows[match.Fixture](w.World, tables.Fixtures)
	if len(left) != 1 || left[0].MatchID != "8" || left[0].ArchivedAt != 0 {
		t.Errorf("the replays left are %+v, want 8", left)
	}

	if o := w.Outcome(); o.Messages != nil {
		t.Errorf("a replay that expires ends %q", o.Messages)
	}
}

// TestArchivedMatchIsNotArchivedAgain has live-index still list an archived match.
func TestArchivedMatchIsNotArchivedAgain(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	f := w.AddFixture("7")
	ticker := w.Ticker()
	w.SetPayload(crickettest.Payload(f, "2nd Innings", crickettest.Ball{ID: 1, Runs: 1}))
	w.TickAt(ticker, 0)
	w.SetPayload()
	w.TickAt(ticker, 1)
	w.TickAt(ticker, 5)

	before := len(testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue))
	if left, err := ticker.ArchiveMissing(w.NewContext(), "7", live.ArchiveAfter); left || err != nil {
		t.Errorf("it is archived again: %v, %v", left, err)
	}

	if after := len(testkit.Messages[live.MatchLeft](w.World, tables.FinishQueue)); before != 1 || after != 1 {
		t.Errorf("%d messages, then %d; want one", before, after)
	}
}

// TestOnlyStoredMatchesAreCountedAsLive: matches that we do not store must not keep an
// alarm active.
func TestOnlyStoredMatchesAreCountedAsLive(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	ours := crickettest.Payload(w.AddFixture("7"), "1st Innings", crickettest.Ball{ID: 1})
	foreign := crickettest.Payload(match.Fixture{
		MatchID:       "8",
		LeagueID:      "9",
		SeasonID:      "9",
		LocalTeamID:   "1",
		VisitorTeamID: "2",
		Type:          "T20",
		StartTime:     crickettest.KickOff.Format(tables.TimeLayout),
	}, "1st Innings")
	tk := w.Ticker()
	w.SetPayload(ours, foreign)
	w.TickAt(tk, 0)

	if n := w.Logs.SumMetric(tables.MatchesLive); n != 1 {
		t.Fatalf("%v matches are live, want 1", n)
	}

	w.SetPayload(foreign)

	gone := int(live.ArchiveAfterUnnamed/match.SlotLength) + 2

	w.TickAt(tk, 1)
	w.TickAt(tk, gone)
	before := w.Logs.SumMetric(tables.MatchesLive)
	w.TickAt(tk, gone+1)

	if n := w.Logs.SumMetric(tables.MatchesLive) - before; n != 0 {
		t.Errorf("after ours has left %v are live, want 0", n)
	}
}

// TestIndexByLeagueHasNoVolatileAttributes: a poll without a change of the match writes no
// index.
func TestIndexByLeagueHasNoVolatileAttributes(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.SetPayload(crickettest.Payload(w.AddFixture("7"), "1st Innings", crickettest.Ball{ID: 1, Runs: 1}))
	tk := w.Ticker()
	w.TickAt(tk, 0)
	w.TickAt(tk, 1)
	rows, _, err := dynamo.Query[map[string]any](w.NewContext(), w.DB(), tables.FixturesByDate,
		dynamo.Range{Key: dynamo.KeyIs(tables.FixturesByDate, "T20")})
	testkit.Must(t, err)

	if len(rows) != 1 || rows[0]["status"] != "1st Innings" || rows[0]["live"] != match.Live {
		t.Fatalf("rows of the index: %v, want the live match", rows)
	}

	for _, name := range []string{"lastSlot", "polls", "bodySum", "liveUpdatedAt", "missingSince"} {
		if v, ok := rows[0][name]; ok {
			t.Errorf("the index has %s: %v", name, v)
		}
	}
}
