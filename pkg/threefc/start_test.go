package threefc_test

import "testing"

// TestStartOfAGame: a start that the table could not hold is refused, not stored as another.
func TestStartOfAGame(t *testing.T) {
	t.Parallel()
	m := kickOff(t)

	session := m.read().SessionID
	for _, at := range []string{"9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00", "1999-12-31T23:59:59Z", "2101-01-01T00:00:00Z"} {
		refused(t, "a game at "+at, m.Ask("ann", "POST", "/v1/sessions/"+session+"/games", map[string]any{"gameStartTs": at, "thirdLength": 20}),
			422, "bad_start")
		refused(t, "the game moved to "+at, m.Ask("ann", "PATCH", "/v1/games/"+m.id, map[string]any{"gameStartTs": at}), 422, "bad_start")
	}
}
