package threefc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"matchday/infra/tools/events/story"
	"matchday/pkg/kit/session"
	"matchday/pkg/threefc/item"
	"matchday/pkg/threefc/signin"
	"matchday/pkg/threefc/standing"
)

// Users of the sample events.
const (
	ann    = "7f6c1f0e-5d0a-4c5e-9b57-0000000a3fc1" // administrator of the league
	sam    = "7f6c1f0e-5d0a-4c5e-9b57-0000000b3fc2" // scorekeeper
	vic    = "7f6c1f0e-5d0a-4c5e-9b57-0000000c3fc3" // viewer
	leaver = "7f6c1f0e-5d0a-4c5e-9b57-0000000d3fc4" // deletes the account
	gone   = "7f6c1f0e-5d0a-4c5e-9b57-0000000e3fc5" // has deleted it
	out    = "7f6c1f0e-5d0a-4c5e-9b57-0000000f3fc6" // signs out
)

// Ids of what the events name.
const (
	league      = "01JX0000000000000000000001"
	emptyLeague = "01JX0000000000000000000002"
	season      = "01JX0000000000000000000011"
	emptySeason = "01JX0000000000000000000012"
	day         = "01JX0000000000000000000021"
	emptyDay    = "01JX0000000000000000000022"
	scheduled   = "01JX0000000000000000000031" // to be changed
	live        = "01JX0000000000000000000032" // in its first third
	over        = "01JX0000000000000000000033" // all thirds are finished
	finished    = "01JX0000000000000000000034"
	cancelled   = "01JX0000000000000000000035" // to be deleted
	next        = "01JX0000000000000000000036" // about to start
	unheard     = "01JX0000000000000000000037" // whose message to the tables was lost
)

// samples belong to the sample events: Ann and Sam look after a league.
func (h *Host) samples() story.Samples {
	return story.Samples{
		Prepare: h.prepareSamples,
		Sessions: map[string]string{
			cookie("ann"): ann, cookie("sam"): sam, cookie("vic"): vic, cookie("leaver"): leaver, cookie("out"): out,
			cookie("stranger"): story.Stranger, cookie("expired"): story.Expired,
		},
		Apps: map[string]string{
			token("ann's phone"): ann, token("sam's phone"): sam, token("vic's phone"): vic, token("leaver's phone"): leaver,
			token("out's phone"): out, token("expired phone"): story.Expired,
		},
	}
}

// token returns the token of a session of the events: 32 bytes that begin with a name.
func token(name string) string {
	var b [32]byte
	copy(b[:], name)

	return base64.RawURLEncoding.EncodeToString(b[:])
}

func cookie(name string) string { return signin.Cookie.FullName() + "=" + token(name) }

// prepareSamples stores what the events name.
func (h *Host) prepareSamples(put func(table string, row map[string]any) error) error {
	now := h.Clock.Now()

	var failed error

	add := func(pk, sk, entityType string, data any, more ...map[string]any) {
		text, err := json.Marshal(data)
		if err != nil && failed == nil {
			failed = err
		}

		row := map[string]any{
			"pk":         pk,
			"sk":         sk,
			"entityType": entityType,
			"createdAt":  "2026-06-01T12:00:00Z",
			"updatedAt":  "2026-06-01T12:00:00Z",
			"data":       string(text),
			"rev":        1,
		}

		for _, m := range more {
			for name, v := range m {
				row[name] = v
			}
		}

		if err := put("3fc-{stage}-app", row); err != nil && failed == nil {
			failed = err
		}
	}
	until := map[string]any{"ttlEpoch": now.Add(12 * time.Hour).Unix()}

	for of, user := range h.samples().Sessions {
		c, err := http.ParseSetCookie(of)
		if err != nil {
			return err
		}

		ends := until
		if user == story.Expired {
			ends = map[string]any{"ttlEpoch": now.Unix()}
		}

		add(item.LoginKey(session.ID(c.Value)), item.Metadata, "AuthSession",
			map[string]string{"userId": user, "email": user + "@example.com"}, ends)
	}

	for of, user := range h.samples().Apps {
		ends := until
		if user == story.Expired {
			ends = map[string]any{"ttlEpoch": now.Unix()}
		}

		add(item.LoginKey(session.ID(of)), item.Metadata, "AuthSession",
			map[string]string{"userId": user, "email": user + "@example.com", "client": "native"}, ends)
	}

	for _, name := range []string{"lea", "leo"} {
		add(item.LinkKey(token(name)), item.Metadata, "AuthLink",
			map[string]string{"email": name + "@example.com", "tokenHash": session.ID(token("secret"))}, until)
	}

	roles := map[string]item.Role{ann: item.Admin, sam: item.Scorekeeper, vic: item.Viewer}

	add(item.LeagueKey(league), item.Metadata, "League",
		item.League{
			ID:      league,
			Name:    "Parkside",
			Slug:    "parkside",
			Admins:  1,
			Members: 3,
			Seasons: 2,
			Players: 8,
		})
	add(item.SlugKey("parkside"), item.Metadata, "Slug", item.Ref{ID: league})

	for user, role := range roles {
		g := item.Grant{LeagueID: league, UserID: user, Role: role}
		add(item.LeagueKey(league), item.GrantKey(user), "Grant", g)
		add(item.UserKey(user), item.LeagueKey(league), "Grant", g)
	}

	invited := sha256.Sum256([]byte(out + "@example.com"))
	add(item.LeagueKey(league), item.Invites+hex.EncodeToString(invited[:]), "Invitation",
		map[string]any{
			"invitationId": "01JX0000000000000000000051",
			"leagueId":     league,
			"email":        out + "@example.com",
			"role":         item.Viewer,
			"byUserId":     ann,
		}, until)

	add(item.LeagueKey(emptyLeague), item.Metadata, "League",
		item.League{ID: emptyLeague, Name: "Old league", Slug: "old-league", Admins: 1, Members: 1})
	add(item.SlugKey("old-league"), item.Metadata, "Slug", item.Ref{ID: emptyLeague})
	add(item.LeagueKey(emptyLeague), item.GrantKey(ann), "Grant", item.Grant{LeagueID: emptyLeague, UserID: ann, Role: item.Admin})
	add(item.UserKey(ann), item.LeagueKey(emptyLeague), "Grant", item.Grant{LeagueID: emptyLeague, UserID: ann, Role: item.Admin})

	teams := []item.Team{
		{TeamID: "blue", Name: "Blue", Color: "#0057b8"},
		{TeamID: "red", Name: "Red", Color: "#c8102e"},
		{TeamID: "yellow", Name: "Yellow", Color: "#ffd100"},
	}
	for _, s := range []item.Season{
		{
			ID:       season,
			LeagueID: league,
			Name:     "Spring 2026",
			Slug:     "spring-2026",
			Starts:   "2026-03-01",
			Ends:     "2026-06-30",
			TimeZone: "Europe/London",
			Teams:    4,
			Sessions: 2,
		},
		{ID: emptySeason, LeagueID: league, Name: "Autumn 2025", Slug: "autumn-2025", TimeZone: "UTC"},
	} {
		add(item.SeasonKey(s.ID), item.Metadata, "Season", s)
		add(item.LeagueKey(league), item.SeasonKey(s.ID), "Season", s)
		add(item.LeagueKey(league), item.SlugKey(s.Slug), "Slug", item.Ref{ID: s.ID})
	}

	for _, t := range append(teams, item.Team{TeamID: "green", Name: "Green", Color: "#00843d"}) {
		add(item.SeasonKey(season), item.TeamKey(t.TeamID), "Team", t)
	}

	for _, x := range []item.Session{
		{
			ID:       day,
			LeagueID: league,
			SeasonID: season,
			Date:     "2026-06-06",
			Games:    6,
			Created:  6,
		},
		{ID: emptyDay, LeagueID: league, SeasonID: season, Date: "2026-06-13"},
	} {
		add(item.SessionKey(x.ID), item.Metadata, "Session", x)
		add(item.SeasonKey(season), item.SessionKey(x.ID), "Session", x)
	}

	for i, name := range []string{"Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Eddie", "Nobody"} {
		p := item.Player{ID: playerID(i + 1), LeagueID: league, Nickname: name}
		if name == "Ed" {
			p.ClaimedBy = gone
			add(item.UserKey(gone), item.PlayerKey(p.ID), "Claim", item.Claim{PlayerID: p.ID, LeagueID: league})
		}

		if name == "Di" {
			p.ClaimedBy = vic
			add(item.UserKey(vic), item.PlayerKey(p.ID), "Claim", item.Claim{PlayerID: p.ID, LeagueID: league})
			add(item.PlayerKey(p.ID), item.Stats+season, "PlayerSeason", standing.PlayerTotals{PlayerID: p.ID, Nickname: name, Games: 1})
		}

		add(item.PlayerKey(p.ID), item.Profile, "Player", p)
		add(item.LeagueKey(league), item.PlayerKey(p.ID), "Player", p)
	}

	add(item.OutboxKey, item.GameKey(unheard), "Outbox", item.Outbox{GameID: unheard, SeasonID: season, Rev: 1})

	played := item.Third{StartedAt: "2026-06-06T13:00:00Z", FinishedAt: "2026-06-06T13:20:00Z"}
	for id, g := range map[string]struct {
		status string
		start  string
		thirds [item.Thirds]item.Third
		result *item.Result
	}{
		scheduled: {item.Scheduled, "2026-06-06T18:00:00Z", [item.Thirds]item.Third{}, nil},
		next:      {item.Scheduled, "2026-06-06T14:20:00Z", [item.Thirds]item.Third{}, nil},
		cancelled: {item.Scheduled, "2026-06-06T19:00:00Z", [item.Thirds]item.Third{}, nil},
		live:      {item.Live, "2026-06-06T14:00:00Z", [item.Thirds]item.Third{{StartedAt: "2026-06-06T14:10:00Z"}}, nil},
		over:      {item.Live, "2026-06-06T13:00:00Z", [item.Thirds]item.Third{played, played, played}, nil},
		finished:  {item.Finished, "2026-06-06T12:00:00Z", [item.Thirds]item.Third{played, played, played}, &item.Result{Winner: "red"}},
	} {
		var goals []item.Goal

		if id == live || id == finished {
			for i, minute := range []int{2, 4, 6} {
				goals = append(goals, item.Goal{
					ID:         goalID(id, i+1),
					Third:      1,
					Minute:     minute,
					Scoring:    "red",
					Conceding:  "blue",
					Scorer:     playerID(1),
					Assists:    []string{},
					RecordedBy: sam,
				})
			}
		}

		game := item.Game{
			ID:          id,
			LeagueID:    league,
			SeasonID:    season,
			SessionID:   day,
			Slug:        "2026-06-06-" + id[len(id)-1:],
			StartTs:     g.start,
			ThirdLength: 20,
			Location:    "Pitch 2",
			Teams:       teams,
			Thirds:      g.thirds,
			Scores:      item.Scores(teams, goals),
			Result:      g.result,
		}
		add(item.GameKey(id), item.Metadata, "Game", game, map[string]any{"status": g.status})
		add(item.SeasonKey(season), item.SlugKey(game.Slug), "Slug", item.Ref{ID: id})

		var seats []item.Seat
		for i, team := range []string{"red", "red", "blue", "blue", "yellow", "yellow"} {
			seats = append(seats, item.Seat{TeamID: team, PlayerID: playerID(i + 1)})
			add(item.GameKey(id), item.RosterKey(team, playerID(i+1)), "Roster", seats[i])
		}

		l := item.Listing{
			GameID:      id,
			SessionID:   day,
			Slug:        game.Slug,
			StartTs:     g.start,
			ThirdLength: 20,
			Location:    game.Location,
			Status:      g.status,
			Teams:       teams,
		}
		if g.result != nil {
			l.Scores, l.Result = game.Scores, g.result

			add(item.SeasonKey(season), item.TalliesKey(id), "GameTallies",
				item.GameTallies{GameID: id, Status: item.Finished, Players: item.Tallies(seats, goals)})
			add(item.OutboxKey, item.GameKey(id), "Outbox", item.Outbox{GameID: id, SeasonID: season, Rev: 1})
		}

		for _, pk := range []string{item.SessionKey(day), item.SeasonKey(season)} {
			add(pk, item.StartKey(g.start, id), "SessionGame", l)
		}

		for _, goal := range goals {
			add(item.GameKey(id), item.GoalKey(goal), "Goal", goal)
		}
	}

	add(item.DayKey("2026-06-07"), item.SessionKey(day), "Day",
		item.Day{ID: day, TimeZone: "Atlantic/South_Georgia"}) // where it is noon when samples are sent

	if _, err := h.Users.SignIn(context.Background(), vic, "Vic", nil); err != nil {
		return err
	}

	add(item.JoinKey("7Q2MZ0KD"), item.Metadata, "JoinCode", item.Join{Code: "7Q2MZ0KD", GameID: scheduled}, until)

	for _, id := range []string{"01JX0000000000000000000071", "01JX0000000000000000000072"} {
		add(item.GameKey(next), item.ProposalKey(id), "Proposal", item.Proposal{At: "2026-06-06T13:30:00Z", Goal: item.Goal{
			ID:         id,
			Third:      1,
			Minute:     7,
			Scoring:    "red",
			Conceding:  "blue",
			Scorer:     playerID(1),
			Assists:    []string{},
			RecordedBy: sam,
		}})
	}

	gone := item.EndingLeague{
		League: item.League{ID: "01JX0000000000000000000009", Name: "Northside", Slug: "northside", Admins: 1, Members: 1}, Rev: 1,
		Until: "2026-06-06T12:00:00Z", By: ann,
	}
	add(item.LeagueKey(gone.League.ID), item.Ending, "EndingLeague", gone)
	add(item.Ending, item.LeagueKey(gone.League.ID), "EndingLeague", gone)

	add(item.SessionKey(day), item.PINKey, "PIN", item.PIN{ID: "01JX0000000000000000000061", Code: "7Q2MZ0KD"}, until)

	return failed
}

func playerID(n int) string { return "01JX000000000000000000004" + string(rune('0'+n)) }
func goalID(game string, n int) string {
	return "01JX00000000000000000000" + game[len(game)-1:] + string(rune('0'+n))
}
