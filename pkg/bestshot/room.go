package bestshot

import (
	"slices"

	"matchday/pkg/bestshot/asset"
	"matchday/pkg/bestshot/guess"
	"matchday/pkg/bestshot/health"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/league"
	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/question"
	"matchday/pkg/bestshot/schema"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tournament"
	"matchday/pkg/bestshot/userdata"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// Room is the room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name:       "bestshot",
		Data:       data,
		Recipients: device.Recipients,
		Alarms: []spec.Alarm{
			{
				Name:     "polls-failed",
				Function: ingest.PollProviderFunction().Name,
				Metrics:  []spec.Metric{ingest.PollsFailed},
				Stat:     "Sum",
				Bound:    0,
				Minutes:  1,
				Watches:  "a poll of the provider that fails",
				IfDown:   "Results do not arrive: the provider is down, or refuses us.",
			},
			{
				Name:     "results-refused",
				Function: ingest.IngestFeedFunction().Name,
				Metrics:  []spec.Metric{ingest.Refused},
				Stat:     "Sum",
				Bound:    0,
				Minutes:  1,
				Watches:  "a change of a match that has ended, which the room does not believe",
				IfDown:   "If the provider is right, a match has wrong points: an administrator corrects it.",
			},
			{
				Name:     "letters-kept",
				Function: settlement.KeepDeadLettersFunction().Name,
				Metrics:  []spec.Metric{settlement.Kept},
				Stat:     "Sum",
				Bound:    0,
				Minutes:  1,
				Watches:  "a match that could not be settled, and waits for an administrator",
				IfDown:   "The points of a match do not arrive.",
			},
		},
		Settings: slices.Concat(
			push.Settings(notice.APNSKey, notice.APNSBundle, "the bundle id of the Best Shot app"),
			fcm.Settings(notice.RegisterDeviceFunction().Name),
			provider.Settings(
				ingest.PollProviderFunction().Name,
				ingest.SyncAssetsFunction().Name,
				ingest.CreateTournamentFunction().Name,
			),
			[]spec.Setting{ingest.LiveSetting()},
		),
	},
		health.GetHealthFunction(),
		member.CreateMemberFunction(),
		member.GetMemberFunction(),
		member.UpdateMemberFunction(),
		tournament.ListTournamentsFunction(),
		tournament.GetTournamentFunction(),
		tournament.ListRoundsFunction(),
		tournament.ListMatchesFunction(),
		tournament.ListStandingsFunction(),
		tournament.ListTeamsFunction(),
		tournament.ListLeaderboardFunction(),
		tournament.GetDashboardFunction(),
		asset.GetAssetFunction(),
		guess.PutGuessFunction(),
		guess.PutGuessesFunction(),
		guess.PutJokerFunction(),
		guess.ListGuessesFunction(),
		guess.ListMatchGuessesFunction(),
		guess.ListLeagueGuessesFunction(),
		guess.GetScoreFunction(),
		guess.GetLiveScoreFunction(),
		question.ListQuestionsFunction(),
		question.PutAnswerFunction(),
		question.PutQuestionsFunction(),
		question.DecideQuestionFunction(),
		question.SettleQuestionFunction(),
		league.CreateLeagueFunction(),
		league.ListLeaguesFunction(),
		league.GetLeagueFunction(),
		league.GetScoreFunction(),
		league.ListHistoryFunction(),
		league.JoinLeagueFunction(),
		league.PatchTournamentsFunction(),
		league.LeaveLeagueFunction(),
		league.RenameLeagueFunction(),
		league.RenewCodeFunction(),
		league.RemoveMemberFunction(),
		league.HandOverFunction(),
		ingest.CreateTournamentFunction(),
		ingest.UpdateTournamentFunction(),
		ingest.DeleteTournamentFunction(),
		ingest.FinishDeletionFunction(),
		ingest.UpdateRoundFunction(),
		ingest.SyncTournamentFunction(),
		ingest.ListExecutionsFunction(),
		ingest.SyncMatchFunction(),
		ingest.ListAllTournamentsFunction(),
		ingest.ListAllMatchesFunction(),
		ingest.CreateMatchFunction(),
		settlement.ListSettlementsFunction(),
		settlement.CorrectMatchFunction(),
		settlement.ListDeadLettersFunction(),
		settlement.ReplayDeadLetterFunction(),
		settlement.CloseDeadLetterFunction(),
		settlement.HydrateScoreboardsFunction(),
		settlement.HydrateScoreboardFunction(),
		ingest.PlanPollsFunction(),
		ingest.PollProviderFunction(),
		ingest.SyncAssetsFunction(),
		ingest.IngestFeedFunction(),
		settlement.SettleMatchesFunction(),
		settlement.KeepDeadLettersFunction(),
		notice.RegisterDeviceFunction(),
		notice.DeleteDeviceFunction(),
		notice.RemindFunction(),
		notice.SendRemindersFunction(),
		notice.SendNoticesFunction(),
		schema.MigrateFunction(),
		userdata.ForgetUserFunction(),
		userdata.ExportUserFunction(),
	)
}
