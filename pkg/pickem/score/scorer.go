package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// year returns the year in whose standings an event counts: that of the date in its id.
func year(eventID string) string { return eventID[:4] }

// OpenScorer opens the service that scores events.
func OpenScorer(_ context.Context, env app.Env) (*Scorer, error) {
	return &Scorer{db: item.OpenTable(env), now: env.Now}, nil
}

// ErrResultsMissing reports that matches of the event have no result.
var ErrResultsMissing = problem.New(problem.Conflict, "results_missing", "the event has matches without a result")

// Scorer is the service that scores events.
type Scorer struct {
	db  dynamo.DB
	now func() time.Time
}

// Request is the message that requests the scoring of an event or, without one, the ranking of a
// year.
type Request struct {
	EventID string `json:"eventId,omitempty"`
	Year    string `json:"year,omitempty"`
}

// ScoreEventFunction scores an event.
func ScoreEventFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "pickem/score-event",
		Does:   "Scores all predictions of an event, and writes the standings and the rankings.",
		IfDown: "Events are not scored. Queued scorings run after the recovery.",
		On:     Queue,
		Uses: []spec.Access{tables.FindEvent, tables.ReadCard, tables.EntriesOf, tables.NamesOf, tables.GetMember, tables.ScoreMember,
			tables.GetStandings, tables.WriteRanking, tables.ChangeEvent},
		// the visibility timeout is six times as long: after a failed run, the messages of the event wait for it
		Memory: 1024, Timeout: time.Minute,
	}, OpenScorer, (*Scorer).ScoreEvent)
}

// ScoreEvent scores every prediction of an event by its present results and updates
// the standings, in one transaction for each member. Then it ranks the event and the year.
// When all are done it sets the state to scored; if the results have changed meanwhile it
// starts again. If a result was cleared since the request, it withdraws the points and the
// request instead, also if there is another result meanwhile. An error for one member does
// not stop the others.
//
// If the scoring of a locked event was not requested, and its lock reveals the picks, these
// are written as a ranking without points.
//
// A second run writes nothing for members who have the points of these results, and the
// same rankings, so it completes an interrupted one.
func (s *Scorer) ScoreEvent(ctx context.Context, in Request) error {
	if in.EventID == "" {
		return s.rankYear(ctx, in.Year, nil)
	}

	return dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error { return s.scoreEvent(ctx, in) })
}

// scoreEvent is one attempt of ScoreEvent: *dynamo.Refused if the results or the ranking
// have changed meanwhile.
func (s *Scorer) scoreEvent(ctx context.Context, in Request) error {
	began := s.now()

	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if errors.Is(err, item.ErrNoEvent) {
		slog.WarnContext(ctx, "the event is gone", "event", in.EventID)
		return nil
	}

	if err != nil {
		return err
	}

	asked := on.ScoringAt != "" || on.Withdrawn

	reveals := !asked && on.RevealAtLock && !on.IsOpen(began)
	if !asked && (on.ScoredRev > 0 || on.RevealAtLock) && !reveals {
		slog.InfoContext(ctx, "the points were withdrawn, or the event is open again", "event", in.EventID)
		return nil
	}

	if !asked && !reveals {
		return problem.New(problem.Invalid, "event_not_ready", "the event %.60q cannot be scored: its scoring was not requested", in.EventID)
	}

	rev, err := ranking.Claim(ctx, s.db, on.ID)
	if err != nil {
		return err
	}

	entries, err := item.ReadPredictions(ctx, s.db, on.ID)
	if err != nil {
		return err
	}

	tallies := make([]item.Standing, len(entries))

	var work errgroup.Group
	work.SetLimit(item.MaxConcurrent)

	for i, p := range entries {
		if p.ScoredRev != on.ResultsRev && !reveals {
			work.Go(func() error {
				scored, t, err := s.score(ctx, on, p.UserID())
				if err == nil {
					entries[i], tallies[i] = scored, t
				}

				return err
			})
		}
	}

	failed := work.Wait()
	entries = slices.DeleteFunc(entries, func(p item.Prediction) bool { return p.BelongsTo == "" }) // of deleted members

	users := make([]string, len(entries))
	for i, p := range entries {
		users[i] = p.UserID()
	}

	names, err := item.ReadNames(ctx, s.db, users)
	if err != nil {
		return errors.Join(failed, err)
	}

	err = ranking.Publish(ctx, s.db, on.ID, rev, CardIDs(on.Card), RankEntries(on.Event, on.Card, entries, names))
	if dynamo.IsRefused(err) {
		return err
	}

	if err == nil && !reveals {
		err = s.rankYear(ctx, year(on.ID), tallies)
	}

	if err := errors.Join(failed, err); err != nil {
		return err
	}

	done := dynamo.Set(item.Event{State: item.Scored, ScoredRev: on.ResultsRev, ScoredAt: item.FormatTime(began)},
		"state", "scoredRev", "scoredAt")

	same := dynamo.Unchanged(on.Event, "resultsRev")
	if reveals {
		done, same = dynamo.Set(item.Event{RevealedAt: item.FormatTime(began)}, "revealedAt"), dynamo.Unchanged(on.Event, "state", "lockAt")
	} else if withdraws(on) {
		done = dynamo.Set(item.Event{ScoredRev: on.ResultsRev, ScoredAt: item.FormatTime(began)}, "scoringAt", "scoredRev", "scoredAt")
		if on.RevealAtLock { // the ranking without points has the picks
			done = done.Set(item.Event{RevealedAt: item.FormatTime(began)}, "revealedAt")
		}

		same = dynamo.Unchanged(on.Event, "resultsRev", "state")
	}
	// An event with a request is not deleted. To withdraw the request changes the results, and
	// so does a request after that.
	err = dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), done, same)
	if !dynamo.IsRefused(err) {
		slog.InfoContext(ctx, "scored", "event", on.ID, "rev", on.ResultsRev, "entries", len(entries))
	}

	return err
}

// rankYear writes the ranking of a year. The index may lack standings that were just
// written: written has those of this run. It may also have those of removed members, who
// have no name.
func (s *Scorer) rankYear(ctx context.Context, year string, written []item.Standing) error {
	// Other events of the year may be scored at the same time.
	return dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error {
		rev, err := ranking.Claim(ctx, s.db, year)
		if err != nil {
			return err
		}

		all, err := dynamo.QueryAll[item.Standing](ctx, s.db, tables.GetStandings,
			dynamo.Range{Key: dynamo.KeyIs(tables.GetStandings, item.StandingsRef(year))})
		if err != nil {
			return err
		}

		latest := make(map[string]item.Standing, len(all))
		for _, t := range slices.Concat(all, written) {
			if was, ok := latest[t.UserID()]; !ok || was.Rev < t.Rev {
				latest[t.UserID()] = t
			}
		}

		maps.DeleteFunc(latest, func(_ string, t item.Standing) bool { return t.Played == 0 })

		names, err := item.ReadNames(ctx, s.db, slices.Collect(maps.Keys(latest)))
		if err != nil {
			return err
		}

		return ranking.Publish(ctx, s.db, year, rev, nil, RankStandings(slices.Collect(maps.Values(latest)), names))
	})
}

// withdraws reports whether the predictions of an event lose their points: a result is missing,
// or was since the request.
func withdraws(on item.EventWithCard) bool { return on.Withdrawn || len(on.MissingResults()) > 0 }

// score scores the prediction of one member, and returns it with the member's standing of
// the year. It writes nothing if the prediction has the points of these or newer results,
// and returns nothing for a deleted member or prediction.
func (s *Scorer) score(ctx context.Context, on item.EventWithCard, userID string) (scored item.Prediction, t item.Standing, err error) {
	t, err = s.recount(ctx, userID, year(on.ID), func(g *item.Collection) (dynamo.Write, bool, error) {
		i := slices.IndexFunc(g.Predictions, func(p item.Prediction) bool { return p.EventID == on.ID })
		if i < 0 {
			scored = item.Prediction{}
			return nil, false, nil
		}

		p := &g.Predictions[i]

		scored = *p
		if p.ScoredRev >= on.ResultsRev {
			return nil, false, nil
		}

		p.Points, p.Correct, p.ScoredAt, p.ScoredRev = 0, 0, "", on.ResultsRev
		if !withdraws(on) {
			sheet := Of(on.Event, on.Card, *p)
			p.Points, p.Correct, p.ScoredAt = sheet.Points, sheet.Correct, item.FormatTime(s.now())
		}

		sk, err := item.ScoreSK(p.Points, item.MaxEventPoints, userID)
		if err != nil { // the card was read between two of its changes
			return nil, false, problem.New(problem.Unavailable, "changed", "the card of %s changed while it was read", on.ID).Because(err)
		}

		p.GSISK = sk
		scored = *p
		set := dynamo.Set(*p, "points", "mcorrect", "scoredAt", "scoredRev", "GSI_SK")

		return dynamo.UpdateWrite(p.Key(), set, dynamo.Exists[item.Prediction]("PK")), true, nil
	})

	return scored, t, err
}

// recount writes a member's standing of a year as the sum of the member's scored
// predictions, and returns it. change may change the predictions first; its write is part
// of the same transaction, and if it returns false nothing is written. recount starts again
// if the member's Rev has changed meanwhile, and does nothing for a deleted member.
func (s *Scorer) recount(ctx context.Context, userID, year string,
	change func(*item.Collection) (w dynamo.Write, ok bool, err error)) (t item.Standing, err error) {
	return dynamo.RetryValue(ctx, dynamo.DefaultAttempts, func() (t item.Standing, err error) {
		g, err := item.ReadMember(ctx, s.db, userID, true)
		if err != nil {
			return t, err
		}

		p, err := g.Member()
		if err != nil {
			return t, nil // gone
		}

		i := slices.IndexFunc(g.Standings, func(s item.Standing) bool { return s.Year() == year })
		if i >= 0 {
			t = g.Standings[i]
		}

		w, ok, err := change(&g)
		if err != nil || !ok {
			return t, err
		}

		writes := []dynamo.Write{item.IncrementRev(p)}
		if w != nil {
			writes = append(writes, w)
		}

		t = item.Standing{Row: item.StandingKey(userID, year), BelongsTo: p.BelongsTo, Rev: p.Rev + 1, Tally: sum(year, g.Predictions)}

		t.GSIPK, t.Type = item.StandingsRef(year), item.StandingType
		if t.GSISK, err = item.ScoreSK(t.Points, item.MaxYearPoints, userID); err != nil {
			return t, problem.New(problem.Invalid, "too_many_points", "a member has %d points in %s: valid are 0 to %d",
				t.Points, year, item.MaxYearPoints)
		}

		switch {
		case t.Played > 0:
			writes = append(writes, dynamo.PutWrite(t))
		case i >= 0:
			writes = append(writes, dynamo.DeleteWrite(t.Key()))
		}

		return t, dynamo.Transact(ctx, s.db, tables.ScoreMember, writes...)
	})
}

// RebuildStandings is the request to rebuild the standings of a year.
type RebuildStandings struct {
	Year int `json:"year"`
}

// Rebuilt is the number of members that were checked.
type Rebuilt struct {
	Members int `json:"members"`
}

// RebuildStandingsFunction rebuilds the standings of a year.
func RebuildStandingsFunction() app.Function {
	return app.Task(spec.Function{
		Name:   "pickem/rebuild-standings",
		Does:   "Rebuilds the standings of a year from the scores. An operator invokes it with {\"year\": 2026}.",
		IfDown: "Wrong standings cannot be repaired.",
		On:     spec.Task{},
		Uses:   []spec.Access{tables.AllMembers, tables.NamesOf, tables.GetMember, tables.ScoreMember, tables.GetStandings, tables.WriteRanking},
		Memory: 1024, Timeout: 15 * time.Minute,
	}, OpenScorer, (*Scorer).RebuildStandings)
}

// RebuildStandings writes the standings of all members in a year anew from their
// scored predictions, and their ranking. It does not change predictions and can run any
// number of times.
func (s *Scorer) RebuildStandings(ctx context.Context, in RebuildStandings) (Rebuilt, error) {
	if in.Year < 2000 || in.Year > 2999 {
		return Rebuilt{}, problem.In("year", "the year is missing or invalid: valid are 2000 to 2999, as in {\"year\": 2026}")
	}

	all, err := dynamo.QueryAll[item.Member](ctx, s.db, tables.AllMembers, dynamo.Range{Key: dynamo.KeyIs(tables.AllMembers, item.UserTag)})
	if err != nil {
		return Rebuilt{}, err
	}

	year := fmt.Sprint(in.Year)
	tallies := make([]item.Standing, len(all))
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)

	for i, m := range all {
		work.Go(func() (err error) {
			tallies[i], err = s.recount(wctx, m.UserID(), year, func(*item.Collection) (dynamo.Write, bool, error) { return nil, true, nil })
			return err
		})
	}

	if err := work.Wait(); err != nil {
		return Rebuilt{}, err
	}

	return Rebuilt{len(all)}, s.rankYear(ctx, year, tallies)
}
