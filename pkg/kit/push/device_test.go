package push_test

import (
	"testing"

	"matchday/pkg/kit/push"
)

// TestTakes: Apple takes the tokens of its own environment, and none of another service.
func TestTakes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name        string
		phone       push.Phone
		environment string
		want        bool
	}{
		{"a row of before", push.Phone{}, "production", true},
		{"a row of cricket of before", push.Phone{Platform: "ios", Environment: "sandbox"}, "production", false},
		{"of production", push.Phone{Kind: push.APNs, Environment: "production"}, "production", true},
		{"of the sandbox", push.Phone{Kind: push.APNs, Environment: "sandbox"}, "production", false},
		{"in the sandbox", push.Phone{Kind: push.APNs, Environment: "sandbox"}, "sandbox", true},
		{"of the stage", push.Phone{Kind: push.APNs}, "sandbox", true},
		{"on the local stage", push.Phone{Kind: push.APNs, Environment: "sandbox"}, "", true},
		{"of another service", push.Phone{Kind: "fcm"}, "", false},
	} {
		if got := c.phone.Takes(c.environment); got != c.want {
			t.Errorf("%s: Takes(%q) is %t, want %t", c.name, c.environment, got, c.want)
		}
	}
}
