package bestshot

import "matchday/pkg/spec"

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "bestshot",
		Of:    "members",
		What: "the nickname, guesses, jokers, answers to questions, points and leagues of a member, also former ones with final tables, " +
			"when reminders were sent, which notices are wanted, matches that an administrator has entered or corrected, " +
			"questions that one has decided, and the answers to repeated requests",
		Why:  "to play, and to show leaderboards to members",
		Kept: "until the account is deleted; answers a day",
	},
	{
		Store: "bestshot (cache)",
		Of:    "members",
		What:  "the nicknames and points of leaderboards, copied from the database",
		Why:   "to answer fast",
		Kept:  "six hours",
	},
	{
		Store: "bestshot-devices",
		Of:    "members",
		What:  "the token of the phone, its platform and locale",
		Why:   "to send reminders",
		Kept:  "90 days after the app was last opened",
	},
	{
		Store: "bestshot-assets",
		What:  "badges of teams and logos of tournaments",
	},
}
