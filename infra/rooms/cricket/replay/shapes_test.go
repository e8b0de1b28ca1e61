package replay_test

import "strings"

const (
	harbour, meadow = "Harbour", "Meadow"

	four  = "1 . 2 . 1 . " // an over of four runs
	eight = "2 . 2 . 4 . "
	dots  = ". . . . . . "
	// ten batters out in two overs but for a ball
	collapse = ".:bowled .:caught .:lbw .:stumped 1:run_out .:hit_wicket .:bowled .:caught_and_bowled .:obstructing_the_field .:bowled "
)

func target(runs int, overs float64) doc { return doc{"target": doc{"runs": runs, "overs": overs}} }

func superOver(more doc) doc {
	out := doc{"super_over": true}
	for k, v := range more {
		out[k] = v
	}

	return out
}

// tied returns a match of one over, tied at eight runs.
func tied() *sheet { return t20(1).bat(harbour, eight, nil).bat(meadow, eight, target(9, 1)) }

// short returns a match that Meadow wins.
func short() *sheet {
	return t20(1).bat(harbour, eight, nil).bat(meadow, "4 4 1", target(9, 1)).won(meadow, by("wickets", 10))
}

// shapes returns matches of every kind by name.
func shapes() map[string]*sheet {
	return map[string]*sheet{
		"chase with balls left":   short(),
		"chase off the last ball": t20(1).bat(harbour, eight, nil).bat(meadow, "2 . 2 . 4 1", target(9, 1)).won(meadow, by("wickets", 10)),
		"chase by a wide":         t20(1).bat(harbour, eight, nil).bat(meadow, "4 5wd", target(9, 1)).won(meadow, by("wickets", 10)),
		"chase by an overthrow":   t20(1).bat(harbour, eight, nil).bat(meadow, "2 . 7", target(9, 1)).won(meadow, by("wickets", 10)),
		"chase by a no-ball":      t20(1).bat(harbour, eight, nil).bat(meadow, "4 nb+6", target(9, 1)).won(meadow, by("wickets", 10)),
		"chase with nine down": t20(2).bat(harbour, four+four, nil).bat(meadow, strings.Replace(collapse, " .:bowled ", " ", 1)+". 4 4",
			target(9, 2)).won(meadow, by("wickets", 1)),
		"chase by late penalty": t20(2).bat(harbour, four+four, nil).bat(meadow, four+"1 .",
			doc{"target": doc{"runs": 9, "overs": 2}, "penalty_runs": doc{"post": 5}}).won(meadow, by("wickets", 10)),
		"defended":        t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour, by("runs", 4)),
		"defended by one": t20(2).bat(harbour, four+four, nil).bat(meadow, four+"1 . 2", target(9, 1.3)).won(harbour, by("runs", 1)),
		"all out":         t20(2).bat(harbour, four+four, nil).bat(meadow, collapse, target(9, 2)).won(harbour, by("runs", 7)),
		"both all out":    t20(2).bat(harbour, "6 "+collapse, nil).bat(meadow, collapse, target(8, 2)).won(harbour, by("runs", 6)),
		"tie":             tied().ended(doc{"result": "tie"}),
		"tie all out": t20(2).bat(harbour, "1 "+dots+". . . . .", nil).bat(meadow, collapse, target(2, 2)).ended(doc{
			"result": "tie",
		}),
		"tie by a rain rule": t20(2).bat(harbour, four+four, nil).bat(meadow, four, target(5, 1)).ended(doc{
			"result": "tie",
			"method": "D/L",
		}),
		"rain rule and super over": t20(2).bat(harbour, four+four, nil).bat(meadow, four, target(5, 1)).bat(meadow, "6 6 .",
			superOver(nil)).bat(harbour, dots, superOver(nil)).ended(doc{
			"result":     "tie",
			"method":     "D/L",
			"eliminator": meadow,
		}),
		"super over": tied().bat(meadow, "6 . . . . .", superOver(nil)).bat(harbour, "6 1", superOver(nil)).ended(doc{
			"result":     "tie",
			"eliminator": harbour,
		}),
		"super over, other order": tied().bat(harbour, "6 . . . . .", superOver(nil)).bat(meadow, "4 . . . . .", superOver(nil)).ended(doc{
			"result":     "tie",
			"eliminator": harbour,
		}),
		"super over, wickets": tied().bat(meadow, "6 .:bowled .:bowled", superOver(nil)).bat(harbour,
			".:bowled 1:run_out", superOver(nil)).ended(doc{
			"result":     "tie",
			"eliminator": meadow,
		}),
		"super over, extras": tied().bat(meadow, "wd 5wd nb nb+4 . . . . . 1", superOver(nil)).bat(harbour,
			"wd wd:stumped nb+2b 2b 1lb . . . .", superOver(nil)).ended(doc{
			"result":     "tie",
			"eliminator": meadow,
		}),
		"super over, declared": tied().bat(meadow, "6 .", superOver(doc{"declared": true})).bat(harbour, "6 1",
			superOver(doc{"target": doc{"runs": 7, "overs": 1}})).ended(doc{
			"result":     "tie",
			"eliminator": harbour,
		}),
		"super over, level": tied().bat(meadow, "4 4 4 1 1 1", superOver(nil)).bat(harbour, "6 2 2 1 2 2:run_out", superOver(nil)).ended(doc{
			"result":     "tie",
			"eliminator": harbour,
		}),
		"super over not recorded": tied().ended(doc{"result": "tie", "eliminator": meadow}),
		"super over abandoned":    tied().bat(meadow, "6 . .", superOver(nil)).ended(doc{"result": "tie"}),
		"three super overs": tied().
			bat(meadow, "4 . . . . .", superOver(nil)).bat(harbour, "4 . . . . .", superOver(nil)).
			bat(harbour, ".:bowled .:lbw", superOver(nil)).bat(meadow, dots, superOver(nil)).
			bat(meadow, "1 . . . . .", superOver(nil)).bat(harbour, "2", superOver(nil)).ended(doc{"result": "tie", "eliminator": harbour}),
		"bowl-out": tied().set("bowl_out", []doc{
			{"bowler": "Harbour 10", "outcome": "hit"},
			{"bowler": "Meadow 10", "outcome": "miss"},
		}).ended(doc{
			"result":   "tie",
			"bowl_out": harbour,
		}),

		"no result in the first innings":  t20(5).bat(harbour, four+"1 . .", nil).ended(doc{"result": "no result"}),
		"no result in the second innings": t20(5).bat(harbour, four+four, nil).bat(meadow, ". 4", target(9, 2)).ended(doc{"result": "no result"}),
		"no result before the chase":      t20(1).bat(harbour, eight, nil).bat(meadow, "", target(9, 1)).ended(doc{"result": "no result"}),
		"no result by a method": t20(1).bat(harbour, eight, nil).bat(meadow, "1", target(9, 1)).ended(doc{
			"result": "no result",
			"method": "D/L",
		}),
		"abandoned, innings without ball": t20(20).bat(harbour, "", nil).ended(doc{"result": "no result"}),
		"abandoned after the toss":        t20(20).ended(doc{"result": "no result"}),
		"abandoned without a toss":        t20(20).set("toss", nil).set("player_of_match", nil).ended(doc{"result": "no result"}),
		"abandoned, nobody named": t20(20).set("toss", doc{}).set("players", nil).set("player_of_match", nil).ended(doc{
			"result": "no result",
		}),
		"abandoned Test": days("Test", 5).ended(doc{"result": "draw"}),
		"abandoned MDM":  days("MDM", 4).set("toss", nil).ended(doc{"result": "no result"}),

		"rain, reduced chase": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+"4", target(6, 2)).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "D/L"}),
		"rain, chase short": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+dots, target(9, 2)).won(harbour,
			doc{"by": doc{"runs": 4}, "method": "D/L"}),
		"rain, ahead when abandoned": t20(3).bat(harbour, four+four, nil).bat(meadow, "6 6 4 4 .", target(9, 3)).won(meadow,
			doc{"by": doc{"runs": 12}, "method": "D/L"}),
		"rain, par below the target": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+"1 .", target(4, 1.2)).won(meadow,
			doc{"by": doc{"runs": 2}, "method": "D/L"}),
		"rain, target above": t20(2).bat(harbour, four+"1 .", nil).bat(meadow, four+"6 6", target(15, 2)).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "D/L"}),
		"rain, target above missed": t20(2).bat(harbour, four+"1 .", nil).bat(meadow, four+four, target(15, 2)).won(harbour,
			doc{"by": doc{"runs": 6}, "method": "D/L"}),
		"rain, broken overs": t20(5).bat(harbour, four+four+four, nil).bat(meadow, four+four+"1 . .", target(11, 2.3)).won(harbour,
			doc{"by": doc{"runs": 1}, "method": "D/L"}),
		"rain, reduced first": t20(5).bat(harbour, four+four+"1 .", nil).bat(meadow, four+"6", target(10, 2.2)).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "D/L"}),
		"rain, DLS by name": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+"4", target(6, 2)).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "DLS"}),
		"rain, first innings + 1": t20(3).bat(harbour, four+four+four, nil).bat(meadow, "6 6 1", target(13, 3)).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "D/L"}),
		"rain, no margin": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+"4", target(6, 2)).won(meadow,
			doc{"method": "D/L"}),
		"rain, no target": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+"4", nil).won(meadow,
			doc{"by": doc{"wickets": 10}, "method": "D/L"}),
		"VJD": t20(3).bat(harbour, four+four+four, nil).bat(meadow, four+dots, target(10, 2)).won(harbour,
			doc{"by": doc{"runs": 5}, "method": "VJD"}),
		"reduced without a method": t20(3).bat(harbour, four+four, nil).bat(meadow, four+"1 4", target(9, 2)).won(meadow, by("wickets", 10)),
		"target without overs": t20(2).bat(harbour, four+four, nil).bat(meadow, four+dots, doc{"target": doc{"runs": 9}}).won(harbour,
			by("runs", 4)),

		"awarded": t20(1).bat(harbour, eight, nil).bat(meadow, ". 4", target(9, 1)).won(meadow, doc{"method": "Awarded"}),
		"awarded with a margin": t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour,
			doc{"method": "Awarded", "by": doc{"runs": 4}}),
		"awarded without a ball": t20(2).won(meadow, doc{"method": "Awarded"}),
		"awarded Test": days("Test", 5).bat(harbour, four, nil).bat(meadow, four+four, nil).bat(harbour, four, nil).won(meadow,
			doc{"method": "Awarded"}),
		"conceded":              t20(1).bat(harbour, eight, nil).bat(meadow, ". 4", target(9, 1)).won(harbour, doc{"method": "Conceded"}),
		"won, without a margin": t20(1).bat(harbour, eight, nil).bat(meadow, "4 4 1", target(9, 1)).won(meadow, nil),
		"won, by nothing":       t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour, doc{"by": doc{}}),
		"walkover":              t20(2).won(meadow, nil),
		"lost fewer wickets": t20(2).bat(harbour, "1 1 1:run_out . . . "+"1:bowled 4", nil).bat(meadow, four+"3 1", target(9, 2)).won(meadow, doc{
			"method": "Lost fewer wickets",
		}),
		"higher run rate": t20(1).bat(harbour, eight, nil).bat(meadow, "4 4", target(9, 1)).won(meadow, doc{"method": "Higher run rate"}),
		"a method with a margin": t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour,
			doc{"by": doc{"runs": 4}, "method": "Parabola"}),
		"a method for a tie": tied().ended(doc{"result": "tie", "method": "Parabola"}),
		"one-day match drawn": t20(1).set("match_type", "ODM").bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).ended(doc{
			"result": "draw",
		}),
		"result of a newer kind":  t20(2).bat(harbour, four, nil).ended(doc{"result": "no result", "method": "Void"}),
		"one innings, then award": t20(1).bat(harbour, eight, nil).won(meadow, doc{"method": "Awarded"}),

		"MDM drawn": days("MDM", 4).bat(harbour, four+four, nil).bat(meadow, four+"1", nil).bat(harbour, four, nil).ended(doc{
			"result": "draw",
		}),
		"MDM on first innings": days("MDM", 4).bat(harbour, four+four, nil).bat(meadow, four+"6 . 1 . . . .", nil).won(meadow,
			doc{"method": "1st innings score"}),
		"draw with a method": days("MDM", 4).bat(harbour, four+four, nil).bat(meadow, four+"6", nil).ended(doc{
			"result": "draw",
			"method": "1st innings score",
		}),
		"innings win": days("Test", 3).bat(harbour, four+four+"6 6", nil).bat(meadow, collapse, nil).bat(meadow, collapse, nil).won(harbour,
			doc{"by": doc{"innings": 1, "runs": 18}}),
		"innings win batting second": days("Test", 3).bat(harbour, collapse, nil).bat(meadow, four+four+"6", doc{"declared": true}).bat(harbour,
			collapse, nil).
			won(meadow, doc{"by": doc{"innings": 1, "runs": 12}}),
		"follow-on won by those who followed": days("Test", 5).bat(harbour, four+four+four, doc{"declared": true}).bat(meadow, collapse, nil).
			bat(meadow, four+four+"6 6", nil).bat(harbour, collapse, nil).won(meadow, by("runs", 8)),
		"declared at nothing": days("MDM", 4).bat(harbour, dots, doc{"declared": true}).bat(meadow, four, doc{"declared": true}).bat(harbour,
			four+four, doc{
				"declared": true,
			}).bat(meadow, "4 1", nil).won(meadow, by("wickets", 10)),
		"first innings forfeited": days("MDM", 3).bat(harbour, "", doc{"forfeited": true}).bat(meadow, four+four,
			doc{"declared": true}).bat(harbour, four+"6", nil).won(harbour, by("wickets", 10)),
		"both forfeited": days("MDM", 3).bat(harbour, four+four, doc{"declared": true}).bat(meadow, "", doc{"forfeited": true}).bat(harbour,
			"", doc{
				"forfeited": true,
			}).bat(meadow, four+"6", target(9, 96)).won(meadow, by("wickets", 10)),
		"third forfeited, defended": days("MDM", 3).bat(harbour, four+four+"6", doc{"declared": true}).bat(meadow, four,
			doc{"declared": true}).bat(harbour, "", doc{
			"forfeited": true,
		}).bat(meadow, collapse, nil).won(harbour, by("runs", 9)),
		"third not started": days("MDM", 3).bat(harbour, four+four, nil).bat(meadow, four, nil).bat(harbour, "", nil).ended(doc{
			"result": "draw",
		}),
		"forfeited without overs key": days("MDM", 3).bat(harbour, four, doc{"declared": true}).bat(meadow, "",
			doc{"forfeited": true, "overs": nil}).bat(harbour, four, nil).ended(doc{
			"result": "draw",
		}),
		"tied Test": days("Test", 5).bat(harbour, four+four, nil).bat(meadow, collapse, nil).bat(harbour, collapse, nil).bat(meadow,
			"6 1 "+collapse, nil).ended(doc{
			"result": "tie",
		}),
		"drawn with scores level": days("Test", 5).bat(harbour, four+four, nil).bat(meadow, four+dots, nil).bat(harbour, four, nil).bat(meadow,
			four+four, nil).ended(doc{
			"result": "draw",
		}),
		"Test of ten days": days("Test", 10).bat(harbour, strings.Repeat(four, 5), nil).bat(meadow, strings.Repeat(four, 4)+"1",
			nil).bat(harbour, four+four, nil).bat(meadow, strings.Repeat(four, 2)+"1:bowled 3", nil).ended(doc{
			"result": "draw",
		}),
		"Test won by wickets": days("Test", 5).bat(harbour, four+four, nil).bat(meadow, four+four+four, nil).bat(harbour, four+four,
			nil).bat(meadow, ".:bowled 4 1", nil).won(meadow, by("wickets", 9)),
		"no result in a Test": days("Test", 5).bat(harbour, four, nil).ended(doc{"result": "no result"}),

		"overs of four": days("Test", 3).set("balls_per_over", 4).bat(harbour, "1 . 1 . 1 . 1 . 2 .", nil).bat(meadow, "1 . 1 . 1 .",
			nil).bat(harbour, "1 . .", nil).ended(doc{
			"result": "draw",
		}),
		"overs of five": days("Test", 3).set("balls_per_over", 5).bat(harbour, "1 . 1 . 1 . 1 . 2 . 4 .", nil).bat(meadow,
			"1 . 1 . 1 .", nil).ended(doc{
			"result": "draw",
		}),
		"overs of eight": t20(3).set("match_type", "ODI").set("balls_per_over", 8).bat(harbour, strings.Repeat("1 . . . ", 6), nil).bat(meadow,
			strings.Repeat("1 . . . ", 5), target(7, 3)).won(harbour, by("runs", 1)),
		"The Hundred": t20(20).set("balls_per_over", 5).bat(harbour, strings.Repeat("1 . 2 . . ", 4)+"2nb nb+1 4", nil).bat(meadow,
			strings.Repeat("1 . 6 . . ", 3), target(20, 20)).won(meadow, by("wickets", 10)),
		"T10": t20(10).set("match_type", "T10").bat(harbour, four+"6", nil).bat(meadow, "6 6", target(11, 10)).won(meadow,
			by("wickets", 10)),
		"IT20": t20(1).set("match_type", "IT20").set("team_type", "international").bat(harbour, eight, nil).bat(meadow, four,
			target(9, 1)).won(harbour, by("runs", 4)),
		"unknown type": t20(1).set("match_type", "Sixes").bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour, by("runs", 4)),

		"absent hurt": t20(2).bat(harbour, four+four, nil).bat(meadow,
			"1:bowled .:bowled .:bowled .:bowled .:bowled .:bowled .:bowled 1 .:bowled .:bowled",
			doc{"absent_hurt": []string{"Meadow 11"}, "target": doc{"runs": 9, "overs": 2}}).won(harbour, by("runs", 6)),
		"several absent": days("Test", 3).bat(harbour, four+four+four, nil).bat(meadow,
			".:bowled .:bowled .:bowled .:bowled .:bowled .:bowled .:bowled",
			doc{"absent_hurt": []string{"Meadow 9", "Meadow 10", "Meadow 11"}}).bat(meadow,
			"1 .:bowled .:bowled .:bowled .:bowled .:bowled .:bowled .:bowled", doc{
				"absent_hurt": []string{"Meadow 9", "Meadow 10", "Meadow 11"},
			}).won(harbour, doc{
			"by": doc{"innings": 1, "runs": 11},
		}),
		"retired": t20(2).bat(harbour, "1 1:retired_hurt . .:retired_not_out 4 .:retired_out "+four, nil).bat(meadow,
			four+"3 4:retired_hurt", target(11, 2)).won(meadow, by("wickets", 10)),
		"odd dismissals": t20(2).bat(harbour, "1 .:timed_out .:obstructing_the_field .:handled_the_ball .:hit_the_ball_twice 4 "+four,
			nil).bat(meadow, dots+dots, target(10, 2)).won(harbour, by("runs", 9)),
		"a new dismissal": t20(2).bat(harbour, "1 .:out_of_ground 4", nil).bat(meadow, dots+dots, target(6, 2)).won(harbour, by("runs", 5)),
		"two on one ball": t20(2).bat(harbour, "1 .:bowled:timed_out 1:run_out:retired_hurt@ 4 . . ", nil).bat(meadow,
			"1 .:caught:timed_out@ . 4 2", target(7, 2)).won(meadow, by("wickets", 8)),
		"wickets on extras": t20(2).bat(harbour, "wd:stumped wd:run_out@ nb:run_out nb+1:run_out@ 5wd 1lb:run_out 1b:run_out "+dots,
			nil).bat(meadow, dots+dots, target(12, 2)).
			won(harbour, by("runs", 11)),
		"penalty runs": t20(2).bat(harbour, four+four, doc{"penalty_runs": doc{"pre": 5, "post": 5}}).bat(meadow, four+"5p 1+5p",
			doc{"penalty_runs": doc{"pre": 5}, "target": doc{"runs": 19, "overs": 2}}).won(meadow, by("wickets", 10)),
		"penalty to the fielding side": t20(2).bat(harbour, four+four, doc{"penalty_runs": doc{"post": 10}}).bat(meadow, four+four,
			doc{"penalty_runs": doc{"post": 5}, "target": doc{"runs": 19, "overs": 2}}).
			won(harbour, by("runs", 5)),
		"miscounted": t20(3).bat(harbour, "1 . . . 1 | . . . . . . 1 | 1 . . . . 2",
			doc{"miscounted_overs": doc{"0": doc{"balls": "5", "umpire": "A Raised"}, "1": doc{"balls": 7}}}).bat(meadow, four+dots+dots,
			target(6, 3)).won(harbour, by("runs", 1)),
		"miscounted at last": t20(2).bat(harbour, four+"1 . . . 1 |", doc{"miscounted_overs": doc{"1": doc{"balls": 5}}}).bat(meadow,
			"1 . . . . . | . . . . . . 1", doc{"target": doc{"runs": 7, "overs": 2}, "miscounted_overs": doc{"1": doc{"balls": 7}}}).won(harbour,
			by("runs", 4)),
		"miscounted, unsaid": t20(3).bat(harbour, "1 . . . 1 | . . . . . . . 1 | 1 . . . . 2", nil).bat(meadow, four+dots+dots,
			target(7, 3)).won(harbour, by("runs", 2)),
		"miscounted, extras": t20(2).bat(harbour, "1 wd . . nb . 1 | . wd . . . . . 1",
			doc{"miscounted_overs": doc{"0": doc{"balls": 5}, "1": doc{"balls": 7}}}).bat(meadow, dots+dots, target(7, 2)).won(harbour,
			by("runs", 6)),
		"all kinds of extras": t20(2).bat(harbour, "nb+2b nb+1lb 5wd 4n 2nb nb+4 nb+5p wd+2b 4b 4lb 6n 5 . 1lb+5p . 3b", nil).bat(meadow,
			dots+dots, target(59, 2)).won(harbour, by("runs", 58)),
		"an over without end": t20(2).bat(harbour, "nb nb nb nb wd wd wd nb nb wd wd wd nb . . . . . .", nil).bat(meadow, "6 6 2",
			target(14, 2)).won(meadow, by("wickets", 10)),
		"an over missing":    gap(t20(3).bat(harbour, four+four, nil).bat(meadow, four+dots, target(9, 3)).won(harbour, by("runs", 4))),
		"an over of nothing": hollow(short()),
		"no meta":            bare(short()),
		"no balls at all":    t20(2).bat(harbour, "wd wd nb", nil).ended(doc{"result": "no result"}),

		"Wellington and her women": t20(1).teams("Wellington", "Wellington Women").bat("Wellington", eight, nil).bat("Wellington Women", "4 4 1",
			target(9, 1)).won("Wellington Women", by("wickets", 10)),
		"Wellington alone": t20(1).teams("Wellington", "Wellington Women").bat("Wellington", eight, nil).bat("Wellington Women", four,
			target(9, 1)).won("Wellington", by("runs", 4)),
		"Team A and AB": t20(1).teams("Team AB", "Team A").bat("Team AB", eight, nil).bat("Team A", "4 4 1", target(9, 1)).won("Team A",
			by("wickets", 10)),
		"Wales and New South": t20(1).teams("New South Wales", "Wales").bat("New South Wales", eight, nil).bat("Wales", four,
			target(9, 1)).won("New South Wales", by("runs", 4)),
		"names with verbs": t20(1).teams("Winners Won", "Team Wonders").bat("Winners Won", eight, nil).bat("Team Wonders", "4 4 1",
			target(9, 1)).won("Team Wonders", by("wickets", 10)),
		"names with verbs, tied": t20(2).teams("Beaters", "The Wins").bat("Beaters", four, nil).bat("The Wins", four, target(5, 2)).ended(doc{
			"result":     "tie",
			"eliminator": "The Wins",
		}),
		"names of outcomes": t20(1).teams("Tied House", "No Result CC").bat("Tied House", eight, nil).bat("No Result CC", "4 4 1",
			target(9, 1)).won("No Result CC", by("wickets", 10)),
		"names of methods": t20(1).teams("Defaulters (Awarded)", "Drawn & Abandoned").bat("Defaulters (Awarded)", eight,
			nil).bat("Drawn & Abandoned", four, target(9, 1)).won("Defaulters (Awarded)", by("runs", 4)),
		"names in other scripts": t20(1).teams("Köln Ü-19 <b>", "St. John's \"Ö\" 東京").bat("Köln Ü-19 <b>", eight,
			nil).bat("St. John's \"Ö\" 東京", "4 4 1", target(9, 1)).won("St. John's \"Ö\" 東京", by("wickets", 10)),
		"names with digits": t20(1).teams("11", "Team 11").bat("11", eight, nil).bat("Team 11", "4 4 1", target(9, 1)).won("Team 11",
			by("wickets", 10)),
		"very long names": t20(1).teams(long("North"), long("South")).bat(long("North"), eight, nil).bat(long("South"),
			"4 .:bowled 4 1", target(9, 1)).
			won(long("South"), by("wickets", 9)),
		"one team twice": t20(1).teams(harbour, harbour).bat(harbour, eight, nil).bat(harbour, "4 4 1", target(9, 1)).won(harbour,
			by("wickets", 10)),
		"one player in both": t20(1).set("players", doc{harbour: append(eleven(harbour)[:10], "Meadow 1"), meadow: eleven(meadow)}).bat(harbour,
			eight, nil).bat(meadow, four, target(9, 1)).
			won(harbour, by("runs", 4)),

		"toss uncontested":      short().set("toss", doc{"uncontested": true, "winner": meadow, "decision": "field"}),
		"toss without decision": short().set("toss", doc{"winner": harbour}),
		"bare": t20(2).set("season", nil).set("dates", nil).set("players", nil).set("registry", nil).set("officials", nil).set("venue",
			nil).set("city", nil).set("event", nil).set("gender", nil).
			set("team_type", nil).set("toss", nil).set("player_of_match", nil).set("overs", nil).set("balls_per_over", nil).bat(harbour, four+four,
			nil).bat(meadow, four+"4 1", nil).won(meadow, by("wickets", 10)),
		"season as a number": short().set("season", 2024).set("event",
			doc{"name": "Quay Cup", "group": 2, "stage": "Final", "sub_name": "x"}).set("match_type_number", 8),
		"season of two": short().set("season", "2023/24").set("gender", "female").set("supersubs", doc{harbour: "Harbour 12"}).set("missing",
			[]any{"powerplays", doc{"players": doc{harbour: 2}}}),
		"old version": old(short()),
		"overs not given": t20(20).set("overs", nil).bat(harbour, four+four, nil).bat(meadow, four+"4 1", target(9, 20)).won(meadow,
			by("wickets", 10)),
		"powerplays": t20(2).bat(harbour, four+four,
			doc{
				"powerplays": []doc{
					{"from": 0.1, "to": 0.8, "type": "mandatory"},
					{"from": 1.1, "to": 1.6, "type": "batting"},
					{"from": 1.1, "to": 1.6, "type": "fielding"},
					{"from": 1, "to": 2, "type": "x"},
				},
			}).
			bat(meadow, four+"4 1", target(9, 2)).won(meadow, by("wickets", 10)),
		"over two dates": short().set("dates", []string{"2024-04-30", "2024-05-01"}),
		"replacements":   replaced(short()),
	}
}

func long(name string) string { return name + strings.Repeat(" & the Very Long Borough of <Quay>", 5) }

// gap numbers the second over of an innings as the third.
func gap(s *sheet) *sheet {
	s.innings[0]["overs"].([]doc)[1]["over"] = 2
	return s
}

// hollow adds an over without a delivery.
func hollow(s *sheet) *sheet {
	s.innings[0]["overs"] = append(s.innings[0]["overs"].([]doc), doc{"over": 2, "deliveries": []doc{}})
	return s
}

func bare(s *sheet) *sheet {
	s.meta = nil
	return s
}

func old(s *sheet) *sheet {
	s.meta = doc{"data_version": "1.0.0", "created": "2011-01-01", "revision": 3}
	return s
}

// replaced adds a substitute for a concussed player, who bats.
func replaced(s *sheet) *sheet {
	d := s.innings[1]["overs"].([]doc)[0]["deliveries"].([]doc)[2]
	d["batter"], d["bowler"] = "Meadow Newcomer", "Harbour Newcomer"
	d["replacements"] = doc{
		"match": []doc{{"in": "Meadow Newcomer", "out": "Meadow 1", "team": meadow, "reason": "concussion_substitute"}},
		"role":  []doc{{"in": "Harbour Newcomer", "role": "bowler", "reason": "injury"}},
	}
	d["review"] = doc{"by": harbour, "batter": "Meadow Newcomer", "decision": "struck down", "umpire": "A Raised", "umpires_call": true}

	return s
}

type fault struct {
	data []byte
	want string
}

// faults returns files whose replay must fail.
func faults() map[string]fault {
	return map[string]fault{
		"empty":     {nil, "empty.json: "},
		"cut short": {short().json()[:400], "cut short.json: not a JSON file"},
		"a list":    {[]byte("[1, 2]"), "a list.json: not a Cricsheet file"},
		"other":     {[]byte(`{"name": "x", "version": 3}`), "other.json: not a Cricsheet file"},
		"html":      {[]byte("<!doctype html><p>Not found"), "html.json: not a JSON file"},
		"wrong winner": {t20(1).bat(harbour, eight, nil).bat(meadow, "4 4 1", target(9, 1)).won(harbour, by("runs", 4)).json(),
			"wrong winner.json: "},
		"wrong runs": {t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(harbour, by("runs", 5)).json(),
			"wrong runs.json: "},
		"wrong wickets": {t20(1).bat(harbour, eight, nil).bat(meadow, "4 4 1", target(9, 1)).won(meadow, by("wickets", 9)).json(),
			"wrong wickets.json: "},
		"no tie":     {t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).ended(doc{"result": "tie"}).json(), "no tie.json: "},
		"no outcome": {t20(1).bat(harbour, eight, nil).json(), "no outcome.json: "},
		"not a team": {short().won("Somebody", by("runs", 1)).json(), "not a team.json: the winner \"Somebody\" is not one of the teams"},
		"wrong innings": {days("Test", 3).bat(harbour, four+four+"6 6", nil).bat(meadow, collapse, nil).bat(meadow, collapse, nil).won(harbour,
			doc{"by": doc{"innings": 1, "runs": 17}}).json(), "wrong innings.json: "},
		"runs without by": {t20(1).bat(harbour, eight, nil).bat(meadow, four, target(9, 1)).won(meadow, nil).json(), "runs without by.json: "},
	}
}
