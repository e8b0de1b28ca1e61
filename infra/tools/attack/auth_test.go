package attack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/golang-jwt/jwt/v5"
	diff "github.com/google/go-cmp/cmp"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/all"
	"matchday/infra/sim/cognito"
	"matchday/infra/tools/events/story"
	"matchday/infra/tools/mutation"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/spec"
)

// A caller is a column of the matrix: who calls a route through API Gateway.
type caller struct {
	name string
	// token returns a bearer token for the user of the sample, "" for none.
	token func(m *matrix, o mutation.Operation, user string) (string, error)
	// session is the user of the session whose cookie is sent instead.
	session string
	// app returns the headers of a native app, or of what is none, instead. m.row puts the rows back before.
	app func(m *matrix, o mutation.Operation, s Sample) (http.Header, error)
	// refused are the statuses with which a route of an Auth refuses the caller: none if
	// it may call.
	refused map[spec.Auth][]int
}

var (
	unauthorized = map[spec.Auth][]int{spec.User: {401}, spec.Admin: {401}, spec.Session: {401}}
	notSession   = map[spec.Auth][]int{spec.User: {401}, spec.Admin: {401}}
	noGroup      = map[spec.Auth][]int{spec.Admin: {403}}
)

var callers = []caller{
	{"anonymous", func(*matrix, mutation.Operation, string) (string, error) { return "", nil }, "", nil, unauthorized},
	{"malformed", func(*matrix, mutation.Operation, string) (string, error) { return "eyJhbGciOiJub25lIn0.e30.", nil }, "", nil, unauthorized},
	{"expired", func(m *matrix, o mutation.Operation, user string) (string, error) {
		pool, groups := m.pool(o)
		t, err := pool.Token(user, groups, m.fleet.Clock.Now().Add(-cognito.TTL-time.Minute))

		return t.Access, err
	}, "", nil, unauthorized},
	{"other pool", func(m *matrix, o mutation.Operation, user string) (string, error) {
		pool, groups := m.pool(o)
		t, err := m.others[pool].Token(user, groups, m.fleet.Clock.Now())

		return t.Access, err
	}, "", nil, unauthorized},
	{"other client", func(m *matrix, o mutation.Operation, user string) (string, error) {
		pool, groups := m.pool(o)
		t, err := pool.ClientToken("local-other", user, groups, m.fleet.Clock.Now())

		return t.Access, err
	}, "", nil, unauthorized},
	{"user", func(m *matrix, _ mutation.Operation, user string) (string, error) { return m.fleet.Token(user) }, "", nil,
		map[spec.Auth][]int{spec.Admin: {401}, spec.Session: {401}}},
	{"wrong group", func(m *matrix, _ mutation.Operation, user string) (string, error) {
		return m.fleet.Token(user, "editor", "admins", "xadmin")
	}, "", nil, map[spec.Auth][]int{spec.User: {401}, spec.Admin: {403}, spec.Session: {401}}},
	{"other room's group", func(m *matrix, o mutation.Operation, user string) (string, error) {
		return m.fleet.Token(user, m.otherGroups(o)...)
	}, "", nil, map[spec.Auth][]int{spec.User: {401}, spec.Admin: {403}, spec.Session: {401}}},
	{"ID token", func(m *matrix, _ mutation.Operation, user string) (string, error) {
		t, err := m.fleet.Users.Token(user, nil, m.fleet.Clock.Now())
		return t.ID, err
	}, "", nil, map[spec.Auth][]int{spec.User: {403}, spec.Admin: {401}, spec.Session: {401}}},
	{"administrator's ID token", func(m *matrix, _ mutation.Operation, user string) (string, error) {
		t, err := m.fleet.Admins.Token(user, m.fleet.AdminGroups(), m.fleet.Clock.Now())
		return t.ID, err
	}, "", nil, map[spec.Auth][]int{spec.User: {401}, spec.Admin: {403}, spec.Session: {401}}},
	{"right group", func(m *matrix, _ mutation.Operation, user string) (string, error) {
		return m.fleet.Token(user, m.fleet.AdminGroups()...)
	}, "", nil, map[spec.Auth][]int{spec.User: {401}, spec.Session: {401}}},
	{"own session", nil, own, nil, notSession},
	{"expired session", nil, story.Expired, nil, unauthorized},
	{"unknown session", nil, "nobody", nil, unauthorized},
	{"session, page of another site", nil, foreign, nil,
		map[spec.Auth][]int{spec.User: {401}, spec.Admin: {401}, spec.Session: {403}, spec.Browser: {403}}},
	{"native app", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		return m.nativeApp(o, somebody(s), m.fleet.Clock.Now())
	}, notSession},
	{"native app, page of another site", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		h, err := m.nativeApp(o, somebody(s), m.fleet.Clock.Now())
		h.Set("Origin", elsewhere)

		return h, err
	}, map[spec.Auth][]int{spec.User: {401}, spec.Admin: {401}, spec.Browser: {403}}},
	{"native app, expired", nil, "", func(m *matrix, o mutation.Operation, _ Sample) (http.Header, error) {
		return m.nativeApp(o, story.Expired, m.fleet.Clock.Now().Add(-cognito.TTL-time.Minute))
	}, unauthorized},
	{"native app of another pool", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		t, err := m.others[m.fleet.Users].ClientToken(fleet.NativeClient(o.Room), somebody(s), nil, m.fleet.Clock.Now())
		return bearer(t.Access), err
	}, unauthorized},
	{"native app of another room", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		t, err := m.fleet.Users.ClientToken(fleet.NativeClient("other"), somebody(s), nil, m.fleet.Clock.Now())
		return bearer(t.Access), err
	}, unauthorized},
	{"native app's ID token", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		t, err := m.fleet.Users.ClientToken(fleet.NativeClient(o.Room), somebody(s), nil, m.fleet.Clock.Now())
		return bearer(t.ID), err
	}, unauthorized},
	{"unsigned", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		now := m.fleet.Clock.Now()
		t := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{
			"sub": somebody(s), "iss": m.fleet.Users.Issuer(), "client_id": fleet.NativeClient(o.Room), "token_use": "access",
			"scope": "openid email", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		})
		text, err := t.SignedString(jwt.UnsafeAllowNoneSignatureType)

		return bearer(text), err
	}, unauthorized},
	{"session's token as a bearer token", nil, "", func(m *matrix, _ mutation.Operation, s Sample) (http.Header, error) {
		_, token, _ := strings.Cut(cmp.Or(s.Cookie, m.cookieOf(story.Stranger).Get("Cookie")), "=")
		return bearer(token), nil
	}, unauthorized},
	{"another room's session", nil, "", func(m *matrix, o mutation.Operation, _ Sample) (http.Header, error) {
		for cookie, user := range m.fleet.Sessions {
			if name, token, _ := strings.Cut(cookie, "="); !strings.Contains(name, o.Room) && user != story.Expired {
				return bearer(token), nil
			}
		}

		return bearer("none"), nil
	}, unauthorized},
	{"bearer token as a cookie", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		h, err := m.nativeApp(o, somebody(s), m.fleet.Clock.Now())
		name, _, _ := strings.Cut(s.Cookie, "=")
		_, token, _ := strings.Cut(h.Get("Authorization"), " ")

		return m.cookie(name + "=" + token), err
	}, unauthorized},
	{"session and native app", nil, "", func(m *matrix, o mutation.Operation, s Sample) (http.Header, error) {
		h, err := m.nativeApp(o, somebody(s), m.fleet.Clock.Now())
		maps.Copy(h, m.cookie(s.Cookie))

		return h, err
	}, unauthorized},
}

// elsewhere is the origin of a page that is not the app's. It is of this machine, so that the listener lets it
// through.
const elsewhere = "http://127.0.0.1:1"

// nativeApp returns the headers of a native app of the operation's room, in which a user is signed in: with the
// token of a session, or with an access token from a time on.
func (m *matrix) nativeApp(o mutation.Operation, user string, from time.Time) (http.Header, error) {
	if !m.room(o.Room).Native {
		for token, of := range m.fleet.Apps {
			if of == user {
				return bearer(token), nil
			}
		}
	}

	t, err := m.fleet.Users.ClientToken(fleet.NativeClient(o.Room), user, nil, from)

	return bearer(t.Access), err
}

// Values of caller.session that are no users: the session of the sample, and that session
// from a page of another site.
const (
	own     = "own"
	foreign = "foreign"
)

// An event's claims are a column, too: what a function does if API Gateway lets
// somebody through.
var claims = []struct {
	name    string
	claims  map[string]string // nil for no authorizer
	refused map[spec.Auth][]int
}{
	{"function: nobody", nil, notSession},
	{"function: no sub", map[string]string{"cognito:groups": "[" + auth.AdminGroup("cricket") + "]"}, notSession},
	{"function: user", map[string]string{"sub": "that of the sample"}, noGroup},
	{"function: other room's group", map[string]string{"sub": "that of the sample", "cognito:groups": "those of the other rooms"}, noGroup},
	{"function: wrong group", map[string]string{"sub": "that of the sample", "cognito:groups": "[editor x-admin admin]"}, noGroup},
}

// matrix calls every route as every caller. A stranger then repeats the user's own
// request: nothing of the user changes, and no secret of the user is in the answer.
type matrix struct {
	*Fleet
	others map[*cognito.Pool]*cognito.Pool // with the issuer and the client of a pool, and another key
	text   strings.Builder
	table  *tabwriter.Writer
	seen   map[string]bool // by function
	wrong  []string
	cells  int
}

// pool returns the pool whose users may call an operation, and the groups that they need.
func (m *matrix) pool(o mutation.Operation) (*cognito.Pool, []string) {
	if o.Auth == spec.Admin {
		return m.fleet.Admins, m.fleet.AdminGroups()
	}

	return m.fleet.Users, nil
}

// otherGroups are the groups of the administrators of all rooms but the operation's.
func (m *matrix) otherGroups(o mutation.Operation) []string {
	return slices.DeleteFunc(m.fleet.AdminGroups(), func(group string) bool { return group == auth.AdminGroup(o.Room) })
}

func (m *matrix) errorf(format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

// newMatrix returns a matrix with the heads of its columns.
func newMatrix(program string) *matrix {
	m := &matrix{Fleet: &Fleet{Root: root, Program: program, Rooms: all.Rooms()}, seen: map[string]bool{}}
	m.table = tabwriter.NewWriter(&m.text, 0, 0, 2, ' ', 0)
	fmt.Fprint(m.table, "\nroute\tauth\tdeleted user")

	for _, c := range callers {
		fmt.Fprint(m.table, "\t", c.name)
	}

	for _, c := range claims {
		fmt.Fprint(m.table, "\t", c.name)
	}

	fmt.Fprintln(m.table, "\tstranger")

	return m
}

// report prints the matrix, and what was wrong.
func (m *matrix) report(t *testing.T) {
	m.table.Flush()
	t.Log(m.text.String())

	for _, sentence := range m.wrong {
		t.Error(sentence)
	}

	for name := range m.operations {
		if !m.seen[name] {
			t.Errorf("no sample event reaches %s", name)
		}
	}

	t.Logf("%d routes, %d cells", len(m.seen), m.cells)
}

// row calls one route as every caller. What is expected follows from the route's Auth.
func (m *matrix) row(ctx context.Context, o mutation.Operation, s Sample) error {
	m.seen[o.Name()] = true
	if m.others == nil {
		m.others = map[*cognito.Pool]*cognito.Pool{}
		for _, p := range []*cognito.Pool{m.fleet.Users, m.fleet.Admins} {
			var err error
			if m.others[p], err = cognito.New(m.fleet.Clock, p.Issuer(), p.ClientID(), ""); err != nil {
				return err
			}
		}
	}

	var before map[string]map[string]row

	if o.Changes() {
		var err error
		if before, err = m.rows(ctx, o.Room); err != nil {
			return err
		}
	}

	fmt.Fprintf(m.table, "%s %s\t%s", o.Method, o.Path, o.Auth)

	if err := m.deleted(ctx, o, s, before); err != nil {
		return err
	}

	for _, c := range callers {
		refused := c.refused

		var credentials http.Header

		switch {
		case c.token != nil:
			token, err := c.token(m, o, somebody(s))
			if err != nil {
				return err
			}

			credentials = bearer(token)
		case c.session == own:
			credentials = m.cookie(s.Cookie)
		case c.session == foreign:
			credentials = m.cookie(s.Cookie)
			credentials.Set("Origin", elsewhere)
		case c.app != nil:
			if o.Changes() { // the caller before may have ended the session, or what the request is about
				if err := m.restore(ctx, o.Room, before); err != nil {
					return err
				}
			}

			var err error
			if credentials, err = c.app(m, o, s); err != nil {
				return err
			}
		default:
			credentials = m.cookieOf(c.session)
		}

		res, err := m.call(ctx, o, s, credentials)
		if err != nil {
			return err
		}

		m.cell(o, c.name, refused, res.status)
	}

	for _, c := range claims {
		given := maps.Clone(c.claims)
		if given["sub"] != "" {
			given["sub"] = somebody(s)
		}

		if c.name == "function: other room's group" {
			given["cognito:groups"] = "[" + strings.Join(m.otherGroups(o), " ") + "]"
		}

		if o.Changes() {
			if err := m.restore(ctx, o.Room, before); err != nil {
				return err
			}
		}

		status, err := m.invoke(ctx, o, given)
		if err != nil {
			return err
		}

		m.cell(o, c.name, c.refused, status)
	}

	if o.Changes() {
		if err := m.restore(ctx, o.Room, before); err != nil {
			return err
		}
	}

	if o.Auth != spec.User && o.Auth != spec.Session {
		fmt.Fprintln(m.table, "\t-")
		return nil
	}

	return m.stranger(ctx, o, s, before)
}

// deleted calls a route whose function checks for it with the token of a deleted user:
// nothing changes, and the call is refused as that of a deleted user, unless it repeats one
// that has been done, or others have changed what it is about.
func (m *matrix) deleted(ctx context.Context, o mutation.Operation, s Sample, before map[string]map[string]row) error {
	if !o.Changes() || !m.checksDeleted(o.Name()) {
		fmt.Fprint(m.table, "\t-")
		return nil
	}

	credentials, err := m.signedIn(o, s)
	if err != nil {
		return err
	}

	table := aws.String(m.fleet.Table(account.Deleted.Name))

	tombstone := row{
		account.Deleted.Key.Partition: &types.AttributeValueMemberS{Value: s.UserID},
		"deletedAt":                   &types.AttributeValueMemberS{Value: m.fleet.Clock.Now().Format(time.RFC3339)},
	}
	if _, err := m.fleet.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: tombstone}); err != nil {
		return err
	}

	res, err := m.call(ctx, o, s, credentials)
	if err != nil {
		return err
	}

	status, body := res.status, res.body

	m.cells++
	fmt.Fprint(m.table, "\t", status)

	refused := status == http.StatusUnauthorized && bytes.Contains(body, []byte(account.ErrDeleted.Code))
	if repeated := status/100 == 2 || status == http.StatusConflict; !refused && !repeated {
		m.errorf("%s as a deleted user: got %d %s, want 401 %s", o.Name(), status, body, account.ErrDeleted.Code)
	}

	if _, err := m.fleet.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: keyOf(account.Deleted, tombstone)}); err != nil {
		return err
	}

	after, err := m.rows(ctx, o.Room)
	if err == nil && !reflect.DeepEqual(after, before) {
		m.errorf("%s as a deleted user changed a row", o.Name())
	}

	return err
}

// checksDeleted reports whether a function refuses the writes of deleted users.
func (m *matrix) checksDeleted(function string) bool {
	for _, room := range m.fleet.Rooms {
		for _, fn := range room.Spec.Functions {
			if on, ok := fn.On.(spec.Route); ok && fn.Name == function && (on.Auth == spec.User || on.Auth == spec.Session) {
				return slices.ContainsFunc(fn.Uses, func(a spec.Access) bool { return a.ID() == account.CheckDeleted.ID() })
			}
		}
	}

	return false
}

// cell compares one status.
func (m *matrix) cell(o mutation.Operation, name string, refused map[spec.Auth][]int, status int) {
	m.cells++
	fmt.Fprint(m.table, "\t", status)

	want := refused[o.Auth]
	if o.Auth == spec.Browser && status == http.StatusUnauthorized {
		return // not the caller is refused, but what the request brings: the token of a link
	}

	if got := status == http.StatusUnauthorized || status == http.StatusForbidden; status >= 500 || got != (want != nil) ||
		got && !slices.Contains(want, status) {
		m.errorf("%s as %s: got %d, want a status of %v (none: it may call)", o.Name(), name, status, want)
	}
}

// cookieOf returns the headers with the session of a user: that of none for somebody
// without one.
func (m *matrix) cookieOf(user string) http.Header {
	for cookie, of := range m.fleet.Sessions {
		if of == user {
			return m.cookie(cookie)
		}
	}

	for cookie := range m.fleet.Sessions {
		name, token, _ := strings.Cut(cookie, "=")
		return m.cookie(name + "=" + strings.Repeat("A", len(token)))
	}

	return m.cookie("")
}

// invoke gives the sample event to the function itself, with other claims.
func (m *matrix) invoke(ctx context.Context, o mutation.Operation, claims map[string]string) (status int, err error) {
	text, err := fs.ReadFile(m.fleet.Events, o.Name()+".json")
	if err != nil {
		return 0, err
	}

	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(text, &e); err != nil {
		return 0, err
	}

	e.RequestContext.Authorizer = nil
	if claims != nil {
		e.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims},
		}
	}

	if text, err = json.Marshal(e); err != nil {
		return 0, err
	}

	out, err := m.fleet.Functions.Invoke(ctx, o.Name(), text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", o.Name(), err)
	}

	var res events.APIGatewayV2HTTPResponse

	err = json.Unmarshal(out, &res)

	return res.StatusCode, err
}

// stranger repeats the user's own request as another user. A request that is refused
// changes nothing. One that is accepted changes no row whose key has the user's id,
// and removes none that mentions it.
func (m *matrix) stranger(ctx context.Context, o mutation.Operation, s Sample, before map[string]map[string]row) error {
	stranger := s
	stranger.UserID, stranger.Cookie = story.Stranger, m.cookieOf(story.Stranger).Get("Cookie")

	credentials, err := m.signedIn(o, stranger)
	if err != nil {
		return err
	}

	res, err := m.call(ctx, o, s, credentials)
	if err != nil {
		return err
	}

	status, body := res.status, res.body

	m.cells++
	request := s.Path + "?" + s.Query + string(s.Body)

	fmt.Fprintln(m.table, "\t", status)

	if before == nil {
		if before, err = m.rows(ctx, o.Room); err != nil {
			return err
		}
	}

	after := before
	if o.Changes() {
		if after, err = m.rows(ctx, o.Room); err != nil {
			return err
		}
	}

	ids := idsOf(s.UserID, before)
	for table, rows := range before {
		for key, r := range rows {
			now, there := after[table][key]

			same, own := reflect.DeepEqual(now, r), strings.Contains(key, s.UserID)
			if strings.HasPrefix(table, sqlTable) { // whose keys are ids of their own
				own = slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(textIn(r), id) })
			}

			if status < 300 && slices.ContainsFunc(secrets(r), func(s string) bool { return strings.Contains(request, s) }) {
				continue // who knows the token of a phone may register it
			}

			switch {
			case status >= 300 && !same, !same && own, !there && mentions(r, s.UserID):
				m.errorf("%s: a stranger changed the row %s of %s, with a %d:\n%s", o.Name(), key, table, status,
					diff.Diff(textOfRow(r), textOfRow(now)))
			}

			if own {
				for _, secret := range secrets(r) {
					if bytes.Contains(bytes.ToLower(body), []byte(strings.ToLower(secret))) && !strings.Contains(request, secret) {
						m.errorf("%s: a stranger reads %s of %s in a %d", o.Name(), secret, key, status)
					}
				}
			}
		}
	}

	if !o.Changes() {
		return nil
	}

	return m.restore(ctx, o.Room, before)
}

// idsOf returns the ids of a user in PostgreSQL: that of the tokens, and the id of the row that
// has it as a value.
func idsOf(user string, all map[string]map[string]row) []string {
	ids := []string{user}

	for table, rows := range all {
		for _, r := range rows {
			id, _ := r["id"].(*types.AttributeValueMemberS)

			of := slices.ContainsFunc(slices.Collect(maps.Values(r)), func(v types.AttributeValue) bool {
				s, ok := v.(*types.AttributeValueMemberS)
				return ok && s.Value == user
			})
			if strings.HasPrefix(table, sqlTable) && of && id != nil {
				ids = append(ids, id.Value)
			}
		}
	}

	return ids
}

// somebody is the user of a sample, or any.
func somebody(s Sample) string {
	if s.UserID == "" {
		return "somebody"
	}

	return s.UserID
}

func mentions(r row, user string) bool {
	return strings.Contains(textOfRow(r), user)
}

func textOfRow(r row) string {
	if r == nil {
		return "none"
	}

	var all map[string]any
	if err := attributevalue.UnmarshalMap(r, &all); err != nil {
		return err.Error()
	}

	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err.Error()
	}

	return string(text)
}

// secret is the form of tokens and mail addresses.
var secret = regexp.MustCompile(`^([0-9a-fA-F]{32,}|[^@ ]+@[^@ ]+)$`)

func secrets(r row) (all []string) {
	for _, v := range r {
		if s, ok := v.(*types.AttributeValueMemberS); ok && secret.MatchString(s.Value) {
			all = append(all, s.Value)
		}
	}

	return all
}
