package score

// EventKind is a kind of what is worth telling.
type EventKind string

// The kinds.
const (
	TossEvent      EventKind = "toss"
	StartEvent     EventKind = "start" // also of the reminder before it
	WicketEvent    EventKind = "wicket"
	FiftyEvent     EventKind = "fifty"
	HundredEvent   EventKind = "hundred"
	InningsEvent   EventKind = "innings" // the end of one
	TargetEvent    EventKind = "target"  // set or revised
	RainEvent      EventKind = "rain"    // play stops or resumes
	SuperOverEvent EventKind = "superOver"
	ResultEvent    EventKind = "result"
)

// Event is something in a match that is worth telling.
type Event struct {
	Kind EventKind
	// Key names the event in its match, of whatever it is corrected to. Alias is
	// its other name, or "": of two events of a kind that share either, one is a
	// correction of the other.
	Key, Alias string
	Match      string // "India v Pakistan"
	Title      string // "Wicket! India 45/3 (6.2)"
	Body       string
	// Plain is the body for those who do not want to know the score; "" for a
	// kind whose coming alone tells.
	Plain string
}
