package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// decode decodes the JSON value that is all of raw into v; strict refuses keys
// that v does not have. What is wrong at offset, and what was wanted, is in the
// last result, which is empty if nothing is. It quotes no value, unlike the
// errors of encoding/json, which have numbers and single characters.
func decode(raw []byte, v any, strict bool) (offset int, wrong string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		end := int(d.InputOffset())
		rest := bytes.TrimLeft(raw[end:], " \t\r\n")
		if len(rest) > 0 {
			return len(raw) - len(rest), "text after a JSON value: want nothing more"
		}
		return 0, ""
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return len(raw), "end before a JSON value is complete: want the rest of it"
	case errors.As(err, &syntax):
		return max(int(syntax.Offset)-1, 0), "malformed JSON: want a JSON object"
	case errors.As(err, &kind):
		found, _, _ := strings.Cut(kind.Value, " ")
		where := ""
		if kind.Field != "" {
			where = " for " + kind.Field
		}
		return max(int(kind.Offset)-1, 0), "JSON " + found + where + ": want " + kindName(kind.Type)
	}
	return 0, strings.TrimPrefix(err.Error(), "json: ") + ": want what the format has"
}

// kindName names the JSON values that fit in a Go type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}
