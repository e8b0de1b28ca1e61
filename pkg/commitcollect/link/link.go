package link

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/kit/telemetry"
	"matchday/pkg/spec"
)

// Errors of connecting.
var (
	errDenied  = problem.New(problem.Invalid, "denied", "Strava was not allowed to share the activities")
	errMissing = problem.New(problem.Invalid, "missing_code_or_state", "Strava sent no code or no state")
	errScope   = problem.New(problem.Invalid, "missing_scope",
		"activities can be counted only if Strava may share them: connect again, and leave that box ticked")
	errTaken    = problem.New(problem.Conflict, "athlete_already_connected", "this athlete of Strava is connected to another account")
	errCode     = problem.New(problem.Invalid, "invalid_or_expired_code", "this code was used, or has expired: begin again")
	errExchange = problem.New(problem.Upstream, "token_exchange_failed", "Strava did not confirm the connection: begin again")
	errCapacity = problem.New(problem.Conflict, "strava_capacity",
		"Strava lets this app connect no more people at present: nothing is wrong with your account, try again another day")
	errInactive = problem.New(problem.Upstream, "strava_inactive",
		"Strava answers nobody of this app at present: nothing is wrong with your account, try again another day")
	errSecretApp = errors.New("the secret of the Strava application is not JSON with clientId and clientSecret")
)

// owner is who has connected an athlete.
type owner struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	EntityType string `dynamodbav:"entityType"`
	UserID     string `dynamodbav:"userId"`
}

// Listed lists a connected user for package workout's Reconcile. It is written with the
// connection.
type Listed struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	UserID   string `dynamodbav:"userId"`
	BrokenAt int64  `dynamodbav:"brokenAtUtc,omitempty"` // since when the connection is Broken, epoch s
	// AskedAt is when the first import was requested, epoch s. Rows of before have none of these four.
	AskedAt   int64 `dynamodbav:"askedAtUtc,omitempty"`
	FetchedAt int64 `dynamodbav:"fetchedAtUtc,omitempty"` // when the last complete backfill began, epoch s
	WholeAt   int64 `dynamodbav:"wholeAtUtc,omitempty"`   // when the last one of the whole history began, epoch s
	SuspectAt int64 `dynamodbav:"suspectAtUtc,omitempty"` // when an event was given up that a whole backfill finds, epoch s
}

// markBroken returns the write of the time since which a user's connection is broken, 0 if it is
// not.
func markBroken(userID string, at int64) dynamo.Write {
	key := dynamo.Key(tables.LockRefresh, item.Connected(item.Shard(userID)), item.User(userID))
	return dynamo.UpdateWrite(key, dynamo.Set(Listed{BrokenAt: at}, "brokenAtUtc"), dynamo.Exists[Listed]("PK"))
}

// OpenStrava returns the client of Strava's API of an environment.
func OpenStrava(ctx context.Context, env app.Env) (*strava.Client, error) {
	secret, err := env.Secret(ctx, StravaApp)
	if err != nil {
		return nil, err
	}

	var id strava.App
	if err := json.Unmarshal([]byte(secret), &id); err != nil || id.ID == "" || id.Secret == "" {
		return nil, errSecretApp
	}

	base := env.Setting(StravaURL)
	if base == "" {
		base = strava.BaseURL
	}

	return strava.Open(base, id, env.HTTP, env.Now).WithAPI(env.Setting(StravaAPI)), nil
}

// OpenVault returns the vault of an environment.
func OpenVault(ctx context.Context, env app.Env) (Vault, error) {
	client, err := OpenStrava(ctx, env)
	if err != nil {
		return Vault{}, err
	}

	secret, err := env.Secret(ctx, TokenKeys)
	if err != nil {
		return Vault{}, err
	}

	keys, err := ParseKeyset(secret)
	if err != nil {
		return Vault{}, err
	}

	db := dynamo.Open(env.AWS, env.Prefix)

	return Vault{client, db, keys, queue.Open(env.AWS, env.Queues), trail.Open(db, env.Now), env.Clock}, nil
}

// Service is the service of the link to Strava.
type Service struct {
	session.Sessions
	Vault
	states signin.States
	page   string // the app
	back   string // where Strava redirects
}

// Open opens the service.
func Open(ctx context.Context, env app.Env) (*Service, error) {
	v, err := OpenVault(ctx, env)
	if err != nil {
		return nil, err
	}

	page, _, _ := strings.Cut(env.Setting(spec.EnvOrigins), ",")

	return &Service{
		Sessions: signin.Sessions(env, v.db), Vault: v, states: signin.NewStates(v.db, env.Now),
		page: page, back: env.Setting(spec.EnvAPI) + "/oauth/strava/callback",
	}, nil
}

// Land implements httpapi.Lander: a browser gets a page of the app also without a session, because it has ended, or
// is that of another browser.
func (s *Service) Land(ctx context.Context, e events.APIGatewayV2HTTPRequest, err error) (to string) {
	if e.RequestContext.HTTP.Method != http.MethodGet {
		return ""
	}

	v := signin.NewVisit(e.Headers["accept"])

	out, err := v.Landing(ctx, s.clock.Now(), s.page, "strava", nil, err)
	if err != nil {
		return ""
	}

	return out.Location
}

// ConnectStrava is the request to connect Strava.
type ConnectStrava struct {
	auth.User
	signin.Visit
	Consent int `query:"consent" minimum:"1" maximum:"1000" doc:"The version of the text about the data, of /strava/status, that the user has seen and agreed to." example:"1"`
}

// ConnectStravaFunction redirects a browser to Strava, which asks whether it may share the
// activities.
func ConnectStravaFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/connect-strava",
		Does:   "Redirects a browser to Strava, which asks whether it may share the activities.",
		IfDown: "Nobody can connect Strava.",
		On:     spec.Route{Method: "GET", Path: "/strava/connect", Auth: spec.Session, Answers: []int{http.StatusFound}},
		Uses:   signin.Caller(tables.PutState), Secrets: []string{StravaApp, TokenKeys},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ConnectStrava, errConsent)
}

// ConnectStrava redirects to Strava's question whether it may share the activities. The text that GetStatus
// returns names them; its version, where the app sends it, is kept with the connection. A browser gets a page of
// the app also for an error. Errors: consent_outdated for another version than the present one.
func (s *Service) ConnectStrava(ctx context.Context, in *ConnectStrava) (*signin.Redirect, error) {
	out, err := s.connectStrava(ctx, in)
	return in.Landing(ctx, s.clock.Now(), s.page, "strava", out, err)
}

func (s *Service) connectStrava(ctx context.Context, in *ConnectStrava) (*signin.Redirect, error) {
	if in.Consent != 0 && in.Consent != ConsentVersion {
		return nil, errConsent.In("query.consent")
	}

	state, err := s.states.Put(ctx, in.UserID, in.Consent)
	if err != nil {
		return nil, err
	}

	return signin.NewRedirect(s.Strava.AuthorizeURL(s.back, state)), nil
}

// FinishConnect is the request of a browser that returns from Strava.
type FinishConnect struct {
	auth.User
	signin.Visit
	Code  string `query:"code" maxLength:"512" doc:"The code of Strava."`
	State string `query:"state" maxLength:"128" doc:"The state that connect-strava has sent along."`
	Scope string `query:"scope" maxLength:"512" doc:"What the user has allowed, with commas."`
	Error string `query:"error" maxLength:"256" doc:"Why Strava has no code."`
}

// FinishConnectFunction connects the athlete of a browser that returns from Strava, and requests a
// backfill.
func FinishConnectFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/finish-connect",
		Does:   "Connects the athlete of a browser that returns from Strava, and has the activities fetched.",
		IfDown: "Nobody can connect Strava.",
		On:     spec.Route{Method: "GET", Path: "/oauth/strava/callback", Auth: spec.Session, OthersCall: true, Answers: []int{http.StatusFound}},
		Uses: signin.Caller(tables.TakeState, tables.GetConnection, tables.LinkAthlete, tables.AthleteLookup,
			tables.LockRefresh),
		Sends: []spec.Queue{BackfillQueue, PurgeQueue}, Secrets: []string{StravaApp, TokenKeys},
		Emits:  []spec.Metric{AthletesRefused, StravaInactive},
		Memory: 256, Timeout: 25 * time.Second,
	}, Open, (*Service).FinishConnect,
		ErrNotConnected, errCapacity, errCode, errDenied, errExchange, errInactive, errMissing, errRefreshing, errScope, errTaken,
		signin.ErrState,
		account.ErrDeleted)
}

// FinishConnect connects the athlete to the user, and requests a backfill of the activities. The
// state is valid once, and for the user who began. If the user was connected to another athlete,
// that access ends, at Strava, too, a minute later; the workouts of the first athlete are purged as after a
// disconnection, and then the activities of the new one are fetched. A browser gets a page of the
// app also for an error. Nobody is disconnected if Strava lets no more athletes connect. Errors: denied,
// missing_code_or_state, signin.ErrState, missing_scope,
// athlete_already_connected, invalid_or_expired_code, strava_capacity, strava_inactive,
// token_exchange_failed, strava_busy while another worker renews the tokens of the first athlete.
func (s *Service) FinishConnect(ctx context.Context, in *FinishConnect) (*signin.Redirect, error) {
	out, err := s.finishConnect(ctx, in)
	return in.Landing(ctx, s.clock.Now(), s.page, "strava", out, err)
}

func (s *Service) finishConnect(ctx context.Context, in *FinishConnect) (*signin.Redirect, error) {
	switch {
	case in.Error != "":
		return nil, errDenied.In("query.error")
	case in.Code == "" || in.State == "":
		return nil, errMissing
	}

	userID, consent, err := s.states.Take(ctx, in.State)
	if err == nil && userID != in.UserID {
		err = signin.ErrState.In("query.state")
	}

	if err != nil {
		return nil, err
	}

	if !strava.CanRead(in.Scope) {
		return nil, errScope.In("query.scope")
	}

	t, err := s.Strava.Exchange(ctx, in.Code)
	if refused, ok := errors.AsType[*strava.Error](err); ok && refused.Resource == "AuthorizationCode" { // anybody may send any code
		return nil, errCode.In("query.code")
	}

	if strava.Is(err, strava.Full) {
		telemetry.Emit(ctx, s.clock.Now(), []telemetry.Sample{telemetry.Count(AthletesRefused, 1)}, slog.String("user", in.UserID))

		return nil, errCapacity.Because(err)
	}

	if strava.Is(err, strava.Inactive) {
		telemetry.Emit(ctx, s.clock.Now(), []telemetry.Sample{telemetry.Count(StravaInactive, 1)})

		return nil, errInactive.Because(err)
	}

	if err != nil {
		return nil, errExchange.Because(err)
	}

	athlete := strconv.FormatInt(t.Athlete.ID, 10)

	if err := s.connect(ctx, in.UserID, in.Scope, consent, t); err != nil {
		s.refuse(ctx, in.UserID, t)
		return nil, err
	}

	s.trail.Write(ctx, trail.Entry{
		Event:  trail.StravaAuthorize,
		Result: trail.Success,
		UserID: in.UserID,
		Data:   map[string]string{"athleteId": athlete},
	})

	return signin.NewRedirect(s.page + "/app?" + url.Values{"strava": {"connected"}, "athleteId": {athlete}}.Encode()), nil
}

// refuse records that a user could not connect an athlete. It records it also for the user who has
// connected the athlete, because another person knows the password of that account at Strava. The
// connection of that user gets the new tokens, because Strava may refuse the old ones from now on.
func (s *Service) refuse(ctx context.Context, userID string, t strava.Token) {
	users := []string{userID}

	others, err := dynamo.QueryAll[Connection](ctx, s.db, tables.AthleteLookup,
		dynamo.Range{Key: dynamo.KeyIs(tables.AthleteLookup, item.Athlete(t.Athlete.ID))})
	for _, c := range others {
		other := strings.TrimPrefix(c.PK, item.User(""))
		if other == userID {
			continue
		}

		users = append(users, other)
		next := Connection{
			AccessToken:  s.keys.Seal(other, t.Access),
			RefreshToken: s.keys.Seal(other, t.Refresh),
			ExpiresAt:    t.ExpiresAt,
			Status:       Connected,
		}
		err = errors.Join(err, dynamo.IgnoreRefused(dynamo.Transact(ctx, s.db, tables.LockRefresh,
			dynamo.UpdateWrite(dynamo.Key(tables.LockRefresh, c.PK, c.SK),
				dynamo.Set(next, "accessToken", "refreshToken", "expiresAtUtc", "status").Remove("refreshLock"),
				dynamo.Equal[Connection]("athleteId", t.Athlete.ID)),
			markBroken(other, 0))))
	}

	if err != nil {
		slog.ErrorContext(ctx, "the user who has an athlete may have to connect again", "athlete", t.Athlete.ID, "err", err)
	}

	for _, u := range users {
		s.trail.Write(ctx, trail.Entry{
			Event:  trail.StravaAuthorize,
			Result: trail.Failed,
			UserID: u,
			Data:   map[string]string{"athleteId": strconv.FormatInt(t.Athlete.ID, 10)},
		})
	}
}

// connect writes the link of a user to an athlete, in place of one to another athlete, whose access ends. It waits for a
// worker that renews the tokens of that access.
func (s *Service) connect(ctx context.Context, userID, scope string, consent int, t strava.Token) error {
	return dynamo.Retry(ctx, connectAttempts, func() error {
		old, err := s.replaceable(ctx, userID, t.Athlete.ID)
		if err != nil && !errors.Is(err, ErrNotConnected) {
			return err
		}

		pk, athlete := item.User(userID), item.Athlete(t.Athlete.ID)

		unchanged := dynamo.Absent[Connection]("PK")
		if old.PK != "" {
			unchanged = dynamo.Equal[Connection]("athleteId", old.AthleteID)
		}

		leaves := old.PK != "" && old.AthleteID != t.Athlete.ID
		if leaves {
			unchanged = unchanged.And(old.notRenewed(s.clock.Now()))
		}

		writes := []dynamo.Write{
			dynamo.PutWrite(owner{athlete, item.Owner, "StravaOwner", userID}, dynamo.Absent[owner]("PK").Or(dynamo.Equal[owner]("userId", userID))),
			dynamo.PutWrite(Connection{
				PK: pk, SK: item.Connection, EntityType: "StravaConnection", UserID: userID, AthleteID: t.Athlete.ID,
				AccessToken: s.keys.Seal(userID, t.Access), RefreshToken: s.keys.Seal(userID, t.Refresh), ExpiresAt: t.ExpiresAt, Scope: scope,
				Status: Connected, Source: "STRAVA", ConnectedAt: s.clock.Now().Unix(), Consent: consent, GSI1PK: athlete, GSI1SK: pk,
			}, unchanged),
			dynamo.PutWrite(Listed{PK: item.Connected(item.Shard(userID)), SK: pk, UserID: userID, AskedAt: s.clock.Now().Unix()}),
		}

		if leaves {
			mine := dynamo.Absent[owner]("PK").Or(dynamo.Equal[owner]("userId", userID))
			writes = append(writes, dynamo.DeleteWrite(dynamo.Key(tables.LinkAthlete, old.GSI1PK, item.Owner), mine))
		}
		// The message first: after a crash nobody would know of the first athlete, or fetch
		// anything before the night. If the writes fail, the purge finds the athlete connected,
		// and ends, deletes and proves nothing, and the backfill finds no connection.
		if leaves {
			err = s.queue.Send(ctx, PurgeQueue, Purge{
				UserID: userID, Fetch: true, Token: old.RefreshToken, AthleteID: old.AthleteID, Since: s.clock.Now().Unix(),
			}, PurgeDelay)
		} else {
			err = s.queue.Send(ctx, BackfillQueue, Backfill{UserID: userID, Whole: true}, FetchDelay)
		}

		if err != nil {
			return err
		}

		err = dynamo.Transact(ctx, s.db, tables.LinkAthlete, writes...)
		if refused, ok := errors.AsType[*dynamo.Refused](err); ok && refused.Write == 0 {
			return errTaken
		}

		return err
	})
}

// replaceable returns the connection of a user, one to another athlete only when no worker renews its tokens. Errors:
// ErrNotConnected, strava_busy.
func (s *Service) replaceable(ctx context.Context, userID string, athleteID int64) (Connection, error) {
	for range refreshPolls {
		c, err := Read(ctx, s.db, userID)

		now := s.clock.Now()
		if err != nil || c.AthleteID == athleteID || !c.isRenewing(now) {
			return c, err
		}

		if err := s.clock.Sleep(ctx, now.Add(time.Second)); err != nil {
			return c, err
		}
	}

	return Connection{}, errRefreshing
}

// connectAttempts bounds connect while the connection changes.
var connectAttempts = dynamo.Attempts{Max: 3, Err: errRefreshing}

// DisconnectStrava is the request to disconnect Strava.
type DisconnectStrava struct{ auth.User }

// DisconnectStravaFunction ends the connection to Strava.
func DisconnectStravaFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/disconnect-strava",
		Does:    "Ends the connection to Strava.",
		IfDown:  "Nobody can disconnect Strava here; they can at Strava.",
		On:      spec.Route{Method: "DELETE", Path: "/strava/connection", Auth: spec.Session},
		Uses:    signin.Caller(tables.GetConnection, tables.LockRefresh, tables.UnlinkAthlete),
		Sends:   []spec.Queue{PurgeQueue},
		Secrets: []string{StravaApp, TokenKeys},
		Memory:  256, Timeout: 25 * time.Second,
	}, Open, (*Service).DisconnectStrava, ErrBroken, ErrNotConnected, errRefreshing, account.ErrDeleted)
}

// DisconnectStrava revokes the access at Strava, and deletes the athlete and the tokens. If Strava does not
// revoke it, that is tried again for a week. The workouts are deleted; progress and parts stay. A second run
// finds nothing, and succeeds.
func (s *Service) DisconnectStrava(ctx context.Context, in *DisconnectStrava) (*httpapi.Removed, error) {
	c, err := Read(ctx, s.db, in.UserID)
	if errors.Is(err, ErrNotConnected) { // another run has sent the message
		return httpapi.NewRemoved(), nil
	}

	if err != nil {
		return nil, err
	}
	// The message first: a second run after a crash would find nothing to disconnect.
	if err := s.queue.Send(ctx, PurgeQueue, Purge{UserID: in.UserID, AthleteID: c.AthleteID}, PurgeDelay); err != nil {
		return nil, err
	}

	if err := s.Disconnect(ctx, in.UserID); err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), nil
}

// OwnerOf returns the user who has connected an athlete, "" if nobody has.
func OwnerOf(ctx context.Context, db dynamo.DB, athleteID int64) (userID string, err error) {
	o, _, err := dynamo.Get[owner](ctx, db, tables.FindOwner, item.Athlete(athleteID), item.Owner)
	return o.UserID, err
}

// Backfill is a message to fetch activities of a user.
type Backfill struct {
	UserID string `json:"userId"`
	// Whole fetches all that milestones may need; else what began since a week before the
	// last complete backfill, because phones upload late.
	Whole bool  `json:"whole,omitempty"`
	After int64 `json:"after,omitempty"` // epoch s; these three, Stored and Known are those of a backfill that continues
	Page  int   `json:"page,omitempty"`  // from 1; a later one only in a message of before Stored was sent
	Began int64 `json:"began,omitempty"` // epoch s
	Asked int64 `json:"asked,omitempty"` // when the sync of all users requested it, epoch s; 0 if a user waits for it
	Seen  int64 `json:"seen,omitempty"`  // fetchedAtUtc of the user in the list then, epoch s
	// Stored is whether the activities until After are stored that came before this message.
	Stored bool  `json:"stored,omitempty"`
	Known  int64 `json:"known,omitempty"` // Connection.KnownAt of when it began; 0 in a message of before it was sent
	strava.Wait
}

// BackfillQueue receives Backfill.
var BackfillQueue = spec.Queue{Name: "commitcollect-backfill", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// Purge is a message to delete the workouts of a user that are of no connected athlete: the
// connection has ended, here or at Strava, or is to another athlete.
type Purge struct {
	UserID string `json:"userId"`
	Broken bool   `json:"broken,omitempty"` // a connection that is broken ends, too
	Fetch  bool   `json:"fetch,omitempty"`  // the history is fetched afterwards
	// AthleteID is the athlete whose connection ends, 0 in a message of before and where it is not known. Token is a
	// sealed refresh token: the access ends at Strava, too, unless somebody has connected the athlete again.
	Token     string `json:"token,omitempty"`
	AthleteID int64  `json:"athleteId,omitempty"`
	Since     int64  `json:"since,omitempty"` // when the connection ended, epoch s
	Again     bool   `json:"again,omitempty"` // the access is all that is left to end
	// With Before, the message only deletes workouts: those that began before it, if all open milestones have
	// carried them forward, and in any case those that began and were stored before Stored. Both are epoch s.
	Before int64 `json:"before,omitempty"`
	Stored int64 `json:"stored,omitempty"`
}

// PurgeQueue receives Purge.
var PurgeQueue = spec.Queue{Name: "commitcollect-purges", MaxReceiveCount: 10, Batch: 1, Concurrency: 2, Unhurried: true}

// PurgeDelay is how long a purge waits: for the connection to be gone, and for a user who
// connects again at once.
const PurgeDelay = time.Minute

// FetchDelay is how long a backfill waits for the connection to be written. The nightly sync
// fetches what it does not find.
const FetchDelay = 5 * time.Second

// What the functions need to call Strava. StravaURL is where consent and tokens are, and the API under
// /api/v3, unless StravaAPI says where the API is.
const (
	StravaApp = "STRAVA_APP"
	TokenKeys = "COMMITCOLLECT_TOKEN_KEYS"
	StravaURL = "COMMITCOLLECT_STRAVA_URL"
	StravaAPI = "COMMITCOLLECT_STRAVA_API_URL"
)

// RetentionDays is the setting of an operator whom Strava's policy binds: for how many days workouts of
// Strava are kept. The default is 0: as long as the connection.
const RetentionDays = "STRAVA_RETENTION_DAYS"

// Retention returns for how long a stage keeps workouts of Strava, 0 for as long as the connection.
func Retention(env app.Env) time.Duration {
	days, _ := strconv.Atoi(env.Setting(RetentionDays)) // the setting's pattern is that of a number
	return time.Duration(days) * 24 * time.Hour
}
