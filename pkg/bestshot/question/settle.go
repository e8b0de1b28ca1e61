package question

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/redis"
	"matchday/pkg/spec"
)

// Queue has the questions whose points are to be applied. The plan of polls asks again for those that are lost:
// after 15 minutes, or up to an hour later if no tournament is played.
var Queue = spec.Queue{Name: "bestshot-questions", MaxReceiveCount: 5, Batch: 1, Concurrency: 2, Unhurried: true}

// Decided is a message of Queue.
type Decided struct {
	TournamentID string `json:"tournamentId"`
	Slug         string `json:"question"`
}

const (
	// maxRanges bounds the ranges that a message applies before it is sent again.
	maxRanges = 100
	// busyDelay is when a message comes back that has found its tournament locked.
	busyDelay = 5 * time.Second
)

// Worker is the service that applies the points of questions.
type Worker struct {
	view.Views
	queue     queue.Sender
	rangeSize int
	maxRanges int
}

// OpenWorker opens the service that applies the points of questions.
func OpenWorker(ctx context.Context, env app.Env) (*Worker, error) {
	return OpenWorkerWith(ctx, env, settlement.RangeSize, maxRanges)
}

// OpenWorkerWith is OpenWorker with another size and number of ranges.
func OpenWorkerWith(ctx context.Context, env app.Env, size, most int) (*Worker, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	if err != nil {
		return nil, err
	}

	cache, err := redis.Open(ctx, env, tables.CacheUser)

	return &Worker{view.New(db, cache, env.Clock), queue.Open(env.AWS, env.Queues), size, most}, err
}

// SettleQuestionFunction applies the points of a question.
func SettleQuestionFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "bestshot/settle-question",
		Does:   "Turns the decision about a question into points, and writes the leaderboard.",
		IfDown: "The points of questions do not arrive.",
		On:     Queue,
		SQL:    []spec.SQLLogin{tables.Settler},
		Caches: []spec.CacheLogin{tables.CacheUser},
		Sends:  []spec.Queue{Queue},
		Memory: 256, Timeout: time.Minute,
	}, OpenWorker, (*Worker).SettleQuestion)
}

// SettleQuestion gives the members who have answered a question what they earn by its latest decision, in ranges,
// each in a transaction, and then writes the first page of the leaderboard. If the time or maxRanges is over, or
// another message is at work on the tournament, it sends the message again. A crash repeats at most one range. A
// second run changes no points, and writes the page again. Errors: Invalid for a message that names no question,
// Unavailable while the database or the cache does not answer.
func (s *Worker) SettleQuestion(ctx context.Context, m Decided) error {
	if !view.IsID(m.TournamentID) || m.Slug == "" {
		return problem.New(problem.Invalid, "bad_question", "expected the id of a tournament, and the slug of a question")
	}

	for left := s.maxRanges; ; left-- {
		if left == 0 || settlement.AtEnd(ctx) {
			return s.queue.Send(ctx, Queue, m, 0)
		}

		known, done, err := s.settleRange(ctx, m)

		switch {
		case pg.IsLockTimeout(err):
			return s.queue.Send(ctx, Queue, m, busyDelay)
		case err != nil:
			return fmt.Errorf("settle the question %s of the tournament %s: %w", m.Slug, m.TournamentID, err)
		case !known: // it was deleted
			return nil
		case done:
			return s.RefreshLeaderboard(ctx, m.TournamentID)
		}
	}
}

// settleRange gives the members of the next range their points in one transaction. known is false if there is no
// such tournament. done is whether nothing is left to apply.
func (s *Worker) settleRange(ctx context.Context, m Decided) (known, done bool, err error) {
	err = s.DB.Tx(ctx, func(tx pgx.Tx) error {
		done = false

		if known, err = settlement.LockForRange(ctx, tx, m.TournamentID); err != nil || !known {
			return err
		}

		q, pending, err := pg.One[struct {
			Version  int        `db:"version"`
			Points   int        `db:"points"`
			Right    []string   `db:"right_answers"`
			MemberID string     `db:"member_id"` // the last one of the range before
			Began    *time.Time `db:"began"`
		}](ctx, tx, sql.LockPending, m.TournamentID, m.Slug)
		if err != nil || !pending {
			done = true
			return err
		}

		part, _, err := pg.One[struct {
			Seen     int     `db:"seen"`
			MemberID *string `db:"member_id"` // the last one; nil if there is none
			Rows     int     `db:"rows"`
		}](ctx, tx, sql.SettleRange, m.TournamentID, m.Slug, q.Version, q.Points, q.Right, q.Began, q.MemberID, s.rangeSize)
		if err != nil {
			return err
		}

		slog.InfoContext(ctx, "answers to a question have their points", "tournament", m.TournamentID, "question", m.Slug,
			"version", q.Version, "answers", part.Seen, "changes", part.Rows)

		if part.Seen == s.rangeSize {
			_, err = pg.Do(ctx, tx, sql.MoveQuestion, m.TournamentID, m.Slug, part.MemberID, part.Seen)
			return err
		}

		done = true

		if _, err := pg.Do(ctx, tx, sql.EndQuestion, m.TournamentID, m.Slug); err != nil {
			return err
		}

		return settlement.RaiseLeaderboard(ctx, tx, m.TournamentID)
	})

	return known, done, err
}

// Resend sends the messages of questions whose points are to be applied: those of which no range was for 15
// minutes, and at once those whose play turned out to have begun at another time.
func Resend(ctx context.Context, db pg.DB, q queue.Sender) error {
	rows, err := pg.All[struct {
		TournamentID string `db:"tournament_id"`
		Slug         string `db:"slug"`
	}](ctx, db, sql.ClaimLost)
	if err != nil {
		return err
	}

	lost := make([]Decided, len(rows))
	for i, r := range rows {
		lost[i] = Decided{r.TournamentID, r.Slug}
	}

	return queue.SendAll(ctx, q, Queue, lost)
}
