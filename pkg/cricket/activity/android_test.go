package activity_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/push"
)

// startOn starts an activity of match 7 by the API.
func startOn(w *crickettest.World, user, body string) (status int, answer string) {
	w.T.Helper()
	out := testkit.Call(w.Routes(), activity.StartActivityFunction(), "/user/activity/7", user, body)

	return out.StatusCode, out.Body
}

// TestAndroidPhonesGetATopic: with the state that they show until its first message. They have no push token.
func TestAndroidPhonesGetATopic(t *testing.T) {
	t.Parallel()
	w, _, want := worldWithActivities(t)
	w.WithFCM()

	status, answer := startOn(w, "ann", `{"platform":"android","teamId":"12"}`)

	var got struct {
		Topic           string
		SubscribeWithin int
		Channel         *string
		Current         struct{ Display json.RawMessage }
	}
	testkit.Must(t, json.Unmarshal([]byte(answer), &got))

	topic := follower.Topic(w.Env(activity.StartActivityFunction()).Stage, "7", "12")
	if status != http.StatusCreated || got.Topic != topic || got.SubscribeWithin == 0 || got.Channel != nil {
		t.Errorf("%d %s, want the topic %s", status, answer, topic)
	}

	var display, stored any
	testkit.Must(t, json.Unmarshal(got.Current.Display, &display))
	testkit.Must(t, json.Unmarshal([]byte(want["visitor"]), &stored))

	if a, b := display.(map[string]any)["headline"], stored.(map[string]any)["headline"]; a != b {
		t.Errorf("the current headline is %v, want %v", a, b)
	}

	out := testkit.Call(w.Routes(), activity.StartActivityFunction(), "/user/activity/7", "ann",
		`{"platform":"android","pushToken":"`+crickettest.Token("ann")+`"}`)
	if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.pushToken"); err != nil {
		t.Error(err)
	}

	w.DecideEnd("7", 50)

	if err := testkit.CheckProblemCode(testkit.Call(w.Routes(), activity.StartActivityFunction(), "/user/activity/7", "ann",
		`{"platform":"android"}`), http.StatusConflict, match.ErrMatchOver.Code); err != nil {
		t.Error(err)
	}
}

// TestTopicsNeedAFirebaseProject: a stage without one has no topics.
func TestTopicsNeedAFirebaseProject(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)

	out := testkit.Call(w.Routes(), activity.StartActivityFunction(), "/user/activity/7", "ann", `{"platform":"android"}`)
	if err := testkit.CheckProblemCode(out, http.StatusUnprocessableEntity, "android_not_configured"); err != nil {
		t.Error(err)
	}
}

// TestAndroidPhoneTakesNoChannelFromAnIPhone: a user with both kinds of phones has a channel on the iPhone.
func TestAndroidPhoneTakesNoChannelFromAnIPhone(t *testing.T) {
	t.Parallel()
	w, _, _ := worldWithActivities(t)
	w.WithFCM()
	w.RegisterPhones("18.2", "ann")
	testkit.PutRows(w.World, tables.Devices, follower.DeviceRow{
		UserID: "ann", DeviceToken: crickettest.AndroidToken("moto"), OSMajor: 16, Phone: push.Phone{Platform: push.Android, Kind: push.FCM},
		UpdatedAt: w.Clock.Now().UnixMilli(), ExpiresAt: w.Clock.Now().Add(push.KeepDevice).Unix(),
	})

	status, answer := startOn(w, "ann", `{}`)

	var got struct{ Channel, Topic string }
	testkit.Must(t, json.Unmarshal([]byte(answer), &got))

	if status != http.StatusCreated || got.Channel == "" || got.Topic != "" {
		t.Errorf("%d %s, want a channel", status, answer)
	}
}
