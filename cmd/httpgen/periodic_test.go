package main

import (
	"slices"
	"testing"

	"httpgen/internal/report"
)

func TestPeriodic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		start   float64
		length  float64 // of each window, in seconds
		windows int
		want    []string
	}{
		{"tenths", 0, .1, 25, []string{"periodic: 1.0 s, 2xx: 30, 3xx: 10", "periodic: 2.0 s, 2xx: 30, 3xx: 10"}},
		{"seconds", 0, 1, 2, []string{"periodic: 1.0 s, 2xx: 3, 3xx: 1", "periodic: 2.0 s, 2xx: 3, 3xx: 1"}},
		{"behind a warm-up", 2.5, .5, 5, []string{"periodic: 3.5 s, 2xx: 6, 3xx: 2", "periodic: 4.5 s, 2xx: 6, 3xx: 2"}},
		{"longer than a second", 0, 2.5, 2, []string{"periodic: 2.5 s, 2xx: 3, 3xx: 1", "periodic: 5.0 s, 2xx: 3, 3xx: 1"}},
		{"no divisor of a second", 0, .7, 3, []string{"periodic: 1.4 s, 2xx: 6, 3xx: 2", "periodic: 2.1 s, 2xx: 3, 3xx: 1"}},
		{"less than a second", 0, .1, 9, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p periodic
			var have []string
			for i := range tt.windows {
				w := report.Window{StartSeconds: tt.start + float64(i)*tt.length, LengthSeconds: tt.length}
				w.Status.Class2, w.Status.Class3, w.Status.Class4 = 3, 1, 7
				if line, complete := p.add(w); complete {
					have = append(have, line)
				}
			}
			if !slices.Equal(have, tt.want) {
				t.Errorf("have %q, want %q", have, tt.want)
			}
		})
	}
}
