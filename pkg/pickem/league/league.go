package league

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

const codeType = "code"

// invitation is the item of a code, with the league that it invites to.
type invitation struct {
	item.Row
	LeagueID string `dynamodbav:"leagueId"`
}

// Limits of leagues.
var (
	maxLeagues = spec.Limit{Name: "leagues per member", Max: 20, Code: "too_many_leagues"}
	maxMembers = spec.Limit{Name: "members per league", Max: 1_000, Code: "league_full"} // see package score: Scorer.rankLeagues
	maxCodes   = spec.Limit{Name: "wrong codes per user", Max: 10, Per: time.Hour, Code: "too_many_codes"}
)

const (
	codeSK     = "CODE"
	codePrefix = "CODE#"
)

func codeItem(code string) dynamo.Item { return item.Key(codePrefix+code, codeSK) }

func newInvitation(code, leagueID string) invitation {
	return invitation{item.Row{PK: codePrefix + code, SK: codeSK, Type: codeType}, leagueID}
}

var (
	errNoCode   = problem.New(problem.NotFound, "code_not_found", "no league has this code")
	errNotOwner = problem.New(problem.Denied, "not_the_owner", "only the owner of the league may do this")
	errNotIn    = problem.New(problem.NotFound, "member_not_found", "the league has no member with this id")
)

// Leagues is the service of leagues and standings.
type Leagues struct {
	Db      dynamo.DB
	Now     func() time.Time
	Answers idem.Store
}

// OpenLeagues opens the service of leagues.
func OpenLeagues(_ context.Context, env app.Env) (*Leagues, error) {
	return &Leagues{item.OpenTable(env), env.Now, item.OpenAnswers(env)}, nil
}

// League is a league as its members see it.
type League struct {
	LeagueID string `json:"leagueId" doc:"The id of the league."`
	Name     string `json:"name" doc:"The name of the league."`
	OwnerID  string `json:"ownerId" doc:"The id of the member who owns the league."`
	Code     string `json:"code" example:"7Q2MZ0KD" doc:"The invitation code. Anyone who has it can join."`
	Count    int    `json:"count" doc:"The number of members."`
}

func newLeague(l item.League) League { return League{l.ID, l.Name, l.OwnerID, l.Code, l.Members} }

// LeaguePage is the answer with a league.
type LeaguePage struct {
	Status int
	Body   League
}

// CreateLeague is the request for a new league.
type CreateLeague struct {
	auth.User
	idem.Key
	Body struct {
		Name string `json:"name" format:"display-name" doc:"The name of the league."`
	}
}

// CreateLeagueFunction creates a league.
func CreateLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/create-league",
		Does:   "Creates a league, owned by the caller, with an invitation code.",
		IfDown: "Members cannot create leagues.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues", Answers: []int{201}},
		Uses:   []spec.Access{tables.FindAnswer, tables.GetMember, tables.CreateLeague, account.CheckDeleted},
		Limits: []spec.Limit{maxLeagues},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenLeagues, (*Leagues).CreateLeague, idem.ErrConflict, item.ErrNoUser, item.ErrNotMember)
}

// CreateLeague creates a league with the caller as its owner and first member. A
// caller who is in maxLeagues leagues gets too_many_leagues. Each request creates another league,
// but for requests with the same Idempotency-Key.
func (s *Leagues) CreateLeague(ctx context.Context, in *CreateLeague) (*LeaguePage, error) {
	return idem.Once(ctx, s.Answers, CreateLeagueFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[LeaguePage]) (*LeaguePage, error) {
			return s.create(ctx, in, commit)
		})
}

func (s *Leagues) create(ctx context.Context, in *CreateLeague, commit idem.Commit[LeaguePage]) (*LeaguePage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*LeaguePage, error) {
		g, p, err := s.joiner(ctx, in.UserID)
		if err != nil {
			return nil, err
		}

		if len(g.Memberships) >= maxLeagues.Max {
			return nil, problem.Beyond(maxLeagues)
		}

		id := code.NewUUID()
		l := item.League{
			Row: item.Row{PK: item.LeagueRef(id), SK: item.LeagueTag, Type: item.LeagueType},
			ID:  id, Name: in.Body.Name, OwnerID: in.UserID, Code: code.New(), Members: 1,
		}
		writes := append(enter(p, l, s.Now()),
			dynamo.PutWrite(l, dynamo.Absent[item.League]("PK")),
			dynamo.PutWrite(newInvitation(l.Code, id), dynamo.Absent[invitation]("PK")))

		out := &LeaguePage{http.StatusCreated, newLeague(l)}

		return out, commit(ctx, tables.CreateLeague, out, writes...)
	})
}

// joiner reads a member who is about to join a league, with the member's items.
func (s *Leagues) joiner(ctx context.Context, userID string) (g item.Collection, p item.Member, err error) {
	if g, err = item.ReadMember(ctx, s.Db, userID, true); err != nil {
		return g, p, err
	}

	if p, err = g.Member(); err != nil {
		err = item.ErrNotMember
	}

	return g, p, err
}

// enter returns the writes that add a member to a league. They increment the member's
// Rev, so that of two requests that count the member's leagues one starts again.
func enter(p item.Member, l item.League, now time.Time) []dynamo.Write {
	m := item.Membership{
		Row:      item.Row{PK: p.PK, SK: item.LeagueRef(l.ID), Type: item.MembershipType},
		LeagueID: l.ID, LeagueName: l.Name, BelongsTo: p.BelongsTo, JoinedAt: item.FormatTime(now),
	}

	return []dynamo.Write{item.IncrementRev(p), dynamo.PutWrite(m), dynamo.PutWrite(m.Seat(p.Name))}
}

// ListLeagues is the request for the caller's leagues.
type ListLeagues struct{ auth.User }

// LeagueList is the answer with a member's leagues.
type LeagueList struct {
	Body struct {
		Leagues []Membership `json:"leagues" doc:"In order of name."`
	}
}

// Membership is a league of a member, as the API returns it.
type Membership struct {
	LeagueID string    `json:"leagueId" doc:"The id of the league."`
	Name     string    `json:"name" doc:"The name of the league."`
	JoinedAt time.Time `json:"joinedAt" doc:"When the member joined."`
}

// ListLeaguesFunction answers with the leagues of the caller.
func ListLeaguesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/list-leagues",
		Does:   "Lists the leagues of the caller.",
		IfDown: "The list of leagues does not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues"},
		Uses:   []spec.Access{tables.MyLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenLeagues, (*Leagues).ListLeagues)
}

// ListLeagues returns the leagues that the caller is in.
func (s *Leagues) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	rows, err := dynamo.QueryAll[item.Membership](ctx, s.Db, tables.MyLeagues,
		dynamo.Range{Key: dynamo.KeyBeginsWith(tables.MyLeagues, item.UserRef(in.UserID), item.LeaguePrefix), Consistent: true})
	if err != nil {
		return nil, err
	}

	out := &LeagueList{}
	out.Body.Leagues = NewMemberships(rows)

	return out, nil
}

func NewMemberships(rows []item.Membership) []Membership {
	shown := make([]Membership, len(rows))
	for i, m := range rows {
		shown[i] = Membership{m.LeagueID, m.LeagueName, item.ParseTime(m.JoinedAt)}
	}

	slices.SortFunc(shown, func(a, b Membership) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.LeagueID, b.LeagueID))
	})

	return shown
}

// JoinLeague is the request to join a league.
type JoinLeague struct {
	auth.User
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"32" example:"7QKW-2M4P" doc:"The invitation code. Case, hyphens and spaces are ignored."`
	}
}

// JoinLeagueFunction makes the caller a member of a league.
func JoinLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/join-league",
		Does:   "Makes the caller a member of the league with the given code.",
		IfDown: "Members cannot join leagues.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/join"},
		Uses:   []spec.Access{tables.TryCode, tables.FindLeague, tables.GetMember, tables.JoinLeague, account.CheckDeleted},
		Limits: []spec.Limit{maxLeagues, maxMembers, maxCodes},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenLeagues, (*Leagues).JoinLeague, errNoCode, item.ErrNoLeague, item.ErrNoUser, item.ErrNotMember)
}

// JoinLeague makes the caller a member of the league of a code; for a member it changes
// nothing. Errors: code_not_found for an unknown or old code, too_many_codes after
// maxCodes of them, too_many_leagues if the caller is in maxLeagues leagues, league_full
// if it has maxMembers members.
//
// With more than item.RankedOnRead members the league gets stored tables. They list the caller a
// minute later: see LockEvents.
func (s *Leagues) JoinLeague(ctx context.Context, in *JoinLeague) (*LeaguePage, error) {
	typed := code.Read(in.Body.Code)
	if err := s.countWrong(ctx, in.UserID, typed); err != nil {
		return nil, err
	}

	out, err := s.join(ctx, in.UserID, typed)
	if errors.Is(err, errNoCode) {
		return nil, err
	}

	return out, errors.Join(err, s.uncountWrong(ctx, in.UserID, typed))
}

// join makes the user a member of the league of the code.
func (s *Leagues) join(ctx context.Context, userID, code string) (*LeaguePage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*LeaguePage, error) {
		to, ok, err := dynamo.Get[invitation](ctx, s.Db, tables.FindLeague, codePrefix+code, codeSK)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, errNoCode
		}

		l, err := s.league(ctx, to.LeagueID)
		if errors.Is(err, item.ErrNoLeague) {
			return nil, errNoCode
		}

		if err != nil {
			return nil, err
		}

		g, p, err := s.joiner(ctx, userID)
		if err != nil {
			return nil, err
		}

		if _, there := g.Membership(l.ID); there {
			return &LeaguePage{http.StatusOK, newLeague(l)}, nil
		}

		if len(g.Memberships) >= maxLeagues.Max {
			return nil, problem.Beyond(maxLeagues)
		}

		if l.Members >= maxMembers.Max {
			return nil, problem.Beyond(maxMembers)
		}

		writes, count, room := enter(p, l, s.Now()), dynamo.Add[item.League]("members", 1), maxMembers.Max

		switch {
		case l.HasTables():
			writes = append(writes, dynamo.PutWrite(item.NewChange(l.ID, userID, g.Scopes())))
		case l.Members >= item.RankedOnRead:
			count = count.Set(l.WithTables(), "GSI_PK", "GSI_SK")
			writes = append(writes, dynamo.PutWrite(item.NewChangeOfAll(l.ID)))
		default: // if others join meanwhile, it may need tables
			room = item.RankedOnRead
		}

		open := dynamo.Equal[item.League]("code", code).And(dynamo.Absent[item.League]("endedAt"),
			dynamo.Less[item.League]("members", room), dynamo.Unchanged(l, "GSI_PK"))
		err = dynamo.Transact(ctx, s.Db, tables.JoinLeague, append(writes, dynamo.UpdateWrite(l.Key(), count, open))...)
		l.Members++

		return &LeaguePage{http.StatusOK, newLeague(l)}, err
	})
}

// league reads a league, also one with EndedAt, or returns league_not_found.
func (s *Leagues) league(ctx context.Context, leagueID string) (item.League, error) {
	l, ok, err := dynamo.Get[item.League](ctx, s.Db, tables.FindLeague, item.LeagueRef(leagueID), item.LeagueTag)
	if err == nil && !ok {
		err = item.ErrNoLeague
	}

	return l, err
}

// owned reads a league of the user, also one with EndedAt. It returns not_the_owner for its other
// members, and league_not_found for everybody else.
func (s *Leagues) owned(ctx context.Context, leagueID, userID string) (item.League, error) {
	l, err := s.league(ctx, leagueID)
	if err != nil || l.OwnerID == userID {
		return l, err
	}

	if err := s.checkMember(ctx, leagueID, userID); err != nil {
		return item.League{}, err
	}

	return item.League{}, errNotOwner
}

// checkMember returns league_not_found if the user is not a member of the league.
func (s *Leagues) checkMember(ctx context.Context, leagueID, userID string) error {
	_, ok, err := dynamo.Get[item.Membership](ctx, s.Db, tables.CheckMembership, item.UserRef(userID), item.LeagueRef(leagueID))
	if err == nil && !ok {
		err = item.ErrNoLeague
	}

	return err
}

// GetLeague is the request for a league.
type GetLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
}

// LeagueScreen is the answer with a league and its members.
type LeagueScreen struct {
	Body struct {
		League
		Members []LeagueMember `json:"members" doc:"In order of name."`
	}
}

// LeagueMember is a member of a league.
type LeagueMember struct {
	UserID   string    `json:"userId" doc:"The id of the member."`
	Name     string    `json:"name" doc:"The display name of the member."`
	JoinedAt time.Time `json:"joinedAt" doc:"When the member joined."`
}

// GetLeagueFunction answers with a league and its members.
func GetLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-league",
		Does:   "Returns a league of the caller with its members.",
		IfDown: "League pages do not load.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.ReadLeague},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenLeagues, (*Leagues).GetLeague, item.ErrNoLeague)
}

// GetLeague returns a league of the caller with its members, which are at most maxMembers.
func (s *Leagues) GetLeague(ctx context.Context, in *GetLeague) (*LeagueScreen, error) {
	l, members, err := item.ReadLeague(ctx, s.Db, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	out := &LeagueScreen{}

	out.Body.League, out.Body.Members = newLeague(l), make([]LeagueMember, len(members))
	for i, m := range members {
		out.Body.Members[i] = LeagueMember{m.UserID(), m.Name, item.ParseTime(m.JoinedAt)}
	}

	return out, nil
}

// LeaveLeague is the request to remove a member from a league.
type LeaveLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	MemberID string `path:"userId" maxLength:"128" doc:"The id of the caller. The owner can give the id of another member."`
}

// LeaveLeagueFunction removes a member from a league.
func LeaveLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/leave-league",
		Does:   "Removes the caller from a league. The owner can also remove another member.",
		IfDown: "Members cannot leave leagues, and owners cannot remove members.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}/members/{userId}"},
		Uses: []spec.Access{tables.FindLeague, tables.CheckMembership, tables.ReadLeague, tables.LeaveLeague,
			tables.EndLeague, tables.GetMember, tables.AmendRanking, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenLeagues, (*Leagues).LeaveLeague, errNotOwner, errNotIn, item.ErrNoLeague)
}

// LeaveLeague removes a member from a league. Any member may leave. Only the owner may remove
// another member. A removal gives the league a new code, because the removed member knows the old
// one. When the owner leaves, the member who joined first becomes the owner; when the last member
// leaves, the league is deleted. Errors: member_not_found for a member that does not exist,
// not_the_owner for a caller who may not remove the member.
func (s *Leagues) LeaveLeague(ctx context.Context, in *LeaveLeague) (*httpapi.Removed, error) {
	removal := in.MemberID != in.UserID
	if removal {
		if _, err := s.owned(ctx, in.LeagueID, in.UserID); err != nil {
			return nil, err
		}
	}

	err := s.Leave(ctx, in.LeagueID, in.MemberID, in.UserID)
	if removal && errors.Is(err, item.ErrNoLeague) {
		err = errNotIn
	}

	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// Leave removes a member from a league in one transaction. by is the user who asked for it: the
// member or the owner. A league whose owner removes a member gets a new code. If the member is not
// in the league it returns league_not_found, so a second run changes nothing. It completes the
// deletion of a league with EndedAt.
//
// Stored tables do not list the member when it returns, and the others move up a minute later: see
// LockEvents. After a crash the member, too, is listed until then.
func (s *Leagues) Leave(ctx context.Context, leagueID, userID, by string) error {
	var scopes []string // of the tables that list the member

	err := dynamo.Retry(ctx, item.Attempts, func() error {
		scopes = nil

		g, err := s.read(ctx, leagueID)
		if err != nil {
			return err
		}

		m, ok := member(g, userID)

		l := g.Leagues[0]
		switch {
		case l.EndedAt != "":
			return s.end(ctx, g)
		case by != userID && by != l.OwnerID:
			return errNotOwner
		case !ok:
			return item.ErrNoLeague
		}

		if l.HasTables() && len(g.Memberships) == 1 {
			return s.endLast(ctx, g)
		}

		writes := without(g, userID)
		if by != userID {
			writes = withNewCode(l, code.New(), dynamo.Add[item.League]("members", -1))
		}

		if l.HasTables() {
			of, err := item.ReadMember(ctx, s.Db, userID, true)
			if err != nil {
				return err
			}

			scopes = of.Scopes()
			writes = append(writes, dynamo.PutWrite(item.NewChange(leagueID, userID, scopes)))
		}

		writes = append(writes,
			dynamo.DeleteWrite(item.Key(item.UserRef(userID), item.LeagueRef(leagueID))),
			dynamo.DeleteWrite(m.Key(), dynamo.Exists[item.Membership]("PK")))

		return dynamo.Transact(ctx, s.Db, tables.LeaveLeague, writes...)
	})
	if err != nil {
		return err
	}

	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, scope := range scopes {
		work.Go(func() error {
			_, err := ranking.Remove(ctx, s.Db, item.TableScope(leagueID, scope), userID)
			return err
		})
	}

	return work.Wait()
}

// endLast deletes a league with tables whose last member leaves. It is marked first, so that a second
// run finds the membership until the tables are deleted, too.
func (s *Leagues) endLast(ctx context.Context, g item.Collection) error {
	l := g.Leagues[0]
	end := dynamo.Set(item.League{EndedAt: item.FormatTime(s.Now())}, "endedAt")

	err := dynamo.Transact(ctx, s.Db, tables.LeaveLeague, dynamo.DeleteWrite(codeItem(l.Code)),
		dynamo.UpdateWrite(l.Key(), end, unchanged(l).And(dynamo.Equal[item.League]("members", 1))))
	if err != nil {
		return err
	}

	return s.end(ctx, g)
}

// read reads a league, also one with EndedAt, and its members, or returns
// league_not_found.
func (s *Leagues) read(ctx context.Context, leagueID string) (item.Collection, error) {
	g, err := item.Query(ctx, s.Db, tables.ReadLeague,
		dynamo.Range{Key: dynamo.KeyIs(tables.ReadLeague, item.LeagueRef(leagueID)), Consistent: true})
	if err == nil && len(g.Leagues) == 0 {
		err = item.ErrNoLeague
	}

	return g, err
}

// member returns a member of a league.
func member(g item.Collection, userID string) (item.Membership, bool) {
	i := slices.IndexFunc(g.Memberships, func(m item.Membership) bool { return m.UserID() == userID })
	if i < 0 {
		return item.Membership{}, false
	}

	return g.Memberships[i], true
}

// without returns the writes to the item of a league when a member leaves, on the condition that
// the owner has not changed. If the owner leaves, the member who joined first becomes the owner. If
// no other member is left, the league is deleted.
func without(g item.Collection, userID string) []dynamo.Write {
	l := g.Leagues[0]
	running := dynamo.Unchanged(l, "ownerId", "GSI_PK").And(dynamo.Absent[item.League]("endedAt"))

	oneLess := dynamo.Add[item.League]("members", -1)
	if l.OwnerID != userID {
		return []dynamo.Write{dynamo.UpdateWrite(l.Key(), oneLess, running)}
	}

	others := slices.DeleteFunc(slices.Clone(g.Memberships), func(m item.Membership) bool { return m.UserID() == userID })
	if len(others) == 0 {
		return []dynamo.Write{dynamo.DeleteWrite(l.Key(), running.And(dynamo.Equal[item.League]("members", 1), dynamo.Unchanged(l, "code"))),
			dynamo.DeleteWrite(codeItem(l.Code))}
	}

	next := slices.MinFunc(others, func(a, b item.Membership) int {
		return cmp.Or(cmp.Compare(a.JoinedAt, b.JoinedAt), cmp.Compare(a.UserID(), b.UserID()))
	})

	return []dynamo.Write{
		dynamo.CheckWrite(next.Key(), dynamo.Exists[item.Membership]("PK")),
		dynamo.UpdateWrite(l.Key(), oneLess.Set(item.League{OwnerID: next.UserID()}, "ownerId"), running),
	}
}

// end deletes the tables, the changes and the memberships of a league with EndedAt, and the league
// last, so that a second run continues an interrupted one.
func (s *Leagues) end(ctx context.Context, g item.Collection) error {
	l := g.Leagues[0]

	var keys []dynamo.Item
	for _, m := range g.Memberships {
		keys = append(keys, item.Key(item.UserRef(m.UserID()), item.LeagueRef(l.ID)), m.Key())
	}

	for _, c := range g.Changes {
		keys = append(keys, c.Key())
	}

	if l.HasTables() {
		if err := s.dropTables(ctx, l.ID); err != nil {
			return err
		}
	}

	if err := dynamo.DeleteAll(ctx, s.Db, tables.EndLeague, keys); err != nil {
		return err
	}

	_, err := dynamo.Delete(ctx, s.Db, tables.EndLeague, l.Key())

	return err
}

// dropTables deletes the tables of a league: those of all events, and of their years.
func (s *Leagues) dropTables(ctx context.Context, leagueID string) error {
	events, err := dynamo.QueryAll[item.Row](ctx, s.Db, tables.EndLeague, dynamo.Range{Key: dynamo.KeyIs(tables.EndLeague, item.EventTag)})
	if err != nil {
		return err
	}

	var partitions []string

	for _, e := range events {
		id := strings.TrimPrefix(e.SK, item.EventRef(""))
		partitions = append(partitions, ranking.Ref(item.TableScope(leagueID, id)), ranking.Ref(item.TableScope(leagueID, id[:len("2026")])))
	}

	slices.Sort(partitions)

	keys, err := item.KeysOf(ctx, s.Db, tables.EndLeague, slices.Compact(partitions))
	if err != nil {
		return err
	}

	return dynamo.DeleteAll(ctx, s.Db, tables.EndLeague, keys)
}

// RenewCode is the request for a new code of a league.
type RenewCode struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
}

// RenewCodeFunction gives a league a new code.
func RenewCodeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/renew-code",
		Does:   "Replaces the code of a league that the caller owns. The old code becomes invalid.",
		IfDown: "Owners cannot invalidate a code that has leaked.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/leagues/{leagueId}/code"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.RenewCode, account.CheckDeleted},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenLeagues, (*Leagues).RenewCode, errNotOwner, item.ErrNoLeague)
}

// RenewCode replaces the code of a league of the caller. The old code is invalid at
// once. Each request makes another code.
func (s *Leagues) RenewCode(ctx context.Context, in *RenewCode) (*LeaguePage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*LeaguePage, error) {
		l, err := s.owned(ctx, in.LeagueID, in.UserID)
		if err != nil {
			return nil, err
		}

		if l.EndedAt != "" {
			return nil, item.ErrNoLeague
		}

		next := code.New()
		err = dynamo.Transact(ctx, s.Db, tables.RenewCode, withNewCode(l, next, dynamo.Set(item.League{}))...)
		l.Code = next

		return &LeaguePage{http.StatusOK, newLeague(l)}, err
	})
}

// withNewCode returns the writes that replace the code of a league, with other changes
// of its item.
func withNewCode(l item.League, code string, changes dynamo.Changes) []dynamo.Write {
	return []dynamo.Write{
		dynamo.UpdateWrite(l.Key(), changes.Set(item.League{Code: code}, "code"), unchanged(l)),
		dynamo.DeleteWrite(codeItem(l.Code)),
		dynamo.PutWrite(newInvitation(code, l.ID), dynamo.Absent[invitation]("PK")),
	}
}

// unchanged returns the condition that a league has no EndedAt, and the owner and code, and tables
// or none, with which it was read.
func unchanged(l item.League) expression.ConditionBuilder {
	return dynamo.Unchanged(l, "ownerId", "code", "GSI_PK").And(dynamo.Absent[item.League]("endedAt"))
}

// DeleteLeague is the request to delete a league.
type DeleteLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
}

// DeleteLeagueFunction deletes a league.
func DeleteLeagueFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-league",
		Does:   "Deletes a league that the caller owns.",
		IfDown: "Owners cannot delete leagues.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/leagues/{leagueId}"},
		Uses:   []spec.Access{tables.FindLeague, tables.CheckMembership, tables.EndLeague, tables.ReadLeague, account.CheckDeleted},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenLeagues, (*Leagues).DeleteLeague, errNotOwner, item.ErrChanged, item.ErrNoLeague)
}

// DeleteLeague deletes a league of the caller with its memberships. It sets EndedAt first,
// so that nobody can join or read the league. A second run continues an interrupted one.
func (s *Leagues) DeleteLeague(ctx context.Context, in *DeleteLeague) (*httpapi.Removed, error) {
	l, err := s.owned(ctx, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}

	if l.EndedAt == "" {
		end := dynamo.Set(item.League{EndedAt: item.FormatTime(s.Now())}, "endedAt")

		err := dynamo.Transact(ctx, s.Db, tables.EndLeague, dynamo.UpdateWrite(l.Key(), end, unchanged(l)), dynamo.DeleteWrite(codeItem(l.Code)))
		if err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrChanged)
		}
	}

	g, err := s.read(ctx, l.ID)
	if err != nil {
		return nil, err
	}

	if err := s.end(ctx, g); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}
