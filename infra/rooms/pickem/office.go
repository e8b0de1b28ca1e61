package pickem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
)

// announce creates the event of a show.
func (s *Season) announce(ctx context.Context, sh show, starts, locks time.Time) error {
	date, slug := parts(sh.ID)

	return s.admin(ctx, http.MethodPost, "/admin/events", map[string]any{
		"name": sh.Name, "date": date, "slug": slug, "startsAt": starts, "lockAt": locks, "bonus": bonus,
	}, nil)
}

// book adds the missing matches to the card of a show, with the champions after the
// previous show.
func (s *Season) book(ctx context.Context, sh show, shows []event.Event) error {
	_, booked, err := s.show(ctx, sh.ID)
	if err != nil {
		return err
	}

	var last []event.Match
	if i := slices.IndexFunc(shows, func(e event.Event) bool { return e.ID < sh.ID }); i >= 0 {
		if _, last, err = s.show(ctx, shows[i].ID); err != nil {
			return err
		}
	}

	for _, m := range sh.card(champions(last)) {
		if slices.ContainsFunc(booked, func(b event.Match) bool { return b.ID == m.ID }) {
			continue
		}

		if err := s.admin(ctx, http.MethodPost, "/admin/events/"+sh.ID+"/matches", m, nil); err != nil {
			return err
		}
	}

	return nil
}

// move sets the times and the state of a show.
func (s *Season) move(ctx context.Context, eventID, state string, starts, locks time.Time) error {
	return s.admin(ctx, http.MethodPatch, "/admin/events/"+eventID, map[string]any{"startsAt": starts, "lockAt": locks, "state": state}, nil)
}

func decided(m event.Match) bool { return m.Result != nil }

// entries returns the members who have picked a show.
func (s *Season) entries(ctx context.Context, eventID string) (out struct {
	Count   int
	UserIDs []string
}, err error) {
	err = s.admin(ctx, http.MethodGet, "/admin/events/"+eventID+"/entries?limit=1000", nil, &out)
	return out, err
}

// corrected reports whether a result of a show was changed.
func (s *Season) corrected(ctx context.Context, eventID string) (bool, error) {
	var out struct{ Corrections []event.Correction }

	err := s.as(ctx, members[0].ID, http.MethodGet, "/app/events/"+eventID+"/corrections?limit=100", nil, &out)

	return slices.ContainsFunc(out.Corrections, func(c event.Correction) bool { return c.From != "" }), err
}

// result sets the result of a match.
func (s *Season) result(ctx context.Context, eventID string, m event.Match, r item.Result, reason string) error {
	return s.admin(ctx, http.MethodPut, "/admin/events/"+eventID+"/matches/"+m.ID+"/result",
		map[string]any{"result": r, "reason": reason}, nil)
}

// Pick saves the picks of a member: the id of a team by match id.
func (s *Season) Pick(ctx context.Context, user, eventID string, picks map[string]string) error {
	return s.as(ctx, user, http.MethodPut, "/app/events/"+eventID+"/predictions", map[string]any{"predictions": picks}, nil)
}

// Lock locks a show now. It begins shortly after.
func (s *Season) Lock(ctx context.Context, eventID string) error {
	now := s.Clock.Now()
	return s.move(ctx, eventID, broadcast, now.Add(bout), now)
}

// EnterResult enters the result of the first match without one, and returns it as text.
func (s *Season) EnterResult(ctx context.Context, eventID string) (text string, err error) {
	e, card, err := s.show(ctx, eventID)
	if err != nil {
		return "", err
	}

	i := slices.IndexFunc(card, func(m event.Match) bool { return !decided(m) })
	if i < 0 {
		return "", errors.New("every match has its result")
	}

	if i == 0 && e.State == broadcast { // lockAt has passed, and the job may not have locked it yet
		if err := s.move(ctx, eventID, broadcast, e.StartsAt, e.LockAt); err != nil {
			return "", err
		}
	}

	r := outcome(card[i])
	if i == slip(eventID, len(card)) {
		r = another(r, card[i])
	}

	return resultText(card[i], r), s.result(ctx, eventID, card[i], r, "")
}

// Correct changes the latest result, and returns the new one as text.
func (s *Season) Correct(ctx context.Context, eventID string) (text string, err error) {
	_, card, err := s.show(ctx, eventID)
	if err != nil {
		return "", err
	}

	for _, m := range slices.Backward(card) {
		if decided(m) {
			r := another(*m.Result, m)
			return resultText(m, r), s.result(ctx, eventID, m, r, "Corrected at the console.")
		}
	}

	return "", errors.New("there is no result to correct")
}

// Score requests the scoring of a show.
func (s *Season) Score(ctx context.Context, eventID string) error {
	return s.admin(ctx, http.MethodPost, "/admin/events/"+eventID+"/score", nil, nil)
}

// resultText returns a result as text.
func resultText(m event.Match, r item.Result) string {
	if r == void {
		return m.Name + ": nobody wins."
	}

	t := m.Teams[r]
	if t.Name == "" {
		return fmt.Sprintf("%s: %s.", m.Name, strings.Join(t.Members, " and "))
	}

	return fmt.Sprintf("%s: %s.", m.Name, t.Name)
}
