package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"httpgen/internal/experiment"
)

// compareCmd is the command compare. A field left zero was not given.
type compareCmd struct {
	Args []string `arg:"" optional:"" name:"ARM" help:"NAME=URL for each arm, two at least. Instead of them results in JSON: one file an arm, or NAME=FILE,FILE,...; or one file of a comparison, which is analysed again."`

	Rate   quantity `group:"load" short:"r" placeholder:"RATE" help:"Arrivals per second, of every arm."`
	Closed count    `group:"load" placeholder:"N" help:"Closed model instead: N callers, each waits for its reply before its next call."`

	Baseline    string `group:"experiment" placeholder:"NAME" help:"The arm that the others are compared with; default the first."`
	Metric      string `group:"experiment" placeholder:"NAME" help:"What is decided on: p50, p90, p99, goodput, errors or cpu; default p50. The others are shown, and are exploratory."`
	Blocks      count  `group:"experiment" placeholder:"N" help:"Rounds of all arms, in an order drawn anew; default 40."`
	Trial       span   `group:"experiment" placeholder:"TIME" help:"Length of a trial after its warm-up; default 1s."`
	Settle      span   `group:"experiment" placeholder:"TIME" help:"The server is given this long before a trial if the one before left calls that failed; default 1s."`
	Level       share  `group:"experiment" placeholder:"SHARE" help:"Confidence; default 95%."`
	Equivalence share  `group:"experiment" placeholder:"SHARE" help:"Ask whether arms are the same to within this, such as 2%."`
	Allow       *share `group:"experiment" placeholder:"SHARE" help:"Exit with 99 when an arm is surely worse than the baseline by more than this, such as 5%."`
	Strict      bool   `group:"experiment" help:"With --allow: also when that is undecided."`
	Ordered     bool   `group:"experiment" help:"The arms have an order, such as settings that rise: ask for a trend."`
	AA          bool   `group:"experiment" name:"aa" help:"Run the baseline a second time, as an arm of its own: what differs there is noise."`
	Seed        seed   `group:"experiment" placeholder:"N" help:"Seed of the order of the arms; default 0."`

	armFlags        `embed:""`
	trialFlags      `embed:""`
	experimentFlags `embed:""`
}

// Help implements kong.HelpProvider.
func (*compareCmd) Help() string {
	return `A ratio above 1 says that an arm has more of a metric than the baseline. It is decided by the exact signed rank test over blocks, after Holm for several arms. Results that were saved were measured apart, and are compared as such. A reply is good when its status is 200 to 399; --expect-status says otherwise. Without --timeout, --reply-timeout and --deadline the timeout is 5s. The first SIGINT or SIGTERM stops the trial and prints what is known, the second ends the program at once, when the arms are down.

Exit codes: 0 done; 1 internal or I/O error; 2 usage; 3 no arm ever answered; 4 the verdict is invalid; 99 what --allow says is broken; 130 or 143 ended by SIGINT or SIGTERM.`
}

// question returns what is asked of the trials.
func (c *compareCmd) question(p *program) experiment.CompareOptions {
	o := experiment.CompareOptions{
		Argv: p.argv, Baseline: c.Baseline, Metric: c.Metric, Level: float64(c.Level), Equivalence: float64(c.Equivalence), Ordered: c.Ordered,
	}
	if c.Allow != nil {
		o.Allow, o.Gate = float64(*c.Allow), true
	}
	return o
}

// sources tells arms to be measured from results that were saved.
func (c *compareCmd) sources() (urls []named, files []savedArm, err error) {
	for _, arg := range c.Args {
		name, value, ok := strings.Cut(arg, "=")
		switch {
		case isURL(arg):
			// The text may hold a password.
			return nil, nil, errors.New("a URL without a name: want NAME=URL")
		case ok && name == "":
			return nil, nil, fmt.Errorf("%q: want NAME=URL, a file, or NAME=FILE,... for several", arg)
		case ok && strings.Contains(value, "://"):
			urls = append(urls, named{name, value})
		case ok:
			files = append(files, savedArm{name, strings.Split(value, ",")})
		default:
			files = append(files, savedArm{"", []string{arg}})
		}
	}
	switch {
	case len(files) > 0 && len(urls)+len(c.Arms.arms) > 0:
		return nil, nil, fmt.Errorf("%s beside arms with URLs: want saved results or arms to be measured", files[0].files[0])
	case c.Strict && c.Allow == nil:
		return nil, nil, errors.New("--strict without --allow: nothing says what is broken; want both or neither")
	}
	return urls, files, nil
}

// compare carries out the command compare.
func (c *compareCmd) compare(p *program) (int, error) {
	urls, files, err := c.sources()
	if err != nil {
		return 0, usageError{err}
	}
	if len(files) > 0 {
		return c.offline(p, files)
	}
	o, arms, warnings, err := c.options(p, urls)
	if err != nil {
		return 0, usageError{err}
	}
	x := plan{kind: "compare", warnings: warnings, schedule: o.Schedule, key: o.Key, stage: &stage{
		program: p, arms: arms, bound: cmp.Or(time.Duration(c.ReadyTimeout), 30*time.Second),
	}}
	load := fmt.Sprintf("%g arrivals/s", o.Rate)
	if o.Closed > 0 {
		load = fmt.Sprintf("%d callers that wait for their replies (closed model)", o.Closed)
	}
	x.header = []string{fmt.Sprintf("Compare %d arms by %s at %s:", len(arms), cmp.Or(o.Metric, "p50"), load)}
	for i := range arms {
		x.header = append(x.header, fmt.Sprintf("  %s: %s", arms[i].name, arms[i].url))
		x.trials = append(x.trials, o.Arms[i].Options)
	}
	x.do = func(ctx context.Context, l experiment.Lab) (*findings, error) {
		r, err := l.Compare(ctx, o)
		return c.answer(r), err
	}
	return c.conduct(p, x)
}

// answer judges a result, nil if there is none.
func (c *compareCmd) answer(r *experiment.CompareResult) *findings {
	if r == nil {
		return nil
	}
	a := newFindings(r, r.Text, &r.Head, r.Trials)
	gate := r.Gate()
	a.broken = gate == "broken" || c.Strict && gate == "undecided"
	return a
}

// options returns what the flags ask for, the arms as they were asked for, and
// warnings.
func (c *compareCmd) options(p *program, urls []named) (experiment.CompareOptions, []arm, []string, error) {
	o := c.question(p)
	o.Rate, o.Closed, o.Seed = float64(c.Rate), int(c.Closed), uint64(c.Seed)
	o.Blocks, o.Trial, o.Settle, o.AA = int(c.Blocks), time.Duration(c.Trial), time.Duration(c.Settle), c.AA
	switch {
	case o.Rate > 0 && o.Closed > 0:
		return o, nil, nil, fmt.Errorf("--rate %g and --closed %d: in a closed model replies set the pace, want one of them", o.Rate, o.Closed)
	case o.Rate == 0 && o.Closed == 0:
		return o, nil, nil, errors.New("no load: want --rate RATE, or --closed N for callers that wait for their replies")
	case c.ReadyTimeout > 0 && len(c.Ready)+len(c.Arms.arms) == 0:
		return o, nil, nil, fmt.Errorf("--ready-timeout %v without --ready: no arm is waited for; want both or neither", time.Duration(c.ReadyTimeout))
	}
	arms, err := c.armFlags.arms(urls)
	if err != nil {
		return o, nil, nil, err
	}
	seen := map[string]bool{}
	var all []string
	for _, a := range arms {
		base, warnings, err := c.trialFlags.options(p, a.url, o.Closed, a.header)
		if err != nil {
			return o, nil, nil, fmt.Errorf("arm %s: %w", a.name, err)
		}
		// Most of them are about what all arms share.
		for _, w := range warnings {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
		o.Arms = append(o.Arms, experiment.Arm{Name: a.name, Options: bounded(base), CPU: a.process.time()})
	}
	if i := slices.IndexFunc(arms, func(a arm) bool { return a.process == pidSource{} }); o.Metric == "cpu" && i >= 0 {
		return o, nil, nil, fmt.Errorf("--metric cpu and no --pid of arm %s: nothing says what it used; want the process of each arm", arms[i].name)
	}
	if len(arms) == 0 {
		return o, nil, nil, errors.New("no arm: want NAME=URL NAME=URL ..., --arms FILE, or files with results")
	}
	return o, arms, all, nil
}

// offline compares results that were saved.
func (c *compareCmd) offline(p *program, files []savedArm) (int, error) {
	if c.Rate > 0 || c.Closed > 0 || c.Out+c.Resume != "" || c.DryRun || c.AA || c.Blocks > 0 || c.Trial > 0 {
		return 0, usageError{errors.New("saved results with --rate, --closed, --blocks, --trial, --aa, --out, --resume or --dry-run: nothing is run, want none of these")}
	}
	outs, err := c.outputs()
	if err != nil {
		return 0, usageError{err}
	}
	r, err := again(files, c.question(p))
	if err != nil {
		return 0, usageError{bare(err)}
	}
	sinks, err := openSinks(outs, p.stdout)
	if err != nil {
		return 0, err
	}
	a := c.answer(r)
	e := &experience{undertaking: undertaking{program: p, sinks: sinks}}
	return a.code(nil), e.write(a)
}
