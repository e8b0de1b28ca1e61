package cricket_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/testkit"
	"matchday/pkg/cricket"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// chance is what differs from run to run, and what the file has in its place.
var chance = []struct {
	is   *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`request-[0-9]+(-[0-9]+)?`), "(request)"},
	{regexp.MustCompile(`"channelId":"[^"]+"`), `"channelId":"(channel)"`},
}

// longest is the most bytes of a text that the file has in full.
const longest = 600

// unpacked returns a text that was compressed.
func unpacked(t *testing.T, packed []byte) string {
	t.Helper()

	r, err := gzip.NewReader(bytes.NewReader(packed))
	testkit.Must(t, err)
	text, err := io.ReadAll(r)
	testkit.Must(t, err)

	return string(text)
}

// TestStoryOfAMatch: what the tables have of a match and its followers before it, and what
// changes in play and after it, what their phones show, and how each function reads. Attributes, texts and reads
// change only under review.
func TestStoryOfAMatch(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t).WithPhones()

	var mu sync.Mutex

	reads := map[string]bool{}
	w.Trace = func(fn spec.Function, operation string, body []byte) {
		mu.Lock()
		defer mu.Unlock()

		for _, r := range readsOf(operation, strings.ReplaceAll(string(body), w.Prefix, "")) {
			reads[fn.Name+" "+r] = true
		}
	}
	m := w.Play(3, cricsheet.T20, match.SlotLength/4)
	id, views := fmt.Sprint(m.ID), []string{fmt.Sprint(m.Local.ID), fmt.Sprint(m.Visitor.ID)}

	w.Sync()
	routes := w.Routes()

	ask := func(fn app.Function, target, user, body string) {
		t.Helper()

		if out := testkit.Call(routes, fn, target, user, body); out.StatusCode >= 300 {
			t.Fatalf("%s: %d %s", target, out.StatusCode, out.Body)
		}
	}
	for i, user := range []string{"ann", "bob", "cat"} {
		ask(follower.RegisterDeviceFunction(), "/user/device", user,
			fmt.Sprintf(`{"deviceToken":%q,"platform":"ios","osVersion":%q,"environment":"production","frequentPushesEnabled":true}`,
				crickettest.Token(user+"'s phone"), []string{"18.1", "17.4", "18.0"}[i]))

		if user == "cat" {
			continue
		}

		ask(follower.UpdatePushToStartFunction(), "/user/device/push-to-start", user,
			fmt.Sprintf(`{"deviceToken":%q,"pushToStartToken":%q}`, crickettest.Token(user+"'s phone"), crickettest.Token(user+" starts")))
		ask(follower.FollowMatchFunction(), "/user/follow/"+id, user, fmt.Sprintf(`{"teamId":%q}`, views[i]))
	}

	ask(follower.PutPreferencesFunction(), "/user/preferences", "bob",
		`{"alerts":["wicket","result","toss","start"],"spoilerFree":true,"keyEventsOnly":true,"quietHours":{"from":"23:00","to":"07:00","timeZone":"Europe/Paris"}}`)

	var all, before []string

	add := func(line string) {
		for _, c := range chance {
			line = c.is.ReplaceAllString(line, c.text)
		}

		all = append(all, line)
	}
	alerts := w.Env(alert.SendAlertsFunction())
	sender, pusher, finisher := alert.NewAlerter(alerts, w.Sender(alerts), nil), w.Pusher(w.Env(activity.PushActivitiesFunction())),
		testkit.Open(w.World, live.FinishMatchFunction(), live.OpenFinisher)
	drain := func() {
		t.Helper()
		testkit.Drain(w.World, tables.AlertQueue, 0, sender.SendAlert)
		w.DrainPushes(0, pusher)
	}
	show := func(when string) {
		t.Helper()

		var rows []string

		for _, table := range cricket.Room().Spec.Tables() {
			for _, r := range testkit.Rows[map[string]any](w.World, table) {
				for name, v := range r {
					if packed, ok := v.([]byte); ok {
						v = unpacked(t, packed)
						r[name] = v
					}

					if text, ok := v.(string); ok && len(text) > longest {
						r[name] = fmt.Sprintf("(%d bytes, %x)", len(text), sha256.Sum256([]byte(text)))
					}
				}

				text, err := json.Marshal(r)
				testkit.Must(t, err)

				rows = append(rows, table.Name+" "+string(text))
			}
		}

		for _, name := range []string{"ann's phone", "ann starts", "ann", "bob's phone", "bob starts", "bob", "cat"} {
			d, ok := w.Phones.Device(crickettest.Token(name))
			if !ok {
				continue
			}

			row := fmt.Sprintf("phone %s: %s at %s, stale %s, ended %v, dismissed %s, %d started, %d pushes", name, d.State, stamp(d.Timestamp),
				stamp(d.Stale), d.Ended, stamp(d.Dismissal), d.Started, d.Pushes)
			for _, a := range d.Alerts {
				row += fmt.Sprintf("\n\t%s, %d times, collapse %s: %s", stamp(a.First), a.Times, a.Collapse, a.Payload)
			}

			rows = append(rows, row)
		}

		slices.Sort(rows)
		add("== " + when)

		for _, r := range before {
			if !slices.Contains(rows, r) {
				add("- " + r[:min(len(r), 120)])
			}
		}

		for _, r := range rows {
			if !slices.Contains(before, r) {
				add("+ " + r)
			}
		}

		before = rows
	}

	w.MoveClock(crickettest.KickOff.Add(-15 * time.Minute))
	testkit.Must(t, testkit.Open(w.World, alert.RemindPrematchFunction(), alert.OpenReminder).RemindPrematch(w.NewContext()))
	drain()
	testkit.Must(t, testkit.Open(w.World, alert.DetectTossFunction(), alert.OpenTossDetector).DetectToss(w.NewContext()))
	drain()
	ask(activity.StartActivityFunction(), "/user/activity/"+id, "bob", fmt.Sprintf(`{"pushToken":%q}`, crickettest.Token("bob")))
	ask(activity.StartActivityFunction(), "/user/activity/"+id, "cat",
		fmt.Sprintf(`{"pushToken":%q,"teamId":%q}`, crickettest.Token("cat"), views[1]))
	show("before the match")

	_, err := testkit.Open(w.World, live.PlanTicksFunction(), live.OpenPlanner).PlanTicks(w.NewContext(),
		live.PlanTicks{ScheduledTime: crickettest.KickOff})
	testkit.Must(t, err)

	tk, slot := w.Ticker(), 0

	tick := func() {
		t.Helper()
		w.MoveClock(crickettest.At(slot))
		w.TickAt(tk, slot)
		drain()

		slot++
	}
	for slot < 12 {
		tick()
	}

	show("in play")
	ask(activity.EndActivityFunction(), "/user/activity/"+id+"/"+crickettest.TokenID("cat"), "cat", "")

	for slot < 200 && len(w.Queues.Messages(tables.FinishQueue.Name)) == 0 {
		tick()
	}

	testkit.Drain(w.World, tables.FinishQueue, 30*time.Minute, finisher.FinishMatch)
	drain()
	show("after the match")
	testkit.Drain(w.World, tables.FinishQueue, 48*time.Hour, finisher.FinishMatch)
	drain()
	w.MoveClock(w.Clock.Now().Add(24 * time.Hour))
	testkit.Must(t, w.Pusher(w.Env(activity.SweepChannelsFunction())).SweepChannels(w.NewContext()))
	w.Sync()
	show("a day later")

	for target, fn := range map[string]app.Function{
		"/matches/" + id:                      match.GetMatchFunction(),
		"/matches/" + id + "/display":         match.GetDisplayFunction(),
		"/matches/" + id + "/balls?innings=2": match.ListBallsFunction(),
		"/matches/" + id + "/scorecard":       match.GetScorecardFunction(),
		"/matches?ids=" + id:                  match.ListMatchesFunction(),
		"/matches/" + id + "/follow":          follower.GetFollowFunction(),
		"/user/device":                        follower.GetDeviceFunction(),
		"/user/preferences":                   follower.GetPreferencesFunction(),
	} {
		out := testkit.Call(routes, fn, target, "bob", "")
		add(fmt.Sprintf("GET %s %d %s", target, out.StatusCode, strings.TrimSpace(out.Body)))
	}

	ask(follower.DeleteDeviceFunction(), "/user/device/"+crickettest.TokenID("ann's phone"), "ann", "")

	for r := range reads {
		add(r)
	}

	slices.Sort(all[slices.Index(all, "== a day later")+1:])
	testkit.CheckGolden(t, "story", strings.Join(all, "\n")+"\n")
}

// stamp is a time of the day, or "never".
func stamp(at time.Time) string {
	if at.IsZero() {
		return "never"
	}

	return at.UTC().Format("02T15:04:05.000")
}

// readsOf returns the table or index, the consistency, the order and the limit of each read of a call.
func readsOf(operation, body string) (all []string) {
	type read struct {
		TableName, IndexName, ProjectionExpression string
		ConsistentRead                             bool
		ScanIndexForward                           *bool
		Limit                                      int
	}

	var in struct {
		read
		RequestItems map[string]read
	}
	if json.Unmarshal([]byte(body), &in) != nil {
		return nil
	}

	line := func(r read) string {
		backward := r.ScanIndexForward != nil && !*r.ScanIndexForward
		return fmt.Sprintf("%s %s consistent=%v backward=%v limit=%d %s", operation, cmp.Or(r.IndexName, r.TableName), r.ConsistentRead,
			backward, r.Limit, r.ProjectionExpression)
	}

	switch operation {
	case "GetItem", "Query", "Scan":
		return []string{strings.TrimSpace(line(in.read))}
	case "BatchGetItem":
		for table, r := range in.RequestItems {
			r.TableName = table
			all = append(all, strings.TrimSpace(line(r)))
		}
	}

	return all
}
