// Package notice tells members, on the phones that they have registered, of matches that they have not
// guessed, a day and two hours before the kick-off, and of their points: that they are in, with the rank, that
// they were corrected, and that a match does not count. A member can turn off each kind.
//
// remind passes over the members in ranges, by their ids, once for each match and kind of reminder, and once
// for the matches of a tournament that were settled since the last time. It puts messages for up to 100
// members into a queue. send-notices runs outside the VPC and sends the notices to Apple.
//
// No notice is lost: remind records how far a pass has come in the transaction in which it sends the messages.
// A message may be sent twice, because remind may crash before the commit, and the queue may deliver a message
// twice. Both notifications have the same collapse id, and a phone shows one.
package notice

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

//go:embed notice.sql
var file string

// sql are the statements of notice.sql.
var sql = pg.MustParse[struct {
	IsPlayed, BeginPasses, PrepareRange, LockPass, FindRangeEnd, ClaimRange, MovePass, EndPass,
	BeginPoints, LockPoints, FindPointsEnd, ListPoints, ListScores, ListScoresBefore, MovePoints, EndPoints string
}](file)

const (
	// APNSKey is the secret with Apple's .p8 key, PEM.
	APNSKey = "APNS_KEY"
	// APNSBundle is the setting with the bundle id of the app.
	APNSBundle = "BESTSHOT_BUNDLE"
)

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*device.Devices, error) {
	return device.Open(env, tables.Phones), nil
}

// DeleteDeviceFunction deletes the registration of a phone of the caller.
func DeleteDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/delete-device",
		Does:   "Deletes the registration of a phone of the caller.",
		IfDown: "Phones on which the user has signed out still get reminders.",
		On:     spec.Route{Method: "DELETE", Path: "/api/v2/devices/{deviceId}", Auth: spec.User},
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*device.Devices).DeleteDevice, device.ErrNoDevice)
}

// RegisterDeviceFunction registers a phone of the caller.
func RegisterDeviceFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/register-device",
		Does:   "Registers a phone of the caller for reminders.",
		IfDown: "New phones get no reminders.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/devices", Auth: spec.User, Answers: []int{201}},
		Uses:   []spec.Access{tables.Phones.Register, account.CheckDeleted},
		Limits: []spec.Limit{device.MaxDevices},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenDevices, (*device.Devices).RegisterDevice, device.ErrNoAndroid, push.ErrPlatform)
}

// Queue has reminders that an earlier deployment of remind has put into it. The present one sends to
// NoticeQueue.
var Queue = spec.Queue{Name: "bestshot-reminders", MaxReceiveCount: 5, Batch: 10, Concurrency: 5, Unhurried: true}

// Reminder is a message of Queue, and a part of a message of NoticeQueue.
type Reminder struct {
	UserID     string    `json:"userId"`
	Tournament string    `json:"tournament"` // the label
	Matches    int       `json:"matches"`    // the number of matches without a guess
	KickOff    time.Time `json:"kickOff"`    // of the first match
	ID         string    `json:"id"`         // the collapse id: a phone shows one notification for each id
}

// leadTimes are how long before the kick-off members are reminded, the shortest first.
var leadTimes = []time.Duration{2 * time.Hour, 24 * time.Hour}

// Reminders is the service that finds the members to remind.
type Reminders struct {
	db    pg.DB
	queue queue.Sender
	now   func() time.Time
	rest  *view.Rest
}

// OpenReminders opens the service that finds the members to remind.
func OpenReminders(ctx context.Context, env app.Env) (*Reminders, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Reminders{db, queue.Open(env.AWS, env.Queues), env.Now, view.NewRest(cache)}, err
}

const (
	// RangeSize is the number of members of a transaction, which is open while their messages are sent.
	RangeSize = 5000
	// reserve is the time before the limit of the function at which no range is begun.
	reserve = 15 * time.Second
)

// RemindFunction finds the members who have not guessed a match.
func RemindFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "bestshot/remind",
		Does:   "Finds the members who have not guessed a match that begins within a day, or two hours, and those who have new points.",
		IfDown: "Members are not reminded, and not told of their points.",
		On:     spec.Schedule("rate(5 minutes)"), // Lambda keeps an instance that is called so often, with its rest
		SQL:    []spec.SQLLogin{tables.Notifier},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Sends:  []spec.Queue{NoticeQueue},
		Memory: 256, Timeout: 4 * time.Minute, Reserved: 1,
	}, OpenReminders, (*Reminders).Remind)
}

// Remind sends notices of points to the members who have guessed matches that were settled since the last
// time, when no match of the tournament waits for points or is in play.
//
// Then it sends reminders to the members who play in a tournament, or are in a league that follows it, and have
// not guessed a match of it that begins soon: the first reminder within a day of the kick-off, the second within
// two hours. A reminder is for all such matches of a tournament. Within two hours of the kick-off only the second
// is sent. A match that is put off by the lead time of a reminder, or more, has that reminder again. Members who
// want no reminders get none.
//
// While no tournament is upcoming or active it rests: see view.Rest. A run ends when its time is nearly over,
// and the next one goes on. A second run sends nothing. A range costs the same for any number of members.
func (s *Reminders) Remind(ctx context.Context) error {
	began := s.now()

	if !s.rest.Over(ctx, began) {
		return nil
	}

	if err := s.tellPoints(ctx); err != nil {
		return err
	}

	_, played, err := pg.Value[bool](ctx, s.db, sql.IsPlayed)
	if err != nil {
		return err
	}

	if !played {
		s.rest.Begin(began)
		return nil
	}

	after := time.Duration(0)

	for _, leadTime := range leadTimes {
		kind := fmt.Sprintf("%.0fh", leadTime.Hours())

		if _, err := pg.Do(ctx, s.db, sql.BeginPasses, after.Seconds(), leadTime.Seconds(), kind); err != nil {
			return err
		}

		for more := true; more; {
			if end, limited := ctx.Deadline(); limited && time.Until(end) < reserve {
				return nil
			}

			if more, err = s.remindRange(ctx, after, leadTime, kind); err != nil {
				return err
			}
		}

		after = leadTime
	}

	return nil
}

// remindRange sends the reminders of the next range of a pass, of matches that begin more than after, and
// at most leadTime, from now. more is false if no such pass is left.
func (s *Reminders) remindRange(ctx context.Context, after, leadTime time.Duration, kind string) (more bool, err error) {
	err = s.db.Tx(ctx, func(tx pgx.Tx) error {
		more = false

		pass, found, err := pg.One[struct {
			TournamentID string   `db:"tournament_id"`
			Tournament   string   `db:"label"`
			MemberID     string   `db:"member_id"` // the last one of the range before
			Matches      []string `db:"matches"`
		}](ctx, tx, sql.LockPass, after.Seconds(), leadTime.Seconds(), kind)
		if err != nil || !found {
			return err
		}

		more = true

		last, found, err := pg.Value[string](ctx, tx, sql.FindRangeEnd, pass.MemberID, RangeSize)
		if err != nil {
			return err
		}

		if !found {
			_, err = pg.Do(ctx, tx, sql.EndPass, pass.Matches, kind)
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.PrepareRange); err != nil {
			return err
		}

		rows, err := pg.All[struct {
			UserID  string    `db:"public_id"`
			ID      string    `db:"id"`
			Matches int       `db:"matches"`
			KickOff time.Time `db:"kick_off"`
		}](ctx, tx, sql.ClaimRange, pass.TournamentID, pass.Matches, leadTime.Seconds(), kind, pass.MemberID, last)
		if err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.MovePass, pass.Matches, kind, last); err != nil {
			return err
		}

		all := make([]Reminder, len(rows))
		for i, r := range rows {
			all[i] = Reminder{r.UserID, pass.Tournament, r.Matches, r.KickOff.UTC(), r.ID}
		}

		var messages []Notices
		for part := range slices.Chunk(all, maxNotices) {
			messages = append(messages, Notices{Reminders: part})
		}

		return queue.SendAll(ctx, s.queue, NoticeQueue, messages)
	})

	return more, err
}

// Notifier is the service that sends reminders.
type Notifier struct {
	phones *device.Devices
	sender *device.Sender
	queue  queue.Sender
	now    func() time.Time
}

// OpenNotifier opens the service that sends reminders.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	sender, err := device.OpenSender(ctx, env, APNSKey, APNSBundle)

	return &Notifier{device.Open(env, tables.Phones), sender, queue.Open(env.AWS, env.Queues), env.Now}, err
}

// The metrics.
var (
	delivered = spec.Metric{Name: "RemindersDelivered", Unit: spec.Count}
	gone      = spec.Metric{Name: "RemindersGone", Unit: spec.Count} // Apple no longer knows the phone
)

// SendRemindersFunction reminds a member on all phones, for the messages of an earlier deployment.
func SendRemindersFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/send-reminders",
		Does:   "Reminds a member on all phones.",
		IfDown: "Reminders arrive late.",
		On:     Queue,
		Uses:   []spec.Access{tables.Phones.List, tables.Phones.Drop},
		Emits:  []spec.Metric{delivered, gone},
		Memory: 256, Timeout: 30 * time.Second, Secrets: []string{APNSKey, fcm.Key},
	}, OpenNotifier, (*Notifier).SendReminder)
}

// SendReminder reminds a user on all phones, unless the match has begun. A second run sends the same
// notification again. A phone shows it once, because of its collapse id. Errors: Unavailable if no phone
// was reached, and a retry may reach one.
func (s *Notifier) SendReminder(ctx context.Context, m Reminder) error {
	what := "1 match is not guessed"
	if m.Matches > 1 {
		what = fmt.Sprintf("%d matches are not guessed", m.Matches)
	}

	return s.notify(ctx, m.UserID, push.Alert{
		Terms:    push.Terms{Expires: m.KickOff},
		Banner:   push.Banner{Title: m.Tournament, Body: what + ". The first begins soon.", Sound: "default"},
		Collapse: m.ID,
		Thread:   m.Tournament,
		Custom:   map[string]any{"kickOff": m.KickOff},
	})
}

// notify shows a notification on all phones of a user, unless it has expired. It fails if no phone was
// reached, and a later try can reach one.
func (s *Notifier) notify(ctx context.Context, userID string, a push.Alert) error {
	if !s.now().Before(a.Expires) {
		return nil
	}

	phones, err := s.phones.Of(ctx, userID)
	if err != nil || len(phones) == 0 {
		return err
	}

	message, err := s.sender.Encode(a)
	if err != nil {
		return err
	}

	counts, err := s.phones.Send(ctx, s.sender, message, phones)
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(delivered, counts.Delivered), telemetry.Count(gone, counts.Gone)},
		slog.String("notice", a.Collapse))

	return err
}
