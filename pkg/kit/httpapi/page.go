package httpapi

import (
	"net/http"
	"slices"

	"matchday/pkg/kit/problem"
)

// NoStore is the Cache-Control value of answers that no cache may keep. It is the default,
// except for refusals of public routes.
const NoStore = "no-store"

// Cached is part of an answer that caches may keep, such as "public, max-age=60".
type Cached struct {
	CacheControl string `header:"Cache-Control"`
}

// Removed is the answer to a request that removed something of the caller's: 204.
type Removed struct{ Status int }

// NewRemoved returns a Removed with its status.
func NewRemoved() *Removed { return &Removed{http.StatusNoContent} }

// ErrBadCursor reports a cursor that is not a position in the list: the item that it names was
// deleted, or the cursor was invented.
//
// In every room the parameters of a paged list are cursor and limit. The member next of an
// answer is the cursor of the following page, and absent on the last page.
var ErrBadCursor = problem.New(problem.Invalid, "bad_cursor", "this page is no longer there: begin again").In("query.cursor")

// Page returns at most limit of all, beginning after the item whose id is cursor, and the cursor
// of the following page, "" on the last page. It returns ErrBadCursor if no item has the id
// cursor.
func Page[T any](all []T, id func(T) string, cursor string, limit int) (page []T, next string, err error) {
	if cursor != "" {
		i := slices.IndexFunc(all, func(v T) bool { return id(v) == cursor })
		if i < 0 {
			return nil, "", ErrBadCursor
		}

		all = all[i+1:]
	}

	if len(all) > limit {
		all, next = all[:limit], id(all[limit-1])
	}

	return all, next, nil
}
