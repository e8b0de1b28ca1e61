package web

import (
	"math"
	"regexp"
	"strconv"
)

var hexColor = regexp.MustCompile("^#[0-9a-f]{6}$")

// shirt returns a color that a style may have.
func shirt(color string) string {
	if hexColor.MatchString(color) {
		return color
	}

	return "#808080"
}

// Class is the class of what has a color.
func Class(color string) string { return "c-" + shirt(color)[1:] }

// textOn returns the color of text on a color: black or white, whichever has more contrast.
// It is 4.58 or more on any color.
func textOn(color string) string {
	if contrast(color, "#000000") >= contrast(color, "#ffffff") {
		return "#000000"
	}

	return "#ffffff"
}

// contrast is the contrast ratio of two colors, 1 to 21 (WCAG 2.2, "contrast ratio").
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of a color, #rrggbb, 0 to 1 (WCAG 2.2).
func luminance(color string) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)

		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}

		sum += weight * c
	}

	return sum
}
