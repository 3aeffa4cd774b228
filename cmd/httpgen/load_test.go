package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/run"
)

func TestPlannedEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		argv string
		want time.Duration
	}{
		{"httpgen http://h/ -r 5", 0},
		{"httpgen http://h/ -r 5 -n 20", 4 * time.Second},
		{"httpgen http://h/ -r 5 -z 3s", 3 * time.Second},
		{"httpgen http://h/ -r 5 -z 3s -n 10", 2 * time.Second},
		{"httpgen http://h/ -r 5 -z 3s -n 20", 3 * time.Second},
		{"httpgen http://h/ -r poisson:5 -z 3s", 3 * time.Second},
		{"httpgen http://h/ --closed 2 -z 3s", 3 * time.Second},
		{"httpgen http://h/ --closed 2 -n 3", 0},
		{"httpgen http://h/ -n 3", 0},
		// The list has two entries.
		{"httpgen http://h/ -r 5 -n 20 --wlog n,testdata/two.list", 400 * time.Millisecond},
		{"httpgen http://h/ -r 5 --wlog n,testdata/two.list --num-calls 3 -n 20", 200 * time.Millisecond},
		{"httpgen http://h/ -r 5 -n 1 --wlog n,testdata/two.list", 200 * time.Millisecond},
		{"httpgen http://h/ -r 5 -n 20 --wlog y,testdata/two.list", 4 * time.Second},
	} {
		t.Run(tt.argv, func(t *testing.T) {
			t.Parallel()
			o, _ := parseRun(t, strings.Fields(tt.argv)...)
			o.Server = "127.0.0.1" // no name is looked up
			r, err := run.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if have := r.Description().Planned; have != tt.want {
				t.Errorf("have %v, want %v", have, tt.want)
			}
		})
	}
}

func TestDraining(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		end           time.Duration
		stopped       bool
		start, length float64
		want          bool
	}{
		{"before the end", 2 * time.Second, false, 0, 1, false},
		{"up to the end", 2 * time.Second, false, 1, 1, false},
		{"up to the end, in sums of tenths", 300 * time.Millisecond, false, .1 + .1, .1, false},
		{"over the end", 2 * time.Second, false, 1.5, 1, true},
		{"behind the end", 2 * time.Second, false, 2, .1, true},
		{"no known end", 0, false, 2, .1, false},
		{"stopped", 2 * time.Second, true, 0, 1, true},
		{"no known end, stopped", 0, true, 0, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := &execution{end: tt.end}
			e.stopped.Store(tt.stopped)
			if have := e.draining(&report.Window{StartSeconds: tt.start, LengthSeconds: tt.length}); have != tt.want {
				t.Errorf("have %v, want %v", have, tt.want)
			}
		})
	}
}

func TestSocketThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// That a server listens on an abstract one shows at run time alone.
	for _, path := range []string{"", path, "@none"} {
		if err := socketThere(path); err != nil {
			t.Errorf("%q: %v, want no error", path, err)
		}
	}
}
