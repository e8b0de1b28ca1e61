package httpapi

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// logged returns what is logged until the test ends. Such tests are not parallel.
func logged(t *testing.T) *bytes.Buffer {
	t.Helper()

	var out bytes.Buffer

	old := slog.Default()

	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	t.Cleanup(func() { slog.SetDefault(old) })

	return &out
}

// TestTimeZone: a name of the IANA database, from Africa/Abidjan to Zulu, and no file beside it.
func TestTimeZone(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]bool{
		"Africa/Abidjan": true, "Asia/Kolkata": true, "UTC": true, "Zulu": true,
		"": false, "Local": false, "Factory": false, "posixrules": false, "right/UTC": false, "@": false, "[": false, "Zone/Nowhere": false,
	} {
		zone, err := TimeZone(name)
		if (err == nil) != want || want && zone.String() != name {
			t.Errorf("%q: %v, %v; want a zone: %v", name, zone, err, want)
		}
	}
}

func TestDisplayName(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"Ann":                                   "Ann",
		" Ann B. ":                              "Ann B.",
		"\tAnn\n":                               "Ann",
		"Zoe\u0308":                             "Zoë",
		"O’Keefe":                               "O’Keefe",
		"जसप्रीत":                               "जसप्रीत",
		"李小龙":                                   "李小龙",
		"❤️ 007":                                "❤️ 007",
		"!":                                     "!",
		"1.FC Köln":                             "1.FC Köln",
		"A.C. Milan":                            "A.C. Milan",
		"Ann @ home":                            "Ann @ home",
		"Prizes at http://[::1]/":               "",
		"Win at example.com":                    "",
		"example.com/win":                       "",
		"ann@example":                           "",
		"пример.рф":                             "",
		"example。com":                           "",
		"a1.xn--p1ai":                           "",
		"163.com":                               "",
		"www․example․com":                       "",
		"ⓔⓧⓐⓜⓟⓛⓔ.ⓒⓞⓜ":                           "",
		"x\u0331.com":                           "",
		"Wait…what":                             "Wait…what",
		"Sunday 10.30":                          "Sunday 10.30",
		strings.Repeat("é", 40):                 strings.Repeat("é", 40),
		strings.Repeat("e\u0301", 40):           strings.Repeat("é", 40),
		"":                                      "",
		"  \u00a0":                              "",
		strings.Repeat("a", 40) + " ":           "",
		strings.Repeat("a", 41):                 "",
		"A\u200bnn":                             "",
		"A\u200dnn":                             "",
		"\u202eAnn":                             "",
		"\u2066Ann\u2069":                       "",
		"A\x00nn":                               "",
		"\x1b[31mAnn":                           "",
		"Ann\ufeff":                             "",
		"An\u00adn":                             "",
		"Ann\nBob":                              "",
		"Ann\u2028Bob":                          "",
		"A\u00a0n":                              "",
		"\u3164":                                "",
		"\u2800\u2800":                          "",
		"\u0301":                                "",
		"\ufe0f":                                "",
		"\ue000":                                "",
		"\U000e0041":                            "",
		"A\xff":                                 "",
		"\ufffc":                                "",
		"A\ufffd":                               "",
		"\U0001d159":                            "",
		"a" + strings.Repeat("\u0301", 39):      "",
		"b" + strings.Repeat("\u0301", 4):       "b" + strings.Repeat("\u0301", 4),
		"b" + strings.Repeat("\u0301", 5):       "",
		strings.Repeat("b\u0489", 20):           strings.Repeat("b\u0489", 20),
		"b" + strings.Repeat("\u0489", 5) + "b": "",
		strings.Repeat("\u0301", 4) + "b":       strings.Repeat("\u0301", 4) + "b",
		strings.Repeat("\u0301", 5) + "b":       "",
		"ที่นี่":                                "ที่นี่",
	} {
		got, err := DisplayName(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%+q: got %+q, %v, want %+q", given, got, err, want)
		}
	}
}

func FuzzDisplayName(f *testing.F) {
	for _, seed := range []string{"Ann", " Zoe\u0308 ", "\u202e", "A\u200bnn", "\x00", "\u3164", "\xff"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		name, err := DisplayName(text)
		if err != nil {
			if name != "" {
				t.Errorf("%+q is refused with the name %+q", text, name)
			}

			return
		}

		if again, err := DisplayName(name); again != name || err != nil {
			t.Errorf("%+q becomes %+q, and then %+q, %v", text, name, again, err)
		}

		if n := utf8.RuneCountInString(name); n < 1 || n > 40 || !norm.NFC.IsNormalString(name) || strings.TrimSpace(name) != name {
			t.Errorf("%+q becomes %+q of %d characters", text, name, n)
		}

		for _, r := range name {
			if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point) {
				t.Errorf("%+q holds U+%04X", name, r)
			}
		}
	})
}

func TestAddress(t *testing.T) {
	t.Parallel()

	label := strings.Repeat("a", 63)

	longest := strings.Repeat("b", 62) + "@" + label + ".c"
	for text, want := range map[string]bool{
		"ann@example.com":                true,
		"ann.lee+pick-em@mail.example":   true,
		"o'keefe@a-b.co":                 true,
		longest:                          true,
		"b" + longest:                    false,
		strings.Repeat("a", 64) + "@b.c": true,
		strings.Repeat("a", 65) + "@b.c": false,
		"":                               false,
		"ann":                            false,
		"ann@":                           false,
		"@example.com":                   false,
		"ann@localhost":                  false,
		"ann@@example.com":               false,
		"ann@b@example.com":              false,
		`"@"@x`:                          false,
		`"a b"@example.com`:              false,
		"Ann <ann@example.com>":          false,
		"<ann@example.com>":              false,
		"ann@example.com, b@example.com": false,
		"ann@example.com\n":              false,
		"ann\x00@example.com":            false,
		" ann@example.com":               false,
		"ann(x)@example.com":             false,
		"ann@[127.0.0.1]":                false,
		"ann@example..com":               false,
		"ann@-example.com":               false,
		"ann@example.com.":               false,
		".ann@example.com":               false,
		"a..b@example.com":               false,
		"änn@example.com":                false,
		"ann@exämple.com":                false,
		"ann@" + label + "a.com":         false,
	} {
		if err := checkAddress(text); (err == nil) != want {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"ann@example.com", `"@"@x`, "Ann <ann@example.com>", "a@b.c\r\n"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		if checkAddress(text) != nil {
			return
		}

		local, host, _ := strings.Cut(text, "@")
		if local == "" || len(local) > 64 || len(text) > 128 || !strings.Contains(host, ".") ||
			strings.ContainsAny(text, " \t\r\n\"<>(),:;\\[]") || strings.Contains(host, "@") {
			t.Errorf("%q is valid", text)
		}

		for _, b := range []byte(text) {
			if b <= ' ' || b > '~' {
				t.Errorf("%q is valid", text)
			}
		}
	})
}
