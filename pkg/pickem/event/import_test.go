package event_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
)

const cardFile = `name,points,preshow,championships,teams
"Opener, of four",5,true,,Ann;Bob;Cat;Dan
Tag,20,,Tidal Titles; World Titles,The Undertow: Marlow + Kit; *Salt and Iron: Brine + Anchor
`

// imported imports a file with an environment, and returns "rows changes", or the code, and what is wrong.
func imported(w *pickemtest.Room, env app.Env, kind, format, text, url string, dry bool) (string, []event.RowError) {
	w.T.Helper()

	in := &event.Import{EventID: pickemtest.Show}
	in.UserID = testkit.Administrator
	in.Body.Kind, in.Body.Format, in.Body.Text, in.Body.URL, in.Body.DryRun = kind, format, text, url, dry

	out, err := testkit.OpenWith(w.World, env, event.OpenEvents).Import(w.NewContext(), in)
	if refused, ok := errors.AsType[*problem.Error](err); ok {
		wrong, _ := refused.Extensions["rows"].([]event.RowError)
		return refused.Code, wrong
	}

	testkit.Must(w.T, err)

	return fmt.Sprint(out.Body.Rows, " ", out.Body.Changes), out.Body.Errors
}

// TestCardIsImported: a dry run writes nothing, a second run changes nothing, and JSON means the same.
func TestCardIsImported(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(0)

	env := w.Env(event.ImportFunction())
	run := func(format, text string, dry bool, want string) {
		t.Helper()

		if got, wrong := imported(w, env, "card", format, text, "", dry); got != want || len(wrong) > 0 {
			t.Errorf("got %s and %+v, want %s", got, wrong, want)
		}
	}
	card := func() (all []string) {
		s, err := item.ReadEventWithCard(w.NewContext(), w.DB(), pickemtest.Show)
		testkit.Must(t, err)

		for _, m := range s.Card {
			line := fmt.Sprint(m.Name, " ", m.Points, " ", m.Preshow, " ", m.Championships)
			for _, team := range m.Teams {
				line += fmt.Sprintf(" %s%v%t", team.Name, team.Members, team.Champion)
			}

			all = append(all, line)
		}

		return all
	}

	run("csv", cardFile, true, "2 2")

	if got := card(); len(got) != 0 {
		t.Errorf("a dry run wrote %q", got)
	}

	run("csv", cardFile, false, "2 2")
	run("csv", cardFile, false, "2 0")
	run("json", `[{"name":"Opener, of four","points":5,"preshow":true,"teams":[{"members":["Ann"]},{"members":["Bob"]},{"members":["Cat"]},`+
		`{"members":["Dan"]}]},{"name":"Last","points":7,"teams":[{"members":["Eve"]},{"members":["Fay"]}]}]`, false, "2 1")

	want := []string{
		"Opener, of four 5 true [] [Ann]false [Bob]false [Cat]false [Dan]false",
		"Tag 20 false [Tidal Titles World Titles] The Undertow[Marlow Kit]false Salt and Iron[Brine Anchor]true",
		"Last 7 false [] [Eve]false [Fay]false",
	}
	if diff := cmp.Diff(want, card()); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
}

// TestResultsAreImported: by the name of a match or its id; the winner by place, team or member.
func TestResultsAreImported(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann")
	w.CreateShow(3)
	w.Pick("ann", pickemtest.Show, 0)

	env := w.Env(event.ImportFunction())
	file := "match,result,reason\nmatch 1,left 1,\n" + pickemtest.MatchID(2) + ",1,By pinfall.\nMatch 3,VOID,\n"

	if got, _ := imported(w, env, "results", "csv", file, "", false); got != "event_upcoming" {
		t.Errorf("before the lock: %s", got)
	}

	w.LockEvent(pickemtest.Show)

	if got, _ := imported(w, env, "card", "csv", cardFile, "", false); got != "event_locked" {
		t.Errorf("a card after the lock: %s", got)
	}

	for _, want := range []string{"3 3", "3 0"} {
		if got, wrong := imported(w, env, "results", "csv", file, "", false); got != want || len(wrong) > 0 {
			t.Errorf("got %s and %+v, want %s", got, wrong, want)
		}
	}

	s, err := item.ReadEventWithCard(w.NewContext(), w.DB(), pickemtest.Show)
	testkit.Must(t, err)

	var got []int
	for _, m := range s.Card {
		got = append(got, *m.Result)
	}

	if diff := cmp.Diff([]int{0, 1, item.Void}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestImportSaysWhatIsWrongWithEachRow: and writes nothing, also of the rows that are right.
func TestImportSaysWhatIsWrongWithEachRow(t *testing.T) {
	t.Parallel()

	long := "name,points,teams\n" + strings.Repeat("x,1,a;b\n", 100)

	for _, c := range []struct {
		kind, format, text string
		want               []string // line, field
	}{
		{"card", "csv", "", []string{"1 "}},
		{"card", "csv", "name,prize\nOne,2\n", []string{"2 prize"}},
		{"card", "csv", "name,points,teams\nOne,10,a;b\nTwo,none,a;b\nThree,0,a;b\nFour,10,a\nFive,10\nOne,3,c;d\n,5,a;b\n",
			[]string{"3 points", "4 points", "5 teams", "6 ", "7 name", "8 name"}},
		{"card", "csv", "name,points,teams\nOne,930,a;b\nTwo,10,a;b\n", []string{"3 points"}},
		{"card", "csv", "name,points,preshow,teams\nOne,9,perhaps,a;b\n", []string{"2 preshow"}},
		{"card", "csv", "name,points,teams\nOne,10,a;\"b\n", []string{"2 "}},
		{"card", "csv", "name,points,teams\nOne,10,\u202ea;b\n", []string{"2 teams[0].members[0]"}},
		{"card", "json", `{"name":"One"}`, []string{"1 "}},
		{"card", "json", `[{"name":"One","points":"2","teams":[]},7,{"name":"Two","points":1,"teams":[{"members":["a"]},{"members":["b"]}],"x":1}]`,
			[]string{"1 points", "1 teams", "2 ", "3 x"}},
		{"results", "csv", "match,result\nMatch 1,0\nMatch 9,0\nMatch 2,2\nMatch 2,nobody\nMatch 1,1\nMatch 3,\n",
			[]string{"3 match", "4 result", "5 match", "6 match", "7 result"}},
		{"card", "csv", long, nil},
	} {
		w := pickemtest.New(t)
		w.CreateShow(3)

		if c.kind == "results" {
			w.LockEvent(pickemtest.Show)
		}

		before := w.Rows()
		env := w.Env(event.ImportFunction())
		got, wrong := imported(w, env, c.kind, c.format, cmpOr(c.text, "\n"), "", false)
		_, dry := imported(w, env, c.kind, c.format, cmpOr(c.text, "\n"), "", true)

		var lines []string
		for _, e := range wrong {
			lines = append(lines, fmt.Sprint(e.Line, " ", e.Field))

			if e.Message == "" {
				t.Errorf("%q: no message for %+v", c.text, e)
			}
		}

		if c.want != nil && cmp.Diff(c.want, lines) != "" || got != "invalid_rows" || len(lines) == 0 {
			t.Errorf("%.60q: %s, wrong (-want +got):\n%s\n%+v", c.text, got, cmp.Diff(c.want, lines), wrong)
		}

		if diff := cmp.Diff(wrong, dry); diff != "" {
			t.Errorf("%.60q: a dry run finds (-run +dry):\n%s", c.text, diff)
		}

		if diff := cmp.Diff(before, w.Rows()); diff != "" {
			t.Errorf("%.60q: rows were written (-was +is):\n%s", c.text, diff)
		}
	}
}

func cmpOr(text, other string) string {
	if text == "" {
		return other
	}

	return text
}

// TestInterruptedImportIsRepeated: a second run completes the first, and notifies the members who had picked of each match.
func TestInterruptedImportIsRepeated(t *testing.T) {
	t.Parallel()

	type outcome struct {
		Card    map[string]string
		Notices []string // without repetitions: a member gets one for each id
	}

	dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
		w := pickemtest.New(t)
		w.AddMembers("ann")
		w.CreateShow(1)
		w.Pick("ann", pickemtest.Show, 0)

		in := &event.Import{EventID: pickemtest.Show}
		in.UserID = testkit.Administrator
		in.Body.Kind, in.Body.Format, in.Body.Text = "card", "csv", cardFile

		_, err := testkit.OpenWith(w.World, w.CrashingEnv(event.ImportFunction(), p), event.OpenEvents).Import(w.NewContext(), in)
		p.Ended(err)

		_, err = testkit.OpenWith(w.World, w.Env(event.ImportFunction()), event.OpenEvents).Import(w.NewContext(), in)
		testkit.Must(t, err)

		s, err := item.ReadEventWithCard(w.NewContext(), w.DB(), pickemtest.Show)
		testkit.Must(t, err)

		out := outcome{Card: map[string]string{}}
		for _, m := range s.Card {
			out.Card[m.GSISK] = m.ID + m.Name
		}

		bodies := map[string]bool{}
		for _, m := range w.Queues.Messages(notice.Queue.Name) {
			bodies[m.Body] = true
		}

		out.Notices = slices.Sorted(maps.Keys(bodies))

		return out
	})
}

type pages func(*http.Request) (*http.Response, error)

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) { return p(r) }

// TestFileIsReadFromAnAddress: with https, up to 1 MiB, following a few redirects to such addresses.
// What is wrong is said without the address.
func TestFileIsReadFromAnAddress(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(0)

	env := w.Env(event.ImportFunction())
	env.HTTP = pages(func(r *http.Request) (*http.Response, error) {
		out := httptest.NewRecorder()

		switch r.URL.Path {
		case "/card.csv":
			io.WriteString(out, cardFile)
		case "/large":
			io.WriteString(out, strings.Repeat("x", 1<<20+1))
		case "/moved":
			http.Redirect(out, r, "/card.csv", http.StatusFound)
		case "/loop":
			http.Redirect(out, r, "/loop", http.StatusFound)
		case "/plain":
			http.Redirect(out, r, "http://files.example/card.csv", http.StatusFound)
		case "/broken":
			return nil, errors.New("secret=1")
		default:
			http.NotFound(out, r)
		}

		return out.Result(), nil
	})

	for url, want := range map[string]string{
		"https://files.example/card.csv?secret=1": "2 2",
		"https://files.example/moved":             "2 2",
		"https://files.example/large":             "file_unreadable",
		"https://files.example/loop?secret=1":     "file_unreadable",
		"https://files.example/plain?secret=1":    "file_unreadable",
		"https://files.example/broken?secret=1":   "file_unreadable",
		"https://files.example/nothing?secret=1":  "file_unreadable",
		"http://files.example/card.csv?secret=1":  "file_unreadable",
		"https://files.example:8443/card.csv":     "file_unreadable",
		"https://me:secret=1@files.example/card":  "file_unreadable",
		"ftp://files.example/card.csv?secret=1":   "file_unreadable",
		"file:///etc/passwd":                      "file_unreadable",
		"https://files.example/%zz":               "file_unreadable",
	} {
		in := &event.Import{EventID: pickemtest.Show}
		in.UserID = testkit.Administrator
		in.Body.Kind, in.Body.Format, in.Body.URL, in.Body.DryRun = "card", "csv", url, true

		got := ""

		out, err := testkit.OpenWith(w.World, env, event.OpenEvents).Import(w.NewContext(), in)
		if err == nil {
			got = fmt.Sprint(out.Body.Rows, " ", out.Body.Changes)
		} else if got = pickemtest.CodeOf(err); strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v", url, err)
		}

		if got != want {
			t.Errorf("%s: got %s (%v), want %s", url, got, err, want)
		}
	}

	if got, _ := imported(w, w.Env(event.ImportFunction()), "card", "csv", "x", "https://files.example", true); got == "1 1" {
		t.Error("text and url are accepted together")
	}
}

// TestOnlyPublicAddressesAreAsked: a function connects to no host of its own network, by whatever
// name or notation.
func TestOnlyPublicAddressesAreAsked(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1:248:1893:25c8:1946": true, "8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "198.18.0.1": false, "192.0.2.1": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "::1": false, "::": false, "fe80::1": false, "fd00:ec2::254": false,
		"ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:8.8.8.8": true, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
		"::127.0.0.1": false, "2001:db8::1": false, "fe80::1%eth0": false,
	} {
		if got := event.IsPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %t, want %t", address, got, want)
		}
	}

	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)

	for _, address := range []string{server.Listener.Addr().String(), "127.0.0.1:443", "93.184.216.34:22"} {
		if err := event.CheckAddress("tcp", address, nil); err == nil {
			t.Errorf("%s is accepted", address)
		}
	}

	// The client of the function refuses before it connects.
	if out, err := event.NewFetcher(nil).Get(strings.Replace(server.URL, "127.0.0.1", "localhost", 1)); err == nil {
		out.Body.Close()
		t.Errorf("a server of this machine answers %d", out.StatusCode)
	} else if !strings.Contains(err.Error(), "not on the public internet") {
		t.Errorf("the error is %v", err)
	}
}
