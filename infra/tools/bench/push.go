package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
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
	"matchday/pkg/cricket"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

const (
	few  = 1_000
	many = 100_000
	// pushers is how many environments of push-activities take messages at once.
	pushers = 4
)

// sendCost is one message to so many tokens, by our client and by apns2.
type sendCost struct {
	tokens      int
	ours, apns2 usage
	apple       time.Duration // CPU time of the push service for ours
}

// pusherCost is one changed match with so many subscriptions, through the queue
// and the Pusher.
type pusherCost struct {
	Subscriptions int `json:"subscriptions"`
	Messages      int `json:"messages"` // that the queue delivered
	counters
	usage
	engine float64       // the part of the time during which a call to the DynamoDB engine was open
	apple  time.Duration // CPU time of the push service meanwhile
}

// channelCost is one broadcast to so many listeners.
type channelCost struct {
	Listeners int     `json:"listeners"`
	Pushes    float64 `json:"pushes"`
	usage
	apple time.Duration // CPU time of the push service meanwhile
}

type pushCosts struct {
	sends    []sendCost
	pushers  []pusherCost
	channels []channelCost
}

func benchPush(ctx context.Context) (all pushCosts, err error) {
	a, err := startApple()
	if err != nil {
		return all, err
	}
	defer a.close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CA)
	sender, err := push.Open(push.Config{
		Endpoint: a.URL, TeamID: appleTeam, KeyID: appleKey, Bundle: appleBundle, Key: a.key, Now: time.Now, RootCAs: roots,
	})
	if err != nil {
		return all, err
	}
	defer sender.Close()
	dial := apns2.DialTLS // the only way to tell apns2 whom to trust
	defer func() { apns2.DialTLS = dial }()
	apns2.DialTLS = func(network, addr string, cfg *tls.Config) (net.Conn, error) {
		cfg.RootCAs = roots
		return dial(network, addr, cfg)
	}
	client := apns2.NewTokenClient(&token.Token{AuthKey: a.key, KeyID: appleKey, TeamID: appleTeam})
	client.Host = a.URL

	for _, c := range []struct{ tokens, rounds int }{{few, 15}, {many, 3}} {
		say("%d pushes, beside apns2", c.tokens)
		cost, err := benchSend(ctx, a, sender, client, c.tokens, c.rounds)
		if err != nil {
			return all, err
		}
		all.sends = append(all.sends, cost)
	}
	say("a broadcast channel")
	for _, listeners := range []int{1, many} {
		cost, err := benchChannel(ctx, a, sender, listeners)
		if err != nil {
			return all, err
		}
		all.channels = append(all.channels, cost)
	}
	all.pushers, err = benchPusher(ctx, a)
	return all, err
}

// tokens are n push tokens, the same every time.
func tokens(n int) []string {
	all := make([]string, n)
	for i := range all {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		all[i] = hex.EncodeToString(sum[:])
	}
	return all
}

// content has the size of a real state: with it a push is 700 bytes.
func content() map[string]string {
	return map[string]string{"text": strings.Repeat("India need 23 off 18 balls. ", 23)[:632]}
}

func message() (*push.Message, error) {
	return push.Update(push.State{Time: time.Now(), Content: content()})
}

// benchSend alternates the two clients, and takes the medians.
func benchSend(ctx context.Context, a *apple, sender *push.Sender, client *apns2.Client, n, rounds int) (sendCost, error) {
	to := tokens(n)
	m, err := message()
	if err != nil {
		return sendCost{}, err
	}
	payload, err := json.Marshal(map[string]any{"aps": map[string]any{"timestamp": time.Now().Unix(), "event": "update", "content-state": content()}})
	if err != nil {
		return sendCost{}, err
	}
	if len(payload) != m.Bytes() {
		return sendCost{}, fmt.Errorf("apns2 sends %d bytes, and we send %d", len(payload), m.Bytes())
	}
	clients := [2]func(to []string) error{
		func(to []string) error { return sendOurs(ctx, sender, m, to) },
		func(to []string) error { return sendPlain(client, payload, to) },
	}
	var spent [2][]usage
	for i, send := range clients { // to connect
		if err := send(to[:1]); err != nil {
			return sendCost{}, fmt.Errorf("client %d: %w", i, err)
		}
	}
	var theirs []time.Duration // CPU time of the push service for ours
	for range rounds {
		for i, send := range clients {
			if err := a.tell(order{}); err != nil {
				return sendCost{}, err
			}
			before := a.CPU
			u, err := measure(func() error { return send(to) })
			if err != nil {
				return sendCost{}, err
			}
			spent[i] = append(spent[i], u)
			if err := a.tell(order{}); err != nil {
				return sendCost{}, err
			}
			if i == 0 {
				theirs = append(theirs, a.CPU-before)
			}
		}
	}
	return sendCost{n, median(spent[0]), median(spent[1]), middle(theirs, itself)}, nil
}

func sendOurs(ctx context.Context, sender *push.Sender, m *push.Message, to []string) error {
	counts, err := sender.Send(ctx, m, slices.Values(to), func(string, push.Outcome) {})
	if err == nil && counts.Delivered != len(to) {
		err = fmt.Errorf("of %d pushes: %+v", len(to), counts)
	}
	return err
}

// sendPlain is apns2 as its documentation uses it: one client, and here 64
// pushes in flight.
func sendPlain(client *apns2.Client, payload []byte, to []string) error {
	work := make(chan string)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 64 {
		workers.Go(func() {
			for t := range work {
				r, err := client.Push(&apns2.Notification{
					DeviceToken: t, Topic: appleBundle + ".push-type.liveactivity",
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

// broadcasts is how many are measured together: one is too short.
const broadcasts = 20

func benchChannel(ctx context.Context, a *apple, sender *push.Sender, listeners int) (cost channelCost, err error) {
	channel, err := sender.CreateChannel(ctx, push.KeepNothing)
	if err != nil {
		return cost, err
	}
	if err := a.tell(order{Channel: channel, Listeners: listeners}); err != nil {
		return cost, err
	}
	m, err := message()
	if err != nil {
		return cost, err
	}
	before := a.report
	spent, err := measure(func() error {
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
	if err := a.tell(order{}); err != nil {
		return cost, err
	}
	return channelCost{
		Listeners: listeners, Pushes: float64(a.Delivered-before.Delivered) / broadcasts,
		usage: spent.per(broadcasts), apple: (a.CPU - before.CPU) / broadcasts,
	}, sender.DeleteChannel(ctx, channel)
}

// benchPusher measures a message about a match, from the queue to Apple.
func benchPusher(ctx context.Context, a *apple) ([]pusherCost, error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// Half an hour back, so that the virtual clock, which moves on by a minute for
	// each message, stays behind Apple's: a provider token is good for an hour.
	w, err := newWorld(ctx, cricket.Room, time.Now().Add(-30*time.Minute))
	if err != nil {
		return nil, err
	}
	defer w.close()
	if w.apple, err = a.settings(dir); err != nil {
		return nil, err
	}
	matches, err := w.play(ctx, 1, played)
	if err != nil {
		return nil, err
	}
	ticker, err := cricket.OpenTicker(ctx, w.env())
	if err != nil {
		return nil, err
	}
	if _, err := w.tick(ctx, ticker); err != nil {
		return nil, err
	}
	if err := w.pollPushes(ctx); err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil { // what the tick sent, before anybody is subscribed
		return nil, err
	}
	match := strconv.FormatInt(matches[0].ID, 10)
	fans := []string{strconv.FormatInt(matches[0].Local.ID, 10), strconv.FormatInt(matches[0].Visitor.ID, 10), ""}
	all := tokens(many)
	subscribed := 0
	var costs []pusherCost
	for _, c := range []struct{ n, rounds int }{{few, 5}, {many, 3}} {
		say("%d subscriptions through the whole pusher", c.n)
		if err := w.subscribe(ctx, match, fans, all[subscribed:c.n]); err != nil {
			return nil, err
		}
		subscribed = c.n
		if c.n == few {
			if _, err := w.pushed(ctx, a, match, c.n); err != nil { // to connect
				return nil, err
			}
		}
		var rounds []pusherCost
		for range c.rounds {
			cost, err := w.pushed(ctx, a, match, c.n)
			if err != nil {
				return nil, err
			}
			rounds = append(rounds, cost)
		}
		slices.SortFunc(rounds, func(a, b pusherCost) int { return cmp.Compare(a.wall, b.wall) })
		cost := rounds[len(rounds)/2]
		cost.fastest = rounds[0].wall
		costs = append(costs, cost)
	}
	return costs, nil
}

const pushQueue = prefix + "cricket-push-activities"

// pollPushes gives the messages of the queue to pushers, one each at a time, as
// Lambda does.
func (w *world) pollPushes(ctx context.Context) error {
	idle := make(chan *cricket.Pusher, pushers)
	for range pushers {
		p, err := cricket.OpenPusher(ctx, w.env())
		if err != nil {
			return err
		}
		idle <- p
	}
	return w.queues.Poll(sqs.Mapping{Queue: pushQueue, BatchSize: 1, MaxConcurrency: pushers}, func(ctx context.Context, event []byte) ([]byte, error) {
		p := <-idle
		defer func() { idle <- p }()
		var e events.SQSEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}
		for _, r := range e.Records {
			var m cricket.MatchChanged
			if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
				return nil, err
			}
			if err := p.PushActivities(ctx, m); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// drain returns once the queue is empty, and no pusher works: only then the
// clock moves.
func (w *world) drain(ctx context.Context) error {
	return w.sleep(ctx, w.clock.Now().Add(time.Minute))
}

// pushed has everybody pushed the match's present state, and waits until the
// queue is empty.
func (w *world) pushed(ctx context.Context, a *apple, match string, n int) (cost pusherCost, err error) {
	body, err := json.Marshal(cricket.MatchChanged{MatchID: match})
	if err != nil {
		return cost, err
	}
	if err := a.tell(order{}); err != nil {
		return cost, err
	}
	delivered, spentByApple, deleted := a.Delivered, a.CPU, w.queues.Depth(pushQueue).Deleted
	w.reset()
	spent, err := measure(func() error {
		if _, err := w.queues.Send(pushQueue, sqs.Message{Body: string(body)}); err != nil {
			return err
		}
		return w.drain(ctx)
	})
	if err != nil {
		return cost, err
	}
	if err := a.tell(order{}); err != nil {
		return cost, err
	}
	after := w.queues.Depth(pushQueue)
	cost = pusherCost{Subscriptions: n, Messages: after.Deleted - deleted, counters: w.counts(), usage: spent, engine: share(w.wire.waited, spent.wall)}
	cost.Pushes, cost.apple = float64(a.Delivered-delivered), a.CPU-spentByApple
	if cost.Pushes != float64(n) || after.Visible+after.Delayed+after.InFlight > 0 {
		return cost, fmt.Errorf("of %d subscriptions %v were pushed to, and the queue holds %+v", n, cost.Pushes, after)
	}
	return cost, nil
}

// subscribe stores activities of the match, a third of them each fan's.
func (w *world) subscribe(ctx context.Context, match string, fans, tokens []string) error {
	db, table, now := w.db(), spec.Table{Name: "cricket-activity-subscriptions"}, w.clock.Now()
	all := make([]map[string]any, len(tokens))
	for i, t := range tokens {
		all[i] = map[string]any{
			"matchId": match, "pushToken": t, "userId": "7f6c1f0e-5d0a-4c5e-9b57-" + t[:12], "teamId": fans[i%len(fans)],
			"createdAt": now.UnixMilli(), "updatedAt": now.UnixMilli(), "expiresAt": now.Add(72 * time.Hour).Unix(),
		}
	}
	var g errgroup.Group
	for part := range slices.Chunk(all, (len(all)+3)/4) { // four writers
		g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: table}, part) })
	}
	return g.Wait()
}
