package score_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/member"
	"matchday/pkg/pickem/score"
	"matchday/pkg/spec"
)

// TestPicksArePrivateUntilScored: in every state of an event, only its owner can read a pick,
// except in the results of a scored event.
func TestPicksArePrivateUntilScored(t *testing.T) {
	t.Parallel()
	w := pickemtest.NewSeason(t)
	shown := func() (where []string) {
		fill := strings.NewReplacer("{eventId}", pickemtest.Show, "{userId}", "ann", "{year}", "2026", "{leagueId}", "none")

		for _, fn := range pickem.Room().Functions {
			route, ok := fn.On.(spec.Route)
			if !ok || route.Method != http.MethodGet || w.Routes[fn.Name] == nil {
				continue
			}

			for _, user := range []string{"bob", testkit.Administrator} {
				out := w.Ask(fn, fill.Replace(route.Path), user, "")
				if out.StatusCode >= 500 {
					t.Errorf("%s: %d %s", fn.Name, out.StatusCode, out.Body)
				}

				if pickemtest.HasSecretPick.MatchString(out.Body) {
					where = append(where, fn.Name+" "+user)
				}
			}
		}

		return where
	}
	scorer := testkit.Open(w.World, score.ScoreEventFunction(), score.OpenScorer)

	for _, step := range []struct {
		state string
		do    func()
		want  []string
	}{
		{"open", func() {}, nil},
		{"locked by the clock", func() { w.MoveClock(pickemtest.ShowLockAt) }, nil},
		{"locked", func() { w.LockEvent(pickemtest.Show) }, nil},
		{"all results in", func() { w.EnterResults(pickemtest.Show, 0, 0, 0) }, nil},
		{"half scored", func() {
			on, err := item.ReadEventWithCard(w.NewContext(), w.DB(), pickemtest.Show)
			testkit.Must(t, err)
			testkit.Must(t, scorer.ScoreMember(w.NewContext(), on, "ann"))
		}, nil},
		{"scored", func() { w.Score(pickemtest.Show) }, []string{"pickem/get-results bob"}},
		{"being scored again", func() { w.EnterResults(pickemtest.Show, 1) }, []string{"pickem/get-results bob"}},
	} {
		step.do()

		if got := shown(); !slices.Equal(got, step.want) {
			t.Errorf("%s: functions that show ann's pick (-want +got):\n%s", step.state, cmp.Diff(step.want, got))
		}

		for _, fn := range []app.Function{event.GetEventFunction(), member.GetMeFunction()} {
			target := map[string]string{
				event.GetEventFunction().Name: pickemtest.AppEvent(pickemtest.Show),
				member.GetMeFunction().Name:   "/app/me",
			}[fn.Name]
			if out := w.Ask(fn, target, "ann", ""); !pickemtest.HasSecretPick.MatchString(out.Body) {
				t.Errorf("%s: %s does not show ann her own pick: %s", step.state, fn.Name, out.Body)
			}
		}
	}
}
