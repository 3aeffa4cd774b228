package accesslog

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/pacer"
)

// each draws the arrivals of p in parts, in the order of their indices.
func each(t testing.TB, p pacer.Process, shards int, f func(index uint64, at time.Duration)) {
	t.Helper()
	parts := make([]pacer.Schedule, shards)
	for k := range parts {
		parts[k] = p.Schedule(k, shards, 0)
	}
	for i := uint64(0); ; i++ {
		s := parts[i%uint64(shards)]
		index, at, ok := s.Next()
		if !ok {
			break
		}
		if index != i {
			t.Fatalf("arrival %d of %d parts has index %d", i, shards, index)
		}
		f(index, at)
	}
	for k, s := range parts {
		if index, _, ok := s.Next(); ok || s.Err() != nil {
			t.Fatalf("part %d of %d: arrival %d after the end, %t, %v", k, shards, index, ok, s.Err())
		}
	}
}

// draw returns the offsets of p, drawn in parts.
func draw(t testing.TB, p pacer.Process, shards int) (all []time.Duration) {
	t.Helper()
	each(t, p, shards, func(_ uint64, at time.Duration) { all = append(all, at) })
	return all
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	const (
		ms = time.Millisecond
		s  = time.Second
	)
	whole := get("10", "/") + get("10", "/") + get("10", "/") + get("12", "/") + get("11", "/") + get("13", "/")
	for _, tt := range []struct {
		name   string
		text   string
		speed  float64
		spread bool
		want   []time.Duration
		rate   float64
		end    time.Duration
	}{
		{"exact", whole, 1, false, []time.Duration{0, 0, 0, 2 * s, 2 * s, 3 * s}, 5. / 3, 3600 * ms},
		{"twice", whole, 2, false, []time.Duration{0, 0, 0, s, s, 1500 * ms}, 10. / 3, 1800 * ms},
		{"half", whole, .5, false, []time.Duration{0, 0, 0, 4 * s, 4 * s, 6 * s}, 5. / 6, 7200 * ms},
		{"spread", whole, 1, true, []time.Duration{0, 333333333, 666666666, 2 * s, 2500 * ms, 3 * s}, 6. / 4, 4 * s},
		{"spread at 10", whole, 10, true, []time.Duration{0, 33333333, 66666666, 200 * ms, 250 * ms, 300 * ms}, 15, 400 * ms},
		{"spread with fractions", get("1", "/") + get("1", "/") + get("1.5", "/"), 1, true, []time.Duration{0, 0, 500 * ms}, 4, 750 * ms},
		{"one", get("10", "/"), 1, false, []time.Duration{0}, 0, 1},
		{"one, spread", get("10", "/"), 1, true, []time.Duration{0}, 1, s},
		{"one instant", get("10", "/") + get("10", "/"), 1, false, []time.Duration{0, 0}, 0, 1},
		{"speed 1.1", get("0", "/") + get("1.1", "/") + get("110", "/"), 1.1, false, []time.Duration{0, s, 100 * s}, 0.02, 150 * s},
		{"earlier than the first", get("5", "/") + get("1", "/") + get("6", "/"), 1, false, []time.Duration{0, 0, s}, 2, 1500 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := openLog(t, tt.text, Options{Spread: tt.spread})
			p := l.Process(tt.speed)
			for _, shards := range []int{1, 2, 3, 7} {
				if got := draw(t, p, shards); !slices.Equal(got, tt.want) {
					t.Errorf("%d parts: offsets %d, want %d", shards, got, tt.want)
				}
			}
			if got := p.Rate(0); math.Abs(got-tt.rate) > 1e-12 {
				t.Errorf("Rate = %v, want %v", got, tt.rate)
			}
			if end, n, known := p.(*replay).Ends(); end != tt.end || n != uint64(len(tt.want)) || !known {
				t.Errorf("Ends() = %s, %d, %t, want %s, %d", end, n, known, tt.end, len(tt.want))
			}
			if n, ok := pacer.Count(p, time.Hour, 0); n != uint64(len(tt.want)) || !ok {
				t.Errorf("Count = %d, %t, want %d", n, ok, len(tt.want))
			}
		})
	}
}

// An offset at any speed is the logged one divided and rounded down, far out
// too: nothing accumulates.
func TestSpeedNoDrift(t *testing.T) {
	t.Parallel()
	l := openLog(t, get("0", "/")+get("1000000000.000000001", "/"), Options{})
	for _, tt := range []struct {
		speed float64
		want  time.Duration
	}{
		{1, 1000000000000000001},
		{3, 333333333333333333},
		{0.3, 3333333333333333336},
		{1.7, 588235294117647059},
		{1e9, 1000000000},
		{0.12345678901234566, 8100000072900001911},
		{1 / 3., 3000000000000000303},
	} {
		p := l.Process(tt.speed)
		if got := draw(t, p, 1); len(got) != 2 || got[1] != tt.want {
			t.Errorf("speed %v: offsets %d, want %d", tt.speed, got, tt.want)
		}
	}
}

func TestSpeedErrors(t *testing.T) {
	t.Parallel()
	l := openLog(t, get("0", "/")+get("9214646399", "/"), Options{})
	for _, tt := range []struct {
		speed float64
		want  string
	}{
		{0, "speed 0: want a number from 0.001 to 1e+09"},
		{-1, "speed -1: want a number"},
		{math.NaN(), "speed NaN: want a number"},
		{math.Inf(1), "speed +Inf: want a number"},
		{1e-4, "speed 0.0001: want a number"},
		{2e9, "speed 2e+09: want a number"},
		{.5, "2559623h59m59s at speed 0.5: want less than 2562047h47m16.854775807s"},
	} {
		p := l.Process(tt.speed)
		s := p.Schedule(0, 1, 0)
		if _, _, ok := s.Next(); ok || s.Err() == nil || !strings.HasPrefix(s.Err().Error(), "accesslog: "+l.file.Name()+": "+tt.want) {
			t.Errorf("speed %v: Next is %t, Err() = %v, want %s", tt.speed, ok, s.Err(), tt.want)
		}
		if end, n, known := p.(*replay).Ends(); end != 0 || n != 0 || known || p.Rate(0) != 0 {
			t.Errorf("speed %v: Ends() = %s, %d, %t, rate %v, want none", tt.speed, end, n, known, p.Rate(0))
		}
	}
}

func TestSchedulePanics(t *testing.T) {
	t.Parallel()
	l := openLog(t, get("0", "/"), Options{})
	for _, shard := range []int{-1, 2} {
		func() {
			defer func() {
				want := fmt.Sprintf("accesslog: shard %d of 2: want 0 <= shard < shards", shard)
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			l.Process(1).Schedule(shard, 2, 0)
		}()
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	l := openLog(t, get("0", "/"), Options{})
	for speed, want := range map[float64]string{1: "access log " + l.file.Name(), 2.5: "access log " + l.file.Name() + " at 2.5x"} {
		if got := fmt.Sprint(l.Process(speed)); got != want {
			t.Errorf("speed %v prints as %q, want %q", speed, got, want)
		}
	}
}

// kolmogorov returns the largest distance between the distributions of two
// samples of the same size, which it sorts.
func kolmogorov(a, b []time.Duration) float64 {
	slices.Sort(a)
	slices.Sort(b)
	most, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		most = max(most, i-j, j-i)
	}
	return float64(most) / float64(len(a))
}

func TestKolmogorov(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b []time.Duration
		want float64
	}{
		{[]time.Duration{1, 2, 3, 3}, []time.Duration{3, 1, 3, 2}, 0},
		{[]time.Duration{1, 2, 3, 3}, []time.Duration{1, 2, 2, 3}, .25},
		{[]time.Duration{1, 1, 1, 1}, []time.Duration{2, 2, 2, 2}, 1},
	} {
		if got := kolmogorov(tt.a, tt.b); got != tt.want {
			t.Errorf("kolmogorov(%d, %d) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// million writes a log of a million requests with gaps of very different
// sizes, in milliseconds, and returns its name and the gaps.
func million(t testing.TB) (name string, gaps []time.Duration) {
	t.Helper()
	const n = 1_000_000
	name = filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	at := time.Duration(1700000000) * time.Second
	for i := range n {
		if i > 0 {
			gap := time.Duration(rnd.ExpFloat64()*3) * time.Millisecond
			if i%1000 == 0 {
				gap = time.Duration(rnd.IntN(10000)) * time.Millisecond
			}
			gaps = append(gaps, gap)
			at += gap
		}
		fmt.Fprintf(w, "192.0.2.%d - - [%d.%03d] \"GET /page/%d?q=\\x22 HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0\"\n", i%256, at/time.Second, at%time.Second/time.Millisecond, i)
		if i%1000 == 500 {
			w.WriteString(head + "\"\\x16\\x03\\x01\" 400 0 \"-\" \"-\"\n")
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name, gaps
}

// heap returns the heap in use after a collection, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// A million lines keep their gaps, in one part and in three, and are read in
// memory that does not grow. The heap is measured, so nothing runs beside it.
func TestMillion(t *testing.T) {
	const bound = 4 << 20
	name, logged := million(t)
	got := make([]time.Duration, 0, len(logged))
	before := heap()
	l, err := Open(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Len() != 1_000_000 || l.Skipped() != (Skipped{NotHTTP: 1000}) || l.Disordered() != 0 {
		t.Fatalf("%d requests, %+v, %d disordered", l.Len(), l.Skipped(), l.Disordered())
	}
	if n := cap(l.index) * 8; n > 1_000_000/8 {
		t.Errorf("the index has %d bytes, want at most an eighth of a byte a line", n)
	}
	for _, shards := range []int{1, 3} {
		got = got[:0]
		var last time.Duration
		each(t, l.Process(1), shards, func(i uint64, at time.Duration) {
			if i > 0 {
				got = append(got, at-last)
			}
			last = at
			if i%4099 == 0 {
				if e, err := l.Request(i); err != nil || e.URI != fmt.Sprintf("/page/%d?q=\"", i) {
					t.Errorf("request %d: %+v, %v", i, e, err)
				}
			}
			if i%250_000 == 1000 {
				if grown := heap() - before; grown > bound {
					t.Errorf("%d parts, arrival %d: the heap grew by %d bytes, want at most %d", shards, i, grown, bound)
				}
			}
		})
		if !slices.Equal(got, logged) {
			t.Errorf("%d parts: the gaps are not the logged ones in their order", shards)
		}
		if d := kolmogorov(got, slices.Clone(logged)); d != 0 || len(got) != len(logged) {
			t.Errorf("%d parts: Kolmogorov distance %v of %d gaps, want 0 of %d", shards, d, len(got), len(logged))
		}
	}
	if end, n, _ := l.Process(1).(*replay).Ends(); n != 1_000_000 || end <= l.Span() {
		t.Errorf("Ends() = %s, %d, want a million and more than %s", end, n, l.Span())
	}
}

// However many requests a second has, they are spread exactly.
func TestSpreadManyInASecond(t *testing.T) {
	t.Parallel()
	const n = 30_000 // several buffers
	l := openLog(t, strings.Repeat(get("1000000000", "/"), n)+strings.Repeat(get("1000000002", "/"), 2), Options{Spread: true})
	for _, shards := range []int{1, 3} {
		for i, at := range draw(t, l.Process(1), shards) {
			want := time.Duration(i) * time.Second / n
			if i >= n {
				want = 2*time.Second + time.Duration(i-n)*time.Second/2
			}
			if at != want {
				t.Fatalf("%d parts: arrival %d at %s, want %s", shards, i, at, want)
			}
		}
	}
}
