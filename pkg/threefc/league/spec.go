package league

import (
	"net/http"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Limits of leagues.
var (
	MaxLeagues = spec.Limit{Name: "leagues that a user has created", Max: 20, Code: "too_many_leagues"}
	MaxMembers = spec.Limit{Name: "members per league", Max: 200, Code: "too_many_members"}
	// Anybody may found a league, whose name is in the mail: a stranger's mailbox must not
	// fill up by it, nor must many get one.
	MaxInvitations = spec.Limit{Name: "invitations per address", Max: 3, Per: 24 * time.Hour, Code: "too_many_invitations"}
	MaxMails       = spec.Limit{Name: "invitations by a user", Max: 50, Per: 24 * time.Hour, Code: "too_many_mails"}
)

// Reads is what every function that reads as a user of a league uses, and more.
func Reads(more ...spec.Access) []spec.Access {
	return append([]spec.Access{tables.ResolveSession, tables.GetGrant}, more...)
}

// Writes is what every function that writes as a user of a league uses, and more.
func Writes(more ...spec.Access) []spec.Access {
	return append([]spec.Access{tables.ResolveSession, tables.GetGrant, tables.FindAnswer, account.CheckDeleted}, more...)
}

// The functions.
var (
	CreateLeagueFunction = spec.Function{
		Name:   "threefc/create-league",
		Does:   "Creates a league, of which the caller is the administrator.",
		IfDown: "No league can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.MyLeagues, tables.CreateLeague, account.CheckDeleted}, Limits: []spec.Limit{MaxLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}
	ListLeaguesFunction = spec.Function{
		Name:   "threefc/list-leagues",
		Does:   "Returns the leagues that the caller is in.",
		IfDown: "The app shows no leagues.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.MyLeagues},
		Memory: 256, Timeout: 5 * time.Second,
	}
	GetLeagueFunction = spec.Function{
		Name:   "threefc/get-league",
		Does:   "Returns a league.",
		IfDown: "The app does not show a league.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Reads(tables.GetLeague),
		Memory: 256, Timeout: 5 * time.Second,
	}
	UpdateLeagueFunction = spec.Function{
		Name:   "threefc/update-league",
		Does:   "Changes the name or the slug of a league.",
		IfDown: "A league cannot be renamed.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.MyLeagues, tables.SaveLeague),
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteLeagueFunction = spec.Function{
		Name:   "threefc/delete-league",
		Does:   "Deletes a league without seasons.",
		IfDown: "A league cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/leagues/{leagueId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.DropLeague, tables.SaveLeague),
		Memory: 256, Timeout: 10 * time.Second,
	}
	ListAccessFunction = spec.Function{
		Name:   "threefc/list-access",
		Does:   "Returns who may do what in a league.",
		IfDown: "Administrators do not see the members of a league.",
		On:     spec.Route{Method: "GET", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Reads(tables.ListGrants),
		Memory: 256, Timeout: 5 * time.Second,
	}
	InviteFunction = spec.Function{
		Name:   "threefc/invite-member",
		Does:   "Gives the owner of an address a role in a league.",
		IfDown: "Nobody can be invited to a league.",
		On:     spec.Route{Method: "POST", Path: "/v1/leagues/{leagueId}/access", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant, tables.CountInvitation), Limits: []spec.Limit{MaxMembers, MaxInvitations, MaxMails},
		Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser}, Mail: []spec.MailSender{signin.Mails},
		Memory: 256, Timeout: 10 * time.Second,
	}
	PutAccessFunction = spec.Function{
		Name:   "threefc/put-access",
		Does:   "Gives a user a role in a league.",
		IfDown: "Roles cannot be changed.",
		On:     spec.Route{Method: "PUT", Path: "/v1/leagues/{leagueId}/access/{userId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant), Limits: []spec.Limit{MaxMembers},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteAccessFunction = spec.Function{
		Name:   "threefc/delete-access",
		Does:   "Takes a user's role in a league away, or the caller's own.",
		IfDown: "Nobody can leave a league.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/leagues/{leagueId}/access/{userId}", Auth: spec.Session},
		Uses:   Writes(tables.GetLeague, tables.SaveGrant),
		Memory: 256, Timeout: 5 * time.Second,
	}
)
