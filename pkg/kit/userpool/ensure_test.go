package userpool_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/cognito"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/userpool"
)

// TestProvedAddress: what Ensure, whose caller has proved the address, makes of the account that has it.
func TestProvedAddress(t *testing.T) {
	t.Parallel()

	const (
		exists = "UsernameExistsException"
		busy   = "TooManyRequestsException"
		made   = `{"User":{"Attributes":[{"Name":"sub","Value":"s1"}]}}`
		create = "AdminCreateUser"
		get    = "AdminGetUser"
		remove = "AdminDeleteUser"
	)

	unverified := userpool.ErrUnverified.Text

	type outcome struct {
		Subject, Err string // Err is the beginning of the error
		Calls        string
	}

	for name, c := range map[string]struct {
		create, get, remove string
		ensure              outcome
	}{
		"new": {create: made, ensure: outcome{"s1", "", create}},
		"not made": {create: busy,
			ensure: outcome{"", "invite a user: ", create}},
		"confirmed": {create: exists, get: accountOf("CONFIRMED", "true"),
			ensure: outcome{"s1", "", create + " " + get}},
		"invited": {create: exists, get: accountOf("FORCE_CHANGE_PASSWORD", "true"),
			ensure: outcome{"s1", "", create + " " + get}},
		"address not verified": {create: exists, get: accountOf("CONFIRMED", "false"),
			ensure: outcome{"", unverified, create + " " + get}},
		"without a subject": {
			create: exists,
			get:    `{"UserStatus":"CONFIRMED","UserAttributes":[{"Name":"email_verified","Value":"true"}]}`,
			ensure: outcome{"", "the account has no subject", create + " " + get},
		},
		"gone meanwhile": {create: exists, get: "UserNotFoundException",
			ensure: outcome{"", "find an account: ", create + " " + get}},
		"signed up again and again": {
			create: exists,
			get:    accountOf("UNCONFIRMED", "false"),
			remove: "{}",
			ensure: outcome{"", unverified, strings.Join([]string{create, get, remove, create, get, remove}, " ")},
		},
		"signed up, cannot be removed": {create: exists, get: accountOf("UNCONFIRMED", "false"), remove: busy,
			ensure: outcome{"", "delete an account: ", create + " " + get + " " + remove}},
	} {
		var asked []string

		pool := answering(map[string]string{create: c.create, get: c.get, remove: c.remove}, &asked)

		subject, err := pool.Ensure(t.Context(), address)
		want := c.ensure

		var calls []string

		for _, call := range asked {
			action, body, _ := strings.Cut(call, " ")

			calls = append(calls, action)
			if silent := strings.Contains(body, `"MessageAction":"SUPPRESS"`); silent != (action == create) ||
				!strings.Contains(body, `"Username":"`+address+`"`) {
				t.Errorf("%s: called %s", name, call)
			}
		}

		got := outcome{subject, "", strings.Join(calls, " ")}
		if err != nil {
			got.Err = err.Error()
			if strings.HasPrefix(got.Err, want.Err) && want.Err != "" {
				got.Err = want.Err
			}
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}

		if want.Err == unverified && problem.Of(err) != problem.Conflict {
			t.Errorf("%s: got %v, want ErrUnverified", name, err)
		}
	}
}

// TestSignUpOfAnother: who has proved the address gets a new account in place of a sign-up
// that nobody has confirmed. Neither sends a mail.
func TestSignUpOfAnother(t *testing.T) {
	t.Parallel()
	sim, cfg := newPool(t)
	pool := userpool.Open(cfg, cognito.ID)

	signUp(t, sim)

	first, err := pool.Ensure(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}

	user, ok, err := pool.Get(t.Context(), first)
	if !ok || err != nil || user.Status != "FORCE_CHANGE_PASSWORD" || user.Email != address {
		t.Errorf("the account is %+v, %t, %v, want one that is not UNCONFIRMED", user, ok, err)
	}

	if again, err := pool.Ensure(t.Context(), address); again != first || err != nil {
		t.Errorf("again: got %q, %v, want %q", again, err, first)
	}

	if n := sim.Invitations(address); n != 0 {
		t.Errorf("%d mails, want none", n)
	}
}
