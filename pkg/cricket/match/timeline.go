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

// BallIndex is the first row of a match in match-processing-state: the last processed
// ball, and the list of the chunks that hold the balls.
type BallIndex struct {
	MatchID           string      `dynamodbav:"matchId"`
	LastProcessedBall int         `dynamodbav:"lastProcessedBall"`
	Chunks            []ChunkInfo `dynamodbav:"chunks"` // in the order of play
	LastSlot          int64       `dynamodbav:"lastSlot"`
	TTL               int64       `dynamodbav:"ttl"` // epoch s
}

// ChunkInfo describes a chunk in the index.
type ChunkInfo struct {
	Key  string `dynamodbav:"k"` // "S1#00": innings, and over divided by oversPerChunk
	Sum  string `dynamodbav:"s"` // hash of its balls
	Last int    `dynamodbav:"l"` // its highest ball id
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

// KeepBalls is how long the balls and the ledger of a match are kept after the last
// write.
const KeepBalls = 7 * 24 * time.Hour

// Record changes the index to that of balls, and returns the chunks that differ from
// the stored ones. LastProcessedBall never decreases, even if the provider deletes
// balls. It returns the error of encoding a ball.
func (x *BallIndex) Record(matchID string, balls []score.Ball, slot int64, now time.Time) ([]BallChunk, error) {
	ttl := now.Add(KeepBalls).Unix()
	next := BallIndex{MatchID: matchID, LastProcessedBall: x.LastProcessedBall, LastSlot: slot, TTL: ttl}
	var changed []BallChunk
	for key, group := range chunksOf(balls) {
		text, err := json.Marshal(group)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		meta := ChunkInfo{Key: key, Sum: base64.RawURLEncoding.EncodeToString(sum[:9])}
		for _, ball := range group {
			meta.Last = max(meta.Last, ball.ID)
		}
		next.LastProcessedBall = max(next.LastProcessedBall, meta.Last)
		next.Chunks = append(next.Chunks, meta)
		if !slices.Contains(x.Chunks, meta) {
			changed = append(changed, BallChunk{MatchID: matchID + "#" + key, Balls: RawJSON(text), LastSlot: slot, TTL: ttl})
		}
	}
	*x = next
	return changed, nil
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

// cursor returns the key of the chunk in the form that URLs have.
func (c ChunkInfo) cursor() string { return strings.Replace(c.Key, "#", "-", 1) }

// innings returns the innings in the key of the chunk.
func (c ChunkInfo) innings() int {
	n, _, _ := strings.Cut(strings.TrimPrefix(c.Key, "S"), "#")
	i, _ := strconv.Atoi(n) // never fails: chunksOf has built the key
	return i
}
