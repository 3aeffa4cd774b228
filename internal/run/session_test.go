package run

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"httpgen/client"
	"httpgen/internal/script"
)

// scripted parses a session file.
func scripted(t *testing.T, text string) []script.Session {
	t.Helper()
	s, err := script.ParseSessions("f", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const twoSessions = "/a think=1\n /b\n/c\n\n/d think=.5\n/e method=PUT contents=x think=9\n/f\n"

func TestSessionPlan(t *testing.T) {
	t.Parallel()
	failure, err := ParseStatusSet("404,5xx")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    Options
		want string // line of the plan
		echo string // end of the command
	}{
		{"calls", Options{Session: &Session{}, NumConns: 10, NumCalls: 5, Burst: 2, Pause: 500 * time.Millisecond},
			"100 sessions/s x 5 calls = 500 calls/s for 0.1 s, 10 sessions", "--rate=100 --wsess=10,5,0.500 --burst-length=2"},
		{"one after another", Options{Session: &Session{}, Closed: 1, NumConns: 10, NumCalls: 5},
			"Closed model: 1 session at a time x 5 calls, 10 sessions", "--uri=/ --wsess=10,5,0.000"},
		{"pages", Options{Session: &Session{Pages: true}, NumConns: 10, NumCalls: 5, Pause: time.Second},
			"100 sessions/s x 5 calls = 500 calls/s for 0.1 s, 10 sessions", "--wsesspage=10,5,1.000"},
		{"script", Options{Session: &Session{Script: scripted(t, twoSessions)}, From: "f", NumConns: 10},
			"A script of 2 sessions from f, in turn: 3 calls in the mean, 3 in the longest.", "--wsesslog=10,0.000,f"},
		{"uneven script", Options{Session: &Session{Script: scripted(t, "/a\n/b\n\n/c\n")}, From: "f", NumConns: 10},
			"100 sessions/s x 1.5 calls = 150 calls/s for 0.1 s, 10 sessions", "--wsesslog=10,0.000,f"},
		{"what is httperf's", Options{Session: &Session{MaxConns: 2, MaxPiped: 8, Failure: failure, Retry: true}, Cookies: true, NumConns: 10, Server: "127.0.0.1"},
			"100 sessions/s x 1 call = 100 calls/s for 0.1 s, 10 sessions",
			"--failure-status=404,500-599 --max-connections=2 --max-piped-calls=8 --rate=100 --retry-on-failure --session-cookies --wsess=10,1,0.000"},
		{"HTTP/1.0", Options{Session: &Session{}, HTTP10: true, NumConns: 10}, "100 sessions/s x 1 call = 100 calls/s for 0.1 s, 10 sessions", "--http-version=1.0 --rate=100 --wsess=10,1,0.000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := tt.o
			o.Server = "127.0.0.1"
			if o.Closed == 0 {
				o.Process, o.RateText = parse(t, "100"), "100"
			}
			r := planned(t, o)
			if have := r.Plan().Header; !slices.Contains(have, tt.want) {
				t.Errorf("plan %q, want %q in it", have, tt.want)
			}
			if have := r.echo(); !strings.HasSuffix(have, tt.echo) {
				t.Errorf("command %q, want %q at its end", have, tt.echo)
			}
		})
	}
}

func TestSessionsOfTheClient(t *testing.T) {
	t.Parallel()
	failure, err := ParseStatusSet("404")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    Options
		want client.Sessions
	}{
		{"default", Options{Session: &Session{}}, client.Sessions{}},
		{"asked for", Options{Session: &Session{MaxConns: 8, MaxPiped: 64, Retry: true}}, client.Sessions{MaxConns: 8, MaxPiped: 64, Retry: true}},
		{"HTTP/1.0", Options{Session: &Session{}, HTTP10: true}, client.Sessions{MaxPiped: 1}},
		{"HTTP/1.0, asked for", Options{Session: &Session{MaxPiped: 3}, HTTP10: true}, client.Sessions{MaxPiped: 3}},
	} {
		if have := planned(t, tt.o).streams[0].as.Sessions; have.MaxConns != tt.want.MaxConns || have.MaxPiped != tt.want.MaxPiped || have.Retry != tt.want.Retry || have.Fail != nil {
			t.Errorf("%s: %+v, want %+v", tt.name, *have, tt.want)
		}
	}
	if fail := planned(t, Options{Session: &Session{Failure: failure}}).streams[0].as.Sessions.Fail; !fail(404) || fail(200) {
		t.Errorf("404 fails: %v, 200 fails: %v; want true, false", fail(404), fail(200))
	}
	if s := planned(t, Options{}).streams[0].as.Sessions; s != nil {
		t.Errorf("sessions %+v of a plain run, want none", s)
	}
}

// A script's think times lie behind its bursts; those it does not say are the run's.
func TestScriptThinkTimes(t *testing.T) {
	t.Parallel()
	r := planned(t, Options{Session: &Session{Script: scripted(t, twoSessions)}, Pause: 2 * time.Second, NumConns: 2})
	for i, want := range []string{"/a 0s, /b 0s, /c 1s", "/d 0s, /e 500ms, /f 9s"} {
		s := client.Session{Index: uint64(i)}
		r.streams[0].as.Workload.Begin(s.Index, &s)
		var steps []string
		var last *client.Reply
		for {
			req, wait, ok := r.streams[0].as.Workload.Next(&s, last)
			if !ok {
				break
			}
			steps = append(steps, fmt.Sprint(req.URI(), " ", wait))
			last = &client.Reply{Status: 200}
		}
		if have := strings.Join(steps, ", "); have != want {
			t.Errorf("session %d: %s, want %s", i, have, want)
		}
	}
	// Two bursts in the longest thinking session have a time of their own.
	if most, mean, think := r.o.shape(); most != 3 || mean != 3 || think != 9500*time.Millisecond {
		t.Errorf("at most %d calls, %v in the mean, %v of thinking; want 3, 3, 9.5s", most, mean, think)
	}
}

// The run waits for sessions that keep within the timeouts.
func TestDrainIsPatientWithSessions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		want time.Duration
	}{
		{"no timeout", Options{Session: &Session{}, NumCalls: 3, Pause: time.Minute}, 30*time.Second + 2*time.Minute},
		{"calls", Options{Session: &Session{}, NumCalls: 3, Timeout: time.Second}, 10 * time.Second},
		{"think times", Options{Session: &Session{}, NumCalls: 3, Timeout: time.Second, Pause: 5 * time.Second}, 20 * time.Second},
		{"script", Options{Session: &Session{Script: scripted(t, twoSessions)}, Timeout: time.Second}, 19500 * time.Millisecond},
		{"very many calls", Options{Session: &Session{}, NumCalls: 1e9, Timeout: 5 * time.Second}, 24 * time.Hour},
		{"very much thinking", Options{Session: &Session{}, NumCalls: 1e9, Timeout: time.Second, Pause: time.Hour}, 24 * time.Hour},
		{"very much thinking, no timeout", Options{Session: &Session{}, NumCalls: 1e9, Pause: time.Hour}, 24 * time.Hour},
	} {
		if have := *planned(t, tt.o).o.Drain; have != tt.want {
			t.Errorf("%s: drain %v, want %v", tt.name, have, tt.want)
		}
	}
}

func TestSessionResult(t *testing.T) {
	t.Parallel()
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/f" {
			w.WriteHeader(http.StatusNotFound)
		}
		hello(w, r)
	})
	failure, err := ParseStatusSet("404")
	if err != nil {
		t.Fatal(err)
	}
	res := do(t, Options{
		Server: host, Port: port, Process: parse(t, "200"), NumConns: 20, Timeout: 20 * time.Second, From: "f",
		Session: &Session{Script: scripted(t, "/a think=0.1\n/b\n\n/c\n /d\n/e\n/f\n/g\n"), Failure: failure},
	})
	s := res.Sessions
	if s == nil {
		t.Fatal("no sessions in the result")
	}
	if s.OK != 10 || s.Total != 20 || s.ConnectionsPerSession != 1 || !slices.Equal(s.LengthHistogram, []uint64{0, 0, 10, 0, 10}) {
		t.Errorf("sessions %+v: want 10 of 20 with one connection, 10 of 2 replies and 10 of 4", s)
	}
	if s.LifetimeSeconds < 0.1 || s.FailtimeSeconds <= 0 || s.Rate.Samples != 1 || s.Rate.WindowSeconds != 0.1 {
		t.Errorf("lifetime %v, failtime %v, rate %+v: want at least the think time, some time, and the one sample of 0.1 s", s.LifetimeSeconds, s.FailtimeSeconds, s.Rate)
	}
	if n := &res.Totals; n.Completed != 10 || n.Errors.UnexpectedStatus != 10 || n.LostCalls != 10 || n.Calls.Planned != 70 {
		t.Errorf("%d completed, %d of an unexpected status, %d calls of %d lost: want 10, 10, 10 of 70", n.Completed, n.Errors.UnexpectedStatus, n.LostCalls, n.Calls.Planned)
	}
}

// Sessions ask pages for what they embed, and keep cookies.
func TestSessionsOfPages(t *testing.T) {
	t.Parallel()
	var images, cookies atomic.Int64
	host, port := server(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("id"); err == nil {
			cookies.Add(1)
		}
		if r.URL.Path == "/a.png" {
			images.Add(1)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<img src="a.png"><img src="a.png">`)
	})
	res := do(t, Options{Server: host, Port: port, NumConns: 3, NumCalls: 2, Session: &Session{Pages: true}, Cookies: true})
	// The first of the four requests of a session has no cookie yet.
	if s := res.Sessions; s.OK != 3 || images.Load() != 6 || cookies.Load() != 9 || !slices.Equal(s.LengthHistogram, []uint64{0, 0, 0, 0, 3}) {
		t.Errorf("sessions %+v, %d images, %d requests with a cookie: want 3 of 4 replies, 6, 9", s, images.Load(), cookies.Load())
	}
}

func TestSessionsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		o          Options
	}{
		{"pool", "sessions on kept-open connections", Options{Session: &Session{}, Pool: 2, Process: parse(t, "5")}},
		{"kept open", "sessions on kept-open connections", Options{Session: &Session{}, Closed: 2, KeepOpen: true}},
		{"fewer than none", "sessions of -1 connections with 0 calls each: want none below 0", Options{Session: &Session{MaxConns: -1}}},
		{"script and list", "a script: want one of them", Options{Session: &Session{Script: scripted(t, "/a")}, URIs: []string{"/"}}},
		{"bad request", `f:2: method "GE T": want a token`, Options{Session: &Session{Script: scripted(t, "/a method=PUT\n/b")}, From: "f", Method: "GE T"}},
		{"bad header", `f:1: header name "A:b": want a token`, Options{Session: &Session{Script: []script.Session{{Bursts: []script.Burst{{Requests: []script.Request{{URI: "/", Line: 1, Header: []script.Field{{Name: "A:b"}}}}}}}}}, From: "f"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
