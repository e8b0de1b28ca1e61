package link

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func keyset(t *testing.T, secret string) Keyset {
	t.Helper()

	k, err := ParseKeyset(secret)
	if err != nil {
		t.Fatal(err)
	}

	return k
}

// TestSealedTokens: a token is readable for its user only, with each key of the set.
func TestSealedTokens(t *testing.T) {
	t.Parallel()

	const (
		key   = `"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="`
		other = `"/wECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="`
	)

	old := keyset(t, `{"primary":"a","keys":{"a":`+key+`}}`)
	both := keyset(t, `{"primary":"b","keys":{"a":`+key+`,"b":`+other+`}}`)
	next := keyset(t, `{"primary":"b","keys":{"b":`+other+`}}`)

	sealed, later := old.Seal("ann", "t0ken"), both.Seal("ann", "t0ken")
	if strings.Contains(sealed, "t0ken") || sealed == old.Seal("ann", "t0ken") {
		t.Errorf("sealed as %s, twice the same or readable", sealed)
	}

	for name, c := range map[string]struct {
		k            Keyset
		user, sealed string
		ok           bool
	}{
		"its key":                 {old, "ann", sealed, true},
		"a key that was replaced": {both, "ann", sealed, true},
		"the new key":             {next, "ann", later, true},
		"a key that was removed":  {next, "ann", sealed, false},
		"a key that is not yet":   {old, "ann", later, false},
		"another user":            {old, "bob", sealed, false},
		"another name of a key":   {both, "ann", "b" + sealed[1:], false},
		"a changed text":          {old, "ann", sealed[:len(sealed)-2] + "AA", false},
		"no text":                 {old, "ann", "a.", false},
		"nothing":                 {old, "ann", "", false},
	} {
		got, err := c.k.Open(c.user, c.sealed)
		if c.ok != (err == nil) || c.ok && got != "t0ken" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}

	for name, secret := range map[string]string{
		"no JSON": `AAEC`, "no keys": `{"primary":"a"}`, "another primary": `{"primary":"b","keys":{"a":` + key + `}}`,
		"a short key": `{"primary":"a","keys":{"a":"AAEC"}}`, "a point": `{"primary":"a.b","keys":{"a.b":` + key + `}}`,
	} {
		if _, err := ParseKeyset(secret); err == nil || strings.Contains(err.Error(), "AAEC") {
			t.Errorf("%s: got %v, want an error without the key", name, err)
		}
	}
}

func TestSealIsReversible(t *testing.T) {
	t.Parallel()
	k := keyset(t, NewSecret("now"))
	rapid.Check(t, func(t *rapid.T) {
		user, token := rapid.String().Draw(t, "user"), rapid.String().Draw(t, "token")
		if got, err := k.Open(user, k.Seal(user, token)); err != nil || got != token {
			t.Fatalf("got %q, %v, want %q", got, err, token)
		}
	})
}
