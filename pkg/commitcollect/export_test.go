package commitcollect_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/account"
)

// export is an answer with an export.
type export struct {
	StartedAt time.Time
	URL       string
}

// exportOf requests the export of a user.
func exportOf(w *commitcollecttest.World, user string, status int) export {
	w.T.Helper()

	out := w.Ask(user, http.MethodGet, "/account/export", nil)
	if out.StatusCode != status {
		w.T.Fatalf("got %d %s, want %d", out.StatusCode, out.Body, status)
	}

	return testkit.Decode[export](w.World, out)
}

// download returns the file of a link, "" if there is none.
func download(w *commitcollecttest.World, link string) string {
	w.T.Helper()

	server := httptest.NewServer(w.Files)
	defer server.Close()

	at, err := url.Parse(link)
	testkit.Must(w.T, err)

	out, err := http.Get(server.URL + at.RequestURI())
	testkit.Must(w.T, err)

	defer out.Body.Close()

	text, err := io.ReadAll(out.Body)
	testkit.Must(w.T, err)

	if out.StatusCode != http.StatusOK {
		return ""
	}

	return string(text)
}

// TestUserTakesTheExport with the room's session: it has what the accounts room would get, once a day.
func TestUserTakesTheExport(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann", "bob")
	refused(t, "without a session", w.Ask("", http.MethodGet, "/account/export", nil), 401, "missing_session")

	first := exportOf(w, "ann", http.StatusOK)
	text := download(w, first.URL)

	for _, part := range []string{"PROFILE", "STRAVA#CONNECTION", "WORKOUT#STRAVA#", "MILESTONE#", "#AWARD#01", "AUTH_SIGNUP", "seenAt", "shareId"} {
		if !strings.Contains(text, part) {
			t.Errorf("the export lacks %s", part)
		}
	}

	for _, part := range []string{"accessToken", "refreshToken", "now.", "USER#bob"} {
		if strings.Contains(text, part) {
			t.Errorf("the export has %s", part)
		}
	}

	var document struct{ Items []any }
	testkit.Must(t, json.Unmarshal([]byte(text), &document))
	same(t, "the items", len(document.Items), w.Count(tables.Main, "USER#ann", ""))

	reads := w.CountUnits(func() { same(t, "the export of the same day", exportOf(w, "ann", 200).StartedAt, first.StartedAt) }).Reads
	if reads > 3 {
		t.Errorf("the export of the same day costs %.1f reads, want that of the session and of one item", reads)
	}

	w.MoveClock(w.Clock.Now().Add(24 * time.Hour))

	if next := exportOf(w, "ann", 200); !next.StartedAt.After(first.StartedAt) {
		t.Errorf("a day later the export is of %v, want a new one", next.StartedAt)
	}
}

// TestExportIsMadeByOneRequest at a time. Another one takes over when the first must be dead.
func TestExportIsMadeByOneRequest(t *testing.T) {
	t.Parallel()
	w := commitcollecttest.Ready(t, strava.Faults{}, "ann")
	testkit.PutRows(w.World, tables.Main, stored{"PK": "USER#ann", "SK": "EXPORT", "startedAtUtc": w.Clock.Now().Unix(), "done": false})
	w.MoveClock(w.Clock.Now().Add(10 * time.Second))

	out := w.Ask("ann", http.MethodGet, "/account/export", nil)
	same(t, "the answer", []any{out.StatusCode, testkit.Header(out).Get("Retry-After")}, []any{202, "10"})
	same(t, "the link", testkit.Decode[export](w.World, out).URL, "")

	w.MoveClock(w.Clock.Now().Add(30 * time.Second))

	if download(w, exportOf(w, "ann", http.StatusOK).URL) == "" {
		t.Error("there is no file")
	}
}

// TestExportEndsWithTheAccount: its file is deleted, and a deleted user gets no other.
func TestExportEndsWithTheAccount(t *testing.T) {
	t.Parallel()
	w := busy(t, "ann", "bob")
	first, bobs := exportOf(w, "ann", http.StatusOK), exportOf(w, "bob", http.StatusOK)
	testkit.PutRows(w.World, account.Deleted, account.Tombstone{UserID: "ann", DeletedAt: "2026-06-06T12:00:00Z"})
	w.MoveClock(w.Clock.Now().Add(25 * time.Hour))
	refused(t, "another export", w.Ask("ann", http.MethodGet, "/account/export", nil), 401, "account_deleted")

	for range 2 {
		testkit.Must(t, forget(w, "ann"))
	}

	same(t, "the file", download(w, first.URL), "")

	if download(w, bobs.URL) == "" {
		t.Error("the file of another user is gone")
	}
}
