package dynamo

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// SwapWrite is UpdateWrite for transactions of many rows: it sets the named attributes to those of
// next, as Set does, if the attributes same are as in was, as Unchanged says. It writes its
// expressions itself, which takes a tenth of the time.
func SwapWrite[T any](key Item, was, next T, set, same []string) Write {
	of := attributesOf(reflect.TypeFor[T]())
	e := swap{of: of, row: of.value(next), names: map[string]string{}, values: Item{}}

	var sets, removes, conditions []string

	for _, name := range set {
		if at, value, ok := e.value(name); ok {
			sets = append(sets, at+" = "+value)
		} else {
			removes = append(removes, at)
		}
	}

	e.row = of.value(was)

	for _, name := range same {
		if at, value, ok := e.value(name); ok {
			conditions = append(conditions, at+" = "+value)
		} else {
			conditions = append(conditions, "attribute_not_exists("+at+")")
		}
	}

	var update []string
	if len(sets) > 0 {
		update = append(update, "SET "+strings.Join(sets, ", "))
	}

	if len(removes) > 0 {
		update = append(update, "REMOVE "+strings.Join(removes, ", "))
	}

	u := types.Update{
		Key: key, UpdateExpression: aws.String(strings.Join(update, " ")), ConditionExpression: aws.String(strings.Join(conditions, " AND ")),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}

	return func(table *string) (types.TransactWriteItem, error) {
		one := u
		one.TableName = table

		return types.TransactWriteItem{Update: &one}, e.err
	}
}

// swap are the names and values of the expressions of an update.
type swap struct {
	of     *attributes
	row    reflect.Value
	names  map[string]string
	values Item
	err    error
}

// value returns the placeholders of an attribute and of its value in the row, and false if the row
// is written without the attribute.
func (e *swap) value(name string) (at, value string, ok bool) {
	a := e.of.get(name)
	at = "#" + strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}

		return '_'
	}, name)

	if other, used := e.names[at]; used && other != name {
		panic(fmt.Sprintf("dynamo: %q and %q of %s have the same placeholder", name, other, e.of.row))
	}

	e.names[at] = name

	f := e.row.FieldByIndex(a.index)
	if a.omitEmpty && isZero(f) {
		return at, "", false
	}

	av, err := attributevalue.Marshal(f.Interface())
	if err != nil && e.err == nil {
		e.err = err
	}

	value = fmt.Sprint(":", len(e.values))
	e.values[value] = av

	return at, value, true
}
