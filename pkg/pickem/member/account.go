package member

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	cognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
)

// accounts is a client of the user pool. Users sign in by their e-mail address;
// Cognito chooses the subject, which is the user id.
type accounts struct {
	client *cognito.Client
	pool   string
}

// invite creates an account for an address, to which Cognito sends an e-mail, and
// returns its subject. If the account exists it returns the subject of that.
func (a accounts) invite(ctx context.Context, email string) (subject string, err error) {
	out, err := a.client.AdminCreateUser(ctx, &cognito.AdminCreateUserInput{
		UserPoolId: &a.pool, Username: &email, DesiredDeliveryMediums: []types.DeliveryMediumType{types.DeliveryMediumTypeEmail},
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	})
	if err == nil {
		return subjectOf(out.User.Attributes)
	}
	if _, ok := errors.AsType[*types.UsernameExistsException](err); !ok {
		return "", fmt.Errorf("make an account: %w", err)
	}
	there, err := a.client.AdminGetUser(ctx, &cognito.AdminGetUserInput{UserPoolId: &a.pool, Username: &email})
	if err != nil {
		return "", fmt.Errorf("find an account: %w", err)
	}
	return subjectOf(there.UserAttributes)
}

func subjectOf(attributes []types.AttributeType) (string, error) {
	for _, a := range attributes {
		if aws.ToString(a.Name) == "sub" && aws.ToString(a.Value) != "" {
			return *a.Value, nil
		}
	}
	return "", errors.New("the account has no subject")
}

// exists reports whether there is an account with a subject. It compares the subject
// of the answer, because Cognito also finds an account by its address.
func (a accounts) exists(ctx context.Context, subject string) (bool, error) {
	there, err := a.client.AdminGetUser(ctx, &cognito.AdminGetUserInput{UserPoolId: &a.pool, Username: &subject})
	if _, ok := errors.AsType[*types.UserNotFoundException](err); ok {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find an account: %w", err)
	}
	is, err := subjectOf(there.UserAttributes)
	return is == subject, err
}

// remove deletes an account if it exists.
func (a accounts) remove(ctx context.Context, subject string) error {
	_, err := a.client.AdminDeleteUser(ctx, &cognito.AdminDeleteUserInput{UserPoolId: &a.pool, Username: &subject})
	if _, ok := errors.AsType[*types.UserNotFoundException](err); ok {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete an account: %w", err)
	}
	return nil
}
