package stat

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// profile plays an overload of ten-second steps in one-second windows against
// a server that answers as much as serve says.
func profile(t *testing.T, bound float64, serve func(second int, offered float64) float64) ([]LoadStep, []LoadWindow) {
	t.Helper()
	multiples, err := Multiples(3)
	if err != nil {
		t.Fatal(err)
	}
	var steps []LoadStep
	var windows []LoadWindow
	for i, m := range multiples {
		at := float64(10 * i)
		steps = append(steps, LoadStep{m, at, at + 10})
		for s := range 10 {
			second, offered := 10*i+s, m*bound
			windows = append(windows, LoadWindow{float64(second), 1, offered, serve(second, offered)})
		}
	}
	return steps, windows
}

// collapsing is a server of capacity r that keeps a share of it at twice the
// load, and only that for some seconds after the load has gone.
func collapsing(r, kept float64, hold int) func(int, float64) float64 {
	capacity, until := r, -1
	return func(second int, offered float64) float64 {
		if offered > r {
			capacity = min(capacity, r*(1-(1-kept)*min(1, offered/r-1)))
			until = second + hold
		} else if second > until {
			capacity = r
		}
		return min(offered, capacity)
	}
}

func TestMultiples(t *testing.T) {
	t.Parallel()
	for beyond, want := range map[float64][]float64{
		2:   {1, 1.5, 2, 1.5, 1, 0.5},
		2.5: {1, 1.5, 2, 2.5, 2, 1.5, 1, 0.5},
		3:   {1, 1.5, 2, 3, 2, 1.5, 1, 0.5},
		4:   {1, 1.5, 2, 3, 4, 3, 2, 1.5, 1, 0.5},
	} {
		if got, err := Multiples(beyond); err != nil || !slices.Equal(got, want) {
			t.Errorf("Multiples(%v) = %v, %v, want %v", beyond, got, err, want)
		}
	}
	for _, beyond := range []float64{1.9, 101, math.NaN()} {
		if _, err := Multiples(beyond); err == nil {
			t.Errorf("Multiples(%v) gave no error", beyond)
		}
	}
}

func TestOverloadHealthy(t *testing.T) {
	t.Parallel()
	o, err := NewOverload(profile(t, 980, func(_ int, offered float64) float64 { return min(offered, 1000) }))
	if err != nil || o.Peak != 1000 || !near(o.KeptAt2x, 1, 1e-12) || !o.Recovered || o.Recovery != 0 || len(o.Hysteresis) != 3 {
		t.Errorf("%+v, %v, want everything kept and no recovery needed", o, err)
	}
	for i, h := range o.Hysteresis {
		if h.Multiple != []float64{1, 1.5, 2}[i] || h.Difference != 0 {
			t.Errorf("hysteresis %+v, want none at 1, 1.5 and 2 in this order", h)
		}
	}
}

func TestOverloadCollapse(t *testing.T) {
	t.Parallel()
	// The bound is where a sweep may find it, up to 4 % below the capacity.
	for _, bound := range []float64{960, 980, 1000} {
		steps, windows := profile(t, bound, collapsing(1000, 0.5, 5))
		o, err := NewOverload(steps, windows)
		if err != nil || !near(o.KeptAt2x, 0.5, 0.05) || !near(o.Peak, bound, 1e-9) {
			t.Errorf("bound %v: %+v, %v, want half kept of %v", bound, o, err, bound)
		}
		if h := o.Hysteresis[1]; h.Multiple != 1.5 || !near(h.Difference, (h.Up-500)/bound, 1e-9) || h.Difference < 0.2 {
			t.Errorf("bound %v: hysteresis %+v, want more than 0.2 at 1.5", bound, h)
		}
		// The load is below the capacity from second 60 on.
		if s, ok := Recovery(windows, steps[6].Start); !ok || s < 4 || s > 6 {
			t.Errorf("bound %v: recovered %v after %v s, want about 5", bound, ok, s)
		}
		if !o.Recovered || o.Recovery != 0 {
			t.Errorf("bound %v: recovery %v after %v s, want it done before the last step", bound, o.Recovered, o.Recovery)
		}
	}
}

func TestOverloadForEver(t *testing.T) {
	t.Parallel()
	o, err := NewOverload(profile(t, 1000, collapsing(999, 0.2, 1e6)))
	if err != nil || o.Recovered || o.Recovery != 0 || !near(o.KeptAt2x, 0.2, 0.01) {
		t.Errorf("%+v, %v, want no recovery", o, err)
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	windows := func(good ...float64) (w []LoadWindow) {
		for i, g := range good {
			w = append(w, LoadWindow{float64(i), 1, 100, g})
		}
		return w
	}
	for _, tt := range []struct {
		name string
		w    []LoadWindow
		from float64
		want float64
		ok   bool
	}{
		{"at once", windows(100, 100, 100), 0, 0, true},
		{"after two", windows(10, 50, 95, 96, 97), 0, 2, true},
		{"a relapse", windows(100, 100, 50, 100, 100, 100), 0, 3, true},
		{"too late", windows(10, 10, 100, 100), 0, 0, false},
		{"what was before does not count", windows(100, 100, 100, 10, 100, 100, 100), 3, 1, true},
		{"a backlog answered", windows(10, 300, 120, 100), 0, 1, true},
		{"no windows", nil, 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := Recovery(tt.w, tt.from); got != tt.want || ok != tt.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestOverloadRefused(t *testing.T) {
	t.Parallel()
	steps, windows := profile(t, 100, func(int, float64) float64 { return 50 })
	for _, tt := range []struct {
		name    string
		steps   []LoadStep
		windows []LoadWindow
		want    string
	}{
		{"cut short", steps, windows[:75], "step 7, 70 to 80 s: no window"},
		{"nothing", nil, nil, "peak goodput 0"},
		{"no way back", steps[:3], windows, "below 1 times"},
		{"not to 2", steps[6:], windows, "a step at 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewOverload(tt.steps, tt.windows); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
