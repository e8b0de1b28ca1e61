// Package device keeps the phones that the users of a room have registered for notifications,
// and sends notifications to them.
//
// The rows are in a table of the room, with the keys PK and SK and the TTL ttl:
//
//	DEVICE#{token}  DEVICE   a phone
//	USER#{userId}   DEVICES  the tokens of a user's phones
//
// A phone belongs to the user who registered it last. The list of an earlier user keeps the
// token until it is full, and what reads the list compares the owner. A row of another form
// under the key of a phone, which an earlier version of a room has written, is nobody's phone
// until the next registration replaces it.
package device

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/spec"
)

// Table is the access patterns of the phones in a table.
type Table struct {
	Register, List, Drop spec.Access
}

// In returns the access patterns of the phones in t. perMessage is how often a room sends.
func In(t spec.Table, perMessage spec.Rate) Table {
	onUser := spec.Rate{Driver: spec.UserAction}

	return Table{
		Register: t.On("Register device", "PK=DEVICE#{token}, SK=DEVICE, and PK=USER#{userId}, SK=DEVICES", onUser, spec.GetItem,
			spec.BatchGetItem, spec.PutItem, spec.UpdateItem),
		List: t.On("List devices", "PK=USER#{userId}, SK=DEVICES, then PK=DEVICE#{token}, SK=DEVICE (a batch)", perMessage,
			spec.GetItem, spec.BatchGetItem),
		Drop: t.On("Drop device", "PK=DEVICE#{token}, SK=DEVICE, if it is the user's", onUser, spec.DeleteItem),
	}
}

// Device is the row of a phone.
type Device struct {
	PK     string `dynamodbav:"PK" json:"PK"`
	SK     string `dynamodbav:"SK" json:"SK"`
	Token  string `dynamodbav:"token" json:"token"` // of APNs: hexadecimal, in lower case
	UserID string `dynamodbav:"userId" json:"userId"`
	SeenAt epoch  `dynamodbav:"seenAt" json:"seenAt"`
	TTL    int64  `dynamodbav:"ttl" json:"ttl"` // epoch s
	push.Phone
}

// epoch is a time in seconds. A time that a row has in another form is 0.
type epoch int64

// UnmarshalDynamoDBAttributeValue decodes a number.
func (e *epoch) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	if n, ok := av.(*types.AttributeValueMemberN); ok {
		return attributevalue.Unmarshal(n, (*int64)(e))
	}

	return nil
}

const deviceSK, listSK = "DEVICE", "DEVICES"

func deviceKey(token string) string { return "DEVICE#" + token }
func listKey(userID string) string  { return "USER#" + userID }

// MaxDevices bounds the pushes of a notification to a user.
var MaxDevices = spec.Limit{Name: "phones per user", Max: 10, Code: "too_many_devices"}

// Errors of requests.
var (
	ErrNoDevice  = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")
	ErrNoAndroid = problem.New(problem.Unprocessable, "android_not_configured",
		"no Android phone can be registered: this stage has no Firebase project")
)

// Devices is the service of the phones of a room.
type Devices struct {
	Limit time.Duration // for Apple and Google, of one Push

	db          dynamo.DB
	table       Table
	now         func() time.Time
	environment string // of Apple
	android     bool
}

// Open returns the service of the phones in a table.
func Open(env app.Env, t Table) *Devices {
	return &Devices{
		env.Limit(sendTime), dynamo.Open(env.AWS, env.Prefix), t, env.Now, push.EnvironmentOf(env), env.Setting(fcm.SettingProject) != "",
	}
}

// RegisterDevice is the request to register a phone for notifications.
type RegisterDevice struct {
	auth.User
	Body struct {
		DeviceToken push.Registration `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal, or the FCM registration token of an Android phone."`
		Platform    string            `json:"platform,omitempty" enum:"ios,ipados,android" doc:"The operating system. Absent: ios."`
		Environment string            `json:"environment,omitempty" enum:"production,sandbox" doc:"The environment of Apple's push service that issued the token: sandbox for an app that Xcode has installed. Phones of another environment than the stage's get nothing. Absent: that of the stage."`
		push.Texts
	}
}

// Registered is the answer with a phone.
type Registered struct {
	Status int
	Body   struct {
		DeviceID  push.TokenID `json:"deviceId" doc:"Names the phone in URLs."`
		ExpiresAt time.Time    `json:"expiresAt" doc:"The registration ends at this time, unless the phone is registered again before."`
	}
}

// RegisterDevice registers a phone for the caller, or renews the registration. A phone of
// another user becomes the caller's. A caller with MaxDevices other phones gets
// too_many_devices. Errors: android_not_configured.
func (s *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*Registered, error) {
	return s.Register(ctx, in)
}

// Register is RegisterDevice with conditions of the room, in the same transaction. It returns
// *dynamo.Refused if one does not hold.
func (s *Devices) Register(ctx context.Context, in *RegisterDevice, conditions ...dynamo.Write) (*Registered, error) {
	platform := cmp.Or(in.Body.Platform, "ios")
	if err := in.Body.DeviceToken.Check(platform); err != nil {
		return nil, err
	}

	token, now := in.Body.DeviceToken.Canonical(), s.now()

	p := Device{deviceKey(token), deviceSK, token, in.UserID, epoch(now.Unix()), now.Add(push.KeepDevice).Unix(), push.Phone{
		Platform: platform, Kind: push.KindOf(platform), Environment: in.Body.Environment,
		Locale: in.Body.Locale, Catalogue: cmp.Or(in.Body.Catalogue, 1),
	}}
	if p.Kind == push.FCM && !s.android {
		return nil, ErrNoAndroid
	}

	row := dynamo.Entry{
		Access: s.table.Register, List: []string{listKey(in.UserID), listSK}, ID: token, ExpiresAt: p.TTL, Limit: MaxDevices,
		Existing: func(ctx context.Context, tokens []string) ([]string, error) {
			phones, err := s.read(ctx, s.table.Register, in.UserID, tokens)

			own := make([]string, len(phones))
			for i, p := range phones {
				own[i] = p.Token
			}

			return own, err
		},
	}
	if err := row.Write(ctx, s.db, append(conditions, dynamo.PutWrite(p))...); err != nil {
		return nil, err
	}

	out := &Registered{Status: http.StatusCreated}
	out.Body.DeviceID, out.Body.ExpiresAt = in.Body.DeviceToken.ID(), time.Unix(p.TTL, 0).UTC()

	return out, nil
}

// read returns those of the phones that are the user's and whose registration lasts, in the
// order of the tokens.
func (s *Devices) read(ctx context.Context, a spec.Access, userID string, tokens []string) ([]Device, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = dynamo.Key(a, deviceKey(token), deviceSK)
	}

	all, err := dynamo.GetAll[Device](ctx, s.db, a, keys)
	now := s.now().Unix()
	all = slices.DeleteFunc(all, func(p Device) bool { return p.UserID != userID || p.TTL <= now })
	slices.SortFunc(all, func(a, b Device) int { return slices.Index(tokens, a.Token) - slices.Index(tokens, b.Token) })

	return all, err
}

// tokens returns the tokens that a user has registered.
func (s *Devices) tokens(ctx context.Context, userID string) ([]string, error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, s.table.List, listKey(userID), listSK)
	return list.IDs, err
}

// Of returns the phones of a user.
func (s *Devices) Of(ctx context.Context, userID string) ([]Device, error) {
	tokens, err := s.tokens(ctx, userID)
	if err != nil || len(tokens) == 0 {
		return []Device{}, err
	}

	return s.read(ctx, s.table.List, userID, tokens)
}

// DeleteDevice is the request to stop notifications to a phone.
type DeleteDevice struct {
	auth.User
	DeviceID push.TokenID `path:"deviceId" doc:"The deviceId in the answer to the registration of the phone."`
}

// DeleteDevice deletes a phone of the caller. A phone of another user is device_not_found,
// like one that does not exist. If a requirement of ctx does not hold, it returns the requirement's Err.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	tokens, err := s.tokens(ctx, in.UserID)
	if err != nil {
		return nil, err
	}

	i := slices.IndexFunc(tokens, func(token string) bool { return push.Registration(token).ID() == in.DeviceID })
	if i < 0 {
		return nil, ErrNoDevice
	}

	if err := dynamo.Check(ctx, s.db, s.table.Drop); err != nil { // a deletion does not check the requirement
		return nil, err
	}

	if err := s.drop(ctx, tokens[i], ownedBy(in.UserID)); err != nil {
		return nil, dynamo.RefusedAs(err, ErrNoDevice)
	}

	return httpapi.NewRemoved(), nil
}

// ownedBy holds for a phone of the user.
func ownedBy(userID string) expression.ConditionBuilder {
	return dynamo.Equal[Device]("userId", userID)
}

// drop deletes a phone on a condition.
func (s *Devices) drop(ctx context.Context, token string, cond expression.ConditionBuilder) error {
	_, err := dynamo.Delete(ctx, s.db, s.table.Drop, dynamo.Key(s.table.Drop, deviceKey(token), deviceSK), cond)
	return err
}

// Forget deletes the phones of a user, and then the list of them. former holds for listed
// rows of another form that are the user's, too. A second run deletes what is left.
func (s *Devices) Forget(ctx context.Context, userID string, former ...expression.ConditionBuilder) error {
	tokens, err := s.tokens(ctx, userID)
	if err != nil {
		return err
	}

	owned := ownedBy(userID)
	for _, cond := range former {
		owned = owned.Or(cond)
	}

	for _, token := range tokens {
		if err := dynamo.IgnoreRefused(s.drop(ctx, token, owned)); err != nil {
			return err
		}
	}

	_, err = dynamo.Delete(ctx, s.db, s.table.Drop, dynamo.Key(s.table.Drop, listKey(userID), listSK))

	return err
}
