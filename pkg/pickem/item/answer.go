package item

import (
	"context"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/idem"
	"matchday/pkg/pickem/tables"
)

const (
	answerType   = "answer"
	answerPrefix = "ANSWER#"
)

// answer is the item of an answer that a repeated request gets again.
type answer struct {
	Row
	idem.Record
	TTL int64 `dynamodbav:"ttl"`
}

// OpenAnswers opens the store of the answers to requests with an Idempotency-Key. They are items of
// the member, and deleted with them.
func OpenAnswers(env app.Env) idem.Store {
	db := OpenTable(env)

	return idem.Store{
		DB: db,
		Find: func(ctx context.Context, userID, id string) (idem.Record, bool, error) {
			a, ok, err := dynamo.Get[answer](ctx, db, tables.FindAnswer, UserRef(userID), answerPrefix+id)
			return a.Record, ok && env.Now().Unix() < a.TTL, err
		},
		Write: func(userID, id string, r idem.Record) dynamo.Write {
			now := env.Now()
			a := answer{Row{PK: UserRef(userID), SK: answerPrefix + id, Type: answerType}, r, now.Add(idem.Lifetime).Unix()}

			return dynamo.PutWrite(a, dynamo.Absent[answer]("PK").Or(dynamo.AtMost[answer]("ttl", now.Unix())))
		},
	}
}
