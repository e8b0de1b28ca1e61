// Package audience answers for the activities of a match with a large audience, which no table has
// to store.
package audience

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"matchday/pkg/cricket/tables"
)

// Audience is an HTTP client for DynamoDB, which answers the queries for the activities of a match
// as if there were N. Their tokens are evenly distributed. It passes on all other requests.
type Audience struct {
	Next    aws.HTTPClient
	MatchID string
	N       int
	Expires int64 // when the activities expire, epoch s
}

// Token returns the push token of an activity. Tokens ascend with i.
func (a Audience) Token(i int) string {
	return fmt.Sprintf("%08x", uint64(i)<<32/uint64(a.N)) + strings.Repeat("a", 56)
}

// value is an attribute as DynamoDB spells it.
type value struct {
	S string `json:",omitempty"`
	N string `json:",omitempty"`
}

type item map[string]value

type query struct {
	TableName                 string
	Limit                     int
	ScanIndexForward          *bool
	ExclusiveStartKey         item
	ExpressionAttributeValues item
}

// Do implements aws.HTTPClient.
func (a Audience) Do(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") {
		return a.Next.Do(r)
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}

	r.Body = io.NopCloser(bytes.NewReader(body))

	var q query
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}

	until, asked := "", false

	for _, v := range q.ExpressionAttributeValues {
		if v.S == a.MatchID {
			asked = true
		} else {
			until = v.S
		}
	}

	if !asked || !strings.HasSuffix(q.TableName, tables.Subscriptions.Name) {
		return a.Next.Do(r)
	}

	text, err := json.Marshal(a.answer(q, until))

	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text))}, err
}

type page struct {
	Items            []item
	LastEvaluatedKey item `json:",omitempty"`
}

// answer returns the page of a query for the tokens after its start, and at most until if that is
// not empty.
func (a Audience) answer(q query, until string) (out page) {
	first, last := 0, a.N
	if start, ok := q.ExclusiveStartKey["pushToken"]; ok {
		first = a.after(start.S)
	}

	if until != "" {
		last = a.after(until)
	}

	if q.ScanIndexForward != nil && !*q.ScanIndexForward {
		first = max(first, last-q.Limit)
	}

	for i := first; i < min(last, first+q.Limit); i++ {
		out.Items = append(out.Items, item{
			"matchId": {S: a.MatchID}, "pushToken": {S: a.Token(i)}, "expiresAt": {N: strconv.FormatInt(a.Expires, 10)},
		})
	}

	if first+q.Limit < last {
		out.LastEvaluatedKey = item{"matchId": {S: a.MatchID}, "pushToken": {S: a.Token(first + q.Limit - 1)}}
	}

	return out
}

// after returns the number of tokens up to one.
func (a Audience) after(token string) int {
	return sort.Search(a.N, func(i int) bool { return a.Token(i) > token })
}
