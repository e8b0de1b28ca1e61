package bestshot

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"matchday/infra/local/fleet"
	frame "matchday/infra/local/replay"
	"matchday/infra/rooms/bestshot/replay"
	"matchday/infra/sim/football"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/tables"
)

// Replay plays the openfootball files of a folder. See package replay.
func Replay(ctx context.Context, cfg frame.Config) error {
	if cfg.Folder == "" {
		return errors.New("give a folder of openfootball files as DIR=folder: Best Shot plays seasons of football")
	}
	h := &Host{}
	return replay.Run(ctx, replay.Config{
		Config:   cfg,
		Room:     fleet.Room{Spec: bestshot.Room, App: Bundle, Simulate: func(in fleet.Host) ([]string, error) { return h.simulate(in, cfg.Seed) }},
		Provider: func() *football.Server { return h.Provider },
		Stores:   connect,
	})
}

// connect connects to the room's database, as a superuser, and to its cache.
func connect(ctx context.Context, f *fleet.Fleet) (*pgx.Conn, *redis.Client, error) {
	db, err := pgx.Connect(ctx, f.SQLURL(tables.DB, ""))
	if err != nil {
		return nil, nil, err
	}
	return db, redis.NewClient(&redis.Options{Addr: f.Caches[tables.Cache.Name].Addr(), DisableIdentity: true, MaxRetries: -1}), nil
}
