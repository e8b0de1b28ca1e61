package follower_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"
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

// registering is a user's request to register the phone of that name.
func registering(user, phone string) *follower.RegisterDevice {
	in := &follower.RegisterDevice{User: auth.User{UserID: user}}
	in.Body.DeviceToken, in.Body.Platform, in.Body.Environment = push.Token(crickettest.Token(phone)), "ios", "production"
	return in
}

// phonesOf are the device tokens of a user, in order, as the table has them.
func phonesOf(w *crickettest.World, user string) (tokens []string) {
	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		if d.UserID == user && d.DeviceToken != follower.TurnRow {
			tokens = append(tokens, d.DeviceToken)
		}
	}
	slices.Sort(tokens)
	return tokens
}

func TestDevice(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	const who = "ann"
	seen := func() follower.Device {
		t.Helper()
		var d follower.Device
		out := testkit.Ask(routes, follower.GetDeviceFunction, "/user/device", who, "")
		if out.StatusCode != http.StatusOK {
			t.Fatalf("get-device answers %d %s", out.StatusCode, out.Body)
		}
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &d))
		return d
	}
	gone := func(when string) {
		t.Helper()
		if out := testkit.Ask(routes, follower.GetDeviceFunction, "/user/device", who, ""); out.StatusCode != http.StatusNotFound {
			t.Errorf("%s: get-device answers %d %s", when, out.StatusCode, out.Body)
		}
	}
	gone("before")
	first, second := crickettest.Token("first"), crickettest.Token("second")
	full := follower.Device{
		DeviceToken: first, Platform: "ipados", OSVersion: "18.2.1", AppVersion: "2.4.0", Environment: "sandbox",
		Locale: "en-IN", TimeZone: "Asia/Kolkata", Frequent: true, ExpiresAt: w.Clock.Now().Add(90 * 24 * time.Hour).Truncate(time.Second),
	}
	body := fmt.Sprintf(`{"deviceToken":%q,"platform":"ipados","osVersion":"18.2.1","appVersion":"2.4.0","environment":"sandbox",
		"locale":"en-IN","timeZone":"Asia/Kolkata","frequentPushesEnabled":true}`, strings.ToUpper(first))
	out := testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", who, body)
	var answer follower.Device
	testkit.Must(t, json.Unmarshal([]byte(out.Body), &answer))
	if out.StatusCode != http.StatusCreated || answer != full || seen() != full {
		t.Errorf("registered %+v, answered %d %+v, want %+v", seen(), out.StatusCode, answer, full)
	}

	// The push-to-start token outlives a renewal, but not a new phone.
	start := func(device string) int {
		return testkit.Ask(routes, follower.UpdatePushToStartFunction, "/user/device/push-to-start", who, fmt.Sprintf(`{"deviceToken":%q,"pushToStartToken":%q}`, device, crickettest.Token("start"))).StatusCode
	}
	w.To(w.Clock.Now().Add(24 * time.Hour))
	if got := start(first); got != http.StatusOK || !seen().PushToStart || !seen().ExpiresAt.After(full.ExpiresAt) {
		t.Errorf("push-to-start is answered with %d, and the phone is %+v", got, seen())
	}
	if got := start(second); got != http.StatusNotFound {
		t.Errorf("push-to-start of a phone that is not there is answered with %d", got)
	}
	testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", who, body)
	if !seen().PushToStart {
		t.Error("a renewal has lost the push-to-start token")
	}
	out = testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", who, `{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)
	if d := seen(); d.DeviceToken != second || d.PushToStart || !slices.Equal(phonesOf(w, who), []string{second}) {
		t.Errorf("after a second phone (%d) there are %v, and %+v is used", out.StatusCode, phonesOf(w, who), d)
	}

	// It goes by itself after 90 days, whether or not its row is gone.
	w.To(seen().ExpiresAt.Add(-time.Second))
	seen()
	w.To(w.Clock.Now().Add(time.Second))
	gone("after 90 days")
	if got := start(second); got != http.StatusNotFound {
		t.Errorf("push-to-start after 90 days is answered with %d", got)
	}
	testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", who, `{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)

	// A phone that signs out late does not take the newer one away.
	remove := func(device string) int {
		return testkit.Ask(routes, follower.DeleteDeviceFunction, "/user/device?deviceToken="+device, who, "").StatusCode
	}
	if got := remove(first); got != http.StatusNotFound || seen().DeviceToken != second {
		t.Errorf("the old phone signs out with %d", got)
	}
	if got := remove(strings.ToUpper(second)); got != http.StatusNoContent {
		t.Errorf("the phone signs out with %d", got)
	}
	gone("after signing out")
	if got := remove(second); got != http.StatusNotFound {
		t.Errorf("it signs out again with %d", got)
	}
	if got := remove("~"); got != http.StatusUnprocessableEntity {
		t.Errorf("a token that is none is answered with %d", got)
	}
	testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", who, body)
	if !slices.Equal(phonesOf(w, who), []string{first}) {
		t.Errorf("after it signed out there are %v", phonesOf(w, who))
	}
}

func TestDeviceRefusals(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	for _, c := range []struct {
		fields string // instead of the good ones
		status int
		field  string
	}{
		{`"deviceToken":""`, 422, "body.deviceToken"},
		{`"deviceToken":"~"`, 422, "body.deviceToken"},
		{`"deviceToken":"00112233445566778899aabbccddeefg"`, 422, "body.deviceToken"},
		{`"deviceToken":"` + strings.Repeat("0", 63) + `"`, 422, "body.deviceToken"}, // half a byte
		{`"deviceToken":"` + strings.Repeat("0", 202) + `"`, 422, "body.deviceToken"},
		{`"platform":"android"`, 422, "body.platform"},
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
		if err := testkit.Blames(testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", "ann", string(text)), c.status, c.field); err != nil {
			t.Errorf("%s: %v", c.fields, err)
		}
	}
	for _, missing := range []string{"deviceToken", "pushToStartToken"} {
		body := map[string]string{"deviceToken": crickettest.Token("phone"), "pushToStartToken": crickettest.Token("start")}
		body[missing] = "not hexadecimal, though long enough"
		text, err := json.Marshal(body)
		testkit.Must(t, err)
		if err := testkit.Blames(testkit.Ask(routes, follower.UpdatePushToStartFunction, "/user/device/push-to-start", "ann", string(text)), 422, "body."+missing); err != nil {
			t.Error(err)
		}
	}
	if n := len(testkit.Rows[follower.DeviceRow](w.World, tables.Devices)); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

// TestMajorOf: a phone that does not say is taken for one that cannot join a
// broadcast channel.
func TestMajorOf(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"": 17, "18": 18, "18.2.1": 18, "16.4": 16, "26.0": 26, "beta": 17, ".1": 17} {
		if got := follower.MajorOf(version); got != want {
			t.Errorf("%q is %d, want %d", version, got, want)
		}
	}
	w := crickettest.New(t)
	_, err := testkit.Open(w.World, follower.RegisterDeviceFunction, follower.OpenDevices).RegisterDevice(w.Ctx(), registering("ann", "phone"))
	testkit.Must(t, err)
	if d := testkit.Row[follower.DeviceRow](w.World, tables.Devices, "ann", crickettest.Token("phone")); d.OSMajor != 17 {
		t.Errorf("stored is %+v", d)
	}
}

// turnstile lets one I/O call of its callers pass at a time, the one that is picked.
type turnstile struct {
	mu      sync.Mutex
	waiting map[string]chan struct{} // by caller
	running int
	idle    *sync.Cond // nobody runs
}

func newTurnstile() *turnstile {
	s := &turnstile{waiting: map[string]chan struct{}{}}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// enter begins a caller; leave ends it; wait holds it before a call.
func (s *turnstile) enter() { s.mu.Lock(); s.running++; s.mu.Unlock() }

func (s *turnstile) leave() { s.mu.Lock(); s.running--; s.mu.Unlock(); s.idle.Signal() }

func (s *turnstile) wait(caller string) {
	pass := make(chan struct{})
	s.mu.Lock()
	s.waiting[caller] = pass
	s.running--
	s.mu.Unlock()
	s.idle.Signal()
	<-pass
}

// pass lets one of the callers that wait make its call, and reports whether there
// was any.
func (s *turnstile) pass(pick func(callers []string) string) bool {
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

// disowned reports what is wrong with who has which phone: a user has one at
// most, a phone one user at most, who is its owner for as long as it is
// registered.
func disowned(w *crickettest.World, ours func(follower.DeviceRow) bool) error {
	users, phones, owners := map[string]int{}, map[string]int{}, map[string]follower.DeviceRow{}
	all := slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices), func(d follower.DeviceRow) bool { return !ours(d) })
	for _, d := range all {
		if token, ok := strings.CutPrefix(d.UserID, "#TOKEN#"); ok {
			owners[token] = d
		}
	}
	for _, d := range all {
		if d.DeviceToken == follower.TurnRow || d.ExpiresAt <= w.Clock.Now().Unix() { // what has expired is nobody's
			continue
		}
		users[d.UserID]++
		phones[d.DeviceToken]++
		o := owners[d.DeviceToken]
		if users[d.UserID] > 1 || phones[d.DeviceToken] > 1 || o.Owner != d.UserID || o.ExpiresAt < d.ExpiresAt {
			return fmt.Errorf("%s has %d phones, one is %d users', and %s's until %d, though registered until %d",
				d.UserID, users[d.UserID], phones[d.DeviceToken], o.Owner, o.ExpiresAt, d.ExpiresAt)
		}
	}
	return nil
}

// TestSingleDevice registers phones of two users at once, their calls in any
// order: all are told that it worked, and each user is left with one phone, or
// with none if the other registered the same one later.
func TestSingleDevice(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		run := fmt.Sprint("run ", runs, ": ")
		users := []string{run + "ann", run + "bob"}
		before := rapid.SampledFrom([]string{"", "old", "a", "signed out", "two", "swept", "another's a"}).Draw(rt, "before")
		prepare(w, rt, users[0], run, before)
		type registration struct{ user, phone string }
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) registration {
			return registration{rapid.SampledFrom(users).Draw(t, "user"), run + rapid.SampledFrom([]string{"a", "a", "b"}).Draw(t, "phone")}
		}), 2, 4).Draw(rt, "registrations")
		stile := newTurnstile()
		for i, r := range all {
			env := w.Env(follower.RegisterDeviceFunction)
			next := env.AWS.HTTPClient
			caller := fmt.Sprint(i, r)
			env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) { stile.wait(caller); return next.Do(r) })
			stile.enter()
			go func() {
				defer stile.leave()
				s, err := follower.OpenDevices(w.Ctx(), env)
				if err == nil {
					_, err = s.RegisterDevice(w.Ctx(), registering(r.user, r.phone))
				}
				if err != nil {
					rt.Errorf("%s: %v", caller, err)
				}
			}()
		}
		for stile.pass(func(callers []string) string { return rapid.SampledFrom(callers).Draw(rt, "next") }) {
		}
		left := map[string][]string{}
		for _, user := range users {
			left[user] = phonesOf(w, user)
		}
		if len(left[users[0]])+len(left[users[1]]) == 0 {
			rt.Fatalf("no phone is left")
		}
		for _, r := range all {
			lone := !slices.ContainsFunc(all, func(o registration) bool { return o.user != r.user })
			mine := slices.ContainsFunc(all, func(o registration) bool {
				return o.user == r.user && slices.Equal(left[r.user], []string{crickettest.Token(o.phone)})
			})
			if !mine && (lone || len(left[r.user]) > 0) {
				rt.Fatalf("%s is left with %q", r.user, left[r.user])
			}
		}
		if err := disowned(w, func(d follower.DeviceRow) bool {
			return slices.Contains(users, d.UserID) || slices.ContainsFunc([]string{"a", "b", "old"}, func(p string) bool { return d.UserID == "#TOKEN#"+crickettest.Token(run+p) })
		}); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}

// prepare gives a user what may have been before; the phones' names begin with run.
func prepare(w *crickettest.World, t rapidT, user, run, before string) {
	d := testkit.Open(w.World, follower.RegisterDeviceFunction, follower.OpenDevices)
	register := func(user, phone string) {
		if _, err := d.RegisterDevice(w.Ctx(), registering(user, run+phone)); err != nil {
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
		if _, err := testkit.Open(w.World, follower.UpdatePushToStartFunction, follower.OpenDevices).UpdatePushToStart(w.Ctx(), start); err != nil {
			t.Fatalf("%v", err)
		}
	case "signed out":
		register(user, "old")
		in := &follower.DeleteDevice{User: auth.User{UserID: user}, DeviceToken: push.Token(crickettest.Token(run + "old"))}
		if _, err := testkit.Open(w.World, follower.DeleteDeviceFunction, follower.OpenDevices).DeleteDevice(w.Ctx(), in); err != nil {
			t.Fatalf("%v", err)
		}
	case "two": // none of ours
		testkit.Put(w.World, tables.Devices, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("x")}, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("y")})
	case "swept": // the row of turns has expired first
		testkit.Put(w.World, tables.Devices, follower.DeviceRow{UserID: user, DeviceToken: crickettest.Token("x")})
	}
}

// TestSignedOver has a phone pass from ann to bob, who did not sign out.
func TestSignedOver(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	routes := w.Routes()
	phone := crickettest.Token("phone")
	register := func(routes map[string]testkit.Route, user string) (status int, body string) {
		out := testkit.Ask(routes, follower.RegisterDeviceFunction, "/user/device", user, `{"deviceToken":"`+phone+`","platform":"ios","environment":"production"}`)
		return out.StatusCode, out.Body
	}
	has := func(user string, want ...string) {
		t.Helper()
		out := testkit.Ask(routes, follower.GetDeviceFunction, "/user/device", user, "")
		if got := phonesOf(w, user); !slices.Equal(got, want) || (out.StatusCode == http.StatusOK) != (want != nil) {
			t.Errorf("%s has %q, and is answered with %d %s; want %q", user, got, out.StatusCode, out.Body, want)
		}
		if err := disowned(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}
	}
	remove := func(user string) int {
		return testkit.Ask(routes, follower.DeleteDeviceFunction, "/user/device?deviceToken="+phone, user, "").StatusCode
	}
	start := func(user string) int {
		return testkit.Ask(routes, follower.UpdatePushToStartFunction, "/user/device/push-to-start", user, `{"deviceToken":"`+phone+`","pushToStartToken":"`+crickettest.Token("start")+`"}`).StatusCode
	}
	register(routes, "ann")
	if got := start("ann"); got != http.StatusOK {
		t.Errorf("ann's push-to-start is answered with %d", got)
	}
	if got := start("bob"); got != http.StatusNotFound {
		t.Errorf("bob's push-to-start is answered with %d", got)
	}
	has("ann", phone)
	status, body := register(routes, "bob")
	elsewhere := crickettest.New(t) // where nobody has the phone
	if s, b := register(elsewhere.Routes(), "bob"); s != status || b != body {
		t.Errorf("bob can tell that the phone was another's by %d %s: it would be %d %s", status, body, s, b)
	}
	has("bob", phone)
	has("ann")
	for name, got := range map[string]int{"delete": remove("ann"), "push-to-start": start("ann")} {
		if got != http.StatusNotFound {
			t.Errorf("ann's %s is answered with %d", name, got)
		}
	}
	has("bob", phone)

	// Seeing the phone keeps its owner, too.
	w.To(w.Clock.Now().Add(push.KeepDevice - time.Hour))
	start("bob")
	has("bob", phone)
	register(routes, "ann")
	has("ann", phone)
	has("bob")
	if got := remove("ann"); got != http.StatusNoContent {
		t.Errorf("ann signs out with %d", got)
	}
	for _, d := range testkit.Rows[follower.DeviceRow](w.World, tables.Devices) {
		if d.Owner != "" {
			t.Errorf("nobody's phone has an owner: %+v", d)
		}
	}

	// The token's row of an expired phone may be swept first.
	testkit.Put(w.World, tables.Devices, follower.DeviceRow{UserID: "ann", DeviceToken: phone, ExpiresAt: w.Clock.Now().Unix()})
	register(routes, "bob")
	if got := remove("ann"); got != http.StatusNoContent {
		t.Errorf("what has expired is removed with %d", got)
	}
	has("bob", phone)
}

type rapidT interface{ Fatalf(string, ...any) }

// TestCrowdOfPhones registers them really at once.
func TestCrowdOfPhones(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	d := testkit.Open(w.World, follower.RegisterDeviceFunction, follower.OpenDevices)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := d.RegisterDevice(w.Ctx(), registering("ann", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(phonesOf(w, "ann")); n != 1 {
		t.Errorf("%d phones are left", n)
	}
}

// TestRegisterGivesUp has another registration come first each time.
func TestRegisterGivesUp(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	env := w.Env(follower.RegisterDeviceFunction)
	next, turns := env.AWS.HTTPClient, 0
	env.AWS.HTTPClient = smithyhttp.ClientDoFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
			turns++
			testkit.Put(w.World, tables.Devices, follower.DeviceRow{UserID: "ann", DeviceToken: follower.TurnRow, Turn: int64(100 + turns)})
		}
		return next.Do(r)
	})
	s := testkit.OpenWith(w.World, env, follower.OpenDevices)
	if _, err := s.RegisterDevice(w.Ctx(), registering("ann", "phone")); problem.Of(err) != problem.Conflict || turns != follower.RegisterTries {
		t.Errorf("after %d tries: %v", turns, err)
	}
	if phones := phonesOf(w, "ann"); len(phones) != 0 {
		t.Errorf("there are %v", phones)
	}
}

// TestManyPhones has more rows than one transaction takes.
func TestManyPhones(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	all := []follower.DeviceRow{{UserID: "ann", DeviceToken: follower.TurnRow, Turn: 5}}
	for i := range 150 {
		all = append(all, follower.DeviceRow{UserID: "ann", DeviceToken: crickettest.Token(fmt.Sprint(i))})
	}
	testkit.Put(w.World, tables.Devices, all...)
	d := testkit.Open(w.World, follower.RegisterDeviceFunction, follower.OpenDevices)
	for range 2 {
		if _, err := d.RegisterDevice(w.Ctx(), registering("ann", "phone")); err != nil {
			t.Fatal(err)
		}
	}
	if got := phonesOf(w, "ann"); !slices.Equal(got, []string{crickettest.Token("phone")}) {
		t.Errorf("there are %d phones", len(got))
	}
}

func TestRegisterDeviceCrashes(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "old", "two", "another's a"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
				w := crickettest.New(t)
				again := testkit.Open(w.World, follower.RegisterDeviceFunction, follower.OpenDevices)
				prepare(w, t, "ann", "", before)
				in := registering("ann", "new")
				if before == "another's a" {
					in = registering("ann", "a")
				}
				s := testkit.OpenWith(w.World, w.Crashing(follower.RegisterDeviceFunction, p), follower.OpenDevices)
				s.RegisterDevice(w.Ctx(), in)
				if n := len(phonesOf(w, "ann")) + len(phonesOf(w, "carol")); n == 0 && before != "" {
					t.Error("the crash leaves no phone")
				}
				_, err := again.RegisterDevice(w.Ctx(), in)
				testkit.Must(t, err)
				if err := disowned(w, func(follower.DeviceRow) bool { return true }); err != nil {
					t.Error(err)
				}
				return slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices), func(d follower.DeviceRow) bool { return d.Turn != 0 })
			})
		})
	}
}

// TestDeleteDeviceCrashes: what a crash leaves of a phone and its owner, signing
// out again removes.
func TestDeleteDeviceCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
		w := crickettest.New(t)
		prepare(w, t, "ann", "", "a")
		in := &follower.DeleteDevice{User: auth.User{UserID: "ann"}, DeviceToken: push.Token(crickettest.Token("a"))}
		s := testkit.OpenWith(w.World, w.Crashing(follower.DeleteDeviceFunction, p), follower.OpenDevices)
		s.DeleteDevice(w.Ctx(), in)
		if err := disowned(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}
		testkit.Open(w.World, follower.DeleteDeviceFunction, follower.OpenDevices).DeleteDevice(w.Ctx(), in) // NotFound, if the crash came after the call
		return slices.DeleteFunc(testkit.Rows[follower.DeviceRow](w.World, tables.Devices), func(d follower.DeviceRow) bool { return d.Turn != 0 })
	})
}

// TestPushToStartCrashes: a phone and its owner's row are renewed as one.
func TestPushToStartCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []follower.DeviceRow {
		w := crickettest.New(t)
		prepare(w, t, "ann", "", "a")
		w.To(w.Clock.Now().Add(24 * time.Hour))
		in := &follower.UpdatePushToStart{User: auth.User{UserID: "ann"}}
		in.Body.DeviceToken, in.Body.Token = push.Token(crickettest.Token("a")), push.Token(crickettest.Token("start"))
		s := testkit.OpenWith(w.World, w.Crashing(follower.UpdatePushToStartFunction, p), follower.OpenDevices)
		s.UpdatePushToStart(w.Ctx(), in)
		if err := disowned(w, func(follower.DeviceRow) bool { return true }); err != nil {
			t.Error(err)
		}
		_, err := testkit.Open(w.World, follower.UpdatePushToStartFunction, follower.OpenDevices).UpdatePushToStart(w.Ctx(), in)
		testkit.Must(t, err)
		return testkit.Rows[follower.DeviceRow](w.World, tables.Devices)
	})
}
