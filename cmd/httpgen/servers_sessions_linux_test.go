package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"httpgen/internal/report"
)

// sessionsConf answers every path, and some in ways that sessions meet.
var sessionsConf = strings.NewReplacer(
	`"host":"$http_host",`, `"host":"$http_host","cookie":"$http_cookie","id":"$http_x_id",`,
	"location = /moved {", `
		location / { return 200 "hello"; }
		location = /login { add_header Set-Cookie "sid=$connection; Path=/"; add_header Set-Cookie "area=a; Path=/area"; return 200 "hello"; }
		location = /logout { add_header Set-Cookie "sid=; Path=/; Max-Age=0"; return 200 "hello"; }
		location = /away { return 302 http://other.test/page; }
		location = /gone { return 404 "gone"; }
		location = /site { default_type text/html; alias @dir@/www/site; }
		location = /moved {`,
).Replace(nginxConf)

// closingConf closes after every reply.
var closingConf = strings.Replace(sessionsConf, "keepalive_requests 100000;", "keepalive_timeout 0;", 1)

// sessionServer starts nginx with one of them, and a page that embeds objects.
func sessionServer(t *testing.T, config string) *realServer {
	t.Helper()
	s := nginx.start(t, config)
	const site = `<html><head><link rel="stylesheet" href="style.css"><script src="/script.js"></script></head>
<body><img src="/logo.png"><img src="/logo.png"><img src="http://other.test/banner.png"><a href="/next">next</a></body></html>`
	if err := os.WriteFile(filepath.Join(s.dir, "www", "site"), []byte(site), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// sessionFile writes a file of sessions and returns its name.
func sessionFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sessions")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// dialogs returns what each connection asked for, sorted: methods but for GET, and
// URIs.
func dialogs(lines []entry) (all []string) {
	on := map[uint64][]string{}
	for _, e := range lines {
		on[e.Connection] = append(on[e.Connection], strings.TrimPrefix(e.Method+" ", "GET ")+e.URI)
	}
	for _, uris := range on {
		all = append(all, strings.Join(uris, " "))
	}
	slices.Sort(all)
	return all
}

// repeated returns each text n times, sorted.
func repeated(n int, texts ...string) []string {
	all := slices.Repeat(texts, n)
	slices.Sort(all)
	return all
}

// threeSessions think for 0.6 s, 0.3 s and not at all.
const threeSessions = `# three kinds of visitors
/a think=0.4
	/b
/c think=0.2
/d method=POST contents='some body'

/e think=0.3
/f method=HEAD
	/g
	/h

/i
	/j
	/k
`

// Sessions do what they do in httperf, and what the server has logged.
func TestServersSessionsAsHttperf(t *testing.T) {
	t.Parallel()
	path := httperfPath(t)
	for _, tt := range []struct {
		name, options string
		sessions      uint64
		lengths       []uint64
		think         float64 // seconds that a session thinks, in the mean
		dialogs       []string
	}{
		{"file", "--rate=50 --wsesslog=30,0.1," + sessionFile(t, threeSessions), 30, []uint64{0, 0, 0, 10, 20}, (0.6 + 0.3 + 0) / 3,
			repeated(10, "/a /b /c POST /d", "/e HEAD /f /g /h", "/i /j /k")},
		{"bursts", "--uri=/page --rate=50 --wsess=20,7,0.1 --burst-length=3", 20, []uint64{0, 0, 0, 0, 0, 0, 0, 20}, 0.2,
			repeated(20, strings.TrimSpace(strings.Repeat("/page ", 7)))},
		{"one call at a time", "--uri=/page --wsess=5,4,0.05 --burst-length=2 --max-connections=1 --max-piped-calls=1", 5, []uint64{0, 0, 0, 0, 5}, 0.05,
			repeated(5, "/page /page /page /page")},
		{"cookies", "--uri=/login --session-cookies --rate=50 --wsess=10,3,0.05", 10, []uint64{0, 0, 0, 10}, 0.1,
			repeated(10, "/login /login /login")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := sessionServer(t, sessionsConf)
			options := append([]string{"--server=127.0.0.1", s.fill(t, "--port=@main@"), "--timeout=20"}, strings.Fields(tt.options)...)
			r := measure(t, options...)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			text, err := exec.CommandContext(ctx, path, options...).Output()
			if err != nil {
				t.Fatalf("httperf: %v\n%s", err, text)
			}
			theirs, err := readClassic(string(text), slices.Concat(classicLines, sessionLines)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			s.end(t, s.quit)

			have := r.Sessions
			if have.OK != tt.sessions || have.Total != tt.sessions || have.ConnectionsPerSession != 1 || !slices.Equal(have.LengthHistogram, tt.lengths) {
				t.Errorf("sessions %+v, want all of %d with one connection each and the lengths %d", have, tt.sessions, tt.lengths)
			}
			if v := have.LifetimeSeconds; v < tt.think || v > tt.think+slack {
				t.Errorf("lifetime %v s, and sessions think for %v s", v, tt.think)
			}
			f := theirs.fields
			for _, c := range []struct {
				name               string
				ours, theirs, most float64
			}{
				{"sessions that ended well", float64(have.OK), f["Session rate [sess/s]: ok"], 0},
				{"sessions", float64(have.Total), f["Session rate [sess/s]: total"], 0},
				{"connections", have.ConnectionsPerSession, f["Session: connections"], 0.005},
				{"lifetime", have.LifetimeSeconds, f["Session lifetime [s]: lifetime"], slack},
				{"failtime", have.FailtimeSeconds, f["Session failtime [s]: failtime"], 0},
				{"requests", float64(r.Totals.Requests), f[requests], 0},
				{"replies", float64(r.Totals.Replies), f[replies], 0},
			} {
				if math.Abs(c.ours-c.theirs) > c.most {
					t.Errorf("%s: %v, httperf has %v", c.name, c.ours, c.theirs)
				}
			}
			if text := strings.Trim(fmt.Sprint(have.LengthHistogram), "[]"); text != theirs.lengths {
				t.Errorf("histogram %s, httperf has %s", text, theirs.lengths)
			}
			logs := s.log(t)
			if len(logs) != 2 {
				t.Errorf("%d user agents, want two", len(logs))
			}
			for agent, lines := range logs {
				if n := uint64(len(lines)); n != r.Totals.Requests {
					t.Errorf("%s: logged %d requests, counted %d", agent, n, r.Totals.Requests)
				}
				if have := dialogs(lines); !slices.Equal(have, tt.dialogs) {
					t.Errorf("%s: the connections asked for %q, want %q", agent, have, tt.dialogs)
				}
			}
		})
	}
}

// What sessions do against a server is what it has logged.
func TestServersSessions(t *testing.T) {
	t.Parallel()
	keeping, closing := sessionServer(t, sessionsConf), sessionServer(t, closingConf)
	bursts := sessionFile(t, "/a\n /b\n /c\n /d\n/e think=10ms\n /f\n")
	runs := []struct {
		name, args string
		server     *realServer
		want       string   // of tally, a regular expression
		sessions   string   // ended well, ended, connections of each, histogram
		dialogs    []string // what each connection asked for
	}{
		{"calls", "http://127.0.0.1:@main@/page -r 100 --wsess 20,3,0.01", keeping,
			all(20, 3, "200"), "20 20 1 [0 0 0 20]", repeated(20, "/page /page /page")},
		{"bursts", "http://127.0.0.1:@main@/page -r 100 --wsess 20,7,0 --burst-length 3", keeping,
			all(20, 7, "200"), "20 20 1 [0 0 0 0 0 0 0 20]", repeated(20, strings.TrimSpace(strings.Repeat("/page ", 7)))},
		{"one after another", "http://127.0.0.1:@main@/page --wsess 5,2,0", keeping,
			all(5, 2, "200"), "5 5 1 [0 0 5]", repeated(5, "/page /page")},
		{"several at a time", "http://127.0.0.1:@main@/page --wsess 12,2,0 --closed 3 --workers 2", keeping,
			all(12, 2, "200"), "12 12 1 [0 0 12]", repeated(12, "/page /page")},
		{"connections", "--server 127.0.0.1 --port @main@ -r 100 --max-piped-calls 1 --max-connections 3 --wsesslog 20,0," + bursts, keeping,
			"started 20 completed 20 connections 60 requests 120 replies 120 200=120 body .*", "20 20 3 [0 0 0 0 0 0 20]", nil},
		{"list of URIs", "http://127.0.0.1:@main@ -r 100 --wsess 3,2,0 --wlog y," + sessionFile(t, "/a\n/b\n/c\n"), keeping,
			all(3, 2, "200", "body 30"), "3 3 1 [0 0 3]", []string{"/a /b", "/b /c", "/c /a"}},
		{"failure status", "http://127.0.0.1:@main@/gone -r 100 --wsess 20,3,0 --failure-status 404,5xx", keeping,
			"started 20 completed 0 connections 20 requests 20 replies 20 unsent 40 lost 40 404=20 unexpected_status 20", "0 20 0 [0 20]", repeated(20, "/gone")},
		{"other status", "http://127.0.0.1:@main@/gone -r 100 --wsess 20,3,0 --failure-status 5xx", keeping,
			all(20, 3, "404"), "20 20 1 [0 0 0 20]", repeated(20, "/gone /gone /gone")},
		{"redirects", "http://127.0.0.1:@main@/moved -r 100 --wsess 10,2,0 -L", keeping,
			"started 10 completed 10 connections 10 requests 40 replies 40 200=20 302=20", "10 10 1 [0 0 0 0 10]", repeated(10, "/moved /page /moved /page")},
		{"redirects elsewhere", "http://127.0.0.1:@main@/away -r 100 --wsess 10,2,0 -L", keeping,
			all(10, 2, "302"), "10 10 1 [0 0 10]", repeated(10, "/away /away")},
		{"pages", "http://127.0.0.1:@main@/site -r 100 --wsesspage 10,1,0", keeping,
			all(10, 4, "200", "body .*"), "10 10 1 [0 0 0 0 10]", nil},
		{"no keep-alive", "http://127.0.0.1:@main@/page -r 100 --wsess 20,3,0.01", closing,
			"started 20 completed 20 connections 60 requests 60 replies 60 200=60 body 300", "20 20 3 [0 0 0 20]", repeated(60, "/page")},
		{"no keep-alive, file", "--server 127.0.0.1 --port @main@ -r 100 --wsesslog 30,0," + sessionFile(t, threeSessions), closing,
			"started 30 completed 30 connections 110 requests [0-9]+ replies 110 200=110", "30 30 3.6666666666666665 [0 0 0 10 20]", repeated(10, "/a", "/b", "/c", "POST /d", "/e", "HEAD /f", "/g", "/h", "/i", "/j", "/k")},
		{"no keep-alive, bursts", "--server 127.0.0.1 --port @main@ -r 100 --wsesslog 20,0," + bursts, closing,
			"started 20 completed 20 connections 120 requests [0-9]+ replies 120 200=120 body 600", "20 20 6 [0 0 0 0 0 0 20]", repeated(20, "/a", "/b", "/c", "/d", "/e", "/f")},
		{"no keep-alive, pages", "http://127.0.0.1:@main@/site -r 100 --wsesspage 10,1,0", closing,
			"started 10 completed 10 connections 40 requests [0-9]+ replies 40 200=40 body .*", "10 10 4 [0 0 0 0 10]", repeated(10, "/site", "/style.css", "/script.js", "/logo.png")},
	}
	results := make([]*report.Result, len(runs))
	t.Run("load", func(t *testing.T) {
		for i, tt := range runs {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				r := measure(t, append(strings.Fields(tt.server.fill(t, tt.args)), "--user-agent", tt.name)...)
				results[i] = r
				counted(t, r, strings.TrimSuffix(tt.want, " body .*")+"( body [0-9]+)?")
				s := r.Sessions
				if have := fmt.Sprint(s.OK, s.Total, s.ConnectionsPerSession, s.LengthHistogram); have != tt.sessions {
					t.Errorf("sessions %s, want %s", have, tt.sessions)
				}
			})
		}
	})
	logs := map[*realServer]map[string][]entry{}
	for _, s := range []*realServer{keeping, closing} {
		s.end(t, s.quit)
		logs[s] = s.log(t)
	}
	for i, tt := range runs {
		if results[i] == nil {
			continue // left out by -run, or failed
		}
		t.Run("log/"+tt.name, func(t *testing.T) {
			lines := logs[tt.server][tt.name]
			if n := uint64(len(lines)); n != results[i].Totals.Replies {
				t.Errorf("logged %d requests, counted %d replies", n, results[i].Totals.Replies)
			}
			if have := dialogs(lines); tt.dialogs != nil && !slices.Equal(have, tt.dialogs) {
				t.Errorf("the connections asked for %q, want %q", have, tt.dialogs)
			}
		})
	}
}

// Each session has its own cookies, and sends them where they belong.
func TestServersSessionCookies(t *testing.T) {
	t.Parallel()
	s := sessionServer(t, sessionsConf)
	file := sessionFile(t, "/first\n/login\n/inside\n/area/one\n/logout\n/outside\n")
	counted(t, measure(t, "--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "-r", "100", "--session-cookies", "--wsesslog", "10,0,"+file), all(10, 6, "200", "body .*"))
	s.end(t, s.quit)
	on := map[uint64]string{}
	for _, lines := range s.log(t) {
		for _, e := range lines {
			on[e.Connection] += fmt.Sprintf("%s [%s] ", e.URI, e.Cookie)
		}
	}
	if len(on) != 10 {
		t.Errorf("%d connections, want 10", len(on))
	}
	for c, have := range on {
		if want := fmt.Sprintf("/first [] /login [] /inside [sid=%[1]d] /area/one [area=a; sid=%[1]d] /logout [sid=%[1]d] /outside [] ", c); have != want {
			t.Errorf("connection %d: %s, want %s", c, have, want)
		}
	}
}

// Placeholders are expanded in URIs and headers, the number of each call once.
func TestServersTemplates(t *testing.T) {
	t.Parallel()
	s := sessionServer(t, sessionsConf)
	const uri = "/item/{seq}?r={rand}&c={client}"
	url := s.url("main", uri)
	list := sessionFile(t, "/item/{seq}?r={rand}&c={client}\n")
	runs := []struct {
		name string
		args []string
		n    int // calls; 0 for those that keep the placeholders
	}{
		{"connections", []string{url, "-r", "200", "-n", "40", "--num-calls", "3", "--workers", "2"}, 120},
		{"bursts", []string{url, "-r", "200", "-n", "20", "--num-calls", "5", "--burst-length", "5"}, 100},
		{"pool", []string{url, "-r", "300", "-n", "90", "-c", "3"}, 90},
		{"closed model", []string{url, "--closed", "3", "-n", "90"}, 90},
		{"sessions", []string{url, "-r", "200", "--wsess", "20,4,0", "--burst-length", "2"}, 80},
		{"session file", []string{"--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "-r", "200", "--wsesslog", "30,0," + list}, 30},
		{"list", []string{"--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "-r", "200", "-n", "30", "--wlog", "y," + list}, 30},
		{"targets", []string{"--server", "127.0.0.1", "--port", s.fill(t, "@main@"), "-r", "200", "-n", "30", "--targets", list}, 30},
		{"as they are", []string{url, "-n", "5", "--no-expand"}, 0},
	}
	t.Run("load", func(t *testing.T) {
		for _, tt := range runs {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				r := measure(t, append(tt.args, "-H", "X-Id: {client}-{seq}", "--client", "1/3", "--user-agent", tt.name)...)
				if n := r.Totals.Replies; n != uint64(max(tt.n, 5)) || n != r.Totals.Codes["200"] {
					t.Errorf("%d replies %v, want %d with 200", n, r.Totals.Codes, max(tt.n, 5))
				}
			})
		}
	})
	s.end(t, s.quit)
	logs := s.log(t)
	item := regexp.MustCompile(`^/item/([0-9]+)\?r=([0-9a-f]{16})&c=1$`)
	for _, tt := range runs {
		t.Run("log/"+tt.name, func(t *testing.T) {
			numbers, random := map[string]bool{}, map[string]bool{}
			for _, e := range logs[tt.name] {
				if tt.n == 0 {
					if e.URI != uri || e.ID != "{client}-{seq}" {
						t.Errorf("asked for %s with %s, want them as they are", e.URI, e.ID)
					}
					continue
				}
				found := item.FindStringSubmatch(e.URI)
				if found == nil || e.ID != "1-"+found[1] {
					t.Fatalf("asked for %s with %s, want %v and 1-NUMBER", e.URI, e.ID, item)
				}
				numbers[found[1]], random[found[2]] = true, true
			}
			for n := range tt.n {
				if !numbers[fmt.Sprint(n)] {
					t.Errorf("number %d was not asked for", n)
				}
			}
			if len(logs[tt.name]) != max(tt.n, 5) || len(numbers) != tt.n || len(random) != tt.n {
				t.Errorf("logged %d requests with %d numbers and %d random numbers, want %d of each", len(logs[tt.name]), len(numbers), len(random), tt.n)
			}
		})
	}
}

// Sessions over TLS.
func TestServersTLSSessions(t *testing.T) {
	t.Parallel()
	s, certs := startTLS(t)
	file := sessionFile(t, "/page\n /page\n /page\n/page think=10ms\n")
	runs := []struct {
		name, args string
		conns, n   int // connections, requests
		sessions   string
	}{
		{"calls", "https://127.0.0.1:@both@/page -r 100 --wsess 10,3,0.01", 10, 30, "10 10 1 [0 0 0 10]"},
		{"file", "--ssl --server 127.0.0.1 --port @both@ -r 100 --wsesslog 10,0," + file, 10, 40, "10 10 1 [0 0 0 0 10]"},
		{"closed by the server", "https://127.0.0.1:@both@/three -r 100 --wsess 10,7,0", 30, 70, "10 10 3 [0 0 0 0 0 0 0 10]"},
		{"connections", "https://127.0.0.1:@both@/page -r 50 --wsess 5,4,0 --burst-length 4 --max-piped-calls 1", 15, 20, "5 5 3 [0 0 0 0 5]"},
	}
	t.Run("load", func(t *testing.T) {
		for _, tt := range runs {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				r := measure(t, append(strings.Fields(s.fill(t, tt.args)), "--cacert", certs+"/server.pem", "--user-agent", tt.name)...)
				n := &r.Totals
				if n.Replies != uint64(tt.n) || n.Codes["200"] != n.Replies || n.Connections.Established != uint64(tt.conns) || r.Times.TLS.Count != uint64(tt.conns) {
					t.Errorf("%d replies %v on %d connections, %d of TLS; want %d with 200 on %d", n.Replies, n.Codes, n.Connections.Established, r.Times.TLS.Count, tt.n, tt.conns)
				}
				if have := fmt.Sprint(r.Sessions.OK, r.Sessions.Total, r.Sessions.ConnectionsPerSession, r.Sessions.LengthHistogram); have != tt.sessions {
					t.Errorf("sessions %s, want %s", have, tt.sessions)
				}
			})
		}
	})
	s.end(t, s.quit)
	logs := s.log(t)
	for _, tt := range runs {
		connections := map[uint64]bool{}
		for _, e := range logs[tt.name] {
			connections[e.Connection] = true
			if e.TLS != "TLSv1.3" {
				t.Errorf("%s: a request over %q, want TLSv1.3", tt.name, e.TLS)
			}
		}
		if len(logs[tt.name]) != tt.n || len(connections) != tt.conns {
			t.Errorf("%s: logged %d requests on %d connections, want %d on %d", tt.name, len(logs[tt.name]), len(connections), tt.n, tt.conns)
		}
	}
}
