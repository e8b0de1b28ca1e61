// Package notice reminds members of matches that they have not guessed: a day and two hours
// before the kick-off, on the phones that they have registered.
//
// remind finds them in the database and hands them to a queue. send-reminders, which is
// outside the VPC, reaches Apple. A reminder is recorded before it is sent: it is sent at most
// once, though a message may come twice, because a phone shows two of one collapse id once.
package notice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

const (
	// APNSKey is the secret with Apple's .p8 key, PEM.
	APNSKey = "APNS_KEY"
	// APNSBundle is the setting with the bundle id of the app.
	APNSBundle = "BESTSHOT_BUNDLE"
)

// device is a phone. It belongs to whoever registered it last.
type device struct {
	PK     string `dynamodbav:"PK"`
	SK     string `dynamodbav:"SK"`
	Token  string `dynamodbav:"token"` // hexadecimal, in small letters
	UserID string `dynamodbav:"userId"`
	SeenAt int64  `dynamodbav:"seenAt"` // epoch s
	TTL    int64  `dynamodbav:"ttl"`    // epoch s
}

const deviceSK, listSK = "DEVICE", "DEVICES"

func deviceKey(token string) string { return "DEVICE#" + token }
func userKey(userID string) string  { return "USER#" + userID }

var (
	maxDevices  = spec.Limit{Name: "phones per user", Max: 10, Code: "too_many_devices"}
	errNoDevice = problem.New(problem.NotFound, "device_not_found", "you have not registered this phone")
)

// Devices is the service of phones.
type Devices struct {
	db  dynamo.DB
	now func() time.Time
}

// OpenDevices opens the service of phones.
func OpenDevices(_ context.Context, env app.Env) (*Devices, error) {
	return &Devices{dynamo.Open(env.AWS, env.Prefix), env.Now}, nil
}

// RegisterDevice is the request to register a phone for reminders.
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
	d := device{deviceKey(token), deviceSK, token, in.UserID, now.Unix(), now.Add(push.KeepDevice).Unix()}
	phone := dynamo.Entry{
		Access: tables.RegisterDevice, List: []string{userKey(in.UserID), listSK}, ID: token, ExpiresAt: d.TTL, Limit: maxDevices,
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

// devices returns those of the phones that are the user's and whose registration lasts.
func devices(ctx context.Context, db dynamo.DB, a spec.Access, userID string, tokens []string, now time.Time) ([]device, error) {
	keys := make([]dynamo.Item, len(tokens))
	for i, token := range tokens {
		keys[i] = dynamo.Key(a, deviceKey(token), deviceSK)
	}
	all, err := dynamo.GetAll[device](ctx, db, a, keys)
	return slices.DeleteFunc(all, func(d device) bool { return d.UserID != userID || d.TTL <= now.Unix() }), err
}

// list returns the tokens that a user has registered.
func list(ctx context.Context, db dynamo.DB, userID string) ([]string, error) {
	l, _, err := dynamo.Get[dynamo.List](ctx, db, tables.ListDevices, userKey(userID), listSK)
	return l.IDs, err
}

// DeleteDevice is the request to stop reminders to a phone.
type DeleteDevice struct {
	auth.User
	DeviceID push.TokenID `path:"deviceId" doc:"The deviceId in the answer to the registration of the phone."`
}

// DeleteDevice deletes a phone of the caller. A phone of another user is device_not_found,
// like one that does not exist.
func (s *Devices) DeleteDevice(ctx context.Context, in *DeleteDevice) (*httpapi.Removed, error) {
	tokens, err := list(ctx, s.db, in.UserID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tokens, func(token string) bool { return push.Token(token).ID() == in.DeviceID })
	if i < 0 {
		return nil, errNoDevice
	}
	_, err = dynamo.Delete(ctx, s.db, tables.DropDevice, dynamo.Key(tables.DropDevice, deviceKey(tokens[i]), deviceSK), dynamo.Equal[device]("userId", in.UserID))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoDevice)
	}
	return httpapi.NewRemoved(), nil
}

// Forget deletes the phones of a user.
func Forget(ctx context.Context, db dynamo.DB, userID string) error {
	tokens, err := list(ctx, db, userID)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		_, err := dynamo.Delete(ctx, db, tables.DropDevice, dynamo.Key(tables.DropDevice, deviceKey(token), deviceSK), dynamo.Equal[device]("userId", userID))
		if err := dynamo.IgnoreRefused(err); err != nil {
			return err
		}
	}
	_, err = dynamo.Delete(ctx, db, tables.DropDevice, dynamo.Key(tables.DropDevice, userKey(userID), listSK))
	return err
}

// Export returns the phones of a user.
func Export(ctx context.Context, db dynamo.DB, userID string, now time.Time) (any, error) {
	tokens, err := list(ctx, db, userID)
	if err != nil {
		return nil, err
	}
	phones, err := devices(ctx, db, tables.ListDevices, userID, tokens, now)
	if phones == nil {
		phones = []device{}
	}
	return phones, err
}

// Queue has the reminders to send.
var Queue = spec.Queue{Name: "bestshot-reminders", MaxReceiveCount: 5, Batch: 10, Concurrency: 5, Unhurried: true}

// Reminder is a message of Queue.
type Reminder struct {
	UserID     string    `json:"userId"`
	Tournament string    `json:"tournament"` // its label
	Matches    int       `json:"matches"`    // without a guess
	KickOff    time.Time `json:"kickOff"`    // of the first
	ID         string    `json:"id"`         // of the reminder: a phone shows one of an id
}

// Before is how long before the kick-off members are reminded, the longest first.
var Before = []time.Duration{24 * time.Hour, 2 * time.Hour}

// Reminders is the service that finds whom to remind.
type Reminders struct {
	db    pg.DB
	queue queue.Sender
	now   func() time.Time
	rests time.Time // until then: see tables.Rest
}

// OpenReminders opens the service that finds whom to remind.
func OpenReminders(ctx context.Context, env app.Env) (*Reminders, error) {
	db, err := pg.Open(ctx, env, tables.Worker)
	return &Reminders{db: db, queue: queue.Open(env.AWS, env.Queues), now: env.Now}, err
}

// maxReminders is how many reminders a run records. The next continues.
const maxReminders = 5000

// Remind sends a reminder to each member who plays in a tournament, has made a guess in it,
// and none yet of a match that begins within a day, or within two hours: one for all such
// matches of a tournament. A second run finds nobody.
func (s *Reminders) Remind(ctx context.Context) error {
	if s.now().Before(s.rests) {
		return nil
	}
	_, played, err := pg.Value[bool](ctx, s.db, `SELECT true FROM tournament WHERE status IN ('upcoming', 'active') LIMIT 1`)
	if err != nil {
		return err
	}
	if !played {
		s.rests = s.now().Add(tables.Rest)
		return nil
	}
	for i, before := range Before {
		var all []Reminder
		err := s.db.Tx(ctx, func(tx pgx.Tx) error {
			rows, err := pg.All[struct {
				UserID     string    `db:"public_id"`
				Tournament string    `db:"label"`
				ID         string    `db:"id"`
				Matches    int       `db:"matches"`
				KickOff    time.Time `db:"kick_off"`
			}](ctx, tx, `WITH soon AS (SELECT id, tournament_id, date FROM match WHERE status = 'open' AND date > now() AND date <= now() + make_interval(secs => $1)),
				player AS (
					SELECT soon.id AS match_id, s.member_id FROM soon JOIN tournament_scoreboard s USING (tournament_id)
					UNION SELECT soon.id, g.member_id FROM soon JOIN match m ON m.tournament_id = soon.tournament_id AND m.scoreboard_applied_at IS NULL JOIN guess g ON g.match_id = m.id),
				claimed AS (
					INSERT INTO reminder (member_id, match_id, kind)
					SELECT member_id, match_id, $2::text FROM player
					WHERE NOT EXISTS (SELECT FROM guess g WHERE g.match_id = player.match_id AND g.member_id = player.member_id)
						AND NOT EXISTS (SELECT FROM reminder r WHERE r.member_id = player.member_id AND r.match_id = player.match_id AND r.kind = $2::text)
					LIMIT $3 ON CONFLICT DO NOTHING RETURNING member_id, match_id)
				SELECT p.public_id, t.label, t.id::text || '#' || extract(epoch FROM min(soon.date))::bigint || '#' || $2::text AS id, count(*)::int AS matches, min(soon.date) AS kick_off
				FROM claimed c JOIN soon ON soon.id = c.match_id JOIN tournament t ON t.id = soon.tournament_id JOIN member p ON p.id = c.member_id
				GROUP BY p.public_id, t.id, t.label ORDER BY p.public_id, t.id`, before.Seconds(), fmt.Sprint(i), maxReminders)
			if err != nil {
				return err
			}
			all = make([]Reminder, len(rows))
			for i, r := range rows {
				all[i] = Reminder{r.UserID, r.Tournament, r.Matches, r.KickOff.UTC(), r.ID}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := queue.SendAll(ctx, s.queue, Queue, all); err != nil {
			return err
		}
	}
	return nil
}

// Notifier is the service that sends reminders.
type Notifier struct {
	db     dynamo.DB
	sender *push.Sender
	now    func() time.Time
}

// sendTime is the time for Apple, out of the function's 30 s.
const sendTime = 15 * time.Second

// OpenNotifier opens the service that sends reminders.
func OpenNotifier(ctx context.Context, env app.Env) (*Notifier, error) {
	c, err := push.ConfigOf(ctx, env, APNSKey, APNSBundle)
	if err != nil {
		return nil, err
	}
	sender, err := push.Open(c)
	return &Notifier{db: dynamo.Open(env.AWS, env.Prefix), sender: sender, now: env.Now}, err
}

// The metrics.
var (
	delivered = spec.Metric{Name: "RemindersDelivered", Unit: spec.Count}
	gone      = spec.Metric{Name: "RemindersGone", Unit: spec.Count}
)

// SendReminder reminds a user on all phones, unless the match has begun. A second run sends
// the same notification again, and a phone shows it once, because of its collapse id. It
// fails if a later try can reach a phone.
func (s *Notifier) SendReminder(ctx context.Context, m Reminder) error {
	if !s.now().Before(m.KickOff) {
		return nil
	}
	tokens, err := list(ctx, s.db, m.UserID)
	if err != nil {
		return err
	}
	phones, err := devices(ctx, s.db, tables.ListDevices, m.UserID, tokens, s.now())
	if err != nil || len(phones) == 0 {
		return err
	}
	what := "1 match is not guessed"
	if m.Matches > 1 {
		what = fmt.Sprintf("%d matches are not guessed", m.Matches)
	}
	message, err := push.Notify(push.Alert{
		Terms:    push.Terms{Expires: m.KickOff},
		Banner:   push.Banner{Title: m.Tournament, Body: what + ". The first begins soon.", Sound: "default"},
		Collapse: m.ID, Thread: m.Tournament, Custom: map[string]any{"kickOff": m.KickOff},
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
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(delivered, counts.Delivered), telemetry.Count(gone, counts.Gone)}, slog.String("reminder", m.ID))
	later := 0
	for _, p := range phones {
		switch o, ok := outcomes[p.Token]; {
		case ok && o.Result == push.Delivered:
		case !ok || o.Result != push.Gone:
			later++
		case p.SeenAt <= o.Since.Unix():
			_, dropped := dynamo.Delete(ctx, s.db, tables.DropDevice, dynamo.Key(tables.DropDevice, p.PK, p.SK), dynamo.Equal[device]("seenAt", p.SeenAt))
			err = errors.Join(err, dynamo.IgnoreRefused(dropped))
		}
	}
	if later > 0 {
		err = errors.Join(err, problem.New(problem.Unavailable, "phones_not_reached", "%d of %d phones were not reached", later, len(phones)))
	}
	return err
}
