package replay

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matchday/infra/sim/football"
	"matchday/infra/sim/openfootball"
)

// world has the members with their accepted guesses, and the seasons of the files.
type world struct {
	seed    uint64
	members []*member
	leagues []*league
	cups    []*cup
	skipped []string // files that are no seasons
}

// member is a member of Best Shot.
type member struct{ user, id, name string }

// league is a private league that follows some tournaments.
type league struct {
	id, name string
	members  []*member
	cups     []*cup
}

// cup is the tournament of a file.
type cup struct {
	file     string
	n        int64 // the provider's ids of the tournament and of its season
	season   openfootball.Season
	id       string // in the API
	rounds   []openfootball.Round
	fixtures []*fixture
	over     time.Time // when all is checked
	done     bool
	problems []string
	asked    []*question
	checks   int // comparisons with the oracle
	skipped  int // comparisons for which there was no quiet moment
}

// fixture is an event of the provider.
type fixture struct {
	cup     *cup
	event   int64
	index   int // of the match in the season
	match   openfootball.Match
	views   []football.Event     // the answers of the provider about it, the oldest first
	id      string               // of the match in the API, "" while it is not known
	guesses map[*member][]stored // the accepted ones, the oldest first
	jokers  map[*member]bool     // who has given it the joker of the round
	// Set by an administrator: the score that counts, or none.
	corrected bool
	set       *openfootball.Goals
}

// stored is an accepted guess, and when it was stored.
type stored struct {
	at    time.Time
	goals openfootball.Goals
}

// counted returns the guess of a member that counts: the last one before play began.
func (f *fixture) counted(m *member) (goals openfootball.Goals, ok bool) {
	began := f.last().Began

	for _, g := range f.guesses[m] {
		if began.IsZero() || g.at.Before(began) {
			goals, ok = g.goals, true
		}
	}

	return goals, ok
}

// fail records a difference. It keeps the first five.
func (c *cup) fail(format string, args ...any) {
	if len(c.problems) < 5 {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// The names of members. Two pairs have one name.
var names = []string{
	"Ada", "Bruno", "Chidi", "Dara", "elif", "Émile", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kemi", "Lior", "Mina", "Noor", "Ömer",
	"Pia", "Quin", "Rosa", "Sven",
	"Tariq", "Uma", "Vera", "Wes", "Xia", "Yara", "Zoe", "Ada", "bruno", "Cleo", "Dorn", "Esko", "Fara", "Gwil", "Hera", "Ivo",
	"Jara", "Kolt", "Luna", "Pia",
}

// newWorld returns the members, and the cups of the files. The seasons begin in the same week,
// on their days of the week.
func newWorld(cfg Config) (*world, error) {
	w := &world{seed: cfg.Seed}
	for i, name := range names {
		w.members = append(w.members, &member{user: fmt.Sprintf("b0000000-0000-4000-8000-%012d", i+1), name: name})
	}

	files, err := filepath.Glob(filepath.Join(cfg.Folder, "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no .json file in %s: give a folder of openfootball files as DIR=folder", cfg.Folder)
	}

	if err != nil {
		return nil, err
	}

	for _, path := range files {
		c := &cup{file: filepath.Base(path), n: int64(len(w.cups) + 1)}

		text, err := os.ReadFile(path)
		if err == nil {
			c.season, err = openfootball.Parse(text)
		}

		if errors.Is(err, openfootball.ErrNoSeason) {
			w.skipped = append(w.skipped, c.file)
			continue
		}

		w.cups = append(w.cups, c)
		if err != nil {
			c.fail("%v", err)
			c.done = true
		}
	}

	if len(w.cups) == 0 {
		return nil, fmt.Errorf("no .json file in %s has matches or rounds: give a folder of openfootball files as DIR=folder", cfg.Folder)
	}

	return w, nil
}

// results counts the matches with a result in the file, and those of them that the provider has
// an event of.
func (c *cup) results() (file, provider int) {
	known := map[int]bool{}
	for _, f := range c.fixtures {
		known[f.index] = true
	}

	for i, m := range c.season.Matches {
		if _, ok := m.Result(); ok {
			file++

			if known[i] {
				provider++
			}
		}
	}

	return file, provider
}

// rates are the probabilities of what goes wrong with an event.
var rates = map[football.Kind]float64{
	football.LateScore:    0.06,
	football.Corrected:    0.05,
	football.Overwritten:  0.05,
	football.Reopened:     0.03,
	football.MovedMinutes: 0.04,
	football.MovedHours:   0.03,
	football.MovedDay:     0.02,
	football.Postponed:    0.03,
	football.Replaced:     0.02,
	football.Cancelled:    0.01,
	football.Interrupted:  0.02,
	football.StartedEarly: 0.1,
	football.StartedLate:  0.08,
	football.StartedTwice: 0.08,
	football.Walkover:     0.02,
}

// add adds the season of a cup to the provider.
func (c *cup) add(s *football.Server) error {
	first := slices.MinFunc(c.season.Matches, func(a, b openfootball.Match) int { return a.KickOff.Compare(b.KickOff) }).KickOff

	const week = 7 * 24 * time.Hour

	shift := start.Add(3 * 24 * time.Hour).Sub(first)

	shift = shift.Truncate(week)
	for first.Add(shift).Before(start.Add(2 * 24 * time.Hour)) {
		shift += week
	}

	if err := s.Add(football.Tournament{ID: c.n, SeasonID: 100 + c.n, Season: c.season, Shift: shift, Rates: rates}); err != nil {
		return err
	}

	c.rounds = c.season.Rounds()
	for _, e := range s.Finals(c.n, 100+c.n) {
		f := &fixture{cup: c, event: e.ID, index: e.Match, match: c.season.Matches[e.Match],
			guesses: map[*member][]stored{}, jokers: map[*member]bool{}}
		for {
			f.views = append(f.views, e)
			if e.Changed.IsZero() {
				break
			}

			e, _ = s.At(e.ID, e.Changed.Add(-time.Nanosecond))
		}

		slices.Reverse(f.views)
		c.fixtures = append(c.fixtures, f)
		c.over = later(c.over, f.last().Changed)
		c.over = later(c.over, f.last().KickOff)
	}

	c.over = c.over.Add(12 * time.Hour)

	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}

	return a
}

func (f *fixture) String() string {
	return fmt.Sprintf("%s - %s of round %s", f.match.Home, f.match.Away, slugOf(f.match.Round))
}

// slugOf is the slug of a round in the API.
func slugOf(r openfootball.Round) string {
	switch {
	case !r.Knockout():
		return fmt.Sprint(r.Number)
	case r.Prefix != "":
		return openfootball.Slug(r.Prefix + " " + r.Slug)
	}

	return r.Slug
}

// last is the last answer of the provider.
func (f *fixture) last() football.Event { return f.views[len(f.views)-1] }

// at is the answer of the provider at a time.
func (f *fixture) at(t time.Time) football.Event {
	for i := len(f.views) - 1; ; i-- {
		if i == 0 || !f.views[i].Changed.After(t) {
			return f.views[i]
		}
	}
}

// answers returns whether the room may accept, and whether it may refuse, a guess that is sent at one
// time and answered at another. The room may know any view that was current within the time staleness
// before. It accepts a guess until the kick-off of the view.
func (f *fixture) answers(sent, answered time.Time) (accept, refuse bool) {
	for i, e := range f.views {
		if replaced := i+1 < len(f.views) && !f.views[i+1].Changed.After(sent.Add(-staleness(e, sent))); replaced || e.Changed.After(answered) {
			continue
		}

		open := e.Type == "notstarted"
		accept = accept || open && e.KickOff.After(sent)
		refuse = refuse || !open || !e.KickOff.After(answered)
	}

	return accept, refuse
}

// staleness is the longest time until the room knows what replaces a view. It asks once an hour about a
// match that begins within a day, and once a day about one that begins later: a match that was put off
// by a day and is called off in the evening takes guesses until the next day.
func staleness(e football.Event, at time.Time) time.Duration {
	const day = 24 * time.Hour

	if e.KickOff.After(at.Add(day - stale)) {
		return day + stale
	}

	return stale
}

// whistle is when the provider answers for the first time that the match has ended, or the last
// kick-off if it never does.
func (f *fixture) whistle() time.Time {
	for _, e := range f.views {
		if e.Type == "finished" {
			return e.Changed
		}
	}

	return f.last().KickOff
}

// played reports whether the match was played to its end and has a score.
func played(e football.Event) bool {
	return e.Type == "finished" && e.Scored && slices.Contains([]int{100, 110, 120}, e.Code)
}

// result is the score that counts at a time: the last score of the provider after an end, or that of an
// administrator.
func (f *fixture) result(t time.Time) (openfootball.Goals, bool) {
	if f.corrected {
		if f.set == nil {
			return openfootball.Goals{}, false
		}

		return *f.set, true
	}

	for i := len(f.views) - 1; i >= 0; i-- {
		if e := f.views[i]; !e.Changed.After(t) && played(e) {
			return e.Score, true
		}
	}

	return openfootball.Goals{}, false
}

// quiet reports whether the room has had the time to learn all results.
func (c *cup) quiet(t time.Time) bool {
	return !slices.ContainsFunc(c.fixtures, func(f *fixture) bool {
		now := f.at(t)
		_, ended := f.result(t)

		return !f.corrected && ended && (!played(now) || now.Changed.After(t.Add(-learn)))
	})
}

// learn is the longest time until the room and the provider's standings know a result. The standings
// are up to 12 minutes late, and polls come every 5.
const learn = 19 * time.Minute

// stale is the longest time until the room knows a new kick-off. It asks once an hour, in the first ten
// minutes of the hour, and one request may fail.
const stale = 130 * time.Minute

// span is a time in which schedules run.
type span struct{ from, to time.Time }

// spans are the times in which something may be due, joined and in order. All schedules run in busy, at
// changes of an event. In near, from the day before a match, they run for ten minutes of each hour.
type spans struct{ busy, near []span }

func (w *world) spans() (s spans) {
	for _, c := range w.cups {
		for _, f := range c.fixtures {
			for i, e := range f.views {
				if i == 0 || !e.KickOff.Equal(f.views[i-1].KickOff) {
					s.near = append(s.near, span{e.KickOff.Add(-26 * time.Hour), e.KickOff.Add(6 * time.Hour)})
					s.busy = append(s.busy, span{e.KickOff, e.KickOff.Add(6 * time.Minute)})
				}

				if i == 0 {
					continue
				}

				was := f.views[i-1]
				if e.Type != was.Type || e.Type == "finished" || !e.KickOff.Equal(was.KickOff) {
					s.busy = append(s.busy, span{e.Changed, e.Changed.Add(learn + 6*time.Minute)})
				}

				if e.Type == "postponed" || !e.KickOff.Equal(was.KickOff) {
					s.near = append(s.near, span{e.Changed, e.Changed.Add(26 * time.Hour)})
				}
			}
		}
	}

	s.busy, s.near = joined(s.busy), joined(s.near)

	return s
}

func joined(all []span) (out []span) {
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })

	for _, s := range all {
		if n := len(out); n > 0 && !s.from.After(out[n-1].to) {
			out[n-1].to = later(out[n-1].to, s.to)
			continue
		}

		out = append(out, s)
	}

	return out
}

func within(all []span, t time.Time) bool {
	n, exact := slices.BinarySearchFunc(all, t, func(s span, t time.Time) int { return s.from.Compare(t) })
	return exact || n > 0 && !t.After(all[n-1].to)
}

// awake reports whether the schedules run at a time.
func (s spans) awake(t time.Time) bool {
	return within(s.busy, t) || t.Minute() < 10 && (t.Hour()%6 == 0 || within(s.near, t))
}

// dice returns a random source that is the same for the same seed and words.
func (w *world) dice(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, words...)

	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// named replaces ids that differ between runs by names.
func (w *world) named(text string) string {
	for _, m := range w.members {
		if m.id != "" {
			text = strings.ReplaceAll(text, m.id, m.name)
		}
	}

	for _, c := range w.cups {
		if c.id != "" {
			text = strings.ReplaceAll(text, c.id, c.file)
		}
	}

	return drawn.ReplaceAllString(text, "{id}")
}

// step is something that happens at a time.
type step struct {
	at time.Time
	n  int // order of steps at one time
	do func()
}

func byTime(a, b *step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) }
