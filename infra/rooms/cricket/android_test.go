package cricket

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/local"
	simfcm "matchday/infra/sim/fcm"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// TestAndroidScreen: the console shows the Live Update of an Android phone, with its chip, its progress and the alerts, and
// names the owner of its token and
// the topics of the match, of which one has no phone.
func TestAndroidScreen(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150)

	google, key := simfcm.NewAccount(s.Clock, simfcm.Config{Project: "matchday-test"})
	if err := google.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { google.Close() })

	s.Google = google
	p := local.NewAndroid("droid", s.phones[0].MatchID, "")
	s.phones = []local.Phone{p}

	google.Install(p.Device)
	google.Subscribe(p.Device, "a-topic")

	sender, err := fcm.Open(fcm.Config{Endpoint: google.URL(), Key: key(google.URL()), Now: s.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(sender.Close)

	const display = `{"format":"t20","local":{"name":"H","batting":true,"overs":"5"},"visitor":{"name":"V"}}`

	m, err := fcm.Data(s.Clock.Now(), push.Terms{}, map[string]string{
		"matchId": p.MatchID, "event": "update", "rev": "200", "at": "200", "stale": "300", "chip": "60/1", "display": display,
	})
	if err == nil {
		err = sender.Broadcast(t.Context(), "a-topic", m)
	}

	if err != nil {
		t.Fatal(err)
	}

	toss, err := fcm.Notify(s.Clock.Now(), push.Alert{Banner: push.Banner{Title: "Toss", Body: "H v V"}, Collapse: "toss"})
	if err == nil {
		_, err = sender.Send(t.Context(), toss, slices.Values([]string{p.Device}), nil)
	}

	if err != nil {
		t.Fatal(err)
	}

	now := s.Clock.Now()
	want := screen{
		Owner: "droid", Traits: []string{"Android 16"}, Activity: "running", State: []byte(display), At: time.Unix(200, 0).UnixMilli(),
		Stale: true, Android: true, Chip: "60/1", Progress: 25, Pushes: 1, Received: 1,
		Notes: []note{{"toss", now.UnixMilli(), "Toss", "H v V"}},
	}

	if diff := cmp.Diff([]screen{want}, matches(s.World, s.phones, now)[0].Screens); diff != "" {
		t.Errorf("the screen (-want +got):\n%s", diff)
	}

	id := p.MatchID
	all := owners(s.World, s.phones)
	got := []string{
		all[p.Device[:androidShown]].Name, all["local-match-"+id+"-neutral"].About, all["local-match-"+id+"-"+local.ID(s.match.Local.ID)].About,
	}

	if diff := cmp.Diff([]string{"droid", "for neutral", "for " + s.match.Local.Code + " fans"}, got); diff != "" {
		t.Errorf("the owners (-want +got):\n%s", diff)
	}
}
