package threefc

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"matchday/infra/local/console"
	"matchday/infra/local/fleet"
	"matchday/infra/rooms"
	"matchday/infra/rooms/threefc/browser"
	"matchday/pkg/threefc"
)

//go:embed panel
var files embed.FS

// visitor is the address of the console's visitor, who owns a league.
const visitor = "me@matchday.example"

// visit is the league of the visitor.
type visit struct {
	*Host
	browser *browser.Browser // nil until the fleet has started

	mu                    sync.Mutex
	league, season, today string // ids
	slugs                 string // of the league and the season
	players               []string
	score, page           string // addresses of pages
}

// panel returns the room's tab, which leads to the room's own pages.
func (v *visit) panel() console.Panel {
	return console.Panel{
		Room: threefc.Room().Spec.Name, Title: "3FC", Files: console.FilesOf(files), View: v.view,
		Buttons: map[string]console.Button{
			"game": console.NewButton(func(ctx context.Context, _ struct{}) (string, error) {
				if v.browser == nil {
					return "", errors.New("the fleet is starting, or 3FC mails no more links for now")
				}

				return "A game is about to begin.", v.newGame(ctx)
			}),
		},
	}
}

func (v *visit) view(time.Time) map[string]any {
	v.mu.Lock()
	defer v.mu.Unlock()

	return map[string]any{"threefc": map[string]string{"email": visitor, "score": v.score, "page": v.page}}
}

// demo is what `make run` plays: a league with a game that is about to begin.
func (v *visit) demo(o rooms.Options) (rooms.Demo, error) {
	return rooms.Demo{Prepare: func(ctx context.Context) error {
		b := browser.New(v.URL + "/threefc")

		err := b.SignIn(ctx, visitor, v.Mail)
		if refusal, ok := errors.AsType[*fleet.Refusal](err); ok && refusal.Status == http.StatusTooManyRequests {
			o.Say("3FC mails no more links to %s for now: its tab has the game of the last run", visitor)
			return nil
		}

		if err != nil {
			return err
		}

		v.browser = b
		if err := v.found(ctx); err != nil {
			return err
		}

		if err := v.newGame(ctx); err != nil {
			return err
		}

		o.Say("a three-team game is about to begin: sign in on the tab 3FC as %s", visitor)

		return nil
	}}, nil
}

// found creates the league of the visitor with a season, three teams, a session and players.
// It is another in each run.
func (v *visit) found(ctx context.Context) error {
	var league, season, session struct{ LeagueID, SeasonID, SessionID, Slug string }

	post := func(path string, in, out any) error {
		return v.browser.Call(ctx, http.MethodPost, path, in, out)
	}
	if err := post("/v1/leagues", map[string]any{"name": "Parkside"}, &league); err != nil {
		return err
	}

	if err := post("/v1/leagues/"+league.LeagueID+"/seasons",
		map[string]any{"name": "Season " + v.Clock.Now().Format("2006")}, &season); err != nil {
		return err
	}

	for _, team := range []string{"red", "blue", "yellow"} {
		if err := v.browser.Call(ctx, http.MethodPut, "/v1/seasons/"+season.SeasonID+"/teams/"+team, map[string]any{}, nil); err != nil {
			return err
		}
	}

	if err := post("/v1/seasons/"+season.SeasonID+"/sessions",
		map[string]any{"sessionDate": v.Clock.Now().Format(time.DateOnly)}, &session); err != nil {
		return err
	}

	v.league, v.season, v.today, v.slugs = league.LeagueID, season.SeasonID, session.SessionID, league.Slug+"/"+season.Slug

	for _, name := range strings.Fields("Ada Bo Cy Di Ed Flo Gus Hal Ida") {
		var player struct{ PlayerID string }
		if err := post("/v1/players", map[string]any{"leagueId": v.league, "nickname": name}, &player); err != nil {
			return err
		}

		v.players = append(v.players, player.PlayerID)
	}

	return nil
}

// newGame creates a game with a roster, to which the tab leads next.
func (v *visit) newGame(ctx context.Context) error {
	var game struct{ GameID, Slug string }
	if err := v.browser.Call(ctx, http.MethodPost, "/v1/sessions/"+v.today+"/games",
		map[string]any{"gameStartTs": v.Clock.Now(), "thirdLength": 20}, &game); err != nil {
		return err
	}

	for i, p := range v.players {
		team := []string{"red", "blue", "yellow"}[i%3]
		if err := v.browser.Call(ctx, http.MethodPut, fmt.Sprintf("/v1/games/%s/roster/%s", game.GameID, p),
			map[string]any{"teamId": team}, nil); err != nil {
			return err
		}
	}

	v.mu.Lock()
	defer v.mu.Unlock()

	v.score, v.page = "/threefc/score/"+v.today, "/threefc/l/"+v.slugs+"/"+game.Slug

	return nil
}
