package cognito

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/clock"
)

// do calls the API as an SDK does, and returns the answer, or the error's type.
func do(t testing.TB, p *Pool, action, body string) (out map[string]any, failed string) {
	t.Helper()

	req := httptest.NewRequest("POST", "http://127.0.0.1/", strings.NewReader(body))
	req.Header.Set("X-Amz-Target", "AWSCognitoIdentityProviderService."+action)

	w := httptest.NewRecorder()
	p.ServeHTTP(w, req)

	if got := w.Header().Get("Content-Type"); got != "application/x-amz-json-1.1" {
		t.Errorf("%s: the answer is %s", action, got)
	}

	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s: %s", action, w.Body)
		}
	}

	if w.Code != 200 {
		failed = fmt.Sprint(out["__type"])
		if w.Code != 400 || w.Header().Get("x-amzn-ErrorType") != failed || out["message"] == "" {
			t.Errorf("%s: refused with %d %s", action, w.Code, w.Body)
		}
	}

	return out, failed
}

func input(user, more string) string {
	return fmt.Sprintf(`{"UserPoolId":%q,"Username":%q%s}`, ID, user, more)
}

// attributes converts a list of names and values to a map.
func attributes(list any) map[string]string {
	all := map[string]string{}

	for _, a := range list.([]any) {
		a := a.(map[string]any)
		all[fmt.Sprint(a["Name"])] = fmt.Sprint(a["Value"])
	}

	return all
}

const una = `,"UserAttributes":[{"Name":"email","Value":"una@example.org"},{"Name":"email_verified","Value":"true"},{"Name":"name","Value":"Una"}],"DesiredDeliveryMediums":["EMAIL"]`

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// TestInvited follows an account from its invitation to its end.
func TestInvited(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")
	p.OnConfirmed(func(context.Context, []byte) ([]byte, error) {
		t.Error("OnConfirmed was called for an invited user")
		return nil, nil
	})

	out, failed := do(t, p, "AdminCreateUser", input("una@example.org", una))
	if failed != "" {
		t.Fatal(out)
	}

	made := out["User"].(map[string]any)

	sub := fmt.Sprint(made["Username"])
	if !uuid.MatchString(sub) || made["UserStatus"] != "FORCE_CHANGE_PASSWORD" || made["Enabled"] != true ||
		made["UserCreateDate"] != float64(start.UnixMilli())/1000 {
		t.Errorf("made %v", made)
	}

	if got := attributes(made["Attributes"]); len(got) != 4 || got["sub"] != sub || got["email"] != "una@example.org" ||
		got["email_verified"] != "true" || got["name"] != "Una" {
		t.Errorf("made with %v", got)
	}

	if p.Invitations("UNA@example.org") != 1 {
		t.Errorf("%d mails", p.Invitations("una@example.org"))
	}

	for _, name := range []string{sub, "una@example.org", "Una@Example.org"} {
		out, failed := do(t, p, "AdminGetUser", input(name, ""))
		if failed != "" || out["Username"] != sub || attributes(out["UserAttributes"])["name"] != "Una" {
			t.Errorf("%s is %v", name, out)
		}
	}

	done := p.clock.Work()
	tokens, err := p.SignIn(t.Context(), "una@example.org", "Other", nil)

	done()

	if err != nil {
		t.Fatal(err)
	}

	claims, err := p.Verify(tokens.ID)
	if err != nil || claims["sub"] != sub || claims["cognito:username"] != sub || claims["email"] != "una@example.org" ||
		claims["name"] != "Una" {
		t.Errorf("signed in as %v, %v", claims, err)
	}

	if out, _ := do(t, p, "AdminGetUser", input(sub, "")); out["UserStatus"] != "CONFIRMED" {
		t.Errorf("signed in, and %v", out)
	}

	if out, failed := do(t, p, "AdminDeleteUser", input("una@example.org", "")); failed != "" || out != nil {
		t.Errorf("deleting: %v", out)
	}

	for _, action := range []string{"AdminGetUser", "AdminDeleteUser"} {
		if _, failed := do(t, p, action, input(sub, "")); failed != "UserNotFoundException" {
			t.Errorf("%s of nobody: %q", action, failed)
		}
	}

	if _, failed := do(t, p, "AdminCreateUser", input("una@example.org", una)); failed != "" {
		t.Errorf("invited again: %s", failed)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")

	done := p.clock.Work()
	if _, err := p.SignIn(t.Context(), "u1", "", nil); err != nil {
		t.Fatal(err)
	}

	done()

	if _, failed := do(t, p, "AdminCreateUser", input("una@example.org", "")); failed != "" {
		t.Fatal(failed)
	}

	for name, c := range map[string]struct{ action, body, want string }{
		"no address":             {"AdminCreateUser", input("una", ""), "InvalidParameterException"},
		"a name with an address": {"AdminCreateUser", input("Una <una@example.org>", ""), "InvalidParameterException"},
		"an address twice":       {"AdminCreateUser", input("una@example.org", ""), "UsernameExistsException"},
		"in capitals":            {"AdminCreateUser", input("UNA@example.org", ""), "UsernameExistsException"},
		"of one who signed up":   {"AdminCreateUser", input("u1@example.com", ""), "UsernameExistsException"},
		"another address": {"AdminCreateUser",
			input("ana@example.org", `,"UserAttributes":[{"Name":"email","Value":"b@example.org"}]`), "InvalidParameterException"},
		"a sub of one's own": {"AdminCreateUser",
			input("ana@example.org", `,"UserAttributes":[{"Name":"sub","Value":"ana"}]`), "InvalidParameterException"},
		"an attribute of no pool": {"AdminCreateUser",
			input("ana@example.org", `,"UserAttributes":[{"Name":"custom:team","Value":"a"}]`), "InvalidParameterException"},
		"another action":       {"AdminCreateUser", input("ana@example.org", `,"MessageAction":"SHOUT"`), "InvalidParameterException"},
		"mail again to nobody": {"AdminCreateUser", input("ana@example.org", `,"MessageAction":"RESEND"`), "UserNotFoundException"},
		"mail again to a user": {"AdminCreateUser", input("u1@example.com", `,"MessageAction":"RESEND"`), "UnsupportedUserStateException"},
		"an address of 129 characters": {"AdminCreateUser", input(strings.Repeat("a", 61)+"@"+strings.Repeat("b", 63)+".com", ""),
			"InvalidParameterException"},
		"a user name that is too long": {"AdminGetUser", input(strings.Repeat("a", 129), ""), "InvalidParameterException"},
		"a user name with a space":     {"AdminGetUser", input("u 1", ""), "InvalidParameterException"},
		"a token with a space":         {"ListUsers", `{"UserPoolId":"` + ID + `","PaginationToken":"a b"}`, "InvalidParameterException"},
		"no user name":                 {"AdminGetUser", `{"UserPoolId":"` + ID + `"}`, "InvalidParameterException"},
		"no pool":                      {"AdminGetUser", `{"Username":"u1"}`, "InvalidParameterException"},
		"nothing":                      {"AdminGetUser", ``, "InvalidParameterException"},
		"another pool":                 {"AdminGetUser", `{"UserPoolId":"eu-west-1_other","Username":"u1"}`, "ResourceNotFoundException"},
		"nobody":                       {"AdminGetUser", input("ana@example.org", ""), "UserNotFoundException"},
		"no JSON":                      {"AdminGetUser", `{`, "SerializationException"},
		"what no role may":             {"ListGroups", input("u1", ""), "UnknownOperationException"},
		"another's user pool name":     {"AdminDeleteUser", input("una@example.com", ""), "UserNotFoundException"},
	} {
		if out, failed := do(t, p, c.action, c.body); failed != c.want {
			t.Errorf("%s: %v, want %s", name, out, c.want)
		}
	}

	if len(p.users) != 2 {
		t.Errorf("%d accounts", len(p.users))
	}
}

// TestMails: AdminCreateUser sends a mail with EMAIL, none with SUPPRESS, and another
// one with RESEND.
func TestMails(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")

	const mail = `,"DesiredDeliveryMediums":["EMAIL"]`
	for _, c := range []struct {
		more string
		want int
	}{{"", 0}, {mail + `,"MessageAction":"RESEND"`, 1}, {`,"MessageAction":"RESEND"`, 1}, {mail + `,"MessageAction":"RESEND"`, 2}} {
		if out, failed := do(t, p, "AdminCreateUser", input("una@example.org", c.more)); failed != "" ||
			p.Invitations("una@example.org") != c.want {
			t.Errorf("%s: %v, %d mails", c.more, out, p.Invitations("una@example.org"))
		}
	}

	if _, failed := do(t, p, "AdminCreateUser", input("b@example.org", mail+`,"MessageAction":"SUPPRESS"`)); failed != "" ||
		p.Invitations("b@example.org") != 0 {
		t.Errorf("suppressed: %s, %d mails", failed, p.Invitations("b@example.org"))
	}
}

// TestSignUp: an unknown user signs up once, and the function gets Cognito's event.
func TestSignUp(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		query, sub, email, display string // sub "" for a new one
	}{
		"by a name":                {"user=u1", "u1", "u1@example.com", ""},
		"with a name to show":      {"user=u1&name=Una+Day&group=admin", "u1", "u1@example.com", "Una Day"},
		"by an address":            {"user=una@example.org", "", "una@example.org", ""},
		"with what a mail may not": {"user=u1%20x", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, "")

			var confirmed []events.CognitoEventUserPoolsPostConfirmation

			p.OnConfirmed(func(_ context.Context, in []byte) ([]byte, error) {
				var e events.CognitoEventUserPoolsPostConfirmation
				if err := json.Unmarshal(in, &e); err != nil {
					t.Error(err)
				}

				confirmed = append(confirmed, e)

				return in, nil
			})

			var subs []any

			for range 2 {
				w := httptest.NewRecorder()
				p.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/dev/token?"+c.query, nil))

				if c.email == "" {
					if w.Code != 400 || !strings.Contains(w.Body.String(), "Invalid email address format.") || len(confirmed) > 0 {
						t.Errorf("got status %d %s, events %v", w.Code, w.Body, confirmed)
					}

					return
				}

				var tokens Tokens
				if err := json.Unmarshal(w.Body.Bytes(), &tokens); err != nil {
					t.Fatalf("%d %s", w.Code, w.Body)
				}

				claims, err := p.Verify(tokens.ID)
				if err != nil || claims["email"] != c.email {
					t.Errorf("claims %v, %v", claims, err)
				}

				subs = append(subs, claims["sub"])
			}

			if len(confirmed) != 1 {
				t.Fatalf("confirmed %v", confirmed)
			}

			e, sub := confirmed[0], fmt.Sprint(subs[0])
			if subs[0] != subs[1] || c.sub != "" && sub != c.sub || c.sub == "" && !uuid.MatchString(sub) {
				t.Errorf("the sub is %v", subs)
			}

			if e.Version != "1" || e.TriggerSource != "PostConfirmation_ConfirmSignUp" || e.Region+"_local" != e.UserPoolID || e.UserPoolID != ID ||
				e.UserName != sub || e.CallerContext.ClientID != "client" {
				t.Errorf("the event is of %+v", e.CognitoEventUserPoolsHeader)
			}

			want := map[string]string{"sub": sub, "email": c.email, "email_verified": "true", "cognito:user_status": "CONFIRMED"}
			if c.display != "" {
				want["name"] = c.display
			}

			if fmt.Sprint(e.Request.UserAttributes) != fmt.Sprint(want) {
				t.Errorf("the attributes are %v, want %v", e.Request.UserAttributes, want)
			}
		})
	}
}

// TestSignUpFails: if the function fails or gives a wrong answer, the sign-up returns
// an error, but the account exists.
func TestSignUpFails(t *testing.T) {
	t.Parallel()

	for want, answer := range map[string]func(in []byte) ([]byte, error){
		"UserLambdaValidationException: PostConfirmation failed with error no table.": func([]byte) ([]byte, error) {
			return nil, errors.New("no table")
		},
		"InvalidLambdaResponseException: Unrecognizable lambda output": func([]byte) ([]byte, error) { return []byte("null"), nil },
	} {
		p, calls := newPool(t, ""), 0
		p.OnConfirmed(func(_ context.Context, in []byte) ([]byte, error) { calls++; return answer(in) })

		for _, c := range []struct {
			status int
			want   string
		}{{400, want}, {200, "access_token"}} {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/dev/token?user=u1", nil))

			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("answered %d %s, want %d %s", w.Code, w.Body, c.status, c.want)
			}
		}

		if calls != 1 {
			t.Errorf("the function was called %d times, want once", calls)
		}
	}
}

// TestAddressTaken: a user cannot sign up with the address of another user.
func TestAddressTaken(t *testing.T) {
	t.Parallel()

	p := newPool(t, "")
	if _, failed := do(t, p, "AdminCreateUser", input("u1@example.com", "")); failed != "" {
		t.Fatal(failed)
	}

	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/dev/token?user=u1", nil))

	if w.Code != 400 || !strings.Contains(w.Body.String(), "UsernameExistsException") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// TestConcurrentSignIn: concurrent sign-ins of one name create one account.
func TestConcurrentSignIn(t *testing.T) {
	t.Parallel()
	p := newPool(t, t.TempDir())

	var calls atomic.Int32

	p.OnConfirmed(func(_ context.Context, in []byte) ([]byte, error) { calls.Add(1); return in, nil })

	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			defer p.clock.Work()()

			if _, err := p.SignIn(t.Context(), fmt.Sprint("u", n%2), "", nil); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	if calls.Load() != 2 {
		t.Errorf("%d signed up, want 2", calls.Load())
	}
}

func TestUsersSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	p := newPool(t, dir)
	if _, failed := do(t, p, "AdminCreateUser", input("una@example.org", una)); failed != "" {
		t.Fatal(failed)
	}

	done := p.clock.Work()
	if _, err := p.SignIn(t.Context(), "u1", "", nil); err != nil {
		t.Fatal(err)
	}

	done()

	before, _ := do(t, p, "AdminGetUser", input("una@example.org", ""))
	p = newPool(t, dir)
	p.OnConfirmed(func(context.Context, []byte) ([]byte, error) { return nil, errors.New("known") })

	if after, failed := do(t, p, "AdminGetUser", input("una@example.org", "")); failed != "" || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("after a restart %v, before %v", after, before)
	}

	done = p.clock.Work()
	if _, err := p.SignIn(t.Context(), "u1", "", nil); err != nil {
		t.Errorf("after a restart u1 signs up again: %v", err)
	}

	done()

	if _, failed := do(t, p, "AdminDeleteUser", input("u1", "")); failed != "" {
		t.Fatal(failed)
	}

	if _, failed := do(t, newPool(t, dir), "AdminGetUser", input("u1", "")); failed != "UserNotFoundException" {
		t.Errorf("after a restart who was deleted is back: %q", failed)
	}

	file := filepath.Join(dir, "users.json")
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}

	if err := os.WriteFile(file, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := New(clock.New(start.Add(time.Hour), clock.Free), issuer, "client", dir); err == nil ||
		!strings.Contains(err.Error(), "holds no users") {
		t.Errorf("error %v", err)
	}
}

// TestUnconfirmed: an address that somebody has signed up is not confirmed until its
// owner signs in, which calls the function.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	p := newPool(t, "")
	calls := 0

	p.OnConfirmed(func(_ context.Context, in []byte) ([]byte, error) {
		calls++
		return in, nil
	})

	sub, err := p.SignUp("una@example.org", "Una")
	if err != nil {
		t.Fatal(err)
	}

	out, _ := do(t, p, "AdminGetUser", input("una@example.org", ""))
	if out["Username"] != sub || out["UserStatus"] != "UNCONFIRMED" || attributes(out["UserAttributes"])["email_verified"] != "false" ||
		calls != 0 {
		t.Errorf("signed up as %v, with %d calls", out, calls)
	}

	if _, failed := do(t, p, "AdminCreateUser",
		input("una@example.org", `,"MessageAction":"RESEND"`)); failed != "UnsupportedUserStateException" {
		t.Errorf("an invitation sent again: %q", failed)
	}

	if _, err := p.SignUp("Una@example.org", ""); err == nil {
		t.Error("the address was signed up twice")
	}
	defer p.clock.Work()()

	for range 2 {
		if _, err := p.SignIn(t.Context(), "una@example.org", "", nil); err != nil {
			t.Fatal(err)
		}
	}

	if out, _ := do(t, p, "AdminGetUser", input(sub, "")); out["UserStatus"] != "CONFIRMED" ||
		attributes(out["UserAttributes"])["email_verified"] != "true" || calls != 1 {
		t.Errorf("confirmed as %v, with %d calls", out, calls)
	}
}
