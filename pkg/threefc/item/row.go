// Package item has the items of the room's table: the envelope, the keys, and the data that several
// use cases read or write.
package item

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/spec"
)

// Row is an item: the envelope of all items, with the data of its type.
type Row[T any] struct {
	PK         string  `dynamodbav:"pk"`
	SK         string  `dynamodbav:"sk"`
	EntityType string  `dynamodbav:"entityType"`
	CreatedAt  string  `dynamodbav:"createdAt"`
	UpdatedAt  string  `dynamodbav:"updatedAt"`
	Data       JSON[T] `dynamodbav:"data"`
	// Rev counts the writes of the item. A write has the condition that it is as it was
	// read.
	Rev    int    `dynamodbav:"rev"`
	Status string `dynamodbav:"status,omitempty"`   // of a game
	TTL    int64  `dynamodbav:"ttlEpoch,omitempty"` // epoch s
}

// JSON is a value that an attribute holds as JSON text.
type JSON[T any] struct{ Value T }

// MarshalDynamoDBAttributeValue encodes the value.
func (j JSON[T]) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	text, err := json.Marshal(j.Value)
	return &types.AttributeValueMemberS{Value: string(text)}, err
}

// UnmarshalDynamoDBAttributeValue decodes the value.
func (j *JSON[T]) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	text, ok := av.(*types.AttributeValueMemberS)
	if !ok {
		return fmt.Errorf("data must be text, not %T", av)
	}

	return json.Unmarshal([]byte(text.Value), &j.Value)
}

// New returns a row that was not written yet.
func New[T any](pk, sk, entityType string, data T, now time.Time) Row[T] {
	at := Format(now)
	return Row[T]{PK: pk, SK: sk, EntityType: entityType, CreatedAt: at, UpdatedAt: at, Data: JSON[T]{data}, Rev: 1}
}

// V returns the data.
func (r *Row[T]) V() *T { return &r.Data.Value }

// Create returns the write of a row that must not exist.
func (r Row[T]) Create() dynamo.Write { return dynamo.PutWrite(r, dynamo.Absent[Row[T]]("pk")) }

// Save returns the write of a row that was read and changed, and the row as written. The
// condition is that nobody else has changed it.
func (r Row[T]) Save(now time.Time) (Row[T], dynamo.Write) {
	was := dynamo.Equal[Row[T]]("rev", r.Rev)
	r.Rev++
	r.UpdatedAt = Format(now)

	return r, dynamo.PutWrite(r, was)
}

// Keep is Save without a new revision, for a change that no caller sees. The revision in an answer
// stays right, and a request that has read the row before may still write it as it was.
func (r Row[T]) Keep() dynamo.Write { return dynamo.PutWrite(r, dynamo.Equal[Row[T]]("rev", r.Rev)) }

// Mirror returns the write of the copy of a row under another key.
func (r Row[T]) Mirror(pk, sk string) dynamo.Write {
	r.PK, r.SK = pk, sk
	return dynamo.PutWrite(r)
}

// Drop returns the deletion of a row as it was read.
func (r Row[T]) Drop() dynamo.Write {
	return dynamo.DeleteWrite(Key(r.PK, r.SK), dynamo.Equal[Row[T]]("rev", r.Rev))
}

// Key returns a primary key.
func Key(pk, sk string) dynamo.Item {
	return dynamo.Item{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

// Any is the row of an item of any type.
type Any = Row[json.RawMessage]

// As returns the data of a row of any type.
func As[T any](r Any) (Row[T], error) {
	out := Row[T]{
		PK: r.PK, SK: r.SK, EntityType: r.EntityType, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Rev: r.Rev, Status: r.Status, TTL: r.TTL,
	}

	return out, json.Unmarshal(r.Data.Value, out.V())
}

// Read reads a row, strongly consistently. It returns missing if there is none.
func Read[T any](ctx context.Context, db dynamo.DB, a spec.Access, pk, sk string, missing error) (Row[T], error) {
	r, ok, err := dynamo.Get[Row[T]](ctx, db, a, pk, sk)
	if err == nil && !ok {
		err = missing
	}

	return r, err
}

// List reads the rows of a partition whose sort keys begin with a prefix, in their order.
func List[T any](ctx context.Context, db dynamo.DB, a spec.Access, pk, prefix string) ([]Row[T], error) {
	return dynamo.QueryAll[Row[T]](ctx, db, a, dynamo.Range{Key: dynamo.KeyBeginsWith(a, pk, prefix), Consistent: true})
}

// Values returns the data of rows.
func Values[T any](rows []Row[T]) []T {
	all := make([]T, len(rows))
	for i := range rows {
		all[i] = rows[i].Data.Value
	}

	return all
}

// Attempts bounds the changes of a request while concurrent requests come first. Its error is
// stale.
var Attempts = dynamo.Attempts{Max: 8, Err: httpapi.ErrStale}

// Serialize returns a write to the row of a user, on the condition that the row is as it was read,
// by an access pattern. It keeps concurrent requests of a user within a limit: call it, count what
// the user has, and add one more in a transaction with the write. Of two such transactions at once
// one is refused, and its request starts again.
func Serialize(ctx context.Context, db dynamo.DB, a spec.Access, userID string, now time.Time) (dynamo.Write, error) {
	row, found, err := dynamo.Get[Row[Ref]](ctx, db, a, UserKey(userID), Metadata)
	if err != nil {
		return nil, err
	}

	if !found {
		return New(UserKey(userID), Metadata, "User", Ref{ID: userID}, now).Create(), nil
	}

	_, saved := row.Save(now)

	return saved, nil
}

// RefusedWrite returns the index of the write of a transaction whose condition did not
// hold, -1 if err is something else.
func RefusedWrite(err error) int {
	if refused, ok := errors.AsType[*dynamo.Refused](err); ok {
		return refused.Write
	}

	return -1
}

// IDPattern is the regular expression of ids.
const IDPattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"

var idPattern = regexp.MustCompile(IDPattern)

// IsID reports whether text may be an id. A slug is none, because ids have capitals only.
func IsID(text string) bool { return idPattern.MatchString(text) }

// Format returns a time as items hold it, of fixed width: sortable.
func Format(t time.Time) string { return t.UTC().Format(timeFormat) }

// Parse returns the time that Format has written, zero for "".
func Parse(text string) time.Time {
	t, _ := time.Parse(timeFormat, text)
	return t
}

const timeFormat = "2006-01-02T15:04:05Z"
