package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
)

// TestAllowsKinds: an alert is allowed if its kind passes every restriction.
func TestAllowsKinds(t *testing.T) {
	t.Parallel()

	all := follower.Kinds()
	some := follower.DefaultPreferences()
	some.Alerts = []event.Kind{event.Wicket, event.Result}

	for _, c := range []struct {
		name string
		p    follower.Preferences
		want []event.Kind
	}{
		{"by default", follower.DefaultPreferences(), all},
		{"none", follower.Preferences{}, nil},
		{"some of the first edition", follower.Preferences{Alerts: []event.Kind{event.Wicket, event.Result}},
			[]event.Kind{event.Wicket, event.Result, event.FiveWickets, event.HatTrick, event.CloseFinish, event.Award}},
		{"the toss and the innings of the first edition", follower.Preferences{Alerts: []event.Kind{event.Toss, event.Innings}},
			[]event.Kind{event.Toss, event.Innings, event.Lineup, event.Stumps}},
		{"some, and all further ones", some, []event.Kind{event.Wicket, event.Result, event.Lineup, event.FiveWickets, event.HatTrick,
			event.Stumps, event.CloseFinish, event.Award}},
		{"some, and no further one", follower.Preferences{Alerts: []event.Kind{event.Wicket, event.Result}, More: []event.Kind{}},
			[]event.Kind{event.Wicket, event.Result}},
		{"key events", follower.Preferences{Alerts: all, KeyEventsOnly: true},
			[]event.Kind{event.Start, event.Innings, event.Target, event.SuperOver, event.Result, event.Stumps, event.CloseFinish}},
		{"key events of some", follower.Preferences{Alerts: []event.Kind{event.Wicket, event.Innings}, KeyEventsOnly: true},
			[]event.Kind{event.Innings, event.Stumps}},
		{"spoiler-free", follower.Preferences{Alerts: all, SpoilerFree: true},
			[]event.Kind{event.Toss, event.Start, event.Rain, event.Result, event.Lineup}},
		{"spoiler-free key events", follower.Preferences{Alerts: all, KeyEventsOnly: true, SpoilerFree: true},
			[]event.Kind{event.Start, event.Result}},
	} {
		var got []event.Kind

		for _, k := range all {
			if c.p.Allows(k, crickettest.KickOff) {
				got = append(got, k)
			}
		}

		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}

		if c.p.Allows("boundary", crickettest.KickOff) {
			t.Errorf("%s: an unknown kind is allowed", c.name)
		}
	}
}

// TestQuietHours: no alert is allowed in the quiet hours of the user's time zone.
func TestQuietHours(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		from, to, zone string
		at             string // UTC
		quiet          bool
	}{
		// Past midnight: both boundaries.
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
		// Zones with an offset of half an hour, and with another date.
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-01T16:29:59Z", false},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-01T16:30:00Z", true},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-02T01:29:59Z", true},
		{"22:00", "07:00", "Asia/Kolkata", "2026-06-02T01:30:00Z", false},
		{"22:00", "07:00", "Australia/Sydney", "2026-06-01T12:00:00Z", true},
		{"22:00", "07:00", "America/Barbados", "2026-06-02T01:59:59Z", false},
		{"22:00", "07:00", "America/Barbados", "2026-06-02T02:00:00Z", true},
		// London in summer and winter: the same local time, another hour in UTC.
		{"22:00", "07:00", "Europe/London", "2026-06-01T21:00:00Z", true},
		{"22:00", "07:00", "Europe/London", "2026-12-01T21:00:00Z", false},
		{"22:00", "07:00", "Europe/London", "2026-12-01T22:00:00Z", true},
		// At 2026-03-29 01:00 UTC clocks change from 01:00 to 02:00.
		{"22:00", "01:30", "Europe/London", "2026-03-29T00:59:59Z", true},
		{"22:00", "01:30", "Europe/London", "2026-03-29T01:00:00Z", false},
		{"01:15", "03:00", "Europe/London", "2026-03-29T00:59:59Z", false},
		{"01:15", "03:00", "Europe/London", "2026-03-29T01:00:00Z", true},
		{"01:10", "01:50", "Europe/London", "2026-03-29T01:00:00Z", false},
		// At 2026-10-25 01:00 UTC clocks change from 02:00 to 01:00.
		{"22:00", "01:30", "Europe/London", "2026-10-25T00:29:59Z", true},
		{"22:00", "01:30", "Europe/London", "2026-10-25T00:30:00Z", false},
		{"22:00", "01:30", "Europe/London", "2026-10-25T01:00:00Z", true},
		{"22:00", "01:30", "Europe/London", "2026-10-25T01:30:00Z", false},
		// An unknown zone counts as UTC.
		{"22:00", "07:00", "Mars/Olympus", "2026-06-01T22:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		testkit.Must(t, err)

		p := follower.DefaultPreferences()

		p.QuietHours = &follower.QuietHours{From: c.from, To: c.to, TimeZone: c.zone}
		if got := p.Allows(event.Wicket, at); got == c.quiet {
			t.Errorf("%s-%s in %s at %s: allowed %v, want %v", c.from, c.to, c.zone, c.at, got, !c.quiet)
		}
		// The zone of the argument makes no difference.
		if p.Allows(event.Wicket, at) != p.Allows(event.Wicket, at.In(time.FixedZone("elsewhere", -7*3600))) {
			t.Errorf("%s in another zone has another result", c.at)
		}
	}
}

// TestQuietHoursAndTheirComplementCoverTheDay: every time, in every zone, is either in
// the hours from a to b or in those from b to a.
func TestQuietHoursAndTheirComplementCoverTheDay(t *testing.T) {
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
		if (&follower.QuietHours{From: from, To: to, TimeZone: where}).Include(at) == (&follower.QuietHours{
			From:     to,
			To:       from,
			TimeZone: where,
		}).Include(at) {
			t.Fatalf("%v is in both halves of the day, or in neither", at)
		}
	})
}

// TestPreferencesAreReplaced: a put replaces all preferences of the caller, and only
// those. A refused put stores nothing.
func TestPreferencesAreReplaced(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()

	stored := func(user string) (p follower.Preferences) {
		t.Helper()

		out := testkit.Call(routes, follower.GetPreferencesFunction(), "/user/preferences", user, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &p))

		if out.StatusCode != http.StatusOK || testkit.Header(out).Get("Cache-Control") != "no-store" {
			t.Errorf("get-preferences: %d with headers %v, want 200 with no-store", out.StatusCode, out.Headers)
		}

		return p
	}
	if diff := cmp.Diff(follower.DefaultPreferences(), stored("ann")); diff != "" {
		t.Errorf("before the first put (-want +got):\n%s", diff)
	}

	for _, want := range []follower.Preferences{
		{
			Alerts:        []event.Kind{event.Toss, event.SuperOver},
			More:          []event.Kind{event.Award},
			KeyEventsOnly: true,
			QuietHours:    &follower.QuietHours{From: "22:00", To: "07:00", TimeZone: "Asia/Kolkata"},
		},
		{Alerts: []event.Kind{event.Toss}, More: []event.Kind{}},
		{Alerts: []event.Kind{}, More: []event.Kind{}, SpoilerFree: true}, // removes the quiet hours
		follower.DefaultPreferences(),
	} {
		body, err := json.Marshal(want)
		testkit.Must(t, err)

		out := testkit.Call(routes, follower.PutPreferencesFunction(), "/user/preferences", "ann", string(body))

		var answer follower.Preferences
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))

		if out.StatusCode != http.StatusOK {
			t.Errorf("put %s: %d, want 200", body, out.StatusCode)
		}

		if diff := cmp.Diff(want, answer); diff != "" {
			t.Errorf("answer to put %s (-want +got):\n%s", body, diff)
		}

		if diff := cmp.Diff(want, stored("ann")); diff != "" {
			t.Errorf("stored by put %s (-want +got):\n%s", body, diff)
		}
	}

	// An app of the first edition sends no further kinds, also after another app has stored some.
	const first = `{"alerts":["toss","wicket"],"keyEventsOnly":false,"spoilerFree":false}`
	if out := testkit.Call(routes, follower.PutPreferencesFunction(), "/user/preferences", "ann", first); out.StatusCode != http.StatusOK {
		t.Errorf("put %s: %d, want 200", first, out.StatusCode)
	}

	if diff := cmp.Diff([]event.Kind{event.Lineup, event.FiveWickets, event.HatTrick}, stored("ann").More); diff != "" {
		t.Errorf("further kinds of %s (-want +got):\n%s", first, diff)
	}

	if diff := cmp.Diff(follower.DefaultPreferences(), stored("bob")); diff != "" {
		t.Errorf("another user (-want +got):\n%s", diff)
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
		`{"alerts":["award"],` + flags + `}`:                                {422, "body.alerts[0]"},
		`{"alerts":[],"moreAlerts":["toss"],` + flags + `}`:                 {422, "body.moreAlerts[0]"},
		`{"alerts":[],"moreAlerts":null,` + flags + `}`:                     {422, "body.moreAlerts"},
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
		if err := testkit.CheckProblemField(testkit.Call(routes, follower.PutPreferencesFunction(), "/user/preferences", "ann", body),
			want.status, want.field); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}

	if diff := cmp.Diff(before, stored("ann")); diff != "" {
		t.Errorf("refused requests have changed the preferences (-want +got):\n%s", diff)
	}
}
