package attack

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"matchday/pkg/kit/code"
)

// TestPredictable: 1,000 ids of one moment are random, and those of a generator that counts, or that
// leaves a part out, are not.
func TestPredictable(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 6, 6, 12, 0, 0, 0, time.UTC)
	counting := ulid.Monotonic(rand.Reader, 1000)

	for name, c := range map[string]struct {
		next func(i int) string
		want string // the beginning of a finding, "" for none
	}{
		"of the kit":     {func(int) string { return code.NewID(now) }, ""},
		"UUIDs":          {func(int) string { return code.NewUUID() }, ""},
		"counting":       {func(int) string { return ulid.MustNew(ulid.Timestamp(now), counting).String() }, "ids with the same beginning"},
		"counting UUIDs": {func(i int) string { return fmt.Sprintf("5b0e9a52-7c43-4a6f-9d18-%012x", i) }, "ids with the same beginning"},
		"of few letters": {func(int) string { return code.NewID(now)[:25] + "0" }, "letter 15 of the random parts"},
	} {
		var all []string
		for i := range 1000 {
			all = append(all, c.next(i))
		}

		wrong := predictable(all)
		if c.want == "" && wrong != nil || c.want != "" && !slices.ContainsFunc(wrong, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%s: %q, want %q", name, wrong, c.want)
		}
	}
}

// TestMadeIDs are those of answers that no request has named.
func TestMadeIDs(t *testing.T) {
	t.Parallel()

	d := newIDs()
	d.know(`/things/01JX0000000000000000000001`)
	d.see(`{"id":"01KTECVSG0ABCDEFGHJKMNPQRS","of":"01JX0000000000000000000001","user":"5b0e9a52-7c43-4a6f-9d18-00000000beef"}`)

	if got := d.made(); !slices.Equal(got, []string{"01KTECVSG0ABCDEFGHJKMNPQRS", "5b0e9a52-7c43-4a6f-9d18-00000000beef"}) {
		t.Errorf("got %q", got)
	}
}
