package notice

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
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

// Answer is what a player says of a session.
type Answer struct {
	PlayerID string `json:"playerId" doc:"The id of the player."`
	Nickname string `json:"nickname" doc:"The name of the player."`
	Status   string `json:"status" enum:"in,out,maybe" doc:"Whether the player will play."`
}

// row is an answer as the table has it.
type row struct {
	PlayerID string `json:"playerId"`
	Status   string `json:"status"`
}

const answers = "AVAIL#"

// PutAvailability is the request to say whether the caller will play.
type PutAvailability struct {
	auth.User
	idem.Key
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		Status string `json:"status" enum:"in,out,maybe" doc:"Whether the caller will play." example:"in"`
	}
}

// AnswerPage is the answer with what a player says.
type AnswerPage struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         Answer
}

// PutAvailability says whether the player whom the caller has claimed in the league will
// play in a session. A second run changes nothing. Errors: player_needed, stale.
func (s *Service) PutAvailability(ctx context.Context, in *PutAvailability) (*AnswerPage, error) {
	return idem.Once(ctx, s.Answers, PutAvailabilityFunction, in.UserID, in, func(ctx context.Context, commit idem.Commit[AnswerPage]) (*AnswerPage, error) {
		return item.Retry(ctx, func() (*AnswerPage, error) {
			x, err := item.Read[item.Session](ctx, s.DB, tables.GetSession, item.SessionKey(in.SessionID), item.Metadata, league.ErrScope)
			if err != nil {
				return nil, err
			}
			id, err := s.claimed(ctx, in.UserID, x.V().LeagueID)
			if err != nil {
				return nil, err
			}
			p, err := item.Read[item.Player](ctx, s.DB, tables.GetPlayer, item.PlayerKey(id), item.Profile, errNoPlayer)
			if err != nil {
				return nil, err
			}
			out := &AnswerPage{http.StatusOK, httpapi.NoStore, Answer{id, p.V().Nickname, in.Body.Status}}
			// The session changes with each answer: one that is deleted meanwhile refuses the answer,
			// and its deletion reads the answers again.
			_, there := x.Save(s.Now())
			return out, commit(ctx, tables.PutAvailability, out, dynamo.PutWrite(item.New(x.PK, answers+id, "Availability", row{id, in.Body.Status}, s.Now())), there)
		})
	})
}

// claimed returns the player whom a user has claimed in a league, or player_needed.
func (s *Service) claimed(ctx context.Context, userID, leagueID string) (string, error) {
	rows, err := item.List[item.Claim](ctx, s.DB, tables.MyPlayers, item.UserKey(userID), item.Players)
	if err != nil {
		return "", err
	}
	mine := item.Values(rows)
	i := slices.IndexFunc(mine, func(c item.Claim) bool { return c.LeagueID == leagueID })
	if i < 0 {
		return "", errNoPlayer
	}
	return mine[i].PlayerID, nil
}

// ListAvailability is the request for who will play.
type ListAvailability struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// AnswerList is the answer with who will play.
type AnswerList struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Players []Answer `json:"players" doc:"Who is in, then who may be, then who is out, in order of their names."`
	}
}

// ListAvailability returns who will play in a session, to members of the league and to
// players of it.
func (s *Service) ListAvailability(ctx context.Context, in *ListAvailability) (*AnswerList, error) {
	x, err := item.Read[item.Session](ctx, s.DB, tables.GetSession, item.SessionKey(in.SessionID), item.Metadata, league.ErrScope)
	if err != nil {
		return nil, err
	}
	if _, refused := league.Check(ctx, s.DB, x.V().LeagueID, in.UserID, item.Viewer); refused != nil {
		if _, err := s.claimed(ctx, in.UserID, x.V().LeagueID); err != nil || problem.Of(refused) != problem.Denied {
			return nil, refused
		}
	}
	rows, err := item.List[row](ctx, s.DB, tables.ListAvailability, x.PK, answers)
	if err != nil {
		return nil, err
	}
	var keys []dynamo.Item
	for _, a := range item.Values(rows) {
		keys = append(keys, item.Key(item.PlayerKey(a.PlayerID), item.Profile))
	}
	players, err := dynamo.GetAll[item.Row[item.Player]](ctx, s.DB, tables.ListAvailability, keys)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, p := range item.Values(players) {
		names[p.ID] = p.Nickname
	}
	out := &AnswerList{CacheControl: httpapi.NoStore}
	out.Body.Players = make([]Answer, len(rows))
	for i, a := range item.Values(rows) {
		out.Body.Players[i] = Answer{a.PlayerID, names[a.PlayerID], a.Status}
	}
	order := []string{"in", "maybe", "out"}
	slices.SortFunc(out.Body.Players, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status)), cmp.Compare(a.Nickname, b.Nickname), cmp.Compare(a.PlayerID, b.PlayerID))
	})
	return out, nil
}

// Preferences are which mails a user gets.
type Preferences struct {
	Finished  bool `json:"finishedGames" doc:"A mail about each finished game in which the user has played."`
	Reminders bool `json:"reminders" doc:"A mail on the day before a session, unless the user has said whether to play."`
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
	CacheControl string `header:"Cache-Control"`
	Body         Preferences
}

// GetPreferences returns which mails the caller gets.
func (s *Service) GetPreferences(ctx context.Context, in *GetPreferences) (*PreferencesPage, error) {
	p, err := read(ctx, s.DB, in.UserID)
	return &PreferencesPage{httpapi.NoStore, p}, err
}

// PutPreferences is the request to choose mails.
type PutPreferences struct {
	auth.User
	Body Preferences
}

// PutPreferences chooses which mails the caller gets.
func (s *Service) PutPreferences(ctx context.Context, in *PutPreferences) (*PreferencesPage, error) {
	err := dynamo.Put(ctx, s.DB, tables.PutPreferences, item.New(item.UserKey(in.UserID), preferences, "Preferences", in.Body, s.Now()))
	return &PreferencesPage{httpapi.NoStore, in.Body}, err
}
