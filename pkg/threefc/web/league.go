package web

import (
	"net/url"

	"matchday/pkg/threefc/item"
)

// League returns the address of the page of a league, or of its season and game by their slugs: the public one,
// or that for members, who sign in, if nobody else may see it. The latter is a path of its own: caches keep
// public pages by their path, and send no cookies on, so that none can give a member's page to a stranger.
func (l Links) League(of item.League, slugs ...string) string {
	if of.ForMembers() {
		return l.Members(of, slugs...)
	}

	return l.To(append([]string{"l", of.Slug}, slugs...)...)
}

// Members is League for the pages for members, which every league has. It leaves out a slug that is "".
func (l Links) Members(of item.League, slugs ...string) string {
	query := url.Values{}

	for i, name := range []string{"season", "game"} {
		if i < len(slugs) && slugs[i] != "" {
			query.Set(name, slugs[i])
		}
	}

	to := l.To("members", of.Slug)
	if len(query) > 0 {
		to += "?" + query.Encode()
	}

	return to
}
