package bestshot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
)

// TestPostponedMatchKeepsTheProjection: an answer that a match is still postponed does not raise the
// version of the round's matches. An answer with another date does.
func TestPostponedMatchKeepsTheProjection(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	kickOff := bestshottest.Noon.Add(hour)

	version := func() int64 {
		v, _, err := pg.Value[int64](t.Context(), w.DB, `SELECT version FROM tournament_round WHERE tournament_id = $1 AND slug = '1'`, c.ID)
		testkit.Must(t, err)

		return v
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined)))
	before := version()
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff, provider.NotDefined)))

	if after := version(); after != before {
		t.Errorf("still postponed: the version is %d, want %d", after, before)
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, kickOff.Add(hour), provider.NotDefined)))

	if after := version(); after == before {
		t.Errorf("postponed to another date: the version stays %d", after)
	}
}

// TestUnchangedAnswerIsNotStoredAgain: an answer that changes nothing of a match leaves its row, but for the
// time of the answer, and the version of its round. A match that is over without a result is counted each time.
func TestUnchangedAnswerIsNotStoredAgain(t *testing.T) {
	t.Parallel()

	kickOff := bestshottest.Noon.Add(-2 * hour)
	over := bestshottest.Fixture(1, kickOff, provider.NotDefined)
	over.ProviderStatus, over.Over = "AWD", true

	for name, c := range map[string]struct {
		fixture provider.Fixture
		change  string // of the match, before the second answer
		refused int    // how often it is counted
	}{
		"over without a result":         {fixture: over, refused: 2},
		"corrected by an administrator": {fixture: over, refused: 1, change: `corrected = true, status = 'void'`},
		"a status that is not known":    {fixture: bestshottest.Fixture(1, kickOff, provider.Unknown), refused: 2},
		"its kick-off was corrected": {
			fixture: bestshottest.Fixture(1, kickOff, provider.NotDefined),
			change:  `kick_off_corrected = true, date = date - interval '1 hour'`,
		},
		"the provider takes back an end": {
			fixture: bestshottest.Fixture(1, kickOff, provider.NotDefined),
			refused: 1,
			change:  `status = 'ended', home_score = 1, away_score = 0, finished_at = now()`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := bestshottest.New(t)
			cup := w.Found("cup")
			w.Ingest(cup.Feed("1", c.fixture))

			if c.change != "" {
				_, err := pg.Do(t.Context(), w.DB, `UPDATE match SET `+c.change)
				testkit.Must(t, err)
			}

			state := func() string {
				v, _, err := pg.Value[string](t.Context(), w.DB, `
SELECT to_jsonb(m) - 'last_checked_at' || jsonb_build_object('round', o.version)
FROM match m
JOIN tournament_round o ON o.slug = m.round_slug`)
				testkit.Must(t, err)

				return v
			}

			before := state()
			w.Ingest(cup.Feed("1", c.fixture))

			if diff := cmp.Diff(before, state()); diff != "" {
				t.Errorf("the second answer changes the match (-before +after):\n%s", diff)
			}

			refused := 0

			for _, m := range w.Logs.EmittedMetrics() {
				if m == ingest.Refused {
					refused++
				}
			}

			if refused != c.refused {
				t.Errorf("counted %d times, want %d", refused, c.refused)
			}
		})
	}
}

// TestOnlyPagesAreCached: the cache has the pages of a leaderboard that begin where a page of the cache ends,
// under one name each. What follows any other cursor is answered, and not stored. After a change of the
// leaderboard that holds again from the first page on.
func TestOnlyPagesAreCached(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")
	fillBoard(w, c, 350, 30)

	path := "/tournaments/" + c.ID + "/leaderboard"

	names := func() []string {
		t.Helper()

		keys, err := w.Cache.HKeys(view.LeaderboardKey(c.ID))
		testkit.Must(t, err)

		slices.Sort(keys)

		return slices.DeleteFunc(keys, func(k string) bool { return k == "version" })
	}

	first := testkit.Decode[view.LeaderboardPage](w.World, w.Do("u1", "GET", path, nil))
	second := testkit.Decode[view.LeaderboardPage](w.World, w.Do("u1", "GET", path+"?cursor="+first.Meta.Next, nil))
	want := []string{first.Meta.Next, "0", "mark:" + first.Meta.Next, "mark:" + second.Meta.Next}
	slices.Sort(want)

	place := func(n int) string { // of a member
		t.Helper()

		cursor, _, err := pg.Value[string](t.Context(), w.DB, `
SELECT (points::bigint * -100000000) || '_' || member_id || '_' || translate(encode(nick_name::bytea, 'base64'), '+/=', '-_')
FROM tournament_scoreboard
WHERE nick_name = 'nick' || lpad($1::int::text, 6, '0')`, n)
		testkit.Must(t, err)

		return cursor
	}

	if got := place(100); got != first.Meta.Next {
		t.Fatalf("member 100 is at %q, and the first page ends at %q", got, first.Meta.Next)
	}

	score, rest, _ := strings.Cut(first.Meta.Next, "_")
	id, nick, _ := strings.Cut(rest, "_")

	for name, cursor := range map[string]string{
		"another member":     place(101),
		"of no member":       score + "_00000000-0000-4000-8000-000000000000_" + nick,
		"another nickname":   score + "_" + id + "_" + nick[:len(nick)-2] + "OQ",
		"another score":      "-99900000000_" + rest,
		"between two scores": score[:4] + "00000001_" + rest,
	} {
		if out := w.Do("u1", "GET", path+"?cursor="+cursor, nil); !strings.Contains(out.Body, "nick") {
			t.Errorf("%s: %s", name, out.Body)
		}

		if diff := cmp.Diff(want, names()); diff != "" {
			t.Fatalf("%s: the pages in the cache (-want +got):\n%s", name, diff)
		}
	}

	// Another form of the cursor is the same page.
	again := testkit.Decode[view.LeaderboardPage](w.World, w.Do("u1", "GET", path+"?cursor=-00"+strings.TrimPrefix(first.Meta.Next, "-"), nil))
	if diff := cmp.Diff(second.Data, again.Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("the pages in the cache (-want +got):\n%s", diff)
	}

	// The mark of a page is that of another version: the leaderboard has changed since, perhaps before it.
	_, err := pg.Do(t.Context(), w.DB, `UPDATE tournament SET scoreboard_version = scoreboard_version + 1`)
	testkit.Must(t, err)

	third := testkit.Decode[view.LeaderboardPage](w.World, w.Do("u1", "GET", path+"?cursor="+second.Meta.Next, nil))
	if len(third.Data) != view.PageSize || third.Data[0].NickName != "nick000201" {
		t.Errorf("the third page has %d members, and begins with %+v", len(third.Data), third.Data[0])
	}

	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("the pages in the cache after a change (-want +got):\n%s", diff)
	}

	w.Cache.FlushAll()

	w.Do("u1", "GET", path+"?cursor="+second.Meta.Next, nil)

	if got := w.Cache.Keys(); len(got) != 0 { // no claim either: nobody waits for the page
		t.Errorf("after the third page was read an empty cache has %q", got)
	}

	w.Do("u1", "GET", path, nil)

	for _, p := range []view.LeaderboardPage{first, second, third} {
		w.Do("u1", "GET", path+"?cursor="+p.Meta.Next, nil)
	}

	last := []string{
		first.Meta.Next, second.Meta.Next, third.Meta.Next, "0",
		"mark:" + first.Meta.Next, "mark:" + second.Meta.Next, "mark:" + third.Meta.Next,
	}
	slices.Sort(last)

	if diff := cmp.Diff(last, names()); diff != "" {
		t.Errorf("the pages in the cache that were read one after the other (-want +got):\n%s", diff)
	}
}
