package httpapi_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
)

// TestPage: page by page is the whole, in order, whatever the pages' size.
func TestPage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 0, 20, rapid.ID[int]).Draw(t, "all")
		limit := rapid.IntRange(1, 8).Draw(t, "limit")
		id := func(n int) string { return fmt.Sprint(n) }

		got, after, pages := []int{}, "", 0
		for ; pages == 0 || after != ""; pages++ {
			page, next, err := httpapi.Page(all, id, after, limit)
			if err != nil || page == nil || len(page) > limit {
				t.Fatalf("got %v, %v", page, err)
			}

			got, after = append(got, page...), next
		}

		if !slices.Equal(got, all) || pages != max(1, (len(all)+limit-1)/limit) {
			t.Fatalf("got %v on %d pages, want %v", got, pages, all)
		}

		if _, _, err := httpapi.Page(all, id, "100", limit); problem.Of(err) != problem.Invalid {
			t.Fatalf("after what is not there: %v", err)
		}
	})
}
