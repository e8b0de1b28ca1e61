// Package notice registers the phones of users, and notifies them: of new parts, once for all that
// are minted at once, of a complete model, and of a connection to Strava that is broken.
package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
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
		Uses:   signin.Caller(tables.Phones.List, tables.Phones.Drop),
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
		Uses:   signin.Caller(tables.Phones.Register),
		Limits: []spec.Limit{device.MaxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*Devices).RegisterDevice, device.ErrNoAndroid, push.ErrPlatform)
}

// Notifier is the service that sends notices.
type Notifier struct {
	db     dynamo.DB
	phones *device.Devices
	sender *device.Sender
	now    func() time.Time
}

// expires is how long Apple keeps a notice for a phone that is offline.
const expires = 24 * time.Hour

// OpenNotifier opens the service that sends notices.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	sender, err := device.OpenSender(ctx, env, APNSKey, APNSBundle)

	return &Notifier{dynamo.Open(env.AWS, env.Prefix), device.Open(env, tables.Phones), sender, env.Now}, err
}

// SendNoticesFunction notifies the phones of a user of minted parts, or of a broken connection.
func SendNoticesFunction() app.Function {
	return app.Queue(spec.Function{
		Name:    "commitcollect/send-notices",
		Does:    "Notifies the phones of a user of minted parts, or that Strava must be connected again.",
		IfDown:  "Notifications arrive late.",
		On:      workout.NoticeQueue,
		Uses:    []spec.Access{tables.Phones.List, tables.Phones.Drop, tables.GetAwards, tables.GetConnection},
		Secrets: []string{APNSKey, fcm.Key},
		Emits:   []spec.Metric{delivered, unregistered},
		Memory:  256, Timeout: 30 * time.Second,
	}, OpenNotifier, (*Notifier).SendNotice)
}

// SendNotice notifies the phones of a user. A second run sends the same notification again, and a
// phone displays it once, because of its collapse id. It fails if no phone was reached, and a later try
// can reach one.
func (s *Notifier) SendNotice(ctx context.Context, m workout.Notice) error {
	alert, err := s.alert(ctx, m)
	if errors.Is(err, errObsolete) {
		return nil
	}

	if err != nil {
		return err
	}

	phones, err := s.phones.Of(ctx, m.UserID)
	if err != nil || len(phones) == 0 {
		return err
	}

	message, err := s.sender.Encode(alert)
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

// errObsolete is the error of a message about something that is no more.
var errObsolete = errors.New("there is nothing to notify of")

// alert returns the notification of a message: errObsolete if the account or the milestone was deleted
// since, or Strava was connected again.
func (s *Notifier) alert(ctx context.Context, m workout.Notice) (push.Alert, error) {
	a := push.Alert{Terms: push.Terms{Expires: s.now().Add(expires)}}

	if m.Reconnect {
		c, err := link.Read(ctx, s.db, m.UserID)
		if err == nil && c.Status != link.Broken || errors.Is(err, link.ErrNotConnected) {
			err = errObsolete
		}

		a.Banner = push.Banner{
			Title: "Connect Strava again",
			Body:  "Strava has ended the connection. Your workouts do not count until you connect again.",
			Sound: "default",
		}
		a.Collapse, a.Thread, a.Custom = "reconnect", "strava", map[string]any{"reconnect": true}

		return a, err
	}

	part, err := milestone.PartOf(ctx, s.db, m)
	if errors.Is(err, milestone.ErrNoAward) {
		err = errObsolete
	}

	if err != nil {
		return a, err
	}

	a.Banner = push.Banner{
		Title: "A new part: " + part.PartName,
		Body:  fmt.Sprintf("Your workouts have earned part %d of your model.", m.PartIndex),
		Sound: "default",
	}
	a.Collapse, a.Thread = fmt.Sprintf("%s#%02d", m.MilestoneID, m.PartIndex), m.MilestoneID
	a.Custom = map[string]any{"milestoneId": m.MilestoneID, "partIndex": m.PartIndex}

	if m.From != 0 {
		a.Banner.Title = fmt.Sprintf("%d new parts", m.PartIndex-m.From+1)
		a.Banner.Body = fmt.Sprintf("Your workouts have earned the parts %d to %d of your model.", m.From, m.PartIndex)
		a.Custom["firstPartIndex"] = m.From
	}

	if m.Complete {
		a.Banner.Title, a.Custom["complete"] = "Your model is complete", true
	}

	return a, nil
}
