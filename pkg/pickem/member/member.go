package member

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// noName is the name of a member who has given none.
const noName = "New member"

var (
	errUserRemoved = problem.New(problem.Conflict, "user_removed", "this member was deleted: try again two days after the deletion")
	errUserExists  = problem.New(problem.Conflict, "user_exists", "a member with this address exists already")
)

// Members is the service of members.
type Members struct {
	db       dynamo.DB
	accounts accounts
	now      func() time.Time
}

// GetMe is the request for the caller's profile.
type GetMe struct{ auth.User }

// GetUser is the request for the profile of a member.
type GetUser struct {
	auth.User
	ID string `path:"userId" maxLength:"128" doc:"The id of the member."`
}

// UserScreen is the answer with a member.
type UserScreen struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		UserID    string              `json:"userId"`
		Name      string              `json:"name"`
		Standings []YearPoints        `json:"standings" doc:"By year, latest first."`
		Leagues   []league.Membership `json:"leagues,omitempty" doc:"The caller's leagues, by name. Absent for other members."`
		Events    []Played            `json:"events" doc:"By date, latest first. For other members only scored events."`
	}
}

// YearPoints are a member's points of a year.
type YearPoints struct {
	Year    string `json:"year"`
	Points  int    `json:"points"`
	Correct int    `json:"correct" doc:"The number of matches with a correct pick."`
	Played  int    `json:"played" doc:"The number of scored events with a prediction."`
}

// Played is an event that a member has predicted.
type Played struct {
	EventID     string         `json:"eventId"`
	Scored      bool           `json:"scored"`
	Points      int            `json:"points"`
	Correct     int            `json:"correct" doc:"The number of matches with a correct pick."`
	Predictions map[string]int `json:"predictions,omitempty" doc:"The caller's picks as saved: the index of a team, from 0, by match id. GET /app/events/{eventId} lists which are void. Absent for other members: see the event's results."`
}

// GetMe returns the caller's name, standings, leagues and predictions, or NotFound if
// the caller is not a member.
func (s *Members) GetMe(ctx context.Context, in *GetMe) (*UserScreen, error) {
	g, err := item.ReadMember(ctx, s.db, in.UserID, true)
	if err != nil {
		return nil, err
	}
	return newUserScreen(g, true)
}

// GetUser returns what all members may see of a member: no events that are not scored,
// and no picks.
func (s *Members) GetUser(ctx context.Context, in *GetUser) (*UserScreen, error) {
	g, err := item.ReadMember(ctx, s.db, in.ID, false)
	if err != nil {
		return nil, err
	}
	return newUserScreen(g, false)
}

func newUserScreen(g item.Collection, own bool) (*UserScreen, error) {
	p, err := g.Member()
	if err != nil {
		return nil, err
	}
	out := &UserScreen{CacheControl: httpapi.NoStore}
	b := &out.Body
	b.UserID, b.Name, b.Standings, b.Events = p.UserID(), p.Name, []YearPoints{}, []Played{}
	for _, s := range g.Standings {
		if year, among := s.Scope(); among == "" {
			b.Standings = append(b.Standings, YearPoints{year, s.Points, s.Correct, s.Played})
		}
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
	return out, nil
}

// UpdateMe is the request to change the caller's name.
type UpdateMe struct {
	auth.User
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"40" pattern:"^\\S(.*\\S)?$"`
	}
}

// UpdateMe sets the caller's name in all items that show it, and makes the caller a
// member if needed. Of two concurrent requests the last wins. An interrupted request
// leaves the old name in some tables until it is repeated or the member's next event is
// scored.
func (s *Members) UpdateMe(ctx context.Context, in *UpdateMe) (*UserScreen, error) {
	p := item.NewMember(in.UserID, in.Body.Name)
	set := dynamo.Set(p, "name", "GSI_PK", "GSI_SK", "type", "belongsto").Add("rev", 1)
	another := dynamo.NotEqual[item.Member]("name", p.Name) // the same counts as no change
	unlessSame := dynamo.Absent[item.Member]("deletedAt").And(dynamo.Absent[item.Member]("PK").Or(another))
	err := dynamo.Update(ctx, s.db, tables.SaveMember, p.Key(), set, unlessSame)
	if err := dynamo.IgnoreRefused(err); err != nil {
		return nil, err
	}
	for range item.MaxTries {
		g, err := item.ReadMember(ctx, s.db, in.UserID, true)
		if err != nil {
			return nil, err
		}
		p, err := g.Member()
		if err != nil {
			return nil, err
		}
		if err := s.rename(ctx, p.Name, misnamed(g, p.Name)); err != nil {
			return nil, err
		}
		now, ok, err := dynamo.Get[item.Member](ctx, s.db, tables.FindMember, p.PK, item.UserTag)
		if err != nil {
			return nil, err
		}
		if ok && now.Name == p.Name {
			return newUserScreen(g, true)
		}
	}
	return nil, item.ErrChanged
}

// rename writes a name into the items that show it: standings, memberships and
// predictions, whose attribute is the same. It skips deleted items.
func (s *Members) rename(ctx context.Context, name string, copies []dynamo.Item) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)
	for _, key := range copies {
		work.Go(func() error {
			err := dynamo.Update(ctx, s.db, tables.RenameCopies, key, dynamo.Set(item.Standing{Name: name}, "name"), dynamo.Exists[item.Standing]("PK"))
			return dynamo.IgnoreRefused(err) // refused: it is gone
		})
	}
	return work.Wait()
}

// misnamed returns the keys of the items that show another name for the member.
func misnamed(g item.Collection, name string) (keys []dynamo.Item) {
	for _, s := range g.Standings {
		if s.Name != name {
			keys = append(keys, s.Key())
		}
	}
	for _, m := range g.Memberships {
		if m.Name != name {
			keys = append(keys, m.Key())
		}
	}
	for _, p := range g.Predictions {
		if p.ScoredAt != "" && p.Name != name {
			keys = append(keys, p.Key())
		}
	}
	return keys
}

// InviteUser is the request to invite a person.
type InviteUser struct {
	auth.Admin
	Body struct {
		Name  string `json:"name" minLength:"1" maxLength:"40" pattern:"^\\S(.*\\S)?$"`
		Email string `json:"email" format:"email" maxLength:"128" doc:"Cognito sends a temporary password to this address."`
	}
}

// InvitedPage is the answer with the invited member.
type InvitedPage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		UserID string `json:"userId"`
		Name   string `json:"name"`
	}
}

// InviteUser creates an account, for which Cognito sends an e-mail, and the member. A
// second run finds the account and creates the member. Errors: user_exists if there is
// such a member, user_removed during the two days after a deletion.
func (s *Members) InviteUser(ctx context.Context, in *InviteUser) (*InvitedPage, error) {
	id, err := s.accounts.invite(ctx, in.Body.Email)
	if err != nil {
		return nil, err
	}
	err = dynamo.Put(ctx, s.db, tables.InviteMember, item.NewMember(id, in.Body.Name), dynamo.Absent[item.Member]("PK"))
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		if refused.Item["deletedAt"] != nil {
			return nil, errUserRemoved
		}
		return nil, errUserExists
	}
	if err != nil {
		return nil, err
	}
	out := &InvitedPage{Status: http.StatusCreated, CacheControl: httpapi.NoStore}
	out.Body.UserID, out.Body.Name = id, in.Body.Name
	return out, nil
}

// OnUserConfirmed makes a user who has signed up a member, with the name of the
// account, or noName if that is empty or too long. Existing and deleted members are not
// changed. It ignores confirmations of a reset password.
func (s *Members) OnUserConfirmed(ctx context.Context, e events.CognitoEventUserPoolsPostConfirmation) (events.CognitoEventUserPoolsPostConfirmation, error) {
	if e.TriggerSource == "PostConfirmation_ConfirmForgotPassword" {
		return e, nil
	}
	id, name := e.Request.UserAttributes["sub"], strings.Join(strings.Fields(e.Request.UserAttributes["name"]), " ")
	if id == "" {
		return e, errors.New("the event has no user attribute sub")
	}
	if name == "" || len([]rune(name)) > 40 {
		name = noName
	}
	err := dynamo.Put(ctx, s.db, tables.InviteMember, item.NewMember(id, name), dynamo.Absent[item.Member]("PK"))
	return e, dynamo.IgnoreRefused(err)
}

// DeleteUser is the request to delete a member.
type DeleteUser struct {
	auth.Admin
	ID string `path:"userId" maxLength:"128" doc:"The id of the member."`
}

// keepDeleted is how long the mark of a deleted member is kept: longer than a token is
// valid.
const keepDeleted = 48 * time.Hour

// DeleteUser deletes a member with all of the member's items, memberships and devices,
// and the account. It marks the member first, so that the member's tokens can write
// nothing. A second run continues an interrupted one. A user without items and without
// an account is user_not_found; the mark counts as an item for two days.
func (s *Members) DeleteUser(ctx context.Context, in *DeleteUser) (*httpapi.Removed, error) {
	rows, err := s.rows(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		there, err := s.accounts.exists(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, item.ErrNoUser
		}
	}
	now, p := s.now(), item.NewMember(in.ID, "")
	p.DeletedAt, p.TTL = item.FormatTime(now), now.Add(keepDeleted).Unix()
	gone := dynamo.Set(p, "deletedAt", "ttl", "type", "belongsto").Remove("name", "GSI_PK", "GSI_SK")
	if err := dynamo.Update(ctx, s.db, tables.RemoveMember, p.Key(), gone); err != nil {
		return nil, err
	}
	if rows, err = s.rows(ctx, in.ID); err != nil {
		return nil, err
	}
	leagues := league.Leagues{Db: s.db, Now: s.now}
	var keys []dynamo.Item
	for _, r := range rows {
		if id, ok := strings.CutPrefix(r.SK, item.LeaguePrefix); ok {
			if err := leagues.Leave(ctx, id, in.ID, in.ID); err != nil && !errors.Is(err, league.ErrNoLeague) {
				return nil, err
			}
		}
		if r.SK != item.UserTag {
			keys = append(keys, r.Key())
		}
	}
	if err := dynamo.DeleteAll(ctx, s.db, tables.RemoveMember, keys); err != nil {
		return nil, err
	}
	phones, err := notice.DevicesOf(ctx, s.db, in.ID, 0)
	if err != nil {
		return nil, err
	}
	if err := notice.DropDevices(ctx, s.db, phones); err != nil {
		return nil, err
	}
	return httpapi.NewRemoved(), s.accounts.remove(ctx, in.ID)
}

// rows reads the keys of all items in the member's partition.
func (s *Members) rows(ctx context.Context, userID string) ([]item.Row, error) {
	return dynamo.QueryAll[item.Row](ctx, s.db, tables.GetMember, dynamo.Range{Key: dynamo.KeyIs(tables.GetMember, item.UserRef(userID)), Consistent: true})
}

// OpenMembers opens the service of members.
func OpenMembers(_ context.Context, env app.Env) (*Members, error) {
	return &Members{db: item.OpenTable(env), accounts: accounts{cognito.NewFromConfig(env.AWS), env.Pool}, now: env.Now}, nil
}
