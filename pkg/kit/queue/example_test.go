package queue_test

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// MatchFinished is a message. It belongs to the room that receives it.
type MatchFinished struct {
	MatchID string `json:"matchId"`
}

func ExampleSender_Send() {
	finished := spec.Queue{Name: "cricket-match-finished"}
	_ = func(ctx context.Context, cfg aws.Config, base string) error {
		s := queue.Open(cfg, base)
		return s.Send(ctx, finished, MatchFinished{MatchID: "7"}, 30*time.Second)
	}
}
