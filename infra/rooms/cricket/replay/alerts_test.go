package replay_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/replay"
	"matchday/pkg/cricket/score/event"
)

type expected map[event.Kind][2]int

// and is what every match with a result makes a follower expect, and more.
func (e expected) and(more expected) expected {
	out := expected{"toss": {1, 1}, "start": {1, 1}, "result": {1, 1}}
	maps.Copy(out, e)
	maps.Copy(out, more)

	return out
}

func TestAlerts(t *testing.T) {
	t.Parallel()

	const sixes = "6 6 6 6 6 6 "

	one, chased := [2]int{1, 1}, expected{"innings": {1, 1}, "target": {1, 1}}
	for name, c := range map[string]struct {
		sheet  *sheet
		bowled int
		want   expected
	}{
		"a chase":               {short(), 99, chased.and(nil)},
		"before its first ball": {short(), 0, expected{}.and(nil)},
		"after its first ball":  {short(), 1, expected{}.and(nil)},
		"once it is chased":     {short(), 7, chased.and(nil)},
		"wickets": {t20(2).bat(harbour, four+".:bowled .:retired_hurt 1:run_out . . .", nil).bat(meadow, four+four, target(6, 2)).won(meadow,
			by("wickets", 10)), 99, chased.and(expected{
			"wicket": {2, 2},
		})},
		"a wicket not yet": {t20(2).bat(harbour, four+".:bowled .:bowled . . . .", nil).bat(meadow, four+four, target(5, 2)).won(meadow,
			by("wickets", 10)), 7, expected{"wicket": {1, 1}}.and(nil)},
		"two wickets of a ball": {t20(1).bat(harbour, ".:bowled:run_out@ 1 . . . .", nil).bat(meadow, "2", target(2, 1)).won(meadow,
			by("wickets", 10)), 99, chased.and(expected{"wicket": {1, 2}})},
		"a fifty": {t20(3).bat(harbour, sixes+dots+"6 6 2 . . .", nil).bat(meadow, dots+dots+dots, target(51, 3)).won(harbour,
			by("runs", 50)), 99, chased.and(expected{"fifty": one})},
		"49 are none": {t20(3).bat(harbour, sixes+dots+"6 6 1 . . .", nil).bat(meadow, dots+dots+dots, target(50, 3)).won(harbour,
			by("runs", 49)), 99, chased.and(nil)},
		"a hundred": {t20(5).bat(harbour, sixes+dots+sixes+dots+sixes, nil).bat(meadow, dots+dots+dots+dots+dots, target(109, 5)).won(harbour,
			by("runs", 108)), 99, chased.and(expected{
			"fifty":   one,
			"hundred": one,
		})},
		"extras are not theirs": {t20(3).bat(harbour, sixes+dots+"6 6 4b . . .", nil).bat(meadow, dots+dots+dots, target(53, 3)).won(harbour,
			by("runs", 52)), 99, chased.and(nil)},
		"a super over": {shapes()["super over"], 99, expected{"innings": {3, 3}, "target": one, "superOver": one}.and(nil)},
		"three super overs": {shapes()["three super overs"], 99,
			expected{"innings": {2, 7}, "target": one, "superOver": {1, 3}, "wicket": {2, 2}}.and(nil)},
		"a bowl-out":  {shapes()["bowl-out"], 99, expected{"superOver": {0, 1}}.and(chased)},
		"a rain rule": {shapes()["tie by a rain rule"], 99, expected{"innings": one, "target": {1, 2}, "rain": {0, 2}}.and(nil)},
		"a Test": {days("Test", 3).bat(harbour, four, nil).bat(meadow, four, nil).bat(harbour, four, nil).bat(meadow, "4 1",
			target(5, 0)).won(meadow, by("wickets", 10)), 99, expected{
			"innings": {3, 3},
			"target":  one,
		}.and(expected{
			"start": {1, 3},
		})},
		"a Test by an innings": {days("Test", 3).bat(harbour, four+"6 6", nil).bat(meadow, dots, nil).bat(meadow, dots, nil).won(harbour,
			doc{"by": doc{"innings": 1, "runs": 16}}), 99, expected{"innings": {2, 2}, "target": {0, 1}}.and(expected{"start": {1, 3}})},
		"a Test on its first day": {days("Test", 3).bat(harbour, four, nil).bat(meadow, four, nil).bat(harbour, four, nil).bat(meadow, "4 1",
			target(5, 0)).won(meadow, by("wickets", 10)), 1, expected{}.and(nil)},
		"no result": {t20(2).bat(harbour, four, nil).ended(doc{"result": "no result"}), 99,
			expected{"innings": {0, 1}, "rain": {0, 1}, "target": {0, 1}}.and(nil)},
		"not a ball":            {t20(2).ended(doc{"result": "no result"}), 99, expected{"start": {0, 1}}.and(nil)},
		"a toss without a call": {short().set("toss", doc{"winner": harbour}), 99, chased.and(expected{"toss": {0, 1}})},
	} {
		got, err := replay.Alerts(c.sheet.json(), c.bowled)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()

	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	file := t20(1).bat(harbour, ".:bowled 1 . . . 1", nil).bat(meadow, "4", target(3, 1)).won(meadow, by("wickets", 10)).json()
	all := []string{"toss", "start", "wicket", "innings", "target", "result"}
	without := func(k string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return o == k })
	}
	key := []string{"start", "innings", "target", "result"}

	free := []string{"toss", "start", "result"}
	for name, c := range map[string]struct {
		who      replay.Follower
		at       time.Time
		wicketAt time.Time // first alert of a wicket to other followers
		got      []string
		wrong    string
	}{
		"all":                {replay.Plain, noon, noon, all, ""},
		"and a reminder":     {replay.Plain, noon, noon, append(all, "reminder"), ""},
		"two reminders":      {replay.Plain, noon, noon, append(all, "reminder", "reminder"), "2 reminder alerts, not 1"},
		"late, and reminded": {replay.Late, noon, noon, append(all, "reminder"), "1 reminder alerts, not 0"},
		"two starts":         {replay.Plain, noon, noon, append(all, "start"), "2 start alerts, not 1"},
		"begun by a push":    {replay.Begun, noon, noon, without("start"), ""},
		"begun and notified": {replay.Begun, noon, noon, all, "2 start alerts, not 1"},
		"a lost wicket":      {replay.Plain, noon, noon, without("wicket"), "0 wicket alerts, not 1"},
		"a doubled wicket":   {replay.Plain, noon, noon, append(all, "wicket"), "2 wicket alerts, not 1"},
		"no result":          {replay.Plain, noon, noon, without("result"), "0 result alerts, not 1"},
		"a fifty of nobody":  {replay.Plain, noon, noon, append(all, "fifty"), "1 fifty alerts, not 0"},
		"rain on a dry day":  {replay.Plain, noon, noon, append(all, "rain"), "1 rain alerts, not 0"},
		"key events":         {replay.KeyEvents, noon, noon, key, ""},
		"key events lost":    {replay.KeyEvents, noon, noon, key[1:], "0 start alerts, not 1"},
		"more than those":    {replay.KeyEvents, noon, noon, append(key, "wicket"), "wicket was not wanted"},
		"spoiler-free":       {replay.SpoilerFree, noon, noon, free, ""},
		"a spoiler":          {replay.SpoilerFree, noon, noon, append(free, "target"), "target was not wanted"},
		"quiet":              {replay.Quiet, noon, noon, nil, ""},
		"not quiet":          {replay.Quiet, noon, noon, []string{"toss"}, "toss was sent in quiet hours"},
		"awake for a minute": {replay.Quiet, noon.Add(12*time.Hour - time.Second), noon, []string{"toss"}, ""},
		"not yet asleep":     {replay.Dozes, noon.Add(5*time.Minute - time.Second), noon, []string{"wicket"}, ""},
		"asleep": {replay.Dozes, noon.Add(5 * time.Minute), noon.Add(5 * time.Minute), []string{"wicket"},
			"wicket was sent in quiet hours"},
		"missed when awake":     {replay.Dozes, noon, noon, nil, "an alert outside quiet hours is missing"},
		"missed, about to doze": {replay.Dozes, noon, noon.Add(4 * time.Minute), nil, ""},
		"not yet awake":         {replay.Wakes, noon, noon.Add(-time.Second), nil, ""},
		"awake":                 {replay.Wakes, noon, noon, []string{"wicket"}, ""},
		"missed after waking":   {replay.Wakes, noon, noon, nil, "an alert outside quiet hours is missing"},
		"twice to one awake":    {replay.Wakes, noon, noon, []string{"wicket", "wicket"}, "2 wicket alerts, not 1"},
		"left at once":          {replay.Left(0), noon, noon, []string{"toss", "start"}, ""},
		"left, and one more":    {replay.Left(0), noon, noon, []string{"toss", "start", "wicket"}, ""},
		"left, and two more":    {replay.Left(0), noon, noon, []string{"toss", "start", "wicket", "innings"}, "1 innings alerts, not 0"},
		"left after a wicket":   {replay.Left(1), noon, noon, []string{"toss", "start", "wicket", "innings"}, ""},
		"left, late alert":      {replay.Left(1), noon, noon, []string{"toss"}, ""},
	} {
		wrong, err := replay.Judge(file, c.who, c.at, c.wicketAt, c.got...)
		if got := strings.Join(wrong, "; "); err != nil || got != c.wrong {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.wrong)
		}
	}
}
