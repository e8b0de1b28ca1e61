package question

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/spec"
)

// Admin is the service of administrators for questions.
type Admin struct {
	db    pg.DB
	queue queue.Sender
}

// OpenAdmin opens the service of administrators for questions.
func OpenAdmin(ctx context.Context, env app.Env) (*Admin, error) {
	db, err := pg.Open(ctx, env, tables.DB)
	return &Admin{db, queue.Open(env.AWS, env.Queues)}, err
}

var (
	errAnswered = problem.New(problem.Conflict, "question_answered", "members have answered the question: it stays, with its kind")
	errOpen     = problem.New(problem.Conflict, "question_open", "play of the tournament has not begun: members can change their answers")
)

// PutQuestions is the request to give a tournament its questions.
type PutQuestions struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Body         struct {
		Questions []NewQuestion `json:"questions" nullable:"false" maxItems:"50" doc:"All its questions, in their order. Those that are not in the list are deleted; they have no answers then. Those that are locked stay as they are."`
	}
}

// NewQuestion is a question in a request.
type NewQuestion struct {
	Slug    string   `json:"slug" db:"slug" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"Its name in addresses." example:"top-scorer"`
	Text    string   `json:"text" db:"text" format:"display-name" maxLength:"200" doc:"What is asked." example:"Who scores the most goals?"`
	Points  int      `json:"points" db:"points" minimum:"1" maximum:"100" doc:"What a right answer earns." example:"10"`
	MatchID string   `json:"matchId,omitempty" db:"match_id" format:"uuid" doc:"The match that it is about, such as who advances: it takes answers until that match begins. Absent if it is about the tournament: until its first match begins."`
	Kind    Kind     `json:"kind" db:"kind" enum:"team,choice" doc:"team: an answer is the id of a team with a match in the tournament, or of a team of the match. choice: it is one of choices."`
	Choices []string `json:"choices,omitempty" db:"choices" format:"display-name" maxLength:"80" maxItems:"100" doc:"What can be answered, if kind is choice. A choice that is taken away earns nothing: those who have answered it can answer again."`
}

// Done is the answer without a body.
type Done struct {
	Status int
}

// PutQuestionsFunction gives a tournament its questions.
func PutQuestionsFunction() app.Function {
	return app.API(
		tables.AdminFunction("put-questions", "Gives a tournament, and its matches, their questions, until play begins.",
			"No question can be changed.", "PUT", "/tournaments/{tournamentId}/questions", nil),
		OpenAdmin, (*Admin).PutQuestions, view.ErrNoTournament, errLocked, errAnswered)
}

// check returns a problem unless each question is given once, and has choices if its kind needs them.
func (in *PutQuestions) check() error {
	seen := map[string]bool{}

	for _, q := range in.Body.Questions {
		if seen[q.Slug] {
			return problem.In("body.questions", "expected each slug once: %s", q.Slug)
		}

		seen[q.Slug] = true

		if (q.Kind == Choice) != (len(q.Choices) > 0) {
			return problem.In("body.questions", "%s: expected choices if the kind is choice, and only then", q.Slug)
		}

		if choices := slices.Sorted(slices.Values(q.Choices)); len(slices.Compact(choices)) < len(q.Choices) {
			return problem.In("body.questions", "%s: expected each choice once", q.Slug)
		}
	}

	return nil
}

// stored is a question as it is stored.
type stored struct {
	NewQuestion
	Locked   bool `db:"locked"`
	Answered bool `db:"answered"`
}

// PutQuestions gives a tournament its questions. One that is decided, or whose play has begun, stays as it is: the
// list has it, at any place. Another with answers can get another text, order, points and choices. A second run
// changes nothing. Errors: tournament_not_found, questions_locked, question_answered if a question with answers is
// not in the list, or has another kind or match, a problem in body.questions for a match of another tournament.
func (s *Admin) PutQuestions(ctx context.Context, in *PutQuestions) (*Done, error) {
	if err := in.check(); err != nil {
		return nil, err
	}

	err := s.db.Tx(ctx, func(tx pgx.Tx) error {
		t, ok, err := pg.One[struct {
			Over  bool `db:"over"`
			Began bool `db:"began"`
		}](ctx, tx, sql.LockTournament, in.TournamentID)

		switch {
		case err != nil:
			return err
		case !ok:
			return view.ErrNoTournament
		case t.Over:
			return errLocked
		}

		known, err := pg.All[stored](ctx, tx, sql.LockQuestions, in.TournamentID)
		if err != nil {
			return err
		}

		begun, err := s.matchesOf(ctx, tx, in)
		if err != nil {
			return err
		}

		var all pgx.Batch

		for _, k := range known {
			i := slices.IndexFunc(in.Body.Questions, func(q NewQuestion) bool { return q.Slug == k.Slug })

			if err := k.mayBecome(i, in.Body.Questions); err != nil {
				return err
			}

			if i < 0 {
				all.Queue(sql.DeleteQuestion, in.TournamentID, k.Slug)
			}
		}

		for i, q := range in.Body.Questions {
			locked := slices.ContainsFunc(known, func(k stored) bool { return k.Slug == q.Slug && k.Locked })

			if began := q.MatchID == "" && t.Began || begun[q.MatchID]; began && !locked {
				return errLocked.In("body.questions")
			}

			all.Queue(sql.PutQuestion, in.TournamentID, q.Slug, i, q.Text, q.Points, string(q.Kind), append([]string{}, q.Choices...), q.MatchID)
		}

		return tx.SendBatch(ctx, &all).Close()
	})
	if err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a tournament has other questions", "tournament", in.TournamentID, "questions", len(in.Body.Questions),
		"by", in.UserID)

	return &Done{http.StatusNoContent}, nil
}

// mayBecome returns an error unless a question may become number i of a list, or be deleted if i is -1.
func (k stored) mayBecome(i int, list []NewQuestion) error {
	var q NewQuestion
	if i >= 0 {
		q = list[i]
	}

	q.Choices = append([]string{}, q.Choices...)

	switch {
	case k.Locked && !reflect.DeepEqual(q, k.NewQuestion):
		return errLocked.In("body.questions")
	case k.Answered && (q.Kind != k.Kind || q.MatchID != k.MatchID):
		return errAnswered.In("body.questions")
	}

	return nil
}

// matchesOf returns the matches of the questions in a request, and whether they have begun. It writes their ids as
// they are stored.
func (s *Admin) matchesOf(ctx context.Context, tx pgx.Tx, in *PutQuestions) (map[string]bool, error) {
	ids := []string{}

	for i, q := range in.Body.Questions {
		if q.MatchID != "" {
			in.Body.Questions[i].MatchID = strings.ToLower(q.MatchID)
			ids = append(ids, in.Body.Questions[i].MatchID)
		}
	}

	rows, err := pg.All[struct {
		ID    string `db:"id"`
		Began bool   `db:"began"`
	}](ctx, tx, sql.FindMatches, in.TournamentID, ids)
	if err != nil {
		return nil, err
	}

	begun := map[string]bool{}
	for _, r := range rows {
		begun[r.ID] = r.Began
	}

	for _, q := range in.Body.Questions {
		if _, ok := begun[q.MatchID]; q.MatchID != "" && !ok {
			return nil, problem.In("body.questions", "%s: expected the id of a match of the tournament", q.Slug)
		}
	}

	return begun, nil
}

// DecideQuestion is the request to decide a question.
type DecideQuestion struct {
	auth.Admin
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Slug         string `path:"slug" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the question." example:"champion"`
	Body         struct {
		Answers []string `json:"answers,omitempty" format:"display-name" maxLength:"80" maxItems:"20" doc:"The right answers: several if they share it." example:"[\"Rovers\"]"`
		Void    bool     `json:"void,omitempty" doc:"The question earns nothing."`
		Undo    bool     `json:"undo,omitempty" doc:"Take the decision back: members lose its points, and the question waits for another."`
	}
}

// DecideQuestionFunction decides a question.
func DecideQuestionFunction() app.Function {
	return app.API(
		tables.AdminFunction("decide-question", "Decides which answers to a question are right, or that it is void.",
			"The points of a question do not arrive.", "POST", "/tournaments/{tournamentId}/questions/{slug}/settle",
			[]spec.Queue{Queue}, 202),
		OpenAdmin, (*Admin).DecideQuestion, errNoQuestion, errOpen)
}

// state returns the state that the request gives the question. It returns a problem unless the body has exactly
// one decision.
func (in *DecideQuestion) state() (state string, err error) {
	given := 0

	for name, ok := range map[string]bool{"settled": len(in.Body.Answers) > 0, "void": in.Body.Void, "open": in.Body.Undo} {
		if ok {
			given, state = given+1, name
		}
	}

	if given != 1 {
		return "", problem.In("body.answers", "expected answers, or void, or undo")
	}

	return state, nil
}

// DecideQuestion decides which answers to a question are right, or that it is void, or takes that back. Then
// settle-question applies the points: what members have by the decision before changes to what they have by this
// one. A second run asks for the same again, which changes nothing. Errors: question_not_found, question_open
// while members can answer, a problem in body.answers for what is no answer to the question.
func (s *Admin) DecideQuestion(ctx context.Context, in *DecideQuestion) (*Done, error) {
	state, err := in.state()
	if err != nil {
		return nil, err
	}

	err = s.db.Tx(ctx, func(tx pgx.Tx) error {
		q, ok, err := pg.One[struct {
			State string   `db:"state"`
			Right []string `db:"right_answers"`
			Open  bool     `db:"open"`
		}](ctx, tx, sql.LockQuestion, in.TournamentID, in.Slug)

		switch {
		case err != nil:
			return err
		case !ok:
			return errNoQuestion
		case q.Open && !in.Body.Undo: // the first match got a later kick-off: what is decided can be taken back
			return errOpen
		}

		right, err := s.rightAnswers(ctx, tx, in)
		if err != nil || q.State == state && slices.Equal(q.Right, right) {
			return err
		}

		_, err = pg.Do(ctx, tx, sql.DecideQuestion, in.TournamentID, in.Slug, state, right, in.UserID)

		return err
	})
	if err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a question is decided", "tournament", in.TournamentID, "question", in.Slug, "state", state, "by", in.UserID)

	return &Done{http.StatusAccepted}, s.queue.Send(ctx, Queue, Decided{in.TournamentID, in.Slug}, 0)
}

// rightAnswers returns the right answers of a request as they are stored, sorted.
func (s *Admin) rightAnswers(ctx context.Context, tx pgx.Tx, in *DecideQuestion) ([]string, error) {
	stored, err := pg.Values[*string](ctx, tx, sql.CheckAnswers, in.TournamentID, in.Slug, append([]string{}, in.Body.Answers...))
	if err != nil {
		return nil, err
	}

	right := []string{}

	for i, a := range stored {
		if a == nil {
			return nil, problem.In("body.answers", "expected ids of teams of the tournament, or choices of the question: %s", in.Body.Answers[i])
		}

		right = append(right, *a)
	}

	slices.Sort(right)

	return slices.Compact(right), nil
}
