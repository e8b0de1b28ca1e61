package score

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/tables"
)

// Limits of PINs.
var (
	// MaxPINs is enough for the phones behind one address that mistype a PIN.
	MaxPINs = spec.Limit{Name: "wrong PINs per address", Max: 20, Per: time.Hour, Code: "too_many_pins"}
	// MaxSessionPINs bounds what many addresses can try together: with it one of 2⁴⁰ PINs is not found
	// in the days of a session.
	MaxSessionPINs = spec.Limit{Name: "wrong PINs per session", Max: 200, Per: time.Hour, Code: "too_many_pins_of_session"}
	// MaxGuests bounds the rows that the bearer of a PIN can write.
	MaxGuests = spec.Limit{Name: "phones that score by a PIN", Max: 50, Code: "too_many_guests"}
)

// Errors of PINs.
var (
	errPIN  = problem.New(problem.Denied, "invalid_or_expired_pin", "this PIN is wrong, was revoked, or has expired")
	errOver = problem.New(problem.Conflict, "session_over", "the session is over")
)

// endOf returns when the PIN of a session ends: when the day after it ends in UTC, so that a game which lasts
// until after midnight is scored in every time zone.
func endOf(date string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, date)
	return day.AddDate(0, 0, 2), err
}

// Service is the service of PINs.
type Service struct{ signin.Base }

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	return &Service{signin.NewBase(env)}, nil
}

// PutPIN is the request for the PIN of a session.
type PutPIN struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// PINPage is the answer with a PIN.
type PINPage struct {
	Body struct {
		PIN       string    `json:"pin" doc:"The PIN, of 8 characters." example:"7Q2MZ0KD"`
		URL       string    `json:"url" doc:"The scoring link: the scorekeeper's page with the PIN filled in. The PIN is in the fragment, which browsers do not send."`
		ExpiresAt time.Time `json:"expiresAt" doc:"When the PIN ends: the day after the session has ended."`
	}
}

// PutPINFunction makes the PIN of a session.
func PutPINFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/put-scoring-pin",
		Does:   "Makes the PIN by which guests score the games of a session, or returns the one that there is.",
		IfDown: "Only members of the league can score.",
		On:     spec.Route{Method: "PUT", Path: "/v1/sessions/{sessionId}/scoring-pin", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSession, tables.GetPIN, tables.SavePIN),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).PutPIN, errOver, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// PutPIN makes a PIN. A second run returns the same. Errors: session_over.
func (s *Service) PutPIN(ctx context.Context, in *PutPIN) (*PINPage, error) {
	return dynamo.RetryValue(ctx, item.Attempts, func() (*PINPage, error) {
		of, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Admin)
		if err != nil {
			return nil, err
		}

		now := s.Now()

		until, err := endOf(of.V().Date)
		if err != nil {
			return nil, err
		}

		if !now.Before(until) {
			return nil, errOver
		}

		row, found, err := dynamo.Get[item.Row[item.PIN]](ctx, s.DB, tables.GetPIN, of.PK, item.PINKey)
		if err != nil || found {
			return s.page(of.V().ID, row), err
		}

		row = item.New(of.PK, item.PINKey, "PIN", item.PIN{ID: code.NewID(now), Code: code.New()}, now)
		row.TTL = until.Unix()

		return s.page(of.V().ID, row), dynamo.Transact(ctx, s.DB, tables.SavePIN, row.Create())
	})
}

// ReadPIN returns the PIN of a session, nil if there is none. Errors: admin_required.
func (s *Service) ReadPIN(ctx context.Context, in *PutPIN) (*PINPage, error) {
	of, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Admin)
	if err != nil {
		return nil, err
	}

	row, found, err := dynamo.Get[item.Row[item.PIN]](ctx, s.DB, tables.GetPIN, of.PK, item.PINKey)
	if err != nil || !found || s.Now().Unix() >= row.TTL { // the table may keep one that has ended for days
		return nil, err
	}

	return s.page(of.V().ID, row), nil
}

func (s *Service) page(sessionID string, row item.Row[item.PIN]) *PINPage {
	out := &PINPage{}
	out.Body.PIN, out.Body.ExpiresAt = row.V().Code, time.Unix(row.TTL, 0).UTC()
	out.Body.URL = s.Links.To("score", sessionID) + "#" + row.V().Code

	return out
}

// RevokePIN is the request to end the PIN of a session.
type RevokePIN struct {
	auth.User
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
}

// RevokePINFunction ends the PIN of a session.
func RevokePINFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/revoke-scoring-pin",
		Does:   "Ends the PIN of a session, and the rights of all who have entered it.",
		IfDown: "A PIN that is in wrong hands stays valid until the session is over.",
		On:     spec.Route{Method: "DELETE", Path: "/v1/sessions/{sessionId}/scoring-pin", Auth: spec.Session},
		Uses:   league.Writes(tables.GetSession, tables.DropPIN),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).RevokePIN, item.ErrAccess, item.ErrAdmin, item.ErrScope)
}

// RevokePIN ends the PIN of a session. What guests have recorded stays. A second run ends one that was made
// since.
func (s *Service) RevokePIN(ctx context.Context, in *RevokePIN) (*httpapi.Removed, error) {
	of, _, err := item.SessionRow.ReadAs(ctx, s.DB, in.SessionID, in.UserID, item.Admin)
	if err != nil {
		return nil, err
	}

	return httpapi.NewRemoved(), dynamo.Transact(ctx, s.DB, tables.DropPIN, dynamo.DeleteWrite(item.Key(of.PK, item.PINKey)))
}

// EnterPIN is the request of a phone whose user has a PIN.
type EnterPIN struct {
	session.Browser
	SessionID string `path:"sessionId" maxLength:"26" doc:"The id of the session."`
	Body      struct {
		PIN string `json:"pin" minLength:"1" maxLength:"32" doc:"The PIN. Case, hyphens and spaces are ignored." example:"7Q2MZ0KD"`
	}
}

// Entered is the answer that the caller may score.
type Entered struct {
	Status    int
	SetCookie string `header:"Set-Cookie" doc:"A cookie by which requests with the header Scorer: pin score the games of the session."`
	Body      struct {
		ExpiresAt time.Time `json:"expiresAt" doc:"When the right ends, unless the PIN is revoked before."`
	}
}

// EnterPINFunction lets a caller who has the PIN of a session score its games.
func EnterPINFunction() app.Function {
	return app.API(spec.Function{
		Name:   "threefc/enter-scoring-pin",
		Does:   "Lets a caller who has the PIN of a session score its games.",
		IfDown: "Only members of the league can begin to score.",
		On:     spec.Route{Method: "POST", Path: "/v1/sessions/{sessionId}/scorers", Auth: spec.Browser, Answers: []int{http.StatusCreated}},
		Uses:   []spec.Access{tables.GetPIN, tables.EnterPIN, tables.CountPIN},
		Limits: []spec.Limit{MaxPINs, MaxSessionPINs, MaxGuests},
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).EnterPIN, errPIN)
}

// EnterPIN lets the caller score. A second run lets the browser score by another cookie. A wrong PIN is
// counted for the address of the caller and for the session. Once the count of either is reached, a right one
// is refused, too; concurrent requests may try some more. Errors: invalid_or_expired_pin, too_many_pins,
// too_many_pins_of_session, too_many_guests.
func (s *Service) EnterPIN(ctx context.Context, in *EnterPIN) (*Entered, error) {
	pk, typed, now := item.SessionKey(in.SessionID), code.Read(in.Body.PIN), s.Now()
	asker := item.Counter{PK: item.PINGuessKey(signin.CallerOf(ctx)), SK: item.Metadata, Type: "WrongPINs", Limit: MaxPINs}
	asked := item.Counter{PK: pk, SK: item.PINGuesses, Type: "WrongPINs", Limit: MaxSessionPINs}

	return dynamo.RetryValue(ctx, item.Attempts, func() (*Entered, error) {
		ofAsker, err := asker.Take(ctx, s.DB, tables.CountPIN, now)
		if err != nil {
			return nil, err
		}

		ofSession, err := asked.Take(ctx, s.DB, tables.CountPIN, now)
		if err != nil {
			return nil, err
		}

		row, found, err := dynamo.Get[item.Row[item.PIN]](ctx, s.DB, tables.GetPIN, pk, item.PINKey)
		wrong := []dynamo.Write{ofAsker}

		switch {
		case err != nil:
			return nil, err
		case !found: // nothing is stored for sessions that may not exist
		case subtle.ConstantTimeCompare([]byte(typed), []byte(row.V().Code)) != 1:
			wrong = append(wrong, ofSession)
		case now.Unix() < row.TTL:
			return s.enter(ctx, in.SessionID, row, now)
		}

		if err := dynamo.Transact(ctx, s.DB, tables.CountPIN, wrong...); err != nil {
			return nil, err
		}

		return nil, errPIN
	})
}

// enter signs a guest in by a PIN.
func (s *Service) enter(ctx context.Context, sessionID string, row item.Row[item.PIN], now time.Time) (*Entered, error) {
	if row.V().Guests++; row.V().Guests > MaxGuests.Max {
		return nil, problem.Beyond(MaxGuests)
	}

	until := time.Unix(row.TTL, 0).UTC()
	token, _ := session.New()
	guest, cookie := signin.NewGuest(item.Guest{SessionID: sessionID, PIN: row.V().ID, ID: code.NewID(now)}, token, until, now)
	out := &Entered{Status: http.StatusCreated, SetCookie: cookie}
	out.Body.ExpiresAt = until

	_, counted := row.Save(now)

	return out, dynamo.Transact(ctx, s.DB, tables.EnterPIN, counted, guest)
}
