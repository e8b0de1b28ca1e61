package words_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"matchday/pkg/cricket/words"
)

var place = regexp.MustCompile(`%(\d\$)?@`)

// letters returns the letters A, B, C and so on: what fills the places of a key.
func letters(key string) (args []string) {
	for i := range place.FindAllString(key, -1) {
		args = append(args, "<"+string(rune('A'+i))+">")
	}

	return args
}

// TestEachKeyIsTranslated: into each language, with each of its arguments once and Western digits.
func TestEachKeyIsTranslated(t *testing.T) {
	t.Parallel()

	same := []string{"Super Over", "Super Over: %@", "All out: %@", "Wicket! %@"} // German says them in English
	for _, key := range words.Keys() {
		args := letters(key)
		english := words.Say(key, args...).In(words.English)

		for _, l := range words.Languages() {
			text := words.Say(key, args...).In(l)

			for _, arg := range args {
				if strings.Count(text, arg) != 1 {
					t.Errorf("%s of %q is %q, want %s in it once", l, key, text, arg)
				}
			}

			if strings.Contains(text, "%") || text != strings.TrimSpace(text) {
				t.Errorf("%s of %q is %q, with a place that is not filled or a space at its end", l, key, text)
			}

			if strings.ContainsAny(text, "०१२३४५६७८९০১২৩৪৫৬৭৮৯۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩") {
				t.Errorf("%s of %q is %q, want Western digits", l, key, text)
			}

			isolated := strings.Count(text, "\u2068<") == len(args) && strings.Count(text, ">\u2069") == len(args)
			if l == "ur" && !isolated {
				t.Errorf("%s of %q is %q, want each argument isolated", l, key, text)
			}

			dismissal := l == "de" && strings.HasSuffix(key, " %@ (%@)")
			if l != words.English && text == english && !dismissal && !slices.Contains(same, key) {
				t.Errorf("%q is not translated into %s", key, l)
			}
		}
	}
}

// TestCatalogueHasNothingElse: each translation is of a key, and each key is in the code.
func TestCatalogueHasNothingElse(t *testing.T) {
	t.Parallel()

	for _, l := range words.Languages()[1:] {
		if diff := cmp.Diff(words.Keys(), words.TranslatedKeys(l)); diff != "" {
			t.Errorf("keys of %s (-want +got):\n%s", l, diff)
		}
	}

	var code strings.Builder

	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}

		b, err := os.ReadFile(path)
		code.Write(b)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, key := range words.Keys() {
		// The parts that the code joins.
		part := strings.TrimPrefix(key, "%@ · ")
		dismissal, how := strings.CutSuffix(part, " %@ (%@)")
		method, _ := strings.CutSuffix(part, " (%@ method)")

		quoted := func(s string) bool { return strings.Contains(code.String(), strconv.Quote(s)) }
		if !quoted(key) && !quoted(part) && !quoted(method) && (!how || !quoted(strings.TrimPrefix(dismissal, "%@ "))) {
			t.Errorf("no code says %q", key)
		}
	}
}

// TestPluralsOfAllLanguages: from 1 on, 1 alone has a form of its own, as Count assumes.
func TestPluralsOfAllLanguages(t *testing.T) {
	t.Parallel()

	for _, l := range words.Languages() {
		tag := language.MustParse(string(l))
		for n := 1; n <= 2000; n++ {
			want := plural.Other
			if n == 1 {
				want = plural.One
			}

			if got := plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0); got != want {
				t.Fatalf("%d in %s is of the plural form %v, want %v", n, l, got, want)
			}
		}
	}

	for n, want := range map[int]string{0: "runs", 1: "run", 2: "runs"} {
		if got := words.Count(n, "run", "runs"); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}

func TestLanguageOfALocale(t *testing.T) {
	t.Parallel()

	for locale, want := range map[string]words.Language{
		"en": "en", "en-IN": "en", "en_GB": "en", "hi": "hi", "hi-IN": "hi", "hi_IN": "hi", "hi-Deva-IN": "hi", "ur-PK": "ur", "ur-IN": "ur",
		"bn-BD": "bn", "bn-IN": "bn", "de-AT": "de", "de-CH": "de",
		"mr-IN": "hi", // its readers understand Hindi, by CLDR
		// no catalogue, or another script
		"": "en", "fr-FR": "en", "ta": "en", "hi-Latn": "en", "x": "en", "not a locale": "en",
	} {
		if got := words.Match(locale); got != want {
			t.Errorf("the language of %q is %s, want %s", locale, got, want)
		}
	}
}

func TestTextsAreFilled(t *testing.T) {
	t.Parallel()

	need := words.Say("%@ need %@ runs from %@ balls", "India", "45", "30")
	for _, c := range []struct {
		text words.Text
		in   words.Language
		want string
	}{
		{need, "en", "India need 45 runs from 30 balls"},
		{need, "hi", "India को 30 गेंदों में 45 रन चाहिए"},
		{need, "de", "India braucht 45 Runs aus 30 Bällen"},
		{need, "fr", "India need 45 runs from 30 balls"},
		{words.Say("%@ of no catalogue: %2$@, 5%", "A", "B"), "hi", "A of no catalogue: B, 5%"},
		{words.Say("Wicket! %@"), "en", "Wicket! "},
		{words.Say("Wicket! %@", "100% %@"), "hi", "विकेट! 100% %@"},
		{words.Verbatim("54 (9)"), "ur", "54 (9)"},
		{words.Text{}, "en", ""},
	} {
		if got := c.text.In(c.in); got != c.want {
			t.Errorf("%+v in %s is %q, want %q", c.text, c.in, got, c.want)
		}
	}
}

func TestVersionOfAKey(t *testing.T) {
	t.Parallel()

	for want, texts := range map[int][]words.Text{
		1:           {words.Verbatim("54 (9)"), {}},
		2:           {words.Say("Wicket! %@", "x"), words.Verbatim("54 (9)")},
		math.MaxInt: {words.Say("Wicket! %@", "x"), words.Say("Unknown")},
	} {
		if got := words.Since(texts...); got != want {
			t.Errorf("%v are known since version %d, want %d", texts, got, want)
		}
	}
}
