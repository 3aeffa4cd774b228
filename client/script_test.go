package client

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/sampler"
)

// scripts are the sessions of the tests below.
func scripts(t *testing.T) []ScriptSession {
	t.Helper()
	var n int
	burst := func(calls int, think time.Duration) Burst {
		b := Burst{Think: think}
		for range calls {
			b.Requests = append(b.Requests, request(t, RequestOptions{URI: fmt.Sprintf("/%d", n), Host: "test"}))
			n++
		}
		return b
	}
	return []ScriptSession{
		{Bursts: []Burst{burst(1, 0)}},
		{Bursts: []Burst{burst(4, 3), burst(1, 5), burst(2, 0), burst(3, 9)}},
		{Bursts: []Burst{burst(2, 0), burst(1, 0)}},
	}
}

// Each call of a script: its request, the think time before it, and whether the
// next one goes with it.
func TestScriptSteps(t *testing.T) {
	t.Parallel()
	w := NewScript(scripts(t))
	for _, tt := range []struct {
		index uint64
		want  string // "+" goes with the next one
		seq   uint64
	}{
		{0, "/0", 0},
		{1, "/1 /2+ /3+ /4 3:/5 5:/6 /7 /8 /9+ /10", 10},
		{2, "/11 /12 /13", 20},
		{3, "/0", 30},
		{5, "/11 /12 /13", 50},
		{3<<40 + 2, "/11 /12 /13", 10 * (3<<40 + 2)},
	} {
		s := Session{Index: tt.index}
		w.Begin(tt.index, &s)
		var have []string
		var last *Reply
		for {
			req, wait, ok := w.Next(&s, last)
			if !ok {
				break
			}
			text := req.URI()
			if wait != 0 {
				text = fmt.Sprintf("%d:%s", wait, text)
			}
			last = &Reply{Status: 200}
			if s.More {
				text += "+"
				last = nil
			}
			have = append(have, text)
		}
		if got := strings.Join(have, " "); got != tt.want || s.Planned != len(have) || s.Seq != tt.seq {
			t.Errorf("arrival %d: %s, %d planned, numbers from %d; want %s, %d, %d", tt.index, got, s.Planned, s.Seq, tt.want, strings.Count(tt.want, "/"), tt.seq)
		}
		if _, _, ok := w.Next(&s, last); ok {
			t.Errorf("arrival %d: a request after the end", tt.index)
		}
	}
}

func TestScriptsOnTheWire(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, loops := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/loops=%d", e.name, loops), func(t *testing.T) {
				t.Parallel()
				s := &site{}
				o := e.on(sessions(t, to(s.serve(t, e)), 7, Calls{}, Sessions{MaxConns: 1}))
				o.Loops, o.Streams[0].Workload = loops, NewScript(scripts(t))
				a := do(t, o).All
				var have []string
				s.mu.Lock()
				for _, c := range s.byConn {
					have = append(have, strings.Join(c, " "))
				}
				s.mu.Unlock()
				slices.Sort(have)
				want := []string{"/0", "/0", "/0", "/1 /2 /3 /4 /5 /6 /7 /8 /9 /10", "/1 /2 /3 /4 /5 /6 /7 /8 /9 /10", "/11 /12 /13", "/11 /12 /13"}
				if !slices.Equal(have, want) {
					t.Errorf("asked for %q, want %q", have, want)
				}
				if a.Completed() != 7 || a.Planned != 29 || a.Replied != 29 || !slices.Equal(a.Lengths, sampler.Lengths{0, 3, 0, 2, 0, 0, 0, 0, 0, 0, 2}) {
					t.Errorf("outcomes %s, replied %d of %d, lengths %v: want 7 ok, 29 of 29, three of 1, two of 3, two of 10", outcomes(&a), a.Replied, a.Planned, a.Lengths)
				}
			})
		}
	}
}

// The calls of a burst after its first are under way at once, the first is alone.
func TestScriptBurstsAtOnce(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			open, most := 0, map[string]int{}
			var asked sync.WaitGroup
			asked.Add(3)
			s := &site{answer: func(_ int, uri string) string {
				mu.Lock()
				open++
				most[uri] = open
				mu.Unlock()
				if uri != "/lead" {
					asked.Done()
					asked.Wait()
				}
				mu.Lock()
				open--
				mu.Unlock()
				return plainReply
			}}
			o := e.on(sessions(t, to(s.serve(t, e)), 1, Calls{}, Sessions{MaxConns: 3, MaxPiped: 1}))
			o.Streams[0].Workload = gets(t, RequestOptions{}, "/lead /a /b /c")
			a := do(t, o).All
			mu.Lock()
			defer mu.Unlock()
			if a.Completed() != 1 || a.Replied != 4 || most["/lead"] != 1 || max(most["/a"], most["/b"], most["/c"]) != 3 {
				t.Errorf("outcomes %s, replied %d, under way with each %v: want 1 ok, 4, the first alone, three then", outcomes(&a), a.Replied, most)
			}
		})
	}
}

// Calls of several arrivals never have the same number.
func TestScriptNumbers(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := &site{}
			req := request(t, RequestOptions{URI: "/{seq}", Host: "test", Expand: &Expand{}})
			o := e.on(plan(t, to(s.serve(t, e)), 4, Calls{}))
			o.Streams[0].Workload = NewScript([]ScriptSession{
				{Bursts: []Burst{{Requests: []*Request{req, req, req}}}},
				{Bursts: []Burst{{Requests: []*Request{req}}, {Requests: []*Request{req}}}},
			})
			do(t, o)
			s.mu.Lock()
			slices.Sort(s.visits)
			s.mu.Unlock()
			s.check(t, "/0, /1, /10, /2, /3, /4, /6, /7, /8, /9")
		})
	}
}
