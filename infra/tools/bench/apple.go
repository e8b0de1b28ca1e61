package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
)

const (
	appleTeam   = "BENCHTEAM1"
	appleKey    = "BENCHKEY01"
	appleBundle = "app.matchday.bench"
	// appleCommand makes this program the push service.
	appleCommand = "apns"
)

// order is what the push service's process is told, and report its answer.
type (
	order struct {
		Key       []byte `json:",omitempty"` // the signing key, PKCS #8: the first order
		Channel   string `json:",omitempty"` // to have listeners
		Listeners int    `json:",omitempty"`
	}
	report struct {
		URL       string
		CA        []byte        // PEM
		Delivered int           // pushes and broadcasts so far
		CPU       time.Duration // so far
	}
)

// serveApple is the push service in a process of its own: it takes orders until
// there are no more.
func serveApple(in io.Reader, out io.Writer) error {
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
		return errors.New("the signing key is not of an elliptic curve")
	}
	server := apns.New(clock.New(time.Now(), 1), apns.Config{TeamID: appleTeam, KeyID: appleKey, PublicKey: &signer.PublicKey, Bundle: appleBundle})
	if err := server.Listen(); err != nil {
		return err
	}
	defer server.Close()
	for {
		if err := reports.Encode(report{URL: server.URL(), CA: server.CA(), Delivered: server.Counts()["200"], CPU: cpuTime()}); err != nil {
			return err
		}
		var next order
		if err := orders.Decode(&next); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, token := range tokens(next.Listeners) {
			if !server.Subscribe(token, next.Channel) {
				return fmt.Errorf("there is no channel %s", next.Channel)
			}
		}
	}
}

// apple is the push service as this process knows it.
type apple struct {
	report
	key     *ecdsa.PrivateKey
	pem     []byte // of key
	process *exec.Cmd
	stdin   io.Closer
	orders  *json.Encoder
	reports *json.Decoder
}

// startApple starts the push service. It ends with this process, at the latest.
func startApple() (a *apple, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a = &apple{process: exec.Command(self, appleCommand)}
	key, der, err := signingKey()
	if err != nil {
		return nil, err
	}
	a.key = key
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
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
	if err := a.tell(order{Key: der}); err != nil {
		a.close()
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

// tell gives an order, and updates the report.
func (a *apple) tell(o order) error {
	if err := a.orders.Encode(o); err != nil {
		return fmt.Errorf("tell the push service: %w", err)
	}
	if err := a.reports.Decode(&a.report); err != nil {
		return fmt.Errorf("hear from the push service: %w", err)
	}
	return nil
}

func (a *apple) close() {
	a.stdin.Close()
	a.process.Wait()
}

// settings are a function's, with the authority's certificate in dir.
func (a *apple) settings(dir string) (map[string]string, error) {
	ca := filepath.Join(dir, "ca.pem")
	return map[string]string{
		"APNS_URL": a.URL, "APNS_TEAM_ID": appleTeam, "APNS_KEY_ID": appleKey, "APNS_BUNDLE": appleBundle,
		"APNS_KEY": string(a.pem), "APNS_CA_FILE": ca,
	}, os.WriteFile(ca, a.CA, 0o600)
}
