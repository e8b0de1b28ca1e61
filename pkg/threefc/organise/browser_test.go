package organise_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// organiser is somebody with a phone, whose browser has what the room has set.
type organiser struct {
	*threefctest.World
	tab context.Context
	url string

	mu sync.Mutex // one request at a time
}

// lou is the name of the browser in the world.
const lou = "lou"

// serve answers a request of the browser, which keeps the cookies of answers.
func (o *organiser) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	testkit.Must(o.T, err)

	var headers []threefctest.Header

	for _, name := range []string{"Origin", "Content-Type", "Idempotency-Key", "If-Match"} {
		if v := r.Header.Get(name); v != "" {
			headers = append(headers, threefctest.Header{Name: strings.ToLower(name), Value: v})
		}
	}

	out := o.Ask(lou, r.Method, r.URL.RequestURI(), string(body), headers...)
	for _, c := range out.Cookies {
		o.SetCookie(lou, c)
	}

	for name, values := range testkit.Header(out) {
		w.Header()[name] = values
	}

	text := []byte(out.Body)
	if out.IsBase64Encoded {
		text, err = base64.StdEncoding.DecodeString(out.Body)
		testkit.Must(o.T, err)
	}

	w.WriteHeader(out.StatusCode)

	_, _ = w.Write(text) // the browser may have left
}

func (o *organiser) run(actions ...consoletest.Action) {
	o.T.Helper()
	testkit.Must(o.T, consoletest.Do(o.tab, actions...))
}

// mark marks the element of a script, and waits until it is there.
func mark(element string) consoletest.Action {
	return consoletest.See(fmt.Sprintf(`(() => {
	for (const one of document.querySelectorAll("[data-test]")) one.removeAttribute("data-test");
	const found = %s;
	found?.setAttribute("data-test", "");
	return found;
})()`, element))
}

var marked = chromedp.CSS("[data-test]")

// press presses the link or the button of a text, and waits until the page has another text in an element.
func (o *organiser) press(text, selector, says string) {
	o.T.Helper()

	quoted, _ := json.Marshal(text)
	found := fmt.Sprintf(`[...document.querySelectorAll("a, button, summary")].find((one) => one.textContent.trim() === %s)`, quoted)
	o.run(mark(found), chromedp.Click(marked))

	if selector != "" {
		o.run(consoletest.Says(selector, says))
	}
}

// element is the script of a field of the form of an action.
func element(action, name string) string {
	return fmt.Sprintf(`[...document.forms].find((one) => one.elements.action?.value === %q)?.elements[%q]`, action, name)
}

// write types a text into a field of a form.
func (o *organiser) write(action, name, text string) {
	o.T.Helper()
	o.run(mark(element(action, name)), chromedp.SendKeys(marked, text))
}

// choose gives a field of a form a value: a choice, a day or a time.
func (o *organiser) choose(action, name, value string) {
	o.T.Helper()
	o.run(mark(element(action, name)),
		consoletest.See(fmt.Sprintf(`((one) => (one.value = %q) === one.value)(document.querySelector("[data-test]"))`, value)))
}

// TestSeasonInABrowser: from the first sign-in to the final table with a phone's browser. Loading a page again, or
// going back, repeats nothing. The pictures are those of docs.
func TestSeasonInABrowser(t *testing.T) {
	t.Parallel()

	o := &organiser{World: threefctest.New(t)}

	var complaints func() []string

	o.tab, complaints = consoletest.Browser(t)
	o.Accounts()

	server := httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(server.Close)

	o.url = server.URL
	o.Settings[spec.EnvAPI], o.Origin = o.url, o.url
	o.Routes = o.ServeRoutes()

	o.run(consoletest.Resize(390, 740, "light"), chromedp.Navigate(o.url+"/home"))
	o.press("Sign in by mail", "h1", "Sign in to 3FC")
	o.run(mark(`document.querySelector("input[type=email]")`), chromedp.SendKeys(marked, "lou@example.com"))
	o.press("Mail me a link", "h1", "Look into your mails")

	box := o.Mail.Mailbox("lou@example.com")
	o.run(chromedp.Navigate(regexp.MustCompile(`http\S+`).FindString(box[len(box)-1].Text)))
	o.press("Sign in", "h1", "You are signed in")
	o.press("Continue", "h1", "Your leagues")

	o.write("create-league", "name", "Parkside")
	o.press("Create the league", "h1", "Parkside")

	players := []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo"}
	for _, name := range players {
		o.write("add-player", "nickname", name)
		o.press("Add the player", "main", name)
	}

	o.run(chromedp.Reload(), consoletest.Says("h1", "Parkside"), chromedp.NavigateBack(), consoletest.Says("h1", "Parkside"),
		chromedp.Reload(), consoletest.Says("main", "Flo"))

	o.pictures("threefc-organiser-league")
	o.write("create-season", "name", "Spring 2026")
	o.press("Create the season", "h1", "Spring 2026")
	o.press("Add Blue, Red and Yellow", ".done", "The teams are added.")
	o.choose("create-session", "sessionDate", "2026-06-06")
	o.press("Create the session", "h1", "Session on Saturday 6 June 2026")
	o.pictures("threefc-organiser-session")
	o.choose("create-game", "time", "19:00")
	o.write("create-game", "location", "Pitch 2")
	o.press("Create the game", "h1", "Game at 19:00")

	rows := testkit.Rows[item.Row[item.Player]](o.World.World, tables.App)
	ids := map[string]string{}

	for _, r := range rows {
		if r.EntityType == "Player" {
			ids[r.V().Nickname] = r.V().ID
		}
	}

	if len(ids) != len(players) {
		t.Errorf("the league has the players %v, want %v", ids, players)
	}

	o.press("Change the line-up", "h1", "Line-up")

	for i, name := range players {
		o.choose("line-up", "seat-"+ids[name], []string{"red", "blue", "yellow"}[i/2])
	}

	o.pictures("threefc-organiser-line-up")
	o.press("Save the line-up", ".done", "The line-up is saved.")
	o.pictures("threefc-organiser")
	o.press("Make a code to join", "main", "Whoever has this code")
	o.run(consoletest.See(`document.querySelector(".qr").naturalWidth > 100`))

	o.press("Score the game", "h1", "")
	o.run(consoletest.See(`location.pathname.startsWith("/score/")`), consoletest.Says("#phone", "Red"))
	o.played()

	o.run(chromedp.Navigate(o.url + "/home"))
	o.press("Parkside", "h1", "Parkside")
	o.press("Spring 2026", "h1", "Spring 2026")
	o.press("Table, games and scorers, as everybody sees them", "main", "Standings")
	o.run(consoletest.Says("main", "Ada"))

	for _, said := range complaints() {
		t.Errorf("a page complained %q", said)
	}
}

// pictures keeps pictures of the page, light and dark, and checks that the page is not wider than a phone.
func (o *organiser) pictures(name string) {
	o.T.Helper()

	for _, mode := range []string{"dark", "light"} {
		o.run(consoletest.Resize(390, 740, mode))

		consoletest.Shoot(o.T.(*testing.T), o.tab, name+"-"+mode)
		consoletest.Fits(o.T.(*testing.T), o.tab, 390)
	}
}

// played scores the game through the API, as the scorekeeper's page does, and computes the table.
func (o *organiser) played() {
	o.T.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()

	var g item.Row[item.Game]

	for _, r := range testkit.Rows[item.Row[item.Game]](o.World.World, tables.App) {
		if r.EntityType == "Game" {
			g = r
		}
	}

	id := g.V().ID
	o.Do(lou, "POST", "/v1/games/"+id+"/thirds/1/start", map[string]any{})

	seats := testkit.Decode[struct{ Players []game.Seat }](o.World.World, o.Do(lou, "GET", "/v1/games/"+id+"/roster", nil))
	for _, p := range seats.Players {
		if p.Nickname == "Ada" {
			o.Do(lou, "POST", "/v1/games/"+id+"/goals", map[string]any{
				"scoringTeamId": "red", "concedingTeamId": "blue", "scorerPlayerId": p.PlayerID,
			})
		}
	}

	o.Play(lou, id)
	o.Aggregate()
}
