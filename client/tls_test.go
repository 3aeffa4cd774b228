package client

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"httpgen/sampler"
)

var overTLS = engineCase{name: "tls", tls: true}

func TestTLSTimesHaveTheirOwnPhase(t *testing.T) {
	t.Parallel()
	a := do(t, overTLS.on(plan(t, to(overTLS.serve(t, each(plainReply))), 5, Calls{Calls: 2}))).All
	if a.Completed() != 5 || a.Times.TLS.Count() != 5 || a.Times.Connect.Count() != 5 || a.Times.TLS.Min() <= 0 {
		t.Errorf("outcomes %s, %d TLS times from %v, %d connect times: want 5 of each", outcomes(&a), a.Times.TLS.Count(), a.Times.TLS.Min(), a.Times.Connect.Count())
	}
}

func TestTLSFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		server script
		change func(c *tls.Config)
		want   sampler.Class
		reason string
	}{
		{"unknown authority", nil, func(c *tls.Config) { c.RootCAs = nil }, sampler.TLS, "unknown_authority"},
		{"other name", nil, func(c *tls.Config) { c.ServerName = "other.test" }, sampler.TLS, "name_mismatch"},
		{"expired", nil, func(c *tls.Config) { c.Time = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) } }, sampler.TLS, "expired"},
		{"version", nil, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 }, sampler.TLS, "alert_protocol_version_not_supported"},
		{"not TLS", func(c net.Conn, r *bufio.Reader) { c.Write([]byte(plainReply)) }, nil, sampler.TLS, "not_tls"},
		{"alert without a name", func(c net.Conn, r *bufio.Reader) {
			c.Write([]byte{21, 3, 3, 0, 2, 2, 200})
			silent(c, r)
		}, nil, sampler.TLS, "alert_200"},
		{"closes at once", func(c net.Conn, r *bufio.Reader) {}, nil, sampler.TLS, "closed"},
		{"resets", func(c net.Conn, r *bufio.Reader) { r.ReadByte(); c.(*net.TCPConn).SetLinger(0) }, nil, sampler.TLS, "closed"},
		{"closes amid the handshake", func(c net.Conn, r *bufio.Reader) { r.ReadByte(); c.Write([]byte{22, 3, 3}) }, nil, sampler.TLS, "closed"},
		{"a record of nonsense", func(c net.Conn, r *bufio.Reader) {
			c.Write([]byte{22, 3, 3, 0, 4, 99, 0, 0, 0})
			silent(c, r)
		}, nil, sampler.TLS, "other"},
		{"stays silent", silent, nil, sampler.ConnectTimeout, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := overTLS.serve(t, each(plainReply))
			if tt.server != nil {
				addr = serve(t, tt.server)
			}
			o := overTLS.on(plan(t, to(addr), 4, Calls{}))
			o.Streams[0].Timeouts.Connect = 200 * time.Millisecond
			if tt.want == sampler.TLS {
				o.Streams[0].Timeouts.Connect = 10 * time.Second
			}
			if tt.change != nil {
				tt.change(o.Streams[0].TLS)
			}
			r := do(t, o)
			if a := &r.All; a.Outcomes[tt.want] != 4 || a.Failed != 4 || a.Unsent != 4 {
				t.Errorf("outcomes %s, failed connections %d, unsent %d: want 4 %v, 4, 4", outcomes(a), a.Failed, a.Unsent, tt.want)
			}
			var want map[string]uint64
			if tt.reason != "" {
				want = map[string]uint64{tt.reason: 4}
			}
			if have := r.TLSFailures; len(have) != 1 || !maps.Equal(have[0].Main, want) || have[0].Warmup != nil {
				t.Errorf("TLS failures %v, want %v and none in the warm-up", have, want)
			}
		})
	}
}

// A warm-up has failures of its own, and so has each stream.
func TestTLSFailuresAreKeptApart(t *testing.T) {
	t.Parallel()
	o := overTLS.on(plan(t, to(overTLS.serve(t, each(plainReply))), 40, Calls{}))
	o.Warmup = 10 * time.Millisecond
	other := o.Streams[0]
	o.Streams[0].TLS = o.Streams[0].TLS.Clone()
	o.Streams[0].TLS.ServerName = "other.test"
	o.Streams = append(o.Streams, other)
	o.Loops = 2
	have := do(t, o).TLSFailures
	if len(have) != 2 || have[0].Main["name_mismatch"] != 30 || have[0].Warmup["name_mismatch"] != 10 || have[1].Main != nil || have[1].Warmup != nil {
		t.Errorf("failures %v, want 30 and 10 of a name_mismatch in the first stream alone", have)
	}
}

// With TLS 1.3 a server refuses our certificate, or the lack of one, when our
// side of the handshake is over.
func TestTLSLateAlert(t *testing.T) {
	t.Parallel()
	config := &tls.Config{Certificates: certificate().pair, ClientAuth: tls.RequireAnyClientCert}
	addr := serve(t, func(c net.Conn, _ *bufio.Reader) {
		tls.Server(c, config).Handshake()
		silent(c, bufio.NewReader(c)) // until the client has read the alert
	})
	r := do(t, overTLS.on(plan(t, to(addr), 4, Calls{})))
	if a := &r.All; a.Outcomes[sampler.TLS] != 4 || a.Established != 4 || !maps.Equal(r.TLSFailures[0].Main, map[string]uint64{"alert_certificate_required": 4}) {
		t.Errorf("outcomes %s, %d connections, failures %v: want 4 tls on 4 established connections, alert_certificate_required", outcomes(a), a.Established, r.TLSFailures)
	}
}

// Many servers end a connection without TLS's parting word. That is as good as
// any end.
func TestTLSEndWithoutParting(t *testing.T) {
	t.Parallel()
	config := &tls.Config{Certificates: certificate().pair}
	for _, tt := range []struct {
		name, reply string
		calls       int
		want        sampler.Class
	}{
		{"between calls", plainReply, 2, sampler.OK},
		{"in a body", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello", 2, sampler.ClosedEarly},
		{"in a body that the end ends", "HTTP/1.1 200 OK\r\n\r\nhello", 1, sampler.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr := serve(t, func(c net.Conn, _ *bufio.Reader) {
				tc := tls.Server(c, config)
				if r := bufio.NewReader(tc); readRequest(r) {
					tc.Write([]byte(tt.reply))
				}
			})
			if a := do(t, overTLS.on(plan(t, to(addr), 3, Calls{Calls: tt.calls, Pause: 100 * time.Millisecond}))).All; a.Outcomes[tt.want] != 3 {
				t.Errorf("outcomes %s, want 3 %v", outcomes(&a), tt.want)
			}
		})
	}
}

// A request that the send buffer does not hold must not keep the loop.
func TestTLSSendTimeoutWithASmallBuffer(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	lc.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { shrinkReceiveBuffer(fd) })
	}
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	config := &tls.Config{Certificates: certificate().pair}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				tls.Server(c, config).Handshake()
				pause(5 * time.Second) // never reads
			}()
		}
	}()
	o := overTLS.on(plan(t, to(l.Addr().(*net.TCPAddr).AddrPort()), 1, Calls{Request: request(t, RequestOptions{Method: "POST", Host: "test", Body: make([]byte, 15000)})}))
	o.Streams[0].SendBuffer = 4096
	o.Streams[0].Timeouts.Send = 100 * time.Millisecond
	if a := do(t, o).All; a.Outcomes[sampler.SendTimeout] != 1 || a.Times.Failure.Max() > 3*time.Second {
		t.Errorf("outcomes %s after %v: want 1 send_timeout long before the server hangs up", outcomes(&a), a.Times.Failure.Max())
	}
}

func TestTLSResumption(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		cache tls.ClientSessionCache
		want  bool
	}{{"on", tls.NewLRUClientSessionCache(8), true}, {"off", nil, false}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var resumed atomic.Int64
			config := &tls.Config{Certificates: certificate().pair}
			addr := serve(t, func(c net.Conn, _ *bufio.Reader) {
				tc := tls.Server(c, config)
				if tc.Handshake() != nil {
					return
				}
				if tc.ConnectionState().DidResume {
					resumed.Add(1)
				}
				each(plainReply)(tc, bufio.NewReader(tc))
			})
			o := overTLS.on(plan(t, to(addr), 1, Calls{}))
			s := &o.Streams[0]
			s.TLS.ClientSessionCache = tt.cache
			s.Process, s.Closed, s.Limit = nil, 1, 10
			if a := do(t, o).All; a.Completed() != 10 || (resumed.Load() > 0) != tt.want {
				t.Errorf("outcomes %s, %d resumed: want 10 ok, resumption %v", outcomes(&a), resumed.Load(), tt.want)
			}
		})
	}
}

func TestTLSRecordsOfAnySize(t *testing.T) {
	t.Parallel()
	for _, n := range []int{8000, 12000, 16000, 16384, 20000, 100000} {
		reply := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, strings.Repeat("x", n))
		a := do(t, overTLS.on(plan(t, to(overTLS.serve(t, each(reply))), 2, Calls{Calls: 2}))).All
		if a.Completed() != 2 || a.BodyBytes != uint64(4*n) {
			t.Errorf("%d bytes: outcomes %s, body bytes %d: want 2 ok, %d", n, outcomes(&a), a.BodyBytes, 4*n)
		}
	}
}

func TestTLSLargeRequest(t *testing.T) {
	t.Parallel()
	const n = 2 << 20
	addr := overTLS.serve(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		if k, _ := r.Discard(n); k == n {
			c.Write([]byte(plainReply))
		}
	})
	o := overTLS.on(plan(t, to(addr), 2, Calls{Request: request(t, RequestOptions{Method: "POST", Host: "test", Body: make([]byte, n)})}))
	if a := do(t, o).All; a.Completed() != 2 || a.RequestBytes < 2*n {
		t.Errorf("outcomes %s, request bytes %d: want 2 ok with the bodies", outcomes(&a), a.RequestBytes)
	}
}

func TestTLSPool(t *testing.T) {
	t.Parallel()
	o := overTLS.on(plan(t, to(overTLS.serve(t, each(plainReply))), 100, Calls{}))
	o.Streams[0].Pool = 3
	if r := do(t, o); r.All.Completed() != 100 || r.All.Attempted != 3 {
		t.Errorf("outcomes %s on %d connections: want 100 ok on 3", outcomes(&r.All), r.All.Attempted)
	}
}

// overTLSConfig returns the configuration of a server with the test certificate.
func overTLSConfig() *tls.Config { return &tls.Config{Certificates: certificate().pair} }

// serveALPN runs s on TLS connections that speak HTTP/2.
func serveALPN(t *testing.T, s script) netip.AddrPort {
	t.Helper()
	config := overTLSConfig()
	config.NextProtos = []string{"h2"}
	return serve(t, func(c net.Conn, _ *bufio.Reader) {
		tc := tls.Server(c, config)
		if tc.Handshake() == nil {
			s(tc, bufio.NewReader(tc))
			tc.Close()
		}
	})
}
