package threefc_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/idem"
	"matchday/pkg/kit/problem"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/notice"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/report"
	"matchday/pkg/threefc/season"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/takedown"
	"matchday/pkg/threefc/userdata"
)

// outcome is what a use case leaves.
type outcome struct {
	Rows     []string            // as JSON
	Messages map[string][]string // bodies by queue, without repetitions: the receivers are idempotent
	Mails    []string            // addresses and subjects, without repetitions: a crash may repeat a mail
}

// random are ids and hashes.
var random = regexp.MustCompile(`[0-7][0-9A-HJKMNP-TV-Z]{25}|[A-Za-z0-9_-]{43}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// outcome returns what the table and the queues have, without what differs from world to
// world: sessions, codes, and ids that the template does not have; and without the numbers
// of mails, which a crash may repeat, and the revisions of leagues that end, which each run writes.
func (m *match) outcome() outcome {
	m.T.Helper()

	known := map[string]bool{m.l.ID: true, m.l.SeasonID: true, m.l.SessionID: true, m.id: true}
	for _, p := range m.l.Players {
		known[p] = true
	}

	plain := func(text string) string {
		return random.ReplaceAllStringFunc(text, func(id string) string {
			if known[id] || strings.HasPrefix(id, "01JX") {
				return id
			}

			return "*"
		})
	}
	o := outcome{Messages: map[string][]string{}}

	for _, r := range everything(m.World) {
		switch r["entityType"] {
		case "AuthSession", "JoinCode", "InvitedMail", "Invitations", "Reporter", "Reported":
			continue
		case "EndingLeague":
			delete(r, "rev")
		}

		text, err := json.Marshal(r)
		testkit.Must(m.T, err)

		o.Rows = append(o.Rows, plain(string(text)))
	}

	slices.Sort(o.Rows)

	for _, f := range threefc.Room().Functions {
		for _, q := range f.Sends {
			bodies := map[string]bool{}
			for _, message := range m.Queues.Messages(q.Name) {
				bodies[plain(message.Body)] = true
			}

			o.Messages[q.Name] = slices.Sorted(maps.Keys(bodies))
		}
	}

	mails := map[string]bool{}
	for _, one := range m.Mail.Sent() {
		mails[one.To+" "+one.Subject] = true
	}

	o.Mails = slices.Sorted(maps.Keys(mails))

	return o
}

// settle lets two minutes pass, and runs the jobs until nothing is left to do.
func (m *match) settle() {
	m.T.Helper()
	m.pass(2 * time.Minute)
	testkit.Must(m.T, testkit.Open(m.World.World, standing.SweepOutboxFunction(), standing.Open).SweepOutbox(m.NewContext()))
	m.Aggregate()
}

// played leaves a finished game with goals, whose tables are computed. vic is a player.
func (m *match) played() {
	m.T.Helper()
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[0]+"/claim", nil)
	m.step("thirds/1/start")

	for i, against := range []string{"blue", "yellow", "yellow", "red"} {
		g := m.goalOf(2*i, against)
		g.EventID = m.eventID()
		m.score("sam", g)
	}

	m.Play("sam", m.id)
	m.Aggregate()
}

// heard leaves a finished game and a session of tomorrow, in which lena and vic play. No mail is sent yet.
func (m *match) heard() {
	m.T.Helper()
	m.lena()
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[4]+"/claim", nil)
	m.tomorrow()
	m.step("thirds/1/start")
	m.Play("sam", m.id)
	m.Aggregate()
}

// moved leaves a game that has moved, with its session, and that lena plays.
func (m *match) moved() {
	m.T.Helper()
	m.lena()
	m.Do("vic", "POST", "/v1/players/"+m.l.Players[4]+"/claim", nil)
	m.Do("lena", "PUT", "/v1/sessions/"+m.l.SessionID+"/availability", map[string]any{"status": "in"})
	m.moveTo(20)
	m.Do("sam", "PATCH", "/v1/sessions/"+m.l.SessionID, map[string]any{"sessionDate": "2026-06-14"})
}

// reminding is a use case that decides who gets a mail.
func reminding(in func(*match) notice.Remind) func(*match, context.Context, app.Env) error {
	return func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, notice.OpenNotifier).RemindSession(ctx, in(m))
	}
}

// mailing is a use case that mails lena.
func mailing(in func(*match) notice.Mail) func(*match, context.Context, app.Env) error {
	return func(m *match, ctx context.Context, env app.Env) error {
		mail := in(m)
		mail.UserID = decode[struct{ UserID string }](m, "lena", "GET", session, nil).UserID

		return open(m, env, notice.OpenMailer).SendMail(ctx, mail)
	}
}

// useCase is a use case of several writes.
type useCase struct {
	name   string
	fn     app.Function
	spared []string // calls that may fail without an error
	before func(*match)
	run    func(*match, context.Context, app.Env) error
}

// open opens a service.
func open[S any](m *match, env app.Env, opener app.Opener[S]) S {
	m.T.Helper()
	return testkit.OpenWith(m.World.World, env, opener)
}

var (
	ann = auth.User{UserID: "ann"}
)

// lateID is the id of a goal that came too late.
const lateID = "01JX0000000000000000007777"

// useCases are those that make more than one write, and the jobs.
var useCases = []useCase{
	{"finish a game", game.FinishGameFunction(), []string{"SendMessage*"}, func(m *match) {
		m.step("thirds/1/start")
		m.score("sam", m.goalOf(0, "blue"))
		m.step("thirds/1/finish", "thirds/2/start", "thirds/2/finish", "thirds/3/start", "thirds/3/finish")
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, game.Open).FinishGame(ctx, &game.EndGame{User: ann, GameID: m.id, Key: idem.Key{IdempotencyKey: "K"}})
		return err
	}},
	{"correct a finished game", game.UndoGoalFunction(), []string{"SendMessage*"}, (*match).played,
		func(m *match, ctx context.Context, env app.Env) error {
			_, err := open(m, env, game.Open).DeleteGoal(ctx, &game.DeleteGoal{User: ann, GameID: m.id, EventID: "01JX0000000000000000000001"})
			return err
		}},
	{"correct a game of an earlier release", game.UndoGoalFunction(), []string{"SendMessage*"}, func(m *match) {
		m.played()
		m.earlier()
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, game.Open).DeleteGoal(ctx, &game.DeleteGoal{User: ann, GameID: m.id, EventID: "01JX0000000000000000000001"})
		return err
	}},
	{"accept a goal that came too late", game.AcceptProposalFunction(), []string{"SendMessage*"}, func(m *match) {
		m.played()

		g := m.goalOf(1, "blue")
		g.EventID = lateID
		m.late("sam", g)
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, game.Open).AcceptProposal(ctx, &game.AcceptProposal{User: ann, GameID: m.id, EventID: lateID})
		return err
	}},
	{"undo the start of a game", game.UndoThirdFunction(), []string{"SendMessage*"}, func(m *match) { m.step("thirds/1/start") },
		func(m *match, ctx context.Context, env app.Env) error {
			_, err := open(m, env, game.OpenScoring).UndoThird(ctx, &game.UndoThird{
				User: ann, GameID: m.id, Third: 1, Step: "start", Key: idem.Key{IdempotencyKey: "K"},
			})
			return err
		}},
	{"abandon a game", game.PutStateFunction(), []string{"SendMessage*"}, func(m *match) {
		m.step("thirds/1/start")
		m.score("sam", m.goalOf(0, "blue"))
	}, func(m *match, ctx context.Context, env app.Env) error {
		in := &game.PutState{User: ann, GameID: m.id, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.State, in.Body.Stands = item.Abandoned, true
		_, err := open(m, env, game.Open).PutState(ctx, in)

		return err
	}},
	{"move a game", game.UpdateGameFunction(), nil, (*match).lena, func(m *match, ctx context.Context, env app.Env) error {
		in := &game.UpdateGame{User: ann, GameID: m.id, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.StartTs = new(threefctest.Noon.Add(30 * time.Hour))
		_, err := open(m, env, game.Open).UpdateGame(ctx, in)

		return err
	}},
	{"move a session", season.MoveSessionFunction(), nil, func(m *match) {
		m.Do("ann", "PATCH", "/v1/seasons/"+m.l.SeasonID, map[string]any{"timeZone": "Europe/London"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		in := &season.MoveSession{User: ann, SessionID: m.l.SessionID, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Date = "2026-11-07"
		_, err := open(m, env, season.OpenMover).MoveSession(ctx, in)

		return err
	}},
	{"put a squad on the roster", game.PutLineUpFunction(), []string{"SendMessage*"}, func(m *match) {
		for _, id := range m.l.Players {
			m.Do("sam", "DELETE", m.path("roster", id), nil)
		}

		var ids []string
		for _, name := range []string{"Jo", "Kim"} { // who were in no team yet
			ids = append(ids, decode[struct{ PlayerID string }](m, "sam", "POST", "/v1/players",
				map[string]any{"leagueId": m.l.ID, "nickname": name}).PlayerID)
		}

		m.Do("sam", "PUT", "/v1/seasons/"+m.l.SeasonID+"/teams/red/squad", map[string]any{"playerIds": ids})
	}, func(m *match, ctx context.Context, env app.Env) error {
		in := &game.PutLineUp{User: ann, GameID: m.id, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.From = "squad"
		_, err := open(m, env, game.Open).PutLineUp(ctx, in)

		return err
	}},
	{"change the rules of a season", season.UpdateSeasonFunction(), []string{"SendMessage*"}, (*match).played,
		func(m *match, ctx context.Context, env app.Env) error {
			in := &season.UpdateSeason{User: ann, SeasonID: m.l.SeasonID, Key: idem.Key{IdempotencyKey: "K"}}
			in.Body.Rules = &season.RuleFields{Order: []string{item.ByPoints, item.ByName}}
			_, err := open(m, env, season.Open).UpdateSeason(ctx, in)

			return err
		}},
	{"delete a finished game", game.DeleteGameFunction(), []string{"SendMessage*"}, func(m *match) {
		m.Do("sam", "POST", m.path("join-code"), nil)
		m.played()
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, game.Open).DeleteGame(ctx, &game.DeleteGame{User: ann, GameID: m.id})
		return gone(err)
	}},
	{"delete a season", season.DeleteSeasonFunction(), nil, func(m *match) {
		m.played()
		m.Do("ann", "DELETE", m.path(), nil) // the tables are still as they were
		m.lose()
		m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil)
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, season.Open).DeleteSeason(ctx, &season.DeleteSeason{User: ann, SeasonID: m.l.SeasonID})
		return gone(err)
	}},
	{"delete a league", league.DeleteLeagueFunction(), nil, func(m *match) {
		m.played()
		m.Do("ann", "DELETE", m.path(), nil)
		m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil)
		m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID, nil)
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, league.Open).DeleteLeague(ctx, &league.DeleteLeague{User: ann, LeagueID: m.l.ID})
		if strings.HasSuffix(text(err), "members of the league") { // by the run before
			err = nil
		}

		return err
	}},
	{"delete a league with its seasons", league.EndLeagueFunction(), nil, (*match).played,
		func(m *match, ctx context.Context, env app.Env) error {
			_, err := open(m, env, league.Open).EndLeague(ctx, &league.EndLeague{User: ann, LeagueID: m.l.ID})
			if strings.HasSuffix(text(err), "members of the league") { // by the run before
				err = nil
			}

			return err
		}},
	{"restore a league", league.RestoreLeagueFunction(), nil, func(m *match) {
		m.played()
		m.end()
	}, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, league.Open).RestoreLeague(ctx, &league.RestoreLeague{User: ann, LeagueID: m.l.ID})
		return err
	}},
	{"drop leagues", league.DropLeaguesFunction(), nil, func(m *match) {
		m.played()
		m.end()
		m.pass(25 * time.Hour)
		m.lose()
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, league.OpenDropper).DropLeagues(ctx)
	}},
	{"rename a player", player.UpdatePlayerFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		in := &player.UpdatePlayer{User: ann, PlayerID: m.l.Players[0], Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Nickname = "Ace"
		_, err := open(m, env, player.Open).UpdatePlayer(ctx, in)

		return err
	}},
	{"merge players", player.MergePlayerFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		in := &player.MergePlayer{User: ann, PlayerID: m.l.Players[0], Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Into = m.l.Players[1]
		_, err := open(m, env, player.Open).MergePlayer(ctx, in)

		return err
	}},
	{"delete a player", player.DeletePlayerFunction(), nil, func(m *match) {
		m.Do("eve", "POST", "/v1/join/"+m.code(), map[string]any{"nickname": "Evie"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		evie := slices.DeleteFunc(m.players(), func(id string) bool { return slices.Contains(m.l.Players, id) })
		if len(evie) == 0 { // by the run before
			return nil
		}

		_, err := open(m, env, player.Open).DeletePlayer(ctx, &player.DeletePlayer{User: ann, PlayerID: evie[0]})

		return err
	}},
	{"drop the own claim", player.DropClaimFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, player.Open).DropClaim(ctx, &player.DropClaim{User: auth.User{UserID: "vic"}, PlayerID: m.l.Players[0]})
		return err
	}},
	{"drop the claim of another", player.DropClaimFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, player.Open).DropClaim(ctx, &player.DropClaim{User: ann, PlayerID: m.l.Players[0]})
		return err
	}},
	{"invite a member", league.InviteFunction(), nil, func(m *match) { m.Accounts() }, func(m *match, ctx context.Context, env app.Env) error {
		in := &league.Invite{User: ann, LeagueID: m.l.ID, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Email, in.Body.Role = "otto@example.com", item.Viewer

		_, err := open(m, env, league.OpenInviter).Invite(ctx, in)
		if n := len(m.Mail.Mailbox("otto@example.com")); err == nil && n == 0 {
			return errors.New("the member has no mail")
		}

		return err
	}},
	{"accept an invitation", league.AcceptFunction(), nil, func(m *match) {
		m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "eve@example.com", "role": "viewer"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		m.Routes[league.AcceptFunction().Name] = testkit.ServeWith(m.World.World, league.AcceptFunction(), env)
		return testkit.Failed(m.Ask("eve", "POST", "/v1/leagues/"+m.l.ID+"/accept", nil))
	}},
	{"accept an invitation by a form", league.SubmitInvitationFunction(), nil, func(m *match) {
		m.Do("ann", "POST", "/v1/leagues/"+m.l.ID+"/access", map[string]any{"email": "eve@example.com", "role": "viewer"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, league.SubmitInvitationFunction(), "eve", "/invitations/"+m.l.ID, "")
	}},
	{"join by a form", player.SubmitJoinFunction(), nil, func(m *match) { m.code() }, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, player.SubmitJoinFunction(), "", "/join/"+m.latestCode(), "key=K&nickname=Foxy")
	}},
	{"claim and join by a form", player.SubmitJoinFunction(), nil, func(m *match) { m.code() }, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, player.SubmitJoinFunction(), "eve", "/join/"+m.latestCode(), "key=K&player="+m.l.Players[0])
	}},
	{"leave the pool", player.LeavePoolFunction(), nil, func(m *match) {
		m.Do("eve", "POST", "/v1/join/"+m.code(), map[string]any{"nickname": "Evie"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		evie := slices.DeleteFunc(m.players(), func(id string) bool { return slices.Contains(m.l.Players, id) })
		_, err := open(m, env, player.Open).LeavePool(ctx, &player.LeavePool{User: ann, GameID: m.id, PlayerID: evie[0]})

		return err
	}},
	{"make a league private", league.UpdateLeagueFunction(), nil, func(*match) {}, func(m *match, ctx context.Context, env app.Env) error {
		in := &league.UpdateLeague{User: ann, LeagueID: m.l.ID, Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Visibility = item.Private
		_, err := open(m, env, league.Open).UpdateLeague(ctx, in)

		return err
	}},
	{"hide a player", player.UpdatePlayerFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		in := &player.UpdatePlayer{User: ann, PlayerID: m.l.Players[0], Key: idem.Key{IdempotencyKey: "K"}}
		in.Body.Display = item.NoName
		_, err := open(m, env, player.Open).UpdatePlayer(ctx, in)

		return err
	}},
	{"answer a session by a form", notice.SubmitAvailabilityFunction(), nil, (*match).played,
		func(m *match, ctx context.Context, env app.Env) error {
			return m.submit(env, notice.SubmitAvailabilityFunction(), "vic", "/sessions/"+m.l.SessionID+"/me", "status=in")
		}},
	{"choose mails by a form", notice.SubmitPreferencesFunction(), nil, func(*match) {}, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, notice.SubmitPreferencesFunction(), "vic", "/preferences/me", "reminders=on")
	}},
	{"compute the tables", standing.AggregateSeasonFunction(), nil, func(m *match) {
		m.step("thirds/1/start")
		m.score("sam", m.goalOf(0, "blue"))
		m.Play("sam", m.id)
		m.lose()
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, standing.Open).AggregateSeason(ctx, game.Changed{SeasonID: m.l.SeasonID, GameID: m.id})
	}},
	{"compute the tables again", standing.AggregateSeasonFunction(), nil, func(m *match) {
		m.played()
		m.Do("ann", "DELETE", m.path("goals/01JX0000000000000000000001"), nil)
		m.Do("ann", "POST", "/v1/players/"+m.l.Players[1]+"/merge", map[string]any{"intoPlayerId": m.l.Players[2]})
		m.lose()
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, standing.Open).AggregateSeason(ctx, game.Changed{SeasonID: m.l.SeasonID, GameID: m.id})
	}},
	{"sweep the outbox", standing.SweepOutboxFunction(), nil, func(m *match) {
		m.step("thirds/1/start")
		m.Play("sam", m.id)
		m.lose()
		m.pass(time.Minute)
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, standing.Open).SweepOutbox(ctx)
	}},
	{"ask for mails about a finished game", notice.NotifyFinishFunction(), nil, (*match).heard,
		func(m *match, ctx context.Context, env app.Env) error {
			return open(m, env, notice.OpenNotifier).NotifyFinish(ctx, standing.Finished{GameID: m.id})
		}},
	{"ask for reminders", notice.RemindSessionFunction(), nil, (*match).heard,
		reminding(func(m *match) notice.Remind { return notice.Remind{SessionID: m.l.SessionID} })},
	{"ask for mails about a session that has moved", notice.RemindSessionFunction(), nil, (*match).moved,
		reminding(func(m *match) notice.Remind {
			return notice.Remind{Move: game.Move{SessionID: m.l.SessionID, Count: 1}}
		})},
	{"ask for mails about a game that has moved", notice.RemindSessionFunction(), nil, (*match).moved,
		reminding(func(m *match) notice.Remind { return notice.Remind{Move: game.Move{GameID: m.id, Count: 1}} })},
	{"send the reminders of the hour", notice.SendRemindersFunction(), nil, (*match).heard,
		func(m *match, ctx context.Context, env app.Env) error {
			return open(m, env, notice.OpenNotifier).SendReminders(ctx)
		}},
	{"mail a result", notice.SendMailFunction(), nil, (*match).heard,
		mailing(func(m *match) notice.Mail { return notice.Mail{GameID: m.id} })},
	{"mail a reminder", notice.SendMailFunction(), nil, (*match).heard,
		mailing(func(m *match) notice.Mail { return notice.Mail{SessionID: m.l.SessionID} })},
	{"mail a move of a session", notice.SendMailFunction(), nil, (*match).moved,
		mailing(func(m *match) notice.Mail { return notice.Mail{Move: game.Move{SessionID: m.l.SessionID, Count: 1}} })},
	{"mail a move of a game", notice.SendMailFunction(), nil, (*match).moved,
		mailing(func(m *match) notice.Mail { return notice.Mail{Move: game.Move{GameID: m.id, Count: 1}} })},
	{"forget a player", userdata.ForgetUserFunction(), nil, func(m *match) {
		m.played()

		for _, i := range []int{0, 1} {
			m.Do("ann", "POST", "/v1/players/"+m.l.Players[i]+"/merge", map[string]any{"intoPlayerId": m.l.Players[2]})
		}
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, userdata.Open).ForgetUser(ctx, account.Request{Job: "J", UserID: "vic"})
	}},
	{"forget an administrator", userdata.ForgetUserFunction(), nil, func(m *match) {
		m.Do("ann", "POST", "/v1/leagues", map[string]any{"name": "Mine alone"}, threefctest.Key("K"))
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, userdata.Open).ForgetUser(ctx, account.Request{Job: "J", UserID: "ann"})
	}},
	{"forget the last member", userdata.ForgetUserFunction(), nil, func(m *match) {
		m.played()

		for _, user := range []string{"vic", "sam", "sue"} {
			m.forget(user)
		}
	}, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, userdata.Open).ForgetUser(ctx, account.Request{Job: "J", UserID: "ann"})
	}},
	{"take a league down", takedown.Function(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, takedown.Open).TakeDown(ctx, takedown.TakeDown{League: m.l.ID, Delete: true})
		return err
	}},
	{"take a player's name down", takedown.Function(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		_, err := open(m, env, takedown.Open).TakeDown(ctx, takedown.TakeDown{PlayerID: m.l.Players[0]})
		return err
	}},
	{"ask to remove a name", report.SubmitReportFunction(), nil, func(m *match) {
		m.Do("ann", "PATCH", "/v1/players/"+m.l.Players[1], map[string]any{"nickname": "Ada"})
	}, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, report.SubmitReportFunction(), "", "/report/parkside", "action=remove&name=Ada")
	}},
	{"remove a name", report.SubmitReportFunction(), nil, func(m *match) {
		m.played()
		m.Ask("", "POST", "/report/parkside", "action=remove&name=Ada&text=Please", formType)
	}, func(m *match, ctx context.Context, env app.Env) error {
		return m.submit(env, report.SubmitReportFunction(), "ann", "/report/parkside", "action=accept&player="+m.l.Players[0])
	}},
	{"remove a name as an operator", report.OperateFunction(), nil, func(m *match) {
		m.played()
		m.Ask("", "POST", "/report/parkside", "action=remove&name=Ada&text=Please", formType)
	}, func(m *match, ctx context.Context, env app.Env) error {
		in := &report.Operate{Admin: auth.Admin{User: ann}, League: m.l.ID}
		in.Body.Action, in.Body.PlayerID = "remove-name", m.l.Players[0]
		_, err := open(m, env, report.Open).Operate(ctx, in)

		return err
	}},
	{"hide a league", report.OperateFunction(), nil, func(*match) {}, func(m *match, ctx context.Context, env app.Env) error {
		in := &report.Operate{Admin: auth.Admin{User: ann}, League: "parkside"}
		in.Body.Action = "hide"
		_, err := open(m, env, report.Open).Operate(ctx, in)

		return err
	}},
	{"export a user", userdata.ExportUserFunction(), nil, (*match).played, func(m *match, ctx context.Context, env app.Env) error {
		return open(m, env, userdata.Open).ExportUser(ctx, account.Request{Job: "J", UserID: "vic"})
	}},
}

// submit sends a form to a function in an environment.
func (m *match) submit(env app.Env, fn app.Function, user, target, form string) error {
	m.Routes[fn.Name] = testkit.ServeWith(m.World.World, fn, env)
	return testkit.Failed(m.Ask(user, "POST", target, form, formType))
}

// latestCode is the last join code.
func (m *match) latestCode() (code string) {
	for _, r := range everything(m.World) {
		if id, ok := strings.CutPrefix(r["pk"].(string), "JOIN#"); ok {
			code = max(code, id)
		}
	}

	return code
}

// players are the ids of the players of the league.
func (m *match) players() (all []string) {
	for _, p := range decode[struct{ Players []player.Player }](m, "ann", "GET", "/v1/leagues/"+m.l.ID+"/players", nil).Players {
		all = append(all, p.PlayerID)
	}

	return all
}

// gone takes what a run before has deleted for success.
func gone(err error) error {
	if errors.Is(err, item.ErrScope) {
		return nil
	}

	return err
}

func text(err error) string {
	if err == nil {
		return ""
	}

	return err.Error()
}

// TestCrashes: wherever a use case dies, the next run and the jobs that follow leave what
// they leave without a crash. A failing call is an error of the run.
func TestCrashes(t *testing.T) {
	t.Parallel()

	for _, c := range useCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) outcome {
				m := club(t)
				c.before(m)

				if p.Ended(c.run(m, m.NewContext(), m.CrashingEnv(c.fn, p)), c.spared...) {
					testkit.Must(t, c.run(m, m.NewContext(), m.Env(c.fn)))
				}

				m.settle()

				return m.outcome()
			})
		})
	}
}

// swept are the use cases that jobs complete if the request is not repeated: they have an outbox, or send the message of
// the mail before they write.
var swept = []string{
	"move a game", "finish a game", "correct a finished game", "correct a game of an earlier release", "accept a goal that came too late",
	"abandon a game", "change the rules of a season", "rename a player", "hide a player", "merge players",
	"take a player's name down",
}

// TestRequestIsNotRepeated: wherever a use case dies, the jobs alone leave what they leave without a crash, or what they
// leave if there was no request.
func TestRequestIsNotRepeated(t *testing.T) {
	t.Parallel()

	for _, name := range swept {
		c := useCases[slices.IndexFunc(useCases, func(c useCase) bool { return c.name == name })]

		t.Run(name, func(t *testing.T) {
			t.Parallel()

			end := func(t *testing.T, run func(m *match)) outcome {
				m := club(t)
				m.Accounts()
				c.before(m)
				run(m)
				m.settle()
				m.Notify()

				return m.outcome()
			}
			none := end(t, func(*match) {})
			whole := end(t, func(m *match) { testkit.Must(t, c.run(m, m.NewContext(), m.Env(c.fn))) })

			dynamotest.CheckDeaths(t, func(t *testing.T, p *dynamotest.Process) outcome {
				got := end(t, func(m *match) { p.Ended(c.run(m, m.NewContext(), m.CrashingEnv(c.fn, p)), c.spared...) })
				if cmp.Equal(got, none) {
					return whole
				}

				return got
			})
		})
	}
}

// TestSecondRunChangesNothing: of each of them.
func TestSecondRunChangesNothing(t *testing.T) {
	t.Parallel()

	for _, c := range useCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := club(t)
			c.before(m)

			run := func() outcome {
				testkit.Must(t, c.run(m, m.NewContext(), m.Env(c.fn)))
				m.Aggregate()

				return m.outcome()
			}
			first := run()
			same(t, "the outcome of the second run", run(), first)
		})
	}
}

// after returns an environment in which do runs once, after the first call of an operation.
func after(env app.Env, operation string, do func()) app.Env {
	env.AWS = env.AWS.Copy()
	done := false

	env.AWS.APIOptions = append(slices.Clone(env.AWS.APIOptions), func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("after",
			func(ctx context.Context, in middleware.InitializeInput,
				next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleInitialize(ctx, in)
				if awsmiddleware.GetOperationName(ctx) == operation && !done {
					done = true

					do()
				}

				return out, meta, err
			}), middleware.After)
	})

	return env
}

// TestNoMessageWaits: each job is asked for at once, by one message.
func TestNoMessageWaits(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.tomorrow()
	m.played()
	ctx, vic := m.NewContext(), account.Request{Job: "J", UserID: "vic"}
	testkit.Must(t, testkit.Open(m.World.World, notice.SendRemindersFunction(), notice.OpenNotifier).SendReminders(ctx))
	testkit.Must(t, testkit.Open(m.World.World, notice.NotifyFinishFunction(), notice.OpenNotifier).NotifyFinish(ctx,
		standing.Finished{GameID: m.id}))
	testkit.Must(t, testkit.Open(m.World.World, userdata.ExportUserFunction(), userdata.Open).ExportUser(ctx, vic))
	testkit.Must(t, testkit.Open(m.World.World, userdata.ForgetUserFunction(), userdata.Open).ForgetUser(ctx, vic))
	m.Do("sam", "DELETE", "/v1/account", nil)

	got := map[string]int{}

	for _, f := range threefc.Room().Functions {
		for _, q := range f.Sends {
			all := m.Queues.Messages(q.Name)

			got[q.Name] = len(all)
			for _, one := range all {
				if !one.Visible.Equal(one.Sent) {
					t.Errorf("%s: %s waits for %v", q.Name, one.Body, one.Visible.Sub(one.Sent))
				}
			}
		}
	}

	same(t, "the messages", got, map[string]int{
		game.AggregateQueue.Name:  1,
		standing.FinishQueue.Name: 1,
		notice.RemindQueue.Name:   1,
		notice.MailQueue.Name:     1,
		account.DeleteQueue.Name:  1,
		account.DoneQueue.Name:    2,
	})
}

// TestSameTablesAreNotWritten: who computes them again pays for reads only.
func TestSameTablesAreNotWritten(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.pass(time.Second)
	s := testkit.Open(m.World.World, standing.AggregateSeasonFunction(), standing.Open)
	u := m.CountUnits(func() {
		testkit.Must(t, s.AggregateSeason(m.NewContext(), game.Changed{SeasonID: m.l.SeasonID, GameID: m.id}))
	})
	same(t, "the write units", u.Writes, 0.0)
}

// TestLiveGameHasNoTables: what changes before a game is finished asks for none.
func TestLiveGameHasNoTables(t *testing.T) {
	t.Parallel()
	m := kickOff(t)
	listing := func() stored {
		return testkit.Row[stored](m.World.World, tables.App, item.SeasonKey(m.l.SeasonID), item.StartKey("2026-06-06T18:00:00Z", m.id))
	}
	was := listing()

	m.pass(time.Second)
	m.score("sam", m.goalOf(0, "blue"))
	m.Do("ann", "DELETE", m.path("goals", m.goals()[0].EventID), nil)
	same(t, "the game in the lists, which does not have the score yet", listing(), was)
	m.Do("sam", "PATCH", m.path(), map[string]any{"location": "Pitch 2"})
	second := m.Schedule("ann", m.l)
	m.Do("ann", "DELETE", "/v1/games/"+second, nil)
	same(t, "the messages", len(m.Queues.Messages(game.AggregateQueue.Name)), 0)

	for _, r := range everything(m.World) {
		if r["pk"] == item.OutboxKey {
			t.Errorf("the outbox has %v", r)
		}
	}
}

// TestCorrectionWhileTheTablesAreComputed: a correction that is made after the games were
// read, and whose message is lost, reaches the tables by the sweep of the outbox.
func TestCorrectionWhileTheTablesAreComputed(t *testing.T) {
	t.Parallel()

	for _, later := range []time.Duration{0, time.Second} {
		t.Run(later.String(), func(t *testing.T) {
			t.Parallel()
			correctWhileTheTablesAreComputed(t, later)
		})
	}
}

func correctWhileTheTablesAreComputed(t *testing.T, later time.Duration) {
	m := club(t)
	m.step("thirds/1/start")
	g := m.goalOf(0, "blue")
	g.EventID = m.eventID()
	m.score("sam", g)
	m.Play("sam", m.id)
	m.lose()
	env := after(m.Env(standing.AggregateSeasonFunction()), "Query", func() {
		m.pass(later)
		m.Do("ann", "DELETE", m.path("goals", g.EventID), nil)
		m.lose()
	})
	testkit.Must(t, open(m, env, standing.Open).AggregateSeason(m.NewContext(), game.Changed{SeasonID: m.l.SeasonID, GameID: m.id}))
	same(t, "the leaders by the games that were read", m.leaders(), "Ada 1 0 1")
	m.settle()
	same(t, "the leaders afterwards", m.leaders(), "")
}

// left are the keys of the items that mention an id.
func (m *match) left(id string) (all []string) {
	m.T.Helper()

	for _, r := range everything(m.World) {
		text, err := json.Marshal(r)
		testkit.Must(m.T, err)

		if strings.Contains(string(text), id) && r["entityType"] != "Answer" && r["entityType"] != "AuthSession" {
			all = append(all, r["pk"].(string)+" "+r["sk"].(string))
		}
	}

	slices.Sort(all)

	return all
}

// TestDeletionsLeaveNothing: of a game, its session, its season and its league.
func TestDeletionsLeaveNothing(t *testing.T) {
	t.Parallel()
	m := club(t)
	c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	m.Do("eve", "POST", "/v1/join/"+c, map[string]any{"nickname": "Evie"})
	m.played()
	m.Do("ann", "DELETE", m.path(), nil)
	m.Aggregate()
	// The code expires, and the calendar forgets the game.
	same(t, "of the game", m.left(m.id), []string{"JOIN#" + c + " METADATA", item.SeasonKey(m.l.SeasonID) + " CANCELLED#" + m.id})
	m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil)
	m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID, nil)
	same(t, "of the season", m.left(m.l.SeasonID), []string(nil))
	m.Do("ann", "DELETE", "/v1/leagues/"+m.l.ID, nil)
	same(t, "of the league", m.left(m.l.ID), []string(nil))
	same(t, "of a player", m.left(m.l.Players[0]), []string(nil))
	m.Do("eve", "POST", "/v1/leagues", map[string]any{"name": "Parkside", "slug": "parkside"}) // the slug is free
}

// TestSeasonIsDeletedBeforeItsTables: a season that goes before the tables of its last game
// were computed leaves nothing with its players.
func TestSeasonIsDeletedBeforeItsTables(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.played()
	m.Do("ann", "DELETE", m.path(), nil)
	m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil)
	m.Do("ann", "DELETE", "/v1/seasons/"+m.l.SeasonID, nil)
	m.settle()
	same(t, "of the season", m.left(m.l.SeasonID), []string(nil))
	same(t, "the numbers of the player", m.Do("vic", "GET", "/v1/me/stats", nil).Body, `{"seasons":[]}`+"\n")
}

// TestGameIsDeletedWhileOthersChangeIt: who joins, or is put on the roster, between the
// steps of a deletion leaves nothing.
func TestGameIsDeletedWhileOthersChangeIt(t *testing.T) {
	t.Parallel()

	for _, step := range []string{"Query", "BatchWriteItem", "GetItem"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			m := kickOff(t)
			c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
			m.score("sam", m.goalOf(0, "blue"))
			env := after(m.Env(game.DeleteGameFunction()), step, func() {
				m.Ask("sam", "POST", m.path("goals"), m.goalOf(3, "red"))
				m.Ask("sam", "PUT", m.path("roster", m.l.Players[8]), map[string]any{"teamId": "blue"})
				m.Ask("eve", "POST", "/v1/join/"+c, map[string]any{"nickname": "Evie"})
			})
			seen := httpapi.IfMatch{Match: testkit.Header(m.Do("ann", "GET", m.path(), nil)).Get("ETag")}
			_, err := open(m, env, game.Open).DeleteGame(m.NewContext(), &game.DeleteGame{User: ann, GameID: m.id, IfMatch: seen})
			testkit.Must(t, err) // what has lost its goals must go, though its revision is another

			var left []string

			for _, r := range everything(m.World) {
				if r["pk"] == item.GameKey(m.id) {
					left = append(left, r["sk"].(string))
				}
			}

			same(t, "of the game", left, []string(nil))
		})
	}
}

// TestSeasonIsNotDeleted: one that gets a session between the steps of its deletion stays, with
// its teams.
func TestSeasonIsNotDeleted(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Do("ann", "DELETE", m.path(), nil)
	m.Do("ann", "DELETE", "/v1/sessions/"+m.l.SessionID, nil)
	env := after(m.Env(season.DeleteSeasonFunction()), "Query", func() {
		m.Do("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-06-07"})
	})

	_, err := open(m, env, season.Open).DeleteSeason(m.NewContext(), &season.DeleteSeason{User: ann, SeasonID: m.l.SeasonID})
	if problem.Of(err) != problem.Conflict || !strings.Contains(text(err), "has sessions") {
		t.Errorf("got %v, want a refusal", err)
	}

	same(t, "the teams", len(decode[struct{ Teams []item.Team }](m, "vic", "GET", "/v1/seasons/"+m.l.SeasonID+"/teams", nil).Teams), 3)
}

// TestSessionIsDeletedWhilePlayersAnswer: who answers between the steps of a deletion, or
// whose answer is under way when the session goes, leaves nothing.
func TestSessionIsDeletedWhilePlayersAnswer(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (m *match, path string) {
		m = club(t)
		m.Do("ann", "DELETE", m.path(), nil)

		for i, user := range []string{"vic", "sam"} {
			m.Do(user, "POST", "/v1/players/"+m.l.Players[i]+"/claim", nil)
		}

		return m, "/v1/sessions/" + m.l.SessionID
	}
	check := func(m *match) {
		m.T.Helper()
		m.lose()
		// The calendar forgets the game.
		same(m.T, "of the session", m.left(m.l.SessionID), []string{item.SeasonKey(m.l.SeasonID) + " CANCELLED#" + m.id})
	}

	for _, step := range []string{"Query", "BatchWriteItem"} {
		t.Run("answer after "+step, func(t *testing.T) {
			t.Parallel()
			m, path := begin(t)
			m.Do("vic", "PUT", path+"/availability", map[string]any{"status": "in"})
			env := after(m.Env(season.DeleteSessionFunction()), step, func() {
				m.Ask("sam", "PUT", path+"/availability", map[string]any{"status": "in"})
			})
			_, err := open(m, env, season.Open).DeleteSession(m.NewContext(), &season.DeleteSession{User: ann, SessionID: m.l.SessionID})
			testkit.Must(t, err)
			check(m)
		})
	}

	for _, step := range []string{"GetItem", "Query"} {
		t.Run("deletion after "+step, func(t *testing.T) {
			t.Parallel()
			m, path := begin(t)
			env := after(m.Env(notice.PutAvailabilityFunction()), step, func() { m.Do("ann", "DELETE", path, nil) })
			in := &notice.PutAvailability{User: auth.User{UserID: "vic"}, SessionID: m.l.SessionID, Key: idem.Key{IdempotencyKey: "K"}}
			in.Body.Status = "in"

			_, err := open(m, env, notice.Open).PutAvailability(m.NewContext(), in)
			if !errors.Is(err, item.ErrScope) {
				t.Errorf("the answer is refused with %v, want %v", err, item.ErrScope)
			}

			check(m)
		})
	}
}
