// Package guess stores the guesses of members, and shows what each has earned.
//
// A guess can be made until the kick-off, or the first sign of play, by the clock of the database: the
// statement PutGuess stores nothing from then on. Until the kick-off only its member sees a guess. A match
// that is moved takes guesses again.
//
// If play turns out to have begun before a guess was stored, the guess before it counts, or none. The
// API says so with late.
package guess

import (
	"cmp"
	"context"
	_ "embed"
	"strings"
	"time"

	"matchday/pkg/bestshot/member"
	"matchday/pkg/bestshot/score"
	"matchday/pkg/bestshot/tables"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

//go:embed guess.sql
var file string

// sql are the statements of guess.sql.
var sql = pg.MustParse[struct {
	PutGuess, ListGuesses, RoundExists, IsRevealed, ListGuessers, GetBacklog, ListLivePoints,
	GetRankOfScore, ListGuessesOf, IsInLeague, ListLeagueGuessers, PutJoker string
}](file)

// Errors of guesses.
var (
	errNoMatch = problem.New(problem.NotFound, "match_not_found", "there is no such match")
	errClosed  = problem.New(problem.Conflict, "guess_window_closed",
		"the match has begun, has no date, or its tournament is over: it takes no guesses now")
	errNoOther = problem.New(problem.NotFound, "member_not_found", "there is no such member")
	errHidden  = problem.New(problem.Conflict, "guess_window_open", "the guesses of others are shown after the kick-off")
)

// Guesses is the service of guesses.
type Guesses struct{ member.Store }

// Open opens the service of guesses.
func Open(ctx context.Context, env app.Env) (*Guesses, error) {
	store, err := member.OpenStore(ctx, env)
	return &Guesses{store}, err
}

// OpenReader opens the service of guesses for functions that only read.
func OpenReader(ctx context.Context, env app.Env) (*Guesses, error) {
	store, err := member.OpenReader(ctx, env)
	return &Guesses{store}, err
}

// Goals is a score in a request.
type Goals struct {
	_ struct{} `schema:"GuessedGoals"`

	Score int `json:"score" minimum:"0" maximum:"99" doc:"The goals, also those of extra time, without penalties." example:"2"`
}

// PutGuess is the request to guess, or to change a guess.
type PutGuess struct {
	auth.User
	Body Made
}

// Made is a guess in a request.
type Made struct {
	_ struct{} `schema:"PutGuessBody"`

	MatchID string `json:"matchId" format:"uuid" doc:"The id of the match." example:"58de2f1b-1374-4c92-bd53-23a81943de4b"`
	Home    Goals  `json:"home" doc:"The home team."`
	Away    Goals  `json:"away" doc:"The away team."`
}

// Page is the answer with a guess.
type Page struct {
	Body Guess
}

// State is the state of a guess.
type State string

// The states.
const (
	Paused     State = "paused"           // the match has no date
	Expired    State = "expired"          // no guess, and the match has begun
	NotStarted State = "not-started"      // no guess yet
	Waiting    State = "waiting_for_game" // a guess, and no result yet
	Finalized  State = "finalized"        // the match has ended
)

// Label is whether a part of a guess is right.
type Label string

// The labels. Without a result, or without a guess, the label is None.
const (
	None      Label = ""
	Correct   Label = "correct"
	Incorrect Label = "incorrect"
)

// Guess is a match with the guess of a member. ID is nil if the member has not guessed it.
type Guess struct {
	ID        *string   `json:"id" doc:"The id of the guess; null if there is none."`
	MatchID   string    `json:"matchId" format:"uuid" doc:"The id of the match."`
	MatchDate time.Time `json:"matchDate" doc:"The kick-off."`
	Home      Part      `json:"home" doc:"The goals of the home team."`
	Away      Part      `json:"away" doc:"The goals of the away team."`
	FullMatch Whole     `json:"fullMatch" doc:"Who wins."`
	Extra     int       `json:"extra" doc:"The points for the goal difference and the exact score."`
	Total     int       `json:"total" doc:"What the guess has earned."`
	Status    State     `json:"status" enum:"paused,expired,not-started,waiting_for_game,finalized" doc:"paused: the match is postponed, interrupted, cancelled or void. not-started: not guessed yet. expired: not guessed, and the match has begun. waiting_for_game: guessed, without a result. finalized: guessed, and the match has ended."`
	Lost      bool      `json:"hasLostTimewindowToGuess" doc:"Whether the match has begun."`

	BeganAt *time.Time `json:"beganAt,omitempty" doc:"When play began: what was stored from then on does not count. Absent while it is not known."`
	Joker   bool       `json:"joker,omitempty" doc:"Whether the match has the member's joker of the round: the points count times jokerFactor of the rule."`
	Late    bool       `json:"late,omitempty" doc:"Whether the guess, or its last change, was stored after play had begun. The values are those of before, if there were any: they count."`
}

// Part is the guess of the goals of a team.
type Part struct {
	_ struct{} `schema:"PartPoints"`

	Status Label `json:"status" enum:",correct,incorrect" doc:"Whether it is right; empty without a result."`
	Value  *int  `json:"value" doc:"The goals; null without a guess."`
	Points int   `json:"points" doc:"What it has earned."`
}

// Whole is the guess of the outcome.
type Whole struct {
	_ struct{} `schema:"GuessPoints"`

	Status Label  `json:"status" enum:",correct,incorrect" doc:"Whether it is right; empty without a result."`
	Label  string `json:"label" enum:",HOME_WIN,AWAY_WIN,DRAW" doc:"What was guessed; empty without a guess."`
	Points int    `json:"points" doc:"What it has earned."`
}

// row is a match with a guess, if there is one.
type row struct {
	ID          *string    `db:"id"`
	MatchID     string     `db:"match_id"`
	Date        time.Time  `db:"date"`
	Begun       bool       `db:"begun"`
	Status      string     `db:"status"`
	HomeScore   *int       `db:"result_home"`
	AwayScore   *int       `db:"result_away"`
	Home        *int       `db:"home"`
	Away        *int       `db:"away"`
	BeganAt     *time.Time `db:"began_at"`
	Late        *bool      `db:"late"`         // nil while it is not known when play began
	CountedHome *int       `db:"counted_home"` // nil if no guess counts
	CountedAway *int       `db:"counted_away"`
	Multiplier  int        `db:"multiplier"`
	Joker       bool       `db:"joker"`
	score.Rule
}

// guess returns the guess as the API answers it, with the points that a settled guess has earned.
func (r row) guess() Guess {
	g := Guess{
		ID:        r.ID,
		MatchID:   r.MatchID,
		MatchDate: r.Date.UTC(),
		Home:      Part{Value: r.Home},
		Away:      Part{Value: r.Away},
		Lost:      r.Begun,
		BeganAt:   utc(r.BeganAt),
		Joker:     r.Joker,
		Late:      r.Late != nil && *r.Late,
	}

	counts := r.CountedHome != nil
	if counts {
		g.Home.Value, g.Away.Value = r.CountedHome, r.CountedAway
	}

	switch {
	case r.Status == "not-defined" || r.Status == "void":
		g.Status = Paused
	case r.ID == nil && (r.Begun || r.Status == "ended"), r.ID != nil && !counts:
		g.Status = Expired
	case r.Status == "ended":
		g.Status = Finalized
	case r.ID == nil:
		g.Status = NotStarted
	default:
		g.Status = Waiting
	}

	if r.ID == nil {
		return g
	}

	guessed := score.Result{Home: *g.Home.Value, Away: *g.Away.Value}
	g.FullMatch.Label = guessed.Label()

	if g.Status != Finalized {
		return g
	}

	result := score.Result{Home: *r.HomeScore, Away: *r.AwayScore}
	p := r.Of(guessed, result, r.Factor(r.Multiplier, r.Joker))

	g.Home.Status, g.Home.Points = label(guessed.Home == result.Home), p.Home
	g.Away.Status, g.Away.Points = label(guessed.Away == result.Away), p.Away
	g.FullMatch.Status, g.FullMatch.Points = label(guessed.Label() == result.Label()), p.Outcome
	g.Extra, g.Total = p.Difference+p.Exact, p.Total()

	return g
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}

	at := t.UTC()

	return &at
}

func label(right bool) Label {
	if right {
		return Correct
	}

	return Incorrect
}

// PutGuessFunction stores the caller's guess of a match.
func PutGuessFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/put-guess",
		Does:   "Stores the caller's guess of a match until its kick-off.",
		IfDown: "Nobody can guess.",
		On:     spec.Route{Method: "POST", Path: "/api/v2/guess", Auth: spec.User},
		Uses:   []spec.Access{account.CheckDeleted},
		SQL:    []spec.SQLLogin{tables.Player},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 40,
	}, Open, (*Guesses).PutGuess, errClosed, errNoMatch, member.ErrNoMember)
}

// PutGuess stores the caller's guess, or replaces it. A second run stores the same. Errors:
// account_deleted, guess_window_closed from the millisecond of the kick-off on, match_not_found,
// member_not_found.
func (s *Guesses) PutGuess(ctx context.Context, in *PutGuess) (*Page, error) {
	if err := s.CheckAccount(ctx); err != nil {
		return nil, err
	}

	stored, err := s.put(ctx, in.UserID, []Made{in.Body})
	if err != nil {
		return nil, err
	}

	out, ok := stored[strings.ToLower(in.Body.MatchID)]

	switch {
	case !ok:
		return nil, errNoMatch.In("body.matchId")
	case out.ID == nil:
		return nil, errClosed
	}

	return &Page{out.guess()}, nil
}

// Put is the statement that stores guesses: see guess.sql. The benchmark runs it alone.
var Put = sql.PutGuess

// ListGuesses is the request for the caller's guesses of a round.
type ListGuesses struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	Round        string `query:"round" required:"true" minLength:"1" maxLength:"100" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" doc:"The slug of the round." example:"5"`
}

// GuessList is the answer with guesses.
type GuessList struct {
	Body struct {
		Data []Guess `json:"data" doc:"In the order of the kick-offs."`
	}
}

// ListGuessesFunction returns the caller's guesses of a round.
func ListGuessesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/list-guesses",
		Does:   "Returns the caller's guesses of a round, with what they have earned.",
		IfDown: "Members do not see their guesses.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/guess", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 20,
	}, OpenReader, (*Guesses).ListGuesses, member.ErrNoMember, view.ErrNoRound)
}

// ListGuesses returns the caller's guess of each match of a round. Errors: round_not_found,
// member_not_found.
func (s *Guesses) ListGuesses(ctx context.Context, in *ListGuesses) (*GuessList, error) {
	id, err := member.ID(ctx, s.DB, in.UserID)
	if err != nil {
		return nil, err
	}

	rows, err := pg.All[row](ctx, s.DB, sql.ListGuesses, in.TournamentID, in.Round, id)
	if err != nil {
		return nil, err
	}

	if len(rows) == 0 {
		_, ok, err := pg.Value[bool](ctx, s.DB, sql.RoundExists, in.TournamentID, in.Round)
		if err == nil && !ok {
			err = view.ErrNoRound
		}

		if err != nil {
			return nil, err
		}
	}

	out := &GuessList{}

	out.Body.Data = make([]Guess, len(rows))
	for i, r := range rows {
		out.Body.Data[i] = r.guess()
	}

	return out, nil
}

// ListMatchGuesses is the request for all guesses of a match.
type ListMatchGuesses struct {
	auth.User
	MatchID string `path:"matchId" format:"uuid" doc:"The id of the match."`
	Cursor  string `query:"cursor" format:"uuid" doc:"The next of the page before."`
}

// Others is the answer with the guesses of a match.
type Others struct {
	Body struct {
		_ struct{} `schema:"MemberGuessListBody"`

		Data []Other `json:"data" doc:"In the order of the members' ids, 100 a page."`
		Next string  `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// Other is the guess of a member.
type Other struct {
	_ struct{} `schema:"MemberGuess"`

	MemberID string `json:"memberId" format:"uuid" doc:"The id of the member."`
	NickName string `json:"nickName" doc:"The name of the member."`
	Guess
}

// ListMatchGuessesFunction returns the guesses of a match that has begun.
func ListMatchGuessesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/list-match-guesses",
		Does:   "Returns the guesses of a match that has begun.",
		IfDown: "Members do not see the guesses of others.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/matches/{matchId}/guesses", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 12,
	}, OpenReader, (*Guesses).ListMatchGuesses, errHidden, errNoMatch)
}

// ListMatchGuesses returns the guesses of a match that has begun. A match that is moved to a later
// date, called off or interrupted hides them again. Errors: guess_window_open, match_not_found.
func (s *Guesses) ListMatchGuesses(ctx context.Context, in *ListMatchGuesses) (*Others, error) {
	return s.listOthers(ctx, in.UserID, in.MatchID, in.Cursor, func(after string) ([]string, error) {
		return pg.Values[string](ctx, s.DB, sql.ListGuessers, in.MatchID, after, view.PageSize+1)
	})
}

// listOthers returns a page of the guesses of a match that has begun, by the members whose ids guessers
// returns: those after an id, in order, one more than a page has. Errors: guess_window_open,
// match_not_found.
func (s *Guesses) listOthers(ctx context.Context, userID, matchID, cursor string,
	guessers func(after string) ([]string, error)) (*Others, error) {
	revealed, ok, err := pg.Value[bool](ctx, s.DB, sql.IsRevealed, matchID)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errNoMatch
	case !revealed:
		return nil, errHidden
	}

	ids, err := guessers(cmp.Or(cursor, "00000000-0000-0000-0000-000000000000"))
	if err != nil {
		return nil, err
	}

	out := &Others{}
	ids, out.Body.Next = view.Cut(ids, func(id string) string { return id })
	out.Body.Data, err = List(ctx, s.DB, userID, []string{matchID}, ids)

	return out, err
}

// GetScore is the request for the points of a member.
type GetScore struct {
	auth.User
	TournamentID string `path:"tournamentId" format:"uuid" doc:"The id of the tournament."`
	MemberID     string `query:"memberId" format:"uuid" doc:"The id of the member; the caller's if absent."`
}

// MemberScore is the answer with points.
type MemberScore struct {
	Body struct {
		Points           int  `json:"points" doc:"The points in the tournament."`
		UnderCalculation bool `json:"underCalculation" doc:"Whether a match has ended and its points are not in yet."`
		Rank             *int `json:"rank" doc:"The dense rank in the leaderboard; null for a member who is not in it."`
		Movement         int  `json:"movement" doc:"How many ranks the member has gained in the current round; negative for lost ones."`
		Members          int  `json:"members" doc:"How many members the leaderboard has; 0 for a member who is not in it."`
	}
}

// GetScoreFunction returns the points of a member in a tournament.
func GetScoreFunction() app.Function {
	return app.API(spec.Function{
		Name:   "bestshot/get-score",
		Does:   "Returns the points of a member in a tournament.",
		IfDown: "Members do not see their points beside the leaderboard.",
		On:     spec.Route{Method: "GET", Path: "/api/v2/tournaments/{tournamentId}/score", Auth: spec.User},
		SQL:    []spec.SQLLogin{tables.Reader},
		Memory: 256, Timeout: 15 * time.Second, Reserved: 8,
	}, OpenReader, (*Guesses).GetScore, errNoOther, member.ErrNoMember, view.ErrNoTournament)
}

// GetScore returns the points and the rank of a member, 0 and null for a member without a settled guess.
// Its cost does not depend on the number of members. Errors:
// tournament_not_found, member_not_found.
func (s *Guesses) GetScore(ctx context.Context, in *GetScore) (*MemberScore, error) {
	id := in.MemberID
	if id == "" {
		own, err := member.ID(ctx, s.DB, in.UserID)
		if err != nil {
			return nil, err
		}

		id = own
	}

	state, ok, err := pg.One[struct {
		Member  bool `db:"member"`
		Backlog bool `db:"backlog"`
	}](ctx, s.DB, sql.GetBacklog, in.TournamentID, id)

	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, view.ErrNoTournament
	case !state.Member:
		return nil, errNoOther.In("query.memberId")
	}

	out := &MemberScore{}
	out.Body.UnderCalculation = state.Backlog

	p, ok, err := view.PlaceOf(ctx, s.DB, in.TournamentID, id)
	if err != nil {
		return nil, err
	}

	if !ok {
		return out, nil
	}

	e := p.Entry()
	out.Body.Points, out.Body.Rank, out.Body.Movement, out.Body.Members = e.Points, &e.Rank, e.Movement, p.Members

	return out, nil
}
