package target

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	service := func(s string) (any, string, error) { v, err := ParseService(s); return v, v.String(), err }
	freeze := func(s string) (any, string, error) { v, err := ParseFreeze(s); return v, v.String(), err }
	collapse := func(s string) (any, string, error) { v, err := ParseCollapse(s); return v, v.String(), err }
	overload := func(s string) (any, string, error) { v, err := ParseOverload(s); return v, v.String(), err }
	for _, tt := range []struct {
		name  string
		parse func(string) (any, string, error)
		in    string
		want  any // nil for an error
	}{
		{"constant", service, "10ms", Constant(10 * time.Millisecond)},
		{"exponential", service, "exp:1.5s", Exponential(1500 * time.Millisecond)},
		{"none", service, "0", Constant(0)},
		{"no unit", service, "10", nil},
		{"negative", service, "-10ms", nil},
		{"negative mean", service, "exp:-10ms", nil},
		{"other distribution", service, "pareto:10ms", nil},
		{"empty", service, "", nil},
		{"freeze", freeze, "1s@2s", Freeze{time.Second, 2 * time.Second}},
		{"freeze at once", freeze, "100ms@0s", Freeze{100 * time.Millisecond, 0}},
		{"no start", freeze, "1s", nil},
		{"no length", freeze, "@1s", nil},
		{"length 0", freeze, "0s@1s", nil},
		{"negative start", freeze, "1s@-1s", nil},
		{"collapse", collapse, "0.5:2s", Collapse{0.5, 2 * time.Second}},
		{"collapse, default hold", collapse, "0.25", Collapse{0.25, 5 * time.Second}},
		{"collapse, no hold", collapse, "0.5:0s", Collapse{0.5, 0}},
		{"nothing kept", collapse, "0", nil},
		{"all kept", collapse, "1", nil},
		{"kept is no number", collapse, "nan", nil},
		{"hold without unit", collapse, "0.5:5", nil},
		{"hold is empty", collapse, "0.5:", nil},
		{"negative hold", collapse, "0.5:-1s", nil},
		{"hold too long", collapse, "0.5:25h", nil},
		{"reject", overload, "reject", Reject},
		{"reset", overload, "reset", Reset},
		{"accept", overload, "accept", AcceptLate},
		{"unknown", overload, "drop", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, text, err := tt.parse(tt.in)
			if tt.want == nil {
				if err == nil || !strings.Contains(err.Error(), `"`+tt.in+`"`) {
					t.Errorf("error %v, want one that quotes %q", err, tt.in)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Fatalf("= %v, %v, want %v", got, err, tt.want)
			}
			if again, _, err := tt.parse(text); err != nil || again != got {
				t.Errorf("String() = %q, which reads as %v, %v", text, again, err)
			}
		})
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	local := netip.MustParseAddr("127.0.0.1")
	for _, tt := range []struct {
		name string
		o    Options
		want string // part of the error
	}{
		{"service", Options{Service: Constant(-1)}, "service time -1ns"},
		{"workers", Options{Workers: -1}, "workers -1"},
		{"backlog", Options{Backlog: -2}, "backlog -2"},
		{"queue", Options{Queue: -2}, "queue -2"},
		{"overload", Options{Overload: 9}, "Overload(9)"},
		{"late accept without workers", Options{Overload: AcceptLate}, "workers"},
		{"late accept with a queue", Options{Overload: AcceptLate, Workers: 1, Queue: 5}, "queue 5"},
		{"capacity", Options{Capacity: -1}, "capacity -1: want 0.001 to 1000000"},
		{"capacity too small", Options{Capacity: 0.0001}, "capacity 0.0001"},
		{"capacity too large", Options{Capacity: 1e7}, "capacity 1e+07"},
		{"capacity that is no number", Options{Capacity: math.NaN()}, "capacity NaN"},
		{"capacity and workers", Options{Capacity: 5, Workers: 2}, "capacity 5 with 2 workers"},
		{"late accept with a capacity", Options{Capacity: 5, Overload: AcceptLate}, "workers"},
		{"collapse without capacity", Options{Collapse: Collapse{Kept: 0.5}}, "collapse 0.5:0s: want a capacity"},
		{"collapse of half a request", Options{Capacity: 2.5, Collapse: Collapse{Kept: 0.5}}, "capacity 2.5: want a whole number"},
		{"collapse to nothing", Options{Capacity: 5, Collapse: Collapse{Hold: 1}}, "collapse 0:1ns: want 0.001 to less than 1"},
		{"collapse to all", Options{Capacity: 5, Collapse: Collapse{Kept: 1}}, "collapse 1:0s"},
		{"collapse to no number", Options{Capacity: 5, Collapse: Collapse{Kept: math.NaN()}}, "collapse NaN:0s"},
		{"hold", Options{Capacity: 5, Collapse: Collapse{Kept: 0.5, Hold: -1}}, "collapse 0.5:-1ns: want it held"},
		{"shares of nothing", Options{Shares: []Share{{local, 1}}}, "shares [127.0.0.1=1]: want a capacity, or workers"},
		{"shares of idle workers", Options{Workers: 1, Shares: []Share{{local, 1}}}, "want a capacity, or workers and a service time"},
		{"shares and late accept", Options{Workers: 1, Service: Constant(1), Overload: AcceptLate, Shares: []Share{{local, 1}}}, "overload accept leaves waiting"},
		{"shares without a queue", Options{Capacity: 5, Queue: NoQueue, Shares: []Share{{local, 1}}}, "want a queue"},
		{"shares of a unix socket", Options{Capacity: 5, Listen: "unix:a", Shares: []Share{{local, 1}}}, `"unix:a": its clients have no addresses`},
		{"no weight", Options{Capacity: 5, Shares: []Share{{local, 0}}}, "share 127.0.0.1=0: want a weight"},
		{"no source", Options{Capacity: 5, Shares: []Share{{Weight: 1}}}, "share invalid IP=1: want an IPv4"},
		{"mapped source", Options{Capacity: 5, Shares: []Share{{netip.MustParseAddr("::ffff:1.2.3.4"), 1}}}, "share ::ffff:1.2.3.4=1: want an IPv4"},
		{"two shares of one source", Options{Capacity: 5, Shares: []Share{{local, 1}, {local, 2}}}, "share 127.0.0.1=2: the source has one already"},
		{"size", Options{Size: -2}, "size -2"},
		{"size too large", Options{Size: maxSize + 1}, "size 67108865"},
		{"status", Options{Status: 101}, "status 101"},
		{"freeze without length", Options{Freeze: []Freeze{{At: 1}}}, "freeze 0s@1ns"},
		{"freezes overlap", Options{Freeze: []Freeze{{2, 0}, {1, 1}}}, "freeze 1ns@1ns"},
		{"address", Options{Listen: "127.0.0.1"}, `"127.0.0.1"`},
		{"port", Options{Listen: "127.0.0.1:x"}, `"127.0.0.1:x"`},
		{"empty path", Options{Listen: "unix:"}, `"unix:"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Start(tt.o)
			if err == nil {
				s.Stop()
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "target: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want one about %q", err, tt.want)
			}
		})
	}
}
