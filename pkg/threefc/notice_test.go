package threefc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/ses"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
)

// notify runs the jobs that mail.
func (m *match) notify() {
	m.T.Helper()
	n := testkit.Open(m.World.World, notice.NotifyFinishFunction, notice.OpenNotifier)
	testkit.Drain(m.World.World, standing.FinishQueue, time.Hour, func(ctx context.Context, in standing.Finished) error { return n.NotifyFinish(ctx, in) })
	r := testkit.Open(m.World.World, notice.RemindSessionFunction, notice.OpenNotifier)
	testkit.Drain(m.World.World, notice.RemindQueue, time.Hour, func(ctx context.Context, in notice.Remind) error { return r.RemindSession(ctx, in) })
	s := testkit.Open(m.World.World, notice.SendMailFunction, notice.OpenMailer)
	testkit.Drain(m.World.World, notice.MailQueue, time.Hour, func(ctx context.Context, in notice.Mail) error { return s.SendMail(ctx, in) })
}

// lena signs up and claims the first player, as whom she plays.
func (m *match) lena() {
	m.T.Helper()
	m.Accounts()
	follow(m.World, "lena", ask(m.World, "lena@example.com"))
	m.Do("lena", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
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
		m.notify()
		m.step("reopen", "finish")
		m.Aggregate()
		m.notify()
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
		id := decode[struct{ SessionID string }](m, "sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": day}).SessionID
		refused(t, "who is no player", m.Ask("vic", "PUT", "/v1/sessions/"+id+"/availability", map[string]any{"status": "in"}), 409, "player_needed")
		if said != "" {
			m.Do("lena", "PUT", "/v1/sessions/"+id+"/availability", map[string]any{"status": said})
		}
		for range 2 {
			testkit.Must(t, testkit.Open(m.World.World, notice.SendRemindersFunction, notice.OpenNotifier).SendReminders(m.NewContext()))
			m.notify()
		}
		if n := len(m.subjects()); n != want {
			t.Errorf("who has said %q got %v, want %d mails", said, m.subjects(), want)
		}
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
	s := testkit.Open(m.World.World, notice.SendMailFunction, notice.OpenMailer)
	dynamotest.CheckFailures(t, &m.IO, func() error { return s.SendMail(m.NewContext(), notice.Mail{UserID: id, GameID: m.id}) })
	if len(m.subjects()) == 0 {
		t.Error("there is no mail")
	}
	testkit.Row[stored](m.World.World, tables.App, item.UserKey(id), "MAIL#"+m.id)
}
