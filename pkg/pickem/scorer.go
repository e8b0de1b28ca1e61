package pickem

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

	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

// RequestScore asks for the points of an event.
type RequestScore struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The event."`
}

var errResultsMissing = problem.New(problem.Conflict, "results_missing", "there are matches without a result")

// ScorePage is the answer when an event is about to be scored.
type ScorePage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		JobID string `json:"jobId" doc:"The event and the revision of its results: asking again for the same is the same job."`
	}
}

// RequestScore has an event scored. Without a result for each match it is
// results_missing, with the ids of those that have none. Asked for again it does
// no harm: who has the points of these results is left alone.
func (s *Events) RequestScore(ctx context.Context, in *RequestScore) (*ScorePage, error) {
	on, err := readStage(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}
	if on.isOpen(s.now()) {
		return nil, errUpcoming
	}
	if missing := on.missing(); len(missing) > 0 || len(on.card) == 0 {
		return nil, errResultsMissing.With(map[string]any{"matchIds": missing})
	}
	set := expression.Set(expression.Name("scoringAt"), expression.Value(stamp(s.now())))
	err = dynamo.Update(ctx, s.db, changeEvent, on.key(), set, equals("state", on.State).And(equals("resultsRev", on.ResultsRev)))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errChanged)
	}
	if err := s.queue.SendInTurn(ctx, scoreQueue, on.ID, ScoreEvent{EventID: on.ID}); err != nil {
		return nil, err
	}
	out := &ScorePage{Status: 202, CacheControl: httpapi.NoStore}
	out.Body.JobID = fmt.Sprintf("%s@%d", on.ID, on.ResultsRev)
	return out, nil
}

// missing are the ids of the matches without a result.
func (s stage) missing() []string {
	ids := []string{}
	for _, m := range s.card {
		if m.Result == nil {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Scorer works out points.
type Scorer struct {
	db  dynamo.DB
	now func() time.Time
}

// ScoreEvent asks for the points of an event.
type ScoreEvent struct {
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
func (s *Scorer) ScoreEvent(ctx context.Context, in ScoreEvent) error {
	for range tries {
		on, err := readStage(ctx, s.db, in.EventID)
		if errors.Is(err, errNoEvent) {
			slog.WarnContext(ctx, "the event is gone", "event", in.EventID)
			return nil
		}
		if err != nil {
			return err
		}
		if on.ScoringAt == "" || len(on.missing()) > 0 {
			return problem.New(problem.Invalid, "event_not_ready", "the event %.60q is not to be scored: results are missing, or nobody asked", in.EventID)
		}
		entries, err := readEntries(ctx, s.db, on.ID)
		if err != nil {
			return err
		}
		var work errgroup.Group
		work.SetLimit(atOnce)
		for _, p := range entries {
			if p.ScoredRev != on.ResultsRev {
				work.Go(func() error { return s.score(ctx, on, p.userID()) })
			}
		}
		if err := work.Wait(); err != nil {
			return err
		}
		done := expression.Set(expression.Name("state"), expression.Value(scored)).Set(expression.Name("scoredRev"), expression.Value(on.ResultsRev))
		err = dynamo.Update(ctx, s.db, changeEvent, on.key(), done, equals("resultsRev", on.ResultsRev).And(exists("scoringAt"), expression.Name("state").NotEqual(expression.Value(deleting))))
		if !dynamo.IsRefused(err) {
			slog.InfoContext(ctx, "scored", "event", on.ID, "rev", on.ResultsRev, "entries", len(entries))
			return err
		}
	}
	return problem.New(problem.Unavailable, "changed", "the results of %s change all the time", in.EventID)
}

// score scores one member's prediction, and nothing if the member is gone or has
// newer points.
func (s *Scorer) score(ctx context.Context, on stage, userID string) error {
	return s.recount(ctx, userID, year(on.ID), func(g *group) (dynamo.Write, bool, error) {
		i := slices.IndexFunc(g.predictions, func(p prediction) bool { return p.EventID == on.ID })
		if i < 0 || g.predictions[i].ScoredRev >= on.ResultsRev {
			return nil, false, nil
		}
		p := &g.predictions[i]
		sheet := score(on.event, on.card, *p)
		p.Points, p.Correct, p.ScoredAt, p.ScoredRev, p.Name = sheet.Points, sheet.Correct, stamp(s.now()), on.ResultsRev, g.members[0].Name
		sk, err := scoreSK(p.Points, maxScore, userID)
		if err != nil { // the card was read between two of its changes
			return nil, false, problem.New(problem.Unavailable, "changed", "the card of %s has changed", on.ID).Because(err)
		}
		set := expression.Set(expression.Name("points"), expression.Value(p.Points)).
			Set(expression.Name("mcorrect"), expression.Value(p.Correct)).
			Set(expression.Name("scoredAt"), expression.Value(p.ScoredAt)).
			Set(expression.Name("scoredRev"), expression.Value(p.ScoredRev)).
			Set(expression.Name("name"), expression.Value(p.Name)).
			Set(expression.Name("GSI_SK"), expression.Value(sk))
		return dynamo.UpdateWrite(p.key(), set, exists("PK")), true, nil
	})
}

// recount writes a member's standings of a year, for all and for each league, as
// the sum of the member's scored predictions, in one transaction with what change
// does to them first. It begins again if the member's rev has changed meanwhile,
// and does nothing for who is no member, or if change says so.
func (s *Scorer) recount(ctx context.Context, userID, year string, change func(*group) (w dynamo.Write, ok bool, err error)) error {
	for try := 0; ; try++ {
		if err := dynamo.BackOff(ctx, try); err != nil {
			return err
		}
		g, err := readMember(ctx, s.db, userID, true)
		if err != nil {
			return err
		}
		p, err := g.person()
		if err != nil {
			return nil // gone
		}
		w, ok, err := change(&g)
		if err != nil || !ok {
			return err
		}
		writes := []dynamo.Write{nextRev(p)}
		if w != nil {
			writes = append(writes, w)
		}
		standings, err := g.tally(p, year)
		if err != nil {
			return err
		}
		err = dynamo.Transact(ctx, s.db, scoreMember, append(writes, standings...)...)
		if !dynamo.IsRefused(err) {
			return err
		}
	}
}

// nextRev counts a change of what is shown of a member, if there was no other
// since the member was read.
func nextRev(p person) dynamo.Write {
	return dynamo.UpdateWrite(p.key(), expression.Set(expression.Name("rev"), expression.Value(p.Rev+1)), isMember().And(equals("rev", p.Rev)))
}

// tally writes the member's standings of a year, if an event of it is scored, and
// removes those that are nobody's any more.
func (g group) tally(p person, year string) (writes []dynamo.Write, err error) {
	t := sum(year, g.predictions)
	sk, err := scoreSK(t.Points, maxStanding, p.userID())
	if err != nil {
		return nil, problem.New(problem.Invalid, "too_many_points", "the points of a member in %s are more than standings hold: %d", year, t.Points)
	}
	kept := map[string]bool{}
	put := func(own, table string) {
		kept[own] = true
		writes = append(writes, dynamo.PutWrite(standing{
			row: row{PK: p.PK, SK: own, GSIPK: table, GSISK: sk, Type: standingType}, BelongsTo: p.BelongsTo, Name: p.Name, tally: t,
		}))
	}
	if t.Played > 0 {
		put(ofYear(year), ofYear(year))
		for _, m := range g.memberships {
			put(inLeague(year, m.LeagueID), tableOf(m.LeagueID, year))
		}
	}
	for _, s := range g.standings {
		if strings.HasPrefix(s.SK, ofYear(year)) && !kept[s.SK] {
			writes = append(writes, dynamo.DeleteWrite(s.key()))
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
	all, err := dynamo.QueryAll[person](ctx, s.db, allMembers, dynamo.Range{Key: partition(allMembers, userKey)})
	if err != nil {
		return Rebuilt{}, err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for _, p := range all {
		work.Go(func() error {
			return s.recount(ctx, p.userID(), fmt.Sprint(in.Year), func(*group) (dynamo.Write, bool, error) { return nil, true, nil })
		})
	}
	return Rebuilt{len(all)}, work.Wait()
}
