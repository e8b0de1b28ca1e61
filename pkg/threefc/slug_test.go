package threefc_test

import (
	"regexp"
	"testing"
)

// TestPrivateSlugTellsNothing: a private league has random letters in its slug, so that a slug which is
// taken does not tell that there is such a league. The same change again changes nothing.
func TestPrivateSlugTellsNothing(t *testing.T) {
	t.Parallel()
	m := club(t)

	type league struct{ LeagueID, Slug string }

	apart := func(what, slug, stem string) {
		t.Helper()

		if !regexp.MustCompile("^" + stem + "-[a-z2-7]{6}$").MatchString(slug) {
			t.Errorf("%s has the slug %q, want %s with six letters", what, slug, stem)
		}
	}

	chosen := decode[league](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Ours", "slug": "hidden", "visibility": "private"})
	apart("a league with a chosen slug", chosen.Slug, "hidden")

	named := decode[league](m, "eve", "POST", "/v1/leagues", map[string]any{"name": "Mine", "visibility": "private"})
	apart("a league without one", named.Slug, "mine")

	other := decode[league](m, "ann", "POST", "/v1/leagues", map[string]any{"name": "X", "slug": "hidden"})
	same(t, "a public league with the slug", other.Slug, "hidden")
	refused(t, "another public one", m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": "Y", "slug": "hidden"}), 409, "slug_taken")

	path := "/v1/leagues/" + chosen.LeagueID
	first := decode[league](m, "eve", "PATCH", path, map[string]any{"slug": "hidden"}).Slug
	same(t, "the slug that it has already", first, chosen.Slug)

	next := decode[league](m, "eve", "PATCH", path, map[string]any{"slug": "parkside"}).Slug
	apart("a league with another slug, which a public league has", next, "parkside")
	same(t, "the same change again", decode[league](m, "eve", "PATCH", path, map[string]any{"slug": "parkside"}).Slug, next)

	public := decode[league](m, "eve", "PATCH", path, map[string]any{"slug": "shown", "visibility": "public"}).Slug
	same(t, "a league that becomes public", public, "shown")
	same(t, "and private again", decode[league](m, "eve", "PATCH", path, map[string]any{"visibility": "private"}).Slug, "shown")
}
