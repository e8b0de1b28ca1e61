// Package profile serves the profile of a user, with what the user has chosen, and the audit trail.
package profile

import (
	"context"
	"errors"
	"time"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Service is the service of profiles.
type Service struct {
	session.Sessions
	db    dynamo.DB
	queue queue.Sender
	now   func() time.Time
}

// Open opens the service.
func Open(_ context.Context, env app.Env) (*Service, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Service{signin.Sessions(env, db), db, queue.Open(env.AWS, env.Queues), env.Now}, nil
}

// GetViewer is the request for the user who opens the app.
type GetViewer struct{ session.Browser }

// Viewer is the answer with the user who opens the app.
type Viewer struct {
	Body struct {
		SignedIn bool    `json:"signedIn" doc:"Whether the browser has a session. If not, there is nothing else."`
		User     *User   `json:"user,omitempty" doc:"The user."`
		Role     string  `json:"role,omitempty" doc:"user"`
		Plan     string  `json:"plan,omitempty" doc:"free"`
		Strava   *Strava `json:"strava,omitempty" doc:"The connection to Strava."`
	}
}

// User is a user in an answer, with what the user has chosen.
type User struct {
	UserID       string       `json:"userId" doc:"The id of the user."`
	Email        string       `json:"email" doc:"The address of the account."`
	Units        string       `json:"units" enum:"km,mi" doc:"The unit in which the app displays distances."`
	Counts       tally.Choice `json:"counts" doc:"Which workouts count."`
	KeepWorkouts bool         `json:"keepWorkouts" doc:"Always false: workouts are deleted when the connection to Strava ends."`
}

// Strava is the connection to Strava in an answer.
type Strava struct {
	_ struct{} `schema:"StravaConnection"`

	Connected bool       `json:"connected" doc:"Whether Strava is connected."`
	Broken    bool       `json:"broken,omitempty" doc:"Whether the user must connect again."`
	AthleteID int64      `json:"athleteId,omitempty" doc:"The athlete's id at Strava."`
	ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"When the access token expires. It is renewed before."`
	Scope     string     `json:"scope,omitempty" doc:"What Strava may share, with commas."`
}

// GetViewerFunction returns the user who opens the app, signed in or not.
func GetViewerFunction() app.Function {
	return app.API(spec.Function{
		Name:   "commitcollect/get-viewer",
		Does:   "Returns what the app needs to know of who opens it, signed in or not.",
		IfDown: "The app does not open.",
		On:     spec.Route{Method: "GET", Path: "/viewer", Auth: spec.Browser},
		Uses:   signin.Caller(tables.GetConnection),
		Memory: 256, Timeout: 5 * time.Second,
	}, Open, (*Service).GetViewer, item.ErrNoUser, link.ErrNotConnected, session.ErrInvalid)
}

// GetViewer returns the user who opens the app. A browser without a valid session is not signed in, and neither
// is a native app without a valid token.
func (s *Service) GetViewer(ctx context.Context, in *GetViewer) (*Viewer, error) {
	out := &Viewer{}

	token, of := in.Credential(signin.Cookie), s.User
	if in.Bearer() != "" {
		of = s.App
	}

	if token == "" {
		return out, nil
	}

	userID, err := of(ctx, token)
	if errors.Is(err, session.ErrInvalid) || errors.Is(err, session.ErrToken) {
		return out, nil
	}

	if err != nil {
		return nil, err
	}

	u, err := item.ReadUser(ctx, s.db, userID)
	if errors.Is(err, item.ErrNoUser) {
		return out, nil
	}

	if err != nil {
		return nil, err
	}

	c, err := link.Read(ctx, s.db, userID)
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		return nil, err
	}

	b := &out.Body
	b.SignedIn, b.User, b.Role, b.Plan = true, view(u), u.Role, u.Plan

	b.Strava = &Strava{Connected: err == nil, Broken: c.Status == link.Broken, AthleteID: c.AthleteID, Scope: c.Scope}
	if err == nil {
		at := time.Unix(c.ExpiresAt, 0).UTC()
		b.Strava.ExpiresAt = &at
	}

	return out, nil
}

func view(u item.UserRow) *User {
	return &User{UserID: u.UserID, Email: u.Email, Units: u.Units, Counts: u.Counts}
}

// UpdatePreferences is the request to change what the caller has chosen.
type UpdatePreferences struct {
	auth.User
	Body struct {
		Units        string        `json:"units,omitempty" enum:"km,mi" doc:"The unit in which the app displays distances."`
		Counts       *tally.Choice `json:"counts,omitempty" doc:"Which workouts count."`
		KeepWorkouts *bool         `json:"keepWorkouts,omitempty" doc:"Has no effect: workouts are deleted when the connection to Strava ends."`
	}
}

// Page is the answer with a user.
type Page struct {
	Body User
}

// UpdatePreferencesFunction changes the preferences of the caller: units, and which workouts count.
func UpdatePreferencesFunction() app.Function {
	return app.API(spec.Function{
		Name:    "commitcollect/update-preferences",
		Does:    "Changes what the caller has chosen: units, and which workouts count.",
		IfDown:  "Preferences cannot be changed.",
		On:      spec.Route{Method: "PATCH", Path: "/preferences", Auth: spec.Session},
		Uses:    signin.Caller(tables.SaveProfile),
		Sends:   []spec.Queue{workout.ChangeQueue},
		Memory:  256,
		Timeout: 5 * time.Second,
	}, Open, (*Service).UpdatePreferences, item.ErrNoUser)
}

// UpdatePreferences changes the given preferences, and requests that the milestones are computed.
// Progress never falls: workouts that no longer count keep what they have reached. A second run changes
// nothing.
func (s *Service) UpdatePreferences(ctx context.Context, in *UpdatePreferences) (*Page, error) {
	u, err := item.ReadUser(ctx, s.db, in.UserID)
	if err != nil {
		return nil, err
	}

	var names []string
	if in.Body.Units != "" {
		u.Units, names = in.Body.Units, append(names, "units")
	}

	if in.Body.Counts != nil && *in.Body.Counts != u.Counts {
		// Because of the time, milestones count anew what they have carried forward, whatever becomes of the message.
		u.Counts, u.CountsAt, names = *in.Body.Counts, s.now().Unix(), append(names, "counts", "countsAtUtc")
	}

	if len(names) > 0 {
		key := dynamo.Key(tables.SaveProfile, u.PK, u.SK)
		if err := dynamo.Update(ctx, s.db, tables.SaveProfile, key, dynamo.Set(u, names...), dynamo.Exists[item.UserRow]("PK")); err != nil {
			return nil, dynamo.RefusedAs(err, item.ErrNoUser)
		}
	}

	if in.Body.Counts != nil {
		// Also if it is what was chosen: the request that chose it may have died before its message.
		if err := s.queue.SendFIFO(ctx, workout.ChangeQueue, in.UserID, workout.Changed{UserID: in.UserID}); err != nil {
			return nil, err
		}
	}

	return &Page{*view(u)}, nil
}
