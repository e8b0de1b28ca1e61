package attack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"matchday/infra/tools/mutation"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
)

// bearer returns the headers with a token, none for "".
func bearer(token string) http.Header {
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}

	return h
}

// cookie returns the headers with cookies, of a page of the app.
func (w *Fleet) cookie(cookies string) http.Header {
	h := http.Header{}
	h.Set("Cookie", cookies)
	h.Set("Origin", w.fleet.URL)

	return h
}

// signedIn returns the headers of the user of the sample.
func (w *Fleet) signedIn(o mutation.Operation, s Sample) (http.Header, error) {
	if o.Auth == spec.Session {
		return w.cookie(s.Cookie), nil
	}

	token, err := w.fleet.Token(s.UserID)

	return bearer(token), err
}

// client and neighbour are clients at two addresses of this machine. They do not follow redirects.
var client, neighbour = clientAt(nil), clientAt(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)})

func clientAt(from net.Addr) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call sends the sample request.
func (w *Fleet) call(ctx context.Context, o mutation.Operation, s Sample, credentials http.Header) (answer, error) {
	return w.callFrom(ctx, client, o, s, credentials)
}

// callFrom is call by one of the clients.
func (w *Fleet) callFrom(ctx context.Context, by *http.Client, o mutation.Operation, s Sample,
	credentials http.Header) (got answer, err error) {
	target := s.Path
	if s.Query != "" {
		target += "?" + s.Query
	}

	req, err := http.NewRequestWithContext(ctx, o.Method, w.fleet.URL+target, bytes.NewReader(s.Body))
	if err != nil {
		return got, err
	}

	req.Header.Set("Content-Type", "application/json")
	maps.Copy(req.Header, s.Header)
	maps.Copy(req.Header, credentials)

	res, err := by.Do(req)
	if err != nil {
		return got, err
	}
	defer res.Body.Close()

	got = answer{status: res.StatusCode, header: res.Header}
	got.body, err = io.ReadAll(res.Body)

	return got, err
}

// own returns the headers of the sample's own caller.
func (w *Fleet) own(o mutation.Operation, s Sample) (http.Header, error) {
	if o.Auth == spec.Browser || o.Auth == spec.Public {
		return w.cookie(s.Cookie), nil
	}

	return w.signedIn(o, s)
}

// uses reports whether a function uses an access pattern.
func (w *Fleet) uses(function string, a spec.Access) bool {
	room, _, _ := strings.Cut(function, "/")

	for _, fn := range w.room(room).Functions {
		if fn.Name == function {
			return slices.ContainsFunc(fn.Uses, func(one spec.Access) bool { return one.ID() == a.ID() })
		}
	}

	return false
}

// remember notes the ids of the events, of their users, and of what is stored before the story begins.
func (w *Fleet) remember(ctx context.Context) error {
	for _, c := range w.fleet.Cases {
		text, err := c.Event(w.fleet.Events)
		if err != nil {
			return err
		}

		w.attack.ids.know(string(text))
	}

	for _, user := range w.fleet.Sessions {
		w.attack.ids.know(user)
	}

	for _, r := range w.fleet.Rooms {
		all, err := w.rows(ctx, r.Spec.Name)
		if err != nil {
			return err
		}

		for _, rows := range all {
			for _, one := range rows {
				var v map[string]any
				if err := attributevalue.UnmarshalMap(one, &v); err != nil {
					return err
				}

				w.attack.ids.know(fmt.Sprint(v))
			}
		}
	}

	return nil
}

// exchange finishes a flow with the states of all flows that a browser can begin. One at most is its own:
// the others must be refused because of the state. Then the rows are as before.
func (w *Fleet) exchange(ctx context.Context, o mutation.Operation, s Sample, before map[string]map[string]row) error {
	query, err := url.ParseQuery(s.Query)
	if err != nil || o.Method != http.MethodGet || query.Get("state") == "" {
		return err
	}

	own := query.Get("state")

	var taken []string

	for _, begin := range w.steps {
		if begin.Room != o.Room || strings.Contains(begin.Query, "state=") {
			continue
		}

		credentials, err := w.own(begin.Operation, begin.Sample)
		if err != nil {
			return err
		}

		begun, err := w.call(ctx, begin.Operation, begin.Sample, credentials)
		if err != nil {
			return err
		}

		to, err := url.Parse(begun.header.Get("Location"))
		if err != nil || to.Query().Get("state") == "" {
			continue
		}

		state := to.Query().Get("state")
		query.Set("state", state)

		s := s
		s.Query, s.Cookie = query.Encode(), strings.ReplaceAll(s.Cookie, own, state)

		if o.Auth == spec.Session { // whose cookie is the sample's, and may look like the state
			s.Cookie = w.sessionOf(s.UserID)
		}

		credentials, err = w.own(o, s)
		if err != nil {
			return err
		}

		got, err := w.call(ctx, o, s, credentials)
		if err != nil {
			return err
		}

		if got.status < 400 || !bytes.Contains(got.body, []byte("state")) {
			taken = append(taken, begin.Name())
		}
	}

	if len(taken) > 1 {
		w.attack.Report(o.Name(), "it takes the states of "+strings.Join(taken, " and "))
	}

	return w.restore(ctx, o.Room, before)
}

// sessionOf returns the cookie of a session of a user.
func (w *Fleet) sessionOf(user string) string {
	for cookie, of := range w.fleet.Sessions {
		if of == user {
			return cookie
		}
	}

	return ""
}

// mostMails is more than a limit of mails by anybody to one address allows a caller.
const mostMails = 60

// lockOut sends a request that anybody may send to a mailbox until it is refused. A caller at another
// address must not be. Then the rows are as before.
func (w *Fleet) lockOut(ctx context.Context, o mutation.Operation, s Sample, before map[string]map[string]row) error {
	if o.Auth != spec.Browser && o.Auth != spec.Public || !bytes.Contains(s.Body, []byte(`"email"`)) {
		return nil
	}

	for range mostMails {
		got, err := w.call(ctx, o, s, nil)
		if err != nil {
			return err
		}

		if got.status == http.StatusTooManyRequests {
			break
		}
	}

	got, err := w.callFrom(ctx, neighbour, o, s, nil) // fails on a machine that has no second address
	if err == nil && got.status == http.StatusTooManyRequests {
		w.attack.Report(o.Name(), "the requests of one caller lock out others: "+string(got.body))
	}

	return w.restore(ctx, o.Room, before)
}

// bury sends requests that write as a user whose deletion was answered, before any job has run. None
// may change a row of the room.
func (w *Fleet) bury(ctx context.Context, o mutation.Operation, s Sample) error {
	if o.Method != http.MethodDelete || !w.uses(o.Name(), account.Bury) {
		return nil
	}

	credentials, err := w.signedIn(o, s)
	if err != nil {
		return err
	}

	before, err := w.rows(ctx, o.Room)
	if err != nil {
		return err
	}

	for _, write := range w.writes {
		if write.Room != o.Room || write.Auth != o.Auth || !w.uses(write.Name(), account.CheckDeleted) {
			continue
		}

		got, err := w.call(ctx, write.Operation, write.Sample, credentials)
		if err != nil {
			return err
		}

		if got.status < 300 {
			w.attack.Report(write.Name(), fmt.Sprintf("a %d for a user whose deletion was answered", got.status))
		}
	}

	after, err := w.rows(ctx, o.Room)
	if err == nil && !reflect.DeepEqual(before, after) {
		w.attack.Report(o.Name(), "a user whose deletion was answered has changed a row")
	}

	return err
}
