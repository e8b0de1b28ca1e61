package strava

import (
	"cmp"
	"math"
	"strconv"
	"time"
)

// Activity has the attributes of an activity of Strava that the room uses. No other is decoded: neither places
// nor devices.
type Activity struct {
	ID      int64 `json:"id"`
	Athlete struct {
		ID int64 `json:"id"`
	} `json:"athlete"`
	Name          string    `json:"name"`
	OldType       string    `json:"type"`
	SportType     string    `json:"sport_type"`
	StartDate     time.Time `json:"start_date"`
	UTCOffset     float64   `json:"utc_offset"`   // s
	Distance      float64   `json:"distance"`     // m
	MovingTime    int64     `json:"moving_time"`  // s
	ElapsedTime   int64     `json:"elapsed_time"` // s
	ElevationGain float64   `json:"total_elevation_gain"`
	Manual        bool      `json:"manual"`
	Private       bool      `json:"private"`
	Visibility    string    `json:"visibility"` // "everyone", "followers_only", "only_me"
	Flagged       bool      `json:"flagged"`
}

// Key returns the id as text.
func (a Activity) Key() string { return strconv.FormatInt(a.ID, 10) }

// Sport returns the sport type; activities from before 2022 have the old type only.
func (a Activity) Sport() string { return cmp.Or(a.SportType, a.OldType) }

// Metres returns a length of Strava as whole metres, 0 for a value that is not a length.
func Metres(of float64) int64 {
	if !(of > 0) || of > 1e9 {
		return 0
	}

	return int64(math.Round(of))
}

// OnlyMe reports whether nobody but the athlete can see the activity.
func (a Activity) OnlyMe() bool { return a.Private || a.Visibility == "only_me" }

// Event is the body of a webhook. Strava does not sign it, so it is a hint: the API's answer
// decides.
type Event struct {
	ObjectType     string            `json:"object_type"` // "activity", "athlete"
	ObjectID       int64             `json:"object_id"`
	AspectType     string            `json:"aspect_type"` // "create", "update", "delete"
	Updates        map[string]string `json:"updates"`     // title, type, private, authorized
	OwnerID        int64             `json:"owner_id"`
	SubscriptionID int64             `json:"subscription_id"`
	EventTime      int64             `json:"event_time"` // epoch s
}
