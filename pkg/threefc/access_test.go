package threefc_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// least is who may use a route: the least of those who may.
type least int

const (
	anybody least = iota
	aUser
	aViewer
	aScorekeeper
	anAdmin
	anOperator // by a token: no session is enough
)

// route is a route with a request that an administrator may make.
type route struct {
	fn, path string
	body     any
	least    least
	headers  []threefctest.Header
}

// routes are all routes of the room, in an order in which an administrator may use them one
// after the other.
func (m *match) routes() []route {
	empty := map[string]any{}
	l, season, session, game := "/v1/leagues/"+m.l.ID, "/v1/seasons/"+m.l.SeasonID, "/v1/sessions/"+m.l.SessionID, m.path()
	game = strings.TrimSuffix(game, "/")
	seat := game + "/roster/" + m.l.Players[0]
	public := "/v1/public/leagues/" + m.l.ID + "/seasons/" + m.l.SeasonID + "/games/" + m.id
	g := m.goalOf(3, "red")
	g.EventID = m.eventID()
	form, manage := []threefctest.Header{formType}, "/manage/"+m.l.ID

	return []route{
		{"get-health", "/health", nil, anybody, nil},
		{"start-sign-in", "/v1/auth/magic/start", map[string]any{"email": "lena@example.com"}, anybody, nil},
		{"finish-sign-in", "/v1/auth/magic/complete", map[string]any{"token": "x"}, anybody, nil},
		{"show-game", public, nil, anybody, nil},
		{"show-timeline", public + "/timeline", nil, anybody, nil},
		{"show-standings", "/v1/public/seasons/" + m.l.SeasonID + "/standings", nil, anybody, nil},
		{"show-leaders", "/v1/public/seasons/" + m.l.SeasonID + "/leaderboards/players", nil, anybody, nil},
		{"show-calendar", "/l/parkside/spring-2026/calendar.ics", nil, anybody, nil},
		{"show-league-page", "/l/parkside", nil, anybody, nil},
		{"show-member-page", "/members/" + m.l.ID, nil, anybody, nil},
		{"show-member-calendar", m.calendar("ann"), nil, anybody, nil},
		{"show-report-page", "/report/" + m.l.ID, nil, anybody, nil},
		{"submit-report", "/report/" + m.l.ID, "action=report&kind=spam&text=x", anybody, form},
		{"show-icon", "/icons/icon.svg", nil, anybody, nil},
		{"show-manifest", "/app.webmanifest", nil, anybody, nil},
		{"show-score-page", "/score/" + m.l.SessionID, nil, anybody, nil},
		{"show-score-worker", "/worker.js", nil, anybody, nil},
		{"enter-scoring-pin", session + "/scorers", map[string]any{"pin": "GUESSED0"}, anybody, nil},
		{"show-sign-in-page", "/sign-in", nil, anybody, nil},
		{"send-sign-in-link", "/sign-in/mail", "email=lou%40example.com", anybody, form},
		{"submit-sign-in", "/sign-in", "token=x", anybody, form},
		{"show-invitation-page", "/invitations/" + m.l.ID, nil, anybody, nil},
		{"submit-invitation", "/invitations/" + m.l.ID, nil, anybody, nil},
		{"show-join-page", "/join/AAAAAAAA", nil, anybody, nil},
		{"submit-join", "/join/AAAAAAAA", "key=x", anybody, form},
		{"show-session-page", "/sessions/" + m.l.SessionID + "/me", nil, anybody, nil},
		{"submit-availability", "/sessions/" + m.l.SessionID + "/me", "status=in", anybody, form},
		{"show-preferences-page", "/preferences/me", nil, anybody, nil},
		{"submit-preferences", "/preferences/me", "reminders=on", anybody, form},
		{"show-home-page", "/home", nil, anybody, nil},
		{"submit-home", "/home", "action=create-league&key=k&name=Third", anybody, form},
		{"show-manage-page", manage, nil, anybody, nil},
		{"submit-manage", manage, "action=add-player&key=k&nickname=Kim", anybody, form},
		{"show-manage-part", manage + "/sessions/" + m.l.SessionID, nil, anybody, nil},
		{"submit-manage-part", manage + "/sessions/" + m.l.SessionID, "action=make-pin&key=k", anybody, form},
		{"show-season-page", "/l/parkside/spring-2026", nil, anybody, nil},
		{"show-game-page", "/l/parkside/spring-2026/2026-06-06-1", nil, anybody, nil},
		{"show-join-code", "/v1/join/AAAAAAAA/qr.png", nil, anybody, nil},
		{"join-game", "/v1/join/AAAAAAAA", empty, anybody, nil},

		{"get-sign-in", "/v1/auth/session", nil, aUser, nil},
		{"create-league", "/v1/leagues", map[string]any{"name": "Another"}, aUser, nil},
		{"accept-invitation", l + "/accept", nil, aUser, nil},
		{"list-leagues", "/v1/leagues", nil, aUser, nil},
		{"get-stats", "/v1/me/stats", nil, aUser, nil},
		{"get-preferences", "/v1/me/preferences", nil, aUser, nil},
		{"put-preferences", "/v1/me/preferences", map[string]any{"finishedGames": true, "reminders": true}, aUser, nil},
		{"list-availability", session + "/availability", nil, aViewer, nil},
		{"put-availability", session + "/availability", map[string]any{"status": "in"}, aUser, nil},
		{"claim-player", "/v1/players/" + m.l.Players[8] + "/claim", nil, aViewer, nil},

		{"get-league", l, nil, aViewer, nil},
		{"list-seasons", l + "/seasons", nil, aViewer, nil},
		{"list-players", l + "/players", nil, aViewer, nil},
		{"get-season", season, nil, aViewer, nil},
		{"get-season-tables", season + "/tables", nil, aViewer, nil},
		{"list-teams", season + "/teams", nil, aViewer, nil},
		{"list-sessions", season + "/sessions", nil, aViewer, nil},
		{"list-games", session + "/games", nil, aViewer, nil},
		{"get-game", game, nil, aViewer, nil},
		{"list-roster", game + "/roster", nil, aViewer, nil},
		{"list-goals", game + "/goals", nil, aViewer, nil},
		{"list-proposals", game + "/proposals", nil, aViewer, nil},
		{"list-corrections", game + "/audit", nil, aViewer, nil},
		{"list-pool", game + "/pool", nil, aViewer, nil},
		{"get-player", "/v1/players/" + m.l.Players[0], nil, aViewer, nil},

		{"create-player", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Jo"}, aScorekeeper, nil},
		{"update-player", "/v1/players/" + m.l.Players[0], map[string]any{"nickname": "Ada2"}, aScorekeeper, nil},
		{"create-session", season + "/sessions", map[string]any{"sessionDate": "2026-06-13"}, aScorekeeper, nil},
		{"move-session", session, map[string]any{"sessionDate": "2026-06-07"}, aScorekeeper, nil},
		{"create-game", session + "/games", map[string]any{"gameStartTs": "2026-06-06T19:00:00Z", "thirdLength": 20}, aScorekeeper, nil},
		{"update-game", game, map[string]any{"location": "Pitch 2"}, aScorekeeper, nil},
		{"create-join-code", game + "/join-code", nil, aScorekeeper, nil},
		{"revoke-join-codes", game + "/join-code", nil, aScorekeeper, nil},
		{"put-game-state", game + "/state", map[string]any{"state": "postponed"}, aScorekeeper, nil},
		{"leave-pool", game + "/pool/" + m.l.Players[0], nil, aScorekeeper, nil},
		{"put-squad", season + "/teams/red/squad", map[string]any{"playerIds": m.l.Players[:1]}, aScorekeeper, nil},
		{"put-line-up", game + "/line-up", map[string]any{"from": "squad"}, aScorekeeper, nil},
		{"put-seat", seat, map[string]any{"teamId": "blue"}, aScorekeeper, nil},
		{"delete-seat", seat, nil, aScorekeeper, nil},
		{"start-third", game + "/thirds/1/start", empty, aScorekeeper, nil},
		{"create-goal", game + "/goals", g, aScorekeeper, nil},
		{"update-goal", game + "/goals/" + g.EventID, m.goalOf(4, "red"), aScorekeeper, nil},
		{"undo-goal", game + "/goals/undo", nil, aScorekeeper, []threefctest.Header{{Name: "if-match", Value: `"1"`}}},
		{"delete-goal", game + "/goals/" + g.EventID, nil, aScorekeeper, nil},
		{"finish-third", game + "/thirds/1/finish", empty, aScorekeeper, nil},
		{"undo-third", game + "/thirds/2/finish/undo", nil, aScorekeeper, nil},
		{"finish-game", game + "/finish", nil, aScorekeeper, nil},
		{"accept-proposal", game + "/proposals/" + g.EventID + "/accept", nil, anAdmin, nil},
		{"dismiss-proposal", game + "/proposals/" + g.EventID, nil, anAdmin, nil},
		{"reopen-game", game + "/reopen", nil, anAdmin, nil},

		{"update-league", l, map[string]any{"name": "Parkside 2"}, anAdmin, nil},
		{"list-access", l + "/access", nil, anAdmin, nil},
		{"invite-member", l + "/access", map[string]any{"email": "otto@example.com", "role": "viewer"}, anAdmin, nil},
		{"put-access", l + "/access/sue", map[string]any{"role": "viewer"}, anAdmin, nil},
		{"drop-claim", "/v1/players/" + m.l.Players[7] + "/claim", nil, anAdmin, nil}, // of sue
		{"delete-access", l + "/access/sue", nil, anAdmin, nil},
		{"create-season", l + "/seasons", map[string]any{"name": "Autumn"}, anAdmin, nil},
		{"update-season", season, map[string]any{"name": "Spring"}, anAdmin, nil},
		{"plan-season", season + "/plan", map[string]any{"startsOn": "2026-08-06", "weeks": 1, "time": "19:30", "gamesPerSession": 1, "thirdLength": 20},
			anAdmin, nil},
		{"copy-season", season + "/copy", map[string]any{"name": "Winter"}, anAdmin, nil},
		{"put-team", season + "/teams/red", map[string]any{"name": "Reds"}, anAdmin, nil},
		{"merge-player", "/v1/players/" + m.l.Players[0] + "/merge", map[string]any{"intoPlayerId": m.l.Players[1]}, anAdmin, nil},
		{"delete-player", "/v1/players/" + m.l.Players[0], nil, anAdmin, nil}, // who was in a team
		{"delete-team", season + "/teams/red", nil, anAdmin, nil},
		{"put-scoring-pin", session + "/scoring-pin", nil, anAdmin, nil},
		{"revoke-scoring-pin", session + "/scoring-pin", nil, anAdmin, nil},
		{"delete-game", game, nil, anAdmin, nil},
		{"delete-session", session, nil, anAdmin, nil},
		{"delete-season", season, nil, anAdmin, nil},
		{"restore-league", l + "/restore", nil, anAdmin, nil},
		{"delete-league", l, nil, anAdmin, nil},
		{"end-league", l + "/end", nil, anAdmin, nil},

		{"list-reports", "/admin/reports", nil, anOperator, nil},
		{"operate-league", "/admin/leagues/" + m.l.ID, map[string]any{"action": "hide"}, anOperator, nil},

		{"delete-account", "/v1/account", nil, aUser, nil},
		{"sign-out", "/v1/auth/session", nil, aUser, nil},
	}
}

// callers are those who may use a route, the least first. eve has a league of her own: the
// administrator of another league is a stranger.
var callers = []struct {
	name string
	is   least
}{{"", anybody}, {"eve", aUser}, {"vic", aViewer}, {"sam", aScorekeeper}, {"ann", anAdmin}}

// deny is the answer to who may not use a route.
func deny(who, least least) string {
	switch {
	case least == anOperator:
		return "401 unauthenticated"
	case who == anybody:
		return "401 missing_session"
	case who == aUser:
		return "403 league_access_required"
	case least == aScorekeeper:
		return "403 scorekeeper_required"
	}

	return "403 admin_required"
}

// methods are the methods of the routes, by function.
func methods() map[string]string {
	all := map[string]string{}

	for _, f := range threefc.Room().Functions {
		if on, ok := f.On.(spec.Route); ok {
			all[strings.TrimPrefix(f.Name, "threefc/")] = on.Method
		}
	}

	return all
}

// TestWhoMayDoWhat asks every route as every kind of caller.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Evil"})
	m.Do("sue", "POST", "/v1/players/"+m.l.Players[7]+"/claim", nil)

	left := methods()
	for _, r := range m.routes() {
		method, ok := left[r.fn]
		if !ok {
			t.Errorf("there is no route %s, or it is here twice", r.fn)
			continue
		}

		delete(left, r.fn)

		for _, who := range callers {
			if who.name == "" && r.fn == "join-game" || r.fn == "finish-sign-in" || r.fn == "submit-sign-in" ||
				r.fn == "enter-scoring-pin" || strings.HasPrefix(r.fn, "submit-manage") {
				continue // their answer to a guess, or to a lesser role, is tested elsewhere
			}

			out := m.Ask(who.name, method, r.path, r.body, r.headers...)

			got := code(out)
			switch {
			case who.is < r.least:
				if want := deny(who.is, r.least); got != want {
					t.Errorf("%s as %q: %s, want %s", r.fn, who.name, got, want)
				}
			case out.StatusCode == 401 || out.StatusCode == 403 || out.StatusCode >= 500:
				t.Errorf("%s as %q: %s", r.fn, who.name, out.Body)
			}
		}
	}

	for fn := range left {
		t.Errorf("the route %s is not in the table", fn)
	}
}

// TestNothingIsThere: an id of nothing is not found, or is of a league of others.
func TestNothingIsThere(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()

	of := methods()

	nothing := strings.NewReplacer(m.l.ID, "01JX0000000000000000000000", m.l.SeasonID, "01JX0000000000000000000000", m.l.SessionID,
		"01JX0000000000000000000000", m.id, "01JX0000000000000000000000",
		"/v1/players/"+m.l.Players[0], "/v1/players/01JX0000000000000000000000", "/v1/players/"+m.l.Players[8],
		"/v1/players/01JX0000000000000000000000", "/v1/players/"+m.l.Players[7], "/v1/players/01JX0000000000000000000000")
	for _, r := range m.routes() {
		path := nothing.Replace(r.path)
		if path == r.path || r.fn == "show-standings" || r.fn == "show-leaders" {
			continue
		}

		if r.fn == "show-score-page" || r.fn == "enter-scoring-pin" || r.least == anOperator {
			continue // they do not tell whether there is a session
		}

		pages := []string{"/invitations/", "/sessions/", "/members/", "/report/", "/manage/"}
		if slices.ContainsFunc(pages, func(page string) bool { return strings.HasPrefix(path, page) }) {
			if out := m.Ask("ann", of[r.fn], path, r.body, r.headers...); out.StatusCode != http.StatusNotFound ||
				!strings.Contains(out.Body, "<!doctype html>") {
				t.Errorf("%s %s: %d %s, want a page with 404", of[r.fn], path, out.StatusCode, out.Body)
			}

			continue
		}

		got := code(m.Ask("ann", of[r.fn], path, r.body, r.headers...))
		want := "404 acl_scope_not_found"

		switch {
		case strings.HasPrefix(r.fn, "show-"):
			want = "404 not_found"
		case strings.HasPrefix(path, "/v1/players/"):
			want = "404 player_not_found"
		case r.fn == "accept-invitation":
			want = "404 invitation_not_found"
		case r.fn == "list-seasons" || r.fn == "list-players" || r.fn == "list-access" || r.fn == "delete-league" ||
			r.fn == "end-league":
			want = "403 league_access_required"
		}

		if got != want {
			t.Errorf("%s %s: %s, want %s", of[r.fn], path, got, want)
		}
	}
}

// TestEverybodyMayLeave: a member leaves a league, and removes nobody else.
func TestEverybodyMayLeave(t *testing.T) {
	t.Parallel()
	m := club(t)
	access := "/v1/leagues/" + m.l.ID + "/access/"
	refused(t, "another", m.Ask("vic", "DELETE", access+"sam", nil), 403, "admin_required")
	m.Do("vic", "DELETE", access+"vic", nil)
	refused(t, "the league afterwards", m.Ask("vic", "GET", "/v1/leagues/"+m.l.ID, nil), 403, "league_access_required")

	if body := m.Do("vic", "GET", "/v1/leagues", nil).Body; strings.Contains(body, m.l.ID) {
		t.Errorf("the leagues of who has left are %s", body)
	}

	refused(t, "the last administrator", m.Ask("ann", "DELETE", access+"ann", nil), 409, "last_admin")
	m.Do("ann", "DELETE", access+"nobody", nil)
	same(t, "the members", m.members(), "ann admin, sam scorekeeper, sue scorekeeper")
}

// members are the members of the league with their roles, by the list, and checks that the
// copies under the users and the counts of the league agree.
func (m *match) members() string {
	m.T.Helper()

	var all []string

	type list struct {
		Members []struct{ UserID, Role, InvitationID string }
	}

	admins := 0

	for _, one := range testkit.Decode[list](m.World.World, m.Do("ann", "GET", "/v1/leagues/"+m.l.ID+"/access", nil)).Members {
		if one.InvitationID != "" {
			continue
		}

		all = append(all, one.UserID+" "+one.Role)
		if one.Role == "admin" {
			admins++
		}
	}

	var copies []string

	for _, r := range everything(m.World) {
		if r["sk"] == item.LeagueKey(m.l.ID) && strings.HasPrefix(r["pk"].(string), "USER#") {
			copies = append(copies, r["pk"].(string))
		}
	}

	row := testkit.Row[item.Row[item.League]](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)
	if n := len(all); len(copies) != n || row.V().Members != n || row.V().Admins != admins {
		m.T.Errorf("%d members, %d administrators; the copies are %v, the league counts %d and %d", n, admins, copies,
			row.V().Members, row.V().Admins)
	}

	return strings.Join(all, ", ")
}
