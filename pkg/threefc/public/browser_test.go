package public_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
)

// TestPagesInABrowser: without scripts, on a phone and on a wide screen, light and dark, the
// pages show something in their colors, nothing is wider than the window, and the policy
// refuses nothing of the page. The pictures of the game are those of docs.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	tab, complaints := consoletest.Browser(t)
	w, l := world(t)
	long := threefctest.New(t)
	long.SignIn("ann")
	m := long.Found("ann")

	wide := strings.Repeat("W", 40)
	for _, team := range []string{"red", "blue", "yellow"} {
		long.Do("ann", "PUT", "/v1/seasons/"+m.SeasonID+"/teams/"+team, map[string]any{"name": wide})
	}

	for _, p := range m.Players {
		long.Do("ann", "PATCH", "/v1/players/"+p, map[string]any{"nickname": wide})
	}

	long.Do("ann", "PATCH", "/v1/leagues/"+m.ID, map[string]any{"name": wide})
	g, h := w.Schedule("ann", l), long.Schedule("ann", m)
	w.Do("ann", "PATCH", "/v1/games/"+g, map[string]any{"location": "Powerleague, pitch 2"})
	long.Do("ann", "PATCH", "/v1/games/"+h, map[string]any{"location": wide})

	for _, one := range []struct {
		w *threefctest.World
		l threefctest.League
		g string
	}{{w, l, g}, {long, m, h}} {
		one.w.MoveClock(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC))
		one.w.Do("ann", "POST", "/v1/games/"+one.g+"/thirds/1/start", map[string]any{})
		score(one.w, one.l, one.g)
	}

	live := slug(w, g)

	finish(long, h)
	here, _ := w.Serve()
	there, _ := long.Serve()
	pages := map[string]string{
		"threefc-game":   here + season + "/" + live,
		"season":         here + season,
		"refusal":        here + season + "/nothing",
		"game-of-long":   there + "/l/" + m.ID + "/" + m.SeasonID + "/" + h,
		"season-of-long": there + "/l/" + m.ID + "/" + m.SeasonID,
	}
	noScripts := chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
	testkit.Must(t, consoletest.Do(tab, noScripts))

	for _, look := range []struct {
		width, height int64
		mode          string
		back          string // of the page
	}{{360, 740, "light", "#ffffff"}, {360, 740, "dark", "#111418"}, {1280, 900, "light", "#ffffff"}} {
		for name, url := range pages {
			testkit.Must(t, consoletest.Do(tab, consoletest.Resize(look.width, look.height, look.mode), chromedp.Navigate(url)))

			over, err := consoletest.Run(tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
			if err != nil || over > 0 {
				t.Errorf("%s at %d px is %d px too wide, %v", name, look.width, over, err)
			}

			picture, err := consoletest.Run(tab, chromedp.CaptureScreenshot())
			testkit.Must(t, err)
			testkit.Must(t, os.WriteFile(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-%s.png", name, look.width, look.mode)), picture, 0o600))
			notBlank(t, name+" "+look.mode, picture, look.back)
		}
	}

	for _, said := range complaints() {
		if !strings.Contains(said, "404") {
			t.Errorf("a page complained %q", said)
		}
	}
}

// notBlank checks that a picture has a background, and enough beside it.
func notBlank(t *testing.T, name string, picture []byte, back string) {
	t.Helper()

	shot, err := png.Decode(bytes.NewReader(picture))
	testkit.Must(t, err)

	colors := map[string]int{}

	size := shot.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			r, g, b, _ := shot.At(x, y).RGBA()
			colors[fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)]++
		}
	}

	if n := size.X * size.Y; colors[back] < n/3 || colors[back] > n*998/1000 || len(colors) < 8 {
		t.Errorf("%s: %d of %d pixels have the color %s, and there are %d colors", name, colors[back], n, back, len(colors))
	}
}
