package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/report"
)

// A daemon is a real server, as Debian packages it.
type daemon struct {
	name  string
	args  []string       // in front of the name of its configuration file, with placeholders
	ready string         // what it says on standard error once it listens
	quit  syscall.Signal // ends it when its logs are complete
}

var (
	nginx   = daemon{"nginx", []string{"-c"}, "start worker process ", syscall.SIGQUIT}
	apache  = daemon{"apache2", []string{"-DFOREGROUND", "-f"}, "resuming normal operations", syscall.SIGTERM}
	haproxy = daemon{"haproxy", []string{"-W", "-db", "-f"}, "Loading success", syscall.SIGTERM}
)

// path returns where the program is; it skips the test where it is not.
func (d *daemon) path(t *testing.T) string {
	t.Helper()
	for _, name := range []string{d.name, "/usr/sbin/" + d.name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed: apt-get install %s", d.name, d.name)
	return ""
}

// A realServer is a daemon that runs.
type realServer struct {
	*exec.Cmd
	dir    string         // its folder; www in it holds the pages
	ports  map[string]int // those that its configuration names
	stderr chan string    // all that it said, when it has ended
	quit   syscall.Signal // the daemon's
}

// Sizes of the pages /page and /large in bytes.
const (
	pageSize  = 771
	largeSize = 1 << 20
)

// scratch returns a folder that the daemons' unprivileged processes can read,
// with pages in it.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	www := filepath.Join(dir, "www")
	if err := os.Mkdir(www, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(dir), dir, www} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The large page does not shrink to something small when it is packed.
	var large strings.Builder
	for i := 0; large.Len() < largeSize; i++ {
		fmt.Fprintln(&large, i*i)
	}
	for name, text := range map[string]string{"page": strings.Repeat("x", pageSize), "large": large.String()[:largeSize]} {
		path := filepath.Join(www, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// start starts the daemon and waits until it listens. In its configuration and
// arguments @dir@ stands for its folder, and any other @name@ for a free port.
func (d *daemon) start(t *testing.T, config string) *realServer {
	t.Helper()
	path := d.path(t)
	dir := scratch(t)
	var last error
	// A port may be taken between the moment it is found free and its use.
	for range 5 {
		s := &realServer{dir: dir, ports: map[string]int{}, stderr: make(chan string, 1), quit: d.quit}
		file := filepath.Join(dir, d.name+".conf")
		if err := os.WriteFile(file, []byte(s.fill(t, config)), 0o644); err != nil {
			t.Fatal(err)
		}
		s.Cmd = exec.Command(path)
		for _, arg := range append(slices.Clone(d.args), file) {
			s.Args = append(s.Args, s.fill(t, arg))
		}
		pipe, err := s.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.end(t, syscall.SIGTERM) })
		r := bufio.NewReader(pipe)
		if last = until(r, d.ready); last == nil {
			go s.drain(r)
			return s
		}
		s.drain(r)
		s.end(t, syscall.SIGTERM)
		if !strings.Contains(last.Error(), "bind") {
			break
		}
	}
	t.Fatalf("%s does not start: %v", d.name, last)
	return nil
}

// until reads lines until one contains text.
func until(r *bufio.Reader, text string) error {
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			return fmt.Errorf("%w before %q in:\n%s", err, text, all.String())
		}
		if strings.Contains(line, text) {
			return nil
		}
	}
}

// drain reads to the end of standard error.
func (s *realServer) drain(r io.Reader) {
	b, _ := io.ReadAll(r)
	s.stderr <- string(b)
}

var placeholder = regexp.MustCompile(`@[a-z]+@`)

// fill replaces the placeholders of a configuration.
func (s *realServer) fill(t *testing.T, config string) string {
	t.Helper()
	return placeholder.ReplaceAllStringFunc(config, func(name string) string {
		name = strings.Trim(name, "@")
		if name == "dir" {
			return s.dir
		}
		if s.ports[name] == 0 {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			// Held until all ports are found, so that they differ.
			defer l.Close()
			s.ports[name] = l.Addr().(*net.TCPAddr).Port
		}
		return strconv.Itoa(s.ports[name])
	})
}

// patience is how long a daemon may take to end.
const patience = 30 * time.Second

// end stops the daemon unless it has ended, and waits for it.
func (s *realServer) end(t *testing.T, how syscall.Signal) {
	t.Helper()
	if s.ProcessState != nil {
		return
	}
	if err := s.Process.Signal(how); err != nil {
		t.Log(err)
	}
	limit := time.AfterFunc(patience, func() { s.Process.Kill() })
	said := <-s.stderr
	// Its exit code says only which signal it was.
	_ = s.Wait()
	if !limit.Stop() {
		t.Errorf("process %d did not end within %v of %v:\n%s", s.Process.Pid, patience, how, said)
	}
}

// url returns the URL of a path at the port of that name.
func (s *realServer) url(port, path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", s.ports[port], path)
}

// refusing returns a port that is taken, and where nobody listens.
func refusing(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	a, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return a.(*syscall.SockaddrInet4).Port
}

// measure runs the command with arguments that may be overridden, and checks
// that its result makes sense by itself.
func measure(t *testing.T, args ...string) *report.Result {
	t.Helper()
	c := process(t, append([]string{"httpgen", "-q", "-o", "json", "--timeout", "20"}, args...)...)
	// The race detector would let every process sleep for a second at its end.
	c.Env = append(c.Env, "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	code := outcome(t, c.Run())
	if code != exitOK && code != exitInvalid && code != exitSilent {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	r := decode(t, stdout.String())
	coherent(t, r)
	if want := r.Totals.Replies == 0; code != exitInvalid && want != (code == exitSilent) {
		t.Errorf("exit code %d after %d replies", code, r.Totals.Replies)
	}
	return r
}

// coherent checks that the numbers of a result agree with each other.
func coherent(t *testing.T, r *report.Result) {
	t.Helper()
	n := &r.Totals
	balanced(t, n)
	var windows report.Totals
	for i := range r.Windows {
		w := &r.Windows[i]
		windows.Arrivals.Scheduled += w.Scheduled
		windows.Arrivals.Started += w.Started
		windows.Replies += w.Replies
		windows.Errors.Total += w.Errors.Total
		windows.Unfinished += w.Unfinished
		windows.Calls.Replied += w.Latency.Count
	}
	var codes uint64
	for _, k := range n.Codes {
		codes += k
	}
	s, b := &n.Status, &n.Bytes
	for _, tt := range []struct {
		name       string
		have, want uint64
	}{
		{"scheduled in the windows", windows.Arrivals.Scheduled, n.Arrivals.Scheduled},
		{"started in the windows", windows.Arrivals.Started, n.Arrivals.Started},
		{"replies in the windows", windows.Replies, n.Replies},
		{"latencies in the windows", windows.Calls.Replied, n.Replies},
		{"errors in the windows", windows.Errors.Total, n.Errors.Total},
		{"unfinished in the windows", windows.Unfinished, n.Unfinished},
		{"replies by code", codes, n.Replies},
		// 1xx counts what came before replies.
		{"replies by class", s.Class2 + s.Class3 + s.Class4 + s.Class5 + s.Other, n.Replies},
		{"replied", n.Calls.Replied, n.Replies},
		{"latencies", r.Times.Latency.Count, n.Replies},
		{"services", r.Times.Service.Count, n.Replies},
		{"connect times", r.Times.Connect.Count, n.Connections.Established},
	} {
		if tt.have != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.have, tt.want)
		}
	}
	// A pool may still be opening connections for nobody when the run is over.
	opening := n.Connections.Attempted - n.Connections.Established - n.Connections.Failed
	if opening > uint64(r.Config.Connections) {
		t.Errorf("%d connections neither established nor failed, want no more than the pool's %d", opening, r.Config.Connections)
	}
	if n.Errors.Total+n.Unfinished == 0 && r.Config.HTTPVersion != "2" { // whose connections have frames of their own
		if whole := b.Header + b.Body + b.Trailer + b.Framing; b.Received != whole || b.Sent != b.Request {
			t.Errorf("%d bytes received, %d in replies; %d sent, %d in requests; want the same", b.Received, whole, b.Sent, b.Request)
		}
	}
}

// tally puts the counts of a result in one line: what is not named is zero, and
// a body is named only when all replies were 200.
func tally(r *report.Result) string {
	n := &r.Totals
	var b strings.Builder
	fmt.Fprintf(&b, "started %d completed %d connections %d requests %d replies %d",
		n.Arrivals.Started, n.Completed, n.Connections.Established, n.Requests, n.Replies)
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"shed", n.Arrivals.Shed.Total()},
		{"unfinished", n.Unfinished},
		{"failed connections", n.Connections.Failed},
		{"unanswered", n.Calls.Unanswered},
		{"unsent", n.Calls.Unsent},
		{"lost", n.LostCalls},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, " %s %d", c.name, c.n)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(n.Codes)) {
		fmt.Fprintf(&b, " %s=%d", code, n.Codes[code])
	}
	if n.Replies > 0 && n.Codes["200"] == n.Replies {
		fmt.Fprintf(&b, " body %d", n.Bytes.Body)
		if n.Bytes.Framing > 0 {
			fmt.Fprintf(&b, " framing %d", n.Bytes.Framing)
		}
	}
	e := &n.Errors
	for _, c := range []struct {
		name string
		n    uint64
	}{
		{"connect_timeout", e.ConnectTimeout},
		{"reply_timeout", e.ReplyTimeout},
		{"connect_refused", e.ConnectRefused},
		{"reset", e.Reset},
		{"closed_early", e.ClosedEarly},
		{"tls", e.TLS},
		{"protocol", e.Protocol},
		{"unexpected_status", e.UnexpectedStatus},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, " %s %d", c.name, c.n)
		}
	}
	return b.String()
}

// counted compares a result with a regular expression for its tally.
func counted(t *testing.T, r *report.Result, want string) {
	t.Helper()
	if have := tally(r); !regexp.MustCompile("^" + want + "$").MatchString(have) {
		t.Errorf("\nhave %s\nwant %s", have, want)
	}
}

// all is the tally of n arrivals of k calls each that were all answered with one
// status; more are further patterns.
func all(n, k int, code string, more ...string) string {
	return strings.Join(append([]string{fmt.Sprintf("started %[1]d completed %[1]d connections %[1]d requests %[2]d replies %[2]d %[3]s=%[2]d", n, n*k, code)}, more...), " ")
}

// pages is the part of a tally for n of the small pages.
func pages(n int) string { return fmt.Sprintf("body %d", n*pageSize) }

// large is the part of a tally for n of the large pages.
func large(n int) string { return fmt.Sprintf("body %d", n*largeSize) }
