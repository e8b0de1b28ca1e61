package pickem

import "matchday/pkg/spec"

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "pickem",
		Of:    "members",
		What: "the name, picks and points of a member, the leagues and the invitations to them, the tokens of phones with " +
			"their locale, and the answers to repeated requests",
		Why:  "to play, to show standings to the members, and to send notices",
		Kept: "until the account is deleted; phones 90 days after the app was last opened, notices and answers a day",
	},
}
