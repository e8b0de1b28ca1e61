package dynamo_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// match is a row of the table matches.
type match struct {
	ID       string `dynamodbav:"id"`
	Status   string `dynamodbav:"status"`
	LastSlot int64  `dynamodbav:"lastSlot,omitempty"`
	EndingAt int64  `dynamodbav:"endingAt,omitempty"`
	Polls    int    `dynamodbav:"polls"`
}

var (
	matches    = spec.Table{Name: "matches", Key: spec.Key{Partition: "id"}}
	claimMatch = matches.On("Claim a match", "id", spec.Rate{Driver: spec.Tick}, spec.UpdateItem)
)

// A worker claims a slot of a match, unless another has done so or the match ends.
func Example() {
	claim := func(ctx context.Context, db dynamo.DB, id string, slot int64) (bool, error) {
		changes := dynamo.Set(match{LastSlot: slot}, "lastSlot").Add("polls", 1)
		free := dynamo.Absent[match]("lastSlot").Or(dynamo.Less[match]("lastSlot", slot))
		err := dynamo.Update(ctx, db, claimMatch, dynamo.Key(claimMatch, id), changes, dynamo.Absent[match]("endingAt").And(free))

		return dynamo.Applied(err)
	}
	_ = func(ctx context.Context, cfg aws.Config) {
		claimed, err := claim(ctx, dynamo.Open(cfg, "test-"), "7", time.Now().Unix())
		fmt.Println(claimed, err)
	}
}

// A name that no tag of the struct has is found by the first test that uses it.
func ExampleSet() {
	defer func() { fmt.Println(recover()) }()

	dynamo.Set(match{Status: "Live"}, "satus")
	// Output: dynamo: dynamo_test.match has no attribute "satus"; it has endingAt, id, lastSlot, polls, status
}

func ExampleRefusedAs() {
	errLocked := fmt.Errorf("the event is locked")
	refused := fmt.Errorf("pickem: %w", &dynamo.Refused{})
	fmt.Println(dynamo.RefusedAs(refused, errLocked))
	fmt.Println(dynamo.IgnoreRefused(refused))
	fmt.Println(dynamo.Applied(refused))
	// Output:
	// the event is locked
	// <nil>
	// false <nil>
}
