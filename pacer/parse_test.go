package pacer

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	k := func(n uint64) Constant { return Constant{n, time.Second} }
	for _, tt := range []struct {
		in   string
		want Process
	}{
		{"2000", k(2000)},
		{"2000/s", k(2000)},
		{"02000.000", k(2000)},
		{"2e3", k(2000)},
		{"1E-1", Constant{1, 10 * time.Second}},
		{"0.5", Constant{1, 2 * time.Second}},
		{".5", Constant{1, 2 * time.Second}},
		{"5.", k(5)},
		{"0.1", Constant{1, 10 * time.Second}},
		{"33.3", Constant{333, 10 * time.Second}},
		{"333.123456789", Constant{333123456789, 1e9 * time.Second}},
		{"6000/1m", Constant{6000, time.Minute}},
		{"6000/m", Constant{6000, time.Minute}},
		{"100/3s", Constant{100, 3 * time.Second}},
		{"3/1.5s", Constant{3, 1500 * ms}},
		{"1/h", Constant{1, time.Hour}},
		{"2/ms", Constant{2, ms}},
		{"1.5k/s", k(1500)},
		{"1.5k", k(1500)},
		{"0.7M", k(700000)},
		{"1e9", k(1e9)},
		{"1000M/s", k(1e9)},
		{"0.000000001", Constant{1, 1e9 * time.Second}},
		{"poisson:500", Poisson{500, time.Second}},
		{"poisson:6000/1m", Poisson{6000, time.Minute}},
		{"uniform:0.005,0.015", Uniform{5 * ms, 15 * ms}},
		{"uniform:5ms,.015", Uniform{5 * ms, 15 * ms}},
		{"variable:0.1,2,50ms,2s", Variable{{100 * ms, 2 * time.Second}, {50 * ms, 2 * time.Second}}},
		{"100..5000@60s", Ramp{k(100), k(5000), time.Minute}},
		{"100/s..5000/s@1m", Ramp{k(100), k(5000), time.Minute}},
		{"0..1k@60", Ramp{k(0), k(1000), time.Minute}},
		{".5...1@1.5", Ramp{Constant{1, 2 * time.Second}, Constant{1, 10 * time.Second}, 1500 * ms}},
		{"100:10s,200:10s", Steps{{k(100), 10 * time.Second}, {k(200), 10 * time.Second}}},
		{"100:10,0:5,200", Steps{{k(100), 10 * time.Second}, {k(0), 5 * time.Second}, {k(200), 0}}},
		{"100/m:1m", Steps{{Constant{100, time.Minute}, time.Minute}}},
		{"2000 for 50s", For(k(2000), 50*time.Second)},
		{"poisson:5 first 1000", First(Poisson{5, time.Second}, 1000)},
		{"1:1s,2 first 1000 for 1m", For(First(Steps{{k(1), time.Second}, {k(2), 0}}, 1000), time.Minute)},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := Parse(tt.in)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("Parse = %#v, %v, want %#v", got, err, tt.want)
			}
			again, err := Parse(fmt.Sprint(got))
			if err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("Parse(%q) = %#v, %v, want %#v", fmt.Sprint(got), again, err, got)
			}
		})
	}
}

func TestParseTrace(t *testing.T) {
	t.Parallel()
	path := writeTrace(t, "0\n1\n5\n")
	odd := path + "@3x"
	writeFile(t, odd, "0\n")
	bound := path + " for 5s"
	writeFile(t, bound, "0\n")
	for _, tt := range []struct {
		in, path string
		speed    float64
	}{
		{path, path, 1},
		{path + "@2x", path, 2},
		{path + "@0.25x", path, 0.25},
		{path + "@1e3x", path, 1000},
		{odd + "@1x", odd, 1},
		{odd + "@2x", odd, 2},
		{bound + "@1x", bound, 1},
	} {
		p, err := Parse("trace:" + tt.in)
		if err != nil {
			t.Errorf("Parse: %v", err)
			continue
		}
		if got := p.(*Trace); got.path != tt.path || got.speed != tt.speed {
			t.Errorf("trace:%s is %s at %v, want %s at %v", tt.in, got.path, got.speed, tt.path, tt.speed)
		}
		again, err := Parse(fmt.Sprint(p))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("Parse(%q) = %v, %v, want %v", fmt.Sprint(p), again, err, p)
		}
	}
	p, err := Parse("trace:" + path + " first 2")
	if end, n, _ := PlannedEnd(p, 0); err != nil || n != 2 || end != 3500*ms {
		t.Errorf("first 2 of a trace: %d arrivals until %s, %v, want 2 until 3.5s", n, end, err)
	}
}

func TestParsePeriod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want Process
	}{
		{"0.01", Constant{1, 10 * ms}},
		{".5", Constant{1, 500 * ms}},
		{"d0.01", Constant{1, 10 * ms}},
		{"d.01", Constant{1, 10 * ms}},
		{"2", Constant{1, 2 * time.Second}},
		{"5ms", Constant{1, 5 * ms}},
		{"d5ms", Constant{1, 5 * ms}},
		{"0.00000333333333333", Constant{1e8, 333333333333}},
		{"0.3333333333333333", Constant{1e7, 3333333333333333}},
		{"1e-3", Constant{1, ms}},
		{"e0.01", Poisson{1, 10 * ms}},
		{"e.5", Poisson{1, 500 * ms}},
		{"u0.005,0.015", Uniform{5 * ms, 15 * ms}},
		{"u.005,.005", Uniform{5 * ms, 5 * ms}},
		{"v0.1,2,0.05,2", Variable{{100 * ms, 2 * time.Second}, {50 * ms, 2 * time.Second}}},
		{"v1,1" + strings.Repeat(",1,1", 99), Variable(repeat(Gap{time.Second, time.Second}, 100))},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParsePeriod(tt.in)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("ParsePeriod = %#v, %v, want %#v", got, err, tt.want)
			}
			if again, err := Parse(fmt.Sprint(got)); err != nil || again.Rate(0) != got.Rate(0) {
				t.Errorf("Parse(%q) = %v, %v", fmt.Sprint(got), again, err)
			}
		})
	}
}

func repeat(g Gap, n int) []Gap {
	list := make([]Gap, n)
	for i := range list {
		list[i] = g
	}
	return list
}

func TestSequential(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0", "0/s", "0.0", ".0k/m", "poisson:0", "uniform:0,0", "0..0@5s", "0:1s,0:2s", "0 for 5s"} {
		if p, err := Parse(s); p != nil || !errors.Is(err, ErrSequential) || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("Parse(%q) = %v, %v, want ErrSequential that quotes it", s, p, err)
		}
	}
	for _, s := range []string{"0", "0.0", "d0", "e0", "u0,0", "0ms"} {
		if p, err := ParsePeriod(s); p != nil || !errors.Is(err, ErrSequential) || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
			t.Errorf("ParsePeriod(%q) = %v, %v, want ErrSequential that quotes it", s, p, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		parse func(string) (Process, error)
		kind  string
		in    string
		want  string // the reason, of which more may follow
	}{
		{Parse, "rate", "", "nothing there: want a number"},
		{Parse, "rate", "-5", "negative: want a number"},
		{Parse, "rate", "-0", "negative: want a number"},
		{Parse, "rate", "+5", "not a number"},
		{Parse, "rate", "NaN", "not a number"},
		{Parse, "rate", "nan", "not a number"},
		{Parse, "rate", "inf", "not a number"},
		{Parse, "rate", "Infinity", "not a number"},
		{Parse, "rate", "0x10", "not a number"},
		{Parse, "rate", "1_000", "not a number"},
		{Parse, "rate", "1e", "not a number"},
		{Parse, "rate", "1e+", "not a number"},
		{Parse, "rate", "1e5x", "not a number"},
		{Parse, "rate", ".", "not a number"},
		{Parse, "rate", "k", "nothing there"},
		{Parse, "rate", "/s", "nothing there"},
		{Parse, "rate", "5 ", "not a number"},
		{Parse, "rate", " 5", "not a number"},
		{Parse, "rate", "5x", "not a number"},
		{Parse, "rate", "5kk", "not a number"},
		{Parse, "rate", "1.2.3", "not a number"},
		{Parse, "rate", "5/", `unit ""`},
		{Parse, "rate", "5/60", `unit "60"`},
		{Parse, "rate", "5/0s", `unit "0s"`},
		{Parse, "rate", "5/-1s", `unit "-1s"`},
		{Parse, "rate", "5/s/s", `unit "s/s"`},
		{Parse, "rate", "1e400", "above 1e9 arrivals per second"},
		{Parse, "rate", "1e99999999999999999999", "above 1e9 arrivals per second"},
		{Parse, "rate", "1000000001", "above 1e9 arrivals per second"},
		{Parse, "rate", "1001M", "above 1e9 arrivals per second"},
		{Parse, "rate", "2/ns", "above 1e9 arrivals per second"},
		{Parse, "rate", "1e-10", "less than one arrival in 292 years"},
		{Parse, "rate", "1e-400", "less than one arrival in 292 years"},
		{Parse, "rate", "poisson:", "nothing there"},
		{Parse, "rate", "poisson:x", "not a number"},
		{Parse, "rate", "Poisson:5", `step "Poisson:5": not a number`},
		{Parse, "rate", "uniform:1", "1 values: want uniform gaps MIN,MAX"},
		{Parse, "rate", "uniform:1,2,3", "3 values: want uniform gaps MIN,MAX"},
		{Parse, "rate", "uniform:2,1", "gaps from 2s to 1s: want the smaller one first"},
		{Parse, "rate", "uniform:0,1ns", "gaps from 0s to 1ns: want a mean of 1ns or more"},
		{Parse, "rate", "variable:1", "1 values: want pairs"},
		{Parse, "rate", "variable:0,1", "gap 0s for 1s: want pairs"},
		{Parse, "rate", "variable:1,0", "gap 1s for 0s: want pairs"},
		{Parse, "rate", "variable:9e9,1,9e9,1", "variable: gap of 2500000h0m0s for 1s: the durations add up"},
		{Parse, "rate", "100..5000", "no duration: want a ramp FROM..TO@DURATION"},
		{Parse, "rate", "100..5000@", `duration "": nothing there`},
		{Parse, "rate", "100..5000@0", `duration "0": zero`},
		{Parse, "rate", "100..5000@-1s", `duration "-1s": negative`},
		{Parse, "rate", "..5000@1s", `"": nothing there`},
		{Parse, "rate", "100..@1s", `"": nothing there`},
		{Parse, "rate", "100..2e9@1s", `"2e9": above 1e9`},
		{Parse, "rate", "100:10s,", `step "": nothing there`},
		{Parse, "rate", "100,200:10s", `step "100": no duration`},
		{Parse, "rate", "100:,200:10s", `step "100:": nothing there`},
		{Parse, "rate", "100:5s,200,300:5s", `step "200": no duration`},
		{Parse, "rate", "100:1e400", `step "100:1e400": out of range`},
		{Parse, "rate", "100 for ever", "not a number"},
		{Parse, "rate", "100 first -1", "not a number"},
		{Parse, "rate", " for 5s", "nothing there"},
		{Parse, "rate", "trace:", "no file: want trace:FILE"},
		{Parse, "rate", "trace:@2x", "no file: want trace:FILE"},
		{Parse, "rate", "trace:/dev/null", "trace: /dev/null: want a regular file"},
		{Parse, "rate", "trace:f@0x", "trace f: speed 0: want a number above 0"},
		{ParsePeriod, "period", "", "nothing there: want a period in seconds"},
		{ParsePeriod, "period", "d", "nothing there"},
		{ParsePeriod, "period", "-1", "negative"},
		{ParsePeriod, "period", "d-1", "negative"},
		{ParsePeriod, "period", "-1ms", "negative"},
		{ParsePeriod, "period", "nan", "not a number"},
		{ParsePeriod, "period", "inf", "not a number"},
		{ParsePeriod, "period", "x0.1", "not a number"},
		{ParsePeriod, "period", "0.1,0.2", "not a number"},
		{ParsePeriod, "period", "1e400", "less than one arrival in 292 years"},
		{ParsePeriod, "period", "1e10", "less than one arrival in 292 years"},
		{ParsePeriod, "period", "1e-10", "above 1e9 arrivals per second"},
		{ParsePeriod, "period", "1e-400", "above 1e9 arrivals per second"},
		{ParsePeriod, "period", "e", "nothing there"},
		{ParsePeriod, "period", "e-1", "negative"},
		{ParsePeriod, "period", "u0.1", "1 values: want uniform gaps"},
		{ParsePeriod, "period", "u0.2,0.1", "gaps from 200ms to 100ms: want the smaller one first"},
		{ParsePeriod, "period", "u-1,1", `"-1": negative`},
		{ParsePeriod, "period", "v0.1", "1 values: want pairs"},
		{ParsePeriod, "period", "v0.1,2,0.05", "3 values: want pairs"},
		{ParsePeriod, "period", "v0.1,2x", `"2x": neither a number of seconds nor a duration`},
		{ParsePeriod, "period", "v0.1,2,", `"": nothing there`},
	} {
		t.Run(tt.kind+" "+tt.in, func(t *testing.T) {
			p, err := tt.parse(tt.in)
			if want := fmt.Sprintf("pacer: %s %q: %s", tt.kind, tt.in, tt.want); p != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, %v, want %s", p, err, want)
			}
		})
	}
}

func TestParseSeconds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want time.Duration
	}{
		{"0", 0},
		{"1.0000000019", time.Second + 1},
		{"0.12345678901234567890123456789", 123456789},
		{"1e-30", 0},
		{"123456789012345678901234567890e-21", 123456789012345678},
		{"9223372036.854775807", math.MaxInt64},
		{"1h", time.Hour},
	} {
		if got, err := parseSeconds(tt.in); got != tt.want || err != nil {
			t.Errorf("parseSeconds(%q) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
	if got, err := parseSeconds("9223372036.854775808"); err != errRange {
		t.Errorf("a nanosecond too many: %d, %v, want %v", got, err, errRange)
	}
}

// Whatever is accepted has arrivals in order, and prints as something that is
// read back as the same process.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"2000/s", ".5", "1.5k", "0", "1e400", "6000/1m", "poisson:500", "uniform:0.005,0.015", "variable:0.1,2,0.05,2",
		"100..5000@60s", "0..1e9@1ns", "100:10s,0:1s,200", "d0.01", "e0.01", "u0.005,0.015", "v0.1,2,0.05,2", "5 for 1s first 3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "trace:") {
			t.Skip("would read a file")
		}
		for _, parse := range []func(string) (Process, error){Parse, ParsePeriod} {
			p, err := parse(s)
			if err != nil {
				if p != nil || !strings.HasPrefix(err.Error(), "pacer: ") {
					t.Fatalf("%q: %v with error %v", s, p, err)
				}
				continue
			}
			last := time.Duration(0)
			for i, a := range take(t, p.Schedule(0, 1, 1), 100) {
				if a.index != uint64(i) || a.at < last {
					t.Fatalf("%q: arrival %d is %v, after %s", s, i, a, last)
				}
				last = a.at
			}
			again, err := Parse(fmt.Sprint(p))
			if err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
				t.Fatalf("%q: %v is read back as %v, %v", s, p, again, err)
			}
		}
	})
}

// TestManyDigits reads numbers as programs print them: what does not fit is
// dropped, and no more than one arrival in a hundred million is lost.
func TestManyDigits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		parse func(string) (Process, error)
		in    string
		want  float64
	}{
		{Parse, "33.333333333333336", 100. / 3},
		{Parse, "33333.333333333333333333333333", 1e5 / 3},
		{Parse, "0.18446744073709551615", 0.18446744073709551615},
		{Parse, "1.00000000000000000000001", 1},
		{Parse, "2000.0000000000002/s", 2000},
		{ParsePeriod, "1.0000000000000000001", 1},
		{ParsePeriod, "0.33333333333333331", 3},
		{ParsePeriod, "0.00049999999999999999", 2000},
	} {
		p, err := tt.parse(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if got := p.Rate(0); math.Abs(got/tt.want-1) > 1e-8 {
			t.Errorf("%s gives %v/s, want %v", tt.in, got, tt.want)
		}
	}
}
