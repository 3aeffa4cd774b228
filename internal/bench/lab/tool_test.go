package lab

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	httperfText = `httperf --timeout=5 --client=0/1 --server=127.0.0.1 --port=8081 --rate=60000
Maximum connect burst length: 1942

Total: connections 1093 requests 1093 replies 1093 test-duration 0.500 s

Errors: total 1907 client-timo 0 socket-timo 0 connrefused 0 connreset 0
Errors: fd-unavail 1907 addrunavail 0 ftab-full 0 other 0
`
	wrkText = `Running 1s test @ http://127.0.0.1:8081/test.html
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Req/Sec    19.47k   390.48    20.04k    63.64%
  21304 requests in 1.10s, 20.40MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 4
Requests/sec:  19323.44
Transfer/sec:     18.50MB
`
	abText = `Concurrency Level:      50
Time taken for tests:   0.162 seconds
Complete requests:      3000
Failed requests:        10
   (Connect: 0, Receive: 0, Length: 10, Exceptions: 0)
Requests per second:    18474.27 [#/sec] (mean)
`
	heyText = `Summary:
  Total:	0.3661 secs
  Requests/sec:	8194.6190

Status code distribution:
  [200]	2990 responses
  [503]	3 responses

Error distribution:
  [7]	Get "http://127.0.0.1:8081/": dial tcp 127.0.0.1:8081: connect: connection refused
`
	vegetaText = `{"requests":739,"rate":3702.79,"throughput":3119.5,"success":0.99,"status_codes":{"0":2,"200":737},"errors":["x"]}`
	bareText   = "ok=12000 failed=3 rate=15251.8 seconds=0.786790 user_us=5.946\n"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		parse      func(string) (Measurement, error)
		want       Measurement
	}{
		{"httpgen", `{"totals":{"replies":30,"unfinished":1,"errors":{"total":4},"arrivals":{"shed":{"late":5}}},"run":{"total_seconds":2}}`, parseHttpgen, Measurement{OK: 30, Failed: 10, Rate: 15}},
		{"bare loop", bareText, parseBare, Measurement{OK: 12000, Failed: 3, Rate: 15251.8}},
		{"httperf", httperfText, parseHttperf, Measurement{OK: 1093, Failed: 1907, Rate: 2186}},
		{"wrk", wrkText, parseWrk, Measurement{OK: 21300, Failed: 14, Rate: 19323.44}},
		{"ab", abText, parseAb, Measurement{OK: 2990, Failed: 10, Rate: 18474.27}},
		{"hey", heyText, parseHey, Measurement{OK: 2990, Failed: 10, Rate: 8194.619}},
		{"vegeta", vegetaText, parseVegeta, Measurement{OK: 737, Failed: 2, Rate: 3119.5}},
	} {
		if got, err := tt.parse(tt.text); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
		if _, err := tt.parse("connect: connection refused\n"); err == nil {
			t.Errorf("%s: no error without figures", tt.name)
		}
	}
}

// Every tool is asked for the same page, and for a bounded amount.
func TestCommands(t *testing.T) {
	t.Parallel()
	b := &Bench{Dir: "/d", Httpgen: "/d/httpgen", Bare: "/d/bare"}
	s := &Server{Host: "127.0.0.1", Port: 81, Path: "/p"}
	for _, tt := range []struct {
		name string
		load Load
		want map[string]string // a part of the command that bounds it or says what it does, by tool
	}{
		{"one source", Load{Server: s, Count: 123, Sources: 1}, map[string]string{
			"httpgen": "--num-conns 123", "bare loop": "-n 123 -sources 1", "httperf": "--num-conns 123",
			"wrk": "-d 1s -H Connection: close", "ab": "-n 123", "hey": "-n 123 -disable-keepalive", "vegeta": "1s false",
		}},
		{"many sources", Load{Server: s, Count: 123, Sources: 64}, map[string]string{
			"httpgen": "--num-conns 123 --myaddr 127.0.1.1-127.0.1.64", "bare loop": "-n 123 -sources 64",
		}},
		{"kept alive", Load{Server: s, Length: 2 * time.Second}, map[string]string{
			"httpgen": "--closed 50 --duration 2s", "bare loop": "-closed 50 -d 2s", "httperf": "--num-conns 50 --num-calls 2000",
			"wrk": "-d 2s", "ab": "-k -n 100000", "hey": "-z 2s", "vegeta": "2s true",
		}},
	} {
		for _, tool := range append([]*Tool{Httpgen, Bare}, Peers...) {
			want, ok := tt.want[tool.Name]
			if !ok {
				continue
			}
			got := strings.Join(tool.argv(b, &tt.load, "/d/out"), " ")
			if !strings.Contains(got, want) || !strings.Contains(got, "81") || !strings.Contains(got, "/p") {
				t.Errorf("%s, %s: %s, want %q in it", tt.name, tool.Name, got, want)
			}
		}
	}
}

func TestPaceCommands(t *testing.T) {
	t.Parallel()
	b := &Bench{Dir: "/d", Httpgen: "/d/httpgen", Bare: "/d/bare"}
	s := &Server{Host: "127.0.0.1", Port: 81, Path: "/p"}
	for _, tt := range []struct {
		tool *Tool
		want []string
	}{
		{Bare, []string{"/d/bare", "-addr", "127.0.0.1:81", "-path", "/p", "-rate", "500", "-n", "1500"}},
		{Httperf, []string{"httperf", "--server", "127.0.0.1", "--port", "81", "--uri", "/p", "--rate", "500", "--num-conns", "1500", "--num-calls", "1", "--timeout", "5"}},
		{Httpgen, []string{"/d/httpgen", "-q", "-o", "json", "--server", "127.0.0.1", "--port", "81", "--uri", "/p", "--rate", "500", "--num-conns", "1500", "--num-calls", "1", "--timeout", "5"}},
	} {
		if got := paceCommand(b, tt.tool, s, 500, 1500); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.tool.Name, got, tt.want)
		}
	}
	if _, err := Wrk.Pace(t.Context(), b, s, 500, time.Second); err == nil {
		t.Error("Pace of wrk, which has no rate: no error")
	}
}

func TestPerCall(t *testing.T) {
	t.Parallel()
	m := Measurement{OK: 1000, User: 2 * time.Millisecond, System: 40 * time.Millisecond}
	if m.UserMicros() != 2 || m.SystemMicros() != 40 {
		t.Errorf("user %v, system %v us, want 2 and 40", m.UserMicros(), m.SystemMicros())
	}
	if got := (&Measurement{User: time.Second}).UserMicros(); got != 0 {
		t.Errorf("user %v us without calls, want 0", got)
	}
}
