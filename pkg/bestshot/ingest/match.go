package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/bestshot/view"
	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/telemetry"
)

// matchRow is a match as the database has it.
type matchRow struct {
	ID             string     `db:"id"`
	ExternalID     string     `db:"external_id"`
	Tournament     string     `db:"tournament_id"`
	Round          string     `db:"round_slug"`
	HomeTeam       string     `db:"home_team"`
	AwayTeam       string     `db:"away_team"`
	Date           time.Time  `db:"date"`
	Status         string     `db:"status"`
	ProviderStatus string     `db:"provider_status"`
	HomeScore      *int       `db:"home_score"`
	AwayScore      *int       `db:"away_score"`
	HomePenalties  *int       `db:"home_penalties"`
	AwayPenalties  *int       `db:"away_penalties"`
	Corrected      bool       `db:"corrected"`
	FinishedAt     *time.Time `db:"finished_at"`
	CheckedAt      time.Time  `db:"last_checked_at"`

	SeenAt           *time.Time `db:"seen_at"`
	BeganAt          *time.Time `db:"began_at"`
	StartedAt        *time.Time `db:"started_at"` // the provider's start of the first half
	KickOffCorrected bool       `db:"kick_off_corrected"`
	LiveAt           *time.Time `db:"live_at"` // of the score in play; nil if there is none
}

// over reports whether the match has ended or is void.
func (m matchRow) over() bool { return m.Status == "ended" || m.Status == "void" }

// signs are the first sign of play, when play began, and when the provider says that the first half began. All are
// nil while play has not begun; the last also if the provider has not said it.
type signs struct{ seen, began, started *time.Time }

// play returns the signs of play by an answer of a time. There are none if the match is put off: it takes guesses
// again.
//
// Play began when the provider says, or has said while it was in play, that the first half began: some providers
// say it in the first half only. If it never did, play began with the first sign of it, or the provider's kick-off
// if that is earlier. The first sign is the stored kick-off, or the time of the answer less the minutes played if
// that is earlier. A correction of the kick-off may therefore change when play began, also after the end.
//
// The kick-off of an administrator takes the place of what the provider says about kick-off and first half.
// A sign of play before it still closes the match for guesses: no guess is made with knowledge of the play.
func (m matchRow) play(x fixture, answered time.Time) signs {
	switch {
	case m.over() && m.SeenAt == nil, // it ended before signs were stored
		x.Over && x.Status != provider.Ended: // a score that comes later does not undo the play
		return signs{m.SeenAt, m.BeganAt, m.StartedAt}
	case !x.InPlay && x.Status != provider.Ended:
		return signs{}
	}

	started := m.StartedAt
	if m.SeenAt == nil { // code of before takes play back without it
		started = nil
	}

	if !x.StartedAt.IsZero() {
		started = &x.StartedAt
	}

	start := started
	if m.KickOffCorrected {
		x.KickOff, start = m.Date, nil
	}

	first := answered.Add(-time.Duration(x.Minute) * time.Minute)

	if !m.Date.IsZero() && m.Date.Before(first) {
		first = m.Date
	}

	if start != nil && start.Before(first) {
		first = *start
	}

	if m.SeenAt != nil {
		first = *m.SeenAt
	}

	if start == nil {
		start = &first
		if x.KickOff.Before(first) {
			start = &x.KickOff
		}
	}

	return signs{&first, start, started}
}

// fixture is a match of an answer, with the ids of its teams in the database.
type fixture struct {
	provider.Fixture
	homeTeam, awayTeam string
}

// live reports whether it is in play and its score is known.
func (x fixture) live() bool { return x.InPlay && x.Home.Score != nil && x.Away.Score != nil }

// unchangedBy reports whether storing a fixture of a round, answered at a time, changes nothing of the
// match. A match in play always changes: its score is as of the latest answer.
func (m matchRow) unchangedBy(x fixture, round string, answered time.Time) bool {
	if m.HomeTeam != x.homeTeam || m.AwayTeam != x.awayTeam || m.Round != round {
		return false
	}

	if x.live() || m.LiveAt != nil {
		return false
	}

	s := m.play(x, answered)
	if !sameTime(s.seen, m.SeenAt) || !sameTime(s.began, m.BeganAt) || !sameTime(s.started, m.StartedAt) {
		return false
	}

	stillEnded := m.Status == "ended" && x.Status == provider.Ended &&
		equal(m.HomePenalties, x.Home.Penalties) && equal(m.AwayPenalties, x.Away.Penalties)
	stillToPlay := (x.Status == provider.Open || x.Status == provider.NotDefined) &&
		m.Status == string(x.Status) && (m.KickOffCorrected || m.Date.Equal(x.KickOff))

	return (stillEnded || stillToPlay) && m.ProviderStatus == x.ProviderStatus &&
		equal(m.HomeScore, x.Home.Score) && equal(m.AwayScore, x.Away.Score)
}

func equal(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// storeMatches stores the matches of a round. For matches that have not changed, the number of
// statements does not depend on the number of matches. The projection of the round is always
// invalidated up to the version of the database, because the run before may have crashed before it
// did so; if this answer or a newer one is stored, so are all projections of the tournament.
func (s *Ingester) storeMatches(ctx context.Context, tx pgx.Tx, f Feed, stale *staleKeys) error {
	if len(f.Fixtures) == 0 {
		return nil
	}

	r := f.Round
	if _, err := pg.Do(ctx, tx, sql.AddRound, f.TournamentID, r.Slug, r.Order, r.Label, r.Type, r.Path); err != nil {
		return err
	}

	fixtures, err := storeTeamsOf(ctx, tx, f, stale)
	if err != nil {
		return err
	}

	known, err := lockMatches(ctx, tx, f)
	if err != nil {
		return err
	}

	// After a newer answer about the round, a match that the database does not know no longer exists.
	late := false
	if len(known) < len(fixtures) {
		if late, _, err = pg.Value[bool](ctx, tx, sql.HasNewerAnswer, f.TournamentID, r.Slug, f.FetchedAt); err != nil {
			return err
		}
	}

	var (
		unchanged []string // the ids of matches
		changes   int      // the number of matches that have changed
	)

	otherRounds := map[string]bool{} // rounds that lose a match to this one
	stored := false                  // whether a run before has stored this answer, or a newer one

	for _, x := range fixtures {
		m, ok := known[x.ID]

		switch {
		case ok && m.unchangedBy(x, r.Slug, f.FetchedAt):
			unchanged = append(unchanged, m.ID)

			s.reportNoResult(ctx, m.ID, x)
		case !ok && late:
			slog.InfoContext(ctx, "an older answer has another match", "provider", x.ID, "round", r.Slug)
		default:
			changed, err := s.storeMatch(ctx, tx, f, x, m, ok)
			if err != nil {
				return fmt.Errorf("match %s: %w", x.ID, err)
			}

			if changed {
				changes++
			}
		}

		if !ok || m.Tournament != f.TournamentID {
			continue
		}

		stored = stored || !f.FetchedAt.After(m.CheckedAt)

		if m.Round != r.Slug {
			otherRounds[m.Round] = true
		}
	}

	for _, slug := range slices.Sorted(maps.Keys(otherRounds)) {
		version, _, err := pg.Value[int64](ctx, tx, sql.RaiseRound, f.TournamentID, slug)
		if err != nil {
			return err
		}

		stale.add(view.MatchesKey(f.TournamentID, slug), version)
	}

	if _, err := pg.Do(ctx, tx, sql.MarkMatchesChecked, unchanged, f.FetchedAt, f.TournamentID); err != nil {
		return err
	}

	statement := sql.GetRoundVersion
	if changes > 0 {
		statement = sql.RaiseRound
	}

	version, _, err := pg.Value[int64](ctx, tx, statement, f.TournamentID, r.Slug)
	stale.add(view.MatchesKey(f.TournamentID, r.Slug), version)

	if err != nil || !stored {
		return err
	}

	all, err := projectionsOf(ctx, tx, f.TournamentID)
	*stale = append(*stale, all...)

	return err
}

// storeTeamsOf stores the teams of an answer's fixtures, and returns the fixtures with their teams' ids.
func storeTeamsOf(ctx context.Context, tx pgx.Tx, f Feed, stale *staleKeys) ([]fixture, error) {
	teams := make([]provider.Team, 0, 2*len(f.Fixtures))
	for _, x := range f.Fixtures {
		teams = append(teams, x.Home.Team, x.Away.Team)
	}

	ids, err := storeTeams(ctx, tx, f.source(), teams, stale)
	if err != nil {
		return nil, err
	}

	out := make([]fixture, len(f.Fixtures))
	for i, x := range f.Fixtures {
		out[i] = fixture{x, ids[x.Home.ID], ids[x.Away.ID]}
	}

	return out, nil
}

// lockMatches locks the matches of an answer, and returns them by the provider's ids.
func lockMatches(ctx context.Context, tx pgx.Tx, f Feed) (map[string]matchRow, error) {
	rows, err := pg.All[matchRow](ctx, tx, sql.LockMatches, f.source(), externalIDs(f.Fixtures))

	known := map[string]matchRow{}
	for _, m := range rows {
		known[m.ExternalID] = m
	}

	return known, err
}

func externalIDs(all []provider.Fixture) []string {
	ids := make([]string, len(all))
	for i, x := range all {
		ids[i] = x.ID
	}

	return ids
}

// storeMatch brings a match to what the provider answers. known is whether the database has a match m
// with the provider's id. If not, the match has another id since it lost its date, or is new. changed is
// whether members see something else.
func (s *Ingester) storeMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture, m matchRow, known bool) (changed bool, err error) {
	if !known {
		if m, known, err = adoptMatch(ctx, tx, f, x); err != nil {
			return false, err
		}
	}

	if !known {
		changed = true

		if m, err = addMatch(ctx, tx, f, x); err != nil {
			return false, err
		}
	}

	if m.Tournament != f.TournamentID || !f.FetchedAt.After(m.CheckedAt) {
		return changed, nil // of another tournament, or a newer answer is stored
	}

	otherTeams := m.HomeTeam != x.homeTeam || m.AwayTeam != x.awayTeam

	switch {
	case m.over() && otherTeams:
		s.reportRefused(ctx, m.ID, x, "the match has ended with other teams")
		return changed, nil
	case !m.over() && (otherTeams || m.Round != f.Round.Slug):
		changed = true

		if err := reassignMatch(ctx, tx, f, x, m); err != nil {
			return false, err
		}
	}

	updated, err := s.updateMatch(ctx, tx, f, x, m)

	return changed || updated, err
}

// adoptMatch finds the match of the same teams in the same round that has no date, and gives it the
// provider's new id, so that it keeps its guesses. ok is false if there is none.
func adoptMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture) (m matchRow, ok bool, err error) {
	m, ok, err = pg.One[matchRow](ctx, tx, sql.LockMatchWithoutDate,
		f.TournamentID, f.Round.Slug, x.homeTeam, x.awayTeam, externalIDs(f.Fixtures))
	if err != nil || !ok {
		return m, false, err
	}

	slog.InfoContext(ctx, "a match has another id", "match", m.ID, "provider", x.ID)

	_, err = pg.Do(ctx, tx, sql.PutExternalID, m.ID, x.ID)

	return m, true, err
}

// addMatch adds a match. A match that has ended is added as open, and updateMatch ends it.
func addMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture) (m matchRow, err error) {
	status := x.Status

	switch status {
	case provider.Ended:
		status = provider.Open
	case provider.Unknown:
		status = provider.NotDefined
	}

	m = matchRow{
		Tournament: f.TournamentID,
		Round:      f.Round.Slug,
		HomeTeam:   x.homeTeam,
		AwayTeam:   x.awayTeam,
		Status:     string(status),
	}

	neverChecked := time.Unix(0, 0)
	m.ID, _, err = pg.Value[string](ctx, tx, sql.AddMatch,
		m.Tournament, m.Round, f.source(), x.ID, x.KickOff, m.Status, x.ProviderStatus, m.HomeTeam, m.AwayTeam, neverChecked)

	return m, err
}

// reassignMatch gives a match that is to be played other teams or another round. Guesses of the match
// stay, so that one can guess a final before its teams are known. If the sides are swapped, the sides
// of the guesses are swapped too.
func reassignMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture, m matchRow) error {
	slog.InfoContext(ctx, "a match has other teams or another round", "match", m.ID, "provider", x.ID, "round", f.Round.Slug)

	if m.HomeTeam == x.awayTeam && m.AwayTeam == x.homeTeam {
		if _, err := pg.Do(ctx, tx, sql.SwapGuesses, m.ID); err != nil {
			return err
		}
	}

	_, err := pg.Do(ctx, tx, sql.ReassignMatch, m.ID, f.Round.Slug, x.homeTeam, x.awayTeam)

	return err
}

// updateMatch brings a match to the kick-off, status and score that the provider answers. A match that
// an administrator has corrected does not change. Nor does one that is over, but for its result: only
// an administrator makes it void. changed is false if nothing but the time of the answer is stored.
func (s *Ingester) updateMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture, m matchRow) (changed bool, err error) {
	switch {
	case x.Status == provider.Unknown:
		s.reportRefused(ctx, m.ID, x, "a status that is not known")
		return false, markChecked(ctx, tx, f, m)
	case m.Corrected:
		return false, markChecked(ctx, tx, f, m)
	case m.over() && x.Status != provider.Ended:
		s.reportRefused(ctx, m.ID, x, "the match has ended before")
		return false, markChecked(ctx, tx, f, m)
	case x.Status == provider.Ended:
		return true, endMatch(ctx, tx, f, x, m)
	}

	s.reportNoResult(ctx, m.ID, x)

	date := x.KickOff
	if m.KickOffCorrected {
		date = m.Date
	}

	play := m.play(x, f.FetchedAt)
	args := []any{m.ID, date, string(x.Status), x.ProviderStatus, x.Home.Score, x.Away.Score, f.FetchedAt, play.seen, play.began,
		play.started}

	if x.live() {
		args = append(args, x.Home.Score, x.Away.Score, x.MinuteAt(f.FetchedAt), string(x.Period), f.FetchedAt)
	} else {
		args = append(args, nil, nil, 0, "", nil)
	}

	_, err = pg.Do(ctx, tx, sql.UpdateMatch, args...)

	return true, err
}

func markChecked(ctx context.Context, tx pgx.Tx, f Feed, m matchRow) error {
	_, err := pg.Do(ctx, tx, sql.MarkMatchChecked, m.ID, f.FetchedAt)
	return err
}

// endMatch stores the result of a match, and posts the match if the score is new.
func endMatch(ctx context.Context, tx pgx.Tx, f Feed, x fixture, m matchRow) error {
	finished := x.FinishedAt
	if finished.IsZero() || finished.After(f.FetchedAt) {
		finished = f.FetchedAt
	}

	finished = finished.Truncate(time.Second)
	if m.FinishedAt != nil {
		finished = *m.FinishedAt // written once, because the key of the settlement contains it
	}

	play := m.play(x, f.FetchedAt)
	same := m.over() && *m.HomeScore == *x.Home.Score && *m.AwayScore == *x.Away.Score && sameTime(play.began, m.BeganAt)

	date := x.KickOff
	if m.KickOffCorrected {
		date = m.Date
	}

	if _, err := pg.Do(ctx, tx, sql.EndMatch,
		m.ID, date, x.ProviderStatus, x.Home.Score, x.Away.Score, x.Home.Penalties, x.Away.Penalties,
		finished, f.FetchedAt, same, play.seen, play.began, play.started); err != nil || same {
		return err
	}

	if m.over() {
		slog.InfoContext(ctx, "a result or its kick-off is corrected", "match", m.ID, "home", *x.Home.Score, "away", *x.Away.Score)
	}

	return settlement.Post(ctx, tx, settlement.MatchFinished{
		MatchID:        m.ID,
		TournamentID:   m.Tournament,
		FinishedAt:     finished,
		Provider:       string(f.source()),
		ProviderStatus: x.ProviderStatus,
		DetectedAt:     f.FetchedAt,
	})
}

// reportNoResult reports a match that is over at the provider, but has no score that counts: with each answer,
// until an administrator enters the result.
func (s *Ingester) reportNoResult(ctx context.Context, matchID string, x fixture) {
	if x.Over && x.Status != provider.Ended {
		s.reportRefused(ctx, matchID, x, "over without a result")
	}
}

// reportRefused logs and counts a part of an answer that is not stored, with the reason.
func (s *Ingester) reportRefused(ctx context.Context, matchID string, x fixture, reason string) {
	slog.WarnContext(ctx, "the provider is not believed", "match", matchID, "provider", x.ID, "status", x.ProviderStatus, "err", reason)
	telemetry.Emit(ctx, s.now(), []telemetry.Sample{telemetry.Count(Refused, 1)}, slog.String("match", matchID))
}
