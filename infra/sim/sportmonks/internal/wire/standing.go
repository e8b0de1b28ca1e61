package wire

import "math"

// Standing is a team's row in the table of a season. Runs and Overs are scored and faced, and conceded and bowled;
// Overs are tenths of an over.
type Standing struct {
	Team, Season, League      int64
	Position, Points, Played  int
	Won, Lost, Draw, NoResult int
	Runs, Overs               [2]int
	Rate                      float64
	Form                      []string
}

// Standing writes a row of a table. It has no id.
func (w *Writer) Standing(t Standing) {
	w.comma()
	w.Lit(`{"resource":"standings"`)
	w.Null("legend_id")
	w.Int("team_id", int(t.Team))
	w.Null("stage_id")
	w.Int("season_id", int(t.Season))
	w.Int("league_id", int(t.League))
	w.Int("position", t.Position)
	w.Int("points", t.Points)
	w.Int("played", t.Played)
	w.Int("won", t.Won)
	w.Int("lost", t.Lost)
	w.Int("draw", t.Draw)
	w.Int("noresult", t.NoResult)
	w.Int("runs_for", t.Runs[0])
	w.tenths("overs_for", t.Overs[0])
	w.Int("runs_against", t.Runs[1])
	w.tenths("overs_against", t.Overs[1])
	w.num("netto_run_rate", math.Round(t.Rate*1000)/1000)
	w.Key("recent_form")
	w.Lit("[")

	for _, f := range t.Form {
		w.comma()
		w.quote(f)
	}

	w.Lit("]")
	w.updated(edited())
	w.End()
}
