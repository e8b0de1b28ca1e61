package score_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
)

// TestLengthsOfTexts: the longest texts of a display, in bytes. Apps lay them out, and a push
// has room for them.
func TestLengthsOfTexts(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 300)
	s := score.State{
		Phase: sportmonks.Live, Format: score.Format(long), Status: long, Current: 1,
		Local: score.Team{ID: "1", Name: long, Code: long}, Visitor: score.Team{ID: "2", Name: long, Code: long},
		Toss: score.Toss{Text: long}, RunRate: long, NeedRate: long, LastSix: []string{long},
		Innings: []score.Innings{{Number: 1, TeamID: "1", Overs: long}},
		Batters: []score.Batter{{Name: long}}, Bowler: score.Bowler{Name: long, Overs: long}, LastWicket: score.Wicket{Name: long},
	}
	over := s
	over.Phase, over.Result = sportmonks.Result, score.Result{Kind: score.Outcome(long), Text: long}
	upcoming := s
	upcoming.Phase = sportmonks.Upcoming
	other := s
	other.Phase = sportmonks.Phase(long)
	live, ended, before := s.For(""), over.For(""), upcoming.For("")
	got := map[string]int{
		"phase":      len(other.For("").Phase),
		"format":     len(live.Format),
		"status":     len(live.Status),
		"headline":   len(before.Headline),
		"detail":     len(live.Detail),
		"name":       len(live.Local.Name),
		"code":       len(live.Local.Code),
		"overs":      len(live.Local.Overs),
		"rate":       len(live.RunRate),
		"needRate":   len(live.NeedRate),
		"ball":       len(live.LastSix[0]),
		"batter":     len(live.Batters[0].Name),
		"bowler":     len(live.Bowler.Name),
		"figures":    len(live.Bowler.Figures),
		"lastWicket": len(live.LastWicket),
		"outcome":    len(ended.Outcome),
		"result":     len(ended.Result),
		"resultCode": len(ended.ResultCode),
		"spoken":     len(ended.Spoken),
	}

	want := map[string]int{
		"phase": 16, "format": 16, "status": 40, "headline": 72, "detail": 72,
		"name": 32, "code": 8, "overs": 8, "rate": 8, "needRate": 8,
		"ball": 6, "batter": 28, "bowler": 28, "figures": len("0-0 ()") + 8,
		"lastWicket": 28 + len(" 0 (0)"), "outcome": 16, "result": 96, "resultCode": 16, "spoken": 200,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bytes of the longest texts (-want +got):\n%s", diff)
	}
}
