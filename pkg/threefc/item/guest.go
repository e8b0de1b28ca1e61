package item

import (
	"context"
	"strings"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/tables"
)

// Sort keys of a session.
const (
	PINKey     = "PIN"         // by which guests score its games
	PINGuesses = "PIN_GUESSES" // how many wrong ones were sent in an hour
)

// Partition keys of guests, and of callers who have sent a wrong PIN.
func GuestKey(id string) string        { return "GUEST#" + id }
func PINGuessKey(caller string) string { return "PIN_GUESS#" + caller }

// PIN is the PIN of a session. Its row expires with the session.
type PIN struct {
	ID     string `json:"pinId"` // another for each PIN, so that guests of one that was revoked have no right
	Code   string `json:"code"`
	Guests int    `json:"guestCount"`
}

// Guest is a phone whose user has no account, and scores the games of a session by its PIN.
type Guest struct {
	SessionID string
	PIN       string // the id of the PIN
	ID        string
}

const guests = "guest:"

// UserID returns the id of the guest in the place of a user's. Users' ids have no colon.
func (g Guest) UserID() string { return guests + g.SessionID + ":" + g.PIN + ":" + g.ID }

// guestOf returns the guest of a user id. ok is false for the id of a user.
func guestOf(userID string) (g Guest, ok bool) {
	rest, ok := strings.CutPrefix(userID, guests)
	if parts := strings.Split(rest, ":"); ok && len(parts) == 3 {
		return Guest{parts[0], parts[1], parts[2]}, true
	}

	return Guest{}, false
}

// check is CheckIn for a guest, whose role is Scorer in one session while its PIN is valid. The session of
// the guest's phone ends with the PIN, so that the time of its end is not checked here.
func (g Guest) check(ctx context.Context, db dynamo.DB, leagueID, sessionID string, least Role) (Role, error) {
	if g.SessionID != sessionID {
		return "", ErrAccess
	}

	row, ok, err := dynamo.Get[Row[PIN]](ctx, db, tables.GetPIN, SessionKey(sessionID), PINKey)

	switch {
	case err != nil:
		return "", err
	case !ok || row.V().ID != g.PIN:
		return "", ErrAccess
	case !Scorer.AtLeast(least):
		return "", tooLow(least)
	}

	if _, err := LeagueRow.Read(ctx, db, leagueID); err != nil { // it may be deleted
		return "", err
	}

	idem.Guard(ctx, leagueID+" "+string(least)+" "+sessionID)

	return Scorer, nil
}
