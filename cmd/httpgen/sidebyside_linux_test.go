package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A scripted server answers request n of a connection, from 0, with reply(n) and
// after last replies closes the connection.
type scripted struct {
	reply func(n int) string // empty: it stays silent
	delay time.Duration      // before each reply
	last  int                // 0: it leaves the end to the client

	l    net.Listener
	wg   sync.WaitGroup
	mu   sync.Mutex
	sent []string // what each connection brought, in the order in which they ended
}

const endOfHeader = "\r\n\r\n"

// start makes the server listen.
func (s *scripted) start(t *testing.T) {
	t.Helper()
	var err error
	if s.l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop() })
	s.wg.Go(func() {
		for {
			c, err := s.l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(c) })
		}
	})
}

func (s *scripted) port() string { return strconv.Itoa(s.l.Addr().(*net.TCPAddr).Port) }

func (s *scripted) serve(c net.Conn) {
	defer c.Close()
	var all, unread []byte
	buffer := make([]byte, 4096)
	for n := 0; ; {
		k, err := c.Read(buffer)
		all, unread = append(all, buffer[:k]...), append(unread, buffer[:k]...)
		for err == nil {
			_, rest, ok := bytes.Cut(unread, []byte(endOfHeader))
			if !ok {
				break
			}
			unread = rest
			<-time.After(s.delay)
			if _, err = io.WriteString(c, s.reply(n)); err == nil {
				if n++; n == s.last {
					err = io.EOF
				}
			}
		}
		if err != nil {
			break
		}
	}
	s.mu.Lock()
	s.sent = append(s.sent, string(all))
	s.mu.Unlock()
}

// stop ends the server and returns what its connections brought.
func (s *scripted) stop() []string {
	s.l.Close()
	s.wg.Wait()
	return s.sent
}

// answer returns a script that gives the same reply to all requests.
func answer(text string) func(int) string {
	return func(int) string { return text }
}

// A difference is one that the guide explains.
type difference struct {
	field  string              // of the report; empty for one of the requests
	row    string              // of the guide: an option, or a field; empty: the same field
	always bool                // of every run, where it may show or not
	holds  func(p *pair) error // says why it is another one than the guide's; nil where the comparison itself knows
	echo   [2]string           // what the first line has in httperf and what in ours; only of theCommand
}

// A pair is what both programs made of one run.
type pair struct {
	theirs, ours side
	port         string
	conns        float64 // --num-conns, or the sessions of which each has one
}

// A side is what one program reported and sent.
type side struct {
	name string
	*classicReport
	sent []string // by connection
}

// differences are all that is allowed, by name. A count, a size or the command
// that is covered by none has to be equal.
var differences = map[string]difference{
	"buffers": {field: theCommand, always: true, echo: [2]string{" --send-buffer=4096 --recv-buffer=16384", ""}},
	"the last pass": {field: burst, always: true, holds: func(p *pair) error {
		return within(p, burst, 0, p.conns, 1, p.conns)
	}},
	"short windows": {field: "Reply rate [replies/s]: samples", always: true, holds: func(p *pair) error {
		const head = "Reply rate [replies/s]: "
		for _, name := range []string{"min", "avg", "max", "stddev", "samples"} {
			if v := p.theirs.fields[head+name]; v != 0 {
				return fmt.Errorf("httperf has %s %v in a run under 5 s", name, v)
			}
		}
		if f := p.ours.fields; f[head+"min"] > f[head+"avg"] || f[head+"avg"] > f[head+"max"] {
			return fmt.Errorf("min, avg and max are not in order: %v", f)
		}
		return nil
	}},
	"short windows of sessions": {field: "Session rate [sess/s]: min", always: true, holds: func(p *pair) error {
		const head = "Session rate [sess/s]: "
		for _, name := range []string{"min", "max", "stddev"} {
			if v := p.theirs.fields[head+name]; v != 0 {
				return fmt.Errorf("httperf has %s %v in a run under 5 s", name, v)
			}
		}
		if f := p.ours.fields; f[head+"min"] > f[head+"max"] {
			return fmt.Errorf("min and max are not in order: %v", f)
		}
		return nil
	}},
	"what a request has": {field: requestSize, always: true, holds: func(p *pair) error {
		for _, s := range []side{p.theirs, p.ours} {
			all := strings.Join(s.sent, "")
			want := float64(len(all)) / float64(max(1, strings.Count(all, "User-Agent: ")))
			// It has one decimal at most, and none in httperf.
			if have := s.fields[requestSize]; have > want+0.051 || have < math.Floor(want) || s.name == "ours" && have < want-0.051 {
				return fmt.Errorf("%s: %v, and %v bytes came", s.name, have, want)
			}
		}
		return nil
	}},
	"port in Host":        {row: "--port", always: true},
	"name of the length":  {row: "--wsesslog", always: true},
	"empty line for Host": {row: "--no-host-hdr"},
	"empty body":          {row: "--method"},

	"period echo": {field: theCommand, echo: [2]string{" --rate=100 ", " --period=d0.01 "}},

	"header decimals":  {field: headerSize, holds: cut(headerSize)},
	"content decimals": {field: contentSize, holds: cut(contentSize)},
	"footer decimals":  {field: footerSize, holds: cut(footerSize)},
	"sum of decimals": {field: replySize, holds: func(p *pair) error {
		f := p.ours.fields
		return exactly(p, replySize, math.Floor(f[headerSize])+math.Floor(f[contentSize])+math.Floor(f[footerSize]), f[headerSize]+f[contentSize]+f[footerSize])
	}},

	"the session before": {field: concurrent, holds: func(p *pair) error { return exactly(p, concurrent, 2, 1) }},

	"calls after the end":      {field: requests, holds: eachConn(requests, 2, 1)},
	"orderly close, connreset": {field: connReset, holds: eachConn(connReset, 1, 0)},
	"orderly close, total":     {field: errorTotal, row: connReset, holds: eachConn(errorTotal, 1, 0)},

	"cut short, replies":   {field: replies, holds: eachConn(replies, 1, 0)},
	"cut short, status":    {field: status2, holds: eachConn(status2, 1, 0)},
	"cut short, connreset": {field: connReset, holds: eachConn(connReset, 0, 1)},
	"cut short, total":     {field: errorTotal, row: connReset, holds: eachConn(errorTotal, 0, 1)},
	"cut short, length":    {field: length, row: replies, holds: whole(length, 1, 0)},
	"cut short, header":    {field: headerSize, row: replies, holds: whole(headerSize, len(cutShort)-len(hello), 0)},
	"cut short, content":   {field: contentSize, row: replies, holds: whole(contentSize, len(hello), 0)},
	"cut short, size":      {field: replySize, row: replies, holds: whole(replySize, len(cutShort), 0)},

	"interim, status":  {field: status2, row: "Reply status: 1xx", holds: eachConn(status2, 0, 1)},
	"interim, header":  {field: headerSize, holds: whole(headerSize, len(interim), len(interim+fine)-len(hello))},
	"interim, content": {field: contentSize, holds: whole(contentSize, 0, len(hello))},
	"interim, size":    {field: replySize, row: contentSize, holds: whole(replySize, len(interim), len(interim+fine))},
}

// Fields that are named more than once.
const (
	burst       = "Maximum connect burst length: burst"
	requests    = "Total: requests"
	replies     = "Total: replies"
	concurrent  = "Connection rate: concurrent"
	length      = "Connection length [replies/conn]: length"
	requestSize = "Request size [B]: size"
	headerSize  = "Reply size [B]: header"
	contentSize = "Reply size [B]: content"
	footerSize  = "Reply size [B]: footer"
	replySize   = "Reply size [B]: total"
	status2     = "Reply status: 2xx"
	connReset   = "Errors: connreset"
	errorTotal  = "Errors: total"
)

// exactly says whether both have what they should.
func exactly(p *pair, name string, theirs, ours float64) error {
	return within(p, name, theirs, theirs, ours, ours)
}

func within(p *pair, name string, theirLeast, theirMost, ourLeast, ourMost float64) error {
	if v := p.theirs.fields[name]; v < theirLeast || v > theirMost {
		return fmt.Errorf("httperf has %v, want %v to %v", v, theirLeast, theirMost)
	}
	if v := p.ours.fields[name]; v < ourLeast || v > ourMost {
		return fmt.Errorf("ours is %v, want %v to %v", v, ourLeast, ourMost)
	}
	return nil
}

// eachConn says whether both have so many for each connection.
func eachConn(name string, theirs, ours float64) func(p *pair) error {
	return func(p *pair) error { return exactly(p, name, theirs*p.conns, ours*p.conns) }
}

func whole(name string, theirs, ours int) func(p *pair) error {
	return func(p *pair) error { return exactly(p, name, float64(theirs), float64(ours)) }
}

// cut says whether they have what is in front of our decimal point.
func cut(name string) func(p *pair) error {
	return func(p *pair) error {
		return exactly(p, name, math.Floor(p.ours.fields[name]), p.ours.fields[name])
	}
}

// slack is how far times of the two programs may be apart, and how much later
// than the script a run may end, in seconds: the tests share the machine.
const slack = 5.0

// A sideRun is one line of options for both programs.
type sideRun struct {
	name    string
	options string    // separated by blanks
	more    []string  // options with blanks in them
	server  *scripted // nil: nobody listens
	takes   float64   // least duration by the script, in seconds
	replied float64   // least time to the reply by the script, in ms
	differ  []string  // differences that must show, beside those that may show always
}

const (
	hello    = "hello"
	interim  = "HTTP/1.1 103 Early\r\n\r\n"
	fine     = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	cutShort = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"
)

func sideRuns() []sideRun {
	always := func(text string) *scripted { return &scripted{reply: answer(text)} }
	return []sideRun{
		{name: "plain", options: "--num-conns=5", server: always(fine)},
		{name: "default", server: always(fine)},
		{name: "slow", options: "--num-conns=2", server: &scripted{reply: answer(fine), delay: 40 * time.Millisecond}, takes: 0.08, replied: 40},
		{name: "several calls", options: "--num-conns=3 --num-calls=4", server: always(fine)},
		{name: "burst", options: "--num-conns=3 --num-calls=6 --burst-length=3", server: always(fine)},
		{name: "HEAD", options: "--num-conns=3 --num-calls=2 --method=HEAD", server: always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")},
		{name: "DELETE", options: "--num-conns=2 --method=DELETE", server: always("HTTP/1.1 204 No Content\r\n\r\n")},
		{name: "POST", options: "--num-conns=2 --method=POST", server: always(fine), differ: []string{"empty body"}},
		{name: "404", options: "--num-conns=3 --num-calls=2 --uri=/none", server: always("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")},
		{name: "classes", options: "--num-conns=2 --num-calls=4", server: &scripted{reply: func(n int) string {
			return fmt.Sprintf("HTTP/1.1 %d Status\r\nContent-Length: 2\r\n\r\nok", []int{200, 302, 404, 503}[n%4])
		}}},
		{name: "uneven sizes", options: "--num-conns=2 --num-calls=2", server: &scripted{reply: func(n int) string {
			return []string{fine, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX: yz\r\n\r\nhello!"}[n%2]
		}}, differ: []string{"header decimals", "content decimals", "sum of decimals"}},
		{name: "uneven trailers", options: "--num-conns=1 --num-calls=2", server: &scripted{reply: func(n int) string {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + []string{"", "A: bc\r\n"}[n%2] + "\r\n"
		}}, differ: []string{"footer decimals", "sum of decimals"}},
		{name: "chunked", options: "--num-conns=3 --num-calls=2", server: always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")},
		{name: "trailers", options: "--num-conns=3 --num-calls=2", server: always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\nC: d\r\n\r\n")},
		{name: "until the end", options: "--num-conns=3", server: &scripted{reply: answer("HTTP/1.1 200 OK\r\n\r\nhello"), last: 1}},
		{name: "interim", options: "--num-conns=3", server: always(interim + fine), differ: []string{"interim, status", "interim, header", "interim, content", "interim, size"}},
		{name: "refused", options: "--num-conns=4"},
		{name: "no reply", options: "--num-conns=4", server: &scripted{reply: answer(""), last: 1}},
		{name: "half a header", options: "--num-conns=4", server: &scripted{reply: answer("HTTP/1.1 200 OK\r\nContent-"), last: 1}},
		{name: "half a chunk", options: "--num-conns=4", server: &scripted{reply: answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), last: 1}},
		{name: "half a body", options: "--num-conns=4", server: &scripted{reply: answer(cutShort), last: 1}, differ: []string{
			"cut short, replies", "cut short, status", "cut short, length", "cut short, header", "cut short, content", "cut short, size", "cut short, connreset", "cut short, total",
		}},
		{name: "closed between calls", options: "--num-conns=3 --num-calls=2", server: &scripted{reply: answer("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"), last: 1},
			differ: []string{"calls after the end", "orderly close, connreset", "orderly close, total"}},
		{name: "silent", options: "--num-conns=3 --rate=100 --timeout=1", server: always(""), takes: 1.02},
		{name: "silent with think time", options: "--num-conns=2 --rate=100 --timeout=0.5 --think-timeout=0.2", server: always(""), takes: 0.71},
		{name: "no Host", options: "--num-conns=2 --no-host-hdr", server: always(fine), differ: []string{"empty line for Host"}},
		{name: "server name", options: "--num-conns=2 --server-name=www.example.org", server: always(fine)},
		{name: "added header", options: "--num-conns=2", more: []string{`--add-header=A: b\nC: \101\n`}, server: always(fine)},
		{name: "HTTP/1.0", options: "--num-conns=2 --num-calls=2 --http-version=1.0", server: always("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello")},
		{name: "working set", options: "--num-calls=14 --uri=/a --wset=30,0.125", server: always(fine)},
		{name: "working set of one client", options: "--num-calls=14 --uri=/a --wset=11,1 --client=1/3", server: always(fine)},
		{name: "list of URIs", options: "--num-calls=7 --wlog=y,testdata/sidebyside.list", server: always(fine)},
		{name: "reset", options: "--num-conns=3 --close-with-reset", server: always(fine)},
		{name: "hog", options: "--num-conns=3 --hog", server: always(fine)},
		{name: "rate", options: "--num-conns=20 --rate=100", server: always(fine), takes: 0.19},
		{name: "rate and calls", options: "--num-conns=10 --num-calls=3 --rate=100", server: always(fine), takes: 0.09},
		{name: "fixed period", options: "--num-conns=10 --period=d0.01", server: always(fine), takes: 0.09, differ: []string{"period echo"}},
		{name: "exponential period", options: "--num-conns=10 --period=e0.005", server: always(fine)},
		{name: "uniform period", options: "--num-conns=10 --period=u0.005,0.015", server: always(fine), takes: 0.045},
		{name: "one session", options: "--wsess=1,3,0.02", server: always(fine), takes: 0.04},
		{name: "sessions", options: "--wsess=3,4,0.03 --burst-length=2", server: always(fine), takes: 0.09, differ: before},
		{name: "sessions of one burst", options: "--wsess=3,5,0.05 --burst-length=5", server: always(fine), differ: before},
		{name: "sessions of uneven bursts", options: "--wsess=3,7,0.02 --burst-length=3", server: always(fine), takes: 0.12, differ: before},
		{name: "sessions at a rate", options: "--rate=50 --wsess=5,6,0.05 --burst-length=3", server: always(fine), takes: 0.13},
		{name: "sessions at random", options: "--period=e0.01 --wsess=5,6,0.01 --burst-length=2", server: always(fine), takes: 0.02},
		{name: "slow sessions", options: "--wsess=2,3,0.01", server: &scripted{reply: answer(fine), delay: 20 * time.Millisecond}, takes: 0.16, replied: 20, differ: before},
		{name: "sessions of one call at a time", options: "--max-connections=1 --max-piped-calls=1 --wsess=2,4,0.01 --burst-length=2", server: always(fine), takes: 0.02, differ: before},
		{name: "sessions with cookies", options: "--session-cookies --wsess=3,4,0.01 --burst-length=2", takes: 0.03, differ: before, server: &scripted{reply: func(n int) string {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nSet-Cookie: A=b%d; Path=/\r\nContent-Length: 5\r\n\r\nhello", n)
		}}},
		{name: "sessions of all methods", options: "--method=DELETE --wsess=2,2,0", server: always(fine), differ: before},
		{name: "sessions with HTTP/1.0", options: "--http-version=1.0 --wsess=1,1,0", server: always("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello")},
		{name: "sessions with a failure status", options: "--failure-status=404 --wsess=2,2,0.01", server: always(fine), differ: before},
		{name: "sessions through a working set", options: "--uri=/a --wset=30,0.5 --wsess=1,7,0.01 --burst-length=3", server: always(fine)},
		{name: "sessions refused", options: "--rate=50 --wsess=3,3,0.01", takes: 0.04},
		{name: "sessions without a reply", options: "--timeout=0.3 --rate=50 --wsess=2,3,0.01", server: always(""), takes: 0.32},
		{name: "sessions that are silent later", options: "--timeout=0.3 --rate=50 --wsess=2,3,0.01", takes: 0.33, server: &scripted{reply: func(n int) string {
			return []string{fine, ""}[min(n, 1)]
		}}},
		{name: "session file", options: "--wsesslog=7,0.02,testdata/three.session", server: always("HTTP/1.1 204 No Content\r\n\r\n"), takes: 0.35, differ: before},
		{name: "session file at a rate", options: "--rate=50 --wsesslog=7,0.02,testdata/three.session", server: always("HTTP/1.1 204 No Content\r\n\r\n"), takes: 0.2},
		{name: "part of a session file", options: "--wsesslog=1,0.02,testdata/three.session", server: always("HTTP/1.1 204 No Content\r\n\r\n"), takes: 0.1},
	}
}

// before is what sessions one after another show.
var before = []string{"the session before"}

// The same runs through httperf 0.9.0 and through this program under its name
// give the same reports but for what the guide explains.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	path := httperfPath(t)
	if !isVersion09(t, path) {
		t.Skipf("%s is not httperf 0.9.0, which the guide and this test compare with", path)
	}
	guide := readGuide(t)
	for name, d := range differences {
		key := cmp.Or(d.row, d.field)
		row := guide.fields[key]
		if strings.HasPrefix(key, "--") {
			row = guide.options[key]
		}
		if row.verdict != "different" {
			t.Errorf("difference %q: the guide's row %q says %q, want different", name, key, row.verdict)
		}
	}
	used := map[string]bool{}
	runs := sideRuns()
	for name, row := range guide.grammar {
		if row.verdict != "same" {
			continue
		}
		file, n := row.sessionFile(t)
		r := sideRun{name: "session file/" + name, options: fmt.Sprintf("--wsesslog=%d,0,%s", n, file), server: &scripted{reply: answer(fine)}}
		if n > 1 {
			r.differ = before
		}
		runs = append(runs, r)
	}
	for _, r := range runs {
		for _, name := range r.differ {
			used[name] = true
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.compare(t, path)
		})
	}
	for name, d := range differences {
		if !d.always && !used[name] {
			t.Errorf("difference %q: no run shows it", name)
		}
	}
}

// compare carries the run out with both and compares what they report and send.
func (r *sideRun) compare(t *testing.T, path string) {
	p := &pair{conns: 1}
	for _, name := range []string{"--num-conns", "--wsess", "--wsesslog"} {
		text, ok := optionValue(r.options, name)
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, ",")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		p.conns = float64(n)
	}
	if r.server != nil {
		r.server.start(t)
		p.port = r.server.port()
	} else {
		p.port = strconv.Itoa(refusing(t))
	}
	argv := slices.Concat([]string{"httperf", "--server=127.0.0.1", "--port=" + p.port}, strings.Fields(r.options), r.more)
	p.theirs = side{name: "httperf", classicReport: r.report(t, exec.Command(path, argv[1:]...), true)}
	p.ours = side{name: "ours", classicReport: r.report(t, process(t, argv...), false)}
	if r.server != nil {
		for _, s := range r.server.stop() {
			if strings.Contains(s, "User-Agent: httperf/") {
				p.theirs.sent = append(p.theirs.sent, s)
			} else {
				p.ours.sent = append(p.ours.sent, s)
			}
		}
		if n := int(p.conns); len(p.theirs.sent) != n || len(p.ours.sent) != n {
			t.Fatalf("the server had %d connections of httperf and %d of ours, want %d", len(p.theirs.sent), len(p.ours.sent), n)
		}
	}
	shown := map[string]bool{}
	r.fields(t, p, shown)
	r.echoes(t, p, shown)
	r.sent(t, p, shown)
	p.theirs.arithmetic(t)
	p.ours.arithmetic(t)
	for _, name := range r.differ {
		if !shown[name] {
			t.Errorf("difference %q does not show", name)
		}
	}
}

// sessions says whether the run is one of sessions.
func (r *sideRun) sessions() bool { return strings.Contains(r.options, "--wsess") }

// optionValue returns the value of an option.
func optionValue(options, name string) (string, bool) {
	for o := range strings.FieldsSeq(options) {
		if v, ok := strings.CutPrefix(o, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// report runs a command, for at most 20 s, and reads its report.
func (r *sideRun) report(t *testing.T, c *exec.Cmd, theirs bool) *classicReport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bounded := exec.CommandContext(ctx, c.Path)
	bounded.Args, bounded.Env = c.Args, c.Env
	var stdout, stderr bytes.Buffer
	bounded.Stdout, bounded.Stderr = &stdout, &stderr
	code := outcome(t, bounded.Run())
	if ctx.Err() != nil {
		t.Fatalf("%q did not end: %s", c.Args, stderr.String())
	}
	formats := classicLines
	if r.sessions() {
		formats = slices.Concat(formats, sessionLines)
	}
	report, err := readClassic(stdout.String(), formats...)
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", c.Args, err, stdout.String(), stderr.String())
	}
	if len(report.rest) > 0 {
		t.Errorf("%q: lines behind the report: %q", c.Args, report.rest)
	}
	switch silent := report.fields["Total: replies"] == 0; {
	case theirs && code != 0, !theirs && !anyVerdict(code) && !(silent && code == exitSilent):
		t.Errorf("%q: exit code %d: %s", c.Args, code, stderr.String())
	}
	return report
}

// kinds of fields. A field that is in none is a count or a size, and equal.
var (
	// Times in ms may be slack apart.
	millis = []string{
		"Connection time [ms]: min", "Connection time [ms]: avg", "Connection time [ms]: max", "Connection time [ms]: median",
		"Connection time [ms]: stddev", "Connection time [ms]: connect", "Reply time [ms]: response", "Reply time [ms]: transfer",
	}
	// Times in seconds, too.
	seconds = []string{"Session lifetime [s]: lifetime", "Session failtime [s]: failtime"}
	// These come from samples: see "short windows of sessions".
	sampled = []string{"Session rate [sess/s]: min", "Session rate [sess/s]: max", "Session rate [sess/s]: stddev"}
	// Rates and shares follow from counts and times: see arithmetic.
	derived = []string{
		"Total: duration", "Connection rate: conn/s", "Connection rate: ms/conn", "Request rate: req/s", "Request rate: ms/req",
		"Session rate [sess/s]: avg",
		"CPU time [s]: user", "CPU time [s]: system", "CPU time [s]: user%", "CPU time [s]: system%", "CPU time [s]: total%", "Net I/O: KB/s", "Net I/O: bps",
	}
)

// fields compares the numbers.
func (r *sideRun) fields(t *testing.T, p *pair, shown map[string]bool) {
	t.Helper()
	if len(p.theirs.fields) != len(p.ours.fields) {
		t.Errorf("%d fields, httperf has %d", len(p.ours.fields), len(p.theirs.fields))
	}
	for name, want := range p.theirs.fields {
		have := p.ours.fields[name]
		switch {
		case slices.Contains(derived, name), strings.HasPrefix(name, "Reply rate "), slices.Contains(sampled, name):
		case name == histogram:
			if p.ours.lengths != p.theirs.lengths {
				t.Errorf("%s %s, httperf has %s", name, p.ours.lengths, p.theirs.lengths)
			}
		case slices.Contains(seconds, name):
			if math.Abs(have-want) > slack {
				t.Errorf("%s %v, httperf has %v", name, have, want)
			}
		case slices.Contains(millis, name):
			if math.Abs(have-want) > 1e3*slack {
				t.Errorf("%s %v, httperf has %v", name, have, want)
			}
		case name == concurrent && strings.Contains(r.options, "--rate") || name == concurrent && strings.Contains(r.options, "--period"):
			if err := within(p, name, 1, p.conns, 1, p.conns); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case have != want && !r.explained(t, p, name, shown):
			t.Errorf("%s %v, httperf has %v", name, have, want)
		}
	}
	// These hold whether or not they show.
	for name, d := range differences {
		if d.always && d.holds != nil && (r.sessions() || !strings.HasPrefix(d.field, "Session")) {
			if err := d.holds(p); err != nil {
				t.Errorf("difference %q: %v", name, err)
			}
		}
	}
	for _, s := range []side{p.theirs, p.ours} {
		if have := s.fields["Reply time [ms]: response"]; have < r.replied-0.1 {
			t.Errorf("%v ms to the reply, which comes after %v", have, r.replied)
		}
		// httperf begins to count when the first connection is on its way.
		if have := s.fields["Total: duration"]; have < r.takes-0.01 || have > r.takes+slack {
			t.Errorf("duration %v, want %v to %v", have, r.takes-0.01, r.takes+slack)
		}
	}
}

// explained says whether a difference of the run covers the field.
func (r *sideRun) explained(t *testing.T, p *pair, field string, shown map[string]bool) bool {
	t.Helper()
	for name, d := range differences {
		if d.field != field || !d.always && !slices.Contains(r.differ, name) {
			continue
		}
		shown[name] = true
		if d.holds != nil && !d.always {
			if err := d.holds(p); err != nil {
				t.Errorf("difference %q: %v", name, err)
			}
		}
		return true
	}
	return false
}

// arithmetic checks what follows from other numbers of one report. Each is
// printed rounded, and httperf's sizes are cut off.
func (s *side) arithmetic(t *testing.T) {
	t.Helper()
	f := s.fields
	d := f["Total: duration"]
	least, most := max(d-0.0005, 1e-9), d+0.0005
	check := func(name string, low, high, rounding float64) {
		t.Helper()
		if v := f[name]; v < low-rounding || v > high+rounding {
			t.Errorf("%s: %s %v, want %v to %v by the other numbers", s.name, name, v, low, high)
		}
	}
	for _, rate := range []struct{ count, perSecond, each string }{
		{"Total: connections", "Connection rate: conn/s", "Connection rate: ms/conn"},
		{"Total: requests", "Request rate: req/s", "Request rate: ms/req"},
	} {
		n := f[rate.count]
		check(rate.perSecond, n/most, n/least, 0.051)
		if n > 0 {
			check(rate.each, 1e3*least/n, 1e3*most/n, 0.051)
		}
	}
	if n, ok := f["Session rate [sess/s]: ok"]; ok {
		check("Session rate [sess/s]: avg", n/most, n/least, 0.0051)
		var sum float64
		for k, text := range strings.Fields(s.lengths) {
			sessions, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += float64(k) * sessions
		}
		check("Total: replies", sum, sum, 0)
	}
	whole := f[requests]*f["Request size [B]: size"] + f[replies]*(f["Reply size [B]: header"]+f["Reply size [B]: content"])
	// Up to a byte of each mean is cut off.
	uncut := whole + f[requests] + 2*f[replies]
	check("Net I/O: KB/s", (whole-1)/most/1024, uncut/least/1024, 0.051)
	check("Net I/O: bps", 8e-6*(whole-1)/most, 8e-6*uncut/least, 0.051)
	for _, kind := range []string{"user", "system"} {
		seconds := f["CPU time [s]: "+kind]
		check("CPU time [s]: "+kind+"%", 100*(seconds-0.0051)/most, 100*(seconds+0.0051)/least, 0.051)
	}
	sum := f["CPU time [s]: user%"] + f["CPU time [s]: system%"]
	check("CPU time [s]: total%", sum, sum, 0.151)
	var errors float64
	for _, name := range []string{"client-timo", "socket-timo", "connrefused", "connreset", "fd-unavail", "addrunavail", "ftab-full", "other"} {
		errors += f["Errors: "+name]
	}
	check("Errors: total", errors, errors, 0)
}

// echoes compares the first lines.
func (r *sideRun) echoes(t *testing.T, p *pair, shown map[string]bool) {
	t.Helper()
	want := p.theirs.command
	for name, d := range differences {
		if old, ours := d.echo[0], d.echo[1]; old != "" && (d.always || slices.Contains(r.differ, name)) {
			shown[name] = strings.Contains(want, old)
			want = strings.Replace(want, old, ours, 1)
		}
	}
	if p.ours.command != want {
		t.Errorf("the command is\n%s\nhttperf has\n%s", p.ours.command, p.theirs.command)
	}
}

// sent compares what the server got.
func (r *sideRun) sent(t *testing.T, p *pair, shown map[string]bool) {
	t.Helper()
	if r.server == nil {
		return
	}
	_, named := optionValue(r.options, "--server-name")
	// A header's fields may come in any order.
	split := func(s string) []string {
		all := strings.SplitAfter(s, endOfHeader)
		for i, request := range all {
			lines := strings.Split(request, "\r\n")
			slices.Sort(lines[1:])
			all[i] = strings.Join(lines, "\n")
		}
		return all
	}
	agent := regexp.MustCompile(`(?m)^User-Agent: [a-z]+/[0-9.]+\r$`)
	// Connections end in any order.
	bring := func(sent []string, change func(string) string) (all []string) {
		for _, text := range sent {
			all = append(all, strings.Join(split(change(agent.ReplaceAllString(text, "User-Agent: NAME\r"))), ""))
		}
		slices.Sort(all)
		return all
	}
	theirs := bring(p.theirs.sent, func(text string) string {
		if !named && strings.Contains(text, "\r\nHost: ") {
			// "port in Host"
			host := "\r\nHost: 127.0.0.1"
			text = strings.ReplaceAll(text, host+"\r\n", host+":"+p.port+"\r\n")
		}
		// "name of the length"
		text = strings.ReplaceAll(text, "\r\nContent-length: ", "\r\nContent-Length: ")
		swap := func(name, old, with string) {
			if slices.Contains(r.differ, name) && strings.Contains(text, old) {
				text, shown[name] = strings.ReplaceAll(text, old, with), true
			}
		}
		swap("empty line for Host", "NAME\r\n\r\n\r\n", "NAME\r\n\r\n")
		swap("empty body", endOfHeader, "\r\nContent-Length: 0"+endOfHeader)
		if slices.Contains(r.differ, "calls after the end") {
			text = text[:strings.Index(text, endOfHeader)+len(endOfHeader)]
		}
		return text
	})
	ours := bring(p.ours.sent, func(text string) string { return text })
	if !slices.Equal(ours, theirs) {
		t.Errorf("requests\n%q\nhttperf sends\n%q", ours, theirs)
	}
}

// bothRun runs one line of options through httperf and through this program under
// its name, which says that it is httperf to the server too. It returns what they
// print to standard output.
func bothRun(t *testing.T, options ...string) (theirs, ours string) {
	t.Helper()
	path := httperfPath(t)
	if !isVersion09(t, path) {
		t.Skipf("%s is not httperf 0.9.0, which this test compares with", path)
	}
	s := &scripted{reply: answer(fine)}
	s.start(t)
	argv := append([]string{"httperf", "--server=127.0.0.1", "--port=" + s.port()}, options...)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, argv[1:]...).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, text)
	}
	code, ours, stderr := finish(t, append(argv, "-A", "httperf/0.9.0")...)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return string(text), ours
}

// What -v and -v -v add stands in the same places and has the same form.
func TestVerboseSideBySide(t *testing.T) {
	t.Parallel()
	// httperf has a sample after five seconds.
	theirs, ours := bothRun(t, "--rate=20", "--num-conns=105", "-v", "-v")
	form := regexp.MustCompile(`^httperf .*\n(httperf: maximum number of open descriptors = \d+\n)?(reply-rate = \d+\.\d {1,5}\n)+` +
		`Maximum connect burst length: \d+\n\nConnection lifetime histogram \(time in ms\):\n(( {13}:| +\d+\.5 \d+)\n)+\nTotal: connections 105 `)
	for _, text := range []string{theirs, ours} {
		if !form.MatchString(text) {
			t.Errorf("want the form %v of\n%.2000s", form, text)
		}
	}
}

// The lines of --print-request and --print-reply are the same but for the carriage
// returns, when both send the same.
func TestPrintSideBySide(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"--print-request --print-reply", "--print-request=header --print-reply=header", "--print-request=body --print-reply=body"} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			theirs, ours := bothRun(t, append(strings.Fields(options), "--num-calls=2", "--server-name=some.test")...)
			printed := regexp.MustCompile(`(?m)^[SR][HBFS]\d+:.*$`)
			want := printed.FindAllString(strings.ReplaceAll(theirs, "\r", ""), -1)
			if have := printed.FindAllString(ours, -1); len(want) < 4 || !slices.Equal(have, want) {
				t.Errorf("have\n%q, httperf prints\n%q", have, want)
			}
		})
	}
}
