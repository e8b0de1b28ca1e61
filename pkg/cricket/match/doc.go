// Package match keeps a match: the fixture row, the score, the display of each
// perspective, the names, and the timeline of balls. It serves all public reads.
//
// Package live writes scores, displays and balls. Its writes carry the slot of the
// poll, and NotAfter refuses those of an earlier slot.
package match
