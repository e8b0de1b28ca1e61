package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/sim/openfootball"
)

// found registers the members, and creates the tournaments and leagues.
func (r *run) found(ctx context.Context) {
	for i, m := range r.members {
		var out struct{ ID string }
		r.ask(ctx, nil, m.user, post, "/member", map[string]string{"nickName": m.name}, &out, "")
		m.id = out.ID
		r.Trial.Know(m.id, fmt.Sprintf("member %d", i))
	}

	for _, c := range r.cups {
		if c.done {
			continue
		}

		var out struct{ ID string }

		label := []rune(c.season.Name)
		in := map[string]any{
			"externalId": fmt.Sprint(c.n),
			"season":     fmt.Sprint(100 + c.n),
			"slug":       openfootball.Slug(strings.TrimSuffix(c.file, ".json")),
			"label":      string(label[:min(len(label), 40)]),
		}
		if r.cfg.Config.Provider != "" {
			in["provider"] = r.cfg.Config.Provider
		}

		if c.kicktipp() {
			in["rule"] = map[string]any{"name": "kicktipp", "jokerFactor": jokerFactor}
		}

		r.administrator(ctx, c, post, "/tournaments", in, &out, "")
		c.id = out.ID
		r.Trial.Know(c.id, c.file)
	}

	for i, name := range []string{"Office", "Café", "Everybody"} {
		l := &league{name: name}

		for n, m := range r.members {
			if i == 2 || n%(i+3) == i {
				l.members = append(l.members, m)
			}
		}

		for n, c := range r.cups {
			if c.id != "" && (i == 2 || n%2 == i) {
				l.cups = append(l.cups, c)
			}
		}

		r.foundLeague(ctx, l)
	}
}

// foundLeague creates a league as its first member, and joins it as the others.
func (r *run) foundLeague(ctx context.Context, l *league) {
	var out struct{ ID, Code string }

	owner := l.members[0]
	if !r.ask(ctx, nil, owner.user, post, "/leagues", map[string]string{"name": l.name}, &out, "") {
		return
	}

	l.id = out.ID
	r.leagues = append(r.leagues, l)
	r.Trial.Know(l.id, l.name)

	for _, m := range l.members[1:] {
		r.ask(ctx, nil, m.user, post, "/leagues/invitation", map[string]string{"code": strings.ToLower(out.Code)}, nil, "")
	}

	ids := []string{}
	for _, c := range l.cups {
		ids = append(ids, c.id)
	}

	r.ask(ctx, nil, owner.user, http.MethodPatch, "/leagues/"+l.id+"/tournaments", map[string]any{"tournaments": ids}, nil, "")

	if len(l.members) > 1 {
		r.ask(ctx, nil, l.members[1].user, http.MethodPatch, "/leagues/"+l.id+"/tournaments",
			map[string]any{"tournaments": ids}, nil, "not_league_admin")
	}
}

// plan adds the steps of members and administrators.
func (r *run) plan(ctx context.Context) {
	var all []*step

	add := func(t time.Time, do func()) { all = append(all, &step{t, len(all), do}) }

	for _, c := range r.cups {
		if c.id == "" {
			continue
		}

		ends := map[openfootball.Round]time.Time{}
		for _, f := range c.fixtures {
			ends[f.match.Round] = later(ends[f.match.Round], later(f.last().Changed, f.last().KickOff))

			d := r.dice("match", c.file, f.event)
			for _, m := range r.members {
				r.planGuess(ctx, f, m, r.dice("guess", c.file, f.event, m.user), add)
			}

			kickOff := f.last().KickOff
			if d.IntN(3) == 0 {
				add(kickOff.Add(-time.Millisecond), func() { r.probe(ctx, f, kickOff, d) })
			}

			for i, e := range f.views {
				if played(e) && (i == len(f.views)-1 || f.views[i+1].Changed.Sub(e.Changed) > time.Hour) {
					add(e.Changed.Add(learn+7*time.Minute), func() { r.check(ctx, c, false, 0) })
				}
			}

			if x := d.IntN(40); x < 2 && played(f.last()) || x < 20 && f.last().Code == 91 {
				add(f.last().Changed.Add(8*time.Hour), func() { r.correct(ctx, f, d) })
			}
		}

		for _, round := range c.rounds {
			if end := ends[round]; !end.IsZero() {
				add(end.Add(learn+8*time.Minute), func() { r.check(ctx, c, true, 0) })
			}

			if c.kicktipp() {
				r.planJokers(ctx, c, round, add)
			}
		}

		r.planQuestions(ctx, c, add)

		add(c.over, func() { r.finish(ctx, c) })
	}

	if len(all) > 0 {
		slices.SortFunc(all, byTime)

		m := r.members[3]
		all = slices.Insert(all, len(all)/2, &step{all[len(all)/2].at, 0, func() {
			if r.ask(ctx, nil, m.user, http.MethodPatch, "/member", map[string]string{"nickName": "Zacharias"}, nil, "") {
				m.name = "Zacharias"
			}
		}})
	}

	r.steps = all
}

// planGuess adds the guesses of a member for a match: in time, also twice, too late, or none. Half of
// the members go by the first kick-off, which may be moved.
func (r *run) planGuess(ctx context.Context, f *fixture, m *member, d *rand.Rand, add func(time.Time, func())) {
	kickOff := f.last().KickOff
	if d.IntN(2) == 0 {
		kickOff = f.views[0].KickOff
	}

	guess := func() openfootball.Goals {
		return openfootball.Goals{[]int{0, 1, 1, 2, 3}[d.IntN(5)], []int{0, 0, 1, 1, 2}[d.IntN(5)]}
	}
	play := kickOff // when it begins
	if began := f.last().Began; !began.IsZero() && began.Before(kickOff) {
		play = began
	}

	early := kickOff.Add(-time.Hour - time.Duration(d.IntN(40*60))*time.Minute)
	first, second := guess(), guess()
	in := func(g openfootball.Goals) func() { return func() { r.guess(ctx, f, m, g) } }

	switch x := d.IntN(100); {
	case x < 50: // never
	case x < 78:
		add(early, in(first))
	case x < 88: // changed
		add(early, in(first))
		add(kickOff.Add(-time.Minute-time.Duration(d.IntN(50))*time.Minute), in(second))
	case x < 93: // during play
		add(play.Add(time.Duration(d.IntN(100))*time.Minute), in(first))
	case x < 94: // after the final whistle
		add(f.whistle().Add(time.Duration(d.IntN(300))*time.Minute), in(first))
	case x < 98: // to be changed during play
		add(early, in(first))
		add(play.Add(time.Duration(d.IntN(100))*time.Minute), in(second))
	default: // to be changed after the final whistle
		add(early, in(first))
		add(f.whistle().Add(time.Duration(d.IntN(300))*time.Minute), in(second))
	}
}

// known returns whether the room knows the match.
func (r *run) known(ctx context.Context, f *fixture) bool {
	if f.id == "" {
		id, err := value[string](ctx, r, sql.FindMatch, fmt.Sprint(f.event))
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			r.fail(f.cup, "%v", err)
		}

		f.id = id
		r.Trial.Know(id, fmt.Sprint("match ", f.event))
	}

	return f.id != ""
}

const closed = "guess_window_closed"

// guess makes a guess of a member. It must succeed before the kick-off, and be refused from then on.
// The room may know a kick-off that the provider has changed less than stale ago.
func (r *run) guess(ctx context.Context, f *fixture, m *member, g openfootball.Goals) {
	if !r.known(ctx, f) {
		return
	}

	asked := r.Clock.Now()
	in := map[string]any{"matchId": f.id, "home": map[string]int{"score": g[0]}, "away": map[string]int{"score": g[1]}}
	code, again, err := r.call(ctx, m.user, post, "/guess", in, nil)
	accept, refuse := f.answers(asked, r.Clock.Now())

	want := closed
	if accept && (code == "" || !refuse) {
		want = ""
	}

	kickOff := f.at(asked).KickOff.Format(time.DateTime)
	if wrong := r.Judge(fmt.Sprintf("%s guesses %s, which begins at %s", m.name, f, kickOff), code, want, err); wrong != "" {
		r.fail(f.cup, "%s", wrong)
	}

	switch {
	case err == nil && code == "":
		if !again {
			f.guesses[m] = append(f.guesses[m], stored{asked, g})
		} else { // it was stored at one of the attempts
			r.recall(ctx, f, m, g)
		}

		r.guessed++
	case again: // an attempt whose answer was lost may have been in time
		r.recall(ctx, f, m, g)
	}
}

// recall reads from the database whether a guess was stored.
func (r *run) recall(ctx context.Context, f *fixture, m *member, g openfootball.Goals) {
	type row struct {
		Home, Away int
		At         time.Time
	}

	got, err := one[row](ctx, r, sql.GetGuess, f.id, m.id)
	if err == nil && got.Home == g[0] && got.Away == g[1] {
		f.guesses[m] = append(f.guesses[m], stored{got.At, g})
	}
}

// probe makes a guess in the last millisecond before the kick-off, and then at the kick-off, unless the
// kick-off was changed recently. Guesses of others are hidden before it, and visible after it.
func (r *run) probe(ctx context.Context, f *fixture, kickOff time.Time, d *rand.Rand) {
	steady := func() bool {
		e := f.at(kickOff)
		return e.Type == "notstarted" && e.KickOff.Equal(kickOff) && e.Changed.Before(kickOff.Add(-stale)) ||
			e.Type == "inprogress" && e.Changed.Equal(kickOff)
	}
	if !steady() || !r.known(ctx, f) {
		return
	}

	m, other := r.members[d.IntN(len(r.members))], r.members[d.IntN(len(r.members))]
	r.guess(ctx, f, m, openfootball.Goals{d.IntN(4), d.IntN(3)})

	if r.Clock.Now().Before(kickOff) { // the guess was not tried again
		code, again, err := r.call(ctx, other.user, get, "/matches/"+f.id+"/guesses", nil, nil)

		want := "guess_window_open"
		if again {
			want = code
		}

		if wrong := r.Judge("the guesses of "+f.String()+" before the kick-off", code, want, err); wrong != "" {
			r.fail(f.cup, "%s", wrong)
		}
	}

	r.at(kickOff, func() { r.probeLate(ctx, f, m, other) })
}

// probeLate makes a guess at the kick-off, and reads the guesses of others.
func (r *run) probeLate(ctx context.Context, f *fixture, m, other *member) {
	r.guess(ctx, f, m, openfootball.Goals{9, 9})
	r.probed++

	var got struct {
		Data []struct {
			MemberID   string
			Home, Away struct{ Value int }
		}
	}
	if !r.ask(ctx, f.cup, other.user, get, "/matches/"+f.id+"/guesses", nil, &got, "") {
		return
	}

	want, have := map[string]openfootball.Goals{}, map[string]openfootball.Goals{}
	for m := range f.guesses {
		if g, ok := f.counted(m); ok {
			want[m.id] = g
		}
	}

	for _, g := range got.Data {
		have[g.MemberID] = openfootball.Goals{g.Home.Value, g.Away.Value}
	}

	f.cup.checks++
	if diff := cmp.Diff(want, have); diff != "" {
		r.fail(f.cup, "the guesses of %s (-want +got):\n%s", f, diff)
	}
}

// correct corrects a result, makes a match void, or awards a walkover, as an administrator.
func (r *run) correct(ctx context.Context, f *fixture, d *rand.Rand) {
	if !r.known(ctx, f) {
		return
	}

	in := map[string]any{"void": true}

	f.set = nil
	if f.last().Code == 91 || d.IntN(2) == 0 {
		f.set = &openfootball.Goals{d.IntN(4), d.IntN(4)}
		in = map[string]any{"home": f.set[0], "away": f.set[1]}
	}

	if r.administrator(ctx, f.cup, post, "/settlements/"+f.id+"/correct", in, nil, "") {
		f.corrected = true
	}

	r.at(r.Clock.Now().Add(6*time.Minute), func() { r.check(ctx, f.cup, false, 0) })
}
