package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"

	"matchday/infra/sim/apns"
	simfcm "matchday/infra/sim/fcm"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/push/fcm"
)

// WithAPNs adds a simulated Apple to the world. secret is the name of the room's secret with the
// key, and bundle the name of its setting with the app's bundle id.
func (w *World) WithAPNs(secret, bundle string) *apns.Server {
	w.T.Helper()

	const app = "app.matchday.test"

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(w.T, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	Must(w.T, err)
	phones := apns.New(w.Clock, apns.Config{TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: app})
	Must(w.T, phones.Listen())
	w.T.Cleanup(func() { phones.Close() })
	ca := filepath.Join(w.T.TempDir(), "ca.pem")
	Must(w.T, os.WriteFile(ca, phones.CA(), 0o600))
	maps.Copy(w.Settings, map[string]string{
		push.SettingURL: phones.URL(), push.SettingTeamID: "TEAM", push.SettingKeyID: "KEY", push.SettingCAFile: ca, bundle: app,
		secret: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})

	return phones
}

// WithFCM adds a simulated Google to the world: the room then has Android phones.
func (w *World) WithFCM() *simfcm.Server {
	w.T.Helper()

	const project = "matchday-test"

	google, key := simfcm.NewAccount(w.Clock, simfcm.Config{Project: project})
	Must(w.T, google.Listen())
	w.T.Cleanup(func() { google.Close() })
	maps.Copy(w.Settings, map[string]string{
		fcm.SettingURL: google.URL(), fcm.SettingProject: project, fcm.Key: string(key(google.URL())),
	})

	return google
}
