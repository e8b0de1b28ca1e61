// Package match keeps a match: the fixture row, the score, the display of each
// perspective, the names, and the timeline of balls. It serves all public reads.
//
// Public reads are eventually consistent, which costs half: an answer is cached for
// longer than a write takes to arrive. Two reads are consistent: the list of balls, and what
// GetDisplay builds and stores. If the read of a chunk of overs missed a change that its
// revision includes, a client that asks for the changes since would never get it.
//
// Results, scorecards and the balls of a match with a result are kept for good. The balls of another match are
// kept until seven days after its latest possible end, all of them equally long. The seed keeps them for seven
// days after each write, which would delete the first days of a Test match while the last can still be read.
//
// Package live writes scores, displays and balls. Its writes carry the slot of the
// poll, and NotAfter refuses those of an earlier slot.
package match
