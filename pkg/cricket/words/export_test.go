package words

import (
	"maps"
	"slices"
)

// TranslatedKeys returns the keys that a language translates, sorted.
func TranslatedKeys(l Language) []string { return slices.Sorted(maps.Keys(translations[l])) }
