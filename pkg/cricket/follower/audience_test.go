package follower_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"matchday/infra/rooms/cricket/crickettest"
	"matchday/infra/testkit"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
)

// TestAudience: a follow of the match counts more than a subscription, a team more than the league.
func TestAudience(t *testing.T) {
	t.Parallel()
	w := withSubjects(t, 0)
	f := w.AddFixture("7")
	now := w.Clock.Now()

	subscribe := func(subject follower.Subject, users ...string) {
		for _, user := range users {
			testkit.PutRows(w.World, tables.Subscribers, follower.SubscriptionRow{
				Subject: subject, UserID: user, Overrides: &follower.Overrides{KeyEventsOnly: new(subject.Kind() == follower.League)},
			})
		}
	}
	follow := func(row follower.FollowRow, expires time.Duration) {
		row.MatchID, row.ExpiresAt = "7", now.Add(expires).Unix()
		testkit.PutRows(w.World, tables.Follows, row)
	}
	user := func(id string) follower.Follow { return follower.Follow{UserID: id} }

	subscribe("league/3", "all", "both and league", "follows", "league", "off")
	subscribe("team/11", "all", "both", "both and league", "follows", "home and expired", "home")
	subscribe("team/12", "all", "both", "both and league", "away")
	subscribe("team/13", "another")
	follow(follower.FollowRow{Follow: user("all"), TeamID: "12", Overrides: &follower.Overrides{SpoilerFree: new(true)}}, time.Hour)
	follow(follower.FollowRow{Follow: user("follows")}, time.Hour)
	follow(follower.FollowRow{Follow: user("home and expired"), TeamID: "12"}, 0)
	follow(follower.FollowRow{Follow: user("expired")}, 0)
	follow(follower.FollowRow{Follow: user("off"), Off: true}, time.Hour)

	members, more, err := follower.ReadAudience(t.Context(), w.DB(), f, activity.IDRange{}.Query, 100, now)
	if err != nil || more {
		t.Fatalf("more %v, %v", more, err)
	}

	var got []string

	for _, m := range members {
		p := m.Preferences(follower.Preferences{})
		got = append(got, fmt.Sprintf("%s: team %q, subscribed %v, off %v, key events %v, no spoilers %v",
			m.UserID, m.TeamID, m.Subscribed, m.Off, p.KeyEventsOnly, p.SpoilerFree))
	}

	want := []string{
		`all: team "12", subscribed false, off false, key events false, no spoilers true`,
		`away: team "12", subscribed true, off false, key events false, no spoilers false`,
		`both: team "", subscribed true, off false, key events false, no spoilers false`,
		`both and league: team "", subscribed true, off false, key events false, no spoilers false`,
		`follows: team "", subscribed false, off false, key events false, no spoilers false`,
		`home: team "11", subscribed true, off false, key events false, no spoilers false`,
		`home and expired: team "11", subscribed true, off false, key events false, no spoilers false`,
		`league: team "", subscribed true, off false, key events true, no spoilers false`,
		`off: team "", subscribed false, off true, key events true, no spoilers false`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audience (-want +got):\n%s", diff)
	}
}

// TestAudienceInPages: pages of any size have each member once, in order, whatever each of the four queries has.
func TestAudienceInPages(t *testing.T) {
	t.Parallel()
	w := crickettest.New(t)
	runs := 0

	rapid.Check(t, func(rt *rapid.T) {
		runs++
		f := match.Fixture{MatchID: fmt.Sprint(1000 + runs), LeagueID: fmt.Sprint("3", runs), LocalTeamID: fmt.Sprint("1", runs),
			VisitorTeamID: fmt.Sprint("2", runs)}
		now := w.Clock.Now()

		var want []string

		for i := range 12 {
			id := fmt.Sprintf("%02d", i)
			in := rapid.IntRange(0, 15).Draw(rt, "of user "+id)

			for bit, subject := range []string{"league/" + f.LeagueID, "team/" + f.LocalTeamID, "team/" + f.VisitorTeamID} {
				if in&(1<<bit) != 0 {
					testkit.PutRows(w.World, tables.Subscribers, follower.SubscriptionRow{Subject: follower.Subject(subject), UserID: id})
				}
			}

			if in&8 != 0 {
				testkit.PutRows(w.World, tables.Follows, follower.FollowRow{
					Follow: follower.Follow{MatchID: f.MatchID, UserID: id}, ExpiresAt: now.Add(time.Hour).Unix(),
				})
			}

			if in != 0 {
				want = append(want, id)
			}
		}

		users := activity.IDRange{
			From:  rapid.SampledFrom([]string{"", "02"}).Draw(rt, "from"),
			Until: rapid.SampledFrom([]string{"", "09"}).Draw(rt, "until"),
		}
		want = slices.DeleteFunc(want, func(id string) bool { return id <= users.From || users.Until != "" && id > users.Until })
		limit := int32(rapid.IntRange(1, 13).Draw(rt, "limit"))

		last, err := follower.LastOfAudience(t.Context(), w.DB(), f, activity.IDRange{Until: users.Until}.Query)
		if err != nil || len(want) > 0 && last != want[len(want)-1] {
			rt.Errorf("last member %q, %v; want %q", last, err, want)
		}

		var got []string

		for more := true; more; {
			var members []follower.Member

			members, more, err = follower.ReadAudience(t.Context(), w.DB(), f, users.Query, limit, now)
			if err != nil || len(members) > int(limit) || more && len(members) == 0 {
				rt.Fatalf("%d members, more %v, %v; limit %d", len(members), more, err, limit)
			}

			for _, m := range members {
				got = append(got, m.UserID)
				users.From = m.UserID
			}
		}

		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("members (-want +got):\n%s", diff)
		}
	})
}
