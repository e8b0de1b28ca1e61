package threefc_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
)

// story writes down requests with their answers.
type story struct {
	*match
	names map[string]string // of ids, in the order in which answers have them
	text  strings.Builder
}

var (
	anyID   = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	anyUser = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyHash = regexp.MustCompile(`\b[0-9a-f]{64}\b|[A-Za-z0-9_-]{43}`)
	anySlug = regexp.MustCompile(`([0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]+)-[a-z0-9]{4}\b`)
	anyCode = regexp.MustCompile(`("code":"|/join/)[0-9A-Z]{8}\b`)
	anyTag  = regexp.MustCompile(`^"[A-Za-z0-9_-]{16}"$`)
)

// plain returns text without what is new in each run.
func (s *story) plain(text string) string {
	for long, short := range s.names {
		text = strings.ReplaceAll(strings.ReplaceAll(text, long, short), strings.ToLower(long), short)
	}

	text = anyCode.ReplaceAllString(text, "${1}CODE")
	text = anySlug.ReplaceAllString(text, "$1-SLUG")

	return anyHash.ReplaceAllString(anyUser.ReplaceAllString(anyID.ReplaceAllString(text, "?"), "USER"), "HASH")
}

// send makes a request a second after the last, writes it down and returns the answer's body.
func (s *story) send(user, method, target string, body any, headers ...threefctest.Header) string {
	s.T.Helper()
	s.pass(time.Second)

	out := s.Ask(user, method, target, body, headers...)
	for _, id := range anyID.FindAllString(out.Body, -1) {
		if s.names[id] == "" {
			s.names[id] = fmt.Sprint("ID", len(s.names)+1)
		}
	}

	h := testkit.Header(out)
	fmt.Fprintf(&s.text, "%s %s %s\n  %d", cmp.Or(user, "anybody"), method, s.plain(target), out.StatusCode)

	for _, name := range []string{"Content-Type", "Cache-Control", "ETag", "Location", "Retry-After"} {
		if v := anyTag.ReplaceAllString(h.Get(name), "TAG"); v != "" && v != "application/json" {
			fmt.Fprintf(&s.text, " %s: %s", name, s.plain(v))
		}
	}

	for _, c := range out.Cookies {
		fmt.Fprintf(&s.text, " Set-Cookie: %s", s.plain(c))
	}

	s.text.WriteByte('\n')

	if kind := h.Get("Content-Type"); strings.Contains(kind, "json") || strings.HasPrefix(kind, "text/calendar") {
		fmt.Fprintf(&s.text, "  %s\n", strings.TrimSpace(s.plain(out.Body)))
	}

	return out.Body
}

// id returns a member of an answer.
func (s *story) id(body, name string) string {
	s.T.Helper()

	var all map[string]any
	testkit.Must(s.T, json.Unmarshal([]byte(body), &all))

	text, _ := all[name].(string)
	if text == "" {
		s.T.Fatalf("no %s in %s", name, body)
	}

	return text
}

// TestStory: a season from its first day to its last, with the answers to all requests and the
// items that are left. UPDATE=1 writes the file.
func TestStory(t *testing.T) {
	t.Parallel()
	s := &story{match: &match{World: threefctest.New(t)}, names: map[string]string{}}
	s.Accounts()
	s.SignIn("ann", "sam", "vic", "eve")
	do := s.send

	do("", "GET", "/health", nil)
	do("ann", "GET", "/v1/leagues", nil)
	league := s.id(do("ann", "POST", "/v1/leagues", map[string]any{"name": "Parkside"}, threefctest.Key("first")), "leagueId")
	do("ann", "POST", "/v1/leagues", map[string]any{"name": "Parkside"}, threefctest.Key("first"))

	l := "/v1/leagues/" + league
	do("ann", "PATCH", l, map[string]any{"name": "Parkside 3", "slug": "parkside-3"})
	s.Join(threefctest.League{ID: league}, "scorekeeper", "sam")
	s.Join(threefctest.League{ID: league}, "viewer", "vic")

	for _, user := range []string{"ann", "sam", "vic", "eve"} {
		do(user, "GET", l, nil)
	}

	do("ann", "PUT", l+"/access/vic", map[string]any{"role": "scorekeeper"})
	do("ann", "PUT", l+"/access/vic", map[string]any{"role": "viewer"})
	do("ann", "POST", l+"/access", map[string]any{"email": "lena@example.com", "role": "viewer"})
	do("ann", "GET", l+"/access", nil)

	for _, user := range []string{"ann", "sam", "vic", "eve"} {
		do(user, "GET", "/v1/leagues", nil)
	}

	season := s.id(do("ann", "POST", l+"/seasons", map[string]any{"name": "Spring 2026", "startsOn": "2026-03-01", "endsOn": "2026-06-30"}),
		"seasonId")
	x := "/v1/seasons/" + season
	do("ann", "PATCH", x, map[string]any{"name": "Summer 2026", "slug": "summer-2026"})

	for _, team := range []string{"red", "blue", "yellow"} {
		do("ann", "PUT", x+"/teams/"+team, map[string]any{})
	}

	do("ann", "PUT", x+"/teams/red", map[string]any{"name": "Reds", "color": "#aa0000"})
	do("ann", "PUT", x+"/teams/red", map[string]any{"name": "Reds", "color": "#aa0000"})
	do("ann", "PUT", x+"/teams/green", map[string]any{"name": "Greens", "color": "#00aa00"})
	do("ann", "DELETE", x+"/teams/green", nil)
	do("vic", "GET", x+"/teams", nil)
	do("vic", "GET", x, nil)
	do("vic", "GET", l+"/seasons", nil)
	late := s.id(do("sam", "POST", x+"/sessions", map[string]any{"sessionDate": "2026-06-13"}), "sessionId")
	day := s.id(do("sam", "POST", x+"/sessions", map[string]any{"sessionDate": "2026-06-06"}), "sessionId")
	do("sam", "POST", x+"/sessions", map[string]any{"sessionDate": "tomorrow"})
	do("vic", "GET", x+"/sessions", nil)
	do("ann", "DELETE", "/v1/sessions/"+late, nil)

	for _, name := range []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida"} {
		s.l.Players = append(s.l.Players, s.id(do("sam", "POST", "/v1/players", map[string]any{"leagueId": league, "nickname": name}),
			"playerId"))
	}

	do("sam", "PATCH", "/v1/players/"+s.l.Players[8], map[string]any{"nickname": "Ines"})
	do("vic", "POST", "/v1/players/"+s.l.Players[0]+"/claim", nil)
	do("eve", "POST", "/v1/players/"+s.l.Players[0]+"/claim", nil)
	do("eve", "POST", "/v1/players/"+s.l.Players[1]+"/claim", nil)
	do("eve", "DELETE", "/v1/players/"+s.l.Players[1]+"/claim", nil)
	do("vic", "GET", "/v1/players/"+s.l.Players[0], nil)
	do("vic", "GET", l+"/players", nil)
	do("vic", "PUT", "/v1/sessions/"+day+"/availability", map[string]any{"status": "maybe"})
	do("vic", "GET", "/v1/sessions/"+day+"/availability", nil)
	do("vic", "PUT", "/v1/me/preferences", map[string]any{"finishedGames": true, "reminders": false})
	do("vic", "GET", "/v1/me/preferences", nil)
	do("sam", "GET", "/v1/me/preferences", nil)

	s.id(do("sam", "POST", "/v1/sessions/"+day+"/games", map[string]any{"gameStartTs": "2026-06-06T20:00:00Z", "thirdLength": 25}), "gameId")

	s.match.id = s.id(do("sam", "POST", "/v1/sessions/"+day+"/games",
		map[string]any{"gameStartTs": "2026-06-06T18:00:00Z", "thirdLength": 20}), "gameId")
	for i, p := range s.l.Players {
		do("sam", "PUT", s.path("roster", p), map[string]any{"teamId": sides[i/3]})
	}

	do("sam", "DELETE", s.path("roster", s.l.Players[8]), nil)
	do("vic", "GET", s.path("roster"), nil)
	joining := s.id(do("sam", "POST", s.path("join-code"), nil), "code")
	s.names[joining] = "CODE"
	do("", "POST", "/v1/join/"+joining, map[string]any{"nickname": "Evie"})
	do("vic", "POST", "/v1/join/"+joining, map[string]any{})
	do("sam", "GET", "/v1/join/"+joining+"/qr.png", nil)
	do("vic", "GET", s.path("pool"), nil)
	do("sam", "PATCH", s.path(), map[string]any{"gameStartTs": "2026-06-06T18:30:00Z"})
	do("vic", "GET", "/v1/sessions/"+day+"/games", nil)

	do("sam", "POST", s.path("thirds/1/start"), map[string]any{})

	var goals []string

	for i, against := range []string{"blue", "yellow", "yellow", "red", "blue"} {
		s.pass(time.Minute)

		g := s.goalOf([]int{0, 2, 4, 5, 3}[i], against)
		if i == 0 {
			g.Assists = []string{s.l.Players[1]}
		}

		body := do("sam", "POST", s.path("goals"), g)
		goals = append(goals, s.id(lastGoal(t, body), "eventId"))
	}

	do("sam", "PATCH", s.path("goals", goals[0]), s.goalOf(1, "yellow"))
	do("sam", "DELETE", s.path("goals", goals[1]), nil)
	do("sam", "POST", s.path("goals/undo"), map[string]any{}, threefctest.Header{Name: "if-match", Value: `"0"`})
	do("sam", "POST", s.path("goals/undo"), map[string]any{})
	do("sam", "POST", s.path("goals/undo"), map[string]any{}, threefctest.Match(s.Ask("sam", "GET", s.path(), nil)))
	do("vic", "GET", s.path("goals"), nil)
	do("vic", "GET", s.path(), nil)

	const public = "/v1/public/leagues/parkside-3/seasons/summer-2026/games/"

	slug := s.id(s.Ask("vic", "GET", s.path(), nil).Body, "slug")
	do("", "GET", public+slug, nil)

	for _, step := range []string{"thirds/1/finish", "thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish"} {
		s.pass(10 * time.Minute)
		do("sam", "POST", s.path(step), map[string]any{})
	}

	do("sam", "POST", s.path("finish"), nil)
	do("sam", "POST", s.path("goals"), s.goalOf(0, "blue"))
	do("ann", "POST", s.path("reopen"), nil)
	do("ann", "POST", s.path("finish"), nil)
	s.Aggregate()
	do("ann", "GET", s.path("audit"), nil)
	do("", "GET", public+slug, nil)
	do("", "GET", public+slug+"/timeline", nil)
	do("", "GET", "/v1/public/seasons/"+season+"/standings", nil)
	do("", "GET", "/v1/public/seasons/"+season+"/leaderboards/players", nil)
	do("", "GET", "/l/parkside-3/summer-2026/calendar.ics", nil)
	do("", "GET", "/l/parkside-3/summer-2026", nil)
	do("", "GET", "/l/parkside-3/summer-2026/"+slug, nil)
	do("", "GET", "/l/parkside-3/winter", nil)
	do("vic", "GET", "/v1/me/stats", nil)
	do("ann", "POST", "/v1/players/"+s.l.Players[5]+"/merge", map[string]any{"intoPlayerId": s.l.Players[4]})
	s.Aggregate()
	do("vic", "GET", "/v1/players/"+s.l.Players[4], nil)
	do("vic", "GET", "/v1/players/"+s.l.Players[5], nil)
	do("", "GET", "/v1/public/seasons/"+season+"/leaderboards/players", nil)
	do("ann", "POST", x+"/copy", map[string]any{"name": "Autumn 2026"})
	do("ann", "DELETE", x, nil)
	do("ann", "DELETE", l, nil)
	do("vic", "DELETE", l+"/access/vic", nil)
	do("vic", "GET", l, nil)
	do("eve", "GET", "/v1/auth/session", nil)
	do("eve", "DELETE", "/v1/account", nil)
	do("eve", "DELETE", "/v1/auth/session", nil)
	do("eve", "GET", "/v1/auth/session", nil)

	s.text.WriteString("\nthe items\n")

	var rows []string

	for _, r := range everything(s.World) {
		text, err := json.Marshal(r)
		testkit.Must(t, err)

		rows = append(rows, "  "+s.plain(string(text)))
	}

	slices.Sort(rows)
	s.text.WriteString(strings.Join(rows, "\n") + "\n")

	const file = "testdata/story.golden"
	if os.Getenv("UPDATE") != "" {
		testkit.Must(t, os.WriteFile(file, []byte(s.text.String()), 0o644))
		return
	}

	want, err := os.ReadFile(file)
	testkit.Must(t, err)

	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(s.text.String(), "\n")); diff != "" {
		t.Errorf("the story differs from %s; UPDATE=1 writes it (-want +got):\n%s", file, diff)
	}
}

// lastGoal returns the goal of an answer.
func lastGoal(t *testing.T, body string) string {
	t.Helper()

	var out struct{ Goal json.RawMessage }
	testkit.Must(t, json.Unmarshal([]byte(body), &out))

	return string(out.Goal)
}
