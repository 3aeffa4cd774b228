package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"httpgen/internal/target"
)

// wholeRecorder starts a server and returns its port, and a function that returns
// what it was asked for: method, host, URI, the fields whose names begin with X- or
// Content-, and the body.
func wholeRecorder(t *testing.T) (port int, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var fields []string
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-") || strings.HasPrefix(name, "Content-") {
				fields = append(fields, name+"="+strings.Join(values, ","))
			}
		}
		slices.Sort(fields)
		mu.Lock()
		all = append(all, fmt.Sprint(r.Method, " ", r.Host, " ", r.RequestURI, " ", fields, " ", string(body)))
		mu.Unlock()
		w.Write([]byte("hello"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// inFolder writes files into a folder and returns its name.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Requests of files arrive as the files describe them, in order.
func TestRequestFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string // @port@ stands for the server's
		args       string // with FILE and PORT
		want       []string
	}{
		{"targets", "# two\nGET http://127.0.0.1:@port@/a?b=c\nX-First: 1\nX-First: 2\n\nPOST http://127.0.0.1:@port@/d\nContent-Type: text/plain\n@body\n", "--targets FILE -n 3", []string{
			"GET 127.0.0.1:@port@ /a?b=c [X-First=1,2] ",
			"POST 127.0.0.1:@port@ /d [Content-Length=8 Content-Type=text/plain] the body",
			"GET 127.0.0.1:@port@ /a?b=c [X-First=1,2] ",
		}},
		{"targets of one server", "PUT /a\n@body\nDELETE /b\n/c\n", "--server 127.0.0.1 --port PORT --targets FILE -n 1 --num-calls 4 -H X-All:1", []string{
			"PUT 127.0.0.1:@port@ /a [Content-Length=8 X-All=1] the body",
			"DELETE 127.0.0.1:@port@ /b [X-All=1] ",
			"GET 127.0.0.1:@port@ /c [X-All=1] ",
			"PUT 127.0.0.1:@port@ /a [Content-Length=8 X-All=1] the body",
		}},
		{"targets on a pool", "GET /a\nGET /b\n", "--server 127.0.0.1 --port PORT --targets FILE -n 3 -c 1 -r 100", []string{
			"GET 127.0.0.1:@port@ /a [] ", "GET 127.0.0.1:@port@ /b [] ", "GET 127.0.0.1:@port@ /a [] ",
		}},
		{"targets in sessions", "GET /a\nGET /b\nGET /c\n", "--server 127.0.0.1 --port PORT --targets FILE --wsess 2,2,0", []string{
			"GET 127.0.0.1:@port@ /a [] ", "GET 127.0.0.1:@port@ /b [] ", "GET 127.0.0.1:@port@ /c [] ", "GET 127.0.0.1:@port@ /a [] ",
		}},
		{"JSON targets", `{"method":"POST","url":"http://127.0.0.1:@port@/a","header":{"X-B":["1"]},"body":"` + base64.StdEncoding.EncodeToString([]byte("b\x00d")) + `"}` + "\n", "--targets FILE", []string{
			"POST 127.0.0.1:@port@ /a [Content-Length=3 X-B=1] b\x00d",
		}},
		{"archive", `{"log":{"version":"1.2","entries":[
			{"startedDateTime":"2030-01-02T03:04:05.030Z","request":{"method":"GET","url":"http://127.0.0.1:@port@/second","headers":[{"name":"X-A","value":"1"},{"name":"Host","value":"other.test"}]}},
			{"startedDateTime":"2030-01-02T03:04:05.000Z","request":{"method":"POST","url":"http://127.0.0.1:@port@/first?a=b","headers":[],"postData":{"mimeType":"text/plain","text":"a body"}}},
			{"startedDateTime":"2030-01-02T03:04:05.060Z","request":{"method":"GET","url":"http://127.0.0.1:@port@/third","headers":[]}}]}}`, "--har FILE --speed 0.5", []string{
			"POST 127.0.0.1:@port@ /first?a=b [Content-Length=6] a body",
			"GET 127.0.0.1:@port@ /second [X-A=1] ",
			"GET 127.0.0.1:@port@ /third [] ",
		}},
		{"archive, again and again", `{"log":{"version":"1.2","entries":[
			{"startedDateTime":"2030-01-02T03:04:05Z","request":{"method":"GET","url":"http://127.0.0.1:@port@/a","headers":[]}},
			{"startedDateTime":"2030-01-02T04:04:05Z","request":{"method":"GET","url":"http://127.0.0.1:@port@/b","headers":[]}}]}}`, "--har FILE -r 100 -n 3", []string{
			"GET 127.0.0.1:@port@ /a [] ", "GET 127.0.0.1:@port@ /b [] ", "GET 127.0.0.1:@port@ /a [] ",
		}},
		{"access log", `10.0.0.1 - - [02/Jan/2030:03:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "agent"
10.0.0.2 - - [02/Jan/2030:03:04:06 +0000] "POST /b?c=d HTTP/1.0" 404 0 "-" "agent"
10.0.0.1 - - [02/Jan/2030:03:04:06 +0000] "-" 400 0 "-" "-"
10.0.0.1 - - [02/Jan/2030:03:04:08 +0000] "GET /e HTTP/1.1" 200 5 "http://h/a" "agent"
`, "--server 127.0.0.1 --port PORT --access-log FILE --speed 20 -c 1", []string{
			"GET 127.0.0.1:@port@ /a [] ", "POST 127.0.0.1:@port@ /b?c=d [Content-Length=0] ", "GET 127.0.0.1:@port@ /e [] ",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			port, asked := wholeRecorder(t)
			fill := strings.NewReplacer("@port@", fmt.Sprint(port))
			dir := inFolder(t, map[string]string{"file": fill.Replace(tt.file), "body": "the body"})
			args := strings.NewReplacer("FILE", filepath.Join(dir, "file"), "PORT", fmt.Sprint(port)).Replace(tt.args)
			r := measure(t, strings.Fields(args)...)
			have, want := asked(), []string{}
			for _, text := range tt.want {
				want = append(want, fill.Replace(text))
			}
			if strings.Contains(tt.args, "-r ") && !strings.Contains(tt.args, "-c ") {
				// Connections may overtake each other.
				slices.Sort(have)
				slices.Sort(want)
			}
			if !slices.Equal(have, want) || r.Totals.Replies != uint64(len(want)) || r.Totals.LostCalls != 0 {
				t.Errorf("asked for %q with %d replies, %d calls lost; want %q", have, r.Totals.Replies, r.Totals.LostCalls, want)
			}
		})
	}
}

// Arrivals go to the servers of a list by their weights.
func TestServersWeights(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, strings.Replace(nginxConf, "listen 127.0.0.1:@main@ backlog=4096;", "listen 127.0.0.1:@main@; listen 127.0.0.1:@second@; listen 127.0.0.1:@third@;", 1))
	dir := inFolder(t, map[string]string{
		"lines": s.fill(t, "# three ports\n127.0.0.1:@main@\n127.0.0.1:@second@ 2\n127.0.0.1:@third@ 3\n"),
		"nuls":  s.fill(t, "127.0.0.1:@main@ 1\x00127.0.0.1:@second@ 2\x00127.0.0.1:@third@ 3\x00"),
		"ports": "127.0.0.1\n127.0.0.1 2\n",
	})
	runs := []struct {
		name, args string
		servers    int
		want       []int // requests at each port
	}{
		{"lines", "--servers @lines -r 400 -n 120", 3, []int{20, 40, 60}},
		{"nuls", "--servers @nuls -r 400 -n 120 --num-calls 2 --workers 2", 3, []int{40, 80, 120}},
		{"one after another", "--servers @lines -n 12", 3, []int{2, 4, 6}},
		{"sessions", "--servers @lines -r 200 --wsess 60,3,0", 3, []int{30, 60, 90}},
		{"list of URIs", "--servers @lines -r 200 -n 60 --wlog y,@list", 3, []int{10, 20, 30}},
		{"default port", s.fill(t, "--servers @ports --port @second@ -n 6"), 2, []int{0, 6, 0}},
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte("/page\n/page?a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("load", func(t *testing.T) {
		for _, tt := range runs {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(strings.ReplaceAll(tt.args, "@", dir+"/")), "--user-agent", tt.name)
				if !strings.Contains(tt.args, "--wlog") {
					args = append(args, "--uri", "/page")
				}
				r := measure(t, args...)
				all := uint64(tt.want[0] + tt.want[1] + tt.want[2])
				if r.Totals.Codes["200"] != all || r.Totals.Errors.Total != 0 {
					t.Errorf("%d replies %v and %d errors, want %d with 200 and none", r.Totals.Replies, r.Totals.Codes, r.Totals.Errors.Total, all)
				}
				if n := r.Config.Workload.Servers; n != tt.servers {
					t.Errorf("%d servers in the result, want %d", n, tt.servers)
				}
			})
		}
	})
	s.end(t, s.quit)
	logs := s.log(t)
	for _, tt := range runs {
		at := map[string]int{}
		for _, e := range logs[tt.name] {
			at[e.Host]++
		}
		for i, port := range []string{"main", "second", "third"} {
			if have := at[fmt.Sprintf("127.0.0.1:%d", s.ports[port])]; have != tt.want[i] {
				t.Errorf("%s: port %s was asked %d times, want %d", tt.name, port, have, tt.want[i])
			}
		}
	}
}

// A log that nginx wrote is replayed, and nginx writes the same requests again.
func TestServersAccessLog(t *testing.T) {
	t.Parallel()
	s := nginx.start(t, strings.Replace(nginxConf, "access_log @dir@/access.log counts;", "access_log @dir@/access.log counts; access_log @dir@/combined.log combined;", 1))
	var list strings.Builder
	for i := range 50 {
		fmt.Fprintf(&list, "/page?n=%d&s=%%20\"%d\"\n", i, i*i)
	}
	dir := inFolder(t, map[string]string{"list": list.String()})
	counted(t, measure(t, "--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "--wlog", "n,"+filepath.Join(dir, "list"), "-n", "50", "--user-agent", "recorded"), all(50, 1, "200", pages(50)))
	if n := len(s.settled(t, "recorded", 50)); n != 50 {
		t.Fatalf("%d requests are logged, want 50", n)
	}
	log := filepath.Join(s.dir, "combined.log")
	// One connection keeps the order; the log grows while it is read.
	r := measure(t, "--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "--access-log", log, "--speed", "50", "-c", "1", "--user-agent", "replayed")
	counted(t, r, "started 50 completed 50 connections 1 requests 50 replies 50 200=50 "+pages(50))
	if w := r.Config.Workload; w.Kind != "log" || w.File != log || w.Entries != 50 || w.Servers != 1 {
		t.Errorf("workload %+v, want the 50 entries of %s", w, log)
	}
	s.end(t, s.quit)
	logs := s.log(t)
	uris := func(lines []entry) (all []string) {
		for _, e := range lines {
			all = append(all, e.Method+" "+e.URI)
		}
		return all
	}
	if have, want := uris(logs["replayed"]), uris(logs["recorded"]); len(want) != 50 || !slices.Equal(have, want) {
		t.Errorf("replayed %q, recorded was %q", have, want)
	}
}

// settled returns the lines of a run once all are logged, which nginx does after it
// has answered.
func (s *realServer) settled(t *testing.T, agent string, n int) (lines []entry) {
	t.Helper()
	for limit := time.After(patience); len(lines) < n; {
		select {
		case <-limit:
			return lines
		case <-time.After(10 * time.Millisecond):
			lines = s.log(t)[agent]
		}
	}
	return lines
}

// All of a long log arrives, at its own times.
func TestReplayOfALongLog(t *testing.T) {
	t.Parallel()
	const n = 20000
	s := serverFor(t, target.Options{})
	var log strings.Builder
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		// Twenty a second, and none in every other minute.
		at := start.Add(time.Duration(i)*50*time.Millisecond + time.Duration(i/1200)*time.Minute)
		fmt.Fprintf(&log, "10.0.0.%d - - [%s] \"GET /%d HTTP/1.1\" 200 5 \"-\" \"agent\"\n", i%256, at.Format("02/Jan/2006:15:04:05 -0700"), i)
	}
	dir := inFolder(t, map[string]string{"log": log.String()})
	r := measure(t, "--server", "127.0.0.1", "--port", fmt.Sprint(s.Port()), "--access-log", filepath.Join(dir, "log"), "--speed", "1000", "-c", "4", "--catch-up", "burst")
	// 19999 steps and 16 pauses, in whole seconds: the last stamp.
	span := (time.Duration(n-1)*50*time.Millisecond + 16*time.Minute).Truncate(time.Second)
	if a := &r.Totals.Arrivals; a.Scheduled != n || r.Totals.Replies != n {
		t.Errorf("%d scheduled, %d started, shed %+v, %d replies; want %d", a.Scheduled, a.Started, a.Shed, r.Totals.Replies, n)
	}
	if have := r.Run.SendingSeconds * 1000; have < span.Seconds() || have > span.Seconds()+1+float64(n)/1000 {
		t.Errorf("sent for %v s of the log, want its span of %v", have, span)
	}
	if !regexp.MustCompile(`^access-log:.*/log@1000x$`).MatchString(r.Config.Rate) {
		t.Errorf("rate %q, want the log and the speed", r.Config.Rate)
	}
}
