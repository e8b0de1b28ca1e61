package threefc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/pkg/kit/limit"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/report"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/takedown"
)

// reports is what an operator gets.
type reports struct {
	League   *report.LookedUp
	Reports  []report.Reported
	Removals []report.Asked
}

// reported lists what is reported, as an operator.
func (m *match) reported(query string) reports {
	m.T.Helper()
	return testkit.Decode[reports](m.World.World,
		testkit.Call(m.Routes, report.ListReportsFunction(), "/admin/reports"+query, testkit.Administrator, ""))
}

// operate lets an operator act, and returns the status with the code of a problem.
func (m *match) operate(league string, body map[string]any) string {
	m.T.Helper()

	text, err := json.Marshal(body)
	testkit.Must(m.T, err)

	return code(testkit.Call(m.Routes, report.OperateFunction(), "/admin/leagues/"+league, testkit.Administrator, string(text)))
}

// form sends a form of the page of reports.
func (m *match) form(user string, status int, says string, fields ...string) {
	m.T.Helper()

	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}

	m.send(user, "/report/parkside", form, status, says)
	m.pass(time.Millisecond) // ids of a later report sort behind
}

// TestPageIsReported: by anybody, a few times a day; each public page has a link to the form. Operators list what is
// reported, of all leagues or of one, and close it. Nobody else lists it.
func TestPageIsReported(t *testing.T) {
	t.Parallel()
	m := club(t)
	page := "/l/parkside/spring-2026"

	for _, target := range []string{"/l/parkside", page, page + "/" + m.read().Slug} {
		link := "/report/parkside?" + url.Values{"page": {target}}.Encode()
		if body := m.Do("", "GET", target, nil).Body; !strings.Contains(body, link) {
			t.Errorf("%s has no link %s", target, link)
		}

		m.show("", link, 200, `name="page" value="`+target+`"`)
	}

	m.form("", 422, "Say what is wrong", "action", "report", "kind", "spam", "text", " ")
	m.form("", 422, "Say what is wrong", "action", "report", "text", "Rude")
	m.form("", 422, "Something is missing or wrong", "action", "report", "kind", "spam", "text", strings.Repeat("x", 501))
	same(t, "before", m.reported(""), reports{Reports: []report.Reported{}, Removals: []report.Asked{}})

	for i := range report.MaxReports.Max {
		m.form("", 200, "Thank you", "action", "report", "kind", "abuse", "text", fmt.Sprint("Rude ", i), "page", page)
	}

	m.form("", 429, "The limit is", "action", "report", "kind", "abuse", "text", "Rude again")

	m.Caller = "198.51.100.7"
	m.form("eve", 200, "Thank you", "action", "report", "kind", "other", "text", "<b>x</b>")

	got := m.reported("").Reports
	same(t, "how many", len(got), report.MaxReports.Max+1)
	same(t, "the newest", got[0], report.Reported{ReportID: got[0].ReportID, LeagueID: m.l.ID, At: got[0].At, Kind: "other", Text: "<b>x</b>"})
	same(t, "its page", got[1].Page, page)

	of := m.reported("?league=parkside")
	same(t, "of the league", len(of.Reports), len(got))
	same(t, "the league", *of.League, report.LookedUp{
		LeagueID: m.l.ID, Name: "Parkside", Slug: "parkside", Visibility: "public", Members: 4, Seasons: 1, Players: 9,
	})
	m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Other"})
	same(t, "of another league", len(m.reported("?league=other").Reports), 0)
	same(t, "of none", code(testkit.Call(m.Routes, report.ListReportsFunction(), "/admin/reports?league=nowhere", testkit.Administrator, "")),
		"404 not_found")

	for range 2 {
		same(t, "closing", m.operate("parkside", map[string]any{"action": "close", "reportId": got[0].ReportID}), "200")
	}

	same(t, "afterwards", len(m.reported("").Reports), len(got)-1)
	same(t, "without an id", m.operate("parkside", map[string]any{"action": "close"}), "422 id_needed")
	same(t, "a user", code(testkit.Call(m.Routes, report.ListReportsFunction(), "/admin/reports", "ann", "")), "403 denied")
}

// TestReportsAreLimited: by caller and league, and by league.
func TestReportsAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	pages := testkit.Open(m.World.World, report.SubmitReportFunction(), report.OpenPages)

	send := func() string {
		in := &report.SubmitReport{League: "parkside"}
		in.Body.Action, in.Body.Kind, in.Body.Text = "report", "spam", "x"
		_, err := pages.SubmitReport(m.NewContext(), in)

		if p, ok := errors.AsType[*problem.Error](err); ok {
			return p.Code
		}

		testkit.Must(t, err)

		return ""
	}

	for range report.MaxReports.Max {
		same(t, "a report", send(), "")
	}

	same(t, "one too many", send(), "too_many_reports")
	m.pass(24 * time.Hour)
	same(t, "a day later", send(), "")

	row := item.New(item.LeagueKey(m.l.ID), item.Reported, "Reported",
		limit.Window{Begins: m.Clock.Now(), Count: report.MaxLeagueReports.Max}, m.Clock.Now())
	testkit.PutRows(m.World.World, tables.App, row)
	same(t, "one of many callers", send(), "too_many_reports_of_league")
}

// TestNameIsRemoved: who is named asks without an account, and an administrator of the league replaces the name or
// leaves it. One request of each player is stored, and none for 30 days after the decision.
func TestNameIsRemoved(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[1], map[string]any{"display": "hidden"})
	m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[2], map[string]any{"nickname": "Cy Young", "display": "initials"})
	m.played()

	m.form("", 422, "shows no such name", "action", "remove", "name", "Zoe")
	m.form("", 422, "shows no such name", "action", "remove", "name", "Bo")
	m.form("", 422, "shows no such name", "action", "remove", "name", item.Nobody)
	m.form("", 422, "shows no such name", "action", "remove", "name", "")
	m.form("", 200, "are asked", "action", "remove", "name", " ada", "text", "I am <i>eleven</i>")
	m.form("", 200, "are asked", "action", "remove", "name", "Ada", "text", "Again")
	m.form("", 200, "are asked", "action", "remove", "name", "C.Y.")

	for _, user := range []string{"", "eve", "vic", "sam"} {
		if page := m.show(user, "/report/parkside", 200, "Remove my name"); strings.Contains(page, "Names to remove") {
			t.Errorf("%q sees the requests", user)
		}
	}

	page := m.show("ann", "/report/parkside", 200, "Ada</b>, asked on Saturday 6 June 2026: I am <i>eleven</i>")
	if strings.Count(page, `value="accept"`) != 2 || strings.Contains(page, "Again") {
		t.Errorf("the page is %s", page)
	}

	m.show("ann", "/members/parkside", 200, "Names to remove: 2")

	if strings.Contains(m.show("vic", "/members/parkside", 200, "Report this page"), "Names to remove") {
		t.Error("a viewer sees how many names are to be removed")
	}

	m.form("", 200, "Sign in first", "action", "accept", "player", m.l.Players[0])
	m.form("sam", 403, "This is for administrators of the league", "action", "accept", "player", m.l.Players[0])
	m.form("eve", 403, "This is for administrators of the league", "action", "dismiss", "player", m.l.Players[0])
	same(t, "the leaders", strings.Contains(m.leaders(), "Ada 1 0 1"), true)

	m.form("ann", 200, "C", "action", "dismiss", "player", m.l.Players[2])

	for range 2 {
		m.form("ann", 200, "Remove my name", "action", "accept", "player", m.l.Players[0])
	}

	m.Aggregate()
	same(t, "the leaders afterwards", strings.Contains(m.leaders(), takedown.PlayerName+" 1 0 1"), true)

	for _, r := range everything(m.World) {
		if text, _ := r["data"].(string); r["entityType"] != "Answer" && (strings.Contains(text, "eleven") || strings.Contains(text, "Ada")) {
			t.Errorf("%v %v has the name, or the reason: %s", r["pk"], r["sk"], text)
		}
	}

	m.pass(8 * 24 * time.Hour)
	m.SignIn("ann")
	m.form("", 200, "are asked", "action", "remove", "name", "C.Y.")

	if strings.Contains(m.show("ann", "/report/parkside", 200, "Remove my name"), "Names to remove") {
		t.Error("a request that was dismissed is there again")
	}

	same(t, "what operators get", len(m.reported("").Removals), 0)
	m.pass(24 * 24 * time.Hour)
	m.SignIn("ann")
	m.form("", 200, "are asked", "action", "remove", "name", "C.Y.")
	m.show("ann", "/report/parkside", 200, "Cy Young</b>, asked on")
}

// TestOperatorsDecideAfterAWeek: on a request that no administrator has answered; of a league that they look up, at
// any time. What is left of a league that is deleted is no request.
func TestOperatorsDecideAfterAWeek(t *testing.T) {
	t.Parallel()
	m := club(t)
	ada, bo := m.l.Players[0], m.l.Players[1]

	m.form("", 200, "are asked", "action", "remove", "name", "Ada", "text", "Please")
	m.form("", 200, "are asked", "action", "remove", "name", "Bo")
	same(t, "at once", len(m.reported("").Removals), 0)
	same(t, "of the league", len(m.reported("?league="+m.l.ID).Removals), 2)
	m.pass(7*24*time.Hour + time.Second)

	got := m.reported("").Removals
	same(t, "after a week", got, []report.Asked{
		{LeagueID: m.l.ID, PlayerID: ada, At: got[0].At, Reason: "Please"}, {LeagueID: m.l.ID, PlayerID: bo, At: got[1].At},
	})

	for _, body := range []map[string]any{{"action": "remove-name"}, {"action": "dismiss", "playerId": "x"}} {
		same(t, "without an id", m.operate("parkside", body), "422 id_needed")
	}

	same(t, "of another league", m.operate("parkside", map[string]any{"action": "remove-name", "playerId": nobodys}), "404 player_not_found")

	for range 2 {
		same(t, "replaced", m.operate("parkside", map[string]any{"action": "remove-name", "playerId": ada}), "200")
	}

	same(t, "what waits", len(m.reported("").Removals), 1)
	m.SignIn("ann")
	same(t, "the name", decode[struct{ Nickname string }](m, "ann", "GET", "/v1/players/"+ada, nil).Nickname, takedown.PlayerName)

	_, err := m.takeDown(takedown.TakeDown{League: "parkside", Delete: true})
	testkit.Must(t, err)
	same(t, "of a deleted league", len(m.reported("").Removals), 0)
	same(t, "what is left of it", m.left(m.l.ID), []string(nil))
}

// TestLeagueIsHidden: by an operator, from all but its members, whatever its administrators choose.
func TestLeagueIsHidden(t *testing.T) {
	t.Parallel()
	m := club(t)
	league := "/v1/leagues/" + m.l.ID
	seen := func() string {
		return fmt.Sprint(m.Ask("", "GET", "/l/parkside", nil).StatusCode, m.Ask("eve", "GET", league, nil).StatusCode,
			m.Ask("vic", "GET", league, nil).StatusCode, m.Ask("vic", "GET", "/members/parkside", nil).StatusCode)
	}

	same(t, "before", seen(), "200 403 200 200")

	for range 2 {
		same(t, "hiding", m.operate("parkside", map[string]any{"action": "hide"}), "200")
	}

	same(t, "what operators get", m.reported("?league=parkside").League.Hidden, true)
	same(t, "hidden", seen(), "404 404 200 200")
	m.Do("ann", "PATCH", league, map[string]any{"visibility": "public"})
	m.Do("ann", "PATCH", league, map[string]any{"visibility": "unlisted"})
	same(t, "after a choice of the administrator", seen(), "404 404 200 200")
	same(t, "what members get", decode[struct{ Hidden bool }](m, "vic", "GET", league, nil).Hidden, true)
	same(t, "showing", m.operate(m.l.ID, map[string]any{"action": "show"}), "200")
	same(t, "shown", seen(), "200 403 200 200")

	for range 2 {
		same(t, "renaming", m.operate(m.l.ID, map[string]any{"action": "rename"}), "200")
	}

	same(t, "the name", decode[struct{ Name string }](m, "vic", "GET", league, nil).Name, takedown.LeagueName)
	same(t, "of no league", m.operate("nowhere", map[string]any{"action": "hide"}), "404 not_found")
	same(t, "another action", m.operate(m.l.ID, map[string]any{"action": "explode"}), "422 invalid")
}
