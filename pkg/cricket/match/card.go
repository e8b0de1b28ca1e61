package match

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"matchday/pkg/cricket/card"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// CardRow is a row of cricket-cards: a part of the scorecard of a match. Each is kept as long as a
// score: while the match has no result for 30 days, and then for good.
type CardRow struct {
	MatchID  string `dynamodbav:"matchId"`
	Part     string `dynamodbav:"part"`           // wholeMatch, or "S1" for an innings
	Card     []byte `dynamodbav:"card,omitempty"` // JSON, compressed; absent: the provider has removed the innings
	LastSlot int64  `dynamodbav:"lastSlot"`
	TTL      int64  `dynamodbav:"ttl"` // epoch s
}

// wholeMatch is the part of a scorecard that is not of an innings.
const wholeMatch = "match"

// OfPlayers reports whether the part has the players of both sides.
func (r CardRow) OfPlayers() bool { return r.Part == wholeMatch }

// RecordCard changes the hashes of the parts of a scorecard in the index to those of c, and returns
// the parts that differ from the stored ones. over reports whether the match has a result: all parts
// are then stored once more, to be kept for good. It returns the error of encoding a part.
func (x *BallIndex) RecordCard(f Fixture, c card.Card, over bool, slot int64, now time.Time) (changed []CardRow, err error) {
	var next []ChunkInfo

	add := func(part string, of any) error {
		text, err := json.Marshal(of)
		if err != nil {
			return err
		}

		sum := sha256.Sum256(strconv.AppendBool(text, over))

		info := ChunkInfo{Key: part, Sum: base64.RawURLEncoding.EncodeToString(sum[:9]), Slot: slot}
		if i := slices.IndexFunc(x.Card, info.isOf); i >= 0 && x.Card[i].Sum == info.Sum {
			info.Slot = x.Card[i].Slot
		} else {
			row := CardRow{MatchID: f.MatchID, Part: part, LastSlot: slot, TTL: scoreUntil(f, over, now)}
			if of != nil {
				row.Card = compress(text)
			}

			changed = append(changed, row)
		}

		next = append(next, info)

		return nil
	}

	if err := add(wholeMatch, c.Match); err != nil {
		return nil, err
	}

	for _, n := range c.Innings {
		if err := add("S"+strconv.Itoa(n.Number), n); err != nil {
			return nil, err
		}
	}

	for _, was := range x.Card {
		if slices.ContainsFunc(next, was.isOf) {
			continue
		}

		if len(c.Innings) == 0 { // the answer lists no innings at all: those before are kept
			next = append(next, was)
		} else if err := add(was.Key, nil); err != nil {
			return nil, err
		}
	}

	x.Card = next

	return changed, nil
}

// PutCard stores the scorecard of a match before its first poll, unless it was polled in a later slot.
func PutCard(ctx context.Context, db dynamo.DB, f Fixture, c card.Card, slot int64, now time.Time) error {
	rows, err := new(BallIndex).RecordCard(f, c, false, slot, now)
	if err != nil {
		return err
	}

	for _, row := range rows {
		if err := dynamo.IgnoreRefused(dynamo.Put(ctx, db, tables.PutCard, row, NotAfter(slot))); err != nil {
			return err
		}
	}

	return nil
}

// compressors are writers of gzip to be used again: each has 800 kB.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress returns text in the format of gzip. An innings has about 7 kB, and a sixth of that
// compressed.
func compress(text []byte) []byte {
	var out bytes.Buffer

	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)

	w.Reset(&out)

	_, _ = w.Write(text) // a buffer takes all
	_ = w.Close()

	return out.Bytes()
}

// decode decodes the part of a row into one of the types of package card.
func (r *CardRow) decode(into any) error {
	text, err := gzip.NewReader(bytes.NewReader(r.Card))
	if err != nil {
		return err
	}

	all, err := io.ReadAll(text)
	if err != nil {
		return err
	}

	return json.Unmarshal(all, into)
}
