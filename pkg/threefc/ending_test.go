package threefc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/takedown"
)

// end deletes the league with its seasons.
func (m *match) end() {
	m.T.Helper()
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/end", nil)
}

// dropLeagues runs the job.
func (m *match) dropLeagues() {
	m.T.Helper()
	testkit.Must(m.T, testkit.Open(m.World.World, league.DropLeaguesFunction(), league.OpenDropper).DropLeagues(m.NewContext()))
}

// kept are the rows of the table, but for the league, whose revision is another once it is restored, and for answers.
func (m *match) kept() []string {
	m.T.Helper()

	return slices.DeleteFunc(m.outcome().Rows, func(r string) bool {
		return strings.Contains(r, `"entityType":"League"`) || strings.Contains(r, `"entityType":"Answer"`)
	})
}

// inLeague reports whether a path is of something of the league.
func (m *match) inLeague(path string) bool {
	return slices.ContainsFunc(append([]string{m.l.ID, m.l.SeasonID, m.l.SessionID, m.id, "/l/parkside"}, m.l.Players...),
		func(id string) bool { return strings.Contains(path, id) })
}

// TestLeagueVanishes: for its members as for strangers, until it is restored.
func TestLeagueVanishes(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[8]+"/claim", nil)
	m.played()
	m.lose()

	before := m.kept()
	m.end()

	// What is no page of the league, and what who has claimed a player may do with it in any case.
	except := []string{"show-score-page", "enter-scoring-pin", "claim-player", "drop-claim", "update-player", "leave-pool", "restore-league",
		"show-invitation-page", "submit-invitation"}
	left := methods()

	for _, r := range m.routes() {
		if !m.inLeague(r.path) || slices.Contains(except, r.fn) {
			continue
		}

		for _, user := range []string{"", "eve", "vic", "sam", "ann"} {
			out := m.Ask(user, left[r.fn], r.path, r.body, r.headers...)

			asks := user == "" && out.StatusCode == 200 && strings.Contains(out.Body, "Sign in first") // whatever the page is about

			switch got := code(out); {
			case !asks && out.StatusCode != 401 && out.StatusCode != 403 && out.StatusCode != 404 && out.StatusCode != 303:
				t.Errorf("%s as %q: %s", r.fn, user, got)
			case strings.Contains(out.Body, "Parkside") || strings.Contains(out.Body, "Ada"):
				t.Errorf("%s as %q: %s", r.fn, user, out.Body)
			}
		}
	}

	same(t, "the leagues of a member", m.Do("ann", "GET", "/v1/leagues", nil).Body, `{"leagues":[]}`+"\n")

	restore := "/v1/leagues/" + m.l.ID + "/restore"
	refused(t, "a stranger", m.Ask("eve", "POST", restore, nil), 404, "acl_scope_not_found")
	refused(t, "a scorekeeper", m.Ask("sam", "POST", restore, nil), 403, "admin_required")
	m.pass(23 * time.Hour)
	m.SignIn("ann", "sam", "vic")
	m.dropLeagues()

	for range 2 {
		same(t, "who restores it", decode[league.League](m, "ann", "POST", restore, nil).Role, item.Admin)
	}

	same(t, "the members", m.members(), "ann admin, sam scorekeeper, sue scorekeeper, vic viewer")
	m.consistent()

	same(t, "the rows", m.kept(), before)
}

// deleted leaves a league whose deletion is run by a process that may die, and returns what was kept before it.
func deleted(t *testing.T, p *dynamotest.Process) (m *match, before []string) {
	t.Helper()

	m = club(t)
	m.played()
	m.lose()

	before = m.kept()
	env := m.CrashingEnv(league.EndLeagueFunction(), p)
	_, err := open(m, env, league.Open).EndLeague(m.NewContext(), &league.EndLeague{User: ann, LeagueID: m.l.ID})
	p.Ended(err)

	return m, before
}

// TestDeletionThatDiedIsTakenBack: who deletes a league and does not repeat the request can restore it, wherever the
// deletion has died, and cannot delete for good what is left by the request for a league without seasons.
func TestDeletionThatDiedIsTakenBack(t *testing.T) {
	t.Parallel()
	dynamotest.CheckDeaths(t, func(t *testing.T, p *dynamotest.Process) []string {
		m, before := deleted(t, p)

		if out := m.Ask("ann", "DELETE", "/v1/leagues/"+m.l.ID, nil); out.StatusCode < 400 {
			t.Errorf("the request for a league without seasons: %d", out.StatusCode)
		}

		m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/restore", nil)
		same(t, "the rows", m.kept(), before)

		return m.kept()
	})
}

// TestDeletionThatDiedIsDropped: of a league whose deletion has died and is not repeated nothing is left after its day.
func TestDeletionThatDiedIsDropped(t *testing.T) {
	t.Parallel()
	dynamotest.CheckDeaths(t, func(t *testing.T, p *dynamotest.Process) []string {
		m, before := deleted(t, p)
		m.pass(25 * time.Hour)
		m.dropLeagues()

		if slices.Equal(m.kept(), before) { // it was not deleted
			return nil
		}

		return m.left(m.l.ID)
	})
}

// TestDeletionAndRestorationAtOnce: each league has the roles of all members afterwards. A deletion during which the
// league is restored is refused, and a restoration during which it is deleted begins again.
func TestDeletionAndRestorationAtOnce(t *testing.T) {
	t.Parallel()

	begin := func(t *testing.T) (m *match, end, restore func(step string, then func()) error) {
		m = club(t)
		run := func(fn app.Function, do func(s *league.Service) error) func(step string, then func()) error {
			return func(step string, then func()) error {
				return do(open(m, after(m.Env(fn), step, then), league.Open))
			}
		}

		end = run(league.EndLeagueFunction(), func(s *league.Service) error {
			_, err := s.EndLeague(m.NewContext(), &league.EndLeague{User: ann, LeagueID: m.l.ID})
			return err
		})
		restore = run(league.RestoreLeagueFunction(), func(s *league.Service) error {
			_, err := s.RestoreLeague(m.NewContext(), &league.RestoreLeague{User: ann, LeagueID: m.l.ID})
			return err
		})

		return m, end, restore
	}
	members := "ann admin, sam scorekeeper, sue scorekeeper, vic viewer"

	t.Run("two restorations", func(t *testing.T) {
		t.Parallel()
		m, end, restore := begin(t)
		testkit.Must(t, end("", nil))

		fn := league.RestoreLeagueFunction()
		for range 2 { // the second finds what the first has begun
			p := dynamotest.CrashAt(4, false) // the roles are not written
			_, err := open(m, m.CrashingEnv(fn, p), league.Open).RestoreLeague(m.NewContext(), &league.RestoreLeague{User: ann, LeagueID: m.l.ID})
			isError(t, "the restoration", err, dynamotest.ErrCrashed)
			same(t, "the revision", testkit.Row[item.Row[item.EndingLeague]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Ending).Rev, 2)
		}

		testkit.Must(t, restore("", nil))
		same(t, "the members", m.members(), members)
	})

	for _, step := range []string{"TransactWriteItems", "Query"} {
		t.Run("a restoration after "+step, func(t *testing.T) {
			t.Parallel()
			m, end, restore := begin(t)
			err := end(step, func() { testkit.Must(t, restore("", nil)) })
			isError(t, "the deletion", err, httpapi.ErrStale)
			same(t, "the members", m.members(), members)
		})
	}

	for _, step := range []string{"TransactWriteItems", "Query"} {
		t.Run("a deletion after "+step, func(t *testing.T) {
			t.Parallel()
			m, end, restore := begin(t)
			p := dynamotest.CrashAt(4, false) // the roles are not written
			fn := league.EndLeagueFunction()
			_, err := open(m, m.CrashingEnv(fn, p), league.Open).EndLeague(m.NewContext(), &league.EndLeague{User: ann, LeagueID: m.l.ID})
			isError(t, "the deletion", err, dynamotest.ErrCrashed)

			testkit.Must(t, restore(step, func() { testkit.Must(t, end("", nil)) }))
			same(t, "the members", m.members(), members)
		})
	}
}

// TestLeagueIsDropped: a day after it was deleted nothing of it is left, and its slug is free.
func TestLeagueIsDropped(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.lose()
	m.end()
	m.pass(25 * time.Hour)
	m.SignIn("ann", "eve", "vic")
	refused(t, "too late", m.Ask("ann", "POST", "/v1/leagues/"+m.l.ID+"/restore", nil), 404, "acl_scope_not_found")

	for range 2 {
		m.dropLeagues()
		same(t, "of the league", m.left(m.l.ID), []string(nil))
		same(t, "of the season", m.left(m.l.SeasonID), []string(nil))
		same(t, "of the game", m.left(m.id), []string(nil))
		same(t, "of a player", m.left(m.l.Players[0]), []string(nil))
	}

	m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Parkside", "slug": "parkside"})
}

// TestLeagueIsRestoredWhileItIsDropped: a league that is restored at the last second stays, though the job has listed it
// before, also if it is deleted once more at once.
func TestLeagueIsRestoredWhileItIsDropped(t *testing.T) {
	t.Parallel()

	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("deleted once more %v", again), func(t *testing.T) {
			t.Parallel()
			m := club(t)
			m.played()
			m.lose()

			before := m.kept()
			m.end()

			until := m.Clock.Now().Truncate(time.Second).Add(league.Undo)
			m.MoveClock(until.Add(time.Second))
			m.SignIn("ann")

			job := after(m.Env(league.DropLeaguesFunction()), "Query", func() {
				env := m.Env(league.RestoreLeagueFunction())
				env.Now = func() time.Time { return until.Add(-time.Second) } // it has begun before the job
				_, err := open(m, env, league.Open).RestoreLeague(m.NewContext(), &league.RestoreLeague{User: ann, LeagueID: m.l.ID})
				testkit.Must(t, err)

				if again {
					m.end()
				}
			})
			testkit.Must(t, open(m, job, league.OpenDropper).DropLeagues(m.NewContext()))

			if again {
				m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/restore", nil)
			}

			same(t, "the rows", m.kept(), before)
		})
	}
}

// TestLeagueWithSeasonsIsKept: unless the request says so.
func TestLeagueWithSeasonsIsKept(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/leagues/" + m.l.ID
	refused(t, "by the request for one without seasons", m.Ask("ann", "DELETE", path, nil), 409, "league_not_empty")
	refused(t, "by a scorekeeper", m.Ask("sam", "POST", path+"/end", nil), 403, "admin_required")
	m.end()
	refused(t, "once more", m.Ask("ann", "POST", path+"/end", nil), 403, "league_access_required")
}

// TestMembersLeaveALeagueThatEnds: who deletes the account is no member afterwards, and the league can still be
// restored.
func TestMembersLeaveALeagueThatEnds(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.end()
	m.forget("sam")
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/restore", nil)
	same(t, "the members", m.members(), "ann admin, sue scorekeeper, vic viewer")
}

// TestGuestOfALeagueThatEnds: a phone that scores by a PIN cannot any more.
func TestGuestOfALeagueThatEnds(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.step("thirds/1/start")

	guest := item.Guest{SessionID: m.l.SessionID, PIN: "P", ID: "G"}
	pin := item.New(item.SessionKey(m.l.SessionID), item.PINKey, "PIN", item.PIN{ID: "P", Code: "7Q2MZ0KD"}, m.Clock.Now())
	testkit.PutRows(m.World.World, tables.App, pin)

	check := func() error {
		_, err := item.CheckIn(m.NewContext(), m.DB(), m.l.ID, m.l.SessionID, guest.UserID(), item.Scorer)
		return err
	}
	testkit.Must(t, check())
	m.end()

	if err := check(); err != item.ErrScope {
		t.Errorf("got %v, want %v", err, item.ErrScope)
	}
}

// TestOperatorsActOnALeagueThatEnds: what an operator hides or renames is so after a restoration, too.
func TestOperatorsActOnALeagueThatEnds(t *testing.T) {
	t.Parallel()
	m := club(t)
	id := "/v1/leagues/" + m.l.ID

	m.end()

	for range 2 {
		same(t, "hiding", m.operate("parkside", map[string]any{"action": "hide"}), "200")
	}

	same(t, "the page while it may be restored", m.Ask("", "GET", "/l/parkside", nil).StatusCode, 404)
	m.Do("ann", "POST", id+"/restore", nil)
	same(t, "the page of what was hidden", m.Ask("", "GET", "/l/parkside", nil).StatusCode, 404)
	same(t, "showing", m.operate("parkside", map[string]any{"action": "show"}), "200")
	same(t, "the page of what is shown", m.Ask("", "GET", "/l/parkside", nil).StatusCode, 200)

	m.end()
	same(t, "renaming", m.operate("parkside", map[string]any{"action": "rename"}), "200")
	m.mirrored("a league that ends")
	same(t, "of no league", m.operate("parkside", map[string]any{"action": "hide"}), "404 not_found")
	m.Do("ann", "POST", id+"/restore", nil)

	after := decode[league.League](m, "ann", "GET", id, nil)
	same(t, "the name", after.Name, takedown.LeagueName)
	same(t, "the page by the old slug", m.Ask("", "GET", "/l/parkside", nil).StatusCode, 404)
	same(t, "the page by the new slug", m.Ask("", "GET", "/l/"+after.Slug, nil).StatusCode, 200)

	m.end()
	_, err := m.takeDown(takedown.TakeDown{League: m.l.ID})
	testkit.Must(t, err)
	m.pass(25 * time.Hour)
	m.dropLeagues()
	same(t, "what is left", m.kinds(), []string(nil))
	same(t, "of what is gone", m.operate(m.l.ID, map[string]any{"action": "hide"}), "404 not_found")
}

// TestSlugsAfterTheTakedown: both slugs of a league that was renamed and deleted are free once it is taken down.
func TestSlugsAfterTheTakedown(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "northside"})
	m.end()

	_, err := m.takeDown(takedown.TakeDown{League: m.l.ID, Delete: true})
	testkit.Must(t, err)

	for _, slug := range []string{"northside", "parkside"} {
		m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Other", "slug": slug})
	}
}

// TestSlugsAfterTheDrop: both slugs of a league that was renamed are kept for a day, and free once it is dropped.
func TestSlugsAfterTheDrop(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"slug": "northside"})
	m.end()

	take := func() (all []string) {
		for _, slug := range []string{"northside", "parkside"} {
			all = append(all, code(m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": "Other", "slug": slug})))
		}

		return all
	}
	same(t, "while it may be restored", take(), []string{"409 slug_taken", "409 slug_taken"})
	m.pass(25 * time.Hour)
	m.SignIn("eve")
	m.dropLeagues()
	same(t, "once it is dropped", take(), []string{"201", "201"})
}
