package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/sideshow/apns2/payload"

	"matchday/pkg/kit/push/h2conn"
)

// Keep is a channel's message storage policy: what APNs stores for phones that are offline. It
// cannot be changed after the channel is created.
type Keep int

const (
	KeepNothing Keep = iota // Apple recommends it for live scores: it has a higher budget. Terms.Expires must be zero
	KeepLatest              // the last message, for at most eight hours
)

// CreateChannel creates a broadcast channel and returns its id. Apple allows an app
// 10,000 channels in each environment.
func (s *Sender) CreateChannel(ctx context.Context, keep Keep) (id string, err error) {
	body := fmt.Appendf(nil, `{"message-storage-policy":%d,"push-type":"LiveActivity"}`, keep)

	a, err := s.manageChannels(ctx, http.MethodPost, "channels", "", body)
	if err == nil && a.Channel == "" {
		return "", errors.New("push: APNs returned no id for the new channel")
	}

	return a.Channel, err
}

// DeleteChannel deletes a channel. It returns nil if the channel does not exist.
func (s *Sender) DeleteChannel(ctx context.Context, id string) error {
	_, err := s.manageChannels(ctx, http.MethodDelete, "channels", id, nil)
	if r, ok := errors.AsType[*Refused](err); ok && r.Reason == reasonNoChannel {
		return nil
	}

	return err
}

// Channels lists the ids of the app's channels.
func (s *Sender) Channels(ctx context.Context) ([]string, error) {
	a, err := s.manageChannels(ctx, http.MethodGet, "all-channels", "", nil)
	if err != nil {
		return nil, err
	}

	var list struct {
		Channels []string `json:"channels"`
	}
	if err := json.Unmarshal(a.Body, &list); err != nil {
		return nil, fmt.Errorf("push: read the list of channels: %w", err)
	}

	return list.Channels, nil
}

func (s *Sender) manageChannels(ctx context.Context, method, what, channel string, body []byte) (answer, error) {
	h, err := s.template(func(bearer string) *h2conn.Header {
		return h2conn.NewHeader(s.manage.Host, method, bearer, "apns-channel-id", channel, "content-type", "application/json")
	})
	if err != nil {
		return answer{}, err
	}

	a, _, err := s.exchange(ctx, s.manage, "/1/apps/"+s.cfg.Bundle+"/"+what, h, body, false, nil)

	return a, err
}

// Broadcast sends an update or an end to all activities that listen to a channel. It
// returns a *Refused, ErrUnavailable, ErrLate or the cause of ctx's end.
func (s *Sender) Broadcast(ctx context.Context, channel string, m *Message) error {
	if m.event != payload.LiveActivityEventUpdate && m.event != payload.LiveActivityEventEnd {
		return errors.New("push: a broadcast must be an update or an end")
	}

	ctx, cancel := s.life(ctx, m)
	defer cancel()

	h, err := s.template(func(bearer string) *h2conn.Header {
		return m.header(s.broadcast.Host, bearer, "apns-channel-id", channel)
	})
	if err != nil {
		return err
	}

	_, _, err = s.exchange(ctx, s.broadcast, "/4/broadcasts/apps/"+s.cfg.Bundle, h, m.body, false, nil)

	return err
}
