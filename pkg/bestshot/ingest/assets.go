package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"matchday/pkg/bestshot/asset"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// AssetQueue has the polls of images. They have a queue of their own, so that no result waits for
// them.
var AssetQueue = spec.Queue{Name: "bestshot-assets", MaxReceiveCount: 5, Batch: 1, Concurrency: 2, Unhurried: true}

// maxImages bounds the images that a plan asks for. Two functions fetch as many before the next plan.
const maxImages = 50

// imageRow is an image to ask for.
type imageRow struct {
	Provider provider.Name `db:"provider"`
	Kind     Kind          `db:"kind"`
	ID       string        `db:"id"` // the provider's id of the team or the tournament
}

// poll returns the poll that asks for the image.
func (r imageRow) poll() Poll {
	if r.Kind == Logo {
		return Poll{Kind: Logo, Provider: r.Provider, Tournament: r.ID}
	}

	return Poll{Kind: Badge, Provider: r.Provider, Team: r.ID}
}

// planImages asks for the images that are due, and then records that it has asked. After a crash in
// between, the next plan asks again.
func (s *Planner) planImages(ctx context.Context) error {
	due, err := pg.All[imageRow](ctx, s.db, sql.ListDueImages, maxImages)
	if err != nil {
		return err
	}

	polls := make([]Poll, len(due))
	for i, d := range due {
		polls[i] = d.poll()
	}

	if err := queue.SendAll(ctx, s.queue, AssetQueue, polls); err != nil {
		return err
	}

	// Each row is marked in a transaction of its own. One transaction for all could deadlock with a
	// feed, which locks several teams.
	for _, d := range due {
		statement := sql.MarkBadgeAsked
		if d.Kind == Logo {
			statement = sql.MarkLogoAsked
		}

		if _, err := pg.Do(ctx, s.db, statement, d.Provider, d.ID); err != nil {
			return err
		}
	}

	return nil
}

// Collector is the service that fetches images.
type Collector struct {
	providers provider.All
	files     object.Bucket
	queue     queue.Sender
	now       func() time.Time
}

// OpenCollector opens the service that fetches images.
func OpenCollector(_ context.Context, env app.Env) (*Collector, error) {
	all, err := provider.OpenAll(env)
	files := object.Open(env.AWS, env.Setting(tables.Assets.On("").Env()))

	return &Collector{all, files, queue.Open(env.AWS, env.Queues), env.Now}, err
}

// SyncAssetsFunction fetches badges of teams and logos of tournaments.
func SyncAssetsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/sync-assets",
		Does:    "Fetches badges of teams and logos of tournaments.",
		IfDown:  "New teams and tournaments have no image.",
		On:      AssetQueue,
		Objects: []spec.ObjectAccess{tables.Assets.On("", spec.PutObject)},
		Sends:   []spec.Queue{FeedQueue},
		Memory:  256, Timeout: 30 * time.Second,
	}, OpenCollector, (*Collector).SyncAssets)
}

// SyncAssets stores the image of a team or a tournament in the bucket, and sends its name to
// FeedQueue. If the provider fails, has no image, or answers with something else, SyncAssets logs that,
// and a plan asks again after a day. A second run stores the same bytes under the same name.
func (s *Collector) SyncAssets(ctx context.Context, p Poll) error {
	if p.Kind != Badge && p.Kind != Logo {
		return fmt.Errorf("a poll of an image of the kind %q", p.Kind)
	}

	image, err := s.fetch(ctx, p)

	var name, media string
	if err == nil {
		name, media, err = asset.Name(image)
	}

	if errors.Is(err, provider.ErrAbsent) {
		slog.InfoContext(ctx, "the provider has no image",
			"provider", p.source(), "kind", p.Kind, "team", p.Team, "tournament", p.Tournament)
		return nil
	}

	if err != nil {
		slog.WarnContext(ctx, "the provider gives no image",
			"provider", p.source(), "kind", p.Kind, "team", p.Team, "tournament", p.Tournament, "err", err)
		return nil
	}

	if err := s.files.PutFile(ctx, name, media, image); err != nil {
		return err
	}

	return s.queue.Send(ctx, FeedQueue, Feed{Poll: p, FetchedAt: s.now().UTC(), Asset: name}, 0)
}

// fetch fetches an image of a provider.
func (s *Collector) fetch(ctx context.Context, p Poll) ([]byte, error) {
	from, err := s.providers.Of(p.source())
	if err != nil {
		return nil, err
	}

	if p.Kind == Logo {
		return from.Logo(ctx, p.Tournament)
	}

	return from.Badge(ctx, p.Team)
}

// storeImage stores the name of an image. A second run stores it again.
func (s *Ingester) storeImage(ctx context.Context, f Feed) error {
	statement, id := sql.PutBadge, f.Team
	if f.Kind == Logo {
		statement, id = sql.PutLogo, f.Tournament
	}

	_, err := pg.Do(ctx, s.db, statement, f.source(), id, f.Asset)

	return err
}
