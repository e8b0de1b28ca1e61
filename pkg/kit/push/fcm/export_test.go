package fcm

import "net/http"

// Transport returns what makes the sender's connections.
func (s *Sender) Transport() *http.Transport { return s.http.Transport.(*http.Transport) }
