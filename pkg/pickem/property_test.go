package pickem_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/league"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
)

// TestStandings lets members, administrators and jobs do what they like, one
// during the other, and crash: whenever it is quiet, the tables are those that
// the oracle works out from the cards, the results and the picks.
func TestStandings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(trial{t, rt})
		rt.Repeat(map[string]func(*rapid.T){
			"something happens": func(rt *rapid.T) {
				a := g.any(rt)
				g.must(rt, a.what, g.perform(a, g.course(rt, a)))
			},
			"": func(rt *rapid.T) { g.must(rt, "a look at the rows", g.sound()) },
		})
		g.must(rt, "at the end", g.settle())
	})
}

// table is the oracle: what members have after events, and which rank.
func (g *game) table(members []string, events []*booking) (rows []league.Standing) {
	for _, u := range members {
		row := league.Standing{UserID: u, Name: g.names[u]}
		for _, e := range events {
			if picks, plays := e.picks[u]; plays {
				points, right := e.brings(picks)
				row.Points, row.Correct, row.Played = row.Points+points, row.Correct+right, row.Played+1
			}
		}
		if row.Played > 0 {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b league.Standing) int {
		return cmp.Or(b.Points-a.Points, cmp.Compare(a.Name, b.Name), cmp.Compare(a.UserID, b.UserID))
	})
	better := map[int]bool{}
	for i, r := range rows {
		better[r.Points] = true
		rows[i].Rank = len(better)
	}
	return rows
}

func (e *booking) brings(picks map[string]int) (points, right int) {
	counted := 0
	for _, m := range e.card {
		if *m.result == item.Void {
			continue
		}
		counted++
		if team, picked := picks[m.id]; picked && team == *m.result {
			points, right = points+m.points, right+1
		}
	}
	if counted > 0 && right == counted {
		points += e.bonus
	}
	return points, right
}

// look says what a member sees of an event, or of another member, that is not so, or
// not for the member's eyes: nothing of others' picks before the event is scored.
func (g *game) look(u, other string, e *booking) error {
	got := g.Ask(event.GetEventFunction, "/app/events/"+e.id, u, "")
	results := g.Ask(event.GetResultsFunction, "/app/events/"+e.id+"/results", u, "")
	if e.state == item.Deleting {
		return errors.Join(testkit.Refuses(got, 404, "event_not_found"), testkit.Refuses(results, 404, "event_not_found"))
	}
	screen := testkit.Decode[struct {
		State      string
		Prediction *event.Prediction
	}](g.World, got)
	picks, plays := e.picks[u]
	switch {
	case plays != (screen.Prediction != nil) || plays && !maps.Equal(picks, screen.Prediction.Predictions):
		return fmt.Errorf("%s sees other picks than %v: %s", u, picks, got.Body)
	case (screen.State == item.Upcoming) != e.open(g.Clock.Now()) || (screen.State == item.Scored) != (e.state == item.Scored):
		return fmt.Errorf("%s sees that %s is %s", u, e.id, screen.State)
	}
	for _, o := range g.users {
		if o != u && strings.Contains(got.Body, o) {
			return fmt.Errorf("%s sees something of %s: %s", u, o, got.Body)
		}
	}
	if e.state != item.Scored {
		if err := testkit.Refuses(results, 409, "event_not_scored"); err != nil || strings.Contains(results.Body, "u-") {
			return fmt.Errorf("results of an event that is %s: %w", e.state, cmp.Or(err, errors.New(results.Body)))
		}
	}
	page := g.Ask(member.GetUserFunction, "/app/users/"+other, u, "")
	if page.StatusCode != http.StatusOK || strings.Contains(page.Body, "predictions") || strings.Contains(page.Body, "00000000-0000") || !e.asked && strings.Contains(page.Body, e.id) {
		return fmt.Errorf("%s sees of %s: %d %s", u, other, page.StatusCode, page.Body)
	}
	return nil
}

// sound says what is wrong with the rows, whatever goes on: a member's standings
// are the sum of the member's scored predictions.
func (g *game) sound() error {
	if !g.written {
		return nil
	}
	g.written = false
	type sum struct{ points, correct, played int }
	sums, have := map[string]sum{}, map[string]sum{}
	for _, i := range testkit.Rows[item.Any](g.World, tables.Pickem) {
		switch is := i.Value.(type) {
		case *item.Prediction:
			if is.GSISK != fmt.Sprintf("SCORE#%03d#%s", is.Points, is.UserID()) {
				return fmt.Errorf("%d points of an event sort as %s", is.Points, is.GSISK)
			}
			if is.ScoredAt == "" {
				continue
			}
			for _, in := range append([]string{""}, slices.Collect(maps.Keys(g.leagues))...) {
				if in == "" || slices.Contains(g.leagues[in], is.UserID()) {
					key := is.UserID() + " in " + in + " " + is.EventID[:4]
					s := sums[key]
					sums[key] = sum{s.points + is.Points, s.correct + is.Correct, s.played + 1}
				}
			}
		case *item.Standing:
			if is.GSISK != fmt.Sprintf("SCORE#%05d#%s", is.Points, is.UserID()) {
				return fmt.Errorf("%d points of a year sort as %s", is.Points, is.GSISK)
			}
			year, in, _ := strings.Cut(strings.TrimPrefix(is.SK, "STANDINGS#"), "#")
			have[is.UserID()+" in "+in+" "+year] = sum{is.Points, is.Correct, is.Played}
		}
	}
	if !maps.Equal(sums, have) {
		return fmt.Errorf("the standings are\n%v, and the scored predictions\n%v", have, sums)
	}
	return nil
}

// settle has everything done that waits, and says what is wrong then.
func (g *game) settle() error {
	err := g.drain()
	if g.amid == 0 && !g.crashed { // nothing needs to be mended
		for _, e := range g.events {
			err = errors.Join(err, g.scored(e))
		}
	}
	g.crashed = g.crashed && g.amid > 0
	if err != nil {
		return err
	}
	g.To(g.Clock.Now().Add(3 * time.Minute))
	if err := errors.Join(g.perform(g.locks(nil), course{}), g.drain()); err != nil {
		return err
	}
	var done []*booking
	for _, e := range g.events {
		if e.state != item.Deleting && e.asked {
			done = append(done, e)
		}
		if err := errors.Join(g.look(g.users[0], g.users[1], e), g.scored(e)); err != nil {
			return err
		}
	}
	for _, year := range []string{"2026", "2027"} {
		played := slices.DeleteFunc(slices.Clone(done), func(e *booking) bool { return e.year() != year })
		if err := g.same("the standings of "+year, g.Standings(year), g.users, played); err != nil {
			return err
		}
		for id, members := range g.leagues {
			rows, err := dynamo.QueryAll[item.Standing](g.Ctx(), g.DB(), tables.LeagueStandings, dynamo.Range{Key: dynamo.KeyIs(tables.LeagueStandings, item.LeagueStandingsPK(id, year)), Backward: true})
			if err != nil {
				return err
			}
			if err := g.same("those of "+id, league.RankStandings(rows), members, played); err != nil {
				return err
			}
		}
	}
	return nil
}

// scored says what is wrong with the scores of an event.
func (g *game) scored(e *booking) error {
	if e.state == item.Deleting {
		if left, err := item.Query(g.Ctx(), g.DB(), tables.GetResults, dynamo.Range{Key: dynamo.KeyIs(tables.GetResults, item.EventRef(e.id))}); err != nil || len(left.Events)+len(left.Card)+len(left.Predictions) > 0 {
			return fmt.Errorf("of an event that is called off there are %v, %v", left, err)
		}
	}
	if e.state == item.Deleting || !e.asked {
		return nil
	}
	screen := testkit.Decode[struct {
		event.Event
		Count   int
		Entries []score.Entry
	}](g.World, g.Ask(event.GetResultsFunction, "/app/events/"+e.id+"/results", g.users[0], ""))
	if screen.State != item.Scored || screen.Updating {
		return fmt.Errorf("%s is not scored, or not by the latest results", e.id)
	}
	var got []league.Standing
	for _, en := range screen.Entries {
		points := 0
		for _, p := range en.Picks {
			points += p.Points
		}
		if points+en.Bonus != en.Points {
			return fmt.Errorf("%s has %d points in %s, and a sheet that says %+v", en.UserID, en.Points, e.id, en.Sheet)
		}
		got = append(got, league.Standing{Rank: en.Rank, UserID: en.UserID, Name: en.Name, Points: en.Points, Correct: en.Correct, Played: 1})
	}
	return differ("the scores of "+e.id, got, g.table(g.users, []*booking{e}))
}

// same compares the standings of members with the oracle's. How they have moved
// is how they differ from the table without the last event.
func (g *game) same(what string, got []league.Standing, members []string, events []*booking) error {
	want, last := g.table(members, events), ""
	for _, e := range events {
		for u := range e.picks {
			if slices.Contains(members, u) {
				last = max(last, e.id)
			}
		}
	}
	before := map[string]int{}
	for _, r := range g.table(members, slices.DeleteFunc(slices.Clone(events), func(e *booking) bool { return e.id == last })) {
		before[r.UserID] = r.Rank
	}
	for i, r := range want {
		if rank, was := before[r.UserID]; was {
			up := rank - r.Rank
			want[i].Movement = &up
		}
	}
	return differ(what, got, want)
}

// differ says how standings are not as they should be.
func differ(what string, got, want []league.Standing) error {
	lines := func(rows []league.Standing) (all []string) {
		for _, r := range rows {
			moved := "new"
			if r.Movement != nil {
				moved = fmt.Sprint(*r.Movement)
			}
			all = append(all, fmt.Sprintf("%d. %s (%s): %d points, %d right, %d played, moved %s", r.Rank, r.Name, r.UserID, r.Points, r.Correct, r.Played, moved))
		}
		return all
	}
	if a, b := lines(got), lines(want); !slices.Equal(a, b) {
		return fmt.Errorf("%s are\n\t%s\nand should be\n\t%s", what, strings.Join(a, "\n\t"), strings.Join(b, "\n\t"))
	}
	return nil
}
