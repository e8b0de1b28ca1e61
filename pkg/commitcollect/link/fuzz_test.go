package link

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzParseKeyset: a keyset that is read decrypts what it has encrypted, for the same user
// only. The error of any other has no key.
func FuzzParseKeyset(f *testing.F) {
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	for _, secret := range []string{
		`{"primary":"now","keys":{"now":"` + key + `"}}`, `{"primary":"now","keys":{"now":"` + key + `","then":"` + key + `"}}`,
		`{"primary":"then","keys":{"now":"` + key + `"}}`, `{"primary":"a.b","keys":{"a.b":"` + key + `"}}`,
		`{"primary":"now","keys":{"now":"a2V5"}}`,
		`{"primary":"","keys":{"":"` + key + `"}}`, `{"primary":"now"}`, `{"keys":{"now":null}}`, `[]`, `null`, ``,
	} {
		f.Add(secret, "ann", "token")
	}

	f.Fuzz(func(t *testing.T, secret, user, token string) {
		k, err := ParseKeyset(secret)
		if err != nil {
			var in struct{ Keys map[string]string }
			json.Unmarshal([]byte(secret), &in)

			for name, key := range in.Keys {
				if len(key) >= 16 && !strings.Contains(name, key) && strings.Contains(err.Error(), key) {
					t.Errorf("%q: the error has the key: %v", secret, err)
				}
			}

			return
		}

		sealed := k.Seal(user, token)
		if got, err := k.Open(user, sealed); err != nil || got != token {
			t.Errorf("%q: got %q, %v, want %q", secret, got, err, token)
		}

		if got, err := k.Open(user+"x", sealed); err == nil {
			t.Errorf("%q: another user gets %q", secret, got)
		}
	})
}

// FuzzOpen: only what was encrypted for the user is decrypted.
func FuzzOpen(f *testing.F) {
	k, err := ParseKeyset(`{"primary":"now","keys":{"now":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))) + `"}}`)
	if err != nil {
		f.Fatal(err)
	}

	good := k.Seal("ann", "token")
	for _, sealed := range []string{good, good + "=", good[:len(good)-1], good[:8], "now.", "now", ".", "", "then" + good[3:],
		strings.ToUpper(good), good + "\n", "now.AAAA"} {
		f.Add("ann", sealed)
	}

	f.Add("bob", good)
	f.Fuzz(func(t *testing.T, user, sealed string) {
		if got, err := k.Open(user, sealed); err == nil && (user != "ann" || got != "token") || err != nil && got != "" {
			t.Errorf("%q of %q: got %q, %v", sealed, user, got, err)
		}
	})
}
