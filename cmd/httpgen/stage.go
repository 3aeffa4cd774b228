package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A stage sets up the arms of a comparison before its trials, and takes them down
// after them, whatever becomes of it. The nil stage does nothing.
type stage struct {
	*program
	arms  []arm
	bound time.Duration // until an arm is ready
	down  sync.Once
	begun sync.Mutex // guards up
	up    int        // arms whose setup was begun
}

// How long commands have.
const (
	downTime  = 30 * time.Second       // to take an arm down
	killTime  = 5 * time.Second        // to end when they are told to
	tailTime  = 200 * time.Millisecond // for what they wrote last to be printed
	pollTime  = 100 * time.Millisecond // between two looks at whether an arm is ready
	replyTime = 2 * time.Second        // for the reply that says so
)

// setUp sets the arms up, one after the other.
func (s *stage) setUp(ctx context.Context) error {
	if s == nil {
		return nil
	}
	for i := range s.arms {
		a := &s.arms[i]
		s.begun.Lock()
		s.up = i + 1
		s.begun.Unlock()
		if a.setup != "" {
			if err := s.shell(ctx, a.name, a.setup); err != nil {
				return fmt.Errorf("--setup %s: %w", a.name, err)
			}
		}
	}
	for i := range s.arms {
		if a := &s.arms[i]; a.ready != "" {
			if err := s.await(ctx, a.ready); err != nil {
				return fmt.Errorf("--ready %s: %w", a.name, err)
			}
		}
	}
	return nil
}

// tearDown takes down the arms whose setup was begun, the last one first. It may
// be called again, by any goroutine, and returns when all of them are down.
func (s *stage) tearDown() {
	if s == nil {
		return
	}
	s.down.Do(func() {
		s.begun.Lock()
		n := s.up
		s.begun.Unlock()
		for i := n - 1; i >= 0; i-- {
			a := &s.arms[i]
			if a.teardown == "" {
				continue
			}
			ctx, done := context.WithTimeout(context.Background(), downTime)
			if err := s.shell(ctx, a.name, a.teardown); err != nil {
				s.warn(fmt.Sprintf("--teardown %s: %v", a.name, err))
			}
			done()
		}
	})
}

// shell carries out a command, and returns when it has ended; what it started in
// the background may go on. All that it writes goes to standard error with the
// arm's name in front. When ctx ends, so does the command and what it started.
func (s *stage) shell(ctx context.Context, name, command string) error {
	// What goes on in the background keeps the pipe open, so that its end is not
	// waited for.
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Stdout, c.Stderr = w, w
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = killTime
	if err := c.Start(); err != nil {
		return errors.Join(err, r.Close(), w.Close())
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		defer r.Close()
		s.relay(name, r)
	}()
	w.Close()
	err = c.Wait()
	select {
	case <-written:
	case <-time.After(tailTime):
	}
	if ctx.Err() != nil {
		// What does not end when it is told to must not outlive the experiment. All
		// may have ended, so that there is nobody to kill.
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		return fmt.Errorf("%q was ended: %w", command, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("%q: %w", command, err)
	}
	return nil
}

// relay copies lines to standard error until there are no more. Longer lines
// than a megabyte are cut.
func (s *stage) relay(name string, r io.Reader) {
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		fmt.Fprintf(s.stderr, "%s: %s\n", name, line)
	}
}

// await asks for a URL until there is a reply that is no error.
func (s *stage) await(ctx context.Context, url string) error {
	ctx, done := context.WithTimeout(ctx, s.bound)
	defer done()
	// Whether there is a server is asked, not which.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	c := http.Client{Transport: transport, Timeout: replyTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	last := errors.New("no reply")
	for {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		reply, err := c.Do(q)
		if err == nil {
			reply.Body.Close()
			if reply.StatusCode < 400 {
				return nil
			}
			err = fmt.Errorf("status %s", reply.Status)
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready within %v, want a status below 400: %w", url, s.bound, last)
		case <-time.After(pollTime):
		}
	}
}
