package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"httpgen/internal/report"
)

func document(t *testing.T, name string) map[string]any {
	t.Helper()
	read := Schema
	if name == "result-1" {
		read = report.Schema
	}
	b, err := read(name)
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
	for _, n := range []string{name, "result-1"} {
		if err := c.AddResource("urn:httpgen:schema:"+n, document(t, n)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("urn:httpgen:schema:" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asDocument writes a result and reads it back as plain data.
func asDocument[T SweepResult | CompareResult | FairResult](t *testing.T, r *T) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// What every kind of experiment can say keeps to its schema.
func TestSchemaAccepts(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	nothing, err := Lab{}.Sweep(stopped, sweepOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	none, err := Lab{}.Compare(stopped, CompareOptions{Arms: arms("a", "b"), Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*jsonschema.Schema{}
	spoilt := newStages(t, 0, 0.01, 0.01)
	spoilt.bad = func(int) bool { return true }
	for _, tt := range []struct {
		name, schema string
		doc          map[string]any
	}{
		{"sweep", "sweep-1", asDocument(t, sampleSweep(t))},
		{"ladder", "sweep-1", asDocument(t, sampleLadder(t))},
		{"generator limited", "sweep-1", asDocument(t, sampleLimited(t))},
		{"no trial of a sweep", "sweep-1", asDocument(t, nothing)},
		{"comparison", "compare-1", asDocument(t, sampleCompare(t))},
		{"results measured apart", "compare-1", asDocument(t, sampleUnpaired(t))},
		{"no trial of a comparison", "compare-1", asDocument(t, none)},
		{"no block that counts", "compare-1", asDocument(t, compareOf(t, Lab{Runner: spoilt}, CompareOptions{Arms: arms("a", "b"), Rate: 200, Blocks: 6}))},
		{"fairness", "fair-1", asDocument(t, sampleFair(t))},
		{"repeats", "fair-1", asDocument(t, fairOf(t, &well{t: t, capacity: 400}, FairOptions{Clients: sharers(500, 500, 500), Duration: 3 * time.Second, Repeat: 6}))},
		{"no goodput", "fair-1", asDocument(t, fairOf(t, &well{t: t}, FairOptions{Clients: sharers(500, 500, 500), Duration: 3 * time.Second}))},
	} {
		// The trials between are like these, and take long.
		if all := tt.doc["trials"].([]any); len(all) > 2 {
			tt.doc["trials"] = []any{all[0], all[len(all)-1]}
		}
		if known[tt.schema] == nil {
			known[tt.schema] = compile(t, tt.schema)
		}
		if err := known[tt.schema].Validate(tt.doc); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Unknown fields, missing ones and wrong types are refused in every kind of
// object.
func TestSchemaRejects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		doc  map[string]any
	}{
		{"sweep-1", asDocument(t, sampleSweep(t))}, {"compare-1", asDocument(t, sampleCompare(t))}, {"fair-1", asDocument(t, sampleFair(t))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schema := compile(t, tt.name)
			n := 0
			reject := func(what, path string) {
				n++
				if schema.Validate(tt.doc) == nil {
					t.Errorf("%s at %s is accepted", what, path)
				}
			}
			shorten(tt.doc) // package report tests what is its own
			skip := []string{"/trials/0/result", "/clients/0/windows", "/clients/0/totals", "/clients/0/times", "/clients/0/rates", "/tool", "/verdict"}
			var walk func(path string, v any)
			walk = func(path string, v any) {
				switch v := v.(type) {
				case []any:
					if len(v) > 0 {
						walk(path+"/0", v[0])
					}
				case map[string]any:
					free := strings.HasSuffix(path, "/evidence") || path == "/resolution"
					if !free {
						v["unknown"] = json.Number("1")
						reject("an unknown field", path)
						delete(v, "unknown")
					}
					for _, key := range slices.Sorted(maps.Keys(v)) {
						at, old := path+"/"+key, v[key]
						v[key] = []any{true}
						reject("a wrong type", at)
						if delete(v, key); !free {
							reject("a missing field", at)
						}
						v[key] = old
						if !slices.Contains(skip, at) {
							walk(at, old)
						}
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

// shorten leaves one element of each list.
func shorten(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return []any{shorten(v[0])}
		}
	case map[string]any:
		for key := range v {
			v[key] = shorten(v[key])
		}
	}
	return v
}

// Types and schemas are walked side by side: neither has what the other lacks.
func TestSchemaMatchesModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		typ  reflect.Type
	}{
		{"sweep-1", reflect.TypeFor[SweepResult]()}, {"compare-1", reflect.TypeFor[CompareResult]()}, {"fair-1", reflect.TypeFor[FairResult]()},
	} {
		doc := document(t, tt.name)
		w := walker{t: t, defs: doc["$defs"].(map[string]any), used: map[string]bool{}}
		w.compare(tt.name, tt.typ, doc)
		for name := range w.defs {
			if !w.used[name] {
				t.Errorf("%s: nothing refers to $defs/%s", tt.name, name)
			}
		}
	}
}

// A walker compares Go types with nodes of one schema.
type walker struct {
	t    *testing.T
	defs map[string]any
	used map[string]bool
}

func (w walker) compare(path string, typ reflect.Type, node map[string]any) {
	w.t.Helper()
	if either, ok := node["anyOf"].([]any); ok {
		if typ.Kind() != reflect.Pointer || len(either) != 2 || either[1].(map[string]any)["type"] != "null" {
			w.t.Errorf("%s may be null in the schema and is %v in Go", path, typ)
			return
		}
		typ, node = typ.Elem(), either[0].(map[string]any)
	}
	if ref, ok := node["$ref"].(string); ok {
		name, ours := strings.CutPrefix(ref, "#/$defs/")
		if !ours {
			if pkg := reflect.TypeFor[report.Result]().PkgPath(); strings.TrimPrefix(typ.String(), "*") != "report."+last(typ) || pkg == "" {
				w.t.Errorf("%s is of package report in the schema and %v in Go", path, typ)
			}
			return
		}
		w.used[name] = true
		node = w.defs[name].(map[string]any)
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

func last(typ reflect.Type) string {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ.Name()
}

func (w walker) object(path string, typ reflect.Type, node map[string]any) {
	w.t.Helper()
	if node["additionalProperties"] != false {
		w.t.Errorf("%s accepts unknown fields", path)
	}
	properties := node["properties"].(map[string]any)
	var fields []string
	for _, f := range reflect.VisibleFields(typ) {
		name, ok := f.Tag.Lookup("json")
		if !ok {
			if !f.Anonymous {
				w.t.Errorf("%s: field %s has no JSON name", path, f.Name)
			}
			continue
		}
		fields = append(fields, name)
		if property, ok := properties[name].(map[string]any); ok {
			w.compare(path+"."+name, f.Type, property)
		} else {
			w.t.Errorf("%s.%s is not in the schema", path, name)
		}
	}
	var required []string
	for _, name := range node["required"].([]any) {
		required = append(required, name.(string))
	}
	slices.Sort(required)
	slices.Sort(fields)
	if known := slices.Sorted(maps.Keys(properties)); !slices.Equal(required, fields) || !slices.Equal(known, fields) {
		w.t.Errorf("%s requires %v of %v in the schema, want all of %v", path, required, known, fields)
	}
}

// schemaType returns the type keyword that belongs to a Go type, printed.
func schemaType(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Uint64:
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

func TestSchemas(t *testing.T) {
	t.Parallel()
	files, err := schemas.ReadDir("schema")
	if err != nil || len(files) != len(Schemas()) {
		t.Errorf("%d embedded files, error %v; want %d", len(files), err, len(Schemas()))
	}
	_, err = Schema("sweep-2")
	if want := `experiment: schema "sweep-2": want one of sweep-1, compare-1, fair-1`; err == nil || err.Error() != want {
		t.Errorf("Schema(sweep-2): error %v, want %s", err, want)
	}
}
