package score

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// year returns the year in whose standings an event counts: that of the date in its id.
func year(eventID string) string { return eventID[:4] }

// OpenScorer opens the service that scores events.
func OpenScorer(_ context.Context, env app.Env) (*Scorer, error) {
	return &Scorer{
		db: item.OpenTable(env), queue: queue.Open(env.AWS, env.Queues), now: env.Now, sleep: env.Sleep,
		budget: budget, pageSize: pageSize, maxGroup: maxGroup, atOnce: atOnce,
	}, nil
}

// ErrResultsMissing reports that matches of the event have no result.
var ErrResultsMissing = problem.New(problem.Conflict, "results_missing", "the event has matches without a result")

// Scorer is the service that scores events.
type Scorer struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
	sleep func(ctx context.Context, until time.Time) error

	budget   time.Duration // of a message
	pageSize int           // members
	maxGroup int           // rows
	atOnce   int           // leagues, or tables of one league
}

// Request is the message that requests the scoring of an event or, without one, the ranking of a
// year, or of a league whose members have changed. Next is nil in a request; a message that continues
// another has it.
type Request struct {
	EventID string    `json:"eventId,omitempty"`
	Year    string    `json:"year,omitempty"`
	League  string    `json:"league,omitempty"`  // with a year, which an earlier deployment ranks instead
	Removed bool      `json:"removed,omitempty"` // only a member was removed: leagues whose member it was are ranked already
	Next    *Progress `json:"next,omitempty"`
}

// Progress is where a message continues the work of the one before.
type Progress struct {
	ID      string    `json:"id"`                // of the message
	Step    int       `json:"step"`              // of the message, from 1
	Began   time.Time `json:"began"`             // when the first message did
	Results int       `json:"results,omitempty"` // the event's ResultsRev

	Members   int    `json:"members,omitempty"`   // members that a rebuilding has checked
	Rebuild   bool   `json:"rebuild,omitempty"`   // it rebuilds the standings of the year first
	After     string `json:"after,omitempty"`     // index sort key of the last member that is done
	AllScored bool   `json:"allScored,omitempty"` // all members are done

	Table  ranking.Draft  `json:"table"`            // of the event
	Ranked bool           `json:"ranked,omitempty"` // it is written
	Year   *ranking.Draft `json:"year,omitempty"`   // of the year

	YearRanked bool     `json:"yearRanked,omitempty"` // it is written
	League     string   `json:"league,omitempty"`     // the last league whose tables are written
	Scope      string   `json:"scope,omitempty"`      // of a league whose members have changed: the last table that is written
	Changes    []string `json:"changes,omitempty"`    // of such a league: the ids of its changes
}

// ScoreEventFunction scores an event.
func ScoreEventFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "pickem/score-event",
		Does:   "Scores all predictions of an event, and writes the standings and the rankings.",
		IfDown: "Events are not scored. Queued scorings run after the recovery.",
		On:     Queue,
		Uses: []spec.Access{tables.FindEvent, tables.ReadCard, tables.EntriesOf, tables.NamesOf, tables.MembersOf, tables.AllMembers,
			tables.GetMember, tables.ScoreMember, tables.GetStandings, tables.WriteRanking, tables.ChangeEvent,
			tables.LeaguesWithTables, tables.ReadLeague, tables.EndChange, tables.FindLeague, tables.AddTables},
		Sends: []spec.Queue{Queue},
		// the visibility timeout is six times as long: after a failed run, the messages of the event wait for it
		Memory: 1024, Timeout: time.Minute,
	}, OpenScorer, (*Scorer).ScoreEvent)
}

// ScoreEvent scores every prediction of an event by its present results and updates
// the standings, members by members, each member in one transaction. Then it ranks the event and
// the year, among all members and in each league with tables. When all are done it sets the
// state to scored; if the results have changed meanwhile it starts again. If a result was
// cleared since the request, it withdraws the points and the request instead, also if there is
// another result meanwhile. An error for one member, or one league, does not stop the others of
// the message.
//
// If the scoring of a locked event was not requested, and its lock reveals the picks, these
// are written as a ranking without points.
//
// A message scores at most 450 members a second: see unitsPerSecond. It works for 40 seconds, and
// then sends its successor with the place that it has reached. It holds the rows of one page, or
// those of some 50,000 members who are ranked next to each other.
//
// A second run writes nothing for members who have the points of these results, and the
// same rankings, so it completes an interrupted one. A request while another message continues a
// scoring of the same event does nothing.
func (s *Scorer) ScoreEvent(ctx context.Context, in Request) error {
	work := s.scoreEvent
	if in.EventID == "" {
		work = s.rankOnly
	}

	if in.League != "" {
		work = s.rankChanged
	}

	r := s.begin()

	return dynamo.Retry(ctx, dynamo.DefaultAttempts, func() error { return work(ctx, r, in) })
}

// scoreEvent is one attempt of ScoreEvent: *dynamo.Refused if the results or the ranking
// have changed meanwhile.
func (s *Scorer) scoreEvent(ctx context.Context, r *run, in Request) error {
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

	p, ok, err := s.resume(ctx, on, in.Next, began)
	if err != nil || !ok {
		return err
	}

	var failed error

	if !reveals && !p.AllScored {
		p.AllScored, failed, err = s.scoreMembers(ctx, r, on, &p.After)
		if err != nil {
			return errors.Join(failed, err)
		}

		if !p.AllScored {
			return s.handOver(ctx, on.ID, in.with(p), failed)
		}
	}

	if !p.Ranked {
		p.Ranked, err = s.rank(ctx, r, tableOf(on), &p.Table)
		if dynamo.IsRefused(err) {
			return err
		}

		if err != nil {
			return errors.Join(failed, err)
		}

		if !p.Ranked {
			return s.handOver(ctx, on.ID, in.with(p), failed)
		}
	}

	scopes := []string{on.ID}

	if !reveals {
		if err := s.rankYear(ctx, r, year(on.ID), p); err != nil {
			return errors.Join(failed, err)
		}

		if !p.YearRanked {
			return s.handOver(ctx, on.ID, in.with(p), failed)
		}

		scopes = append(scopes, year(on.ID))
	}

	if !in.Removed || on.State != item.Scored || on.ScoredRev != on.ResultsRev {
		done, some, err := s.rankLeagues(ctx, r, &p.League, scopes...)
		if failed = errors.Join(failed, some); err != nil {
			return errors.Join(failed, err)
		}

		if !done {
			return s.handOver(ctx, on.ID, in.with(p), failed)
		}
	}

	if failed != nil {
		return failed
	}

	if p.Step > 0 {
		if err := p.Table.End(ctx, s.db, on.ID); err != nil {
			return err
		}
	}

	return s.finish(ctx, on, p.Began, reveals)
}

// resume returns where a message begins: at the start for a request, or one whose results have
// changed meanwhile. It returns false if another message does the work.
func (s *Scorer) resume(ctx context.Context, on item.EventWithCard, next *Progress, now time.Time) (p *Progress, ok bool, err error) {
	since := now.Add(-ranking.Quiet)

	if next != nil {
		copied := *next
		if copied.Year != nil {
			year := *copied.Year
			copied.Year = &year
		}

		since, p = time.Time{}, &copied // to begin again, whatever this scoring has done

		err := p.Table.Continue(ctx, s.db, on.ID, p.Step, p.ID, now)
		if dynamo.IsRefused(err) {
			over, err := p.Table.Overtaken(ctx, s.db, on.ID)
			if err != nil || over {
				slog.InfoContext(ctx, "another message scores the event", "event", on.ID, "step", p.Step)
				return nil, false, err
			}

			p = nil
		} else if err != nil {
			return nil, false, err
		}

		err = dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), dynamo.Set(item.Event{ProgressAt: item.FormatTime(now)}, "progressAt"),
			dynamo.Unchanged(on.Event, "resultsRev", "state"))
		if err != nil {
			return nil, false, err
		}
	}

	if p != nil && p.Results == on.ResultsRev {
		return p, true, nil
	}

	d, err := ranking.Claim(ctx, s.db, on.ID, since)
	if dynamo.IsRefused(err) {
		slog.InfoContext(ctx, "the event is being scored", "event", on.ID)
		return nil, false, nil
	}

	return &Progress{Began: now, Results: on.ResultsRev, Table: d}, true, err
}

// with returns the message that continues a request.
func (r Request) with(p *Progress) Request {
	r.Next = p
	return r
}

// handOver sends the message that continues the work. If the scoring of some members failed it
// returns that error instead: the queue delivers the message again.
func (s *Scorer) handOver(ctx context.Context, group string, next Request, failed error) error {
	if failed != nil {
		return failed
	}

	next.Next.Step++
	next.Next.ID = rand.Text()

	slog.InfoContext(ctx, "continues in the next message", "group", group, "step", next.Next.Step)

	return s.queue.SendFIFO(ctx, Queue, group, next)
}

// finish records that an event is scored, its picks are revealed, or its points are withdrawn.
func (s *Scorer) finish(ctx context.Context, on item.EventWithCard, began time.Time, reveals bool) error {
	done := dynamo.Set(item.Event{State: item.Scored, ScoredRev: on.ResultsRev, ScoredAt: item.FormatTime(began)},
		"state", "scoredRev", "scoredAt", "progressAt")

	same := dynamo.Unchanged(on.Event, "resultsRev")
	if reveals {
		done = dynamo.Set(item.Event{RevealedAt: item.FormatTime(began)}, "revealedAt", "progressAt")
		same = dynamo.Unchanged(on.Event, "state", "lockAt")
	} else if withdraws(on) {
		done = dynamo.Set(item.Event{ScoredRev: on.ResultsRev, ScoredAt: item.FormatTime(began)},
			"scoringAt", "scoredRev", "scoredAt", "progressAt")
		if on.RevealAtLock { // the ranking without points has the picks
			done = done.Set(item.Event{RevealedAt: item.FormatTime(began)}, "revealedAt")
		}

		same = dynamo.Unchanged(on.Event, "resultsRev", "state")
	}
	// An event with a request is not deleted. To withdraw the request changes the results, and
	// so does a request after that.
	err := dynamo.Update(ctx, s.db, tables.ChangeEvent, on.Key(), done, same)
	if !dynamo.IsRefused(err) {
		slog.InfoContext(ctx, "scored", "event", on.ID, "rev", on.ResultsRev)
	}

	return err
}

// rankOnly writes the rankings of a year, after its standings if the message says so.
func (s *Scorer) rankOnly(ctx context.Context, r *run, in Request) error {
	var p Progress
	if in.Next != nil {
		p = *in.Next
	}

	if p.Year != nil && !p.YearRanked {
		draft := *p.Year
		p.Year = &draft

		if err := draft.Continue(ctx, s.db, in.Year, p.Step, p.ID, s.now()); err != nil {
			if !dynamo.IsRefused(err) {
				return err
			}

			if over, err := draft.Overtaken(ctx, s.db, in.Year); err != nil || over {
				slog.InfoContext(ctx, "another message ranks the year", "year", in.Year, "step", p.Step)
				return err
			}

			p.Year = nil
		}
	}

	done, err := s.rankAll(ctx, r, in.Year, &p, !in.Removed)
	if err != nil || done {
		return err
	}

	return s.handOver(ctx, in.Year, in.with(&p), nil)
}

// rankAll writes the standings of a year anew if p says so, then the ranking of the year, and if
// leagues is set those of the leagues with tables. It returns false if the time of the message is over
// before all are written.
func (s *Scorer) rankAll(ctx context.Context, r *run, year string, p *Progress, leagues bool) (done bool, err error) {
	if done, err = s.rebuild(ctx, r, year, p); err != nil || !done {
		return false, err
	}

	if err := s.rankYear(ctx, r, year, p); err != nil || !p.YearRanked || !leagues {
		return p.YearRanked, err
	}

	done, failed, err := s.rankLeagues(ctx, r, &p.League, year)

	return done, errors.Join(failed, err)
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

		next, err := s.scored(on, *p)
		if err != nil {
			return nil, false, err
		}

		*p, scored = next, next
		set := dynamo.Set(next, scoredAttributes...)

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

		if err := place(&t, userID, year); err != nil {
			return t, err
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
	Members   int  `json:"members"`
	Continues bool `json:"continues,omitempty"` // messages check the others
}

// RebuildStandingsFunction rebuilds the standings of a year.
func RebuildStandingsFunction() app.Function {
	return app.Task(spec.Function{
		Name:   "pickem/rebuild-standings",
		Does:   "Rebuilds the standings of a year from the scores. An operator invokes it with {\"year\": 2026}.",
		IfDown: "Wrong standings cannot be repaired.",
		On:     spec.Task{},
		Uses: []spec.Access{tables.AllMembers, tables.NamesOf, tables.MembersOf, tables.GetMember, tables.ScoreMember,
			tables.GetStandings, tables.WriteRanking, tables.LeaguesWithTables, tables.ReadLeague, tables.FindLeague, tables.AddTables},
		Sends:  []spec.Queue{Queue},
		Memory: 1024, Timeout: 15 * time.Minute,
	}, OpenScorer, (*Scorer).RebuildStandings)
}

// RebuildStandings writes the standings of all members in a year anew from their
// scored predictions, and their ranking. It does not change predictions and can run any
// number of times. Leagues of before get stored tables, if they have enough members. What it does
// not do in 40 seconds, messages to score-event continue.
func (s *Scorer) RebuildStandings(ctx context.Context, in RebuildStandings) (Rebuilt, error) {
	if in.Year < 2000 || in.Year > 2999 {
		return Rebuilt{}, problem.In("year", "the year is missing or invalid: valid are 2000 to 2999, as in {\"year\": 2026}")
	}

	r, p, year := s.begin(), Progress{Rebuild: true}, fmt.Sprint(in.Year)

	done, err := s.rankAll(ctx, r, year, &p, true)
	if err == nil && !done {
		err = s.handOver(ctx, year, Request{Year: year, Next: &p}, nil)
	}

	if err != nil {
		return Rebuilt{}, err
	}

	return Rebuilt{Members: p.Members, Continues: !done}, nil
}

// rebuild writes the standings of the members anew, page by page, if p says so. It returns false if
// the time of the message is over before all are done.
func (s *Scorer) rebuild(ctx context.Context, r *run, year string, p *Progress) (done bool, err error) {
	if !p.Rebuild {
		return true, nil
	}

	q := dynamo.Range{Key: dynamo.KeyIs(tables.AllMembers, item.UserTag), Limit: int32(s.pageSize)}
	if p.After != "" {
		q.After = dynamo.StartKey(tables.AllMembers, item.UserTag, p.After, p.After, item.UserTag)
	}

	for {
		members, last, err := dynamo.QueryFlat[struct {
			BelongsTo string `dynamodbav:"belongsto"`
		}](ctx, s.db, tables.AllMembers, q)
		if err != nil {
			return false, err
		}

		work, wctx := errgroup.WithContext(ctx)
		work.SetLimit(item.MaxConcurrent)

		leagues := make([][]item.Membership, len(members))

		for i, m := range members {
			user := item.Member{BelongsTo: m.BelongsTo}.UserID()

			work.Go(func() error {
				_, err := s.recount(wctx, user, year, func(g *item.Collection) (dynamo.Write, bool, error) {
					leagues[i] = g.Memberships
					return nil, true, nil
				})

				return err
			})
		}

		if err := work.Wait(); err != nil {
			return false, err
		}

		if err := s.addTables(ctx, slices.Concat(leagues...)); err != nil {
			return false, err
		}

		p.Members += len(members)

		if last == nil {
			p.Rebuild = false
			return true, nil
		}

		p.After, q.After = members[len(members)-1].BelongsTo, last
		if r.over(ctx) {
			return false, nil
		}

		if err := r.pace(ctx, scoreUnits*len(members)); err != nil {
			return false, err
		}
	}
}
