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
