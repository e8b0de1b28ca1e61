package league

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

const (
	rosterType = "seat"
	codeType   = "code"
)

// rosterItem is the league's item of a membership. Leaving and deleting a league need
// a consistent list of its members, which the index cannot give.
type rosterItem struct {
	item.Row
	UserID   string `dynamodbav:"userId"`
	JoinedAt string `dynamodbav:"joinedAt"`
}

// invitation is the item that leads from a code to its league.
type invitation struct {
	item.Row
	LeagueID string `dynamodbav:"leagueId"`
}

// Limits of leagues.
var (
	maxLeagues = spec.Limit{Name: "leagues per member", Max: 20, Code: "too_many_leagues"} // scoring writes one table for each
	maxMembers = spec.Limit{Name: "members per league", Max: 1000, Code: "league_full"}
	maxCodes   = spec.Limit{Name: "wrong codes per user", Max: 10, Per: time.Hour, Code: "too_many_codes"}
)

const (
	codeSK       = "CODE"
	codePrefix   = "CODE#"
	leagueSK     = "LEAGUE"
	rosterPrefix = "MEMBER#"
)

func codeItem(code string) dynamo.Item { return item.Key(codePrefix+code, codeSK) }

func rosterKey(leagueID, userID string) dynamo.Item {
	return item.Key(item.LeagueRef(leagueID), LeagueMemberRef(userID))
}

func newInvitation(code, leagueID string) invitation {
	return invitation{item.Row{PK: codePrefix + code, SK: codeSK, Type: codeType}, leagueID}
}

// codeLetters are those of Crockford's Base32, https://www.crockford.com/base32.html,
// which has no letters that look alike. Eight of them are 40 bits.
const (
	codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeLength  = 8
)

func newCode() string {
	code := make([]byte, codeLength)
	rand.Read(code)
	for i, b := range code {
		code[i] = codeLetters[int(b)%len(codeLetters)]
	}
	return string(code)
}

var misread = strings.NewReplacer("I", "1", "L", "1", "O", "0", "-", "", " ", "")

// readCode normalizes a typed code: upper case, no hyphens and spaces, and the digits
// for letters that look like them.
func readCode(typed string) string { return misread.Replace(strings.ToUpper(typed)) }

var (
	ErrNoLeague = problem.New(problem.NotFound, "league_not_found", "you are not a member of this league")
	errNoCode   = problem.New(problem.NotFound, "code_not_found", "no league has this code")
	errNotOwner = problem.New(problem.Denied, "not_the_owner", "only the owner of the league may do this")
	errNotIn    = problem.New(problem.NotFound, "member_not_found", "the league has no member with this id")
)

// Leagues is the service of leagues and standings.
type Leagues struct {
	Db  dynamo.DB
	Now func() time.Time
}

// OpenLeagues opens the service of leagues.
func OpenLeagues(_ context.Context, env app.Env) (*Leagues, error) {
	return &Leagues{Db: item.OpenTable(env), Now: env.Now}, nil
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
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         League
}

// renewCodeFor renews the code of a league before its owner removes a member, because
// the member knows the present one.
func (s *Leagues) renewCodeFor(ctx context.Context, in *LeaveLeague) error {
	if _, err := s.owned(ctx, in.LeagueID, in.UserID); err != nil {
		return err
	}
	if err := s.checkMember(ctx, in.LeagueID, in.MemberID); err != nil {
		if errors.Is(err, ErrNoLeague) {
			return errNotIn
		}
		return err
	}
	_, err := s.RenewCode(ctx, &RenewCode{User: in.User, LeagueID: in.LeagueID})
	return err
}

// CreateLeague is the request for a new league.
type CreateLeague struct {
	auth.User
	Body struct {
		Name string `json:"name" format:"display-name" doc:"The name of the league."`
	}
}

// CreateLeague creates a league with the caller as its owner and first member. A
// caller who is in maxLeagues leagues gets too_many_leagues. Each request creates
// another league.
func (s *Leagues) CreateLeague(ctx context.Context, in *CreateLeague) (*LeaguePage, error) {
	for range item.MaxTries {
		g, p, err := s.joiner(ctx, in.UserID)
		if err != nil {
			return nil, err
		}
		if len(g.Memberships) >= maxLeagues.Max {
			return nil, problem.Beyond(maxLeagues)
		}
		id := item.NewUUID()
		l := item.League{
			Row: item.Row{PK: item.LeagueRef(id), SK: leagueSK, GSIPK: item.LeagueRef(id), GSISK: leagueSK, Type: item.LeagueType},
			ID:  id, Name: in.Body.Name, OwnerID: in.UserID, Code: newCode(), Members: 1,
		}
		writes := append(enter(g, p, l, s.Now()), dynamo.PutWrite(l, dynamo.Absent[item.League]("PK")), dynamo.PutWrite(newInvitation(l.Code, id), dynamo.Absent[invitation]("PK")))
		err = dynamo.Transact(ctx, s.Db, tables.CreateLeague, writes...)
		if !dynamo.IsRefused(err) {
			return &LeaguePage{http.StatusCreated, httpapi.NoStore, newLeague(l)}, err
		}
	}
	return nil, item.ErrChanged
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

// enter returns the writes that add a member to a league, with the member's present
// standings. They increment the member's Rev, so that a concurrent scoring starts
// again.
func enter(g item.Collection, p item.Member, l item.League, now time.Time) []dynamo.Write {
	user, at := p.UserID(), item.FormatTime(now)
	writes := []dynamo.Write{
		item.IncrementRev(p),
		dynamo.PutWrite(item.Membership{
			Row:      item.Row{PK: p.PK, SK: item.LeagueRef(l.ID), GSIPK: item.LeagueRef(l.ID), GSISK: LeagueMemberRef(user), Type: item.MembershipType},
			LeagueID: l.ID, LeagueName: l.Name, BelongsTo: p.BelongsTo, Name: p.Name, JoinedAt: at,
		}),
		dynamo.PutWrite(rosterItem{item.Row{PK: item.LeagueRef(l.ID), SK: LeagueMemberRef(user), Type: rosterType}, user, at}),
	}
	for _, s := range g.Standings {
		if year, among := s.Scope(); among == "" {
			s.SK, s.GSIPK, s.Name = item.LeagueStandingsSK(year, l.ID), item.LeagueStandingsPK(l.ID, year), p.Name
			writes = append(writes, dynamo.PutWrite(s))
		}
	}
	return writes
}

// exit returns the writes that undo enter: the membership and its standings.
func exit(g item.Collection, m item.Membership) []dynamo.Write {
	writes := []dynamo.Write{dynamo.DeleteWrite(m.Key()), dynamo.DeleteWrite(rosterKey(m.LeagueID, m.UserID()), dynamo.Exists[rosterItem]("PK"))}
	for _, s := range g.Standings {
		if _, among := s.Scope(); among == m.LeagueID {
			writes = append(writes, dynamo.DeleteWrite(s.Key()))
		}
	}
	if p, err := g.Member(); err == nil { // a deleted member has no Rev to increment
		writes = append(writes, item.IncrementRev(p))
	}
	return writes
}

// ListLeagues is the request for the caller's leagues.
type ListLeagues struct{ auth.User }

// LeagueList is the answer with a member's leagues.
type LeagueList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Leagues []Membership `json:"leagues" doc:"In order of name."`
	}
}

// Membership is a league of a member, as the API shows it.
type Membership struct {
	LeagueID string    `json:"leagueId" doc:"The id of the league."`
	Name     string    `json:"name" doc:"The name of the league."`
	JoinedAt time.Time `json:"joinedAt" doc:"When the member joined."`
}

// ListLeagues returns the leagues that the caller is in.
func (s *Leagues) ListLeagues(ctx context.Context, in *ListLeagues) (*LeagueList, error) {
	rows, err := dynamo.QueryAll[item.Membership](ctx, s.Db, tables.MyLeagues, dynamo.Range{Key: dynamo.KeyBeginsWith(tables.MyLeagues, item.UserRef(in.UserID), item.LeaguePrefix), Consistent: true})
	if err != nil {
		return nil, err
	}
	out := &LeagueList{CacheControl: httpapi.NoStore}
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

// JoinLeague makes the caller a member of the league of a code; for a member it changes
// nothing. Errors: code_not_found for an unknown or old code, too_many_codes after
// maxCodes of them, too_many_leagues if the caller is in maxLeagues leagues, league_full
// if it has maxMembers members.
func (s *Leagues) JoinLeague(ctx context.Context, in *JoinLeague) (*LeaguePage, error) {
	code := readCode(in.Body.Code)
	if err := s.countWrong(ctx, in.UserID, code); err != nil {
		return nil, err
	}
	out, err := s.join(ctx, in.UserID, code)
	if errors.Is(err, errNoCode) {
		return nil, err
	}
	return out, errors.Join(err, s.uncountWrong(ctx, in.UserID, code))
}

// join makes the user a member of the league of the code.
func (s *Leagues) join(ctx context.Context, userID, code string) (*LeaguePage, error) {
	for range item.MaxTries {
		to, ok, err := dynamo.Get[invitation](ctx, s.Db, tables.FindLeague, codePrefix+code, codeSK)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errNoCode
		}
		l, err := s.league(ctx, to.LeagueID)
		if errors.Is(err, ErrNoLeague) {
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
			return &LeaguePage{http.StatusOK, httpapi.NoStore, newLeague(l)}, nil
		}
		if len(g.Memberships) >= maxLeagues.Max {
			return nil, problem.Beyond(maxLeagues)
		}
		if l.Members >= maxMembers.Max {
			return nil, problem.Beyond(maxMembers)
		}
		open := dynamo.Equal[item.League]("code", code).And(dynamo.Absent[item.League]("endedAt"), dynamo.Less[item.League]("members", maxMembers.Max))
		count := dynamo.UpdateWrite(l.Key(), dynamo.Add[item.League]("members", 1), open)
		err = dynamo.Transact(ctx, s.Db, tables.JoinLeague, append(enter(g, p, l, s.Now()), count)...)
		if !dynamo.IsRefused(err) {
			l.Members++
			return &LeaguePage{http.StatusOK, httpapi.NoStore, newLeague(l)}, err
		}
	}
	return nil, item.ErrChanged
}

// league reads a league, also one with EndedAt, or returns league_not_found.
func (s *Leagues) league(ctx context.Context, leagueID string) (item.League, error) {
	l, ok, err := dynamo.Get[item.League](ctx, s.Db, tables.FindLeague, item.LeagueRef(leagueID), leagueSK)
	if err == nil && !ok {
		err = ErrNoLeague
	}
	return l, err
}

// owned reads a league of the user, also one with EndedAt. For its other members it
// returns not_the_owner, for everybody else league_not_found.
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
		err = ErrNoLeague
	}
	return err
}

// GetLeague is the request for a league.
type GetLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	Limit    int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor   string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// LeagueScreen is the answer with a league, and a page of its members.
type LeagueScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		League
		Members []LeagueMember `json:"members" doc:"In order of name."`
		Next    string         `json:"next,omitempty"`
	}
}

// LeagueMember is a member of a league.
type LeagueMember struct {
	UserID   string    `json:"userId" doc:"The id of the member."`
	Name     string    `json:"name" doc:"The display name of the member."`
	JoinedAt time.Time `json:"joinedAt" doc:"When the member joined."`
}

// GetLeague returns a league of the caller with a page of its members. The membership
// check and the query run concurrently. The index is eventually consistent: a member
// who has just joined may be missing.
func (s *Leagues) GetLeague(ctx context.Context, in *GetLeague) (*LeagueScreen, error) {
	var g item.Collection
	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.checkMember(bctx, in.LeagueID, in.UserID) })
	both.Go(func() (err error) {
		g, err = item.Query(bctx, s.Db, tables.LeagueMembers, dynamo.Range{Key: dynamo.KeyIs(tables.LeagueMembers, item.LeagueRef(in.LeagueID))})
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	if len(g.Leagues) == 0 {
		return nil, ErrNoLeague
	}
	all := make([]LeagueMember, len(g.Memberships))
	for i, m := range g.Memberships {
		all[i] = LeagueMember{m.UserID(), m.Name, item.ParseTime(m.JoinedAt)}
	}
	slices.SortFunc(all, func(a, b LeagueMember) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UserID, b.UserID))
	})
	out := &LeagueScreen{CacheControl: httpapi.NoStore}
	out.Body.League, out.Body.Count = newLeague(g.Leagues[0]), len(all)
	var err error
	out.Body.Members, out.Body.Next, err = httpapi.Page(all, func(m LeagueMember) string { return m.UserID }, in.Cursor, in.Limit)
	return out, err
}

// GetLeagueStandings is the request for the table of a league in a year.
type GetLeagueStandings struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	Year     string `path:"year" pattern:"^[0-9]{4}$" doc:"The year of the events."`
	Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	Cursor   string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// GetLeagueStandings returns a page of the table of a league of the caller. The
// membership check and the query run concurrently.
func (s *Leagues) GetLeagueStandings(ctx context.Context, in *GetLeagueStandings) (*StandingsScreen, error) {
	var rows []item.Standing
	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.checkMember(bctx, in.LeagueID, in.UserID) })
	both.Go(func() (err error) {
		table := dynamo.KeyIs(tables.LeagueStandings, item.LeagueStandingsPK(in.LeagueID, in.Year))
		rows, err = dynamo.QueryAll[item.Standing](bctx, s.Db, tables.LeagueStandings, dynamo.Range{Key: table, Backward: true})
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	return standingsPage(rows, in.UserID, in.Cursor, in.Limit)
}

// LeaveLeague is the request to remove a member from a league.
type LeaveLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
	MemberID string `path:"userId" maxLength:"128" doc:"The id of the caller. The owner can give the id of another member."`
}

// LeaveLeague removes a member from a league: any member may leave, and the owner may
// remove another member. Before that the owner's league gets a new code. A member that
// does not exist is member_not_found; for a caller who is not the owner the answer is
// not_the_owner. When the owner leaves, the member who joined first becomes the owner;
// when the last member leaves, the league is deleted.
func (s *Leagues) LeaveLeague(ctx context.Context, in *LeaveLeague) (*httpapi.Removed, error) {
	var err error
	if in.MemberID == in.UserID {
		err = s.Leave(ctx, in.LeagueID, in.UserID, in.UserID)
	} else if err = s.renewCodeFor(ctx, in); err == nil {
		if err = s.Leave(ctx, in.LeagueID, in.MemberID, in.UserID); errors.Is(err, ErrNoLeague) {
			err = errNotIn
		}
	}
	if err != nil {
		return nil, err
	}
	return httpapi.NewRemoved(), nil
}

// Leave removes a member from a league in one transaction, for the user by, who is the
// member or the owner. If the member is not in the league it returns league_not_found,
// so a second run changes nothing.
func (s *Leagues) Leave(ctx context.Context, leagueID, userID, by string) error {
	for range item.MaxTries {
		l, err := s.league(ctx, leagueID)
		if err != nil {
			return err
		}
		if by != userID && by != l.OwnerID {
			return errNotOwner
		}
		change, err := s.without(ctx, l, userID)
		if err != nil {
			return err
		}
		g, err := item.ReadMember(ctx, s.Db, userID, true)
		if err != nil {
			return err
		}
		m, ok := g.Membership(leagueID)
		if !ok {
			return ErrNoLeague
		}
		err = dynamo.Transact(ctx, s.Db, tables.LeaveLeague, append(exit(g, m), change...)...)
		if !dynamo.IsRefused(err) {
			return err
		}
	}
	return item.ErrChanged
}

// without returns the writes to the league's own items when a member leaves, on the
// condition that the owner has not changed. When the owner of a league with EndedAt
// leaves, without first removes all other members, each in its own transaction, so that
// the owner is the last and a second run continues an interrupted one.
func (s *Leagues) without(ctx context.Context, l item.League, userID string) ([]dynamo.Write, error) {
	running := dynamo.Unchanged(l, "ownerId").And(dynamo.Absent[item.League]("endedAt"))
	oneLess := dynamo.Add[item.League]("members", -1)
	if l.OwnerID != userID {
		if l.EndedAt != "" {
			return nil, nil
		}
		return []dynamo.Write{dynamo.UpdateWrite(l.Key(), oneLess, running)}, nil
	}
	others, err := dynamo.QueryAll[rosterItem](ctx, s.Db, tables.LeagueRoster, dynamo.Range{Key: dynamo.KeyBeginsWith(tables.LeagueRoster, item.LeagueRef(l.ID), rosterPrefix), Consistent: true})
	if err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(o rosterItem) bool { return o.UserID == userID })
	switch {
	case l.EndedAt != "":
		work, wctx := errgroup.WithContext(ctx)
		work.SetLimit(item.MaxConcurrent)
		for _, o := range others {
			work.Go(func() error {
				if err := s.Leave(wctx, l.ID, o.UserID, o.UserID); !errors.Is(err, ErrNoLeague) {
					return err
				}
				return nil // removed by another run
			})
		}
		return []dynamo.Write{dynamo.DeleteWrite(l.Key(), dynamo.Exists[item.League]("endedAt"))}, work.Wait()
	case len(others) == 0:
		return []dynamo.Write{dynamo.DeleteWrite(l.Key(), running.And(dynamo.Equal[item.League]("members", 1), dynamo.Unchanged(l, "code"))), dynamo.DeleteWrite(codeItem(l.Code))}, nil
	}
	nextOwner := slices.MinFunc(others, func(a, b rosterItem) int {
		return cmp.Or(cmp.Compare(a.JoinedAt, b.JoinedAt), cmp.Compare(a.UserID, b.UserID))
	})
	return []dynamo.Write{
		dynamo.CheckWrite(nextOwner.Key(), dynamo.Exists[rosterItem]("PK")),
		dynamo.UpdateWrite(l.Key(), oneLess.Set(item.League{OwnerID: nextOwner.UserID}, "ownerId"), running),
	}, nil
}

// RenewCode is the request for a new code of a league.
type RenewCode struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
}

// RenewCode replaces the code of a league of the caller. The old code is invalid at
// once. Each request makes another code.
func (s *Leagues) RenewCode(ctx context.Context, in *RenewCode) (*LeaguePage, error) {
	for range item.MaxTries {
		l, err := s.owned(ctx, in.LeagueID, in.UserID)
		if err != nil {
			return nil, err
		}
		if l.EndedAt != "" {
			return nil, ErrNoLeague
		}
		code := newCode()
		err = dynamo.Transact(ctx, s.Db, tables.RenewCode,
			dynamo.UpdateWrite(l.Key(), dynamo.Set(item.League{Code: code}, "code"), unchanged(l)),
			dynamo.DeleteWrite(codeItem(l.Code)),
			dynamo.PutWrite(newInvitation(code, l.ID), dynamo.Absent[invitation]("PK")))
		if !dynamo.IsRefused(err) {
			l.Code = code
			return &LeaguePage{http.StatusOK, httpapi.NoStore, newLeague(l)}, err
		}
	}
	return nil, item.ErrChanged
}

// unchanged returns the condition that a league has no EndedAt, and the owner and code
// with which it was read.
func unchanged(l item.League) expression.ConditionBuilder {
	return dynamo.Unchanged(l, "ownerId", "code").And(dynamo.Absent[item.League]("endedAt"))
}

// DeleteLeague is the request to delete a league.
type DeleteLeague struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"36" doc:"The id of the league."`
}

// DeleteLeague deletes a league of the caller with its memberships and standings. It
// sets EndedAt first, so that nobody can join or read the league; then it removes each
// member, the owner last. A second run continues an interrupted one.
func (s *Leagues) DeleteLeague(ctx context.Context, in *DeleteLeague) (*httpapi.Removed, error) {
	l, err := s.owned(ctx, in.LeagueID, in.UserID)
	if err != nil {
		return nil, err
	}
	if l.EndedAt == "" {
		end := dynamo.Set(item.League{EndedAt: item.FormatTime(s.Now())}, "endedAt").Remove("GSI_PK", "GSI_SK")
		err := dynamo.Transact(ctx, s.Db, tables.EndLeague, dynamo.UpdateWrite(l.Key(), end, unchanged(l)), dynamo.DeleteWrite(codeItem(l.Code)))
		if err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrChanged)
		}
	}
	if err := s.Leave(ctx, l.ID, in.UserID, in.UserID); err != nil {
		return nil, err
	}
	return httpapi.NewRemoved(), nil
}

func LeagueMemberRef(userID string) string { return "MEMBER#" + userID }
