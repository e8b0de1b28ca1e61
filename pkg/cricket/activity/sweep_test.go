package activity_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/push"
)

// worldWithUnusedChannels returns a world with channels that must be kept, of matches
// that are live, upcoming or ended recently, and with channels that must be deleted.
// keep are the ids of the former, in order.
func worldWithUnusedChannels(t *testing.T) (w *crickettest.World, keep []string) {
	w, f, _ := worldWithActivities(t)
	discardMessages(w)
	w.MoveClock(crickettest.At(40))

	addMatch := func(id string, change func(*match.Fixture)) {
		f := f
		f.MatchID = id
		change(&f)
		testkit.PutRows(w.World, tables.Fixtures, f)
	}
	addMatch("7", func(f *match.Fixture) { f.Live = match.Live })
	addMatch("8", func(f *match.Fixture) {
		f.StartTime = crickettest.At(40).Add(-400 * time.Hour).Format(tables.TimeLayout)
		f.Live = match.Live
	})
	addMatch("9", func(f *match.Fixture) { f.StartTime = crickettest.At(4000).Format(tables.TimeLayout) })
	addMatch("10", func(f *match.Fixture) { f.EndingAt = crickettest.At(40).Add(time.Minute - activity.SweepAfter).Unix() })

	for _, id := range []string{"7", "8", "9", "10"} {
		keep = append(keep, w.OpenChannel(id, match.Neutral))
	}

	addMatch("11", func(f *match.Fixture) { f.EndingAt = crickettest.At(40).Add(-activity.SweepAfter).Unix() })
	addMatch("12", func(f *match.Fixture) {
		f.StartTime = crickettest.At(40).Add(-73 * time.Hour).Format(tables.TimeLayout)
	})

	for _, id := range []string{"11", "12", "13"} { // match 13 does not exist
		w.OpenChannel(id, "11")
	}

	testkit.PutRows(w.World, tables.Displays, match.DisplayRow{
		CacheKey: match.DisplayKey("11", "11"),
		Display:  `{"phase":"result","format":"t20","status":"Result","headline":"Harbour won","local":{"name":"Harbour"},"visitor":{"name":"City"}}`,
	})
	listenTo(w, testkit.Row[activity.Channel](w.World, tables.Channels, "11", "11").ChannelID, "away")

	sender := w.Sender(w.Env(activity.SweepChannelsFunction()))
	for range 3 {
		_, err := sender.CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}

	testkit.PutRows(w.World, tables.Channels,
		activity.Channel{MatchID: "7", View: "12", ClaimedAt: crickettest.At(40).Add(-activity.ChannelClaim).UnixMilli()})
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

func TestSweepDeletesOnlyUnusedChannels(t *testing.T) {
	t.Parallel()
	w, keep := worldWithUnusedChannels(t)

	p := w.Pusher(w.Env(activity.SweepChannelsFunction()))
	for n := range 2 {
		calls := w.CountCalls(func() { testkit.Must(t, p.SweepChannels(w.NewContext())) })

		apple, named := channelIDs(w)
		if !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
			t.Errorf("run %d leaves channels at Apple that differ:\n%sand in rows:\n%s", n, cmp.Diff(keep, apple), cmp.Diff(keep, named))
		}

		if n == 1 && calls["DeleteItem"] > 0 {
			t.Errorf("the second run makes the calls %v, want no DeleteItem", calls)
		}
	}

	want := []map[string]any{
		{"channels": int64(10), "rows": int64(8), "unused": int64(7)},
		{"channels": int64(4), "rows": int64(4), "unused": int64(0)},
	}
	if diff := cmp.Diff(want, w.Logs.Find(slog.LevelInfo, "sweeping channels")); diff != "" {
		t.Errorf("what is logged before (-want +got):\n%s", diff)
	}

	want = []map[string]any{{"deleted": int64(7), "left": int64(0)}, {"deleted": int64(0), "left": int64(0)}}
	if diff := cmp.Diff(want, w.Logs.Find(slog.LevelInfo, "channels swept")); diff != "" {
		t.Errorf("what is logged after (-want +got):\n%s", diff)
	}

	if state, ended := w.PhoneState("away"); !ended {
		t.Errorf("the activity on the channel of an ended match shows %q, want it ended", state)
	}
}

// While a channel is claimed, each unreferenced channel may be the claimed one.
func TestSweepKeepsUnreferencedChannelsDuringAClaim(t *testing.T) {
	t.Parallel()
	w, keep := worldWithUnusedChannels(t)
	claim := activity.Channel{MatchID: "7", View: "11", ClaimedAt: w.Clock.Now().UnixMilli()}
	testkit.PutRows(w.World, tables.Channels, claim)
	p := w.Pusher(w.Env(activity.SweepChannelsFunction()))
	testkit.Must(t, p.SweepChannels(w.NewContext()))

	if apple, named := channelIDs(w); len(apple) != len(keep)+3 || len(named) != len(keep)+1 {
		t.Errorf("%d channels and %d rows are left, want %d and %d", len(apple), len(named), len(keep)+3, len(keep)+1)
	}

	w.MoveClock(w.Clock.Now().Add(activity.ChannelClaim))
	testkit.Must(t, p.SweepChannels(w.NewContext()))

	if apple, named := channelIDs(w); !slices.Equal(apple, keep) || !slices.Equal(named, keep) {
		t.Errorf("after the claim expired the channels at Apple differ:\n%sand the rows:\n%s", cmp.Diff(keep, apple), cmp.Diff(keep, named))
	}
}

func TestSweepDeletesAtMostMaxSwept(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()

	p := w.Pusher(w.Env(activity.SweepChannelsFunction()))
	for range activity.MaxSwept + 10 {
		_, err := (*p.Sender()).CreateChannel(t.Context(), push.KeepNothing)
		testkit.Must(t, err)
	}

	for _, want := range []int{10, 0} {
		testkit.Must(t, p.SweepChannels(w.NewContext()))

		if apple, _ := channelIDs(w); len(apple) != want {
			t.Errorf("%d channels are left, want %d", len(apple), want)
		}
	}

	want := []map[string]any{{"deleted": int64(activity.MaxSwept), "left": int64(10)}, {"deleted": int64(10), "left": int64(0)}}
	if diff := cmp.Diff(want, w.Logs.Find(slog.LevelInfo, "channels swept")); diff != "" {
		t.Errorf("what is logged (-want +got):\n%s", diff)
	}
}

// A channel that cannot be deleted does not block the others. A run that cannot reach
// Apple deletes nothing.
func TestSweepContinuesAfterAnError(t *testing.T) {
	t.Parallel()
	w, keep := worldWithUnusedChannels(t)
	testkit.PutRows(w.World, tables.Channels, activity.Channel{MatchID: "1", View: match.Neutral, ChannelID: "no base64!"})

	env := w.Env(activity.SweepChannelsFunction())
	for name, offline := range map[string]func(*push.Config){
		"Apple":        func(c *push.Config) { c.Endpoint = "https://127.0.0.1:1" },
		"Apple's list": func(c *push.Config) { c.ManageEndpoint = "https://127.0.0.1:1" },
	} {
		if err := w.Pusher(env, offline).SweepChannels(w.NewContext()); err == nil || len(w.Phones.Channels()) != len(keep)+6 {
			t.Errorf("without %s: error %v, %d channels; want an error and %d channels", name, err, len(w.Phones.Channels()), len(keep)+6)
		}
	}

	if err := w.Pusher(env).SweepChannels(w.NewContext()); err == nil {
		t.Error("no error for a channel that cannot be deleted")
	}

	if apple, _ := channelIDs(w); !slices.Equal(apple, keep) {
		t.Errorf("the channels left differ:\n%s", cmp.Diff(keep, apple))
	}
}

func TestSweepIsCompletedAfterACrash(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) channelState {
		w, _ := worldWithUnusedChannels(t)
		if p.Ended(w.Pusher(w.CrashingEnv(activity.SweepChannelsFunction(), p)).SweepChannels(w.NewContext())) {
			testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction())).SweepChannels(w.NewContext()))
		}

		return channelStateOf(w)
	})
}
