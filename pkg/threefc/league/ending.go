package league

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// Undo is how long a league that was deleted with its seasons may be restored.
const Undo = 24 * time.Hour

// EndLeague is the request to delete a league with its seasons.
type EndLeague struct {
	auth.User
	httpapi.IfMatch
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// EndLeagueFunction deletes a league with its seasons, for a day in which it may be restored.
func EndLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/end-league",
		Does:   "Deletes a league with its seasons. It may be restored for a day.",
		IfDown: "A league with seasons cannot be deleted.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/end", Auth: spec.Session, Answers: []int{http.StatusNoContent}},
		Uses:   Writes(tables.GetLeague, tables.EndLeague, tables.MoveGrants),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).EndLeague, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// EndLeague deletes a league with its seasons: it vanishes at once, and may be restored until Undo. The row of the
// league goes first: from then on nobody finds it, and nobody gets a role. Then the roles go, the caller's last, so
// that the same request goes on where a crash has ended the first. Errors: stale, also if the league is restored
// meanwhile.
func (s *Service) EndLeague(ctx context.Context, in *EndLeague) (*httpapi.Removed, error) {
	pk, now := item.LeagueKey(in.LeagueID), s.Now()

	var ending item.Row[item.EndingLeague]

	row, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)

	switch {
	case err == item.ErrScope: // a run before may have left roles
		if _, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Admin); err != nil {
			return nil, err
		}

		was, ok, err := Ending(ctx, s.DB, in.LeagueID)
		if err != nil || !ok {
			return nil, cmp.Or[error](err, item.ErrScope)
		}

		if ending, err = take(ctx, s.DB, was, false, now); err != nil {
			return nil, dynamo.RefusedAs(err, httpapi.ErrStale)
		}
	case err != nil:
		return nil, err
	default:
		if err := in.IfMatch.Check(row.Rev); err != nil {
			return nil, err
		}

		until := item.Format(now.Add(Undo))
		ending = item.New(pk, item.Ending, "EndingLeague",
			item.EndingLeague{League: *row.V(), Rev: row.Rev, Until: until, By: in.UserID}, now)

		err := dynamo.Transact(ctx, s.DB, tables.EndLeague, row.Drop(), ending.Create(), ending.Mirror(item.Ending, pk))
		if err := dynamo.RefusedAs(err, httpapi.ErrStale); err != nil {
			return nil, err
		}
	}

	err = dynamo.Retry(ctx, item.Attempts, func() error {
		err := replaceGrants(ctx, s.DB, ending, item.Grants, in.UserID, false, item.EndingGrantKey)
		if item.RefusedWrite(err) == 0 {
			err = httpapi.ErrStale
		}

		return err
	})

	return httpapi.NewRemoved(), err
}

// take writes a league that ends with another revision, before its roles are written by replaceGrants, so that the
// deletion or the restoration that has begun before writes no more of them. restoring is whether it is a restoration: a
// second one leaves the revision as it is, because otherwise each would begin again because of the other.
func take(ctx context.Context, db dynamo.DB, ending item.Row[item.EndingLeague], restoring bool, now time.Time) (
	item.Row[item.EndingLeague], error) {
	if restoring && ending.V().Restoring {
		return ending, nil
	}

	ending.V().Restoring = restoring
	ending, saved := ending.Save(now)
	err := dynamo.Transact(ctx, db, tables.EndLeague, saved, ending.Mirror(item.Ending, ending.PK))

	return ending, err
}

// replaceGrants writes the roles of a league whose sort keys begin with a prefix under other keys: that of user last, or
// not at all if without. Each role has one of the two keys at any time. The first write of each transaction is refused
// once the row of the league that ends is not as it was read or written.
func replaceGrants(ctx context.Context, db dynamo.DB, ending item.Row[item.EndingLeague], prefix, user string, without bool,
	key func(userID string) string) error {
	same := dynamo.CheckWrite(item.Key(ending.PK, ending.SK), dynamo.Equal[item.Row[item.EndingLeague]]("rev", ending.Rev))

	rows, err := item.List[item.Grant](ctx, db, tables.EndLeague, ending.PK, prefix)
	if err != nil {
		return err
	}

	var others, own []dynamo.Write

	for _, r := range rows {
		to := r
		to.SK = key(r.V().UserID)

		if r.V().UserID == user {
			own = append(own, r.Drop(), dynamo.PutWrite(to))
		} else {
			others = append(others, r.Drop(), dynamo.PutWrite(to))
		}
	}

	parts := slices.Collect(slices.Chunk(others, rolesAtOnce*2))
	if len(own) > 0 && !without {
		parts = append(parts, own)
	}

	for _, part := range parts {
		if err := dynamo.Transact(ctx, db, tables.MoveGrants, append([]dynamo.Write{same}, part...)...); err != nil {
			return err
		}
	}

	return nil
}

// rolesAtOnce is how many roles are written in one transaction.
const rolesAtOnce = 40

// Ending reads a league that was deleted and may be restored. ok is false if there is none.
func Ending(ctx context.Context, db dynamo.DB, leagueID string) (row item.Row[item.EndingLeague], ok bool, err error) {
	return dynamo.Get[item.Row[item.EndingLeague]](ctx, db, tables.EndLeague, item.LeagueKey(leagueID), item.Ending)
}

// Edit changes a league for an operator, also one that was deleted and may be restored, in one transaction with other
// writes. change returns these, and whether anything is to be changed. Errors: acl_scope_not_found.
func Edit(ctx context.Context, db dynamo.DB, now time.Time, leagueID string, change func(*item.League) ([]dynamo.Write, bool)) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		row, ok, err := dynamo.Get[item.Row[item.League]](ctx, db, tables.GetLeague, item.LeagueKey(leagueID), item.Metadata)
		if err != nil {
			return err
		}

		if ok {
			writes, changed := change(row.V())
			if !changed {
				return nil
			}

			_, saved := row.Save(now)

			return dynamo.Transact(ctx, db, tables.SaveLeague, append(writes, saved)...)
		}

		ending, ok, err := Ending(ctx, db, leagueID)
		if err != nil {
			return err
		}

		if !ok {
			return item.ErrScope
		}

		writes, changed := change(&ending.V().League)
		if !changed {
			return nil
		}

		ending, saved := ending.Save(now)

		return dynamo.Transact(ctx, db, tables.EndLeague, append(writes, saved, ending.Mirror(item.Ending, ending.PK))...)
	})
}

// Endings returns the leagues of which a user is administrator that were deleted and may be restored.
func (s *Service) Endings(ctx context.Context, userID string) (all []item.EndingLeague, err error) {
	mine, err := s.mine(ctx, userID)
	if err != nil {
		return nil, err
	}

	var keys []dynamo.Item

	for _, g := range item.Values(mine) {
		if g.Role == item.Admin {
			keys = append(keys, item.Key(item.LeagueKey(g.LeagueID), item.Ending))
		}
	}

	rows, err := dynamo.GetAll[item.Row[item.EndingLeague]](ctx, s.DB, tables.MyLeagues, keys)
	if err != nil {
		return nil, err
	}

	for _, l := range item.Values(rows) {
		if !item.Parse(l.Until).Before(s.Now()) {
			all = append(all, l)
		}
	}

	slices.SortFunc(all, func(a, b item.EndingLeague) int { return strings.Compare(a.League.ID, b.League.ID) })

	return all, nil
}

// LeaveEnding removes the role of a user from a league that may be restored. A second run changes nothing.
func LeaveEnding(ctx context.Context, db dynamo.DB, leagueID, userID string) error {
	for _, sk := range []string{item.GrantKey(userID), item.EndingGrantKey(userID)} {
		if _, err := dynamo.Delete(ctx, db, tables.EndLeague, item.Key(item.LeagueKey(leagueID), sk)); err != nil {
			return err
		}
	}

	return nil
}

// RestoreLeague is the request to restore a league that was deleted.
type RestoreLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// RestoreLeagueFunction restores a league that was deleted with its seasons.
func RestoreLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/restore-league",
		Does:   "Restores a league that was deleted with its seasons, within a day.",
		IfDown: "The deletion of a league cannot be undone.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/restore", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.EndLeague, tables.MoveGrants),
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).RestoreLeague, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// RestoreLeague makes a league as it was, for an administrator of it, until Undo after its deletion, also if that has
// died before it has written the caller's role. The roles of the others go first, the league itself with the caller's
// role last, so that a second run goes on where a crash has ended the first, and changes nothing once the league is
// there. If the league is deleted or restored meanwhile, it begins again. Errors: acl_scope_not_found also once it is
// too late, table_busy.
func (s *Service) RestoreLeague(ctx context.Context, in *RestoreLeague) (*LeaguePage, error) {
	return dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (*LeaguePage, error) { return s.restore(ctx, in) })
}

func (s *Service) restore(ctx context.Context, in *RestoreLeague) (*LeaguePage, error) {
	pk, moved := item.LeagueKey(in.LeagueID), item.EndingGrantKey(in.UserID)

	own, ok, err := dynamo.Get[item.Row[item.Grant]](ctx, s.DB, tables.EndLeague, pk, moved)
	if err != nil {
		return nil, err
	}

	if !ok { // the league is there, its deletion has died, or the caller is a stranger
		row, role, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)
		if err == nil {
			return page(http.StatusOK, row, role), nil
		}

		if err != item.ErrScope {
			return nil, err
		}

		own, err = item.Read[item.Grant](ctx, s.DB, tables.EndLeague, pk, item.GrantKey(in.UserID), item.ErrScope)
		if err != nil {
			return nil, err
		}
	}

	now := s.Now()
	ending, ok, err := Ending(ctx, s.DB, in.LeagueID)

	switch {
	case err != nil:
		return nil, err
	case !ok || item.Parse(ending.V().Until).Before(now):
		return nil, item.ErrScope
	case own.V().Role != item.Admin:
		return nil, item.ErrAdmin
	}

	if ending, err = take(ctx, s.DB, ending, true, now); err != nil {
		return nil, err
	}

	if err := replaceGrants(ctx, s.DB, ending, item.EndingGrantKey(""), in.UserID, true, item.GrantKey); err != nil {
		return nil, err
	}

	all, err := item.List[item.Grant](ctx, s.DB, tables.EndLeague, pk, item.Grants)
	if err != nil {
		return nil, err
	}

	l := ending.V().League
	l.Members, l.Admins = 1, 1 // members may have deleted their accounts

	for _, r := range all {
		if r.V().UserID == in.UserID {
			continue
		}

		l.Members++
		if r.V().Role == item.Admin {
			l.Admins++
		}
	}

	row := item.New(pk, item.Metadata, "League", l, now)
	row.Rev = ending.V().Rev + 1
	own.SK = item.GrantKey(in.UserID)

	err = dynamo.Transact(ctx, s.DB, tables.EndLeague, row.Create(), ending.Drop(), dynamo.PutWrite(own),
		dynamo.DeleteWrite(item.Key(pk, moved)), dynamo.DeleteWrite(item.Key(item.Ending, pk)))

	return page(http.StatusOK, row, item.Admin), err
}

// Dropper drops leagues that were deleted.
type Dropper struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenDropper opens the service.
func OpenDropper(_ context.Context, env app.Env) (*Dropper, error) {
	return &Dropper{dynamo.Open(env.AWS, env.Prefix), env.Now}, nil
}

// DropLeaguesFunction drops leagues that were deleted more than a day ago.
func DropLeaguesFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "threefc/drop-leagues",
		Does:   "Drops all that is left of leagues that were deleted more than a day ago.",
		IfDown: "Data of deleted leagues is kept.",
		On:     spec.Schedule("rate(1 hour)"),
		Uses:   []spec.Access{tables.ListEnding, tables.EndLeague, tables.GetLeague, tables.DropLeague},
		Memory: 256, Timeout: 15 * time.Minute,
	}, OpenDropper, (*Dropper).DropLeagues)
}

// DropLeagues deletes what is left of leagues whose day to be restored is over: first what a restoration needs, then
// all else. A second run goes on where a crash has ended the first, and does nothing once all are gone.
func (s *Dropper) DropLeagues(ctx context.Context) error {
	rows, err := item.List[item.EndingLeague](ctx, s.db, tables.ListEnding, item.Ending, item.Leagues)
	if err != nil {
		return err
	}

	for _, r := range rows {
		if !s.isOver(r) {
			continue
		}

		if err := s.drop(ctx, r); err != nil {
			return err
		}
	}

	return nil
}

// isOver reports whether a league may not be restored any more.
func (s *Dropper) isOver(r item.Row[item.EndingLeague]) bool {
	return item.Parse(r.V().Until).Before(s.now())
}

// drop drops one league, unless it was restored since it was listed.
func (s *Dropper) drop(ctx context.Context, r item.Row[item.EndingLeague]) error {
	id := r.V().League.ID

	ending, ok, err := Ending(ctx, s.db, id)

	switch {
	case err != nil:
		return err
	case ok && !s.isOver(ending): // it was restored meanwhile, and deleted again
		return nil
	case ok:
		err := dynamo.Transact(ctx, s.db, tables.EndLeague, append(FreeSlugs(ending.V().League), ending.Drop())...)
		if err != nil {
			return err // it is restored meanwhile: the next run finds no row
		}
	default: // it was restored meanwhile, or a run before has died
		_, restored, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(id), item.Metadata)
		if err != nil || restored {
			return err
		}
	}

	if err := Drop(ctx, s.db, id, ""); err != nil {
		return err
	}

	slog.InfoContext(ctx, "a league is dropped", "league", id)

	_, err = dynamo.Delete(ctx, s.db, tables.EndLeague, item.Key(r.PK, r.SK))

	return err
}
