package follower

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/spec"
)

// DeviceRow is a row of cricket-devices: a user's phone, of which there is one, or
// the owner of a token.
type DeviceRow struct {
	UserID      string `dynamodbav:"userId"`
	DeviceToken string `dynamodbav:"deviceToken"` // hexadecimal, in small letters
	Platform    string `dynamodbav:"platform"`
	OSVersion   string `dynamodbav:"osVersion,omitempty"`
	OSMajor     int    `dynamodbav:"osMajor"`
	AppVersion  string `dynamodbav:"appVersion,omitempty"`
	Environment string `dynamodbav:"environment"`
	Locale      string `dynamodbav:"locale,omitempty"`
	TimeZone    string `dynamodbav:"timeZone,omitempty"`
	Frequent    bool   `dynamodbav:"frequentPushesEnabled"`
	PushToStart string `dynamodbav:"pushToStartToken,omitempty"`
	UpdatedAt   int64  `dynamodbav:"updatedAt"` // when the phone was last seen, epoch ms
	ExpiresAt   int64  `dynamodbav:"expiresAt"`

	// Turn counts the registrations of the user, in the row turnRow alone.
	Turn int64 `dynamodbav:"turn,omitempty"`
	// Owner is the user whose phone has a token, in the row of the token alone.
	Owner string `dynamodbav:"owner,omitempty"`
}

// turnRow is the sort key of a row beside a user's device that every
// registration rewrites: of two at once, one is refused, also when neither finds
// a device. It sorts behind every token, which is hexadecimal.
const turnRow = "~"

// ownerKey is the key of a token's row, which says whose phone it is. Every
// registration of the token rewrites it, so that a phone that was signed over is
// one user's alone. It lasts as long as the phone's row; one that outlasts it
// does no harm, for it only says whose row is to go. A user's id, a UUID, is never
// that of a token.
func ownerKey(a spec.Access, token string) dynamo.Item {
	return dynamo.Key(a, "#TOKEN#"+token, turnRow)
}

// owns holds for a token's row that says it is the user's, or for none.
func owns(userID string) expression.ConditionBuilder {
	owner := expression.Name("owner")
	return expression.AttributeNotExists(owner).Or(expression.Equal(owner, expression.Value(userID)))
}

// unknownOS is the major version of an iOS that is not told: 18 brought
// broadcast channels, and a phone that may not know them must not be given one.
const unknownOS = 17

// broadcastOS is the first iOS that listens to channels.
const broadcastOS = 18

// HasBroadcasts reports whether the phone is known to be able to listen to
// channels.
func (d DeviceRow) HasBroadcasts() bool { return d.OSMajor >= broadcastOS }

// MajorOf is the major version of an iOS, as "18.2.1".
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
	db  dynamo.DB
	now func() time.Time
}

// OpenDevices opens the service of a user's phone.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{db: dynamo.Open(env.AWS, env.Prefix), now: env.Now}, nil
}

var (
	errNoDevice    = problem.New(problem.NotFound, "device_not_found", "no such device")
	errDevicesBusy = problem.New(problem.Conflict, "registration_conflict", "other phones are being registered: try again")
)

// Device is a phone as its owner sees it.
type Device struct {
	DeviceToken string    `json:"deviceToken"`
	Platform    string    `json:"platform"`
	OSVersion   string    `json:"osVersion,omitempty"`
	AppVersion  string    `json:"appVersion,omitempty"`
	Environment string    `json:"environment"`
	Locale      string    `json:"locale,omitempty"`
	TimeZone    string    `json:"timeZone,omitempty"`
	Frequent    bool      `json:"frequentPushesEnabled"`
	PushToStart bool      `json:"pushToStart" doc:"Whether Live Activities can be started on it by a push."`
	ExpiresAt   time.Time `json:"expiresAt" doc:"When the registration ends, unless the phone is seen before."`
}

// DevicePage is the answer with a phone.
type DevicePage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         Device
}

func (d DeviceRow) page(status int) *DevicePage {
	return &DevicePage{Status: status, CacheControl: httpapi.NoStore, Body: Device{
		DeviceToken: d.DeviceToken, Platform: d.Platform, OSVersion: d.OSVersion, AppVersion: d.AppVersion, Environment: d.Environment,
		Locale: d.Locale, TimeZone: d.TimeZone, Frequent: d.Frequent, PushToStart: d.PushToStart != "", ExpiresAt: time.Unix(d.ExpiresAt, 0).UTC(),
	}}
}

// RegisterDevice asks for the caller's alerts to be sent to a phone.
type RegisterDevice struct {
	auth.User
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
		Platform    string     `json:"platform" enum:"ios,ipados"`
		OSVersion   string     `json:"osVersion,omitempty" pattern:"^[0-9]{1,3}([.][0-9]{1,3}){0,2}$" doc:"Without it the phone is taken for an iOS 17." example:"18.2.1"`
		AppVersion  string     `json:"appVersion,omitempty" pattern:"^[0-9A-Za-z.+-]{1,32}$" example:"2.4.0"`
		Environment string     `json:"environment" enum:"production,sandbox" doc:"Which of Apple's push services gave the token."`
		Locale      string     `json:"locale,omitempty" pattern:"^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8}){0,3}$" example:"en-IN"`
		TimeZone    string     `json:"timeZone,omitempty" maxLength:"64" doc:"In the IANA database." example:"Asia/Kolkata"`
		Frequent    bool       `json:"frequentPushesEnabled,omitempty" doc:"Whether the user allows frequent updates of Live Activities."`
	}
}

// registerTries is how many registrations of one user or one phone at once all
// come through.
const registerTries = 10

// RegisterDevice registers a phone in place of the one before, in one step; or
// renews it. Of registrations at once one is left, whole. A phone that another
// user signed out of without a word is no longer that user's; nothing in the
// answer tells that it was.
func (d *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*DevicePage, error) {
	if in.Body.TimeZone != "" {
		if _, err := zone(in.Body.TimeZone); err != nil {
			return nil, problem.In("body.timeZone", "%s", err)
		}
	}
	now := d.now()
	mine := DeviceRow{
		UserID: in.UserID, DeviceToken: in.Body.DeviceToken.Lower(), Platform: in.Body.Platform,
		OSVersion: in.Body.OSVersion, OSMajor: MajorOf(in.Body.OSVersion), AppVersion: in.Body.AppVersion, Environment: in.Body.Environment,
		Locale: in.Body.Locale, TimeZone: in.Body.TimeZone, Frequent: in.Body.Frequent,
		UpdatedAt: now.UnixMilli(), ExpiresAt: now.Add(push.KeepDevice).Unix(),
	}
	for range registerTries {
		err := d.replace(ctx, &mine)
		if err == nil {
			return mine.page(http.StatusCreated), nil
		}
		if !dynamo.IsRefused(err) {
			return nil, err
		}
	}
	return nil, errDevicesBusy
}

// replace deletes the user's other devices, and the row of the same phone under
// another user, writes mine, and reads into mine what is kept of its row.
// *Refused says that another registration came first.
func (d *Devices) replace(ctx context.Context, mine *DeviceRow) error {
	rows, err := d.rows(ctx, mine.UserID)
	if err != nil {
		return err
	}
	token := ownerKey(tables.RegisterDevice, mine.DeviceToken)
	owned, err := d.rows(ctx, "#TOKEN#"+mine.DeviceToken)
	if err != nil {
		return err
	}
	expires := expression.Value(mine.ExpiresAt)
	owner, turn := expression.Name("owner"), expression.Name("turn")
	unowned, unturned := expression.AttributeNotExists(owner), expression.AttributeNotExists(turn)
	var writes []dynamo.Write
	var last int64
	mine.PushToStart = ""
	for _, row := range rows {
		switch row.DeviceToken {
		case turnRow:
			last, unturned = row.Turn, expression.Equal(turn, expression.Value(row.Turn))
		case mine.DeviceToken:
			mine.PushToStart = row.PushToStart
		default:
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.RegisterDevice, row.UserID, row.DeviceToken)))
		}
	}
	writes = writes[:min(len(writes), dynamo.MaxWrites-4)] // others, which nothing here leaves, wait for the next registration
	for _, row := range owned {
		unowned = expression.Equal(owner, expression.Value(row.Owner))
		if row.Owner != mine.UserID {
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.RegisterDevice, row.Owner, mine.DeviceToken)))
		}
	}
	set := expression.Set(expression.Name("platform"), expression.Value(mine.Platform)).
		Set(expression.Name("osVersion"), expression.Value(mine.OSVersion)).
		Set(expression.Name("osMajor"), expression.Value(mine.OSMajor)).
		Set(expression.Name("appVersion"), expression.Value(mine.AppVersion)).
		Set(expression.Name("environment"), expression.Value(mine.Environment)).
		Set(expression.Name("locale"), expression.Value(mine.Locale)).
		Set(expression.Name("timeZone"), expression.Value(mine.TimeZone)).
		Set(expression.Name("frequentPushesEnabled"), expression.Value(mine.Frequent)).
		Set(expression.Name("updatedAt"), expression.Value(mine.UpdatedAt)).
		Set(expression.Name("expiresAt"), expires)
	return dynamo.Transact(ctx, d.db, tables.RegisterDevice, append(writes,
		dynamo.UpdateWrite(dynamo.Key(tables.RegisterDevice, mine.UserID, mine.DeviceToken), set),
		dynamo.UpdateWrite(token, expression.Set(owner, expression.Value(mine.UserID)).Set(expression.Name("expiresAt"), expires), unowned),
		dynamo.UpdateWrite(dynamo.Key(tables.RegisterDevice, mine.UserID, turnRow), expression.Set(turn, expression.Value(last+1)).Set(expression.Name("expiresAt"), expires), unturned),
	)...)
}

// rows are those under a user, or under a token.
func (d *Devices) rows(ctx context.Context, userID string) ([]DeviceRow, error) {
	rows, _, err := dynamo.Query[DeviceRow](ctx, d.db, tables.RegisterDevice, dynamo.Range{
		Key: expression.Key("userId").Equal(expression.Value(userID)), Consistent: true,
	})
	return rows, err
}

// GetDevice asks for the caller's phone.
type GetDevice struct{ auth.User }

// GetDevice returns the caller's phone, or NotFound.
func (d *Devices) GetDevice(ctx context.Context, in *GetDevice) (*DevicePage, error) {
	mine, ok, err := ReadDevice(ctx, d.db, in.UserID, d.now())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoDevice
	}
	return mine.page(http.StatusOK), nil
}

// ReadDevice reads the phone of a user, if it has one whose registration has
// not expired.
func ReadDevice(ctx context.Context, db dynamo.DB, userID string, now time.Time) (DeviceRow, bool, error) {
	key := expression.Key("userId").Equal(expression.Value(userID)).And(expression.Key("deviceToken").LessThan(expression.Value(turnRow)))
	rows, _, err := dynamo.Query[DeviceRow](ctx, db, tables.GetDevice, dynamo.Range{Key: key, Limit: 1, Consistent: true})
	if err != nil || len(rows) == 0 || rows[0].ExpiresAt <= now.Unix() {
		return DeviceRow{}, false, err
	}
	return rows[0], true, nil
}

// DeleteDevice asks for a phone to be forgotten.
type DeleteDevice struct {
	auth.User
	DeviceToken push.Token `query:"deviceToken" required:"true" doc:"The phone's APNs token, in hexadecimal: a phone that signs out late must not take the newer one away."`
}

// DeleteDevice removes the caller's registration of a phone. That of another
// user is as NotFound as none at all.
func (d *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	token := in.DeviceToken.Lower()
	phone := dynamo.DeleteWrite(dynamo.Key(tables.DeleteDevice, in.UserID, token), dynamo.Exists[DeviceRow]("userId"))
	err := dynamo.Transact(ctx, d.db, tables.DeleteDevice, phone, dynamo.DeleteWrite(ownerKey(tables.DeleteDevice, token), owns(in.UserID)))
	if r, ok := errors.AsType[*dynamo.Refused](err); ok && r.Write == 1 { // what has expired here is another's now
		err = dynamo.Transact(ctx, d.db, tables.DeleteDevice, phone)
	}
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// UpdatePushToStart asks for Live Activities to be started on a phone.
type UpdatePushToStart struct {
	auth.User
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
		Token       push.Token `json:"pushToStartToken" doc:"The app's push-to-start token on it, in hexadecimal."`
	}
}

// UpdatePushToStart stores the token that starts Live Activities on the caller's
// phone, which counts as seeing it. A phone that is not registered is NotFound.
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
	mine.PushToStart, mine.ExpiresAt = in.Body.Token.Lower(), now.Add(push.KeepDevice).Unix()
	owner := expression.Set(expression.Name("owner"), expression.Value(in.UserID)).Set(expression.Name("expiresAt"), expression.Value(mine.ExpiresAt))
	set := expression.Set(expression.Name("pushToStartToken"), expression.Value(mine.PushToStart)).
		Set(expression.Name("updatedAt"), expression.Value(now.UnixMilli())).
		Set(expression.Name("expiresAt"), expression.Value(mine.ExpiresAt))
	err = dynamo.Transact(ctx, d.db, tables.UpdatePushToStart,
		dynamo.UpdateWrite(dynamo.Key(tables.UpdatePushToStart, in.UserID, token), set, dynamo.Exists[DeviceRow]("userId")),
		dynamo.UpdateWrite(ownerKey(tables.UpdatePushToStart, token), owner, owns(in.UserID)),
	)
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return mine.page(http.StatusOK), nil
}
