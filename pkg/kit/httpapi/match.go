package httpapi

import (
	"strconv"

	"matchday/pkg/kit/problem"
)

// ErrStale refuses to change something that has changed since the caller read it.
var ErrStale = problem.New(problem.Conflict, "stale", "somebody else has changed this: read it again")

// IfMatch is the header with the revision that the caller has read. A request that changes
// something embeds it.
type IfMatch struct {
	Match string `header:"If-Match" pattern:"^\"[0-9]{1,9}\"$" patternDescription:"a revision in quotes" example:"\"7\"" doc:"The ETag of the answer that the caller has read. The change is refused if there is a later one."`
}

// Check returns ErrStale if the caller has read another revision. Without the header every
// revision is accepted.
func (m IfMatch) Check(rev int) error {
	if m.Match != "" && m.Match != ETag(rev) {
		return ErrStale.In("header.If-Match")
	}

	return nil
}

// ETag returns the ETag of a revision. An answer that sets it gets no other ETag.
func ETag(rev int) string { return strconv.Quote(strconv.Itoa(rev)) }
