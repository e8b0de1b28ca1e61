package tables

import "matchday/pkg/spec"

// Devices has the phones that get reminders, where what sends them reads it: outside the VPC.
var Devices = spec.Table{Name: "bestshot-devices", Key: spec.Key{Partition: "PK", Sort: "SK"}, TTL: "ttl"}

// The access patterns of Devices.
var (
	onUser     = spec.Rate{Driver: spec.UserAction}
	perMessage = spec.Rate{Driver: spec.Message}

	RegisterDevice = Devices.On("Register device", "PK=DEVICE#{token}, SK=DEVICE, and PK=USER#{userId}, SK=DEVICES", onUser, spec.GetItem, spec.BatchGetItem, spec.PutItem, spec.UpdateItem)
	ListDevices    = Devices.On("List devices", "PK=USER#{userId}, SK=DEVICES, then PK=DEVICE#{token}, SK=DEVICE (a batch)", perMessage, spec.GetItem, spec.BatchGetItem)
	DropDevice     = Devices.On("Drop device", "PK=DEVICE#{token}, SK=DEVICE, if it is the user's", onUser, spec.DeleteItem)
)
