// Package strava simulates Strava's API v3: authorization with scopes that a user may
// leave out, tokens that are replaced when they are renewed, activities, rate limits, and
// webhooks that come late, twice, in another order, or never. Its sources are
// developers.strava.com/docs and the API's swagger file.
//
// All decisions depend on the seed and on what they are about, so the same seed gives the
// same faults, whatever else happens.
package strava

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/guard"
)

// Faults are the probabilities, from 0 to 1, of what goes wrong.
type Faults struct {
	Seed        uint64
	Lost        float64 // a webhook is not sent
	Doubled     float64 // a webhook is sent twice
	Late        float64 // a webhook is sent up to an hour later, after others
	NotYet      float64 // a new activity is not found for a minute
	Unavailable float64 // a call of the API is answered with 503 or HTML
}

// Config configures a simulator.
type Config struct {
	Clock  *clock.Clock
	ID     string // of the application
	Secret string
	// HTTP sends webhooks; nil for http.DefaultTransport.
	HTTP   http.RoundTripper
	Faults Faults
	// Quarter and Day limit the reads of the API; 0 for Strava's defaults.
	Quarter, Day int
	// Athletes is how many athletes may be connected; 0 for any number.
	Athletes int
}

// The days from which Strava has an age of its programme, UTC. Before revocable, access ends at
// /oauth/deauthorize only. From headersOnly, a token counts in the header Authorization only, the API has no
// path /api/v3, and /oauth/deauthorize is gone. Between the two, all ways are open.
var (
	revocable   = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	headersOnly = time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
)

// What Strava's documents say.
const (
	accessTTL       = 6 * time.Hour
	keepToken       = time.Hour // a token that is valid for longer is not replaced
	codeTTL         = 10 * time.Minute
	defaultQuarter  = 100
	defaultDay      = 1000
	hookTimeout     = 2 * time.Second
	hookAttempts    = 3
	hookGap         = time.Minute
	defaultPageSize = 30
	maxPageSize     = 200
)

// Activity is an activity, as the API shows it. Its zero values are left out by the API of
// activities that have none.
type Activity struct {
	ID             int64     `json:"id"`
	Athlete        Athlete   `json:"athlete"`
	Name           string    `json:"name"`
	Type           string    `json:"type"`
	SportType      string    `json:"sport_type"`
	StartDate      time.Time `json:"start_date"`
	StartDateLocal string    `json:"start_date_local"`
	Timezone       string    `json:"timezone"`
	UTCOffset      float64   `json:"utc_offset"`
	Distance       float64   `json:"distance"`
	MovingTime     int64     `json:"moving_time"`
	ElapsedTime    int64     `json:"elapsed_time"`
	ElevationGain  float64   `json:"total_elevation_gain"`
	Trainer        bool      `json:"trainer"`
	Commute        bool      `json:"commute"`
	Manual         bool      `json:"manual"`
	Private        bool      `json:"private"`
	Visibility     string    `json:"visibility"`
	Flagged        bool      `json:"flagged"`
	DeviceName     string    `json:"device_name,omitempty"`

	uploaded time.Time
}

// Athlete is an athlete, as activities name it.
type Athlete struct {
	ID int64 `json:"id"`
}

// Event is a webhook.
type Event struct {
	ObjectType     string         `json:"object_type"`
	ObjectID       int64          `json:"object_id"`
	AspectType     string         `json:"aspect_type"`
	Updates        map[string]any `json:"updates"`
	OwnerID        int64          `json:"owner_id"`
	SubscriptionID int64          `json:"subscription_id"`
	EventTime      int64          `json:"event_time"`
}

// grant is the access of the application to an athlete.
type grant struct {
	athlete         int64
	scope           []string
	access, refresh string
	expires         time.Time
}

type code struct {
	athlete int64
	scope   []string
	until   time.Time
}

type subscription struct {
	ID       int64  `json:"id"`
	Callback string `json:"callback_url"`
}

// Sim is a simulator. Create it with New.
type Sim struct {
	cfg  Config
	http *http.Client
	mux  *http.ServeMux

	mu         sync.Mutex
	activities map[int64]*Activity
	grants     map[int64]*grant // by athlete
	codes      map[string]code
	sub        *subscription
	lastID     int64
	tokens     int
	used       int            // reads in the quarter
	usedDay    int            // reads in the day
	counted    time.Time      // of the last read
	calls      map[string]int // reads at the time counted, by their URL
	sent       []Event        // webhooks that were accepted
	counts     Counts
	pending    int // webhooks that are to be sent
	inactive   bool
	reliable   bool
}

// New returns a simulator.
func New(cfg Config) *Sim {
	if cfg.Quarter == 0 {
		cfg.Quarter, cfg.Day = defaultQuarter, defaultDay
	}

	timeout := hookTimeout
	if cfg.Clock.Speed() == clock.Free { // simulated time stands still during the call, and the machine may be busy
		timeout *= 20
	}

	s := &Sim{
		cfg: cfg, mux: http.NewServeMux(), http: &http.Client{Transport: cfg.HTTP, Timeout: timeout},
		activities: map[int64]*Activity{}, grants: map[int64]*grant{}, codes: map[string]code{}, lastID: 10_000_000_000,
	}
	s.mux.HandleFunc("GET /oauth/authorize", s.consent)
	s.mux.Handle("POST /oauth/authorize", guard.Handler(http.HandlerFunc(s.authorize)))
	s.mux.HandleFunc("POST /oauth/token", s.token)
	s.mux.HandleFunc("POST /oauth/deauthorize", s.between(time.Time{}, headersOnly, s.deauthorize))
	s.mux.HandleFunc("POST /oauth/revoke", s.between(revocable, time.Time{}, s.end))
	s.api("GET", "/athlete", s.read(func(g grant, _ *http.Request) (any, int) { return Athlete{g.athlete}, http.StatusOK }))
	s.api("GET", "/athlete/activities", s.read(s.list))
	s.api("GET", "/activities/{id}", s.read(s.get))
	s.api("GET", "/push_subscriptions", s.app(s.listSubscriptions))
	s.api("POST", "/push_subscriptions", s.app(s.subscribe))
	s.api("DELETE", "/push_subscriptions/{id}", s.app(s.unsubscribe))

	return s
}

// api serves a path of the API, also at its old place as long as that exists.
func (s *Sim) api(method, path string, do http.HandlerFunc) {
	s.mux.HandleFunc(method+" "+path, do)
	s.mux.HandleFunc(method+" /api/v3"+path, s.between(time.Time{}, headersOnly, do))
}

// between serves a path from one time to another, the zero time for no bound. Otherwise there is no such
// path.
func (s *Sim) between(from, to time.Time, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := s.cfg.Clock.Now()
		if now.Before(from) || !to.IsZero() && !now.Before(to) {
			refuse(w, http.StatusNotFound, "resource", "path", "invalid")
			return
		}

		do(w, r)
	}
}

// ServeHTTP serves the API and the consent page.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	inactive := s.inactive
	s.mu.Unlock()

	if inactive && r.URL.Path != "/oauth/authorize" {
		refuse(w, http.StatusForbidden, "Application", "Status", "Inactive")
		return
	}

	s.mux.ServeHTTP(w, r)
}

// SetInactive makes the application inactive, as if its owner's subscription had ended, or active
// again. Webhooks still come.
func (s *Sim) SetInactive(inactive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.inactive = inactive
}

// SetReliable has webhooks come at once, each once, as if Faults had none of them, or as Faults has it again.
func (s *Sim) SetReliable(reliable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.reliable = reliable
}

// chance decides a fault of a probability: always the same for the same words.
func (s *Sim) chance(p float64, words ...any) bool { return p > 0 && s.number(words...) < p }

// number returns a number from 0 to 1 that depends on the seed and the words.
func (s *Sim) number(words ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.cfg.Faults.Seed, words)
	x := h.Sum64() // the lower bits of FNV are not mixed well: fold them twice
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33

	return float64(x>>11) / (1 << 53)
}

// Upload adds an activity of an athlete, and sends the webhook. It returns the id, which is
// a new one unless the activity has one.
func (s *Sim) Upload(athlete int64, a Activity) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()

	if a.ID == 0 {
		s.lastID += 1 + int64(s.number("id", s.lastID)*1000)
		a.ID = s.lastID
	}

	a.Athlete, a.uploaded = Athlete{athlete}, s.cfg.Clock.Now()
	if a.Type == "" {
		a.Type = a.SportType
	}

	if a.Visibility == "" {
		a.Visibility = "everyone"
	}

	a.StartDateLocal = a.StartDate.Add(time.Duration(a.UTCOffset) * time.Second).UTC().Format("2006-01-02T15:04:05Z")
	s.activities[a.ID] = &a
	s.send(Event{ObjectType: "activity", ObjectID: a.ID, AspectType: "create", Updates: map[string]any{}, OwnerID: athlete})

	return a.ID
}

// Edit changes an activity, and sends the webhook. updates are what it says: title, type or
// private; Strava says nothing of others.
func (s *Sim) Edit(id int64, updates map[string]any, change func(*Activity)) {
	s.mu.Lock()
	defer s.mu.Unlock()

	a := s.activities[id]
	if a == nil {
		return
	}

	uploaded := a.uploaded
	change(a)
	a.uploaded = uploaded
	s.send(Event{ObjectType: "activity", ObjectID: id, AspectType: "update", Updates: updates, OwnerID: a.Athlete.ID})
}

// Delete deletes an activity, and sends the webhook.
func (s *Sim) Delete(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if a := s.activities[id]; a != nil {
		delete(s.activities, id)
		s.send(Event{ObjectType: "activity", ObjectID: id, AspectType: "delete", Updates: map[string]any{}, OwnerID: a.Athlete.ID})
	}
}

// Revoke ends the application's access to an athlete, as the athlete does at Strava.
func (s *Sim) Revoke(athlete int64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.revoke(athlete)
}

func (s *Sim) revoke(athlete int64) {
	if s.grants[athlete] == nil {
		return
	}

	delete(s.grants, athlete)
	s.send(Event{
		ObjectType: "athlete",
		ObjectID:   athlete,
		AspectType: "update",
		Updates:    map[string]any{"authorized": "false"},
		OwnerID:    athlete,
	})
}

// Expire makes the access token of an athlete invalid, as if six hours had passed.
func (s *Sim) Expire(athlete int64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if g := s.grants[athlete]; g != nil {
		g.expires = s.cfg.Clock.Now()
	}
}

// Activities returns the activities of an athlete by id.
func (s *Sim) Activities(athlete int64) (all []Activity) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, a := range s.activities {
		if a.Athlete.ID == athlete {
			all = append(all, *a)
		}
	}

	slices.SortFunc(all, func(a, b Activity) int { return int(a.ID - b.ID) })

	return all
}

// Sent returns the webhooks that were accepted, and how many are still to be sent.
func (s *Sim) Sent() (accepted []Event, pending int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.sent), s.pending
}

// Counts are what has gone wrong.
type Counts struct {
	Lost, Doubled, Late int // webhooks
	Limited             int // calls beyond the limits
}

// Counts returns what has gone wrong.
func (s *Sim) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.counts
}

// Subscription returns the id of the subscription, 0 if there is none.
func (s *Sim) Subscription() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.sub == nil {
		return 0
	}

	return s.sub.ID
}

// Connected reports whether the application has access to an athlete.
func (s *Sim) Connected(athlete int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.grants[athlete] != nil
}

// send plans a webhook. The caller holds s.mu.
func (s *Sim) send(e Event) {
	g := s.grants[e.OwnerID]
	if s.sub == nil || g == nil && e.ObjectType == "activity" {
		return
	}

	e.SubscriptionID, e.EventTime = s.sub.ID, s.cfg.Clock.Now().Unix()

	key := []any{e.ObjectType, e.ObjectID, e.AspectType, e.EventTime}
	if s.reliable {
		s.plan(e, s.sub.Callback, time.Duration(s.number(append(key, "delay")...)*float64(10*time.Second)), 1)
		return
	}

	if s.chance(s.cfg.Faults.Lost, append(key, "lost")...) && e.ObjectType == "activity" {
		s.counts.Lost++
		return
	}

	delay := time.Duration(s.number(append(key, "delay")...) * float64(10*time.Second))
	if s.chance(s.cfg.Faults.Late, append(key, "late")...) {
		s.counts.Late++
		delay = time.Duration(s.number(append(key, "how late")...) * float64(time.Hour))
	}

	s.plan(e, s.sub.Callback, delay, 1)

	if s.chance(s.cfg.Faults.Doubled, append(key, "doubled")...) {
		s.counts.Doubled++
		s.plan(e, s.sub.Callback, delay+time.Duration(s.number(append(key, "again")...)*float64(5*time.Minute)), 1)
	}
}

// plan sends a webhook after a delay. The caller holds s.mu.
func (s *Sim) plan(e Event, callback string, delay time.Duration, attempt int) {
	s.pending++
	s.cfg.Clock.After(delay, func() { s.deliver(e, callback, attempt) })
}

// deliver sends a webhook. If it is not answered with 200 within two seconds it is sent
// again, three times in all.
func (s *Sim) deliver(e Event, callback string, attempt int) {
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // an event always encodes
	}

	answer, err := s.http.Post(callback, "application/json", bytes.NewReader(body))

	ok := err == nil && answer.StatusCode == http.StatusOK
	if err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.pending--

	switch {
	case ok:
		s.sent = append(s.sent, e)
	case attempt < hookAttempts:
		s.plan(e, callback, hookGap, attempt+1)
	}
}

// page is the question whether the application may read the activities.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Simulated Strava</title>
<style>
body{font:16px system-ui;max-width:24rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}
label{display:block;margin:.5rem 0}
button{font:inherit;padding:.6rem 1rem;margin-right:.5rem}
</style>
<h1>Share your activities?</h1>
<form method="post"><label>Athlete <input name="athlete" type="number" min="1" value="1234567" required></label>
{{range .Scopes}}<label><input type="checkbox" name="accept" value="{{.}}" checked> {{.}}</label>{{end}}
{{range $name, $value := .Hidden}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}
<button name="answer" value="yes">Authorize</button><button name="answer" value="no">Cancel</button></form>`))

// consent shows the question.
func (s *Sim) consent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != s.cfg.ID || q.Get("redirect_uri") == "" || q.Get("response_type") != "code" {
		refuse(w, http.StatusBadRequest, "Application", "client_id", "invalid")
		return
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	page.Execute(w, map[string]any{
		"Scopes": strings.Split(q.Get("scope"), ","),
		"Hidden": map[string]string{"client_id": q.Get("client_id"), "redirect_uri": q.Get("redirect_uri"), "state": q.Get("state")},
	})
}

// authorize is the user's answer: athlete, accept for each scope, and answer, yes or no.
func (s *Sim) authorize(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil {
		refuse(w, http.StatusBadRequest, "Application", "form", "invalid")
		return
	}

	f := r.Form
	to, err := url.Parse(f.Get("redirect_uri"))

	athlete, bad := strconv.ParseInt(f.Get("athlete"), 10, 64)
	if err != nil || bad != nil || f.Get("client_id") != s.cfg.ID {
		refuse(w, http.StatusBadRequest, "Application", "client_id", "invalid")
		return
	}

	q := to.Query()
	q.Set("state", f.Get("state"))

	if f.Get("answer") != "yes" {
		q.Set("error", "access_denied")
	} else {
		scope := append([]string{"read"}, slices.DeleteFunc(slices.Clone(f["accept"]), func(v string) bool { return v == "read" })...)
		q.Set("code", s.Grant(athlete, scope...))
		q.Set("scope", strings.Join(scope, ","))
	}

	to.RawQuery = q.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// Grant returns a code, as if the athlete had accepted the scopes.
func (s *Sim) Grant(athlete int64, scope ...string) string {
	s.mu.Lock()
	c := s.newToken("code", athlete)
	s.mu.Unlock()
	s.Allow(c, athlete, s.cfg.Clock.Now().Add(codeTTL), scope...)

	return c
}

// Allow makes a code valid that the caller chooses.
func (s *Sim) Allow(of string, athlete int64, until time.Time, scope ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.codes[of] = code{athlete, scope, until}
}

// newToken returns a token that no other is. The caller holds s.mu.
func (s *Sim) newToken(words ...any) string {
	s.tokens++
	return fmt.Sprintf("%016x%016x", uint64(s.number(append(words, s.tokens, "a")...)*(1<<53)),
		uint64(s.number(append(words, s.tokens, "b")...)*(1<<53)))
}

// token exchanges a code, once, or renews a token.
func (s *Sim) token(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.PostForm.Get("client_id") != s.cfg.ID || r.PostForm.Get("client_secret") != s.cfg.Secret {
		refuse(w, http.StatusUnauthorized, "Application", "client_secret", "invalid")
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	f, now := r.PostForm, s.cfg.Clock.Now()
	switch f.Get("grant_type") {
	case "authorization_code":
		c, ok := s.codes[f.Get("code")]
		delete(s.codes, f.Get("code"))

		if !ok || !now.Before(c.until) {
			refuse(w, http.StatusBadRequest, "AuthorizationCode", "code", "invalid")
			return
		}

		if s.cfg.Athletes > 0 && s.grants[c.athlete] == nil && len(s.grants) >= s.cfg.Athletes {
			refuse(w, http.StatusForbidden, "Application", "Limit of connected athletes", "exceeded")
			return
		}

		g := &grant{athlete: c.athlete, scope: c.scope}
		s.grants[c.athlete] = g
		s.renew(g, now)
		answer(w, s.describe(g, now, true))
	case "refresh_token":
		for _, g := range s.grants {
			if g.refresh == f.Get("refresh_token") {
				if g.expires.Sub(now) <= keepToken {
					s.renew(g, now)
				}

				answer(w, s.describe(g, now, false))

				return
			}
		}

		refuse(w, http.StatusBadRequest, "RefreshToken", "refresh_token", "invalid")
	default:
		refuse(w, http.StatusBadRequest, "Application", "grant_type", "invalid")
	}
}

// renew replaces both tokens: the old ones are not valid any more.
func (s *Sim) renew(g *grant, now time.Time) {
	g.access, g.refresh, g.expires = s.newToken("access", g.athlete), s.newToken("refresh", g.athlete), now.Add(accessTTL)
}

func (s *Sim) describe(g *grant, now time.Time, athlete bool) map[string]any {
	out := map[string]any{
		"token_type": "Bearer", "access_token": g.access, "refresh_token": g.refresh,
		"expires_at": g.expires.Unix(), "expires_in": int(g.expires.Sub(now).Seconds()),
	}
	if athlete {
		out["athlete"] = Athlete{g.athlete}
	}

	return out
}

// bearer returns the grant of a request's token, nil if that is not valid. The caller holds
// s.mu.
func (s *Sim) bearer(r *http.Request) *grant {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" && s.cfg.Clock.Now().Before(headersOnly) {
		token = r.FormValue("access_token")
	}

	for _, g := range s.grants {
		if token != "" && g.access == token && s.cfg.Clock.Now().Before(g.expires) {
			return g
		}
	}

	return nil
}

func (s *Sim) deauthorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	g := s.bearer(r)
	if g == nil {
		refuse(w, http.StatusUnauthorized, "Athlete", "access_token", "invalid")
		return
	}

	answer(w, map[string]string{"access_token": g.access})
	s.revoke(g.athlete)
}

// end ends the access of either token of an athlete. A token that is not valid is no error (RFC 7009, 2.2).
func (s *Sim) end(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	token := r.PostFormValue("token")

	switch {
	case id != s.cfg.ID || secret != s.cfg.Secret:
		refuse(w, http.StatusUnauthorized, "Application", "client_secret", "invalid")
		return
	case token == "":
		refuse(w, http.StatusBadRequest, "Application", "token", "missing")
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for _, g := range s.grants {
		if g.access == token || g.refresh == token {
			s.revoke(g.athlete)
			break
		}
	}

	answer(w, map[string]string{})
}

// Admit sets how many athletes may be connected; 0 for any number.
func (s *Sim) Admit(athletes int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.cfg.Athletes = athletes
}

// read serves a read of the API, within the rate limits, with the faults.
func (s *Sim) read(do func(grant, *http.Request) (any, int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()

		limited := s.count(w.Header())
		s.calls[r.URL.RequestURI()]++
		call := []any{r.URL.RequestURI(), s.counted.Unix(), s.calls[r.URL.RequestURI()]}
		fault := s.chance(s.cfg.Faults.Unavailable, call...)

		g := s.bearer(r)
		switch {
		case limited:
			s.counts.Limited++

			refuse(w, http.StatusTooManyRequests, "Application", "rate limit", "exceeded")
		case fault && s.number(append(call, "kind")...) < 0.5:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html><body>We are down for maintenance.</body></html>")
		case fault:
			refuse(w, http.StatusServiceUnavailable, "Application", "", "unavailable")
		case g == nil:
			refuse(w, http.StatusUnauthorized, "Athlete", "access_token", "invalid")
		case !slices.Contains(g.scope, "activity:read") && !slices.Contains(g.scope, "activity:read_all"):
			refuse(w, http.StatusUnauthorized, "AccessToken", "activity:read_permission", "missing")
		default:
			body, status := do(*g, r)
			if status != http.StatusOK {
				refuse(w, status, "Activity", "id", "not found")
				return
			}

			answer(w, body)
		}
	}
}

// count counts a read, and sets the headers of the limits. Refused reads count, too.
func (s *Sim) count(h http.Header) (limited bool) {
	now := s.cfg.Clock.Now().UTC()
	if now.Truncate(15*time.Minute) != s.counted.Truncate(15*time.Minute) {
		s.used = 0
	}

	if now.Truncate(24*time.Hour) != s.counted.Truncate(24*time.Hour) {
		s.usedDay = 0
	}

	if !now.Equal(s.counted) {
		s.calls = map[string]int{}
	}

	s.counted = now
	s.used++
	s.usedDay++
	h.Set("X-RateLimit-Limit", fmt.Sprintf("%d,%d", 2*s.cfg.Quarter, 2*s.cfg.Day))
	h.Set("X-RateLimit-Usage", fmt.Sprintf("%d,%d", s.used, s.usedDay))
	h.Set("X-ReadRateLimit-Limit", fmt.Sprintf("%d,%d", s.cfg.Quarter, s.cfg.Day))
	h.Set("X-ReadRateLimit-Usage", fmt.Sprintf("%d,%d", s.used, s.usedDay))

	return s.used > s.cfg.Quarter || s.usedDay > s.cfg.Day
}

// visible reports whether the application sees an activity: one that only the athlete can
// see needs activity:read_all.
func visible(g grant, a *Activity) bool {
	return a.Athlete.ID == g.athlete && (!a.Private && a.Visibility != "only_me" || slices.Contains(g.scope, "activity:read_all"))
}

func (s *Sim) get(g grant, r *http.Request) (any, int) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	a := s.activities[id]

	now := s.cfg.Clock.Now()
	if a == nil || !visible(g, a) || now.Sub(a.uploaded) < time.Minute && s.chance(s.cfg.Faults.NotYet, "not yet", id) {
		return nil, http.StatusNotFound
	}

	return a, http.StatusOK
}

func (s *Sim) list(g grant, r *http.Request) (any, int) {
	number := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
			return n
		}

		return otherwise
	}
	after, before := number("after", 0), number("before", 1<<60)
	page, size := number("page", 1), min(number("per_page", defaultPageSize), maxPageSize)
	all := []*Activity{}

	for _, a := range s.activities {
		if t := a.StartDate.Unix(); visible(g, a) && t > after && t < before {
			all = append(all, a)
		}
	}

	slices.SortFunc(all, func(a, b *Activity) int {
		if c := a.StartDate.Compare(b.StartDate); c != 0 {
			return c
		}

		return int(a.ID - b.ID)
	})
	from := min(max(0, (page-1)*size), int64(len(all)))

	return all[from:min(from+size, int64(len(all)))], http.StatusOK
}

// app serves a call of the application itself.
func (s *Sim) app(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ParseForm() != nil || r.Form.Get("client_id") != s.cfg.ID || r.Form.Get("client_secret") != s.cfg.Secret {
			refuse(w, http.StatusUnauthorized, "Application", "client_secret", "invalid")
			return
		}

		do(w, r)
	}
}

func (s *Sim) listSubscriptions(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := []subscription{}
	if s.sub != nil {
		all = append(all, *s.sub)
	}

	answer(w, all)
}

// subscribe asks the callback whether it is the application's, and subscribes it.
func (s *Sim) subscribe(w http.ResponseWriter, r *http.Request) {
	callback := r.Form.Get("callback_url")

	s.mu.Lock()
	exists := s.sub != nil
	s.mu.Unlock()

	switch {
	case exists:
		refuse(w, http.StatusBadRequest, "PushSubscription", "", "already exists")
		return
	case len(callback) > 255 || !s.verify(r.Context(), callback, r.Form.Get("verify_token")):
		refuse(w, http.StatusBadRequest, "PushSubscription", "callback url", "GET to callback URL does not return 200")
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.sub = &subscription{120_000 + int64(len(callback)), callback}

	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(map[string]int64{"id": s.sub.ID})
}

// verify sends the challenge.
func (s *Sim) verify(ctx context.Context, callback, token string) bool {
	const challenge = "15f7d1a91c1f40f8a748fd134752feb3"

	q := url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {challenge}, "hub.verify_token": {token}}

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, callback+"?"+q.Encode(), nil)
	if err != nil {
		return false
	}

	got, err := s.http.Do(r)
	if err != nil {
		return false
	}
	defer got.Body.Close()

	var echo map[string]any

	return got.StatusCode == http.StatusOK && json.NewDecoder(got.Body).Decode(&echo) == nil && echo["hub.challenge"] == challenge
}

func (s *Sim) unsubscribe(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.sub == nil || r.PathValue("id") != strconv.FormatInt(s.sub.ID, 10) {
		refuse(w, http.StatusNotFound, "PushSubscription", "id", "not found")
		return
	}

	s.sub = nil

	w.WriteHeader(http.StatusNoContent)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// refuse writes an error as Strava does.
func refuse(w http.ResponseWriter, status int, resource, field, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{
		"message": http.StatusText(status), "errors": []map[string]string{{"resource": resource, "field": field, "code": code}},
	})
}
