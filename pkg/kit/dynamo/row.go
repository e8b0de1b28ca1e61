package dynamo

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
)

// This file builds updates and conditions from the struct of a row. Its dynamodbav tags are the
// names of the attributes. A name without a tag, or a value of the wrong type (a string for a
// number), is a mistake in the program: the call panics, so the first test that makes it fails.
// The tags of a type are read once.

// Changes are what an update does to an item whose struct is T. The methods add to
// it, and panic for the attributes of another struct.
type Changes struct {
	of *attributes
	b  expression.UpdateBuilder
}

// Set sets the named attributes to row's values. Afterwards the item has the attributes that Put
// would write: a zero value of an attribute tagged omitempty is removed. Other zero values are
// set.
func Set[T any](row T, names ...string) Changes {
	return Changes{of: attributesOf(reflect.TypeFor[T]())}.Set(row, names...)
}

// SetZero is Set that also sets zero values of attributes tagged omitempty.
func SetZero[T any](row T, names ...string) Changes {
	return Changes{of: attributesOf(reflect.TypeFor[T]())}.SetZero(row, names...)
}

// SetIfAbsent is SetZero for those of the named attributes that the item lacks.
func SetIfAbsent[T any](row T, names ...string) Changes {
	return Changes{of: attributesOf(reflect.TypeFor[T]())}.SetIfAbsent(row, names...)
}

// Remove removes the named attributes of a T.
func Remove[T any](names ...string) Changes {
	return Changes{of: attributesOf(reflect.TypeFor[T]())}.Remove(names...)
}

// Add adds n to a number of a T. An absent attribute counts as 0.
func Add[T any](name string, n int) Changes {
	return Changes{of: attributesOf(reflect.TypeFor[T]())}.Add(name, n)
}

// Set also sets the named attributes: see the function Set.
func (c Changes) Set(row any, names ...string) Changes {
	v := c.of.value(row)
	for _, name := range names {
		a := c.of.get(name)
		if f := v.FieldByIndex(a.index); a.omitEmpty && isZero(f) {
			c.b = c.b.Remove(a.name)
		} else {
			c.b = c.b.Set(a.name, expression.Value(f.Interface()))
		}
	}

	return c
}

// SetZero also sets the named attributes: see the function SetZero.
func (c Changes) SetZero(row any, names ...string) Changes {
	v := c.of.value(row)
	for _, name := range names {
		a := c.of.get(name)
		c.b = c.b.Set(a.name, expression.Value(v.FieldByIndex(a.index).Interface()))
	}

	return c
}

// SetIfAbsent also sets the named attributes: see the function SetIfAbsent.
func (c Changes) SetIfAbsent(row any, names ...string) Changes {
	v := c.of.value(row)
	for _, name := range names {
		a := c.of.get(name)
		c.b = c.b.Set(a.name, expression.IfNotExists(a.name, expression.Value(v.FieldByIndex(a.index).Interface())))
	}

	return c
}

// Remove also removes the named attributes.
func (c Changes) Remove(names ...string) Changes {
	for _, name := range names {
		c.b = c.b.Remove(c.of.get(name).name)
	}

	return c
}

// Add also adds n to a number.
func (c Changes) Add(name string, n int) Changes {
	c.b = c.b.Add(c.of.of(name, n).name, expression.Value(n))
	return c
}

// SetNumber also sets a number of the row, to n.
func (c Changes) SetNumber(name string, n int64) Changes {
	c.b = c.b.Set(c.of.of(name, n).name, expression.Value(n))
	return c
}

// Exists holds for an item that has the attribute of a T.
func Exists[T any](name string) expression.ConditionBuilder {
	return expression.AttributeExists(attributesOf(reflect.TypeFor[T]()).get(name).name)
}

// Absent holds for an item without the attribute of a T, and for no item.
func Absent[T any](name string) expression.ConditionBuilder {
	return expression.AttributeNotExists(attributesOf(reflect.TypeFor[T]()).get(name).name)
}

// Unchanged holds for an item whose named attributes are as in row. An attribute
// that is zero in row, and tagged omitempty, must be absent.
func Unchanged[T any](row T, names ...string) expression.ConditionBuilder {
	of := attributesOf(reflect.TypeFor[T]())
	v := of.value(row)

	var all expression.ConditionBuilder

	for _, name := range names {
		a := of.get(name)

		one := expression.AttributeNotExists(a.name)
		if f := v.FieldByIndex(a.index); !a.omitEmpty || !isZero(f) {
			one = expression.Equal(a.name, expression.Value(f.Interface()))
		}

		if all.IsSet() {
			one = all.And(one)
		}

		all = one
	}

	return all
}

// Equal holds for an item whose attribute is value. Like the other comparisons it does not hold
// for an item without the attribute.
func Equal[T any](name string, value any) expression.ConditionBuilder {
	return expression.Equal(compared[T](name, value))
}

// NotEqual holds for an item whose attribute is not value, and for one without it.
func NotEqual[T any](name string, value any) expression.ConditionBuilder {
	return expression.NotEqual(compared[T](name, value))
}

// Less holds for an item whose attribute is less than value.
func Less[T any](name string, value any) expression.ConditionBuilder {
	return expression.LessThan(compared[T](name, value))
}

// AtMost holds for an item whose attribute is value or less.
func AtMost[T any](name string, value any) expression.ConditionBuilder {
	return expression.LessThanEqual(compared[T](name, value))
}

// Greater holds for an item whose attribute is greater than value.
func Greater[T any](name string, value any) expression.ConditionBuilder {
	return expression.GreaterThan(compared[T](name, value))
}

func compared[T any](name string, value any) (expression.NameBuilder, expression.ValueBuilder) {
	return attributesOf(reflect.TypeFor[T]()).of(name, value).name, expression.Value(value)
}

// attributes are those of a struct, by name.
type attributes struct {
	row  reflect.Type
	with map[string]attribute
}

type attribute struct {
	name      expression.NameBuilder
	index     []int // of the field
	omitEmpty bool
	kind      string // "string", "number" or "bool"; "" for what is not compared
}

// structs caches the attributes of each struct that was used.
var structs sync.Map // of *attributes, by reflect.Type

func attributesOf(row reflect.Type) *attributes {
	if of, ok := structs.Load(row); ok {
		return of.(*attributes)
	}

	if row.Kind() != reflect.Struct {
		panic(fmt.Sprintf("dynamo: %s is not a struct", row))
	}

	of := &attributes{row: row, with: map[string]attribute{}}
	depths := map[string]int{}

	for _, f := range reflect.VisibleFields(row) {
		tag, tagged := f.Tag.Lookup("dynamodbav")

		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}

		if f.Anonymous && tagged { // otherwise its fields would be attributes here, but not where Put writes them
			panic(fmt.Sprintf("dynamo: %s embeds %s with a tag, which is not supported", row, f.Name))
		}

		if !f.IsExported() || name == "-" || f.Anonymous {
			continue
		}

		if options != "" && options != "omitempty" {
			panic(fmt.Sprintf("dynamo: the tag of %s.%s has %q: only omitempty is supported", row, f.Name, options))
		}

		if depth, ok := depths[name]; ok && depth <= len(f.Index) {
			continue // like Go's and attributevalue's rules for embedded structs
		}

		depths[name] = len(f.Index)
		of.with[name] = attribute{name: expression.NameNoDotSplit(name), index: f.Index, omitEmpty: options == "omitempty", kind: kindOf(f.Type)}
	}

	kept, _ := structs.LoadOrStore(row, of)

	return kept.(*attributes)
}

// get returns the attribute of that name.
func (of *attributes) get(name string) attribute {
	a, ok := of.with[name]
	if !ok {
		panic(fmt.Sprintf("dynamo: %s has no attribute %q; it has %s", of.row, name, strings.Join(slices.Sorted(maps.Keys(of.with)), ", ")))
	}

	return a
}

// of returns the attribute of that name. It panics unless the attribute can have the value.
func (of *attributes) of(name string, value any) attribute {
	a := of.get(name)
	if kind := kindOf(reflect.TypeOf(value)); kind != "" && a.kind != "" && kind != a.kind {
		panic(fmt.Sprintf("dynamo: %q of %s is a %s, and is never %#v", name, of.row, a.kind, value))
	}

	return a
}

// value returns the struct that row is, or points to.
func (of *attributes) value(row any) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(row))
	if v.Type() != of.row {
		panic(fmt.Sprintf("dynamo: changes of a %s take no %T", of.row, row))
	}

	return v
}

var marshaler = reflect.TypeFor[attributevalue.Marshaler]()

// kindOf returns the kind of DynamoDB's values of type t, "" if it is unknown here.
func kindOf(t reflect.Type) string {
	if t == nil || reflect.PointerTo(t).Implements(marshaler) {
		return ""
	}

	switch k := t.Kind(); {
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "bool"
	case k <= reflect.Float64 && k != reflect.Uintptr: // but for Bool, all up to here are numbers
		return "number"
	}

	return ""
}

// isZero reports whether attributevalue leaves v out for omitempty. For a slice or
// a map that is nil, but not an empty one.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}

	return v.IsZero()
}
