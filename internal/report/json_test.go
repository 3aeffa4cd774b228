package report

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestRoundTrip holds that the text is made of nothing but what JSON carries.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, r := range []*Result{ordinary(), overload(), nothing()} {
		var back Result
		if err := json.Unmarshal([]byte(render(t, JSON, r)), &back); err != nil {
			t.Fatal(err)
		}
		if want := clean(*r); !reflect.DeepEqual(clean(back), want) {
			t.Errorf("read back: %+v, want %+v", back, want)
		}
		for _, f := range formats {
			if got, want := render(t, f.write, &back), render(t, f.write, r); got != want {
				t.Errorf("%s of a result that was read back:\n%s\nwant:\n%s", f.name, got, want)
			}
		}
	}
}

// TestMarshalEmbedded holds for a result inside another document.
func TestMarshalEmbedded(t *testing.T) {
	t.Parallel()
	r := nothing()
	r.Rates.OfferedPerSecond = math.NaN()
	b, err := json.Marshal(map[string]any{"value": *r, "pointer": r})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"windows":[]`, `"argv":[]`, `"codes":{}`, `"reasons":[]`, `"offered_per_second":0,`} {
		if n := strings.Count(string(b), want); n != 2 {
			t.Errorf("%s occurs %d times, want 2, in %s", want, n, b)
		}
	}
}

// TestNumbers fills every number with what cannot be printed.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)} {
		r := overload()
		spoil(reflect.ValueOf(r).Elem(), bad)
		for _, f := range formats {
			got := render(t, f.write, r)
			for _, ugly := range []string{"NaN", "Inf", "-0"} {
				// The date of the start has a -0 as well.
				if i := strings.Index(strings.ReplaceAll(got, "2025-03-01", ""), ugly); i >= 0 {
					t.Errorf("%s with %g: %q at %d in:\n%s", f.name, bad, ugly, i, got)
				}
			}
		}
	}
}

// spoil sets every float below v.
func spoil(v reflect.Value, to float64) {
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(to)
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i), to)
			}
		}
	}
}

// TestRenderersKeepTheResult holds that no renderer changes what it is given.
func TestRenderersKeepTheResult(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		r := overload()
		r.Run.Argv, r.Rates.OfferedPerSecond, r.Times.Lag.P50 = nil, math.Inf(1), new(math.Inf(1))
		p50 := r.Times.Lag.P50
		render(t, f.write, r)
		if r.Run.Argv != nil || !math.IsInf(r.Rates.OfferedPerSecond, 1) || r.Times.Lag.P50 != p50 || !math.IsInf(*p50, 1) {
			t.Errorf("%s changed the result", f.name)
		}
	}
}

func TestAddressesStayReadable(t *testing.T) {
	t.Parallel()
	if got, want := render(t, JSON, ordinary()), `"http://127.0.0.1:8080/?a=1&b=<2>"`; !strings.Contains(got, want) {
		t.Errorf("no %s in:\n%s", want, got)
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	r := overload()
	rows, err := csv.NewReader(strings.NewReader(render(t, CSV, r))).ReadAll()
	if err != nil {
		t.Fatal(err) // also where a row has another number of fields than the header
	}
	if len(rows) != 1+3*len(r.Windows) {
		t.Fatalf("%d rows, want a header and %d windows of the run and of each of 2 streams", len(rows), len(r.Windows))
	}
	for _, tt := range []struct {
		row    int
		column string
		want   string
	}{
		{2, "stream", ""}, {2, "start_seconds", "1"}, {2, "scheduled", "2000"}, {2, "shed_inflight", "30"}, {2, "shed_late", "0"},
		{2, "status_2xx", "2000"}, {2, "errors_total", "12"}, {2, "errors_reply_timeout", "12"}, {2, "errors_other", "0"}, {2, "unfinished", "5"},
		{2, "latency_count", "3"}, {2, "latency_mean_seconds", "0.2"}, {2, "latency_p50_seconds", ""}, {2, "service_p99_seconds", "0.00099"},
		{2, "lag_p99_seconds", "0.00002"}, {2, "lag_max_seconds", "0.0001"}, {1, "latency_p50_seconds", "0.0005"},
		{3, "stream", "heavy"}, {6, "stream", "light, quoted"}, {6, "errors_reply_timeout", "12"},
	} {
		i := -1
		for j, name := range rows[0] {
			if name == tt.column {
				i = j
			}
		}
		if i < 0 {
			t.Errorf("no column %s in %v", tt.column, rows[0])
		} else if got := rows[tt.row][i]; got != tt.want {
			t.Errorf("row %d %s = %q, want %q", tt.row, tt.column, got, tt.want)
		}
	}
}

// writeCounter counts writes.
type writeCounter struct{ writes int }

func (c *writeCounter) Write(p []byte) (int, error) {
	c.writes++
	return len(p), nil
}

func TestNDJSON(t *testing.T) {
	t.Parallel()
	r := overload()
	lines := strings.Split(strings.TrimSuffix(render(t, ndjson, r), "\n"), "\n")
	if want := 3*len(r.Windows) + 1; len(lines) != want {
		t.Fatalf("%d lines, want %d", len(lines), want)
	}
	for i, line := range lines {
		var got struct {
			Type, Run, Stream string
			Windows           []any
			StartSeconds      *float64 `json:"start_seconds"`
			Totals            *Totals
			Verdict           *Verdict
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		wantType, wantStream := "window", []string{"", "", "heavy", "heavy", "light, quoted", "light, quoted", ""}[i]
		if i == len(lines)-1 {
			wantType = "result"
		}
		if got.Type != wantType || got.Run != "7f3a" || got.Stream != wantStream {
			t.Errorf("line %d: type %q run %q stream %q, want %q 7f3a %q", i, got.Type, got.Run, got.Stream, wantType, wantStream)
		}
		if last := wantType == "result"; (got.StartSeconds == nil) != last || (got.Totals != nil) != last || (got.Verdict != nil) != last || got.Windows != nil {
			t.Errorf("line %d has the fields of another type: %s", i, line)
		}
	}
	var c writeCounter
	if err := NewNDJSON(&c, "7f3a").Window("", r.Windows[0]); err != nil || c.writes != 1 {
		t.Errorf("a window took %d writes, error %v; want 1 and none: a reader must not see half a line", c.writes, err)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	few := Window{StartSeconds: 119, LengthSeconds: 1, Scheduled: 3, Started: 2, Shed: Shed{Inflight: 1}, Replies: 2}
	few.Errors.Add("reset", 4)
	for _, tt := range []struct {
		name   string
		window Window
		target float64
		want   string
	}{
		{"ordinary", window(4, 2000), 2000,
			"  5.0 s  offered 2000/s  started 2000/s  replies 2000/s  p50 0.50 ms  p99 0.99 ms  errors 0  shed 0  in flight 2  lag p99 0.02 ms"},
		{"few", few, 0,
			"120.0 s  offered 3.0/s  started 2.0/s  replies 2.0/s  p50 -  p99 -  errors 4  shed 1  in flight 0  lag p99 -"},
		{"off target", few, 2.5,
			"120.0 s  offered 3.0/s (target 2.5/s)  started 2.0/s  replies 2.0/s  p50 -  p99 -  errors 4  shed 1  in flight 0  lag p99 -"},
		{"nothing", Window{}, 0,
			"  0.0 s  offered 0/s  started 0/s  replies 0/s  p50 -  p99 -  errors 0  shed 0  in flight 0  lag p99 -"},
	} {
		if got := Line(tt.window, tt.target); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, tt.want)
		}
	}
}
