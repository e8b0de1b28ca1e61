package fleet

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"matchday/pkg/spec"
)

// repeatable says, of each POST without an Idempotency-Key, why a second one has no second effect.
var repeatable = map[string]string{
	"accounts/invite-account":           "the user of an address",
	"bestshot/close-letter":             "a message is closed once",
	"bestshot/correct-match":            "the same result is no correction",
	"bestshot/create-match":             "a match, by its round and teams",
	"bestshot/create-member":            "a user is one member",
	"bestshot/create-tournament":        "the same tournament, by its slug and season",
	"bestshot/decide-question":          "the same answers are no other decision",
	"bestshot/hydrate-scoreboard":       "fills in what is missing",
	"bestshot/hydrate-scoreboards":      "fills in what is missing",
	"bestshot/join-league":              "a member is in a league once",
	"bestshot/put-guess":                "a member has one guess of a match",
	"bestshot/register-device":          "a phone, by its token",
	"bestshot/renew-code":               "the league has the code of the last answer",
	"bestshot/replay-letter":            "a settlement is applied once",
	"bestshot/sync-tournament":          "one execution at a time",
	"commitcollect/activate-model":      "a model is active once",
	"commitcollect/create-subscription": "Strava has one subscription of an app",
	"commitcollect/logout":              "ends a session that ends once",
	"commitcollect/receive-webhook":     "an event, by its content",
	"commitcollect/recompute-milestone": "computes the same again",
	"commitcollect/register-device":     "a phone, by its token",
	"commitcollect/replay-event":        "an event, by its key",
	"commitcollect/replay-user":         "computes the same again",
	"commitcollect/retire-model":        "a model is retired once",
	"commitcollect/sync-activities":     "a workout, by Strava's id",
	"cricket/follow-match":              "a user follows a match once",
	"cricket/register-device":           "a phone, by its token",
	"cricket/reopen-match":              "an end is withdrawn once",
	"cricket/start-activity":            "a phone has one activity of a match",
	"pickem/create-event":               "the same event, by its date and slug",
	"pickem/import-event":               "rows that are stored already are left as they are",
	"pickem/invite-user":                "a user is one member",
	"pickem/join-league":                "a member is in a league once",
	"pickem/register-device":            "a phone, by its token",
	"pickem/renew-code":                 "the league has the code of the last answer",
	"pickem/request-score":              "an event is scored to the same points",
	"threefc/accept-invitation":         "a user is a member once",
	"threefc/accept-proposal":           "a goal is added once, and the proposal is gone",
	"threefc/end-league":                "a league ends once",
	"threefc/enter-scoring-pin":         "a phone that enters it again scores by another cookie",
	"threefc/finish-sign-in":            "a link signs in once",
	"threefc/operate-league":            "a league is hidden, and a name replaced, once",
	"threefc/restore-league":            "a league that is there stays",
	"threefc/send-sign-in-link":         "mails one more link, and all of them are valid",
	"threefc/start-sign-in":             "mails one more link, and all of them are valid",
	"threefc/submit-availability":       "a player has one answer to a session",
	"threefc/submit-home":               "the form has a key",
	"threefc/submit-invitation":         "a user is a member once",
	"threefc/submit-join":               "the form has a key",
	"threefc/submit-manage":             "the form has a key",
	"threefc/submit-manage-part":        "the form has a key",
	"threefc/submit-preferences":        "the last choice counts",
	"threefc/submit-report":             "a name is asked for once; a report that is sent again is stored again, and closed",
	"threefc/submit-sign-in":            "a link signs in once",
}

// TestRepeatedPOST: a POST takes an Idempotency-Key, or has no second effect by itself.
func TestRepeatedPOST(t *testing.T) {
	t.Parallel()

	without := map[string]bool{}

	for _, room := range Rooms() {
		for _, f := range room.Functions {
			on, ok := f.On.(spec.Route)
			if !ok || on.Method != http.MethodPost {
				continue
			}

			text, err := f.OpenAPI()
			if err != nil {
				t.Fatal(err)
			}

			var doc struct {
				Paths map[string]struct {
					Post struct{ Parameters []struct{ Name, In string } }
				}
			}
			if err := json.Unmarshal(text, &doc); err != nil || len(doc.Paths) != 1 {
				t.Fatalf("%s has the paths %v, %v", f.Name, doc.Paths, err)
			}

			keyed := false

			for _, path := range doc.Paths {
				for _, p := range path.Post.Parameters {
					keyed = keyed || p.In == "header" && strings.EqualFold(p.Name, "Idempotency-Key")
				}
			}

			if without[f.Name] = !keyed; keyed == (repeatable[f.Name] != "") {
				t.Errorf("%s takes an Idempotency-Key: %t, and is repeatable because %q", f.Name, keyed, repeatable[f.Name])
			}
		}
	}

	for name := range repeatable {
		if !without[name] {
			t.Errorf("%s is no POST without an Idempotency-Key", name)
		}
	}
}
