package organise

import (
	"context"
	"strconv"

	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/public"
	"matchday/pkg/threefc/season"
)

// ranks are the labels of the fields with what decides the order of a table, one after the other.
var ranks = []string{"First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth"}

// rank returns the name of the field of a rank.
func rank(i int) string { return "order" + strconv.Itoa(i+1) }

func (s *Pages) rulesForm(_ context.Context, v *visit, f *form) error {
	points, order := v.season.V().TableRules().Values()
	f.Title, f.Button, f.Rev = "Rules of the table of "+v.season.V().Name, "Save the rules", rev(v.season.Rev)
	f.Lines = []string{"They count for all games of the season: the table is computed again."}

	of := part{Legend: "Points of a game"}
	for _, p := range []struct {
		name, label string
		value       int
	}{{"win", "For a win", points.Win}, {"draw", "For a draw", points.Draw}, {"loss", "For a loss", points.Loss}} {
		of.Fields = append(of.Fields, field{Name: p.name, Label: p.label, Type: "number", Required: true, Value: strconv.Itoa(p.value)})
	}

	all := []option{{"", "nothing more"}}
	for _, by := range []string{
		item.ByPoints, item.ByWins, item.ByDraws, item.ByConceded, item.ByScored, item.ByDifference, item.ByHeadToHead, item.ByName,
	} {
		all = append(all, option{by, public.Orders[by]})
	}

	decides := part{Legend: "What decides the order of the teams"}

	for i, label := range ranks {
		one := field{Name: rank(i), Label: label, Required: i == 0, Options: all}
		if i < len(order) {
			one.Value = order[i]
		}

		decides.Fields = append(decides.Fields, one)
	}

	f.Parts = append(f.Parts, of, decides)

	return nil
}

func (s *Pages) rules(ctx context.Context, v *visit, in sent) (next, error) {
	points := map[string]any{}
	in.numbers(points, "win", "draw", "loss")

	var names []string
	for i := range ranks {
		names = append(names, rank(i))
	}

	req := &season.UpdateSeason{User: v.user(), Key: in.Key, IfMatch: in.IfMatch, SeasonID: v.id}
	if err := fill(&req.Body, map[string]any{"rules": map[string]any{"points": points, "order": in.list(names)}}); err != nil {
		return next{}, err
	}

	_, err := s.seasons.UpdateSeason(ctx, req)

	return next{}, err
}
