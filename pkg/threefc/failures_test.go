package threefc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// TestFailedWriteIsNoAnswer: a request that writes fails if any of its calls does, whatever it
// has done before, and succeeds if it is sent again. The message to the job that computes the
// tables may be lost: the sweep of the outbox sends it again.
func TestFailedWriteIsNoAnswer(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()

	var last events.APIGatewayV2HTTPResponse

	spared := func(path string) []string {
		if strings.HasPrefix(path, "/v1/games/") {
			return []string{"SendMessage*"}
		}

		return nil
	}
	do := func(user, method, path string, body any, headers ...threefctest.Header) {
		t.Helper()
		t.Run(method+path, func(t *testing.T) {
			t.Helper()
			dynamotest.CheckFailures(t, &m.IO, func() error {
				last = m.Ask(user, method, path, body, headers...)
				return testkit.Failed(last)
			}, spared(path)...)

			if last.StatusCode >= 300 && (method != "DELETE" || last.StatusCode != 404) { // it was deleted before its last call failed
				t.Fatalf("in the end: %d %s", last.StatusCode, last.Body)
			}

			if got := testkit.Header(last).Get("Cache-Control"); last.StatusCode < 300 && got != "no-store" {
				t.Errorf("Cache-Control is %q, want no-store", got)
			}
		})
	}
	id := func(name string) string { return testkit.Decode[map[string]any](m.World.World, last)[name].(string) }

	type object = map[string]any

	l, season, meeting := "/v1/leagues/"+m.l.ID, "/v1/seasons/"+m.l.SeasonID, "/v1/sessions/"+m.l.SessionID

	do("", "POST", startLink, object{"email": "lena@example.com"})
	do("", "POST", followLink, object{"token": ask(m.World, "lena@example.com")})
	m.SetCookie("lena", last.Cookies[0])
	do("lena", "PUT", "/v1/me/preferences", object{"reminders": true, "finishedGames": true})
	do("lena", "DELETE", session, nil)

	do("eve", "POST", "/v1/leagues", object{"name": "Eve's"})
	do("eve", "DELETE", "/v1/leagues/"+id("leagueId"), nil)
	do("ann", "PATCH", l, object{"slug": "park"})
	do("ann", "PUT", l+"/access/sue", object{"role": "viewer"})
	do("ann", "DELETE", l+"/access/sue", nil)

	do("ann", "POST", l+"/seasons", object{"name": "Autumn"})
	do("ann", "PATCH", season, object{"slug": "spring"})
	do("ann", "POST", season+"/copy", object{"name": "Winter"})
	do("ann", "DELETE", "/v1/seasons/"+id("seasonId"), nil)
	do("ann", "PUT", season+"/teams/green", object{"name": "Green", "color": "#00ff00"})
	do("ann", "PUT", season+"/teams/red", object{"name": "Reds"})
	do("ann", "DELETE", season+"/teams/green", nil)

	do("sam", "POST", "/v1/players", object{"leagueId": m.l.ID, "nickname": "Jo"})

	jo := "/v1/players/" + id("playerId")
	do("sam", "PATCH", jo, object{"nickname": "Joe"})
	do("vic", "POST", jo+"/claim", nil)
	do("vic", "PUT", meeting+"/availability", object{"status": "in"})
	do("sam", "POST", season+"/sessions", object{"sessionDate": "2026-06-13"})

	other := "/v1/sessions/" + id("sessionId")
	m.Do("vic", "PUT", other+"/availability", object{"status": "out"})
	do("ann", "DELETE", other, nil)
	do("ann", "DELETE", jo+"/claim", nil)
	do("ann", "DELETE", jo, nil)
	do("ann", "POST", "/v1/players/"+m.l.Players[8]+"/merge", object{"intoPlayerId": m.l.Players[7]})
	do("sam", "DELETE", m.path("join-code"), nil)
	do("sam", "POST", m.path("join-code"), nil)
	do("", "GET", "/v1/join/"+id("code")+"/qr.png", nil)
	do("", "POST", "/v1/join/"+m.code(), object{"nickname": "Evie"})
	do("sam", "GET", m.path("pool"), nil)

	do("sam", "POST", meeting+"/games", object{
		"gameStartTs": "2026-06-06T19:00:00Z",
		"thirdLength": 20,
		"teamIds":     []string{"red", "blue", "yellow"},
	})
	do("ann", "DELETE", "/v1/games/"+id("gameId"), nil)
	do("sam", "PATCH", m.path(), object{"teamIds": []string{"red", "blue", "yellow"}})
	do("sam", "PUT", m.path("roster", m.l.Players[0]), object{"teamId": "blue"})
	do("sam", "DELETE", m.path("roster", m.l.Players[0]), nil)
	do("sam", "POST", m.path("thirds/1/start"), object{})
	g := m.goalOf(3, "red")
	g.EventID = m.eventID()
	do("sam", "POST", m.path("goals"), g)
	do("sam", "PATCH", m.path("goals", g.EventID), m.goalOf(4, "red"))
	do("sam", "POST", m.path("goals/undo"), nil, threefctest.Match(last))
	do("sam", "POST", m.path("goals"), m.goalOf(4, "red"))
	do("ann", "DELETE", m.path("goals", m.goals()[0].EventID), nil)
	do("sam", "POST", m.path("thirds/1/finish"), object{})
	m.step("thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish")
	do("sam", "POST", m.path("finish"), nil)
	do("ann", "POST", m.path("reopen"), nil)
	m.mirrored("at the end")
}

// TestFailedGuess: a wrong code that cannot be counted is not answered, so that nobody guesses
// while the table is slow.
func TestFailedGuess(t *testing.T) {
	t.Parallel()
	m := club(t)

	var last events.APIGatewayV2HTTPResponse

	dynamotest.CheckFailures(t, &m.IO, func() error {
		last = m.Ask("", "POST", "/v1/join/AAAAAAAA", map[string]any{"nickname": "Evie"})
		return testkit.Failed(last)
	})
	refused(t, "in the end", last, 404, "invalid_or_expired_code")
}

// TestFailedJoinOfAFullPool: who is gone from a full pool is not known if a call fails.
func TestFailedJoinOfAFullPool(t *testing.T) {
	t.Parallel()
	m := club(t)
	code := m.code()

	for i := range game.MaxPlayers.Max {
		id := fmt.Sprintf("01JZ%022d", i)
		testkit.PutRows(m.World.World, tables.App,
			item.New(item.GameKey(m.id), item.PoolKey(id), "Pool", item.Pooled{PlayerID: id}, m.Clock.Now()))
	}

	var last events.APIGatewayV2HTTPResponse

	dynamotest.CheckFailures(t, &m.IO, func() error {
		last = m.Ask("", "POST", "/v1/join/"+code, map[string]any{"nickname": "Evie"})
		return testkit.Failed(last)
	})
	same(t, "in the end", last.StatusCode, 201)
	same(t, "the pool", len(decode[struct{ Players []player.Player }](m, "sam", "GET", m.path("pool"), nil).Players), 1)
}

// TestBrokenItems: what cannot be decoded is an error that names the item, and not an item
// without data.
func TestBrokenItems(t *testing.T) {
	t.Parallel()
	m := club(t)

	l := decode[named](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Eve's"}).LeagueID
	for _, c := range []struct{ pk, sk, kind, user, method, path string }{
		{item.GameKey(m.id), "GOAL#1#0001#01JX0000000000000000000001", "Goal", "sam", "POST", m.path("thirds/1/start")},
		{item.LeagueKey(l), item.GrantKey("bob"), "Grant", "eve", "DELETE", "/v1/leagues/" + l},
		{item.LeagueKey(l), item.PlayerKey("01JX0000000000000000000001"), "Player", "eve", "DELETE", "/v1/leagues/" + l},
	} {
		row := item.New(c.pk, c.sk, c.kind, json.RawMessage(`"broken"`), m.Clock.Now())
		testkit.PutRows(m.World.World, tables.App, row)

		if out := m.Ask(c.user, c.method, c.path, "{}"); out.StatusCode != 500 {
			t.Errorf("%s: %d %s, want a failure", c.sk, out.StatusCode, out.Body)
		}

		testkit.Must(t, m.DeleteRow(tables.App, c.pk, c.sk))
	}

	if log, want := fmt.Sprint(m.Logs.Lines()), "decode "+item.GameKey(m.id)+
		" GOAL#1#0001#01JX0000000000000000000001: "; !strings.Contains(log, want) {
		t.Errorf("the log does not contain %q: %s", want, log)
	}
}

// TestFailedAccountDeletion: the caller gets an error if the message is lost.
func TestFailedAccountDeletion(t *testing.T) {
	t.Parallel()
	m := club(t)
	dynamotest.CheckFailures(t, &m.IO, func() error { return testkit.Failed(m.Ask("vic", "DELETE", "/v1/account", nil)) })
}

// TestFailedNotices: each failing call of the jobs that ask for mails is an error of the run.
func TestFailedNotices(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	m.Do("lena", "POST", "/v1/players/"+m.l.Players[1]+"/claim", m.coded()) // she is asked once
	meeting := strings.Split(m.tomorrow(), "/")[3]
	m.Play("sam", m.id)
	asks := testkit.Open(m.World.World, notice.NotifyFinishFunction(), notice.OpenNotifier)
	lists := testkit.Open(m.World.World, notice.SendRemindersFunction(), notice.OpenNotifier)
	reminds := testkit.Open(m.World.World, notice.RemindSessionFunction(), notice.OpenNotifier)
	mails := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)

	for name, run := range map[string]func(context.Context) error{
		"after a game":        func(ctx context.Context) error { return asks.NotifyFinish(ctx, standing.Finished{GameID: m.id}) },
		"sessions of the day": func(ctx context.Context) error { return lists.SendReminders(ctx) },
		"before a session":    func(ctx context.Context) error { return reminds.RemindSession(ctx, notice.Remind{SessionID: meeting}) },
		"a reminder": func(ctx context.Context) error {
			return mails.SendMail(ctx, notice.Mail{UserID: user, SessionID: meeting})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dynamotest.CheckFailures(t, &m.IO, func() error { return run(m.NewContext()) })
		})
	}

	wanted := testkit.Messages[notice.Mail](m.World.World, notice.MailQueue)
	slices.SortFunc(wanted, func(a, b notice.Mail) int { return cmp.Compare(a.SessionID, b.SessionID) })
	same(t, "the mails that are asked for", wanted, []notice.Mail{{UserID: user, GameID: m.id}, {UserID: user, SessionID: meeting}})
	same(t, "the sessions", slices.Compact(testkit.Messages[notice.Remind](m.World.World, notice.RemindQueue)),
		[]notice.Remind{{SessionID: meeting}})
	same(t, "the mails", slices.Compact(m.subjects()), []string{"3FC: will you play on 2026-06-07?"})
}
