package cricket

import (
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/alert"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/home"
	"matchday/pkg/cricket/live"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/schedule"
	"matchday/pkg/cricket/topic"
	"matchday/pkg/cricket/userdata"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// Room is the cricket room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name: "cricket", WatchesConcurrency: true,
		Data:       data,
		Recipients: recipients,
		Machines: []spec.Machine{{
			Name: "cricket-live-loop", Definition: "live-loop.asl.json", Every: "cron(* * * * ? *)", // a rate would fire at any second of the minute
			Calls:  map[string]string{"PlanTicksArn": live.PlanTicksFunction().Name, "TickArn": live.TickFunction().Name},
			IfDown: "No score is updated. The first tick after the recovery catches up.",
		}},
		Settings: settings,
		Alarms:   alarms,
	},
		live.PlanTicksFunction(),
		live.TickFunction(),
		activity.PushActivitiesFunction(),
		activity.PushPartsFunction(),
		topic.PushTopicsFunction(),
		live.FinishMatchFunction(),
		live.ReopenMatchFunction(),
		live.CorrectResultFunction(),
		activity.SweepChannelsFunction(),
		alert.SendAlertsFunction(),
		alert.DetectTossFunction(),
		alert.RemindPrematchFunction(),
		match.GetMatchFunction(),
		match.ListMatchesFunction(),
		match.GetDisplayFunction(),
		match.ListBallsFunction(),
		match.GetScorecardFunction(),
		match.ListTeamMatchesFunction(),
		match.ListMatchesOfLeagueFunction(),
		match.SearchFunction(),
		player.GetPlayerFunction(),
		catalog.ListTeamsFunction(),
		catalog.GetTeamFunction(),
		catalog.UpdateTeamFunction(),
		catalog.ListSeasonTeamsFunction(),
		catalog.ListLeaguesFunction(),
		catalog.GetLeagueFunction(),
		catalog.UpdateLeagueFunction(),
		catalog.DeleteLeagueFunction(),
		catalog.GetStandingsFunction(),
		match.ListLeagueMatchesFunction(),
		follower.RegisterDeviceFunction(),
		follower.GetDeviceFunction(),
		follower.ListDevicesFunction(),
		follower.DeleteDeviceFunction(),
		follower.UpdatePushToStartFunction(),
		follower.FollowMatchFunction(),
		follower.GetFollowFunction(),
		follower.ListFollowsFunction(),
		follower.UpdateFollowFunction(),
		follower.UnfollowMatchFunction(),
		follower.PutSubscriptionFunction(),
		follower.GetSubscriptionFunction(),
		follower.ListSubscriptionsFunction(),
		follower.DeleteSubscriptionFunction(),
		activity.StartActivityFunction(),
		activity.EndActivityFunction(),
		home.GetHomeFunction(),
		home.ListActivitiesFunction(),
		follower.GetPreferencesFunction(),
		follower.PutPreferencesFunction(),
		catalog.SyncLeaguesFunction(),
		catalog.SyncTeamsFunction(),
		catalog.SyncStandingsFunction(),
		schedule.SyncFixturesFunction(),
		userdata.ForgetUserFunction(),
		userdata.ExportUserFunction(),
	)
}
