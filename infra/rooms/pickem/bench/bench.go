// Package bench measures the pick'em room: its screens, a save, the job that locks
// events, and scoring.
package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/dynamodb"
	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/cost/price"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/spec"
)

// Suite is the room's part of the benchmark.
var Suite = measure.Suite{Run: run, Scale: scale}

// figures are all that is measured.
type figures struct {
	uses   []useCost
	scores []scoreCost
}

// useCost is one call of a function in this process, in a room with so many members
// and 40 events: a screen, a save, or a job that finds nothing to do.
type useCost struct {
	measure.Cost
	Members int  `json:"members"`
	ranked  bool // a screen whose cost must not grow with the members
}

// scoreCost is the scoring of one event. All of so many members have predicted its
// matches; each is in a league and has played three events before.
type scoreCost struct {
	Members int `json:"members"`
	measure.Counters
	measure.Capacity
	measure.Usage `json:"-"`
	engine        float64 // part of the time with a call to the DynamoDB engine in flight
}

// getHealth is the function that the others are compared with.
const getHealth = "get-health"

const (
	eventsOfYear = 40 // behind the screens
	cardSize     = 10 // matches of each event
	before       = 3  // events of the year before the one that is scored
)

// yearsEnd is when the last event of the year starts.
var yearsEnd = time.Date(2026, 12, 27, 20, 0, 0, 0, time.UTC)

func run(ctx context.Context) ([]measure.Row, any, error) {
	var f figures

	for _, c := range []struct{ members, rounds int }{{10, 15}, {10_000, 15}} {
		measure.Say("screens of %d members", c.members)

		uses, err := benchUses(ctx, c.members, c.rounds)
		if err != nil {
			return nil, nil, err
		}

		f.uses = append(f.uses, uses...)
	}

	for _, c := range []struct{ members, rounds int }{{1_000, 3}, {10_000, 1}} {
		measure.Say("an event of %d members is scored", c.members)

		cost, err := benchScore(ctx, c.members, c.rounds)
		if err != nil {
			return nil, nil, err
		}

		f.scores = append(f.scores, cost)
	}

	return f.rows(), map[string]any{"uses": f.uses, "scores": f.scores}, nil
}

// benchUses measures the functions in turns. The last event is open, all others are
// scored. The caller has predicted all of them, the other members the last two.
func benchUses(ctx context.Context, members, rounds int) ([]useCost, error) {
	w, err := measure.NewWorld(ctx, pickem.Room().Spec, clock.New(yearsEnd.Add(-2*time.Hour), clock.Free))
	if err != nil {
		return nil, err
	}
	defer w.Close()

	if err := seed(ctx, w, members, eventsOfYear-1, eventsOfYear-2, "upcoming"); err != nil {
		return nil, err
	}

	for n := range eventsOfYear - 2 {
		if err := rank(ctx, w, eventOf(n), userOf(members/2)); err != nil {
			return nil, err
		}
	}

	scorer, err := score.OpenScorer(ctx, w.Env())
	if err != nil {
		return nil, err
	}

	if err := scorer.ScoreEvent(ctx, score.Request{EventID: eventOf(eventsOfYear - 2)}); err != nil { // writes the other rankings
		return nil, err
	}

	uses := []struct {
		what         string
		fn           app.Function
		target, body string
		ranked       bool
	}{
		{getHealth, event.GetHealthFunction(), "/health", "", false},
		{"list-events", event.ListEventsFunction(), "/app/events", "", true},
		{"get-standings", league.GetStandingsFunction(), "/app/standings/2026", "", true},
		{"get-event", event.GetEventFunction(), "/app/events/" + eventOf(eventsOfYear-1), "", true},
		{"get-results", event.GetResultsFunction(), "/app/events/" + eventOf(eventsOfYear-2) + "/results", "", true},
		{"get-me", member.GetMeFunction(), "/app/me", "", true},
		{"put-predictions", event.PutPredictionsFunction(), "/app/events/" + eventOf(eventsOfYear-1) + "/predictions", predictions(7), false},
		{"lock-events", event.LockEventsFunction(), "", "", false},
	}

	var measured []measure.Use

	for _, u := range uses {
		var request events.APIGatewayV2HTTPRequest
		if route, ok := u.fn.On.(spec.Route); ok {
			request = measure.SignedRequest(route, u.target, userOf(members/2), u.body)
		}

		measured = append(measured, measure.Use{What: u.what, Open: warm(u.fn, request)})
	}

	costs, err := w.Uses(ctx, rounds, measured)
	if err != nil {
		return nil, err
	}

	all := make([]useCost, len(costs))
	for i, c := range costs {
		all[i] = useCost{c, members, uses[i].ranked}
	}

	return all, nil
}

// warm opens a function with a route, or a job, that was called before: a profile keeps for a minute
// what it shares with others.
func warm(fn app.Function, request events.APIGatewayV2HTTPRequest) func(context.Context, app.Env) (measure.Call, error) {
	open := measure.Ask(fn, measure.Same(request))

	return func(ctx context.Context, env app.Env) (measure.Call, error) {
		call, err := open(ctx, env)
		if err == nil {
			_, err = call(ctx)
		}

		return call, err
	}
}

// benchScore scores the last event, and scores it again after its results have been
// corrected.
func benchScore(ctx context.Context, members, rounds int) (cost scoreCost, err error) {
	w, err := measure.NewWorld(ctx, pickem.Room().Spec, clock.New(yearsEnd.Add(4*time.Hour), clock.Free))
	if err != nil {
		return cost, err
	}
	defer w.Close()

	if err := seed(ctx, w, members, before, 0, "broadcast"); err != nil {
		return cost, err
	}

	var m dynamodb.Meter

	metered := w.Env()
	metered.AWS = m.On(metered.AWS)
	cost.Members = members

	var (
		each   []measure.Usage
		engine []float64
	)

	for round := range rounds + 1 {
		env := w.Env()
		if round == 0 {
			env = metered
		}

		s, err := score.OpenScorer(ctx, env)
		if err != nil {
			return cost, err
		}

		if err := put(ctx, w, []item{eventRow(before, "broadcast", cardSize+round), matchRow(before, 0, round%2)}); err != nil {
			return cost, err
		}

		w.Reset()

		spent, err := measure.Run(func() error { return s.ScoreEvent(ctx, score.Request{EventID: eventOf(before)}) })
		if err != nil {
			return cost, err
		}

		if round == 0 { // this round is metered, and connects
			cost.Capacity = measure.Capacity(m.Take())
			continue
		}

		each, engine, cost.Counters = append(each, spent), append(engine, measure.Share(w.Waited(), spent.Wall)), w.Counts()
		if err := checkTransactions(cost.Sum("TransactWriteItems"), members); err != nil {
			return cost, err
		}
	}

	cost.Usage, cost.engine = measure.MedianUsage(each), measure.Median(engine)

	return cost, nil
}

// A scoring writes three items of each of batchSize members in a transaction, and reads readSize rows of the
// index at once.
const (
	batchSize = dynamo.MaxWrites / 3
	readSize  = 32 * batchSize
)

// transactions returns how many transactions score so many members, at least and at most. Each is full, except
// the last one of each read of the index. A correction moves the rows of members in the index, some of them to
// where they are read once more and left out: a read then has fewer members than rows. No row is read more than
// twice, because no member is scored twice.
func transactions(members int) (least, most int) {
	least = (members + batchSize - 1) / batchSize
	return least, least + (2*members+readSize-1)/readSize
}

// checkTransactions returns an error if a scoring of so many members has taken another number of transactions
// than it may.
func checkTransactions(n float64, members int) error {
	least, most := transactions(members)
	if n < float64(least) || n > float64(most) {
		return fmt.Errorf("%v transactions scored %d members, want %d to %d", n, members, least, most)
	}

	return nil
}

// dollars is what AWS charges for the scoring if Lambda takes as long as this machine.
func (c scoreCost) dollars(p price.List) float64 {
	memory := float64(score.ScoreEventFunction().Memory) / 1024
	return c.Reads*p.ReadUnit + c.Writes*p.WriteUnit + p.LambdaRequest + c.Wall.Seconds()*memory*p.LambdaGBSecond + 3*p.SQSRequest
}
