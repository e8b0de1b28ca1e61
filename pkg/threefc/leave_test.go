package threefc_test

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"matchday/pkg/threefc/player"
)

// pool are the names in the pool of the game.
func (m *match) pool() (all []string) {
	m.T.Helper()

	for _, p := range decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players {
		all = append(all, p.Nickname)
	}

	slices.Sort(all)

	return all
}

// leaving is the ticket of a page that says who has joined.
func leaving(page string) string {
	return regexp.MustCompile(`name="leave" value="([A-Za-z0-9_-]+)"`).FindStringSubmatch(page)[1]
}

// TestPhoneLeavesThePool: whoever has joined leaves again with the page that said so, without an account, for a day.
func TestPhoneLeavesThePool(t *testing.T) {
	t.Parallel()
	m := club(t)
	page := "/join/" + m.code()

	var tickets []string

	for _, name := range []string{"Foxy", "Wolfie"} {
		out := m.send("", page, url.Values{"key": {name}, "nickname": {name}}, 200, "I do not come after all")
		tickets = append(tickets, leaving(out.Body))
	}

	same(t, "the pool", m.pool(), []string{"Foxy", "Wolfie"})
	m.send("", page, url.Values{"key": {"Foxy"}, "leave": {tickets[0] + "A"}}, 401, "This link is incomplete")

	for range 2 {
		m.send("", page, url.Values{"key": {"Foxy"}, "leave": {tickets[0]}}, 200, "You are out")
		same(t, "after one has left", m.pool(), []string{"Wolfie"})
	}

	m.send("", page, url.Values{"key": {"another"}, "nickname": {"Foxy"}}, 200, "You play as Foxy")
	same(t, "after joining again", m.pool(), []string{"Foxy", "Wolfie"})
	m.pass(24*time.Hour + time.Second)
	m.send("", page, url.Values{"key": {"Wolfie"}, "leave": {tickets[1]}}, 401, "no longer valid")
}

// TestFormOfWhoHasLeft: a form that is sent again after its sender has left does not say that the sender is in. It shows
// the form with another key. Whoever is in a team is in.
func TestFormOfWhoHasLeft(t *testing.T) {
	t.Parallel()

	for _, user := range []string{"", "eve"} {
		t.Run("of "+cmp.Or(user, "nobody"), func(t *testing.T) {
			t.Parallel()

			m := club(t)
			page, sent := "/join/"+m.code(), url.Values{"key": {"K"}, "nickname": {"Foxy"}}
			key := regexp.MustCompile(`name="key" value="([^"]+)"`)

			ticket := leaving(m.send(user, page, sent, 200, "You are in").Body)
			m.send(user, page, sent, 200, "You are in")
			m.send(user, page, url.Values{"key": {"K"}, "leave": {ticket}}, 200, "You are out")

			out := m.send(user, page, sent, 422, "You have left this game.")
			same(t, "after the form of before", m.pool(), []string(nil))

			sent.Set("key", key.FindStringSubmatch(out.Body)[1])

			ticket = leaving(m.send(user, page, sent, 200, "You play as Foxy.").Body)
			same(t, "after the form with another key", m.pool(), []string{"Foxy"})

			id := decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players[0].PlayerID
			m.Do("sam", "PUT", m.path("roster", id), map[string]any{"teamId": "red"})
			m.send(user, page, url.Values{"key": {"K"}, "leave": {ticket}}, 200, "You are out")
			m.send(user, page, sent, 200, "You are in")
		})
	}
}

// TestLeavePool: a scorekeeper takes anybody out of the pool, and a user the own player, also one who is no member.
func TestLeavePool(t *testing.T) {
	t.Parallel()
	m := club(t)
	code := m.code()
	mine := m.joinAs("eve", code, "Evie")
	other := m.joinAs("", code, "Foxy")

	leave := func(user, id string) string {
		out := m.Ask(user, "DELETE", m.path("pool", id), nil)
		if out.StatusCode == 204 {
			return "204"
		}

		return fmt.Sprint(out.StatusCode, " ", out.Body)
	}

	for _, user := range []string{"eve", "vic"} {
		if got := leave(user, other); got[:3] != "403" {
			t.Errorf("%s takes another out: %s", user, got)
		}
	}

	same(t, "the pool", m.pool(), []string{"Evie", "Foxy"})

	for range 2 {
		same(t, "the own player", leave("eve", mine), "204")
		same(t, "the pool", m.pool(), []string{"Foxy"})
	}

	same(t, "by a scorekeeper", leave("sam", other), "204")
	same(t, "nobody is left", m.pool(), []string(nil))
}

// joinAs joins the game of a code as a user, and returns the id of the player.
func (m *match) joinAs(user, code, name string) string {
	m.T.Helper()
	return decode[struct{ PlayerID string }](m, user, "POST", "/v1/join/"+code, map[string]any{"nickname": name}).PlayerID
}
