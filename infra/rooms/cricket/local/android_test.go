package local

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	simfcm "matchday/infra/sim/fcm"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// TestCard: an Android phone registers, follows and subscribes, and shows the newest state of its match until the end.
func TestCard(t *testing.T) {
	t.Parallel()

	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
	t.Cleanup(c.Stop)

	var calls []string

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path)

		switch r.URL.Path {
		case "/cricket/user/preferences":
			fmt.Fprint(w, `{"alerts":[]}`)
		case "/cricket/user/activity/7":
			fmt.Fprintf(w, `{"topic":"local-match-7-3","current":{"at":%q,"display":{"headline":"1/0"}}}`, time.Unix(100, 0).UTC().Format(time.RFC3339))
		}
	}))
	t.Cleanup(server.Close)

	google, key := simfcm.NewAccount(c, simfcm.Config{Project: "matchday-test"})
	if err := google.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { google.Close() })

	w := New()
	w.Fleet = &fleet.Fleet{Config: fleet.Config{Clock: c}, URL: server.URL, Google: google}

	var err error
	if w.Users, err = cognito.New(c, server.URL, "app", ""); err != nil {
		t.Fatal(err)
	}

	p := NewAndroid("a", "7", "3")
	if err := w.Enroll(t.Context(), p); err != nil {
		t.Fatal(err)
	}

	want := []string{
		"POST /cricket/user/device", "GET /cricket/user/preferences", "PUT /cricket/user/preferences", "POST /cricket/user/follow/7",
		"POST /cricket/user/activity/7",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("it calls %q, want %q", calls, want)
	}

	sender, err := fcm.Open(fcm.Config{Endpoint: google.URL(), Key: key(google.URL()), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(sender.Close)

	send := func(match, event, rev, display string) {
		t.Helper()

		m, err := fcm.Data(c.Now(), push.Terms{Expires: c.Now().Add(time.Hour)}, map[string]string{
			"matchId": match, "event": event, "rev": rev, "at": rev, "chip": "60/1", "display": display,
		})
		if err == nil {
			err = sender.Broadcast(t.Context(), "local-match-7-3", m)
		}

		if err != nil {
			t.Fatal(err)
		}
	}

	check := func(when string, want Card) {
		t.Helper()

		got := w.Card(p)
		if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}

	check("after the start", Card{State: []byte(`{"headline":"1/0"}`), Rev: 100, At: time.Unix(100, 0).UTC(), Progress: -1})

	const ten = `{"format":"t20","local":{"name":"H","batting":true,"overs":"10.3"},"visitor":{"name":"V"}}`

	send("7", "update", "200", ten)
	send("8", "update", "300", `{}`) // of another match
	send("7", "update", "150", `{}`) // late

	card := Card{State: []byte(ten), Rev: 200, At: time.Unix(200, 0), Chip: "60/1", Progress: 52, Pushes: 2, Outdated: 1}
	check("after three messages", card)

	send("7", "end", "400", ten)
	send("7", "end", "400", ten)

	card.Rev, card.At, card.Ended, card.Pushes, card.Repeated = 400, time.Unix(400, 0), true, 4, 1
	check("after the end", card)
}
