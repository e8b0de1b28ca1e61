package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// memberNamed returns the member who had that name at first, nil if the member was deleted.
func (r *run) memberNamed(first string) *member {
	for _, m := range r.members {
		if m.mail == strings.ToLower(first)+"@example.com" && m.id != "" {
			return m
		}
	}

	return nil
}

// admit makes a person a member, with a phone.
func (r *run) admit(ctx context.Context, m *member) {
	var out struct{ UserID string }
	if r.admin(ctx, nil, http.MethodPost, "/admin/users", map[string]string{"name": m.name, "email": m.mail}, &out, "", "user_exists") {
		m.id = out.UserID
		if m.id == "" { // the answer of the first attempt was lost
			r.ask(ctx, nil, m.mail, http.MethodGet, "/app/me", nil, &out, "", "")
			m.id = out.UserID
		}

		r.Trial.Know(m.id, m.mail)
		r.registerPhone(ctx, m)
	}
}

func (r *run) registerPhone(ctx context.Context, m *member) {
	if m.phone != "" {
		r.ask(ctx, nil, m.id, http.MethodPost, "/app/devices", map[string]string{"deviceToken": m.phone}, nil, "", "")
	}
}

// registerPhones does what apps do when they are opened: a registration ends after 90 days.
func (r *run) registerPhones(ctx context.Context) {
	for _, m := range r.members {
		r.registerPhone(ctx, m)
	}
}

func (r *run) rename(ctx context.Context, m *member) {
	name := m.name + "*"
	if r.ask(ctx, nil, m.id, http.MethodPatch, "/app/me", map[string]string{"name": name}, nil, "", "") {
		m.name = name
	}
}

// remove deletes a member.
func (r *run) remove(ctx context.Context, m *member) {
	if !r.admin(ctx, nil, http.MethodDelete, "/admin/users/"+m.id, nil, nil, "", "user_not_found") {
		return
	}

	drop := func(all []*member) []*member {
		return slices.DeleteFunc(slices.Clone(all), func(o *member) bool { return o == m })
	}

	r.members = drop(r.members)
	for _, l := range r.leagues {
		l.members = drop(l.members)
	}

	r.settle(ctx)
}

type leagueScreen struct {
	LeagueID, Name, OwnerID, Code string
	Members                       []struct{ UserID, Name string }
}

func (r *run) createLeague(ctx context.Context, owner *member, name string) {
	l := &league{name: name, members: []*member{owner}}

	var out leagueScreen

	_, again, err := r.call(ctx, owner.id, http.MethodPost, "/app/leagues", map[string]string{"name": name}, &out)
	if err != nil {
		r.fail(nil, "%v", err)
	}

	l.id = out.LeagueID
	r.Trial.Know(l.id, l.name)
	r.leagues = append(r.leagues, l)

	if !again {
		return
	}
	// A league of an attempt whose answer was lost is deleted.
	var mine struct {
		Leagues []struct{ LeagueID, Name string }
	}
	r.ask(ctx, nil, owner.id, http.MethodGet, "/app/leagues", nil, &mine, "", "")

	for _, o := range mine.Leagues {
		if o.Name == name && o.LeagueID != l.id {
			r.ask(ctx, nil, owner.id, http.MethodDelete, "/app/leagues/"+o.LeagueID, nil, nil, "", "league_not_found")
		}
	}
}

// code asks the owner of a league for its code.
func (r *run) code(ctx context.Context, l *league) string {
	var out leagueScreen
	r.ask(ctx, nil, l.members[0].id, http.MethodGet, "/app/leagues/"+l.id, nil, &out, "", "")
	r.Trial.Know(out.Code, "code")

	return out.Code
}

// join has a member who is not in a league join it. The last one to join stays out.
func (r *run) join(ctx context.Context, l *league, d *rand.Rand) {
	others := slices.DeleteFunc(slices.Clone(r.members), func(m *member) bool { return m.id == "" || slices.Contains(l.members, m) })
	if len(others) < 2 {
		return
	}

	m := others[d.IntN(len(others))]
	if r.ask(ctx, nil, m.id, http.MethodPost, "/app/leagues/join", map[string]string{"code": r.code(ctx, l)}, nil, "", "") {
		l.members = append(l.members, m)
	}
}

// leave has a member leave a league, who may be its owner.
func (r *run) leave(ctx context.Context, l *league, d *rand.Rand) {
	if len(l.members) < 3 {
		return
	}

	i := d.IntN(len(l.members))

	m := l.members[i]
	if r.ask(ctx, nil, m.id, http.MethodDelete, "/app/leagues/"+l.id+"/members/"+m.id, nil, nil, "", "league_not_found") {
		l.members = slices.Delete(l.members, i, i+1)
	}
}

// expel has the owner of a league remove a member, whose code is then an old one.
func (r *run) expel(ctx context.Context, l *league, d *rand.Rand) {
	if len(l.members) < 4 {
		return
	}

	old := r.code(ctx, l)
	i := 1 + d.IntN(len(l.members)-1)
	m, owner := l.members[i], l.members[0]
	r.ask(ctx, nil, m.id, http.MethodDelete, "/app/leagues/"+l.id+"/members/"+owner.id, nil, nil, "not_the_owner", "")

	if r.ask(ctx, nil, owner.id, http.MethodDelete, "/app/leagues/"+l.id+"/members/"+m.id, nil, nil, "", "member_not_found") {
		l.members = slices.Delete(l.members, i, i+1)

		r.ask(ctx, nil, m.id, http.MethodPost, "/app/leagues/join", map[string]string{"code": old}, nil, "code_not_found", "")
	}
}

func (r *run) announce(ctx context.Context, s *show) {
	s.exists = r.admin(ctx, s, http.MethodPost, "/admin/events", s.fields(), nil, "", "")
}

// fields is a show as an administrator announces it.
func (s *show) fields() map[string]any {
	date, slug := s.id[:len(time.DateOnly)], s.id[len(time.DateOnly)+1:]
	return map[string]any{"name": s.name, "date": date, "slug": slug, "startsAt": s.starts, "bonus": s.bonus}
}

func (s *show) admin() string { return "/admin/events/" + s.id }
func (s *show) app() string   { return "/app/events/" + s.id }

// team is a side as the API shows it.
type team struct {
	ID      string   `json:"id,omitempty"`
	Members []string `json:"members"`
}

type card []struct {
	ID, Name string
	Points   int
	Teams    []team
	Result   any
}

// screen is a show as a member sees it.
type screen struct {
	Name, State string
	LockAt      time.Time
	Card        card
	CardRev     int
	Prediction  *struct {
		Predictions map[string]string
		Void        []string
		Score       *row
	}
}

// fields is a match as an administrator sends it. known are the present teams of the match,
// whose ids say which names are of the same team.
func (m *match) fields(known map[*side]string) map[string]any {
	var teams []team
	for _, x := range m.sides {
		teams = append(teams, team{known[x], x.names})
	}

	return map[string]any{"name": m.name, "points": m.points, "teams": teams}
}

func (r *run) addMatch(ctx context.Context, s *show) {
	if !s.exists {
		return
	}

	m := r.newMatch(s)
	in := m.fields(nil)

	in["id"] = m.id
	if !s.openAt(r.Clock.Now()) {
		r.admin(ctx, s, http.MethodPost, s.admin()+"/matches", in, nil, "event_locked", "")
	} else if now := r.Clock.Now(); r.admin(ctx, s, http.MethodPost, s.admin()+"/matches", in, nil, "", "") {
		s.card = append(s.card, m)
		if players := slices.DeleteFunc(slices.Clone(r.members),
			func(u *member) bool { _, plays := s.picks[u]; return !plays }); len(players) > 0 {
			s.expect("added match", now, players)
		}

		s.did["matches"]++
	}
}

func (s *show) openAt(now time.Time) bool { return s.exists && now.Before(s.lock) }

// look reads a show as a member, and compares it with the world.
func (r *run) look(ctx context.Context, s *show, m *member) (seen screen, teams map[*side]string) {
	if !r.ask(ctx, s, m.id, http.MethodGet, s.app(), nil, &seen, "", "") {
		return seen, nil
	}

	teams = map[*side]string{}

	var got, want []string
	for i, c := range seen.Card {
		got = append(got, fmt.Sprint(c.ID, c.Name, c.Points, membersOf(c.Teams)))
		if i < len(s.card) && len(c.Teams) == len(s.card[i].sides) {
			for j, side := range s.card[i].sides {
				teams[side] = c.Teams[j].ID
			}
		}
	}

	for _, x := range s.card {
		var names [][]string
		for _, side := range x.sides {
			names = append(names, side.names)
		}

		want = append(want, fmt.Sprint(x.id, x.name, x.points, names))
	}

	if !slices.Equal(got, want) {
		s.fail("%s sees the card %q, want %q", m.name, got, want)
	}

	state := "broadcast"

	switch {
	case s.scored:
		state = "scored"
	case s.openAt(r.Clock.Now()):
		state = "upcoming"
	}

	if seen.State != state || seen.Name != s.name || !seen.LockAt.Equal(s.lock.Truncate(time.Second)) {
		s.fail("%s sees %s %s until %v, want %s %s until %v", m.name, seen.State, seen.Name, seen.LockAt, state, s.name, s.lock)
	}

	picks, plays := s.picks[m]
	if seen.Prediction == nil {
		if plays {
			s.fail("%s sees no prediction", m.name)
		}

		return seen, teams
	}

	shown, right := seen.Prediction.Predictions, map[string]string{}
	for x, side := range picks {
		right[x.id] = teams[side]
	}

	if !plays || fmt.Sprint(shown) != fmt.Sprint(right) ||
		fmt.Sprint(slices.Sorted(slices.Values(seen.Prediction.Void))) != fmt.Sprint(slices.Sorted(slices.Values(s.voided[m]))) {
		s.fail("%s sees the picks %v with %v void, want %v with %v", m.name, shown, seen.Prediction.Void, right, s.voided[m])
	}

	return seen, teams
}

func membersOf(teams []team) (all [][]string) {
	for _, t := range teams {
		all = append(all, t.Members)
	}

	return all
}

// choose draws picks for a share of a card.
func (s *show) choose(share float64, d *rand.Rand) map[*match]*side {
	picks := map[*match]*side{}

	for i, x := range s.card {
		if share == 1 || share > 0 && (i == 0 || d.Float64() < share) {
			picks[x] = x.sides[d.IntN(len(x.sides))]
		}
	}

	return picks
}

// save saves picks of the card that was seen. It must have the answer want.
func (r *run) save(ctx context.Context, s *show, m *member, seen screen, teams map[*side]string, picks map[*match]*side, want string) {
	in := map[string]string{}
	for x, side := range picks {
		in[x.id] = teams[side]
	}

	if r.ask(ctx, s, m.id, http.MethodPut, s.app()+"/predictions", map[string]any{"predictions": in, "cardRev": seen.CardRev}, nil, want, "") {
		s.picks[m], s.voided[m] = picks, nil
		r.picked++
		s.did["saves"]++
	}
}

// pick saves picks of a share of the matches, and must be refused after the lock.
func (r *run) pick(ctx context.Context, s *show, m *member, share float64) {
	if !s.exists {
		return
	}

	d := r.dice("pick", s.id, m.mail, r.Clock.Now().Unix())
	seen, teams := r.look(ctx, s, m)

	want := ""
	if !s.openAt(r.Clock.Now()) {
		want = "event_locked"
		s.did["late"]++
	}

	r.save(ctx, s, m, seen, teams, s.choose(share, d), want)
}

// withdraw deletes a member's prediction.
func (r *run) withdraw(ctx context.Context, s *show, m *member) {
	if s.exists && r.ask(ctx, s, m.id, http.MethodDelete, s.app()+"/predictions", nil, nil, "", "") {
		delete(s.picks, m)
		delete(s.voided, m)
	}
}

// moved is the kind of edit that moves a show.
const moved = 7

// edit returns a change of a show by the administrators.
func (r *run) edit(s *show, d *rand.Rand, early bool) func(context.Context) {
	kind, which := d.IntN(10), d.IntN(100)
	if !early && kind == moved {
		kind = 0
	}

	return func(ctx context.Context) {
		if !s.exists {
			return
		}

		d := r.dice("edit", s.id, kind, which)
		m, now := s.card[which%len(s.card)], r.Clock.Now()

		switch kind {
		case 0:
			r.addMatch(ctx, s)
		case 1: // which does not matter to who has seen the old order
			slow := r.members[d.IntN(len(r.members))]
			seen, teams := r.look(ctx, s, slow)
			r.order(ctx, s, d.Perm(len(s.card)))
			r.save(ctx, s, slow, seen, teams, s.choose(1, d), "")
		case 2:
			m.name += " (No Holds Barred)"
			r.putMatch(ctx, s, m, nil)
		case 3:
			m.points = 1 + d.IntN(25)
			r.putMatch(ctx, s, m, nil)
		case 4:
			r.replaceSide(ctx, s, m, d)
		case 5:
			if len(s.card) > 3 && !m.changed && r.admin(ctx, s, http.MethodDelete, s.admin()+"/matches/"+m.id, nil, nil, "", "match_not_found") {
				s.card = slices.DeleteFunc(slices.Clone(s.card), func(o *match) bool { return o == m })
				s.expect("removed match", now, s.unpick(r.world, m))
			}
		case 6:
			s.name += " II"
			r.admin(ctx, s, http.MethodPatch, s.admin(), map[string]any{"name": s.name}, nil, "", "")
		case 8:
			r.spell(ctx, s, m)
		case 9:
			teams := r.teams(ctx, s)
			m.sides = slices.Clone(m.sides)
			slices.Reverse(m.sides)
			r.putMatch(ctx, s, m, teams)
		case moved:
			by := []time.Duration{-day, 2 * time.Hour, day, 2 * day}[d.IntN(4)]
			r.move(ctx, s, by)
		}

		s.did["changes"]++
	}
}

// move moves a show, and its lock by the same time.
func (r *run) move(ctx context.Context, s *show, by time.Duration) bool {
	ok := s.exists && r.admin(ctx, s, http.MethodPatch, s.admin(), map[string]any{"startsAt": s.starts.Add(by)}, nil, "", "")
	if ok {
		s.starts, s.lock = s.starts.Add(by), s.lock.Add(by)
		s.did["moves"]++
	}

	return ok
}

// order puts the matches of a card into another order.
func (r *run) order(ctx context.Context, s *show, order []int) {
	var (
		ids  []string
		card []*match
	)
	for _, i := range order {
		ids, card = append(ids, s.card[i].id), append(card, s.card[i])
	}

	if r.admin(ctx, s, http.MethodPut, s.admin()+"/card", map[string]any{"matchIds": ids}, nil, "", "") {
		s.card = card
	}
}

// spell corrects the names of a side, whose picks stay.
func (r *run) spell(ctx context.Context, s *show, m *match) {
	teams := r.teams(ctx, s)
	m.sides[0].names = []string{m.sides[0].names[0] + " Jr."}
	r.putMatch(ctx, s, m, teams)
}

// putMatch replaces the fields of a match.
func (r *run) putMatch(ctx context.Context, s *show, m *match, teams map[*side]string) bool {
	if teams == nil {
		teams = r.teams(ctx, s)
	}

	return r.admin(ctx, s, http.MethodPut, s.admin()+"/matches/"+m.id, m.fields(teams), nil, "", "")
}

// teams reads the ids of the teams of a show.
func (r *run) teams(ctx context.Context, s *show) map[*side]string {
	var seen screen
	r.ask(ctx, s, r.members[0].id, http.MethodGet, s.app(), nil, &seen, "", "")

	teams := map[*side]string{}

	for _, c := range seen.Card {
		for _, x := range s.card {
			for j, side := range x.sides {
				if x.id == c.ID && j < len(c.Teams) {
					teams[side] = c.Teams[j].ID
				}
			}
		}
	}

	return teams
}

// replaceSide changes who competes in a match, which makes picks of it void. A member who has
// seen the card before saves a pick of it, too late.
func (r *run) replaceSide(ctx context.Context, s *show, m *match, d *rand.Rand) {
	if m.changed {
		return
	}

	slow := r.members[d.IntN(len(r.members))]
	seen, before := r.look(ctx, s, slow)
	stale := map[*match]*side{m: m.sides[0]}
	teams := r.teams(ctx, s)
	was := m.sides

	m.sides = slices.Clone(m.sides)
	if d.IntN(3) == 0 {
		m.sides = append(m.sides, newSide(s.card, d))
	} else {
		m.sides[d.IntN(len(m.sides))] = newSide(s.card, d)
	}

	now := r.Clock.Now()
	if !r.putMatch(ctx, s, m, teams) {
		m.sides = was
		return
	}

	m.changed = true
	s.expect("changed match", now, s.unpick(r.world, m))
	r.save(ctx, s, slow, seen, before, stale, "card_changed")
}

// expect records that members must get a notification for a change that was first sent at a
// time.
func (s *show) expect(what string, at time.Time, members []*member) {
	s.notices = append(s.notices, notice{what, at, at.Add(slotLate - 15*time.Minute), members})
}

// expectReminder records who must be reminded at a time before the lock.
func (r *run) expectReminder(s *show, what string, ahead, quiet time.Duration) {
	if s.openAt(r.Clock.Now()) {
		at := s.lock.Add(-ahead)
		s.notices = append(s.notices, notice{what, at, at.Add(quiet), s.undecided(r.members)})
	}
}

// callOff deletes a show with its predictions.
func (r *run) callOff(ctx context.Context, s *show) {
	if !r.admin(ctx, s, http.MethodDelete, s.admin(), nil, nil, "", "event_not_found") {
		return
	}

	s.exists = false
	r.admin(ctx, s, http.MethodPost, "/admin/events", s.fields(), nil, "event_deleting", "")
	r.settle(ctx)

	r.Busy = r.Clock.Now().Add(20 * time.Minute) // in which the rest is deleted
	for _, m := range r.members[:3] {
		r.ask(ctx, s, m.id, http.MethodGet, s.app(), nil, nil, "event_not_found", "")
		r.ask(ctx, s, m.id, http.MethodPut, s.app()+"/predictions", map[string]any{"predictions": map[string]any{}}, nil, "event_not_found", "")
	}

	r.checkNotices(s)
	r.checkTables(ctx, s)
}

// checkLocked: after the lock nobody's picks are shown, and the card is closed.
func (r *run) checkLocked(ctx context.Context, s *show) {
	if !s.exists {
		return
	}

	m := r.members[r.dice("locked", s.id).IntN(len(r.members))]
	r.look(ctx, s, m)
	r.ask(ctx, s, m.id, http.MethodGet, s.app()+"/results", nil, nil, "event_not_scored", "")
	r.addMatch(ctx, s)
	r.admin(ctx, s, http.MethodPost, s.admin()+"/score", nil, nil, "results_missing", "")
}

// enterResult enters the result of the n-th match. Some are entered wrong first.
func (r *run) enterResult(ctx context.Context, s *show, n int) {
	if !s.exists || n >= len(s.card) {
		return
	}

	d := r.dice("result", s.id, n)
	if d.IntN(6) == 0 {
		r.putResult(ctx, s, s.card[n], d)
	}

	r.putResult(ctx, s, s.card[n], d)
}

// putResult enters a result.
func (r *run) putResult(ctx context.Context, s *show, m *match, d *rand.Rand) {
	winner, result := void, any("void")

	if d.IntN(8) > 0 {
		n := d.IntN(len(m.sides))
		winner, result = m.sides[n], n
	}

	if r.admin(ctx, s, http.MethodPut, s.admin()+"/matches/"+m.id+"/result",
		map[string]any{"result": result, "reason": "as seen"}, nil, "", "") {
		if m.winner != nil && m.winner != winner {
			s.did["corrections"]++
		}

		m.winner = winner
	}
}

func (r *run) requestScore(ctx context.Context, s *show) {
	if s.exists && r.admin(ctx, s, http.MethodPost, s.admin()+"/score", nil, nil, "", "") {
		s.scored = true
		r.admin(ctx, s, http.MethodDelete, s.admin(), nil, nil, "event_scored", "")
	}
}

// correct changes what brought points, after the show was scored.
func (r *run) correct(ctx context.Context, s *show) {
	if !s.exists {
		return
	}

	d := r.dice("correct", s.id)
	for range 1 + d.IntN(2) {
		m := s.card[d.IntN(len(s.card))]
		switch d.IntN(6) {
		case 5:
			r.spell(ctx, s, m)
		case 0:
			m.points = 1 + d.IntN(25)
			r.putMatch(ctx, s, m, nil)
		case 1:
			s.bonus = []int{0, 15, 30}[d.IntN(3)]
			r.admin(ctx, s, http.MethodPatch, s.admin(), map[string]any{"bonus": s.bonus}, nil, "", "")
		default:
			r.putResult(ctx, s, m, d)
		}
	}
}

// clear clears a result of a scored show, which withdraws its points, and enters another.
func (r *run) clear(ctx context.Context, s *show) {
	if !s.exists || !s.scored {
		return
	}

	d := r.dice("cleared", s.id)

	m := s.card[d.IntN(len(s.card))]
	if !r.admin(ctx, s, http.MethodPut, s.admin()+"/matches/"+m.id+"/result",
		map[string]any{"result": nil, "reason": "under review"}, nil, "", "") {
		return
	}

	m.winner, s.scored = nil, false
	s.did["cleared"]++

	r.settle(ctx)

	for _, u := range r.members {
		if seen, _ := r.look(ctx, s, u); seen.Prediction != nil && seen.Prediction.Score != nil {
			s.fail("%s sees the score %v of a show that is not scored", u.name, *seen.Prediction.Score)
		}
	}

	r.ask(ctx, s, r.members[0].id, http.MethodGet, s.app()+"/results", nil, nil, "event_not_scored", "")
	r.admin(ctx, s, http.MethodPost, s.admin()+"/score", nil, nil, "results_missing", "")
	r.checkTables(ctx, s)
	r.putResult(ctx, s, m, d)
}

// checkScored compares the results of a show, the score that each member sees, the
// notifications about it, and the tables.
func (r *run) checkScored(ctx context.Context, s *show) {
	if !s.exists || !s.scored {
		return
	}

	r.settle(ctx)
	d := r.dice("check", s.id, r.Clock.Now().Unix())
	r.checkNotices(s)

	var rows []row

	r.pages(ctx, s, r.members[d.IntN(len(r.members))], s.app()+"/results?limit=5", "entries", func(text json.RawMessage) {
		e := row{Played: 1}
		if err := json.Unmarshal(text, &e); err != nil {
			s.fail("%v", err)
		}

		rows = append(rows, e)
	})

	for _, p := range differences("the results", rows, table(r.members, []*show{s})) {
		s.fail("%s", p)
	}

	for _, m := range r.members {
		seen, _ := r.look(ctx, s, m)
		if seen.Prediction != nil && seen.Prediction.Score != nil {
			got, want := *seen.Prediction.Score, s.points(m)
			if got.Points != want.Points || got.Correct != want.Correct || got.Bonus != want.Bonus {
				s.fail("%s sees the score %v, want %v", m.name, got, want)
			}
		} else if _, plays := s.picks[m]; plays {
			s.fail("%s sees no score", m.name)
		}
	}

	r.checkTables(ctx, s)
}

// pages calls do with each line of a list, page by page if the path ends with a limit.
func (r *run) pages(ctx context.Context, s *show, m *member, path, list string, do func(json.RawMessage)) {
	for cursor := ""; ; {
		var out map[string]json.RawMessage
		if !r.ask(ctx, s, m.id, http.MethodGet, path+cursor, nil, &out, "", "") {
			return
		}

		var lines []json.RawMessage
		if err := json.Unmarshal(out[list], &lines); err != nil {
			r.fail(s, "%s: %v", path, err)
		}

		for _, l := range lines {
			do(l)
		}

		var next string
		if json.Unmarshal(out["next"], &next) != nil || next == "" {
			return
		}

		cursor = "&cursor=" + next
	}
}

// checkTables compares the tables of the year, of all members and of the leagues.
func (r *run) checkTables(ctx context.Context, s *show) {
	d := r.dice("tables", s.id, r.Clock.Now().Unix())
	scored := slices.DeleteFunc(slices.Clone(r.shows), func(o *show) bool { return !o.exists || !o.scored })
	check := func(what, path string, asks *member, members []*member) {
		var rows []row

		r.pages(ctx, s, asks, path, "standings", func(text json.RawMessage) {
			var line row
			if err := json.Unmarshal(text, &line); err != nil {
				s.fail("%v", err)
			}

			rows = append(rows, line)
		})

		for _, p := range differences("the table of "+what, rows, year(members, scored)) {
			s.fail("%s", p)
		}
	}
	check("the year", "/app/standings/"+thisYear+"?limit=5", r.members[d.IntN(len(r.members))], r.members)

	for _, l := range r.leagues {
		path := "/app/leagues/" + l.id
		asks := l.members[d.IntN(len(l.members))]
		check(l.name, path+"/standings/"+thisYear, asks, l.members)

		var shown leagueScreen
		r.ask(ctx, s, asks.id, http.MethodGet, path, nil, &shown, "", "")

		var got, want []string
		for _, m := range shown.Members {
			got = append(got, m.Name)
		}

		for _, m := range l.members {
			want = append(want, m.name)
		}

		slices.Sort(got)
		slices.Sort(want)

		if !slices.Equal(got, want) || shown.OwnerID != l.members[0].id {
			s.fail("%s has the members %q of %s, want %q of %s", l.name, got, r.nameOf(shown.OwnerID), want, l.members[0].name)
		}

		if i := slices.IndexFunc(r.members, func(m *member) bool { return !slices.Contains(l.members, m) }); i >= 0 {
			r.ask(ctx, s, r.members[i].id, http.MethodGet, path, nil, nil, "league_not_found", "")
		}
	}
}

// checkNotices compares the notifications on the phones with those that members must get.
func (r *run) checkNotices(s *show) {
	received := 0

	for _, m := range r.members {
		if m.phone == "" {
			continue
		}

		var came []time.Time

		phone, _ := r.Fleet.Phones.Device(m.phone)
		for _, a := range phone.Alerts {
			var of struct{ EventID string }
			if err := json.Unmarshal(a.Payload, &of); err != nil {
				s.fail("%s cannot read a notification: %v", m.name, err)
			}

			if of.EventID == s.id {
				came = append(came, a.First)
			}
		}

		received += len(came)

		for _, n := range s.notices {
			got, want := 0, 0

			for _, at := range came {
				if !at.Before(n.from) && at.Before(n.to) {
					got++
				}
			}

			if slices.Contains(n.members, m) {
				want = 1
			}

			if got != want {
				s.fail("%s got %d notifications (%s), want %d", m.name, got, n.what, want)
			}
		}

		if i := slices.IndexFunc(came, func(at time.Time) bool {
			return !slices.ContainsFunc(s.notices, func(n notice) bool { return !at.Before(n.from) && at.Before(n.to) })
		}); i >= 0 {
			s.fail("%s got a notification at %v without a reason", m.name, came[i])
		}
	}

	r.received += received - s.did["notices"] // of an earlier check
	s.did["notices"] = received
}

// finish writes the line of a show.
func (r *run) finish(s *show) {
	what := "called off"
	if s.exists {
		what = "scored"
	}

	r.report(s, what)
}
