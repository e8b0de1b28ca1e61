package cricket

import (
	"slices"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/push"
)

// littered is a world with channels in every condition: those of matches that go
// on, or ended just now, and those that nobody needs.
func littered(t *testing.T) (w *world, keep []string) {
	w, f, _ := watched(t)
	w.silent()
	w.To(at(40))
	match := func(id string, change func(*fixture)) {
		f := f
		f.MatchID = id
		change(&f)
		testkit.Put(w.World, fixtures, f)
	}
	match("7", func(f *fixture) { f.Live = live })
	match("8", func(f *fixture) { f.StartTime = at(40).Add(-400 * time.Hour).Format(timeLayout); f.Live = live })
	match("9", func(f *fixture) { f.StartTime = at(4000).Format(timeLayout) })
	match("10", func(f *fixture) { f.EndingAt = at(40).Add(time.Minute - sweepAfter).Unix() })
	for _, id := range []string{"7", "8", "9", "10"} {
		keep = append(keep, w.opened(id, neutral))
	}
	match("11", func(f *fixture) { f.EndingAt = at(40).Add(-sweepAfter).Unix() })
	match("12", func(f *fixture) { f.StartTime = at(40).Add(-73 * time.Hour).Format(timeLayout) })
	for _, id := range []string{"11", "12", "13"} { // there is no 13
		w.opened(id, "11")
	}
	testkit.Put(w.World, displays, shown{CacheKey: displayKey("11", "11"), Display: `{"headline":"Harbour won"}`})
	w.onChannel(testkit.Row[channel](w.World, channelTable, "11", "11").ChannelID, "away")
	sender := w.sender(w.Env(SweepChannelsFunction))
	for range 3 {
		_, err := sender.CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}
	testkit.Put(w.World, channelTable, channel{MatchID: "7", View: "12", ClaimedAt: at(40).Add(-channelClaim).UnixMilli()})
	slices.Sort(keep)
	return w, keep
}

func (w *world) channelIDs() (apple, named []string) {
	for id := range w.phones.Channels() {
		apple = append(apple, id)
	}
	for _, row := range testkit.Rows[channel](w.World, channelTable) {
		named = append(named, row.ChannelID)
	}
	slices.Sort(apple)
	slices.Sort(named)
	return apple, named
}

func TestSweep(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	p := w.pusher(w.Env(SweepChannelsFunction))
	for n := range 2 {
		calls := w.Count(func() { testkit.Must(t, p.SweepChannels(w.Ctx())) })
		apple, named := w.channelIDs()
		if !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
			t.Errorf("run %d leaves %q at Apple and %q in rows, want %q", n, apple, named, keep)
		}
		if n == 1 && calls["DeleteItem"] > 0 {
			t.Errorf("the second run makes the calls %v", calls)
		}
	}
	if state, ended := w.shows("away"); !ended {
		t.Errorf("who listened to the end shows %q", state)
	}
}

// While a channel is being made, each that nobody names may be that one.
func TestSweepWaitsForAClaim(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	claim := channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.Put(w.World, channelTable, claim)
	p := w.pusher(w.Env(SweepChannelsFunction))
	testkit.Must(t, p.SweepChannels(w.Ctx()))
	if apple, named := w.channelIDs(); len(apple) != len(keep)+3 || len(named) != len(keep)+1 {
		t.Errorf("%d channels and %d rows are left, want 3 and 1 more than %d", len(apple), len(named), len(keep))
	}
	w.To(w.Clock.Now().Add(channelClaim))
	testkit.Must(t, p.SweepChannels(w.Ctx()))
	if apple, named := w.channelIDs(); !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
		t.Errorf("%q and %q are left after the claim was given up, want %q", apple, named, keep)
	}
}

func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t).withPhones()
	p := w.pusher(w.Env(SweepChannelsFunction))
	for range maxSwept + 10 {
		_, err := p.sender.CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}
	for _, want := range []int{10, 0} {
		testkit.Must(t, p.SweepChannels(w.Ctx()))
		if apple, _ := w.channelIDs(); len(apple) != want {
			t.Errorf("%d are left, want %d", len(apple), want)
		}
	}
}

// A channel that cannot be deleted does not keep the others, and a run without
// Apple deletes nothing.
func TestSweepFails(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	testkit.Put(w.World, channelTable, channel{MatchID: "1", View: neutral, ChannelID: "no base64!"})
	env := w.Env(SweepChannelsFunction)
	away := w.pusher(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" })
	if err := away.SweepChannels(w.Ctx()); err == nil || len(w.phones.Channels()) != len(keep)+6 {
		t.Errorf("without Apple: %v", err)
	}
	if err := w.pusher(env).SweepChannels(w.Ctx()); err == nil {
		t.Error("a channel that cannot be deleted is no error")
	}
	if apple, _ := w.channelIDs(); !slices.Equal(apple, keep) {
		t.Errorf("%q are left, want %q", apple, keep)
	}
}

func TestSweepCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) standing {
		w, _ := littered(t)
		w.pusher(w.Crashing(SweepChannelsFunction, p)).SweepChannels(w.Ctx())
		testkit.Must(t, w.pusher(w.Env(SweepChannelsFunction)).SweepChannels(w.Ctx()))
		return w.standing()
	})
}
