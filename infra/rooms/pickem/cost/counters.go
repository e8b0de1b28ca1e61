package cost

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
)

// kept are the counters of the repository. `make bench` counts them anew.
//
//go:embed counters.json
var kept []byte

// counters are what the benchmark counts.
type counters struct {
	Uses   []use
	Scores []scoring
}

// capacity is what DynamoDB bills, as its engine calculates it.
type capacity struct{ ReadUnits, WriteUnits float64 }

// use is one call of a function in a room with so many members.
type use struct {
	What            string
	Members, Answer float64 // Answer is in bytes
	capacity
}

// scoring is the scoring of one event for so many members.
type scoring struct {
	Members float64
	capacity
}

// parse reads counters and reports what is missing.
func parse(text []byte) (c counters, err error) {
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}

	for _, what := range append([]string{saving, locking}, screens...) {
		if few, many := c.used(what); few.Members == many.Members {
			return c, fmt.Errorf("the counters lack %s with few members or with many: run `make bench`", what)
		}
	}

	if len(c.Scores) == 0 {
		return c, errors.New("the counters lack an event that is scored: run `make bench`")
	}

	return c, nil
}

// used returns a use with the fewest members and with the most.
func (c counters) used(what string) (few, many use) {
	for _, u := range c.Uses {
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

// useOf returns a use with so many members, interpolated linearly. With more members than are measured it is that
// of the most: no screen reads more than a page, and `make bench ROOM=pickem MEMBERS=100000` has the same units.
func (c counters) useOf(what string, members float64) use {
	few, many := c.used(what)
	measured := min(members, many.Members)
	on := func(a, b float64) float64 {
		return max(a+(b-a)*(measured-few.Members)/(many.Members-few.Members), 0)
	}

	return use{what, members, on(few.Answer, many.Answer), capacity{on(few.ReadUnits, many.ReadUnits), on(few.WriteUnits, many.WriteUnits)}}
}
