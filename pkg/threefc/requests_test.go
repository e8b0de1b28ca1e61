package threefc_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/player"
)

// TestAvatarIsOneEmoji: whatever it is made of, and nothing else.
func TestAvatarIsOneEmoji(t *testing.T) {
	t.Parallel()

	m := club(t)
	for avatar, want := range map[string]string{
		"🦊":                               "201",
		"⚽":                               "201",
		"❤️":                              "201",
		"👍🏽":                              "201",
		"👨‍👩‍👧‍👦":                         "201",
		"👩🏽‍❤️‍💋‍👨🏿":                      "201",
		"🏳️‍🌈":                            "201",
		"🇮🇪":                              "201",
		"🏴󠁧󠁢󠁥󠁮󠁧󠁿":                         "201",
		"7️⃣":                             "201",
		"<b>":                             "422",
		"A":                               "422",
		"Foxy":                            "422",
		"7":                               "422",
		"好":                               "422",
		"한":                               "422",
		"🦊🦊":                              "422",
		"🦊 ":                              "422",
		" ":                               "422",
		"":                                "422",
		"🦊x":                              "422",
		"™":                               "422",
		"🏽":                               "422",
		"\u200d🦊":                         "422",
		"##️⃣":                            "422",
		"#️⃣":                             "201",
		"\u200b":                          "422",
		"\ufe0f":                          "422",
		"\u202e🦊":                         "422",
		"🦊" + strings.Repeat("\u0301", 5): "422",
		strings.Repeat("👩‍", 9) + "👩":     "422",
	} {
		out := m.Ask("sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Foxy", "avatar": avatar})
		if got := code(out)[:3]; got != want {
			t.Errorf("%+q: %s %s, want %s", avatar, got, out.Body, want)
		}

		if want == "422" {
			if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.avatar"); err != nil {
				t.Errorf("%+q: %v", avatar, err)
			}
		} else if got := testkit.Decode[player.Player](m.World.World, out).Avatar; got != avatar {
			t.Errorf("%+q became %+q", avatar, got)
		}
	}
}

// TestBadAvatarOfAPlayer: a change is checked like a new player.
func TestBadAvatarOfAPlayer(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/players/" + m.l.Players[0]
	out := m.Ask("sam", "PATCH", path, map[string]any{"avatar": "Foxy", "nickname": "Foxy"})
	refused(t, "a word", out, http.StatusUnprocessableEntity, "bad_avatar")

	if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.avatar"); err != nil {
		t.Error(err)
	}

	same(t, "the name", decode[player.Player](m, "sam", "GET", path, nil).Nickname, "Ada")
}

// TestEmptyTextsClear: what is optional goes by an empty text, and stays if it is left out.
func TestEmptyTextsClear(t *testing.T) {
	t.Parallel()
	m := club(t)
	where := func(body map[string]any) string {
		return testkit.Decode[game.Game](m.World.World, m.Do("sam", "PATCH", m.path(), body)).Location
	}
	same(t, "the place", []string{where(map[string]any{"location": "Pitch 2"}), where(map[string]any{"thirdLength": 25}),
		where(map[string]any{"location": ""})}, []string{"Pitch 2", "Pitch 2", ""})

	avatar := func(body map[string]any) string {
		return testkit.Decode[player.Player](m.World.World, m.Do("sam", "PATCH", "/v1/players/"+m.l.Players[0], body)).Avatar
	}
	same(t, "the avatar", []string{avatar(map[string]any{"avatar": "🦊"}), avatar(map[string]any{"nickname": "Ace"}),
		avatar(map[string]any{"avatar": ""})}, []string{"🦊", "🦊", ""})
	refused(t, "a place of spaces", m.Ask("sam", "PATCH", m.path(), map[string]any{"location": "  "}), 422, "invalid")
}

// TestChangeOfAFinishedGame: an administrator reopens the game first.
func TestChangeOfAFinishedGame(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.Play("sam", m.id)
	out := m.Ask("ann", "PATCH", m.path(), map[string]any{"location": "Pitch 2"})
	refused(t, "the change", out, 409, "game_finished")

	if !strings.Contains(out.Body, "reopen it") {
		t.Errorf("the answer does not contain what to do: %s", out.Body)
	}
}

// TestTimeZoneIsAPlace: a name of the database of time zones, not of another file beside it.
func TestTimeZoneIsAPlace(t *testing.T) {
	t.Parallel()

	m := club(t)
	for zone, want := range map[string]string{
		"Europe/London":                  "200",
		"America/Argentina/Buenos_Aires": "200",
		"UTC":                            "200",
		"GMT":                            "200",
		"Etc/GMT+5":                      "200",
		"Singapore":                      "200",
		"posixrules":                     "422 unknown_time_zone",
		"localtime":                      "422 unknown_time_zone",
		"leapseconds":                    "422 unknown_time_zone",
		"Factory":                        "422 unknown_time_zone",
		"Local":                          "422 unknown_time_zone",
		"posix/Europe/London":            "422 unknown_time_zone",
		"right/Europe/London":            "422 unknown_time_zone",
		"../etc/localtime":               "422 unknown_time_zone",
		"Atlantis":                       "422 unknown_time_zone",
	} {
		if got := code(m.Ask("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": zone})); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
}

// TestKeyIsFreeAfterADay: until then a key is that of one request, and its answer stays.
func TestKeyIsFreeAfterADay(t *testing.T) {
	t.Parallel()
	m := club(t)
	league := func(name string) string {
		out := m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": name}, threefctest.Key("K"))
		if out.StatusCode >= 300 {
			return code(out)
		}

		return testkit.Decode[named](m.World.World, out).LeagueID
	}
	first := league("First")
	begun := m.Clock.Now()
	at := func(d time.Duration, name string) string {
		m.MoveClock(begun.Add(d))
		m.SignIn("eve")

		return league(name)
	}
	same(t, "a second before", []string{at(idem.Lifetime-time.Second, "First"), league("Second")}, []string{first, "409 idempotency_conflict"})

	second := at(idem.Lifetime, "Second")
	if second == first || strings.HasPrefix(second, "409") {
		t.Errorf("a day later the answer is %s, want another league", second)
	}

	same(t, "again", league("Second"), second)
	same(t, "a day after the second", []string{at(2*idem.Lifetime-time.Second, "Second")}, []string{second})
}

// TestRepeatedRequestOfARemovedMember: who has lost the right to a request does not get its
// stored answer.
func TestRepeatedRequestOfARemovedMember(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	requests := []struct {
		user, method, path string
		body               any
	}{
		{"sam", "POST", m.path("goals"), m.goalOf(0, "blue")},
		{"sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Jo"}},
		{"sam", "POST", m.path("join-code"), nil},
		{"sam", "POST", "/v1/seasons/" + m.l.SeasonID + "/sessions", map[string]any{"sessionDate": "2026-06-13"}},
	}
	repeat := func() (got []string) {
		for _, r := range requests {
			got = append(got, code(m.Ask(r.user, r.method, r.path, r.body, threefctest.Key("K"))))
		}

		return got
	}
	same(t, "as a scorekeeper", append(repeat(), repeat()...), []string{"201", "201", "201", "201", "201", "201", "201", "201"})
	m.Do("ann", "PUT", "/v1/leagues/"+m.l.ID+"/access/sam", map[string]any{"role": "viewer"})

	const viewer, stranger = "403 scorekeeper_required", "403 league_access_required"
	same(t, "as a viewer", repeat(), []string{viewer, viewer, viewer, viewer})
	m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID+"/access/sam", nil)
	same(t, "as a stranger", repeat(), []string{stranger, stranger, stranger, stranger})
	m.Join(m.l, "scorekeeper", "sam")
	same(t, "as a scorekeeper again", repeat(), []string{"201", "201", "201", "201"})
	same(t, "the goals", len(m.goals()), 1)
}

// TestSecondRequestChangesNothing: what is already so is not written again, no job is asked for
// anything, and the answer is the same. What a request compares with is read strongly
// consistently: each read costs a unit, not half of one.
func TestSecondRequestChangesNothing(t *testing.T) {
	t.Parallel()
	m := club(t)

	type object = map[string]any

	l, x := "/v1/leagues/"+m.l.ID, "/v1/seasons/"+m.l.SeasonID
	player := "/v1/players/" + m.l.Players[0]
	bench := decode[struct{ PlayerID string }](m, "ann", "POST", "/v1/players", object{"leagueId": m.l.ID, "nickname": "Jo"}).PlayerID
	g := m.goalOf(3, "red")
	g.EventID = m.eventID()
	edit := m.goalOf(4, "red")
	edit.Assists = []string{m.l.Players[5]}
	state := func() (all []string) {
		for _, r := range everything(m.World) {
			if r["entityType"] != "AuthSession" {
				all = append(all, fmt.Sprint(r))
			}
		}

		slices.Sort(all)

		return append(all, fmt.Sprint(m.Queues.Messages(game.AggregateQueue.Name)))
	}

	for _, c := range []struct {
		user, method, path string
		body               any
	}{
		{"ann", "PATCH", l, object{"name": "Parkside 2", "slug": "parkside-2"}},
		{"ann", "PUT", l + "/access/sue", object{"role": "viewer"}},
		{"ann", "DELETE", l + "/access/sue", nil},
		{"ann", "PATCH", x, object{"name": "Summer", "startsOn": "2026-06-01"}},
		{"ann", "PUT", x + "/teams/green", object{"name": "Green", "color": "#00ff00"}},
		{"ann", "PUT", x + "/teams/red", object{"name": "Reds"}},
		{"ann", "DELETE", x + "/teams/green", nil},
		{"vic", "POST", player + "/claim", nil},
		{"vic", "DELETE", player + "/claim", nil},
		{"sam", "PATCH", m.path(), object{"gameStartTs": "2026-06-06T18:30:00Z", "thirdLength": 25, "location": "Pitch 2"}},
		{"sam", "PATCH", m.path(), object{"teamIds": []string{"red", "blue", "yellow"}}},
		{"sam", "PUT", m.path("roster", m.l.Players[0]), object{"teamId": "blue"}},
		{"sam", "DELETE", m.path("roster", m.l.Players[0]), nil},
		{"sam", "DELETE", m.path("roster", bench), nil},
		{"sam", "POST", m.path("thirds/1/start"), object{}},
		{"sam", "POST", m.path("goals"), g},
		{"sam", "PATCH", m.path("goals", g.EventID), edit},
		{"sam", "DELETE", m.path("goals", g.EventID), nil},
		{"sam", "POST", m.path("thirds/1/finish"), object{}},
		{"sam", "POST", m.path("thirds/2/start"), object{}},
		{"sam", "POST", m.path("thirds/2/finish"), object{}},
		{"sam", "POST", m.path("thirds/3/start"), object{}},
		{"sam", "POST", m.path("thirds/3/finish"), object{}},
		{"sam", "POST", m.path("finish"), nil},
		{"sam", "POST", m.path("thirds/1/start"), object{}},
		{"ann", "POST", m.path("reopen"), nil},
	} {
		what := c.method + " " + c.path

		var (
			first events.APIGatewayV2HTTPResponse
			calls map[string]int
		)

		u := m.CountUnits(func() {
			calls = m.CountCalls(func() { first = m.Do(c.user, c.method, c.path, c.body) })
		})
		if n := calls["GetItem"] + calls["Query"] + calls["BatchGetItem"]; u.Reads < float64(n) {
			t.Errorf("%s: %d reads cost %.1f units", what, n, u.Reads)
		}

		was := state()

		m.pass(time.Second)
		second := m.Do(c.user, c.method, c.path, c.body)
		same(t, what+": the answer", []string{second.Body, testkit.Header(second).Get("ETag")},
			[]string{first.Body, testkit.Header(first).Get("ETag")})
		same(t, what+": what is stored", state(), was)
		m.pass(time.Second)
	}
}

// TestRefusalsNameTheField that is wrong.
func TestRefusalsNameTheField(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	create(m.World, "otto@example.com") // and never verified

	type object = map[string]any

	l, x, games := "/v1/leagues/"+m.l.ID, "/v1/seasons/"+m.l.SeasonID, "/v1/sessions/"+m.l.SessionID+"/games"
	m.Do("eve", "POST", "/v1/leagues", object{"name": "Eve's", "slug": "eves"})
	m.Do("ann", "POST", l+"/seasons", object{"name": "Autumn"})

	check := func(user, method, path string, body any, want, field string) {
		t.Helper()

		out := m.Ask(user, method, path, body)
		same(t, method+" "+path, code(out), want)

		if err := testkit.CheckProblemField(out, out.StatusCode, field); err != nil {
			t.Error(err)
		}
	}
	check("ann", "POST", "/v1/leagues", object{"name": "X", "slug": "eves"}, "409 slug_taken", "body.slug")
	check("ann", "PATCH", l, object{"slug": "eves"}, "409 slug_taken", "body.slug")
	check("ann", "POST", l+"/seasons", object{"name": "Autumn"}, "409 slug_taken", "body.name")
	check("ann", "POST", l+"/seasons", object{"name": "X", "slug": "autumn"}, "409 slug_taken", "body.slug")
	check("ann", "PATCH", x, object{"slug": "autumn"}, "409 slug_taken", "body.slug")
	check("ann", "PATCH", x, object{"timeZone": "Mars"}, "422 unknown_time_zone", "body.timeZone")
	check("ann", "PATCH", x, object{"startsOn": "2026-06-02", "endsOn": "2026-06-01"}, "422 season_ends_before_it_starts", "body.endsOn")
	check("ann", "PUT", x+"/teams/green", object{"color": "#00ff00"}, "422 team_needs_a_name", "body.name")
	check("ann", "PUT", x+"/teams/green", object{"name": "Green"}, "422 team_needs_a_name", "body.name")
	check("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge", object{"intoPlayerId": m.l.Players[0]}, "422 bad_merge", "body.intoPlayerId")
	check("", "POST", "/v1/join/"+m.code(), object{}, "422 nickname_needed", "body.nickname")

	for _, teams := range [][]string{{"red", "blue", "green"}, {"red", "blue", "red"}} {
		check("sam", "POST", games, object{"gameStartTs": "2026-06-06T19:00:00Z", "thirdLength": 20, "teamIds": teams},
			"422 three_teams_needed", "body.teamIds")
		check("sam", "PATCH", m.path(), object{"teamIds": teams}, "422 three_teams_needed", "body.teamIds")
	}

	check("sam", "POST", games, object{"gameStartTs": "1999-12-31T23:59:59Z", "thirdLength": 20}, "422 bad_start", "body.gameStartTs")
	check("sam", "PATCH", m.path(), object{"gameStartTs": "2101-01-01T00:00:00Z"}, "422 bad_start", "body.gameStartTs")
	m.Do("sam", "PATCH", m.path(), object{"gameStartTs": "2100-12-31T23:59:59Z"})
	m.Do("sam", "PATCH", m.path(), object{"gameStartTs": "2000-01-01T00:00:00Z"})
	check("sam", "PUT", m.path("roster", m.l.Players[0]), object{"teamId": "green"}, "422 unknown_team", "body.teamId")
	check("sam", "POST", m.path("goals/undo"), nil, "422 rev_needed", "header.If-Match")
	m.step("thirds/1/start")
	check("sam", "PATCH", m.path(), object{"teamIds": []string{"red", "blue", "yellow"}}, "409 game_started", "body.teamIds")
	g := m.goalOf(0, "blue")
	g.EventID = m.eventID()
	m.score("sam", g)
	other := m.goalOf(1, "blue")
	other.EventID = g.EventID
	check("sam", "POST", m.path("goals"), other, "409 goal_exists", "body.eventId")
	m.Do("sam", "DELETE", m.path("goals", g.EventID), nil)
	check("sam", "POST", m.path("goals"), g, "409 goal_removed", "body.eventId")
	m.step("thirds/1/finish")
	check("sam", "POST", m.path("goals"), m.goalOf(0, "blue"), "422 third_needed", "body.third")
}
