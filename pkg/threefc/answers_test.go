package threefc_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/sim/ses"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	ids "matchday/pkg/kit/code"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/tables"
)

// TestWhoWillPlay: who is in comes first, then who may be, then who is out, each in order of
// their names. Players of the league may read it, and strangers may not.
func TestWhoWillPlay(t *testing.T) {
	t.Parallel()
	m := club(t)
	day := m.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	path := "/v1/sessions/" + decode[struct{ SessionID string }](m, "sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions",
		map[string]any{"sessionDate": day}).SessionID + "/availability"

	type answers struct{ Players []notice.Answer }
	if got := decode[answers](m, "vic", "GET", path, nil); got.Players == nil || len(got.Players) != 0 {
		t.Errorf("before anybody has answered: %+v, want an empty list", got)
	}

	refused(t, "a stranger", m.Ask("eve", "GET", path, nil), 403, "league_access_required")

	names := map[string]string{}
	for _, r := range testkit.Rows[item.Row[item.Player]](m.World.World, tables.App) {
		names[r.V().ID] = r.V().Nickname
	}

	var want [3][]notice.Answer // by status

	order := []string{"in", "maybe", "out"}
	for i, user := range []string{"ann", "sam", "sue", "vic", "eve"} {
		id, status := m.l.Players[4-i], order[i%3]
		m.Do(user, "POST", "/v1/players/"+id+"/claim", m.coded())

		got := decode[notice.Answer](m, user, "PUT", path, map[string]any{"status": "maybe"})
		if diff := cmp.Diff(notice.Answer{PlayerID: id, Nickname: names[id], Status: "maybe"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}

		m.Do(user, "PUT", path, map[string]any{"status": status})
		want[i%3] = append(want[i%3], notice.Answer{PlayerID: id, Nickname: names[id], Status: status})
	}

	for i := range want {
		slices.SortFunc(want[i], func(a, b notice.Answer) int {
			if a.Nickname < b.Nickname {
				return -1
			}

			return 1
		})
	}

	for _, user := range []string{"vic", "eve"} {
		if diff := cmp.Diff(slices.Concat(want[:]...), decode[answers](m, user, "GET", path, nil).Players); diff != "" {
			t.Errorf("%s reads (-want +got):\n%s", user, diff)
		}
	}

	refused(t, "no such session", m.Ask("eve", "GET", "/v1/sessions/"+ids.NewID(m.Clock.Now())+"/availability", nil),
		404, "acl_scope_not_found")
}

// TestRefusedMail: an address that cannot get mails is logged without it, and its mail counts
// as sent.
func TestRefusedMail(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	m.Play("sam", m.id)
	id := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)
	m.Mail.Fail(ses.Rejected)

	for range 2 {
		testkit.Must(t, s.SendMail(m.NewContext(), notice.Mail{UserID: id, GameID: m.id}))
	}

	if got := m.Logs.Find(slog.LevelWarn, "a mail was refused"); len(got) != 1 || got[0]["user"] != id || got[0]["err"] == nil {
		t.Errorf("the log has %v, want the user and the reason, once", got)
	}

	if got := m.subjects(); len(got) != 0 {
		t.Errorf("it was mailed: %v", got)
	}

	testkit.Row[stored](m.World.World, tables.App, item.UserKey(id), "MAIL#"+m.id)
}

// TestMovedGoal: a goal of another minute has another key, and is the same goal: it was made
// when it was recorded, and changed now.
func TestMovedGoal(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.score("sam", m.goalOf(0, "blue"))

	goals := func() (all []item.Row[item.Goal]) {
		for _, r := range testkit.Rows[item.Row[item.Goal]](m.World.World, tables.App) {
			if r.EntityType == "Goal" {
				all = append(all, r)
			}
		}

		return all
	}
	was := goals()[0]

	m.pass(2 * time.Minute)
	moved := m.goalOf(0, "blue")
	moved.Minute = new(was.V().Minute + 1)
	m.Do("sam", "PATCH", m.path("goals", was.V().ID), moved)
	want := was
	want.V().Minute++

	want.SK, want.UpdatedAt = item.GoalKey(*want.V()), item.Format(m.Clock.Now())
	if diff := cmp.Diff([]item.Row[item.Goal]{want}, goals()); diff != "" {
		t.Errorf("goals (-want +got):\n%s", diff)
	}
}

// TestPageHasTheStateOfTheGame: before, in each third, in each break, and after the last.
func TestPageHasTheStateOfTheGame(t *testing.T) {
	t.Parallel()
	m := club(t)

	page := "/l/parkside/spring-2026/" + decode[struct{ Slug string }](m, "vic", "GET", m.path(), nil).Slug
	for _, c := range []struct{ step, want string }{
		{"thirds/1/start", "Live: the first third is being played."},
		{"thirds/1/finish", "Live: break after the first third."},
		{"thirds/2/start", "Live: the second third is being played."},
		{"thirds/2/finish", "Live: break after the second third."},
		{"thirds/3/start", "Live: the third third is being played."},
		{"thirds/3/finish", "Live: all thirds are played, the result is not final."},
	} {
		m.step(c.step)

		if body := m.Do("", "GET", page, nil).Body; !strings.Contains(body, c.want) {
			t.Errorf("after %s the page does not contain %q", c.step, c.want)
		}
	}
}

// TestFailedReadIsNoAnswer: a route that reads answers with an error if any of its calls fails.
func TestFailedReadIsNoAnswer(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.Do("vic", "PUT", "/v1/sessions/"+m.l.SessionID+"/availability", map[string]any{"status": "in"})
	page := "leagues/parkside/seasons/spring-2026/games/" + decode[struct{ Slug string }](m, "vic", "GET", m.path(), nil).Slug

	league, season, meeting := "/v1/leagues/"+m.l.ID, "/v1/seasons/"+m.l.SeasonID, "/v1/sessions/"+m.l.SessionID
	for user, targets := range map[string][]string{
		"ann": {league + "/access"},
		"vic": {
			"/v1/leagues", league, league + "/seasons", league + "/players", season, season + "/teams", season + "/sessions",
			meeting + "/games", meeting + "/availability",
			m.path(), m.path("goals"), m.path("roster"), m.path("audit"), "/v1/players/" + m.l.Players[0], "/v1/me/stats",
			"/v1/me/preferences", session,
		},
		"": {
			"/v1/public/" + page, "/v1/public/" + page + "/timeline", "/v1/public/seasons/" + m.l.SeasonID + "/standings",
			"/v1/public/seasons/" + m.l.SeasonID + "/leaderboards/players",
			"/l/parkside/spring-2026", "/l/parkside/spring-2026/calendar.ics", "/l/parkside/spring-2026/" + page[strings.LastIndex(page, "/")+1:],
		},
	} {
		for _, target := range targets {
			t.Run(user+target, func(t *testing.T) {
				dynamotest.CheckFailures(t, &m.IO, func() error { return testkit.Failed(m.Ask(user, "GET", target, nil)) })
			})
		}
	}
}

// TestFailedJoin: a caller who joins gets an error if any of the calls fails, and may try again.
func TestFailedJoin(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	path := "/v1/join/" + decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code

	for _, user := range []string{"", "vic", "eve"} {
		t.Run(user, func(t *testing.T) {
			dynamotest.CheckFailures(t, &m.IO, func() error {
				return testkit.Failed(m.Ask(user, "POST", path, map[string]any{"nickname": "Evie"}))
			})
		})
	}
}

// TestRepeatedJoin: who joins without an account, and sends the request again with its Idempotency-Key,
// is one player of the league.
func TestRepeatedJoin(t *testing.T) {
	t.Parallel()
	m := club(t)
	path := "/v1/join/" + decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	join := func(key, name string) events.APIGatewayV2HTTPResponse {
		return m.Ask("", "POST", path, map[string]any{"nickname": name}, threefctest.Key(key))
	}
	player := func(key string) string {
		return testkit.Decode[struct{ PlayerID string }](m.World.World, join(key, "Evie")).PlayerID
	}

	first := player("k")
	if again := player("k"); again != first {
		t.Errorf("the second request makes the player %s, want %s", again, first)
	}

	if other := player("l"); other == first {
		t.Errorf("another key has the same player")
	}

	refused(t, "another name", join("k", "Eve"), 409, "idempotency_conflict")
}
