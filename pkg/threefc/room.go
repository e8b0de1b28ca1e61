package threefc

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/profile"
	"matchday/pkg/threefc/public"
	"matchday/pkg/threefc/score"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/takedown"
	"matchday/pkg/threefc/userdata"
	"matchday/pkg/threefc/web"
)

// Room is the room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name:       "threefc",
		Data:       data,
		Recipients: recipients,
		Settings: []spec.Setting{
			{
				Name: signin.MailFrom, Does: "the address of the room's mails, of a domain that SES has verified",
				Like: "[^@ ]+@[^@ ]+", Example: "3fc@example.com", Required: true,
			},
		},
	},
		signin.StartFunction(),
		signin.CompleteFunction(),
		signin.GetFunction(),
		signin.EndFunction(),
		signin.ShowSignInFunction(),
		signin.SendLinkFunction(),
		signin.SignInFunction(),
		league.CreateLeagueFunction(),
		league.ListLeaguesFunction(),
		league.GetLeagueFunction(),
		league.UpdateLeagueFunction(),
		league.DeleteLeagueFunction(),
		league.ListAccessFunction(),
		league.InviteFunction(),
		league.AcceptFunction(),
		league.PutAccessFunction(),
		league.DeleteAccessFunction(),
		league.ShowInvitationFunction(),
		league.SubmitInvitationFunction(),
		season.CreateSeasonFunction(),
		season.ListSeasonsFunction(),
		season.GetSeasonFunction(),
		season.UpdateSeasonFunction(),
		season.DeleteSeasonFunction(),
		season.CopySeasonFunction(),
		season.PutTeamFunction(),
		season.ListTeamsFunction(),
		season.DeleteTeamFunction(),
		season.CreateSessionFunction(),
		season.ListSessionsFunction(),
		season.DeleteSessionFunction(),
		game.CreateGameFunction(),
		game.ListGamesFunction(),
		game.GetGameFunction(),
		game.UpdateGameFunction(),
		game.DeleteGameFunction(),
		game.StartThirdFunction(),
		game.FinishThirdFunction(),
		game.UndoThirdFunction(),
		game.FinishGameFunction(),
		game.ReopenGameFunction(),
		game.PutSeatFunction(),
		game.DeleteSeatFunction(),
		game.ListRosterFunction(),
		game.CreateGoalFunction(),
		game.UpdateGoalFunction(),
		game.DeleteGoalFunction(),
		game.UndoGoalFunction(),
		game.ListGoalsFunction(),
		game.ListProposalsFunction(),
		game.AcceptProposalFunction(),
		game.DismissProposalFunction(),
		game.ListAuditFunction(),
		score.ShowPageFunction(),
		score.ShowWorkerFunction(),
		score.PutPINFunction(),
		score.RevokePINFunction(),
		score.EnterPINFunction(),
		player.CreatePlayerFunction(),
		player.ListPlayersFunction(),
		player.GetPlayerFunction(),
		player.UpdatePlayerFunction(),
		player.DeletePlayerFunction(),
		player.MergePlayerFunction(),
		player.ClaimPlayerFunction(),
		player.DropClaimFunction(),
		player.CreateCodeFunction(),
		player.RevokeCodesFunction(),
		player.ShowCodeFunction(),
		player.JoinFunction(),
		player.ListPoolFunction(),
		player.ShowJoinFunction(),
		player.SubmitJoinFunction(),
		standing.AggregateSeasonFunction(),
		standing.SweepOutboxFunction(),
		public.GetGameFunction(),
		public.GetTimelineFunction(),
		public.GetStandingsFunction(),
		public.GetLeadersFunction(),
		public.ShowCalendarFunction(),
		public.ShowLeagueFunction(),
		public.ShowSeasonFunction(),
		public.ShowGameFunction(),
		notice.PutAvailabilityFunction(),
		notice.ListAvailabilityFunction(),
		notice.GetPreferencesFunction(),
		notice.PutPreferencesFunction(),
		notice.ShowSessionFunction(),
		notice.SubmitAvailabilityFunction(),
		notice.ShowPreferencesFunction(),
		notice.SubmitPreferencesFunction(),
		notice.NotifyFinishFunction(),
		notice.SendRemindersFunction(),
		notice.RemindSessionFunction(),
		notice.SendMailFunction(),
		profile.GetHealthFunction(),
		profile.GetStatsFunction(),
		userdata.DeleteAccountFunction(),
		userdata.ForgetUserFunction(),
		userdata.ExportUserFunction(),
		takedown.Function(),
		web.ShowIconFunction(),
		web.ShowManifestFunction(),
	)
}
