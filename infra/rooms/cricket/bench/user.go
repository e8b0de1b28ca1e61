package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"matchday/infra/tools/bench/measure"
	"matchday/pkg/cricket/activity"
	"matchday/pkg/cricket/follower"
	"matchday/pkg/kit/app"
	"matchday/pkg/spec"
)

// useCost is one request of a user that writes, about a match with activities on so many
// phones of others.
type useCost struct {
	measure.Cost
	Audience int `json:"audience"`
}

// audiences are the numbers of phones of others.
var audiences = []int{10, 10_000}

func benchUsers(ctx context.Context) (all []useCost, err error) {
	apns, err := measure.StartAPNs()
	if err != nil {
		return nil, err
	}
	defer apns.Close()

	for _, n := range audiences {
		measure.Say("requests of a user, beside %s", measure.Counted(n, "phone"))

		costs, err := benchUses(ctx, apns, n, 15)
		if err != nil {
			return nil, err
		}

		all = append(all, costs...)
	}

	return all, nil
}

// benchUses measures what a user does about a match: the user registers the phone, follows
// the match, starts an activity and unfollows the match, which ends the activity.
func benchUses(ctx context.Context, apns *measure.APNs, audience, rounds int) ([]useCost, error) {
	dir, err := os.MkdirTemp("", "matchday-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	w, live, err := liveMatch(ctx, apns, dir, time.Now())
	if err != nil {
		return nil, err
	}
	defer w.Close()

	match, tokens := strconv.FormatInt(live.ID, 10), measure.PushTokens(audience+2)
	if err := w.subscribe(ctx, match, []string{strconv.FormatInt(live.Local.ID, 10), ""}, tokens[2:]); err != nil {
		return nil, err
	}

	steps := []struct {
		fn           app.Function
		target, body string
	}{
		{follower.RegisterDeviceFunction(), "/user/device",
			fmt.Sprintf(`{"deviceToken":%q,"platform":"ios","osVersion":"18.2","appVersion":"2.4.0",`+
				`"environment":"production","locale":"en-IN","timeZone":"Asia/Kolkata"}`, tokens[0])},
		{follower.FollowMatchFunction(), "/user/follow/" + match, `{}`},
		{activity.StartActivityFunction(), "/user/activity/" + match, fmt.Sprintf(`{"pushToken":%q}`, tokens[1])},
		{follower.UnfollowMatchFunction(), "/user/follow/" + match, ""},
	}

	var measured []measure.Use

	for _, s := range steps {
		request := measure.SignedRequest(s.fn.On.(spec.Route), s.target, "7f6c1f0e-5d0a-4c5e-9b57-000000000000", s.body)
		measured = append(measured, measure.Use{What: s.fn.Name[len("cricket/"):], Open: measure.Ask(s.fn, measure.Same(request))})
	}

	costs, err := w.Uses(ctx, rounds, measured)
	if err != nil {
		return nil, err
	}

	all := make([]useCost, len(costs))
	for i, c := range costs {
		all[i] = useCost{c, audience}
	}

	return all, nil
}

// useRows are the uses. The units of each must not depend on the audience.
func useRows(uses []useCost) (rows []measure.Row) {
	few := map[string]useCost{}

	for _, u := range uses {
		r := measure.RowOf(fmt.Sprintf("%s, beside %s", u.What, measure.Counted(u.Audience, "phone")), u.Usage, u.Sum()+u.SQS)
		r.Compared = u.Capacity.String()

		r.Details = fmt.Sprintf("%s; fastest %s", u.Counters, measure.Short(u.Fastest))
		if f, more := few[u.What]; more {
			r.Target, r.Met = fmt.Sprintf("as with %d", f.Audience), u.Capacity == f.Capacity && u.Sum() == f.Sum()
		} else {
			few[u.What] = u
		}

		rows = append(rows, r)
	}

	return rows
}
