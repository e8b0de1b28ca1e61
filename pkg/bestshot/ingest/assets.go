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

// AssetQueue has the polls of images: a queue of its own, so that no result waits for them.
var AssetQueue = spec.Queue{Name: "bestshot-assets", MaxReceiveCount: 5, Batch: 1, Concurrency: 2, Unhurried: true}

// maxImages is how many images a plan asks for: two functions fetch them before the next plan.
const maxImages = 50

// images are the logos of upcoming and active tournaments and the badges of their teams that
// were not asked for within a day, or within 30 days if there is one.
const images = `SELECT kind, id FROM (
		SELECT 'logo' AS kind, external_id AS id, logo AS image, logo_asked_at AS asked_at FROM tournament WHERE provider = $1 AND status IN ('upcoming', 'active')
		UNION ALL SELECT 'badge', external_id, badge, badge_asked_at FROM team WHERE provider = $1 AND id IN (
			SELECT unnest(ARRAY[m.home_team, m.away_team]) FROM match m JOIN tournament t ON t.id = m.tournament_id WHERE t.status IN ('upcoming', 'active'))
	) AS i WHERE asked_at IS NULL OR asked_at <= now() - CASE WHEN image IS NULL THEN interval '1 day' ELSE interval '30 days' END
	GROUP BY kind, id ORDER BY min(asked_at) NULLS FIRST, kind DESC, id LIMIT $2`

type dueImage struct {
	Kind Kind   `db:"kind"`
	ID   string `db:"id"`
}

// planImages asks for the images that are due, and then notes that: after a crash they are
// asked for twice.
func (s *Planner) planImages(ctx context.Context) error {
	due, err := pg.All[dueImage](ctx, s.db, images, provider.Name, maxImages)
	if err != nil {
		return err
	}

	polls := make([]Poll, len(due))
	for i, d := range due {
		polls[i] = Poll{Kind: d.Kind, Team: d.ID}
		if d.Kind == Logo {
			polls[i] = Poll{Kind: d.Kind, Tournament: d.ID}
		}
	}

	if err := queue.SendAll(ctx, s.queue, AssetQueue, polls); err != nil {
		return err
	}

	for _, d := range due { // one after the other: a transaction of feeds may hold several teams
		sql := `UPDATE team SET badge_asked_at = now() WHERE provider = $1 AND external_id = $2`
		if d.Kind == Logo {
			sql = `UPDATE tournament SET logo_asked_at = now() WHERE provider = $1 AND external_id = $2`
		}

		if _, err := pg.Do(ctx, s.db, sql, provider.Name, d.ID); err != nil {
			return err
		}
	}

	return nil
}

// Collector is the service that fetches images.
type Collector struct {
	provider provider.Provider
	files    object.Bucket
	queue    queue.Sender
	now      func() time.Time
}

// OpenCollector opens the service that fetches images.
func OpenCollector(_ context.Context, env app.Env) (*Collector, error) {
	p, err := openProvider(env)
	return &Collector{p, object.Open(env.AWS, env.Setting(tables.Assets.On("").Env())), queue.Open(env.AWS, env.Queues), env.Now}, err
}

// SyncAssetsFunction fetches badges of teams and logos of tournaments.
func SyncAssetsFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/sync-assets",
		Does:    "Fetches badges of teams and logos of tournaments.",
		IfDown:  "New teams and tournaments have no image.",
		On:      AssetQueue,
		Objects: []spec.ObjectAccess{tables.Assets.On("", spec.PutObject)}, Sends: []spec.Queue{FeedQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenCollector, (*Collector).SyncAssets)
}

// SyncAssets stores the image of a team or a tournament, and hands its name on. If the provider
// fails, has none, or answers with something else, that is logged, and the image is asked for again
// after a day. A second run stores the same bytes under the same name.
func (s *Collector) SyncAssets(ctx context.Context, p Poll) error {
	var (
		image []byte
		err   error
	)

	switch p.Kind {
	case Badge:
		image, err = s.provider.Badge(ctx, p.Team)
	case Logo:
		image, err = s.provider.Logo(ctx, p.Tournament)
	default:
		return fmt.Errorf("a poll of an image of the kind %q", p.Kind)
	}

	var name, media string
	if err == nil {
		name, media, err = asset.Name(image)
	}

	if errors.Is(err, provider.ErrAbsent) {
		slog.InfoContext(ctx, "the provider has no image", "kind", p.Kind, "team", p.Team, "tournament", p.Tournament)
		return nil
	}

	if err != nil {
		slog.WarnContext(ctx, "the provider gives no image", "kind", p.Kind, "team", p.Team, "tournament", p.Tournament, "err", err)
		return nil
	}

	if err := s.files.PutFile(ctx, name, media, image); err != nil {
		return err
	}

	return s.queue.Send(ctx, FeedQueue, Feed{Poll: p, FetchedAt: s.now().UTC(), Asset: name}, 0)
}

// image stores the name of an image. A second run stores it again.
func (s *Ingester) image(ctx context.Context, f Feed) error {
	sql, id := `UPDATE team SET badge = $3 WHERE provider = $1 AND external_id = $2`, f.Team
	if f.Kind == Logo {
		sql, id = `UPDATE tournament SET logo = $3 WHERE provider = $1 AND external_id = $2`, f.Tournament
	}

	_, err := pg.Do(ctx, s.db, sql, provider.Name, id, f.Asset)

	return err
}
