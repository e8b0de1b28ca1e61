package pickem

import (
	"slices"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/userdata"
	"matchday/pkg/spec"
)

// Room is the pick'em room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name:       "pickem",
		Data:       data,
		Recipients: device.Recipients,
		Settings: slices.Concat(push.Settings(notice.APNSKey, notice.APNSBundle, "the bundle id of the pick'em app"),
			fcm.Settings(notice.RegisterDeviceFunction().Name)),
		Alarms: []spec.Alarm{{
			Name:     "scores-behind",
			Function: event.LockEventsFunction().Name,
			Metrics:  []spec.Metric{event.ScoresBehind},
			Stat:     "Sum",
			Bound:    0,
			Minutes:  3,
			Watches:  "an event whose scoring is overdue by more than ten minutes",
			IfDown:   "An event has no points, or points of results that have been corrected.",
		}},
	},
		event.ListEventsFunction(),
		event.GetEventFunction(),
		event.GetResultsFunction(),
		league.GetStandingsFunction(),
		event.ListCorrectionsFunction(),
		member.GetMeFunction(),
		member.GetUserFunction(),
		member.UpdateMeFunction(),
		event.PutPredictionsFunction(),
		event.DeletePredictionsFunction(),
		notice.RegisterDeviceFunction(),
		notice.DeleteDeviceFunction(),
		league.CreateLeagueFunction(),
		league.ListLeaguesFunction(),
		league.JoinLeagueFunction(),
		league.GetLeagueFunction(),
		league.GetLeagueStandingsFunction(),
		league.GetLeagueResultsFunction(),
		league.LeaveLeagueFunction(),
		league.RenewCodeFunction(),
		league.DeleteLeagueFunction(),
		member.InviteUserFunction(),
		member.ListUsersFunction(),
		userdata.DeleteUserFunction(),
		event.CreateEventFunction(),
		event.UpdateEventFunction(),
		event.DeleteEventFunction(),
		event.AddMatchFunction(),
		event.UpdateMatchFunction(),
		event.DeleteMatchFunction(),
		event.OrderCardFunction(),
		event.PutResultFunction(),
		event.ImportFunction(),
		event.RequestScoreFunction(),
		event.ListEntriesFunction(),
		event.GetHealthFunction(),
		event.LockEventsFunction(),
		score.ScoreEventFunction(),
		score.RebuildStandingsFunction(),
		notice.RemindFunction(),
		notice.SendNoticesFunction(),
		userdata.ForgetUserFunction(),
		userdata.ExportUserFunction(),
	)
}
