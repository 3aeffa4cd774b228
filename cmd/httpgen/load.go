package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"httpgen/internal/report"
	"httpgen/internal/run"
)

// lookupTime bounds the resolution of a local address's name.
const lookupTime = 10 * time.Second

func lookup(name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// run carries out the command run.
func (c *runCmd) run(p *program) (int, error) {
	o, warnings, err := c.options(p, time.Now(), lookup)
	if err != nil {
		return 0, usageError{err}
	}
	if err := socketThere(c.UnixSocket); err != nil {
		return 0, usageError{err}
	}
	outs, err := outputs(c.Output, p.classic)
	if err != nil {
		return 0, usageError{err}
	}
	var t *tap
	if c.PrintRequest|c.PrintReply != 0 {
		if !outs[0].plain() {
			return 0, usageError{fmt.Errorf("--print-reply and --print-request write to standard output, which is to be %s: give that a file (-o %s=FILE)", outs[0].format, outs[0].format)}
		}
		t = newTap(p.stdout, c.PrintRequest, c.PrintReply)
		o.Tap = t
	}
	r, err := run.New(o)
	if err != nil {
		return 0, usageError{err}
	}
	if r.Engine() == "conn" && os.Getenv("GOGC") == "" {
		// A TLS connection leaves 50 KB of garbage behind: with the small heap of
		// a run the collector would take a seventh of the processor.
		debug.SetGCPercent(400)
	}
	for _, w := range append(warnings, r.Plan().Warnings...) {
		p.warn(w)
	}
	watch, err := c.monitor(p, r, o.Start)
	if err != nil {
		return 0, usageError{err}
	}
	header := strings.Join(r.Plan().Header, "\n") + "\n"
	if c.DryRun {
		return exitOK, p.print(header)
	}
	e := &execution{
		program: p, run: r, watch: watch, tap: t, quiet: c.Quiet || p.classic,
		details: report.Details{Verbose: c.Verbose, Periodic: c.PeriodicStats},
	}
	if !e.quiet {
		e.end = r.Description().Planned
		fmt.Fprint(p.stderr, header)
	}
	if e.sinks, err = openSinks(outs, p.stdout); err != nil {
		return 0, err
	}
	return e.do()
}

// socketThere checks that path is a socket; abstract ones have no file. Without
// it every connection would be refused.
func socketThere(path string) error {
	if path == "" || path[0] == '@' {
		return nil
	}
	const want = "want the path of a socket that a server listens on, or @NAME"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--unix-socket %q: it does not exist, %s", path, want)
	case err != nil:
		return fmt.Errorf("--unix-socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("--unix-socket %q: it is no socket, %s", path, want)
	}
	return nil
}

// execution is a run under way.
type execution struct {
	*program
	run     *run.Run
	watch   *monitor // nil when nobody looks
	sinks   []*sink
	tap     *tap // nil when nothing is printed
	details report.Details
	quiet   bool
	end     time.Duration // planned end of sending, for the lines; 0 if it is not known
	stopped atomic.Bool   // sending was ended before
	written atomic.Bool   // the result is

	broken map[*sink]error // belongs to follow until it has returned
}

// do carries the run out, writes the result and returns the exit code.
func (e *execution) do() (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := func() {
		e.stopped.Store(true)
		e.watch.drain()
		cancel()
	}
	caught := e.catch(stop)
	e.broken = map[*sink]error{}
	if err := e.watch.start(ctx); err != nil {
		discard(e.sinks)
		return 0, err
	}
	var followed sync.WaitGroup
	followed.Go(func() { e.follow(stop) })
	res, err := e.run.Do(ctx)
	if res == nil {
		discard(e.sinks)
		return 0, errors.Join(errors.New("the run failed"), err)
	}
	e.watch.ended()
	s := caught()
	code := resultCode(res, s)
	followed.Wait()
	err = errors.Join(err, e.write(res))
	e.written.Store(true)
	if s != nil {
		// The signal has ended all waiting; what was measured is pushed all the same.
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.Background(), afterSignal)
		defer done()
	}
	e.watch.finish(ctx, s == nil)
	return code, err
}

// sameSignal is how soon after the first a signal is taken for the same one.
const sameSignal = 300 * time.Millisecond

// afterSignal bounds the last push of a run that a signal ended.
const afterSignal = 5 * time.Second

// catch makes the first SIGINT or SIGTERM stop the run and the second end the
// program. The function it returns says which was the first, nil for none; after
// it a signal ends the program.
func (e *execution) catch(stop func()) (caught func() os.Signal) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	first := make(chan os.Signal, 1)
	go func() {
		s := <-signals
		first <- s
		if e.written.Load() {
			stop() // there is nothing to wait for but scrapes and pushes
			return
		}
		fmt.Fprintf(e.stderr, "%s: %v: the result follows when what is open has ended, after 5 s at the latest; a second signal ends the program at once, without a result\n", e.name, s)
		stop()
		began, again := time.Now(), s
		for again == s && time.Since(began) <= sameSignal {
			// timeout(1) signals its child, and then the group that it is in.
			again = <-signals
		}
		s = again
		discard(e.sinks)
		os.Exit(signalCode(s))
	}()
	return func() os.Signal {
		select {
		case s := <-first:
			return s
		default:
			return nil
		}
	}
}

// follow writes what is written while the run goes on, until it has ended. An
// output that cannot be written stops the run.
func (e *execution) follow(stop func()) {
	lines := map[*sink]*report.NDJSON{}
	for _, s := range e.sinks {
		if s.format == live {
			lines[s] = report.NewNDJSON(s.w, e.run.ID())
		}
	}
	var seconds periodic
	for w := range e.run.Follow() {
		if !w.Warmup {
			for s, l := range lines {
				e.try(s, stop, func() error { return l.Window("", w.All) })
			}
			if line, complete := seconds.add(w.All); complete && e.details.Periodic {
				fmt.Fprintln(e.stderr, line)
			}
		}
		if w.Sample == nil || e.quiet {
			continue
		}
		line := report.Line(*w.Sample, w.Target)
		if w.Warmup {
			line += "  (warm-up)"
		}
		if e.draining(w.Sample) {
			line += "  (draining)"
		}
		fmt.Fprintln(e.stderr, line)
	}
}

// draining says whether a window lies behind the last arrival, be it in part: its
// rates are not those of the load.
func (e *execution) draining(w *report.Window) bool {
	return e.stopped.Load() || e.end > 0 && w.StartSeconds+w.LengthSeconds > e.end.Seconds()+rounding
}

// try writes to s unless that failed before.
func (e *execution) try(s *sink, stop func(), write func() error) {
	if e.broken[s] != nil {
		return
	}
	if err := write(); err != nil {
		e.broken[s] = err
		stop()
	}
}

// write writes the result to all outputs. One that fails does not keep the
// others from being written.
func (e *execution) write(r *report.Result) error {
	var errs []error
	if e.tap != nil {
		if err := e.tap.close(); err != nil {
			errs = append(errs, fmt.Errorf("standard output: %w", err))
		}
	}
	for _, s := range e.sinks {
		err := e.broken[s]
		if err == nil && s.format == live {
			err = report.NewNDJSON(s.w, e.run.ID()).Result(r)
		}
		if err == nil {
			err = s.render(e.details, r)
		}
		if err == nil {
			err = s.close()
		} else {
			discard([]*sink{s})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.where(), err))
		}
	}
	return errors.Join(errs...)
}
