// Package pickem plays the pick'em room in a local fleet: a made-up wrestling
// promotion announces shows, members pick, results come in, and the standings
// follow. It uses only the API, as members and an administrator, and derives its next step
// from the answers: after a restart of the fleet it continues.
package pickem

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/infra/local/fleet"
	"matchday/infra/sim/clock"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/league"
)

// Season plays a season of shows.
type Season struct {
	Clock *clock.Clock
	// Call calls the API as a user, like the method of fleet.Fleet.
	Call func(ctx context.Context, user, method, path string, in, out any) error
	// SignIn signs a user in to the user pool, and up before that if needed.
	SignIn func(ctx context.Context, user, name string) error

	over string // id of the show that is over and after which Run waits
}

// The times of a show.
const (
	opening = 4 * time.Minute  // from its announcement to its lock
	picking = 90 * time.Second // in which members pick
	walkIn  = time.Minute      // from its lock to the first match
	bout    = 12 * time.Second // from one result to the next
	rest    = 45 * time.Second // from its points to the next announcement
	glance  = 3 * time.Second  // between two checks

	bonus = 10 // points for a perfect card
)

// The states of an event.
const (
	upcoming  = "upcoming"
	broadcast = "broadcast"
	scored    = "scored"
)

// as calls the API of the room as a user.
func (s *Season) as(ctx context.Context, user, method, path string, in, out any) error {
	return s.Call(ctx, user, method, "/pickem"+path, in, out)
}

// admin calls the API of the room as an administrator.
func (s *Season) admin(ctx context.Context, method, path string, in, out any) error {
	return s.as(ctx, fleet.Administrator, method, path, in, out)
}

// Prepare invites the members, creates their league, plays the galas of the last weeks, and
// announces a show that locks soon, unless one is running. The fleet scores the galas
// later. A second run completes an interrupted one.
func (s *Season) Prepare(ctx context.Context) error {
	for _, m := range members {
		err := s.as(ctx, m.ID, http.MethodGet, "/app/me", nil, nil)
		if !refused(err) {
			if err != nil {
				return err
			}

			continue
		}

		if err := s.SignIn(ctx, m.ID, m.Name); err != nil {
			return err
		}

		err = s.admin(ctx, http.MethodPost, "/admin/users", map[string]string{"name": m.Name, "email": m.ID + "@example.com"}, nil)
		if err != nil && !refused(err) {
			return err
		}
	}

	if err := s.league(ctx); err != nil {
		return err
	}

	for _, sh := range past(s.Clock.Now()) {
		if err := s.catchUp(ctx, sh); err != nil {
			return err
		}
	}

	shows, err := s.shows(ctx, members[0].ID)
	if err != nil {
		return err
	}

	switch i := slices.IndexFunc(shows, onTour); {
	case i < 0 || shows[i].State == scored:
		return s.next(ctx, shows)
	case shows[i].State == upcoming:
		return s.book(ctx, show{ID: shows[i].ID}, shows)
	}

	return nil
}

// league creates the league of the first member and adds its members, if needed.
func (s *Season) league(ctx context.Context) error {
	owner := members[0].ID

	var there league.LeagueList
	if err := s.as(ctx, owner, http.MethodGet, "/app/leagues", nil, &there.Body); err != nil {
		return err
	}

	var out league.LeagueScreen

	l := &out.Body

	var err error
	if i := slices.IndexFunc(there.Body.Leagues, func(m league.Membership) bool { return m.Name == leagueName }); i >= 0 {
		err = s.as(ctx, owner, http.MethodGet, "/app/leagues/"+there.Body.Leagues[i].LeagueID, nil, l)
	} else {
		err = s.as(ctx, owner, http.MethodPost, "/app/leagues", map[string]string{"name": leagueName}, l)
	}

	if refused(err) {
		return nil // the first member was removed
	}

	if err != nil {
		return err
	}

	for _, m := range members {
		if !m.league || slices.ContainsFunc(l.Members, func(in league.LeagueMember) bool { return in.UserID == m.ID }) {
			continue
		}

		if err := s.as(ctx, m.ID, http.MethodPost, "/app/leagues/join", map[string]string{"code": l.Code}, nil); err != nil && !refused(err) {
			return err
		}
	}

	return nil
}

// refused reports whether the API refused a request, for example for a deleted member. A
// retry would be refused, too.
func refused(err error) bool {
	r, ok := errors.AsType[*fleet.Refusal](err)
	return ok && r.Status < http.StatusInternalServerError
}

// shows returns the announced shows for a user, latest first.
func (s *Season) shows(ctx context.Context, user string) ([]event.Event, error) {
	var out struct{ Events []event.Event }
	if err := s.as(ctx, user, http.MethodGet, "/app/events?limit=100", nil, &out); err != nil {
		return nil, err
	}

	all := slices.DeleteFunc(out.Events, func(e event.Event) bool { return !ours(e) })
	slices.SortFunc(all, func(a, b event.Event) int { return strings.Compare(b.ID, a.ID) })

	return all, nil
}

// show returns a show with its card.
func (s *Season) show(ctx context.Context, eventID string) (e event.Event, card []event.Match, err error) {
	var out event.EventScreen

	err = s.as(ctx, members[0].ID, http.MethodGet, "/app/events/"+eventID, nil, &out.Body)

	return out.Body.Event, out.Body.Card, err
}

// catchUp plays a show of the past, unless it has been played. Picks are accepted only
// before the lock, so the show is moved to the future until all members have picked.
func (s *Season) catchUp(ctx context.Context, sh show) error {
	shows, err := s.shows(ctx, members[0].ID)
	if err != nil {
		return err
	}

	date, _ := parts(sh.ID)

	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return err
	}

	starts := day.Add(bell)
	locks := starts.Add(-time.Hour)

	i := slices.IndexFunc(shows, func(e event.Event) bool { return e.ID == sh.ID })
	switch {
	case i < 0:
		if err := s.announce(ctx, sh, starts, locks); err != nil {
			return err
		}
	case shows[i].State == scored:
		return nil
	}

	_, card, err := s.show(ctx, sh.ID)
	if err != nil {
		return err
	}

	if !slices.ContainsFunc(card, decided) {
		soon := s.Clock.Now().Add(time.Hour)
		if err := s.move(ctx, sh.ID, upcoming, soon, soon); err != nil {
			return err
		}

		if err := s.book(ctx, sh, shows); err != nil {
			return err
		}

		if _, card, err = s.show(ctx, sh.ID); err != nil {
			return err
		}

		for _, m := range members {
			if !m.plays(sh.ID) {
				continue
			}

			if err := s.Pick(ctx, m.ID, sh.ID, m.pick(card)); err != nil && !refused(err) {
				return err
			}
		}

		if err := s.move(ctx, sh.ID, broadcast, starts, locks); err != nil {
			return err
		}
	}

	for _, m := range card {
		if !decided(m) {
			if err := s.result(ctx, sh.ID, m, outcome(m), ""); err != nil {
				return err
			}
		}
	}

	return s.Score(ctx, sh.ID)
}

// next announces the next show of the day, if there is one.
func (s *Season) next(ctx context.Context, shows []event.Event) error {
	now := s.Clock.Now()

	today := tour(now.UTC())
	for _, e := range shows {
		if i := slices.IndexFunc(today, func(sh show) bool { return sh.ID == e.ID }); i >= 0 {
			today = today[i+1:]
			break
		}
	}

	if len(today) == 0 {
		return nil
	}

	locks := now.Add(opening)
	if err := s.announce(ctx, today[0], locks.Add(walkIn), locks); err != nil {
		return err
	}

	return s.book(ctx, today[0], shows)
}

// Run plays show after show until ctx ends. The caller holds the clock. It retries after an
// error without logging it, because the fleet logs its failures.
func (s *Season) Run(ctx context.Context) {
	for {
		wait, err := s.step(ctx)
		if err != nil {
			wait = glance
		}

		if s.Clock.Sleep(ctx, s.Clock.Now().Add(wait)) != nil {
			return
		}
	}
}

// step performs the next step of the latest show, and returns the time to wait after it.
func (s *Season) step(ctx context.Context) (wait time.Duration, err error) {
	shows, err := s.shows(ctx, members[0].ID)
	if err != nil {
		return 0, err
	}

	i := slices.IndexFunc(shows, onTour)
	if i < 0 {
		return glance, s.next(ctx, shows)
	}

	switch e := shows[i]; {
	case e.State == upcoming:
		return glance, s.fillUp(ctx, e, shows)
	case e.State == broadcast:
		return s.air(ctx, e)
	case s.over != e.ID:
		s.over = e.ID
		return rest, nil
	}

	return glance, s.next(ctx, shows)
}

// fillUp picks for the members whose time to pick has come.
func (s *Season) fillUp(ctx context.Context, e event.Event, shows []event.Event) error {
	_, card, err := s.show(ctx, e.ID)
	if err != nil {
		return err
	}

	if len(card) == 0 { // its announcement was interrupted
		return s.book(ctx, show{ID: e.ID}, shows)
	}

	entries, err := s.entries(ctx, e.ID)
	if err != nil {
		return err
	}

	for _, m := range members {
		due := e.LockAt.Add(-opening).Add(time.Duration(dice("when", m.ID, e.ID).Int64N(int64(picking))))
		if m.ID == Visitor || !m.plays(e.ID) || s.Clock.Now().Before(due) || slices.Contains(entries.UserIDs, m.ID) {
			continue
		}

		if err := s.Pick(ctx, m.ID, e.ID, m.pick(card)); err != nil && !refused(err) {
			return err
		}
	}

	return nil
}

// air enters a result, corrects the wrong one, or requests the scoring of the show.
func (s *Season) air(ctx context.Context, e event.Event) (wait time.Duration, err error) {
	if wait := e.StartsAt.Sub(s.Clock.Now()); wait > 0 {
		return min(wait, glance), nil
	}

	_, card, err := s.show(ctx, e.ID)
	if err != nil {
		return 0, err
	}

	if len(card) == 0 { // its announcement was interrupted
		return glance, s.admin(ctx, http.MethodDelete, "/admin/events/"+e.ID, nil, nil)
	}

	next := slices.IndexFunc(card, func(m event.Match) bool { return !decided(m) })
	if wrong := slip(e.ID, len(card)); next < 0 || next > wrong+1 {
		if m := card[wrong]; *m.Result != outcome(m) {
			corrected, err := s.corrected(ctx, e.ID)
			if err != nil {
				return 0, err
			}

			if !corrected {
				return bout, s.result(ctx, e.ID, m, outcome(m), "The referee has seen the replay.")
			}
		}
	}

	if next < 0 {
		return bout, s.Score(ctx, e.ID)
	}

	_, err = s.EnterResult(ctx, e.ID)

	return bout, err
}
