package player

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// emoji reports whether a text is one emoji, of however many code points: a grapheme cluster
// (Unicode, UAX #29) of symbols that is drawn as a picture, or a keycap.
func emoji(text string) bool {
	cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	if key, ok := strings.CutSuffix(text, "\ufe0f\u20e3"); ok {
		return len(key) == 1 && strings.Contains("0123456789#*", key)
	}

	if rest != "" || width != 2 {
		return false
	}

	for i, r := range cluster {
		part := unicode.In(r, unicode.Sk, unicode.Cf) || r == '\ufe0f' // skin tones, joiners and the tags of flags, the style
		if !unicode.Is(unicode.So, r) && (i == 0 || !part) {
			return false
		}
	}

	return true
}
