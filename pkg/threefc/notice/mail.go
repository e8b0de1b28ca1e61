// Package notice stores whether players will play in a session, and sends mails about finished
// games and reminders of sessions.
//
// A mail goes only to a user who has claimed a player, once for each game and session. It is sent
// before it is marked as sent, so that a crash repeats it rather than loses it.
package notice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"matchday/pkg/kit/account"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/mail"
	"matchday/pkg/kit/queue"
	"matchday/pkg/kit/userpool"
	"matchday/pkg/spec"
	"matchday/pkg/threefc/game"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/league"
	"matchday/pkg/threefc/player"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
	"matchday/pkg/threefc/tables"
	"matchday/pkg/threefc/web"
)

// keepMark is how long a mail is remembered as sent.
const keepMark = 90 * 24 * time.Hour

// Notifier decides who gets a mail.
type Notifier struct {
	db    dynamo.DB
	now   func() time.Time
	queue queue.Sender
}

// OpenNotifier opens the service.
func OpenNotifier(_ context.Context, env app.Env) (*Notifier, error) {
	return &Notifier{dynamo.Open(env.AWS, env.Prefix), env.Now, queue.Open(env.AWS, env.Queues)}, nil
}

// NotifyFinishFunction requests a mail to each user who has played in a finished game.
func NotifyFinishFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/notify-finish",
		Does:   "Asks for a mail to each user who has played in a finished game.",
		IfDown: "Nobody gets a mail about a finished game.",
		On:     standing.FinishQueue,
		Uses:   []spec.Access{tables.GetGame, tables.ListRoster}, Sends: []spec.Queue{MailQueue},
		Memory: 256, Timeout: time.Minute,
	}, OpenNotifier, (*Notifier).NotifyFinish)
}

// NotifyFinish requests a mail to each user who has claimed a player of the roster, or one with whom such a
// player is merged. A second run requests it again; a mail is sent once.
func (s *Notifier) NotifyFinish(ctx context.Context, in standing.Finished) error {
	g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.db, tables.GetGame, item.GameKey(in.GameID), item.Metadata)
	if err != nil || !ok || g.Status != item.Finished {
		return err // reopened or deleted since
	}

	seats, err := item.List[item.Seat](ctx, s.db, tables.ListRoster, g.PK, item.Rosters)
	if err != nil {
		return err
	}

	var ids []string
	for _, seat := range item.Values(seats) {
		ids = append(ids, seat.PlayerID)
	}

	players, err := item.ReadPlayers(ctx, s.db, tables.ListRoster, ids)
	if err != nil {
		return err
	}

	return s.ask(ctx, slices.Collect(maps.Values(players)), nil, Mail{GameID: in.GameID})
}

// ask requests a mail to each user who has claimed one of the players, except the users of without.
func (s *Notifier) ask(ctx context.Context, players []item.Player, without map[string]bool, m Mail) error {
	asked := map[string]bool{"": true}

	var mails []Mail

	for _, p := range players {
		if without[p.ClaimedBy] || asked[p.ClaimedBy] {
			continue
		}

		asked[p.ClaimedBy] = true
		m.UserID = p.ClaimedBy
		mails = append(mails, m)
	}

	return queue.SendAll(ctx, s.queue, MailQueue, mails)
}

// remindAt is the hour at which players are reminded, where the session will be: noon on the day before.
const remindAt = 12

// SendRemindersFunction requests the reminders of the sessions of the places where it is noon on the day before.
func SendRemindersFunction() app.Function {
	return app.Job(spec.Function{
		Name:   "threefc/send-reminders",
		Does:   "Has the players of tomorrow's sessions reminded, at noon where they are.",
		IfDown: "Nobody is reminded of tomorrow's session.",
		On:     spec.Schedule("cron(0 * * * ? *)"),
		Uses:   []spec.Access{tables.SessionsOfDay}, Sends: []spec.Queue{RemindQueue},
		Memory: 256, Timeout: 10 * time.Minute,
	}, OpenNotifier, (*Notifier).SendReminders)
}

// SendReminders requests the reminders of the sessions of the places where it is noon on the day before. A
// second run in the hour requests them again; a mail is sent once.
func (s *Notifier) SendReminders(ctx context.Context) error {
	now := s.now().UTC()

	// From the last place that begins a day to the first, it is between 12 hours less and 14 more than in UTC.
	first, last := now.Add(-12*time.Hour).AddDate(0, 0, 1), now.Add(14*time.Hour).AddDate(0, 0, 1)
	for day := first; day.Format(time.DateOnly) <= last.Format(time.DateOnly); day = day.AddDate(0, 0, 1) {
		if err := s.remindDay(ctx, day.Format(time.DateOnly), now); err != nil {
			return err
		}
	}

	return nil
}

// remindDay requests the reminders of the sessions of a day in the places where it is noon on the day before.
func (s *Notifier) remindDay(ctx context.Context, date string, now time.Time) error {
	r := dynamo.Range{Key: dynamo.KeyBeginsWith(tables.SessionsOfDay, item.DayKey(date), item.Sessions), Consistent: true}

	for rows, err := range dynamo.Pages(func(after dynamo.Item) ([]item.Row[item.Day], dynamo.Item, error) {
		r.After = after
		return dynamo.Query[item.Row[item.Day]](ctx, s.db, tables.SessionsOfDay, r)
	}) {
		if err != nil {
			return err
		}

		var sessions []Remind

		for _, x := range item.Values(rows) {
			if isDue(date, x.TimeZone, now) {
				sessions = append(sessions, Remind{SessionID: x.ID})
			}
		}

		if err := queue.SendAll(ctx, s.queue, RemindQueue, sessions); err != nil {
			return err
		}
	}

	return nil
}

// isDue reports whether it is the hour of the reminders of a day in a time zone. A zone that is unknown here
// counts as UTC.
func isDue(date, zone string, now time.Time) bool {
	in, err := time.LoadLocation(zone)
	if err != nil {
		in = time.UTC
	}

	there := now.In(in)

	return there.Hour() == remindAt && there.AddDate(0, 0, 1).Format(time.DateOnly) == date
}

// RemindSessionFunction requests a mail to each player of a session who has not answered whether to
// play.
func RemindSessionFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/remind-session",
		Does:   "Asks for a mail to each player of a session who has not said whether to play, or who is in when it moves.",
		IfDown: "Nobody is reminded of a session, or hears that it has moved.",
		On:     RemindQueue,
		Uses:   []spec.Access{tables.GetSession, tables.GetGame, tables.ListAvailability, tables.ListPlayers, tables.ListRoster},
		Sends:  []spec.Queue{MailQueue},
		Memory: 256, Timeout: time.Minute,
	}, OpenNotifier, (*Notifier).RemindSession)
}

// RemindSession requests a mail to each user who has claimed a player of the league, and has
// answered neither in nor out for any, or as a guardian not for each. An answer from before the session moved does
// not count. Of a move it requests one to who is in. A second run requests it again; a mail is sent once for each day
// of the session.
func (s *Notifier) RemindSession(ctx context.Context, in Remind) error {
	if in.Move != (game.Move{}) {
		return s.moved(ctx, in.Move)
	}

	x, ok, err := dynamo.Get[item.Row[item.Session]](ctx, s.db, tables.GetSession, item.SessionKey(in.SessionID), item.Metadata)
	if err != nil || !ok {
		return err
	}

	rows, err := item.List[row](ctx, s.db, tables.ListAvailability, x.PK, answers)
	if err != nil {
		return err
	}

	rows = slices.DeleteFunc(rows, func(a item.Row[row]) bool { return isOfEarlierDay(a, *x.V()) })

	players, err := item.List[item.Player](ctx, s.db, tables.ListPlayers, item.LeagueKey(x.V().LeagueID), item.Players)
	if err != nil {
		return err
	}

	all := map[string]item.Player{}
	for _, p := range item.Values(players) {
		all[p.ID] = p
	}

	// A user is asked for one player of the user's own, and for each whose guardian the user is.
	answers, decided, waits := answersOf(rows, all), map[string]bool{}, map[string]bool{}
	own, done := map[string]bool{}, map[string]bool{}

	for id, p := range all {
		status := answers[item.Resolve(id, all).ID]
		answered := status == "in" || status == "out"
		decided[p.ClaimedBy] = true

		if p.Guardian {
			waits[p.ClaimedBy] = waits[p.ClaimedBy] || !answered
		} else {
			own[p.ClaimedBy], done[p.ClaimedBy] = true, done[p.ClaimedBy] || answered
		}
	}

	for user := range decided {
		decided[user] = !waits[user] && (!own[user] || done[user])
	}

	m := Mail{SessionID: in.SessionID}
	if x.V().Moved.Count > 0 {
		m.Date = x.V().Date
	}

	return s.ask(ctx, item.Values(players), decided, m)
}

// Mailer sends mails.
type Mailer struct {
	db   dynamo.DB
	now  func() time.Time
	pool userpool.Pool
	mail mail.Sender
	link linker
}

// OpenMailer opens the service.
func OpenMailer(ctx context.Context, env app.Env) (*Mailer, error) {
	link, err := newLinker(ctx, env)
	return &Mailer{dynamo.Open(env.AWS, env.Prefix), env.Now, userpool.Open(env.AWS, env.Pool),
		mail.Open(env.AWS, env.Setting(signin.MailFrom)), link}, err
}

// SendMailFunction mails a user about a finished game or tomorrow's session, once.
func SendMailFunction() app.Function {
	return app.Queue(spec.Function{
		Name:   "threefc/send-mail",
		Does:   "Mails a user about a finished game, tomorrow's session or a move, once.",
		IfDown: "Users get no mails about games and sessions.",
		On:     MailQueue,
		Uses: []spec.Access{tables.GetPreferences, tables.MarkMail, tables.GetGame, tables.GetSession, tables.GetSeason,
			tables.GetLeague, tables.GetGrant, tables.MyPlayers, account.CheckDeleted},
		Users: []spec.UserOp{spec.AdminGetUser}, Mail: []spec.MailSender{signin.Mails}, Secrets: []string{web.LinkKeys},
		Memory: 256, Timeout: 30 * time.Second,
	}, OpenMailer, (*Mailer).SendMail)
}

// SendMail mails a user, unless the user was mailed or wants no such mails. A second run
// sends nothing, unless the first ended between the mail and its mark. An address that SES
// refuses is logged, and the mail counts as sent. A user who has deleted the account gets no
// mail, and no mark: the preferences may be gone, and nothing would delete the mark.
func (s *Mailer) SendMail(ctx context.Context, in Mail) error {
	err := s.send(account.Require(ctx, in.UserID), in)
	if errors.Is(err, account.ErrDeleted) {
		slog.InfoContext(ctx, "a mail to a deleted user is dropped", "user", in.UserID)
		return nil
	}

	return err
}

// send is SendMail with a context that requires the user.
func (s *Mailer) send(ctx context.Context, in Mail) error {
	wants, err := read(ctx, s.db, in.UserID)
	if err != nil || in.GameID != "" && !wants.Finished || in.GameID == "" && !wants.Reminders {
		return err
	}

	about := cmp.Or(in.GameID, in.SessionID)
	if in.Date != "" { // without it of a session that never moved, as earlier releases have marked all
		about += "#" + in.Date
	}

	if in.Move != (game.Move{}) {
		about = fmt.Sprintf("%s#%d", cmp.Or(in.Move.GameID, in.Move.SessionID), in.Move.Count)
	}

	pk, sk := item.UserKey(in.UserID), "MAIL#"+about

	_, sent, err := dynamo.Get[item.Row[item.Ref]](ctx, s.db, tables.MarkMail, pk, sk)
	if err != nil || sent {
		return err
	}

	m, err := s.compose(ctx, in)
	if err != nil || m.Subject == "" {
		return err
	}

	user, ok, err := s.pool.Get(ctx, in.UserID)
	if err != nil || !ok {
		return err
	}
	// After the preferences were read: those of a deleted user do not exist, which stands for all
	// mails.
	if err := dynamo.Check(ctx, s.db, account.CheckDeleted); err != nil {
		return err
	}

	m.To = user.Email
	if err := s.mail.Send(ctx, m); errors.Is(err, mail.ErrRefused) {
		slog.WarnContext(ctx, "a mail was refused", "user", in.UserID, "err", err)
	} else if err != nil {
		return err
	}

	mark := item.New(pk, sk, "Mail", item.Ref{ID: about}, s.now())
	mark.TTL = s.now().Add(keepMark).Unix()

	return dynamo.Put(ctx, s.db, tables.MarkMail, mark)
}

// compose returns the mail without its recipient. Its subject is "" if no mail is needed any more. No
// name is in a subject, because anybody may choose any.
func (s *Mailer) compose(ctx context.Context, in Mail) (m mail.Message, err error) {
	if in.Move != (game.Move{}) {
		return s.composeMove(ctx, in)
	}

	if in.SessionID != "" {
		x, ok, err := dynamo.Get[item.Row[item.Session]](ctx, s.db, tables.GetSession, item.SessionKey(in.SessionID), item.Metadata)
		if err != nil || !ok || in.Date != "" && in.Date != x.V().Date { // it has moved again since
			return m, err
		}

		l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(x.V().LeagueID), item.Metadata)
		if err != nil || !ok {
			return m, err
		}

		mine, _, err := player.AllClaimed(ctx, s.db, in.UserID, x.V().LeagueID)
		if err != nil || len(mine) == 0 { // the claims have ended since
			return m, err
		}

		return s.ending(in.UserID, "3FC: will you play on "+x.V().Date+"?", s.question(l.V().Name, *x.V(), mine)), nil
	}

	g, ok, err := dynamo.Get[item.Row[item.Game]](ctx, s.db, tables.GetGame, item.GameKey(in.GameID), item.Metadata)
	if err != nil || !ok || g.Status != item.Finished {
		return m, err
	}

	x, _, err := dynamo.Get[item.Row[item.Season]](ctx, s.db, tables.GetSeason, item.SeasonKey(g.V().SeasonID), item.Metadata)
	if err != nil {
		return m, err
	}

	l, ok, err := dynamo.Get[item.Row[item.League]](ctx, s.db, tables.GetLeague, item.LeagueKey(g.V().LeagueID), item.Metadata)
	if err != nil || !ok {
		return m, err
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s, in %s.\n\n", Verdict(*g.V()), league.Named(l.V().Name))

	for i, score := range g.V().Scores {
		fmt.Fprintf(&b, "%s: %d scored, %d conceded\n", g.V().Teams[i].Name, score.Scored, score.Conceded)
	}

	page, err := s.toGame(ctx, in.UserID, *l.V(), x.V().Slug, g.V().Slug)
	b.WriteString(page)

	return s.ending(in.UserID, "3FC: the result of your game", b.String()), err
}

// toGame returns the line with the page of a game, "" for a player who is no member of a league that is for members:
// the page does not exist for the player.
func (s *Mailer) toGame(ctx context.Context, userID string, l item.League, season, slug string) (string, error) {
	if l.ForMembers() {
		_, ok, err := dynamo.Get[item.Row[item.Grant]](ctx, s.db, tables.GetGrant, item.LeagueKey(l.ID), item.GrantKey(userID))
		if err != nil || !ok {
			return "", err
		}
	}

	return "\nThe game: " + s.link.League(l, season, slug) + "\n", nil
}

// question asks a user about a session: for the first player, if it is the user's own, and for each whose guardian
// the user is.
func (s *Mailer) question(leagueName string, x item.Session, mine []item.Player) string {
	var b strings.Builder

	for i, p := range mine {
		if !p.Guardian && i > 0 {
			continue // another player who is the user
		}

		who := "you"

		if p.Guardian {
			who = "a player of yours"
			if _, err := httpapi.DisplayName(p.Nickname); err == nil {
				who = "“" + p.Nickname + "”"
			}
		}

		fmt.Fprintf(&b, "Say whether %s will play in %s on %s: %s\n", who, league.Named(leagueName), x.Date, s.link.answer(x, p))
	}

	return b.String()
}

// ending returns a mail to a user that ends with the link by which the user gets no more, which mail
// programs can also follow by themselves.
func (s *Mailer) ending(userID, subject, text string) mail.Message {
	stop := s.link.preferences(userID, s.now())
	return mail.Message{Subject: subject, Text: text + "\nNo more of these mails: " + stop + "\n", Unsubscribe: stop}
}

// Verdict returns how a finished game has ended: "Red has won", "Red and Blue have drawn".
func Verdict(g item.Game) string {
	var names []string

	for _, t := range g.Teams {
		if t.TeamID == g.Result.Winner {
			return t.Name + " has won"
		}

		for _, id := range g.Result.Drawn {
			if id == t.TeamID {
				names = append(names, t.Name)
			}
		}
	}

	last := len(names) - 1

	return strings.Join(names[:last], ", ") + " and " + names[last] + " have drawn"
}
