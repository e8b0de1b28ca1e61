package measure

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Linear is by how much the cost of one among many may differ from the cost of one
// among few: the ratio must be × 1 ± Linear.
const Linear = 0.5

// Row is a line of the table.
type Row struct {
	Name, Time, CPU, Allocs, Calls string
	Compared                       string // with what it stands beside, or its rate
	Target                         string // "" for none
	Met                            bool   // whether the target is met
	Details                        string // printed below the row
}

// RowOf returns a row with a usage and a number of calls.
func RowOf(name string, u Usage, calls float64) Row {
	return Row{Name: name, Time: Short(u.Wall), CPU: Short(u.CPU), Allocs: Grouped(float64(u.Allocs)), Calls: Grouped(calls)}
}

// RatioRow returns a row for a ratio that must be × 1 ± tolerance.
func RatioRow(name string, ratio, tolerance float64) Row {
	return Row{
		Name: name, Compared: fmt.Sprintf("× %.2f", ratio), Target: fmt.Sprintf("× %.2f to %.2f", 1-tolerance, 1+tolerance),
		Met: math.Abs(ratio-1) <= tolerance,
	}
}

// Missed lists the names of the rows whose target is not met.
func Missed(rows []Row) (names []string) {
	for _, r := range rows {
		if r.Target != "" && !r.Met {
			names = append(names, r.Name)
		}
	}

	return names
}

const columns = 8

// cells are the row's columns.
func (r Row) cells() [columns]string {
	verdict := ""
	if r.Target != "" {
		verdict = "MISS"
		if r.Met {
			verdict = "ok"
		}
	}

	return [columns]string{r.Name, r.Time, r.CPU, r.Allocs, r.Calls, r.Compared, r.Target, verdict}
}

// Write prints the rows in columns, with numbers aligned to the right.
func Write(out io.Writer, rows []Row) error {
	lines := [][columns]string{{"", "TIME", "OWN CPU", "ALLOCS", "I/O CALLS", "BESIDE", "TARGET", ""}}

	details := []string{""}
	for _, r := range rows {
		lines, details = append(lines, r.cells()), append(details, r.Details)
	}

	var width [columns]int

	for _, cells := range lines {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}

	for n, cells := range lines {
		var b strings.Builder

		for i, c := range cells {
			w := width[i]
			if number := i >= 1 && i <= 4; !number {
				w = -w
			}

			fmt.Fprintf(&b, "%*s  ", w, c)
		}

		text := strings.TrimRight(b.String(), " ") + "\n"
		if details[n] != "" {
			text += "    " + details[n] + "\n"
		}

		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}

	return nil
}

// Short formats a duration with three digits.
func Short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}

	return d.Round(unit).String()
}

// Grouped formats a number: 12,345, or 1.25 if it is small and not whole.
func Grouped(n float64) string {
	if n < 1000 && n != math.Trunc(n) {
		return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
	}

	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}

	return text
}

// Rate formats how many of n were done in a second.
func Rate(n float64, in time.Duration) string {
	return Grouped(math.Round(n/in.Seconds())) + "/s"
}

// Counted formats a number with its noun: "1 match", "2 matches".
func Counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "h"):
		noun += "es"
	default:
		noun += "s"
	}

	return Grouped(float64(n)) + " " + noun
}
