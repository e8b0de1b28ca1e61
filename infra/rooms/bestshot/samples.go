package bestshot

import "matchday/infra/tools/events/story"

// samples is the story of the sample events: an evening on which members guess, matches end,
// and administrators look after a tournament.
func (h *Host) samples() story.Samples {
	both := func(names ...string) (cases []string) {
		for _, name := range names {
			cases = append(cases, name+"/bad", name+"/good")
		}
		return cases
	}
	return story.Samples{
		Chapters: []story.Chapter{{At: "14:20", Cases: both(
			"get-health", "migrate", "register-device", "create-member", "get-member", "update-member",
			"list-tournaments", "get-tournament", "list-rounds", "list-matches", "list-standings", "list-teams", "list-leaderboard", "get-dashboard",
			"put-guess", "list-guesses", "list-match-guesses", "get-score",
			"create-league", "list-leagues", "get-league", "join-league", "patch-tournaments", "get-league-score", "leave-league",
			"create-tournament", "update-tournament", "update-round", "sync-tournament", "list-executions", "sync-match",
			"remind", "send-reminders", "delete-device", "plan-polls", "sync-assets", "get-asset", "poll-provider", "ingest-feed", "settle-matches", "list-settlements", "correct-match",
			"keep-letters", "list-letters", "replay-letter", "hydrate-scoreboard", "hydrate-scoreboards", "delete-tournament",
			"export-user", "forget-user",
		)}},
		Prepare: h.prepareSamples,
		Faults:  map[string]func(on bool){"the database is away": h.loseDatabase},
	}
}
