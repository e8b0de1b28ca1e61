package match

import (
	"context"
	"slices"
	"strings"
	"time"

	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/spec"
)

// perScreen is the largest page of the matches in play or of a day. A summary has about 600 bytes:
// 30 cost two and a half read units.
const perScreen = 30

// selection checks which matches in selects. It returns the parameter that does: ids, league, live or
// date.
func (in *ListMatches) selection() (string, error) {
	var given []string

	for name, set := range map[string]bool{"ids": len(in.IDs) > 0, "league": in.League != "", "live": in.Live, "date": in.Date != ""} {
		if set {
			given = append(given, name)
		}
	}

	slices.SortFunc(given, func(a, b string) int { return strings.Compare(b, a) })

	switch {
	case len(given) == 0:
		return "", problem.In("query.ids", "ids, league, live=true or date is required")
	case len(given) > 1:
		return "", cannotCombine(given[1], given[0])
	}

	by := given[0]

	for _, other := range []struct {
		name string
		set  bool
		with []string // the parameters that it is combined with
	}{
		{"cursor", in.Cursor != "", []string{"league", "live", "date"}},
		{"from", in.From.Set, []string{"league", "ids"}}, // ids have always ignored it
		{"to", in.To.Set, []string{"league", "ids"}},
		{"timeZone", in.TimeZone != "", []string{"date"}},
		{"team", in.Team != "", []string{"date"}},
	} {
		if other.set && !slices.Contains(other.with, by) {
			return "", cannotCombine(other.name, by)
		}
	}

	if in.Team != "" && in.Cursor != "" {
		return "", cannotCombine("cursor", "team")
	}

	return by, nil
}

// cannotCombine returns the problem of a parameter that is given with another.
func cannotCombine(name, with string) error {
	return problem.In("query."+name, "%s and %s cannot be combined", name, with)
}

// inPlay reads a page of the matches in play: those of the league with the highest priority first, and
// of a league in order of their start.
func (m *Matches) inPlay(ctx context.Context, in *ListMatches) ([]SummaryRow, string, error) {
	r := dynamo.Range{Key: dynamo.KeyIs(tables.LiveSummaries, Live), Limit: min(in.Limit, perScreen)}

	if in.Cursor != "" {
		_, id, _ := strings.Cut(in.Cursor, "/")
		r.After = dynamo.StartKey(tables.LiveSummaries, Live, in.Cursor, id)
	}

	rows, last, err := dynamo.Query[SummaryRow](ctx, m.eventual, tables.LiveSummaries, r)
	if err != nil || last == nil {
		return rows, "", err
	}

	return rows, rows[len(rows)-1].Rank, nil
}

// localDay returns the begin of a date in a time zone, and that of the next date.
func localDay(date, timeZone string) (from, to time.Time, err error) {
	where := time.UTC
	if timeZone != "" {
		if where, err = httpapi.TimeZone(timeZone); err != nil {
			return from, to, problem.In("query.timeZone", "%s", err)
		}
	}

	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return from, to, problem.In("query.date", "date must be a day, such as 2026-06-06")
	}

	begin := func(day time.Time) time.Time {
		at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, where)
		if at.Day() != day.Day() { // clocks change at midnight
			at = at.Add(time.Hour)
		}

		return at
	}

	from, to = begin(day), begin(day.AddDate(0, 0, 1))
	if year := to.UTC().Year(); year > 9999 || from.UTC().Year() < 1 {
		return from, to, problem.In("query.date", "date must be between the years 1 and 9999")
	}

	return from, to, nil
}

// startsOf returns the range of at of the matches of a span that may be played between from and to. A match
// that starts at to is not among them.
func startsOf(s span, from, to time.Time) (first, last string) {
	earliest := from.Add(-playOfDay)
	if s == severalDays {
		earliest = earliest.AddDate(0, 0, 1-mostDays)
	}

	return earliest.UTC().Format(tables.TimeLayout), to.UTC().Format(tables.TimeLayout)
}

// severalDaysMark stands for the T of a time in the cursor of a match of several days.
const severalDaysMark = "D"

// ofDay reads a page of the matches of the active leagues that are played on a date: first those of
// several days, then the others, each in order of their start.
func (m *Matches) ofDay(ctx context.Context, in *ListMatches) ([]SummaryRow, string, error) {
	from, to, err := localDay(in.Date, in.TimeZone)
	if err != nil {
		return nil, "", err
	}

	var (
		found []SummaryRow
		next  string
	)

	if in.Team != "" {
		first, last := startsOf(severalDays, from, to)
		found, err = m.startsBetween(ctx, in.Team, first, last)
	} else {
		found, next, err = m.dayPage(ctx, in, from, to)
	}

	if err != nil {
		return nil, "", err
	}

	inactive, err := m.leagues.Inactive(ctx)

	return slices.DeleteFunc(found, func(r SummaryRow) bool { return inactive[r.LeagueID] || !r.Plays(from, to) }), next, err
}

// dayPage reads a page of ofDay, and some matches that are not played on the day.
func (m *Matches) dayPage(ctx context.Context, in *ListMatches, from, to time.Time) (found []SummaryRow, next string, err error) {
	limit := min(in.Limit, perScreen)
	after := strings.Replace(in.Cursor, severalDaysMark, "T", 1)
	spans := []span{severalDays, oneDay}

	if after != "" && after == in.Cursor {
		spans = spans[1:]
	}

	for _, s := range spans {
		first, last := startsOf(s, from, to)
		r := dynamo.Range{Key: dynamo.KeyBetween(tables.DaySummaries, string(s), first, last), Limit: limit - int32(len(found))}

		if after != "" {
			_, _, id, err := parseCursor(after)
			if err != nil {
				return nil, "", err
			}

			if after < first || after > last { // DynamoDB refuses a start key outside the range
				return nil, "", httpapi.ErrBadCursor
			}

			r.After, after = dynamo.StartKey(tables.DaySummaries, string(s), after, id), ""
		}

		rows, more, err := dynamo.Query[SummaryRow](ctx, m.eventual, tables.DaySummaries, r)
		if err != nil {
			return nil, "", err
		}

		found = append(found, rows...)

		if n := len(found); more != nil || int32(n) == limit && s == severalDays { // the others are on the next page
			next = found[n-1].at()
			if s == severalDays {
				next = strings.Replace(next, "T", severalDaysMark, 1)
			}

			return found, next, nil
		}
	}

	return found, "", nil
}

// startsBetween reads the matches of a team that start between two times, in order of their start: half of
// perScreen at home and as many away, which is more than a team plays in days.
func (m *Matches) startsBetween(ctx context.Context, team, first, last string) ([]SummaryRow, error) {
	var all []SummaryRow

	for _, a := range []spec.Access{tables.LocalSummaries, tables.VisitorSummaries} {
		rows, _, err := dynamo.Query[SummaryRow](ctx, m.eventual, a,
			dynamo.Range{Key: dynamo.KeyBetween(a, team, first, last), Limit: perScreen / 2})
		if err != nil {
			return nil, err
		}

		all = append(all, rows...)
	}

	slices.SortFunc(all, inOrder)

	return slices.CompactFunc(all, sameMatch), nil
}

// inOrder orders summaries by start, then by id. sameMatch reports whether two are of one match: a match
// of two teams that are not known yet is one at home and away of the same team.
func inOrder(a, b SummaryRow) int {
	return strings.Compare(a.at(), b.at())
}

func sameMatch(a, b SummaryRow) bool { return a.MatchID == b.MatchID }

// matchesOf returns summaries as the API returns them, and how long an answer with them may be cached.
func matchesOf(rows []SummaryRow) ([]Match, httpapi.Cached) {
	all, cached := make([]Match, len(rows)), cacheIdle

	for i, r := range rows {
		if all[i] = r.match(); all[i].Live {
			cached = cacheLive
		}
	}

	return all, cached
}
