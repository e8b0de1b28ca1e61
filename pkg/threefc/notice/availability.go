package notice

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

var errNoPlayer = problem.New(problem.Conflict, "player_needed", "claim your player in this league first")

// Service is the service of availability and of preferences.
type Service struct{ signin.Base }

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env)}, nil
}

// Answer is the answer of a player to a session.
type Answer struct {
	_ struct{} `schema:"PlayerAvailability"`

	PlayerID string `json:"playerId" doc:"The id of the player."`
	Nickname string `json:"nickname" doc:"The name of the player."`
	Status   string `json:"status" enum:"in,out,maybe" doc:"Whether the player will play."`
}

// row is an answer as the table has it.
type row struct {
	PlayerID string `json:"playerId"`
	Claim    int    `json:"claim"` // the number of the claim by which it was given
	Status   string `json:"status"`
}

const answers = "AVAIL#"

// isOfEarlierDay reports whether an answer is from before the latest move of the session.
func isOfEarlierDay(a item.Row[row], x item.Session) bool { return a.UpdatedAt < x.Moved.At }

// answersOf returns the answers by the id of the player who counts. Of merged players the latest
// answer counts. An answer under a claim that has ended does not count.
func answersOf(rows []item.Row[row], players map[string]item.Player) map[string]string {
	slices.SortStableFunc(rows, func(a, b item.Row[row]) int { return cmp.Compare(a.UpdatedAt, b.UpdatedAt) })

	all := map[string]string{}

	for _, a := range item.Values(rows) {
		if p := players[a.PlayerID]; p.ClaimedBy != "" && p.Claims == a.Claim {
			all[item.Resolve(p.ID, players).ID] = a.Status
		}
	}

	return all
}

// PutAvailability is the request to answer whether the caller will play.
type PutAvailability struct {
	auth.User
	idem.Key
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		Status   string `json:"status" enum:"in,out,maybe" doc:"Whether the caller will play." example:"in"`
		PlayerID string `json:"playerId,omitempty" maxLength:"26" doc:"For whom a caller answers who has claimed several players of the league: by default for the caller's own." example:"01JX0000000000000000000001"`
	}
}

// AnswerPage is the answer with a player's answer.
type AnswerPage struct {
	Status int
	Body   Answer
}

// PutAvailabilityFunction stores whether the caller will play in a session.
func PutAvailabilityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-availability",
		Does:   "Stores whether the caller will play in a session.",
		IfDown: "Players cannot answer whether they will play.",
		On:     spec.Route{Method: "PUT", Path: "/v1/sessions/{sessionId}/availability", Auth: spec.Session},
		Uses: []spec.Access{tables.ResolveSession, tables.FindAnswer, tables.GetSession, tables.MyPlayers, tables.GetGrant,
			tables.GetLeague, tables.PutAvailability, account.CheckDeleted},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutAvailability, errNoPlayer, idem.ErrConflict, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// PutAvailability stores whether the player whom the caller has claimed in the league will play in
// a session, or one of several. For a merged player it stores it for the player who counts. A second run changes
// nothing. Errors: player_needed, stale.
func (s *Service) PutAvailability(ctx context.Context, in *PutAvailability) (*AnswerPage, error) {
	return idem.Once(ctx, s.Answers, PutAvailabilityFunction().Name, in.UserID, in,
		func(ctx context.Context, commit idem.Commit[AnswerPage]) (*AnswerPage, error) {
			return dynamo.RetryValue(ctx, item.Attempts, func() (*AnswerPage, error) {
				x, err := item.SessionRow.Read(ctx, s.DB, in.SessionID)
				if err != nil {
					return nil, err
				}

				if _, err := item.LeagueRow.Read(ctx, s.DB, x.V().LeagueID); err != nil { // it may be deleted
					return nil, err
				}

				mine, all, err := player.AllClaimed(ctx, s.DB, in.UserID, x.V().LeagueID)
				if err != nil {
					return nil, err
				}

				var p item.Player // without an id if there is none

				i := slices.IndexFunc(mine, func(p item.Player) bool { return in.Body.PlayerID == "" || p.ID == in.Body.PlayerID })
				if i >= 0 {
					p = mine[i]
				}

				counts := item.Resolve(p.ID, all)

				if p.ID == "" {
					return nil, cmp.Or(item.CheckStranger(ctx, s.DB, x.V().LeagueID, in.UserID, item.ErrScope), error(errNoPlayer))
				}

				out := &AnswerPage{http.StatusOK, Answer{PlayerID: counts.ID, Nickname: counts.Nickname, Status: in.Body.Status}}

				return out, commit(ctx, tables.PutAvailability, out, answered(x, p, in.Body.Status, s.Now())...)
			})
		})
}

// answered returns the writes of a player's answer to a session. The session changes with each answer:
// one that is deleted meanwhile refuses the answer, and its deletion reads the answers again.
func answered(x item.Row[item.Session], p item.Player, status string, now time.Time) []dynamo.Write {
	x, there := x.Save(now)

	return []dynamo.Write{dynamo.PutWrite(item.New(x.PK, answers+p.ID, "Availability", row{p.ID, p.Claims, status}, now)), there,
		x.Mirror(item.SeasonKey(x.V().SeasonID), x.PK)}
}

// ListAvailability is the request for who will play.
type ListAvailability struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// AnswerList is the answer with who will play.
type AnswerList struct {
	Body struct {
		Players []Answer `json:"players" doc:"Who is in, then who may be, then who is out, in order of their names."`
	}
}

// ListAvailabilityFunction returns who will play in a session.
func ListAvailabilityFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/list-availability",
		Does:   "Returns who will play in a session.",
		IfDown: "Nobody sees who will play.",
		On:     spec.Route{Method: "GET", Path: "/v1/sessions/{sessionId}/availability", Auth: spec.Session},
		Uses:   league.Reads(tables.GetSession, tables.GetLeague, tables.MyPlayers, tables.ListAvailability),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).ListAvailability, item.ErrAccess, item.ErrScope)
}

// ListAvailability returns who will play in a session, to members of the league and to
// players of it, who see the names that everybody sees.
func (s *Service) ListAvailability(ctx context.Context, in *ListAvailability) (*AnswerList, error) {
	x, err := item.SessionRow.Read(ctx, s.DB, in.SessionID)
	if err != nil {
		return nil, err
	}

	public := false // the caller sees what everybody sees of names

	if _, refused := item.Check(ctx, s.DB, x.V().LeagueID, in.UserID, item.Viewer); refused != nil {
		if _, err := item.LeagueRow.Read(ctx, s.DB, x.V().LeagueID); err != nil { // it may be deleted
			return nil, err
		}

		p, _, err := player.Claimed(ctx, s.DB, in.UserID, x.V().LeagueID)
		if err != nil || p.ID == "" || problem.Of(refused) != problem.Denied {
			return nil, cmp.Or(err, item.Conceal(ctx, s.DB, x.V().LeagueID, refused, item.ErrScope))
		}

		public = true
	}

	rows, err := item.List[row](ctx, s.DB, tables.ListAvailability, x.PK, answers)
	if err != nil {
		return nil, err
	}

	var ids []string
	for _, a := range item.Values(rows) {
		ids = append(ids, a.PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.DB, tables.ListAvailability, ids)
	if err != nil {
		return nil, err
	}

	names := players
	if public {
		names = item.PublicNames(players)
	}

	out := &AnswerList{}

	out.Body.Players = []Answer{}
	for id, status := range answersOf(rows, players) {
		out.Body.Players = append(out.Body.Players, Answer{PlayerID: id, Nickname: names[id].Nickname, Status: status})
	}

	order := []string{"in", "maybe", "out"}

	slices.SortFunc(out.Body.Players, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status)), cmp.Compare(a.Nickname, b.Nickname),
			cmp.Compare(a.PlayerID, b.PlayerID))
	})

	return out, nil
}

// Preferences are which mails a user gets.
type Preferences struct {
	Finished  bool `json:"finishedGames" doc:"A mail about each finished game in which the user has played."`
	Reminders bool `json:"reminders" doc:"A mail on the day before a session, unless the user has said whether to play, and when a session or a game moves."`
}

const preferences = "PREFERENCES"

// read returns the preferences of a user: all mails, if the user has chosen nothing.
func read(ctx context.Context, db dynamo.DB, userID string) (Preferences, error) {
	r, ok, err := dynamo.Get[item.Row[Preferences]](ctx, db, tables.GetPreferences, item.UserKey(userID), preferences)
	if !ok {
		return Preferences{true, true}, err
	}

	return *r.V(), err
}

// GetPreferences is the request for the caller's preferences.
type GetPreferences struct{ auth.User }

// PreferencesPage is the answer with preferences.
type PreferencesPage struct {
	Body Preferences
}

// GetPreferencesFunction returns which mails the caller gets.
func GetPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/get-preferences",
		Does:   "Returns which mails the caller gets.",
		IfDown: "Users do not see which mails they get.",
		On:     spec.Route{Method: "GET", Path: "/v1/me/preferences", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.GetPreferences},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetPreferences)
}

// GetPreferences returns which mails the caller gets.
func (s *Service) GetPreferences(ctx context.Context, in *GetPreferences) (*PreferencesPage, error) {
	p, err := read(ctx, s.DB, in.UserID)
	return &PreferencesPage{p}, err
}

// PutPreferences is the request to choose mails.
type PutPreferences struct {
	auth.User
	Body Preferences
}

// PutPreferencesFunction chooses which mails the caller gets.
func PutPreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-preferences",
		Does:   "Chooses which mails the caller gets.",
		IfDown: "Users cannot stop mails.",
		On:     spec.Route{Method: "PUT", Path: "/v1/me/preferences", Auth: spec.Session},
		Uses:   []spec.Access{tables.ResolveSession, tables.PutPreferences, account.CheckDeleted},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutPreferences)
}

// PutPreferences chooses which mails the caller gets.
func (s *Service) PutPreferences(ctx context.Context, in *PutPreferences) (*PreferencesPage, error) {
	return &PreferencesPage{in.Body}, s.choose(ctx, in.UserID, in.Body)
}

// choose stores which mails a user gets.
func (s *Service) choose(ctx context.Context, userID string, p Preferences) error {
	return dynamo.Put(ctx, s.DB, tables.PutPreferences, item.New(item.UserKey(userID), preferences, "Preferences", p, s.Now()))
}
