package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/target"
)

// serverFor returns the URL of a server of its own.
func serverFor(t *testing.T, o target.Options) *target.Server {
	t.Helper()
	s, err := target.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// process returns the command as another process.
func process(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = argv
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// outcome returns how the process ended.
func outcome(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// finish runs the command to its end.
func finish(t *testing.T, argv ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := process(t, argv...)
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	code = outcome(t, c.Run())
	return code, out.String(), err.String()
}

func decode(t *testing.T, text string) *report.Result {
	t.Helper()
	var r report.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v in\n%.1000s", err, text)
	}
	return &r
}

// balanced checks the accounts.
func balanced(t *testing.T, n *report.Totals) {
	t.Helper()
	a, c := &n.Arrivals, &n.Calls
	if a.Scheduled != a.Started+a.Shed.Total() || a.Started != n.Completed+n.Errors.Total+n.Unfinished ||
		c.Planned != c.Replied+c.Unanswered+c.Unsent+c.Unfinished {
		t.Errorf("the accounts do not balance: %+v", n)
	}
}

// load are arguments of a short run of 40 arrivals. The load of other tests may
// disturb it, so its verdict is not looked at.
var load = []string{"--rate", "200", "--num-conns", "40", "--timeout", "20"}

// anyVerdict says whether a run of that exit code was carried out, believed or
// not: the tests share the machine.
func anyVerdict(code int) bool { return code == exitOK || code == exitInvalid }

func TestText(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	code, stdout, stderr := finish(t, append([]string{"httpgen", s.URL() + "a", "-vv"}, load...)...)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		`^httpgen .*\n(reply-rate = [0-9.]+ *\n)+Maximum connect burst length: [0-9]+\n\nConnection lifetime histogram \(time in ms\):\n([ 0-9.:]+\n)+\nTotal: `,
		`(?m)^httpgen .*--server=127\.0\.0\.1 .*--uri=/a `,
		`(?m)^Total: connections 40 requests 40 replies 40 test-duration [0-9.]+ s$`,
		`(?m)^Reply status: 1xx=0 2xx=40 3xx=0 4xx=0 5xx=0$`,
		`(?m)^Errors: total 0 client-timo 0 `,
		`(?m)^Arrivals: scheduled 40 started 40 `,
		`(?m)^Verdict: `,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("standard output has no line %s:\n%s", want, stdout)
		}
	}
	// 40 arrivals at 200/s take 0.2 s: two samples of 0.1 s, a line each.
	if n := len(regexp.MustCompile(`(?m)^ +[0-9.]+ s  offered `).FindAllString(stderr, -1)); n < 2 {
		t.Errorf("%d lines for windows, want 2 or more:\n%s", n, stderr)
	}
	if !strings.HasPrefix(stderr, "200 connections/s x 1 call = 200 calls/s") {
		t.Errorf("standard error begins with %.100q, want the plan", stderr)
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	code, _, stderr := finish(t, append([]string{"httpgen", "--quiet", s.URL()}, load...)...)
	if !anyVerdict(code) || stderr != "" {
		t.Errorf("exit code %d, standard error %q; want none", code, stderr)
	}
}

// All formats of one run agree.
func TestFormats(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	argv := append([]string{"httpgen", s.URL(), "-o", "json", "-o", "csv=" + in("csv"), "-o", "ndjson=" + in("ndjson"), "-o", "text=" + in("text"), "-o", "httperf=" + in("httperf"), "-H", "Cookie: canary"}, load...)
	code, stdout, stderr := finish(t, argv...)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r := decode(t, stdout)
	if r.Schema != report.ResultSchema || r.Totals.Replies != 40 || r.Run.StopReason == "signal" || !r.Run.Complete {
		t.Errorf("schema %q, %d replies, stopped by %q, complete %v", r.Schema, r.Totals.Replies, r.Run.StopReason, r.Run.Complete)
	}
	balanced(t, &r.Totals)
	files := map[string]string{"json": stdout}
	for _, name := range names(t, dir) {
		b, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	if len(files) != 5 {
		t.Errorf("files %q, want csv, httperf, ndjson and text", names(t, dir))
	}
	for name, text := range files {
		if strings.Contains(text, "canary") {
			t.Errorf("%s shows the value of Cookie", name)
		}
	}

	rows, err := csv.NewReader(strings.NewReader(files["csv"])).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("csv: %d rows, %v", len(rows), err)
	}
	var replies uint64
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			if name == "replies" {
				n, err := strconv.ParseUint(row[i], 10, 64)
				if err != nil {
					t.Error(err)
				}
				replies += n
			}
		}
	}
	if replies != 40 {
		t.Errorf("csv: %d replies, want 40", replies)
	}

	replies = 0
	lines := strings.Split(strings.TrimSuffix(files["ndjson"], "\n"), "\n")
	for i, text := range lines {
		var line struct {
			Type    string
			Run     string
			Replies uint64
			Totals  report.Totals
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("ndjson: %v in %s", err, text)
		}
		if line.Run != r.Run.ID {
			t.Errorf("ndjson: run %q, want %q", line.Run, r.Run.ID)
		}
		if last := i == len(lines)-1; last != (line.Type == "result") || last && line.Totals.Replies != 40 {
			t.Errorf("ndjson: line %d of %d is %s", i, len(lines), text)
		}
		replies += line.Replies
	}
	if replies != 40 {
		t.Errorf("ndjson: %d replies in the windows, want 40", replies)
	}
	if !strings.HasPrefix(files["text"], files["httperf"]) || !strings.Contains(files["text"], "\nVerdict: ") {
		t.Errorf("the text is not httperf's report and ours below it:\n%s", files["text"])
	}
}

// Header lines reach the server and no output, but for what is no secret. The
// command has those of --add-header as httperf has them.
func TestAddedHeaders(t *testing.T) {
	t.Parallel()
	s := &scripted{reply: answer(fine)}
	s.start(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("fields"), []byte("Cookie: canary=3\r\nX-File: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := []string{"httperf", "--server", "127.0.0.1", "--port", s.port(), "--timeout", "20", "-v", "-n",
		"--add-head", `Authorization: Bearer canary1\nX-First: \101\n`, "--add-header=Proxy-Authorization: Basic canary2\nX-Second: 2\n", "--add-header-file", in("fields"),
		"-o", "json=" + in("json"), "-o", "csv=" + in("csv"), "-o", "ndjson=" + in("ndjson"), "-o", "text=" + in("text")}
	code, stdout, stderr := finish(t, argv...)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	const want = "\r\nAuthorization: Bearer canary1\r\nX-First: A\r\nProxy-Authorization: Basic canary2\r\nX-Second: 2\r\nCookie: canary=3\r\nX-File: 1\r\n\r\n"
	if sent := strings.Join(s.stop(), ""); !strings.Contains(sent, want) {
		t.Errorf("the server got %q, want %q in it", sent, want)
	}
	command, _, _ := strings.Cut(stdout, "\n")
	if want := ` --uri=/ --add-header='Authorization: ***\nX-First: \101\n' --add-header='Proxy-Authorization: ***\aX-Second: 2\a' --num-conns=1 `; !strings.Contains(command, want) {
		t.Errorf("the command is %s, want %s in it", command, want)
	}
	files := map[string]string{"standard output": stdout, "standard error": stderr}
	for _, name := range []string{"json", "csv", "ndjson", "text"} {
		b, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	for name, text := range files {
		if strings.Contains(text, "canary") {
			t.Errorf("%s shows a secret:\n%s", name, text)
		}
	}
}

func TestPeriodicStats(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Status: 302})
	code, stdout, stderr := finish(t, "httperf", "--server", "127.0.0.1", "--port", strconv.Itoa(s.Port()), "--rate", "100", "--num-conns", "120", "--timeout", "20", "-n")
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !regexp.MustCompile(`^(periodic: [0-9]+\.[0-9] s, 2xx: 0, 3xx: [0-9]+\n)+$`).MatchString(stderr) {
		t.Errorf("standard error %q, want a line a second and nothing else", stderr)
	}
	if want := "\nReply status: 1xx=0 2xx=0 3xx=120 4xx=0 5xx=0\n\nPeriodic stats: 200=0 302=120\n\nCPU time [s]: "; !strings.Contains(stdout, want) {
		t.Errorf("standard output has no %q:\n%s", want, stdout)
	}
}

// The line of a window in which nothing is due any more says so, and no other.
func TestDrainingLine(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Service: target.Constant(100 * time.Millisecond)})
	code, _, stderr := finish(t, append([]string{"httpgen", s.URL(), "--window", "0.1"}, load...)...)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := regexp.MustCompile(`(?m)^ +([0-9.]+) s  offered .*$`).FindAllStringSubmatch(stderr, -1)
	if len(lines) < 3 {
		t.Fatalf("%d lines, want two windows of sending and the drain:\n%s", len(lines), stderr)
	}
	for i, line := range lines {
		if have, want := strings.HasSuffix(line[0], "  (draining)"), i >= 2; have != want {
			t.Errorf("draining is %v, want %v in %q", have, want, line[0])
		}
	}
}

func TestHttperfName(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	code, stdout, stderr := finish(t, "httperf", "--server", "127.0.0.1", "--port", strconv.Itoa(s.Port()), "--uri", "/x", "--rate", "200", "--num-conn", "40", "--num-call", "2", "--timeout", "20")
	if !anyVerdict(code) || stderr != "" {
		t.Errorf("exit code %d, standard error %q; want none", code, stderr)
	}
	if !strings.HasPrefix(stdout, "httperf --timeout=20 --client=0/1 --server=127.0.0.1 ") {
		t.Errorf("standard output begins with %.100q, want the command", stdout)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "Errors: fd-unavail 0 ") {
		t.Errorf("the last line is %q, want httperf's", last)
	}
	if !strings.Contains(stdout, "\nTotal: connections 40 requests 80 replies 80 ") {
		t.Errorf("the totals are wrong:\n%s", stdout)
	}
}

func TestPrintTaps(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Size: 3})
	code, stdout, stderr := finish(t, "httpgen", s.URL(), "--print-reply", "--print-request=header", "-q", "--timeout", "20")
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"SH0:GET / HTTP/1.1\n", "\nSH0:\nSS0: header ", "\nRH0:HTTP/1.1 200 OK\n", "\nRB0:xxx\nRS0: header ", "\nTotal: connections 1 "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("standard output has no %q:\n%s", want, stdout)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	// Bound and not listening: nobody else gets the port.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(sa.(*syscall.SockaddrInet4).Port)
	code, stdout, stderr := finish(t, "httpgen", "--server", "127.0.0.1", "--port", port, "--num-conns", "5", "-o", "json", "-q")
	r := decode(t, stdout)
	balanced(t, &r.Totals)
	want := exitSilent
	if r.Verdict.Status == report.Invalid {
		want = exitInvalid
	}
	if code != want || r.Totals.Errors.ConnectRefused != 5 {
		t.Errorf("exit code %d, %d refused: %s; want %d, 5", code, r.Totals.Errors.ConnectRefused, stderr, want)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	code, stdout, stderr := finish(t, "httpgen", s.URL(), "--rate", "200", "-z", "3s", "--dry-run", "-X", "head")
	if code != exitOK || !strings.HasPrefix(stdout, "200 connections/s x 1 call = 200 calls/s for 3 s") {
		t.Errorf("exit code %d, standard output %q; want 0 and the plan", code, stdout)
	}
	if !strings.HasPrefix(stderr, "httpgen: warning: --method head") {
		t.Errorf("standard error %q, want the warning", stderr)
	}
	if n := s.Stats().Accepted; n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

// untilLine reads lines until one contains text.
func untilLine(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			t.Fatalf("%v before %q in:\n%s", err, text, all.String())
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// started starts the command and returns its standard error.
func started(t *testing.T, c *exec.Cmd) *bufio.Reader {
	t.Helper()
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(pipe)
}

func TestSignal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    syscall.Signal
		want int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.s.String(), func(t *testing.T) {
			t.Parallel()
			s := serverFor(t, target.Options{})
			c := process(t, "httpgen", s.URL(), "--rate", "100", "--window", "0.1", "--timeout", "20", "-o", "json")
			var stdout bytes.Buffer
			c.Stdout = &stdout
			stderr := started(t, c)
			untilLine(t, stderr, "offered")
			if err := c.Process.Signal(tt.s); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(stderr)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(string(rest), "  (draining)\n") {
				t.Errorf("standard error ends with %.200q, want a line of a drain", rest)
			}
			code := outcome(t, c.Wait())
			r := decode(t, stdout.String())
			if code != tt.want || r.Run.Complete || r.Run.StopReason != "signal" {
				t.Errorf("exit code %d, complete %v, stopped by %q; want %d, false, signal", code, r.Run.Complete, r.Run.StopReason, tt.want)
			}
			if r.Totals.Replies == 0 || r.Totals.Replies != r.Totals.Completed {
				t.Errorf("%d replies, %d completed; want all that were started", r.Totals.Replies, r.Totals.Completed)
			}
			balanced(t, &r.Totals)
		})
	}
}

// The second signal ends a program that still waits, and leaves no half file.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Silent: true})
	dir := t.TempDir()
	c := process(t, "httpgen", s.URL(), "--rate", "100", "--window", "0.1", "-o", "json="+filepath.Join(dir, "result"))
	stderr := started(t, c)
	untilLine(t, stderr, "offered")
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	untilLine(t, stderr, "a second signal ends the program at once")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	if have := names(t, dir); have != nil {
		t.Errorf("files %q, want none", have)
	}
}

// timeout(1) sends its signal to its child and then to the group that both are in.
func TestSignalSentTwice(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	c := process(t, "httpgen", s.URL(), "--rate", "100", "--window", "0.1", "-o", "json")
	var stdout strings.Builder
	c.Stdout = &stdout
	stderr := started(t, c)
	untilLine(t, stderr, "offered")
	for range 2 {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	if r := decode(t, stdout.String()); r.Totals.Replies == 0 || r.Run.StopReason != "signal" {
		t.Errorf("%d replies, stopped by %q: want some, signal", r.Totals.Replies, r.Run.StopReason)
	}
}

// A reader of standard output that went away is an I/O error; a run whose live
// output cannot be written any more is stopped.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "ndjson"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := serverFor(t, target.Options{})
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			argv := []string{"httpgen", s.URL(), "-q", "-o", format, "--timeout", "20", "--rate", "100", "--window", "0.1"}
			if format == "text" {
				argv = append(argv, "--num-conns", "3")
			}
			c := process(t, argv...)
			var stderr bytes.Buffer
			c.Stdout, c.Stderr = w, &stderr
			code := outcome(t, c.Run())
			w.Close()
			if have, want := stderr.String(), "httpgen: standard output: "; code != exitInternal || !strings.HasPrefix(have, want) || !strings.Contains(have, "broken pipe") {
				t.Errorf("exit code %d, standard error %q; want %d and %q", code, have, exitInternal, want)
			}
		})
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	c := process(t, "httpgen", "serve", "127.0.0.1:0", "--size", "7")
	var stdout bytes.Buffer
	c.Stdout = &stdout
	stderr := started(t, c)
	line, err := stderr.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(line, "httpgen: serving "))
	code, result, text := finish(t, "httpgen", url, "--num-conns", "4", "--timeout", "20", "-q", "-o", "json")
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if r := decode(t, result); r.Totals.Replies != 4 || r.Totals.Bytes.Body != 28 {
		t.Errorf("%d replies, %d bytes; want 4, 28", r.Totals.Replies, r.Totals.Bytes.Body)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != exitOK || !strings.Contains(stdout.String(), "requests: 4 replies 4 ") {
		t.Errorf("exit code %d, standard output\n%s\nwant 0 and 4 replies", code, stdout.String())
	}
}

func TestServeFor(t *testing.T) {
	t.Parallel()
	code, stdout, _ := finish(t, "httpgen", "serve", "127.0.0.1:0", "--for", "10ms")
	if code != exitOK || !strings.Contains(stdout, "requests: 0 ") {
		t.Errorf("exit code %d, standard output %q; want 0 and the counters", code, stdout)
	}
}

// It says beforehand what the sources are due, and how long their queues take.
func TestServeShares(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := finish(t, "httpgen", "serve", "127.0.0.1:0", "--capacity", "400", "--shares", "127.0.0.2=1,127.0.0.3=3", "--for", "10ms")
	if code != exitOK || !strings.Contains(stdout, "capacity: 400.0/s lowest 400.0/s collapses 0\n") {
		t.Errorf("exit code %d, standard output %q; want 0 and the capacity", code, stdout)
	}
	for _, want := range []string{
		"httpgen: 127.0.0.2 is due 100.0/s (25.0 %); its full queue takes 320ms: a client whose timeout is not longer loses what waits\n",
		"httpgen: 127.0.0.3 is due 300.0/s (75.0 %); its full queue takes 107ms: a client",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error %q, want %q in it", stderr, want)
		}
	}
}

// An address in use is an I/O error.
func TestServeInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, _, stderr := finish(t, "httpgen", "serve", l.Addr().String())
	if code != exitInternal || !strings.Contains(stderr, "in use") {
		t.Errorf("exit code %d, standard error %q; want %d and the reason", code, stderr, exitInternal)
	}
}
