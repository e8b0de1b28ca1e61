package activity_test

import (
	"slices"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/push"
)

// littered is a world with channels in every condition: those of matches that go
// on, or ended just now, and those that nobody needs.
func littered(t *testing.T) (w *crickettest.World, keep []string) {
	w, f, _ := watched(t)
	silent(w)
	w.To(crickettest.At(40))
	matchID := func(id string, change func(*match.Fixture)) {
		f := f
		f.MatchID = id
		change(&f)
		testkit.Put(w.World, tables.Fixtures, f)
	}
	matchID("7", func(f *match.Fixture) { f.Live = match.Live })
	matchID("8", func(f *match.Fixture) {
		f.StartTime = crickettest.At(40).Add(-400 * time.Hour).Format(tables.TimeLayout)
		f.Live = match.Live
	})
	matchID("9", func(f *match.Fixture) { f.StartTime = crickettest.At(4000).Format(tables.TimeLayout) })
	matchID("10", func(f *match.Fixture) { f.EndingAt = crickettest.At(40).Add(time.Minute - activity.SweepAfter).Unix() })
	for _, id := range []string{"7", "8", "9", "10"} {
		keep = append(keep, w.Opened(id, match.Neutral))
	}
	matchID("11", func(f *match.Fixture) { f.EndingAt = crickettest.At(40).Add(-activity.SweepAfter).Unix() })
	matchID("12", func(f *match.Fixture) {
		f.StartTime = crickettest.At(40).Add(-73 * time.Hour).Format(tables.TimeLayout)
	})
	for _, id := range []string{"11", "12", "13"} { // there is no 13
		w.Opened(id, "11")
	}
	testkit.Put(w.World, tables.Displays, match.DisplayRow{CacheKey: match.DisplayKey("11", "11"), Display: `{"headline":"Harbour won"}`})
	onChannel(w, testkit.Row[activity.Channel](w.World, tables.Channels, "11", "11").ChannelID, "away")
	sender := w.Sender(w.Env(activity.SweepChannelsFunction))
	for range 3 {
		_, err := sender.CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}
	testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "7", View: "12", ClaimedAt: crickettest.At(40).Add(-activity.ChannelClaim).UnixMilli()})
	slices.Sort(keep)
	return w, keep
}

func channelIDs(w *crickettest.World) (apple, named []string) {
	for id := range w.Phones.Channels() {
		apple = append(apple, id)
	}
	for _, row := range testkit.Rows[activity.Channel](w.World, tables.Channels) {
		named = append(named, row.ChannelID)
	}
	slices.Sort(apple)
	slices.Sort(named)
	return apple, named
}

func TestSweep(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	p := w.Pusher(w.Env(activity.SweepChannelsFunction))
	for n := range 2 {
		calls := w.Count(func() { testkit.Must(t, p.SweepChannels(w.Ctx())) })
		apple, named := channelIDs(w)
		if !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
			t.Errorf("run %d leaves %q at Apple and %q in rows, want %q", n, apple, named, keep)
		}
		if n == 1 && calls["DeleteItem"] > 0 {
			t.Errorf("the second run makes the calls %v", calls)
		}
	}
	if state, ended := w.Shows("away"); !ended {
		t.Errorf("who listened to the end shows %q", state)
	}
}

// While a channel is being made, each that nobody names may be that one.
func TestSweepWaitsForAClaim(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	claim := activity.Channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.Put(w.World, tables.Channels, claim)
	p := w.Pusher(w.Env(activity.SweepChannelsFunction))
	testkit.Must(t, p.SweepChannels(w.Ctx()))
	if apple, named := channelIDs(w); len(apple) != len(keep)+3 || len(named) != len(keep)+1 {
		t.Errorf("%d channels and %d rows are left, want 3 and 1 more than %d", len(apple), len(named), len(keep))
	}
	w.To(w.Clock.Now().Add(activity.ChannelClaim))
	testkit.Must(t, p.SweepChannels(w.Ctx()))
	if apple, named := channelIDs(w); !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
		t.Errorf("%q and %q are left after the claim was given up, want %q", apple, named, keep)
	}
}

func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()
	p := w.Pusher(w.Env(activity.SweepChannelsFunction))
	for range activity.MaxSwept + 10 {
		_, err := (*p.Sender()).CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}
	for _, want := range []int{10, 0} {
		testkit.Must(t, p.SweepChannels(w.Ctx()))
		if apple, _ := channelIDs(w); len(apple) != want {
			t.Errorf("%d are left, want %d", len(apple), want)
		}
	}
}

// A channel that cannot be deleted does not keep the others, and a run without
// Apple deletes nothing.
func TestSweepFails(t *testing.T) {
	t.Parallel()
	w, keep := littered(t)
	testkit.Put(w.World, tables.Channels, activity.Channel{MatchID: "1", View: match.Neutral, ChannelID: "no base64!"})
	env := w.Env(activity.SweepChannelsFunction)
	away := w.Pusher(env, func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" })
	if err := away.SweepChannels(w.Ctx()); err == nil || len(w.Phones.Channels()) != len(keep)+6 {
		t.Errorf("without Apple: %v", err)
	}
	if err := w.Pusher(env).SweepChannels(w.Ctx()); err == nil {
		t.Error("a channel that cannot be deleted is no error")
	}
	if apple, _ := channelIDs(w); !slices.Equal(apple, keep) {
		t.Errorf("%q are left, want %q", apple, keep)
	}
}

func TestSweepCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) standing {
		w, _ := littered(t)
		w.Pusher(w.Crashing(activity.SweepChannelsFunction, p)).SweepChannels(w.Ctx())
		testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction)).SweepChannels(w.Ctx()))
		return standingOf(w)
	})
}
