package ranking

import (
	"context"
	"strings"
	"sync"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// Ranks finds the ranks of members. It keeps what is the same for all members: the totals of events,
// and into how many items the places of a year are divided. It is safe for concurrent use.
type Ranks struct {
	DB  dynamo.DB // its reads may be eventually consistent
	Now func() time.Time

	mu     sync.Mutex
	places map[string]int // the number of items with places, by scope
	totals map[string]keptTotals
}

// keptTotals are the totals of an event, read at a time.
type keptTotals struct {
	results int
	at      time.Time
	all     []Total
}

// Bounds of what Ranks keeps: scopes, and how long the totals of an event.
const (
	keepScopes = 500
	keepTotals = time.Minute
)

// Scored is a member's prediction of an event that is scored.
type Scored struct {
	EventID         string
	Results         int // the revision of the results that the points are of
	Points, Correct int
}

// Of returns a member's ranks in years and events, of those that are ranked, by scope. A member
// costs half a unit for each year. The totals of an event are read once a minute. Those of an event
// that is being scored again may be of the scoring before.
func (r *Ranks) Of(ctx context.Context, userID string, years []string, events []Scored) (map[string]int, error) {
	ranks := map[string]int{}

	former, err := r.inEvents(ctx, ranks, events)
	if err != nil {
		return nil, err
	}

	return ranks, r.byPlace(ctx, ranks, userID, append(former, years...))
}

// inEvents adds the ranks in events. It returns those whose ranking has no totals, because an
// earlier deployment has written it.
func (r *Ranks) inEvents(ctx context.Context, ranks map[string]int, events []Scored) (former []string, err error) {
	now := r.Now()

	var (
		keys  []dynamo.Item
		known = map[string][]Total{}
	)

	r.mu.Lock()
	for _, e := range events {
		if kept, ok := r.totals[e.EventID]; ok && kept.results == e.Results && now.Sub(kept.at) < keepTotals {
			known[e.EventID] = kept.all
		} else {
			keys = append(keys, item.Key(Ref(e.EventID), totalsSK(totalsPrefix, 0)))
		}
	}
	r.mu.Unlock()

	read, err := dynamo.GetAll[totals](ctx, r.DB, tables.GetRanks, keys)
	if err != nil {
		return nil, err
	}

	for _, t := range read {
		scope, all := strings.TrimPrefix(t.PK, Ref("")), t.list()

		if t.More {
			if all, err = r.list(ctx, scope); err != nil {
				return nil, err
			}
		}

		known[scope] = all
		r.keep(scope, keptTotals{t.Results, now, all})
	}

	for _, e := range events {
		if all, ok := known[e.EventID]; ok {
			ranks[e.EventID] = RankOf(NewTotal(e.Points, e.Correct, 0), all)
		} else {
			former = append(former, e.EventID)
		}
	}

	return former, nil
}

// list reads all totals of a scope.
func (r *Ranks) list(ctx context.Context, scope string) (all []Total, err error) {
	items, err := dynamo.QueryAll[totals](ctx, r.DB, tables.GetRanking,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.GetRanking, Ref(scope), totalsPrefix)})
	for _, t := range items {
		all = append(all, t.list()...)
	}

	return all, err
}

func (r *Ranks) keep(scope string, t keptTotals) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.totals == nil || len(r.totals) >= keepScopes {
		r.totals = map[string]keptTotals{}
	}

	r.totals[scope] = t
}

// byPlace adds the ranks in tables that are read from the member's places. It reads how many items
// have places if that is unknown, or if the member is not in the item of the number that was known.
func (r *Ranks) byPlace(ctx context.Context, ranks map[string]int, userID string, scopes []string) error {
	for _, refresh := range []bool{false, true} {
		missing := scopes[:0:0]
		for _, s := range scopes {
			if _, ok := ranks[s]; !ok {
				missing = append(missing, s)
			}
		}

		counts, err := r.countPlaces(ctx, missing, refresh)
		if err != nil {
			return err
		}

		var keys []dynamo.Item
		for scope, n := range counts {
			keys = append(keys, item.Key(Ref(scope), placesSK(bucket(userID, n))))
		}

		all, err := dynamo.GetAll[places](ctx, r.DB, tables.GetRanks, keys)
		if err != nil {
			return err
		}

		for _, in := range all {
			if place, ok := in.Of[userID]; ok {
				ranks[strings.TrimPrefix(in.PK, Ref(""))] = place.Rank
			}
		}
	}

	return nil
}

// countPlaces returns the number of items with places of scopes: those that are kept, or if refresh
// is set, those that are stored and differ from what is kept.
func (r *Ranks) countPlaces(ctx context.Context, scopes []string, refresh bool) (map[string]int, error) {
	counts := map[string]int{}

	if !refresh {
		r.mu.Lock()
		defer r.mu.Unlock()

		for _, s := range scopes {
			if n, ok := r.places[s]; ok {
				counts[s] = n
			}
		}

		return counts, nil
	}

	keys := make([]dynamo.Item, len(scopes))
	for i, s := range scopes {
		keys[i] = headKey(s).Key()
	}

	heads, err := dynamo.GetAll[head](ctx, r.DB, tables.GetRanks, keys)
	if err != nil {
		return nil, err
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if r.places == nil || len(r.places) >= keepScopes {
		r.places = map[string]int{}
	}

	for _, h := range heads {
		scope := strings.TrimPrefix(h.PK, Ref(""))
		if n, ok := r.places[scope]; !ok || n != h.Places {
			counts[scope], r.places[scope] = h.Places, h.Places
		}
	}

	return counts, nil
}
