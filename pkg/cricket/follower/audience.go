package follower

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Member is a user of the audience of a match: one who follows the match, or has subscribed to one of its teams or to
// its league.
type Member struct {
	FollowRow // of a subscriber: with the match, the user and the team alone

	// Subscribed reports that the user has no follow of the match. Whether the user has an activity of it is
	// known to the claim of its start alone: see StartClaim.
	Subscribed bool

	overrides []*Overrides // the last one counts most
}

// Preferences returns the preferences of the member for the match, whose other preferences are p.
func (m Member) Preferences(p Preferences) Preferences {
	for _, o := range m.overrides {
		p = o.In(p)
	}

	return p
}

// rangeQuery returns the query for a range of user ids in a partition of a's table.
type rangeQuery func(a spec.Access, partition string) dynamo.Range

// ReadAudience reads the first members of the audience of a match in a range of user ids, in the order of these ids: up to
// limit, each once. more reports that there are others in the range. Users who have unfollowed the match are among them,
// with Off. It makes four queries, whatever the audience: all of them are sorted by user id, and it reads nothing for one
// user alone.
func ReadAudience(ctx context.Context, db dynamo.DB, f match.Fixture, users rangeQuery, limit int32,
	now time.Time) (all []Member, more bool, err error) {
	subjects := subjectsOf(f)
	subscribers, cut := make([][]SubscriptionRow, len(subjects)), make([]bool, len(subjects)+1)

	var follows []FollowRow

	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		q := users(tables.AllFollowers, f.MatchID)
		q.Limit = limit

		var last dynamo.Item
		follows, last, err = dynamo.Query[FollowRow](gctx, db, tables.AllFollowers, q)
		cut[len(subjects)] = last != nil

		return err
	})

	for i, subject := range subjects {
		g.Go(func() (err error) {
			q := users(tables.AllSubscribers, string(subject))
			q.Limit = limit

			var last dynamo.Item
			subscribers[i], last, err = dynamo.Query[SubscriptionRow](gctx, db, tables.AllSubscribers, q)
			cut[i] = last != nil

			return err
		})
	}

	if err := g.Wait(); err != nil {
		return nil, false, err
	}

	// Beyond the last row of a query that was cut, its rows are unknown.
	horizon := ""
	reach := func(cut bool, last string) {
		if cut && (horizon == "" || last < horizon) {
			horizon = last
		}
	}

	for i, rows := range subscribers {
		if len(rows) > 0 {
			reach(cut[i], rows[len(rows)-1].UserID)
		}
	}

	if len(follows) > 0 {
		reach(cut[len(subjects)], follows[len(follows)-1].UserID)
	}

	members := merge(f, follows, subscribers, now)
	if horizon != "" {
		n, found := slices.BinarySearchFunc(members, horizon, func(m Member, id string) int { return cmp.Compare(m.UserID, id) })
		if found {
			n++
		}

		members = members[:n]
	}

	if len(members) > int(limit) {
		return members[:limit], true, nil
	}

	return members, horizon != "", nil
}

// merge returns the members of a match in the order of their ids, each once. subscribers are those of subjectsOf. A follow
// that has expired is none.
func merge(f match.Fixture, follows []FollowRow, subscribers [][]SubscriptionRow, now time.Time) []Member {
	var all []Member

	for i, subject := range subjectsOf(f) {
		for _, row := range subscribers[i] {
			m := Member{FollowRow: FollowRow{Follow: Follow{f.MatchID, row.UserID}}, Subscribed: true}
			if m.overrides = []*Overrides{row.Overrides}; subject.Kind() == Team {
				m.TeamID = subject.ID()
			}

			all = append(all, m)
		}
	}

	for _, row := range follows {
		if row.ExpiresAt > now.Unix() {
			all = append(all, Member{FollowRow: row, overrides: []*Overrides{row.Overrides}})
		}
	}

	slices.SortStableFunc(all, func(a, b Member) int { return cmp.Compare(a.UserID, b.UserID) })

	var members []Member

	for _, m := range all {
		if n := len(members); n > 0 && members[n-1].UserID == m.UserID {
			members[n-1].add(m)
		} else {
			members = append(members, m)
		}
	}

	return members
}

// add adds to a member what follows from another row of the same user, which counts more. A fan of both teams is neutral.
func (m *Member) add(next Member) {
	overrides := append(m.overrides, next.overrides...)

	switch {
	case !next.Subscribed:
		*m = next
	case m.TeamID == "":
		m.TeamID = next.TeamID
	case next.TeamID != "":
		m.TeamID = ""
	}

	m.overrides = overrides
}

// LastOfAudience returns the greatest user id of the audience of a match in a range of them that has no lower bound,
// or "".
func LastOfAudience(ctx context.Context, db dynamo.DB, f match.Fixture, users rangeQuery) (string, error) {
	last := ""

	read := func(a spec.Access, partition string) error {
		q := users(a, partition)
		q.Backward, q.Limit = true, 1

		rows, _, err := dynamo.Query[struct {
			UserID string `dynamodbav:"userId"`
		}](ctx, db, a, q)
		if err == nil && len(rows) > 0 {
			last = max(last, rows[0].UserID)
		}

		return err
	}

	if err := read(tables.AllFollowers, f.MatchID); err != nil {
		return "", err
	}

	for _, subject := range subjectsOf(f) {
		if err := read(tables.AllSubscribers, string(subject)); err != nil {
			return "", err
		}
	}

	return last, nil
}
