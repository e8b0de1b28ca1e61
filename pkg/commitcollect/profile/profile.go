// Package profile is what a user is to the room: the profile and its choices, the trail of
// what happened, and the deletion and export of all that is kept.
package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Service is the service of profiles.
type Service struct {
	session.Sessions
	db    dynamo.DB
	queue queue.Sender
	trail trail.Writer
	now   func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{signin.Sessions(env, db), db, queue.Open(env.AWS, env.Queues), trail.Open(db, env.Now), env.Now}, nil
}

// GetViewer is the request of the app who opens it.
type GetViewer struct{ session.Browser }

// Viewer is the answer with who opens the app.
type Viewer struct {
	Body struct {
		SignedIn bool    `json:"signedIn" doc:"Whether the browser has a session. If not, there is nothing else."`
		User     *User   `json:"user,omitempty" doc:"The user."`
		Role     string  `json:"role,omitempty" doc:"user"`
		Plan     string  `json:"plan,omitempty" doc:"free"`
		Strava   *Strava `json:"strava,omitempty" doc:"The connection to Strava."`
	}
}

// User is a user in an answer, with what the user has chosen.
type User struct {
	UserID       string       `json:"userId" doc:"The id of the user."`
	Email        string       `json:"email" doc:"The address of the account."`
	Units        string       `json:"units" enum:"km,mi" doc:"In which the app shows distances."`
	Counts       tally.Choice `json:"counts" doc:"Which workouts count."`
	KeepWorkouts bool         `json:"keepWorkouts" doc:"Whether workouts stay when the access is revoked at Strava."`
}

// Strava is the connection to Strava in an answer.
type Strava struct {
	Connected bool       `json:"connected" doc:"Whether Strava is connected."`
	Broken    bool       `json:"broken,omitempty" doc:"Whether the user must connect again."`
	AthleteID int64      `json:"athleteId,omitempty" doc:"The athlete's id at Strava."`
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the access token expires. It is renewed before."`
	Scope     string     `json:"scope,omitempty" doc:"What Strava may share, with commas."`
}

// GetViewerFunction returns what the app needs to know of who opens it, signed in or not.
func GetViewerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-viewer",
		Does:   "Returns what the app needs to know of who opens it, signed in or not.",
		IfDown: "The app does not open.",
		On:     spec.Route{Method: "GET", Path: "/viewer", Auth: spec.Browser},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetProfile, tables.GetConnection},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetViewer)
}

// GetViewer returns who opens the app. A browser without a valid session is not signed in.
func (s *Service) GetViewer(ctx context.Context, in *GetViewer) (*Viewer, error) {
	out := &Viewer{}

	token := in.Token(signin.Cookie)
	if token == "" {
		return out, nil
	}

	userID, err := s.User(ctx, token)
	if errors.Is(err, session.ErrInvalid) {
		return out, nil
	}

	if err != nil {
		return nil, err
	}

	u, err := item.ReadUser(ctx, s.db, userID)
	if errors.Is(err, item.ErrNoUser) {
		return out, nil
	}

	if err != nil {
		return nil, err
	}

	c, err := link.Read(ctx, s.db, userID)
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return nil, err
	}

	b := &out.Body
	b.SignedIn, b.User, b.Role, b.Plan = true, view(u), u.Role, u.Plan

	b.Strava = &Strava{Connected: err == nil, Broken: c.Status == link.Broken, AthleteID: c.AthleteID, Scope: c.Scope}
	if err == nil {
		at := time.Unix(c.ExpiresAt, 0).UTC()
		b.Strava.ExpiresAt = &at
	}

	return out, nil
}

func view(u item.UserRow) *User { return &User{u.UserID, u.Email, u.Units, u.Counts, u.Keep} }

// UpdatePreferences is the request to change what the caller has chosen.
type UpdatePreferences struct {
	auth.User
	Body struct {
		Units        string        `json:"units,omitempty" enum:"km,mi" doc:"In which the app shows distances."`
		Counts       *tally.Choice `json:"counts,omitempty" doc:"Which workouts count."`
		KeepWorkouts *bool         `json:"keepWorkouts,omitempty" doc:"Whether workouts stay when the access is revoked at Strava."`
	}
}

// Page is the answer with a user.
type Page struct {
	Body User
}

// UpdatePreferencesFunction changes what the caller has chosen: units, which workouts count, and
// whether they are kept.
func UpdatePreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/update-preferences",
		Does:    "Changes what the caller has chosen: units, which workouts count, and whether they are kept.",
		IfDown:  "Preferences cannot be changed.",
		On:      spec.Route{Method: "PATCH", Path: "/preferences", Auth: spec.Session},
		Uses:    []spec.Access{tables.ResolveSession, tables.GetProfile, tables.SaveProfile, account.CheckDeleted},
		Sends:   []spec.Queue{workout.ChangeQueue, link.PurgeQueue},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).UpdatePreferences)
}

// UpdatePreferences changes what is given, and has the milestones computed. Progress never
// falls: workouts that no longer count keep what they have reached. Who keeps workouts no
// longer loses those of no connected athlete. A second run changes nothing.
func (s *Service) UpdatePreferences(ctx context.Context, in *UpdatePreferences) (*Page, error) {
	u, err := item.ReadUser(ctx, s.db, in.UserID)
	if err != nil {
		return nil, err
	}

	var names []string
	if in.Body.Units != "" {
		u.Units, names = in.Body.Units, append(names, "units")
	}

	if in.Body.Counts != nil {
		u.Counts, names = *in.Body.Counts, append(names, "counts")
	}

	if in.Body.KeepWorkouts != nil {
		if u.Keep && !*in.Body.KeepWorkouts {
			// The message first: a second run would find the choice made.
			if err := s.queue.Send(ctx, link.PurgeQueue, link.Purge{UserID: in.UserID}, link.PurgeDelay); err != nil {
				return nil, err
			}
		}

		u.Keep, names = *in.Body.KeepWorkouts, append(names, "keepWorkouts")
	}

	if len(names) > 0 {
		key := dynamo.Key(tables.SaveProfile, u.PK, u.SK)
		if err := dynamo.Update(ctx, s.db, tables.SaveProfile, key, dynamo.Set(u, names...), dynamo.Exists[item.UserRow]("PK")); err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrNoUser)
		}
	}

	if in.Body.Counts != nil {
		if err := s.queue.SendFIFO(ctx, workout.ChangeQueue, in.UserID, workout.Changed{UserID: in.UserID}); err != nil {
			return nil, err
		}
	}

	return &Page{*view(u)}, nil
}

// Deleter has accounts deleted.
type Deleter struct {
	*Service

	keepers []string // the rooms that keep data of users
}

// OpenDeleter opens the service that has accounts deleted. It returns an error if the
// environment does not name the keepers.
func OpenDeleter(ctx context.Context, env app.Env) (*Deleter, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	keepers, err := account.ParseKeepers(env.Setting(spec.EnvKeepers))

	return &Deleter{s, keepers}, err
}

// DeleteAccount is the request to delete the caller's account.
type DeleteAccount struct{ auth.User }

// Deleting is the answer to the deletion.
type Deleting struct {
	Status    int
	SetCookie string `header:"Set-Cookie" doc:"Ends the session."`
	Body      struct {
		Apps []string `json:"apps" doc:"The apps that lose their data: the account is one for all."`
	}
}

// DeleteAccountFunction has the caller's account deleted, with all that is kept of the user in
// all rooms.
func DeleteAccountFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/delete-account",
		Does:   "Has the caller's account deleted, with all that is kept of the user in all rooms.",
		IfDown: "Users cannot delete their accounts here.",
		On:     spec.Route{Method: "DELETE", Path: "/account", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:   []spec.Access{tables.ResolveSession, tables.WriteAudit, account.CheckDeleted}, Sends: []spec.Queue{account.DeleteQueue},
		Keepers: true,
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenDeleter, (*Deleter).DeleteAccount)
}

// DeleteAccount has the account deleted, in all rooms, and ends the session of the browser.
// The room of the accounts carries it out. Until its message is sent the session stays, so
// that the request can be repeated.
func (s *Deleter) DeleteAccount(ctx context.Context, in *DeleteAccount) (*Deleting, error) {
	s.trail.Write(ctx, trail.Entry{Event: trail.AccountDelete, Result: trail.Attempt, UserID: in.UserID})

	if err := s.queue.Send(ctx, account.DeleteQueue, account.Deletion{UserID: in.UserID}, 0); err != nil {
		return nil, err
	}

	out := &Deleting{Status: http.StatusAccepted, SetCookie: signin.Cookie.Clear()}
	out.Body.Apps = s.keepers

	return out, nil
}

// Forgetter deletes and hands out what the room keeps of a user.
type Forgetter struct {
	db     dynamo.DB
	phones *device.Devices
	link   link.Vault
	queue  queue.Sender
	trail  trail.Writer
	files  object.Bucket
}

// OpenForgetter opens the service that deletes.
func OpenForgetter(ctx context.Context, env app.Env) (*Forgetter, error) {
	v, err := link.OpenVault(ctx, env)
	db := dynamo.Open(env.AWS, env.Prefix)

	return &Forgetter{
		db:     db,
		phones: device.Open(env, tables.Phones),
		link:   v,
		queue:  queue.Open(env.AWS, env.Queues),
		trail:  trail.Open(db, env.Now),
	}, err
}

// OpenExporter opens the service that hands out.
func OpenExporter(_ context.Context, env app.Env) (*Forgetter, error) {
	return &Forgetter{
		db: dynamo.Open(env.AWS, env.Prefix), phones: device.Open(env, tables.Phones), queue: queue.Open(env.AWS, env.Queues),
		files: object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
	}, nil
}

const room = "commitcollect"

// ForgetUserFunction ends the connection to Strava of a user who has deleted the account, and
// deletes all that is kept of the user.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/forget-user",
		Does:   "Ends the connection to Strava of a user who has deleted the account, and deletes all that is kept of the user.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses: []spec.Access{
			tables.GetConnection, tables.LockRefresh, tables.UnlinkAthlete, tables.WriteAudit, tables.Phones.List, tables.Phones.Drop,
			tables.CloseTrail, tables.DropUser, tables.UserSessions, tables.DropSessions, account.CheckDeleted,
		},
		Sends: []spec.Queue{account.DoneQueue}, Secrets: []string{link.StravaApp, link.TokenKeys},
		Memory: 256, Timeout: time.Minute,
	}, OpenForgetter, (*Forgetter).ForgetUser)
}

// ForgetUser deletes all that the room keeps of a user who has deleted the account: the
// access at Strava first, while its tokens are there; then the phones, the trail, all items
// of the user; the sessions last. Of the user the trail has afterwards that the account was
// deleted, under the SHA-256 of the id. It confirms when nothing is left. A second run
// deletes what is.
func (s *Forgetter) ForgetUser(ctx context.Context, in account.Request) error {
	if err := s.link.Disconnect(ctx, in.UserID); err != nil {
		return err
	}

	pk := item.User(in.UserID)
	if err := s.phones.Forget(ctx, in.UserID); err != nil {
		return err
	}

	for _, a := range []spec.Access{tables.CloseTrail, tables.DropUser} {
		if err := s.drop(ctx, a, pk); err != nil {
			return err
		}
	}

	sessions, err := dynamo.QueryAll[owned](ctx, s.db, tables.UserSessions, dynamo.Range{Key: dynamo.KeyIs(tables.UserSessions, pk)})
	if err != nil {
		return err
	}

	var keys []dynamo.Item
	for _, row := range sessions {
		keys = append(keys, dynamo.Key(tables.DropSessions, row.PK, row.SK))
	}

	if err := dynamo.DeleteAll(ctx, s.db, tables.DropSessions, keys); err != nil {
		return err
	}

	sum := sha256.Sum256([]byte(in.UserID))
	s.trail.Write(ctx, trail.Entry{
		Event:  trail.AccountDelete,
		Result: trail.Success,
		Data:   map[string]string{"userHash": hex.EncodeToString(sum[:])},
	})
	slog.InfoContext(ctx, "a user is forgotten", "user", in.UserID, "sessions", len(keys))

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// owned is the key and the owner of any item.
type owned struct {
	PK     string `dynamodbav:"PK"`
	SK     string `dynamodbav:"SK"`
	UserID string `dynamodbav:"userId"`
}

// drop deletes all items of a partition.
func (s *Forgetter) drop(ctx context.Context, a spec.Access, pk string) error {
	r := dynamo.Range{Key: dynamo.KeyIs(a, pk), Consistent: true, Limit: 500}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]owned, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[owned](ctx, s.db, a, r)
	}) {
		if err != nil {
			return err
		}

		var keys []dynamo.Item
		for _, row := range page {
			keys = append(keys, dynamo.Key(a, row.PK, row.SK))
		}

		if err := dynamo.DeleteAll(ctx, s.db, a, keys); err != nil {
			return err
		}
	}

	return nil
}

// ExportUserFunction hands out all that is kept of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/export-user",
		Does:   "Hands out all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.ReadUser, tables.Phones.List, tables.ReadTrail}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}, OpenExporter, (*Forgetter).ExportUser)
}

// ExportUser writes all that the room keeps of a user to the bucket of exports, without
// tokens, and confirms it. A second run replaces the document.
func (s *Forgetter) ExportUser(ctx context.Context, in account.Request) error {
	pk := item.User(in.UserID)

	items, err := dynamo.QueryAll[map[string]any](ctx, s.db, tables.ReadUser,
		dynamo.Range{Key: dynamo.KeyIs(tables.ReadUser, pk), Consistent: true})
	if err != nil {
		return err
	}

	for _, i := range items {
		delete(i, "accessToken")
		delete(i, "refreshToken")
	}

	entries, err := dynamo.QueryAll[map[string]any](ctx, s.db, tables.ReadTrail, dynamo.Range{Key: dynamo.KeyIs(tables.ReadTrail, pk)})
	if err != nil {
		return err
	}

	phones, err := s.phones.Of(ctx, in.UserID)
	if err != nil {
		return err
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), map[string]any{"items": items, "phones": phones, "trail": entries}); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}
