package item

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// OpenTable opens the room's table.
func OpenTable(env app.Env) dynamo.DB { return dynamo.Open(env.AWS, env.Prefix) }

// MaxConcurrent bounds the calls to DynamoDB that one invocation makes at the same time.
const MaxConcurrent = 32

// Attempts bounds the changes of a request while concurrent requests overtake it.
var Attempts = dynamo.Attempts{Max: 5, Err: ErrChanged}

// ErrChanged reports that a condition was refused because of a concurrent write.
var ErrChanged = problem.New(problem.Conflict, "changed", "another request changed this at the same time: read it again")

// Collection is the result of one query, by type: the items of an event, of a member or of a
// league.
type Collection struct {
	Events      []Event
	Card        []Match
	Removed     []Match // from the card
	Predictions []Prediction
	Standings   []Standing
	Members     []Member
	Memberships []Membership
	Leagues     []League
	Changes     []Change // of the members of a league
}

// Any is an item of any type. Value is a pointer to it, nil for a type that no
// Collection holds.
type Any struct{ Value any }

// UnmarshalDynamoDBAttributeValue decodes an item by its attribute type.
func (i *Any) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	m, ok := av.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("an item must be a map, not %T", av)
	}

	var kind Row
	if err := attributevalue.UnmarshalMap(m.Value, &kind); err != nil {
		return err
	}

	switch kind.Type {
	case EventType:
		i.Value = new(Event)
	case MatchType, RemovedType:
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
	case ChangeType:
		i.Value = new(Change)
	default:
		return nil
	}

	return attributevalue.UnmarshalMap(m.Value, i.Value)
}

// Query reads all items of a range. The card is in its order.
func Query(ctx context.Context, db dynamo.DB, a spec.Access, r dynamo.Range) (g Collection, err error) {
	items, err := dynamo.QueryAll[Any](ctx, db, a, r)
	for _, i := range items {
		switch is := i.Value.(type) {
		case *Event:
			g.Events = append(g.Events, *is)
		case *Match:
			if is.Type == RemovedType {
				g.Removed = append(g.Removed, *is)
			} else {
				g.Card = append(g.Card, *is)
			}
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
		case *Change:
			g.Changes = append(g.Changes, *is)
		}
	}

	slices.SortFunc(g.Card, func(a, b Match) int { return strings.Compare(a.GSISK, b.GSISK) })

	return g, err
}

// FormatTime returns a time as items hold it: RFC 3339 in UTC, which sorts like the
// time. Fractions of a second are cut off.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ParseTime returns the time of a text of FormatTime, or the zero time.
func ParseTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}
