package apns

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/sideshow/apns2"
)

// Reasons of the broadcast and channel APIs, which apns2 does not name.
const (
	reasonMissingChannelID    = "MissingChannelId"
	reasonBadChannelID        = "BadChannelId"
	reasonNotRegistered       = "ChannelNotRegistered"
	reasonCannotCreateChannel = "CannotCreateChannelConfig"
	reasonMissingPushType     = "MissingPushType"
)

const (
	maxChannels = 10_000        // per app and environment
	storedLife  = 8 * time.Hour // of the latest broadcast
)

type channel struct {
	policy    int // 1 stores the latest broadcast for activities that subscribe later
	listeners map[string]*device
	stored    *payload
	storedTo  time.Time
}

// serveBroadcast answers POST /4/broadcasts/apps/<bundle>.
func (s *Server) serveBroadcast(w http.ResponseWriter, r *http.Request, l *connection, body []byte) {
	now := s.clock.Now()
	id := r.Header.Get("apns-channel-id")

	p, no := s.checkBroadcast(r, l, now, body)
	if no == nil {
		no = s.broadcast(id, r.Header.Get("apns-expiration"), p, now)
	}

	if s.Observe != nil {
		seen := Push{
			Token:     id,
			Broadcast: true,
			Type:      r.Header.Get("apns-push-type"),
			Priority:  r.Header.Get("apns-priority"),
			Bytes:     len(body),
			Time:      now,
			Status:    http.StatusOK,
		}
		if p != nil {
			seen.Event = p.APS.Event
		}

		if no != nil {
			seen.Status, seen.Reason, seen.Details = no.status, no.reason, no.detail
		}

		s.Observe(seen)
	}

	s.echoRequest(w, r)
	s.answer(w, no)
}

func (s *Server) echoRequest(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("apns-request-id")
	if id == "" {
		id = s.newID()
	}

	w.Header().Set("apns-request-id", id)
}

func (s *Server) checkBroadcast(r *http.Request, l *connection, now time.Time, body []byte) (*payload, *refusal) {
	if r.Method != http.MethodPost {
		return nil, refuse(http.StatusMethodNotAllowed, apns2.ReasonMethodNotAllowed)
	}

	if no := s.authorize(l, r.Header["Authorization"], now); no != nil {
		return nil, no
	}

	if no := checkHeaders(r.Header); no != nil {
		return nil, no
	}

	switch r.Header.Get("apns-push-type") {
	case string(apns2.PushTypeLiveActivity):
	case "":
		return nil, refuse(http.StatusBadRequest, reasonMissingPushType)
	default:
		return nil, refuse(http.StatusBadRequest, apns2.ReasonInvalidPushType)
	}

	if r.Header.Get("apns-expiration") == "" {
		return nil, refuse(http.StatusBadRequest, apns2.ReasonBadExpirationDate)
	}

	if len(body) > maxBroadcast {
		return nil, refuse(http.StatusRequestEntityTooLarge, apns2.ReasonPayloadTooLarge)
	}

	p, no := s.parse(body, true)
	if no == nil && p.APS.Event == "start" {
		return p, badPayload("a broadcast cannot start an activity")
	}

	return p, no
}

// broadcast delivers a push to every activity that listens.
func (s *Server) broadcast(id, expiration string, p *payload, now time.Time) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()

	c, no := s.channel(id)
	if no != nil {
		return no
	}

	to, _ := strconv.ParseInt(expiration, 10, 64)
	switch {
	case c.policy == 0 && to != 0:
		return refuse(http.StatusBadRequest, apns2.ReasonBadExpirationDate)
	case c.policy == 1:
		c.stored, c.storedTo = p, time.Unix(to, 0)
		if latest := now.Add(storedLife); c.storedTo.After(latest) {
			c.storedTo = latest
		}
	}

	for _, d := range c.listeners {
		s.receive(d, "", p, now)
	}

	return nil
}

func (s *Server) channel(id string) (*channel, *refusal) {
	if id == "" {
		return nil, refuse(http.StatusBadRequest, reasonMissingChannelID)
	}

	if _, err := base64.StdEncoding.DecodeString(id); err != nil {
		return nil, refuse(http.StatusBadRequest, reasonBadChannelID)
	}

	c, ok := s.channels[id]
	if !ok {
		return nil, refuse(http.StatusBadRequest, reasonNotRegistered)
	}

	return c, nil
}

// Channels lists the broadcast channels and how many activities listen to each.
func (s *Server) Channels() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	listeners := map[string]int{}
	for id, c := range s.channels {
		listeners[id] = len(c.listeners)
	}

	return listeners
}

// serveChannels answers the channel management API.
func (s *Server) serveChannels(w http.ResponseWriter, r *http.Request, l *connection, body []byte) {
	s.echoRequest(w, r)

	if no := s.authorize(l, r.Header["Authorization"], s.clock.Now()); no != nil {
		s.answer(w, no)
		return
	}

	s.mu.Lock()
	status, id, out, no := s.manage(r, body)
	s.mu.Unlock()

	if no != nil {
		s.answer(w, no)
		return
	}

	if id != "" {
		w.Header().Set("apns-channel-id", id)
	}

	w.WriteHeader(status)

	if out != nil {
		_ = json.MarshalWrite(w, out)
	}
}

// setting is a channel as the management API writes it.
type setting struct {
	Policy   int    `json:"message-storage-policy"`
	PushType string `json:"push-type"`
}

// manage does one management request. s.mu is held.
func (s *Server) manage(r *http.Request, body []byte) (status int, id string, out any, no *refusal) {
	all := r.URL.Path == "/1/apps/"+s.Bundle+"/all-channels"
	switch {
	case all && r.Method == http.MethodGet:
		list := struct {
			Channels []string `json:"channels"`
		}{slices.Sorted(maps.Keys(s.channels))}

		return http.StatusOK, "", list, nil
	case all:
		return 0, "", nil, refuse(http.StatusMethodNotAllowed, apns2.ReasonMethodNotAllowed)
	case r.Method == http.MethodPost:
		var want setting
		if err := json.Unmarshal(body, &want); err != nil || want.Policy < 0 || want.Policy > 1 {
			return 0, "", nil, badPayload("a channel needs message-storage-policy 0 or 1")
		}

		if want.PushType != "LiveActivity" {
			return 0, "", nil, refuse(http.StatusBadRequest, apns2.ReasonInvalidPushType)
		}

		if len(s.channels) >= maxChannels {
			return 0, "", nil, refuse(http.StatusBadRequest, reasonCannotCreateChannel)
		}

		s.channelsMade++
		sum := sha256.Sum256([]byte(s.Bundle + "/" + strconv.Itoa(s.channelsMade)))
		id := base64.StdEncoding.EncodeToString(sum[:16])
		s.channels[id] = &channel{policy: want.Policy, listeners: map[string]*device{}}

		return http.StatusCreated, id, nil, nil
	}

	id = r.Header.Get("apns-channel-id")

	c, no := s.channel(id)
	if no != nil {
		return 0, "", nil, no
	}

	switch r.Method {
	case http.MethodGet:
		return http.StatusOK, "", setting{c.policy, "LiveActivity"}, nil
	case http.MethodDelete:
		for _, d := range c.listeners {
			d.Channel = ""
		}

		delete(s.channels, id)

		return http.StatusNoContent, "", nil, nil
	}

	return 0, "", nil, refuse(http.StatusMethodNotAllowed, apns2.ReasonMethodNotAllowed)
}
