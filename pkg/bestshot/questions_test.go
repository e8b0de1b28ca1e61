package bestshot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"matchday/infra/rooms/bestshot/bestshottest"
	"matchday/infra/testkit"
	"matchday/infra/testkit/dynamotest"
	"matchday/pkg/bestshot/ingest"
	"matchday/pkg/bestshot/provider"
	"matchday/pkg/bestshot/question"
	"matchday/pkg/bestshot/settlement"
	"matchday/pkg/kit/app"
	"matchday/pkg/kit/pg"
)

// asked are the questions of the tests.
var asked = []question.NewQuestion{
	{Slug: "champion", Text: "Who wins the cup?", Points: 20, Kind: question.Team},
	{Slug: "scorer", Text: "Who scores the most goals?", Points: 10, Kind: question.Choice, Choices: []string{"A. Striker", "Bo", "Cy"}},
}

// questioned returns a world with members and a tournament that has the questions asked. Its match begins an hour
// after noon.
func questioned(t testing.TB, users ...string) (*bestshottest.World, *bestshottest.Tournament) {
	t.Helper()
	w := bestshottest.New(t)
	w.Register(users...)
	c := w.Found("cup")
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Open)))
	w.Do(root, "PUT", "/admin/tournaments/"+c.ID+"/questions", map[string]any{"questions": asked})

	return w, c
}

// codeOf returns the code of a problem; "" if the answer is none.
func codeOf(t testing.TB, out events.APIGatewayV2HTTPResponse) string {
	t.Helper()

	if out.StatusCode < 300 {
		return ""
	}

	var problem struct{ Type string }
	testkit.Must(t, json.Unmarshal([]byte(out.Body), &problem))

	return problem.Type[strings.LastIndex(problem.Type, ":")+1:]
}

// answer answers a question, and returns the code of the problem.
func answer(w *bestshottest.World, c *bestshottest.Tournament, user, slug, text string) string {
	w.T.Helper()
	return codeOf(w.T, w.Ask(user, "PUT", "/api/v2/tournaments/"+c.ID+"/questions/"+slug+"/answer", map[string]string{"answer": text}))
}

// decideQuestion decides a question, and returns the code of the problem.
func decideQuestion(w *bestshottest.World, c *bestshottest.Tournament, slug string, body map[string]any) string {
	w.T.Helper()
	return codeOf(w.T, w.Ask(root, "POST", "/api/v2/admin/tournaments/"+c.ID+"/questions/"+slug+"/settle", body))
}

// applyDecisions applies what is in the queue, in ranges of a size, and returns the number of messages.
func applyDecisions(w *bestshottest.World, size int) int {
	w.T.Helper()
	s := testkit.Open(w.World, question.SettleQuestionFunction(), func(ctx context.Context, env app.Env) (*question.Worker, error) {
		return question.OpenWorkerWith(ctx, env, size, 3)
	})

	return testkit.Drain(w.World, question.Queue, time.Hour,
		func(ctx context.Context, m question.Decided) error { return s.SettleQuestion(ctx, m) })
}

// seen returns the questions as a member sees them: "scorer open Bo", with what the answer has earned if it has.
func seen(w *bestshottest.World, c *bestshottest.Tournament, user string) (all []string) {
	w.T.Helper()

	for _, q := range testkit.Decode[struct{ Data []question.Question }](w.World,
		w.Do(user, "GET", "/tournaments/"+c.ID+"/questions", nil)).Data {
		line := q.Slug + " " + q.State

		if q.Answer != nil {
			line += " " + *q.Answer
		}

		if q.Late {
			line += " late"
		}

		if q.Earned != nil {
			line += fmt.Sprint(" ", *q.Earned)
		}

		all = append(all, line)
	}

	return all
}

// team returns the id of the home team of match 1.
func team(w *bestshottest.World) string {
	w.T.Helper()
	id, _, err := pg.Value[string](w.T.Context(), w.DB, `SELECT home_team::text FROM match WHERE external_id = '9001'`)
	testkit.Must(w.T, err)

	return id
}

// TestQuestions: they take answers until play begins. Then a decision becomes points, another decision changes
// them, a void question earns nothing, and a decision can be taken back. The leaderboard is right after each.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann", "bob", "cyd")
	home := team(w)

	w.Guess("bob", w.MatchID(1), 1, 0)

	for _, a := range [][3]string{
		{"ann", "champion", strings.ToUpper(home)}, {"ann", "scorer", "Bo"}, {"ann", "scorer", "A. Striker"}, {"bob", "scorer", "Bo"},
		{"cyd", "scorer", "A. Striker"},
	} {
		if code := answer(w, c, a[0], a[1], a[2]); code != "" {
			t.Errorf("%q: %s", a, code)
		}
	}

	if code := decideQuestion(w, c, "scorer", map[string]any{"answers": []string{"Bo"}}); code != "question_open" {
		t.Errorf("decided before play: %q", code)
	}

	for user, want := range map[string][]string{
		"ann": {"champion open " + home, "scorer open A. Striker"}, "bob": {"champion open", "scorer open Bo"},
	} {
		if diff := cmp.Diff(want, seen(w, c, user)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}

	w.MoveClock(bestshottest.Noon.Add(hour))

	if code := answer(w, c, "ann", "scorer", "Cy"); code != "questions_locked" {
		t.Errorf("answered at the kick-off: %q", code)
	}

	if code := answer(w, c, "bob", "champion", home); code != "questions_locked" {
		t.Errorf("first answered at the kick-off: %q", code)
	}

	out := w.Ask(root, "PUT", "/api/v2/admin/tournaments/"+c.ID+"/questions", map[string]any{"questions": asked[:1]})
	if code := codeOf(t, out); code != "questions_locked" {
		t.Errorf("changed at the kick-off: %q", code)
	}

	for _, step := range []struct {
		slug  string
		body  map[string]any
		board []string
		ann   []string
	}{
		{
			"scorer", map[string]any{"answers": []string{"A. Striker"}},
			[]string{"1 ann 10", "1 cyd 10"},
			[]string{"champion locked " + home, "scorer settled A. Striker 10"},
		},
		{
			"scorer", map[string]any{"answers": []string{"A. Striker"}}, // again
			[]string{"1 ann 10", "1 cyd 10"},
			[]string{"champion locked " + home, "scorer settled A. Striker 10"},
		},
		{
			"scorer", map[string]any{"answers": []string{"Bo"}},
			[]string{"1 bob 10", "2 ann 0", "2 cyd 0"},
			[]string{"champion locked " + home, "scorer settled A. Striker 0"},
		},
		{
			"scorer", map[string]any{"answers": []string{"Cy", "Bo", "A. Striker"}},
			[]string{"1 ann 10", "1 bob 10", "1 cyd 10"},
			[]string{"champion locked " + home, "scorer settled A. Striker 10"},
		},
		{
			"scorer", map[string]any{"void": true},
			[]string{"1 ann 0", "1 bob 0", "1 cyd 0"},
			[]string{"champion locked " + home, "scorer void A. Striker 0"},
		},
		{
			"champion", map[string]any{"answers": []string{home}},
			[]string{"1 ann 20", "2 bob 0", "2 cyd 0"},
			[]string{"champion settled " + home + " 20", "scorer void A. Striker 0"},
		},
		{
			"scorer", map[string]any{"undo": true},
			[]string{"1 ann 20", "2 bob 0", "2 cyd 0"},
			[]string{"champion settled " + home + " 20", "scorer locked A. Striker"},
		},
	} {
		if code := decideQuestion(w, c, step.slug, step.body); code != "" {
			t.Errorf("%v: %q", step.body, code)
		}

		applyDecisions(w, 100)
		checkSums(t, w)

		if diff := cmp.Diff(step.board, c.Board("ann")); diff != "" {
			t.Errorf("%s %v: the leaderboard (-want +got):\n%s", step.slug, step.body, diff)
		}

		if diff := cmp.Diff(step.ann, seen(w, c, "ann")); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", step.slug, step.body, diff)
		}
	}

	// Points of matches are added to those of questions, and a repair keeps both.
	w.MoveClock(bestshottest.Noon.Add(3 * hour))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(hour), provider.Ended, 1, 0)))
	w.Settle()
	checkSums(t, w)

	repaired := testkit.Decode[struct{ Tournaments []settlement.HydratedOne }](w.World,
		w.Do(root, "POST", "/admin/hydrate/scoreboard/"+c.ID, nil)).Tournaments
	if len(repaired) != 1 || repaired[0].Repaired != 0 {
		t.Errorf("repaired %+v", repaired)
	}

	_, err := pg.Do(t.Context(), w.DB, `UPDATE tournament_scoreboard SET points = 77 WHERE tournament_id = $1`, c.ID)
	testkit.Must(t, err)
	w.Do(root, "POST", "/admin/hydrate/scoreboard/"+c.ID, nil)
	checkSums(t, w)

	if diff := cmp.Diff([]string{"1 ann 20", "2 bob 3", "3 cyd 0"}, c.Board("ann")); diff != "" {
		t.Errorf("repaired (-want +got):\n%s", diff)
	}
}

// TestQuestionInRanges: a decision is applied in ranges, the leaderboard says so, and a decision that comes in
// between begins again. The plan asks again for one whose message was lost.
func TestQuestionInRanges(t *testing.T) {
	t.Parallel()

	users := []string{"ann", "bob", "cyd", "dee", "eve"}
	w, c := questioned(t, users...)

	for i, u := range users {
		if code := answer(w, c, u, "scorer", asked[1].Choices[i%2]); code != "" { // A. Striker: ann, cyd, eve
			t.Fatal(code)
		}
	}

	w.MoveClock(bestshottest.Noon.Add(hour))

	one := testkit.Open(w.World, question.SettleQuestionFunction(), func(ctx context.Context, env app.Env) (*question.Worker, error) {
		return question.OpenWorkerWith(ctx, env, 2, 1)
	})
	step := func(messages int, updating bool) {
		t.Helper()

		w.Clear(question.Queue)
		testkit.Must(t, one.SettleQuestion(w.NewContext(), question.Decided{TournamentID: c.ID, Slug: "scorer"}))
		checkSums(t, w)

		if got := len(w.Queues.Messages(question.Queue.Name)); got != messages {
			t.Errorf("%d messages, want %d", got, messages)
		}

		w.Cache.FlushAll()

		if got := strings.Contains(w.Do("ann", "GET", "/tournaments/"+c.ID+"/leaderboard", nil).Body, `"updating"`); got != updating {
			t.Errorf("updating is %v, want %v", got, updating)
		}
	}

	decideQuestion(w, c, "scorer", map[string]any{"answers": []string{"A. Striker"}})
	step(1, true)
	step(1, true)
	decideQuestion(w, c, "scorer", map[string]any{"answers": []string{"Bo"}}) // before the first is applied
	w.Clear(question.Queue)
	step(1, true)
	w.Clear(question.Queue) // lost

	w.MoveClock(w.Clock.Now().Add(16 * time.Minute))
	testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

	if got := len(w.Queues.Messages(question.Queue.Name)); got != 1 {
		t.Errorf("the plan sends %d messages, want 1", got)
	}

	step(1, true)
	step(0, false)

	var want []string

	for i, u := range users {
		if i%2 == 1 {
			want = append(want, "1 "+u+" 10")
		}
	}

	got := slices.DeleteFunc(c.Board("ann"), func(line string) bool { return strings.HasSuffix(line, " 0") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnswerDuringPlayDoesNotCount: play turns out to have begun before an answer was changed, after the question
// is settled. The answer of before counts from then on, and of a member who had none nothing.
func TestAnswerDuringPlayDoesNotCount(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann", "bob")
	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }

	w.MoveClock(at(10))
	answer(w, c, "ann", "scorer", "A. Striker")
	w.MoveClock(at(30))
	answer(w, c, "ann", "scorer", "Bo")
	answer(w, c, "bob", "scorer", "Bo")
	w.MoveClock(at(200))

	f := bestshottest.Fixture(1, at(60), provider.Ended, 2, 0)
	f.StartedAt = at(60)
	w.Ingest(c.Feed("1", f))
	decideQuestion(w, c, "scorer", map[string]any{"answers": []string{"Bo"}})
	applyDecisions(w, 100)

	if diff := cmp.Diff([]string{"1 ann 10", "1 bob 10"}, c.Board("ann")); diff != "" {
		t.Fatalf("settled (-want +got):\n%s", diff)
	}

	f.StartedAt = at(20)
	w.Ingest(c.Feed("1", f))
	testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

	if n := applyDecisions(w, 100); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}

	checkSums(t, w)

	if diff := cmp.Diff([]string{"1 ann 0", "1 bob 0"}, c.Board("ann")); diff != "" {
		t.Errorf("another beginning (-want +got):\n%s", diff)
	}

	for user, want := range map[string][]string{
		"ann": {"champion locked", "scorer settled A. Striker late 0"}, "bob": {"champion locked", "scorer settled late 0"},
	} {
		if diff := cmp.Diff(want, seen(w, c, user)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", user, diff)
		}
	}

	decideQuestion(w, c, "scorer", map[string]any{"answers": []string{"A. Striker"}})
	applyDecisions(w, 100)

	if diff := cmp.Diff([]string{"1 ann 10", "2 bob 0"}, c.Board("ann")); diff != "" {
		t.Errorf("the answer of before (-want +got):\n%s", diff)
	}

	// Another match that begins later changes nothing.
	w.Ingest(c.Feed("1", bestshottest.Fixture(2, at(190), provider.Ended, 1, 1)))
	w.MoveClock(at(230))
	testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))

	if n := applyDecisions(w, 100); n != 0 {
		t.Errorf("a later match: %d messages, want none", n)
	}
}

// TestQuestionsOpenAgain: a first match that gets a later kick-off opens the questions, and its first sign of play
// locks them before the kick-off.
func TestQuestionsOpenAgain(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann")
	w.MoveClock(bestshottest.Noon.Add(hour))

	if code := answer(w, c, "ann", "scorer", "Bo"); code != "questions_locked" {
		t.Errorf("at the kick-off: %q", code)
	}

	w.Ingest(c.Feed("1", bestshottest.Fixture(1, bestshottest.Noon.Add(24*hour), provider.Open)))

	if code := answer(w, c, "ann", "scorer", "Bo"); code != "" {
		t.Errorf("moved: %q", code)
	}

	f := bestshottest.Fixture(1, bestshottest.Noon.Add(24*hour), provider.Open)
	f.InPlay = true
	w.Ingest(c.Feed("1", f))

	if code := answer(w, c, "ann", "scorer", "Cy"); code != "questions_locked" {
		t.Errorf("in play: %q", code)
	}
}

// TestQuestionsOfMatches: who advances can be asked after the tournament has begun, is answered with a team of the
// match, and until it begins. Decided questions stay as they are beside new ones. The answer that was stored before
// play began counts, and another beginning of another match changes nothing.
func TestQuestionsOfMatches(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann", "bob")
	at := func(minutes int) time.Time { return bestshottest.Noon.Add(time.Duration(minutes) * time.Minute) }
	final := bestshottest.Fixture(2, at(300), provider.Open)
	w.Ingest(c.Feed("1", final))
	w.MoveClock(at(61))
	w.Ingest(c.Feed("1", bestshottest.Fixture(1, at(60), provider.Ended, 1, 0)))

	put := func(list ...question.NewQuestion) string {
		t.Helper()

		return codeOf(t, w.Ask(root, "PUT", "/api/v2/admin/tournaments/"+c.ID+"/questions", map[string]any{"questions": list}))
	}
	teams, err := pg.Values[string](t.Context(), w.DB, `
SELECT unnest(ARRAY[home_team, away_team])::text
FROM match
WHERE external_id = '9002'`)
	testkit.Must(t, err)

	advances := question.NewQuestion{
		Slug: "advances", Text: "Who advances?", Points: 2, Kind: question.Team, MatchID: strings.ToUpper(w.MatchID(2)),
	}
	late := advances
	late.Slug, late.MatchID = "late", w.MatchID(1)
	changed := asked[1]
	changed.Points = 99
	moved := asked[1]
	moved.MatchID = w.MatchID(2)
	foreign := advances
	foreign.MatchID = c.ID
	extra := asked[1]
	extra.Slug = "extra"

	for name, step := range map[string]struct {
		list []question.NewQuestion
		want string
	}{
		"of a match that has begun":        {[]question.NewQuestion{asked[0], asked[1], late}, "questions_locked"},
		"of a tournament that has begun":   {[]question.NewQuestion{asked[0], asked[1], extra}, "questions_locked"},
		"a locked one goes":                {[]question.NewQuestion{asked[0], advances}, "questions_locked"},
		"a locked one has other points":    {[]question.NewQuestion{asked[0], changed, advances}, "questions_locked"},
		"a locked one is about a match":    {[]question.NewQuestion{asked[0], moved}, "questions_locked"},
		"of a match of another tournament": {[]question.NewQuestion{asked[0], asked[1], foreign}, "bad_request"},
	} {
		if got := put(step.list...); got != step.want {
			t.Errorf("%s: %q, want %q", name, got, step.want)
		}
	}

	for range 2 {
		if code := put(advances, asked[0], asked[1]); code != "" {
			t.Fatalf("a question of a match: %q", code)
		}
	}

	for _, a := range []struct{ user, answer, want string }{
		{"ann", team(w), "bad_request"}, // of another match
		{"ann", teams[0], ""},
		{"bob", teams[1], ""},
	} {
		if code := answer(w, c, a.user, "advances", a.answer); code != a.want {
			t.Errorf("%+v: %q", a, code)
		}
	}

	other := advances
	other.MatchID = ""

	if code := put(other, asked[0], asked[1]); code != "question_answered" {
		t.Errorf("answered, and then about the tournament: %q", code)
	}

	if code := decideQuestion(w, c, "advances", map[string]any{"answers": teams[:1]}); code != "question_open" {
		t.Errorf("decided before the match: %q", code)
	}

	if diff := cmp.Diff([]string{"advances open " + teams[0], "champion locked", "scorer locked"}, seen(w, c, "ann")); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}

	var closes []string
	for _, q := range testkit.Decode[struct{ Data []question.Question }](w.World, w.Do("ann", "GET", "/tournaments/"+c.ID+"/questions", nil)).Data {
		closes = append(closes, q.ClosesAt.UTC().Format("15:04"))
	}

	if diff := cmp.Diff([]string{"17:00", "13:00", "13:00"}, closes); diff != "" {
		t.Errorf("closesAt (-want +got):\n%s", diff)
	}

	w.MoveClock(at(280))
	answer(w, c, "ann", "advances", teams[1])
	w.MoveClock(at(300))

	if code := answer(w, c, "ann", "advances", teams[0]); code != "questions_locked" {
		t.Errorf("at the kick-off: %q", code)
	}

	decide := func(want ...string) {
		t.Helper()
		applyDecisions(w, 1)
		checkSums(t, w)

		if diff := cmp.Diff(want, c.Board("ann")); diff != "" {
			t.Errorf("the leaderboard (-want +got):\n%s", diff)
		}
	}

	decideQuestion(w, c, "advances", map[string]any{"answers": teams[:1]})
	decide()
	decideQuestion(w, c, "advances", map[string]any{"answers": teams[1:]})
	decide("1 ann 2", "1 bob 2")

	plan := func() {
		t.Helper()
		testkit.Must(t, testkit.Open(w.World, ingest.PlanPollsFunction(), ingest.OpenPlanner).PlanPolls(w.NewContext()))
	}

	// The first match began at another time.
	f := bestshottest.Fixture(1, at(60), provider.Ended, 1, 0)
	f.StartedAt = at(50)
	w.Ingest(c.Feed("1", f))
	plan()

	if n := applyDecisions(w, 1); n != 0 {
		t.Errorf("another match: %d messages, want none", n)
	}

	// The match began before ann changed the answer.
	w.MoveClock(at(420))
	final = bestshottest.Fixture(2, at(300), provider.Ended, 1, 1)
	final.StartedAt = at(270)
	w.Ingest(c.Feed("1", final))
	plan()
	decide("1 bob 2", "2 ann 0")

	if code := put(asked[0], asked[1], advances); code != "" {
		t.Errorf("another order of locked questions: %q", code)
	}

	w.Settle()
	checkSums(t, w)
}

// TestAnswerThatWaitsForItsRowIsRefused if play begins meanwhile: the lock is read when the row is locked.
func TestAnswerThatWaitsForItsRowIsRefused(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann")
	answer(w, c, "ann", "scorer", "Bo")

	var (
		asking sync.WaitGroup
		code   string
	)

	testkit.Must(t, w.DB.Tx(t.Context(), func(tx pgx.Tx) error {
		_, err := pg.Do(t.Context(), tx, `SELECT FROM question_answer FOR UPDATE`)
		testkit.Must(t, err)

		asking.Go(func() { code = answer(w, c, "ann", "scorer", "Cy") })

		for waits := 0; waits == 0 && err == nil; { // until the request waits for the row
			waits, _, err = pg.Value[int](t.Context(), w.DB, `
SELECT count(*)::int
FROM pg_stat_activity
WHERE datname = current_database()
    AND wait_event_type = 'Lock'`)
		}

		testkit.Must(t, err)

		_, err = pg.Do(t.Context(), tx, `UPDATE match SET seen_at = now()`)

		return err
	}))
	asking.Wait()

	if code != "questions_locked" {
		t.Errorf("answered: %q", code)
	}

	if diff := cmp.Diff([]string{"champion locked", "scorer locked Bo"}, seen(w, c, "ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuestionsOfAFinishedTournament take no answers, and do not change, also if no match has begun.
func TestQuestionsOfAFinishedTournament(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann")
	w.Do(root, "PATCH", "/admin/tournaments/"+c.ID, map[string]string{"status": "cancelled"})

	if code := answer(w, c, "ann", "scorer", "Bo"); code != "questions_locked" {
		t.Errorf("answered: %q", code)
	}

	out := w.Ask(root, "PUT", "/api/v2/admin/tournaments/"+c.ID+"/questions", map[string]any{"questions": asked[:1]})
	if code := codeOf(t, out); code != "questions_locked" {
		t.Errorf("changed: %q", code)
	}

	if diff := cmp.Diff([]string{"champion locked", "scorer locked"}, seen(w, c, "ann")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuestionsAreRefused: what is no question, no answer and no decision, and what is asked by others.
func TestQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann")

	other := w.Found("other")
	w.Ingest(other.Feed("1", bestshottest.Fixture(9, bestshottest.Noon.Add(hour), provider.Open)))

	stranger, _, err := pg.Value[string](t.Context(), w.DB, `SELECT home_team::text FROM match WHERE external_id = '9009'`)
	testkit.Must(t, err)

	if code := answer(w, c, "ann", "scorer", "Bo"); code != "" {
		t.Fatal(code)
	}

	path := "/api/v2/tournaments/" + c.ID + "/questions"
	admin := "/api/v2/admin/tournaments/" + c.ID + "/questions"
	with := func(change func(*question.NewQuestion)) map[string]any {
		q := asked[1]
		change(&q)

		return map[string]any{"questions": []question.NewQuestion{q}}
	}

	nowhere, long := strings.Replace(admin, c.ID, stranger, 1), strings.Repeat("x", 81)
	many, choices := []question.NewQuestion{}, []string{}

	for i := range 51 {
		many = append(many, question.NewQuestion{Slug: fmt.Sprint("q", i), Text: "Q", Points: 1, Kind: question.Team})
	}

	for i := range 101 {
		choices = append(choices, fmt.Sprint("C ", i))
	}

	for name, r := range map[string]struct {
		user, method, target string
		body                 any
		status               int
		text                 string
	}{
		"51 questions":       {root, "PUT", admin, map[string]any{"questions": many}, 422, "body.questions"},
		"101 choices":        {root, "PUT", admin, with(func(q *question.NewQuestion) { q.Choices = choices }), 422, "choices"},
		"no points":          {root, "PUT", admin, with(func(q *question.NewQuestion) { q.Points = 0 }), 422, "points"},
		"no choices":         {root, "PUT", admin, with(func(q *question.NewQuestion) { q.Choices = nil }), 400, "body.questions"},
		"choices and a team": {root, "PUT", admin, with(func(q *question.NewQuestion) { q.Kind = question.Team }), 400, "body.questions"},
		"a choice twice": {
			root, "PUT", admin, with(func(q *question.NewQuestion) { q.Choices = []string{"Bo", "Bo"} }), 400, "body.questions",
		},
		"a question twice": {
			root, "PUT", admin, map[string]any{"questions": []question.NewQuestion{asked[0], asked[0]}}, 400, "body.questions",
		},
		"an answered question goes":    {root, "PUT", admin, map[string]any{"questions": asked[:1]}, 409, "question_answered"},
		"questions of no tournament":   {root, "PUT", nowhere, map[string]any{"questions": asked}, 404, "tournament_not_found"},
		"questions by a member":        {"ann", "PUT", admin, map[string]any{"questions": asked}, 403, ""},
		"a decision by a member":       {"ann", "POST", admin + "/scorer/settle", map[string]any{"void": true}, 403, ""},
		"a decision about no question": {root, "POST", admin + "/none/settle", map[string]any{"void": true}, 404, "question_not_found"},
		"no decision":                  {root, "POST", admin + "/scorer/settle", map[string]any{}, 400, "body.answers"},
		"two decisions":                {root, "POST", admin + "/scorer/settle", map[string]any{"void": true, "undo": true}, 400, "body.answers"},
		"21 right answers":             {root, "POST", admin + "/scorer/settle", map[string]any{"answers": choices[:21]}, 422, "answers"},
		"no choice":                    {"ann", "PUT", path + "/scorer/answer", map[string]string{"answer": "Nobody"}, 400, "body.answer"},
		"a long answer":                {"ann", "PUT", path + "/scorer/answer", map[string]string{"answer": long}, 422, "body.answer"},
		"no team":                      {"ann", "PUT", path + "/champion/answer", map[string]string{"answer": "Rovers"}, 400, "body.answer"},
		"a team of another tournament": {"ann", "PUT", path + "/champion/answer", map[string]string{"answer": stranger}, 400, "body.answer"},
		"no question":                  {"ann", "PUT", path + "/none/answer", map[string]string{"answer": "Bo"}, 404, "question_not_found"},
		"a stranger answers":           {"nobody", "PUT", path + "/scorer/answer", map[string]string{"answer": "Bo"}, 404, "member_not_found"},
		"a stranger reads":             {"nobody", "GET", path, nil, 404, "member_not_found"},
		"no tournament":                {"ann", "GET", strings.Replace(path, c.ID, stranger, 1), nil, 404, "tournament_not_found"},
	} {
		out := w.Ask(r.user, r.method, r.target, r.body)
		if out.StatusCode != r.status || !strings.Contains(out.Body, r.text) {
			t.Errorf("%s: %d %s, want %d with %q", name, out.StatusCode, out.Body, r.status, r.text)
		}
	}

	if got := w.Do("ann", "GET", "/tournaments/"+other.ID+"/questions", nil).Body; !strings.Contains(got, `"data":[]`) {
		t.Errorf("a tournament without questions: %s", got)
	}

	// A choice that goes is no answer any more; another text, order and points keep the answers.
	w.Do(root, "PUT", strings.TrimPrefix(admin, "/api/v2"), with(func(q *question.NewQuestion) { q.Text, q.Points = "Who?", 3 }))

	if diff := cmp.Diff([]string{"scorer open Bo"}, seen(w, c, "ann")); diff != "" {
		t.Errorf("another text (-want +got):\n%s", diff)
	}

	w.Do(root, "PUT", strings.TrimPrefix(admin, "/api/v2"), with(func(q *question.NewQuestion) { q.Choices = []string{"Cy"} }))

	if diff := cmp.Diff([]string{"scorer open"}, seen(w, c, "ann")); diff != "" {
		t.Errorf("the choice is gone (-want +got):\n%s", diff)
	}

	w.MoveClock(bestshottest.Noon.Add(hour))

	for slug, text := range map[string]string{"scorer": "Bo", "none": "Bo"} {
		out := w.Ask(root, "POST", admin+"/"+slug+"/settle", map[string]any{"answers": []string{text}})
		if want := map[string]int{"scorer": http.StatusBadRequest, "none": http.StatusNotFound}[slug]; out.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", slug, out.StatusCode, out.Body, want)
		}
	}
}

// TestQuestionCrashes: a decision, or its message, that crashes before or after any I/O call, and runs again,
// applies the points once.
func TestQuestionCrashes(t *testing.T) {
	t.Parallel()

	body := map[string]any{"answers": []string{"Bo"}}

	for name, run := range map[string]func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error{
		"request": func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error {
			in := &question.DecideQuestion{TournamentID: c.ID, Slug: "scorer"}
			in.Body.Answers = []string{"Bo"}
			_, err := testkit.OpenWith(w.World, env(question.DecideQuestionFunction()), question.OpenAdmin).DecideQuestion(w.NewContext(), in)

			return err
		},
		"message": func(w *bestshottest.World, c *bestshottest.Tournament, env func(app.Function) app.Env) error {
			decideQuestion(w, c, "scorer", body)
			w.Clear(question.Queue)

			s := testkit.OpenWith(w.World, env(question.SettleQuestionFunction()),
				func(ctx context.Context, env app.Env) (*question.Worker, error) {
					return question.OpenWorkerWith(ctx, env, 1, 10)
				})

			return s.SettleQuestion(w.NewContext(), question.Decided{TournamentID: c.ID, Slug: "scorer"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dynamotest.CheckCrashes(t, func(t *testing.T, p *dynamotest.Process) any {
				w, c := questioned(t, "ann", "bob")
				answer(w, c, "ann", "scorer", "Bo")
				answer(w, c, "bob", "scorer", "Cy")
				w.MoveClock(bestshottest.Noon.Add(hour))
				c.Board("ann") // fills the cache

				err := run(w, c, func(fn app.Function) app.Env { return w.CrashingEnv(fn, p) })
				if p.Ended(err, dynamotest.CacheCall) { // the client survives the loss of what it asks a new connection
					awaitRollback(w, "tournament")
					checkSums(t, w)
					testkit.Must(t, run(w, c, w.Env))
				}

				applyDecisions(w, 1)
				checkSums(t, w)

				rows, _, err := pg.Value[int](t.Context(), w.DB, `SELECT count(*)::int FROM question_ledger`)
				testkit.Must(t, err)

				return []any{c.Board("ann"), rows, seen(w, c, "ann")}
			})
		})
	}
}

// TestMessagesOfNoQuestion: a message of what is no question is refused, and one of what is gone changes nothing.
func TestMessagesOfNoQuestion(t *testing.T) {
	t.Parallel()
	w, c := questioned(t, "ann")
	s := testkit.Open(w.World, question.SettleQuestionFunction(), question.OpenWorker)

	for name, m := range map[string]question.Decided{
		"no tournament": {TournamentID: "1", Slug: "scorer"},
		"no question":   {TournamentID: c.ID},
	} {
		if err := s.SettleQuestion(w.NewContext(), m); err == nil {
			t.Errorf("%s: it is done", name)
		}
	}

	for _, id := range []string{c.ID, memberID(w, "ann")} {
		testkit.Must(t, s.SettleQuestion(w.NewContext(), question.Decided{TournamentID: id, Slug: "gone"}))
	}

	if got := c.Board("ann"); len(got) != 0 {
		t.Errorf("the leaderboard has %q", got)
	}
}

// plantAnswers gives each tournament a question, which all members have answered, with a row of the ledger.
func plantAnswers(w *bestshottest.World) {
	w.T.Helper()

	for _, statement := range []string{
		`INSERT INTO question (tournament_id, slug, "order", text, points, kind, choices)
SELECT id, 'scorer', 1, 'Who?', 10, 'choice', '{Bo}' FROM tournament`,
		`INSERT INTO question_answer (tournament_id, slug, member_id, answer, stored_at)
SELECT tournament_id, 'scorer', member_id, 'Bo', now() FROM tournament_scoreboard`,
		`INSERT INTO question_ledger (tournament_id, slug, member_id, version, points_earned)
SELECT tournament_id, 'scorer', member_id, 1, 0 FROM tournament_scoreboard`,
	} {
		_, err := pg.Do(w.T.Context(), w.DB, statement)
		testkit.Must(w.T, err)
	}
}
