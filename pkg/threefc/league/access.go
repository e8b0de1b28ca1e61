package league

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Member is a member of a league, or an address that was invited and has not accepted. An invitation
// has no user id: it does not tell whether the address has an account.
type Member struct {
	UserID  string    `json:"userId,omitempty" doc:"The id of the user. Absent until the invitation is accepted."`
	Role    item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the member may do."`
	Email   string    `json:"email,omitempty" doc:"The address to which the invitation went."`
	Pending string    `json:"invitationId,omitempty" doc:"The id of an invitation that is not accepted: delete-access takes it in place of a user id."`
}

// ListAccess is the request for the members of a league.
type ListAccess struct {
	auth.User
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// AccessList is the answer with the members of a league.
type AccessList struct {
	Body struct {
		Members []Member `json:"members" doc:"In order of their ids, then those who are invited."`
	}
}

// ListAccessFunction lists the members of a league with their roles.
func ListAccessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-access",
		Does:   "Returns who may do what in a league.",
		IfDown: "Administrators do not see the members of a league.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Reads(tables.ListGrants, tables.ListInvitations),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAccess, item.ErrAccess, item.ErrAdmin)
}

// ListAccess returns the members of a league, and the invitations that are not accepted.
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
		out.Body.Members[i] = Member{UserID: g.UserID, Role: g.Role, Email: g.Email}
	}

	pending, err := s.pending(ctx, in.LeagueID)
	if err != nil {
		return nil, err
	}

	for _, v := range item.Values(pending) {
		out.Body.Members = append(out.Body.Members, v.member())
	}

	return out, nil
}

// invitation is an invitation that is not accepted.
type invitation struct {
	ID       string    `json:"invitationId"`
	LeagueID string    `json:"leagueId"`
	Email    string    `json:"email"`
	Role     item.Role `json:"role"`
	By       string    `json:"byUserId"`
}

func (v invitation) member() Member { return Member{Role: v.Role, Email: v.Email, Pending: v.ID} }

// invitationLifetime is how long an invitation can be accepted.
const invitationLifetime = 14 * 24 * time.Hour

// keyOf returns the sort key of the invitation of an address to a league.
func keyOf(email string) string { return item.Invites + hashOf(strings.ToLower(email)) }

// pending reads the invitations to a league that can be accepted.
func (s *Service) pending(ctx context.Context, leagueID string) ([]item.Row[invitation], error) {
	rows, err := item.List[invitation](ctx, s.DB, tables.ListInvitations, item.LeagueKey(leagueID), item.Invites)

	return slices.DeleteFunc(rows, func(r item.Row[invitation]) bool { return r.TTL <= s.Now().Unix() }), err
}

// MemberPage is the answer with a member.
type MemberPage struct {
	Status int
	Body   Member
}

// Inviter is the service of invitations.
type Inviter struct {
	Service
	mail mail.Sender
}

// OpenInviter opens the service.
func OpenInviter(_ context.Context, env app.Env) (*Inviter, error) {
	return &Inviter{Service{signin.NewBase(env)}, mail.Open(env.AWS, env.Setting(signin.MailFrom))}, nil
}

// Invite is the request to invite the owner of an address.
type Invite struct {
	auth.User
	idem.Key
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
	Body     struct {
		Email string    `json:"email" format:"email" doc:"The address. Its owner gets a mail." example:"lena@example.com"`
		Role  item.Role `json:"role" enum:"admin,scorekeeper,viewer" doc:"What the member may do." example:"scorekeeper"`
	}
}

// InviteFunction invites the owner of an address to a league.
func InviteFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/invite-member",
		Does:   "Invites the owner of an address to a league.",
		IfDown: "Nobody can be invited to a league.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.ListInvitations, tables.SaveInvitation, tables.CountInvitation),
		Limits: []spec.Limit{MaxMembers, MaxInvitations, MaxAddressInvitations, MaxMails},
		Mail:   []spec.MailSender{signin.Mails},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenInviter, (*Inviter).Invite,
		idem.ErrConflict, mail.ErrOff, mail.ErrRefused, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// Invite mails an invitation to an address, whose owner has the role once it is accepted: see Accept. A
// second run mails again, and the role of the last invitation counts. The answer does not depend on
// whether the address has an account, and none is created. Errors: too_many_members, which counts
// invitations, but not those of concurrent requests, too_many_invitations,
// too_many_invitations_of_address, too_many_mails.
func (s *Inviter) Invite(ctx context.Context, in *Invite) (*MemberPage, error) {
	league, _, err := item.LeagueRow.ReadAs(ctx, s.DB, in.LeagueID, in.UserID, item.Admin)
	if err != nil {
		return nil, err
	}

	return idem.Once(ctx, s.Answers, InviteFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[MemberPage]) (*MemberPage, error) {
			pending, err := s.pending(ctx, in.LeagueID)
			if err != nil {
				return nil, err
			}

			now, email := s.Now(), strings.ToLower(in.Body.Email)
			row := item.New(league.PK, keyOf(email), "Invitation",
				invitation{ID: code.NewID(now), LeagueID: in.LeagueID, Email: email, Role: in.Body.Role, By: in.UserID}, now)
			row.TTL = now.Add(invitationLifetime).Unix()

			again := slices.ContainsFunc(pending, func(r item.Row[invitation]) bool { return r.SK == row.SK })
			if !again && league.V().Members+len(pending) >= MaxMembers.Max {
				return nil, problem.Beyond(MaxMembers)
			}

			if err := dynamo.Retry(ctx, item.Attempts, func() error { return s.count(ctx, in.UserID, email) }); err != nil {
				return nil, err
			}
			// The mail is sent first, so that a crash repeats it and never loses it.
			if err := s.mail.Send(ctx, mail.Message{
				To: in.Body.Email, Subject: "You are invited to a league on 3FC",
				Text: "You are invited to be " + string(in.Body.Role) + " of " + Named(league.V().Name) + " on 3FC.\n\n" +
					"Sign in with this address within 14 days, and accept: " + s.Links.To("invitations", in.LeagueID) +
					"\n\nIf you do not know the league, ignore this mail.\n",
			}); err != nil {
				return nil, err
			}

			out := &MemberPage{http.StatusOK, row.V().member()}

			return out, commit(ctx, tables.SaveInvitation, out, dynamo.PutWrite(row))
		})
}

// Accept is the request to accept an invitation.
type Accept struct {
	auth.User
	session.Browser
	LeagueID string `path:"leagueId" maxLength:"26" doc:"The id of the league."`
}

// AcceptFunction makes the caller, whose address is invited, a member of a league.
func AcceptFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/accept-invitation",
		Does:   "Makes the caller a member of a league to which the caller's address is invited.",
		IfDown: "Nobody can accept an invitation to a league.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/accept", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant, tables.TakeInvitation), Limits: []spec.Limit{MaxMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).Accept, errLastAdmin, errNoInvitation, item.ErrAccess, session.ErrInvalid)
}

var errNoInvitation = problem.New(problem.NotFound, "invitation_not_found",
	"the address with which you are signed in is not invited to this league, or no longer")

// Accept gives the caller the role of the invitation to the address with which the caller is signed in.
// An invitation ends after 14 days, and when who has sent it is no administrator any more. A second
// run changes nothing, and answers with the caller's role. Errors: invitation_not_found,
// too_many_members, last_admin.
func (s *Service) Accept(ctx context.Context, in *Accept) (*MemberPage, error) {
	email, err := s.Email(ctx, in.Credential(signin.Cookie))
	if err != nil {
		return nil, err
	}

	return dynamo.RetryValue(ctx, item.Attempts, func() (*MemberPage, error) {
		row, ok, err := dynamo.Get[item.Row[invitation]](ctx, s.DB, tables.TakeInvitation, item.LeagueKey(in.LeagueID), keyOf(email))
		if err != nil {
			return nil, err
		}

		if !ok || row.TTL <= s.Now().Unix() {
			return s.accepted(ctx, in)
		}

		v, taken := row.V(), false
		out, err := s.grant(ctx, v.By, item.Grant{LeagueID: v.LeagueID, UserID: in.UserID, Role: v.Role, Email: v.Email},
			func(ctx context.Context, a spec.Access, _ *MemberPage, writes ...dynamo.Write) error {
				taken = true
				return dynamo.Transact(ctx, s.DB, a, append(writes, row.Drop())...)
			})
		if err == nil && !taken { // the caller has the role already
			err = dynamo.Transact(ctx, s.DB, tables.TakeInvitation, row.Drop())
		}

		if kind := problem.Of(err); kind == problem.Denied || kind == problem.NotFound {
			return nil, errNoInvitation
		}

		return out, err
	})
}

// accepted answers a caller who has accepted before.
func (s *Service) accepted(ctx context.Context, in *Accept) (*MemberPage, error) {
	role, err := item.Check(ctx, s.DB, in.LeagueID, in.UserID, item.Viewer)
	if problem.Of(err) == problem.Denied {
		return nil, errNoInvitation
	}

	if err != nil {
		return nil, err
	}

	return &MemberPage{http.StatusOK, Member{UserID: in.UserID, Role: role}}, nil
}

// Named returns a league as a mail names it: with its name in quotes, or, if the name was stored before
// addresses were refused in names and has one, without.
func Named(name string) string {
	if _, err := httpapi.DisplayName(name); err != nil {
		return "a league"
	}

	return "the league “" + name + "”"
}

// count counts a mail with an invitation: for its address, for who sends it, and for both. A mail that
// a crash repeats is counted again. What was counted by address before there was a limit for both
// counts for the address.
func (s *Inviter) count(ctx context.Context, by, email string) error {
	var writes []dynamo.Write

	for _, c := range []item.Counter{
		{PK: item.InviteKey(hashOf(email + "\n" + by)), SK: item.Metadata, Type: "InvitedMail", Limit: MaxInvitations},
		{PK: item.InviteKey(hashOf(email)), SK: item.Metadata, Type: "InvitedMail", Limit: MaxAddressInvitations},
		{PK: item.UserKey(by), SK: item.Invitations, Type: "Invitations", Limit: MaxMails},
	} {
		w, err := c.Take(ctx, s.DB, tables.CountInvitation, s.Now())
		if p, ok := errors.AsType[*problem.Error](err); ok && c.Limit.Code != MaxMails.Code {
			err = p.In("body.email")
		}

		if err != nil {
			return err
		}

		writes = append(writes, w)
	}

	return dynamo.Transact(ctx, s.DB, tables.CountInvitation, writes...)
}

// hashOf returns the SHA-256 of a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
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

		out := &MemberPage{http.StatusOK, Member{UserID: g.UserID, Role: g.Role, Email: g.Email}}
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
	MemberID string `path:"userId" maxLength:"36" doc:"The id of the user: the caller's own to leave; or the id of an invitation, to withdraw it."`
}

// DeleteAccessFunction removes a user's role in a league, or the caller's own.
func DeleteAccessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-access",
		Does:   "Takes a user's role in a league away, or the caller's own.",
		IfDown: "Nobody can leave a league.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/leagues/{leagueId}/access/{userId}", Auth: spec.Session},
		Uses: Writes(tables.GetLeague, tables.SaveGrant, tables.ListInvitations, tables.TakeInvitation, tables.MyPlayers,
			tables.GetPlayer),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).DeleteAccess, errLastAdmin, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteAccess removes a member's role. Any member may leave; only an administrator may remove
// another member, or withdraw an invitation. A member who is removed also loses the players that the user
// has claimed in the league, which only members may claim afterwards, and the invitation that the address
// has. A second run changes nothing. Errors: last_admin.
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

		if item.IsID(in.MemberID) {
			return httpapi.NewRemoved(), s.withdraw(ctx, in.LeagueID, in.MemberID)
		}

		if err := s.remove(ctx, league, in.MemberID, in.UserID); err != nil {
			return nil, err
		}

		return httpapi.NewRemoved(), nil
	})
}

// withdraw deletes an invitation, if it is there.
func (s *Service) withdraw(ctx context.Context, leagueID, id string) error {
	pending, err := s.pending(ctx, leagueID)
	if err != nil {
		return err
	}

	for _, row := range pending {
		if row.V().ID == id {
			return dynamo.Transact(ctx, s.DB, tables.TakeInvitation, row.Drop())
		}
	}

	return nil
}

// remove deletes a grant, if it is there, with the league as it was read, and what else ends if another user
// removes the member.
func (s *Service) remove(ctx context.Context, league item.Row[item.League], userID, by string) error {
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
	writes := []dynamo.Write{was.Drop(), dynamo.DeleteWrite(item.Key(item.UserKey(userID), league.PK)), counted}

	if by != userID {
		ended, err := s.endClaims(ctx, l.ID, userID)
		if err != nil {
			return err
		}

		writes = append(append(writes, ended...), dynamo.DeleteWrite(item.Key(league.PK, keyOf(was.V().Email))))
	}

	return dynamo.Transact(ctx, s.DB, tables.SaveGrant, writes...)
}

// endClaims returns the writes that end the claims of a user in a league. As after drop-claim by an
// administrator, only members of the league may claim the players again.
func (s *Service) endClaims(ctx context.Context, leagueID, userID string) (writes []dynamo.Write, err error) {
	claims, err := item.List[item.Claim](ctx, s.DB, tables.MyPlayers, item.UserKey(userID), item.Players)
	if err != nil {
		return nil, err
	}

	for _, c := range item.Values(claims) {
		if c.LeagueID != leagueID {
			continue
		}

		writes = append(writes, dynamo.DeleteWrite(item.Key(item.UserKey(userID), item.PlayerKey(c.PlayerID))))

		row, err := item.PlayerRow.Read(ctx, s.DB, c.PlayerID)
		if errors.Is(err, item.ErrNoPlayer) || err == nil && row.V().ClaimedBy != userID {
			continue
		}

		if err != nil {
			return nil, err
		}

		row.V().ClaimedBy, row.V().Guarded, row.V().Guardian = "", true, false
		row, saved := row.Save(s.Now())
		writes = append(writes, saved, row.Mirror(item.LeagueKey(leagueID), row.PK))
	}

	return writes, nil
}
