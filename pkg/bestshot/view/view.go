// Package view is what members read of a tournament: the matches of a round, the standings and the
// leaderboard. It also has the table of a league.
//
// Each is a projection in the cache, under one key:
//
//	key                                     kept for  version
//	tournament:{id}:round:{slug}:matches    6 h       of the round's matches in the database
//	tournament:{id}:standings               6 h       of the standings in the database
//	tournament:{id}:leaderboard             6 h       of the scoreboard in the database
//	league:{id}:score                       30 s      the second in which it was read
//	league:{id}:round:{tournament}:{slug}   30 s      the second in which it was read
//	league:{id}:live:{tournament}:{slug}    30 s      the second in which it was read: a provisional table
//	league:{id}:final:{tournament}          30 s      the second in which it was read
//
// The braces make the id the hash tag of a cluster's slot. A change in the database raises the
// version of each projection that shows the changed rows. The tables of a league are the exception:
// nothing invalidates them, and they may be 30 s old.
//
// A reader that does not find a page reads the database and writes the page. One reader of a page
// does so at a time. The others wait up to 300 ms for the page, and then read the database. If the
// cache does not answer, a reader reads the database.
//
// A page of a leaderboard costs the same for any number of members: it is a range of an index, and
// the ranks come from the histograms scoreboard_points and scoreboard_before. The cache has the first page,
// and each page that was read while the cache had the one before, at most 200: a page comes with a mark of the
// place at which the next one begins. A page after a place without a mark is read from the database, and not
// stored, so that invented cursors do not fill the cache. While a settlement goes on, the cache keeps the pages
// of before, and what is read from the database is not stored.
package view

import (
	"context"
	_ "embed"
	"encoding/json"
	"log/slog"
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/redis"
)

//go:embed view.sql
var file string

// sql are the statements of view.sql.
var sql = pg.MustParse[struct {
	GetRoundVersion, ListMatches, GetStandingsVersion, ListStandings, GetLeaderboardState, ListLeaderboard,
	GetPlace, FindAbove, ListLeagueTable, ListLeagueRound, ListLiveLeagueTable, ListLeagueFinal string
}](file)

// MatchesKey returns the key of the matches of a round.
func MatchesKey(tournamentID, round string) string {
	return "tournament:{" + tournamentID + "}:round:" + round + ":matches"
}

// StandingsKey returns the key of the standings of a tournament.
func StandingsKey(tournamentID string) string { return "tournament:{" + tournamentID + "}:standings" }

// LeaderboardKey returns the key of the leaderboard of a tournament.
func LeaderboardKey(tournamentID string) string {
	return "tournament:{" + tournamentID + "}:leaderboard"
}

func claimKey(key, name string) string { return key + ":" + name + ":claim" }

const (
	// PageSize is the number of members on a page of a leaderboard.
	PageSize = 100
	// firstPage is the name of the first page, and of the only page of a projection that has one.
	firstPage = "0"
	// maxPages bounds the pages of a projection in the cache that were not read at once, each with a mark:
	// 2.4 MB of a leaderboard.
	maxPages = 2 * 200
	// lifetime is how long a projection of a tournament is kept. A full cache evicts only keys that
	// expire.
	lifetime = 6 * time.Hour
	// LeagueLifetime is how long the table of a league is kept.
	LeagueLifetime = 30 * time.Second
	// claimLifetime bounds the claim of a reader that ends without writing the projection.
	claimLifetime = 2 * time.Second
	// pollInterval and maxWait are how often, and how long, a reader looks for a projection that
	// another reader writes.
	pollInterval = 20 * time.Millisecond
	maxWait      = 300 * time.Millisecond
)

// Errors of reads.
var (
	ErrNoTournament = problem.New(problem.NotFound, "tournament_not_found", "there is no such tournament")
	ErrNoRound      = problem.New(problem.NotFound, "round_not_found", "the tournament has no such round")
)

// Views reads and refreshes the projections.
type Views struct {
	DB    pg.DB
	Cache redis.Cache
	clock app.Clock
}

// New returns the views of a database and a cache.
func New(db pg.DB, cache redis.Cache, clock app.Clock) Views { return Views{db, cache, clock} }

// Open opens the database and the cache in the environment of a function with the login
// tables.Reader.
func Open(ctx context.Context, env app.Env) (Views, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return Views{}, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return New(db, cache, env.Clock), err
}

// Cut returns the first PageSize rows of those that were read with one more, and the cursor of the next page,
// "" if none follows. The page is never nil.
func Cut[T any](rows []T, cursor func(T) string) (page []T, next string) {
	if len(rows) > PageSize {
		rows, next = rows[:PageSize], cursor(rows[PageSize-1])
	}

	return append([]T{}, rows...), next
}

// projection is what a reader has read from the database for the cache.
type projection struct {
	version  int64
	pages    []redis.Page
	lifetime time.Duration
	mixed    bool // whether a settlement goes on: it is not stored
}

// page returns a page, nil if the projection does not have it.
func (p projection) page(name string) []byte {
	for _, page := range p.pages {
		if page.Name == name {
			return page.Text
		}
	}

	return nil
}

// load reads a projection from the database. Its errors are ErrNoTournament, ErrNoRound and those
// of the database.
type load func(ctx context.Context) (projection, error)

// page returns a page of a projection, nil if the projection does not have it. If mark is not "", the page is
// stored only if the cache has that mark, of the same version.
func (v Views) page(ctx context.Context, key, name, mark string, load load) ([]byte, error) {
	c, cacheErr := v.cached(ctx, key, name, mark)
	if c.page != nil {
		return c.page, nil
	}

	if c.claimed {
		defer v.Cache.Release(ctx, claimKey(key, name)) // best effort: a claim ends by itself
	}

	p, err := load(ctx)
	if err != nil {
		return nil, err
	}

	if cacheErr == nil && !p.mixed && (mark == "" || c.marked && c.version == p.version) {
		_, cacheErr = v.Cache.Put(ctx, key, p.version, p.pages, p.lifetime, max(maxPages, len(p.pages)))
	}

	if cacheErr != nil {
		slog.WarnContext(ctx, "read without the cache", "key", key, "err", cacheErr)
	}

	return p.page(name), nil
}

// cached is what the cache has for a reader.
type cached struct {
	page    []byte // nil if it does not have the page
	claimed bool   // whether the reader has to write the page
	marked  bool   // whether it has the mark
	version int64  // of the mark
}

// cached returns what the cache has of a page. If it does not have the page, the first reader claims it, and
// has to write it. Another reader waits until the page is written, the claim ends, or maxWait is over. Nobody
// writes a page without its mark, so nobody claims it or waits for it.
func (v Views) cached(ctx context.Context, key, name, mark string) (c cached, err error) {
	for began := v.clock.Now(); ; {
		c.page, _, _, err = v.Cache.Page(ctx, key, name)
		if c.page != nil || err != nil {
			return c, err
		}

		if mark != "" {
			var text []byte

			text, c.version, _, err = v.Cache.Page(ctx, key, mark)
			if c.marked = text != nil; !c.marked {
				return c, err
			}
		}

		c.claimed, err = v.Cache.Claim(ctx, claimKey(key, name), claimLifetime)
		if c.claimed || err != nil {
			return c, err
		}

		now := v.clock.Now()
		if now.Sub(began) >= maxWait {
			return c, nil
		}

		if err := v.clock.Sleep(ctx, now.Add(pollInterval)); err != nil {
			return c, err
		}
	}
}

// refresh writes the first page of a projection as the database has it now, and deletes the others if
// they are older. It does nothing if the tournament or the round was deleted.
func (v Views) refresh(ctx context.Context, key string, load load) error {
	p, err := load(ctx)
	if problem.Of(err) == problem.NotFound {
		return nil
	}

	if err != nil {
		return err
	}

	if p.mixed {
		return v.Cache.Invalidate(ctx, key, p.version)
	}

	_, err = v.Cache.Put(ctx, key, p.version, p.pages, p.lifetime, max(maxPages, len(p.pages)))

	return err
}

// encode returns a projection with all rows on one page.
func encode[T any](version int64, rows []T) (projection, error) {
	if rows == nil {
		rows = []T{}
	}

	page, err := json.Marshal(rows)

	return projection{version: version, pages: []redis.Page{{Name: firstPage, Text: page}}, lifetime: lifetime}, err
}

// decode returns the rows of a page that encode has written.
func decode[T any](page []byte, err error) (rows []T, _ error) {
	if err != nil {
		return nil, err
	}

	return rows, json.Unmarshal(page, &rows)
}
