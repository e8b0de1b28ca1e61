package tables

import (
	"time"
)

// AttributesType is the app's type of Live Activity.
const AttributesType = "MatchActivityAttributes"

// Settings of the room: environment variables.
const (
	SportMonksURL = "SPORTMONKS_URL" // the provider's, if not sportmonks.BaseURL
	APNSBundle    = "APNS_BUNDLE"
	APNSType      = "APNS_ATTRIBUTES_TYPE" // name of the app's ActivityAttributes, if not AttributesType
)

// Secrets of the room, by name.
const (
	SportMonksToken = "SPORTMONKS_TOKEN" // the provider's api_token
	APNSKey         = "APNS_KEY"         // Apple's .p8 key, PEM
)

// Timeouts of functions.
const (
	ReadTimeout = 5 * time.Second // of a request that reads
	JobTimeout  = time.Minute     // of a scheduled job
)
