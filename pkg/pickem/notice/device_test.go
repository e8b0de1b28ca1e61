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
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/pickem/userdata"
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
		if err := testkit.CheckProblemField(w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann",
			map[string]string{"deviceToken": token}), 422, "body.deviceToken"); err != nil {
			t.Errorf("registering %q: %v", token, err)
		}

		if err := testkit.CheckProblemField(w.Ask(notice.DeleteDeviceFunction(), "/app/devices/"+token, "ann", ""), 422,
			"path.deviceId"); err != nil {
			t.Errorf("deleting %q: %v", token, err)
		}
	}

	out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", "ann", map[string]string{"deviceToken": pickemtest.TokenOf("red")})
	got := testkit.Decode[struct{ ExpiresAt time.Time }](w.World, out)

	kept := testkit.Row[device.Device](w.World, tables.Pickem, "DEVICE#"+pickemtest.TokenOf("red"), "DEVICE")
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

	for i := range device.MaxDevices.Max - 1 {
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

		in := &device.RegisterDevice{User: auth.User{UserID: "ann"}}
		in.Body.DeviceToken = push.Registration(pickemtest.TokenOf("red"))
		_, err := testkit.OpenWith(w.World, w.CrashingEnv(notice.RegisterDeviceFunction(), p), notice.OpenDevices).RegisterDevice(w.NewContext(),
			in)
		p.Ended(err)
		_, err = testkit.Open(w.World, notice.RegisterDeviceFunction(), notice.OpenDevices).RegisterDevice(w.NewContext(), in)
		testkit.Must(t, err)

		return append(w.RegisteredPhones("red"), testkit.Row[dynamo.List](w.World, tables.Pickem, "USER#ann", "DEVICES").IDs...)
	})
}

// former is the item of a phone that was registered before the room used kit/device.
type former struct {
	PK, SK, Type string
	GSIPK        string `dynamodbav:"GSI_PK"`
	GSISK        string `dynamodbav:"GSI_SK"`
	Token        string `dynamodbav:"token"`
	BelongsTo    string `dynamodbav:"belongsto"`
	SeenAt       string `dynamodbav:"seenAt"`
	TTL          int64  `dynamodbav:"ttl"`
}

// putFormer stores the items of phones as they were registered before, and a list of them.
func putFormer(w *pickemtest.Room, user string, names ...string) {
	w.T.Helper()

	var list dynamo.List

	ttl := pickemtest.Noon.Add(push.KeepDevice).Unix()
	for _, name := range names {
		token, seen := pickemtest.TokenOf(name), pickemtest.Noon.Format(time.RFC3339)
		list.IDs = append(list.IDs, token)
		testkit.PutRows(w.World, tables.Pickem, former{
			PK: "DEVICE#" + token, SK: "DEVICE", Type: "device", GSIPK: "DEVICES#" + user, GSISK: seen + "#" + token,
			Token: token, BelongsTo: "USER#" + user, SeenAt: seen, TTL: ttl,
		})
	}

	testkit.PutRows(w.World, tables.Pickem, map[string]any{
		"PK":        "USER#" + user,
		"SK":        "DEVICES",
		"ids":       list.IDs,
		"expiresAt": ttl,
		"ttl":       ttl,
	})
}

// TestFormerPhones: phones that were registered before get no notices, do not count, and keep
// nobody from notices. Their next registration replaces the item.
func TestFormerPhones(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()
	w.AddMembers("ann", "bob")

	var names []string
	for i := range device.MaxDevices.Max {
		names = append(names, fmt.Sprint("old", i))
	}

	putFormer(w, "ann", names...)
	putFormer(w, "bob", "passed on")

	if err := testkit.CheckProblemCode(w.Ask(notice.DeleteDeviceFunction(), "/app/devices/"+pickemtest.DeviceID("old0"), "ann", ""), 404,
		"device_not_found"); err != nil {
		t.Errorf("deleting a former phone: %v", err)
	}

	w.RegisterPhone("red", "ann")
	w.RegisterPhone("passed on", "ann")

	n := noticeTo("ann", "bob")
	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), n))

	got := notificationsOn(phones, append(names, "red", "passed on")...)
	if want := []string{"red: Clash, Pick!", "passed on: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}

	w.RegisterPhone("old3", "ann")
	kept := testkit.Row[map[string]any](w.World, tables.Pickem, "DEVICE#"+pickemtest.TokenOf("old3"), "DEVICE")
	delete(kept, "seenAt")

	want := map[string]any{
		"PK": "DEVICE#" + pickemtest.TokenOf("old3"), "SK": "DEVICE", "token": pickemtest.TokenOf("old3"),
		"userId": "ann", "ttl": float64(w.Clock.Now().Add(push.KeepDevice).Unix()),
		"platform": "ios", "kind": "apns", "catalogue": 1.0,
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("the phone after its registration (-want +got):\n%s", diff)
	}
}

// TestPhonesOfOthersAreSkipped: a notice goes to phones that registered before a row said which service
// takes the token. Phones of another service stay registered, and no try is made for them again.
func TestPhonesOfOthersAreSkipped(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	phones := w.WithAPNs()

	names := []string{"before", "now", "later"}
	w.AddMembers(names...)

	for user, edit := range map[string]func(row map[string]any){
		"before": func(row map[string]any) { delete(row, "kind"); delete(row, "platform"); delete(row, "catalogue") },
		"now":    func(map[string]any) {},
		"later":  func(row map[string]any) { row["kind"], row["unknown"] = "fcm", "of the next version" },
	} {
		w.RegisterPhone(user, user)

		row := testkit.Row[map[string]any](w.World, tables.Pickem, "DEVICE#"+pickemtest.TokenOf(user), "DEVICE")
		edit(row)
		testkit.PutRows(w.World, tables.Pickem, row)
	}

	testkit.Must(t, notifier(w, w.Env(notice.SendNoticesFunction())).SendNotices(w.NewContext(), noticeTo(names...)))

	got := notificationsOn(phones, names...)
	if want := []string{"before: Clash, Pick!", "now: Clash, Pick!"}; !slices.Equal(got, want) {
		t.Errorf("notifications (-want +got):\n%s", cmp.Diff(want, got))
	}

	if got := w.RegisteredPhones(names...); len(got) != len(names) {
		t.Errorf("registered are %q, want all", got)
	}
}

// TestFormerPhonesAreForgotten: an export has them, and a deletion deletes them, also one that the
// list has lost, but not those that another user has registered since.
func TestFormerPhonesAreForgotten(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	putFormer(w, "ann", "listed", "passed on", "not listed")
	w.RegisterPhone("new", "ann")
	w.RegisterPhone("passed on", "bob")
	putFormer(w, "bob", "bobs")
	list := testkit.Row[dynamo.List](w.World, tables.Pickem, "USER#ann", "DEVICES")
	list.IDs = slices.DeleteFunc(list.IDs, func(token string) bool { return token == pickemtest.TokenOf("not listed") })
	testkit.PutRows(w.World, tables.Pickem, map[string]any{
		"PK":        "USER#ann",
		"SK":        "DEVICES",
		"ids":       list.IDs,
		"expiresAt": list.ExpiresAt,
		"ttl":       list.TTL,
	})

	in := account.Request{Job: "j1", UserID: "ann"}
	testkit.Must(t, testkit.Open(w.World, userdata.ExportUserFunction(), userdata.Open).ExportUser(w.NewContext(), in))

	export := w.Export("j1")
	for name, want := range map[string]bool{"listed": true, "not listed": true, "new": true, "passed on": false, "bobs": false} {
		if got := strings.Contains(export, `"PK": "DEVICE#`+pickemtest.TokenOf(name)); got != want {
			t.Errorf("the export has the phone %q: %v, want %v", name, got, want)
		}
	}

	testkit.Must(t, testkit.Open(w.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(w.NewContext(), in))

	var left []string

	for _, row := range testkit.Rows[map[string]any](w.World, tables.Pickem) {
		if row["SK"] == "DEVICE" || row["SK"] == "DEVICES" {
			left = append(left, fmt.Sprint(row["PK"]))
		}
	}

	slices.Sort(left)

	want := []string{"DEVICE#" + pickemtest.TokenOf("bobs"), "DEVICE#" + pickemtest.TokenOf("passed on"), "USER#bob"}
	if slices.Sort(want); !slices.Equal(left, want) {
		t.Errorf("rows of phones (-want +got):\n%s", cmp.Diff(want, left))
	}
}
