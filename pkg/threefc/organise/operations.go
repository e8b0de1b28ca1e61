package organise

import (
	"slices"

	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/plan"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/score"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// operations are those that a page or its forms call. The function of the page has their access patterns, queues
// and limits: it can do by a form what they do, and nothing else.
type operations []app.Function

// The operations of the pages, and of their forms.
func showsHome() operations {
	return operations{signin.GetFunction(), league.ListLeaguesFunction(), season.ListSeasonsFunction(), season.ListSessionsFunction()}
}

func changesHome() operations {
	return operations{league.CreateLeagueFunction(), league.RestoreLeagueFunction(), signin.EndFunction()}
}

func showsLeague() operations {
	return operations{
		league.GetLeagueFunction(), league.ListAccessFunction(), season.ListSeasonsFunction(), player.ListPlayersFunction(),
		player.GetPlayerFunction(),
	}
}

func changesLeague() operations {
	return operations{
		league.UpdateLeagueFunction(), league.DeleteLeagueFunction(), league.EndLeagueFunction(), league.InviteFunction(),
		league.PutAccessFunction(),
		league.DeleteAccessFunction(), season.CreateSeasonFunction(), player.CreatePlayerFunction(), player.UpdatePlayerFunction(),
		player.MergePlayerFunction(), player.DropClaimFunction(), player.DeletePlayerFunction(),
	}
}

func showsPart() operations {
	return operations{
		league.GetLeagueFunction(), league.ListAccessFunction(), season.ListTeamsFunction(), season.ListSessionsFunction(),
		notice.ListAvailabilityFunction(), game.ListGamesFunction(), game.GetGameFunction(),
		game.ListRosterFunction(), game.ListProposalsFunction(), game.ListAuditFunction(), player.ListPoolFunction(),
		player.ListPlayersFunction(), player.GetPlayerFunction(),
	}
}

func changesPart() operations {
	return operations{
		season.UpdateSeasonFunction(), season.CopySeasonFunction(), season.DeleteSeasonFunction(), season.PutTeamFunction(),
		season.DeleteTeamFunction(), season.PutSquadFunction(), plan.PlanSeasonFunction(), season.CreateSessionFunction(),
		season.DeleteSessionFunction(), score.PutPINFunction(), game.PutStateFunction(), game.PutLineUpFunction(),
		score.RevokePINFunction(), season.MoveSessionFunction(), game.CreateGameFunction(), game.UpdateGameFunction(), game.PutSeatFunction(),
		game.DeleteSeatFunction(), game.AcceptProposalFunction(), game.DismissProposalFunction(), game.UndoThirdFunction(),
		game.ReopenGameFunction(), game.DeleteGameFunction(), player.CreateCodeFunction(), player.RevokeCodesFunction(),
	}
}

// uses returns the access patterns of the operations, and more. No page is for guests.
func (all operations) uses(more ...spec.Access) (uses []spec.Access) {
	for _, f := range all {
		more = append(slices.Clip(more), f.Uses...)
	}

	for _, a := range more {
		known := slices.ContainsFunc(uses, func(x spec.Access) bool { return x.ID() == a.ID() })
		if !known && a.ID() != tables.ResolveGuest.ID() {
			uses = append(uses, a)
		}
	}

	return uses
}

// sends returns the queues of the operations.
func (all operations) sends() (queues []spec.Queue) {
	for _, f := range all {
		for _, q := range f.Sends {
			if !slices.ContainsFunc(queues, func(x spec.Queue) bool { return x.Name == q.Name }) {
				queues = append(queues, q)
			}
		}
	}

	return queues
}

// limits returns the limits of the operations.
func (all operations) limits() (limits []spec.Limit) {
	for _, f := range all {
		for _, l := range f.Limits {
			if !slices.ContainsFunc(limits, func(x spec.Limit) bool { return x.Code == l.Code }) {
				limits = append(limits, l)
			}
		}
	}

	return limits
}
