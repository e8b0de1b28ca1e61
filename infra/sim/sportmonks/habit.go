package sportmonks

import (
	"fmt"
	"math"
	"slices"
	"time"

	"matchday/infra/sim/sportmonks/script"
)

// HabitKind is a kind of Habit.
type HabitKind string

// The habits of the provider.
const (
	// SilentBreak: play stops after Ball deliveries for the time For. At once the list drops the match, whose
	// page still has play. After Silent the page has Status, and after Silent again so has the list.
	SilentBreak HabitKind = "silent break"
	// FalseEnd: play stops after Ball deliveries for the time For, and the list and the page have Status, which
	// ends a match. Then play goes on.
	FalseEnd HabitKind = "false end"
	// NoWinner: the match is Finished for the time For without winner and note.
	NoWinner HabitKind = "no winner"
	// CalledOff: from Notice before the start the match is cancelled, for the time For. Then it has not started,
	// under the same id. Before, it is announced for a start that is earlier by Moved.
	CalledOff HabitKind = "called off and reinstated"
	// NewID: until Notice before the start only a match with the id OldID is announced, for a start that is
	// earlier by Moved. From then on that one has Status, or is unknown if there is none, and after For the
	// match is listed under its own id.
	NewID HabitKind = "new id"
	// ListedLate: the list lacks the match until Ball deliveries were bowled.
	ListedLate HabitKind = "listed late"
	// Endless: after Ball deliveries nothing more comes. The list drops the match, and its page has play for good.
	Endless HabitKind = "endless"
)

// Habit is something that the provider does with a match besides playing its script. Each Kind says which
// fields it uses.
type Habit struct {
	Kind   HabitKind
	Ball   int
	Status string
	For    time.Duration
	Silent time.Duration
	Notice time.Duration
	Moved  time.Duration
	OldID  int64
}

// seen is the time for which a ball is listed before a habit drops the match: some polls see it.
const seen = 15 * time.Second

// never is a script time that no match reaches.
const never = time.Duration(math.MaxInt64 / 2)

// effect is what a habit changes from one script time to another.
type effect struct {
	from, to time.Duration
	unlisted bool          // the list lacks the match
	unknown  bool          // no request finds it
	status   string        // in place of that of the script, which has no winner and note then; "" for none
	bare     bool          // without winner and note
	earlier  time.Duration // the announced start is earlier by this
}

// adopt applies the habits of the pace: it delays frames, and returns the effects. It adds the fixture of an
// old id to the server. It is an error if a match has no such delivery, or the kind is unknown.
func (s *Server) adopt(p *playback, start time.Time) (all []effect, err error) {
	for _, h := range p.pace.Habits {
		i := slices.IndexFunc(p.match.Frames, func(f script.Frame) bool { return f.Deliveries >= h.Ball })
		if i < 0 || h.Ball > 0 && i == len(p.match.Frames)-1 {
			return nil, fmt.Errorf("match %d has no play after delivery %d", p.match.ID, h.Ball)
		}

		ball := p.at[i]

		switch h.Kind {
		case SilentBreak, FalseEnd:
			p.delay(i, h.For)
			resumes := p.at[i+1]
			all = append(all, effect{from: ball + seen + h.Silent, to: resumes, status: h.Status})

			if h.Kind == SilentBreak {
				all = append(all, effect{from: ball + seen, to: ball + seen + 2*h.Silent, unlisted: true})
			}
		case NoWinner:
			end := p.at[len(p.at)-1]
			all = append(all, effect{from: end, to: end + h.For, bare: true})
		case CalledOff:
			all = append(all, effect{from: -never, to: h.For - h.Notice, earlier: h.Moved},
				effect{from: -h.Notice, to: h.For - h.Notice, status: "Cancl."})
		case NewID:
			all = append(all, effect{from: -never, to: h.For - h.Notice, unknown: true})
			old := p.match.Fixture
			old.ID = h.OldID
			s.fixtures[old.ID] = &knownFixture{fixture: &old, start: start.Add(-h.Moved), playback: p, effects: []effect{
				{from: -never, to: -h.Notice, status: "NS", unlisted: true},
				{from: -h.Notice, to: never, status: h.Status, unlisted: true, unknown: h.Status == ""},
			}}
		case ListedLate:
			all = append(all, effect{from: -never, to: ball, unlisted: true})
		case Endless:
			p.delay(i, never-p.at[len(p.at)-1])
			all = append(all, effect{from: ball + seen, to: never, unlisted: true})
		default:
			return nil, fmt.Errorf("unknown habit %q", h.Kind)
		}
	}

	return all, nil
}

// delay delays all frames after frame i.
func (p *playback) delay(i int, by time.Duration) {
	for j := i + 1; j < len(p.at); j++ {
		p.at[j] += by
	}
}

// now returns the effects at an instant, as one.
func (e *knownFixture) now(at time.Time) (sum effect) {
	if len(e.effects) == 0 {
		return sum
	}

	t := e.playback.position(at)
	for _, x := range e.effects {
		if t < x.from || t >= x.to {
			continue
		}

		sum.unlisted, sum.unknown, sum.bare = sum.unlisted || x.unlisted, sum.unknown || x.unknown, sum.bare || x.bare
		sum.earlier += x.earlier

		if x.status != "" {
			sum.status = x.status
		}
	}

	return sum
}

// change applies the effects to what the script has.
func (x effect) change(v snapshot) snapshot {
	v.live = v.live && !x.unlisted && !x.unknown

	if x.status == "" && !x.bare {
		return v
	}

	h := *v.Header
	h.Note, h.Draw, h.Winner, h.PlayerOfMatch = "", "", 0, 0

	if x.status != "" {
		h.Status = x.status
	}

	v.Header = &h

	return v
}
