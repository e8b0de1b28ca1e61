package cricket

import "matchday/pkg/spec"

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "DisplayStateCache",
		What:  "what lock screens show of a match",
	},
	{
		Store: "cricket-activity-subscriptions",
		Of:    "users",
		What:  "the token of each Live Activity, with the match, the team and the language; of one user in 16 that an Android phone has a match",
		Why:   "to push the score to it, and to count Android phones",
		Kept:  "until the activity ends, at most two days",
	},
	{
		Store: "cricket-alerts",
		What:  "which alerts of a match were sent, by parts of its followers",
	},
	{
		Store: "cricket-cards",
		What:  "scorecards of matches, with the names of players and officials",
	},
	{
		Store: "cricket-channels",
		What:  "Apple's broadcast channels of a match",
	},
	{
		Store: "cricket-devices",
		Of:    "users",
		What:  "the token of each of up to ten phones, its platform, version, locale and time zone, and the version of the app",
		Why:   "to send alerts, in the language of the phone",
		Kept:  "90 days after the app was last opened",
	},
	{
		Store: "cricket-fixture-cache",
		What:  "matches as the provider sends them",
	},
	{
		Store: "cricket-fixtures",
		What:  "matches",
	},
	{
		Store: "cricket-leagues",
		What:  "leagues",
	},
	{
		Store: "cricket-locks",
		What:  "which execution of a job works, and about how many Android phones follow a match",
	},
	{
		Store: "cricket-match-follows",
		Of:    "users",
		What:  "which matches a user follows or has unfollowed, for which team, and which alerts of them the user wants",
		Why:   "to send alerts and the Live Activity of the match",
		Kept:  "45 days",
	},
	{
		Store: "cricket-players",
		What:  "players of matches: name, image, role and style, and what they did in each match",
	},
	{
		Store: "cricket-preferences",
		Of:    "users",
		What:  "which alerts a user wants",
		Why:   "to send those alone",
		Kept:  "until the account is deleted",
	},
	{
		Store: "cricket-prematch-notifications",
		Of:    "users",
		What:  "which reminder of a match a user was sent, and when the user had a Live Activity of it",
		Why:   "to send none twice",
		Kept:  "two days",
	},
	{
		Store: "cricket-search",
		What:  "the words by which teams and leagues are found",
	},
	{
		Store: "cricket-standings",
		What:  "tables of seasons",
	},
	{
		Store: "cricket-state-hashes",
		What:  "what was last pushed of a match",
	},
	{
		Store: "cricket-subscriptions",
		Of:    "users",
		What:  "which teams and leagues a user follows, and which alerts of their matches the user wants",
		Why:   "to send alerts and the Live Activities of their matches",
		Kept:  "until the user ends it, or the account is deleted",
	},
	{
		Store: "cricket-summaries",
		What:  "matches as lists show them",
	},
	{
		Store: "cricket-team-seasons",
		What:  "teams of a season",
	},
	{
		Store: "cricket-teams",
		What:  "teams",
	},
	{
		Store: "match-processing-state",
		What:  "how far a match was processed",
	},
}

// recipients get data of the room's users.
var recipients = []spec.Recipient{
	{
		Name: "Apple",
		Gets: "the token of the phone, and the text of each notification, and the content of Live Activities",
		Why:  "to reach iPhones",
	},
	{
		Name: "Google",
		Gets: "the token of the phone, the text of each notification, and which matches the app subscribes to",
		Why:  "to reach Android phones",
	},
}
