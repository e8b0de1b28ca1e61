package cost

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// kept are the counters of the repository. `make bench` counts all but the sizes of
// items anew.
//
//go:embed counters.json
var kept []byte

// counters are the calls that the benchmark counts, and the sizes of some items.
type counters struct {
	Items struct {
		Fixture, Cached, Subscription float64 // bytes, with the names of attributes
	}
	Tick []tick
	Push []push
	Uses []use
}

// tick is one tick of so many matches, with a change in each or none.
type tick struct {
	Matches int
	Changed bool
	calls
}

// push is one change of a match with so many subscriptions.
type push struct {
	Subscriptions, Messages float64
	calls
}

// use is one request of a user that writes.
type use struct {
	What string // the function
	units
}

type calls struct {
	Dynamo map[string]float64 // by operation
	SQS    float64
	units
}

// units are what DynamoDB bills.
type units struct{ ReadUnits, WriteUnits float64 }

// parse reads counters and reports what is missing.
func parse(text []byte) (c counters, err error) {
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}

	for _, matches := range []int{1, 10} {
		for _, changed := range []bool{false, true} {
			if _, ok := c.tick(matches, changed); !ok {
				return c, fmt.Errorf("the counters lack ticks of %d matches: run `make bench`", matches)
			}
		}
	}

	if len(c.Push) == 0 || c.Push[len(c.Push)-1].Subscriptions == 0 {
		return c, errors.New("the counters lack pushes: run `make bench`")
	}

	for _, a := range actions {
		if _, ok := c.used(a.what); !ok {
			return c, fmt.Errorf("the counters lack %s: run `make bench`", a.what)
		}
	}

	return c, nil
}

func (c counters) used(what string) (use, bool) {
	i := slices.IndexFunc(c.Uses, func(u use) bool { return u.What == what })
	if i < 0 {
		return use{}, false
	}

	return c.Uses[i], true
}

// tick returns the calls of a tick of so many matches, with a change in each or
// none.
func (c counters) tick(matches int, changed bool) (calls, bool) {
	for _, t := range c.Tick {
		if t.Matches == matches && t.Changed == changed {
			return t.calls, true
		}
	}

	return calls{}, false
}

// gets returns the units of the reads by key: one for each item, and an item for each perspective in
// a batch.
func (p push) gets() float64 { return p.Dynamo["GetItem"] + perspectives*p.Dynamo["BatchGetItem"] }

// pushed returns the calls of one change with so many subscriptions: in proportion
// to the most that were measured, and no fewer than those of the fewest. Its units are of reads by
// key only.
func (c counters) pushed(subscriptions float64) (messages float64, per calls) {
	least := slices.MinFunc(c.Push, func(a, b push) int { return int(a.Subscriptions - b.Subscriptions) })
	most := slices.MaxFunc(c.Push, func(a, b push) int { return int(a.Subscriptions - b.Subscriptions) })
	share := subscriptions / most.Subscriptions

	return max(least.Messages, share*most.Messages), calls{
		SQS:   share * most.SQS,
		units: units{ReadUnits: max(least.gets(), share*most.gets())},
	}
}
