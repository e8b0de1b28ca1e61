package item

// Keys of reports, and of requests to remove a name.
const (
	ReportsKey  = "REPORTS"  // the partition of what is reported
	RemovalsKey = "REMOVALS" // the partition of the requests that are open, by their time
	Reports     = "REPORT#"
	Removals    = "REMOVAL#" // of a league, by player
	Reported    = "REPORTED" // how much of a league was reported in a day
)

// ReporterKey is the partition of how much a caller has reported of a league in a day.
func ReporterKey(hash string) string { return "REPORTER#" + hash }

// Report is what somebody has reported to the operators.
type Report struct {
	ID       string `json:"reportId"`
	LeagueID string `json:"leagueId"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Page     string `json:"page,omitempty"` // the path
}

// States of a removal.
const (
	RemovalOpen      = "open"
	RemovalAccepted  = "accepted"
	RemovalDismissed = "dismissed"
)

// Removal is the request to remove the name of a player: one of each player. It does not have the name. While it
// is open it has a copy in the partition RemovalsKey.
type Removal struct {
	LeagueID string `json:"leagueId"`
	PlayerID string `json:"playerId"`
	Reason   string `json:"reason,omitempty"` // until it is decided
	State    string `json:"state"`
	At       string `json:"askedAt"`
	By       string `json:"decidedBy,omitempty"`
}

// OpenKey is the sort key of the copy.
func (r Removal) OpenKey() string { return r.At + "#" + r.PlayerID }
