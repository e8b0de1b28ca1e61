package player

import (
	"cmp"
	"context"
	_ "embed" // the templates
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Pages shows the pages to which join codes lead.
type Pages struct {
	Service
	templates *template.Template
	signer    web.Signer // of SubmitJoin only
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := Open(ctx, env)
	return &Pages{Service: *s, templates: web.Parse(markup)}, err
}

// OpenJoinPages is OpenPages with the tickets of who has joined.
func OpenJoinPages(ctx context.Context, env app.Env) (*Pages, error) {
	s, err := OpenPages(ctx, env)
	if err != nil {
		return nil, err
	}

	s.signer, err = web.NewSigner(ctx, env)

	return s, err
}

var errJoined = problem.New(problem.Conflict, "joined_already",
	"this form has been sent with another name: open the link again to add somebody else")

// ShowJoin is the request for the page of a join code.
type ShowJoin struct {
	session.Browser
	Code  string `path:"code" maxLength:"32" doc:"The code. Case, hyphens and spaces are ignored." example:"7Q2MZ0KD"`
	Child bool   `query:"child" doc:"Whether the visitor is the guardian of a player."`
}

// ShowJoinFunction asks who joins the game of a code.
func ShowJoinFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-join-page",
		Does:   "Asks in a browser who joins the game of a code.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "GET", Path: "/join/{code}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.FindCode, tables.CountGuess, tables.GetGame, tables.GetLeague,
			tables.GetSession, tables.MyPlayers, tables.ListPlayers, tables.GetGrant},
		Limits: []spec.Limit{MaxGuesses},
		Memory: 256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowJoin, errCode, game.ErrFinished)
}

// ShowJoin shows a form with a name and a picture. A visitor who is signed in and has a player in the
// league joins as that player, and one who has none may also choose a player whom nobody has claimed:
// that reads all players of the league, at most MaxPlayers. One who comes for a child chooses the child
// among them, in a form of its own. Errors: invalid_or_expired_code,
// too_many_codes, game_finished.
func (s *Pages) ShowJoin(ctx context.Context, in *ShowJoin) (*web.Form, error) {
	key, _ := session.New()
	return s.form(ctx, in.Browser, in.Code, JoinForm{Key: key}, in.Child, "")
}

// JoinForm is what the form of who joins has.
type JoinForm struct {
	Key      string `json:"key" minLength:"1" maxLength:"64" pattern:"^[!-~]+$" patternDescription:"visible ASCII characters" doc:"What tells the form from another: a form that is sent again adds nobody else." example:"kXJ3gq0w6m2Yd8Jr1vQ4"`
	Nickname string `json:"nickname,omitempty" maxLength:"256" doc:"The name of a new player." example:"Foxy"`
	Avatar   string `json:"avatar,omitempty" maxLength:"16" doc:"One emoji, of a new player." example:"🦊"`
	PlayerID string `json:"player,omitempty" maxLength:"26" doc:"The id of the player whom the caller claims." example:"01JX0000000000000000000001"`
	Child    string `json:"child,omitempty" maxLength:"26" doc:"The id of the player whom the caller claims as a guardian. It does not join the game." example:"01JX0000000000000000000001"`
	Leave    string `json:"leave,omitempty" maxLength:"512" doc:"The ticket of who has joined, to leave again." example:"kXJ3gq0w6m2Yd8Jr1vQ4"`
}

// avatar is an emoji with its name.
type avatar struct{ Emoji, Name string }

var avatars = []avatar{
	{"🦊", "fox"}, {"🐻", "bear"}, {"🐺", "wolf"}, {"🦁", "lion"}, {"🐯", "tiger"}, {"🦅", "eagle"}, {"🦉", "owl"}, {"🐙", "octopus"},
	{"🦈", "shark"}, {"🐝", "bee"}, {"🐢", "tortoise"}, {"🦄", "unicorn"}, {"⚽", "ball"}, {"🧤", "gloves"}, {"🚀", "rocket"},
	{"🌟", "star"},
}

// form shows the form of a code, or that of a guardian, with what was sent before, and what is wrong with
// it, "" for nothing.
func (s *Pages) form(
	ctx context.Context, by session.Browser, typed string, sent JoinForm, child bool, wrong string,
) (*web.Form, error) {
	found, err := s.find(ctx, typed)
	if err != nil {
		return nil, err
	}

	userID, err := s.Who(ctx, by)
	if err != nil {
		return nil, err
	}

	if err := s.admit(ctx, found, userID); err != nil {
		return nil, err
	}

	g, err := s.coded(ctx, found)
	if err != nil {
		return nil, err
	}

	if item.Ended(g.Status) {
		return nil, game.ErrFinished
	}

	l, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(g.V().LeagueID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	x, err := item.Read[item.Session](ctx, s.DB, tables.GetSession, item.SessionKey(g.V().SessionID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	data := map[string]any{
		"League": l.V().Name, "Date": web.DayOf(x.V().Date), "Wrong": wrong, "Avatars": avatars,
		"Key": sent.Key, "Nickname": sent.Nickname, "Avatar": sent.Avatar,
	}

	if userID == "" {
		data["SignIn"] = signin.To(s.Links, "/join/"+found.Code)
	} else if err := s.mine(ctx, userID, l.V().ID, child, data); err != nil {
		return nil, err
	}

	status := http.StatusOK
	if wrong != "" {
		status = http.StatusUnprocessableEntity
	}

	return s.Links.Form(s.templates, "join", status, web.Head{Title: "Join the game", About: "Of three-team football."}, data), nil
}

// mine adds the player of a user in a league to the data of a form, or the players whom the user can
// claim by the code: a guardian, too, who has a player.
func (s *Pages) mine(ctx context.Context, userID, leagueID string, child bool, data map[string]any) error {
	_, counts, err := Claimed(ctx, s.DB, userID, leagueID)
	if err != nil {
		return err
	}

	data["Mine"], data["Child"], data["Guardian"] = counts.Nickname, child, !child
	if counts.ID != "" && !child {
		return nil
	}

	rows, err := item.List[item.Player](ctx, s.DB, tables.ListPlayers, item.LeagueKey(leagueID), item.Players)
	if err != nil {
		return err
	}

	free := slices.DeleteFunc(item.Values(rows), func(p item.Player) bool {
		return p.ClaimedBy != "" || p.MergedInto != "" || p.Guarded || p.Display == item.NoName
	})
	for i, p := range free {
		free[i].Nickname, _ = p.Display.PublicName(p.Nickname, "")
	}

	slices.SortFunc(free, func(a, b item.Player) int {
		return cmp.Or(cmp.Compare(a.Nickname, b.Nickname), cmp.Compare(a.ID, b.ID))
	})

	data["Players"] = free

	return nil
}

// SubmitJoin is the form of who joins.
type SubmitJoin struct {
	session.Browser
	Code string   `path:"code" maxLength:"32" doc:"The code. Case, hyphens and spaces are ignored." example:"7Q2MZ0KD"`
	Body JoinForm `contentType:"application/x-www-form-urlencoded"`
}

// SubmitJoinFunction adds the sender of a form to the pool of a game.
func SubmitJoinFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-join",
		Does:   "Puts who sends a form with a code into the pool of a game.",
		IfDown: "Players cannot join a game by themselves.",
		On:     spec.Route{Method: "POST", Path: "/join/{code}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.FindCode, tables.CountGuess, tables.GetGame, tables.GetLeague,
			tables.GetSession, tables.GetSeason, tables.GetGrant, tables.GetPlayer, tables.SavePlayer, tables.ListPlayers, tables.MyPlayers,
			tables.CountClaims, tables.CountWrongClaim, tables.CountJoins, tables.JoinPool, tables.LeavePool,
			tables.ListPool, tables.ListRoster, account.CheckDeleted},
		Secrets: []string{web.LinkKeys},
		Limits:  []spec.Limit{game.MaxPlayers, MaxPlayers, MaxJoins, MaxCallerJoins, MaxGuesses, MaxClaims, MaxWrongClaims},
		Memory:  256, Timeout: 10 * time.Second,
	}, OpenJoinPages, (*Pages).SubmitJoin, errCode, errClaimed, errJoined, errName, web.ErrTicket, item.ErrAccess, item.ErrNoPlayer,
		account.ErrDeleted, game.ErrFinished)
}

// SubmitJoin is Service.Join for a form, after ClaimPlayer if the sender is signed in and has chosen a
// player. A guardian who has chosen a child only claims it. The form has a key, so that a second run adds
// nobody else; one after its sender has left shows the form with another key. Errors: those of Join and
// ClaimPlayer, joined_already, and of a form that leaves web.ErrTicket.
func (s *Pages) SubmitJoin(ctx context.Context, in *SubmitJoin) (*web.Form, error) {
	if in.Body.Leave != "" {
		return s.left(ctx, in.Body.Leave)
	}

	join := &Join{Browser: in.Browser, Key: idem.Key{IdempotencyKey: in.Body.Key}, Code: in.Code}

	var wrong string
	if join.Body.Avatar = in.Body.Avatar; in.Body.Avatar != "" && !emoji(in.Body.Avatar) {
		wrong = "The picture must be one emoji."
	}

	if in.Body.Nickname != "" {
		name, err := httpapi.DisplayName(in.Body.Nickname)
		if err != nil {
			wrong = "This name cannot be used: " + err.Error() + "."
		}

		join.Body.Nickname = name
	}

	if wrong != "" {
		return s.form(ctx, in.Browser, in.Code, in.Body, false, wrong)
	}

	if id := cmp.Or(in.Body.Child, in.Body.PlayerID); id != "" {
		userID, err := s.Who(ctx, in.Browser)
		if err != nil {
			return nil, err
		}

		if userID == "" {
			return signin.First(s.Links, s.templates, "Sign in to say who you are.", "/join/"+strings.ToUpper(in.Code)), nil
		}

		out, err := s.claimBy(account.Require(ctx, userID), userID, id, in)

		switch {
		case errors.Is(err, idem.ErrConflict):
			return nil, errJoined
		case err != nil:
			return nil, err
		case in.Body.Child != "":
			return s.guards(ctx, in.Code, out)
		}
	}

	out, err := s.Join(ctx, join)

	switch {
	case errors.Is(err, errName):
		return s.form(ctx, in.Browser, in.Code, in.Body, false, "A name is needed.")
	case errors.Is(err, idem.ErrConflict):
		return nil, errJoined
	case err != nil:
		return nil, err
	}

	there, err := s.isIn(ctx, out.Body.GameID, out.Body.PlayerID)
	if err != nil {
		return nil, err
	}

	if !there { // the stored answer is older than the end of the place
		in.Body.Key, _ = session.New()
		return s.form(ctx, in.Browser, in.Code, in.Body, false, "You have left this game. Join again if you come after all.")
	}

	return s.joined(ctx, out, in.Body.Key)
}

// claimBy claims the player of a form for a user who has its code, as a guardian if the player is a child.
func (s *Pages) claimBy(ctx context.Context, userID, playerID string, in *SubmitJoin) (*PlayerPage, error) {
	claim := &ClaimPlayer{User: auth.User{UserID: userID}, Key: idem.Key{IdempotencyKey: in.Body.Key}, PlayerID: playerID}

	body := filled(&claim.Body)
	if body.Code = in.Code; in.Body.Child != "" {
		body.Relation = guardian
	}

	return s.ClaimPlayer(ctx, claim)
}

// guards shows a guardian what follows, and where to answer for the player.
func (s *Pages) guards(ctx context.Context, typed string, of *PlayerPage) (*web.Form, error) {
	found, err := s.find(ctx, typed)
	if err != nil {
		return nil, err
	}

	g, err := s.coded(ctx, found)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "text", http.StatusOK, web.Head{Title: "You are a guardian", About: "You answer for the player."},
		map[string]any{
			"Lines": []string{
				"You answer for " + of.Body.Nickname + ", and get the mails about the games.",
				"The player is not in the game yet: say so on the next page, or to the scorekeeper.",
			},
			"To": s.Links.To("sessions", g.V().SessionID, "me"), "ToText": "Say who comes",
		}), nil
}

// filled makes the value to which a pointer leads.
func filled[T any](to **T) *T {
	*to = new(T)
	return *to
}

// joined shows who has joined, with a button to leave again.
func (s *Pages) joined(ctx context.Context, out *Joined, key string) (*web.Form, error) {
	g, err := item.Read[item.Game](ctx, s.DB, tables.GetGame, item.GameKey(out.Body.GameID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	l, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(g.V().LeagueID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	x, err := item.Read[item.Season](ctx, s.DB, tables.GetSeason, item.SeasonKey(g.V().SeasonID), item.Metadata, errCode)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "joined", http.StatusOK, web.Head{Title: "You are in", About: "The scorekeeper sees you."},
		map[string]any{
			"Key": key, "Leave": s.ticket(out.Body.GameID, out.Body.PlayerID),
			"Lines": []string{"You play as " + out.Body.Nickname + ". The scorekeeper sees you, and makes the teams."},
			"To":    s.Links.League(*l.V(), x.V().Slug, g.V().Slug), "ToText": "Open the game",
		}), nil
}
