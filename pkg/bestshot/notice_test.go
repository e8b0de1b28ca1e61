package bestshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sideshow/apns2"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/notice"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
)

// phone returns the token of the phone with a name of one letter.
func phone(name string) string { return strings.Repeat(name, 64) }

// season returns a world with a tournament of three matches: the first in an hour, the second
// and the third a day after it, which have the ids 1 to 3. ann has guessed the first.
func season(t testing.TB) (*bestshottest.World, *bestshottest.Tournament, *apns.Server) {
	t.Helper()
	w := bestshottest.New(t)
	apple := w.WithAPNs(notice.APNSKey, notice.APNSBundle)
	w.Register("ann", "bob")
	c := w.Found("cup")
	first := bestshottest.Noon.Add(hour)
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, first, provider.Open), bestshottest.Fixture(2, first.Add(24*hour), provider.Open),
		bestshottest.Fixture(3, first.Add(24*hour), provider.Open)))

	if out := w.Guess("ann", w.MatchID(1), 1, 0); out.StatusCode != 200 {
		t.Fatal(out.Body)
	}

	for _, p := range []string{"a", "b"} {
		w.Do("ann", "POST", "/devices", map[string]string{"deviceToken": phone(p)})
	}

	return w, c, apple
}

// remind runs the job, and returns what it puts into the queue.
func remind(w *bestshottest.World) []notice.Reminder {
	w.T.Helper()
	testkit.Must(w.T, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminders).Remind(w.NewContext()))

	return sent(w)
}

// sent returns the reminders in the queue, and removes them.
func sent(w *bestshottest.World) (all []notice.Reminder) {
	w.T.Helper()

	for _, m := range testkit.Messages[notice.Notices](w.World, notice.NoticeQueue) {
		if n := len(m.Reminders); n == 0 || n > 100 {
			w.T.Errorf("a message has %d reminders, want 1 to 100", n)
		}

		all = append(all, m.Reminders...)
	}

	w.Clear(notice.NoticeQueue)

	return all
}

func text(all []notice.Reminder) (lines []string) {
	for _, r := range all {
		lines = append(lines, fmt.Sprintf("%s: %d of %s from %s", r.UserID, r.Matches, r.Tournament, r.KickOff.Format("2 15:04")))
	}

	return lines
}

// TestReminders: a member who plays in a tournament and has not guessed a match is reminded a day and
// two hours before, once each, for all matches together.
func TestReminders(t *testing.T) {
	t.Parallel()
	w, _, _ := season(t)

	first := bestshottest.Noon.Add(hour)
	for _, s := range []struct {
		at   time.Time
		want []string
	}{
		{first.Add(-time.Minute), nil}, // ann has guessed the first match, and bob does not play
		{first.Add(time.Second), []string{"ann: 2 of cup from 7 13:00"}},
		{first.Add(15 * time.Minute), nil},
		{first.Add(22*hour - time.Second), nil},
		{first.Add(22*hour + time.Second), []string{"ann: 1 of cup from 7 13:00"}}, // the second is guessed meanwhile
		{first.Add(23 * hour), nil},
	} {
		w.MoveClock(s.at)

		if s.at.Equal(first.Add(22*hour + time.Second)) {
			w.Guess("ann", w.MatchID(2), 0, 0)
		}

		if diff := cmp.Diff(s.want, text(remind(w))); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", s.at, diff)
		}
	}
}

// TestLateMembersAreRemindedOnce: a member whose first guess in a tournament is made when both
// reminders are due gets only the second.
func TestLateMembersAreRemindedOnce(t *testing.T) {
	t.Parallel()
	w, _, _ := season(t)
	w.MoveClock(bestshottest.Noon.Add(hour + 23*hour)) // an hour before the second and the third match
	w.Guess("bob", w.MatchID(3), 1, 1)
	w.Guess("ann", w.MatchID(2), 1, 1)

	if diff := cmp.Diff([]string{"ann: 1 of cup from 7 13:00", "bob: 1 of cup from 7 13:00"}, text(remind(w))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRemindersOfMatchesPutOff: members are reminded again of a match that is moved to another day, and
// not of one that begins minutes later.
func TestRemindersOfMatchesPutOff(t *testing.T) {
	t.Parallel()
	w, c, _ := season(t)
	second := bestshottest.Noon.Add(25 * hour)
	reminded := func(at time.Time, want ...string) {
		t.Helper()
		w.MoveClock(at)

		if diff := cmp.Diff(want, text(remind(w))); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", at, diff)
		}
	}
	put := func(kickOff time.Time, status provider.Status) {
		w.Ingest(c.Feed("1", bestshottest.Fixture(2, kickOff, status)))
	}

	reminded(second.Add(-23*hour), "ann: 2 of cup from 7 13:00")
	put(second.Add(10*time.Minute), provider.Open)
	reminded(second.Add(-2*hour), "ann: 1 of cup from 7 13:00") // the third
	reminded(second.Add(-hour), "ann: 1 of cup from 7 13:10")
	put(second, provider.NotDefined)
	reminded(second.Add(-time.Minute))
	put(second.Add(72*hour), provider.Open)
	reminded(second)
	reminded(second.Add(48*hour), "ann: 1 of cup from 10 13:00")
	reminded(second.Add(70*hour), "ann: 1 of cup from 10 13:00")
	reminded(second.Add(71 * hour))
}

// TestNoReminderInAnEndedTournament: members are not reminded of matches that take no guesses, while
// another tournament is played.
func TestNoReminderInAnEndedTournament(t *testing.T) {
	t.Parallel()

	for status, want := range map[string]int{"upcoming": 1, "active": 1, "completed": 0, "cancelled": 0} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			w, c, _ := season(t)
			w.Found("other")
			w.Do(testkit.Administrator, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": status})
			w.MoveClock(bestshottest.Noon.Add(2 * hour))

			if got := remind(w); len(got) != want {
				t.Errorf("%q, want %d", text(got), want)
			}
		})
	}
}

// TestRemindersOfManyMembers: all are reminded by one run, each once for all matches.
func TestRemindersOfManyMembers(t *testing.T) {
	t.Parallel()
	w, c, _ := season(t)

	const members = 2*notice.RangeSize + 600 // in three transactions
	_, err := pg.Do(t.Context(), w.DB, `
WITH added AS (
    INSERT INTO member (public_id, nick_name)
    SELECT 'm' || n, 'm' || n
    FROM generate_series(1, $2::int) n
    RETURNING id
)
INSERT INTO tournament_scoreboard (tournament_id, member_id, points)
SELECT $1, id, 0
FROM added`, c.ID, members)
	testkit.Must(t, err)

	w.MoveClock(bestshottest.Noon.Add(2 * hour))
	all := remind(w)

	users := map[string]bool{}
	for _, r := range all {
		users[r.UserID] = true
		if r.Matches != 2 {
			t.Fatalf("%+v, want 2 matches", r)
		}
	}

	if len(all) != members+1 || len(users) != members+1 {
		t.Errorf("%d reminders of %d members, want %d", len(all), len(users), members+1)
	}

	if again := remind(w); len(again) > 0 {
		t.Errorf("%d are reminded again", len(again))
	}
}

// TestRemindCrashes: no reminder and no notice of points is lost. One that is sent twice has the same id, so
// that a phone shows it once.
func TestRemindCrashes(t *testing.T) {
	t.Parallel()
	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
		w, c, _ := season(t)
		w.MoveClock(bestshottest.Noon.Add(3 * hour))
		w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Ended, 1, 0)))
		w.Settle()

		again := p.Ended(testkit.OpenWith(w.World, w.CrashingEnv(notice.RemindFunction(), p), notice.OpenReminders).Remind(w.NewContext()))
		all := testkit.Messages[notice.Notices](w.World, notice.NoticeQueue)
		w.Clear(notice.NoticeQueue)

		if again {
			awaitRollback(w, "reminder_pass")
			awaitRollback(w, "points_pass")
			w.MoveClock(w.Clock.Now().Add(5 * time.Minute))
			testkit.Must(t, testkit.Open(w.World, notice.RemindFunction(), notice.OpenReminders).Remind(w.NewContext()))
			all = append(all, testkit.Messages[notice.Notices](w.World, notice.NoticeQueue)...)
			w.Clear(notice.NoticeQueue)
		}

		reminders, points := map[notice.Reminder]bool{}, map[notice.Points]bool{}

		for _, m := range all {
			for _, r := range m.Reminders {
				reminders[r] = true
			}

			for _, p := range m.Points {
				points[p] = true
			}
		}

		if len(reminders) != 1 || len(points) != 1 {
			t.Errorf("the reminders are %+v, and the notices of points %+v, want one of each", reminders, points)
		}

		if again := tell(w); again != nil {
			t.Errorf("told again: %q", again)
		}

		if n := len(remind(w)); n != 0 {
			t.Errorf("%d reminders are sent again", n)
		}

		return nil
	})
}

// TestReminderReachesPhones: each phone shows a reminder once, and none after the kick-off. A phone
// without the app is deleted. If Apple does not accept a reminder now, the run fails.
func TestReminderReachesPhones(t *testing.T) {
	t.Parallel()
	w, _, apple := season(t)
	w.MoveClock(bestshottest.Noon.Add(hour + time.Second))
	r := remind(w)[0]

	s := testkit.Open(w.World, notice.SendRemindersFunction(), notice.OpenNotifier)
	for range 2 {
		testkit.Must(t, s.SendReminder(w.NewContext(), r))
	}

	shown := func(name string) (lines []string) {
		d, _ := apple.Device(phone(name))
		for _, a := range d.Alerts {
			lines = append(lines, a.Title+": "+a.Body)
		}

		return lines
	}
	for _, name := range []string{"a", "b"} {
		if diff := cmp.Diff([]string{"cup: 2 matches are not guessed. The first begins soon."}, shown(name)); diff != "" {
			t.Errorf("phone %s (-want +got):\n%s", name, diff)
		}
	}

	apple.Answer(phone("a"), apns.Answer{Status: 410, Reason: apns2.ReasonUnregistered, Since: w.Clock.Now()})

	later := r
	later.ID += "x"
	testkit.Must(t, s.SendReminder(w.NewContext(), later))

	if got := exported(t, w, "ann")["phones"]; strings.Contains(fmt.Sprint(got), phone("a")) ||
		!strings.Contains(fmt.Sprint(got), phone("b")) {
		t.Errorf("the phones are %v", got)
	}

	apple.Answer(phone("b"), apns.Answer{Status: 503, Reason: apns2.ReasonServiceUnavailable})

	if err := s.SendReminder(w.NewContext(), later); problem.Of(err) != problem.Unavailable {
		t.Errorf("while Apple is busy: %v", err)
	}

	w.MoveClock(r.KickOff)

	if err := s.SendReminder(w.NewContext(), r); err != nil {
		t.Errorf("after the kick-off: %v", err)
	}
}

// TestPhoneThatAppleNoLongerKnows: its registration is deleted, unless it is newer than the time of
// Apple's answer: then the app was installed again.
func TestPhoneThatAppleNoLongerKnows(t *testing.T) {
	t.Parallel()
	w, _, apple := season(t)
	w.MoveClock(bestshottest.Noon.Add(hour + time.Second))
	r := remind(w)[0]

	s := testkit.Open(w.World, notice.SendRemindersFunction(), notice.OpenNotifier)
	for name, c := range map[string]struct {
		since time.Duration // after the registration
		kept  bool
	}{
		"before the registration":      {-time.Second, true},
		"in the second of it":          {0, false},
		"a second after it":            {time.Second, false},
		"long before the registration": {-24 * hour, true},
	} {
		w.Do("ann", "POST", "/devices", map[string]string{"deviceToken": phone("a")})
		apple.Answer(phone("a"), apns.Answer{Status: 410, Reason: apns2.ReasonUnregistered, Since: w.Clock.Now().Add(c.since)})
		testkit.Must(t, s.SendReminder(w.NewContext(), r))

		if kept := strings.Contains(fmt.Sprint(exported(t, w, "ann")["phones"]), phone("a")); kept != c.kept {
			t.Errorf("gone %s: the phone is kept: %t, want %t", name, kept, c.kept)
		}
	}
}

// TestPhones: a user has at most ten phones, and a phone belongs to the last user who registered it.
func TestPhones(t *testing.T) {
	t.Parallel()

	w, _, _ := season(t)
	for i := range 8 {
		w.Do("ann", "POST", "/devices", map[string]string{"deviceToken": strings.Repeat(fmt.Sprintf("%02d", i), 32)})
	}

	if err := testkit.CheckProblemCode(w.Ask("ann", "POST", "/api/v2/devices", map[string]string{"deviceToken": phone("c")}), 409,
		"too_many_devices"); err != nil {
		t.Error(err)
	}

	out := testkit.Decode[struct{ DeviceID string }](w.World, w.Do("bob", "POST", "/devices", map[string]string{"deviceToken": phone("a")}))
	if err := testkit.CheckProblemCode(w.Ask("ann", "DELETE", "/api/v2/devices/"+out.DeviceID, nil), 404, "device_not_found"); err != nil {
		t.Error(err)
	}

	w.Do("bob", "DELETE", "/devices/"+out.DeviceID, nil)
}
