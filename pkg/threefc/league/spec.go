package league

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/tables"
)

// Limits of leagues.
var (
	MaxLeagues = spec.Limit{Name: "leagues that a user has created", Max: 20, Code: "too_many_leagues"}
	MaxMembers = spec.Limit{Name: "members per league", Max: 200, Code: "too_many_members"}
	// MaxInvitations is by caller, so that nobody keeps others from inviting an address.
	MaxInvitations = spec.Limit{Name: "invitations per address and user", Max: 3, Per: 24 * time.Hour, Code: "too_many_invitations"}
	// MaxAddressInvitations keeps a mailbox from filling up: anybody can create a league.
	MaxAddressInvitations = spec.Limit{
		Name: "invitations per address",
		Max:  20,
		Per:  24 * time.Hour,
		Code: "too_many_invitations_of_address",
	}
	// MaxMails bounds the recipients of a user.
	MaxMails = spec.Limit{Name: "invitations by a user", Max: 50, Per: 24 * time.Hour, Code: "too_many_mails"}
)

// Reads returns the access patterns of every function that reads as a user of a league, and more.
func Reads(more ...spec.Access) []spec.Access {
	return append([]spec.Access{tables.ResolveSession, tables.GetGrant, tables.GetLeague}, more...)
}

// ScoringReads is Reads for what a guest, too, may read by the PIN of a session.
func ScoringReads(more ...spec.Access) []spec.Access {
	return Reads(append([]spec.Access{tables.ResolveGuest, tables.GetPIN, tables.GetLeague}, more...)...)
}

// ScoringWrites is Writes for what a guest, too, may do by the PIN of a session.
func ScoringWrites(more ...spec.Access) []spec.Access {
	return Writes(append([]spec.Access{tables.ResolveGuest, tables.GetPIN, tables.GetLeague}, more...)...)
}

// Writes returns the access patterns of every function that writes as a user of a league, and more.
func Writes(more ...spec.Access) []spec.Access {
	return append([]spec.Access{tables.ResolveSession, tables.GetGrant, tables.GetLeague, tables.FindAnswer, account.CheckDeleted}, more...)
}
