// Package notice registers the phones of users, and notifies them of new parts.
package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
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

// Devices is the service of phones.
type Devices struct {
	session.Sessions
	*device.Devices
}

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{signin.Sessions(env, dynamo.Open(env.AWS, env.Prefix)), device.Open(env, tables.Phones)}, nil
}

// DeleteDeviceFunction deletes the registration of a phone of the caller.
func DeleteDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get notifications.",
		On:     spec.Route{Method: "DELETE", Path: "/devices/{deviceId}", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.Phones.List, tables.Phones.Drop},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).DeleteDevice, device.ErrNoDevice)
}

// RegisterDeviceFunction registers a phone of the caller for notifications.
func RegisterDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/register-device",
		Does:   "Registers a phone of the caller for notifications.",
		IfDown: "New phones get no notifications.",
		On:     spec.Route{Method: "POST", Path: "/devices", Auth: spec.Session, Answers: []int{201}},
		Uses:   []spec.Access{tables.ResolveSession, tables.Phones.Register, account.CheckDeleted},
		Limits: []spec.Limit{device.MaxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).RegisterDevice)
}

// Notifier is the service that sends notices.
type Notifier struct {
	db     dynamo.DB
	phones *device.Devices
	sender *push.Sender
	now    func() time.Time
}

// expires is how long Apple keeps a notice for a phone that is offline.
const expires = 24 * time.Hour

// OpenNotifier opens the service that sends notices.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	c, err := push.ConfigOf(ctx, env, APNSKey, APNSBundle)
	if err != nil {
		return nil, err
	}

	sender, err := push.Open(c)

	return &Notifier{dynamo.Open(env.AWS, env.Prefix), device.Open(env, tables.Phones), sender, env.Now}, err
}

// SendNoticesFunction notifies the phones of a user of a minted part.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/send-notices",
		Does:   "Notifies the phones of a user of a minted part.",
		IfDown: "Notifications of new parts arrive late.",
		On:     milestone.NoticeQueue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop, tables.GetAwards}, Secrets: []string{APNSKey},
		Emits:  []spec.Metric{delivered, unregistered},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenNotifier, (*Notifier).SendNotice)
}

// SendNotice notifies the phones of a user of a minted part. A second run sends the same
// notification again, and a phone displays it once, because of its collapse id. It fails if a later
// try can reach a phone.
func (s *Notifier) SendNotice(ctx context.Context, m milestone.Minted) error {
	part, err := milestone.PartOf(ctx, s.db, m)
	if errors.Is(err, milestone.ErrNoAward) { // the account was deleted
		return nil
	}

	if err != nil {
		return err
	}

	phones, err := s.phones.Of(ctx, m.UserID)
	if err != nil || len(phones) == 0 {
		return err
	}

	message, err := push.Notify(push.Alert{
		Terms: push.Terms{Expires: s.now().Add(expires)},
		Banner: push.Banner{
			Title: "A new part: " + part.PartName,
			Body:  fmt.Sprintf("Your workouts have earned part %d of your model.", m.PartIndex),
			Sound: "default",
		},
		Collapse: fmt.Sprintf("%s#%02d", m.MilestoneID, m.PartIndex),
		Thread:   m.MilestoneID,
		Custom:   map[string]any{"milestoneId": m.MilestoneID, "partIndex": m.PartIndex},
	})
	if err != nil {
		return err
	}

	counts, err := s.phones.Send(ctx, s.sender, message, phones)
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(delivered, counts.Delivered), telemetry.Count(unregistered, counts.Gone)},
		slog.String("milestone", m.MilestoneID))

	return err
}

// The metrics.
var (
	delivered    = spec.Metric{Name: "NoticesDelivered", Unit: spec.Count}
	unregistered = spec.Metric{Name: "NoticesGone", Unit: spec.Count}
)
