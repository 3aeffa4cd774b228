package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"httpgen/internal/experiment"
	"httpgen/internal/experiment/stat"
	"httpgen/internal/run"
)

// sweepCmd is the command sweep. A field left zero was not given.
type sweepCmd struct {
	URL string `arg:"" optional:"" name:"URL" help:"Where the load goes: http://HOST[:PORT][/PATH][?QUERY], or https. --server, --port and --uri say the same."`

	SLO      objective  `group:"experiment" name:"slo" placeholder:"CONDITIONS" help:"What the server has to keep to, all of it: p50 to p99.99 of the latency, errors, achieved (good replies of all arrivals) and goodput. That the number of open calls does not grow is always one of them. Default p99<50ms,errors<0.1%,achieved>99%: a server whose replies take longer wants limits of its own."`
	From     quantity   `group:"experiment" placeholder:"N" help:"The first rate, arrivals per second, or number of connections; default 50, and 1 connection."`
	To       quantity   `group:"experiment" placeholder:"N" help:"The highest one; default no bound."`
	Factor   quantity   `group:"experiment" placeholder:"X" help:"From rung to rung on the way up; default 2."`
	Width    share      `group:"experiment" placeholder:"SHARE" help:"Of the interval at which the search ends, as a share of its upper end; default 5%."`
	Trial    span       `group:"experiment" placeholder:"TIME" help:"Length of a trial after its warm-up; default 4s."`
	Arrivals count      `group:"experiment" placeholder:"N" help:"A trial is lengthened to hold so many; default 400, and what the percentiles of the objective need."`
	Repeat   count      `group:"experiment" placeholder:"N" help:"Trials of a rung that bounds the interval; default 3."`
	Confirm  span       `group:"experiment" placeholder:"TIME" help:"Length of the trial that confirms the lower bound; default 10s."`
	Settle   span       `group:"experiment" placeholder:"TIME" help:"The server is given this long before a trial if the one before left calls that failed; default 1s."`
	Rates    quantities `group:"experiment" placeholder:"N,N,..." help:"Try exactly these, --repeat times each, and search no further."`
	Order    string     `group:"experiment" enum:"up,down,shuffle" default:"up" placeholder:"ORDER" help:"Of --rates: up, down or shuffle; default up."`
	By       string     `group:"experiment" enum:"rate,connections" default:"rate" placeholder:"WHAT" help:"Look for a rate, or for a number of connections that wait for their replies (a closed model, as ab -c); default rate."`
	Beyond   multiple   `group:"experiment" placeholder:"Xx" help:"Go on to this multiple of the capacity, such as 3x, and down again, to see what overload leaves of it."`
	Step     span       `group:"experiment" placeholder:"TIME" help:"Length of a step of that; default 10s."`
	Seed     seed       `group:"experiment" placeholder:"N" help:"Seed of --order shuffle; default 0."`

	trialFlags      `embed:""`
	experimentFlags `embed:""`
}

// Help implements kong.HelpProvider.
func (*sweepCmd) Help() string {
	return `The answer is an interval: at its lower end the objective was met in every trial, at its upper end it was missed in every one. Trials in which this program was the limit never count against the server. A reply is good when its status is 200 to 399; --expect-status says otherwise. Without --timeout, --reply-timeout and --deadline a call is given up after four times the longest latency of the objective, a second at least. The first SIGINT or SIGTERM stops the trial and prints what is known, the second ends the program at once.

Exit codes: 0 done; 1 internal or I/O error; 2 usage; 3 the target never answered; 4 the verdict is invalid; 130 or 143 ended by SIGINT or SIGTERM.`
}

// defaultObjective is what is asked of a server of which nothing else is known. Its
// limit on latency is short, so that a queue that grows slowly is seen within a
// trial: 1.5 % more than the capacity adds 60 ms in 4 s.
const defaultObjective = "p99<50ms,errors<0.1%,achieved>99%"

// orders are the orders of given rates.
var orders = map[string]stat.RateOrder{"up": stat.Up, "down": stat.Down, "shuffle": stat.Shuffle}

// options returns what the flags ask for, and warnings.
func (c *sweepCmd) options(p *program) (experiment.SweepOptions, []string, error) {
	connections := c.By == "connections"
	o := experiment.SweepOptions{
		Objective: c.SLO.Objective, Connections: connections, Beyond: float64(c.Beyond), Step: time.Duration(c.Step),
		Search: stat.SearchOptions{
			From: float64(c.From), To: float64(c.To), Factor: float64(c.Factor), Width: float64(c.Width),
			Repeat: int(c.Repeat), Trial: time.Duration(c.Trial), Arrivals: int(c.Arrivals), Confirm: time.Duration(c.Confirm), Settle: time.Duration(c.Settle),
			Rates: c.Rates, Order: orders[c.Order], Seed: uint64(c.Seed),
		},
	}
	switch {
	case len(c.Rates) > 0 && c.From+c.To+c.Factor+quantity(c.Width)+quantity(c.Confirm) > 0:
		return o, nil, errors.New("--rates with --from, --to, --factor, --width or --confirm: given rates are tried as they are, want one or the other")
	case len(c.Rates) == 0 && c.Order != "up":
		return o, nil, fmt.Errorf("--order %s without --rates: a search has an order of its own; want both or neither", c.Order)
	case c.Step > 0 && c.Beyond == 0:
		return o, nil, fmt.Errorf("--step %v without --beyond: there is no overload profile; want both or neither", time.Duration(c.Step))
	}
	if o.Objective == nil {
		var err error
		if o.Objective, err = experiment.ParseObjective(defaultObjective); err != nil {
			return o, nil, err
		}
	}
	callers := 0
	if connections {
		callers = 1
		o.Search.From = cmp.Or(o.Search.From, 1)
	}
	base, warnings, err := c.trialFlags.options(p, c.URL, callers, nil)
	o.Base = base
	return o, warnings, err
}

// sweep carries out the command sweep.
func (c *sweepCmd) sweep(p *program) (int, error) {
	o, warnings, err := c.options(p)
	if err != nil {
		return 0, usageError{err}
	}
	to := ""
	if c.URL != "" {
		to = " of " + c.URL
	}
	return c.conduct(p, plan{
		kind: "sweep", warnings: warnings, trials: []run.Options{o.Base}, schedule: o.Schedule, key: o.Key,
		header: []string{fmt.Sprintf("Sweep%s by %s: %s; the number of open calls must not grow.", to, c.By, o.Objective)},
		do: func(ctx context.Context, l experiment.Lab) (*findings, error) {
			r, err := l.Sweep(ctx, o)
			if r == nil {
				return nil, err
			}
			return newFindings(r, r.Text, &r.Head, r.Trials), err
		},
	})
}
