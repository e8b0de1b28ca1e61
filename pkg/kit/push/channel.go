package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/sideshow/apns2/payload"
)

// Keep says what APNs keeps of a broadcast channel for phones that are away. It
// cannot be changed once the channel exists.
type Keep int

const (
	KeepNothing Keep = iota // Apple's advice for live scores: a higher budget; a Message must not Expire
	KeepLatest              // for at most eight hours
)

// CreateChannel opens a broadcast channel and returns its id. An app has at
// most 10,000 in each environment.
func (s *Sender) CreateChannel(ctx context.Context, keep Keep) (id string, err error) {
	a, err := s.manageChannels(ctx, http.MethodPost, "channels", "", fmt.Appendf(nil, `{"message-storage-policy":%d,"push-type":"LiveActivity"}`, keep))
	if err == nil && a.channel == "" {
		return "", errors.New("push: APNs gave the new channel no id")
	}
	return a.channel, err
}

// DeleteChannel closes a channel for good. Closing it again does nothing.
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
	if err := json.Unmarshal(a.body, &list); err != nil {
		return nil, fmt.Errorf("push: read the list of channels: %w", err)
	}
	return list.Channels, nil
}

func (s *Sender) manageChannels(ctx context.Context, method, what, channel string, body []byte) (answer, error) {
	h, err := s.heads(func(bearer string) *head {
		return newHead(s.manage.host, method, bearer, "apns-channel-id", channel, "content-type", "application/json")
	})
	if err != nil {
		return answer{}, err
	}
	a, _, err := s.exchange(ctx, s.manage, "/1/apps/"+s.cfg.Bundle+"/"+what, h, body, false)
	return a, err
}

// Broadcast sends an update or an end to everyone who listens to a channel. The
// error is a *Refused, ErrUnavailable, ErrLate or why ctx ended.
func (s *Sender) Broadcast(ctx context.Context, channel string, m *Message) error {
	if m.event != payload.LiveActivityEventUpdate && m.event != payload.LiveActivityEventEnd {
		return errors.New("push: only updates and ends can be broadcast")
	}
	ctx, cancel := s.life(ctx, m)
	defer cancel()
	h, err := s.heads(func(bearer string) *head {
		return m.head(s.broadcast.host, bearer, "apns-channel-id", channel)
	})
	if err != nil {
		return err
	}
	_, _, err = s.exchange(ctx, s.broadcast, "/4/broadcasts/apps/"+s.cfg.Bundle, h, m.body, false)
	return err
}
