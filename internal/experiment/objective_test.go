package experiment

import (
	"strings"
	"testing"
	"time"
)

func parseObjective(t testing.TB, s string) Objective {
	t.Helper()
	o, err := ParseObjective(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestParseObjective(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, want string
		arrivals int
		deadline time.Duration
	}{
		{"p99<50ms,errors<0.1%,achieved>99%", "p99<50ms,errors<0.1%,achieved>99%", 381, time.Second},
		{" p99.9 <= 1s , goodput >= 500/s", "p99.9<=1s,goodput>=500/s", 3837, 4 * time.Second},
		{"p999<300ms", "p99.9<300ms", 3837, 1200 * time.Millisecond},
		{"errors<0.001", "errors<0.1%", 1, time.Second},
		{"p50<1.5us,p90<2ms", "p50<1.5µs,p90<2ms", 35, time.Second},
		{"goodput>12.5", "goodput>12.5/s", 1, time.Second},
	} {
		o := parseObjective(t, tt.in)
		if got := o.String(); got != tt.want {
			t.Errorf("%q is read as %q, want %q", tt.in, got, tt.want)
		}
		if got := o.Arrivals(); got != tt.arrivals {
			t.Errorf("%q wants %d arrivals, want %d", tt.in, got, tt.arrivals)
		}
		if got := o.Deadline(); got != tt.deadline {
			t.Errorf("%q has a deadline of %v, want %v", tt.in, got, tt.deadline)
		}
	}
}

func TestParseObjectiveRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", `objective "": condition "": want METRIC<LIMIT or METRIC>LIMIT, such as p99<50ms`},
		{"p99<50", `condition "p99<50": limit "50": want a duration above 0 with its unit, such as 50ms`},
		{"p99<0s", `limit "0s": want a duration above 0`},
		{"p99>50ms", `a latency is bounded from above, want p99<LIMIT`},
		{"p30<1s", `metric "p30": want p50 to p99.99, errors, achieved or goodput`},
		{"p99,9<1s", `condition "p99": want METRIC<LIMIT`},
		{"errors>1%", `errors are bounded from above, want errors<LIMIT`},
		{"errors<0", `limit "0": want a share of more than 0 and less than 100 %`},
		{"errors<NaN", `limit "NaN": want a share`},
		{"achieved<99%", `what is achieved is bounded from below, want achieved>LIMIT`},
		{"achieved>100%", `limit "100%": want a share`},
		{"goodput>inf", `limit "inf": want a rate above 0 and at most 1e9`},
		{"p99<1s,p99<2s", `p99 twice, want one limit`},
		{"p99.9<1s,p999<2s", `p99.9 twice, want one limit`},
		{"latency<1s", `metric "latency": want p50`},
		{"p99==1s", `condition "p99==1s": want METRIC<LIMIT`},
	} {
		_, err := ParseObjective(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseObjective(%q): error %v, want one with %s", tt.in, err, tt.want)
		}
	}
	if err := (Objective)(nil).check(); err == nil {
		t.Error("an objective without conditions is let through")
	}
}

func FuzzParseObjective(f *testing.F) {
	for _, s := range []string{"p99<50ms,errors<0.1%,achieved>99%", "goodput>=1e3/s", "p99.9 <= 1s", "p50<", "<", "errors<1%%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ParseObjective(s)
		if err != nil {
			return
		}
		again, err := ParseObjective(o.String())
		if err != nil || again.String() != o.String() {
			t.Errorf("%q is read as %q, and that as %q, error %v", s, o, again, err)
		}
		if o.Arrivals() < 1 || o.Deadline() < time.Second {
			t.Errorf("%q: %d arrivals, deadline %v", s, o.Arrivals(), o.Deadline())
		}
	})
}
