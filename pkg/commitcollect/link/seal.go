package link

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Keyset encrypts tokens of Strava at rest: AES-256-GCM, with the user's id as associated
// data, so that a ciphertext is of no use in another user's row. Its JSON is the secret:
//
//	{"primary": "2026-11", "keys": {"2026-11": "<32 bytes in base64>", "2026-02": "..."}}
//
// The primary key encrypts, and each can decrypt. To replace the key, add one, make it
// primary, and remove the old one after two days: the nightly sync refreshes the tokens of
// every connection, and a refreshed token is encrypted by the primary key.
//
// Tink would do the same, and adds 5 MB to each of the binaries.
type Keyset struct {
	primary string
	keys    map[string]cipher.AEAD
}

// ParseKeyset returns the keyset of a secret. Its error does not have the secret.
func ParseKeyset(secret string) (Keyset, error) {
	var in struct {
		Primary string            `json:"primary"`
		Keys    map[string][]byte `json:"keys"`
	}
	if json.Unmarshal([]byte(secret), &in) != nil {
		return Keyset{}, errors.New("the keyset is not JSON of the form that Keyset describes")
	}

	k := Keyset{in.Primary, map[string]cipher.AEAD{}}
	for name, key := range in.Keys {
		if len(key) != 32 || strings.Contains(name, ".") {
			return Keyset{}, fmt.Errorf("the key %q of the keyset has %d bytes, want 32, and no point in its name", name, len(key))
		}

		block, err := aes.NewCipher(key)
		if err != nil {
			return Keyset{}, err
		}

		if k.keys[name], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return Keyset{}, err
		}
	}

	if k.keys[k.primary] == nil {
		return Keyset{}, errors.New("the keyset lacks its primary key")
	}

	return k, nil
}

// NewSecret returns a secret with one new key of a name.
func NewSecret(name string) string {
	key := make([]byte, 32)
	rand.Read(key) // never fails

	text, err := json.Marshal(map[string]any{"primary": name, "keys": map[string][]byte{name: key}})
	if err != nil {
		panic(err) // text always encodes
	}

	return string(text)
}

// Seal encrypts a token of a user.
func (k Keyset) Seal(userID, token string) string {
	return k.primary + "." + base64.RawStdEncoding.EncodeToString(k.keys[k.primary].Seal(nil, nil, []byte(token), []byte(userID)))
}

var errSealed = errors.New("a stored token cannot be decrypted: its key is not in the keyset, or it is another user's")

// Open decrypts what Seal has returned for the user.
func (k Keyset) Open(userID, sealed string) (token string, err error) {
	name, text, _ := strings.Cut(sealed, ".")

	b, err := base64.RawStdEncoding.DecodeString(text)
	if k.keys[name] == nil || err != nil {
		return "", errSealed
	}

	plain, err := k.keys[name].Open(nil, nil, b, []byte(userID))
	if err != nil {
		return "", errSealed
	}

	return string(plain), nil
}
