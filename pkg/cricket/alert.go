package cricket

import (
	"matchday/pkg/cricket/score"
	"matchday/pkg/spec"
)

// Alert tells the followers of a match of an event. What it says is settled when
// it is sent; who gets it, and whether, when it is handled.
type Alert struct {
	MatchID string          `json:"matchId"`
	Key     string          `json:"key"` // of the event in its match: each is told once
	Kind    score.EventKind `json:"kind"`
	Match   string          `json:"match"` // "India v Pakistan"
	Title   string          `json:"title"`
	Body    string          `json:"body"`
	Plain   string          `json:"plain,omitempty"` // the body for the spoiler-free
	At      int64           `json:"at"`              // when it happened, epoch s
}

// newAlert is the message that tells of an event.
func newAlert(matchID string, e score.Event, at int64) Alert {
	return Alert{MatchID: matchID, Key: e.Key, Kind: e.Kind, Match: e.Match, Title: e.Title, Body: e.Body, Plain: e.Plain, At: at}
}

var alertQueue = spec.Queue{Name: "cricket-send-alerts", Tries: 10, Batch: 1, Concurrency: 20}
