package httpapi

import (
	"slices"

	"matchday/pkg/kit/problem"
)

// Page is the part of all, at most limit, behind the one whose id is cursor, and
// the cursor of the page that follows, "" at the end. A cursor that is no id of
// this list's is bad_cursor, of the request's field.
func Page[T any](all []T, id func(T) string, field, cursor string, limit int) (page []T, next string, err error) {
	if cursor != "" {
		i := slices.IndexFunc(all, func(v T) bool { return id(v) == cursor })
		if i < 0 {
			return nil, "", BadCursor(field)
		}
		all = all[i+1:]
	}
	if len(all) > limit {
		all, next = all[:limit], id(all[limit-1])
	}
	return all, next, nil
}

// BadCursor says that a cursor leads nowhere.
func BadCursor(field string) error {
	return &problem.Error{Kind: problem.Invalid, Code: "bad_cursor", Field: field, Text: "this page is no longer there: begin again"}
}
