package player_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/pkg/threefc/player"
)

func TestMain(m *testing.M) {
	testkit.SetDefaultLogger()
	os.Exit(m.Run())
}

// TestTooLongForACode: a text that no QR code can hold is an error.
func TestTooLongForACode(t *testing.T) {
	t.Parallel()

	if picture, err := player.QR(strings.Repeat("x", 3000)); err == nil || !strings.Contains(err.Error(), "encode a QR code") {
		t.Errorf("got %d bytes, %v", len(picture), err)
	}
}

// TestJoinCodeIsShown: the picture has the modules of the link, within a margin, and only
// for a valid code.
func TestJoinCodeIsShown(t *testing.T) {
	t.Parallel()
	w := threefctest.New(t)
	w.SignIn("ann")
	g := w.Schedule("ann", w.Found("ann"))
	code := testkit.Decode[struct{ Code, URL string }](w.World, w.Do("ann", "POST", "/v1/games/"+g+"/join-code", nil))
	target := "/v1/join/" + code.Code + "/qr.png"

	out := w.Do("", "GET", target, nil)
	if h := testkit.Header(out); h.Get("Content-Type") != "image/png" || h.Get("Cache-Control") != "no-store" || !out.IsBase64Encoded {
		t.Fatalf("the headers are %v, base64 %v", h, out.IsBase64Encoded)
	}

	text, err := base64.StdEncoding.DecodeString(out.Body)
	testkit.Must(t, err)
	picture, err := png.Decode(bytes.NewReader(text))
	testkit.Must(t, err)
	want, err := qr.Encode(code.URL, qr.M, qr.Unicode)
	testkit.Must(t, err)

	const module, margin = 8, 4

	n := want.Bounds().Dx()
	if side := picture.Bounds().Dx(); side != (n+2*margin)*module || picture.Bounds().Dy() != side || len(text) > 2000 {
		t.Fatalf("the picture has %v and %d bytes", picture.Bounds(), len(text))
	}

	dark := func(x, y int) bool { r, _, _, _ := picture.At(x, y).RGBA(); return r == 0 }
	for y := range n + 2*margin {
		for x := range n + 2*margin {
			inside := x >= margin && y >= margin && x < n+margin && y < n+margin
			black := false

			if inside {
				r, _, _, _ := want.At(x-margin, y-margin).RGBA()
				black = r == 0
			}

			for _, corner := range [][2]int{{0, 0}, {module - 1, module - 1}} {
				if dark(x*module+corner[0], y*module+corner[1]) != black {
					t.Fatalf("the module %d, %d is not that of the link", x, y)
				}
			}
		}
	}

	if other := w.Do("", "GET", "/v1/join/"+code.Code[:4]+"-"+code.Code[4:]+"/qr.png", nil); !cmp.Equal(other.Body, out.Body) {
		t.Error("another spelling of the code has another picture")
	}

	for _, wrong := range []string{"/v1/join/00000000/qr.png", "/v1/join/x/qr.png"} {
		if err := testkit.CheckProblemCode(w.Ask("", "GET", wrong, nil), http.StatusNotFound, "invalid_or_expired_code"); err != nil {
			t.Errorf("%s: %v", wrong, err)
		}
	}

	w.MoveClock(w.Clock.Now().Add(24 * time.Hour))

	if err := testkit.CheckProblemCode(w.Ask("", "GET", target, nil), http.StatusNotFound, "invalid_or_expired_code"); err != nil {
		t.Errorf("after a day: %v", err)
	}
}
