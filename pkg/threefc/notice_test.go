package threefc_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/sim/ses"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// lena signs up and claims the first player, as whom she plays.
func (m *match) lena() {
	m.T.Helper()
	m.Accounts()
	follow(m.World, "lena", ask(m.World, "lena@example.com"))
	m.Do("lena", "POST", "/v1/players/"+m.l.Players[0]+"/claim", m.coded())
}

// subjects are those of the mails to lena after her sign-in.
func (m *match) subjects() (all []string) {
	for _, one := range m.Mail.Mailbox("lena@example.com") {
		if !strings.HasPrefix(one.Subject, "Sign in") {
			all = append(all, one.Subject)
		}
	}

	return all
}

// TestMailAfterTheGame: who has played gets one mail, however often the game is corrected,
// and none if the user wants none.
func TestMailAfterTheGame(t *testing.T) {
	t.Parallel()

	for _, wants := range []bool{true, false} {
		m := kickOff(t)
		m.lena()
		m.Do("lena", "PUT", "/v1/me/preferences", map[string]any{"finishedGames": wants, "reminders": true})
		m.score("sam", m.goalOf(0, "blue"))
		m.Play("sam", m.id)
		m.Aggregate()
		m.Mail.Fail(ses.Throttled, ses.Failed, ses.Throttled)
		m.Notify()
		m.step("reopen", "finish")
		m.Aggregate()
		m.Notify()

		if n := len(m.subjects()); n != map[bool]int{true: 1, false: 0}[wants] {
			t.Errorf("the user, who wants mails: %v, got %v", wants, m.subjects())
		}
	}
}

// TestReminder: on the day before a session, to who has not said in or out, once.
func TestReminder(t *testing.T) {
	t.Parallel()

	for said, want := range map[string]int{"": 1, "maybe": 1, "in": 0, "out": 0} {
		m := club(t)
		m.lena()
		day := m.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)
		id := decode[struct{ SessionID string }](m, "sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions",
			map[string]any{"sessionDate": day}).SessionID
		refused(t, "who is no player", m.Ask("vic", "PUT", "/v1/sessions/"+id+"/availability", map[string]any{"status": "in"}),
			409, "player_needed")

		if said != "" {
			m.Do("lena", "PUT", "/v1/sessions/"+id+"/availability", map[string]any{"status": said})
		}

		for range 2 {
			m.Remind()
		}

		if n := len(m.subjects()); n != want {
			t.Errorf("who has said %q got %v, want %d mails", said, m.subjects(), want)
		}
	}
}

// TestReminderAtNoon: on the day before the session, where it is played, also when a day there is another one
// than in UTC. A session of an earlier release has no time zone: it counts as UTC.
func TestReminderAtNoon(t *testing.T) {
	t.Parallel()
	m := club(t)
	s := testkit.Open(m.World.World, notice.SendRemindersFunction(), notice.OpenNotifier)

	for _, zone := range []string{"", "Europe/London", "Asia/Kolkata", "Pacific/Kiritimati", "Etc/GMT+12", "Nowhere"} {
		testkit.PutRows(m.World.World, tables.App, item.New(item.DayKey("2026-07-10"), item.SessionKey("of "+zone), "Day",
			item.Day{ID: "of " + zone, TimeZone: zone}, m.Clock.Now()))
	}

	var got []string

	for hour := range 72 {
		now := time.Date(2026, 7, 8, hour, 0, 0, 0, time.UTC)
		m.MoveClock(now)
		testkit.Must(t, s.SendReminders(m.NewContext()))
		testkit.Drain(m.World.World, notice.RemindQueue, time.Hour, func(_ context.Context, in notice.Remind) error {
			got = append(got, now.Format("02 15:04 ")+in.SessionID)
			return nil
		})
	}

	slices.Sort(got)
	same(t, "when the players of 10 July are reminded", got, []string{"08 22:00 of Pacific/Kiritimati", "09 07:00 of Asia/Kolkata",
		"09 11:00 of Europe/London", "09 12:00 of ", "09 12:00 of Nowhere", "10 00:00 of Etc/GMT+12"})
}

// TestMailToMergedPlayers: the user of the player with whom one of the roster is merged gets the mail, too.
func TestMailToMergedPlayers(t *testing.T) {
	t.Parallel()

	for merged, want := range map[bool]int{true: 1, false: 0} {
		m := kickOff(t)
		m.Accounts()
		follow(m.World, "lena", ask(m.World, "lena@example.com"))

		zoe := m.newPlayer(m.l.ID, "Zoe")
		m.Do("lena", "POST", "/v1/players/"+zoe+"/claim", m.coded())

		if merged {
			m.Do("ann", "POST", "/v1/players/"+m.l.Players[0]+"/merge", map[string]any{"intoPlayerId": zoe})
		}

		m.Play("sam", m.id)
		m.Aggregate()
		m.Notify()
		same(t, fmt.Sprint("the mails, merged: ", merged), len(m.subjects()), want)
	}
}

// TestNoticesAreSentInBatches: ten messages to a call, so that a job ends in its time on a day with
// many sessions, and for a league with many players.
func TestNoticesAreSentInBatches(t *testing.T) {
	t.Parallel()

	const n = 25

	m := club(t)
	meeting := strings.Split(m.tomorrow(), "/")[3] // the first of the n

	for i := range n {
		id := fmt.Sprintf("01JZ%022d", i)
		if i > 0 {
			testkit.PutRows(m.World.World, tables.App,
				item.New(item.DayKey("2026-06-07"), item.SessionKey(id), "Day", item.Day{ID: id}, m.Clock.Now()))
		}

		testkit.PutRows(m.World.World, tables.App,
			item.New(item.LeagueKey(m.l.ID), item.PlayerKey(id), "Player",
				item.Player{ID: id, LeagueID: m.l.ID, ClaimedBy: "user" + id}, m.Clock.Now()))
	}

	check := func(what string, q spec.Queue, run func() error) {
		t.Helper()

		calls := m.CountCalls(func() { testkit.Must(t, run()) })
		same(t, what, []int{len(m.Queues.Messages(q.Name)), calls["SendMessageBatch"], calls["SendMessage"]}, []int{n, 3, 0})
	}
	check("the sessions", notice.RemindQueue, func() error {
		return testkit.Open(m.World.World, notice.SendRemindersFunction(), notice.OpenNotifier).SendReminders(m.NewContext())
	})
	check("the players", notice.MailQueue, func() error {
		return testkit.Open(m.World.World, notice.RemindSessionFunction(), notice.OpenNotifier).RemindSession(m.NewContext(),
			notice.Remind{SessionID: meeting})
	})
}

// tomorrow creates a session of tomorrow, and returns the path of its answers.
func (m *match) tomorrow() string {
	m.T.Helper()
	day := m.Clock.Now().AddDate(0, 0, 1).Format(time.DateOnly)

	return "/v1/sessions/" + decode[struct{ SessionID string }](m, "sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions",
		map[string]any{"sessionDate": day}).SessionID + "/availability"
}

// remind runs the reminders of the day, and returns how many mails lena has got in all.
func (m *match) remind() int {
	m.T.Helper()
	m.Remind()

	return len(m.subjects())
}

// said is who will play: the player, and the answer.
func (m *match) said(path string) (all []string) {
	m.T.Helper()

	for _, a := range decode[struct{ Players []notice.Answer }](m, "sam", "GET", path, nil).Players {
		all = append(all, a.Nickname+" "+a.Status)
	}

	return all
}

// TestAvailabilityOfMergedPlayers: the user of two players who are one answers for that one,
// before the merge and afterwards, and is not asked again.
func TestAvailabilityOfMergedPlayers(t *testing.T) {
	t.Parallel()

	in, out := map[string]any{"status": "in"}, map[string]any{"status": "out"}

	for name, c := range map[string]struct {
		claims []int // beside the first player
		into   int   // of the first
	}{
		"both are claimed": {[]int{1}, 1}, "the one who disappears is claimed": {nil, 1}, "into one who is claimed first": {[]int{1, 2}, 2},
	} {
		m := club(t)
		m.lena()

		for _, i := range c.claims {
			m.Do("lena", "POST", "/v1/players/"+m.l.Players[i]+"/claim", m.coded())
		}

		path := m.tomorrow()
		before := decode[notice.Answer](m, "lena", "PUT", path, in)
		same(t, name+": before the merge", before.Nickname, "Ada")

		merge := "/v1/players/" + m.l.Players[0] + "/merge"
		stays := []string{"Ada", "Bo", "Cy"}[c.into]
		m.Do("ann", "POST", merge, map[string]any{"intoPlayerId": m.l.Players[c.into]})
		same(t, name+": the answer before the merge", []any{m.said(path), m.remind()}, []any{[]string{stays + " in"}, 0})
		m.pass(time.Second)
		after := decode[notice.Answer](m, "lena", "PUT", path, out)
		same(t, name+": who answers", after, notice.Answer{PlayerID: m.l.Players[c.into], Nickname: stays, Status: "out"})
		same(t, name+": afterwards", []any{m.said(path), m.remind()}, []any{[]string{stays + " out"}, 0})
		code := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
		joined := decode[struct{ Nickname string }](m, "lena", "POST", "/v1/join/"+code, map[string]any{})
		same(t, name+": who joins a game", joined.Nickname, stays)
		m.Do("ann", "POST", merge, map[string]any{})
		same(t, name+": the merge is undone", m.said(path), []string{"Ada out"})
	}
}

// TestAvailabilityEndsWithTheClaim: what a stranger has answered for a player goes with the
// claim, whoever ends it, and the player's user is asked.
func TestAvailabilityEndsWithTheClaim(t *testing.T) {
	t.Parallel()

	for _, by := range []string{"ann", "eve"} {
		m := club(t)
		m.Accounts()
		m.Join(m.l, item.Viewer, follow(m.World, "lena", ask(m.World, "lena@example.com")))
		claim := "/v1/players/" + m.l.Players[0] + "/claim"
		path := m.tomorrow()
		m.Do("eve", "POST", claim, m.coded())
		m.Do("eve", "PUT", path, map[string]any{"status": "in"})
		same(t, "with the claim", m.said(path), []string{"Ada in"})
		m.Do(by, "DELETE", claim, nil)
		same(t, "without", m.said(path), []string(nil))
		m.Do("lena", "POST", claim, nil)
		same(t, "of another user", []any{m.said(path), m.remind()}, []any{[]string(nil), 1})
		m.Do("lena", "PUT", path, map[string]any{"status": "maybe"})
		same(t, "of another user, who answers", m.said(path), []string{"Ada maybe"})
	}
}

// TestNobodyIsAskedForMails: about a game that was reopened or deleted, and a session that is gone.
func TestNobodyIsAskedForMails(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	m.Play("sam", m.id)
	n := testkit.Open(m.World.World, notice.NotifyFinishFunction(), notice.OpenNotifier)
	asked := func(id string) int {
		testkit.Must(t, n.NotifyFinish(m.NewContext(), standing.Finished{GameID: id}))
		return len(testkit.Messages[notice.Mail](m.World.World, notice.MailQueue))
	}

	m.step("reopen")
	same(t, "a reopened game", asked(m.id), 0)
	same(t, "a game that is gone", asked(m.l.SessionID), 0)
	m.step("finish")
	same(t, "a finished game", asked(m.id), 1)
	r := testkit.Open(m.World.World, notice.RemindSessionFunction(), notice.OpenNotifier)
	testkit.Must(t, r.RemindSession(m.NewContext(), notice.Remind{SessionID: m.id}))
	same(t, "the messages after a session that is gone", len(testkit.Messages[notice.Mail](m.World.World, notice.MailQueue)), 1)
}

// ticket matches the ticket of a link.
var ticket = regexp.MustCompile("/[A-Za-z0-9_-]{60,}")

// TestWhatMailsSay: after a game who has won, with the score and a link; before a session the
// question, with a link. Both say how to get no more.
func TestWhatMailsSay(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)

	const stop = "No more of these mails: " + threefctest.API + "/preferences/TICKET\n"

	send := func(in notice.Mail) (subject, text string) {
		t.Helper()

		in.UserID = user
		before := len(m.Mail.Mailbox("lena@example.com"))
		testkit.Must(t, s.SendMail(m.NewContext(), in))

		all := m.Mail.Mailbox("lena@example.com")
		if len(all) != before+1 {
			return "", ""
		}

		if from := all[before].From; from != "3fc@example.com" {
			t.Errorf("the mail is from %s", from)
		}

		mark := testkit.Row[stored](m.World.World, tables.App, item.UserKey(user), "MAIL#"+in.GameID+in.SessionID)
		same(t, "the mark expires", mark["ttlEpoch"], float64(m.Clock.Now().Add(90*24*time.Hour).Unix()))

		same(t, "the headers", []string{ticket.ReplaceAllString(all[before].Headers["List-Unsubscribe"], "/TICKET"),
			all[before].Headers["List-Unsubscribe-Post"]},
			[]string{"<" + threefctest.API + "/preferences/TICKET>", "List-Unsubscribe=One-Click"})

		return all[before].Subject, ticket.ReplaceAllString(all[before].Text, "/TICKET")
	}
	check := func(what string, in notice.Mail, subject, text string) {
		t.Helper()

		gotSubject, gotText := send(in)
		same(t, what, []string{gotSubject, gotText}, []string{subject, text})
	}
	meeting := strings.Split(m.tomorrow(), "/")[3]

	const name = "Win at example.com" // by an earlier release, which took addresses for names

	set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Name = name })

	if subject, text := send(notice.Mail{SessionID: meeting}); subject == "" || strings.Contains(subject+text, name) {
		t.Errorf("the mail has the name: %s\n%s", subject, text)
	}

	set(m, item.LeagueKey(m.l.ID), item.Metadata, func(l *item.League) { l.Name = "Parkside" })
	testkit.Must(t, m.DeleteRow(tables.App, item.UserKey(user), "MAIL#"+meeting))
	check("before a session", notice.Mail{SessionID: meeting}, "3FC: will you play on 2026-06-07?",
		"Say whether you will play in the league “Parkside” on 2026-06-07: "+threefctest.API+"/sessions/"+meeting+"/TICKET\n\n"+stop)
	check("of a game that is not finished", notice.Mail{GameID: m.id}, "", "")
	check("of a session that is gone", notice.Mail{SessionID: m.id}, "", "")
	check("of a game that is gone", notice.Mail{GameID: meeting}, "", "")

	for _, c := range []struct {
		goal             *goal
		verdict, numbers string
	}{
		{nil, "Blue, Red and Yellow have drawn", "Blue: 0 scored, 0 conceded\nRed: 0 scored, 0 conceded\nYellow: 0 scored, 0 conceded\n"},
		{new(m.goalOf(3, "blue")), "Red and Yellow have drawn",
			"Blue: 0 scored, 1 conceded\nRed: 0 scored, 0 conceded\nYellow: 0 scored, 0 conceded\n"},
		{new(m.goalOf(6, "red")), "Yellow has won", "Blue: 0 scored, 0 conceded\nRed: 0 scored, 1 conceded\nYellow: 1 scored, 0 conceded\n"},
	} {
		m.id = m.Game("ann", m.l)
		if c.goal != nil {
			m.score("sam", *c.goal)
		}

		m.Play("sam", m.id)
		check(c.verdict, notice.Mail{GameID: m.id}, "3FC: the result of your game",
			c.verdict+", in the league “Parkside”.\n\n"+c.numbers+"\nThe game: "+threefctest.API+"/l/parkside/spring-2026/"+m.read().Slug+"\n\n"+stop)
	}

	check("a second time", notice.Mail{GameID: m.id}, "", "")
}

// TestMailsThatUsersWant: each kind by its own preference, and both at first.
func TestMailsThatUsersWant(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	m.Play("sam", m.id)
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	meeting := strings.Split(m.tomorrow(), "/")[3]
	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)
	send := func() (got [2]bool) {
		for i, in := range []notice.Mail{{UserID: user, GameID: m.id}, {UserID: user, SessionID: meeting}} {
			before := len(m.subjects())
			testkit.Must(t, s.SendMail(m.NewContext(), in))
			got[i] = len(m.subjects()) > before
			m.DeleteRow(tables.App, item.UserKey(user), "MAIL#"+in.GameID+in.SessionID)
		}

		return got
	}
	same(t, "at first", [2]any{decode[notice.Preferences](m, "lena", "GET", "/v1/me/preferences", nil), send()},
		[2]any{notice.Preferences{Finished: true, Reminders: true}, [2]bool{true, true}})

	for _, p := range []notice.Preferences{{Finished: true}, {Reminders: true}, {}, {Finished: true, Reminders: true}} {
		m.Do("lena", "PUT", "/v1/me/preferences", p)
		same(t, "the mails", send(), [2]bool{p.Finished, p.Reminders})
	}

	testkit.Must(t, s.SendMail(m.NewContext(), notice.Mail{UserID: "nobody", GameID: m.id}))

	for _, r := range everything(m.World) {
		if r["pk"] == item.UserKey("nobody") {
			t.Errorf("a user who is not there has %v", r)
		}
	}
}

// TestDeletedUserGetsNoMail: a mail that was asked for before the user deleted the account is
// dropped, also if the room has forgotten that the user wanted none; and if the deletion comes
// between the mail and its mark, nothing of the user is left.
func TestDeletedUserGetsNoMail(t *testing.T) {
	t.Parallel()

	for _, step := range []string{"", "GetItem", "SendEmail"} { // the deletion comes first, or after it
		t.Run(cmp.Or(step, "before"), func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)
			m.lena()
			id := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
			m.Play("sam", m.id)
			m.Aggregate()

			leave := func() {
				testkit.PutRows(m.World.World, account.Deleted, account.Tombstone{UserID: id, DeletedAt: "2026-06-06T12:00:00Z"})
				m.forget(id)
			}
			env := m.Env(notice.SendMailFunction())
			mails := 0

			switch step {
			case "":
				m.Do("lena", "PUT", "/v1/me/preferences", notice.Preferences{})
				leave()
			case "SendEmail":
				mails = 1
				fallthrough
			default:
				env = after(env, step, leave)
			}

			testkit.Must(t, open(m, env, notice.OpenMailer).SendMail(m.NewContext(), notice.Mail{UserID: id, GameID: m.id}))
			same(t, "the mails", len(m.subjects()), mails)
			same(t, "what is left of the user", m.mentions(id), []string(nil))
		})
	}
}

// TestMailFailures: each failing call is an error of the run; in the end there is a mail,
// and it is marked.
func TestMailFailures(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.lena()
	m.Play("sam", m.id)
	id := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)
	dynamotest.CheckFailures(t, &m.IO, func() error { return s.SendMail(m.NewContext(), notice.Mail{UserID: id, GameID: m.id}) })

	if len(m.subjects()) == 0 {
		t.Error("there is no mail")
	}

	testkit.Row[stored](m.World.World, tables.App, item.UserKey(id), "MAIL#"+m.id)
}
