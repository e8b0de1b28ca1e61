// Package userdata deletes and exports what the room keeps of a user: when the account ends, and
// when an administrator removes a member.
package userdata

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Service deletes and exports the data of users.
type Service struct {
	db     dynamo.DB
	queue  queue.Sender
	files  object.Bucket
	phones *device.Devices
	now    func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{
		db:     item.OpenTable(env),
		queue:  queue.Open(env.AWS, env.Queues),
		files:  object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
		phones: device.Open(env, tables.Phones),
		now:    env.Now,
	}, nil
}

const room = "pickem"

// removes are the access patterns of the removal of a member.
var removes = []spec.Access{tables.GetMember, tables.RemoveMember, tables.AmendRanking, tables.ReadLeague, tables.LeaveLeague,
	tables.EndLeague, tables.ListDevices, tables.MembersDevices, tables.DropDevice}

// DeleteUser is the request to delete a member.
type DeleteUser struct {
	auth.Admin
	ID string `path:"userId" maxLength:"128" doc:"The id of the member."`
}

// DeleteUserFunction removes a member.
func DeleteUserFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-user",
		Does:   "Removes a member and the member's data. The account stays.",
		IfDown: "Administrators cannot remove members.",
		On:     spec.Route{Method: "DELETE", Auth: spec.Admin, Path: "/admin/users/{userId}"},
		Uses:   removes, Sends: []spec.Queue{score.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, Open, (*Service).DeleteUser, item.ErrNoLeague, item.ErrNoUser)
}

// DeleteUser removes a member with all of the member's items, memberships and devices. The account
// stays, because it belongs to the user and to all rooms. DeleteUser marks the member first, so
// that nothing is written for the member any more, and deletes the mark last. A second run
// continues an interrupted one. A user without items is user_not_found.
func (s *Service) DeleteUser(ctx context.Context, in *DeleteUser) (*httpapi.Removed, error) {
	there, err := s.remove(ctx, in.ID)
	if err != nil {
		return nil, err
	}

	if !there {
		return nil, item.ErrNoUser
	}

	return httpapi.NewRemoved(), nil
}

// ForgetUserFunction deletes the data of a user who has deleted the account.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "pickem/forget-user",
		Does:   "Deletes what the room has of a user who has deleted the account.",
		IfDown: "Predictions, leagues and phones of deleted users stay.",
		On:     account.Queue(room, account.Forget),
		Uses:   removes, Sends: []spec.Queue{score.Queue, account.DoneQueue},
		Memory: 256, Timeout: 30 * time.Second,
	}, Open, (*Service).ForgetUser)
}

// ForgetUser removes a user who has deleted the account, if the user is a member, and
// confirms it.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	if _, err := s.remove(ctx, in.UserID); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// ExportUserFunction exports the data of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "pickem/export-user",
		Does:   "Exports what the room has of a user.",
		IfDown: "Exports of users do not end.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.GetMember, tables.ListDevices, tables.MembersDevices}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: 30 * time.Second,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all items of a user to the bucket of exports, and confirms it. A
// second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	items, err := dynamo.QueryAll[map[string]any](ctx, s.db, tables.GetMember,
		dynamo.Range{Key: dynamo.KeyIs(tables.GetMember, item.UserRef(in.UserID)), Consistent: true})
	if err != nil {
		return err
	}

	phones, err := s.phones.Of(ctx, in.UserID)
	if err != nil {
		return err
	}

	former, err := notice.FormerDevices(ctx, s.db, in.UserID)
	if err != nil {
		return err
	}

	devices := []any{}
	for _, p := range phones {
		devices = append(devices, p)
	}

	for _, p := range former {
		devices = append(devices, p)
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), map[string]any{"items": items, "devices": devices}); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}

// remove deletes the data of a user. It returns false if there is none.
func (s *Service) remove(ctx context.Context, userID string) (bool, error) {
	rows, err := s.rows(ctx, userID)
	if err != nil {
		return false, err
	}

	former, err := notice.FormerDevices(ctx, s.db, userID)
	if err != nil || len(rows)+len(former) == 0 {
		return false, err
	}

	mark := item.NewMember(userID, "")
	mark.DeletedAt = item.FormatTime(s.now())

	gone := dynamo.Set(mark, "deletedAt", "type", "belongsto").Remove("name", "GSI_PK", "GSI_SK")
	if err := dynamo.Update(ctx, s.db, tables.RemoveMember, mark.Key(), gone); err != nil {
		return false, err
	}

	if rows, err = s.rows(ctx, userID); err != nil {
		return false, err
	}

	if err := s.unrank(ctx, userID, rows); err != nil {
		return false, err
	}

	leagues := league.Leagues{Db: s.db, Now: s.now}

	var keys []dynamo.Item

	for _, r := range rows {
		if id, ok := strings.CutPrefix(r.SK, item.LeaguePrefix); ok {
			if err := leagues.Leave(ctx, id, userID, userID); err != nil && !errors.Is(err, item.ErrNoLeague) {
				return false, err
			}
		}

		if r.SK != item.UserTag {
			keys = append(keys, r.Key())
		}
	}

	if err := s.phones.Forget(ctx, userID, notice.FormerDevice(userID)); err != nil { // the list is one of the items
		return false, err
	}

	if err := dynamo.DeleteAll(ctx, s.db, tables.RemoveMember, keys); err != nil {
		return false, err
	}

	if former, err = notice.FormerDevices(ctx, s.db, userID); err != nil {
		return false, err
	}

	if err := notice.DropFormerDevices(ctx, s.db, userID, former); err != nil {
		return false, err
	}

	return true, dynamo.DeleteAll(ctx, s.db, tables.RemoveMember, []dynamo.Item{mark.Key()})
}

// unrank deletes a removed member from all rankings, and requests that these are written again, so
// that the others move up.
func (s *Service) unrank(ctx context.Context, userID string, rows []item.Row) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, r := range rows {
		in := score.Request{Removed: true}
		if r.Type == item.StandingType {
			in.Year = item.Standing{Row: r}.Year()
		} else if r.Type == item.PredictionType {
			in.EventID = strings.TrimPrefix(r.SK, item.EventRef(""))
		} else {
			continue
		}

		work.Go(func() error {
			scope := in.Year + in.EventID // one of them

			written, err := ranking.Remove(ctx, s.db, scope, userID)
			if err != nil || !written {
				return err
			}

			return s.queue.SendFIFO(ctx, score.Queue, scope, in)
		})
	}

	return work.Wait()
}

// rows reads the keys of all items in the member's partition.
func (s *Service) rows(ctx context.Context, userID string) ([]item.Row, error) {
	return dynamo.QueryAll[item.Row](ctx, s.db, tables.GetMember,
		dynamo.Range{Key: dynamo.KeyIs(tables.GetMember, item.UserRef(userID)), Consistent: true})
}
