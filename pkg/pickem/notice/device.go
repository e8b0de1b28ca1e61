package notice

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
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
	deviceListSK  = "DEVICES" // of the list of a member's phones, by token
	devicePrefix  = "DEVICE#"
	devicesPrefix = "DEVICES#"
)

// maxDevices bounds the pushes of a notice to a member.
var maxDevices = spec.Limit{Name: "phones per member", Max: 10, Code: "too_many_devices"}

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
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
	}
}

// DevicePage is the answer with a phone.
type DevicePage struct {
	Status int
	Body   struct {
		DeviceID  push.TokenID `json:"deviceId" doc:"Names the phone in URLs."`
		ExpiresAt time.Time    `json:"expiresAt" doc:"The registration ends at this time, unless the phone is registered again before."`
	}
}

// RegisterDeviceFunction has the caller's phone reminded.
func RegisterDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/register-device",
		Does:   "Registers a phone of the caller for notifications.",
		IfDown: "New phones get no notifications.",
		On:     spec.Route{Method: "POST", Auth: spec.User, Path: "/app/devices", Answers: []int{201}},
		Uses:   []spec.Access{tables.RegisterDevice, account.CheckDeleted},
		Limits: []spec.Limit{maxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).RegisterDevice)
}

// RegisterDevice registers a phone for the caller, or renews the registration. A phone
// of another member becomes the caller's. A caller who is not a member gets not_a_member,
// and one with maxDevices other phones too_many_devices.
func (s *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*DevicePage, error) {
	d := newDevice(in.Body.DeviceToken.Lower(), in.UserID, s.now())
	phone := dynamo.Entry{
		Access: tables.RegisterDevice, List: deviceList(in.UserID), ID: d.Token, ExpiresAt: d.TTL, Limit: maxDevices,
		Existing: func(ctx context.Context, tokens []string) ([]string, error) {
			return s.existing(ctx, in.UserID, tokens)
		},
	}
	err := phone.Write(ctx, s.db, dynamo.CheckWrite(item.MemberKey(in.UserID), item.IsMember()), dynamo.PutWrite(d))
	if err != nil {
		return nil, dynamo.RefusedAs(err, item.ErrNotMember)
	}
	out := &DevicePage{Status: http.StatusCreated}
	out.Body.DeviceID, out.Body.ExpiresAt = push.Token(d.Token).ID(), time.Unix(d.TTL, 0).UTC()
	return out, nil
}

// deviceList returns the key of the list of a member's phones.
func deviceList(userID string) []string { return []string{item.UserRef(userID), deviceListSK} }

// existing returns those of the tokens whose phone is the member's, in the same order.
func (s *Devices) existing(ctx context.Context, userID string, tokens []string) ([]string, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = item.Key(devicePrefix+token, deviceSK)
	}
	phones, err := dynamo.GetAll[Device](ctx, s.db, tables.RegisterDevice, keys)
	if err != nil {
		return nil, err
	}
	now := s.now().Unix()
	return slices.DeleteFunc(slices.Clone(tokens), func(token string) bool {
		return !slices.ContainsFunc(phones, func(d Device) bool {
			return d.Token == token && d.BelongsTo == item.UserRef(userID) && d.TTL > now
		})
	}), nil
}

var errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")

// DeleteDevice is the request to stop notices to a phone.
type DeleteDevice struct {
	auth.User
	DeviceID push.TokenID `path:"deviceId" doc:"The deviceId in the answer to the registration of the phone."`
}

// DeleteDeviceFunction has the caller's phone not reminded any more.
func DeleteDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get notifications.",
		On:     spec.Route{Method: "DELETE", Auth: spec.User, Path: "/app/devices/{deviceId}"},
		Uses:   []spec.Access{tables.ListDevices, tables.DropDevice},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).DeleteDevice)
}

// DeleteDevice deletes a phone of the caller. A phone of another member is
// device_not_found, like one that does not exist.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.ListDevices, deviceList(in.UserID)...)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.IDs, func(token string) bool { return push.Token(token).ID() == in.DeviceID })
	if i < 0 {
		return nil, errNoDevice
	}
	_, err = dynamo.Delete(ctx, s.db, tables.DropDevice, item.Key(devicePrefix+list.IDs[i], deviceSK), dynamo.Equal[Device]("belongsto", item.UserRef(in.UserID)))
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

// DropListed deletes the phones in the list of a member who is marked as removed. The read of
// the list is consistent, and it has each phone that is the member's.
func DropListed(ctx context.Context, db dynamo.DB, userID string) error {
	list, _, err := dynamo.Get[dynamo.List](ctx, db, tables.ListDevices, deviceList(userID)...)
	if err != nil {
		return err
	}
	for _, token := range list.IDs {
		_, err := dynamo.Delete(ctx, db, tables.DropDevice, item.Key(devicePrefix+token, deviceSK), dynamo.Equal[Device]("belongsto", item.UserRef(userID)))
		if err := dynamo.IgnoreRefused(err); err != nil { // refused: it is another member's, or gone
			return err
		}
	}
	return nil
}

// DevicesOf reads the phones of a member, last seen first. The index is eventually
// consistent: a phone that was just registered may be missing.
func DevicesOf(ctx context.Context, db dynamo.DB, userID string) ([]Device, error) {
	return dynamo.QueryAll[Device](ctx, db, tables.MembersDevices, DevicesRange(userID))
}

// DevicesRange returns the range of a member's phones in tables.MembersDevices, the last
// seen first.
func DevicesRange(userID string) dynamo.Range {
	return dynamo.Range{Key: dynamo.KeyIs(tables.MembersDevices, devicesPrefix+userID), Backward: true}
}
