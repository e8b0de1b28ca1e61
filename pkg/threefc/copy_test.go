package threefc_test

import (
	"net/url"
	"testing"

	"matchday/pkg/threefc/item"
)

// TestSquadsAreCopied to the next season if that is requested, by the API and by the form, and are then
// its own.
func TestSquadsAreCopied(t *testing.T) {
	t.Parallel()
	m := club(t)
	season := "/v1/seasons/" + m.l.SeasonID
	squads := func(id string) (all []item.Squad) {
		return decode[struct{ Squads []item.Squad }](m, "ann", "GET", "/v1/seasons/"+id+"/teams", nil).Squads
	}
	put := func(players ...string) {
		m.Do("ann", "PUT", season+"/teams/red/squad", map[string]any{"playerIds": players})
	}
	next := func(body map[string]any) string {
		return decode[struct{ SeasonID string }](m, "ann", "POST", season+"/copy", body).SeasonID
	}

	put(m.l.Players[0], m.l.Players[1])

	want := squads(m.l.SeasonID)
	same(t, "the squads of the first season", len(want), 1)
	same(t, "without the request", squads(next(map[string]any{"name": "Summer"})), []item.Squad(nil))

	copied := next(map[string]any{"name": "Autumn", "squads": true})
	same(t, "with the request", squads(copied), want)
	put(m.l.Players[2])
	same(t, "after a change of the first season", squads(copied), want)

	page := m.manage()[1]
	fields := func(name, squads string) url.Values {
		return url.Values{"name": {name}, "timeZone": {"Europe/London"}, "squads": {squads}}
	}
	same(t, "by the form", squads(last(m.act("ann", page, "copy-season", "", "Winter", fields("Winter", "same")))), squads(m.l.SeasonID))

	without := m.act("ann", page, "copy-season", "", "Spring 2027", fields("Spring 2027", ""))
	same(t, "by the form, without", squads(last(without)), []item.Squad(nil))
}
