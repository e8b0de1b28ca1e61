package topic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/fcm"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/topic"
	sender "matchday/pkg/kit/push/fcm"
)

var update = flag.Bool("update", false, "write the messages of clients/android")

// published is where the files for app developers are.
const published = "../../../clients"

// TestPublishedMessages: the messages of clients/android are what a phone gets in ten phases of a match, whose displays
// are those of clients/ios. An app's tests and previews read them; make judge-android reads them with the sample.
func TestPublishedMessages(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC)
	c := clock.New(at, clock.Free)
	t.Cleanup(c.Work())

	google, key := fcm.NewAccount(c, fcm.Config{Project: "matchday-test"})
	if err := google.Listen(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { google.Close() })

	s, err := sender.Open(sender.Config{Endpoint: google.URL(), Key: key(google.URL()), Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(s.Close)

	payloads, err := filepath.Glob(filepath.Join(published, "ios/payloads/*.json"))
	if err != nil || len(payloads) != 10 {
		t.Fatalf("there are %d payloads, want 10 (%v)", len(payloads), err)
	}

	for n, path := range payloads {
		var p struct {
			APS struct {
				Display json.RawMessage `json:"content-state"`
				Event   string          `json:"event"`
			} `json:"aps"`
		}

		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		var (
			display bytes.Buffer
			d       score.Display
		)

		err = errors.Join(json.Unmarshal(text, &p), json.Compact(&display, p.APS.Display), json.Unmarshal(p.APS.Display, &d))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		name := filepath.Base(path)
		state := at.Add(time.Duration(n) * 10 * time.Minute)
		row := match.DisplayRow{Display: match.RawJSON(display.String()), At: state.Unix(), Playing: d.Phase == sportmonks.Live}
		event, ended := p.APS.Event, int64(0)

		switch {
		case event == topic.End:
			ended = state.Add(activity.StaleAfter).Unix()
		case strings.HasPrefix(name, "03"): // play begins
			event = topic.Start
		}

		m, err := topic.MessageFor("42", "1", event, row, ended, state)
		if err != nil {
			t.Fatal(err)
		}

		phone := "dQw4w9WgXcQ:APA91b-" + strings.TrimSuffix(name, ".json")
		google.Subscribe(phone, name)

		if err := s.Broadcast(t.Context(), name, m); err != nil {
			t.Fatal(err)
		}

		got, _ := google.Phone(phone)
		golden(t, name, got.Received[0].Data)
	}
}

// golden compares a file of clients/android with the data of a message, or writes it.
func golden(t *testing.T, name string, data map[string]string) {
	t.Helper()

	want, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		t.Fatal(err)
	}

	want = append(want, '\n')
	path := filepath.Join(published, "android/messages", name)

	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is sent (%v): go test ./pkg/cricket/topic -run TestPublishedMessages -update", path, err)
	}
}
