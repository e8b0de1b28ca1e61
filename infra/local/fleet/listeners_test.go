package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"matchday/infra/sim/chaos"
	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
	"matchday/infra/sim/postgres"
	"matchday/infra/sim/redis"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// listener is an address that a process of the fleet listens on.
type listener struct {
	process string // name of its program
	address netip.AddrPort
}

// listeners returns the addresses that this process and its descendants listen on.
func listeners(t *testing.T) (all []listener) {
	t.Helper()

	inodes := map[string]netip.AddrPort{}

	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}

		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); f[3] == "0A" { // TCP_LISTEN
				inodes["socket:["+f[9]+"]"] = address(t, f[1])
			}
		}
	}

	for _, pid := range family(t) {
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			continue // it has ended
		}

		files, _ := filepath.Glob("/proc/" + pid + "/fd/*")
		for _, file := range files {
			target, _ := os.Readlink(file)

			shared := func(l listener) bool { return l.address == inodes[target] } // by a process that was just forked
			if a, ok := inodes[target]; ok && !slices.ContainsFunc(all, shared) {
				all = append(all, listener{strings.TrimSpace(string(name)), a})
			}
		}
	}

	return all
}

// address reads an address of /proc/net/tcp: words in the order of the processor's bytes.
func address(t *testing.T, text string) netip.AddrPort {
	t.Helper()

	ip, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(ip)

	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil {
		t.Fatalf("the address %s: %v, %v", text, err, err2)
	}

	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}

	a, _ := netip.AddrFromSlice(b)

	return netip.AddrPortFrom(a.Unmap(), uint16(n))
}

// family returns the ids of this process and its descendants.
func family(t *testing.T) (pids []string) {
	t.Helper()

	parents := map[string]string{}

	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range all {
		text, _ := os.ReadFile(file)

		_, after, _ := bytes.Cut(text, []byte(") ")) // after the name of the program
		if f := bytes.Fields(after); len(f) > 1 {
			parents[filepath.Base(filepath.Dir(file))] = string(f[1])
		}
	}

	self := strconv.Itoa(os.Getpid())

	for pid := range parents {
		for p := pid; p != ""; p = parents[p] {
			if p == self {
				pids = append(pids, pid)
				break
			}
		}
	}

	return pids
}

// TestNoListenerAnswersOtherSites asks every address of a started fleet as the page of
// another site would, also of one with a database and a cache, which must answer nothing
// that is HTTP, and do nothing that the request has. The addresses are those that the kernel
// knows, so a new service is among them. It is not parallel: the services of other tests are
// not the fleet's.
func TestNoListenerAnswersOtherSites(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}

	for _, name := range []string{dynamodbsim.Endpoint, postgres.Endpoint, redis.Endpoint} {
		if os.Getenv(name) != "" {
			t.Skipf("the server of %s is not the fleet's", name)
		}
	}

	program := buildLab(t)
	stored := lab
	stored.Functions = slices.Clone(lab.Functions)
	db := spec.SQLDatabase{
		Name:       "lab",
		Migrations: fstest.MapFS{"00001_create.sql": {Data: []byte("-- +goose Up\nCREATE TABLE ball (n int);")}},
	}
	stored.Functions[0].SQL, stored.Functions[0].Caches = []spec.SQLLogin{db.As(spec.SQLAdmin)},
		[]spec.CacheLogin{spec.Cache{Name: "lab"}.As("app", "~*")}

	before := listeners(t)
	for _, c := range []struct {
		name   string
		room   spec.Room
		faults *chaos.Faults
		want   int // listeners beside the API, the services, Lambda, Apple, Google and the engine
	}{
		{"without stores", lab, nil, 0},
		{"with faults", lab, chaos.New(chaos.Config{}), 0},
		{"with stores", stored, nil, 2},
		{"with stores and faults", stored, chaos.New(chaos.Config{}), 4}, // a fault's address in front of each
	} {
		t.Run(c.name, func(t *testing.T) { checkListeners(t, program, before, c.room, c.faults, 6, c.want) })
	}
}

// checkListeners starts a fleet of a room and asks its addresses, but those of before: so many
// must speak HTTP, and so many must not.
func checkListeners(t *testing.T, program string, before []listener, room spec.Room, faults *chaos.Faults, speak, others int) {
	c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
	defer c.Stop()

	f, err := Start(t.Context(), Config{
		Clock:   c,
		Program: program,
		Rooms: []Room{{Room: app.Room{Spec: room}, App: "lab", Simulate: func(h Host) ([]string, error) {
			h.Serve("weather", http.NotFoundHandler())
			return nil, nil
		}}},
		Faults: faults,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	if err := f.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}

	all := slices.DeleteFunc(listeners(t), func(l listener) bool { return slices.Contains(before, l) })

	var silent []listener

	for _, l := range all {
		web := strings.HasPrefix(answerTo(t, l.address, "GET / HTTP/1.1\r\nHost: "+l.address.String()+"\r\nConnection: close\r\n\r\n"), "HTTP/")
		if !web {
			silent = append(silent, l)

			const body = "\r\nSET evil 1\r\n*3\r\n$3\r\nSET\r\n$4\r\nevil\r\n$1\r\n1\r\n"

			request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: "+
				"%d\r\n\r\n%s", l.address, len(body), body)
			if got := answerTo(t, l.address, request); strings.Contains(got, "HTTP/") {
				t.Errorf("%s on %s answers a page with %q", l.process, l.address, got)
			}

			continue
		}

		if l.process == "dynoxide" { // it has no guard, so its address must be unknown
			if !l.address.Addr().IsLoopback() || l.address.Addr() == netip.MustParseAddr("127.0.0.1") {
				t.Errorf("the engine listens on %s, where pages can find it", l.address)
			}

			continue
		}

		refusesOthers(t, l.address)
	}

	if len(all) != speak+others || len(silent) != others {
		t.Errorf("the fleet listens on %v, of which %v do not speak HTTP: want %d and %d", all, silent, speak+others, others)
	}

	for name, cache := range f.Caches {
		if cache.Exists("evil") {
			t.Errorf("the cache %s has what a page has sent", name)
		}
	}
}

// answerTo returns what a service answers to bytes until it has closed the connection, or has
// answered nothing more for a second: nothing at all for 20 s.
func answerTo(t *testing.T, address netip.AddrPort, request string) string {
	t.Helper()

	c, err := net.Dial("tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	if _, err := io.WriteString(c, request); err != nil {
		return "" // it has closed the connection
	}

	var answer bytes.Buffer

	part := make([]byte, 4096)

	for {
		wait := time.Second
		if answer.Len() == 0 {
			wait = 20 * time.Second
		}

		c.SetReadDeadline(time.Now().Add(wait))
		n, err := c.Read(part)
		answer.Write(part[:n])

		if err != nil {
			return answer.String()
		}
	}
}

// refusesOthers fails the test if the service at an address answers a foreign Host or
// Origin, or refuses its own.
func refusesOthers(t *testing.T, address netip.AddrPort) {
	t.Helper()

	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)

	secure := &http.Client{Transport: &http.Transport{Protocols: &protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer secure.CloseIdleConnections()

	ask := func(scheme, method, path, host string, header ...string) (int, error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()

		r, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("%s://%s%s", scheme, address, path), nil)
		if err != nil {
			return 0, err
		}

		r.Host = host
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}

		answer, err := secure.Do(r)
		if err != nil {
			return 0, err
		}

		answer.Body.Close()

		return answer.StatusCode, nil
	}

	scheme := "http"
	if status, err := ask(scheme, "GET", "/none/of/it", ""); err != nil || status == http.StatusBadRequest { // TLS was expected
		scheme = "https"
	}

	if status, err := ask(scheme, "GET", "/none/of/it", ""); err != nil || status == http.StatusForbidden && scheme == "http" {
		t.Errorf("%s answers %d, %v to its own Host", address, status, err)
	}

	for _, path := range []string{"/none/of/it", "/dev/token?user=u1", "/dynamodb/", "/sqs/", "/ses/", "/cognito/", "/weather/",
		"/identity/.well-known/jwks.json", "/lab/openapi.json"} {
		for _, c := range []struct {
			host   string
			header []string
		}{
			{"evil.example", nil},
			{"", []string{"Origin", "https://evil.example"}},
			{"", []string{"Origin", "null"}},
			{"", []string{"Sec-Fetch-Site", "cross-site"}},
		} {
			for _, method := range []string{"GET", "POST"} {
				if status, err := ask(scheme, method, path, c.host, c.header...); err != nil || status != http.StatusForbidden {
					t.Errorf("%s %s%s answers %d, %v to the Host %q with %q, want 403", method, address, path, status, err, c.host, c.header)
				}
			}
		}
	}

	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	if status, err := ask(scheme, "GET", "/dev/token?user=u1", "", link...); err != nil || status != http.StatusForbidden {
		t.Errorf("%s/dev/token answers %d, %v to a link of another site, want 403", address, status, err)
	}
}
