package follower_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/push"
)

// register calls the route with which an app registers a phone, and returns the status and the phone.
func register(w *crickettest.World, user string, body map[string]any) (status int, d follower.Device, answer string) {
	w.T.Helper()

	text, err := json.Marshal(body)
	testkit.Must(w.T, err)

	out := testkit.Call(w.Routes(), follower.RegisterDeviceFunction(), "/user/device", user, string(text))
	if out.StatusCode == http.StatusCreated {
		testkit.Must(w.T, json.Unmarshal([]byte(out.Body), &d))
	}

	return out.StatusCode, d, out.Body
}

// TestAndroidPhonesAreRegistered: their tokens keep their case, and have no environment of Apple. Lists
// have both kinds of phones, and each is deleted by its id.
func TestAndroidPhonesAreRegistered(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.WithFCM()

	android := map[string]any{
		"deviceToken": crickettest.AndroidToken("moto"), "platform": "android", "osVersion": "16", "locale": "en-IN", "catalogue": 2,
	}
	iphone := map[string]any{"deviceToken": crickettest.Token("red"), "platform": "ios", "environment": "sandbox"}

	for _, body := range []map[string]any{iphone, android, android} {
		if status, _, answer := register(w, "ann", body); status != http.StatusCreated {
			t.Fatalf("%v: %d %s", body, status, answer)
		}
	}

	row := testkit.Row[follower.DeviceRow](w.World, tables.Devices, "ann", crickettest.AndroidToken("moto"))
	want := push.Phone{Platform: "android", Kind: push.FCM, Locale: "en-IN", Catalogue: 2}

	if row.Phone != want || row.HasBroadcasts() || row.IsIPhone() {
		t.Errorf("the row is %+v, want %+v", row.Phone, want)
	}

	routes := w.Routes()
	list := func() (all map[string]follower.Device) {
		out := testkit.Call(routes, follower.ListDevicesFunction(), "/user/devices", "ann", "")

		var page struct{ Devices []follower.Device }
		testkit.Must(t, json.Unmarshal([]byte(out.Body), &page))

		all = map[string]follower.Device{}
		for _, d := range page.Devices {
			all[d.Platform+" "+d.Environment] = d
		}

		return all
	}

	both := list()
	if got := slices.Sorted(maps.Keys(both)); !slices.Equal(got, []string{"android ", "ios sandbox"}) {
		t.Errorf("the list has %q", got)
	}

	id := both["android "].DeviceID
	if id != push.Registration(crickettest.AndroidToken("moto")).ID() {
		t.Errorf("the id of the Android phone is %s", id)
	}

	if out := testkit.Call(routes, follower.DeleteDeviceFunction(), "/user/device/"+string(id), "ann", ""); out.StatusCode != http.StatusNoContent {
		t.Errorf("deletion: %d %s", out.StatusCode, out.Body)
	}

	if got := slices.Sorted(maps.Keys(list())); !slices.Equal(got, []string{"ios sandbox"}) {
		t.Errorf("after the deletion the list has %q", got)
	}

	if got := tokensOf(w, "ann"); !slices.Equal(got, []string{crickettest.Token("red")}) {
		t.Errorf("stored are %q", got)
	}
}

// TestTokensOfAnotherPlatformAreRefused, and an iPhone without its environment.
func TestTokensOfAnotherPlatformAreRefused(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.WithFCM()

	for name, c := range map[string]struct {
		body  map[string]any
		field string
	}{
		"an iPhone's token": {map[string]any{"deviceToken": crickettest.Token("red"), "platform": "android"}, "body.deviceToken"},
		"an Android's token": {
			map[string]any{"deviceToken": crickettest.AndroidToken("moto"), "platform": "ios", "environment": "sandbox"}, "body.deviceToken",
		},
		"too long":             {map[string]any{"deviceToken": strings.Repeat("x", 513), "platform": "android"}, "body.deviceToken"},
		"a token with spaces":  {map[string]any{"deviceToken": "a token with spaces in it", "platform": "android"}, "body.deviceToken"},
		"without environment":  {map[string]any{"deviceToken": crickettest.Token("red"), "platform": "ios"}, "body.environment"},
		"an unknown platform":  {map[string]any{"deviceToken": crickettest.AndroidToken("moto"), "platform": "tizen"}, "body.platform"},
		"an unnumbered system": {map[string]any{"deviceToken": crickettest.AndroidToken("moto"), "platform": "android", "osVersion": "Baklava"}, "body.osVersion"},
	} {
		text, err := json.Marshal(c.body)
		testkit.Must(t, err)

		out := testkit.Call(w.Routes(), follower.RegisterDeviceFunction(), "/user/device", "ann", string(text))
		if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, c.field); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	if got := tokensOf(w, "ann"); got != nil {
		t.Errorf("stored are %q", got)
	}
}

// TestStageWithoutAndroidPhones: a stage without a Firebase project refuses them with an answer of its own.
func TestStageWithoutAndroidPhones(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)

	out := testkit.Call(w.Routes(), follower.RegisterDeviceFunction(), "/user/device", "ann",
		`{"deviceToken":"`+crickettest.AndroidToken("moto")+`","platform":"android"}`)
	if err := testkit.CheckProblemCode(out, http.StatusUnprocessableEntity, "android_not_configured"); err != nil {
		t.Error(err)
	}
}

// TestPushToStartIsOfIPhones: a push can start an activity on an iPhone only.
func TestPushToStartIsOfIPhones(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	w.WithFCM()

	moto := crickettest.AndroidToken("moto")
	if status, _, answer := register(w, "ann", map[string]any{"deviceToken": moto, "platform": "android"}); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}

	out := testkit.Call(w.Routes(), follower.UpdatePushToStartFunction(), "/user/device/push-to-start", "ann",
		`{"deviceToken":"`+moto+`","pushToStartToken":"`+crickettest.Token("start")+`"}`)
	if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.deviceToken"); err != nil {
		t.Error(err)
	}

	row := testkit.Row[follower.DeviceRow](w.World, tables.Devices, "ann", moto)
	if diff := cmp.Diff("", row.PushToStart); diff != "" {
		t.Errorf("its push-to-start token (-want +got):\n%s", diff)
	}
}

// TestRowsOfEarlierVersionsAreIPhones: the row of a phone that registered before there was a kind.
func TestRowsOfEarlierVersionsAreIPhones(t *testing.T) {
	t.Parallel()

	old := follower.DeviceRow{OSMajor: 18}
	if !old.IsIPhone() || !old.HasBroadcasts() || len(follower.IPhones([]follower.DeviceRow{old, {Phone: push.Phone{Kind: push.FCM}}})) != 1 {
		t.Errorf("%+v is no iPhone with broadcasts", old)
	}
}
