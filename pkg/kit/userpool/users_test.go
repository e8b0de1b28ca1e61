package userpool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/sim/cognito"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/userpool"
)

// answering returns a pool whose calls are answered by the action: a JSON document, or the name
// of an error. It notes the body of each call.
func answering(answers map[string]string, asked *[]string) userpool.Pool {
	return userpool.Open(aws.Config{
		Region:      "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient: smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
			_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			text, _ := io.ReadAll(r.Body)

			if asked != nil {
				var fields map[string]any
				if err := json.Unmarshal(text, &fields); err != nil {
					return nil, err
				}

				ordered, _ := json.Marshal(fields)
				*asked = append(*asked, action+" "+string(ordered))
			}

			res := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}}

			answer := answers[action]
			if !strings.HasPrefix(answer, "{") {
				res.StatusCode, answer = 400, fmt.Sprintf(`{"__type":%q}`, answer)
			}

			res.Body = io.NopCloser(strings.NewReader(answer))

			return res, nil
		}),
	}, "pool-1")
}

func accountOf(status, verified string) string {
	return fmt.Sprintf(`{"UserStatus":%q,"UserAttributes":[{"Name":"email_verified","Value":%q},{"Name":"sub","Value":"s1"}]}`,
		status, verified)
}

// TestInvitationByStatus: what becomes of an invitation, by the status of the account that has
// the address.
func TestInvitationByStatus(t *testing.T) {
	t.Parallel()

	const exists, resent = "UsernameExistsException", `{"User":{"Attributes":[{"Name":"sub","Value":"s1"}]}}`
	for name, c := range map[string]struct {
		create, get string
		want        userpool.Invited
		err         string
	}{
		"new":                    {resent, "", userpool.Invited{Subject: "s1", Mailed: true}, ""},
		"new, without a subject": {`{"User":{"Attributes":[]}}`, "", userpool.Invited{Mailed: true}, "the account has no subject"},
		"not made":               {"TooManyRequestsException", "", userpool.Invited{}, "invite a user: "},
		"confirmed":              {exists, accountOf("CONFIRMED", "true"), userpool.Invited{Subject: "s1"}, ""},
		"password reset":         {exists, accountOf("RESET_REQUIRED", "true"), userpool.Invited{Subject: "s1"}, ""},
		"of another provider":    {exists, accountOf("EXTERNAL_PROVIDER", "true"), userpool.Invited{Subject: "s1"}, ""},
		"confirmed, without a subject": {exists, `{"UserStatus":"CONFIRMED","UserAttributes":[{"Name":"email_verified","Value":"true"}]}`,
			userpool.Invited{}, "the account has no subject"},
		"confirmed, address not verified": {exists, accountOf("CONFIRMED", "false"), userpool.Invited{}, userpool.ErrUnverified.Text},
		"unconfirmed":                     {exists, accountOf("UNCONFIRMED", "true"), userpool.Invited{}, userpool.ErrUnverified.Text},
		"archived":                        {exists, accountOf("ARCHIVED", "true"), userpool.Invited{}, userpool.ErrUnverified.Text},
		"gone meanwhile":                  {exists, "UserNotFoundException", userpool.Invited{}, "find an account: "},
		"pending, cannot be mailed":       {exists, accountOf("FORCE_CHANGE_PASSWORD", "true"), userpool.Invited{}, "invite a user: "},
	} {
		got, err := answering(map[string]string{"AdminCreateUser": c.create, "AdminGetUser": c.get}, nil).Invite(t.Context(), address)

		text := ""
		if err != nil {
			text = err.Error()
		}

		if got != c.want || (text == "") != (c.err == "") || !strings.HasPrefix(text, c.err) {
			t.Errorf("%s: got %+v, %q; want %+v, %q", name, got, text, c.want, c.err)
		}
	}

	var asked []string
	if _, err := answering(map[string]string{"AdminCreateUser": resent}, &asked).Invite(t.Context(), address); err != nil {
		t.Fatal(err)
	}

	want := `AdminCreateUser {"DesiredDeliveryMediums":["EMAIL"],"UserAttributes":[{"Name":"email","Value":"una@example.org"},{"Name":"email_verified","Value":"true"}],"UserPoolId":"pool-1","Username":"una@example.org"}`
	if diff := cmp.Diff([]string{want}, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}

	type fields struct {
		Kind        problem.Kind
		Code, Field string
	}
	for err, want := range map[*problem.Error]fields{
		userpool.ErrUnverified: {problem.Conflict, "account_unverified", ""},
		userpool.ErrBadCursor:  {problem.Invalid, "bad_cursor", "query.cursor"},
	} {
		if diff := cmp.Diff(want, fields{err.Kind, err.Code, err.Field}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", err.Text, diff)
		}
	}
}

// TestUsersOfThePool: a page of the users with the cursor of the next, and a user by subject.
func TestUsersOfThePool(t *testing.T) {
	t.Parallel()

	const page = `{"PaginationToken":"p2","Users":[{"UserStatus":"CONFIRMED","UserCreateDate":1780315200,"Attributes":[{"Name":"sub","Value":"s1"},{"Name":"email","Value":"una@example.org"}]},{"UserStatus":"UNCONFIRMED"}]}`

	una := userpool.User{Subject: "s1", Email: "una@example.org", Status: "CONFIRMED", Created: time.Unix(1780315200, 0).UTC()}

	var asked []string

	pool := answering(map[string]string{
		"ListUsers":    page,
		"AdminGetUser": `{"UserStatus":"CONFIRMED","UserCreateDate":1780315200,"UserAttributes":[{"Name":"sub","Value":"s1"},{"Name":"email","Value":"una@example.org"}]}`,
	}, &asked)
	for _, cursor := range []string{"", "p1"} {
		users, next, err := pool.List(t.Context(), 20, cursor)
		if diff := cmp.Diff([]userpool.User{una, {Status: "UNCONFIRMED"}}, users); diff != "" || next != "p2" || err != nil {
			t.Errorf("after %q: next %q, %v; users (-want +got):\n%s", cursor, next, err, diff)
		}
	}

	if got, ok, err := pool.Get(t.Context(), "s1"); got != una || !ok || err != nil {
		t.Errorf("got %+v, %t, %v", got, ok, err)
	}

	want := []string{`ListUsers {"Limit":20,"UserPoolId":"pool-1"}`, `ListUsers {"Limit":20,"PaginationToken":"p1","UserPoolId":"pool-1"}`,
		`AdminGetUser {"UserPoolId":"pool-1","Username":"s1"}`}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestFailuresOfThePool: a user that does not exist is no error, a cursor that Cognito does not
// know is the caller's.
func TestFailuresOfThePool(t *testing.T) {
	t.Parallel()

	pool := func(answer string) userpool.Pool {
		return answering(map[string]string{"ListUsers": answer, "AdminGetUser": answer, "AdminDeleteUser": answer}, nil)
	}

	const invalid, missing, busy = "InvalidParameterException", "UserNotFoundException", "TooManyRequestsException"

	list := func(answer, cursor string) error {
		users, next, err := pool(answer).List(t.Context(), 20, cursor)
		if users != nil || next != "" {
			t.Errorf("%s: users %v and the cursor %q", answer, users, next)
		}

		return err
	}

	get := func(answer string) error {
		u, ok, err := pool(answer).Get(t.Context(), "s1")
		if ok || u != (userpool.User{}) {
			t.Errorf("%s: got %+v, %t", answer, u, ok)
		}

		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{list(invalid, "p9"), userpool.ErrBadCursor.Text + ": "}, {list(invalid, ""), "list the users: "}, {list(busy, "p1"), "list the users: "},
		{get(missing), ""}, {get(busy), "find an account: "},
		{pool(missing).Remove(t.Context(), "s1"), ""}, {pool(busy).Remove(t.Context(), "s1"), "delete an account: "},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}

	if err := list(invalid, "p9"); !errors.Is(err, userpool.ErrBadCursor) {
		t.Errorf("got %v, want ErrBadCursor", err)
	}

	var asked []string
	if _, _, err := answering(nil, &asked).List(t.Context(), 20, "p 9"); !errors.Is(err, userpool.ErrBadCursor) || asked != nil {
		t.Errorf("got %v after the calls %q, want ErrBadCursor without a call", err, asked)
	}

	sim, cfg := newPool(t)
	there := userpool.Open(cfg, cognito.ID)

	made := invite(t, there)
	if u, ok, err := there.Get(context.Background(),
		made.Subject); !ok || err != nil || u.Email != address || u.Status != "FORCE_CHANGE_PASSWORD" || sim.Invitations(address) != 1 {
		t.Errorf("the account that was made is %+v, %t, %v", u, ok, err)
	}
}
