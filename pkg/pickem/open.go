package pickem

import (
	"context"

	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
)

// OpenEvents opens the service of events.
func OpenEvents(_ context.Context, env app.Env) (*Events, error) {
	return &Events{db: tableIn(env), queue: queue.Open(env.AWS, env.Queues), now: env.Now}, nil
}

// OpenMembers opens the service of members.
func OpenMembers(_ context.Context, env app.Env) (*Members, error) {
	return &Members{db: tableIn(env), accounts: accounts{cognito.NewFromConfig(env.AWS), env.Pool}, now: env.Now}, nil
}

// OpenScorer opens the service that works out points.
func OpenScorer(_ context.Context, env app.Env) (*Scorer, error) {
	return &Scorer{db: tableIn(env), now: env.Now}, nil
}

func tableIn(env app.Env) dynamo.DB { return dynamo.Open(env.AWS, env.Prefix) }

// GetHealth asks whether the API answers.
type GetHealth struct{}

// Health is the answer of an API that does.
type Health struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Status string `json:"status" enum:"ok"`
	}
}

// GetHealth says that the API answers; it looks at nothing else.
func (s *Events) GetHealth(context.Context, *GetHealth) (*Health, error) {
	out := &Health{CacheControl: noStore}
	out.Body.Status = "ok"
	return out, nil
}
