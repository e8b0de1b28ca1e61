// Package notice tells users of a new part on their phones: which phones get notices, and
// how one is sent.
package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/session"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

const (
	// APNSKey is the secret with Apple's .p8 key, PEM.
	APNSKey = "APNS_KEY"
	// APNSBundle is the setting with the bundle id of the app.
	APNSBundle = "COMMITCOLLECT_BUNDLE"
)

// device is a phone. It belongs to whoever registered it last.
type device struct {
	PK     string `dynamodbav:"PK"`
	SK     string `dynamodbav:"SK"`
	Token  string `dynamodbav:"token"` // hexadecimal, in small letters
	UserID string `dynamodbav:"userId"`
	SeenAt int64  `dynamodbav:"seenAtUtc"` // epoch s
	TTL    int64  `dynamodbav:"ttl"`       // epoch s
}

// maxDevices bounds the pushes of a notice.
var maxDevices = spec.Limit{Name: "phones per user", Max: 10, Code: "too_many_devices"}

var errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")

// Devices is the service of phones.
type Devices struct {
	session.Sessions
	db  dynamo.DB
	now func() time.Time
}

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Devices{signin.Sessions(env, db), db, env.Now}, nil
}

// RegisterDevice is the request to register a phone for notices.
type RegisterDevice struct {
	auth.User
	Body struct {
		DeviceToken push.Token `json:"deviceToken" doc:"The phone's APNs token, in hexadecimal."`
	}
}

// Registered is the answer with a phone.
type Registered struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		DeviceID  push.TokenID `json:"deviceId" doc:"Names the phone in URLs."`
		ExpiresAt time.Time    `json:"expiresAt" doc:"The registration ends at this time, unless the phone is registered again before."`
	}
}

// RegisterDevice registers a phone for the caller, or renews the registration. A phone of
// another user becomes the caller's. A caller with maxDevices other phones gets
// too_many_devices.
func (s *Devices) RegisterDevice(ctx context.Context, in *RegisterDevice) (*Registered, error) {
	token, now := in.Body.DeviceToken.Lower(), s.now()
	d := device{item.DeviceOf(token), item.Device, token, in.UserID, now.Unix(), now.Add(push.KeepDevice).Unix()}
	phone := dynamo.Entry{
		Access: tables.RegisterDevice, List: []string{item.User(in.UserID), item.Devices}, ID: token, ExpiresAt: d.TTL, Limit: maxDevices,
		Existing: func(ctx context.Context, tokens []string) ([]string, error) {
			phones, err := devices(ctx, s.db, tables.RegisterDevice, in.UserID, tokens, now)
			var own []string
			for _, p := range phones {
				own = append(own, p.Token)
			}
			return own, err
		},
	}
	if err := phone.Write(ctx, s.db, dynamo.PutWrite(d)); err != nil {
		return nil, err
	}
	out := &Registered{Status: http.StatusCreated, CacheControl: httpapi.NoStore}
	out.Body.DeviceID, out.Body.ExpiresAt = in.Body.DeviceToken.ID(), time.Unix(d.TTL, 0).UTC()
	return out, nil
}

// devices returns those of the phones that are the user's and whose registration lasts, in
// the order of the tokens.
func devices(ctx context.Context, db dynamo.DB, a spec.Access, userID string, tokens []string, now time.Time) ([]device, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = dynamo.Key(a, item.DeviceOf(token), item.Device)
	}
	all, err := dynamo.GetAll[device](ctx, db, a, keys)
	all = slices.DeleteFunc(all, func(d device) bool { return d.UserID != userID || d.TTL <= now.Unix() })
	slices.SortFunc(all, func(a, b device) int { return slices.Index(tokens, a.Token) - slices.Index(tokens, b.Token) })
	return all, err
}

// DeleteDevice is the request to stop notices to a phone.
type DeleteDevice struct {
	auth.User
	DeviceID push.TokenID `path:"deviceId" doc:"The deviceId in the answer to the registration of the phone."`
}

// DeleteDevice deletes a phone of the caller. A phone of another user is device_not_found,
// like one that does not exist.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.ListDevices, item.User(in.UserID), item.Devices)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.IDs, func(token string) bool { return push.Token(token).ID() == in.DeviceID })
	if i < 0 {
		return nil, errNoDevice
	}
	_, err = dynamo.Delete(ctx, s.db, tables.DropDevice, dynamo.Key(tables.DropDevice, item.DeviceOf(list.IDs[i]), item.Device), dynamo.Equal[device]("userId", in.UserID))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// Notifier is the service that sends notices.
type Notifier struct {
	db     dynamo.DB
	sender *push.Sender
	now    func() time.Time
}

// sendTime is the time for Apple, out of the function's 30 s.
const sendTime = 15 * time.Second

// expires is how long Apple keeps a notice for a phone that is offline.
const expires = 24 * time.Hour

// OpenNotifier opens the service that sends notices.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	c, err := push.ConfigOf(ctx, env, APNSKey, APNSBundle)
	if err != nil {
		return nil, err
	}
	sender, err := push.Open(c)
	return &Notifier{db: dynamo.Open(env.AWS, env.Prefix), sender: sender, now: env.Now}, err
}

// SendNotice tells the phones of a user that a part was minted. A second run sends the same
// notification again, and a phone shows it once, because of its collapse id. It fails if a
// later try can reach a phone.
func (s *Notifier) SendNotice(ctx context.Context, m milestone.Minted) error {
	part, err := milestone.PartOf(ctx, s.db, m)
	if errors.Is(err, milestone.ErrNoAward) { // the account was deleted
		return nil
	}
	if err != nil {
		return err
	}
	list, _, err := dynamo.Get[dynamo.List](ctx, s.db, tables.ListDevices, item.User(m.UserID), item.Devices)
	if err != nil {
		return err
	}
	phones, err := devices(ctx, s.db, tables.ListDevices, m.UserID, list.IDs, s.now())
	if err != nil || len(phones) == 0 {
		return err
	}
	message, err := push.Notify(push.Alert{
		Terms:    push.Terms{Expires: s.now().Add(expires)},
		Banner:   push.Banner{Title: "A new part: " + part.PartName, Body: fmt.Sprintf("Your workouts have earned part %d of your model.", m.PartIndex), Sound: "default"},
		Collapse: fmt.Sprintf("%s#%02d", m.MilestoneID, m.PartIndex), Thread: m.MilestoneID, Custom: map[string]any{"milestoneId": m.MilestoneID, "partIndex": m.PartIndex},
	})
	if err != nil {
		return err
	}
	if err := s.sender.Ready(ctx); err != nil {
		return problem.New(problem.Unavailable, "apple_unavailable", "Apple cannot be reached").Because(err)
	}
	outcomes := map[string]push.Outcome{}
	sending, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	counts, err := s.sender.Send(sending, message, func(yield func(string) bool) {
		for _, p := range phones {
			if !yield(p.Token) {
				return
			}
		}
	}, func(token string, o push.Outcome) { outcomes[token] = o })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // phones that were not reached have no outcome
	}
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(delivered, counts.Delivered), telemetry.Count(gone, counts.Gone)}, slog.String("milestone", m.MilestoneID))
	later := 0
	for _, p := range phones {
		switch o, ok := outcomes[p.Token]; {
		case ok && o.Result == push.Delivered:
		case !ok || o.Result != push.Gone:
			later++
		case p.SeenAt <= o.Since.Unix():
			_, dropped := dynamo.Delete(ctx, s.db, tables.DropDevice, dynamo.Key(tables.DropDevice, p.PK, p.SK), dynamo.Equal[device]("seenAtUtc", p.SeenAt))
			err = errors.Join(err, dynamo.IgnoreRefused(dropped))
		}
	}
	if later > 0 {
		err = errors.Join(err, problem.New(problem.Unavailable, "phones_not_reached", "%d of %d phones were not reached", later, len(phones)))
	}
	return err
}

// The metrics.
var (
	delivered = spec.Metric{Name: "NoticesDelivered", Unit: spec.Count}
	gone      = spec.Metric{Name: "NoticesGone", Unit: spec.Count}
)

// The functions.
var (
	RegisterDeviceFunction = spec.Function{
		Name:   "commitcollect/register-device",
		Does:   "Registers a phone of the caller for notifications.",
		IfDown: "New phones get no notifications.",
		On:     spec.Route{Method: "POST", Path: "/devices", Auth: spec.Session, Answers: []int{201}},
		Uses:   []spec.Access{tables.ResolveSession, tables.RegisterDevice, account.CheckDeleted},
		Limits: []spec.Limit{maxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}
	DeleteDeviceFunction = spec.Function{
		Name:   "commitcollect/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get notifications.",
		On:     spec.Route{Method: "DELETE", Path: "/devices/{deviceId}", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.ListDevices, tables.DropDevice},
		Memory: 256, Timeout: 5 * time.Second,
	}
	SendNoticesFunction = spec.Function{
		Name:   "commitcollect/send-notices",
		Does:   "Tells the phones of a user that a part was minted.",
		IfDown: "Notifications of new parts arrive late.",
		On:     milestone.NoticeQueue,
		Uses:   []spec.Access{tables.ListDevices, tables.DropDevice, tables.GetAwards}, Secrets: []string{APNSKey},
		Emits:  []spec.Metric{delivered, gone},
		Memory: 256, Timeout: 30 * time.Second,
	}
)
