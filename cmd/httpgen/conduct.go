package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"httpgen/internal/experiment"
	"httpgen/internal/run"
)

// experimentFlags are the options that all experiments share.
type experimentFlags struct {
	Output []answerOutput `group:"output" short:"o" sep:"none" placeholder:"FORMAT[=FILE]" help:"text, json or csv (a row a trial); to FILE, or to standard output instead of text. May be repeated."`
	Out    string         `group:"output" placeholder:"DIR" help:"Keep every trial in this folder, which is empty or not there yet."`
	Resume string         `group:"output" placeholder:"DIR" help:"Go on with the experiment that such a folder holds. The options must be the same."`
	Quiet  bool           `group:"output" short:"q" help:"No header and no line a trial on standard error."`
	DryRun bool           `group:"output" help:"Print the trials and how long they take, and do nothing."`

	metricsFlags `embed:""`
}

// A plan is an experiment as it was asked for.
type plan struct {
	kind     string   // which experiment it is
	header   []string // what it is about
	warnings []string
	trials   []run.Options // one for each kind of trial: what is wrong with them is found before anything begins
	schedule func() (experiment.Schedule, error)
	key      func() (experiment.Key, error)
	do       func(context.Context, experiment.Lab) (*findings, error) // nil when nothing is known
	stage    *stage                                                   // what surrounds the trials; nil is nothing
}

// conduct carries an experiment out and returns the exit code.
func (f *experimentFlags) conduct(p *program, x plan) (int, error) {
	outs, err := f.outputs()
	if err != nil {
		return 0, usageError{err}
	}
	schedule, err := x.schedule()
	if err != nil {
		return 0, usageError{bare(err)}
	}
	var id string
	for _, o := range x.trials {
		r, err := probe(o)
		if err != nil {
			return 0, usageError{err}
		}
		spareCollector(r)
		id = r.ID()
	}
	for _, w := range x.warnings {
		p.warn(w)
	}
	header := strings.Join(x.header, "\n") + "\n"
	if f.DryRun {
		return exitOK, p.print(header + schedule.String())
	}
	watch, err := f.monitor(p, id, f.Quiet)
	if err != nil {
		return 0, usageError{err}
	}
	e := &experience{
		undertaking: undertaking{program: p, watch: watch}, plan: x, quiet: f.Quiet,
		warned: map[string]bool{}, rungs: map[float64]int{},
	}
	if e.sinks, err = openSinks(outs, p.stdout); err != nil {
		return 0, err
	}
	store, err := f.store(x.key)
	if err != nil {
		discard(e.sinks)
		return 0, err
	}
	e.say(header + summary(schedule))
	return e.do(store)
}

// outputs completes what was asked for.
func (f *experimentFlags) outputs() ([]output, error) {
	var asked []output
	for _, o := range f.Output {
		asked = append(asked, o.output)
	}
	return outputs(asked, false)
}

// summary says in a line how much there is to do.
func summary(s experiment.Schedule) string {
	about, plural := "", "s"
	if s.If != "" {
		about = "About "
	}
	if len(s.Trials) == 1 {
		plural = ""
	}
	return fmt.Sprintf("%s%d trial%s, %v and the time that late replies take.\n", about, len(s.Trials), plural, s.Time.Round(time.Second))
}

// store returns the folder that trials are kept in, nil if none was asked for.
func (f *experimentFlags) store(key func() (experiment.Key, error)) (*experiment.Store, error) {
	dir, open := f.Out, experiment.NewStore
	switch {
	case f.Out == "" && f.Resume == "":
		return nil, nil
	case f.Out != "" && f.Resume != "":
		return nil, usageError{fmt.Errorf("--out %s and --resume %s: want one of them (a resumed experiment is kept where it was)", f.Out, f.Resume)}
	case f.Resume != "":
		dir, open = f.Resume, experiment.OpenStore
	}
	k, err := key()
	if err != nil {
		return nil, usageError{bare(err)}
	}
	s, err := open(dir, k)
	if path := new(fs.PathError); errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) {
		return nil, bare(err)
	} else if err != nil {
		return nil, usageError{bare(err)}
	}
	return s, nil
}

// An experience is an experiment under way.
type experience struct {
	undertaking
	plan
	quiet  bool
	warned map[string]bool // by the text
	trial  experiment.Trial
	rungs  map[float64]int // rung by load, in the order in which loads were tried
}

// do carries the experiment out, writes the answer and returns the exit code.
func (e *experience) do(store *experiment.Store) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e.last = e.stage.tearDown
	caught := e.catch(func() {
		e.watch.drain()
		cancel()
	})
	if err := e.watch.start(ctx); err != nil {
		discard(e.sinks)
		return 0, err
	}
	e.watch.ready()
	a, err := e.answer(ctx, store)
	e.watch.final()
	s := caught()
	code := exitInternal
	switch {
	case a != nil:
		code = a.code(s)
		err = errors.Join(err, e.write(a))
	default:
		discard(e.sinks)
		if err == nil {
			// Only a signal ends an experiment without an answer and without an error.
			fmt.Fprintf(e.stderr, "%s: no trial has come to its end, nothing is known\n", e.name)
			code = signalCode(s)
		}
	}
	e.written.Store(true)
	e.stage.tearDown()
	e.over(ctx, s)
	return code, err
}

// answer prepares the stage and carries out the trials.
func (e *experience) answer(ctx context.Context, store *experiment.Store) (*findings, error) {
	if err := e.stage.setUp(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, nil
		}
		return nil, err
	}
	live := experiment.Live{Watch: e.begin}
	a, err := e.plan.do(ctx, experiment.Lab{Runner: live, Clients: live, Store: store, Progress: e.progress})
	return a, bare(err)
}

// say tells the user something unless it is to be quiet.
func (e *experience) say(text string) {
	if !e.quiet {
		fmt.Fprint(e.stderr, text)
	}
}

// progress tells that a trial begins, and how it came out unless that says
// nothing new.
func (e *experience) progress(p experiment.Progress) {
	if t := p.Begin; t != nil {
		e.trial = *t
	}
	if p.Trial == nil || p.Trial.Outcome != "valid" {
		e.say(p.String() + "\n")
	}
	if t := p.Trial; t != nil {
		e.rung(t)
	}
}

// rung returns the number of the rung that a trial is of: of a sweep its load, of
// other experiments the block.
func (e *experience) rung(t *experiment.Trial) int {
	if t.Block > 0 {
		return t.Block
	}
	load := max(t.RatePerSecond, float64(t.Connections))
	if e.rungs[load] == 0 {
		e.rungs[load] = len(e.rungs) + 1
	}
	return e.rungs[load]
}

// begin shows a run before it begins.
func (e *experience) begin(r *run.Run) (ended func(), err error) {
	for _, w := range r.Plan().Warnings {
		if !e.warned[w] {
			e.warned[w] = true
			e.warn(w)
		}
	}
	client, target := "1", "1"
	switch {
	case e.kind == "compare":
		target = e.trial.Arm
	case e.trial.Arm != "":
		client = e.trial.Arm // one of several, alone
	}
	if err := e.watch.attach(r, client, target); err != nil {
		return nil, err
	}
	if err := e.watch.tell(e.kind, e.trial.Arm, e.rung(&e.trial), e.trial.ID); err != nil {
		return nil, err
	}
	e.watch.begin(time.Now())
	return e.watch.ended, nil
}

// write writes the answer to all outputs. One that fails does not keep the others
// from being written.
func (e *experience) write(f *findings) error {
	var errs []error
	for _, s := range e.sinks {
		errs = append(errs, s.complete(s.put(f.forms[s.format])))
	}
	return errors.Join(errs...)
}
