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

// BallIndex is the first row of a match in match-processing-state: how far the balls
// are stored, and in which chunks.
type BallIndex struct {
	MatchID           string      `dynamodbav:"matchId"`
	LastProcessedBall int         `dynamodbav:"lastProcessedBall"`
	Chunks            []ChunkInfo `dynamodbav:"chunks"` // in the order of play
	LastSlot          int64       `dynamodbav:"lastSlot"`
	TTL               int64       `dynamodbav:"ttl"`
}

// ChunkInfo is a chunk without its balls.
type ChunkInfo struct {
	Key  string `dynamodbav:"k"` // "S1#00": innings, and overs divided by oversPerChunk
	Sum  string `dynamodbav:"s"` // of its balls
	Last int    `dynamodbav:"l"` // its highest ball id
}

// BallChunk is a further row of a match: the balls of some overs.
type BallChunk struct {
	MatchID  string  `dynamodbav:"matchId"` // {matchId}#{key}
	Balls    RawJSON `dynamodbav:"balls"`   // []score.Ball
	LastSlot int64   `dynamodbav:"lastSlot"`
	TTL      int64   `dynamodbav:"ttl"`
}

// oversPerChunk keeps a chunk near 4 kB, so that a ball costs four write units,
// and a Test match, whose 2,700 balls exceed an item's 400 kB, about 90 chunks.
const oversPerChunk = 5

// KeepBalls is how long balls and the ledger of sent events are kept after a write.
const KeepBalls = 7 * 24 * time.Hour

// Record replaces the stored balls by these, and returns the chunks that differ.
// lastProcessedBall only moves forward, whatever the provider takes back.
func (h *BallIndex) Record(matchID string, balls []score.Ball, slot int64, now time.Time) ([]BallChunk, error) {
	ttl := now.Add(KeepBalls).Unix()
	next := BallIndex{MatchID: matchID, LastProcessedBall: h.LastProcessedBall, LastSlot: slot, TTL: ttl}
	var differ []BallChunk
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
		if !slices.Contains(h.Chunks, meta) {
			differ = append(differ, BallChunk{MatchID: matchID + "#" + key, Balls: RawJSON(text), LastSlot: slot, TTL: ttl})
		}
	}
	*h = next
	return differ, nil
}

// chunksOf groups balls by innings and overs, in the order in which each group
// begins.
func chunksOf(balls []score.Ball) iter.Seq2[string, []score.Ball] {
	var keys []string
	groups := map[string][]score.Ball{}
	for _, b := range balls {
		over, _, _ := strings.Cut(b.At, ".")
		n, _ := strconv.Atoi(over) // a label is a number, or the ball goes to the first chunk
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

// cursor is the chunk's key as it stands in a URL.
func (c ChunkInfo) cursor() string { return strings.Replace(c.Key, "#", "-", 1) }

func (c ChunkInfo) innings() int {
	n, _, _ := strings.Cut(strings.TrimPrefix(c.Key, "S"), "#")
	i, _ := strconv.Atoi(n) // we wrote it
	return i
}
