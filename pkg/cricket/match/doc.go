// Package match keeps a match: the fixture row, the score, the display of each
// perspective, the names, and the timeline of balls. It serves all public reads.
//
// Public reads are eventually consistent, which costs half: an answer is cached for
// longer than a write takes to arrive. Two reads are consistent. A list of balls is: if
// the read of an older chunk of overs missed a ball that a newer one follows, a client
// that asks for the balls after the last would never get it. And so is what GetDisplay
// builds and stores.
//
// Package live writes scores, displays and balls. Its writes carry the slot of the
// poll, and NotAfter refuses those of an earlier slot.
package match
