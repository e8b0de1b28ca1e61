package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
)

func TestAllowsKinds(t *testing.T) {
	t.Parallel()
	all := follower.DefaultPreferences().Alerts
	for _, c := range []struct {
		name string
		p    follower.Preferences
		want []event.Kind
	}{
		{"by default", follower.DefaultPreferences(), all},
		{"none", follower.Preferences{}, nil},
		{"some", follower.Preferences{Alerts: []event.Kind{event.Wicket, event.Result}}, []event.Kind{event.Wicket, event.Result}},
		{"key events", follower.Preferences{Alerts: all, KeyEventsOnly: true}, []event.Kind{event.Start, event.Innings, event.Target, event.SuperOver, event.Result}},
		{"key events of some", follower.Preferences{Alerts: []event.Kind{event.Wicket, event.Innings}, KeyEventsOnly: true}, []event.Kind{event.Innings}},
		{"spoiler-free", follower.Preferences{Alerts: all, SpoilerFree: true}, []event.Kind{event.Toss, event.Start, event.Rain, event.Result}},
		{"spoiler-free key events", follower.Preferences{Alerts: all, KeyEventsOnly: true, SpoilerFree: true}, []event.Kind{event.Start, event.Result}},
	} {
		var got []event.Kind
		for _, k := range all {
			if c.p.Allows(k, crickettest.KickOff) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if c.p.Allows("boundary", crickettest.KickOff) {
			t.Errorf("%s: a kind that nobody knows is allowed", c.name)
		}
	}
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to, zone string
		at             string // UTC
		quiet          bool
	}{
		// Over midnight, both ends.
		{"22:00", "07:00", "UTC", "2026-06-01T21:59:59Z", false},
		{"22:00", "07:00", "UTC", "2026-06-01T22:00:00Z", true},
		{"22:00", "07:00", "UTC", "2026-06-02T00:00:00Z", true},
		{"22:00", "07:00", "UTC", "2026-06-02T06:59:59Z", true},
		{"22:00", "07:00", "UTC", "2026-06-02T07:00:00Z", false},
		{"22:00", "07:00", "UTC", "2026-06-02T12:00:00Z", false},
		{"00:00", "06:00", "UTC", "2026-06-02T00:00:00Z", true},
		{"18:00", "00:00", "UTC", "2026-06-02T23:59:59Z", true},
		{"18:00", "00:00", "UTC", "2026-06-03T00:00:00Z", false},
		// Within a day.
		{"13:30", "14:00", "UTC", "2026-06-02T13:29:59Z", false},
		{"13:30", "14:00", "UTC", "2026-06-02T13:30:00Z", true},
		{"13:30", "14:00", "UTC", "2026-06-02T14:00:00Z", false},
		// By the user's clock: half an hour off, and on another day.
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-01T16:29:59Z", false},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-01T16:30:00Z", true},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-02T01:29:59Z", true},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-02T01:30:00Z", false},
		{"22:00", "07:00", "Australia/Sydney", "2026-06-01T12:00:00Z", true},
		{"22:00", "07:00", "America/Barbados", "2026-06-02T01:59:59Z", false},
		{"22:00", "07:00", "America/Barbados", "2026-06-02T02:00:00Z", true},
		// London, summer and winter: the same clock, another hour in UTC.
		{"22:00", "07:00", "Europe/London", "2026-06-01T21:00:00Z", true},
		{"22:00", "07:00", "Europe/London", "2026-12-01T21:00:00Z", false},
		{"22:00", "07:00", "Europe/London", "2026-12-01T22:00:00Z", true},
		// 2026-03-29 at 01:00 UTC the clocks go from 01:00 to 02:00.
		{"22:00", "01:30", "Europe/London", "2026-03-29T00:59:59Z", true},
		{"22:00", "01:30", "Europe/London", "2026-03-29T01:00:00Z", false},
		{"01:15", "03:00", "Europe/London", "2026-03-29T00:59:59Z", false},
		{"01:15", "03:00", "Europe/London", "2026-03-29T01:00:00Z", true},
		{"01:10", "01:50", "Europe/London", "2026-03-29T01:00:00Z", false},
		// 2026-10-25 at 01:00 UTC they go back from 02:00 to 01:00.
		{"22:00", "01:30", "Europe/London", "2026-10-25T00:29:59Z", true},
		{"22:00", "01:30", "Europe/London", "2026-10-25T00:30:00Z", false},
		{"22:00", "01:30", "Europe/London", "2026-10-25T01:00:00Z", true},
		{"22:00", "01:30", "Europe/London", "2026-10-25T01:30:00Z", false},
		// A zone that is there no more.
		{"22:00", "07:00", "Mars/Olympus", "2026-06-01T22:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		testkit.Must(t, err)
		p := follower.DefaultPreferences()
		p.QuietHours = &follower.QuietHours{From: c.from, To: c.to, TimeZone: c.zone}
		if got := p.Allows(event.Wicket, at); got == c.quiet {
			t.Errorf("%s-%s in %s at %s: allowed is %v", c.from, c.to, c.zone, c.at, got)
		}
		// The instant counts, not how it is written.
		if p.Allows(event.Wicket, at) != p.Allows(event.Wicket, at.In(time.FixedZone("elsewhere", -7*3600))) {
			t.Errorf("%s elsewhere is another time", c.at)
		}
	}
}

// TestQuietHoursHalves: what is not quiet by some hours is quiet by the rest of
// the day, in every zone and at every time.
func TestQuietHoursHalves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := rapid.Custom(func(t *rapid.T) string {
			m := rapid.IntRange(0, 24*60-1).Draw(t, "minute")
			return fmt.Sprintf("%02d:%02d", m/60, m%60)
		})
		from, to := clock.Draw(t, "from"), clock.Draw(t, "to")
		if from == to {
			t.Skip("not quiet hours")
		}
		where := rapid.SampledFrom([]string{"UTC", "Asia/Kolkata", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia"}).Draw(t, "zone")
		at := time.Unix(rapid.Int64Range(1.7e9, 2e9).Draw(t, "at"), 0)
		if (&follower.QuietHours{From: from, To: to, TimeZone: where}).Include(at) == (&follower.QuietHours{From: to, To: from, TimeZone: where}).Include(at) {
			t.Fatalf("%v is in both halves of the day, or in neither", at)
		}
	})
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	stored := func(user string) (p follower.Preferences) {
		t.Helper()
		out := testkit.Ask(routes, follower.GetPreferencesFunction, "/user/preferences", user, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &p))
		if out.StatusCode != http.StatusOK || testkit.Header(out).Get("Cache-Control") != "no-store" {
			t.Errorf("get-preferences answers %d with %v", out.StatusCode, out.Headers)
		}
		return p
	}
	if got := stored("ann"); !reflect.DeepEqual(got, follower.DefaultPreferences()) {
		t.Errorf("by default %+v", got)
	}
	for _, want := range []follower.Preferences{
		{Alerts: []event.Kind{event.Toss, event.SuperOver}, KeyEventsOnly: true, QuietHours: &follower.QuietHours{From: "22:00", To: "07:00", TimeZone: "Asia/Kolkata"}},
		{Alerts: []event.Kind{}, SpoilerFree: true}, // the quiet hours are gone
		follower.DefaultPreferences(),
	} {
		body, err := json.Marshal(want)
		testkit.Must(t, err)
		out := testkit.Ask(routes, follower.PutPreferencesFunction, "/user/preferences", "ann", string(body))
		var answer follower.Preferences
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))
		if out.StatusCode != http.StatusOK || !reflect.DeepEqual(answer, want) || !reflect.DeepEqual(stored("ann"), want) {
			t.Errorf("put %+v: answered %d %+v, and stored %+v", want, out.StatusCode, answer, stored("ann"))
		}
	}
	if got := stored("bob"); !reflect.DeepEqual(got, follower.DefaultPreferences()) {
		t.Errorf("another user has %+v", got)
	}
	before := stored("ann")
	const flags = `"keyEventsOnly":false,"spoilerFree":false`
	quiet := func(hours string) string { return `{"alerts":[],` + flags + `,"quietHours":` + hours + `}` }
	for body, want := range map[string]struct {
		status int
		field  string
	}{
		`{}`:                                                                {422, "body"},
		`{"alerts":null,` + flags + `}`:                                     {422, "body.alerts"},
		`{"alerts":["boundary"],` + flags + `}`:                             {422, "body.alerts[0]"},
		`{"alerts":["toss","toss"],` + flags + `}`:                          {422, "body.alerts"},
		`{"alerts":[],` + flags + `,"userId":"b"}`:                          {422, "body.userId"},
		quiet(`{"from":"22:00","to":"07:00"}`):                              {422, "body.quietHours"},
		quiet(`{"from":"24:00","to":"07:00","timeZone":"UTC"}`):             {422, "body.quietHours.from"},
		quiet(`{"from":"22:00","to":"7:00","timeZone":"UTC"}`):              {422, "body.quietHours.to"},
		quiet(`{"from":"22:00","to":"22:00","timeZone":"UTC"}`):             {400, "body.quietHours.to"},
		quiet(`{"from":"22:00","to":"07:00","timeZone":""}`):                {400, "body.quietHours.timeZone"},
		quiet(`{"from":"22:00","to":"07:00","timeZone":"Local"}`):           {400, "body.quietHours.timeZone"},
		quiet(`{"from":"22:00","to":"07:00","timeZone":"+05:30"}`):          {400, "body.quietHours.timeZone"},
		quiet(`{"from":"22:00","to":"07:00","timeZone":"Asia/Bengalooru"}`): {400, "body.quietHours.timeZone"},
		quiet(`{"from":"22:00","to":"07:00","timeZone":"../etc/passwd"}`):   {400, "body.quietHours.timeZone"},
	} {
		if err := testkit.Blames(testkit.Ask(routes, follower.PutPreferencesFunction, "/user/preferences", "ann", body), want.status, want.field); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if got := stored("ann"); !reflect.DeepEqual(got, before) {
		t.Errorf("a refused request has stored %+v", got)
	}
}
