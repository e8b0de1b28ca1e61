package notice

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Devices is the service of phones.
type Devices struct{ *device.Devices }

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{device.Open(env, tables.Phones)}, nil
}

// RegisterDeviceFunction registers a phone of the caller for notifications.
func RegisterDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/register-device",
		Does:   "Registers a phone of the caller for notifications.",
		IfDown: "New phones get no notifications.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/devices", Answers: []int{201}},
		Uses:   []spec.Access{tables.RegisterDevice, account.CheckDeleted},
		Limits: []spec.Limit{device.MaxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).RegisterDevice, item.ErrNotMember, device.ErrNoAndroid, push.ErrPlatform)
}

// RegisterDevice registers a phone for the caller, or renews the registration. A phone
// of another member becomes the caller's. A caller who is not a member gets not_a_member,
// and one with device.MaxDevices other phones too_many_devices.
func (s *Devices) RegisterDevice(ctx context.Context, in *device.RegisterDevice) (*device.Registered, error) {
	out, err := s.Register(ctx, in, dynamo.CheckWrite(item.MemberKey(in.UserID), item.IsMember()))
	return out, dynamo.RefusedAs(err, item.ErrNotMember)
}

// DeleteDeviceFunction deletes the registration of a phone of the caller.
func DeleteDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get notifications.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/devices/{deviceId}"},
		Uses:   []spec.Access{tables.ListDevices, tables.DropDevice},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).DeleteDevice, device.ErrNoDevice)
}

// formerDevice is the item of a phone that was registered before the room used kit/device.
// The next registration of the phone replaces it, and it expires push.KeepDevice after the
// last one.
type formerDevice struct {
	item.Row
	BelongsTo string `dynamodbav:"belongsto"`
}

const formerPrefix = "DEVICES#" // of its partition in the index

// FormerDevice holds for the item of a phone of the user that was registered before the room
// used kit/device.
func FormerDevice(userID string) expression.ConditionBuilder {
	return dynamo.Equal[formerDevice]("belongsto", item.UserRef(userID))
}

// FormerDevices returns the items of a user's phones that were registered before the room used
// kit/device. The index is eventually consistent.
func FormerDevices(ctx context.Context, db dynamo.DB, userID string) ([]map[string]any, error) {
	r := dynamo.Range{Key: dynamo.KeyIs(tables.MembersDevices, formerPrefix+userID)}
	return dynamo.QueryAll[map[string]any](ctx, db, tables.MembersDevices, r)
}

// DropFormerDevices deletes these items, except those of phones that were registered since.
func DropFormerDevices(ctx context.Context, db dynamo.DB, userID string, rows []map[string]any) error {
	for _, r := range rows {
		pk, _ := r["PK"].(string)
		sk, _ := r["SK"].(string)

		_, err := dynamo.Delete(ctx, db, tables.DropDevice, item.Key(pk, sk), FormerDevice(userID))
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}

	return nil
}
