package item

// Source is where workouts come from. A milestone counts those of one source: workouts of two sources
// are never added up or compared.
type Source string

// The sources.
const (
	Strava Source = "STRAVA" // also of a row without a source
	Phone  Source = "PHONE"  // workouts of HealthKit and Health Connect, which the app uploads
)

// prefix is what the sort keys of all items of a source begin with. That of Strava is in their names.
func (s Source) prefix() string {
	if s == Phone {
		return "PHONE#"
	}

	return ""
}

// Workouts returns the prefix of the sort keys of the workouts.
func (s Source) Workouts() string {
	if s == Phone {
		return s.prefix() + "WORKOUT#"
	}

	return Workouts
}

// Ledgers returns the prefix of the sort keys of the ledgers.
func (s Source) Ledgers() string { return s.prefix() + Ledgers }

// Workout returns the sort key of a workout.
func (s Source) Workout(id string) string { return s.Workouts() + id }

// Ledger returns the sort key of the ledger of a month.
func (s Source) Ledger(month string) string { return s.Ledgers() + month }

// Uploads is the sort key of the item that counts what the app of a user has uploaded.
const Uploads = "PHONE#UPLOADS"
