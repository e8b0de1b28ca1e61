package tables

import (
	"matchday/pkg/spec"
)

// The metrics that the functions emit.
var (
	SlotsClaimed    = spec.Metric{Name: "SlotsClaimed", Unit: spec.Count}
	TickLag         = spec.Metric{Name: "TickLag", Unit: spec.Milliseconds} // from the due time of a tick to its start
	TickTime        = spec.Metric{Name: "TickTime", Unit: spec.Milliseconds}
	MatchesLive     = spec.Metric{Name: "MatchesLive", Unit: spec.Count}
	MatchesChanged  = spec.Metric{Name: "MatchesChanged", Unit: spec.Count}
	MatchesFailed   = spec.Metric{Name: "MatchesFailed", Unit: spec.Count}
	MatchesArchived = spec.Metric{Name: "MatchesArchived", Unit: spec.Count}
	ProviderFaults  = spec.Metric{Name: "ProviderFaults", Unit: spec.Count}

	ChangesQueued = spec.Metric{Name: "ChangesQueued", Unit: spec.Count, OfRoom: true} // messages to push-activities about a change or an end

	// MatchesStale counts the polls that find a match in play unchanged for long. It has no sample
	// of 0.
	MatchesStale = spec.Metric{Name: "MatchesStale", Unit: spec.Count}

	// PushDelay is how long a ball takes to Apple: from the time at which the slot that found
	// it was due, to Apple's acceptance of each push of it and of each alert.
	PushDelay = spec.Metric{Name: "PushDelay", Unit: spec.Milliseconds, OfRoom: true}

	PushesDelivered  = spec.Metric{Name: "PushesDelivered", Unit: spec.Count}
	PushesGone       = spec.Metric{Name: "PushesGone", Unit: spec.Count, OfRoom: true} // of push-activities and push-parts, as the next two
	PushesRetried    = spec.Metric{Name: "PushesRetried", Unit: spec.Count, OfRoom: true}
	PushesUnreached  = spec.Metric{Name: "PushesUnreached", Unit: spec.Count, OfRoom: true}
	Broadcasts       = spec.Metric{Name: "Broadcasts", Unit: spec.Count}
	BroadcastsFailed = spec.Metric{Name: "BroadcastsFailed", Unit: spec.Count}
	AppleFailures    = spec.Metric{Name: "AppleFailed", Unit: spec.Count} // messages for which Apple accepted no push

	// GoogleFailures are messages for which Google accepted nothing, and AndroidDelay is PushDelay to Google.
	TopicsSent     = spec.Metric{Name: "TopicsSent", Unit: spec.Count}
	TopicsFailed   = spec.Metric{Name: "TopicsFailed", Unit: spec.Count}
	GoogleFailures = spec.Metric{Name: "GoogleFailed", Unit: spec.Count}
	AndroidDelay   = spec.Metric{Name: "AndroidDelay", Unit: spec.Milliseconds, OfRoom: true}

	AlertsDelivered  = spec.Metric{Name: "AlertsDelivered", Unit: spec.Count}
	AlertsSuppressed = spec.Metric{Name: "AlertsSuppressed", Unit: spec.Count}
	AlertsGone       = spec.Metric{Name: "AlertsGone", Unit: spec.Count}
	AlertsRetried    = spec.Metric{Name: "AlertsRetried", Unit: spec.Count}
)
