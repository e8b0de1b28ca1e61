package commitcollect_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console"
	"matchday/infra/local/console/consoletest"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/commitcollect"
	"matchday/infra/sim/clock"
	"matchday/infra/testkit"
	"matchday/pkg/kit/account"
)

// newConsole returns the console of a fleet whose visitor has signed in and connected
// Strava, and what lets the fleet's time pass.
func newConsole(t *testing.T) (hub *console.Hub, f *fleet.Fleet, prepare func() error, pass func(time.Duration)) {
	t.Helper()

	c := clock.New(time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC), clock.Free)
	done := c.Work()
	local := commitcollect.Room.Local()
	f, err := fleet.Start(t.Context(), fleet.Config{Clock: c, Root: root, Program: testkit.Program(t, root), Rooms: []fleet.Room{local.Fleet}})
	testkit.Must(t, err)
	t.Cleanup(func() {
		done()
		c.Stop()
		f.Close()
	})
	demo, err := local.Demo(rooms.Options{Say: t.Logf})
	testkit.Must(t, err)

	prepare = func() error { return demo.Prepare(t.Context()) }
	for range 2 { // as when the fleet is started again
		testkit.Must(t, prepare())
	}

	hub = console.NewHub(local.Panel)
	hub.Attach(f)

	return hub, f, prepare, func(d time.Duration) {
		t.Helper()
		testkit.Must(t, c.Sleep(context.WithoutCancel(t.Context()), c.Now().Add(d)))
	}
}

// TestPanel has the visitor's athlete go out in a browser: the parts of the model appear,
// and the page says why an activity does not count.
func TestPanel(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs the whole fleet")
	}

	t.Parallel()
	hub, f, prepare, pass := newConsole(t)
	server := httptest.NewServer(hub.Handler())
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the page complained %q", err, complaints())
		}
	}
	click := func(selector string) consoletest.Action { return chromedp.Click(chromedp.CSS(selector)) }
	minted := func(n int) consoletest.Action {
		return consoletest.See(fmt.Sprintf(`document.querySelectorAll("#model .minted").length === %d && document.querySelectorAll("#parts .minted").length === %d`, n, n))
	}
	goOut := func(n int) {
		t.Helper()
		run(consoletest.See(`(document.querySelector("#collect-said").textContent = "", true)`), // what it said before
			click(fmt.Sprintf("#collect [data-go]:nth-child(%d)", n)), consoletest.Says("#collect-said", "at Strava"))
		pass(time.Minute)
	}
	why := func(workout, said string) {
		t.Helper()

		at := fmt.Sprintf(`[...document.querySelectorAll("#workouts li")].find((li) => li.textContent.includes(%q))`, workout)
		run(consoletest.See(at), consoletest.See(at+`.querySelector("button").click() || true`), consoletest.Says("#why-said", said))
	}

	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/commitcollect/"),
		consoletest.Says("#goal", "42.2 km of running"), consoletest.Says("#workouts-about", "athlete 2026"),
		minted(0), consoletest.Says("#metres", "3.5 km to the next part"))
	goOut(1)
	run(minted(1), consoletest.Says("#metres", "5 km"), consoletest.Says("#parts .minted", "Frame"),
		consoletest.Says("#story", "Minted: Frame"))
	why("Run · 5 km", "It counts: 5 km.")
	goOut(3)
	run(minted(3), consoletest.Says("#metres", "13 km"))
	why("by the watch", "recorded by a second device")
	goOut(4)
	why("Ride", "another sport")
	goOut(5)
	why("Before the milestone", "before the milestone's period")
	run(minted(3), click("#collect-pause"), consoletest.Says("#goal-about", "paused"))
	goOut(2)
	run(minted(3), click("#collect-pause"), consoletest.Says("#goal-about", "active"))
	pass(time.Minute)
	run(minted(7), consoletest.Says("#metres", "25 km"), consoletest.Says("#phone-about", "Nobody is signed in"), click("#phone-in"),
		consoletest.Says("#phone-about", "signed in by a token"), consoletest.Says("#phone-parts", "7 of 12 parts"))
	pass(20 * time.Minute) // the token expires, and is refreshed
	run(consoletest.See(`(document.querySelector("#phone-parts").textContent = "", true)`), consoletest.Says("#phone-parts", "7 of 12 parts"))
	run(consoletest.See(`[...document.querySelectorAll("#workouts li")].find((li) => li.textContent.includes("TrailRun")).querySelector("button:last-child").click() || true`), consoletest.Says("#why-said", "deleted at Strava"))
	pass(time.Minute)
	run(minted(7), consoletest.Says("#goal-about", "13 km of the workouts are left"),
		consoletest.See(`!document.querySelector("#workouts").textContent.includes("TrailRun")`))

	run(consoletest.See(`document.querySelector("#collect-picture").hidden`), click("#collect-share"),
		consoletest.Says("#collect-share", "end the public picture"))

	link, err := consoletest.Run(tab, chromedp.Evaluate[string](`document.querySelector("#collect-picture").href`))
	testkit.Must(t, err)

	picture := func() int {
		t.Helper()

		out, err := http.Get(link)
		testkit.Must(t, err)
		testkit.Must(t, out.Body.Close())

		return out.StatusCode
	}
	if got := picture(); got != http.StatusOK {
		t.Errorf("the picture at %s: %d", link, got)
	}

	run(click("#collect-share"), consoletest.Says("#collect-share", "share a picture"))

	if got := picture(); got != http.StatusNotFound {
		t.Errorf("the ended picture at %s: %d", link, got)
	}

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {390, 844, "dark"}, {768, 1024, "light"}} {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("commitcollect-%d-%s", look.width, look.mode))
	}

	run(consoletest.Resize(1440, 1000, "light"), click("#collect-link"), consoletest.Says("#workouts-about", "not connected"))
	pass(2 * time.Minute)
	run(consoletest.See(`document.querySelectorAll("#workouts li").length === 0`), minted(7), click("#collect-link"),
		consoletest.Says("#workouts-about", "athlete 2026"))
	pass(time.Minute)
	run(consoletest.See(`document.querySelectorAll("#workouts li").length > 3`), click("#collect-start"), minted(0))
	pass(time.Minute) // the next milestone is the latest
	run(click("#phone-start"), consoletest.Says("#phone-said", "has begun"), consoletest.Says("#goal", "10 km of running"),
		click("#phone-out"), consoletest.Says("#phone-about", "Nobody"))

	// The visitor has deleted the account when the fleet is started again.
	_, err = f.DB.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(f.Table(account.Deleted.Name)),
		Item: map[string]types.AttributeValue{
			"userId": &types.AttributeValueMemberS{Value: "me"}, "deletedAt": &types.AttributeValueMemberS{Value: "2026-06-06T12:00:00Z"},
		},
	})
	testkit.Must(t, err)
	testkit.Must(t, prepare())
	run(consoletest.Says("#workouts-about", "Strava is not connected"), consoletest.Says("#goal", "No milestone"), click("#collect-link"),
		consoletest.Says("#collect-said", "deleted"), chromedp.Navigate(server.URL+"/commitcollect/"), consoletest.Says("#goal", "No milestone"),
		consoletest.Says("#phone-about", "Nobody"))

	for len(complaints()) == 0 { // the page may have the answer before the browser reports it
		run(consoletest.See("true"))
	}

	if said := complaints(); len(said) != 1 || !strings.Contains(said[0], "400") {
		t.Errorf("beside the refused connection, the page complained %q", said)
	}
}

// TestPanelRefusals: buttons take no ids that are none, and say what the API refuses.
func TestPanelRefusals(t *testing.T) {
	t.Parallel()

	handler := console.NewHub(commitcollect.Room.Local().Panel).Handler()
	for path, body := range map[string]string{
		"why": `{"activity":"../x","milestone":"A"}`,
		"go":  `{"sport":"Run","km":5}`,
		"set": `{"milestone":7}`,
	} {
		if status, text := consoletest.Post(handler, "commitcollect/"+path, body); status < 400 || !strings.Contains(text, "error") {
			t.Errorf("%s before the fleet has started: %d %s", path, status, text)
		}
	}
}
