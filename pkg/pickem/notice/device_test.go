package notice_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// TestPhoneBelongsToItsLastUser: only this user can delete the registration.
func TestPhoneBelongsToItsLastUser(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	for _, step := range []struct {
		name, token, user string
		remove            bool
		status            int
		code              string
		want              []string
	}{
		{"first phone", pickemtest.TokenOf("red"), "ann", false, 201, "", []string{"red of ann"}},
		{"same phone, token in capitals", strings.ToUpper(pickemtest.TokenOf("red")), "ann", false, 201, "", []string{"red of ann"}},
		{"second phone", pickemtest.TokenOf("blue"), "ann", false, 201, "", []string{"red of ann", "blue of ann"}},
		{"phone of another member", pickemtest.TokenOf("blue"), "bob", false, 201, "", []string{"red of ann", "blue of bob"}},
		{"delete by the previous user", pickemtest.TokenOf("blue"), "ann", true, 404, "device_not_found", []string{"red of ann", "blue of bob"}},
		{"delete", strings.ToUpper(pickemtest.TokenOf("blue")), "bob", true, 204, "", []string{"red of ann"}},
		{"delete twice", pickemtest.TokenOf("blue"), "bob", true, 404, "device_not_found", []string{"red of ann"}},
		{"not a member", pickemtest.TokenOf("blue"), "nobody", false, 403, "not_a_member", []string{"red of ann"}},
	} {
		fn, target, body := notice.RegisterDeviceFunction(), "/app/devices", any(map[string]string{"deviceToken": step.token})
		if step.remove {
			fn, target, body = notice.DeleteDeviceFunction(), "/app/devices/"+string(push.Token(step.token).ID()), ""
		}
		out := w.Ask(fn, target, step.user, body)
		if step.code != "" {
			if err := testkit.CheckProblemCode(out, step.status, step.code); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		} else if out.StatusCode != step.status {
			t.Errorf("%s: %d %s, want %d", step.name, out.StatusCode, out.Body, step.status)
		}
		if got := w.RegisteredPhones("red", "blue"); !slices.Equal(got, step.want) {
			t.Errorf("%s: phones (-want +got):\n%s", step.name, cmp.Diff(step.want, got))
		}
	}
	for _, token := range []string{"0", strings.Repeat("0", 30), strings.Repeat("0", 33), strings.Repeat("x", 64), strings.Repeat("0", 202)} {
		if err := testkit.CheckProblemField(w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann", map[string]string{"deviceToken": token}), 422, "body.deviceToken"); err != nil {
			t.Errorf("registering %q: %v", token, err)
		}
		if err := testkit.CheckProblemField(w.Ask(notice.DeleteDeviceFunction(), "/app/devices/"+token, "ann", ""), 422, "path.deviceId"); err != nil {
			t.Errorf("deleting %q: %v", token, err)
		}
	}
	out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann", map[string]string{"deviceToken": pickemtest.TokenOf("red")})
	got := testkit.Decode[struct{ ExpiresAt time.Time }](w.World, out)
	kept := testkit.Row[notice.Device](w.World, tables.Pickem, notice.DevicePrefix+pickemtest.TokenOf("red"), notice.DeviceSK)
	if want := pickemtest.Noon.Add(push.KeepDevice); !got.ExpiresAt.Equal(want) || kept.TTL != want.Unix() {
		t.Errorf("expiresAt is %v and ttl %d, want %v", got.ExpiresAt, kept.TTL, want)
	}
}

// TestPhonesAreLimited: a member with the maximum of phones can renew one, and can
// register another after one was deleted or passed to another member. Concurrent requests
// do not exceed the maximum.
func TestPhonesAreLimited(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	register := func(name, user string) string {
		out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", user, map[string]string{"deviceToken": pickemtest.TokenOf(name)})
		if testkit.CheckProblemCode(out, http.StatusConflict, "too_many_devices") == nil {
			return "refused"
		}
		return fmt.Sprint(out.StatusCode)
	}
	for i := range notice.MaxDevices - 1 {
		w.RegisterPhone(fmt.Sprint(i), "ann")
	}
	var wg sync.WaitGroup
	answers := make([]string, 3)
	for i := range answers {
		wg.Go(func() { answers[i] = register(fmt.Sprint("last", i), "ann") })
	}
	wg.Wait()
	if slices.Sort(answers); !slices.Equal(answers, []string{"201", "refused", "refused"}) {
		t.Errorf("three concurrent requests for the last place: %q, want one of them", answers)
	}
	for _, c := range []struct{ when, phone, user, want string }{
		{"a renewal", "0", "ann", "201"},
		{"one too many", "more", "ann", "refused"},
		{"a phone of ann for bob", "1", "bob", "201"},
		{"after it passed to bob", "more", "ann", "201"},
		{"one too many again", "again", "ann", "refused"},
	} {
		if got := register(c.phone, c.user); got != c.want {
			t.Errorf("%s: %s, want %s", c.when, got, c.want)
		}
	}
	w.Ask(notice.DeleteDeviceFunction(), "/app/devices/"+pickemtest.DeviceID("2"), "ann", "")
	if got := register("again", "ann"); got != "201" {
		t.Errorf("after a deletion: %s, want 201", got)
	}
}

func TestRegisterDeviceCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		w := pickemtest.New(t)
		w.AddMembers("ann")
		in := &notice.RegisterDevice{User: auth.User{UserID: "ann"}}
		in.Body.DeviceToken = push.Token(pickemtest.TokenOf("red"))
		_, err := testkit.OpenWith(w.World, w.CrashingEnv(notice.RegisterDeviceFunction(), p), notice.OpenDevices).RegisterDevice(w.NewContext(), in)
		p.Ended(err)
		_, err = testkit.Open(w.World, notice.RegisterDeviceFunction(), notice.OpenDevices).RegisterDevice(w.NewContext(), in)
		testkit.Must(t, err)
		return append(w.RegisteredPhones("red"), testkit.Row[dynamo.List](w.World, tables.Pickem, "USER#ann", "DEVICES").IDs...)
	})
}
