package client

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"httpgen/sampler"
)

// sessions returns a plan of n sessions.
func sessions(t *testing.T, to Target, n uint64, calls Calls, s Sessions) Options {
	t.Helper()
	calls.Lead = true
	o := plan(t, to, n, calls)
	o.Streams[0].Sessions = &s
	return o
}

const (
	closingReply = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
	busyReply    = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno"
)

func TestSessionsSurviveClosedConnections(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, tt := range []struct {
			name  string
			s     script
			calls Calls
		}{
			{"announced", once(closingReply), Calls{Calls: 4}},
			{"not announced", once(plainReply), Calls{Calls: 4, Pause: 30 * time.Millisecond}},
			{"not announced, at once", once(plainReply), Calls{Calls: 4}},
			{"until the end of the stream", once("HTTP/1.1 200 OK\r\n\r\nhi"), Calls{Calls: 4}},
			{"in a burst", onceForBurst(closingReply), Calls{Calls: 4, Burst: 4}},
			{"in a burst, not announced", onceForBurst(plainReply), Calls{Calls: 4, Burst: 4}},
		} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				o := sessions(t, to(e.serve(t, tt.s)), 10, tt.calls, Sessions{MaxConns: 1})
				a := do(t, e.on(o)).All
				if a.Completed() != 10 || a.Replies != 40 || a.LostCalls != 0 {
					t.Errorf("outcomes %s, replies %d, lost calls %d: want 10 ok, 40, 0", outcomes(&a), a.Replies, a.LostCalls)
				}
				if a.SessionConns < 40 {
					t.Errorf("%d connections of sessions, want one a call at least", a.SessionConns)
				}
				if want := (sampler.Lengths{0, 0, 0, 0, 10}); !slices.Equal(a.Lengths, want) {
					t.Errorf("lengths %v, want %v", a.Lengths, want)
				}
			})
		}
	}
}

func TestSessionsDoNotRepeatWhatMayHaveHappened(t *testing.T) {
	t.Parallel()
	post := request(t, RequestOptions{Method: "POST", Host: "test"})
	o := sessions(t, to(serve(t, onceForBurst(closingReply))), 3, Calls{Request: post, Calls: 3, Burst: 3}, Sessions{})
	o.Streams[0].Workload.(*Calls).Lead = false
	a := do(t, o).All
	if a.Outcomes[sampler.ClosedEarly] != 3 || a.Retries != 0 || a.Requests != 9 {
		t.Errorf("outcomes %s, retries %d, requests %d: want 3 closed_early, 0, 9", outcomes(&a), a.Retries, a.Requests)
	}
}

func TestSessionsSpreadBurstsOverConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		s                Sessions
		conns, atOneTime int
	}{
		{"pipelined on one", Sessions{}, 1, 6},
		{"a connection a call", Sessions{MaxConns: 8, MaxPiped: 1}, 6, 1},
		{"bounded", Sessions{MaxConns: 2, MaxPiped: 2}, 2, 2},
		{"first fit", Sessions{MaxConns: 4, MaxPiped: 4}, 2, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			conns, most := 0, 0
			addr := serve(t, func(c net.Conn, r *bufio.Reader) {
				mu.Lock()
				conns++
				mu.Unlock()
				for readRequest(r) {
					n := 1
					// What is pipelined comes in one segment.
					for r.Buffered() > 0 && readRequest(r) {
						n++
					}
					mu.Lock()
					most = max(most, n)
					mu.Unlock()
					for range n {
						c.Write([]byte(plainReply))
					}
				}
			})
			a := do(t, sessions(t, to(addr), 1, Calls{Calls: 7, Burst: 7}, tt.s)).All
			if a.Completed() != 1 || a.Replies != 7 {
				t.Errorf("outcomes %s, replies %d: want 1 ok, 7", outcomes(&a), a.Replies)
			}
			mu.Lock()
			defer mu.Unlock()
			if conns != tt.conns || most > tt.atOneTime || int(a.SessionConns) != tt.conns {
				t.Errorf("%d connections (%d by our count), up to %d calls at a time: want %d, no more than %d", conns, a.SessionConns, most, tt.conns, tt.atOneTime)
			}
		})
	}
}

// failFirst answers the first n requests of all connections with busyReply.
func failFirst(n int) script {
	var mu sync.Mutex
	return func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			mu.Lock()
			reply := plainReply
			if n--; n >= 0 {
				reply = busyReply
			}
			mu.Unlock()
			c.Write([]byte(reply))
		}
	}
}

func TestFailureStatus(t *testing.T) {
	t.Parallel()
	busy := func(status int) bool { return status == 503 }
	for _, e := range engines {
		for _, tt := range []struct {
			name              string
			s                 Sessions
			failures          int
			ok, bad, retries  uint64
			replies, lost     uint64
			planned, requests uint64
		}{
			{"fails the session", Sessions{Fail: busy}, 1, 4, 1, 0, 13, 2, 15, 13},
			{"is tried again", Sessions{Fail: busy, Retry: true}, 2, 5, 0, 2, 17, 0, 17, 17},
			{"but not for ever", Sessions{Fail: busy, Retry: true}, 1000, 0, 5, 50, 55, 10, 65, 55},
		} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				o := sessions(t, to(e.serve(t, failFirst(tt.failures))), 5, Calls{Calls: 3}, tt.s)
				a := do(t, e.on(o)).All
				if a.Completed() != tt.ok || a.Outcomes[sampler.UnexpectedStatus] != tt.bad || a.Retries != tt.retries {
					t.Errorf("outcomes %s, retries %d: want %d ok, %d unexpected_status, %d", outcomes(&a), a.Retries, tt.ok, tt.bad, tt.retries)
				}
				if a.Replies != tt.replies || a.LostCalls != tt.lost || a.Planned != tt.planned || a.Requests != tt.requests {
					t.Errorf("replies %d, lost calls %d, planned %d, requests %d: want %d, %d, %d, %d", a.Replies, a.LostCalls, a.Planned, a.Requests, tt.replies, tt.lost, tt.planned, tt.requests)
				}
			})
		}
	}
}

func TestRetryAfterLostConnections(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := 0
	// Every other connection is closed instead of answered.
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		mu.Lock()
		n++
		bad := n%2 == 1
		mu.Unlock()
		if readRequest(r) && !bad {
			c.Write([]byte(closingReply))
		}
	})
	a := do(t, sessions(t, to(addr), 1, Calls{Calls: 4}, Sessions{Retry: true})).All
	if a.Completed() != 1 || a.Retries != 4 || a.Requests != 8 || a.Attempted != 8 {
		t.Errorf("outcomes %s, retries %d, requests %d, connections %d: want 1 ok, 4, 8, 8", outcomes(&a), a.Retries, a.Requests, a.Attempted)
	}
}

func TestRetryEnds(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			a := do(t, e.on(sessions(t, to(closedPort(t)), 3, Calls{Calls: 2}, Sessions{Retry: true}))).All
			if a.Outcomes[sampler.ConnectRefused] != 3 || a.Attempted != 3*(1+maxFailures) || a.Unsent != 6 {
				t.Errorf("outcomes %s, %d connections, %d calls not sent: want 3 connect_refused, %d, 6", outcomes(&a), a.Attempted, a.Unsent, 3*(1+maxFailures))
			}
		})
	}
}

func TestSessionFailsAsOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		timeouts Timeouts
		want     sampler.Class
	}{
		{"reply", Timeouts{Reply: 100 * time.Millisecond}, sampler.ReplyTimeout},
		{"deadline", Timeouts{Deadline: 100 * time.Millisecond}, sampler.Deadline},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// The first call of a connection is answered, unless it is to be /silent.
			addr := serve(t, func(c net.Conn, r *bufio.Reader) {
				first, _ := r.ReadString('\n')
				readRequest(r)
				if first != "GET /silent HTTP/1.1\r\n" {
					c.Write([]byte(plainReply))
				}
				readRequest(r)
			})
			get := func(uri string) *Request { return request(t, RequestOptions{URI: uri, Host: "test"}) }
			o := sessions(t, to(addr), 2, Calls{}, Sessions{MaxPiped: 1})
			o.Streams[0].Timeouts = tt.timeouts
			o.Streams[0].Workload = NewScript([]ScriptSession{{Bursts: []Burst{{Requests: []*Request{get("/a")}}, {Requests: []*Request{get("/silent"), get("/c"), get("/d")}}}}})
			a := do(t, o).All
			if a.Outcomes[tt.want] != 2 || a.Replied != 2 || a.Planned != 8 || !slices.Equal(a.Lengths, sampler.Lengths{0, 2}) {
				t.Errorf("outcomes %s, replied %d of %d, lengths %v: want 2 %v, 2 of 8, two of length 1", outcomes(&a), a.Replied, a.Planned, a.Lengths, tt.want)
			}
		})
	}
}

func TestSessionsUnfinished(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		c.Write([]byte(plainReply))
		readRequest(r)
		readRequest(r)
	})
	o := sessions(t, to(addr), 3, Calls{Calls: 5, Burst: 5}, Sessions{MaxConns: 2, MaxPiped: 2})
	o.Streams[0].Timeouts = Timeouts{}
	o.Drain = 200 * time.Millisecond
	a := do(t, o).All
	if a.Unfinished != 3 || a.Planned != 15 || a.Replied < 3 || a.UnfinishedCalls != 15-a.Replied || a.LostCalls != 0 {
		t.Errorf("%d unfinished, replied %d of %d, %d calls unfinished, %d lost: want 3, at least 3 of 15, the others, 0", a.Unfinished, a.Replied, a.Planned, a.UnfinishedCalls, a.LostCalls)
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[int]int{}
	var targets []Target
	for i := range 3 {
		addr := serve(t, func(c net.Conn, r *bufio.Reader) {
			mu.Lock()
			seen[i]++
			mu.Unlock()
			each(plainReply)(c, r)
		})
		targets = append(targets, to(addr))
	}
	targets[0].Addrs = append([]netip.AddrPort{closedPort(t)}, targets[0].Addrs...)
	o := plan(t, targets[0], 60, Calls{})
	o.Streams[0].Others = targets[1:]
	var works []Workload
	for range 3 {
		works = append(works, o.Streams[0].Workload)
	}
	var err error
	if o.Streams[0].Workload, err = NewSpread(works, []int{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	a := do(t, o).All
	mu.Lock()
	defer mu.Unlock()
	if a.Completed() != 60 || seen[0] != 10 || seen[1] != 20 || seen[2] != 30 {
		t.Errorf("outcomes %s, connections %v: want 60 ok, 10, 20 and 30", outcomes(&a), seen)
	}
}

func TestSpreadIsEven(t *testing.T) {
	t.Parallel()
	w, err := NewSpread([]Workload{&Calls{}, &Calls{}, &Calls{}}, []int{5, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	// Nginx's known sequence for these weights.
	if want := []int32{0, 0, 1, 0, 2, 0, 0}; !slices.Equal(w.turn, want) {
		t.Errorf("turns %v, want %v", w.turn, want)
	}
	for _, weights := range [][]int{nil, {1}, {1, 0, 1}, {maxTurn, 1, 1}} {
		if _, err := NewSpread(make([]Workload, 3), weights); err == nil {
			t.Errorf("weights %v are accepted", weights)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]bool{}
			addr := e.serve(t, func(c net.Conn, r *bufio.Reader) {
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					var x, client string
					for {
						l, err := r.ReadString('\n')
						if err != nil {
							return
						}
						if l == "\r\n" {
							break
						}
						fmt.Sscanf(l, "X-Seq: %s", &x)
						fmt.Sscanf(l, "X-Client: %s", &client)
					}
					mu.Lock()
					seen[line+x+" "+client] = true
					mu.Unlock()
					c.Write([]byte(plainReply))
				}
			})
			x := &Expand{Seed: 1, Client: 7}
			req := request(t, RequestOptions{URI: "/a?n={seq}&{client}", Host: "test", Expand: x, Header: []Header{{"X-Seq", "<{seq}>"}, {"X-Client", "{client}"}}})
			a := do(t, e.on(plan(t, to(addr), 10, Calls{Request: req, Calls: 4, Burst: 2}))).All
			if a.Completed() != 10 {
				t.Errorf("outcomes %s, want 10 ok", outcomes(&a))
			}
			mu.Lock()
			defer mu.Unlock()
			if len(seen) != 40 {
				t.Errorf("%d different requests, want 40: %v", len(seen), seen)
			}
			for i := range 40 {
				if want := fmt.Sprintf("GET /a?n=%d&7 HTTP/1.1\r\n<%d> 7", i, i); !seen[want] {
					t.Errorf("%q is missing", want)
				}
			}
		})
	}
}

func TestExpandRandom(t *testing.T) {
	t.Parallel()
	x := &Expand{Seed: 3}
	req := request(t, RequestOptions{URI: "/{rand}", Host: "test", Expand: x})
	l := &loop{}
	seen := map[string]bool{}
	for i := range uint64(1000) {
		seen[string(l.expand(req, &Session{Seq: i}))] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different requests of 1000", len(seen))
	}
	if a, b := l.expand(req, &Session{Seq: 5}), l.expand(req, &Session{Seq: 5}); string(a) != string(b) {
		t.Errorf("the same call gives %q and %q", a, b)
	}
}

func TestStopEndsSessions(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			addr := e.serve(t, each(plainReply))
			o := e.on(sessions(t, to(addr), 3, Calls{Calls: 1 << 40}, Sessions{}))
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				// Some windows long, so that all have begun.
				n := 0
				for range c.Sampler().Follow() {
					if n++; n == 1 {
						cancel()
					}
				}
			}()
			r, err := c.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if a := r.All; a.Unfinished != 3 || a.Replies == 0 || a.Errors() != 0 {
				t.Errorf("%d unfinished, %d replies, outcomes %s: want 3, some, no errors", a.Unfinished, a.Replies, outcomes(&a))
			}
		})
	}
}
