package notice

import (
	"context"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

const deviceType = "device"

// Device is the item of a phone. A phone belongs to whoever registered it last.
type Device struct {
	item.Row
	Token     string `dynamodbav:"token"` // hexadecimal, in small letters
	BelongsTo string `dynamodbav:"belongsto"`
	SeenAt    string `dynamodbav:"seenAt"`
	TTL       int64  `dynamodbav:"ttl"`
}

const (
	deviceSK      = "DEVICE"
	devicePrefix  = "DEVICE#"
	devicesPrefix = "DEVICES#"

	// maxDevices is the number of a member's phones that get a notice: those seen last.
	maxDevices = 10
)

// newDevice returns the item of a phone. The index sorts by the time it was seen.
func newDevice(token, userID string, now time.Time) Device {
	return Device{
		Row:   item.Row{PK: devicePrefix + token, SK: deviceSK, GSIPK: devicesPrefix + userID, GSISK: item.FormatTime(now) + "#" + token, Type: deviceType},
		Token: token, BelongsTo: item.UserRef(userID), SeenAt: item.FormatTime(now), TTL: now.Add(push.KeepDevice).Unix(),
	}
}

// Devices is the service of phones.
type Devices struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{db: item.OpenTable(env), now: env.Now}, nil
}

// RegisterDevice is the request to register a phone for notices.
type RegisterDevice struct {
	auth.User
	Token push.Token `path:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
}

// DevicePage is the answer with a phone.
type DevicePage struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		DeviceToken string    `json:"deviceToken" doc:"The device token of Apple's push service."`
		ExpiresAt   time.Time `json:"expiresAt" doc:"The registration ends at this time, unless the phone is registered again before."`
	}
}

// RegisterDevice registers a phone for the caller, or renews the registration. A phone
// of another member becomes the caller's. A caller who is not a member gets not_a_member.
func (s *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*DevicePage, error) {
	d := newDevice(in.Token.Lower(), in.UserID, s.now())
	err := dynamo.Transact(ctx, s.db, tables.RegisterDevice, dynamo.CheckWrite(item.MemberKey(in.UserID), item.IsMember()), dynamo.PutWrite(d))
	if err != nil {
		return nil, dynamo.RefusedAs(err, item.ErrNotMember)
	}
	out := &DevicePage{CacheControl: httpapi.NoStore}
	out.Body.DeviceToken, out.Body.ExpiresAt = d.Token, time.Unix(d.TTL, 0).UTC()
	return out, nil
}

var errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")

// DeleteDevice is the request to stop notices to a phone.
type DeleteDevice struct {
	auth.User
	Token push.Token `path:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
}

// DeleteDevice deletes a phone of the caller. A phone of another member is
// device_not_found, like one that does not exist.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	_, err := dynamo.Delete(ctx, s.db, tables.DropDevice, item.Key(devicePrefix+in.Token.Lower(), deviceSK), dynamo.Equal[Device]("belongsto", item.UserRef(in.UserID)))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// DropDevices deletes phones, except those that were registered again since they were
// read.
func DropDevices(ctx context.Context, db dynamo.DB, phones []Device) error {
	for _, d := range phones {
		_, err := dynamo.Delete(ctx, db, tables.DropDevice, d.Key(), dynamo.Unchanged(d, "belongsto", "seenAt"))
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}
	return nil
}

// DevicesOf reads the phones of a member, last seen first: at most n, or all for 0. The
// index is eventually consistent: a phone that was just registered may be missing.
func DevicesOf(ctx context.Context, db dynamo.DB, userID string, n int32) ([]Device, error) {
	r := dynamo.Range{Key: dynamo.KeyIs(tables.MembersDevices, devicesPrefix+userID), Backward: true, Limit: n}
	if n == 0 {
		return dynamo.QueryAll[Device](ctx, db, tables.MembersDevices, r)
	}
	phones, _, err := dynamo.Query[Device](ctx, db, tables.MembersDevices, r)
	return phones, err
}
