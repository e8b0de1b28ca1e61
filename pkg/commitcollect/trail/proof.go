package trail

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"matchday/pkg/commitcollect/tables"
	"matchday/pkg/kit/dynamo"
)

// KeepProof is how long the proof of a deletion is kept: claims about it lapse after three years in most
// countries.
const KeepProof = 3 * 366 * 24 * time.Hour

// Receipt returns what names the deletions of a kind of a user. It is a hash whose key is the user's id, which is
// random: whoever does not know the id cannot tell whose it is, and the user can show it after the account is
// gone.
func Receipt(userID string, kind Event) string {
	h := hmac.New(sha256.New, []byte(userID))
	h.Write([]byte(kind))

	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Prove writes that all data of a kind of a user was deleted: the day, the kind and the receipt, by which
// administrators find it as the correlation. Unlike Write it returns an error, because a deletion has to leave a
// proof. A second run on the same day writes the same.
func (w Writer) Prove(ctx context.Context, userID string, kind Event) error {
	receipt := Receipt(userID, kind)
	r := w.row(ctx, Entry{
		Event: kind, Result: Success, CorrelationID: receipt, ID: receipt, At: w.now().UTC().Truncate(24 * time.Hour),
	})
	r.RequestID, r.HTTP, r.Client = receipt, nil, nil // the request's would lead to the user in the logs
	r.ExpiresAt = w.now().Add(KeepProof).Unix()

	return dynamo.Put(ctx, w.db, tables.WriteAudit, r)
}
