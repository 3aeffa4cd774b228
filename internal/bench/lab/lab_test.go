package lab

import (
	"context"
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, tt := range []struct {
		name   string
		values []float64
		want   Spread
	}{
		{"none", nil, Spread{}},
		{"only missing", []float64{nan, nan}, Spread{}},
		{"one", []float64{3}, Spread{3, 3, 3}},
		{"odd", []float64{5, 1, 3}, Spread{3, 1, 5}},
		{"even", []float64{4, 1, 3, 2}, Spread{2.5, 1, 4}},
		{"one missing", []float64{4, nan, 2}, Spread{3, 2, 4}},
	} {
		if got := NewSpread(tt.values); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got, want := (Spread{1.25, 1, 2}).Format(1), "1.2 (1.0..2.0)"; got != want {
		t.Errorf("Format = %q, want %q", got, want)
	}
	if got := NewSpread(nil).Format(1); got != "-" {
		t.Errorf("Format of nothing = %q, want a dash", got)
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, tt := range []struct {
		name string
		a, b []float64
		want Spread
	}{
		{"round by round", []float64{10, 40, 90}, []float64{10, 20, 30}, Spread{2, 1, 3}},
		{"a round missing on either side", []float64{10, nan, 90, 5}, []float64{10, 20, nan, 1}, Spread{3, 1, 5}},
		{"nothing to divide by", []float64{10, 20}, []float64{0, 10}, Spread{2, 2, 2}},
		{"fewer rounds of one", []float64{10, 20}, []float64{10}, Spread{1, 1, 1}},
	} {
		if got := Ratios(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestKernelFiles(t *testing.T) {
	t.Parallel()
	const (
		sockstat = "sockets: used 16\nTCP: inuse 2 orphan 0 tw 35778 alloc 2 mem 83\nUDP: inuse 0 mem 0\n"
		netstat  = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 12 13\nIpExt: InNoRoutes ListenOverflows\nIpExt: 0 99\n"
		status   = "Name:\thttpgen\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\n"
	)
	for _, tt := range []struct {
		name string
		read func(text string) (uint64, error)
		text string
		want uint64
	}{
		{"time-wait", timeWait, sockstat, 35778},
		{"overflows", func(text string) (uint64, error) { return counter(text, "TcpExt:", "ListenOverflows") }, netstat, 12},
		{"resident", resident, status, 12 << 10},
	} {
		if got, err := tt.read(tt.text); err != nil || got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.name, got, err, tt.want)
		}
		if _, err := tt.read("nothing: 1 2 3\n"); err == nil {
			t.Errorf("%s of another file: no error", tt.name)
		}
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		argv           []string
		stdout, stderr string
		code           int
	}{
		{"output", []string{"sh", "-c", "echo out; echo err >&2"}, "out\n", "err\n", 0},
		{"exit code", []string{"sh", "-c", "exit 4"}, "", "", 4},
		{"signal", []string{"sh", "-c", "kill -KILL $$"}, "", "", -1},
	} {
		p, err := Start(t.Context(), tt.argv...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Wait()
		if err != nil || o.Stdout != tt.stdout || o.Stderr != tt.stderr || o.Code != tt.code {
			t.Errorf("%s: %+v, %v", tt.name, o, err)
		}
	}
	if _, err := Start(t.Context(), "/no/such/program"); err == nil {
		t.Error("Start of no program: no error")
	}
}

func TestProcessGetsSignals(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), "sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if o, err := p.Wait(); err != nil || o.Code != -1 {
		t.Errorf("%+v, %v, want the end by a signal", o, err)
	}
	if err := p.Signal(syscall.SIGTERM); err == nil {
		t.Error("a signal to a process that has ended: no error")
	}
}

func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	_, err := Run(t.Context(), ServerCore, 50*time.Millisecond, "sleep", "60")
	if err == nil || !strings.Contains(err.Error(), "sleep did not end within 50ms") {
		t.Errorf("Run = %v, want it to name the command and the limit", err)
	}
	want := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(want)
	if _, err := Run(ctx, ServerCore, time.Minute, "sleep", "60"); err == nil {
		t.Error("Run after the end of its context: no error")
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	if err := Pause(t.Context(), 0); err != nil {
		t.Error(err)
	}
	want := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(want)
	if err := Pause(ctx, time.Hour); !errors.Is(err, want) {
		t.Errorf("Pause = %v, want %v", err, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	r, err := Decode(&Outcome{Code: exitInvalid, Stdout: `{"verdict":{"status":"invalid"},"totals":{"replies":7}}`})
	if err != nil || r.Totals.Replies != 7 || r.Verdict.Status != "invalid" {
		t.Errorf("Decode = %+v, %v", r, err)
	}
	for _, tt := range []struct {
		name string
		o    Outcome
		want string
	}{
		{"usage error", Outcome{Code: 2, Stderr: "a line\nhttpgen: --rate x\n\n"}, "ended with 2: httpgen: --rate x"},
		{"no result", Outcome{Stdout: "text"}, "httpgen's result"},
	} {
		if _, err := Decode(&tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.name, err, tt.want)
		}
	}
}
