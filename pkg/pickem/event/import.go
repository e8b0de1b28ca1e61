package event

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/code"
	"matchday/pkg/kit/httpapi"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/notice"
	"matchday/pkg/pickem/score"
	"matchday/pkg/pickem/tables"
	"matchday/pkg/spec"
)

// Import is the request to read a card or results from a file.
type Import struct {
	auth.Admin
	EventID string `path:"eventId" maxLength:"60" doc:"The id of the event."`
	Body    struct {
		Kind   string `json:"kind" enum:"card,results" doc:"card: matches for the end of the card. results: the results of matches."`
		Format string `json:"format,omitempty" enum:"csv,json" default:"csv" doc:"csv: the first line names the columns. json: a list of objects."`
		Text   string `json:"text,omitempty" maxLength:"60000" doc:"The file. Send text or url."`
		URL    string `json:"url,omitempty" maxLength:"2000" example:"https://example.com/card.csv" doc:"The address of the file on the public internet, with https. It may have 1 MiB, and is read within 10 seconds."`
		DryRun bool   `json:"dryRun,omitempty" doc:"Check the file, and write nothing."`
	}
}

// ImportPage is the answer of an import.
type ImportPage struct {
	Body struct {
		Rows    int        `json:"rows" doc:"The number of rows of the file."`
		Changes int        `json:"changes" doc:"The number of rows that are not stored already."`
		DryRun  bool       `json:"dryRun" doc:"Nothing was written."`
		Errors  []RowError `json:"errors" doc:"What is wrong, row by row. Empty unless it is a dry run: otherwise the answer is invalid_rows."`
	}
}

// RowError is what is wrong with a row of a file.
type RowError struct {
	Line    int    `json:"line" doc:"The line of a CSV file, from 1, or the place in a JSON list, from 1."`
	Field   string `json:"field,omitempty" doc:"The field, by its path in a row. Absent for the whole row."`
	Message string `json:"message" doc:"What is wrong, and what is valid."`
}

var errInvalidRows = problem.New(problem.Unprocessable, "invalid_rows", "rows of the file are wrong: nothing was written")

// ImportFunction reads a card or results from a file.
func ImportFunction() app.Function {
	return app.API(spec.Function{
		Name:   "pickem/import-event",
		Does:   "Adds matches to a card, or enters results, from a CSV or JSON file, or only checks the file.",
		IfDown: "Administrators have to enter cards and results one by one.",
		On:     spec.Route{Method: "POST", Auth: spec.Admin, Path: "/admin/events/{eventId}/import"},
		Uses:   []spec.Access{tables.FindEvent, tables.ReadCard, tables.ChangeCard, tables.EntriesOf, tables.SetResult},
		Sends:  []spec.Queue{notice.Queue, score.Queue},
		Memory: 256, Timeout: 28 * time.Second, // the API gives up after 29
	}, OpenEvents, (*Events).Import, errCardFull, errCardOverflow, errFile, errInvalidRows, errInvalidTeam, errLocked, errMatchExists,
		errNoMatch, errUnknownTeam, errUpcoming, item.ErrChanged, item.ErrNoEvent)
}

// Import adds the matches of a file to the end of a card, or enters results, as AddMatch and
// PutResult do. If a row is wrong it writes nothing, and returns invalid_rows with what is wrong in
// rows. A dry run returns that as errors. Rows that are stored already are left as they are, so a
// second run of the same file changes nothing, and completes an interrupted one: a match has its id
// from the file, or one that is always the same for its name. The last match of the file that is stored
// is notified again, because an interrupted run may have died before: see AddMatch.
//
// In a CSV file of a card teams are separated by ";" and the members of a team by "+"; a team that
// defends a title begins with "*", and "Name: " before the members names it. Titles are separated by
// ";". A result is void, the place of the winner from 0, or the winner's name.
func (s *Events) Import(ctx context.Context, in *Import) (*ImportPage, error) {
	text := []byte(in.Body.Text)

	if (in.Body.URL != "") == (in.Body.Text != "") {
		return nil, problem.In("body", "send either text or url")
	}

	if in.Body.URL != "" {
		var err error
		if text, err = s.fetch(ctx, in.Body.URL); err != nil {
			return nil, err
		}
	}

	on, err := item.ReadEventWithCard(ctx, s.db, in.EventID)
	if err != nil {
		return nil, err
	}

	if open := on.IsOpen(s.now()); in.Body.Kind == "card" && !open {
		return nil, errLocked
	} else if in.Body.Kind != "card" && open {
		return nil, errUpcoming
	}

	rows, wrong := readRows(text, in.Body.Format)
	if len(rows) > item.MaxMatches {
		wrong = append(wrong, RowError{rows[item.MaxMatches].line, "", fmt.Sprintf("a file has at most %d rows", item.MaxMatches)})
		rows = rows[:item.MaxMatches]
	}

	plan := planResults
	if in.Body.Kind == "card" {
		plan = planCard
	}

	changes, more := plan(in, on, rows)
	wrong = append(wrong, more...)
	slices.SortStableFunc(wrong, func(a, b RowError) int { return cmp.Compare(a.Line, b.Line) })

	if len(wrong) > 0 && !in.Body.DryRun {
		return nil, errInvalidRows.With(map[string]any{"rows": wrong})
	}

	if !in.Body.DryRun {
		for _, c := range changes {
			if err := c.write(ctx, s); err != nil {
				return nil, err
			}
		}
	}

	changes = slices.DeleteFunc(changes, func(c change) bool { return c.stored })
	out := &ImportPage{}
	out.Body.Rows, out.Body.Changes, out.Body.DryRun = len(rows), len(changes), in.Body.DryRun
	out.Body.Errors = append([]RowError{}, wrong...)

	return out, nil
}

// change is what a row of a file changes.
type change struct {
	write  func(ctx context.Context, s *Events) error
	stored bool // the row is stored: only the notice of it may be missing
}

// row is a row of a file: the fields of a CSV line by column, or a JSON value.
type row struct {
	line   int
	fields map[string]string
	value  json.RawMessage
}

// readRows reads the rows of a file. Rows that cannot be read are left out.
func readRows(text []byte, format string) (rows []row, wrong []RowError) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // Excel's mark of UTF-8

	if format == "json" {
		var all []json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, []RowError{{1, "", "expected a list of objects in JSON"}}
		}

		for i, value := range all {
			rows = append(rows, row{line: i + 1, value: value})
		}

		return rows, nil
	}

	r := csv.NewReader(bytes.NewReader(text))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, -1

	columns, err := r.Read()
	if err != nil {
		return nil, []RowError{{1, "", "expected a line with the names of the columns"}}
	}

	for i := range columns {
		columns[i] = strings.ToLower(strings.TrimSpace(columns[i]))
	}

	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, wrong
		}

		line, _ := r.FieldPos(0)

		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			return rows, append(wrong, RowError{broken.Line, "", "expected fields in CSV: " + broken.Err.Error()})
		}

		if len(record) != len(columns) {
			wrong = append(wrong, RowError{line, "", fmt.Sprintf("the line has %d fields, want %d as the first line", len(record), len(columns))})
			continue
		}

		fields := map[string]string{}
		for i, column := range columns {
			fields[column] = strings.TrimSpace(record[i])
		}

		rows = append(rows, row{line: line, fields: fields})
	}
}

// decode decodes a row as a T, after a CSV row is made a value by parse, and returns what is wrong.
func decode[T any](r row, known []string, parse func(fields map[string]string) any) (v T, wrong []RowError) {
	for column := range r.fields {
		if !slices.Contains(known, column) {
			return v, []RowError{{r.line, column, "unknown column; valid columns: " + strings.Join(known, ", ")}}
		}
	}

	document := []byte(r.value)
	if r.fields != nil {
		var err error
		if document, err = json.Marshal(parse(r.fields)); err != nil {
			return v, []RowError{{r.line, "", "expected text in UTF-8"}}
		}
	}

	v, errs := httpapi.Decode[T](document)
	for _, err := range errs {
		e := RowError{r.line, "", err.Error()}
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			e.Field, e.Message = strings.TrimPrefix(strings.TrimPrefix(detail.Location, "body"), "."), detail.Message
		}

		wrong = append(wrong, e)
	}

	return v, wrong
}

// ImportedMatch is a row of a card.
type ImportedMatch struct {
	ID string `json:"id,omitempty" format:"uuid" minLength:"36" maxLength:"36"`
	MatchFields
}

// planCard returns what the rows of a card add, and what is wrong with them. The rows are added in their order, so that
// a run that has died may have left out the notice of the last one that is stored.
func planCard(in *Import, on item.EventWithCard, rows []row) (changes []change, wrong []RowError) {
	seen, card := map[string]int{}, slices.Clone(on.Card)
	add := func(id string, f MatchFields, stored bool) change {
		m := &AddMatch{Admin: in.Admin, EventID: on.ID}
		m.Body.ID, m.Body.MatchFields = id, f

		return change{func(ctx context.Context, s *Events) error { _, err := s.AddMatch(ctx, m); return err }, stored}
	}

	var last []change // that is stored

	for _, r := range rows {
		m, errs := decode[ImportedMatch](r, []string{"id", "name", "points", "preshow", "championships", "teams"}, matchOf)
		if len(errs) > 0 {
			wrong = append(wrong, errs...)
			continue
		}

		id := strings.ToLower(cmp.Or(m.ID, code.UUIDOf(on.ID, "card", m.Name)))

		if line, ok := seen[id]; ok {
			wrong = append(wrong, RowError{r.line, "name", fmt.Sprintf("line %d has the same match: give each an id", line)})
			continue
		}

		seen[id] = r.line

		if there, ok := on.Match(id); ok {
			if !reflect.DeepEqual(withoutTeamIDs(fieldsOf(there)), withoutTeamIDs(m.MatchFields)) {
				wrong = append(wrong, RowError{r.line, "", "the card has this match with other fields: change it there"})
			}

			last = []change{add(id, withoutTeamIDs(m.MatchFields), true)}

			continue
		}

		card = append(card, item.Match{Points: m.Points})

		switch {
		case len(card) > item.MaxMatches:
			wrong = append(wrong, RowError{r.line, "", errCardFull.Error()})
			continue
		case on.Worth(card)+on.Bonus > item.MaxEventPoints:
			wrong = append(wrong, RowError{r.line, "points", errCardOverflow.Error()})
			continue
		}

		changes = append(changes, add(id, m.MatchFields, false))
	}

	return append(last, changes...), wrong
}

// matchOf returns a match of a CSV line as a JSON value.
func matchOf(fields map[string]string) any {
	out := map[string]any{"name": fields["name"]}

	if id := fields["id"]; id != "" {
		out["id"] = id
	}

	var points any = fields["points"]
	if n, err := strconv.Atoi(fields["points"]); err == nil {
		points = n
	}

	out["points"] = points

	if text := fields["preshow"]; text != "" {
		if is, err := strconv.ParseBool(strings.ToLower(text)); err == nil {
			out["preshow"] = is
		} else {
			out["preshow"] = text
		}
	}

	if titles := split(fields["championships"], ";"); len(titles) > 0 {
		out["championships"] = titles
	}

	teams := []any{}

	for _, text := range split(fields["teams"], ";") {
		team := map[string]any{}

		if rest, ok := strings.CutPrefix(text, "*"); ok {
			team["champion"], text = true, rest
		}

		if name, rest, ok := strings.Cut(text, ": "); ok {
			team["name"], text = strings.TrimSpace(name), rest
		}

		team["members"] = split(text, "+")
		teams = append(teams, team)
	}

	out["teams"] = teams

	return out
}

// split returns the parts of a text that are not empty, without white space around them.
func split(text, by string) []string {
	parts := []string{}

	for part := range strings.SplitSeq(text, by) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}

	return parts
}

// ImportedResult is a row of results.
type ImportedResult struct {
	Match  string `json:"match" minLength:"1" maxLength:"64"`
	Result string `json:"result" minLength:"1" maxLength:"64"`
	Reason string `json:"reason,omitempty" format:"display-name" minLength:"0" maxLength:"200"`
}

// planResults returns what rows of results change, and what is wrong with them.
func planResults(in *Import, on item.EventWithCard, rows []row) (changes []change, wrong []RowError) {
	seen := map[string]int{}

	for _, r := range rows {
		of, errs := decode[ImportedResult](r, []string{"match", "result", "reason"}, func(fields map[string]string) any { return fields })
		if len(errs) > 0 {
			wrong = append(wrong, errs...)
			continue
		}

		m, why := find(on.Card, of.Match)
		if why != "" {
			wrong = append(wrong, RowError{r.line, "match", why})
			continue
		}

		if line, ok := seen[m.ID]; ok {
			wrong = append(wrong, RowError{r.line, "match", fmt.Sprintf("line %d has the result of this match", line)})
			continue
		}

		seen[m.ID] = r.line

		result, why := winner(m, of.Result)
		if why != "" {
			wrong = append(wrong, RowError{r.line, "result", why})
			continue
		}

		if m.Result != nil && *m.Result == int(result) {
			continue
		}

		put := &PutResult{Admin: in.Admin, EventID: on.ID, MatchID: m.ID}
		put.Body.Result, put.Body.Reason = NewResult(result), of.Reason

		changes = append(changes, change{write: func(ctx context.Context, s *Events) error { _, err := s.PutResult(ctx, put); return err }})
	}

	return changes, wrong
}

// find returns the match of a card with an id or a name, or why there is none.
func find(card []item.Match, text string) (m item.Match, why string) {
	n := 0

	for _, one := range card {
		if one.ID == strings.ToLower(text) {
			return one, ""
		}

		if strings.EqualFold(one.Name, text) {
			m, n = one, n+1
		}
	}

	switch n {
	case 0:
		return m, "the card has no match with this id or name"
	case 1:
		return m, ""
	}

	return m, "the card has several matches with this name: use the id"
}

// winner returns a result of a match: void, the place of the winner from 0, or the one team with a
// name or a member. Or why it is none.
func winner(m item.Match, text string) (result item.Result, why string) {
	if strings.EqualFold(text, "void") {
		return item.Void, ""
	}

	if n, err := strconv.Atoi(text); err == nil {
		if n < 0 || n >= len(m.Teams) {
			return 0, fmt.Sprintf("the match has no team %d: valid are 0 to %d", n, len(m.Teams)-1)
		}

		return item.Result(n), ""
	}

	n := 0

	for i, t := range m.Teams {
		if strings.EqualFold(t.Name, text) || slices.ContainsFunc(t.Members, func(name string) bool { return strings.EqualFold(name, text) }) {
			result, n = item.Result(i), n+1
		}
	}

	if n != 1 {
		return 0, fmt.Sprintf("%d teams of the match have this name: valid are void, a place from 0, and the name of one team or member", n)
	}

	return result, ""
}
