package commitcollect

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	sim "matchday/infra/sim/strava"
	"matchday/infra/tools/events/story"
	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/link"
	"matchday/pkg/commitcollect/signin"
	"matchday/pkg/commitcollect/strava"
	"matchday/pkg/commitcollect/tally"
	"matchday/pkg/kit/session"
	"matchday/pkg/spec"
)

// Users of the sample events, and their athletes.
const (
	ann    = "7f6c1f0e-5d0a-4c5e-9b57-0000000a00c1" // has connected her athlete
	lea    = "7f6c1f0e-5d0a-4c5e-9b57-0000000b00c2" // signs in for the first time
	leaver = "7f6c1f0e-5d0a-4c5e-9b57-0000000c00c3" // deletes the account
	gone   = "7f6c1f0e-5d0a-4c5e-9b57-0000000d00c4" // has deleted it
	former = "7f6c1f0e-5d0a-4c5e-9b57-0000000e00c5" // has disconnected
	broken = "7f6c1f0e-5d0a-4c5e-9b57-0000000f00c6" // has revoked the access, and the webhook was lost

	athlete      = 77
	otherAthlete = 78
)

// samples belong to the sample events: an administrator prepares a model, Lea signs
// in, Ann looks at her workouts and milestones, connects another athlete, and disconnects.
func (h *Host) samples() story.Samples {
	return story.Samples{
		Prepare: h.prepareSamples,
		Sessions: map[string]string{
			cookie("ann"): ann, cookie("ann at home"): ann, cookie("ann at work"): ann, cookie("leaver"): leaver,
			cookie("stranger"): story.Stranger, cookie("expired"): story.Expired,
		},
	}
}

// token returns the token of a session of the events: 32 bytes that begin with a name.
func token(name string) string {
	var b [32]byte
	copy(b[:], name)

	return base64.RawURLEncoding.EncodeToString(b[:])
}

func cookie(name string) string { return signin.Cookie.FullName() + "=" + token(name) }

// stored is a row of a table.
type stored struct {
	table string
	row   map[string]any
}

// prepareSamples stores what the events name: users with their sessions, models, workouts,
// milestones, and what has begun at the sign-in page and at Strava.
func (h *Host) prepareSamples(put func(table string, row map[string]any) error) error {
	const (
		verifier  = "sample-verifier-of-the-sign-in-of-lea-0123456789"
		nonce     = "sample-nonce"
		milestone = "01JZ0000000000000000000001"
		another   = "01JZ0000000000000000000002"
		old       = "01JZ0000000000000000000003"
		share     = "4TXB6WPQJ7GQ2HHGU5A3M2KQZR" // of the picture of the first
	)

	now := h.Clock.Now()
	until := now.Add(12 * time.Hour).Unix()
	h.Users.Grant("sample-code-of-lea", lea, h.URL+"/commitcollect"+spec.SignedIn,
		oauth2.S256ChallengeFromVerifier(verifier), nonce, now.Add(12*time.Hour))

	for id, started := range map[int64]string{
		10_000_000_001: "2026-06-05T06:00:00Z",
		10_000_000_002: "2026-06-06T06:00:00Z",
		10_000_000_003: "2026-06-06T07:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, started)
		if err != nil {
			return err
		}

		h.Strava.Upload(athlete, sim.Activity{
			ID:            id,
			Name:          "Morning run",
			SportType:     "Run",
			StartDate:     at,
			Distance:      5200,
			ElevationGain: 40,
			MovingTime:    1500,
			ElapsedTime:   1510,
		})
	}

	h.Strava.Allow("sample-code-of-ann", otherAthlete, now.Add(12*time.Hour), strava.Scopes...)

	tokens, err := h.connect(athlete)
	if err != nil {
		return err
	}

	keys, err := link.ParseKeyset(keyset())
	if err != nil {
		return err
	}

	main, sessions := "CommitCollect", "CommitCollectSessions"

	rows := []stored{
		{main, map[string]any{
			"PK":             item.User(ann),
			"SK":             item.Connection,
			"entityType":     "StravaConnection",
			"userId":         ann,
			"athleteId":      athlete,
			"accessToken":    keys.Seal(ann, tokens.Access),
			"refreshToken":   keys.Seal(ann, tokens.Refresh),
			"expiresAtUtc":   tokens.ExpiresAt,
			"scope":          "read,activity:read,activity:read_all",
			"status":         link.Connected,
			"source":         "STRAVA",
			"connectedAtUtc": now.Unix(),
			"GSI1PK":         item.Athlete(athlete),
			"GSI1SK":         item.User(ann),
		}},
		{main, map[string]any{
			"PK":        item.User(ann),
			"SK":        item.MilestoneList,
			"ids":       []string{milestone, another, old},
			"expiresAt": until + 1_000_000_000,
			"ttl":       until + 1_000_000_000,
		}},
		{main, map[string]any{
			"PK":          item.Shelf(share),
			"SK":          item.Meta,
			"entityType":  "Share",
			"userId":      ann,
			"milestoneId": milestone,
		}},
		{main, map[string]any{"PK": item.Athlete(athlete), "SK": item.Owner, "entityType": "StravaOwner", "userId": ann}},
		{main, map[string]any{"PK": item.Connected(item.Shard(ann)), "SK": item.User(ann), "userId": ann}},
		{main, map[string]any{"PK": item.Subscription, "SK": item.Meta, "subscriptionId": 120475, "callbackUrl": "https://old.example.com/"}},
		{main, map[string]any{
			"PK":                   item.User(ann),
			"SK":                   item.Workout("10000000001"),
			"entityType":           "Workout",
			"activityId":           "10000000001",
			"athleteId":            athlete,
			"name":                 "Morning run",
			"sportType":            "Run",
			"startDateUtc":         1780639200,
			"distanceMeters":       5200,
			"total_elevation_gain": 40,
			"movingTimeSec":        1500,
			"elapsedTimeSec":       1510,
			"aspectType":           "create",
			"eventTimeUtc":         1780641000,
			"isDeleted":            false,
			"ingestedAtUtc":        1780641000,
			"updatedAtUtc":         1780641000,
		}},
		{main, map[string]any{"PK": item.User(ann), "SK": item.Ledger("2026-06"), "entityType": "Ledger", "rev": 1, "entries": []tally.Entry{{
			ActivityID: "10000000001", SportType: "Run", StartedAt: 1780639200, Distance: 5200, Elevation: 40,
		}}}},
		{main, map[string]any{
			"PK":          item.Connected(item.Shard(broken)),
			"SK":          item.User(broken),
			"userId":      broken,
			"brokenAtUtc": now.Add(-20 * time.Hour).Unix(),
		}},
		{main, map[string]any{
			"PK":           item.User(former),
			"SK":           item.Workout("9000000001"),
			"entityType":   "Workout",
			"activityId":   "9000000001",
			"athleteId":    79,
			"startDateUtc": 1780639200,
			"eventTimeUtc": 1780641000,
			"updatedAtUtc": 1780641000,
			"isDeleted":    false,
		}},
		{main, map[string]any{"PK": item.User(former), "SK": item.Ledger("2026-06"), "entityType": "Ledger", "rev": 1, "entries": []tally.Entry{{
			ActivityID: "9000000001", SportType: "Run", StartedAt: 1780639200, Distance: 5200, Elevation: 40,
		}}}},
		{main, map[string]any{
			"PK":                   item.User(ann),
			"SK":                   item.Award(milestone, 1),
			"entityType":           "Award",
			"milestoneId":          milestone,
			"modelId":              "trike-2026",
			"partIndex":            1,
			"partName":             "Frame",
			"meshFile":             "trike/frame.glb",
			"attachPoint":          "frame",
			"awardedAtUtc":         1780641000,
			"progressValueAtAward": 5200,
		}},
		{main, map[string]any{
			"PK":         item.Models,
			"SK":         item.Model("trike-2026"),
			"entityType": "Model",
			"modelId":    "trike-2026",
			"name":       "Trike",
			"year":       2026,
			"partsTotal": 2,
			"isActive":   true,
		}},
		{main, map[string]any{
			"PK":         item.Model("trike-2026"),
			"SK":         item.Meta,
			"entityType": "Model",
			"modelId":    "trike-2026",
			"name":       "Trike",
			"year":       2026,
			"partsTotal": 2,
			"isActive":   true,
		}},
		{main, map[string]any{
			"PK":           item.Model("trike-2026"),
			"SK":           item.Part(1),
			"entityType":   "Part",
			"partIndex":    1,
			"partName":     "Frame",
			"meshFile":     "trike/frame.glb",
			"attachPoint":  "frame",
			"displayOrder": 1,
		}},
		{main, map[string]any{
			"PK":           item.Model("trike-2026"),
			"SK":           item.Part(2),
			"entityType":   "Part",
			"partIndex":    2,
			"partName":     "Front wheel",
			"meshFile":     "trike/wheel.glb",
			"attachPoint":  "fork",
			"displayOrder": 2,
		}},
		{sessions, map[string]any{
			"PK":           item.State(item.SignIn, session.ID(token("lea"))),
			"SK":           item.Meta,
			"expiresAtUtc": until,
			"verifier":     verifier,
			"nonce":        nonce,
		}},
		{sessions, map[string]any{
			"PK":           item.State(item.Link, session.ID(token("ann"))),
			"SK":           item.Meta,
			"expiresAtUtc": until,
			"userId":       ann,
		}},
		{"CommitCollectIdempotency", map[string]any{
			"IdempotencyKey": "STRAVA#EVT#activity#create#10000000001#1780641000",
			"state":          "DONE",
			"leaseUntil":     0,
			"ttlEpoch":       until,
			"event": map[string]any{
				"ObjectType":     "activity",
				"ObjectID":       10_000_000_001,
				"AspectType":     "create",
				"OwnerID":        athlete,
				"SubscriptionID": 120475,
				"EventTime":      1780641000,
			},
		}},
	}
	for id, sport := range map[string]tally.Family{milestone: tally.Run, another: tally.Ride, old: tally.Swim} {
		row := map[string]any{
			"PK":                item.User(ann),
			"SK":                item.Milestone(id),
			"entityType":        "Milestone",
			"milestoneId":       id,
			"userId":            ann,
			"modelId":           "trike-2026",
			"sport":             sport,
			"targetType":        tally.Distance,
			"totalTarget":       10_000,
			"partTarget":        5_000,
			"partsTotal":        2,
			"period":            "YEAR",
			"periodStartAtUtc":  1767225600,
			"status":            "ACTIVE",
			"progressValue":     0,
			"rawProgress":       0,
			"partsAwardedCount": 0,
			"partsNoticedCount": 0,
			"version":           1,
			"createdAtUtc":      now.Unix(),
		}
		if id == milestone {
			row["progressValue"], row["rawProgress"], row["partsAwardedCount"], row["partsNoticedCount"] = 5200, 5200, 1, 1
			row["shareId"] = share
		}

		rows = append(rows, stored{main, row})
	}

	for _, user := range []string{ann, leaver, gone, former, story.Stranger, story.Expired} {
		rows = append(rows, stored{main, map[string]any{
			"PK":           item.User(user),
			"SK":           item.Profile,
			"entityType":   "Profile",
			"userId":       user,
			"email":        user + "@example.com",
			"role":         "user",
			"plan":         "free",
			"createdAtUtc": "2026-06-01T12:00:00Z",
			"units":        "km",
			"counts":       tally.DefaultChoice,
			"keepWorkouts": false,
		}})
	}

	for of, user := range h.samples().Sessions {
		end := until
		if user == story.Expired {
			end = now.Unix()
		}

		c, err := http.ParseSetCookie(of)
		if err != nil {
			return err
		}

		id := session.ID(c.Value)
		rows = append(rows, stored{sessions, map[string]any{
			"PK":           item.Session(id),
			"SK":           item.Meta,
			"userId":       user,
			"createdAtUtc": "2026-06-01T12:00:00Z",
			"expiresAtUtc": end,
			"GSI1PK":       item.User(user),
			"GSI1SK":       "SESSION#2026-06-01T12:00:00Z#" + id,
		}})
	}

	for _, r := range rows {
		if err := put(r.table, r.row); err != nil {
			return err
		}
	}

	return nil
}

// connect returns the tokens of an athlete who has allowed everything.
func (h *Host) connect(athlete int64) (strava.Token, error) {
	client := strava.Open(h.stravaURL, strava.App{ID: appID, Secret: appSecret}, http.DefaultTransport, h.Clock.Now)
	return client.Exchange(context.Background(), h.Strava.Grant(athlete, strava.Scopes...))
}
