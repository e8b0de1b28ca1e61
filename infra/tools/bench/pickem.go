package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"

	"matchday/infra/testkit"
	"matchday/infra/tools/cost/price"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/pickem"
	"matchday/pkg/spec"
)

// pickemCosts are those of the pick'em room.
type pickemCosts struct {
	uses   []useCost
	scores []scoreCost
}

// useCost is a use of the room with so many members and 40 events, in this
// process: a screen, a save, or a job that finds nothing to do.
type useCost struct {
	What    string  `json:"what"`
	Members int     `json:"members"`
	Answer  float64 `json:"answer"` // bytes of it
	screen  bool
	counters
	capacity
	usage
}

// scoreCost is one event that is scored, of matches that all of so many members
// have predicted, each in a league, and with three events behind them.
type scoreCost struct {
	Members int `json:"members"`
	counters
	capacity
	usage
	engine float64 // the part of the time during which a call to the DynamoDB engine was open
}

// getHealth is the use that the others are compared with.
const getHealth = "get-health"

// capacity is what DynamoDB bills for calls, as the engine reckons it.
type capacity struct {
	Reads  float64 `json:"readUnits"`
	Writes float64 `json:"writeUnits"`
}

const (
	shows    = 40 // events of a year of screens
	cardSize = 10 // matches of each
	behind   = 3  // events of a year before the one that is scored
)

// yearsEnd is when the last event of the year is on.
var yearsEnd = time.Date(2026, 12, 27, 20, 0, 0, 0, time.UTC)

func benchPickem(ctx context.Context) (all pickemCosts, err error) {
	for _, c := range []struct{ members, rounds int }{{100, 15}, {1_000, 15}} {
		say("screens of %d members", c.members)
		uses, err := benchUses(ctx, c.members, c.rounds)
		if err != nil {
			return all, err
		}
		all.uses = append(all.uses, uses...)
	}
	for _, c := range []struct{ members, rounds int }{{1_000, 3}, {10_000, 1}} {
		say("an event of %d members is scored", c.members)
		cost, err := benchScore(ctx, c.members, c.rounds)
		if err != nil {
			return all, err
		}
		all.scores = append(all.scores, cost)
	}
	return all, nil
}

// benchUses measures each use in turns. The last event is open, and all others are
// scored. The caller has predicted all of them, and everybody the last two.
func benchUses(ctx context.Context, members, rounds int) ([]useCost, error) {
	w, err := newWorld(ctx, pickem.Room, yearsEnd.Add(-2*time.Hour))
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.crowd(ctx, members, shows-1, shows-2, "upcoming"); err != nil {
		return nil, err
	}
	var m meter
	uses := []struct {
		useCost
		fn     spec.Function
		target string
		body   string
		serve  func(app.Env) (handler, error)
	}{
		{useCost{What: getHealth}, pickem.GetHealthFunction, "/health", "", serving(pickem.GetHealthFunction, pickem.OpenEvents, (*pickem.Events).GetHealth)},
		{useCost{What: "list-events", screen: true}, pickem.ListEventsFunction, "/app/events", "", serving(pickem.ListEventsFunction, pickem.OpenEvents, (*pickem.Events).ListEvents)},
		{useCost{What: "get-standings", screen: true}, pickem.GetStandingsFunction, "/app/standings/2026", "", serving(pickem.GetStandingsFunction, pickem.OpenEvents, (*pickem.Events).GetStandings)},
		{useCost{What: "get-event", screen: true}, pickem.GetEventFunction, "/app/events/" + eventOf(shows-1), "", serving(pickem.GetEventFunction, pickem.OpenEvents, (*pickem.Events).GetEvent)},
		{useCost{What: "get-results", screen: true}, pickem.GetResultsFunction, "/app/events/" + eventOf(shows-2) + "/results", "", serving(pickem.GetResultsFunction, pickem.OpenEvents, (*pickem.Events).GetResults)},
		{useCost{What: "get-me", screen: true}, pickem.GetMeFunction, "/app/me", "", serving(pickem.GetMeFunction, pickem.OpenMembers, (*pickem.Members).GetMe)},
		{useCost{What: "put-predictions"}, pickem.PutPredictionsFunction, "/app/events/" + eventOf(shows-1) + "/predictions", predictions(7),
			serving(pickem.PutPredictionsFunction, pickem.OpenEvents, (*pickem.Events).PutPredictions)},
		{useCost{What: "lock-events"}, pickem.LockEventsFunction, "", "", func(env app.Env) (handler, error) {
			s, err := pickem.OpenEvents(ctx, env)
			return func(ctx context.Context, _ events.APIGatewayV2HTTPRequest) (out events.APIGatewayV2HTTPResponse, err error) {
				return out, s.LockEvents(ctx)
			}, err
		}},
	}
	var costs []useCost
	handlers, requests, spent := make([]handler, len(uses)), make([]events.APIGatewayV2HTTPRequest, len(uses)), make([][]usage, len(uses))
	for i, u := range uses {
		if route, ok := u.fn.On.(spec.Route); ok {
			requests[i] = testkit.Request(route.Method, u.target, userOf(members/2), u.body)
		}
		metered := w.env()
		metered.AWS = m.on(metered.AWS)
		handle, err := u.serve(metered)
		if err != nil {
			return nil, err
		}
		m.capacity = capacity{}
		out, err := handle(ctx, requests[i])
		if err != nil || out.StatusCode >= http.StatusMultipleChoices {
			return nil, fmt.Errorf("%s: %d %s %w", u.What, out.StatusCode, out.Body, err)
		}
		u.Members, u.capacity, u.Answer = members, m.capacity, float64(len(out.Body))
		costs = append(costs, u.useCost)
		if handlers[i], err = u.serve(w.env()); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i := range uses {
			w.reset()
			each, err := measure(func() error { _, err := handlers[i](ctx, requests[i]); return err })
			if err != nil {
				return nil, err
			}
			spent[i] = append(spent[i], each)
			if c := w.counts(); round == 0 || c.sum() < costs[i].sum() { // without what was tried again
				costs[i].counters = c
			}
		}
	}
	for i := range costs {
		costs[i].usage = median(spent[i])
	}
	return costs, nil
}

// handler answers as a function does.
type handler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

func serving[S, In, Out any](fn spec.Function, opener app.Opener[S], do func(S, context.Context, *In) (*Out, error)) func(app.Env) (handler, error) {
	return func(env app.Env) (handler, error) {
		s, err := opener(context.Background(), env)
		return httpapi.Lambda(fn, func(ctx context.Context, in *In) (*Out, error) { return do(s, ctx, in) }), err
	}
}

// benchScore has the last event scored, and scored again for results that were
// corrected since.
func benchScore(ctx context.Context, members, rounds int) (cost scoreCost, err error) {
	w, err := newWorld(ctx, pickem.Room, yearsEnd.Add(4*time.Hour))
	if err != nil {
		return cost, err
	}
	defer w.close()
	if err := w.crowd(ctx, members, behind, 0, "broadcast"); err != nil {
		return cost, err
	}
	var m meter
	metered := w.env()
	metered.AWS = m.on(metered.AWS)
	cost.Members = members
	var each []usage
	var engine []float64
	for round := range rounds + 1 {
		env := w.env()
		if round == 0 {
			env = metered
		}
		s, err := pickem.OpenScorer(ctx, env)
		if err != nil {
			return cost, err
		}
		if err := w.put(ctx, []item{eventRow(behind, "broadcast", cardSize+round), matchRow(behind, 0, round%2)}); err != nil {
			return cost, err
		}
		w.reset()
		spent, err := measure(func() error { return s.ScoreEvent(ctx, pickem.ScoreEvent{EventID: eventOf(behind)}) })
		if err != nil {
			return cost, err
		}
		if round == 0 { // to connect, too
			cost.capacity = m.capacity
			continue
		}
		each, engine, cost.counters = append(each, spent), append(engine, share(w.wire.waited, spent.wall)), w.counts()
		if n := cost.sum("TransactWriteItems"); n != float64(members) {
			return cost, fmt.Errorf("%v of %d members were scored", n, members)
		}
	}
	cost.usage, cost.engine = median(each), middle(engine, func(part float64) float64 { return part })
	return cost, nil
}

// dollars is what AWS charges for it, if Lambda takes as long as this machine.
func (c scoreCost) dollars(p price.List) float64 {
	memory := float64(pickem.ScoreEventFunction.Memory) / 1024
	return c.Reads*p.ReadUnit + c.Writes*p.WriteUnit + p.LambdaRequest + c.wall.Seconds()*memory*p.LambdaGBSecond + 3*p.SQSRequest
}

// meter has calls say what they are billed for, and adds it up.
type meter struct {
	mu sync.Mutex
	capacity
}

func (m *meter) on(cfg aws.Config) aws.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("meter", m.read), middleware.After)
	})
	return cfg
}

func (m *meter) read(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	const total = types.ReturnConsumedCapacityTotal
	switch in := in.Parameters.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = total
	case *dynamodb.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = total
	default:
		return middleware.InitializeOutput{}, middleware.Metadata{}, fmt.Errorf("nobody knows what a %T is billed for", in)
	}
	out, meta, err := next.HandleInitialize(ctx, in)
	if err != nil {
		return out, meta, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch out := out.Result.(type) {
	case *dynamodb.GetItemOutput:
		m.Reads += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.QueryOutput:
		m.Reads += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.UpdateItemOutput:
		m.Writes += *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.TransactWriteItemsOutput:
		for _, c := range out.ConsumedCapacity {
			m.Writes += *c.CapacityUnits
		}
	}
	return out, meta, err
}

// item is a row of the pick'em table.
type item map[string]any

func record(kind, pk, sk, gsiPK, gsiSK string, rest item) item {
	out := item{"type": kind, "PK": pk, "SK": sk, "GSI_PK": gsiPK, "GSI_SK": gsiSK}
	for k, v := range rest {
		out[k] = v
	}
	return out
}

func eventOf(n int) string {
	return yearsEnd.AddDate(0, 0, 7*(n+1-shows)).Format(time.DateOnly) + "-clash-of-tides"
}
func userOf(n int) string  { return fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n) }
func matchOf(n int) string { return fmt.Sprintf("05389aab-1f1b-44d0-9cfc-%012d", n) }

// predictions are picks of every match, as different as members' are.
func predictions(user int) string {
	var parts []string
	for i := range cardSize {
		parts = append(parts, fmt.Sprintf(`"%s":%d`, matchOf(i), user>>i&1))
	}
	return `{"predictions":{` + strings.Join(parts, ",") + `}}`
}

func eventRow(n int, state string, rev int) item {
	id := eventOf(n)
	starts := yearsEnd.AddDate(0, 0, 7*(n+1-shows))
	out := record("event", "EVENT", "EVENT#"+id, "EVENT#"+id, "EVENT", item{
		"id": id, "name": "Clash of Tides", "date": starts.Format("2006/01/02"), "startsAt": starts.Format(time.RFC3339), "lockAt": starts.Add(-time.Hour).Format(time.RFC3339),
		"state": state, "bonus": 25, "cardRev": cardSize, "resultsRev": 0, "scoredRev": 0,
	})
	if state != "upcoming" {
		out["resultsRev"], out["resultsAt"], out["scoringAt"] = rev, starts.Add(3*time.Hour).Format(time.RFC3339), starts.Add(3*time.Hour).Format(time.RFC3339)
	}
	if state == "scored" {
		out["scoredRev"] = rev
	}
	return out
}

func matchRow(event, n, result int) item {
	id := eventOf(event)
	return record("match", "EVENT#"+id, "MATCH#"+matchOf(n), "EVENT#"+id, fmt.Sprintf("MATCH#%02d", n+1), item{
		"id": matchOf(n), "name": "Tornado Tag Team", "championships": []string{"Tidal Tag Team Championship"}, "points": 25, "preshow": n == 0, "since": n + 1, "result": result,
		"teams": []item{
			{"name": "The Undertow", "champion": true, "members": []string{"Marlow Reef", "Kit Lagoon"}},
			{"name": "Salt and Iron", "members": []string{"Brine Carver", "Anchor Voss"}},
		},
	})
}

// crowd stores members, each in a league of ten, so many scored events, and one
// more in a state. All have predicted those from the first on; the member in the
// middle, who is the caller, has predicted the others too.
func (w *world) crowd(ctx context.Context, members, played, first int, state string) error {
	var rows []item
	for n := range played + 1 {
		if n < played {
			rows = append(rows, eventRow(n, "scored", cardSize))
		} else {
			rows = append(rows, eventRow(n, state, cardSize))
		}
		for i := range cardSize {
			m := matchRow(n, i, 0)
			if n == played && state == "upcoming" {
				delete(m, "result")
			}
			rows = append(rows, m)
		}
	}
	for u := range members {
		id, league := userOf(u), fmt.Sprintf("%026d", u/10)
		own, name := "USER#"+id, fmt.Sprintf("Member %05d", u)
		points := 100 * played
		rows = append(rows,
			record("user", own, "USER", "USER", own, item{"belongsto": own, "name": name, "rev": played}),
			record("member", own, "LEAGUE#"+league, "LEAGUE#"+league, "MEMBER#"+id, item{"leagueId": league, "leagueName": "The lads", "belongsto": own, "name": name, "joinedAt": "2026-01-01T12:00:00Z"}))
		for _, table := range []string{"", "#" + league} {
			partition := "STANDINGS#2026"
			if table != "" {
				partition = "STANDINGS" + table + "#2026"
			}
			rows = append(rows, record("standings", own, "STANDINGS#2026"+table, partition, fmt.Sprintf("SCORE#%05d#%s", points, id), item{
				"belongsto": own, "name": name, "points": points, "mcorrect": 4 * played, "eplayed": played, "lastEvent": eventOf(played - 1), "lastPoints": 100,
			}))
		}
		for n := range played + 1 {
			if n < first && u != members/2 {
				continue
			}
			picks := map[string]int{}
			for i := range cardSize {
				picks[matchOf(i)] = (u + n) >> i & 1
			}
			p := record("prediction", own, "EVENT#"+eventOf(n), "EVENT#"+eventOf(n), "SCORE#000#"+id, item{
				"eventId": eventOf(n), "belongsto": own, "predictions": picks, "cardRev": cardSize, "savedAt": "2026-01-01T12:00:00Z", "points": 0, "mcorrect": 0, "scoredRev": 0,
			})
			if n < played {
				p["GSI_SK"], p["name"], p["points"], p["mcorrect"], p["scoredAt"], p["scoredRev"] = "SCORE#100#"+id, name, 100, 4, "2026-01-01T12:00:00Z", cardSize
			}
			rows = append(rows, p)
		}
	}
	return w.put(ctx, rows)
}

func (w *world) put(ctx context.Context, rows []item) error {
	if len(pickem.Room.Tables) != 1 {
		return errors.New("the pick'em room has one table")
	}
	cfg := w.env().AWS
	cfg.HTTPClient = nil // its calls are not counted
	db := dynamo.Open(cfg, prefix)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for some := range slices.Chunk(rows, 500) {
		g.Go(func() error { return dynamo.PutAll(ctx, db, spec.Access{Table: pickem.Room.Tables[0]}, some) })
	}
	return g.Wait()
}
