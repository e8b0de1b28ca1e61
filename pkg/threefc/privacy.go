package threefc

import "matchday/pkg/spec"

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "3fc-{stage}-app",
		Of:    "users and players, of whom some may be children",
		What: "of a user the address, the leagues with the role, sessions and answers to repeated requests; of a player the " +
			"nickname, a request to remove it, whether everybody may see it, teams, games, goals and availability; of who is invited the address",
		Why: "to score games, to show them to everybody under nicknames, and to send mails to those who asked for them",
		Kept: "until the account, the player or the league is deleted; sessions 30 days, answers a day, phones that score by a PIN " +
			"until the day after the session, links to sign in 15 minutes; what is reported of a page 90 days, with no name of who " +
			"reports it",
	},
}

// recipients get data of the room's users.
var recipients = []spec.Recipient{
	{
		Name: "everybody",
		Gets: "the nicknames of players, or their initials, or no name, as the player or an administrator has chosen, with games, goals " +
			"and standings",
		Why: "pages of a league are public, unless its administrators make it private",
	},
}
