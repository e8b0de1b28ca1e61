package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"matchday/infra/sim/clock"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/spec"
)

// grown is an event that is scored among so many members, in messages, and screens after that.
type grown struct {
	members  int
	messages int
	waited   time.Duration // of the clock, for the pace of the writes
	heap     float64       // bytes of live objects and those not yet collected, at most
	measure.Counters
	measure.Usage
	screens []measure.Cost
}

// scale measures an event and screens among a tenth of the members, and among all.
func scale(ctx context.Context, members int) ([]measure.Row, error) {
	var all []grown

	for _, n := range []int{max(members/10, 1), members} {
		measure.Say("%d members", n)

		g, err := grow(ctx, n)
		if err != nil {
			return nil, err
		}

		all = append(all, g)
	}

	return growthRows(all), nil
}

// grow scores an event that so many members have predicted, who have played one event before.
func grow(ctx context.Context, members int) (g grown, err error) {
	w, err := measure.NewWorld(ctx, pickem.Room().Spec, clock.New(yearsEnd.Add(4*time.Hour), clock.Free))
	if err != nil {
		return g, err
	}
	defer w.Close()

	if err := seed(ctx, w, members, 1, 0, "broadcast"); err != nil {
		return g, err
	}

	s, err := score.OpenScorer(ctx, w.Env())
	if err != nil {
		return g, err
	}

	measure.Say("%d members are stored", members)
	runtime.GC()
	w.Reset()

	stop := make(chan struct{})
	peak := sampleHeap(stop)
	began := w.Clock.Now()

	g.members = members
	g.Usage, err = measure.Run(func() (err error) {
		g.messages, err = scoreAll(ctx, w, s, score.Request{EventID: eventOf(1)})
		return err
	})

	close(stop)

	g.heap, g.waited, g.Counters = <-peak, w.Clock.Now().Sub(began), w.Counts()
	if err != nil {
		return g, err
	}

	g.screens, err = screens(ctx, w, members)

	return g, err
}

// scoreAll handles a message and its successors, and returns their number.
func scoreAll(ctx context.Context, w *measure.World, s *score.Scorer, first score.Request) (messages int, err error) {
	client, url := sqs.NewFromConfig(w.Env().AWS), aws.String(w.Queues.URL(measure.Prefix)+score.Queue.Name)

	for messages = 1; ; messages++ {
		if err := s.ScoreEvent(ctx, first); err != nil {
			return messages, err
		}

		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 1})
		if err != nil || len(out.Messages) == 0 {
			return messages, err
		}

		next := out.Messages[0]
		if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: next.ReceiptHandle}); err != nil {
			return messages, err
		}

		first = score.Request{}
		if err := json.Unmarshal([]byte(*next.Body), &first); err != nil {
			return messages, err
		}
	}
}

// sampleHeap returns a channel with the largest heap until stop is closed.
func sampleHeap(stop <-chan struct{}) <-chan float64 {
	out := make(chan float64, 1)

	go func() {
		most, sample := 0.0, []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(20 * time.Millisecond)

		defer tick.Stop()

		for {
			metrics.Read(sample)
			most = max(most, float64(sample[0].Value.Uint64()))

			select {
			case <-stop:
				out <- most
				return
			case <-tick.C:
			}
		}
	}()

	return out
}

// screens measures the screens whose cost must not grow.
func screens(ctx context.Context, w *measure.World, members int) ([]measure.Cost, error) {
	var uses []measure.Use

	for _, u := range []struct {
		what, target string
		fn           app.Function
	}{
		{"get-standings", "/app/standings/2026", league.GetStandingsFunction()},
		{"get-results", "/app/events/" + eventOf(1) + "/results", event.GetResultsFunction()},
		{"get-me", "/app/me", member.GetMeFunction()},
	} {
		request := measure.SignedRequest(u.fn.On.(spec.Route), u.target, userOf(members/2), "")
		uses = append(uses, measure.Use{What: u.what, Open: warm(u.fn, request)})
	}

	return w.Uses(ctx, 15, uses)
}

// growthRows are the rows of the numbers of members, and the ratios of the last to the first.
func growthRows(all []grown) (rows []measure.Row) {
	for _, g := range all {
		name := "pick'em, " + measure.Counted(g.members, "member") + ", "

		r := measure.RowOf(name+"an event scored", g.Usage, g.Sum())
		r.Compared = fmt.Sprintf("%s; %s", measure.Rate(float64(g.members), g.Wall), measure.Counted(g.messages, "message"))
		r.Details = fmt.Sprintf("%s; a member: %s of CPU; the pace of the writes takes %v; %.0f MB of heap at most", g.Counters,
			measure.Short(g.CPU/time.Duration(g.members)), g.waited.Round(time.Second), g.heap/1e6)
		rows = append(rows, r)

		for _, c := range g.screens {
			r := c.Row(name, c)
			r.Compared, r.Target, r.Met = c.Capacity.String(), "≤ 4 read units", c.Reads <= 4
			rows = append(rows, r)
		}
	}

	first, last := all[0], all[len(all)-1]
	n := float64(last.members) / float64(first.members)
	among := measure.Grouped(float64(last.members)) + " v. " + measure.Grouped(float64(first.members))

	return append(rows,
		measure.RatioRow("  CPU of one among "+among, measure.Share(last.CPU, first.CPU)/n, measure.Linear),
		measure.Row{ // no target: it is the engine's, which slows down with its file
			Name: "  time of one among " + among, Compared: fmt.Sprintf("× %.2f", measure.Share(last.Wall, first.Wall)/n),
		},
		measure.RatioRow("  calls for one among "+among, last.Sum()/first.Sum()/n, measure.Linear),
		measure.Row{
			Name: "  heap among " + among, Compared: fmt.Sprintf("× %.2f", last.heap/first.heap), Target: "≤ 200 MB", Met: last.heap <= 200e6,
		})
}
