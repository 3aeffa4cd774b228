package main

import (
	"crypto/tls"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/run"
	"httpgen/internal/script"
	"httpgen/internal/target"
	"httpgen/pacer"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// testLookup knows one name.
func testLookup(name string) ([]netip.Addr, error) {
	if name != "source.test" {
		return nil, errors.New("no such name")
	}
	return []netip.Addr{netip.MustParseAddr("::2"), netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")}, nil
}

// parseRun returns what a command line asks for.
func parseRun(t *testing.T, argv ...string) (run.Options, []string) {
	t.Helper()
	g, p := parsed(t, argv...)
	o, warnings, err := g.Run.options(p, now, testLookup)
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return o, warnings
}

func parsed(t *testing.T, argv ...string) (*grammar, *program) {
	t.Helper()
	g, k := newGrammar()
	p := newProgram(argv, nil, nil)
	l, err := expand(k, argv, p.classic)
	if err == nil {
		_, err = k.Parse(append([]string{l.command}, l.args...))
	}
	if err != nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return g, p
}

// arrivals gives what a run is bound by.
type arrivals struct {
	conns    uint64
	duration time.Duration
	forever  bool
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(filepath.Dir(file), "list")
	if err := os.WriteFile(list, []byte("/a\n\n/b?c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fields := filepath.Join(filepath.Dir(file), "fields")
	if err := os.WriteFile(fields, []byte("V: w\\n\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secured := func(o *run.Options) any {
		if o.TLS == nil {
			return "in the clear"
		}
		return *o.TLS
	}
	constant := func(n uint64) pacer.Process { return pacer.Constant{N: n, Per: time.Second} }
	session := func(o *run.Options) any {
		if o.Session == nil {
			return "none"
		}
		return *o.Session
	}
	// One of the requests of a file: "METHOD HOST URI BODY".
	request := func(q *script.Request) string {
		return strings.Join([]string{q.Method, q.Host, q.URI, string(q.Body)}, " ")
	}
	addrs := func(list ...string) []netip.Addr {
		var all []netip.Addr
		for _, a := range list {
			all = append(all, netip.MustParseAddr(a))
		}
		return all
	}
	// When the process ends, after how many arrivals, and what the report says of it.
	ends := func(o *run.Options) any {
		end, n, _ := pacer.PlannedEnd(o.Process, o.Seed)
		return []any{end, n, o.RateText}
	}
	used := map[string]bool{}
	for _, tt := range []struct {
		args []string
		have func(o *run.Options) any
		want any
	}{
		{[]string{"http://h.test:81/a?b=c#d"}, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI} }, []any{"h.test", 81, "/a?b=c"}},
		{[]string{"http://h.test"}, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI} }, []any{"h.test", 80, "/"}},
		{[]string{"http://[::1]:81?q"}, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI} }, []any{"::1", 81, "/?q"}},
		{[]string{"http://h.test/%7Ea/../b"}, func(o *run.Options) any { return o.URI }, "/%7Ea/../b"},
		{[]string{"http://h.test:81/a", "--server", "H.test", "--port", "81", "--uri", "/a"}, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI} }, []any{"h.test", 81, "/a"}},
		{[]string{"--server", "h.test", "--port", "81", "--uri", "/b c"}, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI} }, []any{"h.test", 81, "/b c"}},
		{nil, func(o *run.Options) any { return []any{o.Server, o.Port, o.URI, o.Method} }, []any{"", 0, "", ""}},
		{[]string{"--server-name", "n.test"}, func(o *run.Options) any { return o.ServerName }, "n.test"},
		{[]string{"--unix-socket", "/run/s"}, func(o *run.Options) any { return o.Unix }, "/run/s"},
		{[]string{"--resolve", "h:80:127.0.0.1,127.0.0.2", "--resolve", "*:*:::1"}, func(o *run.Options) any { return o.Resolve }, []string{"h:80:127.0.0.1,127.0.0.2", "*:*:::1"}},
		{[]string{"--ipv4"}, func(o *run.Options) any { return []bool{o.IPv4, o.IPv6} }, []bool{true, false}},
		{[]string{"--ipv6"}, func(o *run.Options) any { return []bool{o.IPv4, o.IPv6} }, []bool{false, true}},
		{[]string{"--method", "PUT"}, func(o *run.Options) any { return o.Method }, "PUT"},
		{[]string{"--header", "Accept: a, b", "--header", "X: y"}, func(o *run.Options) any { return o.Header }, []client.Header{{Name: "Accept", Value: "a, b"}, {Name: "X", Value: "y"}}},
		{[]string{"--add-header", `X: y, z\n`, "--add-header", `V: w\n`, "--header", "A: b"}, func(o *run.Options) any { return o.Header }, []client.Header{{Name: "X", Value: "y, z"}, {Name: "V", Value: "w"}, {Name: "A", Value: "b"}}},
		{[]string{"--add-header", `X: y\n`, "--header", "A: b", "--add-header-file", fields, "--add-header-file", fields}, func(o *run.Options) any { return o.Header }, []client.Header{{Name: "X", Value: "y"}, {Name: "V", Value: `w\n`}, {Name: "V", Value: `w\n`}, {Name: "A", Value: "b"}}},
		{[]string{"--content-type", "text/css", "--header", "X: y"}, func(o *run.Options) any { return o.Header }, []client.Header{{Name: "X", Value: "y"}, {Name: "Content-Type", Value: "text/css"}}},
		{[]string{"--no-host-hdr"}, func(o *run.Options) any { return o.NoHost }, true},
		{[]string{"--http-version", "1.0"}, func(o *run.Options) any { return o.HTTP10 }, true},
		{[]string{"--http-version", "1.1"}, func(o *run.Options) any { return o.HTTP10 }, false},
		{[]string{"--data", "a,b=c"}, func(o *run.Options) any { return []string{o.Method, string(o.Body)} }, []string{"POST", "a,b=c"}},
		{[]string{"--data", "@" + file, "--method", "PUT"}, func(o *run.Options) any { return []string{o.Method, string(o.Body)} }, []string{"PUT", "from a file"}},
		{[]string{"--data-file", file}, func(o *run.Options) any { return []string{o.Method, string(o.Body)} }, []string{"POST", "from a file"}},
		{[]string{"--user-agent", "me"}, func(o *run.Options) any { return o.UserAgent }, "me"},
		{[]string{"--rate", "2000"}, func(o *run.Options) any { return []any{o.Process, o.RateText, o.Period} }, []any{constant(2000), "2000", false}},
		{[]string{"--rate", "0"}, func(o *run.Options) any { return []any{o.Process, o.RateText, o.Closed} }, []any{pacer.Process(nil), "0", 0}},
		{[]string{"--period", "e0.01"}, func(o *run.Options) any { return []any{pacer.Kind(o.Process), o.RateText, o.Period} }, []any{"poisson", "e0.01", true}},
		// The last one of several wins, also between --rate and --period.
		{[]string{"--rate", "1", "--rate", "2"}, func(o *run.Options) any { return o.RateText }, "2"},
		{[]string{"--rate", "1", "--period", "2"}, func(o *run.Options) any { return []any{o.RateText, o.Period} }, []any{"2", true}},
		{[]string{"--period", "2", "--rate", "1"}, func(o *run.Options) any { return []any{o.RateText, o.Period} }, []any{"1", false}},
		{[]string{"--timeout", "1", "--timeout", "2"}, func(o *run.Options) any { return o.Timeout }, 2 * time.Second},
		{[]string{"--closed", "5"}, func(o *run.Options) any { return []any{o.Closed, o.KeepOpen} }, []any{5, true}},
		{[]string{"--closed", "5", "--num-calls", "1"}, func(o *run.Options) any { return []any{o.Closed, o.KeepOpen} }, []any{5, false}},
		{[]string{"--closed", "5", "--no-keepalive"}, func(o *run.Options) any { return []any{o.Closed, o.KeepOpen} }, []any{5, false}},
		{[]string{"--connections", "5", "--rate", "1"}, func(o *run.Options) any { return o.Pool }, 5},
		{[]string{"--num-conns", "20k"}, func(o *run.Options) any { return o.NumConns }, uint64(20000)},
		{[]string{"--duration", "2"}, func(o *run.Options) any { return o.Duration }, 2 * time.Second},
		{[]string{"--runtime", "1m30s"}, func(o *run.Options) any { return o.Duration }, 90 * time.Second},
		{[]string{"--num-calls", "7"}, func(o *run.Options) any { return o.NumCalls }, 7},
		{[]string{"--burst-length", "3"}, func(o *run.Options) any { return o.Burst }, 3},
		{[]string{"--burst-pause", ".5"}, func(o *run.Options) any { return o.Pause }, 500 * time.Millisecond},
		{[]string{"--seed", "42"}, func(o *run.Options) any { return o.Seed }, uint64(42)},
		{[]string{"--client", "1/3"}, func(o *run.Options) any { return []int{o.Client, o.Clients} }, []int{1, 3}},
		{[]string{"--warmup", "3"}, func(o *run.Options) any { return o.Warmup }, 3 * time.Second},
		{[]string{"--drain", "0"}, func(o *run.Options) any { return *o.Drain }, time.Duration(0)},
		{nil, func(o *run.Options) any { return o.Drain == nil }, true},
		{[]string{"--window", "250ms"}, func(o *run.Options) any { return o.Window }, 250 * time.Millisecond},
		{[]string{"--start-at", "+10s"}, func(o *run.Options) any { return o.Start }, now.Add(10 * time.Second)},
		{nil, func(o *run.Options) any { return o.Start.IsZero() }, true},
		{[]string{"--timeout", "1.5"}, func(o *run.Options) any { return o.Timeout }, 1500 * time.Millisecond},
		{[]string{"--think-timeout", "2"}, func(o *run.Options) any { return o.ThinkTimeout }, 2 * time.Second},
		{[]string{"--connect-timeout", "2"}, func(o *run.Options) any { return o.ConnectTimeout }, 2 * time.Second},
		{[]string{"--reply-timeout", "2"}, func(o *run.Options) any { return o.ReplyTimeout }, 2 * time.Second},
		{[]string{"--deadline", "2"}, func(o *run.Options) any { return o.Deadline }, 2 * time.Second},
		{[]string{"--max-inflight", "100"}, func(o *run.Options) any { return o.MaxInflight }, 100},
		{[]string{"--max-connections", "100"}, func(o *run.Options) any { return o.MaxInflight }, 100},
		{[]string{"--backlog", "9"}, func(o *run.Options) any { return o.Backlog }, 9},
		{[]string{"--workers", "2"}, func(o *run.Options) any { return o.Workers }, 2},
		{[]string{"--spin", "none"}, func(o *run.Options) any { return o.Spin < 0 }, true},
		{[]string{"--spin", "20us"}, func(o *run.Options) any { return o.Spin }, 20 * time.Microsecond},
		{[]string{"--catch-up", "drop=5ms"}, func(o *run.Options) any { return o.CatchUp }, pacer.CatchUp{Drop: true, Bound: 5 * time.Millisecond}},
		{nil, func(o *run.Options) any { return o.CloseMode }, "auto"},
		{[]string{"--close-mode", "fin"}, func(o *run.Options) any { return o.CloseMode }, "fin"},
		{[]string{"--close-with-reset"}, func(o *run.Options) any { return o.CloseMode }, "rst"},
		{[]string{"--hog"}, func(o *run.Options) any { return o.Hog }, true},
		{[]string{"--myaddr", "127.0.0.2-127.0.0.4,127.0.1.1", "--myaddr", "source.test"}, func(o *run.Options) any { return o.Sources }, addrs("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.1.1", "127.0.0.2")},
		{[]string{"--myaddr", "source.test,::3-::4", "--ipv6"}, func(o *run.Options) any { return o.Sources }, addrs("::2", "::3", "::4")},
		{[]string{"--send-buffer", "4096"}, func(o *run.Options) any { return o.SendBuffer }, 4096},
		{[]string{"--recv-buffer", "16KiB"}, func(o *run.Options) any { return o.ReceiveBuffer }, 16384},
		{[]string{"--max-header-bytes", "1000"}, func(o *run.Options) any { return o.MaxHeader }, 1000},
		{[]string{"--expect-status", "2xx"}, func(o *run.Options) any { return []bool{o.Expect.Has(204), o.Expect.Has(304)} }, []bool{true, false}},
		{nil, func(o *run.Options) any { return o.Expect == nil }, true},
		{[]string{"--wlog", "y," + list}, func(o *run.Options) any { return []any{o.URIs, o.From, o.Once} }, []any{[]string{"/a", "/b?c"}, list, false}},
		{[]string{"--wlog", "n," + list}, func(o *run.Options) any { return []any{o.URIs, o.From, o.Once} }, []any{[]string{"/a", "/b?c"}, list, true}},
		{[]string{"--wset", "1k,.25"}, func(o *run.Options) any { return o.WorkingSet }, run.WorkingSet{N: 1000, Step: .25}},
		{nil, func(o *run.Options) any { return o.TLS == nil }, true},
		{[]string{"http://h.test/"}, func(o *run.Options) any { return o.TLS == nil }, true},
		{[]string{"https://h.test/a"}, func(o *run.Options) any { return []any{*o.TLS, o.Port, o.URI} }, []any{run.TLS{}, 443, "/a"}},
		{[]string{"HTTPS://h.test:444"}, func(o *run.Options) any { return []any{*o.TLS, o.Port, o.URI} }, []any{run.TLS{}, 444, "/"}},
		{[]string{"https://h.test/", "--port", "443"}, func(o *run.Options) any { return o.Port }, 443},
		{[]string{"https://h.test/", "--ssl"}, secured, run.TLS{}},
		// Each alone asks for TLS.
		{[]string{"--ssl"}, secured, run.TLS{}},
		{[]string{"--ssl-verify"}, secured, run.TLS{}},
		{[]string{"--ssl-verify=yes"}, secured, run.TLS{}},
		{[]string{"--ssl-verify=no"}, secured, run.TLS{Insecure: true}},
		{[]string{"--insecure"}, secured, run.TLS{Insecure: true}},
		{[]string{"-k"}, secured, run.TLS{Insecure: true}},
		{[]string{"https://h.test/", "-k"}, secured, run.TLS{Insecure: true}},
		{[]string{"--cacert", "a"}, secured, run.TLS{CAFile: "a"}},
		{[]string{"--ssl-ca-file", "a"}, secured, run.TLS{CAFile: "a"}},
		{[]string{"--ssl-ca-path", "a"}, secured, run.TLS{CAPath: "a"}},
		{[]string{"--cert", "a"}, secured, run.TLS{CertFile: "a"}},
		{[]string{"--ssl-certificate", "a"}, secured, run.TLS{CertFile: "a"}},
		{[]string{"--key", "a"}, secured, run.TLS{KeyFile: "a"}},
		{[]string{"--ssl-key", "a"}, secured, run.TLS{KeyFile: "a"}},
		{[]string{"--tls-server-name", "n.test"}, secured, run.TLS{ServerName: "n.test"}},
		{[]string{"--tls-min", "1.0"}, secured, run.TLS{Min: tls.VersionTLS10}},
		{[]string{"--tls-max", "1.2"}, secured, run.TLS{Max: tls.VersionTLS12}},
		{[]string{"--tls-min", "1.2", "--tls-max", "1.3"}, secured, run.TLS{Min: tls.VersionTLS12, Max: tls.VersionTLS13}},
		{[]string{"--tls-min", "auto"}, secured, run.TLS{}},
		{[]string{"--ssl-protocol", "TLSv1.2"}, secured, run.TLS{Min: tls.VersionTLS12, Max: tls.VersionTLS12}},
		{[]string{"--ssl-protocol", "auto"}, secured, run.TLS{}},
		{[]string{"--ssl-ciphers", "a:b"}, secured, run.TLS{Ciphers: "a:b"}},
		{[]string{"--ssl-no-reuse"}, secured, run.TLS{NoReuse: true}},
		{nil, session, "none"},
		{[]string{"--wsess", "10,5,.5", "--burst-length", "2"}, func(o *run.Options) any { return []any{o.NumConns, o.NumCalls, o.Burst, o.Pause} }, []any{uint64(10), 5, 2, 500 * time.Millisecond}},
		{[]string{"--wsess", "10,5,0"}, session, run.Session{}},
		{[]string{"--wsesspage", "2k,3,1.5"}, func(o *run.Options) any { return []any{o.NumConns, o.NumCalls, o.Pause, session(o)} }, []any{uint64(2000), 3, 1500 * time.Millisecond, run.Session{Pages: true}}},
		{[]string{"--wsesslog", "10,2,testdata/three.session"}, func(o *run.Options) any {
			return []any{o.NumConns, o.NumCalls, o.Pause, o.From, len(o.Session.Script), request(&o.Session.Script[0].Bursts[1].Requests[0])}
		}, []any{uint64(10), 1, 2 * time.Second, "testdata/three.session", 3, "POST  /form name=value&text=two\nlines"}},
		// What is said of connections and calls elsewhere gives way.
		{[]string{"http://h.test/", "--wsess", "10,5,0", "--rate", "5"}, func(o *run.Options) any { return []any{o.NumConns, o.Forever} }, []any{uint64(10), false}},
		{[]string{"--wsess", "10,5,0", "--closed", "3"}, func(o *run.Options) any { return []any{o.Closed, o.KeepOpen} }, []any{3, false}},
		{[]string{"--wsess", "10,5,0", "--max-connections", "8", "--max-piped-calls", "64"}, session, run.Session{MaxConns: 8, MaxPiped: 64}},
		{[]string{"--wsess", "10,5,0", "--max-connections", "8"}, func(o *run.Options) any { return o.MaxInflight }, 0},
		{[]string{"--max-connections", "8", "--max-inflight", "8"}, func(o *run.Options) any { return o.MaxInflight }, 8},
		{[]string{"--wsess", "10,5,0", "--failure-status", "404,5xx"}, func(o *run.Options) any {
			f := o.Session.Failure
			return []bool{f.Has(404), f.Has(503), f.Has(200)}
		}, []bool{true, true, false}},
		{[]string{"--wsess", "10,5,0", "--retry-on-failure"}, session, run.Session{Retry: true}},
		{[]string{"--session-cookies"}, func(o *run.Options) any { return []bool{o.Cookies, o.Follow} }, []bool{true, false}},
		{[]string{"--location"}, func(o *run.Options) any { return []bool{o.Cookies, o.Follow} }, []bool{false, true}},
		{[]string{"-L"}, func(o *run.Options) any { return o.Follow }, true},
		{[]string{"--servers", "testdata/two.servers"}, func(o *run.Options) any { return o.Servers }, []script.Server{{Host: "127.0.0.1", Port: 81, Weight: 1}, {Host: "127.0.0.2", Weight: 3}}},
		{[]string{"--targets", "testdata/two.targets"}, func(o *run.Options) any {
			return []any{o.From, o.Once, o.Forever, len(o.Requests), request(&o.Requests[0]), request(&o.Requests[1]), o.Requests[1].Header}
		}, []any{"testdata/two.targets", false, false, 2, "GET 127.0.0.1:81 /a ", "POST  /b the body", []script.Field{{Name: "Content-Type", Value: "text/plain"}}}},
		{[]string{"--har", "testdata/two.har"}, func(o *run.Options) any {
			return []any{o.From, o.Once, o.Forever, o.RateText, pacer.Kind(o.Process), len(o.Requests), request(&o.Requests[0]), request(&o.Requests[1])}
		}, []any{"testdata/two.har", true, true, "har:testdata/two.har", "trace", 2, "POST 127.0.0.1 /first a body", "GET 127.0.0.1 /second "}},
		{[]string{"http://h.test/", "--har", "testdata/two.har"}, func(o *run.Options) any { return []any{o.Server, request(&o.Requests[0])} }, []any{"h.test", "POST  /first a body"}},
		{[]string{"--server", "h.test", "--targets", "testdata/two.targets"}, func(o *run.Options) any { return []any{o.Server, request(&o.Requests[0])} }, []any{"h.test", "GET  /a "}},
		{[]string{"--access-log", "testdata/three.log", "--spread"}, func(o *run.Options) any { return o.Log.Len() }, uint64(3)},
		{[]string{"--har", "testdata/two.har", "--rate", "5"}, func(o *run.Options) any { return []any{o.Once, o.RateText} }, []any{false, "5"}},
		{[]string{"--access-log", "testdata/three.log"}, func(o *run.Options) any {
			return []any{o.From, o.NumConns, o.Forever, o.RateText, pacer.Kind(o.Process), o.Log.Len()}
		}, []any{"testdata/three.log", uint64(0), true, "access-log:testdata/three.log", "trace", uint64(3)}},
		{[]string{"--access-log", "testdata/three.log", "--rate", "5"}, func(o *run.Options) any { return []any{o.Process, o.RateText} }, []any{constant(5), "5"}},
		{[]string{"--access-log", "testdata/three.log", "--connections", "2"}, func(o *run.Options) any { return []any{o.Pool, pacer.Kind(o.Process)} }, []any{2, "trace"}},
		{[]string{"--access-log", "testdata/three.log", "--closed", "2"}, func(o *run.Options) any { return []any{o.Closed, o.Process} }, []any{2, pacer.Process(nil)}},
		{[]string{"--access-log", "testdata/three.log", "--speed", "4"}, ends, []any{750 * time.Millisecond, uint64(3), "access-log:testdata/three.log@4x"}},
		{[]string{"--har", "testdata/two.har", "--speed", "0.5x"}, ends, []any{time.Second, uint64(2), "har:testdata/two.har@0.5x"}},
		{[]string{"https://h.test/", "--http2"}, func(o *run.Options) any { return []bool{o.HTTP2, o.TLS != nil} }, []bool{true, true}},
		{[]string{"http://h.test/", "--http2-prior-knowledge"}, func(o *run.Options) any { return []bool{o.HTTP2, o.TLS != nil} }, []bool{true, false}},
		{[]string{"https://h.test/", "--http2", "--closed", "40", "--connections", "4", "--max-streams", "20"}, func(o *run.Options) any { return []any{o.Closed, o.Pool, o.MaxStreams, o.KeepOpen} }, []any{40, 4, 20, false}},
		{nil, func(o *run.Options) any { return o.Expand }, true},
		{[]string{"--no-expand"}, func(o *run.Options) any { return o.Expand }, false},
	} {
		for _, arg := range tt.args {
			name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			used[name] = used[name] || strings.HasPrefix(arg, "--")
		}
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			o, _ := parseRun(t, append([]string{"httpgen"}, tt.args...)...)
			if have := tt.have(&o); !reflect.DeepEqual(have, tt.want) {
				t.Errorf("have %v, want %v", have, tt.want)
			}
		})
	}
	// Those that have no field in run.Options.
	others := []string{"help", "version", "output", "quiet", "verbose", "periodic-stats", "print-reply", "print-request", "dry-run", "debug", "use-timer-cache"}
	others = append(others, monitorFlags...)
	for name := range runFlags(t) {
		if !used[name] && !slices.Contains(others, name) {
			t.Errorf("--%s is not tested", name)
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	o, _ := parseRun(t, "httpgen", "-H", "Authorization: secret", "--rate", "5")
	if want := []string{"httpgen", "-H", "Authorization: secret", "--rate", "5"}; !slices.Equal(o.Argv, want) || o.Classic {
		t.Errorf("argv %q, classic %v; want %q, false", o.Argv, o.Classic, want)
	}
	if o, _ = parseRun(t, "httperf", "--rate", "5"); !o.Classic || o.Expand {
		t.Errorf("httperf: classic %v, placeholders expanded %v; want true, false", o.Classic, o.Expand)
	}
}

func TestAmount(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, []byte("0\n0.1\n0.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		argv string
		want arrivals
	}{
		{"httpgen", arrivals{conns: 1}},
		{"httpgen http://h/", arrivals{conns: 1}},
		{"httpgen http://h/ -r 5", arrivals{forever: true}},
		{"httpgen http://h/ --period .1", arrivals{forever: true}},
		{"httpgen http://h/ -r 5 --timeout 1", arrivals{forever: true}},
		{"httpgen http://h/ -r 5 -c 3", arrivals{forever: true}},
		{"httpgen http://h/ --closed 3", arrivals{forever: true}},
		{"httpgen http://h/ -r 0", arrivals{conns: 1}},
		{"httpgen http://h/ -r 5 --num-calls 2", arrivals{conns: 1}},
		{"httpgen http://h/ -r 5 --burst-length 2", arrivals{conns: 1}},
		{"httpgen http://h/ -r 5 -n 20k", arrivals{conns: 20000}},
		{"httpgen http://h/ -r 5 -z 3s", arrivals{duration: 3 * time.Second}},
		{"httpgen http://h/ -r 5 -z 3s -n 20", arrivals{conns: 20, duration: 3 * time.Second}},
		{"httpgen http://h/ -z 3s", arrivals{duration: 3 * time.Second}},
		{"httpgen http://h/ -n 20", arrivals{conns: 20}},
		{"httpgen --server h --rate 5", arrivals{conns: 1}},
		{"httpgen --server h --rate 5 --runtime 3", arrivals{duration: 3 * time.Second}},
		{"httpgen --server h --rate 100:1s,0:1s", arrivals{forever: true}},
		{"httpgen --server h --rate trace:" + trace, arrivals{forever: true}},
		{"httpgen --targets testdata/two.targets", arrivals{conns: 1}},
		{"httpgen --targets testdata/two.targets -r 5", arrivals{forever: true}},
		{"httpgen --servers testdata/two.servers -r 5", arrivals{forever: true}},
		{"httpgen --servers testdata/two.servers -r 5 -n 3", arrivals{conns: 3}},
		{"httpgen --har testdata/two.har -r 5", arrivals{forever: true}},
		{"httpgen --har testdata/two.har -n 1", arrivals{conns: 1}},
		{"httpgen --server h --access-log testdata/three.log", arrivals{forever: true}},
		{"httpgen --server h --access-log testdata/three.log -n 2", arrivals{conns: 2}},
		{"httpgen --server h --access-log testdata/three.log -z 2s", arrivals{duration: 2 * time.Second}},
		{"httpgen --server h --access-log testdata/three.log -r 5", arrivals{forever: true}},
		{"httpgen --server h --access-log testdata/three.log -r 5 -n 20", arrivals{conns: 20}},
		{"httperf --server h --access-log testdata/three.log", arrivals{forever: true}},
		{"httpgen http://h/ --wsess 7,2,1 -r 5", arrivals{conns: 7}},
		{"httpgen http://h/ --wsess 7,2,1 -r 5 -z 1s", arrivals{conns: 7, duration: time.Second}},
		{"httperf --server h --rate 5 --runtime 3", arrivals{conns: 1, duration: 3 * time.Second}},
		{"httperf http://h/ --rate 5", arrivals{conns: 1}},
	} {
		t.Run(tt.argv, func(t *testing.T) {
			t.Parallel()
			o, _ := parseRun(t, strings.Fields(tt.argv)...)
			if have := (arrivals{o.NumConns, o.Duration, o.Forever}); have != tt.want {
				t.Errorf("have %+v, want %+v", have, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string // empty for none
	}{
		{[]string{"--method", "HEAD"}, ""},
		{[]string{"--method", "head"}, "--method head: methods are case-sensitive"},
		{[]string{"--add-header", `X: y\n`}, ""},
		{[]string{"--add-header", "X: y"}, "--add-header: "},
		{[]string{"--start-at", "2030-01-02T03:04:04Z"}, "--start-at: 2030-01-02T03:04:04Z is over"},
		{[]string{"--start-at", "2030-01-02T03:04:06Z"}, ""},
		{[]string{"http://h.test/", "--wlog", "y,testdata/bad.list"}, ""},
		{[]string{"http://h.test/x", "--wlog", "y,testdata/bad.list"}, "--wlog: /x is not asked for"},
		{[]string{"--uri", "/x", "--wlog", "y,testdata/bad.list"}, "--wlog: /x is not asked for"},
		{[]string{"--uri", "/x", "--wset", "5,1"}, ""},
		{[]string{"--wsess", "10,2,1", "--num-conns", "10"}, ""},
		{[]string{"--wsess", "10,2,1", "--num-conns", "5"}, "--num-conns 5 has no effect, --wsess says 10"},
		{[]string{"--wsess", "10,2,1", "--num-calls", "5"}, "--num-calls 5 has no effect with --wsess"},
		{[]string{"--wsesslog", "10,2,testdata/three.session", "--burst-length", "5"}, "--burst-length 5 has no effect, the bursts are those of testdata/three.session"},
		{[]string{"--wsesslog", "10,2,testdata/three.session", "--uri", "/x"}, "--wsesslog: /x is not asked for"},
		{[]string{"--max-piped-calls", "4"}, "--max-piped-calls has no effect without sessions"},
		{[]string{"--failure-status", "404"}, "--failure-status has no effect without sessions, as in httperf: --expect-status"},
		{[]string{"--retry-on-failure"}, "--retry-on-failure has no effect without sessions"},
		{[]string{"--targets", "testdata/two.targets"}, ""},
		{[]string{"--targets", "testdata/two.targets", "--uri", "/x"}, "--targets: /x is not asked for"},
		{[]string{"--har", "testdata/two.har"}, "--har testdata/two.har: entries with the scheme data are left out: 1"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			_, warnings := parseRun(t, append([]string{"httpgen"}, tt.args...)...)
			have := strings.Join(warnings, "\n")
			if tt.want == "" && have != "" || !strings.HasPrefix(have, tt.want) {
				t.Errorf("have %q, want %q", have, tt.want)
			}
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list string
		want int // addresses; 0 for an error
	}{
		{"10.0.0.0-10.0.255.255", 1 << 16},
		{"10.0.0.0-10.1.0.0", 0},
		{"10.0.0.0-10.0.255.255,127.0.0.1", 0},
		{"255.255.255.254-255.255.255.255", 2},
		{"127.0.0.1-::1", 0},
		{"127.0.0.1-x", 0},
		{"127.0.0.1,", 0},
		{"none.test", 0},
		{"with-dash.test", 0},
		{"fe80::1%eth0", 1},
	} {
		t.Run(tt.list, func(t *testing.T) {
			t.Parallel()
			have, err := sources([]string{tt.list}, false, testLookup)
			if len(have) != tt.want || (err != nil) != (tt.want == 0) {
				t.Errorf("%d addresses, error %v; want %d", len(have), err, tt.want)
			}
		})
	}
}

func TestServeOptions(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, tt := range []struct {
		args string
		have func(o *target.Options) any
		want any
	}{
		{"", func(o *target.Options) any { return *o }, target.Options{Listen: "127.0.0.1:8080"}},
		{":0", func(o *target.Options) any { return o.Listen }, ":0"},
		{"--listen [::1]:0", func(o *target.Options) any { return o.Listen }, "[::1]:0"},
		{"--service-time exp:2ms", func(o *target.Options) any { return o.Service }, target.Exponential(2 * time.Millisecond)},
		{"--service-time 1ms --workers 3", func(o *target.Options) any { return o.Workers }, 3},
		{"--service-time 1ms --workers 3 --queue 5", func(o *target.Options) any { return o.Queue }, 5},
		{"--service-time 1ms --workers 3 --queue 0", func(o *target.Options) any { return o.Queue }, target.NoQueue},
		{"--service-time 1ms --workers 3 --queue 5 --overload reset", func(o *target.Options) any { return o.Overload }, target.Reset},
		{"--service-time 1ms --workers 3 --overload accept", func(o *target.Options) any { return o.Overload }, target.AcceptLate},
		{"--capacity 0.5", func(o *target.Options) any { return o.Capacity }, 0.5},
		{"--capacity 400 --queue 5 --overload reset", func(o *target.Options) any { return []any{o.Queue, o.Overload} }, []any{5, target.Reset}},
		{"--capacity 400 --service-time 5ms", func(o *target.Options) any { return o.Service }, target.Constant(5 * time.Millisecond)},
		{"--capacity 400 --collapse 0.5", func(o *target.Options) any { return o.Collapse }, target.Collapse{Kept: 0.5, Hold: 5 * time.Second}},
		{"--capacity 400 --collapse 0.25:1s --queue 32", func(o *target.Options) any { return []any{o.Collapse, o.Queue} }, []any{target.Collapse{Kept: 0.25, Hold: time.Second}, 32}},
		{"--capacity 400 --collapse 0.5 --overload reset", func(o *target.Options) any { return o.Overload }, target.Reset},
		{"--capacity 400 --shares 127.0.0.2=1,::1=3", func(o *target.Options) any { return o.Shares },
			[]target.Share{{Source: netip.MustParseAddr("127.0.0.2"), Weight: 1}, {Source: netip.MustParseAddr("::1"), Weight: 3}}},
		{"--service-time 5ms --workers 2 --shares 127.0.0.2=1 --queue 8 --overload reset", func(o *target.Options) any { return []any{len(o.Shares), o.Queue} }, []any{1, 8}},
		{"--size 0 --status 204", func(o *target.Options) any { return []int{o.Size, o.Status} }, []int{target.NoBody, 204}},
		{"--silent --freeze 1s@2s --for 3s", func(o *target.Options) any { return len(o.Freeze) }, 1},
		{"--backlog 64", func(o *target.Options) any { return o.Backlog }, 64},
		{"--size 1k", func(o *target.Options) any { return o.Size }, 1000},
		{"--size 0", func(o *target.Options) any { return o.Size }, target.NoBody},
		{"--status 404", func(o *target.Options) any { return o.Status }, 404},
		{"--reply-status 404", func(o *target.Options) any { return o.Status }, 404},
		{"--freeze 1s@2s --freeze 1s@5s", func(o *target.Options) any { return o.Freeze }, []target.Freeze{{Length: time.Second, At: 2 * time.Second}, {Length: time.Second, At: 5 * time.Second}}},
		{"--silent", func(o *target.Options) any { return o.Silent }, true},
		{"--deaf", func(o *target.Options) any { return o.Deaf }, true},
		{"--close", func(o *target.Options) any { return o.Close }, true},
		{"--service-time exp:1ms --seed 7", func(o *target.Options) any { return o.Seed }, uint64(7)},
	} {
		for _, arg := range strings.Fields(tt.args) {
			used[strings.TrimPrefix(arg, "--")] = true
		}
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			g, _ := parsed(t, append([]string{"httpgen", "serve"}, strings.Fields(tt.args)...)...)
			o, err := g.Serve.options()
			if err != nil {
				t.Fatal(err)
			}
			if have := tt.have(&o); !reflect.DeepEqual(have, tt.want) {
				t.Errorf("have %v, want %v", have, tt.want)
			}
		})
	}
	_, k := newGrammar()
	for _, f := range child(k, "serve").Flags {
		if !used[f.Name] && f.Name != "for" {
			t.Errorf("serve --%s is not tested", f.Name)
		}
	}
}
