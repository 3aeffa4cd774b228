package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"httpgen/internal/experiment"
	"httpgen/internal/report"
	"httpgen/internal/target"
)

// quick are options of a sweep that takes a second or so.
var quick = []string{"--rates", "100,200", "--repeat", "2", "--trial", "200ms", "--arrivals", "20", "--slo", "errors<50%", "--timeout", "20"}

// read reads a result of an experiment.
func read[T any](t *testing.T, text string) *T {
	t.Helper()
	r := new(T)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatalf("%v in\n%.1000s", err, text)
	}
	return r
}

// inOrder checks that trials are numbered from 1 and that their accounts balance.
func inOrder(t *testing.T, trials []experiment.Trial) {
	t.Helper()
	for i := range trials {
		if trials[i].ID != i+1 || trials[i].Result == nil {
			t.Fatalf("trial %d has the number %d and a result: %v", i+1, trials[i].ID, trials[i].Result != nil)
		}
		balanced(t, &trials[i].Result.Totals)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Service: target.Constant(5 * time.Millisecond), Workers: 1, Queue: target.NoQueue, Overload: target.Reset})
	dir := t.TempDir()
	csv := filepath.Join(dir, "trials.csv")
	code, stdout, stderr := finish(t, "httpgen", "sweep", s.URL(), "--from", "10", "--to", "1600", "--factor", "40", "--width", "50%", "--repeat", "1",
		"--trial", "200ms", "--confirm", "200ms", "--settle", "50ms", "--arrivals", "20", "--slo", "errors<20%", "-o", "json", "-o", "csv="+csv)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r := read[experiment.SweepResult](t, stdout)
	if r.Schema != experiment.SweepSchema || r.Run.Argv[1] != "sweep" || r.Plan.From != 10 || r.Plan.Factor != 40 || len(r.Objective) != 1 {
		t.Errorf("have %s %q %+v %+v", r.Schema, r.Run.Argv, r.Plan, r.Objective)
	}
	inOrder(t, r.Trials)
	// One worker of 5 ms serves 200/s and resets the rest: at 1600/s most of it.
	if c := &r.Capacity; c.Status == "found" && (c.UpperPerSecond == nil || *c.UpperPerSecond > 1600 || c.LowerPerSecond >= *c.UpperPerSecond) {
		t.Errorf("have %+v, want an interval below 1600/s", c)
	}
	table, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	if have := strings.Count(string(table), "\n"); have < len(r.Trials)+1 || !strings.HasPrefix(string(table), "id,phase,") {
		t.Errorf("%d lines for %d trials: %.100s", have, len(r.Trials), table)
	}
	for _, want := range []string{"Sweep of " + s.URL() + " by rate: errors<20%", "\ntrial 1: climb at 10/s for 2s\n", "\ntrial 1: climb at 10/s for 2s: "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error lacks %q:\n%s", want, stderr)
		}
	}
}

func TestSweepByConnections(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	code, stdout, stderr := finish(t, "httpgen", "sweep", s.URL(), "--by", "connections", "--rates", "1,2", "--repeat", "1", "--trial", "200ms", "--slo", "errors<50%", "--timeout", "20", "-q")
	if !anyVerdict(code) || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if want := regexp.MustCompile(`(?s)^Sweep by connections: errors<50%.*\n +1  .*\n +2  .*\nVerdict: `); !want.MatchString(stdout) {
		t.Errorf("standard output is not like %s:\n%s", want, stdout)
	}
}

// What is resumed gives the same answer, and what was stopped goes on.
func TestResume(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	dir := filepath.Join(t.TempDir(), "kept")
	sweep := func(args ...string) []string {
		return slices.Concat([]string{"httpgen", "sweep", s.URL(), "-o", "json"}, quick, args)
	}
	c := process(t, sweep("--out", dir)...)
	var first bytes.Buffer
	c.Stdout = &first
	stderr := started(t, c)
	untilLine(t, stderr, "trial 2: ")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	stopped := read[experiment.SweepResult](t, first.String())
	if stopped.Run.Complete || len(stopped.Trials) == 0 || stopped.Verdict.Status == report.Valid {
		t.Errorf("complete %v, %d trials, verdict %s; want what is known", stopped.Run.Complete, len(stopped.Trials), stopped.Verdict.Status)
	}
	inOrder(t, stopped.Trials)
	var results []*experiment.SweepResult
	for range 2 {
		code, stdout, stderr := finish(t, sweep("--resume", dir)...)
		if !anyVerdict(code) {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		r := read[experiment.SweepResult](t, stdout)
		if !r.Run.Complete {
			t.Errorf("complete %v, want true", r.Run.Complete)
		}
		results = append(results, r)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Error("an experiment that is complete gives another answer when it is resumed")
	}
	for i := range stopped.Trials {
		if have, want := results[0].Trials[i].Result.Run.ID, stopped.Trials[i].Result.Run.ID; have != want {
			t.Errorf("trial %d is run %s, want the kept one, %s", i+1, have, want)
		}
	}
	code, _, refused := finish(t, sweep("--resume", dir, "--from", "5")...)
	if code != exitUsage || !strings.Contains(refused, "--rates with --from") {
		t.Errorf("exit code %d: %s", code, refused)
	}
	code, _, refused = finish(t, slices.Concat(sweep("--resume", dir), []string{"-X", "HEAD"})...)
	if code != exitUsage || !strings.Contains(refused, "was made with other options") {
		t.Errorf("exit code %d: %s", code, refused)
	}
}

// Nothing is run for a plan.
func TestExperimentDryRun(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	dir := filepath.Join(t.TempDir(), "kept")
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{append([]string{"sweep", s.URL()}, quick...), []string{"Sweep of", "\n   1  listed at 100/s for 0.2s\n", "\n4 trials, 1s and "}},
		{[]string{"sweep", s.URL(), "--beyond", "2x"}, []string{"overload up to", "this is how it would go with a capacity of 527.8/s."}},
		{[]string{"compare", "a=" + s.URL(), "b=" + s.URL(), "--rate", "5", "--setup", "a=exit 1"}, []string{"Compare 2 arms by p50 at 5 arrivals/s:\n  a: " + s.URL(), "block 40, ", "\n80 trials, 1m20s and "}},
		{[]string{"fair", s.URL(), "--clients", "3", "--rate", "2000", "--num-conn", "100000", "--num-call", "1", "--timeout", "5", "--weights", "1:3:6"},
			[]string{"  c3: 2000 arrivals/s to 127.0.0.1, weight 6, from 127.0.0.4\n", "run 1, 3 clients for 50s", "1 trial, 50s"}},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(slices.Concat([]string{"httpgen"}, tt.args, []string{"--dry-run", "--out", dir})...)
			if code != exitOK || stderr != "" {
				t.Errorf("exit code %d, standard error %q", code, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("standard output lacks %q:\n%s", want, stdout)
				}
			}
		})
	}
	if n := s.Stats().Accepted; n > 0 {
		t.Errorf("the server accepted %d connections, want none", n)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v, want none", err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	fast := serverFor(t, target.Options{Service: target.Constant(time.Millisecond), Workers: 8})
	slow := serverFor(t, target.Options{Service: target.Constant(100 * time.Millisecond), Workers: 100})
	dir := t.TempDir()
	file := filepath.Join(dir, "compare.json")
	argv := []string{"httpgen", "compare", "base=" + fast.URL(), "same=" + fast.URL(), "slow=" + slow.URL(), "--rate", "40", "--trial", "200ms", "--blocks", "7", "--allow", "50%",
		"--pid", fmt.Sprintf("base=%d", os.Getpid()), "-o", "json=" + file}
	code, stdout, stderr := finish(t, argv...)
	if code != exitThreshold && code != exitInvalid {
		t.Fatalf("exit code %d, want %d: %s", code, exitThreshold, stderr)
	}
	if !strings.HasPrefix(stdout, "Compare by p50 against base: 7 blocks of 3 arms at 40.00 arrivals/s") || !strings.Contains(stdout, "\nLimit of 50 % for the worse: ") {
		t.Errorf("standard output:\n%s", stdout)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := read[experiment.CompareResult](t, string(text))
	inOrder(t, r.Trials)
	if len(r.Blocks) != 7 || len(r.Arms) != 3 || r.Schema != experiment.CompareSchema || r.Plan.Allow != 0.5 || !r.Plan.Gate {
		t.Errorf("%d blocks, %d arms, %s, %+v", len(r.Blocks), len(r.Arms), r.Schema, r.Plan)
	}
	for _, trial := range r.Trials {
		if (trial.TargetCPUSeconds != nil) != (trial.Arm == "base") {
			t.Errorf("trial %d of %s has a processor time: %v", trial.ID, trial.Arm, trial.TargetCPUSeconds != nil)
		}
	}
	// The machine may be too busy for a block to count.
	counted := slices.ContainsFunc(r.Effects, func(e experiment.Effect) bool { return e.Arm == "slow" && e.Primary && e.Decision == "worse" })
	if code == exitThreshold && !counted {
		t.Errorf("the limit is broken and slow is not worse: %+v", r.Effects)
	}

	// The file can be analysed again, with another question.
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{nil, code, "Compare by p50 against base: 7 blocks"},
		{[]string{"--metric", "p90", "--baseline", "same", "--allow", "1000%"}, -1, "Compare by p90 against same: 7 blocks"},
	} {
		have, stdout, stderr := call(slices.Concat([]string{"httpgen", "compare", file}, tt.args)...)
		if tt.code >= 0 && have != tt.code || !strings.HasPrefix(stdout, tt.want) {
			t.Errorf("exit code %d, want %d; %q is not in: %s%s", have, tt.code, tt.want, stdout, stderr)
		}
	}
	code, _, refused := call("httpgen", "compare", file, file)
	if code != exitUsage || !strings.Contains(refused, "a comparison among results: want it alone") {
		t.Errorf("exit code %d: %s", code, refused)
	}
}

// Results that were saved are compared as what was measured apart.
func TestCompareSaved(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	dir := t.TempDir()
	var files []string
	for i := range 4 {
		file := filepath.Join(dir, fmt.Sprintf("run%d.json", i))
		if code, _, stderr := finish(t, append([]string{"httpgen", s.URL(), "-q", "-o", "json=" + file}, load...)...); !anyVerdict(code) {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		files = append(files, file)
	}
	code, stdout, stderr := call("httpgen", "compare", "-o", "json", "old="+files[0]+","+files[1], "new="+files[2]+","+files[3])
	if !anyVerdict(code) || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r := read[experiment.CompareResult](t, stdout)
	if !r.Plan.Unpaired || r.Baseline != "old" || len(r.Trials) != 4 || len(r.Arms) != 2 || r.Arms[1].Name != "new" {
		t.Errorf("have %+v, baseline %s, %d trials, arms %+v", r.Plan, r.Baseline, len(r.Trials), r.Arms)
	}
	if code, stdout, stderr := call("httpgen", "compare", files[0], files[1]); !anyVerdict(code) || !strings.HasPrefix(stdout, "Compare by p50 against run0: 2 arms of results that were measured apart (unpaired)") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	// Two runs of each can decide nothing.
	for _, tt := range []struct {
		strict string
		want   int
	}{{"", exitOK}, {"--strict", exitThreshold}} {
		args := []string{"httpgen", "compare", "--allow", "5%", "old=" + files[0] + "," + files[1], "new=" + files[2] + "," + files[3]}
		if tt.strict != "" {
			args = append(args, tt.strict)
		}
		if code, stdout, stderr := call(args...); code != tt.want && code != exitInvalid {
			t.Errorf("%s: exit code %d, want %d: %s%s", tt.strict, code, tt.want, stdout, stderr)
		}
	}
	for _, args := range [][]string{{files[0]}, {files[0], files[1], "--equivalence", "2%"}, {files[0], files[1], "--ordered"}, {files[0], files[0]}} {
		if code, _, stderr := call(append([]string{"httpgen", "compare"}, args...)...); code != exitUsage || strings.Contains(stderr, "experiment: ") {
			t.Errorf("%q: exit code %d: %s", args, code, stderr)
		}
	}
}

// gone waits until a process is no more.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		// Where nobody waits for orphans, one that has ended stays as a zombie.
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || bytes.Contains(state, []byte(") Z ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s, which the setup started, goes on", pid)
		}
	}
}

// Arms are set up before the trials and taken down after them, whatever happens.
func TestStage(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	for _, tt := range []struct {
		name   string
		setup  string // of the second arm
		ready  string
		blocks string
		signal bool
		code   int // -1 for any verdict
		want   string
	}{
		{name: "to the end", setup: "true", blocks: "6", code: -1},
		{name: "signal", setup: "true", blocks: "500", signal: true, code: 130},
		{name: "setup fails", setup: "echo broken; exit 3", blocks: "6", code: exitInternal, want: `--setup b: "echo broken; exit 3": exit status 3`},
		{name: "never ready", setup: "true", ready: fmt.Sprintf("http://127.0.0.1:%d/", refusing(t)), blocks: "6", code: exitInternal, want: "is not ready within 300ms, want a status below 400: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pid, down := filepath.Join(dir, "pid"), filepath.Join(dir, "down")
			argv := []string{"httpgen", "compare", "a=" + s.URL(), "b=" + s.URL(), "--rate", "100", "--trial", "100ms", "--blocks", tt.blocks,
				"--setup", "a=sleep 600 & echo $! > " + pid + "; echo is up", "--teardown", "a=kill $(cat " + pid + "); echo is down; touch " + down,
				"--setup", "b=" + tt.setup, "--ready", "a=" + s.URL(), "--ready-timeout", "300ms"}
			if tt.ready != "" {
				argv = append(argv, "--ready", "b="+tt.ready)
			}
			c := process(t, argv...)
			var stdout bytes.Buffer
			c.Stdout = &stdout
			stderr := started(t, c)
			untilLine(t, stderr, "a: is up")
			if tt.signal {
				untilLine(t, stderr, "trial 3: ")
				if err := c.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
			}
			rest, err := io.ReadAll(stderr)
			if err != nil {
				t.Fatal(err)
			}
			code := outcome(t, c.Wait())
			if code != tt.code && !(tt.code < 0 && anyVerdict(code)) || !strings.Contains(string(rest), tt.want) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tt.code, tt.want, rest)
			}
			if known := strings.HasPrefix(stdout.String(), "Compare by p50 against a: "); known != (tt.want == "") {
				t.Errorf("standard output: %s", stdout.String())
			}
			if !strings.Contains("\n"+string(rest), "\na: is down\n") {
				t.Errorf("nothing of the teardown in: %s", rest)
			}
			if _, err := os.Stat(down); err != nil {
				t.Error(err)
			}
			gone(t, pid)
		})
	}
}

// The second signal ends the program at once, and yet no arm is left up.
func TestStageSecondSignal(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{Silent: true})
	file := filepath.Join(t.TempDir(), "result")
	c := process(t, "httpgen", "compare", "a="+s.URL(), "b="+s.URL(), "--rate", "100", "--teardown", "a=echo is down", "-o", "json="+file)
	stderr := started(t, c)
	untilLine(t, stderr, "trial 1: ")
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	untilLine(t, stderr, "interrupt: ")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != 143 || string(rest) != "a: is down\n" {
		t.Errorf("exit code %d, want 143 and the teardown alone: %s", code, rest)
	}
	if left := names(t, filepath.Dir(file)); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// A signal ends a setup that takes its time, and what it started.
func TestStageStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	c := process(t, "httpgen", "compare", "a=http://127.0.0.1/", "b=http://127.0.0.1/", "--rate", "100", "--setup", "a=sleep 600 & echo $! > "+pid+"; echo is up; wait", "--teardown", "a=echo is down")
	stderr := started(t, c)
	untilLine(t, stderr, "a: is up")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if code := outcome(t, c.Wait()); code != 143 || !strings.Contains(string(rest), "a: is down\n") {
		t.Errorf("exit code %d, want 143 and the teardown: %s", code, rest)
	}
	gone(t, pid)
}

func TestFair(t *testing.T) {
	t.Parallel()
	shares, err := target.ParseShares("127.0.0.2=1,127.0.0.3=3")
	if err != nil {
		t.Fatal(err)
	}
	s := serverFor(t, target.Options{Service: target.Constant(5 * time.Millisecond), Workers: 1, Shares: shares})
	file := filepath.Join(t.TempDir(), "fair.json")
	code, stdout, stderr := finish(t, "httpgen", "fair", s.URL(), "--clients", "2", "--weights", "1:3", "--rate", "300", "--duration", "2s", "--timeout", "20", "--baseline", "-o", "json="+file)
	if !anyVerdict(code) {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		`(?m)^Client c1: http://127\.0\.0\.1:\d+/ from 127\.0\.0\.2, weight 1$`,
		`(?m)^Total: connections 600 requests \d+ replies \d+ test-duration [0-9.]+ s$`,
		`(?m)^Reply rate \[replies/s\]: min [0-9.]+ avg `,
		`(?m)^Reply time \[ms\]: response [0-9.]+ transfer `,
		`(?m)^Fairness: `, `(?m)^  client c2 alone: `, `(?m)^Verdict: `,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("standard output has no line %s:\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := read[experiment.FairResult](t, string(text))
	inOrder(t, r.Trials)
	if len(r.Trials) != 3 || len(r.Clients) != 2 || r.Clients[1].Source != "127.0.0.3" || r.Clients[1].Weight != 3 || r.Clients[1].Alone == nil {
		t.Errorf("%d trials, clients %+v", len(r.Trials), r.Clients)
	}
	for i := range r.Clients {
		balanced(t, &r.Clients[i].Totals)
		if n := r.Clients[i].Totals.Arrivals.Scheduled; n != 600 {
			t.Errorf("client %s has %d arrivals, want 600", r.Clients[i].Name, n)
		}
	}
}

// A target that is not there is said to be silent, or the generator at fault.
func TestSilentExperiment(t *testing.T) {
	t.Parallel()
	url := fmt.Sprintf("http://127.0.0.1:%d/", refusing(t))
	code, _, stderr := finish(t, slices.Concat([]string{"httpgen", "sweep", url, "-q"}, quick)...)
	if code != exitSilent && code != exitInvalid {
		t.Errorf("exit code %d, want %d: %s", code, exitSilent, stderr)
	}
	code, stdout, stderr := finish(t, "httpgen", "sweep", "http://none.invalid/", "--rates", "5")
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "none.invalid") {
		t.Errorf("exit code %d, want %d: %s", code, exitUsage, stderr)
	}
}

// An endpoint that cannot be opened, and a file that cannot be written, are found
// before the first trial, and no folder is made.
func TestExperimentBegins(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	dir := filepath.Join(t.TempDir(), "kept")
	for _, tt := range []struct{ flag, value, want string }{
		{"--web.listen-address", strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/"), "address already in use"},
		{"-o", "json=" + filepath.Join(dir, "none", "x"), "no such file"},
	} {
		argv := slices.Concat([]string{"httpgen", "sweep", s.URL()}, quick, []string{tt.flag, tt.value})
		if tt.flag == "-o" {
			argv = append(argv, "--out", dir)
		}
		if code, stdout, stderr := finish(t, argv...); code != exitInternal || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit code %d, want %d and %q: %s%s", tt.flag, code, exitInternal, tt.want, stdout, stderr)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v, want none", err)
	}
	if n := s.Stats().Requests; n > 0 {
		t.Errorf("the server read %d requests, want none", n)
	}
}

// counterLine is a line of a counter in Prometheus' text format.
var counterLine = regexp.MustCompile(`(?m)^(httpgen_\w+_total)\{client="([^"]*)",target="([^"]*)"\} (\S+)$`)

// Counters add up over the trials of an experiment, and are those of its results.
func TestExperimentMetrics(t *testing.T) {
	t.Parallel()
	s := serverFor(t, target.Options{})
	for _, tt := range []struct {
		args   []string
		labels func(trial *experiment.Trial, stream string) string
	}{
		{slices.Concat([]string{"sweep", s.URL()}, quick), func(*experiment.Trial, string) string { return "1 1" }},
		{[]string{"compare", "a=" + s.URL(), "b=" + s.URL(), "--rate", "200", "--trial", "100ms", "--blocks", "6"}, func(t *experiment.Trial, _ string) string { return "1 " + t.Arm }},
		{[]string{"fair", s.URL(), "--clients", "2", "--rate", "100", "--duration", "1s", "--baseline"}, func(t *experiment.Trial, stream string) string { return t.Arm + stream + " 1" }},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			t.Parallel()
			b := beside(t, slices.Concat([]string{"httpgen", tt.args[0], "-o", "json", "--web.listen-address", "127.0.0.1:0", "--metrics-linger", "scrape"}, tt.args[1:])...)
			at := b.endpoint(t)
			var r struct {
				Trials []experiment.Trial `json:"trials"`
			}
			if err := b.stdout.Decode(&r); err != nil {
				t.Fatal(err)
			}
			inOrder(t, r.Trials)
			want := map[string]uint64{}
			for i := range r.Trials {
				trial := &r.Trials[i]
				streams := []report.Stream{{Totals: trial.Result.Totals}}
				if len(trial.Result.Streams) > 0 {
					streams = trial.Result.Streams
				}
				for k := range streams {
					n := &streams[k].Totals
					label := " " + tt.labels(trial, streams[k].Name)
					want["httpgen_arrivals_scheduled_total"+label] += n.Arrivals.Scheduled
					want["httpgen_arrivals_started_total"+label] += n.Arrivals.Started
					want["httpgen_arrivals_completed_total"+label] += n.Completed
					want["httpgen_requests_total"+label] += n.Requests
					want["httpgen_connections_attempted_total"+label] += n.Connections.Attempted
				}
			}
			reply, err := http.Get("http://" + at + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			text, err := io.ReadAll(reply.Body)
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]string{}
			for _, m := range counterLine.FindAllStringSubmatch(string(text), -1) {
				have[m[1]+" "+m[2]+" "+m[3]] = m[4]
			}
			for name, n := range want {
				v, err := strconv.ParseFloat(have[name], 64)
				if err != nil || v != float64(n) {
					t.Errorf("%s is %s, want %d", name, have[name], n)
				}
			}
			last := &r.Trials[len(r.Trials)-1]
			info := regexp.MustCompile(fmt.Sprintf(`(?m)^httpgen_trial_info\{arm="%s",experiment="%s",rung="\d+",trial="%d"\} 1$`, last.Arm, tt.args[0], last.ID))
			if !info.Match(text) {
				t.Errorf("no line %s", info)
			}
			if _, err := io.Copy(io.Discard, b.stderr); err != nil {
				t.Fatal(err)
			}
			if code := outcome(t, b.Wait()); !anyVerdict(code) {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
