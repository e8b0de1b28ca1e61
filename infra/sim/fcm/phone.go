package fcm

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// Phone is what an Android phone has received.
type Phone struct {
	Token         string
	Gone          bool // the app was removed
	Received      []Received
	Notifications []Shown // in order of first arrival
	Topics        []string
}

// Received is a message that the app of a phone has read.
type Received struct {
	Data     map[string]string
	Priority string
	Topic    string // that it was sent to, if any
	Time     time.Time
}

// Shown is a notification on a phone.
type Shown struct {
	Notification
	Data  map[string]string // of the app
	First time.Time         // arrival
	Time  time.Time         // of the last arrival
	Times int               // arrivals
}

type phone struct {
	Phone
	foreign bool        // it is of another project
	apple   bool        // it is of an iPhone
	recent  []time.Time // arrivals of the last minute
	tokens  float64     // of messages that can be collapsed, which arrive at once
	refill  time.Time
}

// topic is the phones that have subscribed, and how many more there are that nobody looks at.
type topic struct {
	phones map[string]*phone
	others int
}

// Install has a phone's app register with FCM, by which its token is known.
func (s *Server) Install(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.phone(token).Gone = false
}

// Remove removes the app from a phone: its token is unregistered.
func (s *Server) Remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := s.phone(token)
	p.Gone = true

	for _, t := range p.Topics {
		delete(s.topics[t].phones, token)
	}

	p.Topics = nil
}

// Foreign makes a token that of another project.
func (s *Server) Foreign(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.phone(token).foreign = true
}

// Apple makes a token that of an app for iPhones, for which the project has no key of Apple.
func (s *Server) Apple(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.phone(token).apple = true
}

// Subscribe has a phone's app subscribe to a topic, as the app does itself.
func (s *Server) Subscribe(token, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := s.phone(token)
	s.topic(name).phones[token] = p

	if !slices.Contains(p.Topics, name) {
		p.Topics = append(p.Topics, name)
	}
}

// Unsubscribe ends a subscription.
func (s *Server) Unsubscribe(token, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p := s.phone(token)
	p.Topics = slices.DeleteFunc(p.Topics, func(t string) bool { return t == name })
	delete(s.topic(name).phones, token)
}

// Audience sets how many more phones have subscribed to a topic than those of Subscribe. Google's
// fan-out takes the longer the more there are.
func (s *Server) Audience(name string, phones int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.topic(name).others = phones
}

// Phone returns what a phone has received.
func (s *Server) Phone(token string) (Phone, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	p, ok := s.phones[token]
	if !ok {
		return Phone{}, false
	}

	out := p.Phone
	out.Received, out.Notifications, out.Topics = slices.Clone(p.Received), slices.Clone(p.Notifications), slices.Clone(p.Topics)

	return out, true
}

// Tokens lists every phone, in order.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Sorted(maps.Keys(s.phones))
}

// In all methods below, the caller holds s.mu, but for deliver.

func (s *Server) phone(token string) *phone {
	p, ok := s.phones[token]
	if !ok {
		p = &phone{Phone: Phone{Token: token}, tokens: float64(s.burst)}
		s.phones[token] = p
	}

	return p
}

func (s *Server) topic(name string) *topic {
	t, ok := s.topics[name]
	if !ok {
		t = &topic{phones: map[string]*phone{}}
		s.topics[name] = t
	}

	return t
}

// deliver delivers a message to its phones.
func (s *Server) deliver(m *message, now time.Time) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()

	if m.Topic != "" {
		return s.fanOut(m, now)
	}

	p, ok := s.phones[m.Token]
	switch {
	case !ok || p.Gone:
		return refuse(http.StatusNotFound, "UNREGISTERED", "Requested entity was not found.")
	case p.foreign:
		return refuse(http.StatusForbidden, "SENDER_ID_MISMATCH", "SenderId mismatch")
	case p.apple:
		return refuse(http.StatusUnauthorized, "THIRD_PARTY_AUTH_ERROR", "Auth error from APNS or Web Push Service")
	}

	s.receive(p, m, now)

	return nil
}

// fanOut delivers a message to a topic, when all of its audience can be reached.
func (s *Server) fanOut(m *message, now time.Time) *refusal {
	s.fanOuts = slices.DeleteFunc(s.fanOuts, func(end time.Time) bool { return !end.After(now) })
	if len(s.fanOuts) >= maxFanOuts {
		no := refuse(http.StatusTooManyRequests, "QUOTA_EXCEEDED", "fan-outs at once")
		no.wait = time.Minute

		return no
	}

	t := s.topic(m.Topic)
	rate := float64(FanOut) / float64(len(s.fanOuts)+1)
	end := now.Add(time.Duration(float64(len(t.phones)+t.others) / rate * float64(time.Second)))
	s.fanOuts = append(s.fanOuts, end)

	phones := slices.SortedFunc(maps.Values(t.phones), func(a, b *phone) int {
		if a.Token < b.Token {
			return -1
		}

		return 1
	})

	if end.Sub(now) < time.Second { // a few phones: no timer
		for _, p := range phones {
			s.receive(p, m, now)
		}

		return nil
	}

	s.clock.After(end.Sub(now), func() {
		at := s.clock.Now()

		s.mu.Lock()
		defer s.mu.Unlock()

		for _, p := range phones {
			if !p.Gone {
				s.receive(p, m, at)
			}
		}
	})

	return nil
}

// What Google delivers to one phone.
const (
	burst        = 20              // messages that can be collapsed, at once
	collapsedPer = 3 * time.Minute // and then one in this time
	perMinute    = 240             // messages of any kind
)

// receive has a message arrive at a phone, at once or when Google lets it through.
func (s *Server) receive(p *phone, m *message, now time.Time) {
	p.recent = slices.DeleteFunc(p.recent, func(at time.Time) bool { return !at.After(now.Add(-time.Minute)) })
	if p.recent = append(p.recent, now); len(p.recent) > perMinute {
		s.counts["TooMany"]++
	}

	if m.Android.Notification == nil && m.Android.CollapseKey == "" {
		p.arrive(m, now)
		return
	}

	p.tokens = min(float64(s.burst), p.tokens+now.Sub(p.refill).Seconds()/collapsedPer.Seconds())
	p.refill = now
	p.tokens--

	if p.tokens >= 0 {
		p.arrive(m, now)
		return
	}

	s.counts["Throttled"]++
	s.clock.After(time.Duration(-p.tokens*float64(collapsedPer)), func() {
		at := s.clock.Now()

		s.mu.Lock()
		defer s.mu.Unlock()

		p.arrive(m, at)
	})
}

// arrive applies a message to the phone.
func (p *phone) arrive(m *message, now time.Time) {
	n := m.Android.Notification
	if n == nil {
		p.Received = append(p.Received, Received{m.Data, m.Android.Priority, m.Topic, now})
		return
	}

	i := slices.IndexFunc(p.Notifications, func(b Shown) bool { return n.Tag != "" && b.Tag == n.Tag })
	if i < 0 {
		i = len(p.Notifications)
		p.Notifications = append(p.Notifications, Shown{First: now})
	}

	was := p.Notifications[i]
	p.Notifications[i] = Shown{*n, m.Data, was.First, now, was.Times + 1}
}
