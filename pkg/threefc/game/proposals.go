package game

import (
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/tables"
)

var errNoProposal = problem.New(problem.NotFound, "proposal_not_found", "the game has no such proposal")

// isLate reports whether the caller is a scorekeeper whose goal of a third comes after its end.
func (st *state) isLate(third int) bool {
	g := st.game.V()
	if st.role == item.Admin || third == 0 || g.Thirds[third-1].FinishedAt == "" {
		return false
	}

	return item.Ended(st.game.Status) || !g.Reopened
}

// proposal returns the proposal with the id of a goal, nil if there is none.
func (st *state) proposal(id string) *item.Row[item.Proposal] {
	i := slices.IndexFunc(st.proposals, func(r item.Row[item.Proposal]) bool { return r.V().ID == id })
	if i < 0 {
		return nil
	}

	return &st.proposals[i]
}

// propose keeps a goal as it was sent. Whether its players are on the roster is checked when it is accepted.
func (st *state) propose(f GoalFields, id string, now time.Time) (item.Goal, []dynamo.Write, error) {
	if row := st.proposal(id); row != nil {
		if !f.matches(row.V().Goal) {
			return item.Goal{}, nil, errOther
		}

		return row.V().Goal, nil, errUnchanged
	}

	goal, err := f.late(st, id, now)

	switch {
	case err != nil:
		return goal, nil, err
	case len(st.proposals) >= MaxProposals.Max:
		return goal, nil, problem.Beyond(MaxProposals)
	}

	row := item.New(st.game.PK, item.ProposalKey(id), proposalType, item.Proposal{Goal: goal, At: item.Format(now)}, now)

	return goal, []dynamo.Write{row.Create()}, nil
}

// dismiss deletes a proposal, and keeps its id: the goal does not come back.
func (st *state) dismiss(row item.Row[item.Proposal], now time.Time) []dynamo.Write {
	goal := row.V().Goal
	gone := item.New(st.game.PK, item.RemovedKey(goal.ID), removedType, goal, now)
	gone.TTL = now.Add(keepRemoved).Unix()

	return []dynamo.Write{row.Drop(), gone.Create(), st.log(now, "delete", &goal, nil)}
}

// Proposal is a goal that waits for an administrator.
type Proposal struct {
	Goal Goal      `json:"goal" doc:"The goal as it was sent. It counts for nothing."`
	By   string    `json:"byUserId" doc:"Who has sent it."`
	At   time.Time `json:"at" doc:"When it came."`
}

// ListProposals is the request for the proposals of a game.
type ListProposals struct {
	auth.User
	GameID string `path:"gameId" maxLength:"26" doc:"The id of the game."`
}

// ProposalList is the answer with proposals.
type ProposalList struct {
	Body struct {
		Proposals []Proposal `json:"proposals" doc:"In order of their ids."`
	}
}

// ListProposalsFunction returns the goals that came too late.
func ListProposalsFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-proposals",
		Does:   "Returns the goals of a game that came after their third was finished, and wait for an administrator.",
		IfDown: "Administrators do not see which goals came too late.",
		On:     spec.Route{Method: "GET", Path: "/v1/games/{gameId}/proposals", Auth: spec.Session},
		Uses:   league.ScoringReads(tables.GetGame, tables.ListProposals),
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenScoring, (*Service).ListProposals, item.ErrAccess, item.ErrScope)
}

// ListProposals returns the proposals of a game, at most MaxProposals.
func (s *Service) ListProposals(ctx context.Context, in *ListProposals) (*ProposalList, error) {
	game, _, err := item.GameRow.ReadAs(ctx, s.DB, in.GameID, in.UserID, item.Viewer)
	if err != nil {
		return nil, err
	}

	rows, err := item.List[item.Proposal](ctx, s.DB, tables.ListProposals, game.PK, item.Proposed)
	if err != nil {
		return nil, err
	}

	out := &ProposalList{}

	out.Body.Proposals = make([]Proposal, len(rows))
	for i, p := range item.Values(rows) {
		out.Body.Proposals[i] = Proposal{newGoal(p.Goal, game.V().ThirdLength), p.RecordedBy, item.Parse(p.At)}
	}

	return out, nil
}

// AcceptProposal is the request to make a goal of a proposal.
type AcceptProposal struct {
	auth.User
	GameID  string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	EventID string `path:"eventId" maxLength:"26" doc:"The id of the goal."`
}

// AcceptProposalFunction makes a goal of a proposal.
func AcceptProposalFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/accept-proposal",
		Does:   "Makes a goal of one that came after its third was finished.",
		IfDown: "Goals that came too late do not count.",
		On:     spec.Route{Method: "POST", Path: "/v1/games/{gameId}/proposals/{eventId}/accept", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue}, Limits: []spec.Limit{MaxGoals},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).AcceptProposal,
		errAssists, errGuest, errMinute, errNoProposal, errNotBegun, errNotLive, errRemoved, errSame, errScorer, errScoring,
		errUnderTeam, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// AcceptProposal makes a goal of a proposal, which must keep the rules of goals: the players may have to be put
// on the roster first. The score and the tables follow. A second run changes nothing. Errors:
// proposal_not_found, goal_removed for one that was dismissed, too_many_goals, and those of CreateGoal.
func (s *Service) AcceptProposal(ctx context.Context, in *AcceptProposal) (*GoalPage, error) {
	var goal item.Goal

	commit := func(ctx context.Context, a spec.Access, _ *GoalPage, writes ...dynamo.Write) error {
		return dynamo.Transact(ctx, s.DB, a, writes...)
	}

	return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Admin, httpapi.IfMatch{}, commit,
		func(st *state, now time.Time) (writes []dynamo.Write, err error) {
			if i := st.index(in.EventID); i >= 0 {
				goal = *st.goals[i].V()
				return nil, errUnchanged
			}

			if st.removed[item.RemovedKey(in.EventID)] {
				return nil, errRemoved
			}

			row := st.proposal(in.EventID)
			if row == nil {
				return nil, errNoProposal
			}

			if err := st.mayScore(row.V().Third); err != nil {
				return nil, err
			}

			if goal, err = fieldsOf(row.V().Goal).goal(st, in.EventID, now); err != nil {
				return nil, err
			}

			if len(st.goals) >= MaxGoals.Max {
				return nil, problem.Beyond(MaxGoals)
			}

			goal.RecordedBy = row.V().RecordedBy
			added := item.New(st.game.PK, item.GoalKey(goal), goalType, goal, now)
			st.goals = append(st.goals, added)

			return []dynamo.Write{row.Drop(), added.Create(), st.log(now, "add", nil, &goal)}, nil
		}, func(st *state) *GoalPage { return goalPage(http.StatusOK, st, goal) })
}

// fieldsOf returns the fields of a goal.
func fieldsOf(g item.Goal) GoalFields {
	return GoalFields{
		Third: g.Third, Minute: &g.Minute, Scoring: g.Scoring, Conceding: g.Conceding, Scorer: g.Scorer, Guest: g.Guest,
		Assists: g.Assists, OwnGoal: g.OwnGoal,
	}
}

// DismissProposal is the request to delete a proposal.
type DismissProposal struct {
	auth.User
	GameID  string `path:"gameId" maxLength:"26" doc:"The id of the game."`
	EventID string `path:"eventId" maxLength:"26" doc:"The id of the goal."`
}

// DismissProposalFunction deletes a proposal.
func DismissProposalFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/dismiss-proposal",
		Does:   "Deletes a goal that came after its third was finished.",
		IfDown: "Goals that came too late stay in the list of proposals.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/games/{gameId}/proposals/{eventId}", Auth: spec.Session},
		Uses:   league.Writes(tables.ReadGame, tables.SaveGoal), Sends: []spec.Queue{AggregateQueue},
		Memory: 256, Timeout: 10 * time.Second,
	}, Open, (*Service).DismissProposal, errNoProposal, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// DismissProposal deletes a proposal. A second run changes nothing. Errors: proposal_not_found, also for one
// that was accepted.
func (s *Service) DismissProposal(ctx context.Context, in *DismissProposal) (*httpapi.Removed, error) {
	commit := func(ctx context.Context, a spec.Access, _ *httpapi.Removed, writes ...dynamo.Write) error {
		return dynamo.Transact(ctx, s.DB, a, writes...)
	}

	return change(ctx, s, tables.SaveGoal, in.GameID, in.UserID, item.Admin, httpapi.IfMatch{}, commit,
		func(st *state, now time.Time) ([]dynamo.Write, error) {
			switch row := st.proposal(in.EventID); {
			case st.removed[item.RemovedKey(in.EventID)]:
				return nil, errUnchanged
			case row == nil:
				return nil, errNoProposal
			default:
				return st.dismiss(*row, now), nil
			}
		}, func(*state) *httpapi.Removed { return httpapi.NewRemoved() })
}
