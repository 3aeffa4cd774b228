package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"httpgen/internal/report"
)

// nginxConf logs what its requests say, a JSON object each.
const nginxConf = `
daemon off; worker_processes 1; pid @dir@/nginx.pid; error_log stderr notice;
events { worker_connections 2000; }
http {
	client_body_temp_path @dir@/body; proxy_temp_path @dir@/proxy; fastcgi_temp_path @dir@/fastcgi;
	uwsgi_temp_path @dir@/uwsgi; scgi_temp_path @dir@/scgi;
	log_format counts escape=json '{"agent":"$http_user_agent","method":"$request_method","uri":"$request_uri","protocol":"$server_protocol",'
		'"status":"$status","connection":$connection,"host":"$http_host","length":$request_length,"sent":$bytes_sent}';
	access_log @dir@/access.log counts;
	default_type text/plain; gzip off; keepalive_requests 100000; client_max_body_size 2m;
	limit_req_zone $server_port zone=once:64k rate=1r/m;
	limit_conn_zone $server_port zone=held:64k;
	server {
		listen 127.0.0.1:@main@ backlog=4096;
		listen unix:@dir@/socket backlog=4096;
		#six listen [::1]:@main@ backlog=4096;
		root @dir@/www;
		location = /moved { return 302 /page; }
		location = /empty { return 204; }
		location = /hangup { return 444; }
		location = /three { keepalive_requests 3; alias @dir@/www/page; }
		location = /chunked { ssi on; ssi_types *; alias @dir@/www/page; }
		location = /chunks { ssi on; ssi_types *; alias @dir@/www/large; }
		location = /once { limit_req zone=once; alias @dir@/www/page; }
		location = /held { limit_conn held 1; limit_rate 1k; alias @dir@/www/large; }
		location = /relay { proxy_pass http://127.0.0.1:@main@/sink; }
		location = /sink { access_log off; return 200 "thanks\n"; }
	}
}
`

// A logged run is one whose result must agree with nginx's own log.
type logged struct {
	name string
	args string // with placeholders
	want string // of tally, a regular expression
	host string // that nginx has logged, with placeholders; default 127.0.0.1:@main@
}

// An entry is a line of nginx's log.
type entry struct {
	Agent, Method, URI, Protocol, Status, Host string
	TLS, Cipher, Name, Reused                  string // only where TLS is spoken
	Cookie, ID                                 string // only where sessions are looked at
	Connection, Length, Sent                   uint64
}

// agree carries out the runs, stops the server, and holds its log against the
// results. It returns the log by the names of the runs.
func (s *realServer) agree(t *testing.T, runs []logged) map[string][]entry {
	t.Helper()
	results := make([]*report.Result, len(runs))
	t.Run("load", func(t *testing.T) {
		for i, tt := range runs {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(s.fill(t, tt.args)), "--user-agent", tt.name)
				results[i] = measure(t, args...)
				counted(t, results[i], tt.want)
			})
		}
	})
	s.end(t, s.quit)
	entries := s.log(t)
	for i, tt := range runs {
		if results[i] == nil {
			continue // left out by -run, or failed
		}
		t.Run("log/"+tt.name, func(t *testing.T) {
			host := tt.host
			if host == "" {
				host = "127.0.0.1:@main@"
			}
			compare(t, entries[tt.name], results[i], s.fill(t, host))
		})
	}
	return entries
}

// log returns the lines of nginx's log by user agent.
func (s *realServer) log(t *testing.T) map[string][]entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string][]entry{}
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		entries[e.Agent] = append(entries[e.Agent], e)
	}
	return entries
}

// compare holds the lines of one run against its result, warm-up included.
func compare(t *testing.T, lines []entry, r *report.Result, host string) {
	t.Helper()
	var have report.Totals
	have.Codes = map[string]uint64{}
	connections := map[uint64]bool{}
	for _, e := range lines {
		connections[e.Connection] = true
		have.Bytes.Request += e.Length
		have.Bytes.Received += e.Sent
		if cmp.Or(e.Host, "-") != host || e.Method != r.Config.Method || !strings.HasSuffix(r.Config.Target.URL, e.URI) {
			t.Errorf("%s %s at %q; want %s %s at %q", e.Method, e.URI, e.Host, r.Config.Method, r.Config.Target.URL, host)
		}
		if e.Status == "444" {
			continue // nginx's word for no reply at all
		}
		have.Replies++
		have.Codes[e.Status]++
	}
	want := r.Totals
	if w := r.Warmup; w != nil {
		want.Replies += w.Replies
		want.Requests += w.Requests
		want.Connections.Established += w.Connections.Established
		want.Bytes.Request += w.Bytes.Request
		want.Bytes.Received += w.Bytes.Received
		for code, n := range w.Codes {
			want.Codes[code] += n
		}
	}
	if have.Replies != want.Replies || !maps.Equal(have.Codes, want.Codes) {
		t.Errorf("logged %d replies %v, counted %d %v", have.Replies, have.Codes, want.Replies, want.Codes)
	}
	// A pool may have connections that were not needed.
	if n := uint64(len(connections)); n != want.Connections.Established && (r.Config.Connections == 0 || n > want.Connections.Established) {
		t.Errorf("logged %d connections, counted %d", n, want.Connections.Established)
	}
	if n := uint64(len(lines)); n != want.Requests {
		// Requests behind the last one that a connection may carry are not read.
		if want.Calls.Unanswered == 0 || n > want.Requests {
			t.Errorf("logged %d requests, counted %d", n, want.Requests)
		}
		return
	}
	if r.Config.HTTPVersion == "2" {
		return // frames of the connection belong to no request
	}
	// nginx does not count a body that it refuses.
	if have.Bytes.Request != want.Bytes.Request && want.Codes["405"] == 0 || have.Bytes.Received != want.Bytes.Received {
		t.Errorf("logged requests of %d bytes and replies of %d, counted %d and %d",
			have.Bytes.Request, have.Bytes.Received, want.Bytes.Request, want.Bytes.Received)
	}
}

func TestServersNginx(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, nginxConf)
	body := filepath.Join(s.dir, "www", "large")
	s.agree(t, []logged{
		{name: "one call", args: "http://127.0.0.1:@main@/page -r 600 -n 60", want: all(60, 1, "200", pages(60))},
		{name: "several calls", args: "http://127.0.0.1:@main@/page -r 300 -n 30 --num-calls 4", want: all(30, 4, "200", pages(120))},
		{name: "bursts", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 7 --burst-length 3", want: all(20, 7, "200", pages(140))},
		{name: "one burst", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 5 --burst-length 50", want: all(20, 5, "200", pages(100))},
		{name: "burst of many", args: "http://127.0.0.1:@main@/page -r 40 -n 4 --num-calls 200 --burst-length 200", want: all(4, 200, "200", pages(800))},
		{name: "burst of large pages", args: "http://127.0.0.1:@main@/large -r 20 -n 2 --num-calls 5 --burst-length 5", want: all(2, 5, "200", large(10))},
		{name: "burst pause", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 5 --burst-length 2 --burst-pause 0.05", want: all(20, 5, "200", pages(100))},
		{name: "pool", args: "http://127.0.0.1:@main@/page -r 500 -n 100 -c 4", want: "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{name: "pool, closed by the server", args: "http://127.0.0.1:@main@/three -r 500 -n 100 -c 4", want: "started 100 completed 100 connections 3[4-7] requests 100 replies 100 200=100 " + pages(100)},
		{name: "closed model", args: "http://127.0.0.1:@main@/page --closed 4 -n 100", want: "started 100 completed 100 connections 4 requests 100 replies 100 200=100 " + pages(100)},
		{name: "closed model, closed by the server", args: "http://127.0.0.1:@main@/three --closed 4 -n 100", want: "started 100 completed 100 connections 3[4-7] requests 100 replies 100 200=100 " + pages(100)},
		{name: "closed model, new connections", args: "http://127.0.0.1:@main@/page --closed 4 -n 100 --no-keepalive", want: all(100, 1, "200", pages(100))},
		{name: "closed model, several calls", args: "http://127.0.0.1:@main@/page --closed 4 -n 40 --num-calls 3", want: all(40, 3, "200", pages(120))},
		{name: "sequential", args: "http://127.0.0.1:@main@/page -n 20 --num-calls 3", want: all(20, 3, "200", pages(60))},
		{name: "keepalive_requests", args: "http://127.0.0.1:@main@/three -r 200 -n 20 --num-calls 5", want: "started 20 completed 20 connections 20 requests 60 replies 60 unsent 40 lost 40 200=60 " + pages(60)},
		{name: "keepalive_requests, bursts", args: "http://127.0.0.1:@main@/three -r 200 -n 20 --num-calls 7 --burst-length 3", want: "started 20 completed 20 connections 20 requests 60 replies 60 unsent 80 lost 80 200=60 " + pages(60)},
		// The server may close with requests unread, which resets the connection.
		{name: "keepalive_requests, inside a burst", args: "http://127.0.0.1:@main@/three -r 200 -n 20 --num-calls 5 --burst-length 5", want: "started 20 completed 0 connections 20 requests .*(reset|closed_early) [0-9]+"},
		{name: "404", args: "http://127.0.0.1:@main@/missing -r 200 -n 20 --num-calls 2", want: all(20, 2, "404")},
		{name: "404 as expected", args: "http://127.0.0.1:@main@/missing -r 200 -n 20 --num-calls 2 --expect-status 404", want: all(20, 2, "404")},
		{name: "404 not expected", args: "http://127.0.0.1:@main@/missing -r 200 -n 20 --num-calls 2 --expect-status 2xx,304", want: "started 20 completed 0 connections 20 requests 40 replies 40 404=40 unexpected_status 20"},
		{name: "302", args: "http://127.0.0.1:@main@/moved -r 200 -n 20 --num-calls 2", want: all(20, 2, "302")},
		{name: "204", args: "http://127.0.0.1:@main@/empty -r 200 -n 20 --num-calls 3", want: all(20, 3, "204")},
		{name: "304", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -H If-None-Match:*", want: all(20, 3, "304")},
		{name: "206", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -H Range:bytes=0-9,20-29", want: all(20, 3, "206")},
		{name: "chunked", args: "http://127.0.0.1:@main@/chunked -r 200 -n 20 --num-calls 3", want: all(20, 3, "200", pages(60), "framing [0-9]+")},
		{name: "chunked burst", args: "http://127.0.0.1:@main@/chunked -r 200 -n 20 --num-calls 3 --burst-length 3", want: all(20, 3, "200", pages(60), "framing [0-9]+")},
		{name: "large and chunked", args: "http://127.0.0.1:@main@/chunks -r 50 -n 5 --num-calls 2", want: all(5, 2, "200", large(10), "framing [0-9]+")},
		{name: "large", args: "http://127.0.0.1:@main@/large -r 50 -n 5 --num-calls 2", want: all(5, 2, "200", large(10))},
		{name: "large, small buffer", args: "http://127.0.0.1:@main@/large -r 50 -n 5 --num-calls 2 --recv-buffer 4096", want: all(5, 2, "200", large(10))},
		{name: "head", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -X HEAD", want: all(20, 3, "200", "body 0")},
		{name: "head, chunked, burst", args: "http://127.0.0.1:@main@/chunked -r 200 -n 20 --num-calls 3 --burst-length 3 -X HEAD", want: all(20, 3, "200", "body 0")},
		{name: "post", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -d some=body", want: all(20, 3, "405")},
		{name: "post, relayed", args: "http://127.0.0.1:@main@/relay -r 200 -n 20 --num-calls 3 -d some=body", want: all(20, 3, "200", "body 420")},
		{name: "post, continue", args: "http://127.0.0.1:@main@/relay -r 200 -n 20 --num-calls 3 -d some=body -H Expect:100-continue", want: all(20, 3, "200", "body 420")},
		{name: "post, large", args: "http://127.0.0.1:@main@/relay -r 50 -n 5 --num-calls 2 --send-buffer 4096 -D " + body, want: all(5, 2, "200", "body 70")},
		{name: "http 1.0", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 --http-version 1.0", want: all(20, 3, "200", pages(60))},
		{name: "http 1.0, not kept alive", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 --http-version 1.0 -H Connection:close", want: "started 20 completed 20 connections 20 requests 20 replies 20 unsent 40 lost 40 200=20 " + pages(20)},
		{name: "http 1.0, ended by the close", args: "http://127.0.0.1:@main@/chunked -r 200 -n 20 --num-calls 2 --http-version 1.0", want: "started 20 completed 20 connections 20 requests 20 replies 20 unsent 20 lost 20 200=20 " + pages(20)},
		{name: "close asked for", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 3 -H Connection:close", want: "started 20 completed 20 connections 20 requests 20 replies 20 unsent 40 lost 40 200=20 " + pages(20)},
		{name: "return 444", args: "http://127.0.0.1:@main@/hangup -r 200 -n 20 --num-calls 3", want: "started 20 completed 0 connections 20 requests 20 replies 0 unanswered 20 unsent 40 lost 60 closed_early 20"},
		{name: "return 444, pool", args: "http://127.0.0.1:@main@/hangup -r 200 -n 20 -c 3", want: "started 20 completed 0 connections (2[0-3]) requests 20 replies 0 unanswered 20 lost 20 closed_early 20"},
		{name: "limit_req", args: "http://127.0.0.1:@main@/once -r 200 -n 20 --num-calls 2", want: "started 20 completed 20 connections 20 requests 40 replies 40 200=1 503=39"},
		{name: "no host", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --no-host-hdr", want: all(20, 1, "400"), host: "-"},
		{name: "closed by reset", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 --close-mode rst", want: all(20, 2, "200", pages(40))},
		{name: "warm-up", args: "http://127.0.0.1:@main@/page -r 200 -n 20 --num-calls 2 --warmup 0.05", want: all(10, 2, "200", pages(20))},
		{name: "several loops", args: "http://127.0.0.1:@main@/page -r 600 -n 60 --num-calls 2 --workers 3", want: all(60, 2, "200", pages(120))},
		{name: "several loops, pool", args: "http://127.0.0.1:@main@/page -r 600 -n 60 -c 5 --workers 3", want: "started 60 completed 60 connections 5 requests 60 replies 60 200=60 " + pages(60)},
		{name: "poisson", args: "http://127.0.0.1:@main@/page -r poisson:600 -n 60 --num-calls 2", want: all(60, 2, "200", pages(120))},
		{name: "duration", args: "http://127.0.0.1:@main@/page -r 100 -z 0.4", want: all(40, 1, "200", pages(40))},
		{name: "source addresses", args: "http://127.0.0.1:@main@/page -r 600 -n 60 --myaddr 127.0.2.1-127.0.2.4", want: all(60, 1, "200", pages(60))},
		{name: "local ports", args: "http://127.0.0.1:@main@/page -r 600 -n 60 --hog", want: all(60, 1, "200", pages(60))},
		{name: "unix socket", args: "http://some.test/page --unix-socket @dir@/socket -r 600 -n 60 --num-calls 2", want: all(60, 2, "200", pages(120)), host: "some.test"},
		{name: "resolve", args: "http://made-up.test:@main@/page --resolve made-up.test:@main@:127.0.0.1 -r 600 -n 60", want: all(60, 1, "200", pages(60)), host: "made-up.test:@main@"},
		{name: "resolve, refused first", args: "http://made-up.test:@main@/page --resolve made-up.test:@main@:127.0.0.2,127.0.0.1 -n 20", want: "started 20 completed 20 connections 20 requests 20 replies 20 failed connections 1 200=20 " + pages(20), host: "made-up.test:@main@"},
		{name: "server name", args: "--server 127.0.0.1 --port @main@ --uri /page --server-name made-up.test -n 20", want: all(20, 1, "200", pages(20)), host: "made-up.test"},
		{name: "host header", args: "http://127.0.0.1:@main@/page -n 20 -H Host:made-up.test", want: all(20, 1, "200", pages(20)), host: "made-up.test"},
	})
}

// IPv6 has a server of its own, since nginx does not start without the address.
func TestServersNginxIPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on the loopback interface: %v", err)
	}
	l.Close()
	s := nginx.start(t, strings.Replace(nginxConf, "#six ", "", 1))
	s.agree(t, []logged{
		{name: "address", args: "http://[::1]:@main@/page -r 600 -n 60 --num-calls 2", want: all(60, 2, "200", pages(120)), host: "[::1]:@main@"},
		{name: "server", args: "--server ::1 --port @main@ --uri /page -r 600 -n 60", want: all(60, 1, "200", pages(60)), host: "[::1]:@main@"},
		{name: "family", args: "http://both.test:@main@/page --resolve both.test:@main@:127.0.0.2,::1 -6 -r 600 -n 60", want: all(60, 1, "200", pages(60)), host: "both.test:@main@"},
		{name: "source address", args: "http://[::1]:@main@/page --myaddr ::1 -r 600 -n 60", want: all(60, 1, "200", pages(60)), host: "[::1]:@main@"},
		{name: "local ports", args: "http://[::1]:@main@/page --hog -r 600 -n 60", want: all(60, 1, "200", pages(60)), host: "[::1]:@main@"},
	})
}

// hold opens a connection, asks for a page that comes slowly, and keeps the
// connection once the reply has begun.
func hold(t *testing.T, s *realServer, port, path string) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.ports[port]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	b := make([]byte, len("HTTP/1.1 200"))
	if _, err := c.Read(b); err != nil || string(b) != "HTTP/1.1 200" {
		t.Fatalf("GET %s: %q, %v", path, b, err)
	}
}

func TestServersNginxLimitConn(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, nginxConf)
	hold(t, s, "main", "/held")
	counted(t, measure(t, s.url("main", "/held"), "-r", "200", "-n", "20", "--num-calls", "2"), all(20, 2, "503"))
}
