package item

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"matchday/pkg/kit/dynamo"
	"matchday/pkg/kit/problem"
	"matchday/pkg/pickem/tables"
)

const MemberType = "user"

// Member is the item of a member. One that was deleted leaves deletedAt behind for
// as long as a token may still speak for it.
type Member struct {
	Row
	BelongsTo string `dynamodbav:"belongsto"`
	Name      string `dynamodbav:"name"`
	Rev       int    `dynamodbav:"rev"` // how often what is shown of the member elsewhere has changed
	DeletedAt string `dynamodbav:"deletedAt,omitempty"`
}

func NewMember(userID, name string) Member {
	return Member{
		Row:       Row{PK: UserRef(userID), SK: UserTag, GSIPK: UserTag, GSISK: UserRef(userID), Type: MemberType},
		BelongsTo: UserRef(userID), Name: name,
	}
}

func (p Member) UserID() string { return strings.TrimPrefix(p.BelongsTo, "USER#") }

// Member is the member of a group, or NotFound.
func (g Collection) Member() (Member, error) {
	if len(g.Members) == 0 || g.Members[0].DeletedAt != "" {
		return Member{}, ErrNoUser
	}
	return g.Members[0], nil
}

var (
	ErrNoUser = problem.New(problem.NotFound, "user_not_found", "no such member")
)

var (
	ErrNotMember = problem.New(problem.Denied, "not_a_member", "you are not a member: giving a name makes you one, unless you were removed")
)

// IsMember is the condition on the item of a member that it is one.
func IsMember() expression.ConditionBuilder { return Exists("PK").And(Absent("deletedAt")) }

// IncrementRev counts a change of what is shown of a member, if there was no other
// since the member was read.
func IncrementRev(p Member) dynamo.Write {
	return dynamo.UpdateWrite(p.Key(), expression.Set(expression.Name("rev"), expression.Value(p.Rev+1)), IsMember().And(Equals("rev", p.Rev)))
}

// ReadMember reads a member with all that is the member's, the latest first.
func ReadMember(ctx context.Context, db dynamo.DB, userID string, consistent bool) (Collection, error) {
	return Query(ctx, db, tables.GetMember, dynamo.Range{Key: Partition(tables.GetMember, UserRef(userID)), Backward: true, Consistent: consistent})
}
