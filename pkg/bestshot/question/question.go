// Package question has the questions of a tournament, such as its champion or its top scorer, and of its matches,
// such as who advances.
//
// An administrator gives a tournament its questions. Members answer each once, until play begins: the kick-off, or
// the first sign of play, of the match of the question, or of any match of the tournament if the question has
// none, by the clock of the database. The statement PutAnswer stores nothing from then on. If play turns out to
// have begun before an answer was stored, the answer before it counts, or none. If the match gets a later
// kick-off, its questions take answers again. Nobody sees the answer of another member.
//
// Who advances is decided by an administrator like every other question: the result of a match does not say it
// after penalties, or in a tie of two matches.
//
// Later an administrator decides which answers are right, or that the question is void. A decision is applied
// in ranges of answers, by the ids of the members, each in a transaction under the lock of the tournament. It
// writes the differences to what members have into a ledger of its own, adds them to the leaderboard, and
// stores how far it has come. A new decision is the next version, and begins again; so does a beginning of play at
// another time. In the end the ledger of a question has what its answers earn by the latest decision. The points
// belong to no round.
//
// A tournament without questions reads no row of them.
package question

import (
	"context"
	_ "embed"
	"time"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

//go:embed question.sql
var file string

// sql are the statements of question.sql.
var sql = pg.MustParse[struct {
	ListQuestions, PutAnswer, LockTournament, LockQuestions, FindMatches, DeleteQuestion, PutQuestion, LockQuestion, CheckAnswers,
	DecideQuestion, LockPending, SettleRange, MoveQuestion, EndQuestion, ClaimLost string
}](file)

// Errors of questions.
var (
	errNoQuestion = problem.New(problem.NotFound, "question_not_found", "the tournament has no such question")
	errLocked     = problem.New(problem.Conflict, "questions_locked",
		"play has begun, or the tournament is over, or the question is decided: nothing can be changed now")
)

// Questions is the service of questions.
type Questions struct{ member.Store }

// Open opens the service of questions.
func Open(ctx context.Context, env app.Env) (*Questions, error) {
	store, err := member.OpenStore(ctx, env)
	return &Questions{store}, err
}

// OpenReader opens the service of questions for functions that only read.
func OpenReader(ctx context.Context, env app.Env) (*Questions, error) {
	store, err := member.OpenReader(ctx, env)
	return &Questions{store}, err
}

// Kind is what an answer is.
type Kind string

// The kinds.
const (
	Team   Kind = "team"   // the id of a team of the tournament, or of the match
	Choice Kind = "choice" // one of the choices
)

// ListQuestions is the request for the questions of a tournament.
type ListQuestions struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
}

// QuestionList is the answer with questions.
type QuestionList struct {
	Body struct {
		Data []Question `json:"data" doc:"In the order of the administrator, at most 50; none if the tournament has no questions."`
	}
}

// Question is a question with the answer of the caller.
type Question struct {
	Slug     string     `json:"slug" db:"slug" doc:"Its name in addresses." example:"champion"`
	Text     string     `json:"text" db:"text" doc:"What is asked."`
	Points   int        `json:"points" db:"points" doc:"What a right answer earns."`
	MatchID  *string    `json:"matchId" db:"match_id" format:"uuid" doc:"The match that it is about, such as who advances; null if it is about the tournament."`
	Kind     Kind       `json:"kind" db:"kind" enum:"team,choice" doc:"team: an answer is the id of a team of the tournament, or of the match. choice: it is one of choices."`
	Choices  []string   `json:"choices" db:"choices" doc:"What can be answered, at most 100; empty if the answer is a team."`
	State    string     `json:"state" db:"state" enum:"open,locked,settled,void" doc:"open: it takes answers. locked: play of the match, or of the tournament, has begun. settled: the right answers are known. void: it earns nothing."`
	ClosesAt *time.Time `json:"closesAt" db:"closes_at" doc:"The kick-off from which it takes no answers; null if it is not known."`
	Answer   *string    `json:"answer" db:"answer" doc:"The caller's answer; null if there is none, or none that counts."`
	Late     bool       `json:"late,omitempty" db:"late" doc:"Whether the answer, or its last change, was stored after play had begun. answer is that of before, if there was one: it counts."`
	Right    []string   `json:"right,omitempty" db:"right_answers" doc:"The right answers; absent while they are not known."`
	Earned   *int       `json:"earned,omitempty" db:"earned" doc:"What the caller's answer has earned; absent while the points are not applied."`
}

// ListQuestionsFunction returns the questions of a tournament.
func ListQuestionsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/list-questions",
		Does:   "Returns the questions of a tournament with the caller's answers.",
		IfDown: "Members do not see the questions.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/questions", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}, OpenReader, (*Questions).ListQuestions, member.ErrNoMember, view.ErrNoTournament)
}

// ListQuestions returns the questions of a tournament with the caller's answers. It reads at most 50 questions,
// each with one answer, so its cost does not depend on the number of members. Errors: tournament_not_found,
// member_not_found.
func (s *Questions) ListQuestions(ctx context.Context, in *ListQuestions) (*QuestionList, error) {
	id, err := member.ID(ctx, s.DB, in.UserID)
	if err != nil {
		return nil, err
	}

	rows, err := pg.All[struct {
		Known bool `db:"known"` // false in the only row of a tournament without questions
		Question
	}](ctx, s.DB, sql.ListQuestions, in.TournamentID, id)
	if err == nil && len(rows) == 0 {
		err = view.ErrNoTournament
	}

	if err != nil {
		return nil, err
	}

	out := &QuestionList{}
	out.Body.Data = []Question{}

	for _, r := range rows {
		if r.Known {
			out.Body.Data = append(out.Body.Data, r.Question)
		}
	}

	return out, nil
}

// PutAnswer is the request to answer a question, or to change the answer.
type PutAnswer struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Slug         string `path:"slug" maxLength:"60" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the question." example:"champion"`
	Body         struct {
		Answer string `json:"answer" format:"display-name" maxLength:"80" doc:"The id of a team of the tournament, or of the match, or one of the choices." example:"Rovers"`
	}
}

// AnswerPage is the answer that an answer is stored.
type AnswerPage struct {
	Body struct {
		_ struct{} `schema:"QuestionAnswer"`

		Answer string `json:"answer" doc:"The answer as it is stored."`
	}
}

// PutAnswerFunction stores the caller's answer to a question.
func PutAnswerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/put-answer",
		Does:   "Stores the caller's answer to a question of a tournament, until play begins.",
		IfDown: "Nobody can answer questions.",
		On:     spec.Route{Method: "PUT", Path: "/api/v2/tournaments/{tournamentId}/questions/{slug}/answer", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 6,
	}, Open, (*Questions).PutAnswer, errLocked, errNoQuestion, member.ErrNoMember)
}

// PutAnswer stores the caller's answer to a question, or replaces it. A second run stores the same. Its cost
// does not depend on the number of members. Errors: account_deleted, question_not_found, member_not_found;
// questions_locked from the first sign of play on; a problem in body.answer for what is no answer to the question.
func (s *Questions) PutAnswer(ctx context.Context, in *PutAnswer) (*AnswerPage, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	r, ok, err := pg.One[struct {
		Member bool    `db:"member"`
		Valid  bool    `db:"valid"`
		Stored *string `db:"stored"`
	}](ctx, s.DB, sql.PutAnswer, in.TournamentID, in.Slug, in.Body.Answer, in.UserID)

	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errNoQuestion
	case !r.Member:
		return nil, member.ErrNoMember
	case !r.Valid:
		return nil, problem.In("body.answer", "expected the id of a team of the tournament, or of the match, or one of the choices")
	case r.Stored == nil:
		return nil, errLocked
	}

	out := &AnswerPage{}
	out.Body.Answer = *r.Stored

	return out, nil
}
