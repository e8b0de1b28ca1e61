// Package userdata deletes and exports what the room keeps of a user, and takes the request of a user
// to delete the account.
package userdata

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
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

const room = "commitcollect"

// Service deletes accounts and exports the data of users.
type Service struct {
	session.Sessions
	db     dynamo.DB
	phones *device.Devices
	queue  queue.Sender
	trail  trail.Writer
	files  object.Bucket
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)

	return &Service{
		Sessions: signin.Sessions(env, db),
		db:       db,
		phones:   device.Open(env, tables.Phones),
		queue:    queue.Open(env.AWS, env.Queues),
		trail:    trail.Open(db, env.Now),
		files:    object.Open(env.AWS, env.Setting(account.Exports.On("").Env())),
	}, nil
}

// Forgetter deletes the data of users. It has the keys of the tokens of Strava, to end a connection.
type Forgetter struct {
	*Service
	link link.Vault
}

// OpenForgetter opens the service that deletes.
func OpenForgetter(ctx context.Context, env app.Env) (*Forgetter, error) {
	s, err := Open(ctx, env)
	if err != nil {
		return nil, err
	}

	v, err := link.OpenVault(ctx, env)
	if err != nil {
		return nil, err
	}

	return &Forgetter{s, v}, nil
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
		Apps    []string `json:"apps" doc:"The apps that lose their data: the account is one for all."`
		Receipt string   `json:"receipt" doc:"Names the deletion of this app's data: an operator finds its proof by it, for three years."`
	}
}

// DeleteAccountFunction requests the deletion of the caller's account in all rooms.
func DeleteAccountFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/delete-account",
		Does:    "Requests the deletion of the caller's account, with all that is kept of the user in all rooms.",
		IfDown:  "Users cannot delete their accounts here.",
		On:      spec.Route{Method: "DELETE", Path: "/account", Auth: spec.Session, Answers: []int{http.StatusAccepted}},
		Uses:    signin.Caller(account.Bury),
		Sends:   []spec.Queue{account.DeleteQueue},
		Keepers: true,
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenDeleter, (*Deleter).DeleteAccount, account.ErrDeleted)
}

// DeleteAccount requests the deletion of the account in all rooms, ends the writes of the user, and
// ends the session of the browser. The accounts room carries it out. Until its message is sent the session stays, so that
// the request can be repeated.
func (s *Deleter) DeleteAccount(ctx context.Context, in *DeleteAccount) (*Deleting, error) {
	s.trail.Write(ctx, trail.Entry{Event: trail.AccountDelete, Result: trail.Attempt, UserID: in.UserID})

	if err := s.queue.Send(ctx, account.DeleteQueue, account.Deletion{UserID: in.UserID}, 0); err != nil {
		return nil, err
	}
	// After the message: without it the user could neither write nor be deleted.
	if err := account.PutTombstone(ctx, s.db, in.UserID, s.Now()); err != nil {
		return nil, err
	}

	out := &Deleting{Status: http.StatusAccepted, SetCookie: signin.Cookie.Clear()}
	out.Body.Apps, out.Body.Receipt = s.keepers, trail.Receipt(in.UserID, trail.AccountDelete)

	return out, nil
}

// ForgetUserFunction deletes the data of a user who has deleted the account.
func ForgetUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/forget-user",
		Does:   "Ends the connection to Strava of a user who has deleted the account, and deletes all that is kept of the user.",
		IfDown: "Accounts are not deleted.",
		On:     account.Queue(room, account.Forget),
		Uses: []spec.Access{
			tables.GetConnection, tables.LockRefresh, tables.UnlinkAthlete, tables.WriteAudit, tables.Phones.List, tables.Phones.Drop,
			tables.CloseTrail, tables.DropUser, tables.DropShares, tables.UserSessions, tables.DropSessions, account.CheckDeleted,
		},
		Sends: []spec.Queue{account.DoneQueue, link.PurgeQueue}, Secrets: []string{link.StravaApp, link.TokenKeys},
		Objects: []spec.ObjectAccess{account.Exports.On(exports.Prefix, spec.DeleteObject)},
		Memory:  256, Timeout: time.Minute,
	}, OpenForgetter, (*Forgetter).ForgetUser)
}

// ForgetUser deletes all that the room keeps of a user who has deleted the account, in this order:
// the access at Strava, while its tokens exist; the file of an export; the phones, the trail, and all items of the user;
// the sessions. Then it writes the proof of the deletion, and confirms it. A second run deletes the rest.
func (s *Forgetter) ForgetUser(ctx context.Context, in account.Request) error {
	if err := s.link.Disconnect(ctx, in.UserID); err != nil {
		return err
	}

	if err := s.files.Delete(ctx, exportKey(in.UserID)); err != nil {
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

	if err := s.trail.Prove(ctx, in.UserID, trail.AccountDelete); err != nil {
		return err
	}

	slog.InfoContext(ctx, "a user is forgotten", "user", in.UserID, "sessions", len(keys))

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Forget, Room: room, Request: in}, 0)
}

// owned is the key and the owner of any item.
type owned struct {
	PK     string `dynamodbav:"PK"`
	SK     string `dynamodbav:"SK"`
	UserID string `dynamodbav:"userId"`

	ShareID string `dynamodbav:"shareId"` // of the public picture of a milestone
}

// drop deletes all items of a partition, and before a milestone its public picture: afterwards nothing
// names it.
func (s *Forgetter) drop(ctx context.Context, a spec.Access, pk string) error {
	r := dynamo.Range{Key: dynamo.KeyIs(a, pk), Consistent: true, Limit: 500}

	for page, err := range dynamo.Pages(func(after dynamo.Item) ([]owned, dynamo.Item, error) {
		r.After = after
		return dynamo.Query[owned](ctx, s.db, a, r)
	}) {
		if err != nil {
			return err
		}

		var keys, shares []dynamo.Item

		for _, row := range page {
			keys = append(keys, dynamo.Key(a, row.PK, row.SK))

			if row.ShareID != "" {
				shares = append(shares, dynamo.Key(tables.DropShares, item.Shelf(row.ShareID), item.Meta))
			}
		}

		if err := dynamo.DeleteAll(ctx, s.db, tables.DropShares, shares); err != nil {
			return err
		}

		if err := dynamo.DeleteAll(ctx, s.db, a, keys); err != nil {
			return err
		}
	}

	return nil
}

// ExportUserFunction exports the data of a user.
func ExportUserFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "commitcollect/export-user",
		Does:   "Exports all that is kept of a user.",
		IfDown: "Exports are not completed.",
		On:     account.Queue(room, account.Export),
		Uses:   []spec.Access{tables.ReadUser, tables.Phones.List, tables.ReadTrail}, Sends: []spec.Queue{account.DoneQueue},
		Objects: []spec.ObjectAccess{account.Exports.On("parts/"+room+"/", spec.PutObject)},
		Memory:  256, Timeout: time.Minute,
	}, Open, (*Service).ExportUser)
}

// ExportUser writes all that the room keeps of a user to the bucket of exports, without tokens, and
// confirms it. A second run replaces the document.
func (s *Service) ExportUser(ctx context.Context, in account.Request) error {
	document, err := s.document(ctx, in.UserID)
	if err != nil {
		return err
	}

	if err := s.files.Put(ctx, account.PartKey(room, in.Job), document); err != nil {
		return err
	}

	return s.queue.Send(ctx, account.DoneQueue, account.Done{Kind: account.Export, Room: room, Request: in}, 0)
}

// document returns all that the room keeps of a user, without tokens.
func (s *Service) document(ctx context.Context, userID string) (map[string]any, error) {
	pk := item.User(userID)

	items, err := dynamo.QueryAll[map[string]any](ctx, s.db, tables.ReadUser,
		dynamo.Range{Key: dynamo.KeyIs(tables.ReadUser, pk), Consistent: true})
	if err != nil {
		return nil, err
	}

	for _, i := range items {
		delete(i, "accessToken")
		delete(i, "refreshToken")
	}

	entries, err := dynamo.QueryAll[map[string]any](ctx, s.db, tables.ReadTrail, dynamo.Range{Key: dynamo.KeyIs(tables.ReadTrail, pk)})
	if err != nil {
		return nil, err
	}

	phones, err := s.phones.Of(ctx, userID)
	if err != nil {
		return nil, err
	}

	return map[string]any{"items": items, "phones": phones, "trail": entries}, nil
}
