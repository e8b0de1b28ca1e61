package notice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"matchday/pkg/kit/pg"
	"matchday/pkg/kit/push"
	"matchday/pkg/kit/queue"
)

// Points is a part of a message of NoticeQueue: what the matches that were settled since the notice before
// mean for a member. Parts that the member does not want are zero.
type Points struct {
	UserID     string    `json:"userId"`
	Tournament string    `json:"tournament"`          // the label
	Match      string    `json:"match,omitempty"`     // the teams and the result, of a notice of one match
	Results    int       `json:"results,omitempty"`   // the number of matches with a first result, in which a guess of the member counts
	Earned     int       `json:"earned,omitempty"`    // the points of Results
	Corrected  int       `json:"corrected,omitempty"` // how many points more the member has for matches whose points were known
	Void       int       `json:"void,omitempty"`      // the number of guessed matches that do not count any more
	Rank       int       `json:"rank,omitempty"`      // in the leaderboard; 0 if the member is not in it
	Up         int       `json:"up,omitempty"`        // how many ranks the member has gained in the current round
	At         time.Time `json:"at"`                  // when the notice was begun
	ID         string    `json:"id"`                  // the collapse id
}

// pointsLifetime is how long after At a notice of points is sent, and kept for a phone that is offline.
const pointsLifetime = 12 * time.Hour

// text is what the notice says.
func (p Points) text() string {
	var all []string

	what := p.Match
	if what == "" {
		what = count(p.Results, "match", "matches")
	}

	if p.Results > 0 {
		all = append(all, what+": "+count(p.Earned, "point", "points")+".")
	}

	switch {
	case p.Corrected > 0:
		all = append(all, "Corrected: "+count(p.Corrected, "point", "points")+" more.")
	case p.Corrected < 0:
		all = append(all, "Corrected: "+count(-p.Corrected, "point", "points")+" less.")
	}

	switch {
	case p.Void == 1 && p.Match != "":
		all = append(all, p.Match+" does not count.")
	case p.Void == 1:
		all = append(all, "1 match does not count.")
	case p.Void > 1:
		all = append(all, fmt.Sprintf("%d matches do not count.", p.Void))
	}

	switch {
	case p.Rank > 0 && p.Up > 0:
		all = append(all, fmt.Sprintf("Rank %d, up %d.", p.Rank, p.Up))
	case p.Rank > 0 && p.Up < 0:
		all = append(all, fmt.Sprintf("Rank %d, down %d.", p.Rank, -p.Up))
	case p.Rank > 0:
		all = append(all, fmt.Sprintf("Rank %d.", p.Rank))
	}

	return strings.Join(all, " ")
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}

	return fmt.Sprintf("%d %s", n, more)
}

// alert is the notification.
func (p Points) alert() push.Alert {
	return push.Alert{
		Terms:    push.Terms{Expires: p.At.Add(pointsLifetime)},
		Banner:   push.Banner{Title: p.Tournament, Body: p.text(), Sound: "default"},
		Collapse: p.ID,
		Thread:   p.Tournament,
	}
}

// tellPoints tells members of the matches that were settled since the notice before, of each tournament
// once: when none of its matches waits for points, or is in play. Matches of an afternoon make one notice.
// It ends as Remind does, and the next run goes on with the next range.
func (s *Reminders) tellPoints(ctx context.Context) error {
	if _, err := pg.Do(ctx, s.db, sql.BeginPoints); err != nil {
		return err
	}

	for more := true; more; {
		if end, limited := ctx.Deadline(); limited && time.Until(end) < reserve {
			return nil
		}

		var err error
		if more, err = s.tellRange(ctx); err != nil {
			return err
		}
	}

	return nil
}

// tellRange sends the notices of the next range of members, the oldest tournament first. more is false if
// none is left.
func (s *Reminders) tellRange(ctx context.Context) (more bool, err error) {
	err = s.db.Tx(ctx, func(tx pgx.Tx) error {
		more = false

		pass, found, err := pg.One[struct {
			TournamentID string    `db:"tournament_id"`
			Tournament   string    `db:"label"`
			BegunAt      time.Time `db:"begun_at"`
			MemberID     string    `db:"member_id"` // the last one of the range before
			Matches      []string  `db:"matches"`
			Match        string    `db:"match"` // the teams and the result, if it is one
		}](ctx, tx, sql.LockPoints)
		if err != nil || !found {
			return err
		}

		more = true

		last, found, err := pg.Value[string](ctx, tx, sql.FindPointsEnd, pass.Matches, pass.MemberID, RangeSize)
		if err != nil {
			return err
		}

		if !found {
			_, err = pg.Do(ctx, tx, sql.EndPoints, pass.TournamentID)
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.PrepareRange); err != nil {
			return err
		}

		rows, err := pg.All[pointsRow](ctx, tx, sql.ListPoints, pass.TournamentID, pass.Matches, pass.MemberID, last)
		if err != nil {
			return err
		}

		ranks, err := readRanks(ctx, tx, pass.TournamentID)
		if err != nil {
			return err
		}

		if _, err := pg.Do(ctx, tx, sql.MovePoints, pass.TournamentID, last); err != nil {
			return err
		}

		all := make([]Points, len(rows))
		for i, r := range rows {
			all[i] = Points{
				UserID:     r.UserID,
				Tournament: pass.Tournament,
				Match:      pass.Match,
				Results:    r.Results,
				Earned:     r.Earned,
				Corrected:  r.Corrected,
				Void:       r.Void,
				At:         pass.BegunAt.UTC(),
				ID:         fmt.Sprintf("%s#%d#p", pass.TournamentID, pass.BegunAt.Unix()),
			}
			all[i].Rank, all[i].Up = ranks.of(r)
		}

		var messages []Notices
		for part := range slices.Chunk(all, maxNotices) {
			messages = append(messages, Notices{Points: part})
		}

		return queue.SendAll(ctx, s.queue, NoticeQueue, messages)
	})

	return more, err
}

// pointsRow is what a notice of points tells a member.
type pointsRow struct {
	UserID    string `db:"public_id"`
	Results   int    `db:"results"`
	Earned    int    `db:"earned"`
	Corrected int    `db:"corrected"`
	Void      int    `db:"void"`
	Score     *int64 `db:"score"` // as score in the migrations has it; nil if the member is not in the leaderboard
	Before    *int64 `db:"before"`
}

// ranks has the scores of a tournament, the highest first, and those before the current round.
type ranks struct{ now, before []int64 }

func readRanks(ctx context.Context, tx pgx.Tx, tournamentID string) (r ranks, err error) {
	if r.now, err = pg.Values[int64](ctx, tx, sql.ListScores, tournamentID); err != nil {
		return r, err
	}

	r.before, err = pg.Values[int64](ctx, tx, sql.ListScoresBefore, tournamentID)

	return r, err
}

// of returns the dense rank of a member, and how many ranks the member has gained in the current round: none
// in the first, because before it all were equal.
func (r ranks) of(m pointsRow) (rank, up int) {
	if m.Score == nil {
		return 0, 0
	}

	rank = rankOf(r.now, *m.Score)

	if m.Before == nil || !slices.ContainsFunc(r.before, func(s int64) bool { return s != 0 }) {
		return rank, 0
	}

	return rank, rankOf(r.before, *m.Before) - rank
}

// rankOf returns one more than the number of higher scores.
func rankOf(scores []int64, score int64) int {
	n, _ := slices.BinarySearchFunc(scores, score, func(s, target int64) int {
		if s > target {
			return -1
		}

		return 1
	})

	return n + 1
}
