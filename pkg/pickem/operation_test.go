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

// drawOperation draws an operation. rapid draws the first of a list most often.
func (g *game) drawOperation(rt *rapid.T) operation {
	return rapid.SampledFrom([]func(*rapid.T) operation{
		g.race, g.playEvent, g.anyScoring, g.anyPick, g.anyEdit, g.passTime, g.anyResult, g.deliverMessages, g.settleNow, g.anyLook,
		g.anyScoreRequest, g.anyBonus, g.renameMember,
		g.withdrawPick, g.anyRemoval, g.addMatch, g.orderCard, g.openEvent, g.anyClosing, g.moveLock, g.lockEvents,
		g.rebuildStandings, g.deleteEvent,
		g.race, g.playEvent, g.anyScoring, g.anyPick, g.anyEdit, g.passTime, g.anyResult,
	}).Draw(rt, "what")(rt)
}

func (g *game) drawUser(rt *rapid.T) string { return rapid.SampledFrom(g.users).Draw(rt, "user") }

func (g *game) drawEvent(rt *rapid.T) *modelEvent {
	return rapid.SampledFrom(g.events).Draw(rt, "event")
}

// drawMatchOf draws a match of the card. For an empty card it returns a match that is on no
// card.
func (g *game) drawMatchOf(rt *rapid.T, e *modelEvent) *modelMatch {
	if len(e.card) == 0 {
		return &modelMatch{id: pickemtest.MatchID(0), points: 1, sides: []modelSide{{"t1", "Left"}, {"t2", "Right"}}}
	}

	return rapid.SampledFrom(e.card).Draw(rt, "match")
}

var byRoot = auth.Admin{User: auth.User{UserID: testkit.Administrator}}

// firstCode returns the first code that is not "".
func firstCode(codes ...func() string) string {
	for _, c := range codes {
		if s := c(); s != "" {
			return s
		}
	}

	return ""
}

// codeIf returns code if the condition holds, otherwise "".
func codeIf(condition func() bool, code string) func() string {
	return func() string {
		if condition() {
			return code
		}

		return ""
	}
}

// refusedIfDeleted returns event_not_found for a deleted event.
func (e *modelEvent) refusedIfDeleted() string {
	return codeIf(func() bool { return e.state == item.Deleting }, item.ErrNoEvent.Code)()
}

// refusedIfLocked returns event_locked unless the event is open.
func (g *game) refusedIfLocked(e *modelEvent) func() string {
	return codeIf(func() bool { return !e.isOpen(g.Clock.Now()) }, "event_locked")
}

// refusedIfOpen returns event_upcoming for an open event. After lockAt, but before LockEvents
// has run, any outcome is valid.
func (g *game) refusedIfOpen(e *modelEvent) func() string {
	return func() string {
		switch {
		case e.isOpen(g.Clock.Now()):
			return "event_upcoming"
		case e.state == item.Upcoming:
			return anyCode
		}

		return ""
	}
}

// refusedIfNoMatch returns match_not_found if the match is not on the card.
func (e *modelEvent) refusedIfNoMatch(m *modelMatch) func() string {
	return codeIf(func() bool { return e.match(m.id) == nil }, "match_not_found")
}

// checkSentWhileOpen returns an error if a write that needs an open event was sent after
// the lock.
func checkSentWhileOpen(e *modelEvent, w pickemtest.Write) error {
	if e.isOpen(w.Sent) {
		return nil
	}

	return fmt.Errorf("event %s in state %s accepted a write sent at %[4]v; it locked at %[3]v", e.id, e.state, e.lockAt, w.Sent)
}

func (g *game) anyPick(rt *rapid.T) operation { return g.pick(rt, g.drawUser(rt), g.drawEvent(rt)) }

func (g *game) pick(rt *rapid.T, u string, e *modelEvent) operation {
	picks := e.drawPicks(rt)
	switch m := g.drawMatchOf(rt, e); rapid.IntRange(0, 19).Draw(rt, "mistake") {
	case 1:
		picks[pickemtest.MatchID(0)] = "t1"
	case 2:
		if len(e.card) > 0 {
			picks[m.id] = "t0"
		}
	}

	in := &event.PutPredictions{User: auth.User{UserID: u}, EventID: e.id}
	in.Body.Predictions = picks

	return operation{
		what: u + " picks " + e.id, fn: event.PutPredictionsFunction(), do: call(g, event.OpenEvents, (*event.Events).PutPredictions, in),
		wantCode: func() string {
			return firstCode(e.refusedIfDeleted, g.refusedIfLocked(e), func() string { return e.refusedPicks(picks) })
		},
		onWrite: func(w pickemtest.Write) error {
			e.picks[u] = maps.Clone(picks)
			for id, team := range picks {
				if m := e.match(id); m == nil || m.place(team) < 0 {
					return fmt.Errorf("saved a pick of team %s of match %s, which does not exist", team, id)
				}
			}

			return checkSentWhileOpen(e, w)
		},
	}
}

// refusedPicks returns the code for picks that the present card does not have. The card
// may have changed since they were drawn. Of two mistakes either is reported.
func (e *modelEvent) refusedPicks(picks map[string]string) (code string) {
	for id, team := range picks {
		found := ""
		if m := e.match(id); m == nil {
			found = "unknown_match"
		} else if m.place(team) < 0 {
			found = "invalid_team"
		}

		switch {
		case code == "" || found == code:
			code = found
		case found != "":
			return anyCode
		}
	}

	return code
}

func (g *game) withdrawPick(rt *rapid.T) operation {
	u, e := g.drawUser(rt), g.drawEvent(rt)

	return operation{
		what: u + " withdraws from " + e.id, fn: event.DeletePredictionsFunction(),
		do: call(g, event.OpenEvents, (*event.Events).DeletePredictions,
			&event.DeletePredictions{User: auth.User{UserID: u}, EventID: e.id}),
		wantCode: func() string { return firstCode(e.refusedIfDeleted, g.refusedIfLocked(e)) },
		onWrite:  func(w pickemtest.Write) error { delete(e.picks, u); return checkSentWhileOpen(e, w) },
	}
}

// passTime advances the clock by less than scorePatience, after which LockEvents would
// queue a lost scoring again.
func (g *game) passTime(rt *rapid.T) operation {
	d := minutesDrawn(rt, "minutes", 1, 5)

	return operation{what: "time passes", uninterrupted: true, do: func(app.Env) error {
		if next := g.Clock.Now().Add(d); next.Before(g.begun.Add(40 * time.Minute)) {
			g.MoveClock(next)
		}

		return nil
	}}
}

func (g *game) lockEvents(*rapid.T) operation {
	return operation{
		what: "events are locked", fn: event.LockEventsFunction(), uninterrupted: true,
		do: func(env app.Env) error {
			return testkit.OpenWith(g.World, env, event.OpenEvents).LockEvents(g.NewContext())
		},
		wantCode: func() string { return "" },
		onWrite: func(w pickemtest.Write) error {
			for _, e := range g.events {
				if e.state == item.Upcoming && !e.isOpen(g.Clock.Now()) {
					e.state = item.Broadcast
				}
			}

			return nil
		},
	}
}

// update is a change of an event by an administrator.
func (g *game) update(what string, e *modelEvent, set func(*event.UpdateEvent), wantCode func() string, onWrite func() error) operation {
	in := &event.UpdateEvent{Admin: byRoot, EventID: e.id}
	set(in)

	return operation{
		what: e.id + " " + what, fn: event.UpdateEventFunction(), do: call(g, event.OpenEvents, (*event.Events).UpdateEvent, in),
		wantCode: func() string { return firstCode(e.refusedIfDeleted, wantCode) }, onWrite: func(w pickemtest.Write) error { return onWrite() },
	}
}

func noError() string { return "" }

func (g *game) anyClosing(rt *rapid.T) operation { return g.closeEvent(g.drawEvent(rt)) }

func (g *game) closeEvent(e *modelEvent) operation {
	return g.update("is closed", e, func(in *event.UpdateEvent) { in.Body.State = aws.String(item.Broadcast) },
		codeIf(func() bool { return e.state == item.Scored }, "bad_transition"),
		func() error {
			if e.state != item.Upcoming {
				return errors.New("wrote to an event that was closed already")
			}

			e.state = item.Broadcast

			return nil
		})
}

func (g *game) openEvent(rt *rapid.T) operation {
	e, until := g.drawEvent(rt), g.Clock.Now().Add(minutesDrawn(rt, "for", 1, 8))

	return g.update("is opened", e, func(in *event.UpdateEvent) { in.Body.State, in.Body.LockAt = aws.String(item.Upcoming), &until },
		codeIf(func() bool { return e.state == item.Scored || e.state == item.Broadcast && e.entered }, "bad_transition"),
		func() error {
			if e.entered {
				return errors.New("opened an event that has results")
			}

			e.state, e.lockAt = item.Upcoming, until

			return nil
		})
}

func (g *game) moveLock(rt *rapid.T) operation {
	e, to := g.drawEvent(rt), g.Clock.Now().Add(minutesDrawn(rt, "lock in", -2, 8))

	return g.update("is moved", e, func(in *event.UpdateEvent) { in.Body.LockAt = &to }, noError, func() error {
		if e.state == item.Broadcast && !e.entered && to.After(g.Clock.Now()) {
			e.state = item.Upcoming
		}

		e.lockAt = to

		return nil
	})
}

func (g *game) anyBonus(rt *rapid.T) operation { return g.setBonus(rt, g.drawEvent(rt)) }

func (g *game) setBonus(rt *rapid.T, e *modelEvent) operation {
	bonus := rapid.SampledFrom([]int{0, 10, 40}).Draw(rt, "bonus")
	return g.update("has a new bonus", e, func(in *event.UpdateEvent) { in.Body.Bonus = &bonus }, noError,
		func() error { e.bonus = bonus; return nil })
}

func (g *game) anyResult(rt *rapid.T) operation {
	e := g.drawEvent(rt)
	m := g.drawMatchOf(rt, e)

	return g.putResult(e, m, rapid.IntRange(int(event.NoResult), len(m.sides)).Draw(rt, "result")) // len(m.sides) is invalid
}

func (g *game) putResult(e *modelEvent, m *modelMatch, result int) operation {
	in := &event.PutResult{Admin: byRoot, EventID: e.id, MatchID: m.id}
	in.Body.Result = event.NewResult(result)

	return operation{
		what: fmt.Sprint("a result of ", e.id, ": ", result),
		fn:   event.PutResultFunction(),
		do:   call(g, event.OpenEvents, (*event.Events).PutResult, in),
		wantCode: func() string {
			return firstCode(e.refusedIfDeleted, e.refusedIfNoMatch(m), g.refusedIfOpen(e),
				codeIf(func() bool { return result >= len(m.sides) }, "invalid_team"))
		},
		onWrite: func(w pickemtest.Write) error {
			m := e.match(m.id)
			if m == nil || e.isOpen(w.Sent) || result >= len(m.sides) {
				return fmt.Errorf("wrote result %d of match %+v while the event was %s", result, m, e.state)
			}

			m.result, e.entered = &result, true
			if result == int(event.NoResult) {
				m.result, e.cleared = nil, e.cleared || e.asked
			}

			if e.state == item.Upcoming || m.result == nil {
				e.state = item.Broadcast
			}

			return nil
		},
	}
}

func (g *game) anyEdit(rt *rapid.T) operation { return g.editMatch(rt, g.drawEvent(rt)) }

func (g *game) editMatch(rt *rapid.T, e *modelEvent) operation {
	m := g.drawMatchOf(rt, e)

	to := &modelMatch{points: rapid.IntRange(1, 30).Draw(rt, "points"), sides: slices.Clone(m.sides)}
	switch rapid.SampledFrom([]string{"new sides", "same sides", "same names", "spelling", "order"}).Draw(rt, "sides") {
	case "new sides":
		to.sides = g.drawSides(rt)
	case "same names":
		for i := range to.sides {
			to.sides[i].id = ""
		}
	case "spelling":
		to.sides[0].name = g.newName()
	case "order":
		slices.Reverse(to.sides)
	}
	// changed reports whether who competes changes, and whether the order does.
	changed := func() (who, order bool) {
		m := e.match(m.id)
		sides, _, _ := m.identify(to.sides)
		same := func(a, b modelSide) bool { return a.id == b.id }

		return !slices.Equal(competitors(sides), competitors(m.sides)), !slices.EqualFunc(sides, m.sides, same)
	}

	return operation{
		what: "a match of " + e.id + " changes", fn: event.UpdateMatchFunction(),
		do: call(g, event.OpenEvents, (*event.Events).UpdateMatch,
			&event.UpdateMatch{Admin: byRoot, EventID: e.id, MatchID: m.id, Body: to.fields()}),
		wantCode: func() string {
			return firstCode(e.refusedIfDeleted, e.refusedIfNoMatch(m), func() string {
				if _, _, code := e.match(m.id).identify(to.sides); code != "" {
					return code
				}

				if _, order := changed(); order {
					return g.refusedIfLocked(e)()
				}

				return ""
			})
		},
		onWrite: func(w pickemtest.Write) (err error) {
			who, order := changed()
			if who {
				e.voidPicks(m.id)
			}

			if order {
				err = checkSentWhileOpen(e, w)
			}

			m := e.match(m.id)
			m.points = to.points
			m.sides, m.last, _ = m.identify(to.sides)

			return err
		},
	}
}

func (g *game) anyRemoval(rt *rapid.T) operation { return g.removeMatch(rt, g.drawEvent(rt)) }

func (g *game) removeMatch(rt *rapid.T, e *modelEvent) operation {
	m := g.drawMatchOf(rt, e)

	return operation{
		what: "a match of " + e.id + " is removed", fn: event.DeleteMatchFunction(),
		do: call(g, event.OpenEvents, (*event.Events).DeleteMatch, &event.DeleteMatch{Admin: byRoot, EventID: e.id, MatchID: m.id}),
		wantCode: func() string {
			if e.state != item.Deleting && e.match(m.id) == nil && slices.Contains(e.off, m.id) {
				return "" // it was removed before
			}

			return firstCode(e.refusedIfDeleted, e.refusedIfNoMatch(m), g.refusedIfLocked(e))
		},
		onWrite: func(w pickemtest.Write) error {
			e.voidPicks(m.id)

			if e.lastTeam == nil {
				e.lastTeam = map[string]int{}
			}

			e.lastTeam[m.id] = e.match(m.id).last
			e.card = slices.DeleteFunc(slices.Clone(e.card), func(o *modelMatch) bool { return o.id == m.id })
			e.off = append(e.off, m.id)

			return checkSentWhileOpen(e, w)
		},
	}
}

// addMatch adds a match, with a new id or with that of a removed match.
func (g *game) addMatch(rt *rapid.T) operation {
	e := g.drawEvent(rt)

	m := g.drawMatch(rt, e)
	if again := slices.DeleteFunc(slices.Clone(e.off), func(id string) bool { return e.match(id) != nil }); len(again) > 0 {
		m.id = rapid.SampledFrom(append(again, m.id)).Draw(rt, "id")
	}

	in := &event.AddMatch{Admin: byRoot, EventID: e.id}

	in.Body.ID, in.Body.MatchFields = m.id, m.fields()
	for i := range in.Body.Teams {
		in.Body.Teams[i].ID = ""
	}

	return operation{
		what: "a match is added to " + e.id, fn: event.AddMatchFunction(), do: call(g, event.OpenEvents, (*event.Events).AddMatch, in),
		wantCode: func() string {
			return firstCode(e.refusedIfDeleted, func() string {
				if e.match(m.id) != nil {
					return "match_exists" // another operation drew the same id, and other sides
				}

				return ""
			}, g.refusedIfLocked(e))
		},
		onWrite: func(w pickemtest.Write) error {
			m.number(e.lastTeam[m.id])
			e.card = append(slices.Clone(e.card), m)

			return checkSentWhileOpen(e, w)
		},
	}
}

func (g *game) orderCard(rt *rapid.T) operation {
	e := g.drawEvent(rt)
	card := rapid.Permutation(e.card).Draw(rt, "order")

	in := &event.OrderCard{Admin: byRoot, EventID: e.id}
	for _, m := range card {
		in.Body.MatchIDs = append(in.Body.MatchIDs, m.id)
	}

	changed := func() bool { // since the order was drawn: the operation that it overtakes may have written
		return len(card) != len(e.card) || slices.ContainsFunc(card, func(m *modelMatch) bool { return !slices.Contains(e.card, m) })
	}

	return operation{
		what: e.id + " is ordered anew", fn: event.OrderCardFunction(), do: call(g, event.OpenEvents, (*event.Events).OrderCard, in),
		wantCode: func() string {
			if code := e.refusedIfDeleted(); code != "" || !changed() {
				return code
			}

			return "not_the_card"
		},
		onWrite: func(w pickemtest.Write) error {
			if changed() {
				return errors.New("ordered a card that has changed")
			}

			e.card = card

			return nil
		},
	}
}

func (g *game) renameMember(rt *rapid.T) operation {
	u := g.drawUser(rt)
	in := &member.UpdateMe{User: auth.User{UserID: u}}
	in.Body.Name = rapid.SampledFrom([]string{"Al", "Bo", "Cy"}).Draw(rt, "name")

	return operation{
		what:          u + " is renamed",
		fn:            member.UpdateMeFunction(),
		uninterrupted: true,
		do:            call(g, member.OpenMembers, (*member.Members).UpdateMe, in),
		wantCode: func() string {
			if in.Body.Name != g.names[u] && g.renamed[u].n >= 10 && g.Clock.Now().Before(g.renamed[u].since.Add(24*time.Hour)) {
				return "too_many_renames"
			}

			return ""
		},
		onWrite: func(w pickemtest.Write) error {
			if in.Body.Name == g.names[u] {
				return nil
			}

			g.names[u] = in.Body.Name

			r := g.renamed[u]
			if !w.Sent.Before(r.since.Add(24 * time.Hour)) {
				r = renames{since: w.Sent.Truncate(time.Second)}
			}

			r.n++
			g.renamed[u] = r

			return nil
		},
	}
}

// lacksResults reports whether a match has no result, or the card is empty.
func (e *modelEvent) lacksResults() bool {
	return len(e.card) == 0 || slices.ContainsFunc(e.card, func(m *modelMatch) bool { return m.result == nil })
}

func (g *game) anyScoreRequest(rt *rapid.T) operation { return g.requestScore(g.drawEvent(rt)) }

func (g *game) requestScore(e *modelEvent) operation {
	return operation{
		what: "the scoring of " + e.id + " is requested", fn: event.RequestScoreFunction(),
		do: call(g, event.OpenEvents, (*event.Events).RequestScore, &event.RequestScore{Admin: byRoot, EventID: e.id}),
		wantCode: func() string {
			return firstCode(e.refusedIfDeleted, g.refusedIfOpen(e), codeIf(e.lacksResults, "results_missing"))
		},
		onWrite: func(w pickemtest.Write) error {
			e.asked, e.cleared = true, false
			if e.isOpen(w.Sent) || e.state == item.Deleting || e.lacksResults() {
				return fmt.Errorf("queued the scoring of an event in state %s, or without all results", e.state)
			}

			return nil
		},
	}
}

// race draws the concurrent writes that are most likely to conflict: a pick with a
// change of the card or the state; a result with another; a scoring with another, with
// newer results, or with a new name.
func (g *game) race(rt *rapid.T) operation {
	one := func(of ...func() operation) operation { return rapid.SampledFrom(of).Draw(rt, "which")() }
	e := g.drawEvent(rt)

	var (
		before []operation
		a      operation
		c      interruption
	)

	switch {
	case e.isOpen(g.Clock.Now()):
		a, c.at = g.pick(rt, g.drawUser(rt), e), rapid.IntRange(2, 3).Draw(rt, "before call")
		c.meanwhile = []operation{one(func() operation { return g.editMatch(rt, e) }, func() operation { return g.removeMatch(rt, e) },
			func() operation { return g.closeEvent(e) })}
	case !e.asked || e.state == item.Deleting:
		return g.playEvent(rt)
	default:
		worth := func() operation {
			return one(func() operation { return g.correctResult(rt, e) }, func() operation { return g.setBonus(rt, e) },
				func() operation { return g.editMatch(rt, e) })
		}

		switch rapid.IntRange(0, 5).Draw(rt, "what") {
		case 0:
			a, c.at, c.meanwhile = g.correctResult(rt, e), 3, []operation{worth(), g.deliverMessages(rt)}
		case 1:
			a, c.crash = g.correctResult(rt, e), 4 // before it queues the scoring
		case 2:
			a = worth()
		default:
			other := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(g.events), func(e *modelEvent) bool { return !e.asked })).Draw(rt, "other")
			before, a, c.at = []operation{worth()}, g.scoreEvent(e), rapid.IntRange(3, 8).Draw(rt, "before call")
			c.meanwhile = []operation{worth(), one(func() operation { return g.deliverMessages(rt) },
				func() operation { return g.scoreEvent(other) }, func() operation { return g.renameMember(rt) })}
		}
	}

	switch {
	case !g.crashes:
		c.crash = 0
	case c.at > 0 && rapid.Bool().Draw(rt, "crashes"):
		c.crash = c.at + rapid.IntRange(1, 6).Draw(rt, "crashes at")
	}

	return operation{what: a.what + ", with concurrent writes", uninterrupted: true, do: func(app.Env) error {
		var errs error
		for _, b := range before {
			errs = errors.Join(errs, g.perform(b, interruption{}))
		}

		return errors.Join(errs, g.perform(a, c))
	}}
}

// correctResult replaces the result of a match by another.
func (g *game) correctResult(rt *rapid.T, e *modelEvent) operation {
	m := rapid.SampledFrom(e.card).Draw(rt, "match")

	result := rapid.IntRange(item.Void, len(m.sides)-2).Draw(rt, "result")
	if m.result != nil && result >= *m.result {
		result++
	}

	return g.putResult(e, m, result)
}

// playEvent closes an event after its lock, enters all results and requests the scoring.
func (g *game) playEvent(rt *rapid.T) operation {
	e := g.drawEvent(rt)
	if e.isOpen(g.Clock.Now()) {
		return g.passTime(rt)
	}

	var all []operation

	right := e.picks[g.drawUser(rt)] // results mostly follow the picks of one member, so that points differ
	for _, m := range e.card {
		result := m.place(right[m.id])
		if result < 0 || rapid.IntRange(0, 3).Draw(rt, "otherwise") == 0 {
			result = rapid.IntRange(item.Void, len(m.sides)-1).Draw(rt, "result")
		}

		all = append(all, g.putResult(e, m, result))
	}

	return operation{what: e.id + " is played", uninterrupted: true, do: func(app.Env) error {
		var errs error
		for _, a := range slices.Concat([]operation{g.closeEvent(e)}, all, []operation{g.requestScore(e)}) {
			errs = errors.Join(errs, g.perform(a, interruption{}))
		}

		return errs
	}}
}

// anyScoring delivers a scoring request, as a queue may deliver one twice or late. It is not
// delivered again after a crash.
func (g *game) anyScoring(rt *rapid.T) operation { return g.scoreEvent(g.drawEvent(rt)) }

func (g *game) scoreEvent(e *modelEvent) operation {
	return operation{
		what: e.id + " is scored", fn: score.ScoreEventFunction(),
		do: func(env app.Env) error {
			return testkit.OpenWith(g.World, env, score.OpenScorer).ScoreEvent(g.NewContext(), score.Request{EventID: e.id})
		},
		wantCode: codeIf(func() bool { return !e.asked && !e.withdrawn && e.state != item.Deleting }, "event_not_ready"),
		onWrite: func(w pickemtest.Write) error {
			switch {
			case w.Operation != "UpdateItem" || w.Ranking: // of all members
			case e.lacksResults() || e.cleared:
				e.asked, e.withdrawn = false, true
			default:
				e.state = item.Scored
			}

			return nil
		},
	}
}

func (g *game) deliverMessages(*rapid.T) operation {
	return operation{what: "messages are delivered", uninterrupted: true, do: func(app.Env) error { return g.drain() }}
}

func (g *game) drain() (err error) {
	testkit.Drain(g.World, score.Queue, 0, func(_ context.Context, in score.Request) error {
		if in.EventID == "" { // a rebuilding that the clock has overtaken goes on
			err = errors.Join(err, testkit.Open(g.World, score.ScoreEventFunction(), score.OpenScorer).ScoreEvent(g.NewContext(), in))
			return nil
		}

		i := slices.IndexFunc(g.events, func(e *modelEvent) bool { return e.id == in.EventID })
		err = errors.Join(err, g.perform(g.scoreEvent(g.events[i]), interruption{}))

		return nil
	})

	return err
}

func (g *game) rebuildStandings(rt *rapid.T) operation {
	in := score.RebuildStandings{Year: rapid.SampledFrom([]int{2026, 2027}).Draw(rt, "year")}

	return operation{
		what: "standings are rebuilt", fn: score.RebuildStandingsFunction(), wantCode: noError,
		do: func(env app.Env) error {
			_, err := testkit.OpenWith(g.World, env, score.OpenScorer).RebuildStandings(g.NewContext(), in)
			return err
		},
	}
}

func (g *game) deleteEvent(rt *rapid.T) operation {
	e := g.events[rapid.IntRange(0, 8).Draw(rt, "event")/4]

	return operation{
		what: e.id + " is deleted", fn: event.DeleteEventFunction(), uninterrupted: true,
		do: call(g, event.OpenEvents, (*event.Events).DeleteEvent, &event.DeleteEvent{Admin: byRoot, EventID: e.id}),
		wantCode: func() string {
			if e.state == item.Deleting {
				return anyCode // it depends on whether LockEvents has completed the deletion
			}

			return codeIf(func() bool { return e.asked }, "event_scored")()
		},
		onWrite: func(w pickemtest.Write) error {
			e.state, e.picks = item.Deleting, nil
			if e.asked {
				return errors.New("deleted an event whose scoring was requested")
			}

			return nil
		},
	}
}

// anyLook checks what a member sees of an event and of another member.
func (g *game) anyLook(rt *rapid.T) operation {
	u, other, e := g.drawUser(rt), g.drawUser(rt), g.drawEvent(rt)
	return operation{what: u + " looks at " + e.id, uninterrupted: true, do: func(app.Env) error { return g.checkScreens(u, other, e) }}
}

func (g *game) settleNow(*rapid.T) operation {
	return operation{what: "all pending work is done", uninterrupted: true, do: func(app.Env) error { return g.settle() }}
}
