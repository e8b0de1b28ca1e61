package commitcollect

import (
	"slices"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/model"
	"matchday/pkg/commitcollect/notice"
	"matchday/pkg/commitcollect/profile"
	"matchday/pkg/commitcollect/shelf"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/upload"
	"matchday/pkg/commitcollect/userdata"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// Room is the room's part of the fleet.
func Room() app.Room {
	return app.NewRoom(spec.Room{
		Name:       "commitcollect",
		Native:     true,
		Data:       data,
		Recipients: recipients,
		Alarms: []spec.Alarm{{
			Name:     "parts-missing",
			Function: milestone.EvaluateMilestonesFunction().Name,
			Metrics:  []spec.Metric{milestone.PartsMissing},
			Stat:     "Sum",
			Bound:    0,
			Minutes:  1,
			Watches:  "a part that is earned and that its model lacks",
			IfDown:   "Users of the model get no more parts.",
		}, {
			Name:     "athletes-refused",
			Function: link.FinishConnectFunction().Name,
			Metrics:  []spec.Metric{link.AthletesRefused},
			Stat:     "Sum",
			Bound:    0,
			Minutes:  1,
			Notice:   true,
			Watches:  "a user whom Strava does not let connect, because the application has as many athletes as it may have",
			IfDown:   "Nobody new can connect Strava until Strava lets the application have more athletes.",
		}, {
			Name:     "strava-inactive",
			Function: workout.IngestEventsFunction().Name,
			Metrics:  []spec.Metric{link.StravaInactive},
			Stat:     "Sum",
			Bound:    0,
			Minutes:  1,
			Of:       30, // Strava is called every 15 minutes while it refuses
			Watches:  "Strava refuses every call, because the subscription of the application's owner has ended",
			IfDown:   "Workouts wait; after a day they come with the next sync of all users.",
		}, {
			Name:     "fetches-late",
			Function: workout.ReconcileFunction().Name,
			Metrics:  []spec.Metric{workout.FetchesLate},
			Stat:     "Sum",
			Bound:    0,
			Minutes:  1,
			Notice:   true,
			Watches:  "users wait more than 48 hours for a fetch, three days running: Strava's limits are too small for them",
			IfDown:   "Workouts and deletions whose webhooks were lost appear late.",
		}},
		Settings: append(slices.Concat(push.Settings(notice.APNSKey, notice.APNSBundle, "the bundle id of the CommitCollect app"),
			fcm.Settings(notice.RegisterDeviceFunction().Name)), spec.Setting{
			Name: link.StravaURL, Secret: link.StravaApp, Does: "where Strava is, if not at www.strava.com", Like: "^https?://[^ ]+$",
		}, spec.Setting{
			Name: link.StravaAPI, Secret: link.StravaApp, Does: "where Strava's API is, if not under /api/v3 of the same",
			Like: "^https?://[^ ]+$",
		}, spec.Setting{
			Name: link.RetentionDays, Secret: link.StravaApp,
			Functions: []string{
				milestone.CreateMilestoneFunction().Name, milestone.UpdateMilestoneFunction().Name,
				milestone.EvaluateMilestonesFunction().Name, milestone.ListUserVerdictsFunction().Name,
				workout.ReconcileFunction().Name, workout.GetStatusFunction().Name,
			},
			Does: "for how many days workouts of Strava are kept: 7 where Strava's policy binds the operator; 0, as long as Strava is connected",
			Like: "^(0|[2-9]|[12][0-9]|30)$",
		}, spec.Setting{
			Name: workout.Limits,
			Functions: []string{
				workout.IngestEventsFunction().Name, workout.BackfillFunction().Name, workout.ReconcileFunction().Name,
				milestone.RecomputeMilestoneFunction().Name, milestone.ListVerdictsFunction().Name,
			},
			Does: "Strava's limits of the application: overall in 15 minutes and in a day, and reads in 15 minutes and in a day; " +
				"if not 200,2000,100,1000",
			Like: workout.LimitsPattern,
		}, milestone.SettlingSetting()),
	},
		profile.GetHealthFunction(),
		signin.StartLoginFunction(),
		signin.FinishLoginFunction(),
		signin.GetSessionFunction(),
		profile.GetViewerFunction(),
		signin.LogoutFunction(),
		signin.FollowLogoutFunction(),
		profile.UpdatePreferencesFunction(),
		notice.RegisterDeviceFunction(),
		notice.DeleteDeviceFunction(),
		link.ConnectStravaFunction(),
		link.FinishConnectFunction(),
		workout.GetStatusFunction(),
		link.DisconnectStravaFunction(),
		workout.VerifyWebhookFunction(),
		workout.ReceiveWebhookFunction(),
		workout.ListRecentFunction(),
		upload.PutWorkoutsFunction(),
		upload.DeleteWorkoutFunction(),
		milestone.GetEligibilityFunction(),
		workout.SyncActivitiesFunction(),
		model.ListModelsFunction(),
		model.GetModelFunction(),
		model.ListAllModelsFunction(),
		model.PutModelFunction(),
		model.PutPartFunction(),
		model.ActivateModelFunction(),
		model.RetireModelFunction(),
		milestone.CreateMilestoneFunction(),
		milestone.ListMilestonesFunction(),
		milestone.GetMilestoneFunction(),
		milestone.ListAwardsFunction(),
		milestone.ListVerdictsFunction(),
		milestone.RecomputeMilestoneFunction(),
		milestone.UpdateMilestoneFunction(),
		milestone.DeleteMilestoneFunction(),
		milestone.PutShareFunction(),
		milestone.EndShareFunction(),
		shelf.ShowPictureFunction(),
		userdata.DeleteAccountFunction(),
		userdata.GetExportFunction(),
		profile.ListAuditFunction(),
		profile.ListCorrelationFunction(),
		profile.GetUserFunction(),
		profile.ReplayUserFunction(),
		milestone.ListUserVerdictsFunction(),
		profile.ListAuditEventsFunction(),
		workout.GetSubscriptionFunction(),
		workout.CreateSubscriptionFunction(),
		workout.DeleteSubscriptionFunction(),
		workout.ReplayEventFunction(),
		workout.IngestEventsFunction(),
		milestone.EvaluateMilestonesFunction(),
		milestone.SettleMilestonesFunction(),
		workout.BackfillFunction(),
		workout.ReconcileFunction(),
		workout.PurgeWorkoutsFunction(),
		notice.SendNoticesFunction(),
		userdata.ForgetUserFunction(),
		userdata.ExportUserFunction(),
	)
}
