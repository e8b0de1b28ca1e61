package item

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// NewUUID is a random one, version 4 (RFC 9562).
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ParseTime is the time of a stamp of ours.
func ParseTime(stamp string) time.Time {
	t, _ := time.Parse(time.RFC3339, stamp)
	return t
}

var ErrChanged = problem.New(problem.Conflict, "changed", "somebody else has just changed this: look again")

// MaxConcurrent bounds the calls that are made at the same time.
const MaxConcurrent = 32

func OpenTable(env app.Env) dynamo.DB { return dynamo.Open(env.AWS, env.Prefix) }

// MaxTries is how often a write is made anew when what it depends on has changed
// under it.
const MaxTries = 5

// Row is what every item has.
type Row struct {
	PK    string
	SK    string
	GSIPK string `dynamodbav:"GSI_PK,omitempty"`
	GSISK string `dynamodbav:"GSI_SK,omitempty"`
	Type  string `dynamodbav:"type"`
}

func (r Row) Key() dynamo.Item {
	return dynamo.Item{"PK": &types.AttributeValueMemberS{Value: r.PK}, "SK": &types.AttributeValueMemberS{Value: r.SK}}
}

func Key(pk, sk string) dynamo.Item { return Row{PK: pk, SK: sk}.Key() }

// Prefixes of keys, and keys that are one word.
const (
	EventTag    = "EVENT"
	UserTag     = "USER"
	matchPrefix = "MATCH#"
	scorePrefix = "SCORE#"
)

func EventRef(eventID string) string { return "EVENT#" + eventID }

func UserRef(userID string) string { return "USER#" + userID }

func LeagueRef(leagueID string) string { return "LEAGUE#" + leagueID }

func StandingsRef(year string) string { return "STANDINGS#" + year }

func LeagueStandingsSK(year, leagueID string) string { return "STANDINGS#" + year + "#" + leagueID }

func LeagueStandingsPK(leagueID, year string) string { return "STANDINGS#" + leagueID + "#" + year }

func MatchSK(matchID string) string { return matchPrefix + matchID }

func EventKey(eventID string) dynamo.Item { return Key(EventTag, EventRef(eventID)) }

func MemberKey(userID string) dynamo.Item { return Key(UserRef(userID), UserTag) }

func PredictionKey(u, eventID string) dynamo.Item { return Key(UserRef(u), EventRef(eventID)) }

// The largest numbers that sort keys hold: see pad.
const (
	MaxYearPoints  = 99_999 // points of a year
	MaxEventPoints = 999    // points of an event
	MaxMatches     = 99     // matches of a card
)

// pad is n with leading zeros, so that it sorts as a number: as wide as max. What
// does not fit would sort wrongly, and is refused.
func pad(n, max int) (string, error) {
	if n < 0 || n > max {
		return "", fmt.Errorf("%d does not fit into a sort key for numbers up to %d", n, max)
	}
	return fmt.Sprintf("%0*d", len(fmt.Sprint(max)), n), nil
}

// ScoreSK is the sort key of a score, by its points and whose it is.
func ScoreSK(points, max int, userID string) (string, error) {
	n, err := pad(points, max)
	return scorePrefix + n + "#" + userID, err
}

// PlaceSK is the sort key of a match by its place on the card, from 1.
func PlaceSK(place int) (string, error) {
	n, err := pad(place, MaxMatches)
	return matchPrefix + n, err
}

// Collection is what one query finds: the items of an event, of a member or of a
// league, by what they are.
type Collection struct {
	Events      []Event
	Card        []Match
	Predictions []Prediction
	Standings   []Standing
	Members     []Member
	Memberships []Membership
	Leagues     []League
}

// Any is an item of whatever type.
type Any struct{ Value any }

// UnmarshalDynamoDBAttributeValue reads an item as the type that it names.
func (i *Any) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	m, ok := av.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("an item is a map, not %T", av)
	}
	var kind Row
	if err := attributevalue.UnmarshalMap(m.Value, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case EventType:
		i.Value = new(Event)
	case MatchType:
		i.Value = new(Match)
	case PredictionType:
		i.Value = new(Prediction)
	case StandingType:
		i.Value = new(Standing)
	case MemberType:
		i.Value = new(Member)
	case MembershipType:
		i.Value = new(Membership)
	case LeagueType:
		i.Value = new(League)
	default:
		return nil
	}
	return attributevalue.UnmarshalMap(m.Value, i.Value)
}

// Query reads all items of a range, whatever they are.
func Query(ctx context.Context, db dynamo.DB, a spec.Access, r dynamo.Range) (g Collection, err error) {
	items, err := dynamo.QueryAll[Any](ctx, db, a, r)
	for _, i := range items {
		switch is := i.Value.(type) {
		case *Event:
			g.Events = append(g.Events, *is)
		case *Match:
			g.Card = append(g.Card, *is)
		case *Prediction:
			g.Predictions = append(g.Predictions, *is)
		case *Standing:
			g.Standings = append(g.Standings, *is)
		case *Member:
			g.Members = append(g.Members, *is)
		case *Membership:
			g.Memberships = append(g.Memberships, *is)
		case *League:
			g.Leagues = append(g.Leagues, *is)
		}
	}
	slices.SortFunc(g.Card, func(a, b Match) int { return strings.Compare(a.GSISK, b.GSISK) })
	return g, err
}

// Partition is the key condition of a partition of the table or its index.
func Partition(a spec.Access, value string) expression.KeyConditionBuilder {
	attribute := tables.Pickem.Key.Partition
	if a.Index != "" {
		attribute = tables.Pickem.Indexes[0].Key.Partition
	}
	return expression.Key(attribute).Equal(expression.Value(value))
}

// BeginsWith is partition, of the items whose sort key begins with prefix.
func BeginsWith(a spec.Access, value, prefix string) expression.KeyConditionBuilder {
	attribute := tables.Pickem.Key.Sort
	if a.Index != "" {
		attribute = tables.Pickem.Indexes[0].Key.Sort
	}
	return Partition(a, value).And(expression.Key(attribute).BeginsWith(prefix))
}

// Conditions.

func Exists(attribute string) expression.ConditionBuilder {
	return expression.AttributeExists(expression.Name(attribute))
}

func Absent(attribute string) expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name(attribute))
}

func Equals(attribute string, value any) expression.ConditionBuilder {
	return expression.Equal(expression.Name(attribute), expression.Value(value))
}

// FormatTime is a time as items keep it: RFC 3339 in UTC, in whole seconds, which sort
// like the times. What is left of a second is cut off.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
