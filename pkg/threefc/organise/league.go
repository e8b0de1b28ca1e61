package organise

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/web"
)

func leagueActions() []action {
	return []action{
		{"rename-league", item.Admin, "The league is changed.", (*Pages).renameLeagueForm, (*Pages).renameLeague},
		{"delete-league", item.Admin, "The league is deleted.", (*Pages).deleteLeagueForm, (*Pages).deleteLeague},
		{"leave", item.Viewer, "You have left the league.", (*Pages).leaveForm, (*Pages).leave},
		{"invite", item.Admin, "The invitation is on its way.", (*Pages).inviteForm, (*Pages).invite},
		{"withdraw", item.Admin, "The invitation is withdrawn.", (*Pages).withdrawForm, (*Pages).withdraw},
		{"change-role", item.Admin, "The role is changed.", (*Pages).changeRoleForm, (*Pages).changeRole},
		{"remove-member", item.Admin, "The member is removed.", (*Pages).removeMemberForm, (*Pages).removeMember},
		{"create-season", item.Admin, "The season is created.", (*Pages).createSeasonForm, (*Pages).createSeason},
		{"add-player", item.Scorekeeper, "The player is added.", (*Pages).addPlayerForm, (*Pages).addPlayer},
		{"edit-player", item.Scorekeeper, "The player is changed.", (*Pages).editPlayerForm, (*Pages).editPlayer},
		{"merge-player", item.Admin, "The players are merged.", (*Pages).mergePlayerForm, (*Pages).mergePlayer},
		{"unmerge-player", item.Admin, "The merge is undone.", (*Pages).unmergePlayerForm, (*Pages).unmergePlayer},
		{"end-claim", item.Admin, "The claim has ended.", (*Pages).endClaimForm, (*Pages).endClaim},
		{"delete-player", item.Admin, "The player is deleted.", (*Pages).deletePlayerForm, (*Pages).deletePlayer},
	}
}

// Things in lists, each with the address of its form, "" if the visitor may not change it.
type (
	shownSeason struct {
		URL, Name string
		Sessions  int
	}
	shownPlayer struct{ URL, Name, Avatar, Note string }
	shownMember struct{ URL, Name, Role, Pending string }
)

// showLeague adds a league to the data of its page.
func (s *Pages) showLeague(ctx context.Context, v *visit, data map[string]any) error {
	all, err := s.seasons.ListSeasons(ctx, &season.ListSeasons{User: v.user(), LeagueID: v.league})
	if err != nil {
		return err
	}

	var seasons []shownSeason
	for _, x := range all.Body.Seasons {
		seasons = append(seasons, shownSeason{v.at(s.Links, ofSeason, x.SeasonID), x.Name, x.Sessions})
	}

	everybody, err := s.everybody(ctx, v)
	if err != nil {
		return err
	}

	names := map[string]string{}
	for _, p := range everybody {
		names[p.PlayerID] = p.Nickname
	}

	var players []shownPlayer

	for _, p := range everybody {
		one := shownPlayer{URL: s.link(v, "edit-player", p.PlayerID), Name: p.Nickname, Avatar: p.Avatar}

		switch {
		case p.MergedInto != "":
			one.Note = "merged into " + names[p.MergedInto]
		case p.Mine:
			one.Note = "that is you"
		case p.Claimed:
			one.Note = "claimed by a user"
		}

		players = append(players, one)
	}

	if v.role == item.Admin {
		if data["Members"], err = s.members(ctx, v); err != nil {
			return err
		}
	}

	data["Seasons"], data["Players"], data["Public"] = seasons, players, s.Links.League(*v.of.V())

	var choices []crumb

	ways := []crumb{
		{"rename-league", "Change the names of the league, and who sees it"}, {"leave", "Leave the league"},
		{"delete-league", "Delete the league"},
	}

	forms := []string{"create-season", "add-player", "invite"}
	if len(seasons) > 0 { // the next season can wait
		ways, forms = append([]crumb{{"create-season", "Create another season"}}, ways...), forms[1:]
	}

	for _, c := range ways {
		if to := s.link(v, c.URL, ""); to != "" {
			choices = append(choices, crumb{to, c.Text})
		}
	}

	if v.role == item.Admin {
		choices = append(choices, crumb{s.Links.To("report", v.league), "Names that players ask you to remove"})
	}

	data["Choices"] = choices

	return s.add(ctx, v, data, forms...)
}

// everybody returns all players of the league by their names.
func (s *Pages) everybody(ctx context.Context, v *visit) (all []player.Player, err error) {
	in := &player.ListPlayers{User: v.user(), LeagueID: v.league, Limit: 200}

	for {
		page, err := s.players.ListPlayers(ctx, in)
		if err != nil {
			return nil, err
		}

		all = append(all, page.Body.Players...)
		if in.Cursor = page.Body.Next; in.Cursor == "" {
			break
		}
	}

	slices.SortFunc(all, func(a, b player.Player) int {
		return cmp.Or(cmp.Compare(a.Nickname, b.Nickname), cmp.Compare(a.PlayerID, b.PlayerID))
	})

	return all, nil
}

// list returns the members of the league, and those who are invited.
func (s *Pages) list(ctx context.Context, v *visit) ([]league.Member, error) {
	out, err := s.leagues.ListAccess(ctx, &league.ListAccess{User: v.user(), LeagueID: v.league})
	if err != nil {
		return nil, err
	}

	return out.Body.Members, nil
}

func (s *Pages) members(ctx context.Context, v *visit) (all []shownMember, err error) {
	members, err := s.list(ctx, v)
	if err != nil {
		return nil, err
	}

	for _, m := range members {
		one := shownMember{URL: s.link(v, "change-role", m.UserID), Name: v.nameOf(m), Role: roles[m.Role]}
		if m.Pending != "" {
			one.URL, one.Pending = s.link(v, "withdraw", m.Pending), "invited"
		}

		all = append(all, one)
	}

	return all, nil
}

// nameOf names a member: who has created the league was never invited by an address.
func (v *visit) nameOf(m league.Member) string {
	switch {
	case m.UserID == v.userID && m.Pending == "":
		return cmp.Or(v.email, m.Email, "you")
	case m.Email != "":
		return m.Email
	}

	return "the founder of the league"
}

// member returns a member, or an invitation, by its id. Errors: web.ErrNotFound.
func (s *Pages) member(ctx context.Context, v *visit, id string) (league.Member, error) {
	members, err := s.list(ctx, v)
	if err != nil {
		return league.Member{}, err
	}

	i := slices.IndexFunc(members, func(m league.Member) bool { return id != "" && (m.UserID == id || m.Pending == id) })
	if i < 0 {
		return league.Member{}, web.ErrNotFound
	}

	return members[i], nil
}

// player returns a player of the league, with its revision. Errors: player_not_found, web.ErrNotFound for one of
// another league.
func (s *Pages) player(ctx context.Context, v *visit, id string) (item.Row[item.Player], error) {
	row, err := item.PlayerRow.Read(ctx, s.DB, id)
	if err == nil && row.V().LeagueID != v.league {
		err = web.ErrNotFound
	}

	return row, err
}

func (s *Pages) renameLeagueForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "Change the league", "Save the league", rev(v.of.Rev)
	f.fields(nameField("Name of the league", v.of.V().Name), field{
		Name: "slug", Label: "Name in addresses", Value: v.of.V().Slug, Required: true, Max: 40,
		Hint: "Small letters, digits and hyphens.",
	}, field{Name: "visibility", Label: "Who sees it", Value: string(v.of.V().Shown()), Options: []option{
		{string(item.Public), "Everybody"},
		{string(item.Unlisted), "Who has the link: search engines leave it out"},
		{string(item.Private), "Its members alone"},
	}})

	return nil
}

func (s *Pages) renameLeague(ctx context.Context, v *visit, in sent) (next, error) {
	req := &league.UpdateLeague{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, LeagueID: v.league}

	values := in.values("visibility")
	values["name"], values["slug"] = in.Sent["name"], in.Sent["slug"]

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err := s.leagues.UpdateLeague(ctx, req)

	return next{}, err
}

func (s *Pages) deleteLeagueForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button, f.Rev = "Delete the league "+v.of.V().Name+"?", "Delete the league", rev(v.of.Rev)
	f.Lines = []string{"It is deleted with its players and the roles of its members."}

	if v.of.V().Seasons > 0 {
		f.Lines = []string{
			"It is deleted with its seasons, games and players and the roles of its members. For a day an administrator can restore it.",
		}
	}

	return nil
}

// deleteLeague deletes a league: for a day, in which it may be restored, if it has seasons. Of one that is not
// there it deletes what a run before has left.
func (s *Pages) deleteLeague(ctx context.Context, v *visit, in sent) (then next, err error) {
	then.to = withDone(s.Links.To("home"), "delete-league")

	if v.of.PK == "" || v.of.V().Seasons > 0 {
		_, err = s.leagues.EndLeague(ctx, &league.EndLeague{User: v.user(), IfMatch: in.IfMatch, LeagueID: v.league})
		if v.of.PK != "" || !errors.Is(err, item.ErrScope) {
			return then, err
		}
	}

	_, err = s.leagues.DeleteLeague(ctx, &league.DeleteLeague{User: v.user(), IfMatch: in.IfMatch, LeagueID: v.league})

	return then, err
}

func (s *Pages) leaveForm(_ context.Context, v *visit, f *form) error {
	f.Title, f.Button = "Leave the league "+v.of.V().Name+"?", "Leave the league"
	f.Lines = []string{"Only an administrator can invite you again. Your player keeps its goals."}

	return nil
}

func (s *Pages) leave(ctx context.Context, v *visit, _ sent) (next, error) {
	_, err := s.leagues.DeleteAccess(ctx, &league.DeleteAccess{User: v.user(), LeagueID: v.league, MemberID: v.userID})
	return next{to: withDone(s.Links.To("home"), "leave")}, err
}

func (s *Pages) inviteForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Invite somebody", "Mail the invitation"
	f.fields(field{Name: "email", Label: "Mail address", Type: "email", Required: true, Max: 128, Autocomplete: "off"},
		rolesField(item.Viewer))

	return nil
}

func (s *Pages) invite(ctx context.Context, v *visit, in sent) (next, error) {
	req := &league.Invite{User: v.user(), Key: in.Key, LeagueID: v.league}
	if err := fill(&req.Body, map[string]any{"email": in.Sent["email"], "role": in.Sent["role"]}); err != nil {
		return next{}, err
	}

	_, err := s.inviter.Invite(ctx, req)

	return next{}, err
}

func (s *Pages) withdrawForm(ctx context.Context, v *visit, f *form) error {
	m, err := s.member(ctx, v, f.ID)
	f.Title, f.Button = "Withdraw the invitation of "+m.Email+"?", "Withdraw the invitation"

	return err
}

func (s *Pages) withdraw(ctx context.Context, v *visit, in sent) (next, error) {
	if !item.IsID(in.id) {
		return next{}, web.ErrNotFound
	}

	_, err := s.leagues.DeleteAccess(ctx, &league.DeleteAccess{User: v.user(), LeagueID: v.league, MemberID: in.id})

	return next{}, err
}

func (s *Pages) changeRoleForm(ctx context.Context, v *visit, f *form) error {
	m, err := s.member(ctx, v, f.ID)
	f.Title, f.Button = "Role of "+v.nameOf(m), "Save the role"
	f.fields(rolesField(m.Role))
	f.More = []crumb{{s.link(v, "remove-member", f.ID), "Remove " + v.nameOf(m) + " from the league"}}

	return err
}

func (s *Pages) changeRole(ctx context.Context, v *visit, in sent) (next, error) {
	req := &league.PutAccess{User: v.user(), Key: in.Key, LeagueID: v.league, MemberID: in.id}
	if err := fill(&req.Body, map[string]any{"role": in.Sent["role"]}); err != nil {
		return next{}, err
	}

	_, err := s.leagues.PutAccess(ctx, req)

	return next{}, err
}

func (s *Pages) removeMemberForm(ctx context.Context, v *visit, f *form) error {
	m, err := s.member(ctx, v, f.ID)
	f.Title, f.Button = "Remove "+v.nameOf(m)+" from the league?", "Remove the member"
	f.Lines = []string{"The players whom the member has claimed become free."}

	return err
}

func (s *Pages) removeMember(ctx context.Context, v *visit, in sent) (next, error) {
	if in.id == "" || item.IsID(in.id) { // of an invitation
		return next{}, web.ErrNotFound
	}

	_, err := s.leagues.DeleteAccess(ctx, &league.DeleteAccess{User: v.user(), LeagueID: v.league, MemberID: in.id})

	return next{}, err
}

// seasonFields adds the fields of a season to a form.
func seasonFields(f *form, name, starts, ends, zone string) {
	f.fields(nameField("Name of the season", name),
		field{Name: "startsOn", Label: "First day, if it is known", Type: "date", Value: starts},
		field{Name: "endsOn", Label: "Last day, if it is known", Type: "date", Value: ends},
		field{Name: "timeZone", Label: "Time zone", Value: zone, Max: 40, Required: true, Hint: "Where it is played, such as Europe/London."})
}

// seasonNames are the members of a request for a season that may be absent.
var seasonNames = []string{"startsOn", "endsOn", "timeZone"}

func (s *Pages) createSeasonForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Create a season", "Create the season"
	seasonFields(f, "", "", "", "Europe/London")

	return nil
}

func (s *Pages) createSeason(ctx context.Context, v *visit, in sent) (next, error) {
	req := &season.CreateSeason{User: v.user(), Key: in.Key, LeagueID: v.league}

	values := in.values(seasonNames...)
	values["name"] = in.Sent["name"]

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	out, err := s.seasons.CreateSeason(ctx, req)
	if err != nil {
		return next{}, err
	}

	return next{to: withDone(v.at(s.Links, ofSeason, out.Body.SeasonID), "create-season")}, nil
}

// playerFields adds the fields of a player to a form.
func playerFields(f *form, name, avatar string) {
	nickname := field{Name: "nickname", Label: "Name of the player", Value: name, Required: true, Max: 40}
	nickname.Hint = "Everybody sees it. A nickname is enough."

	f.fields(nickname, field{Name: "avatar", Label: "Picture, if you like", Value: avatar, Max: 16, Hint: "One emoji."})
}

func (s *Pages) addPlayerForm(_ context.Context, _ *visit, f *form) error {
	f.Title, f.Button = "Add a player", "Add the player"
	playerFields(f, "", "")

	return nil
}

func (s *Pages) addPlayer(ctx context.Context, v *visit, in sent) (next, error) {
	req := &player.CreatePlayer{User: v.user(), Key: in.Key}

	values := in.values("avatar")
	values["leagueId"], values["nickname"] = v.league, in.Sent["nickname"]

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err := s.players.CreatePlayer(ctx, req)

	return next{}, err
}

func (s *Pages) editPlayerForm(ctx context.Context, v *visit, f *form) error {
	row, err := s.player(ctx, v, f.ID)
	if err != nil {
		return err
	}

	p := row.V()
	f.Title, f.Button, f.Rev = "Player "+p.Nickname, "Save the player", rev(row.Rev)
	playerFields(f, p.Nickname, p.Avatar)

	if v.role == item.Admin || p.ClaimedBy == v.userID {
		f.fields(field{Name: "display", Label: "What everybody sees", Value: string(p.Display.Shown()), Options: []option{
			{string(item.FullName), "The name"}, {string(item.Initials), "The initials"}, {string(item.NoName), "No name and no picture"},
		}, Hint: "Members of the league see the name."})
	}

	more := []crumb{{"merge-player", "Merge " + p.Nickname + " into another player"}}
	if p.MergedInto != "" {
		more = []crumb{{"unmerge-player", "Undo the merge of " + p.Nickname}}
	}

	if p.ClaimedBy != "" {
		more = append(more, crumb{"end-claim", "End the claim of " + p.Nickname})
	}

	if !p.Used {
		more = append(more, crumb{"delete-player", "Delete " + p.Nickname})
	}

	for _, c := range more {
		if to := s.link(v, c.URL, f.ID); to != "" {
			f.More = append(f.More, crumb{to, c.Text})
		}
	}

	return nil
}

func (s *Pages) editPlayer(ctx context.Context, v *visit, in sent) (next, error) {
	if _, err := s.player(ctx, v, in.id); err != nil {
		return next{}, err
	}

	req := &player.UpdatePlayer{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, PlayerID: in.id}

	values := in.values("display")
	values["nickname"], values["avatar"] = in.Sent["nickname"], in.Sent["avatar"]

	if err := fill(&req.Body, values); err != nil {
		return next{}, err
	}

	_, err := s.players.UpdatePlayer(ctx, req)

	return next{}, err
}

func (s *Pages) mergePlayerForm(ctx context.Context, v *visit, f *form) error {
	row, err := s.player(ctx, v, f.ID)
	if err != nil {
		return err
	}

	everybody, err := s.everybody(ctx, v)
	if err != nil {
		return err
	}

	into := []option{{"", "choose"}}

	for _, p := range everybody {
		if p.PlayerID != f.ID && p.MergedInto == "" {
			into = append(into, option{p.PlayerID, p.Nickname})
		}
	}

	f.Title, f.Button = "Merge "+row.V().Nickname+" into another player", "Merge the players"
	f.Lines = []string{
		"For two entries of one person: all goals and games of " + row.V().Nickname + " count for the other. This can be undone.",
	}
	f.fields(field{Name: "intoPlayerId", Label: "The player who stays", Required: true, Options: into})

	return nil
}

func (s *Pages) mergePlayer(ctx context.Context, v *visit, in sent) (next, error) {
	if in.Sent["intoPlayerId"] == "" {
		return next{}, errInto
	}

	return s.merge(ctx, v, in)
}

var errInto = problem.New(problem.Unprocessable, "player_needed", "choose a player").In("body.intoPlayerId")

func (s *Pages) merge(ctx context.Context, v *visit, in sent) (next, error) {
	if _, err := s.player(ctx, v, in.id); err != nil {
		return next{}, err
	}

	req := &player.MergePlayer{User: v.user(), Key: in.Key, PlayerID: in.id}
	if err := fill(&req.Body, in.values("intoPlayerId")); err != nil {
		return next{}, err
	}

	_, err := s.players.MergePlayer(ctx, req)

	return next{}, err
}

func (s *Pages) unmergePlayerForm(ctx context.Context, v *visit, f *form) error {
	row, err := s.player(ctx, v, f.ID)
	f.Title, f.Button = "Undo the merge of "+row.V().Nickname+"?", "Undo the merge"

	return err
}

func (s *Pages) unmergePlayer(ctx context.Context, v *visit, in sent) (next, error) {
	in.Sent = Sent{}
	return s.merge(ctx, v, in)
}

func (s *Pages) endClaimForm(ctx context.Context, v *visit, f *form) error {
	row, err := s.player(ctx, v, f.ID)
	f.Title, f.Button = "End the claim of "+row.V().Nickname+"?", "End the claim"
	f.Lines = []string{"For a claim by the wrong person. Afterwards only members of the league can claim the player."}

	return err
}

func (s *Pages) endClaim(ctx context.Context, v *visit, in sent) (next, error) {
	if _, err := s.player(ctx, v, in.id); err != nil {
		return next{}, err
	}

	_, err := s.players.DropClaim(ctx, &player.DropClaim{User: v.user(), PlayerID: in.id})

	return next{}, err
}

func (s *Pages) deletePlayerForm(ctx context.Context, v *visit, f *form) error {
	row, err := s.player(ctx, v, f.ID)
	f.Title, f.Button, f.Rev = "Delete "+row.V().Nickname+"?", "Delete the player", rev(row.Rev)
	f.Lines = []string{"A player who was in a team of a game cannot be deleted."}

	return err
}

func (s *Pages) deletePlayer(ctx context.Context, v *visit, in sent) (next, error) {
	if _, err := s.player(ctx, v, in.id); err != nil {
		return next{}, gone(err)
	}

	_, err := s.players.DeletePlayer(ctx, &player.DeletePlayer{User: v.user(), IfMatch: in.IfMatch, PlayerID: in.id})

	return next{}, gone(err)
}

// gone returns no error for a player who is deleted already, by the same form that was sent before.
func gone(err error) error {
	if errors.Is(err, item.ErrNoPlayer) {
		return nil
	}

	return err
}

// rev returns a revision as a form has it.
func rev(n int) string { return strconv.Itoa(n) }
