package item_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"matchday/pkg/threefc/item"
)

// TestDataIsText: data of another kind is an error that names it, and not an item without data.
func TestDataIsText(t *testing.T) {
	t.Parallel()

	var j item.JSON[item.Ref]
	if err := j.UnmarshalDynamoDBAttributeValue(&types.AttributeValueMemberN{Value: "1"}); err == nil ||
		err.Error() != "data must be text, not *types.AttributeValueMemberN" {
		t.Errorf("a number: %v", err)
	}

	if err := j.UnmarshalDynamoDBAttributeValue(&types.AttributeValueMemberS{Value: `{"id":"x"}`}); err != nil || j.Value.ID != "x" {
		t.Errorf("a text: %+v, %v", j, err)
	}

	if err := j.UnmarshalDynamoDBAttributeValue(&types.AttributeValueMemberS{Value: `{`}); err == nil {
		t.Error("half a text: no error")
	}
}

// TestEnvelope: a row of any type has the envelope of the row that was written.
func TestEnvelope(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 6, 6, 12, 0, 0, 5e8, time.UTC)
	row := item.New("P", "S", "Ref", item.Ref{ID: "x"}, now)
	row.Status, row.TTL = item.Live, 7
	row, _ = row.Save(now.Add(time.Minute))

	text, err := attributevalue.MarshalMap(row)
	if err != nil {
		t.Fatal(err)
	}

	var attributes map[string]any
	if err := attributevalue.UnmarshalMap(text, &attributes); err != nil {
		t.Fatal(err)
	}

	same(t, "the attributes", attributes, map[string]any{
		"pk": "P", "sk": "S", "entityType": "Ref", "createdAt": "2026-06-06T12:00:00Z", "updatedAt": "2026-06-06T12:01:00Z", "data": `{"id":"x"}`,
		"rev": 2.0, "status": "live", "ttlEpoch": 7.0,
	})

	var read item.Any
	if err := attributevalue.UnmarshalMap(text, &read); err != nil {
		t.Fatal(err)
	}

	again, err := item.As[item.Ref](read)
	if err != nil {
		t.Fatal(err)
	}

	same(t, "the row", again, row)

	read.Data.Value = json.RawMessage(`[]`)
	if _, err := item.As[item.Ref](read); err == nil {
		t.Error("data of another type: no error")
	}
}
