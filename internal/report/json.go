package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"
)

// JSON writes the result as an indented JSON document.
func JSON(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(plain(clean(*r))); err != nil {
		return fmt.Errorf("report: json: %w", err)
	}
	return nil
}

// plain is a Result without its MarshalJSON.
type plain Result

// MarshalJSON keeps the promises of the contract wherever a result is embedded:
// no null for an empty list, no number that JSON cannot carry.
func (r Result) MarshalJSON() ([]byte, error) { return marshal(plain(clean(r))) }

// marshal is json.Marshal that leaves <, > and & in addresses readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// clean returns a deep copy that can be printed in every format: nil lists and
// maps are empty, a negative zero is 0, and a quotient with nothing to divide by
// (NaN or an infinity) is 0, or null where the contract allows it. One such
// number must not cost a whole result.
func clean[T any](v T) T {
	return cleaned(reflect.ValueOf(v)).Interface().(T)
}

func cleaned(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Float64:
		if v.Float() == 0 || !finite(v.Float()) {
			out.SetFloat(0)
		}
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		if e := v.Elem(); e.Kind() == reflect.Float64 && !finite(e.Float()) {
			out.SetZero()
			break
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(cleaned(v.Elem()))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(cleaned(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range v.NumField() {
			out.Field(i).Set(cleaned(v.Field(i)))
		}
	}
	return out
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
