package item

import "testing"

// TestPublicName: by the display that was chosen. Rows from before there was a choice show the name.
func TestPublicName(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		display       Display
		name          string
		shown, avatar string
	}{
		{"", "Ada Lovelace", "Ada Lovelace", "🦊"},
		{FullName, "Ada Lovelace", "Ada Lovelace", "🦊"},
		{Initials, "ada  lovelace", "A.L.", "🦊"},
		{Initials, "Foxy", "F.", "🦊"},
		{Initials, "Jean-Luc O'Neil Picard", "J.L.O.", "🦊"},
		{Initials, "Éva ñu", "É.Ñ.", "🦊"},
		{Initials, "e\u0301va", "E\u0301.", "🦊"},
		{Initials, "王 小明", "王.小.", "🦊"},
		{Initials, "👩‍🚀 Ada", "👩‍🚀.A.", "🦊"},
		{Initials, "--", Nobody, "🦊"},
		{NoName, "Ada Lovelace", Nobody, ""},
	} {
		if shown, avatar := c.display.PublicName(c.name, "🦊"); shown != c.shown || avatar != c.avatar {
			t.Errorf("%q of %q is %q %q, want %q %q", c.display, c.name, shown, avatar, c.shown, c.avatar)
		}
	}
}

// TestMergedPlayersHide: the stricter choice of both holds, whoever is merged into whom.
func TestMergedPlayersHide(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		own, of Display
		want    string
	}{
		{"", "", "Ada"}, {"", NoName, Nobody}, {NoName, "", Nobody}, {Initials, NoName, Nobody}, {"", Initials, "A."}, {"strange", "", "Ada"},
	} {
		all := PublicNames(map[string]Player{
			"a": {ID: "a", Nickname: "Ada", Display: c.own, MergedInto: "b"},
			"b": {ID: "b", Nickname: "Bo", Display: c.of},
		})
		if got := all["a"].Nickname; got != c.want {
			t.Errorf("%q, merged into %q: %s, want %s", c.own, c.of, got, c.want)
		}
	}
}
