package pickemtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"

	"matchday/infra/sim/apns"
	"matchday/infra/testkit"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/device"
	"matchday/pkg/kit/object"
	"matchday/pkg/kit/push"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/tables"
)

// TokenOf returns the push token of a phone by its name.
func TokenOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// DeviceID returns the id of a phone by its name.
func DeviceID(name string) string { return string(push.Token(TokenOf(name)).ID()) }

// WithAPNs adds a simulated Apple to a room.
func (w *Room) WithAPNs() *apns.Server {
	w.T.Helper()

	const bundle = "app.pickem.test"

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.Must(w.T, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.Must(w.T, err)
	phones := apns.New(w.Clock, apns.Config{TeamID: "TEAM", KeyID: "KEY", PublicKey: &key.PublicKey, Bundle: bundle})
	testkit.Must(w.T, phones.Listen())
	w.T.Cleanup(func() { phones.Close() })
	ca := filepath.Join(w.T.TempDir(), "ca.pem")
	testkit.Must(w.T, os.WriteFile(ca, phones.CA(), 0o600))

	if w.Settings == nil {
		w.Settings = map[string]string{}
	}

	maps.Copy(w.Settings, map[string]string{
		push.SettingURL: phones.URL(), push.SettingTeamID: "TEAM", push.SettingKeyID: "KEY", push.SettingCAFile: ca, notice.APNSBundle: bundle,
		notice.APNSKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})

	return phones
}

// RegisterPhone registers a phone for a user.
func (w *Room) RegisterPhone(name, user string) {
	w.T.Helper()

	if out := w.Ask(notice.RegisterDeviceFunction(), "/app/devices", user,
		map[string]string{"deviceToken": TokenOf(name)}); out.StatusCode != http.StatusCreated {
		w.T.Fatalf("%s registers the phone %s: %d %s", user, name, out.StatusCode, out.Body)
	}
}

// RegisteredPhones returns the owners of the phones with these names.
func (w *Room) RegisteredPhones(names ...string) (all []string) {
	w.T.Helper()

	rows := testkit.Rows[device.Device](w.World, tables.Pickem)
	for _, name := range names {
		if i := slices.IndexFunc(rows, func(d device.Device) bool { return d.Token == TokenOf(name) }); i >= 0 {
			all = append(all, name+" of "+rows[i].UserID)
		}
	}

	return all
}

// Export returns the document of an export of a user.
func (w *Room) Export(job string) string {
	w.T.Helper()

	server := httptest.NewServer(w.Files)
	defer server.Close()

	cfg := w.AWS.Copy()
	cfg.BaseEndpoint = &server.URL
	text, err := object.Open(cfg, account.Exports.Name).Get(w.T.Context(), account.PartKey("pickem", job))
	testkit.Must(w.T, err)

	return string(text)
}
