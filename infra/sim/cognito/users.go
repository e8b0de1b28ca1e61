package cognito

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/sim/account"
)

// ID is the id of the pool in AWS's API.
const ID = account.UserPool

// User statuses: AdminCreateUser sets the first, SignUp the second, and signing in sets
// the third.
const (
	invited     = "FORCE_CHANGE_PASSWORD"
	unconfirmed = "UNCONFIRMED"
	confirmed   = "CONFIRMED"
)

// poolUser is a user of the pool, whose user name is the attribute sub.
type poolUser struct {
	Attributes map[string]string `json:"attributes"`
	Status     string            `json:"status"`
	Created    time.Time         `json:"created"`
	Modified   time.Time         `json:"modified"`
}

func (a *poolUser) sub() string { return a.Attributes["sub"] }

// usersFile is the name of the file with the accounts.
const usersFile = "users.json"

func (p *Pool) loadUsers() error {
	if p.dir == "" {
		return nil
	}

	path := filepath.Join(p.dir, usersFile)

	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read the users: %w", err)
	}

	if err := json.Unmarshal(text, &p.users); err != nil {
		return fmt.Errorf("%s holds no users; delete the file to start without users: %w", path, err)
	}

	return nil
}

// saveUsers writes the accounts to the file. The caller holds p.mu.
func (p *Pool) saveUsers() error {
	if p.dir == "" {
		return nil
	}

	text, err := json.Marshal(p.users)
	if err != nil {
		return err
	}

	path := filepath.Join(p.dir, usersFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("store the users: %w", err)
	}

	return os.Rename(path+".new", path)
}

// find returns the account with a sub or an e-mail address, nil if there is none. The
// caller holds p.mu.
func (p *Pool) find(name string) *poolUser {
	if a, ok := p.users[name]; ok {
		return a
	}

	for _, a := range p.users {
		if strings.EqualFold(a.Attributes["email"], name) {
			return a
		}
	}

	return nil
}

// isEmail reports whether name is an e-mail address and nothing else.
func isEmail(name string) bool {
	a, err := mail.ParseAddress(name)
	return err == nil && a.Address == name
}

// Call invokes a function with an event and returns what it answers, both JSON.
type Call func(ctx context.Context, event []byte) ([]byte, error)

// OnConfirmed sets a function that is called with Cognito's event for each user who
// signs up from now on.
func (p *Pool) OnConfirmed(call Call) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.onConfirmed = call
}

// SignUp begins the sign-up of an e-mail address, and returns the sub of the account.
// Anybody can do so. The owner of the address confirms it by signing in.
func (p *Pool) SignUp(email, name string) (sub string, err error) {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()

	a, err := p.add(newUUID(), email, name, now)
	if err != nil {
		return "", err
	}

	return a.sub(), p.saveUsers()
}

// add adds an account that is not confirmed. The caller holds p.mu.
func (p *Pool) add(sub, email, name string, now time.Time) (*poolUser, error) {
	if !isEmail(email) {
		return nil, refuse("InvalidParameterException", "Invalid email address format.")
	}

	if p.find(email) != nil {
		return nil, refuse("UsernameExistsException", "An account with the given email already exists.")
	}

	a := &poolUser{
		Attributes: map[string]string{"sub": sub, "email": email, "email_verified": "false"},
		Status:     unconfirmed,
		Created:    now,
		Modified:   now,
	}
	if name != "" {
		a.Attributes["name"] = name
	}

	p.users[sub] = a

	return a, nil
}

// SignIn signs a user in, by sub or e-mail address, with the groups. The caller
// holds the clock's work.
//
// Whom the pool does not know signs up first, and confirms it: as user@example.com
// with the sub user or, by an e-mail address, with a sub of its own; name is the
// account's, or "". When the function that waits for those fails, so does the
// sign-in, but the account is there, as with Cognito.
func (p *Pool) SignIn(ctx context.Context, user, name string, groups []string) (Tokens, error) {
	event, call, err := p.enter(user, name)
	if err != nil {
		return Tokens{}, err
	}

	if call != nil {
		if err := callPostConfirmation(ctx, event, call); err != nil {
			return Tokens{}, err
		}
	}

	return p.Token(user, groups, p.clock.Now())
}

// enter is SignIn without the call of the function. It returns the function if the user
// has just signed up.
func (p *Pool) enter(user, name string) (event events.CognitoEventUserPoolsPostConfirmation, call Call, err error) {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()

	a := p.find(user)
	switch {
	case a == nil:
		sub, email := user, user+"@example.com"
		if strings.Contains(user, "@") {
			sub, email = p.newSub(user), user
		}

		if a, err = p.add(sub, email, name, now); err != nil {
			return event, nil, err
		}
	case a.Status == confirmed:
		return event, nil, nil
	case a.Status == invited:
		a.Status, a.Modified = confirmed, now
		return event, nil, p.saveUsers()
	}

	a.Status, a.Modified = confirmed, now
	a.Attributes["email_verified"] = "true"
	event.Version, event.TriggerSource, event.Region, event.UserPoolID, event.UserName = "1",
		"PostConfirmation_ConfirmSignUp", account.Region, ID, a.sub()
	event.CallerContext = events.CognitoEventUserPoolsCallerContext{AWSSDKVersion: "aws-sdk-unknown-unknown", ClientID: p.clientID}
	event.Request.UserAttributes = maps.Clone(a.Attributes)
	event.Request.UserAttributes["cognito:user_status"] = a.Status

	return event, p.onConfirmed, p.saveUsers()
}

// callPostConfirmation calls the function, which must answer with the event that it
// received.
func callPostConfirmation(ctx context.Context, event events.CognitoEventUserPoolsPostConfirmation, call Call) error {
	in, err := json.Marshal(event)
	if err != nil {
		return err
	}

	out, err := call(ctx, in)
	if err != nil {
		return refuse("UserLambdaValidationException", "PostConfirmation failed with error %v.", err)
	}

	var back events.CognitoEventUserPoolsPostConfirmation
	if err := json.Unmarshal(out, &back); err != nil || !reflect.DeepEqual(back, event) {
		return refuse("InvalidLambdaResponseException", "Unrecognizable lambda output")
	}

	return nil
}

// newSub returns the sub of a new account. A pool in memory derives it from the address and
// the number of accounts before it, so that it is the same in each run.
func (p *Pool) newSub(email string) string {
	if p.dir != "" {
		return newUUID()
	}

	p.subs++
	b := sha256.Sum256(fmt.Appendln(nil, email, p.subs))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Invitations returns the number of mails that AdminCreateUser has sent to an address
// since the pool was opened.
func (p *Pool) Invitations(email string) int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.invitations[strings.ToLower(email)]
}

// refusal is an error of the API, with Cognito's code and message.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

const (
	target     = "AWSCognitoIdentityProviderService."
	maxRequest = 1 << 20
)

// api answers Cognito's API in AWS JSON 1.1. It holds clock work until it has answered.
func (p *Pool) api(w http.ResponseWriter, req *http.Request) {
	defer p.clock.Work()()

	out, err := p.callAction(w, req)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("x-amzn-RequestId", newUUID())

	if err != nil {
		r, ok := errors.AsType[*refusal](err)

		status := http.StatusBadRequest
		if !ok {
			r, status = &refusal{"InternalErrorException", err.Error()}, http.StatusInternalServerError
		}

		w.Header().Set("x-amzn-ErrorType", r.code)
		w.WriteHeader(status)

		out = map[string]string{"__type": r.code, "message": r.message}
	}

	if out != nil { // an action without a result has an empty answer
		json.NewEncoder(w).Encode(out)
	}
}

func (p *Pool) callAction(w http.ResponseWriter, req *http.Request) (any, error) {
	action, ok := strings.CutPrefix(req.Header.Get("X-Amz-Target"), target)

	act := map[string]func(request) (any, error){
		"AdminCreateUser": p.create,
		"AdminGetUser":    p.get,
		"AdminDeleteUser": p.delete,
		"ListUsers":       p.list,
	}[action]
	if !ok || act == nil {
		return nil, refuse("UnknownOperationException", "The action %q is not known here.", action)
	}

	var in request
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxRequest)).Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return nil, refuse("SerializationException", "%v", err)
	}

	switch {
	case in.UserPoolId == "" || in.Username == "" && action != "ListUsers":
		return nil, refuse("InvalidParameterException", "UserPoolId and Username must not be empty.")
	case in.UserPoolId != ID:
		return nil, refuse("ResourceNotFoundException", "User pool %s does not exist.", in.UserPoolId)
	case utf8.RuneCountInString(in.Username) > maxUsername:
		return nil, refuse("InvalidParameterException", "1 validation error detected: Value at 'username' failed to satisfy constraint: "+
			"Member must have length less than or equal to %d", maxUsername)
	case strings.ContainsFunc(in.Username, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.S, unicode.N, unicode.P) }):
		return nil, refuse("InvalidParameterException", "1 validation error detected: Value at 'username' failed to satisfy constraint: "+
			"Member must satisfy regular expression pattern: [\\p{L}\\p{M}\\p{S}\\p{N}\\p{P}]+")
	case strings.ContainsFunc(in.PaginationToken, unicode.IsSpace):
		return nil, refuse("InvalidParameterException", "1 validation error detected: Value at 'paginationToken' failed to satisfy "+
			"constraint: Member must satisfy regular expression pattern: [\\S]+")
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	return act(in)
}

// maxUsername is the longest user name, in characters: API reference, AdminCreateUser.
const maxUsername = 128

// request is the input of the actions, without the fields that affect only mails and
// passwords.
type request struct {
	UserPoolId, Username   string
	UserAttributes         []attribute
	DesiredDeliveryMediums []string
	MessageAction          string
	Limit                  int
	PaginationToken        string
}

type attribute struct{ Name, Value string }

// standardAttributes are the attributes that every pool has, beside sub: the claims of
// OpenID Connect. The fleet's pool has no others.
var standardAttributes = []string{
	"address", "birthdate", "email", "email_verified", "family_name", "gender", "given_name", "locale", "middle_name", "name", "nickname",
	"phone_number", "phone_number_verified", "picture", "preferred_username", "profile", "updated_at", "website", "zoneinfo",
}

// userDescription is an account in the answers of AdminGetUser and, with another name
// for the attributes, AdminCreateUser. Times are seconds since 1970.
type userDescription struct {
	Username             string
	Attributes           []attribute `json:",omitempty"`
	UserAttributes       []attribute `json:",omitempty"`
	UserCreateDate       float64
	UserLastModifiedDate float64
	Enabled              bool
	UserStatus           string
}

func (a *poolUser) describe() (d userDescription, attributes []attribute) {
	for _, name := range slices.Sorted(maps.Keys(a.Attributes)) {
		attributes = append(attributes, attribute{name, a.Attributes[name]})
	}

	seconds := func(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

	return userDescription{
		Username:             a.sub(),
		UserCreateDate:       seconds(a.Created),
		UserLastModifiedDate: seconds(a.Modified),
		Enabled:              true,
		UserStatus:           a.Status,
	}, attributes
}

// create creates the account of an e-mail address, or sends the mail again. The caller
// holds p.mu, here and below.
func (p *Pool) create(in request) (any, error) {
	if !isEmail(in.Username) {
		return nil, refuse("InvalidParameterException", "Username should be an email.")
	}

	a := p.find(in.Username)
	switch in.MessageAction {
	case "RESEND":
		if a == nil {
			return nil, refuse("UserNotFoundException", "User does not exist.")
		}

		if a.Status != invited {
			return nil, refuse("UnsupportedUserStateException", "Resend not possible. User is in the state %s.", a.Status)
		}
	case "", "SUPPRESS":
		if a != nil {
			return nil, refuse("UsernameExistsException", "An account with the given email already exists.")
		}

		now := p.clock.Now()
		a = &poolUser{Attributes: map[string]string{}, Status: invited, Created: now, Modified: now}

		for _, given := range in.UserAttributes {
			switch {
			case given.Name == "sub":
				return nil, refuse("InvalidParameterException", "Cannot modify the non-mutable attribute sub")
			case !slices.Contains(standardAttributes, given.Name):
				return nil, refuse("InvalidParameterException",
					"Attributes did not conform to the schema: Type for attribute {%s} could not be determined", given.Name)
			}

			a.Attributes[given.Name] = given.Value
		}

		if email := cmp.Or(a.Attributes["email"], in.Username); !strings.EqualFold(email, in.Username) {
			return nil, refuse("InvalidParameterException", "The attribute email is not the Username.")
		}

		a.Attributes["sub"], a.Attributes["email"] = p.newSub(in.Username), in.Username

		p.users[a.sub()] = a
		if err := p.saveUsers(); err != nil {
			return nil, err
		}
	default:
		return nil, refuse("InvalidParameterException", "MessageAction is RESEND or SUPPRESS.")
	}
	// Cognito sends text messages unless the request asks for e-mail.
	if in.MessageAction != "SUPPRESS" && slices.Contains(in.DesiredDeliveryMediums, "EMAIL") {
		p.invitations[strings.ToLower(in.Username)]++
	}

	d, attributes := a.describe()
	d.Attributes = attributes

	return map[string]userDescription{"User": d}, nil
}

func (p *Pool) get(in request) (any, error) {
	a := p.find(in.Username)
	if a == nil {
		return nil, refuse("UserNotFoundException", "User does not exist.")
	}

	d, attributes := a.describe()
	d.UserAttributes = attributes

	return d, nil
}

// list returns a page of the users, in the order of their subs. The token is the last
// sub of the page.
func (p *Pool) list(in request) (any, error) {
	if in.Limit < 0 || in.Limit > 60 {
		return nil, refuse("InvalidParameterException", "Limit must be 0 to 60.")
	}

	if _, ok := p.users[in.PaginationToken]; in.PaginationToken != "" && !ok {
		return nil, refuse("InvalidParameterException", "Invalid pagination token.")
	}

	var out struct {
		Users           []userDescription
		PaginationToken string `json:",omitempty"`
	}
	for _, sub := range slices.Sorted(maps.Keys(p.users)) {
		if sub <= in.PaginationToken {
			continue
		}

		if len(out.Users) == cmp.Or(in.Limit, 60) {
			out.PaginationToken = out.Users[len(out.Users)-1].Username
			break
		}

		d, attributes := p.users[sub].describe()
		d.Attributes = attributes
		out.Users = append(out.Users, d)
	}

	return out, nil
}

func (p *Pool) delete(in request) (any, error) {
	a := p.find(in.Username)
	if a == nil {
		return nil, refuse("UserNotFoundException", "User does not exist.")
	}

	delete(p.users, a.sub())

	return nil, p.saveUsers()
}
