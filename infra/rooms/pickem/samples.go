package pickem

import "matchday/infra/tools/events/story"

// samples belong to the sample events: an afternoon in which an administrator
// prepares a show that locks at 14:45, members pick, and results come in.
func samples() story.Samples {
	return story.Samples{
		Prepare: prepareSamples,
	}
}

// prepareSamples stores what events name, and what functions would give generated
// ids: three members, two leagues, one with its code, a past show, and one with a match.
func prepareSamples(put func(table string, row map[string]any) error) error {
	const (
		league  = "c1d2e3f4-0000-4000-8000-000000000001"
		another = "c1d2e3f4-0000-4000-8000-000000000002"
		owner   = "7f6c1f0e-5d0a-4c5e-9b57-0000000a0001"
		guest   = "7f6c1f0e-5d0a-4c5e-9b57-0000000b0002"
		gone    = "7f6c1f0e-5d0a-4c5e-9b57-0000000d0004"
		show    = "2026-06-20-harbour-havoc"
		past    = "2026-05-02-opening-bell"
		match   = "5b0e9a52-7c43-4a6f-9d18-000000000002"
	)
	for _, row := range []map[string]any{
		{
			"PK":        "USER#" + owner,
			"SK":        "USER",
			"GSI_PK":    "USER",
			"GSI_SK":    "USER#" + owner,
			"type":      "user",
			"belongsto": "USER#" + owner,
			"name":      "Noor",
			"rev":       0,
		},
		{
			"PK":        "USER#" + guest,
			"SK":        "USER",
			"GSI_PK":    "USER",
			"GSI_SK":    "USER#" + guest,
			"type":      "user",
			"belongsto": "USER#" + guest,
			"name":      "Len",
			"rev":       0,
		},
		{
			"PK":        "USER#" + gone,
			"SK":        "USER",
			"GSI_PK":    "USER",
			"GSI_SK":    "USER#" + gone,
			"type":      "user",
			"belongsto": "USER#" + gone,
			"name":      "Gus",
			"rev":       0,
		},
		{
			"PK":      "LEAGUE#" + league,
			"SK":      "LEAGUE",
			"type":    "league",
			"id":      league,
			"name":    "Harbour",
			"ownerId": owner,
			"code":    "TEST1234",
			"members": 0,
		},
		{
			"PK":      "LEAGUE#" + another,
			"SK":      "LEAGUE",
			"type":    "league",
			"id":      another,
			"name":    "Pier",
			"ownerId": owner,
			"code":    "TEST5678",
			"members": 1,
		},
		{"PK": "USER#" + owner, "SK": "LEAGUE#" + another, "type": "membership", "leagueId": another,
			"leagueName": "Pier", "belongsto": "USER#" + owner, "joinedAt": "2026-06-01T12:00:00Z"},
		{"PK": "LEAGUE#" + another, "SK": "MEMBER#" + owner, "type": "membership", "leagueId": another,
			"leagueName": "Pier", "belongsto": "USER#" + owner, "name": "Noor", "joinedAt": "2026-06-01T12:00:00Z"},
		{"PK": "CODE#TEST1234", "SK": "CODE", "type": "code", "leagueId": league},
		{
			"PK":         "EVENT",
			"SK":         "EVENT#" + show,
			"GSI_PK":     "EVENT#" + show,
			"GSI_SK":     "EVENT",
			"type":       "event",
			"id":         show,
			"name":       "Harbour Havoc",
			"date":       "2026/06/20",
			"startsAt":   "2026-06-20T19:00:00Z",
			"lockAt":     "2026-06-20T18:00:00Z",
			"state":      "upcoming",
			"bonus":      0,
			"cardRev":    1,
			"resultsRev": 0,
			"scoredRev":  0,
		},
		{
			"PK":         "EVENT",
			"SK":         "EVENT#" + past,
			"GSI_PK":     "EVENT#" + past,
			"GSI_SK":     "EVENT",
			"type":       "event",
			"id":         past,
			"name":       "Opening Bell",
			"date":       "2026/05/02",
			"startsAt":   "2026-05-02T19:00:00Z",
			"lockAt":     "2026-05-02T18:00:00Z",
			"state":      "scored",
			"bonus":      0,
			"cardRev":    1,
			"resultsRev": 1,
			"scoredRev":  1,
		},
		{
			"PK":       "EVENT#" + show,
			"SK":       "MATCH#" + match,
			"GSI_PK":   "EVENT#" + show,
			"GSI_SK":   "MATCH#01",
			"type":     "match",
			"id":       match,
			"name":     "Ladder Match",
			"points":   10,
			"since":    1,
			"lastTeam": 2,
			"teams":    []map[string]any{{"id": "t1", "members": []string{"Odo Wrenfield"}}, {"id": "t2", "members": []string{"Sister Halcyon"}}},
		},
	} {
		if err := put("pickem", row); err != nil {
			return err
		}
	}

	return nil
}
