package usage

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"matchday/infra/tools/cost/price"
)

// Model is what a room brings to the cost model.
type Model struct {
	// Kept are the counters that the repository keeps: a JSON object with the date
	// "measured", or an empty one if all calls are assumed. Members that `make bench`
	// measures anew replace those of the same name.
	Kept []byte

	// AtRest is what the room costs at most in a month in which nothing happens, in dollars.
	AtRest float64

	// Report calculates the room's part of the report. It returns an error if the
	// counters lack something.
	Report func(in Input) (Report, error)
}

// Input is what a room's report is calculated from.
type Input struct {
	Counters []byte     // JSON
	Fixed    Usage      // of all rooms, in a month in which nothing happens
	Prices   price.List // of the units
}

// Report is a table in dollars a month with notes on its columns and assumptions.
type Report struct {
	Title string // "" for none
	Rows  [][]string
	Notes string
}

// Write prints the report.
func (r Report) Write(out io.Writer) error {
	var b strings.Builder
	if r.Title != "" {
		b.WriteString(r.Title + "\n\n")
	}

	width := make([]int, len(r.Rows[0]))
	for _, row := range r.Rows {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}

	for _, row := range r.Rows {
		line := ""
		for i, c := range row {
			line += fmt.Sprintf("%*s  ", width[i], c)
		}

		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}

	b.WriteString("\n" + r.Notes)
	_, err := io.WriteString(out, b.String())

	return err
}

// Dollars formats an amount: with cents below 100.
func Dollars(d float64) string {
	if d >= 99.995 {
		return Grouped(d)
	}

	return strconv.FormatFloat(d, 'f', 2, 64)
}

// Grouped formats a whole number with commas.
func Grouped(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}

	return text
}
