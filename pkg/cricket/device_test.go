package cricket

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo/dynamotest"
	"matchday/pkg/kit/fault"
)

// registering is a user's request to register the phone of that name.
func registering(user, phone string) *RegisterDevice {
	in := &RegisterDevice{User: auth.User{UserID: user}}
	in.Body.DeviceToken, in.Body.Platform, in.Body.Environment = token(phone), "ios", "production"
	return in
}

// phonesOf are the device tokens of a user, in order, as the table has them.
func (w *world) phonesOf(user string) (tokens []string) {
	for _, d := range rows[device](w, devices) {
		if d.UserID == user && d.DeviceToken != turnRow {
			tokens = append(tokens, d.DeviceToken)
		}
	}
	slices.Sort(tokens)
	return tokens
}

func TestDevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apis := w.fleetAPI()
	const who = "ann"
	seen := func() Device {
		t.Helper()
		var d Device
		out := ask(apis, GetDeviceFunction, "/user/device", who, "")
		if out.StatusCode != http.StatusOK {
			t.Fatalf("get-device answers %d %s", out.StatusCode, out.Body)
		}
		must(t, json.Unmarshal([]byte(out.Body), &d))
		return d
	}
	gone := func(when string) {
		t.Helper()
		if out := ask(apis, GetDeviceFunction, "/user/device", who, ""); out.StatusCode != http.StatusNotFound {
			t.Errorf("%s: get-device answers %d %s", when, out.StatusCode, out.Body)
		}
	}
	gone("before")
	first, second := token("first"), token("second")
	full := Device{
		DeviceToken: first, Platform: "ipados", OSVersion: "18.2.1", AppVersion: "2.4.0", Environment: "sandbox",
		Locale: "en-IN", TimeZone: "Asia/Kolkata", Frequent: true, ExpiresAt: w.clock.Now().Add(90 * 24 * time.Hour).Truncate(time.Second),
	}
	body := fmt.Sprintf(`{"deviceToken":%q,"platform":"ipados","osVersion":"18.2.1","appVersion":"2.4.0","environment":"sandbox",
		"locale":"en-IN","timeZone":"Asia/Kolkata","frequentPushesEnabled":true}`, strings.ToUpper(first))
	out := ask(apis, RegisterDeviceFunction, "/user/device", who, body)
	var answer Device
	must(t, json.Unmarshal([]byte(out.Body), &answer))
	if out.StatusCode != http.StatusCreated || answer != full || seen() != full {
		t.Errorf("registered %+v, answered %d %+v, want %+v", seen(), out.StatusCode, answer, full)
	}

	// The push-to-start token outlives a renewal, but not a new phone.
	start := func(device string) int {
		return ask(apis, UpdatePushToStartFunction, "/user/device/push-to-start", who, fmt.Sprintf(`{"deviceToken":%q,"pushToStartToken":%q}`, device, token("start"))).StatusCode
	}
	w.to(w.clock.Now().Add(24 * time.Hour))
	if got := start(first); got != http.StatusOK || !seen().PushToStart || !seen().ExpiresAt.After(full.ExpiresAt) {
		t.Errorf("push-to-start is answered with %d, and the phone is %+v", got, seen())
	}
	if got := start(second); got != http.StatusNotFound {
		t.Errorf("push-to-start of a phone that is not there is answered with %d", got)
	}
	ask(apis, RegisterDeviceFunction, "/user/device", who, body)
	if !seen().PushToStart {
		t.Error("a renewal has lost the push-to-start token")
	}
	out = ask(apis, RegisterDeviceFunction, "/user/device", who, `{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)
	if d := seen(); d.DeviceToken != second || d.PushToStart || !slices.Equal(w.phonesOf(who), []string{second}) {
		t.Errorf("after a second phone (%d) there are %v, and %+v is used", out.StatusCode, w.phonesOf(who), d)
	}

	// It goes by itself after 90 days, whether or not its row is gone.
	w.to(seen().ExpiresAt.Add(-time.Second))
	seen()
	w.to(w.clock.Now().Add(time.Second))
	gone("after 90 days")
	if got := start(second); got != http.StatusNotFound {
		t.Errorf("push-to-start after 90 days is answered with %d", got)
	}
	ask(apis, RegisterDeviceFunction, "/user/device", who, `{"deviceToken":"`+second+`","platform":"ios","environment":"production"}`)

	// A phone that signs out late does not take the newer one away.
	remove := func(device string) int {
		return ask(apis, DeleteDeviceFunction, "/user/device?deviceToken="+device, who, "").StatusCode
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
	ask(apis, RegisterDeviceFunction, "/user/device", who, body)
	if !slices.Equal(w.phonesOf(who), []string{first}) {
		t.Errorf("after it signed out there are %v", w.phonesOf(who))
	}
}

func TestDeviceRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apis := w.fleetAPI()
	for _, c := range []struct {
		fields string // instead of the good ones
		status int
		field  string
	}{
		{`"deviceToken":""`, 422, "body.deviceToken"},
		{`"deviceToken":"~"`, 422, "body.deviceToken"},
		{`"deviceToken":"00112233445566778899aabbccddeefg"`, 422, "body.deviceToken"},
		{`"deviceToken":"` + strings.Repeat("0", 514) + `"`, 422, "body.deviceToken"},
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
		body := map[string]any{"deviceToken": token("phone"), "platform": "ios", "environment": "production"}
		must(t, json.Unmarshal([]byte("{"+c.fields+"}"), &body))
		text, err := json.Marshal(body)
		must(t, err)
		if err := blames(ask(apis, RegisterDeviceFunction, "/user/device", "ann", string(text)), c.status, c.field); err != nil {
			t.Errorf("%s: %v", c.fields, err)
		}
	}
	for _, missing := range []string{"deviceToken", "pushToStartToken"} {
		body := map[string]string{"deviceToken": token("phone"), "pushToStartToken": token("start")}
		body[missing] = "not hexadecimal, though long enough"
		text, err := json.Marshal(body)
		must(t, err)
		if err := blames(ask(apis, UpdatePushToStartFunction, "/user/device/push-to-start", "ann", string(text)), 422, "body."+missing); err != nil {
			t.Error(err)
		}
	}
	if n := len(rows[device](w, devices)); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

// TestMajorOf: a phone that does not say is taken for one that cannot join a
// broadcast channel.
func TestMajorOf(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"": 17, "18": 18, "18.2.1": 18, "16.4": 16, "26.0": 26, "beta": 17, ".1": 17} {
		if got := majorOf(version); got != want {
			t.Errorf("%q is %d, want %d", version, got, want)
		}
	}
	w := newWorld(t)
	_, err := open(w, RegisterDeviceFunction, OpenDevices).RegisterDevice(w.ctx(), registering("ann", "phone"))
	must(t, err)
	if d := row[device](w, updatePushToStart, "ann", token("phone")); d.OSMajor != 17 {
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

// TestSingleDevice registers phones of one user at once, their calls in any
// order: all are told that it worked, and one of them is left.
func TestSingleDevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	users := 0
	rapid.Check(t, func(rt *rapid.T) {
		users++
		user := fmt.Sprint("user ", users)
		before := rapid.SampledFrom([]string{"", "old", "a", "signed out", "two", "swept"}).Draw(rt, "before")
		d := open(w, RegisterDeviceFunction, OpenDevices)
		w.prepare(rt, d, user, before)
		phones := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 2, 4).Draw(rt, "phones")
		stile := newTurnstile()
		for i, phone := range phones {
			env := w.env(RegisterDeviceFunction)
			next := env.AWS.HTTPClient
			caller := fmt.Sprint(i, " ", phone)
			env.AWS.HTTPClient = doer(func(r *http.Request) (*http.Response, error) { stile.wait(caller); return next.Do(r) })
			stile.enter()
			go func() {
				defer stile.leave()
				s, err := OpenDevices(w.ctx(), env)
				if err == nil {
					_, err = s.RegisterDevice(w.ctx(), registering(user, phone))
				}
				if err != nil {
					rt.Errorf("%s: %v", caller, err)
				}
			}()
		}
		for stile.pass(func(callers []string) string { return rapid.SampledFrom(callers).Draw(rt, "next") }) {
		}
		left := w.phonesOf(user)
		if len(left) != 1 || !slices.ContainsFunc(phones, func(p string) bool { return token(p) == left[0] }) {
			rt.Fatalf("%d phones are left", len(left))
		}
	})
}

// prepare gives a user what may have been before.
func (w *world) prepare(t rapidT, d *Devices, user, before string) {
	register := func(phone string) {
		if _, err := d.RegisterDevice(w.ctx(), registering(user, phone)); err != nil {
			t.Fatalf("%v", err)
		}
	}
	switch before {
	case "old", "a":
		register(before)
	case "signed out":
		register("old")
		in := &DeleteDevice{User: auth.User{UserID: user}, DeviceToken: token("old")}
		if _, err := open(w, DeleteDeviceFunction, OpenDevices).DeleteDevice(w.ctx(), in); err != nil {
			t.Fatalf("%v", err)
		}
	case "two": // none of ours
		w.put(devices, device{UserID: user, DeviceToken: token("x")}, device{UserID: user, DeviceToken: token("y")})
	case "swept": // the row of turns has expired first
		w.put(devices, device{UserID: user, DeviceToken: token("x")})
	}
}

type rapidT interface{ Fatalf(string, ...any) }

// TestCrowdOfPhones registers them really at once.
func TestCrowdOfPhones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := open(w, RegisterDeviceFunction, OpenDevices)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := d.RegisterDevice(w.ctx(), registering("ann", fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(w.phonesOf("ann")); n != 1 {
		t.Errorf("%d phones are left", n)
	}
}

// TestRegisterGivesUp has another registration come first each time.
func TestRegisterGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := w.env(RegisterDeviceFunction)
	next, turns := env.AWS.HTTPClient, 0
	env.AWS.HTTPClient = doer(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
			turns++
			w.put(devices, device{UserID: "ann", DeviceToken: turnRow, Turn: int64(100 + turns)})
		}
		return next.Do(r)
	})
	s, err := OpenDevices(w.ctx(), env)
	must(t, err)
	if _, err := s.RegisterDevice(w.ctx(), registering("ann", "phone")); fault.Of(err) != fault.Conflict || turns != registerTries {
		t.Errorf("after %d tries: %v", turns, err)
	}
	if phones := w.phonesOf("ann"); len(phones) != 0 {
		t.Errorf("there are %v", phones)
	}
}

// TestManyPhones has more rows than one transaction takes.
func TestManyPhones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []any
	for i := range 150 {
		all = append(all, device{UserID: "ann", DeviceToken: token(fmt.Sprint(i))})
	}
	w.putAll(devices, append(all, device{UserID: "ann", DeviceToken: turnRow, Turn: 5}))
	d := open(w, RegisterDeviceFunction, OpenDevices)
	for range 2 {
		if _, err := d.RegisterDevice(w.ctx(), registering("ann", "phone")); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.phonesOf("ann"); !slices.Equal(got, []string{token("phone")}) {
		t.Errorf("there are %d phones", len(got))
	}
}

func TestRegisterDeviceCrashes(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "old", "two"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			dynamotest.Crash(t, func(t *testing.T, p *dynamotest.Process) []device {
				w := newWorld(t)
				again := open(w, RegisterDeviceFunction, OpenDevices)
				w.prepare(t, again, "ann", before)
				s, err := OpenDevices(w.ctx(), w.crashing(RegisterDeviceFunction, p))
				must(t, err)
				s.RegisterDevice(w.ctx(), registering("ann", "new"))
				if n := len(w.phonesOf("ann")); n == 0 && before != "" {
					t.Error("the crash leaves no phone")
				}
				_, err = again.RegisterDevice(w.ctx(), registering("ann", "new"))
				must(t, err)
				return slices.DeleteFunc(rows[device](w, devices), func(d device) bool { return d.DeviceToken == turnRow })
			})
		})
	}
}
