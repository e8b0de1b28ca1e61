package accounts

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
)

// item is any item of the room: see the package's description.
type item struct {
	UserID string `dynamodbav:"userId"`
	Item   string `dynamodbav:"item"`

	Name      string `dynamodbav:"name,omitempty"`      // of a profile
	CreatedAt string `dynamodbav:"createdAt,omitempty"` // of a profile

	Job       string   `dynamodbav:"job,omitempty"`       // id of a job, also of its parts
	Open      string   `dynamodbav:"open,omitempty"`      // isOpen until the job ends
	StartedAt string   `dynamodbav:"startedAt,omitempty"` // of a job
	EndedAt   string   `dynamodbav:"endedAt,omitempty"`   // of an export
	Earlier   []string `dynamodbav:"earlier,omitempty"`   // of an export: the jobs before, whose files may be there
	TTL       int64    `dynamodbav:"ttl,omitempty"`       // epoch seconds
}

const (
	profile = "profile"
	isOpen  = "job"
)

// format returns a time as items hold it: sortable.
func format(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func parse(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// Service is the service of accounts.
type Service struct {
	db    dynamo.DB
	queue queue.Sender
	files object.Bucket
	pool  userpool.Pool
	clock app.Clock
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{
		db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), clock: env.Clock,
		files: object.Open(env.AWS, env.Setting(account.Exports.On("").Env())), pool: userpool.Open(env.AWS, env.Pool),
	}, nil
}

// OnUserConfirmedFunction creates the profile of a new user.
func OnUserConfirmedFunction() app.Function {
	return app.Task(spec.Function{
		Name:   "accounts/on-user-confirmed",
		Does:   "Creates the profile of a user who has confirmed the sign-up.",
		IfDown: "Sign-up shows an error. The account exists, without a name.",
		On:     spec.UserConfirmed{},
		Uses:   []spec.Access{createProfile},
		Memory: 128, Timeout: 5 * time.Second, // Cognito waits for no longer
	}, Open, (*Service).OnUserConfirmed)
}

// OnUserConfirmed creates the profile of a user who has signed up, with the name of the
// account if that is a display name. It ignores confirmations of a reset password. A
// second event changes nothing.
func (s *Service) OnUserConfirmed(ctx context.Context,
	e events.CognitoEventUserPoolsPostConfirmation) (events.CognitoEventUserPoolsPostConfirmation, error) {
	if e.TriggerSource == "PostConfirmation_ConfirmForgotPassword" {
		return e, nil
	}

	id := e.Request.UserAttributes["sub"]
	if id == "" {
		return e, errors.New("the event has no user attribute sub")
	}

	name, err := httpapi.DisplayName(strings.Join(strings.Fields(e.Request.UserAttributes["name"]), " "))
	if err != nil {
		name = "" // anybody may write anything there
	}

	return e, s.create(ctx, id, name)
}

// create creates the profile of a user, unless there is one.
func (s *Service) create(ctx context.Context, userID, name string) error {
	p := item{UserID: userID, Item: profile, Name: name, CreatedAt: format(s.clock.Now())}
	return dynamo.IgnoreRefused(dynamo.Put(ctx, s.db, createProfile, p, dynamo.Absent[item]("userId")))
}

// GetAccount is the request for the caller's account.
type GetAccount struct{ auth.User }

// Page is the answer with an account.
type Page struct {
	Status int
	Body   struct {
		_ struct{} `schema:"AccountPageBody"`

		UserID    string     `json:"userId" doc:"The id of the user."`
		Name      string     `json:"name,omitempty" doc:"The name that the user gave at the sign-up."`
		CreatedAt *time.Time `json:"createdAt,omitempty" doc:"Absent for an account that an administrator of a room has made."`
		DeletedAt *time.Time `json:"deletedAt,omitempty" doc:"The user has deleted the account. What the rooms have of the user is deleted within minutes."`
	}
}

// GetAccountFunction returns the caller's account.
func GetAccountFunction() app.Function {
	return app.API(spec.Function{
		Name:   "accounts/get-account",
		Does:   "Returns the caller's account.",
		IfDown: "Users cannot open their account.",
		On:     spec.Route{Method: "GET", Path: "/account", Auth: spec.User},
		Uses:   []spec.Access{readAccount},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetAccount)
}

// GetAccount returns the caller's account.
func (s *Service) GetAccount(ctx context.Context, in *GetAccount) (*Page, error) {
	items, err := dynamo.QueryAll[item](ctx, s.db, readAccount, ofUser(in.UserID))
	if err != nil {
		return nil, err
	}

	out := &Page{Status: http.StatusOK}
	out.Body.UserID = in.UserID

	for _, i := range items {
		switch i.Item {
		case profile:
			at := parse(i.CreatedAt)
			out.Body.Name, out.Body.CreatedAt = i.Name, &at
		case string(account.Forget):
			at := parse(i.StartedAt)
			out.Body.DeletedAt = &at
		}
	}

	return out, nil
}

// ofUser is the range of all items of a user.
func ofUser(userID string) dynamo.Range {
	return dynamo.Range{Key: dynamo.KeyIs(readAccount, userID), Consistent: true}
}

// InviteAccount is the request to invite a person.
type InviteAccount struct {
	auth.Admin
	Body struct {
		Name  string `json:"name" format:"display-name" doc:"The name of the profile." example:"Lena"`
		Email string `json:"email" format:"email" doc:"Cognito sends a temporary password to this address." example:"lena@example.com"`
	}
}

// Invited is the answer with the invited account.
type Invited struct {
	Status int
	Body   struct {
		UserID string `json:"userId" doc:"The id of the user."`
		Mailed bool   `json:"mailed" doc:"Whether Cognito has sent a temporary password. It sends none to a user who has signed in before."`
	}
}

// InviteAccountFunction invites a person.
func InviteAccountFunction() app.Function {
	return app.API(spec.Function{
		Name:   "accounts/invite-account",
		Does:   "Invites a person: creates an account, which Cognito mails a password to.",
		IfDown: "Administrators cannot invite users.",
		On:     spec.Route{Method: "POST", Path: "/admin/accounts", Auth: spec.Admin},
		Uses:   []spec.Access{createProfile, readAccount}, Users: []spec.UserOp{spec.AdminCreateUser, spec.AdminGetUser},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).InviteAccount, account.ErrDeleting, userpool.ErrUnverified)
}

// InviteAccount creates an account, for which Cognito sends an e-mail, and its profile. A
// second run finds the account and creates what is missing. Errors:
// userpool.ErrUnverified; account_deleting if the account is about to disappear.
func (s *Service) InviteAccount(ctx context.Context, in *InviteAccount) (*Invited, error) {
	invited, err := s.pool.Invite(ctx, in.Body.Email)
	if err != nil {
		return nil, err
	}

	items, err := dynamo.QueryAll[item](ctx, s.db, readAccount, ofUser(invited.Subject))
	if err != nil {
		return nil, err
	}

	if slices.ContainsFunc(items, func(i item) bool { return i.Item == string(account.Forget) }) {
		return nil, account.ErrDeleting
	}

	out := &Invited{Status: http.StatusOK}
	out.Body.UserID, out.Body.Mailed = invited.Subject, invited.Mailed

	return out, s.create(ctx, invited.Subject, in.Body.Name)
}

// ListAccounts is the request for the accounts.
type ListAccounts struct {
	auth.Admin
	Cursor string `query:"cursor" maxLength:"2048" doc:"The next of the page before."`
	Limit  int32  `query:"limit" minimum:"1" maximum:"60" default:"60"`
}

// AccountList is the answer with accounts.
type AccountList struct {
	Body struct {
		Accounts []userpool.User `json:"accounts" doc:"The accounts of this page."`
		Next     string          `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListAccountsFunction lists the accounts.
func ListAccountsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "accounts/list-accounts",
		Does:   "Returns the accounts, page by page.",
		IfDown: "Administrators cannot list the users.",
		On:     spec.Route{Method: "GET", Path: "/admin/accounts", Auth: spec.Admin},
		Users:  []spec.UserOp{spec.ListUsers},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).ListAccounts, userpool.ErrBadCursor)
}

// ListAccounts returns a page of the accounts of the user pool, in no order.
func (s *Service) ListAccounts(ctx context.Context, in *ListAccounts) (*AccountList, error) {
	out := &AccountList{}
	all, next, err := s.pool.List(ctx, in.Limit, in.Cursor)
	out.Body.Accounts, out.Body.Next = append([]userpool.User{}, all...), next

	return out, err
}
