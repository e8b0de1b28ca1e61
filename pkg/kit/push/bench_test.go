package push

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"

	"matchday/infra/local/apns"
	"matchday/infra/local/clock"
)

// TestMain makes this binary the push service that the benchmarks push to when
// they start it as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("PUSH_BENCH_SERVER") == "" {
		os.Exit(m.Run())
	}
	key, err := x509.ParseECPrivateKey(mustRead(os.Stdin))
	if err != nil {
		panic(err)
	}
	server := apns.New(clock.New(time.Now(), 1), apns.Config{TeamID: team, KeyID: keyID, PublicKey: &key.PublicKey, Bundle: bundle})
	if err := server.Listen(); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(server.URL() + "\n" + string(server.CA()))
	_ = os.Stdout.Close()
	select {}
}

func mustRead(r io.Reader) []byte {
	b, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return b
}

// remote starts a push service in its own process, so that its work is not
// counted as the sender's.
func remote(b *testing.B) (url string, ca []byte, key *ecdsa.PrivateKey) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PUSH_BENCH_SERVER=1")
	cmd.Stdin = bytes.NewReader(der)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	url, pem, _ := strings.Cut(string(mustRead(out)), "\n")
	return url, []byte(pem), key
}

// benchState has the size of a real one: with it a push is 700 bytes.
func benchState(b *testing.B) *Message {
	b.Helper()
	m, err := Update(State{Time: start, Content: map[string]string{"text": strings.Repeat("India need 23 off 18 balls. ", 23)[:632]}})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports pushes a second, and the sender's own CPU time and
// allocations per push.
func measure(b *testing.B, run func()) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	spent := cpu()
	b.ResetTimer()
	run()
	b.StopTimer()
	spent = cpu() - spent
	runtime.ReadMemStats(&after)
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "pushes/s")
	b.ReportMetric(float64(spent.Microseconds())/n, "cpu-µs/push")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/push")
}

// BenchmarkSend is this package with its defaults.
func BenchmarkSend(b *testing.B) {
	url, ca, key := remote(b)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	s, err := Open(Config{Endpoint: url, TeamID: team, KeyID: keyID, Bundle: bundle, Key: key, Now: time.Now, RootCAs: roots})
	if err != nil {
		b.Fatal(err)
	}
	m := benchState(b)
	to := tokens(10_000)
	if _, err := s.Send(b.Context(), m, func(yield func(string) bool) { _ = yield(to[0]) }, nil); err != nil {
		b.Fatal(err)
	}
	measure(b, func() {
		counts, err := s.Send(b.Context(), m, func(yield func(string) bool) {
			for i := range b.N {
				if !yield(to[i%len(to)]) {
					return
				}
			}
		}, func(string, Outcome) {})
		if err != nil || counts.Delivered != b.N {
			b.Fatalf("%+v, %v", counts, err)
		}
	})
}

// BenchmarkAPNs2 is sideshow/apns2 as its README uses it: one client, 64
// pushes in flight.
func BenchmarkAPNs2(b *testing.B) {
	url, ca, key := remote(b)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	dial := apns2.DialTLS
	b.Cleanup(func() { apns2.DialTLS = dial })
	apns2.DialTLS = func(network, addr string, cfg *tls.Config) (net.Conn, error) {
		cfg.RootCAs = roots
		return dial(network, addr, cfg)
	}
	client := apns2.NewTokenClient(&token.Token{AuthKey: key, KeyID: keyID, TeamID: team})
	client.Host = url
	body := benchState(b).body
	to := tokens(10_000)
	push := func(i int) {
		r, err := client.Push(&apns2.Notification{
			DeviceToken: to[i%len(to)], Topic: bundle + ".push-type.liveactivity",
			PushType: apns2.PushTypeLiveActivity, Priority: apns2.PriorityHigh, Payload: body,
		})
		if err != nil || !r.Sent() {
			b.Errorf("%+v, %v", r, err)
		}
	}
	push(0)
	measure(b, func() {
		work := make(chan int)
		var workers sync.WaitGroup
		for range 64 {
			workers.Go(func() {
				for i := range work {
					push(i)
				}
			})
		}
		for i := range b.N {
			work <- i
		}
		close(work)
		workers.Wait()
	})
}
