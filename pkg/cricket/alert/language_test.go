package alert_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/rooms/cricket/scoretest"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/samples"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/words"
	"matchday/pkg/kit/push"
)

// said returns the alert of a stoppage with its texts in all languages.
func said(w *crickettest.World) alert.Alert {
	m := rainAlert(w)
	m.Title, m.Body, m.Plain = "Play stopped", "Harbour 7/1 (1.2)", "Play has stopped."
	m.Says = &event.Says{
		Match: words.Say("%@ v %@", "Harbour", "Valley"), Title: words.Say("Play stopped"), Body: words.Verbatim(m.Body),
		Plain: words.Say("Play has stopped."),
	}

	return m
}

// withTexts gives the phone a locale and a version of the catalogue.
func withTexts(locale string, catalogue int) func(*follower.FollowRow, *follower.DeviceRow) {
	return func(_ *follower.FollowRow, d *follower.DeviceRow) { d.Locale, d.Catalogue = locale, catalogue }
}

// alertOf returns aps.alert of the only notification on a phone.
func alertOf(w *crickettest.World, name string) string {
	w.T.Helper()

	d, _ := w.Phones.Device(crickettest.Token(name))
	if len(d.Alerts) != 1 {
		w.T.Fatalf("the phone of %s shows %d notifications, want 1", name, len(d.Alerts))
	}

	var got struct {
		APS struct{ Alert json.RawMessage }
	}
	testkit.Must(w.T, json.Unmarshal(d.Alerts[0].Payload, &got))

	return string(got.APS.Alert)
}

// TestAlertIsInTheLanguageOfThePhone: keys for an app that has them, otherwise the text in the locale
// of the phone. Phones that have registered neither get English.
func TestAlertIsInTheLanguageOfThePhone(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)

	const english = `{"title":"Play stopped","body":"Harbour 7/1 (1.2)"}`

	want := map[string]string{}
	add := func(name, alert string, edits ...func(*follower.FollowRow, *follower.DeviceRow)) {
		want[name] = alert
		addFollower(w, name, "11", edits...)
	}
	add("an old row", english)
	add("no locale", english, withTexts("", 1))
	add("English", english, withTexts("en-IN", 1))
	add("French", english, withTexts("fr", 1))
	add("Hindi", `{"title":"खेल रुका","body":"Harbour 7/1 (1.2)"}`, withTexts("hi-IN", 1))
	add("Hindi, old", `{"title":"खेल रुका","body":"Harbour 7/1 (1.2)"}`, withTexts("hi-IN", 0))
	add("German", `{"title":"Spiel unterbrochen","body":"Harbour 7/1 (1.2)"}`, withTexts("de_AT", 1))
	add("keys", `{"title-loc-key":"Play stopped","body":"Harbour 7/1 (1.2)"}`, withTexts("hi-IN", 2))
	add("keys of later", `{"title-loc-key":"Play stopped","body":"Harbour 7/1 (1.2)"}`, withTexts("", 7))
	add("spoiler-free Urdu", "{\"title\":\"\u2068Harbour\u2069 بمقابلہ \u2068Valley\u2069\",\"body\":\"کھیل رک گیا ہے۔\"}", withTexts("ur-PK", 1))
	add("spoiler-free keys", `{"title-loc-key":"%@ v %@","title-loc-args":["Harbour","Valley"],"loc-key":"Play has stopped."}`,
		withTexts("ur-PK", 2))

	p := follower.DefaultPreferences()
	p.SpoilerFree = true
	setPreferences(w, "spoiler-free Urdu", p)
	setPreferences(w, "spoiler-free keys", p)

	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), said(w)))

	for name, want := range want {
		var got, expected any
		testkit.Must(t, json.Unmarshal([]byte(alertOf(w, name)), &got))
		testkit.Must(t, json.Unmarshal([]byte(want), &expected))

		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReminderIsInTheLanguageOfThePhone: its minutes are known when it is sent.
func TestReminderIsInTheLanguageOfThePhone(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	addFollower(w, "hindi", "11", withTexts("hi", 1))
	addFollower(w, "keys", "11", withTexts("hi", 2))

	match := words.Say("%@ v %@", "Harbour", "Valley")
	m := reminderAlert(w)
	m.Says = &event.Says{Match: match, Title: match}
	w.MoveClock(crickettest.KickOff.Add(-12 * time.Minute))
	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), m))

	if diff := cmp.Diff([]string{"Harbour बनाम Valley|12 मिनट में शुरू"}, alertsOf(w, "hindi")); diff != "" {
		t.Errorf("in Hindi (-want +got):\n%s", diff)
	}

	want := `{"title-loc-key":"%@ v %@","title-loc-args":["Harbour","Valley"],"loc-key":"Starts in %@ minutes","loc-args":["12"]}`

	var got, expected any
	testkit.Must(t, json.Unmarshal([]byte(alertOf(w, "keys")), &got))
	testkit.Must(t, json.Unmarshal([]byte(want), &expected))

	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("with keys (-want +got):\n%s", diff)
	}
}

// TestActivityStartsInTheLanguageOfThePhone: with nested keys, as a Live Activity has them.
func TestActivityStartsInTheLanguageOfThePhone(t *testing.T) {
	t.Parallel()
	w := worldWithFollowedMatch(t)
	storeDisplays(w)
	addFollower(w, "german", "11", withPushToStart(17), withTexts("de", 1))
	addFollower(w, "keys", "11", withPushToStart(17), withTexts("de", 2))

	match := words.Say("%@ v %@", "Harbour", "Valley")
	m := startAlert(w)
	m.Says = &event.Says{Match: match, Title: words.Say("Play has begun"), Body: match, Plain: words.Say("Play has begun.")}

	testkit.Must(t, openAlerter(w, w.Env(alert.SendAlertsFunction())).SendAlert(w.NewContext(), m))

	for name, want := range map[string]string{
		"german": `{"title":"Das Spiel hat begonnen","body":"Harbour gegen Valley","sound":"default"}`,
		"keys":   `{"title":{"loc-key":"Play has begun"},"body":{"loc-key":"%@ v %@","loc-args":["Harbour","Valley"]},"sound":"default"}`,
	} {
		d, _ := w.Phones.Device(crickettest.Token(name + " starts"))
		if len(d.Alerts) != 1 {
			t.Errorf("%s: %d alerts, want 1", name, len(d.Alerts))
			continue
		}

		var got struct {
			APS struct{ Alert any }
		}
		testkit.Must(t, json.Unmarshal(d.Alerts[0].Payload, &got))

		var expected any
		testkit.Must(t, json.Unmarshal([]byte(want), &expected))

		if diff := cmp.Diff(expected, got.APS.Alert); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTextsWithoutAnswerAreRetried: if Apple answers for no text of a page, all users of all languages are retried by
// one message.
func TestTextsWithoutAnswerAreRetried(t *testing.T) {
	t.Parallel()

	for name, of := range map[string]func(*crickettest.World) alert.Alert{
		"notifications": said,
		"starts": func(w *crickettest.World) alert.Alert {
			m := startAlert(w)
			m.Says = said(w).Says

			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldWithFollowedMatch(t)
			storeDisplays(w)

			var names []string

			for _, team := range []string{"11", "12"} {
				for i, locale := range []string{"en", "hi", "ur", "bn", "de", "keys"} {
					name := locale + team
					names = append(names, name)
					addFollower(w, name, team, withTexts(locale, 1+i/5), withPushToStart(17))

					for _, token := range []string{name, name + " starts"} {
						w.Phones.Answer(crickettest.Token(token), apns.Answer{Slow: 24 * time.Hour, Times: 1})
					}
				}
			}

			a := openAlerter(w, w.Env(alert.SendAlertsFunction()))
			*a.SendTimeout() = 100 * time.Millisecond

			m := of(w)
			before := len(testkit.Messages[alert.Alert](w.World, tables.AlertQueue))
			testkit.Must(t, a.SendAlert(w.NewContext(), m))

			retried := testkit.Messages[alert.Alert](w.World, tables.AlertQueue)[before:]
			if len(retried) != 1 || len(retried[0].Users) != len(names) {
				t.Errorf("the message of the retry is %+v, want one with %d users", retried, len(names))
			}
		})
	}
}

// TestMessagesOfOtherVersions: a message without texts in all languages is sent in English, and the
// English texts of a message stay where an earlier version reads them.
func TestMessagesOfOtherVersions(t *testing.T) {
	t.Parallel()

	var old alert.Alert
	testkit.Must(t, json.Unmarshal([]byte(`{"matchId":"7","key":"rain:1:stop","kind":"rain","match":"Harbour v Valley",
		"title":"Play stopped","body":"Harbour 7/1 (1.2)","plain":"Play has stopped.","at":1}`), &old))

	for _, p := range []push.Phone{{}, {Locale: "hi", Catalogue: 1}, {Locale: "hi", Catalogue: 9}} {
		if l := old.LanguageOf(p); l != words.English {
			t.Errorf("an old message to %+v is in %s, want English", p, l)
		}
	}

	if diff := cmp.Diff(push.Banner{Title: "Play stopped", Body: "Harbour 7/1 (1.2)"}, old.Banner(words.English, false)); diff != "" {
		t.Errorf("an old message (-want +got):\n%s", diff)
	}

	// What the version before read of a message.
	type earlier struct {
		MatchID, Key, Kind, Match, Title, Body, Plain string
		At                                            int64
		Quiet                                         bool
	}

	e := event.Event{
		Kind: event.Rain, Key: "rain:1:stop", Match: "Harbour v Valley", Title: "Play stopped", Body: "Harbour 7/1 (1.2)",
		Plain: "Play has stopped.", Says: event.Says{Title: words.Say("Play stopped")},
	}
	body, err := json.Marshal(alert.NewAlert("7", e, 1))
	testkit.Must(t, err)

	var got earlier
	testkit.Must(t, json.Unmarshal(body, &got))

	want := earlier{"7", "rain:1:stop", "rain", "Harbour v Valley", "Play stopped", "Harbour 7/1 (1.2)", "Play has stopped.", 1, false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a message, read by the version before (-want +got):\n%s", diff)
	}
}

// TestAlertsOfRecordedMatchesInAllLanguages: each fits a notification and, with the largest display, the
// start of an activity; no text is empty, and none is English in another language.
func TestAlertsOfRecordedMatchesInAllLanguages(t *testing.T) {
	t.Parallel()

	largest := map[string]string{"display": strings.Repeat("x", 2048-len(`{"display":""}`))}
	attributes := map[string]string{
		"matchId": "1234567890123456789", "teamId": "1234567890123456789", "local": strings.Repeat("x", 80), "visitor": strings.Repeat("x", 80),
	}

	for _, path := range samples.Glob(t, "cricsheet/*.json") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			r := scoretest.LoadSheet(t, path)

			var st score.State

			seen, largestPush := map[string]bool{}, 0

			for n := 0; n <= len(r.Totals)+1; n++ {
				f := r.FeedAt(min(n, len(r.Totals)))
				if n > len(r.Totals) {
					f = r.FinalFeed(true)
				}

				st, _ = scorer.Read(f, st)

				for _, e := range event.List(f, st) {
					if seen[e.Key+e.Title+e.Body] {
						continue
					}

					seen[e.Key+e.Title+e.Body] = true
					m := alert.NewAlert("1234567890123456789", e, 1)

					for _, l := range append(words.Languages(), alert.Translated) {
						b := m.Banner(l, false)
						if l != alert.Translated && (b.Title == "" || b.Body == "" || strings.Contains(b.Title+b.Body, "%@")) {
							t.Errorf("%s in %s: %+v", e.Key, l, b)
						}

						b.Sound = "default"

						_, err := push.Notify(push.Alert{Banner: b, Thread: m.MatchID, Custom: map[string]any{"matchId": m.MatchID, "kind": m.Kind}})
						testkit.Must(t, err)

						start, err := push.Begin(push.Activity{Type: "MatchAttributes", Attributes: attributes, Channel: strings.Repeat("x", 64)},
							push.State{Content: largest, Time: time.Unix(1, 0), Stale: time.Unix(2, 0), Alert: &b})
						testkit.Must(t, err)

						largestPush = max(largestPush, start.Bytes())
					}
				}
			}

			t.Logf("%d alerts in %d languages, at most %d bytes", len(seen), len(words.Languages()), largestPush)
		})
	}
}
