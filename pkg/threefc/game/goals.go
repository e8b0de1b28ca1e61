package game

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

// Errors about goals.
var (
	errNoGoal  = problem.New(problem.NotFound, "goal_not_found", "the game has no such goal")
	errRemoved = problem.New(problem.Conflict, "goal_removed", "this goal was deleted: send it with another eventId").In("body.eventId")
	errOther   = problem.New(problem.Conflict, "goal_exists", "another goal has this eventId").In("body.eventId")
	errNothing = problem.New(problem.Conflict, "nothing_to_undo", "the game has no goals")
	errNoThird = problem.New(problem.Unprocessable, "third_needed", "no third is running: send the third of the goal").In("body.third")
	errMinute  = problem.New(problem.Unprocessable, "bad_minute",
		"the minute is more than twice the length of the third, and later than its clock").In("body.gameMinute")
	errScoring = problem.New(problem.Unprocessable, "bad_scoring_team",
		"a goal needs a scoring team, and an own goal must not have one").In("body.scoringTeamId")
	errSame = problem.New(problem.Unprocessable, "same_team",
		"a team cannot score against itself: use ownGoal").In("body.concedingTeamId")
	errScorer = problem.New(problem.Unprocessable, "scorer_not_in_team",
		"the scorer must be on the roster of the scoring team, of an own goal on that of the conceding team").In("body.scorerPlayerId")
	errGuest = problem.New(problem.Unprocessable, "guest_or_player",
		"the scorer is a guest or a player of the roster, not both").In("body.guest")
	errAssists = problem.New(problem.Unprocessable, "bad_assists",
		"assists must be different players on the roster of the game, not the scorer").In("body.assistPlayerIds")
	errUndoMatch = problem.New(problem.Unprocessable, "rev_needed",
		"send the revision that you have read as If-Match, so that two taps undo one goal").In("header.If-Match")
)

// Goal is a goal as the members of the league see it.
type Goal struct {
	EventID   string   `json:"eventId" doc:"The id of the goal."`
	Third     int      `json:"third" doc:"The third, 1 to 3."`
	Minute    int      `json:"gameMinute" doc:"The minute of the third, from 0. Stoppage continues it."`
	Stoppage  int      `json:"stoppageMinute,omitempty" doc:"The minutes after the regular end of the third."`
	Display   string   `json:"displayTime" doc:"The time as people write it." example:"20+3'"`
	Scoring   string   `json:"scoringTeamId,omitempty" doc:"The team that scored. Absent for an own goal."`
	Conceding string   `json:"concedingTeamId" doc:"The team that conceded."`
	Scorer    string   `json:"scorerPlayerId" doc:"The player who scored. Empty while the scorer is unknown, and for a guest."`
	Guest     bool     `json:"guest,omitempty" doc:"The scorer is a guest, who is no player of the league."`
	Assists   []string `json:"assistPlayerIds" doc:"The players who assisted."`
	OwnGoal   bool     `json:"ownGoal" doc:"An own goal counts for nobody."`
	GameRev   int      `json:"gameRev,omitempty" doc:"The revision of the game with which the goal was recorded: an undo deletes the goal with the highest." example:"7"`
}

// newGoal returns a goal as the API returns it, for thirds of a length in minutes.
func newGoal(g item.Goal, length int) Goal {
	return Goal{
		EventID:   g.ID,
		Third:     g.Third,
		Minute:    g.Minute,
		Stoppage:  max(0, g.Minute-length),
		Display:   Display(g.Minute, length),
		Scoring:   g.Scoring,
		Conceding: g.Conceding,
		Scorer:    g.Scorer,
		Guest:     g.Guest,
		Assists:   append([]string{}, g.Assists...),
		OwnGoal:   g.OwnGoal,
		GameRev:   g.GameRev,
	}
}

// Display returns a minute of a third as people write it: 12' or, in stoppage, 20+3'.
func Display(minute, length int) string {
	if minute > length {
		return fmt.Sprintf("%d+%d'", length, minute-length)
	}

	return fmt.Sprintf("%d'", minute)
}

// GoalPage is the answer with a goal, and with the game that it changes. Its ETag is the
// game's.
type GoalPage struct {
	Status int
	ETag   string `header:"ETag"`
	Body   struct {
		Goal     Goal `json:"goal" doc:"The goal."`
		Game     Game `json:"game" doc:"The game with its new score."`
		Proposed bool `json:"proposed,omitempty" doc:"The goal does not count yet: it waits for an administrator, with status 202."`
	}
}

func goalPage(status int, st *state, goal item.Goal) *GoalPage {
	out := &GoalPage{Status: status, ETag: httpapi.ETag(st.game.Rev)}
	out.Body.Goal, out.Body.Game = newGoal(goal, st.game.V().ThirdLength), shown(st.game)

	return out
}

// GoalFields are the fields of a goal that a scorekeeper sends.
type GoalFields struct {
	Third     int      `json:"third,omitempty" minimum:"1" maximum:"3" doc:"The third: by default the one that is running." example:"1"`
	Minute    *int     `json:"gameMinute,omitempty" minimum:"0" maximum:"120" doc:"The minute of the third: by default that of the clock. It is at most twice the length of the third, or what its clock shows if that is more." example:"7"`
	Scoring   string   `json:"scoringTeamId,omitempty" maxLength:"24" doc:"The team that scored. An own goal has none." example:"red"`
	Conceding string   `json:"concedingTeamId" minLength:"1" maxLength:"24" doc:"The team that conceded." example:"blue"`
	Scorer    string   `json:"scorerPlayerId,omitempty" maxLength:"26" doc:"The player who scored. Without one the scorer is unknown, or a guest; a later change names the player." example:"01JX0000000000000000000001"`
	Guest     bool     `json:"guest,omitempty" doc:"The scorer is a guest, who is no player of the league: there is no scorerPlayerId."`
	Assists   []string `json:"assistPlayerIds,omitempty" maxItems:"3" doc:"Up to three players who assisted, of any team." example:"[]"`
	OwnGoal   bool     `json:"ownGoal,omitempty" doc:"The scorer is of the conceding team."`
}

// goal returns the goal of the fields, if the rules allow it. id is that of an existing goal, or of
// a new one.
func (f GoalFields) goal(st *state, id string, now time.Time) (item.Goal, error) {
	g, err := f.late(st, id, now)
	if err != nil {
		return g, err
	}

	of := g.Scoring // the scorer's team
	if g.OwnGoal {
		of = g.Conceding
	}

	switch {
	case g.Scorer == "":
	case g.Guest:
		return g, errGuest
	case st.teamOf(g.Scorer) != of:
		return g, errScorer
	}

	for i, a := range g.Assists {
		if st.teamOf(a) == "" || a == g.Scorer || slices.Contains(g.Assists[:i], a) {
			return g, errAssists
		}
	}

	return g, nil
}

// late is goal without the rules about players, which an administrator may put on the roster later.
func (f GoalFields) late(st *state, id string, now time.Time) (item.Goal, error) {
	g := item.Goal{
		ID: id, Third: cmp.Or(f.Third, st.game.V().Running()), Scoring: f.Scoring, Conceding: f.Conceding, Scorer: f.Scorer,
		Guest: f.Guest, Assists: append([]string{}, f.Assists...), OwnGoal: f.OwnGoal, RecordedBy: st.by, GameRev: st.game.Rev + 1,
	}
	if g.Third == 0 {
		return g, errNoThird
	}

	third := st.game.V().Thirds[g.Third-1]
	if third.StartedAt == "" {
		return g, errNotBegun
	}

	if f.Minute != nil {
		g.Minute = *f.Minute
	} else {
		g.Minute = minute(third, now)
	}

	if was := st.index(id); was < 0 || st.goals[was].V().Third != g.Third || st.goals[was].V().Minute != g.Minute {
		if g.Minute > max(2*st.game.V().ThirdLength, minute(third, now)) {
			return g, errMinute
		}
	}

	teams := st.game.V().Present()

	switch {
	case g.OwnGoal != (g.Scoring == ""):
		return g, errScoring
	case !plays(teams, g.Conceding):
		return g, errUnderTeam.In("body.concedingTeamId")
	case g.OwnGoal:
	case !plays(teams, g.Scoring):
		return g, errUnderTeam.In("body.scoringTeamId")
	case g.Scoring == g.Conceding:
		return g, errSame
	}

	return g, nil
}

// maxMinute is the last minute of a third that has a place in the order of goals.
const maxMinute = 120

// minute returns the minute on the clock of a third, which stops with the third.
func minute(third item.Third, now time.Time) int {
	if third.FinishedAt != "" {
		now = item.Parse(third.FinishedAt)
	}

	return min(maxMinute, max(0, int(now.Sub(item.Parse(third.StartedAt)).Minutes())))
}

// teamOf returns the team for which a player plays, "" if for none.
func (st *state) teamOf(playerID string) string {
	for _, r := range st.seats {
		if r.V().PlayerID == playerID {
			return r.V().TeamID
		}
	}

	return ""
}

// mayScore returns nil if the caller may record, edit and delete the goals of thirds: a
// scorekeeper those of the third that runs and, while a game is reopened, of all thirds; an
// administrator those of all thirds. Without thirds it checks the game alone.
func (st *state) mayScore(thirds ...int) error {
	switch g := st.game.V(); {
	case st.game.Status == item.Scheduled:
		return errNotLive
	case st.role == item.Admin:
		return nil
	case item.Ended(st.game.Status):
		return ErrFinished
	case !g.Reopened && slices.ContainsFunc(thirds, func(third int) bool { return third != g.Running() }):
		return errNotNow
	}

	return nil
}

// index returns the index of a goal, -1 if there is none.
func (st *state) index(id string) int {
	return slices.IndexFunc(st.goals, func(r item.Row[item.Goal]) bool { return r.V().ID == id })
}

// correction returns the entry of the log for a change of a finished game, or of a goal
// that others have seen. It is nothing for a new goal of a live game.
func (st *state) correction(now time.Time, what string, before, after *item.Goal) []dynamo.Write {
	if before == nil && !item.Ended(st.game.Status) {
		return nil
	}

	return []dynamo.Write{st.log(now, what, before, after)}
}

// CreateGoal is the request for a new goal.
type CreateGoal struct {
	auth.User
	idem.Key
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Body   struct {
		EventID string `json:"eventId,omitempty" pattern:"^[0-7][0-9A-HJKMNP-TV-Z]{25}$" patternDescription:"a ULID" doc:"The id of the goal, a ULID that the phone makes, so that it can send the goal again. By default a new one." example:"01JX0000000000000000000002"`
		Propose bool   `json:"proposeIfLate,omitempty" doc:"Keep the goal of a third that does not run any more as a proposal (202), instead of refusing it."`
		GoalFields
	}
}

// CreateGoalFunction records a goal.
func CreateGoalFunction() app.Function {
	return app.API(spec.Function{
		Name: "threefc/create-goal",
		Does: "Records a goal: a scorekeeper of the third that runs, or of any third of a reopened game; an administrator of any third that " +
			"has begun. With proposeIfLate a later goal of a scorekeeper is kept as a proposal.",
		IfDown: "Scorekeepers cannot record goals.",
		On: spec.Route{
			Method: "POST", Path: "/v1/games/{gameId}/goals", Auth: spec.Session,
			Answers: []int{http.StatusCreated, http.StatusAccepted},
		},
		Uses:  league.ScoringWrites(tables.ReadGame, tables.SaveGoal),
		Sends: []spec.Queue{AggregateQueue}, Limits: []spec.Limit{MaxGoals, MaxProposals},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).CreateGoal,
		ErrFinished, errAssists, errMinute, errNoThird, errNotBegun, errNotLive, errNotNow, errOther, errRemoved,
		errGuest, errSame, errScorer, errScoring, errUnderTeam, idem.ErrConflict, item.ErrAccess, item.ErrScope,
		item.ErrScorekeeper)
}

// CreateGoal records a goal. The same goal again changes nothing, whatever the answer to
// the first was. With proposeIfLate a goal that would be refused with third_not_running or game_finished
// becomes a proposal, also if its scorer is on no roster any more: an administrator decides. Errors:
// game_not_live, game_finished, third_not_started, third_not_running, third_needed, goal_exists,
// goal_removed, too_many_goals, too_many_proposals, bad_minute, bad_scoring_team, unknown_team, same_team,
// scorer_not_in_team, guest_or_player, bad_assists.
func (s *Service) CreateGoal(ctx context.Context, in *CreateGoal) (*GoalPage, error) {
	return idem.Once(ctx, s.Answers, CreateGoalFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GoalPage]) (*GoalPage, error) {
			var (
				goal   item.Goal
				status int
			)

			return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Scorer, httpapi.IfMatch{}, commit,
				func(st *state, now time.Time) (writes []dynamo.Write, err error) {
					status = http.StatusCreated
					id := cmp.Or(in.Body.EventID, code.NewID(now))
					if i := st.index(id); i >= 0 {
						goal = *st.goals[i].V()
						if !in.Body.matches(goal) {
							return nil, errOther
						}

						return nil, errUnchanged
					}

					if st.removed[item.RemovedKey(id)] {
						return nil, errRemoved
					}

					if in.Body.Propose && st.isLate(in.Body.Third) {
						status = http.StatusAccepted
						goal, writes, err = st.propose(in.Body.GoalFields, id, now)

						return writes, err
					}

					if err := st.mayScore(); err != nil {
						return nil, err
					}

					if goal, err = in.Body.goal(st, id, now); err != nil {
						return nil, err
					}

					if err := st.mayScore(goal.Third); err != nil {
						return nil, err
					}

					if len(st.goals) >= MaxGoals.Max {
						return nil, problem.Beyond(MaxGoals)
					}

					row := item.New(st.game.PK, item.GoalKey(goal), goalType, goal, now)
					st.goals = append(st.goals, row)

					if was := st.proposal(id); was != nil { // its third runs again
						writes = append(writes, was.Drop())
					}

					return append(append(writes, st.correction(now, "add", nil, &goal)...), row.Create()), nil
				}, func(st *state) *GoalPage {
					out := goalPage(status, st, goal)
					out.Body.Proposed = status == http.StatusAccepted

					return out
				})
		})
}

// matches reports whether the fields are those of the goal.
func (f GoalFields) matches(g item.Goal) bool {
	return (f.Third == 0 || f.Third == g.Third) && (f.Minute == nil || *f.Minute == g.Minute) && f.Scoring == g.Scoring &&
		f.Conceding == g.Conceding &&
		f.Scorer == g.Scorer && f.Guest == g.Guest && slices.Equal(f.Assists, g.Assists) && f.OwnGoal == g.OwnGoal
}

// names reports whether the fields are those of a goal without a scorer, with its scorer and assists: no score
// changes, so that a scorekeeper may do this until the game is finished.
func (f GoalFields) names(g item.Goal) bool {
	as := f
	as.Scorer, as.Guest, as.Assists = "", g.Guest, g.Assists

	return g.Scorer == "" && as.matches(g)
}

// UpdateGoal is the request to change a goal.
type UpdateGoal struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	GameID  string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	EventID string `path:"eventId" maxLength:"26" doc:"The id of the goal."`
	Body    GoalFields
}

// UpdateGoalFunction corrects a goal.
func UpdateGoalFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/update-goal",
		Does:   "Corrects a goal, or moves it between thirds of which the caller may record goals.",
		IfDown: "Goals cannot be corrected.",
		On:     spec.Route{Method: "PATCH", Path: "/v1/games/{gameId}/goals/{eventId}", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).UpdateGoal,
		ErrFinished, errAssists, errGuest, errMinute, errNoGoal, errNoThird, errNotBegun, errNotLive, errNotNow, errSame,
		errScorer, errScoring, errUnderTeam, idem.ErrConflict, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// UpdateGoal replaces the fields of a goal; third and minute stay if they are left out. A caller
// who moves it to another third must be allowed to record goals of both: see mayScore. A scorekeeper may name
// the scorer of a goal without one until the game is finished. The result
// of a finished game is computed again. Errors: goal_not_found, stale, and those of CreateGoal.
func (s *Service) UpdateGoal(ctx context.Context, in *UpdateGoal) (*GoalPage, error) {
	return idem.Once(ctx, s.Answers, UpdateGoalFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GoalPage]) (*GoalPage, error) {
			var goal item.Goal

			return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Scorer, in.IfMatch, commit,
				func(st *state, now time.Time) (writes []dynamo.Write, err error) {
					i := st.index(in.EventID)
					if i < 0 {
						return nil, errNoGoal
					}

					row := st.goals[i]

					was, fields := *row.V(), in.Body
					thirds := []int{was.Third}

					if fields.names(was) {
						thirds = nil
					}

					if err := st.mayScore(thirds...); err != nil {
						return nil, err
					}

					fields.Third = cmp.Or(fields.Third, was.Third)
					if fields.Minute == nil {
						fields.Minute = &was.Minute
					}

					if goal, err = fields.goal(st, was.ID, now); err != nil {
						return nil, err
					}

					if goal.Third != was.Third {
						thirds = append(thirds, goal.Third)
					}

					if err := st.mayScore(thirds...); err != nil {
						return nil, err
					}

					if in.Body.matches(was) {
						goal = was
						return nil, errUnchanged
					}

					goal.RecordedBy, goal.GameRev = was.RecordedBy, was.GameRev
					writes = st.correction(now, "edit", &was, &goal)
					next := row

					*next.V() = goal
					if next.SK = item.GoalKey(goal); next.SK != row.SK {
						next.UpdatedAt = item.Format(now)
						writes = append(writes, row.Drop(), next.Create())
					} else {
						var saved dynamo.Write

						next, saved = next.Save(now)
						writes = append(writes, saved)
					}

					st.goals[i] = next

					return writes, nil
				}, func(st *state) *GoalPage { return goalPage(http.StatusOK, st, goal) })
		})
}

// DeleteGoal is the request to delete a goal.
type DeleteGoal struct {
	auth.User
	httpapi.IfMatch
	GameID  string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	EventID string `path:"eventId" maxLength:"26" doc:"The id of the goal."`
}

// DeleteGoalFunction deletes a goal.
func DeleteGoalFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/delete-goal",
		Does:   "Deletes a goal of a third of which the caller may record goals.",
		IfDown: "Goals cannot be deleted.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/goals/{eventId}", Auth: spec.Session, Answers: []int{http.StatusOK}},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).DeleteGoal,
		ErrFinished, errNoGoal, errNotLive, errNotNow, item.ErrAccess, item.ErrScope, item.ErrScorekeeper)
}

// DeleteGoal deletes a goal, or a proposal of the caller's; a request for it that arrives later does not bring
// it back. A second run changes nothing. Errors: goal_not_found, stale, and those of mayScore.
func (s *Service) DeleteGoal(ctx context.Context, in *DeleteGoal) (*GamePage, error) {
	commit := func(ctx context.Context, a spec.Access, _ *GamePage, writes ...dynamo.Write) error {
		return dynamo.Transact(ctx, s.DB, a, writes...)
	}

	return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Scorer, in.IfMatch, commit,
		func(st *state, now time.Time) ([]dynamo.Write, error) {
			if st.removed[item.RemovedKey(in.EventID)] {
				return nil, errUnchanged
			}

			if row := st.proposal(in.EventID); row != nil && (st.role == item.Admin || row.V().RecordedBy == st.by) {
				return st.dismiss(*row, now), nil
			}

			i := st.index(in.EventID)
			if i < 0 {
				return nil, errNoGoal
			}

			if err := st.mayScore(st.goals[i].V().Third); err != nil {
				return nil, err
			}

			return st.remove(now, "delete", i), nil
		}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
}

// remove deletes the goal with an index, and keeps its id.
func (st *state) remove(now time.Time, what string, i int) []dynamo.Write {
	row := st.goals[i]
	goal := *row.V()
	st.goals = slices.Delete(slices.Clone(st.goals), i, i+1)
	gone := item.New(st.game.PK, item.RemovedKey(goal.ID), removedType, goal, now)
	gone.TTL = now.Add(keepRemoved).Unix()

	return []dynamo.Write{row.Drop(), gone.Create(), st.log(now, what, &goal, nil)}
}

// UndoGoal is the request to delete the latest goal.
type UndoGoal struct {
	auth.User
	idem.Key
	httpapi.IfMatch
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// UndoGoalFunction deletes the goal that was recorded last.
func UndoGoalFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/undo-goal",
		Does:   "Deletes the goal that was recorded last, if it is of a third of which the caller may record goals.",
		IfDown: "Scorekeepers cannot undo a goal.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/goals/undo", Auth: spec.Session},
		Uses:   league.ScoringWrites(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, OpenScoring, (*Service).UndoGoal,
		ErrFinished, errNotLive, errNotNow, errNothing, errUndoMatch, idem.ErrConflict, item.ErrAccess,
		item.ErrScope, item.ErrScorekeeper)
}

// UndoGoal deletes the goal that was recorded last. It needs the revision that the caller
// has seen, so that two taps delete one goal. Errors: nothing_to_undo, stale, rev_needed,
// and those of mayScore.
func (s *Service) UndoGoal(ctx context.Context, in *UndoGoal) (*GamePage, error) {
	if in.Match == "" {
		return nil, errUndoMatch
	}

	return idem.Once(ctx, s.Answers, UndoGoalFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[GamePage]) (*GamePage, error) {
			return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Scorer, in.IfMatch, commit,
				func(st *state, now time.Time) ([]dynamo.Write, error) {
					if err := st.mayScore(); err != nil {
						return nil, err
					}

					if len(st.goals) == 0 {
						return nil, errNothing
					}

					last := 0
					for i, g := range st.goals {
						if g.V().GameRev > st.goals[last].V().GameRev {
							last = i
						}
					}

					if err := st.mayScore(st.goals[last].V().Third); err != nil {
						return nil, err
					}

					return st.remove(now, "undo", last), nil
				}, func(st *state) *GamePage { return page(http.StatusOK, st.game) })
		})
}

// ListGoals is the request for the goals of a game.
type ListGoals struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// GoalList is the answer with goals.
type GoalList struct {
	Body struct {
		Goals []Goal `json:"goals" doc:"In order of third, minute and id."`
	}
}

// ListGoalsFunction returns the goals of a game.
func ListGoalsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-goals",
		Does:   "Returns the goals of a game.",
		IfDown: "The app shows no timeline.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/goals", Auth: spec.Session},
		Uses:   league.ScoringReads(tables.GetGame, tables.ListGoals),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenScoring, (*Service).ListGoals, item.ErrAccess, item.ErrScope)
}

// ListGoals returns the goals of a game, in the order of the timeline.
func (s *Service) ListGoals(ctx context.Context, in *ListGoals) (*GoalList, error) {
	game, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	rows, err := item.List[item.Goal](ctx, s.DB, tables.ListGoals, game.PK, item.Goals)
	if err != nil {
		return nil, err
	}

	out := &GoalList{}

	out.Body.Goals = make([]Goal, len(rows))
	for i, g := range item.Values(rows) {
		out.Body.Goals[i] = newGoal(g, game.V().ThirdLength)
	}

	return out, nil
}

// ListAudit is the request for the corrections of a game.
type ListAudit struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	Cursor string `query:"cursor" maxLength:"47" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z_[0-9A-Z]{26}$" example:"2026-06-06T18:00:00Z_01JX3Y5ZK8Q2M4N6P8R0T2V4W6" doc:"The next of the page before."`
}

// auditPage is how many corrections a page has.
const auditPage = 100

// Correction is an entry of the log of corrections.
type Correction struct {
	At     time.Time `json:"at" doc:"When it was made."`
	By     string    `json:"byUserId" doc:"Who has made it."`
	What   string    `json:"what" enum:"add,edit,delete,undo,finish,reopen" doc:"What was done. An undo without a goal is that of the start or the finish of a third."`
	Before *Goal     `json:"before,omitempty" doc:"The goal before."`
	After  *Goal     `json:"after,omitempty" doc:"The goal afterwards."`
	State  string    `json:"state,omitempty" enum:"postponed,abandoned,walkover" doc:"The state that the game got: postponed by an edit, abandoned or a walkover by a finish."`
}

// AuditList is the answer with corrections.
type AuditList struct {
	Body struct {
		Corrections []Correction `json:"corrections" doc:"The newest first."`
		Next        string       `json:"next,omitempty" doc:"The cursor of the next page."`
	}
}

// ListAuditFunction returns what was corrected in a game.
func ListAuditFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-corrections",
		Does:   "Returns what was corrected in a game.",
		IfDown: "The app shows no corrections.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/audit", Auth: spec.Session},
		Uses:   league.Reads(tables.GetGame, tables.ListAudit),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAudit, item.ErrAccess, item.ErrScope)
}

// ListAudit returns a page of the log of corrections of a game.
func (s *Service) ListAudit(ctx context.Context, in *ListAudit) (*AuditList, error) {
	game, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	page := dynamo.Range{
		Key: dynamo.KeyBeginsWith(tables.ListAudit, game.PK, item.Audits), Consistent: true, Backward: true, Limit: auditPage,
	}
	if in.Cursor != "" {
		page.After = item.Key(game.PK, item.Audits+strings.Replace(in.Cursor, "_", "#", 1))
	}

	rows, last, err := dynamo.Query[item.Row[item.Audit]](ctx, s.DB, tables.ListAudit, page)
	if err != nil {
		return nil, err
	}

	out := &AuditList{}
	if last != nil {
		out.Body.Next = strings.Replace(strings.TrimPrefix(rows[len(rows)-1].SK, item.Audits), "#", "_", 1)
	}

	out.Body.Corrections = make([]Correction, len(rows))
	for i, a := range item.Values(rows) {
		out.Body.Corrections[i] = Correction{item.Parse(a.At), a.By, a.What, shownGoal(a.Before, game), shownGoal(a.After, game), a.State}
	}

	return out, nil
}

func shownGoal(g *item.Goal, game item.Row[item.Game]) *Goal {
	if g == nil {
		return nil
	}

	goal := newGoal(*g, game.V().ThirdLength)

	return &goal
}
