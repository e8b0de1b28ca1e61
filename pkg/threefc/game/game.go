// Package game records games: their three thirds, the roster, the goals and the result.
//
// Everything of a game is changed under its revision. A request reads the game with its goals and
// its roster, computes the new score from all goals, and writes everything in one transaction,
// which is refused if another request has changed the game. So the score is always that of the
// goals, and two concurrent scorekeepers cannot break a rule.
package game

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Errors about games.
var (
	ErrFinished = problem.New(problem.Conflict, "game_finished", "the game is finished: an administrator may still correct it")
	errReopen   = problem.New(problem.Conflict, "game_finished",
		"the game is finished: an administrator can reopen it, and then it can be changed")
	errNotLive = problem.New(problem.Conflict, "game_not_live", "the game is not being played")
	errTeams   = problem.New(problem.Unprocessable, "three_teams_needed",
		"a game needs three different teams of the season").In("body.teamIds")
	errStarted  = problem.New(problem.Conflict, "game_started", "the game has begun: its teams cannot be changed").In("body.teamIds")
	errThird    = problem.New(problem.Conflict, "bad_third_transition", "thirds start and finish one after the other")
	errUnplayed = problem.New(problem.Conflict, "thirds_unfinished", "finish all three thirds first")
	errNotBegun = problem.New(problem.Conflict, "third_not_started", "this third has not started yet")
	errNotNow   = problem.New(problem.Conflict, "third_not_running",
		"this third does not run: an administrator may change its goals, or reopen the game once it is finished")
	errUnderTeam = problem.New(problem.Unprocessable, "unknown_team", "the team does not play in this game")
)

// Service is the service of games.
type Service struct {
	signin.Base
	queue  queue.Sender
	guests *session.Sessions // nil if the function is for users alone
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{Base: signin.NewBase(env), queue: queue.Open(env.AWS, env.Queues)}, nil
}

// OpenScoring opens the service of a function that guests, too, may call by the PIN of a session.
func OpenScoring(ctx context.Context, env app.Env) (*Service, error) {
	s, err := Open(ctx, env)
	guests := s.Guests()
	s.guests = &guests

	return s, err
}

// Identify returns the caller: a guest if the request has the header of one, otherwise a user. Errors: those
// of session.Sessions.
func (s *Service) Identify(ctx context.Context, e events.APIGatewayV2HTTPRequest) (userID string, err error) {
	if s.guests != nil && e.Headers[signin.GuestHeader] != "" {
		return s.guests.Identify(ctx, e)
	}

	return s.Base.Identify(ctx, e)
}

// Third is when a third was played.
type Third struct {
	_ struct{} `schema:"GameThird"`

	StartedAt  *time.Time `json:"startedAt,omitempty" doc:"When it started."`
	FinishedAt *time.Time `json:"finishedAt,omitempty" doc:"When it finished."`
}

// Game is a game as the members of its league see it.
type Game struct {
	GameID      string       `json:"gameId" doc:"The id of the game."`
	SessionID   string       `json:"sessionId" doc:"The id of its session."`
	SeasonID    string       `json:"seasonId" doc:"The id of its season."`
	LeagueID    string       `json:"leagueId" doc:"The id of its league."`
	Slug        string       `json:"slug" doc:"The name in URLs, unique in the season." example:"2026-06-06-1"`
	Status      string       `json:"status" enum:"scheduled,live,finished" doc:"Live from the start of the first third on."`
	StartTs     time.Time    `json:"gameStartTs" doc:"When it is to start."`
	ThirdLength int          `json:"thirdLength" doc:"The minutes of a third. The clock runs on until the third is finished."`
	Location    string       `json:"location,omitempty" doc:"Where it is played."`
	Teams       []item.Team  `json:"teams" doc:"The teams, three once it has started."`
	Thirds      []Third      `json:"thirds" doc:"The three thirds."`
	Running     int          `json:"runningThird,omitempty" doc:"The third that is being played, 1 to 3."`
	Reopened    bool         `json:"reopened,omitempty" doc:"The game was finished, and is reopened: scorekeepers may change the goals of all thirds until it is finished again."`
	Scores      []item.Score `json:"scores" doc:"The score of each team, in the order of the teams."`
	Result      *item.Result `json:"result,omitempty" doc:"Of a finished game: fewest conceded wins, then most scored; else it is a draw. Absent for an abandoned game whose result does not stand."`
	Special
}

func shown(row item.Row[item.Game]) Game {
	g := row.V()

	out := Game{
		GameID:      g.ID,
		SessionID:   g.SessionID,
		SeasonID:    g.SeasonID,
		LeagueID:    g.LeagueID,
		Slug:        g.Slug,
		Status:      item.ShownStatus(row.Status),
		StartTs:     item.Parse(g.StartTs),
		ThirdLength: g.ThirdLength,
		Location:    g.Location,
		Running:     g.Running(),
		Reopened:    g.Reopened,
		Result:      g.Result,
		Special:     Special{g.State, g.Absent},
		Teams:       append([]item.Team{}, g.Teams...),
		Thirds:      make([]Third, item.Thirds),
		Scores:      append([]item.Score{}, g.Scores...),
	}
	for i, t := range g.Thirds {
		out.Thirds[i] = Third{StartedAt: at(t.StartedAt), FinishedAt: at(t.FinishedAt)}
	}

	return out
}

func at(text string) *time.Time {
	if text == "" {
		return nil
	}

	t := item.Parse(text)

	return &t
}

// GamePage is the answer with a game.
type GamePage struct {
	Status int
	ETag   string `header:"ETag"`
	Body   Game
}

func page(status int, row item.Row[item.Game]) *GamePage {
	return &GamePage{status, httpapi.ETag(row.Rev), shown(row)}
}

// state is a game with what belongs to it, as it was read.
type state struct {
	game      item.Row[item.Game]
	goals     []item.Row[item.Goal]
	proposals []item.Row[item.Proposal]
	seats     []item.Row[item.Seat]
	removed   map[string]bool // ids of deleted goals
	role      item.Role       // of the caller
	by        string          // the caller
	listing   item.Listing    // as it was read
	key       string          // of the listing, as it was read

	tallies map[string]item.Tally // as they were read
}

// load reads a game in whose league the user has at least a role.
func (s *Service) load(ctx context.Context, gameID, userID string, least item.Role) (*state, error) {
	rows, err := dynamo.QueryAll[item.Any](ctx, s.DB, tables.ReadGame, dynamo.Range{
		Key: dynamo.KeyBetween(tables.ReadGame, item.GameKey(gameID), item.Goals, item.Rosters+"~"), Consistent: true,
	})
	if err != nil {
		return nil, err
	}

	st := &state{by: userID, removed: map[string]bool{}}

	for _, r := range rows {
		switch r.EntityType {
		case gameType:
			st.game, err = item.As[item.Game](r)
		case goalType:
			err = add(&st.goals, r)
		case seatType:
			err = add(&st.seats, r)
		case proposalType:
			err = add(&st.proposals, r)
		case removedType:
			st.removed[r.SK] = true
		}

		if err != nil {
			return nil, fmt.Errorf("decode %s %s: %w", r.PK, r.SK, err)
		}
	}

	if st.game.PK == "" {
		return nil, item.ErrScope
	}

	st.listing, st.tallies, st.key = st.list(), st.tally(), item.StartKey(st.game.V().StartTs, gameID)
	st.role, err = item.CheckIn(ctx, s.DB, st.game.V().LeagueID, st.game.V().SessionID, userID, least)

	return st, item.Conceal(ctx, s.DB, st.game.V().LeagueID, err, item.ErrScope)
}

// keepRemoved is how long a goal that was deleted cannot come back. A phone that has it in its queue is signed
// out by then.
const keepRemoved = 30 * 24 * time.Hour

// Types of items.
const (
	gameType    = "Game"
	goalType    = "Goal"
	seatType    = "Roster"
	removedType = "RemovedGoal"

	proposalType = "Proposal"

	listingType = "SessionGame"
	talliesType = "GameTallies"
)

func add[T any](all *[]item.Row[T], r item.Any) error {
	row, err := item.As[T](r)
	*all = append(*all, row)

	return err
}

// list returns the game as it is in lists.
func (st *state) list() item.Listing {
	g := st.game.V()

	l := item.Listing{
		GameID: g.ID, SessionID: g.SessionID, Slug: g.Slug, StartTs: g.StartTs, ThirdLength: g.ThirdLength, Location: g.Location,
		Status: st.game.Status, Teams: g.Teams, Result: g.Result, State: g.State, Absent: g.Absent, LeftDay: g.LeftDay,
	}
	if st.game.Status == item.Finished {
		l.Scores = g.Scores
	}

	return l
}

// tally returns what the players of a finished game have done, nil for other games. Of a walkover nobody has played.
func (st *state) tally() map[string]item.Tally {
	if st.game.Status != item.Finished || st.game.V().State == item.Walkover {
		return nil
	}

	return item.Tallies(item.Values(st.seats), item.Values(st.goals))
}

// commit returns the writes of a change: those given, the game with its score, and, if they
// have changed, the game in the lists and the tallies of its players, with a row in the outbox if it is or was finished.
// From then on st.game is the game as written.
func (st *state) commit(now time.Time, writes ...dynamo.Write) []dynamo.Write {
	g := st.game.V()

	g.Scores, g.Result = item.Scores(g.Teams, item.Values(st.goals)), nil
	if st.game.Status == item.Finished {
		result := g.Outcome()
		g.Result = &result
	}

	game, saved := st.game.Save(now)
	st.game = game

	writes = append(writes, saved)

	l, tallies, key := st.list(), st.tally(), item.StartKey(g.StartTs, g.ID)
	if reflect.DeepEqual(l, st.listing) && reflect.DeepEqual(tallies, st.tallies) {
		return writes
	}

	for _, pk := range []string{item.SessionKey(g.SessionID), item.SeasonKey(g.SeasonID)} {
		row := item.New(pk, key, listingType, l, now)
		row.CreatedAt, row.Rev = game.CreatedAt, game.Rev

		writes = append(writes, dynamo.PutWrite(row))
		if key != st.key {
			writes = append(writes, dynamo.DeleteWrite(item.Key(pk, st.key)))
		}
	}

	switch pk, sk := item.SeasonKey(g.SeasonID), item.TalliesKey(g.ID); {
	case len(tallies) > 0:
		row := item.New(pk, sk, talliesType, item.GameTallies{GameID: g.ID, Status: item.Finished, Players: tallies}, now)
		row.CreatedAt, row.Rev = game.CreatedAt, game.Rev
		writes = append(writes, dynamo.PutWrite(row))
	case st.listing.Status == item.Finished:
		writes = append(writes, dynamo.DeleteWrite(item.Key(pk, sk)))
	}

	if st.affectsStandings() {
		writes = append(writes, putOutbox(*g, game.Rev, now))
	}

	return writes
}

// putOutbox returns the write that puts a revision of a game into the outbox.
func putOutbox(g item.Game, rev int, now time.Time) dynamo.Write {
	return dynamo.PutWrite(item.New(item.OutboxKey, item.GameKey(g.ID), "Outbox",
		item.Outbox{GameID: g.ID, SeasonID: g.SeasonID, Rev: rev}, now))
}

// affectsStandings reports whether the standings depend on the change.
func (st *state) affectsStandings() bool {
	return st.listing.Status == item.Finished || st.game.Status == item.Finished
}

// log returns the write of an entry of the log of corrections.
func (st *state) log(now time.Time, what string, before, after *item.Goal) dynamo.Write {
	at := item.Format(now)
	return item.New(st.game.PK, item.AuditKey(now, code.NewID(now)), "Audit",
		item.Audit{At: at, By: st.by, What: what, Before: before, After: after}, now).Create()
}

// requestAggregation sends the messages of the outbox, after its transaction. If it fails, or the
// process dies before it, the sweep of the outbox sends them.
func (s *Service) requestAggregation(ctx context.Context, st *state) {
	if st != nil && st.affectsStandings() {
		m := Changed{SeasonID: st.game.V().SeasonID, GameID: st.game.V().ID}
		if err := s.queue.SendFIFO(ctx, AggregateQueue, m.SeasonID, m); err != nil {
			slog.WarnContext(ctx, "the sweep of the outbox will compute the standings", "season", m.SeasonID, "err", err)
		}
	}
}

// Recompute requests the tables of all seasons of a league, because a player has another name.
func Recompute(ctx context.Context, db dynamo.DB, q queue.Sender, leagueID string) error {
	seasons, err := item.List[item.Season](ctx, db, tables.ListSeasons, item.LeagueKey(leagueID), item.Seasons)
	if err != nil {
		return err
	}

	for _, x := range item.Values(seasons) {
		if err := q.SendFIFO(ctx, AggregateQueue, x.ID, Changed{SeasonID: x.ID}); err != nil {
			return err
		}
	}

	return nil
}

// errUnchanged reports to change that there is nothing to write.
var errUnchanged = errors.New("there is nothing to change")

// change makes a change of a game, by an access pattern. do changes st and returns the writes of
// the other items of the game, or errUnchanged. answer returns the answer for the changed game.
func change[Out any](ctx context.Context, s *Service, a spec.Access, gameID, userID string, least item.Role,
	match httpapi.IfMatch, commit idem.Commit[Out],
	do func(st *state, now time.Time) ([]dynamo.Write, error), answer func(*state) *Out) (*Out, error) {
	var done *state

	out, err := dynamo.RetryValue(ctx, item.Attempts, func() (*Out, error) {
		st, err := s.load(ctx, gameID, userID, least)
		if err != nil {
			return nil, err
		}

		if err := match.Check(st.game.Rev); err != nil {
			return nil, err
		}

		now := s.Now()

		writes, err := do(st, now)
		if errors.Is(err, errUnchanged) {
			return answer(st), nil
		}

		if err != nil {
			return nil, err
		}

		writes = st.commit(now, writes...)
		out := answer(st)
		done = st

		return out, commit(ctx, a, out, writes...)
	})
	if err != nil {
		return nil, err
	}

	s.requestAggregation(ctx, done)

	return out, nil
}

// CreateGame is the request for a new game.
type CreateGame struct {
	auth.User
	idem.Key
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		StartTs     time.Time `json:"gameStartTs" doc:"When it is to start." example:"2026-06-06T18:00:00Z"`
		ThirdLength int       `json:"thirdLength" enum:"20,25,30" doc:"The minutes of a third." example:"20"`
		Location    string    `json:"location,omitempty" format:"display-name" doc:"Where it is played." example:"Powerleague, pitch 2"`
		TeamIDs     []string  `json:"teamIds,omitempty" minItems:"3" maxItems:"3" doc:"The three teams: by default those of a season that has three." example:"[\"red\",\"blue\",\"yellow\"]"`
	}
}

// CreateGameFunction creates a game of a session.
func CreateGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/create-game",
		Does:   "Creates a game of a session.",
		IfDown: "No game can be created.",
		On:     spec.Route{Method: "POST", Path: "/v1/sessions/{sessionId}/games", Auth: spec.Session, Answers: []int{http.StatusCreated}},
		Uses:   league.Writes(tables.GetSession, tables.ListTeams, tables.CreateGame), Limits: []spec.Limit{MaxGames},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).CreateGame, errStart, errTeams, idem.ErrConflict, item.ErrAccess, item.ErrScorekeeper,
		item.ErrScope)
}

// CreateGame creates a game, with the present teams of the season. If the season does not have
// three teams, the game has none until they are chosen. Errors: bad_start, three_teams_needed,
// too_many_games.
func (s *Service) CreateGame(ctx context.Context, in *CreateGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, CreateGameFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*GamePage, error) {
				session, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Scorekeeper)
				if err != nil {
					return nil, err
				}

				if err := CheckStart(in.Body.StartTs); err != nil {
					return nil, err
				}

				x := session.V()

				teams, err := s.teams(ctx, x.SeasonID, in.Body.TeamIDs)
				if err != nil {
					return nil, err
				}

				if x.Games++; x.Games > MaxGames.Max {
					return nil, problem.Beyond(MaxGames)
				}

				x.Created++
				now := s.Now()
				row, created := New(*x, x.Created, item.Game{
					ID: code.NewID(now), StartTs: item.Format(in.Body.StartTs), ThirdLength: in.Body.ThirdLength, Location: in.Body.Location,
					Teams: teams,
				}, now)
				session, counted := session.Save(now)
				out := page(http.StatusCreated, row)

				return out, commit(ctx, tables.CreateGame, out,
					append(created, counted, session.Mirror(item.SeasonKey(x.SeasonID), session.PK))...)
			})
		})
}

// New returns a scheduled game of a session, and the writes that create it with its places in the lists. n numbers
// the games of the session. g has the id, the start, the length, the place and the teams.
func New(x item.Session, n int, g item.Game, now time.Time) (item.Row[item.Game], []dynamo.Write) {
	g.LeagueID, g.SeasonID, g.SessionID, g.Scores = x.LeagueID, x.SeasonID, x.ID, item.Scores(g.Teams, nil)
	// The session's id distinguishes two sessions of one day.
	g.Slug = x.Date + "-" + strconv.Itoa(n) + "-" + suffix(x.ID)

	row := item.New(item.GameKey(g.ID), item.Metadata, gameType, g, now)
	row.Status = item.Scheduled
	to := item.New(item.SeasonKey(x.SeasonID), item.SlugKey(g.Slug), "Slug", item.Ref{ID: g.ID}, now)
	listed := item.New(item.SessionKey(x.ID), item.StartKey(g.StartTs, g.ID), listingType, (&state{game: row}).list(), now)

	return row, []dynamo.Write{row.Create(), to.Create(), listed.Create(), listed.Mirror(item.SeasonKey(x.SeasonID), listed.SK)}
}

// errStart refuses a start that the table, where times are ordered as texts, cannot hold.
var errStart = problem.New(problem.Unprocessable, "bad_start", "a game must start in the years 2000 to 2100").In("body.gameStartTs")

// CheckStart returns bad_start if a game cannot start at a time.
func CheckStart(at time.Time) error {
	if year := at.UTC().Year(); year < 2000 || year > 2100 {
		return errStart
	}

	return nil
}

// suffix returns the end of an id, for a slug.
func suffix(id string) string { return strings.ToLower(id[len(id)-4:]) }

// teams returns the three teams of a season with the ids, in their order. Without ids it returns
// the teams of a season that has three, else none.
func (s *Service) teams(ctx context.Context, seasonID string, ids []string) ([]item.Team, error) {
	rows, err := item.List[item.Team](ctx, s.DB, tables.ListTeams, item.SeasonKey(seasonID), item.Teams)
	if err != nil {
		return nil, err
	}

	all := item.Values(rows)
	if len(ids) == 0 {
		if len(all) == item.Thirds {
			return all, nil
		}

		return []item.Team{}, nil
	}

	teams := []item.Team{}

	for _, id := range ids {
		i := slices.IndexFunc(all, func(t item.Team) bool { return t.TeamID == id })
		if i < 0 || slices.Contains(teams, all[i]) {
			return nil, errTeams
		}

		teams = append(teams, all[i])
	}

	return teams, nil
}

// ListGames is the request for the games of a session.
type ListGames struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// ListedGame is a game of a list.
type ListedGame struct {
	GameID      string       `json:"gameId" doc:"The id of the game."`
	Slug        string       `json:"slug" doc:"The name in URLs."`
	Status      string       `json:"status" enum:"scheduled,live,finished" doc:"Live from the start of the first third on."`
	StartTs     time.Time    `json:"gameStartTs" doc:"When it is to start."`
	ThirdLength int          `json:"thirdLength" doc:"The minutes of a third."`
	Location    string       `json:"location,omitempty" doc:"Where it is played."`
	Teams       []item.Team  `json:"teams" doc:"The teams."`
	Scores      []item.Score `json:"scores,omitempty" doc:"The score of each team, of a finished game."`
	Result      *item.Result `json:"result,omitempty" doc:"Of a finished game."`
	Special
}

// GameList is the answer with games.
type GameList struct {
	Body struct {
		Games []ListedGame `json:"games" doc:"In order of their start."`
	}
}

// ListGamesFunction returns the games of a session.
func ListGamesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-games",
		Does:   "Returns the games of a session.",
		IfDown: "The app shows no games.",
		On:     spec.Route{Method: "GET", Path: "/v1/sessions/{sessionId}/games", Auth: spec.Session},
		Uses:   league.ScoringReads(tables.GetSession, tables.ListGames),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenScoring, (*Service).ListGames, item.ErrAccess, item.ErrScope)
}

// ListGames returns the games of a session.
func (s *Service) ListGames(ctx context.Context, in *ListGames) (*GameList, error) {
	if _, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Viewer); err != nil {
		return nil, err
	}

	rows, err := item.List[item.Listing](ctx, s.DB, tables.ListGames, item.SessionKey(in.SessionID), item.Games)
	if err != nil {
		return nil, err
	}

	out := &GameList{}

	out.Body.Games = make([]ListedGame, len(rows))
	for i, l := range item.Values(rows) {
		out.Body.Games[i] = ListedGame{l.GameID, l.Slug, item.ShownStatus(l.Status), item.Parse(l.StartTs), l.ThirdLength, l.Location,
			append([]item.Team{}, l.Teams...), l.Scores, l.Result, Special{l.State, l.Absent}}
	}

	return out, nil
}

// GetGame is the request for a game.
type GetGame struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// GetGameFunction returns a game with its score.
func GetGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-game",
		Does:   "Returns a game with its score.",
		IfDown: "The app does not show a game.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.ScoringReads(tables.GetGame),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenScoring, (*Service).GetGame, item.ErrAccess, item.ErrScope)
}

// GetGame returns a game.
func (s *Service) GetGame(ctx context.Context, in *GetGame) (*GamePage, error) {
	row, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	return page(http.StatusOK, row), nil
}

// UpdateGame is the request to change a game.
type UpdateGame struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Body   struct {
		StartTs     *time.Time `json:"gameStartTs,omitempty" doc:"When it is to start." example:"2026-06-06T18:30:00Z"`
		ThirdLength int        `json:"thirdLength,omitempty" enum:"20,25,30" doc:"The minutes of a third." example:"25"`
		Location    *string    `json:"location,omitempty" format:"display-name" minLength:"0" doc:"Where it is played, empty if that is not known." example:"Powerleague, pitch 2"`
		TeamIDs     []string   `json:"teamIds,omitempty" minItems:"3" maxItems:"3" doc:"The three teams, as the season has them now." example:"[\"red\",\"blue\",\"yellow\"]"`
		Absent      []string   `json:"absentTeamIds,omitempty" maxItems:"1" doc:"The team of the game that is missing: the other two play a game of two teams, and it has lost. Empty if all are there." example:"[\"yellow\"]"`
	}
}

// UpdateGameFunction changes the start, the place, the length or the teams of a game.
func UpdateGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/update-game",
		Does:   "Changes the start, the place, the length or the teams of a game.",
		IfDown: "A game cannot be moved.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGame, tables.ListTeams), Sends: []spec.Queue{AggregateQueue, RemindQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).UpdateGame,
		errReopen, errStart, errStarted, errTeams, errUnderTeam, idem.ErrConflict, item.ErrAccess, item.ErrScope,
		item.ErrScorekeeper)
}

// UpdateGame changes a game that is not finished; its status changes by its thirds alone.
// A new start ends a postponement, and is mailed to those who play: see announce. Errors: bad_start, game_finished,
// game_started for other or missing teams, three_teams_needed, unknown_team, stale.
func (s *Service) UpdateGame(ctx context.Context, in *UpdateGame) (*GamePage, error) {
	return idem.Once(ctx, s.Answers, UpdateGameFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGame, in.GameID, in.UserID, item.Scorekeeper, in.IfMatch, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					g := st.game.V()
					if item.Ended(st.game.Status) {
						return nil, errReopen
					}

					was := *g

					if in.Body.StartTs != nil {
						if err := CheckStart(*in.Body.StartTs); err != nil {
							return nil, err
						}

						if start := item.Format(*in.Body.StartTs); start != g.StartTs {
							g.StartTs, g.LeftDay = start, ""
						}

						if g.State == item.Postponed {
							g.State = ""
						}

						if err := s.announce(ctx, st, was, now); err != nil {
							return nil, err
						}
					}

					g.ThirdLength = cmp.Or(in.Body.ThirdLength, g.ThirdLength)
					if in.Body.Location != nil {
						g.Location = *in.Body.Location
					}

					var writes []dynamo.Write

					if in.Body.TeamIDs != nil {
						if st.game.Status != item.Scheduled {
							return nil, errStarted
						}

						teams, err := s.teams(ctx, g.SeasonID, in.Body.TeamIDs)
						if err != nil {
							return nil, err
						}

						g.Teams = teams
						g.Absent = slices.DeleteFunc(slices.Clone(g.Absent), func(id string) bool { return !plays(teams, id) })
						for _, seat := range st.seats { // of teams that do not play any more
							if !plays(teams, seat.V().TeamID) {
								writes = append(writes, seat.Drop())
							}
						}
					}

					if in.Body.Absent != nil {
						left, err := st.miss(in.Body.Absent)
						if err != nil {
							return nil, err
						}

						writes = append(writes, left...)
					}

					if len(g.Absent) == 0 {
						g.Absent = nil
					}

					if reflect.DeepEqual(was, *g) {
						return nil, errUnchanged
					}

					return writes, nil
				}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
		})
}

func plays(teams []item.Team, id string) bool {
	return slices.ContainsFunc(teams, func(t item.Team) bool { return t.TeamID == id })
}

// DeleteGame is the request to delete a game.
type DeleteGame struct {
	auth.User
	httpapi.IfMatch
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// Remembered is how long the calendar of a season has a game that was deleted.
const Remembered = 30 * 24 * time.Hour

// cancelled returns the write of the game in the calendar, as one that was deleted.
func (st *state) cancelled(now time.Time) dynamo.Write {
	l := st.listing
	l.Status, l.Scores, l.Result, l.State = item.CancelledGame, nil, nil, ""
	row := item.New(item.SeasonKey(st.game.V().SeasonID), item.CancelledKey(l.GameID), "CancelledGame", l, now)
	row.CreatedAt, row.Rev, row.TTL = st.game.CreatedAt, st.game.Rev+1, now.Add(Remembered).Unix()

	return dynamo.PutWrite(row)
}

// DeleteGameFunction deletes a game with all that belongs to it.
func DeleteGameFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-game",
		Does:   "Deletes a game with all that belongs to it.",
		IfDown: "A game cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.DropGame, tables.GetSession), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).DeleteGame, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DeleteGame deletes a game with its goals and its roster. The game itself is deleted last, with
// its places in the lists, so that a second run deletes what a crash has left. The standings are
// computed again, and calendars have the game as cancelled. Errors: stale.
func (s *Service) DeleteGame(ctx context.Context, in *DeleteGame) (*httpapi.Removed, error) {
	var st *state

	begun := false

	out, err := dynamo.RetryValue(ctx, item.Attempts, func() (_ *httpapi.Removed, err error) {
		if st, err = s.load(ctx, in.GameID, in.UserID, item.Admin); err != nil {
			return nil, err
		}

		if !begun { // a game that has lost its goals must be deleted
			if err := in.IfMatch.Check(st.game.Rev); err != nil {
				return nil, err
			}
		}

		begun = true

		if err := dynamo.Check(ctx, s.DB, tables.DropGame); err != nil {
			return nil, err
		}

		if err := s.dropParts(ctx, st.game.PK); err != nil {
			return nil, err
		}

		g := st.game.V()

		session, err := item.SessionRow.Read(ctx, s.DB, g.SessionID)
		if err != nil {
			return nil, err
		}

		now := s.Now()
		session.V().Games--
		session, counted := session.Save(now)
		season := item.SeasonKey(g.SeasonID)

		writes := []dynamo.Write{
			st.game.Drop(), counted, session.Mirror(season, session.PK), dynamo.DeleteWrite(item.Key(season, item.SlugKey(g.Slug))),
			dynamo.DeleteWrite(item.Key(season, st.key)), dynamo.DeleteWrite(item.Key(session.PK, st.key)),
			dynamo.DeleteWrite(item.Key(season, item.TalliesKey(g.ID))),
		}
		if st.affectsStandings() {
			writes = append(writes, putOutbox(*g, st.game.Rev+1, now))
		}

		writes = append(writes, st.cancelled(now))

		return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.DropGame, writes...)
	})
	if err != nil {
		return nil, err
	}

	s.requestAggregation(ctx, st)

	return out, s.dropParts(ctx, st.game.PK) // of who has joined meanwhile
}

// dropParts deletes what belongs to a game.
func (s *Service) dropParts(ctx context.Context, pk string) error {
	rows, err := item.List[any](ctx, s.DB, tables.DropGame, pk, "")
	if err != nil {
		return err
	}

	var keys []dynamo.Item

	for _, r := range rows {
		if r.SK != item.Metadata {
			keys = append(keys, item.Key(r.PK, r.SK))
		}
	}

	return dynamo.DeleteAll(ctx, s.DB, tables.DropGame, keys)
}
