package cricket

import (
	"time"

	"matchday/infra/rooms/cricket/local"
	"matchday/infra/sim/cricsheet"
	"matchday/infra/sim/sportmonks"
	"matchday/infra/sim/sportmonks/script"
	"matchday/infra/tools/events/story"
)

// samples belong to the sample events: an evening with three matches. One is
// live, one starts at 14:20, and one is over.
func samples(w *local.World) story.Samples {
	return story.Samples{
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
