package client

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"httpgen/sampler"
)

// overH2 makes all streams of o, and the requests of plain ones, speak HTTP/2.
func (e engineCase) overH2(t *testing.T, o Options) Options {
	t.Helper()
	o = e.on(o)
	for i := range o.Streams {
		s := &o.Streams[i]
		s.HTTP2 = true
		if c, ok := s.Workload.(*Calls); ok {
			c.Request = e.request2(t, RequestOptions{Host: "test"})
		}
	}
	return o
}

// request2 returns a request over HTTP/2.
func (e engineCase) request2(t *testing.T, o RequestOptions) *Request {
	t.Helper()
	o.HTTP2 = "http"
	if e.tls {
		o.HTTP2 = "https"
	}
	return request(t, o)
}

// serve2 starts net/http's server for HTTP/2 alone.
func (e engineCase) serve2(t *testing.T, handler http.HandlerFunc) (netip.AddrPort, *http.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, Protocols: new(http.Protocols), ErrorLog: nil}
	s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 20}
	t.Cleanup(func() { s.Close() })
	if e.tls {
		s.Protocols.SetHTTP2(true)
		s.TLSConfig = overTLSConfig()
		go s.ServeTLS(l, "", "")
	} else {
		s.Protocols.SetUnencryptedHTTP2(true)
		go s.Serve(l)
	}
	return l.Addr().(*net.TCPAddr).AddrPort(), s
}

// A peer2 is a scripted server for HTTP/2.
type peer2 struct {
	*h2.Framer
	net.Conn
	block bytes.Buffer
}

// reply answers a stream with 200 and a body.
func (p *peer2) reply(id uint32) {
	p.head(id, false)
	p.WriteData(id, true, []byte("hello"))
}

// leave ends the connection in an orderly way: unread bytes would make it a reset.
func (p *peer2) leave() bool {
	p.Conn.(interface{ CloseWrite() error }).CloseWrite()
	io.Copy(io.Discard, p.Conn)
	return false
}

func (p *peer2) head(id uint32, end bool) {
	p.block.Reset()
	hpack.NewEncoder(&p.block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	p.WriteHeaders(h2.HeadersFrameParam{StreamID: id, BlockFragment: p.block.Bytes(), EndHeaders: true, EndStream: end})
}

// script2 runs each for every request of a connection, until that returns false;
// n counts the requests of the connection from 1.
func (e engineCase) script2(t *testing.T, each func(p *peer2, id uint32, n int) bool) netip.AddrPort {
	t.Helper()
	s := func(c net.Conn, r *bufio.Reader) {
		if _, err := io.CopyN(io.Discard, r, int64(len(h2.ClientPreface))); err != nil {
			return
		}
		p := &peer2{Framer: h2.NewFramer(c, r), Conn: c}
		p.WriteSettings()
		for n := 0; ; {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *h2.SettingsFrame:
				if !f.IsAck() {
					p.WriteSettingsAck()
				}
			case *h2.HeadersFrame:
				if n++; !each(p, f.StreamID, n) {
					return
				}
			}
		}
	}
	if !e.tls {
		return serve(t, s)
	}
	return serveALPN(t, s)
}

func TestH2(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, tt := range []struct {
			name  string
			calls Calls
			shape func(s *Stream)
			conns uint64
		}{
			{"a connection a call", Calls{}, nil, 50},
			{"one after the other", Calls{Calls: 5}, nil, 50},
			{"at once", Calls{Calls: 30, Burst: 30}, nil, 50},
			{"in bursts", Calls{Calls: 7, Burst: 3, Pause: time.Millisecond}, nil, 50},
			{"on a pool", Calls{}, func(s *Stream) { s.Pool = 2 }, 2},
			{"on a pool, several calls", Calls{Calls: 3}, func(s *Stream) { s.Pool = 2 }, 2},
			{"closed", Calls{}, func(s *Stream) { s.Process, s.Closed, s.Limit, s.KeepOpen = nil, 5, 50, true }, 5},
			{"closed on a pool", Calls{}, func(s *Stream) { s.Process, s.Closed, s.Limit, s.Pool = nil, 10, 50, 2 }, 2},
			{"closed on a pool of few streams", Calls{}, func(s *Stream) {
				s.Process, s.Closed, s.Limit, s.Pool, s.MaxStreams = nil, 10, 50, 2, 3
			}, 2},
		} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				var served atomic.Int64
				addr, _ := e.serve2(t, func(w http.ResponseWriter, r *http.Request) {
					served.Add(1)
					io.WriteString(w, "hello")
				})
				o := e.overH2(t, plan(t, to(addr), 50, tt.calls))
				if tt.shape != nil {
					tt.shape(&o.Streams[0])
				}
				a := do(t, o).All
				calls := uint64(50 * max(1, tt.calls.Calls))
				if a.Completed() != 50 || a.Replies != calls || a.Codes[200] != calls || a.Requests != calls || served.Load() != int64(calls) {
					t.Errorf("outcomes %s, requests %d, replies %d, served %d: want 50 ok, %d of each", outcomes(&a), a.Requests, a.Replies, served.Load(), calls)
				}
				if a.Attempted != tt.conns || a.BodyBytes != 5*calls {
					t.Errorf("%d connections, %d bytes of bodies: want %d, %d", a.Attempted, a.BodyBytes, tt.conns, 5*calls)
				}
				if a.Times.FirstByte.Min() < 0 || a.Times.Service.Min() <= 0 {
					t.Errorf("first byte from %v, service from %v", a.Times.FirstByte.Min(), a.Times.Service.Min())
				}
			})
		}
	}
}

func TestH2Failures(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, tt := range []struct {
			name             string
			each             func(p *peer2, id uint32, n int) bool
			want             sampler.Class // of the first call's arrival
			replied, lost    uint64        // of 3 calls, one after the other
			unanswered, conn uint64
		}{
			{"refused", func(p *peer2, id uint32, n int) bool {
				return p.WriteRSTStream(id, h2.ErrCodeRefusedStream) == nil
			}, sampler.H2Refused, 0, 3, 1, 1},
			{"reset", func(p *peer2, id uint32, n int) bool {
				p.head(id, false)
				return p.WriteRSTStream(id, h2.ErrCodeInternal) == nil
			}, sampler.H2Reset, 0, 3, 1, 1},
			{"goaway before the reply", func(p *peer2, id uint32, n int) bool {
				return p.WriteGoAway(0, h2.ErrCodeEnhanceYourCalm, nil) == nil
			}, sampler.H2Goaway, 0, 3, 1, 1},
			{"goaway after the reply", func(p *peer2, id uint32, n int) bool {
				p.reply(id)
				return p.WriteGoAway(id, h2.ErrCodeNo, nil) == nil
			}, sampler.OK, 1, 2, 0, 1},
			{"goaway with an error after the reply", func(p *peer2, id uint32, n int) bool {
				p.reply(id)
				return p.WriteGoAway(id, h2.ErrCodeEnhanceYourCalm, nil) == nil
			}, sampler.H2Goaway, 1, 2, 0, 1},
			{"goaway amid the reply", func(p *peer2, id uint32, n int) bool {
				p.head(id, false)
				p.WriteGoAway(id, h2.ErrCodeNo, nil)
				return p.WriteData(id, true, []byte("hello")) == nil
			}, sampler.OK, 1, 2, 0, 1},
			{"closed", func(p *peer2, id uint32, n int) bool { return p.leave() }, sampler.ClosedEarly, 0, 3, 1, 1},
			{"closed amid the reply", func(p *peer2, id uint32, n int) bool { p.head(id, false); return p.leave() }, sampler.ClosedEarly, 0, 3, 1, 1},
			{"closed after a reply", func(p *peer2, id uint32, n int) bool { p.reply(id); return p.leave() }, sampler.OK, 1, 2, 0, 1},
			{"a malformed reply", func(p *peer2, id uint32, n int) bool { return p.WriteData(id, true, []byte("x")) == nil }, sampler.Protocol, 0, 3, 1, 1},
			{"a broken connection", func(p *peer2, id uint32, n int) bool {
				return p.WriteRawFrame(h2.FrameData, 0, 0, []byte("x")) == nil
			}, sampler.Protocol, 0, 3, 1, 1},
			{"HTTP/1", func(p *peer2, id uint32, n int) bool {
				_, err := p.Conn.Write([]byte(plainReply))
				return err == nil
			}, sampler.Protocol, 0, 3, 1, 1},
			{"silence", func(p *peer2, id uint32, n int) bool { return true }, sampler.ReplyTimeout, 0, 3, 1, 1},
		} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				o := e.overH2(t, plan(t, to(e.script2(t, tt.each)), 1, Calls{Calls: 3, Pause: 20 * time.Millisecond}))
				if tt.want == sampler.ReplyTimeout {
					o.Streams[0].Timeouts.Reply = 100 * time.Millisecond
				}
				a := do(t, o).All
				if a.Outcomes[tt.want] != 1 || a.Replied != tt.replied || a.LostCalls != tt.lost || a.Unanswered != tt.unanswered || a.Attempted != tt.conn {
					t.Errorf("outcomes %s, replied %d, lost %d, unanswered %d, %d connections: want 1 %v, %d, %d, %d, %d",
						outcomes(&a), a.Replied, a.LostCalls, a.Unanswered, a.Attempted, tt.want, tt.replied, tt.lost, tt.unanswered, tt.conn)
				}
			})
		}
	}
}

// One of the calls on a shared connection fails, the others do not notice.
func TestH2FailuresOnAPoolAreTheCallsOwn(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, tt := range []struct {
			name string
			bad  func(p *peer2, id uint32)
			want sampler.Class
		}{
			{"refused", func(p *peer2, id uint32) { p.WriteRSTStream(id, h2.ErrCodeRefusedStream) }, sampler.H2Refused},
			{"reset", func(p *peer2, id uint32) { p.WriteRSTStream(id, h2.ErrCodeInternal) }, sampler.H2Reset},
			{"malformed", func(p *peer2, id uint32) { p.WriteData(id, true, nil) }, sampler.Protocol},
			{"late", func(p *peer2, id uint32) {}, sampler.ReplyTimeout},
			{"past its deadline", func(p *peer2, id uint32) {}, sampler.Deadline},
		} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				addr := e.script2(t, func(p *peer2, id uint32, n int) bool {
					if n%10 == 3 {
						tt.bad(p, id)
					} else {
						p.reply(id)
					}
					return true
				})
				o := e.overH2(t, plan(t, to(addr), 100, Calls{}))
				s := &o.Streams[0]
				s.Pool = 1
				switch tt.want {
				case sampler.ReplyTimeout:
					s.Timeouts.Reply = 300 * time.Millisecond
				case sampler.Deadline:
					s.Timeouts.Deadline = 300 * time.Millisecond
				}
				a := do(t, o).All
				if a.Completed() != 90 || a.Outcomes[tt.want] != 10 || a.Attempted != 1 {
					t.Errorf("outcomes %s, %d connections: want 90 ok, 10 %v, 1", outcomes(&a), a.Attempted, tt.want)
				}
			})
		}
	}
}

func TestH2PoolSurvivesGoaway(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, tt := range []struct {
			name    string
			limit   int // requests of a connection
			refuses bool
		}{{"after", 10, false}, {"refusing one", 10, true}} {
			t.Run(e.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				addr := e.script2(t, func(p *peer2, id uint32, n int) bool {
					switch {
					case n < tt.limit:
						p.reply(id)
					case n == tt.limit && tt.refuses:
						p.WriteGoAway(id-2, h2.ErrCodeNo, nil)
					case n == tt.limit:
						p.WriteGoAway(id, h2.ErrCodeNo, nil)
						p.reply(id)
					}
					return true
				})
				// One call at a time, so that it is known which ones a GOAWAY meets.
				o := e.overH2(t, plan(t, to(addr), 200, Calls{}))
				s := &o.Streams[0]
				s.Process, s.Closed, s.Limit, s.Pool = nil, 1, 200, 1
				a := do(t, o).All
				refused := uint64(0)
				if tt.refuses {
					refused = 20
				}
				if a.Completed() != 200-refused || a.Outcomes[sampler.H2Goaway] != refused || a.Attempted < 20 || a.Attempted > 21 {
					t.Errorf("outcomes %s, %d connections: want %d ok, %d h2_goaway, 20 or one opened for nobody", outcomes(&a), a.Attempted, 200-refused, refused)
				}
			})
		}
	}
}

func TestH2PoolClosedWhileAnArrivalThinks(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			addr := e.script2(t, func(p *peer2, id uint32, n int) bool { p.reply(id); return p.leave() })
			o := e.overH2(t, plan(t, to(addr), 1, Calls{Calls: 2, Pause: 100 * time.Millisecond}))
			o.Streams[0].Pool = 1
			a := do(t, o).All
			if a.Completed() != 1 || a.Replies != 1 || a.LostCalls != 1 {
				t.Errorf("outcomes %s, replies %d, lost %d: want 1 ok, 1, 1", outcomes(&a), a.Replies, a.LostCalls)
			}
		})
	}
}

func TestH2SessionsSurviveGoaway(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			addr := e.script2(t, func(p *peer2, id uint32, n int) bool {
				switch n {
				case 1:
					p.reply(id)
				case 2: // was not touched
					p.WriteGoAway(id-2, h2.ErrCodeNo, nil)
				}
				return true
			})
			o := e.overH2(t, sessions(t, to(addr), 10, Calls{Calls: 4}, Sessions{}))
			a := do(t, o).All
			if a.Completed() != 10 || a.Replies != 40 || a.Retries != 30 {
				t.Errorf("outcomes %s, replies %d, retries %d: want 10 ok, 40, 30", outcomes(&a), a.Replies, a.Retries)
			}
		})
	}
}

func TestH2LargeBodies(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var received atomic.Int64
			addr, _ := e.serve2(t, func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				received.Add(n)
				io.WriteString(w, strings.Repeat("x", 100_000))
			})
			post := e.request2(t, RequestOptions{Method: "POST", Host: "test", Body: bytes.Repeat([]byte("y"), 3<<20)})
			o := e.overH2(t, plan(t, to(addr), 4, Calls{Calls: 2, Burst: 2}))
			o.Streams[0].Workload.(*Calls).Request = post
			a := do(t, o).All
			if a.Completed() != 4 || received.Load() != 8*3<<20 || a.BodyBytes != 800_000 || a.Requests != 8 {
				t.Errorf("outcomes %s, %d bytes received, %d sent back, %d requests: want 4 ok, %d, 800000, 8", outcomes(&a), received.Load(), a.BodyBytes, a.Requests, 8*3<<20)
			}
		})
	}
}

func TestH2LooksAtReplies(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]int{}
			addr, _ := e.serve2(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen[r.URL.Path+" "+r.Header.Get("Cookie")]++
				mu.Unlock()
				if r.URL.Path == "/" {
					http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
					http.Redirect(w, r, "/next", http.StatusFound)
				}
			})
			o := e.overH2(t, plan(t, to(addr), 5, Calls{Calls: 2}))
			o.Streams[0].Workload = &Browse{Workload: o.Streams[0].Workload, HTTPS: e.tls, Cookies: true, Follow: true}
			a := do(t, o).All
			want := map[string]int{"/ ": 5, "/next a=1": 10, "/ a=1": 5}
			mu.Lock()
			defer mu.Unlock()
			if a.Completed() != 5 || fmt.Sprint(seen) != fmt.Sprint(want) {
				t.Errorf("outcomes %s, requests %v: want 5 ok, %v", outcomes(&a), seen, want)
			}
		})
	}
}

func TestH2Expand(t *testing.T) {
	t.Parallel()
	e := engines[0]
	var mu sync.Mutex
	seen := map[string]bool{}
	addr, _ := e.serve2(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.RequestURI+" "+r.Header.Get("X-N")] = true
		mu.Unlock()
	})
	o := e.overH2(t, plan(t, to(addr), 10, Calls{Calls: 2, Burst: 2}))
	o.Streams[0].Workload.(*Calls).Request = e.request2(t, RequestOptions{Host: "test", URI: "/{seq}", Header: []Header{{"X-N", "n{seq}"}}, Expand: &Expand{}})
	a := do(t, o).All
	mu.Lock()
	defer mu.Unlock()
	if a.Completed() != 10 || len(seen) != 20 || !seen["/19 n19"] {
		t.Errorf("outcomes %s, requests %v: want 10 ok, /0 n0 to /19 n19", outcomes(&a), seen)
	}
}

func TestH2NeedsAgreement(t *testing.T) {
	t.Parallel()
	o := overTLS.overH2(t, plan(t, to(overTLS.serve(t, each(plainReply))), 3, Calls{}))
	r := do(t, o)
	if r.All.Outcomes[sampler.TLS] != 3 || r.TLSFailures[0].Main["no_http2"] != 3 {
		t.Errorf("outcomes %s, failures %v: want 3 tls, all no_http2", outcomes(&r.All), r.TLSFailures)
	}
}

func TestH2Unfinished(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		for _, pool := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s/pool=%d", e.name, pool), func(t *testing.T) {
				t.Parallel()
				addr := e.script2(t, func(p *peer2, id uint32, n int) bool { return true })
				o := e.overH2(t, plan(t, to(addr), 3, Calls{Calls: 2, Burst: 2}))
				o.Streams[0].Timeouts, o.Streams[0].Pool = Timeouts{}, pool
				o.Drain = 200 * time.Millisecond
				a := do(t, o).All
				if a.Unfinished != 3 || a.UnfinishedCalls != 6 {
					t.Errorf("%d arrivals and %d calls unfinished: want 3 and 6", a.Unfinished, a.UnfinishedCalls)
				}
			})
		}
	}
}

// goaway answers nothing: it lets every connection go at once.
func goaway(streams bool) script {
	return func(c net.Conn, r *bufio.Reader) {
		if _, err := io.CopyN(io.Discard, r, int64(len(h2.ClientPreface))); err != nil {
			return
		}
		f := h2.NewFramer(c, r)
		if streams {
			f.WriteSettings()
			f.WriteGoAway(0, h2.ErrCodeNo, nil)
		} else {
			f.WriteSettings(h2.Setting{ID: h2.SettingMaxConcurrentStreams, Val: 0})
		}
		io.Copy(io.Discard, r)
	}
}

func TestH2SessionsWithoutAReplyFail(t *testing.T) {
	t.Parallel()
	e := engines[0]
	o := e.overH2(t, sessions(t, to(serve(t, goaway(true))), 5, Calls{Calls: 3}, Sessions{}))
	if a := do(t, o).All; a.Outcomes[sampler.H2Goaway] != 5 || a.LostCalls != 15 {
		t.Errorf("outcomes %s, %d lost calls: want 5 h2_goaway, 15", outcomes(&a), a.LostCalls)
	}
}

func TestH2NoStreamsAtAll(t *testing.T) {
	t.Parallel()
	e := engines[0]
	o := e.overH2(t, plan(t, to(serve(t, goaway(false))), 5, Calls{Calls: 3}))
	o.Streams[0].Timeouts = Timeouts{Connect: time.Second, Send: 100 * time.Millisecond, Reply: 100 * time.Millisecond}
	// The first request may be on its way before the server says that it takes none.
	if a := do(t, o).All; a.Outcomes[sampler.SendTimeout]+a.Outcomes[sampler.ReplyTimeout] != 5 {
		t.Errorf("outcomes %s, want 5 that are send_timeout or reply_timeout", outcomes(&a))
	}
}
