package commitcollect_test

import (
	"testing"

	"matchday/infra/rooms/commitcollect/commitcollecttest"
	"matchday/infra/sim/strava"
	"matchday/infra/testkit"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/model"
	sdk "matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tables"
)

// small returns a world of few calls, for tests that need many: an active model of three
// parts, and a user ann who has connected the athlete 77, without a session.
func small(t testing.TB) *commitcollecttest.World {
	t.Helper()
	w := commitcollecttest.New(t, strava.Faults{})

	rows := []any{
		model.Meta{
			PK:         "MODEL#trike",
			SK:         item.Meta,
			EntityType: "Model",
			ModelID:    "trike",
			Name:       "Trike",
			Year:       2026,
			PartsTotal: 3,
			IsActive:   true,
		},
		item.NewUser("ann", "ann@example.com", noon),
	}
	for n := 1; n <= 3; n++ {
		rows = append(rows, model.Part{
			PK:           "MODEL#trike",
			SK:           item.Part(n),
			EntityType:   "Part",
			PartIndex:    n,
			PartName:     "Part",
			MeshFile:     "a.glb",
			AttachPoint:  "a",
			DisplayOrder: n,
		})
	}

	app := sdk.App{ID: "4711", Secret: "app-s3cret"}
	token, err := sdk.Open(w.Settings[link.StravaURL], app, w.Provider, w.Clock.Now).Exchange(t.Context(), w.Strava.Grant(77, allScopes...))
	testkit.Must(t, err)
	keys, err := link.ParseKeyset(w.Settings[link.TokenKeys])
	testkit.Must(t, err)

	rows = append(rows, link.Connection{
		PK:           "USER#ann",
		SK:           item.Connection,
		EntityType:   "StravaConnection",
		UserID:       "ann",
		AthleteID:    77,
		AccessToken:  keys.Seal("ann", token.Access),
		RefreshToken: keys.Seal("ann", token.Refresh),
		ExpiresAt:    token.ExpiresAt,
		Scope:        "activity:read",
		Status:       link.Connected,
		Source:       "STRAVA",
		ConnectedAt:  noon.Unix(),
		GSI1PK:       item.Athlete(77),
		GSI1SK:       "USER#ann",
	},
		stored{"PK": item.Athlete(77), "SK": item.Owner, "entityType": "StravaOwner", "userId": "ann"},
		stored{"PK": item.Connected(item.Shard("ann")), "SK": "USER#ann", "userId": "ann"})
	testkit.PutRows(w.World, tables.Main, rows...)

	return w
}
