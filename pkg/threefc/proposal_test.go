package threefc_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/tables"
)

// late sends a goal of the first third that may come too late.
func (m *match) late(user string, g goal, headers ...threefctest.Header) events.APIGatewayV2HTTPResponse {
	m.T.Helper()

	g.Third = 1
	body := struct {
		goal
		Propose bool `json:"proposeIfLate"`
	}{g, true}

	return m.Ask(user, "POST", m.path("goals"), body, headers...)
}

// proposals are the ids of the goals that wait.
func (m *match) proposals() (ids []string) {
	m.T.Helper()

	for _, p := range decode[struct{ Proposals []game.Proposal }](m, "vic", "GET", m.path("proposals"), nil).Proposals {
		ids = append(ids, p.Goal.EventID)
	}

	return ids
}

// TestGoalComesTooLate: when a goal of a scorekeeper becomes a proposal.
func TestGoalComesTooLate(t *testing.T) {
	t.Parallel()
	m := club(t)

	for _, c := range []struct {
		state    string
		steps    []string
		sam, ann string
	}{
		{"scheduled", nil, "409 game_not_live", "409 game_not_live"},
		{"it runs", []string{"thirds/1/start"}, "201", "201"},
		{"break", []string{"thirds/1/finish"}, "202", "201"},
		{"the second runs", []string{"thirds/2/start"}, "202", "201"},
		{"finished", []string{"thirds/2/finish", "thirds/3/start", "thirds/3/finish", "finish"}, "202", "201"},
		{"reopened", []string{"reopen"}, "201", "201"},
	} {
		m.step(c.steps...)

		for user, want := range map[string]string{"sam": c.sam, "ann": c.ann, "vic": "403 scorekeeper_required"} {
			goals := len(m.goals())

			same(t, c.state+": "+user, code(m.late(user, m.goalOf(0, "blue"))), want)

			if added := len(m.goals()) - goals; (added == 1) != (want == "201") {
				t.Errorf("%s: %s has added %d goals", c.state, user, added)
			}
		}

		m.consistent()
	}

	same(t, "the goals that wait", len(m.proposals()), 3)
}

// TestProposalCountsOnce: whatever is sent again, a goal that came too late is added once.
func TestProposalCountsOnce(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()

	before := len(m.goals())
	g := m.goalOf(0, "yellow")
	g.EventID = m.eventID()

	answer := testkit.Decode[struct {
		Goal     game.Goal
		Proposed bool
	}](m.World.World, m.late("sam", g, threefctest.Key("tap")))
	same(t, "the answer", [2]any{answer.Goal.EventID, answer.Proposed}, [2]any{g.EventID, true})
	same(t, "the same request", m.late("sam", g, threefctest.Key("tap")).StatusCode, http.StatusAccepted)
	same(t, "the same goal", m.late("sue", g).StatusCode, http.StatusAccepted)
	refused(t, "another goal with its id", m.late("sam", goal{EventID: g.EventID, Scoring: "red", Conceding: "blue",
		Scorer: m.l.Players[0]}), 409, "goal_exists")
	same(t, "the goals that wait", m.proposals(), []string{g.EventID})
	same(t, "what counts", len(m.goals()), before)

	accept := m.path("proposals", g.EventID, "accept")
	same(t, "the answers to two at once", atOnce(2, func(int) string { return code(m.Ask("ann", "POST", accept, nil)) }), map[string]int{"200": 2})
	same(t, "once more", code(m.Ask("ann", "POST", accept, nil)), "200")
	same(t, "the goals that wait then", m.proposals(), []string(nil))
	same(t, "what counts then", len(m.goals()), before+1)
	same(t, "the tap again", m.late("sam", g).StatusCode, http.StatusCreated)
	refused(t, "a dismissal", m.Ask("ann", "DELETE", m.path("proposals", g.EventID), nil), 404, "proposal_not_found")
	m.consistent()

	if m.Aggregate() == 0 {
		t.Error("the tables were not computed again")
	}
}

// TestDismissedProposalDoesNotComeBack: nor one that the phone which has sent it withdraws.
func TestDismissedProposalDoesNotComeBack(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ user, path, other string }{
		"dismissed": {"ann", "proposals", "sam"},
		"withdrawn": {"sam", "goals", "sue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)
			m.step("thirds/1/finish")

			g := m.goalOf(0, "yellow")
			g.EventID = m.eventID()
			m.late("sam", g)

			if out := m.Ask(c.other, "DELETE", m.path(c.path, g.EventID), nil); out.StatusCode < 400 {
				t.Errorf("%s may do it, too: %s", c.other, code(out))
			}

			m.Do(c.user, "DELETE", m.path(c.path, g.EventID), nil)
			m.Do(c.user, "DELETE", m.path(c.path, g.EventID), nil)
			same(t, "the goals that wait", m.proposals(), []string(nil))
			refused(t, "the goal again", m.late("sam", g), 409, "goal_removed")
			refused(t, "its acceptance", m.Ask("ann", "POST", m.path("proposals", g.EventID, "accept"), nil), 409, "goal_removed")
			same(t, "the goals", len(m.goals()), 0)
		})
	}
}

// TestProposalOfAThirdThatRunsAgain: after the undo of a finish the goal that is sent again counts, once.
func TestProposalOfAThirdThatRunsAgain(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.step("thirds/1/finish")

	g := m.goalOf(0, "yellow")
	g.EventID = m.eventID()
	m.late("sam", g)
	m.Do("sam", "POST", m.path("thirds/1/finish/undo"), nil)
	same(t, "the goal again", m.late("sam", g).StatusCode, http.StatusCreated)
	same(t, "the goals that wait", m.proposals(), []string(nil))
	same(t, "the goals", len(m.goals()), 1)
	m.consistent()
}

// TestProposalOfAPlayerWhoIsGone: it waits until the player is on the roster again.
func TestProposalOfAPlayerWhoIsGone(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.step("thirds/1/finish")
	m.Do("ann", "DELETE", m.path("roster", m.l.Players[0]), nil)

	g := m.goalOf(0, "yellow")
	g.EventID = m.eventID()
	same(t, "the goal", m.late("sam", g).StatusCode, http.StatusAccepted)

	accept := m.path("proposals", g.EventID, "accept")
	refused(t, "without the player", m.Ask("ann", "POST", accept, nil), 422, "scorer_not_in_team")
	m.Do("ann", "PUT", m.path("roster", m.l.Players[0]), map[string]any{"teamId": "red"})
	m.Do("ann", "POST", accept, nil)
	same(t, "the goals", len(m.goals()), 1)
}

// TestProposalsAreLimited: a phone cannot fill up a game.
func TestProposalsAreLimited(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	m.step("thirds/1/finish")

	for i := range game.MaxProposals.Max {
		id := fmt.Sprintf("01JX%022d", 1000+i)
		testkit.PutRows(m.World.World, tables.App, item.New(item.GameKey(m.id), item.ProposalKey(id), "Proposal",
			item.Proposal{Goal: item.Goal{ID: id, Third: 1, Scoring: "red", Conceding: "blue"}, At: item.Format(m.Clock.Now())}, time.Now()))
	}

	refused(t, "one more", m.late("sam", m.goalOf(0, "blue")), 409, "too_many_proposals")
	same(t, "the goals that wait", len(m.proposals()), game.MaxProposals.Max)
}
