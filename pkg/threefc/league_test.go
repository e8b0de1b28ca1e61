package threefc_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/limit"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/tables"
)

// named is the names and slugs in an answer.
type named struct{ LeagueID, SeasonID, Name, Slug string }

func decode[T any](m *match, user, method, path string, body any) T {
	m.T.Helper()
	return testkit.Decode[T](m.World.World, m.Do(user, method, path, body))
}

// atOnce makes n requests at once, and counts the answers.
func atOnce(n int, ask func(i int) string) map[string]int {
	var all sync.WaitGroup

	got, counts := make([]string, n), map[string]int{}
	for i := range n {
		all.Go(func() { got[i] = ask(i) })
	}

	all.Wait()

	for _, g := range got {
		counts[g]++
	}

	return counts
}

// TestSlugs: a chosen slug is had once; one that is made of a name is always free.
func TestSlugs(t *testing.T) {
	t.Parallel()
	m := club(t)
	body := func(name, slug string) map[string]any {
		all := map[string]any{"name": name}
		if slug != "" {
			all["slug"] = slug
		}

		return all
	}
	out := m.Ask("eve", "POST", "/v1/leagues", body("Other", "parkside"))
	refused(t, "a slug of another league", out, 409, "slug_taken")

	if err := testkit.CheckProblemField(out, 409, "body.slug"); err != nil {
		t.Error(err)
	}

	second := decode[named](m, "eve", "POST", "/v1/leagues", body("Parkside", ""))
	if !strings.HasPrefix(second.Slug, "parkside-") {
		t.Errorf("the slug is %q, want parkside- and something", second.Slug)
	}

	long := strings.Repeat("x", 31) + " " + strings.Repeat("y", 8)
	same(t, "a long name", decode[named](m, "eve", "POST", "/v1/leagues", body(long, "")).Slug, strings.ReplaceAll(long, " ", "-"))

	for _, user := range []string{"eve", "vic"} {
		if slug := decode[named](m, user, "POST", "/v1/leagues",
			body(long, "")).Slug; !regexp.MustCompile("^x{31}-[a-z2-7]{6}$").MatchString(slug) {
			t.Errorf("the slug is %q, want the first word and six letters", slug)
		}
	}

	path := "/v1/leagues/" + second.LeagueID
	refused(t, "a rename to it", m.Ask("eve", "PATCH", path, body("Other", "parkside")), 409, "slug_taken")
}

// TestSlugOfAName: what a name becomes in a URL.
func TestSlugOfAName(t *testing.T) {
	t.Parallel()

	a := strings.Repeat("a", 40)
	for name, want := range map[string]string{
		"Straße 3!":       "stra-e-3",
		"Été à Nîmes":     "ete-a-nimes",
		"abc":             "abc",
		"ab":              "league-ab",
		"  -- A  &  B --": "a-b",
		"!":               "league",
		"第一":              "league",
		"A\u007fBC":       "a-bc",
		a:                 a,
		a + "b":           a,
		"! " + a:          a,
		a[1:] + " b":      a[1:],
		"Ⅻ Öl":            "xii-ol",
		"٣ teams":         "teams",
	} {
		same(t, name, league.Slug(name), want)
	}
}

// TestTwoLeaguesAtOnce of one user get the slugs of their names.
func TestTwoLeaguesAtOnce(t *testing.T) {
	t.Parallel()
	m := club(t)
	got := atOnce(4, func(i int) string {
		return decode[named](m, "eve", "POST", "/v1/leagues", map[string]any{"name": fmt.Sprint("League ", i)}).Slug
	})
	same(t, "the slugs", got, map[string]int{"league-0": 1, "league-1": 1, "league-2": 1, "league-3": 1})
}

// TestLeaguesInOrderOfNames: each with the role of the caller.
func TestLeaguesInOrderOfNames(t *testing.T) {
	t.Parallel()
	m := club(t)

	type listed struct {
		LeagueID, Name string
		Role           item.Role
	}

	want := []listed{{"", "A", item.Admin}, {"", "B", item.Admin}, {"", "B", item.Admin}, {m.l.ID, "Parkside", item.Viewer}}
	for _, i := range []int{1, 0, 2} {
		want[i].LeagueID = decode[named](m, "vic", "POST", "/v1/leagues", map[string]any{"name": want[i].Name}).LeagueID
		m.pass(time.Second)
	}

	same(t, "the leagues", decode[struct{ Leagues []listed }](m, "vic", "GET", "/v1/leagues", nil).Leagues, want)
}

// TestSlugAfterARename: links with the one before lead to the league, too, until the next; then it may be had
// by others.
func TestSlugAfterARename(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "northside"})

	show := func(league, season string) string {
		return code(m.Ask("", "GET", "/v1/public/leagues/"+league+"/seasons/"+season+"/games/"+m.id, nil))
	}
	same(t, "the pages", []string{show("northside", "spring-2026"), show("parkside", "spring-2026"), show(m.l.ID, m.l.SeasonID)},
		[]string{"200", "200", "200"})

	other := func() string {
		return code(m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": "Other", "slug": "parkside"}))
	}
	same(t, "the old one for another league", other(), "409 slug_taken")
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "parkside"})
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "northside"})
	same(t, "there and back again", []string{show("northside", "spring-2026"), show("parkside", "spring-2026"), other()},
		[]string{"200", "200", "409 slug_taken"})
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "westside"})
	same(t, "after the next", []string{show("westside", "spring-2026"), show("northside", "spring-2026"), show("parkside", "spring-2026")},
		[]string{"200", "200", "404 not_found"})
	m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Other", "slug": "parkside"})
	same(t, "a game of another league", show("parkside", m.l.SeasonID), "404 not_found")
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"slug": "may"})
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/seasons", map[string]any{"name": "Spring 2026"})
	same(t, "the pages of the season", []string{show("westside", "may"), show("westside", "spring-2026")}, []string{"200", "404 not_found"})
	refused(t, "a slug of another season", m.Ask("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"slug": "spring-2026"}),
		409, "slug_taken")
	refused(t, "a new season with it", m.Ask("ann", "POST", "/v1/leagues/"+m.l.ID+"/seasons", map[string]any{"name": "May"}),
		409, "slug_taken")

	got := atOnce(4, func(int) string {
		return code(m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": "X", "slug": "at-once"}))
	})
	same(t, "four at once", got, map[string]int{"201": 1, "409 slug_taken": 3})
}

// TestLastAdministratorStays: by none of the ways, also if two leave at once.
func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	m := club(t)
	access := "/v1/leagues/" + m.l.ID + "/access/"
	refused(t, "another role", m.Ask("ann", "PUT", access+"ann", map[string]any{"role": "viewer"}), 409, "last_admin")
	refused(t, "leaving", m.Ask("ann", "DELETE", access+"ann", nil), 409, "last_admin")
	refused(t, "a role of a stranger", m.Ask("ann", "PUT", access+"eve", map[string]any{"role": "viewer"}), 404, "member_not_found")
	m.Do("ann", "PUT", access+"sam", map[string]any{"role": "admin"})
	same(t, "the members", m.members(), "ann admin, sam admin, sue scorekeeper, vic viewer")

	got := atOnce(2, func(i int) string {
		user := []string{"ann", "sam"}[i]
		return code(m.Ask(user, "DELETE", access+user, nil))
	})
	same(t, "both leave at once", got, map[string]int{"204": 1, "409 last_admin": 1})

	row := testkit.Row[item.Row[item.League]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)
	same(t, "the counts of the league", []int{row.V().Admins, row.V().Members}, []int{1, 3})
}

// TestAdministratorsDemoteEachOther at once: one stays.
func TestAdministratorsDemoteEachOther(t *testing.T) {
	t.Parallel()
	m := club(t)
	access := "/v1/leagues/" + m.l.ID + "/access/"
	m.Do("ann", "PUT", access+"sam", map[string]any{"role": "admin"})

	got := atOnce(2, func(i int) string {
		return code(m.Ask([]string{"ann", "sam"}[i], "PUT", access+[]string{"sam", "ann"}[i], map[string]any{"role": "viewer"}))
	})
	if got["200"] != 1 || got["403 admin_required"]+got["409 last_admin"] != 1 {
		t.Errorf("got %v, want one refused", got)
	}

	row := testkit.Row[item.Row[item.League]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)
	same(t, "the administrators", row.V().Admins, 1)
}

// set changes a row of the table.
func set[T any](m *match, pk, sk string, change func(*T)) {
	m.T.Helper()
	row := testkit.Row[item.Row[T]](m.World.World, tables.App, pk, sk)
	change(row.V())
	testkit.PutRows(m.World.World, tables.App, row)
}

// TestInvitationsUseUpNoLeagues: a user who was invited to many leagues may create as many as
// others, also as an administrator of those.
func TestInvitationsUseUpNoLeagues(t *testing.T) {
	t.Parallel()
	m := club(t)

	for i := range league.MaxLeagues.Max {
		id := fmt.Sprintf("01JZ%022d", i)
		testkit.PutRows(m.World.World, tables.App,
			item.New(item.UserKey("eve"), item.LeagueKey(id), "Grant", item.Grant{LeagueID: id, UserID: "eve", Role: item.Admin}, m.Clock.Now()))
	}

	mine := decode[named](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Mine"}).LeagueID
	founder := func(pk, sk string) bool {
		g := testkit.Row[item.Row[item.Grant]](m.World.World, tables.App, pk, sk)
		return g.V().Founder
	}
	same(t, "eve has created it", founder(item.UserKey("eve"), item.LeagueKey(mine)), true)
	m.Do("eve", "POST", "/v1/leagues/"+mine+"/access", map[string]any{"email": "ann@example.com", "role": "admin"})
	m.Do("ann", "POST", "/v1/leagues/"+mine+"/accept", nil)

	const other = "ann"

	m.Do("eve", "PUT", "/v1/leagues/"+mine+"/access/eve", map[string]any{"role": "viewer"})
	same(t, "eve has created it, with another role", founder(item.UserKey("eve"), item.LeagueKey(mine)), true)
	same(t, "the other has not", founder(item.LeagueKey(mine), item.GrantKey(other)), false)
}

// TestLimits: the last that is allowed succeeds, also of several at once only one, and the
// next is refused.
func TestLimits(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		limit spec.Limit
		code  string
		fill  func(m *match, n int) // leaves n
		ask   func(m *match, i int) string
	}{
		{league.MaxLeagues, "too_many_leagues", func(m *match, n int) {
			for i := range n {
				id := fmt.Sprintf("01JZ%022d", i)
				testkit.PutRows(m.World.World, tables.App,
					item.New(item.UserKey("eve"), item.LeagueKey(id), "Grant",
						item.Grant{LeagueID: id, UserID: "eve", Role: item.Viewer, Founder: true}, m.Clock.Now()))
			}
		}, func(m *match, i int) string {
			return code(m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": fmt.Sprint("League ", i)}))
		}},
		{league.MaxMembers, "too_many_members", func(m *match, n int) {
			for i := range 4 {
				user := fmt.Sprint("user", i)
				m.SignIn(user)
				m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": user + "@example.com", "role": "viewer"})
			}

			set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Members = n })
		}, func(m *match, i int) string {
			return code(m.Ask(fmt.Sprint("user", i), "POST", "/v1/leagues/"+m.l.ID+"/accept", nil))
		}},
		{season.MaxSeasons, "too_many_seasons", func(m *match, n int) {
			set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Seasons = n })
		}, func(m *match, i int) string {
			return code(m.Ask("ann", "POST", "/v1/leagues/"+m.l.ID+"/seasons", map[string]any{"name": fmt.Sprint("Season ", i)}))
		}},
		{season.MaxTeams, "too_many_teams", func(m *match, n int) {
			set(m, item.SeasonKey(m.l.SeasonID), item.Metadata, func(s *item.Season) { s.Teams = n })
		}, func(m *match, i int) string {
			return code(m.Ask("ann", "PUT", fmt.Sprintf("/v1/seasons/%s/teams/t%d", m.l.SeasonID, i),
				map[string]any{"name": "T", "color": "#000000"}))
		}},
		{season.MaxSessions, "too_many_sessions", func(m *match, n int) {
			set(m, item.SeasonKey(m.l.SeasonID), item.Metadata, func(s *item.Season) { s.Sessions = n })
		}, func(m *match, i int) string {
			return code(m.Ask("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions",
				map[string]any{"sessionDate": fmt.Sprintf("2026-07-%02d", i+1)}))
		}},
		{season.MaxOfDay, "too_many_sessions_of_day", func(m *match, n int) {
			for range n {
				m.Do("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-07-01"})
			}

			m.Do("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-07-02"})
		}, func(m *match, i int) string {
			return code(m.Ask("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-07-01"}))
		}},
		{game.MaxGames, "too_many_games", func(m *match, n int) {
			set(m, item.SessionKey(m.l.SessionID), item.Metadata, func(s *item.Session) { s.Games = n })
		}, func(m *match, i int) string {
			return code(m.Ask("sam", "POST", "/v1/sessions/"+m.l.SessionID+"/games",
				map[string]any{"gameStartTs": "2026-06-06T20:00:00Z", "thirdLength": 20}))
		}},
		{player.MaxPlayers, "too_many_players", func(m *match, n int) {
			set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Players = n })
		}, func(m *match, i int) string {
			return code(m.Ask("sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": fmt.Sprint("P", i)}))
		}},
		{game.MaxPlayers, "too_many_players", func(m *match, n int) {
			var rows []item.Row[item.Seat]

			for i := range n - 8 {
				s := item.Seat{TeamID: "red", PlayerID: fmt.Sprintf("01JZ%022d", i)}
				rows = append(rows, item.New(item.GameKey(m.id), item.RosterKey("red", s.PlayerID), "Roster", s, m.Clock.Now()))
			}

			testkit.PutRows(m.World.World, tables.App, rows...)
			m.Do("sam", "DELETE", m.path("roster", m.l.Players[0]), nil)

			for i := range 4 {
				p := item.Player{ID: fmt.Sprintf("01JY%022d", i), LeagueID: m.l.ID, Nickname: "P"}
				testkit.PutRows(m.World.World, tables.App, item.New(item.PlayerKey(p.ID), item.Profile, "Player", p, m.Clock.Now()))
			}
		}, func(m *match, i int) string {
			return code(m.Ask("sam", "PUT", m.path("roster", fmt.Sprintf("01JY%022d", i)), map[string]any{"teamId": "blue"}))
		}},
	} {
		t.Run(c.limit.Name, func(t *testing.T) {
			t.Parallel()
			m := club(t)
			c.fill(m, c.limit.Max-1)

			got := atOnce(3, func(i int) string { return strings.TrimPrefix(c.ask(m, i), "200") })
			if got["201"]+got[""] != 1 || got["409 "+c.code] != 2 {
				t.Errorf("with room for one, three at once got %v, want one success and two %s", got, c.code)
			}

			same(t, "one more", c.ask(m, 3), "409 "+c.code)
		})
	}
}

// TestClaimsAreLimited: a user has at most 20 claimed players, also by claims and by joins at once,
// and with claims from before they were counted one after the other. A claim that ends makes room for another.
func TestClaimsAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)

	for i := range player.MaxClaims.Max - 1 {
		id := fmt.Sprintf("01JZ%022d", i)
		testkit.PutRows(m.World.World, tables.App,
			item.New(item.UserKey("eve"), item.PlayerKey(id), "Claim", item.Claim{PlayerID: id, LeagueID: "01JZ"}, m.Clock.Now()))
	}

	codes := []string{m.code()}
	for _, name := range []string{"Riverside", "Hillside"} {
		codes = append(codes, decode[struct{ Code string }](m, "ann", "POST",
			"/v1/games/"+m.Schedule("ann", m.FoundAs("ann", name))+"/join-code", nil).Code)
	}

	byCode := map[string]any{"code": codes[0]}
	claim := func(i int) string { return code(m.Ask("eve", "POST", "/v1/players/"+m.l.Players[i]+"/claim", byCode)) }
	join := func(i int) string {
		return code(m.Ask("eve", "POST", "/v1/join/"+codes[i], map[string]any{"nickname": "Evie"}))
	}
	mine := func() (all []string) {
		for _, r := range everything(m.World) {
			if r["pk"] == item.UserKey("eve") && r["entityType"] == "Claim" {
				all = append(all, strings.TrimPrefix(r["sk"].(string), item.Players))
			}
		}

		return all
	}

	got := atOnce(4, func(i int) string {
		if i < 2 {
			return claim(i)
		}

		return join(i - 1)
	})
	if got["200"]+got["201"] != 1 || got["409 too_many_claims"] != 3 {
		t.Errorf("two claims and two joins at once, with room for one: %v, want one success and three too_many_claims", got)
	}

	same(t, "the claims", len(mine()), player.MaxClaims.Max)

	for _, id := range mine() {
		if !strings.HasPrefix(id, "01JZ") { // of those that exist: one
			m.Do("eve", "DELETE", "/v1/players/"+id+"/claim", nil)
		}
	}

	same(t, "with room again", []string{claim(0), claim(0), join(0), claim(1)}, []string{"200", "200", "201", "409 too_many_claims"})
	refused(t, "one more by a join", m.Ask("eve", "POST", "/v1/join/"+codes[1], map[string]any{"nickname": "Evie"}), 409, "too_many_claims")
	same(t, "the claims", len(mine()), player.MaxClaims.Max)
	m.Do("eve", "DELETE", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	same(t, "a join with room again", join(1), "201")
}

// TestInvitation: the owner of the address gets a mail, and becomes a member once the invitation is
// accepted. Until then nobody sees whether the address has an account.
func TestInvitation(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	path, accept := "/v1/leagues/"+m.l.ID+"/access", "/v1/leagues/"+m.l.ID+"/accept"
	invite := func(email, role string) string {
		return code(m.Ask("ann", "POST", path, map[string]any{"email": email, "role": role}))
	}
	id := follow(m.World, "otto", ask(m.World, "otto@example.com"))
	refused(t, "without an invitation", m.Ask("otto", "POST", accept, nil), 404, "invitation_not_found")

	for _, email := range []string{"Otto@example.com", "nobody@example.com"} { // with an account, and without
		body := m.Do("ann", "POST", path, map[string]any{"email": email, "role": "scorekeeper"}).Body
		if strings.Contains(body, "userId") || !strings.Contains(body, `"invitationId"`) || strings.Contains(body, id) {
			t.Errorf("the answer for %s is %s", email, body)
		}
	}

	if body := m.Do("ann", "GET", path, nil).Body; strings.Contains(body, id) || strings.Count(body, "invitationId") != 2 {
		t.Errorf("the members are %s", body)
	}

	mails := m.Mail.Mailbox("otto@example.com")[1:] // after the sign-in
	if mails = append(mails, m.Mail.Mailbox("Otto@example.com")...); len(mails) == 0 {
		t.Fatal("there is no mail")
	}

	same(t, "the mail", []string{mails[0].From, mails[0].Subject, mails[0].Text}, []string{"3fc@example.com", "You are invited to a league on 3FC",
		"You are invited to be scorekeeper of the league “Parkside” on 3FC.\n\nSign in with this address within 14 days, and accept: " +
			threefctest.API + "/invitations/" + m.l.ID + "\n\nIf you do not know the league, ignore this mail.\n"})

	refused(t, "the league before", m.Ask("otto", "GET", "/v1/leagues/"+m.l.ID, nil), 403, "league_access_required")
	refused(t, "another user", m.Ask("eve", "POST", accept, nil), 404, "invitation_not_found")

	for range 2 {
		same(t, "the role", decode[struct{ UserID, Role string }](m, "otto", "POST", accept, nil), struct{ UserID, Role string }{id, "scorekeeper"})
	}

	m.Do("otto", "GET", "/v1/leagues/"+m.l.ID, nil)
	same(t, "the members have the user", strings.Contains(m.members(), id+" scorekeeper"), true)
	same(t, "another role", invite("otto@example.com", "admin"), "200")
	m.Do("otto", "POST", accept, nil)
	same(t, "the same again", invite("otto@example.com", "admin"), "200")
	m.Do("otto", "POST", accept, nil)
	same(t, "invitations that are left", strings.Count(m.Do("ann", "GET", path, nil).Body, "invitationId"), 1)

	refused(t, "an address as the name of a league", m.Ask("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"name": "Win at example.com"}),
		422, "invalid")
	set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Name = "Win at example.com" }) // by an earlier release
	same(t, "an invitation to it", invite("lola@example.com", "viewer"), "200")

	if text := m.Mail.Mailbox("lola@example.com")[0].Text; !strings.HasPrefix(text, "You are invited to be viewer of a league on 3FC.") {
		t.Errorf("the mail contains the address: %s", text)
	}

	set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Members = league.MaxMembers.Max - 2 }) // two are invited
	refused(t, "too many", m.Ask("ann", "POST", path, map[string]any{"email": "una@example.com", "role": "viewer"}), 409, "too_many_members")
	same(t, "one who is invited", invite("lola@example.com", "scorekeeper"), "200")
	same(t, "the mails to una", len(m.Mail.Mailbox("una@example.com")), 0)
}

// TestInvitationEnds: when it is withdrawn, after 14 days, and when who has sent it is no administrator.
// A league that is full, or would be without an administrator, refuses.
func TestInvitationEnds(t *testing.T) {
	t.Parallel()

	for what, c := range map[string]struct {
		before func(m *match, invitation string)
		want   string
	}{
		"withdrawn": {func(m *match, id string) {
			refused(t, "by a viewer", m.Ask("vic", "DELETE", "/v1/leagues/"+m.l.ID+"/access/"+id, nil), 403, "admin_required")

			for range 2 {
				m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID+"/access/"+id, nil)
			}
		}, "404 invitation_not_found"},
		"too late": {func(m *match, _ string) {
			m.pass(14 * 24 * time.Hour)
			m.SignIn("eve")
		}, "404 invitation_not_found"},
		"of who may not": {func(m *match, _ string) {
			m.Do("ann", "PUT", "/v1/leagues/"+m.l.ID+"/access/sam", map[string]any{"role": "admin"})
			m.Do("sam", "DELETE", "/v1/leagues/"+m.l.ID+"/access/ann", nil)
		}, "404 invitation_not_found"},
		"full": {func(m *match, _ string) {
			set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Members = league.MaxMembers.Max })
		}, "409 too_many_members"},
		"in time": {func(m *match, _ string) {
			m.pass(14*24*time.Hour - time.Second)
			m.SignIn("eve")
		}, "200"},
	} {
		m := club(t)
		id := decode[struct{ InvitationID string }](m, "ann", "POST", "/v1/leagues/"+m.l.ID+"/access",
			map[string]any{"email": "eve@example.com", "role": "viewer"}).InvitationID
		c.before(m, id)
		same(t, what, code(m.Ask("eve", "POST", "/v1/leagues/"+m.l.ID+"/accept", nil)), c.want)
	}
}

// TestRemovalEndsRights: a member whom an administrator removes loses the players that the user has claimed
// in the league, and the invitation that the address has. A member who leaves keeps the claims.
func TestRemovalEndsRights(t *testing.T) {
	t.Parallel()

	for what, c := range map[string]struct {
		by                     string
		answer, rename, coming string
		again, accept          string
	}{
		"removed": {"ann", "409 player_needed", "403 league_access_required", "403 league_access_required",
			"403 league_access_required", "404 invitation_not_found"},
		"left": {"vic", "200", "200", "200", "200", "200"},
	} {
		m := club(t)
		access := "/v1/leagues/" + m.l.ID + "/access"
		invite := map[string]any{"email": "vic@example.com", "role": "admin"}
		ask := func(method, path string, body any) string { return code(m.Ask("vic", method, path, body)) }

		var players []string

		for _, id := range m.l.Players[:2] {
			m.Do("vic", "POST", "/v1/players/"+id+"/claim", nil)
			players = append(players, "/v1/players/"+id)
		}

		other := decode[named](m, "vic", "POST", "/v1/leagues", map[string]any{"name": "Other"})
		own := decode[player.Player](m, "vic", "POST", "/v1/players", map[string]any{"leagueId": other.LeagueID, "nickname": "Vic"})
		m.Do("vic", "POST", "/v1/players/"+own.PlayerID+"/claim", nil)

		m.Do("ann", "POST", access, invite)
		m.Do("vic", "POST", "/v1/leagues/"+m.l.ID+"/accept", nil)
		m.Do("ann", "POST", access, invite)
		m.Do(c.by, "DELETE", access+"/vic", nil)
		m.mirrored(what)

		session := "/v1/sessions/" + m.l.SessionID + "/availability"
		same(t, what+": the answer to a session", ask("PUT", session, map[string]any{"status": "in"}), c.answer)
		same(t, what+": who plays", ask("GET", session, nil), c.coming)

		for i, path := range players {
			same(t, what+": a rename", ask("PATCH", path, map[string]any{"nickname": fmt.Sprint("Vic ", i)}), c.rename)
			same(t, what+": the claim by a code", ask("POST", path+"/claim", m.coded()), c.again)
		}

		same(t, what+": the player of another league", ask("PATCH", "/v1/players/"+own.PlayerID, map[string]any{"nickname": "V"}), "200")
		same(t, what+": the invitation", ask("POST", "/v1/leagues/"+m.l.ID+"/accept", nil), c.accept)
	}
}

// TestChangesNeedTheLatestRevision: with an old If-Match nothing is changed; a request that
// changes nothing keeps the revision.
func TestChangesNeedTheLatestRevision(t *testing.T) {
	t.Parallel()

	m := club(t)
	for _, c := range []struct {
		path         string
		first, other map[string]any
	}{
		{"/v1/leagues/" + m.l.ID, map[string]any{"name": "One"}, map[string]any{"name": "Two"}},
		{"/v1/seasons/" + m.l.SeasonID, map[string]any{"name": "One"}, map[string]any{"name": "Two"}},
		{"/v1/players/" + m.l.Players[0], map[string]any{"nickname": "One"}, map[string]any{"nickname": "Two"}},
		{"/v1/games/" + m.id, map[string]any{"location": "One"}, map[string]any{"location": "Two"}},
	} {
		read := m.Do("ann", "GET", c.path, nil)
		first := m.Do("ann", "PATCH", c.path, c.first, threefctest.Match(read))
		refused(t, c.path, m.Ask("ann", "PATCH", c.path, c.other, threefctest.Match(read)), 409, "stale")
		again := m.Do("ann", "PATCH", c.path, c.first)
		same(t, c.path+" without a change", threefctest.Match(again), threefctest.Match(first))

		if c.path != "/v1/players/"+m.l.Players[0] {
			refused(t, "delete "+c.path, m.Ask("ann", "DELETE", c.path, nil, threefctest.Match(read)), 409, "stale")
		}

		refused(t, c.path+" with a broken revision",
			m.Ask("ann", "PATCH", c.path, c.other, threefctest.Header{Name: "if-match", Value: "7"}), 422, "invalid")
	}
}

func TestSeasons(t *testing.T) {
	t.Parallel()
	m := club(t)

	path := "/v1/leagues/" + m.l.ID + "/seasons"
	for _, c := range []struct {
		name, body, want, field string
	}{
		{"no name", `{}`, "422", "body"},
		{"an unknown zone", `{"name":"A1","timeZone":"Mars/Olympus"}`, "422 unknown_time_zone", "body.timeZone"},
		{"the zone of the machine", `{"name":"A2","timeZone":"Local"}`, "422 unknown_time_zone", "body.timeZone"},
		{"an end before the start", `{"name":"A3","startsOn":"2026-03-02","endsOn":"2026-03-01"}`,
			"422 season_ends_before_it_starts", "body.endsOn"},
		{"no date", `{"name":"A4","startsOn":"2026-02-30"}`, "422", "body.startsOn"},
		{"a slug with capitals", `{"name":"A5","slug":"Spring"}`, "422", "body.slug"},
		{"a field that is not there", `{"name":"A6","leagueId":"x"}`, "422", "body.leagueId"},
		{"a day", `{"name":"A7","startsOn":"2026-03-01","endsOn":"2026-03-01","timeZone":"Europe/London"}`, "201", ""},
		{"a leap day", `{"name":"A8","startsOn":"2028-02-29"}`, "201", ""},
		{"a name of signs", `{"name":"!!!"}`, "201", ""},
		{"a name that is not Latin", `{"name":"第一赛季"}`, "409 slug_taken", "body.name"},
	} {
		out := m.Ask("ann", "POST", path, c.body)
		if !strings.HasPrefix(code(out), c.want) {
			t.Errorf("%s: %s, want %s: %s", c.name, code(out), c.want, out.Body)
		}

		if c.field != "" {
			if err := testkit.CheckProblemField(out, out.StatusCode, c.field); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}

	refused(t, "a season with sessions", m.Ask("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID, nil), 409, "season_not_empty")
	refused(t, "a session with games", m.Ask("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil), 409, "session_not_empty")
	refused(t, "a league with seasons", m.Ask("ann", "DELETE", "/v1/leagues/"+m.l.ID, nil), 409, "league_not_empty")
}

// TestCopyOfASeason has its teams and its time zone, and nothing else.
func TestCopyOfASeason(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": "Europe/London"})
	m.Do("ann", "PUT", "/v1/seasons/"+m.l.SeasonID+"/teams/red", map[string]any{"name": "Reds"})

	type copied struct {
		SeasonID, TimeZone      string
		TeamCount, SessionCount int
	}

	c := decode[copied](m, "ann", "POST", "/v1/seasons/"+m.l.SeasonID+"/copy", map[string]any{"name": "Autumn"})
	same(t, "the copy", c, copied{c.SeasonID, "Europe/London", 3, 0})
	same(t, "its teams", m.Do("ann", "GET", "/v1/seasons/"+c.SeasonID+"/teams", nil).Body,
		m.Do("ann", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Body)
}

// TestTeams: three have a name and a color, others need them; a game keeps the teams as they
// were when it was made.
func TestTeams(t *testing.T) {
	t.Parallel()
	m := club(t)
	teams := "/v1/seasons/" + m.l.SeasonID + "/teams/"
	refused(t, "a team without a name", m.Ask("ann", "PUT", teams+"green", map[string]any{}), 422, "team_needs_a_name")
	m.Do("ann", "PUT", teams+"red", map[string]any{"name": "Reds"})
	same(t, "the team of the game", m.read().Teams[1], item.Team{TeamID: "red", Name: "Red", Color: "#c8102e"})
	games := "/v1/sessions/" + m.l.SessionID + "/games"
	create := func(ids ...string) string {
		m.pass(time.Second) // ids of one millisecond are in no order beside other tests

		body := map[string]any{"gameStartTs": "2026-06-06T20:00:00Z", "thirdLength": 20}
		if ids != nil {
			body["teamIds"] = ids
		}

		return code(m.Ask("ann", "POST", games, body))
	}

	m.Do("ann", "PUT", teams+"green", map[string]any{"name": "Green", "color": "#00ff00"})

	for _, c := range []struct {
		ids  []string
		want string
	}{
		{nil, "201"},
		{[]string{"green", "red", "blue"}, "201"},
		{[]string{"green", "red", "red"}, "422 three_teams_needed"},
		{[]string{"green", "red", "pink"}, "422 three_teams_needed"},
		{[]string{"green", "red"}, "422 invalid"},
	} {
		same(t, fmt.Sprint("a game of ", c.ids), create(c.ids...), c.want)
	}

	list := decode[struct{ Games []game.Game }](m, "ann", "GET", games, nil).Games
	without := list[1].GameID
	same(t, "the teams of a game that names none, in a season of four",
		decode[struct{ Teams []item.Team }](m, "ann", "GET", "/v1/games/"+without, nil).Teams, []item.Team{})
	refused(t, "a start without teams", m.Ask("ann", "POST", "/v1/games/"+without+"/thirds/1/start", map[string]any{}),
		422, "three_teams_needed")
	m.Do("ann", "PATCH", "/v1/games/"+without, map[string]any{"teamIds": []string{"green", "red", "blue"}})
	m.Do("ann", "POST", "/v1/games/"+without+"/thirds/1/start", map[string]any{})
	refused(t, "other teams of a game that has begun",
		m.Ask("ann", "PATCH", "/v1/games/"+without, map[string]any{"teamIds": []string{"yellow", "red", "blue"}}), 409, "game_started")
	m.Do("ann", "PATCH", m.path(), map[string]any{"teamIds": []string{"green", "red", "blue"}})

	if body := m.Do("ann", "GET", m.path("roster"), nil).Body; strings.Contains(body, "yellow") || !strings.Contains(body, "blue") {
		t.Errorf("the roster after the change of teams is %s", body)
	}

	m.Do("ann", "DELETE", teams+"green", nil)
	m.Do("ann", "DELETE", teams+"green", nil)

	if n := strings.Count(m.Do("ann", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Body, "teamId"); n != 3 {
		t.Errorf("there are %d teams, want 3", n)
	}

	m.consistent()
}

// TestGameMoves: with its places in both lists; no request sets its status.
func TestGameMoves(t *testing.T) {
	t.Parallel()

	m := club(t)
	for body, want := range map[string]string{
		`{"status":"finished"}`:      "422 invalid",
		`{"result":{}}`:              "422 invalid",
		`{"scores":[]}`:              "422 invalid",
		`{"thirdLength":21}`:         "422 invalid",
		`{"gameStartTs":"tomorrow"}`: "422 invalid",
		`{}`:                         "200",
	} {
		same(t, body, code(m.Ask("ann", "PATCH", m.path(), body)), want)
	}

	m.Do("sam", "PATCH", m.path(), map[string]any{"gameStartTs": "2026-06-06T20:30:00+02:00", "thirdLength": 30, "location": "Pitch 2"})

	var places []string

	for _, r := range everything(m.World) {
		if r["entityType"] == "SessionGame" {
			places = append(places, fmt.Sprint(r["pk"], " ", r["sk"]))
		}
	}

	for _, pk := range []string{item.SeasonKey(m.l.SeasonID), item.SessionKey(m.l.SessionID)} {
		if want := pk + " GAME#2026-06-06T18:30:00Z#" + m.id; len(places) != 2 || places[0] != want && places[1] != want {
			t.Errorf("the places of the game are %v, want %s", places, want)
		}
	}

	m.consistent()
	m.step("thirds/1/start")
	m.Play("ann", m.id)
	refused(t, "a finished game", m.Ask("ann", "PATCH", m.path(), map[string]any{"location": "Pitch 3"}), 409, "game_finished")
	m.consistent()
}

// TestInvitationCreatesNoAccount: the owner of an address that was invited can sign up with it, and a
// sign-up that is not confirmed stays.
func TestInvitationCreatesNoAccount(t *testing.T) {
	t.Parallel()
	m := club(t)
	pool := m.Accounts()
	begun, err := pool.SignUp("lena@example.com", "Lena")
	testkit.Must(t, err)

	for _, email := range []string{"Lena@example.com", "otto@example.com"} {
		m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": email, "role": "viewer"})
	}

	if _, err := pool.SignIn(t.Context(), begun, "Lena", nil); err != nil {
		t.Errorf("she cannot confirm the sign-up any more: %v", err)
	}

	if _, err := pool.SignUp("otto@example.com", "Otto"); err != nil {
		t.Errorf("he cannot sign up: %v", err)
	}
}

// TestSlugOfASeasonIsTaken: the refusal names what the user has sent.
func TestSlugOfASeasonIsTaken(t *testing.T) {
	t.Parallel()

	m := club(t)
	for _, path := range []string{"/v1/leagues/" + m.l.ID + "/seasons", "/v1/seasons/" + m.l.SeasonID + "/copy"} {
		for field, body := range map[string]map[string]any{
			"body.name": {"name": "Spring 2026"}, "body.slug": {"name": "Another", "slug": "spring-2026"},
		} {
			out := m.Ask("ann", "POST", path, body)
			refused(t, path, out, 409, "slug_taken")

			if err := testkit.CheckProblemField(out, 409, field); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}

		m.Do("ann", "POST", path, map[string]any{"name": "Spring 2026", "slug": "spring-2026-" + path[4:5]})
	}
}

// TestInvitationsAreLimited: an address gets three mails a day by one user and 20 in all, and a user
// sends 50. A request that is sent again with its key sends none. Nobody keeps others from inviting an
// address.
func TestInvitationsAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	other := decode[named](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Cheap watches"}).LeagueID

	invite := func(user, league, email string, key ...threefctest.Header) events.APIGatewayV2HTTPResponse {
		return m.Ask(user, "POST", "/v1/leagues/"+league+"/access", map[string]any{"email": email, "role": "viewer"}, key...)
	}
	for range 5 {
		same(t, "the same request", code(invite("ann", m.l.ID, "lena@example.com", threefctest.Key("K"))), "200")
	}

	for _, email := range []string{"Lena@example.com", "lena@example.com", "LENA@example.com"} {
		same(t, "by another user", code(invite("eve", other, email)), "200")
	}

	m.pass(time.Hour)
	out := invite("eve", other, "lena@example.com")
	refused(t, "another", out, 429, "too_many_invitations")
	same(t, "of the first user", code(invite("ann", m.l.ID, "lena@example.com")), "200")

	if got := testkit.Header(out).Get("Retry-After"); got != fmt.Sprint((23 * time.Hour).Seconds()) {
		t.Errorf("Retry-After is %s", got)
	}

	if n := len(m.Mail.Mailbox("lena@example.com")); n != 5 {
		t.Errorf("she has %d mails, want 5", n)
	}

	sum := sha256.Sum256([]byte("lena@example.com"))
	set(m, item.InviteKey(hex.EncodeToString(sum[:])), item.Metadata, func(w *limit.Window) { w.Count = league.MaxAddressInvitations.Max })
	refused(t, "one too many to her", invite("ann", m.l.ID, "lena@example.com"), 429, "too_many_invitations_of_address")

	for i := range 47 {
		same(t, "an invitation of eve", code(invite("eve", other, fmt.Sprintf("user%d@example.com", i))), "200")
	}

	refused(t, "one too many", invite("eve", other, "otto@example.com"), 429, "too_many_mails")
	same(t, "of another user", code(invite("ann", m.l.ID, "otto@example.com")), "200")
	m.pass(24 * time.Hour)
	m.SignIn("ann", "eve")
	same(t, "a day later", []string{code(invite("eve", other, "una@example.com")), code(invite("ann", m.l.ID, "lena@example.com"))},
		[]string{"200", "200"})
}
