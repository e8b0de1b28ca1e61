package league

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Member is a member of a league.
type Member struct {
	UserID string    `json:"userId" doc:"The id of the user."`
	Role   item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the member may do."`
	Email  string    `json:"email,omitempty" doc:"The address to which the invitation went."`
}

// ListAccess is the request for the members of a league.
type ListAccess struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// AccessList is the answer with the members of a league.
type AccessList struct {
	Body struct {
		Members []Member `json:"members" doc:"In order of their ids."`
	}
}

// ListAccessFunction lists the members of a league with their roles.
func ListAccessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-access",
		Does:   "Returns who may do what in a league.",
		IfDown: "Administrators do not see the members of a league.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Reads(tables.ListGrants),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAccess, item.ErrAccess, item.ErrAdmin)
}

// ListAccess returns the members of a league.
func (s *Service) ListAccess(ctx context.Context, in *ListAccess) (*AccessList, error) {
	if _, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Admin); err != nil {
		return nil, err
	}

	rows, err := item.List[item.Grant](ctx, s.DB, tables.ListGrants, item.LeagueKey(in.LeagueID), item.Grants)
	if err != nil {
		return nil, err
	}

	out := &AccessList{}

	out.Body.Members = make([]Member, len(rows))
	for i, g := range item.Values(rows) {
		out.Body.Members[i] = Member{g.UserID, g.Role, g.Email}
	}

	return out, nil
}

// MemberPage is the answer with a member.
type MemberPage struct {
	Status int
	Body   Member
}

// Inviter is the service of invitations.
type Inviter struct {
	Service
	pool userpool.Pool
	mail mail.Sender
}

// OpenInviter opens the service.
func OpenInviter(_ context.Context, env app.Env) (*Inviter, error) {
	return &Inviter{Service{signin.NewBase(env)}, userpool.Open(env.AWS, env.Pool), mail.Open(env.AWS, env.Setting(signin.MailFrom))}, nil
}

// Invite is the request to give the owner of an address a role.
type Invite struct {
	auth.User
	idem.Key
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Body     struct {
		Email string    `json:"email" format:"email" doc:"The address. Its owner gets a mail." example:"lena@example.com"`
		Role  item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the member may do." example:"scorekeeper"`
	}
}

// InviteFunction gives the owner of an address a role in a league.
func InviteFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/invite-member",
		Does:   "Gives the owner of an address a role in a league.",
		IfDown: "Nobody can be invited to a league.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant, tables.CountInvitation), Limits: []spec.Limit{MaxMembers, MaxInvitations, MaxMails},
		Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser}, Mail: []spec.MailSender{signin.Mails},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenInviter, (*Inviter).Invite,
		errLastAdmin, errNoMember, account.ErrDeleted, account.ErrDeleting, idem.ErrConflict, mail.ErrOff,
		mail.ErrRefused, userpool.ErrUnverified, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// Invite gives the owner of an address a role in a league, and mails an invitation. A second run
// mails again, and changes nothing else. A request that is refused creates no account for the
// address. Errors: last_admin, too_many_members, too_many_invitations, too_many_mails,
// userpool.ErrUnverified, account_deleting if the account of the address is about to disappear.
func (s *Inviter) Invite(ctx context.Context, in *Invite) (*MemberPage, error) {
	row, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)
	if err != nil {
		return nil, err
	}

	return idem.Once(ctx, s.Answers, InviteFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[MemberPage]) (*MemberPage, error) {
			userID, known, err := s.pool.Find(ctx, in.Body.Email)
			grant := item.Grant{LeagueID: in.LeagueID, UserID: userID, Role: in.Body.Role, Email: in.Body.Email}

			switch {
			case err != nil:
			case known:
				err = s.allowed(ctx, in.UserID, grant)
			case row.V().Members >= MaxMembers.Max:
				err = problem.Beyond(MaxMembers)
			}

			if err != nil {
				return nil, refusedAddress(err) // and no mail is sent
			}

			if err := dynamo.Retry(ctx, item.Attempts, func() error { return s.count(ctx, in.UserID, strings.ToLower(in.Body.Email)) }); err != nil {
				return nil, err
			}
			// The owner of an address with an account can no longer sign up with it. So the account is
			// created only when all limits allow it and the mail is counted: concurrent requests create
			// no more accounts than they may send mails.
			if !known {
				if grant.UserID, err = s.pool.Reserve(ctx, in.Body.Email); err != nil {
					return nil, refusedAddress(err)
				}
			}
			// The mail is sent first, so that a crash repeats it and never loses it.
			if err := s.mail.Send(ctx, mail.Message{
				To: in.Body.Email, Subject: "You are invited to a league on 3FC",
				Text: "You are now " + string(in.Body.Role) + " of " + quoted(row.V().Name) + " on 3FC.\n\nSign in with this address: " +
					s.Origins[0] + "/sign-in\n",
			}); err != nil {
				return nil, err
			}

			return s.grant(ctx, in.UserID, grant, commit)
		})
}

// quoted returns a league's name as a mail to a stranger contains it. A name that was stored before
// addresses were refused is left out.
func quoted(name string) string {
	if _, err := httpapi.DisplayName(name); err != nil {
		return "a league"
	}

	return "the league “" + name + "”"
}

// allowed returns the error that a grant of a user with an account would get.
func (s *Inviter) allowed(ctx context.Context, by string, g item.Grant) error {
	// Rows that are written in the minute after a tombstone are deleted with the user.
	err := dynamo.Check(account.Require(ctx, g.UserID), s.DB, account.CheckDeleted)
	if errors.Is(err, account.ErrDeleted) {
		return account.ErrDeleting
	}

	if err != nil {
		return err
	}

	_, err = s.grant(ctx, by, g, func(context.Context, spec.Access, *MemberPage, ...dynamo.Write) error { return nil })

	return err
}

// refusedAddress names the field in errors about the account of an address.
func refusedAddress(err error) error {
	for _, of := range []*problem.Error{userpool.ErrUnverified, account.ErrDeleting} {
		if errors.Is(err, of) {
			return of.In("body.email")
		}
	}

	return err
}

// count counts a mail with an invitation, for its address and for who sends it. A mail that
// a crash repeats is counted again.
func (s *Inviter) count(ctx context.Context, by, email string) error {
	now, sum := s.Now(), sha256.Sum256([]byte(email))
	to := item.Counter{PK: item.InviteKey(hex.EncodeToString(sum[:])), SK: item.Metadata, Type: "InvitedMail", Limit: MaxInvitations}

	toAddress, err := to.Take(ctx, s.DB, tables.CountInvitation, now)
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.In("body.email")
	}

	if err != nil {
		return err
	}

	from := item.Counter{PK: item.UserKey(by), SK: item.Invitations, Type: "Invitations", Limit: MaxMails}

	fromUser, err := from.Take(ctx, s.DB, tables.CountInvitation, now)
	if err != nil {
		return err
	}

	return dynamo.Transact(ctx, s.DB, tables.CountInvitation, toAddress, fromUser)
}

// PutAccess is the request to give a user a role.
type PutAccess struct {
	auth.User
	idem.Key
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	MemberID string `path:"userId" maxLength:"36" doc:"The id of the user."`
	Body     struct {
		Role item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the member may do." example:"scorekeeper"`
	}
}

// PutAccessFunction gives a user a role in a league.
func PutAccessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-access",
		Does:   "Gives a user a role in a league.",
		IfDown: "Roles cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/leagues/{leagueId}/access/{userId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant), Limits: []spec.Limit{MaxMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutAccess, errLastAdmin, errNoMember, idem.ErrConflict, item.ErrAccess, item.ErrAdmin,
		item.ErrScope)
}

// PutAccess gives a member of a league another role. A second run changes nothing. A user who is
// not a member is invited by an address: see Invite. Errors: member_not_found, last_admin.
func (s *Service) PutAccess(ctx context.Context, in *PutAccess) (*MemberPage, error) {
	return idem.Once(ctx, s.Answers, PutAccessFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[MemberPage]) (*MemberPage, error) {
			return s.grant(ctx, in.UserID, item.Grant{LeagueID: in.LeagueID, UserID: in.MemberID, Role: in.Body.Role}, commit)
		})
}

// grant gives a user a role, with the league, whose counts it keeps. Without an address the
// user must be a member.
func (s *Service) grant(ctx context.Context, by string, g item.Grant, commit idem.Commit[MemberPage]) (*MemberPage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*MemberPage, error) {
		league, _, err := item.LeagueRow.ReadAs(ctx, s.DB, g.LeagueID, by, item.Admin)
		if err != nil {
			return nil, err
		}

		was, ok, err := dynamo.Get[item.Row[item.Grant]](ctx, s.DB, tables.SaveGrant, item.LeagueKey(g.LeagueID), item.GrantKey(g.UserID))
		if err != nil {
			return nil, err
		}

		out := &MemberPage{http.StatusOK, Member{g.UserID, g.Role, g.Email}}
		now := s.Now()
		row := item.New(item.LeagueKey(g.LeagueID), item.GrantKey(g.UserID), "Grant", g, now)
		saved := row.Create()

		if ok {
			if g.Founder = was.V().Founder; g.Email == "" {
				g.Email, out.Body.Email = was.V().Email, was.V().Email
			}

			if *was.V() == g {
				return out, nil
			}

			old := was.V().Role
			league.V().Admins -= admins(old)
			row = was
			*row.V() = g
			row, saved = row.Save(now)
		} else {
			if g.Email == "" {
				return nil, errNoMember
			}

			if league.V().Members++; league.V().Members > MaxMembers.Max {
				return nil, problem.Beyond(MaxMembers)
			}
		}

		if league.V().Admins += admins(g.Role); league.V().Admins == 0 {
			return nil, errLastAdmin
		}

		_, counted := league.Save(now)

		return out, commit(ctx, tables.SaveGrant, out, saved, row.Mirror(item.UserKey(g.UserID), item.LeagueKey(g.LeagueID)), counted)
	})
}

// admins is what a member adds to the number of administrators.
func admins(r item.Role) int {
	if r == item.Admin {
		return 1
	}

	return 0
}

// DeleteAccess is the request to take a role away.
type DeleteAccess struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	MemberID string `path:"userId" maxLength:"36" doc:"The id of the user: the caller's own to leave."`
}

// DeleteAccessFunction removes a user's role in a league, or the caller's own.
func DeleteAccessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-access",
		Does:   "Takes a user's role in a league away, or the caller's own.",
		IfDown: "Nobody can leave a league.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/leagues/{leagueId}/access/{userId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteAccess, errLastAdmin, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteAccess removes a member's role. Any member may leave; only an administrator may remove
// another member. A second run changes nothing. Errors: last_admin.
func (s *Service) DeleteAccess(ctx context.Context, in *DeleteAccess) (*httpapi.Removed, error) {
	least := item.Admin
	if in.MemberID == in.UserID {
		least = item.Viewer
	}

	return dynamo.RetryValue(ctx, item.Attempts, func() (*httpapi.Removed, error) {
		league, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, least)
		if err != nil {
			return nil, err
		}

		if err := s.remove(ctx, league, in.MemberID); err != nil {
			return nil, err
		}

		return httpapi.NewRemoved(), nil
	})
}

// remove deletes a grant, if it is there, with the league as it was read.
func (s *Service) remove(ctx context.Context, league item.Row[item.League], userID string) error {
	was, ok, err := dynamo.Get[item.Row[item.Grant]](ctx, s.DB, tables.SaveGrant, league.PK, item.GrantKey(userID))
	if err != nil || !ok {
		return err
	}

	l := league.V()

	l.Members--
	if l.Admins -= admins(was.V().Role); l.Admins == 0 {
		return errLastAdmin
	}

	_, counted := league.Save(s.Now())

	return dynamo.Transact(ctx, s.DB, tables.SaveGrant, was.Drop(), dynamo.DeleteWrite(item.Key(item.UserKey(userID), league.PK)), counted)
}
