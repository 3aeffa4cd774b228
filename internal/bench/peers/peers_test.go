package main

import (
	"strings"
	"testing"
	"time"

	"httpgen/internal/bench/lab"
	"httpgen/internal/bench/wire"
)

func TestSpeedTable(t *testing.T) {
	t.Parallel()
	all := []series{{name: "httpgen"}, {name: "peer"}}
	for _, rate := range []float64{100, 120, 110} {
		all[0].add(&lab.Measurement{OK: 1000, Rate: rate, User: time.Millisecond, System: 2 * time.Millisecond})
	}
	all[1].add(&lab.Measurement{OK: 1000, Failed: 7, Rate: 50})
	all[1].skip()
	all[1].add(&lab.Measurement{OK: 1000, Failed: 1, Rate: 110, Overflowed: true})
	var b strings.Builder
	speedTable(&b, "Title", "calls/s", all)
	rows := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(rows) != 4 || rows[0] != "Title: 3 rounds" {
		t.Fatalf("table:\n%s", b.String())
	}
	for i, want := range [][]string{
		{"httpgen", "110 (100..120)", "1.00 (1.00..1.00)", "2.00 (2.00..2.00)", "0"},
		{"peer", "80 (50..110)", "1.500 (1.000..2.000)", "8", "overflowed in 1 round"},
	} {
		for _, part := range want {
			if !strings.Contains(rows[2+i], part) {
				t.Errorf("row %q: want %q in it", rows[2+i], part)
			}
		}
	}
}

func TestPaceTable(t *testing.T) {
	t.Parallel()
	all := []pace{{name: "httpgen"}}
	for _, p99 := range []time.Duration{20, 30, 40} {
		all[0].add(&wire.Precision{Count: 5, Rate: 5000, P50: 4 * time.Microsecond, P99: p99 * time.Microsecond, Dispersion: .01})
	}
	var b strings.Builder
	paceTable(&b, all)
	for _, want := range []string{"3 rounds", "15 ", "5000.0 (5000.0..5000.0)", "4 (4..4)", "30 (20..40)", "0.010 (0.010..0.010)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("table without %q:\n%s", want, b.String())
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	got, err := choose("pacing,one")
	if err != nil || len(got) != 2 || got[0].name != "pacing" || got[1].name != "one" {
		t.Errorf("choose = %v, %v", got, err)
	}
	if got, err := choose(""); err != nil || len(got) != len(sections) {
		t.Errorf("choose of nothing: %d comparisons, %v, want all %d", len(got), err, len(sections))
	}
	if _, err := choose("one,two"); err == nil || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("choose of an unknown one: %v, want an error that quotes it", err)
	}
}
