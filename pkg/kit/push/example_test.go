package push_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matchday/pkg/kit/push"
)

// A score is pushed to the Live Activities of a match.
func Example() {
	score := struct {
		Runs    int `json:"runs"`
		Wickets int `json:"wickets"`
	}{148, 3}

	m, err := push.Update(push.State{Content: score, Time: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		panic(err)
	}

	fmt.Println(m.Bytes(), "bytes of", push.MaxPayload)

	_ = func(ctx context.Context, s *push.Sender, tokens []string, forget func(token string, since time.Time)) (push.Counts, error) {
		return s.Send(ctx, m, slices.Values(tokens), func(token string, o push.Outcome) {
			if o.Result == push.Unregistered {
				forget(token, o.Since)
			}
		})
	}
	// Output: 90 bytes of 4096
}

func ExampleToken_Lower() {
	fmt.Println(push.Token("00AA11BB").Lower())
	// Output: 00aa11bb
}
