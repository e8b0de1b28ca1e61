package organise_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/rooms/threefc/threefctest/phonetest"
	"matchday/infra/testkit"
	"matchday/pkg/spec"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// season is a world with the phones of people, who do everything by its pages.
type season struct {
	*threefctest.World
	url    string
	phones []*phonetest.Phone

	mu sync.Mutex // one request at a time, and none while the clocks are set
}

// begin serves the pages of a world.
func begin(t *testing.T) *season {
	t.Helper()

	s := &season{World: threefctest.New(t)}
	s.Accounts()

	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)

	s.url = server.URL
	s.Settings[spec.EnvAPI], s.Origin = s.url, s.url
	s.Routes = s.ServeRoutes()

	return s
}

// serve answers a request of a phone, by whose name its cookies are kept.
func (s *season) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, c := range s.Answer(w, r, r.UserAgent()).Cookies {
		s.SetCookie(r.UserAgent(), c)
	}
}

// phone gives somebody a phone.
func (s *season) phone(t *testing.T, name string) *phonetest.Phone {
	t.Helper()

	p := phonetest.New(t, s.url, s.Clock.Now(), chromedp.UserAgent(name))
	s.phones = append(s.phones, p)

	return p
}

// passed sets the clocks of 3FC and of all phones.
func (s *season) passed(now time.Time) {
	s.T.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()

	s.MoveClock(now)

	for _, p := range s.phones {
		p.SetClock(now)
	}
}

// follow opens the link of the latest mail to an address on a phone.
func (s *season) follow(p *phonetest.Phone, email, subject string) {
	s.T.Helper()

	box := s.Mail.Mailbox(email)
	if len(box) == 0 || !regexp.MustCompile(subject).MatchString(box[len(box)-1].Subject) {
		s.T.Fatalf("the latest of the mails to %s is not %q: %v", email, subject, box)
	}

	p.Run(chromedp.Navigate(regexp.MustCompile(`http\S+`).FindString(box[len(box)-1].Text)))
}

// signIn signs somebody in, from a page with the link to do so to the one that has a title.
func (s *season) signIn(p *phonetest.Phone, email, title string) {
	s.T.Helper()
	p.Press("Sign in by mail", "h1", "Sign in to 3FC")
	p.Write(phonetest.Labelled("Your mail address"), email)
	p.Press("Mail me a link", "h1", "Look into your mails")
	s.follow(p, email, "Sign in")
	p.Press("Sign in", "h1", "You are signed in")
	p.Press("Continue", "h1", title)
}

// open opens the page of the session, or of its game, from the first page on.
func (s *season) open(p *phonetest.Phone, game bool) {
	s.T.Helper()
	p.Run(chromedp.Navigate(s.url + "/home"))
	p.Press("Parkside", "h1", "Parkside")
	p.Press("Spring 2026", "h1", "Spring 2026")
	p.Press("Monday 8 June 2026", "h1", "Session on Monday 8 June 2026")

	if game {
		p.Press("Game at 19:00: Blue, Red, Yellow", "h1", "Game at 19:00")
	}
}

// TestSeasonInABrowser: from the founder's first mail to the final table, with phones, each with a browser of its
// own, and by nothing but pages: the founder's, that of a scorekeeper, who is the parent of a player, too, and that
// of a guest. The networks of both who score are cut, and each goal counts once. Loading a page again, or going back,
// repeats nothing. The pictures are those of docs.
func TestSeasonInABrowser(t *testing.T) {
	t.Parallel()

	s := begin(t)
	lou := s.phone(t, "lou")

	lou.Run(chromedp.Navigate(s.url + "/home"))
	s.signIn(lou, "lou@example.com", "Your leagues")
	s.found(lou)

	sam, gus := s.phone(t, "sam"), s.phone(t, "gus")

	s.invite(lou, sam)
	s.join(lou, sam, gus)
	s.remind(lou, sam)
	s.score(lou, sam, gus)

	s.Aggregate()
	s.Notify()
	s.follow(sam, "sam@example.com", "the result of your game")
	sam.Run(consoletest.Says("#state", "Finished"), consoletest.Says("#state", "Red"))

	lou.Run(chromedp.Navigate(s.url + "/home"))
	lou.Press("Parkside", "h1", "Parkside")
	lou.Press("The page that everybody sees", "main", "Standings")
	lou.Pictures("threefc-league")
	lou.Press("Spring 2026", "h1", "Spring 2026")
	lou.Run(consoletest.Says("main", "Standings"))

	rows, err := consoletest.Run(lou.Tab, chromedp.Evaluate[[]string](
		`[...document.querySelectorAll("tbody tr")].map((tr) => [...tr.children].map((one) => one.textContent).join(" "))`))
	testkit.Must(t, err)

	slices.Sort(rows) // who has scored as often has no order

	if want := []string{
		"1 Red 1 1 0 0 2 0 0 2", "2 Blue 1 0 0 1 1 2 0 1", "2 Yellow 1 0 0 1 1 2 0 1",
		"Ada 1 0 1 1 0", "Cy 1 0 1 1 0", "Ed 1 0 1 1 0", "Zoe 1 0 1 1 0",
	}; !slices.Equal(rows, want) {
		t.Errorf("the final table and the scorers are %q, want %q", rows, want)
	}

	expected := regexp.MustCompile(`ERR_INTERNET_DISCONNECTED|status of 401`) // without a network, and of a guest before the PIN

	for _, p := range s.phones {
		for _, said := range p.Complaints() {
			if p == lou || !expected.MatchString(said) {
				t.Errorf("a page complained %q", said)
			}
		}
	}
}

// found makes a league with players, a season, a session, and a game with its line-up.
func (s *season) found(lou *phonetest.Phone) {
	s.T.Helper()
	lou.Write(phonetest.Field("create-league", "name"), "Parkside")
	lou.Press("Create the league", "h1", "Parkside")

	players := []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo"}
	for _, name := range players {
		lou.Write(phonetest.Field("add-player", "nickname"), name)
		lou.Press("Add the player", "main", name)
	}

	lou.Run(chromedp.Reload(), consoletest.Says("h1", "Parkside"), chromedp.NavigateBack(), consoletest.Says("h1", "Parkside"),
		chromedp.Reload(), consoletest.Says("main", "Flo"))
	lou.Pictures("threefc-organiser-league")
	lou.Write(phonetest.Field("create-season", "name"), "Spring 2026")
	lou.Press("Create the season", "h1", "Spring 2026")
	lou.Press("Add Blue, Red and Yellow", ".done", "The teams are added.")
	lou.Choose(phonetest.Field("create-session", "sessionDate"), "2026-06-08")
	lou.Press("Create the session", "h1", "Session on Monday 8 June 2026")
	lou.Pictures("threefc-organiser-session")
	lou.Choose(phonetest.Field("create-game", "time"), "19:00")
	lou.Write(phonetest.Field("create-game", "location"), "Pitch 2")
	lou.Press("Create the game", "h1", "Game at 19:00")
	lou.Press("Change the line-up", "h1", "Line-up")
	lou.Run(consoletest.See(`document.querySelectorAll("select[name^=seat]").length === 6`)) // no player is there twice

	for i, name := range players {
		lou.Choose(phonetest.Labelled(name), []string{"Red", "Blue", "Yellow"}[i/2])
	}

	lou.Pictures("threefc-organiser-line-up")
	lou.Press("Save the line-up", ".done", "The line-up is saved.")
	lou.Pictures("threefc-organiser")
}

// invite makes sam a scorekeeper, by a mail to a phone that is not signed in.
func (s *season) invite(lou, sam *phonetest.Phone) {
	s.T.Helper()
	lou.Run(chromedp.Navigate(s.url + "/home"))
	lou.Press("Parkside", "h1", "Parkside")
	lou.Write(phonetest.Field("invite", "email"), "sam@example.com")
	lou.Choose(phonetest.Field("invite", "role"), "scorekeeper")
	lou.Press("Mail the invitation", ".done", "The invitation is on its way.")

	s.follow(sam, "sam@example.com", "")
	sam.Run(consoletest.Says("h1", "Sign in first"))
	s.signIn(sam, "sam@example.com", "You are invited")
	sam.Press("Accept", "main", "You are scorekeeper of")
}

// join lets gus join by a code as a new player, whom lou puts into a team, and sam claim a player.
func (s *season) join(lou, sam, gus *phonetest.Phone) {
	s.T.Helper()
	s.open(lou, true)
	lou.Press("Make a code to join", "main", "Whoever has this code")
	lou.Run(consoletest.See(`document.querySelector(".qr").naturalWidth > 100`))

	code := lou.Link("The link to join")

	gus.Run(chromedp.Navigate(code), consoletest.Says("h1", "Join the game"))
	gus.Write(phonetest.Labelled("Your name"), "Zoe")
	gus.Pictures("threefc-join")
	gus.Choose(phonetest.Labelled("Your picture"), "🦊")
	gus.Press("Join", "h1", "You are in")

	sam.Run(chromedp.Navigate(code), consoletest.Says("h1", "Join the game"))
	sam.Choose(phonetest.Labelled("Your name in the league"), "Ada")
	sam.Press("That is me: join", "main", "You play as Ada.")

	s.open(lou, true)
	lou.Run(consoletest.Says("main", "Zoe"))
	lou.Press("Change the line-up", "h1", "Line-up")
	lou.Choose(phonetest.Labelled("Zoe"), "Red")
	lou.Press("Save the line-up", ".done", "The line-up is saved.")
}

// remind lets sam answer the reminder, on the day before the session.
func (s *season) remind(lou, sam *phonetest.Phone) {
	s.T.Helper()
	s.passed(time.Date(2026, 6, 7, 11, 0, 0, 0, time.UTC))
	s.Remind()
	s.follow(sam, "sam@example.com", "will you play on 2026-06-08")
	sam.Run(consoletest.Says("h1", "Will you play on"), consoletest.Says("main", "Ada"))
	sam.Press("In", ".done", "You are in.")
	sam.Pictures("threefc-availability")

	s.open(lou, false)
	lou.Run(consoletest.Says("main", "In (1)"), consoletest.Says("main", "Maybe (0)"))
}

// score scores the game on two phones, that of a scorekeeper and that of a guest.
func (s *season) score(lou, sam, gus *phonetest.Phone) {
	s.T.Helper()
	lou.Press("Make a PIN", "main", "Whoever has this PIN")

	start := time.Date(2026, 6, 8, 18, 0, 0, 0, time.UTC)
	s.passed(start)
	gus.Run(chromedp.Navigate(lou.Link("The scoring link")), consoletest.See(`document.querySelector("#pin").value.length === 8`))
	gus.Press("Score with the PIN", "#third", "Not started")

	s.open(sam, false)
	sam.Press("Score the games", "#third", "Not started")
	gus.Tap("start third 1")
	gus.Sees("everything is sent")
	sam.Look()
	sam.Run(consoletest.Says("#third", "Third 1"))

	const (
		ada  = "1. third, 5' · Ada · Red against Blue"
		cy   = "1. third, 7' · Cy · Blue against Yellow"
		late = "1. third, 10' · Ed · Yellow against Blue"
		zoe  = "2. third, 3' · Zoe · Red against Yellow"
	)

	// The network of the guest is cut, and the scorekeeper's goal is there first.
	s.passed(start.Add(5 * time.Minute))
	gus.Offline(true)
	gus.Tap("GOAL", "Red", "Blue", "Ada")
	gus.Sees("1 waiting")
	s.passed(start.Add(7 * time.Minute))
	sam.Tap("GOAL", "Blue", "Yellow", "Cy")
	sam.Sees("everything is sent")
	sam.Shown(cy)
	gus.Offline(false)
	gus.Sees("everything is sent")
	gus.Shown(cy, ada)
	sam.Look()
	sam.Shown(cy, ada)

	// That of the scorekeeper is cut, and the guest finishes the third meanwhile: the goal waits for the founder.
	s.passed(start.Add(10 * time.Minute))
	sam.Offline(true)
	sam.Tap("GOAL", "Yellow", "Blue", "Ed")
	sam.Sees("1 waiting")
	sam.Shown(late, cy, ada)
	sam.Pictures("threefc-scorekeeper")
	s.passed(start.Add(20 * time.Minute))
	gus.Tap("finish third 1")
	gus.Sees("everything is sent")
	sam.Offline(false)
	sam.Sees("everything is sent")
	sam.Shown(cy, ada)
	sam.Run(consoletest.Says("#late-list", late))

	s.open(lou, true)
	lou.Run(consoletest.Says("main", "Goals that came too late"))
	lou.Press("Accept this goal", "main", "Back without a change")
	lou.Press("Accept the goal", ".done", "The goal counts.")

	for _, p := range []*phonetest.Phone{sam, gus} {
		p.Look()
		p.Shown(late, cy, ada)
	}

	s.passed(start.Add(25 * time.Minute))
	sam.Tap("start third 2")
	sam.Sees("everything is sent")
	s.passed(start.Add(28 * time.Minute))
	gus.Tap("GOAL", "Red", "Yellow", "Zoe")
	gus.Sees("everything is sent")
	sam.Look()
	sam.Shown(zoe, late, cy, ada)
	sam.Tap("finish third 2", "start third 3", "finish third 3", "finish the game")
	sam.Sees("everything is sent")

	for _, p := range []*phonetest.Phone{sam, gus} {
		p.Look()
		p.Run(consoletest.Says("#third", "Finished"))
		p.Shown(zoe, late, cy, ada)
	}
}
