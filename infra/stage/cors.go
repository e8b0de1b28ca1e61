package stage

import "time"

// What web pages of other origins may send to an API, and read of its answers (CORS). The fleet of this machine allows
// the same.
var (
	CORSMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	CORSHeaders = []string{"authorization", "content-type", "idempotency-key", "if-match", "if-none-match"}
	CORSExposed = []string{"etag", "retry-after"}
)

// CORSMaxAge is how long browsers cache what a page may send.
const CORSMaxAge = time.Hour
