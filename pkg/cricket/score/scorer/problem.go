package scorer

// ProblemKind is a class of oddity, for counting.
type ProblemKind string

// The problems.
const (
	UnknownStatus  ProblemKind = "unknownStatus"  // the phase before was kept
	PartialBalls   ProblemKind = "partialBalls"   // fewer balls than before, and the totals disagree: the state before was kept
	Disagreement   ProblemKind = "disagreement"   // the balls of an innings do not add up to its total: the total is shown
	UnplacedBall   ProblemKind = "unplacedBall"   // a ball without an id or an innings was left out
	NoWinner       ProblemKind = "noWinner"       // finished, and nothing says how
	ResultConflict ProblemKind = "resultConflict" // finished, and winner, note and scores disagree
)

// Problem is something in a snapshot worth a line in the log. The same fault gives
// the same Text every time.
type Problem struct {
	Kind ProblemKind
	Text string
}
