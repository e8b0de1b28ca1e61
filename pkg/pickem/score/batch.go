package score

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/item"
	"matchday/pkg/pickem/tables"
)

const (
	// batchSize is how many members are scored in one transaction, of up to three writes each.
	batchSize = dynamo.MaxWrites / 3

	// pageSize is how many members are scored before the next page: a crash repeats no more.
	pageSize = 4 * batchSize

	// readSize is how many rows of the index are read at once.
	readSize = 8 * pageSize
)

// entry is what is read of a prediction or a standing in the index.
type entry struct {
	GSISK     string `dynamodbav:"GSI_SK"`
	BelongsTo string `dynamodbav:"belongsto"`

	Points      int    `dynamodbav:"points"`
	Correct     int    `dynamodbav:"mcorrect"`
	Played      int    `dynamodbav:"eplayed"`
	ScoredAt    string `dynamodbav:"scoredAt"`
	ScoredRev   int    `dynamodbav:"scoredRev"`
	LastEvent   string `dynamodbav:"lastEvent"`
	LastPoints  int    `dynamodbav:"lastPoints"`
	LastCorrect int    `dynamodbav:"lastCorrect"`
}

// user returns the id of the member.
func (e entry) user() string { return item.Prediction{BelongsTo: e.BelongsTo}.UserID() }

// scoreMembers scores the predictions of an event that lack the points of its results, page by page
// from the one after a sort key of the index on, which it moves. It returns false if the time of
// the message is over before all are done. An error for one member does not stop the others: failed
// has these errors.
//
// A scoring changes the place of a prediction in the index. Those that are not scored stay where
// they are, so the walk meets each of them, whatever it has scored.
func (s *Scorer) scoreMembers(ctx context.Context, r *run, on item.EventWithCard, after *string) (done bool, failed, err error) {
	lack := dynamo.NotEqual[item.Prediction]("scoredRev", on.ResultsRev)
	q := dynamo.Range{
		Key:    dynamo.KeyBeginsWith(tables.EntriesOf, item.EventRef(on.ID), item.ScorePrefix),
		Filter: &lack, Limit: readSize, Backward: true,
	}

	if *after != "" {
		user := (*after)[strings.LastIndexByte(*after, '#')+1:]
		q.After = dynamo.StartKey(tables.EntriesOf, item.EventRef(on.ID), *after, item.UserRef(user), item.EventRef(on.ID))
	}

	for {
		entries, last, err := dynamo.QueryFlat[entry](ctx, s.db, tables.EntriesOf, q)
		if err != nil {
			return false, failed, err
		}

		for page := range slices.Chunk(entries, s.pageSize) {
			failed = errors.Join(failed, s.scorePage(ctx, on, page))
			*after = page[len(page)-1].GSISK

			if r.over(ctx) {
				return false, failed, ctx.Err()
			}

			if err := r.pace(ctx, scoreUnits*len(page)); err != nil {
				return false, failed, err
			}
		}

		if last == nil {
			return true, failed, nil
		}

		q.After = last
	}
}

// scorePage scores the predictions of some members, in transactions of batchSize.
func (s *Scorer) scorePage(ctx context.Context, on item.EventWithCard, page []entry) error {
	var work errgroup.Group

	for some := range slices.Chunk(page, batchSize) {
		users := make([]string, len(some))
		for i, e := range some {
			users[i] = e.user()
		}

		work.Go(func() error { return s.scoreBatch(ctx, on, users) })
	}

	return work.Wait()
}

// stored is an item of a member: the member, a prediction or a standing, by its type.
type stored struct {
	item.Row
	BelongsTo string `dynamodbav:"belongsto"`
	Rev       int    `dynamodbav:"rev"`       // of a member or a standing
	Name      string `dynamodbav:"name"`      // of a member
	DeletedAt string `dynamodbav:"deletedAt"` // of a member

	Predictions map[string]string `dynamodbav:"predictions"` // of a prediction, as the next seven
	Weights     map[string]int    `dynamodbav:"weights"`
	Joker       string            `dynamodbav:"joker"`
	Survivor    string            `dynamodbav:"survivor"`
	Survived    string            `dynamodbav:"survived"`
	CardRev     int               `dynamodbav:"cardRev"`
	ScoredAt    string            `dynamodbav:"scoredAt"`
	ScoredRev   int               `dynamodbav:"scoredRev"`

	item.Tally
}

// UnmarshalDynamoDBAttributeValue decodes an item without reflection: there are four of each member.
// A value of another type than a row's is left out, as if it were absent.
func (i *stored) UnmarshalDynamoDBAttributeValue(av types.AttributeValue) error {
	m, ok := av.(*types.AttributeValueMemberM)
	if !ok {
		return fmt.Errorf("an item must be a map, not %T", av)
	}

	text := func(name string) string {
		s, _ := m.Value[name].(*types.AttributeValueMemberS)
		if s == nil {
			return ""
		}

		return s.Value
	}

	var broken error

	number := func(name string) int {
		n, _ := m.Value[name].(*types.AttributeValueMemberN)
		if n == nil {
			return 0
		}

		value, err := strconv.Atoi(n.Value)
		broken = errors.Join(broken, err)

		return value
	}

	*i = stored{
		Row:       item.Row{PK: text("PK"), SK: text("SK"), GSIPK: text("GSI_PK"), GSISK: text("GSI_SK"), Type: text("type")},
		BelongsTo: text("belongsto"), Rev: number("rev"), Name: text("name"), DeletedAt: text("deletedAt"),
		Joker: text("joker"), Survivor: text("survivor"), Survived: text("survived"),
		CardRev: number("cardRev"), ScoredAt: text("scoredAt"), ScoredRev: number("scoredRev"),
		Tally: item.Tally{
			Points: number("points"), Correct: number("mcorrect"), Played: number("eplayed"),
			LastEvent: text("lastEvent"), LastPoints: number("lastPoints"), LastCorrect: number("lastCorrect"),
			SurvivorOut: text("survivorOut"), SurvivorRight: number("survivorRight"),
		},
	}

	if picks, ok := m.Value["predictions"].(*types.AttributeValueMemberM); ok {
		i.Predictions = make(map[string]string, len(picks.Value))

		for match, team := range picks.Value {
			if s, ok := team.(*types.AttributeValueMemberS); ok {
				i.Predictions[match] = s.Value
			}
		}
	}

	if weights, ok := m.Value["weights"].(*types.AttributeValueMemberM); ok {
		i.Weights = make(map[string]int, len(weights.Value))

		for match, weight := range weights.Value {
			if n, ok := weight.(*types.AttributeValueMemberN); ok {
				value, err := strconv.Atoi(n.Value)
				i.Weights[match], broken = value, errors.Join(broken, err)
			}
		}
	}

	return broken
}

func (i stored) member() item.Member {
	return item.Member{Row: i.Row, BelongsTo: i.BelongsTo, Name: i.Name, Rev: i.Rev, DeletedAt: i.DeletedAt}
}

func (i stored) prediction(eventID string) item.Prediction {
	return item.Prediction{
		Row: i.Row, EventID: eventID, BelongsTo: i.BelongsTo, Predictions: i.Predictions, CardRev: i.CardRev,
		Weights: i.Weights, Joker: i.Joker, Survivor: i.Survivor, Survived: i.Survived,
		Points: i.Points, Correct: i.Correct, ScoredAt: i.ScoredAt, ScoredRev: i.ScoredRev,
	}
}

// sheet is what is stored of a member that a scoring reads.
type sheet struct {
	member     item.Member
	prediction item.Prediction
	standing   item.Standing
}

// readSheets reads what a scoring needs of members, by id.
func (s *Scorer) readSheets(ctx context.Context, on item.EventWithCard, users []string) (map[string]*sheet, error) {
	keys := make([]dynamo.Item, 0, 3*len(users))
	for _, u := range users {
		keys = append(keys, item.MemberKey(u), item.PredictionKey(u, on.ID), item.StandingKey(u, year(on.ID)).Key())
	}

	all, err := dynamo.GetAll[stored](ctx, s.db, tables.MembersOf, keys)
	if err != nil {
		return nil, err
	}

	sheets := make(map[string]*sheet, len(users))
	for _, u := range users {
		sheets[item.UserRef(u)] = &sheet{}
	}

	for _, i := range all {
		of := sheets[i.PK]

		switch i.Type {
		case item.MemberType:
			of.member = i.member()
		case item.PredictionType:
			of.prediction = i.prediction(on.ID)
		case item.StandingType:
			of.standing = item.Standing{Row: i.Row, BelongsTo: i.BelongsTo, Rev: i.Rev, Tally: i.Tally}
		}
	}

	return sheets, nil
}

// scoreBatch scores the predictions of some members in one transaction. Members of whom it is not
// known what their standing changes by, and those with a concurrent change, it scores one by one.
func (s *Scorer) scoreBatch(ctx context.Context, on item.EventWithCard, users []string) error {
	sheets, err := s.readSheets(ctx, on, users)
	if err != nil {
		return err
	}

	var (
		failed error
		alone  []string
		batch  []string
		writes [][]dynamo.Write
	)

	for _, u := range users {
		w, ok, err := s.rescore(on, *sheets[item.UserRef(u)])

		switch {
		case err != nil:
			failed = errors.Join(failed, err)
		case !ok:
			alone = append(alone, u)
		case w != nil:
			batch, writes = append(batch, u), append(writes, w)
		}
	}

	for len(batch) > 0 {
		err := dynamo.Transact(ctx, s.db, tables.ScoreMember, slices.Concat(writes...)...)

		refused, ok := errors.AsType[*dynamo.Refused](err)
		if !ok {
			failed = errors.Join(failed, err)
			break
		}

		at, n := 0, refused.Write
		for n -= len(writes[0]); n >= 0; n -= len(writes[at]) {
			at++
		}

		alone = append(alone, batch[at])
		batch, writes = slices.Delete(batch, at, at+1), slices.Delete(writes, at, at+1)
	}

	for _, u := range alone {
		_, _, err := s.score(ctx, on, u)
		failed = errors.Join(failed, err)
	}

	return failed
}

// rescore returns the writes that give a prediction the points of the present results, and the
// standing of the year the difference. It returns none for a deleted member or prediction, and for
// one that has these points already; and false if the predictions of the year must be added up:
// the latest event loses its points, or the standing does not show what it contains.
func (s *Scorer) rescore(on item.EventWithCard, of sheet) (writes []dynamo.Write, ok bool, err error) {
	m, p, t := of.member, of.prediction, of.standing
	if m.PK == "" || m.DeletedAt != "" || p.PK == "" || p.ScoredRev >= on.ResultsRev {
		return nil, true, nil
	}

	was := p

	next, err := s.scored(on, p)
	if err != nil {
		return nil, false, err
	}

	counted, counts := was.ScoredAt != "", next.ScoredAt != ""

	switch {
	case t.PK == "":
		t = item.Standing{Row: item.StandingKey(p.UserID(), year(on.ID)), BelongsTo: m.BelongsTo}
		ok = !counted
	case t.Played == 0 || t.LastEvent == "":
	default:
		ok = counts || !counted || t.LastEvent != on.ID
	}

	// Of other changes it depends on other events who is out of the survivor game.
	ok = ok && (next.Survived == was.Survived || !counted && (t.SurvivorOut != "" && t.SurvivorOut < on.ID || t.LastEvent <= on.ID))

	if !ok {
		return nil, false, nil
	}

	if counted {
		t.Points, t.Correct, t.Played = t.Points-was.Points, t.Correct-was.Correct, t.Played-1
	}

	if next.Survived != was.Survived && t.SurvivorOut == "" {
		if next.Survived == item.SurvivorWrong {
			t.SurvivorOut = on.ID
		} else {
			t.SurvivorRight++
		}
	}

	if counts {
		t.Points, t.Correct, t.Played = t.Points+next.Points, t.Correct+next.Correct, t.Played+1
		if on.ID >= t.LastEvent {
			t.LastEvent, t.LastPoints, t.LastCorrect = on.ID, next.Points, next.Correct
		}
	}

	writes = []dynamo.Write{
		item.IncrementRev(m),
		dynamo.SwapWrite(p.Key(), was, next, scoredAttributes, []string{"scoredRev", "cardRev"}),
	}

	switch {
	case t.Played < 0:
		return nil, false, nil
	case t.Played == 0 && of.standing.PK != "":
		return append(writes, dynamo.DeleteWrite(t.Key())), true, nil
	case t.Played == 0:
		return writes, true, nil
	}

	t.Rev = m.Rev + 1

	err = place(&t, p.UserID(), year(on.ID))

	return append(writes, dynamo.PutWrite(t)), true, err
}

// scoredAttributes are those of a prediction that a scoring writes.
var scoredAttributes = []string{"points", "mcorrect", "scoredAt", "scoredRev", "survived", "GSI_SK"}

// scored returns a prediction with the points of the present results, or without points if these
// are withdrawn.
func (s *Scorer) scored(on item.EventWithCard, p item.Prediction) (item.Prediction, error) {
	p.Points, p.Correct, p.ScoredAt, p.ScoredRev, p.Survived = 0, 0, "", on.ResultsRev, ""
	if !withdraws(on) {
		sheet := Of(on.Event, on.Card, p)
		p.Points, p.Correct, p.ScoredAt = sheet.Points, sheet.Correct, item.FormatTime(s.now())
		p.Survived = survived(on.Event, on.Card, p)
	}

	sk, err := item.ScoreSK(p.Points, item.MaxEventPoints, p.UserID())
	if err != nil { // the card was read between two of its changes
		err = problem.New(problem.Unavailable, "changed", "the card of %s changed while it was read", on.ID).Because(err)
	}

	p.GSISK = sk

	return p, err
}

// place sets the keys of a member's standing of a year by its points.
func place(t *item.Standing, userID, year string) (err error) {
	t.GSIPK, t.Type = item.StandingsRef(year), item.StandingType
	if t.GSISK, err = item.ScoreSK(t.Points, item.MaxYearPoints, userID); err != nil {
		err = problem.New(problem.Invalid, "too_many_points", "a member has %d points in %s: valid are 0 to %d",
			t.Points, year, item.MaxYearPoints)
	}

	return err
}
