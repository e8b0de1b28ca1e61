// Package idem makes requests repeatable. A client that lost an answer sends the request again
// with the same Idempotency-Key, and gets the first answer: the effect happens once.
//
// The answer is stored in the transaction of its effect, so that neither exists without the
// other. It is kept for a day, for the user, method and path of the request. A caller who lost
// the right to the request since gets the refusal instead: see Guard.
package idem

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"matchday/pkg/kit/code"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// Lifetime is how long an answer is kept.
const Lifetime = 24 * time.Hour

// ErrConflict refuses a key that was used for another body.
var ErrConflict = problem.New(problem.Conflict, "idempotency_conflict",
	"this Idempotency-Key was used for another request").In("header.Idempotency-Key")

// Key is the header of a request that may be repeated. The request embeds it. Requests without
// the header are all different.
type Key struct {
	IdempotencyKey string `header:"Idempotency-Key" minLength:"1" maxLength:"128" pattern:"^[!-~]+$" patternDescription:"visible ASCII characters" doc:"Any text that is new for each request. A request that is sent again with it changes nothing, and gets the same answer for 24 hours."`
}

func (k Key) key() string { return k.IdempotencyKey }

// ID returns the id of what the request creates, a UUID that is always the same for its key and
// scope, such as the user and what the id is unique in. It is "" without a key.
func (k Key) ID(scope ...string) string {
	if k.IdempotencyKey == "" {
		return ""
	}

	return code.UUIDOf(append(scope, k.IdempotencyKey)...)
}

// Request is a request that embeds Key, with path parameters and a Body as huma has them.
type Request interface{ key() string }

// Record is the answer of a request as a table holds it.
type Record struct {
	Hash   string          `json:"hash"`            // of the request's body
	Guard  string          `json:"guard,omitempty"` // the right on which the request depended
	Answer json.RawMessage `json:"answer"`
}

// Store is where a room keeps its records.
type Store struct {
	DB dynamo.DB
	// Find reads the record of a user's request, strongly consistently. ok is false if there is
	// none, or if it has expired.
	Find func(ctx context.Context, userID, id string) (r Record, ok bool, err error)
	// Write returns the write of a record, whose condition is that Find would find none.
	Write func(userID, id string, r Record) dynamo.Write
	// Allow returns an error unless the user still has a right that was passed to Guard. It may
	// be nil if Guard is not used.
	Allow func(ctx context.Context, userID, right string) error
}

type guardKey struct{}

// Guard records the right on which the request of ctx depends. It is called within the do of
// Once. Before a stored answer is returned, the right is checked again. The last call counts.
func Guard(ctx context.Context, right string) {
	if guard, ok := ctx.Value(guardKey{}).(*string); ok {
		*guard = right
	}
}

// Commit makes the writes of a request, by an access pattern, and stores its answer in the same
// transaction. Without writes the answer is not stored. The errors are those of dynamo.Transact.
type Commit[Out any] func(ctx context.Context, a spec.Access, answer *Out, writes ...dynamo.Write) error

// errTaken reports that another invocation has committed the same request.
var errTaken = errors.New("the request was committed by another invocation")

// Once returns the answer of do, which makes its writes with commit, or the stored answer of the
// same request. Errors: ErrConflict; those of do, which are not stored; those of Store.Allow.
func Once[Out any](ctx context.Context, s Store, function, userID string, in Request,
	do func(context.Context, Commit[Out]) (*Out, error)) (*Out, error) {
	if in.key() == "" {
		return do(ctx, func(ctx context.Context, a spec.Access, _ *Out, writes ...dynamo.Write) error {
			return dynamo.Transact(ctx, s.DB, a, writes...)
		})
	}

	id, hash, _ := Identify(function, in)

	out, ok, err := stored[Out](ctx, s, userID, id, hash)
	if ok || err != nil {
		return out, err
	}

	var guard string

	ctx = context.WithValue(ctx, guardKey{}, &guard)

	out, err = do(ctx, func(ctx context.Context, a spec.Access, answer *Out, writes ...dynamo.Write) error {
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}

		err = dynamo.Transact(ctx, s.DB, a, append(writes, s.Write(userID, id, Record{hash, guard, text}))...)
		if refused, ok := errors.AsType[*dynamo.Refused](err); ok && refused.Write == len(writes) {
			return errTaken
		}

		return err
	})
	if err == nil {
		return out, nil
	}
	// Another invocation of the same request may have committed in the meantime, which can be
	// the reason of any refusal.
	if again, ok, found := stored[Out](ctx, s, userID, id, hash); ok || found != nil {
		return again, found
	}

	return nil, err
}

// stored returns the stored answer. ok is false if there is none.
func stored[Out any](ctx context.Context, s Store, userID, id, hash string) (out *Out, ok bool, err error) {
	r, ok, err := s.Find(ctx, userID, id)
	if err != nil || !ok {
		return nil, false, err
	}

	if r.Hash != hash {
		return nil, false, ErrConflict
	}

	if r.Guard != "" {
		if err := s.Allow(ctx, userID, r.Guard); err != nil {
			return nil, false, err
		}
	}

	if err := json.Unmarshal(r.Answer, &out); err != nil {
		return nil, false, fmt.Errorf("decode a stored answer: %w", err)
	}

	return out, true, nil
}

// Identify returns what identifies the request of a user, and the hash of its body. ok is false
// without a key.
func Identify(function string, in Request) (id, hash string, ok bool) {
	if in.key() == "" {
		return "", "", false
	}

	path, body := partsOf(in)

	return hashOf(function, path, in.key()), hashOf(body), true
}

// partsOf returns the path parameters and the body of a request.
func partsOf(in Request) (path []string, body any) {
	v := reflect.Indirect(reflect.ValueOf(in))
	for _, f := range reflect.VisibleFields(v.Type()) {
		switch {
		case f.Tag.Get("path") != "":
			path = append(path, fmt.Sprint(v.FieldByIndex(f.Index).Interface()))
		case f.Name == "Body":
			body = v.FieldByIndex(f.Index).Interface()
		}
	}

	return path, body
}

// hashOf returns a hash of values. The members of a struct are encoded in the order of its
// fields, so the order of members in the request's JSON does not matter.
func hashOf(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // they were decoded from JSON
	}

	sum := sha256.Sum256(text)

	return base64.RawURLEncoding.EncodeToString(sum[:])
}
