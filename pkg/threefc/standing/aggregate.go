package standing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/outbox"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// Sort keys of what is computed of a season, or their prefixes.
const (
	TeamRows = "STANDING#"
	Leaders  = "LEADERS" // the players with most goals, at most maxLeaders
)

const maxLeaders = 100

// Finished is the message that a game is finished.
type Finished struct {
	GameID string `json:"gameId"`
}

// FinishQueue receives Finished.
var FinishQueue = spec.Queue{Name: "threefc-finished", MaxReceiveCount: 10, Batch: 1, Concurrency: 5}

// Aggregator computes tables.
type Aggregator struct {
	db    dynamo.DB
	now   func() time.Time
	queue queue.Sender
}

// Open opens the aggregator.
func Open(_ context.Context, env app.Env) (*Aggregator, error) {
	return &Aggregator{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now, queue: queue.Open(env.AWS, env.Queues)}, nil
}

// AggregateSeasonFunction computes the standings and the players' numbers of a season from its
// finished games.
func AggregateSeasonFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/aggregate-season",
		Does:   "Computes the standings and the players' numbers of a season from its finished games.",
		IfDown: "The standings are old.",
		On:     game.AggregateQueue,
		Uses:   []spec.Access{tables.GetSeason, tables.ReadSeason, tables.ReadPlayers, tables.SaveTables, tables.TakeOutbox, tables.GetGame},
		Sends:  []spec.Queue{FinishQueue},
		Memory: 512, Timeout: time.Minute,
	}, Open, (*Aggregator).AggregateSeason)
}

// AggregateSeason computes the tables of a season, then sends Finished for the game of the message,
// and removes the game from the outbox. A second run computes the same tables and writes nothing.
// The queue runs one at a time for a season.
func (s *Aggregator) AggregateSeason(ctx context.Context, in game.Changed) error {
	// The outbox is read before the games: a change after they were read stays in it.
	due, waits, err := dynamo.Get[item.Row[item.Outbox]](ctx, s.db, tables.TakeOutbox, item.OutboxKey, item.GameKey(in.GameID))
	if err != nil {
		return err
	}

	season, err := item.Read[item.Season](ctx, s.db, tables.GetSeason, item.SeasonKey(in.SeasonID), item.Metadata, errNoSeason)
	if err == nil {
		err = s.compute(ctx, *season.V())
	}

	if err != nil && !errors.Is(err, errNoSeason) {
		return err
	}

	if !waits {
		return nil
	}

	return s.deliver(ctx, due)
}

var errNoSeason = errors.New("the season was deleted")

// compute writes what has changed of the tables of a season.
func (s *Aggregator) compute(ctx context.Context, season item.Season) error {
	pk := item.SeasonKey(season.ID)

	rows, err := item.List[item.Listing](ctx, s.db, tables.ReadSeason, pk, item.Games)
	if err != nil {
		return err
	}

	games := gamesOf(rows)

	var ids []string
	for _, g := range games {
		ids = slices.AppendSeq(ids, maps.Keys(g.Players))
	}

	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })

	who, err := item.ReadPlayers(ctx, s.db, tables.ReadPlayers, ids)
	if err != nil {
		return err
	}

	want := map[string]any{} // by sort key
	for _, t := range Teams(games, season.TableRules()) {
		want[TeamRows+t.TeamID] = t
	}

	scorers := Players(games, who)
	for _, p := range scorers {
		want[item.PlayerStats+p.PlayerID] = p
	}

	if len(scorers) > 0 {
		want[Leaders] = scorers[:min(len(scorers), maxLeaders)]
	}

	have, err := s.computed(ctx, pk)
	if err != nil {
		return err
	}
	// The copies under the players are not read. They are written before what they are copies
	// of, so that a second run writes again what a crash has left out.
	var puts, drops [2][]item.Any

	for sk, v := range want {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode %s: %w", sk, err)
		}

		if have[sk] == string(text) {
			continue
		}

		puts[1] = append(puts[1], item.New(pk, sk, "Table", json.RawMessage(text), s.now()))
		if id, ok := strings.CutPrefix(sk, item.PlayerStats); ok {
			puts[0] = append(puts[0], item.New(item.PlayerKey(id), item.Stats+season.ID, "PlayerSeason", json.RawMessage(text), s.now()))
		}
	}

	for sk := range have {
		if _, ok := want[sk]; ok {
			continue
		}

		drops[1] = append(drops[1], item.Any{PK: pk, SK: sk})
		if id, ok := strings.CutPrefix(sk, item.PlayerStats); ok {
			drops[0] = append(drops[0], item.Any{PK: item.PlayerKey(id), SK: item.Stats + season.ID})
		}
	}

	for i := range puts {
		if err := dynamo.PutAll(ctx, s.db, tables.SaveTables, puts[i]); err != nil {
			return err
		}

		var keys []dynamo.Item
		for _, r := range drops[i] {
			keys = append(keys, item.Key(r.PK, r.SK))
		}

		if err := dynamo.DeleteAll(ctx, s.db, tables.SaveTables, keys); err != nil {
			return err
		}
	}

	return nil
}

// gamesOf returns the games of the rows of a season whose sort keys begin with item.Games, each with what its players
// have done. The tallies are those of the same revision: if a change of the game came between the reads of its two
// rows, its players count when the tables are computed for that change. A game that no release since the tallies have
// rows of their own has changed has them in its listing.
func gamesOf(rows []item.Row[item.Listing]) (games []item.Listing) {
	at := map[string]int{} // by the game's id

	for i, r := range rows {
		if !strings.HasPrefix(r.SK, item.Tallied) { // these come first
			at[r.V().GameID] = i
			games = append(games, *r.V())

			continue
		}

		if of, ok := at[r.V().GameID]; ok && rows[of].Rev == r.Rev {
			games[of].Players = r.V().Players
		}
	}

	return games
}

// computed returns what the tables of a season are now, as JSON, by sort key.
func (s *Aggregator) computed(ctx context.Context, pk string) (map[string]string, error) {
	have := map[string]string{}

	for _, prefix := range []string{TeamRows, item.PlayerStats, Leaders} {
		rows, err := item.List[json.RawMessage](ctx, s.db, tables.ReadSeason, pk, prefix)
		if err != nil {
			return nil, err
		}

		for _, r := range rows {
			have[r.SK] = string(r.Data.Value)
		}
	}

	return have, nil
}

// deliver sends Finished for a game in the outbox, if it is finished, and removes the game unless
// it has changed since it was read.
func (s *Aggregator) deliver(ctx context.Context, row item.Row[item.Outbox]) error {
	return outbox.Deliver(func() error {
		id := row.V().GameID

		g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.db, tables.GetGame, item.GameKey(id), item.Metadata)
		if err != nil || !ok || g.Status != item.Finished {
			return err
		}

		return s.queue.Send(ctx, FinishQueue, Finished{id}, 0)
	}, func() error {
		same := dynamo.Equal[item.Row[item.Outbox]]("data", row.Data)
		_, err := dynamo.Delete(ctx, s.db, tables.TakeOutbox, item.Key(row.PK, row.SK), same)

		return err
	})
}

// SweepOutboxFunction requests the standings for finished games and renamed players whose message was lost.
func SweepOutboxFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "threefc/sweep-outbox",
		Does:   "Has the standings computed for finished games and renamed players whose message was lost.",
		IfDown: "After a failure the standings stay old until the next game, and show names that were changed or hidden.",
		On:     spec.Schedule("rate(5 minutes)"),
		Uses:   []spec.Access{tables.ReadOutbox, tables.ListSeasons, tables.TakeOutbox}, Sends: []spec.Queue{game.AggregateQueue},
		Memory: 128, Timeout: 30 * time.Second,
	}, Open, (*Aggregator).SweepOutbox)
}

// SweepOutbox requests the tables of games and of players that have been in the outbox for more than a
// minute, because the message was lost. A second run requests them once more, which changes nothing.
func (s *Aggregator) SweepOutbox(ctx context.Context) error {
	if err := s.sweepGames(ctx); err != nil {
		return err
	}

	return s.sweepPlayers(ctx)
}

// sweepGames requests the tables of games, and of seasons with other rules.
func (s *Aggregator) sweepGames(ctx context.Context) error {
	rows, err := item.List[item.Outbox](ctx, s.db, tables.ReadOutbox, item.OutboxKey, item.Games)
	if err != nil {
		return err
	}

	for _, r := range rows {
		if !s.isLost(r.UpdatedAt) {
			continue
		}

		o := r.V()
		if err := s.queue.SendFIFO(ctx, game.AggregateQueue, o.SeasonID, game.Changed{SeasonID: o.SeasonID, GameID: o.GameID}); err != nil {
			return err
		}
	}

	return nil
}

// sweepPlayers requests the tables that contain renamed players.
func (s *Aggregator) sweepPlayers(ctx context.Context) error {
	rows, err := item.List[item.Renamed](ctx, s.db, tables.ReadOutbox, item.OutboxKey, item.Players)
	if err != nil {
		return err
	}

	for _, r := range rows {
		if !s.isLost(r.UpdatedAt) {
			continue
		}

		if err := game.Rename(ctx, s.db, s.queue, r); err != nil {
			return err
		}
	}

	return nil
}

// isLost reports whether the message of a row that was put into the outbox at a time was lost.
func (s *Aggregator) isLost(at string) bool { return s.now().Sub(item.Parse(at)) >= time.Minute }
