package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is a query parameter whose zero value has a meaning. Set reports whether
// the parameter was given. It is described and validated as a T.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Schema returns the schema of T.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver returns where huma stores the value.
func (o *Optional[T]) Receiver() reflect.Value { return reflect.ValueOf(&o.Value).Elem() }

// OnParamSet is called by huma: set reports whether the parameter was given.
func (o *Optional[T]) OnParamSet(set bool, _ any) { o.Set = set }
