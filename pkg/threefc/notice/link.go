package notice

import (
	"context"
	"strconv"
	"time"

	"matchday/pkg/kit/app"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/web"
)

// linker makes the signed links of mails, and reads their tickets.
type linker struct {
	web.Links
	signer web.Signer
}

func newLinker(ctx context.Context, env app.Env) (linker, error) {
	signer, err := web.NewSigner(ctx, env)
	return linker{web.NewLinks(env), signer}, err
}

// The purposes of tickets.
const (
	toAnswer = "answer a session"
	toChoose = "choose mails"
)

// keepChoice is how long a link to the preferences is valid: as long as somebody may look into an old
// mail for it. It works more than once, because mail programs may follow it again.
const keepChoice = 365 * 24 * time.Hour

// answer returns the link by which a player answers a session, until the day after it has ended
// everywhere. It has the number of the claim: it does not work for who claims the player next.
func (l linker) answer(x item.Session, p item.Player) string {
	day, err := time.Parse(time.DateOnly, x.Date)
	if err != nil {
		day = time.Time{} // no session has such a date: the link would be expired
	}

	return l.To("sessions", x.ID, l.signer.Sign(toAnswer, day.Add(60*time.Hour), p.ID, strconv.Itoa(p.Claims), x.ID))
}

// preferences returns the link by which a user chooses mails.
func (l linker) preferences(userID string, now time.Time) string {
	return l.To("preferences", l.signer.Sign(toChoose, now.Add(keepChoice), userID))
}
