package tables

import (
	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// Devices has the phones that get reminders, where what sends them reads it: outside the VPC.
var Devices = spec.Table{Name: "bestshot-devices", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "ttl"}

// Phones is where the phones are.
var Phones = device.In(Devices, spec.Rate{Driver: spec.Message})
