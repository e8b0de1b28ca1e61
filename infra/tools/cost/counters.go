package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// counters are what `make bench` counts, and the sizes of some items.
type counters struct {
	Measured string // a date
	Items    struct {
		Fixture, Cached, Balls, Subscription float64 // bytes, names of attributes included
	}
	Tick   []tick
	Push   []push
	Pickem struct {
		Uses   []use
		Scores []scoring
	}
}

// capacity is what DynamoDB bills, as its engine reckons it.
type capacity struct{ ReadUnits, WriteUnits float64 }

// use is a use of the pick'em room with so many members.
type use struct {
	What            string
	Members, Answer float64 // the answer's bytes
	capacity
}

// scoring is an event that is scored for so many members.
type scoring struct {
	Members float64
	capacity
}

// tick is one of so many matches, with a change in each or none.
type tick struct {
	Matches int
	Changed bool
	calls
}

// push is one change of a match with so many activities.
type push struct {
	Subscriptions, Messages float64
	calls
}

type calls struct {
	Dynamo map[string]float64 // by operation
	SQS    float64
}

// read reads the counters of the last bench, or else those of the repository,
// and says which. The sizes of items are always the repository's.
func read(bench, kept string) (c counters, from string, err error) {
	text, err := os.ReadFile(kept)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, "", fmt.Errorf("the counters %s: %w", kept, err)
	}
	from = fmt.Sprintf("%s, measured on %s", kept, c.Measured)
	info, err := os.Stat(bench)
	if errors.Is(err, fs.ErrNotExist) {
		return c, from + "; `make bench` measures anew", c.check()
	}
	if err == nil {
		text, err = os.ReadFile(bench)
	}
	if err == nil {
		c.Tick, c.Push, c.Pickem.Uses, c.Pickem.Scores = nil, nil, nil, nil
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, "", fmt.Errorf("the counters %s: %w", bench, err)
	}
	return c, fmt.Sprintf("%s, measured on %s", bench, info.ModTime().UTC().Format(time.DateOnly)), c.check()
}

// check reports what is missing.
func (c counters) check() error {
	for _, matches := range []int{1, 10} {
		for _, changed := range []bool{false, true} {
			if _, ok := c.tick(matches, changed); !ok {
				return fmt.Errorf("the counters know no tick of %d matches: run `make bench`", matches)
			}
		}
	}
	if len(c.Push) == 0 || c.Push[len(c.Push)-1].Subscriptions == 0 {
		return errors.New("the counters know no pushes: run `make bench`")
	}
	for _, what := range append([]string{saving, locking}, screens...) {
		if few, many := c.used(what); few.Members == many.Members {
			return fmt.Errorf("the counters know no %s of few members and of many: run `make bench`", what)
		}
	}
	if len(c.Pickem.Scores) == 0 {
		return errors.New("the counters know no event that is scored: run `make bench`")
	}
	return nil
}

// tick are the calls of a tick of so many matches, with a change in each or none.
func (c counters) tick(matches int, changed bool) (calls, bool) {
	for _, t := range c.Tick {
		if t.Matches == matches && t.Changed == changed {
			return t.calls, true
		}
	}
	return calls{}, false
}

// pushed are the calls for one change that so many subscribe to: the most that
// were measured, in proportion, and no fewer than the fewest.
func (c counters) pushed(subscribers float64) (messages float64, per calls) {
	least := slices.MinFunc(c.Push, func(a, b push) int { return int(a.Subscriptions - b.Subscriptions) })
	most := slices.MaxFunc(c.Push, func(a, b push) int { return int(a.Subscriptions - b.Subscriptions) })
	share := subscribers / most.Subscriptions
	return max(least.Messages, share*most.Messages), calls{
		Dynamo: map[string]float64{"GetItem": max(least.Dynamo["GetItem"], share*most.Dynamo["GetItem"])},
		SQS:    share * most.SQS,
	}
}

// used is a use of the pick'em room by the fewest members, and by the most.
func (c counters) used(what string) (few, many use) {
	for _, u := range c.Pickem.Uses {
		if u.What != what {
			continue
		}
		if few.Members == 0 || u.Members < few.Members {
			few = u
		}
		if u.Members > many.Members {
			many = u
		}
	}
	return few, many
}

// useOf is a use with so many members: what it costs grows by as much with each.
func (c counters) useOf(what string, members float64) use {
	few, many := c.used(what)
	on := func(a, b float64) float64 {
		return max(a+(b-a)*(members-few.Members)/(many.Members-few.Members), 0)
	}
	return use{what, members, on(few.Answer, many.Answer), capacity{on(few.ReadUnits, many.ReadUnits), on(few.WriteUnits, many.WriteUnits)}}
}
