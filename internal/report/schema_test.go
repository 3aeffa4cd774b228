package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document returns an embedded schema as plain data.
func document(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name+".json", document(t, name)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, s string) map[string]any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// populate gives every field below v a value other than zero.
func populate(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.String() == "" {
			v.SetString("x")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(4)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("200"), reflect.ValueOf(uint64(5)))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(0, 0)))
			return
		}
		if verdict, ok := v.Addr().Interface().(*Verdict); ok {
			verdict.Status = Degraded
		}
		for i := range v.NumField() {
			populate(v.Field(i))
		}
	}
}

func populated() *Result {
	r := nothing()
	populate(reflect.ValueOf(r).Elem())
	return r
}

func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	result, line := compile(t, "result-1"), compile(t, "window-1")
	for _, tt := range []struct {
		name   string
		result *Result
	}{
		{"ordinary", ordinary()}, {"overload", overload()}, {"nothing", nothing()}, {"populated", populated()},
	} {
		if err := result.Validate(decode(t, render(t, JSON, tt.result))); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for l := range strings.Lines(render(t, ndjson, tt.result)) {
			if err := line.Validate(decode(t, l)); err != nil {
				t.Errorf("%s: %v\n%s", tt.name, err, l)
			}
		}
	}
}

// TestSchemaRejects changes one value after the other of a full document: an
// unknown field, a missing one and a wrong type must be refused in every kind of
// object.
func TestSchemaRejects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		schema *jsonschema.Schema
		doc    map[string]any
	}{
		{"result", compile(t, "result-1"), decode(t, render(t, JSON, populated()))},
		{"window line", compile(t, "window-1"), decode(t, strings.SplitAfter(render(t, ndjson, populated()), "\n")[0])},
		{"result line", compile(t, "window-1"), decode(t, slices.Collect(strings.Lines(render(t, ndjson, populated())))[2])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.schema.Validate(tt.doc); err != nil {
				t.Fatal(err)
			}
			n := 0
			reject := func(what, path string) {
				n++
				if tt.schema.Validate(tt.doc) == nil {
					t.Errorf("%s at %s is accepted", what, path)
				}
			}
			seen := map[string]bool{} // objects by their fields
			var walk func(path string, v any)
			walk = func(path string, v any) {
				switch v := v.(type) {
				case []any:
					walk(path+"/0", v[0])
				case map[string]any:
					kind := fmt.Sprint(slices.Sorted(maps.Keys(v)))
					if seen[kind] {
						return
					}
					seen[kind] = true
					v["unknown"] = json.Number("1")
					reject("an unknown field", path)
					delete(v, "unknown")
					for _, key := range slices.Sorted(maps.Keys(v)) {
						at, old := path+"/"+key, v[key]
						v[key] = []any{true}
						reject("a wrong type", at)
						optional := path == "" && slices.Contains([]string{"warmup", "sessions", "streams"}, key) || key == "tls_failures" || strings.HasSuffix(path, "/codes") || strings.HasSuffix(path, "/tls_failures")
						if delete(v, key); !optional {
							reject("a missing field", at)
						}
						v[key] = old
						walk(at, old)
					}
				}
			}
			walk("", tt.doc)
			if n < 100 {
				t.Errorf("only %d changes were tried", n)
			}
		})
	}
}

// TestSchemaMatchesModel walks types and schemas side by side, so that neither
// can have a field, a type or a list of required fields that the other lacks.
func TestSchemaMatchesModel(t *testing.T) {
	t.Parallel()
	line := document(t, "window-1")
	defs := line["$defs"].(map[string]any)
	for _, tt := range []struct {
		name       string
		typ        reflect.Type
		root, node map[string]any
	}{
		{"result", reflect.TypeFor[Result](), document(t, "result-1"), document(t, "result-1")},
		{"window_line", reflect.TypeFor[windowLine](), line, defs["window_line"].(map[string]any)},
		{"result_line", reflect.TypeFor[resultLine](), line, defs["result_line"].(map[string]any)},
	} {
		w := walker{t: t, defs: tt.root["$defs"].(map[string]any), used: map[string]bool{tt.name: true}}
		w.compare(tt.name, tt.typ, tt.node)
		for name := range w.defs {
			if !w.used[name] && tt.name == "result" {
				t.Errorf("nothing refers to $defs/%s", name)
			}
		}
	}
}

// walker compares Go types with nodes of one schema.
type walker struct {
	t    *testing.T
	defs map[string]any
	used map[string]bool
}

func (w walker) compare(path string, typ reflect.Type, node map[string]any) {
	w.t.Helper()
	if ref, ok := node["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		w.used[name] = true
		node = w.defs[name].(map[string]any)
	}
	if typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct {
		typ = typ.Elem()
	}
	if node["const"] != nil || node["enum"] != nil {
		if typ.Kind() != reflect.String {
			w.t.Errorf("%s is fixed to words in the schema and %v in Go", path, typ)
		}
		return
	}
	if got, want := fmt.Sprint(node["type"]), schemaType(typ); got != want {
		w.t.Errorf("%s has type %s in the schema, want %s for %v", path, got, want, typ)
		return
	}
	switch {
	case typ.Kind() == reflect.Slice:
		w.compare(path+"[]", typ.Elem(), node["items"].(map[string]any))
	case typ.Kind() == reflect.Map:
		w.compare(path+"{}", typ.Elem(), node["additionalProperties"].(map[string]any))
	case schemaType(typ) == "object":
		w.object(path, typ, node)
	}
}

func (w walker) object(path string, typ reflect.Type, node map[string]any) {
	w.t.Helper()
	if node["additionalProperties"] != false {
		w.t.Errorf("%s accepts unknown fields", path)
	}
	properties := node["properties"].(map[string]any)
	var required []string
	have := map[string]bool{}
	for _, f := range reflect.VisibleFields(typ) {
		tag, ok := f.Tag.Lookup("json")
		if !ok {
			if !f.Anonymous {
				w.t.Errorf("%s: field %s has no JSON name", path, f.Name)
			}
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if option == "" {
			required = append(required, name)
		}
		have[name] = true
		if property, ok := properties[name].(map[string]any); ok {
			w.compare(path+"."+name, f.Type, property)
		} else {
			w.t.Errorf("%s.%s is not in the schema", path, name)
		}
	}
	for name := range properties {
		if !have[name] {
			w.t.Errorf("%s.%s is in the schema and not in %v", path, name, typ)
		}
	}
	var got []string
	for _, name := range node["required"].([]any) {
		got = append(got, name.(string))
	}
	slices.Sort(got)
	slices.Sort(required)
	if !slices.Equal(got, required) {
		w.t.Errorf("%s requires %v in the schema, want %v", path, got, required)
	}
}

// schemaType returns the type keyword that belongs to a Go type, printed.
func schemaType(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Pointer:
		return "[number null]"
	case reflect.Slice:
		return "array"
	}
	if typ == reflect.TypeFor[time.Time]() {
		return "string"
	}
	return "object"
}

// TestCountsMatchModel holds the lists of counters against the fields.
func TestCountsMatchModel(t *testing.T) {
	t.Parallel()
	var (
		e Errors
		s Shed
		c Status
	)
	for _, tt := range []struct {
		object any
		counts []count
		skip   int // fields before the first that is listed
	}{
		{&e, e.counts(), 1}, {&s, s.counts(), 0}, {&c, c.counts(), 0},
	} {
		v := reflect.ValueOf(tt.object).Elem()
		if v.NumField() != len(tt.counts)+tt.skip {
			t.Fatalf("%v has %d fields and %d counts", v.Type(), v.NumField()-tt.skip, len(tt.counts))
		}
		for i, c := range tt.counts {
			f := v.Type().Field(i + tt.skip)
			if c.name != f.Tag.Get("json") || c.n != v.Field(i+tt.skip).Addr().Interface() {
				t.Errorf("count %d of %v is %s, want field %s", i, v.Type(), c.name, f.Name)
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	if got := Schemas(); !slices.Equal(got, []string{"result-1", "window-1"}) {
		t.Errorf("Schemas() = %v", got)
	}
	files, err := schemas.ReadDir("schema")
	if err != nil || len(files) != len(Schemas()) {
		t.Errorf("%d embedded files, error %v; want %d", len(files), err, len(Schemas()))
	}
	_, err = Schema("result-2")
	if want := `report: schema "result-2": want one of result-1, window-1`; err == nil || err.Error() != want {
		t.Errorf("Schema(result-2): error %v, want %s", err, want)
	}
}
