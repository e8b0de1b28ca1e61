package cricket

import (
	"time"

	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/tools/events/story"
)

// samples is the story of the sample events: an evening with three matches. One is
// live, one starts at 14:20, and one is over.
func samples(w *local.World) story.Samples {
	return story.Samples{
		Chapters: []story.Chapter{
			{At: "13:55", Cases: []string{
				"sync-leagues/bad", "sync-leagues/good", "sync-fixtures/bad", "sync-fixtures/good", "sync-teams/bad", "sync-teams/good",
			}},
			{At: "13:58", Cases: []string{
				"plan-ticks/good", "plan-ticks/bad", "tick/good", "tick/bad", // the good one waits for 13:59
			}},
			{At: "13:59:30", Cases: []string{
				"get-match/good", "get-match/bad", "list-matches/good", "list-matches/bad", "get-display/good", "get-display/bad", "list-balls/good", "list-balls/bad",
				"list-teams/good", "list-teams/bad", "get-team/good", "get-team/bad", "list-season-teams/good", "list-season-teams/bad",
				"list-leagues/good", "list-leagues/bad", "get-league/good", "get-league/bad",

				"register-device/bad", "register-device/good", "get-device/good", "get-device/bad", "update-push-to-start/bad", "update-push-to-start/good",
				"put-preferences/bad", "put-preferences/good", "get-preferences/good", "get-preferences/bad",
				"follow-match/bad", "follow-match/good", "get-follow/good", "get-follow/bad", "update-follow/bad", "update-follow/good",
				"start-activity/good", "push-activities/bad", "push-activities/good", "send-alerts/bad", "send-alerts/good",
				"finish-match/bad", "finish-match/good", "start-activity/bad",

				"update-team/bad", "update-team/good", "update-league/bad", "update-league/good", "list-league-matches/bad", "list-league-matches/good",
				"delete-league/bad", "delete-league/good",
			}},
			{At: "14:06", Cases: []string{
				"remind-prematch/bad", "remind-prematch/good", "detect-toss/bad", "detect-toss/good", "sweep-channels/bad", "sweep-channels/good",
				"end-activity/bad", "end-activity/good", "unfollow-match/bad", "unfollow-match/good", "delete-device/bad", "delete-device/good",
				"export-user/bad", "export-user/good", "forget-user/bad", "forget-user/good",
			}},
		},
		Prepare: func(put func(table string, row map[string]any) error) error {
			pace := sportmonks.Pace{Every: 20 * time.Second} // a ball or an event
			w.Provider.Play(script.Generate(1, cricsheet.T20), story.Time("13:00"), pace)
			w.Provider.Play(script.Generate(2, cricsheet.T20), story.Time("14:20"), pace)
			w.Provider.Play(script.Generate(1, cricsheet.ODI), story.Time("06:00"), pace)
			if err := put("cricket-preferences", map[string]any{"userId": "7f6c1f0e-5d0a-4c5e-9b57-0000000d0004", "updatedAt": 1}); err != nil {
				return err
			}
			// A channel whose creator was killed between the claim and the creation.
			return put("cricket-channels", map[string]any{"matchId": "1", "view": "neutral", "claimedAt": 1})
		},
		Faults: map[string]func(on bool){
			"the provider fails": func(on bool) {
				chaos := sportmonks.Chaos{}
				if on {
					chaos = sportmonks.Chaos{Seed: 1, Rates: map[sportmonks.Kind]float64{sportmonks.ServerError: 1}}
				}
				w.Provider.Chaos(chaos)
			},
		},
	}
}
