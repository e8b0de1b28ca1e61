package threefc_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/player"
)

// TestAvatarIsOneEmoji: whatever it is made of, and nothing else.
func TestAvatarIsOneEmoji(t *testing.T) {
	t.Parallel()
	m := club(t)
	for avatar, want := range map[string]string{
		"🦊": "201", "⚽": "201", "❤️": "201", "👍🏽": "201", "👨‍👩‍👧‍👦": "201", "👩🏽‍❤️‍💋‍👨🏿": "201", "🏳️‍🌈": "201", "🇮🇪": "201", "🏴󠁧󠁢󠁥󠁮󠁧󠁿": "201", "7️⃣": "201",
		"<b>": "422", "A": "422", "Foxy": "422", "7": "422", "好": "422", "한": "422", "🦊🦊": "422", "🦊 ": "422", " ": "422", "": "422", "🦊x": "422", "™": "422",
		"\u200b": "422", "\ufe0f": "422", "\u202e🦊": "422", "🦊" + strings.Repeat("\u0301", 5): "422", strings.Repeat("👩‍", 9) + "👩": "422",
	} {
		out := m.Ask("sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Foxy", "avatar": avatar})
		if got := code(out)[:3]; got != want {
			t.Errorf("%+q: %s %s, want %s", avatar, got, out.Body, want)
		}
		if want == "422" {
			if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.avatar"); err != nil {
				t.Errorf("%+q: %v", avatar, err)
			}
		} else if got := testkit.Decode[player.Player](m.World.World, out).Avatar; got != avatar {
			t.Errorf("%+q became %+q", avatar, got)
		}
	}
}

// TestBadAvatarOfAPlayer: a change is checked like a new player.
func TestBadAvatarOfAPlayer(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/players/" + m.l.Players[0]
	out := m.Ask("sam", "PATCH", path, map[string]any{"avatar": "Foxy", "nickname": "Foxy"})
	refused(t, "a word", out, http.StatusUnprocessableEntity, "bad_avatar")
	if err := testkit.CheckProblemField(out, http.StatusUnprocessableEntity, "body.avatar"); err != nil {
		t.Error(err)
	}
	same(t, "the name", decode[player.Player](m, "sam", "GET", path, nil).Nickname, "Ada")
}

// TestEmptyTextsClear: what is optional goes by an empty text, and stays if it is left out.
func TestEmptyTextsClear(t *testing.T) {
	t.Parallel()
	m := club(t)
	where := func(body map[string]any) string {
		return testkit.Decode[game.Game](m.World.World, m.Do("sam", "PATCH", m.path(), body)).Location
	}
	same(t, "the place", []string{where(map[string]any{"location": "Pitch 2"}), where(map[string]any{"thirdLength": 25}), where(map[string]any{"location": ""})}, []string{"Pitch 2", "Pitch 2", ""})
	avatar := func(body map[string]any) string {
		return testkit.Decode[player.Player](m.World.World, m.Do("sam", "PATCH", "/v1/players/"+m.l.Players[0], body)).Avatar
	}
	same(t, "the avatar", []string{avatar(map[string]any{"avatar": "🦊"}), avatar(map[string]any{"nickname": "Ace"}), avatar(map[string]any{"avatar": ""})}, []string{"🦊", "🦊", ""})
	refused(t, "a place of spaces", m.Ask("sam", "PATCH", m.path(), map[string]any{"location": "  "}), 422, "invalid")
}

// TestChangeOfAFinishedGame says how an administrator makes it.
func TestChangeOfAFinishedGame(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.Play("sam", m.id)
	out := m.Ask("ann", "PATCH", m.path(), map[string]any{"location": "Pitch 2"})
	refused(t, "the change", out, 409, "game_finished")
	if !strings.Contains(out.Body, "reopen it") {
		t.Errorf("the answer does not say what to do: %s", out.Body)
	}
}

// TestTimeZoneIsAPlace: a name of the database of time zones, not of another file beside it.
func TestTimeZoneIsAPlace(t *testing.T) {
	t.Parallel()
	m := club(t)
	for zone, want := range map[string]string{
		"Europe/London": "200", "America/Argentina/Buenos_Aires": "200", "UTC": "200", "GMT": "200", "Etc/GMT+5": "200", "Singapore": "200",
		"posixrules": "422 unknown_time_zone", "localtime": "422 unknown_time_zone", "leapseconds": "422 unknown_time_zone", "Factory": "422 unknown_time_zone", "Local": "422 unknown_time_zone",
		"posix/Europe/London": "422 unknown_time_zone", "right/Europe/London": "422 unknown_time_zone", "../etc/localtime": "422 unknown_time_zone", "Atlantis": "422 unknown_time_zone",
	} {
		if got := code(m.Ask("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": zone})); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
}

// TestKeyIsFreeAfterADay: until then a key is that of one request, and its answer stays.
func TestKeyIsFreeAfterADay(t *testing.T) {
	t.Parallel()
	m := club(t)
	league := func(name string) string {
		out := m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": name}, threefctest.Key("K"))
		if out.StatusCode >= 300 {
			return code(out)
		}
		return testkit.Decode[named](m.World.World, out).LeagueID
	}
	first := league("First")
	begun := m.Clock.Now()
	at := func(d time.Duration, name string) string {
		m.MoveClock(begun.Add(d))
		m.SignIn("eve")
		return league(name)
	}
	same(t, "a second before", []string{at(idem.Lifetime-time.Second, "First"), league("Second")}, []string{first, "409 idempotency_conflict"})
	second := at(idem.Lifetime, "Second")
	if second == first || strings.HasPrefix(second, "409") {
		t.Errorf("a day later the answer is %s, want another league", second)
	}
	same(t, "again", league("Second"), second)
	same(t, "a day after the second", []string{at(2*idem.Lifetime-time.Second, "Second")}, []string{second})
}

// TestRepeatedRequestOfARemovedMember: who has lost the right to a request does not get its
// stored answer.
func TestRepeatedRequestOfARemovedMember(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	requests := []struct {
		user, method, path string
		body               any
	}{
		{"sam", "POST", m.path("goals"), m.goalOf(0, "blue")},
		{"sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Jo"}},
		{"sam", "POST", m.path("join-code"), nil},
		{"sam", "POST", "/v1/seasons/" + m.l.SeasonID + "/sessions", map[string]any{"sessionDate": "2026-06-13"}},
	}
	repeat := func() (got []string) {
		for _, r := range requests {
			got = append(got, code(m.Ask(r.user, r.method, r.path, r.body, threefctest.Key("K"))))
		}
		return got
	}
	same(t, "as a scorekeeper", append(repeat(), repeat()...), []string{"201", "201", "201", "201", "201", "201", "201", "201"})
	m.Do("ann", "PUT", "/v1/leagues/"+m.l.ID+"/access/sam", map[string]any{"role": "viewer"})
	const viewer, stranger = "403 scorekeeper_required", "403 league_access_required"
	same(t, "as a viewer", repeat(), []string{viewer, viewer, viewer, viewer})
	m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID+"/access/sam", nil)
	same(t, "as a stranger", repeat(), []string{stranger, stranger, stranger, stranger})
	m.Join(m.l, "scorekeeper", "sam")
	same(t, "as a scorekeeper again", repeat(), []string{"201", "201", "201", "201"})
	same(t, "the goals", len(m.goals()), 1)
}
