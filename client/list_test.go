package client

import (
	"bufio"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// numbered returns requests for /0, /1 and so on.
func numbered(t *testing.T, n int) []*Request {
	t.Helper()
	var list []*Request
	for i := range n {
		list = append(list, request(t, RequestOptions{Host: "test", URI: fmt.Sprintf("/%d", i)}))
	}
	return list
}

// A journal holds what a server was asked for, connection by connection.
type journal struct {
	mu    sync.Mutex
	conns [][]string
}

// serve starts a server that keeps the journal.
func (j *journal) serve(t *testing.T) netip.AddrPort {
	t.Helper()
	return serve(t, func(c net.Conn, r *bufio.Reader) {
		j.mu.Lock()
		own := len(j.conns)
		j.conns = append(j.conns, nil)
		j.mu.Unlock()
		for {
			line, err := r.ReadString('\n')
			if err != nil || !readRequest(r) {
				return
			}
			j.mu.Lock()
			j.conns[own] = append(j.conns[own], strings.Fields(line)[1])
			j.mu.Unlock()
			c.Write([]byte(plainReply))
		}
	})
}

// text returns what the connections asked for, in the order of their names.
func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []string
	for _, c := range j.conns {
		all = append(all, strings.Join(c, " "))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestListOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		list     List
		arrivals uint64
		want     string // by connection
		lost     uint64
	}{
		{"a call a connection", List{}, 5, "/0, /0, /1, /1, /2", 0},
		{"calls", List{Calls: 2}, 3, "/0 /1, /1 /2, /2 /0", 0},
		{"bursts", List{Calls: 4, Burst: 3}, 3, "/0 /1 /2 /0, /1 /2 /0 /1, /2 /0 /1 /2", 0},
		{"more calls than the list has", List{Calls: 7}, 1, "/0 /1 /2 /0 /1 /2 /0", 0},
		{"once", List{Once: true}, 3, "/0, /1, /2", 0},
		{"once, short at the end", List{Once: true, Calls: 2}, 2, "/0 /1, /2", 0},
		{"once, a short burst at the end", List{Once: true, Calls: 2, Burst: 2}, 2, "/0 /1, /2", 0},
		{"once, short at the beginning", List{Once: true, Calls: 9}, 1, "/0 /1 /2", 0},
		{"picked", List{Calls: 2, Pick: func(n uint64) uint64 { return 2 * n }}, 2, "/0 /2, /1 /0", 0},
	} {
		for _, loops := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/loops=%d", tt.name, loops), func(t *testing.T) {
				t.Parallel()
				var j journal
				o := plan(t, to(j.serve(t)), tt.arrivals, Calls{})
				list := tt.list
				list.Requests = numbered(t, 3)
				o.Loops, o.Streams[0].Workload = loops, &list
				a := do(t, o).All
				if have := j.text(); have != tt.want {
					t.Errorf("asked for %s; want %s", have, tt.want)
				}
				if calls := uint64(strings.Count(tt.want, "/")); a.Completed() != tt.arrivals || a.Planned != calls || a.Replied != calls || a.LostCalls != 0 {
					t.Errorf("outcomes %s, %d calls planned, %d replied, %d lost: want %d ok, %d, %d, none", outcomes(&a), a.Planned, a.Replied, a.LostCalls, tt.arrivals, calls, calls)
				}
			})
		}
	}
}

// Machines of a fleet share the list as loops do.
func TestListOnMachines(t *testing.T) {
	t.Parallel()
	var j journal
	addr := to(j.serve(t))
	for machine := range 2 {
		o := plan(t, addr, 4, Calls{})
		o.Machine, o.Machines, o.Streams[0].Workload = machine, 2, &List{Requests: numbered(t, 7), Calls: 2, Once: true}
		do(t, o)
	}
	if have, want := j.text(), "/0 /1, /2 /3, /4 /5, /6"; have != want {
		t.Errorf("asked for %s; want %s", have, want)
	}
}

func TestListOnAPool(t *testing.T) {
	t.Parallel()
	var j journal
	o := plan(t, to(j.serve(t)), 9, Calls{})
	o.Streams[0].Pool, o.Streams[0].Workload = 1, &List{Requests: numbered(t, 4)}
	do(t, o)
	if have, want := j.text(), "/0 /1 /2 /3 /0 /1 /2 /3 /0"; have != want {
		t.Errorf("asked for %s; want %s", have, want)
	}
}

func TestListArrivals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list, calls int
		once        bool
		want        uint64
	}{
		{3, 0, false, 0}, {3, 0, true, 3}, {3, 1, true, 3}, {3, 2, true, 2}, {4, 2, true, 2}, {3, 9, true, 1}, {1, 1, true, 1},
	} {
		w := List{Requests: numbered(t, tt.list), Calls: tt.calls, Once: tt.once}
		if have := w.Arrivals(); have != tt.want {
			t.Errorf("list of %d, %d calls, once %v: %d arrivals, want %d", tt.list, tt.calls, tt.once, have, tt.want)
		}
	}
}

// Beyond the end of a list an arrival has nothing to do.
func TestListBeyondItsEnd(t *testing.T) {
	t.Parallel()
	w := List{Requests: numbered(t, 3), Calls: 2, Once: true}
	for _, index := range []uint64{2, 3, 1 << 40} {
		s := Session{Index: index}
		w.Begin(index, &s)
		if _, _, ok := w.Next(&s, nil); ok || s.Planned != 0 {
			t.Errorf("arrival %d: planned %d, a request %v; want none", index, s.Planned, ok)
		}
	}
}

func TestListPauses(t *testing.T) {
	t.Parallel()
	w := List{Requests: numbered(t, 3), Calls: 3, Burst: 2, Pause: 7}
	s := Session{}
	w.Begin(0, &s)
	for i, want := range []struct {
		last *Reply
		wait int
		more bool
	}{{nil, 0, true}, {nil, 0, false}, {&Reply{Status: 200}, 7, false}} {
		if _, wait, ok := w.Next(&s, want.last); !ok || int(wait) != want.wait || s.More != want.more {
			t.Errorf("call %d: wait %d, more %v, ok %v; want %d, %v", i, wait, s.More, ok, want.wait, want.more)
		}
	}
}

// What httperf 0.9.0 asked a server for, as it was recorded.
func TestWalkIsHttperfs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		files           uint64
		step            float64
		client, clients int
		want            string
	}{
		{10, 0, 0, 1, "0 0 0 0 0 0 0 0"},
		{10, 0, 1, 3, "1 1 1 1 1 1 1 1"},
		{10, .25, 0, 1, "0 0 0 1 1 1 1 2 2 2 2 3 3 3"},
		{10, .25, 1, 3, "1 1 1 4 4 4 4 7 7 7 7 0 0 0"},
		{10, .3, 0, 1, "0 0 0 1 1 1 2 2 2 3 3 3 3 4"},
		{10, 1, 0, 1, "1 2 3 4 5 6 7 8 9 0 1 2 3 4"},
		{10, 1, 1, 3, "4 7 0 3 6 9 2 5 8 1 4 7 0 3"},
		{10, 1, 2, 3, "5 8 1 4 7 0 3 6 9 2 5 8 1 4"},
		{100, 1, 1, 3, "4 7 10 13 16 19 22 25 28 31"},
		{11, 1, 0, 1, "1 2 3 4 5 6 7 8 9 10 0 1 2 3"},
		{3, .5, 0, 1, "0 1 1 2 2 0 0 1 1 2 2 0"},
		{1000, .1, 0, 1, "0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1 2"},
	} {
		pick := Walk(tt.step, tt.client, tt.clients)
		var have []string
		for n := range len(strings.Fields(tt.want)) {
			have = append(have, fmt.Sprint(pick(uint64(n))%tt.files))
		}
		if got := strings.Join(have, " "); got != tt.want {
			t.Errorf("%d files, step %v, client %d/%d: %s; want %s", tt.files, tt.step, tt.client, tt.clients, got, tt.want)
		}
	}
}

// Walk against its definition in exact numbers.
func TestWalkIsExact(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "0.1", "0.29", "0.333333333333", "0.5", "0.7", "0.999999999999", "0.000000000001", "1"} {
		exact, _ := new(big.Rat).SetString(text)
		step, _ := exact.Float64()
		pick := Walk(step, 2, 5)
		for _, from := range []uint64{0, 1e6 - 3, 1<<30 - 3, 1<<53 - 3, 1e12 - 3, math.MaxUint64/5 - 300} {
			for n := from; n < from+200; n++ {
				moved := new(big.Rat).Mul(exact, new(big.Rat).SetInt(new(big.Int).SetUint64(n+1)))
				floor := new(big.Int).Quo(moved.Num(), moved.Denom()).Uint64()
				if have, want := pick(n), 2+5*floor; have != want {
					t.Fatalf("step %s, call %d: %d, want %d", text, n, have, want)
				}
			}
		}
	}
}
