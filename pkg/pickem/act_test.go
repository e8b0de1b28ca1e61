package pickem_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"pgregory.net/rapid"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
)

// any is something that may happen. What comes first is drawn most.
func (g *game) any(rt *rapid.T) act {
	return rapid.SampledFrom([]func(*rapid.T) act{
		g.races, g.plays, g.scores, g.picks, g.edits, g.ticks, g.enters, g.delivers, g.idle, g.looks, g.asks, g.pays, g.renames,
		g.withdraws, g.removes, g.adds, g.orders, g.opens, g.closes, g.moves, g.locks, g.rebuilds, g.cancels,
		g.races, g.plays, g.scores, g.picks, g.edits, g.ticks, g.enters,
	}).Draw(rt, "what")(rt)
}

func (g *game) user(rt *rapid.T) string { return rapid.SampledFrom(g.users).Draw(rt, "user") }

func (g *game) event(rt *rapid.T) *booking { return rapid.SampledFrom(g.events).Draw(rt, "event") }

// onCard is a match of the card, or, of an empty one, a match that is nowhere.
func (g *game) onCard(rt *rapid.T, e *booking) *bout {
	if len(e.card) == 0 {
		return &bout{id: pickemtest.MatchID(0), points: 1, sides: []string{"Left", "Right"}}
	}
	return rapid.SampledFrom(e.card).Draw(rt, "match")
}

var byRoot = auth.Admin{User: auth.User{UserID: testkit.Administrator}}

// first is the first of the codes whose condition holds, "" if none does.
func first(codes ...func() string) string {
	for _, c := range codes {
		if s := c(); s != "" {
			return s
		}
	}
	return ""
}

func when(condition func() bool, code string) func() string {
	return func() string {
		if condition() {
			return code
		}
		return ""
	}
}

func (e *booking) gone() string {
	return when(func() bool { return e.state == item.Deleting }, item.ErrNoEvent.Code)()
}

func (g *game) shut(e *booking) func() string {
	return when(func() bool { return !e.open(g.Clock.Now()) }, "event_locked")
}

// early is the code for what is not for an event that is open; of one that only
// the clock has locked yet, it may be for it already.
func (g *game) early(e *booking) func() string {
	return func() string {
		switch {
		case e.open(g.Clock.Now()):
			return "event_upcoming"
		case e.state == item.Upcoming:
			return whatever
		}
		return ""
	}
}

func (e *booking) without(m *bout) func() string {
	return when(func() bool { return e.match(m.id) == nil }, "match_not_found")
}

// late says that something was written that only an open event takes.
func late(e *booking, w pickemtest.Write) error {
	if e.open(w.Sent) {
		return nil
	}
	return fmt.Errorf("%s is %s, and locked at %v: this was sent at %v", e.id, e.state, e.lockAt, w.Sent)
}

func (g *game) picks(rt *rapid.T) act { return g.picked(rt, g.user(rt), g.event(rt)) }

func (g *game) picked(rt *rapid.T, u string, e *booking) act {
	picks, mistake := e.guess(rt), ""
	switch m := g.onCard(rt, e); rapid.IntRange(0, 19).Draw(rt, "mistake") {
	case 1:
		picks[pickemtest.MatchID(0)], mistake = 0, "unknown_match"
	case 2:
		if len(e.card) > 0 {
			picks[m.id], mistake = len(m.sides), "invalid_team"
		}
	}
	in := &event.PutPredictions{User: auth.User{UserID: u}, EventID: e.id}
	in.Body.Predictions = picks
	return act{
		what: u + " picks " + e.id, fn: event.PutPredictionsFunction, do: by(g, event.OpenEvents, (*event.Events).PutPredictions, in),
		wants: func() string { return first(e.gone, g.shut(e), func() string { return mistake }) },
		wrote: func(w pickemtest.Write) error {
			e.picks[u] = maps.Clone(picks)
			for id, team := range picks {
				if m := e.match(id); m == nil || team >= len(m.sides) {
					return fmt.Errorf("team %d of %s was picked", team, id)
				}
			}
			return late(e, w)
		},
	}
}

func (g *game) withdraws(rt *rapid.T) act {
	u, e := g.user(rt), g.event(rt)
	return act{
		what: u + " withdraws from " + e.id, fn: event.DeletePredictionsFunction,
		do:    by(g, event.OpenEvents, (*event.Events).DeletePredictions, &event.DeletePredictions{User: auth.User{UserID: u}, EventID: e.id}),
		wants: func() string { return first(e.gone, g.shut(e)) },
		wrote: func(w pickemtest.Write) error { delete(e.picks, u); return late(e, w) },
	}
}

// ticks has time pass, less than for which a lost message is asked for again.
func (g *game) ticks(rt *rapid.T) act {
	d := minutesDrawn(rt, "minutes", 1, 5)
	return act{what: "time passes", whole: true, do: func(app.Env) error {
		if next := g.Clock.Now().Add(d); next.Before(g.begun.Add(40 * time.Minute)) {
			g.To(next)
		}
		return nil
	}}
}

func (g *game) locks(*rapid.T) act {
	return act{
		what: "events are locked", fn: event.LockEventsFunction, whole: true,
		do:    func(env app.Env) error { return testkit.OpenWith(g.World, env, event.OpenEvents).LockEvents(g.Ctx()) },
		wants: func() string { return "" },
		wrote: func(w pickemtest.Write) error {
			for _, e := range g.events {
				if e.state == item.Upcoming && !e.open(g.Clock.Now()) {
					e.state = item.Broadcast
				}
			}
			return nil
		},
	}
}

// update is a change of an event by an administrator.
func (g *game) update(what string, e *booking, set func(*event.UpdateEvent), wants func() string, wrote func() error) act {
	in := &event.UpdateEvent{Admin: byRoot, EventID: e.id}
	set(in)
	return act{
		what: e.id + " " + what, fn: event.UpdateEventFunction, do: by(g, event.OpenEvents, (*event.Events).UpdateEvent, in),
		wants: func() string { return first(e.gone, wants) }, wrote: func(w pickemtest.Write) error { return wrote() },
	}
}

func no() string { return "" }

func (g *game) closes(rt *rapid.T) act { return g.closed(g.event(rt)) }

func (g *game) closed(e *booking) act {
	return g.update("is closed", e, func(in *event.UpdateEvent) { in.Body.State = aws.String(item.Broadcast) },
		when(func() bool { return e.state == item.Scored }, "bad_transition"),
		func() error {
			if e.state != item.Upcoming {
				return errors.New("it was closed already")
			}
			e.state = item.Broadcast
			return nil
		})
}

func (g *game) opens(rt *rapid.T) act {
	e, until := g.event(rt), g.Clock.Now().Add(minutesDrawn(rt, "for", 1, 8))
	return g.update("is opened", e, func(in *event.UpdateEvent) { in.Body.State, in.Body.LockAt = aws.String(item.Upcoming), &until },
		when(func() bool { return e.state == item.Scored || e.state == item.Broadcast && e.entered }, "bad_transition"),
		func() error {
			if e.entered {
				return errors.New("it was opened with results in")
			}
			e.state, e.lockAt = item.Upcoming, until
			return nil
		})
}

func (g *game) moves(rt *rapid.T) act {
	e, to := g.event(rt), g.Clock.Now().Add(minutesDrawn(rt, "lock in", -2, 8))
	return g.update("is moved", e, func(in *event.UpdateEvent) { in.Body.LockAt = &to }, no, func() error { e.lockAt = to; return nil })
}

func (g *game) pays(rt *rapid.T) act { return g.paid(rt, g.event(rt)) }

func (g *game) paid(rt *rapid.T, e *booking) act {
	bonus := rapid.SampledFrom([]int{0, 10, 40}).Draw(rt, "bonus")
	return g.update("has a new bonus", e, func(in *event.UpdateEvent) { in.Body.Bonus = &bonus }, no, func() error { e.bonus = bonus; return nil })
}

func (g *game) enters(rt *rapid.T) act {
	e := g.event(rt)
	m := g.onCard(rt, e)
	return g.result(e, m, rapid.IntRange(item.Void, len(m.sides)).Draw(rt, "result")) // there are not so many sides
}

func (g *game) result(e *booking, m *bout, result int) act {
	in := &event.PutResult{Admin: byRoot, EventID: e.id, MatchID: m.id}
	in.Body.Result = item.Result(result)
	return act{
		what: fmt.Sprint("a result of ", e.id, ": ", result), fn: event.PutResultFunction, do: by(g, event.OpenEvents, (*event.Events).PutResult, in),
		wants: func() string {
			return first(e.gone, e.without(m), g.early(e),
				when(func() bool { return result >= len(m.sides) }, "invalid_team"))
		},
		wrote: func(w pickemtest.Write) error {
			m := e.match(m.id)
			if m == nil || e.open(w.Sent) || result >= len(m.sides) {
				return fmt.Errorf("the match is %+v, the event %s", m, e.state)
			}
			m.result, e.entered = &result, true
			if e.state == item.Upcoming {
				e.state = item.Broadcast
			}
			return nil
		},
	}
}

func (g *game) edits(rt *rapid.T) act { return g.edited(rt, g.event(rt)) }

func (g *game) edited(rt *rapid.T, e *booking) act {
	m := g.onCard(rt, e)
	to := &bout{points: rapid.IntRange(1, 30).Draw(rt, "points"), sides: m.sides}
	if rapid.Bool().Draw(rt, "new sides") {
		to.sides = g.teams(rt)
	}
	changed := func() bool { return !slices.Equal(e.match(m.id).sides, to.sides) }
	return act{
		what: "a match of " + e.id + " changes", fn: event.UpdateMatchFunction,
		do: by(g, event.OpenEvents, (*event.Events).UpdateMatch, &event.UpdateMatch{Admin: byRoot, EventID: e.id, MatchID: m.id, Body: to.fields()}),
		wants: func() string {
			return first(e.gone, e.without(m), func() string {
				if changed() {
					return g.shut(e)()
				}
				return ""
			})
		},
		wrote: func(w pickemtest.Write) (err error) {
			if changed() {
				e.forget(m.id)
				err = late(e, w)
			}
			m := e.match(m.id)
			m.points, m.sides = to.points, to.sides
			return err
		},
	}
}

func (g *game) removes(rt *rapid.T) act { return g.removed(rt, g.event(rt)) }

func (g *game) removed(rt *rapid.T, e *booking) act {
	m := g.onCard(rt, e)
	return act{
		what: "a match of " + e.id + " is off", fn: event.DeleteMatchFunction,
		do: by(g, event.OpenEvents, (*event.Events).DeleteMatch, &event.DeleteMatch{Admin: byRoot, EventID: e.id, MatchID: m.id}),
		wants: func() string {
			if e.state != item.Deleting && e.match(m.id) == nil {
				return whatever // it depends on who picked it once
			}
			return first(e.gone, g.shut(e))
		},
		wrote: func(w pickemtest.Write) error {
			e.forget(m.id)
			e.card = slices.DeleteFunc(slices.Clone(e.card), func(o *bout) bool { return o.id == m.id })
			e.off = append(e.off, m.id)
			return late(e, w)
		},
	}
}

// adds adds a match, under an id that another had, or a new one.
func (g *game) adds(rt *rapid.T) act {
	e := g.event(rt)
	m := g.bout(rt, e)
	if again := slices.DeleteFunc(slices.Clone(e.off), func(id string) bool { return e.match(id) != nil }); len(again) > 0 {
		m.id = rapid.SampledFrom(append(again, m.id)).Draw(rt, "id")
	}
	in := &event.AddMatch{Admin: byRoot, EventID: e.id}
	in.Body.ID, in.Body.MatchFields = m.id, m.fields()
	return act{
		what: "a match is added to " + e.id, fn: event.AddMatchFunction, do: by(g, event.OpenEvents, (*event.Events).AddMatch, in),
		wants: func() string { return first(e.gone, g.shut(e)) },
		wrote: func(w pickemtest.Write) error { e.card = append(slices.Clone(e.card), m); return late(e, w) },
	}
}

func (g *game) orders(rt *rapid.T) act {
	e := g.event(rt)
	card := rapid.Permutation(e.card).Draw(rt, "order")
	in := &event.OrderCard{Admin: byRoot, EventID: e.id}
	for _, m := range card {
		in.Body.MatchIDs = append(in.Body.MatchIDs, m.id)
	}
	return act{
		what: e.id + " is put into another order", fn: event.OrderCardFunction, do: by(g, event.OpenEvents, (*event.Events).OrderCard, in),
		wants: func() string { return e.gone() },
		wrote: func(w pickemtest.Write) error {
			if len(card) != len(e.card) || slices.ContainsFunc(card, func(m *bout) bool { return !slices.Contains(e.card, m) }) {
				return errors.New("it was another card")
			}
			e.card = card
			return nil
		},
	}
}

func (g *game) renames(rt *rapid.T) act {
	u := g.user(rt)
	in := &member.UpdateMe{User: auth.User{UserID: u}}
	in.Body.Name = rapid.SampledFrom([]string{"Al", "Bo", "Cy"}).Draw(rt, "name")
	return act{
		what: u + " is renamed", fn: member.UpdateMeFunction, whole: true, do: by(g, member.OpenMembers, (*member.Members).UpdateMe, in),
		wants: no, wrote: func(w pickemtest.Write) error { g.names[u] = in.Body.Name; return nil },
	}
}

// unfinished reports that a match has no result, or that there is no match.
func (e *booking) unfinished() bool {
	return len(e.card) == 0 || slices.ContainsFunc(e.card, func(m *bout) bool { return m.result == nil })
}

func (g *game) asks(rt *rapid.T) act { return g.asked(g.event(rt)) }

func (g *game) asked(e *booking) act {
	return act{
		what: "points of " + e.id + " are asked for", fn: event.RequestScoreFunction,
		do: by(g, event.OpenEvents, (*event.Events).RequestScore, &event.RequestScore{Admin: byRoot, EventID: e.id}),
		wants: func() string {
			return first(e.gone, g.early(e), when(e.unfinished, "results_missing"))
		},
		wrote: func(w pickemtest.Write) error {
			e.asked = true
			if e.open(w.Sent) || e.state == item.Deleting || e.unfinished() {
				return fmt.Errorf("it is %s, or without results", e.state)
			}
			return nil
		},
	}
}

// races has something overtaken where that is most likely to do harm: picks by
// what locks the event or changes its card, a result by another, and a scoring by
// another, by newer results, or by a name.
func (g *game) races(rt *rapid.T) act {
	one := func(of ...func() act) act { return rapid.SampledFrom(of).Draw(rt, "which")() }
	e := g.event(rt)
	var before []act
	var a act
	var c course
	switch {
	case e.open(g.Clock.Now()):
		a, c.at = g.picked(rt, g.user(rt), e), rapid.IntRange(2, 3).Draw(rt, "before call")
		c.meanwhile = []act{one(func() act { return g.edited(rt, e) }, func() act { return g.removed(rt, e) }, func() act { return g.closed(e) })}
	case !e.asked || e.state == item.Deleting:
		return g.plays(rt)
	default:
		worth := func() act {
			return one(func() act { return g.corrected(rt, e) }, func() act { return g.paid(rt, e) }, func() act { return g.edited(rt, e) })
		}
		switch rapid.IntRange(0, 5).Draw(rt, "what") {
		case 0:
			a, c.at, c.meanwhile = g.corrected(rt, e), 3, []act{worth(), g.delivers(rt)}
		case 1:
			a, c.crash = g.corrected(rt, e), 4 // before it sends its message
		case 2:
			a = worth()
		default:
			other := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(g.events), func(e *booking) bool { return !e.asked })).Draw(rt, "other")
			before, a, c.at = []act{worth()}, g.score(e), rapid.IntRange(3, 8).Draw(rt, "before call")
			c.meanwhile = []act{worth(), one(func() act { return g.delivers(rt) }, func() act { return g.score(other) }, func() act { return g.renames(rt) })}
		}
	}
	switch {
	case !g.crashes:
		c.crash = 0
	case c.at > 0 && rapid.Bool().Draw(rt, "crashes"):
		c.crash = c.at + rapid.IntRange(1, 6).Draw(rt, "crashes at")
	}
	return act{what: a.what + ", in a hurry", whole: true, do: func(app.Env) error {
		var errs error
		for _, b := range before {
			errs = errors.Join(errs, g.perform(b, course{}))
		}
		return errors.Join(errs, g.perform(a, c))
	}}
}

// corrected is another result of a match that has one.
func (g *game) corrected(rt *rapid.T, e *booking) act {
	m := rapid.SampledFrom(e.card).Draw(rt, "match")
	result := rapid.IntRange(item.Void, len(m.sides)-2).Draw(rt, "result")
	if result >= *m.result {
		result++
	}
	return g.result(e, m, result)
}

// plays takes a locked event to where points are asked for.
func (g *game) plays(rt *rapid.T) act {
	e := g.event(rt)
	if e.open(g.Clock.Now()) {
		return g.ticks(rt)
	}
	var all []act
	right := e.picks[g.user(rt)] // whoever it is has more right than others
	for _, m := range e.card {
		result, picked := right[m.id]
		if !picked || rapid.IntRange(0, 3).Draw(rt, "otherwise") == 0 {
			result = rapid.IntRange(item.Void, len(m.sides)-1).Draw(rt, "result")
		}
		all = append(all, g.result(e, m, result))
	}
	return act{what: e.id + " is played", whole: true, do: func(app.Env) error {
		var errs error
		for _, a := range slices.Concat([]act{g.closed(e)}, all, []act{g.asked(e)}) {
			errs = errors.Join(errs, g.perform(a, course{}))
		}
		return errs
	}}
}

// scores is a delivery, by a queue that may deliver anything twice and late. One
// that crashes is not delivered again.
func (g *game) scores(rt *rapid.T) act { return g.score(g.event(rt)) }

func (g *game) score(e *booking) act {
	return act{
		what: e.id + " is scored", fn: score.ScoreEventFunction,
		do: func(env app.Env) error {
			return testkit.OpenWith(g.World, env, score.OpenScorer).ScoreEvent(g.Ctx(), score.Request{EventID: e.id})
		},
		wants: when(func() bool { return !e.asked && e.state != item.Deleting }, "event_not_ready"),
		wrote: func(w pickemtest.Write) error {
			if w.Operation == "UpdateItem" { // all members are done
				e.state = item.Scored
			}
			return nil
		},
	}
}

func (g *game) delivers(*rapid.T) act {
	return act{what: "messages are delivered", whole: true, do: func(app.Env) error { return g.drain() }}
}

func (g *game) drain() (err error) {
	testkit.Drain(g.World, score.Queue, 0, func(_ context.Context, in score.Request) error {
		i := slices.IndexFunc(g.events, func(e *booking) bool { return e.id == in.EventID })
		err = errors.Join(err, g.perform(g.score(g.events[i]), course{}))
		return nil
	})
	return err
}

func (g *game) rebuilds(rt *rapid.T) act {
	in := score.RebuildStandings{Year: rapid.SampledFrom([]int{2026, 2027}).Draw(rt, "year")}
	return act{
		what: "standings are rebuilt", fn: score.RebuildStandingsFunction, wants: no,
		do: func(env app.Env) error {
			_, err := testkit.OpenWith(g.World, env, score.OpenScorer).RebuildStandings(g.Ctx(), in)
			return err
		},
	}
}

func (g *game) cancels(rt *rapid.T) act {
	e := g.events[rapid.IntRange(0, 8).Draw(rt, "event")/4]
	return act{
		what: e.id + " is called off", fn: event.DeleteEventFunction, whole: true,
		do:    by(g, event.OpenEvents, (*event.Events).DeleteEvent, &event.DeleteEvent{Admin: byRoot, EventID: e.id}),
		wants: func() string { return first(e.gone, when(func() bool { return e.asked }, "event_scored")) },
		wrote: func(w pickemtest.Write) error {
			e.state, e.picks = item.Deleting, nil
			if e.asked {
				return errors.New("its points were asked for")
			}
			return nil
		},
	}
}

// looks has a member look at an event and at another member.
func (g *game) looks(rt *rapid.T) act {
	u, other, e := g.user(rt), g.user(rt), g.event(rt)
	return act{what: u + " looks at " + e.id, whole: true, do: func(app.Env) error { return g.look(u, other, e) }}
}

func (g *game) idle(*rapid.T) act {
	return act{what: "it becomes quiet", whole: true, do: func(app.Env) error { return g.settle() }}
}
