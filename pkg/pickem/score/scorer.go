package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

// year is whose standings an event counts for: that of its first date.
func year(eventID string) string { return eventID[:4] }

// OpenScorer opens the service that works out points.
func OpenScorer(_ context.Context, env app.Env) (*Scorer, error) {
	return &Scorer{db: item.OpenTable(env), now: env.Now}, nil
}

var ErrResultsMissing = problem.New(problem.Conflict, "results_missing", "there are matches without a result")

// Scorer works out points.
type Scorer struct {
	db  dynamo.DB
	now func() time.Time
}

// Request asks for the points of an event.
type Request struct {
	EventID string `json:"eventId"`
}

// ScoreEvent scores every prediction of an event by the results that there are
// now, and brings the standings of its members up to date, each member's in one
// transaction. The event is scored when all of them are, of these results; if they
// change meanwhile it begins again. One member's error does not keep the others
// from being scored.
//
// A second run writes nothing for members who have the points of these results,
// so it ends what a first has begun.
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
		if on.ScoringAt == "" || len(on.MissingResults()) > 0 {
			return problem.New(problem.Invalid, "event_not_ready", "the event %.60q is not to be scored: results are missing, or nobody asked", in.EventID)
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
		done := expression.Set(expression.Name("state"), expression.Value(item.Scored)).Set(expression.Name("scoredRev"), expression.Value(on.ResultsRev))
		err = dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), done, item.Equals("resultsRev", on.ResultsRev).And(item.Exists("scoringAt"), expression.Name("state").NotEqual(expression.Value(item.Deleting))))
		if !dynamo.IsRefused(err) {
			slog.InfoContext(ctx, "scored", "event", on.ID, "rev", on.ResultsRev, "entries", len(entries))
			return err
		}
	}
	return problem.New(problem.Unavailable, "changed", "the results of %s change all the time", in.EventID)
}

// score scores one member's prediction, and nothing if the member is gone or has
// newer points.
func (s *Scorer) score(ctx context.Context, on item.EventWithCard, userID string) error {
	return s.recount(ctx, userID, year(on.ID), func(g *item.Collection) (dynamo.Write, bool, error) {
		i := slices.IndexFunc(g.Predictions, func(p item.Prediction) bool { return p.EventID == on.ID })
		if i < 0 || g.Predictions[i].ScoredRev >= on.ResultsRev {
			return nil, false, nil
		}
		p := &g.Predictions[i]
		sheet := Of(on.Event, on.Card, *p)
		p.Points, p.Correct, p.ScoredAt, p.ScoredRev, p.Name = sheet.Points, sheet.Correct, item.FormatTime(s.now()), on.ResultsRev, g.Members[0].Name
		sk, err := item.ScoreSK(p.Points, item.MaxEventPoints, userID)
		if err != nil { // the card was read between two of its changes
			return nil, false, problem.New(problem.Unavailable, "changed", "the card of %s has changed", on.ID).Because(err)
		}
		set := expression.Set(expression.Name("points"), expression.Value(p.Points)).
			Set(expression.Name("mcorrect"), expression.Value(p.Correct)).
			Set(expression.Name("scoredAt"), expression.Value(p.ScoredAt)).
			Set(expression.Name("scoredRev"), expression.Value(p.ScoredRev)).
			Set(expression.Name("name"), expression.Value(p.Name)).
			Set(expression.Name("GSI_SK"), expression.Value(sk))
		return dynamo.UpdateWrite(p.Key(), set, item.Exists("PK")), true, nil
	})
}

// recount writes a member's standings of a year, for all and for each league, as
// the sum of the member's scored predictions, in one transaction with what change
// does to them first. It begins again if the member's rev has changed meanwhile,
// and does nothing for who is no member, or if change says so.
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

// tallyWrites writes the member's standings of a year, if an event of it is scored, and
// removes those that are nobody's any more.
func tallyWrites(g item.Collection, p item.Member, year string) (writes []dynamo.Write, err error) {
	t := sum(year, g.Predictions)
	sk, err := item.ScoreSK(t.Points, item.MaxYearPoints, p.UserID())
	if err != nil {
		return nil, problem.New(problem.Invalid, "too_many_points", "the points of a member in %s are more than standings hold: %d", year, t.Points)
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

// RebuildStandings asks for the standings of a year.
type RebuildStandings struct {
	Year int `json:"year"`
}

// Rebuilt says how many members were looked at.
type Rebuilt struct {
	Members int `json:"members"`
}

// RebuildStandings makes the standings of all members in a year anew from their
// scored predictions, which it does not change. Any number of runs end alike.
func (s *Scorer) RebuildStandings(ctx context.Context, in RebuildStandings) (Rebuilt, error) {
	if in.Year < 2000 || in.Year > 2999 {
		return Rebuilt{}, problem.In("year", "say which year, from 2000 to 2999: {\"year\": 2026}")
	}
	all, err := dynamo.QueryAll[item.Member](ctx, s.db, tables.AllMembers, dynamo.Range{Key: item.Partition(tables.AllMembers, item.UserTag)})
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
