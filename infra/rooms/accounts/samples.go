package accounts

import "matchday/infra/tools/events/story"

// samples belong to the sample events: Noor signs up, exports her data and deletes
// her account, and two deletions that began before go on.
func samples() story.Samples {
	const (
		gone  = "7f6c1f0e-5d0a-4c5e-9b57-0000000d0004"
		stuck = "7f6c1f0e-5d0a-4c5e-9b57-0000000e0005"
		began = "2026-06-06T12:00:00Z"
	)

	return story.Samples{
		Prepare: func(put func(table string, row map[string]any) error) error {
			for _, row := range []map[string]any{
				{"userId": gone, "item": "forget", "job": "FORGETJOB1", "open": "job", "startedAt": began},
				{"userId": gone, "item": "forget#cricket", "job": "FORGETJOB1"},
				{"userId": gone, "item": "forget#commitcollect", "job": "FORGETJOB1"},
				{"userId": gone, "item": "forget#threefc", "job": "FORGETJOB1"},
				{"userId": gone, "item": "forget#bestshot", "job": "FORGETJOB1"},
				{"userId": stuck, "item": "forget", "job": "FORGETJOB3", "open": "job", "startedAt": began},
			} {
				if err := put("accounts", row); err != nil {
					return err
				}
			}

			return put("deleted-users", map[string]any{"userId": gone, "deletedAt": began})
		},
	}
}
