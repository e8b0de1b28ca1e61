// Package userdata deletes and exports what the room keeps of a user, when the room of the accounts
// asks for it.
package userdata

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

//go:embed userdata.sql
var file string

// sql are the statements of userdata.sql.
var sql = pg.MustParse[struct {
	Forget, RaiseLeaderboards, ListLeagues, DeleteMember, ListLeaderboards, ExportMember, ExportGuesses,
	ExportLedger, ExportPoints, ExportRoundPoints, ExportLeagues, ExportReminders, ExportWrongCodes string
}](file)

const room = "bestshot"

// Service deletes and hands out what is kept of a user.
type Service struct {
	db     pg.DB
	phones *device.Devices
	cache  redis.Cache
	queue  queue.Sender
	files  object.Bucket
}

// Open opens the service.
func Open(ctx context.Context, env app.Env) (*Service, error) {
	db, err := pg.Open(ctx, env, tables.Worker)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Service{
		db, device.Open(env, tables.Phones), cache, queue.Open(env.AWS, env.Queues),
		object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
	}, err
}

// board is a tournament with a leaderboard to read again.
type board struct {
	ID      string `db:"id"`
	Version int64  `db:"version"`
}

// ForgetUserFunction deletes what the room has of a user.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/forget-user",
		Does:   "Deletes what is kept of a user who has deleted the account.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: []spec.Queue{account.DoneQueue},
		Memory: 256, Timeout: time.Minute,
	}, Open, (*Service).ForgetUser)
}

// ForgetUser deletes what the room keeps of a user who has deleted the account: the member
// with guesses, points, memberships and phones. Others keep theirs. A league without another
// administrator gets the member who has been in it longest. It confirms when nothing is left.
// A second run deletes what is, and has the leaderboards read again.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	var boards []board

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		boards = nil

		if err := member.LockUser(ctx, tx, in.UserID); err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.Forget, in.UserID); err != nil {
			return err
		}

		id, ok, err := member.Find(ctx, tx, in.UserID)
		if err != nil || !ok {
			return err
		}

		if boards, err = pg.All[board](ctx, tx, sql.RaiseLeaderboards, id); err != nil {
			return err
		}

		leagues, err := pg.Values[string](ctx, tx, sql.ListLeagues, id)
		if err != nil {
			return err
		}

		for _, l := range leagues {
			if err := league.Leave(ctx, tx, l, id); err != nil {
				return err
			}
		}

		_, err = pg.Do(ctx, tx, sql.DeleteMember, id)

		return err
	})
	if err != nil {
		return err
	}

	if len(boards) == 0 { // a run before may have crashed before it said so: nothing tells which boards had the member
		boards, err = pg.All[board](ctx, s.db, sql.ListLeaderboards)
		if err != nil {
			return err
		}
	}

	for _, b := range boards {
		err = errors.Join(err, s.cache.Invalidate(ctx, view.LeaderboardKey(b.ID), b.Version))
	}

	if err != nil {
		return err
	}

	if err := s.phones.Forget(ctx, in.UserID); err != nil {
		return err
	}

	slog.InfoContext(ctx, "a user is forgotten", "user", in.UserID, "leaderboards", len(boards))

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// ExportUserFunction hands out what the room has of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/export-user",
		Does:   "Hands out all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.Phones.List},
		SQL:    []spec.SQLLogin{tables.Worker}, Caches: []spec.CacheLogin{tables.CacheUser}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all that the room keeps of a user to the bucket of exports, and confirms
// it. A second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	document := map[string]any{}

	for name, statement := range map[string]string{
		"member":       sql.ExportMember,
		"guesses":      sql.ExportGuesses,
		"ledger":       sql.ExportLedger,
		"points":       sql.ExportPoints,
		"roundPoints":  sql.ExportRoundPoints,
		"leagues":      sql.ExportLeagues,
		"reminders":    sql.ExportReminders,
		"refusedCodes": sql.ExportWrongCodes,
	} {
		rows, err := pg.Values[map[string]any](ctx, s.db, statement, in.UserID)
		if err != nil {
			return err
		}

		document[name] = append([]map[string]any{}, rows...)
	}

	phones, err := s.phones.Of(ctx, in.UserID)
	if err != nil {
		return err
	}

	document["phones"] = phones
	if err := s.files.Put(ctx, account.PartKey(room, in.Job), document); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}
