package notice

import (
	"matchday/pkg/spec"
)

const (
	// APNSKey is the room's secret: Apple's .p8 key, PEM.
	APNSKey = "APNS_KEY"
	// APNSBundle is a setting of the room's own: an environment variable.
	APNSBundle = "PICKEM_BUNDLE"
)

// Queue delivers the messages of this package's function.
var Queue = spec.Queue{Name: "pickem-send-notices", MaxReceiveCount: 5, Batch: 1, Concurrency: 10}

// The metrics that the functions emit.
var (
	noticesDelivered    = spec.Metric{Name: "NoticesDelivered", Unit: spec.Count}
	noticesUnregistered = spec.Metric{Name: "NoticesGone", Unit: spec.Count}
	noticesRetried      = spec.Metric{Name: "NoticesRetried", Unit: spec.Count}
)
