package measure

import (
	"context"

	"matchday/pkg/kit/app"
)

// Suite is what a room brings to the benchmark.
type Suite struct {
	// Run measures the room. It returns rows of the table, and the counters that the
	// cost model reads: they go to .local/bench.json, below the room's name.
	Run func(ctx context.Context) (rows []Row, counters any, err error)

	// Scale measures how the room grows. It returns the same rows for so many members and for
	// smaller numbers, and their ratios; nil if the room has no such benchmark.
	Scale func(ctx context.Context, members int) ([]Row, error)

	// Binaries are functions whose binaries are compared with the smallest function:
	// cold start and size.
	Binaries []app.Function

	// Prepare starts a world that the binaries can be run in; nil if there are none.
	Prepare func(ctx context.Context) (*Prepared, error)
}

// Prepared is a world for the binaries of a suite.
type Prepared struct {
	World    *World
	Requests []Request // to measure with warm functions
	Close    func()
}

// Request is a GET request to the public route of one of the binaries.
type Request struct {
	Name   string
	Path   string
	Status int // expected
}
