// Package accounts is what the room of the accounts brings outside pkg: its tab on the
// console, sample events, smoke steps and cost.
package accounts

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/tools/bench/measure"
	"matchday/infra/tools/cost/usage"
	"matchday/infra/tools/smoke/check"
	"matchday/pkg/accounts"
	"matchday/pkg/kit/app"
)

// Room plugs the accounts in.
var Room = rooms.Room{
	Room:  accounts.Room(),
	Local: newLocal,
	Smoke: smoke,
	Bench: measure.Suite{
		Run:      func(context.Context) ([]measure.Row, any, error) { return nil, map[string]any{}, nil },
		Binaries: []app.Function{accounts.FinishJobFunction()},
	},
	Cost: usage.Model{Kept: []byte(`{}`), AtRest: 1.45, Report: cost},
}

// newLocal returns the accounts in one local fleet.
func newLocal() rooms.Local {
	host := &fleet.Host{}

	return rooms.Local{
		Samples: samples(host),
		Fleet: fleet.Room{Room: accounts.Room(), Simulate: func(h fleet.Host) ([]string, error) {
			*host = h
			return nil, nil
		}},
		Panel: panel(func(ctx context.Context, user, method, path string, in, out any) error {
			return host.Call(ctx, user, method, "/"+accounts.Room().Spec.Name+path, in, out)
		}),
	}
}

//go:embed panel
var files embed.FS

// order is the body of a button's request.
type order struct {
	User string `json:"user"`
}

var users = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// panel returns the room's tab: what a user may do with the account, and the accounts as
// an administrator sees them.
func panel(call func(ctx context.Context, user, method, path string, in, out any) error) console.Panel {
	button := func(do func(ctx context.Context, user string) (string, error)) console.Button {
		return console.NewButton(func(ctx context.Context, in order) (string, error) {
			if !users.MatchString(in.User) {
				return "", errors.New("a user is named by letters, digits and hyphens")
			}

			return do(ctx, in.User)
		})
	}

	return console.Panel{
		Room: accounts.Room().Spec.Name, Title: "Accounts", Files: console.FilesOf(files),
		Buttons: map[string]console.Button{
			"export": button(func(ctx context.Context, user string) (string, error) {
				var out struct{ URL string }
				if err := call(ctx, user, http.MethodGet, "/account/export", nil, &out); err != nil || out.URL == "" {
					return "The data is being collected: ask again.", err
				}

				return "It is at " + out.URL, nil
			}),
			"delete": button(func(ctx context.Context, user string) (string, error) {
				return "The account is deleted. The rooms delete what they have within two minutes.", call(ctx, user,
					http.MethodDelete, "/account", nil, nil)
			}),
			"show": button(func(ctx context.Context, user string) (string, error) {
				var out json.RawMessage

				err := call(ctx, user, http.MethodGet, "/account", nil, &out)

				return string(out), err
			}),
		},
	}
}

// smoke runs the room's steps.
func smoke(ctx context.Context, s *check.Session) {
	a := s.Get(ctx, "/account")
	s.Report("the account without a token", a, a.Expect(http.StatusUnauthorized), "")

	if s.Token == "" {
		return
	}

	a = s.GetSigned(ctx, "/account")

	var account map[string]any
	s.Report("the account", a, a.Decode(&account), "")
}

// What is assumed of each user and month.
const (
	deletions = 0.02
	exports   = 0.01
	calls     = 6.0 // invocations of a deletion or an export, in all rooms
	writes    = 40.0
	reads     = 40.0
)

// cost is the room's part of the cost report.
func cost(in usage.Input) (usage.Report, error) {
	fixed, err := usage.Fixed(accounts.Room().Spec, 0.5)
	if err != nil {
		return usage.Report{}, err
	}

	metrics := usage.Emitted(accounts.Room().Spec, usage.HoursOfMonth)
	rows := [][]string{{"users", "fixed", "metrics", "deletions and exports", "TOTAL"}}

	for _, n := range []float64{100, 10_000, 1_000_000} {
		jobs := n * (deletions + exports)
		u := usage.Usage{
			APIRequests: jobs, LambdaRequests: jobs * calls, LambdaGBSeconds: jobs * calls * 0.1 * 0.25,
			Traces: usage.Traced(jobs * calls), InitGBSeconds: usage.Init(jobs*calls, 0.25),
			ReadUnits: jobs * reads, WriteUnits: jobs * writes, SQSRequests: jobs * calls * 3,
		}
		rows = append(rows, []string{usage.Grouped(n), usage.Dollars(fixed.Dollars(in.Prices)), usage.Dollars(metrics.Dollars(in.Prices)),
			usage.Dollars(u.Dollars(in.Prices)), usage.Dollars(fixed.Plus(metrics).Plus(u).Dollars(in.Prices))})
	}

	return usage.Report{Title: "The accounts.", Rows: rows, Notes: fmt.Sprintf(
		"Of 100 users, %g delete their accounts and %g export their data in a month: each %g invocations, %g write units and %g read units in "+
			"all rooms. Metrics %s.\n",
		100*deletions, 100*exports, calls, writes, reads, usage.EmittedNote)}, nil
}
