package follower

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// DeviceRow is a row of cricket-devices. There are three kinds: the phone of a user,
// the counter of a user's registrations (counterRow), and the owner of a token (ownerKey).
type DeviceRow struct {
	UserID      string `dynamodbav:"userId"`
	DeviceToken string `dynamodbav:"deviceToken"` // of APNs: hexadecimal, lower case; of FCM: as Google issued it
	push.Phone
	OSVersion   string `dynamodbav:"osVersion,omitempty"`
	OSMajor     int    `dynamodbav:"osMajor"`
	AppVersion  string `dynamodbav:"appVersion,omitempty"`
	TimeZone    string `dynamodbav:"timeZone,omitempty"`
	Frequent    bool   `dynamodbav:"frequentPushesEnabled"`
	PushToStart string `dynamodbav:"pushToStartToken,omitempty"`
	UpdatedAt   int64  `dynamodbav:"updatedAt"` // the last registration or renewal, epoch ms
	ExpiresAt   int64  `dynamodbav:"expiresAt"` // epoch s

	// Registrations counts the registrations of the user. Only the counterRow has it.
	Registrations int64 `dynamodbav:"turn,omitempty"`
	// Owner is the user whose phone has the token. Only the row of a token has it.
	Owner string `dynamodbav:"owner,omitempty"`
}

// counterRow is the sort key of the row that counts the registrations of a user. Every registration
// updates it, so that one of two concurrent registrations is refused, even if neither finds a
// device. It sorts after every token: no token of APNs or FCM has a ~.
const counterRow = "~"

// ownerKey returns the key of the row that names the owner of a token. Every
// registration of the token updates it, so that a phone that changes hands belongs to
// one user. It is deleted with the row of the phone, so that nothing of the user stays.
// The partition key cannot be that of a user: the id of a user is a UUID.
func ownerKey(a spec.Access, token string) dynamo.Item {
	return dynamo.Key(a, "#TOKEN#"+token, counterRow)
}

// ownedBy holds for the row of a token whose owner is the user, and if there is no row.
func ownedBy(userID string) expression.ConditionBuilder {
	return dynamo.Absent[DeviceRow]("owner").Or(dynamo.Equal[DeviceRow]("owner", userID))
}

// broadcastOS is the first major version of iOS that supports broadcast channels.
const broadcastOS = 18

// unknownOS is assumed for a phone that does not send its version: a phone that may
// not support broadcast channels must not be assigned one.
const unknownOS = 17

// HasBroadcasts reports whether the phone supports broadcast channels of Apple.
func (d DeviceRow) HasBroadcasts() bool { return d.IsIPhone() && d.OSMajor >= broadcastOS }

// IsIPhone reports whether the phone has Live Activities: its token is of APNs.
func (d DeviceRow) IsIPhone() bool { return cmp.Or(d.Kind, push.APNs) == push.APNs }

// IPhones returns those of the phones that are iPhones, in the same order.
func IPhones(all []DeviceRow) []DeviceRow {
	return slices.DeleteFunc(slices.Clone(all), func(d DeviceRow) bool { return !d.IsIPhone() })
}

// MajorOf returns the major version of a system's version such as "18.2.1", or unknownOS if
// it has none.
func MajorOf(version string) int {
	major, _, _ := strings.Cut(version, ".")

	n, err := strconv.Atoi(major)
	if err != nil {
		return unknownOS
	}

	return n
}

// Devices registers the phones of users.
type Devices struct {
	db      dynamo.DB
	now     func() time.Time
	android bool // whether the stage has Android phones
}

// OpenDevices opens the service of a user's phone.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now, android: env.Setting(fcm.SettingProject) != ""}, nil
}

var (
	errNoDevice    = problem.New(problem.NotFound, "device_not_found", "the phone is not registered")
	errDevicesBusy = problem.New(problem.Conflict, "registration_conflict",
		"other registrations of this user or this phone are in progress: try again")
	errNoEnvironment = problem.New(problem.Unprocessable, "environment_required",
		"environment is missing: the token of an iPhone belongs to production or sandbox").In("body.environment")
)

// Device is a phone as the API returns it.
type Device struct {
	DeviceID    push.TokenID `json:"deviceId" doc:"Names the phone in URLs."`
	DeviceToken string       `json:"deviceToken" doc:"The device token of Apple's push service, or the FCM registration token of an Android phone."`
	Platform    string       `json:"platform" doc:"The operating system."`
	OSVersion   string       `json:"osVersion,omitempty" doc:"The version of the operating system."`
	AppVersion  string       `json:"appVersion,omitempty" doc:"The version of the app."`
	Environment string       `json:"environment" doc:"The environment of Apple's push service that the token belongs to. Empty for an Android phone."`
	Locale      string       `json:"locale,omitempty" doc:"The locale of the phone."`
	TimeZone    string       `json:"timeZone,omitempty" doc:"The time zone of the phone."`
	Frequent    bool         `json:"frequentPushesEnabled" doc:"Whether the user allows frequent updates of Live Activities."`
	PushToStart bool         `json:"pushToStart" doc:"Whether a push can start Live Activities on the phone."`
	ExpiresAt   time.Time    `json:"expiresAt" doc:"The registration ends at this time, unless the phone is registered again before."`
}

// DevicePage is the response with a phone.
type DevicePage struct {
	Status int
	Body   Device
}

// page returns the response with the phone.
func (d DeviceRow) page(status int) *DevicePage {
	return &DevicePage{Status: status, Body: Device{
		DeviceID:    push.Registration(d.DeviceToken).ID(),
		DeviceToken: d.DeviceToken,
		Platform:    d.Platform,
		OSVersion:   d.OSVersion,
		AppVersion:  d.AppVersion,
		Environment: d.Environment,
		Locale:      d.Locale,
		TimeZone:    d.TimeZone,
		Frequent:    d.Frequent,
		PushToStart: d.PushToStart != "",
		ExpiresAt:   time.Unix(d.ExpiresAt, 0).UTC(),
	}}
}

// RegisterDevice is the request to send the caller's alerts to a phone.
type RegisterDevice struct {
	auth.User
	Body struct {
		DeviceToken push.Registration `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal, or the FCM registration token of an Android phone."`
		Platform    string            `json:"platform" enum:"ios,ipados,android" doc:"The operating system."`
		OSVersion   string            `json:"osVersion,omitempty" pattern:"^[0-9]{1,3}([.][0-9]{1,3}){0,2}$" doc:"The version of iOS or of Android. Absent: iOS 17 is assumed." example:"18.2.1"`
		AppVersion  string            `json:"appVersion,omitempty" pattern:"^[0-9A-Za-z.+-]{1,32}$" example:"2.4.0" doc:"The version of the app."`
		Environment string            `json:"environment,omitempty" enum:"production,sandbox" doc:"The environment of Apple's push service that issued the token. Required for an iPhone, ignored for an Android phone."`
		push.Texts
		TimeZone string `json:"timeZone,omitempty" maxLength:"64" doc:"A name of the IANA time zone database." example:"Asia/Kolkata"`
		Frequent bool   `json:"frequentPushesEnabled,omitempty" doc:"Whether the user allows frequent updates of Live Activities."`
	}
}

// MaxDevices is the number of phones of a user that get alerts.
const MaxDevices = 10

// registerAttempts bounds a registration. An attempt is refused only if another registration
// succeeds, so that many concurrent ones all succeed.
var registerAttempts = dynamo.Attempts{Max: 10, Err: errDevicesBusy}

// RegisterDeviceFunction registers a phone for the alerts of the caller.
func RegisterDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/register-device",
		Does:   "Registers a phone of the caller for alerts. Of more than ten phones it removes the one that was not used longest.",
		IfDown: "New phones get no alerts. Registered phones do.",
		On:     spec.Route{Method: "POST", Path: "/user/device", Auth: spec.User, Answers: []int{201, 200}},
		Uses:   []spec.Access{tables.RegisterDevice, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenDevices, (*Devices).RegisterDevice, device.ErrNoAndroid, errNoEnvironment, push.ErrPlatform)
}

// RegisterDevice registers a phone or renews its registration. The same transaction removes
// those beyond MaxDevices, that were not used longest, and those that have expired. If another user has the
// phone, that registration is deleted; the response does not reveal it. It returns Invalid for an unknown time zone,
// push.ErrPlatform for a token of another platform, device.ErrNoAndroid for an Android phone at a stage without a
// Firebase project, and Conflict if other registrations of the user or the phone refuse every attempt.
func (d *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*DevicePage, error) {
	if in.Body.TimeZone != "" {
		if _, err := httpapi.TimeZone(in.Body.TimeZone); err != nil {
			return nil, problem.In("body.timeZone", "%s", err)
		}
	}

	kind, environment := push.KindOf(in.Body.Platform), in.Body.Environment

	switch err := in.Body.DeviceToken.Check(in.Body.Platform); {
	case err != nil:
		return nil, err
	case kind == push.APNs && environment == "":
		return nil, errNoEnvironment
	case kind == push.FCM && !d.android:
		return nil, device.ErrNoAndroid
	case kind == push.FCM:
		environment = ""
	}

	now := d.now()
	mine := DeviceRow{
		UserID: in.UserID, DeviceToken: in.Body.DeviceToken.Canonical(),
		Phone: push.Phone{
			Platform: in.Body.Platform, Kind: kind, Environment: environment,
			Locale: in.Body.Locale, Catalogue: cmp.Or(in.Body.Catalogue, 1),
		},
		OSVersion: in.Body.OSVersion, OSMajor: MajorOf(in.Body.OSVersion), AppVersion: in.Body.AppVersion,
		TimeZone: in.Body.TimeZone, Frequent: in.Body.Frequent,
		UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
	}

	if err := dynamo.Retry(ctx, registerAttempts, func() error { return d.register(ctx, &mine) }); err != nil {
		return nil, err
	}

	return mine.page(http.StatusCreated), nil
}

// register writes mine, and deletes the phones of the user that are too many or have expired, with the rows of
// their tokens, and the registration of the same phone by another user. It copies the
// push-to-start token of the existing row into mine. It returns *dynamo.Refused if
// another registration came first.
func (d *Devices) register(ctx context.Context, mine *DeviceRow) error {
	rows, err := d.rows(ctx, mine.UserID)
	if err != nil {
		return err
	}

	token := ownerKey(tables.RegisterDevice, mine.DeviceToken)

	owned, err := d.rows(ctx, "#TOKEN#"+mine.DeviceToken)
	if err != nil {
		return err
	}

	sameOwner, sameCount := dynamo.Absent[DeviceRow]("owner"), dynamo.Absent[DeviceRow]("turn")

	var (
		writes []dynamo.Write
		former []DeviceRow
		count  int64
	)

	mine.PushToStart = ""

	for _, row := range rows {
		switch row.DeviceToken {
		case counterRow:
			count, sameCount = row.Registrations, dynamo.Equal[DeviceRow]("turn", row.Registrations)
		case mine.DeviceToken:
			mine.PushToStart = row.PushToStart
		default:
			former = append(former, row)
		}
	}

	slices.SortFunc(former, byUse)

	for i, row := range former {
		if i < MaxDevices-1 && row.ExpiresAt > d.now().Unix() {
			continue
		}

		if len(writes)+2 > dynamo.MaxWrites-4 { // a user has no more than MaxDevices; if there are more, the next registration deletes the rest
			break
		}

		owners, err := d.rows(ctx, "#TOKEN#"+row.DeviceToken)
		if err != nil {
			return err
		}

		writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.RegisterDevice, row.UserID, row.DeviceToken)))
		if len(owners) > 0 && owners[0].Owner == mine.UserID {
			writes = append(writes, dynamo.DeleteWrite(ownerKey(tables.RegisterDevice, row.DeviceToken), ownedBy(mine.UserID)))
		}
	}

	for _, row := range owned {
		sameOwner = dynamo.Equal[DeviceRow]("owner", row.Owner)
		if row.Owner != mine.UserID {
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.RegisterDevice, row.Owner, mine.DeviceToken)))
		}
	}

	phone := dynamo.Set(*mine, "platform", "kind", "osVersion", "osMajor", "appVersion", "environment", "locale", "catalogue", "timeZone",
		"frequentPushesEnabled", "updatedAt", "expiresAt")
	owner := dynamo.Set(DeviceRow{Owner: mine.UserID, ExpiresAt: mine.ExpiresAt}, "owner", "expiresAt")
	next := dynamo.Set(DeviceRow{Registrations: count + 1, ExpiresAt: mine.ExpiresAt}, "turn", "expiresAt")

	return dynamo.Transact(ctx, d.db, tables.RegisterDevice, append(writes,
		dynamo.UpdateWrite(dynamo.Key(tables.RegisterDevice, mine.UserID, mine.DeviceToken), phone),
		dynamo.UpdateWrite(token, owner, sameOwner),
		dynamo.UpdateWrite(dynamo.Key(tables.RegisterDevice, mine.UserID, counterRow), next, sameCount),
	)...)
}

// rows reads the rows of a partition: of a user, or of a token.
func (d *Devices) rows(ctx context.Context, partition string) ([]DeviceRow, error) {
	rows, _, err := dynamo.Query[DeviceRow](ctx, d.db, tables.RegisterDevice, dynamo.Range{
		Key: dynamo.KeyIs(tables.RegisterDevice, partition), Consistent: true,
	})

	return rows, err
}

// GetDevice is the request for the caller's phone.
type GetDevice struct{ auth.User }

// GetDeviceFunction answers with the caller's phone.
func GetDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-device",
		Does:   "Returns the caller's registered phone that was used last.",
		IfDown: "The settings do not show which phone gets alerts.",
		On:     spec.Route{Method: "GET", Path: "/user/device", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenDevices, (*Devices).GetDevice, errNoDevice)
}

// GetDevice returns the caller's phone that was used last. It returns NotFound if none is registered.
func (d *Devices) GetDevice(ctx context.Context, in *GetDevice) (*DevicePage, error) {
	phones, err := ReadDevices(ctx, d.db, in.UserID, d.now())
	if err != nil {
		return nil, err
	}

	if len(phones) == 0 {
		return nil, errNoDevice
	}

	return phones[0].page(http.StatusOK), nil
}

// ReadDevices reads the phones of a user, the one that was registered or renewed last first. It omits
// registrations that have expired.
func ReadDevices(ctx context.Context, db dynamo.DB, userID string, now time.Time) ([]DeviceRow, error) {
	return readDevices(ctx, db, userID, now, true)
}

// RecentDevices is ReadDevices at half the cost: it may miss the changes of about the last second.
// A write that depends on a row needs a condition on it.
func RecentDevices(ctx context.Context, db dynamo.DB, userID string, now time.Time) ([]DeviceRow, error) {
	return readDevices(ctx, db, userID, now, false)
}

func readDevices(ctx context.Context, db dynamo.DB, userID string, now time.Time, consistent bool) ([]DeviceRow, error) {
	key := dynamo.KeyLess(tables.GetDevice, userID, counterRow)
	rows, _, err := dynamo.Query[DeviceRow](ctx, db, tables.GetDevice, dynamo.Range{Key: key, Limit: MaxDevices, Consistent: consistent})

	rows = slices.DeleteFunc(rows, func(d DeviceRow) bool { return d.ExpiresAt <= now.Unix() })
	slices.SortFunc(rows, byUse)

	return rows, err
}

// byUse orders phones by their last registration or renewal, the last first.
func byUse(a, b DeviceRow) int {
	return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.DeviceToken, b.DeviceToken))
}

// ListDevices is the request for the caller's phones.
type ListDevices struct{ auth.User }

// DeviceList is the response with the phones of a user.
type DeviceList struct {
	Body struct {
		Devices []Device `json:"devices" nullable:"false" doc:"The phones, the one that was used last first."`
	}
}

// ListDevicesFunction lists the caller's phones.
func ListDevicesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/list-devices",
		Does:   "Lists the caller's registered phones.",
		IfDown: "The settings do not show which phones get alerts.",
		On:     spec.Route{Method: "GET", Path: "/user/devices", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenDevices, (*Devices).ListDevices)
}

// ListDevices returns the caller's phones: up to MaxDevices. The list is empty if none is registered.
func (d *Devices) ListDevices(ctx context.Context, in *ListDevices) (*DeviceList, error) {
	phones, err := ReadDevices(ctx, d.db, in.UserID, d.now())

	out := &DeviceList{}
	out.Body.Devices = make([]Device, len(phones))

	for i, p := range phones {
		out.Body.Devices[i] = p.page(http.StatusOK).Body
	}

	return out, err
}

// DeleteDevice is the request to delete the registration of a phone.
type DeleteDevice struct {
	auth.User
	DeviceID push.TokenID `path:"deviceId" doc:"The deviceId in the answer to the registration of the phone."`
}

// DeleteDeviceFunction ends the caller's registration of a phone.
func DeleteDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/delete-device",
		Does:   "Deletes the registration of the caller's phone.",
		IfDown: "A phone on which the user has signed out still gets alerts.",
		On:     spec.Route{Method: "DELETE", Path: "/user/device/{deviceId}", Auth: spec.User},
		Uses:   []spec.Access{tables.GetDevice, tables.DeleteDevice},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenDevices, (*Devices).DeleteDevice, errNoDevice)
}

// DeleteDevice deletes the caller's registration of a phone. It returns NotFound if the
// caller has not registered it, also if another user has.
func (d *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	phones, _, err := dynamo.Query[DeviceRow](ctx, d.db, tables.GetDevice,
		dynamo.Range{Key: dynamo.KeyLess(tables.GetDevice, in.UserID, counterRow), Consistent: true})
	if err != nil {
		return nil, err
	}

	i := slices.IndexFunc(phones, func(p DeviceRow) bool { return push.Registration(p.DeviceToken).ID() == in.DeviceID })
	if i < 0 {
		return nil, errNoDevice
	}

	if err := RemoveDevice(ctx, d.db, phones[i], dynamo.Exists[DeviceRow]("userId")); err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}

	return httpapi.NewRemoved(), nil
}

// RemoveDevice deletes a phone, and the row of its token if the user still owns it. It
// returns *dynamo.Refused if cond does not hold for the phone.
func RemoveDevice(ctx context.Context, db dynamo.DB, d DeviceRow, cond expression.ConditionBuilder) error {
	phone := dynamo.DeleteWrite(dynamo.Key(tables.DeleteDevice, d.UserID, d.DeviceToken), cond)

	err := dynamo.Transact(ctx, db, tables.DeleteDevice, phone,
		dynamo.DeleteWrite(ownerKey(tables.DeleteDevice, d.DeviceToken), ownedBy(d.UserID)))
	if r, ok := errors.AsType[*dynamo.Refused](err); ok && r.Write == 1 { // the registration had expired, and another user has the phone now
		return dynamo.Transact(ctx, db, tables.DeleteDevice, phone)
	}

	return err
}

// UpdatePushToStart is the request to store the push-to-start token of a phone.
type UpdatePushToStart struct {
	auth.User
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
		Token       push.Token `json:"pushToStartToken" doc:"The app's push-to-start token on the phone, in hexadecimal."`
	}
}

// UpdatePushToStartFunction stores the push-to-start token of a phone of the caller.
func UpdatePushToStartFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/update-push-to-start",
		Does:   "Stores the token with which a push starts Live Activities on the caller's phone.",
		IfDown: "New phones start no Live Activities by a push.",
		On:     spec.Route{Method: "PUT", Path: "/user/device/push-to-start", Auth: spec.User},
		Uses:   []spec.Access{tables.UpdatePushToStart, account.CheckDeleted},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenDevices, (*Devices).UpdatePushToStart, errNoDevice)
}

// UpdatePushToStart stores the token with which Live Activities are started on the
// caller's phone, and renews the registration. It returns NotFound if the caller has
// not registered the phone.
func (d *Devices) UpdatePushToStart(ctx context.Context, in *UpdatePushToStart) (*DevicePage, error) {
	now := d.now()
	token := in.Body.DeviceToken.Lower()

	mine, ok, err := dynamo.Get[DeviceRow](ctx, d.db, tables.UpdatePushToStart, in.UserID, token)
	if err != nil {
		return nil, err
	}

	if !ok || mine.ExpiresAt <= now.Unix() {
		return nil, errNoDevice
	}

	mine.PushToStart, mine.UpdatedAt, mine.ExpiresAt = in.Body.Token.Lower(), now.UnixMilli(), now.Add(push.KeepDevice).Unix()
	phone := dynamo.Set(mine, "pushToStartToken", "updatedAt", "expiresAt")
	owner := dynamo.Set(DeviceRow{Owner: in.UserID, ExpiresAt: mine.ExpiresAt}, "owner", "expiresAt")

	err = dynamo.Transact(ctx, d.db, tables.UpdatePushToStart,
		dynamo.UpdateWrite(dynamo.Key(tables.UpdatePushToStart, in.UserID, token), phone, dynamo.Exists[DeviceRow]("userId")),
		dynamo.UpdateWrite(ownerKey(tables.UpdatePushToStart, token), owner, ownedBy(in.UserID)),
	)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}

	return mine.page(http.StatusOK), nil
}
