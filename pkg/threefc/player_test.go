package threefc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	ids "matchday/pkg/kit/code"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// seats are the players of a roster by team, in order.
func (m *match) seats() string {
	m.T.Helper()

	var all []string
	for _, s := range decode[struct{ Players []game.Seat }](m, "vic", "GET", m.path("roster"), nil).Players {
		all = append(all, s.TeamID+" "+s.Nickname)
	}

	return strings.Join(all, ", ")
}

// newPlayer creates a player of a league, and returns the id.
func (m *match) newPlayer(league, nickname string) string {
	m.T.Helper()
	return decode[struct{ PlayerID string }](m, "ann", "POST", "/v1/players",
		map[string]any{"leagueId": league, "nickname": nickname}).PlayerID
}

func TestRoster(t *testing.T) {
	t.Parallel()
	m := club(t)

	const whole = "blue Di, blue Ed, blue Flo, red Ada, red Bo, red Cy, yellow Gus, yellow Hal, yellow Ida"
	same(t, "the roster", m.seats(), whole)

	put := func(user, id, team string) string {
		return code(m.Ask(user, "PUT", m.path("roster", id), map[string]any{"teamId": team}))
	}

	other := decode[named](m, "ann", "POST", "/v1/leagues", map[string]any{"name": "Other"}).LeagueID
	for _, c := range []struct{ name, player, team, want string }{
		{"an unknown team", m.l.Players[0], "green", "422 unknown_team"},
		{"a player of another league", m.newPlayer(other, "Zoe"), "red", "404 player_not_found"},
		{"a player of nobody", "01JX0000000000000000000000", "red", "404 player_not_found"},
		{"where the player is", m.l.Players[0], "red", "200"},
	} {
		same(t, c.name, put("sam", c.player, c.team), c.want)
	}

	same(t, "the roster afterwards", m.seats(), whole)
	same(t, "another team", put("sam", m.l.Players[0], "yellow"), "200")
	marked := testkit.Row[stored](m.World.World, tables.App, item.PlayerKey(m.l.Players[0]), item.Profile)
	same(t, "the player is marked once", []any{marked["rev"], strings.Contains(fmt.Sprint(marked["data"]), `"used":true`)}, []any{2.0, true})
	same(t, "the roster", m.seats(), strings.Replace(whole, "red Ada, red Bo, red Cy, yellow", "red Bo, red Cy, yellow Ada, yellow", 1))

	got := atOnce(6, func(i int) string { return put("sam", m.l.Players[1], []string{"blue", "yellow"}[i%2]) })
	if strings.Count(m.seats(), " Bo") != 1 || got["200"] == 0 {
		t.Errorf("after two teams at once (%v) the roster is %s", got, m.seats())
	}

	m.Do("sam", "DELETE", m.path("roster", m.l.Players[2]), nil)
	m.Do("sam", "DELETE", m.path("roster", m.l.Players[2]), nil)

	if strings.Contains(m.seats(), "Cy") {
		t.Errorf("the roster is %s", m.seats())
	}

	m.step("thirds/1/start")
	g := m.goalOf(3, "red")
	g.Assists = []string{m.l.Players[4]}

	scored := m.score("sam", g)
	for _, p := range m.l.Players[3:5] {
		same(t, "another team of who has scored or assisted", put("sam", p, "red"), "409 player_has_goals")
		refused(t, "nobody takes them out", m.Ask("ann", "DELETE", m.path("roster", p), nil), 409, "player_has_goals")
	}

	m.Do("sam", "DELETE", m.path("goals", scored.EventID), nil)
	same(t, "another team when the goal is gone", put("sam", m.l.Players[3], "red"), "200")
	m.Play("sam", m.id)
	same(t, "a finished game", put("sam", m.l.Players[4], "red"), "409 game_finished")
	same(t, "a finished game", code(m.Ask("sam", "DELETE", m.path("roster", m.l.Players[4]), nil)), "409 game_finished")
	same(t, "a finished game, by an administrator", put("ann", m.l.Players[4], "red"), "200")
	m.consistent()
}

// TestClaims: the first member who claims a player is believed, also of several at once.
func TestClaims(t *testing.T) {
	t.Parallel()
	m := club(t)
	claim := func(user string, n int) string {
		return code(m.Ask(user, "POST", "/v1/players/"+m.l.Players[n]+"/claim", nil))
	}
	same(t, "the claims", []string{claim("vic", 0), claim("vic", 0), claim("eve", 0)}, []string{"200", "200", "403 league_access_required"})
	same(t, "the claim of another, by a member", claim("sam", 0), "409 already_claimed")

	users := []string{"vic", "sam", "sue", "ann"}

	same(t, "four at once", atOnce(4, func(i int) string { return claim(users[i], 1) }), map[string]int{"200": 1, "409 already_claimed": 3})

	p := decode[player.Player](m, "vic", "GET", "/v1/players/"+m.l.Players[0], nil)
	if !p.Claimed || !p.Mine {
		t.Errorf("the player is %+v", p)
	}

	if p := decode[player.Player](m, "ann", "GET", "/v1/players/"+m.l.Players[0], nil); !p.Claimed || p.Mine {
		t.Errorf("for another the player is %+v", p)
	}

	m.Do("vic", "PATCH", "/v1/players/"+m.l.Players[0], map[string]any{"nickname": "Vicky", "avatar": "🦊"})
	refused(t, "the player of another", m.Ask("vic", "PATCH", "/v1/players/"+m.l.Players[2], map[string]any{"nickname": "X"}),
		403, "scorekeeper_required")
}

// leaders are the players of the season with goals or assists: the name, goals, assists and
// games.
func (m *match) leaders() string {
	m.T.Helper()

	var all []string

	for _, p := range decode[struct{ Players []standing.PlayerTotals }](m, "", "GET",
		"/v1/public/seasons/"+m.l.SeasonID+"/leaderboards/players", nil).Players {
		if p.Goals+p.Assists+p.OwnGoals > 0 {
			all = append(all, fmt.Sprintf("%s %d %d %d", p.Nickname, p.Goals, p.Assists, p.Games))
		}
	}

	return strings.Join(all, ", ")
}

// TestMerge: of two players who are one, the one who stays has the goals of both, and each
// has the own again when the merge is undone.
func TestMerge(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.score("sam", m.goalOf(0, "blue"))
	m.score("sam", m.goalOf(1, "blue"))
	m.score("sam", m.goalOf(1, "blue"))
	m.Play("sam", m.id)

	merge := func(from, into int) string {
		body := map[string]any{}
		if into >= 0 {
			body["intoPlayerId"] = m.l.Players[into]
		}

		got := code(m.Ask("ann", "POST", "/v1/players/"+m.l.Players[from]+"/merge", body))
		m.Aggregate()

		return got
	}
	stats := func() string {
		var all []string
		for _, s := range decode[struct{ Seasons []standing.PlayerTotals }](m, "vic", "GET", "/v1/me/stats", nil).Seasons {
			all = append(all, fmt.Sprintf("%s %d in %d", s.Nickname, s.Goals, s.Games))
		}

		return strings.Join(all, ", ")
	}

	m.Aggregate()
	same(t, "the leaders and the own numbers", m.leaders()+"; "+stats(), "Bo 2 0 1, Ada 1 0 1; Ada 1 in 1")
	other := decode[named](m, "ann", "POST", "/v1/leagues", map[string]any{"name": "Other"}).LeagueID
	refused(t, "into another league", m.Ask("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge",
		map[string]any{"intoPlayerId": m.newPlayer(other, "Zoe")}), 422, "bad_merge")
	refused(t, "into nobody", m.Ask("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge",
		map[string]any{"intoPlayerId": "01JX0000000000000000000000"}), 404, "player_not_found")
	same(t, "into itself", merge(0, 0), "422 bad_merge")
	same(t, "one into the other", merge(0, 1), "200")
	same(t, "the same again", merge(0, 1), "200")
	same(t, "the numbers of both", m.leaders()+"; "+stats(), "Bo 3 0 1; Bo 3 in 1")
	same(t, "back into who is merged", merge(1, 0), "422 bad_merge")
	same(t, "on into a third", merge(1, 2), "200")
	same(t, "the numbers of three", m.leaders()+"; "+stats(), "Cy 3 0 1; Cy 3 in 1")
	same(t, "undone", merge(1, -1), "200")
	same(t, "undone", merge(0, -1), "200")
	same(t, "each has the own", m.leaders()+"; "+stats(), "Bo 2 0 1, Ada 1 0 1; Ada 1 in 1")

	got := atOnce(2, func(i int) string {
		return code(m.Ask("ann", "POST", "/v1/players/"+m.l.Players[i]+"/merge", map[string]any{"intoPlayerId": m.l.Players[1-i]}))
	})
	same(t, "each into the other at once", got, map[string]int{"200": 1, "422 bad_merge": 1})
}

// TestMergedPlayerIsWhoCounts: goals, rosters, line-ups and renames of a player who is merged are those of the player
// who counts, who is in one team of a game.
func TestMergedPlayerIsWhoCounts(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	ada, bo := m.l.Players[0], m.l.Players[1]
	m.Do("vic", "POST", "/v1/players/"+ada+"/claim", nil)

	g := m.goalOf(3, "yellow")
	g.Assists = []string{ada}
	m.score("sam", g)
	m.score("sam", m.goalOf(0, "blue"))
	m.Play("sam", m.id)
	m.Do("ann", "POST", "/v1/players/"+ada+"/merge", map[string]any{"intoPlayerId": bo})
	m.Aggregate()

	slug := m.read().Slug
	goals := func() string {
		return m.Do("", "GET", "/v1/public/leagues/parkside/seasons/spring-2026/games/"+slug+"/timeline", nil).Body
	}

	if got := goals(); strings.Contains(got, "Ada") || !strings.Contains(got, `"scorer":"Bo"`) || !strings.Contains(got, `"assists":["Bo"]`) {
		t.Errorf("the timeline is %s", got)
	}

	if got := m.show("", "/l/parkside/spring-2026/"+slug, 200, "Bo"); strings.Contains(got, "Ada") {
		t.Errorf("the page of the game names who is merged:\n%s", got)
	}

	same(t, "the roster of before", m.seats(), "blue Di, blue Ed, blue Flo, red Bo, red Bo, red Cy, yellow Gus, yellow Hal, yellow Ida")

	before := m.id
	m.id = m.Schedule("sam", m.l)
	same(t, "a roster", m.seats(), "blue Di, blue Ed, blue Flo, red Bo, red Cy, yellow Gus, yellow Hal, yellow Ida")

	seat := decode[game.Seat](m, "sam", "PUT", m.path("roster", ada), map[string]any{"teamId": "blue"})
	same(t, "a seat", seat, game.Seat{PlayerID: bo, TeamID: "blue", Nickname: "Bo"})
	same(t, "the roster after a move", m.seats(), "blue Bo, blue Di, blue Ed, blue Flo, red Cy, yellow Gus, yellow Hal, yellow Ida")

	m.id = before
	rename := func(user, nickname string) string {
		got := code(m.Ask(user, "PATCH", "/v1/players/"+ada, map[string]any{"nickname": nickname}))
		m.Aggregate()

		return got
	}

	same(t, "a rename by who has claimed the merged player", rename("vic", "Ace"), "200")
	same(t, "the leaders", m.leaders(), "Ace 1 1 1, Di 1 0 1")
	same(t, "the roster", m.seats(), "blue Di, blue Ed, blue Flo, red Ace, red Ace, red Cy, yellow Gus, yellow Hal, yellow Ida")
	m.Do("sue", "POST", "/v1/players/"+bo+"/claim", nil)
	same(t, "once another user has claimed who counts", rename("vic", "Vic"), "403 scorekeeper_required")
	same(t, "a rename by a scorekeeper", rename("sam", "Bo"), "200")
	same(t, "the leaders", m.leaders(), "Bo 1 1 1, Di 1 0 1")

	out := m.Do("sam", "GET", "/v1/players/"+ada, nil)
	m.Do("sam", "PATCH", "/v1/players/"+ada, map[string]any{"nickname": "Bob"}, threefctest.Match(out))
	same(t, "a rename under the revision of the merged player", m.seats(),
		"blue Di, blue Ed, blue Flo, red Bob, red Bob, red Cy, yellow Gus, yellow Hal, yellow Ida")
}

// TestStatsOfSeasons: by player, in the order of their ids, the newest season first; those of
// players who are merged into one once.
func TestStatsOfSeasons(t *testing.T) {
	t.Parallel()
	m := club(t)

	type own struct {
		SeasonID string
		standing.PlayerTotals
	}

	var want []own

	for i := range 3 {
		m.Do("vic", "POST", "/v1/players/"+m.l.Players[i]+"/claim", nil)

		for n := 1; n >= 0; n-- {
			o := own{fmt.Sprintf("01JX%022d", n), standing.PlayerTotals{PlayerID: m.l.Players[i], Nickname: "P", Games: 1 + i, Goals: n}}
			testkit.PutRows(m.World.World, tables.App,
				item.New(item.PlayerKey(o.PlayerID), item.Stats+o.SeasonID, "PlayerSeason", o.PlayerTotals, m.Clock.Now()))
			o.PerGame = standing.PerGame(n, 1+i) // is not stored
			want = append(want, o)
		}
	}

	got := func() []own { return decode[struct{ Seasons []own }](m, "vic", "GET", "/v1/me/stats", nil).Seasons }
	same(t, "three players", got(), want)
	m.Do("ann", "POST", "/v1/players/"+m.l.Players[1]+"/merge", map[string]any{"intoPlayerId": m.l.Players[0]})
	same(t, "two of them are one", got(), append(want[:2:2], want[4:]...))
}

// TestRenameReachesTheTables: also if a request has changed the player, and died before it asked
// for the tables. The same request asks for them then.
func TestRenameReachesTheTables(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		method, path string
		body         func(*match) map[string]any
		want         string
	}{
		"rename": {"PATCH", "", func(*match) map[string]any { return map[string]any{"nickname": "Ace"} }, "Ace 1 0 1"},
		"merge":  {"POST", "/merge", func(m *match) map[string]any { return map[string]any{"intoPlayerId": m.l.Players[1]} }, "Bo 1 0 1"},
	} {
		for _, key := range [][]threefctest.Header{nil, {threefctest.Key("K")}} {
			t.Run(fmt.Sprint(name, key), func(t *testing.T) {
				t.Parallel()
				m := kickOff(t)
				m.score("sam", m.goalOf(0, "blue"))
				m.Play("sam", m.id)
				m.Aggregate()
				dynamotest.CheckFailures(t, &m.IO, func() error {
					if out := m.Ask("ann", c.method, "/v1/players/"+m.l.Players[0]+c.path, c.body(m), key...); out.StatusCode >= 300 {
						return errors.New(out.Body)
					}

					return nil
				})
				m.mirrored("afterwards")
				m.Aggregate()
				same(t, "the leaders", m.leaders(), c.want)
			})
		}
	}
}

// TestUnchangedPlayerAsksForNothing: the tables are computed when they show something else, once
// for each change.
func TestUnchangedPlayerAsksForNothing(t *testing.T) {
	t.Parallel()
	m := club(t)
	asked := 0

	for i, c := range []struct {
		name, method, path string
		body               map[string]any
		want               int // messages for the one season
	}{
		{"the name that it has", "PATCH", "", map[string]any{"nickname": "Ada"}, 0},
		{"nothing", "PATCH", "", map[string]any{}, 0},
		{"another name", "PATCH", "", map[string]any{"nickname": "Ace"}, 1},
		{"that name again", "PATCH", "", map[string]any{"nickname": "Ace"}, 0},
		{"another avatar", "PATCH", "", map[string]any{"avatar": "🦊"}, 1},
		{"no merge", "POST", "/merge", map[string]any{}, 0},
		{"a merge", "POST", "/merge", map[string]any{"intoPlayerId": m.l.Players[1]}, 1},
		{"the merge again", "POST", "/merge", map[string]any{"intoPlayerId": m.l.Players[1]}, 0},
		{"the merge undone", "POST", "/merge", map[string]any{}, 1},
	} {
		for range 2 { // the second gets the stored answer
			m.Do("ann", c.method, "/v1/players/"+m.l.Players[0]+c.path, c.body, threefctest.Key(fmt.Sprint(i)))
		}

		asked += c.want
		same(t, "the messages after "+c.name, len(testkit.Messages[game.Changed](m.World.World, game.AggregateQueue)), asked)
		m.mirrored("after " + c.name)
	}
}

// TestChangesOfAPlayerAreLimited: ten a day by who has claimed it, ten by scorekeepers, and ten
// merges. What changes nothing is not counted, and not refused.
func TestChangesOfAPlayerAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/players/" + m.l.Players[0]
	m.Do("eve", "POST", path+"/claim", m.coded())

	rename := func(user, name string) events.APIGatewayV2HTTPResponse {
		return m.Ask(user, "PATCH", path, map[string]any{"nickname": name})
	}

	for i := range player.MaxRenames.Max {
		for range 2 {
			same(t, "a new name", code(rename("eve", fmt.Sprint("Eve ", i))), "200")
		}
	}

	m.pass(time.Hour)

	out := rename("eve", "Rude")
	refused(t, "one more", out, 429, "too_many_renames")
	same(t, "Retry-After", testkit.Header(out).Get("Retry-After"), "82800")
	same(t, "the name that it has", code(rename("eve", "Eve 9")), "200")

	for i := range player.MaxRenames.Max {
		same(t, "a new name by a scorekeeper", code(rename("sam", fmt.Sprint("Ada ", i))), "200")
	}

	refused(t, "one more by another scorekeeper", rename("sue", "Rude"), 429, "too_many_renames")

	for i := range player.MaxRenames.Max {
		same(t, "a new name by an administrator", code(rename("ann", fmt.Sprint("Ada by ann ", i))), "200")
	}

	refused(t, "one more by an administrator", rename("ann", "Ada"), 429, "too_many_renames")

	merge := func(i int) events.APIGatewayV2HTTPResponse {
		return m.Ask("ann", "POST", path+"/merge", []map[string]any{{"intoPlayerId": m.l.Players[1]}, {}}[i%2])
	}
	for i := range player.MaxMerges.Max {
		same(t, "a merge", code(merge(i)), "200")
	}

	refused(t, "one more merge", merge(0), 429, "too_many_merges")
	same(t, "what is undone already", code(merge(1)), "200")
	m.pass(23 * time.Hour)
	m.SignIn("ann", "eve", "sam")
	same(t, "a day after the first by its user", []string{code(rename("eve", "Eve")), code(rename("sam", "Ada")), code(merge(0))},
		[]string{"200", "429 too_many_renames", "429 too_many_merges"})
	m.pass(time.Hour)
	same(t, "a day after all", []string{code(rename("sam", "Ada")), code(merge(0))}, []string{"200", "200"})
}

// lose takes the messages for the tables out of their queue.
func (m *match) lose() {
	m.T.Helper()

	for range m.Queues.Messages(game.AggregateQueue.Name) {
		got := m.Receive(game.AggregateQueue)
		m.SQS("DeleteMessage", map[string]any{"QueueUrl": m.Queues.URL(game.AggregateQueue.Name), "ReceiptHandle": got.ReceiptHandle}, nil)
	}
}

// TestPlayerMarkedByAnEarlierRelease: the tables are computed for a player whom an earlier release has renamed and marked
// as stale, before it has died, with the next request for the player.
func TestPlayerMarkedByAnEarlierRelease(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()

	path := "/v1/players/" + m.l.Players[0]
	was := m.leaders()

	row := testkit.Row[item.Row[item.Player]](m.World.World, tables.App, item.PlayerKey(m.l.Players[0]), item.Profile)
	row.V().Nickname, row.V().Stale = "Ace", true
	row.Rev++
	mirror := row
	mirror.PK, mirror.SK = item.LeagueKey(m.l.ID), row.PK
	testkit.PutRows(m.World.World, tables.App, row, mirror)

	stale := func() bool {
		now := testkit.Row[item.Row[item.Player]](m.World.World, tables.App, row.PK, row.SK)
		return now.V().Stale
	}

	m.Do("ann", "PATCH", path, map[string]any{"nickname": "Ace"})
	m.mirrored("the repeated request")
	same(t, "the mark after the repeated request", stale(), false)
	m.Aggregate()
	same(t, "the leaders", m.leaders(), strings.Replace(was, "Ada", "Ace", 1))

	testkit.PutRows(m.World.World, tables.App, row, mirror)
	m.Do("ann", "PATCH", path, map[string]any{"nickname": "Adele"})
	same(t, "the mark after another request", stale(), false)
	m.Aggregate()
	same(t, "the leaders after another request", m.leaders(), strings.Replace(was, "Ada", "Adele", 1))
}

// TestJoinCodes: who has a code joins the pool, however it is typed, for a day.
func TestJoinCodes(t *testing.T) {
	t.Parallel()
	m := club(t)

	type coded struct {
		Code, URL string
		ExpiresAt time.Time
	}

	c := decode[coded](m, "sam", "POST", m.path("join-code"), nil)
	if len(c.Code) != 8 || c.URL != threefctest.API+"/join/"+c.Code || !c.ExpiresAt.Equal(m.Clock.Now().Truncate(time.Second).Add(24*time.Hour)) {
		t.Errorf("the code is %+v", c)
	}

	typed := strings.ToLower(strings.NewReplacer("0", "o", "1", "l").Replace(c.Code))

	join := func(user, text, nickname string) (string, string) {
		body := map[string]any{}
		if nickname != "" {
			body["nickname"] = nickname
		}

		out := m.Ask(user, "POST", "/v1/join/"+text, body)
		if out.StatusCode >= 300 {
			return code(out), ""
		}

		return code(out), testkit.Decode[struct{ PlayerID string }](m.World.World, out).PlayerID
	}
	for _, one := range []struct{ name, user, text, nickname, want string }{
		{"as printed", "", c.Code, "Foxy", "201"},
		{"as typed", "", typed[:4] + "-" + typed[4:], "Otto", "201"},
		{"with a space", "", c.Code[:4] + " " + c.Code[4:], "Una", "201"},
		{"without a name", "", c.Code, "", "422 nickname_needed"},
		{"a guess", "", "AAAAAAAA", "Eve", "404 invalid_or_expired_code"},
		{"part of it", "", c.Code[:7], "Eve", "404 invalid_or_expired_code"},
		{"a name with markup", "", c.Code, "<b>x</b>", "201"},
		{"a name of spaces", "", c.Code, "   ", "422 invalid"},
		{"with a broken cookie", "broken", c.Code, "Bob", "201"},
	} {
		m.SetCookie("broken", "__Host-threefc_session="+strings.Repeat("A", 43))

		if got, _ := join(one.user, one.text, one.nickname); got != one.want {
			t.Errorf("%s: %s, want %s", one.name, got, one.want)
		}
	}

	_, first := join("eve", c.Code, "Evie")

	_, again := join("eve", c.Code, "Evelyn")
	if first == "" || first != again {
		t.Errorf("who is signed in joins as %q, and again as %q", first, again)
	}

	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)

	if _, id := join("vic", c.Code, ""); id != m.l.Players[0] {
		t.Errorf("who has claimed a player joins as %q, want %q", id, m.l.Players[0])
	}

	var pool []string
	for _, p := range decode[struct{ Players []player.Player }](m, "vic", "GET", m.path("pool"), nil).Players {
		pool = append(pool, p.Nickname)
	}

	if len(pool) != 7 {
		t.Errorf("the pool is %v", pool)
	}

	m.MoveClock(c.ExpiresAt.Add(-time.Second))

	if got, _ := join("", c.Code, "Late"); got != "201" {
		t.Errorf("a second before the end: %s", got)
	}

	m.MoveClock(c.ExpiresAt)

	if got, _ := join("", c.Code, "Later"); got != "404 invalid_or_expired_code" {
		t.Errorf("at the end: %s", got)
	}
}

// TestPoolIsLimited: the 61st player of a pool is refused; so is who joins a finished game,
// or one that was deleted.
func TestPoolIsLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code

	for i := range game.MaxPlayers.Max - 1 {
		id := fmt.Sprintf("01JZ%022d", i)
		testkit.PutRows(m.World.World, tables.App,
			item.New(item.GameKey(m.id), item.PoolKey(id), "Pool", item.Pooled{PlayerID: id}, m.Clock.Now()))
		testkit.PutRows(m.World.World, tables.App,
			item.New(item.PlayerKey(id), item.Profile, "Player", item.Player{ID: id, LeagueID: m.l.ID}, m.Clock.Now()))
	}

	join := func(i int) string {
		return code(m.Ask("", "POST", "/v1/join/"+c, map[string]any{"nickname": fmt.Sprint("P", i)}))
	}
	same(t, "three at once with room for one", atOnce(3, join), map[string]int{"201": 1, "409 too_many_players": 2})
	m.step("thirds/1/start")
	m.Play("ann", m.id)
	same(t, "a finished game", join(4), "409 game_finished")
	m.Do("ann", "DELETE", m.path(), nil)
	same(t, "a deleted game", join(5), "404 invalid_or_expired_code")
}

// TestFullLeagueHasNoRoomForJoins: a new player by a code counts like any other.
func TestFullLeagueHasNoRoomForJoins(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := m.code()
	set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Players = player.MaxPlayers.Max - 1 })
	m.join(c, "Last")

	for _, user := range []string{"", "eve"} {
		refused(t, "one more", m.Ask(user, "POST", "/v1/join/"+c, map[string]any{"nickname": "Evie"}), 409, "too_many_players")
	}

	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.Do("vic", "POST", "/v1/join/"+c, map[string]any{}) // who is a player is none more
}

// join has who has no account join by a code, and returns the player's id.
func (m *match) join(code, nickname string) string {
	m.T.Helper()
	return testkit.Decode[struct{ PlayerID string }](m.World.World,
		m.Do("", "POST", "/v1/join/"+code, map[string]any{"nickname": nickname})).PlayerID
}

// coded is the body of a claim by a user who has a new code of the game.
func (m *match) coded() map[string]any { return map[string]any{"code": m.code()} }

// TestAnIDIsNoRight: a user who knows the id of a player claims it as a member of the league, or with a
// code of one of its games. Of other leagues' codes, revoked ones and wrong ones a user may try ten an
// hour, of ids, too; afterwards a right one is refused, also for members, and nobody else.
func TestAnIDIsNoRight(t *testing.T) {
	t.Parallel()
	m := club(t)
	old := m.coded()
	m.Do("sam", "DELETE", m.path("join-code"), nil)
	right := m.coded()
	other := map[string]any{"code": decode[struct{ Code string }](m, "ann", "POST",
		"/v1/games/"+m.Schedule("ann", m.FoundAs("ann", "Riverside"))+"/join-code", nil).Code}
	claim := func(user, id string, body any) string {
		return code(m.Ask(user, "POST", "/v1/players/"+id+"/claim", body))
	}
	ada := m.l.Players[0]

	for _, c := range []struct {
		name, id string
		body     any
		want     string
	}{
		{"the id alone", ada, nil, "403 league_access_required"},
		{"an empty code", ada, map[string]any{"code": ""}, "403 league_access_required"},
		{"a wrong code", ada, map[string]any{"code": "AAAAAAAA"}, "404 invalid_or_expired_code"},
		{"a revoked code", ada, old, "404 invalid_or_expired_code"},
		{"a code of another league", ada, other, "404 invalid_or_expired_code"},
		{"another id", ids.NewID(m.Clock.Now()), right, "404 player_not_found"},
	} {
		same(t, c.name, claim("eve", c.id, c.body), c.want)
	}

	same(t, "a code", []string{claim("eve", ada, right), claim("eve", ada, nil)}, []string{"200", "200"})

	for range player.MaxWrongClaims.Max - 6 {
		same(t, "an id more", claim("eve", m.l.Players[1], nil), "403 league_access_required")
	}

	refused(t, "after ten, with a code", m.Ask("eve", "POST", "/v1/players/"+m.l.Players[1]+"/claim", right), 429, "too_many_wrong_claims")
	same(t, "another user", claim("vic", m.l.Players[1], nil), "200")
	m.pass(time.Hour)
	same(t, "an hour later", claim("eve", m.l.Players[2], m.coded()), "200")
}

// code makes a code of the game.
func (m *match) code() string {
	m.T.Helper()
	return decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
}

// TestPlayerIsDeleted: by an administrator, unless the player was ever in a team, or another is
// merged into it. The league has room for another then.
func TestPlayerIsDeleted(t *testing.T) {
	t.Parallel()
	m := club(t)
	spam := m.join(m.code(), "Spam")
	path := func(id string) string { return "/v1/players/" + id }
	counted := func() int {
		row := testkit.Row[item.Row[item.League]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)
		return row.V().Players
	}
	same(t, "the players at first", counted(), 10)
	m.Do("eve", "POST", path(spam)+"/claim", m.coded())
	refused(t, "by a scorekeeper", m.Ask("sam", "DELETE", path(spam), nil), 403, "admin_required")
	refused(t, "by who is the player", m.Ask("eve", "DELETE", path(spam), nil), 403, "league_access_required")
	refused(t, "by an old revision", m.Ask("ann", "DELETE", path(spam), nil, threefctest.Header{Name: "if-match", Value: `"1"`}), 409, "stale")
	same(t, "by an administrator", code(m.Ask("ann", "DELETE", path(spam), nil)), "204")
	refused(t, "again", m.Ask("ann", "DELETE", path(spam), nil), 404, "player_not_found")
	same(t, "the players", counted(), 9)
	same(t, "what is left", m.left(spam), []string{item.GameKey(m.id) + " " + item.PoolKey(spam)}) // until the game goes
	same(t, "the pool", len(decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players), 0)
	m.mirrored("afterwards")

	const used = "409 player_in_use"

	one, other := m.newPlayer(m.l.ID, "Jo"), m.newPlayer(m.l.ID, "Joe")
	m.Do("ann", "POST", path(one)+"/merge", map[string]any{"intoPlayerId": other})
	same(t, "in a team, and the target of a merge",
		[]string{code(m.Ask("ann", "DELETE", path(m.l.Players[0]), nil)), code(m.Ask("ann", "DELETE", path(other), nil))}, []string{used, used})
	m.Do("sam", "DELETE", m.path("roster", m.l.Players[0]), nil)
	same(t, "once in a team, and merged into another",
		[]string{code(m.Ask("ann", "DELETE", path(m.l.Players[0]), nil)), code(m.Ask("ann", "DELETE", path(one), nil))}, []string{used, "204"})
	last := m.newPlayer(m.l.ID, "Last")

	got := atOnce(2, func(i int) string {
		if i == 0 {
			return code(m.Ask("sam", "PUT", m.path("roster", last), map[string]any{"teamId": "red"}))
		}

		return code(m.Ask("ann", "DELETE", path(last), nil))
	})
	if got["200"]+got["204"] != 1 || got["404 player_not_found"]+got[used] != 1 {
		t.Errorf("into a team and deleted at once: %v, want one of them", got)
	}

	m.mirrored("at the end")
}

// TestPoolHasRoomAfterDeletions: a player who is deleted has no place in a full pool.
func TestPoolHasRoomAfterDeletions(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := m.code()

	var ids []string
	for i := range game.MaxPlayers.Max {
		m.Caller = fmt.Sprint("203.0.113.", i%2) // each has less than MaxCallerJoins
		ids = append(ids, m.join(c, fmt.Sprint("P", i)))
	}

	refused(t, "one more", m.Ask("", "POST", "/v1/join/"+c, map[string]any{"nickname": "Q"}), 409, "too_many_players")
	m.Do("ann", "DELETE", "/v1/players/"+ids[0], nil)
	m.Do("ann", "DELETE", "/v1/players/"+ids[1], nil)
	m.join(c, "Q")
	m.join(c, "R")
	refused(t, "one more again", m.Ask("", "POST", "/v1/join/"+c, map[string]any{"nickname": "S"}), 409, "too_many_players")
	same(t, "of who was deleted", append(m.left(ids[0]), m.left(ids[1])...), []string(nil))
}

// TestCodesAreRevoked: a scorekeeper ends all codes of a game, and may make others. A code of a
// game that is gone shows no picture.
func TestCodesAreRevoked(t *testing.T) {
	t.Parallel()
	m := club(t)
	first, second := m.code(), m.code()
	m.join(first, "Foxy")

	all := func(codes ...string) (got []string) {
		for _, c := range codes {
			got = append(got, code(m.Ask("", "POST", "/v1/join/"+c, map[string]any{"nickname": "P"})),
				code(m.Ask("", "GET", "/v1/join/"+c+"/qr.png", nil)))
		}

		return got
	}

	refused(t, "by a viewer", m.Ask("vic", "DELETE", m.path("join-code"), nil), 403, "scorekeeper_required")
	same(t, "by a scorekeeper", code(m.Ask("sam", "DELETE", m.path("join-code"), nil)), "204")

	const ended = "404 invalid_or_expired_code"
	same(t, "the codes", all(first, second), []string{ended, ended, ended, ended})

	third := m.code()
	same(t, "a new one", all(third, first), []string{"201", "200", ended, ended})
	same(t, "who has joined stays", len(decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players), 2)
	m.consistent()
	m.Do("ann", "DELETE", m.path(), nil)
	same(t, "of a deleted game", all(third), []string{ended, ended})
}

// TestJoinsAreLimited: a league gets at most 100 new players a day by codes, whichever they are.
// Nobody gets more of them by an account, or by dropping the claim that a join makes.
func TestJoinsAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	codes := []string{m.code()}
	codes = append(codes, m.another())
	ask := func(user string, i int) string {
		return code(m.Ask(user, "POST", "/v1/join/"+codes[i%2], map[string]any{"nickname": fmt.Sprint("P", i)}))
	}

	m.SignIn("mal")

	for i := range (player.MaxJoins.Max - 1) / 3 {
		m.Caller = fmt.Sprint("203.0.113.", i%9) // each has less than MaxCallerJoins
		same(t, "a stranger", ask("", i), "201")
		same(t, "another", ask("", i), "201")

		out := m.Do("mal", "POST", "/v1/join/"+codes[0], map[string]any{"nickname": "Mal"})
		m.Do("mal", "DELETE", "/v1/players/"+testkit.Decode[struct{ PlayerID string }](m.World.World, out).PlayerID+"/claim", nil)

		if i%15 == 0 { // the pool of a game has room for 60
			codes[0] = m.another()
			codes[1] = m.another()
		}
	}

	m.pass(time.Hour)
	same(t, "two at once with room for one", atOnce(2, func(i int) string { return ask("", i) }),
		map[string]int{"201": 1, "429 too_many_joins": 1})

	out := m.Ask("", "POST", "/v1/join/"+codes[0], map[string]any{"nickname": "P"})
	refused(t, "one more", out, 429, "too_many_joins")

	if got := testkit.Header(out).Get("Retry-After"); got != "82800" {
		t.Errorf("Retry-After is %s, want 82800", got)
	}

	same(t, "who is signed in", ask("eve", 0), "429 too_many_joins")
	m.pass(23 * time.Hour)
	m.SignIn("sam")
	codes[0] = m.code()

	same(t, "on the next day", ask("", 0), "201")
}

// TestJoinsOfACallerAreLimited: one caller, with or without an account, makes at most 40 new players of a
// league a day, so that others find room. Who has a player joins again.
func TestJoinsOfACallerAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.SignIn("mal")

	c := m.code()
	ask := func(caller, user string) string {
		m.Caller = caller
		return code(m.Ask(user, "POST", "/v1/join/"+c, map[string]any{"nickname": "Foxy"}))
	}

	same(t, "a user", ask("2001:db8:0:1::1", "mal"), "201")

	for range player.MaxCallerJoins.Max - 2 {
		same(t, "a stranger", ask("2001:db8:0:1::1", ""), "201")
	}

	same(t, "two at once with room for one", atOnce(2, func(int) string {
		return code(m.Ask("", "POST", "/v1/join/"+c, map[string]any{"nickname": "Foxy"}))
	}), map[string]int{"201": 1, "429 " + "too_many_joins_of_caller": 1})

	same(t, "from the same network", []string{ask("2001:db8:0:1:ffff::2", ""), ask("2001:db8:0:1::1", "eve"), ask("2001:db8:0:1::1", "mal")},
		[]string{"429 too_many_joins_of_caller", "429 too_many_joins_of_caller", "201"})
	same(t, "from others", []string{ask("2001:db8:0:2::1", ""), ask("203.0.113.7", "eve")}, []string{"201", "201"})

	c = decode[struct{ Code string }](m, "ann", "POST", "/v1/games/"+m.Schedule("ann", m.FoundAs("ann", "Riverside"))+"/join-code", nil).Code
	same(t, "to another league", ask("2001:db8:0:1::1", ""), "201")
	m.pass(24 * time.Hour)
	m.SignIn("sam")

	c = m.code()
	same(t, "on the next day", ask("2001:db8:0:1::1", ""), "201")
}

// TestClaimOfADeletedPlayerEnds: it holds none of the user's places.
func TestClaimOfADeletedPlayerEnds(t *testing.T) {
	t.Parallel()
	m := club(t)
	id := ids.NewID(m.Clock.Now())
	testkit.PutRows(m.World.World, tables.App,
		item.New(item.UserKey("vic"), item.PlayerKey(id), "Claim", item.Claim{PlayerID: id, LeagueID: "gone"}, m.Clock.Now()))
	refused(t, "the player", m.Ask("vic", "DELETE", "/v1/players/"+id+"/claim", nil), 404, "player_not_found")

	for _, r := range everything(m.World) {
		if r["pk"] == item.UserKey("vic") && strings.HasPrefix(r["sk"].(string), item.Players) {
			t.Errorf("there is %v", r)
		}
	}
}

// another schedules a game, and returns a code by which players join it.
func (m *match) another() string {
	m.T.Helper()
	g := m.Schedule("ann", m.l)

	return decode[struct{ Code string }](m, "sam", "POST", "/v1/games/"+g+"/join-code", nil).Code
}

// TestDroppedClaimIsForMembers: a player whose claim an administrator has ended can be claimed by
// members of the league only; one whose user has left by anybody.
func TestDroppedClaimIsForMembers(t *testing.T) {
	t.Parallel()
	m := club(t)
	path, byCode := "/v1/players/"+m.l.Players[0]+"/claim", m.coded()
	ask := func(user, method string) string {
		if method == "DELETE" {
			return code(m.Ask(user, method, path, nil))
		}

		return code(m.Ask(user, method, path, byCode))
	}
	same(t, "a stranger, twice", []string{ask("eve", "POST"), ask("eve", "DELETE"), ask("eve", "POST")}, []string{"200", "204", "200"})
	same(t, "an administrator ends it", ask("ann", "DELETE"), "204")
	same(t, "the stranger again, and the player", []string{ask("eve", "POST"), ask("vic", "POST"), ask("vic", "DELETE"), ask("eve", "POST")},
		[]string{"403 league_access_required", "200", "204", "403 league_access_required"})
}

// TestDeletedUserJoinsNothing: who has deleted the account claims no player by a code.
func TestDeletedUserJoinsNothing(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	testkit.PutRows(m.World.World, account.Deleted, account.Tombstone{UserID: "eve", DeletedAt: "2026-06-06T12:00:00Z"})
	refused(t, "a deleted user", m.Ask("eve", "POST", "/v1/join/"+c, map[string]any{"nickname": "Evie"}), 401, "account_deleted")
}

// TestPagesOfPlayers: every player is on one page, in the order of creation.
func TestPagesOfPlayers(t *testing.T) {
	t.Parallel()
	m := club(t)

	type page struct {
		Players []player.Player
		Next    string
	}

	for _, limit := range []int{1, 4, 9, 100} {
		var got []string

		for cursor := ""; ; {
			p := decode[page](m, "vic", "GET", fmt.Sprintf("/v1/leagues/%s/players?limit=%d&cursor=%s", m.l.ID, limit, cursor), nil)
			for _, one := range p.Players {
				got = append(got, one.PlayerID)
			}

			if cursor = p.Next; cursor == "" || len(got) > 20 {
				break
			}
		}

		if len(got) != 9 {
			t.Errorf("pages of %d have %d players, want 9", limit, len(got))
		}
	}
}

// TestPublicAnswersHaveNicknamesOnly: no address, user id or player id of anybody.
func TestPublicAnswersHaveNicknamesOnly(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	g := m.goalOf(0, "blue")
	g.Assists = []string{m.l.Players[1]}
	m.score("sam", g)
	m.Play("sam", m.id)
	m.Aggregate()

	game := "/v1/public/leagues/parkside/seasons/spring-2026/games/" + m.read().Slug
	for _, path := range []string{game, game + "/timeline", "/v1/public/seasons/" + m.l.SeasonID + "/standings",
		"/v1/public/seasons/" + m.l.SeasonID + "/leaderboards/players"} {
		out := m.Do("", "GET", path, nil)
		for _, hidden := range []string{"vic", "sam", "example.com", "userId", "recordedBy", "laimed", m.l.Players[0]} {
			if strings.Contains(out.Body, hidden) {
				t.Errorf("%s contains %s: %s", path, hidden, out.Body)
			}
		}

		if cache := testkit.Header(out).Get("Cache-Control"); cache != "public, max-age=5" {
			t.Errorf("%s has Cache-Control %s", path, cache)
		}
	}

	if body := m.Do("", "GET", game+"/timeline", nil).Body; !strings.Contains(body, `"scorer":"Ada"`) ||
		!strings.Contains(body, `"assists":["Bo"]`) {
		t.Errorf("the timeline is %s", body)
	}

	for _, path := range []string{
		"/v1/public/leagues/parkside/seasons/spring-2026/games/nothing", "/v1/public/leagues/parkside/seasons/nothing/games/" + m.id,
		"/v1/public/leagues/nothing/seasons/" + m.l.SeasonID + "/games/" + m.id,
		"/v1/public/seasons/01JX0000000000000000000000/standings", "/v1/public/seasons/01JX0000000000000000000000/leaderboards/players",
	} {
		refused(t, path, m.Ask("", "GET", path, nil), 404, "not_found")
	}
}

// TestLinksAnswerHead: who checks a link, or asks whether a calendar has changed, gets the
// headers of the answer.
func TestLinksAnswerHead(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code

	const season = "/l/parkside/spring-2026"
	for _, path := range []string{season, season + "/calendar.ics", season + "/" + m.id, "/v1/join/" + c + "/qr.png"} {
		get, head := m.Do("", "GET", path, nil), m.Do("", "HEAD", path, nil)
		same(t, path, head.Headers, get.Headers)
		same(t, path, head.MultiValueHeaders, get.MultiValueHeaders)
	}

	refused(t, "a page that is not there", m.Ask("", "HEAD", "/v1/join/AAAAAAAA/qr.png", nil), 404, "invalid_or_expired_code")
}

// TestWrongCodesAreLimited: after 30 wrong codes in an hour nobody of a network gets an
// answer to another, right or wrong.
func TestWrongCodesAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	right := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	ask := func(address, text string) string {
		m.Caller = address
		return code(m.Ask("", "POST", "/v1/join/"+text, map[string]any{"nickname": "Foxy"}))
	}
	look := func(address, text string) string {
		m.Caller = address
		return code(m.Ask("", "GET", "/v1/join/"+text+"/qr.png", nil))
	}

	for _, network := range [][]string{{"203.0.113.7", "::ffff:203.0.113.7"}, {"2001:db8:0:1::1", "2001:db8:0:1:ffff::2"}} {
		for i := range player.MaxGuesses.Max / 2 {
			wrong := fmt.Sprintf("7777%04d", i)
			same(t, "a wrong code", []string{ask(network[0], wrong), look(network[1], wrong)},
				[]string{"404 invalid_or_expired_code", "404 invalid_or_expired_code"})
		}

		for _, address := range network {
			same(t, "one more, and the right one", []string{ask(address, "77779999"), ask(address, right), look(address, right)},
				[]string{"429 too_many_codes", "429 too_many_codes", "429 too_many_codes"})
		}
	}

	m.Caller = "203.0.113.7"
	m.pass(20 * time.Minute)
	out := m.Ask("", "POST", "/v1/join/"+right, map[string]any{"nickname": "Foxy"})
	refused(t, "after 20 minutes", out, 429, "too_many_codes")

	if got := testkit.Header(out).Get("Retry-After"); got != "2400" {
		t.Errorf("after 20 minutes Retry-After is %s, want 2400", got)
	}

	same(t, "from the same network", ask("2001:db8:0:1:8000::1", right), "429 too_many_codes")
	same(t, "from other networks", []string{ask("203.0.113.8", right), ask("2001:db8::1", right), ask("2001:db8:0:2::1", right),
		ask("", right)}, []string{"201", "201", "201", "201"})
	m.pass(40 * time.Minute)
	same(t, "after an hour", []string{ask("203.0.113.7", "77770000"), ask("203.0.113.7", right), look("2001:db8:0:1::1", right)},
		[]string{"404 invalid_or_expired_code", "201", "200"})
}

// TestRightCodesAreNotCounted: a team behind one address joins.
func TestRightCodesAreNotCounted(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Caller = "203.0.113.7"

	right := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	for range player.MaxGuesses.Max + 1 {
		m.Do("", "POST", "/v1/join/"+right, map[string]any{"nickname": "Foxy"})
	}
}

// TestClaimIsDropped: by who has it, or by an administrator of the league. A second run
// changes nothing, and finds who has claimed the player since.
func TestClaimIsDropped(t *testing.T) {
	t.Parallel()
	m := club(t)
	path, byCode := "/v1/players/"+m.l.Players[0]+"/claim", m.coded()
	ask := func(user, method string) string {
		if method == "DELETE" {
			return code(m.Ask(user, method, path, nil))
		}

		return code(m.Ask(user, method, path, byCode))
	}
	mirror := func(user string) (there bool) {
		for _, r := range everything(m.World) {
			there = there || r["pk"] == item.UserKey(user) && r["sk"] == item.PlayerKey(m.l.Players[0])
		}

		return there
	}
	same(t, "eve, who is no member, claims", []any{ask("eve", "POST"), mirror("eve")}, []any{"200", true})
	same(t, "others drop it", []string{ask("vic", "DELETE"), ask("sam", "DELETE")}, []string{"403 admin_required", "403 admin_required"})
	same(t, "eve drops it, twice", []any{ask("eve", "DELETE"), ask("eve", "DELETE"), mirror("eve")}, []any{"204", "204", false})
	same(t, "vic claims", []any{ask("vic", "POST"), mirror("vic")}, []any{"200", true})
	same(t, "eve drops it again", []any{ask("eve", "DELETE"), mirror("vic")}, []any{"403 league_access_required", true})
	same(t, "an administrator drops it, twice", []any{ask("ann", "DELETE"), ask("ann", "DELETE"), mirror("vic")}, []any{"204", "204", false})
	m.mirrored("at the end")

	got := atOnce(4, func(i int) string { return ask([]string{"vic", "ann"}[i%2], []string{"POST", "DELETE"}[i%2]) })

	m.mirrored("after two at once")

	if by := decode[player.Player](m, "vic", "GET", "/v1/players/"+m.l.Players[0], nil); by.Mine != mirror("vic") {
		t.Errorf("after %v the player is %+v, and the copy under the user is there: %v", got, by, mirror("vic"))
	}
}
