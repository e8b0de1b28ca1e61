package match

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchday/pkg/cricket/score"
)

// BallIndex is the first row of a match in match-processing-state: the list of the chunks
// that hold the balls.
type BallIndex struct {
	MatchID  string      `dynamodbav:"matchId"`
	Chunks   []ChunkInfo `dynamodbav:"chunks"`         // in the order of play, and then those that have become empty
	Card     []ChunkInfo `dynamodbav:"card,omitempty"` // the parts of the scorecard, which are rows of cricket-cards
	LastSlot int64       `dynamodbav:"lastSlot"`
	TTL      int64       `dynamodbav:"ttl"` // epoch s
}

// Forget has Record and RecordCard return all chunks and all parts of the scorecard, as if none were
// stored.
func (x *BallIndex) Forget() {
	for _, list := range [][]ChunkInfo{x.Chunks, x.Card} {
		for i := range list {
			list[i].Sum = ""
		}
	}
}

// Equal reports whether two indexes have the same chunks and parts of the scorecard.
func (x *BallIndex) Equal(o *BallIndex) bool {
	return slices.Equal(x.Chunks, o.Chunks) && slices.Equal(x.Card, o.Card)
}

// ChunkInfo describes a chunk in the index.
type ChunkInfo struct {
	Key  string `dynamodbav:"k"` // "S1#00": innings, and over divided by oversPerChunk
	Sum  string `dynamodbav:"s"` // hash of its balls
	Slot int64  `dynamodbav:"r"` // of its last change
	// Kept reports that the chunk is stored for good, because the match had a result. A part of a scorecard has it in
	// its Sum.
	Kept bool `dynamodbav:"t,omitempty"`
}

// BallChunk is another row of a match: the balls of oversPerChunk overs.
type BallChunk struct {
	MatchID  string  `dynamodbav:"matchId"` // {matchId}#{key}
	Balls    RawJSON `dynamodbav:"balls"`   // []score.Ball
	LastSlot int64   `dynamodbav:"lastSlot"`
	TTL      int64   `dynamodbav:"ttl"`
}

// oversPerChunk gives a chunk about 4 kB, so that a ball costs four write units. The
// 2,700 balls of a Test match exceed the 400 kB of an item; they make about 90 chunks.
const oversPerChunk = 5

// KeepBalls is how long the balls and the ledger of a match are kept that never has a result, after the
// latest possible end, or after the last write if that is later. So the balls of the first day of
// a Test match do not expire before those of the last.
const KeepBalls = 7 * 24 * time.Hour

// ballsUntil returns when the balls of a match expire that are written now, unless it gets a result.
func (f Fixture) ballsUntil(now time.Time) time.Time {
	return latest(f.Start().Add(f.longest()), now).Add(KeepBalls)
}

// Record changes the index to that of balls, and returns the chunks that differ from
// the stored ones. over reports whether the match has a result: all chunks are then stored once more, to be kept
// for good, and the revisions stay. It returns the error of encoding a ball.
func (x *BallIndex) Record(f Fixture, balls []score.Ball, over bool, slot int64, now time.Time) ([]BallChunk, error) {
	next := BallIndex{MatchID: f.MatchID, Card: x.Card, LastSlot: slot, TTL: f.ballsUntil(now).Unix()}
	if over {
		next.TTL = now.Add(keepResult).Unix()
	}

	var changed []BallChunk

	add := func(key string, group []score.Ball) error {
		text, err := json.Marshal(group)
		if err != nil {
			return err
		}

		sum := sha256.Sum256(text)

		info := ChunkInfo{Key: key, Sum: base64.RawURLEncoding.EncodeToString(sum[:9]), Slot: slot, Kept: over}

		stored := false
		if i := slices.IndexFunc(x.Chunks, info.isOf); i >= 0 && x.Chunks[i].Sum == info.Sum {
			stored = x.Chunks[i].Kept || !over
			info.Slot, info.Kept = x.Chunks[i].Slot, x.Chunks[i].Kept || over
		}

		if !stored {
			changed = append(changed, BallChunk{MatchID: f.MatchID + "#" + key, Balls: RawJSON(text), LastSlot: slot, TTL: next.TTL})
		}

		next.Chunks = append(next.Chunks, info)

		return nil
	}
	for key, group := range chunksOf(balls) {
		if err := add(key, group); err != nil {
			return nil, err
		}
	}

	for _, was := range x.Chunks {
		if !slices.ContainsFunc(next.Chunks, was.isOf) {
			if err := add(was.Key, []score.Ball{}); err != nil {
				return nil, err
			}
		}
	}

	*x = next

	return changed, nil
}

// isOf reports whether two infos are of the same chunk.
func (c ChunkInfo) isOf(o ChunkInfo) bool { return c.Key == o.Key }

// revision returns the slot of the last change of any chunk.
func (x *BallIndex) revision() (slot int64) {
	for _, c := range x.Chunks {
		slot = max(slot, c.Slot)
	}

	return slot
}

// chunksOf groups balls by innings and overs. The groups are in the order of their
// first balls.
func chunksOf(balls []score.Ball) iter.Seq2[string, []score.Ball] {
	var keys []string

	groups := map[string][]score.Ball{}

	for _, b := range balls {
		over, _, _ := strings.Cut(b.At, ".")
		n, _ := strconv.Atoi(over) // a ball whose label is not a number goes to the first chunk

		key := fmt.Sprintf("S%d#%02d", b.Innings, n/oversPerChunk)
		if groups[key] == nil {
			keys = append(keys, key)
		}

		groups[key] = append(groups[key], b)
	}

	return func(yield func(string, []score.Ball) bool) {
		for _, key := range keys {
			if !yield(key, groups[key]) {
				return
			}
		}
	}
}

// overs returns the innings and overs in the key of the chunk.
func (c ChunkInfo) overs() OverGroup {
	innings, group, _ := strings.Cut(strings.TrimPrefix(c.Key, "S"), "#")
	i, _ := strconv.Atoi(innings) // never fails: chunksOf has built the key
	n, _ := strconv.Atoi(group)

	return OverGroup{Innings: i, From: n * oversPerChunk, To: (n + 1) * oversPerChunk}
}
