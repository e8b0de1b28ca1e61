package idem_test

import (
	"context"
	"errors"
	"testing"

	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
)

// TestAnswerIsForWhoStillMay: a stored answer is returned while the user has the right that the
// request has noted, and the effect stays one.
func TestAnswerIsForWhoStillMay(t *testing.T) {
	t.Parallel()
	s := newShop(t, &dynamotest.Process{})
	left := errors.New("ann has left the shop")

	var (
		refused error
		asked   []string
	)

	s.store.Allow = func(_ context.Context, userID, right string) error {
		asked = append(asked, userID+" "+right)
		return refused
	}
	in := &request{Key: idem.Key{IdempotencyKey: "K"}, Item: "tea"}
	once := func() error {
		_, err := idem.Once(t.Context(), s.store, buy, "ann", in, func(ctx context.Context, commit idem.Commit[answer]) (*answer, error) {
			idem.Guard(ctx, "seller")
			idem.Guard(ctx, "owner")

			return &answer{}, commit(ctx, act, &answer{}, dynamo.PutWrite(effect{"tea", 1}, dynamo.Absent[effect]("id")))
		})

		return err
	}

	for _, c := range []struct{ refused, want error }{{nil, nil}, {nil, nil}, {left, left}, {nil, nil}} {
		refused = c.refused
		if err := once(); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}

	if len(asked) != 3 || asked[0] != "ann owner" {
		t.Errorf("asked about %q, want three times ann owner", asked)
	}

	idem.Guard(t.Context(), "outside of a request") // changes nothing
}
