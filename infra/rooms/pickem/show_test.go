package pickem

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/pkg/pickem/event"
	"matchday/pkg/pickem/item"
)

func TestPast(t *testing.T) {
	t.Parallel()

	for now, want := range map[string][]string{
		// a Saturday
		"2026-06-06T00:00:00Z": {"2026-05-09-fog-bell", "2026-05-16-the-last-ferry", "2026-05-23-kingfisher-crown", "2026-05-30-saltstorm"},
		"2026-06-07T23:00:00Z": {"2026-05-16-the-last-ferry", "2026-05-23-kingfisher-crown", "2026-05-30-saltstorm", "2026-06-06-clash-of-tides"},
		"2026-01-14T12:00:00Z": {"2026-01-03-night-of-lanterns", "2026-01-10-iron-regatta"}, // the year has no others
		"2026-01-03T12:00:00Z": nil,
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}

		var got []string
		for _, s := range past(at) {
			got = append(got, s.ID)
			if !s.gala || !ours(event.Event{ID: s.ID}) || onTour(event.Event{ID: s.ID}) {
				t.Errorf("%s is no gala", s.ID)
			}
		}

		if !slices.Equal(got, want) {
			t.Errorf("at %s the galas are %q, want %q", now, got, want)
		}
	}
}

func TestTour(t *testing.T) {
	t.Parallel()

	ids := regexp.MustCompile(`^2026-06-06-[a-z0-9]+(-[a-z0-9]+)*$`)

	var all []string
	for _, s := range tour(time.Date(2026, 6, 6, 23, 59, 0, 0, time.UTC)) {
		all = append(all, s.ID)
		if !ids.MatchString(s.ID) || !onTour(event.Event{ID: s.ID}) {
			t.Errorf("%q is no id of the tour's", s.ID)
		}
	}

	if !slices.IsSorted(all) || len(slices.Compact(all)) != len(towns) {
		t.Errorf("the shows of a day do not sort: %q", all)
	}

	for _, id := range []string{"", "2026", "2026-06-06", "2026-06-06-", "2026-06-06-wrestlemania"} {
		if ours(event.Event{ID: id}) {
			t.Errorf("%q is the season's", id)
		}
	}
}

// TestCards checks the cards of a year of shows, each with the champions after the previous
// one.
func TestCards(t *testing.T) {
	t.Parallel()

	var last []event.Match

	ends := map[item.Result]int{}

	for day := range 365 {
		date := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
		s := tour(date)[day%len(towns)]
		s.gala = day%7 == 0
		holders := champions(last)
		card := s.card(holders)

		busy, titles, points := map[string]bool{}, map[string]bool{}, bonus
		for i, m := range card {
			points += m.Points
			for _, team := range m.Teams {
				for _, name := range team.Members {
					if busy[name] {
						t.Fatalf("%s: %s is in two matches", s.ID, name)
					}

					busy[name] = true
				}

				if team.Champion != (len(m.Championships) == 1 && slices.Equal(team.Members, holders[m.Championships[0]].Members)) {
					t.Fatalf("%s: in %+v somebody is a champion who is not", s.ID, m)
				}
			}

			for _, title := range m.Championships {
				titles[title] = true
			}

			r := outcome(m)
			if r < void || int(r) >= len(m.Teams) || r != outcome(m) {
				t.Fatalf("%s: %s ends with %d", s.ID, m.Name, r)
			}

			if o := another(r, m); o == r || o < 0 || int(o) >= len(m.Teams) {
				t.Fatalf("%s: another result of %s than %d is %d", s.ID, m.Name, r, o)
			}

			ends[r]++
			card[i].Result = &r
		}

		if len(titles) != 3 || points > 999 || !card[0].Preshow || card[len(card)-1].Championships[0] != world {
			t.Fatalf("%s: the card is %+v", s.ID, card)
		}

		if n := slip(s.ID, len(card)); n < 0 || n >= len(card)-1 {
			t.Fatalf("%s: the slip is in match %d of %d", s.ID, n, len(card))
		}

		last = card
	}

	if ends[void] == 0 || ends[1] == 0 || ends[0] < ends[1] {
		t.Errorf("the matches end %v", ends)
	}

	if slip("a", 1) != 0 {
		t.Error("the only match of a card cannot be entered wrong")
	}
}

func TestChampions(t *testing.T) {
	t.Parallel()

	result := func(r item.Result) *item.Result { return &r }
	champion, challenger := item.Team{Members: []string{"A"}, Champion: true}, item.Team{Members: []string{"B"}}

	match := func(r *item.Result) []event.Match {
		return []event.Match{{
			MatchFields: event.MatchFields{Championships: []string{world}, Teams: []item.Team{champion, challenger}},
			Result:      r,
		}}
	}
	for what, c := range map[string]struct {
		card []event.Match
		want string
	}{
		"at first":                {nil, roster[0]},
		"who has the title":       {match(nil), "A"},
		"who has defended it":     {match(result(0)), "A"},
		"who has won it":          {match(result(1)), "B"},
		"who had it when no side": {match(result(void)), "A"},
	} {
		if got := champions(c.card)[world]; !got.Champion || got.Members[0] != c.want {
			t.Errorf("%s: the champion is %+v, want %s", what, got, c.want)
		}
	}

	if got := champions(nil); len(got) != 3 || pairs[0].Champion {
		t.Errorf("the first champions are %+v", got)
	}
}

// TestMembers: members with more skill have more correct picks.
func TestMembers(t *testing.T) {
	t.Parallel()

	right := map[string]int{}

	for day := range 200 {
		s := tour(time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC))[0]

		card := s.card(champions(nil))
		for _, match := range card {
			for i := range match.Teams {
				match.Teams[i].ID = pickemtest.TeamID(i)
			}
		}

		for _, m := range members {
			picks := m.pick(card)
			for _, match := range card {
				team := slices.IndexFunc(match.Teams, func(t item.Team) bool { return t.ID == picks[match.ID] })
				if team < 0 {
					t.Fatalf("%s picks team %q of %s", m.ID, picks[match.ID], match.Name)
				} else if team == int(outcome(match)) {
					right[m.ID]++
				}
			}
		}

		if visitor := members[len(members)-1]; visitor.ID != Visitor || !visitor.plays(s.ID) {
			t.Fatal("the visitor has no picks of the past")
		}
	}

	if right["elif"] <= right["ada"] || right["ada"] <= right["hugo"] || right["hugo"] <= right["femi"] {
		t.Errorf("of 1000 matches they have right %v", right)
	}
}
