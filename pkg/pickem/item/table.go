package item

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// RankedOnRead is how many members a league may have without stored tables. To rank them when a table
// is read costs at most 8 read units.
const RankedOnRead = 10

// HasTables reports whether jobs write the tables of the league, which is in the index then. Once they
// have written all of them it is Stored: from then on its tables are read, and no longer ranked when
// they are read. A league with tables keeps them, also if it becomes smaller.
func (l League) HasTables() bool { return l.GSIPK != "" }

// WithTables returns the league with the keys of the index.
func (l League) WithTables() League {
	l.GSIPK, l.GSISK = LeaguesTag, LeagueRef(l.ID)
	return l
}

// TableScope returns the scope of the ranking of a league in a year or an event: see package ranking.
func TableScope(leagueID, scope string) string { return LeagueRef(leagueID) + "#" + scope }

// Change is the item of a change of a league that its tables may not show yet. A job writes the tables
// of Scopes, and then deletes the item, unless a later change of the same member has replaced it.
type Change struct {
	Row
	LeagueID string   `dynamodbav:"leagueId"`
	ID       string   `dynamodbav:"id"`               // another one for each change
	Scopes   []string `dynamodbav:"scopes,omitempty"` // years, and ids of events
	All      bool     `dynamodbav:"all,omitempty"`    // those of all members
}

// all is the end of the sort key of a change with All: no user has this id.
const all = "*"

// NewChange returns the change of a league when a member joins or leaves it, with the scopes of the
// rankings that contain the member: see Collection.Scopes.
func NewChange(leagueID, userID string, scopes []string) Change {
	return Change{
		Row: Row{
			PK: LeagueRef(leagueID), SK: changePrefix + userID, Type: ChangeType,
			GSIPK: LeaguesTag, GSISK: changePrefix + leagueID + "#" + userID,
		},
		LeagueID: leagueID, ID: rand.Text(), Scopes: scopes,
	}
}

// NewChangeOfAll returns the change that has all tables of a league written.
func NewChangeOfAll(leagueID string) Change {
	c := NewChange(leagueID, all, nil)
	c.All = true

	return c
}

// Scopes returns the scopes of the rankings that may contain a member with these items: years, and
// ids of events.
func (g Collection) Scopes() (scopes []string) {
	for _, t := range g.Standings {
		scopes = append(scopes, t.Year())
	}

	for _, p := range g.Predictions {
		scopes = append(scopes, p.EventID)
	}

	return scopes
}

// LeaguesWithTables reads the ids of the leagues with tables in order, after one unless that is "",
// page by page. The index is eventually consistent.
func LeaguesWithTables(ctx context.Context, db dynamo.DB, after string) iter.Seq2[[]string, error] {
	var from dynamo.Item
	if ref := LeagueRef(after); after != "" {
		from = dynamo.StartKey(tables.LeaguesWithTables, LeaguesTag, ref, ref, LeagueTag)
	}

	return dynamo.Pages(func(last dynamo.Item) ([]string, dynamo.Item, error) {
		if last == nil {
			last = from
		}

		leagues, last, err := dynamo.Query[League](ctx, db, tables.LeaguesWithTables,
			dynamo.Range{Key: dynamo.KeyBeginsWith(tables.LeaguesWithTables, LeaguesTag, LeaguePrefix), After: last})

		ids := make([]string, len(leagues))
		for i, l := range leagues {
			ids[i] = l.ID
		}

		return ids, last, err
	})
}

// ChangedLeagues reads the ids of the leagues with changes that their tables may not show. The index
// is eventually consistent.
func ChangedLeagues(ctx context.Context, db dynamo.DB) (ids []string, err error) {
	changes, err := dynamo.QueryAll[Change](ctx, db, tables.LeaguesWithTables,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.LeaguesWithTables, LeaguesTag, changePrefix)})

	for _, c := range changes { // those of a league are in sequence
		if len(ids) == 0 || ids[len(ids)-1] != c.LeagueID {
			ids = append(ids, c.LeagueID)
		}
	}

	return ids, err
}

// KeysOf reads the keys of all items of partitions, strongly consistently.
func KeysOf(ctx context.Context, db dynamo.DB, a spec.Access, partitions []string) (keys []dynamo.Item, err error) {
	of := make([][]dynamo.Item, len(partitions))

	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(MaxConcurrent)

	for i, partition := range partitions {
		work.Go(func() error {
			rows, err := dynamo.QueryAll[Row](ctx, db, a, dynamo.Range{Key: dynamo.KeyIs(a, partition), Consistent: true})
			for _, r := range rows {
				of[i] = append(of[i], r.Key())
			}

			return err
		})
	}

	err = work.Wait()

	return slices.Concat(of...), err
}
