package item

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/dynamo"
)

// Row holds the attributes that every item has.
type Row struct {
	PK    string
	SK    string
	GSIPK string `dynamodbav:"GSI_PK,omitempty"`
	GSISK string `dynamodbav:"GSI_SK,omitempty"`
	Type  string `dynamodbav:"type"`
}

// Key returns the primary key of the item.
func (r Row) Key() dynamo.Item {
	return dynamo.Item{"PK": &types.AttributeValueMemberS{Value: r.PK}, "SK": &types.AttributeValueMemberS{Value: r.SK}}
}

// Key returns a primary key.
func Key(pk, sk string) dynamo.Item { return Row{PK: pk, SK: sk}.Key() }

// The types of items, as in the attribute type.
const (
	EventType      = "event"
	MatchType      = "match"
	RemovedType    = "removed" // a match that was removed from its card
	PredictionType = "prediction"
	StandingType   = "standings"
	MemberType     = "user"
	LeagueType     = "league"
	MembershipType = "membership"
	ChangeType     = "change" // of the members of a league
)

// Keys of one word, and prefixes of keys.
const (
	EventTag     = "EVENT"   // the partition of all events, and the sort key of an event in the index
	UserTag      = "USER"    // the sort key of a member, and the partition of all members in the index
	LeaguesTag   = "LEAGUES" // the partition of the leagues with tables in the index
	LeagueTag    = "LEAGUE"  // the sort key of a league
	LeaguePrefix = "LEAGUE#"
	matchPrefix  = "MATCH#"
	seatPrefix   = "MEMBER#" // the item of a membership with the league
	changePrefix = "CHANGE#" // the item of a change with the league
	ScorePrefix  = "SCORE#"  // of the index sort keys of predictions and standings
)

// EventRef returns EVENT#{eventId}.
func EventRef(eventID string) string { return "EVENT#" + eventID }

// UserRef returns USER#{userId}.
func UserRef(userID string) string { return "USER#" + userID }

// LeagueRef returns LEAGUE#{leagueId}.
func LeagueRef(leagueID string) string { return LeaguePrefix + leagueID }

// StandingsRef returns STANDINGS#{year}: the sort key of a member's standings, and
// their partition in the index.
func StandingsRef(year string) string { return "STANDINGS#" + year }

// MatchSK returns MATCH#{matchId}.
func MatchSK(matchID string) string { return matchPrefix + matchID }

// EventKey returns the primary key of an event.
func EventKey(eventID string) dynamo.Item { return Key(EventTag, EventRef(eventID)) }

// MemberKey returns the primary key of a member.
func MemberKey(userID string) dynamo.Item { return Key(UserRef(userID), UserTag) }

// PredictionKey returns the primary key of a member's prediction of an event.
func PredictionKey(userID, eventID string) dynamo.Item {
	return Key(UserRef(userID), EventRef(eventID))
}

// The largest numbers that sort keys can hold: see pad.
const (
	MaxYearPoints  = 99_999 // points of a year
	MaxEventPoints = 999    // points of an event
	MaxMatches     = 99     // matches of a card
)

// pad returns n with leading zeros, as wide as max, so that strings sort like
// numbers. It returns an error if n does not fit.
func pad(n, max int) (string, error) {
	if n < 0 || n > max {
		return "", fmt.Errorf("the valid numbers of a sort key are 0 to %d, not %d", max, n)
	}

	return fmt.Sprintf("%0*d", len(fmt.Sprint(max)), n), nil
}

// ScoreSK returns the index sort key of a prediction or a standing:
// SCORE#{points}#{userId}.
func ScoreSK(points, max int, userID string) (string, error) {
	n, err := pad(points, max)
	return ScorePrefix + n + "#" + userID, err
}

// PlaceSK returns the index sort key of a match: MATCH#{place}, from 1.
func PlaceSK(place int) (string, error) {
	n, err := pad(place, MaxMatches)
	return matchPrefix + n, err
}
