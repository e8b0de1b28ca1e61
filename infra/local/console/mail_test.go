package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/local/console/consoletest"
	"matchday/infra/sim/guard"
	"matchday/infra/sim/ses"
)

// mailTo has a function of the sample send a mail.
func (s *sample) mailTo(t *testing.T, to, subject, text, html string) int {
	t.Helper()

	type content struct{ Data, Charset string }

	body := map[string]any{"Text": content{text, "UTF-8"}}
	if html != "" {
		body["Html"] = content{html, "UTF-8"}
	}

	in, err := json.Marshal(map[string]any{
		"FromEmailAddress": "lab@example.com", "Destination": map[string]any{"ToAddresses": []string{to}},
		"Content": map[string]any{"Simple": map[string]any{"Subject": content{subject, "UTF-8"}, "Body": body}},
	})
	if err != nil {
		t.Fatal(err)
	}

	w := httptest.NewRecorder()
	s.Mail.ServeHTTP(w, httptest.NewRequest(http.MethodPost, ses.SendEmail, bytes.NewReader(in)))

	return w.Code
}

// TestMails: the tab has the latest mails, newest first, and the HTML of a mail is a page
// without scripts.
func TestMails(t *testing.T) {
	t.Parallel()

	s := newSample(t)
	if got := s.hub.mailbox(start)["mails"]; !cmp.Equal(got, map[string]any{"sent": 0, "latest": []mail{}}) {
		t.Errorf("without a fleet there are %v", got)
	}

	s.attach()
	s.Mail.Suppress("bob@example.org")
	s.mailTo(t, "bob@example.org", "First", "One", "")
	s.mailTo(t, "ann@example.org", "Second", "Two", "<p>Two<script>alert(2)</script>")

	at := start.UnixMilli()

	want := map[string]any{"sent": 2, "latest": []mail{
		{N: 2, At: at, From: "lab@example.com", To: "ann@example.org", Subject: "Second", Text: "Two", HTML: true},
		{N: 1, At: at, From: "lab@example.com", To: "bob@example.org", Subject: "First", Text: "One", Suppressed: true},
	}}
	if diff := cmp.Diff(want, s.hub.mailbox(start)["mails"]); diff != "" {
		t.Errorf("the mails differ (-want +got):\n%s", diff)
	}

	for range mailsShown {
		s.mailTo(t, "ann@example.org", "Again", "Three", "")
	}

	got := s.hub.mailbox(start)["mails"].(map[string]any)
	if latest := got["latest"].([]mail); got["sent"] != mailsShown+2 || len(latest) != mailsShown || latest[mailsShown-1].N != 3 {
		t.Errorf("of %v mails %d are shown, the oldest is %+v", got["sent"], len(latest), latest[len(latest)-1])
	}

	for path, status := range map[string]int{"2": 200, "1": 404, "0": 404, "-1": 404, "53": 404, "x": 404} {
		w := httptest.NewRecorder()
		s.hub.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/console/mail/message/"+path, nil))

		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != status || status == 200 &&
			(!strings.HasPrefix(policy, "sandbox allow-popups ") || strings.Contains(policy, "allow-scripts") ||
				!strings.Contains(policy, "default-src 'none'")) {
			t.Errorf("the message %s: %d %q", path, w.Code, policy)
		}
	}
}

// TestMailButtons: a button has SES refuse the next mails, as often as the SDK tries.
func TestMailButtons(t *testing.T) {
	t.Parallel()

	s := newSample(t).attach()
	for _, c := range []struct {
		answer string
		status int
		codes  []int // of the next mails
	}{
		{"Throttled", 200, []int{429, 429, 429, 429, 200}},
		{"Down", 200, []int{500, 500, 500, 500, 200}},
		{"Rejected", 200, []int{400, 200}},
		{"Down", 200, nil},
		{"Accept mail again", 200, []int{200}},
		{"Maybe", 400, []int{200}},
	} {
		if status, said := consoletest.Post(s.hub.Handler(), "mail/answer", `{"answer":"`+c.answer+`"}`); status != c.status {
			t.Errorf("%s: %d %s", c.answer, status, said)
		}

		for i, want := range c.codes {
			if got := s.mailTo(t, "ann@example.org", "Hello", "Text", ""); got != want {
				t.Errorf("%s: mail %d gets %d, want %d", c.answer, i, got, want)
			}
		}
	}
}

// TestMailPage opens the links of mails in a browser: those of a text, and those of an HTML.
func TestMailPage(t *testing.T) {
	t.Parallel()
	s := newSample(t).attach()
	s.Mail.Suppress("bob@example.org")

	opened := make(chan string, 10)
	mux := http.NewServeMux()
	mux.Handle("/", s.hub.Handler())
	mux.HandleFunc("/sign-in", func(_ http.ResponseWriter, r *http.Request) { opened <- r.URL.RawQuery })
	server := httptest.NewServer(guard.Pages(mux))
	t.Cleanup(server.Close)
	tab, complaints := consoletest.Browser(t)
	run := func(actions ...consoletest.Action) {
		t.Helper()

		if err := consoletest.Do(tab, actions...); err != nil {
			t.Fatalf("%v; the browser's console has %q", err, complaints())
		}
	}
	click := func(selector string) consoletest.Action { return chromedp.Click(chromedp.CSS(selector)) }
	follows := func(want string) {
		t.Helper()

		select {
		case got := <-opened:
			if got != want {
				t.Errorf("the link opens %s, want %s", got, want)
			}
		case <-tab.Done():
			t.Fatal("the link opens nothing")
		}
	}
	see, says := consoletest.See, consoletest.Says
	run(consoletest.Resize(1440, 1000, "light"), chromedp.Navigate(server.URL+"/mail/"), says("title", "Mail"),
		says("[aria-current=page]", "Mail"), says("#mail-none", "No mail yet"),
		see(`!document.querySelector("#api")`))
	s.mailTo(t, "bob@example.org", "Dropped", "Nobody reads this.", "")
	s.mailTo(t, "ann@example.org", "Sign in to <b>3FC</b>",
		"Open "+server.URL+"/sign-in?token=a.b-c&x=1. It is valid for 15 minutes.\n\n<img src=x onerror=alert(1)>",
		`<style>a { color: green }</style><p>Open <a href="`+server.URL+
			`/sign-in?token=html">the page</a>.<script>document.title = "scripted"</script>`)
	run(see(`document.querySelectorAll("#mails details").length === 2`), says("#mails li:first-child b", "Sign in to <b>3FC</b>"),
		says("#mails li:first-child .letter", "<img src=x onerror=alert(1)>"),
		says("#mails li:last-child .pill", "suppressed"), says("#mail-about", "2 sent"), see(`document.querySelector("#mails details").open`))

	for _, look := range []struct {
		width, height int64
		mode          string
	}{{1440, 1000, "light"}, {390, 844, "dark"}} {
		run(consoletest.Resize(look.width, look.height, look.mode))
		consoletest.Fits(t, tab, look.width)
		consoletest.Shoot(t, tab, fmt.Sprintf("mail-%d-%s", look.width, look.mode))
	}

	run(consoletest.Resize(1440, 1000, "light"), click("#mail-to"), chromedp.SendKeys(chromedp.CSS("#mail-to"), "BOB@"),
		see(`document.querySelectorAll("#mails li").length === 1`), says("#mails", "Dropped"),
		chromedp.SendKeys(chromedp.CSS("#mail-to"), "x"), says("#mail-none", "No mail to this address"))
	run(click("#mail-answers button:nth-child(3)"), says("#said", "rejected"))

	if said := complaints(); len(said) > 0 {
		t.Errorf("the browser's console has %q", said)
	}

	run(chromedp.Navigate(server.URL+"/console/mail/message/2"), says("p", "Open the page"),
		see(`document.title !== "scripted" && getComputedStyle(document.querySelector("a")).color === "rgb(0, 128, 0)"`), click("a"))
	follows("token=html")
	// or the navigation under way would end the next one
	run(see(`location.pathname === "/sign-in"`))
	// it opens in another tab
	run(chromedp.Navigate(server.URL+"/mail/"), see(`document.querySelector("#mails .letter a")`), click("#mails .letter a"))
	follows("token=a.b-c&x=1")
}
