package notice

import (
	"time"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// The functions.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "bestshot/register-device",
		Does:   "Registers a phone of the caller for reminders.",
		IfDown: "New phones get no reminders.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/devices", Auth: spec.User, Answers: []int{201}},
		Uses:   []spec.Access{tables.Phones.Register, account.CheckDeleted},
		Limits: []spec.Limit{device.MaxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "bestshot/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get reminders.",
		On:     spec.Route{Method: "DELETE", Path: "/api/v2/devices/{deviceId}", Auth: spec.User},
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Memory: 256, Timeout: 5 * time.Second,
	}
	RemindFunction = spec.Function{
		Name:   "bestshot/remind",
		Does:   "Finds the members who have not guessed a match that begins within a day, or two hours.",
		IfDown: "Members are not reminded.",
		On:     spec.Schedule("rate(5 minutes)"), // an instance that is called so often stays, and remembers its rest
		SQL:    []spec.SQLLogin{tables.Worker}, Sends: []spec.Queue{Queue},
		Memory: 256, Timeout: time.Minute, Reserved: 1,
	}
	SendRemindersFunction = spec.Function{
		Name:   "bestshot/send-reminders",
		Does:   "Reminds a member on all phones.",
		IfDown: "Reminders arrive late.",
		On:     Queue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop}, Secrets: []string{APNSKey}, Emits: []spec.Metric{delivered, gone},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
