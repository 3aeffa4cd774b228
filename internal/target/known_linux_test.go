package target

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// A simulation is a loop without sockets, on a clock of the test's. Its
// connections have no descriptor, so that a reply that is due breaks them:
// what is served counts as abandoned.
type simulation struct {
	*loop
	t testing.TB
}

func simulate(t testing.TB, o Options) simulation {
	t.Helper()
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	return simulation{newLoop(o), t}
}

// request lets a connection with one request come from ip at now.
func (s simulation) request(now time.Duration, ip netip.Addr) {
	s.until(now)
	c := s.take(-1, s.source(ip))
	s.arrived(c)
	s.employ()
}

// until lets the time pass.
func (s simulation) until(now time.Duration) {
	s.real = now
	s.expire(now)
	s.now = now
}

// An offer is what one client sends.
type offer struct {
	source    string
	perSecond float64
	random    bool // Poisson, else at equal distances
}

// run lets clients send for length, and returns what of theirs was served.
func (s simulation) run(length time.Duration, offers ...offer) (served, refused []uint64) {
	s.t.Helper()
	type client struct {
		offer
		ip          netip.Addr
		begin, next time.Duration
		gaps        float64 // between its requests so far, in mean gaps
		random      *rand.Rand
		from        Counters
	}
	end := s.now + length
	clients := make([]client, len(offers))
	for i, o := range offers {
		c := &clients[i]
		*c = client{offer: o, ip: netip.MustParseAddr(o.source), random: rand.New(rand.NewPCG(uint64(i), 3))}
		c.begin = s.now + time.Duration(i)*time.Microsecond
		c.next = c.begin
		c.from = s.source(c.ip).Counters
	}
	for {
		first := &clients[0]
		for i := range clients {
			if clients[i].next < first.next {
				first = &clients[i]
			}
		}
		if first.next >= end {
			break
		}
		s.request(first.next, first.ip)
		gap := 1.0
		if first.offer.random {
			gap = first.random.ExpFloat64()
		}
		first.gaps += gap
		first.next = first.begin + time.Duration(first.gaps*float64(time.Second)/first.perSecond)
	}
	s.until(end)
	for _, c := range clients {
		now := s.source(c.ip).Counters
		served = append(served, now.Abandoned-c.from.Abandoned)
		refused = append(refused, now.Resets-c.from.Resets)
	}
	return served, refused
}

func wantShares(t *testing.T, served []uint64, margin float64, want ...float64) {
	t.Helper()
	var sum uint64
	for _, n := range served {
		sum += n
	}
	for i, n := range served {
		if got := float64(n) / float64(sum); math.Abs(got-want[i]) > margin {
			t.Errorf("client %d: share %.4f of %d, want %.4f within %v", i, got, sum, want[i], margin)
		}
	}
}

// jain is the fairness index of Jain, Chiu and Hawe, DEC-TR-301 (1984).
func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}

// Three clients that ask for more than there is: the answers that the fairness
// experiment is checked against.
func TestKnownShares(t *testing.T) {
	t.Parallel()
	shares := func(a, b, c int) []Share {
		addr := netip.MustParseAddr
		return []Share{{addr("127.0.0.2"), a}, {addr("127.0.0.3"), b}, {addr("127.0.0.4"), c}}
	}
	clients := func(random bool, a, b, c float64) []offer {
		return []offer{{"127.0.0.2", a, random}, {"127.0.0.3", b, random}, {"127.0.0.4", c, random}}
	}
	const warm, length = time.Second, 20 * time.Second
	for _, tt := range []struct {
		name   string
		o      Options
		offers []offer
		total  float64 // served per second
		margin float64 // of shares
		want   []float64
	}{
		{"1:3:6, workers", Options{Shares: shares(1, 3, 6), Workers: 2, Service: Constant(5 * time.Millisecond)},
			clients(false, 500, 500, 500), 400, 0.0005, []float64{0.1, 0.3, 0.6}},
		{"1:3:6, capacity", Options{Shares: shares(1, 3, 6), Capacity: 1000},
			clients(false, 2000, 2000, 2000), 1000, 0.0005, []float64{0.1, 0.3, 0.6}},
		{"1:3:6, random arrivals", Options{Shares: shares(1, 3, 6), Capacity: 1000},
			clients(true, 2000, 2000, 2000), 1000, 0.0005, []float64{0.1, 0.3, 0.6}},
		{"1:3:6, random services", Options{Shares: shares(1, 3, 6), Workers: 2, Service: Exponential(5 * time.Millisecond), Seed: 1},
			clients(false, 500, 500, 500), 400, 0.001, []float64{0.1, 0.3, 0.6}},
		{"1:3:6, collapsed", Options{Shares: shares(1, 3, 6), Capacity: 1000, Collapse: Collapse{Kept: 0.5, Hold: time.Second}},
			clients(false, 2000, 2000, 2000), 500, 0.001, []float64{0.1, 0.3, 0.6}},
		{"equal", Options{Shares: shares(1, 1, 1), Capacity: 1000},
			clients(false, 500, 500, 2000), 1000, 0.0005, []float64{1. / 3, 1. / 3, 1. / 3}},
		// Who asks for less than its share gets it all, the others share what it leaves.
		{"1:3:6, one asks for little", Options{Shares: shares(1, 3, 6), Capacity: 1000},
			clients(false, 2000, 2000, 200), 1000, 0.0005, []float64{0.2, 0.6, 0.2}},
		// The last source is not listed and weighs 1.
		{"unlisted", Options{Shares: shares(1, 3, 6)[1:], Capacity: 1000},
			clients(false, 2000, 2000, 2000), 1000, 0.0005, []float64{0.1, 0.3, 0.6}},
		// A common queue gives to each what it asks for. At equal distances the
		// arrivals of one client could always be the one that finds room.
		{"common queue", Options{Capacity: 1000, Queue: 32, Overload: Reset},
			clients(true, 500, 500, 2000), 1000, 0.01, []float64{1. / 6, 1. / 6, 4. / 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, tt.o)
			s.run(warm, tt.offers...)
			served, refused := s.run(length, tt.offers...)
			wantShares(t, served, tt.margin, tt.want...)
			var sum uint64
			for _, n := range served {
				sum += n
			}
			bound := 0.001
			if tt.o.Service.exponential {
				bound = 0.03 // their scatter: 1/sqrt(8000) is 1.1 %
			}
			if got := float64(sum) / length.Seconds(); got < tt.total*(1-bound) || got > tt.total*(1+bound) {
				t.Errorf("%.1f/s served, want %v/s", got, tt.total)
			}
			if !tt.o.Service.exponential && tt.o.Collapse.Kept == 0 {
				st := s.stats()
				if rate := st.Rate(); rate < 0.999*tt.total || rate > 1.001*tt.total {
					t.Errorf("its own word is %.1f/s, want %v/s", rate, tt.total)
				}
			}
			for i, n := range refused {
				if want := tt.offers[i].perSecond > 1000; want && n == 0 {
					t.Errorf("client %d: none refused, want some", i)
				}
			}
		})
	}
}

// The two servers of 1000/s that the fairness index is checked against.
func TestKnownJain(t *testing.T) {
	t.Parallel()
	offers := []offer{{"127.0.0.2", 500, true}, {"127.0.0.3", 500, true}, {"127.0.0.4", 2000, true}}
	const length = 60 * time.Second
	for _, tt := range []struct {
		name string
		o    Options
		x    [3]float64 // served / what is due: 1000/3
		jain float64
	}{
		{"common queue", Options{Capacity: 1000, Queue: 32, Overload: Reset}, [3]float64{0.5, 0.5, 2}, 2. / 3},
		{"equal shares", Options{Capacity: 1000, Shares: []Share{{netip.MustParseAddr("127.0.0.2"), 1}}}, [3]float64{1, 1, 1}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, tt.o)
			s.run(time.Second, offers...)
			served, _ := s.run(length, offers...)
			x := make([]float64, len(served))
			for i, n := range served {
				x[i] = float64(n) / length.Seconds() / (1000. / 3)
				if math.Abs(x[i]-tt.x[i]) > 0.02*tt.x[i] {
					t.Errorf("client %d: x %.3f, want %v within 2 %%", i, x[i], tt.x[i])
				}
			}
			if j := jain(x); math.Abs(j-tt.jain) > 0.005 {
				t.Errorf("Jain's index %.4f, want %.4f", j, tt.jain)
			}
		})
	}
}

// What a server of set capacity serves, by what it is offered.
func TestKnownCapacity(t *testing.T) {
	t.Parallel()
	const warm, length = 2 * time.Second, 10 * time.Second
	collapse := Collapse{Kept: 0.5, Hold: 5 * time.Second}
	for _, tt := range []struct {
		name            string
		o               Options
		offered         float64
		served, refused float64 // per second
	}{
		{"100/s, below", Options{Capacity: 100}, 99, 99, 0},
		{"100/s, above", Options{Capacity: 100}, 150, 100, 0},
		{"400/s, above, a queue", Options{Capacity: 400, Queue: 10, Overload: Reset}, 500, 400, 100},
		{"3000/s, above, no queue", Options{Capacity: 3000, Queue: NoQueue, Overload: Reset}, 4000, 3000, 1000},
		{"with a service time", Options{Capacity: 400, Service: Constant(100 * time.Millisecond), Queue: 10, Overload: Reset}, 500, 400, 100},
		{"collapse, at the capacity", Options{Capacity: 400, Collapse: collapse}, 400, 400, 0},
		{"collapse, 1.5 times", Options{Capacity: 400, Collapse: collapse}, 600, 300, 300},
		{"collapse, twice", Options{Capacity: 400, Collapse: collapse}, 800, 200, 600},
		{"collapse, thrice", Options{Capacity: 400, Collapse: collapse}, 1200, 200, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, tt.o)
			o := offer{source: "127.0.0.2", perSecond: tt.offered}
			s.run(warm, o)
			served, refused := s.run(length, o)
			if got, want := float64(served[0]), tt.served*length.Seconds(); math.Abs(got-want) > 2 {
				t.Errorf("%v served, want %v", got, want)
			}
			if got, want := float64(refused[0]), tt.refused*length.Seconds(); math.Abs(got-want) > 2 {
				t.Errorf("%v refused, want %v", got, want)
			}
		})
	}
}

// The profile of an overload and back: kept at twice the capacity, lower on the
// way down than on the way up, whole again when it was calm for long enough.
func TestKnownCollapse(t *testing.T) {
	t.Parallel()
	const r = 400
	s := simulate(t, Options{Capacity: r, Collapse: Collapse{Kept: 0.5, Hold: 5 * time.Second}})
	for i, step := range []struct {
		multiple float64
		length   time.Duration
		served   float64 // multiple of r, over the second half
	}{
		{1, 4 * time.Second, 1},
		{1.5, 4 * time.Second, 0.75},
		{2, 4 * time.Second, 0.5},
		{3, 4 * time.Second, 0.5},
		{2, 4 * time.Second, 0.5},
		{1.5, 4 * time.Second, 0.5},
		{1, 6 * time.Second, 0.5}, // calm from its first second on
		{1, 4 * time.Second, 1},
		{0.5, 4 * time.Second, 0.5},
	} {
		o := offer{source: "127.0.0.2", perSecond: step.multiple * r}
		s.run(step.length/2, o)
		served, _ := s.run(step.length/2, o)
		if got, want := float64(served[0]), step.served*r*step.length.Seconds()/2; math.Abs(got-want) > 12 {
			t.Errorf("step %d: %v served, want %v", i, got, want)
		}
	}
	if st := s.stats(); st.Collapses != 1 || st.Lowest != r/2 || st.Capacity != r {
		t.Errorf("%d collapses of %v/s, lowest %v/s; want 1, %v/s, %v/s", st.Collapses, st.Capacity, st.Lowest, r, r/2)
	}
}

// pass lets time pass in a server until its next timer is due.
func pass(s *Server) {
	s.loop.mu.Lock()
	defer s.loop.mu.Unlock()
	s.loop.shift(s.loop.clock() - s.loop.timers[0].at)
	s.loop.p.Wake()
}

// Each source has its own room, and what exceeds it is reset.
func TestQueueOfEachSource(t *testing.T) {
	t.Parallel()
	shares := []Share{{netip.MustParseAddr("127.0.0.2"), 1}, {netip.MustParseAddr("127.0.0.3"), 3}}
	s, _ := busy(t, Options{Queue: 2, Shares: shares}) // the first request is that of 127.0.0.1
	requests := uint64(1)
	for _, source := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.1"} {
		for i := range 5 {
			c := dialFrom(t, s, source)
			c.send(get)
			requests++
			await(t, s, "a request", func(st Stats) bool { return st.Requests == requests })
			if i >= 2 {
				c.wantEnd(syscall.ECONNRESET)
			}
		}
	}
	st := s.Stop()
	for ip, c := range st.Sources {
		if c.Rejected != 3 || c.Resets != 3 {
			t.Errorf("%v: rejected %d, reset %d; want 3, 3", ip, c.Rejected, c.Resets)
		}
	}
	if len(st.Sources) != 3 || st.PeakWaiting != 6 {
		t.Errorf("%d sources, peak %d; want 3, 6", len(st.Sources), st.PeakWaiting)
	}
}

// Over sockets, too, those who wait are served by their shares, and those who
// went away take nobody's turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	shares := []Share{{netip.MustParseAddr("127.0.0.2"), 1}, {netip.MustParseAddr("127.0.0.3"), 3}, {netip.MustParseAddr("127.0.0.4"), 6}}
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"workers", Options{Service: Constant(time.Hour), Workers: 1}},
		{"capacity", Options{Capacity: minCapacity}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.o.Shares = shares
			s := start(t, tt.o)
			first := dial(t, s)
			first.send(get)
			requests := uint64(1)
			await(t, s, "a request", func(st Stats) bool { return st.Requests == 1 })
			for _, share := range shares {
				for i := range 14 {
					c := dialFrom(t, s, share.Source.String())
					c.send(get)
					requests++
					await(t, s, "a request", func(st Stats) bool { return st.Requests == requests })
					if i%7 == 0 {
						c.reset()
						await(t, s, "the connection's end", func(st Stats) bool { return st.Abandoned == (requests-2)/7+1 })
					}
				}
			}
			// The worker is busy with the first request; the limiter has answered
			// it already.
			replies := s.Stats().Replies
			for range 21 - int(replies) {
				pass(s)
				replies++
				await(t, s, "a reply", func(st Stats) bool { return st.Replies == replies })
			}
			st := s.Stop()
			for i, want := range []uint64{2, 6, 12} {
				if got := st.Sources[shares[i].Source].Replies; got != want {
					t.Errorf("%v: %d replies of 20, want %d", shares[i], got, want)
				}
			}
		})
	}
}

// Those who wait for a permission are served without any other event.
func TestCapacityServesWhatWaits(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Capacity: 500}, {Capacity: 500, Service: Constant(time.Millisecond)}, {Capacity: 500, Close: true}} {
		s := start(t, o)
		var clients []*client
		for range 20 {
			c := dial(t, s)
			c.send(get)
			clients = append(clients, c)
		}
		for _, c := range clients {
			c.wantStatus(200)
		}
		if !o.Close {
			c := clients[0]
			c.send(get + get + get)
			for range 3 {
				c.wantStatus(200)
			}
		}
		st := s.Stop()
		if want := st.Requests; st.Replies != want || st.Rejected != 0 || st.Waiting != 0 {
			t.Errorf("%d replies, %d rejected, %d wait; want %d, 0, 0", st.Replies, st.Rejected, st.Waiting, want)
		}
	}
}
