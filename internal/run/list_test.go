package run

import (
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWorkingSetURIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n      int
		prefix string
		i      int
		want   string
	}{
		{1, "/", 0, "/0.html"},
		{10, "/", 7, "/7.html"},
		{11, "/", 7, "/0/7.html"},
		{100, "/", 99, "/9/9.html"},
		{101, "/", 99, "/0/9/9.html"},
		{1000, "/ok", 12, "/ok/0/1/2.html"},
		{1000, "/ok/", 12, "/ok/0/1/2.html"},
		{1000, "/ok//", 12, "/ok//0/1/2.html"},
		{1000000, "/a?b=", 123456, "/a?b=/1/2/3/4/5/6.html"},
	} {
		if have := (WorkingSet{N: tt.n}).uri(tt.prefix)(tt.i); have != tt.want {
			t.Errorf("file %d of %d below %q: %s, want %s", tt.i, tt.n, tt.prefix, have, tt.want)
		}
	}
}

// asked returns a server and a function that returns what it was asked for, in
// alphabetical order.
func asked(t *testing.T) (host string, port int, uris func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	host, port = server(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		all = append(all, r.URL.RequestURI())
		mu.Unlock()
		hello(w, r)
	})
	return host, port, func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(all)
		return all
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	abc := []string{"/a", "/b", "/c?d=e"}
	for _, tt := range []struct {
		name  string
		o     Options
		want  string // in alphabetical order
		conns uint64
	}{
		{"in order", Options{URIs: abc, NumConns: 4}, "/a /a /b /c?d=e", 4},
		{"calls", Options{URIs: abc, NumConns: 2, NumCalls: 4, Burst: 2}, "/a /a /a /b /b /b /c?d=e /c?d=e", 2},
		{"one by default", Options{URIs: abc, Once: true}, "/a", 1},
		{"once", Options{URIs: abc, Once: true, NumConns: 10}, "/a /b /c?d=e", 3},
		{"once, in part", Options{URIs: abc, Once: true, NumConns: 2}, "/a /b", 2},
		{"once, a short connection", Options{URIs: abc, Once: true, NumConns: 10, NumCalls: 2}, "/a /b /c?d=e", 2},
		{"once, whatever the time", Options{URIs: abc, Once: true, Duration: time.Hour, NumCalls: 2}, "/a /b /c?d=e", 2},
		{"once, without an end of its own", Options{URIs: abc, Once: true, Forever: true}, "/a /b /c?d=e", 3},
		{"once, closed", Options{URIs: abc, Once: true, NumConns: 10, Closed: 2, KeepOpen: true}, "/a /b /c?d=e", 3},
		{"once, closed for a time", Options{URIs: abc, Once: true, Duration: time.Hour, Closed: 2}, "/a /b /c?d=e", 3},
		{"once, on a pool", Options{URIs: abc, Once: true, NumConns: 10, Pool: 2}, "/a /b /c?d=e", 3},
		{"once, on several loops", Options{URIs: abc, Once: true, NumConns: 10, Workers: 3, NumCalls: 2}, "/a /b /c?d=e", 2},
		{"working set", Options{WorkingSet: WorkingSet{N: 12, Step: .5}, NumConns: 5, URI: "/x/"}, "/x/0/0.html /x/0/1.html /x/0/1.html /x/0/2.html /x/0/2.html", 5},
		{"working set of a client", Options{WorkingSet: WorkingSet{N: 10, Step: 1}, NumConns: 5, Client: 1, Clients: 3}, "/0.html /3.html /4.html /6.html /7.html", 5},
		{"working set that stands", Options{WorkingSet: WorkingSet{N: 10}, NumConns: 2, NumCalls: 2}, "/0.html /0.html /0.html /0.html", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host, port, uris := asked(t)
			o := tt.o
			o.Server, o.Port = host, port
			if o.Closed == 0 {
				o.Process = parse(t, "500")
			}
			res := do(t, o)
			have := strings.Join(uris(), " ")
			calls := uint64(strings.Count(tt.want, " ") + 1)
			if n := &res.Totals; have != tt.want || n.Completed != tt.conns || n.Calls.Planned != calls || n.Calls.Replied != calls || n.LostCalls != 0 || !res.Run.Complete {
				t.Errorf("asked for %s with %d arrivals, %d of %d calls replied, %d lost, complete %v; want %s with %d, all of %d, none, true",
					have, n.Completed, n.Calls.Replied, n.Calls.Planned, n.LostCalls, res.Run.Complete, tt.want, tt.conns, calls)
			}
		})
	}
}

func TestListPlan(t *testing.T) {
	t.Parallel()
	abc := []string{"/a", "/b", "/c"}
	for _, tt := range []struct {
		name       string
		o          Options
		want, echo string
	}{
		{"again and again", Options{URIs: abc, From: "f", NumConns: 10}, "A list of 3 URIs from f, in order over all calls, again and again.", "--num-conns=10 --num-calls=1"},
		{"once", Options{URIs: abc, From: "f", Once: true, NumConns: 10}, "A list of 3 URIs from f, each asked for at most once: the run ends with the list at the latest.", "--num-conns=3 --num-calls=1"},
		{"once, short", Options{URIs: abc, Once: true, NumConns: 10, NumCalls: 2}, "A list of 3 URIs, each asked for at most once: the run ends with the list at the latest, its last connection with 1 call.", "--num-conns=2 --num-calls=2"},
		{"once, in part", Options{URIs: abc, Once: true, NumConns: 1, NumCalls: 2}, "A list of 3 URIs, each asked for at most once: the run ends with the list at the latest.", "--num-conns=1 --num-calls=2"},
		{"working set", Options{WorkingSet: WorkingSet{N: 100, Step: .25}, NumConns: 10}, "A working set of 100 files from /0/0.html to /9/9.html: each call moves on by 0.25 of a file.", "--num-calls=1 --wset=100,0.250"},
		{"working set of a client", Options{WorkingSet: WorkingSet{N: 100, Step: 1}, NumConns: 10, Client: 1, Clients: 3}, "each call moves on by 1 of a file, of every 3 from number 1.", "--num-calls=1 --wset=100,1.000"},
		{"none", Options{NumConns: 10}, "", "--num-conns=10 --num-calls=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.o
			o.Server, o.Process = "127.0.0.1", parse(t, "100")
			r := planned(t, o)
			have := strings.Join(r.Plan().Header, "\n")
			if tt.want != "" && !strings.Contains(have, tt.want+"\n") || tt.want == "" && strings.Contains(have, "list") {
				t.Errorf("plan:\n%s\nwant %q", have, tt.want)
			}
			if have := r.echo(); !strings.HasSuffix(have, tt.echo) {
				t.Errorf("echo %q, want %q at its end", have, tt.echo)
			}
		})
	}
}

func TestListsRefused(t *testing.T) {
	t.Parallel()
	long := slices.Repeat([]string{"/a"}, 1100)
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"both", "more than one of a list of URIs", Options{URIs: []string{"/"}, WorkingSet: WorkingSet{N: 5}}},
		{"no list", "once without a list", Options{Once: true}},
		{"bad URI", `entry 2 of "f": URI "b c": want no blanks`, Options{URIs: []string{"/a", "b c"}, From: "f"}},
		{"bad method", `method "GE T": want a token`, Options{URIs: []string{"/a"}, From: "f", Method: "GE T"}},
		{"bad prefix", `URI "/a b": want no blanks`, Options{WorkingSet: WorkingSet{N: 5}, URI: "/a b"}},
		{"too many files", "working set of 1000001 files: want 1 to 1000000", Options{WorkingSet: WorkingSet{N: MaxWorkingSet + 1}}},
		{"fewer than none", "working set of -1 files", Options{WorkingSet: WorkingSet{N: -1}}},
		{"step", "a step of 1.5 of a file: want 0 to 1", Options{WorkingSet: WorkingSet{N: 5, Step: 1.5}}},
		{"step that is none", "a step of NaN of a file", Options{WorkingSet: WorkingSet{N: 5, Step: math.NaN()}}},
		{"memory", `1100 requests of "f" of 1048`, Options{URIs: long, From: "f", Method: "POST", Body: make([]byte, 1<<20)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Failures of TLS reach the result, those of the warm-up apart.
func TestTLSFailuresInTheResult(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	a := s.Listener.Addr().(*net.TCPAddr)
	o := Options{Server: a.IP.String(), Port: a.Port, Process: parse(t, "500"), NumConns: 20, TLS: &TLS{}, Warmup: 10 * time.Millisecond}
	res := do(t, o)
	if a, w := res.Totals.TLSFailures, res.Warmup.TLSFailures; res.Totals.Errors.TLS != 15 || a["unknown_authority"] != 15 || w["unknown_authority"] != 5 {
		t.Errorf("%d errors, %v, in the warm-up %v: want 15 and 5 of an unknown_authority", res.Totals.Errors.TLS, a, w)
	}
	o.TLS, o.Warmup = &TLS{Insecure: true}, 0
	if res := do(t, o); res.Totals.Completed != 20 || res.Totals.TLSFailures != nil {
		t.Errorf("%d completed, failures %v: want 20 and none", res.Totals.Completed, res.Totals.TLSFailures)
	}
}
