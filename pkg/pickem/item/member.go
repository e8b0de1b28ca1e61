package item

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/tables"
)

// Member is the item of a member. While the member is removed it has DeletedAt.
type Member struct {
	Row
	BelongsTo string `dynamodbav:"belongsto"`
	Name      string `dynamodbav:"name"`
	// increases with every change of the member's name or standings, and with each league that the member joins
	Rev       int    `dynamodbav:"rev"`
	DeletedAt string `dynamodbav:"deletedAt,omitempty"`

	CopyName  bool   `dynamodbav:"copyName,omitempty"`  // leagues and rankings may show an older name
	Renames   int    `dynamodbav:"renames,omitempty"`   // new names since RenamedAt
	RenamedAt string `dynamodbav:"renamedAt,omitempty"` // when the first of them was set
}

// NewMember returns the item of a new member.
func NewMember(userID, name string) Member {
	return Member{
		Row:       Row{PK: UserRef(userID), SK: UserTag, GSIPK: UserTag, GSISK: UserRef(userID), Type: MemberType},
		BelongsTo: UserRef(userID), Name: name,
	}
}

// UserID returns the id of the member.
func (p Member) UserID() string { return strings.TrimPrefix(p.BelongsTo, "USER#") }

// Member returns the member of the collection, or ErrNoUser.
func (g Collection) Member() (Member, error) {
	if len(g.Members) == 0 || g.Members[0].DeletedAt != "" {
		return Member{}, ErrNoUser
	}

	return g.Members[0], nil
}

// Errors about members.
var (
	ErrNoUser    = problem.New(problem.NotFound, "user_not_found", "the member does not exist")
	ErrNotMember = problem.New(problem.Denied, "not_a_member", "you are not a member: an administrator can invite you")
)

// IsMember returns the condition that a member exists and is not deleted.
func IsMember() expression.ConditionBuilder {
	return dynamo.Exists[Member]("PK").And(dynamo.Absent[Member]("deletedAt"))
}

// IncrementRev returns the write that increments the member's Rev. It is refused if
// Rev has changed since the member was read.
func IncrementRev(p Member) dynamo.Write {
	p.DeletedAt = "" // as in a member

	next := p
	next.Rev++

	return dynamo.SwapWrite(p.Key(), p, next, []string{"rev"}, []string{"rev", "deletedAt"})
}

// ReadMember reads a member with the member's standings, leagues and predictions,
// the latest first.
func ReadMember(ctx context.Context, db dynamo.DB, userID string, consistent bool) (Collection, error) {
	return Query(ctx, db, tables.GetMember, dynamo.Range{
		Key:        dynamo.KeyIs(tables.GetMember, UserRef(userID)),
		Backward:   true,
		Consistent: consistent,
	})
}

// ShownEvents is how many events a profile shows at once, beside those of the last days and to come.
const ShownEvents = 20

// recentDays are the days before now whose predictions ReadProfile reads consistently: those that
// may just have been saved.
const recentDays = 2

// ReadProfile reads a member with the member's standings, leagues and predictions, the latest first:
// those of events of the last two days and to come, strongly consistently if consistent is set, and
// ShownEvents of the others, eventually consistently. After an event id only those of events before
// it. more reports whether there are others. It costs at most some three units.
func ReadProfile(ctx context.Context, db dynamo.DB, userID, after string, now time.Time, consistent bool) (
	g Collection, more bool, err error) {
	border := EventRef(now.UTC().AddDate(0, 0, -recentDays).Format(time.DateOnly))
	end, limit := border, int32(ShownEvents+1) // one more shows whether there are others

	if after != "" {
		end, limit = min(end, EventRef(after)), limit+1 // with that of after
	}

	var older []Prediction

	both, bctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		g, err = Query(bctx, db, tables.GetMember, dynamo.Range{
			Key:      dynamo.KeyBetween(tables.GetMember, UserRef(userID), border, UserTag),
			Backward: true, Consistent: consistent,
		})

		return err
	})
	both.Go(func() (err error) {
		older, _, err = dynamo.Query[Prediction](bctx, db, tables.GetMember, dynamo.Range{
			Key:      dynamo.KeyBetween(tables.GetMember, UserRef(userID), EventRef(""), end),
			Backward: true, Limit: limit,
		})

		return err
	})

	if err := both.Wait(); err != nil {
		return g, false, err
	}

	if after != "" {
		g.Predictions = slices.DeleteFunc(g.Predictions, func(p Prediction) bool { return p.EventID >= after })
		older = slices.DeleteFunc(older, func(p Prediction) bool { return p.EventID == after })
	}

	if more = len(older) > ShownEvents; more {
		older = older[:ShownEvents]
	}

	g.Predictions = append(g.Predictions, older...)

	return g, more, nil
}

// CheckMember returns ErrNotMember for a caller who is not a member. The read is eventually
// consistent: for about a second after an invitation or a removal it may return the state before.
func CheckMember(ctx context.Context, db dynamo.DB, userID string) error {
	m, ok, err := dynamo.Get[Member](ctx, db.Eventual(), tables.CheckMember, UserRef(userID), UserTag)
	if err == nil && (!ok || m.DeletedAt != "") {
		err = ErrNotMember
	}

	return err
}

// ReadNames reads the names of those users who are members, by id. The read is consistent:
// a removed member has none.
func ReadNames(ctx context.Context, db dynamo.DB, userIDs []string) (map[string]string, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(userIDs))) {
		keys = append(keys, MemberKey(id))
	}

	members, err := dynamo.GetAll[Member](ctx, db, tables.NamesOf, keys)

	names := make(map[string]string, len(members))
	for _, m := range members {
		if m.DeletedAt == "" {
			names[m.UserID()] = m.Name
		}
	}

	return names, err
}
