package console

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/local/fleet"
	"matchday/infra/rooms/pickem"
	"matchday/infra/sim/apns"
	"matchday/infra/sim/cognito"
	"matchday/infra/sim/sportmonks"
)

//go:embed page
var page embed.FS

const (
	pace      = 250 * time.Millisecond // of changes
	glances   = 12                     // views from one look at the season to the next
	heartbeat = 15 * time.Second       // so that proxies and browsers keep a quiet stream
	patience  = 10 * time.Second       // with a browser that does not read
)

// Handler serves the page at /, and what it needs below /console/:
//
//	GET  /console/events   server-sent events: a snapshot, then what changed
//	POST /console/fault    {"match": "1", "kind": "wrong ball"}; any match without one
//	POST /console/rate     {"match": "1", "rate": 2}, times the pace it was started with
//	POST /console/pause    {"match": "1", "pause": true}
//	POST /console/answer   {"answer": "Unregistered"}: what the next pushes get
//	POST /console/pick     {"event": "…", "picks": {"…": 1}}: all picks of the visitor, a team's place by the match's id
//	POST /console/lock     {"event": "…"}: locks a show
//	POST /console/result   {"event": "…"}: enters its next result
//	POST /console/correct  {"event": "…"}: changes its latest result
//	POST /console/score    {"event": "…"}: has it scored
//
// A post answers with {"said": "…"} or, with a status over 399, {"error": "…"}.
// It is refused to pages of other origins.
func (h *Hub) Handler() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "index.html") })
	mux.Handle("GET /console/", http.StripPrefix("/console/", http.FileServerFS(files)))
	mux.HandleFunc("GET /console/events", h.events)
	mux.HandleFunc("GET /console/choices", choices)
	mux.HandleFunc("POST /console/fault", control(h, inject))
	mux.HandleFunc("POST /console/rate", control(h, setRate))
	mux.HandleFunc("POST /console/pause", control(h, pause))
	mux.HandleFunc("POST /console/answer", control(h, answer))
	mux.HandleFunc("POST /console/pick", control(h, h.direct(savePicks)))
	mux.HandleFunc("POST /console/lock", control(h, h.direct(lockShow)))
	mux.HandleFunc("POST /console/result", control(h, h.direct(enterResult)))
	mux.HandleFunc("POST /console/correct", control(h, h.direct(correctResult)))
	mux.HandleFunc("POST /console/score", control(h, h.direct(scoreShow)))
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-cache")
		if r.Method == http.MethodPost && !cognito.Local(r.Host) {
			http.Error(w, "the console is to be reached by localhost or by an address", http.StatusForbidden)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// viewers are the browsers that look. While there are any, one goroutine looks
// at the fleet for all of them.
type viewers struct {
	sync.Mutex
	all     map[chan *view]struct{}
	looking bool
}

func (h *Hub) join() (views chan *view, leave func()) {
	views = make(chan *view, 1)
	v := &h.viewers
	v.Lock()
	defer v.Unlock()
	v.all[views] = struct{}{}
	if !v.looking {
		v.looking = true
		go h.look()
	}
	return views, func() {
		v.Lock()
		defer v.Unlock()
		delete(v.all, views)
	}
}

// look shows the viewers the fleet, again and again until the last has left. One
// that is slow misses views, and later gets all that changed at once.
func (h *Hub) look() {
	next := time.NewTicker(pace)
	defer next.Stop()
	v := &h.viewers
	for n := 0; ; n++ {
		if n%glances == 0 && h.glancing.TryLock() {
			go func() {
				defer h.glancing.Unlock()
				h.glance()
			}()
		}
		now := h.view()
		v.Lock()
		if len(v.all) == 0 {
			v.looking = false
			v.Unlock()
			return
		}
		for views := range v.all {
			select {
			case <-views:
			default:
			}
			views <- now // it has room: nobody else sends
		}
		v.Unlock()
		<-next.C
	}
}

// glance looks at the season. h.glancing is held.
func (h *Hub) glance() {
	h.mu.Lock()
	s := h.season
	h.mu.Unlock()
	if s == nil {
		return
	}
	defer s.Clock.Work()()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := s.Look(ctx)
	if err != nil {
		return // the page shows what it was, and the function what went wrong
	}
	text, _ := json.Marshal(v) // of strings, numbers and JSON
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sight = text
}

// events streams to one browser.
func (h *Hub) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	send := func(format string, args ...any) error {
		_ = c.SetWriteDeadline(time.Now().Add(patience)) // a writer without deadlines has no slow reader
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}
		return c.Flush()
	}
	views, leave := h.join()
	defer leave()
	quiet := time.NewTimer(heartbeat)
	defer quiet.Stop()
	if send("retry: 1000\n\n") != nil {
		return
	}
	var before *view
	var seen uint64
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-quiet.C:
			err = send(": still here\n\n")
		case v := <-views:
			text, news := v.message(before, seen)
			if !news {
				continue
			}
			kind := "change"
			if before == nil {
				kind = "snapshot"
			}
			before, seen = v, max(seen, v.last())
			err = send("event: %s\ndata: %s\n\n", kind, text)
		}
		if err != nil {
			return
		}
		quiet.Reset(heartbeat)
	}
}

// choice is a button.
type choice struct {
	Name    string `json:"name"`
	Does    string `json:"does"`
	OfMatch bool   `json:"ofMatch,omitempty"` // wrong about a match, rather than no good answer
}

// feedFaults says what each of the provider's faults does.
func feedFaults() []choice {
	does := map[sportmonks.Kind]string{
		sportmonks.Late:            "The next ball and all after it come 10 s late.",
		sportmonks.WrongBall:       "The next ball is told wrong, and corrected after 10 s.",
		sportmonks.DeletedBall:     "A ball that never was follows the next one, and is taken back.",
		sportmonks.Vanish:          "The match is out of the live feed for 30 s.",
		sportmonks.EarlyFinish:     "At its end the match is Finished for 10 s without a winner.",
		sportmonks.WrongWinner:     "At its end the match has the wrong winner for 10 s.",
		sportmonks.TooManyRequests: "The next poll is told to wait.",
		sportmonks.ServerError:     "The next poll gets a 500.",
		sportmonks.Timeout:         "The next poll gets no answer.",
		sportmonks.Truncated:       "The next answer breaks off.",
		sportmonks.HTML:            "The next answer is a web page, with status 200.",
		sportmonks.WrongTypes:      "The next answer has strings for numbers, or null for lists.",
		sportmonks.UnknownStatus:   "The next answer has a status nobody has heard of.",
		sportmonks.ShortBalls:      "The next answer lacks some of the balls.",
		sportmonks.DuplicateBalls:  "The next answer has balls twice.",
	}
	ofMatch := []sportmonks.Kind{
		sportmonks.Late, sportmonks.WrongBall, sportmonks.DeletedBall, sportmonks.Vanish, sportmonks.EarlyFinish, sportmonks.WrongWinner,
	}
	var all []choice
	for _, k := range sportmonks.Kinds() {
		all = append(all, choice{string(k), does[k], slices.Contains(ofMatch, k)})
	}
	return all
}

// scripted is an answer of the push service to the next pushes.
type scripted struct {
	choice
	script []apns.Answer
}

func pushAnswers() []scripted {
	times := func(reason string, n int) []apns.Answer {
		a := apns.Refuse(reason)
		a.Times = n
		return []apns.Answer{a}
	}
	return []scripted{
		{choice{Name: "TooManyRequests", Does: "The next 3 pushes get 429."}, times(apns2.ReasonTooManyRequests, 3)},
		{choice{Name: "ServiceUnavailable", Does: "The next 5 pushes get 503."}, times(apns2.ReasonServiceUnavailable, 5)},
		{choice{Name: "InternalServerError", Does: "The next push gets 500."}, times(apns2.ReasonInternalServerError, 1)},
		{choice{Name: "ExpiredProviderToken", Does: "The next push gets 403: the provider needs a new token."}, times(apns2.ReasonExpiredProviderToken, 1)},
		{choice{Name: "Connection lost", Does: "The phone gets the next push, its sender no answer."}, []apns.Answer{{Drop: true, Times: 1}}},
		{choice{Name: "Slow answers", Does: "The next 3 pushes take 2 s."}, []apns.Answer{{Slow: 2 * time.Second, Times: 3}}},
		{choice{Name: "Unregistered", Does: "The next push gets 410: its phone is gone for good."}, times(apns2.ReasonUnregistered, 1)},
		{choice{Name: "Deliver again", Does: "Pushes are delivered again."}, nil},
	}
}

// choices lists the buttons.
func choices(w http.ResponseWriter, _ *http.Request) {
	out := map[string][]choice{"faults": feedFaults()}
	for _, a := range pushAnswers() {
		out["answers"] = append(out["answers"], a.choice)
	}
	reply(w, http.StatusOK, out)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the browser is gone
}

// order is what a button asks for.
type order struct {
	Match  string         `json:"match"`
	Kind   string         `json:"kind"`
	Rate   float64        `json:"rate"`
	Pause  bool           `json:"pause"`
	Answer string         `json:"answer"`
	Event  string         `json:"event"`
	Picks  map[string]int `json:"picks"`
}

// control serves a button.
func control(h *Hub, do func(context.Context, *fleet.Fleet, int64, order) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		f := h.fleet
		h.mu.Unlock()
		wrong := func(status int, sentence string) { reply(w, status, map[string]string{"error": sentence}) }
		if f == nil {
			wrong(http.StatusServiceUnavailable, "the fleet is starting")
			return
		}
		if r.Header.Get("Content-Type") != "application/json" {
			wrong(http.StatusUnsupportedMediaType, "send application/json")
			return
		}
		var o order
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			wrong(http.StatusBadRequest, "the body is not what this button sends")
			return
		}
		var id int64
		if o.Match != "" {
			var err error
			if id, err = strconv.ParseInt(o.Match, 10, 64); err != nil {
				wrong(http.StatusBadRequest, "a match is named by its id")
				return
			}
		}
		defer f.Clock.Work()()
		said, err := do(r.Context(), f, id, o)
		if err != nil {
			wrong(http.StatusBadRequest, sentence(err))
			return
		}
		reply(w, http.StatusOK, map[string]string{"said": said})
	}
}

// sentence is what the page says of an error: of an answer of the API its detail.
func sentence(err error) string {
	if r, ok := errors.AsType[*fleet.Refusal](err); ok {
		var problem struct{ Detail string }
		if json.Unmarshal(r.Body, &problem) == nil && problem.Detail != "" {
			return problem.Detail
		}
	}
	return show(err.Error())
}

func inject(_ context.Context, f *fleet.Fleet, match int64, o order) (string, error) {
	if err := f.Provider.Inject(sportmonks.Fault{Match: match, Kind: sportmonks.Kind(o.Kind)}); err != nil {
		return "", err
	}
	for _, c := range feedFaults() {
		if c.Name == o.Kind {
			return c.Does, nil
		}
	}
	return o.Kind, nil
}

// The rates that a match can be played at.
const slowest, fastest = 0.1, 100.0

func setRate(_ context.Context, f *fleet.Fleet, match int64, o order) (string, error) {
	if !(o.Rate >= slowest && o.Rate <= fastest) {
		return "", fmt.Errorf("a rate is between %v and %v", slowest, fastest)
	}
	if err := f.Provider.SetRate(match, o.Rate); err != nil {
		return "", err
	}
	return fmt.Sprintf("The match goes on at %v× its pace.", o.Rate), nil
}

func pause(_ context.Context, f *fleet.Fleet, match int64, o order) (string, error) {
	if err := f.Provider.Pause(match, o.Pause); err != nil {
		return "", err
	}
	if o.Pause {
		return "The match is paused; the ticks go on.", nil
	}
	return "The match goes on.", nil
}

func answer(_ context.Context, f *fleet.Fleet, _ int64, o order) (string, error) {
	for _, a := range pushAnswers() {
		if a.Name == o.Answer {
			f.Phones.Answer("", a.script...)
			return a.Does, nil
		}
	}
	return "", fmt.Errorf("there is no answer %q", o.Answer)
}

// eventIDs are those of events, as part of a path.
var eventIDs = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)

// direct is what a button does to the season, and has the page see it.
func (h *Hub) direct(do func(context.Context, *pickem.Season, order) (string, error)) func(context.Context, *fleet.Fleet, int64, order) (string, error) {
	return func(ctx context.Context, _ *fleet.Fleet, _ int64, o order) (string, error) {
		h.mu.Lock()
		s := h.season
		h.mu.Unlock()
		if s == nil || !eventIDs.MatchString(o.Event) {
			return "", errors.New("there is no such show")
		}
		said, err := do(ctx, s, o)
		h.glancing.Lock() // what was looked at meanwhile may be older
		defer h.glancing.Unlock()
		h.glance()
		return said, err
	}
}

func savePicks(ctx context.Context, s *pickem.Season, o order) (string, error) {
	return "Your picks are saved.", s.Pick(ctx, pickem.Visitor, o.Event, o.Picks)
}

func lockShow(ctx context.Context, s *pickem.Season, o order) (string, error) {
	return "It is locked, and begins.", s.Lock(ctx, o.Event)
}

func enterResult(ctx context.Context, s *pickem.Season, o order) (string, error) {
	return s.EnterResult(ctx, o.Event)
}

func correctResult(ctx context.Context, s *pickem.Season, o order) (string, error) {
	return s.Correct(ctx, o.Event)
}

func scoreShow(ctx context.Context, s *pickem.Season, o order) (string, error) {
	return "The points are being worked out.", s.Score(ctx, o.Event)
}
