package main

import (
	"testing"
	"time"

	"httpgen/internal/experiment"
)

func TestExperimentValues(t *testing.T) {
	t.Parallel()
	testValues(t, "quantity", func(q quantity) any { return float64(q) }, []valueTest{
		{"500", 500.0}, {"0.5", 0.5}, {"500/s", 500.0}, {"0", nil}, {"-1", nil}, {"", nil}, {"1e3", nil}, {"/s", nil}, {"1 2", nil},
	})
	testValues(t, "quantities", func(q quantities) any { return []float64(q) }, []valueTest{
		{"100", []float64{100}}, {"100, 200,0.5", []float64{100, 200, 0.5}}, {"", nil}, {"100,", nil}, {"100,0", nil},
	})
	testValues(t, "share", func(s share) any { return float64(s) }, []valueTest{
		{"5%", 0.05}, {"0.05", 0.05}, {"5 %", 0.05}, {"0", 0.0}, {"100%", 1.0}, {"-1%", nil}, {"%", nil}, {"5%%", nil}, {"x", nil},
	})
	testValues(t, "multiple", func(m multiple) any { return float64(m) }, []valueTest{
		{"3x", 3.0}, {"1.5", 1.5}, {"x", nil}, {"0x", nil}, {"3xx", nil},
	})
	testValues(t, "weights", func(w weights) any { return []float64(w) }, []valueTest{
		{"1:3:6", []float64{1, 3, 6}}, {"2", []float64{2}}, {"1::2", nil}, {"1:0", nil}, {"1,2", nil},
	})
	testValues(t, "moment", func(m moment) any { return m }, []valueTest{
		{"b@10s", moment{"b", 10 * time.Second}}, {"a@b@0.5", moment{"a@b", 500 * time.Millisecond}}, {"@1s", nil}, {"b", nil}, {"b@", nil}, {"b@0", nil},
	})
	testValues(t, "objective", func(o objective) any { return o.String() }, []valueTest{
		{"p99<50ms, errors<0.1%", "p99<50ms,errors<0.1%"}, {"p99", nil}, {"", nil},
	})
	testValues(t, "output", func(o answerOutput) any { return o.output }, []valueTest{
		{"json", output{"json", ""}}, {"csv=a=b", output{"csv", "a=b"}}, {"ndjson", nil}, {"text=", nil}, {"", nil},
	})
	testValues(t, "named", func(n named) any { return n }, []valueTest{
		{"a=b=c", named{"a", "b=c"}}, {"a", nil}, {"=b", nil}, {"a=", nil},
	})
}

// The objective that is asked for when none was given can be read.
func TestDefaultObjective(t *testing.T) {
	t.Parallel()
	o, err := experiment.ParseObjective(defaultObjective)
	if err != nil || o.String() != defaultObjective {
		t.Errorf("have %v, %v; want %s", o, err, defaultObjective)
	}
}
