package signin

import (
	"context"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// GuestHeader is the header of a request that a guest makes, "pin": a browser may have an account, too, and
// the cookies of both come with each request.
const GuestHeader = "scorer"

// guestCookie is the name of the cookie of a guest.
const guestCookie = "threefc_guest"

// Guests identifies the phones that score by a PIN.
func (b Base) Guests() session.Sessions {
	guests := b.Sessions
	guests.Cookie, guests.Bearer = session.Cookie{Name: guestCookie}, nil // a guest is a browser
	guests.Find = func(ctx context.Context, id string) (session.Session, bool, error) {
		row, ok, err := dynamo.Get[item.Row[login]](ctx, b.DB, tables.ResolveGuest, item.GuestKey(id), item.Metadata)
		return session.Session{UserID: row.V().UserID, Expires: time.Unix(row.TTL, 0)}, ok, err
	}

	return guests
}

// NewGuest returns the write that signs a guest in until a time, and the Set-Cookie header.
func NewGuest(g item.Guest, token string, until, now time.Time) (create dynamo.Write, cookie string) {
	row := item.New(item.GuestKey(session.ID(token)), item.Metadata, "Guest", login{UserID: g.UserID()}, now)
	row.TTL = until.Unix()

	return row.Create(), session.Cookie{Name: guestCookie, Lifetime: until.Sub(now)}.Set(token)
}
