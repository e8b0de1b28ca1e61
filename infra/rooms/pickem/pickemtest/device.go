package pickemtest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"matchday/infra/testkit"
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

// RegisterPhone registers a phone for a user.
func (w *Room) RegisterPhone(name, user string) {
	w.T.Helper()
	if out := w.Ask(notice.RegisterDeviceFunction, "/app/devices", user, map[string]string{"deviceToken": TokenOf(name)}); out.StatusCode != http.StatusCreated {
		w.T.Fatalf("%s registers the phone %s: %d %s", user, name, out.StatusCode, out.Body)
	}
}

// RegisteredPhones returns the owners of the phones with these names.
func (w *Room) RegisteredPhones(names ...string) (all []string) {
	w.T.Helper()
	rows := testkit.Rows[notice.Device](w.World, tables.Pickem)
	for _, name := range names {
		if i := slices.IndexFunc(rows, func(d notice.Device) bool { return d.Token == TokenOf(name) }); i >= 0 {
			all = append(all, name+" of "+strings.TrimPrefix(rows[i].BelongsTo, "USER#"))
		}
	}
	return all
}
