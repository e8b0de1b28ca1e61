package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Poller is the service that asks the providers.
type Poller struct {
	providers provider.All
	queue     queue.Sender
	now       func() time.Time
	// paused are the providers that are not asked for a while. Each instance of the function learns of
	// it by a request of its own: PollQueue has few instances.
	paused map[provider.Name]pause
}

// pause is until when a provider is not asked, and why.
type pause struct {
	until  time.Time
	reason error
}

// keyPause is how long a provider that refuses the key is not asked: until the next plan.
const keyPause = 5 * time.Minute

// OpenPoller opens the service that asks the providers.
func OpenPoller(_ context.Context, env app.Env) (*Poller, error) {
	all, err := provider.OpenAll(env)

	return &Poller{all, queue.Open(env.AWS, env.Queues), env.Now, map[provider.Name]pause{}}, err
}

// PollProviderFunction asks the provider for what is due.
func PollProviderFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/poll-provider",
		Does:    "Asks the provider for what is due, and hands it on.",
		IfDown:  "Results do not arrive.",
		On:      PollQueue,
		Secrets: []string{provider.APIFootballKey},
		Sends:   []spec.Queue{FeedQueue},
		Emits:   []spec.Metric{PollsFailed},
		Memory:  256,
		Timeout: 30 * time.Second,
	}, OpenPoller, (*Poller).PollProvider)
}

// PollProvider asks the tournament's provider, and sends the answer to FeedQueue. If the provider fails,
// the failure is logged and counted, and the next plan asks again. An error in a part of the answer is
// logged and counted too, and the rest is sent. A provider whose budget of requests is used up, or that
// refuses the key, is not asked for a while, and its polls fail. A second run sends the answer again.
func (s *Poller) PollProvider(ctx context.Context, p Poll) error {
	if !slices.Contains([]Kind{Rounds, Matches, Standings}, p.Kind) {
		return fmt.Errorf("a poll of the kind %q", p.Kind)
	}

	f := Feed{Poll: p, FetchedAt: s.now().UTC()}

	if err := s.ask(ctx, &f); err != nil {
		slog.WarnContext(ctx, "the provider failed",
			"provider", p.source(), "tournament", p.TournamentID, "kind", p.Kind, "round", p.Round.Slug, "err", err)
		telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(PollsFailed, 1)}, slog.String("tournament", p.TournamentID))

		if p.Execution == "" && f.empty() {
			return nil
		}

		f.Error = err.Error()
	}

	return s.queue.Send(ctx, FeedQueue, f, 0)
}

// ask asks the provider of a poll for what it names. While the provider is paused, it returns the reason.
func (s *Poller) ask(ctx context.Context, f *Feed) error {
	name := f.source()
	if p := s.paused[name]; s.now().Before(p.until) {
		return p.reason
	}

	p, err := s.providers.Of(name)
	if err != nil {
		return err
	}

	switch f.Kind {
	case Rounds:
		f.Rounds, err = p.Rounds(ctx, f.Tournament, f.Season)
	case Matches:
		f.Fixtures, err = p.Matches(ctx, f.Tournament, f.Season, f.Round)
	case Standings:
		f.Standings, err = p.Standings(ctx, f.Tournament, f.Season)
	}

	if limited, ok := errors.AsType[*provider.LimitedError](err); ok {
		s.paused[name] = pause{limited.Until, err}
	} else if errors.Is(err, provider.ErrKey) {
		s.paused[name] = pause{s.now().Add(keyPause), err}
	}

	return err
}
