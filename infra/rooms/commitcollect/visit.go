package commitcollect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/commitcollect/browser"
	"matchday/infra/sim/strava"
)

// The visitor of the console, and the visitor's athlete at Strava.
const (
	visitor        = "me"
	visitorAthlete = 2026
)

// visit is the visitor's app, and the visitor's athlete.
type visit struct {
	*Host
	browser *browser.Browser // nil until the fleet has started
	phone   *browser.App
}

// prepare writes the model, and subscribes to Strava. A second run changes nothing.
func (v *visit) prepare(ctx context.Context) error {
	admin := func(method, path string, in any) error {
		return v.Call(ctx, fleet.Administrator, method, "/commitcollect/admin"+path, in, nil)
	}

	err := admin(http.MethodPut, "/models/"+model, map[string]any{"name": "Tricycle", "year": 2026, "partsTotal": len(parts)})
	if refusal, ok := errors.AsType[*fleet.Refusal](err); ok && refusal.Status == http.StatusConflict {
		err = nil // it is active since an earlier run
	} else if err == nil {
		for i, p := range parts {
			file := strings.ReplaceAll(strings.ToLower(p.Name), " ", "-")
			err = errors.Join(err, admin(http.MethodPut, fmt.Sprintf("/models/%s/parts/%d", model, i+1), map[string]any{
				"partName": p.Name, "meshFile": model + "/" + file + ".glb", "attachPoint": file, "displayOrder": i + 1, "drawing": p.Drawing,
			}))
		}

		err = errors.Join(err, admin(http.MethodPost, "/models/"+model+"/activate", nil))
	}

	if err != nil {
		return err
	}

	if err := admin(http.MethodPost, "/strava/subscription", nil); err != nil {
		return err
	}

	v.browser, v.phone = browser.New(v.URL+"/commitcollect"), v.newPhone()

	return nil
}

// enter signs the visitor in, connects the visitor's athlete, and starts the first milestone.
func (v *visit) enter(ctx context.Context) error {
	if err := v.browser.SignIn(ctx, visitor); err != nil {
		return err
	}

	if _, err := v.connect(ctx); err != nil {
		return err
	}

	all, err := v.milestones(ctx)
	if err == nil && len(all) == 0 {
		_, err = v.start(ctx, goal{"RUN", 42_195})
	}

	return err
}

// demo is what `make run` plays: nothing but the preparation.
func (v *visit) demo(o rooms.Options) (rooms.Demo, error) {
	return rooms.Demo{Prepare: func(ctx context.Context) error {
		if err := v.prepare(ctx); err != nil {
			return err
		}

		err := v.enter(ctx)
		if _, ok := errors.AsType[*fleet.Refusal](err); ok {
			o.Say("CommitCollect does not let the visitor in; if %q has deleted the account, `make clean` begins anew: %v", visitor, err)
			return nil
		}

		if err == nil {
			o.Say("an athlete has connected Strava to CommitCollect")
		}

		return err
	}}, nil
}

// app calls the API as the visitor, who signs in again after 30 days.
func (v *visit) app(ctx context.Context, method, path string, in, out any) error {
	err := v.browser.Call(ctx, method, path, in, out)
	if refusal, ok := errors.AsType[*fleet.Refusal](err); ok && refusal.Status == http.StatusUnauthorized {
		if err := v.browser.SignIn(ctx, visitor); err != nil {
			return err
		}

		err = v.browser.Call(ctx, method, path, in, out)
	}

	return err
}

func (v *visit) connect(ctx context.Context) (string, error) {
	if err := v.app(ctx, http.MethodGet, "/session", nil, nil); err != nil {
		return "", err
	}

	return "Strava is connected.", v.browser.Connect(ctx, visitorAthlete, nil)
}

func (v *visit) disconnect(ctx context.Context) (string, error) {
	return "Strava is disconnected. The workouts are deleted in a minute; parts stay.", v.app(ctx, http.MethodDelete,
		"/strava/connection", nil, nil)
}

// goal is the body of the button that starts a milestone.
type goal struct {
	Sport string
	Total int64 // m
}

func (v *visit) start(ctx context.Context, g goal) (string, error) {
	return "A milestone of " + kilometres(g.Total) + " has begun.", v.app(ctx, http.MethodPost, "/milestones", v.body(g), nil)
}

// set is the button that pauses and resumes a milestone.
func (v *visit) set(ctx context.Context, in struct{ Milestone, Status string }) (string, error) {
	if err := isID(in.Milestone); err != nil {
		return "", err
	}

	said := map[string]string{
		"PAUSED": "The milestone is paused: it mints nothing.",
		"ACTIVE": "The milestone goes on: workouts of the pause count.",
	}[in.Status]

	return said, v.app(ctx, http.MethodPatch, "/milestones/"+in.Milestone, map[string]string{"status": in.Status}, nil)
}

// outing is the body of the button by which the visitor's athlete goes out.
type outing struct {
	Sport string // of Strava
	Km    float64
	Twice bool // it is recorded by two devices
	Early bool // it began before the milestone
}

// goOut has the athlete bring an activity to Strava, which has just ended.
func (v *visit) goOut(_ context.Context, o outing) (string, error) {
	if o.Sport == "" || len(o.Sport) > 40 || o.Km <= 0 || o.Km > 500 {
		return "", errors.New("an activity has a sport and up to 500 km")
	}

	a := strava.Activity{
		Name:          map[bool]string{false: "Along the canal", true: "Before the milestone"}[o.Early],
		SportType:     o.Sport,
		StartDate:     v.Clock.Now().UTC().Truncate(time.Second).Add(-20 * time.Minute),
		Distance:      1000 * o.Km,
		ElevationGain: 8 * o.Km,
		MovingTime:    1200,
		ElapsedTime:   1200,
		DeviceName:    "Phone",
	}
	if o.Early {
		a.StartDate = a.StartDate.Add(-2 * time.Hour)
	}

	v.Strava.Upload(visitorAthlete, a)

	said := "It is at Strava: a webhook follows within ten seconds."

	if o.Twice {
		a.Name, a.DeviceName, a.Distance, a.StartDate = "Along the canal, by the watch", "Watch", a.Distance*0.98, a.StartDate.Add(20*time.Second)
		v.Strava.Upload(visitorAthlete, a)

		said = "Both recordings are at Strava: webhooks follow within ten seconds."
	}

	return said, nil
}

// delete is the button that deletes an activity at Strava.
func (v *visit) delete(_ context.Context, in struct{ Activity string }) (string, error) {
	id, err := strconv.ParseInt(in.Activity, 10, 64)
	if err != nil {
		return "", isID("")
	}

	v.Strava.Delete(id)

	return "It is deleted at Strava: a webhook follows. What it has earned stays.", nil
}

// share is the button that gives the milestone a public picture.
func (v *visit) share(ctx context.Context, in struct{ Milestone string }) (string, error) {
	if err := isID(in.Milestone); err != nil {
		return "", err
	}

	return "Anybody with the link sees the picture.", v.app(ctx, http.MethodPut, "/milestones/"+in.Milestone+"/share", nil, nil)
}

// unshare is the button that ends the picture.
func (v *visit) unshare(ctx context.Context, in struct{ Milestone string }) (string, error) {
	if err := isID(in.Milestone); err != nil {
		return "", err
	}

	return "The link to the picture leads nowhere now.", v.app(ctx, http.MethodDelete, "/milestones/"+in.Milestone+"/share", nil, nil)
}

// why is the button that asks why an activity counts, or does not.
func (v *visit) why(ctx context.Context, in struct{ Activity, Milestone string }) (string, error) {
	if err := isID(in.Activity, in.Milestone); err != nil {
		return "", err
	}

	var out struct {
		Counts bool
		Value  int64
		Texts  []string
	}
	if err := v.app(ctx, http.MethodGet, "/activities/"+in.Activity+"/eligibility?milestoneId="+in.Milestone, nil, &out); err != nil {
		return "", err
	}

	if out.Counts {
		return "It counts: " + kilometres(out.Value) + ".", nil
	}

	return "It does not count. " + strings.Join(out.Texts, " "), nil
}

// screen is what the page shows: the answers of the API.
type screen struct {
	Viewer    json.RawMessage `json:"viewer"`
	Milestone json.RawMessage `json:"milestone,omitempty"` // the latest, with its parts
	Workouts  json.RawMessage `json:"workouts,omitempty"`
	Trail     json.RawMessage `json:"trail,omitempty"`
	Phone     phoneScreen     `json:"phone"`
	Parts     []part          `json:"parts"` // by their index from 0
}

type listed struct {
	MilestoneID string `json:"milestoneId"`
	Start       int64  `json:"periodStartAtUtc"`
}

func (v *visit) milestones(ctx context.Context) ([]listed, error) {
	var out struct{ Milestones []listed }

	err := v.app(ctx, http.MethodGet, "/milestones", nil, &out)

	return out.Milestones, err
}

// look reads the visitor's app.
func (v *visit) look(ctx context.Context) (s screen, err error) {
	s.Parts = parts
	if err := v.browser.Call(ctx, http.MethodGet, "/viewer", nil, &s.Viewer); err != nil {
		return s, err
	}

	var viewer struct{ SignedIn bool }
	if err := json.Unmarshal(s.Viewer, &viewer); err != nil || !viewer.SignedIn {
		return s, err
	}

	all, err := v.milestones(ctx)
	if err != nil {
		return s, err
	}

	latest := listed{}
	for _, m := range all {
		if m.Start > latest.Start { // of several the newest, which is listed first
			latest = m
		}
	}

	s.Phone = v.lookAtPhone(ctx, latest.MilestoneID)

	if latest.MilestoneID != "" {
		if err := v.app(ctx, http.MethodGet, "/milestones/"+latest.MilestoneID, nil, &s.Milestone); err != nil {
			return s, err
		}
	}

	var workouts struct{ Workouts json.RawMessage }
	if err := v.app(ctx, http.MethodGet, "/activities/recent?limit=8", nil, &workouts); err != nil {
		return s, err
	}

	var trail struct{ Entries json.RawMessage }

	err = v.app(ctx, http.MethodGet, "/audit?limit=10", nil, &trail)
	s.Workouts, s.Trail = workouts.Workouts, trail.Entries

	return s, err
}
