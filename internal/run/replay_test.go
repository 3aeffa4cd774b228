package run

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/accesslog"
)

// opened writes an access log and opens it.
func opened(t *testing.T, text string) *accesslog.Log {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := accesslog.Open(name, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

const shortLog = `10.0.0.1 - - [02/Jan/2030:03:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "one"
10.0.0.1 - - [02/Jan/2030:03:04:05 +0000] "HEAD /b?{seq} HTTP/1.1" 200 5 "http://h/a" "two"
10.0.0.1 - - [02/Jan/2030:03:04:06 +0000] "DELETE /c HTTP/1.1" 200 5 "-" "-"
`

func TestReplay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		want []string
	}{
		{"once more than it is long", Options{NumConns: 4}, []string{"GET /a - one", "HEAD /b?{seq} http://h/a two", "DELETE /c - httpgen", "GET /a - one"}},
		{"several calls", Options{NumConns: 1, NumCalls: 4}, []string{"GET /a - one", "HEAD /b?{seq} http://h/a two", "DELETE /c - httpgen", "GET /a - one"}},
		{"what is asked for wins", Options{NumConns: 2, UserAgent: "own", Header: []client.Header{{Name: "X", Value: "y"}}, Method: "PUT", Body: []byte("x"), Expand: true},
			[]string{"GET /a - own", "HEAD /b?{seq} http://h/a own"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []string
			host, port := server(t, func(w http.ResponseWriter, r *http.Request) {
				agent, _, _ := strings.Cut(r.UserAgent(), "/")
				from := r.Referer()
				if from == "" {
					from = "-"
				}
				mu.Lock()
				asked = append(asked, strings.Join([]string{r.Method, r.RequestURI, from, agent}, " "))
				mu.Unlock()
				hello(w, r)
			})
			o := tt.o
			o.Server, o.Port, o.Log = host, port, opened(t, shortLog)
			res := do(t, o)
			if !slices.Equal(asked, tt.want) || res.Totals.Replies != uint64(len(tt.want)) {
				t.Errorf("asked for %q with %d replies, want %q", asked, res.Totals.Replies, tt.want)
			}
		})
	}
}

// The run's schedule has the gaps of the log, divided by the speed, for any number
// of loops.
func TestReplayKeepsTheGaps(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var at []time.Duration
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 1000 {
		// Bursts, and gaps of one to seven seconds between them.
		last := time.Duration(0)
		if i > 0 {
			last = at[i-1]
		}
		if i%4 == 3 {
			last += time.Duration(1+i%7) * time.Second
		}
		at = append(at, last)
		fmt.Fprintf(&text, "10.0.0.1 - - [%s] \"GET /%d HTTP/1.1\" 200 5\n", start.Add(last).Format("02/Jan/2006:15:04:05 -0700"), i)
	}
	l := opened(t, text.String())
	for _, loops := range []int{1, 2, 3} {
		r := planned(t, Options{Server: "127.0.0.1", Log: l, Process: l.Process(4), Forever: true, Workers: loops})
		have := make([]time.Duration, len(at))
		n := 0
		for shard := range loops {
			s := r.streams[0].as.Process.Schedule(shard, loops, r.streams[0].as.Seed)
			for {
				index, due, ok := s.Next()
				if !ok {
					break
				}
				have[index] = due * 4
				n++
			}
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if n != len(at) || !slices.Equal(have, at) {
			t.Errorf("%d loops: %d arrivals, want %d at the log's times", loops, n, len(at))
		}
		if want := at[len(at)-1] / 4; r.count != 1000 || r.plannedEnd < want || r.plannedEnd > want+time.Second {
			t.Errorf("%d arrivals until %v planned, want 1000 until %v", r.count, r.plannedEnd, want)
		}
	}
}

func TestReplayPlan(t *testing.T) {
	t.Parallel()
	const more = `10.0.0.1 - - [02/Jan/2030:03:04:05 +0000] "GET /d HTTP/1.1" 200 5
10.0.0.1 - - [02/Jan/2030:03:04:06 +0000] "-" 400 0
`
	for _, tt := range []struct{ name, text, want string }{
		{"plain", shortLog, "An access log of 3 requests over 1 s from f."},
		{"with more", shortLog + more, "An access log of 4 requests over 1 s from f; left out: 1 line without a request, 0 that cannot be sent, 0 cut off; 1 request out of order, taken at the time of the one before."},
	} {
		r := planned(t, Options{Server: "127.0.0.1", Log: opened(t, tt.text), From: "f", Process: parse(t, "5"), NumConns: 5})
		if have := r.Plan().Header; !slices.Contains(have, tt.want) {
			t.Errorf("%s: plan %q, want %q in it", tt.name, have, tt.want)
		}
	}
}

func TestReplayRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"bursts", "f in bursts or sessions", Options{Burst: 2, NumCalls: 2}},
		{"sessions", "f in bursts or sessions", Options{Session: &Session{}}},
		{"list", "a log, a working set and a script: want one of them", Options{URIs: []string{"/"}}},
	} {
		tt.o.Log, tt.o.From = opened(t, shortLog), "f"
		if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

// A log that is no longer what it was ends the run with an error, and a result
// whose accounts hold.
func TestReplayOfAChangedLog(t *testing.T) {
	t.Parallel()
	host, port := server(t, hello)
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(strings.Repeat(shortLog, 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := accesslog.Open(name, accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := planned(t, Options{Server: host, Port: port, Log: l, From: name, NumConns: 1200})
	if err := os.Truncate(name, 1000); err != nil {
		t.Fatal(err)
	}
	res, err := r.Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "log") || res == nil {
		t.Fatalf("result %v, error %v; want both", res, err)
	}
	if n := &res.Totals; n.Arrivals.Started != n.Completed+n.Errors.Total+n.Unfinished || n.Calls.Planned != n.Calls.Replied+n.Calls.Unanswered+n.Calls.Unsent+n.Calls.Unfinished {
		t.Errorf("the accounts do not balance: %+v", n)
	}
}
