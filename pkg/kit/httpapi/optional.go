package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a query parameter whose zero value means something: Set tells
// whether it was given. It is described and validated as a T.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Schema is that of T.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver is where huma puts the value.
func (o *Optional[T]) Receiver() reflect.Value { return reflect.ValueOf(&o.Value).Elem() }

// OnParamSet is called by huma with whether there was a value.
func (o *Optional[T]) OnParamSet(set bool, _ any) { o.Set = set }
