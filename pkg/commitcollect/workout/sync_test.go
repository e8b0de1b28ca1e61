package workout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/workout"
)

var night = time.Date(2026, 6, 6, 3, 0, 0, 0, time.UTC)

// ago returns a time before the night, epoch s.
func ago(d time.Duration) int64 { return night.Add(-d).Unix() }

// TestSyncAsksForUsersWithAReason: an event that was given up, or no fetch for a day and a half.
func TestSyncAsksForUsersWithAReason(t *testing.T) {
	t.Parallel()

	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		user  link.Listed
		asked bool
		whole bool
	}{
		"a fetch a moment ago":                 {link.Listed{FetchedAt: ago(0), WholeAt: ago(day)}, false, false},
		"a fetch in the last run":              {link.Listed{FetchedAt: ago(24 * time.Hour), WholeAt: ago(day)}, false, false},
		"a fetch in the run before":            {link.Listed{FetchedAt: ago(36 * time.Hour), WholeAt: ago(36 * time.Hour)}, true, false},
		"just not due":                         {link.Listed{FetchedAt: ago(35*time.Hour - time.Second), WholeAt: ago(day)}, false, false},
		"just due":                             {link.Listed{FetchedAt: ago(35 * time.Hour), WholeAt: ago(2 * day)}, true, false},
		"a whole fetch a week ago":             {link.Listed{FetchedAt: ago(36 * time.Hour), WholeAt: ago(7 * day)}, true, true},
		"a row of before":                      {link.Listed{}, true, true},
		"an event given up":                    {link.Listed{FetchedAt: ago(1), WholeAt: ago(day), SuspectAt: ago(time.Hour)}, true, true},
		"an event given up before a whole one": {link.Listed{FetchedAt: ago(1), WholeAt: ago(1), SuspectAt: ago(time.Hour)}, false, false},
		"a first import goes on":               {link.Listed{AskedAt: ago(23 * time.Hour)}, false, false},
		"a first import that ended":            {link.Listed{AskedAt: ago(2 * day), FetchedAt: ago(2 * day), WholeAt: ago(2 * day)}, true, false},
		"a first import that was given up":     {link.Listed{AskedAt: ago(25 * time.Hour), SuspectAt: ago(time.Hour)}, true, true},
		"a broken connection":                  {link.Listed{FetchedAt: ago(9 * day), BrokenAt: ago(time.Hour)}, false, false},
	} {
		c.user.UserID = "ann"

		s := workout.NewSync(night, 100)
		s.Consider(c.user)

		var want []link.Backfill
		if c.asked {
			want = []link.Backfill{{UserID: "ann", Whole: c.whole, Asked: night.Unix(), Seen: c.user.FetchedAt}}
		}

		got, late := s.Choose()
		if diff := cmp.Diff(want, got); diff != "" || late {
			t.Errorf("%s: late is %v (-want +got):\n%s", name, late, diff)
		}
	}
}

// TestSyncStaysWithinItsCalls: given-up events first, then the oldest fetches. Whom the calls do not reach
// is among the first of the next run, and is late if that is too late.
func TestSyncStaysWithinItsCalls(t *testing.T) {
	t.Parallel()

	user := func(id string, fetched time.Duration, suspect bool) link.Listed {
		u := link.Listed{UserID: id, FetchedAt: ago(fetched), WholeAt: ago(fetched)}
		if suspect {
			u.SuspectAt = ago(time.Minute)
		}

		return u
	}
	all := []link.Listed{
		user("a", 35*time.Hour, false), user("b", 40*time.Hour, false), user("c", 47*time.Hour, false), user("d", time.Hour, true),
		user("e", 2*time.Hour, true),
	}

	for _, c := range []struct {
		calls int
		want  string
		late  bool
	}{
		{-5, "", true},
		{2, "", true}, // a whole history takes three
		{3, "e", true},
		{6, "ed", true},
		{7, "ed", true},
		{8, "edc", true},
		{10, "edcb", false}, // a can wait for 12 hours
		{12, "edcba", false},
		{99, "edcba", false},
	} {
		s := workout.NewSync(night, c.calls)
		for _, u := range all {
			s.Consider(u)
		}

		messages, late := s.Choose()

		got := ""
		for _, m := range messages {
			got += m.UserID
		}

		if got != c.want || late != c.late {
			t.Errorf("with %d calls: %q, late %v, want %q, %v", c.calls, got, late, c.want, c.late)
		}
	}
}

// TestSyncOfManyUsers chooses the same as if it kept all of them.
func TestSyncOfManyUsers(t *testing.T) {
	t.Parallel()

	s := workout.NewSync(night, 6)
	for n := range 5000 {
		s.Consider(link.Listed{UserID: fmt.Sprint(n), FetchedAt: ago(36*time.Hour + time.Duration(n*7919%5000)*time.Second), WholeAt: ago(0)})
	}

	messages, late := s.Choose()
	oldest := ago(36*time.Hour + 4999*time.Second)
	if len(messages) != 3 || messages[0].Seen != oldest || messages[2].Seen != oldest+2 || !late {
		t.Errorf("chose %+v, late %v, want the three oldest, and others late", messages, late)
	}
}
