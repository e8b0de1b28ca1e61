package tables

import (
	"time"
)

// AttributesType is the default name of the app's ActivityAttributes type.
const AttributesType = "MatchActivityAttributes"

// Settings of the room: environment variables.
const (
	SportMonksURL = "SPORTMONKS_URL"       // of the provider; default sportmonks.BaseURL
	APNSBundle    = "APNS_BUNDLE"          // bundle id of the app
	APNSType      = "APNS_ATTRIBUTES_TYPE" // name of the app's ActivityAttributes type; default AttributesType
)

// Secrets of the room, by name.
const (
	SportMonksToken = "SPORTMONKS_TOKEN" // api_token of the provider
	APNSKey         = "APNS_KEY"         // .p8 signing key from Apple, PEM
)

// Timeouts of the functions.
const (
	ReadTimeout = 5 * time.Second // of an API request
	JobTimeout  = time.Minute     // of a scheduled job
)
