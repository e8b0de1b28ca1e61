// Package device keeps the phones that the users of a room have registered for notifications,
// and sends notifications to them.
//
// The rows are in a table of the room, with the keys PK and SK and the TTL ttl:
//
//	DEVICE#{token}  DEVICE   a phone
//	USER#{userId}   DEVICES  the tokens of a user's phones
//
// A phone belongs to the user who registered it last. The list of an earlier user keeps the
// token until it is full, and what reads the list compares the owner.
package device

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
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
		Register: t.On("Register device", "PK=DEVICE#{token}, SK=DEVICE, and PK=USER#{userId}, SK=DEVICES", onUser, spec.GetItem, spec.BatchGetItem, spec.PutItem, spec.UpdateItem),
		List:     t.On("List devices", "PK=USER#{userId}, SK=DEVICES, then PK=DEVICE#{token}, SK=DEVICE (a batch)", perMessage, spec.GetItem, spec.BatchGetItem),
		Drop:     t.On("Drop device", "PK=DEVICE#{token}, SK=DEVICE, if it is the user's", onUser, spec.DeleteItem),
	}
}

// Device is the row of a phone.
type Device struct {
	PK     string `dynamodbav:"PK" json:"PK"`
	SK     string `dynamodbav:"SK" json:"SK"`
	Token  string `dynamodbav:"token" json:"token"` // hexadecimal, in small letters
	UserID string `dynamodbav:"userId" json:"userId"`
	SeenAt int64  `dynamodbav:"seenAt" json:"seenAt"` // epoch s
	TTL    int64  `dynamodbav:"ttl" json:"ttl"`       // epoch s
}

const deviceSK, listSK = "DEVICE", "DEVICES"

func deviceKey(token string) string { return "DEVICE#" + token }
func listKey(userID string) string  { return "USER#" + userID }

// MaxDevices bounds the pushes of a notification to a user.
var MaxDevices = spec.Limit{Name: "phones per user", Max: 10, Code: "too_many_devices"}

var errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")

// Devices is the service of the phones of a room.
type Devices struct {
	db    dynamo.DB
	table Table
	now   func() time.Time
	limit time.Duration // for Apple
}

// Open returns the service of the phones in a table.
func Open(env app.Env, t Table) *Devices {
	return &Devices{dynamo.Open(env.AWS, env.Prefix), t, env.Now, env.Limit(sendTime)}
}

// RegisterDevice is the request to register a phone for notifications.
type RegisterDevice struct {
	auth.User
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
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
// too_many_devices.
func (s *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*Registered, error) {
	token, now := in.Body.DeviceToken.Lower(), s.now()
	p := Device{deviceKey(token), deviceSK, token, in.UserID, now.Unix(), now.Add(push.KeepDevice).Unix()}
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
	if err := row.Write(ctx, s.db, dynamo.PutWrite(p)); err != nil {
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
// like one that does not exist.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	tokens, err := s.tokens(ctx, in.UserID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tokens, func(token string) bool { return push.Token(token).ID() == in.DeviceID })
	if i < 0 {
		return nil, errNoDevice
	}
	if err := s.drop(ctx, in.UserID, tokens[i]); err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// drop deletes a phone if it is the user's.
func (s *Devices) drop(ctx context.Context, userID, token string) error {
	_, err := dynamo.Delete(ctx, s.db, s.table.Drop, dynamo.Key(s.table.Drop, deviceKey(token), deviceSK), dynamo.Equal[Device]("userId", userID))
	return err
}

// Forget deletes the phones of a user, and then the list of them. A second run deletes what
// is left.
func (s *Devices) Forget(ctx context.Context, userID string) error {
	tokens, err := s.tokens(ctx, userID)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if err := dynamo.IgnoreRefused(s.drop(ctx, userID, token)); err != nil {
			return err
		}
	}
	_, err = dynamo.Delete(ctx, s.db, s.table.Drop, dynamo.Key(s.table.Drop, listKey(userID), listSK))
	return err
}

// sendTime is the time for Apple, out of the 30 s of a function that sends.
const sendTime = 15 * time.Second

// Send sends a notification to the phones, and deletes those that Apple reports as gone,
// unless they were registered again since. A phone shows a notification that is sent twice
// once, if it has a collapse id.
//
// Errors: apple_unavailable; phones_not_reached if a later try can reach a phone.
func (s *Devices) Send(ctx context.Context, to *push.Sender, m *push.Message, phones []Device) (push.Counts, error) {
	if err := to.Ready(ctx); err != nil {
		return push.Counts{}, problem.New(problem.Unavailable, "apple_unavailable", "Apple cannot be reached").Because(err)
	}
	outcomes := map[string]push.Outcome{}
	sending, stop := context.WithTimeout(ctx, s.limit)
	defer stop()
	counts, err := to.Send(sending, m, func(yield func(string) bool) {
		for _, p := range phones {
			if !yield(p.Token) {
				return
			}
		}
	}, func(token string, o push.Outcome) { outcomes[token] = o })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // phones that were not reached have no outcome
	}
	later := 0
	for _, p := range phones {
		switch o, ok := outcomes[p.Token]; {
		case ok && o.Result == push.Delivered:
		case !ok || o.Result != push.Gone:
			later++
		case p.SeenAt <= o.Since.Unix():
			_, dropped := dynamo.Delete(ctx, s.db, s.table.Drop, dynamo.Key(s.table.Drop, p.PK, p.SK), dynamo.Unchanged(p, "userId", "seenAt"))
			err = errors.Join(err, dynamo.IgnoreRefused(dropped))
		}
	}
	if later > 0 {
		err = errors.Join(err, problem.New(problem.Unavailable, "phones_not_reached", "%d of %d phones were not reached", later, len(phones)))
	}
	return counts, err
}
