package bench

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/sim/clock"
	simfcm "matchday/infra/sim/fcm"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// androidCost is what a ball costs to Android phones: by the token of each, and by a topic, which is one request for
// any number.
type androidCost struct {
	tokens int
	each   measure.Usage // of a message to each token
	apple  measure.Usage // of a push to each of as many iPhones, by the same server
	topic  measure.Usage // of one request
}

// benchAndroid measures both against a server that accepts everything at once, over TLS and HTTP/2, as Google's.
func benchAndroid(ctx context.Context, apns *measure.APNs, tokens int, apple measure.Usage) (c androidCost, err error) {
	accounts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"bench","expires_in":3600,"token_type":"Bearer"}`)
	}))
	defer accounts.Close()

	key, err := accountKey(accounts.URL)
	if err != nil {
		return c, err
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(apns.SinkCA)

	trusting := http.DefaultTransport.(*http.Transport).Clone() // the sender clones it, and has no other way to set the root certificates
	trusting.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}

	before := http.DefaultTransport
	http.DefaultTransport = trusting
	sender, err := fcm.Open(fcm.Config{Endpoint: apns.Sink, Key: key, Now: time.Now})
	http.DefaultTransport = before

	if err != nil {
		return c, err
	}
	defer sender.Close()

	m, err := fcm.Data(time.Now(), push.Terms{Priority: apns2.PriorityLow, Expires: time.Now().Add(time.Minute)}, content())
	if err != nil {
		return c, err
	}

	if err := sender.Broadcast(ctx, "bench", m); err != nil { // to connect
		return c, fmt.Errorf("a topic: %w", err)
	}

	to := measure.PushTokens(tokens)

	var each, topics []measure.Usage

	for range 5 {
		u, err := measure.Run(func() error {
			counts, err := sender.Send(ctx, m, slices.Values(to), nil)
			if err == nil && counts.Delivered != len(to) {
				err = fmt.Errorf("of %d messages: %+v", len(to), counts)
			}

			return err
		})
		if err != nil {
			return c, err
		}

		each = append(each, u)

		u, err = measure.Run(func() error {
			for range broadcasts {
				if err := sender.Broadcast(ctx, "bench", m); err != nil {
					return err
				}
			}

			return nil
		})
		if err != nil {
			return c, err
		}

		topics = append(topics, u.Per(broadcasts))
	}

	return androidCost{tokens, measure.MedianUsage(each), apple, measure.MedianUsage(topics)}, nil
}

// androidDelay is how long a ball takes to Google, and to the last of so many phones by Google's fan-out as it is
// simulated.
type androidDelay struct {
	phones, balls int
	accepted, at  time.Duration // medians, from the slot's due time: to Google's acceptance, and to the phones
}

// benchAndroidDelay measures so many slots in real time: in each, a match has a ball, which goes to the topic of the neutral
// perspective. The next slot begins when the phones have it.
func benchAndroidDelay(ctx context.Context, phones, slots int) (cost androidDelay, err error) {
	w, err := newWorld(ctx, clock.New(time.Now(), 1))
	if err != nil {
		return cost, err
	}
	defer w.Close()

	var (
		mu   sync.Mutex
		sent []time.Time // to the topic
		name string
	)

	sentFrom := func(due time.Time) (first time.Time, ok bool) {
		mu.Lock()
		defer mu.Unlock()

		i := slices.IndexFunc(sent, func(at time.Time) bool { return !at.Before(due) })
		if i < 0 {
			return time.Time{}, false
		}

		return sent[i], true
	}

	google, key := simfcm.NewAccount(w.Clock, simfcm.Config{Project: "matchday-bench", Observe: func(s simfcm.Sent) {
		mu.Lock()
		defer mu.Unlock()

		if s.To == name {
			sent = append(sent, s.Time)
		}
	}})
	if err := google.Listen(); err != nil {
		return cost, err
	}
	defer google.Close()

	w.Settings[fcm.SettingURL], w.Settings[fcm.SettingProject] = google.URL(), "matchday-bench"
	w.Settings[fcm.Key] = string(key(google.URL()))

	playing, err := w.play(ctx, 1, played)
	if err != nil {
		return cost, err
	}

	const phone = "dQw4w9WgXcQ:APA91b-bench"

	name = follower.Topic(w.Env().Stage, strconv.FormatInt(playing[0].ID, 10), match.Neutral)
	google.Subscribe(phone, name)
	google.Audience(name, phones-1)

	ticker, err := live.OpenTicker(ctx, w.Env())
	if err != nil {
		return cost, err
	}

	open := func() (*topic.Pusher, error) { return topic.OpenPusher(ctx, w.Env()) }
	if err := poll(w, measure.Prefix+tables.TopicQueue.Name, pushers, open, (*topic.Pusher).PushTopics); err != nil {
		return cost, err
	}

	var accepted, arrived []time.Duration

	for n := range slots + 1 { // the first connects
		due := w.Clock.Now().Truncate(slot).Add(slot)

		changed, err := w.tick(ctx, ticker)
		if err != nil {
			return cost, err
		}

		for limit := due.Add(2*slot + 3*time.Duration(phones/googleRate)*time.Second); changed > 0 && w.Clock.Now().Before(limit); {
			now, _ := google.Phone(phone)

			i := slices.IndexFunc(now.Received, func(m simfcm.Received) bool {
				rev, err := strconv.ParseInt(m.Data["rev"], 10, 64)
				return err == nil && rev >= due.Unix()
			})

			first, ok := sentFrom(due) // it is noted after the phone has it
			if i < 0 || !ok {
				if err := w.Clock.Sleep(ctx, w.Clock.Now().Add(5*time.Millisecond)); err != nil {
					return cost, err
				}

				continue
			}

			if n > 0 {
				accepted, arrived = append(accepted, first.Sub(due)), append(arrived, now.Received[i].Time.Sub(due))
			}

			break
		}
	}

	if len(accepted) < (slots+1)/2 { // a few frames change no display
		return cost, fmt.Errorf("%d of %d balls arrived", len(accepted), slots)
	}

	return androidDelay{phones, len(accepted), measure.Median(accepted), measure.Median(arrived)}, nil
}

// row is the row of the delay.
func (d androidDelay) row() measure.Row {
	return measure.Row{
		Name: fmt.Sprintf("ball to Google, for %s", measure.Counted(d.phones, "phone")), Time: measure.Short(d.accepted),
		Compared: "at the last phone after " + measure.Short(d.at), Target: "≤ " + measure.Short(delayTarget), Met: d.accepted <= delayTarget,
		Details: fmt.Sprintf("from the slot's due time to Google's acceptance; %s; the fan-out is simulated with %s phones a second",
			measure.Counted(d.balls, "ball"), measure.Grouped(googleRate)),
	}
}

// accountKey returns the JSON file of a service account whose access tokens come from a URL.
func accountKey(url string) ([]byte, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}

	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}

	return json.Marshal(map[string]string{
		"type": "service_account", "project_id": "matchday-bench", "client_email": "push@matchday-bench.iam.gserviceaccount.com",
		"private_key_id": "bench", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri": url + "/token",
	})
}

// rows returns the rows of the report.
func (c androidCost) rows() []measure.Row {
	if c.tokens == 0 {
		return nil
	}

	n := float64(c.tokens)
	each := measure.RowOf(measure.Grouped(n)+" messages to Android phones, accepted at once", c.each, n)
	each.Compared = fmt.Sprintf(
		"%s, CPU × %.1f of as many pushes to iPhones", measure.Rate(n, c.each.Wall), measure.Share(c.each.CPU, c.apple.CPU),
	)
	each.Details = fmt.Sprintf("by fcm.Sender; a message: %.1f µs of CPU, %.1f allocs", c.each.CPU.Seconds()*1e6/n, float64(c.each.Allocs)/n)

	topic := measure.RowOf("topic of Android phones, any number", c.topic, 1)
	topic.Details = fmt.Sprintf("one request; Google then takes about %d s for %s phones", many/googleRate, measure.Grouped(many))

	return []measure.Row{each, topic}
}

// googleRate is how many phones a second Google reaches by the topics of a project.
const googleRate = 10_000
