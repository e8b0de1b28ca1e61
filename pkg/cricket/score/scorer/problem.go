package scorer

// ProblemKind is a kind of Problem.
type ProblemKind string

// The kinds of problems, and what Read does about them.
const (
	UnknownStatus  ProblemKind = "unknownStatus"  // the phase before is kept
	PartialBalls   ProblemKind = "partialBalls"   // fewer balls than before, and the totals disagree: the state before is kept
	Disagreement   ProblemKind = "disagreement"   // the balls of an innings do not add up to its total: the total counts
	UnplacedBall   ProblemKind = "unplacedBall"   // a ball without an id or an innings is left out
	NoWinner       ProblemKind = "noWinner"       // finished without a result: the match is Pending
	ResultConflict ProblemKind = "resultConflict" // finished, and winner, note and scores disagree: the match is Pending
)

// Problem is something wrong with a snapshot. The same fault has the same Text each
// time, so that it can be logged once.
type Problem struct {
	Kind ProblemKind
	Text string
}
