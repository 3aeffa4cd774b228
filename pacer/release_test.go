package pacer

import (
	"slices"
	"testing"
	"time"
)

const us = time.Microsecond

// A start is what became of one arrival in a simulated loop.
type start struct {
	intended, at time.Duration // at: when the loop started or shed it
	late         bool
}

// A loop is a generator on a clock of its own. Each pass it starts what may
// start, then polls after poll or, when poll is 0, sleeps until something is
// due and oversleeps by latency.
type loop struct {
	poll, latency time.Duration
	stalls        [][2]time.Duration // from, to: the loop does not run
}

// run drives the arrivals of part shard of p before end.
func (l loop) run(t *testing.T, p Process, shard, shards int, c CatchUp, end time.Duration) []start {
	t.Helper()
	r := NewRelease(p, shards, c)
	s := For(p, end).Schedule(shard, shards, 1)
	var list []start
	_, intended, ok := s.Next()
	held, now := time.Duration(-1), time.Duration(0) // held: when the next arrival may start, if it has to wait
	for ok {
		r.Look(now)
		for ok && intended <= now {
			var late bool
			at := held
			if held < 0 {
				at, late = r.Due(intended, now)
			}
			if at < intended {
				t.Fatalf("arrival intended at %s may start at %s", intended, at)
			}
			if at > now && !late {
				held = at
				break
			}
			held = -1
			list = append(list, start{intended, now, late})
			_, intended, ok = s.Next()
		}
		if l.poll > 0 {
			now += l.poll
		} else {
			now = max(intended, held) + l.latency
		}
		for _, s := range l.stalls {
			if now > s[0] && now < s[1] {
				now = s[1]
			}
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// peak returns the most arrivals that started in a slot of 10 ms.
func peak(list []start) int {
	slots := map[time.Duration]int{}
	most := 0
	for _, s := range list {
		slots[s.at/(10*ms)]++
		most = max(most, slots[s.at/(10*ms)])
	}
	return most
}

// caughtUp returns when the last arrival started that was more than 1 ms late.
func caughtUp(list []start) time.Duration {
	last := time.Duration(0)
	for _, s := range list {
		if s.at-s.intended > ms {
			last = s.at
		}
	}
	return last
}

// Reservations made at one instant: the whole stall's arrivals, evenly.
func TestReleaseSpacing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		p      Process
		shards int
		c      CatchUp
		want   time.Duration // from one owed arrival to the next
	}{
		{"2x of 1000/s", Constant{1000, time.Second}, 1, CatchUp{}, 500 * us},
		{"1.5x", Constant{1000, time.Second}, 1, CatchUp{Factor: 1.5}, 666666},
		{"one of four parts", Constant{1000, time.Second}, 4, CatchUp{}, 2 * ms},
		{"below 1/s", Constant{1, 10 * time.Second}, 1, CatchUp{}, 5 * time.Second},
		{"bounded process", First(For(Constant{1000, time.Second}, time.Hour), 5), 1, CatchUp{}, 500 * us},
		{"trace: its mean", memoryTrace(t, 0, 0, 0, 0, 0, 500*ms), 1, CatchUp{}, 50 * ms},
		{"poisson", Poisson{700000, time.Second}, 1, CatchUp{}, 714},
		{"uniform", Uniform{0, 2 * ms}, 1, CatchUp{}, 500 * us},
		{"variable", Variable{{ms, time.Hour}}, 1, CatchUp{}, 500 * us},
		{"another package's", custom{}, 1, CatchUp{}, 500 * ms},
		{"trace of one instant: no rate", memoryTrace(t, ms, ms), 1, CatchUp{}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewRelease(tt.p, tt.shards, tt.c)
			const now = time.Minute
			r.Look(now)
			for k := range time.Duration(10) {
				intended := 10*ms + k
				want := now + k*tt.want
				if tt.want == 0 {
					want = intended
				}
				if at, late := r.Due(intended, now); at != want || late {
					t.Errorf("owed arrival %d may start at %s, %t, want %s", k, at, late, want)
				}
			}
		})
	}
}

func TestReleaseAfterStall(t *testing.T) {
	t.Parallel()
	const rate = 1000
	p := Constant{rate, time.Second}
	stall := [][2]time.Duration{{time.Second, 2 * time.Second}}
	for _, tt := range []struct {
		name   string
		loop   loop
		factor float64
		until  time.Duration // caught up
		peak   int           // most arrivals in 10 ms
	}{
		{"polling", loop{poll: 20 * us, stalls: stall}, 2, 3 * time.Second, 22},
		{"sleeping", loop{latency: 60 * us, stalls: stall}, 2, 3 * time.Second, 22},
		{"slow polling", loop{poll: 700 * us, stalls: stall}, 2, 3 * time.Second, 22},
		{"1.25x", loop{poll: 20 * us, stalls: stall}, 1.25, 6 * time.Second, 13},
		{"stall during catch-up", loop{poll: 20 * us, stalls: append(stall, [2]time.Duration{2500 * ms, 3 * time.Second})}, 2, 4 * time.Second, 22},
		{"many short ones", loop{poll: 20 * us, stalls: append(stall, [2]time.Duration{2100 * ms, 2105 * ms}, [2]time.Duration{2200 * ms, 2205 * ms})}, 2, 3020 * ms, 22},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := tt.loop.run(t, p, 0, 1, CatchUp{Factor: tt.factor}, 7*time.Second)
			if len(list) != 7*rate {
				t.Errorf("%d arrivals, want %d", len(list), 7*rate)
			}
			if most := peak(list); most > tt.peak {
				t.Errorf("%d arrivals in 10 ms, want at most %d", most, tt.peak)
			}
			if got := caughtUp(list); got < tt.until-10*ms || got > tt.until+10*ms {
				t.Errorf("caught up at %s, want %s", got, tt.until)
			}
		})
	}
}

// The parts of a process that stall together add up to the same release.
func TestReleaseShards(t *testing.T) {
	t.Parallel()
	l := loop{poll: 20 * us, stalls: [][2]time.Duration{{time.Second, 2 * time.Second}}}
	var list []start
	for shard := range 4 {
		list = append(list, l.run(t, Constant{2000, time.Second}, shard, 4, CatchUp{}, 4*time.Second)...)
	}
	if most := peak(list); len(list) != 8000 || most > 44 {
		t.Errorf("%d arrivals, at most %d in 10 ms, want 8000 and 44", len(list), most)
	}
	if got := caughtUp(list); got < 2990*ms || got > 3010*ms {
		t.Errorf("caught up at %s, want 3s", got)
	}
}

// A high rate is caught up with although a pass takes many periods.
func TestReleaseHighRate(t *testing.T) {
	t.Parallel()
	l := loop{poll: 100 * us, stalls: [][2]time.Duration{{100 * ms, 200 * ms}}}
	list := l.run(t, Poisson{500000, time.Second}, 0, 1, CatchUp{}, 400*ms)
	if got := caughtUp(list); got < 290*ms || got > 310*ms {
		t.Errorf("caught up at %s, want 300ms", got)
	}
	if most := peak(list); most > 11000 {
		t.Errorf("%d arrivals in 10 ms, want at most 11000", most)
	}
}

// Bursts of the schedule go out as they are, however long the loop slept.
func TestReleaseScheduledBurst(t *testing.T) {
	t.Parallel()
	var offsets []time.Duration
	for at := time.Duration(0); at < 5*time.Second; at += time.Second {
		offsets = append(offsets, slices.Repeat([]time.Duration{at}, 100)...)
	}
	for _, l := range []loop{{poll: 20 * us}, {poll: 900 * us}, {latency: 60 * us}, {latency: 999 * us}} {
		for _, s := range l.run(t, memoryTrace(t, offsets...), 0, 1, CatchUp{}, time.Hour) {
			if s.at-s.intended > max(l.poll, l.latency) {
				t.Fatalf("%+v: arrival of %s started at %s", l, s.intended, s.at)
			}
		}
	}
}

// After it has caught up a burst of the schedule is let through again.
func TestReleaseResumes(t *testing.T) {
	t.Parallel()
	offsets := []time.Duration{0, 10 * ms, 20 * ms, 30 * ms}
	offsets = append(offsets, slices.Repeat([]time.Duration{time.Second}, 97)...)
	list := loop{poll: 20 * us, stalls: [][2]time.Duration{{us, 40 * ms}}}.run(t, memoryTrace(t, offsets...), 0, 1, CatchUp{}, time.Hour)
	// 100 gaps in a second, so 5 ms apart. The stall's three arrivals:
	for i, want := range []time.Duration{40 * ms, 45 * ms, 50 * ms} {
		if got := list[i+1].at; got < want || got > want+20*us {
			t.Errorf("owed arrival %d started at %s, want %s", i+1, got, want)
		}
	}
	for _, s := range list[4:] {
		if s.at-s.intended > 20*us {
			t.Errorf("arrival of %s started at %s", s.intended, s.at)
		}
	}
}

func TestReleaseGap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gap  time.Duration
		owed bool
	}{{500 * us, false}, {ms, false}, {ms + 2, true}, {50 * ms, true}} {
		r := NewRelease(Constant{100000, time.Second}, 1, CatchUp{})
		r.Look(500 * us)
		now := 500*us + tt.gap
		r.Look(now)
		var spaced bool
		for k := range tt.gap / (10 * us) {
			intended := 500*us + 1 + k*10*us
			at, late := r.Due(intended, now)
			spaced = spaced || at != intended
			if late {
				t.Errorf("gap %s: shed", tt.gap)
			}
		}
		if spaced != tt.owed {
			t.Errorf("gap %s: spaced %t, want %t", tt.gap, spaced, tt.owed)
		}
	}
}

func TestReleaseBurst(t *testing.T) {
	t.Parallel()
	l := loop{poll: 100 * us, stalls: [][2]time.Duration{{time.Second, 2 * time.Second}}}
	list := l.run(t, Constant{1000, time.Second}, 0, 1, CatchUp{Burst: true}, 3*time.Second)
	at := 0
	for _, s := range list {
		if s.at == 2*time.Second {
			at++
		}
		if s.late || s.at-s.intended > time.Second {
			t.Fatalf("arrival %+v", s)
		}
	}
	if len(list) != 3000 || at != 1000 { // 1.001 s to 2 s
		t.Errorf("%d arrivals, %d at the end of the stall, want 3000 and 1000", len(list), at)
	}
}

func TestReleaseDrop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c    CatchUp
		want int // shed
	}{
		{CatchUp{Drop: true}, 989}, // 1.001 s to 1.989 s; 1.990 s is 10 ms late
		{CatchUp{Drop: true, Bound: 10 * ms}, 989},
		{CatchUp{Drop: true, Bound: 500 * ms}, 499},
		{CatchUp{Drop: true, Bound: time.Second}, 0},
	} {
		l := loop{poll: 100 * us, stalls: [][2]time.Duration{{time.Second, 2 * time.Second}}}
		list := l.run(t, Constant{1000, time.Second}, 0, 1, tt.c, 3*time.Second)
		shed := 0
		for _, s := range list {
			if s.late {
				shed++
			}
		}
		if shed != tt.want || len(list) != 3000 {
			t.Errorf("%v: %d of %d shed, want %d of 3000", tt.c, shed, len(list), tt.want)
		}
	}
}

// The limiter follows the rate of what is owed, and goes on where the one
// before it stopped.
func TestReleaseSteps(t *testing.T) {
	t.Parallel()
	p := Steps{{Constant{1000, time.Second}, 10 * ms}, {Constant{200, time.Second}, 0}}
	r := NewRelease(p, 1, CatchUp{})
	s := p.Schedule(0, 1, 0)
	r.Look(time.Second)
	want := time.Second
	for k := range 20 {
		_, intended, _ := s.Next()
		switch {
		case k == 0:
		case k < 10:
			want += 500 * us
		default:
			want += 2500 * us
		}
		if at, _ := r.Due(intended, time.Second); at != want {
			t.Errorf("owed arrival %d may start at %s, want %s", k, at, want)
		}
	}
}

// On a ramp a limiter serves 100 ms of the schedule, at the mean rate of them.
func TestReleaseRamp(t *testing.T) {
	t.Parallel()
	p := Ramp{Constant{0, time.Second}, Constant{1000, time.Second}, time.Second}
	r := NewRelease(p, 1, CatchUp{})
	s := For(p, time.Second).Schedule(0, 1, 0)
	r.Look(5 * time.Second)
	last := 5 * time.Second
	limiters := 0
	for k := 0; ; k++ {
		_, intended, ok := s.Next()
		if !ok {
			break
		}
		before := r.limiter
		at, _ := r.Due(intended, 5*time.Second)
		if r.limiter != before {
			limiters++
		}
		tenth := intended / (100 * ms)
		want := time.Second / time.Duration(100+200*tenth) // 2 x (50 + 100*tenth)
		if k > 0 && at-last != want {
			t.Errorf("owed arrival of %s comes %s after the one before, want %s", intended, at-last, want)
		}
		last = at
	}
	if limiters != 10 {
		t.Errorf("%d limiters for 1 s, want 10", limiters)
	}
}

// A ramp down to nothing still has a rate for its last arrivals.
func TestReleaseRampToZero(t *testing.T) {
	t.Parallel()
	p := Ramp{Constant{1000, time.Second}, Constant{}, 30 * ms}
	r := NewRelease(p, 1, CatchUp{})
	r.Look(time.Second)
	r.Due(15*ms, time.Second)
	if at, _ := r.Due(15*ms, time.Second); at != time.Second+ms {
		t.Errorf("the second owed arrival of the middle may start at %s, want 1.001s", at)
	}
}

// Where the rate rises, no arrival starts before it is intended.
func TestReleaseRateRises(t *testing.T) {
	t.Parallel()
	p := Steps{{Constant{10, time.Second}, time.Second}, {Constant{1000, time.Second}, 0}}
	r := NewRelease(p, 1, CatchUp{})
	r.Look(980 * ms)
	r.Look(990 * ms)
	if at, _ := r.Due(985*ms, 990*ms); at != 990*ms {
		t.Errorf("owed arrival may start at %s, want 990ms", at)
	}
	for now := 990 * ms; now <= 1000500*us; now += 500 * us {
		r.Look(now)
	}
	if at, _ := r.Due(time.Second, 1000500*us); at != time.Second {
		t.Errorf("arrival behind it may start at %s, want 1s", at)
	}
}
