package commitcollect

import (
	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// data is what the room keeps, and of whom.
var data = []spec.Data{
	{
		Store: "CommitCollect",
		Of:    "users",
		What: "what a user has chosen, the athlete of Strava with sealed tokens and the version of the consent, workouts of Strava and of " +
			"phones, milestones and parts, the links to public pictures, and the tokens of phones",
		Why: "to count workouts, to mint parts, to show a picture of them to whom the user gives its link, and to send notices",
		Kept: "until the account is deleted; workouts of Strava until it is disconnected, or for the days that the operator has set, " +
			"those of phones until they are removed, the id of a removed one 90 days longer, phones 90 days after the app was last " +
			"opened; the link to a picture until the user ends it",
	},
	{
		Store: "CommitCollectAudit",
		Of:    "users",
		What:  "who changed what: sign-ins, connections, milestones and parts, with their ids; and that data was deleted",
		Why:   "to answer questions about parts that were or were not minted",
		Kept:  "90 days; the proof of a deletion, which has the day and a receipt, three years",
	},
	{
		Store: "CommitCollectIdempotency",
		Of:    "users",
		What:  "the events of Strava that were handled, with the ids of the athlete and the workout",
		Why:   "to count none twice",
		Kept:  "seven days",
	},
	{
		Store: "CommitCollectSessions",
		Of:    "users",
		What:  "the hashes of the tokens of sessions, and sign-ins that have begun",
		Why:   "to keep a browser signed in",
		Kept:  "30 days after the sign-in; one that has begun, minutes",
	},
}

// recipients get data of the room's users.
var recipients = append([]spec.Recipient{{
	Name: "Strava", Gets: "the id of the athlete and of each workout that is read", Why: "the user connects the two",
}}, device.Recipients...)
