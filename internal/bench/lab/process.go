package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Exit codes of timeout(1) when it had to end its command, the second one by
// force.
const (
	timedOut = 124
	killed   = 137
)

// A Process is a command that runs.
type Process struct {
	cmd            *exec.Cmd
	name           string
	begin          time.Time
	stdout, stderr output

	done chan struct{} // closed when it has ended
	err  error         // of waiting for it; readable when done is closed
	wall time.Duration // from its start to its end; readable then
}

// An Outcome is how a command ended.
type Outcome struct {
	Stdout, Stderr string
	Code           int           // exit code; -1 when a signal ended it
	User, System   time.Duration // processor time, of its children too
	Wall           time.Duration // from its start to its end
}

// output keeps what a process prints; it may be read meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Start starts a command. It gets SIGTERM when ctx ends.
func Start(ctx context.Context, argv ...string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), name: filepath.Base(argv[0]), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 5 * time.Second
	p.begin = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("lab: %s: %w", p.name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.wall = time.Since(p.begin)
		close(p.done)
	}()
	return p, nil
}

// StartPinned starts a command on one core. The process is the command itself,
// so that signals reach it.
func StartPinned(ctx context.Context, core int, argv ...string) (*Process, error) {
	p, err := Start(ctx, append([]string{"taskset", "-c", strconv.Itoa(core)}, argv...)...)
	if err == nil {
		p.name = filepath.Base(argv[0])
	}
	return p, err
}

// PID returns the process's identifier.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("lab: %v to %s: %w", s, p.name, err)
	}
	return nil
}

// Wait waits for the end. An exit code other than 0 is no error.
func (p *Process) Wait() (*Outcome, error) {
	<-p.done
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		return nil, fmt.Errorf("lab: %s: %w", p.name, p.err)
	}
	s := p.cmd.ProcessState
	return &Outcome{
		Stdout: p.stdout.String(), Stderr: p.stderr.String(), Code: s.ExitCode(),
		User: s.UserTime(), System: s.SystemTime(), Wall: p.wall,
	}, nil
}

// Run runs a command on one core to its end, for at most limit.
func Run(ctx context.Context, core int, limit time.Duration, argv ...string) (*Outcome, error) {
	seconds := strconv.FormatFloat(limit.Seconds(), 'f', -1, 64)
	p, err := StartPinned(ctx, core, append([]string{"timeout", "-k", "2", seconds}, argv...)...)
	if err != nil {
		return nil, err
	}
	p.name = filepath.Base(argv[0])
	o, err := p.Wait()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case o.Code == timedOut || o.Code == killed:
		return nil, fmt.Errorf("lab: %s did not end within %v", p.name, limit)
	}
	return o, nil
}

// lastLine returns the last line of s that is not blank.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
