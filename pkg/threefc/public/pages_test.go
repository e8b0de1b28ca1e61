package public_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/code"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

var update = flag.Bool("update", false, "rewrite the pages in testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// season is where the tests' games are.
const season = "/l/parkside/spring-2026"

// goal is the body of a goal.
type goal struct {
	Minute    int      `json:"gameMinute"`
	Scoring   string   `json:"scoringTeamId,omitempty"`
	Conceding string   `json:"concedingTeamId"`
	Scorer    string   `json:"scorerPlayerId"`
	Assists   []string `json:"assistPlayerIds,omitempty"`
	OwnGoal   bool     `json:"ownGoal,omitempty"`
}

// world is a world with a league, whose season is played in London.
func world(t *testing.T) (*threefctest.World, threefctest.League) {
	t.Helper()
	w := threefctest.New(t)
	w.SignIn("ann")
	l := w.Found("ann")
	w.Do("ann", "PATCH", "/v1/seasons/"+l.SeasonID, map[string]any{"timeZone": "Europe/London"})
	w.MoveClock(w.Clock.Now().Truncate(time.Second).Add(time.Second)) // starts of games have no fraction of a second

	return w, l
}

// score records the goals of a game whose first third is being played, and of its second.
func score(w *threefctest.World, l threefctest.League, g string) {
	w.T.Helper()

	post := func(one goal) { w.Do("ann", "POST", "/v1/games/"+g+"/goals", one) }
	post(goal{Minute: 7, Scoring: "red", Conceding: "blue", Scorer: l.Players[0], Assists: []string{l.Players[1], l.Players[2]}})
	post(goal{Minute: 23, Conceding: "yellow", Scorer: l.Players[6], OwnGoal: true})
	w.Do("ann", "POST", "/v1/games/"+g+"/thirds/1/finish", map[string]any{})
	w.Do("ann", "POST", "/v1/games/"+g+"/thirds/2/start", map[string]any{})
	post(goal{Minute: 2, Scoring: "yellow", Conceding: "red", Scorer: l.Players[7]})
	post(goal{Minute: 15, Scoring: "red", Conceding: "blue", Scorer: l.Players[0]})
}

// finish finishes a game whose second third is being played.
func finish(w *threefctest.World, g string) {
	w.T.Helper()

	for _, step := range []string{"thirds/2/finish", "thirds/3/start", "thirds/3/finish"} {
		w.Do("ann", "POST", "/v1/games/"+g+"/"+step, map[string]any{})
	}

	w.Do("ann", "POST", "/v1/games/"+g+"/finish", nil)
	w.Aggregate()
}

// slug returns the slug of a game.
func slug(w *threefctest.World, g string) string {
	w.T.Helper()
	return testkit.Decode[struct{ Slug string }](w.World, w.Do("ann", "GET", "/v1/games/"+g, nil)).Slug
}

// page is a page as a browser reads it.
type page struct {
	text string // with the markup
	root *html.Node
}

// read returns a page, after checks that hold for every page.
func read(w *threefctest.World, target string, status int) page {
	w.T.Helper()
	out := w.Ask("", "GET", target, nil)

	return parse(w.T, target, out, status)
}

func parse(t testing.TB, target string, out events.APIGatewayV2HTTPResponse, status int) page {
	t.Helper()

	h := testkit.Header(out)
	if out.StatusCode != status || h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%s: got %d of the type %q, want a page with %d: %s", target, out.StatusCode, h.Get("Content-Type"), status, out.Body)
	}

	root, err := html.Parse(strings.NewReader(out.Body))
	testkit.Must(t, err)

	p := page{out.Body, root}

	if (status < 400 || status == 404) && h.Get("Cache-Control") != "public, max-age=5" {
		t.Errorf("%s: Cache-Control is %q", target, h.Get("Cache-Control"))
	}

	sum := sha256.Sum256([]byte(p.all("style")[0].FirstChild.Data))
	if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'"; !strings.Contains(h.Get("Content-Security-Policy"), want) ||
		!strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; ") {
		t.Errorf("%s: the policy is %q, want %s", target, h.Get("Content-Security-Policy"), want)
	}

	for _, n := range p.all("script") {
		if attr(n, "type") == "application/ld+json" {
			continue
		}

		sum := sha256.Sum256([]byte(n.FirstChild.Data))
		if want := "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; connect-src 'self';"; !strings.Contains(
			h.Get("Content-Security-Policy"), want) {
			t.Errorf("%s: the policy is %q, want %s", target, h.Get("Content-Security-Policy"), want)
		}
	}

	for _, n := range p.all("") {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("%s: an element has the attribute %s=%q", target, a.Key, a.Val)
			}
		}
	}

	if n := p.all("html"); attr(n[0], "lang") != "en" {
		t.Errorf("%s: the page has no language", target)
	}

	if n := len(p.all("h1")); n != 1 {
		t.Errorf("%s: %d first headings, want 1", target, n)
	}

	for _, table := range p.all("table") {
		in := page{root: table}
		if len(in.all("caption")) != 1 {
			t.Errorf("%s: a table without a caption", target)
		}

		for _, th := range in.all("th") {
			if attr(th, "scope") == "" {
				t.Errorf("%s: the heading %q of a table has no scope", target, content(th))
			}
		}
	}

	return p
}

// all returns the elements with a name, "" for all.
func (p page) all(name string) (found []*html.Node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			found = append(found, n)
		}
	}

	return found
}

// find returns the first element with a class.
func (p page) find(class string) *html.Node {
	for _, n := range p.all("") {
		if slices.Contains(strings.Fields(attr(n, "class")), class) {
			return n
		}
	}

	return nil
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}

	return ""
}

// content is the text of an element.
func content(n *html.Node) string {
	var b strings.Builder

	for n := range n.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}

	return strings.Join(strings.Fields(b.String()), " ")
}

// meta returns the content of a meta element, or the target of a link.
func (p page) meta(name string) string {
	for _, n := range append(p.all("meta"), p.all("link")...) {
		if attr(n, "property") == name || attr(n, "name") == name || attr(n, "rel") == name {
			return attr(n, "content") + attr(n, "href")
		}
	}

	return ""
}

// data decodes the JSON-LD of a page.
func (p page) data(t testing.TB, into any) {
	t.Helper()

	for _, n := range p.all("script") {
		testkit.Must(t, json.Unmarshal([]byte(n.FirstChild.Data), into))
		return
	}

	t.Error("the page has no JSON-LD")
}

// golden compares a page without its style with that in testdata. The ends of slugs are random.
func (p page) golden(t *testing.T, name string) {
	t.Helper()

	got := regexp.MustCompile(`(2026-06-06-[0-9]+)-[0-9a-z]{4}`).ReplaceAllString(p.text, "$1-abcd")
	got = regexp.MustCompile(`(?s)<style>.+</style>`).ReplaceAllString(got, "<style></style>")

	file := filepath.Join("testdata", name+".html")
	if *update {
		testkit.Must(t, os.WriteFile(file, []byte(got), 0o644))
	}

	want, err := os.ReadFile(file)
	testkit.Must(t, err)

	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s\nif that is meant, go test ./pkg/threefc/public -update", file, diff)
	}
}

// TestPages: the pages of a season and of a game, from before its start to its end.
func TestPages(t *testing.T) {
	t.Parallel()
	w, l := world(t)
	read(w, season, 200).golden(t, "season-empty")
	g, later := w.Schedule("ann", l), w.Schedule("ann", l)
	w.Do("ann", "PATCH", "/v1/games/"+later, map[string]any{"gameStartTs": "2026-06-07T23:30:00Z", "location": "Powerleague, pitch 2"})
	url := season + "/" + slug(w, g)
	read(w, url, 200).golden(t, "game-scheduled")
	w.MoveClock(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC))
	w.Do("ann", "POST", "/v1/games/"+g+"/thirds/1/start", map[string]any{})
	score(w, l, g)
	read(w, url, 200).golden(t, "game-live")
	read(w, season, 200).golden(t, "season-live")
	finish(w, g)
	p := read(w, url, 200)
	p.golden(t, "game-finished")
	read(w, season, 200).golden(t, "season")
	parse(t, "nothing", w.Ask("", "GET", season+"/nothing", nil), 404).golden(t, "not-found")

	var data struct {
		Type       string `json:"@type"`
		Start      string `json:"startDate"`
		URL        string
		Competitor []struct{ Name string }
	}
	p.data(t, &data)

	if data.Type != "SportsEvent" || data.Start != "2026-06-06T19:00:00+01:00" || len(data.Competitor) != 3 ||
		data.URL != p.meta("canonical") {
		t.Errorf("the data are %+v", data)
	}

	if got := content(p.find("state")); got != "Finished. Red won: conceded 1 goal like Yellow, and scored more: 2." {
		t.Errorf("the result is %q", got)
	}

	if strings.Contains(p.text, "example.com") || strings.Contains(p.text, "ann") && strings.Contains(p.text, ">ann<") {
		t.Error("the page has more than nicknames")
	}

	var day string
	for _, n := range read(w, season, 200).all("h3") {
		day += content(n) + "; "
	}

	if day != "Monday 8 June 2026; Saturday 6 June 2026; " {
		t.Errorf("the days are %q: a game at 23:30 UTC is on the next day in London", day)
	}
}

// TestOutcomes: who has won, in words.
func TestOutcomes(t *testing.T) {
	t.Parallel()

	w, l := world(t)
	for name, c := range map[string]struct {
		goals []goal
		want  string
	}{
		"nothing": {nil, "A draw between Blue, Red and Yellow: each conceded no goals and scored 0."},
		"fewest conceded": {
			[]goal{{Scoring: "red", Conceding: "blue", Scorer: l.Players[0]}, {Scoring: "blue", Conceding: "yellow", Scorer: l.Players[3]}},
			"Red won and conceded fewest: no goals.",
		},
		"most scored": {
			[]goal{{Scoring: "red", Conceding: "yellow", Scorer: l.Players[0]}},
			"Red won: conceded no goals like Blue, and scored more: 1.",
		},
		"draw of two": {
			[]goal{{Conceding: "yellow", Scorer: l.Players[6], OwnGoal: true}},
			"A draw between Blue and Red: each conceded no goals and scored 0. Yellow lost.",
		},
	} {
		g := w.Game("ann", l)
		for _, one := range c.goals {
			w.Do("ann", "POST", "/v1/games/"+g+"/goals", one)
		}

		w.Play("ann", g)

		if got := content(read(w, season+"/"+slug(w, g), 200).find("state")); got != "Finished. "+c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestLinks: an id leads to the page of a slug, whatever other sites add to the link.
func TestLinks(t *testing.T) {
	t.Parallel()
	w, l := world(t)
	g := w.Schedule("ann", l)
	name := slug(w, g)

	game, list := "https://api.test/threefc"+season+"/"+name, "https://api.test/threefc"+season
	for target, want := range map[string]string{
		season:                                      list,
		"/l/" + l.ID + "/" + l.SeasonID:             list,
		season + "?fbclid=x&fbclid=y":               list,
		season + "/" + name:                         game,
		"/l/" + l.ID + "/" + l.SeasonID + "/" + g:   game,
		season + "/" + g + "?utm_source=a&utm=%zz;": game,
	} {
		p := read(w, target, 200)
		if got := p.meta("canonical"); got != want || p.meta("og:url") != want {
			t.Errorf("%s: the canonical link is %q, want %q", target, got, want)
		}
	}

	other := w.FoundAs("ann", "Meadow")
	for target, status := range map[string]int{
		"/l/nobody/spring-2026":                               404,
		"/l/parkside/autumn":                                  404,
		season + "/no-game":                                   404,
		"/l/parkside/" + other.SeasonID:                       404, // of another league
		season + "/" + w.Schedule("ann", other):               404,
		"/l/parkside/" + strings.Repeat("x", 41):              422,
		season + "?cursor=yesterday":                          422,
		"/l/%00/x":                                            404,
		"/l/<script>/x":                                       404,
		"/l/parkside/spring-2026/" + strings.Repeat("x", 600): 404,
	} {
		if p := read(w, target, status); p.meta("canonical") != "" || p.meta("robots") != "noindex" {
			t.Errorf("%s: search engines would keep the page", target)
		}
	}
}

// TestHostileNames: a name is text, wherever it is.
func TestHostileNames(t *testing.T) {
	t.Parallel()

	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</title></script><!-- ' " {{.}}`, `javascript:alert(1)//'"` + "`${1}`",
		"الأحمر محمد", "אדום", strings.Repeat("W", 40), strings.Repeat("🦊", 20), `a\u0022b</style>`,
	}
	w := threefctest.New(t)
	w.SignIn("ann")
	l := w.Found("ann")
	w.Do("ann", "PATCH", "/v1/leagues/"+l.ID, map[string]any{"name": hostile[1]})
	w.Do("ann", "PATCH", "/v1/seasons/"+l.SeasonID, map[string]any{"name": hostile[2]})

	for i, team := range []string{"red", "blue", "yellow"} {
		w.Do("ann", "PUT", "/v1/seasons/"+l.SeasonID+"/teams/"+team, map[string]any{"name": hostile[[]int{0, 4, 6}[i]]})
	}

	for i, p := range l.Players {
		w.Do("ann", "PATCH", "/v1/players/"+p, map[string]any{"nickname": hostile[i]})
	}

	g := w.Schedule("ann", l)
	w.Do("ann", "PATCH", "/v1/games/"+g, map[string]any{"location": hostile[3]})
	w.Do("ann", "POST", "/v1/games/"+g+"/thirds/1/start", map[string]any{})

	for i, p := range l.Players {
		team := []string{"red", "blue", "yellow", "red"}[i/3:]
		w.Do("ann", "POST", "/v1/games/"+g+"/goals", goal{Minute: i, Scoring: team[0], Conceding: team[1], Scorer: p})
	}

	w.Play("ann", g)
	w.Aggregate()

	url := "/l/" + l.ID + "/" + l.SeasonID
	for _, p := range []page{read(w, url, 200), read(w, url+"/"+g, 200)} {
		if n := len(p.all("img")); n > 0 {
			t.Errorf("%d images", n)
		}

		var said []string
		for _, n := range p.all("bdi") {
			said = append(said, content(n))
		}

		for _, name := range hostile {
			if !slices.Contains(said, name) {
				t.Errorf("the page does not have the name %q, isolated: %q", name, said)
			}
		}
	}

	p := read(w, url+"/"+g, 200)

	var data struct {
		Name      string
		Location  struct{ Name string }
		Organizer struct{ Name string }
	}
	p.data(t, &data)

	if diff := cmp.Diff([]string{hostile[4] + " – " + hostile[0] + " – " + hostile[6], hostile[3], hostile[1]},
		[]string{data.Name, data.Location.Name, data.Organizer.Name}); diff != "" {
		t.Errorf("the JSON-LD (-want +got):\n%s", diff)
	}

	if got := p.meta("og:site_name"); got != hostile[1] {
		t.Errorf("the site is %q, want %q", got, hostile[1])
	}

	if got := p.meta("description"); !strings.Contains(got, "\u2068"+hostile[4]+"\u2069") {
		t.Errorf("the description does not isolate what is written from right to left: %q", got)
	}
}

// fill puts a season's players, and one game with goals of 60 of them, into the table.
func fill(w *threefctest.World, l threefctest.League, g string, players, goals int) {
	at := w.Clock.Now()

	var (
		leaders  []standing.PlayerTotals
		stats    []item.Row[standing.PlayerTotals]
		profiles []item.Row[item.Player]
	)

	for i := range players {
		id := code.NewID(at)
		p := standing.PlayerTotals{PlayerID: id, Nickname: fmt.Sprintf("A player with the number %d", i), Games: 36, Goals: 1000 - i, Assists: 7}
		stats = append(stats, item.New(item.SeasonKey(l.SeasonID), "PLAYERSTAT#"+id, "Table", p, at))
		leaders = append(leaders, p)
		profiles = append(profiles, item.New(item.PlayerKey(id), item.Profile, "Player",
			item.Player{ID: id, LeagueID: l.ID, Nickname: p.Nickname}, at))
	}

	testkit.PutRows(w.World, tables.App, stats...)
	testkit.PutRows(w.World, tables.App, profiles...)
	testkit.PutRows(w.World, tables.App, item.New(item.SeasonKey(l.SeasonID), standing.Leaders, "Table", leaders[:min(100, players)], at))

	var rows []item.Row[item.Goal]

	for i := range goals {
		one := item.Goal{
			ID:        code.NewID(at),
			Third:     i%3 + 1,
			Minute:    i % 20,
			Scoring:   "red",
			Conceding: "blue",
			Scorer:    leaders[i%min(60, players)].PlayerID,
			Assists:   []string{leaders[(i+1)%min(60, players)].PlayerID},
		}
		rows = append(rows, item.New(item.GameKey(g), item.GoalKey(one), "Goal", one, at))
	}

	if rows != nil {
		testkit.PutRows(w.World, tables.App, rows...)
	}
}

// TestReadsOfPages: what a page costs has a bound, whatever the number of players. The page
// of a game reads the players of its goals, at most the 60 of its roster.
func TestReadsOfPages(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		players, goals     int
		season, game, feed float64 // read units
	}{
		{10, 0, 6, 4, 4},
		{1000, 0, 6, 4, 4},
		{10, 100, 6, 14, 4},
		{1000, 100, 6, 40, 4},
	} {
		t.Run(fmt.Sprintf("%d players, %d goals", c.players, c.goals), func(t *testing.T) {
			t.Parallel()
			w, l := world(t)
			g := w.Game("ann", l)
			fill(w, l, g, c.players, c.goals)

			url := season + "/" + slug(w, g)
			for target, most := range map[string]float64{"/l/parkside": c.season, season: c.season, url: c.game, season + "/calendar.ics": c.feed} {
				u := w.CountUnits(func() { w.Do("", "GET", target, nil) })
				t.Logf("%s: %v read units", target, u.Reads)

				if u.Reads > most || u.Writes > 0 {
					t.Errorf("%s: %v read and %v write units, want at most %v and none", target, u.Reads, u.Writes, most)
				}
			}

			if n := bytes.Count([]byte(read(w, url, 200).text), []byte(`class="at"`)); n != c.goals {
				t.Errorf("the page has %d goals, want %d", n, c.goals)
			}
		})
	}
}

// TestForgottenGameIsNotLive: half a day after its start the page of a game that nobody has finished says so, and does
// not load itself again.
func TestForgottenGameIsNotLive(t *testing.T) {
	t.Parallel()
	w, l := world(t)
	g := w.Game("ann", l)
	target := season + "/" + slug(w, g)
	row := testkit.Row[item.Row[item.Game]](w.World, tables.App, item.GameKey(g), item.Metadata)
	start := item.Parse(row.V().StartTs)

	for _, c := range []struct {
		after time.Duration
		live  bool
		state string
	}{
		{12*time.Hour - time.Second, true, "Live: the first third is being played."}, {12 * time.Hour, false, "Not finished."},
	} {
		w.MoveClock(start.Add(c.after))

		text := w.Do("", "GET", target, nil).Body
		if strings.Contains(text, " data-live") != c.live || !strings.Contains(text, c.state) ||
			strings.Contains(text, "Load the latest score") != c.live {
			t.Errorf("after %v the page is %s, want it live: %v, and %q", c.after, text, c.live, c.state)
		}
	}
}

// TestGamesByTheirState: a game that is played is live, whenever it was to start; one that has
// ended is a result, also before its time; one that has not begun on time may still begin. After half a day a
// game that nobody has finished or begun is neither.
func TestGamesByTheirState(t *testing.T) {
	t.Parallel()
	w, l := world(t)

	win := &item.Result{Winner: "red"}
	for i, g := range []item.Listing{
		{Slug: "old", Status: item.Finished, Result: win},
		{Slug: "late", Status: item.Scheduled},
		{Slug: "running", Status: item.Live},
		{Slug: "second", Status: item.Finished, Result: &item.Result{Drawn: []string{"red", "blue", "yellow"}}},
		{Slug: "now", Status: item.Scheduled},
		{Slug: "early", Status: item.Live},
		{Slug: "over", Status: item.Finished, Result: win},
		{Slug: "soon", Status: item.Scheduled},
		{Slug: "last", Status: item.Scheduled},
		{Slug: "forgotten", Status: item.Live},
		{Slug: "unplayed", Status: item.Scheduled},
	} {
		start := w.Clock.Now().Add(time.Duration(i-4) * time.Hour)
		if i > 8 {
			start = w.Clock.Now().Add(time.Duration(-i-3) * time.Hour)
		}

		g.GameID, g.StartTs, g.ThirdLength = code.NewID(start), item.Format(start), 20
		g.Teams = []item.Team{{TeamID: "red", Name: "Red"}, {TeamID: "blue", Name: "Blue"}, {TeamID: "yellow", Name: "Yellow"}}
		testkit.PutRows(w.World, tables.App, item.New(item.SeasonKey(l.SeasonID), item.StartKey(g.StartTs, g.GameID), "SessionGame", g, start))
	}

	var got []string

	for _, n := range read(w, season, 200).all("") {
		switch {
		case n.Data == "h2":
			got = append(got, content(n)+":")
		case n.Data == "a" && strings.Contains(attr(n, "href"), season+"/") && !strings.HasSuffix(attr(n, "href"), ".ics"):
			got = append(got, attr(n, "href")[strings.LastIndex(attr(n, "href"), "/")+1:])
		case n.Data == "span" && attr(n, "class") == "dim" && content(n) != "":
			got = append(got, "("+content(n)+")")
		}
	}

	want := "Standings: Live now: running (Live now) early (Live now) Next games: late (Not started) now soon last Results: over (Red won) " +
		"second (Draw: Red, Blue and Yellow) old (Red won) forgotten (Not finished) unplayed (Not played)"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
}

// TestShirts: the style of a page has the color of each team once, with a text that can be read.
func TestShirts(t *testing.T) {
	t.Parallel()
	w, l := world(t)
	w.Do("ann", "PUT", "/v1/seasons/"+l.SeasonID+"/teams/yellow", map[string]any{"color": "#ffffff"})
	g := w.Schedule("ann", l)
	w.Schedule("ann", l)

	const want = ".c-0057b8{background:#0057b8;color:#ffffff}\n.c-c8102e{background:#c8102e;color:#ffffff}\n.c-ffffff{background:#ffffff;color:#000000}\n"

	for _, target := range []string{season, season + "/" + slug(w, g)} {
		style := read(w, target, 200).all("style")[0].FirstChild.Data
		if diff := cmp.Diff(want, style[strings.Index(style, ".c-"):]); diff != "" {
			t.Errorf("the shirts of %s (-want +got):\n%s", target, diff)
		}
	}
}

// TestNoEarlierGames: 40 results fit on the page.
func TestNoEarlierGames(t *testing.T) {
	t.Parallel()

	w, l := world(t)
	for i := range 41 {
		start := w.Clock.Now().Add(-time.Duration(i+1) * time.Hour)
		g := item.Listing{
			GameID:      code.NewID(start),
			Slug:        fmt.Sprint("game-", i),
			StartTs:     item.Format(start),
			ThirdLength: 20,
			Status:      item.Scheduled,
		}
		testkit.PutRows(w.World, tables.App, item.New(item.SeasonKey(l.SeasonID), item.StartKey(g.StartTs, g.GameID), "SessionGame", g, start))

		if i < 39 {
			continue
		}

		if got, want := strings.Contains(read(w, season, 200).text, `rel="next"`), i == 40; got != want {
			t.Errorf("with %d games there is a link to earlier ones: %v", i+1, got)
		}
	}
}

// TestNextGames: the first 20 are on the page.
func TestNextGames(t *testing.T) {
	t.Parallel()

	w, l := world(t)
	for i := range 21 {
		start := w.Clock.Now().Add(time.Duration(i) * time.Hour)
		g := item.Listing{
			GameID:      code.NewID(start),
			Slug:        fmt.Sprint("game-", i),
			StartTs:     item.Format(start),
			ThirdLength: 20,
			Status:      item.Scheduled,
		}
		testkit.PutRows(w.World, tables.App, item.New(item.SeasonKey(l.SeasonID), item.StartKey(g.StartTs, g.GameID), "SessionGame", g, start))
	}

	text := read(w, season, 200).text
	// in the list and in the JSON-LD
	if got := strings.Count(text, `/game-`); got != 2*20 || !strings.Contains(text, "/game-0") || !strings.Contains(text, "/game-19") {
		t.Errorf("%d links, want 40 to the games from 0 to 19", got)
	}
}

// TestEarlierGames: the pages of results have each game once, also of those that start at
// the same time, and what they read has a bound.
func TestEarlierGames(t *testing.T) {
	t.Parallel()
	w, l := world(t)

	var rows []item.Row[item.Listing]

	want := map[string]int{}

	for i := range 100 {
		start, id := w.Clock.Now().Add(-time.Duration(i/4*24+1)*time.Hour), code.NewID(w.Clock.Now())

		g := item.Listing{
			GameID:      id,
			Slug:        fmt.Sprintf("game-%d", i),
			StartTs:     item.Format(start),
			ThirdLength: 20,
			Status:      item.Scheduled,
			Players:     map[string]item.Tally{},
		}
		for range 30 {
			g.Players[code.NewID(w.Clock.Now())] = item.Tally{TeamID: "red", Games: 1, Goals: 1}
		}

		rows = append(rows, item.New(item.SeasonKey(l.SeasonID), item.StartKey(g.StartTs, id), "SessionGame", g, w.Clock.Now()))
		want[g.Slug] = 1
	}

	testkit.PutRows(w.World, tables.App, rows...)

	got, target, n := map[string]int{}, season, 0
	for ; target != "" && n < 10; n++ {
		if u := w.CountUnits(func() { w.Do("", "GET", target, nil) }); u.Reads > 30 {
			t.Errorf("a page with 40 games costs %v read units", u.Reads)
		}

		p := read(w, target, 200)
		target = ""

		for _, a := range p.all("a") {
			href := strings.TrimPrefix(attr(a, "href"), "https://api.test/threefc")
			if attr(a, "rel") == "next" {
				target = href
			} else if name, ok := strings.CutPrefix(href, season+"/game-"); ok {
				got["game-"+name]++
			}
		}
	}

	if diff := cmp.Diff(want, got); diff != "" || n != 3 {
		t.Errorf("%d pages have the games (-want +got):\n%s", n, diff)
	}
}

// TestFailingPages: a refusal is a page, too, with what to do. Nobody keeps that of a failure.
func TestFailingPages(t *testing.T) {
	t.Parallel()

	const failure, wrong, nothing = "This page does not work right now", "This link is not valid", "There is nothing here"
	for status, want := range map[int][]string{
		400: {wrong, "no-store"},
		403: {wrong, "no-store"},
		404: {nothing, "public, max-age=5"},
		422: {wrong, "no-store"},
		499: {wrong, "no-store"},
		500: {failure, "no-store"},
		503: {failure, "no-store"},
	} {
		h, text := (&web.Page{}).Refusal(status, "")

		p := parse(t, fmt.Sprint(status), events.APIGatewayV2HTTPResponse{StatusCode: status, Headers: map[string]string{
			"Content-Type":            h.Get("Content-Type"),
			"Cache-Control":           h.Get("Cache-Control"),
			"Content-Security-Policy": h.Get("Content-Security-Policy"),
		}, Body: string(text)}, status)
		if diff := cmp.Diff(want, []string{content(p.all("h1")[0]), h.Get("Cache-Control")}); diff != "" {
			t.Errorf("%d (-want +got):\n%s", status, diff)
		}
	}

	if _, text := (&web.Form{}).Refusal(503, "what no visitor should read"); !bytes.Contains(text, []byte("try again")) {
		t.Errorf("a failure is %s", text)
	}
}
