package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"httpgen/internal/poll"
)

func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.Write([]byte("hello"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func setUp(t *testing.T, args ...string) (*config, *poll.Poller) {
	t.Helper()
	c, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	p, err := poll.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return c, p
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"plain", nil},
		{"reset", []string{"-rst"}},
		{"sources", []string{"-sources", "4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, p := setUp(t, append(tt.args, "-addr", server(t), "-rate", "2000", "-n", "50")...)
			var o outcome
			if err := c.open(p, &o); err != nil {
				t.Fatal(err)
			}
			if len(o.latency) != 50 || len(o.lag) != 50 || o.failed != 0 {
				t.Errorf("%d replies, %d lags, %d failed, want 50, 50, 0", len(o.latency), len(o.lag), o.failed)
			}
		})
	}
}

func TestOpenCountsFailures(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, p := setUp(t, "-addr", addr, "-rate", "2000", "-n", "20")
	var o outcome
	if err := c.open(p, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.latency) != 0 || o.failed != 20 {
		t.Errorf("%d replies, %d failed, want 0 and 20", len(o.latency), o.failed)
	}
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	c, p := setUp(t, "-addr", server(t), "-closed", "3", "-d", "50ms")
	var o outcome
	if err := c.keepAlive(p, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.latency) == 0 || o.failed != 0 {
		t.Errorf("%d replies, %d failed, want some and none", len(o.latency), o.failed)
	}
}

func TestKeepAliveRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, p := setUp(t, "-addr", addr, "-closed", "1", "-d", "1m")
	if err := c.keepAlive(p, &outcome{}); err == nil {
		t.Error("keepAlive on a closed port: no error")
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n"
	if n, err := length([]byte(head + "xx")); err != nil || n != len(head)+123 {
		t.Errorf("length = %d, %v, want %d", n, err, len(head)+123)
	}
	for _, bad := range []string{head[:20], "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"} {
		if _, err := length([]byte(bad)); err == nil {
			t.Errorf("length of %q: no error", bad)
		}
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"-addr localhost:80", `"localhost:80"`},
		{"-rate 0", "rate 0"},
		{"-n -1", "n -1"},
		{"-sources 255", "sources 255"},
		{"extra", `"extra"`},
	} {
		if _, err := parse(strings.Fields(tt.args)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parse %s: %v, want an error that names %s", tt.args, err, tt.want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	o := outcome{failed: 2, lag: []time.Duration{3000, 1000, 2000}, latency: []time.Duration{4000, 2000}, took: time.Second}
	const want = "ok=2 failed=2 rate=2.0 seconds=1.000000 user_us=5.000 system_us=10.000 " +
		"lag_p50_us=2.0 lag_p99_us=2.0 lag_max_us=3.0 latency_p50_us=2.0 latency_p99_us=2.0 latency_max_us=4.0"
	if got := o.line(10*time.Microsecond, 20*time.Microsecond); got != want {
		t.Errorf("line = %s\nwant %s", got, want)
	}
}
