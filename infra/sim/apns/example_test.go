package apns_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"matchday/infra/sim/apns"
	"matchday/infra/sim/clock"
)

// A provider sends an alert, and the server shows what is on the phone.
func Example() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}

	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

	s := apns.New(clock.New(now, clock.Free), apns.Config{TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: "com.example.app"})
	if err := s.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	bearer := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": "TEAM", "iat": now.Unix()})
	bearer.Header["kid"] = "KEY"

	signed, err := bearer.SignedString(key)
	if err != nil {
		fmt.Println(err)
		return
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA())
	client := &http.Client{
		Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
	token := strings.Repeat("ab", 32)

	req, err := http.NewRequest(http.MethodPost, s.URL()+"/3/device/"+token, strings.NewReader(`{"aps": {"alert": {"title": "Goal"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}

	req.Header.Set("Authorization", "bearer "+signed)
	req.Header.Set("apns-push-type", "alert")
	req.Header.Set("apns-topic", "com.example.app")

	res, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}

	res.Body.Close()

	phone, _ := s.Device(token)
	fmt.Println(res.StatusCode, phone.Alerts[0].Title)
	// Output: 200 Goal
}
