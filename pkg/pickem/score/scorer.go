package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
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

// Request is the message that asks for the scoring of an event.
type Request struct {
	EventID string `json:"eventId"`
}

// ScoreEvent scores every prediction of an event by its present results and updates
// the standings, in one transaction for each member. When all are done it sets the
// state to scored; if the results have changed meanwhile it starts again. If a result is
// missing, because it was cleared, it withdraws the points and the request instead. An error for
// one member does not stop the others.
//
// A second run writes nothing for members who have the points of these results, so it
// completes an interrupted one.
func (s *Scorer) ScoreEvent(ctx context.Context, in Request) error {
	for range item.MaxTries {
		on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
		if errors.Is(err, item.ErrNoEvent) {
			slog.WarnContext(ctx, "the event is gone", "event", in.EventID)
			return nil
		}
		if err != nil {
			return err
		}
		if on.ScoringAt == "" && on.ScoredRev > 0 {
			slog.InfoContext(ctx, "the points were withdrawn", "event", in.EventID)
			return nil
		}
		if on.ScoringAt == "" {
			return problem.New(problem.Invalid, "event_not_ready", "the event %.60q cannot be scored: its scoring was not requested", in.EventID)
		}
		entries, err := item.ReadPredictions(ctx, s.db, on.ID)
		if err != nil {
			return err
		}
		var work errgroup.Group
		work.SetLimit(item.MaxConcurrent)
		for _, p := range entries {
			if p.ScoredRev != on.ResultsRev {
				work.Go(func() error { return s.score(ctx, on, p.UserID()) })
			}
		}
		if err := work.Wait(); err != nil {
			return err
		}
		done := dynamo.Set(item.Event{State: item.Scored, ScoredRev: on.ResultsRev}, "state", "scoredRev")
		if len(on.MissingResults()) > 0 {
			done = dynamo.Set(item.Event{ScoredRev: on.ResultsRev}, "scoringAt", "scoredRev")
		}
		sameResults := dynamo.Unchanged(on.Event, "resultsRev").And(dynamo.Exists[item.Event]("scoringAt"), dynamo.NotEqual[item.Event]("state", item.Deleting))
		err = dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), done, sameResults)
		if !dynamo.IsRefused(err) {
			slog.InfoContext(ctx, "scored", "event", on.ID, "rev", on.ResultsRev, "entries", len(entries))
			return err
		}
	}
	return problem.New(problem.Unavailable, "changed", "the results of %s changed during every attempt", in.EventID)
}

// score scores the prediction of one member. It does nothing if the member is deleted
// or has the points of these or newer results.
func (s *Scorer) score(ctx context.Context, on item.EventWithCard, userID string) error {
	return s.recount(ctx, userID, year(on.ID), func(g *item.Collection) (dynamo.Write, bool, error) {
		i := slices.IndexFunc(g.Predictions, func(p item.Prediction) bool { return p.EventID == on.ID })
		if i < 0 || g.Predictions[i].ScoredRev >= on.ResultsRev {
			return nil, false, nil
		}
		p := &g.Predictions[i]
		p.Points, p.Correct, p.ScoredAt, p.ScoredRev, p.Name = 0, 0, "", on.ResultsRev, g.Members[0].Name
		if len(on.MissingResults()) == 0 {
			sheet := Of(on.Event, on.Card, *p)
			p.Points, p.Correct, p.ScoredAt = sheet.Points, sheet.Correct, item.FormatTime(s.now())
		}
		sk, err := item.ScoreSK(p.Points, item.MaxEventPoints, userID)
		if err != nil { // the card was read between two of its changes
			return nil, false, problem.New(problem.Unavailable, "changed", "the card of %s changed while it was read", on.ID).Because(err)
		}
		p.GSISK = sk
		set := dynamo.Set(*p, "points", "mcorrect", "scoredAt", "scoredRev", "name", "GSI_SK")
		return dynamo.UpdateWrite(p.Key(), set, dynamo.Exists[item.Prediction]("PK")), true, nil
	})
}

// recount writes a member's standings of a year, among all members and in each league,
// as the sum of the member's scored predictions. change may change the predictions
// first; its write is part of the same transaction, and if it returns false nothing is
// written. recount starts again if the member's Rev has changed meanwhile, and does
// nothing for a deleted member.
func (s *Scorer) recount(ctx context.Context, userID, year string, change func(*item.Collection) (w dynamo.Write, ok bool, err error)) error {
	for try := 0; ; try++ {
		if err := dynamo.BackOff(ctx, try); err != nil {
			return err
		}
		g, err := item.ReadMember(ctx, s.db, userID, true)
		if err != nil {
			return err
		}
		p, err := g.Member()
		if err != nil {
			return nil // gone
		}
		w, ok, err := change(&g)
		if err != nil || !ok {
			return err
		}
		writes := []dynamo.Write{item.IncrementRev(p)}
		if w != nil {
			writes = append(writes, w)
		}
		standings, err := tallyWrites(g, p, year)
		if err != nil {
			return err
		}
		err = dynamo.Transact(ctx, s.db, tables.ScoreMember, append(writes, standings...)...)
		if !dynamo.IsRefused(err) {
			return err
		}
	}
}

// tallyWrites returns the writes of a member's standings of a year, and the deletes of
// standings in leagues that the member has left, or of all if nothing is scored.
func tallyWrites(g item.Collection, p item.Member, year string) (writes []dynamo.Write, err error) {
	t := sum(year, g.Predictions)
	sk, err := item.ScoreSK(t.Points, item.MaxYearPoints, p.UserID())
	if err != nil {
		return nil, problem.New(problem.Invalid, "too_many_points", "a member has %d points in %s: valid are 0 to %d", t.Points, year, item.MaxYearPoints)
	}
	kept := map[string]bool{}
	put := func(own, table string) {
		kept[own] = true
		writes = append(writes, dynamo.PutWrite(item.Standing{
			Row: item.Row{PK: p.PK, SK: own, GSIPK: table, GSISK: sk, Type: item.StandingType}, BelongsTo: p.BelongsTo, Name: p.Name, Tally: t,
		}))
	}
	if t.Played > 0 {
		put(item.StandingsRef(year), item.StandingsRef(year))
		for _, m := range g.Memberships {
			put(item.LeagueStandingsSK(year, m.LeagueID), item.LeagueStandingsPK(m.LeagueID, year))
		}
	}
	for _, s := range g.Standings {
		if strings.HasPrefix(s.SK, item.StandingsRef(year)) && !kept[s.SK] {
			writes = append(writes, dynamo.DeleteWrite(s.Key()))
		}
	}
	return writes, nil
}

// RebuildStandings is the request to rebuild the standings of a year.
type RebuildStandings struct {
	Year int `json:"year"`
}

// Rebuilt is the number of members that were checked.
type Rebuilt struct {
	Members int `json:"members"`
}

// RebuildStandings writes the standings of all members in a year anew from their
// scored predictions. It does not change predictions and can run any number of times.
func (s *Scorer) RebuildStandings(ctx context.Context, in RebuildStandings) (Rebuilt, error) {
	if in.Year < 2000 || in.Year > 2999 {
		return Rebuilt{}, problem.In("year", "the year is missing or invalid: valid are 2000 to 2999, as in {\"year\": 2026}")
	}
	all, err := dynamo.QueryAll[item.Member](ctx, s.db, tables.AllMembers, dynamo.Range{Key: dynamo.KeyIs(tables.AllMembers, item.UserTag)})
	if err != nil {
		return Rebuilt{}, err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(item.MaxConcurrent)
	for _, p := range all {
		work.Go(func() error {
			return s.recount(ctx, p.UserID(), fmt.Sprint(in.Year), func(*item.Collection) (dynamo.Write, bool, error) { return nil, true, nil })
		})
	}
	return Rebuilt{len(all)}, work.Wait()
}
