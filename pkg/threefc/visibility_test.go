package threefc_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// calendar is the path of a member's calendar of the season, "" for who is no member.
func (m *match) calendar(user string) string {
	m.T.Helper()

	body := m.Ask(user, "GET", "/members/"+m.l.ID+"?season="+m.l.SeasonID, nil).Body

	return regexp.MustCompile(`/calendars/[A-Za-z0-9_-]+/games\.ics`).FindString(body)
}

// become gives the league a visibility.
func (m *match) become(v item.Visibility) {
	m.T.Helper()
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"visibility": v})
}

// roles are those of the matrix. Each makes its user, who has the name of the role unless it is that of a member
// of the club.
var roles = []struct {
	name, user string
	member     bool
	enter      func(m *match)
	headers    []threefctest.Header
}{
	{name: "nobody"},
	{name: "a stranger", user: "eve"},
	{name: "who is invited", user: "inv", enter: func(m *match) {
		m.SignIn("inv")
		m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "inv@example.com", "role": "viewer"})
	}},
	{name: "a removed member", user: "rem", enter: func(m *match) {
		m.SignIn("rem")
		m.Join(m.l, item.Viewer, "rem")
		m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID+"/access/rem", nil)
	}},
	{name: "a guest with a PIN", user: "guest", enter: func(m *match) {
		m.step("thirds/1/start")

		pin := decode[struct{ PIN string }](m, "ann", "PUT", "/v1/sessions/"+m.l.SessionID+"/scoring-pin", nil).PIN
		m.SetCookie("guest", m.Do("", "POST", "/v1/sessions/"+m.l.SessionID+"/scorers", map[string]any{"pin": pin}).Cookies[0])
	}, headers: []threefctest.Header{{Name: "scorer", Value: "pin"}}},
	{name: "a viewer", user: "vic", member: true},
	{name: "a scorekeeper", user: "sam", member: true},
	{name: "an administrator", user: "ann", member: true},
}

// entitled are the routes that answer a stranger of a private league by another right than a role: who has the
// right, "" for everybody who has the link.
var entitled = map[string]string{
	"show-member-calendar": "", // a signed link of a member
	"show-invitation-page": "who is invited",
	"submit-invitation":    "who is invited",
	"accept-invitation":    "who is invited",
}

// TestMatrixOfVisibility asks every route of the room in every role, of a public, an unlisted and a private
// league. Unlisted leagues answer as public ones. Private ones answer to members as public ones, and to everybody
// else as if there was nothing; public routes, whose answers caches keep, also to members. A new route fails until
// access_test.go has it.
func TestMatrixOfVisibility(t *testing.T) {
	t.Parallel()

	for _, role := range roles {
		t.Run(role.name, func(t *testing.T) {
			t.Parallel()

			var worlds [3]*match

			for i, v := range []item.Visibility{item.Public, item.Unlisted, item.Private} {
				m := club(t)
				m.Accounts()
				m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Evil"})

				if role.enter != nil {
					role.enter(m)
				}

				m.become(v)
				worlds[i] = m
			}

			of, left, auth := methods(), methods(), auths()
			all, unlisted, private := worlds[0].matrix(), worlds[1].matrix(), worlds[2].matrix()

			for i, r := range all {
				delete(left, r.fn)

				if role.user == "inv" && (r.fn == "submit-invitation" || r.fn == "accept-invitation") {
					continue // who accepts is a member
				}

				ask := func(m *match, r route) events.APIGatewayV2HTTPResponse {
					return m.Ask(role.user, of[r.fn], r.path, r.body, append(role.headers, r.headers...)...)
				}
				public := ask(worlds[0], r)

				same(t, r.fn+" of an unlisted league", code(ask(worlds[1], unlisted[i])), code(public))

				_, granted := entitled[r.fn]
				got := ask(worlds[2], private[i])

				mine := role.name == "a guest with a PIN" && r.least > anybody && code(public) != "403 league_access_required"
				if role.member && auth[r.fn] != spec.Public || mine || granted && (entitled[r.fn] == "" || entitled[r.fn] == role.name) {
					same(t, r.fn+" of a private league", code(got), code(public))
					continue
				}

				if nothing, leads := worlds[2].nothing(private[i]); leads {
					same(t, r.fn+" of a private league, as of nothing", worlds[2].told(got), worlds[2].told(ask(worlds[2], nothing)))
				}
			}

			for fn := range left {
				t.Errorf("the route %s is not in the matrix", fn)
			}
		})
	}
}

// auths are who may call the routes, by function.
func auths() map[string]spec.Auth {
	all := map[string]spec.Auth{}

	for _, f := range threefc.Room().Functions {
		if on, ok := f.On.(spec.Route); ok {
			all[strings.TrimPrefix(f.Name, "threefc/")] = on.Auth
		}
	}

	return all
}

// matrix is routes, with the code of a game, and the slug of the game that is there.
func (m *match) matrix() []route {
	code, slug := m.code(), m.read().Slug

	all := m.routes()
	for i := range all {
		all[i].path = strings.NewReplacer("AAAAAAAA", code, "2026-06-06-1", slug).Replace(all[i].path)
	}

	return all
}

// nobodys is an id of nothing.
const nobodys = "01JX0000000000000000000000"

// blank replaces what leads to the league, or to what it has.
func (m *match) blank() *strings.Replacer {
	all := []string{"/parkside", "/nowhere0", "parkside\"", "nowhere0\""}
	for _, id := range append([]string{m.l.ID, m.l.SeasonID, m.l.SessionID, m.id}, m.l.Players...) {
		all = append(all, id, nobodys)
	}

	for _, r := range everything(m.World) {
		if code, ok := strings.CutPrefix(r["pk"].(string), "JOIN#"); ok {
			all = append(all, code, "AAAAAAAA")
		}
	}

	return strings.NewReplacer(all...)
}

// nothing is a request like another that leads nowhere. leads is false if the other names nothing of the league.
func (m *match) nothing(r route) (nowhere route, leads bool) {
	text, ok := r.body.(string)
	if !ok && r.body != nil {
		encoded, err := json.Marshal(r.body)
		testkit.Must(m.T, err)

		text = string(encoded)
	}

	blank := m.blank()
	leads = blank.Replace(r.path) != r.path || blank.Replace(text) != text

	if r.path = blank.Replace(r.path); text != "" {
		r.body = blank.Replace(text)
	}

	return r, leads
}

// told is all that an answer tells, without what the request has told before.
func (m *match) told(out events.APIGatewayV2HTTPResponse) string {
	h := testkit.Header(out)
	h.Del("Etag") // of what differs in the ids of the request

	return m.blank().Replace(fmt.Sprint(out.StatusCode, " ", h, " ", out.Cookies, " ", out.Body))
}

// TestUnlistedPagesAreNotFound: by search engines, which also get no card to share. Others open them.
func TestUnlistedPagesAreNotFound(t *testing.T) {
	t.Parallel()
	m := club(t)
	page := "/l/parkside/spring-2026"
	pages := []string{"/l/parkside", page, page + "/" + m.read().Slug}

	check := func(v item.Visibility, hidden bool) {
		t.Helper()
		m.become(v)

		for _, target := range append(pages, page+"/calendar.ics") {
			out := m.Do("", "GET", target, nil)
			card := strings.Contains(out.Body, "og:title") || strings.Contains(out.Body, "application/ld+json") ||
				strings.Contains(out.Body, "canonical")
			meta := strings.Contains(out.Body, `<meta name="robots" content="noindex">`)
			header := testkit.Header(out).Get("X-Robots-Tag")

			if calendar := strings.HasSuffix(target, ".ics"); (header == "noindex") != hidden || !calendar && (meta != hidden || card == hidden) {
				t.Errorf("%s of a league that is %s: card %v, meta %v, X-Robots-Tag %q", target, v, card, meta, header)
			}
		}
	}

	check(item.Public, false)
	check(item.Unlisted, true)
	check(item.Public, false)
}

// TestMembersReadAPrivateLeague: on pages of their own, which no cache keeps, with a calendar for a phone that has
// no session, until the membership ends. A membership that begins anew does not revive the calendar.
func TestMembersReadAPrivateLeague(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.become(item.Private)

	slug := m.read().Slug
	for target, says := range map[string]string{
		"/members/parkside":                                          "Spring 2026",
		"/members/" + m.l.ID + "?season=spring-2026":                 "Ada",
		"/members/parkside?season=spring-2026&game=" + slug:          "Blue – Red – Yellow",
		"/members/parkside?season=" + m.l.SeasonID + "&game=" + m.id: "First third",
	} {
		m.show("vic", target, 200, says)
		m.show("eve", target, 404, "There is nothing here")
		m.show("", target, 200, "Sign in first")

		h := testkit.Header(m.Do("vic", "GET", target, nil))
		same(t, "the headers of "+target, []string{h.Get("Cache-Control"), h.Get("X-Robots-Tag")}, []string{"private, no-store", "noindex"})
		same(t, "the answer to strangers", testkit.Header(m.Ask("eve", "GET", target, nil)).Get("Cache-Control"), "no-store")
	}

	page := m.Do("vic", "GET", "/members/parkside?season=spring-2026", nil).Body
	for _, public := range []string{threefctest.API + "/l/", "og:", "canonical", "ld+json"} {
		if strings.Contains(page, public) {
			t.Errorf("the page for members has %q", public)
		}
	}

	got := decode[struct {
		Teams   []struct{ TeamID string }
		Players []struct{ Nickname string }
	}](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/tables", nil)
	if len(got.Teams) != 3 || len(got.Players) == 0 || got.Players[0].Nickname != "Cy" && got.Players[0].Nickname != "Ada" {
		t.Errorf("the tables are %+v", got)
	}

	calendar := m.calendar("vic")
	out := m.Do("", "GET", calendar, nil)
	same(t, "the cache of the calendar", testkit.Header(out).Get("Cache-Control"), "private, no-store")

	if !strings.Contains(strings.ReplaceAll(out.Body, "\r\n ", ""), strings.ToLower(m.id)+"@threefc") {
		t.Errorf("the calendar is %s", out.Body)
	}

	refused(t, "a ticket that was changed", m.Ask("", "GET", strings.Replace(calendar, "/calendars/", "/calendars/A", 1), nil), 401,
		"invalid_or_expired_link")
	m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID+"/access/vic", nil)
	refused(t, "after the membership", m.Ask("", "GET", calendar, nil), 401, "invalid_or_expired_link")
	m.show("vic", "/members/parkside", 404, "There is nothing here")
	m.pass(1e9)
	m.Join(m.l, item.Viewer, "vic")
	refused(t, "after another membership", m.Ask("", "GET", calendar, nil), 401, "invalid_or_expired_link")
	same(t, "a calendar in the browser", m.Ask("vic", "GET", "/calendars/me/games.ics?season="+m.l.SeasonID, nil).StatusCode, 200)
	refused(t, "that of a stranger", m.Ask("eve", "GET", "/calendars/me/games.ics?season="+m.l.SeasonID, nil), 401, "invalid_or_expired_link")
	refused(t, "that of nobody", m.Ask("", "GET", "/calendars/me/games.ics?season="+m.l.SeasonID, nil), 401, "invalid_or_expired_link")
	same(t, "a new calendar", m.Ask("", "GET", m.calendar("vic"), nil).StatusCode, 200)
}

// TestOldLeaguesArePublic: a row without a visibility, and answers say so.
func TestOldLeaguesArePublic(t *testing.T) {
	t.Parallel()
	m := club(t)
	row := testkit.Row[stored](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata)

	if strings.Contains(row["data"].(string), "visibility") {
		t.Fatalf("the row has a visibility: %v", row)
	}

	same(t, "the visibility", decode[struct{ Visibility string }](m, "vic", "GET", "/v1/leagues/"+m.l.ID, nil).Visibility, "public")
	same(t, "the page", m.Ask("", "GET", "/l/parkside", nil).StatusCode, 200)
	m.Do("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"visibility": "public"})
	same(t, "the row, which nothing has changed", testkit.Row[stored](m.World.World, tables.App, item.LeagueKey(m.l.ID), item.Metadata), row)
	refused(t, "another visibility", m.Ask("ann", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"visibility": "secret"}), 422, "invalid")
	refused(t, "a scorekeeper", m.Ask("sam", "PATCH", "/v1/leagues/"+m.l.ID, map[string]any{"visibility": "private"}), 403, "admin_required")
	same(t, "a private league from the start",
		decode[struct{ Visibility string }](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Mine", "visibility": "private"}).Visibility,
		"private")
}

// TestLinksOfAPrivateLeague: a signed link of a session and a PIN keep working for who has them. Members join by a
// code; a stranger's right code counts as a wrong one.
func TestLinksOfAPrivateLeague(t *testing.T) {
	t.Parallel()
	m := club(t)
	code := m.code()
	m.become(item.Private)

	m.show("", "/join/"+code, 404, "This code is unknown")
	m.show("vic", "/join/"+code, 200, "Join the game")
	refused(t, "a stranger", m.Ask("eve", "POST", "/v1/join/"+code, map[string]any{"nickname": "Eve"}), 404, "invalid_or_expired_code")
	m.Do("vic", "POST", "/v1/join/"+code, map[string]any{"nickname": "Vic"})

	guesses := 0

	for _, r := range everything(m.World) {
		if r["entityType"] == "WrongCodes" {
			guesses++
			same(t, "the count", strings.Contains(r["data"].(string), `"count":2`), true)
		}
	}

	same(t, "the counters", guesses, 1)

	// vic has a player now, and keeps the signed link of a reminder after the membership has ended by the user's own wish.
	meeting := strings.Split(m.tomorrow(), "/")[3]
	m.show("vic", "/sessions/"+meeting+"/me", 200, "Will you play")
	m.Do("vic", "DELETE", "/v1/leagues/"+m.l.ID+"/access/vic", nil)
	m.show("vic", "/sessions/"+meeting+"/me", 200, "Will you play")
	m.show("eve", "/sessions/"+meeting+"/me", 404, "There is nothing with this id")
}
