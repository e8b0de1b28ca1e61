package scoretest

import (
	"strings"
	"unicode/utf8"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/event"
	"matchday/pkg/cricket/words"
)

// EventLines returns a line for each event of a kind, or of all kinds if it is empty:
// "key [alias] | title | body".
func EventLines(events []event.Event, kind event.Kind) (lines []string) {
	for _, e := range events {
		if kind == "" || e.Kind == kind {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{e.Key, e.Alias}, " "))+" | "+e.Title+" | "+e.Body)
		}
	}

	return lines
}

// CheckTexts fails if two events of a kind have the same key or alias, if a text is empty,
// invalid or too long, if the text without a score has one, or if a text is not in the catalogue.
func CheckTexts(t interface {
	Helper()
	Fatalf(string, ...any)
}, events []event.Event) {
	t.Helper()

	type name struct {
		kind event.Kind
		key  string
	}

	seen := map[name]bool{}

	for _, e := range events {
		for i, key := range []string{e.Key, e.Alias} {
			if i == 1 && key == "" {
				continue
			}

			if key == "" || seen[name{e.Kind, key}] {
				t.Fatalf("the key %q is empty or used twice:\n%+v", key, events)
			}

			seen[name{e.Kind, key}] = true
		}

		for _, text := range []struct {
			is   string
			size int
		}{{e.Match, 64}, {e.Title, 64}, {e.Body, 160}} {
			if text.is == "" || !utf8.ValidString(text.is) || utf8.RuneCountInString(text.is) > text.size {
				t.Fatalf("the text %q is empty, invalid or longer than %d characters", text.is, text.size)
			}
		}

		checkSays(t, e)

		switch e.Kind {
		case event.Toss, event.Lineup, event.Start, event.Rain, event.Result:
			if e.Plain == "" || e.Kind != event.Toss && strings.ContainsAny(e.Plain, "0123456789/") {
				t.Fatalf("the plain text %q is empty or has a score: %+v", e.Plain, e)
			}
		default:
			if e.Plain != "" {
				t.Fatalf("an event of kind %s has the plain text %q, want none", e.Kind, e.Plain)
			}
		}
	}
}

// checkSays fails if a text in all languages is not in the catalogue, or if it differs in English from
// that of the event, which may be shortened. The title of a result may say more than the catalogue.
func checkSays(t interface {
	Helper()
	Fatalf(string, ...any)
}, e event.Event) {
	t.Helper()

	if v := words.Since(e.Says.Match, e.Says.Title, e.Says.Body, e.Says.Plain); v > 2 {
		t.Fatalf("the texts are of version %d of the catalogue, want at most 2: %+v", v, e.Says)
	}

	for _, c := range []struct {
		is   string
		says words.Text
		size int
	}{{e.Match, e.Says.Match, 64}, {e.Title, e.Says.Title, 64}, {e.Body, e.Says.Body, 160}, {e.Plain, e.Says.Plain, 160}} {
		english := c.says.In(words.English)
		exempt := e.Kind == event.Result && c.is == e.Title || e.Kind == event.Award && c.is == e.Body

		if score.Fit(english, c.size) != c.is && !exempt || c.says.IsZero() != (c.is == "") {
			t.Fatalf("the text is %q, and %q by the catalogue: %+v", c.is, english, e)
		}
	}
}
