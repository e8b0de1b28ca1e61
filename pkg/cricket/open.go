package cricket

import (
	"context"
	"net/http"
	"time"

	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
)

// Settings of the room: environment variables.
const (
	sportMonksURL = "SPORTMONKS_URL" // the provider's, if not sportmonks.BaseURL
	apnsBundle    = "APNS_BUNDLE"
	apnsType      = "APNS_ATTRIBUTES_TYPE" // name of the app's ActivityAttributes, if not attributesType
)

// providerTimeout is the longest that the provider may take to answer: a tick
// that has waited so long is two slots late, and the next ones have run.
const providerTimeout = 4 * time.Second

// OpenPlanner opens the service of plan-ticks.
func OpenPlanner(_ context.Context, env app.Env) (*Planner, error) {
	return &Planner{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// OpenTicker opens the service of tick.
func OpenTicker(ctx context.Context, env app.Env) (*Ticker, error) {
	provider, err := openProvider(ctx, env)
	if err != nil {
		return nil, err
	}
	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)
	return &Ticker{db: db, queue: q, provider: provider, book: newScorebook(db, q, env.Now), Clock: env.Clock}, nil
}

// OpenFinisher opens the service of finish-match.
func OpenFinisher(ctx context.Context, env app.Env) (*Finisher, error) {
	provider, err := openProvider(ctx, env)
	if err != nil {
		return nil, err
	}
	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)
	return &Finisher{db: db, queue: q, provider: provider, book: newScorebook(db, q, env.Now), now: env.Now}, nil
}

// OpenPusher opens the service of push-activities and sweep-channels.
func OpenPusher(ctx context.Context, env app.Env) (*Pusher, error) {
	sender, err := openSender(ctx, env)
	if err != nil {
		return nil, err
	}
	return newPusher(env, sender), nil
}

// newPusher is the service with a sender of the caller's.
func newPusher(env app.Env, sender *push.Sender) *Pusher {
	return &Pusher{db: dynamo.Open(env.AWS, env.Prefix), sender: sender, queue: queue.Open(env.AWS, env.Queues), now: env.Now, patience: pageTimeout}
}

// openSender reads Apple's key. It dials nothing.
func openSender(ctx context.Context, env app.Env) (*push.Sender, error) {
	c, err := push.ConfigOf(ctx, env, apnsKey, apnsBundle)
	if err != nil {
		return nil, err
	}
	return push.Open(c)
}

// OpenMatches opens the service of the public reads.
func OpenMatches(_ context.Context, env app.Env) (*Matches, error) {
	return &Matches{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

// OpenActivities opens the service of a user's Live Activities.
func OpenActivities(_ context.Context, env app.Env) (*Activities, error) {
	return newActivities(env, senderOnce(env)), nil
}

// newActivities is the service with a sender of the caller's.
func newActivities(env app.Env, sender func(context.Context) (*push.Sender, error)) *Activities {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Activities{
		db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now,
		channels: channels{db: db, sender: sender, Clock: env.Clock},
	}
}

// OpenSyncer opens the service of sync-leagues and sync-teams.
func OpenSyncer(ctx context.Context, env app.Env) (*Syncer, error) {
	provider, err := openProvider(ctx, env)
	return &Syncer{db: dynamo.Open(env.AWS, env.Prefix), provider: provider, now: env.Now}, err
}

func openProvider(ctx context.Context, env app.Env) (*sportmonks.Client, error) {
	token, err := env.Secret(ctx, sportMonksToken)
	if err != nil {
		return nil, err
	}
	base := env.Setting(sportMonksURL)
	if base == "" {
		base = sportmonks.BaseURL
	}
	return sportmonks.Open(base, token, &http.Client{Timeout: providerTimeout, Transport: env.HTTP}), nil
}
