package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	sim "matchday/infra/sim/strava"
	"matchday/infra/tools/bench/measure"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/milestone"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/commitcollect/workout"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// The user, and the application at Strava.
const (
	user      = "7f6c1f0e-5d0a-4c5e-9b57-000000000001"
	athlete   = 77
	appID     = "4711"
	appSecret = "bench"
	stravaURL = "http://strava.bench"
)

func milestoneID(n int) string { return fmt.Sprintf("01JZ%022d", n) }

// seed stores a user with so many workouts of the year, a connection, a session and three
// milestones, and sets the functions' settings. It returns the session's token.
func seed(ctx context.Context, w *measure.World, server *sim.Sim, workouts int) (token string, err error) {
	id, err := json.Marshal(strava.App{ID: appID, Secret: appSecret})
	if err != nil {
		return "", err
	}

	w.Settings[link.StravaApp], w.Settings[link.StravaURL], w.Settings[link.TokenKeys] = string(id), stravaURL, link.NewSecret("bench")

	keys, err := link.ParseKeyset(w.Settings[link.TokenKeys])
	if err != nil {
		return "", err
	}

	tokens, err := strava.Open(stravaURL, strava.App{ID: appID, Secret: appSecret}, http.RoundTripper(w.Provider), w.Clock.Now).Exchange(ctx,
		server.Grant(athlete, strava.Scopes...))
	if err != nil {
		return "", err
	}

	pk, now := item.User(user), w.Clock.Now()

	rows := []any{
		item.NewUser(user, "ada@example.com", now),
		link.Connection{
			PK:           pk,
			SK:           item.Connection,
			EntityType:   "StravaConnection",
			UserID:       user,
			AthleteID:    athlete,
			AccessToken:  keys.Seal(user, tokens.Access),
			RefreshToken: keys.Seal(user, tokens.Refresh),
			ExpiresAt:    tokens.ExpiresAt,
			Scope:        "read,activity:read,activity:read_all",
			Status:       link.Connected,
			Source:       "STRAVA",
			ConnectedAt:  now.Unix(),
			GSI1PK:       item.Athlete(athlete),
			GSI1SK:       pk,
		},
		map[string]any{"PK": item.Athlete(athlete), "SK": item.Owner, "entityType": "StravaOwner", "userId": user},
	}

	var ids []string // of the open milestones

	for n, sport := range []tally.Family{tally.Run, tally.Ride, tally.Swim} {
		rows = append(rows, milestone.Row{
			PK:          pk,
			SK:          item.Milestone(milestoneID(n)),
			EntityType:  "Milestone",
			MilestoneID: milestoneID(n),
			UserID:      user,
			ModelID:     "trike",
			Sport:       sport,
			TargetType:  tally.Distance,
			TotalTarget: 900_000_000,
			PartTarget:  75_000_000,
			PartsTotal:  12,
			Period:      "YEAR",
			Start:       yearsEnd.AddDate(-1, 0, 0).Unix(),
			Version:     1,
			Life:        item.Life{Status: milestone.Active, CreatedAt: now.Unix()},
		})
		ids = append(ids, milestoneID(n))
	}

	rows = append(rows, map[string]any{"PK": pk, "SK": item.MilestoneList, "ids": ids})

	ledgers := map[string][]tally.Entry{}

	for n := range workouts { // evenly, up to the end
		at := yearsEnd.Add(-9*time.Hour - time.Duration(n+1)*(360*24*time.Hour/time.Duration(workouts))).Unix()
		id := fmt.Sprint(9_000_000_000 + workouts - n)
		r := workout.Row{
			PK:         pk,
			SK:         item.Workout(id),
			EntityType: "Workout",
			ActivityID: id,
			AthleteID:  athlete,
			Name:       "Morning run",
			SportType:  "Run",
			StartedAt:  at,
			Distance:   8000,
			Moving:     2400,
			Elapsed:    2500,
			Elevation:  50,
			Aspect:     "create",
			EventTime:  at,
			IngestedAt: at,
			UpdatedAt:  at,
		}
		rows = append(rows, r)
		ledgers[item.Month(at)] = append(ledgers[item.Month(at)], r.Entry())
	}

	for month, entries := range ledgers {
		rows = append(rows, map[string]any{"PK": pk, "SK": item.Ledger(month), "entityType": "Ledger", "rev": 1, "entries": entries})
	}

	for some := range slices.Chunk(rows, 500) {
		if err := dynamo.PutAll(ctx, w.DB(), spec.Access{Table: tables.Main}, some); err != nil {
			return "", err
		}
	}

	token, sessionID := session.New()

	return token, dynamo.PutAll(ctx, w.DB(), spec.Access{Table: tables.Sessions}, []any{map[string]any{
		"PK":           item.Session(sessionID),
		"SK":           item.Meta,
		"userId":       user,
		"expiresAtUtc": yearsEnd.AddDate(0, 1, 0).Unix(),
		"GSI1PK":       pk,
		"GSI1SK":       "SESSION#2026-12-27T20:00:00Z#" + sessionID,
	}})
}
