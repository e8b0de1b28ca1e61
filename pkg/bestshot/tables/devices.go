package tables

import (
	"matchday/pkg/kit/device"
	"matchday/pkg/spec"
)

// Devices has the phones that get reminders. It is not in the database, because the function that
// sends reminders runs outside the VPC.
var Devices = spec.Table{Name: "bestshot-devices", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "ttl"}

// Phones are the access patterns of Devices.
var Phones = device.In(Devices, spec.Rate{Driver: spec.Message})
