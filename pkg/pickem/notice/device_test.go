package notice_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
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
		{"first phone", pickemtest.TokenOf("red"), "ann", false, 200, "", []string{"red of ann"}},
		{"same phone, token in capitals", strings.ToUpper(pickemtest.TokenOf("red")), "ann", false, 200, "", []string{"red of ann"}},
		{"second phone", pickemtest.TokenOf("blue"), "ann", false, 200, "", []string{"red of ann", "blue of ann"}},
		{"phone of another member", pickemtest.TokenOf("blue"), "bob", false, 200, "", []string{"red of ann", "blue of bob"}},
		{"delete by the previous user", pickemtest.TokenOf("blue"), "ann", true, 404, "device_not_found", []string{"red of ann", "blue of bob"}},
		{"delete", strings.ToUpper(pickemtest.TokenOf("blue")), "bob", true, 204, "", []string{"red of ann"}},
		{"delete twice", pickemtest.TokenOf("blue"), "bob", true, 404, "device_not_found", []string{"red of ann"}},
		{"not a member", pickemtest.TokenOf("blue"), "nobody", false, 403, "not_a_member", []string{"red of ann"}},
	} {
		fn := notice.RegisterDeviceFunction
		if step.remove {
			fn = notice.DeleteDeviceFunction
		}
		out := w.Ask(fn, "/app/devices/"+step.token, step.user, "")
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
		if err := testkit.CheckProblemField(w.Ask(notice.RegisterDeviceFunction, "/app/devices/"+token, "ann", ""), 422, "path.deviceToken"); err != nil {
			t.Errorf("registering %q: %v", token, err)
		}
		if err := testkit.CheckProblemField(w.Ask(notice.DeleteDeviceFunction, "/app/devices/"+token, "ann", ""), 422, "path.deviceToken"); err != nil {
			t.Errorf("deleting %q: %v", token, err)
		}
	}
	out := w.Ask(notice.RegisterDeviceFunction, "/app/devices/"+pickemtest.TokenOf("red"), "ann", "")
	got := testkit.Decode[struct{ ExpiresAt time.Time }](w.World, out)
	kept := testkit.Row[notice.Device](w.World, tables.Pickem, notice.DevicePrefix+pickemtest.TokenOf("red"), notice.DeviceSK)
	if want := pickemtest.Noon.Add(push.KeepDevice); !got.ExpiresAt.Equal(want) || kept.TTL != want.Unix() {
		t.Errorf("expiresAt is %v and ttl %d, want %v", got.ExpiresAt, kept.TTL, want)
	}
}
