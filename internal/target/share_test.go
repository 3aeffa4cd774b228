package target

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseShares(t *testing.T) {
	t.Parallel()
	addr := netip.MustParseAddr
	for _, tt := range []struct {
		in   string
		want []Share
		err  string // part of it; it also quotes the part that is wrong
	}{
		{"127.0.0.2=1", []Share{{addr("127.0.0.2"), 1}}, ""},
		{"127.0.0.2=1,127.0.0.3=3,::1=1000000", []Share{{addr("127.0.0.2"), 1}, {addr("127.0.0.3"), 3}, {addr("::1"), 1000000}}, ""},
		{"::ffff:127.0.0.2=5", []Share{{addr("127.0.0.2"), 5}}, ""},
		{"", nil, `"": want ADDRESS=WEIGHT`},
		{"127.0.0.2", nil, `"127.0.0.2": want ADDRESS=WEIGHT`},
		{"127.0.0.2=", nil, `"127.0.0.2=": want`},
		{"127.0.0.2=1,", nil, `"": want`},
		{"127.0.0.2=1.5", nil, `"127.0.0.2=1.5": want`},
		{"127.0.0.2=1=2", nil, `"127.0.0.2=1=2": want`},
		{"localhost=1", nil, `"localhost=1": want`},
		{"127.0.0.2=0", nil, "127.0.0.2=0: want a weight of 1 to 1000000"},
		{"127.0.0.2=1000001", nil, "127.0.0.2=1000001: want a weight"},
		{"127.0.0.2=99999999999999999999", nil, "want ADDRESS=WEIGHT"},
		{"fe80::1%eth0=1", nil, "without a zone"},
		{"127.0.0.2=1,127.0.0.2=2", nil, "127.0.0.2=2: the source has one already"},
		{"127.0.0.2=1,::ffff:127.0.0.2=2", nil, "127.0.0.2=2: the source has one already"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := ParseShares(tt.in)
			switch {
			case tt.err == "" && (err != nil || !slices.Equal(got, tt.want)):
				t.Errorf("= %v, %v; want %v", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), "target: share") || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want one that says %s", err, tt.err)
			}
		})
	}
}

func FuzzParseShares(f *testing.F) {
	for _, s := range []string{"127.0.0.2=1,127.0.0.3=3", "::1=1000000", "::ffff:1.2.3.4=+7", "fe80::1%a=1", "=,=", "1.2.3.4=0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseShares(s)
		if err != nil {
			return
		}
		texts := make([]string, len(got))
		for i, share := range got {
			texts[i] = share.String()
		}
		if again, err := ParseShares(strings.Join(texts, ",")); err != nil || !slices.Equal(again, got) {
			t.Errorf("%q = %v, which reads as %v, %v", s, got, again, err)
		}
	})
}

func FuzzParseCollapse(f *testing.F) {
	for _, s := range []string{"0.5", "0.5:5s", "0.25:0s", ".001:24h", "nan:1s", "1e-3:1h1m", "0.5:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseCollapse(s)
		if err != nil {
			return
		}
		if again, err := ParseCollapse(got.String()); err != nil || again != got {
			t.Errorf("%q = %v, which reads as %v, %v", s, got, again, err)
		}
	})
}

func TestDues(t *testing.T) {
	t.Parallel()
	shares, err := ParseShares("127.0.0.2=1,127.0.0.3=3,127.0.0.4=6")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    Options
		want string // per second and the wait, of each
	}{
		{"workers", Options{Shares: shares, Workers: 2, Service: Constant(5 * time.Millisecond)}, "40 800ms, 120 266.666666ms, 240 133.333333ms"},
		{"capacity", Options{Shares: shares, Capacity: 1000}, "100 320ms, 300 106.666666ms, 600 53.333333ms"},
		{"a queue", Options{Shares: shares, Capacity: 1000, Queue: 10}, "100 100ms, 300 33.333333ms, 600 16.666666ms"},
		{"collapse", Options{Shares: shares, Capacity: 1000, Collapse: Collapse{Kept: 0.5}}, "100 640ms, 300 213.333333ms, 600 106.666666ms"},
		{"none", Options{Capacity: 1000}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.o.validate(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, d := range tt.o.dues() {
				got = append(got, fmt.Sprintf("%.6g %v", d.PerSecond, d.Wait))
				if d.Share != shares[i] || d.Part != []float64{0.1, 0.3, 0.6}[i] {
					t.Errorf("due %d: %v, part %v; want %v", i, d.Share, d.Part, shares[i])
				}
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("dues %s, want %s", got, tt.want)
			}
		})
	}
}
