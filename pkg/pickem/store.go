package pickem

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// row is what every item has.
type row struct {
	PK    string
	SK    string
	GSIPK string `dynamodbav:"GSI_PK,omitempty"`
	GSISK string `dynamodbav:"GSI_SK,omitempty"`
	Type  string `dynamodbav:"type"`
}

func (r row) key() dynamo.Item {
	return dynamo.Item{"PK": &types.AttributeValueMemberS{Value: r.PK}, "SK": &types.AttributeValueMemberS{Value: r.SK}}
}

func itemKey(pk, sk string) dynamo.Item { return row{PK: pk, SK: sk}.key() }

// Prefixes of keys, and keys that are one word.
const (
	eventKey    = "EVENT"
	userKey     = "USER"
	matchPrefix = "MATCH#"
	logPrefix   = "LOG#"
	scorePrefix = "SCORE#"
)

func ofEvent(eventID string) string                { return "EVENT#" + eventID }
func ofUser(userID string) string                  { return "USER#" + userID }
func ofLeague(leagueID string) string              { return "LEAGUE#" + leagueID }
func ofYear(year string) string                    { return "STANDINGS#" + year }
func inLeague(year, leagueID string) string        { return "STANDINGS#" + year + "#" + leagueID }
func tableOf(leagueID, year string) string         { return "STANDINGS#" + leagueID + "#" + year }
func memberIn(userID string) string                { return "MEMBER#" + userID }
func matchSK(matchID string) string                { return matchPrefix + matchID }
func eventItem(eventID string) dynamo.Item         { return itemKey(eventKey, ofEvent(eventID)) }
func memberItem(userID string) dynamo.Item         { return itemKey(ofUser(userID), userKey) }
func predictionItem(u, eventID string) dynamo.Item { return itemKey(ofUser(u), ofEvent(eventID)) }

// The largest numbers that sort keys hold: see pad.
const (
	maxStanding = 99_999 // points of a year
	maxScore    = 999    // points of an event
	maxCard     = 99     // matches of a card
)

// pad is n with leading zeros, so that it sorts as a number: as wide as max. What
// does not fit would sort wrongly, and is refused.
func pad(n, max int) (string, error) {
	if n < 0 || n > max {
		return "", fmt.Errorf("%d does not fit into a sort key for numbers up to %d", n, max)
	}
	return fmt.Sprintf("%0*d", len(fmt.Sprint(max)), n), nil
}

// scoreSK is the sort key of a score, by its points and whose it is.
func scoreSK(points, max int, userID string) (string, error) {
	n, err := pad(points, max)
	return scorePrefix + n + "#" + userID, err
}

// placeSK is the sort key of a match by its place on the card, from 1.
func placeSK(place int) (string, error) {
	n, err := pad(place, maxCard)
	return matchPrefix + n, err
}

// group is what one query finds: the items of an event, of a member or of a
// league, by what they are.
type group struct {
	events      []event
	card        []match
	predictions []prediction
	standings   []standing
	members     []person
	memberships []membership
	leagues     []league
}

// item is an item of whatever type.
type item struct{ is any }

// UnmarshalDynamoDBAttributeValue reads an item as the type that it names.
func (i *item) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	m, ok := av.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("an item is a map, not %T", av)
	}
	var kind row
	if err := attributevalue.UnmarshalMap(m.Value, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case eventType:
		i.is = new(event)
	case matchType:
		i.is = new(match)
	case predictionType:
		i.is = new(prediction)
	case standingType:
		i.is = new(standing)
	case personType:
		i.is = new(person)
	case membershipType:
		i.is = new(membership)
	case leagueType:
		i.is = new(league)
	default:
		return nil
	}
	return attributevalue.UnmarshalMap(m.Value, i.is)
}

// read reads all items of a range, whatever they are.
func read(ctx context.Context, db dynamo.DB, a spec.Access, r dynamo.Range) (g group, err error) {
	items, err := dynamo.QueryAll[item](ctx, db, a, r)
	for _, i := range items {
		switch is := i.is.(type) {
		case *event:
			g.events = append(g.events, *is)
		case *match:
			g.card = append(g.card, *is)
		case *prediction:
			g.predictions = append(g.predictions, *is)
		case *standing:
			g.standings = append(g.standings, *is)
		case *person:
			g.members = append(g.members, *is)
		case *membership:
			g.memberships = append(g.memberships, *is)
		case *league:
			g.leagues = append(g.leagues, *is)
		}
	}
	slices.SortFunc(g.card, func(a, b match) int { return strings.Compare(a.GSISK, b.GSISK) })
	return g, err
}

// partition is the key condition of a partition of the table or its index.
func partition(a spec.Access, value string) expression.KeyConditionBuilder {
	attribute := table.Key.Partition
	if a.Index != "" {
		attribute = table.Indexes[0].Key.Partition
	}
	return expression.Key(attribute).Equal(expression.Value(value))
}

// below is partition, of the items whose sort key begins with prefix.
func below(a spec.Access, value, prefix string) expression.KeyConditionBuilder {
	attribute := table.Key.Sort
	if a.Index != "" {
		attribute = table.Indexes[0].Key.Sort
	}
	return partition(a, value).And(expression.Key(attribute).BeginsWith(prefix))
}

// readMember reads a member with all that is the member's, the latest first.
func readMember(ctx context.Context, db dynamo.DB, userID string, consistent bool) (group, error) {
	return read(ctx, db, getMember, dynamo.Range{Key: partition(getMember, ofUser(userID)), Backward: true, Consistent: consistent})
}

// readEntries reads the predictions on an event. The index is behind by a moment.
func readEntries(ctx context.Context, db dynamo.DB, eventID string) ([]prediction, error) {
	return dynamo.QueryAll[prediction](ctx, db, entriesOf, dynamo.Range{Key: below(entriesOf, ofEvent(eventID), scorePrefix)})
}

// stage is an event with its card, as a write finds them.
type stage struct {
	event
	card []match
}

// readStage reads an event and its card, or NotFound.
func readStage(ctx context.Context, db dynamo.DB, eventID string) (s stage, err error) {
	if s.event, err = readEvent(ctx, db, eventID); err != nil {
		return s, err
	}
	g, err := read(ctx, db, readCard, dynamo.Range{Key: below(readCard, ofEvent(eventID), matchPrefix), Consistent: true})
	s.card = g.card
	return s, err
}

func readEvent(ctx context.Context, db dynamo.DB, eventID string) (event, error) {
	e, ok, err := dynamo.Get[event](ctx, db, findEvent, eventKey, ofEvent(eventID))
	if err == nil && (!ok || e.State == deleting) {
		err = errNoEvent
	}
	return e, err
}

var errNoEvent = problem.New(problem.NotFound, "event_not_found", "no such event")

// Conditions.

func exists(attribute string) expression.ConditionBuilder {
	return expression.AttributeExists(expression.Name(attribute))
}

func absent(attribute string) expression.ConditionBuilder {
	return expression.AttributeNotExists(expression.Name(attribute))
}

func equals(attribute string, value any) expression.ConditionBuilder {
	return expression.Equal(expression.Name(attribute), expression.Value(value))
}

// open is the condition on an event that it takes predictions at now.
func open(now time.Time) expression.ConditionBuilder {
	return equals("state", upcoming).And(expression.GreaterThan(expression.Name("lockAt"), expression.Value(stamp(now))))
}

// stamp is a time as items keep it: RFC 3339 in UTC, in whole seconds, which sort
// like the times. What is left of a second is cut off.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// shortly has the asking app alone keep an answer.
const shortly = "private, max-age=60"
