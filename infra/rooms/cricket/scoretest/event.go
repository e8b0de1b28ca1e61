package scoretest

import (
	"strings"
	"unicode/utf8"

	"matchday/pkg/cricket/score/event"
)

// Told is the events of a kind, or of all: "key [alias] title: body".
func Told(events []event.Event, kind event.Kind) (lines []string) {
	for _, e := range events {
		if kind == "" || e.Kind == kind {
			lines = append(lines, strings.TrimSpace(strings.Join([]string{e.Key, e.Alias}, " "))+" | "+e.Title+" | "+e.Body)
		}
	}
	return lines
}

// Clash fails when two events of a kind share a name, or an event is not as wide
// as it may be.
func Clash(t interface {
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
				t.Fatalf("the name %q is empty or another's too:\n%+v", key, events)
			}
			seen[name{e.Kind, key}] = true
		}
		for _, text := range []struct {
			is   string
			size int
		}{{e.Match, 64}, {e.Title, 64}, {e.Body, 160}} {
			if text.is == "" || !utf8.ValidString(text.is) || utf8.RuneCountInString(text.is) > text.size {
				t.Fatalf("%q is empty, invalid or longer than %d", text.is, text.size)
			}
		}
		switch e.Kind {
		case event.Toss, event.Start, event.Rain, event.Result:
			if e.Plain == "" || e.Kind != event.Toss && strings.ContainsAny(e.Plain, "0123456789/") {
				t.Fatalf("plain %q of %+v", e.Plain, e)
			}
		default:
			if e.Plain != "" {
				t.Fatalf("plain %q of what tells by coming", e.Plain)
			}
		}
	}
}
