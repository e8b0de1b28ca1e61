// Package userpool invites, finds and deletes the users of a Cognito user pool. They
// sign in by their e-mail address. Cognito chooses the subject, which is the user id.
package userpool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"matchday/pkg/kit/problem"
)

// ErrUnverified refuses to invite an address whose account does not prove that the address is
// the owner's: anybody can begin to sign up with another person's address, or set it in their
// own account.
var ErrUnverified = problem.New(problem.Conflict, "account_unverified",
	"an account has this address without having confirmed it: ask its owner to confirm the address, then invite again")

// Pool is a client of a user pool.
type Pool struct {
	client *cognito.Client
	id     string
}

// Open returns a client of the pool with an id.
func Open(cfg aws.Config, id string) Pool { return Pool{cognito.NewFromConfig(cfg), id} }

// Invited is the account of an invited address.
type Invited struct {
	Subject string
	Mailed  bool // Cognito has sent a temporary password
}

// Invite returns the account of an address, and creates it if there is none. A new account gets
// a mail with a temporary password. So does an account whose owner has not signed in yet,
// because a password expires after seven days. Errors: ErrUnverified.
func (p Pool) Invite(ctx context.Context, email string) (Invited, error) {
	made, err := p.create(ctx, email, "")
	if _, exists := errors.AsType[*types.UsernameExistsException](err); !exists {
		return made, err
	}

	there, err := p.client.AdminGetUser(ctx, &cognito.AdminGetUserInput{UserPoolId: &p.id, Username: &email})
	if err != nil {
		return Invited{}, fmt.Errorf("find an account: %w", err)
	}

	if attribute(there.UserAttributes, "email_verified") != "true" {
		return Invited{}, ErrUnverified
	}

	switch there.UserStatus {
	case types.UserStatusTypeForceChangePassword:
		return p.create(ctx, email, types.MessageActionTypeResend)
	case types.UserStatusTypeConfirmed, types.UserStatusTypeResetRequired, types.UserStatusTypeExternalProvider:
		subject, err := subjectOf(there.UserAttributes)
		return Invited{Subject: subject}, err
	}

	return Invited{}, ErrUnverified
}

// verified returns the subject of an account whose address is verified, or ErrUnverified.
func verified(there *cognito.AdminGetUserOutput) (subject string, err error) {
	if attribute(there.UserAttributes, "email_verified") != "true" {
		return "", ErrUnverified
	}

	return subjectOf(there.UserAttributes)
}

// Ensure returns the subject of the account of an address, and creates the account, without a mail, if
// there is none. The caller must have verified that the address is the user's. It removes an
// unconfirmed sign-up with the address: anybody can have begun it. Errors: ErrUnverified.
//
// The account has no password, and Cognito refuses to sign up or to reset a password with its address.
// Its owner signs in by a mail, or with the temporary password of Invite.
func (p Pool) Ensure(ctx context.Context, email string) (subject string, err error) {
	for range 2 {
		made, err := p.create(ctx, email, types.MessageActionTypeSuppress)
		if _, exists := errors.AsType[*types.UsernameExistsException](err); !exists {
			return made.Subject, err
		}

		there, err := p.client.AdminGetUser(ctx, &cognito.AdminGetUserInput{UserPoolId: &p.id, Username: &email})
		if err != nil {
			return "", fmt.Errorf("find an account: %w", err)
		}

		if there.UserStatus != types.UserStatusTypeUnconfirmed {
			return verified(there)
		}

		if err := p.Remove(ctx, email); err != nil {
			return "", err
		}
	}

	return "", ErrUnverified
}

// create creates the account of an address or, with Resend, sends its mail again.
func (p Pool) create(ctx context.Context, email string, action types.MessageActionType) (Invited, error) {
	out, err := p.client.AdminCreateUser(ctx, &cognito.AdminCreateUserInput{
		UserPoolId:             &p.id,
		Username:               &email,
		MessageAction:          action,
		DesiredDeliveryMediums: []types.DeliveryMediumType{types.DeliveryMediumTypeEmail},
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	})
	if err != nil {
		return Invited{}, fmt.Errorf("invite a user: %w", err)
	}

	subject, err := subjectOf(out.User.Attributes)

	return Invited{Subject: subject, Mailed: action != types.MessageActionTypeSuppress}, err
}

// User is a user of the pool.
type User struct {
	Subject string    `json:"userId" doc:"The id of the user."`
	Email   string    `json:"email" doc:"The address of the account."`
	Status  string    `json:"status" doc:"Cognito's: CONFIRMED, FORCE_CHANGE_PASSWORD for a pending invitation, UNCONFIRMED for a sign-up that is not complete." example:"CONFIRMED"`
	Created time.Time `json:"createdAt" doc:"When the account was created."`
}

// ErrBadCursor reports a cursor that List has not returned, or that has expired.
var ErrBadCursor = problem.New(problem.Invalid, "bad_cursor", "this page is no longer there: begin again").In("query.cursor")

// List returns a page of the users, at most limit of 60, and the cursor of the next, ""
// at the end.
func (p Pool) List(ctx context.Context, limit int32, cursor string) (all []User, next string, err error) {
	if strings.ContainsFunc(cursor, unicode.IsSpace) { // a token of Cognito has no white space
		return nil, "", ErrBadCursor
	}

	in := &cognito.ListUsersInput{UserPoolId: &p.id, Limit: &limit}
	if cursor != "" {
		in.PaginationToken = &cursor
	}

	out, err := p.client.ListUsers(ctx, in)
	if _, bad := errors.AsType[*types.InvalidParameterException](err); bad && cursor != "" {
		return nil, "", ErrBadCursor.Because(err)
	}

	if err != nil {
		return nil, "", fmt.Errorf("list the users: %w", err)
	}

	for _, u := range out.Users {
		all = append(all, userOf(u.Attributes, u.UserStatus, u.UserCreateDate))
	}

	return all, aws.ToString(out.PaginationToken), nil
}

// Get returns the account of a subject. It returns false if there is none.
func (p Pool) Get(ctx context.Context, subject string) (User, bool, error) {
	u, err := p.client.AdminGetUser(ctx, &cognito.AdminGetUserInput{UserPoolId: &p.id, Username: &subject})
	if _, ok := errors.AsType[*types.UserNotFoundException](err); ok {
		return User{}, false, nil
	}

	if err != nil {
		return User{}, false, fmt.Errorf("find an account: %w", err)
	}

	return userOf(u.UserAttributes, u.UserStatus, u.UserCreateDate), true, nil
}

func userOf(attributes []types.AttributeType, status types.UserStatusType, created *time.Time) User {
	return User{attribute(attributes, "sub"), attribute(attributes, "email"), string(status), aws.ToTime(created).UTC()}
}

// Remove deletes the account of a subject, if there is one.
func (p Pool) Remove(ctx context.Context, subject string) error {
	_, err := p.client.AdminDeleteUser(ctx, &cognito.AdminDeleteUserInput{UserPoolId: &p.id, Username: &subject})
	if _, ok := errors.AsType[*types.UserNotFoundException](err); ok {
		return nil
	}

	if err != nil {
		return fmt.Errorf("delete an account: %w", err)
	}

	return nil
}

func subjectOf(attributes []types.AttributeType) (string, error) {
	if subject := attribute(attributes, "sub"); subject != "" {
		return subject, nil
	}

	return "", errors.New("the account has no subject")
}

func attribute(all []types.AttributeType, name string) string {
	for _, a := range all {
		if aws.ToString(a.Name) == name {
			return aws.ToString(a.Value)
		}
	}

	return ""
}
