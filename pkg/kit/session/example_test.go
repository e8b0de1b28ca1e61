package session_test

import (
	"context"
	"fmt"
	"time"

	"matchday/pkg/kit/session"
)

// A service embeds Sessions, so that its routes for callers with a session know the user.
func Example() {
	table := map[string]session.Session{}
	sessions := session.Sessions{
		Cookie: session.Cookie{Name: "club_session", Lifetime: 30 * 24 * time.Hour}, Origins: []string{"https://app.example.com"}, Now: time.Now,
		Find: func(_ context.Context, id string) (session.Session, bool, error) {
			s, ok := table[id]
			return s, ok, nil
		},
	}

	// The sign-in: the token goes into the cookie, its id into the table.
	token, id := session.New()
	table[id] = session.Session{UserID: "ann", Expires: time.Now().Add(sessions.Cookie.Lifetime)}

	user, err := sessions.Identify(context.Background(), request("POST", "https://app.example.com", "__Host-club_session="+token))
	fmt.Println(user, err)
	_, err = sessions.Identify(context.Background(), request("POST", "https://evil.example", "__Host-club_session="+token))
	fmt.Println(err)
	// Output:
	// ann <nil>
	// this request must come from a page of the app
}
