package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sideshow/apns2"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/apns"
)

//go:embed page
var page embed.FS

// The page of all tabs: panels fill its blocks.
var shell = template.Must(template.ParseFS(page, "page/index.html"))

const (
	pace      = 250 * time.Millisecond // between two views
	heartbeat = 15 * time.Second       // so that proxies and browsers keep a quiet stream
	patience  = 10 * time.Second       // for a browser that does not read
)

// Handler serves the tab of each room at /<room>/, the first also at /, the tab of the mails at
// /mail/, and what they need below /console/:
//
//	GET  /console/events?room=…     server-sent events: a snapshot, then changes
//	POST /console/answer            {"answer": "Unregistered"}: the answer to the next pushes
//	POST /console/<room>/<button>   the buttons of the room's panel
//	GET  /console/mail/message/<n>  the HTML of a mail
//
// A post answers with {"said": "…"} or, with a status of at least 400, {"error": "…"}. Pages of
// other origins are refused.
func (h *Hub) Handler() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}

	mux := http.NewServeMux()
	mux.Handle("GET /console/", http.StripPrefix("/console/", http.FileServerFS(files)))
	mux.HandleFunc("GET /console/index.html", http.NotFound) // a template
	mux.HandleFunc("GET /console/events", h.events)
	mux.HandleFunc("POST /console/answer", h.button(NewButton(h.answer)))
	mux.HandleFunc("GET /console/mail/message/{n}", h.message)

	for i, p := range h.panels {
		tab := h.tab(p)
		mux.HandleFunc("GET "+Path(p.Room)+"{$}", tab)

		if i == 0 {
			mux.HandleFunc("GET /{$}", tab)
		}

		if p.Files != nil {
			mux.Handle("GET /console/"+p.Room+"/", http.StripPrefix("/console/"+p.Room+"/", http.FileServerFS(p.Files)))
		}

		for name, b := range p.Buttons {
			mux.HandleFunc("POST /console/"+p.Room+"/"+name, h.button(b))
		}
	}

	guarded := http.NewCrossOriginProtection().Handler(mux)

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-cache")
		guarded.ServeHTTP(w, r)
	})
}

// Path is the address of a room's tab.
func Path(room string) string { return "/" + room + "/" }

// Mount serves the console on a fleet: at / and at the path of each tab.
func (h *Hub) Mount(f *fleet.Fleet) {
	handler := h.Handler()
	f.Handle("/", handler)

	for _, p := range h.panels {
		f.Handle("GET "+Path(p.Room)+"{$}", handler) // all other paths below belong to the room's API
	}
}

// tab serves the page with a room's panel. It panics if panel.html is not a template.
func (h *Hub) tab(p Panel) http.HandlerFunc {
	type link struct {
		Path, Title string
		Current     bool
	}

	data := struct {
		Room, Title string
		Tabs        []link
		Panel       bool // it has files
		API         bool // it is a room's
	}{Room: p.Room, Title: p.Title, Panel: p.Files != nil, API: p.Room != MailTab}
	for _, o := range h.panels {
		data.Tabs = append(data.Tabs, link{Path(o.Room), o.Title, o.Room == p.Room})
	}

	page := template.Must(shell.Clone())
	if p.Files != nil {
		template.Must(page.ParseFS(p.Files, "panel.html"))
	}

	var text bytes.Buffer
	if err := page.ExecuteTemplate(&text, "index.html", data); err != nil {
		panic(err) // the files are embedded
	}

	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(text.Bytes())
	}
}

// viewers holds the connected browsers, with the room of each. While there is at least one, a
// single goroutine reads the state of the fleet for all of them.
type viewers struct {
	sync.Mutex
	all     map[chan *view]string
	looking bool
}

func (h *Hub) join(room string) (views chan *view, leave func()) {
	views = make(chan *view, 1)
	v := &h.viewers
	v.Lock()
	defer v.Unlock()

	v.all[views] = room
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

// look sends views to all browsers until the last has disconnected. A slow browser misses views,
// and later gets all changes at once.
func (h *Hub) look() {
	next := time.NewTicker(pace)
	defer next.Stop()

	v := &h.viewers
	for {
		v.Lock()
		rooms := slices.Collect(maps.Values(v.all))
		v.Unlock()

		now := h.view(rooms...)

		v.Lock()
		if len(v.all) == 0 {
			v.looking = false
			v.Unlock()

			return
		}

		for views, room := range v.all {
			if !slices.Contains(rooms, room) {
				continue // it connected meanwhile: the next view has its room
			}

			select {
			case <-views:
			default:
			}

			views <- now // it has room: this is the only sender
		}
		v.Unlock()
		<-next.C
	}
}

// events streams to one browser.
func (h *Hub) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	send := func(format string, args ...any) error {
		_ = c.SetWriteDeadline(time.Now().Add(patience)) // a slow reader delays no writer

		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}

		return c.Flush()
	}
	room := r.URL.Query().Get("room")

	views, leave := h.join(room)
	defer leave()

	quiet := time.NewTimer(heartbeat)
	defer quiet.Stop()

	if send("retry: 1000\n\n") != nil {
		return
	}

	var (
		before *view
		seen   uint64
	)

	for {
		var err error

		select {
		case <-r.Context().Done():
			return
		case <-quiet.C:
			err = send(": still here\n\n")
		case v := <-views:
			text, new := v.message(room, before, seen)
			if !new {
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

// answer is a selectable answer of the push service.
type answer struct {
	Name   string        `json:"name"`
	Does   string        `json:"does"`
	script []apns.Answer // nil for none of its own
}

func answers() []answer {
	times := func(reason string, n int) []apns.Answer {
		a := apns.Refuse(reason)
		a.Times = n

		return []apns.Answer{a}
	}

	return []answer{
		{"TooManyRequests", "The next 3 pushes get 429.", times(apns2.ReasonTooManyRequests, 3)},
		{"ServiceUnavailable", "The next 5 pushes get 503.", times(apns2.ReasonServiceUnavailable, 5)},
		{"InternalServerError", "The next push gets 500.", times(apns2.ReasonInternalServerError, 1)},
		{"ExpiredProviderToken", "The next push gets 403: the provider needs a new token.", times(apns2.ReasonExpiredProviderToken, 1)},
		{"Connection lost", "The phone gets the next push, its sender no answer.", []apns.Answer{{Drop: true, Times: 1}}},
		{"Slow answers", "The next 3 pushes take 2 s.", []apns.Answer{{Slow: 2 * time.Second, Times: 3}}},
		{"Unregistered", "The next push gets 410: the phone's token is no longer valid.", times(apns2.ReasonUnregistered, 1)},
		{"Deliver again", "Pushes are delivered again.", nil},
	}
}

func (h *Hub) answer(_ context.Context, in struct{ Answer string }) (string, error) {
	h.mu.Lock()
	f := h.fleet
	h.mu.Unlock()

	for _, a := range answers() {
		if a.Name == in.Answer {
			f.Phones.Answer("", a.script...)
			return a.Does, nil
		}
	}

	return "", fmt.Errorf("unknown answer %q", in.Answer)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the browser has disconnected
}

// button serves a button.
func (h *Hub) button(do Button) http.HandlerFunc {
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

		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<10))
		if err != nil {
			wrong(http.StatusBadRequest, "invalid body")
			return
		}

		defer f.Clock.Work()()

		said, err := do(r.Context(), body)
		if err != nil {
			wrong(http.StatusBadRequest, sentence(err))
			return
		}

		reply(w, http.StatusOK, map[string]string{"said": said})
	}
}
