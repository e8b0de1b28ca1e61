package notice

import (
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/pickem/tables"
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

// What members write.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "pickem/register-device",
		Does:   "Registers a phone of the caller for notifications.",
		IfDown: "New phones get no notifications.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/devices", Answers: []int{201}},
		Uses:   []spec.Access{tables.RegisterDevice, account.CheckDeleted},
		Limits: []spec.Limit{maxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "pickem/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get notifications.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/devices/{deviceId}"},
		Uses:   []spec.Access{tables.ListDevices, tables.DropDevice},
		Memory: 256, Timeout: 5 * time.Second,
	}
)

// The jobs.
var (
	RemindFunction = spec.Function{
		Name:   "pickem/remind",
		Does:   "Reminds members who have not picked every match, a day and two hours before an event locks.",
		IfDown: "Members get no reminders to pick.",
		On:     spec.Schedule("rate(15 minutes)"),
		Uses:   []spec.Access{tables.FindOpenEvents, tables.FindReminded, tables.ReadCard, tables.AllMembers, tables.EntriesOf, tables.MarkReminded}, Sends: []spec.Queue{Queue},
		Memory: 512, Timeout: 2 * time.Minute,
	}
	SendNoticesFunction = spec.Function{
		Name:   "pickem/send-notices",
		Does:   "Sends a notification to the phones of up to 100 members.",
		IfDown: "Notifications arrive late. After the event has locked they are not sent.",
		On:     Queue,
		Uses:   []spec.Access{tables.FindNotices, tables.MembersDevices, tables.MarkNotices, tables.DropDevice}, Secrets: []string{APNSKey},
		Emits:  []spec.Metric{noticesDelivered, noticesGone, noticesRetried},
		Memory: 256, Timeout: 30 * time.Second,
	}
)

// The metrics that the functions emit.
var (
	noticesDelivered = spec.Metric{Name: "NoticesDelivered", Unit: spec.Count}
	noticesGone      = spec.Metric{Name: "NoticesGone", Unit: spec.Count}
	noticesRetried   = spec.Metric{Name: "NoticesRetried", Unit: spec.Count}
)
