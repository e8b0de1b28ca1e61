package match

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"matchday/pkg/cricket/catalog"
	"matchday/pkg/cricket/score"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
)

// Titles are the titles and short names that administrators have set for the teams of a
// match, empty for none. sync-fixtures copies them into the row of the match, so that every
// process names the teams in the same way, and a poll reads nothing more.
type Titles struct {
	LocalTitle   string `dynamodbav:"localTitle,omitempty"`
	LocalShort   string `dynamodbav:"localShort,omitempty"`
	VisitorTitle string `dynamodbav:"visitorTitle,omitempty"`
	VisitorShort string `dynamodbav:"visitorShort,omitempty"`
}

// TitlesOf returns the titles of the teams of a match.
func TitlesOf(f Fixture, teams []catalog.TeamRow) (t Titles) {
	of := func(id string) (title, short string) {
		if i := slices.IndexFunc(teams, func(row catalog.TeamRow) bool { return row.TeamID == id }); i >= 0 {
			return teams[i].Title, teams[i].ShortName
		}

		return "", ""
	}
	t.LocalTitle, t.LocalShort = of(f.LocalTeamID)
	t.VisitorTitle, t.VisitorShort = of(f.VisitorTeamID)

	return t
}

// Rename displays the teams of a score by the titles.
func (t Titles) Rename(s *score.State) {
	s.Rename(score.Title{Name: t.LocalTitle, Code: t.LocalShort}, score.Title{Name: t.VisitorTitle, Code: t.VisitorShort})
}

// Retitle stores other titles of a match. Of a live match it removes the checksum of the payload,
// so that the next poll writes the score and the displays, and pushes them. Of any other match that
// was polled it writes them now, with the names of the teams in named, and then the titles, so that
// a second run repeats what a crash left undone.
func Retitle(ctx context.Context, db dynamo.DB, stored Fixture, to Titles, row *ScoreRow, named score.State, now time.Time) error {
	if stored.Titles == to {
		return nil
	}

	if stored.Live == "" && row != nil && row.LastSlot != 0 {
		if err := rename(ctx, db, stored, *row, named, now); err != nil {
			return err
		}
	}

	set := dynamo.Set(Fixture{Titles: to}, "localTitle", "localShort", "visitorTitle", "visitorShort").Remove("bodySum", "polls")
	free := dynamo.Absent[Fixture]("leaseHolder").Or(dynamo.Less[Fixture]("leaseUntil", now.UnixMilli()))
	err := dynamo.Update(ctx, db, tables.UpdateFixture, dynamo.Key(tables.UpdateFixture, stored.MatchID), set,
		dynamo.Exists[Fixture]("matchId").And(free))

	return dynamo.IgnoreRefused(err) // refused: a poll is being ingested, which would write the checksum again; the next sync retries
}

// rename writes the score and the displays of a match with the names of the teams in named,
// unless the match was polled since row was read.
func rename(ctx context.Context, db dynamo.DB, f Fixture, row ScoreRow, named score.State, now time.Time) error {
	if err := row.Decode(); err != nil {
		return err
	}

	title := func(t score.Team) score.Title { return score.Title{Name: t.Name, Code: t.Code} }
	row.State.Rename(title(named.Local), title(named.Visitor))

	fresh, err := NewScoreRow(f, row.State, row.LastSlot, now)
	if err != nil {
		return err
	}

	err = dynamo.Put(ctx, db, tables.PutCached, fresh, NotAfter(row.LastSlot))
	for _, view := range f.Perspectives() {
		if err != nil {
			break
		}

		var (
			d  DisplayRow
			ok bool
		)
		if d, ok, err = ReadDisplay(ctx, db, f.MatchID, view); !ok || err != nil {
			continue
		}

		display := row.State.For(view)

		text, encode := json.Marshal(display)
		if encode != nil {
			return encode
		}

		d.Display, d.Hash = RawJSON(text), display.Hash()
		err = dynamo.Put(ctx, db, tables.PutDisplay, d, NotAfter(d.Slot))
	}

	return dynamo.IgnoreRefused(err) // refused: the match was polled meanwhile, and the next poll names the teams
}
