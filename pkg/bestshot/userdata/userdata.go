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
	Forget, ForgetCorrections, RaiseLeaderboards, ListLeagues, DeleteMember, ListLeaderboards, ExportMember, ExportGuesses,
	ExportLedger, ExportPoints, ExportRoundPoints, ExportLeagues, ExportReminders, ExportWrongCodes, ExportCorrections,
	ExportFormerLeagues, ExportJokers, ExportAnswers, ExportQuestionPoints string
}](file)

const room = "bestshot"

// Service deletes and exports the data of users.
type Service struct {
	db     pg.DB
	phones *device.Devices
	cache  redis.Cache
	queue  queue.Sender
	files  object.Bucket
}

// Open opens the service.
func Open(ctx context.Context, env app.Env) (*Service, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Service{
		db:     db,
		phones: device.Open(env, tables.Phones),
		cache:  cache,
		queue:  queue.Open(env.AWS, env.Queues),
		files:  object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
	}, err
}

// ForgetUserFunction deletes what the room has of a user.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/forget-user",
		Does:   "Deletes what is kept of a user who has deleted the account.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		SQL:    []spec.SQLLogin{tables.Keeper},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Sends:  []spec.Queue{account.DoneQueue},
		Memory: 256, Timeout: time.Minute,
	}, Open, (*Service).ForgetUser)
}

// leaderboard is a tournament whose leaderboard shows the member.
type leaderboard struct {
	ID      string `db:"id"`
	Version int64  `db:"version"`
}

// ForgetUser deletes the data of a user who has deleted the account: the member with guesses, points,
// memberships and phones. It ends the memberships as league.Leave does. It sends the confirmation
// when nothing is left. A second run deletes what is left, invalidates the leaderboards, and sends
// the confirmation again.
func (s *Service) ForgetUser(ctx context.Context, in account.Request) error {
	var boards []leaderboard

	err := s.db.Tx(ctx, func(tx pgx.Tx) (err error) {
		boards, err = deleteMember(ctx, tx, in.UserID)
		return err
	})
	if err != nil {
		return err
	}

	if len(boards) == 0 {
		// If the run before crashed after its commit, no row tells which leaderboards it changed.
		boards, err = pg.All[leaderboard](ctx, s.db, sql.ListLeaderboards)
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

// deleteMember deletes a user's member, and returns the leaderboards that showed it. From then on no
// member can be created for the user.
func deleteMember(ctx context.Context, tx pgx.Tx, userID string) ([]leaderboard, error) {
	if err := member.LockUser(ctx, tx, userID); err != nil {
		return nil, err
	}

	for _, statement := range []string{sql.Forget, sql.ForgetCorrections} {
		if _, err := pg.Do(ctx, tx, statement, userID); err != nil {
			return nil, err
		}
	}

	id, ok, err := member.Find(ctx, tx, userID)
	if err != nil || !ok {
		return nil, err
	}

	boards, err := pg.All[leaderboard](ctx, tx, sql.RaiseLeaderboards, id)
	if err != nil {
		return nil, err
	}

	leagues, err := pg.Values[string](ctx, tx, sql.ListLeagues, id)
	if err != nil {
		return nil, err
	}

	for _, l := range leagues {
		if err := league.Leave(ctx, tx, l, id); err != nil {
			return nil, err
		}
	}

	_, err = pg.Do(ctx, tx, sql.DeleteMember, id)

	return boards, err
}

// ExportUserFunction exports what the room has of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "bestshot/export-user",
		Does:    "Hands out all that is kept of a user.",
		IfDown:  "Exports are not completed.",
		On:      account.Queue(room, account.Export),
		Uses:    []spec.Access{tables.Phones.List},
		SQL:     []spec.SQLLogin{tables.Reader},
		Caches:  []spec.CacheLogin{tables.CacheUser},
		Sends:   []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all that the room keeps of a user to the bucket of exports, and sends the
// confirmation. A second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	document := map[string]any{}

	for name, statement := range map[string]string{
		"member":       sql.ExportMember,
		"guesses":      sql.ExportGuesses,
		"jokers":       sql.ExportJokers,
		"ledger":       sql.ExportLedger,
		"points":       sql.ExportPoints,
		"roundPoints":  sql.ExportRoundPoints,
		"leagues":      sql.ExportLeagues,
		"reminders":    sql.ExportReminders,
		"refusedCodes": sql.ExportWrongCodes,
		"corrections":  sql.ExportCorrections,

		"formerLeagues":  sql.ExportFormerLeagues,
		"answers":        sql.ExportAnswers,
		"questionPoints": sql.ExportQuestionPoints,
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
