package wire

import (
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// grid returns n arrivals at an even rate.
func grid(n int, rate float64) Trace {
	t := make(Trace, n)
	for k := range t {
		t[k] = time.Hour + time.Duration(math.Round(float64(k)/rate*1e9))
	}
	return t
}

func poisson(n int, rate float64) Trace {
	r := rand.New(rand.NewPCG(1, 2))
	t := make(Trace, n)
	var at float64
	for k := range t {
		t[k] = time.Duration(at)
		at += r.ExpFloat64() / rate * 1e9
	}
	return t
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestPerfectGrid(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{333, 1000, 5000} {
		p := grid(int(3*rate), rate).Against(rate)
		near(t, "max deviation", us(p.Max), 0, .001)
		near(t, "rate", p.Rate, rate, .001)
		near(t, "gap p50", us(p.Gap.P50), 1e6/rate, .002)
		near(t, "gap p99", us(p.Gap.P99), 1e6/rate, .002)
		near(t, "dispersion", p.Dispersion, 0, .1)
		if want := int(math.Ceil(rate / 100)); p.MaxSlot != want || p.Count != int(3*rate) {
			t.Errorf("at %v/s: %d arrivals, at most %d a slot, want %v and %d", rate, p.Count, p.MaxSlot, 3*rate, want)
		}
	}
}

// Nine in ten arrivals are on time; the others are late by 200 us.
func TestLateness(t *testing.T) {
	t.Parallel()
	g := grid(1000, 100)
	for k := 9; k < len(g); k += 10 {
		g[k] += 200 * time.Microsecond
	}
	p := g.Against(100)
	for _, tt := range []struct {
		name string
		got  time.Duration
		want float64
	}{{"p50", p.P50, 0}, {"p90", p.P90, 200}, {"p99", p.P99, 200}, {"max", p.Max, 200}} {
		near(t, tt.name, us(tt.got), tt.want, 0)
	}
}

// A schedule that begins late must not look late: the phase is fitted.
func TestPhase(t *testing.T) {
	t.Parallel()
	g := grid(1000, 1000)
	g[0] -= 300 * time.Microsecond
	p := g.Against(1000)
	near(t, "p99", us(p.P99), 0, 0)
	near(t, "max", us(p.Max), 300, 0)
}

func TestPoisson(t *testing.T) {
	t.Parallel()
	near(t, "dispersion", poisson(30000, 1000).Dispersion(), 1, .1)
}

func TestBurst(t *testing.T) {
	t.Parallel()
	var g Trace
	for i := range 20 {
		for range 50 {
			g = append(g, time.Duration(i)*100*time.Millisecond)
		}
	}
	if got := g.MaxSlot(); got != 50 {
		t.Errorf("MaxSlot = %d, want 50", got)
	}
	// 20 full slots of 50 among 190: the variance is 50 - 5.26 times the mean.
	near(t, "dispersion", g.Dispersion(), 50-19*50./190, .01)
	if got, want := g.Groups(20*time.Millisecond), slices.Repeat([]int{50}, 20); !slices.Equal(got, want) {
		t.Errorf("Groups = %v, want %v", got, want)
	}
	for _, tt := range []struct {
		length time.Duration
		want   int
	}{{time.Millisecond, 50}, {100 * time.Millisecond, 50}, {101 * time.Millisecond, 100}, {time.Hour, 1000}} {
		if got := g.Burst(tt.length); got != tt.want {
			t.Errorf("Burst(%v) = %d, want %d", tt.length, got, tt.want)
		}
	}
}

func TestTooFew(t *testing.T) {
	t.Parallel()
	for _, g := range []Trace{nil, {5}, {5, 5}} {
		p := g.Against(100)
		if p.Count != len(g) || p.Rate != 0 || p.Max > time.Second || !math.IsNaN(p.Dispersion) {
			t.Errorf("%v: %+v, want no rate and no dispersion", g, p)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const text = `1700000000.000002 IP 127.0.0.1.40000 > 127.0.0.1.8081: Flags [S], seq 100, win 65495, options [mss 65495,sackOK,TS[|tcp]>
1700000000.000001 IP 127.0.0.1.40001 > 127.0.0.1.8081: Flags [S], seq 100, win 65495, length 0
1700000001.000002 IP 127.0.0.1.40000 > 127.0.0.1.8081: Flags [S], seq 100, win 65495, length 0
1700000002.123456789 IP 127.0.0.1.40000 > 127.0.0.1.8081: Flags [S], seq 200, win 65495, length 0
1700000003.000000 IP 127.0.0.1.40000 > 127.0.0.1.8081: Flags [.], ack 1, win 512, length 0
`
	const second = 1700000000 * time.Second
	want := Trace{second + 1000, second + 2000, second + 2123456789}
	got, err := parse(strings.NewReader(text))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("parse = %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"x", "1.0000000000", "-1.5", "12:30:01.5"} {
		line := bad + " IP 127.0.0.1.1 > 127.0.0.1.2: Flags [S], seq 1, length 0\n"
		if _, err := parse(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), `"`+bad+`"`) {
			t.Errorf("parse of %q: %v, want an error that quotes it", bad, err)
		}
	}
}

func TestDropped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"none", "15000 packets captured\n30000 packets received by filter\n0 packets dropped by kernel\n", 0},
		{"some", "1 packet captured\n12 packets dropped by kernel\n", 12},
		{"not said", "", 0},
	} {
		if got := dropped(tt.text); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ said, want string }{
		{"tcpdump: lo: You don't have permission to capture on that device", "CAP_NET_RAW"},
		{"tcpdump: lo: No such device exists", "No such device"},
	} {
		if err := refusal(tt.said); !strings.Contains(err.Error(), tt.want) {
			t.Errorf("refusal(%q) = %v, want it to name %s", tt.said, err, tt.want)
		}
	}
}

// A real capture sees each connection once.
func TestCapture(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const want = 20
	ran := false
	trace, err := Capture(t.Context(), Connections, l.Addr().(*net.TCPAddr).Port, 0, func() error {
		ran = true
		for range want {
			c, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				return err
			}
			c.Close()
		}
		return nil
	})
	if !ran {
		t.Skipf("no capture here: %v", err)
	}
	if err != nil || len(trace) != want {
		t.Errorf("%d arrivals, %v, want %d", len(trace), err, want)
	}
}

func TestCaptureKeepsTheError(t *testing.T) {
	t.Parallel()
	want := errors.New("the load failed")
	ran := false
	_, err := Capture(t.Context(), Requests, 9, 0, func() error { ran = true; return want })
	if !ran {
		t.Skipf("no capture here: %v", err)
	}
	if !errors.Is(err, want) {
		t.Errorf("Capture = %v, want %v", err, want)
	}
}
