package threefc_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/idem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/tables"
)

// latestMail is the text of the latest mail to lena.
func (m *match) latestMail() string {
	all := m.Mail.Mailbox("lena@example.com")
	return all[len(all)-1].Text
}

// moveMails checks the number of mails about moves, and texts in the latest.
func (m *match) moveMails(what string, mails int, texts ...string) {
	m.T.Helper()
	m.Notify()

	if n := len(slices.DeleteFunc(m.subjects(), func(s string) bool { return !strings.HasSuffix(s, "has moved") })); n != mails {
		m.T.Fatalf("%s: %d mails, want %d", what, n, mails)
	}

	for _, text := range texts {
		if got := m.latestMail(); !strings.Contains(got, text) {
			m.T.Errorf("%s: the mail %q does not contain %q", what, got, text)
		}
	}
}

// moveTo moves the game to an hour of 6 June, by UTC.
func (m *match) moveTo(hour int) {
	m.T.Helper()
	m.Do("sam", "PATCH", m.path(), map[string]any{"gameStartTs": fmt.Sprintf("2026-06-06T%d:00:00Z", hour)})
}

// TestNoticeOfAMovedGame: one mail a move to who plays, whatever happens within five minutes, in the time zone of the
// season.
func TestNoticeOfAMovedGame(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": "Europe/London"})
	m.lena() // she is on the roster

	m.moveTo(19)
	m.Do("sam", "PATCH", m.path(), map[string]any{"location": "Pitch 3"}) // no move
	m.pass(time.Minute)
	m.moveTo(20)
	m.moveMails("two moves within five minutes", 1, "of 6 June 2026, 19:00 BST", "starts on 6 June 2026, 21:00 BST now")

	m.pass(time.Hour)
	m.moveTo(21)
	m.moveTo(20)
	m.moveMails("a move and back", 1)

	m.pass(time.Hour)
	m.put("sam", map[string]any{"state": "postponed"})
	m.moveMails("a postponement", 2, "of 6 June 2026, 21:00 BST", "is postponed")
	m.pass(time.Hour)
	m.moveTo(20)
	m.moveMails("a new time that is the old", 3, "Your game that was postponed", "starts on 6 June 2026, 21:00 BST now")

	m.pass(time.Hour)
	m.Do("lena", "PUT", "/v1/me/preferences", map[string]any{"finishedGames": true, "reminders": false})
	m.moveTo(22)
	m.moveMails("who wants no such mails", 3)

	m.Do("lena", "PUT", "/v1/me/preferences", map[string]any{"finishedGames": true, "reminders": true})
	m.pass(time.Hour)
	m.moveTo(18)
	m.Do("lena", "PUT", "/v1/sessions/"+m.l.SessionID+"/availability", map[string]any{"status": "out"})
	m.moveMails("who is out", 3)

	m.Do("lena", "PUT", "/v1/sessions/"+m.l.SessionID+"/availability", map[string]any{"status": "in"})
	m.pass(time.Hour)
	m.moveTo(19)
	m.step("thirds/1/start")
	m.moveMails("a game that has begun", 3)
}

// TestMoveSession: the games move with the session at the same time on the clock, once, and who is in gets one mail.
func TestMoveSession(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": "Europe/London"})
	m.lena()

	path := "/v1/sessions/" + m.l.SessionID
	m.Do("lena", "PUT", path+"/availability", map[string]any{"status": "in"})

	first := m.id
	m.id = decode[struct{ GameID string }](m, "sam", "POST", path+"/games",
		map[string]any{"gameStartTs": "2026-06-08T10:00:00Z", "thirdLength": 20}).GameID // on another day than its session
	other := m.id

	for range 2 {
		got := decode[season.Session](m, "sam", "PATCH", path, map[string]any{"sessionDate": "2026-11-07"})
		same(t, "the session", fmt.Sprint(got.Date, " ", got.Games), "2026-11-07 2")
	}

	starts := map[string]string{}
	for _, m.id = range []string{first, other} {
		starts[m.id] = item.Format(m.read().StartTs)
		m.consistent()
	}

	// 19:00 in London, in summer as in winter.
	same(t, "the starts", starts, map[string]string{first: "2026-11-07T19:00:00Z", other: "2026-06-08T10:00:00Z"})
	m.moveMails("the move", 1, "The session of 2026-06-06", "is on 2026-11-07 now")

	var days []string

	for _, r := range everything(m.World) {
		if r["entityType"] == "Day" {
			days = append(days, r["pk"].(string))
		}
	}

	same(t, "the days", days, []string{item.DayKey("2026-11-07")})

	calendar := m.Do("", "GET", "/l/parkside/spring-2026/calendar.ics", nil).Body
	if !strings.Contains(calendar, "DTSTART:20261107T190000Z") {
		t.Errorf("the calendar is %s", calendar)
	}

	m.pass(time.Hour)
	m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-11-08"})
	m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-11-07"})
	m.moveMails("a move and back", 1)
	refused(t, "a day that is none", m.Ask("sam", "PATCH", path, map[string]any{"sessionDate": "1999-11-07"}), 422, "bad_start")

	m.id = first
	m.step("thirds/1/start")
	refused(t, "a session that has begun", m.Ask("sam", "PATCH", path, map[string]any{"sessionDate": "2026-11-09"}), 409, "session_begun")
}

// TestMoveToAnotherDayThanTheOneThatDied: a session whose move has died with some games moved goes to another day with all
// of them, but for one that was moved by itself since.
func TestMoveToAnotherDayThanTheOneThatDied(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) []string {
		m := club(t)
		path := "/v1/sessions/" + m.l.SessionID
		games := []string{m.id}

		for _, at := range []string{"2026-06-06T19:00:00Z", "2026-06-06T20:00:00Z", "2026-06-08T10:00:00Z"} {
			games = append(games, decode[struct{ GameID string }](m, "sam", "POST", path+"/games",
				map[string]any{"gameStartTs": at, "thirdLength": 20}).GameID)
		}

		m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-06-05"})
		m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-06-06"})

		fn := season.MoveSessionFunction()
		in := &season.MoveSession{User: ann, SessionID: m.l.SessionID, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Date = "2026-11-07"
		_, err := open(m, m.CrashingEnv(fn, p), season.OpenMover).MoveSession(m.NewContext(), in)
		p.Ended(err)

		m.id = games[2]
		m.Do("sam", "PATCH", m.path(), map[string]any{"gameStartTs": "2026-06-09T10:00:00Z"})
		m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-11-08"})

		var starts []string
		for _, m.id = range games {
			starts = append(starts, item.Format(m.read().StartTs))
			m.consistent()
		}

		return starts
	})
}

// TestReminderOfAMovedSession: whoever has not answered since the move is asked for the new day, once, also who was
// asked for the old one. Who answers after the move is not.
func TestReminderOfAMovedSession(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		before, after string // the answers
		asked, again  int    // the mails for the old day and for the new one
	}{
		{"", "", 1, 1}, {"maybe", "", 1, 1}, {"out", "", 0, 1}, {"in", "", 0, 1}, {"", "out", 1, 0}, {"out", "out", 0, 0},
	} {
		m := club(t)
		m.lena()

		answers := m.tomorrow()
		meeting := strings.TrimSuffix(answers, "/availability")
		page := strings.TrimPrefix(meeting, "/v1") + "/me"

		if c.before != "" {
			m.send("lena", page, url.Values{"status": {c.before}}, 200, "")
		}

		same(t, fmt.Sprintf("%+v: the mails for the old day", c), m.remind(), c.asked)
		m.pass(time.Minute)
		m.Do("sam", "PATCH", meeting, map[string]any{"sessionDate": "2026-06-14"})
		m.pass(time.Minute)
		m.Notify()

		if c.after != "" {
			m.send("lena", page, url.Values{"status": {c.after}}, 200, "")
		}

		m.MoveClock(time.Date(2026, 6, 13, 12, 0, 0, 0, time.UTC))

		for range 2 {
			m.Remind()
		}

		again := slices.DeleteFunc(m.subjects(), func(s string) bool { return s != "3FC: will you play on 2026-06-14?" })
		same(t, fmt.Sprintf("%+v: the mails for the new day", c), len(again), c.again)
	}
}

// TestGuardianHearsOfAMove: the mail about a move asks for each player for whom the user answers.
func TestGuardianHearsOfAMove(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()

	body := m.coded()
	body["relation"] = "guardian"
	m.Do("lena", "POST", "/v1/players/"+m.l.Players[1]+"/claim", body)

	path := "/v1/sessions/" + m.l.SessionID
	m.Do("lena", "PUT", path+"/availability", map[string]any{"status": "in", "playerId": m.l.Players[1]})
	m.Do("sam", "PATCH", path, map[string]any{"sessionDate": "2026-06-14"})
	m.moveMails("the move", 1, "whether you will play", "whether “Bo” will play")
}

// TestReminderThatIsOvertaken: a reminder of the old day, which is sent after the session has moved again, asks nothing.
func TestReminderThatIsOvertaken(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()

	meeting := strings.TrimSuffix(m.tomorrow(), "/availability")
	m.Do("sam", "PATCH", meeting, map[string]any{"sessionDate": "2026-06-14"})

	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)
	user := decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID
	id := strings.TrimPrefix(meeting, "/v1/sessions/")

	for date, want := range map[string]int{"2026-06-07": 0, "2026-06-14": 1} {
		before := len(m.subjects())
		testkit.Must(t, s.SendMail(m.NewContext(), notice.Mail{UserID: user, SessionID: id, Date: date}))
		same(t, "the mails of "+date, len(m.subjects())-before, want)
	}
}

// TestNoticeWithoutItsMove: the message of a move that was never written is dropped, as one of what is gone.
func TestNoticeWithoutItsMove(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()

	n := testkit.Open(m.World.World, notice.RemindSessionFunction(), notice.OpenNotifier)
	s := testkit.Open(m.World.World, notice.SendMailFunction(), notice.OpenMailer)

	for _, move := range []game.Move{
		{GameID: m.id, Count: 1}, {SessionID: m.l.SessionID, Count: 1}, {GameID: "gone", Count: 1}, {SessionID: "gone", Count: 1},
	} {
		testkit.Must(t, n.RemindSession(m.NewContext(), notice.Remind{Move: move}))
		testkit.Must(t, s.SendMail(m.NewContext(), notice.Mail{UserID: "lena", Move: move}))
	}

	m.moveMails("moves that were not made", 0)
}

// TestMoveOfEarlierRows: rows without moves are written as before, and count from one.
func TestMoveOfEarlierRows(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, pk := range []string{item.GameKey(m.id), item.SessionKey(m.l.SessionID)} {
		if data := fmt.Sprint(testkit.Row[stored](m.World.World, tables.App, pk, item.Metadata)["data"]); strings.Contains(data, "moved") {
			t.Errorf("%s is %s, want a row as earlier releases write it", pk, data)
		}
	}

	at := m.Clock.Now()
	m.moveTo(20)

	row := testkit.Row[item.Row[item.Game]](m.World.World, tables.App, item.GameKey(m.id), item.Metadata)
	same(t, "the move", row.V().Moved, item.Moved{Count: 1, From: "2026-06-06T18:00:00Z", At: item.Format(at)})
}
