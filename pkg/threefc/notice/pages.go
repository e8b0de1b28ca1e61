package notice

import (
	"cmp"
	"context"
	_ "embed" // the templates
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

//go:embed pages.html
var markup string

// Pages shows the pages to which mails link. A visitor is who a ticket is for, or who is signed in.
type Pages struct {
	Service
	link      linker
	templates *template.Template
}

// OpenPages opens the service.
func OpenPages(ctx context.Context, env app.Env) (*Pages, error) {
	link, err := newLinker(ctx, env)
	return &Pages{Service{signin.NewBase(env)}, link, web.Parse(markup)}, err
}

// Visitor is part of a request: who opens the page.
type Visitor struct {
	session.Browser
	Ticket string `path:"ticket" maxLength:"512" doc:"The ticket of the link in a mail, or me for a caller who is signed in." example:"me"`
}

// signedIn is the ticket of a visitor who is signed in.
const signedIn = "me"

// ShowSession is the request for the page of a session.
type ShowSession struct {
	Visitor
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// ShowSessionFunction asks a player whether to play in a session.
func ShowSessionFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/show-session-page",
		Does:   "Asks a player in a browser whether to play in a session.",
		IfDown: "Players cannot answer a reminder.",
		On:     spec.Route{Method: "GET", Path: "/sessions/{sessionId}/{ticket}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.GetSession, tables.GetLeague, tables.GetPlayer, tables.MyPlayers,
			tables.GetGrant, tables.FindAvailability},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowSession, web.ErrTicket, errNoPlayer, item.ErrScope)
}

// ShowSession shows what the player has answered, and a form. Errors: web.ErrTicket, player_needed.
func (s *Pages) ShowSession(ctx context.Context, in *ShowSession) (*web.Form, error) {
	x, p, err := s.asked(ctx, in.Visitor, in.SessionID)
	if err != nil {
		return nil, err
	}

	if p.ID == "" {
		return signin.First(s.Links, s.templates, "Sign in to say whether you will play.", "/sessions/"+in.SessionID+"/"+signedIn), nil
	}

	status, err := s.answer(ctx, x, p)
	if err != nil {
		return nil, err
	}

	out, err := s.others(ctx, in.Visitor, x, p)
	if err != nil {
		return nil, err
	}

	return s.session(ctx, x, p, status, out...)
}

// other is the page on which a visitor answers for another player.
type other struct{ Nickname, URL string }

// others returns the other players of the league for whom a visitor who is signed in answers.
func (s *Pages) others(ctx context.Context, by Visitor, x item.Row[item.Session], p item.Player) (all []other, err error) {
	if by.Ticket != signedIn {
		return nil, nil
	}

	mine, _, err := player.AllClaimed(ctx, s.DB, p.ClaimedBy, x.V().LeagueID)

	for _, o := range mine {
		if o.ID != p.ID {
			all = append(all, other{o.Nickname, s.link.answer(*x.V(), o)})
		}
	}

	return all, err
}

// answer returns the answer of a player to a session, "" for none since the session moved.
func (s *Pages) answer(ctx context.Context, x item.Row[item.Session], p item.Player) (status string, err error) {
	r, _, err := dynamo.Get[item.Row[row]](ctx, s.DB, tables.FindAvailability, x.PK, answers+p.ID)
	if r.V().Claim != p.Claims || isOfEarlierDay(r, *x.V()) {
		return "", err
	}

	return r.V().Status, err
}

// asked returns a session, and the player of the visitor, without an id for a visitor who is not signed
// in: then the session was not read. To who is neither a member nor a player of a league that is for members
// it does not exist. A ticket of a claim that has ended is refused.
func (s *Pages) asked(ctx context.Context, by Visitor, sessionID string) (x item.Row[item.Session], p item.Player, err error) {
	userID := ""

	if by.Ticket == signedIn { // before the session is read: strangers do not learn whether it exists
		if userID, err = s.Who(ctx, by.Browser); err != nil || userID == "" {
			return x, p, err
		}
	}

	if x, err = item.SessionRow.Read(ctx, s.DB, sessionID); err != nil {
		return x, p, err
	}

	if _, err = item.LeagueRow.Read(ctx, s.DB, x.V().LeagueID); err != nil { // it may be deleted
		return x, p, err
	}

	if by.Ticket != signedIn {
		ids, err := s.link.signer.Read(toAnswer, by.Ticket, 3)
		if err != nil || ids[2] != sessionID {
			return x, p, web.ErrTicket
		}

		r, err := item.Read[item.Player](ctx, s.DB, tables.GetPlayer, item.PlayerKey(ids[0]), item.Profile, web.ErrTicket)
		if p = *r.V(); err == nil && (p.ClaimedBy == "" || strconv.Itoa(p.Claims) != ids[1]) {
			err = web.ErrTicket
		}

		return x, p, err
	}

	if p, _, err = player.Claimed(ctx, s.DB, userID, x.V().LeagueID); err == nil && p.ID == "" {
		err = cmp.Or(item.CheckStranger(ctx, s.DB, x.V().LeagueID, userID, item.ErrScope), error(errNoPlayer))
	}

	return x, p, err
}

// choice is a button.
type choice struct {
	Value, Text string
	Chosen      bool
}

// said are the answers in words.
var said = map[string]string{"in": "You are in.", "out": "You are out.", "maybe": "You may play."}

// session shows the page of a session to a player whose answer is status, "" for none, with the pages of others.
func (s *Pages) session(ctx context.Context, x item.Row[item.Session], p item.Player, status string, others ...other) (*web.Form, error) {
	l, err := item.Read[item.League](ctx, s.DB, tables.GetLeague, item.LeagueKey(x.V().LeagueID), item.Metadata, item.ErrScope)
	if err != nil {
		return nil, err
	}

	return s.Links.Form(s.templates, "session", http.StatusOK,
		web.Head{Title: "Will you play on " + web.DayOf(x.V().Date) + "?", About: "In, out or maybe."},
		map[string]any{
			"League":   league.Named(l.V().Name),
			"Nickname": p.Nickname,
			"Said":     said[status],
			"Others":   others,
			"Choices": []choice{
				{"in", "In", status == "in"}, {"maybe", "Maybe", status == "maybe"}, {"out", "Out", status == "out"},
			},
		}), nil
}

// SubmitAvailability is the form with a player's answer.
type SubmitAvailability struct {
	Visitor
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		Status string `json:"status" enum:"in,out,maybe" doc:"Whether the player will play." example:"in"`
	} `contentType:"application/x-www-form-urlencoded"`
}

// SubmitAvailabilityFunction stores whether a player will play in a session.
func SubmitAvailabilityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/submit-availability",
		Does:   "Stores whether a player will play in a session, from a form.",
		IfDown: "Players cannot answer a reminder.",
		On:     spec.Route{Method: "POST", Path: "/sessions/{sessionId}/{ticket}", Auth: spec.Browser, OthersCall: true},
		Uses: []spec.Access{tables.ResolveSession, tables.GetSession, tables.GetLeague, tables.GetPlayer, tables.MyPlayers,
			tables.GetGrant, tables.FindAvailability, tables.PutAvailability, account.CheckDeleted},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).SubmitAvailability, web.ErrTicket, errNoPlayer, item.ErrScope)
}

// SubmitAvailability stores the answer of the visitor's player, as Service.PutAvailability does. A second
// run changes nothing. Errors: web.ErrTicket, player_needed.
func (s *Pages) SubmitAvailability(ctx context.Context, in *SubmitAvailability) (*web.Form, error) {
	var p item.Player

	x, err := dynamo.RetryValue(ctx, item.Attempts, func() (x item.Row[item.Session], err error) {
		if x, p, err = s.asked(ctx, in.Visitor, in.SessionID); err != nil || p.ID == "" {
			return x, err
		}

		if status, err := s.answer(ctx, x, p); err != nil || status == in.Body.Status {
			return x, err
		}

		return x, dynamo.Transact(account.Require(ctx, p.ClaimedBy), s.DB, tables.PutAvailability,
			answered(x, p, in.Body.Status, s.Now())...)
	})
	if err != nil {
		return nil, err
	}

	if p.ID == "" {
		return signin.First(s.Links, s.templates, "Sign in to say whether you will play.", "/sessions/"+in.SessionID+"/"+signedIn), nil
	}

	return s.session(ctx, x, p, in.Body.Status)
}

// ShowPreferences is the request for the page of preferences.
type ShowPreferences struct{ Visitor }

// ShowPreferencesFunction shows which mails a user gets.
func ShowPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/show-preferences-page",
		Does:    "Shows in a browser which mails a user gets.",
		IfDown:  "Users cannot stop mails.",
		On:      spec.Route{Method: "GET", Path: "/preferences/{ticket}", Auth: spec.Browser, OthersCall: true},
		Uses:    []spec.Access{tables.ResolveSession, tables.GetPreferences},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).ShowPreferences, web.ErrTicket)
}

// ShowPreferences shows a form. Errors: web.ErrTicket.
func (s *Pages) ShowPreferences(ctx context.Context, in *ShowPreferences) (*web.Form, error) {
	userID, err := s.chooser(ctx, in.Visitor)
	if err != nil || userID == "" {
		return s.signInToChoose(), err
	}

	p, err := read(ctx, s.DB, userID)
	if err != nil {
		return nil, err
	}

	return s.preferences(p, ""), nil
}

// chooser returns the user of a visitor, "" for one who is not signed in.
func (s *Pages) chooser(ctx context.Context, by Visitor) (userID string, err error) {
	if by.Ticket == signedIn {
		return s.Who(ctx, by.Browser)
	}

	ids, err := s.link.signer.Read(toChoose, by.Ticket, 1)
	if err != nil {
		return "", err
	}

	return ids[0], nil
}

func (s *Pages) signInToChoose() *web.Form {
	return signin.First(s.Links, s.templates, "Sign in to choose which mails you get.", "/preferences/"+signedIn)
}

func (s *Pages) preferences(p Preferences, saved string) *web.Form {
	return s.Links.Form(s.templates, "preferences", http.StatusOK, web.Head{Title: "Which mails you get", About: "Mails of 3FC."},
		map[string]any{"Finished": p.Finished, "Reminders": p.Reminders, "Saved": saved})
}

// SubmitPreferences is the form that chooses mails. It is also what a mail program sends to unsubscribe
// (RFC 8058): a form without the boxes of the page ends all mails.
type SubmitPreferences struct {
	Visitor
	Body struct {
		Finished  string `json:"finishedGames,omitempty" enum:"on" doc:"A mail about each finished game in which the user has played."`
		Reminders string `json:"reminders,omitempty" enum:"on" doc:"A mail on the day before a session, and when a session or a game moves."`
		OneClick  string `json:"List-Unsubscribe,omitempty" enum:"One-Click" doc:"What a mail program sends."`
	} `contentType:"application/x-www-form-urlencoded"`
}

// SubmitPreferencesFunction chooses which mails a user gets.
func SubmitPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:    "threefc/submit-preferences",
		Does:    "Chooses which mails a user gets, from a form, or ends them for a mail program.",
		IfDown:  "Users cannot stop mails.",
		On:      spec.Route{Method: "POST", Path: "/preferences/{ticket}", Auth: spec.Browser, OthersCall: true},
		Uses:    []spec.Access{tables.ResolveSession, tables.PutPreferences, account.CheckDeleted},
		Secrets: []string{web.LinkKeys},
		Memory:  256, Timeout: 5 * time.Second,
	}, OpenPages, (*Pages).SubmitPreferences, web.ErrTicket)
}

// SubmitPreferences stores the choice of a user. A second run stores the same. A user who has deleted the
// account gets no mails: that is answered as done. Errors: web.ErrTicket.
func (s *Pages) SubmitPreferences(ctx context.Context, in *SubmitPreferences) (*web.Form, error) {
	userID, err := s.chooser(ctx, in.Visitor)
	if err != nil || userID == "" {
		return s.signInToChoose(), err
	}

	p := Preferences{Finished: in.Body.Finished != "", Reminders: in.Body.Reminders != ""}
	if err := s.choose(account.Require(ctx, userID), userID, p); err != nil && !errors.Is(err, account.ErrDeleted) {
		return nil, err
	}

	saved := "Saved."
	if p == (Preferences{}) {
		saved = "Saved: you get no more of these mails."
	}

	return s.preferences(p, saved), nil
}
