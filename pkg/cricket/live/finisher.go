package live

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/player"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/lock"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// MatchLeft reports that a match has left the feed. Times are in epoch seconds.
type MatchLeft struct {
	MatchID string `json:"matchId"`
	Since   int64  `json:"since"` // when it left
	// MissingSince and OverSince are set while the provider's page of the match is
	// missing, or has a match that is over: the time of the first such answer.
	MissingSince int64 `json:"missingSince,omitempty"`
	OverSince    int64 `json:"overSince,omitempty"`
	// Listed reports that the match has not left the feed: it is over by the feed, which lists it on.
	Listed bool `json:"listed,omitempty"`
	// Ended reports that the end that was decided at Ending was sent to push-activities. The follows still exist.
	Ended bool `json:"told,omitempty"`
	// To is the match that replaces this one, to which its followers are carried: carry. The rest is empty then.
	To string `json:"to,omitempty"`
	// Asked is what an administrator wants of the end that was decided at Ending: resumed or corrected.
	Asked string `json:"asked,omitempty"`
	// Ending is the endingAt of the end that Ended or Asked is about. Messages of earlier versions have none with Ended.
	Ending int64 `json:"ending,omitempty"`
	// Reviews counts the reviews of the end. Differs is how the page of the match differs from the
	// stored end, and Times how many reviews in a row have found that.
	Reviews int    `json:"reviews,omitempty"`
	Differs string `json:"differs,omitempty"`
	Times   int    `json:"times,omitempty"`
}

// Finisher ends matches that have left the feed.
type Finisher struct {
	db       dynamo.DB
	queue    queue.Sender
	provider *sportmonks.Client
	ingester *ingester
	now      func() time.Time
}

const (
	// pageInterval is the time between two requests for the page of a match. For a match that is not
	// over it grows to longestInterval, by a minute for each hour since the match left.
	pageInterval    = time.Minute
	longestInterval = 5 * time.Minute
	// settleAfter is how long the page must be the same before it decides one of these: the match
	// does not exist, which cancels it; a result that its own scores contradict; a tie that a super
	// over may follow.
	settleAfter = 15 * time.Minute
	// unknownAfter replaces settleAfter for a match that is finished without winner and note: the
	// provider has been seen to add them after twenty minutes.
	unknownAfter = time.Hour
	// calledOffAfter is how long a page must have the match as abandoned or cancelled. No
	// score can confirm that.
	calledOffAfter = 5 * time.Minute
	// confirmReviews is how many reviews in a row, pageInterval apart, must find the same difference.
	confirmReviews = 3
	// removeFor is how long an invocation begins to remove pages of follows. One page takes a
	// second, and the function may take 30.
	removeFor = 15 * time.Second
)

// reviewAfter is when the end of a match is reviewed, after the end. The follows are kept until the last
// review, so that followers learn of a correction.
var reviewAfter = [...]time.Duration{
	5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 16 * time.Hour,
	24 * time.Hour, 36 * time.Hour, 48 * time.Hour,
}

// How the page of a match differs that is not over: its play had begun before the end, or not.
const (
	resumed    = "resumed"
	reinstated = "reinstated"
)

// FinishMatchFunction ends a match that has left the feed.
func FinishMatchFunction() app.Function {
	return app.Queue(spec.Function{
		Name: "cricket/finish-match",
		Does: "Ends a match that has left the live feed, if the provider's page of the match reports that it is over, and reviews the " +
			"end for 48 h.",
		IfDown: "Activities of finished matches stay on the lock screen until Apple removes them.",
		On:     tables.FinishQueue,
		Uses: []spec.Access{
			tables.CountRequest, tables.GetFixture, tables.UpdateFixture, tables.ArchiveFixture, tables.GetCached, tables.BatchGetCached,
			tables.PutCached, tables.BatchGetProcessed, tables.PutProcessed,
			tables.GetHash, tables.PutHash, tables.PutDisplay, tables.PutCard, tables.DeleteHash, tables.RemoveFollows,
			tables.UpdateSummary, tables.GetCard, tables.SeePlayers, tables.PutPlayers, tables.PutAppearances,
			tables.AllFollowers, tables.FollowMatch, account.CheckDeleted,
		},
		Sends:   []spec.Queue{tables.ActivityQueue, tables.TopicQueue, tables.AlertQueue, tables.FinishQueue},
		Secrets: []string{tables.SportMonksToken},
		Budgets: []spec.Share{tables.FinishShare},
		Emits:   []spec.Metric{tables.ChangesQueued},
		Memory:  256,
		Timeout: 30 * time.Second,
	}, OpenFinisher, (*Finisher).FinishMatch)
}

// FinishMatch requests the provider's page of a match that has left the feed, and ends the match if
// it is over by the page: it stores the last score and sends the end to push-activities. A match that
// the provider has deleted is cancelled. The page of a match that is not over is stored: it says why
// the match left. Then FinishMatch sends the message again, to be handled one to five minutes later. It stops
// when the match is back in the feed, or if it was never polled and is still to come, because
// sync-fixtures handles that one. It ends a match that has been missing for as long as its format
// lasts.
//
// For 48 h it reviews the end, at the times of reviewAfter. If three pages in a row have another
// result, that one is stored, and followers are told of the correction. If three pages are not over,
// the match is open again, and its resumption starts new activities. After the last review it
// removes the follows and the hashes.
//
// The end is decided by one conditional write, which fails if the match was polled meanwhile, and
// withdrawn by another. finishedAt is written last: before it, a second run repeats what a crash left
// undone; after it, a second run does nothing.
//
// A message with To is of a match that is listed again under another id: FinishMatch carries its
// followers, in as many invocations as that takes.
//
// A message without a valid match id is an Invalid problem.
func (s *Finisher) FinishMatch(ctx context.Context, m MatchLeft) error {
	if !match.ValidID(m.MatchID) {
		return problem.In("matchId", "%.32q is not a match id: valid are 1 to 19 digits", m.MatchID)
	}

	f, ok, err := dynamo.Get[match.Fixture](ctx, s.db, tables.GetFixture, m.MatchID)
	if err != nil {
		return err
	}

	switch {
	case ok && m.To != "":
		return s.carry(ctx, f, m)
	case !ok || f.FinishedAt != 0:
		return nil
	case m.Asked != "" && f.EndingAt != 0 && f.EndingAt == m.Ending:
		return s.asked(ctx, f, m)
	case m.Asked != "" && f.EndingAt != 0: // it was withdrawn, and decided again by an invocation that may not have completed
		return s.end(ctx, f, MatchLeft{MatchID: m.MatchID, Since: m.Since})
	case f.EndingAt != 0 && m.Since > f.EndingAt: // sent after the end was decided by another message
		return nil
	case f.EndingAt != 0:
		return s.end(ctx, f, m)
	case m.Ended, m.Asked != "": // an invocation withdrew the end and did not complete
		m = MatchLeft{MatchID: m.MatchID, Since: max(m.Since, f.ReopenedAt)}
	}

	since, now := time.Unix(m.Since, 0), s.now()
	switch {
	case !m.Listed && f.LiveUpdatedAt > since.UnixMilli():
		return nil
	case f.ArchivedAt > m.Since: // it came back and left again, for which there is another message
		return nil
	case now.Sub(since) > f.Lasts():
		slog.ErrorContext(ctx, "the match never ended", "match", m.MatchID)

		if f.LastSlot == 0 { // it never began: sync-fixtures handles it
			return nil
		}

		return s.decide(ctx, f, m, now)
	}

	page, err := s.provider.Fixture(ctx, m.MatchID)

	deleted := isNotFound(err)
	switch {
	case deleted:
		m.MissingSince, m.OverSince = cmp.Or(m.MissingSince, now.Unix()), 0
		if now.Unix()-m.MissingSince < int64(settleAfter/time.Second) {
			return s.wait(ctx, f, m, page)
		}

		return s.store(ctx, f, m, cancelled(f), now, true)
	case err != nil:
		slog.WarnContext(ctx, "the provider's page of the match cannot be read", "match", m.MatchID, "err", err)
		return s.wait(ctx, f, m, page)
	}

	return s.handlePage(ctx, f, m, page, now)
}

// handlePage handles the page that was requested at now, of a match whose end is not decided.
func (s *Finisher) handlePage(ctx context.Context, f match.Fixture, m MatchLeft, page sportmonks.Fixture, now time.Time) error {
	phase, known := page.Phase()
	m.MissingSince = 0

	switch upcoming := phase == sportmonks.Upcoming; {
	case upcoming && f.LastSlot == 0, m.Listed && !phase.Over():
		return nil
	case !phase.Over():
		m.OverSince = 0

		if known && f.LastSlot != 0 {
			if err := s.ingestAway(ctx, m.MatchID, page, now); err != nil {
				return err
			}
		}

		if upcoming && page.Start.After(now) { // reinstated: sync-fixtures handles it
			return s.unarchive(ctx, f, page)
		}

		return s.wait(ctx, f, m, page)
	}

	m.OverSince = cmp.Or(m.OverSince, now.Unix())

	over := now.Sub(time.Unix(m.OverSince, 0))
	if phase == sportmonks.Closed && over < calledOffAfter {
		return s.retry(ctx, m)
	}

	settled := over >= settleAfter
	if settled && over < unknownAfter {
		state, _ := scorer.Final(page, score.State{})
		settled = state.Result.Kind != score.Unknown || page.WinnerID != 0 || page.Note != ""
	}

	return s.store(ctx, f, m, page, now, settled)
}

// store stores the page of a match that is over, and ends the match unless its result is not yet
// certain or the match was polled meanwhile. If settled, the page's result is accepted although the
// page contradicts it.
func (s *Finisher) store(ctx context.Context, f match.Fixture, m MatchLeft, page sportmonks.Fixture, now time.Time, settled bool) error {
	state, err := s.ingest(ctx, m.MatchID, page, now, settled, m.MissingSince != 0)
	switch {
	case errors.Is(err, errNothingToDo), errors.Is(err, lock.ErrHeld), dynamo.IsRefused(err):
		return s.retry(ctx, m)
	case err != nil:
		return err
	case !state.Phase.Over(), state.MayGoOn() && !settled:
		return s.retry(ctx, m)
	}

	return s.decide(ctx, f, m, now)
}

// decide decides the end of a match, and sends it to push-activities. The match is requested again if
// it was polled meanwhile.
func (s *Finisher) decide(ctx context.Context, f match.Fixture, m MatchLeft, now time.Time) error {
	decided, err := s.decideEnd(ctx, &f, now, m.Listed)
	if err != nil {
		return err
	}

	if !decided {
		return s.retry(ctx, m)
	}

	return s.end(ctx, f, MatchLeft{MatchID: m.MatchID, Since: m.Since})
}

// decideEnd writes endingAt to the match's row and to f. It returns false if the
// match was polled after f was read, unless it is listed by the feed, or ended meanwhile. now is when
// the page was requested.
func (s *Finisher) decideEnd(ctx context.Context, f *match.Fixture, now time.Time, listed bool) (bool, error) {
	f.EndingAt = now.Unix()
	set := dynamo.Set(*f, "endingAt").SetIfAbsent(match.Fixture{ArchivedAt: now.Unix()}, "archivedAt").Remove("liveUpdatedAt", "live")
	notPolled := dynamo.Absent[match.Fixture]("liveUpdatedAt").Or(dynamo.Equal[match.Fixture]("liveUpdatedAt", f.LiveUpdatedAt))
	open := match.NotAfter(match.SlotOf(now)).And(match.NotEnding())

	if !listed {
		open = open.And(notPolled)
	}

	return dynamo.Applied(f.Update(ctx, s.db, tables.ArchiveFixture, set, open))
}

func isNotFound(err error) bool {
	f, ok := errors.AsType[*sportmonks.Error](err)
	return ok && f.Kind == sportmonks.NotFound
}

// cancelled returns the page of a match that the provider has deleted. It has no play:
// the score keeps that of the last poll.
func cancelled(f match.Fixture) sportmonks.Fixture {
	number := func(id string) int {
		n, _ := strconv.Atoi(id) // an id that is no number becomes 0: an unknown team
		return n
	}

	return sportmonks.Fixture{
		ID: number(f.MatchID), LocalID: number(f.LocalTeamID), VisitorID: number(f.VisitorTeamID),
		Start: f.Start(), Round: f.Round, Type: f.Type, Status: "Cancl.",
	}
}

// ingest stores the page that was requested at now. If settled, the page's result
// is accepted although the page contradicts it. If deleted, the page is that of
// cancelled.
func (s *Finisher) ingest(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time,
	settled, deleted bool) (score.State, error) {
	return s.ingester.ingest(ctx, matchID, lock.Holder(ctx, "finish"), payload{
		sum:     "left",
		decode:  func() (sportmonks.Fixture, error) { return page, nil },
		slot:    match.SlotOf(now),
		at:      now,
		final:   true,
		settled: settled,
		deleted: deleted,
	})
}

// ingestAway stores the page of a match that is not over: the feed may drop a match before it says
// why, at stumps or in rain. The match does not become live by it. A page that differs in nothing
// is stored once.
func (s *Finisher) ingestAway(ctx context.Context, matchID string, page sportmonks.Fixture, now time.Time) error {
	text, err := json.Marshal(page)
	if err != nil {
		return err
	}

	_, err = s.ingester.ingest(ctx, matchID, lock.Holder(ctx, "finish"), payload{
		sum:    fmt.Sprintf("page:%x", sha256.Sum256(text)),
		decode: func() (sportmonks.Fixture, error) { return page, nil },
		slot:   match.SlotOf(now),
		at:     now,
		away:   true,
	})
	if errors.Is(err, errNothingToDo) || errors.Is(err, lock.ErrHeld) || dynamo.IsRefused(err) {
		return nil // it was polled meanwhile
	}

	return err
}

// retry sends the message again, to be handled after pageInterval.
func (s *Finisher) retry(ctx context.Context, m MatchLeft) error {
	return s.queue.Send(ctx, tables.FinishQueue, m, pageInterval)
}

// wait is retry for a match that left the feed, and may still be played: the planner waits for
// it again. page is empty if it could not be read.
func (s *Finisher) wait(ctx context.Context, f match.Fixture, m MatchLeft, page sportmonks.Fixture) error {
	if f.ArchivedAt != 0 {
		if err := s.unarchive(ctx, f, page); err != nil {
			return err
		}
	}

	missing := s.now().Sub(time.Unix(m.Since, 0))

	return s.queue.Send(ctx, tables.FinishQueue, m, min(max(pageInterval, missing/60), longestInterval))
}

// unarchive has the planner wait for a match again, with the status of the page if that is known.
func (s *Finisher) unarchive(ctx context.Context, f match.Fixture, page sportmonks.Fixture) error {
	set := dynamo.Remove[match.Fixture]("archivedAt")
	if _, known := page.Phase(); known {
		set = set.Set(match.Fixture{Status: page.Status}, "status")
	}

	return dynamo.IgnoreRefused(f.Update(ctx, s.db, tables.ArchiveFixture, set, match.NotEnding()))
}

// end sends the decided end of a match to push-activities, stores what its players did, and reviews the end at the
// times of reviewAfter. After the last review it removes the follows, in as many invocations as that takes,
// and the hashes, and writes finishedAt.
//
// A message of an end that was withdrawn since has the present end sent once more: the invocation that decided it may
// not have sent it.
func (s *Finisher) end(ctx context.Context, f match.Fixture, m MatchLeft) error {
	if !m.Ended || m.Ending != f.EndingAt {
		end := activity.MatchChanged{MatchID: f.MatchID, Ended: f.EndingAt}
		if err := s.ingester.announcer.Announce(ctx, end, true); err != nil {
			return err
		}

		changeQueued(ctx, s.now())

		if err := s.putPlayers(ctx, f); err != nil {
			return err
		}

		m = MatchLeft{MatchID: m.MatchID, Since: m.Since, Ended: true, Ending: f.EndingAt}
	}

	if m.Reviews < len(reviewAfter) {
		if wait := time.Unix(f.EndingAt, 0).Add(reviewAfter[m.Reviews]).Sub(s.now()); wait > 0 {
			return s.queue.Send(ctx, tables.FinishQueue, m, min(wait, activity.LongestDelay))
		}

		return s.review(ctx, f, m)
	}

	until := s.now().Add(removeFor)
	switch done, err := follower.RemoveFollows(ctx, s.db, f.MatchID, func() bool { return s.now().Before(until) }); {
	case err != nil:
		return err
	case !done:
		return s.queue.Send(ctx, tables.FinishQueue, m, 0)
	}

	if _, err := dynamo.Delete(ctx, s.db, tables.DeleteHash, dynamo.Key(tables.DeleteHash, f.MatchID)); err != nil {
		return err
	}

	slog.InfoContext(ctx, "match finished", "match", f.MatchID)

	set := dynamo.Set(match.Fixture{FinishedAt: s.now().Unix()}, "finishedAt")

	return f.Update(ctx, s.db, tables.ArchiveFixture, set, dynamo.Exists[match.Fixture]("endingAt"))
}

// putPlayers stores the players of a match, and what they did by its scorecard.
func (s *Finisher) putPlayers(ctx context.Context, f match.Fixture) error {
	c, _, err := match.ReadCard(ctx, s.db, f, s.now())
	if err != nil {
		return err
	}

	if err := player.PutProfiles(ctx, s.db, c); err != nil {
		return err
	}

	return dynamo.IgnoreRefused(player.PutAppearances(ctx, s.db, appearanceIn(f), c))
}

// removePlayers removes what the players of a match did: it goes on.
func (s *Finisher) removePlayers(ctx context.Context, f match.Fixture) error {
	c, _, err := match.ReadCard(ctx, s.db, f, s.now())
	if err != nil {
		return err
	}

	return player.RemoveAppearances(ctx, s.db, appearanceIn(f), c)
}

// appearanceIn returns what the appearances in a match say of it.
func appearanceIn(f match.Fixture) player.Match {
	return player.Match{ID: f.MatchID, StartTime: f.StartTime, Type: f.Type, League: f.LeagueCode, EndingAt: f.EndingAt}
}

// review compares the provider's page of an ended match with the stored end. A page that cannot be
// read differs in nothing.
func (s *Finisher) review(ctx context.Context, f match.Fixture, m MatchLeft) error {
	now := s.now()

	page, err := s.provider.Fixture(ctx, m.MatchID)
	if err != nil && !isNotFound(err) {
		slog.WarnContext(ctx, "the provider's page of an ended match cannot be read", "match", m.MatchID, "err", err)

		if last := reviewAfter[len(reviewAfter)-1]; m.Differs != "" && now.Sub(time.Unix(f.EndingAt, 0)) < last {
			return s.retry(ctx, m)
		}
	}

	differs := ""
	if err == nil {
		if differs, err = s.differs(ctx, f, page); err != nil {
			return err
		}
	}

	switch {
	case differs == "":
		m.Differs, m.Times = "", 0
		for m.Reviews < len(reviewAfter) && !now.Before(time.Unix(f.EndingAt, 0).Add(reviewAfter[m.Reviews])) {
			m.Reviews++ // a review that is late counts for those that were due since
		}

		return s.end(ctx, f, m)
	case differs != m.Differs:
		m.Differs, m.Times = differs, 0
	}

	if m.Times++; m.Times < confirmReviews {
		return s.retry(ctx, m)
	}

	return s.reopen(ctx, f, page, differs, now)
}

// differs returns how the page of a match differs from its stored end: resumed, reinstated, corrected if
// an administrator's result is not stored yet, or the result of the page if that is certain, or "".
func (s *Finisher) differs(ctx context.Context, f match.Fixture, page sportmonks.Fixture) (string, error) {
	phase, known := page.Phase()
	if !known {
		return "", nil
	}

	outcome := func(r score.Result) score.Result {
		r.Text, r.Confirmed = "", false
		return r
	}

	stored, _, err := match.ReadScore(ctx, s.db, f.MatchID)
	switch {
	case err != nil:
		return "", err
	case !phase.Over() && !stored.State.Phase.Over(): // it never ended
		return "", nil
	case !phase.Over():
		return resumption(stored.State), nil
	case f.Corrected != nil && outcome(stored.State.Result) != outcome(*f.Corrected): // it is not stored: the request died, or asked gave up
		return corrected, nil
	case f.Corrected != nil: // the administrator's word stands
		return "", nil
	}

	state, _ := scorer.Final(page, stored.State)
	if r := state.Result; r.Confirmed && outcome(r) != outcome(stored.State.Result) {
		return fmt.Sprintf("%+v", outcome(r)), nil
	}

	return "", nil
}

// reopen withdraws the end of a match, and handles its page as that of a match which has just left
// the feed. A corrected result ends the match again at once. Only one of several invocations
// withdraws an end.
func (s *Finisher) reopen(ctx context.Context, f match.Fixture, page sportmonks.Fixture, differs string, now time.Time) error {
	if differs == resumed || differs == reinstated { // otherwise the corrected end replaces what the players did
		if err := s.removePlayers(ctx, f); err != nil {
			return err
		}
	}

	ended := f.EndingAt
	f.EndingAt, f.ArchivedAt, f.ReopenedAt = 0, 0, now.Unix()

	set := dynamo.Set(f, "reopenedAt").Remove("endingAt", "archivedAt")
	if differs == resumed {
		set = set.Add("reopened", 1)
	}

	if differs == resumed || differs == reinstated {
		set = set.Remove("corrected")
		f.Corrected = nil
	}

	err := f.Update(ctx, s.db, tables.ArchiveFixture, set, dynamo.Equal[match.Fixture]("endingAt", ended))
	if reopened, err := dynamo.Applied(err); err != nil || !reopened {
		return err
	}

	slog.WarnContext(ctx, "the end of a match is withdrawn", "match", f.MatchID, "to", differs)

	m := MatchLeft{MatchID: f.MatchID, Since: now.Unix()}
	if differs != resumed && differs != reinstated { // three pages agree
		m.OverSince = now.Add(-unknownAfter).Unix()
	}

	return s.handlePage(ctx, f, m, page, now)
}

// OpenFinisher opens the service of finish-match.
func OpenFinisher(ctx context.Context, env app.Env) (*Finisher, error) {
	provider, err := catalog.OpenProvider(ctx, env, tables.FinishShare)
	if err != nil {
		return nil, err
	}

	db, q := dynamo.Open(env.AWS, env.Prefix), queue.Open(env.AWS, env.Queues)

	return &Finisher{db: db, queue: q, provider: provider, ingester: newIngester(env, db, q), now: env.Now}, nil
}
