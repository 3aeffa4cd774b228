package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kind says which segments count as arrivals.
type Kind uint8

const (
	Connections Kind = iota // SYNs: a new connection each
	Requests                // segments that carry data: a call each, when a request fits into one
)

// settle is how long the kernel may keep a captured segment before it hands
// it over: its buffer is passed on once a second.
const settle = 1500 * time.Millisecond

// dump is a tcpdump that runs.
type dump struct {
	cmd    *exec.Cmd
	trace  chan result
	stderr *bufio.Reader
}

type result struct {
	trace Trace
	err   error
}

// Available returns why nothing can be captured here; nil when it can.
func Available() error {
	for _, name := range []string{"tcpdump", "taskset"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("wire: %s is not installed: it is needed to see arrivals on the wire", name)
		}
	}
	return nil
}

// Capture returns what reached port on the loopback interface while run ran.
// The capture itself runs on the core of that number. It is an error when the
// kernel dropped segments: the trace has holes then.
func Capture(ctx context.Context, kind Kind, port, core int, run func() error) (Trace, error) {
	c, err := start(ctx, kind, port, core)
	if err != nil {
		return nil, err
	}
	err = run()
	trace, lost := c.stop()
	if err != nil {
		return nil, err
	}
	return trace, lost
}

// start returns when the capture is under way.
func start(ctx context.Context, kind Kind, port, core int) (*dump, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	c := &dump{trace: make(chan result, 1)}
	c.cmd = exec.CommandContext(ctx, "taskset", "-c", strconv.Itoa(core),
		"tcpdump", "-i", "lo", "-nn", "-tt", "-S", "-B", "65536", "-s", "64", "-l", filter(kind, port))
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 2 * time.Second
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	c.stderr = bufio.NewReader(stderr)
	if err := c.ready(); err != nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
		return nil, err
	}
	go func() {
		t, err := collect(stdout)
		c.trace <- result{t, err}
	}()
	return c, nil
}

// collect keeps what tcpdump prints and reads it when it has ended: reading it
// at once would take time from what is measured.
func collect(r io.Reader) (Trace, error) {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil && !errors.Is(err, os.ErrClosed) {
		return nil, fmt.Errorf("wire: read the capture: %w", err)
	}
	return parse(&b)
}

func filter(kind Kind, port int) string {
	if kind == Requests {
		return fmt.Sprintf("tcp dst port %d and tcp[tcpflags] & tcp-push != 0", port)
	}
	return fmt.Sprintf("tcp dst port %d and tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn", port)
}

// ready waits until tcpdump says that it listens.
func (c *dump) ready() error {
	var said []string
	for {
		line, err := c.stderr.ReadString('\n')
		if strings.Contains(line, "listening on") {
			return nil
		}
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, line)
		}
		if err != nil {
			return refusal(strings.Join(said, "; "))
		}
	}
}

// refusal explains why tcpdump ended before it began.
func refusal(said string) error {
	if strings.Contains(strings.ToLower(said), "permi") {
		return fmt.Errorf("wire: tcpdump may not capture (%s): run it as root or give it CAP_NET_RAW", said)
	}
	return fmt.Errorf("wire: tcpdump does not capture: %s", said)
}

// stop ends the capture and returns what was seen.
func (c *dump) stop() (Trace, error) {
	time.Sleep(settle)
	c.cmd.Process.Signal(syscall.SIGTERM)
	said, _ := io.ReadAll(c.stderr)
	r := <-c.trace
	// tcpdump ends well on a signal; what it saw is judged, not how it ended.
	c.cmd.Wait()
	if r.err != nil {
		return nil, r.err
	}
	if n := dropped(string(said)); n > 0 {
		return r.trace, fmt.Errorf("wire: the capture lost %d segments: its core has too much to do", n)
	}
	return r.trace, nil
}
