package home

import (
	"cmp"
	"context"
	"slices"
	"time"

	"matchday/pkg/cricket/follower"
	"matchday/pkg/cricket/match"
	"matchday/pkg/cricket/tables"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/auth"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/spec"
)

// Homes serves the homes and the activities of users.
type Homes struct {
	db       dynamo.DB // eventually consistent
	now      func() time.Time
	calendar *match.Calendar
}

// OpenHomes opens the service of homes.
func OpenHomes(_ context.Context, env app.Env) (*Homes, error) {
	db := dynamo.Open(env.AWS, env.Prefix)
	return &Homes{db: db.Eventual(), now: env.Now, calendar: match.NewCalendar(db, env.Now)}, nil
}

// GetHome is the request for the caller's home.
type GetHome struct{ auth.User }

// Match is a followed match, with the user's activity of it.
type Match struct {
	_ struct{} `schema:"HomeMatch"`

	match.Match
	ActivitySince *time.Time `json:"activitySince,omitempty" doc:"When the user last registered a Live Activity of the match that may still be on a lock screen. Absent: there is none."`
}

// Home is the response with the caller's home.
type Home struct {
	Body struct {
		Live    []Match `json:"live" nullable:"false" doc:"The followed matches in play, the one that started last first."`
		Next    []Match `json:"next" nullable:"false" doc:"The followed matches that are not in play and not over, in order of their start."`
		Results []Match `json:"results" nullable:"false" doc:"The followed matches that are over, the one that started last first."`
		More    bool    `json:"more" doc:"Whether the user follows other matches of the last six days or to come: GET /user/follows lists them."`
	}
}

const (
	// perHome is the number of matches of a home. Each costs half a read unit. The starts of the follows, the
	// subscriptions and the lists of activities cost as much: 4 in all.
	perHome = 5
	// resultsPerHome is how many of them are reserved for the latest results.
	resultsPerHome = 2
	// listsPerHome is how many lists of activities are read: 4 kB with one token each. The user has a list
	// of each match with an activity of the last days.
	listsPerHome = 12
	// recently is how long ago a match of a home started, at most.
	recently = 6 * 24 * time.Hour
	// longestDay is how long a match of one day may be in play, and longestMatch a match of several.
	longestDay   = 12 * time.Hour
	longestMatch = 5 * 24 * time.Hour
)

// GetHomeFunction answers with the caller's home.
func GetHomeFunction() app.Function {
	return app.API(spec.Function{
		Name:   "cricket/get-home",
		Does:   "Returns the matches that the caller follows: those in play, the next, and the latest results.",
		IfDown: "The home screen of users who are signed in does not load.",
		On:     spec.Route{Method: "GET", Path: "/user/home", Auth: spec.User},
		Uses: []spec.Access{tables.UsersStarts, tables.ListSubscriptions, tables.DaySummaries, tables.AllLeagues, tables.BatchGetSummaries,
			tables.ActivityLists},
		Memory: 256, Timeout: tables.ReadTimeout,
	}, OpenHomes, (*Homes).GetHome)
}

// GetHome returns the followed matches that are in play, then those to come, and the latest results:
// perHome at most. It may miss the changes of about the last second, and for a minute a match that is new in the
// schedule of a followed team or league. It costs 4 read units at most, whatever the number of matches, followers or
// follows, and once a minute, for all users of a process, the calendar.
func (h *Homes) GetHome(ctx context.Context, in *GetHome) (*Home, error) {
	now := h.now()

	ids, more, err := h.followed(ctx, in.UserID, now)
	if err != nil {
		return nil, err
	}

	out := &Home{}
	out.Body.Live, out.Body.Next, out.Body.Results, out.Body.More = []Match{}, []Match{}, []Match{}, more

	if len(ids) == 0 {
		return out, nil
	}

	found, err := match.Summaries(ctx, h.db, ids)
	if err != nil {
		return nil, err
	}

	lists, err := h.lists(ctx, in.UserID, slices.Min(ids), slices.Max(ids), listsPerHome)
	if err != nil {
		return nil, err
	}

	for _, m := range found {
		of := Match{Match: m}

		if i := slices.IndexFunc(lists, func(l list) bool { return l.MatchID == m.ID }); i >= 0 && lists[i].active(now) {
			of.ActivitySince = new(time.Unix(lists[i].ActivityAt, 0).UTC())
		}

		switch {
		case m.Live:
			out.Body.Live = append(out.Body.Live, of)
		case m.Phase.Over():
			out.Body.Results = append(out.Body.Results, of)
		default:
			out.Body.Next = append(out.Body.Next, of)
		}
	}

	slices.SortFunc(out.Body.Live, lastFirst)
	slices.SortFunc(out.Body.Results, lastFirst)
	slices.SortFunc(out.Body.Next, func(a, b Match) int { return lastFirst(b, a) })

	return out, nil
}

// lastFirst orders matches by start, the last first, then by id.
func lastFirst(a, b Match) int {
	return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), cmp.Compare(b.ID, a.ID))
}

// followed returns the ids of what the user follows, as far as it is on the home: first the matches that
// may be in play, the one that started last first, then resultsPerHome of those that began before, the last
// first, and those to come, the next first; then the others that began before. more reports that
// there are others.
func (h *Homes) followed(ctx context.Context, userID string, now time.Time) (ids []string, more bool, err error) {
	calendar, err := h.calendar.Matches(ctx)
	if err != nil {
		return nil, false, err
	}

	rows, more, err := follower.ReadStarts(ctx, h.db, userID, now.Add(-recently), now, calendar)
	if err != nil {
		return nil, false, err
	}

	var playing, past, coming []string

	for _, r := range rows {
		longest := longestDay
		if r.Days {
			longest = longestMatch
		}

		switch start := r.Start(); {
		case start.After(now):
			coming = append(coming, r.MatchID())
		case now.Sub(start) < longest:
			playing = append(playing, r.MatchID())
		default:
			past = append(past, r.MatchID())
		}
	}

	slices.Reverse(playing)
	slices.Reverse(past)

	reserved := min(resultsPerHome, len(past))
	ids = slices.Concat(playing, past[:reserved], coming, past[reserved:])

	if len(ids) > perHome {
		ids, more = ids[:perHome], true
	}

	return ids, more, nil
}
