package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/infra/tools/bench/measure"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/ranking"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// item is a row of the pick'em table.
type item map[string]any

func record(kind, pk, sk, gsiPK, gsiSK string, rest item) item {
	out := item{"type": kind, "PK": pk, "SK": sk, "GSI_PK": gsiPK, "GSI_SK": gsiSK}
	for k, v := range rest {
		out[k] = v
	}

	return out
}

func eventOf(n int) string {
	return yearsEnd.AddDate(0, 0, 7*(n+1-eventsOfYear)).Format(time.DateOnly) + "-clash-of-tides"
}
func userOf(n int) string  { return fmt.Sprintf("7f6c1f0e-5d0a-4c5e-9b57-%012d", n) }
func matchOf(n int) string { return fmt.Sprintf("05389aab-1f1b-44d0-9cfc-%012d", n) }

// teamOf returns the id of the team that a user picks in a match.
func teamOf(user, match int) string { return fmt.Sprint("t", 1+user>>match&1) }

// predictions is the body of a save: a pick of every match, different for each user.
func predictions(user int) string {
	var parts []string
	for i := range cardSize {
		parts = append(parts, fmt.Sprintf(`"%s":%q`, matchOf(i), teamOf(user, i)))
	}

	return `{"predictions":{` + strings.Join(parts, ",") + `}}`
}

func eventRow(n int, state string, rev int) item {
	id := eventOf(n)
	starts := yearsEnd.AddDate(0, 0, 7*(n+1-eventsOfYear))

	out := record("event", "EVENT", "EVENT#"+id, "EVENT#"+id, "EVENT", item{
		"id":         id,
		"name":       "Clash of Tides",
		"date":       starts.Format("2006/01/02"),
		"startsAt":   starts.Format(time.RFC3339),
		"lockAt":     starts.Add(-time.Hour).Format(time.RFC3339),
		"state":      state,
		"bonus":      25,
		"cardRev":    cardSize,
		"matches":    cardSize,
		"voidRev":    0,
		"resultsRev": 0,
		"scoredRev":  0,
	})
	if state != "upcoming" {
		out["resultsRev"], out["resultsAt"], out["scoringAt"] = rev, starts.Add(3*time.Hour).Format(time.RFC3339),
			starts.Add(3*time.Hour).Format(time.RFC3339)
	}

	if state == "scored" {
		out["scoredRev"], out["scoredAt"] = rev, starts.Add(3*time.Hour).Format(time.RFC3339)
	}

	return out
}

func matchRow(event, n, result int) item {
	id := eventOf(event)

	return record("match", "EVENT#"+id, "MATCH#"+matchOf(n), "EVENT#"+id, fmt.Sprintf("MATCH#%02d", n+1), item{
		"id":            matchOf(n),
		"name":          "Tornado Tag Team",
		"championships": []string{"Tidal Tag Team Championship"},
		"points":        25,
		"preshow":       n == 0,
		"since":         n + 1,
		"lastTeam":      2,
		"result":        result,
		"teams": []item{
			{"id": "t1", "name": "The Undertow", "champion": true, "members": []string{"Marlow Reef", "Kit Lagoon"}},
			{"id": "t2", "name": "Salt and Iron", "members": []string{"Brine Carver", "Anchor Voss"}},
		},
	})
}

// seed stores members, each in a league of ten, so many scored events, and one more
// event in the given state. All members have predicted the events from number first
// on. The member in the middle, who is the caller, has predicted the others too.
func seed(ctx context.Context, w *measure.World, members, played, first int, state string) error {
	var rows []item

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)

	flush := func(least int) {
		if len(rows) < least {
			return
		}

		some := rows
		rows = nil

		g.Go(func() error { return dynamo.PutAll(ctx, w.DB(), spec.Access{Table: tables.Pickem}, some) })
	}

	for n := range played + 1 {
		if n < played {
			rows = append(rows, eventRow(n, "scored", cardSize))
		} else {
			rows = append(rows, eventRow(n, state, cardSize))
		}

		for i := range cardSize {
			m := matchRow(n, i, 0)
			if n == played && state == "upcoming" {
				delete(m, "result")
			}

			rows = append(rows, m)
		}
	}

	for u := range members {
		id, league := userOf(u), fmt.Sprintf("%026d", u/10)
		own, name := "USER#"+id, fmt.Sprintf("Member %05d", u)
		points := 100 * played

		rows = append(rows,
			record("user", own, "USER", "USER", own, item{"belongsto": own, "name": name, "rev": played}),
			item{
				"type":       "membership",
				"PK":         own,
				"SK":         "LEAGUE#" + league,
				"leagueId":   league,
				"leagueName": "The lads",
				"belongsto":  own,
				"joinedAt":   "2026-01-01T12:00:00Z",
			},
			record("standings", own, "STANDINGS#2026", "STANDINGS#2026", fmt.Sprintf("SCORE#%05d#%s", points, id), item{
				"belongsto":   own,
				"rev":         played,
				"points":      points,
				"mcorrect":    4 * played,
				"eplayed":     played,
				"lastEvent":   eventOf(played - 1),
				"lastPoints":  100,
				"lastCorrect": 4,
			}))
		for n := range played + 1 {
			if n < first && u != members/2 {
				continue
			}

			picks := map[string]string{}
			for i := range cardSize {
				picks[matchOf(i)] = teamOf(u+n, i)
			}

			p := record("prediction", own, "EVENT#"+eventOf(n), "EVENT#"+eventOf(n), "SCORE#000#"+id, item{
				"eventId":     eventOf(n),
				"belongsto":   own,
				"predictions": picks,
				"cardRev":     cardSize,
				"savedAt":     "2026-01-01T12:00:00Z",
				"points":      0,
				"mcorrect":    0,
				"scoredRev":   0,
			})
			if n < played {
				p["GSI_SK"], p["points"], p["mcorrect"], p["scoredAt"], p["scoredRev"] = "SCORE#100#"+id, 100, 4, "2026-01-01T12:00:00Z", cardSize
			}

			rows = append(rows, p)
		}

		flush(500)
	}

	flush(1)

	return g.Wait()
}

// rank writes the ranking of a scored event that only one member has predicted.
func rank(ctx context.Context, w *measure.World, eventID, userID string) error {
	d, err := ranking.Claim(ctx, w.DB(), eventID, time.Time{})
	if err != nil {
		return err
	}

	d.Count = 1

	t, err := d.Resume(ctx, w.DB(), eventID)
	if err != nil {
		return err
	}

	t.Results = cardSize

	if err := t.Write(ctx, []ranking.Row{{UserID: userID, Points: 100, Correct: 4}}); err != nil {
		return err
	}

	if err := t.Flush(ctx, false); err != nil {
		return err
	}

	if _, err := t.Place(ctx, func() bool { return false }); err != nil {
		return err
	}

	return t.Close(ctx)
}

func put(ctx context.Context, w *measure.World, rows []item) error {
	return dynamo.PutAll(ctx, w.DB(), spec.Access{Table: tables.Pickem}, rows)
}
