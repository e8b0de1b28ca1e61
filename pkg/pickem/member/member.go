package member

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

var (
	errUserRemoved = problem.New(problem.Conflict, "user_removed",
		"the removal of this member is not complete: remove the member again, then invite")
	errUserExists = problem.New(problem.Conflict, "user_exists", "a member with this address exists already")
)

// maxRenames bounds how often a member can cause rankings to be written.
var maxRenames = spec.Limit{Name: "new names per member", Max: 10, Per: 24 * time.Hour, Code: "too_many_renames"}

// Members is the service of members.
type Members struct {
	db   dynamo.DB
	pool userpool.Pool
	now  func() time.Time

	ranks *ranking.Ranks
	names *eventNames
}

// GetMe is the request for the caller's profile.
type GetMe struct {
	auth.User
	Cursor string `query:"cursor" maxLength:"100" doc:"The value of next in the previous page."`
}

// GetUser is the request for the profile of a member.
type GetUser struct {
	auth.User
	ID     string `path:"userId" maxLength:"128" doc:"The id of the member."`
	Cursor string `query:"cursor" maxLength:"100" doc:"The value of next in the previous page."`
}

// UserScreen is the answer with a member.
type UserScreen struct {
	Body struct {
		UserID    string              `json:"userId" doc:"The id of the member."`
		Name      string              `json:"name" doc:"The display name of the member."`
		Standings []YearPoints        `json:"standings" doc:"By year, latest first."`
		Leagues   []league.Membership `json:"leagues,omitempty" doc:"The caller's leagues, by name. Absent for other members."`
		Events    []Played            `json:"events" doc:"By date, latest first. For other members only scored events. Those of the last two days and to come, and 20 of the others."`
		Next      string              `json:"next,omitempty" doc:"The cursor of the events before these. Absent if there are none."`
	}
}

// YearPoints are a member's points of a year.
type YearPoints struct {
	Year    string `json:"year" doc:"The calendar year."`
	Rank    int    `json:"rank,omitempty" doc:"The caller's rank among all members. Absent until the year is ranked, and for other members."`
	Points  int    `json:"points" doc:"The points of the year."`
	Correct int    `json:"correct" doc:"The number of matches with a correct pick."`
	Played  int    `json:"played" doc:"The number of scored events with a prediction."`

	SurvivorRight int    `json:"survivorRight,omitempty" doc:"The number of right picks in the survivor game, before the first wrong one."`
	SurvivorOut   string `json:"survivorOut,omitempty" doc:"The id of the event whose survivor pick was wrong: the member is out of the game. Absent while the member is in."`
}

// Played is an event that a member has predicted.
type Played struct {
	_ struct{} `schema:"PlayedEvent"`

	EventID     string            `json:"eventId" doc:"The id of the event."`
	Name        string            `json:"name,omitempty" doc:"The name of the event. Absent for other members."`
	Rank        int               `json:"rank,omitempty" doc:"The caller's rank in the event. Absent until it is scored, and for other members."`
	Scored      bool              `json:"scored" doc:"Whether the event is scored."`
	Points      int               `json:"points" doc:"The points for the event."`
	Correct     int               `json:"correct" doc:"The number of matches with a correct pick."`
	Predictions map[string]string `json:"predictions,omitempty" doc:"The caller's picks as saved: the id of a team by match id. GET /app/events/{eventId} lists which are void. Absent for other members: see the event's results."`
}

// GetMeFunction returns the caller's profile.
func GetMeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-me",
		Does:   "Returns the caller's name, standings, leagues and predictions, with ranks.",
		IfDown: "Members cannot open their own profile.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/me"},
		Uses:   []spec.Access{tables.GetMember, tables.GetNames, tables.GetRanks, tables.GetRanking},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenMembers, (*Members).GetMe, httpapi.ErrBadCursor, item.ErrNoUser, item.ErrNotMember)
}

// GetMe returns the caller's name, standings, leagues and predictions: those of the last two days and
// to come, and of 20 events before. A caller who is not a member gets not_a_member.
func (s *Members) GetMe(ctx context.Context, in *GetMe) (*UserScreen, error) {
	return s.ownScreen(ctx, in.UserID, in.Cursor)
}

// ownScreen returns the screen of the caller, with ranks and the names of events, or not_a_member.
func (s *Members) ownScreen(ctx context.Context, userID, cursor string) (*UserScreen, error) {
	g, more, err := s.readProfile(ctx, userID, cursor, true)
	if err != nil {
		return nil, err
	}

	out, err := newUserScreen(g, more, true)
	if errors.Is(err, item.ErrNoUser) {
		err = item.ErrNotMember
	}

	if err != nil {
		return nil, err
	}

	var (
		names map[string]string
		ranks map[string]int
	)

	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { names, err = s.names.of(bctx, s.db.Eventual(), g.Predictions, s.now()); return err })
	both.Go(func() (err error) {
		var (
			years  []string
			scored []ranking.Scored
		)

		for _, t := range g.Standings {
			years = append(years, t.Year())
		}

		for _, p := range g.Predictions {
			if p.ScoredAt != "" {
				scored = append(scored, ranking.Scored{EventID: p.EventID, Results: p.ScoredRev, Points: p.Points, Correct: p.Correct})
			}
		}

		ranks, err = s.ranks.Of(bctx, userID, years, scored)

		return err
	})

	if err := both.Wait(); err != nil {
		return nil, err
	}

	for i, y := range out.Body.Standings {
		out.Body.Standings[i].Rank = ranks[y.Year]
	}

	for i, e := range out.Body.Events {
		out.Body.Events[i].Name, out.Body.Events[i].Rank = names[e.EventID], ranks[e.EventID]
	}

	return out, nil
}

// cursors are the ids of events.
var cursors = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z0-9-]+$`)

// readProfile reads the profile of a member, of events before a cursor if there is one. It returns
// bad_cursor for one that is not the id of an event.
func (s *Members) readProfile(ctx context.Context, userID, cursor string, consistent bool) (item.Collection, bool, error) {
	if cursor != "" && !cursors.MatchString(cursor) {
		return item.Collection{}, false, httpapi.ErrBadCursor
	}

	return item.ReadProfile(ctx, s.db, userID, cursor, s.now(), consistent)
}

// eventNames keeps the names of events for a minute: all members ask for the same.
type eventNames struct {
	mu   sync.Mutex
	kept map[string]string
	at   time.Time // when the first of them was read
}

// keepNames is how long a name is kept.
const keepNames = time.Minute

// of returns the names of the events of predictions, by id.
func (n *eventNames) of(ctx context.Context, db dynamo.DB, predictions []item.Prediction, now time.Time) (map[string]string, error) {
	names := map[string]string{}

	n.mu.Lock()
	if now.Sub(n.at) >= keepNames {
		n.kept, n.at = map[string]string{}, now
	}

	var keys []dynamo.Item

	for _, p := range predictions {
		if name, ok := n.kept[p.EventID]; ok {
			names[p.EventID] = name
		} else {
			keys = append(keys, item.EventKey(p.EventID))
		}
	}
	n.mu.Unlock()

	events, err := dynamo.GetAll[item.Event](ctx, db, tables.GetNames, keys)
	if err != nil {
		return nil, err
	}

	n.mu.Lock()
	defer n.mu.Unlock()

	for _, e := range events {
		names[e.ID], n.kept[e.ID] = e.Name, e.Name
	}

	return names, nil
}

// GetUserFunction returns the profile of another member.
func GetUserFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/get-user",
		Does:   "Returns a member's name, standings and scores.",
		IfDown: "Members cannot open the profiles of other members.",
		On:     spec.Route{Method: "GET", Auth: spec.User, Path: "/app/users/{userId}"},
		Uses:   []spec.Access{tables.CheckMember, tables.GetMember},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenMembers, (*Members).GetUser, httpapi.ErrBadCursor, item.ErrNoUser, item.ErrNotMember)
}

// GetUser returns what all members may see of a member: no events that are not scored,
// and no picks. A caller who is not a member gets not_a_member.
func (s *Members) GetUser(ctx context.Context, in *GetUser) (*UserScreen, error) {
	if err := item.CheckMember(ctx, s.db, in.UserID); err != nil {
		return nil, err
	}

	g, more, err := s.readProfile(ctx, in.ID, in.Cursor, false)
	if err != nil {
		return nil, err
	}

	return newUserScreen(g, more, false)
}

func newUserScreen(g item.Collection, more, own bool) (*UserScreen, error) {
	p, err := g.Member()
	if err != nil {
		return nil, err
	}

	out := &UserScreen{}
	b := &out.Body

	b.UserID, b.Name, b.Standings, b.Events = p.UserID(), p.Name, []YearPoints{}, []Played{}
	for _, s := range g.Standings {
		b.Standings = append(b.Standings, YearPoints{
			Year: s.Year(), Points: s.Points, Correct: s.Correct, Played: s.Played,
			SurvivorRight: s.SurvivorRight, SurvivorOut: s.SurvivorOut,
		})
	}

	if own {
		b.Leagues = league.NewMemberships(g.Memberships)
	}

	for _, p := range g.Predictions {
		e := Played{EventID: p.EventID, Scored: p.ScoredAt != "", Points: p.Points, Correct: p.Correct}
		if own {
			e.Predictions = p.Predictions
		}

		if own || e.Scored {
			b.Events = append(b.Events, e)
		}
	}

	if more && len(g.Predictions) > 0 {
		b.Next = g.Predictions[len(g.Predictions)-1].EventID
	}

	return out, nil
}

// UpdateMe is the request to change the caller's name.
type UpdateMe struct {
	auth.User
	Body struct {
		Name string `json:"name" format:"display-name" doc:"The new display name."`
	}
}

// UpdateMeFunction sets the caller's name.
func UpdateMeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/update-me",
		Does:   "Sets the caller's name.",
		IfDown: "Members cannot change their name.",
		On:     spec.Route{Method: "PATCH", Auth: spec.User, Path: "/app/me"},
		Uses: []spec.Access{tables.SaveMember, tables.GetMember, tables.FindMember, tables.RenameCopies, tables.FindLeague, tables.AmendRanking,
			tables.GetNames, tables.GetRanks, tables.GetRanking, account.CheckDeleted},
		Limits: []spec.Limit{maxRenames},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenMembers, (*Members).UpdateMe, item.ErrNoUser, item.ErrNotMember)
}

// UpdateMe sets the caller's name, and writes it into leagues and rankings before it answers. Of
// two concurrent requests the last wins. An interrupted request leaves the old name in some of them
// until it is repeated or they are written again. A caller who is not a member gets not_a_member,
// and one who has set maxRenames other names too_many_renames.
func (s *Members) UpdateMe(ctx context.Context, in *UpdateMe) (*UserScreen, error) {
	if err := s.setName(ctx, in.UserID, in.Body.Name); err != nil {
		return nil, err
	}

	copied := false

	return dynamo.RetryValue(ctx, item.Attempts, func() (*UserScreen, error) {
		g, err := item.ReadMember(ctx, s.db, in.UserID, true)
		if err != nil {
			return nil, err
		}

		p, err := g.Member()
		if err != nil {
			return nil, item.ErrNotMember
		}

		if !copied && !p.CopyName { // a later attempt replaces what the one before has copied
			return s.ownScreen(ctx, in.UserID, "")
		}

		copied = true

		if err := s.rename(ctx, g, p); err != nil {
			return nil, err
		}

		same := item.IsMember().And(dynamo.Unchanged(p, "name", "renames", "renamedAt"))
		if err := dynamo.Update(ctx, s.db, tables.SaveMember, p.Key(), dynamo.Remove[item.Member]("copyName"), same); err != nil {
			return nil, err
		}

		return s.ownScreen(ctx, in.UserID, "")
	})
}

// setName sets the name of a member, and counts the change if the name differs.
func (s *Members) setName(ctx context.Context, userID, name string) error {
	return dynamo.Retry(ctx, item.Attempts, func() error {
		was, ok, err := dynamo.Get[item.Member](ctx, s.db, tables.FindMember, item.UserRef(userID), item.UserTag)
		switch {
		case err != nil:
			return err
		case !ok || was.DeletedAt != "":
			return item.ErrNotMember
		case was.Name == name:
			return nil
		}

		w, err := limit.Window{Begins: item.ParseTime(was.RenamedAt), Count: was.Renames}.Take(maxRenames, s.now())
		if err != nil {
			return err
		}

		next := was
		next.Name, next.CopyName, next.Renames, next.RenamedAt = name, true, w.Count, item.FormatTime(w.Begins)
		set := dynamo.Set(next, "name", "copyName", "renames", "renamedAt").Add("rev", 1)
		same := item.IsMember().And(dynamo.Unchanged(was, "name", "renames", "renamedAt"))

		return dynamo.Update(ctx, s.db, tables.SaveMember, was.Key(), set, same)
	})
}

// rename writes the name of a member into the leagues and rankings that contain the member. The
// memberships have it first: a job that claims a table of a league reads the names after that.
func (s *Members) rename(ctx context.Context, g item.Collection, p item.Member) error {
	scopes := g.Scopes()
	own := len(scopes)

	var found sync.Mutex

	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, m := range g.Memberships {
		work.Go(func() error {
			err := dynamo.Update(wctx, s.db, tables.RenameCopies, m.SeatKey(), dynamo.Set(item.Membership{Name: p.Name}, "name"),
				dynamo.Exists[item.Membership]("PK"))
			if err != nil {
				return dynamo.IgnoreRefused(err) // refused: it is gone
			}

			l, _, err := dynamo.Get[item.League](wctx, s.db, tables.FindLeague, item.LeagueRef(m.LeagueID), item.LeagueTag)
			if err != nil || !l.HasTables() {
				return err
			}

			found.Lock()
			defer found.Unlock()

			for _, scope := range scopes[:own] {
				scopes = append(scopes, item.TableScope(l.ID, scope))
			}

			return nil
		})
	}

	if err := work.Wait(); err != nil {
		return err
	}

	work, wctx = errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for _, scope := range scopes {
		work.Go(func() error { return ranking.Rename(wctx, s.db, scope, p.UserID(), p.Name) })
	}

	return work.Wait()
}

// InviteUser is the request to invite a person.
type InviteUser struct {
	auth.Admin
	Body struct {
		Name  string `json:"name" format:"display-name" doc:"The display name of the new member."`
		Email string `json:"email" format:"email" doc:"Cognito sends a temporary password to this address."`
	}
}

// InvitedPage is the answer with the invited member.
type InvitedPage struct {
	Status int
	Body   struct {
		UserID string `json:"userId" doc:"The id of the member."`
		Name   string `json:"name" doc:"The display name of the member."`
	}
}

// InviteUserFunction invites a person.
func InviteUserFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/invite-user",
		Does:   "Invites a person: makes a member, and an account, which Cognito mails a password to.",
		IfDown: "Administrators cannot invite members.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/users", Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.InviteMember, account.CheckDeleted}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenMembers, (*Members).InviteUser,
		errUserExists, errUserRemoved, account.ErrDeleted, account.ErrDeleting, userpool.ErrUnverified)
}

// InviteUser makes a person a member, with an account if the address has none. Cognito
// mails a temporary password to a new account and, by a repeated invitation, to one whose
// owner has not signed in yet: the answer is 201 for a new member and 200 for one to whom
// another mail was sent. A second run finds the account and creates the member. Errors:
// user_exists if there is such a member, userpool.ErrUnverified if somebody else may have
// begun to sign up with the address, user_removed while a removal is not complete,
// account_deleting if the account is about to disappear.
func (s *Members) InviteUser(ctx context.Context, in *InviteUser) (*InvitedPage, error) {
	invited, err := s.pool.Invite(ctx, in.Body.Email)
	if err != nil {
		return nil, err
	}

	out := &InvitedPage{Status: http.StatusCreated}
	out.Body.UserID, out.Body.Name = invited.Subject, in.Body.Name

	err = dynamo.Put(account.Require(ctx, invited.Subject), s.db, tables.InviteMember, item.NewMember(invited.Subject, in.Body.Name),
		dynamo.Absent[item.Member]("PK"))
	if errors.Is(err, account.ErrDeleted) {
		return nil, account.ErrDeleting
	}

	refused, ok := errors.AsType[*dynamo.Refused](err)
	if !ok {
		return out, err
	}

	var there item.Member
	if err := attributevalue.UnmarshalMap(refused.Item, &there); err != nil {
		return nil, err
	}

	switch {
	case there.DeletedAt != "":
		return nil, errUserRemoved
	case !invited.Mailed:
		return nil, errUserExists
	}

	out.Status, out.Body.Name = http.StatusOK, there.Name

	return out, nil
}

// ListUsers is the request for a page of the members.
type ListUsers struct {
	auth.Admin
	Limit  int32  `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor string `query:"cursor" maxLength:"128" doc:"The value of next in the previous page."`
}

// UserList is a page of members.
type UserList struct {
	Body struct {
		Users []ListedUser `json:"users" doc:"The members of this page, in order of id."`
		Next  string       `json:"next,omitempty"`
	}
}

// ListedUser is a member of a list.
type ListedUser struct {
	UserID string `json:"userId" doc:"The id of the member."`
	Name   string `json:"name" doc:"The display name of the member."`
}

// ListUsersFunction lists the members.
func ListUsersFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/list-users",
		Does:   "Lists the members.",
		IfDown: "Administrators cannot list the members.",
		On:     spec.Route{Method: "GET", Auth: spec.Admin, Path: "/admin/users"},
		Uses:   []spec.Access{tables.ListMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenMembers, (*Members).ListUsers)
}

// ListUsers returns a page of the members, from the one after the cursor on, which is the id
// of a member. It reads the page only. The index is eventually consistent: a member who was
// just invited may be missing.
func (s *Members) ListUsers(ctx context.Context, in *ListUsers) (*UserList, error) {
	q := dynamo.Range{Key: dynamo.KeyIs(tables.ListMembers, item.UserTag), Limit: in.Limit}
	if in.Cursor != "" {
		ref := item.UserRef(in.Cursor)
		q.After = dynamo.StartKey(tables.ListMembers, item.UserTag, ref, ref, item.UserTag)
	}

	rows, last, err := dynamo.Query[item.Member](ctx, s.db, tables.ListMembers, q)
	if err != nil {
		return nil, err
	}

	out := &UserList{}

	out.Body.Users = make([]ListedUser, len(rows))
	for i, m := range rows {
		out.Body.Users[i] = ListedUser{m.UserID(), m.Name}
	}

	if last != nil {
		out.Body.Next = rows[len(rows)-1].UserID()
	}

	return out, nil
}

// OpenMembers opens the service of members.
func OpenMembers(_ context.Context, env app.Env) (*Members, error) {
	db := item.OpenTable(env)

	return &Members{
		db: db, pool: userpool.Open(env.AWS, env.Pool), now: env.Now,
		ranks: &ranking.Ranks{DB: db.Eventual(), Now: env.Now}, names: &eventNames{},
	}, nil
}
