package commitcollect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/link"
)

// TestTrailIsReadInPages: that of a user, of a cause, and of an event type in a month, each
// entry once, the latest first.
func TestTrailIsReadInPages(t *testing.T) {
	t.Parallel()

	w := commitcollecttest.New(t, strava.Faults{})
	for n := range 7 {
		w.SignInAgain("ann", fmt.Sprint("browser ", n))
		w.MoveClock(w.Clock.Now().Add(time.Minute))
	}

	w.SignIn("bob")

	type entry struct{ ID, Event, UserID, CorrelationID string }

	walk := func(ask func(target string) events.APIGatewayV2HTTPResponse, path string) (all []entry) {
		for cursor := ""; ; {
			target := path + "?limit=3"
			if cursor != "" {
				target += "&cursor=" + url.QueryEscape(cursor)
			}

			got := testkit.Decode[struct {
				Entries []entry
				Next    string
			}](w.World, ask(target))
			if len(got.Entries) > 3 {
				t.Fatalf("%s has %d entries", target, len(got.Entries))
			}

			all = append(all, got.Entries...)
			if cursor = got.Next; cursor == "" {
				return all
			}
		}
	}
	user := func(target string) events.APIGatewayV2HTTPResponse {
		return w.Ask("browser 0", http.MethodGet, target, nil)
	}
	admin := func(target string) events.APIGatewayV2HTTPResponse { return w.AskAdmin(http.MethodGet, target, nil) }

	own := walk(user, "/audit")
	if len(own) != 7 || own[6].Event != "AUTH_SIGNUP" || own[0].Event != "AUTH_LOGIN" ||
		slices.ContainsFunc(own, func(e entry) bool { return e.UserID != "ann" }) {
		t.Errorf("the trail of ann is %+v", own)
	}

	logins := walk(admin, "/admin/audit/events/AUTH_LOGIN/202606")
	same(t, "the logins of the month", logins, own[:6])

	if all := walk(admin, "/admin/audit/events/AUTH_SIGNUP/202606"); len(all) != 2 || all[0].UserID != "bob" {
		t.Errorf("the sign-ups of the month are %+v", all)
	}

	if all := walk(admin, "/admin/audit/events/AUTH_LOGIN/202605"); len(all) != 0 {
		t.Errorf("the logins of another month are %+v", all)
	}

	same(t, "the entries of a cause", walk(admin, "/admin/audit/correlations/"+own[2].CorrelationID), own[2:3])
}

// TestCauseJoinsEntries: what an event of Strava led to has its correlation.
func TestCauseJoinsEntries(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	w.Pass(link.FetchDelay)
	uploaded := w.Clock.Now().Unix()
	a := w.Upload(77, "Run", noon.Add(-time.Hour), 5000)
	w.Pass(time.Minute)

	id := fmt.Sprintf("strava:%d:77:%d:%d", int64(row(w, "STRAVA#SUBSCRIPTION", "META")["subscriptionId"].(float64)), a, uploaded)
	if out := w.AskAdmin(http.MethodGet, "/admin/audit/correlations/"+id, nil); !strings.Contains(out.Body, "STRAVA_ACTIVITY_CREATE") {
		t.Errorf("%s: got %s", id, out.Body)
	}
}

// TestModelsAreListedInPages.
func TestModelsAreListedInPages(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.New(t, strava.Faults{})
	w.SignIn("ann")

	for _, id := range []string{"a-1", "b-2", "c-3"} {
		w.AddModel(id, 1)
	}

	type list struct {
		Models []struct{ ModelID string }
		Next   string
	}

	var ids []string

	for target := "/models?limit=2"; target != ""; {
		got := testkit.Decode[list](w.World, w.Ask("ann", http.MethodGet, target, nil))
		for _, m := range got.Models {
			ids = append(ids, m.ModelID)
		}

		if target = ""; got.Next != "" {
			target = "/models?limit=2&cursor=" + got.Next
		}
	}

	same(t, "the models", ids, []string{"a-1", "b-2", "c-3"})
}
