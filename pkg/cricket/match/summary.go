package match

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/sportmonks"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// SummaryRow is a row of cricket-summaries: a match as lists show it. sync-fixtures writes all
// attributes but live. Once a match was polled, the ticker writes the score.
type SummaryRow struct {
	MatchID string `dynamodbav:"matchId"`

	LeagueID      string    `dynamodbav:"leagueId"`
	LeagueCode    string    `dynamodbav:"leagueCode"`
	LeagueName    string    `dynamodbav:"leagueName,omitempty"`
	SeasonID      string    `dynamodbav:"seasonId"`
	StartTime     string    `dynamodbav:"startTime"`
	Round         string    `dynamodbav:"round,omitempty"`
	Type          string    `dynamodbav:"type,omitempty"`
	VenueName     string    `dynamodbav:"venueName,omitempty"`
	LocalTeamID   string    `dynamodbav:"localTeamId"`
	VisitorTeamID string    `dynamodbav:"visitorTeamId"`
	Local         sideNames `dynamodbav:"local"`
	Visitor       sideNames `dynamodbav:"visitor"`
	Span          span      `dynamodbav:"span"`
	At            string    `dynamodbav:"at"`   // {startTime}/{matchId}: its place among other matches
	Rank          string    `dynamodbav:"rank"` // its place among those in play

	Score    summaryScore `dynamodbav:"score"`
	LastSlot int64        `dynamodbav:"lastSlot,omitempty"` // of the score

	Live string `dynamodbav:"live,omitempty"` // Live while the match is in play, by the feed
}

// summaryScore is the score of a match as lists show it.
type summaryScore struct {
	Status       string           `dynamodbav:"status"`
	Phase        sportmonks.Phase `dynamodbav:"phase"`
	Local        string           `dynamodbav:"local,omitempty"`
	LocalOvers   string           `dynamodbav:"localOvers,omitempty"`
	Visitor      string           `dynamodbav:"visitor,omitempty"`
	VisitorOvers string           `dynamodbav:"visitorOvers,omitempty"`
	Result       string           `dynamodbav:"result,omitempty"`
	OverAt       int64            `dynamodbav:"overAt,omitempty"` // when the result was read, epoch s; 0 while the match is not over
}

// scheduleOfSummary are the attributes that the sync alone writes.
var scheduleOfSummary = []string{"leagueId", "leagueCode", "leagueName", "seasonId", "startTime", "round", "type", "venueName",
	"localTeamId", "visitorTeamId", "local", "visitor", "span", "at", "rank"}

// span is how long a match lasts: the partition of the index by start.
type span string

const (
	oneDay      span = "day"
	severalDays span = "days"
)

// spanOf returns the span of a match of the type.
func spanOf(kind string) span {
	if score.FormatOf(kind).MultiDay() {
		return severalDays
	}

	return oneDay
}

// NewSummary returns the summary of a match whose score was read in slot, which is 0 if the match
// was never polled. Its league and its teams have the names of the catalog, or those of the score.
func NewSummary(f Fixture, s score.State, league catalog.LeagueRow, teams []catalog.TeamRow, slot int64) SummaryRow {
	side := func(id string, of score.Team) sideNames {
		i := slices.IndexFunc(teams, func(t catalog.TeamRow) bool { return t.TeamID == id })
		if i < 0 {
			return sideNames{Title: of.Name, ShortName: of.Code, Image: of.Image}
		}

		t := teams[i]

		return sideNames{cmp.Or(t.Title, t.Name), cmp.Or(t.ShortName, t.Code), t.Color, t.Image}
	}

	row := SummaryRow{MatchID: f.MatchID, Score: scoreOf(f, s, slot), LastSlot: slot}
	row.LeagueID, row.LeagueCode, row.LeagueName = f.LeagueID, f.LeagueCode, cmp.Or(league.Title, league.Name)
	row.SeasonID, row.StartTime, row.Round, row.Type, row.VenueName = f.SeasonID, f.StartTime, f.Round, f.Type, f.VenueName
	row.LocalTeamID, row.VisitorTeamID = f.LocalTeamID, f.VisitorTeamID
	row.Local, row.Visitor = side(f.LocalTeamID, s.Local), side(f.VisitorTeamID, s.Visitor)
	row.Span, row.Rank = spanOf(f.Type), rankOf(league.Priority, f)
	row.At = row.at()

	return row
}

// scoreOf returns the score of a match that was read in slot.
func scoreOf(f Fixture, s score.State, slot int64) summaryScore {
	m := summary(f, s, Names{})

	out := summaryScore{
		Status:       m.Status,
		Phase:        m.Phase,
		Local:        m.Local.Score,
		LocalOvers:   m.Local.Overs,
		Visitor:      m.Visitor.Score,
		VisitorOvers: m.Visitor.Overs,
		Result:       m.Result,
	}
	if m.Phase.Over() && slot != 0 {
		out.OverAt = SlotTime(slot).Unix()
	}

	return out
}

// maxPriority is more than the priority of any league.
const maxPriority = 9999

// rankOf orders the matches in play: by descending priority of the league, then by start.
func rankOf(priority int, f Fixture) string {
	return fmt.Sprintf("%04d%s/%s", maxPriority-min(max(priority, 0), maxPriority), f.Start().UTC().Format("20060102T150405Z"), f.MatchID)
}

// at returns the place of the match among others. Not every index has the attribute.
func (r SummaryRow) at() string { return r.StartTime + "/" + r.MatchID }

// match returns the summary as the API returns it.
func (r SummaryRow) match() Match {
	return Match{
		ID:         r.MatchID,
		League:     r.LeagueCode,
		LeagueID:   r.LeagueID,
		LeagueName: r.LeagueName,
		SeasonID:   r.SeasonID,
		StartTime:  r.StartTime,
		Round:      r.Round,
		Type:       r.Type,
		Venue:      r.VenueName,
		Status:     r.Score.Status,
		Phase:      r.Score.Phase,
		Live:       r.Live != "",
		Result:     r.Score.Result,
		Local: MatchSide{
			r.LocalTeamID, r.Local.Title, r.Local.ShortName, r.Local.Color, r.Local.Image, r.Score.Local, r.Score.LocalOvers,
		},
		Visitor: MatchSide{
			r.VisitorTeamID, r.Visitor.Title, r.Visitor.ShortName, r.Visitor.Color, r.Visitor.Image, r.Score.Visitor, r.Score.VisitorOvers,
		},
	}
}

// Start returns the scheduled start of the match.
func (r SummaryRow) Start() time.Time { return Fixture{StartTime: r.StartTime}.Start() }

// playOfDay is more than the longest day of play: 50 overs a side with the interval, or three sessions,
// and an hour for rain.
const playOfDay = 9 * time.Hour

// mostDays is the number of days of the longest match.
const mostDays = 5

// days returns how many days the match lasts at most.
func (r SummaryRow) days() int {
	switch n := int((r.Type + " ")[0] - '0'); {
	case spanOf(r.Type) == oneDay:
		return 1
	case n > 1 && n < mostDays: // as in 4day
		return n
	}

	return mostDays
}

// Plays reports whether a day of the match is played between from and to: by the schedule, and not
// after the match was over.
func (r SummaryRow) Plays(from, to time.Time) bool {
	for n := range r.days() {
		start := r.Start().AddDate(0, 0, n)
		if n > 0 && r.Score.OverAt != 0 && start.Unix() >= r.Score.OverAt {
			return false
		}

		if start.Before(to) && start.Add(playOfDay).After(from) {
			return true
		}
	}

	return false
}

// Summaries reads the summaries of matches, in no order. It omits those that do not exist.
func Summaries(ctx context.Context, db dynamo.DB, ids []string) ([]Match, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = dynamo.Key(tables.BatchGetSummaries, id)
	}

	rows, err := dynamo.GetAll[SummaryRow](ctx, db, tables.BatchGetSummaries, keys)
	rows = slices.DeleteFunc(rows, func(r SummaryRow) bool { return r.StartTime == "" }) // has only a score
	all, _ := matchesOf(rows)

	return all, err
}

// Sync writes the schedule, the names and the score of a summary, unless the match was polled after
// the score was read. It creates an absent row.
func (r SummaryRow) Sync(ctx context.Context, db dynamo.DB) error {
	set := dynamo.Set(r, scheduleOfSummary...).Set(r, "score", "lastSlot")
	err := dynamo.Update(ctx, db, tables.SyncSummary, dynamo.Key(tables.SyncSummary, r.MatchID), set, NotAfter(r.LastSlot))

	return dynamo.IgnoreRefused(err) // refused: the next sync compares again
}

// Differs reports whether a sync has to write r over stored, a row of tables.SyncedSummaries.
func (r SummaryRow) Differs(stored SummaryRow) bool {
	r.Live, r.LastSlot, r.Span = stored.Live, stored.LastSlot, stored.Span // At follows from the start, Span from the type
	return r != stored
}

// SummaryWrite returns the write of tables.UpdateSummary that puts the score of slot into the summary of a
// match, and whether the match is in play. It is refused if the summary has a later slot. If sync-fixtures has
// not written the summary yet, no list has the match before the next sync.
func SummaryWrite(f Fixture, s score.State, slot int64, live bool) dynamo.Write {
	row := SummaryRow{Score: scoreOf(f, s, slot), LastSlot: slot}
	if live && !row.Score.Phase.Over() {
		row.Live = Live
	}

	return dynamo.UpdateWrite(dynamo.Key(tables.UpdateSummary, f.MatchID), dynamo.Set(row, "score", "lastSlot", "live"), NotAfter(slot))
}

// SetLive marks the summary of a match as in play or not, unless the match was polled after f was read.
func SetLive(ctx context.Context, db dynamo.DB, f Fixture, live bool) error {
	row := SummaryRow{}
	if live {
		row.Live = Live
	}

	err := dynamo.Update(ctx, db, tables.MarkSummary, dynamo.Key(tables.MarkSummary, f.MatchID),
		dynamo.Set(row, "live"), dynamo.Exists[SummaryRow]("matchId").And(NotAfter(f.LastSlot)))

	return dynamo.IgnoreRefused(err)
}
