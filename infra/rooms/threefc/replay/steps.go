package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"matchday/infra/rooms/threefc/browser"
)

// found has Ann found the league, with two scorekeepers, a viewer and the players, some of
// whom users claim.
func (r *run) found(ctx context.Context) {
	person := func(name string) *user { return &user{name: name, mail: strings.ToLower(name) + "@example.com"} }
	r.admin, r.viewer, r.scorers = person("Ann"), person("Vic"), []*user{person("Sam"), person("Tess")}
	r.removed, r.guest = person("Una"), &user{name: "Pia", guest: true}
	r.enter(ctx, r.admin)

	var made struct{ LeagueID, SeasonID, PlayerID, Slug string }
	r.keyed(ctx, nil, r.admin, http.MethodPost, "/v1/leagues", map[string]string{"name": "Parkside", "slug": "parkside"}, &made, "")
	r.league = made.LeagueID
	r.Trial.Know(r.league, "league")
	r.keyed(ctx, nil, r.admin, http.MethodPost, "/v1/leagues/"+r.league+"/seasons",
		map[string]string{"name": "Spring 2026", "timeZone": "Europe/London"}, &made, "")
	r.season, r.slug = made.SeasonID, "parkside/"+made.Slug
	r.Trial.Know(r.season, "season")

	for _, t := range teams {
		r.keyed(ctx, nil, r.admin, http.MethodPut, "/v1/seasons/"+r.season+"/teams/"+t, struct{}{}, nil, "")
	}

	for _, u := range append(slices.Clone(r.scorers), r.removed, r.viewer) {
		r.enter(ctx, u)

		role := "scorekeeper"
		if u == r.viewer {
			role = "viewer"
		}

		r.keyed(ctx, nil, r.admin, http.MethodPost, "/v1/leagues/"+r.league+"/access", map[string]string{"email": u.mail, "role": role}, nil, "")
		r.keyed(ctx, nil, u, http.MethodPost, "/v1/leagues/"+r.league+"/accept", nil, nil, "")
	}

	for i, name := range nicknames {
		p := &player{nickname: name}
		if r.keyed(ctx, nil, r.admin, http.MethodPost, "/v1/players", map[string]string{"leagueId": r.league, "nickname": name}, &made, "") {
			p.id = made.PlayerID
			r.Trial.Know(p.id, name)
			r.players = append(r.players, p)
		}

		if i%3 == 0 && p.id != "" {
			p.claimed = person(name + "son")
			r.enter(ctx, p.claimed)
			r.keyed(ctx, nil, r.admin, http.MethodPost, "/v1/leagues/"+r.league+"/access",
				map[string]string{"email": p.claimed.mail, "role": "viewer"}, nil, "")
			r.keyed(ctx, nil, p.claimed, http.MethodPost, "/v1/leagues/"+r.league+"/accept", nil, nil, "")
			r.keyed(ctx, nil, p.claimed, http.MethodPost, "/v1/players/"+p.id+"/claim", nil, nil, "")
			r.keyed(ctx, nil, r.viewer, http.MethodPost, "/v1/players/"+p.id+"/claim", nil, nil, "already_claimed")
		}
	}
}

// enter signs a user in for the first time.
func (r *run) enter(ctx context.Context, u *user) {
	if err := r.signIn(ctx, u); err != nil {
		r.fail(nil, "%v", err)
		return
	}

	var who struct{ UserID string }
	r.ask(ctx, nil, u, http.MethodGet, "/v1/auth/session", nil, &who, "")
	r.Trial.Know(who.UserID, u.mail)
	u.id = who.UserID
	r.mails[u.mail] = map[string]bool{}
}

// playSession announces a session and plays its games.
func (r *run) playSession(ctx context.Context, n int) {
	d := r.dice("session", n)
	day := firstDay.AddDate(0, 0, 7*n)

	date := day.Format(time.DateOnly)
	if r.Until(ctx, day.AddDate(0, 0, -3).Add(18*time.Hour)) != nil {
		return
	}

	var made struct{ SessionID, GameID, Slug string }
	if !r.keyed(ctx, nil, r.scorers[0], http.MethodPost, "/v1/seasons/"+r.season+"/sessions",
		map[string]string{"sessionDate": date}, &made, "") {
		return
	}

	session := made.SessionID
	r.Trial.Know(session, date)

	answers := map[string]string{} // by the nickname

	for _, p := range r.players {
		if p.claimed == nil || p.claimed.deleted {
			continue
		}

		status := []string{"in", "out", "maybe", ""}[d.IntN(4)]
		if status != "" {
			r.keyed(ctx, nil, p.claimed, http.MethodPut, "/v1/sessions/"+session+"/availability", map[string]string{"status": status}, nil, "")
			answers[p.nickname] = status
		}

		if status == "" || status == "maybe" {
			r.mails[p.claimed.mail]["/sessions/"+session] = true
		}
	}

	r.keyed(ctx, nil, r.viewer, http.MethodPut, "/v1/sessions/"+session+"/availability",
		map[string]string{"status": "in"}, nil, "player_needed")

	var today []*match

	for g := range r.cfg.Games {
		at := day.Add(18*time.Hour + time.Duration(g)*80*time.Minute)

		m := &match{day: day, name: fmt.Sprintf("%s game %d", date, g+1), roster: map[*player]string{}, did: map[string]int{}}
		if r.keyed(ctx, m, r.scorers[g%2], http.MethodPost, "/v1/sessions/"+session+"/games",
			map[string]any{"gameStartTs": at, "thirdLength": []int{20, 25, 30}[d.IntN(3)], "location": "Pitch 2"}, &made, "") {
			m.id, m.slug = made.GameID, made.Slug
			r.Trial.Know(m.id, m.name)
		}

		r.games = append(r.games, m)
		today = append(today, m)
	}

	for g, m := range today {
		if r.Until(ctx, day.Add(17*time.Hour+50*time.Minute+time.Duration(g)*80*time.Minute)) != nil {
			return
		}

		if g == 0 {
			r.answer(ctx, d, session, answers)
			r.invite(ctx, m, session)
		}

		switch {
		case m.id == "":
		case n == 2:
			r.rain(ctx, m, r.dice("game", n, g), g, answers)
		default:
			r.playGame(ctx, m, r.dice("game", n, g))
		}
	}

	r.revoke(ctx, today[len(today)-1], session)

	switch n {
	case 0:
		r.remove(ctx, today[0])
	case 1:
		r.leave(ctx)
		r.close(ctx, today[0])
	}
}

// rain is a game of a day on which it rains: the first of the day is abandoned, to the second not all teams come,
// and the third is postponed, of which those who are in are told.
func (r *run) rain(ctx context.Context, m *match, d *rand.Rand, nth int, answers map[string]string) {
	state := map[string]any{}

	switch nth % 3 {
	case 0:
		r.lineUp(ctx, m, d, r.scorers[0])
		r.keyed(ctx, m, r.scorers[0], http.MethodPost, "/v1/games/"+m.id+"/thirds/1/start", struct{}{}, nil, "")

		for minute := range 1 + d.IntN(3) {
			r.record(ctx, m, r.admin, r.newGoal(m, d, 1, minute))
		}

		m.finished = d.IntN(2) == 0
		state["state"], state["resultStands"] = "abandoned", m.finished
		m.did["abandoned"]++
	case 1:
		m.finished, m.absent = true, slices.Clone(teams[:1+d.IntN(2)])
		state["state"], state["absentTeamIds"] = "walkover", m.absent
		m.did["missing teams"] += len(m.absent)
	default:
		state["state"] = "postponed"
		m.did["postponed"]++

		for _, p := range r.players {
			if answers[p.nickname] == "in" {
				r.mails[p.claimed.mail][r.page(m)] = true
			}
		}
	}

	r.keyed(ctx, m, r.scorers[1], http.MethodPut, "/v1/games/"+m.id+"/state", state, nil, "")
	r.expectMails(m)
	r.settle(ctx)

	if m.finished {
		r.checkGame(ctx, m)
	}

	r.checkTables(ctx)
	r.report(m)
}

// close makes the league private for a while: it does not exist for everybody, and members see what they saw.
func (r *run) close(ctx context.Context, m *match) {
	see := func(code string) {
		r.ask(ctx, m, nil, http.MethodGet, "/v1/public/seasons/"+r.season+"/standings", nil, nil, code)
		r.ask(ctx, m, r.viewer, http.MethodGet, "/v1/games/"+m.id, nil, nil, "")

		var tables struct{ Teams []place }
		if r.ask(ctx, m, r.viewer, http.MethodGet, "/v1/seasons/"+r.season+"/tables", nil, &tables, "") {
			r.same(m, "the standings for members", tables.Teams, r.standings())
		}
	}

	for _, visibility := range []string{"private", "unlisted", "public"} {
		r.keyed(ctx, m, r.admin, http.MethodPatch, "/v1/leagues/"+r.league, map[string]string{"visibility": visibility}, nil, "")
		see(map[string]string{"private": "not_found"}[visibility])
	}
}

// lineUp puts twelve players on the roster of a game.
func (r *run) lineUp(ctx context.Context, m *match, d *rand.Rand, by *user) {
	path := "/v1/games/" + m.id

	for i, at := range d.Perm(len(r.players))[:12] {
		p := r.players[at]

		team := teams[i%3]
		if d.IntN(8) == 0 { // a mistake first
			r.keyed(ctx, m, by, http.MethodPut, path+"/roster/"+p.id, map[string]string{"teamId": teams[(i+1)%3]}, nil, "")
			m.did["roster changes"]++
		}

		if r.keyed(ctx, m, by, http.MethodPut, path+"/roster/"+p.id, map[string]string{"teamId": team}, nil, "") {
			m.roster[p] = team
		}
	}
}

// page is the end of the address of a game in a mail.
func (r *run) page(m *match) string { return "/l/" + r.slug + "/" + m.slug + "\n" }

// expectMails notes the mails about a finished game.
func (r *run) expectMails(m *match) {
	if !m.finished {
		return
	}

	for p := range m.roster {
		for _, of := range []*user{p.claimed, p.now().claimed} {
			if of != nil && !of.deleted {
				r.mails[of.mail][r.page(m)] = true
			}
		}
	}
}

// answer has parents follow the links of the reminders, and compares who will play with the oracle.
func (r *run) answer(ctx context.Context, d *rand.Rand, session string, answers map[string]string) {
	for _, p := range r.players {
		if p.claimed == nil || p.claimed.deleted || d.IntN(2) == 0 {
			continue
		}

		link := ""
		for _, m := range r.Fleet.Mail.Mailbox(p.claimed.mail) {
			if _, rest, ok := strings.Cut(m.Text, "/sessions/"+session); ok {
				link = "/sessions/" + session + strings.Fields(rest)[0]
			}
		}

		if link == "" {
			continue
		}

		parent := browser.New(r.Fleet.URL + "/threefc") // on another phone, which nobody has signed in
		_, _, err := r.Try(ctx, func() error {
			return parent.Submit(ctx, parent.URL()+link, url.Values{"status": {"in"}})
		})
		if err != nil {
			r.fail(nil, "the link of a reminder of %s: %v", p.claimed.name, err)
			continue
		}

		answers[p.nickname] = "in"
	}

	var list struct {
		Players []struct{ Nickname, Status string }
	}
	if !r.ask(ctx, nil, r.viewer, http.MethodGet, "/v1/sessions/"+session+"/availability", nil, &list, "") {
		return
	}

	got := map[string]string{}
	for _, a := range list.Players {
		got[a.Nickname] = a.Status
	}

	r.same(nil, "who will play", got, answers)
}

// invite gives the guest the PIN of a session. A wrong one lets nobody in.
func (r *run) invite(ctx context.Context, m *match, session string) {
	var made struct{ PIN string }
	r.ask(ctx, m, r.admin, http.MethodPut, "/v1/sessions/"+session+"/scoring-pin", nil, &made, "")

	enter := "/v1/sessions/" + session + "/scorers"
	r.ask(ctx, m, nil, http.MethodPost, enter, map[string]string{"pin": "00000000"}, nil, "invalid_or_expired_pin")
	r.ask(ctx, m, r.guest, http.MethodPost, enter, map[string]string{"pin": made.PIN}, nil, "")
}

// revoke ends the PIN of a session, after which the guest sees and scores nothing.
func (r *run) revoke(ctx context.Context, m *match, session string) {
	r.ask(ctx, m, r.guest, http.MethodGet, "/v1/games/"+m.id, nil, nil, "")
	r.ask(ctx, m, r.admin, http.MethodDelete, "/v1/sessions/"+session+"/scoring-pin", nil, nil, "")
	r.ask(ctx, m, r.guest, http.MethodGet, "/v1/games/"+m.id, nil, nil, "league_access_required")
}

// remove ends the membership of a scorekeeper, who then may do nothing.
func (r *run) remove(ctx context.Context, m *match) {
	r.ask(ctx, m, r.admin, http.MethodDelete, "/v1/leagues/"+r.league+"/access/"+r.removed.id, nil, nil, "")
	r.refuse(ctx, m, r.removed, http.MethodPost, "/v1/games/"+m.id+"/goals", body(m.goals[0]), "league_access_required")
	r.ask(ctx, m, r.removed, http.MethodGet, "/v1/games/"+m.id, nil, nil, "league_access_required")
}

// merge merges a player of the game's roster whom nobody has claimed with one whom somebody has: the user then
// gets the mail about the game, and what the first has done counts for the second.
func (r *run) merge(ctx context.Context, m *match) {
	var from, into *player

	for _, p := range r.players {
		switch {
		case p.claimed == nil && m.roster[p] != "":
			from = p
		case p.claimed != nil && !p.claimed.deleted:
			into = p // the last: the first is about to leave
		}
	}

	if r.keyed(ctx, m, r.admin, http.MethodPost, "/v1/players/"+from.id+"/merge", map[string]string{"intoPlayerId": into.id}, nil, "") {
		from.into = into
		r.players = slices.DeleteFunc(r.players, func(p *player) bool { return p == from })
		r.merged = append(r.merged, from)
		m.did["merged"]++
	}
}

// playGame plays a game, and compares what everybody sees afterwards.
func (r *run) playGame(ctx context.Context, m *match, d *rand.Rand) {
	path := "/v1/games/" + m.id

	by := r.scorers[d.IntN(2)]
	r.lineUp(ctx, m, d, by)

	if len(r.merged) == 0 && m != r.games[0] {
		r.merge(ctx, m)
	}

	r.refuse(ctx, m, by, http.MethodPost, path+"/thirds/2/start", struct{}{}, "bad_third_transition")
	r.refuse(ctx, m, by, http.MethodPost, path+"/thirds/1/finish", struct{}{}, "bad_third_transition")
	r.refuse(ctx, m, by, http.MethodPost, path+"/goals", body(r.newGoal(m, d, 1, 0)), "game_not_live")

	for third := 1; third <= 3; third++ {
		begun := r.Clock.Now()
		r.keyed(ctx, m, by, http.MethodPost, fmt.Sprintf("%s/thirds/%d/start", path, third), map[string]any{"at": begun}, nil, "")

		minute := 0
		for range d.IntN(6) {
			minute += 1 + d.IntN(5)
			if r.Until(ctx, begun.Add(time.Duration(minute)*time.Minute+10*time.Second)) != nil {
				return
			}

			r.score(ctx, m, d, []*user{r.scorers[0], r.scorers[1], r.guest}[d.IntN(3)], third, minute)
		}

		if r.Until(ctx, begun.Add(22*time.Minute)) != nil {
			return
		}

		r.refuse(ctx, m, by, http.MethodPost, path+"/finish", nil, "thirds_unfinished")

		for range 1 + d.IntN(2) { // a double tap
			r.keyed(ctx, m, by, http.MethodPost, fmt.Sprintf("%s/thirds/%d/finish", path, third), struct{}{}, nil, "")
		}

		if d.IntN(4) == 0 { // a wrong tap
			step := fmt.Sprintf("%s/thirds/%d/finish", path, third)
			r.keyed(ctx, m, by, http.MethodPost, step+"/undo", nil, nil, "")
			r.keyed(ctx, m, by, http.MethodPost, step, struct{}{}, nil, "")
			m.did["undone steps"]++
		}

		late := r.newGoal(m, d, third, minute)
		r.refuse(ctx, m, by, http.MethodPost, path+"/goals", body(late), "third_not_running")

		switch d.IntN(4) {
		case 0: // the administrator has seen it
			r.record(ctx, m, r.admin, late)
			m.did["late goals"]++
		case 1, 2:
			r.propose(ctx, m, d, by, late)
		}
	}

	r.keyed(ctx, m, by, http.MethodPost, path+"/finish", nil, nil, "")

	m.finished = true
	r.expectMails(m)

	r.refuse(ctx, m, by, http.MethodPost, path+"/goals", body(r.newGoal(m, d, 1, 3)), "game_finished")

	if d.IntN(3) == 0 {
		r.settle(ctx) // so that the tables have the wrong score
	}

	switch d.IntN(5) {
	case 0:
		r.edit(ctx, m, d, r.admin)
		m.did["corrections"]++
	case 1:
		r.keyed(ctx, m, r.admin, http.MethodPost, path+"/reopen", nil, nil, "")
		m.reopened = true
		r.edit(ctx, m, d, by)

		if r.record(ctx, m, by, r.newGoal(m, d, 1+d.IntN(3), d.IntN(20))) {
			m.did["added"]++
		}

		m.reopened = false
		r.keyed(ctx, m, by, http.MethodPost, path+"/finish", nil, nil, "")
		m.did["reopened"]++
	}

	r.settle(ctx)
	r.checkGame(ctx, m)
	r.checkTables(ctx)
	r.report(m)
}

// propose has a scorekeeper send a goal that comes too late, which an administrator accepts or dismisses.
func (r *run) propose(ctx context.Context, m *match, d *rand.Rand, by *user, late *goal) {
	path := "/v1/games/" + m.id
	in := body(late)
	in["proposeIfLate"] = true

	var made struct{ Proposed bool }
	if !r.keyed(ctx, m, by, http.MethodPost, path+"/goals", in, &made, "") {
		return
	}

	r.same(m, "the goal waits", made.Proposed, true)

	late.at = r.key
	if d.IntN(2) == 0 {
		r.ask(ctx, m, r.admin, http.MethodPost, path+"/proposals/"+late.id+"/accept", nil, nil, "")
		m.goals = append(m.goals, late)
		r.goals++
		m.did["accepted"]++

		return
	}

	r.ask(ctx, m, r.admin, http.MethodDelete, path+"/proposals/"+late.id, nil, nil, "")
	r.refuse(ctx, m, by, http.MethodPost, path+"/goals", in, "goal_removed")
	m.did["dismissed"]++
}

// refuse is a request that must be refused.
func (r *run) refuse(ctx context.Context, m *match, u *user, method, path string, in any, want string) {
	r.keyed(ctx, m, u, method, path, in, nil, want)
}

// newGoal returns a goal that the rules allow.
func (r *run) newGoal(m *match, d *rand.Rand, third, minute int) *goal {
	order := d.Perm(3)
	g := &goal{third: third, minute: minute, scoring: teams[order[0]], conceding: teams[order[1]], own: d.IntN(8) == 0}

	of := g.scoring
	if g.own {
		of, g.scoring = g.conceding, ""
	}

	all := m.of(of)

	g.scorer = all[d.IntN(len(all))]
	if others := slices.DeleteFunc(m.of(of), func(p *player) bool { return p == g.scorer }); d.IntN(2) == 0 && !g.own {
		g.assists = []*player{others[d.IntN(len(others))]}
	}

	g.id = ulid.MustNew(ulid.Timestamp(r.Clock.Now()), source{d}).String()
	r.Trial.Know(g.id, fmt.Sprintf("%s goal %d", m.name, r.key))

	return g
}

// source is a source of random bytes.
type source struct{ *rand.Rand }

func (s source) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s.Uint32())
	}

	return len(p), nil
}

// body is the request for a goal.
func body(g *goal) map[string]any {
	in := map[string]any{
		"eventId":         g.id,
		"third":           g.third,
		"gameMinute":      g.minute,
		"concedingTeamId": g.conceding,
		"ownGoal":         g.own,
	}
	if g.scorer != nil {
		in["scorerPlayerId"] = g.scorer.id
	}

	if !g.own {
		in["scoringTeamId"] = g.scoring
	}

	assists := []string{}
	for _, p := range g.assists {
		assists = append(assists, p.id)
	}

	in["assistPlayerIds"] = assists

	return in
}

// record records a goal, and remembers it.
func (r *run) record(ctx context.Context, m *match, u *user, g *goal) bool {
	if !r.keyed(ctx, m, u, http.MethodPost, "/v1/games/"+m.id+"/goals", body(g), nil, "") {
		return false
	}

	g.at = r.key
	m.goals = append(m.goals, g)
	r.goals++

	return true
}

// score has a scorekeeper record a goal as phones do: some taps are sent again, some are
// taken back, some are corrected.
func (r *run) score(ctx context.Context, m *match, d *rand.Rand, by *user, third, minute int) {
	path := "/v1/games/" + m.id + "/goals"

	g := r.newGoal(m, d, third, minute)
	scorer := g.scorer

	if d.IntN(6) == 0 { // nobody has seen who it was
		g.scorer = nil
		m.did["unknown"]++
	}

	if d.IntN(5) == 0 {
		r.refuse(ctx, m, r.viewer, http.MethodPost, path, body(g), "scorekeeper_required")
	}

	if !r.record(ctx, m, by, g) {
		return
	}

	tag := r.browser(by).ETag()
	again := func() { // the same tap, of a phone that has lost the answer, or of the other phone
		r.ask(ctx, m, by, http.MethodPost, path, body(g), nil, "", "Idempotency-Key", fmt.Sprintf("tap-%d", g.at))
		r.keyed(ctx, m, r.scorers[0], http.MethodPost, path, body(g), nil, "")
		m.did["double taps"]++
	}

	switch d.IntN(8) {
	case 0, 1:
		again()
	case 2: // undo, twice
		r.keyed(ctx, m, by, http.MethodPost, path+"/undo", nil, nil, "", "If-Match", tag)
		r.refuse2(ctx, m, by, path+"/undo", tag)
		m.goals = m.goals[:len(m.goals)-1]
		r.keyed(ctx, m, by, http.MethodPost, path, body(g), nil, "goal_removed")
		m.did["undone"]++
	case 3:
		r.ask(ctx, m, by, http.MethodDelete, path+"/"+g.id, nil, nil, "")
		r.ask(ctx, m, by, http.MethodDelete, path+"/"+g.id, nil, nil, "")
		m.goals = m.goals[:len(m.goals)-1]
		m.did["deleted"]++
	case 4:
		r.edit(ctx, m, d, by)
	case 5:
		if g.scorer == nil { // somebody has
			g.scorer = scorer
			in := body(g)
			delete(in, "eventId")
			r.keyed(ctx, m, by, http.MethodPatch, path+"/"+g.id, in, nil, "")
			m.did["named"]++
		}
	}
}

// refuse2 is the second tap on undo.
func (r *run) refuse2(ctx context.Context, m *match, by *user, path, tag string) {
	r.keyed(ctx, m, by, http.MethodPost, path, nil, nil, "stale", "If-Match", tag)
}

// edit moves a goal to another third and minute, with another scorer. A scorekeeper may do
// so within the third that runs, and everywhere in a reopened game.
func (r *run) edit(ctx context.Context, m *match, d *rand.Rand, by *user) {
	if len(m.goals) == 0 {
		return
	}

	was := m.goals[d.IntN(len(m.goals))]

	third, want := was.third, ""
	if by == r.admin || m.reopened {
		third = 1 + d.IntN(3)
	} else if was.third != m.goals[len(m.goals)-1].third { // the latest is of the third that runs
		want = "third_not_running"
	}

	next := r.newGoal(m, d, third, d.IntN(24))
	next.id, next.at = was.id, was.at
	in := body(next)
	delete(in, "eventId")

	if r.keyed(ctx, m, by, http.MethodPatch, "/v1/games/"+m.id+"/goals/"+was.id, in, nil, want) && want == "" {
		*was = *next
		m.did["edited"]++
	}
}

// leave deletes the account of a user who has claimed a player: the player keeps the goals,
// and loses the name.
func (r *run) leave(ctx context.Context) {
	for _, p := range r.players {
		if p.claimed == nil {
			continue
		}

		u := p.claimed
		r.ask(ctx, nil, u, http.MethodDelete, "/v1/account", nil, nil, "")
		u.deleted, p.claimed = true, nil

		r.settle(ctx)

		p.nickname = "Former player"

		break
	}

	r.settle(ctx)
}

// checkGame compares a game with the oracle, as a member and as everybody sees it.
func (r *run) checkGame(ctx context.Context, m *match) {
	type line struct {
		TeamID           string
		Scored, Conceded int
	}

	type result struct {
		WinnerTeamID string
		DrawnTeamIDs []string
	}

	var got struct {
		Status string
		Scores []line
		Result result
	}

	want := map[string]score{}

	for _, u := range []*user{r.viewer, nil} {
		path := "/v1/games/" + m.id

		if u == nil {
			league, season, _ := strings.Cut(r.slug, "/")
			path = "/v1/public/leagues/" + league + "/seasons/" + season + "/games/" + m.slug
		}

		got.Scores = nil
		if !r.ask(ctx, m, u, http.MethodGet, path, nil, &got, "") {
			continue
		}

		clear(want)

		for _, l := range got.Scores {
			want[l.TeamID] = score{l.Scored, l.Conceded}
		}

		r.same(m, "the score", want, m.scores())

		best := got.Result.DrawnTeamIDs
		if got.Result.WinnerTeamID != "" {
			best = []string{got.Result.WinnerTeamID}
		}

		slices.Sort(best)
		expected := m.best()
		slices.Sort(expected)
		r.same(m, "the result", best, expected)
		r.same(m, "the status", got.Status, "finished")
	}

	var list struct {
		Goals []struct {
			EventID           string
			Third, GameMinute int
		}
	}
	if r.ask(ctx, m, r.viewer, http.MethodGet, "/v1/games/"+m.id+"/goals", nil, &list, "") {
		var got, want []string
		for _, g := range list.Goals {
			got = append(got, fmt.Sprintf("%d %04d %s", g.Third, g.GameMinute, g.EventID))
		}

		for _, g := range m.goals {
			want = append(want, fmt.Sprintf("%d %04d %s", g.third, g.minute, g.id))
		}

		slices.Sort(want)
		r.same(m, "the timeline", got, want)
	}
}

// same records a difference.
func (r *run) same(m *match, what string, got, want any) {
	r.checked++
	if diff := cmp.Diff(want, got); diff != "" {
		r.fail(m, "%s (-want +got):\n%s", what, diff)
	}
}

// checkTables compares the standings and the players with the oracle.
func (r *run) checkTables(ctx context.Context) {
	var m *match
	if len(r.games) > 0 {
		m = r.games[len(r.games)-1]
	}

	if !slices.ContainsFunc(r.games, func(m *match) bool { return m.finished }) {
		return
	}

	var standings struct{ Teams []place }
	if r.ask(ctx, m, nil, http.MethodGet, "/v1/public/seasons/"+r.season+"/standings", nil, &standings, "") {
		r.same(m, "the standings", standings.Teams, r.standings())
	}

	var leaders struct{ Players []total }
	if r.ask(ctx, m, nil, http.MethodGet, "/v1/public/seasons/"+r.season+"/leaderboards/players?limit=100", nil, &leaders, "") {
		r.same(m, "the players", leaders.Players, r.totals())
	}
}

// checkMails compares the mails about games and sessions with those that must have arrived:
// each once; in a run with faults a mail whose answer was lost may come again.
func (r *run) checkMails() {
	for address, want := range r.mails {
		came := map[string]int{}

		for _, m := range r.Fleet.Mail.Mailbox(address) {
			if strings.Contains(m.Text, "/sign-in?token=") || strings.Contains(m.Subject, "invited") {
				continue
			}

			found := false

			for text := range want {
				if strings.Contains(m.Text, text) {
					came[text]++
					found = true
				}
			}

			if !found {
				r.fail(nil, "%s got a mail that nobody expects: %s", address, m.Subject)
			}
		}

		for text := range want {
			r.checked++
			if n := came[text]; n == 0 || n > 1 && r.Trial == nil {
				r.fail(nil, "%s got %d mails about %s, want one", address, n, strings.TrimSpace(text))
			}
		}
	}
}
