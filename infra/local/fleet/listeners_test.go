package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchday/infra/sim/chaos"
	"matchday/infra/sim/clock"
	dynamodbsim "matchday/infra/sim/dynamodb"
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
			if a, ok := inodes[target]; ok {
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
// another site would. The addresses are those that the kernel knows, so a new service is
// among them. It is not parallel: the services of other tests are not the fleet's.
func TestNoListenerAnswersOtherSites(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
	if os.Getenv(dynamodbsim.Endpoint) != "" {
		t.Skip("the engine is not the fleet's")
	}
	bin := buildLab(t)
	before := listeners(t)
	for _, faults := range []*chaos.Faults{nil, chaos.New(chaos.Config{})} {
		c := clock.New(time.Date(2026, 6, 6, 18, 0, 0, 0, time.UTC), 1)
		f, err := Start(t.Context(), Config{Clock: c, Bin: bin, Rooms: []Room{{Spec: lab, App: "lab", Simulate: func(h Host) ([]string, error) {
			h.Serve("weather", http.NotFoundHandler())
			return nil, nil
		}}}, Faults: faults})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := slices.DeleteFunc(listeners(t), func(l listener) bool { return slices.Contains(before, l) })
		if len(all) != 5 {
			t.Errorf("the fleet listens on %v: want the API, the services, Lambda, Apple and the engine", all)
		}
		for _, l := range all {
			if l.process == "dynoxide" { // it has no guard, so its address must be unknown
				if !l.address.Addr().IsLoopback() || l.address.Addr() == netip.MustParseAddr("127.0.0.1") {
					t.Errorf("the engine listens on %s, where pages can find it", l.address)
				}
				continue
			}
			refusesOthers(t, l.address)
		}
		f.Close()
		c.Stop()
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
	for _, path := range []string{"/none/of/it", "/dev/token?user=u1", "/dynamodb/", "/sqs/", "/ses/", "/cognito/", "/weather/", "/identity/.well-known/jwks.json", "/lab/openapi.json"} {
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
