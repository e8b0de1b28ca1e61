package follower_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/push"
)

// registration returns the request of a user to register the phone with that name.
func registration(user, phone string) *follower.RegisterDevice {
	in := &follower.RegisterDevice{User: auth.User{UserID: user}}
	in.Body.DeviceToken, in.Body.Platform, in.Body.Environment = push.Registration(crickettest.Token(phone)), "ios", "production"

	return in
}

// tokensOf returns the stored device tokens of a user, sorted.
func tokensOf(w *crickettest.World, user string) (tokens []string) {
	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		if d.UserID == user && d.DeviceToken != follower.CounterRow {
			tokens = append(tokens, d.DeviceToken)
		}
	}

	slices.Sort(tokens)

	return tokens
}

// TestRegistrationReadsWhatWasWritten: which phones a user has, and whose a token is, is read
// strongly consistently: the phone that was registered a moment ago counts.
func TestRegistrationReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	env := w.Env(follower.RegisterDeviceFunction())
	table, consistent := env.AWS.HTTPClient, []bool(nil)
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
			text, err := io.ReadAll(r.Body)
			testkit.Must(t, err)

			r.Body = io.NopCloser(bytes.NewReader(text))

			var in struct{ ConsistentRead bool }
			testkit.Must(t, json.Unmarshal(text, &in))
			consistent = append(consistent, in.ConsistentRead)
		}

		return table.Do(r)
	})
	d, err := follower.OpenDevices(w.NewContext(), env)
	testkit.Must(t, err)
	_, err = d.RegisterDevice(w.NewContext(), registration("ann", "first"))
	testkit.Must(t, err)

	if diff := cmp.Diff([]bool{true, true}, consistent); diff != "" {
		t.Errorf("reads of the user's phones and of the token's owner (-want +got):\n%s", diff)
	}
}

// TestDevice follows a user through registration, renewal, a new phone, expiry and
// sign-out.
func TestDevice(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()

	const who = "ann"

	stored := func() follower.Device {
		t.Helper()

		var d follower.Device

		out := testkit.Call(routes, follower.GetDeviceFunction(), "/user/device", who, "")
		if out.StatusCode != http.StatusOK {
			t.Fatalf("get-device: %d %s, want 200", out.StatusCode, out.Body)
		}

		testkit.Must(t, json.Unmarshal([]byte(out.Body), &d))

		return d
	}
	expectNone := func(when string) {
		t.Helper()

		if out := testkit.Call(routes, follower.GetDeviceFunction(), "/user/device", who, ""); out.StatusCode != http.StatusNotFound {
			t.Errorf("%s: get-device: %d %s, want 404", when, out.StatusCode, out.Body)
		}
	}
	expectNone("before the first registration")

	first, second := crickettest.Token("first"), crickettest.Token("second")
	full := follower.Device{
		DeviceID:    push.TokenID(crickettest.TokenID("first")),
		DeviceToken: first,
		Platform:    "ipados",
		OSVersion:   "18.2.1",
		AppVersion:  "2.4.0",
		Environment: "sandbox",
		Locale:      "en-IN",
		TimeZone:    "Asia/Kolkata",
		Frequent:    true,
		ExpiresAt:   w.Clock.Now().Add(90 * 24 * time.Hour).Truncate(time.Second),
	}
	body := fmt.Sprintf(`{"deviceToken":%q,"platform":"ipados","osVersion":"18.2.1","appVersion":"2.4.0","environment":"sandbox",
		"locale":"en-IN","timeZone":"Asia/Kolkata","frequentPushesEnabled":true}`, strings.ToUpper(first))
	out := testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", who, body)

	var answer follower.Device
	testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))

	if out.StatusCode != http.StatusCreated {
		t.Errorf("register-device: %d, want 201", out.StatusCode)
	}

	for name, got := range map[string]follower.Device{"register-device": answer, "get-device": stored()} {
		if diff := cmp.Diff(full, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// A renewal keeps the push-to-start token, a new phone does not.
	putStartToken := func(device string) int {
		return testkit.Call(routes, follower.UpdatePushToStartFunction(), "/user/device/push-to-start", who,
			fmt.Sprintf(`{"deviceToken":%q,"pushToStartToken":%q}`, device, crickettest.Token("start"))).StatusCode
	}

	w.MoveClock(w.Clock.Now().Add(24 * time.Hour))

	if got := putStartToken(first); got != http.StatusOK || !stored().PushToStart || !stored().ExpiresAt.After(full.ExpiresAt) {
		t.Errorf("push-to-start: %d, phone %+v, want 200 and a renewed registration", got, stored())
	}

	if got := putStartToken(second); got != http.StatusNotFound {
		t.Errorf("push-to-start of an unregistered phone: %d, want 404", got)
	}

	out = testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", who, body)
	testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))

	if !stored().PushToStart || !answer.PushToStart {
		t.Errorf("a renewal has lost the push-to-start token: the phone is %+v, the answer %+v", stored(), answer)
	}

	w.MoveClock(w.Clock.Now().Add(time.Minute))

	out = testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", who,
		`{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)
	if d := stored(); d.DeviceToken != second || d.PushToStart || len(tokensOf(w, who)) != 2 {
		t.Errorf("second phone: %d, tokens %v, phone %+v, want both, and the second without push-to-start", out.StatusCode, tokensOf(w, who), d)
	}

	listed := testkit.Decode[struct{ Devices []follower.Device }](w.World,
		testkit.Call(routes, follower.ListDevicesFunction(), "/user/devices", who, "")).Devices
	if len(listed) != 2 || listed[0].DeviceToken != second || listed[1].DeviceToken != first || !listed[1].PushToStart {
		t.Errorf("list-devices: %+v, want the second phone, then the first", listed)
	}

	// A registration expires after 90 days, even before DynamoDB deletes its row.
	w.MoveClock(stored().ExpiresAt.Add(-time.Second))
	stored()
	w.MoveClock(w.Clock.Now().Add(time.Second))
	expectNone("after 90 days")

	if got := putStartToken(second); got != http.StatusNotFound {
		t.Errorf("push-to-start after 90 days: %d, want 404", got)
	}

	testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", who,
		`{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)

	// A late sign-out of the old phone does not delete the new registration.
	remove := func(device string) int {
		return testkit.Call(routes, follower.DeleteDeviceFunction(), "/user/device/"+string(push.Token(device).ID()), who, "").StatusCode
	}
	if got := remove(first); got != http.StatusNotFound || stored().DeviceToken != second {
		t.Errorf("sign-out of the old phone: %d, want 404", got)
	}

	if got := remove(strings.ToUpper(second)); got != http.StatusNoContent {
		t.Errorf("sign-out: %d, want 204", got)
	}

	expectNone("after signing out")

	if got := remove(second); got != http.StatusNotFound {
		t.Errorf("second sign-out: %d, want 404", got)
	}

	if out := testkit.Call(routes, follower.DeleteDeviceFunction(), "/user/device/"+second, who,
		""); out.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a token in the URL: %d, want 422", out.StatusCode)
	}

	testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", who, body)

	if !slices.Equal(tokensOf(w, who), []string{first}) {
		t.Errorf("tokens after sign-out and registration: %v, want only the first", tokensOf(w, who))
	}
}

// TestDeviceIsValidated: a refused request names the field and stores nothing.
func TestDeviceIsValidated(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()

	for _, c := range []struct {
		fields string // replaces valid ones
		status int
		field  string
	}{
		{`"deviceToken":""`, 422, "body.deviceToken"},
		{`"deviceToken":"~"`, 422, "body.deviceToken"},
		{`"deviceToken":"00112233445566778899aabbccddeefg"`, 422, "body.deviceToken"},
		{`"deviceToken":"` + strings.Repeat("0", 63) + `"`, 422, "body.deviceToken"}, // half a byte
		{`"deviceToken":"` + strings.Repeat("0", 202) + `"`, 422, "body.deviceToken"},
		{`"platform":"web"`, 422, "body.platform"},
		{`"environment":"staging"`, 422, "body.environment"},
		{`"osVersion":"iOS 18"`, 422, "body.osVersion"},
		{`"appVersion":"` + strings.Repeat("1", 33) + `"`, 422, "body.appVersion"},
		{`"locale":"english (India)"`, 422, "body.locale"},
		{`"timeZone":"Mars/Olympus"`, 400, "body.timeZone"},
		{`"timeZone":"Local"`, 400, "body.timeZone"},
		{`"timeZone":"../../etc/passwd"`, 400, "body.timeZone"},
		{`"userId":"bob"`, 422, "body.userId"},
	} {
		body := map[string]any{"deviceToken": crickettest.Token("phone"), "platform": "ios", "environment": "production"}
		testkit.Must(t, json.Unmarshal([]byte("{"+c.fields+"}"), &body))
		text, err := json.Marshal(body)
		testkit.Must(t, err)

		if err := testkit.CheckProblemField(testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", "ann", string(text)),
			c.status, c.field); err != nil {
			t.Errorf("%s: %v", c.fields, err)
		}
	}

	for _, missing := range []string{"deviceToken", "pushToStartToken"} {
		body := map[string]string{"deviceToken": crickettest.Token("phone"), "pushToStartToken": crickettest.Token("start")}
		body[missing] = "not hexadecimal, though long enough"
		text, err := json.Marshal(body)
		testkit.Must(t, err)

		if err := testkit.CheckProblemField(testkit.Call(routes, follower.UpdatePushToStartFunction(), "/user/device/push-to-start", "ann",
			string(text)), 422, "body."+missing); err != nil {
			t.Error(err)
		}
	}

	if n := len(testkit.Rows[follower.DeviceRow](w.World, tables.Devices)); n != 0 {
		t.Errorf("refused requests have written %d rows", n)
	}
}

// TestUnknownVersionHasNoBroadcasts: a phone without a valid version counts as iOS 17,
// which does not support broadcast channels.
func TestUnknownVersionHasNoBroadcasts(t *testing.T) {
	t.Parallel()

	for version, want := range map[string]int{"": 17, "18": 18, "18.2.1": 18, "16.4": 16, "26.0": 26, "beta": 17, ".1": 17} {
		if got := follower.MajorOf(version); got != want {
			t.Errorf("MajorOf(%q): %d, want %d", version, got, want)
		}
	}

	w := crickettest.New(t)
	_, err := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices).RegisterDevice(w.NewContext(),
		registration("ann", "phone"))
	testkit.Must(t, err)

	if d := testkit.Row[follower.DeviceRow](w.World, tables.Devices, "ann", crickettest.Token("phone")); d.OSMajor != 17 {
		t.Errorf("stored: %+v, want major version 17", d)
	}
}

// scheduler runs concurrent callers one I/O call at a time, in an order that the test
// picks.
type scheduler struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by name of the caller
	running int
	idle    *sync.Cond // signalled when a caller waits or ends
}

func newScheduler() *scheduler {
	s := &scheduler{waiting: map[string]chan struct{}{}}
	s.idle = sync.NewCond(&s.mu)

	return s
}

// enter starts a caller, leave ends it, and wait blocks it before a call.
func (s *scheduler) enter() { s.mu.Lock(); s.running++; s.mu.Unlock() }

func (s *scheduler) leave() { s.mu.Lock(); s.running--; s.mu.Unlock(); s.idle.Signal() }

func (s *scheduler) wait(caller string) {
	pass := make(chan struct{})

	s.mu.Lock()
	s.waiting[caller] = pass
	s.running--
	s.mu.Unlock()
	s.idle.Signal()
	<-pass
}

// pass lets the picked one of the waiting callers make its call. It returns false if no
// caller waits.
func (s *scheduler) pass(pick func(callers []string) string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	for s.running > 0 {
		s.idle.Wait()
	}

	if len(s.waiting) == 0 {
		return false
	}

	var callers []string
	for c := range s.waiting {
		callers = append(callers, c)
	}

	slices.Sort(callers)
	c := pick(callers)
	close(s.waiting[c])
	delete(s.waiting, c)
	s.running++

	return true
}

// ownershipError checks the rows that include selects: a user has at most one phone, a
// phone has at most one user, and that user is its owner until the registration ends. The
// row of a token is of a user who has its phone.
func ownershipError(w *crickettest.World, include func(follower.DeviceRow) bool) error {
	users, phones, owners := map[string]int{}, map[string]int{}, map[string]follower.DeviceRow{}

	all := slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices), func(d follower.DeviceRow) bool { return !include(d) })
	for _, d := range all {
		if token, ok := strings.CutPrefix(d.UserID, "#TOKEN#"); ok {
			owners[token] = d
		}
	}

	for _, d := range all {
		if d.DeviceToken == follower.CounterRow || d.ExpiresAt <= w.Clock.Now().Unix() { // an expired registration does not count
			continue
		}

		users[d.UserID]++
		phones[d.DeviceToken]++

		o := owners[d.DeviceToken]
		if users[d.UserID] > follower.MaxDevices || phones[d.DeviceToken] > 1 || o.Owner != d.UserID || o.ExpiresAt < d.ExpiresAt {
			return fmt.Errorf("%s has %d phones, one is %d users', and %s's until %d, though registered until %d",
				d.UserID, users[d.UserID], phones[d.DeviceToken], o.Owner, o.ExpiresAt, d.ExpiresAt)
		}
	}

	for token, o := range owners {
		if o.ExpiresAt > w.Clock.Now().Unix() && phones[token] == 0 {
			return fmt.Errorf("%s owns the token %s without a phone", o.Owner, token)
		}
	}

	return nil
}

// TestConcurrentRegistrationsLeaveEachPhoneOnce registers phones of two users concurrently,
// with their calls in any order. All registrations succeed. Each phone belongs to one user
// afterwards who has registered it.
func TestConcurrentRegistrationsLeaveEachPhoneOnce(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	runs := 0

	rapid.Check(t, func(rt *rapid.T) {
		runs++
		run := fmt.Sprint("run ", runs, ": ")
		users := []string{run + "ann", run + "bob"}
		before := rapid.SampledFrom([]string{"", "old", "a", "signed out", "two", "swept", "another's a"}).Draw(rt, "before")
		registerBefore(w, rt, users[0], run, before)

		type attempt struct{ user, phone string }

		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) attempt {
			return attempt{rapid.SampledFrom(users).Draw(t, "user"), run + rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "phone")}
		}), 2, 4).Draw(rt, "registrations")
		calls := newScheduler()

		for i, r := range all {
			env := w.Env(follower.RegisterDeviceFunction())
			next := env.AWS.HTTPClient
			caller := fmt.Sprint(i, r)
			env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) { calls.wait(caller); return next.Do(r) })

			calls.enter()
			go func() {
				defer calls.leave()

				s, err := follower.OpenDevices(w.NewContext(), env)
				if err == nil {
					_, err = s.RegisterDevice(w.NewContext(), registration(r.user, r.phone))
				}

				if err != nil {
					rt.Errorf("%s: %v", caller, err)
				}
			}()
		}

		for calls.pass(func(callers []string) string { return rapid.SampledFrom(callers).Draw(rt, "next") }) {
		}

		left := map[string][]string{}
		for _, user := range users {
			left[user] = tokensOf(w, user)
		}

		for _, r := range all {
			owners := 0

			for _, user := range users {
				if slices.Contains(left[user], crickettest.Token(r.phone)) && slices.Contains(all, attempt{user, r.phone}) {
					owners++
				}
			}

			if owners != 1 {
				rt.Fatalf("%d users have the phone %s: %q, want one who has registered it", owners, r.phone, left)
			}
		}

		if err := ownershipError(w, func(d follower.DeviceRow) bool {
			return slices.Contains(users, d.UserID) || d.UserID == run+"carol" ||
				slices.ContainsFunc([]string{"a", "b", "old"}, func(p string) bool { return d.UserID == "#TOKEN#"+crickettest.Token(run+p) })
		}); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}

// registerBefore creates the registrations that exist before a test. The names of the
// phones begin with run.
func registerBefore(w *crickettest.World, t interface{ Fatalf(string, ...any) }, user, run, before string) {
	d := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices)
	register := func(user, phone string) {
		if _, err := d.RegisterDevice(w.NewContext(), registration(user, run+phone)); err != nil {
			t.Fatalf("%v", err)
		}
	}

	switch before {
	case "old", "a":
		register(user, before)
	case "another's a":
		register(run+"carol", "a")
		start := &follower.UpdatePushToStart{User: auth.User{UserID: run + "carol"}}

		start.Body.DeviceToken, start.Body.Token = push.Token(crickettest.Token(run+"a")), push.Token(crickettest.Token("start"))
		if _, err := testkit.Open(w.World, follower.UpdatePushToStartFunction(), follower.OpenDevices).UpdatePushToStart(w.NewContext(),
			start); err != nil {
			t.Fatalf("%v", err)
		}
	case "signed out":
		register(user, "old")

		in := &follower.DeleteDevice{User: auth.User{UserID: user}, DeviceID: push.TokenID(crickettest.TokenID(run + "old"))}
		if _, err := testkit.Open(w.World, follower.DeleteDeviceFunction(), follower.OpenDevices).DeleteDevice(w.NewContext(), in); err != nil {
			t.Fatalf("%v", err)
		}
	case "two": // without rows of owners and counters
		testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("x")},
			follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("y")})
	case "swept": // the counter was deleted first
		testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("x")})
	}
}

// TestPhonePassesToAnotherUser: a phone that bob registers no longer belongs to ann, who
// did not sign out.
func TestPhonePassesToAnotherUser(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	phone := crickettest.Token("phone")
	register := func(routes map[string]testkit.Route, user string) (status int, body string) {
		out := testkit.Call(routes, follower.RegisterDeviceFunction(), "/user/device", user,
			`{"deviceToken":"`+phone+`","platform":"ios","environment":"production"}`)
		return out.StatusCode, out.Body
	}
	expect := func(user string, want ...string) {
		t.Helper()

		out := testkit.Call(routes, follower.GetDeviceFunction(), "/user/device", user, "")
		if got := tokensOf(w, user); !slices.Equal(got, want) || (out.StatusCode == http.StatusOK) != (want != nil) {
			t.Errorf("phones of %s: %q, want %q; get-device: %d %s", user, got, want, out.StatusCode, out.Body)
		}

		if err := ownershipError(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}
	}
	remove := func(user string) int {
		return testkit.Call(routes, follower.DeleteDeviceFunction(), "/user/device/"+crickettest.TokenID("phone"), user, "").StatusCode
	}
	putStartToken := func(user string) int {
		return testkit.Call(routes, follower.UpdatePushToStartFunction(), "/user/device/push-to-start", user,
			`{"deviceToken":"`+phone+`","pushToStartToken":"`+crickettest.Token("start")+`"}`).StatusCode
	}

	register(routes, "ann")

	if got := putStartToken("ann"); got != http.StatusOK {
		t.Errorf("push-to-start of ann: %d, want 200", got)
	}

	if got := putStartToken("bob"); got != http.StatusNotFound {
		t.Errorf("push-to-start of bob: %d, want 404", got)
	}

	expect("ann", phone)

	status, body := register(routes, "bob")

	other := crickettest.New(t) // where no user has the phone
	if s, b := register(other.Routes(), "bob"); s != status || b != body {
		t.Errorf("registration by bob: %d %s, want the same answer as for a new phone: %d %s", status, body, s, b)
	}

	expect("bob", phone)
	expect("ann")

	for name, got := range map[string]int{"delete": remove("ann"), "push-to-start": putStartToken("ann")} {
		if got != http.StatusNotFound {
			t.Errorf("%s of ann: %d, want 404", name, got)
		}
	}

	expect("bob", phone)

	// A renewal of the phone renews its owner, too.
	w.MoveClock(w.Clock.Now().Add(push.KeepDevice - time.Hour))
	putStartToken("bob")
	expect("bob", phone)
	register(routes, "ann")
	expect("ann", phone)
	expect("bob")

	if got := remove("ann"); got != http.StatusNoContent {
		t.Errorf("sign-out of ann: %d, want 204", got)
	}

	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		if d.Owner != "" {
			t.Errorf("after sign-out a row of an owner remains: %+v", d)
		}
	}

	// The row of the owner of an expired phone may be deleted first.
	testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{UserID: "ann", DeviceToken: phone, ExpiresAt: w.Clock.Now().Unix()})
	register(routes, "bob")

	if got := remove("ann"); got != http.StatusNoContent {
		t.Errorf("sign-out of an expired phone: %d, want 204", got)
	}

	expect("bob", phone)
}

// TestParallelRegistrationsAllSucceed: eight registrations in parallel all succeed, and
// all of the phones remain.
func TestParallelRegistrationsAllSucceed(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	d := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices)

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := d.RegisterDevice(w.NewContext(), registration("ann", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	if n := len(tokensOf(w, "ann")); n != 8 {
		t.Errorf("%d phones, want 8", n)
	}
}

// TestEleventhPhone replaces the one that was not used longest.
func TestEleventhPhone(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	d := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices)

	for _, phone := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "10", "11"} {
		w.MoveClock(w.Clock.Now().Add(time.Minute))
		_, err := d.RegisterDevice(w.NewContext(), registration("ann", phone))
		testkit.Must(t, err)
	}

	var want []string
	for _, phone := range []string{"0", "3", "4", "5", "6", "7", "8", "9", "10", "11"} {
		want = append(want, crickettest.Token(phone))
	}

	slices.Sort(want)

	if diff := cmp.Diff(want, tokensOf(w, "ann")); diff != "" {
		t.Errorf("phones (-want +got):\n%s", diff)
	}

	if err := ownershipError(w, func(follower.DeviceRow) bool { return true }); err != nil {
		t.Error(err)
	}
}

// TestRegistrationIsAConflictAfterAllAttempts: another registration comes first each
// time.
func TestRegistrationIsAConflictAfterAllAttempts(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	env := w.Env(follower.RegisterDeviceFunction())
	next, attempts := env.AWS.HTTPClient, 0
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
			attempts++
			testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{UserID: "ann", DeviceToken: follower.CounterRow, Registrations: int64(100 + attempts)})
		}

		return next.Do(r)
	})

	s := testkit.OpenWith(w.World, env, follower.OpenDevices)
	if _, err := s.RegisterDevice(w.NewContext(), registration("ann", "phone")); problem.Of(err) != problem.Conflict ||
		attempts != follower.RegisterTries {
		t.Errorf("after %d attempts: %v, want a conflict after %d", attempts, err, follower.RegisterTries)
	}

	if phones := tokensOf(w, "ann"); len(phones) != 0 {
		t.Errorf("phones %v, want none", phones)
	}
}

// TestManyPhonesAreDeletedInSteps: two registrations delete more rows than fit into one
// transaction.
func TestManyPhonesAreDeletedInSteps(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	all := []follower.DeviceRow{{UserID: "ann", DeviceToken: follower.CounterRow, Registrations: 5}}
	for i := range 150 {
		all = append(all, follower.DeviceRow{UserID: "ann", DeviceToken: crickettest.Token(fmt.Sprint(i))})
	}

	testkit.PutRows(w.World, tables.Devices, all...)

	d := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices)
	for range 2 {
		if _, err := d.RegisterDevice(w.NewContext(), registration("ann", "phone")); err != nil {
			t.Fatal(err)
		}
	}

	if got := tokensOf(w, "ann"); !slices.Equal(got, []string{crickettest.Token("phone")}) {
		t.Errorf("%d phones, want only the registered one", len(got))
	}
}

func TestRegisterDeviceCrashes(t *testing.T) {
	t.Parallel()

	for _, before := range []string{"", "old", "two", "another's a"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
				w := crickettest.New(t)
				again := testkit.Open(w.World, follower.RegisterDeviceFunction(), follower.OpenDevices)
				registerBefore(w, t, "ann", "", before)

				in := registration("ann", "new")
				if before == "another's a" {
					in = registration("ann", "a")
				}

				s := testkit.OpenWith(w.World, w.CrashingEnv(follower.RegisterDeviceFunction(), p), follower.OpenDevices)
				_, err := s.RegisterDevice(w.NewContext(), in)
				p.Ended(err)

				if n := len(tokensOf(w, "ann")) + len(tokensOf(w, "carol")); n == 0 && before != "" {
					t.Error("no phone after the crash, want the old or the new one")
				}

				_, err = again.RegisterDevice(w.NewContext(), in)
				testkit.Must(t, err)

				if err := ownershipError(w, func(follower.DeviceRow) bool { return true }); err != nil {
					t.Error(err)
				}

				return slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices),
					func(d follower.DeviceRow) bool { return d.Registrations != 0 })
			})
		})
	}
}

// TestDeleteDeviceCrashes: after a crash, a second sign-out deletes what remains of the
// phone and its owner.
func TestDeleteDeviceCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
		w := crickettest.New(t)
		registerBefore(w, t, "ann", "", "a")

		in := &follower.DeleteDevice{User: auth.User{UserID: "ann"}, DeviceID: push.TokenID(crickettest.TokenID("a"))}
		s := testkit.OpenWith(w.World, w.CrashingEnv(follower.DeleteDeviceFunction(), p), follower.OpenDevices)
		_, err := s.DeleteDevice(w.NewContext(), in)
		p.Ended(err)

		if err := ownershipError(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}

		// NotFound if the crash came after the call
		testkit.Open(w.World, follower.DeleteDeviceFunction(), follower.OpenDevices).DeleteDevice(w.NewContext(), in)

		return slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices),
			func(d follower.DeviceRow) bool { return d.Registrations != 0 })
	})
}

// TestPushToStartCrashes: a phone and the row of its owner are renewed together.
func TestPushToStartCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
		w := crickettest.New(t)
		registerBefore(w, t, "ann", "", "a")
		w.MoveClock(w.Clock.Now().Add(24 * time.Hour))

		in := &follower.UpdatePushToStart{User: auth.User{UserID: "ann"}}
		in.Body.DeviceToken, in.Body.Token = push.Token(crickettest.Token("a")), push.Token(crickettest.Token("start"))
		s := testkit.OpenWith(w.World, w.CrashingEnv(follower.UpdatePushToStartFunction(), p), follower.OpenDevices)
		_, err := s.UpdatePushToStart(w.NewContext(), in)
		p.Ended(err)

		if err := ownershipError(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}

		_, err = testkit.Open(w.World, follower.UpdatePushToStartFunction(), follower.OpenDevices).UpdatePushToStart(w.NewContext(), in)
		testkit.Must(t, err)

		return testkit.Rows[follower.DeviceRow](w.World, tables.Devices)
	})
}
