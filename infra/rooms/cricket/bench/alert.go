package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/infra/sim/sqs"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// alertCost is one alert of a match with so many members in its audience, from the queue to the push service.
type alertCost struct {
	Members  int `json:"members"`
	Messages int `json:"messages"` // that the queue delivered
	measure.Counters
	measure.Usage `json:"-"`
	apnsCPU       time.Duration // of the push service
}

// alerters is the number of concurrent environments of send-alerts.
const alerters = 4

var alertQueue = measure.Prefix + tables.AlertQueue.Name

// benchAlerts measures an alert of a match: half of the audience follows the match, and half its league.
func benchAlerts(ctx context.Context) ([]alertCost, error) {
	apns, err := measure.StartAPNs()
	if err != nil {
		return nil, err
	}
	defer apns.Close()

	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	w, live, err := liveMatch(ctx, apns, dir, time.Now().Add(-30*time.Minute)) // as in benchPusher
	if err != nil {
		return nil, err
	}
	defer w.Close()

	open := func() (*alert.Alerter, error) { return alert.OpenAlerter(ctx, w.Env()) }
	if err := poll(w, alertQueue, alerters, open, (*alert.Alerter).SendAlert); err != nil {
		return nil, err
	}

	if err := w.drain(ctx); err != nil { // the alerts of the tick, before there is an audience
		return nil, err
	}

	match, league := strconv.FormatInt(live.ID, 10), strconv.FormatInt(live.League.ID, 10)
	all := measure.PushTokens(many)
	members := 0

	var costs []alertCost

	for _, n := range []int{few, many} {
		measure.Say("an alert to %d", n)

		if err := w.follow(ctx, match, league, all[members:n]); err != nil {
			return nil, err
		}

		members = n

		cost, err := w.alerted(ctx, apns, match, n)
		if err != nil {
			return nil, err
		}

		costs = append(costs, cost)
	}

	return costs, nil
}

// follow stores users with a phone each: half of them follow the match, the others its league.
func (w *world) follow(ctx context.Context, match, league string, tokens []string) error {
	db, now := w.DB(), w.Clock.Now()

	var (
		phones  []follower.DeviceRow
		follows []follower.FollowRow
		leagues []follower.SubscriptionRow
	)

	for i, token := range tokens {
		user := "7f6c1f0e-5d0a-4c5e-9b57-" + token[:12]
		phones = append(phones, follower.DeviceRow{
			UserID: user, DeviceToken: token, OSMajor: 18, Phone: push.Phone{Platform: "ios", Environment: "production", Catalogue: 1},
			UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
		})

		if i%2 == 0 {
			follows = append(follows, follower.FollowRow{
				Follow: follower.Follow{MatchID: match, UserID: user}, CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(72 * time.Hour).Unix(),
			})
		} else {
			leagues = append(leagues, follower.SubscriptionRow{
				Subject: follower.SubjectOf(follower.League, league), UserID: user, CreatedAt: now.UnixMilli(),
			})
		}
	}

	var g errgroup.Group
	g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: tables.Devices}, phones) })
	g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: tables.Follows}, follows) })
	g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: tables.Subscribers}, leagues) })

	return g.Wait()
}

// alerted measures one alert: it sends the message and waits until all n members have got it.
func (w *world) alerted(ctx context.Context, apns *measure.APNs, match string, n int) (cost alertCost, err error) {
	body, err := json.Marshal(alert.Alert{
		MatchID: match, Key: fmt.Sprint("S1:bench", n), Kind: event.Wicket, Match: "Harbour v Valley",
		Title: "Wicket! Harbour 7/1 (1.2)", Body: "A Batter b A Bowler 3 (5)", At: w.Clock.Now().Unix(),
	})
	if err != nil {
		return cost, err
	}

	if err := apns.Refresh(); err != nil {
		return cost, err
	}

	delivered, cpu, before := apns.Delivered, apns.CPU, w.Queues.Depth(alertQueue).Deleted
	w.Reset()

	spent, err := measure.Run(func() error {
		if _, err := w.Queues.Send(alertQueue, sqs.Message{Body: string(body)}); err != nil {
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

	cost = alertCost{
		Members: n, Messages: w.Queues.Depth(alertQueue).Deleted - before, Counters: w.Counts(), Usage: spent, apnsCPU: apns.CPU - cpu,
	}

	if cost.Pushes = float64(apns.Delivered - delivered); cost.Pushes != float64(n) {
		return cost, fmt.Errorf("%v of %d members got the alert", cost.Pushes, n)
	}

	return cost, nil
}

// alertCalls is how many calls of DynamoDB a member may cost: one for the phones, and one for the preferences of a hundred.
// Each costs half a read unit a row.
const alertCalls = 1.05

func alertRows(costs []alertCost) (rows []measure.Row) {
	for _, c := range costs {
		n := float64(c.Members)
		r := measure.RowOf(fmt.Sprintf("%s members told by send-alerts", measure.Grouped(n)), c.Usage, c.Sum()+c.SQS+c.Pushes)
		r.Compared = measure.Rate(n, c.Wall)
		r.Details = fmt.Sprintf("half of them follow the match, half its league; a member: %.1f µs of CPU, %.1f allocs, %.3f calls of DynamoDB; "+
			"%s; %s; the CPU is ours with the simulated SQS; %s of CPU by the phones", c.CPU.Seconds()*1e6/n, float64(c.Allocs)/n, c.Sum()/n,
			c.Counters, measure.Counted(c.Messages, "message"), measure.Short(c.apnsCPU))

		if c.Members == many {
			r.Target, r.Met = fmt.Sprintf("≤ %.2f calls of DynamoDB each", alertCalls), c.Sum() <= alertCalls*n
		}

		rows = append(rows, r)
	}

	return rows
}
