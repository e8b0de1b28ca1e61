package link

import (
	"fmt"

	"matchday/pkg/kit/problem"
)

// ConsentVersion is the version of consent. It is raised with each change of the text, and each kind of data that
// is read or kept in addition.
//
// A connection of an older version, or without one, is fetched as before: it is used for nothing that was not in
// the text that the user has agreed to, or on Strava's own page. A version that adds a kind of data must not read
// it for connections of older versions. The app asks them to connect again, which records the new version.
const ConsentVersion = 1

var errConsent = problem.New(problem.Conflict, "consent_outdated",
	"the text about the data has changed: show it again, and send its version")

// Consent is what a user agrees to before connecting Strava, in an answer.
type Consent struct {
	_ struct{} `schema:"StravaConsent"`

	Version  int      `json:"version" doc:"The version of the text. Connecting takes it as consent."`
	Data     []string `json:"data" doc:"What is read of each activity, and kept."`
	How      string   `json:"how" doc:"How it is collected, and for what."`
	Kept     string   `json:"kept" doc:"For how long it is kept."`
	Withdraw string   `json:"withdraw" doc:"How to withdraw, and what is deleted then."`
}

// NewConsent returns the text of ConsentVersion, of a stage that keeps workouts for some days, 0 for as long as the
// connection.
func NewConsent(days int) Consent {
	return Consent{
		Version: ConsentVersion,
		Data: []string{
			"the id of your athlete and of the activity", "the name of the activity", "the sport",
			"when it began, and the time zone as a difference to UTC", "distance", "ascent", "moving time and elapsed time",
			"whether it was entered by hand, flagged, or is visible to you only",
		},
		How: "Strava tells us when you upload, change or delete an activity, and we read it from Strava then, and in the night. It counts " +
			"towards your milestones, and only you see it. We read and keep no places, routes, heart rates or photos, " +
			"and nothing goes to an AI or to anybody else.",
		Kept: keptFor(days),
		Withdraw: "Disconnect Strava here or at strava.com/settings/apps, or delete your account. Your activities are then deleted, " +
			"within 48 hours; your milestones keep their progress and parts until you delete them.",
	}
}

// keptFor returns for how long activities are kept.
func keptFor(days int) string {
	if days == 0 {
		return "Activities are kept as long as Strava is connected."
	}

	return fmt.Sprintf("Activities are kept for at most %d days. Of older ones, your milestones keep the sum.", days)
}
