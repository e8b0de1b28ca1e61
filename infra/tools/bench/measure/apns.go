package measure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
)

// What the push service knows.
const (
	TeamID = "BENCHTEAM1"
	KeyID  = "BENCHKEY01"
	Bundle = "app.matchday.bench"
)

// APNsCommand is the argument with which the program must call ServeAPNs.
const APNsCommand = "apns"

// An order is sent to the process of the push service, and a report is its answer.
type (
	order struct {
		Key       []byte `json:",omitempty"` // signing key, PKCS #8; in the first order
		Channel   string `json:",omitempty"` // that devices subscribe to
		Listeners int    `json:",omitempty"` // how many devices
	}
	report struct {
		URL       string
		CA        []byte        // PEM
		Sink      string        // URL of a server that accepts every push at once, and notes nothing
		SinkCA    []byte        // PEM
		Delivered int           // pushes and broadcasts so far
		CPU       time.Duration // so far
	}
)

// ServeAPNs runs the push service in this process until there are no more orders.
func ServeAPNs(in io.Reader, out io.Writer) error {
	orders, reports := json.NewDecoder(in), json.NewEncoder(out)

	var first order
	if err := orders.Decode(&first); err != nil {
		return err
	}

	key, err := x509.ParsePKCS8PrivateKey(first.Key)
	if err != nil {
		return err
	}

	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return errors.New("the signing key is not an ECDSA key")
	}

	server := apns.New(clock.New(time.Now(), 1), apns.Config{
		TeamID: TeamID, KeyID: KeyID, PublicKey: &signer.PublicKey, Bundle: Bundle, InTurn: true,
	})
	if err := server.Listen(); err != nil {
		return err
	}
	defer server.Close()

	sink, err := serveSink()
	if err != nil {
		return err
	}

	for {
		if err := reports.Encode(report{
			URL:       server.URL(),
			CA:        server.CA(),
			Sink:      sink.url,
			SinkCA:    sink.ca,
			Delivered: server.Counts()["200"],
			CPU:       cpuTime(),
		}); err != nil {
			return err
		}

		var next order
		if err := orders.Decode(&next); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}

		for _, token := range PushTokens(next.Listeners) {
			if !server.Subscribe(token, next.Channel) {
				return fmt.Errorf("unknown channel %s", next.Channel)
			}
		}
	}
}

// APNs is a simulated push service in a process of its own, so that its CPU time
// is not this process's. Delivered and CPU are as of the last Refresh.
type APNs struct {
	report
	Key     *ecdsa.PrivateKey // signing key
	process *exec.Cmd
	stdin   io.Closer
	orders  *json.Encoder
	reports *json.Decoder
}

// StartAPNs starts the push service. It ends with this process at the latest.
func StartAPNs() (a *APNs, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	a = &APNs{process: exec.Command(self, APNsCommand)}

	key, der, err := signingKey()
	if err != nil {
		return nil, err
	}

	a.Key = key

	in, err := a.process.StdinPipe()
	if err != nil {
		return nil, err
	}

	out, err := a.process.StdoutPipe()
	if err != nil {
		return nil, err
	}

	a.process.Stderr = os.Stderr
	if err := a.process.Start(); err != nil {
		return nil, err
	}

	a.stdin, a.orders, a.reports = in, json.NewEncoder(in), json.NewDecoder(out)
	if err := a.send(order{Key: der}); err != nil {
		a.Close()
		return nil, err
	}

	return a, nil
}

func signingKey() (key *ecdsa.PrivateKey, der []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}

	der, err = x509.MarshalPKCS8PrivateKey(key)

	return key, der, err
}

// send sends an order and updates the report.
func (a *APNs) send(o order) error {
	if err := a.orders.Encode(o); err != nil {
		return fmt.Errorf("send an order to the push service: %w", err)
	}

	if err := a.reports.Decode(&a.report); err != nil {
		return fmt.Errorf("read the report of the push service: %w", err)
	}

	return nil
}

// Refresh updates Delivered and CPU.
func (a *APNs) Refresh() error { return a.send(order{}) }

// Subscribe subscribes the first n of the PushTokens to a channel.
func (a *APNs) Subscribe(channel string, n int) error {
	return a.send(order{Channel: channel, Listeners: n})
}

// Close ends the process.
func (a *APNs) Close() {
	a.stdin.Close()
	a.process.Wait()
}

// Settings returns the environment variables of a function that pushes. It writes
// the certificate of the authority to dir.
func (a *APNs) Settings(dir string) (map[string]string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.Key)
	if err != nil {
		return nil, err
	}

	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	ca := filepath.Join(dir, "ca.pem")

	return map[string]string{
		"APNS_URL": a.URL, "APNS_TEAM_ID": TeamID, "APNS_KEY_ID": KeyID, "APNS_BUNDLE": Bundle,
		"APNS_KEY": string(key), "APNS_CA_FILE": ca,
	}, os.WriteFile(ca, a.CA, 0o600)
}

// PushTokens returns n push tokens, the same every time.
func PushTokens(n int) []string {
	tokens := make([]string, n)
	for i := range tokens {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		tokens[i] = hex.EncodeToString(sum[:])
	}

	return tokens
}
