package threefc_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/tables"
)

// formType is the header of a form.
var formType = threefctest.Header{Name: "content-type", Value: "application/x-www-form-urlencoded"}

// link matches the address of a page.
var link = regexp.MustCompile(`https?://[^\s"<>]+`)

// show opens a page as a user, and checks its status and what it says.
func (m *match) show(user, target string, status int, says string) string {
	m.T.Helper()
	return m.page("GET "+target, m.Ask(user, "GET", target, nil), status, says)
}

// send sends a form as a user, and checks the status of the page and what it says.
func (m *match) send(user, target string, form url.Values, status int, says string) events.APIGatewayV2HTTPResponse {
	m.T.Helper()

	out := m.Ask(user, "POST", target, form.Encode(), formType)
	m.page("POST "+target, out, status, says)

	return out
}

func (m *match) page(what string, out events.APIGatewayV2HTTPResponse, status int, says string) string {
	m.T.Helper()

	h, text := testkit.Header(out), html.UnescapeString(strings.NewReplacer("<bdi>", "", "</bdi>", "").Replace(out.Body))
	if out.StatusCode != status || h.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(text, says) {
		_, body, _ := strings.Cut(text, "<body>")
		m.T.Errorf("%s: %d %s, want a page with %d that says %q:\n%s", what, out.StatusCode, h.Get("Content-Type"), status, says, body)
	}

	if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		m.T.Errorf("%s: the policy is %q", what, policy)
	}

	return text
}

// key is the key of the form of a page.
func (m *match) key(page string) string {
	m.T.Helper()

	found := regexp.MustCompile(`name="key" value="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		m.T.Fatalf("the page has no key:\n%s", page)
	}

	return found[1]
}

// state is all of the table but counters of limits.
func (m *match) state() (all []string) {
	for _, r := range everything(m.World) {
		all = append(all, fmt.Sprint(r))
	}

	slices.Sort(all)

	return all
}

// TestEveryLinkLeadsToItsPage: each link of each mail, of the calendar and of the QR code is at the room's
// own address, and answers with a page to a browser that is not signed in. A program that checks mails by
// following links changes nothing.
func TestEveryLinkLeadsToItsPage(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "lena@example.com", "role": "viewer"})

	links := map[string]string{"a QR code": decode[struct{ URL string }](m, "sam", "POST", m.path("join-code"), nil).URL}

	m.moveTo(19)
	m.moveMails("a game that has moved", 1)
	m.step("thirds/1/start")
	m.score("sam", m.goalOf(0, "blue"))
	m.Play("sam", m.id)
	m.Aggregate()

	answers := m.tomorrow()
	meeting := strings.Split(answers, "/")[3]
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID

	for _, one := range []notice.Mail{{UserID: user, SessionID: meeting}, {UserID: user, GameID: m.id}} {
		testkit.Must(t, testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer).SendMail(m.NewContext(), one))
	}

	m.Do("lena", "PUT", answers, map[string]any{"status": "in"})
	m.Do("sam", "PATCH", "/v1/sessions/"+meeting, map[string]any{"sessionDate": "2026-06-14"})
	m.moveMails("a session that has moved", 2)

	texts := map[string]string{"the calendar": m.Do("", "GET", "/l/parkside/spring-2026/calendar.ics", nil).Body}
	texts["the calendar"] = strings.ReplaceAll(texts["the calendar"], "\r\n ", "") // long lines are folded

	for _, mail := range m.Mail.Mailbox("lena@example.com") {
		texts["the mail "+mail.Subject] = mail.Text + "\n" + mail.Headers["List-Unsubscribe"]
	}

	for what, text := range texts {
		found := link.FindAllString(text, -1)
		if found == nil {
			t.Errorf("%s has no link", what)
		}

		for i, to := range found {
			links[fmt.Sprintf("%s, link %d", what, i+1)] = to
		}
	}

	// A game that is over has no room for players: its code leads to a page that says so.
	closed := links["a QR code"]
	delete(links, "a QR code")
	m.show("", strings.TrimPrefix(closed, threefctest.API), http.StatusConflict, "The game is finished")

	m.id = m.Schedule("ann", m.l)
	links["a QR code"] = decode[struct{ URL string }](m, "sam", "POST", m.path("join-code"), nil).URL

	before := m.state()

	for _, what := range slices.Sorted(maps.Keys(links)) {
		to, ok := strings.CutPrefix(links[what], threefctest.API)
		if !ok {
			t.Errorf("%s: %s is not at the address of the room", what, links[what])
			continue
		}

		m.show("", to, http.StatusOK, "<!doctype html>")
	}

	same(t, "the table", m.state(), before)
	same(t, "the calendar and the kinds of mails", len(texts), 7)
}

// TestMailsOfAPrivateLeague: the result and the move of a game have a link to its page only for who may see it. A player
// who is no member gets the mail without one.
func TestMailsOfAPrivateLeague(t *testing.T) {
	t.Parallel()

	for _, member := range []bool{false, true} {
		m := club(t)
		m.lena()
		m.become(item.Private)

		if member {
			user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
			m.Join(m.l, item.Viewer, user)
		}

		check := func(mail string) {
			t.Helper()

			to := ""

			for _, one := range link.FindAllString(m.latestMail(), -1) {
				if strings.Contains(one, "/members/") {
					to = strings.TrimPrefix(one, threefctest.API)
				}
			}

			same(t, fmt.Sprintf("%s has a link, for a member: %v", mail, member), to != "", member)

			if to != "" {
				m.show("lena", to, http.StatusOK, "Blue – Red – Yellow")
			}
		}

		m.moveTo(19)
		m.moveMails("the move", 1)
		check("the move")

		m.step("thirds/1/start")
		m.score("sam", m.goalOf(0, "blue"))
		m.Play("sam", m.id)
		m.Aggregate()
		m.Notify()
		check("the result")
	}
}

// TestSignInOnThePages: by a form and a link, which leads on to the page that asked for it, and to no
// other site.
func TestSignInOnThePages(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	m.show("", "/sign-in?next=%2Fpreferences%2Fme", 200, `name="next" value="/preferences/me"`)

	out := m.send("", "/sign-in/mail", url.Values{"email": {"Lou@example.com"}, "next": {"/preferences/me"}}, 200, "on its way to Lou@example.com")
	m.SetCookie("lou", out.Cookies[0])

	box := m.Mail.Mailbox("lou@example.com")
	to, err := url.Parse(link.FindString(box[len(box)-1].Text))
	testkit.Must(t, err)

	before := m.state()
	m.show("lou", "/sign-in?"+to.RawQuery, 200, "Sign in</button>")
	same(t, "the table after the page", m.state(), before)

	form := url.Values{"token": {to.Query().Get("token")}, "next": {"/preferences/me"}}
	m.send("", "/sign-in", form, 409, "the address is yours: lou@example.com")
	same(t, "the table after another browser has asked", m.state(), before)

	out = m.send("lou", "/sign-in", form, 200, "You are signed in as lou@example.com")
	if want := `href="` + threefctest.API + `/preferences/me"`; !strings.Contains(out.Body, want) {
		t.Errorf("the page has no %s:\n%s", want, out.Body)
	}

	m.SetCookie("lou", out.Cookies[0])
	m.show("lou", "/preferences/me", 200, "Which mails you get")
	m.show("lou", "/sign-in", 200, "You are signed in as lou@example.com")
	m.send("lou", "/sign-in", form, 401, "This link was used")

	for _, next := range []string{
		"https://evil.test", "//evil.test", "/\\evil.test", "/preferences/me\n", "/preferences/x", "/v1/account", "/join/a/b",
		"/members/parkside?season=//evil.test", "/members/parkside?season=a&to=b", "/members/parkside?season=a\n", "/members/a?season=",
		"/members/a?season=b#c", "/home?season=a", "/members//evil.test?season=a",
	} {
		if text := m.show("", "/sign-in?next="+url.QueryEscape(next), 200, "Mail me a link"); strings.Contains(text, `name="next"`) {
			t.Errorf("%q is taken for a page of the room", next)
		}
	}

	m.Origin = "https://evil.test"
	m.send("lou", "/preferences/me", url.Values{}, 403, "This request must come from a page of the app")

	m.Origin = "https://api.test"
	m.send("lou", "/preferences/me", url.Values{"reminders": {"on"}}, 200, "Saved.")
}

// TestSignInLeadsToThePageForMembers: the page of a league, a season or a game for members is the one after the
// sign-in. Slugs of any length lead to it, and what is too long for a page to nowhere.
func TestSignInLeadsToThePageForMembers(t *testing.T) {
	t.Parallel()
	m := club(t)
	long := strings.Repeat("a", 40)

	for page, want := range map[string]string{
		"/members/parkside":                                      "/members/parkside",
		"/members/parkside?season=spring-2026":                   "/members/parkside?season=spring-2026",
		"/members/parkside?season=spring-2026&game=2026-a":       "/members/parkside?game=2026-a&season=spring-2026",
		"/members/" + long + "?season=" + long + "&game=2026-a":  "/members/" + long + "?game=2026-a&season=" + long,
		"/members/" + long + "?season=" + long + "&game=" + long: "",
		"/members/parkside?season=%2F%2Fevil.test":               "",
	} {
		text := m.show("", page, 200, "This page is for members of the league.")
		to, _, _ := strings.Cut(text[strings.Index(text, "/sign-in?"):], `"`)
		text = m.show("", to, 200, "Mail me a link")

		_, next, _ := strings.Cut(text, `name="next" value="`)
		next, _, _ = strings.Cut(next, `"`)
		same(t, "the page after the sign-in to "+page, html.UnescapeString(next), want)
	}
}

// TestInvitationPage: who is invited signs in first, and accepts by a form; anybody else sees nothing of
// the league.
func TestInvitationPage(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "eve@example.com", "role": "scorekeeper"})

	page := "/invitations/" + m.l.ID
	for _, text := range []string{m.show("", page, 200, "Sign in first"), m.send("", page, nil, 200, "Sign in first").Body} {
		if strings.Contains(text, "Parkside") {
			t.Errorf("a stranger sees the league:\n%s", text)
		}
	}

	m.SignIn("zoe")
	m.show("zoe", page, 404, "is not invited to this league")
	m.send("zoe", page, nil, 404, "is not invited to this league")
	m.show("eve", page, 200, "to be scorekeeper of the league")
	refused(t, "the league before", m.Ask("eve", "GET", "/v1/leagues/"+m.l.ID, nil), 403, "league_access_required")

	for range 2 {
		m.send("eve", page, nil, 200, "You are scorekeeper of the league “Parkside”")
	}

	m.show("eve", page, 200, "You are a member")
	same(t, "the members", strings.Contains(m.members(), "eve scorekeeper"), true)
}

// TestJoinPage: a form that is sent twice adds one player; what is wrong is said on the form, which keeps
// what was typed.
func TestJoinPage(t *testing.T) {
	t.Parallel()
	m := club(t)
	page := "/join/" + strings.ToLower(m.code())
	key := m.key(m.show("", page, 200, "Saturday 6 June 2026"))

	pool := func() (all []string) {
		for _, p := range decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players {
			all = append(all, p.Nickname+p.Avatar)
		}

		slices.Sort(all)

		return all
	}

	before := m.state()

	for says, form := range map[string]url.Values{
		"A name is needed":             {"key": {key}},
		"This name cannot be used":     {"key": {key}, "nickname": {"win at win.example"}},
		"The picture must be":          {"key": {key}, "nickname": {"Foxy"}, "avatar": {"fox"}},
		`value="Foxy"`:                 {"key": {key}, "nickname": {"Foxy"}, "avatar": {"x"}},
		"Something is missing or wron": {"nickname": {"Foxy"}},
	} {
		m.send("", page, form, 422, says)
	}

	same(t, "the table after wrong forms", m.state(), before)

	for range 2 {
		m.send("", page, url.Values{"key": {key}, "nickname": {" Foxy "}, "avatar": {"🦊"}}, 200, "You play as Foxy.")
	}

	m.send("", page, url.Values{"key": {key}, "nickname": {"Foxier"}}, 409, "open the link again")
	same(t, "the pool", pool(), []string{"Foxy🦊"})

	if next := m.key(m.show("", page, 200, "Sign in by mail")); next == key {
		t.Error("two forms have the same key")
	}

	m.show("", "/join/GUESSED0", 404, "This code is unknown")

	// A user who has no player claims one of the league, and is it from then on.
	m.show("eve", page, 200, `value="`+m.l.Players[0]+`"`)
	m.send("", page, url.Values{"key": {"k2"}, "player": {m.l.Players[0]}}, 200, "Sign in first")

	for range 2 {
		m.send("eve", page, url.Values{"key": {"k3"}, "player": {m.l.Players[0]}}, 200, "You play as Ada.")
	}

	m.show("eve", page, 200, "You join as <b>Ada</b>")
	m.send("vic", page, url.Values{"key": {"k4"}, "player": {m.l.Players[0]}}, 409, "Somebody else has claimed this player")
	same(t, "the pool after a claim", pool(), []string{"Ada", "Foxy🦊"})

	if text := m.show("vic", page, 200, "Your name in the league"); strings.Contains(text, `value="`+m.l.Players[0]+`"`) {
		t.Error("a player who is claimed is offered")
	}
}

// TestAnswerByLink: the link of a reminder answers for its player and its session without a sign-in, as
// often as wanted, until the claim or the session ends.
func TestAnswerByLink(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()

	path := m.tomorrow()
	meeting := strings.Split(path, "/")[3]
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	testkit.Must(t, testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer).SendMail(m.NewContext(),
		notice.Mail{UserID: user, SessionID: meeting}))

	box := m.Mail.Mailbox("lena@example.com")
	page := strings.TrimPrefix(link.FindString(box[len(box)-1].Text), threefctest.API)
	other := strings.Replace(page, meeting, m.l.SessionID, 1)

	said := func() (all []string) {
		for _, a := range decode[struct{ Players []notice.Answer }](m, "ann", "GET", path, nil).Players {
			all = append(all, a.Nickname+" "+a.Status)
		}

		return all
	}

	m.show("", page, 200, "Will you play on Sunday 7 June 2026?")

	for _, status := range []string{"in", "in", "out"} {
		m.send("", page, url.Values{"status": {status}}, 200, map[string]string{"in": "You are in.", "out": "You are out."}[status])
		same(t, "the answers", said(), []string{"Ada " + status})
	}

	m.show("", page, 200, "You are out.")
	m.show("lena", "/sessions/"+meeting+"/me", 200, "You are out.")
	m.send("", page, url.Values{"status": {"perhaps"}}, 422, "Something is missing or wrong")
	m.show("", "/sessions/"+meeting+"/me", 200, "Sign in first")
	m.show("vic", "/sessions/"+meeting+"/me", 409, "Claim your player in this league first")

	for what, target := range map[string]string{"of another session": other, "that is cut": page[:len(page)-3], "for mails": "/sessions/" + meeting + "/" +
		m.ticketOfMails(user)} {
		if out := m.send("", target, url.Values{"status": {"in"}}, 401, "This link is incomplete"); out.StatusCode != 401 {
			t.Errorf("a ticket %s answers", what)
		}

		m.show("", target, 401, "This link is incomplete")
	}

	same(t, "the answers after wrong tickets", said(), []string{"Ada out"})

	m.Do("lena", "DELETE", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.send("", page, url.Values{"status": {"in"}}, 401, "no longer valid")
	same(t, "the answers of the next claim", said(), []string(nil))

	m.Do("vic", "DELETE", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.MoveClock(time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC))
	m.show("", page, 401, "no longer valid")
}

// ticketOfMails is the ticket by which a user chooses mails, from the mail of a game that is finished.
func (m *match) ticketOfMails(user string) string {
	m.T.Helper()

	id := m.Game("ann", m.l)
	m.Play("sam", id)
	testkit.Must(m.T, testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer).SendMail(m.NewContext(),
		notice.Mail{UserID: user, GameID: id}))

	box := m.Mail.Mailbox("lena@example.com")
	_, ticket, _ := strings.Cut(strings.Trim(box[len(box)-1].Headers["List-Unsubscribe"], "<>"), "/preferences/")

	return ticket
}

// TestUnsubscribe: a mail program ends all mails with one request of either encoding, without a cookie and
// an origin; the page shows it, and a form brings some back. A user who is deleted is left alone.
func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	page := "/preferences/" + m.ticketOfMails(user)
	wants := func() notice.Preferences {
		return decode[notice.Preferences](m, "lena", "GET", "/v1/me/preferences", nil)
	}

	before := m.state()
	m.show("", page, 200, "Which mails you get")
	same(t, "the table after the page", m.state(), before)
	same(t, "before", wants(), notice.Preferences{Finished: true, Reminders: true})

	for kind, body := range map[string]string{
		formType.Value:                    "List-Unsubscribe=One-Click",
		"multipart/form-data; boundary=x": "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n",
	} {
		m.send("", page, url.Values{"finishedGames": {"on"}, "reminders": {"on"}}, 200, "Saved.")
		same(t, "before", wants(), notice.Preferences{Finished: true, Reminders: true})
		m.page(kind, m.Ask("", "POST", page, body, threefctest.Header{Name: "content-type", Value: kind}), 200, "you get no more of these mails")
		same(t, "after "+kind, wants(), notice.Preferences{})
	}

	m.send("", page, url.Values{"reminders": {"on"}}, 200, "Saved.")
	same(t, "after the form", wants(), notice.Preferences{Reminders: true})
	m.show("lena", "/preferences/me", 200, `name="reminders" value="on" checked`)

	m.show("", "/preferences/me", 200, "Sign in first")
	m.send("", "/preferences/me", url.Values{"reminders": {"on"}}, 200, "Sign in first")

	m.send("", page[:len(page)-2], url.Values{}, 401, "This link is incomplete")

	m.Do("lena", "DELETE", "/v1/account", nil)
	m.forget(user)

	left := m.state()
	m.send("", page, url.Values{}, 200, "you get no more of these mails")
	same(t, "the table after a deleted user has unsubscribed", m.state(), left)
	same(t, "rows of the user", slices.ContainsFunc(testkit.Rows[stored](m.World.World, tables.App), func(r stored) bool {
		return r["pk"] == item.UserKey(user)
	}), false)

	m.MoveClock(m.Clock.Now().AddDate(1, 0, 1))
	m.send("", page, url.Values{}, 401, "no longer valid")
}
