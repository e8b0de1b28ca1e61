package score

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
)

// atOnce is how many leagues are ranked at the same time, or how many tables of one league after one
// read of its members.
const atOnce = 8

// rankLeagues writes the tables of scopes of all leagues that have tables, in order from the one after
// an id on, which it moves. It returns false if the time of the message is over before. An error for
// one league does not stop the others: failed has these errors. A second run writes the same.
//
// A league of 1,000 members takes some 2,200 read and 500 write units for two tables. Each table is in
// a partition of its own, so that no pace is needed.
func (s *Scorer) rankLeagues(ctx context.Context, r *run, after *string, scopes ...string) (done bool, failed, err error) {
	for ids, err := range item.LeaguesWithTables(ctx, s.db, *after) {
		if err != nil {
			return false, failed, err
		}

		for some := range slices.Chunk(ids, s.atOnce) {
			var work errgroup.Group

			for _, id := range some {
				work.Go(func() error { return s.rankLeague(ctx, id, scopes) })
			}

			failed = errors.Join(failed, work.Wait())
			*after = some[len(some)-1]

			if r.over(ctx) {
				return false, failed, ctx.Err()
			}
		}
	}

	return true, failed, nil
}

// rankLeague writes the tables of scopes of a league, years and ids of events. Members are read after
// the tables are claimed: a member who is renamed before has the new name, and one who is renamed
// later is counted as an amendment of the tables. A table of another writer who begins later is left
// to that one, which reads what this one has read, or newer.
func (s *Scorer) rankLeague(ctx context.Context, leagueID string, scopes []string) error {
	writers := make([]*ranking.Writer, len(scopes))

	claims, cctx := errgroup.WithContext(ctx)
	for i, scope := range scopes {
		claims.Go(func() error {
			of := item.TableScope(leagueID, scope)

			d, err := ranking.Claim(cctx, s.db, of, time.Time{})
			if err == nil {
				writers[i], err = d.Resume(cctx, s.db, of)
			}

			return dynamo.IgnoreRefused(err) // refused: another one has begun since, and refuses the first write, too
		})
	}

	if err := claims.Wait(); err != nil {
		return err
	}

	g, err := readMembers(ctx, s.db, leagueID)
	if err != nil {
		return err
	}

	work, wctx := errgroup.WithContext(ctx)
	for i, scope := range scopes {
		work.Go(func() error {
			if len(g.Leagues) == 0 {
				return s.dropTable(wctx, leagueID, scope)
			}

			err := s.rankTable(wctx, writers[i], scope, g.Memberships)
			if !dynamo.IsRefused(err) {
				return err
			}

			// Another one has begun since, or the league was deleted with its tables.
			now, err := readMembers(wctx, s.db, leagueID)
			if err == nil && len(now.Leagues) == 0 {
				err = s.dropTable(wctx, leagueID, scope)
			}

			return err
		})
	}

	return work.Wait()
}

// readMembers reads a league that is not deleted, with its members and changes. The collection has no
// league if there is none.
func readMembers(ctx context.Context, db dynamo.DB, leagueID string) (item.Collection, error) {
	g, err := item.Query(ctx, db, tables.ReadLeague,
		dynamo.Range{Key: dynamo.KeyIs(tables.ReadLeague, item.LeagueRef(leagueID)), Consistent: true})
	if len(g.Leagues) > 0 && g.Leagues[0].EndedAt != "" {
		g.Leagues = nil
	}

	return g, err
}

// rankTable writes the table of a claimed scope, with the same rows as a table that is ranked when it
// is read.
func (s *Scorer) rankTable(ctx context.Context, w *ranking.Writer, scope string, members []item.Membership) error {
	rows, err := s.rowsOf(ctx, w, scope, members)
	if err != nil {
		return err
	}

	w.Count = len(rows)

	if err := w.Write(ctx, rows); err != nil {
		return err
	}

	if err := w.Flush(ctx, false); err != nil {
		return err
	}

	if _, err := w.Place(ctx, func() bool { return false }); err != nil {
		return err
	}

	return w.Close(ctx)
}

// rowsOf reads and ranks the rows of a table of a league in a year or an event. It sets what the
// writer needs to know of the event. There are no rows of an event that is open or gone.
func (s *Scorer) rowsOf(ctx context.Context, w *ranking.Writer, scope string, members []item.Membership) ([]ranking.Row, error) {
	keys := make([]dynamo.Item, len(members))
	names := item.NamesOf(members)

	if len(scope) == len("2026") {
		for i, m := range members {
			keys[i] = item.StandingKey(m.UserID(), scope).Key()
		}

		all, err := dynamo.GetAll[item.Standing](ctx, s.db, tables.MembersOf, keys)

		return RankStandings(all, names), err
	}

	on, err := item.ReadEventWithCard(ctx, s.db, scope)
	if errors.Is(err, item.ErrNoEvent) || err == nil && on.IsOpen(s.now()) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	w.Card, w.Results = CardIDs(on.Card), on.ResultsRev

	for i, m := range members {
		keys[i] = item.PredictionKey(m.UserID(), scope)
	}

	all, err := dynamo.GetAll[item.Prediction](ctx, s.db, tables.MembersOf, keys)

	return RankEntries(on.Event, on.Card, all, names), err
}

// dropTable deletes the table of a league that is gone.
func (s *Scorer) dropTable(ctx context.Context, leagueID, scope string) error {
	keys, err := item.KeysOf(ctx, s.db, tables.WriteRanking, []string{ranking.Ref(item.TableScope(leagueID, scope))})
	if err != nil {
		return err
	}

	for _, k := range keys {
		if _, err := dynamo.Delete(ctx, s.db, tables.WriteRanking, k); err != nil {
			return err
		}
	}

	return nil
}

// rankChanged writes the tables of a league that changes of its members have made wrong, and then
// deletes the changes. A change that is made meanwhile stays, and LockEvents sends another message. A
// second run finds no changes, or completes an interrupted one. A league that is gone has no tables
// afterwards.
func (s *Scorer) rankChanged(ctx context.Context, r *run, in Request) error {
	g, err := readMembers(ctx, s.db, in.League)
	if err != nil || len(g.Changes) == 0 {
		return err
	}

	scopes, err := s.scopesOf(ctx, g)
	if err != nil {
		return err
	}

	var p Progress
	if in.Next != nil {
		p = *in.Next
	} else { // the last message deletes the changes that the first one has found
		for _, c := range g.Changes {
			p.Changes = append(p.Changes, c.ID)
		}
	}

	scopes = slices.DeleteFunc(scopes, func(scope string) bool { return scope <= p.Scope })

	for some := range slices.Chunk(scopes, s.atOnce) {
		if err := s.rankLeague(ctx, in.League, some); err != nil {
			return err
		}

		if p.Scope = some[len(some)-1]; r.over(ctx) {
			return s.handOver(ctx, in.League, Request{League: in.League, Year: in.Year, Next: &p}, nil)
		}
	}

	return s.endChanges(ctx, g, p.Changes)
}

// addTables has the tables written of those leagues that have enough members for that, and none yet.
// A second run changes nothing.
func (s *Scorer) addTables(ctx context.Context, leagues []item.Membership) error {
	ids := map[string]bool{}
	for _, m := range leagues {
		ids[m.LeagueID] = true
	}

	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for id := range ids {
		work.Go(func() error {
			l, _, err := dynamo.Get[item.League](ctx, s.db, tables.FindLeague, item.LeagueRef(id), item.LeagueTag)
			if err != nil || l.HasTables() || l.Members <= item.RankedOnRead || l.EndedAt != "" {
				return err
			}

			err = dynamo.Transact(ctx, s.db, tables.AddTables,
				dynamo.UpdateWrite(l.Key(), dynamo.Set(l.WithTables(), "GSI_PK", "GSI_SK"),
					dynamo.Exists[item.League]("PK").And(dynamo.Unchanged(l, "GSI_PK", "endedAt"))),
				dynamo.PutWrite(item.NewChangeOfAll(id)))

			return dynamo.IgnoreRefused(err) // refused: another request has done it, or the league is deleted
		})
	}

	return work.Wait()
}

// scopesOf returns the scopes of the tables that changes of a league have made wrong, in order.
func (s *Scorer) scopesOf(ctx context.Context, g item.Collection) ([]string, error) {
	var scopes []string

	everything := false
	for _, c := range g.Changes {
		scopes = append(scopes, c.Scopes...)
		everything = everything || c.All
	}

	if everything {
		of := make([][]string, len(g.Memberships))

		work, wctx := errgroup.WithContext(ctx)
		work.SetLimit(item.MaxConcurrent)

		for i, m := range g.Memberships {
			work.Go(func() error {
				member, err := item.ReadMember(wctx, s.db, m.UserID(), true)
				of[i] = member.Scopes()

				return err
			})
		}

		if err := work.Wait(); err != nil {
			return nil, err
		}

		scopes = append(scopes, slices.Concat(of...)...)
	}

	slices.Sort(scopes)

	return slices.Compact(scopes), nil
}

// endChanges deletes those changes of a league that have one of the ids. Before it deletes one with
// All, it records that all tables of the league are stored.
func (s *Scorer) endChanges(ctx context.Context, g item.Collection, ids []string) error {
	for _, c := range g.Changes {
		if !slices.Contains(ids, c.ID) {
			continue
		}

		if c.All {
			err := dynamo.Update(ctx, s.db, tables.EndChange, item.Key(c.PK, item.LeagueTag), dynamo.Set(item.League{Stored: true}, "stored"),
				dynamo.Exists[item.League]("PK").And(dynamo.Absent[item.League]("endedAt")))
			if err := dynamo.IgnoreRefused(err); err != nil { // refused: it is gone
				return err
			}
		}

		_, err := dynamo.Delete(ctx, s.db, tables.EndChange, c.Key(), dynamo.Unchanged(c, "id"))
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: another change has replaced it
			return err
		}
	}

	return nil
}
