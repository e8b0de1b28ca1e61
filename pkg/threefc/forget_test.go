package threefc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/object"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/userdata"
)

// forget has the room forget a user, and computes the tables that depend on it.
func (m *match) forget(user string) {
	m.T.Helper()
	s := testkit.Open(m.World.World, userdata.ForgetUserFunction(), userdata.Open)
	testkit.Must(m.T, s.ForgetUser(m.NewContext(), account.Request{Job: "J", UserID: user}))
	m.Aggregate()
}

// mentions are the keys of the items that mention a user, with the user's sessions.
func (m *match) mentions(user string) (all []string) {
	m.T.Helper()

	for _, r := range everything(m.World) {
		text, err := json.Marshal(r)
		testkit.Must(m.T, err)

		for _, part := range []string{"USER#" + user + `"`, `"` + user + `\"`, user + "@example.com"} {
			if strings.Contains(string(text), part) {
				all = append(all, r["pk"].(string)+" "+r["sk"].(string))
				break
			}
		}
	}

	slices.Sort(all)

	return all
}

// TestForgottenUserLeavesNothing but the id of who has recorded goals and corrections; the
// players of the user lose their names, and keep their goals.
func TestForgottenUserLeavesNothing(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.Do("vic", "PATCH", "/v1/players/"+m.l.Players[0], map[string]any{"nickname": "Victoria", "avatar": "🦊"}, threefctest.Key("K"))
	m.Aggregate()

	if n := len(m.mentions("vic")); n < 7 {
		t.Fatalf("the user has %v only", m.mentions("vic"))
	}

	same(t, "the leaders before", strings.Contains(m.leaders(), "Victoria 1 0 1"), true)
	m.forget("vic")
	same(t, "what mentions the user", m.mentions("vic"), []string(nil))

	for _, r := range everything(m.World) {
		if text := fmt.Sprint(r); strings.Contains(text, "Victoria") || strings.Contains(text, "🦊") {
			t.Errorf("an item has the name of the player: %s", text)
		}
	}

	same(t, "the leaders", strings.Contains(m.leaders(), userdata.Gone+" 1 0 1"), true)
	same(t, "the members", m.members(), "ann admin, sam scorekeeper, sue scorekeeper")
	same(t, "the confirmations", testkit.Messages[account.Done](m.World.World, account.DoneQueue),
		[]account.Done{{Kind: account.Forget, Room: "threefc", Request: account.Request{Job: "J", UserID: "vic"}}})
	refused(t, "the session", m.Ask("vic", "GET", "/v1/leagues", nil), 401, "invalid_session")

	m.forget("sam")

	for _, key := range m.mentions("sam") {
		if !strings.HasPrefix(key, item.GameKey(m.id)+" GOAL#") && !strings.HasPrefix(key, item.GameKey(m.id)+" AUDIT#") {
			t.Errorf("%s mentions the scorekeeper", key)
		}
	}
}

// TestMergedPlayersOfAForgottenUser: whoever is merged with the player of the user is the same
// person, and loses the name, but for a player whom another user has claimed. The export has the
// numbers of the player as whom the user's counts.
func TestMergedPlayersOfAForgottenUser(t *testing.T) {
	t.Parallel()

	for name, claimed := range map[string]int{"the claimed player is merged": 0, "the claimed player stays": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := club(t)
			for i, nickname := range []string{"Victoria", "Victoria P", "Viv"} {
				m.Do("sam", "PATCH", "/v1/players/"+m.l.Players[i], map[string]any{"nickname": nickname})
			}

			m.step("thirds/1/start")
			m.score("sam", m.goalOf(0, "blue"))
			m.score("sam", m.goalOf(1, "blue"))
			m.Play("ann", m.id)

			for _, i := range []int{0, 2} {
				m.Do("ann", "POST", "/v1/players/"+m.l.Players[i]+"/merge", map[string]any{"intoPlayerId": m.l.Players[1]})
			}

			m.Do("vic", "POST", "/v1/players/"+m.l.Players[claimed]+"/claim", nil)
			m.Do("sue", "POST", "/v1/players/"+m.l.Players[2]+"/claim", nil)
			m.Aggregate()
			same(t, "the export has the seasons", strings.Contains(string(m.export("vic")), "STAT#"+m.l.SeasonID), true)
			m.forget("vic")

			for _, r := range everything(m.World) {
				if text := fmt.Sprint(r); r["entityType"] != "Answer" && strings.Contains(text, "Victoria") {
					t.Errorf("an item has the name of the player: %s", text)
				}
			}

			other := testkit.Row[item.Row[item.Player]](m.World.World, tables.App, item.PlayerKey(m.l.Players[2]), item.Profile)
			same(t, "the player of another user", other.V().Nickname, "Viv")
		})
	}
}

// TestLeagueOfAForgottenAdministrator: the longest member becomes the administrator, a
// scorekeeper first.
func TestLeagueOfAForgottenAdministrator(t *testing.T) {
	t.Parallel()
	m := club(t)
	alone := decode[named](m, "ann", "POST", "/v1/leagues", map[string]any{"name": "Mine"}).LeagueID
	m.forget("ann")

	roles := func(league string) string {
		var all []string

		for _, r := range everything(m.World) {
			if r["entityType"] == "Grant" && strings.Contains(r["data"].(string), league) {
				var g item.Grant
				testkit.Must(t, json.Unmarshal([]byte(r["data"].(string)), &g))
				all = append(all, fmt.Sprint(g.UserID, " ", g.Role))
			}
		}

		slices.Sort(all)

		return strings.Join(all, ", ")
	}
	same(t, "the roles, each in both places", roles(m.l.ID), "sam admin, sam admin, sue scorekeeper, sue scorekeeper, vic viewer, vic viewer")
	same(t, "the roles of the other", roles(alone), "")

	l := testkit.Row[item.Row[item.League]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)
	same(t, "the counts", []int{l.V().Admins, l.V().Members}, []int{1, 3})
	m.Do("sam", "PUT", "/v1/leagues/"+m.l.ID+"/access/vic", map[string]any{"role": "admin"})
	m.forget("sam") // not the last
	same(t, "the roles", roles(m.l.ID), "sue scorekeeper, sue scorekeeper, vic admin, vic admin")
}

// TestLeagueOfTheLastMember: it is deleted with all that it has. No page shows it, its codes are
// refused, and the claims of others go with its players.
func TestLeagueOfTheLastMember(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.Do("eve", "POST", "/v1/players/"+m.l.Players[1]+"/claim", m.coded())
	m.tomorrow()
	joined := m.code()

	pages := []string{
		"/l/parkside/spring-2026", "/l/" + m.l.ID + "/" + m.l.SeasonID, "/l/parkside/spring-2026/calendar.ics",
		"/v1/public/seasons/" + m.l.SeasonID + "/standings",
	}
	for _, page := range pages {
		m.Do("", "GET", page, nil)
	}

	for _, user := range []string{"vic", "sam", "sue"} {
		m.forget(user)
	}

	m.Do("", "GET", pages[0], nil)
	m.forget("ann")

	for _, page := range pages {
		same(t, page, m.Ask("", "GET", page, nil).StatusCode, 404)
	}

	refused(t, "its code", m.Ask("", "POST", "/v1/join/"+joined, map[string]any{"nickname": "Late"}), 404, "invalid_or_expired_code")
	same(t, "what is left", m.kinds(), []string{"JOIN"})
	same(t, "the leagues of another user", decode[struct{ Leagues []any }](m, "eve", "GET", "/v1/leagues", nil).Leagues, []any{})
}

// kinds are the prefixes of the keys of partitions that are not of users or of sessions of browsers.
func (m *match) kinds() (all []string) {
	for _, r := range everything(m.World) {
		if kind, _, _ := strings.Cut(r["pk"].(string), "#"); !slices.Contains([]string{"USER", "AUTH_SESSION"}, kind) {
			all = append(all, kind)
		} else if sk := r["sk"].(string); strings.HasPrefix(sk, item.Leagues) || strings.HasPrefix(sk, item.Players) {
			all = append(all, r["pk"].(string)+" "+sk)
		}
	}

	slices.Sort(all)

	return slices.Compact(all)
}

// TestHeirOfALeague: of those with equal rights the one who is longest a member.
func TestHeirOfALeague(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		oldest, want string
	}{"a scorekeeper": {"sue", "sue admin, sue admin"}, "a viewer is older": {"vic", "sam admin, sam admin"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := club(t)
			row := testkit.Row[item.Row[item.Grant]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.GrantKey(c.oldest))
			row.CreatedAt = item.Format(m.Clock.Now().Add(-time.Second))
			testkit.PutRows(m.World.World, tables.App, row)
			m.forget("ann")

			var admins []string

			for _, r := range everything(m.World) {
				if data := fmt.Sprint(r["data"]); r["entityType"] == "Grant" && strings.Contains(data, `"role":"admin"`) {
					_, user, _ := strings.Cut(data, `"userId":"`)
					admins = append(admins, user[:3]+" admin")
				}
			}

			same(t, "the administrator, in both places", strings.Join(admins, ", "), c.want)
		})
	}
}

// TestForgottenInADeletedLeague: a role in a league whose deletion was begun goes, too.
func TestForgottenInADeletedLeague(t *testing.T) {
	t.Parallel()
	m := club(t)
	testkit.Must(t, m.DeleteRow(tables.App, item.LeagueKey(m.l.ID), item.Metadata))
	m.forget("vic")
	same(t, "what mentions the user", m.mentions("vic"), []string(nil))
}

// TestForgottenClaimOfADeletedPlayer: a claim whose player is gone, with its league, goes too.
func TestForgottenClaimOfADeletedPlayer(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("eve", "POST", "/v1/players/"+m.l.Players[0]+"/claim", m.coded())
	testkit.Must(t, m.DeleteRow(tables.App, item.PlayerKey(m.l.Players[0]), item.Profile))
	testkit.Must(t, m.DeleteRow(tables.App, item.LeagueKey(m.l.ID), item.PlayerKey(m.l.Players[0])))
	m.forget("eve")
	same(t, "what mentions the user", m.mentions("eve"), []string(nil))
	same(t, "the tables that are computed again", m.Aggregate(), 0)
}

// TestForgetFailures: each failing call is an error of the run, until it has confirmed.
func TestForgetFailures(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	s := testkit.Open(m.World.World, userdata.ForgetUserFunction(), userdata.Open)
	dynamotest.CheckFailures(t, &m.IO, func() error { return s.ForgetUser(m.NewContext(), account.Request{Job: "J", UserID: "vic"}) })
	same(t, "what mentions the user", m.mentions("vic"), []string(nil))
}

// export returns the room's part of the export of a user.
func (m *match) export(user string) []byte {
	m.T.Helper()
	s := testkit.Open(m.World.World, userdata.ExportUserFunction(), userdata.Open)
	testkit.Must(m.T, s.ExportUser(m.NewContext(), account.Request{Job: "J", UserID: user}))
	server := httptest.NewServer(m.Files)
	m.T.Cleanup(server.Close)
	cfg := m.AWS.Copy()
	cfg.BaseEndpoint = &server.URL
	text, err := object.Open(cfg, account.Exports.Name).Get(m.T.Context(), account.PartKey("threefc", "J"))
	testkit.Must(m.T, err)

	return text
}

// TestExportHasOneOfEach: of what is kept of a user, and no secret.
func TestExportHasOneOfEach(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil, threefctest.Key("K"))
	m.step("thirds/1/start")
	m.score("sam", m.goalOf(0, "blue"))
	m.Play("sam", m.id)
	m.Aggregate()

	pk := item.UserKey("ann")
	for _, sk := range []string{"PREFERENCES", item.Invitations, "MAIL#" + m.id, item.Logins + "1"} {
		testkit.PutRows(m.World.World, tables.App, map[string]any{"pk": pk, "sk": sk, "entityType": "Any", "data": "{}"})
	}

	text := m.export("ann")

	var part struct{ Items []struct{ Key, Type string } }
	testkit.Must(t, json.Unmarshal(text, &part))

	types, keys := map[string]int{}, map[string]bool{}
	for _, one := range part.Items {
		types[one.Type]++
		keys[one.Key] = true
	}

	same(t, "the items", types, map[string]int{"Grant": 1, "Claim": 1, "User": 1, "Answer": 1, "Player": 1, "PlayerSeason": 1, "Any": 3})

	for _, r := range testkit.Rows[struct{ PK, SK string }](m.World.World, tables.App) {
		if secret := strings.HasPrefix(r.SK, item.Logins); r.PK == pk && keys[r.SK] == secret {
			t.Errorf("%s is in the export: %t", r.SK, keys[r.SK])
		}
	}

	if strings.Contains(string(text), item.Logins) || !strings.Contains(string(text), `"Ada"`) {
		t.Errorf("the export is %s", text)
	}

	same(t, "the confirmations", testkit.Messages[account.Done](m.World.World, account.DoneQueue),
		[]account.Done{{Kind: account.Export, Room: "threefc", Request: account.Request{Job: "J", UserID: "ann"}}})
}

// TestDeleteAccount asks the room of the accounts, ends the writes of the user before it answers, and
// signs out.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	m := club(t)

	out := m.Do("vic", "DELETE", "/v1/account", nil)
	if !strings.HasPrefix(out.Cookies[0], "__Host-threefc_session=;") {
		t.Errorf("got the cookies %v", out.Cookies)
	}

	same(t, "the request", testkit.Messages[account.Deletion](m.World.World, account.DeleteQueue), []account.Deletion{{UserID: "vic"}})
	refused(t, "a write with the session", m.Ask("vic", "POST", "/v1/leagues", map[string]any{"name": "Later"}), 401, "account_deleted")
	same(t, "again", code(m.Ask("vic", "DELETE", "/v1/account", nil)), "202")
}

// TestDeletedUserWritesNothing: from the tombstone on.
func TestDeletedUserWritesNothing(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.score("ann", m.goalOf(0, "blue"))
	testkit.PutRows(m.World.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	before := m.outcome()
	refused(t, "a goal", m.Ask("ann", "POST", m.path("goals"), m.goalOf(0, "blue")), 401, "account_deleted")
	refused(t, "a claim", m.Ask("ann", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil), 401, "account_deleted")
	refused(t, "a name", m.Ask("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"name": "X"}), 401, "account_deleted")
	same(t, "what is stored", m.outcome(), before)
}

// TestTablesInAnyOrder: the messages of a season are processed in their order, and computed
// in another, or twice, the tables are the same.
func TestTablesInAnyOrder(t *testing.T) {
	t.Parallel()
	m := club(t)

	first := m.id
	for _, g := range []string{first, m.Schedule("ann", m.l)} {
		m.id = g
		m.step("thirds/1/start")
		m.score("sam", m.goalOf(0, "blue"))
		m.Play("sam", g)
	}

	second := m.id
	m.Do("ann", "POST", m.path("reopen"), nil)

	var got []string

	messages := testkit.Messages[game.Changed](m.World.World, game.AggregateQueue)
	for _, one := range messages {
		got = append(got, one.GameID)
	}

	same(t, "the messages", got, []string{first, second, second})
	m.pass(time.Second)
	s := testkit.Open(m.World.World, standing.AggregateSeasonFunction(), standing.Open)
	want := ""

	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 1, 0}} {
		for _, i := range order {
			testkit.Must(t, s.AggregateSeason(m.NewContext(), messages[i]))
		}

		var tables []string

		for _, r := range everything(m.World) {
			if r["entityType"] == "Table" || r["entityType"] == "PlayerSeason" {
				tables = append(tables, fmt.Sprint(r["sk"], r["data"]))
			}
		}

		slices.Sort(tables)

		if want == "" {
			want = strings.Join(tables, "\n")
		}

		same(t, fmt.Sprint("the tables in the order ", order), strings.Join(tables, "\n"), want)
	}

	finished := map[string]bool{}
	for _, f := range testkit.Messages[standing.Finished](m.World.World, standing.FinishQueue) {
		finished[f.GameID] = true
	}

	same(t, "the finished games", slices.Collect(maps.Keys(finished)), []string{first})
}

// TestSweepWaitsAMinute: a message that is on its way is not sent again.
func TestSweepWaitsAMinute(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.step("thirds/1/start")
	m.Play("sam", m.id)
	m.lose()

	s := testkit.Open(m.World.World, standing.SweepOutboxFunction(), standing.Open)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{59 * time.Second, 0}, {time.Second, 1}} {
		m.pass(c.after)
		testkit.Must(t, s.SweepOutbox(m.NewContext()))
		same(t, fmt.Sprint("the messages ", c.after, " later"), len(m.Queues.Messages(game.AggregateQueue.Name)), c.want)
	}

	same(t, "the games that were handled", m.Aggregate(), 1)
	testkit.Must(t, s.SweepOutbox(m.NewContext()))
	same(t, "the messages when nothing waits", m.Aggregate(), 0)
}

// TestForgetAfterADeletionThatDied: who deletes a league without other members, does not repeat a request that has died,
// and deletes the account, leaves nothing of the league.
func TestForgetAfterADeletionThatDied(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		m := club(t)
		id := decode[league.League](m, "ann", "POST", "/v1/leagues", map[string]any{"name": "Mine alone"}).LeagueID
		m.newPlayer(id, "Zoe")

		fn := league.DeleteLeagueFunction()
		_, err := open(m, m.CrashingEnv(fn, p), league.Open).DeleteLeague(m.NewContext(), &league.DeleteLeague{User: ann, LeagueID: id})
		p.Ended(err)
		m.forget("ann")

		return m.left(id)
	})
}
