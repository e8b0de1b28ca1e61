// Package userdata deletes and exports what the room keeps of a user, and takes the request of a user
// to delete the account.
package userdata

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Service deletes accounts, and deletes and exports the data of users.
type Service struct {
	signin.Base
	queue queue.Sender
	files object.Bucket
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{
		Base:  signin.NewBase(env),
		queue: queue.Open(env.AWS, env.Queues),
		files: object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
	}, nil
}

const room = "threefc"

// Gone is the nickname of a player whose user has deleted the account.
const Gone = "Former player"

// Deleter has accounts deleted.
type Deleter struct {
	*Service

	keepers []string // the rooms that keep data of users
}

// OpenDeleter opens the service that has accounts deleted. It returns an error if the
// environment does not name the keepers.
func OpenDeleter(ctx context.Context, env app.Env) (*Deleter, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	keepers, err := account.ParseKeepers(env.Setting(spec.EnvKeepers))

	return &Deleter{s, keepers}, err
}

// DeleteAccount is the request to delete the account.
type DeleteAccount struct{ auth.User }

// Deleting is the answer that the account will be deleted.
type Deleting struct {
	Status    int
	SetCookie string `header:"Set-Cookie" doc:"It clears the cookie."`
	Body      struct {
		Apps []string `json:"apps" doc:"The apps that lose the user's data." example:"[\"cricket\",\"threefc\"]"`
	}
}

// DeleteAccountFunction requests the deletion of the caller's account in all rooms.
func DeleteAccountFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-account",
		Does:   "Requests the deletion of the caller's account, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts here.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/account", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.ResolveSession, account.Bury}, Sends: []spec.Queue{account.DeleteQueue}, Keepers: true,
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDeleter, (*Deleter).DeleteAccount)
}

// DeleteAccount requests the deletion of the caller's account in all rooms, ends the writes of the
// user, and ends the session of the browser. A second run sends the request again, which changes
// nothing.
func (s *Deleter) DeleteAccount(ctx context.Context, in *DeleteAccount) (*Deleting, error) {
	if err := s.queue.Send(ctx, account.DeleteQueue, account.Deletion{UserID: in.UserID}, 0); err != nil {
		return nil, err
	}
	// After the message: without it the user could neither write nor be deleted.
	if err := account.PutTombstone(ctx, s.DB, in.UserID, s.Now()); err != nil {
		return nil, err
	}

	out := &Deleting{Status: http.StatusAccepted, SetCookie: signin.Cookie.Clear()}
	out.Body.Apps = s.keepers

	return out, nil
}

// ForgetUserFunction deletes the data of a user who has deleted the account.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/forget-user",
		Does:   "Deletes what is kept of a user who has deleted the account.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses: []spec.Access{
			tables.DropUser, tables.GetLeague, tables.ListGrants, tables.SaveGrant, tables.SaveLeague, tables.DropLeague,
			tables.EndLeague,
			tables.GetPlayer, tables.ListPlayers, tables.SavePlayer, tables.ListSeasons,
		},
		Sends:  []spec.Queue{account.DoneQueue, game.AggregateQueue},
		Memory: 256, Timeout: 5 * time.Minute,
	}, Open, (*Service).ForgetUser)
}

// ForgetUser deletes what the room keeps of a user who has deleted the account: the sessions, the
// roles, the claims and the stored answers. It confirms when nothing is left. A second run deletes
// the rest.
//
// The players whom the user has claimed, and those who are merged with them, lose their names, and
// keep their goals, because the results of others depend on them. Goals and corrections keep the id
// of the user who has recorded them, which leads to nobody any more.
//
// If the user was the only administrator of a league, its longest member becomes administrator, a
// scorekeeper first. A league without another member is deleted with all that it has: nobody could
// delete it later, and its pages would stay public. Invitations to the user's address are of those who
// have sent them: they end after 14 days.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	pk := item.UserKey(in.UserID)

	rows, err := item.List[any](ctx, s.DB, tables.DropUser, pk, "")
	if err != nil {
		return err
	}

	var keys []dynamo.Item

	leagues := map[string]bool{}

	for _, r := range rows {
		keys = append(keys, item.Key(pk, r.SK))
		switch kind, id, _ := strings.Cut(r.SK, "#"); kind + "#" {
		case item.Logins:
			keys = append(keys, item.Key(r.SK, item.Metadata))
		case item.Leagues:
			if err := s.leave(ctx, id, in.UserID); err != nil {
				return err
			}
		case item.Players:
			leagueID, err := s.disown(ctx, id, in.UserID)
			if err != nil {
				return err
			}

			leagues[leagueID] = true
		}
	}

	delete(leagues, "")

	for id := range leagues {
		if err := game.Recompute(ctx, s.DB, s.queue, id); err != nil {
			return err
		}
	}

	if err := dynamo.DeleteAll(ctx, s.DB, tables.DropUser, keys); err != nil {
		return err
	}

	slog.InfoContext(ctx, "a user is forgotten", "user", in.UserID, "items", len(keys))

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// leave removes the role of a user in a league. It deletes a league that has no other member, or
// whose deletion was begun.
func (s *Service) leave(ctx context.Context, leagueID, userID string) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.DB, tables.GetLeague, item.LeagueKey(leagueID), item.Metadata)
		if err != nil {
			return err
		}

		if !ok { // its deletion was begun
			if _, ending, err := league.Ending(ctx, s.DB, leagueID); err != nil || ending {
				return cmp.Or(err, league.LeaveEnding(ctx, s.DB, leagueID, userID))
			}

			return league.Drop(ctx, s.DB, leagueID, userID)
		}

		grants, err := item.List[item.Grant](ctx, s.DB, tables.ListGrants, l.PK, item.Grants)
		if err != nil {
			return err
		}

		i := slices.IndexFunc(grants, func(g item.Row[item.Grant]) bool { return g.V().UserID == userID })
		if i < 0 {
			return nil
		}

		if len(grants) == 1 {
			if err := dynamo.Transact(ctx, s.DB, tables.SaveLeague, league.End(l)...); err != nil {
				return err
			}

			return league.Drop(ctx, s.DB, leagueID, userID)
		}

		now := s.Now()
		writes := []dynamo.Write{grants[i].Drop()}

		l.V().Members--
		if grants[i].V().Role == item.Admin {
			l.V().Admins--
		}

		if l.V().Admins == 0 {
			others := slices.Delete(slices.Clone(grants), i, i+1)
			heir := slices.MinFunc(others, func(a, b item.Row[item.Grant]) int {
				return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.SK, b.SK))
			})
			heir.V().Role = item.Admin
			l.V().Admins++
			row, saved := heir.Save(now)
			writes = append(writes, saved, row.Mirror(item.UserKey(row.V().UserID), l.PK))
		}

		_, counted := l.Save(now)

		return dynamo.Transact(ctx, s.DB, tables.SaveGrant, append(writes, counted)...)
	})
}

func weight(g item.Row[item.Grant]) int {
	if g.V().Role.AtLeast(item.Scorekeeper) {
		return 1
	}

	return 0
}

// disown removes the names of a player whom the user has claimed, and of the players who are merged
// with it. It returns the player's league, "" if there is no such player.
func (s *Service) disown(ctx context.Context, playerID, userID string) (leagueID string, err error) {
	claimed, err := item.PlayerRow.Read(ctx, s.DB, playerID)
	if errors.Is(err, item.ErrNoPlayer) {
		return "", nil
	}

	leagueID = claimed.V().LeagueID
	if err != nil || claimed.V().ClaimedBy != userID {
		return leagueID, err
	}

	rows, err := item.List[item.Player](ctx, s.DB, tables.ListPlayers, item.LeagueKey(leagueID), item.Players)
	if err != nil {
		return "", err
	}

	all := map[string]item.Player{}
	for _, p := range item.Values(rows) {
		all[p.ID] = p
	}

	counts := item.Resolve(playerID, all).ID

	var same []string

	for id := range all {
		if id != playerID && item.Resolve(id, all).ID == counts {
			same = append(same, id)
		}
	}

	for _, id := range append(same, playerID) { // the claim goes last: a second run finds the others by it
		if err := dynamo.Retry(ctx, item.Attempts, func() error { return s.anonymize(ctx, id, userID) }); err != nil {
			return "", err
		}
	}

	return leagueID, nil
}

// anonymize removes the name of a player, unless another user has claimed the player.
func (s *Service) anonymize(ctx context.Context, playerID, userID string) error {
	p, err := item.PlayerRow.Read(ctx, s.DB, playerID)
	if errors.Is(err, item.ErrNoPlayer) {
		return nil
	}

	if err != nil || p.V().ClaimedBy != "" && p.V().ClaimedBy != userID {
		return err
	}

	was := *p.V()
	p.V().Guardian = false

	if p.V().ClaimedBy, p.V().Nickname, p.V().Avatar, p.V().Display = "", Gone, "", ""; *p.V() == was {
		return nil
	}

	p, saved := p.Save(s.Now())

	return dynamo.Transact(ctx, s.DB, tables.SavePlayer, saved, p.Mirror(item.LeagueKey(p.V().LeagueID), p.PK))
}

// ExportUserFunction exports the data of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/export-user",
		Does:   "Exports all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.ReadUser, tables.MyPlayers, tables.ReadStats}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all that the room keeps of a user to the bucket of exports, and confirms it:
// all items under the user's key except the ids of sessions, and the players whom the user has
// claimed, with their totals. It does not contain the user's id in goals, corrections and answers
// to sessions, which belong to the game. A second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	rows, err := item.List[any](ctx, s.DB, tables.ReadUser, item.UserKey(in.UserID), "")
	if err != nil {
		return err
	}

	items := []any{}

	for _, r := range rows {
		if strings.HasPrefix(r.SK, item.Logins) {
			continue // the id of a session
		}

		items = append(items, map[string]any{"key": r.SK, "type": r.EntityType, "createdAt": r.CreatedAt, "data": *r.V()})
		if id, ok := strings.CutPrefix(r.SK, item.Players); ok {
			players, err := item.ReadPlayers(ctx, s.DB, tables.MyPlayers, []string{id})
			if err != nil {
				return err
			}

			for _, of := range []struct{ id, sk string }{{id, item.Profile}, {item.Resolve(id, players).ID, item.Stats}} {
				more, err := item.List[any](ctx, s.DB, tables.ReadStats, item.PlayerKey(of.id), of.sk)
				if err != nil {
					return err
				}

				for _, m := range more {
					items = append(items, map[string]any{"key": m.PK + " " + m.SK, "type": m.EntityType, "createdAt": m.CreatedAt, "data": *m.V()})
				}
			}
		}
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), map[string]any{"items": items}); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}
