package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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
	for _, w := range append(warnings, r.Plan().Warnings...) {
		p.warn(w)
	}
	header := strings.Join(r.Plan().Header, "\n") + "\n"
	if c.DryRun {
		return exitOK, p.print(header)
	}
	e := &execution{program: p, run: r, tap: t, verbose: c.Verbose, quiet: c.Quiet || p.classic}
	if !e.quiet {
		fmt.Fprint(p.stderr, header)
	}
	if e.sinks, err = openSinks(outs, p.stdout); err != nil {
		return 0, err
	}
	return e.do()
}

// execution is a run under way.
type execution struct {
	*program
	run     *run.Run
	sinks   []*sink
	tap     *tap // nil when nothing is printed
	verbose int
	quiet   bool

	// These belong to follow until it has returned.
	samples []float64 // reply rates
	broken  map[*sink]error
}

// do carries the run out, writes the result and returns the exit code.
func (e *execution) do() (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	caught := e.catch(cancel)
	e.broken = map[*sink]error{}
	var followed sync.WaitGroup
	followed.Go(func() { e.follow(cancel) })
	res, err := e.run.Do(ctx)
	if res == nil {
		discard(e.sinks)
		return 0, errors.Join(errors.New("the run failed"), err)
	}
	code := resultCode(res, caught())
	followed.Wait()
	return code, errors.Join(err, e.write(res))
}

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
		fmt.Fprintf(e.stderr, "httpgen: %v: the result follows when what is open has ended, after 5 s at the latest; a second signal ends the program at once, without a result\n", s)
		stop()
		s = <-signals
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
	for w := range e.run.Follow() {
		if !w.Warmup {
			for s, l := range lines {
				e.try(s, stop, func() error { return l.Window("", w.All) })
			}
		}
		if w.Sample == nil {
			continue
		}
		if !e.quiet {
			line := report.Line(*w.Sample, w.Target)
			if w.Warmup {
				line += "  (warm-up)"
			}
			fmt.Fprintln(e.stderr, line)
		}
		if !w.Warmup {
			e.samples = append(e.samples, report.Per(w.Sample.Replies, w.Sample.LengthSeconds))
		}
	}
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
			err = s.render(e.before(s, r), r)
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

// before returns what -v puts in front of a text on standard output.
func (e *execution) before(s *sink, r *report.Result) []byte {
	if s.output.file != "" || !s.plain() {
		return nil
	}
	var b bytes.Buffer
	if e.verbose > 0 {
		// Windows of the drain are no samples.
		for _, rate := range e.samples[:min(len(e.samples), int(r.Rates.Replies.Samples))] {
			fmt.Fprintf(&b, "reply-rate = %.1f\n", rate)
		}
	}
	if e.verbose > 1 {
		lifetimes(&b, r.Times.Lifetime.HDR)
	}
	return b.Bytes()
}

// lifetimes writes a histogram of the connections' lifetimes in bins of a
// millisecond: the middle of each bin that is not empty, and a colon for those
// between that are.
func lifetimes(b *bytes.Buffer, encoded string) {
	if encoded == "" {
		return
	}
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil {
		return
	}
	fmt.Fprintln(b, "Connection lifetime histogram [ms]:")
	last, n := int64(-1), int64(0)
	flush := func() {
		if n > 0 {
			fmt.Fprintf(b, "%12.1f %d\n", float64(last)+0.5, n)
		}
	}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		bin := bar.From / int64(time.Millisecond)
		if bin != last {
			flush()
			if bin != last+1 {
				fmt.Fprintf(b, "%12s\n", ":")
			}
			last, n = bin, 0
		}
		n += bar.Count
	}
	flush()
}
