package item_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"matchday/infra/rooms/pickem/pickemtest"
	"matchday/infra/testkit"
	"matchday/pkg/kit/dynamo"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

var noon = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// TestEventIsOpenUntilItsLock: an upcoming event takes picks before lockAt; members see all
// picks once it is scored, or from the lock on if it reveals them.
func TestEventIsOpenUntilItsLock(t *testing.T) {
	t.Parallel()

	type visible struct{ Open, Picks, Reveals bool }

	for _, c := range []struct {
		state string
		now   time.Time
		want  visible
	}{
		{item.Upcoming, noon.Add(-time.Nanosecond), visible{true, false, false}},
		{item.Upcoming, noon, visible{false, false, true}},
		{item.Upcoming, noon.Add(time.Hour), visible{false, false, true}},
		{item.Broadcast, noon.Add(-time.Hour), visible{false, false, true}},
		{item.Broadcast, noon.Add(time.Hour), visible{false, false, true}},
		{item.Scored, noon.Add(-time.Hour), visible{false, true, true}},
		{item.Deleting, noon.Add(-time.Hour), visible{false, false, true}},
	} {
		e := item.Event{State: c.state, LockAt: item.FormatTime(noon)}
		reveals := e

		reveals.RevealAtLock = true
		if diff := cmp.Diff(c.want, visible{e.IsOpen(c.now), e.PicksVisible(c.now), reveals.PicksVisible(c.now)}); diff != "" {
			t.Errorf("%s at %s (-want +got):\n%s", c.state, c.now, diff)
		}
	}
}

// TestTimesSortAsTexts: times are texts in UTC without fractions; any other text is the zero
// time.
func TestTimesSortAsTexts(t *testing.T) {
	t.Parallel()

	if got := item.FormatTime(noon.Add(999 * time.Millisecond).In(time.FixedZone("", 7200))); got != "2026-03-08T12:00:00Z" {
		t.Errorf("noon is %q", got)
	}

	if got := item.ParseTime("2026-03-08T12:00:00Z"); !got.Equal(noon) {
		t.Errorf("the text of noon is read as %s", got)
	}

	if got := item.ParseTime("noon"); !got.IsZero() {
		t.Errorf("no time is read as %s", got)
	}
}

// TestKeys: the primary key of each type of item.
func TestKeys(t *testing.T) {
	t.Parallel()

	seat := item.Membership{LeagueID: "l1", BelongsTo: "USER#sam", LeagueName: "Family", JoinedAt: "x"}

	type key struct{ PK, SK string }

	got := map[string]dynamo.Item{
		"event":      item.EventKey("e1"),
		"member":     item.MemberKey("sam"),
		"prediction": item.PredictionKey("sam", "e1"),
		"seat":       seat.SeatKey(),
		"standing":   item.StandingKey("sam", "2026").Key(),
		"match":      item.Key(item.EventRef("e1"), item.MatchSK("m1")),
		"membership": item.Key(item.UserRef("sam"), item.LeagueRef("l1")),
		"seat's row": seat.Seat("Sam").Key(),
		"new member": item.NewMember("sam", "Sam").Key(),
	}
	want := map[string]key{
		"event":      key{"EVENT", "EVENT#e1"},
		"member":     key{"USER#sam", "USER"},
		"prediction": key{"USER#sam", "EVENT#e1"},
		"seat":       key{"LEAGUE#l1", "MEMBER#sam"},
		"standing":   key{"USER#sam", "STANDINGS#2026"},
		"match":      key{"EVENT#e1", "MATCH#m1"},
		"membership": key{"USER#sam", "LEAGUE#l1"},
		"seat's row": key{"LEAGUE#l1", "MEMBER#sam"},
		"new member": key{"USER#sam", "USER"},
	}

	for name, k := range got {
		var is key
		testkit.Must(t, attributevalue.UnmarshalMap(k, &is))

		if diff := cmp.Diff(want[name], is); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	member := item.Member{
		Row:       item.Row{PK: "USER#sam", SK: "USER", GSIPK: "USER", GSISK: "USER#sam", Type: "user"},
		BelongsTo: "USER#sam",
		Name:      "Sam",
	}
	if diff := cmp.Diff(member, item.NewMember("sam", "Sam")); diff != "" {
		t.Errorf("a new member (-want +got):\n%s", diff)
	}

	want2 := item.Membership{
		Row:        item.Row{PK: "LEAGUE#l1", SK: "MEMBER#sam", Type: "membership"},
		LeagueID:   "l1",
		BelongsTo:  "USER#sam",
		LeagueName: "Family",
		JoinedAt:   "x",
		Name:       "Sam",
	}
	if diff := cmp.Diff(want2, seat.Seat("Sam")); diff != "" {
		t.Errorf("a seat (-want +got):\n%s", diff)
	}

	standing := item.Standing{Row: item.StandingKey("sam", "2026"), BelongsTo: "USER#sam"}

	prediction := item.Prediction{BelongsTo: "USER#sam"}
	if diff := cmp.Diff([]string{"sam", "2026", "sam", "sam", "sam"},
		[]string{standing.UserID(), standing.Year(), prediction.UserID(), member.UserID(), seat.UserID()}); diff != "" {
		t.Errorf("what keys name (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff(map[string]string{"sam": "Sam"}, item.NamesOf([]item.Membership{seat.Seat("Sam")})); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestMatchesByID: a match of the card or one that was removed, by its id in any case.
func TestMatchesByID(t *testing.T) {
	t.Parallel()

	result := 0

	s := item.EventWithCard{Card: []item.Match{{ID: "aa", Result: &result}, {ID: "bb"}, {ID: "cc"}}, Removed: []item.Match{{ID: "dd"}}}
	for id, want := range map[string][2]string{"aa": {"aa", ""}, "BB": {"bb", ""}, "dd": {"", "dd"}, "": {"", ""}} {
		m, ok := s.Match(id)

		r, removed := s.RemovedMatch(id)
		if got := [2]string{m.ID, r.ID}; got != want || ok != (want[0] != "") || removed != (want[1] != "") {
			t.Errorf("%q is %v (%t, %t), want %v", id, got, ok, removed, want)
		}
	}

	if diff := cmp.Diff([]string{"bb", "cc"}, s.MissingResults()); diff != "" {
		t.Errorf("matches without a result (-want +got):\n%s", diff)
	}

	if got := (item.EventWithCard{}).MissingResults(); got == nil || len(got) != 0 {
		t.Errorf("an empty card lacks the results of %#v, want an empty list", got)
	}
}

// TestTeamsKeepTheirIDs: a team keeps its id, or gets that of the team with the same members,
// or a new one. An id that is unknown or used twice is refused.
func TestTeamsKeepTheirIDs(t *testing.T) {
	t.Parallel()

	team := func(id string, members ...string) item.Team { return item.Team{ID: id, Members: members} }

	match := item.Match{Teams: []item.Team{team("t1", "Ann"), team("t2", "Bob"), team("t3", "Bob")}, LastTeam: 3}
	for name, c := range map[string]struct {
		given, want []item.Team
		wrong, last int
	}{
		"the same":          {[]item.Team{team("t1", "Ann"), team("t2", "Bob")}, []item.Team{team("t1", "Ann"), team("t2", "Bob")}, -1, 3},
		"moved and renamed": {[]item.Team{team("t2", "Bo"), team("t1", "Ann")}, []item.Team{team("t2", "Bo"), team("t1", "Ann")}, -1, 3},
		"by its members":    {[]item.Team{team("", "Bob"), team("", "Ann")}, []item.Team{team("t2", "Bob"), team("t1", "Ann")}, -1, 3},
		"two of the same": {
			[]item.Team{team("", "Bob"), team("", "Bob"), team("", "Bob")},
			[]item.Team{team("t2", "Bob"), team("t3", "Bob"), team("t4", "Bob")},
			-1,
			4,
		},
		"the id is taken":          {[]item.Team{team("", "Ann"), team("t1", "Eve")}, []item.Team{team("t4", "Ann"), team("t1", "Eve")}, -1, 4},
		"two new":                  {[]item.Team{team("", "Eve"), team("", "Dan")}, []item.Team{team("t4", "Eve"), team("t5", "Dan")}, -1, 5},
		"an unknown id":            {[]item.Team{team("t1", "Ann"), team("t9", "Bob")}, nil, 1, 3},
		"an id that is used twice": {[]item.Team{team("t1", "Ann"), team("", "Eve"), team("t1", "Bob")}, nil, 2, 3},
	} {
		m := match

		got, wrong := m.Identify(c.given)
		if diff := cmp.Diff(c.want, got); diff != "" || wrong != c.wrong || m.LastTeam != c.last {
			t.Errorf("%s: wrong %d, last %d, want %d and %d (-want +got):\n%s", name, wrong, m.LastTeam, c.wrong, c.last, diff)
		}
	}

	if match.Team("t2") != 1 || match.Team("t9") != -1 {
		t.Errorf("t2 is at place %d, t9 at %d; want 1 and -1", match.Team("t2"), match.Team("t9"))
	}
}

// TestPicksOfACardThatChanged: a pick counts if its team is still in the match, and if the teams
// have not changed since it was saved.
func TestPicksOfACardThatChanged(t *testing.T) {
	t.Parallel()

	teams := []item.Team{{ID: "t1"}, {ID: "t2"}}
	card := []item.Match{
		{ID: "before", Teams: teams, Since: 6},
		{ID: "same", Teams: teams, Since: 7},
		{ID: "after", Teams: teams, Since: 8},
		{ID: "gone", Teams: teams[:1]},
		{ID: "none", Teams: teams},
	}

	p := item.Prediction{
		CardRev:     7,
		Predictions: map[string]string{"before": "t1", "same": "t2", "after": "t1", "gone": "t2", "elsewhere": "t1"},
	}
	if diff := cmp.Diff(map[string]int{"before": 0, "same": 1}, p.Picks(card)); diff != "" {
		t.Errorf("picks (-want +got):\n%s", diff)
	}
}

// TestReadsOfTheTable: what each read returns of rows of all types, and when it finds nothing.
func TestReadsOfTheTable(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	row := func(pk, sk, gpk, gsk, kind string) item.Row {
		return item.Row{PK: pk, SK: sk, GSIPK: gpk, GSISK: gsk, Type: kind}
	}
	event := func(id, state string) item.Event {
		return item.Event{
			Row:    row("EVENT", "EVENT#"+id, "EVENT#"+id, "EVENT", item.EventType),
			ID:     id,
			State:  state,
			LockAt: item.FormatTime(noon),
		}
	}
	match := func(id, place, kind string) item.Match {
		return item.Match{Row: row("EVENT#e1", "MATCH#"+id, "EVENT#e1", "MATCH#"+place, kind), ID: id}
	}
	entry := item.Prediction{
		Row:       row("USER#sam", "EVENT#e1", "EVENT#e1", "SCORE#010#sam", item.PredictionType),
		EventID:   "e1",
		BelongsTo: "USER#sam",
		Points:    10,
	}
	standing := item.Standing{
		Row:       row("USER#sam", "STANDINGS#2026", "STANDINGS#2026", "SCORE#00010#sam", item.StandingType),
		BelongsTo: "USER#sam",
	}
	sam, ann := item.NewMember("sam", "Sam"), item.NewMember("ann", "Ann")
	ann.DeletedAt = "2026-03-08T12:00:00Z"
	league := func(id, ended string) item.League {
		return item.League{Row: row("LEAGUE#"+id, "LEAGUE", "", "", item.LeagueType), ID: id, EndedAt: ended}
	}
	seat := func(id, user, name string) item.Membership {
		return item.Membership{LeagueID: id, BelongsTo: item.UserRef(user)}.Seat(name)
	}
	mine := item.Membership{Row: row("USER#sam", "LEAGUE#l1", "", "", item.MembershipType), LeagueID: "l1", BelongsTo: "USER#sam"}

	testkit.PutRows(w.World, tables.Pickem, event("e1", item.Upcoming), event("e2", item.Deleting), event("e3", item.Scored))
	testkit.PutRows(w.World, tables.Pickem, match("aa", "02", item.MatchType), match("bb", "01", item.MatchType),
		match("cc", "03", item.RemovedType))
	testkit.PutRows(w.World, tables.Pickem, entry)
	testkit.PutRows(w.World, tables.Pickem, standing)
	testkit.PutRows(w.World, tables.Pickem, sam, ann)
	testkit.PutRows(w.World, tables.Pickem, league("l1", ""), league("l2", "2026-03-08T12:00:00Z"))
	testkit.PutRows(w.World, tables.Pickem, seat("l1", "sam", "Sam"), seat("l1", "zoe", "Ann"), seat("l1", "bob", "Sam"),
		seat("l1", "amy", "Zed"), seat("l2", "sam", "Sam"), seat("l3", "sam", "Sam"), mine)
	testkit.PutRows(w.World, tables.Pickem, row("USER#sam", "DEVICES", "", "", "devices")) // of a type that no collection holds
	ctx, db := w.NewContext(), w.DB()
	ids := func(matches []item.Match) (all []string) {
		for _, m := range matches {
			all = append(all, m.ID)
		}

		return all
	}
	card := func(s item.EventWithCard, err error) []any {
		return []any{s.ID, ids(s.Card), ids(s.Removed), pickemtest.CodeOf(err)}
	}
	got, want := map[string][]any{}, map[string][]any{}

	var none []string
	for id, c := range map[string]struct{ event, screen, shown []any }{
		"e1": {
			[]any{"e1", []string{"bb", "aa"}, []string{"cc"}, ""},
			[]any{"e1", []string{"bb", "aa"}, none, ""},
			[]any{"e1", []string{"bb", "aa"}, none, "event_not_scored"},
		},
		"e2": {[]any{"e2", none, none, "event_not_found"}, []any{"", none, none, "event_not_found"}, []any{"", none, none, "event_not_found"}},
		"e3": {[]any{"e3", none, none, ""}, []any{"e3", none, none, ""}, []any{"e3", none, none, ""}},
		"e4": {[]any{"", none, none, "event_not_found"}, []any{"", none, none, "event_not_found"}, []any{"", none, none, "event_not_found"}},
	} {
		got["event "+id], want["event "+id] = card(item.ReadEventWithCard(ctx, db, id)), c.event
		got["screen "+id], want["screen "+id] = card(item.ReadScreen(ctx, db, id)), c.screen
		got["shown "+id], want["shown "+id] = card(item.ReadVisible(ctx, db, id, noon)), c.shown
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	g, err := item.ReadMember(ctx, db, "sam", true)
	testkit.Must(t, err)
	member, err := g.Member()
	testkit.Must(t, err)

	own, in := g.Membership("l1")

	_, other := g.Membership("l2")
	if diff := cmp.Diff(item.Collection{
		Predictions: []item.Prediction{entry},
		Standings:   []item.Standing{standing},
		Members:     []item.Member{sam},
		Memberships: []item.Membership{mine},
	}, g); diff != "" || !in || other {
		t.Errorf("the rows of a member, who is in l1 %t, in l2 %t (-want +got):\n%s", in, other, diff)
	}

	if diff := cmp.Diff([]any{sam, mine}, []any{member, own}); diff != "" {
		t.Errorf("the member and the membership (-want +got):\n%s", diff)
	}

	for _, user := range []string{"ann", "eve"} {
		g, err := item.ReadMember(ctx, db, user, false)
		testkit.Must(t, err)

		if _, err := g.Member(); pickemtest.CodeOf(err) != "user_not_found" {
			t.Errorf("%s: %v, want user_not_found", user, err)
		}
	}

	names, err := item.ReadNames(ctx, db, []string{"sam", "ann", "eve", "sam"})
	testkit.Must(t, err)

	if diff := cmp.Diff(map[string]string{"sam": "Sam"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}

	all, err := item.ReadEntrants(ctx, db, "e1")
	testkit.Must(t, err)

	if diff := cmp.Diff([]string{"sam"}, all); diff != "" {
		t.Errorf("the members with a prediction of an event (-want +got):\n%s", diff)
	}

	seats := map[string][]string{}

	for _, q := range [][2]string{{"l1", "sam"}, {"l1", "eve"}, {"l2", "sam"}, {"l3", "sam"}} {
		l, members, err := item.ReadLeague(ctx, db, q[0], q[1])

		line := []string{l.ID, pickemtest.CodeOf(err)}
		for _, m := range members {
			line = append(line, m.Name+" "+m.UserID())
		}

		seats[q[0]+" "+q[1]] = line
	}

	leagues := map[string][]string{
		"l1 sam": {"l1", "", "Ann zoe", "Sam bob", "Sam sam", "Zed amy"},
		"l1 eve": {"", "league_not_found"},
		"l2 sam": {"", "league_not_found"},
		"l3 sam": {"", "league_not_found"},
	}
	if diff := cmp.Diff(leagues, seats); diff != "" {
		t.Errorf("leagues (-want +got):\n%s", diff)
	}
}

// TestRecentEventsAreOfFourHundredDays: an event is locked and reminded of for 400 days after
// the date in its id.
func TestRecentEventsAreOfFourHundredDays(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)
	first := noon.AddDate(0, 0, -400).Format(time.DateOnly)

	before := noon.AddDate(0, 0, -401).Format(time.DateOnly)
	for _, id := range []string{before + "-old", first + "-first", "2026-03-08-today", "2027-01-01-next"} {
		testkit.PutRows(w.World, tables.Pickem, item.Event{Row: item.Row{PK: "EVENT", SK: "EVENT#" + id, Type: item.EventType}, ID: id})
	}

	events, err := item.RecentEvents(w.NewContext(), w.DB(), noon)
	testkit.Must(t, err)

	var got []string
	for _, e := range events {
		got = append(got, e.ID)
	}

	if diff := cmp.Diff([]string{first + "-first", "2026-03-08-today", "2027-01-01-next"}, got); diff != "" {
		t.Errorf("recent events (-want +got):\n%s", diff)
	}
}

// TestMemberIsWrittenByItsRev: a write is refused if the member has changed, is deleted or does
// not exist.
func TestMemberIsWrittenByItsRev(t *testing.T) {
	t.Parallel()
	w := pickemtest.New(t)

	for name, c := range map[string]struct {
		rev     int
		deleted string
		want    int // the rev afterwards, 0 if the write is refused
	}{
		"unchanged": {3, "", 4}, "changed": {5, "", 0}, "deleted": {3, "2026-03-08T12:00:00Z", 0},
	} {
		stored := item.NewMember(name, "Sam")
		stored.Rev, stored.DeletedAt = c.rev, c.deleted
		testkit.PutRows(w.World, tables.Pickem, stored)
		read := stored
		read.Rev, read.DeletedAt = 3, ""

		err := dynamo.Transact(w.NewContext(), w.DB(), tables.ScoreMember, item.IncrementRev(read))
		if now := testkit.Row[item.Member](w.World, tables.Pickem, read.PK,
			read.SK); (err == nil) != (c.want > 0) || c.want > 0 && now.Rev != c.want || c.want == 0 && now.Rev != c.rev {
			t.Errorf("%s: %v, and rev %d; want %d", name, err, now.Rev, c.want)
		}
	}

	if err := dynamo.Transact(w.NewContext(), w.DB(), tables.ScoreMember, item.IncrementRev(item.NewMember("nobody", "x"))); err == nil {
		t.Error("a member who does not exist is written")
	}
}
