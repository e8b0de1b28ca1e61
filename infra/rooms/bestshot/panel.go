package bestshot

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/pkg/bestshot"
	"matchday/pkg/bestshot/tables"
)

//go:embed panel
var files embed.FS

// visitors are the users as whom the visitor of the console guesses: the second after the first has
// deleted the account.
var visitors = [...]string{"me", "bestshot-visitor"}

var errStarting = errors.New("the fleet is starting")

// visit is the tournament of the console.
type visit struct {
	*Host
	ask func(ctx context.Context, user, method, path string, in, out any) error // calls the API

	mu    sync.Mutex
	user  string // one of visitors
	id    string // of the tournament; "" until it is created
	group string // the id of the league of the visitor and friends
	round int
	off   bool // whether the cache is stopped
}

// panel returns the room's tab: a round that is being played, the leaderboard, and the table of friends.
func (v *visit) panel() console.Panel {
	look := &console.Look{Every: 1500 * time.Millisecond, Read: func(ctx context.Context) (any, error) {
		if v.tournament() == "" {
			return nil, errStarting
		}
		defer v.Clock.Work()()

		return v.read(ctx)
	}}

	return console.Panel{
		Room: bestshot.Room().Spec.Name, Title: "Best Shot", Files: console.FilesOf(files),
		View: look.View("bestshot"),
		Buttons: map[string]console.Button{
			"guess": console.NewButtonOf(look, func(ctx context.Context, in guess) (string, error) {
				if !ids.MatchString(in.Match) {
					return "", errors.New("there is no such match")
				}

				v.mu.Lock()
				user := v.user
				v.mu.Unlock()

				return "Your guess is saved.", v.guess(ctx, user, in)
			}),
			"cache": console.NewButtonOf(look, func(_ context.Context, in struct{ Off bool }) (string, error) {
				return v.switchCache(in.Off)
			}),
		},
	}
}

// ids are the ids of matches: they become part of a request.
var ids = regexp.MustCompile(`^[0-9a-f-]{36}$`)

// guess is a guess of a match.
type guess struct {
	Match      string
	Home, Away int
}

func (v *visit) guess(ctx context.Context, user string, g guess) error {
	goals := func(n int) map[string]int { return map[string]int{"score": n} }
	return v.call(ctx, user, http.MethodPost, "/guess", map[string]any{"matchId": g.Match, "home": goals(g.Home), "away": goals(g.Away)}, nil)
}

// switchCache stops the cache, or starts it again, empty.
func (v *visit) switchCache(off bool) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()

	cache := v.Caches[tables.Cache.Name]
	switch {
	case cache == nil:
		return "", errors.New("the cache is not of this fleet: REDIS_URL names it")
	case off == v.off:
	case off:
		cache.Close()
	default:
		cache.FlushAll()

		if err := cache.Restart(); err != nil {
			return "", err
		}
	}

	v.off = off
	if off {
		return "Redis is off. The same answers come from PostgreSQL; points that are settled now reach the projection later.", nil
	}

	return "Redis is on, and empty: the next reader fills it.", nil
}

func (v *visit) tournament() string {
	v.mu.Lock()
	defer v.mu.Unlock()

	return v.id
}

func (v *visit) call(ctx context.Context, user, method, path string, in, out any) error {
	return v.ask(ctx, user, method, "/bestshot/api/v2"+path, in, out)
}

// seen is what the page displays.
type seen struct {
	Label       string  `json:"label"`
	Round       int     `json:"round"`
	Off         bool    `json:"off"` // whether the cache is stopped
	Member      string  `json:"member"`
	Matches     []match `json:"matches"`
	Leaderboard []entry `json:"leaderboard"`
	Took        float64 `json:"took"`    // ms, of the leaderboard
	Around      []entry `json:"around"`  // the visitor and the neighbours in the leaderboard
	Live        *live   `json:"live"`    // nil while no match is in play
	Friends     []entry `json:"friends"` // the table of the league; provisional if Live is set
}

type match struct {
	ID     string    `json:"id"`
	Date   time.Time `json:"date"`
	Status string    `json:"status"`
	Home   side      `json:"home"`
	Away   side      `json:"away"`
	Guess  *own      `json:"guess"`
	Live   *struct {
		Home int `json:"home"`
		Away int `json:"away"`
	} `json:"live"`
}

// live is what the visitor would have if the matches in play ended now.
type live struct {
	Points  int  `json:"points"`
	Settled int  `json:"settledPoints"`
	Rank    *int `json:"rank"`
	Matches []struct {
		MatchID string `json:"matchId"`
		Points  int    `json:"points"`
	} `json:"matches"`
}

type side struct {
	Name  string `json:"name"`
	Score *int   `json:"score"`
}

type own struct {
	MatchID string `json:"matchId"`
	Home    struct {
		Value *int `json:"value"`
	} `json:"home"`
	Away struct {
		Value *int `json:"value"`
	} `json:"away"`
	Total  int    `json:"total"`
	Status string `json:"status"`
}

type entry struct {
	Rank     int    `json:"rank"`
	MemberID string `json:"memberId"`
	NickName string `json:"nickName"`
	Points   int    `json:"points"`
	Movement int    `json:"movement"`

	Provisional *int `json:"provisionalPoints"`
}

// read reads the round and the leaderboard from the API, as the visitor.
func (v *visit) read(ctx context.Context) (seen, error) {
	v.mu.Lock()
	s := seen{Round: v.round, Off: v.off, Matches: []match{}, Leaderboard: []entry{}, Around: []entry{}, Friends: []entry{}}
	user, id, group := v.user, v.id, v.group
	v.mu.Unlock()

	get := func(path string, out any) error { return v.call(ctx, user, http.MethodGet, path, nil, out) }

	var (
		tournament struct{ Label string }
		me         struct{ ID string }
	)
	if err := errors.Join(get("/tournaments/"+id, &tournament), get("/member", &me)); err != nil {
		return s, err
	}

	s.Label, s.Member = tournament.Label, me.ID

	var (
		matches struct{ Data []match }
		guesses struct{ Data []own }
	)

	round := fmt.Sprint(s.Round)

	err := get("/tournaments/"+id+"/matches/"+round, &matches)
	if refusal, ok := errors.AsType[*fleet.Refusal](err); ok && refusal.Status == http.StatusNotFound {
		return s, nil // the round is not known yet
	}

	if err != nil {
		return s, err
	}

	if err := get("/tournaments/"+id+"/guess?round="+round, &guesses); err != nil {
		return s, err
	}

	for _, m := range matches.Data {
		for i, g := range guesses.Data {
			if g.MatchID == m.ID {
				m.Guess = &guesses.Data[i]
			}
		}

		s.Matches = append(s.Matches, m)
	}

	var board struct{ Data []entry }

	began := time.Now()
	err = get("/tournaments/"+id+"/leaderboard", &board)
	s.Took = float64(time.Since(began).Microseconds()) / 1000
	s.Leaderboard = append(s.Leaderboard, board.Data...)

	if err != nil {
		return s, err
	}

	return s, v.compare(get, id, group, &s)
}

// neighbours is how many members above the visitor, and below, the tab shows.
const neighbours = 2

// compare reads the place of the visitor among the neighbours, the points of the matches in play, and the table of
// the friends, which has these points while there are such matches.
func (v *visit) compare(get func(path string, out any) error, id, group string, s *seen) error {
	var (
		around, friends struct{ Data []entry }
		now             live
	)

	tournament := "/tournaments/" + id
	if err := errors.Join(get(tournament+"/leaderboard?around=me", &around), get(tournament+"/score/live", &now)); err != nil {
		return err
	}

	if i := slices.IndexFunc(around.Data, func(e entry) bool { return e.MemberID == s.Member }); i >= 0 {
		s.Around = around.Data[max(i-neighbours, 0):min(i+neighbours+1, len(around.Data))]
	}

	table := "/leagues/" + group + "/score?tournament=" + id
	if len(now.Matches) > 0 {
		s.Live = &now
		table += "&live=true"
	}

	err := get(table, &friends)
	s.Friends = append(s.Friends, friends.Data...)

	return err
}

// demo returns what `make run` plays: rounds of a league, one after the other.
func (v *visit) demo(o rooms.Options) (rooms.Demo, error) {
	return rooms.Demo{
		Prepare: func(ctx context.Context) error {
			if err := v.found(ctx); err != nil {
				return err
			}

			o.Say("a round of Best Shot begins in a minute: guess on its tab")

			return nil
		},
		Play: v.play,
	}, nil
}

// found registers the members, and creates the tournament of this run. It ends those of earlier runs,
// because the provider no longer has them.
func (v *visit) found(ctx context.Context) error {
	register := func(user, name string) error {
		return v.call(ctx, user, http.MethodPost, "/member", map[string]string{"nickName": name}, nil)
	}
	user := visitors[0]

	err := register(user, "You")
	if _, refused := errors.AsType[*fleet.Refusal](err); refused { // the account is deleted
		user = visitors[1]
		err = register(user, "You")
	}

	if err != nil {
		return err
	}

	for _, name := range people {
		if err := register(userOf(name), name); err != nil {
			return err
		}
	}

	var old struct {
		Data []struct{ ID, Slug, Status string }
	}
	if err := v.call(ctx, user, http.MethodGet, "/tournaments", nil, &old); err != nil {
		return err
	}

	for _, t := range old.Data {
		if strings.HasPrefix(t.Slug, slug) && (t.Status == "upcoming" || t.Status == "active") {
			if err := v.administer(ctx, http.MethodPatch, "/tournaments/"+t.ID, map[string]string{"status": "completed"}, nil); err != nil {
				return err
			}
		}
	}

	v.announce() // the provider is asked for it as soon as the tournament is created

	now := v.Clock.Now()

	var out struct{ ID string }
	if err := v.administer(ctx, http.MethodPost, "/tournaments", map[string]any{
		"externalId": fmt.Sprint(leagueID), "season": fmt.Sprint(now.Unix()), "slug": slug + fmt.Sprint(now.Unix()), "label": label(now),
	}, &out); err != nil {
		return err
	}

	group, err := v.befriend(ctx, user, out.ID)
	if err != nil {
		return err
	}

	v.mu.Lock()
	defer v.mu.Unlock()

	v.user, v.id, v.group = user, out.ID, group

	return nil
}

// friends is the name of the visitor's league, which the first of people join.
const (
	friends     = "Friends"
	friendsSize = 4
)

// befriend creates the league of a user and friends, or finds that of an earlier run, and has it follow a tournament
// alone. It returns the id of the league.
func (v *visit) befriend(ctx context.Context, user, tournament string) (id string, err error) {
	type group struct{ ID, Name, Code, Role string }

	var mine struct{ Data []group }
	if err := v.call(ctx, user, http.MethodGet, "/leagues", nil, &mine); err != nil {
		return "", err
	}

	var l group
	if i := slices.IndexFunc(mine.Data, func(g group) bool { return g.Name == friends && g.Role == "admin" }); i >= 0 {
		l = mine.Data[i]
	} else if err := v.call(ctx, user, http.MethodPost, "/leagues", map[string]string{"name": friends}, &l); err != nil {
		return "", err
	}

	for _, name := range people[:friendsSize] {
		if err := v.call(ctx, userOf(name), http.MethodPost, "/leagues/invitation", map[string]string{"code": l.Code}, nil); err != nil {
			return "", err
		}
	}

	return l.ID, v.call(ctx, user, http.MethodPatch, "/leagues/"+l.ID+"/tournaments", map[string]any{"tournaments": []string{tournament}}, nil)
}

// slug is the prefix of the tournaments' slugs.
const slug = "lantern-"

func (v *visit) administer(ctx context.Context, method, path string, in, out any) error {
	return v.call(ctx, fleet.Administrator, method, "/admin"+path, in, out)
}

// announce has the provider announce the next round, and reports whether the one before is over.
func (v *visit) announce() bool {
	if !v.league.over() {
		return false
	}

	round := v.league.next()

	v.mu.Lock()
	defer v.mu.Unlock()

	v.round = round

	return true
}

// play plays rounds until ctx ends. It ignores errors, because the next step tries again.
func (v *visit) play(ctx context.Context) {
	guessed := map[string]bool{}

	for n := 0; ctx.Err() == nil; n++ {
		if v.announce() {
			v.administer(ctx, http.MethodPost, "/tournaments/"+v.tournament()+"/rounds", nil, nil)
		}

		if seen, err := v.read(ctx); err == nil && len(seen.Matches) > 0 {
			v.step(ctx, seen, guessed, n)
		} else if n%5 == 4 {
			v.administer(ctx, http.MethodPost, "/tournaments/"+v.tournament()+"/rounds", nil, nil)
		}

		if v.Clock.Sleep(ctx, v.Clock.Now().Add(2*time.Second)) != nil {
			return
		}
	}
}

// step makes the guesses that are due, at another time for each member, and asks the provider for the
// round while it is played. n is the number of the step.
func (v *visit) step(ctx context.Context, s seen, guessed map[string]bool, n int) {
	now := v.Clock.Now()

	begun := false
	for _, m := range s.Matches {
		begun = begun || !m.Date.After(now)
		for i, name := range people {
			key := m.ID + name
			if guessed[key] || !m.Date.After(now) || m.Date.Sub(now) > leadTime-time.Duration(3+4*i)*time.Second {
				continue
			}

			guessed[key] = true

			v.guess(ctx, userOf(name), guess{m.ID, v.league.dice.IntN(4), v.league.dice.IntN(3)})
		}
	}

	if begun && n%3 == 0 {
		v.administer(ctx, http.MethodPatch, "/matches/"+s.Matches[0].ID+"/sync", nil, nil)
	}
}
