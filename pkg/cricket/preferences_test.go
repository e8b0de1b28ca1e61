package cricket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/testkit"
	"matchday/pkg/cricket/score"
)

func TestAllowsKinds(t *testing.T) {
	t.Parallel()
	all := defaults().Alerts
	for _, c := range []struct {
		name string
		p    Preferences
		want []score.EventKind
	}{
		{"by default", defaults(), all},
		{"none", Preferences{}, nil},
		{"some", Preferences{Alerts: []score.EventKind{score.WicketEvent, score.ResultEvent}}, []score.EventKind{score.WicketEvent, score.ResultEvent}},
		{"key events", Preferences{Alerts: all, KeyEventsOnly: true}, []score.EventKind{score.StartEvent, score.InningsEvent, score.TargetEvent, score.SuperOverEvent, score.ResultEvent}},
		{"key events of some", Preferences{Alerts: []score.EventKind{score.WicketEvent, score.InningsEvent}, KeyEventsOnly: true}, []score.EventKind{score.InningsEvent}},
		{"spoiler-free", Preferences{Alerts: all, SpoilerFree: true}, []score.EventKind{score.TossEvent, score.StartEvent, score.RainEvent, score.ResultEvent}},
		{"spoiler-free key events", Preferences{Alerts: all, KeyEventsOnly: true, SpoilerFree: true}, []score.EventKind{score.StartEvent, score.ResultEvent}},
	} {
		var got []score.EventKind
		for _, k := range all {
			if c.p.Allows(k, kickOff) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if c.p.Allows("boundary", kickOff) {
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
		p := defaults()
		p.QuietHours = &QuietHours{c.from, c.to, c.zone}
		if got := p.Allows(score.WicketEvent, at); got == c.quiet {
			t.Errorf("%s-%s in %s at %s: allowed is %v", c.from, c.to, c.zone, c.at, got)
		}
		// The instant counts, not how it is written.
		if p.Allows(score.WicketEvent, at) != p.Allows(score.WicketEvent, at.In(time.FixedZone("elsewhere", -7*3600))) {
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
		if (&QuietHours{from, to, where}).include(at) == (&QuietHours{to, from, where}).include(at) {
			t.Fatalf("%v is in both halves of the day, or in neither", at)
		}
	})
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	routes := w.routes()
	stored := func(user string) (p Preferences) {
		t.Helper()
		out := testkit.Ask(routes, GetPreferencesFunction, "/user/preferences", user, "")
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &p))
		if out.StatusCode != http.StatusOK || testkit.Header(out).Get("Cache-Control") != "no-store" {
			t.Errorf("get-preferences answers %d with %v", out.StatusCode, out.Headers)
		}
		return p
	}
	if got := stored("ann"); !reflect.DeepEqual(got, defaults()) {
		t.Errorf("by default %+v", got)
	}
	for _, want := range []Preferences{
		{Alerts: []score.EventKind{score.TossEvent, score.SuperOverEvent}, KeyEventsOnly: true, QuietHours: &QuietHours{"22:00", "07:00", "Asia/Kolkata"}},
		{Alerts: []score.EventKind{}, SpoilerFree: true}, // the quiet hours are gone
		defaults(),
	} {
		body, err := json.Marshal(want)
		testkit.Must(t, err)
		out := testkit.Ask(routes, PutPreferencesFunction, "/user/preferences", "ann", string(body))
		var answer Preferences
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))
		if out.StatusCode != http.StatusOK || !reflect.DeepEqual(answer, want) || !reflect.DeepEqual(stored("ann"), want) {
			t.Errorf("put %+v: answered %d %+v, and stored %+v", want, out.StatusCode, answer, stored("ann"))
		}
	}
	if got := stored("bob"); !reflect.DeepEqual(got, defaults()) {
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
		if err := testkit.Blames(testkit.Ask(routes, PutPreferencesFunction, "/user/preferences", "ann", body), want.status, want.field); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if got := stored("ann"); !reflect.DeepEqual(got, before) {
		t.Errorf("a refused request has stored %+v", got)
	}
}
