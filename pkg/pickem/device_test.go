package pickem

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/push"
)

// tokenOf is the push token of a phone that has a name.
func tokenOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// phone registers a phone of the name for a user.
func (w *world) phone(name, user string) {
	w.T.Helper()
	if out := w.ask(RegisterDeviceFunction, "/app/devices/"+tokenOf(name), user, ""); out.StatusCode != http.StatusOK {
		w.T.Fatalf("%s registers the phone %s: %d %s", user, name, out.StatusCode, out.Body)
	}
}

// phones are whose phones are registered, by name.
func (w *world) registered(names ...string) (all []string) {
	w.T.Helper()
	rows := testkit.Rows[device](w.World, table)
	for _, name := range names {
		if i := slices.IndexFunc(rows, func(d device) bool { return d.Token == tokenOf(name) }); i >= 0 {
			all = append(all, name+" of "+strings.TrimPrefix(rows[i].BelongsTo, "USER#"))
		}
	}
	return all
}

func TestDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join("ann", "bob")
	for _, step := range []struct {
		name, token, user string
		remove            bool
		status            int
		code              string
		want              []string
	}{
		{"a phone", tokenOf("red"), "ann", false, 200, "", []string{"red of ann"}},
		{"the same, in capitals", strings.ToUpper(tokenOf("red")), "ann", false, 200, "", []string{"red of ann"}},
		{"a second", tokenOf("blue"), "ann", false, 200, "", []string{"red of ann", "blue of ann"}},
		{"another signs in on it", tokenOf("blue"), "bob", false, 200, "", []string{"red of ann", "blue of bob"}},
		{"who has lost it cannot remove it", tokenOf("blue"), "ann", true, 404, "device_not_found", []string{"red of ann", "blue of bob"}},
		{"removed", strings.ToUpper(tokenOf("blue")), "bob", true, 204, "", []string{"red of ann"}},
		{"removed twice", tokenOf("blue"), "bob", true, 404, "device_not_found", []string{"red of ann"}},
		{"who is no member", tokenOf("blue"), "nobody", false, 403, "not_a_member", []string{"red of ann"}},
	} {
		fn := RegisterDeviceFunction
		if step.remove {
			fn = DeleteDeviceFunction
		}
		out := w.ask(fn, "/app/devices/"+step.token, step.user, "")
		if step.code != "" {
			if err := testkit.Refuses(out, step.status, step.code); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		} else if out.StatusCode != step.status {
			t.Errorf("%s: %d %s", step.name, out.StatusCode, out.Body)
		}
		if got := w.registered("red", "blue"); !slices.Equal(got, step.want) {
			t.Errorf("%s: there are %q, want %q", step.name, got, step.want)
		}
	}
	for _, token := range []string{"0", strings.Repeat("0", 30), strings.Repeat("0", 33), strings.Repeat("x", 64), strings.Repeat("0", 202)} {
		if err := testkit.Blames(w.ask(RegisterDeviceFunction, "/app/devices/"+token, "ann", ""), 422, "path.deviceToken"); err != nil {
			t.Errorf("registering %q: %v", token, err)
		}
		if err := testkit.Blames(w.ask(DeleteDeviceFunction, "/app/devices/"+token, "ann", ""), 422, "path.deviceToken"); err != nil {
			t.Errorf("removing %q: %v", token, err)
		}
	}
	out := w.ask(RegisterDeviceFunction, "/app/devices/"+tokenOf("red"), "ann", "")
	got := testkit.Decode[struct{ ExpiresAt time.Time }](w.World, out)
	kept := testkit.Row[device](w.World, table, devicePrefix+tokenOf("red"), deviceSK)
	if want := noon.Add(push.KeepDevice); !got.ExpiresAt.Equal(want) || kept.TTL != want.Unix() {
		t.Errorf("it is registered until %v, and kept until %d, want %v", got.ExpiresAt, kept.TTL, want)
	}
}
