package web

import (
	"fmt"
	"regexp"
	"testing"
)

// textRatio is what text needs (WCAG 2.2, 1.4.3, AA), and edgeRatio what a border needs that
// tells something apart (1.4.11).
const (
	textRatio = 4.5
	edgeRatio = 3
)

// TestTextOnShirts: a name can be read on any color.
func TestTextOnShirts(t *testing.T) {
	t.Parallel()

	for r := 0; r < 256; r += 5 {
		for g := 0; g < 256; g += 5 {
			for b := 0; b < 256; b += 5 {
				color := fmt.Sprintf("#%02x%02x%02x", r, g, b)
				if c := contrast(color, textOn(color)); c < textRatio {
					t.Fatalf("text on %s is %s, with a contrast of %.2f", color, textOn(color), c)
				}
			}
		}
	}

	for color, want := range map[string]string{"#c8102e": "#ffffff", "#0057b8": "#ffffff", "#ffd100": "#000000", "#777777": "#000000"} {
		if got := textOn(color); got != want {
			t.Errorf("text on %s is %s, want %s", color, got, want)
		}
	}

	for colors, want := range map[[2]string]string{ // those of WCAG
		{"#ffffff", "#000000"}: "21.00",
		{"#777777", "#ffffff"}: "4.48",
		{"#ff0000", "#ffffff"}: "4.00",
		{"#00ff00", "#ffffff"}: "1.37",
		{"#0000ff", "#ffffff"}: "8.59",
		{"#804020", "#ffffff"}: "7.86",
		{"#204080", "#000000"}: "2.11",
		{"#408020", "#000000"}: "4.33",
		{"#0a0a0a", "#000000"}: "1.06",
	} {
		if got := fmt.Sprintf("%.2f", contrast(colors[0], colors[1])); got != want {
			t.Errorf("the contrast of %v is %s, want %s", colors, got, want)
		}
	}
}

// TestColorsOfStyle: the colors of the stylesheet have enough contrast, light and dark.
func TestColorsOfStyle(t *testing.T) {
	t.Parallel()

	modes := regexp.MustCompile(`:root\{[^}]*\}`).FindAllString(stylesheet, -1)
	if len(modes) != 2 {
		t.Fatalf("the stylesheet has the colors %q, want those of light and of dark", modes)
	}

	for i, mode := range modes {
		colors := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+):(#[0-9a-f]{6})`).FindAllStringSubmatch(mode, -1) {
			colors[m[1]] = m[2]
		}

		for _, back := range []string{"back", "soft"} {
			for name, least := range map[string]float64{
				"text": textRatio, "dim": textRatio, "link": textRatio, "wrong": edgeRatio, "edge": edgeRatio,
			} {
				if c := contrast(colors[name], colors[back]); c < least {
					t.Errorf("mode %d: %s on %s has a contrast of %.2f, want %.1f", i, name, back, c, least)
				}
			}
		}
	}
}

// TestShirtIsAColor: nothing but a color reaches a style.
func TestShirtIsAColor(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"#c8102e":                   "#c8102e",
		"":                          "#808080",
		"red":                       "#808080",
		"#c8102e}body{display:none": "#808080",
		"#C8102E":                   "#808080",
	} {
		if got := shirt(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}
