// Package smoke checks a deployed cricket API: the lists, one match and what is
// shown of it, and the answer for a match that does not exist.
package smoke

import (
	"context"
	"fmt"
	"net/http"

	"matchday/infra/tools/smoke/check"
)

// Run runs the room's steps.
func Run(ctx context.Context, s *check.Session) {
	if id := firstMatch(ctx, s, firstLeague(ctx, s)); id != "" {
		readMatch(ctx, s, id)
	}

	a := s.Get(ctx, "/matches/9999999999999999999")
	s.Report("a match that does not exist", a, a.ExpectNotFound(), "")

	if s.Token != "" {
		a := s.GetSigned(ctx, "/user/preferences")
		s.Report("preferences of the token's user", a, a.Expect(http.StatusOK), "")
	}
}

// firstLeague lists the leagues and returns the id of the first, "" when there is
// none.
func firstLeague(ctx context.Context, s *check.Session) string {
	a := s.Get(ctx, "/leagues")

	var list struct{ Leagues []struct{ ID, Title string } }

	wrong, note := a.Decode(&list), "none yet: invoke sync-leagues"
	if len(list.Leagues) > 0 {
		note = fmt.Sprintf("%d, %s first", len(list.Leagues), list.Leagues[0].Title)
	}

	s.Report("leagues", a, wrong, note)

	if len(list.Leagues) == 0 {
		return ""
	}

	return list.Leagues[0].ID
}

// firstMatch lists matches of a league and returns the id of the first, "" when
// there is none.
func firstMatch(ctx context.Context, s *check.Session, league string) string {
	if league == "" {
		return ""
	}

	a := s.Get(ctx, "/matches?limit=5&league="+league)

	var list struct {
		Matches []struct {
			ID             string
			Local, Visitor struct{ Name string }
		}
	}

	wrong, note := a.Decode(&list), "none yet: invoke sync-fixtures"
	if len(list.Matches) > 0 {
		m := list.Matches[0]
		note = fmt.Sprintf("%d, %s v %s first", len(list.Matches), m.Local.Name, m.Visitor.Name)
	}

	s.Report("matches of the first league", a, wrong, note)

	if len(list.Matches) == 0 {
		return ""
	}

	return list.Matches[0].ID
}

// readMatch reads a match, reads it again with its ETag, and reads the state that
// a lock screen shows.
func readMatch(ctx context.Context, s *check.Session, id string) {
	a := s.Get(ctx, "/matches/"+id)

	var m struct{ Status string }

	wrong, tag := a.Decode(&m), a.Header.Get("ETag")
	if wrong == "" && tag == "" {
		wrong = "want an ETag"
	}

	s.Report("the first match", a, wrong, m.Status)

	if wrong == "" && a.Err == nil {
		a = s.Get(ctx, "/matches/"+id, "If-None-Match", tag)
		wrong = ""
		// A live match may have changed since: then it has another ETag.
		if a.Status != http.StatusNotModified && (a.Status != http.StatusOK || a.Header.Get("ETag") == tag) {
			wrong = "want status 304"
		}

		s.Report("the same match with If-None-Match", a, wrong, "")
	}

	a = s.Get(ctx, "/matches/"+id+"/display")

	var display map[string]any

	wrong = a.Decode(&display)
	if wrong == "" && len(display) == 0 {
		wrong = "want a display that is not empty"
	}

	s.Report("display of the first match", a, wrong, "")
}
