package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/cricket/scoretest"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/score/scorer"
	"matchday/pkg/cricket/sportmonks"
)

// TestRenameWritesTheTextsAnew: the result is read from the provider's note by the
// provider's names, also after the teams were renamed.
func TestRenameWritesTheTextsAnew(t *testing.T) {
	t.Parallel()

	texts := func(s score.State) []string {
		return []string{s.Local.Name, s.Local.Code, s.Toss.Text, s.NeedText, s.LeadText, s.Result.Text}
	}

	toss := func(f *sportmonks.Fixture) { f.TossWonID, f.Elected = 1, "batting" }
	for name, c := range map[string]struct {
		scene *scoretest.Scene
		want  []string
	}{
		"a result": {scoretest.NewScene("T20I").Set(toss).AddTotal(1, 170, 6, "20").AddTotal(2, 92, 9, "20").Finish(1, "Home won by 78 runs"),
			[]string{"The Lights", "LIT", "The Lights won the toss and chose to bat", "", "", "The Lights won by 78 runs"}},
		"a chase": {scoretest.NewScene("T20I").Set(toss).AddTotal(2, 170, 6, "20").AddTotal(1, 92, 9, "15"),
			[]string{"The Lights", "LIT", "The Lights won the toss and chose to bat", "The Lights need 79 runs from 30 balls", "", ""}},
		"a lead": {scoretest.NewScene("Test").AddTotal(2, 170, 10, "60").AddTotal(1, 192, 3, "50"),
			[]string{"The Lights", "LIT", "", "", "The Lights lead by 22 runs", ""}},
	} {
		var st score.State
		for range 2 {
			st, _ = scorer.Read(c.scene.Fixture, st)
			st.Rename(score.Title{Name: "The Lights", Code: "LIT"}, score.Title{})

			if diff := cmp.Diff(c.want, texts(st)); diff != "" {
				t.Errorf("%s: the texts differ (-want +got):\n%s", name, diff)
			}

			if st.Visitor.Name != "Away" {
				t.Errorf("%s: the visiting team is called %q, want Away", name, st.Visitor.Name)
			}
		}
	}
}
