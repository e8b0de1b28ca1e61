package live

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Office serves what administrators do with the end of a match.
type Office struct {
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// OpenOffice opens the service of what administrators do with the end of a match.
func OpenOffice(_ context.Context, env app.Env) (*Office, error) {
	return &Office{db: dynamo.Open(env.AWS, env.Prefix), queue: queue.Open(env.AWS, env.Queues), now: env.Now}, nil
}

// errNoEnd refuses a change of an end that is not decided, or whose last review was done.
var errNoEnd = problem.New(problem.Conflict, "match_not_ended", "the match has not ended, or it ended more than 48 hours ago")

// EndedMatch is the answer to a request that changes the end of a match: finish-match will do it.
type EndedMatch struct {
	Status int
	Body   struct {
		MatchID string    `json:"matchId" doc:"The id of the match."`
		EndedAt time.Time `json:"endedAt" doc:"When the end that is withdrawn was decided."`
	}
}

// ReopenMatch is the request to withdraw the end of a match.
type ReopenMatch struct {
	auth.Admin
	ID string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
}

// ReopenMatchFunction withdraws the end of a match.
func ReopenMatchFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/reopen-match",
		Does:   "Withdraws the end of a match whose page at the provider is not over.",
		IfDown: "Administrators cannot reopen matches. The reviews of an end do so later.",
		On:     spec.Route{Method: "POST", Path: "/matches/{id}/reopen", Auth: spec.Admin, Answers: []int{202}},
		Uses:   []spec.Access{tables.GetFixture},
		Sends:  []spec.Queue{tables.FinishQueue},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenOffice, (*Office).ReopenMatch, match.ErrNotFound, errNoEnd)
}

// ReopenMatch has finish-match withdraw the end of a match at once, without the three reviews, if the provider's
// page of the match is not over. Its next play starts activities. It returns match.ErrNotFound if there is no such
// match, and errNoEnd if its end is not decided or 48 h old.
func (o *Office) ReopenMatch(ctx context.Context, in *ReopenMatch) (*EndedMatch, error) {
	f, err := o.ended(ctx, in.ID)
	if err != nil {
		return nil, err
	}

	return o.ask(ctx, f, resumed)
}

// CorrectResult is the request to replace the result of a match.
type CorrectResult struct {
	auth.Admin
	ID   string `path:"id" pattern:"^[0-9]{1,19}$" doc:"The id of the match."`
	Body struct {
		Kind     score.Outcome `json:"kind" enum:"won,tied,drawn,noResult,abandoned" doc:"The kind of the result."`
		WinnerID string        `json:"winnerId,omitempty" pattern:"^[0-9]{1,19}$" example:"11" doc:"The id of the winner. Only with won."`
		Runs     int           `json:"runs,omitempty" minimum:"0" maximum:"2000" doc:"The margin in runs. Only with won."`
		Wickets  int           `json:"wickets,omitempty" minimum:"0" maximum:"10" doc:"The margin in wickets. Only with won."`
		Innings  bool          `json:"innings,omitempty" doc:"Whether the margin includes an innings. Only with won."`
	}
}

// CorrectResultFunction replaces the result of a match.
func CorrectResultFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/correct-result",
		Does:   "Replaces the result of a match that has ended, and has its followers told of another outcome or winner.",
		IfDown: "Administrators cannot correct results. The reviews of an end copy the provider's corrections.",
		On:     spec.Route{Method: "PUT", Path: "/matches/{id}/result", Auth: spec.Admin, Answers: []int{202}},
		Uses:   []spec.Access{tables.GetFixture, tables.UpdateFixture},
		Sends:  []spec.Queue{tables.FinishQueue},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenOffice, (*Office).CorrectResult, match.ErrNotFound, match.ErrTeamNotInMatch, errNoEnd)
}

// CorrectResult stores the result of an administrator, which no later page of the provider replaces, and has
// finish-match end the match again with it. It returns Invalid if the winner or the margin does not fit the
// kind, match.ErrTeamNotInMatch if the winner does not play in the match, and otherwise the errors of
// ReopenMatch.
func (o *Office) CorrectResult(ctx context.Context, in *CorrectResult) (*EndedMatch, error) {
	b := in.Body

	switch won := b.Kind == score.Won; {
	case won && b.WinnerID == "":
		return nil, problem.In("body.winnerId", "the winner is missing: won needs one")
	case !won && (b.WinnerID != "" || b.Runs != 0 || b.Wickets != 0 || b.Innings):
		return nil, problem.In("body.winnerId", "a winner and a margin are valid only with won")
	case b.Runs != 0 && b.Wickets != 0, b.Innings && b.Runs == 0:
		return nil, problem.In("body.runs", "a margin is in runs, an innings and runs, or wickets")
	}

	f, err := o.ended(ctx, in.ID)
	if err != nil {
		return nil, err
	}

	if b.WinnerID != "" && f.Perspective(b.WinnerID) == match.Neutral {
		return nil, match.ErrTeamNotInMatch.In("body.winnerId")
	}

	f.Corrected = &score.Result{
		Kind: b.Kind, WinnerID: b.WinnerID, Runs: b.Runs, Wickets: b.Wickets, Innings: b.Innings, Confirmed: true,
	}

	err = f.Update(ctx, o.db, tables.UpdateFixture, dynamo.Set(f, "corrected"), dynamo.Equal[match.Fixture]("endingAt", f.EndingAt))
	if err != nil {
		return nil, dynamo.RefusedAs(err, errNoEnd)
	}

	return o.ask(ctx, f, corrected)
}

// ended reads a match whose end is decided and still reviewed.
func (o *Office) ended(ctx context.Context, id string) (match.Fixture, error) {
	f, ok, err := dynamo.Get[match.Fixture](ctx, o.db, tables.GetFixture, id)
	switch {
	case err != nil:
		return f, err
	case !ok:
		return f, match.ErrNotFound
	case f.EndingAt == 0 || f.FinishedAt != 0:
		return f, errNoEnd
	}

	return f, nil
}

// ask sends what an administrator wants to finish-match.
func (o *Office) ask(ctx context.Context, f match.Fixture, what string) (*EndedMatch, error) {
	m := MatchLeft{MatchID: f.MatchID, Since: o.now().Unix(), Asked: what, Ending: f.EndingAt}
	if err := o.queue.Send(ctx, tables.FinishQueue, m, 0); err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "an administrator changes the end of a match", "match", f.MatchID, "to", what)

	out := &EndedMatch{Status: http.StatusAccepted}
	out.Body.MatchID, out.Body.EndedAt = f.MatchID, time.Unix(f.EndingAt, 0).UTC()

	return out, nil
}

// corrected is how the page of a match differs whose result an administrator has replaced.
const corrected = "corrected"

// asked withdraws the end of a match as an administrator asked: to be open again if its page is not over, or to end
// with the administrator's result. It requests the page again after a minute if that cannot be read, for 15 minutes; a
// review then stores the result.
func (s *Finisher) asked(ctx context.Context, f match.Fixture, m MatchLeft) error {
	now := s.now()

	page, err := s.provider.Fixture(ctx, m.MatchID)
	if err != nil && now.Sub(time.Unix(m.Since, 0)) < settleAfter {
		slog.WarnContext(ctx, "the provider's page of an ended match cannot be read", "match", m.MatchID, "err", err)
		return s.retry(ctx, m)
	}

	phase, known := page.Phase()

	over := phase.Over()
	if err != nil || !known || over != (m.Asked == corrected) {
		slog.WarnContext(ctx, "the end of a match stays as it is", "match", m.MatchID, "asked", m.Asked, "page", page.Status, "err", err)
		return nil
	}

	if m.Asked == resumed {
		stored, _, err := match.ReadScore(ctx, s.db, f.MatchID)
		if err != nil {
			return err
		}

		return s.reopen(ctx, f, page, resumption(stored.State), now)
	}

	return s.reopen(ctx, f, page, corrected, now)
}

// resumption returns how the page of a match differs that is not over.
func resumption(stored score.State) string {
	if stored.Current == 0 {
		return reinstated
	}

	return resumed
}

// correct replaces the result of a final state by that of an administrator, if there is one.
func correct(s *score.State, f match.Fixture) {
	if f.Corrected == nil || !s.Phase.Over() {
		return
	}

	s.Result = *f.Corrected
	s.Result.Text = cmp.Or(s.ResultText(s.Result), "Result corrected")
}
