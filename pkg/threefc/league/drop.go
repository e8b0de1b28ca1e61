package league

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// End returns the writes that end a league: nobody finds it any more, and nothing is added to it. What
// is left of it is deleted by Drop.
func End(row item.Row[item.League]) []dynamo.Write {
	return append([]dynamo.Write{row.Drop()}, FreeSlugs(*row.V())...)
}

// FreeSlugs returns the writes after which the slugs of a league lead nowhere, and may be had by others.
func FreeSlugs(l item.League) []dynamo.Write {
	var writes []dynamo.Write
	for _, key := range slugKeys(l) {
		writes = append(writes, dynamo.DeleteWrite(key))
	}

	return writes
}

// slugKeys returns the keys of what leads from slugs to a league.
func slugKeys(l item.League) []dynamo.Item {
	keys := []dynamo.Item{item.Key(item.SlugKey(l.Slug), item.Metadata)}
	if l.OldSlug != "" {
		keys = append(keys, item.Key(item.SlugKey(l.OldSlug), item.Metadata))
	}

	return keys
}

// atOnce bounds the games and sessions that Drop deletes concurrently, and chunk those that are done
// before their places in the lists are deleted.
const (
	atOnce = 8
	chunk  = 25
)

// Drop deletes what is left of a league that has ended: the seasons with their sessions and games, the
// players with the claims of users, requests to remove a name, and the roles of the members. The role of user goes last,
// with its copy: by the one the caller finds the league again after a crash, and by the other the deletion of the
// account. user may be "". A second run goes on where a crash has ended the first.
func Drop(ctx context.Context, db dynamo.DB, leagueID, user string) error {
	rows, err := list(ctx, db, item.LeagueKey(leagueID))
	if err != nil {
		return err
	}

	var copies, rest []dynamo.Item

	var own []dynamo.Write

	for _, r := range rows {
		switch r.EntityType {
		case "EndingLeague":
			ending, err := item.As[item.EndingLeague](r)
			if err != nil {
				return err
			}

			copies = append(copies, slugKeys(ending.V().League)...)
		case "Grant":
			g, err := item.As[item.Grant](r)
			if err != nil {
				return err
			}

			if g.V().UserID != user {
				copies = append(copies, item.Key(item.UserKey(g.V().UserID), r.PK))
			}
		case "Player":
			p, err := item.As[item.Player](r)
			if err != nil {
				return err
			}

			copies = append(copies, item.Key(r.SK, item.Profile))
			if by := p.V().ClaimedBy; by != "" {
				copies = append(copies, item.Key(item.UserKey(by), r.SK))
			}
		case "Removal":
			x, err := item.As[item.Removal](r)
			if err != nil {
				return err
			}

			copies = append(copies, item.Key(item.RemovalsKey, x.V().OpenKey()))
		case "Season":
			if err := dropSeason(ctx, db, r.SK); err != nil {
				return err
			}
		}

		if r.SK == item.GrantKey(user) {
			own = append(own, dynamo.DeleteWrite(item.Key(r.PK, r.SK)), dynamo.DeleteWrite(item.Key(item.UserKey(user), r.PK)))
		} else {
			rest = append(rest, item.Key(r.PK, r.SK))
		}
	}
	// The copies go first, because a second run finds them by the originals.
	for _, keys := range [][]dynamo.Item{copies, rest} {
		if err := dynamo.DeleteAll(ctx, db, tables.DropLeague, keys); err != nil {
			return err
		}
	}

	return dynamo.Transact(ctx, db, tables.DropLeague, own...)
}

// dropSeason deletes a season with its sessions and games. The copy in the list of the league stays.
func dropSeason(ctx context.Context, db dynamo.DB, pk string) error {
	if err := end(ctx, db, pk); err != nil {
		return err
	}

	rows, err := list(ctx, db, pk)
	if err != nil {
		return err
	}

	for part := range slices.Chunk(rows, chunk) {
		work, each := errgroup.WithContext(ctx)
		work.SetLimit(atOnce)

		var keys []dynamo.Item

		for _, r := range part {
			work.Go(func() error { return dropEntry(each, db, r) })
			keys = append(keys, item.Key(r.PK, r.SK))
		}

		if err := work.Wait(); err != nil {
			return err
		}

		if err := dynamo.DeleteAll(ctx, db, tables.DropLeague, keys); err != nil {
			return err
		}
	}

	return nil
}

// dropEntry deletes what a row in the partition of a season leads to.
func dropEntry(ctx context.Context, db dynamo.DB, r item.Any) error {
	if id, ok := strings.CutPrefix(r.SK, item.PlayerStats); ok {
		_, season, _ := strings.Cut(r.PK, "#")
		return dynamo.DeleteAll(ctx, db, tables.DropLeague, []dynamo.Item{item.Key(item.PlayerKey(id), item.Stats+season)})
	}

	switch {
	case strings.HasPrefix(r.SK, item.Tallied): // of a game that has a row of its own
	case strings.HasPrefix(r.SK, item.Games):
		return purge(ctx, db, item.GameKey(r.SK[strings.LastIndex(r.SK, "#")+1:]))
	case strings.HasPrefix(r.SK, item.Sessions):
		x, err := item.As[item.Session](r)
		if err != nil {
			return err
		}

		return purge(ctx, db, r.SK, item.Key(item.DayKey(x.V().Date), r.SK))
	}

	return nil
}

// purge deletes a partition, and other rows.
func purge(ctx context.Context, db dynamo.DB, pk string, keys ...dynamo.Item) error {
	if err := end(ctx, db, pk); err != nil {
		return err
	}

	rows, err := list(ctx, db, pk)
	if err != nil {
		return err
	}

	for _, r := range rows {
		keys = append(keys, item.Key(r.PK, r.SK))
	}

	return dynamo.DeleteAll(ctx, db, tables.DropLeague, keys)
}

// end deletes the row that every write to a season, a session or a game requires, so that nothing is
// added to what is deleted.
func end(ctx context.Context, db dynamo.DB, pk string) error {
	_, err := dynamo.Delete(ctx, db, tables.DropLeague, item.Key(pk, item.Metadata))
	return err
}

// list reads all rows of a partition.
func list(ctx context.Context, db dynamo.DB, pk string) ([]item.Any, error) {
	return dynamo.QueryAll[item.Any](ctx, db, tables.DropLeague, dynamo.Range{Key: dynamo.KeyIs(tables.DropLeague, pk), Consistent: true})
}
