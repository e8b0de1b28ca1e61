package score

// named are the rules that have a name, by what is written about them:
//
//   - outcome: 3 points for the outcome, and nothing for the score.
//   - kicktipp: 4 points for the score, 3 for the goal difference, 2 for the outcome. A draw that was
//     guessed with another score earns 2, because every draw has the same difference.
var named = []struct {
	name string
	rule Rule
}{
	{"outcome", Standard},
	{"kicktipp", Rule{Outcome: 2, GoalDifference: 1, ExactScore: 1}},
}

// Names returns the names of rules.
func Names() []string {
	all := make([]string, len(named))
	for i, n := range named {
		all[i] = n.name
	}

	return all
}

// Named returns the rule with a name, without tie-breakers and jokers. ok is false if there is none.
func Named(name string) (r Rule, ok bool) {
	for _, n := range named {
		if n.name == name {
			return n.rule, true
		}
	}

	return Rule{}, false
}

// WithName returns the rule with the name that its parts have; "" if they have none. Tie-breakers and jokers
// are options beside the name.
func (r Rule) WithName() Rule {
	parts := r
	parts.Name, parts.TieBreaks, parts.JokerFactor = "", false, 0

	r.Name = ""

	for _, n := range named {
		if n.rule == parts {
			r.Name = n.name
		}
	}

	return r
}
