// Package auth identifies the caller, and checks whether the caller is an
// administrator. All other permissions are checked by the rooms.
package auth

import (
	"slices"
	"strings"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/danielgtaylor/huma/v2"
)

// AdminGroup returns the Cognito group of the administrators of a room. It is a group of the
// user pool of administrators; the user pool of users has no groups.
func AdminGroup(room string) string { return room + "-admin" }

// Room is the key in an operation's Metadata of the room whose administrators Admin accepts. An
// operation without it refuses every caller.
const Room = "room"

// User is a signed-in caller. A request that embeds it is refused with 401 unless API Gateway
// has verified the caller's JWT.
type User struct {
	// UserID is the verified token's subject.
	UserID string `json:"-"`
}

// Resolve fills u from the verified token; huma calls it for every request.
func (u *User) Resolve(ctx huma.Context) []error {
	claims := claims(ctx)
	if claims["sub"] == "" {
		return []error{huma.Error401Unauthorized("sign in first")}
	}

	u.UserID = claims["sub"]

	return nil
}

// Admin is a signed-in administrator. A request that embeds it is refused with
// 403 for anyone else.
type Admin struct{ User }

// Resolve fills a, and checks that the token has the AdminGroup of the room.
func (a *Admin) Resolve(ctx huma.Context) []error {
	if errs := a.User.Resolve(ctx); errs != nil {
		return errs
	}
	// API Gateway renders a list claim as "[a b]". A group's name has no white
	// space, but may have brackets: only the outer ones are the list's.
	groups, isList := strings.CutPrefix(claims(ctx)["cognito:groups"], "[")
	groups, isClosed := strings.CutSuffix(groups, "]")

	room, known := ctx.Operation().Metadata[Room].(string)
	if !known || !isList || !isClosed || !slices.Contains(strings.Fields(groups), AdminGroup(room)) {
		return []error{huma.Error403Forbidden("this is for administrators")}
	}

	return nil
}

func claims(ctx huma.Context) map[string]string {
	c, _ := core.GetAPIGatewayV2ContextFromContext(ctx.Context())
	if c.Authorizer == nil || c.Authorizer.JWT == nil {
		return nil
	}

	return c.Authorizer.JWT.Claims
}
