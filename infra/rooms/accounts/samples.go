package accounts

import (
	"matchday/infra/local/fleet"
	"matchday/infra/tools/events/story"
	"matchday/pkg/kit/account"
)

// samples belong to the sample events: Noor signs up, exports her data and deletes
// her account, and two deletions that began before go on. One of them waits only for the room of
// the event of finish-job, or for none if the fleet is without that room.
func samples(host *fleet.Host) story.Samples {
	const (
		gone  = "7f6c1f0e-5d0a-4c5e-9b57-0000000d0004"
		stuck = "7f6c1f0e-5d0a-4c5e-9b57-0000000e0005"
		began = "2026-06-06T12:00:00Z"
		last  = "pickem" // of the event
	)

	return story.Samples{
		Prepare: func(put func(table string, row map[string]any) error) error {
			rows := []map[string]any{
				{"userId": gone, "item": "forget", "job": "FORGETJOB1", "open": "job", "startedAt": began},
				{"userId": stuck, "item": "forget", "job": "FORGETJOB3", "open": "job", "startedAt": began},
			}

			for _, room := range host.Keepers() {
				if room != last {
					rows = append(rows, map[string]any{"userId": gone, "item": string(account.Forget) + "#" + room, "job": "FORGETJOB1"})
				}
			}

			for _, row := range rows {
				if err := put("accounts", row); err != nil {
					return err
				}
			}

			return put("deleted-users", map[string]any{"userId": gone, "deletedAt": began})
		},
	}
}
