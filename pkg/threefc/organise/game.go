package organise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

func gameActions() []action {
	return []action{
		{"edit-game", item.Scorekeeper, "The game is changed.", (*Pages).editGameForm, (*Pages).editGame},
		{"line-up", item.Scorekeeper, "The line-up is saved.", (*Pages).lineUpForm, (*Pages).lineUp},
		{"fill-line-up", item.Scorekeeper, "The line-up is saved.", (*Pages).fillLineUpForm, (*Pages).fillLineUp},
		{"set-state", item.Scorekeeper, "It is saved what has happened.", (*Pages).setStateForm, (*Pages).setState},
		{"missing-team", item.Scorekeeper, "It is saved who is missing.", (*Pages).missingTeamForm, (*Pages).missingTeam},
		{"remove-seat", item.Scorekeeper, "The player is removed from the line-up.", (*Pages).removeSeatForm, (*Pages).removeSeat},
		{"make-code", item.Scorekeeper, "The code is made.", (*Pages).makeCodeForm, (*Pages).makeCode},
		{"revoke-codes", item.Scorekeeper, "The codes have ended.", (*Pages).revokeCodesForm, (*Pages).revokeCodes},
		{"accept-goal", item.Admin, "The goal counts.", (*Pages).acceptGoalForm, (*Pages).acceptGoal},
		{"dismiss-goal", item.Admin, "The goal is dismissed.", (*Pages).dismissGoalForm, (*Pages).dismissGoal},
		{"undo-third", item.Scorekeeper, "The step is undone.", (*Pages).undoThirdForm, (*Pages).undoThird},
		{"reopen-game", item.Admin, "The game is open again.", (*Pages).reopenGameForm, (*Pages).reopenGame},
		{"delete-game", item.Admin, "The game is deleted.", (*Pages).deleteGameForm, (*Pages).deleteGame},
	}
}

// Things of the page of a game.
type (
	shownSeat struct{ Name, Remove, RemoveText string }
	shownSide struct {
		Name, Class      string
		Scored, Conceded int
		Seats            []shownSeat
	}
	shownGoal  struct{ Text, Accept, Dismiss string }
	correction struct{ At, Text string }
)

// showGame adds a game to the data of its page, and returns the colors of its teams. code is a code to join
// it that was made, "" for none.
func (s *Pages) showGame(ctx context.Context, v *visit, code string, data map[string]any) (colors []string, err error) {
	g := v.game.V()

	roster, err := s.games.ListRoster(ctx, &game.ListRoster{User: v.user(), GameID: v.id})
	if err != nil {
		return nil, err
	}

	var sides []shownSide

	seated := map[string]bool{}

	for i, t := range g.Teams {
		one := shownSide{Name: t.Name, Class: web.Class(t.Color)}
		if i < len(g.Scores) {
			one.Scored, one.Conceded = g.Scores[i].Scored, g.Scores[i].Conceded
		}

		for _, p := range roster.Body.Players {
			if p.TeamID == t.TeamID {
				seated[p.PlayerID] = true
				one.Seats = append(one.Seats, shownSeat{p.Nickname, s.link(v, "remove-seat", p.PlayerID), "Remove " + p.Nickname + " from " + t.Name})
			}
		}

		sides, colors = append(sides, one), append(colors, t.Color)
	}

	pool, err := s.players.ListPool(ctx, &player.ListPool{User: v.user(), GameID: v.id})
	if err != nil {
		return nil, err
	}

	var waiting []string

	for _, p := range pool.Body.Players {
		if !seated[p.PlayerID] {
			waiting = append(waiting, p.Nickname)
		}
	}

	data["Sides"], data["Waiting"], data["State"] = sides, waiting, s.state(v)
	data["Score"], data["Public"] = s.Links.To("score", g.SessionID), s.Links.League(*v.of.V(), v.season.V().Slug, g.Slug)
	data["When"] = item.Parse(g.StartTs).In(v.zone()).Format("15:04 on "+web.Day) + ", " + fmt.Sprint(g.ThirdLength) + " minutes a third"
	data["Place"], data["LineUp"], data["Fill"] = g.Location, s.link(v, "line-up", ""), s.link(v, "fill-line-up", "")

	if data["Code"], err = s.code(ctx, v, code); err != nil {
		return nil, err
	}

	if data["Proposals"], data["Corrections"], err = s.decisions(ctx, v); err != nil {
		return nil, err
	}

	var choices []crumb

	for _, c := range s.choices(v) {
		if c.URL != "" {
			choices = append(choices, c)
		}
	}

	data["Choices"] = choices

	return colors, s.add(ctx, v, data, "make-code")
}

// choices are the links to the forms of a game. The visitor may not do those without an address.
func (s *Pages) choices(v *visit) (all []crumb) {
	if !item.Ended(v.game.Status) {
		all = append(all, crumb{s.link(v, "edit-game", ""), "Change the start, the place, the length or the teams"},
			crumb{s.link(v, "set-state", ""), "Postpone or abandon the game, or record a walkover"})

		if v.game.Status == item.Scheduled && len(v.game.V().Teams) > 0 {
			all = append(all, crumb{s.link(v, "missing-team", ""), "A team is missing"})
		}

		if id, text := latestStep(v.game.V()); id != "" {
			all = append(all, crumb{s.link(v, "undo-third", id), "Undo the " + text})
		}
	} else {
		all = append(all, crumb{s.link(v, "reopen-game", ""), "Open the game again"})
	}

	return append(all, crumb{s.link(v, "revoke-codes", ""), "End all codes to join"}, crumb{s.link(v, "delete-game", ""), "Delete the game"})
}

// steps are the steps of thirds by the ids of the forms that undo them.
var steps = map[string]struct {
	third int
	step  string
}{
	"start-1": {1, "start"}, "finish-1": {1, "finish"}, "start-2": {2, "start"}, "finish-2": {2, "finish"}, "start-3": {3, "start"},
	"finish-3": {3, "finish"},
}

// latestStep returns the id of the latest step of the thirds, and the step in words, "" if there is none.
func latestStep(g *item.Game) (id, text string) {
	for i, t := range g.Thirds {
		for _, one := range []struct{ at, step string }{{t.StartedAt, "start"}, {t.FinishedAt, "finish"}} {
			if one.at != "" {
				id, text = fmt.Sprintf("%s-%d", one.step, i+1), fmt.Sprintf("%s of third %d", one.step, i+1)
			}
		}
	}

	return id, text
}

// code returns a code of the game as the page shows it, nil for one of another game, or that is not valid.
func (s *Pages) code(ctx context.Context, v *visit, typed string) (*shownCode, error) {
	if typed == "" || !v.role.AtLeast(item.Scorekeeper) || !ids.MatchString(typed) {
		return nil, nil
	}

	row, ok, err := dynamo.Get[item.Row[item.Join]](ctx, s.DB, tables.FindCode, item.JoinKey(typed), item.Metadata)
	if err != nil || !ok || row.V().GameID != v.id || row.V().Series != v.game.V().Series || s.Now().Unix() >= row.TTL {
		return nil, err
	}

	return shown(typed, s.Links.To("join", typed), time.Unix(row.TTL, 0), v.zone(), s.link(v, "revoke-codes", ""))
}

// decisions returns the goals of the game that wait, and its corrections, the newest first.
func (s *Pages) decisions(ctx context.Context, v *visit) (waiting []shownGoal, log []correction, err error) {
	proposals, err := s.games.ListProposals(ctx, &game.ListProposals{User: v.user(), GameID: v.id})
	if err != nil {
		return nil, nil, err
	}

	audit, err := s.games.ListAudit(ctx, &game.ListAudit{User: v.user(), GameID: v.id})
	if err != nil {
		return nil, nil, err
	}

	players := map[string]bool{}

	for _, p := range proposals.Body.Proposals {
		players[p.Goal.Scorer] = true
	}

	for _, c := range audit.Body.Corrections {
		for _, g := range []*game.Goal{c.Before, c.After} {
			if g != nil {
				players[g.Scorer] = true
			}
		}
	}

	delete(players, "")

	found, err := item.ReadPlayers(ctx, s.DB, tables.ListRoster, slices.Sorted(maps.Keys(players)))
	if err != nil {
		return nil, nil, err
	}

	by := map[string]string{v.userID: "you"}

	if v.role == item.Admin {
		members, err := s.list(ctx, v)
		if err != nil {
			return nil, nil, err
		}

		for _, m := range members {
			if m.UserID != v.userID && m.Pending == "" {
				by[m.UserID] = v.nameOf(m)
			}
		}
	}

	for _, p := range proposals.Body.Proposals {
		waiting = append(waiting, shownGoal{
			v.goal(p.Goal, found) + ", sent by " + cmp.Or(by[p.By], "a scorekeeper"),
			s.link(v, "accept-goal", p.Goal.EventID), s.link(v, "dismiss-goal", p.Goal.EventID),
		})
	}

	for _, c := range audit.Body.Corrections {
		text := cmp.Or(did[c.State], did[c.What]) + " by " + cmp.Or(by[c.By], "a scorekeeper")

		for _, g := range []struct {
			label string
			goal  *game.Goal
		}{{" · before: ", c.Before}, {" · then: ", c.After}} {
			if g.goal != nil {
				text += g.label + v.goal(*g.goal, found)
			}
		}

		log = append(log, correction{c.At.In(v.zone()).Format("2 January, 15:04"), text})
	}

	return waiting, log, nil
}

// did are the corrections in words.
var did = map[string]string{
	"add": "Goal added", "edit": "Goal changed", "delete": "Goal deleted", "undo": "Undone", "finish": "Game finished",
	"reopen": "Game opened again", item.Postponed: "Game postponed", item.Abandoned: "Game abandoned", item.Walkover: "Walkover recorded",
}

// goal describes a goal.
func (v *visit) goal(g game.Goal, players map[string]item.Player) string {
	name := "an unknown player"

	switch {
	case g.Scorer != "":
		name = cmp.Or(item.Resolve(g.Scorer, players).Nickname, name)
	case g.Guest:
		name = "a guest"
	}

	kind := "goal for " + v.teamName(g.Scoring)
	if g.OwnGoal {
		kind = "own goal"
	}

	return fmt.Sprintf("third %d, %s %s against %s by %s", g.Third, g.Display, kind, v.teamName(g.Conceding), name)
}

// teamName returns the name of a team of the game.
func (v *visit) teamName(id string) string {
	for _, t := range v.game.V().Teams {
		if t.TeamID == id {
			return t.Name
		}
	}

	return "another team"
}

func (s *Pages) editGameForm(ctx context.Context, v *visit, f *form) error {
	g := v.game.V()
	f.Title, f.Button, f.Rev = "Change the game", "Save the game", rev(v.game.Rev)
	if g.State == item.Postponed {
		f.Lines = []string{"The game is postponed, until you save its new start."}
	}

	err := s.gameFields(ctx, v, f, item.Parse(g.StartTs).In(v.zone()), g.ThirdLength, g.Location, g.Teams)
	if v.game.Status != item.Scheduled { // its teams stay
		f.Parts = f.Parts[:1]
	}

	return err
}

func (s *Pages) editGame(ctx context.Context, v *visit, in sent) (next, error) {
	req := &game.UpdateGame{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, GameID: v.id}

	values, err := in.game(v.zone())
	if err != nil {
		return next{}, err
	}

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err = s.games.UpdateGame(ctx, req)

	return next{}, err
}

// places returns the team of each player of the line-up.
func (s *Pages) places(ctx context.Context, v *visit) (map[string]string, error) {
	roster, err := s.games.ListRoster(ctx, &game.ListRoster{User: v.user(), GameID: v.id})
	if err != nil {
		return nil, err
	}

	of := map[string]string{}
	for _, p := range roster.Body.Players {
		of[p.PlayerID] = p.TeamID
	}

	return of, nil
}

// lineUpForm has a choice of the team for each player of the league: first those who are in a team, have joined
// or have said that they will or may play, then all others.
func (s *Pages) lineUpForm(ctx context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "Line-up", "Save the line-up", rev(v.game.Rev)

	of, err := s.places(ctx, v)
	if err != nil {
		return err
	}

	pool, err := s.players.ListPool(ctx, &player.ListPool{User: v.user(), GameID: v.id})
	if err != nil {
		return err
	}

	said, err := s.notices.ListAvailability(ctx, &notice.ListAvailability{User: v.user(), SessionID: v.session.V().ID})
	if err != nil {
		return err
	}

	everybody, err := s.everybody(ctx, v)
	if err != nil {
		return err
	}

	notes := map[string]string{}
	for _, p := range said.Body.Players {
		notes[p.PlayerID] = p.Status
	}

	for _, p := range pool.Body.Players {
		notes[p.PlayerID] = "has joined"
	}

	teams := v.game.V().Present()
	if len(teams) == 0 {
		f.Lines = []string{"The game has no teams yet: choose three for it first."}
	}

	f.seats(everybody, of, notes, "does not play", teams)

	return nil
}

// lineUp puts players into the teams that the form has, one after the other: a second run does what a crash has
// left. It is refused if the game has changed since the form was shown, unless the line-up is that of the form.
func (s *Pages) lineUp(ctx context.Context, v *visit, in sent) (next, error) {
	of, err := s.places(ctx, v)
	if err != nil {
		return next{}, err
	}

	var changed []string

	for name, team := range in.Sent {
		if id, ok := strings.CutPrefix(name, seat); ok && team != of[id] {
			changed = append(changed, id)
		}
	}

	if len(changed) == 0 {
		return next{}, nil
	}

	if err := in.IfMatch.Check(v.game.Rev); err != nil {
		return next{}, err
	}

	slices.Sort(changed)

	for _, id := range changed {
		if !item.IsID(id) {
			return next{}, item.ErrNoPlayer
		}

		team := in.Sent[seat+id]
		if team == "" {
			_, err = s.games.DeleteSeat(ctx, &game.DeleteSeat{User: v.user(), GameID: v.id, PlayerID: id})
		} else {
			put := &game.PutSeat{User: v.user(), GameID: v.id, PlayerID: id}
			if err = fill(&put.Body, map[string]any{"teamId": team}); err == nil {
				_, err = s.games.PutSeat(ctx, put)
			}
		}

		if err != nil {
			return next{}, at(seat+id, err)
		}
	}

	return next{}, nil
}

func (s *Pages) removeSeatForm(ctx context.Context, v *visit, f *form) error {
	of, err := s.places(ctx, v)
	if err != nil {
		return err
	}

	row, err := s.player(ctx, v, f.ID)
	if err == nil && of[f.ID] == "" {
		err = web.ErrNotFound
	}

	f.Title, f.Button = "Remove "+row.V().Nickname+" from "+v.teamName(of[f.ID])+"?", "Remove "+row.V().Nickname+" from "+v.teamName(of[f.ID])

	return err
}

func (s *Pages) removeSeat(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.games.DeleteSeat(ctx, &game.DeleteSeat{User: v.user(), GameID: v.id, PlayerID: in.id})
	return next{}, err
}

func (s *Pages) makeCodeForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Players join by themselves", "Make a code to join"
	return nil
}

func (s *Pages) makeCode(ctx context.Context, v *visit, in sent) (next, error) {
	out, err := s.players.CreateCode(ctx, &player.CreateCode{User: v.user(), Key: in.Key, GameID: v.id})
	if err != nil {
		return next{}, err
	}

	// The code is in the query string, which no access log has.
	return next{to: v.url(s.Links, "make-code") + "&code=" + out.Body.Code}, nil
}

// revokeCodesForm asks whether to end the codes. The form has their series, so that one that is sent again ends
// no later ones.
func (s *Pages) revokeCodesForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.ID = "End all codes to join this game?", "End the codes", strconv.Itoa(v.game.V().Series)
	f.Lines = []string{"Players who have joined stay."}

	return nil
}

func (s *Pages) revokeCodes(ctx context.Context, v *visit, in sent) (next, error) {
	if in.id != strconv.Itoa(v.game.V().Series) {
		return next{}, nil
	}

	_, err := s.players.RevokeCodes(ctx, &player.RevokeCodes{User: v.user(), GameID: v.id})

	return next{}, err
}

// proposal describes a goal that waits. Errors: web.ErrNotFound.
func (s *Pages) proposal(ctx context.Context, v *visit, id string) (string, error) {
	all, err := s.games.ListProposals(ctx, &game.ListProposals{User: v.user(), GameID: v.id})
	if err != nil {
		return "", err
	}

	for _, p := range all.Body.Proposals {
		if p.Goal.EventID == id {
			var scorer []string
			if p.Goal.Scorer != "" {
				scorer = []string{p.Goal.Scorer}
			}

			found, err := item.ReadPlayers(ctx, s.DB, tables.ListRoster, scorer)

			return v.goal(p.Goal, found), err
		}
	}

	return "", web.ErrNotFound
}

func (s *Pages) acceptGoalForm(ctx context.Context, v *visit, f *form) error {
	text, err := s.proposal(ctx, v, f.ID)
	f.Title, f.Button, f.Lines = "Accept the goal?", "Accept the goal", []string{"It counts from now on: " + text + "."}

	return err
}

func (s *Pages) acceptGoal(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.games.AcceptProposal(ctx, &game.AcceptProposal{User: v.user(), GameID: v.id, EventID: in.id})
	return next{}, err
}

func (s *Pages) dismissGoalForm(ctx context.Context, v *visit, f *form) error {
	text, err := s.proposal(ctx, v, f.ID)
	f.Title, f.Button, f.Lines = "Dismiss the goal?", "Dismiss the goal", []string{"It never counts, and does not come back: " + text + "."}

	return err
}

func (s *Pages) dismissGoal(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.games.DismissProposal(ctx, &game.DismissProposal{User: v.user(), GameID: v.id, EventID: in.id})
	return next{}, err
}

func (s *Pages) undoThirdForm(_ context.Context, _ *visit, f *form) error {
	step, ok := steps[f.ID]
	if !ok {
		return web.ErrNotFound
	}

	what := fmt.Sprintf("the %s of third %d", step.step, step.third)
	f.Title, f.Button = "Undo "+what+"?", "Undo "+what
	f.Lines = []string{"A scorekeeper may do this for five minutes, an administrator until the game is finished."}

	return nil
}

func (s *Pages) undoThird(ctx context.Context, v *visit, in sent) (next, error) {
	step, ok := steps[in.id]
	if !ok {
		return next{}, web.ErrNotFound
	}

	_, err := s.games.UndoThird(ctx, &game.UndoThird{User: v.user(), Key: in.Key, GameID: v.id, Third: step.third, Step: step.step})

	return next{}, err
}

func (s *Pages) reopenGameForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Open the game again?", "Open the game again"
	f.Lines = []string{"It leaves the table until it is finished again. Scorekeepers may correct all its thirds."}

	return nil
}

func (s *Pages) reopenGame(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.games.ReopenGame(ctx, &game.EndGame{User: v.user(), Key: in.Key, GameID: v.id})
	return next{}, err
}

func (s *Pages) deleteGameForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "Delete the game at "+v.clock(v.game.V().StartTs)+"?", "Delete the game", rev(v.game.Rev)
	f.Lines = []string{"It is deleted with its goals and its line-up, and the table is computed again."}

	return nil
}

func (s *Pages) deleteGame(ctx context.Context, v *visit, in sent) (next, error) {
	_, err := s.games.DeleteGame(ctx, &game.DeleteGame{User: v.user(), IfMatch: in.IfMatch, GameID: v.id})
	return next{to: withDone(v.at(s.Links, ofSession, v.session.V().ID), "delete-game")}, err
}

// at returns an error with the field at which it belongs.
func at(name string, err error) error {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.In("body." + name)
	}

	return err
}
