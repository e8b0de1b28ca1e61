package live

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/samples"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
)

// TestAlertsOfAnHour: of each recorded match, at most 15 alerts are sent in an hour of play, which is
// 75 balls, and each event is sent once.
func TestAlertsOfAnHour(t *testing.T) {
	t.Parallel()

	const ballsOfHour, budget = 75, 15

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)

			var (
				st   score.State
				w    polledLedger
				at   []int // the ball of each alert
				most int
			)

			for n := 0; n <= len(r.Totals)+1; n++ {
				f := r.FeedAt(min(n, len(r.Totals)))
				if n > len(r.Totals) {
					f = r.FinalFeed(true)
				}

				st, _ = scorer.Read(f, st)

				for range confirmPolls {
					w.poll(false, event.List(f, st)...)
				}

				for len(at) < len(w.sent) {
					at = append(at, n)
				}

				hour := slices.IndexFunc(at, func(ball int) bool { return ball > n-ballsOfHour })
				if hour >= 0 {
					most = max(most, len(at)-hour)
				}
			}

			t.Logf("%d alerts, at most %d in an hour", len(w.sent), most)

			if most > budget {
				t.Errorf("%d alerts in an hour, want at most %d: %q", most, budget, w.sent)
			}

			if once := slices.Compact(slices.Sorted(slices.Values(w.sent))); len(once) != len(w.sent) {
				t.Errorf("an event was sent twice: %q", w.sent)
			}
		})
	}
}

// TestOldLedgerSendsNoOldNews: what the list of events did not have when the ledger was written is
// no news when the present code reads it first. Later events are.
func TestOldLedgerSendsNoOldNews(t *testing.T) {
	t.Parallel()

	hundred, more := event.Event{Kind: event.Hundred, Key: "S1:5:100"}, event.Event{Kind: event.Hundred, Key: "S1:5:150"}
	lineup, stumps := event.Event{Kind: event.Lineup, Key: "lineup"}, event.Event{Kind: event.Stumps, Key: "stumps:1"}
	five, wicket := event.Event{Kind: event.FiveWickets, Key: "S1:fiveWickets:9"}, wicketOf("S1:out:5", "S1:ball:9")

	w := polledLedger{l: ledger{Begun: true, Events: []sentEvent{{Key: hundred.Key, Name: hundred.Key, Sent: true}}}}
	for range 2 * stumpsPolls {
		w.poll(false, lineup, hundred, more, wicket, stumps)
	}

	if diff := cmp.Diff([]string{wicket.Key}, w.sent); diff != "" {
		t.Errorf("from an old ledger (-want +got):\n%s", diff)
	}

	for range confirmPolls {
		w.poll(false, lineup, hundred, more, wicket, five)
	}

	if diff := cmp.Diff([]string{wicket.Key, five.Key}, w.sent); diff != "" {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
}

// TestConfirmationOfNewKinds: each needs the polls of its neighbours, the end of a day half a minute.
func TestConfirmationOfNewKinds(t *testing.T) {
	t.Parallel()

	for key, want := range map[string]int{
		"lineup": confirmPolls, "S1:5:150": confirmPolls, "S1:fiveWickets:9": confirmPolls, "S1:hatTrick:9": confirmPolls,
		"target:2:150": confirmPolls, "closeFinish": confirmPolls, "award": confirmPolls, "stumps:3": stumpsPolls,
	} {
		var w polledLedger

		n := 0
		for ; len(w.sent) == 0 && n < 2*stumpsPolls; n++ {
			w.poll(false, event.Event{Kind: event.HatTrick, Key: key})
		}

		if n != want {
			t.Errorf("%s is sent after %d polls, want %d", key, n, want)
		}
	}

	if stumpsPolls != 12 {
		t.Errorf("the end of a day needs %d polls, want 12", stumpsPolls)
	}
}

// TestPlayerOfTheMatchIsSaidOnce: with the result or, if it is known later, after it.
func TestPlayerOfTheMatchIsSaidOnce(t *testing.T) {
	t.Parallel()

	result := event.Event{Kind: event.Result, Key: "result:won:1", Body: "Home 170/6"}
	award := event.Event{Kind: event.Award, Key: "award", Title: "Player of the match: A Best"}
	with, long := result, result
	with.Body += " · " + award.Title

	for name, c := range map[string]struct {
		polls [][]event.Event
		want  []string
	}{
		"with the result":                 {[][]event.Event{{with, award}, {with, award}, {with, award}, {with, award}}, []string{result.Key}},
		"known before the result is sent": {[][]event.Event{{result}, {result}, {with, award}, {with, award}, {with, award}}, []string{result.Key}},
		"known later": {[][]event.Event{{result}, {result}, {result}, {with, award}, {with, award}, {with, award}, {with, award}},
			[]string{result.Key, award.Key}},
		"no room in the result": {[][]event.Event{{long, award}, {long, award}, {long, award}}, []string{result.Key, award.Key}},
		"taken back in time":    {[][]event.Event{{result}, {result}, {result}, {with, award}, {result}, {result}}, []string{result.Key}},
	} {
		var w polledLedger
		for _, events := range c.polls {
			w.poll(false, events...)
		}

		if diff := cmp.Diff(c.want, w.sent, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
