package item

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Display is how everybody sees the name of a player. Members of the league see the name.
type Display string

const (
	FullName Display = "name"
	Initials Display = "initials"
	NoName   Display = "hidden"
)

// Nobody is what everybody sees in place of a name that is hidden.
const Nobody = "a player"

// Shown returns the display that was chosen. A player without one has FullName.
func (d Display) Shown() Display { return cmp.Or(d, FullName) }

// Stricter returns the display that shows less.
func (d Display) Stricter(than Display) Display {
	order := []Display{FullName, Initials, NoName}
	return order[max(slices.Index(order, d.Shown()), slices.Index(order, than.Shown()), 0)]
}

// PublicName returns what everybody sees in place of a name: every name on a public page, in a public answer and in
// a calendar is made by it. An avatar, which is "" for none, is shown unless the name is hidden.
func (d Display) PublicName(name, avatar string) (shown, picture string) {
	switch d.Shown() {
	case Initials:
		return initials(name), avatar
	case NoName:
		return Nobody, ""
	default:
		return name, avatar
	}
}

// maxInitials bounds the initials of a name.
const maxInitials = 3

// initials returns the first character of each word of a name: "A.L." for "ada lovelace". A name without a word
// is hidden.
func initials(name string) string {
	var b strings.Builder

	for i, word := range strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("-_.'’", r) }) {
		if i == maxInitials {
			break
		}

		first, _, _, _ := uniseg.FirstGraphemeClusterInString(word, -1)
		b.WriteString(strings.ToUpper(first) + ".")
	}

	return cmp.Or(b.String(), Nobody)
}

// PublicNames returns players as everybody sees them. A player who is merged into another is shown as the one of
// both whose name is hidden more.
func PublicNames(players map[string]Player) map[string]Player {
	all := map[string]Player{}

	for id, p := range players {
		p.Nickname, p.Avatar = p.Display.Stricter(Resolve(id, players).Display).PublicName(p.Nickname, p.Avatar)
		all[id] = p
	}

	return all
}
