package workout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"matchday/pkg/commitcollect/item"
	"matchday/pkg/commitcollect/tally"
)

// cursorOf returns the cursor of a page that ends with a workout: its start, epoch s, and its id.
func cursorOf(e tally.Entry) string { return fmt.Sprintf("%010d-%s", e.StartedAt, e.ActivityID) }

// sortable returns a cursor with the id at its full width, so that ids of Strava compare as numbers.
func sortable(cursor string) string { return cursor[:11] + fmt.Sprintf("%64s", cursor[11:]) }

// LatestFirst orders workouts by their start, the latest first, and then by their ids.
func LatestFirst(a, b tally.Entry) int {
	return cmp.Or(cmp.Compare(b.StartedAt, a.StartedAt), cmp.Compare(sortable(cursorOf(b)), sortable(cursorOf(a))))
}

// isAfter reports whether a workout is on a page after a cursor, "" for the first page.
func isAfter(e tally.Entry, cursor string) bool {
	return cursor == "" || sortable(cursorOf(e)) < sortable(cursor)
}

// monthOf returns the month of the workout of a cursor.
func monthOf(cursor string) string {
	at, _ := strconv.ParseInt(cursor[:10], 10, 64) // ten digits, as the API requires

	return item.Month(at)
}

// CutPage returns the page of at most limit workouts after a cursor, of workouts in the order of
// LatestFirst, and the cursor of the next page, "" on the last.
func CutPage(entries []tally.Entry, cursor string, limit int) (page []tally.Entry, next string) {
	i := slices.IndexFunc(entries, func(e tally.Entry) bool { return isAfter(e, cursor) })
	if i < 0 {
		return nil, ""
	}

	if page = entries[i:]; len(page) > limit {
		page = page[:limit]
		next = cursorOf(page[limit-1])
	}

	return page, next
}
