package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/bestshot/score"
)

// TestNamedRules: what each rule earns is what its players expect, by the guess and the result.
func TestNamedRules(t *testing.T) {
	t.Parallel()

	type r = score.Result

	for _, c := range []struct {
		name          string
		guess, result r
		want          int
	}{
		{"outcome", r{2, 1}, r{2, 1}, 3},
		{"outcome", r{1, 0}, r{4, 1}, 3},
		{"outcome", r{1, 1}, r{0, 0}, 3},
		{"outcome", r{1, 0}, r{0, 0}, 0},

		{"kicktipp", r{2, 1}, r{2, 1}, 4}, // the score
		{"kicktipp", r{3, 2}, r{2, 1}, 3}, // the difference
		{"kicktipp", r{0, 2}, r{1, 3}, 3},
		{"kicktipp", r{1, 0}, r{3, 1}, 2}, // the outcome
		{"kicktipp", r{1, 1}, r{1, 1}, 4},
		{"kicktipp", r{0, 0}, r{2, 2}, 2}, // a draw has no difference
		{"kicktipp", r{1, 2}, r{2, 1}, 0},
		{"kicktipp", r{1, 1}, r{1, 0}, 0}, // the goals of one side earn nothing
	} {
		rule, ok := score.Named(c.name)
		if got := rule.Of(c.guess, c.result, 1).Total(); got != c.want || !ok {
			t.Errorf("%s: %v for %v earns %d, want %d", c.name, c.guess, c.result, got, c.want)
		}
	}
}

// TestNamesOfRules: a name gives the rule, and the rule its name.
func TestNamesOfRules(t *testing.T) {
	t.Parallel()

	for _, name := range score.Names() {
		rule, _ := score.Named(name)
		rule.TieBreaks = true

		if got := rule.WithName(); got.Name != name || !got.TieBreaks {
			t.Errorf("%s is %+v", name, got)
		}
	}

	if rule, ok := score.Named("none"); ok {
		t.Errorf("none is %+v", rule)
	}

	mine := score.Rule{Outcome: 3, HomeScore: 1}
	if diff := cmp.Diff(mine, mine.WithName()); diff != "" {
		t.Errorf("a rule without a name (-want +got):\n%s", diff)
	}
}
