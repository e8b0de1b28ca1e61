package userpool_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awscognito "github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
	"matchday/pkg/kit/userpool"
)

const address = "una@example.org"

// TestInvitation: an invitation takes only an account whose owner has proved that the
// address is theirs, and mails whoever has not signed in yet.
func TestInvitation(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		before  func(t *testing.T, sim *cognito.Pool, cfg aws.Config, pool userpool.Pool)
		refused error
		mailed  bool
		mails   int // in all
	}{
		"a new address":        {func(*testing.T, *cognito.Pool, aws.Config, userpool.Pool) {}, nil, true, 1},
		"a pending invitation": {func(t *testing.T, _ *cognito.Pool, _ aws.Config, pool userpool.Pool) { invite(t, pool) }, nil, true, 2},
		"a confirmed account":  {func(t *testing.T, sim *cognito.Pool, _ aws.Config, _ userpool.Pool) { signIn(t, sim) }, nil, false, 0},
		"an unconfirmed one": {func(t *testing.T, sim *cognito.Pool, _ aws.Config, _ userpool.Pool) { signUp(t, sim) },
			userpool.ErrUnverified, false, 0},
		"one that was invited and signed in": {func(t *testing.T, sim *cognito.Pool, _ aws.Config, pool userpool.Pool) {
			invite(t, pool)
			signIn(t, sim)
		}, nil, false, 1},
		"an address that is not verified": {func(t *testing.T, sim *cognito.Pool, cfg aws.Config, _ userpool.Pool) {
			_, err := awscognito.NewFromConfig(cfg).AdminCreateUser(t.Context(),
				&awscognito.AdminCreateUserInput{UserPoolId: aws.String(cognito.ID), Username: aws.String(address)})
			if err != nil {
				t.Fatal(err)
			}

			signIn(t, sim)
		}, userpool.ErrUnverified, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, cfg := newPool(t)
			pool := userpool.Open(cfg, cognito.ID)
			c.before(t, sim, cfg, pool)

			got, err := pool.Invite(t.Context(), address)
			if !errors.Is(err, c.refused) || got.Mailed != c.mailed || (got.Subject == "") != (c.refused != nil) {
				t.Errorf("invited as %+v, %v; want mailed=%v, %v", got, err, c.mailed, c.refused)
			}

			if mails := sim.Invitations(address); mails != c.mails {
				t.Errorf("%d mails, want %d", mails, c.mails)
			}
		})
	}
}

// TestRemove: a second removal finds nothing, and is no error.
func TestRemove(t *testing.T) {
	t.Parallel()
	sim, cfg := newPool(t)
	pool := userpool.Open(cfg, cognito.ID)

	first := invite(t, pool)
	for range 2 {
		if err := pool.Remove(t.Context(), first.Subject); err != nil {
			t.Fatal(err)
		}
	}

	if again := invite(t, pool); again.Subject == first.Subject || sim.Invitations(address) != 2 {
		t.Errorf("invited again as %+v with %d mails, want a new account and 2", again, sim.Invitations(address))
	}

	if err := userpool.Open(cfg, "eu-west-1_other").Remove(t.Context(), first.Subject); err == nil {
		t.Error("no error of a pool that does not exist")
	}

	if _, err := pool.Invite(t.Context(), "una"); err == nil {
		t.Error("no error for a name that is no address")
	}
}

// newPool returns an empty pool, and the configuration of its API.
func newPool(t *testing.T) (*cognito.Pool, aws.Config) {
	t.Helper()

	c := clock.New(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC), clock.Free)
	t.Cleanup(c.Stop)
	c.Work() // held by the test

	sim, err := cognito.New(c, "http://pool/identity", "app", "")
	if err != nil {
		t.Fatal(err)
	}

	return sim, aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String("http://pool"), Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		HTTPClient: smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			out := httptest.NewRecorder()
			sim.ServeHTTP(out, r)

			return out.Result(), nil
		}),
	}
}

func invite(t *testing.T, pool userpool.Pool) userpool.Invited {
	t.Helper()

	out, err := pool.Invite(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}

	return out
}

func signIn(t *testing.T, sim *cognito.Pool) {
	t.Helper()

	if _, err := sim.SignIn(t.Context(), address, "", nil); err != nil {
		t.Fatal(err)
	}
}

func signUp(t *testing.T, sim *cognito.Pool) {
	t.Helper()

	if _, err := sim.SignUp(address, ""); err != nil {
		t.Fatal(err)
	}
}
