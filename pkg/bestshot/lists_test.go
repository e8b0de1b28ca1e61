package bestshot_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/kit/pg"
)

// fillSources adds n tournaments, of which each hundredth is active, and 50 matches to each of the first 300.
func fillSources(w *bestshottest.World, n int) {
	w.T.Helper()

	for _, statement := range []string{
		`INSERT INTO tournament (provider, external_id, season, slug, label, status)
SELECT 'p', n::text, '1', 't' || lpad(n::text, 4, '0'), 'T', CASE WHEN n % 100 = 0 THEN 'active' ELSE 'completed' END::tournament_status
FROM generate_series(1, ` + fmt.Sprint(n) + `) n`,
		`INSERT INTO tournament_round (tournament_id, slug, "order", label, type, provider_path)
SELECT id, '1', 1, '1', 'season', 'x' FROM tournament WHERE provider = 'p'`,
		`INSERT INTO team (provider, external_id, name) SELECT 'p', n::text, 'T' || n FROM generate_series(1, 6000) n`,
		`INSERT INTO match (tournament_id, round_slug, provider, external_id, date, status, provider_status, home_team, away_team)
SELECT t.id, '1', 'p', t.external_id || '-' || n, now() + n * interval '1 hour', 'open', 's', h.id, a.id
FROM tournament t
CROSS JOIN generate_series(1, 50) n
JOIN team h ON h.provider = 'p' AND h.external_id = n::text
JOIN team a ON a.provider = 'p' AND a.external_id = (3000 + n)::text
WHERE t.provider = 'p' AND t.slug <= 't0300'`,
		`ANALYZE`,
	} {
		_, err := pg.Do(w.T.Context(), w.DB, statement)
		testkit.Must(w.T, err)
	}
}

// TestPlansOfAdministratorsLists: a page reads neither all tournaments, nor all matches, nor all teams.
func TestPlansOfAdministratorsLists(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	fillSources(w, 5000)

	id, _, err := pg.Value[string](t.Context(), w.DB, `SELECT id::text FROM tournament WHERE slug = 't0150'`)
	testkit.Must(t, err)

	const nobody = "00000000-0000-0000-0000-000000000000"

	all := statements(t)

	for name, c := range map[string]struct {
		statement, index string
		args             []any
	}{
		"tournaments":          {"ingest.ListAllTournaments", "tournament_list", []any{[]string{"active", "completed"}, "t01", 101}},
		"tournaments, active":  {"ingest.ListAllTournaments", "tournament_list", []any{[]string{"active"}, "", 101}},
		"matches":              {"ingest.ListAllMatches", "match_list", []any{id, "", "", bestshottest.Noon, nobody, 101}},
		"matches with filters": {"ingest.ListAllMatches", "on match_", []any{id, "ended", "1", bestshottest.Noon, nobody, 101}},
	} {
		plan, err := pg.Values[string](t.Context(), w.DB, "EXPLAIN "+all[c.statement], c.args...)
		testkit.Must(t, err)

		text := strings.Join(plan, "\n")
		if strings.Contains(text, "Seq Scan") || !strings.Contains(text, c.index) {
			t.Errorf("%s: no Seq Scan, and the index %s are expected:\n%s", name, c.index, text)
		}
	}
}

// TestListsOfAdministrators: every tournament and every match is on one page, in order, with its ids.
func TestListsOfAdministrators(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	fillSources(w, 300)

	type page struct {
		Data []ingest.TournamentSource
		Next string
	}

	read := func(query string) (slugs []string) {
		for next := ""; ; {
			p := testkit.Decode[page](w.World, w.Do(testkit.Administrator, "GET", "/admin/tournaments?"+query+next, nil))
			for _, x := range p.Data {
				slugs = append(slugs, x.Slug)
			}

			if next = "&cursor=" + p.Next; p.Next == "" {
				return slugs
			}
		}
	}

	var want []string
	for n := range 300 {
		want = append(want, fmt.Sprintf("t%04d", n+1))
	}

	if diff := cmp.Diff(want, read("")); diff != "" {
		t.Errorf("all tournaments (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"t0100", "t0200", "t0300"}, read("status=active")); diff != "" {
		t.Errorf("the active ones (-want +got):\n%s", diff)
	}

	if out := w.Ask("ann", "GET", "/api/v2/admin/tournaments", nil); out.StatusCode != http.StatusForbidden {
		t.Errorf("a member gets %d %s", out.StatusCode, out.Body)
	}
}

// TestListOfAllMatches: with the ids, the state, and who has corrected them; by filters, and in pages.
func TestListOfAllMatches(t *testing.T) {
	t.Parallel()
	w := bestshottest.New(t)
	c := w.Found("cup")

	var round []provider.Fixture
	for n := range 101 {
		round = append(round, bestshottest.Fixture(n, bestshottest.Noon.Add(hour), provider.Open)) // equal kick-offs: the id decides
	}

	w.Ingest(c.Feed("1", round...))
	w.MoveClock(bestshottest.Noon.Add(3 * hour))
	w.Ingest(c.Feed("2", bestshottest.Fixture(200, bestshottest.Noon.Add(hour), provider.Ended, 2, 1)))
	w.Settle()
	w.Do(testkit.Administrator, "POST", "/admin/settlements/"+w.MatchID(0)+"/correct", map[string]any{"void": true})

	type page struct {
		Data []ingest.MatchSource
		Next string
	}

	read := func(query string) (all []ingest.MatchSource, pages int) {
		for next := ""; ; pages++ {
			p := testkit.Decode[page](w.World, w.Do(testkit.Administrator, "GET", "/admin/tournaments/"+c.ID+"/matches?"+query+next, nil))
			all = append(all, p.Data...)

			if next = "&cursor=" + p.Next; p.Next == "" {
				return all, pages + 1
			}
		}
	}

	for _, want := range []struct {
		query          string
		matches, pages int
	}{
		{"", 102, 2}, {"round=1", 101, 2}, {"round=2", 1, 1}, {"status=open", 100, 1}, {"status=void", 1, 1},
		{"status=ended&round=1", 0, 1}, {"status=ended&round=2", 1, 1},
	} {
		all, pages := read(want.query)

		ids := map[string]bool{}
		for _, m := range all {
			ids[m.ID] = true
		}

		if len(all) != want.matches || len(ids) != want.matches || pages != want.pages {
			t.Errorf("%q: %d matches, %d ids on %d pages; want %d on %d", want.query, len(all), len(ids), pages, want.matches, want.pages)
		}
	}

	all, _ := read("status=ended")
	m := all[0]

	if m.Provider != "sofascore" || m.ExternalID != "9200" || m.ID != w.MatchID(200) || m.SettledVersion != 1 || m.Pending ||
		m.Corrected || m.CorrectedBy != nil || !m.KickOff.Equal(bestshottest.Noon.Add(hour)) || m.BeganAt == nil || *m.Home != 2 {
		t.Errorf("the settled match is %+v", m)
	}

	all, _ = read("status=void")
	if m := all[0]; !m.Corrected || m.CorrectedBy == nil || *m.CorrectedBy != testkit.Administrator || !m.Pending {
		t.Errorf("the void match is %+v", m)
	}

	for target, want := range map[string]int{
		c.ID + "/matches?cursor=1_x":                                                                 http.StatusBadRequest,
		c.ID + "/matches?cursor=99999999999999999999_" + c.ID:                                        http.StatusBadRequest,
		c.ID + "/matches?status=lost":                                                                http.StatusUnprocessableEntity,
		"58de2f1b-1374-4c92-bd53-23a81943deff/matches":                                               http.StatusNotFound,
		"58de2f1b-1374-4c92-bd53-23a81943deff/matches?cursor=1_58de2f1b-1374-4c92-bd53-23a81943deff": http.StatusNotFound,
	} {
		if out := w.Ask(testkit.Administrator, "GET", "/api/v2/admin/tournaments/"+target, nil); out.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", target, out.StatusCode, out.Body, want)
		}
	}
}
