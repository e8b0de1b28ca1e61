package threefc_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// byPIN is the header of a guest's requests.
var byPIN = threefctest.Header{Name: "scorer", Value: "pin"}

// pin returns the PIN of the session.
func (m *match) pin() string {
	m.T.Helper()

	return testkit.Decode[struct{ PIN string }](m.World.World,
		m.Do("ann", "PUT", "/v1/sessions/"+m.l.SessionID+"/scoring-pin", nil)).PIN
}

// enter sends a PIN of a session.
func (m *match) enter(sessionID, pin string) events.APIGatewayV2HTTPResponse {
	m.T.Helper()
	return m.Ask("", "POST", "/v1/sessions/"+sessionID+"/scorers", map[string]any{"pin": pin})
}

// guest makes a browser that of a guest of the session.
func (m *match) guest(browser string) {
	m.T.Helper()

	out := m.enter(m.l.SessionID, m.pin())
	if out.StatusCode != http.StatusCreated {
		m.T.Fatalf("the PIN: %d %s", out.StatusCode, out.Body)
	}

	m.SetCookie(browser, out.Cookies[0])
}

// TestGuestScoresAGame: who has the link of a session scores its games without an account.
func TestGuestScoresAGame(t *testing.T) {
	t.Parallel()
	m := club(t)

	page := testkit.Decode[struct {
		PIN, URL  string
		ExpiresAt time.Time
	}](m.World.World, m.Do("ann", "PUT", "/v1/sessions/"+m.l.SessionID+"/scoring-pin", nil))
	same(t, "the link", page.URL, threefctest.API+"/score/"+m.l.SessionID+"#"+page.PIN)
	same(t, "its end", page.ExpiresAt, time.Date(2026, 6, 8, 0, 0, 0, 0, time.UTC))
	same(t, "the PIN of a second request", m.pin(), page.PIN)

	out := m.enter(m.l.SessionID, strings.ToLower(page.PIN[:4])+"-"+page.PIN[4:])
	same(t, "the answer", out.StatusCode, http.StatusCreated)

	for _, part := range []string{"__Host-threefc_guest=", "HttpOnly", "Secure", "SameSite=Lax"} {
		if !strings.Contains(out.Cookies[0], part) {
			t.Errorf("the cookie %s has no %s", out.Cookies[0], part)
		}
	}

	m.SetCookie("gus", out.Cookies[0])
	m.Do("gus", "GET", "/v1/sessions/"+m.l.SessionID+"/games", nil, byPIN)
	m.Do("gus", "POST", m.path("thirds/1/start"), map[string]any{}, byPIN)
	m.pass(7 * time.Minute)

	key := threefctest.Key("tap")
	g := m.goalOf(0, "blue")
	first := m.Do("gus", "POST", m.path("goals"), g, byPIN, key)
	same(t, "the answer to the same tap", m.Do("gus", "POST", m.path("goals"), g, byPIN, key).Body, first.Body)
	m.Do("gus", "GET", m.path("roster"), nil, byPIN)
	m.Do("gus", "GET", m.path("goals"), nil, byPIN)
	m.consistent()

	refused(t, "a goal of another third", m.Ask("gus", "POST", m.path("goals"), goal{Third: 2, Scoring: "red", Conceding: "blue",
		Scorer: m.l.Players[0]}, byPIN), 409, "third_not_started")

	m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID+"/scoring-pin", nil)
	refused(t, "after the PIN was revoked", m.Ask("gus", "GET", m.path(), nil, byPIN), 403, "league_access_required")
	refused(t, "the tap again", m.Ask("gus", "POST", m.path("goals"), g, byPIN, key), 403, "league_access_required")
	refused(t, "the old PIN", m.enter(m.l.SessionID, page.PIN), 403, "invalid_or_expired_pin")

	if next := m.pin(); next == page.PIN {
		t.Errorf("the PIN after the revocation is the same: %s", next)
	}

	refused(t, "by the old PIN under a new one", m.Ask("gus", "GET", m.path(), nil, byPIN), 403, "league_access_required")
}

// TestGuestMayDoNothingElse: the row of the attack matrix of who has a PIN. A guest is refused by every
// function that is not for anybody, but for those that score the games of the session.
func TestGuestMayDoNothingElse(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.guest("gus")

	scoring := map[string]bool{
		"list-games": true, "get-game": true, "list-roster": true, "list-goals": true, "start-third": true, "finish-third": true,
		"finish-game": true, "create-goal": true, "update-goal": true, "delete-goal": true, "undo-goal": true,
		"undo-third": true, "list-proposals": true,
	}
	method := methods()

	for _, r := range m.routes() {
		if r.least == anybody {
			continue
		}

		out := m.Ask("gus", method[r.fn], r.path, r.body, append([]threefctest.Header{byPIN}, r.headers...)...)

		denied := out.StatusCode == http.StatusUnauthorized || out.StatusCode == http.StatusForbidden
		if denied == scoring[r.fn] {
			t.Errorf("%s as a guest: %s", r.fn, code(out))
		}

		if out := m.Ask("gus", method[r.fn], r.path, r.body, r.headers...); out.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s as a guest without the header: %s", r.fn, code(out))
		}
	}
}

// TestPINIsOfOneSession: a guest of a session has no right to another of the same league, nor after the end.
func TestPINIsOfOneSession(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.guest("gus")

	first, session := m.id, m.l.SessionID
	m.l.SessionID = testkit.Decode[struct{ SessionID string }](m.World.World,
		m.Do("ann", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-06-13"})).SessionID
	m.id = m.Schedule("ann", m.l)

	refused(t, "the games of another session", m.Ask("gus", "GET", "/v1/sessions/"+m.l.SessionID+"/games", nil, byPIN), 403,
		"league_access_required")
	refused(t, "a third of another session", m.Ask("gus", "POST", m.path("thirds/1/start"), map[string]any{}, byPIN), 403,
		"league_access_required")

	row := testkit.Row[item.Row[item.PIN]](m.World.World, tables.App, item.SessionKey(session), item.PINKey)
	refused(t, "a PIN of another session", m.enter(m.l.SessionID, row.V().Code), 403, "invalid_or_expired_pin")

	m.id = first
	m.MoveClock(time.Date(2026, 6, 7, 23, 59, 59, 0, time.UTC))
	m.Do("gus", "GET", m.path(), nil, byPIN)
	m.MoveClock(time.Date(2026, 6, 8, 0, 0, 0, 0, time.UTC))
	refused(t, "after the session", m.Ask("gus", "GET", m.path(), nil, byPIN), 401, "invalid_session")
	refused(t, "a PIN of a session that is over", m.Ask("ann", "PUT", "/v1/sessions/"+session+"/scoring-pin", nil), 409, "session_over")
}

// TestPINsAreLimited: wrong PINs are counted by asker and by session, and then a right one is refused, too.
func TestPINsAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	pin := m.pin()

	for i := range 20 {
		refused(t, fmt.Sprintf("guess %d", i), m.enter(m.l.SessionID, "GUESSED0"), 403, "invalid_or_expired_pin")
	}

	refused(t, "the right one after 20 guesses", m.enter(m.l.SessionID, pin), 429, "too_many_pins")
	refused(t, "of a session that does not exist", m.enter("01JX0000000000000000009999", pin), 429, "too_many_pins")

	for caller := range 9 {
		m.Caller = fmt.Sprintf("198.51.100.%d", caller+1)
		same(t, "the right one of another caller", m.enter(m.l.SessionID, pin).StatusCode, http.StatusCreated)

		for i := range 20 {
			refused(t, fmt.Sprintf("guess %d of %s", i, m.Caller), m.enter(m.l.SessionID, "GUESSED0"), 403, "invalid_or_expired_pin")
		}
	}

	m.Caller = "198.51.100.99"
	refused(t, "the right one after 200 guesses of ten callers", m.enter(m.l.SessionID, pin), 429, "too_many_pins_of_session")
	m.pass(time.Hour)
	same(t, "an hour later", m.enter(m.l.SessionID, pin).StatusCode, http.StatusCreated)
}

// TestPhonesOfAPINAreLimited: the bearer of a PIN writes no more rows than a session has phones.
func TestPhonesOfAPINAreLimited(t *testing.T) {
	t.Parallel()
	m := club(t)
	pin := m.pin()

	for range 50 {
		same(t, "a phone", m.enter(m.l.SessionID, pin).StatusCode, http.StatusCreated)
	}

	refused(t, "one more", m.enter(m.l.SessionID, pin), 409, "too_many_guests")
}
