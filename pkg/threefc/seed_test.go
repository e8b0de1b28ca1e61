package threefc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"matchday/infra/rooms/threefc/threefctest"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/spec"
	"matchday/pkg/threefc"
	"matchday/pkg/threefc/tables"
)

// TestTableOfTheSeed: one table with the seed's keys, and no index.
func TestTableOfTheSeed(t *testing.T) {
	t.Parallel()
	own := slices.DeleteFunc(threefc.Room().Spec.Tables(), func(t spec.Table) bool { return t.Shared })
	same(t, "the tables", own, []spec.Table{{Name: "3fc-{stage}-app", Key: spec.Key{Partition: "pk", Sort: "sk"}, TTL: "ttlEpoch"}})
}

// TestNothingScans: no function reads the table as a whole, and every query names its
// partition.
func TestNothingScans(t *testing.T) {
	t.Parallel()

	for _, a := range threefc.Room().Spec.Access() {
		if slices.Contains(a.Ops, spec.Scan) {
			t.Errorf("%s scans", a.ID())
		}

		if slices.Contains(a.Ops, spec.Query) && !strings.Contains(a.Key, "pk=") {
			t.Errorf("%s queries by %s", a.ID(), a.Key)
		}
	}
}

// TestAccessPatternsOfTheSeed: each of the ten, and the two mirrors, has a function.
func TestAccessPatternsOfTheSeed(t *testing.T) {
	t.Parallel()

	used := map[string]bool{}
	for _, a := range threefc.Room().Spec.Access() {
		used[a.ID()] = true
	}

	for name, all := range map[string][]spec.Access{
		"create and read a league":             {tables.CreateLeague, tables.GetLeague},
		"create and list seasons":              {tables.CreateSeason, tables.ListSeasons},
		"create and list teams":                {tables.PutTeam, tables.ListTeams},
		"create and list sessions":             {tables.CreateSession, tables.ListSessions},
		"create and read a game":               {tables.CreateGame, tables.GetGame},
		"link and list the games of a session": {tables.CreateGame, tables.ListGames},
		"create and read a player":             {tables.CreatePlayer, tables.GetPlayer},
		"grant and list roles":                 {tables.SaveGrant, tables.ListGrants},
		"assign and list the roster":           {tables.SaveRoster, tables.ListRoster},
		"create and list goals":                {tables.SaveGoal, tables.ListGoals},
		"the mirrors":                          {tables.GetSeason, tables.GetSession},
	} {
		for _, a := range all {
			if !used[a.ID()] {
				t.Errorf("%s: no function uses %s", name, a.ID())
			}
		}
	}
}

// full returns a match that has every kind of item.
func full(t *testing.T) *match {
	t.Helper()
	m := club(t)
	m.Accounts()
	c := decode[struct{ Code string }](m, "sam", "POST", m.path("join-code"), nil).Code
	m.Do("eve", "POST", "/v1/join/"+c, map[string]any{"nickname": "Evie"})
	follow(m.World, "lena", ask(m.World, "lena@example.com"))
	m.played()
	m.Do("ann", "DELETE", m.path("goals/01JX0000000000000000000001"), nil)
	m.Do("vic", "PUT", "/v1/sessions/"+m.l.SessionID+"/availability", map[string]any{"status": "in"}, threefctest.Key("K"))
	m.Do("vic", "PUT", "/v1/me/preferences", map[string]any{"finishedGames": true, "reminders": false})
	second := m.Schedule("ann", m.l)
	m.Do("ann", "DELETE", "/v1/games/"+second, nil)

	return m
}

// patterns are the keys of items, by entityType; the first of the seed, then the room's own.
var patterns = map[string]string{
	"League":      `LEAGUE#I METADATA`,
	"Season":      `SEASON#I METADATA|LEAGUE#I SEASON#I`,
	"Team":        `SEASON#I TEAM#S`,
	"Session":     `SESSION#I METADATA|SEASON#I SESSION#I`,
	"Game":        `GAME#I METADATA`,
	"Goal":        `GAME#I GOAL#[123]#[0-9]{4}#I`,
	"Roster":      `GAME#I ROSTER#S#I`,
	"SessionGame": `(SESSION|SEASON)#I GAME#T#I`,
	"GameTallies": `SEASON#I GAME#~I`,
	"Grant":       `LEAGUE#I ACL#USER#U|USER#U LEAGUE#I`,
	"Player":      `PLAYER#I PROFILE|LEAGUE#I PLAYER#I`,

	"Slug":          `SLUG#S METADATA|(LEAGUE|SEASON)#I SLUG#S`,
	"RemovedGoal":   `GAME#I REMOVED#I`,
	"Pool":          `GAME#I POOL#I`,
	"Audit":         `GAME#I AUDIT#T#I`,
	"Table":         `SEASON#I (STANDING#S|PLAYERSTAT#I|LEADERS)`,
	"PlayerSeason":  `PLAYER#I STAT#I`,
	"Claim":         `USER#U PLAYER#I`,
	"User":          `USER#U METADATA`,
	"Answer":        `USER#U IDEMPOTENCY#H`,
	"AuthSession":   `AUTH_SESSION#H METADATA|USER#U AUTH_SESSION#H`,
	"AuthLink":      `AUTH_LINK#H METADATA`,
	"AuthMail":      `AUTH_MAIL#[0-9a-f]{64} METADATA`,
	"AuthCaller":    `AUTH_CALLER#[0-9a-f]{64} METADATA`,
	"Joins":         `JOINS#[0-9a-f]{64} METADATA`,
	"JoinCode":      `JOIN#[0-9A-Z]{8} METADATA`,
	"Outbox":        `OUTBOX (GAME|PLAYER)#I`,
	"Availability":  `SESSION#I AVAIL#I`,
	"Preferences":   `USER#U PREFERENCES`,
	"CancelledGame": `SEASON#I CANCELLED#I`,
	"Day":           `DAY#[0-9-]{10} SESSION#I`,
}

// expire are the types of items that the table deletes.
var expire = []string{"Answer", "AuthSession", "AuthLink", "AuthMail", "AuthCaller", "JoinCode", "Joins", "CancelledGame", "Mail", "RemovedGoal"}

// TestItems: each has the seed's keys and envelope, with data as a JSON text.
func TestItems(t *testing.T) {
	t.Parallel()
	m := full(t)
	fill := strings.NewReplacer("I", "[0-7][0-9A-HJKMNP-TV-Z]{25}", "S", "[a-z0-9-]+", "U", "[a-z0-9-]+", "T",
		"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", "H", "[A-Za-z0-9_-]{43}")
	// Placeholders are capitals that stand alone.
	placeholder := regexp.MustCompile(`\b[ISUTH]\b`)
	seen := map[string]bool{}

	for _, r := range everything(m.World) {
		kind, _ := r["entityType"].(string)
		seen[kind] = true

		key := fmt.Sprint(r["pk"], " ", r["sk"])
		if pattern, ok := patterns[kind]; !ok {
			t.Errorf("the item %s is of an unknown type, %s", key, kind)
		} else if re := regexp.MustCompile("^(" + placeholder.ReplaceAllStringFunc(pattern, fill.Replace) + ")$"); !re.MatchString(key) {
			t.Errorf("%s has the key %s, want %s", kind, key, pattern)
		}

		data, isText := r["data"].(string)
		if !isText || !json.Valid([]byte(data)) {
			t.Errorf("%s: data is %v, want a JSON text", key, r["data"])
		}

		if rev, _ := r["rev"].(float64); rev < 1 && kind != "PlayerSeason" {
			t.Errorf("%s: rev is %v", key, r["rev"])
		}

		for _, at := range []string{"createdAt", "updatedAt"} {
			if text, _ := r[at].(string); !regexp.MustCompile(`^2026-.*Z$`).MatchString(text) {
				t.Errorf("%s: %s is %v", key, at, r[at])
			}
		}

		_, ttl := r["ttlEpoch"]

		_, status := r["status"]
		if ttl != slices.Contains(expire, kind) || status != (kind == "Game") {
			t.Errorf("%s of type %s has the attributes %v", key, kind, r)
		}

		for name := range r {
			if !slices.Contains([]string{"pk", "sk", "entityType", "createdAt", "updatedAt", "data", "rev", "status", "ttlEpoch"}, name) {
				t.Errorf("%s has the attribute %s", key, name)
			}
		}
	}

	for kind := range patterns {
		if !seen[kind] {
			t.Errorf("there is no item of type %s", kind)
		}
	}
}

// mirrors are the copies of what is in two places.
var mirrors = map[string]bool{"Season": true, "Session": true, "Grant": true, "Player": true, "SessionGame": true,
	"EndingLeague": true}

// mirrored checks that each item that belongs in two places is in both, with the same data
// and revision.
func (m *match) mirrored(what string) {
	m.T.Helper()

	copies := map[string]int{}

	for _, r := range everything(m.World) {
		if kind, _ := r["entityType"].(string); mirrors[kind] {
			copies[fmt.Sprint(kind, " ", r["rev"], " ", r["createdAt"], r["updatedAt"], r["data"])]++
		}
	}

	for text, n := range copies {
		if n != 2 {
			m.T.Errorf("%s: %d copies of %s", what, n, text)
		}
	}
}

// TestMirrorsAreEqual after every write.
func TestMirrorsAreEqual(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.Accounts()
	m.mirrored("at first")

	of := methods()
	for _, r := range m.routes() {
		if of[r.fn] != "GET" && r.least != anybody {
			out := m.Ask("ann", of[r.fn], r.path, r.body, r.headers...)
			if out.StatusCode >= 500 {
				t.Errorf("%s: %s", r.fn, out.Body)
			}

			m.mirrored(r.fn)
		}
	}
}

// TestAnswersKeepTheMirrors: whoever answers for a session, by the API or on the page, changes both copies of it.
func TestAnswersKeepTheMirrors(t *testing.T) {
	t.Parallel()
	m := club(t)
	m.lena()

	id := m.l.SessionID
	m.Do("lena", "PUT", "/v1/sessions/"+id+"/availability", map[string]any{"status": "in"})
	m.mirrored("an answer by the API")
	m.send("lena", "/sessions/"+id+"/me", url.Values{"status": {"out"}}, 200, "You are out.")
	m.mirrored("an answer on the page")
}

// TestFailuresLeaveNothingHalf: whichever call fails of a request that writes in two places,
// both are written, or none.
func TestFailuresLeaveNothingHalf(t *testing.T) {
	t.Parallel()

	m := club(t)
	for name, ask := range map[string]func() events.APIGatewayV2HTTPResponse{
		"create a league": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("eve", "POST", "/v1/leagues", map[string]any{"name": "Other"})
		},
		"create a season": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("ann", "POST", "/v1/leagues/"+m.l.ID+"/seasons", map[string]any{"name": "Autumn"})
		},
		"create a session": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("sam", "POST", "/v1/seasons/"+m.l.SeasonID+"/sessions", map[string]any{"sessionDate": "2026-06-13"})
		},
		"create a game": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("sam", "POST", "/v1/sessions/"+m.l.SessionID+"/games",
				map[string]any{"gameStartTs": "2026-06-06T19:00:00Z", "thirdLength": 20})
		},
		"create a player": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("sam", "POST", "/v1/players", map[string]any{"leagueId": m.l.ID, "nickname": "Jo"})
		},
		"change a role": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("ann", "PUT", "/v1/leagues/"+m.l.ID+"/access/vic", map[string]any{"role": "scorekeeper"})
		},
		"move a game": func() events.APIGatewayV2HTTPResponse {
			return m.Ask("sam", "PATCH", m.path(), map[string]any{"gameStartTs": "2026-06-06T19:30:00Z"})
		},
	} {
		before := len(everything(m.World))
		dynamotest.CheckFailures(t, &m.IO, func() error {
			out := ask()
			if out.StatusCode < 300 {
				return nil
			}

			m.mirrored(name)

			if n := len(everything(m.World)); n != before {
				t.Errorf("%s: after a failure there are %d items, and were %d", name, n, before)
			}

			return errors.New(out.Body)
		})
		m.mirrored(name)
	}
}
