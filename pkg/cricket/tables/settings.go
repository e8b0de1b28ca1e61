package tables

import (
	"time"

	"matchday/pkg/spec"
)

// AttributesType is the default name of the app's ActivityAttributes type.
const AttributesType = "MatchActivityAttributes"

// Settings of the room: environment variables.
const (
	SportMonksURL = "SPORTMONKS_URL"       // of the provider; default sportmonks.BaseURL
	APNSBundle    = "APNS_BUNDLE"          // bundle id of the app
	APNSType      = "APNS_ATTRIBUTES_TYPE" // name of the app's ActivityAttributes type; default AttributesType
	EveryBall     = "FCM_EVERY_BALL"       // Android phones of all matches in play up to which every ball is sent; default MaxEveryBall
)

// MaxEveryBall is the default of EveryBall. Google reaches about 10,000 phones a second by the topics of a
// project, so that many get a ball of each match within two seconds.
const MaxEveryBall = 20_000

// Secrets of the room, by name.
const (
	SportMonksToken = "SPORTMONKS_TOKEN" // api_token of the provider
	APNSKey         = "APNS_KEY"         // .p8 signing key from Apple, PEM
)

// FixturesBudget is the provider's limit of requests for /fixtures and /fixtures/{id}
// together. Each other resource has a limit of its own, which one function uses:
// /livescores is requested 1,440 times an hour.
// https://docs.sportmonks.com/v2/cricket-api/rate-limit
var FixturesBudget = spec.Budget{Name: "fixtures", Max: 2000, Per: time.Hour}

// The shares of FixturesBudget. A toss can wait for the live feed, and the schedule for the
// next sync; the end of a match waits for its page alone.
var (
	TossShare   = spec.Share{Budget: FixturesBudget, UpTo: 1400}
	SyncShare   = spec.Share{Budget: FixturesBudget, UpTo: 1700}
	FinishShare = spec.Share{Budget: FixturesBudget, UpTo: 2000}
)

// Timeouts of the functions.
const (
	ReadTimeout = 5 * time.Second // of an API request
	JobTimeout  = time.Minute     // of a scheduled job
)
