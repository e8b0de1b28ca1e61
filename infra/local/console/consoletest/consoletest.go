// Package consoletest helps to test the console and the rooms' panels: it reads
// the events, presses buttons and looks at the page in a browser.
package consoletest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Post presses a button: a path below /console/. header are names and values; Host
// sets the host.
func Post(handler http.Handler, path, body string, header ...string) (status int, answer string) {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:8080/console/"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")

	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])

		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)

	return w.Code, w.Body.String()
}

// Event is one server-sent event of the console.
type Event struct {
	Kind string
	Data struct {
		State, Room map[string]json.RawMessage
		Pushes      []Push
	}
}

// Push is a push in the list.
type Push struct {
	Seq                       uint64
	Owner, About, Kind, Token string
	Last                      bool
	Bytes                     int
}

// limit is the time limit of one wait for the console or the browser.
const limit = 2 * time.Minute

// Stream reads the events that a tab gets. next waits for the next one, and fails the test after
// two minutes.
func Stream(t *testing.T, url, room string) (next func() Event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	silent := time.AfterFunc(limit, cancel)

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/console/events?room="+room, nil)
	if err != nil {
		t.Fatal(err)
	}

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { answer.Body.Close() })

	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the type is %q", kind)
	}

	silent.Stop()

	lines := bufio.NewReader(answer.Body)

	return func() (e Event) {
		t.Helper()

		silent.Reset(limit)
		defer silent.Stop()

		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}

			line = strings.TrimSpace(line)
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				e.Kind = kind
			}

			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
					t.Fatal(err)
				}

				return e
			}
		}
	}
}

// Browser opens a tab of a headless Chromium. complaints returns what the page has
// written to its console. more are further options of Chromium. It skips the test if there is no
// Chromium.
func Browser(t *testing.T, more ...chromedp.ExecAllocatorOption) (tab context.Context, complaints func() []string) {
	t.Helper()

	path := ""

	for _, name := range []string{"chromium", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}

	if path == "" {
		t.Skip("neither chromium, google-chrome nor chrome is on PATH")
	}

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(limit))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}

	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(options, more...)...)
	t.Cleanup(cancel)
	tab, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)

	var (
		mu   sync.Mutex
		said []string
	)

	messages := chromedp.Console(tab)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}

			mu.Lock()

			said = append(said, m.String())
			mu.Unlock()
		}
	}()

	return tab, func() []string {
		mu.Lock()
		defer mu.Unlock()

		return slices.Clone(said)
	}
}

// Action is a step in the browser.
type Action = chromedp.Action[chromedp.Void]

// Do runs actions in a tab, one after the other. Each has two minutes.
func Do(tab context.Context, actions ...Action) error {
	for _, a := range actions {
		if _, err := Run(tab, a); err != nil {
			return err
		}
	}

	return nil
}

// Run runs an action in a tab, and returns its value. It has two minutes.
func Run[T any](tab context.Context, a chromedp.Action[T]) (T, error) {
	return chromedp.Run(tab, func(ctx context.Context, page *chromedp.Target) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()

		return a(ctx, page)
	})
}

// See waits until the value of a script is true, also on a page that opens in the meantime.
func See(condition string) Action {
	return func(ctx context.Context, tab *chromedp.Target) (none chromedp.Void, err error) {
		for range 5 {
			_, err = chromedp.Poll[bool]("Boolean("+condition+")", chromedp.WithPollingTimeout(limit))(ctx, tab)
			if err == nil || !strings.Contains(err.Error(), "context with specified id") && !strings.Contains(err.Error(), "navigated") {
				break // otherwise the browser left the page in the meantime
			}

			time.Sleep(100 * time.Millisecond)
		}

		if err != nil {
			err = fmt.Errorf("%s: %w", condition, err)
		}

		return none, err
	}
}

// Says waits until an element contains a text.
func Says(selector, text string) Action {
	quoted, _ := json.Marshal(text)
	where, _ := json.Marshal(selector)

	return See(fmt.Sprintf("document.querySelector(%s)?.textContent.includes(%s)", where, quoted))
}

// Resize gives the page a size in pixels, and a colour scheme.
func Resize(width, height int64, mode string) Action {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
		})
		if err == nil {
			_, err = cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: mode}},
			})
		}

		return err
	})
}

// Shoot keeps pictures of the window and of the whole page in the folder of go test -artifacts.
func Shoot(t *testing.T, tab context.Context, name string) {
	t.Helper()

	for suffix, take := range map[string]chromedp.Action[[]byte]{"": chromedp.CaptureScreenshot(), "-whole": chromedp.FullScreenshot(100)} {
		picture, err := Run(tab, take)
		if err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+suffix+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Fits fails the test if the page is wider than the window.
func Fits(t *testing.T, tab context.Context, width int64) {
	t.Helper()

	over, err := Run(tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
	if err != nil || over > 0 {
		t.Errorf("at %d px the page is %d px too wide, %v", width, over, err)
	}
}
