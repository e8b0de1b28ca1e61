package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// check compares a cup with the oracle when the room knows all results: the leaderboard, the points it
// is computed from, and the rest if round is set. It waits until the room knows all results, and in a
// run with faults until the room has recovered.
func (r *run) check(ctx context.Context, c *cup, round bool, tries int) {
	const most = 25

	again := func() { r.at(r.Clock.Now().Add(11*time.Minute), func() { r.check(ctx, c, round, tries+1) }) }

	if !c.quiet(r.Clock.Now()) {
		if tries < most {
			again()
		} else {
			c.skipped++
		}

		return
	}

	problems := r.compare(ctx, c, round)
	if len(problems) > 0 && r.Trial != nil && tries < most {
		r.Busy = later(r.Busy, r.Clock.Now().Add(11*time.Minute))
		r.replayDeadLetters(ctx)
		again()

		return
	}

	for _, p := range problems {
		r.fail(c, "%s", p)
	}
}

// compare returns the differences between a cup and the oracle.
func (r *run) compare(ctx context.Context, c *cup, round bool) (problems []string) {
	defer func(n int) { r.Requests = n }(r.Requests) // how often it asks depends on the faults

	same := func(what string, got, want any) {
		c.checks++

		if diff := cmp.Diff(want, got); diff != "" {
			problems = append(problems, fmt.Sprintf("%s (-want +got):\n%s", what, diff))
		}
	}
	read := func(user, path string, out any) bool {
		if code, _, err := r.call(ctx, user, get, path, nil, out); err != nil || code != "" {
			problems = append(problems, fmt.Sprintf("GET %s: %s %v", path, code, err))
			return false
		}

		return true
	}
	now := r.Clock.Now()
	board := c.board(now)
	reader := r.members[0].user
	path := "/tournaments/" + c.id

	var shown struct{ Data []line }
	if read(reader, path+"/leaderboard", &shown) {
		same("the leaderboard", shown.Data, board)
	}

	want := map[string]int{}
	for _, l := range board {
		want[l.MemberID] = l.Points
	}

	ofRounds := maps.Clone(want)
	for m, p := range c.sums(now, -1).asked {
		ofRounds[m.id] -= p
	}

	for _, sums := range []struct {
		name, statement string
		want            map[string]int
	}{
		{"the points", sql.ListPoints, want},
		{"the points of the ledgers", sql.SumLedger, want},
		{"the points of the rounds", sql.SumRoundPoints, ofRounds},
	} {
		got, err := r.sumsOf(ctx, sums.statement, c.id)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}

		same(sums.name, got, sums.want)
	}

	if got, err := r.cached(ctx, c.id); err != nil {
		problems = append(problems, err.Error())
	} else {
		same("the leaderboard in the cache", got, want)
	}

	if !round {
		return problems
	}

	type winner struct{ MemberID string }

	var rounds struct {
		Data []struct {
			Slug    string
			Winners []winner
		}
	}
	if read(reader, path+"/rounds", &rounds) {
		for _, o := range rounds.Data {
			i := slices.IndexFunc(c.fixtures, func(f *fixture) bool { return slugOf(f.match.Round) == o.Slug })
			if i < 0 {
				problems = append(problems, "the file has no round "+o.Slug)
				continue
			}

			var got []string
			for _, w := range o.Winners {
				got = append(got, w.MemberID)
			}

			same("the winners of round "+o.Slug, got, c.winners(now, slices.Index(c.rounds, c.fixtures[i].match.Round)))
		}
	}

	type row struct {
		Group                                             string
		Position                                          int
		Team                                              string
		Points, Played, Wins, Draws, Losses, For, Against int
	}

	var standings struct {
		Data []struct {
			row
			Group                  *string
			GoalsFor, GoalsAgainst int
		}
	}
	if read(reader, path+"/standings", &standings) {
		var got, want []row

		for _, s := range standings.Data {
			s.row.For, s.row.Against = s.GoalsFor, s.GoalsAgainst
			if s.Group != nil {
				s.row.Group = *s.Group
			}

			got = append(got, s.row)
		}

		tables := c.standings(now)
		for _, t := range tables {
			if t.Group == "" && len(tables) > 1 {
				t.Group = c.season.Name // as the provider names the table of the league itself
			}

			for i, o := range t.Rows {
				want = append(want, row{t.Group, i + 1, o.Team, o.Points, o.Played, o.Won, o.Drawn, o.Lost, o.For, o.Against})
			}
		}

		slices.SortStableFunc(want, func(a, b row) int { return strings.Compare(a.Group, b.Group) })
		same("the standings", got, want)
	}

	for _, l := range r.leagues {
		if slices.Contains(l.cups, c) && !slices.ContainsFunc(l.cups, func(o *cup) bool { return !o.quiet(now) }) {
			var shown struct{ Data []line }
			if read(l.members[0].user, "/leagues/"+l.id+"/score", &shown) {
				same("the table of the league "+l.name, shown.Data, l.board(now))
			}
		}
	}

	return problems
}

// sumsOf returns the points of members.
func (r *run) sumsOf(ctx context.Context, statement, id string) (map[string]int, error) {
	rows, err := r.query(ctx, statement, id)
	if err != nil {
		return nil, err
	}

	type row struct {
		Member string
		Points int
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])

	sums := map[string]int{}
	for _, o := range all {
		sums[o.Member] = o.Points
	}

	return sums, err
}

// cached returns the points of members in the cache.
func (r *run) cached(ctx context.Context, id string) (map[string]int, error) {
	if r.cold {
		return nil, errors.New("the cache is down")
	}

	pages, err := r.cache.HGetAll(ctx, "tournament:{"+id+"}:leaderboard").Result()
	if err != nil {
		return nil, fmt.Errorf("the cache: %w", err)
	}

	sums := map[string]int{}

	for n, page := range pages {
		if _, err := strconv.Atoi(n); err != nil {
			continue
		}

		var p struct {
			Members []struct {
				MemberID string
				Points   int
			}
		}
		if err := json.Unmarshal([]byte(page), &p); err != nil {
			return nil, err
		}

		for _, m := range p.Members {
			sums[m.MemberID] = m.Points
		}
	}

	return sums, nil
}

// finish compares a cup at its end. The provider has an event of every match with a result in the file,
// and its last answer has that result. Members see what each guess has earned. An administrator who
// rebuilds the leaderboard repairs nothing.
func (r *run) finish(ctx context.Context, c *cup) {
	if want, got := c.results(); got != want {
		r.fail(c, "the provider has events of %d matches with a result, and the file has %d such matches", got, want)
	}

	for _, f := range c.fixtures {
		want, there := f.match.Result()
		if e := f.last(); played(e) && (!there || e.Score != want) {
			r.fail(c, "%s ended %v, and %v in the file", f, e.Score, want)
		}
	}

	if r.Trial != nil {
		r.settle(ctx)
	}

	r.check(ctx, c, true, 0)
	r.at(r.Clock.Now(), func() { r.conclude(ctx, c, 0) })
}

// conclude waits until nothing is left to be compared, and reports the cup.
func (r *run) conclude(ctx context.Context, c *cup, tries int) {
	if !c.quiet(r.Clock.Now()) && tries < 25 {
		r.at(r.Clock.Now().Add(11*time.Minute), func() { r.conclude(ctx, c, tries+1) })
		return
	}

	now := r.Clock.Now()
	for _, m := range r.members[:5] {
		total := 0

		for _, round := range c.rounds {
			var out struct{ Data []struct{ Total int } }

			code, _, err := r.call(ctx, m.user, get, "/tournaments/"+c.id+"/guess?round="+slugOf(round), nil, &out)
			if err != nil || code != "" && code != "round_not_found" {
				r.fail(c, "the guesses of %s in round %s: %s %v", m.name, slugOf(round), code, err)
			}

			for _, g := range out.Data {
				total += g.Total
			}
		}

		sums := c.sums(now, -1)

		want := sums.points[m]
		if guesses := want - sums.asked[m]; total != guesses {
			r.fail(c, "the guesses of %s have earned %d, want %d", m.name, total, guesses)
		}

		var score struct {
			Points           int
			UnderCalculation bool
		}
		r.ask(ctx, c, m.user, get, "/tournaments/"+c.id+"/score", nil, &score, "")

		if score.Points != want || score.UnderCalculation {
			r.fail(c, "the points of %s are %d (under calculation: %v), want %d", m.name, score.Points, score.UnderCalculation, want)
		}

		c.checks += 2
	}

	var rebuilt struct {
		Tournaments []struct{ Members, Repaired int }
	}
	if r.administrator(ctx, c, post, "/hydrate/scoreboard/"+c.id, nil, &rebuilt, "") {
		if n := len(c.board(now)); len(rebuilt.Tournaments) != 1 || rebuilt.Tournaments[0].Members != n || rebuilt.Tournaments[0].Repaired != 0 {
			r.fail(c, "the rebuilt leaderboard: %+v, want %d members and nothing repaired", rebuilt.Tournaments, n)
		}
	}

	for _, p := range r.compare(ctx, c, true) {
		r.fail(c, "%s", p)
	}

	r.report(ctx, c)
}

// replayDeadLetters sends messages again that could not be settled.
func (r *run) replayDeadLetters(ctx context.Context) {
	defer func(n int) { r.Requests = n }(r.Requests)

	var out struct {
		Data []struct {
			ID      string
			Replays int
		}
	}
	if code, _, err := r.call(ctx, "root", get, "/admin/settlements/dlq", nil, &out); err != nil || code != "" {
		return // later
	}

	for _, l := range out.Data {
		if l.Replays == 0 {
			r.call(ctx, "root", http.MethodPost, "/admin/settlements/dlq/"+l.ID+"/replay", nil, nil)
		}
	}
}

// checkQueues records the messages that are left in the queues. In a run with faults some polls may be
// left, because a poll that failed too often is planned again.
func (r *run) checkQueues(ctx context.Context) {
	if r.Trial == nil {
		r.CheckQueues()
	}
}
