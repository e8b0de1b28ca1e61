// Package member registers users as members, under a nickname.
package member

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

//go:embed member.sql
var file string

// sql are the statements of member.sql.
var sql = pg.MustParse[struct {
	FindMember, GetMember, LockUser, CreateMember, LockMember, RenameMember, RaiseLeaderboards, ListLeaderboards,
	FindAnswer, DeleteAnswers, StoreAnswer, SetNotices string
}](file)

// ErrNoMember reports a caller who has not registered.
var ErrNoMember = problem.New(problem.NotFound, "member_not_found", "register first")

// errLate reports a nickname that is stored while the cache with the leaderboards does not answer.
var errLate = problem.New(problem.Unavailable, "leaderboards_late",
	"the nickname is stored, and leaderboards show the old one for now: send it again").WithRetryAfter(redis.PauseAfterFailure)

// maxRenames bounds how often a member invalidates leaderboards.
var maxRenames = spec.Limit{Name: "new nicknames per member", Max: 5, Per: 24 * time.Hour, Code: "too_many_renames"}

// Store is the database for functions that write for a member. A deleted user writes nothing: each
// such function calls CheckAccount first. After the room has deleted the member, a request that is
// still running finds no member to write for, and CreateMember creates none.
type Store struct {
	DB       pg.DB
	accounts dynamo.DB
}

// OpenStore opens the store in the environment of a function with the login tables.Player.
func OpenStore(ctx context.Context, env app.Env) (Store, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	return Store{db, dynamo.Open(env.AWS, env.Prefix)}, err
}

// OpenReader opens the store in the environment of a function with the login tables.Reader, which only
// reads the database.
func OpenReader(ctx context.Context, env app.Env) (Store, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	return Store{DB: db}, err
}

// CheckAccount returns account.ErrDeleted if the caller has deleted the account.
func (s Store) CheckAccount(ctx context.Context) error {
	return dynamo.Check(ctx, s.accounts, account.CheckDeleted)
}

// Find returns the id of a user's member. ok is false if the user has not registered.
func Find(ctx context.Context, s pg.Session, userID string) (id string, ok bool, err error) {
	return pg.Value[string](ctx, s, sql.FindMember, userID)
}

// ID returns the id of a user's member. Errors: ErrNoMember.
func ID(ctx context.Context, s pg.Session, userID string) (id string, err error) {
	id, ok, err := Find(ctx, s, userID)
	if err == nil && !ok {
		err = ErrNoMember
	}

	return id, err
}

// LockUser locks a user until the transaction ends. A transaction that creates the user's member and
// one that deletes it run one after the other.
func LockUser(ctx context.Context, tx pgx.Tx, userID string) error {
	_, err := pg.Do(ctx, tx, sql.LockUser, userID)
	return err
}

// Members is the service of members.
type Members struct {
	Store
	cache redis.Cache
}

// Open opens the service of members.
func Open(ctx context.Context, env app.Env) (*Members, error) {
	store, err := OpenStore(ctx, env)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Members{store, cache}, err
}

// Member is a member.
type Member struct {
	ID       string    `json:"id" db:"id" format:"uuid" doc:"The id of the member."`
	NickName string    `json:"nickName" db:"nick_name" doc:"The name in leaderboards."`
	Since    time.Time `json:"createdAt" db:"created_at" doc:"When the member registered."`

	Notices
}

// Notices are the notices that a member gets: all until the member says otherwise.
type Notices struct {
	_ struct{} `schema:"MemberNotices"`

	Reminders   bool `json:"reminders" db:"reminders" doc:"Whether the member gets reminders of matches without a guess."`
	Points      bool `json:"pointsNotices" db:"points_notices" doc:"Whether the member is told of new points and the rank."`
	Corrections bool `json:"correctionNotices" db:"correction_notices" doc:"Whether the member is told of points that were corrected."`
	Voids       bool `json:"voidNotices" db:"void_notices" doc:"Whether the member is told that a guessed match does not count."`
}

// Page is the answer with a member.
type Page struct {
	Status int
	Body   Member
}

func page(status int, m Member) *Page {
	m.Since = m.Since.UTC()
	return &Page{status, m}
}

// Name is the body with a nickname.
type Name struct {
	_ struct{} `schema:"MemberName"`

	NickName string `json:"nickName" format:"display-name" doc:"The name in leaderboards." example:"Ana"`
}

// CreateMember is the request to register.
type CreateMember struct {
	auth.User
	Body Name
}

// CreateMemberFunction registers the caller as a member.
func CreateMemberFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/create-member",
		Does:   "Registers the caller as a member.",
		IfDown: "Nobody can register.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/member", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}, Open, (*Members).CreateMember, account.ErrDeleted)
}

// CreateMember registers the caller, with status 201. A second run changes nothing, and returns the
// member as it is, with status 200. Errors: account_deleted.
func (s *Members) CreateMember(ctx context.Context, in *CreateMember) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	var m Member

	status := http.StatusOK

	err := s.DB.Tx(ctx, func(tx pgx.Tx) error {
		if err := LockUser(ctx, tx, in.UserID); err != nil {
			return err
		}

		n, err := pg.Do(ctx, tx, sql.CreateMember, in.UserID, in.Body.NickName)
		if err != nil {
			return err
		}

		if n == 1 {
			status = http.StatusCreated
		}

		found := false

		m, found, err = pg.One[Member](ctx, tx, sql.GetMember, in.UserID)
		if err == nil && !found {
			err = account.ErrDeleted
		}

		return err
	})
	if err != nil {
		return nil, err
	}

	return page(status, m), nil
}

// Profile is the service that reads members.
type Profile struct{ Store }

// OpenProfile opens the service that reads members.
func OpenProfile(ctx context.Context, env app.Env) (*Profile, error) {
	store, err := OpenReader(ctx, env)
	return &Profile{store}, err
}

// GetMember is the request for the caller's member.
type GetMember struct{ auth.User }

// GetMemberFunction returns the caller's member.
func GetMemberFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-member",
		Does:   "Returns the caller's member.",
		IfDown: "Members do not see their nickname.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/member", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 12,
	}, OpenProfile, (*Profile).GetMember, ErrNoMember)
}

// GetMember returns the caller's member. Errors: member_not_found.
func (s *Profile) GetMember(ctx context.Context, in *GetMember) (*Page, error) {
	m, ok, err := pg.One[Member](ctx, s.DB, sql.GetMember, in.UserID)
	if err == nil && !ok {
		err = ErrNoMember
	}

	if err != nil {
		return nil, err
	}

	return page(http.StatusOK, m), nil
}

// Change is the body with what is to change.
type Change struct {
	_ struct{} `schema:"MemberChange"`

	NickName string `json:"nickName,omitempty" format:"display-name" doc:"The name in leaderboards. Absent: unchanged." example:"Ana"`

	Reminders   *bool `json:"reminders,omitempty" doc:"Whether the member gets reminders of matches without a guess. Absent: unchanged."`
	Points      *bool `json:"pointsNotices,omitempty" doc:"Whether the member is told of new points and the rank. Absent: unchanged."`
	Corrections *bool `json:"correctionNotices,omitempty" doc:"Whether the member is told of points that were corrected. Absent: unchanged."`
	Voids       *bool `json:"voidNotices,omitempty" doc:"Whether the member is told that a guessed match does not count. Absent: unchanged."`
}

// of returns the notices n with what the change has of them.
func (c Change) of(n Notices) Notices {
	for _, f := range []struct {
		to   *bool
		from *bool
	}{{&n.Reminders, c.Reminders}, {&n.Points, c.Points}, {&n.Corrections, c.Corrections}, {&n.Voids, c.Voids}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}

	return n
}

// UpdateMember is the request for another nickname, or for other notices.
type UpdateMember struct {
	auth.User
	Body Change
}

// UpdateMemberFunction changes the caller's nickname, and the notices that the caller gets.
func UpdateMemberFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/update-member",
		Does:   "Changes the caller's nickname, also in leaderboards, and the notices that the caller gets.",
		IfDown: "Nobody can change the nickname, or turn notices off.",
		On:     spec.Route{Method: "PATCH", Path: "/api/v2/member", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Limits: []spec.Limit{maxRenames},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 4,
	}, Open, (*Members).UpdateMember, ErrNoMember, errLate)
}

// UpdateMember changes the caller's nickname, and the notices that the caller gets. It invalidates the
// leaderboards that show the nickname. A second run only invalidates them. Errors: account_deleted,
// member_not_found, too_many_renames, and leaderboards_late if the nickname is stored and the cache does not
// answer.
func (s *Members) UpdateMember(ctx context.Context, in *UpdateMember) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	var (
		m      Member
		boards []leaderboard
	)

	err := s.DB.Tx(ctx, func(tx pgx.Tx) (err error) {
		if m, err = change(ctx, tx, in.UserID, in.Body); err != nil {
			return err
		}

		boards, err = pg.All[leaderboard](ctx, tx, sql.ListLeaderboards, m.ID)

		return err
	})
	if err != nil {
		return nil, err
	}

	for _, b := range boards {
		err = errors.Join(err, s.cache.Invalidate(ctx, view.LeaderboardKey(b.ID), b.Version))
	}

	if err != nil {
		return nil, errLate.Because(err)
	}

	return page(http.StatusOK, m), nil
}

// leaderboard is a tournament whose leaderboard shows the member.
type leaderboard struct {
	ID      string `db:"id"`
	Version int64  `db:"version"`
}

// change stores what is new of a change, and raises the versions of the leaderboards that show a new
// nickname. It returns the member as it is then.
func change(ctx context.Context, tx pgx.Tx, userID string, c Change) (Member, error) {
	r, ok, err := pg.One[struct {
		Member
		Renames int `db:"renames"` // in the period of maxRenames
	}](ctx, tx, sql.LockMember, userID, maxRenames.Per.Seconds())

	switch {
	case err != nil:
		return Member{}, err
	case !ok:
		return Member{}, ErrNoMember
	}

	if n := c.of(r.Notices); n != r.Notices {
		r.Notices = n

		if _, err := pg.Do(ctx, tx, sql.SetNotices, r.ID, n.Reminders, n.Points, n.Corrections, n.Voids); err != nil {
			return Member{}, err
		}
	}

	if c.NickName == "" || c.NickName == r.NickName {
		return r.Member, nil
	}

	if r.Renames >= maxRenames.Max {
		return Member{}, problem.Beyond(maxRenames)
	}

	r.NickName = c.NickName

	if _, err := pg.Do(ctx, tx, sql.RenameMember, r.ID, c.NickName, r.Renames); err != nil {
		return Member{}, err
	}

	_, err = pg.Do(ctx, tx, sql.RaiseLeaderboards, r.ID)

	return r.Member, err
}
