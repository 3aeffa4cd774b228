package target

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	service := func(s string) (any, string, error) { v, err := ParseService(s); return v, v.String(), err }
	freeze := func(s string) (any, string, error) { v, err := ParseFreeze(s); return v, v.String(), err }
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
