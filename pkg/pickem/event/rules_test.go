package event_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/member"
)

// TestRulesAreOffUntilAnAdministratorSetsThem: what a prediction may have by each rule, when rules can
// change, and what all members see of them.
func TestRulesAreOffUntilAnAdministratorSetsThem(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.AddMembers("ann", "bob")
	w.CreateShow(3)

	put := func(user, more string) string {
		body := fmt.Sprintf(`{"predictions":{%q:"t1",%q:"t1"}%s}`, pickemtest.MatchID(1), pickemtest.MatchID(2), more)

		out := w.Ask(event.PutPredictionsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/predictions", user, body)
		if out.StatusCode == http.StatusOK {
			return ""
		}

		if !strings.Contains(out.Body, `:invalid_rules"`) {
			return fmt.Sprint(out.StatusCode, " ", out.Body)
		}

		return "invalid_rules"
	}
	weights := func(first, second int) string {
		return fmt.Sprintf(`,"weights":{%q:%d,%q:%d}`, pickemtest.MatchID(1), first, pickemtest.MatchID(2), second)
	}
	joker, survivor := fmt.Sprintf(`,"joker":%q`, pickemtest.MatchID(2)), fmt.Sprintf(`,"survivor":%q`, pickemtest.MatchID(1))
	unpicked := fmt.Sprintf(`,"joker":%q`, pickemtest.MatchID(3))

	check := func(when string, want map[string]string) {
		t.Helper()

		for more, code := range want {
			if got := put("ann", more); got != code {
				t.Errorf("%s, %s: got %q, want %q", when, more, got, code)
			}
		}
	}

	check("no rules", map[string]string{"": "", weights(1, 2): "invalid_rules", joker: "invalid_rules", survivor: "invalid_rules"})

	w.MustAdmin(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), `{"confidence":true,"joker":true,"survivor":true}`)
	check("all rules", map[string]string{
		"": "", weights(1, 2): "", weights(2, 2): "invalid_rules", weights(4, 2): "invalid_rules", joker: "", survivor: "",
		unpicked: "invalid_rules", fmt.Sprintf(`,"weights":{%q:1}`, pickemtest.MatchID(3)): "invalid_rules",
		`,"joker":"elsewhere"`: "invalid_rules",
	})

	check("what ann keeps", map[string]string{weights(3, 1) + joker + survivor: ""})

	if got := put("bob", ""); got != "" {
		t.Errorf("bob picks without weights: %s", got)
	}

	screen := w.Ask(event.GetEventFunction(), pickemtest.AppEvent(pickemtest.Show), "ann", "").Body
	for _, want := range []string{`"confidence":true`, `"joker":true`, `"survivor":true`, weights(3, 1)[1:], joker[1:], survivor[1:]} {
		if !strings.Contains(screen, want) {
			t.Errorf("get-event is %s, want %s in it", screen, want)
		}
	}

	w.LockEvent(pickemtest.Show)

	if out := w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator,
		`{"joker":false}`); out.StatusCode != http.StatusConflict {
		t.Errorf("a rule that changes after the lock: %d %s", out.StatusCode, out.Body)
	}

	w.EnterResults(pickemtest.Show, 0, 0, 1)
	w.Score(pickemtest.Show)

	// ann has 3, and 1 twice. bob's picks have the weights 1 and 2.
	results := w.Ask(event.GetResultsFunction(), pickemtest.AppEvent(pickemtest.Show)+"/results", "bob", "").Body
	for _, want := range []string{
		`"userId":"ann","name":"ann","points":5,`, `"userId":"bob","name":"bob","points":3,`, `"points":3,"weight":3`, `"points":2,"weight":1,"joker":true`,
	} {
		if !strings.Contains(results, want) {
			t.Errorf("the results are %s, want %s in it", results, want)
		}
	}

	if me := w.Ask(member.GetMeFunction(), "/app/me", "ann", "").Body; !strings.Contains(me, `"survivorRight":1`) {
		t.Errorf("get-me is %s, want one right survivor pick", me)
	}
}

// TestRulesFitTheSortKey: a card with a rule may bring no more points than a key holds.
func TestRulesFitTheSortKey(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	w.CreateShow(13) // 10, 20 and so on to 130: 910 points

	for _, c := range []struct {
		body string
		want int
	}{
		{`{"joker":true}`, http.StatusUnprocessableEntity},
		{`{"confidence":true,"joker":true}`, http.StatusOK},
	} {
		out := w.Ask(event.UpdateEventFunction(), pickemtest.AdminEvent(pickemtest.Show), testkit.Administrator, c.body)
		if out.StatusCode != c.want {
			t.Errorf("%s: %d %s, want %d", c.body, out.StatusCode, out.Body, c.want)
		}
	}
}
