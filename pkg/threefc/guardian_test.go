package threefc_test

import (
	"net/url"
	"strings"
	"testing"

	"matchday/infra/testkit"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/tables"
)

// TestGuardian: a user claims players for others, whose mails the user gets, and answers for each, and for the own
// player by default. The mail has a link for each. The guardian ends with the claim.
func TestGuardian(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena() // has claimed Ada, as herself
	bo, cy := m.l.Players[1], m.l.Players[2]

	for _, id := range []string{bo, cy} {
		body := m.coded()
		body["relation"] = "guardian"
		m.Do("lena", "POST", "/v1/players/"+id+"/claim", body)
	}

	relation := func(id string) string { return decode[player.Player](m, "sam", "GET", "/v1/players/"+id, nil).Relation }
	same(t, "the relations", []string{relation(m.l.Players[0]), relation(bo), relation(m.l.Players[5])}, []string{"self", "guardian", ""})

	if row := testkit.Row[stored](m.World.World, tables.App, item.PlayerKey(m.l.Players[0]), item.Profile); strings.Contains(row["data"].(string),
		"guardian") {
		t.Errorf("a row without a guardian has one, unlike old rows: %v", row)
	}

	path := m.tomorrow()
	meeting := strings.Split(path, "/")[3]
	m.Do("lena", "PUT", path, map[string]any{"status": "in"})
	m.Do("lena", "PUT", path, map[string]any{"status": "out", "playerId": bo})
	same(t, "who will play", m.said(path), []string{"Ada in", "Bo out"})
	refused(t, "for the player of somebody else", m.Ask("lena", "PUT", path, map[string]any{"status": "in", "playerId": m.l.Players[5]}), 409,
		"player_needed")

	page := m.show("lena", "/sessions/"+meeting+"/me", 200, "Answer for Cy")
	if !strings.Contains(page, "You answer as <b>Ada</b>") || strings.Contains(page, "Answer for Ada") {
		t.Errorf("the page is %s", page)
	}

	same(t, "the mails, because nobody has answered for Cy", m.remind(), 1)

	box := m.Mail.Mailbox("lena@example.com")
	text := box[len(box)-1].Text

	for _, want := range []string{"whether you will play", "whether “Bo” will play", "whether “Cy” will play"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("the mail has %q not once: %s", want, text)
		}
	}

	links := link.FindAllString(text, -1)
	same(t, "the links", len(links), 4)
	m.show("", strings.TrimPrefix(links[2], "https://api.test/threefc"), 200, "You answer as <b>Cy</b>")

	m.Do("lena", "DELETE", "/v1/players/"+bo+"/claim", nil)
	same(t, "after the claim", relation(bo), "")
	m.Do("ann", "DELETE", "/v1/players/"+cy+"/claim", nil)
	m.Do("vic", "POST", "/v1/players/"+cy+"/claim", nil)
	same(t, "of the next claim", relation(cy), "self")
}

// TestGuardianWhoHasAnswered: for each of the players is not asked again.
func TestGuardianWhoHasAnswered(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()
	m.Do("lena", "DELETE", "/v1/players/"+m.l.Players[0]+"/claim", nil)

	body := m.coded()
	body["relation"] = "guardian"
	m.Do("lena", "POST", "/v1/players/"+m.l.Players[1]+"/claim", body)

	path := m.tomorrow()
	m.Do("lena", "PUT", path, map[string]any{"status": "in"})
	same(t, "the mails", m.remind(), 0)
}

// TestGuardianByThePageOfACode: who has the code of a game claims a child in a browser, whether or not the guardian
// has a player, and may do so for several.
func TestGuardianByThePageOfACode(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena() // has claimed Ada, as herself

	code := "/join/" + m.code()
	relation := func(id string) string { return decode[player.Player](m, "sam", "GET", "/v1/players/"+id, nil).Relation }

	m.show("lena", code, 200, "?child=true")

	if page := m.show("", code+"?child=true", 200, "Join the game"); strings.Contains(page, `name="child"`) {
		t.Error("a visitor who is not signed in can choose a child")
	}

	for _, id := range m.l.Players[1:3] {
		page := m.show("lena", code+"?child=true", 200, "The name of your child")
		if strings.Contains(page, ">Ada<") || strings.Contains(page, `name="nickname"`) || !strings.Contains(page, id) {
			t.Errorf("the page is %s", page)
		}

		form := url.Values{"key": {m.key(page)}, "child": {id}}
		m.send("", code, form, 200, "Sign in to say who you are.")

		for range 2 {
			m.send("lena", code, form, 200, "You answer for ")
			same(t, "the relation", relation(id), "guardian")
		}

		m.send("eve", code, form, 409, "claimed")
	}

	same(t, "the pool", decode[struct{ Players []any }](m, "sam", "GET", m.path("pool"), nil).Players, []any{})
	same(t, "the own player", relation(m.l.Players[0]), "self")
}
