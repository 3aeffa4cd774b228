package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
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
	spareCollector(r)
	for _, w := range append(warnings, r.Plan().Warnings...) {
		p.warn(w)
	}
	watch, err := c.monitor(p, r.ID(), c.Quiet || p.classic)
	if err == nil {
		err = watch.attach(r, "1", "1")
	}
	if err != nil {
		return 0, usageError{err}
	}
	header := strings.Join(r.Plan().Header, "\n") + "\n"
	if c.DryRun {
		return exitOK, p.print(header)
	}
	e := &execution{
		undertaking: undertaking{program: p, watch: watch}, run: r, begin: o.Start, tap: t, quiet: c.Quiet || p.classic,
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

// spareCollector lets garbage pile up where a run makes much of it, unless the
// user has a say in that.
func spareCollector(r *run.Run) {
	if r.Engine() == "conn" && os.Getenv("GOGC") == "" {
		// A TLS connection leaves 50 KB of garbage behind: with the small heap of
		// a run the collector would take a seventh of the processor.
		debug.SetGCPercent(400)
	}
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
	undertaking
	run     *run.Run
	begin   time.Time // of the run; zero for at once
	tap     *tap      // nil when nothing is printed
	details report.Details
	quiet   bool
	end     time.Duration // planned end of sending, for the lines; 0 if it is not known
	stopped atomic.Bool   // sending was ended before

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
	e.watch.begin(e.begin)
	var followed sync.WaitGroup
	followed.Go(func() { e.follow(stop) })
	res, err := e.run.Do(ctx)
	if res == nil {
		discard(e.sinks)
		return 0, errors.Join(errors.New("the run failed"), err)
	}
	e.watch.ended()
	e.watch.final()
	s := caught()
	code := resultCode(res, s)
	followed.Wait()
	err = errors.Join(err, e.write(res))
	e.over(ctx, s)
	return code, err
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
		errs = append(errs, s.complete(err))
	}
	return errors.Join(errs...)
}
