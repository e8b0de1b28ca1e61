package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"matchday/pkg/spec"
)

// QueryFlat is Query for pages of thousands of rows. It reads only the attributes of T, which are
// strings, integers and bools: it panics for a T with another. It decodes an answer without a map
// for each item. The strings of a page share its memory, which is freed with the last of them.
func QueryFlat[T any](ctx context.Context, db DB, a spec.Access, r Range) (items []T, last Item, err error) {
	plan := flatOf(reflect.TypeFor[T]())
	r.Project = &plan.projection

	in, err := db.queryInput(a, r)
	if err != nil {
		return nil, nil, wrap(a, err)
	}

	var decoded bool

	out, err := db.client.Query(as(ctx, a), in, func(o *dynamodb.Options) {
		o.APIOptions = append(slices.Clip(o.APIOptions), onBody(func(text string) string {
			var rest string

			items = make([]T, 0, r.Limit) // an earlier attempt may have filled it
			rest, decoded = plan.decode(text, func() reflect.Value {
				items = append(items, *new(T))
				return reflect.ValueOf(&items[len(items)-1]).Elem()
			})

			return rest
		}))
	})

	switch {
	case err != nil:
		return nil, nil, wrap(a, err)
	case !decoded:
		items = nil
		err = attributevalue.UnmarshalListOfMaps(out.Items, &items)
	case out.Items == nil || len(out.Items) > 0:
		err = errItems
	}

	return items, out.LastEvaluatedKey, wrap(a, err)
}

// errItems reports an answer that DynamoDB does not send.
var errItems = errors.New("the answer has not exactly one list of items")

// onBody returns an option that replaces the body of a successful answer before the SDK decodes it.
func onBody(replace func(text string) string) func(*middleware.Stack) error {
	handle := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
		middleware.DeserializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleDeserialize(ctx, in)

		answer, ok := out.RawResponse.(*smithyhttp.Response)
		if err != nil || !ok || answer.StatusCode != http.StatusOK {
			return out, meta, err
		}

		var text strings.Builder

		text.Grow(int(max(answer.ContentLength, 0)))

		if _, err := io.Copy(&text, answer.Body); err != nil {
			return out, meta, &smithy.DeserializationError{Err: err}
		}

		answer.Body = struct {
			io.Reader
			io.Closer
		}{strings.NewReader(replace(text.String())), answer.Body} // Close checks the checksum of what was read

		return out, meta, nil
	}

	return func(s *middleware.Stack) error {
		return s.Deserialize.Insert(middleware.DeserializeMiddlewareFunc("body", handle), "OperationDeserializer", middleware.After)
	}
}

// flat is how a struct of strings, integers and bools is read.
type flat struct {
	fields     map[string]attribute
	projection expression.ProjectionBuilder // of all
}

// flats caches the flat of each struct that was used.
var flats sync.Map // of *flat, by reflect.Type

func flatOf(row reflect.Type) *flat {
	if f, ok := flats.Load(row); ok {
		return f.(*flat)
	}

	f := &flat{fields: attributesOf(row).with}

	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		a := f.fields[name]
		if t := row.FieldByIndex(a.index).Type; a.kind == "" || reflect.PointerTo(t).Implements(unmarshaler) ||
			a.kind == "number" && !reflect.Zero(t).CanInt() {
			panic(fmt.Sprintf("dynamo: %q of %s is a %s, which QueryFlat does not read", name, row, t))
		}

		f.projection = f.projection.AddNames(a.name)
	}

	kept, _ := flats.LoadOrStore(row, f)

	return kept.(*flat)
}

var unmarshaler = reflect.TypeFor[attributevalue.Unmarshaler]()

// items begins the list of items in the answer of a query. Every other list of the answer is the
// value of L, SS, NS or BS.
const items = `"Items":[`

// decode decodes the items in the answer of a query, each into a struct that row returns, and
// returns the answer without them. It accepts items as DynamoDB writes them, if their attributes are
// strings without escape sequences, integers and bools. For anything else it returns false and the
// whole answer, which the SDK decodes.
func (f *flat) decode(answer string, row func() reflect.Value) (rest string, ok bool) {
	head, text, ok := strings.Cut(answer, items)
	if !ok || !strings.HasSuffix(head, "{") && !strings.HasSuffix(head, ",") {
		return answer, false
	}

	for next := byte(','); next == ','; {
		if text, ok = strings.CutPrefix(text, "{"); !ok {
			return answer, false
		}

		if text, ok = f.decodeItem(text, row()); !ok || text == "" {
			return answer, false
		}

		next, text = text[0], text[1:]
		if next != ',' && next != ']' {
			return answer, false
		}
	}

	return head + items + "]" + text, true
}

// decodeItem decodes the attributes of an item into v, up to its closing brace.
func (f *flat) decodeItem(text string, v reflect.Value) (rest string, ok bool) {
	for {
		var name, kind, value string

		if name, text, ok = cutString(text, `:{`); !ok {
			return "", false
		}

		if kind, text, ok = cutString(text, `:`); !ok {
			return "", false
		}

		if kind == "BOOL" {
			value, text, ok = strings.Cut(text, "}")
		} else {
			value, text, ok = cutString(text, `}`)
		}

		if !ok || text == "" || !f.set(v, name, kind, value) {
			return "", false
		}

		next := text[0]

		text = text[1:]
		if next == '}' {
			return text, true
		}

		if next != ',' {
			return "", false
		}
	}
}

// cutString cuts a JSON string without escape sequences, and what follows it, from the begin of text.
func cutString(text, then string) (value, rest string, ok bool) {
	if text, ok = strings.CutPrefix(text, `"`); !ok {
		return "", "", false
	}

	if value, rest, ok = strings.Cut(text, `"`); !ok || strings.IndexByte(value, '\\') >= 0 {
		return "", "", false
	}

	rest, ok = strings.CutPrefix(rest, then)

	return value, rest, ok
}

// set sets the attribute of v to a value of a kind: S, N or BOOL. It ignores an attribute that v
// lacks. It returns false for a value that the SDK has to decode, or to refuse.
func (f *flat) set(v reflect.Value, name, kind, value string) bool {
	a, known := f.fields[name]
	if !known {
		for other := range f.fields {
			if strings.EqualFold(name, other) { // the SDK takes it for the other
				return false
			}
		}

		return kind == "S" || kind == "N" || kind == "BOOL" && (value == "true" || value == "false")
	}

	field := v.FieldByIndex(a.index)

	switch kind {
	case "S":
		if a.kind == "string" {
			field.SetString(value)
			return true
		}
	case "N":
		n, err := strconv.ParseInt(value, 10, 64)
		if err == nil && a.kind == "number" && !field.OverflowInt(n) {
			field.SetInt(n)
			return true
		}
	case "BOOL":
		if a.kind == "bool" && (value == "true" || value == "false") {
			field.SetBool(value == "true")
			return true
		}
	}

	return false
}
