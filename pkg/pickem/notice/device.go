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

	// maxDevices is how many phones of a member get a notice: the last that were seen.
	maxDevices = 10
)

// newDevice sorts in the index by when it was seen.
func newDevice(token, userID string, now time.Time) Device {
	return Device{
		Row:   item.Row{PK: devicePrefix + token, SK: deviceSK, GSIPK: devicesPrefix + userID, GSISK: item.FormatTime(now) + "#" + token, Type: deviceType},
		Token: token, BelongsTo: item.UserRef(userID), SeenAt: item.FormatTime(now), TTL: now.Add(push.KeepDevice).Unix(),
	}
}

// Devices are the phones of members.
type Devices struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{db: item.OpenTable(env), now: env.Now}, nil
}

// RegisterDevice has notices sent to a phone.
type RegisterDevice struct {
	auth.User
	Token push.Token `path:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
}

// DevicePage is the answer with a phone.
type DevicePage struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		DeviceToken string    `json:"deviceToken"`
		ExpiresAt   time.Time `json:"expiresAt" doc:"When the registration ends, unless the phone is seen before."`
	}
}

// RegisterDevice makes a phone the caller's, whosever it was, or renews it.
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

var errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have no such phone")

// DeleteDevice ends the notices to a phone.
type DeleteDevice struct {
	auth.User
	Token push.Token `path:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
}

// DeleteDevice forgets a phone of the caller's. That of another is as
// device_not_found as none.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	_, err := dynamo.Delete(ctx, s.db, tables.DropDevice, item.Key(devicePrefix+in.Token.Lower(), deviceSK), item.Equals("belongsto", item.UserRef(in.UserID)))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// DropDevices forgets phones, but for those that were registered again since they were
// read.
func DropDevices(ctx context.Context, db dynamo.DB, phones []Device) error {
	for _, d := range phones {
		_, err := dynamo.Delete(ctx, db, tables.DropDevice, d.Key(), item.Equals("belongsto", d.BelongsTo).And(item.Equals("seenAt", d.SeenAt)))
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}
	return nil
}

// DevicesOf are the phones of a member, the last that was seen first: at most n, or
// all for 0. The index is behind: one that was just registered may be missing.
func DevicesOf(ctx context.Context, db dynamo.DB, userID string, n int32) ([]Device, error) {
	r := dynamo.Range{Key: item.Partition(tables.MembersDevices, devicesPrefix+userID), Backward: true, Limit: n}
	if n == 0 {
		return dynamo.QueryAll[Device](ctx, db, tables.MembersDevices, r)
	}
	phones, _, err := dynamo.Query[Device](ctx, db, tables.MembersDevices, r)
	return phones, err
}
