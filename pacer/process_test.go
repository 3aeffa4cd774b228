package pacer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// arrival is what Next returns.
type arrival struct {
	index uint64
	at    time.Duration
}

// take returns the next n arrivals of s, or all that are left.
func take(t testing.TB, s Schedule, n int) []arrival {
	t.Helper()
	var list []arrival
	for len(list) < n {
		index, at, ok := s.Next()
		if !ok {
			break
		}
		list = append(list, arrival{index, at})
	}
	if err := s.Err(); err != nil {
		t.Fatalf("Err() = %v after %d arrivals, want nil", err, len(list))
	}
	return list
}

// offsets returns the offsets of the first n arrivals of p.
func offsets(t testing.TB, p Process, n int) []time.Duration {
	t.Helper()
	var list []time.Duration
	for i, a := range take(t, p.Schedule(0, 1, 1), n) {
		if a.index != uint64(i) {
			t.Fatalf("%v: index %d at position %d", p, a.index, i)
		}
		list = append(list, a.at)
	}
	return list
}

// openTrace returns the trace of a file with text.
func openTrace(t testing.TB, text string, speed float64) *Trace {
	t.Helper()
	p, err := OpenTrace(writeTrace(t, text), speed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// memoryTrace returns a trace of offsets at normal speed.
func memoryTrace(t testing.TB, offsets ...time.Duration) *Trace {
	t.Helper()
	p, err := NewTrace(offsets, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// custom is a process of another package: one arrival a second.
type custom struct{}

func (custom) Schedule(shard, shards int, seed uint64) Schedule {
	return Constant{1, time.Second}.Schedule(shard, shards, seed)
}
func (custom) Rate(time.Duration) float64 { return 1 }
func (custom) String() string             { return "custom" }

// flood has all its arrivals, without end, at offset 0, and claims one a second.
type flood struct{ custom }

func (flood) Schedule(shard, shards int, seed uint64) Schedule { return &floodSchedule{} }

type floodSchedule struct{ n uint64 }

func (s *floodSchedule) Next() (uint64, time.Duration, bool) {
	s.n++
	return s.n - 1, 0, true
}

func (s *floodSchedule) Err() error { return nil }

// everyProcess returns one process or more of every kind.
func everyProcess(t testing.TB) []Process {
	burst := memoryTrace(t, 0, 1, 1, 1, 1, 5, 5, 9, 100)
	return []Process{
		Constant{333, time.Second},
		Poisson{500, time.Second},
		Uniform{5 * time.Millisecond, 15 * time.Millisecond},
		Variable{{7 * time.Millisecond, 20 * time.Millisecond}, {time.Millisecond, 5 * time.Millisecond}},
		Steps{{Constant{100, time.Second}, 55 * time.Millisecond}, {Constant{}, time.Second}, {Constant{333, time.Second}, 0}},
		Ramp{Constant{10, time.Second}, Constant{999, time.Second}, 300 * time.Millisecond},
		Ramp{Constant{999, time.Second}, Constant{0, time.Second}, 300 * time.Millisecond},
		burst,
		openTrace(t, "0\n0.5\n0.5\n0.75\n1s\n2m\n", 3),
		For(Constant{1001, time.Second}, 100*time.Millisecond),
		First(Poisson{500, time.Second}, 97),
		For(First(Ramp{Constant{10, time.Second}, Constant{999, time.Second}, 300 * time.Millisecond}, 500), 400*time.Millisecond),
		custom{},
	}
}

func TestShardsMakeTheWhole(t *testing.T) {
	t.Parallel()
	const n = 600
	for _, p := range everyProcess(t) {
		whole := take(t, p.Schedule(0, 1, 42), n)
		for i, a := range whole {
			if a.index != uint64(i) || a.at < 0 || i > 0 && a.at < whole[i-1].at {
				t.Fatalf("%v: arrival %d is %v after %v", p, i, a, whole[max(i-1, 0)])
			}
		}
		for shards := 1; shards <= 5; shards++ {
			t.Run(fmt.Sprintf("%v/shards=%d", p, shards), func(t *testing.T) {
				var union []arrival
				for shard := range shards {
					part := take(t, p.Schedule(shard, shards, 42), n)
					for _, a := range part {
						if a.index%uint64(shards) != uint64(shard) {
							t.Fatalf("shard %d of %d has index %d", shard, shards, a.index)
						}
						if a.index < n {
							union = append(union, a)
						}
					}
				}
				slices.SortFunc(union, func(a, b arrival) int { return int(a.index) - int(b.index) })
				if !slices.Equal(union, whole) {
					t.Errorf("the union has %d arrivals and differs from the whole with %d", len(union), len(whole))
				}
			})
		}
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	for _, p := range []Process{Poisson{500, time.Second}, Uniform{0, time.Second}} {
		a, b := take(t, p.Schedule(0, 1, 7), 1000), take(t, p.Schedule(0, 1, 7), 1000)
		if !slices.Equal(a, b) {
			t.Errorf("%v: the same seed gave different arrivals", p)
		}
		for _, seed := range []uint64{0, 6, 8, 7 << 32, ^uint64(7)} {
			// The gaps of independent streams are uncorrelated: the
			// coefficient of 1000 pairs is within 0.13 in 99.99 % of cases.
			c := take(t, p.Schedule(0, 1, seed), 1000)
			if r := correlation(a, c); math.Abs(r) > 0.13 {
				t.Errorf("%v: gaps of seeds 7 and %d have correlation %.2f", p, seed, r)
			}
		}
	}
}

// correlation returns the coefficient of the gaps of a and b.
func correlation(a, b []arrival) float64 {
	var n, sa, sb, saa, sbb, sab float64
	for i := 1; i < len(a); i++ {
		x, y := float64(a[i].at-a[i-1].at), float64(b[i].at-b[i-1].at)
		n, sa, sb, saa, sbb, sab = n+1, sa+x, sb+y, saa+x*x, sbb+y*y, sab+x*y
	}
	return (n*sab - sa*sb) / math.Sqrt((n*saa-sa*sa)*(n*sbb-sb*sb))
}

func TestShardOutOfRange(t *testing.T) {
	t.Parallel()
	for _, p := range everyProcess(t) {
		for _, tt := range []struct{ shard, shards int }{{-1, 1}, {0, 0}, {0, -1}, {1, 1}, {5, 3}} {
			t.Run(fmt.Sprintf("%v/%d of %d", p, tt.shard, tt.shards), func(t *testing.T) {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "pacer: ") {
						t.Errorf("panic %q, want one that names the package", text)
					}
				}()
				p.Schedule(tt.shard, tt.shards, 1)
			})
		}
	}
}

// A process that makes no sense has no arrivals and says why.
func TestSenseless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    Process
		want string
	}{
		{Constant{1, 0}, "pacer: rate of 1 arrivals in 0s: want a period above 0"},
		{Constant{5, -time.Second}, "pacer: rate of 5 arrivals in -1s: want a period above 0"},
		{Poisson{1, 0}, "pacer: rate of 1 arrivals in 0s: want a period above 0"},
		{Uniform{}, "pacer: uniform:0s,0s: gaps from 0s to 0s: want a mean of 1ns or more"},
		{Uniform{0, 1}, "pacer: uniform:0s,1ns: gaps from 0s to 1ns: want a mean of 1ns or more"},
		{Uniform{2, 1}, "pacer: uniform:2ns,1ns: gaps from 2ns to 1ns: want the smaller one first"},
		{Uniform{-1, 1}, "pacer: uniform:-1ns,1ns: gap of -1ns: want 0 or more"},
		{Variable{}, "pacer: variable: want at least one gap"},
		{Variable{{0, 1}}, "pacer: variable: gap of 0s for 1ns: want both above 0"},
		{Variable{{1, math.MaxInt64}, {1, 1}}, "pacer: variable: gap of 1ns for 1ns: the durations add up to more than 2562047h47m16.854775807s"},
		{Steps{}, "pacer: steps: want at least one"},
		{Steps{{Constant{1, 0}, 1}}, "pacer: rate of 1 arrivals in 0s: want a period above 0"},
		{Steps{{Constant{1, 1}, -1}}, "pacer: step of -1ns: want a duration of 0 or more"},
		{Ramp{Constant{1, 1}, Constant{2, 1}, 0}, "pacer: ramp over 0s: want a duration above 0"},
		{Ramp{Constant{1, 1}, Constant{2, -1}, 1}, "pacer: rate of 2 arrivals in -1ns: want a period above 0"},
		{For(Steps{}, time.Second), "pacer: steps: want at least one"},
	} {
		s := tt.p.Schedule(0, 1, 1)
		if index, at, ok := s.Next(); ok {
			t.Errorf("%v: Next() = %d, %s, want no arrival", tt.p, index, at)
		}
		if err := s.Err(); err == nil || err.Error() != tt.want {
			t.Errorf("%v: Err() = %v, want %s", tt.p, err, tt.want)
		}
	}
}

// Offsets beyond int64 end a schedule; they do not wrap.
func TestOverflow(t *testing.T) {
	t.Parallel()
	const century = 100 * 365 * 24 * time.Hour
	for _, tt := range []struct {
		p    Process
		want int // arrivals; at most for random processes
	}{
		{Constant{1, century}, 3},
		{Constant{1, math.MaxInt64}, 2},
		{Constant{1 << 63, math.MaxInt64}, 1000},
		{Poisson{1, century}, 20},
		{Poisson{1, math.MaxInt64}, 10},
		{Uniform{century, century}, 3},
		{Uniform{math.MaxInt64, math.MaxInt64}, 2},
		{Variable{{century, century}}, 3},
		{Steps{{Constant{1, century}, century}, {Constant{2, century}, math.MaxInt64}, {Constant{1, 1}, 1}}, 5},
		{Steps{{Constant{math.MaxUint64, 1}, time.Hour}, {Constant{1, 1}, 0}}, 1000}, // more than there are indices
		{Ramp{Constant{1, century}, Constant{2, century}, 2 * century}, 5},
		{Ramp{Constant{}, Constant{1, century}, math.MaxInt64}, 2},
	} {
		t.Run(fmt.Sprint(tt.p), func(t *testing.T) {
			s := tt.p.Schedule(0, 1, 1)
			list := take(t, s, 1000)
			for i := 1; i < len(list); i++ {
				if list[i].at < list[i-1].at {
					t.Fatalf("arrival %d at %s comes after %s", i, list[i].at, list[i-1].at)
				}
			}
			if _, ok := tt.p.(Poisson); len(list) > tt.want || !ok && len(list) != tt.want {
				t.Errorf("%d arrivals, want %d", len(list), tt.want)
			}
			if len(list) < 1000 {
				if index, at, ok := s.Next(); ok {
					t.Errorf("Next() after the end = %d, %s", index, at)
				}
			}
		})
	}
}

// The index of the last shard's next arrival must not wrap either.
func TestIndexOverflow(t *testing.T) {
	t.Parallel()
	s := &gridSchedule{g: &segment{end: math.MaxUint64, n: math.MaxUint64, per: 1}, next: math.MaxUint64 - 1, step: 3}
	if index, at, ok := s.Next(); index != math.MaxUint64-1 || at != 0 || !ok {
		t.Errorf("Next() = %d, %s, %t, want the last index", index, at, ok)
	}
	if index, at, ok := s.Next(); ok {
		t.Errorf("Next() = %d, %s, want the end", index, at)
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, p := range everyProcess(t) {
		k := Kind(p)
		if wrapped := Kind(First(For(p, time.Hour), 1)); wrapped != k {
			t.Errorf("Kind of First and For of %v = %s, want %s", p, wrapped, k)
		}
		if want := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", base(p)), "*"), "pacer.")); k != want {
			t.Errorf("Kind(%v) = %s, want %s", p, k, want)
		}
		have[k] = true
	}
	if len(have) != 8 {
		t.Errorf("%d kinds, want 8: %v", len(have), have)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, p := range everyProcess(t) {
		for _, d := range []time.Duration{-1, 0, 1, 2, 5, 6, 55 * time.Millisecond, 100 * time.Millisecond, 299 * time.Millisecond, 300 * time.Millisecond, time.Second, 1234567891} {
			want := uint64(0)
			s := p.Schedule(0, 1, 3)
			for {
				_, at, ok := s.Next()
				if !ok || at >= d {
					break
				}
				want++
			}
			if n, ok := Count(p, d, 3); n != want || !ok {
				t.Errorf("Count(%v, %s) = %d, %t, want %d", p, d, n, ok, want)
			}
		}
	}
}

func TestPlannedEnd(t *testing.T) {
	t.Parallel()
	k := func(n uint64) Constant { return Constant{n, time.Second} }
	trace := memoryTrace(t, 0, 100, 100, 300)
	poisson := Poisson{2000, time.Second}
	drawn, _ := Count(poisson, 10*time.Second, 5)
	for _, tt := range []struct {
		p     Process
		end   time.Duration
		count uint64
		known bool
	}{
		{k(2000), 0, 0, false},
		{poisson, 0, 0, false},
		{Variable{{1, 1}}, 0, 0, false},
		{custom{}, 0, 0, false},
		{k(0), 0, 0, true},
		{First(k(2000), 100000), 50 * time.Second, 100000, true},
		{First(k(333), 333), time.Second, 333, true},
		{First(k(333), 0), 0, 0, true},
		{For(k(333), time.Second), time.Second, 333, true},
		{For(k(333), time.Second+1), time.Second + 1, 334, true},
		{For(k(333), -time.Second), 0, 0, true},
		{For(First(k(2000), 100000), time.Minute), 50 * time.Second, 100000, true},
		{For(First(k(2000), 100000), 30*time.Second), 30 * time.Second, 60000, true},
		{First(For(k(2000), 30*time.Second), 100000), 30 * time.Second, 60000, true},
		{First(For(k(2000), 30*time.Second), 1000), 500 * time.Millisecond, 1000, true},
		{First(First(k(2000), 2000), 1000), 500 * time.Millisecond, 1000, true},
		{First(poisson, 100000), 50 * time.Second, 100000, true},
		{First(Uniform{5 * time.Millisecond, 15 * time.Millisecond}, 100), time.Second, 100, true},
		{For(poisson, 10*time.Second), 10 * time.Second, drawn, true},
		{First(For(poisson, 10*time.Second), drawn), 10 * time.Second, drawn, true},
		{First(For(poisson, 10*time.Second), 2000), time.Second, 2000, true},
		{For(flood{}, 10*time.Second), 10 * time.Second, 10, true}, // too many to draw: what the rate says
		{For(First(poisson, 2000), time.Hour), time.Second, 2000, true},
		{First(Variable{{10, 20}, {5, 5}}, 6), 50, 6, true},
		{Steps{{k(100), 10 * time.Second}, {k(0), 5 * time.Second}}, 10 * time.Second, 1000, true},
		{Steps{{k(0), time.Second}, {k(3), time.Second}, {k(0), 0}}, 2 * time.Second, 3, true},
		{Steps{{k(100), 10 * time.Second}, {k(200), 5 * time.Second}}, 0, 0, false},
		{First(Steps{{k(100), 10 * time.Second}, {k(200), 0}}, 3000), 20 * time.Second, 3000, true},
		{First(Steps{{k(100), 10 * time.Second}, {k(0), 0}}, 3000), 10 * time.Second, 1000, true},
		{First(Steps{{k(100), 10 * time.Second}, {k(0), 0}}, 1000), 10 * time.Second, 1000, true},
		{Ramp{k(100), k(0), 10 * time.Second}, 10 * time.Second, 500, true},
		{For(Ramp{k(100), k(5000), time.Minute}, time.Minute), time.Minute, 153000, true},
		{First(Ramp{k(100), k(5000), time.Minute}, 153000), time.Minute, 153000, true},
		{trace, 400, 4, true},
		{First(trace, 2), 200, 2, true},
		{First(trace, 4), 400, 4, true},
		{First(trace, 9), 400, 4, true},
		{First(trace, 0), 0, 0, true},
		{For(trace, 101), 101, 3, true},
		{For(trace, time.Second), 400, 4, true},
		{memoryTrace(t, 7, 7), 8, 2, true},
		{memoryTrace(t, 7), 8, 1, true},
		{First(custom{}, 30), 30 * time.Second, 30, true},
		{First(Constant{1, time.Hour}, 1<<62), 0, 0, false},
		{First(Poisson{1, time.Hour}, 1<<62), 0, 0, false},
		{First(Poisson{}, 1), 0, 0, false},
		{First(Poisson{1, 0}, 1), 0, 0, false},
		{First(custom{}, 1<<62), 0, 0, false},
	} {
		end, count, known := PlannedEnd(tt.p, 5)
		if end != tt.end || count != tt.count || known != tt.known {
			t.Errorf("PlannedEnd(%v) = %s, %d, %t, want %s, %d, %t", tt.p, end, count, known, tt.end, tt.count, tt.known)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	k := func(n uint64) Constant { return Constant{n, time.Second} }
	steps := Steps{{k(100), 10 * time.Second}, {k(0), time.Second}, {k(200), time.Second}}
	ramp := Ramp{k(100), k(300), 10 * time.Second}
	variable := Variable{{100 * time.Millisecond, 250 * time.Millisecond}, {10 * time.Millisecond, 20 * time.Millisecond}}
	for _, tt := range []struct {
		p    Process
		at   time.Duration
		want float64
	}{
		{Constant{1, 2 * time.Second}, time.Hour, 0.5},
		{Constant{}, 0, 0},
		{Poisson{6000, time.Minute}, 0, 100},
		{Uniform{5 * time.Millisecond, 15 * time.Millisecond}, 0, 100},
		{Uniform{math.MaxInt64, math.MaxInt64}, 0, 1 / time.Duration(math.MaxInt64).Seconds()},
		{Uniform{}, 0, 0},
		{steps, 0, 100},
		{steps, 10*time.Second - 1, 100},
		{steps, 10 * time.Second, 0},
		{steps, 11 * time.Second, 200},
		{steps, time.Hour, 200},
		{Steps{}, 0, 0},
		{ramp, -1, 100},
		{ramp, 5 * time.Second, 200},
		{ramp, 10 * time.Second, 300},
		{ramp, time.Hour, 300},
		{variable, 0, 10},
		{variable, 300*time.Millisecond - 1, 10}, // the third gap of 100 ms exceeds 250 ms
		{variable, 300 * time.Millisecond, 100},
		{variable, 320 * time.Millisecond, 10},
		{variable, 3*320*time.Millisecond + 310*time.Millisecond, 100},
		{Variable{}, 0, 0},
		{Variable{{0, 1}}, 0, 0},
		{memoryTrace(t, time.Second, 2*time.Second, 5*time.Second), time.Hour, 0.5},
		{memoryTrace(t, 7, 7), 7, 0},
		{For(k(5), time.Second), time.Second - 1, 5},
		{For(k(5), time.Second), time.Second, 0},
		{First(k(5), 5), time.Second - 1, 5},
		{First(k(5), 5), time.Second, 0},
		{First(Poisson{5, time.Second}, 5), time.Hour, 5}, // its end is not known
	} {
		if got := tt.p.Rate(tt.at); math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("%v: Rate(%s) = %v, want %v", tt.p, tt.at, got, tt.want)
		}
	}
}
