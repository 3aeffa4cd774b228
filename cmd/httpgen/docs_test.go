package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"httpgen/internal/report"
	"httpgen/internal/script"
)

// guide is what someone reads who comes from httperf.
const guide = "../../docs/httperf.md"

// A docRow is a row of one of its tables.
type docRow struct {
	verdict string // the word
	since   string // version of httperf that has the option; empty for other rows
	example string // of a session file; empty for other rows
	text    string
}

// A document is the tables of the guide by what their rows are about: an option
// with its dashes, a part of session files, a field of the output as "line: field",
// the head of a line.
type document struct {
	options, grammar, fields, newLines, newOptions map[string]docRow
}

// readGuide reads the tables. A table is known by the heads of its columns.
func readGuide(t *testing.T) *document {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{map[string]docRow{}, map[string]docRow{}, map[string]docRow{}, map[string]docRow{}, map[string]docRow{}}
	var table map[string]docRow
	var columns []string
	for n, line := range strings.Split(string(text), "\n") {
		inner, isRow := strings.CutPrefix(line, "| ")
		if !isRow {
			table = nil
			continue
		}
		cells := strings.Split(strings.TrimSuffix(inner, " |"), " | ")
		if table == nil {
			columns = cells
			switch strings.Join(cells[:len(cells)-1], " ") {
			case "option since verdict":
				table = d.options
			case "in the file verdict example":
				table = d.grammar
			case "line field verdict":
				table = d.fields
			case "line verdict":
				table = d.newLines
			case "option verdict":
				table = d.newOptions
			default:
				t.Fatalf("%s:%d: table of %q, which nothing checks", guide, n+1, cells)
			}
			continue
		}
		if strings.HasPrefix(cells[0], "---") {
			continue
		}
		if len(cells) != len(columns) {
			t.Errorf("%s:%d: %d cells, want %d: %s", guide, n+1, len(cells), len(columns), line)
			continue
		}
		var r docRow
		var key string
		for i, cell := range cells {
			switch columns[i] {
			case "since":
				r.since = cell
			case "verdict":
				r.verdict = cell
			case "option", "line", "in the file":
				key = strings.Trim(cell, "`")
			case "example":
				r.example = strings.ReplaceAll(strings.Trim(cell, "`"), "↵", "\n")
			case "field":
				key += ": " + strings.Trim(cell, "`")
			default:
				r.text = strings.TrimSpace(cell)
			}
		}
		if _, twice := table[key]; twice {
			t.Errorf("%s:%d: a second row for %s", guide, n+1, key)
		}
		table[key] = r
	}
	return d
}

// sameKeys reports keys that only one of a table and what there is has.
func sameKeys[V any](t *testing.T, what string, table map[string]docRow, there map[string]V) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(there)) {
		if _, ok := table[key]; !ok {
			t.Errorf("%s has no row for %s %s", guide, what, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if _, ok := there[key]; !ok {
			t.Errorf("%s has a row for %s %s, which does not exist", guide, what, key)
		}
	}
}

// The guide has a row for every option of httperf and for no other.
func TestGuideOptions(t *testing.T) {
	t.Parallel()
	d := readGuide(t)
	there := map[string]httperfOption{}
	for _, h := range httperfOptions {
		there["--"+h.name] = h
	}
	sameKeys(t, "option", d.options, there)
	for name, r := range d.options {
		h, ok := there[name]
		if !ok {
			continue
		}
		if want := []string{"same", "different"}; !slices.Contains(want, r.verdict) || h.ignored && r.verdict == "same" {
			t.Errorf("%s: verdict %q, want one of %q, and not same for what is ignored", name, r.verdict, want)
		}
		since := "0.9.0"
		if h.newer {
			since = "0.9.1"
		}
		if r.since != since {
			t.Errorf("%s: since %q, want %s", name, r.since, since)
		}
		if r.verdict != "same" && r.text == "" {
			t.Errorf("%s: it is %s, and nothing says why", name, r.verdict)
		}
	}
}

// The command knows every option that has a row.
func TestGuideIsTrue(t *testing.T) {
	t.Parallel()
	for name := range readGuide(t).options {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, k := newGrammar()
			if _, err := expand(k, []string{"httperf", name, "x"}, true); err != nil {
				t.Error(err)
			}
		})
	}
}

// sessionFile writes the example of a row about session files, and a body that
// it may name, and returns how many sessions it has.
func (r docRow) sessionFile(t *testing.T) (name string, sessions int) {
	t.Helper()
	dir := t.TempDir()
	name = filepath.Join(dir, "session")
	for path, text := range map[string]string{name: r.example + "\n", filepath.Join(dir, "page.body"): "the body"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := script.ParseSessions(name, []byte(r.example), readFile)
	if err != nil {
		t.Fatal(err)
	}
	return name, len(parsed)
}

var longName = regexp.MustCompile(`--[a-z][a-z-]*`)

// Where httperf is installed, the guide has what it prints about itself.
func TestGuideHelp(t *testing.T) {
	t.Parallel()
	path := httperfPath(t)
	// Its exit code and where it prints to depend on the version.
	text, _ := exec.Command(path, "--help").CombinedOutput()
	names := longName.FindAllString(string(text), -1)
	if len(names) < 30 {
		t.Fatalf("%s --help has %d options, want 30 or more:\n%s", path, len(names), text)
	}
	d := readGuide(t)
	for _, name := range names {
		if r, ok := d.options[name]; !ok || r.since != "0.9.0" && isVersion09(t, path) {
			t.Errorf("%s has %s; the guide's row is %+v", path, name, r)
		}
	}
}

// httperfPath returns where the real httperf is; it skips the test where it is
// not.
func httperfPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("httperf")
	if err != nil {
		t.Skip("httperf is not installed: apt-get install httperf")
	}
	return path
}

// isVersion09 says whether httperf is release 0.9.0.
func isVersion09(t *testing.T, path string) bool {
	t.Helper()
	text, err := exec.Command(path, "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s --version: %v", path, err)
	}
	return bytes.Contains(text, []byte("httperf-0.9.0"))
}

// The options that are said to be new are ours and not httperf's.
func TestGuideNewOptions(t *testing.T) {
	t.Parallel()
	_, k := newGrammar()
	v := newVocabulary(child(k, "run"))
	d := readGuide(t)
	if len(d.newOptions) == 0 {
		t.Error("no new options")
	}
	for name, r := range d.newOptions {
		bare := strings.TrimPrefix(name, "--")
		if _, ours := v.long[bare]; !ours {
			t.Errorf("%s: no such option", name)
		}
		if _, theirs := v.foreign(bare); theirs || r.verdict != "new" {
			t.Errorf("%s: httperf has it: %v; verdict %q, want new", name, theirs, r.verdict)
		}
	}
}

// classicLines are the lines of httperf's report behind the command, with the
// name of each field in the place of its number. Those of sessions come last.
var classicLines = []string{
	"Maximum connect burst length: {burst}",
	"",
	"Total: connections {connections} requests {requests} replies {replies} test-duration {duration} s",
	"",
	"Connection rate: {conn/s} conn/s ({ms/conn} ms/conn, <={concurrent} concurrent connections)",
	"Connection time [ms]: min {min} avg {avg} max {max} median {median} stddev {stddev}",
	"Connection time [ms]: connect {connect}",
	"Connection length [replies/conn]: {length}",
	"",
	"Request rate: {req/s} req/s ({ms/req} ms/req)",
	"Request size [B]: {size}",
	"",
	"Reply rate [replies/s]: min {min} avg {avg} max {max} stddev {stddev} ({samples} samples)",
	"Reply time [ms]: response {response} transfer {transfer}",
	"Reply size [B]: header {header} content {content} footer {footer} (total {total})",
	"Reply status: 1xx={1xx} 2xx={2xx} 3xx={3xx} 4xx={4xx} 5xx={5xx}",
	"",
	"CPU time [s]: user {user} system {system} (user {user%}% system {system%}% total {total%}%)",
	"Net I/O: {KB/s} KB/s ({bps}*10^6 bps)",
	"",
	"Errors: total {total} client-timo {client-timo} socket-timo {socket-timo} connrefused {connrefused} connreset {connreset}",
	"Errors: fd-unavail {fd-unavail} addrunavail {addrunavail} ftab-full {ftab-full} other {other}",
}

var sessionLines = []string{
	"",
	"Session rate [sess/s]: min {min} avg {avg} max {max} stddev {stddev} ({ok}/{total})",
	"Session: avg {connections} connections/session",
	"Session lifetime [s]: {lifetime}",
	"Session failtime [s]: {failtime}",
	"Session length histogram: {counts}",
}

// theCommand is the row for the first line of a report.
const theCommand = "the command: options"

var fieldName = regexp.MustCompile(`\{([^}]+)\}`)

// A classicReport is httperf's report, read.
type classicReport struct {
	command string
	fields  map[string]float64 // by the guide's names; of the histogram 0
	lengths string             // that histogram
	rest    []string           // lines below
}

const histogram = "Session length histogram: counts"

// readClassic reads a report whose lines must be those of the formats.
func readClassic(text string, formats ...string) (*classicReport, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < len(formats)+1 {
		return nil, fmt.Errorf("%d lines, want %d", len(lines), len(formats)+1)
	}
	r := &classicReport{command: lines[0], fields: map[string]float64{}, rest: lines[len(formats)+1:]}
	for i, format := range formats {
		line := lines[i+1]
		head, _, _ := strings.Cut(format, ":")
		var pattern strings.Builder
		var names []string
		at := 0
		for _, m := range fieldName.FindAllStringSubmatchIndex(format, -1) {
			value := `(\d+(?:\.\d+)?)`
			if format[m[2]:m[3]] == "counts" {
				value = `(\d+(?: \d+)*)`
			}
			pattern.WriteString(regexp.QuoteMeta(format[at:m[0]]) + value)
			names = append(names, head+": "+format[m[2]:m[3]])
			at = m[1]
		}
		pattern.WriteString(regexp.QuoteMeta(format[at:]))
		found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("line %d is %q, want %q", i+2, line, format)
		}
		for k, name := range names {
			if name == histogram {
				r.lengths, r.fields[name] = found[k+1], 0
				continue
			}
			v, err := strconv.ParseFloat(found[k+1], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+2, err)
			}
			r.fields[name] = v
		}
	}
	return r, nil
}

// fill sets everything that v holds to something that is not zero, so that a
// report of it has all lines.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("NAME")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	}
}

// A full report has the lines of the guide, and no other.
func TestGuideOutput(t *testing.T) {
	t.Parallel()
	var r report.Result
	fill(reflect.ValueOf(&r).Elem())
	r.Run.Complete = false
	r.Totals.Status.Class2 = 0
	var b strings.Builder
	if err := (report.Details{Periodic: true}).Text(&b, &r); err != nil {
		t.Fatal(err)
	}
	formats := slices.Concat(classicLines, sessionLines)
	cpu := slices.IndexFunc(formats, func(line string) bool { return strings.HasPrefix(line, "CPU time") })
	formats = slices.Insert(formats, cpu, "Periodic stats: 200={200} 302={302}", "")
	full, err := readClassic(b.String(), formats...)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	d := readGuide(t)
	fields := maps.Clone(full.fields)
	fields[theCommand] = 0
	sameKeys(t, "field", d.fields, fields)
	for name, row := range d.fields {
		want := []string{"same", "different"}
		if !slices.Contains(want, row.verdict) || row.verdict == "different" && row.text == "" {
			t.Errorf("%s: verdict %q, %q; want one of %q, and what differs", name, row.verdict, row.text, want)
		}
	}
	heads := map[string]bool{}
	for _, line := range full.rest {
		if head, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, " ") {
			heads[head] = true
		}
	}
	sameKeys(t, "line", d.newLines, heads)
	for head, row := range d.newLines {
		if row.text == "" || row.verdict != "new" {
			t.Errorf("%s: verdict %q, %q; want new, and what it says", head, row.verdict, row.text)
		}
	}
}
