package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"httpgen/internal/experiment"
)

// fairCmd is the command fair. A field left zero was not given.
type fairCmd struct {
	URL string `arg:"" optional:"" name:"URL" help:"Where the load goes, of clients that do not say so themselves: http://HOST[:PORT][/PATH][?QUERY], or https. --server, --port and --uri say the same."`

	Clients     count        `group:"experiment" placeholder:"N" help:"N clients that are alike, c1 to cN. Where the address of the server is one of 127.0.0.0/8 they come from 127.0.0.2, 127.0.0.3 and so on, unless --myaddr says otherwise: its addresses are dealt out."`
	Client      []clientSpec `group:"experiment" sep:"none" placeholder:"SPEC" help:"One client: name=NAME,rate=N,weight=N,source=ADDR,url=URL,header=FIELD: VALUE,join=TIME,leave=TIME; all but the name may be left out. May be repeated."`
	ClientsFile clientsFile  `group:"experiment" placeholder:"FILE" help:"Such clients, one a line; lines with # are comments."`
	Weights     weights      `group:"experiment" placeholder:"N:N:..." help:"The share that each client is meant to get, relative to the others; default equal shares."`
	Join        []moment     `group:"experiment" sep:"none" placeholder:"NAME@TIME" help:"This client begins so long after the start. May be repeated."`
	Leave       []moment     `group:"experiment" sep:"none" placeholder:"NAME@TIME" help:"This client ends so long after the start. May be repeated."`
	Baseline    bool         `group:"experiment" help:"Run each client alone too."`
	Repeat      count        `group:"experiment" placeholder:"N" help:"Runs: 1, or 6 and more, which have an interval between runs; default 1."`
	Rotate      bool         `group:"experiment" help:"Clients change places from run to run; --repeat is then a multiple of their number."`
	Margin      share        `group:"experiment" placeholder:"SHARE" help:"The largest error of a share of all good replies that is still fair; default 2% (percentage points)."`
	Level       share        `group:"experiment" placeholder:"SHARE" help:"Confidence; default 95%."`

	Rate     quantity `group:"load" short:"r" placeholder:"RATE" help:"Arrivals per second, of each client."`
	NumConns total    `group:"load" short:"n" placeholder:"N" help:"Arrivals in all, of each client, instead of a duration."`
	Duration span     `group:"load" short:"z" placeholder:"TIME" help:"Length of a run after its warm-up; default 30s."`
	Poisson  bool     `group:"load" help:"Random arrivals. Evenly spaced ones may fall into step with a server whose services take always the same time."`
	Seed     seed     `group:"load" placeholder:"N" help:"Seed of random arrivals; default 0."`

	trialFlags      `embed:""`
	experimentFlags `embed:""`
}

// Help implements kong.HelpProvider.
func (*fairCmd) Help() string {
	return `All clients start at once, in one process, each with its own schedule and source address. Printed are httperf's lines for each, and then the shares: each is due its part by weight of all good replies, or all that it asks for if that is less. Where the server was not short of anything there is nothing to divide, and no claim is made. --max-inflight is of all clients together. A reply is good when its status is 200 to 399; --expect-status says otherwise. Without --timeout, --reply-timeout and --deadline the timeout is 5s. The first SIGINT or SIGTERM stops the run and prints what is known, the second ends the program at once.

Exit codes: 0 done; 1 internal or I/O error; 2 usage; 3 the target never answered; 4 the verdict is invalid; 130 or 143 ended by SIGINT or SIGTERM.`
}

// specs returns the clients as they were asked for, with all that the options say
// of single ones.
func (c *fairCmd) specs() ([]clientSpec, error) {
	all := slices.Concat(c.ClientsFile.clients, c.Client)
	switch {
	case c.Clients > 0 && len(all) > 0:
		return nil, fmt.Errorf("--clients %d and %d clients by --client or --clients-file: want one or the other", c.Clients, len(all))
	case c.Clients == 0 && len(all) == 0:
		return nil, errors.New("no clients: want --clients N, --client SPEC for each, or --clients-file FILE")
	case c.Clients > maxClients:
		return nil, fmt.Errorf("--clients %d: want 2 to %d", c.Clients, maxClients)
	}
	for i := range int(c.Clients) {
		all = append(all, clientSpec{name: fmt.Sprintf("c%d", i+1)})
	}
	if len(c.Weights) > 0 {
		if len(c.Weights) != len(all) {
			return nil, fmt.Errorf("--weights: %d of them for %d clients, want one for each", len(c.Weights), len(all))
		}
		for i := range all {
			if all[i].weight > 0 {
				return nil, fmt.Errorf("--weights: client %s says weight=%g, want one of them", all[i].name, all[i].weight)
			}
			all[i].weight = c.Weights[i]
		}
	}
	for _, o := range []struct {
		flag    string
		moments []moment
		field   func(*clientSpec) *time.Duration
	}{
		{"--join", c.Join, func(s *clientSpec) *time.Duration { return &s.join }},
		{"--leave", c.Leave, func(s *clientSpec) *time.Duration { return &s.leave }},
	} {
		for _, m := range o.moments {
			i := slices.IndexFunc(all, func(s clientSpec) bool { return s.name == m.name })
			if i < 0 {
				return nil, fmt.Errorf("%s %s@%v: want the name of a client", o.flag, m.name, m.at)
			}
			to := o.field(&all[i])
			if *to > 0 {
				return nil, fmt.Errorf("%s %s@%v: %w", o.flag, m.name, m.at, errTwice)
			}
			*to = m.at
		}
	}
	for i := range all {
		s := &all[i]
		s.url, s.rate = cmp.Or(s.url, c.URL), cmp.Or(s.rate, float64(c.Rate))
		if s.rate == 0 {
			return nil, fmt.Errorf("client %s without a rate: want --rate RATE, or rate=N of the client", s.name)
		}
	}
	return all, nil
}

// maxClients bounds the clients of an experiment.
const maxClients = 1000

// options returns what the flags ask for, and warnings.
func (c *fairCmd) options(p *program, lookup lookupFunc) (experiment.FairOptions, []string, error) {
	o := experiment.FairOptions{
		Argv: p.argv, Duration: time.Duration(c.Duration), Arrivals: uint64(c.NumConns), Margin: float64(c.Margin), Level: float64(c.Level),
		Repeat: int(c.Repeat), Rotate: c.Rotate, Baseline: c.Baseline, Seed: uint64(c.Seed), Poisson: c.Poisson,
	}
	if c.Duration > 0 && c.NumConns > 0 {
		return o, nil, fmt.Errorf("--duration %v and --num-conns %d: want one of them", o.Duration, o.Arrivals)
	}
	specs, err := c.specs()
	if err != nil {
		return o, nil, err
	}
	var warnings []string
	for i, s := range specs {
		options, more, err := c.trialFlags.options(p, s.url, 0, s.header)
		if err != nil {
			return o, nil, fmt.Errorf("client %s: %w", s.name, err)
		}
		for _, w := range more {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
		switch {
		case len(s.sources) > 0:
			if options.Sources, err = sources(s.sources, c.IPv6, lookup); err != nil {
				return o, nil, fmt.Errorf("client %s: %w", s.name, err)
			}
		case c.Clients == 0:
		case len(options.Sources) >= len(specs):
			options.Sources = deal(options.Sources, i, len(specs))
		case len(options.Sources) == 0:
			if local := loopback(options.Server); local.IsValid() {
				options.Sources = []netip.Addr{successor(local, i+1)}
			}
		}
		o.Clients = append(o.Clients, experiment.Client{
			Name: s.name, Weight: s.weight, Rate: s.rate, Join: s.join, Leave: s.leave, Options: bounded(options),
		})
	}
	if text := c.sharing(o.Clients); text != "" {
		warnings = append(warnings, text)
	}
	return o, warnings, nil
}

// deal returns every n-th address from the i-th on.
func deal(all []netip.Addr, i, n int) (part []netip.Addr) {
	for ; i < len(all); i += n {
		part = append(part, all[i])
	}
	return part
}

// loopback returns 127.0.0.1 if the server is an address of that network, an
// invalid one otherwise: what a name stands for is not known yet.
func loopback(server string) netip.Addr {
	a, err := netip.ParseAddr(server)
	if err != nil || !a.Is4() || !a.IsLoopback() {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// successor returns the n-th address after a.
func successor(a netip.Addr, n int) netip.Addr {
	for range n {
		a = a.Next()
	}
	return a
}

// sharing warns of clients that the server may not be able to tell apart.
func (c *fairCmd) sharing(clients []experiment.Client) string {
	const remedy = "a server that tells clients apart by their address takes them for one; give each a source=ADDR, or --myaddr as many as there are clients"
	by := map[netip.Addr]string{}
	for i := range clients {
		one := &clients[i]
		if len(one.Options.Sources) == 0 {
			return fmt.Sprintf("client %s has no source address of its own: %s", one.Name, remedy)
		}
		for _, a := range one.Options.Sources {
			if other, ok := by[a]; ok {
				return fmt.Sprintf("clients %s and %s come from %v: %s", other, one.Name, a, remedy)
			}
			by[a] = one.Name
		}
	}
	return ""
}

// fair carries out the command fair.
func (c *fairCmd) fair(p *program) (int, error) {
	p.argv = hideHeaders(p.argv)
	o, warnings, err := c.options(p, lookup)
	if err != nil {
		return 0, usageError{err}
	}
	x := plan{kind: "fair", warnings: warnings, schedule: o.Schedule, key: o.Key, header: []string{fmt.Sprintf("Fair: %d clients at once:", len(o.Clients))}}
	for i := range o.Clients {
		one := &o.Clients[i]
		x.trials = append(x.trials, one.Options)
		x.header = append(x.header, describe(one))
	}
	x.do = func(ctx context.Context, l experiment.Lab) (*findings, error) {
		r, err := l.Fair(ctx, o)
		if r == nil {
			return nil, err
		}
		return newFindings(r, r.Text, &r.Head, r.Trials), err
	}
	return c.conduct(p, x)
}

// describe says in a line what a client does.
func describe(c *experiment.Client) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s: %g arrivals/s to %s, weight %g", c.Name, c.Rate, c.Options.Server, cmp.Or(c.Weight, 1))
	if len(c.Options.Sources) > 0 {
		fmt.Fprintf(&b, ", from %v", c.Options.Sources[0])
		if n := len(c.Options.Sources) - 1; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
	}
	if c.Join > 0 {
		fmt.Fprintf(&b, ", joins after %v", c.Join)
	}
	if c.Leave > 0 {
		fmt.Fprintf(&b, ", leaves after %v", c.Leave)
	}
	return b.String()
}
