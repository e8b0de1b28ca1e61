package settlement

import (
	"context"
	"log/slog"
	"net/http"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/pg"
)

// CloseDeadLetter is the request to close a message that could not be settled.
type CloseDeadLetter struct {
	auth.Admin
	ID string `path:"id" maxLength:"100" pattern:"^[0-9A-Za-z-]+$" doc:"The id of the message."`
}

// Closed is the answer that a message is closed.
type Closed struct {
	Status int
}

// CloseDeadLetterFunction closes a message that could not be settled.
func CloseDeadLetterFunction() app.Function {
	return app.API(
		admin("close-letter", "Closes a message that could not be settled.", "What needs no more work stays in the list.", "POST",
			"/settlements/dlq/{id}/close", nil),
		OpenAdmin, (*Admin).CloseDeadLetter, errNoMessage)
}

// CloseDeadLetter closes a message that needs no more work. It stays in the list of closed ones, and can be
// replayed. Nobody needs to close a message whose match was settled later: see SettleMatch. A second run
// changes nothing. Errors: message_not_found.
func (s *Admin) CloseDeadLetter(ctx context.Context, in *CloseDeadLetter) (*Closed, error) {
	_, ok, err := pg.Value[bool](ctx, s.DB, sql.CloseDeadLetter, in.ID)
	if err == nil && !ok {
		err = errNoMessage
	}

	if err != nil {
		return nil, err
	}

	slog.InfoContext(ctx, "a message is closed by an administrator", "message", in.ID, "by", in.UserID)

	return &Closed{http.StatusNoContent}, nil
}
