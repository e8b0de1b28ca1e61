package threefc_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/organise"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/tables"
)

// hidden matches the fields of a form that nobody types.
var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// open returns the hidden fields of the form of an action, as a page has them.
func (m *match) open(user, page, action, id string) url.Values {
	m.T.Helper()

	query := url.Values{"ask": {action}}
	if id != "" {
		query.Set("id", id)
	}

	form := url.Values{}

	for _, one := range hidden.FindAllStringSubmatch(m.show(user, page+"?"+query.Encode(), 200, "Back without a change"), -1) {
		form.Set(one[1], html.UnescapeString(one[2]))
	}

	if form.Get("action") != action || form.Get("key") == "" {
		m.T.Fatalf("%s has no form %s: %v", page, action, form)
	}

	return form
}

// act carries out an action by its form, twice, and returns the path of the page that follows, which says
// something.
func (m *match) act(user, page, action, id, says string, fields url.Values) (to string) {
	m.T.Helper()

	form := m.open(user, page, action, id)
	for name, values := range fields {
		form[name] = values
	}

	to = m.post(user, page, form)
	m.MoveClock(m.Clock.Now().Add(time.Second))

	left := m.state()
	m.post(user, page, form)
	same(m.T, "the table after "+action+" was sent again", m.state(), left)
	m.show(user, to, 200, says)

	path, _, _ := strings.Cut(to, "?")

	return path
}

// post sends a form that is carried out, and returns the path of the page that follows.
func (m *match) post(user, page string, form url.Values) (to string) {
	m.T.Helper()

	out := m.send(user, page, form, http.StatusSeeOther, "Continue")

	to, ok := strings.CutPrefix(testkit.Header(out).Get("Location"), threefctest.API)
	if !ok {
		m.T.Fatalf("POST %s of %s leads to %q", page, form.Get("action"), testkit.Header(out).Get("Location"))
	}

	return to
}

// last returns the last segment of a path.
func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// one is a form with one field.
func one(name, value string) url.Values { return url.Values{name: {value}} }

// TestSeasonByForms: an administrator plans a season with a browser and nothing else, from the first league to
// the final table. Each form has its effect once, however often it is sent.
func TestSeasonByForms(t *testing.T) {
	t.Parallel()
	m := &match{World: threefctest.New(t)}
	m.Accounts()
	m.SignIn("ann", "sam")
	m.show("", "/home", 200, "Sign in first")
	m.show("ann", "/home", 200, "You are in no league yet")

	top := m.act("ann", "/home", "create-league", "", "The league is created.", one("name", "Parkside"))
	m.l.ID = last(top)
	m.show("ann", "/home", 200, "You are administrator.")
	m.act("ann", top, "rename-league", "", "Parkside 3", url.Values{"name": {"Parkside 3"}, "slug": {"parkside"}})
	m.act("ann", top, "invite", "", "sam@example.com", url.Values{"email": {"sam@example.com"}, "role": {"viewer"}})
	same(t, "mails to sam", len(m.Mail.Mailbox("sam@example.com")), 1)
	m.send("sam", "/invitations/"+m.l.ID, nil, 200, "You are viewer")
	m.show("sam", top, 200, "You are a viewer of this league")
	m.act("ann", top, "change-role", "sam", "scorekeeper", one("role", "scorekeeper"))

	for _, name := range []string{"Ada", "Bo", "Cy", "Di", "Foxy"} {
		m.act("sam", top, "add-player", "", name, url.Values{"nickname": {name}, "avatar": {"🦊"}})
	}

	for _, p := range decode[struct{ Players []player.Player }](m, "ann", "GET", "/v1/leagues/"+m.l.ID+"/players", nil).Players {
		m.l.Players = append(m.l.Players, p.PlayerID)
	}

	season := m.act("ann", top, "create-season", "", "The season is created.",
		url.Values{"name": {"Spring 2026"}, "startsOn": {"2026-03-01"}, "timeZone": {"Europe/London"}})
	m.act("ann", season, "usual-teams", "", "Yellow", nil)
	m.act("ann", season, "add-team", "", "Greens", url.Values{"name": {"Greens"}, "color": {"#00843d"}})
	m.act("ann", season, "edit-team", "greens", "Herons", url.Values{"name": {"Herons"}, "color": {"#00843d"}})
	m.act("ann", season, "remove-team", "greens", "The team is removed.", nil)

	day := m.act("sam", season, "create-session", "", "Session on Saturday 6 June 2026", one("sessionDate", "2026-06-06"))
	m.l.SessionID = last(day)
	one := m.act("sam", day, "create-game", "", "The game is created.", url.Values{
		"date": {"2026-06-06"}, "time": {"19:00"}, "thirdLength": {"20"}, "location": {"Pitch 2"}, "team1": {"red"}, "team2": {"blue"},
		"team3": {"yellow"},
	})
	m.id = last(one)

	if g := m.read(); g.StartTs.Format(time.RFC3339) != "2026-06-06T18:00:00Z" || g.Location != "Pitch 2" || g.Teams[0].TeamID != "red" {
		t.Errorf("the game is %+v, want it at 19:00 of London", g)
	}

	m.act("sam", one, "line-up", "", "Remove Foxy from Yellow", url.Values{
		"seat-" + m.l.Players[0]: {"red"}, "seat-" + m.l.Players[1]: {"blue"}, "seat-" + m.l.Players[2]: {"yellow"},
		"seat-" + m.l.Players[4]: {"yellow"},
	})
	m.act("sam", one, "line-up", "", "The line-up is saved.", url.Values{"seat-" + m.l.Players[1]: {""}, "seat-" + m.l.Players[3]: {"blue"}})
	m.act("sam", one, "remove-seat", m.l.Players[4], "The player is removed", nil)
	m.act("sam", one, "edit-game", "", "19:30", url.Values{"date": {"2026-06-06"}, "time": {"19:30"}, "thirdLength": {"25"}})
	m.act("ann", day, "make-pin", "", "QR code of the scoring link", nil)
	m.act("ann", day, "revoke-pin", "", "The PIN has ended.", nil)

	form := m.open("sam", one, "make-code", "")
	code := m.post("sam", one, form)
	same(t, "the code of the form sent again", m.post("sam", one, form), code)
	m.show("sam", code, 200, "QR code of the link to join")
	m.act("sam", one, "revoke-codes", "", "The codes have ended.", nil)

	if page := m.show("sam", code, 200, "Make a code to join"); strings.Contains(page, "QR code") {
		t.Error("a code that has ended is shown")
	}

	m.step("thirds/1/start")
	m.act("sam", one, "undo-third", "start-1", "It has not begun.", nil)
	m.step("thirds/1/start")
	m.pass(5 * time.Minute)
	m.score("sam", goal{Scoring: "red", Conceding: "blue", Scorer: m.l.Players[0]})
	m.step("thirds/1/finish")

	late := []string{m.eventID(), m.eventID()}
	for _, id := range late {
		m.Do("sam", "POST", m.path("goals"), map[string]any{
			"eventId": id, "third": 1, "scoringTeamId": "yellow", "concedingTeamId": "red", "scorerPlayerId": m.l.Players[2], "proposeIfLate": true,
		})
	}

	m.show("ann", one, 200, "goal for Yellow against Red by Cy, sent by sam@example.com")
	m.act("ann", one, "dismiss-goal", late[1], "The goal is dismissed.", nil)
	m.act("ann", one, "accept-goal", late[0], "Goal added by you", nil)
	m.Play("ann", m.id)
	m.Aggregate()
	m.act("ann", one, "reopen-game", "", "It is open again", nil)
	m.Do("ann", "POST", m.path("finish"), nil)
	m.Aggregate()
	m.show("ann", one, 200, "It is finished")
	m.show("", "/l/parkside/spring-2026", 200, "Yellow")

	m.Do("sam", "POST", "/v1/players/"+m.l.Players[3]+"/claim", nil)
	m.act("sam", top, "edit-player", m.l.Players[3], "Diana", url.Values{"nickname": {"Diana"}, "avatar": {""}})
	m.act("ann", top, "end-claim", m.l.Players[3], "The claim has ended.", nil)
	m.act("ann", top, "merge-player", m.l.Players[1], "merged into Ada", url.Values{"intoPlayerId": {m.l.Players[0]}})
	m.act("ann", top, "unmerge-player", m.l.Players[1], "The merge is undone.", nil)

	gone := last(m.act("sam", top, "add-player", "", "Nobody", url.Values{"nickname": {"Nobody"}}))
	all := decode[struct{ Players []player.Player }](m, "ann", "GET", "/v1/leagues/"+gone+"/players", nil).Players
	m.act("ann", top, "delete-player", all[len(all)-1].PlayerID, "The player is deleted.", nil)

	m.act("ann", season, "edit-season", "", "Spring", url.Values{"name": {"Spring"}, "slug": {"spring"}, "timeZone": {"Europe/Paris"}})
	m.show("ann", one, 200, "Game at 20:30")

	after := m.act("ann", season, "copy-season", "", "Autumn", url.Values{"name": {"Autumn"}, "timeZone": {"Europe/London"}})
	m.show("ann", after, 200, "Yellow")
	m.act("ann", one, "delete-game", "", "The game is deleted.", nil)
	m.act("ann", day, "delete-session", "", "The session is deleted.", nil)
	m.act("ann", season, "delete-season", "", "The season is deleted.", nil)
	m.act("ann", after, "delete-season", "", "There is no season yet", nil)

	m.act("ann", top, "invite", "", "eve@example.com", url.Values{"email": {"eve@example.com"}, "role": {"viewer"}})

	found := regexp.MustCompile(`ask=withdraw&id=([0-9A-Z]{26})"`).FindStringSubmatch(m.show("ann", top, 200, "invited"))
	m.act("ann", top, "withdraw", found[1], "The invitation is withdrawn.", nil)
	m.act("ann", top, "remove-member", "sam", "The member is removed.", nil)
	m.show("sam", top, 404, "There is nothing here")
	m.Join(m.l, item.Viewer, "sam")
	m.leaves("sam", top)
	m.act("ann", top, "delete-league", "", "The league is deleted.", nil)

	out := m.send("ann", "/home", m.open("ann", "/home", "sign-out", ""), 303, "Continue")
	same(t, "the page after the sign-out", testkit.Header(out).Get("Location"), threefctest.API+"/sign-in")
	m.SetCookie("ann", out.Cookies[0])
	m.show("ann", "/home", 200, "Sign in first")
}

// TestPlanByForms: an administrator sees a plan before it is made, which nothing is meanwhile, and it is made once.
func TestPlanByForms(t *testing.T) {
	t.Parallel()
	m := club(t)
	season := m.manage()[1]

	form := m.open("ann", season, "plan", "")
	for name, value := range map[string]string{
		"startsOn": "2026-03-12", "weeks": "3", "time": "19:30", "gamesPerSession": "2", "thirdLength": "20", "location": "Pitch 2",
	} {
		form.Set(name, value)
	}

	before := m.state()
	out := m.Ask("ann", "POST", season, form.Encode(), formType)
	preview := m.page("the plan", out, 200, "Thursday 26 March 2026: 19:30 Red, Yellow, Blue; 20:45 Yellow")
	same(t, "the table after the preview", m.state(), before)

	if !strings.Contains(preview, `value="Pitch 2"`) || m.key(preview) != form.Get("key") {
		t.Errorf("the preview does not have what was typed, or another key:\n%s", preview)
	}

	form.Set("id", "make")

	to := m.post("ann", season, form)
	left := m.state()
	m.post("ann", season, form)
	same(t, "the table after the plan was sent again", m.state(), left)
	m.show("ann", to, 200, "The sessions and games are made.")
	same(t, "the sessions", strings.Join(m.days(), ", "),
		"2026-03-12 19:30bry 20:45ryb, 2026-03-19 19:30ybr 20:45bry, 2026-03-26 19:30ryb 20:45ybr")

	form.Set("weeks", "4")
	m.page("another plan", m.Ask("ann", "POST", season, form.Encode(), formType), 409, "has been sent before with something else")
	same(t, "the table after another plan with the key", m.state(), left)
}

// TestPlanOfAWeekday: the form of a plan has the weekday, days without a session and the break between games. A
// day that is none is refused at its field.
func TestPlanOfAWeekday(t *testing.T) {
	t.Parallel()
	m := club(t)
	season := m.manage()[1]

	form := m.open("ann", season, "plan", "")
	for name, value := range map[string]string{
		"startsOn": "2026-03-12", "weekday": "saturday", "weeks": "3", "exceptDates": "2026-03-21, tomorrow", "time": "19:30",
		"gamesPerSession": "2", "breakMinutes": "5", "thirdLength": "20", "location": "Pitch 2",
	} {
		form.Set(name, value)
	}

	page := m.page("a day that is none", m.Ask("ann", "POST", season, form.Encode(), formType), 422, "Days without a session")
	if !strings.Contains(page, "2026-03-21, tomorrow") {
		t.Errorf("what was typed is gone:\n%s", page)
	}

	form.Set("exceptDates", "2026-03-21,2026-12-24")
	form.Set("id", "make")
	m.show("ann", m.post("ann", season, form), 200, "The sessions and games are made.")
	same(t, "the sessions", regexp.MustCompile("[bry]{3}").ReplaceAllString(strings.Join(m.days(), ", "), ""),
		"2026-03-14 19:30 20:35, 2026-03-28 19:30 20:35")
}

// TestSquadsAndRulesByForms: a form changes the squads that differ, and keeps the others.
func TestSquadsAndRulesByForms(t *testing.T) {
	t.Parallel()
	m := club(t)
	season := m.manage()[1]
	m.squad("red", 0, 1)

	squads := func() string {
		text := ""
		for _, x := range decode[struct{ Squads []item.Squad }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Squads {
			text += x.TeamID

			for _, id := range x.PlayerIDs {
				text += fmt.Sprint(" ", slices.Index(m.l.Players, id))
			}

			text += "; "
		}

		return text
	}

	m.act("sam", season, "squads", "", "The squads are saved.", url.Values{
		"seat-" + m.l.Players[0]: {"red"}, "seat-" + m.l.Players[1]: {"blue"}, "seat-" + m.l.Players[3]: {"blue"}, "seat-" + m.l.Players[4]: {""},
	})
	same(t, "the squads", squads(), "blue 1 3; red 0; ")
	m.act("sam", season, "squads", "", "The squads are saved.", one("seat-"+m.l.Players[0], ""))
	same(t, "the squads", squads(), "blue 1 3; red; ")

	form := m.open("sam", season, "squads", "")
	m.squad("yellow", 5)
	form.Set("seat-"+m.l.Players[3], "red")
	m.send("sam", season, form, 409, "omebody has changed this meanwhile")
	same(t, "the squads", squads(), "blue 1 3; red; yellow 5; ")

	m.act("ann", season, "rules", "", "The rules are saved.", url.Values{
		"win": {"2"}, "draw": {"1"}, "loss": {"0"}, "order1": {"points"}, "order2": {""}, "order3": {"goalDifference"},
	})

	rules := decode[struct{ Rules struct{ Order []string } }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID, nil).Rules
	same(t, "the order", fmt.Sprint(rules.Order), "[points goalDifference]")
	m.show("ann", season+"?ask=rules", 200, `value="2"`)
}

// TestStatesByForms: the states of a game are set and shown in words, and its line-up begins with the squads.
func TestStatesByForms(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.squad("yellow", 7)
	m.squad("red", 8)

	day, page := m.manage()[2], m.manage()[3]
	m.act("sam", page, "set-state", "", "It is postponed: there is no new time yet.", one("state", "postponed"))
	m.show("vic", day, 200, "postponed")
	m.show("sam", page+"?ask=edit-game", 200, "The game is postponed, until you save its new start.")
	m.act("sam", page, "edit-game", "", "It has not begun.", url.Values{"date": {"2026-06-06"}, "time": {"19:30"}, "thirdLength": {"20"}})
	m.act("sam", page, "missing-team", "", "It has not begun. Missing: Yellow.", one("absent1", "yellow"))
	m.show("vic", day, 200, "scheduled, without Yellow")
	m.act("sam", page, "fill-line-up", "", "The line-up is saved.", one("from", "squad"))

	seats := decode[struct{ Players []game.Seat }](m, "vic", "GET", m.path("roster"), nil).Players
	has := func(i int) bool {
		return slices.ContainsFunc(seats, func(p game.Seat) bool { return p.PlayerID == m.l.Players[i] })
	}
	same(t, "of the squads of Yellow and Red", fmt.Sprint(has(7), has(8)), "false true")

	if form := m.show("sam", page+"?ask=line-up", 200, "Line-up"); strings.Contains(form, ">Yellow<") {
		t.Errorf("the line-up has the team that is missing:\n%s", form)
	}

	m.act("sam", page, "missing-team", "", "It has not begun.", one("absent1", ""))
	m.act("sam", page, "set-state", "", "It is a walkover: Blue has won. Missing: Red, Yellow.",
		url.Values{"state": {"walkover"}, "absent1": {"red"}, "absent2": {"yellow"}})
	m.show("vic", day, 200, "walkover, without Red, Yellow")
	m.act("ann", page, "reopen-game", "", "The game is open again.", nil)

	m.gameAt(21)
	m.Do("sam", "PATCH", m.path(), map[string]any{"teamIds": []string{"red", "blue", "yellow"}})

	page = m.manage()[3]
	m.act("sam", page, "fill-line-up", "", "The line-up is saved.", one("from", "last"))
	m.step("thirds/1/start")
	m.act("sam", page, "set-state", "", "It was abandoned, and its result stands: a draw.", one("state", "stands"))
	m.act("ann", page, "reopen-game", "", "It is open again", nil)
	m.act("sam", page, "set-state", "", "It was abandoned, without a result.", one("state", "abandoned"))
	m.show("vic", day, 200, "abandoned")
	m.show("ann", page, 200, "Open the game again")
	m.show("ann", page, 200, "Game abandoned by sam@example.com")
}

// TestLeagueByForms: an administrator chooses who sees a league and its players, moves a session, and deletes the
// league with its seasons, which can be restored for a day.
func TestLeagueByForms(t *testing.T) {
	t.Parallel()
	m := club(t)
	top, day := m.manage()[0], m.manage()[2]

	m.act("sam", day, "move-session", "", "Session on Saturday 13 June 2026", one("sessionDate", "2026-06-13"))
	same(t, "the start of the game", m.read().StartTs.Format(time.DateOnly), "2026-06-13")
	m.act("ann", top, "edit-player", m.l.Players[0], "The player is changed.",
		url.Values{"nickname": {"Ada Lovelace"}, "avatar": {""}, "display": {"initials"}})
	m.show("ann", top+"?ask=edit-player&id="+m.l.Players[0], 200, `<option value="initials" selected>`)

	if form := m.show("sam", top+"?ask=edit-player&id="+m.l.Players[0], 200, "Ada Lovelace"); strings.Contains(form, "initials") {
		t.Errorf("a scorekeeper chooses what everybody sees:\n%s", form)
	}

	m.act("ann", top, "rename-league", "", "/members/parkside",
		url.Values{"name": {"Parkside"}, "slug": {"parkside"}, "visibility": {"private"}})
	m.show("", "/l/parkside", 404, "")
	m.show("ann", m.manage()[3], 200, "/members/parkside?game=")
	m.show("ann", top, 200, "The page that members see")
	m.show("ann", "/report/"+m.l.ID, 200, "Remove my name")
	m.show("ann", top, 200, "/report/"+m.l.ID)

	home := m.act("ann", top, "delete-league", "", "Restore Parkside", nil)
	same(t, "the page after the deletion", home, "/home")
	m.show("ann", top, 404, "There is nothing here")

	for _, stranger := range []string{"sam", "eve"} {
		if text := m.show(stranger, home, 200, "Your leagues"); strings.Contains(text, "Parkside") {
			t.Errorf("%s sees the league that is deleted:\n%s", stranger, text)
		}

		m.show(stranger, home+"?ask=restore-league&id="+m.l.ID, 404, "There is nothing here")
		m.send(stranger, home, url.Values{"action": {"restore-league"}, "id": {m.l.ID}, "key": {"k"}}, 404, "There is nothing here")
	}

	again := m.open("ann", home, "restore-league", m.l.ID)
	same(t, "the page after it is restored", m.act("ann", home, "restore-league", m.l.ID, "The league is restored.", nil), top)
	m.show("sam", top, 200, "Spring 2026")
	m.act("ann", top, "delete-league", "", "Restore Parkside", nil)
	m.send("ann", home, again, 409, "omebody has changed this meanwhile")
	m.pass(25 * time.Hour)
	m.SignIn("ann")

	if text := m.show("ann", home, 200, "Your leagues"); strings.Contains(text, "Parkside") {
		t.Errorf("a league can be restored after a day:\n%s", text)
	}
}

// leaves lets a member leave: the page of the league is gone afterwards.
func (m *match) leaves(user, top string) {
	m.T.Helper()

	to := m.post(user, top, m.open(user, top, "leave", ""))
	m.show(user, to, 200, "You have left the league.")
	m.show(user, top, 404, "There is nothing here")
}

// manage returns the pages of the league of a match: its own, and those of its season, session and game.
func (m *match) manage() []string {
	top := "/manage/" + m.l.ID
	return []string{top, top + "/seasons/" + m.l.SeasonID, top + "/sessions/" + m.l.SessionID, top + "/games/" + m.id}
}

// formsOf are the actions of the pages, in the order of manage, with what they are about.
func (m *match) formsOf() []map[string]string {
	return []map[string]string{
		{
			"rename-league": "", "delete-league": "", "leave": "", "invite": "", "change-role": "vic", "remove-member": "vic", "create-season": "",
			"add-player": "", "edit-player": m.l.Players[0], "merge-player": m.l.Players[0], "unmerge-player": m.l.Players[0],
			"end-claim": m.l.Players[0], "delete-player": m.l.Players[0], "withdraw": "01JX0000000000000000000000",
		},
		{
			"edit-season": "", "copy-season": "", "delete-season": "", "usual-teams": "", "add-team": "", "edit-team": "red", "remove-team": "red",
			"create-session": "", "plan": "", "squads": "", "rules": "",
		},
		{"create-game": "", "move-session": "", "make-pin": "", "revoke-pin": "", "delete-session": ""},
		{
			"fill-line-up": "", "set-state": "", "missing-team": "",
			"edit-game": "", "line-up": "", "remove-seat": m.l.Players[0], "make-code": "", "revoke-codes": "", "undo-third": "start-1",
			"reopen-game": "", "delete-game": "", "accept-goal": "01JX0000000000000000000000", "dismiss-goal": "01JX0000000000000000000000",
		},
	}
}

// TestFormsOfStrangers: a stranger finds no page and no form, who is not signed in is asked to sign in and sees
// nothing of the league, and nobody reaches another league by an id.
func TestFormsOfStrangers(t *testing.T) {
	t.Parallel()
	m := club(t)
	other := m.FoundAs("eve", "Evil")
	otherGame := m.Schedule("eve", other)
	before := m.state()

	for i, page := range m.manage() {
		sent := url.Values{"action": {[]string{"leave", "create-session", "create-game", "make-code"}[i]}, "key": {"k"}}
		for _, text := range []string{m.show("", page, 200, "Sign in first"), m.send("", page, sent, 303, "Continue").Body} {
			if strings.Contains(text, "Parkside") {
				t.Errorf("who is not signed in sees the league:\n%s", text)
			}
		}

		m.show("eve", page, 404, "There is nothing here")

		for action, id := range m.formsOf()[i] {
			m.show("eve", page+"?ask="+action+"&id="+id, 404, "There is nothing here")
			form := url.Values{"action": {action}, "id": {id}, "key": {"k"}, "name": {"x"}, "nickname": {"x"}}
			m.send("eve", page, form, 404, "There is nothing here")
		}
	}

	own := "/manage/" + other.ID

	for path, action := range map[string]string{
		own + "/seasons/" + m.l.SeasonID:          "create-session",
		own + "/sessions/" + m.l.SessionID:        "make-pin",
		own + "/games/" + m.id:                    "make-code",
		own + "/games/01JX0000000000000000000000": "make-code",
		own + "/seasons/" + other.SessionID:       "create-session",
		own + "/players/" + other.Players[0]:      "add-player",
		"/manage/01JX0000000000000000000000":      "create-season",
	} {
		m.show("eve", path, 404, "There is nothing here")
		m.send("eve", path, url.Values{"action": {action}, "key": {"k"}, "name": {"x"}, "sessionDate": {"2026-06-13"}}, 404, "There is nothing here")
	}

	for action, id := range map[string]string{
		"edit-player": m.l.Players[0], "merge-player": m.l.Players[0], "unmerge-player": m.l.Players[0], "end-claim": m.l.Players[0],
		"delete-player": m.l.Players[0], "change-role": "ann",
	} {
		m.send("eve", own, url.Values{
			"action": {action}, "id": {id}, "key": {"k"}, "nickname": {"x"}, "role": {"viewer"}, "intoPlayerId": {other.Players[0]},
		}, 404, "")
	}

	merge := url.Values{"action": {"merge-player"}, "id": {other.Players[0]}, "key": {"k"}, "intoPlayerId": {m.l.Players[0]}}
	m.send("eve", own, merge, 422, "same league")

	for _, id := range []string{m.l.Players[0], "x"} {
		m.send("eve", own+"/games/"+otherGame, url.Values{"action": {"line-up"}, "key": {"k"}, "seat-" + id: {"red"}}, 404, "no such player")
	}

	mine := strings.Split(m.code(), "/")
	if page := m.show("eve", own+"/games/"+otherGame+"?code="+mine[len(mine)-1], 200, "Make a code"); strings.Contains(page, "QR code") {
		t.Error("a code of another game is shown")
	}

	same(t, "the table", without(m.state(), "JoinCode"), without(before, "JoinCode"))
}

// without returns the rows that do not contain a text.
func without(rows []string, text string) (all []string) {
	for _, r := range rows {
		if !strings.Contains(r, text) {
			all = append(all, r)
		}
	}

	return all
}

// TestFormsOfRoles: each member sees the forms of the own role alone, and those of others are refused by a page
// that says whose they are.
func TestFormsOfRoles(t *testing.T) {
	t.Parallel()
	m := club(t)
	before := m.state()

	may := map[string]bool{
		"add-player": true, "edit-player": true, "create-session": true, "create-game": true, "edit-game": true, "line-up": true,
		"remove-seat": true, "make-code": true, "revoke-codes": true, "undo-third": true, "squads": true,
		"fill-line-up": true, "set-state": true, "missing-team": true, "move-session": true,
	}

	for i, page := range m.manage() {
		for action, id := range m.formsOf()[i] {
			if action == "leave" {
				continue
			}

			says := "This is for administrators of the league"
			if may[action] {
				says = "This is for scorekeepers and administrators of the league"
			}

			form := url.Values{"action": {action}, "id": {id}, "key": {"k"}}
			m.show("vic", page+"?ask="+action+"&id="+id, 403, says)
			m.send("vic", page, form, 403, says)

			if !may[action] {
				m.show("sam", page+"?ask="+action+"&id="+id, 403, says)
				m.send("sam", page, form, 403, says)
			}
		}

		if text := m.show("vic", page, 200, "You are a viewer"); strings.Contains(text, "<form") || strings.Contains(text, "@example.com") {
			t.Errorf("a viewer sees forms or addresses:\n%s", text)
		}

		text := m.show("sam", page, 200, "You are a scorekeeper")
		if strings.Contains(text, "?ask=delete") || strings.Contains(text, "@example.com") {
			t.Errorf("a scorekeeper sees what administrators do:\n%s", text)
		}
	}

	same(t, "the table", m.state(), before)
}

// TestFormsThatAreWrong: a form that is refused is shown again with what was typed and what is wrong at its field,
// and changes nothing.
func TestFormsThatAreWrong(t *testing.T) {
	t.Parallel()
	m := club(t)
	pages := m.manage()
	long := strings.Repeat("x", 1000)
	before := m.state()

	for _, c := range []struct {
		page, action, id string
		form             url.Values
		status           int
		says             []string
	}{
		{"/home", "create-league", "", one("name", ""), 422, []string{`aria-invalid="true" aria-describedby="create-league-name-wrong`}},
		{"/home", "create-league", "", one("name", long), 422, []string{`value="` + long + `"`, "create-league-name-wrong"}},
		{"/home", "create-league", "", one("name", `"><script>`), 303, nil},
		{
			pages[0], "rename-league", "", url.Values{"name": {"Riverside"}, "slug": {"Bad Slug"}},
			422, []string{`value="Riverside"`, `value="Bad Slug"`, "rename-league-slug-wrong"},
		},
		{
			pages[0], "rename-league", "", url.Values{"name": {"Riverside"}, "slug": {"parkside"}, "rev": {"1"}},
			409, []string{"omebody has changed this meanwhile"},
		},
		{pages[0], "invite", "", url.Values{"email": {"nobody"}, "role": {"viewer"}}, 422, []string{`value="nobody"`, "invite-email-wrong"}},
		{pages[0], "invite", "", url.Values{"email": {"nobody@example.com"}, "role": {"king"}}, 422, []string{"invite-role-wrong"}},
		{pages[0], "change-role", "ann", one("role", "viewer"), 409, []string{"The league needs an administrator"}},
		{pages[0], "remove-member", "ann", nil, 409, []string{"The league needs an administrator"}},
		{pages[0], "add-player", "", url.Values{"nickname": {long}}, 422, []string{"add-player-nickname-wrong"}},
		{
			pages[0], "add-player", "", url.Values{"nickname": {"Jo"}, "avatar": {"Jo"}},
			422, []string{"An avatar is one emoji.", "add-player-avatar-wrong", `value="Jo"`},
		},
		{pages[0], "merge-player", m.l.Players[0], one("intoPlayerId", ""), 422, []string{"Choose a player."}},
		{pages[0], "merge-player", m.l.Players[0], one("intoPlayerId", m.l.Players[0]), 422, []string{"merge-player-intoPlayerId-wrong"}},
		{pages[0], "delete-player", m.l.Players[0], nil, 409, []string{"was in a team of a game"}},
		{pages[0], "delete-league", "", one("rev", "1"), 409, []string{"omebody has changed this meanwhile"}},
		{
			pages[0], "rename-league", "", url.Values{"name": {"Parkside"}, "slug": {"parkside"}, "visibility": {"nobody"}},
			422, []string{"rename-league-visibility-wrong"},
		},
		{
			pages[0], "edit-player", m.l.Players[0], url.Values{"nickname": {"Ada"}, "display": {"x"}},
			422, []string{"edit-player-display-wrong"},
		},
		{pages[2], "move-session", "", one("sessionDate", "1999-06-06"), 422, []string{"move-session-sessionDate-wrong"}},
		{
			pages[0], "create-season", "", url.Values{"name": {"Autumn"}, "timeZone": {"Mars"}},
			422, []string{"There is no such time zone", `value="Autumn"`},
		},
		{
			pages[0], "create-season", "", url.Values{"name": {"Autumn"}, "startsOn": {"2026-03-02"}, "endsOn": {"2026-03-01"}},
			422, []string{"create-season-endsOn-wrong"},
		},
		{pages[0], "create-season", "", url.Values{"name": {"Spring 2026"}, "timeZone": {"UTC"}}, 409, []string{"create-season-name-wrong"}},
		{pages[1], "delete-season", "", nil, 409, []string{"The season has sessions"}},
		{pages[1], "add-team", "", url.Values{"name": {"Red"}, "color": {"#000000"}}, 409, []string{"choose another name"}},
		{pages[1], "add-team", "", url.Values{"name": {long}, "color": {"red"}}, 422, []string{"add-team-name-wrong"}},
		{pages[1], "add-team", "", url.Values{"name": {"Greens"}, "color": {"red"}}, 422, []string{"add-team-color-wrong"}},
		{pages[1], "create-session", "", one("sessionDate", "tomorrow"), 422, []string{"create-session-sessionDate-wrong", `value="tomorrow"`}},
		{
			pages[1], "plan", "", url.Values{
				"startsOn": {"2026-03-12"}, "weeks": {"few"}, "time": {"late"}, "gamesPerSession": {"2"}, "thirdLength": {"20"},
			},
			422, []string{"plan-weeks-wrong", `value="few"`, "plan-time-wrong"},
		},
		{
			pages[1], "plan", "make", url.Values{
				"startsOn": {"2026-03-12"}, "weeks": {"52"}, "time": {"08:00"}, "gamesPerSession": {"7"}, "thirdLength": {"20"},
			},
			409, []string{"plan-gamesPerSession-wrong", "Make the sessions and games"},
		},
		{pages[1], "squads", "", one("seat-"+m.l.Players[0], "green"), 422, []string{"squads-seat-" + m.l.Players[0] + "-wrong"}},
		{
			pages[1], "rules", "", url.Values{"win": {"1"}, "draw": {"2"}, "loss": {"0"}, "order1": {"points"}},
			422, []string{"rules-win-wrong", `value="2"`},
		},
		{
			pages[1], "rules", "", url.Values{"win": {"3"}, "draw": {"1"}, "loss": {"-1"}, "order1": {"wins"}, "order2": {"wins"}},
			422, []string{"rules-loss-wrong", "rules-order1-wrong"},
		},
		{
			pages[2], "create-game", "", url.Values{"date": {"2026-06-06"}, "time": {"late"}},
			422, []string{"create-game-time-wrong", `value="late"`},
		},
		{pages[2], "create-game", "", url.Values{"date": {"?"}, "time": {"18:00"}}, 422, []string{"create-game-date-wrong"}},
		{
			pages[2], "create-game", "", url.Values{"date": {"1999-06-06"}, "time": {"18:00"}, "thirdLength": {"20"}},
			422, []string{"create-game-time-wrong"},
		},
		{
			pages[2], "create-game", "", url.Values{"date": {"2026-06-06"}, "time": {"18:00"}, "thirdLength": {"90"}},
			422, []string{"create-game-thirdLength-wrong"},
		},
		{
			pages[2], "create-game", "", url.Values{
				"date": {"2026-06-06"}, "time": {"18:00"}, "thirdLength": {"20"}, "team1": {"red"}, "team2": {"red"}, "team3": {"blue"},
			},
			422, []string{"create-game-team1-wrong"},
		},
		{pages[2], "delete-session", "", nil, 409, []string{"The session has games"}},
		{pages[3], "line-up", "", one("seat-"+m.l.Players[0], "green"), 422, []string{"line-up-seat-" + m.l.Players[0] + "-wrong"}},
		{
			pages[3], "line-up", "", url.Values{"rev": {"1"}, "seat-" + m.l.Players[0]: {"blue"}},
			409, []string{"omebody has changed this meanwhile"},
		},
		{pages[3], "undo-third", "start-1", nil, 303, nil},
		{pages[3], "set-state", "", one("state", ""), 422, []string{"set-state-state-wrong"}},
		{pages[3], "set-state", "", one("state", "stands"), 422, []string{"set-state-state-wrong"}},
		{pages[3], "set-state", "", one("state", "walkover"), 422, []string{"set-state-absent1-wrong"}},
		{
			pages[3], "set-state", "", url.Values{"state": {"walkover"}, "absent1": {"red"}, "absent2": {"red"}},
			422, []string{"set-state-absent1-wrong"},
		},
		{pages[3], "missing-team", "", one("absent1", "green"), 422, []string{"missing-team-absent1-wrong"}},
		{pages[3], "fill-line-up", "", one("from", "nobody"), 422, []string{"fill-line-up-from-wrong"}},
		{pages[3], "reopen-game", "", nil, 409, []string{"The game is not being played"}},
		{
			pages[3], "edit-game", "", url.Values{"date": {"2026-06-06"}, "time": {"18:00"}, "location": {long}},
			422, []string{"edit-game-location-wrong"},
		},
	} {
		form := m.open("ann", c.page, c.action, c.id)
		for name, values := range c.form {
			form[name] = values
		}

		out := m.Ask("ann", "POST", c.page, form.Encode(), formType)
		if out.StatusCode != c.status {
			t.Errorf("%s with %v: %d, want %d:\n%s", c.action, c.form, out.StatusCode, c.status, out.Body)
		}

		for _, says := range c.says {
			if text := html.UnescapeString(out.Body); !strings.Contains(text, says) {
				t.Errorf("%s with %v does not say %q:\n%s", c.action, c.form, says, text[strings.Index(text, "<body>"):])
			}
		}

		if strings.Contains(out.Body, "<script>") {
			t.Errorf("%s: what was typed is a script:\n%s", c.action, out.Body)
		}
	}

	for i, page := range append(pages, "/home") {
		m.send("ann", page, url.Values{"action": {"explode"}, "key": {"k"}}, 422, "no such form")
		m.show("ann", page+"?ask=explode", 422, "no such form")
		m.show("ann", page+"?done=explode", 200, "<h1>")
		m.send("ann", page, url.Values{}, 422, "no such form")

		if i < len(pages) {
			for action, id := range m.formsOf()[i] {
				m.send("ann", page, url.Values{"action": {action}, "id": {id}}, 422, "This form is incomplete")
				m.send("ann", page, url.Values{"action": {action}, "id": {"../x"}, "key": {"k"}}, 404, "There is nothing here")
				break
			}
		}

		m.Origin = "https://evil.test"
		m.send("ann", page, url.Values{"action": {"leave"}, "key": {"k"}}, 403, "must come from a page of the app")
		m.Origin = "https://api.test"
	}

	left := m.state()
	same(t, "the rows of the league", withText(left, m.l.ID), withText(before, m.l.ID))
}

// withText returns the rows that contain a text.
func withText(rows []string, text string) (all []string) {
	for _, r := range rows {
		if strings.Contains(r, text) {
			all = append(all, r)
		}
	}

	return all
}

// TestFormSentWithSomethingElse: the key of a form that was carried out does not carry out another, and the form is
// shown again with another key.
func TestFormSentWithSomethingElse(t *testing.T) {
	t.Parallel()
	m := club(t)
	top := m.manage()[0]
	form := m.open("ann", top, "add-player", "")
	form.Set("nickname", "Jo")
	m.post("ann", top, form)
	form.Set("nickname", "Kim")

	text := m.page("again", m.Ask("ann", "POST", top, form.Encode(), formType), 409, "has been sent before with something else")
	form.Set("key", m.key(text))
	m.post("ann", top, form)
	m.show("ann", top, 200, "Kim")
}

// TestOldRowsOnThePages: a league, a season, a game and a player as the first versions have stored them, without the
// members that came later, are shown and changed.
func TestOldRowsOnThePages(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, r := range everything(m.World) {
		data, _ := r["data"].(string)
		for _, later := range []string{"claimCount", "used", "createdGames", "stepAt", "series", "playerCount"} {
			data = regexp.MustCompile(`,"`+later+`":("[^"]*"|[a-z0-9]+)`).ReplaceAllString(data, "")
		}

		if r["data"] = data; data != "" {
			testkit.PutRows(m.World.World, tables.App, r)
		}
	}

	for i, says := range []string{"Parkside", "Spring 2026", "Saturday 6 June 2026", "Game at 18:00"} {
		m.show("ann", m.manage()[i], 200, says)
	}

	m.act("ann", m.manage()[0], "edit-player", m.l.Players[0], "Adele", url.Values{"nickname": {"Adele"}})
	m.act("ann", m.manage()[3], "revoke-codes", "", "The codes have ended.", nil)
}

// TestSignInLeadsHome: a sign-in that no page has asked for leads to the user's leagues, and one that a page has asked
// for leads back to it, and to no page that is not there.
func TestSignInLeadsHome(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()

	for next, want := range map[string]string{"": "/home", "/home": "/home", m.manage()[2]: m.manage()[2], "/manage/x": "/home", "/manage": "/home"} {
		out := m.send("", "/sign-in/mail", url.Values{"email": {"lou@example.com"}, "next": {next}}, 200, "on its way")
		m.SetCookie("lou", out.Cookies[0])

		box := m.Mail.Mailbox("lou@example.com")
		to, err := url.Parse(link.FindString(box[len(box)-1].Text))
		testkit.Must(t, err)

		form := url.Values{"token": {to.Query().Get("token")}, "next": {to.Query().Get("next")}}
		m.send("lou", "/sign-in", form, 200, `href="`+threefctest.API+want+`"`)
	}
}

// TestHomeRenewsTheSession: an organiser who uses the pages alone stays signed in.
func TestHomeRenewsTheSession(t *testing.T) {
	t.Parallel()
	m := club(t)

	for range 3 {
		m.pass(9 * 24 * time.Hour)
		m.show("ann", "/home", 200, "You are signed in as ann@example.com")
	}

	m.pass(4 * 24 * time.Hour)
	m.show("ann", "/home", 200, "Sign in first")
}

// The forms that make more than one write belong to the use cases of TestCrashes.
func init() {
	for name, c := range map[string]struct {
		fn     app.Function
		page   int // of manage, -1 for home
		form   string
		before func(*match)
	}{
		"create a league by a form": {organise.SubmitHomeFunction(), -1, "action=create-league&key=K&name=Mine", func(*match) {}},
		"add a player by a form":    {organise.SubmitLeagueFunction(), 0, "action=add-player&key=K&nickname=Foxy", func(*match) {}},
		"add teams by a form": {organise.SubmitPartFunction(), 1, "action=usual-teams&key=K", func(m *match) {
			for _, team := range []string{"red", "yellow"} {
				m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID+"/teams/"+team, nil)
			}
		}},
		"move a session by a form": {
			organise.SubmitPartFunction(), 2, "action=move-session&key=K&sessionDate=2026-06-13", func(*match) {},
		},
		"delete a league with its seasons by a form": {organise.SubmitLeagueFunction(), 0, "action=delete-league&key=K", func(*match) {}},
		"choose squads by a form": {
			organise.SubmitPartFunction(), 1, "action=squads&key=K&seat-PLAYER0=blue&seat-PLAYER3=red", func(*match) {},
		},
		"record a walkover by a form": {
			organise.SubmitPartFunction(), 3, "action=set-state&key=K&state=walkover&absent1=red&absent2=yellow", func(*match) {},
		},
		"set a line-up by a form": {organise.SubmitPartFunction(), 3, "action=line-up&key=K&seat-PLAYER0=blue&seat-PLAYER3=", func(*match) {}},
		"delete a game by a form": {organise.SubmitPartFunction(), 3, "action=delete-game&key=K", (*match).played},
		"end the codes by a form": {organise.SubmitPartFunction(), 3, "action=revoke-codes&key=K&id=0", func(*match) {}},
		"merge players by a form": {organise.SubmitLeagueFunction(), 0, "action=merge-player&key=K&id=PLAYER0&intoPlayerId=PLAYER1", (*match).played},
	} {
		useCases = append(useCases, useCase{name, c.fn, []string{"SendMessage*"}, c.before, func(m *match, _ context.Context, env app.Env) error {
			page := "/home"
			if c.page >= 0 {
				page = m.manage()[c.page]
			}

			for i, id := range m.l.Players {
				c.form = strings.ReplaceAll(c.form, fmt.Sprint("PLAYER", i), id)
			}

			m.Routes[c.fn.Name] = testkit.ServeWith(m.World.World, c.fn, env)

			out := m.Ask("ann", "POST", page, c.form, formType)
			if err := testkit.Failed(out); err != nil || out.StatusCode == http.StatusSeeOther {
				return err
			}

			return fmt.Errorf("%s is refused: %d %s", name, out.StatusCode, out.Body)
		}})
	}
}
