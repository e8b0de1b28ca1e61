package push

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"matchday/infra/sim/apns"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// TestPausesBetweenTries: a push is tried eight times, with pauses from half of 200 ms to the
// whole, doubled for each try up to 2 s.
func TestPausesBetweenTries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := over(t, 1)

		var asked []time.Time

		go func() {
			for {
				f, err := p.ReadFrame()
				if err != nil {
					return
				}

				if f.Header().Type == http2.FrameData {
					asked = append(asked, time.Now())

					p.Answer(f.Header().StreamID, "503", `{"reason":"ServiceUnavailable"}`)
				}
			}
		}()

		_, counts, err := send(t, s, alert(t), tokens(1))
		if err != nil || counts != (Counts{Requeued: 1, Retries: 7}) || len(asked) != 8 {
			t.Fatalf("%+v, %v after %d tries, want 8", counts, err, len(asked))
		}

		for i, limit := range []time.Duration{200, 400, 800, 1600, 2000, 2000, 2000} {
			limit *= time.Millisecond
			if pause := asked[i+1].Sub(asked[i]); pause < limit/2 || pause > limit {
				t.Errorf("pause %d is %v, want %v to %v", i+1, pause, limit/2, limit)
			}
		}
	})
}

// TestPauseEndsWithTheRun: a push that waits for the next try ends at once.
func TestPauseEndsWithTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, newer := time.Now(), errors.New("a newer state")
		ctx, cancel := context.WithCancelCause(t.Context())

		time.AfterFunc(time.Second, func() { cancel(newer) })

		if err := wait(ctx, time.Hour); err != newer || time.Since(began) != time.Second {
			t.Errorf("got %v after %v, want the cause after 1 s", err, time.Since(began))
		}

		if err := wait(t.Context(), time.Minute); err != nil || time.Since(began) != 61*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// TestIdleConnectionIsReplaced: after IdleTimeout the push goes out on a new connection.
func TestIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	to := tokens(1)
	server.Answer(to[0], times(1, apns.Refuse("IdleTimeout"))...)

	_, counts, err := send(t, s, alert(t), to)
	if n := server.Counts()["Connection"]; err != nil || counts.Delivered != 1 || n != 2 {
		t.Errorf("%+v, %v on %d connections, want 2", counts, err, n)
	}
}

// TestGoneAfterATry: a token that becomes invalid between two tries is reported as such.
func TestGoneAfterATry(t *testing.T) {
	t.Parallel()
	server, s := apple(t)
	to := tokens(1)
	server.Answer(to[0], append(times(1, apns.Refuse("TooManyRequests")), apns.Refuse("BadDeviceToken"))...)

	got, counts, err := send(t, s, alert(t), to)
	if want := (Outcome{Unregistered, "BadDeviceToken", start}); err != nil || got[to[0]] != want || counts.Retries != 1 {
		t.Errorf("got %+v after %d retries, %v; want %+v after 1", got[to[0]], counts.Retries, err, want)
	}
}

// TestTokensOfTheGreatestLength: 100 bytes are a token, and 101 are none.
func TestTokensOfTheGreatestLength(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		"":                        false,
		"a":                       false,
		"ab":                      true,
		"AF09":                    true,
		strings.Repeat("ab", 100): true,
		strings.Repeat("ab", 101): false,
		"ag":                      false,
	} {
		if got := isToken(text); got != want {
			t.Errorf("%d characters: %t, want %t", len(text), got, want)
		}
	}
}

// TestAuthorityOfTheSimulator: a deployed function trusts the system's authorities only.
func TestAuthorityOfTheSimulator(t *testing.T) {
	t.Parallel()

	roots, err := rootsOf(app.Env{Stage: "prod", Setting: func(string) string { return "/nowhere" }})
	if roots != nil || err != nil {
		t.Errorf("deployed: %v, %v, want the system's", roots, err)
	}

	if roots, err := rootsOf(app.Env{Stage: spec.Local, Setting: func(string) string { return "" }}); roots != nil || err != nil {
		t.Errorf("local, without a file: %v, %v, want the system's", roots, err)
	}
}
