package threefc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/player"
)

// TestPagesAreAccessible: axe-core finds nothing serious on any page, on a phone, light and dark, nothing
// is wider than the window, and the policy refuses nothing of a page.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	tab, complaints := consoletest.Browser(t)
	axe := consoletest.Axe(t)

	m := kickOff(t)
	m.score("sam", m.goalOf(0, "blue"))
	m.score("sam", m.goalOf(3, "yellow"))

	m.Play("sam", m.id)
	m.Aggregate()

	over := m.read().Slug
	m.id = m.Game("ann", m.l)
	m.score("sam", m.goalOf(0, "blue"))

	live := m.read().Slug
	code := m.code()

	m.Do("ann", "PUT", "/v1/sessions/"+m.l.SessionID+"/scoring-pin", nil)
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "eve@example.com", "role": "viewer"})
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)

	m.Do("ann", "POST", "/v1/leagues/"+m.FoundAs("ann", "Riverside").ID+"/end", nil)

	if page := m.show("ann", "/home", 200, "Riverside"); !strings.Contains(page, "restore") {
		t.Errorf("the home page has no deleted league:\n%s", page)
	}

	m.form("", 200, "are asked", "action", "remove", "name", "Ada", "text", "Please")

	url, as := m.Serve()
	pages := map[string]struct{ user, path string }{
		"league":                  {"", "/l/parkside"},
		"season":                  {"", "/l/parkside/spring-2026"},
		"game":                    {"", "/l/parkside/spring-2026/" + over},
		"live game":               {"", "/l/parkside/spring-2026/" + live},
		"refusal":                 {"", "/l/parkside/nowhere"},
		"join":                    {"", "/join/" + code},
		"join, and claim":         {"eve", "/join/" + code},
		"join as a player":        {"vic", "/join/" + code},
		"join for a child":        {"vic", "/join/" + code + "?child=true"},
		"sign-in":                 {"", "/sign-in"},
		"signed in":               {"vic", "/sign-in"},
		"sign-in by a link":       {"", "/sign-in?token=x"},
		"invitation":              {"eve", "/invitations/" + m.l.ID},
		"invitation of somebody":  {"", "/invitations/" + m.l.ID},
		"session":                 {"vic", "/sessions/" + m.l.SessionID + "/me"},
		"preferences":             {"vic", "/preferences/me"},
		"scorekeeper":             {"sam", "/score/" + m.l.SessionID},
		"scorekeeper, signed out": {"", "/score/" + m.l.SessionID},
		"report":                  {"", "/report/parkside"},
		"report, and decide":      {"ann", "/report/parkside"},
		"members, signed out":     {"", "/members/parkside"},
		"members":                 {"ann", "/members/parkside"}, // with a name that is to be removed
		"members, season":         {"vic", "/members/parkside?season=spring-2026"},
		"members, game":           {"vic", "/members/parkside?season=spring-2026&game=" + over},
		"members, live game":      {"vic", "/members/parkside?season=spring-2026&game=" + live},
		"home":                    {"ann", "/home"}, // with a league that was deleted
		"home, signed out":        {"", "/home"},
	}

	manage := m.manage()
	for i, name := range []string{"a league", "a season", "a session", "a game"} {
		pages["manage "+name] = struct{ user, path string }{"ann", manage[i]}
		pages["manage "+name+" as a viewer"] = struct{ user, path string }{"vic", manage[i]}
	}

	for form, page := range map[string]string{
		"rename-league": manage[0], "invite": manage[0], "create-season": manage[0], "edit-player&id=" + m.l.Players[0]: manage[0],
		"merge-player&id=" + m.l.Players[0]: manage[0], "edit-team&id=red": manage[1], "plan": manage[1],
		"rules": manage[1], "squads": manage[1], "copy-season": manage[1], "create-game": manage[2], "move-session": manage[2], "line-up": manage[3],
		"delete-game": manage[3], "set-state": manage[3], "missing-team": manage[3], "fill-line-up": manage[3],
	} {
		pages["the form "+form] = struct{ user, path string }{"ann", page + "?ask=" + form}
	}

	for _, mode := range []string{"light", "dark"} {
		for name, one := range pages {
			as(one.user)
			testkit.Must(t, consoletest.Do(tab, consoletest.Resize(360, 740, mode), chromedp.Navigate(url+one.path)))
			consoletest.Fits(t, tab, 360)
			consoletest.Accessible(t, tab, axe, name+", "+mode)
		}
	}

	for _, said := range complaints() {
		if !strings.Contains(said, "404") && !strings.Contains(said, "401") { // the refusal, and the scorekeeper signed out
			t.Errorf("a page complained %q", said)
		}
	}
}

// TestJoinWithAKeyboard: a visitor joins by the keyboard alone, on a page without scripts of its own.
func TestJoinWithAKeyboard(t *testing.T) {
	t.Parallel()
	tab, complaints := consoletest.Browser(t)
	m := club(t)
	url, _ := m.Serve()

	testkit.Must(t, consoletest.Do(tab, chromedp.Navigate(url+"/join/"+m.code()), chromedp.KeyEvent("\tFoxy\t\t\r"),
		consoletest.Says("h1", "You are in"), consoletest.Says("main", "You play as Foxy")))

	pool := decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players
	if len(pool) != 1 || pool[0].Nickname != "Foxy" {
		t.Errorf("the pool is %+v", pool)
	}

	if said := fmt.Sprint(complaints()); said != "[]" {
		t.Errorf("the page complained %s", said)
	}
}
