package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// ProviderURL is the setting with the base URL of the provider.
const ProviderURL = "BESTSHOT_PROVIDER_URL"

// Poller is the service that asks the provider.
type Poller struct {
	provider provider.Provider
	queue    queue.Sender
	now      func() time.Time
}

// OpenPoller opens the service that asks the provider.
func OpenPoller(_ context.Context, env app.Env) (*Poller, error) {
	p, err := openProvider(env)
	return &Poller{p, queue.Open(env.AWS, env.Queues), env.Now}, err
}

func openProvider(env app.Env) (provider.Provider, error) {
	url := env.Setting(ProviderURL)
	if url == "" {
		return nil, errors.New(ProviderURL + " is not set")
	}

	return provider.NewSofascore(env.HTTP, url), nil
}

// PollProviderFunction asks the provider for what is due.
func PollProviderFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/poll-provider",
		Does:   "Asks the provider for what is due, and hands it on.",
		IfDown: "Results do not arrive.",
		On:     PollQueue,
		Sends:  []spec.Queue{FeedQueue},
		Emits:  []spec.Metric{PollsFailed},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenPoller, (*Poller).PollProvider)
}

// PollProvider asks the provider, and sends the answer to FeedQueue. If the provider fails, the
// failure is logged and counted, and the next plan asks again. An error in a part of the answer is
// logged and counted too, and the rest is sent. A second run sends the answer again.
func (s *Poller) PollProvider(ctx context.Context, p Poll) error {
	f := Feed{Poll: p, FetchedAt: s.now().UTC()}

	var err error

	switch p.Kind {
	case Rounds:
		f.Rounds, err = s.provider.Rounds(ctx, p.Tournament, p.Season)
	case Matches:
		f.Fixtures, err = s.provider.Matches(ctx, p.Tournament, p.Season, p.Round)
	case Standings:
		f.Standings, err = s.provider.Standings(ctx, p.Tournament, p.Season)
	default:
		return fmt.Errorf("a poll of the kind %q", p.Kind)
	}

	if err != nil {
		slog.WarnContext(ctx, "the provider failed", "tournament", p.TournamentID, "kind", p.Kind, "round", p.Round.Slug, "err", err)
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(PollsFailed, 1)}, slog.String("tournament", p.TournamentID))

		if p.Execution == "" && f.empty() {
			return nil
		}

		f.Error = err.Error()
	}

	return s.queue.Send(ctx, FeedQueue, f, 0)
}
