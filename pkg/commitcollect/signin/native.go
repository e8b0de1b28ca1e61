package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/trail"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/bearer"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Caller returns the access patterns of a function that identifies its caller by Sessions, with more of its own.
// The first request of a native app creates the profile of its user, whatever it asks for.
func Caller(more ...spec.Access) []spec.Access {
	return append([]spec.Access{
		tables.ResolveSession, tables.GetProfile, tables.CreateProfile, tables.WriteAudit, account.CheckDeleted,
	}, more...)
}

// apps identifies the users of native apps by the access tokens of the pool's client for them.
type apps struct {
	tokens *bearer.Verifier
	db     dynamo.DB
	trail  trail.Writer
	now    func() time.Time
}

func newApps(env app.Env, db dynamo.DB) apps {
	return apps{
		tokens: bearer.New(bearer.Config{
			Issuer: env.Setting(spec.EnvIssuer), SignIn: env.Setting(spec.EnvSignIn), Client: env.Setting(spec.EnvNative),
			Scopes: []string{oidc.ScopeOpenID, "email"},
			HTTP:   &http.Client{Transport: env.HTTP, Timeout: env.Limit(3 * time.Second)},
			Now:    env.Now,
		}),
		db: db, trail: trail.Open(db, env.Now), now: env.Now,
	}
}

// user returns the user of an access token, and creates the profile at the first request. A second run finds
// the profile. Errors: session.ErrToken; account.ErrDeleted for a user whose account was deleted while the
// token is valid; and those of bearer.Verifier if the pool does not answer.
func (a apps) user(ctx context.Context, token string) (userID string, err error) {
	if userID, err = a.tokens.Verify(ctx, token); err != nil {
		return "", err
	}

	_, err = item.ReadUser(ctx, a.db, userID)
	if !errors.Is(err, item.ErrNoUser) {
		return userID, err
	}

	email, err := a.tokens.Email(ctx, token, userID)
	if err != nil {
		return "", err
	}

	event, err := enter(account.Require(ctx, userID), a.db, item.NewUser(userID, email, a.now()))
	if err != nil {
		return "", err
	}

	if event == trail.SignUp {
		a.trail.Write(ctx, trail.Entry{Event: event, Result: trail.Success, UserID: userID})
	}

	return userID, nil
}
