package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/openfootball"
)

// question is a question of a cup.
type question struct {
	slug, text, kind string
	worth            int
	choices          []string
	f                *fixture // the match that it is about, nil for none
	stored           bool     // whether the room has it
	answers          map[*member]string
	// What each member has by the latest decision, with 0 for those who have lost it.
	earned map[*member]int
}

// planJokers adds that some members give the joker of a round to one of its matches, before the day of the first.
func (r *run) planJokers(ctx context.Context, c *cup, round openfootball.Round, add func(time.Time, func())) {
	all := slices.DeleteFunc(slices.Clone(c.fixtures), func(f *fixture) bool { return f.match.Round != round })
	if len(all) == 0 {
		return
	}

	first := firstOf(all)

	for _, m := range r.members {
		d := r.dice("joker", c.file, slugOf(round), m.user)
		if d.IntN(3) > 0 {
			continue
		}

		f := all[d.IntN(len(all))]
		add(first.Add(-30*time.Hour-time.Duration(d.IntN(600))*time.Minute), func() {
			path := "/tournaments/" + c.id + "/rounds/" + slugOf(round) + "/joker"
			if r.known(ctx, f) && r.ask(ctx, c, m.user, http.MethodPut, path, map[string]string{"matchId": f.id}, nil, "") {
				f.jokers[m] = true
			}
		})
	}
}

// firstOf returns the first kick-off of matches that the provider ever names.
func firstOf(all []*fixture) (first time.Time) {
	for _, f := range all {
		for _, e := range f.views {
			if first.IsZero() || e.KickOff.Before(first) {
				first = e.KickOff
			}
		}
	}

	return first
}

// planQuestions adds the questions of a cup, and who advances in its last match if that is of a knockout round: the
// answers in time and too late, a decision that is wrong, and the right one.
func (r *run) planQuestions(ctx context.Context, c *cup, add func(time.Time, func())) {
	begun := slices.DeleteFunc(slices.Clone(c.fixtures), func(f *fixture) bool { return f.last().Began.IsZero() })
	if len(begun) == 0 {
		return
	}

	scorer := &question{slug: "scorer", text: "Who scores most?", kind: "choice", worth: 7, choices: []string{"A", "B", "C"}}
	champion := &question{slug: "champion", text: "Who wins?", kind: "team", worth: 20}
	locked := slices.MinFunc(begun, func(a, b *fixture) int { return a.whistle().Compare(b.whistle()) }).whistle().Add(learn)

	r.planQuestion(ctx, c, scorer, firstOf(c.fixtures), locked, add)
	r.planQuestion(ctx, c, champion, firstOf(c.fixtures), locked, add)

	if last := begun[len(begun)-1]; last.match.Round.Knockout() {
		q := &question{slug: "advances", text: "Who advances?", kind: "team", worth: 3, f: last}
		r.planQuestion(ctx, c, q, firstOf([]*fixture{last}), last.whistle().Add(learn), add)
	}
}

// planQuestion adds a question that surely takes answers until a time, and surely none from another on.
func (r *run) planQuestion(ctx context.Context, c *cup, q *question, open, locked time.Time, add func(time.Time, func())) {
	q.answers, q.earned = map[*member]string{}, map[*member]int{}
	c.asked = append(c.asked, q)

	add(open.Add(-11*time.Hour), func() { r.askQuestion(ctx, c, q) })

	for _, m := range r.members {
		d := r.dice("answer", c.file, q.slug, m.user)
		answer := func(want string) func() { return func() { r.answer(ctx, c, q, m, d, want) } }

		if d.IntN(3) > 0 {
			add(open.Add(-time.Hour-time.Duration(d.IntN(590))*time.Minute), answer(""))
		}

		if d.IntN(8) == 0 {
			add(locked.Add(time.Duration(d.IntN(100))*time.Minute), answer("questions_locked"))
		}
	}

	d := r.dice("decision", c.file, q.slug)
	add(c.over.Add(-3*time.Hour), func() { r.decide(ctx, c, q, d) })
	add(c.over.Add(-2*time.Hour), func() { r.decide(ctx, c, q, d) })
}

// askQuestion gives the cup a question more, as an administrator, if the room knows its teams.
func (r *run) askQuestion(ctx context.Context, c *cup, q *question) {
	q.stored = len(r.choicesOf(ctx, c, q)) > 0
	if !q.stored {
		return
	}

	all := []map[string]any{}

	for _, q := range c.asked {
		if !q.stored {
			continue
		}

		in := map[string]any{"slug": q.slug, "text": q.text, "kind": q.kind, "points": q.worth}
		if q.choices != nil {
			in["choices"] = q.choices
		}

		if q.f != nil {
			in["matchId"] = q.f.id
		}

		all = append(all, in)
	}

	r.administrator(ctx, c, http.MethodPut, "/tournaments/"+c.id+"/questions", map[string]any{"questions": all}, nil, "")
}

// choicesOf returns what can be answered.
func (r *run) choicesOf(ctx context.Context, c *cup, q *question) []string {
	f := q.f

	switch {
	case q.choices != nil:
		return q.choices
	case f == nil:
		f = c.fixtures[0]
	}

	if !r.known(ctx, f) {
		return nil
	}

	rows, err := r.query(ctx, sql.FindTeams, f.id)
	if err != nil {
		r.fail(c, "%v", err)
		return nil
	}

	teams, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.fail(c, "%v", err)
	}

	for i, id := range teams {
		r.Trial.Know(id, fmt.Sprintf("team %d of match %d", i, f.event))
	}

	return teams
}

// answer answers a question as a member.
func (r *run) answer(ctx context.Context, c *cup, q *question, m *member, d *rand.Rand, want string) {
	if !q.stored {
		return
	}

	choices := r.choicesOf(ctx, c, q)
	text := choices[d.IntN(len(choices))]

	path := "/tournaments/" + c.id + "/questions/" + q.slug + "/answer"
	if r.ask(ctx, c, m.user, http.MethodPut, path, map[string]string{"answer": text}, nil, want) {
		q.answers[m] = text
	}
}

// decide decides a question as an administrator.
func (r *run) decide(ctx context.Context, c *cup, q *question, d *rand.Rand) {
	if !q.stored {
		return
	}

	choices := r.choicesOf(ctx, c, q)
	right := choices[d.IntN(len(choices))]

	path := "/tournaments/" + c.id + "/questions/" + q.slug + "/settle"
	if !r.administrator(ctx, c, post, path, map[string]any{"answers": []string{right}}, nil, "") {
		return
	}

	for m, text := range q.answers {
		if _, had := q.earned[m]; had || text == right {
			q.earned[m] = 0
		}

		if text == right {
			q.earned[m] = q.worth
		}
	}
}
