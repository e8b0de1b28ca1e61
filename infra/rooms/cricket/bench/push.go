package bench

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"golang.org/x/sync/errgroup"

	"matchday/infra/sim/sqs"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

const (
	few  = 1_000
	many = 100_000
	// pushers is the number of concurrent environments of push-activities, and of push-parts.
	pushers = 4
)

// sendCost is one message to so many tokens, sent by our client and by apns2.
type sendCost struct {
	tokens      int
	ours, apns2 measure.Usage
	apnsCPU     time.Duration // of the push service, for our client
}

// pusherCost is one changed match with so many subscriptions, from the queue
// through the Pusher to the push service.
type pusherCost struct {
	Subscriptions int `json:"subscriptions"`
	Messages      int `json:"messages"` // that the queues delivered
	measure.Counters
	measure.Usage `json:"-"`
	engine        float64       // part of the time with a call to the DynamoDB engine in flight
	apnsCPU       time.Duration // of the push service
}

// channelCost is one broadcast to so many listeners.
type channelCost struct {
	Listeners     int     `json:"listeners"`
	Pushes        float64 `json:"pushes"`
	measure.Usage `json:"-"`
	apnsCPU       time.Duration // of the push service
}

type pushCosts struct {
	sends    []sendCost
	sink     measure.Usage // of many tokens, sent to a server that costs the client as little as it can
	pushers  []pusherCost
	channels []channelCost
	android  androidCost
}

func benchPush(ctx context.Context) (all pushCosts, err error) {
	apns, err := measure.StartAPNs()
	if err != nil {
		return all, err
	}
	defer apns.Close()

	sender, roots, err := openSender(apns.URL, apns.CA, apns.Key)
	if err != nil {
		return all, err
	}
	defer sender.Close()

	dial := apns2.DialTLS // apns2 has no other way to set the root certificates
	defer func() { apns2.DialTLS = dial }()

	apns2.DialTLS = func(network, addr string, cfg *tls.Config) (net.Conn, error) {
		cfg.RootCAs = roots
		return dial(network, addr, cfg)
	}
	client := apns2.NewTokenClient(&token.Token{AuthKey: apns.Key, KeyID: measure.KeyID, TeamID: measure.TeamID})
	client.Host = apns.URL

	for _, c := range []struct{ tokens, rounds int }{{few, 15}, {many, 3}} {
		measure.Say("%d pushes, beside apns2", c.tokens)

		cost, err := benchSend(ctx, apns, sender, client, c.tokens, c.rounds)
		if err != nil {
			return all, err
		}

		all.sends = append(all.sends, cost)
	}

	if all.sink, err = benchSink(ctx, apns); err != nil {
		return all, err
	}

	measure.Say("%d messages to Android phones, and a topic", many)

	if all.android, err = benchAndroid(ctx, apns, many, all.sink); err != nil {
		return all, err
	}

	measure.Say("a broadcast channel")

	for _, listeners := range []int{1, many} {
		cost, err := benchChannel(ctx, apns, sender, listeners)
		if err != nil {
			return all, err
		}

		all.channels = append(all.channels, cost)
	}

	all.pushers, err = benchPusher(ctx, apns)

	return all, err
}

// openSender returns a sender to endpoint, and what it trusts.
func openSender(endpoint string, ca []byte, key *ecdsa.PrivateKey) (*push.Sender, *x509.CertPool, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	s, err := push.Open(push.Config{
		Endpoint: endpoint, TeamID: measure.TeamID, KeyID: measure.KeyID, Bundle: measure.Bundle, Key: key, Now: time.Now, RootCAs: roots,
	})

	return s, roots, err
}

// benchSink measures our client where the push service does not slow it down.
func benchSink(ctx context.Context, apns *measure.APNs) (measure.Usage, error) {
	sender, _, err := openSender(apns.Sink, apns.SinkCA, apns.Key)
	if err != nil {
		return measure.Usage{}, err
	}
	defer sender.Close()

	m, err := message()
	if err != nil {
		return measure.Usage{}, err
	}

	to := measure.PushTokens(many)

	var spent []measure.Usage

	for range 5 {
		u, err := measure.Run(func() error { return sendOurs(ctx, sender, m, to) })
		if err != nil {
			return measure.Usage{}, err
		}

		spent = append(spent, u)
	}

	return measure.MedianUsage(spent), nil
}

// content has the size of a real state: a push of it has 700 bytes.
func content() map[string]string {
	return map[string]string{"text": strings.Repeat("India need 23 off 18 balls. ", 23)[:632]}
}

func message() (*push.Message, error) {
	return push.Update(push.State{Time: time.Now(), Content: content()})
}

// benchSend measures the two clients in turns and returns the medians.
func benchSend(ctx context.Context, apns *measure.APNs, sender *push.Sender, client *apns2.Client, n, rounds int) (sendCost, error) {
	to := measure.PushTokens(n)

	m, err := message()
	if err != nil {
		return sendCost{}, err
	}

	payload, err := json.Marshal(map[string]any{
		"aps": map[string]any{"timestamp": time.Now().Unix(), "event": "update", "content-state": content()},
	})
	if err != nil {
		return sendCost{}, err
	}

	if len(payload) != m.Bytes() {
		return sendCost{}, fmt.Errorf("apns2 sends %d bytes, want the %d of push.Sender", len(payload), m.Bytes())
	}

	clients := [2]func(to []string) error{
		func(to []string) error { return sendOurs(ctx, sender, m, to) },
		func(to []string) error { return sendPlain(client, payload, to) },
	}

	var spent [2][]measure.Usage

	for i, send := range clients { // to connect
		if err := send(to[:1]); err != nil {
			return sendCost{}, fmt.Errorf("client %d: %w", i, err)
		}
	}

	var served []time.Duration // CPU time of the push service for our client

	for range rounds {
		for i, send := range clients {
			if err := apns.Refresh(); err != nil {
				return sendCost{}, err
			}

			before := apns.CPU

			u, err := measure.Run(func() error { return send(to) })
			if err != nil {
				return sendCost{}, err
			}

			spent[i] = append(spent[i], u)

			if err := apns.Refresh(); err != nil {
				return sendCost{}, err
			}

			if i == 0 {
				served = append(served, apns.CPU-before)
			}
		}
	}

	return sendCost{n, measure.MedianUsage(spent[0]), measure.MedianUsage(spent[1]), measure.Median(served)}, nil
}

func sendOurs(ctx context.Context, sender *push.Sender, m *push.Message, to []string) error {
	counts, err := sender.Send(ctx, m, slices.Values(to), func(string, push.Outcome) {})
	if err == nil && counts.Delivered != len(to) {
		err = fmt.Errorf("of %d pushes: %+v", len(to), counts)
	}

	return err
}

// sendPlain sends by apns2 as its documentation shows it: one client, here with 64
// pushes in flight.
func sendPlain(client *apns2.Client, payload []byte, to []string) error {
	work := make(chan string)

	var (
		workers sync.WaitGroup
		mu      sync.Mutex
		failed  error
	)

	for range 64 {
		workers.Go(func() {
			for t := range work {
				r, err := client.Push(&apns2.Notification{
					DeviceToken: t, Topic: measure.Bundle + ".push-type.liveactivity",
					PushType: apns2.PushTypeLiveActivity, Priority: apns2.PriorityHigh, Payload: payload,
				})
				if err == nil && !r.Sent() {
					err = fmt.Errorf("apns2: %d %s", r.StatusCode, r.Reason)
				}

				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}

	for _, t := range to {
		work <- t
	}

	close(work)
	workers.Wait()

	return failed
}

// broadcasts is how many are measured together: one is too short to measure.
const broadcasts = 20

func benchChannel(ctx context.Context, apns *measure.APNs, sender *push.Sender, listeners int) (cost channelCost, err error) {
	channel, err := sender.CreateChannel(ctx, push.KeepNothing)
	if err != nil {
		return cost, err
	}

	if err := apns.Subscribe(channel, listeners); err != nil {
		return cost, err
	}

	m, err := message()
	if err != nil {
		return cost, err
	}

	delivered, cpu := apns.Delivered, apns.CPU

	spent, err := measure.Run(func() error {
		for range broadcasts {
			if err := sender.Broadcast(ctx, channel, m); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return cost, err
	}

	if err := apns.Refresh(); err != nil {
		return cost, err
	}

	return channelCost{
		Listeners: listeners, Pushes: float64(apns.Delivered-delivered) / broadcasts,
		Usage: spent.Per(broadcasts), apnsCPU: (apns.CPU - cpu) / broadcasts,
	}, sender.DeleteChannel(ctx, channel)
}

// benchPusher measures a message about a match, from the queue to the push service.
func benchPusher(ctx context.Context, apns *measure.APNs) ([]pusherCost, error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The world's clock begins half an hour ago and advances a minute for each
	// message. It must stay behind that of the push service, which accepts a provider
	// token for an hour.
	w, live, err := liveMatch(ctx, apns, dir, time.Now().Add(-30*time.Minute))
	if err != nil {
		return nil, err
	}
	defer w.Close()

	if err := w.pollPushes(ctx); err != nil {
		return nil, err
	}

	if err := w.drain(ctx); err != nil { // the messages of the tick, before there are subscriptions
		return nil, err
	}

	match := strconv.FormatInt(live.ID, 10)
	teams := []string{strconv.FormatInt(live.Local.ID, 10), strconv.FormatInt(live.Visitor.ID, 10), ""}
	all := measure.PushTokens(many)
	subscribed := 0

	var costs []pusherCost

	for _, c := range []struct{ n, rounds int }{{few, 5}, {many, 3}} {
		measure.Say("%d subscriptions through the whole pusher", c.n)

		if err := w.subscribe(ctx, match, teams, all[subscribed:c.n]); err != nil {
			return nil, err
		}

		subscribed = c.n
		if c.n == few {
			if _, err := w.pushed(ctx, apns, match, c.n); err != nil { // to connect
				return nil, err
			}
		}

		var rounds []pusherCost
		for range c.rounds {
			cost, err := w.pushed(ctx, apns, match, c.n)
			if err != nil {
				return nil, err
			}

			rounds = append(rounds, cost)
		}

		slices.SortFunc(rounds, func(a, b pusherCost) int { return cmp.Compare(a.Wall, b.Wall) })
		cost := rounds[len(rounds)/2]
		cost.Fastest = rounds[0].Wall
		costs = append(costs, cost)
	}

	return costs, nil
}

var (
	pushQueue = measure.Prefix + tables.ActivityQueue.Name
	partQueue = measure.Prefix + tables.PartQueue.Name
)

// pollPushes delivers the messages of the two queues to pushers of their own, one at a time to
// each, as Lambda does.
func (w *world) pollPushes(ctx context.Context) error {
	return w.pollWith(ctx, w.Env(), pushers)
}

// pollWith is pollPushes with pushers of an environment, so many of them for parts.
func (w *world) pollWith(ctx context.Context, env app.Env, parts int) error {
	open := func() (*activity.Pusher, error) { return activity.OpenPusher(ctx, env) }
	if err := poll(w, pushQueue, pushers, open, (*activity.Pusher).PushActivities); err != nil {
		return err
	}

	return poll(w, partQueue, parts, open, (*activity.Pusher).PushParts)
}

// poll delivers the messages of a queue to n services.
func poll[S, M any](w *world, queue string, n int, open func() (S, error), handle func(S, context.Context, M) error) error {
	idle := make(chan S, n)
	for range n {
		s, err := open()
		if err != nil {
			return err
		}

		idle <- s
	}

	return w.Queues.Poll(sqs.Mapping{Queue: queue, BatchSize: 1, MaxConcurrency: n},
		func(ctx context.Context, event []byte) ([]byte, error) {
			s := <-idle
			defer func() { idle <- s }()

			var e events.SQSEvent
			if err := json.Unmarshal(event, &e); err != nil {
				return nil, err
			}

			for _, r := range e.Records {
				var m M
				if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
					return nil, err
				}

				if err := handle(s, ctx, m); err != nil {
					return nil, err
				}
			}

			return nil, nil
		})
}

// pushDepth is the depth of the two queues together.
func (w *world) pushDepth() (messages, deleted int) {
	for _, queue := range []string{pushQueue, partQueue} {
		d := w.Queues.Depth(queue)
		messages += d.Visible + d.Delayed + d.InFlight
		deleted += d.Deleted
	}

	return messages, deleted
}

// drain returns once the queues are empty and no pusher works: the clock does not
// move before.
func (w *world) drain(ctx context.Context) error {
	return w.Sleep(ctx, w.Clock.Now().Add(time.Minute))
}

// pushed measures one message about the match: it sends the message and waits until
// all n subscriptions have been pushed to.
func (w *world) pushed(ctx context.Context, apns *measure.APNs, match string, n int) (cost pusherCost, err error) {
	body, err := json.Marshal(activity.MatchChanged{MatchID: match})
	if err != nil {
		return cost, err
	}

	if err := apns.Refresh(); err != nil {
		return cost, err
	}

	delivered, cpu := apns.Delivered, apns.CPU
	_, before := w.pushDepth()
	w.Reset()

	spent, err := measure.Run(func() error {
		if _, err := w.Queues.Send(pushQueue, sqs.Message{Body: string(body)}); err != nil {
			return err
		}

		return w.drain(ctx)
	})
	if err != nil {
		return cost, err
	}

	if err := apns.Refresh(); err != nil {
		return cost, err
	}

	left, deleted := w.pushDepth()
	cost = pusherCost{
		Subscriptions: n,
		Messages:      deleted - before,
		Counters:      w.Counts(),
		Usage:         spent,
		engine:        measure.Share(w.Waited(), spent.Wall),
	}

	cost.Pushes, cost.apnsCPU = float64(apns.Delivered-delivered), apns.CPU-cpu
	if cost.Pushes != float64(n) || left > 0 {
		return cost, fmt.Errorf("%v of %d subscriptions were pushed to; the queues hold %d messages", cost.Pushes, n, left)
	}

	return cost, nil
}

// subscribe stores activities of the match, a third of them for each perspective:
// that of either team, and the neutral one.
func (w *world) subscribe(ctx context.Context, match string, teams, tokens []string) error {
	db, table, now := w.DB(), spec.Table{Name: "cricket-activity-subscriptions"}, w.Clock.Now()

	all := make([]map[string]any, len(tokens))
	for i, t := range tokens {
		all[i] = map[string]any{
			"matchId": match, "pushToken": t, "userId": "7f6c1f0e-5d0a-4c5e-9b57-" + t[:12], "teamId": teams[i%len(teams)],
			"createdAt": now.UnixMilli(), "updatedAt": now.UnixMilli(), "expiresAt": now.Add(72 * time.Hour).Unix(),
		}
	}

	var g errgroup.Group
	for part := range slices.Chunk(all, (len(all)+3)/4) { // four writers
		g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: table}, part) })
	}

	return g.Wait()
}
