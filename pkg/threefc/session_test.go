package threefc_test

import (
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	kit "matchday/pkg/kit/session"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// day is a day of a session.
const day = 24 * time.Hour

// TestSessionSlides: a session ends ten days after its last use, and 30 days after the sign-in.
func TestSessionSlides(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		used  []time.Duration // since the sign-in
		lasts time.Duration   // since the sign-in
	}{
		"unused":                {nil, 10 * day},
		"used at once":          {[]time.Duration{time.Hour}, 10 * day}, // a write for so little is not worth it
		"used after a day":      {[]time.Duration{day}, 11 * day},
		"used once a week":      {[]time.Duration{7 * day, 14 * day}, 24 * day},
		"used until the end":    {[]time.Duration{7 * day, 14 * day, 21 * day, 28 * day}, 30 * day},
		"used in the last hour": {[]time.Duration{10*day - time.Hour}, 20*day - time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := threefctest.New(t)
			w.Accounts()
			follow(w, "lena", ask(w, "lena@example.com"))

			begun := w.Clock.Now().Truncate(time.Second)
			for _, at := range c.used {
				w.MoveClock(begun.Add(at))
				w.Do("lena", "GET", session, nil)
			}

			w.MoveClock(begun.Add(c.lasts - time.Second))
			w.Do("lena", "GET", "/v1/leagues", nil)
			w.MoveClock(begun.Add(c.lasts))
			refused(t, "then", w.Ask("lena", "GET", "/v1/leagues", nil), 401, "invalid_session")
		})
	}
}

// TestRenewalOfASessionThatEnds: a renewal brings no session back, keeps the copy by which a deletion of the
// account finds it as long as the session, and lets a session that was stored for a day last longer.
func TestRenewalOfASessionThatEnds(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	token, id := kit.New()
	old := item.New(item.LoginKey(id), item.Metadata, "AuthSession",
		map[string]string{"userId": "lena", "email": "lena@example.com"}, w.Clock.Now())
	old.TTL = w.Clock.Now().Add(day).Unix()
	mirror := old
	mirror.PK, mirror.SK = item.UserKey("lena"), old.PK
	testkit.PutRows(w.World, tables.App, old, mirror)
	w.SetCookie("lena", signin.Cookie.FullName()+"="+token)

	w.MoveClock(w.Clock.Now().Add(12 * time.Hour))
	w.Do("lena", "GET", session, nil)

	want := threefctest.Noon.Add(12*time.Hour + 10*day).Unix()
	for _, key := range [][2]string{{item.LoginKey(id), item.Metadata}, {item.UserKey("lena"), item.LoginKey(id)}} {
		if got := testkit.Row[item.Row[map[string]string]](w.World, tables.App, key[0], key[1]); got.TTL != want {
			t.Errorf("%v lasts until %v, want %v", key, time.Unix(got.TTL, 0).UTC(), time.Unix(want, 0).UTC())
		}
	}

	w.Do("lena", "DELETE", session, nil)
	refused(t, "after the sign-out", w.Ask("lena", "GET", session, nil), 401, "invalid_session")

	if rows := everything(w); len(rows) != 0 {
		t.Errorf("after the sign-out the table has %v", rows)
	}
}
